/* How far an energy has gone from what it was: see cb_run_change. */
#pragma once

#include <math.h>
#include <stdbool.h>

/* Steps between two rows at which what is not recorded is found for the comparison alone: it costs about what some
 * evaluations of forces do. */
enum { CB_CHANGE_STEPS = 256 };

typedef struct cb_energy_change {
  double first, potential;      /* E_0, V_0 */
  double largest, scale, level; /* of rows: |E - E_0|, T + |V - V_0|, |V| */
} cb_energy_change;

static inline void cb_energy_begin(cb_energy_change *c, double kinetic, double potential) {
  *c = (cb_energy_change){kinetic + potential, potential, 0, kinetic, fabs(potential)};
}

static inline void cb_energy_see(cb_energy_change *c, double kinetic, double potential) {
  c->largest = fmax(c->largest, fabs(kinetic + potential - c->first));
  c->scale = fmax(c->scale, kinetic + fabs(potential - c->potential));
  c->level = fmax(c->level, fabs(potential));
}

static inline double cb_change_by(double change, double scale) { return change > 0 ? change / scale : 0; }

/* Below 1e-10 of the potential energy its round-off would be told. */
static inline double cb_energy_ratio(const cb_energy_change *c) {
  return cb_change_by(c->largest, fmax(c->scale, 1e-10 * c->level));
}
