/* Minimum-perturbation coordinates: the frame field h(r) = exp(w(r)), the connection in it, and Newton's method for the
 * h that minimises the integral of |A'|^2.
 *
 *   A'_i = Ad_h^-1 A_i - theta_i,   theta_i = h^-1 d_i h = J d_i w,   J = dexp_-w = sum (-ad_w)^k/(k+1)!
 *   d_j A'_i = Ad_h^-1 d_j A_i - [theta_j, Ad_h^-1 A_i] - d_j theta_i
 *   xi = Ad_h (xi' - theta r'):  G' = T^T G T,  T = ((Ad_h, -Ad_h theta), (0, 1))
 * A_i: column of the connection for shape variable r_i; d_i: derivative by r_i; xi: body velocity; G: form of the
 * bundle; A', xi', G': connection, body velocity and form in the new frame; 1: the unit matrix. w is a polynomial, so
 * that A' and dA' come from the same smooth field h, to round-off, for any degree of w. Holonomies in the new
 * coordinates are conjugate to those of the given bundle by h(r(0)).
 *
 *   F(w) = mean of sum_i L_i^2 |A'_i|^2 over the window;   L_i: width of the window in r_i
 * A change h -> h exp(eta), eta = J dw, changes A' to
 *   A'_i - D_i eta + [eta, D_i eta]/2 + ...,   D_i eta = d_i eta + [eta, A'_i]
 *   F = int sum L_i^2 (|A'_i|^2 - 2 <A'_i, D_i eta> + |D_i eta|^2 + <A'_i, [eta, D_i eta]>)
 * On R^n the problem is linear, and the minimum is A without its gradient part (Hodge & Helmholtz). The search omits
 * the last term (Gauss & Newton), and includes it after a step that reduces F by less than 10 %. A step is shortened
 * (Levenberg & Marquardt) until F does not increase by more than round-off. The nodes of the integral are Gauss's in
 * each variable. A constant change of frame is not included: it only rotates A', and its translation would be
 * undetermined if A' has almost no rotation.
 * Source: Hatton & Choset, Int. J. Robotics Research 30 (2011) 988, doi:10.1177/0278364910394392.
 */
#include "bundle/coordinates.h"

#include "bundle/bundle_private.h"
#include "numerics/small.h"

#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the frame field h(r) = exp(w(r)), and the connection in it --- */

enum {
  CB_FRAME_VARIABLES = 3,
  CB_FRAME_DEGREE = 24,
  CB_FRAME_TERMS = 96,
  CB_FRAME_PAIRS = CB_FRAME_VARIABLES * (CB_FRAME_VARIABLES + 1) / 2
};

/* The bundle in the frame h = exp(w), with w_a(r) = sum_k coefficient[k][a] prod_i P_degree[k][i](x_i). P: Legendre's
 * polynomials; x = (2 r - low - high)/(high - low). */
typedef struct cb_frame {
  cb_bundle_class class;
  const cb_bundle *inner;
  double low[CB_FRAME_VARIABLES], high[CB_FRAME_VARIABLES];
  int terms, degree[CB_FRAME_TERMS][CB_FRAME_VARIABLES];
  double coefficient[CB_FRAME_TERMS][CB_GROUP_DIM];
} cb_frame;

/* The value of each term of w, and its first and second derivatives in r (packed as in cb_jet). */
typedef struct cb_frame_basis {
  double value[CB_FRAME_TERMS], d[CB_FRAME_TERMS][CB_FRAME_VARIABLES], dd[CB_FRAME_TERMS][CB_FRAME_PAIRS];
} cb_frame_basis;

/* The frame field at a shape: w, dw[i] = d_i w, h = exp(w), back = h^-1, theta[i] = h^-1 d_i h, and dtheta[j][i] = d_j
 * theta_i. dtheta is only set if derivatives are requested. */
typedef struct cb_frame_value {
  double w[CB_GROUP_DIM], dw[CB_FRAME_VARIABLES][CB_GROUP_DIM], h[CB_GROUP_SIZE], back[CB_GROUP_SIZE];
  double theta[CB_FRAME_VARIABLES][CB_GROUP_DIM], dtheta[CB_FRAME_VARIABLES][CB_FRAME_VARIABLES][CB_GROUP_DIM];
} cb_frame_value;

enum { SERIES_MAX = 80 };

