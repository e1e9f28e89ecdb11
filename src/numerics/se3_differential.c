/* The inverse right-trivialised differentials of tau and the derivatives of their transposes (equations: se3.h).
 *
 * e(n), n = w^2: the series sum |B_{2k+2}|/(2k+2)! n^k (radius 4 pi^2) below n = 6; above it, with g = (w/2) cot(w/2),
 *   e = (1 - g)/n,  e' = -(g' + e)/n,  e'' = -(g'' + 2 e')/n
 *   g' = (g - g^2 - n/4)/(2n),  g'' = (g' - 2 g g' - 1/4)/(2n) - g'/n
 */
#include <curvebody/se3.h>
#include "numerics/se3_private.h"
#include "numerics/vec3.h"
#include <math.h>
#include <string.h>

/* |B_{2k+2}|/(2k+2)! = 2 zeta(2k+2)/(2 pi)^(2k+2): Abramowitz & Stegun (1964), 23.2.16 */
const double cb_even_series[22] = {
    0.083333333333333333333,   0.0013888888888888888889,  3.3068783068783068783e-5,  8.2671957671957671958e-7,
    2.0876756987868098979e-8,  5.2841901386874931848e-10, 1.3382536530684678833e-11, 3.3896802963225828668e-13,
    8.5860620562778445641e-15, 2.174868698558061873e-16,  5.5090028283602295152e-18, 1.3954464685812523341e-19,
    3.5347070396294674717e-21, 8.9535174270375468504e-23, 2.2679524523376830603e-24, 5.7447906688722024453e-26,
    1.4551724756148649019e-27, 3.6859949406653101782e-29, 9.336734257095044672e-31,  2.3650224157006299346e-32,
    5.9906717624821343047e-34, 1.5174548844682902617e-35};

void cb_se3_even(double n, double e[3]) {
  if (n < 6) {
    double value = 0, first = 0, second = 0; /* Horner's rule with derivatives */
    for (int k = n < 0.25 ? 8 : 21; k >= 0; k--) {
      second = second * n + first;
      first = first * n + value;
      value = value * n + cb_even_series[k];
    }
    e[0] = value, e[1] = first, e[2] = 2 * second;
    return;
  }
  const double half = sqrt(n) / 2, g = half / tan(half), g1 = (g - g * g - n / 4) / (2 * n);
  const double g2 = (g1 - 2 * g * g1 - 0.25) / (2 * n) - g1 / n;
  e[0] = (1 - g) / n;
  e[1] = -(g1 + e[0]) / n;
  e[2] = -(g2 + 2 * e[1]) / n;
}

/* Writes [[a, b], [c, d]] */
static void blocks(const double a[3][3], const double b[3][3], const double c[3][3], const double d[3][3],
                   double out[6][6]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[i][j] = a[i][j];
      out[i][j + 3] = b[i][j];
      out[i + 3][j] = c[i][j];
      out[i + 3][j + 3] = d[i][j];
    }
}

static void add_identity(double m[3][3], double c) {
  for (int i = 0; i < 3; i++) m[i][i] += c;
}

static const double nothing[3][3];

void cb_se3_dtau_inverse(cb_se3_map map, const double Y[6], double out[6][6]) {
  const double *w = Y, *v = Y + 3;
  double rotation[3][3] = {{0}}, mixed[3][3] = {{0}}, translation[3][3] = {{0}};
  add_identity(rotation, 1);
  cb_add_hat3(rotation, -0.5, w);
  cb_add_hat3(mixed, -0.5, v);
  memcpy(translation, rotation, sizeof rotation);
  if (map == CB_SE3_CAYLEY) {
    cb_add_outer3(rotation, 0.25, w, w);
    cb_add_hats3(mixed, 0.25, w, v);
  } else if (map == CB_SE3_EXPONENTIAL) {
    double e[3];
    cb_se3_even(cb_dot3(w, w), e);
    cb_add_hats3(rotation, e[0], w, w);
    cb_add_hats3(mixed, e[0], w, v);
    cb_add_hats3(mixed, e[0], v, w);
    cb_add_hats3(mixed, 2 * e[1] * cb_dot3(w, v), w, w);
    memcpy(translation, rotation, sizeof rotation);
  }
  blocks(rotation, nothing, mixed, translation, out);
}

/* e and e' for dexp^-1, where n e and n^2 e' stand beside 1: below n = 0.01 what is left out is below 1e-17. */
static void even_small(double n, double e[2]) {
  const double *c = cb_even_series;
  e[0] = c[0] + n * (c[1] + n * (c[2] + n * (c[3] + n * c[4])));
  e[1] = c[1] + n * (2 * c[2] + n * (3 * c[3] + n * (4 * c[4])));
}

