/* Plane chains: the form and the connection of chain.h in doubles and on jets, second derivatives, the effect of a
 * strain of the fluid, and the plot. */
#include "bundle/chain.h"

#include "bundle/bundle_private.h"

#include <math.h>
#include <string.h>

/* The form G of a plane chain and the quantities that its reduction and the second derivatives need.
 *
 * All quantities are in the frame of the base, with its middle as the origin. Each hinge is a shape variable. For a
 * hinge h of one side of the base, where "beyond" means farther from the base:
 *   S_h  twist of hinge h;   C_h = sum of the tensors D of the links beyond it;   Q_h = C_h S_h: column h of Q
 *   P = D_base + C of the innermost hinge of each side,  R_hk = S_h.Q_k, k = h or beyond h;   0 if h and k are on
 *   different sides
 * A change of r_a rotates all links beyond hinge a together. A quantity X of these links changes by L_a X; for a
 * covector q, L_a q = -ad_a^T q, ad_a the bracket with S_a:
 *   d_a P = K_a = L_a C_a
 *   d_a Q_h = L_a Q_h, or K_a S_h where a is beyond h; 0 where a and h are on different sides
 *   d_a R_hk = S_h.d_a Q_k where a is beyond h, else 0
 * d_a: derivative by r_a; P, Q, R: blocks of G (chain.h).
 */

enum { HINGES = CB_CHAIN_LINKS - 1 };

/* The compiler makes two versions of the functions below. One has the constants n = 2 and base = 1, for three links
 * with the middle one as the base; it is faster, because its loops have constant lengths. The other one is for all
 * other chains. */
#define INLINE static inline __attribute__((always_inline))

typedef double columns_of_hinges[3][HINGES]; /* rows: x, y, theta */

typedef struct chain_form {
  int n, base;
  double S[HINGES][3], C[HINGES][3][3], Q[HINGES][3];
  double P[3][3], inverse[3][3]; /* inverse: P^-1 */
  columns_of_hinges A;
  /* set only if derivatives are requested */
  double K[HINGES][3][3];
  columns_of_hinges dQ[HINGES], E[HINGES]; /* E_a = d_a Q - d_a P A */
} chain_form;

INLINE bool are_on_one_side(const chain_form *f, int h, int k) { return (h >= f->base) == (k >= f->base); }
/* The hinges on the side of hinge h are first .. end - 1. */
INLINE int first_on_side(const chain_form *f, int h) { return h >= f->base ? f->base : 0; }
INLINE int end_of_side(const chain_form *f, int h) { return h >= f->base ? f->n : f->base; }
/* Returns whether hinge k is beyond hinge h. Both must be on the same side of the base. */
INLINE bool is_beyond(const chain_form *f, int k, int h) { return h >= f->base ? k > h : k < h; }

INLINE double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Computes out = -ad_S^T q for the twist S and a covector q. */
INLINE void turn(const double *S, const double *q, double *out) {
  const double x = q[0], y = q[1];
  out[0] = -S[2] * y;
  out[1] = S[2] * x;
  out[2] = S[0] * y - S[1] * x;
}

