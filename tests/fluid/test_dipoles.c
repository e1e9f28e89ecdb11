/* Tests of bodies that act on each other as dipoles (fluid/dipoles.h). For spheres the error falls as the series of
 * two_spheres.h says. For any bodies the coupling is a symmetric quadratic form that depends on relative poses only,
 * with exact derivatives, in flat and in curved spaces. A plane acts as mirrored bodies. test_dipoles_exact.c compares
 * other shapes with boundary elements. */
#include "fluid/dipoles.h"
#include "numerics/small.h"
#include "numerics/vec3.h"
#include "check.h"
#include "two_spheres.h"
#include <curvebody/pose.h>

enum { BODIES = 3 };

static cb_dipoles *dipoles_of(int n, const cb_dipole_body *body, double density) {
  cb_dipoles *d = NULL;
  check_ok(cb_dipoles_create(n, body, density, &d));
  return d;
}

static cb_dipole_body ball(double radius, double density) {
  cb_dipole_body b = {.volume = 4 * M_PI / 3 * radius * radius * radius, .radius = radius};
  for (int i = 3; i < 6; i++) b.K[i][i] = density * b.volume / 2;
  return b;
}

static cb_pose at(double x, double y, double z) { return (cb_pose){{1, 0, 0, 0}, {x, y, z}}; }

static cb_pose random_pose(uint64_t *seed, double far) {
  cb_pose g = {{0}, {0}};
  check_direction(seed, 4, g.q);
  for (int k = 0; k < 3; k++) g.x[k] = check_uniform(seed, -far, far);
  return g;
}

/* Makes a body without any symmetry. */
static cb_dipole_body random_body(uint64_t *seed, double density) {
  cb_dipole_body b = {.volume = check_uniform(seed, 0.5, 2)};
  double a[6][6];
  for (int i = 0; i < 36; i++) a[i / 6][i % 6] = check_uniform(seed, -0.25, 0.25) + (i % 7 ? 0 : 1);
  for (int i = 0; i < 36; i++) b.K[i / 6][i % 6] = density * cb_dot(6, a[i / 6], a[i % 6]);
  for (int k = 0; k < 3; k++) b.centroid[k] = check_uniform(seed, -1, 1);
  return b;
}

/* --- spheres --- */

/* Computes the coupling K_12 of two unit spheres, for velocities along and across the line of their centres. */
static void coupling_of_spheres(double d, double out[2]) {
  const cb_dipole_body both[2] = {ball(1, 1), ball(1, 1)};
  const cb_pose g[2] = {at(0, 0, 0), at(0, 0, d)};
  double K[12][12];
  cb_dipoles *c = dipoles_of(2, both, 1);
  check_ok(cb_dipoles_tensor(c, g, K[0]));
  out[0] = K[5][11];
  out[1] = K[3][9];
  cb_dipoles_free(c);
}

/* K_11 is the added mass of one of two equal spheres, and K_12 is their coupling. Each sphere has the added mass K_11 +
 * K_12 if both move together, and K_11 - K_12 if they move in opposite directions. two_spheres.h has closed forms of
 * both. */
static void errors_for_spheres_fall_as_the_sixth_power(void **unused) {
  double error[2][3];
  for (int i = 0; i < 2; i++) {
    const double d = i ? 10 : 5;
    double K[2];
    coupling_of_spheres(d, K);
    error[i][0] = K[0] / ((axial(d, -1) - axial(d, 1)) / 2) - 1;
    error[i][1] = K[1] / ((across(d, 1) - across(d, -1)) / 2) - 1;
    error[i][2] = (axial(d, -1) + axial(d, 1)) / (4 * M_PI / 3) - 1;
    print_message("  d = %g: relative errors of K_12 %.3g, %.3g, of K_11 %.3g\n", d, error[i][0], error[i][1],
                  error[i][2]);
    check_near(error[i][2], 3 / pow(d, 6), 0.3 * error[i][2]);
  }
  /* The next power of 1/d in the error is the eighth; its coefficient is below 10. */
  for (int k = 0; k < 3; k++) check_near(error[0][k] / error[1][k], 64, 64 * 10. / 25);
}

