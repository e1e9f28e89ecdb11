/* Solves the problem of a direct search for a gait by another method, with the same functions: Kraft's sequential least
 * squares (SLSQP) of NLopt, which uses first derivatives and approximates second derivatives by BFGS.
 *
 *   minimise E/2  subject to  c_k(g(1)) = 0;   gradients are those of optimum/variation.h and optimum/target.h
 *
 * E is the cost of the gait, g(1) its holonomy, and c_k are the conditions of the target.
 * Source: Kraft, ACM Trans. Math. Softw. 20 (1994) 262, doi:10.1145/192115.192124. Units are those of the bundle.
 */
#pragma once

#include "check.h"
#include "optimum/direct.h"

#ifdef CB_NLOPT
#include <nlopt.h>

typedef struct slsqp {
  cb_direct *d;    /* a search for CB_OBJECTIVE_COST without start shape or constraints; d->c: start and result */
  int evaluations; /* number of evaluations of cost, holonomy and their gradients */
  double off;      /* the maximum absolute value of a condition at the end */
  double c[CB_CONDITIONS_MAX], first[CB_CONDITIONS_MAX * CB_GROUP_DIM];
  nlopt_opt opt;
} slsqp;

/* Evaluates the cost and the conditions at x, unless the last evaluation was at x. NLopt requests both at the same
 * point, so the second request uses the result of the first one. */
static inline void slsqp_at(slsqp *s, const double *x) {
  cb_direct *d = s->d;
  if (s->evaluations && !memcmp(d->trial, x, (size_t)d->v->unknowns * sizeof *x)) return;
  memcpy(d->trial, x, (size_t)d->v->unknowns * sizeof *x);
  s->evaluations++;
  if (cb_variation_at(d->v, x, 1) || cb_gait_target_at(d->v->bundle->group, &d->target, d->v->g, s->c, s->first, NULL))
    nlopt_force_stop(s->opt);
}

static inline double slsqp_cost(unsigned count, const double *x, double *gradient, void *self) {
  slsqp *s = self;
  slsqp_at(s, x);
  for (unsigned a = 0; gradient && a < count; a++) gradient[a] = s->d->v->dcost[a] / 2;
  return s->d->v->cost / 2;
}

static inline void slsqp_conditions(unsigned rows, double *c, unsigned count, const double *x, double *gradient,
                                    void *self) {
  slsqp *s = self;
  const int dim = s->d->v->dim;
  slsqp_at(s, x);
  memcpy(c, s->c, rows * sizeof *c);
  for (unsigned k = 0; gradient && k < rows; k++)
    for (unsigned a = 0; a < count; a++) {
      gradient[k * count + a] = 0;
      for (int e = 0; e < dim; e++)
        gradient[k * count + a] += s->first[(int)k * dim + e] * s->d->v->dy[e * (int)count + (int)a];
    }
}

/* Starts from d->c, and writes the result to d->c and s->off. The search ends when the relative change of E is less
 * than `settle`, or after `most` evaluations. Returns false if the search did not converge, left the domain of the
 * bundle, or misses a condition by 100 settle or more. */
static inline bool slsqp_solve(slsqp *s, cb_direct *d, double settle, int most) {
  const int rows = cb_gait_target_count(d->v->bundle->group, &d->target);
  double off[CB_CONDITIONS_MAX], cost;
  for (int k = 0; k < rows; k++) off[k] = settle;
  *s = (slsqp){.d = d, .opt = nlopt_create(NLOPT_LD_SLSQP, (unsigned)d->v->unknowns)};
  assert_non_null(s->opt);
  nlopt_set_min_objective(s->opt, slsqp_cost, s);
  nlopt_add_equality_mconstraint(s->opt, (unsigned)rows, slsqp_conditions, s, off);
  nlopt_set_ftol_rel(s->opt, settle);
  nlopt_set_maxeval(s->opt, most);
  const nlopt_result result = nlopt_optimize(s->opt, d->c, &cost);
  slsqp_at(s, d->c);
  for (int k = 0; k < rows; k++) s->off = fmax(s->off, fabs(s->c[k]));
  nlopt_destroy(s->opt);
  return result > 0 && result != NLOPT_MAXEVAL_REACHED && s->off < 100 * settle;
}

#endif
