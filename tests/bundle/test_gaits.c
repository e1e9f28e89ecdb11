/* Tests of gaits r(t) of every class: rates compared with differences, exact closure, breaks, and gaits composed of
 * gaits. */
#include "bundle/gait_private.h"
#include "check.h"

#include <curvebody/gait_kind.h>

static cb_expression *expression(const char *text) {
  static const char *const names[] = {"t"};
  cb_expression *e = NULL;
  check_ok(cb_expression_parse(text, names, 1, NULL, &e));
  return e;
}

static const cb_bundle_class nothing = {.name = "nothing"};

/* One gait of two variables for each class. All start at the same shape `start`. */
enum { FOURIER, POLYGON, SPLINE, SAMPLES, ARCS, EXPRESSIONS, KINDS };

static const double start[2] = {.7, -.2};

static cb_gait *gait_of(int kind) {
  static const double mean[2] = {.1, .3}, cosine[4] = {.4, -.3, .2, -.2}, sine[4] = {.5, .6, -.1, .25};
  static const double r[8] = {.7, -.2, .9, .6, -.3, .8, -.5, -.6}, time[4] = {0, .2, .55, .7};
  cb_gait *g = NULL;
  if (kind == FOURIER) check_ok(cb_gait_fourier(2, 2, mean, cosine, sine, &g));
  if (kind == POLYGON) check_ok(cb_gait_polygon(2, 4, r, &g));
  if (kind == SPLINE) check_ok(cb_gait_spline(2, 4, NULL, r, &g));
  if (kind == SAMPLES) check_ok(cb_gait_spline(2, 4, time, r, &g));
  if (kind == ARCS) {
    static const double ends[3] = {0, .3, 1},
                        points[16] = {.7, -.2, .9, .1, .4, .5, -.2, .3, -.2, .3, -.6, .4, .1, -.8, .7, -.2};
    check_ok(cb_gait_arcs(2, 2, ends, 3, points, &g));
  }
  if (kind == EXPRESSIONS) {
    cb_expression *e[2] = {expression(".2 + .5*cos(2*pi*t)"), expression("-.2 + abs(sin(2*pi*t))")};
    check_ok(cb_gait_expressions(2, (const cb_expression *const *)e, 1, (const double[]){.5}, &g));
    cb_expression_free(e[0]);
    cb_expression_free(e[1]); /* the gait has copies of both */
  }
  return g;
}

/* Returns gait number `how` among those that are composed of the gait of this kind, or NULL after the last. */
static cb_gait *made_of(int kind, int how) {
  cb_gait *g = gait_of(kind), *other, *out = NULL;
  cb_expression *pace = expression("t + .1*sin(2*pi*t) + .02*(1 - cos(2*pi*t))");
  const double scale[2] = {.5, -2}, offset[2] = {.1, .2};
  switch (how) {
    case 0: check_ok(cb_gait_moved(g, NULL, NULL, &out)); break;
    case 1: check_ok(cb_gait_reversed(g, &out)); break;
    case 2: check_ok(cb_gait_shifted(g, .3, &out)); break;
    case 3: check_ok(cb_gait_shifted(g, -2.9, &out)); break;
    case 4: check_ok(cb_gait_paced(g, pace, &out)); break;
    case 5: check_ok(cb_gait_moved(g, scale, offset, &out)); break;
    case 6:
      other = gait_of((kind + 1) % KINDS);
      check_ok(cb_gait_sequence(3, (const cb_gait *const[]){g, other, g}, &out));
      cb_gait_free(other);
      break;
    case 7: /* a gait composed of composed gaits */
      check_ok(cb_gait_paced(g, pace, &other));
      cb_gait_free(g);
      check_ok(cb_gait_shifted(other, .6, &g));
      cb_gait_free(other);
      check_ok(cb_gait_reversed(g, &out));
      break;
    default: break;
  }
  cb_gait_free(g);
  cb_expression_free(pace);
  return out;
}

static void same(const cb_gait *a, double t, const cb_gait *b, double u, double tolerance) {
  double x[2], y[2];
  cb_gait_at(a, t, x, NULL);
  cb_gait_at(b, u, y, NULL);
  for (int i = 0; i < 2; i++) check_near(x[i], y[i], tolerance);
}

static double to_break(const cb_gait *g, double t) {
  const double *at;
  const int breaks = cb_gait_breaks(g, &at);
  double nearest = fmin(t, 1 - t);
  for (int k = 0; k < breaks; k++) nearest = fmin(nearest, fabs(t - at[k]));
  return nearest;
}