/* K of spheres of the radii 1 and 0.7 at d = 2.2, and its derivatives in d, by a series of multipoles. K is of order
 * d^-3, and the first term that dipoles omit is of order d^-9: 3 r_1^3 r_2^3/d^6 = 0.9 % of K. In the derivative, the
 * factors 9 and 3 make this error three times as large. */
static void unequal_spheres_are_near_the_series(void **unused) {
  static const double series[2][2] = {{-0.20426390914, 0.2859790307}, {0.10152185761, -0.1398225484}};
  const cb_dipole_body both[2] = {ball(1, 1), ball(0.7, 1)};
  const cb_pose g[2] = {at(0, 0, 0), at(2.2, 0, 0)};
  cb_dipoles *d = dipoles_of(2, both, 1);
  for (int k = 0; k < 2; k++) {
    double Y[2][6] = {{0}}, momentum[2][6], slope[2][6];
    Y[0][3 + k] = Y[1][3 + k] = 1;
    check_ok(cb_dipoles_apply(d, g, (const double(*)[6])Y, momentum, slope));
    check_relative(momentum[0][3 + k], series[k][0], 0.01);
    check_relative(momentum[1][3 + k], series[k][0], 0.01);
    check_relative(slope[1][3], series[k][1], 0.04);
  }
  cb_dipoles_free(d);
}

/* A sphere at the height h above a plane has the same added mass as each of two spheres at the distance 2 h. */
static void a_plane_is_a_mirrored_sphere(void **unused) {
  const cb_dipole_body body = ball(1, 1);
  cb_dipoles *d = dipoles_of(1, &body, 1);
  for (int free = 0; free < 2; free++) {
    const cb_mirror plane = {free ? CB_MIRROR_FREE : CB_MIRROR_RIGID, {0, 0, 3}, -1};
    const double h = 4, away = axial(2 * h, free ? -1 : 1), along = across(2 * h, free ? -1 : 1);
    const cb_pose g = at(0.3, 0.4, h - 1);
    double K[6][6];
    check_ok(cb_dipoles_set_plane(d, &plane));
    check_ok(cb_dipoles_tensor(d, &g, K[0]));
    /* the next term of K has the relative size 3/(2 h)^6 for motion away from the plane, and less along the plane */
    check_near(K[5][5], away - 2 * M_PI / 3, 1.1 * 2 * M_PI / pow(2 * h, 6));
    check_near(K[3][3], along - 2 * M_PI / 3, 1.1 * 2 * M_PI / pow(2 * h, 6));
    assert_true(free ? K[5][5] < 0 && K[3][3] < 0 : K[5][5] > 0 && K[3][3] > 0);
  }
  cb_dipoles_free(d);
}

/* --- laws --- */

typedef struct three {
  cb_dipoles *d;
  double K; /* the curvature of the space */
  cb_dipole_body body[BODIES];
  cb_pose g[BODIES];
  double Y[BODIES][6];
} three;

/* The spaces in which the laws are tested. */
static const struct {
  cb_mirror plane;
  double K;
} spaces[] = {{{CB_MIRROR_NONE, {0, 0, 0}, 0}, 0},
              {{CB_MIRROR_RIGID, {1, -2, 2}, -6}, 0},
              {{CB_MIRROR_FREE, {0.3, 0.2, -1}, -5}, 0},
              {{CB_MIRROR_NONE, {0, 0, 0}, 0}, -0.09},
              {{CB_MIRROR_NONE, {0, 0, 0}, 0}, 0.09}};
enum { SPACES = sizeof spaces / sizeof *spaces };

/* Three bodies of any kind, at distances of about 6 m from each other and from the planes. */
static three three_of(int space, uint64_t *seed) {
  static const double x[BODIES][3] = {{-2, 0, 0}, {3, 2, -1}, {1, -4, 2}};
  three s;
  for (int i = 0; i < BODIES; i++) {
    s.body[i] = random_body(seed, 1.3);
    s.g[i] = random_pose(seed, 0.2);
    for (int k = 0; k < 3; k++) s.g[i].x[k] += x[i][k];
    for (int k = 0; k < 6; k++) s.Y[i][k] = check_uniform(seed, -1, 1);
  }
  s.K = spaces[space].K;
  check_ok(cb_dipoles_create_in(s.K, BODIES, s.body, 1.3, &s.d));
  check_ok(cb_dipoles_set_plane(s.d, &spaces[space].plane));
  return s;
}

