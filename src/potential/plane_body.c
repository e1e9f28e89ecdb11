/* This file sets up the equations of plane_flow.h for one body in the plane. */
#include "potential/plane_flow.h"

#include "core/arena.h"
#include "numerics/lie_private.h"
#include "numerics/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FINE_MAX = 1 << 18 };

/* The `count` points on which integrals along the curve are summed; every `over`-th point is one of the n nodes. */
typedef struct points {
  int n, over, count;
  double complex *z, *dz, *ddz;
  double *re, *im; /* the two parts of C (plane_flow.h), for one target point */
} points;

static double place(const points *p, int k) { return M_PI / p->n + k * (2 * M_PI / p->count); }

static cb_status sample(const cb_plane_curve *curve, points *p) {
  p->count = p->n * p->over;
  free(p->z);
  p->z = malloc(4 * (size_t)p->count * sizeof *p->z);
  if (!p->z) return cb_fail(CB_ERROR_MEMORY, "no memory for a curve of %d points", p->count);
  p->dz = p->z + p->count;
  p->ddz = p->dz + p->count;
  p->re = (double *)(p->ddz + p->count);
  p->im = p->re + p->count;
  for (int k = 0; k < p->count; k++) {
    double complex z[3];
    curve->at(curve->number, place(p, k), z);
    if (!isfinite(cabs(z[0])) || !isfinite(cabs(z[1])) || !isfinite(cabs(z[2])))
      return cb_fail(CB_ERROR_DOMAIN, "a point of the curve is not finite: expected finite parameters");
    p->z[k] = z[0];
    p->dz[k] = z[1];
    p->ddz[k] = z[2];
  }
  return CB_OK;
}

/* Computes C_zt = t'/(t - z)/count for the target z = z_k, the real and the imaginary part. At t = z the real part is
 * 0, and the imaginary part has its limit. */
static void kernel_row(points *p, int k) {
  double *restrict re = p->re, *restrict im = p->im;
  for (int t = 0; t < p->count; t++) {
    const double x = creal(p->z[t]) - creal(p->z[k]), y = cimag(p->z[t]) - cimag(p->z[k]), dx = creal(p->dz[t]),
                 dy = cimag(p->dz[t]), factor = 1 / ((x * x + y * y) * p->count);
    re[t] = (dx * x + dy * y) * factor;
    im[t] = (dy * x - dx * y) * factor;
  }
  re[k] = 0;
  im[k] = cimag(p->ddz[k] / (2 * p->dz[k])) / p->count;
}

/* Returns the largest |sum_t D_zt - 1/2| over the nodes z; the exact sum is 1/2. */
static double row_error(points *p) {
  double maximum = 0;
  for (int i = 0; i < p->n; i++) {
    double sum = -0.5;
    kernel_row(p, i * p->over);
    for (int t = 0; t < p->count; t++) sum += p->im[t];
    maximum = fmax(maximum, isfinite(sum) ? fabs(sum) : INFINITY);
  }
  return maximum;
}

/* Chooses the number of points so that D is accurate for trigonometric polynomials up to degree n/2. The error
 * decreases exponentially with the number of points. Therefore twice the number is used at which the sums of row_error
 * have converged, if this does not exceed FINE_MAX. */
static cb_status refine(const cb_plane_curve *curve, points *p) {
  for (bool reached = false; !reached; p->over *= 2) {
    const cb_status status = sample(curve, p);
    if (status) return status;
    const double error = row_error(p);
    reached = error <= 1e-11;
    if (2 * p->count <= FINE_MAX) continue;
    return reached ? CB_OK
                   : cb_fail(CB_ERROR_DOMAIN,
                             "the curve is clockwise, or intersects itself, or is too thin or too sharp for %d nodes "
                             "(fewer nodes are farther from a cusp): with %d points its winding number around its own "
                             "points has an error of %.1e",
                             p->n, p->count, error);
  }
  return sample(curve, p);
}

/* stream computes Psi at z, and stream_slope the derivative of Psi along dz. */
static void stream(double complex z, double psi[3]) {
  psi[0] = -0.5 * (creal(z) * creal(z) + cimag(z) * cimag(z));
  psi[1] = cimag(z);
  psi[2] = -creal(z);
}
static void stream_slope(double complex z, double complex dz, double out[3]) {
  out[0] = -(creal(z) * creal(dz) + cimag(z) * cimag(dz));
  out[1] = cimag(dz);
  out[2] = -creal(dz);
}

