/* Tests of bodies that move with the exact added mass. Rigid bodies and bodies with poses conserve their momentum. A
 * body whose shape is periodic has a table of its added mass along a stroke; the errors of this table and of the path
 * are smaller than the table reports. Results do not depend on earlier calls. */
#include "immersed_bundles.h"

/* A stroke without symmetry, with the period 2 pi. */
static const cb_poses_motion stroke = MODES("(0.4*sin(t))", "(0.1 + 0.3*cos(t))");

/* Makes a swimmer of 108 faces at rest in water. Its mass is half of the mass of the displaced water. period = 0: its
 * poses have no period. */
static tank swimmer(const cb_fluid_model *model, double period) {
  tank k = ellipsoid(500);
  check_ok(cb_poses_from_expressions(k.surface, &stroke, 1, NULL, NULL, NULL, NULL, &k.poses));
  if (period > 0) check_ok(cb_poses_set_period(k.poses, period));
  tank_water(&k, 998);
  k.fluid.added_mass = model;
  k.options.drag = false;
  tank_fill(&k);
  return k;
}

static double momentum_drift(const tank *k, const double Y[6], double h, int steps, cb_rigid_state *s) {
  double first[6], now[6], size = 0, drift = 0;
  check_ok(cb_rigid_start(k->problem, 0, &generic_pose, Y, s));
  world_momentum(s, first);
  for (int i = 0; i < 6; i++) size = fmax(size, fabs(first[i]));
  for (int n = 0; n < steps; n++) {
    step_by(k->problem, CB_SE3_CAYLEY, h, s);
    s->t = (n + 1) * h;
    if (n % 16 && n + 1 < steps) continue;
    world_momentum(s, now);
    for (int i = 0; i < 6; i++) drift = fmax(drift, fabs(now[i] - first[i]));
  }
  return drift / size;
}

static void a_rigid_body_keeps_its_momentum(void **unused) {
  cb_fluid_model *model = exact_of("{}");
  cb_rigid_state s;
  tank k = ellipsoid(500);
  tank_water(&k, 998);
  k.fluid.added_mass = model;
  k.options.drag = false;
  tank_fill(&k);
  const double drift = momentum_drift(&k, generic_twist, 0.01, 100000, &s);
  print_message("  momentum over 1e5 steps: %.1e\n", drift);
  check_at_most(drift, 1e-12);
  tank_empty(&k);
  cb_fluid_model_free(model);
}

static void a_body_with_a_table_keeps_its_momentum_over_100_periods(void **unused) {
  cb_fluid_model *model = exact_of("{table: 1e-6}");
  cb_rigid_state s;
  int points;
  tank k = swimmer(model, 2 * PI);
  const double error = cb_immersed_tabulated(k.body, &points),
               drift = momentum_drift(&k, generic_twist, PI / 50, 10000, &s);
  print_message("  %d points to %.1e; momentum over 100 periods: %.1e\n", points, error, drift);
  assert_true(points > 0 && error <= 1e-6);
  check_at_most(drift, 1e-12);
  tank_empty(&k);
  cb_fluid_model_free(model);
}

/* --- the table's error --- */

/* Returns the maximum difference of the inertia K and of the momentum mu0 of two bodies at 400 times, each relative to
 * its maximum in the first body. */
static double table_difference(const tank *a, const tank *b, double from, double to) {
  double most[2] = {0}, size[2] = {0};
  for (int i = 0; i < 400; i++) {
    const double t = from + (to - from) * (i + 0.37) / 400;
    double K[2][6][6], mu[2][6];
    check_ok(a->problem->inertia(a->problem->self, t, &at_origin, K[0], mu[0]));
    check_ok(b->problem->inertia(b->problem->self, t, &at_origin, K[1], mu[1]));
    for (int j = 0; j < 36; j++) {
      size[0] = fmax(size[0], fabs(K[0][j / 6][j % 6]));
      most[0] = fmax(most[0], fabs(K[0][j / 6][j % 6] - K[1][j / 6][j % 6]));
    }
    for (int j = 0; j < 6; j++) {
      size[1] = fmax(size[1], fabs(mu[0][j]));
      most[1] = fmax(most[1], fabs(mu[0][j] - mu[1][j]));
    }
  }
  return fmax(most[0] / size[0], most[1] / size[1]);
}

