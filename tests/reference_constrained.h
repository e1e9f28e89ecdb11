/* An independent solution of constrained motion: GSL's Dormand-Prince 8(7) for the underlying differential equation x'
 * = v,  v' = the acceleration that satisfies all rows (cb_gram_multipliers), in the embedding or in a chart. Over short
 * times it drifts from the constraints only by its error. */
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

/* Advances x[n*k] and the velocities v[n*k] by time t. */
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
