/* Variations of cost and holonomy on Gauss's panels. */
#include "optimum/variation.h"

#include "core/arena.h"
#include "core/failure.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SWEEPS = 40, STAGES = CB_BASIS_STAGES };

struct cb_variation_work {
  struct cb_arena *arena;
  double *Ad;         /* [nodes][dim][dim] */
  double *turn, *way; /* Ad_g d_i A v and Ad_g A_i at the nodes: [nodes][dim][n] */
  double *rate, *y;   /* of y_1 in each unknown: [nodes][dim][unknowns] */
  double *row;        /* [STAGES][unknowns] */
};

cb_status cb_variation_create(const cb_bundle *b, const cb_basis *basis, cb_variation **out) {
  cb_arena *arena = cb_arena_create();
  cb_variation *v = cb_arena_alloc(arena, 1, sizeof *v);
  struct cb_variation_work *w = cb_arena_alloc(arena, 1, sizeof *w);
  if (!v || !w) return cb_arena_free(arena), cb_fail(CB_ERROR_MEMORY, "no memory for a variation");
  const int dim = b->group->dim, n = b->n, unknowns = n * basis->functions;
  const size_t nodes = (size_t)basis->nodes, a = (size_t)(dim * n), m = (size_t)(n * n);
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
               {&v->ddA, nodes * a * m},
               {&v->ddM, nodes * m * m},
               {&w->Ad, nodes * (size_t)(dim * dim)},
               {&w->turn, nodes * a},
               {&w->way, nodes * a},
               {&w->rate, nodes * (size_t)(dim * unknowns)},
               {&w->y, nodes * (size_t)(dim * unknowns)},
               {&w->row, (size_t)(STAGES * unknowns)}};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    if (!(*parts[k].at = cb_arena_alloc(arena, parts[k].count, sizeof(double))))
      return cb_arena_free(arena), cb_fail(CB_ERROR_MEMORY, "no memory for a variation of %d unknowns", unknowns);
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
      v->r[q * v->n + i] = r, v->v[q * v->n + i] = rate;
    }
}

static cb_status evaluate(cb_variation *v, int order) {
  const int n = v->n, a = v->dim * n;
  for (int q = 0; q < v->basis->nodes; q++) {
    const double *r = v->r + q * n;
    cb_status status = cb_bundle_connection(v->bundle, r, v->A + q * a, order > 0 ? v->dA + q * a * n : NULL,
                                            v->M + q * n * n, order > 0 ? v->dM + q * n * n * n : NULL);
    if (!status && order > 1)
      status = cb_bundle_second(v->bundle, r, v->ddA + q * a * n * n, v->ddM + q * n * n * n * n);
    if (status) return status;
  }
  return CB_OK;
}

