/* Runs of scenarios with the key `system`, and reference solutions of differential equations of first order by GSL's
 * method of Dormand and Prince, 8(7). */
#pragma once

#include "simulate.h"
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

typedef int system_rhs(double t, const double *z, double *dz, void *user);

/* Advances the solution z[n] of z' = rhs(t, z) from the time 0 to t. */
static inline void solve_reference(system_rhs *rhs, void *user, size_t n, double t, double *z) {
  gsl_odeiv2_system ode = {rhs, NULL, n, user};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&ode, gsl_odeiv2_step_rk8pd, 1e-3, 1e-15, 1e-15);
  double time = 0;
  assert_int_equal(gsl_odeiv2_driver_apply(driver, &time, t, z), GSL_SUCCESS);
  gsl_odeiv2_driver_free(driver);
}

/* Runs a scenario until the time `end`, and keeps the position, momentum, energy and time of every row. `system` is the
 * text of this key in the scenario. */
static inline simulation *run_system(const char *system, const char *integrator, double step, double end) {
  char text[16384];
  const int length = snprintf(text, sizeof text,
                              "curvebody: 1\nsystem:\n%sintegrator: {name: %s, step: %.17g}\ntime: {end: %.17g}\n"
                              "record: {every: 1, observables: [energy]}\n",
                              system, integrator, step, end);
  assert_in_range(length, 1, sizeof text - 1);
  return simulate(text, NULL, 0, (const char *const[]){"position", "momentum", "energy", "time", NULL});
}

enum { POSITION, MOMENTUM, ENERGY, TIME };

static inline double *row_of(const simulation *s, int field, size_t row) {
  return s->value[field] + row * s->width[field];
}
static inline double *last_of(const simulation *s, int field) { return row_of(s, field, s->rows - 1); }

/* Returns the maximum relative drift of the energy from its value in the first row. */
static inline double energy_drift(const simulation *s) {
  double worst = 0;
  for (size_t i = 0; i < s->rows; i++) worst = fmax(worst, fabs(*row_of(s, ENERGY, i) - *row_of(s, ENERGY, 0)));
  return worst / fabs(*row_of(s, ENERGY, 0));
}

static inline double distance_to(size_t n, const double *a, const double *b) {
  double worst = 0;
  for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}
