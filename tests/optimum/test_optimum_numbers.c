/* Tests of optimal gaits against the table of extremals.h, closed forms and each other. E is the cost, X the
 * displacement, L = sqrt(E) the length, lambda the multipliers, r the shape, and p its momentum. Numbers with twelve
 * digits are from shooting and from an independent Fourier-Galerkin computation, whose error is 1e-10. */
#include "extremals.h"
#include <curvebody/scenario.h>

typedef struct search {
  cb_bundle *b;
  cb_optima *o;
} search;

static search found(cb_optimum_problem p, const char *name, const char *text, int starts, uint64_t seed) {
  search s = {.b = model(name, text)};
  p.bundle = s.b;
  p.starts = starts;
  p.seed = seed;
  check_ok(cb_optimum_find(&p, &s.o));
  return s;
}

static void done(search s) {
  cb_optima_free(s.o);
  cb_bundle_free(s.b);
}

/* Finds the gait with this cost, and checks the cost by the direct search and by Wong's equations. If conjugate times
 * are reported, their number must equal the index (Morse). */
static const cb_optimum *of_cost(const cb_optima *o, double cost) {
  for (int k = 0; k < o->count; k++) {
    const cb_optimum *one = &o->item[k];
    /* the tolerance includes half a unit in the last digit of the given cost */
    if (!(fabs(one->cost - cost) <= 1e-10 * cost + 5e-13)) continue;
    check_relative(one->wong, one->cost, 1e-10);
    if (one->conjugates >= 0) assert_int_equal(one->conjugates, one->index);
    return one;
  }
  print_error("no gait of cost %.12g\n", cost);
  fail();
  return NULL;
}

static const double small_ball[2] = {5, 4 * M_PI / 3};

/* For X = .1 there are the minimum and two saddles. For X = .5 there are only saddles, and a search for the minimum
 * continues to small distances of the spheres. */
static void pmpy_has_its_extremals(void **state) {
  cb_optimum_problem p = {.target = {.kind = CB_GAIT_MOVE, .value = .1}, .start_shape = small_ball};
  int fallen = 0;
  for (uint64_t seed = 1; seed <= (CHECK_SANITIZED ? 1 : 5); seed++) {
    p.target.value = .1;
    search s = found(p, "pmpy", "", 24, seed);
    check_relative(s.o->item[0].cost, 66.275422594, 1e-10);
    assert_int_equal(s.o->item[0].index, 0);
    check_relative(s.o->item[0].lambda[0], 285.8939827, 1e-9);
    assert_int_equal(of_cost(s.o, 72.045526289)->index, 1);
    const cb_optimum *row = of_cost(s.o, 73.203059159417);
    assert_int_equal(row->index, 1);
    check_relative(row->lambda[0], 355.5741243, 1e-9);
    check_near(row->rate[0], -.02470711, 1e-8);
    check_relative(row->rate[1], -10.72278225, 1e-8);
    done(s);
    p.target.value = .5;
    s = found(p, "pmpy", "", 24, seed);
    check_relative(s.o->item[0].cost, 312.713953422, 1e-10);
    assert_int_equal(s.o->item[0].index, 1);
    fallen += s.o->falling < 300;
    row = of_cost(s.o, 321.175261998779);
    assert_int_equal(row->index, 1);
    check_relative(row->lambda[0], 262.7533391, 1e-9);
    check_relative(row->rate[1], -22.45995592, 1e-8);
    done(s);
  }
  assert_true(fallen > 0 || CHECK_SANITIZED);
}

/* --- Purcell's swimmer --- */

/* Compares the costs of the family around 0 with the table, and those of the family around the shape (z, -z),
 * z = 1.7346, which is cheaper from about X = .016 on. */
static void purcell_moves_by_two_families(void **state) {
  static const double folded[PURCELL_ROWS] = {NAN, NAN, .118182747176, .215749966581};
  for (int k = 0; k < PURCELL_ROWS; k++) {
    const double *row = purcell_row[k];
    const cb_optimum_problem p = {.target = {.kind = CB_GAIT_MOVE, .value = row[0]}};
    search s = found(p, "purcell", "", 12, 1);
    const cb_optimum *one = of_cost(s.o, row[1]);
    assert_int_equal(one->index, 0);
    assert_int_equal(one->flat, 0);
    /* the tolerance is the round-off of the digits in the table */
    check_relative(hypot(one->lambda[0], one->lambda[1]), row[4], 1e-9);
    const bool cheaper = isfinite(folded[k]);
    assert_ptr_equal(one, &s.o->item[cheaper]);
    if (cheaper) assert_ptr_equal(of_cost(s.o, folded[k]), s.o->item);
    done(s);
  }
}

