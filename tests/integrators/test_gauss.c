/* Tests of Gauss collocation: published errors of the velocity form, accuracy of the balanced moving charts, failures
 * without the balance and in the velocity form, domains, and the extrapolation of stages. (test_integrators.c tests
 * order, symplecticity, reversibility, momenta and restart of every integrator.) */
#include "integrate.h"
#include "integrators/iteration.h"
#include "numerics/tableau.h"
#include "oracle_elastic.h"

/* --- the reduced equations of the elastic rod and triangle, all parameters 1, in extended precision --- */

typedef struct reduced {
  bool hyperbolic, triangle;
  /* The numbers l, l', H, H' with derivatives by time. Rod: l is half its length. Triangle: l is half the side between
   * particles 2 and 3, and H is the height of particle 1 above this side. */
  long double y[4];
} reduced;

static long double c_of(const reduced *r, long double x) { return r->hyperbolic ? coshl(x) : cosl(x); }
static long double s_of(const reduced *r, long double x) { return r->hyperbolic ? sinhl(x) : sinl(x); }
static long double arc_of(const reduced *r, long double x) { return r->hyperbolic ? acoshl(x) : acosl(x); }

static void rates(const reduced *r, const long double *y, long double *f) {
  const long double l = y[0], half = 0.5L, sigma = r->hyperbolic ? 1 : -1, start = c_of(r, half);
  f[0] = y[1];
  if (!r->triangle) {
    f[1] = sigma * powl(start, 4) * s_of(r, l) / powl(c_of(r, l), 3) - 2 * (l - half);
    f[2] = f[3] = 0;
    return;
  }
  const long double H = y[2], P = 1 + 2 * start * start, c = 1 + 2 * c_of(r, l) * c_of(r, l), u = (P - y[3]) / c;
  const long double s = arc_of(r, c_of(r, H) * c_of(r, l)), dc = 2 * sigma * s_of(r, 2 * l) * y[1];
  f[1] = sigma * s_of(r, l) * c_of(r, l) * u * u - (2 * l - 1) - (s - 1) * c_of(r, H) * s_of(r, l) / s_of(r, s);
  f[2] = y[3];
  f[3] = (-2 * (s - 1) * s_of(r, H) * c_of(r, l) / s_of(r, s) + (P - y[3]) * dc / (c * c)) / (1 - 1 / c);
}

static reduced reduced_start(bool hyperbolic, bool triangle) {
  reduced r = {hyperbolic, triangle, {0.5L, 0, 0, 0}};
  r.y[2] = arc_of(&r, c_of(&r, 1) / c_of(&r, 0.5L));
  return r;
}

/* Advances *r by `time` with the classical Runge-Kutta integrator and steps of about 5e-4. The errors on [0, 10] are
 * below 1e-13. */
static void reduced_advance(reduced *r, double time) {
  const int n = (int)ceil(time / 5e-4);
  const long double h = (long double)time / n;
  static const long double at[4] = {0, 0.5L, 0.5L, 1}, weight[4] = {1, 2, 2, 1};
  for (int i = 0; i < n; i++) {
    long double sum[4] = {0}, k[4] = {0}, z[4];
    for (int stage = 0; stage < 4; stage++) {
      for (int j = 0; j < 4; j++) z[j] = r->y[j] + h * at[stage] * k[j];
      rates(r, z, k);
      for (int j = 0; j < 4; j++) sum[j] += weight[stage] * k[j];
    }
    for (int j = 0; j < 4; j++) r->y[j] += h / 6 * sum[j];
  }
}

static double reduced_separation(const reduced *r) {
  return r->triangle ? (double)arc_of(r, c_of(r, r->y[2]) * c_of(r, r->y[0])) : 2 * (double)r->y[0];
}

/* Returns the maximum relative error of the distance of particles 1 and 2 at the steps on [0, 10]. */
static double worst_error(const char *space, bool triangle, const char *method, double h) {
  body_case c;
  open_thesis(&c, space, triangle);
  use_method(&c, method);
  reduced r = reduced_start(space[0] == 'h', triangle);
  double worst = 0;
  for (int i = 0; i < (int)lround(10 / h); i++) {
    check_ok(cb_integrator_step(c.integrator, c.state, h));
    reduced_advance(&r, h);
    const double error = fabs(separation(&c, 0, 1) / reduced_separation(&r) - 1);
    worst = error <= worst ? worst : error;
  }
  close_case(&c);
  return worst;
}

