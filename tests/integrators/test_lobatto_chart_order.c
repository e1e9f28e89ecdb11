/* Tests that Lobatto IIIA-IIIB with s stages in static charts has order 2s - 2: in free motion, with rods, and damped.
 * The reference is another integrator in another representation. */
#include "chart_linkage.h"
#include "reference_constrained.h"
#include "reference_gsl.h"
#include "twin.h"

/* Opens in *e the same body as *c in the embedding, at the same state. If `stretched` is set, the length of the last
 * rod changes with time. */
static void open_embedded(const body_case *c, bool stretched, body_case *e) {
  open_twin(c, e);
  for (int r = 0; r < cb_system_constraints(c->system); r++) {
    double x[NUMBERS], v[NUMBERS];
    int i, j;
    in_embedding(c, x, v);
    assert_true(cb_system_constraint_is_rod(c->system, r, &i, &j));
    check_ok(add_rod(e, i, j, cb_distance(e->g, x + i * e->g->k, x + j * e->g->k), stretched && r == ROWS - 1));
  }
  finish_system(e);
}

/* Advances the state of the body e by the time t with GSL's Dormand-Prince 8(7), with or without constraints. */
static void reference(body_case *e, double t) {
  double v[NUMBERS];
  if (!cb_system_constraints(e->system)) {
    reference_advance(e->system, e->forces, 0, t, e->state->x, e->state->p);
    return;
  }
  velocities(e, v);
  constrained_advance(e->forces, (size_t)(N * e->g->k), 0, t, e->state->x, v);
  set_velocities(e, v);
}

static void check_order(const char *space, linkage f, uint64_t seed) {
  body_case c, e;
  double x[NUMBERS], v[NUMBERS], y[NUMBERS], w[NUMBERS];
  open_case(&c, space, f, "lobatto", &seed);
  open_embedded(&c, f.stretched, &e);
  const double end = 2;
  reference(&e, end);
  in_embedding(&e, x, v);
  cb_state *start = clone_state(&c);
  for (int s = 2; s <= 5; s++) {
    /* For higher orders the step sizes are closer together, because errors reach round-off after few halvings. */
    enum { LEVELS = 6 };
    static const int count[][LEVELS] = {{24, 48, 96, 192}, {24, 48, 96, 192}, {12, 18, 27, 40}, {4, 6, 9, 12, 16, 22}};
    double error[LEVELS] = {0}, fit = NAN; /* fit: order of convergence, from the last two errors above round-off */
    use_method(&c, method_of(s, "auto"));
    for (int level = 0; level < LEVELS && count[s - 2][level]; level++) {
      const int n = count[s - 2][level];
      cb_state_copy(c.state, start);
      cb_integrator_reset(c.integrator);
      advance(&c, end / n, n);
      in_embedding(&c, y, w);
      error[level] = fmax(check_distance_max(N * c.g->embedding, x, y), check_distance_max(N * c.g->embedding, v, w));
      if (level > 1 && error[level] < (s == 5 ? 3e-14 : 2e-13)) break;
      if (level > 0) fit = log(error[level - 1] / error[level]) / log((double)n / count[s - 2][level - 1]);
    }
    const bool right = fabs(fit - (2 * s - 2)) <= (s == 5 ? 1 : 0.5);
    if (!right || getenv("CB_TEST_VERBOSE"))
      print_error("%s, rods %d, damping %g, %d stages: order %.2f by fit (errors %g %g %g %g)\n", space, f.rods,
                  f.damping, s, fit, error[0], error[1], error[2], error[3]);
    assert_true(right);
  }
  cb_state_free(start);
  close_case(&c);
  close_case(&e);
}

static void order_by_fit_is_two_stages_less_two(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < CHART_SPACES; i++) {
    check_order(chart_spaces[i], (linkage){false, 0, 1, false, 0}, seed);
    check_order(chart_spaces[i], (linkage){true, 0, 1, false, 0}, seed);
  }
}

static void damped_motion_has_the_same_order(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < CHART_SPACES; i++) {
    check_order(chart_spaces[i], (linkage){false, 0.4, 1, false, 0}, seed);
    check_order(chart_spaces[i], (linkage){true, 0.4, 1, false, 0}, seed);
  }
}

static void rods_whose_length_goes_with_time_have_the_same_order(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < CHART_SPACES; i += 2) check_order(chart_spaces[i], (linkage){true, 0, 1, true, 0}, seed);
}

/* The integrators in the chart and in the embedding are different, but both converge to the same motion. If the step is
 * halved, their difference decreases by 2^(2s - 2), where s is the number of stages. */
static void the_difference_to_the_embedding_falls_with_the_order(void **unused) {
  uint64_t seed = check_seed();
  static const char *const some[] = {"e3 {chart: polar}", "s3 {chart: polar}", "h3 {chart: polar}"};
  for (int i = 0; i < 3; i++)
    for (int s = 2; s <= 4; s++) {
      double x[NUMBERS], v[NUMBERS], y[NUMBERS], w[NUMBERS], difference[2];
      for (int level = 0; level < 2; level++) {
        body_case c, e;
        uint64_t own = seed;
        const int n = (s == 4 ? 8 : 20) << level;
        open_case(&c, some[i], (linkage){true, 0, 1, false, 0}, method_of(s, "auto"), &own);
        open_embedded(&c, false, &e);
        use_method(&e, method_of(s, "auto"));
        advance(&c, 1.0 / n, n);
        advance(&e, 1.0 / n, n);
        in_embedding(&c, x, v);
        in_embedding(&e, y, w);
        const int count = N * c.g->embedding;
        difference[level] = fmax(check_distance_max(count, x, y), check_distance_max(count, v, w));
        close_case(&c);
        close_case(&e);
      }
      const double fit = log2(difference[0] / difference[1]);
      if (!(fabs(fit - (2 * s - 2)) <= 0.5) || getenv("CB_TEST_VERBOSE"))
        print_error("%s, %d stages: differences %g %g, order %.2f\n", some[i], s, difference[0], difference[1], fit);
      check_near(fit, 2 * s - 2, 0.5);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_by_fit_is_two_stages_less_two),
      cmocka_unit_test(damped_motion_has_the_same_order),
      cmocka_unit_test(rods_whose_length_goes_with_time_have_the_same_order),
      cmocka_unit_test(the_difference_to_the_embedding_falls_with_the_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
