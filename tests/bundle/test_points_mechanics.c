/* Tests of the motion of points by the mechanical connection A: momenta, centre of mass, the models of bundles, the
 * curvature B, and frames. g: element of the group. */
#include "models.h"
#include "points.h"

/* Returns a difference quotient of order 10 at the middle of eleven values f[0], f[stride], ... with spacing h. */
static double slope(const double *f, size_t stride, double h) {
  static const double c[5] = {5. / 6, -5. / 21, 5. / 84, -5. / 504, 1. / 1260};
  double sum = 0;
  for (int k = 1; k <= 5; k++) sum += c[k - 1] * (f[(5 + k) * (int)stride] - f[(5 - k) * (int)stride]);
  return sum / h;
}

enum { SAMPLES = 4, STENCIL = 11, TIMES = SAMPLES * STENCIL };

/* Computes the positions in the world, x[time][point][coordinate], at STENCIL times around each of SAMPLES times in (0,
 * 1). */
static void world_path(const cb_bundle *b, const cb_gait *gait, double h, double (*x)[POINTS_MOST][CB_COORD_MAX]) {
  static double g[TIMES * CB_GROUP_SIZE];
  double t[TIMES];
  for (int s = 0; s < SAMPLES; s++)
    for (int k = 0; k < STENCIL; k++) t[s * STENCIL + k] = 0.13 + 0.23 * s + (k - 5) * h;
  check_ok(cb_reconstruct(b, gait, 0, TIMES, t, g));
  for (int s = 0; s < TIMES; s++) points_world(b, gait, t[s], g + s * b->group->size, x[s]);
}

static void killing_momenta_of_the_motion_in_space_are_zero(void **state) {
  uint64_t seed = check_seed();
  const double h = 0.008;
  for (int s = 0; s < POINTS_SPACES; s++)
    for (int turn = 0; turn < 3; turn++) {
      cb_bundle *b = random_points(&seed, &points_spaces[s], 3 + turn);
      cb_gait *gait = points_gait(&seed, 0.25);
      const cb_space *g = cb_points_space(b);
      static double x[TIMES][POINTS_MOST][CB_COORD_MAX];
      world_path(b, gait, h, x);
      for (int middle = 5; middle < TIMES; middle += STENCIL) {
        double momentum[CB_KILLING_MAX] = {0}, size = 0;
        for (int m = 0; m < cb_points_count(b); m++) {
          double p[CB_COORD_MAX];
          for (int e = 0; e < g->embedding; e++)
            p[e] = cb_points_masses(b)[m] * slope(&x[middle - 5][m][e], sizeof x[0] / sizeof x[0][0][0], h);
          cb_killing_momentum_add(g, x[middle][m], p, momentum);
          size += sqrt(cb_inner(g, p, p));
        }
        assert_true(size > 0.01);
        for (int k = 0; k < g->n_killing; k++) check_near(momentum[k], 0, 1e-12); /* round-off of g divided by h */
      }
      cb_gait_free(gait);
      cb_bundle_free(b);
    }
}

static void the_centre_of_mass_stays_in_flat_space(void **state) {
  uint64_t seed = check_seed();
  for (int dim = 2; dim <= 3; dim++) {
    cb_bundle *b = random_points(&seed, &points_spaces[dim - 2], 5);
    cb_gait *gait = points_gait(&seed, 1.5);
    enum { ROWS = 40 };
    double t[ROWS], g[ROWS * CB_GROUP_SIZE], first[3] = {0};
    for (int i = 0; i < ROWS; i++) t[i] = 3. * i / ROWS;
    check_ok(cb_reconstruct(b, gait, 0, ROWS, t, g));
    for (int i = 0; i < ROWS; i++) {
      double x[POINTS_MOST][CB_COORD_MAX], centre[3] = {0}, mass = 0;
      points_world(b, gait, t[i] - floor(t[i]), g + i * b->group->size, x);
      for (int m = 0; m < 5; m++) {
        mass += cb_points_masses(b)[m];
        for (int e = 0; e < dim; e++) centre[e] += cb_points_masses(b)[m] * x[m][e];
      }
      for (int e = 0; e < dim; e++) {
        if (!i) first[e] = centre[e] / mass;
        check_near(centre[e] / mass, first[e], 1e-12);
      }
    }
    cb_gait_free(gait);
    cb_bundle_free(b);
  }
}