/* Rates agree with central differences of order 4 and step h = 1e-4. Between breaks their truncation error is at most
 * about 1e-10: a sequence of three gaits has fifth derivatives that are 3^5 times those of its gaits. Their round-off
 * is about 1e-12. */
static void rates_agree_with_differences_between_breaks(void **state) {
  uint64_t seed = check_seed();
  for (int kind = 0; kind < KINDS; kind++) {
    cb_gait *g;
    for (int how = 0; (g = made_of(kind, how)); how++) {
      int checked = 0;
      for (int trial = 0; trial < 60; trial++) {
        const double t = check_uniform(&seed, 0, 1), h = 1e-4;
        double r[4][2], rate[2];
        if (to_break(g, t) < 2 * h) continue;
        for (int k = 0; k < 4; k++) cb_gait_at(g, t + (k < 2 ? k - 2 : k - 1) * h, r[k], NULL);
        cb_gait_at(g, t, NULL, rate);
        for (int i = 0; i < 2; i++)
          check_near(rate[i], (8 * (r[2][i] - r[1][i]) - (r[3][i] - r[0][i])) / (12 * h), 1e-8);
        checked++;
      }
      check_at_least(checked, 40);
      cb_gait_free(g);
    }
  }
}

static void gaits_are_closed_and_periodic_to_the_last_bit(void **state) {
  for (int kind = 0; kind < KINDS; kind++) {
    cb_gait *g = gait_of(kind);
    double r[2];
    cb_gait_at(g, 0, r, NULL);
    for (int i = 0; i < 2; i++) check_near(r[i], start[i], 1e-15);
    cb_gait_free(g);
    for (int how = 0; (g = made_of(kind, how)); how++) {
      same(g, 0, g, 1, 0);
      same(g, 0, g, 17, 0);
      same(g, .25, g, -3.75, 0);
      cb_gait_free(g);
    }
  }
}

/* r is continuous across every break and across the start. */
static void gaits_are_continuous(void **state) {
  for (int kind = 0; kind < KINDS; kind++) {
    cb_gait *g;
    for (int how = 0; (g = made_of(kind, how)); how++) {
      const double *at, h = 1e-9;
      const int breaks = cb_gait_breaks(g, &at);
      same(g, 1 - h, g, h, 1e-6);
      for (int k = 0; k < breaks; k++) {
        check_at_least(at[k], k ? at[k - 1] + 1e-6 : 0);
        check_at_most(at[k], 1 - 1e-6);
        same(g, at[k] + h, g, at[k] + 1 - h, 1e-6);
      }
      cb_gait_free(g);
    }
  }
}

/* At breaks of splines a higher derivative jumps; at breaks of all other gaits the rate jumps. */
static void breaks_are_where_rates_jump(void **state) {
  static const int corners[KINDS] = {0, 4, 0, 0, 2, 2}, all[KINDS] = {0, 4, 4, 4, 2, 2};
  for (int kind = 0; kind < KINDS; kind++)
    for (int how = 0; how < 4; how++) { /* gaits unchanged, reversed or shifted in time */
      cb_gait *g = made_of(kind, how);
      const double *at, h = 1e-9;
      const int breaks = cb_gait_breaks(g, &at);
      int jumps = 0;
      for (int k = 0; k < breaks; k++) {
        double before[2], after[2];
        cb_gait_at(g, at[k] + 1 - h, NULL, before);
        cb_gait_at(g, at[k] + h, NULL, after);
        jumps += hypot(after[0] - before[0], after[1] - before[1]) > 1e-3;
      }
      assert_int_equal(jumps, corners[kind]);
      assert_int_equal(breaks, all[kind]);
      cb_gait_free(g);
    }
}

static void gaits_of_gaits_are_what_they_say(void **state) {
  uint64_t seed = check_seed();
  for (int kind = 0; kind < KINDS; kind++) {
    cb_gait *g = gait_of(kind), *other = gait_of((kind + 1) % KINDS), *made[7];
    for (int how = 1; how < 7; how++) made[how] = made_of(kind, how);
    for (int trial = 0; trial < 30; trial++) {
      const double t = check_uniform(&seed, 0, 1), turn = 2 * M_PI * t;
      double x[2], y[2];
      same(made[1], t, g, 1 - t, 1e-15);
      same(made[2], t, g, t + .3, 1e-13); /* tolerance: the round-off of t, multiplied by the slope of the gait */
      same(made[3], t, g, t + .1, 1e-13);
      same(made[4], t, g, t + .1 * sin(turn) + .02 * (1 - cos(turn)), 1e-13);
      cb_gait_at(g, t, x, NULL);
      cb_gait_at(made[5], t, y, NULL);
      check_near(y[0], .1 + .5 * x[0], 1e-15);
      check_near(y[1], .2 - 2 * x[1], 1e-15);
      same(made[6], t / 3, g, t, 1e-13);
      same(made[6], (1 + t) / 3, other, t, 1e-13);
      same(made[6], (2 + t) / 3, g, t, 1e-13);
    }
    cb_gait_free(g);
    cb_gait_free(other);
    for (int how = 1; how < 7; how++) cb_gait_free(made[how]);
  }
}

