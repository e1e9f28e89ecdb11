/* The frame field h of minimum-perturbation coordinates: Newton's method for the minimum of the integral of |A'|^2.
 *
 *   F(w) = mean of sum_i L_i^2 |A'_i|^2 over the window;   L_i: width of the window in r_i;   A', w: coordinates.h
 * A change h -> h exp(eta), eta = J dw (J: coordinates_frame.c), changes A' to
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
#include "numerics/small.h"

#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 60, TRIALS_MAX = 30 };

typedef struct fit {
  cb_frame *f;
  int nodes, unknowns;
  bool second; /* the last term of F (top of this file) is included */
  double width[CB_FRAME_VARIABLES];
  double *weight, *A;                   /* the weight of each node; A at each node: [nodes][dim * n] */
  cb_frame_basis *basis;                /* [nodes]: the terms of w at each node */
  double *H, *L, *right, *step, *R, *V; /* H and its factor L: lower triangles [unknowns][unknowns] */
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
    cb_frame_basis_at(p->f, r, &p->basis[k]);
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
    cb_frame_at(p->f, &p->basis[k], false, &at);
    cb_frame_transform(p->f, &at, p->A + k * dim * n, new);
    for (int i = 0; i < n; i++)
      for (int a = 0; a < dim; a++) sum += p->weight[k] * p->width[i] * p->width[i] * new[i][a] * new[i][a];
  }
  return sum;
}

/* Adds (R V^T + V R^T)/2 to the lower triangle of H. */
static void add_row(fit *p) {
  const double *R = p->R, *V = p->V;
  for (int i = 0; i < p->unknowns; i++) {
    double *row = p->H + (size_t)i * (size_t)p->unknowns;
    const double r = R[i] / 2, v = V[i] / 2;
    for (int j = 0; j <= i; j++) row[j] += r * V[j] + v * R[j];
  }
}

/* Adds one node to H and to the right side, for changes eta = phi_k J e_a: phi_k is term k of w, e_a axis a of the
 * algebra. Then D_i eta = d_i phi_k J e_a + phi_k q_ia with q_ia = d_i(J e_a) + [J e_a, A'_i]. The last term of F uses
 * K[c][d] = <A'_i, [e_c, e_d]> and m[a][c] = <A'_i, [J e_a, e_c]>. */
static void add_node(fit *p, int node) {
  const cb_group *G = p->f->inner->group;
  const cb_frame_basis *basis = &p->basis[node];
  const int n = p->f->inner->n, dim = G->dim;
  double new[CB_FRAME_VARIABLES][CB_GROUP_DIM], J[CB_GROUP_DIM][CB_GROUP_DIM];
  double dJ[CB_GROUP_DIM][CB_FRAME_VARIABLES][CB_GROUP_DIM], K[CB_GROUP_DIM][CB_GROUP_DIM], bracket[CB_GROUP_DIM] = {0};
  cb_frame_value at;
  cb_frame_at(p->f, basis, false, &at);
  cb_frame_transform(p->f, &at, p->A + node * dim * n, new);
  for (int a = 0; a < dim; a++) {
    const double unit[CB_GROUP_DIM] = {[0] = 0};
    double e[CB_GROUP_DIM];
    memcpy(e, unit, sizeof e);
    e[a] = 1;
    cb_frame_dexp(p->f, &at, e, NULL, J[a], dJ[a]);
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

/* Computes step = (H + D)^-1 right for the diagonal matrix D_ii = more |H_ii| + 1e-13 times the largest H_jj. Returns
 * false if H + D is not positive definite. */
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

cb_status cb_frame_fit(cb_frame *f) {
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
