/* Refines the exact added mass of rigid bodies, and of bodies whose vertices move (below). See
 * fluid/exact_refined.h. */
#include "fluid/exact_refined.h"
#include "fluid/surface_mesh.h"
#include "numerics/vec3.h"
#include "potential/refine.h"
#include "core/arena.h"
#include "core/failure.h"
#include "potential/moving.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

enum {
  COARSER = 2,        /* maximum number of levels below the given resolution of a shape */
  FINER = 2,          /* maximum number of levels above the first, if the first is too coarse to be solved */
  REPORTED = 50000000 /* size of a matrix in bytes from which on progress is reported */
};

typedef struct refined {
  const cb_fluid_model *model;
  const cb_surface *surface;
  cb_surface *level;  /* the level that was made last */
  int coarser, taken; /* the first level is -coarser (fluid/surface_mesh.h); taken: number of levels requested so far */
  cb_exact_levels *levels;
  cb_exact_asked asked;
  char *unmet; /* receives the reason if the error is not met; NULL: an error that is not met is a failure */
} refined;

static cb_status mesh(void *context, int level, int *vertices, const double (**x)[3], int *faces,
                      const int (**face)[3]) {
  refined *r = context;
  cb_surface_free(r->level);
  r->level = NULL;
  r->taken++;
  const cb_status status = cb_surface_at_level(r->surface, level - r->coarser, &r->level);
  if (status) return status;
  if (r->asked.maximum && r->level->faces > r->asked.maximum && r->taken > 1)
    return cb_fail(
        CB_ERROR_ARGUMENT,
        "%d faces exceed the limit of %d for bodies whose equations are solved many times: expected fewer faces",
        r->level->faces, r->asked.maximum);
  *vertices = r->level->vertices;
  *faces = r->level->faces;
  *x = (const double(*)[3])r->level->x;
  *face = (const int(*)[3])r->level->face;
  return CB_OK;
}

static void report_level(void *context, int level, int faces, size_t bytes, double seconds) {
  const refined *r = context;
  char line[128];
  (void)level;
  if (!r->model->report || bytes < REPORTED) return;
  const int length = snprintf(line, sizeof line, "%d faces take %.2g MB", faces, 1e-6 * (double)bytes);
  if (seconds >= 1) snprintf(line + length, sizeof line - (size_t)length, " and about %.2g s", seconds);
  r->model->report(r->model->context, line);
}

/* Checks that the body is near its origin. If the centre is at the distance d from the origin, the angular part of K is
 * the one about the centre plus about d^2 times the added mass. For a large d the round-off of this sum exceeds the
 * error. */
static cb_status check_origin(const cb_surface *s, double error) {
  double centre[3] = {0}, square = 0, from = 0;
  for (int v = 0; v < s->vertices; v++)
    for (int c = 0; c < 3; c++) centre[c] += s->x[v][c] / s->vertices;
  for (int c = 0; c < 3; c++) from += centre[c] * centre[c];
  for (int v = 0; v < s->vertices; v++)
    for (int c = 0; c < 3; c++) square += pow(s->x[v][c] - centre[c], 2) / s->vertices;
  if (10 * DBL_EPSILON * from <= error * square) return CB_OK;
  return cb_fail(
      CB_ERROR_DOMAIN,
      "the body is %.2g times its radius away from the origin. The round-off of the added mass about the origin is "
      "%.1g of its value about the centre, and the tolerance is %g: expected a body nearer to its origin",
      sqrt(from / square), DBL_EPSILON * from / square, error);
}

/* Refines until the error is met. If the first level cannot be solved, the function begins again one level finer, at
 * most FINER times. If none of these first levels can be solved, it returns CB_ERROR_STEP with the error text of the
 * first one. */