/* Computes Legendre's polynomials P_0 .. P_degree at x, and their first and second derivatives d and dd. */
static void legendre(int degree, double x, double *p, double *d, double *dd) {
  p[0] = 1;
  d[0] = dd[0] = 0;
  if (degree > 0) {
    p[1] = x;
    d[1] = 1;
    dd[1] = 0;
  }
  for (int k = 1; k < degree; k++) {
    p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
    d[k + 1] = (2 * k + 1) * p[k] + d[k - 1];
    dd[k + 1] = (2 * k + 1) * d[k] + dd[k - 1];
  }
}

static void frame_basis_at(const cb_frame *f, const double *r, cb_frame_basis *out) {
  const int n = f->inner->n;
  double p[CB_FRAME_VARIABLES][3][CB_FRAME_DEGREE + 1], scale[CB_FRAME_VARIABLES];
  for (int i = 0; i < n; i++) {
    int highest = 0;
    for (int k = 0; k < f->terms; k++) highest = f->degree[k][i] > highest ? f->degree[k][i] : highest;
    scale[i] = 2 / (f->high[i] - f->low[i]);
    legendre(highest, (2 * r[i] - f->low[i] - f->high[i]) / (f->high[i] - f->low[i]), p[i][0], p[i][1], p[i][2]);
  }
  for (int k = 0; k < f->terms; k++) {
    double all = 1;
    for (int i = 0; i < n; i++) all *= p[i][0][f->degree[k][i]];
    out->value[k] = all;
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) {
        double first = scale[i], second = scale[i] * scale[j];
        for (int c = 0; c < n; c++) {
          const int at = f->degree[k][c];
          first *= p[c][c == i][at];
          second *= p[c][(c == i) + (c == j)][at];
        }
        if (j == 0) out->d[k][i] = first;
        out->dd[k][cb_jet_packed(i, j)] = second;
      }
  }
}

/* Computes Ju = J u and dJu[i] = d_i (J u), where J = dexp_-w, so that h^-1 dh = J dw. u[dim] is given with its
 * derivatives du[n][dim] (NULL: 0). dJu is NULL if it is not requested. */
static void frame_dexp(const cb_frame *f, const cb_frame_value *at, const double *u, const double (*du)[CB_GROUP_DIM],
                       double *Ju, double (*dJu)[CB_GROUP_DIM]) {
  const cb_group *G = f->inner->group;
  const int dim = G->dim, n = f->inner->n;
  const size_t row = (size_t)dim * sizeof(double);
  double T[CB_GROUP_DIM] = {0}, S[CB_FRAME_VARIABLES][CB_GROUP_DIM] = {{0}}, one[CB_GROUP_DIM], two[CB_GROUP_DIM];
  memcpy(T, u, row);
  memcpy(Ju, u, row);
  for (int i = 0; dJu && i < n; i++) {
    if (du) memcpy(S[i], du[i], row);
    memcpy(dJu[i], S[i], row);
  }
  if (G->abelian) return;
  double factor = 1;
  /* T is a term of the series, and S_i its derivative by r_i. The next term is -[w, T], with the derivatives -[d_i w,
   * T] - [w, S_i]. The terms are multiplied by 1/(k + 1)!. */
  for (int k = 1; k < SERIES_MAX; k++) {
    double largest = 0;
    factor /= k + 1;
    for (int i = 0; dJu && i < n; i++) {
      G->bracket(G, at->dw[i], T, one);
      G->bracket(G, at->w, S[i], two);
      for (int a = 0; a < dim; a++) {
        S[i][a] = -one[a] - two[a];
        dJu[i][a] += factor * S[i][a];
        largest = fmax(largest, factor * fabs(S[i][a]));
      }
    }
    G->bracket(G, at->w, T, one);
    for (int a = 0; a < dim; a++) {
      T[a] = -one[a];
      Ju[a] += factor * T[a];
      largest = fmax(largest, factor * fabs(T[a]));
    }
    if (largest < 1e-19) break;
  }
}