static const struct {
  const char *space, *name; /* the key `space` of the model, and the name of the space */
  int dim, sign;
} swimmers[] = {{"S2", "s2", 2, 1},  {"S3", "s3", 3, 1}, {"H2", "h2", 2, -1},
                {"H3", "h3", 3, -1}, {"E2", "e2", 2, 0}, {"E3", "e3", 3, 0}};
enum { SWIMMERS = sizeof swimmers / sizeof *swimmers };

/* Makes a bundle of points: an apex at the base point, and legs around the x axis of the plane or the z axis of
 * space. */
static cb_bundle *swimmer(int which, int legs, double radius, double apex, double tip, bool subgroup) {
  char text[2048], space[80];
  const int dim = swimmers[which].dim;
  snprintf(space, sizeof space, "{name: %s, curvature: %.17g}", swimmers[which].name,
           swimmers[which].sign / (radius * radius));
  size_t used = (size_t)snprintf(text, sizeof text,
                                 "{space: %s, chart: polar, shape: [l, a], %s points: [{mass: %.17g, at: %s}", space,
                                 !subgroup  ? ""
                                 : dim == 2 ? "group: [shift_x],"
                                            : "group: [shift_z],",
                                 apex, dim == 2 ? "[0, 0]" : "[0, 0, 0]");
  for (int k = 0; k < legs; k++) {
    char at[64];
    if (dim == 2)
      snprintf(at, sizeof at, "[l, %s]", k ? "-a" : "a");
    else
      snprintf(at, sizeof at, "[l, a, 2*pi*%d/%d + 0.3]", k, legs);
    used += (size_t)snprintf(text + used, sizeof text - used, ", {mass: %.17g, at: %s}", tip, at);
  }
  snprintf(text + used, sizeof text - used, "]}");
  return points_from(text);
}

static cb_bundle *swimmer_model(int which, int legs, double radius, double apex, double tip) {
  char text[256];
  snprintf(text, sizeof text, "space %s legs %d radius %.17g apex_mass %.17g tip_mass %.17g", swimmers[which].space,
           legs, radius, apex, tip);
  return model("constant_curvature_swimmer", text);
}

static void a_swimmer_of_points_is_the_constant_curvature_swimmer(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < SWIMMERS; s++)
    for (int turn = 0; turn < 6; turn++) {
      const int legs = swimmers[s].dim == 2 ? 2 : 3 + turn;
      const double radius = swimmers[s].sign ? check_uniform(&seed, 0.8, 2) : 1, apex = check_uniform(&seed, 0.5, 2),
                   tip = check_uniform(&seed, 0.5, 2);
      cb_bundle *b = swimmer(s, legs, radius, apex, tip, true), *m = swimmer_model(s, legs, radius, apex, tip);
      cb_bundle *whole = swimmer(s, legs, radius, apex, tip, false);
      const double r[2] = {check_uniform(&seed, 0.2, 1), check_uniform(&seed, 0.2, 1.2)};
      double A[2], dA[4], M[4], dM[8], A_[2], dA_[4], M_[4], dM_[8], all[2 * CB_GROUP_DIM];
      check_ok(cb_bundle_connection(b, r, A, dA, M, dM));
      check_ok(cb_bundle_connection(m, r, A_, dA_, M_, dM_));
      check_ok(cb_bundle_connection(whole, r, all, NULL, M_, NULL));
      for (int i = 0; i < 2; i++) check_near(A[i], A_[i], 1e-12);
      for (int i = 0; i < 4; i++) {
        check_near(dA[i], dA_[i], 1e-12);
        check_near(M[i], M_[i], 1e-12);
      }
      for (int i = 0; i < 8; i++) check_near(dM[i], dM_[i], 1e-12);
      /* By symmetry the connection of the full group has only the component along the geodesic: omega_y of so3, or v_x
       * or v_z. The unit of length of this component is the radius of curvature. */
      const int dim = whole->group->dim, along = swimmers[s].dim == 3 ? 5 : swimmers[s].sign > 0 ? 1 : 0;
      for (int k = 0; k < dim; k++)
        for (int i = 0; i < 2; i++) check_near(all[2 * k + i], k == along ? A_[i] / radius : 0, 1e-12);
      cb_bundle_free(b);
      cb_bundle_free(m);
      cb_bundle_free(whole);
    }
}