static cb_status refine(refined *r, double error, const cb_kirchhoff_options *options, cb_potential_estimate *e,
                        cb_kirchhoff_report *report, int *faces) {
  const int first = r->coarser;
  char why[512] = "";
  for (int finer = 0;; finer++) {
    r->coarser = first - finer;
    r->taken = 0;
    const cb_potential_body body = {.context = r,
                                    .mesh = mesh,
                                    .report = report_level,
                                    .least = r->coarser < 0 ? 1 : r->coarser + 1,
                                    .level = r->levels->level,
                                    .levels = &r->levels->n,
                                    .fair = r->asked.must ? 0 : CB_EXACT_FAIR,
                                    .faces = r->asked.faces,
                                    .why = r->unmet};
    const cb_status status = cb_kirchhoff_refined(&body, error, options, e, report, faces);
    if (!status || status == CB_ERROR_MEMORY || r->taken > 1) return status;
    if (status != CB_ERROR_STEP || finer == FINER) return finer ? cb_fail(CB_ERROR_STEP, "%s", why) : status;
    if (!finer) snprintf(why, sizeof why, "%s", cb_error_text());
  }
}

cb_status cb_exact_refined(const cb_fluid_model *m, const cb_surface *surface, cb_exact_asked asked,
                           const cb_kirchhoff_options *options, cb_exact_levels *levels, cb_added_mass *out) {
  cb_exact_levels own = {0};
  char unmet[CB_POTENTIAL_WHY];
  cb_status status = check_origin(surface, asked.error);
  if (status) return status;
  const int coarser = cb_surface_coarser(surface);
  refined r = {.model = m,
               .surface = surface,
               .coarser = coarser < COARSER ? coarser : COARSER,
               .levels = levels ? levels : &own,
               .asked = asked,
               .unmet = asked.must ? NULL : unmet};
  cb_potential_estimate e;
  cb_kirchhoff_report report;
  status = refine(&r, asked.error, options, &e, &report, &out->faces);
  cb_surface_free(r.level);
  if (status) return status;
  r.levels->first = -r.coarser;
  memcpy(out->K, e.mass.K, sizeof out->K);
  out->error = e.error;
  out->tolerance = asked.error;
  out->asymmetry = report.asymmetry;
  out->thickness = report.thickness;
  out->iterations = report.iterations;
  out->method = cb_potential_method_name(report.method);
  return CB_OK;
}

/* --- the body in a flow with a gradient --- */

void cb_exact_linear_velocities(const cb_surface *surface, int n, const double (*A)[3][3], const double c[3],
                                double (*v)[3]) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < surface->vertices; i++) {
      const double *x = surface->x[i], from[3] = {x[0] - c[0], x[1] - c[1], x[2] - c[2]};
      cb_apply3(A[k], from, v[k * surface->vertices + i]);
    }
}

static cb_status form_at_level(const cb_surface *surface, int level, const cb_kirchhoff_options *options, int n,
                               const double (*A)[3][3], const double c[3], double *G) {
  cb_surface *s;
  cb_kirchhoff *k = NULL;
  cb_status status = cb_surface_at_level(surface, level, &s);
  if (status) return status;
  double(*v)[3] = malloc((size_t)n * (size_t)s->vertices * sizeof *v);
  if (!v) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  if (!status) cb_exact_linear_velocities(s, n, A, c, v);
  if (!status)
    status =
        cb_kirchhoff_create(s->vertices, (const double(*)[3])s->x, s->faces, (const int(*)[3])s->face, options, &k);
  if (!status) status = cb_kirchhoff_form(k, n, (const double(*)[3])v, G);
  cb_kirchhoff_free(k);
  free(v);
  cb_surface_free(s);
  return status;
}

/* Extrapolates the entries of G from the matrices `form` of the levels, with the weights that K has in
 * cb_potential_estimated (potential/refine.h). In the call of that function the entries of G for the velocities i and j
 * take the place of mu0 and of the kinetic energy. */
static cb_status extrapolate(cb_exact_levels *levels, int n, const double *form, double *G) {
  const int size = 6 + n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      cb_potential_estimate e;
      for (int l = 0; l < levels->n; l++) {
        const double *own = form + l * size * size;
        memcpy(levels->level[l].mass.mu0, own + (6 + i) * size, 6 * sizeof *own);
        levels->level[l].mass.kinetic = own[(6 + i) * size + 6 + j];
      }
      const cb_status status = cb_potential_estimated(levels->n, levels->level, &e);
      if (status) return status;
      for (int a = 0; a < 6; a++) {
        G[a * size + 6 + i] = G[(6 + i) * size + a] = e.mass.mu0[a];
        for (int b = 0; b < 6; b++) G[a * size + b] = e.mass.K[a][b];
      }
      G[(6 + i) * size + 6 + j] = G[(6 + j) * size + 6 + i] = e.mass.kinetic;
    }
  return CB_OK;
}

