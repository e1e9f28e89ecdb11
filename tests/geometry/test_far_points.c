/* Tests of points of the embedding far out in H^2 and near the antipode on S^3: distances, logarithms, points between,
 * and means. Further tests are of long distances in Nil and Sol.
 *
 * The reference values were computed by mpmath with 500 and 60 digits from exactly these numbers; in H^2 the last
 * coordinate follows from the others. The tolerances are round-off: some units in the last place of the largest number.
 * For the logarithm in S^3 they are divided by the distance to the antipode, because the rounding of the input has an
 * effect of this size. */
#include "check_geometry.h"
#include "check_system.h"

static const struct {
  double x[2], y[2], distance, log[2], quarter[2];
} hyperbolic[] = {
    {{1423.9088085458447, 440.4666106216786},
     {398.7013399884551, 1436.1630727805275},
     14.529667381368771,
     {-20688.915697023489, -6399.8129117974927},
     {37.672861207268571, 11.677863842243385}},
    {{62240.86532762115, 52424.75765542265},
     {8422.67558690468, 7095.761714587623},
     2.7988528805348288,
     {-172618.125416635, -145393.74875821525},
     {31346.121633151592, 26402.607455161224}},
    {{237747096.37647521, 48193722.348559074},
     {-4.168906959966565, 9.109227893755337},
     22.513149389283757,
     {-5352435897.5920295, -1084992470.8587736},
     {854635.80581894729, 173243.25454500413}},
    {{9.712131976206279e+129, 0.0},
     {5.2474873016399456e+129, 8.17247725860256e+129},
     598.52966662722937,
     {-5.8129991139583986e+132, 1.1280748743179153e-127},
     {1.0064256746539522e+65, 9.0940035007644453e-66}},
    {{1.2351811987203925e+147, 1.923680740235641e+147},
     {-2.3706741693520015, -2.7448170067921542},
     341.9950757911689,
     {-4.2242588767220749e+149, -6.5788934055489999e+149},
     {9.1219378485714854e+109, 1.4206576469187151e+110}},
};

static const struct {
  double curvature, x[4], y[4], log[4];
} spherical[] = {
    {1,
     {0.05118374782106909, 0.6755596868924394, -0.5033515249761652, 0.5363176071218877},
     {-0.05130972468642918, -0.6752789942209851, 0.5041912302520379, -0.5358701292789457},
     {-0.3957224574704276, 0.88048065982596231, 2.6379630712320794, 1.4045036827733838}},
    {1,
     {-0.0319516155346048, 0.5430182964736402, 0.8387986135763744, -0.022958872401463302},
     {0.031952204876355764, -0.5430188372872992, -0.8387982541725636, 0.022958391750043126},
     {1.851471176031826, -1.6990165300588815, 1.1290986946820691, -1.5100104537659016}},
    {1,
     {-0.5126292232342218, -0.5804384877007313, -0.6259953072991641, -0.09182764682486241},
     {0.5126292232408556, 0.5804384876148867, 0.6259953075159722, 0.09182764585245257},
     {0.02084077453309285, -0.26968855263276198, 0.68112290540896681, -3.0549156664675913}},
    {1,
     {-0.06856645408953803, 0.20544345015066245, 0.6480374307053417, -0.7301637614731362},
     {0.06856645408942187, -0.20544345015141616, -0.6480374307057124, 0.7301637614726061},
     {-0.3649200171910605, -2.367785716206975, -1.164534937787338, -1.6654990131895049}},
    {4,
     {-0.2404308985716962, 0.18658588572518844, -0.372935636429318, 0.1352689962305229},
     {0.24050367873033265, -0.18668460040044915, 0.3730125789239722, -0.13479041677726558},
     {0.22895041742458967, -0.31031563075112816, 0.24223069324296223, 1.5028109531372249}},
    {4,
     {0.3830373965081353, -0.08440653223901494, -0.21698653295318038, -0.2215281803938543},
     {-0.3830375079184219, 0.08440646308882789, 0.21698611574335272, 0.22152842276126006},
     {-0.3500062282031297, -0.21724151789207692, -1.310702571530108, 0.76141976700345139}},
    {4,
     {-0.2958831730989623, -0.173112529873011, -0.15086374381152928, -0.3312481406453848},
     {0.29588317341690507, 0.17311252949530914, 0.15086374377301529, 0.3312481405763169},
     {0.99884663950151111, -1.1865853863141048, -0.12099530186601203, -0.21698328822801301}},
    {4,
     {0.2862234271530805, -0.3431764411578752, 0.1852648869472615, -0.12642389666269208},
     {-0.2862234271533656, 0.3431764411578515, -0.18526488694713006, 0.1264238966623036},
     {-0.8955484181820965, -0.074417783655580479, 0.41293681554752724, -1.2203849027268292}},
};

