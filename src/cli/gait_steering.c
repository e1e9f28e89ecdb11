/* curvebody gait SCENARIO family --move A:B --turn A:B --grid N1xN2: steering, gaits that move by x and turn by theta.
 *
 *   /move[N1] /turn[N2]  x and theta of the holonomy, seen from the start of the cycle; its other numbers are free
 *   /cost[N1, N2]  nan where none was found;  /index;  /multiplier[N1, N2, 2]  d(cost) = 2 sum multiplier d(x, theta)
 *   /shape[N1, N2, T, n], /time[T] */
#include "cli/gait.h"

#include "core/arena.h"
#include "io/arrays.h"
#include "optimum/family_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 129, USUAL = 21, MOST = 1000, ANCHORS = 4 };

static const char *const option[2] = {"--move", "--turn"};

typedef struct steering {
  int count[2], number[2];
  double *value[2], *cost, *multiplier, *shape, *time;
  int *index, found;
  cb_family_node *node;
} steering;

static void free_steering(steering *s) {
  for (int k = 0; s->node && k < s->count[0] * s->count[1]; k++) cb_gait_free(s->node[k].gait);
  free(s->node);
  free(s->value[0]);
  free(s->index);
}

/* --- what is asked --- */

cb_status cb_gait_take_grid(cb_gait_asked *asked, struct cb_arena *arena, cb_gait_job *job) {
  if (!asked->move || !asked->turn || !strchr(asked->move, ':') || !strchr(asked->turn, ':')) return CB_OK;
  const size_t move = strcspn(asked->move, ":"), turn = strcspn(asked->turn, ":");
  const size_t size = strlen(asked->move) + strlen(asked->turn) + sizeof "x=,theta=";
  char *parts = cb_arena_alloc(arena, size, 1);
  if (!parts) return cb_fail(CB_ERROR_MEMORY, "no memory for options");
  /* a corner of the grid, for the scenario; not the identity */
  snprintf(parts, size, "x=%s,theta=%.*s", asked->move + move + 1, (int)turn, asked->turn);
  job->move = asked->move, job->turn = asked->turn;
  asked->parts = parts, asked->move = asked->turn = NULL;
  return CB_OK;
}

static cb_status read_range(const char *name, const char *text, double *from, double *to) {
  const char *colon = strchr(text, ':');
  char low[128];
  snprintf(low, sizeof low, "%.*s", (int)(colon - text), text);
  cb_status status = cb_gait_numbers(name, low, 1, from);
  if (!status) status = cb_gait_numbers(name, colon + 1, 1, to);
  return !status && *from == *to
             ? cb_fail(CB_ERROR_INPUT, "%s: error: expected LO:HI, two numbers, found %g:%g", name, *from, *to)
             : status;
}

static cb_status read_axes(const cb_gait_job *job, steering *s) {
  static const char *const number[2] = {"x", "theta"};
  const cb_group *G = job->bundle->group;
  s->count[0] = s->count[1] = USUAL;
  if (job->grid) {
    char *end, *last = NULL;
    const long one = strtol(job->grid, &end, 10), two = *end == 'x' ? strtol(end + 1, &last, 10) : 0;
    if (*end != 'x' || *last || one < 2 || two < 2 || one > MOST || two > MOST)
      return cb_fail(CB_ERROR_INPUT, "--grid: error: expected two numbers from 2 to %d, N1xN2, found '%.40s'", MOST,
                     job->grid);
    s->count[0] = (int)one, s->count[1] = (int)two;
  }
  const size_t all = (size_t)s->count[0] * (size_t)s->count[1], n = (size_t)job->bundle->n;
  s->node = calloc(all, sizeof *s->node);
  s->index = calloc(all, sizeof *s->index);
  s->value[0] = calloc((size_t)(s->count[0] + s->count[1]) + 3 * all + all * TIMES * n + TIMES, sizeof(double));
  if (!s->node || !s->index || !s->value[0]) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu gaits", all);
  s->value[1] = s->value[0] + s->count[0], s->cost = s->value[1] + s->count[1];
  s->multiplier = s->cost + all, s->shape = s->multiplier + 2 * all, s->time = s->shape + all * TIMES * n;
  for (int i = 0; i < 2; i++) {
    double from, to;
    const cb_status status = read_range(option[i], i ? job->turn : job->move, &from, &to);
    if (status) return status;
    for (int k = 0; k < s->count[i]; k++) s->value[i][k] = from + (to - from) * k / (s->count[i] - 1);
    for (int k = 0; k < s->count[i]; k++) /* 0 is to be 0 */
      if (fabs(s->value[i][k]) < 1e-12 * fabs(to - from)) s->value[i][k] = 0;
    for (s->number[i] = 0; s->number[i] < G->size && strcmp(G->number[s->number[i]], number[i]); s->number[i]++)
      ;
    if (s->number[i] == G->size)
      return cb_fail(CB_ERROR_INPUT,
                     "%s: error: with %s beside it expected a group with a number `%s`, such as se2, found %s",
                     option[i], option[1 - i], number[i], G->name);
  }
  return CB_OK;
}

/* What a search finds at every so many nodes, as starts of the grid. */
typedef struct anchors {
  int starts, *at;
  const cb_gait **start;
  cb_optima **found;
  int searches;
} anchors;

static void free_anchors(anchors *a) {
  for (int k = 0; k < a->searches; k++) cb_optima_free(a->found[k]);
  free(a->found);
  free(a->start);
  free(a->at);
}

