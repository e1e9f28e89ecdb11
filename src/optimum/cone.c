/* Interior points for the projection on a cone: G z - b = y, G = A A', b = A g. */
#include "optimum/cone.h"

#include "core/arena.h"
#include "numerics/small.h"

#include <math.h>
#include <string.h>

typedef struct cone {
  int m;
  double *G, *K, *b, *z, *y, *dz, *dy, *off;
  cb_arena *arena;
} cone;

static cb_status create(int m, int n, const double *A, const double *g, double *z, double *y, cone *c) {
  const size_t square = (size_t)m * (size_t)m;
  *c = (cone){.m = m, .z = z, .y = y, .arena = cb_arena_create()};
  cb_arena_doubles(c->arena, square, &c->G, &c->K);
  cb_arena_doubles(c->arena, (size_t)m, &c->b, &c->dz, &c->dy, &c->off);
  if (cb_arena_lost(c->arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for %d contacts", m);
  const double size = sqrt(cb_dot(n, g, g));
  for (int i = 0; i < m; i++) {
    c->b[i] = size > 0 ? cb_dot(n, A + i * n, g) / size : 0;
    for (int j = 0; j <= i; j++) c->G[i * m + j] = c->G[j * m + i] = cb_dot(n, A + i * n, A + j * n);
  }
  return CB_OK;
}

/* K = G + y/z, factored; with what round-off of G asks for. */
static bool factor(cone *c) {
  const int m = c->m;
  double most = 0;
  for (int i = 0; i < m; i++) most = fmax(most, c->G[i * m + i]);
  for (double ridge = 1e-15 * most; ridge < most; ridge *= 100) {
    memcpy(c->K, c->G, (size_t)(m * m) * sizeof *c->K);
    for (int i = 0; i < m; i++) c->K[i * m + i] += c->y[i] / c->z[i] + ridge;
    if (cb_cholesky(m, c->K, 0, c->K)) return true;
  }
  return false;
}

/* Newton's step to y z = tau - second. */
static void step(cone *c, double tau, const double *second) {
  const int m = c->m;
  for (int i = 0; i < m; i++) c->dz[i] = -c->off[i] + (tau - (second ? second[i] : 0)) / c->z[i] - c->y[i];
  cb_cholesky_solve(m, c->K, c->dz);
  for (int i = 0; i < m; i++) c->dy[i] = (tau - (second ? second[i] : 0) - c->y[i] * c->dz[i]) / c->z[i] - c->y[i];
}

/* The longest part of a step that keeps a share of every y and z. */
static double reach(const cone *c, double share) {
  double s = 1;
  for (int i = 0; i < c->m; i++) {
    if (c->dz[i] < 0) s = fmin(s, -share * c->z[i] / c->dz[i]);
    if (c->dy[i] < 0) s = fmin(s, -share * c->y[i] / c->dy[i]);
  }
  return s;
}

static void move(cone *c, double s) {
  for (int i = 0; i < c->m; i++) c->z[i] += s * c->dz[i], c->y[i] += s * c->dy[i];
}

static cb_status iterate(cone *c, double *second) {
  enum { ROUNDS = 100 };
  static const double enough = 1e-13; /* y'z is the square of an error of x; round-off of G leaves about 1e-15 */
  const int m = c->m;
  double most = 0;
  for (int i = 0; i < m; i++) most = fmax(most, sqrt(c->G[i * m + i]));
  for (int i = 0; i < m; i++) c->y[i] = most, c->z[i] = 1 / most;
  for (int round = 0; round < ROUNDS; round++) {
    const double tau = cb_dot(m, c->y, c->z) / m;
    double off = 0, after = 0;
    for (int i = 0; i < m; i++) {
      c->off[i] = cb_dot(m, c->G + i * m, c->z) - c->b[i] - c->y[i];
      off = fmax(off, fabs(c->off[i]));
    }
    if (tau * m < enough && off < 1e-12 * most) return CB_OK;
    if (!factor(c)) break;
    step(c, 0, NULL);
    const double s = reach(c, 1);
    for (int i = 0; i < m; i++) {
      after += (c->y[i] + s * c->dy[i]) * (c->z[i] + s * c->dz[i]) / m;
      second[i] = c->dy[i] * c->dz[i];
    }
    step(c, tau * pow(fmax(after, 0) / tau, 3), second);
    move(c, reach(c, .99));
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE, "forces of %d contacts are not found", m);
}

cb_status cb_cone_project(int rows, int n, const double *A, const double *g, double *z, double *y) {
  cone c;
  cb_status status = create(rows, n, A, g, z, y, &c);
  double *second = status ? NULL : cb_arena_alloc(c.arena, (size_t)rows, sizeof *second);
  if (!status && !second) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d contacts", rows);
  if (!status) status = iterate(&c, second);
  cb_arena_free(c.arena);
  return status;
}
