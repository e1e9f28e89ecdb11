/* Spaces that tests define by the metric of one chart, and random coordinates in every chart of the other spaces. */
#pragma once

#include "check_spaces.h"
#include <curvebody/intrinsic.h>

enum { K = CB_COORD_MAX, D = CB_DIM_MAX };

static const double pi = 3.14159265358979323846;

/* --- metrics of these tests --- */

/* g_ij = (r^2 + 2) delta_ij, where r^2 is the sum of the squares of the three coordinates. */
static inline cb_status ih_metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  double f = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + 2;
  memset(gij, 0, 9 * sizeof *gij);
  if (dg) memset(dg, 0, 27 * sizeof *dg);
  if (ddg) memset(ddg, 0, 81 * sizeof *ddg);
  for (int i = 0; i < 3; i++) {
    gij[4 * i] = f;
    for (int l = 0; l < 3; l++) {
      if (dg) dg[9 * l + 4 * i] = 2 * q[l];
      if (ddg) ddg[9 * (4 * l) + 4 * i] = 2;
    }
  }
  return CB_OK;
}

static inline cb_status flat_metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  int n = g->dim;
  memset(gij, 0, (size_t)(n * n) * sizeof *gij);
  if (dg) memset(dg, 0, (size_t)(n * n * n) * sizeof *dg);
  if (ddg) memset(ddg, 0, (size_t)(n * n * n * n) * sizeof *ddg);
  for (int i = 0; i < n; i++) gij[i * n + i] = 1;
  return CB_OK;
}

/* The metric dx^2 + y dy^2, which is singular at y = 0. */
static inline cb_status cusp_metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  flat_metric(g, q, gij, dg, ddg);
  gij[3] = q[1];
  if (dg) dg[7] = 1;
  return CB_OK;
}

/* The metric exp(2 x) dx^2, in one dimension. */
static inline cb_status line_metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  gij[0] = exp(2 * q[0]);
  if (dg) dg[0] = 2 * gij[0];
  if (ddg) ddg[0] = 4 * gij[0];
  return CB_OK;
}

/* The metric (2 + cos v)^2 du^2 + dv^2 of the torus of revolution with the radii 2 and 1. */
static inline cb_status torus_metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  flat_metric(g, q, gij, dg, ddg);
  double r = 2 + cos(q[1]), s = sin(q[1]);
  gij[0] = r * r;
  if (dg) dg[4] = -2 * r * s;
  if (ddg) ddg[12] = 2 * s * s - 2 * r * cos(q[1]);
  return CB_OK;
}

static inline cb_status disk(const cb_space *g, const double *q) {
  if (q[0] * q[0] + q[1] * q[1] < 1) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN, "outside the unit disk at (%g, %g)", q[0], q[1]);
}

static const cb_chart ih_chart = {.name = "ih", .coordinates = {"a", "b", "g"}, .size = 3, .metric = ih_metric};
static const cb_chart flat_chart = {.name = "flat", .coordinates = {"x", "y"}, .size = 2, .metric = flat_metric};
static const cb_chart cusp_chart = {.name = "cusp", .coordinates = {"x", "y"}, .size = 2, .metric = cusp_metric};
static const cb_chart line_chart = {.name = "line", .coordinates = {"x"}, .size = 1, .metric = line_metric};
static const cb_chart torus_chart = {.name = "torus", .coordinates = {"u", "v"}, .size = 2, .metric = torus_metric};
static const struct cb_intrinsic anywhere = {0}, in_disk = {.inside = disk}, flat_torus = {.period = {1, 2}};
static const struct cb_intrinsic angles = {.period = {2 * 3.14159265358979323846, 2 * 3.14159265358979323846}};

#define OWN_SPACE(name_, dim, chart, intrinsic)                    \
  static cb_status name_##_init(cb_space *g, const void *params) { \
    (void)params;                                                  \
    return cb_space_init_intrinsic(g, dim, &chart, &intrinsic);    \
  }                                                                \
  __attribute__((unused)) static const cb_space_class name_ = {    \
      .name = #name_, .title = "a test's own", .doc = "", .init = name_##_init}
OWN_SPACE(own_ih, 3, ih_chart, anywhere);
OWN_SPACE(own_disk, 2, flat_chart, in_disk);
OWN_SPACE(own_flat_torus, 2, flat_chart, flat_torus);
OWN_SPACE(own_line, 1, line_chart, anywhere);
OWN_SPACE(own_cusp, 2, cusp_chart, anywhere);
OWN_SPACE(own_torus, 2, torus_chart, angles);

static inline cb_space *own(const cb_space_class *class_) {
  cb_space *g;
  check_ok(cb_space_create_class(class_, NULL, &g));
  return g;
}

/* Creates the space `name` of the library in one of its charts. */
static inline cb_space *in_chart(const char *name, const char *chart) {
  cb_space *g;
  check_map m;
  check_ok(cb_space_create(name, check_map_fill(&m, "chart", chart, NULL, NULL), &g));
  return g;
}

/* Repeats the following statement for every chart of g that has a metric; `in` is a shallow copy of g that uses this
 * chart. If g is intrinsic, the statement is not executed. */
#define EACH_METRIC(g, in)                                                                                    \
  for (int c_ = 0; c_ < (g)->n_charts; c_++)                                                                  \
    for (cb_space in = *(g), *once_ = &in; once_ && (in.chart = &(g)->charts[c_])->metric && !(g)->intrinsic; \
         once_ = NULL)

/* Returns whether all diagonal entries of the metric at q are larger than `least`. Then q is away from the singular
 * points of the chart. */
static inline bool is_regular(const cb_space *g, const double *q, double least) {
  double gij[D * D];
  check_ok(g->chart->metric(g, q, gij, NULL, NULL));
  for (int i = 0; i < g->dim; i++)
    if (!(gij[i * g->dim + i] > least)) return false;
  return true;
}

/* Makes coordinates q of a random point where all diagonal entries of the metric are larger than `least`. */
static inline void coordinates(const cb_space *g, uint64_t *state, double least, double *q) {
  do {
    double x[K];
    check_random_point(g, state, check_radius(g), x);
    check_ok(g->chart->from_point(g, x, q));
  } while (!is_regular(g, q, least));
}

/* Makes a random velocity u at q with a length of at most `size`. */
static inline void velocity(const cb_space *g, uint64_t *state, const double *q, double size, double *u) {
  double gij[D * D], square;
  check_ok(g->chart->metric(g, q, gij, NULL, NULL));
  do {
    square = 0;
    for (int i = 0; i < g->dim; i++) {
      u[i] = check_uniform(state, -size, size) / sqrt(gij[i * g->dim + i]);
      square += gij[i * g->dim + i] * u[i] * u[i]; /* the metric is diagonal in the charts of quadrics */
    }
  } while (square > size * size);
}