static void fill_nodes(const points *p, cb_plane_body *b) {
  const double h = 2 * M_PI / p->n;
  for (int i = 0; i < p->n; i++) {
    const double complex z = p->z[i * p->over], dz = p->dz[i * p->over];
    double psi[3], slope[3];
    stream(z, psi);
    stream_slope(z, dz, slope);
    b->x[i] = creal(z);
    b->y[i] = cimag(z);
    b->dx[i] = creal(dz) * h;
    b->dy[i] = cimag(dz) * h;
    for (int a = 0; a < 3; a++) {
      b->stream[a][i] = psi[a];
      b->flux[a][i] = slope[a] * h;
    }
  }
}

/* Returns the trigonometric polynomial of degree n/2 that is 1 at one node and 0 at the others, at the k-th point after
 * this node. */
static double interpolation(const points *p, int k) {
  const double s = k * (2 * M_PI / p->count);
  return k % p->over ? sin(p->n * s / 2) / tan(s / 2) / p->n : k == 0;
}

static void fill_operators(points *p, cb_plane_body *b, double *polynomial) {
  const int n = p->n, count = p->count;
  for (int k = 0; k < count; k++) polynomial[k] = polynomial[k + count] = interpolation(p, k);
  for (int i = 0; i < n; i++) {
    double sum[3], here[3], psi[3];
    const int at = i * p->over;
    kernel_row(p, at);
    stream(p->z[at], here);
    stream_slope(p->z[at], p->dz[at], sum);
    for (int a = 0; a < 3; a++) sum[a] /= count;
    for (int t = 0; t < count; t++) {
      stream(p->z[t], psi);
      for (int a = 0; a < 3; a++) sum[a] += p->re[t] * (psi[a] - here[a]);
    }
    for (int a = 0; a < 3; a++) b->right[a][i] = -sum[a];
    for (int j = 0; j < n; j++) {
      const double *weight = polynomial + count - j * p->over;
      double d = i == j ? 0.5 : 0;
      for (int t = 0; t < count; t++) d += p->im[t] * weight[t];
      b->own[i * n + j] = d;
    }
  }
}

static void fill_mass(const points *p, double T[3][3]) {
  double area = 0, x = 0, y = 0, moment = 0;
  for (int k = 0; k < p->count; k++) {
    const double complex z = p->z[k];
    const double swept = (creal(z) * cimag(p->dz[k]) - cimag(z) * creal(p->dz[k])) * (2 * M_PI / p->count);
    area += swept / 2;
    x += creal(z) * swept / 3;
    y += cimag(z) * swept / 3;
    moment += creal(z * conj(z)) * swept / 4;
  }
  const double full[3][3] = {{moment, -y, x}, {-y, area, 0}, {x, 0, area}};
  memcpy(T, full, sizeof full);
}

static cb_status fill_added(cb_plane_body *b, double *matrix, int *pivot, double *phi) {
  const int n = b->n;
  memcpy(matrix, b->own, (size_t)(n * n) * sizeof *matrix);
  const cb_status status = cb_dense_factor(n, matrix, pivot);
  if (status)
    return cb_fail(
        CB_ERROR_DOMAIN,
        "the equations of the flow around the curve are singular: expected a curve that does not intersect itself");
  for (int a = 0; a < 3; a++) {
    memcpy(phi, b->right[a], (size_t)n * sizeof *phi);
    cb_dense_solve(n, matrix, pivot, phi);
    for (int c = 0; c < 3; c++) b->added[a][c] = -cb_dot(n, phi, b->flux[c]);
  }
  for (int a = 0; a < 3; a++)
    for (int c = 0; c < a; c++) b->added[a][c] = b->added[c][a] = (b->added[a][c] + b->added[c][a]) / 2;
  return CB_OK;
}