static cb_status search_at(const cb_optimum_problem *asked, const steering *s, int node, anchors *a) {
  cb_optimum_problem p = *asked;
  cb_optima *all = NULL;
  double size = 0;
  p.seek = CB_SEEK_COST;
  p.target = (cb_gait_target){.kind = CB_GAIT_PARTS};
  for (int i = 0; i < 2; i++) {
    const double value = s->value[i][i ? node % s->count[1] : node / s->count[1]];
    p.target.asked[s->number[i]] = true;
    p.target.element[s->number[i]] = value;
    size += fabs(value);
  }
  if (size == 0) return CB_OK;
  const cb_status status = cb_optimum_find(&p, &all);
  if (status) return status > 0 ? CB_OK : status;
  a->found[a->searches++] = all;
  a->at[a->starts] = node, a->start[a->starts++] = all->item[0].gait;
  return CB_OK;
}

static cb_status follow(const cb_optimum_problem *p, steering *s) {
  const cb_family_axis axis[2] = {{s->number[0], s->count[0], s->value[0]}, {s->number[1], s->count[1], s->value[1]}};
  const size_t most = (ANCHORS + 1) * (ANCHORS + 1);
  anchors a = {
      .at = calloc(most, sizeof *a.at), .start = calloc(most, sizeof *a.start), .found = calloc(most, sizeof *a.found)};
  cb_status status = a.at && a.start && a.found ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for starts");
  const int many[2] = {s->count[0] - 1 < ANCHORS ? s->count[0] - 1 : ANCHORS,
                       s->count[1] - 1 < ANCHORS ? s->count[1] - 1 : ANCHORS};
  for (int i = 0; i <= many[0] && !status; i++)
    for (int j = 0; j <= many[1] && !status; j++)
      status = search_at(p, s, i * (s->count[0] - 1) / many[0] * s->count[1] + j * (s->count[1] - 1) / many[1], &a);
  if (!status && !a.starts)
    status = cb_fail(CB_STEP_NO_CONVERGENCE,
                     "no gait was found that does any of it: more `starts` or a `gait` near it may do");
  if (!status) status = cb_family_grid(p, axis, a.starts, a.at, a.start, s->node);
  free_anchors(&a);
  return status;
}

static void fill(const cb_gait_job *job, steering *s) {
  const size_t all = (size_t)s->count[0] * (size_t)s->count[1], n = (size_t)job->bundle->n;
  for (size_t t = 0; t < TIMES; t++) s->time[t] = (double)t / (TIMES - 1);
  for (size_t k = 0; k < all; k++) {
    const cb_family_node *node = &s->node[k];
    s->cost[k] = node->cost, s->index[k] = node->index;
    s->found += isfinite(node->cost);
    for (size_t i = 0; i < 2; i++) s->multiplier[2 * k + i] = node->multiplier[i];
    for (size_t t = 0; t < TIMES; t++) {
      double *r = s->shape + (k * TIMES + t) * n;
      for (size_t i = 0; i < n && !node->gait; i++) r[i] = NAN;
      if (node->gait) cb_gait_at(node->gait, s->time[t], r, NULL);
    }
  }
}

static cb_status write_file(const cb_gait_job *job, const steering *s) {
  static const char *const on[] = {"move", "turn"}, *const asked[] = {"x", "theta"},
                           *const multiplier[] = {"move", "turn", "asked"},
                           *const way[] = {"move", "turn", "time", "variable"};
  const cb_bundle *b = job->bundle;
  cb_arrays *a;
  const cb_status status = cb_arrays_create(job->output, &a);
  if (status) return status;
  cb_gait_attributes(job, a);
  cb_arrays_dimension(a, &(cb_dimension){"move", (size_t)s->count[0], s->value[0], NULL, "x of the holonomy"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"turn", (size_t)s->count[1], s->value[1], NULL, "theta of the holonomy"},
                      NULL);
  cb_arrays_dimension(a, &(cb_dimension){"asked", 2, NULL, asked, "number that is asked"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"time", TIMES, s->time, NULL, "part of the cycle"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"variable", (size_t)b->n, NULL, b->shape, "shape variable"}, NULL);
  cb_arrays_put(a, "cost", 2, on, s->cost, NULL, "int r'Mr' dt; nan: no gait was found");
  cb_arrays_put_integers(a, "index", 2, on, s->index, "negative directions of the second variation; -1: no gait");
  cb_arrays_put(a, "multiplier", 3, multiplier, s->multiplier, NULL, "half the derivatives of cost");
  cb_arrays_put(a, "shape", 4, way, s->shape, NULL, "r");
  return cb_arrays_close(a, CB_OK);
}

cb_status cb_gait_steering(const cb_gait_job *job) {
  const cb_optimum_problem *p = NULL;
  steering s = {.found = 0};
  cb_status status = read_axes(job, &s);
  if (!status) status = cb_gait_asked_of(job, &p);
  if (!status) status = follow(p, &s);
  if (!status) fill(job, &s);
  if (!status) status = write_file(job, &s);
  if (!status && job->json) {
    cb_gait_begin_json(job);
    printf("\"output\": ");
    cb_json_text(stdout, job->output);
    printf(", \"grid\": [%d, %d], \"found\": %d}\n", s.count[0], s.count[1], s.found);
  } else if (!status) {
    printf("%d gaits of %d\n", s.found, s.count[0] * s.count[1]);
  }
  free_steering(&s);
  return p ? cb_gait_placed_search(job, status) : status;
}
