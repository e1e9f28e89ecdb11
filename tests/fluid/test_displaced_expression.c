/* Tests of the fluid that bodies displace if its density is an expression. The results are compared with slices of an
 * exponential atmosphere, columns in closed form, quadrature over tetrahedra, and exact polynomials for a linear
 * density. */
#include "solid_slices.h"

static void exponential_atmosphere_agrees_with_slices(void **unused) {
  uint64_t seed = check_seed();
  const strata s = {.density = {1000}, .up = {0, 0, 1}, .scale = 2};
  const char *const names[] = {"H"};
  cb_medium *m;
  check_ok(cb_medium_expression("1000*exp(-z/H)", 1, names, &s.scale, s.up, NULL, &m));
  assert_false(cb_medium_is_uniform(m));
  for (int which = 0; which < 4; which++) {
    solid b = any_solid(which, &seed);
    const cb_pose g = random_pose(&seed, 3);
    solid_place(&b, &g);
    /* A quadrature of degree 5 over faces of size 0.4 in an atmosphere of scale height 2 has an error of
     * (0.4/2)^6/6!. */
    check_displaced(displaced_of(m, &b, NULL), by_slices(&s, &b), 1e-7);
    solid_free(&b);
  }
  cb_medium_free(m);
}

/* The moment of a body far above a narrow transition of the density depends on the density down to the height 0. The
 * integral of the density from 0 to the height h of the body is 1.2 h plus the integral of 998 below the transition. */
static void column_of_the_potential_reaches_to_height_0(void **unused) {
  const double a[3] = {0.5, 0.5, 0.5}, up[3] = {0, 0, 1}, height = 20;
  cb_medium *m;
  check_ok(cb_medium_expression("1.2 + 998*(1 - tanh((z - 3)/0.3))/2", 0, NULL, NULL, up, NULL, &m));
  solid b = solid_mesh(mesh_box(2, a, false));
  solid_place(&b, &(cb_pose){{1, 0, 0, 0}, {0, 0, height}});
  /* int_0^infinity (1 - tanh((z - c)/w))/2 dz = w/2 ln(1 + e^(2 c/w)) */
  check_relative(displaced_of(m, &b, NULL).moment[2], 1.2 * height + 998 * 0.15 * log1p(exp(20)), 1e-11);
  cb_medium_free(m);
  /* a density such as 998 - (30 - z)^3, which is negative only far below the body, is no error */
  check_ok(cb_medium_expression("998 - (30 - z)^3", 0, NULL, NULL, up, NULL, &m));
  solid_place(&b, &(cb_pose){{1, 0, 0, 0}, {0, 0, 38}});
  double mass, moment[3], along[3] = {0, 0, 1};
  check_ok(cb_medium_displaced(m, b.n, (const double(*)[3][3])b.corner, NULL, &mass, moment, moment));
  cb_medium_free(m);
  check_ok(cb_medium_expression("1/z", 0, NULL, NULL, up, NULL, &m));
  solid_place(&b, &(cb_pose){{1, 0, 0, 0}, {0, 0, -1}});
  check_error_begins(cb_medium_displaced(m, b.n, (const double(*)[3][3])b.corner, NULL, &mass, moment, moment),
                     CB_STEP_NOT_FINITE, "density at (0, 0, -1.5) is -0.666667: expected a number >= 0");
  cb_medium_free(m);
  check_ok(cb_medium_expression("1/z^2", 0, NULL, NULL, up, NULL, &m));
  check_error(cb_medium_displaced(m, b.n, (const double(*)[3][3])b.corner, NULL, &mass, moment, along),
              CB_STEP_NOT_FINITE,
              "the integral of the density from (0, 0, -1) along `up` to height 0 does not converge");
  check_ok(cb_medium_displaced(m, b.n, (const double(*)[3][3])b.corner, NULL, &mass, moment,
                               NULL)); /* NULL: the integral along the column is not requested, so the call succeeds */
  check_near(along[2], 1, 0);
  check_near(moment[2], 0, 1e-15);
  cb_medium_free(m);
  solid_free(&b);
}

static double wavy(const double x[3]) { return 3 + sin(x[0] + 2 * x[1]) * cos(x[2]) + x[0] * x[1]; }

/* Returns the integrals of rho and rho x over the body, by Gauss's rule in three directions in each tetrahedron from a
 * face to the origin. rho is `wavy`. */