static void both_families_are_named_where_they_are_far_apart(void **state) {
  const cb_optimum_problem p = {.target = {.kind = CB_GAIT_MOVE, .value = .084}};
  for (uint64_t seed = 1; seed <= 5; seed++) {
    search s = found(p, "purcell", "", 24, seed);
    check_at_least(s.o->starts, 24); /* random starts, in addition to the starts from small ellipses */
    check_at_least(s.o->count, 2);
    /* These two costs were found from 120 starts, to the given digits. */
    check_relative(s.o->item[0].cost, .453819649330, 1e-10);
    check_relative(s.o->item[1].cost, .570682098779, 1e-10);
    check_at_least(s.o->item[0].found + s.o->item[1].found, 20);
    done(s);
  }
}

/* The gait has a corner at its start, where the rate r' of the shape jumps. */
static void an_element_has_a_corner_at_its_start(void **state) {
  const cb_optimum_problem p = {.target = {.kind = CB_GAIT_ELEMENT, .element = {.02, 0, .05}}};
  search s = found(p, "purcell", "", 24, 1);
  const cb_optimum *best = s.o->item;
  check_relative(best->cost, .061773382295, 1e-10);
  assert_int_equal(best->index, 0);
  check_near(best->r[0], .93855002, 1e-8);
  check_near(best->r[1], .85926757, 1e-8);
  cb_optimum_problem o = p;
  cb_extremal *e;
  o.bundle = s.b;
  check_ok(cb_extremal_solve(&o, best->gait, best->lambda, 0, &e));
  for (int i = 0; i < 2; i++) check_near(fabs(e->jump[i]), i ? .18928 : .27625, 5e-6);
  cb_extremal_free(e);
  done(s);
  const cb_optimum_problem turn = {.target = {.kind = CB_GAIT_TURN, .value = .1}};
  s = found(turn, "purcell", "", 12, 1);
  check_relative(of_cost(s.o, .034936705669)->cost, s.o->item[0].cost, 0);
  done(s);
}

/* Checks the most efficient gait of four links, and for ten links the family that starts from a travelling wave. */
static void more_links_have_their_gaits(void **state) {
  cb_optimum_problem p = {.target = {.kind = CB_GAIT_MOVE, .value = .05}};
  search s = found(p, "purcell", "links 4", 12, 1);
  check_relative(s.o->item[0].cost, .124188165080, 1e-10);
  check_relative(s.o->item[0].wong, s.o->item[0].cost, 1e-10);
  p.start = s.o->item[0].gait;
  p.objective = CB_OBJECTIVE_EFFICIENCY;
  search best = found(p, "purcell", "links 4", 0, 1);
  const cb_optimum *one = best.o->item;
  check_relative(one->amount * one->amount / one->cost, .030178181241, 1e-11);
  check_relative(hypot(one->lambda[0], one->lambda[1]), one->cost / one->amount, 1e-9);
  done(best);
  done(s);
  double mean[9] = {0}, cosine[9], sine[9];
  cb_gait *wave;
  for (int i = 0; i < 9; i++) {
    cosine[i] = .6 * cos(2 * M_PI * i / 9);
    sine[i] = .6 * sin(2 * M_PI * i / 9);
  }
  check_ok(cb_gait_fourier(9, 1, mean, cosine, sine, &wave));
  p.start = wave;
  p.objective = CB_OBJECTIVE_COST;
  s = found(p, "purcell", "links 10", 0, 1);
  check_relative(s.o->item[0].cost, .055857469620, 1e-10);
  check_relative(s.o->item[0].wong, .055857469620, 1e-10);
  assert_int_equal(s.o->item[0].index, 0);
  done(s);
  cb_gait_free(wave);
}

/* For four and six links no random start gives a cheaper gait than the best small ellipse; other results are listed
 * with the number of starts that converged to them. For ten links one random start gives a cheaper gait: it costs
 * .159594382006 instead of .162744723496. */