static void frame_at(const cb_frame *f, const cb_frame_basis *basis, bool derivatives, cb_frame_value *out) {
  const cb_group *G = f->inner->group;
  const int n = f->inner->n, dim = G->dim;
  double ddw[CB_FRAME_PAIRS][CB_GROUP_DIM] = {{0}};
  memset(out->w, 0, sizeof out->w);
  memset(out->dw, 0, sizeof out->dw);
  for (int k = 0; k < f->terms; k++)
    for (int a = 0; a < dim; a++) {
      const double c = f->coefficient[k][a];
      out->w[a] += c * basis->value[k];
      for (int i = 0; i < n; i++) out->dw[i][a] += c * basis->d[k][i];
      for (int q = 0; derivatives && q < n * (n + 1) / 2; q++) ddw[q][a] += c * basis->dd[k][q];
    }
  G->exp(G, out->w, out->h);
  G->inverse(G, out->h, out->back);
  for (int i = 0; i < n; i++) {
    double second[CB_FRAME_VARIABLES][CB_GROUP_DIM], dJ[CB_FRAME_VARIABLES][CB_GROUP_DIM];
    for (int j = 0; j < n; j++) memcpy(second[j], ddw[cb_jet_packed(i, j)], sizeof second[j]);
    frame_dexp(f, out, out->dw[i], (const double(*)[CB_GROUP_DIM])second, out->theta[i], derivatives ? dJ : NULL);
    for (int j = 0; derivatives && j < n; j++) memcpy(out->dtheta[j][i], dJ[j], sizeof dJ[j]);
  }
}

/* Computes A' = Ad_h^-1 A - theta from A[dim][n]. The result is stored by columns, out[n][dim]. */
static void frame_transform(const cb_frame *f, const cb_frame_value *at, const double *A, double (*out)[CB_GROUP_DIM]) {
  const cb_group *G = f->inner->group;
  const int n = f->inner->n, dim = G->dim;
  double Ad[CB_GROUP_DIM * CB_GROUP_DIM];
  G->adjoint(G, at->back, Ad);
  for (int i = 0; i < n; i++)
    for (int a = 0; a < dim; a++) {
      out[i][a] = -at->theta[i][a];
      for (int c = 0; c < dim; c++) out[i][a] += Ad[a * dim + c] * A[c * n + i];
    }
}

/* --- the search for the frame field --- */

enum { STEPS_MAX = 60, TRIALS_MAX = 30 };

typedef struct fit {
  cb_frame *f;
  int nodes, unknowns;
  bool second; /* the last term of F (top of this file) is included */
  double width[CB_FRAME_VARIABLES];
  double *weight, *A;    /* weight: the weight of each node; A: [nodes][dim * n], A at each node */
  cb_frame_basis *basis; /* [nodes]: the terms of w at each node */
  /* H: matrix of Newton's method; L: Cholesky factor of H + D (see `solve`); both as lower triangles
   * [unknowns][unknowns]; right, step: right side and solution of Newton's equations; R, V: the vectors that add_row
   * uses */
  double *H, *L, *right, *step, *R, *V;
} fit;

static cb_status place_nodes(fit *p, const int *count) {
  const cb_bundle *b = p->f->inner;
  const int n = b->n, entries = b->group->dim * n;
  gsl_integration_glfixed_table *table[CB_FRAME_VARIABLES] = {NULL};
  cb_status status = CB_OK;
  for (int i = 0; i < n; i++) {
    table[i] = gsl_integration_glfixed_table_alloc((size_t)count[i]);
    if (!table[i]) status = cb_fail(CB_ERROR_MEMORY, "no memory for coordinates of bundle %s", b->class_->name);
  }
  for (int k = 0; !status && k < p->nodes; k++) {
    double r[CB_FRAME_VARIABLES], weight = 1;
    for (int i = 0, rest = k; i < n; i++) {
      double x, w;
      gsl_integration_glfixed_point(0, 1, (size_t)(rest % count[i]), &x, &w, table[i]);
      rest /= count[i];
      r[i] = p->f->low[i] + x * p->width[i];
      weight *= w;
    }
    p->weight[k] = weight;
    frame_basis_at(p->f, r, &p->basis[k]);
    status = cb_bundle_connection(b, r, p->A + k * entries, NULL, NULL, NULL);
  }
  for (int i = 0; i < n; i++)
    if (table[i]) gsl_integration_glfixed_table_free(table[i]);
  return status;
}