static void lift(const double *x, double *out) {
  out[0] = x[0];
  out[1] = x[1];
  out[2] = sqrt(1 + x[0] * x[0] + x[1] * x[1]);
}

static double largest(int n, const double *a, const double *b) {
  double most = 0, size = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(a[i] - b[i]));
    size = fmax(size, fabs(b[i]));
  }
  return most / size;
}

static void points_far_out_keep_their_digits(void **state) {
  cb_space *g;
  check_ok(cb_space_create("h2", NULL, &g));
  for (size_t n = 0; n < sizeof hyperbolic / sizeof *hyperbolic; n++) {
    double x[4], y[4], v[4], z[4], d;
    lift(hyperbolic[n].x, x);
    lift(hyperbolic[n].y, y);
    check_relative(cb_distance(g, x, y), hyperbolic[n].distance, 1e-15);
    check_relative(cb_distance(g, y, x), hyperbolic[n].distance, 1e-15);
    check_ok(cb_distance_derivatives(g, x, y, &d, NULL, NULL));
    check_relative(d, hyperbolic[n].distance, 1e-15);
    check_ok(cb_log(g, x, y, v));
    check_at_most(largest(2, v, hyperbolic[n].log), 1e-14);
    check_ok(cb_geodesic_point(g, x, y, 0.25, z));
    check_at_most(largest(2, z, hyperbolic[n].quarter), 1e-13); /* coordinates are sinh of distances of up to 600 */
  }
  cb_space_free(g);
}

/* Follows a radial geodesic from the distance a of the base point to a + 2, and transports a vector to its end. The
 * tolerance 1e-15 (a + 18) has two parts. exp(a) has a relative error that is proportional to a. Near the base point,
 * the squares of the velocity's components cancel, which multiplies round-off by up to 16. */
static void velocities_far_out_are_followed(void **state) {
  cb_space *g;
  check_ok(cb_space_create("h2", NULL, &g));
  for (double a = 1; a < 120; a *= 1.7) {
    const double x[3] = {sinh(a), 0, cosh(a)}, v[3] = {2 * cosh(a), 0, 2 * sinh(a)}, u[3] = {0, 1, 0};
    double y[4], w[4], moved[4];
    cb_exp(g, x, v, y, w);
    const double end[3] = {sinh(a + 2), 0, cosh(a + 2)}, speed[3] = {2 * cosh(a + 2), 0, 2 * sinh(a + 2)};
    check_at_most(largest(3, y, end), 1e-15 * (a + 18));
    check_at_most(largest(3, w, speed), 1e-15 * (a + 18));
    check_ok(cb_transport(g, x, y, u, moved));
    check_at_most(largest(3, moved, u), 1e-15);
    check_ok(cb_transport(g, x, y, v, moved));
    check_at_most(largest(3, moved, speed), 1e-15 * (a + 18));
  }
  cb_space_free(g);
}

static void logarithms_near_the_antipode_keep_their_digits(void **state) {
  for (size_t n = 0; n < sizeof spherical / sizeof *spherical; n++) {
    const double k = spherical[n].curvature;
    char text[64];
    snprintf(text, sizeof text, "{name: s3, curvature: %g}", k);
    cb_space *g = check_space(text);
    double v[4];
    check_ok(cb_log(g, spherical[n].x, spherical[n].y, v));
    /* The length is accurate to round-off. The error of the direction is round-off divided by the distance from the
     * antipode. */
    double sum = 0;
    for (int a = 0; a < 4; a++) sum = hypot(sum, spherical[n].x[a] + spherical[n].y[a]);
    check_at_most(largest(4, v, spherical[n].log), 4e-16 + 2e-32 / (k * sum * sum));
    double got = 0, right = 0;
    for (int a = 0; a < 4; a++) {
      got = hypot(got, v[a]);
      right = hypot(right, spherical[n].log[a]);
    }
    check_at_most(fabs(got / right - 1), 2e-15);
    cb_space_free(g);
  }
}

/* The mean of two points of equal mass is their midpoint. For the masses 1 and 3 the mean is compared with known
 * numbers. At the mean of three points of equal mass, the sum of the logarithms of the points is 0. */