static void a_table_errs_by_less_than_it_says(void **unused) {
  static const char *const asked[] = {"{table: 1e-2}", "{table: 1e-4}", "{table: 1e-6}",
                                      "{table: 1e-8, far_error: 1e-9}"};
  cb_fluid_model *none = exact_of("{table: 0}");
  tank plain = swimmer(none, 2 * PI);
  int points, before = 0;
  assert_true(cb_immersed_tabulated(plain.body, &points) == 0 && points == 0);
  for (int i = 0; i < 4; i++) {
    cb_fluid_model *model = exact_of(asked[i]);
    tank k = swimmer(model, 2 * PI);
    const double told = cb_immersed_tabulated(k.body, &points), is = table_difference(&plain, &k, -8, 20);
    print_message("  %s: %d points, %.1e told, %.1e found\n", asked[i], points, told, is);
    check_at_most(told, pow(10, -2 - 2 * i));
    check_at_most(is, told);
    assert_true(points >= before);
    before = points;
    tank_empty(&k);
    cb_fluid_model_free(model);
  }
  tank_empty(&plain);
  cb_fluid_model_free(none);
}

/* Makes a sequence of 12 poses per period of the stroke, joined by cubic polynomials. The momentum mu0 of the changing
 * shape has a kink at each pose. */
static cb_poses *sequence_of(const cb_surface *surface, cb_poses_end end) {
  enum { POSES = 12 };
  const cb_poses_times times = {.start = 0.5, .step = 2 * PI / POSES, .end = end};
  double(*x)[3] = malloc(POSES * (size_t)surface->vertices * sizeof *x);
  cb_poses *by_text, *out;
  check_ok(cb_poses_from_expressions(surface, &stroke, 1, NULL, NULL, NULL, NULL, &by_text));
  for (int i = 0; i < POSES; i++) check_ok(cb_poses_at(by_text, i * times.step, x + i * surface->vertices, NULL));
  check_ok(cb_poses_from_arrays(surface->vertices, POSES, (const double(*)[3])x, &times, &out));
  cb_poses_free(by_text);
  free(x);
  return out;
}

static void a_sequence_has_a_table_from_pose_to_pose(void **unused) {
  for (int clamped = 0; clamped < 2; clamped++) {
    cb_fluid_model *model[2] = {exact_of("{table: 0}"), exact_of("{table: 1e-5}")};
    tank k[2];
    int points;
    for (int i = 0; i < 2; i++) {
      k[i] = ellipsoid(500);
      k[i].poses = sequence_of(k[i].surface, clamped ? CB_POSES_CLAMPED : CB_POSES_PERIODIC);
      tank_water(&k[i], 998);
      k[i].fluid.added_mass = model[i];
      k[i].options.drag = false;
      tank_fill(&k[i]);
    }
    const double told = cb_immersed_tabulated(k[1].body, &points), is = table_difference(k, k + 1, -3, 15);
    print_message("  %s: %d points, %.1e told, %.1e found\n", clamped ? "clamped" : "periodic", points, told, is);
    assert_true(points > 0);
    check_at_most(told, 1e-5);
    check_at_most(is, told);
    for (int i = 0; i < 2; i++) {
      tank_empty(&k[i]);
      cb_fluid_model_free(model[i]);
    }
  }
}

/* The body starts at rest. The error of its final position, relative to the length of the path, is at most the error
 * that the table reports. */