static double functional(const fit *p) {
  const int n = p->f->inner->n, dim = p->f->inner->group->dim;
  double sum = 0;
  for (int k = 0; k < p->nodes; k++) {
    double new[CB_FRAME_VARIABLES][CB_GROUP_DIM];
    cb_frame_value at;
    frame_at(p->f, &p->basis[k], false, &at);
    frame_transform(p->f, &at, p->A + k * dim * n, new);
    for (int i = 0; i < n; i++)
      for (int a = 0; a < dim; a++) sum += p->weight[k] * p->width[i] * p->width[i] * new[i][a] * new[i][a];
  }
  return sum;
}

/* Adds (R V^T + V R^T)/2 to the lower triangle of H, where H, R and V are members of p. */
static void add_row(fit *p) {
  const double *R = p->R, *V = p->V;
  for (int i = 0; i < p->unknowns; i++) {
    double *row = p->H + (size_t)i * (size_t)p->unknowns;
    const double r = R[i] / 2, v = V[i] / 2;
    for (int j = 0; j <= i; j++) row[j] += r * V[j] + v * R[j];
  }
}

/* Adds one node to H and to the right side. The changes of the frame are eta = phi_k J e_a, where phi_k is term k of w,
 * and e_a axis a of the algebra. Then D_i eta = d_i phi_k J e_a + phi_k q_ia with q_ia = d_i(J e_a) + [J e_a, A'_i].
 * The last term of F uses K[c][d] = <A'_i, [e_c, e_d]> and m[a][c] = <A'_i, [J e_a, e_c]>. */
static void add_node(fit *p, int node) {
  const cb_group *G = p->f->inner->group;
  const cb_frame_basis *basis = &p->basis[node];
  const int n = p->f->inner->n, dim = G->dim;
  double new[CB_FRAME_VARIABLES][CB_GROUP_DIM], J[CB_GROUP_DIM][CB_GROUP_DIM];
  double dJ[CB_GROUP_DIM][CB_FRAME_VARIABLES][CB_GROUP_DIM], K[CB_GROUP_DIM][CB_GROUP_DIM], bracket[CB_GROUP_DIM] = {0};
  cb_frame_value at;
  frame_at(p->f, basis, false, &at);
  frame_transform(p->f, &at, p->A + node * dim * n, new);
  for (int a = 0; a < dim; a++) {
    const double unit[CB_GROUP_DIM] = {[0] = 0};
    double e[CB_GROUP_DIM];
    memcpy(e, unit, sizeof e);
    e[a] = 1;
    frame_dexp(p->f, &at, e, NULL, J[a], dJ[a]);
  }
  for (int i = 0; i < n; i++) {
    const double scale = p->width[i] * sqrt(p->weight[node]);
    double q[CB_GROUP_DIM][CB_GROUP_DIM], m[CB_GROUP_DIM][CB_GROUP_DIM] = {{0}};
    for (int c = 0; c < dim; c++)
      for (int d = 0; d < dim; d++) {
        double x[CB_GROUP_DIM] = {0}, y[CB_GROUP_DIM] = {0};
        x[c] = y[d] = 1;
        G->bracket(G, x, y, bracket);
        K[c][d] = 0;
        for (int a = 0; a < dim; a++) K[c][d] += new[i][a] * bracket[a];
      }
    for (int a = 0; a < dim; a++) {
      G->bracket(G, J[a], new[i], bracket);
      for (int c = 0; c < dim; c++) {
        q[a][c] = dJ[a][i][c] + bracket[c];
        for (int d = 0; d < dim; d++) m[a][c] += K[d][c] * J[a][d];
      }
    }
    for (int c = 0; c < dim; c++) {
      for (int k = 0; k < p->f->terms; k++)
        for (int a = 0; a < dim; a++) {
          const double value = basis->value[k], D = basis->d[k][i] * J[a][c] + value * q[a][c];
          p->R[k * dim + a] = scale * D;
          p->V[k * dim + a] = scale * (p->second ? D + value * m[a][c] : D);
        }
      add_row(p);
      for (int u = 0; u < p->unknowns; u++) p->right[u] += scale * new[i][c] * p->R[u];
    }
  }
}

/* Computes step = (H + D)^-1 right. D is the diagonal matrix with D_ii = more |H_ii| + 1e-13 times the largest H_jj.
 * Returns false if H + D is not positive definite. */
