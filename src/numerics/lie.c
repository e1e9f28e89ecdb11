/* Functions for all groups: ad and the duals, dexp and its inverse, and the list of groups (conventions:
 * curvebody/lie.h).
 *
 * In every group here A = ad_a acts like the cross product by a vector z over a ring of numbers. Therefore A^3 = -n A
 * with n = z.z, and:
 *   dexp_a = 1 + C(n) A + D(n) A^2                   C = (1 - cos w)/w^2,  D = (w - sin w)/w^3,  w^2 = n
 *   dexp_a^-1 = 1 - A/2 + E(n) A^2                   E = (1 - (w/2) cot(w/2))/w^2
 * The numbers are real, with n = -trace(A^2)/2, or pairs. For pairs (omega, v), z = omega + j v with j^2 = K (dual,
 * split or complex numbers), and for f = C, D or E:
 *   n = n0 + n1 j,  n0 = omega.omega + K v.v,  n1 = 2 omega.v
 *   f(n) = f(n0) + f'(n0) n1 j  (K = 0)     (1 + j)/2 f(n0 + n1) + (1 - j)/2 f(n0 - n1)  (K = 1)     complex (K = -1)
 * The functions are series in n where |n| < 6. Elsewhere their derivatives are
 *   2 n C' = 1 - n D - 2 C,  2 n D' = C - 3 D,  2 n g' = g - g^2 - n/4 and n E' = -(g' + E) for g = (w/2) cot(w/2)
 * Sources: curvebody/lie.h; for SE(3) from derivatives of SO(3): Müller, Proc. R. Soc. A 477 (2021) 20210303,
 * doi:10.1098/rspa.2021.0303.
 *
 * The last part contains the groups R^n, SO(2), the Heisenberg group and SE(2). The numbers of a product are sums of
 * the numbers of its factors. The Heisenberg group adds a correction to one sum. In SE(2) the angle of the first factor
 * rotates the position of the second one before the sum.
 */
#include "numerics/lie_private.h"

const cb_group *const cb_groups[] = {&cb_group_so2,  &cb_group_se2,  &cb_group_so3, &cb_group_se3,        &cb_group_so4,
                                     &cb_group_so31, &cb_group_so21, &cb_group_h2e, &cb_group_heisenberg, NULL};

const cb_group *cb_group_find(const char *name) {
  for (const cb_group *const *G = cb_groups; *G; G++)
    if (strcmp((*G)->name, name) == 0) return *G;
  for (int n = 0; n < CB_GROUP_DIM; n++)
    if (strcmp(cb_group_rn_table[n].name, name) == 0) return &cb_group_rn_table[n];
  return NULL;
}

void cb_group_ad(const cb_group *G, const double *a, double *out) {
  for (int j = 0; j < G->dim; j++) {
    double unit[CB_GROUP_DIM] = {0}, column[CB_GROUP_DIM];
    unit[j] = 1;
    G->bracket(G, a, unit, column);
    for (int i = 0; i < G->dim; i++) out[i * G->dim + j] = column[i];
  }
}

/* Computes out = m^T v; out may be v. */
static void transposed_times(int n, const double *m, const double *v, double *out) {
  double product[CB_GROUP_DIM] = {0};
  for (int j = 0; j < n; j++) {
    product[j] = 0;
    for (int i = 0; i < n; i++) product[j] += m[i * n + j] * v[i];
  }
  memcpy(out, product, (size_t)n * sizeof *out);
}

void cb_group_adjoint_dual(const cb_group *G, const double *g, const double *m, double *out) {
  double Ad[CB_GROUP_DIM * CB_GROUP_DIM];
  G->adjoint(G, g, Ad);
  transposed_times(G->dim, Ad, m, out);
}

void cb_group_ad_dual(const cb_group *G, const double *a, const double *m, double *out) {
  double ad[CB_GROUP_DIM * CB_GROUP_DIM];
  cb_group_ad(G, a, ad);
  transposed_times(G->dim, ad, m, out);
}

void cb_group_conjugate(const cb_group *G, const double *h, const double *g, double *out) {
  double back[CB_GROUP_SIZE], product[CB_GROUP_SIZE];
  G->inverse(G, h, back);
  G->multiply(G, h, g, product);
  G->multiply(G, product, back, out);
}

/* The value f of a function of n (file head), and its derivative df by n. */
typedef struct value {
  double complex f, df;
} value;

