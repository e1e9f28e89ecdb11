/* Poses given by expressions of the rest position and of the time, or of shape variables. Their derivatives are exact.
 *
 * Vertices are sorted by formula (the motion of their part), and each coordinate is in one array, so that an expression
 * is evaluated for many vertices at a time.
 */
#include "tree/scalar.h"
#include "fluid/poses_private.h"

#include "core/threads.h"
#include "numerics/expression_private.h"

#include <stdio.h>
#include <string.h>

static const char *const rest_name[3] = {"X", "Y", "Z"};
enum { VARIABLES = CB_POSES_VARIABLES + 3, CHUNK = 512 };

/* Returns the index of the motion of a part. This is the motion with the name of the part, otherwise the motion for all
 * parts, or -1 if neither exists. */
static int motion_of(const char *part, const cb_poses_motion *motion, size_t n) {
  int all = -1;
  for (size_t i = 0; i < n; i++) {
    if (!motion[i].part)
      all = (int)i;
    else if (!strcmp(motion[i].part, part))
      return (int)i;
  }
  return all;
}

static cb_status check_parts(const cb_surface *rest, const cb_poses_motion *motion, size_t n, size_t *which) {
  for (size_t i = 0; i < n; i++) {
    int p = 0;
    if (which) *which = i;
    for (size_t j = 0; j < i; j++)
      if (motion[i].part ? motion[j].part && !strcmp(motion[i].part, motion[j].part) : !motion[j].part)
        return cb_fail(CB_ERROR_INPUT, "a second motion of %s%s%s: expected one",
                       motion[i].part ? "part '" : "all parts", motion[i].part ? motion[i].part : "",
                       motion[i].part ? "'" : "");
    while (motion[i].part && p < rest->parts && strcmp(rest->name[p], motion[i].part)) p++;
    if (!motion[i].part || p < rest->parts) continue;
    return cb_fail_unknown(NULL, "part", motion[i].part, (const char *const *)rest->name, (size_t)rest->parts);
  }
  return CB_OK;
}

static cb_status parse(const cb_poses *p, const cb_poses_motion *motion, const cb_poses_parameters *parameters,
                       int *coordinate, size_t *at, cb_pose_formula *formula) {
  const char *names[VARIABLES];
  for (int i = 0; i < p->variables; i++) names[i] = p->name[i];
  for (int k = 0; k < 3; k++) names[p->variables + k] = rest_name[k];
  const cb_expression_scope scope = {.names = names,
                                     .n = (size_t)p->variables + 3,
                                     .parameters = parameters ? parameters->names : NULL,
                                     .values = parameters ? parameters->values : NULL,
                                     .n_parameters = parameters ? parameters->n : 0};
  for (int k = 0; k < 3; k++) {
    if (coordinate) *coordinate = k;
    const cb_status status =
        cb_expression_parse_in(motion->text[k] ? motion->text[k] : rest_name[k], &scope, at, &formula->e[k]);
    if (status)
      return cb_fail(status, "motion of %s%s, %c: %s", motion->part ? "part " : "all parts",
                     motion->part ? motion->part : "", "xyz"[k], cb_error_text());
  }
  return CB_OK;
}

cb_status cb_poses_from_expressions(const cb_surface *rest, const cb_poses_motion *motion, size_t n,
                                    const cb_poses_parameters *parameters, size_t *which, int *coordinate, size_t *at,
                                    cb_poses **out) {
  static const char *const time[] = {"t"};
  const cb_shape_text text = {1, time, n, motion, parameters};
  return cb_poses_of_variables(rest, &text, which, coordinate, at, out);
}

/* Copies the names of variables. Returns NULL if there is no memory. */
static const char *const *copy_names(cb_arena *arena, int n, const char *const *names) {
  char **copy = cb_arena_alloc(arena, (size_t)n, sizeof *copy);
  for (int i = 0; copy && i < n; i++) {
    const size_t size = strlen(names[i]) + 1;
    if (!(copy[i] = cb_arena_alloc(arena, size, 1))) return NULL;
    memcpy(copy[i], names[i], size);
  }
  return (const char *const *)copy;
}

/* Sorts vertices by formula: it counts the vertices of each formula, finds where each formula begins, and then lists
 * the vertices. */
