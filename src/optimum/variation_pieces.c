/* The cost of a gait whose pieces take the times that are best: E_k on a share s_k of the time, l_k^2 = s_k E_k.
 *
 *   E = L^2, L = sum_k l_k;   dE = sum_k w_k dE_k, w_k = L s_k/l_k
 *   ddE = sum_k w_k ddE_k - L s_k^2/(2 l_k^3) dE_k dE_k' + dE dE'/(2 L^2)
 * since a piece in s_k' = l_k/L in place of s_k costs E_k s_k/s_k'.
 */
#include "optimum/variation_private.h"

#include <math.h>
#include <string.h>

cb_status cb_variation_divide(cb_variation *v, int pieces, const int *piece) {
  struct cb_variation_work *w = v->work;
  const cb_basis *s = v->basis;
  const size_t count = (size_t)pieces, panels = (size_t)s->panels;
  w->piece = cb_arena_alloc(w->arena, panels, sizeof *w->piece);
  w->share = cb_arena_alloc(w->arena, count, sizeof *w->share);
  w->part = cb_arena_alloc(w->arena, count, sizeof *w->part);
  w->slope = cb_arena_alloc(w->arena, count * (size_t)v->unknowns, sizeof *w->slope);
  if (!w->piece || !w->share || !w->part || !w->slope)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d pieces of a gait", pieces);
  memcpy(w->piece, piece, panels * sizeof *piece);
  for (int k = 0; k < pieces; k++) w->share[k] = 0;
  for (int k = 0; k < s->panels; k++) w->share[piece[k]] += s->edge[k + 1] - s->edge[k];
  w->pieces = pieces;
  return CB_OK;
}

static double length(const cb_variation *v, int k) { return sqrt(v->work->share[k] * v->work->part[k]); }

void pieces_cost(cb_variation *v) {
  double sum = 0;
  for (int k = 0; k < v->work->pieces; k++) sum += length(v, k);
  v->cost = sum * sum;
}

double pieces_weight(const cb_variation *v, int piece) {
  return v->work->pieces ? sqrt(v->cost) * v->work->share[piece] / length(v, piece) : 1;
}

void pieces_slope(cb_variation *v) {
  memset(v->dcost, 0, (size_t)v->unknowns * sizeof *v->dcost);
  for (int k = 0; k < v->work->pieces; k++) {
    const double weight = pieces_weight(v, k), *slope = v->work->slope + k * v->unknowns;
    for (int a = 0; a < v->unknowns; a++) v->dcost[a] += weight * slope[a];
  }
}

static void add_square(int n, double scale, const double *x, double *H) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) H[i * n + j] += scale * (x[i] * x[j]);
}

void pieces_bend(const cb_variation *v, double mu, double *H) {
  const struct cb_variation_work *w = v->work;
  if (!w->pieces) return;
  for (int k = 0; k < w->pieces; k++) {
    const double own = length(v, k), scale = sqrt(v->cost) * w->share[k] * w->share[k] / (2 * own * own * own);
    add_square(v->unknowns, -mu / 2 * scale, w->slope + k * v->unknowns, H);
  }
  add_square(v->unknowns, mu / (4 * v->cost), v->dcost, H);
}

double cb_variation_uneven(const cb_variation *v, double *cost) {
  const struct cb_variation_work *w = v->work;
  double most = 0;
  *cost = 0;
  for (int k = 0; k < w->pieces; k++) *cost += w->part[k];
  for (int k = 0; k < w->pieces; k++) most = fmax(most, fabs(w->part[k] / (w->share[k] * *cost) - 1) / 2);
  return most;
}
