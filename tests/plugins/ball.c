/* A plugin: the drag of a ball as a fluid model, written once on jets.
 *
 *   F = -(c/2) rho pi r^2 |v| v - 6 pi mu r v,   torque = -8 pi mu r^3 omega;   r: that of the ball of the same volume
 */
#include <curvebody/plugin.h>
#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

typedef struct ball {
  double c, mu;
} ball;

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  (void)m, (void)surface;
  double *radius = malloc(sizeof *radius);
  if (!radius) return cb_fail(CB_ERROR_MEMORY, "no memory for a ball");
  *radius = cbrt(3 * mass->volume / (4 * pi));
  *body = radius;
  return CB_OK;
}

static void release(const cb_fluid_model *m, void *body) {
  (void)m;
  free(body);
}

static cb_status on_jets(const cb_fluid_model *m, const void *body, double density, const cb_jet *V, cb_jet *F) {
  const ball *p = m->params;
  const double r = *(const double *)body;
  cb_jet square = cb_jet_constant(V[0].n, 1e-24); /* |v| has no derivative at rest */
  for (int i = 3; i < 6; i++) {
    const cb_jet part = cb_jet_mul(&V[i], &V[i]);
    square = cb_jet_add(&square, &part);
  }
  const cb_jet speed = cb_jet_sqrt(&square), quadratic = cb_jet_scale(&speed, p->c / 2 * density * pi * r * r),
               all = cb_jet_shift(&quadratic, 6 * pi * p->mu * r), against = cb_jet_scale(&all, -1);
  for (int i = 0; i < 3; i++) F[i] = cb_jet_scale(&V[i], -8 * pi * p->mu * r * r * r);
  for (int i = 3; i < 6; i++) F[i] = cb_jet_mul(&against, &V[i]);
  return CB_OK;
}

static const cb_param params[] = {
    {"c", CB_PARAM_REAL, offsetof(ball, c), "0.47", "", ">= 0", NULL, "coefficient of drag"},
    {"viscosity", CB_PARAM_REAL, offsetof(ball, mu), "1.8e-5", "Pa s", ">= 0", NULL, "of the fluid"},
    {NULL, CB_PARAM_REAL, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_fluid_model_class my_ball = {.name = "ball",
                                             .title = "drag of a ball",
                                             .doc = "of the body's volume; and the local added mass",
                                             .params = params,
                                             .params_size = sizeof(ball),
                                             .prepare = prepare,
                                             .release = release,
                                             .on_jets = on_jets,
                                             .added_mass = cb_fluid_local_added_mass};

CB_PLUGIN(CB_PLUGIN_FLUID_MODEL(&my_ball));
