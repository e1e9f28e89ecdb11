/* Groups of isometries: unit quaternions for SO(3), SO(4) and SE(3), and Lorentz matrices for SO(3,1), SO(2,1) and
 * SO(2,1) x R.
 *
 * Groups whose elements are unit quaternions (w, x, y, z): SO(3), SO(4), and SE(3), whose elements also have a position
 * after the quaternion.
 *
 * Groups of Lorentz matrices: SO(3,1), SO(2,1), and SO(2,1) x R, each the component of the identity.
 *
 * SO(3,1) are the matrices on (x, y, z, t) that are isometries of H^3, with the algebra (omega, v) of rotations and
 * boosts. They are computed from biquaternions Q = a + p with the complex numbers a and p = (p_x, p_y, p_z). A point is
 * X = t + i (x, y, z), and X -> Q X Q^+ with Q^+ = conj(a) - conj(p):
 *   exp(omega, v) = (cos(w/2), sin(w/2)/w z),  z = omega + i v,  w^2 = z.z
 *   with h = conj(a) p, N = p p^+ and (i, j, k) cyclic, the matrix is
 *     m_tt = |a|^2 + tr N,  m_kt = 2 Im h_k - 2 Im N_ij,  m_tk = 2 Im h_k + 2 Im N_ij
 *     m_jk = (|a|^2 - tr N) delta_jk + 2 Re N_jk + 2 hat(Re h)_jk
 * The logarithm computes these products from the matrix. It uses the largest of |a|^2, N_11, N_22, N_33 for the square
 * root, as Shepperd does for rotations: J. Guidance and Control 1 (1978) 223, doi:10.2514/3.55767b. The logarithm is
 * not unique where Re a = 0. A boost by b multiplies round-off by e^b.
 */
#include "numerics/lie_private.h"

#include <curvebody/se3.h>

/* --- common to groups of unit quaternions --- */

static void unit_identity(const cb_group *G, double *g) {
  memset(g, 0, (size_t)G->size * sizeof *g);
  for (int k = 0; k + 4 <= G->size; k += 4) g[k] = 1;
}

static void unit_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  for (int k = 0; k + 4 <= G->size; k += 4) cb_quaternion_multiply(a + k, b + k, out + k);
}

static void unit_inverse(const cb_group *G, const double *g, double *out) {
  for (int k = 0; k + 4 <= G->size; k += 4) cb_quaternion_inverse(g + k, out + k);
}

static void unit_project(const cb_group *G, double *g) {
  for (int k = 0; k + 4 <= G->size; k += 4) cb_quaternion_project(g + k);
}

/* clang-format off */
#define CB_LIE_UNITS(g)                                                                                            \
  .identity = unit_identity, .multiply = unit_multiply, .inverse = unit_inverse,           \
  .exp = g##_exponential, .log = g##_logarithm, .adjoint = g##_adjoint, .project = unit_project,    \
  .matrix = g##_matrix
/* clang-format on */

/* clang-format off */
/* The members of a group whose algebra consists of pairs (omega, v). */
#define PAIRS                                                                                            \
  .dim = 6, .axis = {"omega_x", "omega_y", "omega_z", "v_x", "v_y", "v_z"}, .bracket = pair_bracket, .pair = true
/* clang-format on */

/* Computes the bracket [a, b] of the pairs a and b (curvebody/lie.h) with K = G->K; out may be a or b. */
static void pair_bracket(const cb_group *G, const double *a, const double *b, double *out) {
  double ww[3], vv[3], wv[3], vw[3];
  cb_cross3(a, b, ww);
  cb_cross3(a + 3, b + 3, vv);
  cb_cross3(a, b + 3, wv);
  cb_cross3(a + 3, b, vw);
  for (int i = 0; i < 3; i++) {
    out[i] = ww[i] + G->K * vv[i];
    out[3 + i] = wv[i] + vw[i];
  }
}

/* --- SO(3): rotations of space and isometries of S^2; q and -q are the same rotation ---
 *
 *   exp(a) = (cos(|a|/2), sin(|a|/2) a/|a|)     [a, b] = a × b     Ad_q = R(q), the matrix of the rotation
 */

static void so3_exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  cb_quaternion_exp(a, out);
}

