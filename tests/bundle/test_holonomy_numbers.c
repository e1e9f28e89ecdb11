/* Tests of holonomies against closed forms and the literature, and of invalid and open gaits. A: connection; r:
 * shape. */
#include "bundles.h"
#include "gaits.h"

#include "bundle/bundle_private.h"

static void purcell_has_the_printed_numbers(void **state) {
  const cb_bundle b = test_purcell();
  const double B[3] = {.012542419498747, -.007345370757657, .005459124961156}, r[2] = {.5, -.3}, zero[2] = {0, 0};
  const double A0[6] = {0, 0, 1. / 18, 1. / 18, -7. / 27, 7. / 27}, M0[4] = {16, 11, 11, 16};
  double A[6], M[4], out[3], length, g[3];
  check_ok(cb_bundle_connection(&b, zero, A, NULL, M, NULL));
  for (int k = 0; k < 6; k++) check_near(A[k], A0[k], 1e-15);
  for (int k = 0; k < 4; k++) check_near(M[k], M0[k] / 2187, 1e-16);
  check_ok(cb_bundle_curvature(&b, zero, 0, 1, out));
  check_near(out[0], 5. / 243, 1e-15);
  check_ok(cb_bundle_curvature(&b, r, 0, 1, out));
  for (int k = 0; k < 3; k++) check_near(out[k], B[k], 1e-15);
  cb_gait *gait = circle(0, 0, 1);
  check_ok(cb_holonomy(&b, gait, 1e-11, g, &length, NULL));
  check_near(g[0], -.04949902143485, 1e-11);
  check_near(g[1], .01340036636874, 1e-11);
  check_near(g[2], 0, 1e-11);
  check_near(length, .512235406963, 1e-11);
  check_near(hypot(g[0], g[1]), .0512808, 5e-8); /* half a unit of the last known digit */
  check_ok(cb_body_velocity_integral(&b, gait, out));
  check_near(fabs(out[0]), .0519181, 5e-8);
  check_near(out[1], 0, 1e-12); /* 0 by symmetry */
  check_near(out[2], 0, 1e-12);
  cb_gait_free(gait);
  const double corners[8] = {1, 1, -1, 1, -1, -1, 1, -1};
  check_ok(cb_gait_polygon(2, 4, corners, &gait));
  check_ok(cb_holonomy(&b, gait, 0, g, &length, NULL));
  check_near(g[0], -.06018752110694, 1e-13);
  check_near(g[1], 0, 1e-13);
  check_near(g[2], 0, 1e-13);
  check_near(length, .706680499900, 1e-12);
  cb_gait_free(gait);
}

static void pmpy_has_the_printed_numbers(void **state) {
  cb_group line;
  const cb_bundle b = test_pmpy(&line);
  const double r[2] = {5, 4 * M_PI / 3}, r2[2] = {6, 2}, v = 8 * M_PI / 3;
  const double corners[8] = {4, .5, 8, .5, 8, v - .5, 4, v - .5};
  double A[2], M[4], B, X, length;
  cb_gait *gait;
  check_ok(cb_bundle_connection(&b, r, A, NULL, M, NULL));
  check_near(A[0], 0, 1e-15);
  check_near(A[1], .00318309886184, 1e-14);
  check_near(M[0], 3 * M_PI, 1e-14);
  check_near(M[3], 2 / M_PI, 1e-15);
  check_ok(cb_bundle_curvature(&b, r, 0, 1, &B));
  check_near(B, -.041061975317709, 1e-14);
  check_ok(cb_bundle_connection(&b, r2, A, NULL, M, NULL));
  check_near(A[0], -.095451232295564, 1e-14);
  check_near(A[1], .002210485320721, 1e-14);
  check_near(M[0], 8.772589013003131, 1e-13);
  check_near(M[3], .875732369912367, 1e-14);
  check_ok(cb_gait_polygon(2, 4, corners, &gait));
  check_ok(cb_holonomy(&b, gait, 0, &X, &length, NULL));
  check_near(X, 1.7463175578278, 1e-12);
  check_near(length, 35.006776367919, 1e-11);
  /* On a group of one dimension the body velocity integral is exact. */
  check_ok(cb_body_velocity_integral(&b, gait, &B));
  check_near(B, X, 1e-11);
  cb_gait_free(gait);
}

