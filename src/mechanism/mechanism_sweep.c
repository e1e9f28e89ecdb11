/* Sweeps over the tree of a mechanism (equations: mechanism_private.h). */
#include "mechanism/mechanism_private.h"
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

/* out = the row r of a matrix times X: r.(omega, v + omega × d) = (r + d × r_linear).omega + r_linear.v */
static inline void see_row(const double d[3], const double r[6], double out[6]) {
  out[0] = r[0] + (d[1] * r[5] - d[2] * r[4]);
  out[1] = r[1] + (d[2] * r[3] - d[0] * r[5]);
  out[2] = r[2] + (d[0] * r[4] - d[1] * r[3]);
  for (int k = 3; k < 6; k++) out[k] = r[k];
}

/* Adds X_k^T (A - A S D^-1 S^T A) X_{k+1} to the matrix of the parent. */
static void add_matrix(const cb_link *l, double A[6][6]) {
  const double *d = l->d0;
  double M[6][6];
  for (int i = 0; i < 6; i++) see_row(l->d1, l->A[i], M[i]);
  for (int j = 0; j < l->n; j++) {
    double DSA[6] = {0}, row[6];
    for (int i = 0; i < l->n; i++) cb_add6(-l->D[j][i], l->SA[i], DSA);
    see_row(l->d1, DSA, row);
    for (int i = 0; i < 6; i++) cb_add6(l->AS[j][i], row, M[i]);
  }
  for (int k = 0; k < 6; k++) { /* torque_a = torque_b + d × force */
    A[0][k] += M[0][k] + (d[1] * M[5][k] - d[2] * M[4][k]);
    A[1][k] += M[1][k] + (d[2] * M[3][k] - d[0] * M[5][k]);
    A[2][k] += M[2][k] + (d[0] * M[4][k] - d[1] * M[3][k]);
  }
  for (int i = 3; i < 6; i++) cb_add6(1, M[i], A[i]);
}

bool cb_sweep_matrices(cb_mechanism *m, int *at) {
  for (int i = m->links - 1; i >= 0; i--) {
    cb_link *l = &m->link[i];
    *at = i;
    if (l->joint < 0) {
      if (!cb_factor6((const double(*)[6])l->A, l->factors)) return false;
      continue;
    }
    for (int j = 0; j < l->n; j++) {
      cb_apply6((const double(*)[6])l->A, l->S1[j], l->AS[j]);
      cb_apply6_transposed((const double(*)[6])l->A, l->S0[j], l->SA[j]);
    }
    for (int j = 0; j < l->n; j++)
      for (int k = 0; k < l->n; k++) l->D[j][k] = cb_sweep_dot(l->S0[j], l->AS[k]) + (j == k ? l->stiff[j] : 0);
    if (l->n && !cb_sweep_invert(l->n, l->D)) return false;
    if (l->parent >= 0) add_matrix(l, m->link[l->parent].A);
  }
  return true;
}

/* alone: without closing twists and forces of joints. */
static void solve_inwards(cb_mechanism *m, bool alone) {
  for (int i = m->links - 1; i >= 0; i--) {
    cb_link *l = &m->link[i];
    double Ae[6], right[6];
    if (l->joint < 0) continue;
    if (!alone) {
      cb_apply6((const double(*)[6])l->A, l->e, Ae);
      for (int k = 0; k < 6; k++) l->r[k] -= Ae[k];
    }
    for (int j = 0; j < l->n; j++) right[j] = (alone ? 0 : l->force[j]) + cb_sweep_dot(l->S0[j], l->r);
    for (int j = 0; j < l->n; j++) {
      l->u[j] = 0;
      for (int k = 0; k < l->n; k++) l->u[j] += l->D[j][k] * right[k];
    }
    if (l->parent < 0) continue;
    for (int j = 0; j < l->n; j++) cb_add6(-l->u[j], l->AS[j], l->r);
    cb_sweep_to_parent(l->d0, 1, l->r, m->link[l->parent].r);
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
    if (l->parent >= 0) cb_sweep_see(l->d1, m->link[l->parent].eta, from);
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
  if (loop && loop->link[0] >= 0) cb_sweep_to_parent(loop->d0, -1, N, m->link[loop->link[0]].r);
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
    cb_sweep_to_parent(l->d0, a->joint >= 0 ? 1 : -1, l->w, a->joint >= 0 ? a->w : total[l->parent]);
  }
}
