/* SO(3,1), its part with the identity: Lorentz matrices on (x, y, z, t), isometries of H^3; algebra (rotations,
 * boosts).
 *
 * By biquaternions Q = a + p (complex), X = t + i (x, y, z), X -> Q X Q^+, Q^+ = conj(a) - conj(p):
 *   exp(omega, v) = (cos(w/2), sin(w/2)/w z),  z = omega + i v,  w^2 = z.z
 *   with h = conj(a) p, N = p p^+ and (i, j, k) cyclic, the matrix is
 *     m_tt = |a|^2 + tr N,  m_kt = 2 Im h_k - 2 Im N_ij,  m_tk = 2 Im h_k + 2 Im N_ij
 *     m_jk = (|a|^2 - tr N) delta_jk + 2 Re N_jk + 2 hat(Re h)_jk
 * The logarithm reads these products back and takes the largest of |a|^2, N_11, N_22, N_33 for the root, as Shepperd
 * does for rotations: J. Guidance and Control 1 (1978) 223, doi:10.2514/3.55767b. It is not unique where Re a = 0. A
 * boost by b multiplies round-off by e^b.
 */
#include "numerics/lie_private.h"

void cb_lie_lorentz_from(const double complex Q[4], double out[4][4]) {
  double r[4], s[4], trace = 0, re[3], im[3];
  for (int k = 0; k < 4; k++) r[k] = creal(Q[k]), s[k] = cimag(Q[k]);
  for (int k = 0; k < 3; k++) {
    trace += r[k + 1] * r[k + 1] + s[k + 1] * s[k + 1];
    re[k] = r[0] * r[k + 1] + s[0] * s[k + 1];
    im[k] = r[0] * s[k + 1] - s[0] * r[k + 1];
  }
  const double square = r[0] * r[0] + s[0] * s[0];
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < 3; k++) out[j][k] = 2 * (r[j + 1] * r[k + 1] + s[j + 1] * s[k + 1]);
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double cross = r[i + 1] * s[j + 1] - r[j + 1] * s[i + 1]; /* -Im N_ij */
    out[k][k] += square - trace;
    out[j][i] += 2 * re[k], out[i][j] -= 2 * re[k];
    out[k][3] = 2 * (im[k] + cross);
    out[3][k] = 2 * (im[k] - cross);
  }
  out[3][3] = square + trace;
}

void cb_lie_lorentz_to(const double m[4][4], double complex Q[4]) {
  double complex products[4][4]; /* Q_a conj(Q_b) */
  const double square = (m[3][3] + m[0][0] + m[1][1] + m[2][2]) / 4, difference = 2 * square - m[3][3];
  products[0][0] = square;
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double re = (m[j][i] - m[i][j]) / 4, im = (m[k][3] + m[3][k]) / 4;
    products[k + 1][k + 1] = (m[k][k] - difference) / 2;
    products[k + 1][0] = cb_lie_complex(re, im);
    products[0][k + 1] = cb_lie_complex(re, -im);
    products[i + 1][j + 1] = cb_lie_complex((m[i][j] + m[j][i]) / 4, (m[3][k] - m[k][3]) / 4);
    products[j + 1][i + 1] = conj(products[i + 1][j + 1]);
  }
  int pivot = 0;
  for (int k = 1; k < 4; k++)
    if (creal(products[k][k]) > creal(products[pivot][pivot])) pivot = k;
  const double root = sqrt(creal(products[pivot][pivot]));
  double complex unit = 0;
  for (int k = 0; k < 4; k++) {
    Q[k] = products[k][pivot] / root;
    unit += Q[k] * Q[k];
  }
  double complex phase = csqrt(unit); /* Q.Q = 1 sets the phase that the products leave free */
  if (creal(Q[0] / phase) < 0) phase = -phase;
  for (int k = 0; k < 4; k++) Q[k] /= phase;
}

cb_status cb_lie_lorentz_log(const double m[4][4], double a[6]) {
  double complex Q[4];
  cb_lie_lorentz_to(m, Q);
  const double size = sqrt(m[3][3]);
  if (!(creal(Q[0]) > CB_LIE_HALF_TURN * size))
    return cb_fail(CB_ERROR_DOMAIN, "the logarithm of a half turn (with or without a boost) is not unique");
  double complex s = csqrt(Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]), half;
  if (cabs(s) < 0.5) {
    half = casin(s);
  } else { /* exp(i w/2) = Q_0 + i s, by the sign of s that adds */
    if (cabs(Q[0] + I * s) < cabs(Q[0] - I * s)) s = -s;
    half = -I * clog(Q[0] + I * s);
  }
  const double complex scale = cabs(s) > 0 ? 2 * (half / s) : 2;
  for (int k = 0; k < 3; k++) {
    const double complex z = scale * Q[k + 1];
    a[k] = creal(z), a[3 + k] = cimag(z);
  }
  return CB_OK;
}

static void exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  double complex z[3], Q[4], square = 0;
  for (int k = 0; k < 3; k++) {
    z[k] = cb_lie_complex(a[k], a[3 + k]);
    square += z[k] * z[k];
  }
  const double complex half = csqrt(square) / 2, sinc = cabs(half) > 0 ? csin(half) / half / 2 : 0.5;
  Q[0] = ccos(half);
  for (int k = 0; k < 3; k++) Q[k + 1] = sinc * z[k];
  double m[4][4];
  cb_lie_lorentz_from(Q, m);
  memcpy(out, m, sizeof m);
}

static cb_status logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  double m[4][4];
  memcpy(m, g, sizeof m);
  return cb_lie_lorentz_log(m, out);
}

static void adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  static const int plane[6][2] = {{2, 1}, {0, 2}, {1, 0}, {3, 0}, {3, 1}, {3, 2}};
  cb_lie_form_adjoint(4, 6, plane, g, 6, out);
}

static void project(const cb_group *G, double *g) {
  (void)G;
  double m[4][4];
  double complex Q[4];
  memcpy(m, g, sizeof m);
  cb_lie_lorentz_to(m, Q);
  cb_lie_lorentz_from(Q, m);
  memcpy(g, m, sizeof m);
}

static int matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  memcpy(out, g, 16 * sizeof *g);
  return 4;
}

const cb_group cb_group_so31 = {
    .name = "so31",
    .doc = "Lorentz group, isometries of H^3",
    .size = 16,
    CB_LIE_PAIRS,
    .number = {"xx", "xy", "xz", "xt", "yx", "yy", "yz", "yt", "zx", "zy", "zz", "zt", "tx", "ty", "tz", "tt"},
    CB_LIE_FORM};
