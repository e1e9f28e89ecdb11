/* A small sphere in a fluid: the equation of Maxey and Riley without its history term, and tracers.
 *
 *   m v' = m g + m_f (Du/Dt - g) + (m_f/2) (Du/Dt - v') - 6 pi mu a (v - u) - (1/2) rho C pi a^2 |v - u| (v - u)
 * m, a: mass and radius; m_f = rho (4/3) pi a^3 the mass of the displaced fluid; u: flow at the particle, Du/Dt = du/dt +
 * (u.grad) u; mu: viscosity; C: drag coefficient of the quadratic drag, 0 for Stokes's drag alone. Without mass (m = 0)
 * and without radius the particle is a tracer, v = u. Source: Maxey & Riley, Phys. Fluids 26 (1983) 883,
 * doi:10.1063/1.864230; Auton, Hunt & Prud'homme, J. Fluid Mech. 197 (1988) 241, doi:10.1017/S0022112088003234, for
 * Du/Dt in the added mass. SI units. Valid for spheres that are small compared with the lengths of the flow, and for
 * times at which the history force is small.
 */
#pragma once

#include <curvebody/flow.h>
#include <curvebody/medium.h>

typedef struct cb_particles_in_fluid {
  const cb_medium *medium; /* NULL: no fluid */
  const cb_flow *flow;     /* NULL: at rest */
  double gravity[3];
  double viscosity;        /* Pa s */
  double drag_coefficient; /* 1 */
  bool added_mass;
} cb_particles_in_fluid;

/* M = m + m_f/2 (m without added mass) at the place x; m_f is that of the place, where the density varies. */
cb_status cb_particle_mass(const cb_particles_in_fluid *f, double mass, double radius, const double x[3], double *M);
/* Does the fluid act on a particle of this mass and radius, except by its weight? */
bool cb_particle_feels_fluid(const cb_particles_in_fluid *f, double mass, double radius);
/* The force on a particle at rest that does not depend on velocities: its weight; and the potential energy of weight and
 * buoyancy (of the weight only if the density varies). */
double cb_particle_weight_energy(const cb_particles_in_fluid *f, double mass, double radius, const double x[3]);

/* Moves x and the momentum p = M v from t to t + h by the midpoint rule under everything except the weight m g. M is that
 * at the start, before and after; low parts of x and p: compensated sums. CB_STEP_NO_CONVERGENCE if the flow changes too much within the step. */
typedef struct cb_particle_state {
  double mass, radius, M;
  double *x, *x_low, *p, *p_low; /* [3] */
} cb_particle_state;
cb_status cb_particle_drift(const cb_particles_in_fluid *f, const cb_particle_state *s, double t, double h);
