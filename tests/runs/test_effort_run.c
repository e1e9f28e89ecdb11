/* Tests of runs of motions of least squared torques. The motion that `optimize` writes needs the torques and works that
 * the search reported, and the torques alone give the motion. */
#include "core/text.h"
#include "memory_sink.h"
#include "optimum/direct.h"
#include "scenario/bundle_scenario.h"

static const double *last(const memory_sink *m, const char *name) { return memory_field(m, m->n_rows - 1, name); }

/* Reads a scenario, finds its best motion, and returns the text of the scenario with this motion. */
static char *optimized(const char *text, cb_optimum *best, cb_optimum_problem *problem, cb_scenario **read) {
  cb_optima *all;
  cb_gait_check check;
  cb_text out = {0};
  check_ok(cb_scenario_open_text("test", text, NULL, 0, read));
  const cb_bundle_scenario *m = cb_bundle_scenario_of(*read);
  check_ok(cb_gait_optima_find(m, 0, NULL, &all, &check));
  check_at_most(check.cost, 1e-12);
  *best = all->item[0];
  *problem = m->optimum->problem;
  check_ok(cb_scenario_with_gait(*read, best->gait, &out));
  all->item[0].gait = NULL;
  cb_optima_free(all);
  return out.data;
}

/* A floating snake moves with momentum, a spring and a damper, from a start that is not the identity, to another shape.
 * The errors of the run are of order 2 in its step, 1/500 of the duration. */
static void the_run_needs_the_reported_torques_and_works(void **state) {
  memory_sink m;
  cb_optimum best;
  cb_optimum_problem p;
  cb_scenario *read;
  char *text = optimized(
      "curvebody: 1\nbundle: floating_snake\nstart: {group: [1, 2, 0.5]}\n"
      "shape: {momentum: [0.3, -0.2, 0.4], alpha1: {spring: {stiffness: 0.3}, damping: 0.05}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.004}\ntime: {end: 1}\n"
      "optimum: {objective: torque, duration: 2, target: {parts: {theta: 1.3}}, start_shape: [0, 0.5],\n"
      "  end_shape: [0.3, 0.2], starts: 0}\n",
      &best, &p, &read);
  cb_scenario *s = memory_go(&m, text);
  double largest[2] = {0}, squared = 0;
  for (size_t row = 1; row < m.n_rows; row++)
    for (int i = 0; i < 2; i++) {
      const double effort = memory_field(&m, row, "effort")[i];
      largest[i] = fmax(largest[i], fabs(effort));
      squared += .004 * effort * effort;
    }
  check_relative(squared, best.cost, 1e-4);
  for (int i = 0; i < 2; i++) {
    check_near(largest[i], best.largest[i], 2e-3); /* a mean over a step differs from the torque at its end */
    check_near(last(&m, "motor_work")[i], best.work[i], 2e-6);
    check_near(last(&m, "shape")[i], p.end_shape[i], 1e-12);
  }
  check_near(last(&m, "group")[2], .5 + 1.3, 1e-5);
  cb_gait_free(best.gait);
  memory_free(&m);
  cb_scenario_free(s);
  cb_scenario_free(read);
  free(text);
}

enum { DEGREE = 18 };

/* Appends the torque tau of variable i as a polynomial of x = 2 s - 1 in Horner's form, where s = t/T is time as a
 * fraction of the duration T. The polynomial is sum_k (2 k + 1) c_k P_k(x), with Legendre's polynomials P_k and
 * c_k = int_0^1 tau P_k ds. The integrals are computed from the torques at the nodes of the search. */
static void put_torque(const cb_direct *d, int i, double T, cb_text *out) {
  double P[DEGREE + 1][DEGREE + 1] = {{1}, {0, 1}}, sum[DEGREE + 1] = {0};
  char text[80];
  for (int k = 1; k < DEGREE; k++)
    for (int j = 0; j <= k + 1; j++) P[k + 1][j] = ((2 * k + 1) * (j ? P[k][j - 1] : 0) - k * P[k - 1][j]) / (k + 1);
  for (int k = 0; k <= DEGREE; k++) {
    double share = 0;
    for (int q = 0; q < d->basis->nodes; q++) {
      const double x = 2 * d->basis->time[q] - 1;
      double value = 0;
      for (int j = k; j >= 0; j--) value = value * x + P[k][j];
      share += d->basis->weight[q] * value * d->effort->torque[q * d->v->n + i];
    }
    for (int j = 0; j <= k; j++) sum[j] += (2 * k + 1) * share * P[k][j];
  }
  for (int j = 0; j < DEGREE; j++) cb_text_puts(out, "(");
  snprintf(text, sizeof text, "%.17g", sum[DEGREE]);
  cb_text_puts(out, text);
  for (int j = DEGREE - 1; j >= 0; j--) {
    snprintf(text, sizeof text, ")*(2*t/%.17g - 1) + (%.17g)", T, sum[j]);
    cb_text_puts(out, text);
  }
}

