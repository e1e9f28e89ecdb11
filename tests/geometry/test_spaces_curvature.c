/* Tests the curvature of the built-in spaces that are defined by a metric against closed forms: Nil, Sol and SL2 in
 * their frames (Milnor, Adv. Math. 21 (1976) 293), IH, Schwarzschild's slice, surfaces. The curvature is computed by
 * the library, and independently from the metric. */
#include "check_intrinsic.h"

/* The curvature tensor R of the metric g, computed without functions of the library: R_ijkl = (d_j d_k g_il + d_i d_l
 * g_jk - d_i d_k g_jl - d_j d_l g_ik)/2 + g_mn (G^m_jk G^n_il - G^m_jl G^n_ik), with the Christoffel symbols G. The
 * sectional curvature of two vectors u and v is K(u, v) = R(u, v, u, v)/(|u|^2 |v|^2 - (u.v)^2). Source: Landau &
 * Lifshitz, Fields, eq. 92.1. */
typedef struct curved {
  int n;
  double g[N][N], R[N][N][N][N], inverse[N][N];
} curved;

static void inverse_of(int n, double a[N][N], double out[N][N]) {
  double w[N][2 * N] = {{0}};
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) w[i][j] = a[i][j];
    w[i][n + i] = 1;
  }
  for (int p = 0; p < n; p++) /* a is positive definite, so no pivoting is needed */
    for (int i = 0; i < n; i++) {
      const double f = i == p ? 1 - 1 / w[p][p] : w[i][p] / w[p][p];
      for (int j = 0; j < 2 * n; j++) w[i][j] -= f * w[p][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i][j] = w[i][n + j];
}

static void curvature_of(const cb_space *space, const double *q, curved *c) {
  const int n = c->n = space->dim;
  double gij[N * N], dg[N * N * N], ddg[N * N * N * N], low[N][N][N], up[N][N][N];
  metric_at(space, q, gij, dg, ddg);
#define D(l, i, j) dg[((l)*n + (i)) * n + (j)]
#define DD(m, l, i, j) ddg[(((m)*n + (l)) * n + (i)) * n + (j)]
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) c->g[i][j] = gij[i * n + j];
  inverse_of(n, c->g, c->inverse);
  for (int m = 0; m < n; m++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) low[m][j][k] = (D(j, m, k) + D(k, m, j) - D(m, j, k)) / 2;
  for (int m = 0; m < n; m++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        up[m][j][k] = 0;
        for (int i = 0; i < n; i++) up[m][j][k] += c->inverse[m][i] * low[i][j][k];
      }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++) {
          double sum = (DD(j, k, i, l) + DD(i, l, j, k) - DD(i, k, j, l) - DD(j, l, i, k)) / 2;
          for (int m = 0; m < n; m++) sum += low[m][j][k] * up[m][i][l] - low[m][j][l] * up[m][i][k];
          c->R[i][j][k][l] = sum;
        }
#undef D
#undef DD
}

static double sectional(const curved *c, const double *u, const double *v) {
  double r = 0, uu = 0, vv = 0, uv = 0;
  for (int i = 0; i < c->n; i++)
    for (int j = 0; j < c->n; j++) {
      uu += c->g[i][j] * u[i] * u[j];
      vv += c->g[i][j] * v[i] * v[j];
      uv += c->g[i][j] * u[i] * v[j];
      for (int k = 0; k < c->n; k++)
        for (int l = 0; l < c->n; l++) r += c->R[i][j][k][l] * u[i] * v[j] * u[k] * v[l];
    }
  return r / (uu * vv - uv * uv);
}

static double scalar(const curved *c) {
  double sum = 0;
  for (int i = 0; i < c->n; i++)
    for (int j = 0; j < c->n; j++)
      for (int k = 0; k < c->n; k++)
        for (int l = 0; l < c->n; l++) sum += c->inverse[i][k] * c->inverse[j][l] * c->R[i][j][k][l];
  return sum;
}

