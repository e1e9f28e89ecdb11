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

/* The size of a difference of tensors, which is moved to the centre. */
static double size_at(const cb_potential_level *level, double K[6][6]) {
  double unit[6], size = 0;
  units(level, unit);
  shift(level->centre, 1, K);
  for (int i = 0; i < 36; i++) size = fmax(size, fabs(K[i / 6][i % 6]) / (unit[i / 6] * unit[i % 6]));
  return size;
}

/* That of the sum of tensors with weights w, which add up to 0. */
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

enum { ORDERS = 3, FACING = 10 }; /* a body is a sheet below this part of its faces' size */

/* count: of p that are left out where there are levels enough; wide: faces are wider than the body is thick, and their
 * order changes as they become less so. */
typedef struct orders {
  double p[ORDERS];
  int count;
  bool smooth, sheet, wide;
} orders;

/* Weights of the last levels of n that leave out the first m of the orders, or as many as n has; the others' are 0. One
 * order after the other, from sums of neighbours. */
static void weights(int n, const cb_potential_level *level, int m, const orders *o, double *w) {
  double sum[ORDERS + 1][ORDERS + 1] = {{0}};
  if (m > o->count) m = o->count;
  if (m > n - 1) m = n - 1;
  const cb_potential_level *first = level + n - 1 - m;
  for (int i = 0; i <= m; i++) sum[i][i] = 1;
  for (int k = 0; k < m; k++) {
    double left[ORDERS + 1] = {0}; /* of h^p in each sum */
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

/* The change from level n - 2 to n - 1. */
static double change(int n, const cb_potential_level *level) {
  const double w[2] = {-1, 1};
  return size_of(2, level + n - 2, w);
}

/* The order as the last three of n levels have it; nan: the change does not fall. */
static double measured(int n, const cb_potential_level *level) {
  const double fall = n < 3 ? 0 : change(n - 1, level) / change(n, level);
  return fall > 1 ? 2 * log(fall) / log((double)level[n - 1].faces / level[n - 2].faces) : NAN;
}

/* Do both of the last two orders say that a smooth body's error falls as h^2? */
static bool settled(int n, const cb_potential_level *level) {
  return fabs(measured(n, level) - 2) < 0.2 && fabs(measured(n - 1, level) - 2) < 0.2;
}

/* To level l from the one before. */
static double growth(const cb_potential_level *level, int l) { return (double)level[l].faces / level[l - 1].faces; }

/* h^p is known by the number of faces where these have grown about fourfold: how many of the last levels have. Where a
 * shape's rounded resolution gave other numbers, its faces have other forms, and K falls as no power. */
static int similar(int n, const cb_potential_level *level) {
  int m = 1;
  while (m < n && growth(level, n - m) >= 3.3 && growth(level, n - m) <= 4.5) m++;
  return m;
}

/* By how much one growth is larger than another. */
static double unevenness(int n, const cb_potential_level *level) {
  double least = INFINITY, most = 0;
  for (int l = 1; l < n; l++) {
    least = fmin(least, growth(level, l));
    most = fmax(most, growth(level, l));
  }
  return most / least - 1;
}

/* By the level alone. */
static double alone(const cb_potential_level *level) {
  const double error = (level->sheets ? 2 : 1.5) * level->mass.coarseness;
  if (!(level->report.thickness < 0.9)) return error;
  return fmax(error, 1.25 * pow(4 * M_PI * fmax(1, level->elongation) / level->faces, 2. / 3));
}

/* Of the last change, what the bound of a body with edges or borders is at least: less where the measured order is one
 * that comes up to the stated one. */
static double share(int n, const cb_potential_level *level, const orders *o) {
  const double order = measured(n, level), p = o->p[0];
  if (o->sheet) return order >= 0.7 && order <= 2.3 ? 0.25 : 0.5;
  return order >= p - 0.4 && order <= p + 0.1 ? 0.25 : 1;
}

/* The bound of weights w, by three levels or more. */
static double bound(int n, const cb_potential_level *level, const orders *o, const double *w) {
  double one[CB_POTENTIAL_LEVELS], before[CB_POTENTIAL_LEVELS] = {0}, raw[CB_POTENTIAL_LEVELS] = {0};
  const double last = change(n, level);
  raw[n - 1] = 1;
  weights(n - 1, level, ORDERS, o, before);
  weights(n, level, 1, o, one);
  const double changed = between(n, level, w, before), corrected = between(n, level, w, raw),
               second = between(n, level, w, one);
  if (o->smooth && !o->wide && settled(n, level)) return fmax(fmax(3 * second, changed / 4), corrected / 50);
  const double sure = o->sheet && n > 3 ? 2 : 1; /* of sheets both fall steadily */
  double error = fmax(corrected / 10, fmax(changed, 2 * second) / sure);
  if (!o->smooth) error *= (o->sheet ? 1.25 : 1) * (1 + 4 * unevenness(n, level));
  if (!o->smooth) error = fmax(error, share(n, level, o) * last);
  if (o->wide) error = fmax(error, fmax(last / 2, pow(4 * M_PI / level[n - 1].faces, 2. / 3)));
  return last > 0.6 * change(n - 1, level) ? fmax(error, last) : error; /* not yet in its range of convergence */
}

/* The extrapolated K is off by no more than the last level is and the way from there. Two levels with edges have the
 * last one's K where that tells less. */
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
    /* what is thinner than its faces changes little while they are coarse: h^p of the unit sphere */
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
