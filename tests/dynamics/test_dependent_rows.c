/* Tests of constraints that depend on one another, and of starts that do not satisfy the lengths of their rods. */
#include "constrained_state.h"
#include "memory_sink.h"
#include "simulate.h"

/* Makes a plane quadrilateral of rods with both diagonals and with velocities in the plane. `bent` is the distance of
 * its last corner from the plane if the space has a third dimension. */
static void begin_quadrilateral(body_case *c, const char *space, double bent) {
  static const double corner[4][2] = {{0.5, 0.1}, {-0.1, 0.6}, {-0.5, -0.2}, {0.2, -0.4}}, speed[2] = {0.3, -0.2};
  open_space(c, space);
  const int k = c->g->embedding;
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], x[CB_COORD_MAX], v[CB_COORD_MAX];
  cb_space_base_point(c->g, base);
  cb_space_frame(c->g, base, frame);
  for (int a = 0; a < 4; a++) {
    double u[CB_COORD_MAX] = {0}, w[CB_COORD_MAX] = {0};
    for (int e = 0; e < k; e++) {
      for (int i = 0; i < 2; i++) {
        u[e] += corner[a][i] * frame[i * k + e];
        w[e] += (1 + a) * speed[i] * frame[i * k + e];
      }
      if (a == 3 && c->g->dim == 3) u[e] += bent * frame[2 * k + e];
    }
    cb_exp(c->g, base, u, x, NULL);
    memcpy(v, w, sizeof v);
    cb_space_project_tangent(c->g, x, v);
    add_particle(c, 1 + 0.2 * a, x, v);
  }
  for (int a = 0; a < 4; a++)
    for (int b = a + 1; b < 4; b++) check_ok(cb_builder_rod(c->builder, NULL, a, b, as_it_starts));
}

static void a_flat_quadrilateral_with_both_diagonals_is_named(void **unused) {
  static const char *const where[] = {"e2", "s2", "h2", "e3", "s3", "h3", "e2 {chart: polar}"};
  for (int i = 0; i < 7; i++) {
    body_case c;
    begin_quadrilateral(&c, where[i], 0);
    check_error_begins(cb_builder_finish(c.builder, &c.system), CB_ERROR_DOMAIN, "constraint `rod body.");
    assert_non_null(strstr(cb_error_text(), "depends on the others at the start"));
    close_case(&c);
    if (where[i][1] == '2') continue;
    begin_quadrilateral(&c, where[i], 0.2); /* this makes a tetrahedron, which is accepted */
    finish_system(&c);
    assert_int_equal(cb_system_constraints(c.system), 6);
    close_case(&c);
  }
}

static void dropped_rods_are_kept_by_the_others(void **unused) {
  static const char *const where[] = {"e2", "s2", "h2"};
  static const char *const methods[] = {"lobatto {stages: 4}", "radau_iia", "ida"};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      body_case c;
      double start[6], worst = 0;
      begin_quadrilateral(&c, where[i], 0);
      cb_builder_drop_redundant(c.builder, true);
      finish_system(&c);
      assert_int_equal(cb_system_constraints(c.system), 5);
      constrained_project(&c, c.state);
      use_method(&c, methods[j]);
      for (int step = 0; step <= 100; step++) {
        for (int a = 0, r = 0; a < 4; a++)
          for (int b = a + 1; b < 4; b++, r++) {
            const double d = separation(&c, a, b);
            if (step == 0) start[r] = d;
            worst = fmax(worst, fabs(d - start[r]));
          }
        run_step(&c, 0.05);
      }
      check_at_most(worst, 1e-14);
      close_case(&c);
    }
}

static void two_lengths_of_one_pair_are_refused_by_name(void **unused) {
  static const char *const where[] = {"h3", "s3", "e3"};
  for (int i = 0; i < 3; i++)
    for (int drop = 0; drop < 2; drop++) {
      body_case c;
      double x[2][CB_COORD_MAX], base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], zero[CB_COORD_MAX] = {0};
      open_space(&c, where[i]);
      cb_space_base_point(c.g, base);
      cb_space_frame(c.g, base, frame);
      memcpy(x[0], base, sizeof base);
      cb_exp(c.g, base, frame, x[1], NULL);
      for (int a = 0; a < 2; a++) add_particle(&c, 1, x[a], zero);
      check_ok(cb_builder_rod(c.builder, "one", 0, 1, (cb_target){1, NULL}));
      check_ok(cb_builder_rod(c.builder, "another", 0, 1, (cb_target){1.1, NULL}));
      cb_builder_drop_redundant(c.builder, drop);
      check_error_begins(
          cb_builder_finish(c.builder, &c.system), CB_ERROR_DOMAIN,
          drop ? "constraint `another` contradicts the others" : "constraint `another` depends on the others");
      close_case(&c);
    }
}