static void velocity_form_has_the_published_errors(void **unused) {
  static const struct {
    const char *space;
    bool triangle;
    double error[3]; /* the published errors with 1, 2 and 3 stages and h = 0.1, to three digits */
  } published[] = {
      {"h3 {chart: polar}", false, {2.54e-2, 1.72e-5, 4.58e-8}},
      {"s3 {chart: polar}", false, {1.64e-2, 8.47e-6, 1.96e-9}},
      {"h3 {chart: polar}", true, {1.27e-2, 2.06e-5, 2.27e-8}},
      {"s3 {chart: polar}", true, {7.85e-3, 4.37e-6, 1.16e-9}},
  };
  for (int i = 0; i < 4; i++)
    for (int s = 1; s <= 3; s++) {
      char method[64];
      snprintf(method, sizeof method, "gauss {stages: %d, form: velocity}", s);
      /* The published errors have three digits. The tolerance is half a unit of the third digit. */
      const double unit = pow(10, floor(log10(published[i].error[s - 1])) - 2);
      check_near(worst_error(published[i].space, published[i].triangle, method, 0.1), published[i].error[s - 1],
                 0.5001 * unit);
    }
}

/* --- accuracy --- */

static void balanced_gauss_of_three_stages_is_exact_to_1e13_and_1e11(void **unused) {
  static const char *const methods[] = {"gauss {stages: 3}", "gauss {stages: 3, symmetric: false}",
                                        "gauss {stages: 3, solver: newton}"};
  for (int hyperbolic = 0; hyperbolic < 2; hyperbolic++)
    for (int i = 0; i < 3; i++) {
      body_case c;
      open_thesis(&c, hyperbolic ? "h3" : "s3", false);
      use_method(&c, methods[i]);
      const double *first = hyperbolic ? oracle_rod_h3 : oracle_rod_s3,
                   *later = hyperbolic ? oracle_rod_h3_long : oracle_rod_s3_long;
      double worst_first = 0, worst_later = 0;
      /* The run with Newton's method is shorter, because it is slower and the fixed-point iteration suffices here. */
      const int end = i == 2 ? 10 : 1000;
      for (int t = 1; t <= end; t++) {
        for (int k = 0; k < 100; k++) {
          check_ok(cb_integrator_step(c.integrator, c.state, 0.01));
          recentre(&c);
        }
        if (t <= 10) worst_first = fmax(worst_first, fabs(separation(&c, 0, 1) / first[t] - 1));
        if (t % 100 == 0) worst_later = fmax(worst_later, fabs(separation(&c, 0, 1) / later[t / 100 - 1] - 1));
      }
      print_message("rod in %s, %s: %.1e on [0,10], %.1e on [0,%d]\n", hyperbolic ? "h3" : "s3", methods[i],
                    worst_first, worst_later, end);
      check_at_most(worst_first, 1e-13);
      check_at_most(worst_later, 1e-11);
      close_case(&c);
    }
}

/* --- why the balance and canonical variables are needed --- */

/* Creates a rod of unequal masses on the sphere that stays away from the poles of its polar chart. */
static void open_equatorial_rod(body_case *c, const char *space) {
  static const double polar[2] = {1.45, 1.65}, angle[2] = {0, 0.7}, mass[2] = {1, 2.7}, along[2] = {0.55, 0.6},
                      across[2] = {0.12, -0.05};
  open_space(c, space);
  for (int i = 0; i < 2; i++) {
    const double x[3] = {sin(polar[i]) * cos(angle[i]), sin(polar[i]) * sin(angle[i]), cos(polar[i])};
    const double v[3] = {across[i] * cos(polar[i]) * cos(angle[i]) - along[i] * sin(angle[i]),
                         across[i] * cos(polar[i]) * sin(angle[i]) + along[i] * cos(angle[i]),
                         -across[i] * sin(polar[i])};
    add_particle(c, mass[i], x, v);
  }
  check_ok(cb_builder_spring(c->builder, 0, 1, 1.3, 0.8, 0));
  finish_system(c);
}

