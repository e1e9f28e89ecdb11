/* A plugin: the drag of a ball as a fluid model that uses the twist.
 *
 *   F = -(c/2) rho pi r^2 |v| v - 6 pi mu r v,   torque = -8 pi mu r^3 omega
 *
 * F is the force. v and omega are the velocity and spin relative to the fluid, r is the radius of the ball with the
 * same volume as the body, c the coefficient of drag, rho the density and mu the viscosity of the fluid. SI units.
 */
#include <curvebody/plugin.h>
#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

typedef struct ball {
  double c, mu;
} ball;

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  (void)m;
  (void)surface;
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

static cb_status on_twist(const cb_fluid_model *m, const void *body, int place, double density, const double V[6],
                          double (*F)[6], double (*dF)[6][6]) {
  const ball *p = m->params;
  const double r = *(const double *)body, speed = sqrt(V[3] * V[3] + V[4] * V[4] + V[5] * V[5]),
               quadratic = p->c / 2 * density * pi * r * r, linear = 6 * pi * p->mu * r,
               spun = 8 * pi * p->mu * r * r * r;
  (void)place;
  for (int i = 0; i < 6; i++) {
    F[0][i] = -(i < 3 ? spun : quadratic * speed + linear) * V[i];
    if (!dF) continue;
    dF[0][i][i] = -(i < 3 ? spun : quadratic * speed + linear);
    for (int j = 3; i >= 3 && j < 6 && speed > 0; j++) dF[0][i][j] -= quadratic * V[i] * V[j] / speed;
  }
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
                                             .on_twist = on_twist,
                                             .added_mass = cb_fluid_local_added_mass};

CB_PLUGIN(CB_PLUGIN_FLUID_MODEL(&my_ball));
