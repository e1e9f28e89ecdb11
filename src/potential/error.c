/* See potential/error.h. mu0 and the kinetic energy of the shape take the weights of K, as all are of one quadratic form.
 */
#include "potential/error.h"

#include "numerics/vec3.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* K about c, of K about the origin (sign 1), or back (-1): X^T K X, X = [[1, 0], [sign hat(c), 1]], as a twist (w, v)
 * about c is (w, v + c × w) about the origin. */
static void shift(const double c[3], double sign, double K[6][6]) {
  double X[6][6] = {{0}}, KX[6][6] = {{0}}, hat[3][3] = {{0}};
  cb_add_hat3(hat, sign, c);
  for (int i = 0; i < 6; i++) X[i][i] = 1;
  for (int i = 0; i < 9; i++) X[3 + i / 3][i % 3] = hat[i / 3][i % 3];
  for (int i = 0; i < 216; i++) KX[i / 36][i / 6 % 6] += K[i / 36][i % 6] * X[i % 6][i / 6 % 6];
  memset(K, 0, 36 * sizeof(double));
  for (int i = 0; i < 216; i++) K[i / 36][i / 6 % 6] += X[i % 6][i / 36] * KX[i % 6][i / 6 % 6];
}

/* What K_ab is relative to. */
static void units(const cb_potential_level *level, double unit[6]) {
  double K = 0;
  for (int i = 3; i < 6; i++) K = fmax(K, level->mass.K[i][i]);
  for (int i = 0; i < 6; i++) unit[i] = sqrt(K) * (i < 3 ? level->radius : 1);
}

/* The size of the sum of tensors with weights w, which add up to 0. */
static double size_of(int n, const cb_potential_level *level, const double *w) {
  double K[6][6] = {{0}}, unit[6], size = 0;
  for (int l = 0; l < n; l++)
    for (int i = 0; i < 36; i++) K[i / 6][i % 6] += w[l] * level[l].mass.K[i / 6][i % 6];
  units(level + n - 1, unit);
  shift(level[n - 1].centre, 1, K);
  for (int i = 0; i < 36; i++) size = fmax(size, fabs(K[i / 6][i % 6]) / (unit[i / 6] * unit[i % 6]));
  return size;
}

/* The nearest K in these units that has no negative eigenvalue, as the true one has none: it is no farther from that. */
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

/* Weights of the last m + 1 of n levels that leave out h^p of m = 1 or 2 orders; the others' are 0. */
static void weights(int n, const cb_potential_level *level, int m, const double *p, double *w) {
  memset(w, 0, (size_t)n * sizeof *w);
  const double fine = level[n - 1].faces;
  double a = pow(fine / level[n - 2].faces, p[0] / 2);
  w[n - 1] = a / (a - 1);
  w[n - 2] = -1 / (a - 1);
  if (m == 1) return;
  /* of two such sums, without what h^p2 adds to each */
  const double b = pow(level[n - 2].faces / (double)level[n - 3].faces, p[0] / 2);
  const double h1 = pow(fine / level[n - 2].faces, p[1] / 2), h2 = pow(fine / level[n - 3].faces, p[1] / 2);
  const double of_fine = (a - h1) / (a - 1), of_coarse = (b * h1 - h2) / (b - 1);
  const double share = of_coarse / (of_coarse - of_fine), rest = 1 - share;
  w[n - 1] *= share;
  w[n - 2] = share * w[n - 2] + rest * b / (b - 1);
  w[n - 3] = -rest / (b - 1);
}

/* The order of the leading error. */
static double leading(int n, const cb_potential_level *level) {
  const double bend = level[n - 1].bend;
  return n < 2 || bend < 0.75 * level[n - 2].bend ? 2 : 2 / (1 + bend / M_PI);
}

static double between(int n, const cb_potential_level *level, const double *w, const double *other) {
  double difference[CB_POTENTIAL_LEVELS];
  for (int i = 0; i < n; i++) difference[i] = w[i] - other[i];
  return size_of(n, level, difference);
}

/* The change from level n - 2 to n - 1. */
static double change(int n, const cb_potential_level *level) {
  const double w[2] = {-1, 1};
  return size_of(2, level + n - 2, w);
}

/* The bound of weights w, of orders p that are `edged` or not; by three levels or more. */
static double bound(int n, const cb_potential_level *level, bool edged, const double p[2], const double *w) {
  double one[CB_POTENTIAL_LEVELS], before[CB_POTENTIAL_LEVELS] = {0}, raw[CB_POTENTIAL_LEVELS] = {0};
  const double last = change(n, level);
  raw[n - 1] = 1;
  weights(n - 1, level, edged && n > 3 ? 2 : 1, p, before);
  weights(n, level, 1, p, one);
  double error = fmax(between(n, level, w, before), between(n, level, w, raw) / 10);
  if (edged) error = fmax(error, 2 * between(n, level, w, one));
  /* the order is on its way from that of a thin border to a smooth one's */
  if (level[n - 1].report.thickness < 0.9) error = fmax(error, last / 2);
  return last > 0.6 * change(n - 1, level) ? fmax(error, last) : error; /* not yet in its range of convergence */
}

cb_status cb_potential_estimated(int n, const cb_potential_level *level, cb_potential_estimate *out) {
  const cb_potential_level *last = level + n - 1;
  const double first = leading(n, level), p[2] = {first, first + 2. / 3};
  const bool edged = first < 2;
  double w[CB_POTENTIAL_LEVELS] = {0};
  cb_potential_estimate e = {.mass = last->mass, .error = NAN, .order = NAN};
  if (n < 2) return *out = e, CB_OK;
  weights(n, level, edged && n > 2 ? 2 : 1, p, w);
  memset(&e.mass, 0, sizeof e.mass);
  for (int l = 0; l < n; l++) {
    for (int i = 0; i < 36; i++) e.mass.K[i / 6][i % 6] += w[l] * level[l].mass.K[i / 6][i % 6];
    for (int i = 0; i < 6; i++) e.mass.mu0[i] += w[l] * level[l].mass.mu0[i];
    e.mass.kinetic += w[l] * level[l].mass.kinetic;
  }
  if (n == 2) {
    e.error = 2 * change(n, level);
    /* what is thinner than its faces changes little while they are coarse: h^p of the unit sphere */
    if (edged) e.error = fmax(e.error, pow(4 * M_PI / last->faces, first / 2));
  } else {
    e.error = bound(n, level, edged, p, w);
    const double fall = change(n - 1, level) / change(n, level);
    if (fall > 1) e.order = 2 * log(fall) / log((double)last->faces / level[n - 2].faces);
  }
  e.error = fmax(e.error, last->report.asymmetry);
  *out = e;
  return make_positive(last, out->mass.K);
}
