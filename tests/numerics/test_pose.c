/* Tests that poses in spaces of constant curvature K agree with 4x4 matrices, at the antipode, far out, and as K goes
 * to 0. Y is a twist (omega, v), and tau is the exponential or Cayley's map from twists to poses. */
#include "curved_matrices.h"
#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"

static const double curvatures[] = {1, -1, .3, -.7, 4, 1e-6, -1e-6};
enum { SPACES = sizeof curvatures / sizeof *curvatures };

static void random_pose(uint64_t *seed, double length, cb_pose *g) {
  double n = 0;
  for (int i = 0; i < 4; i++) {
    g->q[i] = check_uniform(seed, -1, 1);
    n += g->q[i] * g->q[i];
  }
  for (int i = 0; i < 4; i++) g->q[i] /= sqrt(n);
  double r = 0;
  for (int i = 0; i < 3; i++) {
    g->x[i] = check_uniform(seed, -1, 1);
    r += g->x[i] * g->x[i];
  }
  for (int i = 0; i < 3; i++) g->x[i] *= length / sqrt(r);
}

static void random_twist(uint64_t *seed, double K, double size, double Y[6]) {
  const double unit = size / fmax(1, sqrt(fabs(K)));
  for (int i = 0; i < 3; i++) {
    Y[i] = check_uniform(seed, -size, size);
    Y[3 + i] = check_uniform(seed, -unit, unit);
  }
}

static double matrix_distance(double K, const cb_pose *g, const lie_matrix *m) {
  const lie_matrix n = curved_matrix(K, g);
  return lie_distance(&n, m) / (double)lie_size(m);
}

/* The error is the round-off of some tens of products. Translations reach the antipode of a sphere, or 3 radii of
 * curvature in hyperbolic space, so a product reaches 6 radii. There a matrix has the size e^6 and loses accuracy by
 * this factor. */
static void products_and_points_are_those_of_matrices(void **unused) {
  uint64_t seed = check_seed();
  double worst = 0;
  for (int n = 0; n < 2000; n++) {
    const double K = curvatures[n % SPACES], root = sqrt(fabs(K)), most = K > 0 ? M_PI / root : 3 / fmax(root, .1);
    cb_pose a, b, c, back;
    double x[3], y[3], product[6][6];
    random_pose(&seed, check_uniform(&seed, 0, fmin(most, 10)), &a);
    random_pose(&seed, check_uniform(&seed, 0, fmin(most, 10)), &b);
    const lie_matrix A = curved_matrix(K, &a), B = curved_matrix(K, &b), AB = lie_product(&A, &B);
    cb_pose_multiply_in(K, &a, &b, &c);
    worst = fmax(worst, matrix_distance(K, &c, &AB));
    cb_pose_inverse(&a, &back);
    const lie_matrix inverse = curved_inverse(K, &A);
    worst = fmax(worst, matrix_distance(K, &back, &inverse));
    for (int i = 0; i < 3; i++) x[i] = b.x[i];
    cb_pose_point_in(K, &a, x, y);
    const cb_pose at = {{1, 0, 0, 0}, {y[0], y[1], y[2]}};
    const lie_matrix there = curved_matrix(K, &at);
    for (int i = 0; i < 4; i++) worst = fmax(worst, (double)fabsl(there.m[i][3] - AB.m[i][3]) / (double)lie_size(&AB));
    cb_pose_adjoint_in(K, &a, product);
    for (int j = 0; j < 6; j++) {
      double e[6] = {0}, moved[6];
      e[j] = 1;
      curved_conjugate(K, &A, e, moved);
      for (int i = 0; i < 6; i++)
        worst = fmax(worst, fabs(product[i][j] - moved[i]) / (double)(lie_size(&A) * lie_size(&A)));
    }
  }
  print_message("  %.1e\n", worst);
  check_at_most(worst, 1e-13); /* the round-off of poses and of matrices */
}

