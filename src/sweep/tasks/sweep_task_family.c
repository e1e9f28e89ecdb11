/* The best gait while numbers of the scenario change. Each search starts from the gait of the previous member. The
 * task also finds the value at which the best gait has the best objective, where the derivative of the objective by
 * that number is 0.
 *
 * The previous member is the neighbour along the last axis on which this member is not the first; in designs other
 * than a grid it is the member with the previous number. A failed member is skipped; if there is no previous member,
 * all starts are tried. If the second of three consecutive members along a number is better than the first and not
 * worse than the third, the row of the third also contains the optimum between them as `event_..`. It is found by the
 * secant method on central differences of order 8 (numerics/tableau.h) of the objective.
 */
#include "sweep/sweep.h"

#include "bundle/gait_private.h"
#include "numerics/tableau.h"
#include "scenario/bundle_scenario.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { SECANTS = 12 };

typedef struct found {
  double cost, amount, efficiency, index, flat, group[CB_GROUP_SIZE];
  double over, event_cost, event_amount, event_efficiency; /* values at the event */
  double shape[CB_WORK_TIMES * CB_SHAPE_MAX], rate[CB_WORK_TIMES * CB_SHAPE_MAX];
} found;

#define AT(member) offsetof(found, member)
static const cb_task_column columns[] = {
    {"cost", NULL, "int r'Mr' dt", AT(cost), 0},
    {"amount", NULL, "amount of the target", AT(amount), 0},
    {"efficiency", NULL, "amount^2/cost", AT(efficiency), 0},
    {"index", NULL, "number of negative directions of the second variation", AT(index), 0},
    {"flat", NULL, "zero eigenvalues of the second variation, not counting the shift of time", AT(flat), 0},
    {"group", "number", "holonomy of the gait", AT(group), 0},
    {"shape", "way", "r", AT(shape), 0},
    {"rate", "way", "r'", AT(rate), 0},
    {"event_varied", NULL,
     "value of the varied number at which the objective is stationary, near the previous member; nan: none", AT(over),
     0},
    {"event_cost", NULL, "int r'Mr' dt at event_varied", AT(event_cost), 0},
    {"event_amount", NULL, "amount of the target at event_varied", AT(event_amount), 0},
    {"event_efficiency", NULL, "amount^2/cost at event_varied", AT(event_efficiency), 0},
    {NULL, NULL, NULL, 0, 0}};

/* Indices of the state of a member: the cost, the amount of the target, and the first number of the gait's state. */
enum { COST, AMOUNT, HEAD };

static cb_status make_layout(const cb_sweep *sweep, cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  (void)sweep;
  if (!cb_bundle_scenario_of(s)->optimum)
    return cb_fail(CB_ERROR_INPUT, "the key `optimum` is missing: the task `family` needs its target");
  const cb_status status = cb_gait_refuse_motion(cb_bundle_scenario_of(s));
  if (status) return status;
  return cb_task_layout(s, arena, columns, 0, NULL, out);
}

/* Returns the value of the objective; a smaller value is better. */
static double sought(const cb_optimum_problem *p, double cost, double amount) {
  return p->objective == CB_OBJECTIVE_COST         ? cost
         : p->objective == CB_OBJECTIVE_EFFICIENCY ? -amount * amount / cost
                                                   : -fabs(amount);
}

/* Finds the best gait of a scenario from one start; NULL: from all starts. The caller frees its gait. */
static cb_status solve(cb_scenario *s, const cb_gait *from, cb_optimum *out) {
  const cb_bundle_scenario *motion = cb_bundle_scenario_of(s);
  cb_optimum_problem p = motion->optimum->problem;
  cb_optima *all = NULL;
  if (from) {
    p.start = from;
    p.starts = 0;
  }
  const cb_status status = cb_optimum_find(&p, &all);
  if (status) return cb_gait_placed_search(motion, status);
  *out = all->item[0];
  all->item[0].gait = NULL;
  cb_optima_free(all);
  return CB_OK;
}

/* --- neighbours --- */

/* Returns m - p, where member p is the previous neighbour of member m, or 0 if m has no previous neighbour. In a grid,
 * *axis becomes the axis along which m and p are neighbours. This is the last axis on which m is not the first. */
static int64_t stride_of(const cb_sweep *s, int64_t m, size_t *axis) {
  int64_t stride = 1;
  *axis = 0;
  if (!s->plan->grid) return m > 0;
  for (size_t a = s->plan->axes; a-- > 0; stride *= (int64_t)s->plan->axis[a].count)
    if (cb_sweep_index(s->plan, m, a)) {
      *axis = a;
      return stride;
    }
  return 0;
}

/* Makes a gait from the state of a member that is done; NULL: the member is not done. */
static cb_status gait_of(const cb_task_call *c, int64_t m, cb_gait **out) {
  *out = NULL;
  const cb_store_row *row = c->store ? cb_store_row_of(c->store, m) : NULL;
  if (!row || row->status != CB_MEMBER_DONE || row->states < HEAD) return CB_OK;
  const int n = cb_bundle_scenario_of(c->scenario)->bundle->n;
  return cb_gait_from_state(n, row->states - HEAD, row->state + HEAD, out);
}

/* --- events --- */

/* The search for an event between consecutive members along an axis of numbers. */
typedef struct line {
  const cb_task_call *call;
  size_t axis;
  const cb_gait *gait; /* the gait of the middle member */
} line;