static const char off_its_rods[] =
    "curvebody: 1\nspace: %s\nbodies:\n"
    "  - kind: truss\n"
    "    place: {at: {point: [%s]}, tangent: [[.5, .1, 0], [-.3, .4, .2], [.1, -.5, .3], [.1, .1, .6]]}\n"
    "    motion: [{killing: rotation_x, speed: .7}, {killing: rotation_z, speed: 1.3}]\n"
    "    rods: [{between: [0, 1], length: .9}, [1, 2], {between: [2, 3], length: .8}, [3, 0], [0, 2], [1, 3]]\n"
    "integrator: {name: lobatto, stages: 4, step: .01}\ntime: {end: 1}\n%s";

static void a_start_off_its_rods_is_projected_or_refused(void **unused) {
  static const char *const where[] = {"h3", "s3", "e3"};
  static const char *const fields[] = {"separation", "constraint_residual", "constraint_rate_residual", NULL};
  for (int i = 0; i < 3; i++) {
    char text[2048];
    const char *base = i == 0 ? "0, 0, 0, 1" : i == 1 ? "0, 0, 0, 1" : "0, 0, 0";
    snprintf(text, sizeof text, off_its_rods, where[i], base, "");
    simulation *s = simulate(text, NULL, 0, fields);
    assert_int_equal(s->width[0], 6);
    for (size_t r = 0; r < s->rows; r++) {
      check_near(s->value[0][6 * r], 0.9, 2e-15);
      check_near(s->value[0][6 * r + 2], 0.8, 2e-15);
      for (int e = 0; e < 6; e++) {
        check_near(s->value[1][6 * r + (size_t)e], 0, 2e-15);
        check_near(s->value[2][6 * r + (size_t)e], 0, 1e-14);
      }
    }
    simulation_free(s);
    cb_scenario *refused = NULL;
    snprintf(text, sizeof text, off_its_rods, where[i], base, "start: {project: never}\n");
    check_error_begins(cb_scenario_open_text("test", text, NULL, 0, &refused), CB_ERROR_INPUT, "test:10:");
    assert_non_null(strstr(cb_error_text(), "rod"));
  }
}

/* --- constraint rows that are removed because they are redundant, but only at the start --- */

static const char in_a_line[] =
    "curvebody: 1\nspace: %s\nbodies:\n"
    "  - {kind: truss, name: m, masses: [16, 12, 16], place: {chart: translation, points: "
    "[[-%s,0%s],[0,0%s],[%s,0%s]]},\n"
    "     motion: {chart: translation, velocities: [[%s,1%s],[%s,%s%s],[%s,-1%s]]}}\n"
    "start: {redundant: drop}\nintegrator: {name: lobatto, step: 0.01}\ntime: {end: 1}\n"
    "record: {observables: [constraints, separation]}\n";

/* Two equal rods are in a line, and a third rod joins their outer ends, which are at the distance a from the middle.
 * One of the three rows is redundant at the start and is removed. If the middle moves across the line, the figure
 * bends, and the run ends at the first step with the name of the rod whose row was removed. If the figure rotates
 * around the middle, it stays in a line. */
static void rods_in_a_line_end_the_run_when_they_bend(void **unused) {
  static const char *const where[] = {"e2", "e3", "s3", "h2", "h3"};
  for (int i = 0; i < 5; i++)
    for (int bends = 0; bends < 2; bends++) {
      const char *z = where[i][1] == '3' ? ", 0" : "", *a = "0.8", *across = bends ? "0.4" : "0";
      char text[2048];
      cb_scenario *s = NULL;
      snprintf(text, sizeof text, in_a_line, where[i], a, z, z, a, z, "0", z, "0", across, z, "0", z);
      check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
      const cb_system *dropped = cb_system_dropped(cb_scenario_system(s));
      assert_non_null(dropped);
      assert_int_equal(cb_system_constraints(dropped), 1);
      assert_int_equal(cb_system_constraints(cb_scenario_system(s)), 2);
      memory_sink m;
      cb_sink sink = memory_open(&m, cb_scenario_run(s));
      const cb_status status = cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL);
      if (bends) {
        assert_int_equal(status, CB_ERROR_STEP);
        assert_non_null(strstr(cb_error_text(), cb_system_constraint_name(dropped, 0)));
        assert_non_null(strstr(cb_error_text(), "step 1"));
      } else {
        check_ok(status);
      }
      memory_free(&m);
      cb_scenario_free(s);
    }
}

