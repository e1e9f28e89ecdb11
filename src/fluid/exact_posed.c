/* See fluid/exact_posed.h. Where the error must be met, levels are chosen where the body was given for half of it, so that
 * its poses may need more. */
#include "fluid/exact_posed.h"

#include "core/arena.h"
#include "core/warning.h"
#include "fluid/surface.h"
#include "potential/moving.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SOLVED_OFTEN = 10000 }; /* faces */

struct cb_exact_posed {
  cb_arena *arena;
  pthread_mutex_t mutex; /* of what follows, until it is made */
  const cb_fluid_model *model;
  const cb_surface *surface;
  cb_exact_asked asked;
  bool warned; /* of a pose whose error is not met */
  cb_kirchhoff_options options;
  cb_exact_levels levels; /* where the body was given; n = 0: not made yet */
  double error;           /* of the one level, there */
  cb_surface *divided[2 * CB_POTENTIAL_LEVELS];
  cb_moving *moving[CB_POTENTIAL_LEVELS];
};

/* --- levels --- */

static void drop_levels(cb_exact_posed *p) {
  for (int l = 0; l < 2 * CB_POTENTIAL_LEVELS; l++) {
    cb_surface_free(p->divided[l]);
    p->divided[l] = NULL;
  }
  for (int l = 0; l < CB_POTENTIAL_LEVELS; l++) {
    cb_moving_free(p->moving[l]);
    p->moving[l] = NULL;
  }
  p->levels.n = 0;
}

static cb_status make_levels(cb_exact_posed *p) {
  cb_surface *faces = NULL; /* without a shape, whose levels are other faces */
  cb_added_mass told = {.kinetic = 0};
  cb_exact_levels levels = {.n = 0};
  cb_exact_asked asked = p->asked;
  if (asked.must) asked.error /= 2;
  if (asked.faces < INT_MAX && !asked.most) asked.faces = SOLVED_OFTEN;
  cb_status status = cb_surface_make(p->surface->vertices, (const double(*)[3])p->surface->x, p->surface->faces,
                                     (const int(*)[3])p->surface->face, p->surface->part, &faces);
  if (!status) status = cb_exact_refined(p->model, faces, asked, &p->options, &levels, &told);
  if (!status && !p->asked.must) p->error = cb_exact_keep_one(asked, &told, 0, &levels);
  for (int l = 0; l < levels.first + levels.n && !status; l++) {
    status = cb_surface_at_level(faces, l, &p->divided[l]);
    const cb_surface *s = p->divided[l];
    if (!status && l >= levels.first)
      status = cb_moving_create(s->vertices, (const double(*)[3])s->x, s->faces, (const int(*)[3])s->face, &p->options,
                                &p->moving[l - levels.first]);
  }
  cb_surface_free(faces);
  if (status)
    drop_levels(p);
  else
    p->levels = levels;
  return status;
}

static cb_status prepare(cb_exact_posed *p) {
  pthread_mutex_lock(&p->mutex);
  const cb_status status = p->levels.n ? CB_OK : make_levels(p);
  pthread_mutex_unlock(&p->mutex);
  return status;
}

/* --- poses --- */

/* Of vertices of one level, and of the middles of its edges, which the fourth face of each four has. */
static void divide(const cb_surface *coarse, const cb_surface *fine, const double (*from)[3], double (*to)[3]) {
  memcpy(to, from, (size_t)coarse->vertices * sizeof *to);
  for (int f = 0; f < coarse->faces; f++)
    for (int k = 0; k < 3; k++) {
      const double *a = from[coarse->face[f][k]], *b = from[coarse->face[f][(k + 1) % 3]];
      double *middle = to[fine->face[4 * f + 3][k]];
      for (int c = 0; c < 3; c++) middle[c] = (a[c] + b[c]) / 2;
    }
}

/* From the vertices on to those of level `to`: at[] and next[] of as many, which change places. */
static void divide_on(const cb_exact_posed *p, int from, int to, double (**at)[3], double (**next)[3]) {
  for (int l = from; l < to; l++) {
    divide(p->divided[l], p->divided[l + 1], (const double(*)[3]) * at, *next);
    double(*swap)[3] = *at;
    *at = *next, *next = swap;
  }
}

static cb_status solve(const cb_exact_posed *p, const double (*x)[3], const double (*v)[3],
                       cb_potential_level level[CB_POTENTIAL_LEVELS]) {
  const int first = p->levels.first, end = first + p->levels.n;
  const size_t most = (size_t)p->divided[end - 1]->vertices, given = (size_t)p->surface->vertices;
  double(*room)[3] = malloc(4 * most * sizeof *room);
  if (!room) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices of a pose", most);
  double(*at)[3] = room, (*next)[3] = room + most, (*speed)[3] = room + 2 * most, (*later)[3] = room + 3 * most;
  cb_status status = CB_OK;
  memcpy(at, x, given * sizeof *at);
  if (v) memcpy(speed, v, given * sizeof *at);
  for (int l = first; l < end && !status; l++) {
    divide_on(p, l == first ? 0 : l - 1, l, &at, &next);
    if (v) divide_on(p, l == first ? 0 : l - 1, l, &speed, &later);
    level[l - first] = p->levels.level[l - first];
    status = cb_moving_added_mass(p->moving[l - first], (const double(*)[3])at, v ? (const double(*)[3])speed : NULL,
                                  &level[l - first].mass);
  }
  free(room);
  return status;
}