cb_status cb_exact_refined_form(const cb_fluid_model *m, const cb_surface *surface, cb_exact_asked asked,
                                const cb_kirchhoff_options *options, int n, const double (*A)[3][3], const double c[3],
                                double *G) {
  cb_exact_levels levels = {.n = 0};
  cb_added_mass found = {.kinetic = 0};
  cb_kirchhoff_options own = *options;
  own.far_error = fmin(options->far_error, asked.error / 100);
  cb_status status = cb_exact_refined(m, surface, asked, options, &levels, &found);
  const int entries = (6 + n) * (6 + n);
  double *form = status ? NULL : malloc((size_t)(levels.n * entries) * sizeof *form);
  if (!status && !form) return cb_fail(CB_ERROR_MEMORY, "no memory for %d levels", levels.n);
  for (int l = 0; l < levels.n && !status; l++)
    status = form_at_level(surface, levels.first + l, &own, n, A, c, form + l * entries);
  if (!status) status = extrapolate(&levels, n, form, G);
  free(form);
  return status;
}

double cb_exact_keep_one(cb_exact_asked asked, const cb_added_mass *found, int least, cb_exact_levels *levels) {
  int at = 0;
  double error = INFINITY;
  for (int l = 0; l < levels->n; l++) {
    if (levels->first + l < least && l + 1 < levels->n) continue;
    at = l;
    error = cb_potential_departure(levels->level + l, found->K) + found->error;
    const bool large = 4. * levels->level[l].faces > (asked.maximum ? asked.faces : asked.faces / 2);
    if (error <= asked.error || (error <= CB_EXACT_FAIR && large)) break;
  }
  levels->level[0] = levels->level[at];
  levels->first += at;
  levels->n = 1;
  return error;
}

/* Bodies whose vertices move. If the error must be met, the levels are chosen so that they meet half of it at the given
 * vertices, because other poses may need finer faces. */

/* This number takes the place of asked.faces, because the level is solved for many poses: if the error is fair
 * (CB_EXACT_FAIR), no level with more faces is solved. It is not used if asked.faces is INT_MAX or asked.maximum is
 * set. */
enum { SOLVED_OFTEN = 10000 };