static double energy(const three *s, const cb_pose *g) {
  double momentum[BODIES][6] = {{0}}, sum = 0;
  check_ok(cb_dipoles_apply(s->d, g, s->Y, momentum, NULL));
  for (int i = 0; i < BODIES; i++) sum += cb_dot(6, s->Y[i], momentum[i]) / 2;
  return sum;
}

/* Returns the derivative of the energy along a motion xi of body i, in the frame of this body. With i = -1, all bodies
 * move together, and xi is in the frame of the world. Differences of order 6 with the step h = 0.005 have errors of
 * 1e-13 at distances of 6 m. */
static double difference(const three *s, int i, const double xi[6]) {
  static const double weight[3] = {3. / 4, -3. / 20, 1. / 60};
  const double h = 0.005;
  double sum = 0;
  for (int side = -1; side < 2; side += 2)
    for (int n = 0; n < 3; n++) {
      double by[6];
      cb_pose moved[BODIES], step;
      for (int k = 0; k < 6; k++) by[k] = side * (n + 1) * h * xi[k];
      cb_pose_tau_in(CB_SE3_EXPONENTIAL, s->K, by, &step);
      memcpy(moved, s->g, sizeof moved);
      if (i >= 0) cb_pose_multiply_in(s->K, s->g + i, &step, moved + i);
      for (int b = 0; b < BODIES && i < 0; b++) cb_pose_multiply_in(s->K, &step, s->g + b, moved + b);
      sum += side * weight[n] * energy(s, moved) / h;
    }
  return sum;
}

static void slopes_are_derivatives(void **unused) {
  uint64_t seed = check_seed();
  for (int space = 0; space < SPACES; space++) {
    three s = three_of(space, &seed);
    double momentum[BODIES][6], slope[BODIES][6], size = 0;
    check_ok(cb_dipoles_apply(s.d, s.g, s.Y, momentum, slope));
    for (int i = 0; i < 6 * BODIES; i++) {
      double xi[6] = {0};
      xi[i % 6] = 1;
      check_near(slope[i / 6][i % 6], difference(&s, i / 6, xi), 1e-10);
      size = fmax(size, fabs(slope[i / 6][i % 6]));
    }
    check_at_least(size, 1e-5); /* the numbers that are compared are not all 0 */
    cb_dipoles_free(s.d);
  }
}

/* The matrix gives the momenta of cb_dipoles_apply and is symmetric. Without a plane, its diagonal 6 x 6 blocks are
 * 0. */
static void the_matrix_is_symmetric(void **unused) {
  uint64_t seed = check_seed();
  for (int space = 0; space < SPACES; space++) {
    three s = three_of(space, &seed);
    double momentum[BODIES][6], K[6 * BODIES][6 * BODIES], *Y = s.Y[0];
    check_ok(cb_dipoles_apply(s.d, s.g, s.Y, momentum, NULL));
    check_ok(cb_dipoles_tensor(s.d, s.g, K[0]));
    for (int i = 0; i < 6 * BODIES; i++) {
      /* round-off of sums of 18 numbers up to 1 */
      check_near(momentum[i / 6][i % 6], cb_dot(6 * BODIES, K[i], Y), 1e-14);
      for (int j = 0; j < 6 * BODIES; j++) {
        check_near(K[i][j], K[j][i], i / 6 == j / 6 ? 1e-15 : 0);
        assert_true(spaces[space].plane.kind || i / 6 != j / 6 || K[i][j] == 0);
      }
    }
    cb_dipoles_free(s.d);
  }
}

/* If all slopes are converted to wrenches in the world, their sum is the derivative of the energy along a common motion
 * of all bodies. This derivative is 0 for motions that map the plane to itself, and the energy does not change if all
 * bodies are moved far by such a motion. */