/* The number of terms of the series. For |n| < 6 the error is 6^16/34! < 1e-25. For |n| < 0.5 half of the terms have an
 * error of 0.5^8/18! < 1e-18. */
enum { FACTORIAL_TERMS = 16 };

/* Returns sum c_k x^k and its derivative, by Horner's rule. */
static value horner(int terms, const double *c, double complex x) {
  value sum = {0, 0};
  for (int k = terms - 1; k >= 0; k--) {
    sum.df = sum.df * x + sum.f;
    sum.f = sum.f * x + c[k];
  }
  return sum;
}

/* Returns the sum of (-n)^k/(2k + offset)! over k = 0, 1, .., and its derivative by n. The offset is 2 or 3. */
static value factorial_series(int offset, double complex n) {
  double c[FACTORIAL_TERMS] = {offset == 2 ? 1.0 / 2 : 1.0 / 6};
  const int terms = cabs(n) < 0.5 ? FACTORIAL_TERMS / 2 : FACTORIAL_TERMS;
  for (int k = 1; k < terms; k++) c[k] = -c[k - 1] / ((2 * k + offset - 1) * (2 * k + offset));
  return horner(terms, c, n);
}

static value cubic(double complex n) {
  if (cabs(n) < 6) return factorial_series(3, n);
  const double complex w = csqrt(n), half = csin(w / 2), C = 2 * half * half / n, D = (1 - csin(w) / w) / n;
  return (value){D, (C - 3 * D) / (2 * n)};
}

static value cosine(double complex n) {
  if (cabs(n) < 6) return factorial_series(2, n);
  const double complex w = csqrt(n), half = csin(w / 2), C = 2 * half * half / n, S = csin(w) / w;
  return (value){C, (S - 2 * C) / (2 * n)};
}

static value even(double complex n) {
  if (cabs(n) < 6) return horner(22, cb_even_series, n);
  const double complex half = csqrt(n) / 2, g = half / ctan(half), E = (1 - g) / n;
  return (value){E, -((g - g * g - n / 4) / (2 * n) + E) / n};
}

static value minus_half(double complex n) {
  (void)n;
  return (value){-0.5, 0};
}

/* Computes n of A = ad_a as two numbers: n0 and n1 for a pair, otherwise n and 0. */
static void norm(const cb_group *G, const double *a, const double *A, double n[2]) {
  if (G->pair) {
    n[0] = cb_dot3(a, a) + G->K * cb_dot3(a + 3, a + 3);
    n[1] = 2 * cb_dot3(a, a + 3);
    return;
  }
  double trace = 0;
  for (int i = 0; i < G->dim; i++)
    for (int j = 0; j < G->dim; j++) trace += A[i * G->dim + j] * A[j * G->dim + i];
  n[0] = -trace / 2;
  n[1] = 0;
}

typedef value function(double complex n);

/* Computes c with f(n) = c0 + c1 j, for a function f of the number n = n0 + n1 j (see the head comment). It is not for
 * split numbers (K = 1). */
static void extend(const cb_group *G, function *f, const double n[2], double c[2]) {
  const value at = f(cb_lie_complex(n[0], G->pair && G->K < 0 ? n[1] : 0));
  c[0] = creal(at.f);
  c[1] = !G->pair ? 0 : G->K < 0 ? cimag(at.f) : creal(at.df) * n[1];
}

/* Adds (c0 + c1 j) A to `out`, where j (omega, v) = (K v, omega). */
static void add(const cb_group *G, const double c[2], const double *A, double *out) {
  const int n = G->dim;
  for (int i = 0; i < n * n; i++) out[i] += c[0] * A[i];
  if (!G->pair || c[1] == 0) return;
  for (int i = 0; i < 18; i++) {
    out[i] += c[1] * G->K * A[i + 18];
    out[i + 18] += c[1] * A[i];
  }
}

/* A sum of commuting parts of a; the functions of ad are computed for each part. Over the split numbers a is the sum of
 * two parts, (s, s) with s = (omega + v)/2 and (s, -s) with s = (omega - v)/2. Each part has ad^3 = -n ad with n = 4
 * s.s. Otherwise there is one part, and none in an abelian group. */
typedef struct parts {
  int count;
  double A[2][CB_GROUP_DIM * CB_GROUP_DIM], n[2][2];
} parts;

