/* Tests of reductions of rows and of events: closed forms, errors in texts with their positions, and states that are
 * saved and loaded. */
#include "count_allocations.h"
#include "reduce_rows.h"

enum { ROWS = 1001 };

/* Reduces `number`, which contains the energies of n rows at the times 0, 1, ... */
static double of_numbers(const char *text, int n, const double *number) { return reduce_all(text, n, number, NULL, 0); }

/* --- values --- */

static void reductions_are_closed_forms(void **unused) {
  /* The times are 0, 0.01, .. 10 in 1001 rows. The mean of their squares is 10^2 (2 + 1/1000)/6. */
  const double square = 100 * 2.001 / 6;
  const struct {
    const char *text;
    double value;
  } cases[] = {
      {"first(energy)", 17},
      {"last(energy)", 37},
      {"energy", 37},
      {"min(energy)", 1},
      {"max(energy)", 37},
      {"argmin(energy)", 4},
      {"argmax(energy)", 10},
      {"argmin(-energy)", 10},
      {"mean(time)", 5},
      {"rms(time)", sqrt(square)},
      {"rms(time)^2/mean(time)", square / 5},
      {"mean(energy)", 17 - 8 * 5 + square},
      {"mean(regime[0])", (300 * (0 + 1 + 2) + 101 * 3) / 1001.},
      {"count(energy < 2)", 199},
      {"count(time >= 5)", 501},
      {"count(1 + 0*time)", 1001},
      {"crossing(gap)", 2.345},
      {"crossing(gap[0] - 1)", 3.345},
      {"crossing(energy - 5)", 2},
      {"crossing(energy - 5, 2)", 6},
      {" crossing (energy - 5 , 2 )", 6},
      {"last(step)", 1000},
      {"max(regime[2])", 5},
      {"last(time) - first(time)", 10},
      {"last(x[0,2]) - first(x[0,2])", 3 * cos(10) - 3},
      {"x[ 1 , 2 ]", 3 * cos(11) + 0.1},
      {"x[bob,y]", 2 * cos(10)},
      {"first(x[end, x]*x[tip , 0])", (cos(2) + 0.2) * (cos(1) + 0.1)},
      {"min(max(time), 3) + max(first(time), time)", 13},
      {"mean(max(time, 5))", (501 * 5 + 500 * 7.505) / 1001},
      {"sqrt(last(energy) - 1) + 2*pi - tau + 1e0", 7},
      {"-max(time)^2", -100},
      {"count(event_kind == 0)", 0},
      {"pi*last(e + 0*time)", M_PI * M_E},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double value = reduce(cases[i].text, ROWS, NULL, 0);
    if (!(fabs(value - cases[i].value) <= 1e-12)) print_error("%s\n", cases[i].text);
    check_near(value, cases[i].value, 1e-12); /* round-off of numbers up to 100 */
  }
}

