/* Motions with momentum (effort.h): the torques and the displacement that the momentum causes, and the Hessian. r:
 * shape; A: connection; P: inertia of the locked body; g: group element; mu: momentum in the body frame, mu_0 at the
 * start; w = P^-1 mu; xi: body velocity. */
#include "optimum/effort_private.h"

#include "bundle/bundle_private.h"

cb_status cb_effort_lock(const cb_bundle *b, const double *r, cb_effort_locked *at) {
  const int dim = b->group->dim, size = dim + b->n;
  double G[FORM_MAX * FORM_MAX], dG[N * FORM_MAX * FORM_MAX], P[D * D];
  cb_status status = b->class_->form(b, r, G, dG);
  if (status) return cb_bundle_fail_at(b, r, status);
  for (int i = 0; i < dim; i++) memcpy(P + i * dim, G + i * size, (size_t)dim * sizeof *P);
  if (!cb_cholesky(dim, P, 1e-15, P))
    return cb_bundle_fail_at(b, r, cb_fail(CB_STEP_SINGULAR, "the inertia of the locked body is singular"));
  cb_cholesky_whole_inverse(dim, P, at->inverse);
  for (int k = 0; k < b->n; k++)
    for (int i = 0; i < dim; i++)
      memcpy(at->dP + (k * dim + i) * dim, dG + (k * size + i) * size, (size_t)dim * sizeof *P);
  return CB_OK;
}

static void multiply(int rows, int columns, const double *a, const double *x, double *out) {
  for (int i = 0; i < rows; i++) out[i] = cb_dot(columns, a + i * columns, x);
}

/* Computes w = P^-1 mu at node q, where the group element is g. */
static void turn_rate(const cb_variation *v, int q, const double *g, double *w) {
  double mu[D];
  cb_group_adjoint_dual(v->bundle->group, g, v->effort->momentum, mu);
  multiply(v->dim, v->dim, v->effort->memory->at[q].inverse, mu, w);
}

void cb_effort_add_velocity(const cb_variation *v, int q, const double *g, double *xi) {
  double w[D];
  turn_rate(v, q, g, w);
  for (int a = 0; a < v->dim; a++) xi[a] += v->effort->problem->duration * w[a];
}

void cb_effort_add_slope(const cb_variation *v, int q, int i, double *along) {
  const cb_effort_locked *at = &v->effort->memory->at[q];
  double w[D], push[D], x[D];
  turn_rate(v, q, v->element + q * v->bundle->group->size, w);
  multiply(v->dim, v->dim, at->dP + i * v->dim * v->dim, w, push);
  multiply(v->dim, v->dim, at->inverse, push, x);
  for (int a = 0; a < v->dim; a++) along[a] += v->effort->problem->duration * x[a];
}

void cb_effort_feedback(const cb_variation *v, int q, double *moved, double *K) {
  const cb_group *G = v->bundle->group;
  const int dim = v->dim;
  for (int b = 0; b < dim; b++) {
    double e[D] = {0}, turned[D], mu[D], w[D];
    e[b] = 1;
    cb_group_ad_dual(G, e, v->effort->momentum, turned);
    cb_group_adjoint_dual(G, v->element + q * G->size, turned, mu);
    multiply(dim, dim, v->effort->memory->at[q].inverse, mu, w);
    for (int a = 0; a < dim; a++) {
      moved[a * dim + b] = mu[a];
      K[a * dim + b] = v->effort->problem->duration * cb_dot(dim, v->work->Ad + (q * dim + a) * dim, w);
    }
  }
}

/* Solves y' = W + K y on each panel by Gauss's collocation, once for each coefficient. y is the change of the group
 * element by the coefficient, and K is computed by cb_effort_feedback. W = -(turn phi + way phi') is the direct effect
 * of the coefficient of the function phi, with turn and way of variation_private.h. */