/* As a matrix, Cayley's map is (1 - Y/2)^-1 (1 + Y/2), so its product with 1 - Y/2 is 1 + Y/2. */
static void tau_is_cayleys_map_and_the_exponential_of_matrices(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 2000; n++) {
    const double K = curvatures[n % SPACES];
    double Y[6];
    cb_pose g;
    random_twist(&seed, K, n % 3 == 0 ? 1.7 : n % 3 == 1 ? .3 : 1e-4, Y);
    const lie_matrix a = curved_generator(K, Y), none = lie_zero(4);
    const lie_matrix e = lie_exponential(&a);
    cb_pose_tau_in(CB_SE3_EXPONENTIAL, K, Y, &g);
    check_at_most(matrix_distance(K, &g, &e), 2e-14);
    for (int i = 0; i < 6; i++) Y[i] *= .6; /* so that |v| < 2 */
    const lie_matrix b = curved_generator(K, Y);
    lie_matrix plus = lie_sum(&none, .5L, &b), minus = lie_sum(&none, -.5L, &b);
    for (int i = 0; i < 4; i++) {
      plus.m[i][i] += 1;
      minus.m[i][i] += 1;
    }
    cb_pose_tau_in(CB_SE3_CAYLEY, K, Y, &g);
    const lie_matrix m = curved_matrix(K, &g), back = lie_product(&minus, &m);
    check_at_most(lie_distance(&back, &plus), 2e-14 * (double)lie_size(&m));
  }
  cb_pose none;
  cb_pose_tau_in(CB_SE3_CAYLEY, -1, (double[6]){0, 0, 0, 2.1, 0, 0}, &none);
  assert_false(isfinite(none.x[0]));
}

/* dtau^-1_Y maps the change (d tau) tau^-1 to the change of Y. The change of tau is computed by central differences of
 * matrices, with the errors h^2 and round-off/h. */
static void dtau_is_the_derivative_of_tau(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 400; n++) {
    const double K = curvatures[n % SPACES], h = 1e-5;
    const cb_se3_map map = n / SPACES % 2 ? CB_SE3_EXPONENTIAL : CB_SE3_CAYLEY;
    double Y[6], A[6][6];
    cb_pose g;
    random_twist(&seed, K, map == CB_SE3_CAYLEY ? .9 : n % 3 ? 1.7 : .2, Y);
    cb_pose_dtau_inverse_in(map, K, Y, A);
    cb_pose_tau_in(map, K, Y, &g);
    cb_pose_inverse(&g, &g);
    const lie_matrix back = curved_matrix(K, &g);
    for (int j = 0; j < 6; j++) {
      double plus[6], minus[6], d[6], e[6] = {0};
      memcpy(plus, Y, sizeof plus);
      memcpy(minus, Y, sizeof minus);
      plus[j] += h;
      minus[j] -= h;
      cb_pose up, down;
      cb_pose_tau_in(map, K, plus, &up);
      cb_pose_tau_in(map, K, minus, &down);
      const lie_matrix a = curved_matrix(K, &up), b = curved_matrix(K, &down), difference = lie_sum(&a, -1, &b);
      const lie_matrix left = lie_product(&difference, &back);
      for (int i = 0; i < 3; i++) {
        d[i] = (double)(left.m[(i + 2) % 3][(i + 1) % 3] - left.m[(i + 1) % 3][(i + 2) % 3]) / (4 * h);
        d[3 + i] = (double)left.m[i][3] / (2 * h);
      }
      for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) e[i] += A[i][k] * d[k];
      for (int i = 0; i < 6; i++) check_near(e[i], i == j, 1e-8 * (double)lie_size(&back));
    }
  }
}

