/* A function of the shape with its derivatives, as a jet of shapes that are jets themselves (the chain rule).
 *
 *   f(r(x)):   d_a = sum_i f_i r_i,a     d_ab = sum_ij f_ij r_i,a r_j,b + sum_i f_i r_i,ab
 */
#pragma once

#include <curvebody/jet.h>

#include <stdbool.h>

/* Are r[n] the variables themselves? */
static inline bool cb_jets_are_variables(const cb_jet *r, int n) {
  for (int i = 0; i < n; i++) {
    if (r[i].n != n) return false;
    for (int a = 0; a < n; a++)
      if (r[i].g[a] != (a == i)) return false;
    for (int k = 0; k < n * (n + 1) / 2; k++)
      if (r[i].h[k] != 0) return false;
  }
  return true;
}

/* f: a jet in the n variables r. */
static inline void cb_jet_of_shape(const cb_jet *f, const cb_jet *r, int n, cb_jet *out) {
  const int m = r[0].n;
  cb_jet sum = {.n = m, .v = f->v};
  for (int a = 0; a < m; a++)
    for (int i = 0; i < n; i++) sum.g[a] += f->g[i] * r[i].g[a];
  for (int a = 0, k = 0; a < m; a++)
    for (int b = 0; b <= a; b++, k++)
      for (int i = 0; i < n; i++) {
        double row = 0;
        for (int j = 0; j < n; j++) row += f->h[cb_jet_packed(i, j)] * r[j].g[b];
        sum.h[k] += row * r[i].g[a] + f->g[i] * r[i].h[k];
      }
  *out = sum;
}
