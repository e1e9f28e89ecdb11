/* Steering: the cheapest gaits over a grid of two numbers of the holonomy, in the frame at the start of the cycle; the
 * other numbers of the holonomy are free. The searches run one after the other, each in a numbered turn, and start from
 * gaits of neighbours (optimum/family.h). After each turn that changed a member, its row with the results so far is put
 * into the store. The state in a row contains the turns in which its gaits were found; an interrupted search continues
 * from these states. */
#include "sweep/sweep.h"

#include "bundle/gait_private.h"
#include "optimum/family.h"
#include "scenario/bundle_scenario.h"
#include "tree/scalar.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct found {
  double cost, index, multiplier[2], shape[CB_WORK_TIMES * CB_SHAPE_MAX];
} found;

static const cb_task_column columns[] = {
    {"cost", NULL, "int r'Mr' dt; nan: no gait was found", offsetof(found, cost), 0},
    {"index", NULL, "number of negative directions of the second variation; -1: no gait", offsetof(found, index), 0},
    {"multiplier", "asked", "half the derivatives of the cost with respect to the varied numbers",
     offsetof(found, multiplier), 0},
    {"shape", "way", "r", offsetof(found, shape), 0},
    {NULL, NULL, NULL, 0, 0}};

/* Indices of the state of a member. FIRST, LAST: the turns in which its first and its cheapest gait were found. COST,
 * INDEX, MULTIPLIER: results that do not follow from the gait. HEAD: the first number of the gait's state. */
enum { FIRST, LAST, COST, INDEX, MULTIPLIER, HEAD = MULTIPLIER + 2 };

typedef struct steering {
  const cb_sweep *sweep;
  struct cb_runner *runner;
  cb_store *store;
  const volatile sig_atomic_t *stop;
  const cb_bundle *bundle;
  cb_family_node *node;
} steering;

static int number_of(const cb_group *G, const cb_sweep_axis *axis) {
  int k = 0;
  while (k < G->size && strcmp(G->number[k], axis->key[0].key->text)) k++;
  return k;
}

static cb_status make_layout(const cb_sweep *sweep, cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  const cb_bundle_scenario *motion = cb_bundle_scenario_of(s);
  const cb_sweep_plan *plan = sweep->plan;
  const char **asked = cb_arena_alloc(arena, 2, sizeof *asked);
  if (!asked) return cb_fail(CB_ERROR_MEMORY, "no memory for a row");
  if (!motion->optimum)
    return cb_fail(CB_ERROR_INPUT, "the key `optimum` is missing: the task `steering` needs its target");
  const cb_status status = cb_gait_refuse_motion(motion);
  if (status) return status;
  if (!plan->grid || plan->axes != 2)
    return cb_fail(
        CB_ERROR_INPUT,
        "the task `steering` varies two coordinates of the group: expected a sweep with two axes and `design: grid`");
  const cb_group *G = motion->bundle->group;
  for (int a = 0; a < 2; a++) {
    const cb_sweep_axis *axis = &plan->axis[a];
    asked[a] = axis->key[0].key->text;
    if (axis->keys != 1 || !axis->key[0].number || axis->key[0].components != 1)
      return cb_node_fail(
          axis->at,
          "an axis of the task `steering` varies one coordinate of the group: expected one key, with values that are "
          "numbers");
    if (number_of(G, axis) == G->size)
      return cb_fail_unknown(axis->key[0].key, "coordinate of the group", asked[a], G->number, (size_t)G->size);
  }
  if (!strcmp(asked[0], asked[1]))
    return cb_node_fail(plan->axis[1].at, "expected two different coordinates of the group");
  return cb_task_layout(s, arena, columns, 0, asked, out);
}

static cb_status put(const steering *s, int k, cb_member_status status) {
  const cb_family_node *node = &s->node[k];
  const size_t size = node->gait ? cb_gait_state_size(node->gait) : 0;
  cb_arena *arena = cb_arena_create();
  found *to = arena ? cb_arena_alloc(arena, 1, sizeof *to) : NULL;
  double *state = to ? cb_arena_alloc(arena, HEAD + size, sizeof *state) : NULL;
  const void *const *row;
  if (!state) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  }
  const double head[HEAD] = {node->first, node->last,          node->cost,
                             node->index, node->multiplier[0], node->multiplier[1]};
  memcpy(state, head, sizeof head);
  if (size) cb_gait_state(node->gait, state + HEAD);
  *to = (found){.cost = node->cost, .index = node->index, .multiplier = {head[MULTIPLIER], head[MULTIPLIER + 1]}};
  cb_task_way(node->gait, s->bundle->n, to->shape, NULL);
  cb_status put = cb_task_row(arena, columns, 0, to, &row);
  if (!put) put = cb_runner_put(s->runner, k, status, row, state, node->gait ? HEAD + size : 0, s->store);
  cb_arena_free(arena);
  return put;
}

static cb_status report(void *context, int k, bool changed) {
  const steering *s = context;
  if (s->stop && *s->stop) return cb_fail(CB_ERROR_INTERRUPTED, "interrupted: the same command continues the sweep");
  return changed ? put(s, k, CB_MEMBER_MISSING) : CB_OK;
}

/* Restores the results that node k had before an interruption. */
static cb_status restore(const steering *s, int k) {
  const cb_store_row *row = cb_store_row_of(s->store, k);
  cb_family_node *node = &s->node[k];
  if (row->states < HEAD) return CB_OK;
  const double *x = row->state;
  cb_status status = cb_gait_from_state(s->bundle->n, row->states - HEAD, x + HEAD, &node->gait);
  if (status || !node->gait) return status;
  node->first = (int)x[FIRST];
  node->last = (int)x[LAST];
  node->cost = x[COST];
  node->index = (int)x[INDEX];
  memcpy(node->multiplier, x + MULTIPLIER, sizeof node->multiplier);
  return CB_OK;
}

static cb_status all(const cb_sweep *sweep, struct cb_runner *runner, cb_store *store,
                     const volatile sig_atomic_t *stop) {
  const cb_bundle_scenario *motion = cb_bundle_scenario_of(sweep->model);
  const cb_optimum_problem *p = &motion->optimum->problem;
  const cb_sweep_axis *a = sweep->plan->axis;
  const cb_family_axis axis[2] = {{number_of(p->bundle->group, &a[0]), (int)a[0].count, a[0].key[0].number},
                                  {number_of(p->bundle->group, &a[1]), (int)a[1].count, a[1].key[0].number}};
  const int members = (int)sweep->plan->members;
  steering s = {sweep, runner, store, stop, p->bundle, calloc((size_t)members, sizeof *s.node)};
  cb_status status = s.node ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", members);
  for (int k = 0; k < members && !status; k++) status = restore(&s, k);
  if (!status) status = cb_gait_placed_search(motion, cb_family_grid(p, axis, report, &s, s.node));
  for (int k = 0; k < members && !status; k++)
    if (cb_store_row_of(store, k)->status == CB_MEMBER_MISSING) status = put(&s, k, CB_MEMBER_DONE);
  for (int k = 0; k < members && s.node; k++) cb_gait_free(s.node[k].gait);
  free(s.node);
  return status;
}

const cb_sweep_task_class cb_sweep_task_steering = {
    .name = "steering",
    .title = "gaits of minimum cost over a grid of two numbers of the holonomy",
    .doc = "the axes have keys such as x and theta",
    .layout = make_layout,
    .all = all};