static void actions_are_reactions(void **unused) {
  uint64_t seed = check_seed();
  for (int space = 0; space < SPACES; space++) {
    three s = three_of(space, &seed);
    const cb_mirror *plane = &spaces[space].plane;
    const double *n = plane->normal;
    double momentum[BODIES][6], slope[BODIES][6], sum[6] = {0}, size = 0;
    cb_pose step, moved[BODIES];
    check_ok(cb_dipoles_apply(s.d, s.g, s.Y, momentum, slope));
    for (int i = 0; i < BODIES; i++) {
      double Ad[6][6], world[6];
      cb_pose back;
      cb_pose_inverse(s.g + i, &back);
      cb_pose_adjoint_in(s.K, &back, Ad);
      cb_apply6_transposed((const double(*)[6])Ad, slope[i], world);
      for (int k = 0; k < 6; k++) {
        sum[k] += world[k];
        size = fmax(size, fabs(world[k]));
      }
    }
    double xi[6], dot = 0;
    for (int k = 0; k < 6; k++) xi[k] = check_uniform(&seed, -1, 1);
    if (plane->kind) { /* spin about n, and shift along the plane */
      const double spin = xi[0];
      for (int k = 0; k < 3; k++) {
        xi[k] = spin * n[k];
        dot += n[k] * xi[3 + k] / cb_dot3(n, n);
      }
      for (int k = 0; k < 3; k++) xi[3 + k] -= dot * n[k];
    }
    check_near(cb_dot(6, sum, xi), 0, 5e-14 * size);
    for (int k = 0; k < 6 && !plane->kind; k++) check_near(sum[k], 0, 5e-14 * size);
    cb_pose_tau_in(CB_SE3_EXPONENTIAL, s.K, xi, &step);
    for (int i = 0; i < BODIES; i++) cb_pose_multiply_in(s.K, &step, s.g + i, moved + i);
    check_relative(energy(&s, moved), energy(&s, s.g), 1e-12);
    if (plane->kind)
      check_near(cb_dot(3, sum + 3, n), difference(&s, -1, (const double[6]){0, 0, 0, n[0], n[1], n[2]}), 1e-9);
    cb_dipoles_free(s.d);
  }
}

/* Slopes are derivatives at any distance on a sphere, also where the flow is a series about the antipode. At the angle
 * 2 pi/3, where the series begins, the momenta of both sides agree. */
static void flows_pass_the_antipode(void **unused) {
  static const double angle[] = {1, 2 * M_PI / 3 - 1e-10, 2 * M_PI / 3 + 1e-10, 2.6, 3.1, M_PI};
  uint64_t seed = check_seed();
  three s = three_of(SPACES - 1, &seed);
  double was[2][6] = {{0}};
  cb_dipoles_free(s.d);
  for (int k = 0; k < 3; k++) s.body[0].centroid[k] = s.body[1].centroid[k];
  check_ok(cb_dipoles_create_in(s.K, 2, s.body, 1.3, &s.d));
  for (size_t a = 0; a < sizeof angle / sizeof *angle; a++) {
    const cb_pose away = at(angle[a] / sqrt(s.K), 0, 0), first = {{1, 0, 0, 0}, {-1, -0.4, 0.2}};
    const double *c = s.body[0].centroid;
    const cb_pose centre = at(c[0], c[1], c[2]), back = at(-c[0], -c[1], -c[2]);
    double momentum[2][6], slope[2][6];
    s.g[0] = first; /* the centre of body 1 is at this angle from the centre of body 0 */
    cb_pose_multiply_in(s.K, &first, &centre, s.g + 1);
    cb_pose_multiply_in(s.K, s.g + 1, &away, s.g + 1);
    cb_pose_multiply_in(s.K, s.g + 1, &back, s.g + 1);
    check_ok(cb_dipoles_apply(s.d, s.g, (const double(*)[6])s.Y, momentum, slope));
    for (int i = 0; i < 12; i++) {
      double xi[6] = {0};
      xi[i % 6] = 1;
      check_near(slope[i / 6][i % 6], difference(&s, i / 6, xi), 1e-10);
      if (a == 2) check_near(momentum[i / 6][i % 6], was[i / 6][i % 6], 1e-10);
    }
    memcpy(was, momentum, sizeof was);
  }
  cb_dipoles_free(s.d);
}

