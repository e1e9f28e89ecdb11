/* What the program of a step (direct_program.c) and the steps (direct.c) share. */
#pragma once

#include "optimum/direct.h"

static inline bool cb_direct_amount_is_free(const cb_direct *d) { return d->problem->seek != CB_SEEK_COST; }
static inline bool cb_direct_walled(const cb_direct *d) { return d->barrier && d->barrier->tau > 0; }
static inline int cb_direct_unknowns(const cb_direct *d) { return d->v->unknowns + cb_direct_amount_is_free(d); }

/* The coefficient that a pin gives, and how far the shape is from it. */
static inline int cb_direct_pinned(const cb_direct *d, int k) {
  return d->pin[k].variable * d->basis->functions + d->pin[k].vertex;
}
static inline double cb_direct_off_pin(const cb_direct *d, int k, const double *c) {
  const cb_pin *p = &d->pin[k];
  return c[cb_direct_pinned(d, k)] + d->v->drift[p->variable] * d->basis->end[p->vertex] - p->at;
}

/* What is sought. */
double cb_direct_value(const cb_direct *d, double amount);
/* The rows' values; first and second as in cb_gait_target_at. Returns how many rows in *rows. */
cb_status cb_direct_conditions(cb_direct *d, const double *c, double amount, double *value_of, int *rows, double *first,
                               double *second);
/* Of what is sought, in all unknowns. */
void cb_direct_gradient(const cb_direct *d, double *g);
/* Values, multipliers and, where it is not at rest or `always`, the quadratic program at c. */
cb_status cb_direct_prepare(cb_direct *d, bool always, bool *rest, int *rows);