static void the_body_velocity_integral_is_exact_on_commutative_groups(void **state) {
  uint64_t seed = check_seed();
  const cb_group *line = test_group(1);
  random_bundle p, moved;
  random_bundles(&seed, line, 2, .5, &p, &moved);
  const double figure[14] = {0, 0, 1, 1, 1, -1, -1, .7, -1, -1, .3, .2, .2, .9}; /* the polygon crosses itself */
  for (int kind = 0; kind < 2; kind++) {
    double g[3], z[3];
    cb_gait *gait;
    if (kind)
      gait = random_fourier(&seed, 2, 1);
    else
      check_ok(cb_gait_polygon(2, 7, figure, &gait));
    check_ok(cb_holonomy(&p.b, gait, 0, g, NULL, NULL));
    check_ok(cb_body_velocity_integral(&p.b, gait, z));
    for (int a = 0; a < 3; a++) check_near(z[a], g[a], 1e-11);
    cb_gait_free(gait);
  }
}

static void wrong_gaits_and_singular_shapes_are_named(void **state) {
  const cb_bundle purcell = test_purcell();
  cb_group line;
  const cb_bundle pmpy = test_pmpy(&line);
  double g[3] = {7, 7, 7}, z[3], same[6] = {1, 2, 1, 2, 1, 2};
  const double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, points[8] = {0, 0, 1, 0, 1, 1, 0, 1};
  const double times[4] = {0, .3, .6, 1};
  cb_gait *gait = NULL;
  check_ok(cb_gait_polygon(3, 3, corners, &gait));
  assert_int_equal(cb_holonomy(&purcell, gait, 0, g, NULL, NULL), CB_ERROR_ARGUMENT);
  assert_non_null(
      strstr(cb_error_text(), "the gait has 3 shape variables: expected those of bundle purcell_by_hand, 2"));
  assert_int_equal(cb_body_velocity_integral(&purcell, gait, z), CB_ERROR_ARGUMENT);
  check_near(g[0], 7, 0);
  cb_gait_free(gait);
  gait = circle(.5, 1, 2);
  assert_int_equal(cb_holonomy(&pmpy, gait, 0, g, NULL, NULL), CB_STEP_SINGULAR);
  assert_non_null(strstr(cb_error_text(), "bundle pmpy_by_hand at l = "));
  assert_non_null(strstr(cb_error_text(), "a sphere without volume"));
  const double backwards[2] = {.5, .4};
  assert_int_equal(cb_reconstruct(&purcell, gait, 0, 2, backwards, g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_holonomy(&purcell, gait, NAN, g, NULL, NULL), CB_ERROR_ARGUMENT);
  const cb_holonomy_options fifth = {.order = 5}, small = {.step = 1e-9}, negative = {.step = -1};
  assert_int_equal(cb_holonomy_by(&purcell, gait, &fifth, g, NULL, NULL), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_holonomy_by(&purcell, gait, &small, g, NULL, NULL), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_holonomy_by(&purcell, gait, &negative, g, NULL, NULL), CB_ERROR_ARGUMENT);
  check_near(g[0], 7, 0);
  cb_gait_free(gait);
  gait = NULL;
  assert_int_equal(cb_gait_spline(2, 4, times, points, &gait), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "a point at time 1 must repeat the first point"));
  assert_int_equal(cb_gait_polygon(2, 3, same, &gait), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_polygon(0, 3, same, &gait), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_spline(2, 2, NULL, points, &gait), CB_ERROR_ARGUMENT);
  same[3] = NAN;
  assert_int_equal(cb_gait_polygon(2, 3, same, &gait), CB_ERROR_ARGUMENT);
  assert_null(gait);
  assert_int_equal(cb_bundle_curvature(&purcell, points, 0, 0, z), CB_ERROR_ARGUMENT);
}

