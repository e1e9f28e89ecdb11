/* A flat torus of dimension 2 or 3: Euclidean space with each coordinate taken modulo its period.
 *
 *   d^2 = sum_i delta_i^2,   delta_i = x_i - y_i reduced to [-period_i/2, period_i/2]
 *
 * d is the distance of the points x and y. Coordinates are not reduced; points one period apart are the same point.
 * Half a period apart the shortest geodesic is not unique: d is correct there but has no derivatives. The Killing
 * fields are the translations.
 */
#include <curvebody/intrinsic.h>
#include "geometry/space_class.h"

#include <math.h>
#include <stdlib.h>

typedef struct flat_torus_params {
  int dimension;
  double period[CB_DIM_MAX];
} flat_torus_params;

static const cb_param params[] = {
    {"dimension", CB_PARAM_INT, offsetof(flat_torus_params, dimension), "3", "", "[2, 3]", NULL,
     "dimension of the torus"},
    {"period_x", CB_PARAM_REAL, offsetof(flat_torus_params, period[0]), "10", "length", "> 0", NULL, "period of x"},
    {"period_y", CB_PARAM_REAL, offsetof(flat_torus_params, period[1]), "10", "length", "> 0", NULL, "period of y"},
    {"period_z", CB_PARAM_REAL, offsetof(flat_torus_params, period[2]), "10", "length", "> 0", NULL,
     "period of z, in dimension 3"},
    {0},
};

static cb_status metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  (void)q;
  const cb_metric_entries m = cb_metric_begin(g->dim, gij, dg, ddg);
  for (int i = 0; i < g->dim; i++) cb_metric_value(m, i, i, 1);
  return CB_OK;
}

/* Computes delta = q1 - q2, reduced by multiples of the periods. With `unique` it returns CB_ERROR_DOMAIN if a
 * component is half a period, up to the round-off of q1 - q2. */
static cb_status difference(const cb_space *g, const double *q1, const double *q2, bool unique, double *delta) {
  for (int i = 0; i < g->dim; i++) {
    const double period = g->intrinsic->period[i], round_off = 4e-16 * (fabs(q1[i]) + fabs(q2[i]) + period);
    delta[i] = remainder(q1[i] - q2[i], period);
    if (unique && fabs(delta[i]) >= period / 2 - round_off)
      return cb_fail(CB_ERROR_DOMAIN,
                     "two points are half a period, %.6g, apart (%s = %.17g and %.17g): expected points with only one "
                     "shortest geodesic",
                     period / 2, g->chart->coordinates[i], q1[i], q2[i]);
  }
  return CB_OK;
}

static cb_status distance(const cb_space *g, const double *q1, const double *q2, double *d, double *gradient,
                          double *hessian) {
  const int n = g->dim;
  double delta[CB_DIM_MAX], square = 0;
  const cb_status status = difference(g, q1, q2, gradient || hessian, delta);
  if (status) return status;
  for (int i = 0; i < n; i++) square += delta[i] * delta[i];
  const double length = sqrt(square);
  if ((gradient || hessian) && !(length > 0))
    return cb_fail(CB_ERROR_DOMAIN,
                   "the distance from a point to itself has no derivative (x = %.6g): expected two different points",
                   q1[0]);
  *d = length;
  for (int i = 0; gradient && i < n; i++) {
    gradient[i] = delta[i] / length;
    gradient[n + i] = -gradient[i];
  }
  for (int i = 0; hessian && i < 2 * n; i++)
    for (int j = 0; j < 2 * n; j++) {
      const int a = i % n, b = j % n;
      const double h = ((a == b) - delta[a] * delta[b] / square) / length;
      hessian[i * 2 * n + j] = i / n == j / n ? h : -h;
    }
  return CB_OK;
}

static cb_status exponential(const cb_space *g, const double *q, const double *u, double *q1, double *u1) {
  for (int i = 0; i < g->dim; i++) {
    const double velocity = u[i];
    q1[i] = q[i] + velocity;
    if (u1) u1[i] = velocity;
  }
  return CB_OK;
}

static cb_status logarithm(const cb_space *g, const double *q, const double *y, double *u) {
  double delta[CB_DIM_MAX];
  const cb_status status = difference(g, y, q, true, delta);
  for (int i = 0; !status && i < g->dim; i++) u[i] = delta[i];
  return status;
}

static const char *const names[] = {"translation_x", "translation_y", "translation_z"};

static void killing(const cb_space *g, int index, const double *q, double *x) {
  (void)q;
  for (int i = 0; i < g->dim; i++) x[i] = i == index;
}

static void translation(const cb_space *g, const double *a, double *m, double *low) {
  (void)a;
  (void)low;
  for (int i = 0; i < g->dim * g->dim; i++) m[i] = i % (g->dim + 1) == 0;
}

static const cb_chart chart = {
    .name = "cartesian",
    .doc = "Cartesian coordinates, each modulo its period",
    .coordinates = {"x", "y", "z"},
    .metric = metric,
    .distance = distance,
};

static cb_status init(cb_space *g, const void *p) {
  const flat_torus_params *given = p;
  struct cb_intrinsic *own = g->data = calloc(1, sizeof *own);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a flat torus");
  *own = (struct cb_intrinsic){.exp = exponential, .log = logarithm, .killing = killing, .translation = translation};
  cb_chart those = chart;
  for (int i = 0; i < CB_DIM_MAX; i++) {
    if (i >= given->dimension) {
      those.coordinates[i] = NULL;
      continue;
    }
    own->period[i] = given->period[i];
    g->killing[g->n_killing++].name = names[i];
  }
  return cb_space_init_intrinsic(g, given->dimension, &those, own);
}

const cb_space_class cb_space_flat_torus = {
    .name = "flat_torus",
    .title = "flat torus",
    .doc = "Euclidean space with periodic coordinates",
    .params = params,
    .params_size = sizeof(flat_torus_params),
    .init = init,
};