/* Two bodies above a plane have the same momenta as in free space together with their two mirrored copies. The mirror M
 * maps a body with the pose (R, x) and the twist (w, v) to a body with the pose (M R P, M x + 2 height n), where P =
 * diag(-1, 1, 1). The copy has the twist (-P w, P v) and the added mass of mirrored axes. Above a free surface the
 * twists of the copies change their sign. */
static void a_plane_is_mirrored_bodies(void **unused) {
  uint64_t seed = check_seed();
  const double n[3] = {2. / 3, -1. / 3, 2. / 3}, height = -6, P[6] = {1, -1, -1, -1, 1, 1};
  for (int free = 0; free < 2; free++) {
    const cb_mirror plane = {free ? CB_MIRROR_FREE : CB_MIRROR_RIGID, {n[0], n[1], n[2]}, height};
    three s = three_of(0, &seed);
    cb_dipole_body four[4] = {s.body[0], s.body[1], s.body[0], s.body[1]};
    cb_pose g[4] = {s.g[0], s.g[1]};
    double Y[4][6], two[2][6], slope[2][6], all[4][6], slopes[4][6];
    memcpy(Y, s.Y, 2 * sizeof *Y);
    for (int i = 0; i < 2; i++) {
      double R[3][3], image[3][3];
      const double from = cb_dot3(n, g[i].x) - height;
      cb_pose_rotation(g + i, R);
      for (int k = 0; k < 9; k++) {
        const double normal = n[0] * R[0][k % 3] + n[1] * R[1][k % 3] + n[2] * R[2][k % 3];
        image[k / 3][k % 3] = (R[k / 3][k % 3] - 2 * n[k / 3] * normal) * P[3 + k % 3];
      }
      cb_quaternion_of_rotation((const double(*)[3])image, g[2 + i].q);
      for (int k = 0; k < 3; k++) g[2 + i].x[k] = g[i].x[k] - 2 * from * n[k];
      for (int k = 0; k < 36; k++) four[2 + i].K[k / 6][k % 6] *= P[k / 6] * P[k % 6];
      four[2 + i].centroid[0] *= -1;
      for (int k = 0; k < 6; k++) Y[2 + i][k] = (free ? -1 : 1) * P[k] * Y[i][k];
    }
    cb_dipoles *near = dipoles_of(2, s.body, 1.3), *pairs = dipoles_of(4, four, 1.3);
    check_ok(cb_dipoles_set_plane(near, &plane));
    check_ok(cb_dipoles_apply(near, g, (const double(*)[6])Y, two, slope));
    check_ok(cb_dipoles_apply(pairs, g, (const double(*)[6])Y, all, slopes));
    for (int k = 0; k < 12; k++) { /* round-off of numbers up to 0.1 */
      check_near(two[k / 6][k % 6], all[k / 6][k % 6], 1e-14);
      check_near(slope[k / 6][k % 6], slopes[k / 6][k % 6], 1e-14);
    }
    cb_dipoles_free(near);
    cb_dipoles_free(pairs);
    cb_dipoles_free(s.d);
  }
}

/* --- thin bodies --- */

/* A thin disc of radius a has K = rho 8 a^3/3 across its plane and rho 16 a^5/45 about its diameters. A disc of small
 * thickness, without added mass along its plane as in models of sheets, has the same reach 0.75 a. */
static void thickness_does_not_change_the_reach_of_a_disc(void **unused) {
  static const double thickness[] = {0, 1e-4, 0.01};
  for (int i = 0; i < 3; i++) {
    cb_dipole_body disc = {.volume = M_PI * thickness[i], .radius = 1, .name = "disc"};
    disc.K[0][0] = disc.K[1][1] = 16. / 45;
    disc.K[5][5] = 8. / 3;
    const cb_dipole_body two[2] = {disc, disc};
    const double reach = cbrt(4 / (3 * M_PI));
    double K[12][12];
    cb_dipoles *d = dipoles_of(2, two, 1);
    check_ok(cb_dipoles_tensor(d, (const cb_pose[2]){at(0, 0, 0), at(0, 0, 2.02 * reach)}, K[0]));
    check_error_begins(cb_dipoles_tensor(d, (const cb_pose[2]){at(0, 0, 0), at(0, 0, 1.99 * reach)}, K[0]),
                       CB_STEP_DOMAIN, "bodies `disc` and `disc` are too near for dipoles");
    cb_dipoles_free(d);
  }
}