cb_status cb_effort_holonomy(cb_variation *v) {
  const cb_basis *s = v->basis;
  const int dim = v->dim, u = v->unknowns, n = v->n, f = s->functions, size = STAGES * dim;
  double K[STAGES][D * D], moved[D * D], matrix[STAGES * D * STAGES * D], x[STAGES * D];
  int pivot[STAGES * D];
  memset(v->dy, 0, (size_t)(dim * u) * sizeof *v->dy);
  for (int panel = 0; panel < s->panels; panel++) {
    const double h = s->edge[panel + 1] - s->edge[panel];
    for (int i = 0; i < STAGES; i++) cb_effort_feedback(v, panel * STAGES + i, moved, K[i]);
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) { /* the unknowns are the rates y' at the stages */
        const int a = i % dim, stage = i / dim;
        matrix[i * size + j] = (i == j) - h * s->gauss.a[stage][j / dim] * K[stage][a * dim + j % dim];
      }
    if (cb_dense_factor(size, matrix, pivot))
      return cb_fail(CB_STEP_SINGULAR, "the derivative of the displacement is singular: expected a shorter duration");
    for (int p = 0; p < u; p++) {
      const int i = p / f, c = p % f;
      for (int k = 0; k < size; k++) {
        const int q = panel * STAGES + k / dim, a = k % dim;
        x[k] = -v->work->turn[(q * dim + a) * n + i] * s->phi[q * f + c] -
               v->work->way[(q * dim + a) * n + i] * s->rate[q * f + c];
        for (int b = 0; b < dim; b++) x[k] += K[k / dim][a * dim + b] * v->dy[b * u + p];
      }
      cb_dense_solve(size, matrix, pivot, x);
      for (int a = 0; a < dim; a++) {
        for (int stage = 0; stage < STAGES; stage++) {
          double y = v->dy[a * u + p];
          for (int k = 0; k < STAGES; k++) y += h * s->gauss.a[stage][k] * x[k * dim + a];
          v->effort->memory->y[((panel * STAGES + stage) * dim + a) * u + p] = y;
        }
        for (int k = 0; k < STAGES; k++) v->dy[a * u + p] += h * s->gauss.b[k] * x[k * dim + a];
      }
    }
  }
  return CB_OK;
}

/* Computes the torques that are due to the momentum mu, at the rates v. */
static void gyroscopic(const cb_bundle *b, const cb_effort_locked *at, const double *v, const double *mu, double *tau) {
  const int n = b->n, dim = b->group->dim;
  double w[D], xi[D] = {0}, ad[D * D], turned[D], push[D];
  multiply(dim, dim, at->inverse, mu, w);
  for (int a = 0; a < dim; a++) xi[a] = w[a] - cb_dot(n, at->A + a * n, v);
  cb_group_ad(b->group, xi, ad);
  for (int a = 0; a < dim; a++) {
    turned[a] = 0;
    for (int c = 0; c < dim; c++) turned[a] += mu[c] * ad[c * dim + a];
  }
  for (int i = 0; i < n; i++) {
    multiply(dim, dim, at->dP + i * dim * dim, w, push);
    tau[i] = -cb_dot(dim, w, push) / 2;
    for (int a = 0; a < dim; a++) {
      tau[i] += turned[a] * at->A[a * n + i];
      for (int k = 0; k < n; k++)
        tau[i] += mu[a] * (at->dA[(k * dim + a) * n + i] - at->dA[(i * dim + a) * n + k]) * v[k];
    }
  }
}

/* The torques that are due to the momentum are linear in the rates and quadratic in mu. Differences of these torques by
 * the rates and by mu are therefore exact up to round-off. */