/* Returns (u - u^3)(a + b T(2u - 1)) with the Chebyshev polynomial T of degree 14. u is the time within an arc, from 0
 * to 1; the value is 0 at both ends. *rate is the derivative in u. */
static double arched(double a, double b, double u, double *rate) {
  const double x = 2 * u - 1, angle = acos(fmin(fmax(x, -1), 1)), T = cos(14 * angle);
  const double dT = fabs(x) < 1 ? 28 * sin(14 * angle) / sin(angle) : 0;
  *rate = (1 - 3 * u * u) * (a + b * T) + (u - u * u * u) * b * dT;
  return (u - u * u * u) * (a + b * T);
}

/* The polynomials have degree 17. The errors of values are accumulated round-off of numbers of size 1. The errors of
 * rates are larger: differentiation multiplies an error by up to 17^2, and the division by the shortest arc, .2,
 * multiplies it by 5. */
static void arcs_are_the_polynomials_through_their_points(void **state) {
  enum { DEGREE = 17, ARCS_OF = 3 };
  static const double ends[ARCS_OF + 1] = {0, .35, .8, 1}, a[ARCS_OF] = {1, -.5, .3}, b[ARCS_OF] = {.2, .7, -1};
  double points[ARCS_OF * (DEGREE + 1)], ignored;
  uint64_t seed = check_seed();
  cb_gait *g;
  for (int k = 0; k < ARCS_OF; k++)
    for (int j = 0; j <= DEGREE; j++)
      points[k * (DEGREE + 1) + j] = .5 + arched(a[k], b[k], (1 - cos(M_PI * j / DEGREE)) / 2, &ignored);
  check_ok(cb_gait_arcs(1, ARCS_OF, ends, DEGREE, points, &g));
  for (int trial = 0; trial < 300; trial++) {
    const int k = trial % ARCS_OF;
    const double share = ends[k + 1] - ends[k];
    /* One third of the times are within round-off of an interpolation point, where the formulas divide by nearly 0. */
    const double u = trial % 9 < 3 ? (1 - cos(M_PI * (1 + trial % 16) / DEGREE)) / 2 : check_uniform(&seed, 0, 1);
    double r, rate, expected_rate;
    cb_gait_at(g, ends[k] + u * share, &r, &rate);
    check_near(r, .5 + arched(a[k], b[k], u, &expected_rate), 2e-14);
    check_near(rate, expected_rate / share, 2e-12);
  }
  cb_gait_free(g);
}

/* Seventeen digits determine a double: the values that are read equal the written ones exactly. */
static void gaits_come_back_from_their_text(void **state) {
  enum { DEGREE = 5, POINTS = 2 * (DEGREE + 1), MEANS = 2, ROWS = 6 };
  const cb_bundle plain = {.class_ = &nothing, .n = 2, .shape = {"bend", "twist"}};
  uint64_t seed = check_seed();
  double x[2 * POINTS];
  const double ends[3] = {0, check_uniform(&seed, .2, .8), 1};
  for (int j = 0; j < 2 * POINTS; j++) x[j] = check_uniform(&seed, -1, 1);
  memcpy(x + 2 * DEGREE + 2, x + 2 * DEGREE, 2 * sizeof *x);
  memcpy(x + 2 * POINTS - 2, x, 2 * sizeof *x);
  for (int kind = 0; kind < 2; kind++) {
    cb_text text = {0};
    cb_tree *tree;
    cb_gait *made, *read;
    if (kind == 0) check_ok(cb_gait_arcs(2, 2, ends, DEGREE, x, &made));
    if (kind == 1) check_ok(cb_gait_fourier(2, ROWS / 2, x, x + MEANS, x + MEANS + ROWS, &made));
    check_ok(cb_gait_write(made, &text));
    check_ok(cb_tree_read("gait", text.data, &tree));
    check_ok(cb_gait_read(&plain, cb_tree_root(tree), NULL, NULL, &read));
    for (int trial = 0; trial < 100; trial++) {
      const double t = check_uniform(&seed, 0, 1);
      double r[2][2], rate[2][2];
      cb_gait_at(made, t, r[0], rate[0]);
      cb_gait_at(read, t, r[1], rate[1]);
      for (int i = 0; i < 2; i++) {
        check_near(r[0][i], r[1][i], 0);
        check_near(rate[0][i], rate[1][i], 0);
      }
    }
    cb_gait_free(made);
    cb_gait_free(read);
    cb_tree_free(tree);
    cb_text_free(&text);
  }
  cb_gait *polygon = gait_of(POLYGON);
  cb_text text = {0};
  assert_int_equal(cb_gait_write(polygon, &text), CB_ERROR_UNSUPPORTED);
  cb_gait_free(polygon);
}