static void sort_vertices(cb_poses *p, const cb_surface *rest, const cb_poses_motion *motion, int *part_of,
                          int *formula_of) {
  for (int v = 0; v < rest->vertices; v++) part_of[v] = rest->parts;
  for (int f = 0; f < rest->faces; f++)
    for (int k = 0; k < 3; k++)
      if (rest->part[f] < part_of[rest->face[f][k]]) part_of[rest->face[f][k]] = rest->part[f];
  for (int part = 0; part < rest->parts; part++) formula_of[part] = motion_of(rest->name[part], motion, p->formulas);
  formula_of[rest->parts] = -1;
  for (int v = 0; v < rest->vertices; v++) p->range[1 + formula_of[part_of[v]]].end++;
  for (int number = -1, i = 0; number < (int)p->formulas; number++) {
    struct cb_pose_range *r = &p->range[1 + number];
    const int count = r->end;
    *r = (struct cb_pose_range){number, i, i};
    i += count;
  }
  for (int v = 0; v < rest->vertices; v++) {
    const int i = p->range[1 + formula_of[part_of[v]]].end++;
    for (int k = 0; k < 3; k++) p->rest[k][i] = rest->x[v][k];
    p->vertex[i] = v;
  }
}

cb_status cb_poses_of_variables(const cb_surface *rest, const cb_shape_text *text, size_t *which, int *coordinate,
                                size_t *at, cb_poses **out) {
  const size_t n = text->motions;
  if (at) *at = 0;
  if (coordinate) *coordinate = 0;
  cb_status status = check_parts(rest, text->motion, n, which);
  if (status) return status;
  cb_arena *arena = cb_arena_create();
  cb_poses *p = cb_arena_alloc(arena, 1, sizeof *p);
  cb_pose_formula *formula = cb_arena_alloc(arena, n, sizeof *formula);
  const size_t vertices = (size_t)rest->vertices;
  int *part_of = cb_arena_alloc(arena, vertices, sizeof *part_of);
  int *formula_of = cb_arena_alloc(arena, (size_t)rest->parts + 1, sizeof *formula_of);
  int *vertex = cb_arena_alloc(arena, vertices, sizeof *vertex);
  int *called = cb_arena_alloc(arena, vertices, sizeof *called);
  struct cb_pose_range *range = cb_arena_alloc(arena, n + 1, sizeof *range);
  double *x = cb_arena_alloc_aligned(arena, 3 * vertices, sizeof *x, CB_CACHE_LINE);
  const char *const *name = copy_names(arena, text->n, text->names);
  if (!p || !formula || !part_of || !formula_of || !vertex || !called || !range || !x || !name) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for poses of %d vertices", rest->vertices);
  }
  *p = (cb_poses){.arena = arena,
                  .vertices = rest->vertices,
                  .placed = rest->vertices,
                  .variables = text->n,
                  .name = name,
                  .formulas = n,
                  .formula = formula,
                  .ranges = (int)n + 1,
                  .range = range,
                  .vertex = vertex,
                  .number = called,
                  .rest = {x, x + vertices, x + 2 * vertices}};
  for (size_t i = 0; i < n && !status; i++) {
    if (which) *which = i;
    status = parse(p, &text->motion[i], text->parameters, coordinate, at, &formula[i]);
  }
  if (status) {
    cb_poses_free(p);
    return status;
  }
  memcpy(called, rest->number, vertices * sizeof *called);
  sort_vertices(p, rest, text->motion, part_of, formula_of);
  *out = p;
  return CB_OK;
}

cb_status cb_poses_affine(const cb_poses *p, int count, const int *vertex, cb_poses **out) {
  *out = NULL;
  for (size_t i = 0; i < p->formulas; i++)
    for (int k = 0; k < 3; k++)
      if (!cb_expression_is_affine(p->formula[i].e[k], p->variables, 3)) return CB_OK;
  cb_arena *arena = cb_arena_create();
  cb_poses *few = cb_arena_alloc(arena, 1, sizeof *few);
  struct cb_pose_range *range = cb_arena_alloc(arena, (size_t)p->ranges, sizeof *range);
  const size_t maximum = (size_t)count;
  int *chosen = cb_arena_alloc(arena, maximum, sizeof *chosen);
  int *place = cb_arena_alloc(arena, (size_t)p->vertices, sizeof *place);
  double *x = cb_arena_alloc_aligned(arena, 3 * maximum, sizeof *x, CB_CACHE_LINE);
  if (!few || !range || !chosen || !place || !x) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for poses of %d vertices", count);
  }
  *few = *p;
  few->arena = arena;
  few->placed = 0;
  few->range = range;
  few->vertex = chosen;
  few->borrows = true;
  for (int i = 0; i < p->placed; i++) place[p->vertex[i]] = i;
  for (int k = 0; k < 3; k++) few->rest[k] = x + (size_t)k * maximum;
  for (int r = 0; r < p->ranges; r++) {
    range[r] = (struct cb_pose_range){p->range[r].formula, few->placed, few->placed};
    for (int i = 0; i < count; i++) {
      const int at = place[vertex[i]];
      if (at < p->range[r].begin || at >= p->range[r].end) continue;
      for (int k = 0; k < 3; k++) few->rest[k][few->placed] = p->rest[k][at];
      chosen[few->placed++] = vertex[i];
    }
    range[r].end = few->placed;
  }
  *out = few;
  return CB_OK;
}

