/* A plugin: the method of Störmer and Verlet along geodesics of the embedding, symmetric and of order 2.
 *
 *   p <- p + h/2 F(x);   x, p <- the geodesic from x with velocity p/m, at time h;   p <- p + h/2 F(x)
 */
#include <curvebody/plugin.h>
#include <stdlib.h>
#include <string.h>

/* Places and momenta of a step, forces, a particle's velocity: n*k numbers each but for the last. */
typedef struct work {
  size_t count;
  double *x, *p, *force;
} work;

static void destroy(cb_integrator *in) {
  work *w = (work *)in->self;
  if (w) free(w->x);
  free(w);
}

static cb_status create(cb_integrator *in, const void *params) {
  (void)params;
  const cb_geometry *g = cb_system_space(in->system);
  if (g->chart) return cb_fail(CB_ERROR_UNSUPPORTED, "integrator `leapfrog` does not take a space in one chart");
  work *w = (work *)calloc(1, sizeof *w);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `leapfrog`");
  w->count = (size_t)(cb_system_particles(in->system) * g->k);
  w->x = (double *)malloc(3 * w->count * sizeof *w->x);
  in->self = w;
  if (!w->x) return destroy(in), cb_fail(CB_ERROR_MEMORY, "no memory for %zu coordinates", w->count);
  w->p = w->x + w->count;
  w->force = w->p + w->count;
  return CB_OK;
}

/* p + h/2 F(t, x), tangent to the space. */
static cb_status kick(cb_integrator *in, double t, double h) {
  const work *w = (const work *)in->self;
  const cb_geometry *g = cb_system_space(in->system);
  const cb_status status = cb_forces_eval(in->forces, t, w->x, NULL, w->force);
  for (size_t e = 0; !status && e < w->count; e++) w->p[e] += h / 2 * w->force[e];
  for (size_t e = 0; !status && e < w->count; e += (size_t)g->k) cb_geometry_project_tangent(g, w->x + e, w->p + e);
  return status;
}

static cb_status step(cb_integrator *in, void *of, double h) {
  cb_state *s = (cb_state *)of;
  const work *w = (const work *)in->self;
  const cb_geometry *g = cb_system_space(in->system);
  const double *mass = cb_system_masses(in->system);
  const size_t k = (size_t)g->k, bytes = w->count * sizeof *w->x;
  memcpy(w->x, s->x, bytes);
  memcpy(w->p, s->p, bytes);
  cb_status status = kick(in, s->t, h);
  for (int i = 0; !status && i < s->n; i++) {
    double v[CB_COORD_MAX], *x = w->x + k * (size_t)i, *p = w->p + k * (size_t)i, y[CB_COORD_MAX], u[CB_COORD_MAX];
    for (size_t e = 0; e < k; e++) v[e] = h * p[e] / mass[i];
    cb_exp(g, x, v, y, u);
    for (size_t e = 0; e < k; e++) x[e] = y[e], p[e] = mass[i] * u[e] / h;
  }
  if (!status) status = kick(in, s->t + h, h);
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  memcpy(s->x, w->x, bytes);
  memcpy(s->p, w->p, bytes);
  s->t += h;
  return CB_OK;
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  (void)in;
  *order = 2;
  *symplectic = *symmetric = true;
}

static const cb_integrator_class leapfrog = {.name = "leapfrog",
                                             .title = "Störmer-Verlet along geodesics",
                                             .doc = "explicit, order 2; in the embedding, without damping",
                                             .configuration = &cb_configuration_particles,
                                             .create = create,
                                             .destroy = destroy,
                                             .step = step,
                                             .properties = properties};

CB_PLUGIN(CB_PLUGIN_INTEGRATOR(&leapfrog));