static void a_loop_of_a_phase_goes_on_in_what_is_made_of_it(void **state) {
  const double r[2] = {.3, .1};
  cb_gait *loop, *late, *twice;
  double x[2], rate[2];
  check_ok(cb_gait_loop(2, 1, r, 1, &loop));
  cb_gait_at(loop, .25, x, rate);
  check_near(x[0], .3, 0);
  check_near(x[1], .35, 1e-16);
  check_near(rate[0], 0, 0);
  check_near(rate[1], 1, 0);
  cb_gait_at(loop, 1, x, NULL);
  check_near(x[1], 1.1, 0); /* the phase has grown by its period, 1, and is not back at .1 */
  check_ok(cb_gait_shifted(loop, .75, &late));
  cb_gait_at(late, .5, x, NULL);
  check_near(x[1], 1.35, 1e-15);
  check_ok(cb_gait_sequence(2, (const cb_gait *const[]){loop, loop}, &twice));
  cb_gait_at(twice, .75, x, rate);
  check_near(x[1], 1.6, 1e-15);
  check_near(rate[1], 2, 0);
  cb_gait_free(loop);
  cb_gait_free(late);
  cb_gait_free(twice);
}

static void open_gaits_are_told_from_closed_ones(void **state) {
  const cb_bundle plain = {.class_ = &nothing, .n = 2, .shape = {"bend", "phase"}};
  cb_bundle periodic = plain;
  periodic.period[1] = .5;
  cb_gait *g;
  for (int kind = 0; kind < KINDS; kind++)
    for (int how = 0; (g = made_of(kind, how)); how++) {
      check_ok(cb_gait_closed(&plain, g));
      cb_gait_free(g);
    }
  for (int how = 0; how < 3; how++) {
    cb_gait *loop;
    check_ok(cb_gait_loop(2, 1, start, 1.5, &loop));
    if (how == 0) check_ok(cb_gait_moved(loop, NULL, NULL, &g));
    if (how == 1) check_ok(cb_gait_shifted(loop, .3, &g));
    if (how == 2) check_ok(cb_gait_reversed(loop, &g));
    cb_gait_free(loop);
    check_ok(cb_gait_closed(&periodic, g));
    assert_int_equal(cb_gait_closed(&plain, g), CB_ERROR_ARGUMENT);
    assert_non_null(strstr(cb_error_text(), "the gait is open in bundle nothing: phase is "));
    cb_gait_free(g);
  }
  const cb_bundle three = {.class_ = &nothing, .n = 3};
  g = gait_of(FOURIER);
  assert_int_equal(cb_gait_closed(&three, g), CB_ERROR_ARGUMENT);
  cb_gait_free(g);
}