static double large_gait(const cb_bundle *b, int axis) {
  const double corners[8] = {0.3, 0.4, 1, 0.4, 1, 1.2, 0.3, 1.2};
  cb_gait *gait;
  double g[CB_GROUP_SIZE], log[CB_GROUP_DIM];
  check_ok(cb_gait_polygon(2, 4, corners, &gait));
  check_ok(cb_holonomy(b, gait, 0, g, NULL, NULL));
  check_ok(b->group->log(b->group, g, log));
  cb_gait_free(gait);
  return log[axis];
}

static void large_gaits_swim_as_far_as_printed(void **state) {
  static const struct {
    int which, axis, axis_of_all;
    double distance;
  } printed[] = {{0, 0, 1, -.10051356558}, {2, 0, 0, .06148161579}, {4, 0, 0, 0}};
  for (int i = 0; i < 3; i++) {
    cb_bundle *b = swimmer(printed[i].which, 2, 1, 1, 1, true), *all = swimmer(printed[i].which, 2, 1, 1, 1, false);
    check_near(large_gait(b, printed[i].axis), printed[i].distance, 1e-10);
    check_near(large_gait(all, printed[i].axis_of_all), printed[i].distance, 1e-10);
    cb_bundle_free(b);
    cb_bundle_free(all);
  }
}

static void a_flat_swimmer_stands_still_in_space_too(void **state) {
  cb_bundle *b = swimmer(5, 5, 1, 1.3, 0.7, false);
  for (int axis = 0; axis < 6; axis++) check_near(large_gait(b, axis), 0, 1e-13);
  cb_bundle_free(b);
}

/* With the group of translations only, A is the derivative of the centre of mass by the shape, so it has no
 * curvature. */
static void translations_alone_follow_the_centre_of_mass(void **state) {
  uint64_t seed = check_seed();
  char *text = random_points_text(&seed, &points_spaces[1], 5, "group: [shift_x, shift_y, shift_z],");
  cb_bundle *b = points_from(text);
  free(text);
  const double r[2] = {0.3, -0.2}, *mass = cb_points_masses(b);
  double x[15], dx[30], A[6], B[3], whole = 0;
  check_ok(cb_points_place(b, r, x, dx));
  check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
  check_ok(cb_bundle_curvature(b, r, 0, 1, B));
  for (int m = 0; m < 5; m++) whole += mass[m];
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 2; i++) {
      double sum = 0;
      for (int m = 0; m < 5; m++) sum += mass[m] * dx[(2 * m + i) * 3 + k] / whole;
      check_near(A[2 * k + i], sum, 1e-14);
    }
    check_near(B[k], 0, 1e-14);
  }
  cb_bundle_free(b);
}

/* The displacement is X = -2 K mu (1 - mu) int l^2 sin a dl da, where K is the curvature of the space. The leg length l
 * goes from e/2 to e and the half-angle a from 0.4 to 1.2. mu is the share of the tips in the mass. */
static void small_swimmers_move_by_the_curvature(void **state) {
  const double e = 1e-2, m0 = 1.3, m1 = 0.6;
  for (int s = 0; s < 4; s++) {
    const int legs = swimmers[s].dim == 2 ? 2 : 4;
    cb_bundle *b = swimmer(s, legs, 1.5, m0, m1, true);
    const double corners[8] = {e / 2, 0.4, e, 0.4, e, 1.2, e / 2, 1.2}, mu = legs * m1 / (m0 + legs * m1);
    const double K = swimmers[s].sign / 2.25;
    const double X = -2 * K * mu * (1 - mu) * (e * e * e * 7 / 24) * (cos(0.4) - cos(1.2));
    cb_gait *gait;
    double g[1];
    check_ok(cb_gait_polygon(2, 4, corners, &gait));
    check_ok(cb_holonomy(b, gait, 0, g, NULL, NULL));
    check_relative(g[0], X, 1e-4); /* the next term of the expansion in e is smaller by the factor e^2 */
    cb_gait_free(gait);
    cb_bundle_free(b);
  }
}

/* A uniform rod of length l moves in the plane as two points do, each with half its mass, at the distance l/(2 sqrt 3)
 * from the middle. */