static void separate(const cb_group *G, const double *a, parts *p) {
  const bool split = G->pair && G->K > 0;
  p->count = G->abelian ? 0 : split ? 2 : 1;
  if (G->abelian) return;
  if (!split) {
    cb_group_ad(G, a, p->A[0]);
    norm(G, a, p->A[0], p->n[0]);
    return;
  }
  for (int k = 0; k < 2; k++) {
    const double sign = k == 0 ? 1 : -1;
    double part[6];
    for (int i = 0; i < 3; i++) {
      part[i] = (a[i] + sign * a[3 + i]) / 2;
      part[3 + i] = sign * part[i];
    }
    cb_group_ad(G, part, p->A[k]);
    p->n[k][0] = 4 * cb_dot3(part, part);
    p->n[k][1] = 0;
  }
}

/* Computes out = 1 + the sum of f(n) A + h(n) A^2 over the parts. */
static void evaluate(const cb_group *G, const parts *p, function *f, function *h, double *out) {
  for (int i = 0; i < G->dim; i++)
    for (int j = 0; j < G->dim; j++) out[i * G->dim + j] = i == j;
  for (int k = 0; k < p->count; k++) {
    double AA[CB_GROUP_DIM * CB_GROUP_DIM], c[2];
    cb_lie_product(G->dim, p->A[k], p->A[k], AA);
    extend(G, f, p->n[k], c);
    add(G, c, p->A[k], out);
    extend(G, h, p->n[k], c);
    add(G, c, AA, out);
  }
}

/* Returns whether w, with w^2 = n, is a multiple of 2 pi other than 0, up to round-off. */
static bool whole_turn(double complex n) {
  const double complex half = csqrt(n) / 2;
  return cabs(n) > 6 && cabs(csin(half)) <= 4 * DBL_EPSILON * cabs(half);
}

void cb_group_dexp(const cb_group *G, const double *a, double *out) {
  parts p;
  separate(G, a, &p);
  evaluate(G, &p, cosine, cubic, out);
}

cb_status cb_group_dexp_inverse(const cb_group *G, const double *a, double *out) {
  parts p;
  separate(G, a, &p);
  for (int k = 0; k < p.count; k++)
    if (whole_turn(cb_lie_complex(p.n[k][0], G->pair && G->K < 0 ? p.n[k][1] : 0)))
      return cb_fail(CB_STEP_SINGULAR,
                     "%s: dexp has no inverse for a rotation by a multiple of 2 pi: expected a smaller rotation",
                     G->name);
  evaluate(G, &p, minus_half, even, out);
  return CB_OK;
}

const double cb_lie_even[CB_LIE_TERMS] = {1. / 12,       -1. / 720,     1. / 30240,
                                          -1. / 1209600, 1. / 47900160, -691. / 1307674368000};

cb_status cb_lie_left_rate(const cb_group *G, const double *a, const double *xi, double *out) {
  const int dim = G->dim;
  double odd[CB_GROUP_DIM], even[CB_GROUP_DIM], size = 0;
  G->bracket(G, a, xi, odd);
  for (int i = 0; i < dim; i++) {
    out[i] = xi[i] + odd[i] / 2;
    size = fmax(size, fabs(out[i]));
  }
  for (int k = 0; k < CB_LIE_TERMS; k++) {
    double last = 0;
    G->bracket(G, a, odd, even);
    for (int i = 0; i < dim; i++) {
      out[i] += cb_lie_even[k] * even[i];
      last = fmax(last, fabs(cb_lie_even[k] * even[i]));
    }
    if (last <= DBL_EPSILON / 4 * size) return CB_OK;
    G->bracket(G, a, even, odd);
  }
  double minus[CB_GROUP_DIM], D[CB_GROUP_DIM * CB_GROUP_DIM];
  for (int i = 0; i < dim; i++) minus[i] = -a[i];
  const cb_status status = cb_group_dexp_inverse(G, minus, D);
  for (int i = 0; !status && i < dim; i++) {
    out[i] = 0;
    for (int j = 0; j < dim; j++) out[i] += D[i * dim + j] * xi[j];
  }
  return status;
}

/* --- functions of a group whose elements multiply by adding their numbers --- */

static void vector_identity(const cb_group *G, double *g) {
  for (int i = 0; i < G->dim; i++) g[i] = 0;
}

static void vector_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  for (int i = 0; i < G->dim; i++) out[i] = a[i] + b[i];
}