cb_status cb_effort_add_gyroscopic(cb_variation *v, int q, bool slopes, cb_effort_node *out) {
  static const double h = 2e-3, weight[2] = {2. / 3, -1. / 12}; /* central differences of order 4 */
  const cb_bundle *b = v->bundle;
  const int n = v->n, dim = v->dim;
  const double T = v->effort->problem->duration;
  const cb_effort_locked *at = &v->effort->memory->at[q];
  double mu[D], rate[N] = {0}, tau[N], plus[N], minus[N];
  cb_effort_locked near;
  cb_group_adjoint_dual(b->group, v->element + q * b->group->size, v->effort->momentum, mu);
  for (int i = 0; i < n; i++) rate[i] = v->v[q * n + i] / T;
  gyroscopic(b, at, rate, mu, tau);
  for (int i = 0; i < n; i++) out->tau[i] += tau[i];
  for (int k = 0; slopes && k < n; k++) {
    rate[k] += 1;
    gyroscopic(b, at, rate, mu, plus);
    rate[k] -= 1;
    for (int i = 0; i < n; i++) out->x[i][n + k] += (plus[i] - tau[i]) / T;
    for (int s = 1; s <= 2; s++)
      for (int side = -1; side <= 1; side += 2) {
        double r[N];
        memcpy(r, v->r + q * n, (size_t)n * sizeof *r);
        r[k] += side * s * h;
        cb_status status = cb_bundle_connection(b, r, near.A, near.dA, NULL, NULL);
        if (!status) status = cb_effort_lock(b, r, &near);
        if (status) return status;
        gyroscopic(b, &near, rate, mu, plus);
        for (int i = 0; i < n; i++) out->x[i][k] += side * weight[s - 1] * plus[i] / h;
      }
  }
  for (int a = 0; slopes && a < dim; a++) {
    mu[a] += 1;
    gyroscopic(b, at, rate, mu, plus);
    mu[a] -= 2;
    gyroscopic(b, at, rate, mu, minus);
    mu[a] += 1;
    for (int i = 0; i < n; i++) out->mu[i][a] = (plus[i] - minus[i]) / 2;
  }
  return CB_OK;
}

/* --- the Hessian of a motion with momentum ---
 *
 *   g = exp(Y) g_0:  Y' = F = dexp_{-Y}^-1 Ad_{g_0} (xi - xi_0) = (1 + ad_Y/2 + ..) Ad_{g_0} (xi - xi_0)
 *   mu = Ad_{g_0}^T (1 + ad_Y + ad_Y^2/2 + ..)^T mu_0;   lambda' = -K^T lambda - d_Y e,  lambda(1) = Lambda
 *   Hessian = int <D z, (e + <lambda, F>)'' D z> + <D Y(1), W D Y(1)>,   z = (r, r', r'', Y)
 * The index 0 means the given motion; g: group element; Y: its change, of first and second order; xi, mu, mu_0:
 * effort.h; e: cost at a node times mu/2, with mu, Lambda and W of cb_variation_hessian; K = d_Y F; lambda: multiplier
 * of Y' = F; D: derivative by the coefficients. The second derivatives of S = sum_i push_i tau_i + <lambda, F> are
 * differences, where push_i = de/dtau_i is constant. */

/* A shape near node q, with the tables of the bundle there, and the values of lambda, xi and push of the given motion
 * at this node. */
typedef struct place {
  cb_effort_locked at;
  double r[N], M[N * N], dM[N * N * N];
  double lambda[D], xi[D], push[N];
} place;

static cb_status place_at(const cb_bundle *b, place *p) {
  const cb_status status = cb_bundle_connection(b, p->r, p->at.A, p->at.dA, p->M, p->dM);
  return status ? status : cb_effort_lock(b, p->r, &p->at);
}