/* A hopping leg turns its body by -.25 rad and moves from rest at the start shape to rest at the end shape. A run in
 * which the torques are given as functions of time ends there, too. Its error is of order 2 in the step. */
static void the_torques_alone_give_the_motion(void **state) {
  const char *start = "curvebody: 1\nbundle: hopping_leg\n";
  cb_optimum best;
  cb_optimum_problem p;
  cb_scenario *read;
  free(
      optimized("curvebody: 1\nbundle: hopping_leg\nshape: {d: {damping: 0}}\n"
                "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\noptimum: {objective: torque, "
                "duration: 2, starts: 2,\n"
                "  target: {turn: -0.25}, start_shape: [0, 0.3], end_shape: [0.4, 0.3]}\n",
                &best, &p, &read));
  cb_direct *d;
  cb_gait **starts;
  int count;
  check_ok(cb_start_gaits(&p, &count, &starts));
  check_ok(cb_direct_create(&p, 16, &d));
  check_ok(cb_direct_from(d, starts[0])); /* the straight line from the start shape to the end shape */
  check_ok(cb_direct_solve(d, 60));
  check_relative(d->effort->cost, best.cost, 1e-9);
  double error[2];
  for (int k = 0; k < 2; k++) {
    memory_sink m;
    cb_text text = {0};
    char tail[160];
    cb_text_puts(&text, start);
    cb_text_puts(&text, "shape:\n  psi: {torque: \"");
    put_torque(d, 0, 2, &text);
    cb_text_puts(&text, "\"}\n  d: {start: 0.3, torque: \"");
    put_torque(d, 1, 2, &text);
    snprintf(tail, sizeof tail, "\"}\nintegrator: {name: hamilton_pontryagin, step: %g}\ntime: {end: 2}\n",
             k ? .01 : .02);
    cb_text_puts(&text, tail);
    cb_scenario *s = memory_go(&m, text.data);
    error[k] = fabs(last(&m, "shape")[0] - .4) + fabs(last(&m, "shape")[1] - .3) + fabs(last(&m, "group")[0] + .25);
    memory_free(&m);
    cb_scenario_free(s);
    cb_text_free(&text);
  }
  check_at_most(error[1], 1e-3);
  check_near(error[0] / error[1], 4, .1); /* the errors at the two steps have the ratio 4, because the order is 2 */
  for (int k = 0; k < count; k++) cb_gait_free(starts[k]);
  free(starts);
  cb_direct_free(d);
  cb_gait_free(best.gait);
  cb_scenario_free(read);
}

/* A scenario may have keys that are not possible for a motion that follows a gait, and any start and end time.
 * `optimize` still writes a valid scenario: its run begins at the time 0 and ends at the end shape. */
static void the_written_scenario_runs_from_any_other(void **state) {
  static const char *const more[] = {"shape: {alpha: {start: 0, rate: 0, friction: 0, damping: 0.1}, period: 3}\n",
                                     "shape: {alpha: {damping: 0.1}}\ntime: {start: 1, end: 5}\n"};
  for (int k = 0; k < 2; k++) {
    memory_sink m;
    cb_optimum best;
    cb_optimum_problem p;
    cb_scenario *read;
    char given[400];
    snprintf(given, sizeof given,
             "curvebody: 1\nbundle: falling_cat\n%soptimum: {objective: torque, duration: 2, start_shape: [0],\n"
             "  end_shape: [0.5], starts: 0}\nintegrator: {name: hamilton_pontryagin, step: 0.002}\n",
             more[k]);
    char *text = optimized(given, &best, &p, &read);
    cb_scenario *s = memory_go(&m, text);
    check_near(memory_field(&m, 0, "time")[0], 0, 0);
    check_near(last(&m, "time")[0], 2, 1e-12);
    check_near(memory_field(&m, 0, "shape")[0], 0, 1e-12);
    check_near(last(&m, "shape")[0], .5, 1e-12);
    cb_gait_free(best.gait);
    memory_free(&m);
    cb_scenario_free(s);
    cb_scenario_free(read);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_run_needs_the_reported_torques_and_works),
                                     cmocka_unit_test(the_written_scenario_runs_from_any_other),
                                     cmocka_unit_test(the_torques_alone_give_the_motion)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
