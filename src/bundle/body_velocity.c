/* Corrected body velocity integral z of a gait: the leading term of log g(1) for small loops.
 *
 *   z = -int int_S B,   S the cone r(s, t) = c + s (rho(t) - c) over the loop rho, apex: the mean c of rho
 *   z = -int_0^1 int_0^1 sum_{i<j} B_ij(r) s ((rho - c)_i rho'_j - (rho - c)_j rho'_i) ds dt
 * r: shape; g(1): holonomy; B_ij: curvature (curvebody/bundle.h). For two shape variables the integral counts each
 * point as many times as the loop winds around it. This is true for any form of the loop and any apex. But B is
 * evaluated on the complete cone, which extends beyond the interior of a loop that is not star-shaped. For more than
 * two variables z depends on the cone. log g(1) - z is of third order in the diameter of the loop.
 *
 * The integral uses Gauss's rule with 8 nodes (order 16) on panels in s, and on panels in t that end at the breaks of
 * the gait. The number of panels is doubled, up to six times, until the change is below 1e-12 of the largest component.
 * Source: Hatton & Choset, IEEE Trans. Robotics 29 (2013) 615, doi:10.1109/TRO.2013.2251211.
 */
#include "bundle/gait_private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A function that computes B[pairs][dim] at the shape r in the order of cb_bundle_curvatures. */
typedef cb_status (*cb_curvature_field)(const void *self, const double *r, double *B);

enum { NODES = 8, DOUBLINGS = 6, PAIRS_MAX = CB_SHAPE_MAX * (CB_SHAPE_MAX - 1) / 2 };

/* The positive half of the Gauss-Legendre nodes and weights on [-1, 1]. */
static const double node[NODES / 2] = {.1834346424956498049, .5255324099163289858, .7966664774136267396,
                                       .9602898564975362317};
static const double weight[NODES / 2] = {.3626837833783619830, .3137066458778872873, .2223810344533744706,
                                         .1012285362903762592};

/* If curvatures have kinks or jumps, the integral may not converge. It is accepted if its relative change at the last
 * doubling is at most this limit. At poles the relative change is about 1. */
static const double rough = 1e-2;

/* Returns node k of panel p of `panels` equal panels on [0, 1], and computes its weight. */
static double gauss(int panels, int p, int k, double *w) {
  const double x = k < NODES / 2 ? -node[k] : node[k - NODES / 2];
  *w = weight[k % (NODES / 2)] / (2 * panels);
  return (p + (1 + x) / 2) / panels;
}

typedef struct cone {
  const cb_bundle *b;
  const cb_gait *gait;
  cb_curvature_field field;
  const void *self;
  double apex[CB_SHAPE_MAX];
} cone;

/* Adds to sum[dim] the integral along the ray of the cone at time t, multiplied by w. */
static cb_status add_ray(const cone *c, double t, double w, int panels, double *sum) {
  const int n = c->b->n, dim = c->b->group->dim;
  double rho[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], r[CB_SHAPE_MAX], B[PAIRS_MAX * CB_GROUP_DIM];
  cb_gait_at(c->gait, t, rho, rate);
  for (int k = 0; k < panels * NODES; k++) {
    double ws;
    const double s = gauss(panels, k / NODES, k % NODES, &ws);
    for (int i = 0; i < n; i++) r[i] = c->apex[i] + s * (rho[i] - c->apex[i]);
    const cb_status status = c->field(c->self, r, B);
    if (status) return status;
    const double *pair = B;
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++, pair += dim) {
        const double area = (rho[i] - c->apex[i]) * rate[j] - (rho[j] - c->apex[j]) * rate[i];
        for (int a = 0; a < dim; a++) sum[a] -= w * ws * s * area * pair[a];
      }
  }
  return CB_OK;
}

static cb_status integrate(const cone *c, int panels, double *sum) {
  memset(sum, 0, CB_GROUP_DIM * sizeof *sum);
  for (int e = 0; e < cb_gait_edges(c->gait); e++) {
    const double from = cb_gait_edge(c->gait, e), width = cb_gait_edge(c->gait, e + 1) - from;
    const int parts = panels * (1 + c->gait->pieces / 8);
    for (int k = 0; k < parts * NODES; k++) {
      double w;
      const double t = from + width * gauss(parts, k / NODES, k % NODES, &w);
      const cb_status status = add_ray(c, t, w * width, panels, sum);
      if (status) return status;
    }
  }
  return CB_OK;
}

/* Computes the mean shape of the gait over time. If the loop is convex, the mean is inside the loop. */
static void mean(const cb_gait *gait, double *apex) {
  double r[CB_SHAPE_MAX];
  memset(apex, 0, CB_SHAPE_MAX * sizeof *apex);
  for (int e = 0; e < cb_gait_edges(gait); e++) {
    const double from = cb_gait_edge(gait, e), width = cb_gait_edge(gait, e + 1) - from;
    for (int k = 0; k < 4 * NODES; k++) {
      double w;
      cb_gait_at(gait, from + width * gauss(4, k / NODES, k % NODES, &w), r, NULL);
      for (int i = 0; i < gait->n; i++) apex[i] += w * width * r[i];
    }
  }
}

/* Computes out[dim] = -int int B over the cone, for the curvature B that `field` gives. Returns CB_ERROR_ARGUMENT if
 * the gait is open or closes only up to full periods, and CB_STEP_NO_CONVERGENCE if the last relative change is above
 * `rough`. */
static cb_status cb_cone_integral(const cb_bundle *b, const cb_gait *gait, cb_curvature_field field, const void *self,
                                  double *out) {
  cone c = {.b = b, .gait = gait, .field = field, .self = self};
  cb_status status = cb_gait_closed(b, gait);
  if (!status && gait->open)
    status = cb_fail(CB_ERROR_ARGUMENT,
                     "the gait in bundle %s closes only up to full periods, so it bounds no surface: expected a gait "
                     "with equal start and end",
                     b->class_->name);
  if (status) return status;
  double old[CB_GROUP_DIM] = {0}, sum[CB_GROUP_DIM], left = 0;
  mean(gait, c.apex);
  status = integrate(&c, 1, sum);
  for (int k = 1; !status && k <= DOUBLINGS; k++) {
    double change = 0, largest = 0;
    memcpy(old, sum, sizeof old);
    status = integrate(&c, 1 << k, sum);
    for (int a = 0; a < b->group->dim; a++) {
      change = fmax(change, fabs(sum[a] - old[a]));
      largest = fmax(largest, fabs(sum[a]));
    }
    left = change / (largest + DBL_MIN);
    if (change <= 1e-12 * largest + DBL_MIN) break;
  }
  if (!status && !(left <= rough))
    status = cb_fail(CB_STEP_NO_CONVERGENCE,
                     "bundle %s: an integral of the curvature did not converge: the surface within the gait has "
                     "singular shapes; try a smaller gait",
                     b->class_->name);
  if (!status) memcpy(out, sum, (size_t)b->group->dim * sizeof *out);
  return status;
}

static cb_status curvatures(const void *self, const double *r, double *B) { return cb_bundle_curvatures(self, r, B); }

cb_status cb_body_velocity_integral(const cb_bundle *b, const cb_gait *gait, double *cbvi) {
  return cb_cone_integral(b, gait, curvatures, b, cbvi);
}