static displaced by_tetrahedra(const solid *b) {
  displaced d = {0};
  gsl_integration_glfixed_table *gauss = gsl_integration_glfixed_table_alloc(8);
  for (int f = 0; f < b->n; f++) {
    double cross[3];
    cb_cross3(b->corner[f][1], b->corner[f][2], cross);
    const double six = cb_dot3(b->corner[f][0], cross);
    for (size_t p = 0; p < 512; p++) {
      double u[3], w[3], x[3];
      for (int i = 0; i < 3; i++) gsl_integration_glfixed_point(0, 1, p >> 3 * i & 7, &u[i], &w[i], gauss);
      const double s = u[0], s1 = u[1], s2 = u[2] * (1 - u[1]);
      for (int i = 0; i < 3; i++)
        x[i] = s * ((1 - s1 - s2) * b->corner[f][0][i] + s1 * b->corner[f][1][i] + s2 * b->corner[f][2][i]);
      const double weight = six * w[0] * w[1] * w[2] * s * s * (1 - u[1]) * wavy(x);
      d.mass += weight;
      for (int i = 0; i < 3; i++) d.moment[i] += weight * x[i];
    }
  }
  gsl_integration_glfixed_table_free(gauss);
  return d;
}

static void density_of_all_coordinates_agrees_with_volume_quadrature(void **unused) {
  uint64_t seed = check_seed();
  double error[2];
  for (int k = 0; k < 2; k++) {
    double up[3];
    uint64_t same = seed;
    random_direction(&same, up);
    solid b = solid_mesh(mesh_torus(12 << k, 8 << k, 0.8, 0.3));
    const cb_pose g = random_pose(&same, 0.5);
    solid_place(&b, &g);
    cb_medium *m;
    check_ok(cb_medium_expression("3 + sin(x + 2*y)*cos(z) + x*y", 0, NULL, NULL, up, NULL, &m));
    const displaced found = displaced_of(m, &b, NULL), exact = by_tetrahedra(&b);
    error[k] = fabs(found.mass / exact.mass - 1);
    /* The components across `up` are compared. The component along `up` is not a moment: it is the integral over the
     * body of int_0^h rho dh, where h is the height. */
    double across[3];
    cb_cross3(up, found.moment, across);
    double expected[3];
    cb_cross3(up, exact.moment, expected);
    for (int i = 0; i < 3; i++) check_near(across[i], expected[i], (k ? 2e-7 : 2e-5) * exact.mass);
    cb_medium_free(m);
    solid_free(&b);
  }
  print_message("relative errors of the mass %.3g %.3g\n", error[0], error[1]);
  check_at_most(error[1], 1e-8);
  check_at_least(error[0] / error[1], 16.);
}

/* With the density 3 - h/5 at the height h the integrands on the faces of solids and sheets are polynomials of degree 3
 * or less, so the result is exact. */
static void linear_density_is_exact_wherever_the_body_is(void **unused) {
  const double a[3] = {0.7, 0.4, 0.5}, up[3] = {0, 0, 1};
  cb_medium *m;
  check_ok(cb_medium_expression("3 - z/5", 0, NULL, NULL, up, NULL, &m));
  solid box = solid_mesh(mesh_box(2, a, false)), plate = solid_mesh(mesh_plate(3, 2 * a[0], 2 * a[1], false));
  double *thickness = malloc(sizeof *thickness * (size_t)plate.n);
  for (int f = 0; f < plate.n; f++) thickness[f] = 0.25;
  for (int turn = 0; turn < 2; turn++) {
    /* g rotates about x by the angle 0.6 */
    const cb_pose g = {{cos(0.3), sin(0.3), 0, 0}, {2 + 90 * turn, -1, turn ? -1e3 : 2}};
    solid_place(&box, &g);
    solid_place(&plate, &g);
    /* The exact values are the integrals over the body of rho = 3 - h/5, rho x, rho y and int_0^h rho = 3 h - h^2/10.
     * zz and yz are the second moments of the body about its centre, divided by its volume V. */
    for (int flat = 0; flat < 2; flat++) {
      const double V = flat ? 4 * a[0] * a[1] * 0.25 : 8 * a[0] * a[1] * a[2], b2 = a[1] * a[1] / 3,
                   c2 = flat ? 0 : a[2] * a[2] / 3, c = cos(0.6), s = sin(0.6), zz = s * s * b2 + c * c * c2,
                   yz = s * c * (b2 - c2), z = g.x[2], mass = V * (3 - z / 5);
      const displaced exact = {mass, {mass * g.x[0], mass * g.x[1] - V * yz / 5, V * (3 * z - (z * z + zz) / 10)}};
      check_displaced(displaced_of(m, flat ? &plate : &box, flat ? thickness : NULL), exact, turn ? 1e-12 : 2e-14);
    }
  }
  free(thickness);
  cb_medium_free(m);
  solid_free(&box);
  solid_free(&plate);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exponential_atmosphere_agrees_with_slices),
      cmocka_unit_test(column_of_the_potential_reaches_to_height_0),
      cmocka_unit_test(density_of_all_coordinates_agrees_with_volume_quadrature),
      cmocka_unit_test(linear_density_is_exact_wherever_the_body_is),
  };
  return cmocka_run_group_tests_name("displaced_expression", tests, NULL, NULL);
}