/* --- many bodies --- */

enum { MANY = 150 }; /* more than two of the library's blocks of 64 dipoles */

/* Computes the momentum and the slope of body 0: with a second body in out[0], and alone near the plane in out[1]. */
static void felt_of_two(const cb_dipole_body *two, const cb_mirror *plane, const cb_pose *g, const double (*Y)[6],
                        double out[2][12]) {
  double momentum[2][6], slope[2][6];
  for (int alone = 0; alone < 2; alone++) {
    cb_dipoles *d = dipoles_of(2 - alone, two, 1.3);
    check_ok(cb_dipoles_set_plane(d, plane));
    check_ok(cb_dipoles_apply(d, g, Y, momentum, slope));
    memcpy(out[alone], momentum[0], sizeof *momentum);
    memcpy(out[alone] + 6, slope[0], sizeof *slope);
    cb_dipoles_free(d);
  }
}

/* The momentum and the slope of a body among many are the sums of their values in pairs with each of the other
 * bodies. In these sums the effect of the image of the body itself is counted only once. The momenta do not depend
 * on whether slopes are computed, too. */
static void many_bodies_feel_the_sum_over_pairs(void **unused) {
  static cb_dipole_body body[MANY];
  static cb_pose g[MANY];
  static double Y[MANY][6], momentum[MANY][6], slope[MANY][6], again[MANY][6];
  uint64_t seed = check_seed();
  for (int i = 0; i < MANY; i++) {
    body[i] = random_body(&seed, 1.3);
    g[i] = random_pose(&seed, 0.2);
    const double x[3] = {5 * (i % 6), 5 * (i / 6 % 6), 5 * (i / 36)};
    for (int k = 0; k < 3; k++) g[i].x[k] += x[k];
    for (int k = 0; k < 6; k++) Y[i][k] = check_uniform(&seed, -1, 1);
  }
  for (int space = 0; space < 2; space++) {
    const cb_mirror plane = {space ? CB_MIRROR_RIGID : CB_MIRROR_NONE, {0, 0, 1}, -6};
    cb_dipoles *d = dipoles_of(MANY, body, 1.3);
    check_ok(cb_dipoles_set_plane(d, &plane));
    check_ok(cb_dipoles_apply(d, g, (const double(*)[6])Y, momentum, slope));
    check_ok(cb_dipoles_apply(d, g, (const double(*)[6])Y, again, NULL));
    assert_memory_equal(momentum, again, sizeof momentum);
    for (int i = 0; i < MANY; i += i < 10 ? 1 : 23) {
      double sum[12] = {0}, felt[2][12], size = 0;
      for (int j = 0; j < MANY; j++) {
        if (j == i) continue;
        const cb_dipole_body two[2] = {body[i], body[j]};
        const cb_pose both[2] = {g[i], g[j]};
        double twists[2][6];
        memcpy(twists[0], Y[i], sizeof Y[i]);
        memcpy(twists[1], Y[j], sizeof Y[j]);
        felt_of_two(two, &plane, both, (const double(*)[6])twists, felt);
        for (int k = 0; k < 12; k++) sum[k] += felt[0][k] - felt[1][k];
        for (int k = 0; k < 12; k++) size = fmax(size, fabs(felt[0][k]));
      }
      for (int k = 0; k < 12; k++) /* round-off of a sum over all pairs */
        check_near((k < 6 ? momentum[i] : slope[i] - 6)[k], sum[k] + felt[1][k], 1e-13 * size);
    }
    cb_dipoles_free(d);
  }
}

