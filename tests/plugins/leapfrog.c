/* A plugin: the Störmer-Verlet integrator along geodesics of the embedding, symmetric and of order 2.
 *
 *   p <- p + h/2 F(x);   x, p <- the geodesic from x with velocity p/m, at time h;   p <- p + h/2 F(x)
 *
 * x, p and m are the position, momentum and mass of a particle, F the tangential force on it, and h the step.
 */
#include <curvebody/plugin.h>
#include <stdlib.h>
#include <string.h>

static size_t count(const cb_integrator *in) {
  return (size_t)(cb_system_particles(in->system) * cb_system_space(in->system)->k);
}

static void destroy(cb_integrator *in) { free(in->self); }

static cb_status create(cb_integrator *in, const void *params) {
  (void)params;
  if (cb_system_space(in->system)->chart || cb_forces_uses_velocity(in->forces))
    return cb_fail(CB_ERROR_UNSUPPORTED, "integrator `leapfrog` does not take a space in one chart, nor damping");
  in->self = malloc(3 * count(in) * sizeof(double)); /* x, p and F during a step */
  return in->self ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %zu coordinates", count(in));
}

/* p <- p + h/2 F(t, x), made tangent to the space. A point outside the domain of F is the error CB_STEP_DOMAIN. */
static cb_status kick(cb_integrator *in, double t, double h) {
  const size_t n = count(in), k = (size_t)cb_system_space(in->system)->k;
  double *x = in->self, *p = x + n, *force = p + n;
  const cb_status status = cb_forces_eval(in->forces, t, x, NULL, force);
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  for (size_t e = 0; e < n; e++) p[e] += h / 2 * force[e];
  for (size_t e = 0; e < n; e += k) cb_space_project_tangent(cb_system_space(in->system), x + e, p + e);
  return CB_OK;
}

static cb_status step(cb_integrator *in, void *of, double h) {
  cb_state *s = of;
  const size_t n = count(in), k = (size_t)s->k;
  double *x = in->self, *p = x + n, v[CB_COORD_MAX], y[CB_COORD_MAX], w[CB_COORD_MAX];
  memcpy(x, s->x, n * sizeof *x);
  memcpy(p, s->p, n * sizeof *p);
  cb_status status = kick(in, s->t, h);
  for (size_t e = 0; e < n && !status; e += k) {
    const double mass = cb_system_masses(in->system)[e / k];
    for (size_t a = 0; a < k; a++) v[a] = h / mass * p[e + a];
    cb_exp(cb_system_space(in->system), x + e, v, y, w);
    for (size_t a = 0; a < k; a++) {
      x[e + a] = y[a];
      p[e + a] = mass / h * w[a];
    }
  }
  if (!status) status = kick(in, s->t + h, h);
  if (status) return status;
  memcpy(s->x, x, n * sizeof *x);
  memcpy(s->p, p, n * sizeof *p);
  s->t += h;
  return CB_OK;
}

static const cb_integrator_class leapfrog = {"leapfrog",          "Stoermer-Verlet along geodesics",
                                             "explicit, order 2", &cb_problem_hamiltonian,
                                             .create = create,    .destroy = destroy,
                                             .step = step};

CB_PLUGIN(CB_PLUGIN_INTEGRATOR(&leapfrog));