static void vector_inverse(const cb_group *G, const double *g, double *out) {
  for (int i = 0; i < G->dim; i++) out[i] = -g[i];
}

static void vector_exp(const cb_group *G, const double *a, double *out) {
  for (int i = 0; i < G->dim; i++) out[i] = a[i];
}

static cb_status vector_log(const cb_group *G, const double *g, double *out) {
  vector_exp(G, g, out);
  return CB_OK;
}

void cb_lie_vector_adjoint(const cb_group *G, const double *g, double *out) {
  (void)g;
  for (int i = 0; i < G->dim; i++)
    for (int j = 0; j < G->dim; j++) out[i * G->dim + j] = i == j;
}

static void vector_bracket(const cb_group *G, const double *a, const double *b, double *out) {
  (void)a;
  (void)b;
  for (int i = 0; i < G->dim; i++) out[i] = 0;
}

static void vector_project(const cb_group *G, double *g) {
  (void)G;
  (void)g;
}

/* --- the bracket of the algebras of three dimensions --- */

void cb_lie_plane_bracket(const cb_group *G, const double *a, const double *b, double *out) {
  const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = G->K * (a[0] * b[1] - a[1] * b[0]);
  out[0] = x;
  out[1] = y;
  out[2] = z;
  for (int i = 3; i < G->dim; i++) out[i] = 0;
}

/* --- R^n, SO(2), the Heisenberg group and SE(2) --- */

/* Members of a group whose exp does not change the numbers. */
#define VECTORS                                                                                 \
  .identity = vector_identity, .inverse = vector_inverse, .exp = vector_exp, .log = vector_log, \
  .project = vector_project

/* --- R^n, n = 1 to 12: translations; up to n = 4 the matrix of x is [[I, x], [0, 1]] with the unit matrix I --- */
static int rn_matrix(const cb_group *G, const double *g, double *out) {
  const int n = G->dim + 1;
  if (n > 5) return 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = i == j ? 1 : j == n - 1 ? g[i] : 0;
  return n;
}

#define COORDINATES \
  { "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12" }
#define TRANSLATIONS(n)                                                                                              \
  {                                                                                                                  \
    .name = "r" #n, .doc = "translations of R^" #n, .dim = n, .size = n, .axis = COORDINATES, .number = COORDINATES, \
    .abelian = true, VECTORS, .multiply = vector_multiply, .adjoint = cb_lie_vector_adjoint,                         \
    .bracket = vector_bracket, .matrix = rn_matrix                                                                   \
  }

const cb_group cb_group_rn_table[CB_GROUP_DIM] = {
    TRANSLATIONS(1), TRANSLATIONS(2), TRANSLATIONS(3), TRANSLATIONS(4),  TRANSLATIONS(5),  TRANSLATIONS(6),
    TRANSLATIONS(7), TRANSLATIONS(8), TRANSLATIONS(9), TRANSLATIONS(10), TRANSLATIONS(11), TRANSLATIONS(12)};

cb_group cb_group_rn(int n) { return n >= 1 && n <= CB_GROUP_DIM ? cb_group_rn_table[n - 1] : (cb_group){0}; }

/* --- SO(2): an angle that is not reduced modulo 2 pi; its logarithm is equal to it modulo 2 pi and nearest 0 --- */

static cb_status so2_logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  return cb_lie_nearest_angle(g[0], out);
}

static int so2_matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double c = cos(g[0]), s = sin(g[0]), m[4] = {c, -s, s, c};
  memcpy(out, m, sizeof m);
  return 2;
}

const cb_group cb_group_so2 = {.name = "so2",
                               .doc = "rotations of the plane",
                               .dim = 1,
                               .size = 1,
                               .axis = {"omega"},
                               .number = {"theta"},
                               .abelian = true,
                               .angle = 1,
                               .identity = vector_identity,
                               .multiply = vector_multiply,
                               .inverse = vector_inverse,
                               .exp = vector_exp,
                               .log = so2_logarithm,
                               .adjoint = cb_lie_vector_adjoint,
                               .bracket = vector_bracket,
                               .project = vector_project,
                               .matrix = so2_matrix};

/* --- the Heisenberg group in exponential coordinates, where exp and log do not change the numbers ---
 *
 *   (x, y, z)(x', y', z') = (x + x', y + y', z + z' + (x y' - y x')/2)     [a, b] = (0, 0, a_x b_y - a_y b_x)
 *   matrix [[1, x, z + x y/2], [0, 1, y], [0, 0, 1]]
 * [a, b] is the bracket of the elements a and b of the algebra.
 */