static bool solve(fit *p, double more) {
  const int N = p->unknowns;
  double largest = 0;
  for (int i = 0; i < N; i++) largest = fmax(largest, p->H[i * N + i]);
  memcpy(p->L, p->H, (size_t)N * (size_t)N * sizeof *p->L);
  for (int i = 0; i < N; i++) p->L[i * N + i] += more * fabs(p->L[i * N + i]) + 1e-13 * largest;
  if (!cb_cholesky(N, p->L, 0, p->L)) return false;
  memcpy(p->step, p->right, (size_t)N * sizeof *p->step);
  cb_cholesky_solve(N, p->L, p->step);
  return true;
}

static void move(fit *p, double by) {
  const int dim = p->f->inner->group->dim;
  for (int k = 0; k < p->f->terms; k++)
    for (int a = 0; a < dim; a++) p->f->coefficient[k][a] += by * p->step[k * dim + a];
}

static cb_status newton(fit *p) {
  const cb_bundle *b = p->f->inner;
  const double start = functional(p);
  double F = start, more = 0;
  if (!isfinite(F))
    return cb_fail(CB_STEP_NOT_FINITE,
                   "coordinates of bundle %s: the connection is not finite in the window: try a smaller window",
                   b->class_->name);
  for (int k = 0; k < STEPS_MAX; k++) {
    memset(p->H, 0, (size_t)p->unknowns * (size_t)p->unknowns * sizeof *p->H);
    memset(p->right, 0, (size_t)p->unknowns * sizeof *p->right);
    for (int node = 0; node < p->nodes; node++) add_node(p, node);
    for (int trial = 0;; trial++) {
      double gain = 0;
      if (trial == TRIALS_MAX)
        return cb_fail(
            CB_STEP_NO_CONVERGENCE,
            "coordinates of bundle %s: none of %d damped Newton steps reduces the integral of |A'|^2 (%.9g): try "
            "a smaller window (`low`, `high`) or fewer `points`",
            b->class_->name, trial, F);
      const bool solved = solve(p, more);
      for (int u = 0; solved && u < p->unknowns; u++) gain += p->right[u] * p->step[u];
      if (solved) {
        move(p, 1);
        const double next = functional(p);
        if (gain <= fmax(1e-21 * F, 1e-26 * start)) return CB_OK; /* the gain is below the round-off of F */
        if (next <= F * (1 + 1e-14)) {
          p->second = F - next < .1 * F;
          F = next;
          more = more < 1e-12 ? 0 : more / 30;
          break;
        }
        move(p, -1);
      } else if (p->second) {
        p->second = false;
        break;
      }
      more = fmax(10 * more, 1e-10);
    }
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "coordinates of bundle %s did not converge in %d steps: try a smaller window or fewer points",
                 b->class_->name, STEPS_MAX);
}

/* Finds the coefficients that minimise the integral of |A'|^2 over the window. */
static cb_status frame_fit(cb_frame *f) {
  const cb_bundle *b = f->inner;
  const int n = b->n;
  fit p = {.f = f, .nodes = 1, .unknowns = f->terms * b->group->dim};
  static const int over[CB_FRAME_VARIABLES] = {12, 8, 5}; /* more nodes than the degree, since A is not a polynomial */
  int count[CB_FRAME_VARIABLES];
  for (int i = 0; i < n; i++) {
    int top = 0;
    for (int k = 0; k < f->terms; k++) top = f->degree[k][i] > top ? f->degree[k][i] : top;
    count[i] = top + over[n - 1];
    p.nodes *= count[i];
    p.width[i] = f->high[i] - f->low[i];
  }
  const size_t N = (size_t)p.unknowns, nodes = (size_t)p.nodes;
  p.weight = calloc(nodes, sizeof *p.weight);
  p.A = calloc(nodes * (size_t)(b->group->dim * n), sizeof *p.A);
  p.basis = calloc(nodes, sizeof *p.basis);
  p.H = calloc(2 * N * N + 4 * N, sizeof *p.H);
  cb_status status = CB_OK;
  if (!p.weight || !p.A || !p.basis || !p.H)
    status = cb_fail(CB_ERROR_MEMORY, "no memory for coordinates of bundle %s", b->class_->name);
  else {
    p.L = p.H + N * N;
    p.right = p.L + N * N;
    p.step = p.right + N;
    p.R = p.step + N;
    p.V = p.R + N;
    status = place_nodes(&p, count);
  }
  if (!status) status = newton(&p);
  free(p.weight);
  free(p.A);
  free(p.basis);
  free(p.H);
  return status;
}

/* --- the bundle in minimum-perturbation coordinates --- */

