/* A gait that keeps to its bounds, on arcs that end where they are met and left: held variables are constant there.
 *
 * The arcs are those of the extremal (extremal.h). The second variation over gaits that keep what is held says whether
 * it is a minimum, since contact forces press on all of it.
 */
#include "optimum/direct.h"
#include "optimum/extremal.h"

#include <math.h>
#include <stdlib.h>

/* What of a width a gait may be beyond its walls. */
static const double off_small = 1e-9;

/* Variable i is at its bound from vertex `arc` to the next. */
static void hold(cb_direct *d, int arc, int i) {
  const cb_basis *s = d->basis;
  const cb_optimum_problem *o = d->problem;
  const int next = (arc + 1) % s->arcs;
  double *c = d->c + i * s->functions, lower = o->lower ? o->lower[i] : -INFINITY,
         upper = o->upper ? o->upper[i] : INFINITY;
  const double middle = (c[arc] + c[next]) / 2, bound = fabs(middle - lower) < fabs(upper - middle) ? lower : upper;
  bool *frozen = d->frozen + i * s->functions;
  c[arc] = c[next] = bound, frozen[arc] = frozen[next] = true;
  for (int k = 0; k < s->degree - 1; k++) {
    const int at = s->arcs + arc * (s->degree - 1) + k;
    c[at] = 0, frozen[at] = true;
  }
}

static cb_status follow(const cb_direct *d, const cb_extremal *e, int degree, cb_direct **out) {
  cb_gait *gait = NULL;
  cb_basis *basis = NULL;
  cb_direct *fine = NULL;
  cb_status status = cb_extremal_gait(e, &gait);
  if (!status) status = cb_basis_arcs(e->arcs, e->end, degree, 0, &basis);
  if (!status) status = cb_direct_create_on(d->problem, basis, &fine);
  if (!status) status = cb_direct_from(fine, gait);
  cb_gait_free(gait);
  if (!status && !(fine->frozen = calloc((size_t)fine->v->unknowns, sizeof *fine->frozen)))
    status = cb_fail(CB_ERROR_MEMORY, "no memory for a gait at its bounds");
  if (status) return cb_direct_free(fine), status;
  for (int arc = 0; arc < e->arcs; arc++)
    for (int i = 0; i < d->v->n; i++)
      if (e->held[arc] >> i & 1) hold(fine, arc, i);
  fine->amount = e->amount;
  if (d->problem->seek != CB_SEEK_COST) cb_gait_target_set(d->problem->bundle->group, &fine->target, e->amount);
  *out = fine;
  return CB_OK;
}

cb_status cb_direct_touch(const cb_direct *d, int degree, cb_direct **out) {
  cb_gait *gait = NULL;
  cb_extremal *e = NULL;
  cb_direct *fine = NULL;
  *out = NULL;
  cb_status status = cb_basis_gait(d->basis, d->v->n, d->c, &gait);
  if (!status) status = cb_extremal_solve(d->problem, gait, d->lambda, d->amount, &e);
  cb_gait_free(gait);
  if (!status) status = follow(d, e, degree, &fine);
  cb_extremal_free(e);
  if (!status) {
    fine->stationary = true; /* it is there already */
    status = cb_direct_settle(fine, 20);
  }
  if (!status && !(cb_barrier_least(fine->barrier, fine->c) >= -off_small))
    status = cb_fail(CB_STEP_NO_CONVERGENCE, "a gait at its bounds passes a wall elsewhere");
  if (status) return cb_direct_free(fine), status;
  *out = fine;
  return CB_OK;
}
