/* A body of its own: the equations of plane_body.h on one curve. */
#include "potential/plane_body.h"

#include "core/arena.h"
#include "numerics/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FINE_MAX = 1 << 18 };

/* Points that the curve is summed on: every `over`th is a node. */
typedef struct points {
  int n, over, count;
  double complex *z, *dz, *ddz;
  double *re, *im; /* of C for one target */
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
      return cb_fail(CB_ERROR_DOMAIN, "a point of the curve is not finite");
    p->z[k] = z[0], p->dz[k] = z[1], p->ddz[k] = z[2];
  }
  return CB_OK;
}

/* t'/(t - z)/count of target k: real and imaginary part; at the target itself what is left there of its imaginary part. */
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

/* The greatest |D 1 - 1/2| over the nodes. */
static double row_error(points *p) {
  double most = 0;
  for (int i = 0; i < p->n; i++) {
    double sum = -0.5;
    kernel_row(p, i * p->over);
    for (int t = 0; t < p->count; t++) sum += p->im[t];
    most = fmax(most, isfinite(sum) ? fabs(sum) : INFINITY);
  }
  return most;
}

/* Points for D of modes up to n/2: as the error falls by a power of the points, twice as many as D 1 needs, if there may
 * be so many. */
static cb_status refine(const cb_plane_curve *curve, points *p) {
  for (bool enough = false; !enough; p->over *= 2) {
    const cb_status status = sample(curve, p);
    if (status) return status;
    const double error = row_error(p);
    enough = error <= 1e-11;
    if (2 * p->count <= FINE_MAX) continue;
    return enough
               ? CB_OK
               : cb_fail(CB_ERROR_DOMAIN,
                         "the curve is clockwise, or cuts itself, or is too thin or too sharp for %d nodes (fewer are "
                         "farther from a cusp): %d points see it go once round its own points with an error of %.1e",
                         p->n, p->count, error);
  }
  return sample(curve, p);
}

/* Psi, or its derivative by dz. */
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
    b->x[i] = creal(z), b->y[i] = cimag(z), b->dx[i] = creal(dz) * h, b->dy[i] = cimag(dz) * h;
    for (int a = 0; a < 3; a++) b->stream[a][i] = psi[a], b->flux[a][i] = slope[a] * h;
  }
}

/* The trigonometric polynomial of degree n/2 that is 1 at one node and 0 at the others, k points from it. */
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
  if (status) return cb_fail(CB_ERROR_DOMAIN, "the flow about the curve alone is singular");
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
    return cb_fail(CB_ERROR_ARGUMENT, "%d nodes, expected an even number from 8 to %d", nodes, CB_PLANE_NODES_MAX);
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