static void derivatives_of_the_transpose_are_those_of_differences(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 600; n++) {
    const double K = curvatures[n % SPACES], h = 1e-5;
    const cb_se3_map map = (cb_se3_map)(n / SPACES % 3);
    double Y[6], mu[6], D[6][6];
    random_twist(&seed, K, n % 2 ? 1.7 : .3, Y);
    for (int i = 0; i < 6; i++) mu[i] = check_uniform(&seed, -2, 2);
    cb_pose_dtau_inverse_transpose_derivative_in(map, K, Y, mu, D);
    for (int j = 0; j < 6; j++) {
      double A[6][6], B[6][6], plus[6], minus[6];
      memcpy(plus, Y, sizeof plus);
      memcpy(minus, Y, sizeof minus);
      plus[j] += h;
      minus[j] -= h;
      cb_pose_dtau_inverse_in(map, K, plus, A);
      cb_pose_dtau_inverse_in(map, K, minus, B);
      for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int k = 0; k < 6; k++) sum += (A[k][i] - B[k][i]) * mu[k] / (2 * h);
        check_near(D[i][j], sum, 1e-8);
      }
    }
  }
}

/* If K is 1 or -1, the poses form the groups SO(4) and SO(3,1) of curvebody/lie.h. */
static void the_exponential_is_that_of_the_groups(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 1000; n++) {
    const double K = n % 2 ? 1 : -1;
    const cb_group *G = cb_group_find(n % 2 ? "so4" : "so31");
    double Y[6], Z[6], A[6][6], D[36], turned[6], mu[6], star[6], dual[6];
    random_twist(&seed, K, n % 5 ? 1.7 : 1e-3, Y);
    random_twist(&seed, K, 1, Z);
    random_twist(&seed, K, 1, mu);
    cb_pose_dtau_inverse_in(CB_SE3_EXPONENTIAL, K, Y, A);
    cb_pose_dexp_inverse_in(K, Y, Z, turned);
    check_ok(cb_group_dexp_inverse(G, Y, D));
    for (int i = 0; i < 6; i++) {
      double sum = 0;
      for (int j = 0; j < 6; j++) {
        check_near(A[i][j], D[6 * i + j], 1e-13);
        sum += A[i][j] * Z[j];
      }
      check_near(turned[i], sum, 1e-13);
    }
    cb_pose_ad_star_in(K, Y, mu, star);
    cb_group_ad_dual(G, Y, mu, dual);
    for (int i = 0; i < 6; i++) check_near(star[i], dual[i], 1e-14);
  }
}

/* A pose a is at or near the antipode, and b is a step of any size and direction. Their product is that of matrices,
 * also if the step reaches or crosses the antipode. */
static void the_antipode_is_a_place_like_any(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 3000; n++) {
    const double K = n % 2 ? 1 : 2.5, pole = M_PI / sqrt(K);
    const double off = n % 3 == 0 ? 0 : pow(10, check_uniform(&seed, -18, 0)),
                 size = pow(10, check_uniform(&seed, -17, 0));
    cb_pose a, b, c;
    random_pose(&seed, pole - off, &a);
    random_pose(&seed, size, &b);
    const lie_matrix A = curved_matrix(K, &a), B = curved_matrix(K, &b), AB = lie_product(&A, &B);
    cb_pose_multiply_in(K, &a, &b, &c);
    check_at_most(matrix_distance(K, &c, &AB), 1e-13);
    check_at_most(sqrt(cb_dot3(c.x, c.x)), pole * (1 + 1e-15));
  }
}

/* Lengths are in units of the radius of curvature. A step of length b starts at the distance r from the base point, at
 * the angle t to the outward direction. For large r it leads to the distance r + log(cosh b + cos t sinh b)
 * (Busemann's function), and rotates the axes by 2 atan(sin t tanh(b/2)/(1 + cos t tanh(b/2))). At r = 1e5 the last
 * digit of each coordinate is 1.5e-11. */
