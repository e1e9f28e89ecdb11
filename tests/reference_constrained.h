/* A reference solution of constrained motion by GSL's method of Dormand and Prince, 8(7). It solves the differential
 * equation x' = v, v' = a, where a is the acceleration that satisfies all constraints (cb_gram_multipliers), in the
 * embedding or in a chart. Over short times the solution leaves the constraints only by the error of the method. */
#pragma once

#include "check.h"
#include "dynamics/gram.h"
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

typedef struct constrained_problem {
  cb_gram *gram;
  size_t count;
} constrained_problem;

static int constrained_rhs(double t, const double *z, double *dz, void *user) {
  constrained_problem *c = user;
  double lambda[256];
  memcpy(dz, z + c->count, c->count * sizeof *z);
  return cb_gram_multipliers(c->gram, t, z, z + c->count, lambda, dz + c->count) ? GSL_EBADFUNC : GSL_SUCCESS;
}

/* Advances the positions x[count] and the velocities v[count] from the time t0 to t0 + t. */
static inline void constrained_advance(cb_forces *forces, size_t count, double t0, double t, double *x, double *v) {
  double z[1024];
  constrained_problem problem = {.count = count};
  check_ok(cb_gram_create(forces, cb_forces_constraints_with_space(forces), &problem.gram));
  memcpy(z, x, count * sizeof *z);
  memcpy(z + count, v, count * sizeof *z);
  gsl_odeiv2_system ode = {constrained_rhs, NULL, 2 * count, &problem};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&ode, gsl_odeiv2_step_rk8pd, 1e-3, 1e-14, 1e-14);
  double time = t0;
  assert_int_equal(gsl_odeiv2_driver_apply(driver, &time, t0 + t, z), GSL_SUCCESS);
  gsl_odeiv2_driver_free(driver);
  cb_gram_free(problem.gram);
  memcpy(x, z, count * sizeof *x);
  memcpy(v, z + count, count * sizeof *v);
}
