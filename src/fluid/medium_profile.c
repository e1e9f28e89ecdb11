/* A density of height alone: its repeated integrals over the heights of a surface, from one pass along up.
 *
 *   rho(h) = sum_k a_k u^k on each of the cells h = h_c + w u, 0 <= u <= 1: the polynomial of degree 4 through five
 *   points of the cell;  int rho = w sum a_k u^(k+1)/(k+1),  int int rho = w^2 sum a_k u^(k+2)/((k+1) (k+2))
 * Error O(w^5) of the density, O(w^6) of its integrals; w about half a face's edge. The integrals of an
 * interpolated density are consistent with each other to round-off.
 */
#include "fluid/medium.h"

/* From five values at u = 0, 1/4 .. 1 to the powers of u. */
static void powers(const double f[5], double a[5]) {
  a[0] = f[0];
  a[1] = (-25 * f[0] + 48 * f[1] - 36 * f[2] + 16 * f[3] - 3 * f[4]) / 3;
  a[2] = (35 * f[0] - 104 * f[1] + 114 * f[2] - 56 * f[3] + 11 * f[4]) * 2 / 3;
  a[3] = (-5 * f[0] + 18 * f[1] - 24 * f[2] + 14 * f[3] - 3 * f[4]) * 16 / 3;
  a[4] = (f[0] - 4 * f[1] + 6 * f[2] - 4 * f[3] + f[4]) * 32 / 3;
}

/* rho, its integral and that one's from the lowest height to h = h_c + w u. */
static void in_cell(const cb_medium_cell *c, double w, double u, double out[3]) {
  static const double first[5] = {1, 1. / 2, 1. / 3, 1. / 4, 1. / 5},
                      second[5] = {1. / 2, 1. / 6, 1. / 12, 1. / 20, 1. / 30};
  double rho = 0, one = 0, two = 0;
  for (int k = 5; k-- > 0;) {
    rho = rho * u + c->a[k];
    one = one * u + c->a[k] * first[k];
    two = two * u + c->a[k] * second[k];
  }
  out[0] = rho;
  out[1] = c->one + w * u * one;
  out[2] = c->two + w * u * (c->one + w * u * two);
}

static void from_low(const cb_medium_profile *p, double h, double out[3]) {
  const double at = (h - p->low) / p->width;
  const int i = at < 1 ? 0 : at < p->cells - 1 ? (int)at : p->cells - 1;
  in_cell(&p->cell[i], p->width, at - i, out);
}

cb_status cb_profile_make(const cb_medium *m, const double o[3], double low, double high, int cells,
                          cb_medium_profile *p) {
  p->cells = cells;
  p->low = low;
  p->width = high > low ? (high - low) / cells : 1; /* 1: all places at one height */
  double f[5], next[3] = {0};
  for (int i = 0; i < cells; i++) {
    for (int k = i ? 1 : 0; k < 5; k++) {
      const double h = low + (high - low) * (i + k / 4.) / cells;
      double x[3];
      for (int s = 0; s < 3; s++) x[s] = o[s] + h * m->up[s];
      const cb_status status = cb_medium_value(m, x, &f[k]);
      if (status) return status;
    }
    cb_medium_cell *c = &p->cell[i];
    powers(f, c->a);
    c->one = next[1], c->two = next[2];
    in_cell(c, p->width, 1, next);
    f[0] = f[4];
  }
  from_low(p, 0, p->zero);
  return CB_OK;
}

void cb_profile_at(const cb_medium_profile *p, double h, double out[3]) {
  from_low(p, h, out);
  out[1] -= p->zero[1];
  out[2] -= p->zero[2] + p->zero[1] * h;
}
