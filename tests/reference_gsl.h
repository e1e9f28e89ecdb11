/* A reference solution of free particles by GSL's method of Dormand and Prince, 8(7). It solves the equations in the
 * embedding, x' = p/m, p' = F_t - K (<p,p>/m) x, in each factor of curvature K. x, p and m are the position, momentum
 * and mass of a particle, and F_t is the tangential part of the force. */
#pragma once

#include "check.h"
#include <curvebody/system.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

typedef struct reference_problem {
  const cb_system *system;
  cb_forces *forces;
} reference_problem;

static int reference_rhs(double t, const double *z, double *dz, void *user) {
  reference_problem *r = user;
  const cb_space *g = cb_system_space(r->system);
  const int n = cb_system_particles(r->system), k = g->k;
  const double *mass = cb_system_masses(r->system), *x = z, *p = z + n * k;
  double v[64];
  for (int a = 0; a < n * k; a++) v[a] = p[a] / mass[a / k];
  if (cb_forces_eval(r->forces, t, x, v, dz + n * k)) return GSL_EBADFUNC;
  for (int a = 0; a < n; a++)
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor *c = &g->factor[f];
      const int at = a * k + c->offset;
      double fx = 0, pp = 0;
      for (int e = 0; e < c->count; e++) {
        fx += g->form[c->offset + e] * dz[n * k + at + e] * x[at + e];
        pp += g->form[c->offset + e] * p[at + e] * p[at + e];
      }
      for (int e = 0; e < c->count; e++) {
        dz[at + e] = p[at + e] / mass[a];
        dz[n * k + at + e] -= c->curvature * (fx + pp / mass[a]) * x[at + e];
      }
    }
  return GSL_SUCCESS;
}

/* Advances the positions x[n*k] and the momenta p[n*k] of n particles, each with k coordinates of the embedding, from
 * the time t0 to t0 + t. */
static inline void reference_advance(const cb_system *system, cb_forces *forces, double t0, double t, double *x,
                                     double *p) {
  const size_t count = (size_t)cb_system_particles(system) * cb_system_space(system)->k;
  double z[128];
  memcpy(z, x, count * sizeof *z);
  memcpy(z + count, p, count * sizeof *z);
  reference_problem problem = {system, forces};
  gsl_odeiv2_system ode = {reference_rhs, NULL, 2 * count, &problem};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&ode, gsl_odeiv2_step_rk8pd, 1e-3, 1e-14, 1e-14);
  double time = t0;
  assert_int_equal(gsl_odeiv2_driver_apply(driver, &time, t0 + t, z), GSL_SUCCESS);
  gsl_odeiv2_driver_free(driver);
  memcpy(x, z, count * sizeof *z);
  memcpy(p, z + count, count * sizeof *z);
}