static cb_status fill(points *p, cb_plane_body *b) {
  const size_t n = (size_t)p->n;
  double *work = malloc((n * n + n + 2 * (size_t)p->count) * sizeof *work);
  int *pivot = malloc(n * sizeof *pivot);
  cb_status status = work && pivot ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a curve of %d points", p->count);
  if (!status) {
    fill_nodes(p, b);
    fill_mass(p, b->mass);
    fill_operators(p, b, work + n * n + n);
    status = fill_added(b, work, pivot, work + n * n);
  }
  free(work);
  free(pivot);
  return status;
}

cb_status cb_plane_body_create(const cb_plane_curve *curve, int nodes, cb_plane_body **out) {
  if (nodes < 8 || nodes > CB_PLANE_NODES_MAX || nodes % 2)
    return cb_fail(CB_ERROR_ARGUMENT, "%d nodes: expected an even number from 8 to %d", nodes, CB_PLANE_NODES_MAX);
  const size_t n = (size_t)nodes;
  points p = {.n = nodes, .over = 1};
  cb_plane_body *b = cb_arena_object(sizeof *b, "a body in the plane");
  if (!b) return CB_ERROR_MEMORY;
  b->n = nodes;
  cb_arena_doubles(b->arena, n, &b->x, &b->y, &b->dx, &b->dy, &b->stream[0], &b->stream[1], &b->stream[2], &b->flux[0],
                   &b->flux[1], &b->flux[2], &b->right[0], &b->right[1], &b->right[2]);
  cb_arena_doubles(b->arena, n * n, &b->own);
  cb_status status =
      cb_arena_lost(b->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d nodes", nodes) : CB_OK;
  if (!status) status = refine(curve, &p);
  if (!status) status = fill(&p, b);
  b->fine = p.count;
  free(p.z);
  if (status) {
    cb_plane_body_free(b);
    return status;
  }
  *out = b;
  return CB_OK;
}

void cb_plane_body_free(cb_plane_body *b) {
  if (b) cb_arena_free(b->arena);
}

/* Curves with a few parameters.
 *
 *   ellipse    z = a cos s + i b sin s
 *   Joukowski  zeta = R e^{is} - bulge,  R = 1 + bulge + tail,  z = scale (middle - zeta - 1/zeta)
 * a and b are the semi-axes, s is the parameter, and scale and middle give the section its length and put its middle at
 * 0. s = 0 is the tail of a Joukowski section. At the tail z' = 0 if tail = 0, and nodes are closer together where z'
 * is small. s is the angle of the circle whose conformal image is the curve. phi is therefore smooth in s even at a
 * cusp, and enough nodes resolve the two sides that meet there. Measured: a cusp is accepted with up to 64 nodes and is
 * an error with 128. With 32 nodes, which take 65536 points, K is accurate to 1e-12; 64 nodes take 1 s. tail = 1e-3 is
 * accepted with any number of nodes (K to 1e-12), and so are ellipses with b/a = 1e-4. Source: Milne-Thomson,
 * Theoretical Hydrodynamics (1968), chapter VII. */

static void ellipse(const double *p, double s, double complex z[3]) {
  z[0] = cb_lie_complex(p[0] * cos(s), p[1] * sin(s));
  z[1] = cb_lie_complex(-p[0] * sin(s), p[1] * cos(s));
  z[2] = -z[0];
}

cb_plane_curve cb_plane_ellipse(double a, double b) { return (cb_plane_curve){ellipse, {a, b}}; }

enum { BULGE, RADIUS, SCALE, MIDDLE };

static void joukowski(const double *p, double s, double complex z[3]) {
  const double complex turn = p[RADIUS] * cb_lie_complex(cos(s), sin(s)), inverse = 1 / (turn - p[BULGE]),
                       slope = inverse * inverse - 1;
  z[0] = p[SCALE] * (p[MIDDLE] - turn + p[BULGE] - inverse);
  z[1] = p[SCALE] * I * turn * slope;
  z[2] = p[SCALE] * (-turn * slope + 2 * turn * turn * inverse * inverse * inverse);
}

cb_plane_curve cb_plane_joukowski(double length, double bulge, double tail) {
  const double radius = 1 + bulge + tail, front = -radius - bulge, back = radius - bulge, first = front + 1 / front,
               last = back + 1 / back;
  return (cb_plane_curve){joukowski, {bulge, radius, length / (last - first), (first + last) / 2}};
}