static cb_status inside(const cb_frame *f, const double *r) {
  for (int i = 0; i < f->inner->n; i++)
    if (!(r[i] >= f->low[i] && r[i] <= f->high[i]))
      return cb_fail(CB_STEP_DOMAIN, "the shape is outside the window of the coordinates, %.9g to %.9g", f->low[i],
                     f->high[i]);
  return CB_OK;
}

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  enum { ENTRIES = CB_GROUP_DIM * CB_FRAME_VARIABLES };
  const cb_frame *f = b->self;
  const cb_group *G = b->group;
  const int n = b->n, dim = G->dim;
  double old[ENTRIES], dold[CB_FRAME_VARIABLES * ENTRIES], new[CB_FRAME_VARIABLES][CB_GROUP_DIM];
  double Ad[CB_GROUP_DIM * CB_GROUP_DIM], turned[CB_GROUP_DIM] = {0}, bracket[CB_GROUP_DIM];
  const bool wanted = A || dA;
  cb_status status = inside(f, r);
  if (!status) status = cb_bundle_connection(f->inner, r, wanted ? old : NULL, dA ? dold : NULL, M, dM);
  if (status || !wanted) return status;
  cb_frame_basis basis;
  cb_frame_value at;
  frame_basis_at(f, r, &basis);
  frame_at(f, &basis, dA != NULL, &at);
  frame_transform(f, &at, old, new);
  for (int i = 0; A && i < n; i++)
    for (int a = 0; a < dim; a++) A[a * n + i] = new[i][a];
  if (!dA) return CB_OK;
  G->adjoint(G, at.back, Ad);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      for (int a = 0; a < dim; a++) turned[a] = new[i][a] + at.theta[i][a];
      G->bracket(G, at.theta[j], turned, bracket);
      for (int a = 0; a < dim; a++) {
        double sum = -bracket[a] - at.dtheta[j][i][a];
        for (int c = 0; c < dim; c++) sum += Ad[a * dim + c] * dold[(j * dim + c) * n + i];
        dA[(j * dim + a) * n + i] = sum;
      }
    }
  return CB_OK;
}

static cb_status value_at(const cb_bundle *b, const double *r, cb_frame_value *at) {
  const cb_frame *f = b->self;
  const cb_status status = inside(f, r);
  if (status) return status;
  cb_frame_basis basis;
  frame_basis_at(f, r, &basis);
  frame_at(f, &basis, false, at);
  return CB_OK;
}

static cb_status form(const cb_bundle *b, const double *r, double *G, double *dG) {
  enum { SIZE = CB_GROUP_DIM + CB_SHAPE_MAX };
  const cb_frame *f = b->self;
  const int n = b->n, dim = b->group->dim, size = dim + n;
  double Ad[CB_GROUP_DIM * CB_GROUP_DIM], T[SIZE * SIZE] = {0}, GT[SIZE * SIZE];
  cb_frame_value at;
  if (dG) return cb_fail(CB_ERROR_UNSUPPORTED, "the form in other coordinates has no derivatives");
  cb_status status = value_at(b, r, &at);
  if (!status) status = f->inner->class_->form(f->inner, r, G, NULL);
  if (status) return status;
  b->group->adjoint(b->group, at.h, Ad);
  for (int a = 0; a < size; a++) {
    if (a >= dim) T[a * size + a] = 1;
    for (int c = 0; a < dim && c < dim; c++) {
      T[a * size + c] = Ad[a * dim + c];
      for (int i = 0; i < n; i++) T[a * size + dim + i] -= Ad[a * dim + c] * at.theta[i][c];
    }
  }
  /* G is replaced by (G T)^T twice, which gives T^T G T, because G is symmetric */
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) {
        GT[j * size + i] = 0;
        for (int k = 0; k < size; k++) GT[j * size + i] += G[i * size + k] * T[k * size + j];
      }
    memcpy(G, GT, (size_t)(size * size) * sizeof *G);
  }
  return CB_OK;
}

static cb_status plot(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  const cb_frame *f = b->self;
  double old[CB_GROUP_SIZE];
  cb_frame_value at;
  const cb_status status = value_at(b, r, &at);
  if (status) return status;
  b->group->multiply(b->group, g, at.back, old);
  return f->inner->class_->plot(f->inner, r, old, x);
}

static void destroy(cb_bundle *b) { free(b->self); }