static cb_status so3_logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  if (!(fabs(g[0]) > CB_LIE_HALF_TURN))
    return cb_fail(CB_ERROR_DOMAIN, "the logarithm of a rotation by pi is not unique: expected a smaller rotation");
  const double sign = g[0] < 0 ? -1 : 1, q[4] = {sign * g[0], sign * g[1], sign * g[2], sign * g[3]};
  cb_quaternion_log(q, out);
  return CB_OK;
}

static void so3_adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  double r[3][3];
  cb_quaternion_rotation(g, r);
  memcpy(out, r, sizeof r);
}

static int so3_matrix(const cb_group *G, const double *g, double *out) {
  so3_adjoint(G, g, out);
  return 3;
}

const cb_group cb_group_so3 = {.name = "so3",
                               .doc = "rotations of space, isometries of the sphere S^2",
                               .dim = 3,
                               .size = 4,
                               .axis = {"omega_x", "omega_y", "omega_z"},
                               .number = {"q_w", "q_x", "q_y", "q_z"},
                               .bracket = cb_lie_plane_bracket,
                               CB_LIE_UNITS(so3),
                               .K = 1};

/* --- SO(4): two unit quaternions l and r, x -> l x r^* on the quaternions x, isometries of S^3 ---
 *
 * (l, r) and (-l, -r) are one element. r^* is the conjugate of r.
 *
 *   exp(omega, v) = (exp((omega + v)/2), exp((omega - v)/2)):  1 -> exp(v) for omega = 0, 1 -> 1 for v = 0
 *   log: (|omega + v| + |omega - v|)/2, the larger of the two angles of rotation, is below pi; then l_w + r_w > 0
 * The matrix is on (x, y, z, w).
 */

static void so4_exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  const double left[3] = {a[0] + a[3], a[1] + a[4], a[2] + a[5]}, right[3] = {a[0] - a[3], a[1] - a[4], a[2] - a[5]};
  cb_quaternion_exp(left, out);
  cb_quaternion_exp(right, out + 4);
}

static cb_status so4_logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double sum = g[0] + g[4];
  if (!(fabs(sum) > 2 * CB_LIE_HALF_TURN))
    return cb_fail(CB_ERROR_DOMAIN,
                   "the logarithm of a rotation with an angle of pi is not unique: expected a smaller rotation");
  double q[8], left[3], right[3];
  for (int i = 0; i < 8; i++) q[i] = sum < 0 ? -g[i] : g[i];
  cb_quaternion_log(q, left);
  cb_quaternion_log(q + 4, right);
  for (int i = 0; i < 3; i++) {
    out[i] = (left[i] + right[i]) / 2;
    out[3 + i] = (left[i] - right[i]) / 2;
  }
  return CB_OK;
}

static void so4_adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  double left[3][3], right[3][3];
  cb_quaternion_rotation(g, left);
  cb_quaternion_rotation(g + 4, right);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[i * 6 + j] = out[(i + 3) * 6 + j + 3] = (left[i][j] + right[i][j]) / 2;
      out[i * 6 + j + 3] = out[(i + 3) * 6 + j] = (left[i][j] - right[i][j]) / 2;
    }
}

static int so4_matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  static const int place[4] = {3, 0, 1, 2}; /* the indices of (w, x, y, z) in (x, y, z, w) */
  double right[4];
  cb_quaternion_inverse(g + 4, right);
  for (int j = 0; j < 4; j++) {
    double x[4] = {0};
    x[j] = 1;
    cb_quaternion_multiply(g, x, x);
    cb_quaternion_multiply(x, right, x);
    for (int i = 0; i < 4; i++) out[4 * place[i] + place[j]] = x[i];
  }
  return 4;
}

const cb_group cb_group_so4 = {.name = "so4",
                               .doc = "rotations of four dimensions, isometries of S^3",
                               .size = 8,
                               PAIRS,
                               .number = {"l_w", "l_x", "l_y", "l_z", "r_w", "r_x", "r_y", "r_z"},
                               CB_LIE_UNITS(so4),
                               .K = 1};

/* --- SE(3): a unit quaternion and a position, motions of space; algebra (omega, v) (equations: curvebody/se3.h) --- */

