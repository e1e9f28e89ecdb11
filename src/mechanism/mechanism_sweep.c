/* Sweeps over the tree of a mechanism (equations: mechanism_private.h). */
#include "mechanism/mechanism_private.h"
#include "numerics/row6.h"
#include "numerics/small.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

bool cb_sweep_invert(int n, double D[6][6]) {
  double a[36], x[6];
  int pivot[6];
  if (n == 1) {
    D[0][0] = 1 / D[0][0];
    return isfinite(D[0][0]);
  }
  for (int i = 0; i < n * n; i++) a[i] = D[i / n][i % n];
  if (cb_dense_factor(n, a, pivot)) return false;
  for (int c = 0; c < n; c++) {
    for (int i = 0; i < n; i++) x[i] = i == c;
    cb_dense_solve(n, a, pivot, x);
    for (int i = 0; i < n; i++) D[i][c] = x[i];
  }
  return true;
}

void cb_sweep_turn(const double r[3][3], double c, const cb_row6 M[6], double out[6][6]) {
  for (int block = 0; block < 6; block += 3)
    for (int i = 0; i < 3; i++) {
      const cb_row6 sum = cb_row6_add(cb_row6_scale(c * r[i][0], M[block]), c * r[i][1], M[block + 1]);
      cb_row6_store(cb_row6_add(sum, c * r[i][2], M[block + 2]), out[block + i]);
    }
}

/* Row i of (A - A S DSA) X, with DSA = D^-1 S^T A */
static inline cb_row6 reduced(const cb_link *l, const cb_row6 *DSA, int i) {
  cb_row6 row = cb_row6_load(l->A[i]);
  for (int j = 0; j < l->n; j++) row = cb_row6_less(row, cb_row6_scale(l->AS[j][i], DSA[j]));
  return cb_row6_see(l->d, row);
}

static inline void add_row(cb_row6 row, double out[6]) { cb_row6_store(cb_row6_sum(cb_row6_load(out), row), out); }

/* Adds X^T (A - A S D^-1 S^T A) X to the matrix of the parent: torque_a = torque_b + d × force. */
static void add_matrix(const cb_link *l, double A[6][6]) {
  const double *d = l->d;
  cb_row6 DSA[6];
  for (int j = 0; j < l->n; j++) {
    DSA[j] = cb_row6_scale(l->D[j][0], cb_row6_load(l->SA[0]));
    for (int i = 1; i < l->n; i++) DSA[j] = cb_row6_add(DSA[j], l->D[j][i], cb_row6_load(l->SA[i]));
  }
  const cb_row6 x = reduced(l, DSA, 3), y = reduced(l, DSA, 4), z = reduced(l, DSA, 5);
  add_row(x, A[3]);
  add_row(y, A[4]);
  add_row(z, A[5]);
  add_row(cb_row6_sum(reduced(l, DSA, 0), cb_row6_less(cb_row6_scale(d[1], z), cb_row6_scale(d[2], y))), A[0]);
  add_row(cb_row6_sum(reduced(l, DSA, 1), cb_row6_less(cb_row6_scale(d[2], x), cb_row6_scale(d[0], z))), A[1]);
  add_row(cb_row6_sum(reduced(l, DSA, 2), cb_row6_less(cb_row6_scale(d[0], y), cb_row6_scale(d[1], x))), A[2]);
}

/* AS = A S, SA = S^T A */
static void multiply(const double A[6][6], const double S1[6], const double S0[6], double AS[6], double SA[6]) {
  const cb_row6 S = cb_row6_load(S1);
  cb_row6 sum = {{0}, {0}, {0}};
  for (int i = 0; i < 6; i++) {
    const cb_row6 row = cb_row6_load(A[i]);
    AS[i] = cb_row6_dot(row, S);
    sum = cb_row6_add(sum, S0[i], row);
  }
  cb_row6_store(sum, SA);
}

bool cb_sweep_matrices(cb_mechanism *m, int *at) {
  for (int i = m->links - 1; i >= 0; i--) {
    cb_link *l = &m->link[i];
    *at = i;
    if (l->joint < 0) {
      if (!cb_factor6((const double(*)[6])l->A, l->factors)) return false;
      continue;
    }
    for (int j = 0; j < l->n; j++) multiply((const double(*)[6])l->A, l->S1[j], l->S0[j], l->AS[j], l->SA[j]);
    for (int j = 0; j < l->n; j++)
      for (int k = 0; k < l->n; k++) l->D[j][k] = cb_sweep_dot(l->S0[j], l->AS[k]) + (j == k ? l->stiff[j] : 0);
    if (l->n && !cb_sweep_invert(l->n, l->D)) return false;
    if (l->parent >= 0) add_matrix(l, m->link[l->parent].A);
  }
  return true;
}

