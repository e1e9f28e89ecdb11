/* See potential/refine.h. The residual is 1e-3 of the error, and the far field's share 1e-2 of it.
 */
#include "potential/refine.h"

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
  level->elongation = 12 * square / pow(area, 2);
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

/* Failures that leave what the meshes before told: there is no finer mesh, or it is not solved. */
static bool is_end(cb_status status) {
  return status == CB_ERROR_STEP || status == CB_ERROR_ARGUMENT || status == CB_ERROR_DOMAIN;
}

/* The fewest digits by which the error differs from the one that is asked for. */
static void say_unmet(cb_status status, double error, double reached, const run *r, char why[CB_POTENTIAL_WHY]) {
  char next[CB_POTENTIAL_WHY / 2], digits[32], asked[32];
  snprintf(next, sizeof next, "%s", status ? cb_error_text() : "no finer one is taken");
  int n = 2;
  do {
    snprintf(digits, sizeof digits, "%.*g", n, reached);
    snprintf(asked, sizeof asked, "%.*g", n, error);
  } while (!strcmp(digits, asked) && ++n < 17);
  snprintf(why, CB_POTENTIAL_WHY, "the error of %g is not met: %s with %d faces, and on the next mesh %s", error,
           digits, r->level[r->n - 1].faces, next);
}

cb_status cb_kirchhoff_refined(const cb_potential_body *body, double error, const cb_kirchhoff_options *options,
                               cb_potential_estimate *out, cb_kirchhoff_report *report, int *faces) {
  run r = {.body = body, .options = *options};
  cb_potential_estimate e = {.error = NAN};
  cb_status end = CB_OK;
  r.options.far_error = fmax(1e-11, fmin(options->far_error > 0 ? options->far_error : 1e-6, error / 100));
  while (r.n < CB_POTENTIAL_LEVELS && !(e.error <= error && r.n >= body->least) && !end) {
    if (e.error <= body->fair && r.n >= body->least && 4. * r.level[r.n - 1].faces > body->faces) break;
    end = take(&r);
    if (end && (!r.n || !is_end(end))) return end;
    const cb_status status = end ? CB_OK : cb_potential_estimated(r.n, r.level, &e);
    if (status) return status;
  }
  char why[CB_POTENTIAL_WHY] = "";
  if (!(e.error <= error)) say_unmet(end, error, e.error, &r, why);
  if (*why && !body->why) return cb_fail(CB_ERROR_STEP, "%s: expected a larger `error` or more `memory`", why);
  if (body->why) memcpy(body->why, why, sizeof why);
  if (body->level) memcpy(body->level, r.level, (size_t)r.n * sizeof *r.level);
  if (body->levels) *body->levels = r.n;
  *out = e;
  *report = r.level[r.n - 1].report;
  *faces = r.level[r.n - 1].faces;
  return CB_OK;
}