/* Returns S = sum_i push_i tau_i + <lambda, F> at node q, for the shape of p and z = (r', r'', Y). */
static double weighted(const cb_variation *v, int q, const place *p, const double *z) {
  const cb_group *G = v->bundle->group;
  const int n = v->n, dim = v->dim;
  const double T = v->effort->problem->duration, *Y = z + 2 * n, *Ad = v->work->Ad + q * dim * dim;
  double turned[D], twice[D], mu_0[D], mu[D], xi[D], rate[N] = {0}, tau[N], off[D], moved[D], sum = 0;
  cb_group_ad_dual(G, Y, v->effort->momentum, turned);
  cb_group_ad_dual(G, Y, turned, twice);
  for (int a = 0; a < dim; a++) mu_0[a] = v->effort->momentum[a] + turned[a] + twice[a] / 2;
  cb_group_adjoint_dual(G, v->element + q * G->size, mu_0, mu);
  for (int i = 0; i < n; i++) rate[i] = z[i] / T;
  gyroscopic(v->bundle, &p->at, rate, mu, tau);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double symbols = 0;
      for (int k = 0; k < n; k++) symbols += (p->dM[(k * n + i) * n + j] - p->dM[(i * n + j) * n + k] / 2) * z[k];
      tau[i] += (p->M[i * n + j] * z[n + j] + symbols * z[j]) / (T * T);
    }
    sum += p->push[i] * tau[i];
  }
  multiply(dim, dim, p->at.inverse, mu, xi);
  for (int a = 0; a < dim; a++) xi[a] = T * (xi[a] - cb_dot(n, p->at.A + a * n, rate)) - p->xi[a];
  multiply(dim, dim, Ad, xi, off);
  G->bracket(G, Y, off, moved);
  for (int a = 0; a < dim; a++) sum += p->lambda[a] * (off[a] + moved[a] / 2);
  return sum;
}

/* Computes the derivative of S (the result of `weighted`) by z_l as the central difference with step h. Returns the sum
 * of the values of S at z_l + h and at z_l - h. */
static double both_sides(const cb_variation *v, int q, const place *p, double *z, int l, double h, double *difference) {
  double S[2];
  for (int side = 0; side < 2; side++) {
    z[l] += side ? h : -h;
    S[side] = weighted(v, q, p, z);
    z[l] += side ? -h : h;
  }
  *difference = (S[1] - S[0]) / (2 * h);
  return S[0] + S[1];
}

/* Adds the second derivatives of S, times the weight, to H[width][width], width = 3 n + dim. */
static cb_status add_bend(const cb_variation *v, int q, double weight, const place *base, double *H) {
  static const double h = 1e-3;
  const int n = v->n, rest = 2 * n + v->dim, width = n + rest;
  double z[2 * N + D] = {0}, slope[2][N][2 * N + D], S_0, S[2][N];
  memcpy(z, v->v + q * n, (size_t)n * sizeof *z);
  memcpy(z + n, v->effort->memory->curve + q * n, (size_t)n * sizeof *z);
  S_0 = weighted(v, q, base, z);
  for (int k = 0; k < rest; k++) {
    double up, down, none;
    H[(n + k) * width + n + k] += weight * (both_sides(v, q, base, z, k, h, &none) - 2 * S_0) / (h * h);
    for (int l = 0; l < k; l++) {
      z[k] += h;
      both_sides(v, q, base, z, l, h, &up);
      z[k] -= 2 * h;
      both_sides(v, q, base, z, l, h, &down);
      z[k] += h;
      const double mixed = weight * (up - down) / (2 * h);
      H[(n + k) * width + n + l] += mixed;
      H[(n + l) * width + n + k] += mixed;
    }
  }
  place near = *base;
  for (int i = 0; i < n; i++) {
    for (int side = 0; side < 2; side++) {
      near.r[i] = base->r[i] + (side ? h : -h);
      const cb_status status = place_at(v->bundle, &near);
      if (status) return status;
      S[side][i] = weighted(v, q, &near, z);
      for (int k = 0; k < rest; k++) both_sides(v, q, &near, z, k, h, &slope[side][i][k]);
    }
    H[i * width + i] += weight * (S[0][i] + S[1][i] - 2 * S_0) / (h * h);
    for (int k = 0; k < rest; k++) {
      const double mixed = weight * (slope[1][i][k] - slope[0][i][k]) / (2 * h);
      H[i * width + n + k] += mixed;
      H[(n + k) * width + i] += mixed;
    }
    for (int j = 0; j < i; j++) {
      double mixed = 0;
      for (int corner = 0; corner < 4; corner++) {
        near.r[i] = base->r[i] + (corner & 1 ? h : -h);
        near.r[j] = base->r[j] + (corner & 2 ? h : -h);
        const cb_status status = place_at(v->bundle, &near);
        if (status) return status;
        mixed += (corner == 0 || corner == 3 ? 1 : -1) * weighted(v, q, &near, z);
      }
      near.r[j] = base->r[j];
      H[i * width + j] += weight * mixed / (4 * h * h);
      H[j * width + i] += weight * mixed / (4 * h * h);
    }
    near.r[i] = base->r[i];
  }
  return CB_OK;
}