/* Computes out = X + X^T, X = -ad_S^T C, for the twist S and a symmetric tensor C. */
INLINE void turn_tensor(const double *S, const double (*C)[3], double (*out)[3]) {
  double X[3][3];
  for (int i = 0; i < 3; i++) turn(S, C[i], X[i]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[i][j] = X[i][j] + X[j][i];
}

INLINE void times(const double (*C)[3], const double *S, double *out) {
  for (int i = 0; i < 3; i++) out[i] = dot(C[i], S);
}

const char *const cb_chain_names[CB_CHAIN_LINKS - 1] = {"alpha1", "alpha2", "alpha3", "alpha4",  "alpha5", "alpha6",
                                                        "alpha7", "alpha8", "alpha9", "alpha10", "alpha11"};

cb_status cb_chain_shape(cb_chain *c, int links, double total, const cb_node *shares, int base) {
  double length[CB_CHAIN_LINKS], sum = 0;
  if (links < 2 || links > CB_CHAIN_LINKS)
    return cb_fail(CB_ERROR_ARGUMENT, "links: %d: expected 2 to %d", links, CB_CHAIN_LINKS);
  if (base < 0 || base > links) return cb_fail(CB_ERROR_ARGUMENT, "base: %d: expected 0 to %d", base, links);
  for (int k = 0; k < links; k++) length[k] = 1;
  const cb_status status = shares ? cb_node_reals(shares, (size_t)links, length) : CB_OK;
  if (status) return status;
  for (int k = 0; k < links; k++) {
    if (!(length[k] > 0)) return cb_fail(CB_ERROR_ARGUMENT, "shares: %.6g: expected > 0", length[k]);
    sum += length[k];
  }
  for (int k = 0; k < links; k++) c->length[k] = total * (length[k] / sum);
  c->links = links;
  c->base = base ? base - 1 : (links - 1) / 2;
  return CB_OK;
}

/* Computes S, C and Q of the hinges of one side of the base. sign is +1 for the side after the base, and -1 for the
 * side before it. */
INLINE void sum_side(const cb_chain *c, const double *r, int sign, chain_form *f) {
  const int base = f->base, inner = sign > 0 ? base : base - 1, links = sign > 0 ? f->n - base : base;
  /* x, y: position of the hinge; angle: heading of the link */
  double x = 0.5 * sign * c->length[base], y = 0, angle = 0;
  for (int k = 0, h = inner; k < links; k++, h += sign) {
    const int link = base + sign * (k + 1);
    angle += sign * r[h];
    const double cs = cos(angle), sn = sin(angle), half = 0.5 * sign * c->length[link], *D = c->D[link];
    f->S[h][0] = sign * y;
    f->S[h][1] = -sign * x;
    f->S[h][2] = sign;
    x += half * cs;
    y += half * sn;
    const double xx = D[0] * cs * cs + D[1] * sn * sn, xy = (D[0] - D[1]) * cs * sn;
    const double yy = D[0] * sn * sn + D[1] * cs * cs, xt = x * xy - y * xx, yt = x * yy - y * xy;
    double(*const C)[3] = f->C[h];
    C[0][0] = xx;
    C[1][1] = yy;
    C[2][2] = D[2] + x * yt - y * xt;
    C[0][1] = C[1][0] = xy;
    C[0][2] = C[2][0] = xt;
    C[1][2] = C[2][1] = yt;
    x += half * cs;
    y += half * sn;
  }
  for (int k = links - 1, h = inner + sign * k; k >= 0; k--, h -= sign) {
    for (int i = 0; i < 3 && k < links - 1; i++)
      for (int j = 0; j < 3; j++) f->C[h][i][j] += f->C[h + sign][i][j];
    times((const double(*)[3])f->C[h], f->S[h], f->Q[h]);
  }
}

/* Inverts a symmetric matrix by cofactors. Returns false if it is not positive definite to round-off. */
INLINE bool invert(double P[3][3], double inv[3][3]) {
  const double c00 = P[1][1] * P[2][2] - P[2][1] * P[2][1], c10 = P[2][0] * P[2][1] - P[1][0] * P[2][2];
  const double c20 = P[1][0] * P[2][1] - P[1][1] * P[2][0], det = P[0][0] * c00 + P[1][0] * c10 + P[2][0] * c20;
  const double minor = P[0][0] * P[1][1] - P[1][0] * P[1][0];
  if (!(P[0][0] > 0 && minor > 1e-15 * P[0][0] * P[1][1] && det > 1e-15 * minor * P[2][2])) return false;
  const double over = 1 / det;
  inv[0][0] = c00 * over;
  inv[0][1] = inv[1][0] = c10 * over;
  inv[0][2] = inv[2][0] = c20 * over;
  inv[1][1] = (P[0][0] * P[2][2] - P[2][0] * P[2][0]) * over;
  inv[1][2] = inv[2][1] = (P[1][0] * P[2][0] - P[0][0] * P[2][1]) * over;
  inv[2][2] = minor * over;
  return true;
}

INLINE void add_derivatives(chain_form *f) {
  const int n = f->n;
  for (int a = 0; a < n; a++) {
    turn_tensor(f->S[a], (const double(*)[3])f->C[a], f->K[a]);
    for (int i = 0; i < 3; i++)
      for (int h = 0; h < n; h++) f->dQ[a][i][h] = 0;
    for (int h = first_on_side(f, a); h < end_of_side(f, a); h++) {
      double q[3];
      if (is_beyond(f, a, h))
        times((const double(*)[3])f->K[a], f->S[h], q);
      else
        turn(f->S[a], f->Q[h], q);
      for (int i = 0; i < 3; i++) f->dQ[a][i][h] = q[i];
    }
  }
}

/* Computes P, Q and S of the form of n hinges at a shape, where b is the base. With `derivatives`, also computes K and
 * dQ. */
INLINE void form_at(const cb_chain *c, int n, int b, const double *r, bool derivatives, chain_form *f) {
  f->n = n;
  f->base = b;
  double(*const P)[3] = f->P;
  sum_side(c, r, 1, f);
  sum_side(c, r, -1, f);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      P[i][j] = (i == j ? c->D[b][i] : 0) + ((b < n ? f->C[b][i][j] : 0) + (b > 0 ? f->C[b - 1][i][j] : 0));
  if (derivatives) add_derivatives(f);
}

/* Computes the form at a shape and reduces it: in addition to form_at, computes P^-1, A and, with `derivatives`, E.
 * Returns CB_STEP_SINGULAR if P is not positive definite. */
INLINE cb_status reduce_at(const cb_chain *c, int n, int b, const double *r, bool derivatives, chain_form *f) {
  form_at(c, n, b, r, derivatives, f);
  if (!invert(f->P, f->inverse))
    return cb_fail(
        CB_STEP_SINGULAR,
        "the tensor P of the locked chain is not positive definite: expected positive drag or mass on every link");
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < n; j++) f->A[i][j] = dot(f->inverse[i], f->Q[j]);
  for (int a = 0; derivatives && a < n; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < n; j++)
        f->E[a][i][j] =
            f->dQ[a][i][j] - (f->K[a][i][0] * f->A[0][j] + f->K[a][i][1] * f->A[1][j] + f->K[a][i][2] * f->A[2][j]);
  return CB_OK;
}