static cb_status not_met(cb_exact_posed *p, double error, int faces) {
  if (p->asked.must)
    return cb_fail(
        CB_ERROR_STEP,
        "the error of the added mass is %.2g in a pose, by up to %d faces, where %g is asked for: expected a "
        "larger `error`, or finer faces",
        error, faces, p->asked.error);
  pthread_mutex_lock(&p->mutex);
  const bool first = !p->warned && cb_warnings_are_taken();
  if (first) p->warned = true;
  pthread_mutex_unlock(&p->mutex);
  if (first)
    cb_warn("the added mass of a pose has an estimated error of %.2g, by up to %d faces, and others may have more", error,
            faces);
  return CB_OK;
}

cb_status cb_exact_posed_added_mass(cb_exact_posed *p, const double (*x)[3], const double (*v)[3], cb_added_mass *out) {
  cb_potential_level level[CB_POTENTIAL_LEVELS];
  cb_potential_estimate e;
  cb_status status = prepare(p);
  if (!status) status = solve(p, x, v, level);
  if (!status) status = cb_potential_estimated(p->levels.n, level, &e);
  if (status) return status;
  if (!p->asked.must) e.error = p->error * fmax(1, level->mass.coarseness / p->levels.level->mass.coarseness);
  const int faces = level[p->levels.n - 1].faces;
  if (!(e.error <= (p->asked.must ? 1 : 3) * p->asked.error)) status = not_met(p, e.error, faces);
  if (status) return status;
  const cb_kirchhoff_report report = cb_moving_report(p->moving[p->levels.n - 1]);
  memcpy(out->K, e.mass.K, sizeof out->K);
  memcpy(out->mu0, e.mass.mu0, sizeof out->mu0);
  out->kinetic = e.mass.kinetic;
  out->error = e.error;
  out->tolerance = p->asked.error;
  out->faces = faces;
  out->asymmetry = report.asymmetry;
  out->thickness = report.thickness;
  out->iterations = report.iterations;
  out->method = cb_potential_method_name(report.method);
  return CB_OK;
}

const cb_surface *cb_exact_posed_surface(const cb_exact_posed *p) { return p->divided[p->levels.first]; }

void cb_exact_posed_divide(const cb_exact_posed *p, const double (*from)[3], double (*to)[3], double (*room)[3]) {
  const size_t size = (size_t)p->divided[p->levels.first]->vertices * sizeof *to;
  double(*at)[3] = to, (*next)[3] = room;
  memcpy(to, from, (size_t)p->surface->vertices * sizeof *to);
  divide_on(p, 0, p->levels.first, &at, &next);
  if (at != to) memcpy(to, at, size);
}

cb_status cb_exact_posed_form(cb_exact_posed *p, const double (*x)[3], int n, const double (*v)[3], double *G) {
  cb_status status = prepare(p);
  if (status || n == 0) return status;
  const size_t given = (size_t)p->surface->vertices, fine = (size_t)cb_exact_posed_surface(p)->vertices;
  double(*room)[3] = malloc(((size_t)n + 2) * fine * sizeof *room);
  if (!room) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices of a shape", fine);
  double(*at)[3] = room + (size_t)n * fine, (*other)[3] = at + fine;
  for (int i = 0; i < n; i++) cb_exact_posed_divide(p, v + (size_t)i * given, room + (size_t)i * fine, other);
  cb_exact_posed_divide(p, x, at, other);
  status = cb_moving_form(p->moving[0], (const double(*)[3])at, n, (const double(*)[3])room, G);
  free(room);
  return status;
}

double cb_exact_posed_error(const cb_exact_posed *p, int *faces) {
  *faces = cb_exact_posed_surface(p)->faces;
  return p->error;
}

/* --- life --- */

cb_status cb_exact_posed_create(const cb_fluid_model *m, const cb_surface *surface, cb_exact_asked asked,
                                const cb_kirchhoff_options *options, cb_exact_posed **out) {
  cb_exact_posed *p = cb_arena_object(sizeof *p, "the exact added mass of poses");
  if (!p) return CB_ERROR_MEMORY;
  p->model = m, p->surface = surface, p->asked = asked, p->options = *options;
  p->options.far_error = fmin(options->far_error, asked.error / 100);
  pthread_mutex_init(&p->mutex, NULL);
  *out = p;
  return CB_OK;
}

void cb_exact_posed_free(cb_exact_posed *p) {
  if (!p) return;
  drop_levels(p);
  pthread_mutex_destroy(&p->mutex);
  cb_arena_free(p->arena);
}