/* A rod whose row was removed may change its length only by a small fraction of this length. So the bending of three
 * rods in a line is found in the first step, even for rods of the size of a molecule. The diagonal of a square is
 * constant up to round-off, which is 1e-4 for sides of 1e12. */
static void dropped_rods_are_watched_at_every_size(void **unused) {
  static const char line[] =
      "curvebody: 1\nspace: e2\nbodies:\n"
      "  - {kind: truss, masses: [16, 12, 16], place: {points: [[-%g, 0], [0, 0], [%g, 0]]},\n"
      "     motion: {velocities: [[0, %g], [0, -%g], [0, %g]]}}\n"
      "start: {redundant: drop}\nintegrator: {name: lobatto, step: 0.01}\ntime: {end: 1}\n",
                    square[] =
                        "curvebody: 1\nspace: e2\nbodies:\n"
                        "  - {kind: truss, place: {points: [[0, 0], [%g, 0], [0, %g], [%g, %g]]},\n"
                        "     motion: {killing: rotation_z, speed: 1}}\n"
                        "start: {redundant: drop}\nintegrator: {name: lobatto, step: 0.01}\ntime: {end: 1}\n";
  static const double sizes[] = {1.16e-10, 1e-6, 1, 1e4, 1e9, 1e12};
  for (int i = 0; i < 12; i++) {
    const double a = sizes[i / 2];
    char text[1024];
    cb_scenario *s = NULL;
    if (i % 2)
      snprintf(text, sizeof text, square, a, a, a, a);
    else
      snprintf(text, sizeof text, line, a, a, a, a, a);
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
    assert_int_equal(cb_system_constraints(cb_system_dropped(cb_scenario_system(s))), 1);
    memory_sink m;
    cb_sink sink = memory_open(&m, cb_scenario_run(s));
    const cb_status status = cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL);
    assert_int_equal(status, i % 2 ? CB_OK : CB_ERROR_STEP);
    if (status) assert_non_null(strstr(cb_error_text(), "at time 0.01, step 1"));
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* The second diagonal of a plane quadrilateral that moves in its plane is redundant at all times. Its row is removed,
 * and its residual is round-off. */
static void what_was_dropped_is_recorded(void **unused) {
  static const char text[] =
      "curvebody: 1\nspace: e2\nbodies:\n"
      "  - {kind: truss, place: {points: [[0.5, 0.1], [-0.1, 0.6], [-0.5, -0.2], [0.2, -0.4]]}, motion: [{killing: "
      "rotation_z, speed: 1.3}, {killing: translation_x, speed: 0.7}]}\n"
      "start: {redundant: drop}\nintegrator: {name: lobatto, step: 0.05}\ntime: {end: 10}\n";
  static const char *const fields[] = {"dropped_residual", NULL};
  simulation *s = simulate(text, NULL, 0, fields);
  assert_int_equal(s->width[0], 1);
  for (size_t r = 0; r < s->rows; r++) check_near(s->value[0][r], 0, 1e-14);
  simulation_free(s);
}

/* A surface whose gradient is 0 at its particle is an error, in a system with a rod and in a system without rods. */
static void a_row_without_a_gradient_is_not_dropped(void **unused) {
  static const char *const rods[] = {"", "  - rod: {between: [[a, 0], [a, 1]]}\n"};
  static const char *const start[] = {"refuse", "drop"};
  for (int i = 0; i < 4; i++) {
    char text[1024];
    cb_scenario *s = NULL;
    snprintf(text, sizeof text,
             "curvebody: 1\nspace: e2\nbodies:\n  - {kind: particles, name: a, place: {points: [[0, 0], [1, 0]]}}\n"
             "constraints:\n%s  - surface: {particle: [a, 0], value: x^2 + y^2, name: origin}\n"
             "start: {redundant: %s}\nintegrator: {name: lobatto, step: 0.01}\ntime: {end: 1}\n",
             rods[i % 2], start[i / 2]);
    assert_int_equal(cb_scenario_open_text("test", text, NULL, 0, &s), CB_ERROR_INPUT);
    assert_non_null(strstr(cb_error_text(), "constraint `origin` has no gradient at the start"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flat_quadrilateral_with_both_diagonals_is_named),
      cmocka_unit_test(dropped_rods_are_kept_by_the_others),
      cmocka_unit_test(two_lengths_of_one_pair_are_refused_by_name),
      cmocka_unit_test(rods_in_a_line_end_the_run_when_they_bend),
      cmocka_unit_test(dropped_rods_are_watched_at_every_size),
      cmocka_unit_test(what_was_dropped_is_recorded),
      cmocka_unit_test(a_row_without_a_gradient_is_not_dropped),
      cmocka_unit_test(a_start_off_its_rods_is_projected_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