INLINE double entry_of_R(const chain_form *f, int i, int j) {
  if (!are_on_one_side(f, i, j)) return 0;
  return is_beyond(f, i, j) ? dot(f->S[j], f->Q[i]) : dot(f->S[i], f->Q[j]);
}

INLINE void write_metric(const chain_form *f, double *M) {
  const int n = f->n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double R = entry_of_R(f, i, j);
      for (int k = 0; k < 3; k++) R -= f->Q[i][k] * f->A[k][j];
      M[i * n + j] = M[j * n + i] = R;
    }
}

/* Returns the derivative of R_ij by r_a. */
INLINE double slope_of_R(const chain_form *f, int a, int i, int j) {
  if (!are_on_one_side(f, i, j)) return 0;
  const int h = is_beyond(f, i, j) ? j : i, k = i + j - h;
  if (!are_on_one_side(f, a, h) || !is_beyond(f, a, h)) return 0;
  const double(*dQ)[HINGES] = f->dQ[a], *S = f->S[h];
  return S[0] * dQ[0][k] + S[1] * dQ[1][k] + S[2] * dQ[2][k];
}

/* Computes dM[n][n], the derivative of M by r_a. */
INLINE void write_slope(const chain_form *f, int a, double *dM) {
  const int n = f->n;
  const double(*dQ)[HINGES] = f->dQ[a], (*E)[HINGES] = f->E[a];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double R = slope_of_R(f, a, i, j);
      for (int k = 0; k < 3; k++) R -= dQ[k][i] * f->A[k][j] + f->A[k][i] * E[k][j];
      dM[i * n + j] = dM[j * n + i] = R;
    }
}

/* Writes the blocks P and Q, and zeros for the block R, into the form G[3 + n][3 + n]. Row k of column h of the block Q
 * is read from Q[k step + h next]. */
INLINE void write_blocks(int n, const double (*P)[3], const double *Q, int step, int next, double *G) {
  const int N = 3 + n;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) G[i * N + j] = P[i][j];
    for (int h = 0; h < n; h++) G[i * N + 3 + h] = G[(3 + h) * N + i] = Q[i * step + h * next];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) G[(3 + i) * N + 3 + j] = 0;
}

