/* Geodesic panels of a surface, laid for the kernels. */
#include "potential/curved.h"

#include "core/isa.h"
#include "numerics/curved.h"
#include "numerics/vec3.h"
#include "potential/panel_kernel.h"

#include <math.h>

static const double near = 5, /* sizes of a panel within which S is singular */
    few_below = 0.12,         /* size of panels, in radii of curvature, whose rows of few points add up to 1e-6 */
    largest = 1.5;            /* side of a panel on a sphere, in its radii */

static const cb_curved_kernels *kernels_of_isa(void) {
#if defined(__x86_64__)
  const cb_isa isa = cb_isa_get();
  if (isa == CB_ISA_AVX512) return &cb_curved_kernels_avx512;
  if (isa == CB_ISA_AVX2) return &cb_curved_kernels_avx2;
#endif
  return &cb_curved_kernels_x86_64;
}

static size_t stride_of(int n) { return ((size_t)n / CB_PANEL_PAD + 2) * CB_PANEL_PAD; }

size_t cb_curved_panels_bytes(int n) {
  return (CB_CURVED_LANES * stride_of(n) + (4 + 4 + 6 + 1) * (size_t)n) * sizeof(double);
}

cb_status cb_curved_panels_take(cb_curved_panels *p, cb_arena *arena, int n, double K) {
  *p = (cb_curved_panels){.n = n, .K = K, .r = sqrt(fabs(K)), .stride = stride_of(n), .kernels = kernels_of_isa()};
  p->centre = cb_arena_alloc(arena, (size_t)n, sizeof *p->centre);
  p->plane = cb_arena_alloc(arena, (size_t)n, sizeof *p->plane);
  p->flux = cb_arena_alloc(arena, (size_t)n, sizeof *p->flux);
  cb_arena_doubles(arena, (size_t)n, &p->area);
  cb_arena_doubles(arena, CB_CURVED_LANES * p->stride, &p->lanes);
  return cb_arena_lost(arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for %d panels", n) : CB_OK;
}

static cb_status no_area(const cb_curved_panels *p, int i, const double *y) {
  return cb_fail(CB_ERROR_DOMAIN,
                 "face %d at (%g, %g, %g) has no area in the space of curvature %g, or reaches too far in it", i + 1,
                 y[0], y[1], y[2], p->K);
}

static cb_status beyond(const cb_curved_panels *p, int i, const double *x) {
  return cb_fail(
      CB_ERROR_DOMAIN,
      "face %d has a vertex at the distance %g from the origin: expected less than %g, where the antipode is", i + 1,
      sqrt(cb_dot3(x, x)), 3.14159265 / p->r);
}

/* A point in radii of curvature. */
static void put(const cb_curved_panels *p, int i, int row, const double y[4]) {
  for (int l = 0; l < 4; l++) p->lanes[(size_t)(row + l) * p->stride + (size_t)i] = l < 3 ? p->r * y[l] : y[l];
}

static void put_one(const cb_curved_panels *p, int i, int row, double a) {
  p->lanes[(size_t)row * p->stride + (size_t)i] = a;
}

/* (y - z)^2, in radii of curvature */
static double chord(const cb_curved_panels *p, const double y[4], const double z[4]) {
  const double d[3] = {y[0] - z[0], y[1] - z[1], y[2] - z[2]}, e = y[3] - z[3];
  return p->K * cb_dot3(d, d) * (p->K > 0 ? 1 : -1) + (p->K > 0 ? e * e : -e * e);
}

static cb_status lay(cb_curved_panels *p, int i, const double (*x)[3], const int face[3], double *size) {
  const double K = p->K;
  double y[3][4], sum[4] = {0}, centroid[4], flux[6];
  for (int k = 0; k < 3; k++)
    if (K > 0 && !(cb_dot3(x[face[k]], x[face[k]]) * K < 9.8696044)) return beyond(p, i, x[face[k]]);
  for (int k = 0; k < 3; k++) cb_curved_point(K, x[face[k]], y[k]);
  const double N = cb_curved_plane(K, y[0], y[1], y[2], p->plane[i]);
  *size = 0;
  for (int k = 0; k < 3; k++) *size = fmax(*size, p->r * cb_curved_distance(K, y[k], y[(k + 1) % 3]));
  p->area[i] = cb_curved_area(K, y[0], y[1], y[2], N);
  if (!(N > 0 && p->area[i] > 0 && isfinite(p->area[i])) || (K > 0 && *size > largest)) return no_area(p, i, y[0]);
  const double scaled = fabs(K) * N;
  for (int k = 0; k < CB_CURVED_POINTS; k++) {
    double q[4];
    const double c = cb_curved_node(K, (const double(*)[4])y, k, q),
                 weight = cb_curved_rule[k][3] * scaled / (2 * c * sqrt(c));
    put(p, i, CB_CURVED_NODE + 4 * k, q);
    put_one(p, i, CB_CURVED_NODE + 4 * CB_CURVED_NODES + k, weight);
    for (int l = 0; l < 4; l++) sum[l] += weight * q[l];
  }
  cb_curved_flux(K, p->plane[i], sum, flux);
  for (int a = 0; a < 6; a++) p->flux[i][a] = flux[a] / (fabs(K) * p->area[i]);
  const double root = sqrt(cb_curved_form(K, sum, sum));
  for (int l = 0; l < 4; l++) p->centre[i][l] = (l < 3 ? p->r : 1) * sum[l] / root;
  const double c = cb_curved_node(K, (const double(*)[4])y, 0, centroid);
  for (int k = 0; k < 3; k++) put(p, i, CB_CURVED_CORNER + 4 * k, y[k]);
  put(p, i, CB_CURVED_CENTROID, centroid);
  put_one(p, i, CB_CURVED_WEIGHT, 0.75 * scaled / (2 * c * sqrt(c)));
  for (int l = 0; l < 4; l++) put_one(p, i, CB_CURVED_PLANE + l, (l < 3 ? 1 : p->r) * p->plane[i][l]);
  put_one(p, i, CB_CURVED_NORM, scaled);
  for (int k = 0; k < 3; k++) put_one(p, i, CB_CURVED_SIDE + k, chord(p, y[k], y[(k + 1) % 3]));
  put_one(p, i, CB_CURVED_NEAR, near * near * *size * *size);
  return CB_OK;
}

cb_status cb_curved_panels_lay(cb_curved_panels *p, const double (*x)[3], const int (*face)[3]) {
  double most = 0;
  for (int i = 0; i < p->n; i++) {
    double size = 0;
    const cb_status status = lay(p, i, x, face[i], &size);
    if (status) return status;
    most = fmax(most, size);
  }
  p->few = most < few_below;
  /* what is read beyond the last one */
  for (size_t row = 0; row < CB_CURVED_LANES; row++)
    for (size_t j = (size_t)p->n; j < p->stride; j++)
      p->lanes[row * p->stride + j] = p->lanes[row * p->stride + (size_t)p->n - 1];
  return CB_OK;
}

void cb_curved_panels_range(const cb_curved_panels *p, const double x[4], int first, int n, int self, double *S,
                            double *D) {
  const cb_curved_view v = {{x[0], x[1], x[2], x[3]}, p->K > 0 ? 1 : -1, p->few};
  p->kernels->row(p->lanes + first, p->stride, &v, n, S, D);
  if (self >= 0 && D) D[self] = 0;
}