/* A bundle with one shape variable, a phase. A loop of the phase has a holonomy if the phase has a period, but it
 * bounds no surface. */
static cb_status on_phase(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  const double c = cos(2 * M_PI * r[0]), s = sin(2 * M_PI * r[0]);
  const double a[3] = {.3 + c, s, .2 + s};
  for (int k = 0; A && k < 3; k++) A[k] = a[k];
  if (dA) {
    dA[0] = -2 * M_PI * s;
    dA[1] = dA[2] = 2 * M_PI * c;
  }
  if (M) *M = 1;
  return CB_OK;
}

static void open_gaits_have_paths_and_no_holonomy(void **state) {
  const cb_bundle_class phases = {.name = "phases", .connection = on_phase};
  const cb_bundle open = {.class_ = &phases, .group = cb_group_find("se2"), .n = 1, .shape = {"phase"}};
  cb_bundle periodic = open;
  periodic.period[0] = 1;
  cb_gait *loop, *late, *half;
  double g[3] = {7, 7, 7}, h[3], path[6], length;
  const double once = 1, twice[2] = {1, 2};
  check_ok(cb_gait_loop(1, 0, (const double[]){.2}, 1, &loop));
  check_ok(cb_gait_loop(1, 0, (const double[]){.2}, .5, &half));
  assert_int_equal(cb_holonomy(&open, loop, 0, g, NULL, NULL), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "the gait is open in bundle phases: phase is 0.2 at its start and 1.2"));
  assert_int_equal(cb_body_velocity_integral(&open, loop, g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_reconstruct(&open, loop, 0, 2, twice, g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_holonomy(&periodic, half, 0, g, NULL, NULL), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_body_velocity_integral(&periodic, loop, g), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "bounds no surface"));
  check_near(g[0], 7, 0);
  check_ok(cb_holonomy(&periodic, loop, 0, g, &length, NULL));
  check_near(length, 1, 1e-14);
  check_ok(cb_reconstruct(&open, loop, 0, 1, &once, path));
  check_at_most(test_distance(open.group, g, path), 1e-14);
  check_ok(cb_reconstruct(&periodic, loop, 0, 2, twice, path));
  open.group->multiply(open.group, g, g, h);
  check_at_most(test_distance(open.group, h, path + 3), 1e-14);
  check_near(g[2], -.2, 1e-14); /* the rotation is minus the mean of the third row of A */
  check_ok(cb_gait_shifted(loop, .4, &late));
  check_ok(cb_holonomy(&periodic, late, 0, h, NULL, NULL));
  check_near(h[2], -.2, 1e-14);
  cb_gait_free(loop);
  cb_gait_free(late);
  cb_gait_free(half);
}

/* The connection A = (0, 1/a) of the group R in the shape (a, b). On the loop a = m + cos 2 pi t, b = sin 2 pi t it
 * gives A r' = 2 pi (1 - m/a). For 0 < |m| < 1 this has poles of residue m/sqrt(1 - m^2). It has none for m = 0 and
 * |m| > 1. In these cases the holonomy is -2 pi for m = 0, and -2 pi (1 - |m|/sqrt(m^2 - 1)) for |m| > 1. */
static cb_status reciprocal(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  if (A) {
    A[0] = 0;
    A[1] = 1 / r[0];
  }
  if (dA) {
    dA[0] = dA[2] = dA[3] = 0;
    dA[1] = -1 / (r[0] * r[0]);
  }
  if (M) {
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
  }
  return CB_OK;
}