INLINE cb_status form_of(const cb_chain *c, int n, int b, const double *r, double *G, double *dG) {
  chain_form f;
  form_at(c, n, b, r, dG != NULL, &f);
  const int N = 3 + n;
  write_blocks(n, (const double(*)[3])f.P, f.Q[0], 1, 3, G);
  for (int i = 0; i < n; i++)
    for (int j = first_on_side(&f, i); j <= i; j++)
      G[(3 + i) * N + 3 + j] = G[(3 + j) * N + 3 + i] = entry_of_R(&f, i, j);
  for (int a = 0; dG && a < n; a++) {
    double *d = dG + a * N * N;
    write_blocks(n, (const double(*)[3])f.K[a], f.dQ[a][0], HINGES, 1, d);
    for (int i = first_on_side(&f, a); i < end_of_side(&f, a); i++)
      for (int j = first_on_side(&f, a); j <= i; j++)
        d[(3 + i) * N + 3 + j] = d[(3 + j) * N + 3 + i] = slope_of_R(&f, a, i, j);
  }
  return CB_OK;
}

cb_status cb_chain_form(const cb_chain *c, const double *r, double *G, double *dG) {
  return c->links == 3 && c->base == 1 ? form_of(c, 2, 1, r, G, dG) : form_of(c, c->links - 1, c->base, r, G, dG);
}

INLINE cb_status connection_of(const cb_chain *c, int n, int b, const double *r, double *A, double *dA, double *M,
                               double *dM) {
  chain_form f;
  const cb_status status = reduce_at(c, n, b, r, dA || dM, &f);
  if (status) return status;
  for (int i = 0; A && i < 3; i++)
    for (int j = 0; j < n; j++) A[i * n + j] = f.A[i][j];
  if (M) write_metric(&f, M);
  for (int a = 0; dA && a < n; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < n; j++)
        dA[(a * 3 + i) * n + j] =
            f.inverse[i][0] * f.E[a][0][j] + f.inverse[i][1] * f.E[a][1][j] + f.inverse[i][2] * f.E[a][2][j];
  for (int a = 0; dM && a < n; a++) write_slope(&f, a, dM + a * n * n);
  return CB_OK;
}

cb_status cb_chain_connection(const cb_chain *c, const double *r, double *A, double *dA, double *M, double *dM) {
  return c->links == 3 && c->base == 1 ? connection_of(c, 2, 1, r, A, dA, M, dM)
                                       : connection_of(c, c->links - 1, c->base, r, A, dA, M, dM);
}

/* --- a strain of the fluid --- */

/* Adds to F the drag of the links on one side of the base, at rest in each of the strains of cb_bundle_class.strain.
 * The positions of the links are computed as in sum_side.
 */
static void strain_side(const cb_chain *c, const double *r, int sign, double *F) {
  double x[3] = {0.5 * sign * c->length[c->base]}, angle = 0;
  for (int link = c->base + sign; link >= 0 && link < c->links; link += sign) {
    angle += sign * r[sign > 0 ? link - 1 : link];
    const double cs = cos(angle), sn = sin(angle), half = 0.5 * sign * c->length[link], *D = c->D[link];
    double R[3][3] = {{cs, -sn, 0}, {sn, cs, 0}, {0, 0, 1}};
    x[0] += half * cs;
    x[1] += half * sn;
    cb_bundle_strained(CB_STRAINS, (const double[6]){0, 0, D[2], D[0], D[1], D[1]}, R, x, F);
    x[0] += half * cs;
    x[1] += half * sn;
  }
}

