/* Tests that the cost and the class of an optimal gait do not depend on the direction of travel, the body frame, the
 * derivation of the model, the start of the cycle, or the method. */
#include "bundle/coordinates.h"
#include "extremals.h"
#include "sampled.h"
#include <curvebody/scenario.h>

enum { ROW = 3 }; /* row of purcell_row (extremals.h) with the displacement X = .05 */

/* Finds the gaits with X = .05 of a bundle that is equivalent to Purcell's three links, from the single start
 * `start`. */
static cb_optima *gait_of(const cb_bundle *b, const cb_gait *start) {
  const cb_optimum_problem p = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = purcell_row[ROW][0]}, .start = start};
  cb_optima *o;
  check_ok(cb_optimum_find(&p, &o));
  return o;
}

static cb_gait *near_the_row(const double *sign, bool swapped) {
  const ellipse e = purcell_near(purcell_row[ROW]);
  double cosine[2], sine[2];
  cb_gait *g;
  for (int i = 0; i < 2; i++) {
    cosine[i] = sign[i] * e.cosine[i ^ swapped];
    sine[i] = sign[i] * e.sine[i ^ swapped];
  }
  check_ok(cb_gait_fourier(2, 1, e.mean, cosine, sine, &g));
  return g;
}

/* Checks that an optimal gait of the bundle has the cost of the table's row, up to the relative error `tolerance`, and
 * that its vector of multipliers has the length in this row, up to ten times this error. The harmonics that the gait
 * omits cause a relative error of 1e-10. */
static void same(const cb_bundle *b, const cb_gait *start, double tolerance) {
  cb_optima *o = gait_of(b, start);
  const cb_optimum *one = o->item; /* the gait around the straight shape; others are found from small ellipses */
  for (int k = 1; k < o->count; k++)
    if (fabs(o->item[k].cost - purcell_row[ROW][1]) < fabs(one->cost - purcell_row[ROW][1])) one = &o->item[k];
  check_relative(one->cost, purcell_row[ROW][1], tolerance);
  check_relative(one->wong, one->cost, tolerance);
  check_relative(hypot(one->lambda[0], one->lambda[1]), purcell_row[ROW][4], fmax(1e-9, 10 * tolerance));
  assert_int_equal(one->index, 0);
  assert_int_equal(one->flat, 0);
  cb_optima_free(o);
}

static void every_way_of_travel_costs_the_same(void **state) {
  cb_bundle *b = model("purcell", "");
  for (int way = 0; way < 4; way++) {
    const double sign[2] = {way % 2 ? -1 : 1, way % 2 ? -1 : 1};
    cb_gait *g = near_the_row(sign, way / 2), *back, *later;
    check_ok(cb_gait_reversed(g, &back));
    check_ok(cb_gait_shifted(back, .3, &later));
    same(b, g, 1e-10);
    same(b, later, 1e-10);
    cb_gait_free(g);
    cb_gait_free(back);
    cb_gait_free(later);
  }
  cb_bundle_free(b);
}

static void so_does_every_body_frame(void **state) {
  static const char *const frame[] = {"base 1", "base 2", "base 3"};
  const double low[2] = {-1.4, -1.4}, high[2] = {1.4, 1.4}, plus[2] = {1, 1};
  const int points[2] = {9, 9};
  cb_gait *g = near_the_row(plus, false);
  for (size_t k = 0; k < sizeof frame / sizeof *frame; k++) {
    cb_bundle *b = model("purcell", frame[k]);
    same(b, g, 1e-10);
    cb_bundle_free(b);
  }
  cb_bundle *b = model("purcell", ""), *moved;
  check_ok(cb_bundle_minimum_perturbation(b, low, high, points, &moved));
  same(moved, g, 1e-10);
  cb_bundle_free(moved);
  cb_bundle_free(b);
  cb_gait_free(g);
}

/* A table of the connection A reports its error e. The resulting error of the displacement X is at most
 *   e int (|r_1'| + |r_2'|) dt
 * and that of the cost E is 2 lambda times as much, where lambda is the multiplier. */