static void a_pole_of_the_connection_is_an_error_at_every_error_order_and_step(void **state) {
  static const cb_bundle_class of = {.name = "reciprocal", .connection = reciprocal};
  cb_group line;
  cb_bundle b = test_pmpy(&line);
  b.class_ = &of;
  const double means[] = {.5, .3, .77, -.2, .05, .999, 0, 1.25, -2}, errors[] = {1e-3, 1e-6, 1e-10, 0};
  const double steps[] = {.3, .1, .01, .003};
  for (int k = 0; k < 9; k++) {
    const double m = means[k], off = fabs(m) > 1 ? fabs(m) / sqrt(m * m - 1) : 0;
    cb_gait *gait = circle(m, 0, 1);
    double g;
    for (int order = 4; order <= 6; order += 2)
      for (int e = 0; e < 4; e++) {
        const cb_holonomy_options refined = {.order = order, .error = errors[e]},
                                  plain = {.order = order, .step = steps[e]};
        const cb_status status = cb_holonomy_by(&b, gait, &refined, &g, NULL, NULL);
        assert_int_equal(status, k < 6 ? CB_ERROR_STEP : CB_OK);
        if (k < 6) assert_non_null(strstr(cb_error_text(), "bundle reciprocal at l = "));
        if (k >= 6) check_near(g, -2 * M_PI * (1 - off), fmax(errors[e], 1e-13));
        if (k != 5) assert_int_equal(cb_holonomy_by(&b, gait, &plain, &g, NULL, NULL), k < 6 ? CB_ERROR_STEP : CB_OK);
      }
    assert_int_equal(cb_gait_regular(&b, gait), k < 6 ? CB_STEP_SINGULAR : CB_OK);
    cb_gait_free(gait);
  }
}

/* The kinematic snake is singular where alpha1 = alpha2. */
static void singular_shapes_between_the_nodes_of_a_grid_and_within_a_gait_are_found(void **state) {
  enum { POINTS = 12 };
  cb_bundle *b;
  check_ok(cb_bundle_create("kinematic_snake", NULL, &b));
  const int v[2] = {0, 1}, points[2] = {POINTS, POINTS};
  const double at[CB_SHAPE_MAX] = {0};
  for (int k = 0; k < 3; k++) {
    double value[2][POINTS], A[POINTS * POINTS * 6], z[3];
    for (int i = 0; i < POINTS; i++) {
      value[0][i] = .1 + .1 * i;
      value[1][i] = k == 1 ? -.1 - .1 * i : .15 + .093 * i;
    }
    for (int i = 0; i < POINTS * POINTS; i++)
      check_ok(
          cb_bundle_connection(b, (double[]){value[0][i / POINTS], value[1][i % POINTS]}, A + 6 * i, NULL, NULL, NULL));
    const cb_status status = cb_grid_regular(b, v, points, (const double *const[]){value[0], value[1]}, at, A);
    assert_int_equal(status == CB_OK, k == 1);
    if (k != 1) assert_non_null(strstr(cb_error_text(), "kinematic_snake at alpha1 = "));
    cb_gait *gait = circle(1, k == 1 ? -1 : 0, k == 2 ? .2 : .9);
    assert_int_equal(cb_body_velocity_integral(b, gait, z) == CB_OK, k > 0);
    cb_gait_free(gait);
  }
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(purcell_has_the_printed_numbers),
      cmocka_unit_test(pmpy_has_the_printed_numbers),
      cmocka_unit_test(the_body_velocity_integral_is_exact_on_commutative_groups),
      cmocka_unit_test(wrong_gaits_and_singular_shapes_are_named),
      cmocka_unit_test(open_gaits_have_paths_and_no_holonomy),
      cmocka_unit_test(a_pole_of_the_connection_is_an_error_at_every_error_order_and_step),
      cmocka_unit_test(singular_shapes_between_the_nodes_of_a_grid_and_within_a_gait_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
