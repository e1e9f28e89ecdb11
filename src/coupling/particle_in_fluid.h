/* A small sphere in a fluid: the equation of Maxey and Riley without its history term, and tracers.
 *
 *   m v' = m g + m_f (Du/Dt - g) + (m_f/2) (Du/Dt - v') - 6 pi mu a (v - u) - (1/2) rho C pi a^2 |v - u| (v - u)
 * m, a, v: mass, radius and velocity of the sphere; g: gravity; rho: density of the fluid; m_f = rho (4/3) pi a^3: mass
 * of the displaced fluid; u: flow at the particle, Du/Dt = du/dt + (u.grad) u; mu: viscosity; C: drag coefficient of
 * the quadratic drag, 0 for Stokes's drag alone. A particle with m = 0 and a = 0 is a tracer: v = u. SI units. The
 * equation is valid for spheres that are small compared with the lengths of the flow, while the history force is small.
 * Sources: Maxey & Riley, Phys. Fluids 26 (1983) 883, doi:10.1063/1.864230; Auton, Hunt & Prud'homme, J. Fluid Mech.
 * 197 (1988) 241, doi:10.1017/S0022112088003234, for Du/Dt in the added mass.
 */
#pragma once

#include <curvebody/flow.h>
#include <curvebody/medium.h>

typedef struct cb_particles_in_fluid {
  const cb_medium *medium; /* the density of the fluid; NULL: there is no fluid */
  const cb_flow *flow;     /* NULL: the fluid is at rest */
  double gravity[3];       /* g, in m/s^2 */
  double viscosity;        /* mu, in Pa s */
  double drag_coefficient; /* C of the quadratic drag, dimensionless */
  bool added_mass;         /* true: the term (m_f/2) (Du/Dt - v') is included */
} cb_particles_in_fluid;

/* Computes *M = m + m_f/2 at the place x, or m without added mass. m_f follows from the density of the fluid at x. */
cb_status cb_particle_mass(const cb_particles_in_fluid *f, double mass, double radius, const double x[3], double *M);
/* Returns whether the fluid acts on a particle of this mass and radius; a tracer counts as such a particle. */
bool cb_particle_feels_fluid(const cb_particles_in_fluid *f, double mass, double radius);
/* Returns the potential energy of the weight and the buoyancy of a particle at x, which is 0 at the origin. If the
 * density of the fluid varies, the result is the energy of the weight only. */
double cb_particle_weight_energy(const cb_particles_in_fluid *f, double mass, double radius, const double x[3]);

/* Moves the place x and the momentum p = M v of a sphere from t to t + h by the midpoint rule, under all forces except
 * the weight m g. In both p before and p after the step, M is its value at the start of the step. x_low and p_low are
 * the low parts of compensated sums. Returns CB_STEP_NO_CONVERGENCE if the flow changes too much within the step, and
 * CB_STEP_SINGULAR if a backward step is longer than twice the time in which the fluid stops the particle. */
typedef struct cb_particle_state {
  double mass, radius, M;
  double *x, *x_low, *p, *p_low; /* [3]: place and momentum, with the low parts of their sums */
} cb_particle_state;
cb_status cb_particle_drift(const cb_particles_in_fluid *f, const cb_particle_state *s, double t, double h);