void cb_se3_dexp_inverse(const double Y[6], const double Z[6], double out[6]) {
  const double *w = Y, *v = Y + 3, *a = Z, *b = Z + 3;
  const double n = cb_dot3(w, w);
  double e[3], wa[3], wwa[3], va[3], wb[3], sum[3], w_sum[3], v_wa[3];
  if (n < 0.01)
    even_small(n, e);
  else
    cb_se3_even(n, e);
  const double slope = 2 * e[1] * cb_dot3(w, v);
  cb_cross3(w, a, wa);
  cb_cross3(w, wa, wwa);
  cb_cross3(v, a, va);
  cb_cross3(w, b, wb);
  for (int i = 0; i < 3; i++) sum[i] = va[i] + wb[i];
  cb_cross3(w, sum, w_sum);
  cb_cross3(v, wa, v_wa);
  for (int i = 0; i < 3; i++) {
    out[i] = a[i] - wa[i] / 2 + e[0] * wwa[i];
    out[3 + i] = b[i] - sum[i] / 2 + e[0] * (w_sum[i] + v_wa[i]) + slope * wwa[i];
  }
}

/* d(D^T l)/dw = Q(w, l) = -hat(l)/2 - e (hat(w × l) + W hat(l)) + 2 e' (W W l) w^T; the other term is Q(w, p) v. */
static void exponential_turn(const double e[3], const double w[3], const double l[3], double q[3][3]) {
  double wl[3], wwl[3];
  cb_cross3(w, l, wl);
  cb_cross3(w, wl, wwl);
  cb_add_hat3(q, -0.5, l);
  cb_add_hat3(q, -e[0], wl);
  cb_add_hats3(q, -e[0], w, l);
  cb_add_outer3(q, 2 * e[1], wwl, w);
}

static void exponential_derivative(const double Y[6], const double mu[6], double out[6][6]) {
  const double *w = Y, *v = Y + 3, *l = mu, *p = mu + 3, wv = cb_dot3(w, v);
  double e[3], vp[3], wp[3], wwp[3], sum[3], wvp[3], vwp[3], top[3][3] = {{0}}, side[3][3] = {{0}};
  cb_se3_even(cb_dot3(w, w), e);
  exponential_turn(e, w, l, top);
  exponential_turn(e, w, p, side);
  cb_cross3(v, p, vp);
  cb_cross3(w, p, wp);
  cb_cross3(w, wp, wwp);
  cb_cross3(w, vp, wvp);
  cb_cross3(v, wp, vwp);
  for (int i = 0; i < 3; i++) sum[i] = wvp[i] + vwp[i];
  /* d/dw of  v × p/2 + e (w × (v × p) + v × (w × p)) + 2 e' (w.v) w × (w × p) */
  cb_add_hat3(top, -e[0], vp);
  cb_add_hats3(top, -e[0], v, p);
  cb_add_outer3(top, 2 * e[1], sum, w);
  cb_add_outer3(top, 2 * e[1], wwp, v);
  cb_add_hat3(top, -2 * e[1] * wv, wp);
  cb_add_hats3(top, -2 * e[1] * wv, w, p);
  cb_add_outer3(top, 4 * e[2] * wv, wwp, w);
  blocks(top, side, side, nothing, out);
}

/* (l + w×l/2 + w (w.l)/4 + v × (p + w×p/2)/2,  p + w×p/2) */
static void cayley_derivative(const double Y[6], const double mu[6], double out[6][6]) {
  const double *w = Y, *v = Y + 3, *l = mu, *p = mu + 3;
  double wp[3], carried[3], top[3][3] = {{0}}, right[3][3] = {{0}}, below[3][3] = {{0}};
  cb_cross3(w, p, wp);
  for (int i = 0; i < 3; i++) carried[i] = p[i] + wp[i] / 2;
  cb_add_hat3(top, -0.5, l);
  cb_add_outer3(top, 0.25, w, l);
  add_identity(top, 0.25 * cb_dot3(w, l));
  cb_add_hats3(top, -0.25, v, p);
  cb_add_hat3(right, -0.5, carried);
  cb_add_hat3(below, -0.5, p);
  blocks(top, right, below, nothing, out);
}

void cb_se3_dtau_inverse_transpose_derivative(cb_se3_map map, const double Y[6], const double mu[6], double out[6][6]) {
  if (map == CB_SE3_CAYLEY) {
    cayley_derivative(Y, mu, out);
  } else if (map == CB_SE3_EXPONENTIAL) {
    exponential_derivative(Y, mu, out);
  } else { /* mu - ad*_Y mu/2 */
    cb_se3_ad_star_matrix(mu, out);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) out[i][j] *= -0.5;
  }
}