cb_status cb_chain_strain(const cb_chain *c, const double *r, double *S) {
  const double *D = c->D[c->base];
  double F[6 * CB_STRAINS] = {0}, R[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  chain_form f;
  const cb_status status = reduce_at(c, c->links - 1, c->base, r, false, &f);
  if (status) return status;
  cb_bundle_strained(CB_STRAINS, (const double[6]){0, 0, D[2], D[0], D[1], D[1]}, R, (const double[3]){0}, F);
  strain_side(c, r, 1, F);
  strain_side(c, r, -1, F);
  for (int a = 0; a < 3; a++)
    for (int k = 0; k < CB_STRAINS; k++) {
      const double drag[3] = {F[3 * CB_STRAINS + k], F[4 * CB_STRAINS + k], F[2 * CB_STRAINS + k]};
      S[a * CB_STRAINS + k] = dot(f.inverse[a], drag);
    }
  return CB_OK;
}

/* --- the equations of chain.h on jets --- */

enum { COLUMNS = 3 + HINGES };

/* Adds the product s b c to *a. */
static void add_product(cb_jet *a, double s, const cb_jet *b, const cb_jet *c) {
  const cb_jet product = cb_jet_mul(b, c), more = cb_jet_scale(&product, s);
  *a = cb_jet_add(a, &more);
}

typedef struct work {
  cb_jet u[3][COLUMNS], G[COLUMNS][COLUMNS], inv[3][3], A[3][HINGES];
} work;

/* Transforms the velocities u of the columns to the link beyond a hinge. `before` and `after` are the distances from
 * the hinge to the middles of the two links, with the sign of the side. */
static void cross_hinge(cb_jet u[3][COLUMNS], int columns, const cb_jet *angle, double before, double after, int sign) {
  const cb_jet cs = cb_jet_cos(angle), sine = cb_jet_sin(angle), sn = cb_jet_scale(&sine, sign);
  for (int i = 0; i < columns; i++) {
    const cb_jet x = u[0][i], at = cb_jet_scale(&u[2][i], before), y = cb_jet_add(&u[1][i], &at);
    u[0][i] = cb_jet_mul(&cs, &x);
    add_product(&u[0][i], 1, &sn, &y);
    u[1][i] = cb_jet_mul(&cs, &y);
    add_product(&u[1][i], -1, &sn, &x);
    const cb_jet beyond = cb_jet_scale(&u[2][i], after);
    u[1][i] = cb_jet_add(&u[1][i], &beyond);
  }
}

static void sum_link(const cb_chain *c, int k, const cb_jet u[3][COLUMNS], int columns, const int *column,
                     cb_jet G[COLUMNS][COLUMNS]) {
  for (int i = 0; i < columns; i++)
    for (int j = 0; j <= i; j++)
      for (int d = 0; d < 3; d++) add_product(&G[column[i]][column[j]], c->D[k][d], &u[d][i], &u[d][j]);
}

cb_status cb_chain_on_jets(const cb_chain *c, const cb_jet *r, cb_jet *A, cb_jet *M) {
  const int n = c->links - 1, b = c->base, jets = r->n;
  work w;
  for (int i = 0; i < 3 + n; i++)
    for (int j = 0; j < 3 + n; j++) w.G[i][j] = cb_jet_constant(jets, 0);
  for (int sign = 1; sign >= -1; sign -= 2) {
    int column[COLUMNS] = {0, 1, 2}, columns = 3;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) w.u[i][j] = cb_jet_constant(jets, i == j);
    if (sign > 0) sum_link(c, b, w.u, 3, column, w.G);
    for (int k = b + sign; k >= 0 && k < c->links; k += sign) {
      const int hinge = sign > 0 ? k - 1 : k;
      const double before = 0.5 * sign * c->length[k - sign], after = 0.5 * sign * c->length[k];
      cross_hinge(w.u, columns, &r[hinge], before, after, sign);
      w.u[0][columns] = cb_jet_constant(jets, 0);
      w.u[1][columns] = cb_jet_constant(jets, after * sign);
      w.u[2][columns] = cb_jet_constant(jets, sign);
      column[columns++] = 3 + hinge;
      sum_link(c, k, w.u, columns, column, w.G);
    }
  }
  /* A = P^-1 Q by cofactors, where Q is in the lower triangle of G. On the side before the base, the numbers in
   * column[] decrease. R of this side is therefore in the upper triangle, and R of the other side in the lower
   * triangle. */
  cb_jet(*const G)[COLUMNS] = w.G;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) G[j][i] = G[i][j];
  cb_jet det = cb_jet_constant(jets, 0);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const int p = (i + 1) % 3, q = (i + 2) % 3, s = (j + 1) % 3, t = (j + 2) % 3;
      w.inv[i][j] = cb_jet_mul(&G[p][s], &G[q][t]);
      add_product(&w.inv[i][j], -1, &G[p][t], &G[q][s]);
      if (i == 0) add_product(&det, 1, &G[0][j], &w.inv[0][j]);
    }
  if (!(G[0][0].v > 0 && w.inv[2][2].v > 1e-15 * G[0][0].v * G[1][1].v && det.v > 1e-15 * w.inv[2][2].v * G[2][2].v))
    return cb_fail(
        CB_STEP_SINGULAR,
        "the tensor P of the locked chain is not positive definite: expected positive drag or mass on every link");
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < n; j++) {
      cb_jet sum = cb_jet_constant(jets, 0);
      for (int k = 0; k < 3; k++) add_product(&sum, 1, &w.inv[i][k], &G[3 + j][k]);
      w.A[i][j] = cb_jet_div(&sum, &det);
      if (A) A[i * n + j] = w.A[i][j];
    }
  for (int i = 0; M && i < n; i++)
    for (int j = 0; j <= i; j++) {
      const bool same = (i >= b) == (j >= b);
      cb_jet value = !same ? cb_jet_constant(jets, 0) : i >= b ? G[3 + i][3 + j] : G[3 + j][3 + i];
      for (int k = 0; k < 3; k++) add_product(&value, -1, &G[3 + i][k], &w.A[k][j]);
      M[i * n + j] = M[j * n + i] = value;
    }
  return CB_OK;
}