static void rods_as_two_points_are_the_floating_snake(void **state) {
  uint64_t seed = check_seed();
  cb_bundle *snake = model("floating_snake", "links 3 length 2.4 mass 1.7");
  cb_bundle *b = points_from(
      "{space: e2, chart: cartesian, shape: [alpha1, alpha2], parameters: {l: 0.8, m: 1.7/6, d: l/sqrt(12)}, points: ["
      "{mass: m, at: [\"-l/2 - (l/2 + d)*cos(alpha1)\", \"(l/2 + d)*sin(alpha1)\"]},"
      "{mass: m, at: [\"-l/2 - (l/2 - d)*cos(alpha1)\", \"(l/2 - d)*sin(alpha1)\"]},"
      "{mass: m, at: [d, 0]}, {mass: m, at: [-d, 0]},"
      "{mass: m, at: [\"l/2 + (l/2 + d)*cos(alpha2)\", \"(l/2 + d)*sin(alpha2)\"]},"
      "{mass: m, at: [\"l/2 + (l/2 - d)*cos(alpha2)\", \"(l/2 - d)*sin(alpha2)\"]}]}");
  for (int turn = 0; turn < 20; turn++) {
    const double r[2] = {check_uniform(&seed, -2, 2), check_uniform(&seed, -2, 2)};
    double A[2][6], dA[2][12], M[2][4], dM[2][8];
    check_ok(cb_bundle_connection(b, r, A[0], dA[0], M[0], dM[0]));
    check_ok(cb_bundle_connection(snake, r, A[1], dA[1], M[1], dM[1]));
    for (int i = 0; i < 6; i++) check_near(A[0][i], A[1][i], 1e-12);
    for (int i = 0; i < 12; i++) check_near(dA[0][i], dA[1][i], 1e-12);
    for (int i = 0; i < 4; i++) check_near(M[0][i], M[1][i], 1e-12);
    for (int i = 0; i < 8; i++) check_near(dM[0][i], dM[1][i], 1e-12);
  }
  cb_bundle_free(b);
  cb_bundle_free(snake);
}

static void two_bodies_of_points_are_the_falling_cat(void **state) {
  cb_bundle *cat = model("falling_cat", "mass_1 1.4 mass_2 0.8 inertia_1 0.5 inertia_2 0.3 arm_1 0.7 arm_2 0.9");
  cb_bundle *b = points_from(
      "{space: e2, chart: cartesian, shape: [alpha], period: {alpha: 2*pi}, parameters: {m1: 1.4, m2: 0.8, a1: 0.7, "
      "a2: 0.9, d1: sqrt(0.5/m1), d2: sqrt(0.3/m2)}, points: [{mass: m1/2, at: [d1, 0]}, {mass: m1/2, at: [-d1, 0]},"
      "{mass: m2/2, at: [\"a1 + (a2 + d2)*cos(alpha)\", \"(a2 + d2)*sin(alpha)\"]},"
      "{mass: m2/2, at: [\"a1 + (a2 - d2)*cos(alpha)\", \"(a2 - d2)*sin(alpha)\"]}]}");
  for (double alpha = -3; alpha < 3; alpha += 0.37) {
    double A[3], dA[3], M, dM, cat_A, cat_dA, cat_M, cat_dM;
    check_ok(cb_bundle_connection(b, &alpha, A, dA, &M, &dM));
    check_ok(cb_bundle_connection(cat, &alpha, &cat_A, &cat_dA, &cat_M, &cat_dM));
    check_near(A[2], cat_A, 1e-12); /* row 2 of A is the rotation of the first body */
    check_near(dA[2], cat_dA, 1e-12);
    check_near(M, cat_M, 1e-12);
    check_near(dM, cat_dM, 1e-12);
  }
  cb_bundle_free(b);
  cb_bundle_free(cat);
}

/* Compares log g of a small square with -B area, where g is the holonomy. The remainder decreases with the third power
 * of the side. */
