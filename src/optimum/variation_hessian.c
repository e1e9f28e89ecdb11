/* The second variation of cost and holonomy on Gauss's panels (variation.h). */
#include "optimum/effort.h"
#include "optimum/variation_private.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* --- brackets --- */

/* Computes K[a][b] = <Lambda, [e_a, e_b]> for the basis vectors e_a of the algebra. */
static void structure(const cb_group *G, const double *Lambda, double *K) {
  for (int a = 0; a < G->dim; a++)
    for (int b = 0; b < G->dim; b++) {
      double ea[CB_GROUP_DIM] = {0}, eb[CB_GROUP_DIM] = {0}, c[CB_GROUP_DIM], sum = 0;
      ea[a] = 1;
      eb[b] = 1;
      G->bracket(G, ea, eb, c);
      for (int k = 0; k < G->dim; k++) sum += Lambda[k] * c[k];
      K[a * G->dim + b] = sum;
    }
}

/* K[dim][dim] is antisymmetric. Finds covectors a and b with K = a b' - b a' + rest, where the rank of the rest is
 * lower by 2, and replaces K by the rest. Returns false if K is 0. */
static bool plane(int dim, double *K, double *a, double *b) {
  int p = 0, q = 0;
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < i; j++)
      if (fabs(K[i * dim + j]) > fabs(K[p * dim + q])) {
        p = i;
        q = j;
      }
  const double pivot = K[p * dim + q];
  if (pivot == 0) return false;
  for (int i = 0; i < dim; i++) {
    a[i] = K[i * dim + p];
    b[i] = K[i * dim + q] / pivot;
  }
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) {
      const bool out = i == p || i == q || j == p || j == q;
      K[i * dim + j] = out ? 0 : K[i * dim + j] - (a[i] * b[j] - b[i] * a[j]);
    }
  return true;
}

/* Sets out[unknowns] to `share` times the rate a.y_1' (variation.h) at node q, for a unit change of each coefficient.
 */
static void rate_along(const cb_variation *v, int q, const double *a, double share, double *out) {
  const int n = v->n, dim = v->dim, f = v->basis->functions;
  const double *phi = v->basis->phi + q * f, *rate = v->basis->rate + q * f;
  for (int i = 0; i < n; i++) {
    double t = 0, u = 0;
    for (int c = 0; c < dim; c++) {
      t -= share * a[c] * v->work->turn[(q * dim + c) * n + i];
      u -= share * a[c] * v->work->way[(q * dim + c) * n + i];
    }
    for (int k = 0; k < f; k++) out[i * f + k] = t * phi[k] + u * rate[k];
  }
}

/* Adds x_0 a_0 + .. + x_5 a_5 to out[n], where a_k are rows of a. All nodes of a panel are added in one pass. */
static void add_rows(int n, const double *x, const double *restrict a, double *restrict out) {
  static_assert(STAGES == 6, "six rows");
  const double *b = a + n, *c = b + n, *d = c + n, *e = d + n, *f = e + n;
  for (int o = 0; o < n; o++)
    out[o] += x[0] * a[o] + x[1] * b[o] + x[2] * c[o] + x[3] * d[o] + x[4] * e[o] + x[5] * f[o];
}

/* Computes left[nodes][unknowns], which is a.y_1 (variation.h) at the nodes for a unit change of each coefficient. The
 * panels are computed one after the other. */
static void follow(cb_variation *v, const double *a, double *left) {
  const cb_basis *s = v->basis;
  const int u = v->unknowns;
  double *rate = v->work->rate, *before = v->work->before;
  memset(before, 0, (size_t)u * sizeof *before);
  for (int k = 0; k < s->panels; k++) {
    const double h = s->edge[k + 1] - s->edge[k];
    double share[STAGES];
    for (int i = 0; i < STAGES; i++) rate_along(v, k * STAGES + i, a, 1, rate + i * u);
    for (int i = 0; i < STAGES; i++) {
      double *at = left + (k * STAGES + i) * u;
      memcpy(at, before, (size_t)u * sizeof *at);
      for (int j = 0; j < STAGES; j++) share[j] = h * s->gauss.a[i][j];
      add_rows(u, share, rate, at);
    }
    for (int j = 0; j < STAGES; j++) share[j] = h * s->gauss.b[j];
    add_rows(u, share, rate, before);
  }
}

/* Computes the rows of work->left and work->right. The part of the Hessian that comes from the Lie brackets and from W
 * is left' right + right' left. Returns the number of rows. */
