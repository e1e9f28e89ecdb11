/* This file computes cost and holonomy of a gait and their first derivatives, with Gauss's rule on panels
 * (variation.h). */
#include "optimum/variation_private.h"

#include "numerics/lie_private.h"
#include "numerics/small.h"
#include "optimum/effort.h"

#include <math.h>
#include <string.h>

/* The cost E of a gait in which each piece takes its optimal share of the time. Piece k costs E_k if it takes the share
 * s_k of the time.
 *
 *   E = L^2, L = sum_k l_k, l_k^2 = s_k E_k;   dE = sum_k w_k dE_k, w_k = L s_k/l_k
 *   ddE = sum_k w_k ddE_k - L s_k^2/(2 l_k^3) dE_k dE_k' + dE dE'/(2 L^2)
 * d, dd: first and second derivatives in the coefficients. The first equation holds because a piece that takes the
 * share s_k' = l_k/L instead of s_k costs E_k s_k/s_k'.
 */

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

/* Computes the cost (sum_k sqrt(s_k E_k))^2 from the costs E_k of the pieces and their shares s_k of the time. */
static void pieces_cost(cb_variation *v) {
  double sum = 0;
  for (int k = 0; k < v->work->pieces; k++) sum += length(v, k);
  v->cost = sum * sum;
}

double pieces_weight(const cb_variation *v, int piece) {
  return v->work->pieces ? sqrt(v->cost) * v->work->share[piece] / length(v, piece) : 1;
}

/* Computes dcost from the derivatives dE_k of the costs of all pieces. */
static void pieces_slope(cb_variation *v) {
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

void pieces_second_variation(const cb_variation *v, double mu, double *H) {
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
  double maximum = 0;
  *cost = 0;
  for (int k = 0; k < w->pieces; k++) *cost += w->part[k];
  for (int k = 0; k < w->pieces; k++) maximum = fmax(maximum, fabs(w->part[k] / (w->share[k] * *cost) - 1) / 2);
  return maximum;
}

enum { SWEEPS = 40 };

/* Computes out[a][b] = tr ad_a ad_b for an algebra of three dimensions with tr ad_a = 0. In such an algebra ad_z^3 =
 * tr(ad_z^2)/2 ad_z. Returns false for other algebras. */
static bool killing_form(const cb_group *G, double *out) {
  enum { DIM = 3 };
  double ad[DIM][DIM][DIM];
  if (G->dim != DIM) return false;
  for (int a = 0; a < DIM; a++)
    for (int b = 0; b < DIM; b++) {
      double ea[DIM] = {0}, eb[DIM] = {0};
      ea[a] = 1;
      eb[b] = 1;
      G->bracket(G, ea, eb, ad[a][b]); /* column b of the matrix ad_a */
    }
  for (int a = 0; a < DIM; a++) {
    if (ad[a][0][0] + ad[a][1][1] + ad[a][2][2] != 0) return false;
    for (int b = 0; b < DIM; b++) {
      out[a * DIM + b] = 0;
      for (int c = 0; c < DIM; c++)
        for (int d = 0; d < DIM; d++) out[a * DIM + b] += ad[a][c][d] * ad[b][d][c];
    }
  }
  return true;
}

cb_status cb_variation_create(const cb_bundle *b, const cb_basis *basis, cb_variation **out) {
  cb_arena *arena = cb_arena_create();
  cb_variation *v = cb_arena_alloc(arena, 1, sizeof *v);
  struct cb_variation_work *w = cb_arena_alloc(arena, 1, sizeof *w);
  if (!v || !w) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a variation");
  }
  const int dim = b->group->dim, n = b->n, unknowns = n * basis->functions;
  const size_t nodes = (size_t)basis->nodes, a = (size_t)(dim * n), m = (size_t)(n * n);
  const size_t f = (size_t)basis->functions, u = (size_t)unknowns, pairs = m - (size_t)(n * (n - 1) / 2);
  /* The maximum number of rows of left and right (variation_hessian.c). For each of the dim/2 planes (a, b) of the
   * brackets (variation.h) they are a.y_1 and b.w_1 at every node; then come dim rows for the end t = 1. */
  const size_t rows = nodes * (b->group->abelian ? 0 : (size_t)dim / 2) + (size_t)dim;
  *v = (cb_variation){.bundle = b, .basis = basis, .n = n, .dim = dim, .unknowns = unknowns, .work = w};
  w->arena = arena;
  const struct {
    double **at;
    size_t count;
  } parts[] = {{&v->dcost, (size_t)unknowns},
               {&v->dy, (size_t)(dim * unknowns)},
               {&v->r, nodes * (size_t)n},
               {&v->v, nodes * (size_t)n},
               {&v->element, nodes * (size_t)b->group->size},
               {&v->A, nodes * a},
               {&v->dA, nodes * a * (size_t)n},
               {&v->M, nodes * m},
               {&v->dM, nodes * m * (size_t)n},
               {&w->ddA, a * m},
               {&w->ddM, m * m},
               {&w->Ad, nodes * (size_t)(dim * dim)},
               {&w->turn, nodes * a},
               {&w->way, nodes * a},
               {&w->left, rows * u + CB_OUTER_SLACK},
               {&w->right, rows * u + CB_OUTER_SLACK},
               {&w->rate, CB_BASIS_STAGES * u},
               {&w->before, u},
               {&w->form, pairs * nodes * FORM},
               {&w->x, nodes * f + CB_OUTER_SLACK},
               {&w->y, nodes * f + CB_OUTER_SLACK}};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    if (!(*parts[k].at = cb_arena_alloc(arena, parts[k].count, sizeof(double)))) {
      cb_arena_free(arena);
      return cb_fail(CB_ERROR_MEMORY, "no memory for a variation of %d unknowns", unknowns);
    }
  w->cubic = killing_form(b->group, w->killing);
  *out = v;
  return CB_OK;
}