static void wrong_gaits_are_named(void **state) {
  const char *const names[] = {"t", "u"};
  cb_gait *g = NULL, *polygon = gait_of(POLYGON), *line = NULL;
  cb_expression *both = NULL, *pole = expression("1/(t - .5)"), *fast = expression("t^2 + .1"),
                *back = expression("t + .5*sin(2*pi*t)"), *t = expression("t");
  check_ok(cb_expression_parse("t + u", names, 2, NULL, &both));
  const double twice[2] = {.5, .5};
  assert_int_equal(cb_gait_expressions(1, (const cb_expression *const[]){both}, 0, NULL, &g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_expressions(1, (const cb_expression *const[]){pole}, 0, NULL, &g), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "at time 0.5"));
  assert_int_equal(cb_gait_expressions(1, (const cb_expression *const[]){t}, 2, twice, &g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_paced(polygon, fast, &g), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "a pace is 0.1 at time 0"));
  assert_int_equal(cb_gait_paced(polygon, back, &g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_paced(polygon, both, &g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_shifted(polygon, NAN, &g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_moved(polygon, (const double[]){1, INFINITY}, NULL, &g), CB_ERROR_ARGUMENT);
  const double ends[] = {0, .5, 1}, late[] = {0, .5, 2}, back_again[] = {0, 1.5, 1}, joined[] = {0, 1, 1, 0},
               parted[] = {0, 1, 2, 0};
  check_ok(cb_gait_arcs(1, 2, ends, 1, joined, &line));
  cb_gait_free(line);
  assert_int_equal(cb_gait_arcs(1, 2, ends, 1, parted, &g), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "arc 0 of a gait ends with 1 in variable 0, but the next begins with 2"));
  assert_int_equal(cb_gait_arcs(1, 2, late, 1, joined, &g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_arcs(1, 2, back_again, 1, joined, &g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_arcs(1, 0, ends, 1, joined, &g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_arcs(1, 2, ends, 0, joined, &g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_loop(2, 2, start, 1, &g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_loop(2, 1, start, 0, &g), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_sequence(0, NULL, &g), CB_ERROR_ARGUMENT);
  check_ok(cb_gait_loop(2, 1, (const double[]){.7, 0}, 1, &line));
  assert_int_equal(cb_gait_sequence(2, (const cb_gait *const[]){polygon, line}, &g), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "gait 1 of a sequence starts at 0 in variable 1"));
  cb_gait_free(line);
  check_ok(cb_gait_loop(3, 1, (const double[]){.7, 0, 0}, 1, &line));
  assert_int_equal(cb_gait_sequence(2, (const cb_gait *const[]){polygon, line}, &g), CB_ERROR_ARGUMENT);
  assert_null(g);
  cb_gait_free(line);
  cb_gait_free(polygon);
  cb_expression_free(both);
  cb_expression_free(pole);
  cb_expression_free(fast);
  cb_expression_free(back);
  cb_expression_free(t);
}

/* The gait r = x0 sin pi t + x1 t for t from 0 to 1, where x0 and x1 are its numbers. Its rate jumps at the start, and
 * it is closed if x1 = 0. */
static void at_bounce(const cb_gait *g, double t, double *r, double *rate) {
  const double *x = cb_gait_numbers(g);
  if (r) *r = x[0] * sin(M_PI * t) + x[1] * t;
  if (rate) *rate = x[0] * M_PI * cos(M_PI * t) + x[1];
}

static void a_kind_of_an_author_is_a_gait(void **unused) {
  const cb_gait_kind_class bounce = {.name = "bounce", .at = at_bounce};
  const cb_bundle line = {.class_ = &nothing, .n = 1};
  const double breaks[] = {.25, .5}, *t;
  double r, rate;
  cb_gait *g = NULL, *back = NULL;
  check_ok(cb_gait_create(&bounce, 1, 2, breaks, 2, (const double[]){3, 0}, &g));
  assert_int_equal(cb_gait_breaks(g, &t), 3);
  for (int k = 0; k < 3; k++) assert_true(t[k] == k * .25);
  check_ok(cb_gait_closed(&line, g));
  cb_gait_at(g, 1, &r, NULL);
  assert_true(r == 0); /* exactly 0, although sin(M_PI) is 1e-16 */
  check_ok(cb_gait_reversed(g, &back));
  cb_gait_at(back, .25, &r, &rate);
  check_near(r, 3 * sqrt(.5), 1e-15);
  check_near(rate, 3 * M_PI * sqrt(.5), 1e-14);
  cb_gait_free(g);
  cb_gait_free(back);
  check_ok(cb_gait_create(&bounce, 1, 0, NULL, 2, (const double[]){3, .5}, &g));
  assert_int_equal(cb_gait_closed(&line, g), CB_ERROR_ARGUMENT);
  cb_gait_free(g);
  assert_int_equal(cb_gait_create(&bounce, 1, 2, (const double[]){.5, .25}, 2, (const double[]){3, 0}, &g),
                   CB_ERROR_ARGUMENT);
  assert_int_equal(cb_gait_create(&bounce, 1, 0, NULL, 2, (const double[]){NAN, 0}, &g), CB_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rates_agree_with_differences_between_breaks),
      cmocka_unit_test(gaits_are_closed_and_periodic_to_the_last_bit),
      cmocka_unit_test(gaits_are_continuous),
      cmocka_unit_test(breaks_are_where_rates_jump),
      cmocka_unit_test(gaits_of_gaits_are_what_they_say),
      cmocka_unit_test(arcs_are_the_polynomials_through_their_points),
      cmocka_unit_test(gaits_come_back_from_their_text),
      cmocka_unit_test(a_loop_of_a_phase_goes_on_in_what_is_made_of_it),
      cmocka_unit_test(open_gaits_are_told_from_closed_ones),
      cmocka_unit_test(a_kind_of_an_author_is_a_gait),
      cmocka_unit_test(wrong_gaits_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