struct cb_exact_posed {
  cb_arena *arena;
  pthread_mutex_t mutex; /* guards `warned`, and also levels, error, divided and moving until they are computed */
  const cb_fluid_model *model;
  const cb_surface *surface;
  cb_exact_asked asked;
  bool warned; /* a warning was given for a pose whose error is not met */
  cb_kirchhoff_options options;
  cb_exact_levels levels; /* the levels that were chosen at the given vertices; n = 0: they are not yet made */
  double error;           /* error, at the given vertices, of the level that serves all poses */
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
  /* a copy of the surface without its class of shapes, so that its finer levels keep the given vertices */
  cb_surface *faces = NULL;
  cb_added_mass found = {.kinetic = 0};
  cb_exact_levels levels = {.n = 0};
  cb_exact_asked asked = p->asked;
  if (asked.must) asked.error /= 2;
  if (asked.faces < INT_MAX && !asked.maximum) asked.faces = SOLVED_OFTEN;
  cb_status status = cb_surface_make(p->surface->vertices, (const double(*)[3])p->surface->x, p->surface->faces,
                                     (const int(*)[3])p->surface->face, p->surface->part, &faces);
  if (!status) status = cb_exact_refined(p->model, faces, asked, &p->options, &levels, &found);
  if (!status && !p->asked.must) p->error = cb_exact_keep_one(asked, &found, 0, &levels);
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

/* Copies the vertices of one level and adds the midpoints of its edges. The midpoints are the corners of the last of
 * the four faces into which a face is divided. */
static void divide(const cb_surface *coarse, const cb_surface *fine, const double (*from)[3], double (*to)[3]) {
  memcpy(to, from, (size_t)coarse->vertices * sizeof *to);
  for (int f = 0; f < coarse->faces; f++)
    for (int k = 0; k < 3; k++) {
      const double *a = from[coarse->face[f][k]], *b = from[coarse->face[f][(k + 1) % 3]];
      double *middle = to[fine->face[4 * f + 3][k]];
      for (int c = 0; c < 3; c++) middle[c] = (a[c] + b[c]) / 2;
    }
}

/* Replaces *at, the vertices of level `from`, by the vertices of level `to`. The arrays *at and *next have the size of
 * level `to`; the function may exchange them. */
static void divide_on(const cb_exact_posed *p, int from, int to, double (**at)[3], double (**next)[3]) {
  for (int l = from; l < to; l++) {
    divide(p->divided[l], p->divided[l + 1], (const double(*)[3]) * at, *next);
    double(*swap)[3] = *at;
    *at = *next;
    *next = swap;
  }
}

static cb_status solve(const cb_exact_posed *p, const double (*x)[3], const double (*v)[3],
                       cb_potential_level level[CB_POTENTIAL_LEVELS]) {
  const int first = p->levels.first, end = first + p->levels.n;
  const size_t maximum = (size_t)p->divided[end - 1]->vertices, given = (size_t)p->surface->vertices;
  double(*buffer)[3] = malloc(4 * maximum * sizeof *buffer);
  if (!buffer) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices of a pose", maximum);
  double(*at)[3] = buffer, (*next)[3] = buffer + maximum, (*speed)[3] = buffer + 2 * maximum,
  (*later)[3] = buffer + 3 * maximum;
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
  free(buffer);
  return status;
}

static cb_status not_met(cb_exact_posed *p, double error, int faces) {
  if (p->asked.must)
    return cb_fail(CB_ERROR_STEP,
                   "the error of the added mass of a pose is %.2g with up to %d faces, and the tolerance is %g: "
                   "expected a larger `error`, or finer faces",
                   error, faces, p->asked.error);
  pthread_mutex_lock(&p->mutex);
  const bool first = !p->warned && cb_warnings_are_taken();
  if (first) p->warned = true;
  pthread_mutex_unlock(&p->mutex);
  if (first)
    cb_warn(
        "the added mass of a pose has an estimated error of %.2g with up to %d faces; other poses may have a larger "
        "one",
        error, faces);
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

void cb_exact_posed_divide(const cb_exact_posed *p, const double (*from)[3], double (*to)[3], double (*buffer)[3]) {
  const size_t size = (size_t)p->divided[p->levels.first]->vertices * sizeof *to;
  double(*at)[3] = to, (*next)[3] = buffer;
  memcpy(to, from, (size_t)p->surface->vertices * sizeof *to);
  divide_on(p, 0, p->levels.first, &at, &next);
  if (at != to) memcpy(to, at, size);
}

cb_status cb_exact_posed_form(cb_exact_posed *p, const double (*x)[3], int n, const double (*v)[3], double *G) {
  cb_status status = prepare(p);
  if (status || n == 0) return status;
  const size_t given = (size_t)p->surface->vertices, fine = (size_t)cb_exact_posed_surface(p)->vertices;
  double(*buffer)[3] = malloc(((size_t)n + 2) * fine * sizeof *buffer);
  if (!buffer) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices of a shape", fine);
  double(*at)[3] = buffer + (size_t)n * fine, (*other)[3] = at + fine;
  for (int i = 0; i < n; i++) cb_exact_posed_divide(p, v + (size_t)i * given, buffer + (size_t)i * fine, other);
  cb_exact_posed_divide(p, x, at, other);
  status = cb_moving_form(p->moving[0], (const double(*)[3])at, n, (const double(*)[3])buffer, G);
  free(buffer);
  return status;
}

double cb_exact_posed_error(const cb_exact_posed *p, int *faces) {
  *faces = cb_exact_posed_surface(p)->faces;
  return p->error;
}

/* --- creation and release --- */

cb_status cb_exact_posed_create(const cb_fluid_model *m, const cb_surface *surface, cb_exact_asked asked,
                                const cb_kirchhoff_options *options, cb_exact_posed **out) {
  cb_exact_posed *p = cb_arena_object(sizeof *p, "the exact added mass of poses");
  if (!p) return CB_ERROR_MEMORY;
  p->model = m;
  p->surface = surface;
  p->asked = asked;
  p->options = *options;
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