static cb_pose pose(const double *g) { return (cb_pose){{g[0], g[1], g[2], g[3]}, {g[4], g[5], g[6]}}; }

static void store(const cb_pose *p, double *g) {
  memcpy(g, p->q, sizeof p->q);
  memcpy(g + 4, p->x, sizeof p->x);
}

static void se3_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  cb_pose p = pose(a), q = pose(b);
  cb_pose_multiply(&p, &q, &p);
  store(&p, out);
}

static void se3_inverse(const cb_group *G, const double *g, double *out) {
  (void)G;
  const cb_pose p = pose(g);
  cb_pose i;
  cb_pose_inverse(&p, &i);
  store(&i, out);
}

static void se3_exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  cb_pose p;
  cb_se3_tau(CB_SE3_EXPONENTIAL, a, &p);
  store(&p, out);
}

static cb_status se3_logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  if (!(fabs(g[0]) > CB_LIE_HALF_TURN))
    return cb_fail(CB_ERROR_DOMAIN, "the logarithm of a rotation by pi is not unique: expected a smaller rotation");
  const cb_pose p = pose(g);
  cb_se3_log(&p, out);
  return CB_OK;
}

static void se3_adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  const cb_pose p = pose(g);
  double m[6][6];
  cb_pose_adjoint(&p, m);
  memcpy(out, m, sizeof m);
}

static int se3_matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  double r[3][3];
  cb_quaternion_rotation(g, r);
  for (int i = 0; i < 3; i++) {
    memcpy(out + 4 * i, r[i], sizeof r[i]);
    out[4 * i + 3] = g[4 + i];
    out[12 + i] = 0;
  }
  out[15] = 1;
  return 4;
}

const cb_group cb_group_se3 = {.name = "se3",
                               .doc = "motions of Euclidean space",
                               .size = 7,
                               PAIRS,
                               .number = {"q_w", "q_x", "q_y", "q_z", "x", "y", "z"},
                               .identity = unit_identity,
                               .multiply = se3_multiply,
                               .inverse = se3_inverse,
                               .exp = se3_exponential,
                               .log = se3_logarithm,
                               .adjoint = se3_adjoint,
                               .project = unit_project,
                               .matrix = se3_matrix,
                               .K = 0};

/* --- common to groups of Lorentz matrices, which keep a form with the signs +, .., +, -; a height follows the
 * matrix in SO(2,1) x R --- */

static int rows(const cb_group *G) { return G->size < 16 ? 3 : 4; }

static void form_identity(const cb_group *G, double *g) {
  memset(g, 0, (size_t)G->size * sizeof *g);
  for (int i = 0; i < rows(G); i++) g[i * rows(G) + i] = 1;
}

static void form_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  const int n = rows(G);
  double c[16];
  cb_lie_product(n, a, b, c);
  for (int i = n * n; i < G->size; i++) c[i] = a[i] + b[i];
  memcpy(out, c, (size_t)G->size * sizeof *c);
}

/* Computes the inverse of a Lorentz matrix: its transpose, in which the last row and the last column change sign (but
 * not their common entry). In SO(2,1) x R the height changes sign, too. */
static void form_inverse(const cb_group *G, const double *g, double *out) {
  const int n = rows(G);
  double t[16];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) t[i * n + j] = (i == n - 1) != (j == n - 1) ? -g[j * n + i] : g[j * n + i];
  for (int i = n * n; i < G->size; i++) t[i] = -g[i];
  memcpy(out, t, (size_t)G->size * sizeof *t);
}

/* clang-format off */
#define CB_LIE_FORM(g)                                                                                             \
  .identity = form_identity, .multiply = form_multiply, .inverse = form_inverse,           \
  .exp = g##_exponential, .log = g##_logarithm, .adjoint = g##_adjoint, .project = g##_project,            \
  .matrix = g##_matrix, .K = -1
/* clang-format on */

/* Computes Ad_g of an isometry of the form. Generator k is the product of a matrix B and the form, where B has only the
 * entries B_pq = 1 and B_qp = -1 with (p, q) = plane[k]. The entries of Ad_g are therefore minors of g. */