static void means_of_spread_points_are_found(void **state) {
  cb_space *g;
  check_ok(cb_space_create("h2", NULL, &g));
  for (double a = 1; a < 340; a *= 1.5) {
    const double x[6] = {sinh(a), 0, cosh(a), sinh(a) * cos(3.1), sinh(a) * sin(3.1), cosh(a)}, equal[2] = {1, 1};
    double mean[4], middle[4];
    check_ok(cb_geodesic_point(g, x, x + 3, 0.5, middle));
    check_ok(cb_karcher_mean(g, 2, x, equal, mean));
    check_at_most(largest(3, mean, middle), 1e-13);
  }
  /* The masses are 1 and 3, and each is at the distance 8 from the base point. The mean was computed with 30 digits. */
  const double x[6] = {sinh(8), 0, cosh(8), sinh(8) * cos(3.1), sinh(8) * sin(3.1), cosh(8)}, weight[2] = {1, 3};
  const double right[3] = {-27.2692540762356, 1.13523624119478, 27.3111878027598};
  double mean[4];
  check_ok(cb_karcher_mean(g, 2, x, weight, mean));
  check_at_most(largest(3, mean, right), 1e-13);
  const double three[9] = {
      0, sinh(25), cosh(25), sinh(20), 0, cosh(20), -sinh(9), -sinh(9), sqrt(1 + 2 * sinh(9) * sinh(9))};
  double v[4], sum[2] = {0};
  check_ok(cb_karcher_mean(g, 3, three, NULL, mean));
  for (int i = 0; i < 3; i++) {
    check_ok(cb_log(g, mean, three + 3 * i, v));
    for (int c = 0; c < 2; c++) sum[c] += v[c];
  }
  check_at_most(hypot(sum[0], sum[1]) / mean[2], 1e-11);
  cb_space_free(g);
}

/* Compares distances in Nil and Sol with known values. These distances are too long for a search that starts at the
 * straight line of the chart. The derivative of the distance d by x is minus the unit velocity at x towards y, with its
 * index lowered. */
static void distances_in_nil_and_sol_have_derivatives_far_out(void **state) {
  static const struct {
    const char *space;
    double y[3], d;
  } rows[] = {{"nil", {1, 0, 100}, 33.9055092646228}, {"nil", {3, 2, 50}, 20.146407534606}, {"sol", {1000, 0, 0}, 0}};
  for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
    cb_space *g;
    const double x[3] = {0, 0, 0}, right = rows[n].d > 0 ? rows[n].d : 2 * asinh(500);
    double d, gradient[6], hessian[36], u[3];
    check_ok(cb_space_create(rows[n].space, NULL, &g));
    check_relative(cb_distance(g, x, rows[n].y), right, 1e-14);
    check_ok(cb_distance_derivatives(g, x, rows[n].y, &d, gradient, hessian));
    check_relative(d, right, 1e-12);
    check_ok(cb_log(g, x, rows[n].y, u));
    for (int a = 0; a < 3; a++) check_near(gradient[a], -u[a] / right, 1e-9); /* the metric at 0 is the identity */
    cb_space_free(g);
  }
}

static void a_point_that_is_no_number_has_no_distance(void **state) {
  static const char *const names[] = {"e3", "h2", "h3", "h2xe", "s2", "s3", "s2xe"};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    cb_space *g;
    double x[CB_Q_MAX], y[CB_Q_MAX], v[CB_Q_MAX], d;
    check_ok(cb_space_create(names[n], NULL, &g));
    cb_space_base_point(g, x);
    for (int a = 0; a < g->embedding; a++) {
      cb_space_base_point(g, y);
      y[a] = NAN;
      assert_true(isnan(cb_distance(g, x, y)));
      assert_int_equal(cb_log(g, x, y, v), CB_ERROR_DOMAIN);
      assert_int_equal(cb_log(g, y, x, v), CB_ERROR_DOMAIN);
      assert_int_equal(cb_distance_derivatives(g, x, y, &d, NULL, NULL), CB_ERROR_DOMAIN);
      assert_int_equal(cb_geodesic_point(g, x, y, 0.5, v), CB_ERROR_DOMAIN);
    }
    cb_space_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_far_out_keep_their_digits),
      cmocka_unit_test(velocities_far_out_are_followed),
      cmocka_unit_test(distances_in_nil_and_sol_have_derivatives_far_out),
      cmocka_unit_test(a_point_that_is_no_number_has_no_distance),
      cmocka_unit_test(logarithms_near_the_antipode_keep_their_digits),
      cmocka_unit_test(means_of_spread_points_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
