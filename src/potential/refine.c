/* This file refines a mesh until the added mass K has a given error, and estimates that error (refine.h). By default
 * the residual is at most 1e-3 of the given error, and the error of the far field at most 1e-2 of it.
 */
#include "potential/refine.h"

#include "numerics/vec3.h"
#include "potential/mesh_pieces.h"
#include "potential/operator.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Finds the largest angle by which the normal turns at a convex edge between two panels. Panel i is the face
 * cb_kirchhoff_faces(k)[i]. */
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
  int n;          /* number of solved levels */
  double seconds; /* time of the last level */
} run;

/* Estimates the time in seconds for a mesh of `faces` faces from the time of the previous level. The time grows like
 * n^2 in the number n of faces if the matrix is stored, and about like n^1.2 with the tree. */
static double expected(const run *r, int faces) {
  if (!r->n) return NAN;
  const double ratio = (double)faces / r->level[r->n - 1].faces;
  return r->seconds * pow(ratio, faces > CB_OPERATOR_STORED ? 1.2 : 2);
}

static cb_status solve(run *r, cb_kirchhoff *k, const int (*face)[3], int faces) {
  cb_potential_level *level = r->level + r->n;
  level->faces = faces;
  if (r->body->report)
    r->body->report(r->body->context, r->n, faces, cb_kirchhoff_report_of(k).bytes, expected(r, faces));
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

/* Returns whether `status` is an error after which the results of earlier meshes remain valid. Such an error means that
 * there is no finer mesh, or that the finer mesh cannot be solved. */
static bool is_end(cb_status status) {
  return status == CB_ERROR_STEP || status == CB_ERROR_ARGUMENT || status == CB_ERROR_DOMAIN;
}

/* Writes to `why` the reason why the requested error was not reached. The reached error is printed with just so many
 * digits that it differs from the requested one. */
static void say_unmet(cb_status status, double error, double reached, const run *r, char why[CB_POTENTIAL_WHY]) {
  char next[CB_POTENTIAL_WHY / 2], digits[32], asked[32];
  snprintf(next, sizeof next, "%s", status ? cb_error_text() : "no finer mesh is used");
  int n = 2;
  do {
    snprintf(digits, sizeof digits, "%.*g", n, reached);
    snprintf(asked, sizeof asked, "%.*g", n, error);
  } while (!strcmp(digits, asked) && ++n < 17);
  snprintf(why, CB_POTENTIAL_WHY, "the error of %g is not met: it is %s with %d faces, and on the next mesh: %s", error,
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

/* --- the estimate. mu0 and the kinetic energy of the shape are extrapolated with the same weights as K, because all
 * three are parts of one quadratic form --- */

/* Transforms K about the origin to K about c (sign 1), or back (sign -1): X^T K X with X = [[1, 0], [sign hat(c), 1]]
 * and hat(c) y = c × y. A twist (w, v) about c is (w, v + c × w) about the origin. */
static void shift(const double c[3], double sign, double K[6][6]) {
  double X[6][6] = {{0}}, KX[6][6] = {{0}}, hat[3][3] = {{0}};
  cb_add_hat3(hat, sign, c);
  for (int i = 0; i < 6; i++) X[i][i] = 1;
  for (int i = 0; i < 9; i++) X[3 + i / 3][i % 3] = hat[i / 3][i % 3];
  for (int i = 0; i < 216; i++) KX[i / 36][i / 6 % 6] += K[i / 36][i % 6] * X[i % 6][i / 6 % 6];
  memset(K, 0, 36 * sizeof(double));
  for (int i = 0; i < 216; i++) K[i / 36][i / 6 % 6] += X[i % 6][i / 36] * KX[i % 6][i / 6 % 6];
}

/* Sets the units for relative errors: K_ab is divided by unit[a] unit[b]. */
static void units(const cb_potential_level *level, double unit[6]) {
  double K = 0;
  for (int i = 3; i < 6; i++) K = fmax(K, level->mass.K[i][i]);
  for (int i = 0; i < 6; i++) unit[i] = sqrt(K) * (i < 3 ? level->radius : 1);
}

/* Returns the size of a difference K of two tensors: the largest entry in the units of units(). The function also
 * transforms K itself to the centre of the level. */
static double size_at(const cb_potential_level *level, double K[6][6]) {
  double unit[6], size = 0;
  units(level, unit);
  shift(level->centre, 1, K);
  for (int i = 0; i < 36; i++) size = fmax(size, fabs(K[i / 6][i % 6]) / (unit[i / 6] * unit[i % 6]));
  return size;
}

/* Returns the size of the sum of the tensors of n levels with weights w, which add up to 0. */
static double size_of(int n, const cb_potential_level *level, const double *w) {
  double K[6][6] = {{0}};
  for (int l = 0; l < n; l++)
    for (int i = 0; i < 36; i++) K[i / 6][i % 6] += w[l] * level[l].mass.K[i / 6][i % 6];
  return size_at(level + n - 1, K);
}

double cb_potential_departure(const cb_potential_level *level, const double K[6][6]) {
  double difference[6][6];
  for (int i = 0; i < 36; i++) difference[i / 6][i % 6] = level->mass.K[i / 6][i % 6] - K[i / 6][i % 6];
  return size_at(level, difference);
}

/* Replaces K by the nearest tensor without negative eigenvalues, where distances are measured in the units of units().
 * The true tensor has no negative eigenvalues, so the result is at least as close to it as K was. */
static cb_status make_positive(const cb_potential_level *level, double K[6][6]) {
  double unit[6], value[6], vector[36], a[36];
  gsl_eigen_symmv_workspace *work = gsl_eigen_symmv_alloc(6);
  gsl_matrix_view A = gsl_matrix_view_array(a, 6, 6), V = gsl_matrix_view_array(vector, 6, 6);
  gsl_vector_view L = gsl_vector_view_array(value, 6);
  if (!work) return cb_fail(CB_ERROR_MEMORY, "no memory for eigenvalues");
  units(level, unit);
  shift(level->centre, 1, K);
  for (int i = 0; i < 36; i++) a[i] = K[i / 6][i % 6] / (unit[i / 6] * unit[i % 6]);
  gsl_eigen_symmv(&A.matrix, &L.vector, &V.matrix, work);
  gsl_eigen_symmv_free(work);
  for (int l = 0; l < 6; l++)
    for (int i = 0; i < 36 && value[l] < 0; i++)
      K[i / 6][i % 6] -= value[l] * vector[6 * (i / 6) + l] * vector[6 * (i % 6) + l] * unit[i / 6] * unit[i % 6];
  shift(level->centre, -1, K);
  return CB_OK;
}

/* FACING: a body counts as a sheet if it is thinner than 1/FACING of the size of its faces */
enum { ORDERS = 3, FACING = 10 };

/* The orders p of the terms h^p of the error, for faces of size h. count: number of orders that are removed if there
 * are enough levels. wide: the faces are wider than the body is thick, so the order changes as the faces become
 * smaller. */
typedef struct orders {
  double p[ORDERS];
  int count;
  bool smooth, sheet, wide;
} orders;

/* Finds weights w[n] of n levels. Weights of the last m + 1 levels remove the first m orders (fewer if n is too small),
 * and the other weights are 0. The orders are removed one after the other, by linear combinations of neighbouring
 * levels. */
static void weights(int n, const cb_potential_level *level, int m, const orders *o, double *w) {
  double sum[ORDERS + 1][ORDERS + 1] = {{0}};
  if (m > o->count) m = o->count;
  if (m > n - 1) m = n - 1;
  const cb_potential_level *first = level + n - 1 - m;
  for (int i = 0; i <= m; i++) sum[i][i] = 1;
  for (int k = 0; k < m; k++) {
    double left[ORDERS + 1] = {0}; /* coefficient of the error term of order p[k] in each sum of levels */
    for (int i = 0; i <= m - k; i++)
      for (int l = 0; l <= m; l++) left[i] += sum[i][l] * pow((double)first[m].faces / first[l].faces, o->p[k] / 2);
    for (int i = 0; i < m - k; i++)
      for (int l = 0; l <= m; l++)
        sum[i][l] = (left[i] * sum[i + 1][l] - left[i + 1] * sum[i][l]) / (left[i] - left[i + 1]);
  }
  memset(w, 0, (size_t)n * sizeof *w);
  memcpy(w + n - 1 - m, sum[0], (size_t)(m + 1) * sizeof *w);
}

static orders orders_of(int n, const cb_potential_level *level) {
  const cb_potential_level *last = level + n - 1;
  const bool sheet = last->sheets || last->report.thickness < 1. / FACING;
  if (sheet) return (orders){{1, 2, 3}, 3, false, true, false};
  const bool wide = last->report.thickness < 0.9;
  if (n < 2 || last->bend < 0.75 * level[n - 2].bend) return (orders){{2, 4}, 2, true, false, wide};
  const double p = 2 / (1 + last->bend / M_PI);
  return (orders){{p, p + 2. / 3}, 2, false, false, wide};
}

static double between(int n, const cb_potential_level *level, const double *w, const double *other) {
  double difference[CB_POTENTIAL_LEVELS];
  for (int i = 0; i < n; i++) difference[i] = w[i] - other[i];
  return size_of(n, level, difference);
}

/* Returns the size of the change of K from level n - 2 to level n - 1. */
static double change(int n, const cb_potential_level *level) {
  const double w[2] = {-1, 1};
  return size_of(2, level + n - 2, w);
}

/* Returns the order, measured from the last three of n levels. Returns NaN if there are fewer levels, or if the change
 * does not decrease. */
static double measured(int n, const cb_potential_level *level) {
  const double fall = n < 3 ? 0 : change(n - 1, level) / change(n, level);
  return fall > 1 ? 2 * log(fall) / log((double)level[n - 1].faces / level[n - 2].faces) : NAN;
}

/* Returns whether the last two measured orders show that the error of a smooth body decreases like h^2. */
static bool settled(int n, const cb_potential_level *level) {
  return fabs(measured(n, level) - 2) < 0.2 && fabs(measured(n - 1, level) - 2) < 0.2;
}

/* Returns the growth of the number of faces from level l - 1 to level l. */
static double growth(const cb_potential_level *level, int l) { return (double)level[l].faces / level[l - 1].faces; }

/* Returns the number of levels at the end of the list for which the number of faces grows about fourfold from one level
 * to the next. Only such levels have faces of the same form, so that the number of faces determines h^p. */
static int similar(int n, const cb_potential_level *level) {
  int m = 1;
  while (m < n && growth(level, n - m) >= 3.3 && growth(level, n - m) <= 4.5) m++;
  return m;
}

/* Returns the largest growth of the number of faces between successive levels, divided by the smallest one, minus 1. */
static double unevenness(int n, const cb_potential_level *level) {
  double least = INFINITY, maximum = 0;
  for (int l = 1; l < n; l++) {
    least = fmin(least, growth(level, l));
    maximum = fmax(maximum, growth(level, l));
  }
  return maximum / least - 1;
}

/* Returns the bound of the error that follows from one level alone. */
static double alone(const cb_potential_level *level) {
  const double error = (level->sheets ? 2 : 1.5) * level->mass.coarseness;
  if (!(level->report.thickness < 0.9)) return error;
  return fmax(error, 1.25 * pow(4 * M_PI * fmax(1, level->elongation) / level->faces, 2. / 3));
}

/* Returns the smallest bound that is accepted for a body with edges or borders, as a share of the last change. The
 * share is smaller if the measured order is near the expected order. */
static double share(int n, const cb_potential_level *level, const orders *o) {
  const double order = measured(n, level), p = o->p[0];
  if (o->sheet) return order >= 0.7 && order <= 2.3 ? 0.25 : 0.5;
  return order >= p - 0.4 && order <= p + 0.1 ? 0.25 : 1;
}

/* Returns the bound of the error of K extrapolated from three or more levels with the weights w (refine.h). */
static double bound(int n, const cb_potential_level *level, const orders *o, const double *w) {
  double one[CB_POTENTIAL_LEVELS], before[CB_POTENTIAL_LEVELS] = {0}, raw[CB_POTENTIAL_LEVELS] = {0};
  const double last = change(n, level);
  raw[n - 1] = 1;
  weights(n - 1, level, ORDERS, o, before);
  weights(n, level, 1, o, one);
  const double changed = between(n, level, w, before), corrected = between(n, level, w, raw),
               second = between(n, level, w, one);
  if (o->smooth && !o->wide && settled(n, level)) return fmax(fmax(3 * second, changed / 4), corrected / 50);
  /* For sheets `changed` and `second` decrease steadily from level to level, so half of them is a sufficient bound. */
  const double sure = o->sheet && n > 3 ? 2 : 1;
  double error = fmax(corrected / 10, fmax(changed, 2 * second) / sure);
  if (!o->smooth) error *= (o->sheet ? 1.25 : 1) * (1 + 4 * unevenness(n, level));
  if (!o->smooth) error = fmax(error, share(n, level, o) * last);
  if (o->wide) error = fmax(error, fmax(last / 2, pow(4 * M_PI / level[n - 1].faces, 2. / 3)));
  /* the bound is at least the last change if the changes decrease too slowly */
  return last > 0.6 * change(n - 1, level) ? fmax(error, last) : error;
}

/* Bounds the error by the last level alone. The error of the extrapolated K is at most that of the last level plus the
 * distance of both tensors. With two levels and edges, K of the last level is used if its bound is smaller. */
static void bound_by_one(int n, const orders *o, const cb_potential_level *last, cb_potential_estimate *e) {
  const double error = alone(last);
  e->error = fmin(e->error, error + cb_potential_departure(last, (const double(*)[6])e->mass.K));
  if (n > 2 || o->smooth || o->sheet || error >= e->error) return;
  e->mass = last->mass;
  e->error = error;
}

cb_status cb_potential_estimated(int n, const cb_potential_level *level, cb_potential_estimate *out) {
  const cb_potential_level *last = level + n - 1;
  n = similar(n, level);
  level = last - (n - 1);
  const orders o = orders_of(n, level);
  double w[CB_POTENTIAL_LEVELS] = {0};
  cb_potential_estimate e = {.mass = last->mass, .error = fmax(alone(last), last->report.asymmetry), .order = NAN};
  if (n < 2) {
    *out = e;
    return CB_OK;
  }
  weights(n, level, ORDERS, &o, w);
  memset(&e.mass, 0, sizeof e.mass);
  for (int l = 0; l < n; l++) {
    for (int i = 0; i < 36; i++) e.mass.K[i / 6][i % 6] += w[l] * level[l].mass.K[i / 6][i % 6];
    for (int i = 0; i < 6; i++) e.mass.mu0[i] += w[l] * level[l].mass.mu0[i];
    e.mass.kinetic += w[l] * level[l].mass.kinetic;
  }
  if (n == 2) {
    e.error = 2.5 * change(n, level);
    /* The change may be small although the error is large. With edges or borders the bound is therefore at least
     * h^p. */
    if (!o.smooth) e.error = fmax(e.error, pow(4 * M_PI / last->faces, o.p[0] / 2));
  } else {
    e.error = bound(n, level, &o, w);
    e.order = measured(n, level);
  }
  if (!o.wide && last->mass.coarseness > 0) bound_by_one(n, &o, last, &e);
  e.error = fmax(e.error, last->report.asymmetry);
  *out = e;
  return make_positive(last, out->mass.K);
}
