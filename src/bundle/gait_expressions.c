/* Gaits given by expressions of t over [0, 1], one per shape variable; and loops, straight lines along one variable,
 * such as one period of a phase. A gait of expressions counts as closed if r(1) = r(0) to round-off; r(1) is then set
 * to r(0).
 */
#include "bundle/gait_private.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 64, STEPS = 12 };

static void at(const cb_gait *g, double t, double *r, double *rate) {
  for (int i = 0; i < g->n; i++)
    if (!rate)
      r[i] = cb_expression_value(g->text[i], &t);
    else {
      const double value = cb_expression_gradient(g->text[i], &t, 1, &rate[i]);
      if (r) r[i] = value;
    }
}

static const cb_gait_class kind = {"expressions", at, NULL};

/* Fails unless the gait is finite at all samples, and finds whether it is open. */
static cb_status look(cb_gait *g) {
  double r[CB_SHAPE_MAX], gap[CB_SHAPE_MAX];
  for (int k = 0; k <= SAMPLES; k++) {
    const double t = (double)k / SAMPLES;
    cb_gait_at(g, t, r, NULL);
    for (int i = 0; i < g->n; i++)
      if (!isfinite(r[i]))
        return cb_fail(CB_ERROR_ARGUMENT, "variable %d of a gait is %g at time %.9g: expected a finite number", i, r[i],
                       t);
  }
  cb_gait_gap(g, gap);
  cb_gait_at(g, 0, r, NULL);
  g->open = false;
  for (int i = 0; i < g->n; i++) g->open |= !(fabs(gap[i]) <= cb_gait_slack(r[i], r[i] + gap[i]));
  return CB_OK;
}

cb_status cb_gait_expressions(int n, const cb_expression *const *r, int breaks, const double *times, cb_gait **out) {
  cb_status status = cb_gait_check("expressions", n, 1, 1, NULL);
  if (status) return status;
  for (int i = 0; i < n; i++)
    for (size_t other = 1; other < CB_EXPRESSION_VARIABLES; other++)
      if (cb_expression_uses(r[i], other))
        return cb_fail(CB_ERROR_ARGUMENT,
                       "variable %d of a gait depends on more than the time: expected an expression of only `t`", i);
  for (int k = 0; k < breaks; k++)
    if (!(times[k] >= 0 && times[k] < 1 && (k == 0 || times[k] > times[k - 1])))
      return cb_fail(CB_ERROR_ARGUMENT, "break %d of a gait is %.9g: expected breaks that increase in [0, 1)", k,
                     times[k]);
  const int first = breaks == 0 || times[0] > 0; /* the derivatives may jump from the end to the start */
  cb_gait *g = NULL;
  const cb_gait_contents contents = {.texts = n, .text = r};
  status = cb_gait_compose(&kind, n, first + breaks, 0, &contents, &g);
  if (status) return status;
  for (int k = 0; k < breaks; k++) g->data[first + k] = times[k];
  g->pieces = 1 + STEPS / (first + breaks);
  g->open = true;
  status = look(g);
  if (status)
    cb_gait_free(g);
  else
    *out = g;
  return status;
}

/* r + t turn e_k, where variable k = count moves */
static void on_loop(const cb_gait *g, double t, double *r, double *rate) {
  const double *start = cb_gait_own_numbers(g), turn = start[g->n];
  for (int i = 0; i < g->n; i++) {
    const bool moves = i == g->count;
    if (r) r[i] = start[i] + (moves ? t * turn : 0);
    if (rate) rate[i] = moves ? turn : 0;
  }
}

static const cb_gait_class loop = {"loop", on_loop, NULL};

cb_status cb_gait_loop(int n, int variable, const double *r, double turn, cb_gait **out) {
  const cb_status status = cb_gait_check("starts", n, 1, 1, r);
  if (status) return status;
  if (variable < 0 || variable >= n)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "a loop in variable %d: expected an index below %d, the number of shape variables", variable, n);
  if (!(isfinite(turn) && turn != 0))
    return cb_fail(CB_ERROR_ARGUMENT, "a loop changes its variable by %g: expected a finite number other than 0", turn);
  cb_gait *g = cb_gait_block(&loop, n, variable, 0, (size_t)n + 1);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  memcpy(g->data, r, (size_t)n * sizeof *r);
  g->data[n] = turn;
  g->pieces = STEPS;
  g->open = true;
  *out = g;
  return CB_OK;
}