static int brackets(cb_variation *v, const double *Lambda, const double *W) {
  const int dim = v->dim, u = v->unknowns;
  double K[CB_GROUP_DIM * CB_GROUP_DIM], a[CB_GROUP_DIM], b[CB_GROUP_DIM], ends[CB_GROUP_DIM * CB_GROUP_DIM] = {0};
  double *left = v->work->left, *right = v->work->right;
  int rows = 0;
  structure(v->bundle->group, Lambda, K);
  for (int i = 0; W && i < dim * dim; i++) ends[i] = W[i] / 2;
  for (int k = 0; k < dim / 2 && plane(dim, K, a, b); k++) {
    follow(v, a, left + rows * u);
    for (int q = 0; q < v->basis->nodes; q++, rows++) rate_along(v, q, b, v->basis->weight[q], right + rows * u);
    for (int i = 0; i < dim; i++)
      for (int j = 0; j < dim; j++) ends[i * dim + j] -= a[i] * b[j] / 2;
  }
  memcpy(left + rows * u, v->dy, (size_t)(dim * u) * sizeof *left);
  memset(right + rows * u, 0, (size_t)(dim * u) * sizeof *right);
  for (int i = 0; i < dim; i++, rows++)
    for (int j = 0; j < dim; j++)
      for (int p = 0; ends[i * dim + j] != 0 && p < u; p++) right[rows * u + p] += ends[i * dim + j] * v->dy[j * u + p];
  return rows;
}

/* --- the part that is local in time --- */

/* Computes the second derivatives of mu v'Mv/2 - <lambda, A v> in r and v at node q, times the weight of the node. The
 * entries are stored in work->form (variation_private.h). */
static cb_status local_form(cb_variation *v, int q, double mu, const double *lambda) {
  const int n = v->n, dim = v->dim;
  const double *rate = v->v + q * n, *M = v->M + q * n * n, *dM = v->dM + q * n * n * n, w = v->basis->weight[q];
  const double *dA = v->dA + q * n * dim * n, *ddA = v->work->ddA, *ddM = v->work->ddM;
  const cb_status status = cb_bundle_second(v->bundle, v->r + q * n, v->work->ddA, v->work->ddM);
  if (status) return status;
  double *form = v->work->form + q * FORM;
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++, form += v->basis->nodes * FORM) {
      double cross[2] = {0}, both = 0;
      for (int side = 0; side < 2; side++) {
        const int r = side ? j : i, s = side ? i : j;
        for (int k = 0; k < n; k++) cross[side] += mu * dM[(r * n + s) * n + k] * rate[k];
        for (int a = 0; a < dim; a++) cross[side] -= lambda[a] * dA[(r * dim + a) * n + s];
      }
      for (int k = 0; k < n; k++) {
        double row = 0;
        for (int l = 0; l < n; l++) row += ddM[((i * n + j) * n + k) * n + l] * rate[l];
        both += mu / 2 * row * rate[k];
      }
      for (int a = 0; a < dim; a++)
        for (int k = 0; k < n; k++) both -= lambda[a] * ddA[((i * n + j) * dim + a) * n + k] * rate[k];
      form[0] = w * both;
      form[1] = w * cross[0];
      form[2] = w * cross[1];
      form[3] = w * mu * M[i * n + j];
    }
  return CB_OK;
}

/* Adds the block of H for one pair of shape variables, for a basis of any type. */
static void block(cb_variation *v, const double *form, double *H) {
  const cb_basis *s = v->basis;
  const int f = s->functions;
  for (int q = 0; q < s->nodes; q++, form += FORM) {
    const double *phi = s->phi + q * f, *rate = s->rate + q * f;
    double *x = v->work->x + q * f, *y = v->work->y + q * f;
    for (int a = 0; a < f; a++) x[a] = form[0] * phi[a] + form[2] * rate[a];
    for (int a = 0; a < f; a++) y[a] = form[1] * phi[a] + form[3] * rate[a];
  }
  cb_outer_add(s->nodes, f, v->work->x, f, s->phi, H, v->unknowns);
  cb_outer_add(s->nodes, f, v->work->y, f, s->rate, H, v->unknowns);
}

/* Fourier coefficients of a function F of time, which is an entry of the Hessian's local form: C[m] is the integral of
 * F cos 2 pi m t over a cycle, and S[m] is that of F sin 2 pi m t. m goes from 0 to twice the number of harmonics. */
typedef struct spectrum {
  double *C, *S;
} spectrum;

/* Computes the spectrum of a function F of time. `sum` is the integral of F. `part` has three rows, with a number for
 * each function phi of the basis. These numbers are the integrals of phi' F, of phi' F cos 2 pi H t, and of phi' F sin
 * 2 pi H t, where H is the number of harmonics. */
static void spread(int harmonics, double sum, const double *part, spectrum out) {
  const int f = 2 * harmonics + 1;
  const double *c = part + FORMS * f, *s = c + FORMS * f;
  out.C[0] = sum;
  out.S[0] = 0;
  for (int k = 1; k <= harmonics; k++) {
    out.C[k] = M_SQRT1_2 * part[2 * k];
    out.S[k] = -M_SQRT1_2 * part[2 * k - 1];
    out.C[harmonics + k] = M_SQRT1_2 * (c[2 * k] + s[2 * k - 1]);
    out.S[harmonics + k] = M_SQRT1_2 * (s[2 * k] - c[2 * k - 1]);
  }
}

/* Computes from the spectrum of F the integrals of F cos k cos l, F cos k sin l, F sin k cos l and F sin k sin l, where
 * cos k stands for cos 2 pi k t and sin k for sin 2 pi k t. */