static void the_path_changes_by_less_than_the_tables_error(void **unused) {
  static const double rest[6];
  static const char *const asked[] = {"{table: 1e-8, far_error: 1e-9}", "{table: 1e-3}", "{table: 1e-5}"};
  cb_rigid_state s[3];
  double length = 0, told[3];
  for (int i = 0; i < 3; i++) {
    cb_fluid_model *model = exact_of(asked[i]);
    tank k = swimmer(model, 2 * PI);
    int points;
    told[i] = cb_immersed_tabulated(k.body, &points);
    check_ok(cb_rigid_start(k.problem, 0, &at_origin, rest, &s[i]));
    for (int n = 0; n < 100 * 40; n++) {
      const cb_rigid_state before = s[i];
      step_by(k.problem, CB_SE3_CAYLEY, PI / 20, &s[i]);
      s[i].t = (n + 1) * PI / 20;
      double d[3] = {s[i].g.x[0] - before.g.x[0], s[i].g.x[1] - before.g.x[1], s[i].g.x[2] - before.g.x[2]};
      if (i == 0) length += sqrt(cb_dot3(d, d));
    }
    tank_empty(&k);
    cb_fluid_model_free(model);
  }
  for (int i = 1; i < 3; i++) {
    double d[3] = {s[i].g.x[0] - s[0].g.x[0], s[i].g.x[1] - s[0].g.x[1], s[i].g.x[2] - s[0].g.x[2]};
    print_message("  %s: a path of %.3g m ends %.1e of it away; %.1e told\n", asked[i], length,
                  sqrt(cb_dot3(d, d)) / length, told[i]);
    check_at_most(sqrt(cb_dot3(d, d)) / length, told[i]);
  }
}

/* --- data that are kept between solutions --- */

static void what_is_asked_depends_on_nothing_asked_before(void **unused) {
  cb_fluid_model *model = exact_of("{table: 0, method: iterative}");
  tank a = swimmer(model, 0), b = swimmer(model, 0);
  double K[2][6][6], mu[2][6];
  for (int i = 0; i < 9; i++) check_ok(a.problem->inertia(a.problem->self, 0.3 * i, &at_origin, K[0], mu[0]));
  for (int i = 0; i < 3; i++) {
    check_ok(a.problem->inertia(a.problem->self, 1.7 * i, &at_origin, K[0], mu[0]));
    check_ok(b.problem->inertia(b.problem->self, 1.7 * i, &at_origin, K[1], mu[1]));
    assert_memory_equal(K[0], K[1], sizeof K[0]);
    assert_memory_equal(mu[0], mu[1], sizeof mu[0]);
  }
  tank_empty(&a);
  tank_empty(&b);
  cb_fluid_model_free(model);
}

/* --- errors --- */

static void what_has_no_table_is_refused_by_name(void **unused) {
  cb_fluid_model *fine = exact_of("{table: 1e-8}");
  tank k = ellipsoid(500);
  check_ok(cb_poses_from_expressions(k.surface, &stroke, 1, NULL, NULL, NULL, NULL, &k.poses));
  check_error_begins(cb_poses_set_period(k.poses, 3), CB_ERROR_DOMAIN, "the poses have no period 3: vertex ");
  check_error_begins(cb_poses_set_period(k.poses, 0), CB_ERROR_ARGUMENT, "period 0: expected a number > 0");
  tank_water(&k, 998);
  k.fluid.added_mass = fine;
  k.options.material = k.material;
  check_error_begins(cb_immersed_create(&k.fluid, k.surface, k.poses, &k.options, NULL, NULL, NULL, &k.body),
                     CB_ERROR_ARGUMENT, "table: expected at least far_error, or 0, found 1e-08 with far_error 1e-06");
  k.body = NULL;
  tank_empty(&k);
  cb_fluid_model_free(fine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rigid_body_keeps_its_momentum),
      cmocka_unit_test(a_body_with_a_table_keeps_its_momentum_over_100_periods),
      cmocka_unit_test(a_table_errs_by_less_than_it_says),
      cmocka_unit_test(a_sequence_has_a_table_from_pose_to_pose),
      cmocka_unit_test(the_path_changes_by_less_than_the_tables_error),
      cmocka_unit_test(what_is_asked_depends_on_nothing_asked_before),
      cmocka_unit_test(what_has_no_table_is_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