/* Second derivatives of the connection and the metric of a plane chain, with the symbols at the top of this file.
 *
 * For a and b on one side, b = a or beyond a, with d_ab = d_a d_b:
 *   d_ab P = W = L_a K_b
 *   d_ab Q_h = L_a L_b Q_h (b not beyond h);  L_a (K_b S_h) (b beyond h, a not);  W S_h (both beyond h)
 *   d_ab R_hk = S_h.d_ab Q_k where a is beyond h, k = h or beyond h; else 0
 * All of these are 0 if a and b are on different sides. In both cases, with D_a = d_a A = P^-1 E_a:
 *   F = d_ab Q - d_ab P A;   d_ab A = P^-1 (F - K_a D_b - K_b D_a)
 *   d_ab M = d_ab R - (d_ab Q)^T A - A^T F - E_a^T D_b - D_b^T E_a
 * Each of the n (n + 1)/2 pairs a, b needs 9 n products for F, 18 n + 9 n for A, and 12 n (n + 1)/2 for M; pairs on
 * different sides need half to two thirds of that. For ten links these are 4e4 operations.
 */

/* Computes W = d_ab P and ddQ = d_ab Q, where a and b are on one side and b = a or b is beyond a. */
static void turn_twice(const chain_form *f, int a, int b, double W[3][3], columns_of_hinges ddQ) {
  const int sign = a >= f->base ? 1 : -1, first = sign > 0 ? f->base : 0, end = sign > 0 ? f->n : f->base;
  const double(*K)[3] = (const double(*)[3])f->K[b];
  for (int i = 0; i < 3; i++) memset(ddQ[i], 0, (size_t)f->n * sizeof(double));
  turn_tensor(f->S[a], K, W);
  for (int h = first; h < end; h++) {
    double q[3];
    if (is_beyond(f, a, h)) {
      times((const double(*)[3])W, f->S[h], q);
    } else {
      if (is_beyond(f, b, h))
        times(K, f->S[h], q);
      else
        turn(f->S[b], f->Q[h], q);
      turn(f->S[a], q, q);
    }
    for (int i = 0; i < 3; i++) ddQ[i][h] = q[i];
  }
}

static void write_connection_second(const chain_form *f, const columns_of_hinges *D, int a, int b,
                                    const double (*F)[HINGES], double *out) {
  const int n = f->n;
  columns_of_hinges right;
  for (int i = 0; i < 3; i++) {
    const double *p = f->K[a][i], *q = f->K[b][i];
    for (int j = 0; j < n; j++)
      right[i][j] = (F ? F[i][j] : 0) - (p[0] * D[b][0][j] + p[1] * D[b][1][j] + p[2] * D[b][2][j]) -
                    (q[0] * D[a][0][j] + q[1] * D[a][1][j] + q[2] * D[a][2][j]);
  }
  for (int i = 0; i < 3; i++) {
    const double *p = f->inverse[i];
    for (int j = 0; j < n; j++) out[i * n + j] = p[0] * right[0][j] + p[1] * right[1][j] + p[2] * right[2][j];
  }
}

/* Adds the lower triangle of -(X^T Y + Z^T V) to out, by rows. */
static void take_products(int n, const double (*X)[HINGES], const double (*Y)[HINGES], const double (*Z)[HINGES],
                          const double (*V)[HINGES], double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      out[i * n + j] -= X[0][i] * Y[0][j] + X[1][i] * Y[1][j] + X[2][i] * Y[2][j] + Z[0][i] * V[0][j] +
                        Z[1][i] * V[1][j] + Z[2][i] * V[2][j];
}

