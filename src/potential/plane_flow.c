/* The coupled system of bodies in the plane (plane_flow.h): a dense matrix, solved by LU. */
#include "potential/plane_flow.h"

#include "core/arena.h"
#include "numerics/lie_private.h"
#include "numerics/small.h"
#include "potential/linear_solvers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cb_plane_flow {
  cb_arena *arena;
  int bodies, unknowns, motions; /* motions: their number in the last solution */
  const cb_plane_body *const *body;
  int *first, *pivot;           /* first: the unknown of a body's first node */
  double *x, *y, *dx, *dy;      /* x, y: the nodes z in the common frame; dx, dy: z' ds/(2 pi) */
  double *A, *phi, *right;      /* A: the matrix, later its factors; phi: [motions][unknowns], the potentials; right:
                                 * [changes][motions][unknowns], right-hand sides, later the changes of phi */
  double *seen;                 /* [bodies][unknowns][3]: sum_t Re C_zt Psi_a(t), z: a node, t: the nodes of a body */
  double *re, *im, *psi;        /* re, im: C_zt for one z and the nodes t of a body; psi: [motions][nodes of a body] */
  double *u, *impulse, *change; /* u: [motions][bodies][3], twists; impulse, change: [bodies][3], of one motion */
  cb_plane_error error;
};