static void the_best_small_ellipse_is_the_cheapest_of_four_and_six_links(void **state) {
  static const char *const links[] = {"links 4", "links 6"};
  /* these costs are from the direct search and from Wong's equations */
  static const double cost[] = {.343870717775, .208903272465};
  for (int k = 0; k < 2; k++) {
    const cb_optimum_problem p = {.target = {.kind = CB_GAIT_MOVE, .value = .1}};
    search ellipses = found(p, "purcell", links[k], 0, 1), all = found(p, "purcell", links[k], 6, 1);
    check_relative(ellipses.o->item[0].cost, cost[k], 1e-10);
    assert_ptr_equal(of_cost(all.o, cost[k]), all.o->item);
    int starts = all.o->failed;
    for (int i = 0; i < all.o->count; i++) starts += all.o->item[i].found;
    assert_true(all.o->count >= 3 && starts <= all.o->starts);
    done(ellipses);
    done(all);
  }
}

/* --- other bundles --- */

static void the_swimmer_on_the_sphere_has_two(void **state) {
  const double start_shape[2] = {.65, .8};
  const cb_optimum_problem p = {.target = {.kind = CB_GAIT_MOVE, .value = .01}, .start_shape = start_shape};
  search s = found(p, "constant_curvature_swimmer", "", 24, 1);
  const cb_optimum *least = of_cost(s.o, .481427457629), *saddle = of_cost(s.o, .801496291785);
  assert_ptr_equal(least, s.o->item);
  assert_int_equal(least->index, 0);
  assert_int_equal(saddle->index, 1);
  check_near(least->conjugate[1], 1.14425388, 5e-9);
  check_near(saddle->conjugate[0], .87326069, 5e-9);
  done(s);
}

/* A target that gives all four numbers of a rotation's quaternion has the same optimal gait as a target that gives the
 * group element, although the four numbers are not independent. */
static void all_numbers_of_a_rotation_are_its_element(void **state) {
  const double start_shape[2] = {0};
  cb_optimum_problem p = {.target = {.kind = CB_GAIT_ELEMENT, .element = {cos(.1), sin(.1)}},
                          .start_shape = start_shape};
  search element = found(p, "rolling_ball", "", 12, 1);
  p.target.kind = CB_GAIT_PARTS;
  for (int k = 0; k < 4; k++) p.target.asked[k] = true;
  search parts = found(p, "rolling_ball", "", 12, 1);
  const cb_optimum *best = element.o->item, *same = of_cost(parts.o, best->cost);
  assert_int_equal(same->conjugates, best->conjugates);
  check_near(same->conjugate[1], best->conjugate[1], 1e-9);
  done(element);
  done(parts);
}

/* The expected costs are L^2, where L is the length of the shortest loop. heisenberg: L^2 = 4 pi |z| for the holonomy
 * z. The first conjugate time that is at least 1 is 2 pi/|lambda|, the time of a complete turn. hopf: L^2 = Omega (4 pi
 * - Omega), where the solid angle Omega is twice the phase. */
static void circles_are_the_best_by_closed_forms(void **state) {
  const double start_shape[2] = {.3, -.2};
  cb_optimum_problem p = {.target = {.kind = CB_GAIT_MOVE, .value = .1}, .start_shape = start_shape};
  search s = found(p, "heisenberg", "", 12, 1);
  check_relative(s.o->item[0].cost, .4 * M_PI, 1e-12);
  check_relative(s.o->item[0].wong, .4 * M_PI, 1e-12);
  check_relative(s.o->item[0].conjugate[1], 2 * M_PI / fabs(s.o->item[0].lambda[0]), 1e-9);
  done(s);
  p.start_shape = NULL;
  s = found(p, "heisenberg", "", 12, 1);
  check_relative(s.o->item[0].cost, .4 * M_PI, 1e-12);
  assert_int_equal(s.o->item[0].index, 0);
  /* flat: translations of the loop in both variables change neither its cost nor its area */
  assert_int_equal(s.o->item[0].flat, 2);
  done(s);
  p.target = (cb_gait_target){.kind = CB_GAIT_TURN, .value = .5};
  s = found(p, "hopf", "", 12, 1);
  check_relative(s.o->item[0].cost, 4 * M_PI - 1, 1e-12);
  check_relative(s.o->item[0].length, 3.4009367260152, 1e-12);
  done(s);
}

/* Two gaits rotate the ball by the same angle around the axis (rho, 0, 1): a circle of radius rho = 1/2 that begins at
 * x = 0, and an elastica. */
static void a_ball_is_rolled_by_a_circle(void **state) {
  const double half = M_PI * sqrt(1.25), s = -sin(half) / sqrt(1.25);
  const cb_optimum_problem p = {.target = {.kind = CB_GAIT_ELEMENT, .element = {cos(half), -s / 2, 0, -s}}};
  search all = found(p, "rolling_ball", "", 24, 1);
  check_relative(all.o->item[0].cost, M_PI * M_PI, 1e-12);
  assert_int_equal(all.o->item[0].index, 0);
  check_relative(of_cost(all.o, 37.1552732118)->wong, 37.155273, 1e-8);
  done(all);
}