static void a_record_without_rows(void **unused) {
  static const char *const none[] = {"first(time)",  "last(time)",    "min(time)",     "max(time)",
                                     "mean(time)",   "rms(time)",     "time",          "argmin(time)",
                                     "argmax(time)", "crossing(gap)", "max(event_gap)"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_true(isnan(reduce(none[i], 0, NULL, 0)));
  assert_true(reduce("count(time)", 0, NULL, 0) == 0);
  assert_true(reduce("count(event_particle)", 5, NULL, 0) == 0);
}

static void events_are_reduced_by_themselves(void **unused) {
  const cb_event_row event[] = {{0.5, 0, 1, 2, -1, 1e-3, -1, 1, 4, NULL},
                                {1.5, 1, 0, 2, -1, 2e-3, -2, 0, 3, NULL},
                                {2.5, 0, 0, 1, -1, -1e-3, -3, 2, 2, NULL},
                                {3.5, 2, 7, -1, 3, 4e-3, -4, 0, 1, NULL}};
  const struct {
    const char *text;
    double value;
  } cases[] = {
      {"count(event_kind == 0)", 2},
      {"count(event_particle == 0)", 2},
      {"max(event_particle) + min(event_other)", 6},
      {"max(event_wall)", 3},
      {"argmin(event_gap)", 2.5},
      {"crossing(event_gap)", 2.5 - 1. / 3},
      {"crossing(event_gap, 2)", 2.7},
      {"last(event_time)", 3.5},
      {"mean(event_speed_after - event_speed_before)", 13. / 4},
      {"rms(event_impulse)", sqrt(30. / 4)},
      {"count(event_kind == 0)/max(time)", 0.2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_near(reduce(cases[i].text, ROWS, event, 4), cases[i].value, 1e-14); /* round-off of a few operations */
}

static void missing_values_go_through(void **unused) {
  const double row[] = {1, NAN, -1, 2};
  static const char *const through[] = {"min(energy)",    "max(energy)",    "mean(energy)",   "rms(energy)",
                                        "argmin(energy)", "argmax(energy)", "min(energy) + 1"};
  for (size_t i = 0; i < sizeof through / sizeof *through; i++) assert_true(isnan(of_numbers(through[i], 4, row)));
  assert_true(of_numbers("first(energy)", 4, row) == 1 && of_numbers("last(energy)", 4, row) == 2);
  assert_true(isnan(of_numbers("last(energy)", 2, row)));
  assert_true(of_numbers("count(energy)", 4, row) == 3);
  check_near(of_numbers("crossing(energy)", 4, row), 2 + 1. / 3, 1e-15); /* from -1 to 2; nan is no crossing */
  assert_true(isnan(of_numbers("crossing(energy, 2)", 4, row)));
}

static void zeros_are_counted_once(void **unused) {
  const double row[] = {0, 1, 0, 0, -1, 0, -1, 1};
  const double zero[] = {2, 5, 6.5};
  for (int n = 0; n < 3; n++) {
    char text[40];
    snprintf(text, sizeof text, "crossing(energy, %d)", n + 1);
    assert_true(of_numbers(text, 8, row) == zero[n]);
  }
  assert_true(isnan(of_numbers("crossing(energy, 4)", 8, row)));
}

/* A plain sum would give the mean 0 in the first case. A compensated sum without a special case would give nan in the
 * others. */
static void sums_keep_what_is_small(void **unused) {
  const double large[] = {1, 1e100, 1, -1e100}, infinite[] = {1, INFINITY, 1};
  assert_true(of_numbers("mean(energy)", 4, large) == 0.5);
  assert_true(of_numbers("mean(energy)", 3, infinite) == INFINITY);
  assert_true(of_numbers("rms(energy)", 3, infinite) == INFINITY);
  assert_true(of_numbers("max(energy)", 3, infinite) == INFINITY);
}

static void rows_without_time_are_numbered(void **unused) {
  const cb_record_layout one = {.fields = fields + 3, .n_fields = 1};
  cb_reduction *r = NULL;
  double state[MOST_DOUBLES];
  check_ok(parse("argmax(energy) + 10*crossing(energy - 2)", &one, &r));
  cb_reduction_start(r, state);
  for (int k = 0; k < 4; k++) cb_reduction_row(r, (const void *[]){&(double[]){1, 3, 5, 4}[k]}, state);
  assert_true(cb_reduction_value(r, state) == 2 + 10 * 0.5);
  cb_reduction_free(r);
}

/* --- wrong texts --- */

static void wrong_texts_have_their_place(void **unused) {
  /* at: the index of the character, from 0 */
  static const struct {
    const char *text;
    int at;
    const char *says;
  } cases[] = {
      {"max(enrgy)", 4, "unknown field 'enrgy', did you mean 'energy'?"},
      {"count(event_knd == 0)", 6, "unknown field 'event_knd', did you mean 'event_kind'?"},
      {"1 + max(nothing_of_it)", 8,
       "unknown field 'nothing_of_it', expected one of: time, step, x, energy, regime, gap, hits"},
      {"rms(separation[0] - 1)", 4, "the field 'separation' is not recorded: add `separation` to record.observables"},
      {"max(constraint_residual[0])", 4,
       "the field 'constraint_residual' is not recorded: add `constraints` to record.observables"},
      {"falling_angle", 0, "the field 'falling_angle' is not recorded: add `falling_regime` to record.observables"},
      {"crosing(energy)", 0, "unknown reduction or function 'crosing', did you mean 'crossing'?"},
      {"2*sqtr(max(energy))", 2, "unknown reduction or function 'sqtr', did you mean 'sqrt'?"},
      {"max(sqtr(energy))", 4, "unknown function 'sqtr', did you mean 'sqrt'?"},
      {"max(frobnicate(energy))", 4, "unknown function 'frobnicate'"},
      {"last(x[0]) + 1", 8, "expected `,`: /x has 2 indices"},
      {"last(x[0,1,2])", 10, "expected `]`: /x has 2 indices"},
      {"last(x[0,1)", 10, "expected `]`: /x has 2 indices"},
      {"last(x[0,1", 10, "expected `)`"},
      {"last(x)", 5, "expected an element of /x: its shape is [particle of 3, axis of 3]"},
      {"last(x[3,0])", 7, "expected 0 to 2 for the dimension `particle`, found 3"},
      {"last(x[0, -1])", 10, "expected 0 to 2 for the dimension `axis`, found -1"},
      {"last(x[99999999999999999999,0])", 7, "expected 0 to 2 for the dimension `particle`, found "},
      {"last(x[bib,0])", 7,
       "expected an index from 0 to 2, or a label, of the dimension `particle`, found 'bib': did you mean 'bob'?"},
      {"last(x[0,])", 9, "expected an index from 0 to 2, or a label, of the dimension `axis`, found ''"},
      {"last(gap[first])", 9, "expected an index from 0 to 0 of the dimension `one`, found 'first'"},
      {"energy[0]", 6, "/energy is one number per row: expected no indices"},
      {"max(event_gap[0])", 13, "`event_gap` is one number per event: expected no indices"},
      {"last(hits[0])", 5, "/hits is empty, its shape is [wall of 0]: expected a field with elements"},
      {"last(x(0,1))", 6, "`x` is a field: expected square brackets for its elements, x[...]"},
      {"max(2*min(energy))", 6, "a reduction cannot be inside another one: expected an expression of fields"},
      {"max(min(energy, 1) + last(time))", 21, "a reduction cannot be inside another one"},
      {"max(energy + event_gap)", 13, "expected either fields of events or fields of rows in one reduction, not both"},
      {"max(event_gap*time)", 14, "expected either fields of events or fields of rows in one reduction, not both"},
      {"max(time) + event_gap", 12, "expected a field of events inside a reduction, such as count(event_kind == 0)"},
      {"count(energy, 2)", 12, "expected one argument of count"},
      {"crossing(energy, 0)", 17, "expected n, which zero is meant, as an integer >= 1"},
      {"crossing(energy, 1.5)", 17, "expected n, which zero is meant, as an integer >= 1"},
      {"crossing(energy,)", 16, "expected n, which zero is meant, as an integer >= 1"},
      {"crossing(energy, 1, 2)", 17, "expected n, which zero is meant, as an integer >= 1"},
      {"max()", 4, "expected a field of the record inside the reduction"},
      {"first(time) + max(2)", 18, "expected a field of the record inside the reduction"},
      {"max(energy", 10, "expected `)`"},
      {"max(energy))", 11, "unexpected `)`"},
      {"max + 1", 0, "'max' is a reduction: expected `(` after it"},
      {"last(sin)", 5, "'sin' is a function: expected `(` after it"},
      {"1 + 2", 0, "expected a reduction, such as max(energy)"},
      {"max(energy) min(energy)", 12, "expected an operator before `min`"},
      {"max(energy time)", 11, "expected an operator before `time`"},
      {"max(energy +)", 12, "the expression ends too early: expected a number, a name or `(`"},
      {"first(x[0,2])*(energy", 21, "the expression ends too early: expected `)` for `(` at character 15"},
      {"((energy", 8, "the expression ends too early: expected `)` for `(` at character 2"},
      {"max((x[0,0] + 1) + hypot(time, (energy)", 39, "expected `)`"},
      {"atan2(max(energy))", 0, "`atan2`: expected 2 arguments, found 1"},
      {"max(energy)*3abc", 13, "unknown field 'abc'"},
      {"max(1e + energy)", 4, "number `1e` is followed by letters"},
      {"last(time) ** 2", 12, "unexpected `*`: write a power with `^`"},
      {"last(time) = 2", 11, "unexpected `=`: write equality as `==`"},
      {"max(energy $ 2)", 11, "unexpected `$`"},
      {"last(energy)[0]", 12, "unexpected `[`"},
      {"pi(2) + energy", 2, "`pi` is not a function"},
      {"max(energy) < min(energy) < 2", 26, "comparisons cannot be chained"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[300];
    snprintf(text, sizeof text, "a.yaml:1:%d: error: %s", cases[i].at + 5, cases[i].says);
    cb_reduction *r = NULL;
    const cb_status status = parse(cases[i].text, &layout, &r);
    check_case_begins(cases[i].text, status, CB_ERROR_INPUT, text);
    assert_null(r);
  }
}

/* Writes the sum of `times` copies of `term` or, if `term` is NULL, of the first `times` elements of x. */
static void repeated(char *text, size_t size, const char *term, int times) {
  size_t n = 0;
  for (int k = 0; k < times; k++) {
    n += (size_t)snprintf(text + n, size - n, "%s", k ? " + " : "");
    n += (size_t)(term ? snprintf(text + n, size - n, "%s", term)
                       : snprintf(text + n, size - n, "x[%d,%d]", k / AXES, k % AXES));
  }
}

static void too_long_a_text(void **unused) {
  static char text[6000];
  cb_reduction *r = NULL;
  repeated(text, sizeof text, "max(time)", 32);
  cb_reduction_free(read_good(text));
  repeated(text, sizeof text, "max(time)", 33);
  check_error_begins(parse(text, &layout, &r), CB_ERROR_INPUT, "a.yaml:1:392: error: the expression is too long");
  repeated(text, sizeof text, "time", 33);
  check_error_begins(parse(text, &layout, &r), CB_ERROR_INPUT, "a.yaml:1:229: error: the expression is too long");
  repeated(text, sizeof text, "max(2 + time)", 300);
  check_error_begins(parse(text, &layout, &r), CB_ERROR_INPUT, "a.yaml:1:");

  /* One reduction of 33 elements of a field is too long; one element may occur any number of times. */
  const cb_dimension wide[] = {{.name = "particle", .count = 33}, {.name = "axis", .count = AXES}};
  const cb_record_layout many = {.dimensions = wide, .n_dimensions = 2, .fields = fields, .n_fields = 3};
  strcpy(text, "max(");
  repeated(text + 4, sizeof text - 5, NULL, 32);
  strcat(text, ")");
  check_ok(parse(text, &many, &r));
  cb_reduction_free(r);
  r = NULL;
  text[strlen(text) - 1] = 0;
  strcat(text, " + x[32,0])");
  check_error_begins(parse(text, &many, &r), CB_ERROR_INPUT, "a.yaml:1:");
  assert_non_null(strstr(cb_error_text(), "32 fields"));
  strcpy(text, "max(");
  repeated(text + 4, sizeof text - 5, "x[0,0]", 200);
  strcat(text, ")");
  assert_true(fabs(reduce(text, 1, NULL, 0) - 200) < 1e-9); /* the sum of 200 times cos(0) */
}

/* --- states --- */

static const char *const all[] = {"first(energy)",     "last(x[0,1]*energy)", "min(x[1,1])",
                                  "max(x[1,1] + gap)", "mean(x[2,2])",        "rms(x[2,2]) - mean(energy)",
                                  "argmin(x[1,0])",    "argmax(x[1,0])",      "count(x[0,0] > 0)",
                                  "crossing(x[0,0])",  "crossing(x[0,0], 3)", "energy/max(time)"};

static void a_state_that_is_kept_goes_on(void **unused) {
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    cb_reduction *r = read_good(all[i]);
    double whole[MOST_DOUBLES], kept[MOST_DOUBLES];
    const size_t bytes = cb_reduction_doubles(r) * sizeof *kept;
    cb_reduction_start(r, whole);
    row now;
    for (int k = 0; k < 500; k++) {
      fill(&now, k);
      cb_reduction_row(r, now.data, whole);
    }
    memcpy(kept, whole, bytes);
    for (int k = 500; k < ROWS; k++) {
      fill(&now, k);
      cb_reduction_row(r, now.data, whole);
    }
    const double expected = cb_reduction_value(r, whole);
    cb_reduction_free(r);
    r = read_good(all[i]);
    for (int k = 500; k < ROWS; k++) {
      fill(&now, k);
      cb_reduction_row(r, now.data, kept);
    }
    const double value = cb_reduction_value(r, kept);
    assert_memory_equal(kept, whole, bytes);
    assert_memory_equal(&value, &expected, sizeof value);
    assert_true(isfinite(value));
    cb_reduction_free(r);
  }
}

static void rows_allocate_nothing(void **unused) {
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    cb_reduction *r = read_good(all[i]);
    double state[MOST_DOUBLES];
    row now;
    fill(&now, 3);
    count_from_here();
    cb_reduction_start(r, state);
    cb_reduction_row(r, now.data, state);
    (void)cb_reduction_value(r, state);
    assert_int_equal(count_so_far(), 0);
    cb_reduction_free(r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_counter_counts),           cmocka_unit_test(reductions_are_closed_forms),
      cmocka_unit_test(a_record_without_rows),        cmocka_unit_test(events_are_reduced_by_themselves),
      cmocka_unit_test(missing_values_go_through),    cmocka_unit_test(zeros_are_counted_once),
      cmocka_unit_test(sums_keep_what_is_small),      cmocka_unit_test(rows_without_time_are_numbered),
      cmocka_unit_test(wrong_texts_have_their_place), cmocka_unit_test(too_long_a_text),
      cmocka_unit_test(a_state_that_is_kept_goes_on), cmocka_unit_test(rows_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