/* dexp_{-z}^-1 xi = xi + [z, xi]/2 + sum B_k ad_z^k xi/k! */
static void left_rate(const cb_group *G, const double *z, const double *xi, double *out) {
  static const double share[4] = {1. / 12, -1. / 720, 1. / 30240, -1. / 1209600};
  double p[CB_GROUP_DIM], q[CB_GROUP_DIM];
  G->bracket(G, z, xi, p);
  for (int a = 0; a < G->dim; a++) out[a] = xi[a] + p[a] / 2;
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

/* z at the nodes of a panel and its whole in z[STAGES], g' = g xi from the identity. */
static void panel_path(const cb_group *G, const cb_tableau *t, double h, double (*xi)[CB_GROUP_DIM],
                       double (*z)[CB_GROUP_DIM]) {
  double rate[STAGES][CB_GROUP_DIM], change = INFINITY;
  memcpy(rate, xi, sizeof rate);
  for (int sweep = 0; sweep < SWEEPS && change > 0; sweep++) {
    double now = 0;
    for (int i = 0; i < STAGES; i++)
      for (int a = 0; a < G->dim; a++) {
        double sum = 0;
        for (int j = 0; j < STAGES; j++) sum += t->a[i][j] * rate[j][a];
        now = fmax(now, sweep ? fabs(h * sum - z[i][a]) : INFINITY);
        z[i][a] = h * sum;
      }
    if (G->abelian || (now >= change && now < 1e-13) || now == 0) break;
    change = now;
    for (int i = 0; i < STAGES; i++) left_rate(G, z[i], xi[i], rate[i]);
  }
  for (int a = 0; a < G->dim; a++) {
    double sum = 0;
    for (int j = 0; j < STAGES; j++) sum += t->b[j] * rate[j][a];
    z[STAGES][a] = h * sum;
  }
}

static void path(cb_variation *v) {
  const cb_group *G = v->bundle->group;
  const cb_basis *s = v->basis;
  const int n = v->n, dim = v->dim;
  double g[CB_GROUP_SIZE], xi[STAGES][CB_GROUP_DIM], z[STAGES + 1][CB_GROUP_DIM], step[CB_GROUP_SIZE];
  G->identity(G, g);
  for (int k = 0; k < s->panels; k++) {
    for (int i = 0; i < STAGES; i++) {
      const int q = k * STAGES + i;
      for (int a = 0; a < dim; a++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum -= v->A[(q * dim + a) * n + j] * v->v[q * n + j];
        xi[i][a] = sum;
      }
    }
    panel_path(G, &s->gauss, s->edge[k + 1] - s->edge[k], xi, z);
    for (int i = 0; i < STAGES; i++) {
      G->exp(G, z[i], step);
      G->multiply(G, g, step, v->element + (k * STAGES + i) * G->size);
    }
    G->exp(G, z[STAGES], step);
    G->multiply(G, g, step, g);
  }
  G->project(G, g);
  memcpy(v->g, g, sizeof g);
}

static void cost(cb_variation *v) {
  const int n = v->n;
  v->cost = 0;
  for (int q = 0; q < v->basis->nodes; q++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        v->cost += v->basis->weight[q] * v->v[q * n + i] * v->M[(q * n + i) * n + j] * v->v[q * n + j];
}

static void first_cost(cb_variation *v) {
  const cb_basis *s = v->basis;
  const int n = v->n, f = s->functions;
  memset(v->dcost, 0, (size_t)v->unknowns * sizeof *v->dcost);
  for (int q = 0; q < s->nodes; q++) {
    const double *rate = v->v + q * n, *M = v->M + q * n * n, *dM = v->dM + q * n * n * n, w = s->weight[q];
    for (int i = 0; i < n; i++) {
      double force = 0, momentum = 0;
      for (int j = 0; j < n; j++) {
        momentum += M[i * n + j] * rate[j];
        for (int k = 0; k < n; k++) force += dM[(i * n + j) * n + k] * rate[j] * rate[k];
      }
      for (int a = 0; a < f; a++)
        v->dcost[i * f + a] += w * (force * s->phi[q * f + a] + 2 * momentum * s->rate[q * f + a]);
    }
  }
}

/* turn and way of every node */
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
      for (int a = 0; a < dim; a++) {
        double t = 0, u = 0;
        for (int c = 0; c < dim; c++) t += Ad[a * dim + c] * along[c], u += Ad[a * dim + c] * A[c * n + i];
        turn[a * n + i] = t, way[a * n + i] = u;
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
        const double t = v->work->turn[(q * dim + a) * n + i], u = v->work->way[(q * dim + a) * n + i];
        double *rate = v->work->rate + (q * dim + a) * v->unknowns + i * f, *dy = v->dy + a * v->unknowns + i * f;
        for (int k = 0; k < f; k++) {
          rate[k] = -(t * s->phi[q * f + k] + u * s->rate[q * f + k]);
          dy[k] += s->weight[q] * rate[k];
        }
      }
}

cb_status cb_variation_at(cb_variation *v, const double *c, int order) {
  shapes(v, c);
  const cb_status status = evaluate(v, order);
  if (status) return status;
  path(v);
  cost(v);
  if (order == 0) return CB_OK;
  first_cost(v);
  carried(v);
  first_holonomy(v);
  return CB_OK;
}

/* --- the Hessian --- */

/* y_1 at the nodes, panel after panel. */
static void follow_first(cb_variation *v) {
  const cb_basis *s = v->basis;
  const int rows = v->dim * v->unknowns;
  double *y = v->work->y, *rate = v->work->rate;
  for (int k = 0; k < s->panels; k++) {
    const double h = s->edge[k + 1] - s->edge[k];
    const double *before = k ? y + (k * STAGES - 1) * rows : NULL, *last = rate + (k - 1) * STAGES * rows;
    const double past = k ? s->edge[k] - s->edge[k - 1] : 0;
    for (int i = 0; i < STAGES; i++) {
      double *at = y + (k * STAGES + i) * rows;
      for (int p = 0; p < rows; p++) {
        /* from the last node of the panel before to its end, and on */
        double sum = before ? before[p] : 0;
        for (int j = 0; before && j < STAGES; j++)
          sum += past * (s->gauss.b[j] - s->gauss.a[STAGES - 1][j]) * last[j * rows + p];
        for (int j = 0; j < STAGES; j++) sum += h * s->gauss.a[i][j] * rate[(k * STAGES + j) * rows + p];
        at[p] = sum;
      }
    }
  }
}

/* <Lambda, [e_a, e_b]> */
static void structure(const cb_group *G, const double *Lambda, double *K) {
  for (int a = 0; a < G->dim; a++)
    for (int b = 0; b < G->dim; b++) {
      double ea[CB_GROUP_DIM] = {0}, eb[CB_GROUP_DIM] = {0}, c[CB_GROUP_DIM], sum = 0;
      ea[a] = 1, eb[b] = 1;
      G->bracket(G, ea, eb, c);
      for (int k = 0; k < G->dim; k++) sum += Lambda[k] * c[k];
      K[a * G->dim + b] = sum;
    }
}

/* out[n] += x_0 a_0 + .. + x_5 a_5, rows of a: the nodes of a panel in one pass. */
static void add_rows(int n, const double *x, const double *restrict a, double *restrict out) {
  static_assert(STAGES == 6, "six rows");
  const double *b = a + n, *c = b + n, *d = c + n, *e = d + n, *f = e + n;
  for (int o = 0; o < n; o++)
    out[o] += x[0] * a[o] + x[1] * b[o] + x[2] * c[o] + x[3] * d[o] + x[4] * e[o] + x[5] * f[o];
}

/* H += (S + S')/2 later: here S = int K(y_1, y_1') into H. */
static void brackets(cb_variation *v, const double *Lambda, double *H, double *row) {
  const int dim = v->dim, u = v->unknowns;
  double K[CB_GROUP_DIM * CB_GROUP_DIM];
  structure(v->bundle->group, Lambda, K);
  for (int k = 0; k < v->basis->panels * dim; k++) {
    const int q = k / dim * STAGES, a = k % dim;
    bool any = false;
    memset(row, 0, (size_t)(STAGES * u) * sizeof *row);
    for (int i = 0; i < STAGES; i++)
      for (int b = 0; b < dim; b++) {
        const double w = v->basis->weight[q + i] * K[a * dim + b], *rate = v->work->rate + ((q + i) * dim + b) * u;
        any = any || w != 0;
        for (int p = 0; w != 0 && p < u; p++) row[i * u + p] += w * rate[p];
      }
    for (int p = 0; any && p < u; p++) {
      double y[STAGES];
      for (int i = 0; i < STAGES; i++) y[i] = v->work->y[((q + i) * dim + a) * u + p];
      add_rows(u, y, row, H + p * u);
    }
  }
}

/* Second derivatives of mu v'Mv/2 - <lambda, A v> in (r_i, r_j), (r_i, v_j), (v_i, v_j) at a node. */
static void local_form(const cb_variation *v, int q, double mu, const double *lambda, double *rr, double *rv,
                       double *vv) {
  const int n = v->n, dim = v->dim;
  const double *rate = v->v + q * n, *M = v->M + q * n * n, *dM = v->dM + q * n * n * n;
  const double *dA = v->dA + q * n * dim * n, *ddA = v->ddA + q * n * n * dim * n, *ddM = v->ddM + q * n * n * n * n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double cross = 0, both = 0;
      for (int k = 0; k < n; k++) cross += mu * dM[(i * n + j) * n + k] * rate[k];
      for (int a = 0; a < dim; a++) cross -= lambda[a] * dA[(i * dim + a) * n + j];
      for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++) both += mu / 2 * ddM[((i * n + j) * n + k) * n + l] * rate[k] * rate[l];
      for (int a = 0; a < dim; a++)
        for (int k = 0; k < n; k++) both -= lambda[a] * ddA[((i * n + j) * dim + a) * n + k] * rate[k];
      rr[i * n + j] = both, rv[i * n + j] = cross, vv[i * n + j] = mu * M[i * n + j];
    }
}