static void write_metric_second(const chain_form *f, const columns_of_hinges *D, int a, int b,
                                const double (*ddQ)[HINGES], const double (*F)[HINGES], double *out) {
  const int n = f->n;
  const double(*E)[HINGES] = f->E[a], (*Db)[HINGES] = D[b];
  for (int i = 0; i < n; i++) memset(out + i * n, 0, (size_t)(i + 1) * sizeof *out);
  if (F) {
    const bool right = a >= f->base;
    for (int i = right ? f->base : 0; i < (right ? f->n : f->base); i++)
      for (int j = right ? f->base : 0; j <= i; j++) {
        const int h = right ? j : i, k = i + j - h; /* h: the hinge that is nearer to the base */
        if (!is_beyond(f, a, h)) continue;
        for (int d = 0; d < 3; d++) out[i * n + j] += f->S[h][d] * ddQ[d][k];
      }
    take_products(n, ddQ, f->A, f->A, F, out);
  }
  take_products(n, E, Db, Db, E, out);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) out[j * n + i] = out[i * n + j];
}

cb_status cb_chain_second(const cb_chain *c, const double *r, double *ddA, double *ddM) {
  chain_form f;
  const cb_status status = reduce_at(c, c->links - 1, c->base, r, true, &f);
  if (status) return status;
  const int n = f.n;
  columns_of_hinges D[HINGES], ddQ, F;
  for (int a = 0; a < n; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < n; j++)
        D[a][i][j] = f.inverse[i][0] * f.E[a][0][j] + f.inverse[i][1] * f.E[a][1][j] + f.inverse[i][2] * f.E[a][2][j];
  for (int k = 0; k < n; k++)
    for (int l = 0; l <= k; l++) {
      const bool same = are_on_one_side(&f, k, l);
      const int a = k >= f.base ? l : k, b = k + l - a; /* a: the hinge that is nearer to the base */
      if (same) {
        double W[3][3];
        turn_twice(&f, a, b, W, ddQ);
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < n; j++)
            F[i][j] = ddQ[i][j] - (W[i][0] * f.A[0][j] + W[i][1] * f.A[1][j] + W[i][2] * f.A[2][j]);
      }
      const int at = k * n + l, mirrored = l * n + k;
      if (ddA) {
        write_connection_second(&f, D, a, b, same ? F : NULL, ddA + at * 3 * n);
        if (k != l) memcpy(ddA + mirrored * 3 * n, ddA + at * 3 * n, (size_t)(3 * n) * sizeof *ddA);
      }
      if (ddM) {
        write_metric_second(&f, D, a, b, ddQ, same ? F : NULL, ddM + at * n * n);
        if (k != l) memcpy(ddM + mirrored * n * n, ddM + at * n * n, (size_t)(n * n) * sizeof *ddM);
      }
    }
  return CB_OK;
}

/* --- the plot: ends and hinges in the plane, in order, and one line per link --- */

const int cb_chain_lines[CB_CHAIN_LINKS][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4},  {4, 5},   {5, 6},
                                               {6, 7}, {7, 8}, {8, 9}, {9, 10}, {10, 11}, {11, 12}};

static void put(double x, double y, double *out) {
  out[0] = x;
  out[1] = y;
  out[2] = 0;
}

void cb_chain_plot(const cb_chain *c, const double *r, const double *g, double (*x)[3]) {
  const int base = c->base;
  const double half = c->length[base] / 2, ux = half * cos(g[2]), uy = half * sin(g[2]);
  put(g[0] - ux, g[1] - uy, x[base]);
  put(g[0] + ux, g[1] + uy, x[base + 1]);
  double heading = g[2];
  for (int k = base + 1; k < c->links; k++) {
    heading += r[k - 1];
    put(x[k][0] + c->length[k] * cos(heading), x[k][1] + c->length[k] * sin(heading), x[k + 1]);
  }
  heading = g[2];
  for (int k = base - 1; k >= 0; k--) {
    heading -= r[k];
    put(x[k + 1][0] - c->length[k] * cos(heading), x[k + 1][1] - c->length[k] * sin(heading), x[k]);
  }
}