/* ---- at a time or shape ---- */

typedef struct task {
  const cb_poses *p;
  const double *r, *rate;
  double (*x)[3], (*v)[3];
  bool failed; /* a value is not finite */
} task;

/* Finds the values x of an expression at n <= CHUNK vertices, and their rates v = sum_i rate_i dx/dr_i (NULL: not
 * wanted) for the variables r_i. Returns false if a number is not finite. */
static bool evaluate(const task *job, const cb_expression *e, int n, const double *const *at, const _Bool *fixed,
                     double *x, double *v) {
  double slope[CHUNK];
  bool finite = true, any = false;
  for (int i = 0; v && i < job->p->variables; i++) {
    const double rate = job->rate[i];
    if (rate == 0) continue;
    finite &= cb_expression_values(e, n, at, fixed, (size_t)i, x, any ? slope : v);
    for (int k = 0; k < n; k++) v[k] = any ? v[k] + rate * slope[k] : rate * v[k];
    any = true;
  }
  if (any) return finite;
  if (v) memset(v, 0, (size_t)n * sizeof *v);
  return cb_expression_values(e, n, at, fixed, 0, x, NULL);
}

/* Finds the positions and velocities of the vertices begin .. end - 1, at most CHUNK of them, which all have this
 * formula (-1: they are at rest). */
static void move(task *job, int formula, int begin, int end) {
  const cb_poses *p = job->p;
  _Bool fixed[VARIABLES] = {false};
  const double *at[VARIABLES], *const *rest = at + p->variables;
  static const double zero[CHUNK];
  double moved[6][CHUNK];
  const double *place[3], *velocity[3];
  for (int i = 0; i < p->variables; i++) {
    fixed[i] = true;
    at[i] = &job->r[i];
  }
  for (int k = 0; k < 3; k++) at[p->variables + k] = p->rest[k] + begin;
  for (int k = 0; k < 3; k++) {
    place[k] = formula < 0 ? rest[k] : moved[k];
    velocity[k] = formula < 0 ? zero : moved[3 + k];
    if (formula >= 0 &&
        !evaluate(job, p->formula[formula].e[k], end - begin, at, fixed, moved[k], job->v ? moved[3 + k] : NULL))
      __atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
  }
  for (int i = 0; i < end - begin; i++) {
    double *x = job->x[p->vertex[begin + i]];
    x[0] = place[0][i];
    x[1] = place[1][i];
    x[2] = place[2][i];
  }
  if (!job->v) return;
  for (int i = 0; i < end - begin; i++) {
    double *v = job->v[p->vertex[begin + i]];
    v[0] = velocity[0][i];
    v[1] = velocity[1][i];
    v[2] = velocity[2][i];
  }
}

static void move_all(void *context, int begin, int end) {
  task *job = context;
  for (int r = 0; r < job->p->ranges; r++) {
    const struct cb_pose_range *range = job->p->range + r;
    const int last = range->end < end ? range->end : end;
    for (int i = range->begin > begin ? range->begin : begin; i < last; i += CHUNK)
      move(job, range->formula, i, i + CHUNK < last ? i + CHUNK : last);
  }
}

cb_status cb_poses_expressions_at(const cb_poses *p, const double *r, const double *rate, double (*x)[3],
                                  double (*v)[3]) {
  task job = {p, r, rate, x, v, false};
  cb_threads_range(cb_threads_for((size_t)p->placed), p->placed, move_all, &job);
  return job.failed ? cb_poses_check(p, r, (const double(*)[3])x, (const double(*)[3])v) : CB_OK;
}

cb_status cb_poses_expressions_second(const cb_poses *p, const double *r, double (*a)[3]) {
  const int pairs = p->variables * (p->variables + 1) / 2;
  const size_t vertices = (size_t)p->vertices;
  for (int k = 0; k < p->ranges; k++)
    for (int i = p->range[k].begin; i < p->range[k].end; i++) {
      double at[VARIABLES];
      for (int j = 0; j < p->variables; j++) at[j] = r[j];
      for (int c = 0; c < 3; c++) at[p->variables + c] = p->rest[c][i];
      for (int c = 0; c < 3; c++) {
        cb_jet jet = {0};
        if (p->range[k].formula >= 0) jet = cb_expression_jet(p->formula[p->range[k].formula].e[c], at, p->variables);
        for (int pair = 0; pair < pairs; pair++) (a + (size_t)pair * vertices)[p->vertex[i]][c] = jet.h[pair];
      }
    }
  for (int pair = 0; pair < pairs; pair++) {
    const cb_status status = cb_poses_check(p, r, (const double(*)[3])a + (size_t)pair * vertices, NULL);
    if (status) return status;
  }
  return CB_OK;
}