static void moves_far_out_are_those_of_the_limit(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 1000; n++) {
    const double r = n % 2 ? 300 : 1e5, b = pow(10, check_uniform(&seed, -6, 0.4)), K = n % 4 < 2 ? -1 : -.25;
    const double R = 1 / sqrt(-K);
    cb_pose a, m, c;
    random_pose(&seed, r * R, &a);
    random_pose(&seed, b * R, &m);
    m.q[0] = 1;
    m.q[1] = m.q[2] = m.q[3] = 0;
    double turned[3], rot[3][3];
    cb_pose_rotation(&a, rot);
    cb_apply3(rot, m.x, turned);
    const double along = cb_dot3(turned, a.x) / (b * R * r * R), across = sqrt(1 - along * along), t = tanh(b / 2);
    cb_pose_multiply_in(K, &a, &m, &c);
    check_near(sqrt(cb_dot3(c.x, c.x)) / R - r, log(cosh(b) + along * sinh(b)), 7e-16 * r + 1e-14);
    double dot = 0;
    for (int i = 0; i < 4; i++) dot += a.q[i] * c.q[i];
    check_near(2 * acos(fmin(1, fabs(dot))), 2 * atan(across * t / (1 + along * t)), 1e-7);
    check_near(fabs(dot), cos(atan(across * t / (1 + along * t))), 1e-14);
  }
}

/* For small positive and negative K, products and maps differ from those of flat space in proportion to K. */
static void flat_space_is_the_limit(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 200; n++) {
    cb_pose a, b, flat, c;
    double Y[6], mu[6], A[6][6], D[6][6];
    random_pose(&seed, 2, &a);
    random_pose(&seed, 1, &b);
    random_twist(&seed, 0, 1, Y);
    random_twist(&seed, 0, 1, mu);
    for (int map = 0; map < 3; map++) {
      double difference[2][2] = {{0}};
      for (int side = 0; side < 4; side++) {
        const double K = (side % 2 ? 1 : -1) * (side < 2 ? 1e-6 : 1e-12);
        double B[6][6], E[6][6], *worst = &difference[side % 2][side / 2];
        cb_pose_multiply(&a, &b, &flat);
        cb_pose_multiply_in(K, &a, &b, &c);
        for (int i = 0; i < 3; i++) *worst = fmax(*worst, fabs(c.x[i] - flat.x[i]));
        cb_se3_tau((cb_se3_map)map, Y, &flat);
        cb_pose_tau_in((cb_se3_map)map, K, Y, &c);
        for (int i = 0; i < 4; i++) *worst = fmax(*worst, fabs(c.q[i] - flat.q[i]));
        for (int i = 0; i < 3; i++) *worst = fmax(*worst, fabs(c.x[i] - flat.x[i]));
        cb_se3_dtau_inverse((cb_se3_map)map, Y, A);
        cb_pose_dtau_inverse_in((cb_se3_map)map, K, Y, B);
        cb_se3_dtau_inverse_transpose_derivative((cb_se3_map)map, Y, mu, D);
        cb_pose_dtau_inverse_transpose_derivative_in((cb_se3_map)map, K, Y, mu, E);
        for (int i = 0; i < 36; i++)
          *worst = fmax(*worst, fmax(fabs(A[i / 6][i % 6] - B[i / 6][i % 6]), fabs(D[i / 6][i % 6] - E[i / 6][i % 6])));
      }
      for (int side = 0; side < 2; side++) {
        check_at_most(difference[side][0], 1e-5);
        check_at_most(difference[side][1], 2e-11);
      }
    }
    cb_pose_multiply(&a, &b, &flat);
    cb_pose_multiply_in(0, &a, &b, &c);
    assert_memory_equal(&flat, &c, sizeof c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_and_points_are_those_of_matrices),
      cmocka_unit_test(tau_is_cayleys_map_and_the_exponential_of_matrices),
      cmocka_unit_test(dtau_is_the_derivative_of_tau),
      cmocka_unit_test(derivatives_of_the_transpose_are_those_of_differences),
      cmocka_unit_test(the_exponential_is_that_of_the_groups),
      cmocka_unit_test(the_antipode_is_a_place_like_any),
      cmocka_unit_test(moves_far_out_are_those_of_the_limit),
      cmocka_unit_test(flat_space_is_the_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