/* Chooses the terms of w with sum_i k_i/top_i <= 1. k_i is the degree in variable i, and top_i the smaller of points_i
 * - 1 and the maximum degree for this number of variables. There is no constant term, since w has the mean 0. */
static void choose_terms(cb_frame *f, const int *points) {
  static const int maximum[CB_FRAME_VARIABLES] = {CB_FRAME_DEGREE, 12, 6};
  const int n = f->inner->n;
  int top[CB_FRAME_VARIABLES] = {0};
  for (int i = 0; i < n; i++) top[i] = points[i] - 1 < maximum[n - 1] ? points[i] - 1 : maximum[n - 1];
  for (int i = 0; i <= top[0]; i++)
    for (int j = 0; j <= top[1]; j++)
      for (int k = 0; k <= top[2]; k++) {
        const int at[CB_FRAME_VARIABLES] = {i, j, k};
        double share = 0;
        for (int c = 0; c < n; c++) share += (double)at[c] / top[c];
        if (share > 1 + 1e-12 || share == 0) continue;
        memcpy(f->degree[f->terms++], at, sizeof at);
      }
}

static cb_status strain(const cb_bundle *b, const double *r, double *S) {
  const cb_bundle *inner = ((const cb_frame *)b->self)->inner;
  double own[CB_GROUP_DIM * CB_STRAINS];
  cb_frame_value at;
  cb_status status = value_at(b, r, &at);
  if (!status) status = inner->class_->strain(inner, r, own);
  if (!status) cb_bundle_strain_in_frame(b->group, at.h, own, S);
  return status;
}

static const cb_bundle_class class_of_frames = {.name = "minimum_perturbation",
                                                .title = "minimum-perturbation coordinates",
                                                .doc = "the bundle in another body frame",
                                                .connection = connection,
                                                .destroy = destroy};

cb_status cb_bundle_minimum_perturbation(const cb_bundle *inner, const double *low, const double *high,
                                         const int *points, cb_bundle **out) {
  if (inner->n > CB_FRAME_VARIABLES)
    return cb_fail(CB_ERROR_ARGUMENT, "coordinates of bundle %s, which has %d shape variables: expected at most %d",
                   inner->class_->name, inner->n, CB_FRAME_VARIABLES);
  for (int i = 0; i < inner->n; i++) {
    if (!(low[i] < high[i] && isfinite(high[i] - low[i])))
      return cb_fail(CB_ERROR_ARGUMENT,
                     "coordinates of bundle %s: the window is from %.9g to %.9g, expected finite numbers low < high",
                     inner->class_->name, low[i], high[i]);
    if (points[i] < 2 || points[i] > 200)
      return cb_fail(CB_ERROR_ARGUMENT, "coordinates of bundle %s: %d points, expected 2 to 200", inner->class_->name,
                     points[i]);
  }
  cb_bundle *b = calloc(1, sizeof *b);
  cb_frame *f = calloc(1, sizeof *f);
  if (!b || !f) {
    free(b);
    free(f);
    return cb_fail(CB_ERROR_MEMORY, "no memory for coordinates of bundle %s", inner->class_->name);
  }
  *b = *inner;
  memset(b->period, 0, sizeof b->period); /* no variable has a period in the window */
  b->class_ = &f->class;
  b->self = f;
  f->inner = inner;
  f->class = class_of_frames;
  if (inner->class_->form) f->class.form = form;
  if (inner->class_->plot) f->class.plot = plot;
  if (inner->class_->strain) f->class.strain = strain;
  memcpy(f->low, low, (size_t)b->n * sizeof *low);
  memcpy(f->high, high, (size_t)b->n * sizeof *high);
  choose_terms(f, points);
  const cb_status status = frame_fit(f);
  if (status)
    cb_bundle_free(b);
  else
    *out = b;
  return status;
}

cb_status cb_bundle_frame(const cb_bundle *b, const double *r, double *h) {
  cb_frame_value at;
  if (b->class_->connection != connection)
    return cb_fail(
        CB_ERROR_ARGUMENT,
        "bundle %s is not in minimum-perturbation coordinates: expected a bundle of cb_bundle_minimum_perturbation",
        b->class_->name);
  const cb_status status = value_at(b, r, &at);
  if (status) return cb_bundle_fail_at(b, r, status);
  memcpy(h, at.h, (size_t)b->group->size * sizeof *h);
  return CB_OK;
}