/* Computes the maximum relative energy errors in the first and in the last tenth of a run of the equatorial rod. */
static void energy_errors(const char *space, const char *method, double h, int steps, double *first, double *last) {
  body_case c;
  open_equatorial_rod(&c, space);
  use_method(&c, method);
  const double e0 = energy(&c);
  *first = *last = 0;
  for (int i = 1; i <= steps; i++) {
    check_ok(cb_integrator_step(c.integrator, c.state, h));
    const double error = fabs(energy(&c) / e0 - 1);
    if (i <= steps / 10) *first = fmax(*first, error);
    if (i > steps - steps / 10) *last = fmax(*last, error);
  }
  close_case(&c);
}

static void canonical_form_keeps_energy_where_the_velocity_form_drifts(void **unused) {
  double first, last;
  energy_errors("s2 {chart: polar}", "gauss {stages: 1}", 0.1, 20000, &first, &last);
  print_message("canonical: %.1e to %.1e\n", first, last);
  check_at_most(last, 1.5 * first);
  energy_errors("s2 {chart: polar}", "gauss {stages: 1, form: velocity}", 0.1, 20000, &first, &last);
  print_message("velocity: %.1e to %.1e\n", first, last);
  check_at_least(last, 3 * first);
}

static void momenta_need_the_balance(void **unused) {
  uint64_t seed = check_seed();
  static const char *const kinds[] = {"symmetric: true, balance: true", "symmetric: false, balance: true",
                                      "symmetric: true, balance: false", "symmetric: false, balance: false"};
  static const char *const spaces[] = {"s3", "h3", "h2xe"};
  for (int s = 0; s < 3; s++)
    for (int k = 0; k < 4; k++) {
      body_case c;
      uint64_t own = seed;
      char method[96];
      snprintf(method, sizeof method, "gauss {stages: 1, %s}", kinds[k]);
      open_random(&c, spaces[s], 3, 0.8, 0.2, 1, 0, &own);
      use_method(&c, method);
      double before[CB_KILLING_MAX] = {0}, after[CB_KILLING_MAX] = {0};
      for (int a = 0; a < 3; a++)
        cb_killing_momentum_add(c.g, c.state->x + a * c.g->k, c.state->p + a * c.g->k, before);
      for (int i = 0; i < 100; i++) check_ok(cb_integrator_step(c.integrator, c.state, 0.1));
      for (int a = 0; a < 3; a++) cb_killing_momentum_add(c.g, c.state->x + a * c.g->k, c.state->p + a * c.g->k, after);
      const double drift = check_distance_max(c.g->n_killing, before, after);
      if (k < 2)
        check_at_most(drift, 2e-13); /* round-off of products of x and p over 100 steps */
      else
        check_at_least(drift, 1e-7);
      close_case(&c);
    }
}

/* --- limits --- */

static void a_step_beyond_the_chart_fails_and_names_the_particle(void **unused) {
  static const char *const spaces[] = {"s3", "h3"};
  for (int s = 0; s < 2; s++) {
    body_case c;
    uint64_t seed = 3;
    open_random(&c, spaces[s], 2, 0.6, 0.5, 1, 0, &seed);
    for (int e = 0; e < c.g->k; e++) c.state->p[c.g->k + e] *= 20;
    cb_state *start = clone_state(&c);
    use_method(&c, "gauss {stages: 2}");
    assert_int_equal(cb_integrator_step(c.integrator, c.state, 1), CB_STEP_DOMAIN);
    assert_int_equal(c.integrator->failed_particle, 1);
    assert_memory_equal(c.state->x, start->x, (size_t)(2 * c.g->k) * sizeof(double));
    assert_memory_equal(c.state->p, start->p, (size_t)(2 * c.g->k) * sizeof(double));
    check_near(c.state->t, 0, 0);
    check_ok(cb_integrator_step(c.integrator, c.state, 0.01));
    cb_state_free(start);
    close_case(&c);
  }
}

static void velocity_form_is_refused_in_an_embedding(void **unused) {
  body_case c;
  open_thesis(&c, "h3", false);
  cb_tree *tree = read_text("{form: velocity}");
  cb_integrator *made = NULL;
  assert_true(cb_integrator_create("gauss", cb_tree_root(tree), c.system, &made) < 0);
  assert_null(made);
  cb_tree_free(tree);
  close_case(&c);
}

/* A body at rest in equilibrium stays there. Its displacements are only round-off, which must not count as failure to
 * converge. */