static cb_status solve_at(const line *l, double over, cb_optimum *out) {
  cb_arena *arena = cb_arena_create();
  cb_scenario *s = NULL;
  cb_status status = arena ? cb_sweep_open_at(l->call->sweep, l->call->member, l->axis, &over, arena, &s)
                           : cb_fail(CB_ERROR_MEMORY, "no memory for a member");
  if (!status) status = solve(s, l->gait, out);
  cb_scenario_free(s);
  cb_arena_free(arena);
  if (status <= 0) return status;
  return cb_fail(status, "%s = %.9g: %.1500s", l->call->sweep->plan->axis[l->axis].name, over, cb_error_text());
}

static cb_status derivative(const line *l, const cb_optimum_problem *p, double over, double h, double *out) {
  cb_status status = CB_OK;
  *out = 0;
  for (int k = 1; k <= 4 && !status; k++)
    for (int side = -1; side <= 1 && !status; side += 2) {
      cb_optimum o;
      status = solve_at(l, over + side * k * h, &o);
      if (status) break;
      *out += side * cb_central_weight[k - 1] * sought(p, o.cost, o.amount) / h;
      cb_gait_free(o.gait);
    }
  return status;
}

/* Searches for the event, the zero of the derivative of the objective, between the values at - step and at + step, and
 * stores its results in *to. */
static cb_status refine(const line *l, const cb_optimum_problem *p, double at, double step, found *to) {
  const double h = step / 8;
  double x = at, y = x + step / 4, slope, other;
  cb_optimum o;
  cb_status status = derivative(l, p, x, h, &slope);
  for (int turn = 0; turn < SECANTS && !status && fabs(y - x) > 1e-9 * fabs(step); turn++) {
    status = derivative(l, p, y, h, &other);
    if (status || other == slope) break;
    const double next = y - other * (y - x) / (other - slope);
    x = y;
    slope = other;
    y = fmin(fmax(next, at - fabs(step)), at + fabs(step));
  }
  if (!status) status = solve_at(l, y, &o);
  if (status) return status;
  to->over = y;
  to->event_cost = o.cost;
  to->event_amount = o.amount;
  to->event_efficiency = cb_gait_efficiency(o.amount, o.cost);
  cb_gait_free(o.gait);
  return CB_OK;
}

static cb_status find_event(const cb_task_call *c, const cb_optimum_problem *p, found *to) {
  size_t axis;
  const int64_t m = c->member, stride = stride_of(c->sweep, m, &axis);
  const cb_sweep_plan *plan = c->sweep->plan;
  const cb_sweep_key *key = &plan->axis[axis].key[0];
  const size_t i = cb_sweep_index(plan, m, axis);
  const bool alone = plan->axis[axis].keys == 1 && key->number && key->components == 1 && !key->shape;
  if (!c->store || !stride || i < 2 || !alone || (!plan->grid && plan->axes > 1)) return CB_OK;
  const cb_store_row *middle = cb_store_row_of(c->store, m - stride),
                     *first = cb_store_row_of(c->store, m - 2 * stride);
  if (middle->status != CB_MEMBER_DONE || first->status != CB_MEMBER_DONE) return CB_OK;
  const double best = sought(p, middle->state[COST], middle->state[AMOUNT]);
  if (!(best < sought(p, first->state[COST], first->state[AMOUNT]) && best <= sought(p, to->cost, to->amount)))
    return CB_OK;
  cb_gait *gait;
  cb_status status = gait_of(c, m - stride, &gait);
  const line l = {c, axis, gait};
  if (!status && gait) status = refine(&l, p, key->number[i - 1], (key->number[i] - key->number[i - 2]) / 2, to);
  cb_gait_free(gait);
  return status;
}

/* --- a member --- */

static cb_status keep(cb_task_call *c, const cb_optimum *o, found *to) {
  const cb_bundle *b = cb_bundle_scenario_of(c->scenario)->bundle;
  const size_t size = cb_gait_state_size(o->gait);
  double *state = cb_arena_alloc(c->arena, HEAD + size, sizeof *state);
  if (!state) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  *to = (found){.cost = o->cost,
                .amount = o->amount,
                .efficiency = cb_gait_efficiency(o->amount, o->cost),
                .index = o->index,
                .flat = o->flat,
                .over = NAN,
                .event_cost = NAN,
                .event_amount = NAN,
                .event_efficiency = NAN};
  memcpy(to->group, o->g, sizeof to->group);
  cb_task_way(o->gait, b->n, to->shape, to->rate);
  state[COST] = o->cost;
  state[AMOUNT] = o->amount;
  cb_gait_state(o->gait, state + HEAD);
  c->state = state;
  c->states = HEAD + size;
  return CB_OK;
}

static cb_status go_on(cb_task_call *c, const void *const **row) {
  found *to = cb_arena_alloc(c->arena, 1, sizeof *to);
  cb_gait *from = NULL;
  cb_optimum o = {.gait = NULL};
  size_t axis;
  cb_status status = to ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  for (int64_t m = c->member, stride; !status && !from && (stride = stride_of(c->sweep, m, &axis)); m -= stride)
    status = gait_of(c, m - stride, &from);
  if (!status) status = solve(c->scenario, from, &o);
  if (!status) status = keep(c, &o, to);
  if (!status) status = find_event(c, &cb_bundle_scenario_of(c->scenario)->optimum->problem, to);
  cb_gait_free(from);
  cb_gait_free(o.gait);
  return status ? status : cb_task_row(c->arena, columns, 0, to, row);
}

const cb_sweep_task_class cb_sweep_task_family = {
    .name = "family",
    .title = "the best gait, searched from the gait of the previous member",
    .doc = "cost, amount, shape, and the best value",
    .layout = make_layout,
    .go_on = go_on};