void cb_variation_free(cb_variation *v) {
  if (v) cb_arena_free(v->work->arena);
}

static void shapes(cb_variation *v, const double *c) {
  const cb_basis *s = v->basis;
  const int f = s->functions;
  for (int q = 0; q < s->nodes; q++)
    for (int i = 0; i < v->n; i++) {
      double r = v->drift[i] * s->time[q], rate = v->drift[i];
      for (int a = 0; a < f; a++) {
        r += c[i * f + a] * s->phi[q * f + a];
        rate += c[i * f + a] * s->rate[q * f + a];
      }
      v->r[q * v->n + i] = r;
      v->v[q * v->n + i] = rate;
    }
}

static cb_status evaluate(cb_variation *v, bool slopes) {
  const int n = v->n, a = v->dim * n;
  for (int q = 0; q < v->basis->nodes; q++) {
    const cb_status status =
        cb_bundle_connection(v->bundle, v->r + q * n, v->A + q * a, slopes ? v->dA + q * a * n : NULL, v->M + q * n * n,
                             slopes ? v->dM + q * n * n * n : NULL);
    if (status) return status;
  }
  return CB_OK;
}

/* Returns tr ad_z^2 from the result of killing_form. */
static double killing(const double *form, const double *z) {
  return z[0] * cb_dot(3, form, z) + z[1] * cb_dot(3, form + 3, z) + z[2] * cb_dot(3, form + 6, z);
}

/* Computes out = dexp_{-z}^-1 xi = xi + [z, xi]/2 + sum B_k ad_z^k xi/k! over k = 2, 4, .., with Bernoulli's numbers
 * B_k. */
static void left_rate(const cb_variation *v, const double *z, const double *xi, double *out) {
  const cb_group *G = v->bundle->group;
  const double *share = cb_lie_even;
  double p[CB_GROUP_DIM], q[CB_GROUP_DIM];
  G->bracket(G, z, xi, p);
  for (int a = 0; a < G->dim; a++) out[a] = xi[a] + p[a] / 2;
  if (v->work->cubic) {
    const double half = killing(v->work->killing, z) / 2;
    const double sum = share[0] + half * (share[1] + half * (share[2] + half * share[3]));
    G->bracket(G, z, p, q);
    for (int a = 0; a < 3; a++) out[a] += sum * q[a];
    return;
  }
  for (int k = 0; k < 4; k++) {
    G->bracket(G, z, p, q);
    double largest = 0;
    for (int a = 0; a < G->dim; a++) {
      out[a] += share[k] * q[a];
      largest = fmax(largest, fabs(share[k] * q[a]));
    }
    if (largest < 1e-18) return;
    G->bracket(G, z, q, p);
  }
}

/* Sets component a of z at stage i of a panel, z[a][i], to the sum of share[j][i] rate[a][j] over the stages j. Returns
 * the largest change of a component of z. */