static void heisenberg_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  const double c[3] = {a[0] + b[0], a[1] + b[1], a[2] + b[2] + (a[0] * b[1] - a[1] * b[0]) / 2};
  memcpy(out, c, sizeof c);
}

static void heisenberg_adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double m[9] = {1, 0, 0, 0, 1, 0, -g[1], g[0], 1};
  memcpy(out, m, sizeof m);
}

static void heisenberg_bracket(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  const double c[3] = {0, 0, a[0] * b[1] - a[1] * b[0]};
  memcpy(out, c, sizeof c);
}

static int heisenberg_matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double m[9] = {1, g[0], g[2] + g[0] * g[1] / 2, 0, 1, g[1], 0, 0, 1};
  memcpy(out, m, sizeof m);
  return 3;
}

const cb_group cb_group_heisenberg = {.name = "heisenberg",
                                      .doc = "Heisenberg group, Dido's problem",
                                      .dim = 3,
                                      .size = 3,
                                      .axis = {"x", "y", "z"},
                                      .number = {"x", "y", "z"},
                                      VECTORS,
                                      .multiply = heisenberg_multiply,
                                      .adjoint = heisenberg_adjoint,
                                      .bracket = heisenberg_bracket,
                                      .matrix = heisenberg_matrix};

/* --- SE(2): (x, y, theta), motions of the plane; theta is not reduced modulo 2 pi ---
 *
 *   (p, theta)(p', theta') = (p + R(theta) p', theta + theta')     [a, b] = (a_y b_w - a_w b_y, a_w b_x - a_x b_w, 0)
 *   exp(v, w) = (V v, w),  V = [[s, -c], [c, s]],  s = sin w/w, c = (1 - cos w)/w
 *   V^-1 = [[g, w/2], [-w/2, g]],  g = (w/2) cot(w/2)
 * p = (x, y) is the position, and R a rotation of the plane. V and V^-1 are 2 x 2 matrices. [a, b] is the bracket of
 * the elements a = (a_x, a_y, a_w) = (v, w) and b of the algebra.
 */

static void se2_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  const double c = cos(a[2]), s = sin(a[2]), x = b[0], y = b[1];
  const double product[3] = {a[0] + c * x - s * y, a[1] + s * x + c * y, a[2] + b[2]};
  memcpy(out, product, sizeof product);
}

static void se2_inverse(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double c = cos(g[2]), s = sin(g[2]), x = g[0], y = g[1];
  out[0] = -c * x - s * y;
  out[1] = s * x - c * y;
  out[2] = -g[2];
}

static void se2_exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  const double w = a[2], half = cb_sinc(w / 2), s = cb_sinc(w), c = w / 2 * half * half, x = a[0], y = a[1];
  out[0] = s * x - c * y;
  out[1] = c * x + s * y;
  out[2] = w;
}

static cb_status se2_logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  double w = 0;
  const cb_status status = cb_lie_nearest_angle(g[2], &w);
  if (status != CB_OK) return status;
  const double half = w / 2, turned = half != 0 ? half / tan(half) : 1, x = g[0], y = g[1];
  out[0] = turned * x + half * y;
  out[1] = turned * y - half * x;
  out[2] = w;
  return CB_OK;
}

static void se2_adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double c = cos(g[2]), s = sin(g[2]), m[9] = {c, -s, g[1], s, c, -g[0], 0, 0, 1};
  memcpy(out, m, sizeof m);
}

static int se2_matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double c = cos(g[2]), s = sin(g[2]), m[9] = {c, -s, g[0], s, c, g[1], 0, 0, 1};
  memcpy(out, m, sizeof m);
  return 3;
}

const cb_group cb_group_se2 = {.name = "se2",
                               .doc = "motions of the Euclidean plane",
                               .dim = 3,
                               .size = 3,
                               .axis = {"v_x", "v_y", "omega"},
                               .number = {"x", "y", "theta"},
                               .angle = 3,
                               .identity = vector_identity,
                               .multiply = se2_multiply,
                               .inverse = se2_inverse,
                               .exp = se2_exponential,
                               .log = se2_logarithm,
                               .adjoint = se2_adjoint,
                               .bracket = cb_lie_plane_bracket,
                               .project = vector_project,
                               .matrix = se2_matrix};
