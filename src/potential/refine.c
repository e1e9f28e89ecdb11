/* See potential/refine.h. The residual is 1e-3 of the error, and the far field's share 1e-2 of it.
 */
#include "potential/refine.h"

#include "core/failure.h"
#include "numerics/vec3.h"
#include "potential/edges.h"
#include "potential/operator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The greatest bend of the panels that are faces kept[i]. */
static cb_status find_bend(const cb_kirchhoff *k, const int (*face)[3], double *out) {
  const cb_panels *p = cb_kirchhoff_panels(k);
  cb_panel_edge *edge;
  int edges;
  const cb_status status = cb_panel_edges(p->n, face, cb_kirchhoff_faces(k), &edge, &edges);
  if (status) return status;
  *out = 0;
  for (int e = 0; e < edges; e++) *out = fmax(*out, cb_panel_bend(p, edge + e));
  free(edge);
  return CB_OK;
}

static void find_size(const cb_panels *p, cb_potential_level *level) {
  double area = 0, square = 0;
  memset(level->centre, 0, sizeof level->centre);
  for (int i = 0; i < p->n; i++) {
    area += p->area[i];
    for (int c = 0; c < 3; c++) level->centre[c] += p->area[i] * p->centre[i][c];
  }
  for (int c = 0; c < 3; c++) level->centre[c] /= area;
  for (int i = 0; i < p->n; i++)
    for (int c = 0; c < 3; c++) square += p->area[i] * pow(p->centre[i][c] - level->centre[c], 2);
  level->radius = sqrt(square / area);
}

/* --- levels --- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct run {
  const cb_potential_body *body;
  cb_kirchhoff_options options;
  cb_potential_level level[CB_POTENTIAL_LEVELS];
  int n;          /* of them that are solved */
  double seconds; /* that the last one took */
} run;

/* What `faces` will take, from the level before: n^2 while the matrix is stored, about n^1.2 by the tree. */
static double expected(const run *r, int faces) {
  if (!r->n) return NAN;
  const double ratio = (double)faces / r->level[r->n - 1].faces;
  return r->seconds * pow(ratio, faces > CB_OPERATOR_STORED ? 1.2 : 2);
}

static cb_status solve(run *r, cb_kirchhoff *k, const int (*face)[3], int faces) {
  cb_potential_level *level = r->level + r->n;
  level->faces = faces;
  if (r->body->say) r->body->say(r->body->context, r->n, faces, cb_kirchhoff_report_of(k).bytes, expected(r, faces));
  const double began = now();
  cb_status status = cb_kirchhoff_added_mass(k, NULL, &level->mass);
  if (status) return status;
  r->seconds = now() - began;
  level->report = cb_kirchhoff_report_of(k);
  level->sheets = cb_kirchhoff_solids(k) < cb_kirchhoff_panels(k)->n;
  find_size(cb_kirchhoff_panels(k), level);
  return find_bend(k, face, &level->bend);
}

static cb_status take(run *r) {
  int vertices, faces;
  const double(*x)[3];
  const int(*face)[3];
  cb_kirchhoff *k = NULL;
  cb_status status = r->body->mesh(r->body->context, r->n, &vertices, &x, &faces, &face);
  if (!status) status = cb_kirchhoff_create(vertices, x, faces, face, &r->options, &k);
  if (!status) status = solve(r, k, face, faces);
  cb_kirchhoff_free(k);
  if (!status) r->n++;
  return status;
}

static cb_status not_met(cb_status status, double error, const cb_potential_estimate *e, const run *r) {
  char why[512];
  snprintf(why, sizeof why, "%s", status ? cb_error_text() : "no finer one is taken");
  if (!r->n) return status;
  return cb_fail(
      status && status != CB_ERROR_ARGUMENT ? status : CB_ERROR_STEP,
      "the error of %g is not met: %.2g with %d faces, and on the next mesh %s: expected a larger `error` or "
      "more `memory`",
      error, e->error, r->level[r->n - 1].faces, why);
}

cb_status cb_kirchhoff_refined(const cb_potential_body *body, double error, const cb_kirchhoff_options *options,
                               cb_potential_estimate *out, cb_kirchhoff_report *report, int *faces) {
  run r = {.body = body, .options = *options};
  cb_potential_estimate e = {.error = NAN};
  r.options.far_error = fmax(1e-11, fmin(options->far_error > 0 ? options->far_error : 1e-6, error / 100));
  while (r.n < CB_POTENTIAL_LEVELS && !(e.error <= error && r.n >= body->least)) {
    cb_status status = take(&r);
    if (status) return not_met(status, error, &e, &r);
    status = cb_potential_estimated(r.n, r.level, &e);
    if (status) return status;
  }
  if (!(e.error <= error)) return not_met(CB_OK, error, &e, &r);
  if (body->level) memcpy(body->level, r.level, (size_t)r.n * sizeof *r.level);
  if (body->levels) *body->levels = r.n;
  *out = e;
  *report = r.level[r.n - 1].report;
  *faces = r.level[r.n - 1].faces;
  return CB_OK;
}
