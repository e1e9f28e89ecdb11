/* Anderson acceleration (equations: anderson.h). The least-squares problem is solved by Gram and Schmidt's method from
 * the newest difference to the oldest, and a difference that depends on newer ones is left out. */
#include "numerics/anderson.h"

#include "numerics/small.h"

#include <string.h>

enum { DEPTH = CB_ANDERSON_DEPTH };
/* A difference is left out if only a part smaller than this fraction of it is independent of newer differences. */
static const double DEPENDENT = 1e-8;

bool cb_anderson_create(int n, cb_arena *arena, cb_anderson *out) {
  const size_t size = (size_t)n;
  *out = (cb_anderson){.n = n, .count = -1};
  cb_arena_doubles(arena, size, &out->x, &out->G);
  cb_arena_doubles(arena, DEPTH * size, &out->dF, &out->dG);
  cb_arena_doubles(arena, (DEPTH + 1) * size, &out->work);
  return !cb_arena_lost(arena);
}

void cb_anderson_start(cb_anderson *a) {
  a->count = -1;
  a->kappa = 0;
}

/* Stores the differences of f and G from those at the last point, and measures the contraction. */
static void keep(cb_anderson *a, const double *weight, const double *x, const double *G) {
  double moved = 0, image = 0;
  double *dF = a->dF + (size_t)(a->count % DEPTH) * (size_t)a->n, *dG = a->dG + (dF - a->dF);
  for (int i = 0; i < a->n; i++) {
    const double dx = x[i] - a->x[i];
    dG[i] = G[i] - a->G[i];
    dF[i] = dG[i] - dx;
    moved = fmax(moved, weight[i] * fabs(dx));
    image = fmax(image, weight[i] * fabs(dG[i]));
  }
  if (moved > 0) a->kappa = fmax(a->kappa, image / moved);
  a->count++;
}

void cb_anderson_next(cb_anderson *a, const double *weight, const double *G, double *x) {
  const int n = a->n;
  double *f = a->work, *base = a->work + n, length[DEPTH], part[DEPTH], R[DEPTH][DEPTH];
  int used[DEPTH], rank = 0;
  if (a->count >= 0)
    keep(a, weight, x, G);
  else
    a->count = 0;
  memcpy(a->x, x, (size_t)n * sizeof *x);
  memcpy(a->G, G, (size_t)n * sizeof *x);
  for (int i = 0; i < n; i++) f[i] = weight[i] * (G[i] - x[i]);
  for (int age = 1; age <= DEPTH && age <= a->count; age++) {
    const int row = (a->count - age) % DEPTH;
    double *q = base + (size_t)rank * (size_t)n;
    for (int i = 0; i < n; i++) q[i] = weight[i] * a->dF[(size_t)row * (size_t)n + (size_t)i];
    const double whole = cb_dot(n, q, q);
    for (int j = 0; j < rank; j++) {
      const double *p = base + (size_t)j * (size_t)n;
      R[j][rank] = cb_dot(n, p, q) / length[j];
      for (int i = 0; i < n; i++) q[i] -= R[j][rank] * p[i];
    }
    length[rank] = cb_dot(n, q, q);
    if (!(length[rank] > DEPENDENT * DEPENDENT * whole)) continue;
    part[rank] = cb_dot(n, q, f) / length[rank];
    for (int i = 0; i < n; i++) f[i] -= part[rank] * q[i];
    used[rank++] = row;
  }
  memcpy(x, G, (size_t)n * sizeof *x);
  for (int k = rank - 1; k >= 0; k--) {
    for (int j = k + 1; j < rank; j++) part[k] -= R[k][j] * part[j];
    for (int i = 0; i < n; i++) x[i] -= part[k] * a->dG[(size_t)used[k] * (size_t)n + (size_t)i];
  }
}