/* Checks by both methods that the sectional curvatures of the planes e1 e2, e1 e3 and e2 e3 of the frame e are k[3]. */
static void check_frame(const cb_space *g, const double *q, double e[3][3], const double *k, double tolerance) {
  static const int planes[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  curved c;
  curvature_of(g, q, &c);
  for (int i = 0; i < 3; i++) {
    const double *u = e[planes[i][0]], *v = e[planes[i][1]];
    double own;
    check_near(sectional(&c, u, v), k[i], tolerance);
    check_ok(cb_sectional(g, q, u, v, &own));
    check_near(own, k[i], tolerance);
  }
  check_near(scalar(&c), 2 * (k[0] + k[1] + k[2]), 4 * tolerance);
}

static void groups_have_the_curvature_of_their_frames(void **unused) {
  uint64_t state = check_seed();
  for (int which = 0; which < 3; which++) {
    static const char *const name[] = {"nil", "sol", "sl2"};
    static const double k[3][3] = {{-0.75, 0.25, 0.25}, {1, -1, -1}, {-1.75, 0.25, 0.25}};
    cb_space *g;
    check_ok(cb_space_create(name[which], NULL, &g));
    for (int repeat = 0; repeat < 50; repeat++) {
      double q[3];
      random_coordinates(g, &state, q);
      double nil[3][3] = {{1, 0, 0}, {0, 1, q[0]}, {0, 0, 1}};
      double sol[3][3] = {{exp(-q[2]), 0, 0}, {0, exp(q[2]), 0}, {0, 0, 1}};
      double sl2[3][3] = {{exp(q[1]), 0, -1}, {0, 1, 0}, {0, 0, 1}};
      check_frame(g, q, which == 0 ? nil : which == 1 ? sol : sl2, k[which], 1e-11);
    }
    cb_space_free(g);
  }
}

/* Computes a frame e of the radial direction and two directions orthogonal to it, not normalized. */
static void radial_frame(const double *q, double e[3][3]) {
  for (int i = 0; i < 3; i++) e[0][i] = q[i];
  e[1][0] = -q[1];
  e[1][1] = q[0];
  e[1][2] = 0;
  e[2][0] = -q[2] * q[0];
  e[2][1] = -q[2] * q[1];
  e[2][2] = q[0] * q[0] + q[1] * q[1];
}

static void ih_has_its_curvature(void **unused) {
  uint64_t state = check_seed();
  cb_space *g;
  check_ok(cb_space_create("ih", NULL, &g));
  for (int repeat = 0; repeat < 200; repeat++) {
    double q[3], e[3][3];
    for (int i = 0; i < 3; i++) q[i] = check_uniform(&state, -3, 3);
    radial_frame(q, e);
    const double s = q[0] * q[0] + q[1] * q[1] + q[2] * q[2], f = s + 2, cube = f * f * f;
    check_frame(g, q, e, (double[]){-4 / cube, -4 / cube, -(3 * s + 4) / cube}, 1e-13);
  }
  cb_space_free(g);
}

static void schwarzschild_slice_is_scalar_flat(void **unused) {
  uint64_t state = check_seed();
  check_map m;
  cb_space *g;
  const double mass = 0.7;
  check_ok(cb_space_create("schwarzschild", check_map_fill(&m, "mass", "0.7", NULL, NULL), &g));
  for (int repeat = 0; repeat < 200; repeat++) {
    double q[3], e[3][3], own;
    random_coordinates(g, &state, q);
    radial_frame(q, e);
    const double rho = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]), psi = 1 + mass / (2 * rho);
    const double R = rho * psi * psi, k = mass / (R * R * R);
    check_frame(g, q, e, (double[]){-k, -k, 2 * k}, 1e-12);
    cb_curvature at;
    check_ok(cb_curvature_at(g, q, &at));
    own = at.scalar;
    check_near(own, 0, 1e-12);
  }
  cb_space_free(g);
}

static void surfaces_have_gauss_curvature(void **unused) {
  uint64_t state = check_seed();
  check_map m;
  cb_space *torus, *ellipsoid;
  check_ok(cb_space_create("torus", check_map_fill(&m, "major_radius", "3", "minor_radius", "1.3"), &torus));
  check_ok(cb_space_create("ellipsoid", check_map_fill(&m, "a", "2", "c", "0.7"), &ellipsoid));
  for (int repeat = 0; repeat < 200; repeat++) {
    double q[2] = {check_uniform(&state, -4, 4), check_uniform(&state, -4, 4)}, own;
    const double u[2] = {1, 0}, v[2] = {0, 1};
    curved c;
    curvature_of(torus, q, &c);
    check_near(sectional(&c, u, v), cos(q[1]) / (1.3 * (3 + 1.3 * cos(q[1]))), 1e-13);
    check_ok(cb_sectional(torus, q, u, v, &own));
    check_near(own, cos(q[1]) / (1.3 * (3 + 1.3 * cos(q[1]))), 1e-13);
    q[1] = check_uniform(&state, -1.4, 1.4);
    curvature_of(ellipsoid, q, &c);
    double x[3], velocity[3];
    cb_plot_coordinates(ellipsoid, q, u, x, velocity);
    const double a = 2, b = 1.2, e = 0.7;
    check_near(x[0] * x[0] / (a * a) + x[1] * x[1] / (b * b) + x[2] * x[2] / (e * e), 1, 1e-14);
    const double h = x[0] * x[0] / pow(a, 4) + x[1] * x[1] / pow(b, 4) + x[2] * x[2] / pow(e, 4);
    check_relative(sectional(&c, u, v), 1 / pow(a * b * e * h, 2), 1e-11);
  }
  cb_space_free(torus);
  cb_space_free(ellipsoid);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_have_the_curvature_of_their_frames),
      cmocka_unit_test(ih_has_its_curvature),
      cmocka_unit_test(schwarzschild_slice_is_scalar_flat),
      cmocka_unit_test(surfaces_have_gauss_curvature),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