/* In cat.yaml a bend of angle psi travels once around the cat and rotates it by 2 pi (1 - I cos psi/D), with D = I
 * cos^2 psi + J sin^2 psi, at the cost E = (2 pi)^2 2 I J sin^2 psi/D. The target is half a turn, whose logarithm is
 * not unique. I and J are the moments of inertia of a half of the cat along and across its axis. The eight masses at
 * .25 and 1.05 along and .3 across the axis have I = .72, J = 1.64. */
static void a_cat_turns_over_by_a_circle(void **state) {
  check_numbers_alone();
  const double I = .72, J = 1.64, c = (sqrt(I * I + (J - I) * J) - I) / (J - I), D = I * c * c + J * (1 - c * c);
  const char *sets[] = {"optimum.target.turn=pi", "optimum.starts=2"};
  cb_scenario *scenario;
  cb_optima *o;
  check_ok(cb_scenario_open_bundle(CB_TESTS_DIR "/../analysis/scenarios/locomotion/cat.yaml", sets, 2, &scenario));
  check_near(2 * M_PI * (1 - I * c / D), M_PI, 1e-14);
  check_ok(cb_optimum_find(cb_scenario_optimum(scenario), &o));
  check_relative(o->item[0].cost, 8 * M_PI * M_PI * I * J * (1 - c * c) / D, 1e-11);
  check_relative(o->item[0].wong, o->item[0].cost, 1e-11);
  assert_int_equal(o->item[0].index, 0);
  cb_optima_free(o);
  cb_scenario_free(scenario);
}

/* Tests the best known gait of Purcell's swimmer, in which links cross. Its displacement X, cost E and multiplier
 * lambda_X along X satisfy lambda_X X = E. The result does not depend on the given amount, bit for bit. */
static void the_most_efficient_gait_has_a_size_of_its_own(void **state) {
  const double sizes[] = {.05, 1, 40};
  double first[3] = {0};
  for (int k = 0; k < (CHECK_SANITIZED ? 1 : 3); k++) {
    const cb_optimum_problem p = {.target = {.kind = CB_GAIT_MOVE, .value = sizes[k]},
                                  .objective = CB_OBJECTIVE_EFFICIENCY};
    search s = found(p, "purcell", "", 24, 1);
    const cb_optimum *best = &s.o->item[0];
    check_relative(best->amount * best->amount / best->cost, .0181025604780, 1e-10);
    check_relative(best->wong, best->cost, 1e-10);
    check_relative(hypot(best->lambda[0], best->lambda[1]) * best->amount, best->cost, 1e-8);
    const double now[3] = {best->cost, best->amount, s.o->count};
    if (k == 0) memcpy(first, now, sizeof first);
    assert_memory_equal(now, first, sizeof now);
    done(s);
  }
}

/* The best gait from 400 random loops costs 4.34392422840. A search with only twelve random loops also finds it,
 * because its starts include waves, which are large loops (optimum/find.h). */
static void large_gaits_are_found_from_large_loops(void **state) {
  for (uint64_t seed = 1; seed <= (CHECK_SANITIZED ? 1 : 2); seed++) {
    const cb_optimum_problem p = {.target = {.kind = CB_GAIT_MOVE, .value = .28}};
    search s = found(p, "purcell", "", 12, seed);
    check_relative(s.o->item[0].cost, 4.34392422840, 1e-10);
    assert_int_equal(s.o->item[0].index, 0);
    done(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pmpy_has_its_extremals),
      cmocka_unit_test(purcell_moves_by_two_families),
      cmocka_unit_test(the_most_efficient_gait_has_a_size_of_its_own),
      cmocka_unit_test(large_gaits_are_found_from_large_loops),
      cmocka_unit_test(both_families_are_named_where_they_are_far_apart),
      cmocka_unit_test(an_element_has_a_corner_at_its_start),
      cmocka_unit_test(more_links_have_their_gaits),
      cmocka_unit_test(the_best_small_ellipse_is_the_cheapest_of_four_and_six_links),
      cmocka_unit_test(the_swimmer_on_the_sphere_has_two),
      cmocka_unit_test(all_numbers_of_a_rotation_are_its_element),
      cmocka_unit_test(circles_are_the_best_by_closed_forms),
      cmocka_unit_test(a_ball_is_rolled_by_a_circle),
      cmocka_unit_test(a_cat_turns_over_by_a_circle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
