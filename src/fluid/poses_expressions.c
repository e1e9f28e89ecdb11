/* Poses from expressions in the rest position and time. The velocity is the derivative of the expression in t. */
#include "fluid/poses_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const variables[] = {"t", "X", "Y", "Z"}; /* t first: its derivative is wanted */
enum { VARIABLES = 4 };

/* The number of the motion of a part, -1 for none. */
static int motion_of(const char *part, const cb_poses_motion *motion, size_t n) {
  int all = -1;
  for (size_t i = 0; i < n; i++) {
    if (!motion[i].part) all = (int)i;
    else if (!strcmp(motion[i].part, part)) return (int)i;
  }
  return all;
}

static cb_status check_parts(const cb_surface *rest, const cb_poses_motion *motion, size_t n, size_t *which) {
  for (size_t i = 0; i < n; i++) {
    int p = 0;
    if (which) *which = i;
    for (size_t j = 0; j < i; j++)
      if (motion[i].part ? motion[j].part && !strcmp(motion[i].part, motion[j].part) : !motion[j].part)
        return cb_fail(CB_ERROR_INPUT, "a second motion of %s%s%s", motion[i].part ? "part '" : "all parts",
                       motion[i].part ? motion[i].part : "", motion[i].part ? "'" : "");
    while (motion[i].part && p < rest->parts && strcmp(rest->name[p], motion[i].part)) p++;
    if (!motion[i].part || p < rest->parts) continue;
    const char *near = cb_nearest_name(motion[i].part, (const char *const *)rest->name, (size_t)rest->parts);
    return cb_fail(CB_ERROR_INPUT, "the surface has no part '%s'%s%s%s", motion[i].part, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'" : "");
  }
  return CB_OK;
}

static cb_status parse(const cb_poses_motion *motion, const cb_poses_parameters *parameters, int *coordinate,
                       size_t *at, cb_pose_law *law) {
  const cb_expression_scope scope = {.names = variables,
                                     .n = VARIABLES,
                                     .parameters = parameters ? parameters->names : NULL,
                                     .values = parameters ? parameters->values : NULL,
                                     .n_parameters = parameters ? parameters->n : 0};
  for (int k = 0; k < 3; k++) {
    if (coordinate) *coordinate = k;
    if (cb_expression_parse_in(motion->text[k], &scope, at, &law->e[k])) {
      char text[512];
      snprintf(text, sizeof text, "%s", cb_error_text());
      return cb_fail(CB_ERROR_INPUT, "motion of %s%s, %c: %s", motion->part ? "part " : "all parts",
                     motion->part ? motion->part : "", "xyz"[k], text);
    }
  }
  return CB_OK;
}

cb_status cb_poses_from_expressions(const cb_surface *rest, const cb_poses_motion *motion, size_t n,
                                    const cb_poses_parameters *parameters, size_t *which, int *coordinate, size_t *at,
                                    cb_poses **out) {
  if (at) *at = 0;
  if (coordinate) *coordinate = 0;
  cb_status status = check_parts(rest, motion, n, which);
  if (status) return status;
  cb_arena *arena = cb_arena_create();
  cb_poses *p = cb_arena_alloc(arena, 1, sizeof *p);
  cb_pose_law *law = cb_arena_alloc(arena, n, sizeof *law);
  int *law_of = cb_arena_alloc(arena, (size_t)rest->vertices, sizeof *law_of);
  double(*x)[3] = cb_arena_alloc_aligned(arena, (size_t)rest->vertices, sizeof *x, CB_CACHE_LINE);
  if (!p || !law || !law_of || !x) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for poses of %d vertices", rest->vertices);
  }
  *p = (cb_poses){.arena = arena, .vertices = rest->vertices, .laws = n, .law = law, .law_of = law_of, .rest = x};
  memcpy(x, rest->x, (size_t)rest->vertices * sizeof *x);
  for (size_t i = 0; i < n && !status; i++) {
    if (which) *which = i;
    status = parse(&motion[i], parameters, coordinate, at, &law[i]);
  }
  if (status) {
    cb_poses_free(p);
    return status;
  }
  /* Backward through the faces, so that the first part of a vertex is what stays. */
  for (int i = 0; i < rest->vertices; i++) law_of[i] = -1;
  for (int part = rest->parts; part-- > 0;) {
    int number = motion_of(rest->name[part], motion, n);
    for (int f = 0; f < rest->faces; f++)
      for (int k = 0; rest->part[f] == part && k < 3; k++) law_of[rest->face[f][k]] = number;
  }
  *out = p;
  return CB_OK;
}

cb_status cb_poses_expressions_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]) {
  for (int i = 0; i < p->vertices; i++) {
    const double *rest = p->rest[i], at[VARIABLES] = {t, rest[0], rest[1], rest[2]};
    for (int k = 0; k < 3; k++) {
      double velocity = 0, place = rest[k];
      if (p->law_of[i] >= 0) {
        const cb_expression *e = p->law[p->law_of[i]].e[k];
        place = v ? cb_expression_gradient(e, at, 1, &velocity) : cb_expression_value(e, at);
      }
      if (!isfinite(place) || !isfinite(velocity))
        return cb_fail(CB_STEP_NOT_FINITE, "pose at t = %g: %c%s of vertex %d, at rest at (%g, %g, %g), is %g", t,
                       "xyz"[k], isfinite(place) ? "'s velocity" : "", i + 1, rest[0], rest[1], rest[2],
                       isfinite(place) ? velocity : place);
      x[i][k] = place;
      if (v) v[i][k] = velocity;
    }
  }
  return CB_OK;
}