/* Computes lambda[nodes][dim], from the end to the start, by Gauss's collocation. pull[nodes][dim] holds d_Y e. */
static cb_status adjoint(const cb_variation *v, const double *Lambda, const double *pull, double *lambda) {
  const cb_basis *s = v->basis;
  const int dim = v->dim, size = STAGES * dim;
  double end[D], K[STAGES][D * D], moved[D * D], matrix[STAGES * D * STAGES * D], x[STAGES * D];
  int pivot[STAGES * D];
  memcpy(end, Lambda, (size_t)dim * sizeof *end);
  for (int panel = s->panels - 1; panel >= 0; panel--) {
    const double width = s->edge[panel + 1] - s->edge[panel];
    for (int i = 0; i < STAGES; i++) cb_effort_feedback(v, panel * STAGES + i, moved, K[i]);
    for (int i = 0; i < size; i++) {
      const int stage = i / dim, a = i % dim;
      x[i] = -pull[(panel * STAGES + stage) * dim + a];
      for (int b = 0; b < dim; b++) x[i] -= K[stage][b * dim + a] * end[b];
      for (int j = 0; j < size; j++)
        matrix[i * size + j] =
            (i == j) - width * (s->gauss.b[j / dim] - s->gauss.a[stage][j / dim]) * K[stage][j % dim * dim + a];
    }
    if (cb_dense_factor(size, matrix, pivot)) return cb_fail(CB_STEP_SINGULAR, "the adjoint equation is singular");
    cb_dense_solve(size, matrix, pivot, x);
    for (int stage = 0; stage < STAGES; stage++)
      for (int a = 0; a < dim; a++) {
        double *at = lambda + (panel * STAGES + stage) * dim + a;
        *at = end[a];
        for (int k = 0; k < STAGES; k++) *at -= width * (s->gauss.b[k] - s->gauss.a[stage][k]) * x[k * dim + a];
      }
    for (int k = 0; k < STAGES; k++)
      for (int a = 0; a < dim; a++) end[a] -= width * s->gauss.b[k] * x[k * dim + a];
  }
  return CB_OK;
}

/* Computes, for the given motion at node q, all members of p except lambda; the derivatives slope[n][width] of the
 * torques by z; the derivatives d[n] of the cost; and pull[dim], which is d_Y e. */
static cb_status given_at(cb_variation *v, int q, double mu, place *p, double *slope, cb_effort_price *d,
                          double *pull) {
  const int n = v->n, dim = v->dim, width = 3 * n + dim;
  const double T = v->effort->problem->duration;
  double moved[D * D], K[D * D], w[D];
  cb_effort_node at;
  const cb_status status = cb_effort_node_at(v, q, true, &at);
  if (status) return status;
  cb_effort_feedback(v, q, moved, K);
  memset(pull, 0, (size_t)dim * sizeof *pull);
  for (int i = 0; i < n; i++) {
    cb_effort_price_of(v->effort, i, at.tau[i], v->v[q * n + i] / T, &d[i]);
    p->push[i] = mu / 2 * T * d[i].t;
    memcpy(slope + i * width, at.x[i], (size_t)(3 * n) * sizeof *slope);
    for (int b = 0; b < dim; b++) {
      slope[i * width + 3 * n + b] = 0;
      for (int a = 0; a < dim; a++) slope[i * width + 3 * n + b] += at.mu[i][a] * moved[a * dim + b];
      pull[b] += p->push[i] * slope[i * width + 3 * n + b];
    }
  }
  turn_rate(v, q, v->element + q * v->bundle->group->size, w);
  for (int a = 0; a < dim; a++) p->xi[a] = T * w[a] - cb_dot(n, v->A + (q * dim + a) * n, v->v + q * n);
  memcpy(p->r, v->r + q * n, (size_t)n * sizeof *p->r);
  memcpy(p->M, v->M + q * n * n, (size_t)(n * n) * sizeof *p->M);
  memcpy(p->dM, v->dM + q * n * n * n, (size_t)(n * n * n) * sizeof *p->dM);
  p->at = v->effort->memory->at[q];
  return CB_OK;
}