static void products(spectrum of, int k, int l, double *out) {
  const int apart = k > l ? k - l : l - k;
  const double C = of.C[apart], S = k > l ? of.S[apart] : -of.S[apart], D = of.C[k + l], T = of.S[k + l];
  out[0] = (C + D) / 2;
  out[1] = (T - S) / 2;
  out[2] = (T + S) / 2;
  out[3] = (C - D) / 2;
}

/* Adds a block of H for the functions sqrt 2 cos(k)/(2 pi k) and sqrt 2 sin(k)/(2 pi k), with the rates -sqrt 2 sin(k)
 * and sqrt 2 cos(k), where cos(k) is cos 2 pi k t. The constant is a cosine without a rate. */
static void fill_waves(int harmonics, const spectrum *at, int stride, double *H) {
  for (int k = 0; k <= harmonics; k++)
    for (int l = 0; l <= harmonics; l++) {
      const double p = k ? M_SQRT2 / (2 * M_PI * k) : 1, q = l ? M_SQRT2 / (2 * M_PI * l) : 1;
      const double x = k ? M_SQRT2 : 0, y = l ? M_SQRT2 : 0;
      double rr[4], rv[4], vr[4], vv[4], *to = H + (k ? 2 * k - 1 : 0) * stride + (l ? 2 * l - 1 : 0);
      products(at[0], k, l, rr);
      products(at[1], k, l, rv);
      products(at[2], k, l, vr);
      products(at[3], k, l, vv);
      to[0] += p * q * rr[0] - p * y * rv[1] - x * q * vr[2] + x * y * vv[3];
      if (l) to[1] += p * q * rr[1] + p * y * rv[0] - x * q * vr[3] - x * y * vv[2];
      if (k) to[stride] += p * q * rr[2] - p * y * rv[3] + x * q * vr[0] - x * y * vv[1];
      if (k && l) to[stride + 1] += p * q * rr[3] + p * y * rv[2] + x * q * vr[1] + x * y * vv[0];
    }
}

/* Adds the block of H for one pair of shape variables in a basis of Fourier's functions. The product of two waves is a
 * sum of waves with the sum and the difference of their harmonics. */
static void block_of_waves(cb_variation *v, double *form, double *H) {
  const cb_basis *s = v->basis;
  const int f = s->functions, maximum = s->harmonics;
  double sum[FORMS] = {0}, *part = v->work->x, *wave = v->work->y;
  spectrum at[FORMS];
  for (int q = 0; q < s->nodes; q++) {
    const double c = M_SQRT1_2 * s->rate[q * f + 2 * maximum], d = -M_SQRT1_2 * s->rate[q * f + 2 * maximum - 1];
    double *x = form + q * FORM;
    for (int k = 0; k < FORMS; k++) {
      sum[k] += x[k];
      x[FORMS + k] = c * x[k];
      x[2 * FORMS + k] = d * x[k];
    }
  }
  memset(part, 0, (size_t)(FORM * f) * sizeof *part);
  cb_outer_add(s->nodes, FORM, form, f, s->rate, part, f);
  for (int k = 0; k < FORMS; k++) {
    at[k] = (spectrum){wave + 2 * k * f, wave + (2 * k + 1) * f};
    spread(maximum, sum[k], part + k * f, at[k]);
  }
  fill_waves(maximum, at, v->unknowns, H);
}

/* --- the complete Hessian --- */

cb_status cb_variation_hessian(cb_variation *v, double mu, const double *Lambda, const double *W, double *H) {
  const int n = v->n, dim = v->dim, f = v->basis->functions, u = v->unknowns;
  const double share = v->effort ? 0 : mu; /* the cost of torques is added at the end */
  double *form = v->work->form;
  if (v->effort && v->effort->momentum) return cb_effort_hessian(v, mu, Lambda, W, H);
  for (int q = 0; q < v->basis->nodes; q++) {
    double lambda[CB_GROUP_DIM] = {0};
    for (int a = 0; a < dim; a++)
      for (int b = 0; b < dim; b++) lambda[b] += Lambda[a] * v->work->Ad[(q * dim + a) * dim + b];
    const cb_status status = local_form(v, q, share * pieces_weight(v, piece_of(v, q)), lambda);
    if (status) return status;
  }
  memset(H, 0, (size_t)u * (size_t)u * sizeof *H);
  const int rows = brackets(v, Lambda, W);
  cb_outer_add(rows, u, v->work->left, u, v->work->right, H, u);
  for (int i = 0; i < u; i++)
    for (int j = 0; j <= i; j++) H[j * u + i] += H[i * u + j];
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++, form += v->basis->nodes * FORM) {
      if (v->basis->harmonics)
        block_of_waves(v, form, H + i * f * u + j * f);
      else
        block(v, form, H + i * f * u + j * f);
    }
  for (int i = 0; i < u; i++)
    for (int j = 0; j < i; j++) H[i * u + j] = H[j * u + i];
  pieces_second_variation(v, share, H);
  return v->effort ? cb_effort_add_hessian(v, mu, H) : CB_OK;
}
