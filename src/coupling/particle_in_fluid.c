/* A step of a small sphere in a fluid (equations: particle_in_fluid.h), by the midpoint rule:
 *
 *   x_1 = x_0 + h V,  M (V - p_0/M) = h/2 (A - c(|V - u|) (V - u)),  p_1 = 2 M V - p_0
 * x_0, p_0 and x_1, p_1: place and momentum at the start and at the end of the step of length h; V: velocity at the
 * middle; A = (m_f + m_a) Du/Dt - m_f g, m_a = M - m; c(w) = alpha + beta w, alpha = 6 pi mu a, beta = (1/2) rho C pi
 * a^2; u, Du/Dt, rho and M are those at (x_0 + h V/2, t + h/2), except that p_0 and p_1 are divided by the M of the
 * start. For a given middle, V - u is in the direction of b = p_0/M + h A/(2 M) - u, and its length w satisfies
 * w (1 + h alpha/(2 M)) + h beta/(2 M) w^2 = |b|. The middle is found by fixed-point iteration. The rule is of order 2
 * and symmetric.
 */
#include "coupling/particle_in_fluid.h"
#include "core/failure.h"
#include "fluid/medium_surfaces.h"
#include "numerics/dd.h"

#include <math.h>
#include <string.h>

enum { MAXIMUM = 60 };

static double volume(double radius) { return 4 * M_PI / 3 * radius * radius * radius; }

cb_status cb_particle_mass(const cb_particles_in_fluid *f, double mass, double radius, const double x[3], double *M) {
  double rho = 0;
  const cb_status status = f->medium && f->added_mass && radius > 0 ? cb_medium_at(f->medium, x, &rho) : CB_OK;
  *M = mass + rho * volume(radius) / 2;
  return status;
}

bool cb_particle_feels_fluid(const cb_particles_in_fluid *f, double mass, double radius) {
  return mass == 0 || (radius > 0 && (f->viscosity > 0 || f->medium));
}

double cb_particle_weight_energy(const cb_particles_in_fluid *f, double mass, double radius, const double x[3]) {
  double rho = 0, height = 0;
  if (f->medium && radius > 0 && cb_medium_is_uniform(f->medium) && cb_medium_at(f->medium, x, &rho)) rho = 0;
  for (int i = 0; i < 3; i++) height -= f->gravity[i] * x[i];
  return (mass - rho * volume(radius)) * height;
}

/* Returns w >= 0 with w a + b w^2 = c. */
static double length_of(double a, double b, double c) { return c > 0 ? 2 * c / (a + sqrt(a * a + 4 * b * c)) : 0; }

/* Computes the velocity V at the middle of the step, from the values `at` of the fluid there. */
static void velocity(const cb_particles_in_fluid *f, const cb_fluid_point *at, const cb_particle_state *s, double h,
                     double V[3]) {
  const double displaced = at->density * volume(s->radius), M = s->mass + (f->added_mass ? displaced / 2 : 0);
  const double alpha = 6 * M_PI * f->viscosity * s->radius,
               beta = at->density * f->drag_coefficient * M_PI * s->radius * s->radius / 2;
  double b[3], square = 0;
  if (!(M > 0)) {
    memcpy(V, at->u, 3 * sizeof *V);
    return;
  }
  for (int i = 0; i < 3; i++) {
    const double A = (displaced + M - s->mass) * at->acceleration[i] - displaced * f->gravity[i];
    b[i] = s->p[i] / s->M + h / 2 * A / M - at->u[i];
    square += b[i] * b[i];
  }
  const double size = sqrt(square), a = 1 + h * alpha / (2 * M), w = length_of(a, h * beta / (2 * M), size);
  for (int i = 0; i < 3; i++) V[i] = at->u[i] + (size > 0 ? b[i] / size * w : 0);
}

cb_status cb_particle_drift(const cb_particles_in_fluid *f, const cb_particle_state *s, double t, double h) {
  double V[3], last = INFINITY;
  const double M = s->M;
  cb_fluid_point at;
  if (h * 6 * M_PI * f->viscosity * s->radius <= -2 * M && M > 0)
    return cb_fail(
        CB_STEP_SINGULAR,
        "a backward step of %g is longer than twice the time in which the fluid stops a particle, so a step of "
        "order 4 does not exist: use a smaller `step`, or order 2",
        h);
  for (int i = 0; i < 3; i++) V[i] = M > 0 ? s->p[i] / M : 0;
  for (int n = 0;; n++) {
    double middle[3], next[3], change = 0, size = 0;
    for (int i = 0; i < 3; i++) middle[i] = s->x[i] + (s->x_low[i] + h / 2 * V[i]);
    const cb_status status = cb_fluid_point_at(f->flow, f->medium, t + h / 2, middle, &at);
    if (status) return status;
    velocity(f, &at, s, h, next);
    for (int i = 0; i < 3; i++) {
      change = fmax(change, fabs(next[i] - V[i]));
      size = fmax(size, fabs(next[i]));
      V[i] = next[i];
    }
    if (change <= 1e-15 * size || (n > 2 && change >= last && change <= 1e-12 * size)) break;
    last = change;
    if (n == MAXIMUM)
      return cb_fail(CB_STEP_NO_CONVERGENCE,
                     "the flow at a particle changes too much within a step of %g at t = %g: use a smaller `step`", h,
                     t);
  }
  for (int i = 0; i < 3; i++) {
    cb_compensated_add_one(&s->x[i], &s->x_low[i], h * V[i]);
    if (M > 0) cb_compensated_add_one(&s->p[i], &s->p_low[i], 2 * (M * V[i] - s->p[i]));
  }
  return CB_OK;
}