/* r -= A e */
static void subtract(const double A[6][6], const double e[6], double r[6]) {
  const cb_row6 twist = cb_row6_load(e);
  for (int i = 0; i < 6; i++) r[i] -= cb_row6_dot(cb_row6_load(A[i]), twist);
}

static bool is_zero(const double a[6]) {
  return a[0] == 0 && a[1] == 0 && a[2] == 0 && a[3] == 0 && a[4] == 0 && a[5] == 0;
}

/* alone: without closing twists and forces of joints. */
static void solve_inwards(cb_mechanism *m, bool alone) {
  for (int i = m->links - 1; i >= 0; i--) {
    cb_link *l = &m->link[i];
    double right[6];
    if (l->joint < 0) continue;
    if (!alone && !is_zero(l->e)) subtract((const double(*)[6])l->A, l->e, l->r);
    for (int j = 0; j < l->n; j++) right[j] = (alone ? 0 : l->force[j]) + cb_sweep_dot(l->S0[j], l->r);
    for (int j = 0; j < l->n; j++) {
      l->u[j] = 0;
      for (int k = 0; k < l->n; k++) l->u[j] += l->D[j][k] * right[k];
    }
    if (l->parent < 0) continue;
    for (int j = 0; j < l->n; j++) cb_add6(-l->u[j], l->AS[j], l->r);
    cb_sweep_to_parent(l->d, 1, l->r, m->link[l->parent].r);
  }
}

/* alone: without closing twists. */
static void solve_outwards(cb_mechanism *m, bool alone) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double from[6] = {0}, right[6];
    if (l->joint < 0) {
      cb_back6(l->factors, l->r, l->eta);
      continue;
    }
    if (l->parent >= 0) cb_sweep_see(l->d, m->link[l->parent].eta, from);
    for (int j = 0; j < l->n; j++) right[j] = cb_sweep_dot(l->SA[j], from);
    for (int k = 0; k < 6; k++) l->eta[k] = from[k] + (alone ? 0 : l->e[k]);
    for (int j = 0; j < l->n; j++) {
      l->dq[j] = l->u[j];
      for (int k = 0; k < l->n; k++) l->dq[j] -= l->D[j][k] * right[k];
      cb_add6(l->dq[j], l->S1[j], l->eta);
    }
  }
}

void cb_sweep_solve(cb_mechanism *m) {
  for (int i = 0; i < m->links; i++) memcpy(m->link[i].r, m->link[i].load, sizeof m->link[i].r);
  solve_inwards(m, false);
  solve_outwards(m, false);
}

void cb_sweep_respond(cb_mechanism *m, const double (*W)[6], const cb_loop *loop, const double N[6], double (*eta)[6],
                      double (*dq)[6]) {
  for (int i = 0; i < m->links; i++)
    for (int k = 0; k < 6; k++) m->link[i].r[k] = W ? W[i][k] : 0;
  if (loop && loop->link[1] >= 0) cb_add6(1, N, m->link[loop->link[1]].r);
  if (loop && loop->link[0] >= 0) cb_sweep_to_parent(loop->d, -1, N, m->link[loop->link[0]].r);
  solve_inwards(m, true);
  solve_outwards(m, true);
  for (int i = 0; i < m->links && eta; i++) {
    memcpy(eta[i], m->link[i].eta, sizeof eta[i]);
    if (dq) memcpy(dq[i], m->link[i].dq, sizeof dq[i]);
  }
}

void cb_sweep_impulses(cb_mechanism *m, const double (*need)[6], double (*total)[6]) {
  for (int i = 0; i < m->links; i++) {
    const bool held = m->link[i].joint >= 0;
    for (int k = 0; k < 6; k++) {
      total[i][k] = held ? need[i][k] : 0;
      m->link[i].w[k] = total[i][k]; /* and what the children take, below */
    }
  }
  for (int i = m->links - 1; i >= 0; i--) {
    const cb_link *l = &m->link[i];
    if (l->parent < 0) continue;
    cb_link *a = &m->link[l->parent];
    cb_sweep_to_parent(l->d, a->joint >= 0 ? 1 : -1, l->w, a->joint >= 0 ? a->w : total[l->parent]);
  }
}
