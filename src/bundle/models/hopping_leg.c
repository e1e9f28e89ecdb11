/* A hopping robot in flight: a body of inertia I that turns and extends a massless leg with a point mass m at its foot.
 *
 *   (I + m (l + d)^2) theta' + m (l + d)^2 psi' = 0:   A = (f, 0),  f = m (l + d)^2/(I + m (l + d)^2)
 *   M = diag(I f, m):  twice the kinetic energy
 * Shape: psi, of the leg against the body, and d, its extension. The fibre is the angle theta of the body. Going
 * round psi: 0 -> Delta, d: d_1 -> d_2 (d last) turns the body by Delta (f(d_2) - f(d_1)).
 * Source: Murray, Li & Sastry, A Mathematical Introduction to Robotic Manipulation (1994), chapter 7 (hopping robot in
 * flight). Angles in radians, lengths, masses.
 */
#include "model.h"

typedef struct hopping_leg {
  double inertia, mass, length;
} hopping_leg;

static const cb_param params[] = {
    {"inertia", CB_PARAM_REAL, offsetof(hopping_leg, inertia), "1", "mass length^2", "> 0", NULL, "I, of the body"},
    {"mass", CB_PARAM_REAL, offsetof(hopping_leg, mass), "1", "mass", "> 0", NULL, "m, of the foot"},
    {"length", CB_PARAM_REAL, offsetof(hopping_leg, length), "1", "length", ">= 0", NULL, "l, of the leg at d = 0"},
    {0},
};

CB_MODEL("so2", 0, "psi", "d")

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  const hopping_leg *p = given;
  const jet2 leg = scaled(p->mass, square(shifted(p->length, r[1])));
  const jet2 f = over(leg, shifted(p->inertia, leg));
  if (A) A[0] = f;
  if (M) M[0] = scaled(p->inertia, f), M[3] = constant(p->mass);
  return CB_OK;
}

const cb_bundle_class cb_bundle_hopping_leg = {
    .name = "hopping_leg",
    .title = "hopping robot in flight",
    .doc = "a body that turns and extends a leg; its angular momentum is zero",
    .params = params,
    .params_size = sizeof(hopping_leg),
    CB_MODEL_FUNCTIONS,
};