static double gather(int dim, double (*share)[STAGES], double (*rate)[STAGES], double (*z)[STAGES]) {
  double change = 0;
  for (int a = 0; a < dim; a++) {
    double sum[STAGES] = {0};
    for (int j = 0; j < STAGES; j++)
      for (int i = 0; i < STAGES; i++) sum[i] += share[j][i] * rate[a][j];
    for (int i = 0; i < STAGES; i++) {
      const double off = fabs(sum[i] - z[a][i]);
      change = off > change ? off : change;
      z[a][i] = sum[i];
    }
  }
  return change;
}

/* Solves g' = g xi from the identity on a panel of length h, with g = exp(z). Computes z at the nodes, and z at the end
 * of the panel as z[STAGES]. The sweeps stop when the next one would change z by less than its round-off; this change
 * is estimated from the previous sweep. */
static void panel_path(const cb_variation *v, double h, double (*xi)[CB_GROUP_DIM], double (*z)[CB_GROUP_DIM]) {
  static const double round_off = 1e-18;
  const cb_tableau *t = &v->basis->gauss;
  const int dim = v->dim;
  double share[STAGES][STAGES], rate[CB_GROUP_DIM][STAGES], at[CB_GROUP_DIM][STAGES] = {{0}}, before = INFINITY;
  for (int j = 0; j < STAGES; j++) {
    for (int i = 0; i < STAGES; i++) share[j][i] = h * t->a[i][j];
    for (int a = 0; a < dim; a++) rate[a][j] = xi[j][a];
  }
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    const double change = gather(dim, share, rate, at);
    for (int i = 0; i < STAGES; i++)
      for (int a = 0; a < dim; a++) z[i][a] = at[a][i];
    if (v->bundle->group->abelian || change == 0 || (sweep > 1 && change * change <= round_off * before)) break;
    before = change;
    for (int i = 0; i < STAGES; i++) {
      double out[CB_GROUP_DIM];
      left_rate(v, z[i], xi[i], out);
      for (int a = 0; a < dim; a++) rate[a][i] = out[a];
    }
  }
  for (int a = 0; a < dim; a++) z[STAGES][a] = h * cb_dot(STAGES, t->b, rate[a]);
}

/* Computes the group elements g exp(z) at the nodes of panel k, and z as panel_path does. g is the element at the
 * beginning of the panel. If there is momentum, the velocities depend on the elements. Several sweeps are then made,
 * until the elements change only by round-off. */
static void panel_elements(cb_variation *v, int k, const double *g, double (*z)[CB_GROUP_DIM]) {
  const cb_group *G = v->bundle->group;
  const cb_basis *s = v->basis;
  const bool momentum = v->effort && v->effort->momentum;
  const int n = v->n, dim = v->dim;
  double xi[STAGES][CB_GROUP_DIM], step[CB_GROUP_SIZE], element[CB_GROUP_SIZE], change = 1;
  for (int i = 0; momentum && i < STAGES; i++)
    memcpy(v->element + (k * STAGES + i) * G->size, g, (size_t)G->size * sizeof *g);
  for (int sweep = 0; sweep == 0 || (momentum && sweep < SWEEPS && change > 1e-15); sweep++) {
    for (int i = 0; i < STAGES; i++) {
      const int q = k * STAGES + i;
      for (int a = 0; a < dim; a++) xi[i][a] = -cb_dot(n, v->A + (q * dim + a) * n, v->v + q * n);
      if (momentum) cb_effort_add_velocity(v, q, v->element + q * G->size, xi[i]);
    }
    panel_path(v, s->edge[k + 1] - s->edge[k], xi, z);
    change = 0;
    for (int i = 0; i < STAGES; i++) {
      double *at = v->element + (k * STAGES + i) * G->size;
      G->exp(G, z[i], step);
      G->multiply(G, g, step, element);
      for (int a = 0; a < G->size; a++) change = fmax(change, fabs(element[a] - at[a]));
      memcpy(at, element, (size_t)G->size * sizeof *at);
    }
  }
}

static void path(cb_variation *v) {
  const cb_group *G = v->bundle->group;
  double g[CB_GROUP_SIZE], z[STAGES + 1][CB_GROUP_DIM], step[CB_GROUP_SIZE];
  G->identity(G, g);
  for (int k = 0; k < v->basis->panels; k++) {
    panel_elements(v, k, g, z);
    G->exp(G, z[STAGES], step);
    G->multiply(G, g, step, g);
  }
  G->project(G, g);
  memcpy(v->g, g, sizeof g);
}

