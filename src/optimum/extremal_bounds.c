/* Which shape variables are at their bounds when: on a grid of times, from a gait or an extremal that may be wrong.
 *
 * A variable is held where a gait is at its bound or beyond; of an extremal, where it is held and its bound pushes, and
 * where a free arc is beyond. Of a least cost under r_i <= upper: p_i' = v'd_iM v/2 + <lambda, d_iA v> + k, k >= 0 (as
 * of a thread over an obstacle), and k <= 0 at a lower bound.
 */
#include "optimum/extremal_private.h"

#include <math.h>

static double least(const problem *p, int i) { return p->o->lower ? p->o->lower[i] : -INFINITY; }
static double most(const problem *p, int i) { return p->o->upper ? p->o->upper[i] : INFINITY; }

/* The set of variables by how far each is at or beyond its bound; of all of them the least far stays free. */
static unsigned set_of(int n, const double *excess) {
  unsigned set = 0;
  int last = 0;
  for (int i = 0; i < n; i++) {
    if (excess[i] >= 0) set |= 1u << i;
    if (excess[i] < excess[last]) last = i;
  }
  return set == (1u << n) - 1 ? set & ~(1u << last) : set;
}

void bounds_of_gait(const problem *p, const cb_gait *start, unsigned *mark) {
  static const double near = 1e-3; /* of the width between both bounds, or of 1: a gait that meets a bound at nodes */
  for (int k = 0; k < CB_MARKS; k++) {
    double r[CB_SHAPE_MAX], excess[CB_SHAPE_MAX];
    cb_gait_at(start, (k + .5) / CB_MARKS, r, NULL);
    for (int i = 0; i < p->n; i++) {
      const double slack = near * fmin(1, most(p, i) - least(p, i));
      excess[i] = fmax(r[i] - most(p, i), least(p, i) - r[i]) + slack;
    }
    mark[k] = set_of(p->n, excess);
  }
}

cb_status bounds_arcs(const unsigned *mark, int *arcs, double *duration, unsigned *held) {
  *arcs = 0;
  for (int k = 0; k < CB_MARKS; k++) {
    if (k > 0 && mark[k] == held[*arcs - 1]) {
      duration[*arcs - 1] += 1. / CB_MARKS;
      continue;
    }
    if (*arcs == CB_ARCS_MAX)
      return cb_fail(CB_STEP_NO_CONVERGENCE, "a gait meets its bounds more than %d times", CB_ARCS_MAX / 2);
    held[*arcs] = mark[k];
    duration[(*arcs)++] = 1. / CB_MARKS;
  }
  return CB_OK;
}

void bounds_set(extremal_mesh *m) {
  for (int a = 0; a < m->arcs; a++)
    for (int i = 0; i < m->p->n; i++) {
      if (!(m->held[a] >> i & 1)) continue;
      double r[CB_SHAPE_MAX], t = m->at.duration[a] / 2;
      for (int b = 0; b < a; b++) t += m->at.duration[b];
      cb_gait_at(m->start, t, r, NULL);
      m->bound[a][i] = r[i] - least(m->p, i) < most(m->p, i) - r[i] ? least(m->p, i) : most(m->p, i);
    }
}

/* How far variable i is beyond its bounds at x, or how hard its bound pulls, in scales: below 0 it is held wrongly. */
static cb_status excesses(const extremal_mesh *m, int a, const double *x, double *excess) {
  static const double slack = 1e-7;
  const problem *p = m->p;
  double force[CB_SHAPE_MAX];
  const cb_status status = cb_wong_contact(&p->wong, m->held[a], x, force);
  for (int i = 0; i < p->n; i++) {
    const bool at_most = m->bound[a][i] == most(p, i);
    if (m->held[a] >> i & 1)
      excess[i] = (at_most ? force[i] : -force[i]) / m->pscale[i] + slack;
    else
      excess[i] = fmax(x[i] - most(p, i), least(p, i) - x[i]) / m->rscale[i] - slack;
  }
  return status;
}

cb_status bounds_check(const extremal_mesh *m, unsigned *mark, bool *kept) {
  *kept = true;
  double begin = 0;
  int a = 0;
  for (int k = 0; k < CB_MARKS; k++) {
    const double t = (k + .5) / CB_MARKS;
    double x[CB_WONG_MAX], excess[CB_SHAPE_MAX];
    while (a + 1 < m->arcs && t >= begin + m->at.duration[a]) begin += m->at.duration[a++];
    mesh_sample(m, a, (t - begin) / m->at.duration[a], x);
    const cb_status status = excesses(m, a, x, excess);
    if (status) return status;
    mark[k] = set_of(m->p->n, excess);
    *kept = *kept && mark[k] == m->held[a];
  }
  return CB_OK;
}