static inline void form_adjoint(int n, int dim, const int plane[][2], const double *g, int width, double *out) {
  for (int k = 0; k < dim; k++)
    for (int l = 0; l < dim; l++) {
      const double *p = g + plane[k][0] * n, *q = g + plane[k][1] * n;
      out[k * width + l] = p[plane[l][0]] * q[plane[l][1]] - p[plane[l][1]] * q[plane[l][0]];
    }
}

static void lorentz_from(const double complex Q[4], double out[4][4]) {
  double r[4], s[4], trace = 0, re[3], im[3];
  for (int k = 0; k < 4; k++) {
    r[k] = creal(Q[k]);
    s[k] = cimag(Q[k]);
  }
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
    out[j][i] += 2 * re[k];
    out[i][j] -= 2 * re[k];
    out[k][3] = 2 * (im[k] + cross);
    out[3][k] = 2 * (im[k] - cross);
  }
  out[3][3] = square + trace;
}

static void lorentz_to(const double m[4][4], double complex Q[4]) {
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
  double complex phase = csqrt(unit); /* the products determine Q only up to a phase; Q.Q = 1 determines the phase */
  if (creal(Q[0] / phase) < 0) phase = -phase;
  for (int k = 0; k < 4; k++) Q[k] /= phase;
}

static cb_status lorentz_log(const double m[4][4], double a[6]) {
  double complex Q[4];
  lorentz_to(m, Q);
  const double size = sqrt(m[3][3]);
  if (!(creal(Q[0]) > CB_LIE_HALF_TURN * size))
    return cb_fail(
        CB_ERROR_DOMAIN,
        "the logarithm of a rotation by pi (with or without a boost) is not unique: expected a smaller rotation");
  double complex s = csqrt(Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]), half;
  if (cabs(s) < 0.5) {
    half = casin(s);
  } else { /* exp(i w/2) = Q_0 + i s; the sign of s is chosen so that the sum has no cancellation */
    if (cabs(Q[0] + I * s) < cabs(Q[0] - I * s)) s = -s;
    half = -I * clog(Q[0] + I * s);
  }
  const double complex scale = cabs(s) > 0 ? 2 * (half / s) : 2;
  for (int k = 0; k < 3; k++) {
    const double complex z = scale * Q[k + 1];
    a[k] = creal(z);
    a[3 + k] = cimag(z);
  }
  return CB_OK;
}

static void so31_exponential(const cb_group *G, const double *a, double *out) {
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
  lorentz_from(Q, m);
  memcpy(out, m, sizeof m);
}

static cb_status so31_logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  double m[4][4];
  memcpy(m, g, sizeof m);
  return lorentz_log(m, out);
}

static void so31_adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  static const int plane[6][2] = {{2, 1}, {0, 2}, {1, 0}, {3, 0}, {3, 1}, {3, 2}};
  form_adjoint(4, 6, plane, g, 6, out);
}

static void so31_project(const cb_group *G, double *g) {
  (void)G;
  double m[4][4];
  double complex Q[4];
  memcpy(m, g, sizeof m);
  lorentz_to(m, Q);
  lorentz_from(Q, m);
  memcpy(g, m, sizeof m);
}

static int so31_matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  memcpy(out, g, 16 * sizeof *g);
  return 4;
}

const cb_group cb_group_so31 = {
    .name = "so31",
    .doc = "Lorentz group, isometries of H^3",
    .size = 16,
    PAIRS,
    .number = {"xx", "xy", "xz", "xt", "yx", "yy", "yz", "yt", "zx", "zy", "zz", "zt", "tx", "ty", "tz", "tt"},
    CB_LIE_FORM(so31)};

/* --- SO(2,1): matrices on (x, y, t) that keep x^2 + y^2 - t^2, isometries of H^2 ---
 *
 * An element of SO(2,1) x R is the matrix followed by a height; its algebra is (v_x, v_y, w, v_z): isometries of H^2 x
 * E.
 * Below, a = (a_x, a_y, a_w) stands for (v_x, v_y, w), and b likewise.
 *
 *   X = [[0, -w, v_x], [w, 0, v_y], [v_x, v_y, 0]],  X^3 = -n X,  n = w^2 - v_x^2 - v_y^2
 *   exp X = 1 + sin(r)/r X + (1 - cos r)/r^2 X^2,  r^2 = n (hyperbolic functions for n < 0)
 *   [a, b] = (a_y b_w - a_w b_y, a_w b_x - a_x b_w, -(a_x b_y - a_y b_x))
 * The logarithm and the projection are those of SO(3,1) with z fixed.
 */