static void cost(cb_variation *v) {
  const int n = v->n;
  for (int k = 0; k < v->work->pieces; k++) v->work->part[k] = 0;
  v->cost = 0;
  for (int q = 0; q < v->basis->nodes; q++) {
    double *sum = v->work->pieces ? v->work->part + piece_of(v, q) : &v->cost;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        *sum += v->basis->weight[q] * v->v[q * n + i] * v->M[(q * n + i) * n + j] * v->v[q * n + j];
  }
  if (v->work->pieces) pieces_cost(v);
}

static void first_cost(cb_variation *v) {
  const cb_basis *s = v->basis;
  const int n = v->n, f = s->functions;
  double *const slopes = v->work->pieces ? v->work->slope : v->dcost;
  memset(slopes, 0, (size_t)((v->work->pieces ? v->work->pieces : 1) * v->unknowns) * sizeof *slopes);
  for (int q = 0; q < s->nodes; q++) {
    double *slope = slopes + piece_of(v, q) * v->unknowns;
    const double *rate = v->v + q * n, *M = v->M + q * n * n, *dM = v->dM + q * n * n * n, w = s->weight[q];
    for (int i = 0; i < n; i++) {
      double force = 0, momentum = 0;
      for (int j = 0; j < n; j++) {
        momentum += M[i * n + j] * rate[j];
        for (int k = 0; k < n; k++) force += dM[(i * n + j) * n + k] * rate[j] * rate[k];
      }
      for (int a = 0; a < f; a++)
        slope[i * f + a] += w * (force * s->phi[q * f + a] + 2 * momentum * s->rate[q * f + a]);
    }
  }
  if (v->work->pieces) pieces_slope(v);
}

/* Computes, at every node, Ad = Ad_g and the arrays turn and way (variation_private.h). */
static void carried(cb_variation *v) {
  const cb_group *G = v->bundle->group;
  const int n = v->n, dim = v->dim;
  for (int q = 0; q < v->basis->nodes; q++) {
    double *Ad = v->work->Ad + q * dim * dim, *turn = v->work->turn + q * dim * n, *way = v->work->way + q * dim * n;
    const double *A = v->A + q * dim * n, *dA = v->dA + q * n * dim * n, *rate = v->v + q * n;
    G->adjoint(G, v->element + q * G->size, Ad);
    for (int i = 0; i < n; i++) {
      double along[CB_GROUP_DIM];
      for (int a = 0; a < dim; a++) {
        along[a] = 0;
        for (int j = 0; j < n; j++) along[a] += dA[(i * dim + a) * n + j] * rate[j];
      }
      if (v->effort && v->effort->momentum) cb_effort_add_slope(v, q, i, along);
      for (int a = 0; a < dim; a++) {
        double t = 0, u = 0;
        for (int c = 0; c < dim; c++) {
          t += Ad[a * dim + c] * along[c];
          u += Ad[a * dim + c] * A[c * n + i];
        }
        turn[a * n + i] = t;
        way[a * n + i] = u;
      }
    }
  }
}

static void first_holonomy(cb_variation *v) {
  const cb_basis *s = v->basis;
  const int n = v->n, dim = v->dim, f = s->functions;
  memset(v->dy, 0, (size_t)(dim * v->unknowns) * sizeof *v->dy);
  for (int q = 0; q < s->nodes; q++)
    for (int a = 0; a < dim; a++)
      for (int i = 0; i < n; i++) {
        const double t = s->weight[q] * v->work->turn[(q * dim + a) * n + i];
        const double u = s->weight[q] * v->work->way[(q * dim + a) * n + i];
        const double *phi = s->phi + q * f, *rate = s->rate + q * f;
        double *dy = v->dy + a * v->unknowns + i * f;
        for (int k = 0; k < f; k++) dy[k] -= t * phi[k] + u * rate[k];
      }
}

cb_status cb_variation_at(cb_variation *v, const double *c, int order) {
  shapes(v, c);
  cb_status status = evaluate(v, order > 0 || v->effort);
  if (!status && v->effort) status = cb_effort_begin(v, c);
  if (status) return status;
  path(v);
  if (order > 0) carried(v);
  if (order > 0 && !(v->effort && v->effort->momentum)) first_holonomy(v);
  if (order > 0 && v->effort && v->effort->momentum) status = cb_effort_holonomy(v);
  if (v->effort) return status ? status : cb_effort_at(v, order > 0);
  cost(v);
  if (order > 0) first_cost(v);
  return CB_OK;
}