/* If two of many bodies are too near to each other, they are found for any of their indices. */
static void two_of_many_that_are_too_near_are_found(void **unused) {
  static cb_dipole_body body[MANY];
  static cb_pose g[MANY];
  static double Y[MANY][6], momentum[MANY][6];
  static const int near[][2] = {{0, 1}, {2, 77}, {62, 66}, {148, 149}};
  for (int i = 0; i < MANY; i++) body[i] = ball(1, 1);
  cb_dipoles *d = dipoles_of(MANY, body, 1);
  for (size_t trial = 0; trial < sizeof near / sizeof *near; trial++) {
    char expected[160];
    for (int i = 0; i < MANY; i++) g[i] = at(3 * i, 0, 0);
    g[near[trial][1]] = at(3 * near[trial][0], 1.5, 0);
    snprintf(expected, sizeof expected, "bodies %d and %d are too near for dipoles", near[trial][0] + 1,
             near[trial][1] + 1);
    check_error_begins(cb_dipoles_apply(d, g, (const double(*)[6])Y, momentum, NULL), CB_STEP_DOMAIN, expected);
  }
  cb_dipoles_free(d);
}

/* --- limits --- */

/* Two bodies approach each other until they are too near. Before that, the tensor of both is positive definite. */
static void tensors_are_positive_until_bodies_are_too_near(void **unused) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 100; trial++) {
    const cb_dipole_body body[2] = {random_body(&seed, 1), random_body(&seed, 1)};
    cb_pose g[2] = {random_pose(&seed, 0), random_pose(&seed, 0)};
    cb_dipoles *d = dipoles_of(2, body, 1);
    double from[2][3], e[3], K[12][12], whole[12][12], factor[144];
    check_direction(&seed, 3, e);
    for (int i = 0; i < 2; i++) cb_pose_point(g + i, body[i].centroid, from[i]);
    for (double s = 6;; s *= 0.99) {
      for (int k = 0; k < 3; k++) g[1].x[k] = from[0][k] - from[1][k] + s * e[k];
      const cb_status status = cb_dipoles_tensor(d, g, K[0]);
      if (status) {
        assert_int_equal(status, CB_STEP_DOMAIN);
        break;
      }
      memcpy(whole, K, sizeof K);
      assert_true(s > 0.1);
    }
    for (int i = 0; i < 72; i++) whole[i / 6][i / 36 * 6 + i % 6] += body[i / 36].K[i / 6 % 6][i % 6];
    assert_true(cb_cholesky(12, whole[0], 0, factor));
    cb_dipoles_free(d);
  }
}

static void bad_input_is_reported(void **unused) {
  cb_dipole_body both[2] = {ball(1, 1), ball(0.7, 1)};
  cb_pose g[2] = {at(0, 0, 0), at(1.6, 0, 0)};
  const double Y[2][6] = {{0}};
  const cb_mirror plane = {CB_MIRROR_RIGID, {0, 0, 1}, 0}, no_plane = {CB_MIRROR_FREE, {0, 0, 0}, 0};
  double momentum[2][6] = {{42}}, slope[2][6] = {{42}}, K[12][12] = {{42}};
  cb_dipoles *d = dipoles_of(2, both, 1), *other = NULL;
  int i, j;
  check_error(cb_dipoles_apply(d, g, Y, momentum, slope), CB_STEP_DOMAIN,
              "bodies 1 and 2 are too near for dipoles: distance of their centres 1.6, expected at least 1.7");
  g[1].x[0] = 3;
  check_ok(cb_dipoles_set_plane(d, &plane));
  check_error(cb_dipoles_apply(d, g, Y, momentum, slope), CB_STEP_DOMAIN,
              "the centre of body 1 is at the height 0 above the plane: expected more than 1");
  g[0].x[2] = g[1].x[2] = 0.9;
  check_error(cb_dipoles_tensor(d, g, K[0]), CB_STEP_DOMAIN,
              "body 1 is too near to the plane for dipoles: distance 0.9, expected at least 1");
  assert_true(momentum[0][0] == 42 && slope[0][0] == 42 && K[0][0] == 42);
  /* The error of a body at the plane is larger than the error of two bodies next to each other, so it is returned. */
  g[0].x[2] = g[1].x[2] = 1.1;
  check_at_least(cb_dipoles_error(d, g, &i, &j), 0.1);
  assert_true(i == 0 && j == 0);
  check_error_begins(cb_dipoles_set_plane(d, &no_plane), CB_ERROR_ARGUMENT, "a wall with the normal");
  cb_dipoles_free(d);
  check_ok(cb_dipoles_create_in(0.01, 2, both, 1, &d));
  check_error(cb_dipoles_set_plane(d, &plane), CB_ERROR_UNSUPPORTED, "a plane in a curved space: expected flat space");
  cb_dipoles_free(d);
  check_error(cb_dipoles_create(2, both, 0, &other), CB_ERROR_ARGUMENT,
              "2 bodies in a fluid of the density 0: expected numbers above 0");
  both[1].volume = -1;
  check_error(cb_dipoles_create(2, both, 1, &other), CB_ERROR_ARGUMENT,
              "body 2 of the volume -1 and the radius 0.7: expected finite numbers >= 0");
  both[1].volume = 1;
  both[1].K[3][3] = -1;
  check_error(cb_dipoles_create(2, both, 1, &other), CB_ERROR_DOMAIN,
              "the added mass of body 2: expected a positive definite tensor");
  assert_null(other);
}