static void a_body_in_balance_stays_at_rest(void **unused) {
  static const char *const spaces[] = {"s3", "h3", "e3", "s3 {chart: polar}"};
  for (int s = 0; s < 4; s++)
    for (int newton = 0; newton < 2; newton++) {
      body_case c;
      open_thesis(&c, spaces[s], true);
      memset(c.state->p, 0, (size_t)(c.state->n * c.state->k) * sizeof(double));
      cb_state *start = clone_state(&c);
      use_method(&c, newton ? "gauss {stages: 3, solver: newton}" : "gauss {stages: 3, solver: fixed-point}");
      for (int i = 0; i < 100; i++) check_ok(cb_integrator_step(c.integrator, c.state, 0.1));
      check_at_most(check_distance_max(c.state->n * c.state->k, start->x, c.state->x), 1e-13);
      cb_state_free(start);
      close_case(&c);
    }
}

/* The stages are vectors in the embedding space. If the origin moves, the integrator also moves the stages, so the next
 * step needs no additional iterations. */
static void history_goes_along_with_a_moving_origin(void **unused) {
  body_case c;
  uint64_t seed = 5;
  open_random(&c, "h3", 3, 0.8, 1, 1, 0, &seed);
  use_method(&c, "gauss {stages: 3}");
  int iterations[2] = {0}, steps[2] = {0};
  for (int i = 0; i < 3000; i++) {
    const double before = c.state->origin[0].length;
    recentre(&c);
    check_ok(cb_integrator_step(c.integrator, c.state, 0.01));
    const bool moved = c.state->origin[0].length != before;
    iterations[moved] += c.integrator->iterations;
    steps[moved]++;
  }
  check_at_least(steps[1], 5);
  check_at_most((double)iterations[1] / steps[1], 0.5 + (double)iterations[0] / steps[0]);
  close_case(&c);
}

/* --- extrapolation --- */

static double polynomial(int degree, double t) {
  double sum = 0;
  for (int k = degree; k >= 0; k--) sum = sum * t + 1.0 / (1 + k) - 0.3 * k;
  return sum;
}

static void predictor_continues_polynomials(void **unused) {
  for (int lobatto = 0; lobatto < 2; lobatto++)
    for (int s = 2; s <= 4; s++) {
      cb_tableau t;
      check_ok(lobatto ? cb_tableau_lobatto(s, &t) : cb_tableau_gauss(s, &t));
      cb_predictor *p;
      check_ok(cb_predictor_create(s, t.c, 2, 1, &p));
      double stage[CB_STAGES_MAX];
      assert_int_equal(cb_predictor_next(p, 0.1, stage), 0);
      const double h[3] = {0.5, 0.4, 0.6};
      double start = -0.2;
      for (int step = 0; step < 2; step++) {
        /* The stages of two steps determine a polynomial of degree 2 s - 1 if all their times differ. With Lobatto, the
         * last stage of a step (c = 1) and the first stage of the next step (c = 0) are at the same time, so the degree
         * is one less. */
        const int degree = step == 0 ? s - 1 : 2 * s - 1 - lobatto;
        for (int i = 0; i < s; i++) stage[i] = polynomial(degree, start + t.c[i] * h[step]);
        if (step == 1) { /* the stages of the previous step are replaced by values of the polynomial of this step */
          double earlier[CB_STAGES_MAX];
          cb_predictor_reset(p);
          for (int i = 0; i < s; i++) earlier[i] = polynomial(degree, start - h[0] + t.c[i] * h[0]);
          cb_predictor_push(p, h[0], earlier);
        }
        cb_predictor_push(p, h[step], stage);
        start += h[step];
        for (int back = 0; back < 2; back++) {
          const double next = back ? -h[2] / 2 : h[step + 1];
          assert_int_equal(cb_predictor_next(p, next, stage), step + 1);
          for (int i = 0; i < s; i++) check_near(stage[i], polynomial(degree, start + t.c[i] * next), 1e-10);
        }
      }
      cb_predictor_free(p);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(velocity_form_has_the_published_errors),
      cmocka_unit_test(balanced_gauss_of_three_stages_is_exact_to_1e13_and_1e11),
      cmocka_unit_test(canonical_form_keeps_energy_where_the_velocity_form_drifts),
      cmocka_unit_test(momenta_need_the_balance),
      cmocka_unit_test(a_step_beyond_the_chart_fails_and_names_the_particle),
      cmocka_unit_test(velocity_form_is_refused_in_an_embedding),
      cmocka_unit_test(a_body_in_balance_stays_at_rest),
      cmocka_unit_test(history_goes_along_with_a_moving_origin),
      cmocka_unit_test(predictor_continues_polynomials),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
