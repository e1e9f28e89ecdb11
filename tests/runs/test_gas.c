/* Tests of gases: the spheres do not overlap, are uniform by volume, and have the requested speeds and masses.
 *
 * The volume of a ball of radius s is, up to a factor, 2s - sin 2s in S3, sinh 2s - 2s in H3, and s^3 in E3. Random
 * numbers have a fixed seed; bounds are four standard deviations.
 */
#include "built_body.h"
#include "geometry/origin.h"

/* Computes the position x of particle i in the world from its coordinates about the moving origin. */
static void point(const built *t, int i, double *x) {
  const size_t k = (size_t)t->g->k;
  if (cb_origin_moves(t->g))
    cb_origin_world_point(t->g, &t->start->origin[cb_system_component(t->s, i)], t->start->x + (size_t)i * k, x);
  else
    memcpy(x, t->start->x + (size_t)i * k, k * sizeof *x);
}

static double least_distance(const built *t) {
  double least = INFINITY;
  for (int i = 0; i < t->n; i++)
    for (int j = 0; j < i; j++) {
      double x[K], y[K];
      point(t, i, x);
      point(t, j, y);
      least = fmin(least, cb_distance(t->g, x, y));
    }
  return least;
}

static double ball(const char *space, double s) {
  return *space == 's' ? 2 * s - sin(2 * s) : *space == 'h' ? sinh(2 * s) - 2 * s : s * s * s;
}

/* Checks that no particle is farther than `reach` from the centre. Let u be the volume that is nearer to the centre
 * than a particle, divided by the volume of the ball. Checks that u has the mean 1/2 and the mean square 1/3. */
static void check_even(const built *t, const char *space, const double *centre, double reach) {
  double mean = 0, square = 0, farthest = 0;
  for (int i = 0; i < t->n; i++) {
    double x[K];
    point(t, i, x);
    const double d = cb_distance(t->g, centre, x), share = ball(space, d) / ball(space, reach);
    farthest = fmax(farthest, d);
    mean += share / t->n;
    square += share * share / t->n;
  }
  assert_true(farthest <= reach * (1 + 1e-14));
  check_near(mean, 0.5, 4 / sqrt(12.0 * t->n));
  check_near(square, 1.0 / 3, 4 * sqrt((1.0 / 5 - 1.0 / 9) / t->n));
}

static void gas_fills_a_sphere_evenly_without_overlap(void **state) {
  const double centre[4] = {0, 0, 0, 1};
  built t = build("{name: s3}", "{kind: gas, count: 2000, radius: 0.04}");
  assert_true(least_distance(&t) > 0.08);
  check_even(&t, "s", centre, acos(-1));
  for (int a = 0; a < 4; a++) {
    double square = 0;
    for (int i = 0; i < t.n; i++) square += pow(t.start->x[4 * i + a], 2) / t.n;
    /* The mean of the fourth power of a coordinate on S3 is 3/24. */
    check_near(square, 0.25, 4 * sqrt((1.0 / 8 - 1.0 / 16) / t.n));
  }
  drop(&t);
}

static void gas_fills_a_ball_evenly_by_volume(void **state) {
  static const char *const space[] = {"h3", "e3", "s3"};
  for (int i = 0; i < 3; i++) {
    char text[32];
    snprintf(text, sizeof text, "{name: %s}", space[i]);
    built t = build(
        text, "{kind: gas, count: 1500, radius: 0.05, container_radius: 2.05, at: {chart: polar, point: [1, 1, 1]}}");
    double centre[K];
    const double q[3] = {1, 1, 1};
    check_ok(cb_chart_find(t.g, "polar")->to_point(t.g, q, centre, NULL));
    assert_true(least_distance(&t) > 0.1);
    check_even(&t, space[i], centre, 2);
    drop(&t);
  }
}

/* In H2 x E the volume of a ball of radius R has no closed form. The test compares the mean square of the heights z
 * with an integral over slices. The slice at the height z is a disc of area 2 pi (cosh r - 1) and radius
 * r = sqrt(R^2 - z^2). */
static void gas_fills_a_ball_of_a_product_evenly(void **state) {
  enum { SLICES = 4000 };
  const double R = 3;
  built t = build("{name: h2xe}", "{kind: gas, count: 10000, container_radius: 3}");
  double whole = 0, wanted = 0, fourth = 0, mean = 0;
  for (int i = 0; i < SLICES; i++) {
    const double z = R * (i + 0.5) / SLICES, area = cosh(sqrt(R * R - z * z)) - 1;
    whole += area;
    wanted += z * z * area;
    fourth += pow(z, 4) * area;
  }
  for (int i = 0; i < t.n; i++) {
    double x[K];
    point(&t, i, x);
    mean += x[3] * x[3] / t.n;
  }
  check_near(mean, wanted / whole, 4 * sqrt((fourth / whole - pow(wanted / whole, 2)) / t.n));
  drop(&t);
}

static void gas_has_the_speed_the_temperature_and_the_masses_asked_for(void **state) {
  built t = build("{name: h3}", "{kind: gas, count: 500, container_radius: 1, speed: 0.7, mass: 2}");
  for (int i = 0; i < t.n; i++) {
    const double *p = t.start->p + 4 * i;
    check_near(sqrt(cb_inner(t.g, p, p)), 1.4, 1e-14);
  }
  drop(&t);
  t = build("{name: s3}", "{kind: gas, count: 3000, temperature: 0.6, mass_max: 4, seed: 5}");
  double energy = 0, mass = 0;
  for (int i = 0; i < t.n; i++) {
    const double *p = t.start->p + 4 * i, m = cb_system_masses(t.s)[i];
    assert_true(m >= 1 && m <= 4);
    check_near(cb_inner(t.g, p, t.start->x + 4 * i), 0, 1e-14);
    energy += cb_inner(t.g, p, p) / m / t.n;
    mass += m / t.n;
  }
  check_near(energy, 3 * 0.6, 4 * 0.6 * sqrt(6.0 / t.n));
  check_near(mass, 2.5, 4 * 3 / sqrt(12.0 * t.n));
  drop(&t);
}

static void gas_is_what_its_seed_says(void **state) {
  const char *body[] = {"{kind: gas, count: 50, radius: 0.1, speed: 1, seed: 3}",
                        "{kind: gas, count: 50, radius: 0.1, speed: 1, seed: 3}",
                        "{kind: gas, count: 50, radius: 0.1, speed: 1, seed: 4}"};
  built t[3];
  for (int i = 0; i < 3; i++) t[i] = build("{name: s3}", body[i]);
  assert_memory_equal(t[0].start->x, t[1].start->x, 200 * sizeof(double));
  assert_memory_equal(t[0].start->p, t[1].start->p, 200 * sizeof(double));
  assert_memory_not_equal(t[0].start->x, t[2].start->x, 200 * sizeof(double));
  for (int i = 0; i < 3; i++) drop(&t[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gas_fills_a_sphere_evenly_without_overlap),
      cmocka_unit_test(gas_fills_a_ball_evenly_by_volume),
      cmocka_unit_test(gas_fills_a_ball_of_a_product_evenly),
      cmocka_unit_test(gas_has_the_speed_the_temperature_and_the_masses_asked_for),
      cmocka_unit_test(gas_is_what_its_seed_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