/* The flow u at the centre of a sphere agrees with the momentum of the sphere, -rho D u with D = K/rho + V = 3 V/2. At
 * a rigid plane the flow of all dipoles and images is along the plane, and at a free surface perpendicular to it. */
static void the_flow_is_what_bodies_feel(void **unused) {
  const double rho = 3;
  const cb_dipole_body body[BODIES] = {ball(0.5, rho), ball(0.7, rho), ball(1, rho)};
  const cb_pose g[BODIES] = {at(0, 0, 2), at(3, 1, 3), at(-2, 3, 4)};
  double Y[BODIES][6], momentum[BODIES][6], u[1][3];
  uint64_t seed = 5;
  cb_dipoles *d = dipoles_of(BODIES, body, rho);
  for (int i = 0; i < 6 * BODIES; i++) Y[i / 6][i % 6] = check_uniform(&seed, -1, 1);
  check_ok(cb_dipoles_apply(d, g, (const double(*)[6])Y, momentum, NULL));
  for (int i = 0; i < BODIES; i++) {
    check_ok(cb_dipoles_flow(d, g, (const double(*)[6])Y, i, 1, (const double(*)[3])g[i].x, u));
    for (int k = 0; k < 3; k++) check_near(momentum[i][3 + k], -rho * 1.5 * body[i].volume * u[0][k], 1e-14);
  }
  for (int free = 0; free < 2; free++) {
    const cb_mirror plane = {free ? CB_MIRROR_FREE : CB_MIRROR_RIGID, {0, 0, 2}, 1};
    const double x[1][3] = {{0.4, 0.7, 1}};
    check_ok(cb_dipoles_set_plane(d, &plane));
    check_ok(cb_dipoles_flow(d, g, (const double(*)[6])Y, -1, 1, x, u));
    for (int k = 0; k < 3; k++) assert_true((fabs(u[0][k]) < 1e-15) == ((k == 2) != free));
  }
  cb_dipoles_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_for_spheres_fall_as_the_sixth_power),
      cmocka_unit_test(unequal_spheres_are_near_the_series),
      cmocka_unit_test(a_plane_is_a_mirrored_sphere),
      cmocka_unit_test(slopes_are_derivatives),
      cmocka_unit_test(the_matrix_is_symmetric),
      cmocka_unit_test(actions_are_reactions),
      cmocka_unit_test(flows_pass_the_antipode),
      cmocka_unit_test(a_plane_is_mirrored_bodies),
      cmocka_unit_test(the_flow_is_what_bodies_feel),
      cmocka_unit_test(thickness_does_not_change_the_reach_of_a_disc),
      cmocka_unit_test(many_bodies_feel_the_sum_over_pairs),
      cmocka_unit_test(two_of_many_that_are_too_near_are_found),
      cmocka_unit_test(tensors_are_positive_until_bodies_are_too_near),
      cmocka_unit_test(bad_input_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