typedef struct local_forms {
  double rr[STAGES][CB_SHAPE_MAX * CB_SHAPE_MAX], rv[STAGES][CB_SHAPE_MAX * CB_SHAPE_MAX];
  double vv[STAGES][CB_SHAPE_MAX * CB_SHAPE_MAX];
} local_forms;

/* Nodes of a panel, from q on, into a block of H; ij and ji: places in the forms. */
static void local_block(const cb_basis *s, int q, const local_forms *l, int ij, int ji, double *H, int stride) {
  const int f = s->functions;
  for (int a = 0; a < f; a++) {
    double x[STAGES], y[STAGES];
    for (int k = 0; k < STAGES; k++) {
      const double w = s->weight[q + k], phi = s->phi[(q + k) * f + a], rate = s->rate[(q + k) * f + a];
      x[k] = w * (l->rr[k][ij] * phi + l->rv[k][ji] * rate);
      y[k] = w * (l->rv[k][ij] * phi + l->vv[k][ij] * rate);
    }
    add_rows(f, x, s->phi + q * f, H + a * stride);
    add_rows(f, y, s->rate + q * f, H + a * stride);
  }
}

static void local_part(cb_variation *v, double mu, const double *Lambda, double *H) {
  const cb_basis *s = v->basis;
  const int n = v->n, dim = v->dim, f = s->functions, u = v->unknowns;
  local_forms l;
  for (int q = 0; q < s->nodes; q += STAGES) {
    for (int k = 0; k < STAGES; k++) {
      const double *Ad = v->work->Ad + (q + k) * dim * dim;
      double lambda[CB_GROUP_DIM] = {0};
      for (int a = 0; a < dim; a++)
        for (int b = 0; b < dim; b++) lambda[b] += Lambda[a] * Ad[a * dim + b];
      local_form(v, q + k, mu, lambda, l.rr[k], l.rv[k], l.vv[k]);
    }
    for (int i = 0; i < n; i++)
      for (int j = i; j < n; j++) local_block(s, q, &l, i * n + j, j * n + i, H + i * f * u + j * f, u);
  }
}

void cb_variation_hessian(cb_variation *v, double mu, const double *Lambda, const double *W, double *H) {
  const int u = v->unknowns, dim = v->dim;
  memset(H, 0, (size_t)u * (size_t)u * sizeof *H);
  if (!v->bundle->group->abelian) {
    follow_first(v);
    brackets(v, Lambda, H, v->work->row);
  }
  for (int a = 0; W && a < dim; a++)
    for (int b = 0; b < dim; b++)
      for (int p = 0; W[a * dim + b] != 0 && p < u; p++)
        for (int o = 0; o < u; o++) H[p * u + o] += W[a * dim + b] * v->dy[a * u + p] * v->dy[b * u + o];
  for (int p = 0; p < u; p++)
    for (int o = 0; o < p; o++) H[p * u + o] = H[o * u + p] = (H[p * u + o] + H[o * u + p]) / 2;
  local_part(v, mu, Lambda, H);
  for (int i = 0; i < u; i++)
    for (int j = 0; j < i; j++) H[i * u + j] = H[j * u + i];
}