/* Returns sin(r)/r for n >= 0 and sinh(r)/r for n < 0, where r = sqrt|n|; 1 for n = 0. */
static double sine(double n) {
  const double r = sqrt(fabs(n));
  return n < 0 ? (r > 0 ? sinh(r) / r : 1) : cb_sinc(r);
}

static void so21_exponential(const cb_group *G, const double *a, double *out) {
  const double x = a[0], y = a[1], w = a[2], v = hypot(x, y), n = (w - v) * (w + v);
  const double s = sine(n), half = sine(n / 4), c = half * half / 2;
  const double X[9] = {0, -w, x, w, 0, y, x, y, 0};
  double square[9];
  cb_lie_product(3, X, X, square);
  if (G->dim > 3) out[9] = a[3];
  for (int i = 0; i < 9; i++) out[i] = (i % 4 == 0) + s * X[i] + c * square[i];
}

static const int place[3] = {0, 1, 3}; /* the indices of (x, y, t) in (x, y, z, t) */

static void embed(const double g[9], double m[4][4]) {
  memset(m, 0, 16 * sizeof(double));
  m[2][2] = 1;
  for (int i = 0; i < 9; i++) m[place[i / 3]][place[i % 3]] = g[i];
}

static cb_status so21_logarithm(const cb_group *G, const double *g, double *out) {
  double m[4][4], all[6];
  embed(g, m);
  const cb_status status = lorentz_log(m, all);
  if (status != CB_OK) return status;
  const double a[4] = {all[3], all[4], all[2], G->dim > 3 ? g[9] : 0};
  memcpy(out, a, (size_t)G->dim * sizeof *a);
  return CB_OK;
}

static void so21_adjoint(const cb_group *G, const double *g, double *out) {
  static const int plane[3][2] = {{2, 0}, {2, 1}, {1, 0}};
  double m[9];
  memcpy(m, g, sizeof m);
  cb_lie_vector_adjoint(G, g, out); /* sets the identity, which stays in the row and column of the height */
  form_adjoint(3, 3, plane, m, G->dim, out);
}

static void so21_project(const cb_group *G, double *g) {
  (void)G;
  double m[4][4];
  double complex Q[4];
  embed(g, m);
  lorentz_to(m, Q);
  Q[1] = cb_lie_complex(0, cimag(Q[1]));
  Q[2] = cb_lie_complex(0, cimag(Q[2]));
  Q[0] = creal(Q[0]);
  Q[3] = creal(Q[3]);
  lorentz_from(Q, m);
  for (int i = 0; i < 9; i++) g[i] = m[place[i / 3]][place[i % 3]];
}

/* Writes the matrix; a height z adds the block [[1, z], [0, 1]]. */
static int so21_matrix(const cb_group *G, const double *g, double *out) {
  const int n = G->dim > 3 ? 5 : 3;
  memset(out, 0, (size_t)(n * n) * sizeof *out);
  for (int i = 0; i < 9; i++) out[i / 3 * n + i % 3] = g[i];
  if (n == 5) {
    out[18] = out[24] = 1;
    out[19] = g[9];
  }
  return n;
}

const cb_group cb_group_so21 = {.name = "so21",
                                .doc = "isometries of the hyperbolic plane H^2",
                                .dim = 3,
                                .size = 9,
                                .axis = {"v_x", "v_y", "omega"},
                                .number = {"xx", "xy", "xt", "yx", "yy", "yt", "tx", "ty", "tt"},
                                .bracket = cb_lie_plane_bracket,
                                CB_LIE_FORM(so21)};

const cb_group cb_group_h2e = {.name = "h2e",
                               .doc = "isometries of H^2 x E",
                               .dim = 4,
                               .size = 10,
                               .axis = {"v_x", "v_y", "omega", "v_z"},
                               .number = {"xx", "xy", "xt", "yx", "yy", "yt", "tx", "ty", "tt", "z"},
                               .bracket = cb_lie_plane_bracket,
                               CB_LIE_FORM(so21)};
