/* MuJoCo's inertia model: drag of the box that has a body's mass and inertia, about the centre of mass in its principal
 * axes, M its mass and I its moments:
 *
 *   h_i = (3/(2 M) (I_j + I_k - I_i))^(1/2),  h their mean
 *   drag      f_i = -2 rho h_j h_k |v_i| v_i,  g_i = -(rho/2) h_i (h_j^4 + h_k^4) |w_i| w_i
 *   viscous   f = -6 pi mu h v,  g = -8 pi mu h^3 w
 * Source: MuJoCo's documentation, "Fluid forces", as its code has it (3.14), of 2.2 with a floor of 1e-15 below the sum of
 * moments. The mass is that at time 0.
 */
#include <curvebody/fluid_model.h>

#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct mujoco_inertia_box {
  double viscosity;
  int compat;
} mujoco_inertia_box;

static const cb_param params[] = {
    {"viscosity", CB_PARAM_REAL, offsetof(mujoco_inertia_box, viscosity), "0", "Pa s", ">= 0", NULL, "of the fluid"},
    {"compat", CB_PARAM_CHOICE, offsetof(mujoco_inertia_box, compat), "3.14", "", "", "3.14|2.2", "version"},
    {0},
};

typedef struct box {
  double h[3], mean;
  double place[1][3], axis[3][3]; /* of the centre of mass; rows are the axes */
} box;

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  const bool floored = ((const mujoco_inertia_box *)m->params)->compat == 1;
  double I[3], axis[3][3];
  (void)surface;
  if (!(mass->mass > 0))
    return cb_fail(CB_ERROR_DOMAIN, "the fluid model mujoco_inertia_box is for bodies with a mass, found %g kg",
                   mass->mass);
  const cb_status status = cb_mass_principal(mass, I, axis);
  if (status) return status;
  box *own = calloc(1, sizeof *own);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a box");
  for (int i = 0; i < 3; i++) {
    const double rest = I[(i + 1) % 3] + I[(i + 2) % 3] - I[i];
    own->h[i] = sqrt(1.5 / mass->mass * fmax(rest, floored ? 1e-15 : 0));
    own->mean += own->h[i] / 3;
    own->place[0][i] = mass->centre[i];
  }
  memcpy(own->axis, axis, sizeof axis);
  *body = own;
  return CB_OK;
}

static void release(const cb_fluid_model *m, void *body) {
  (void)m;
  free(body);
}

static int places(const cb_fluid_model *m, const void *body, const double (**at)[3]) {
  (void)m;
  *at = ((const box *)body)->place;
  return 1;
}

/* F += -c V_i n about or along an axis n: c linear in |V_i|, with its derivative. */
static void along(const double n[3], double linear, double quadratic, const double V[3], double F[3], double (*dF)[6],
                  int column) {
  const double own = cb_dot3(n, V), size = fabs(own);
  for (int i = 0; i < 3; i++) {
    F[i] -= (linear + quadratic * size) * own * n[i];
    for (int j = 0; dF && j < 3; j++) dF[i][column + j] -= (linear + 2 * quadratic * size) * n[i] * n[j];
  }
}

static cb_status on_twist(const cb_fluid_model *m, const void *body, int place, double density, const double V[6],
                          double (*F)[6], double (*dF)[6][6]) {
  const double viscosity = ((const mujoco_inertia_box *)m->params)->viscosity;
  const box *own = body;
  const double *h = own->h, r = own->mean, slow[2] = {8 * M_PI * viscosity * r * r * r, 6 * M_PI * viscosity * r};
  (void)place;
  for (int i = 0; i < 3; i++) {
    const double b = h[(i + 1) % 3], c = h[(i + 2) % 3];
    along(own->axis[i], 0, density / 2 * h[i] * (pow(b, 4) + pow(c, 4)), V, F[0], dF ? dF[0] : NULL, 0);
    along(own->axis[i], 0, 2 * density * b * c, V + 3, F[0] + 3, dF ? dF[0] + 3 : NULL, 3);
  }
  for (int i = 0; i < 6; i++) {
    F[1][i] -= slow[i / 3] * V[i];
    if (dF) dF[1][i][i] -= slow[i / 3];
  }
  return CB_OK;
}

static const char *const terms[] = {"drag", "viscous", NULL};

const cb_fluid_model_class cb_fluid_model_mujoco_inertia_box = {
    .name = "mujoco_inertia_box",
    .title = "MuJoCo's boxes",
    .doc = "MuJoCo's drag of the box of a body's inertia; no added mass",
    .params = params,
    .params_size = sizeof(mujoco_inertia_box),
    .prepare = prepare,
    .release = release,
    .terms = terms,
    .places = places,
    .on_twist = on_twist,
};
