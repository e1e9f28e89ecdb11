/* Sweeps over the tree of a mechanism (equations: mechanism_private.h). */
#include "mechanism/mechanism_private.h"
#include "core/isa.h"
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

static const struct cb_sweep_kernel *kernel(void) {
#if defined(__x86_64__)
  if (cb_isa_get() >= CB_ISA_AVX2) return &cb_sweep_kernel_avx2;
#endif
  return &cb_sweep_kernel_x86_64;
}

void cb_sweep_choose(cb_mechanism *m) { m->sweeps = m->curvature == 0 ? kernel() : &cb_sweep_kernel_curved; }

void cb_sweep_turn(const double r[3][3], double c, const cb_row6 M[6], cb_six out[6]) {
  for (int block = 0; block < 6; block += 3)
    for (int i = 0; i < 3; i++) {
      const cb_row6 sum = cb_row6_add(cb_row6_scale(c * r[i][0], M[block]), c * r[i][1], M[block + 1]);
      double row[6];
      cb_row6_store(cb_row6_add(sum, c * r[i][2], M[block + 2]), row);
      cb_six_set(row, &out[block + i]);
    }
}

bool cb_sweep_matrices(cb_mechanism *m, int *at) { return m->sweeps->eliminate(m, at); }

void cb_sweep_solve(cb_mechanism *m) { m->sweeps->solve(m, false); }

void cb_sweep_respond(cb_mechanism *m, const double (*W)[6], const cb_loop *loop, const double N[6], double (*eta)[6],
                      double (*dq)[6]) {
  static const double none[6];
  for (int i = 0; i < m->links; i++) {
    double r[6];
    memcpy(r, W ? W[i] : none, sizeof r);
    if (loop && loop->link[1] == i) cb_add6(1, N, r);
    if (loop && loop->link[0] == i) cb_sweep_to_parent(loop->d, -1, N, r);
    cb_six_set(r, &m->link[i].r);
  }
  m->sweeps->solve(m, true);
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
    cb_link_to_parent(l, a->joint >= 0 ? 1 : -1, l->w, a->joint >= 0 ? a->w : total[l->parent]);
  }
}