cb_status cb_plane_flow_create(int bodies, const cb_plane_body *const *body, int motions, int changes,
                               cb_plane_flow **out) {
  cb_plane_flow *f = cb_arena_object(sizeof *f, "a flow in the plane");
  if (!f) return CB_ERROR_MEMORY;
  const size_t columns = (size_t)motions, m = (size_t)bodies;
  int widest = 0;
  f->bodies = bodies;
  const cb_plane_body **own = cb_arena_alloc(f->arena, m, sizeof *own);
  f->first = cb_arena_alloc(f->arena, m + 1, sizeof *f->first);
  if (own && f->first)
    for (int i = 0; i < bodies; i++) {
      own[i] = body[i];
      f->first[i + 1] = f->unknowns += body[i]->n;
      if (widest < body[i]->n) widest = body[i]->n;
    }
  const size_t n = (size_t)f->unknowns, w = (size_t)widest;
  f->body = own;
  f->pivot = cb_arena_alloc(f->arena, n, sizeof *f->pivot);
  cb_arena_doubles(f->arena, n, &f->x, &f->y, &f->dx, &f->dy);
  cb_arena_doubles(f->arena, n * n, &f->A);
  cb_arena_doubles(f->arena, n * columns, &f->phi);
  cb_arena_doubles(f->arena, n * columns * (size_t)changes, &f->right);
  cb_arena_doubles(f->arena, n * m * 3, &f->seen);
  cb_arena_doubles(f->arena, w, &f->re, &f->im);
  cb_arena_doubles(f->arena, w * columns, &f->psi);
  cb_arena_doubles(f->arena, columns * m * 3, &f->u);
  cb_arena_doubles(f->arena, m * 3, &f->impulse, &f->change);
  if (cb_arena_lost(f->arena)) {
    cb_arena_free(f->arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a flow around %d bodies", bodies);
  }
  *out = f;
  return CB_OK;
}

void cb_plane_flow_free(cb_plane_flow *f) {
  if (f) cb_arena_free(f->arena);
}

cb_plane_error cb_plane_flow_error(const cb_plane_flow *f) { return f->error; }

static void place_nodes(cb_plane_flow *f, const double (*pose)[3]) {
  for (int i = 0; i < f->bodies; i++) {
    const cb_plane_body *b = f->body[i];
    const double c = cos(pose[i][0]), s = sin(pose[i][0]);
    for (int k = 0, p = f->first[i]; k < b->n; k++, p++) {
      f->x[p] = pose[i][1] + c * b->x[k] - s * b->y[k];
      f->y[p] = pose[i][2] + s * b->x[k] + c * b->y[k];
      f->dx[p] = (c * b->dx[k] - s * b->dy[k]) / (2 * M_PI);
      f->dy[p] = (s * b->dx[k] + c * b->dy[k]) / (2 * M_PI);
    }
  }
}

/* Computes C_zt for all nodes t of body j and the target z = (x, y), into re and im. */
static void kernel_row(const cb_plane_flow *f, int j, double x, double y, double *restrict re, double *restrict im) {
  const int n = f->body[j]->n;
  const double *restrict tx = f->x + f->first[j], *restrict ty = f->y + f->first[j], *restrict dx = f->dx + f->first[j],
                         *restrict dy = f->dy + f->first[j];
  for (int t = 0; t < n; t++) {
    const double a = tx[t] - x, b = ty[t] - y, factor = 1 / (a * a + b * b);
    re[t] = (dx[t] * a + dy[t] * b) * factor;
    im[t] = (dy[t] * a - dx[t] * b) * factor;
  }
}

static double product(int n, const double *restrict a, const double *restrict b) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

static cb_status fill_pair(cb_plane_flow *f, int i, int j) {
  const cb_plane_body *b = f->body[j];
  const int n = f->unknowns;
  for (int k = f->first[i]; k < f->first[i + 1]; k++) {
    double *row = f->A + (size_t)k * (size_t)n + f->first[j], around = 0;
    kernel_row(f, j, f->x[k], f->y[k], f->re, row);
    for (int a = 0; a < 3; a++) f->seen[(j * n + k) * 3 + a] = product(b->n, f->re, b->stream[a]);
    for (int t = 0; t < b->n; t++) around += row[t];
    f->error.closest = fmax(f->error.closest, isnan(around) ? INFINITY : fabs(around));
    if (!(fabs(around) < 0.5))
      return cb_fail(CB_STEP_DOMAIN, "bodies %d and %d overlap: expected bodies that do not touch",
                     i < j ? i + 1 : j + 1, i < j ? j + 1 : i + 1);
  }
  if (f->error.closest > CB_PLANE_CLOSEST)
    return cb_fail(CB_STEP_DOMAIN,
                   "bodies %d and %d are too close for %d nodes (the measured error is %.1e: expected at most %g): use "
                   "more nodes, unless the bodies touch",
                   i < j ? i + 1 : j + 1, i < j ? j + 1 : i + 1, b->n, f->error.closest, CB_PLANE_CLOSEST);
  return CB_OK;
}

/* Adds R u minus the contributions sum_t Re C_zt psi(t) of the other bodies to out[unknowns]. */
static void add_data(const cb_plane_flow *f, const double *u, double *out) {
  for (int i = 0; i < f->bodies; i++) {
    const cb_plane_body *b = f->body[i];
    for (int a = 0; a < 3; a++)
      for (int k = 0; k < b->n; k++) out[f->first[i] + k] += u[3 * i + a] * b->right[a][k];
    for (int j = 0; j < f->bodies; j++) {
      if (j == i || (u[3 * j] == 0 && u[3 * j + 1] == 0 && u[3 * j + 2] == 0)) continue;
      for (int k = f->first[i]; k < f->first[i + 1]; k++) {
        const double *seen = f->seen + (j * f->unknowns + k) * 3;
        out[k] -= seen[0] * u[3 * j] + seen[1] * u[3 * j + 1] + seen[2] * u[3 * j + 2];
      }
    }
  }
}

/* Computes -int phi dPsi of each body into impulse[bodies][3]. */
static void impulses(const cb_plane_flow *f, const double *phi, double *impulse) {
  for (int i = 0; i < f->bodies; i++)
    for (int a = 0; a < 3; a++) impulse[3 * i + a] = -product(f->body[i]->n, phi + f->first[i], f->body[i]->flux[a]);
}

/* Replaces G by its symmetric part. Returns the asymmetry that G had before, divided by the largest |G_ab|. */
static double make_symmetric(int n, double *G) {
  double apart = 0, maximum = 0;
  for (int a = 0; a < n; a++)
    for (int b = 0; b <= a; b++) {
      double *p = G + a * n + b, *q = G + b * n + a;
      apart = fmax(apart, fabs(*p - *q));
      maximum = fmax(maximum, fmax(fabs(*p), fabs(*q)));
      *p = *q = (*p + *q) / 2;
    }
  return maximum > 0 ? apart / maximum : 0;
}

cb_status cb_plane_flow_solve(cb_plane_flow *f, const double (*pose)[3], int motions, const double *u, double *G) {
  const int n = f->unknowns;
  f->error = (cb_plane_error){0};
  f->motions = motions;
  memcpy(f->u, u, (size_t)(motions * f->bodies * 3) * sizeof *u);
  place_nodes(f, pose);
  for (int i = 0; i < f->bodies; i++)
    for (int j = 0; j < f->bodies; j++) {
      const cb_plane_body *b = f->body[i];
      for (int k = 0; i == j && k < b->n; k++)
        memcpy(f->A + (size_t)(f->first[i] + k) * (size_t)n + f->first[i], b->own + k * b->n,
               (size_t)b->n * sizeof *f->A);
      const cb_status status = i == j ? CB_OK : fill_pair(f, i, j);
      if (status) return status;
    }
  if (cb_potential_factor(n, (size_t)n, f->A, f->pivot))
    return cb_fail(CB_STEP_SINGULAR,
                   "the equations of the flow around the bodies are singular: expected bodies that do not touch");
  memset(f->phi, 0, (size_t)(motions * n) * sizeof *f->phi);
  for (int a = 0; a < motions; a++) add_data(f, u + a * f->bodies * 3, f->phi + a * n);
  cb_potential_back(n, (size_t)n, f->A, f->pivot, motions, f->phi);
  for (int a = 0; a < motions; a++) {
    impulses(f, f->phi + a * n, f->impulse);
    for (int b = 0; b < motions; b++) G[a * motions + b] = product(3 * f->bodies, f->impulse, u + b * f->bodies * 3);
  }
  f->error.asymmetry = make_symmetric(motions, G);
  return CB_OK;
}

/* --- derivatives along changes of the poses --- */

/* Adds Im[(V_j - V_i)(z) sum_t C_zt w_a(t)/(t - z)] to f->right, for each node z of body i, each motion a and each
 * change of the poses. w_a = phi + i psi is the complex potential at the nodes t of body j. */
static void add_moved(cb_plane_flow *f, int i, int j, int changes, const double *V) {
  const int n = f->unknowns, m = f->bodies, nodes = f->body[j]->n, first = f->first[j];
  double *restrict re = f->re, *restrict im = f->im;
  for (int k = f->first[i]; k < f->first[i + 1]; k++) {
    const double x = f->x[k], y = f->y[k];
    const double *restrict tx = f->x + first, *restrict ty = f->y + first;
    kernel_row(f, j, x, y, re, im);
    for (int t = 0; t < nodes; t++) { /* re + i im = C_zt/(t - z) */
      const double a = tx[t] - x, b = ty[t] - y, factor = 1 / (a * a + b * b), p = re[t], q = im[t];
      re[t] = (p * a + q * b) * factor;
      im[t] = (q * a - p * b) * factor;
    }
    for (int c = 0; c < f->motions; c++) {
      const double *restrict phi = f->phi + c * n + first, *restrict psi = f->psi + c * nodes;
      double along = 0, across = 0;
#pragma omp simd reduction(+ : along, across)
      for (int t = 0; t < nodes; t++) {
        along += re[t] * phi[t] - im[t] * psi[t];
        across += re[t] * psi[t] + im[t] * phi[t];
      }
      for (int s = 0; s < changes; s++) {
        const double *p = V + (s * m + i) * 3, *q = V + (s * m + j) * 3, spin = q[0] - p[0],
                     vx = q[1] - p[1] - spin * y, vy = q[2] - p[2] + spin * x;
        f->right[(s * f->motions + c) * n + k] += vx * across + vy * along;
      }
    }
  }
}

static bool moves(const cb_plane_flow *f, int i, int j, int changes, const double *V) {
  for (int s = 0; s < changes; s++)
    if (memcmp(V + (s * f->bodies + i) * 3, V + (s * f->bodies + j) * 3, 3 * sizeof *V) != 0) return true;
  return false;
}

static void set_streams(cb_plane_flow *f, int j) {
  const cb_plane_body *b = f->body[j];
  for (int c = 0; c < f->motions; c++) {
    const double *u = f->u + (c * f->bodies + j) * 3;
    for (int t = 0; t < b->n; t++)
      f->psi[c * b->n + t] = u[0] * b->stream[0][t] + u[1] * b->stream[1][t] + u[2] * b->stream[2][t];
  }
}

void cb_plane_flow_change(cb_plane_flow *f, int changes, const double *V, const double *du, double *dG) {
  const int n = f->unknowns, motions = f->motions, twists = 3 * f->bodies;
  memset(f->right, 0, (size_t)(changes * motions * n) * sizeof *f->right);
  for (int j = 0; j < f->bodies; j++) {
    set_streams(f, j);
    for (int i = 0; i < f->bodies; i++)
      if (i != j && moves(f, i, j, changes, V)) add_moved(f, i, j, changes, V);
  }
  for (int s = 0; s < changes * motions; s++) add_data(f, du + s * twists, f->right + s * n);
  cb_potential_back(n, (size_t)n, f->A, f->pivot, changes * motions, f->right);
  for (int s = 0; s < changes; s++) {
    double *out = dG + s * motions * motions;
    for (int a = 0; a < motions; a++) {
      impulses(f, f->phi + a * n, f->impulse);
      impulses(f, f->right + (s * motions + a) * n, f->change);
      for (int b = 0; b < motions; b++)
        out[a * motions + b] = product(twists, f->change, f->u + b * twists) +
                               product(twists, f->impulse, du + (s * motions + b) * twists);
    }
    make_symmetric(motions, out);
  }
}

/* --- the equations of one body ---
 *
 * These functions set up the equations of plane_flow.h for one body in the plane.
 */

enum { FINE_MAX = 1 << 18 };

/* The `count` points on which integrals along the curve are summed; every `over`-th point is one of the n nodes. */
typedef struct points {
  int n, over, count;
  double complex *z, *dz, *ddz;
  double *re, *im; /* [count]: real and imaginary part of C_zt (plane_flow.h) from one point z to all points t */
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

/* Computes the real and the imaginary part of C_zt = t'/(t - z)/count for the target z = z_k. At t = z the real part is
 * set to 0, and the imaginary part to its limit. */
static void body_row(points *p, int k) {
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
    body_row(p, i * p->over);
    for (int t = 0; t < p->count; t++) sum += p->im[t];
    maximum = fmax(maximum, isfinite(sum) ? fabs(sum) : INFINITY);
  }
  return maximum;
}

/* Chooses the number of points so that D is accurate for trigonometric polynomials up to degree n/2. The error
 * decreases exponentially with the number of points. The function therefore finds the number of points for which the
 * sums of row_error have converged, and uses twice this number if that does not exceed FINE_MAX. */
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
    body_row(p, at);
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