/* Writes D z, the derivatives of z = (r, r', r'', Y) at node q by the coefficients, to right[width][unknowns]. Writes
 * the product H D z to left[width][unknowns]. */
static void spread(const cb_variation *v, int q, const double *H, double *left, double *right) {
  const cb_basis *s = v->basis;
  const int n = v->n, dim = v->dim, width = 3 * n + dim, u = v->unknowns, f = s->functions;
  const double *functions[3] = {s->phi + q * f, s->rate + q * f, s->curve + q * f};
  memset(right, 0, (size_t)(3 * n * u) * sizeof *right);
  for (int k = 0; k < 3 * n; k++) memcpy(right + k * u + k % n * f, functions[k / n], (size_t)f * sizeof *right);
  memcpy(right + 3 * n * u, v->effort->memory->y + q * dim * u, (size_t)(dim * u) * sizeof *right);
  memset(left, 0, (size_t)(width * u) * sizeof *left);
  for (int k = 0; k < width; k++)
    for (int l = 0; l < width; l++)
      for (int p = 0; p < u; p++) left[k * u + p] += H[k * width + l] * right[l * u + p];
}

cb_status cb_effort_hessian(cb_variation *v, double mu, const double *Lambda, const double *W, double *H) {
  struct cb_effort_work *m = v->effort->memory;
  const int n = v->n, dim = v->dim, u = v->unknowns, width = 3 * n + dim, nodes = v->basis->nodes;
  const double T = v->effort->problem->duration;
  double at[(3 * N + D) * (3 * N + D)], slope[N * (3 * N + D)];
  place p;
  cb_effort_price d[N];
  cb_status status = CB_OK;
  for (int q = 0; q < nodes && !status; q++) status = given_at(v, q, mu, &p, slope, d, m->pull + q * dim);
  if (!status) status = adjoint(v, Lambda, m->pull, m->lambda);
  for (int q = 0; q < nodes && !status; q++) {
    const double weight = v->basis->weight[q], share = mu / 2 * T * weight;
    status = given_at(v, q, mu, &p, slope, d, m->pull + q * dim);
    if (status) break;
    memcpy(p.lambda, m->lambda + q * dim, (size_t)dim * sizeof *p.lambda);
    memset(at, 0, (size_t)(width * width) * sizeof *at);
    for (int i = 0; i < n; i++) {
      const double *x = slope + i * width;
      for (int k = 0; k < width; k++) {
        for (int l = 0; l < width; l++) at[k * width + l] += share * d[i].tt * x[k] * x[l];
        at[k * width + n + i] += share * d[i].tv / T * x[k];
        at[(n + i) * width + k] += share * d[i].tv / T * x[k];
      }
      at[(n + i) * width + n + i] += share * d[i].vv / (T * T);
    }
    status = add_bend(v, q, weight, &p, at);
    spread(v, q, at, m->big[0] + (size_t)q * (size_t)(width * u), m->big[1] + (size_t)q * (size_t)(width * u));
  }
  if (status) return status;
  memset(H, 0, (size_t)u * (size_t)u * sizeof *H);
  cb_outer_add(nodes * width, u, m->big[0], u, m->big[1], H, u);
  for (int a = 0; W && a < dim; a++)
    for (int b = 0; b < dim; b++)
      for (int i = 0; i < u; i++)
        for (int j = 0; j < u; j++) H[i * u + j] += v->dy[a * u + i] * W[a * dim + b] * v->dy[b * u + j];
  return CB_OK;
}