static void so_does_another_derivation_of_the_model(void **state) {
  const double plus[2] = {1, 1}, low[2] = {-1.4, -1.4}, high[2] = {1.4, 1.4};
  const int points[2] = {49, 49};
  cb_gait *g = near_the_row(plus, false);
  cb_scenario *s;
  check_ok(cb_scenario_open_bundle(CB_TESTS_DIR "/../analysis/scenarios/locomotion/links-purcell.yaml", NULL, 0, &s));
  same(cb_scenario_bundle(s), g, 1e-10);
  cb_scenario_free(s);
  cb_bundle *b = model("purcell", ""), *table = sampled(b, low, high, points, 5);
  double error[6], worst = 0;
  check_ok(cb_bundle_samples_error(table, NULL, error));
  for (int k = 0; k < 6; k++) worst = fmax(worst, error[k]);
  const double *row = purcell_row[ROW], far = 8 * (row[2] + row[3] / (2 * M_PI));
  const double e = 2 * row[4] * worst * far / row[1];
  print_message("stated error of A %.2g, of E %.2g\n", worst, e);
  check_at_most(e, 1e-5);
  same(table, g, e);
  cb_bundle_free(table);
  cb_bundle_free(b);
  cb_gait_free(g);
}

/* Enlarges the gait by 5 % in the first variable and by 10 % in all other variables. The centre is the start shape
 * if it is given, and 0 otherwise. The result misses the target and is not stationary. */
static cb_status bent(const cb_optimum_problem *p, const cb_gait *gait, cb_gait **out) {
  double scale[CB_SHAPE_MAX], offset[CB_SHAPE_MAX];
  for (int i = 0; i < p->bundle->n; i++) {
    scale[i] = i ? 1.1 : 1.05;
    offset[i] = p->start_shape ? (1 - scale[i]) * p->start_shape[i] : 0;
  }
  return cb_gait_moved(gait, scale, offset, out);
}

static void agree(const cb_optimum_problem *p) {
  cb_optima *o;
  check_ok(cb_optimum_find(p, &o));
  const cb_optimum *one = o->item;
  print_message("%-12s %-28s E = %.12g\n", p->bundle->group->name, p->bundle->class_->name, one->cost);
  check_relative(one->wong, one->cost, 1e-10);
  check_at_most(one->speed, 1e-11);
  check_at_most(one->momentum, 1e-11);
  cb_optimum_problem flow = *p;
  flow.flow = true;
  flow.start = one->gait;
  flow.starts = 0;
  cb_optima *down;
  check_ok(bent(p, one->gait, (cb_gait **)&flow.start));
  check_ok(cb_optimum_find(&flow, &down));
  check_relative(down->item[0].cost, one->cost, 1e-6);
  cb_gait_free((cb_gait *)flow.start);
  cb_optima_free(down);
  cb_optima_free(o);
}

/* Solves eleven problems by sequential quadratic programming, by Wong's equations, and by the gradient flow. */
static void both_methods_agree(void **state) {
  check_numbers_alone();
  static const double small_ball[2] = {5, 4 * M_PI / 3}, tips[2] = {.65, .8}, spheres[2] = {10, 10};
  static const struct {
    const char *name, *text;
    cb_gait_target target;
    const double *start_shape;
  } row[] = {
      {"purcell", "", {.kind = CB_GAIT_MOVE, .value = .03}, NULL},
      {"purcell", "", {.kind = CB_GAIT_TURN, .value = .1}, NULL},
      {"purcell", "", {.kind = CB_GAIT_ELEMENT, .element = {.02, 0, .05}}, NULL},
      {"purcell", "links 4", {.kind = CB_GAIT_PARTS, .element = {.02}, .asked = {true, false, true}}, NULL},
      {"pmpy", "", {.kind = CB_GAIT_MOVE, .value = .1}, small_ball},
      {"three_sphere", "", {.kind = CB_GAIT_MOVE, .value = .001}, spheres},
      {"constant_curvature_swimmer", "", {.kind = CB_GAIT_MOVE, .value = .01}, tips},
      {"hopf", "", {.kind = CB_GAIT_TURN, .value = .5}, NULL},
      {"rolling_ball", "", {.kind = CB_GAIT_TURN, .value = 1}, NULL},
      {"rolling_ball", "", {.kind = CB_GAIT_PARTS, .element = {0, .3}, .asked = {false, true, true}}, NULL},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    cb_bundle *b = model(row[k].name, row[k].text);
    const cb_optimum_problem p = {
        .bundle = b, .target = row[k].target, .start_shape = row[k].start_shape, .starts = 6, .seed = 2};
    agree(&p);
    cb_bundle_free(b);
  }
  const char *sets[] = {"optimum.target.turn=1", "optimum.starts=1"};
  cb_scenario *cat;
  check_ok(cb_scenario_open_bundle(CB_TESTS_DIR "/../analysis/scenarios/locomotion/cat.yaml", sets, 2, &cat));
  agree(cb_scenario_optimum(cat));
  cb_scenario_free(cat);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_way_of_travel_costs_the_same),
      cmocka_unit_test(so_does_every_body_frame),
      cmocka_unit_test(so_does_another_derivation_of_the_model),
      cmocka_unit_test(both_methods_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