static void small_loops_turn_by_the_curvature(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < POINTS_SPACES; s++) {
    cb_bundle *b = random_points(&seed, &points_spaces[s], 4);
    const double r[2] = {check_uniform(&seed, -0.3, 0.3), check_uniform(&seed, -0.3, 0.3)};
    double B[CB_GROUP_DIM], rest[2], size = 0;
    check_ok(cb_bundle_curvature(b, r, 0, 1, B));
    for (int k = 0; k < b->group->dim; k++) size += fabs(B[k]);
    for (int fine = 0; fine < 2; fine++) {
      const double e = fine ? 0.005 : 0.02, u = r[0] - e / 2, v = r[1] - e / 2;
      const double corners[8] = {u, v, u + e, v, u + e, v + e, u, v + e};
      double g[CB_GROUP_SIZE], log[CB_GROUP_DIM];
      cb_gait *gait;
      check_ok(cb_gait_polygon(2, 4, corners, &gait));
      check_ok(cb_holonomy(b, gait, 0, g, NULL, NULL));
      check_ok(b->group->log(b->group, g, log));
      rest[fine] = 0;
      for (int k = 0; k < b->group->dim; k++) rest[fine] += fabs(log[k] + B[k] * e * e);
      assert_true(rest[fine] < 0.3 * size * e * e);
      cb_gait_free(gait);
    }
    check_at_most(rest[1], rest[0] / 30); /* the ratio is 1/64 in the limit of small sides */
    cb_bundle_free(b);
  }
}

/* The same body is given twice in polar coordinates: the second time its body frame is rotated by an angle phi(r) that
 * depends on the shape r. */
static void another_body_frame_conjugates_the_holonomy(void **state) {
  static const char *const spaces[] = {"e2", "s2", "h2"};
  uint64_t seed = check_seed();
  for (int s = 0; s < 3; s++) {
    const double k1 = check_uniform(&seed, 0.3, 0.6), k2 = check_uniform(&seed, 0.3, 0.6);
    cb_bundle *b[2];
    for (int turned = 0; turned < 2; turned++) {
      char text[1024];
      const char *phi = turned ? "+ 0.4 + 0.7*u - 0.3*u*v + v^2" : "";
      snprintf(text, sizeof text,
               "{space: %s, chart: polar, shape: [u, v], points: [{mass: 1, at: [0.5 + %.17g*u, 0.3 + v %s]}, "
               "{mass: 2, at: [0.4 + 0.2*u*v, 2 + u %s]}, {mass: 0.7, at: [0.6 - %.17g*v, 4 %s]}]}",
               spaces[s], k1, phi, phi, k2, phi);
      b[turned] = points_from(text);
    }
    cb_gait *gait = points_gait(&seed, 0.5);
    const cb_group *G = b[0]->group;
    double g[2][CB_GROUP_SIZE], length[2], r[2], rate[2], h[CB_GROUP_SIZE], a[3] = {0}, x[2][POINTS_MOST][CB_COORD_MAX];
    for (int turned = 0; turned < 2; turned++)
      check_ok(cb_holonomy(b[turned], gait, 0, g[turned], &length[turned], NULL));
    cb_gait_at(gait, 0, r, rate);
    /* In the rotated frame, points are h^-1 x and the holonomy is h^-1 g h. */
    a[2] = -(0.4 + 0.7 * r[0] - 0.3 * r[0] * r[1] + r[1] * r[1]);
    G->exp(G, a, h);
    check_near(length[1], length[0], 1e-11);
    double back[CB_GROUP_SIZE], conjugate[CB_GROUP_SIZE];
    G->inverse(G, h, back);
    cb_group_conjugate(G, back, g[0], conjugate);
    points_world(b[1], gait, 0, conjugate, x[0]);
    points_world(b[1], gait, 0, g[1], x[1]);
    for (int m = 0; m < 3; m++)
      for (int e = 0; e < cb_points_space(b[0])->embedding; e++) check_near(x[1][m][e], x[0][m][e], 1e-11);
    cb_gait_free(gait);
    for (int turned = 0; turned < 2; turned++) cb_bundle_free(b[turned]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(killing_momenta_of_the_motion_in_space_are_zero),
      cmocka_unit_test(the_centre_of_mass_stays_in_flat_space),
      cmocka_unit_test(a_swimmer_of_points_is_the_constant_curvature_swimmer),
      cmocka_unit_test(large_gaits_swim_as_far_as_printed),
      cmocka_unit_test(a_flat_swimmer_stands_still_in_space_too),
      cmocka_unit_test(translations_alone_follow_the_centre_of_mass),
      cmocka_unit_test(small_swimmers_move_by_the_curvature),
      cmocka_unit_test(rods_as_two_points_are_the_floating_snake),
      cmocka_unit_test(two_bodies_of_points_are_the_falling_cat),
      cmocka_unit_test(small_loops_turn_by_the_curvature),
      cmocka_unit_test(another_body_frame_conjugates_the_holonomy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
