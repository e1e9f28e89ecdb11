/* Optimal gaits against tables, closed forms and each other.
 *
 * Numbers of twelve digits came of shooting and of Fourier-Galerkin elsewhere; 1e-10 is what their last steps leave.
 * labels: medium
 */
#include "extremals.h"
#include "optimum/conjugate.h"

typedef struct search {
  cb_bundle *b;
  cb_optima *o;
} search;

static search found(cb_optimum_problem p, const char *name, const char *text, int starts, uint64_t seed) {
  search s = {.b = model(name, text)};
  p.bundle = s.b, p.starts = starts, p.seed = seed;
  check_ok(cb_optimum_find(&p, &s.o));
  return s;
}

static void done(search s) {
  cb_optima_free(s.o);
  cb_bundle_free(s.b);
}

/* Whose cost it is, by both methods; its index is the number of conjugate times (Morse), where they are told. */
static const cb_optimum *of_cost(const cb_optima *o, double cost) {
  for (int k = 0; k < o->count; k++) {
    const cb_optimum *one = &o->item[k];
    if (!(fabs(one->cost - cost) <= 1e-10 * cost)) continue;
    check_relative(one->wong, one->cost, 1e-10);
    if (one->conjugates >= 0) assert_int_equal(one->conjugates, one->index);
    return one;
  }
  print_error("no gait of cost %.12g\n", cost);
  fail();
  return NULL;
}

static const double small_ball[2] = {5, 4 * M_PI / 3};

/* Of X = .1 the least and two saddles; of X = .5 saddles alone: a search for the least runs to small distances. */
static void pmpy_has_its_extremals(void **state) {
  (void)state;
  cb_optimum_problem p = {.target = {.kind = CB_GAIT_MOVE, .value = .1}, .base = small_ball};
  for (uint64_t seed = 1; seed <= 5; seed++) {
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
    check_at_most(s.o->falling, 300);
    row = of_cost(s.o, 321.175261998779);
    assert_int_equal(row->index, 1);
    check_relative(row->lambda[0], 262.7533391, 1e-9);
    check_relative(row->rate[1], -22.45995592, 1e-8);
    done(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pmpy_has_its_extremals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
