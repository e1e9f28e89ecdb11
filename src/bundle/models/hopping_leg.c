/* A hopping robot in flight: a body of inertia I that rotates and extends a massless leg with a point mass m at its
 * foot.
 *
 *   (I + m (l + d)^2) theta' + m (l + d)^2 psi' = 0:   A = (f, 0),  f = m (l + d)^2/(I + m (l + d)^2)
 *   M = diag(I f, m):  twice the kinetic energy
 * Shape: psi, the angle between leg and body, and d, the extension of the leg; l is the length of the leg at d = 0. The
 * fibre is the angle theta of the body. A rectangular loop, first psi from 0 to Delta, then d from d_1 to d_2, then
 * both back in the same order, rotates the body by Delta (f(d_2) - f(d_1)).
 * Source: Murray, Li & Sastry, A Mathematical Introduction to Robotic Manipulation (1994), chapter 7 (hopping robot in
 * flight). Units: radians, lengths, masses.
 */
#include "model.h"

typedef struct hopping_leg {
  double inertia, mass, length;
} hopping_leg;

static const cb_param params[] = {
    {"inertia", CB_PARAM_REAL, offsetof(hopping_leg, inertia), "1", "mass length^2", "> 0", NULL,
     "inertia I of the body"},
    {"mass", CB_PARAM_REAL, offsetof(hopping_leg, mass), "1", "mass", "> 0", NULL, "mass m of the foot"},
    {"length", CB_PARAM_REAL, offsetof(hopping_leg, length), "1", "length", ">= 0", NULL,
     "length l of the leg at d = 0"},
    {0},
};

CB_MODEL("so2", 0, "psi", "d")

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  const hopping_leg *p = given;
  const jet2 leg = scaled(p->mass, square(shifted(p->length, r[1])));
  const jet2 f = over(leg, shifted(p->inertia, leg));
  if (A) A[0] = f;
  if (M) {
    M[0] = scaled(p->inertia, f);
    M[3] = constant(p->mass);
  }
  return CB_OK;
}

static void locked(const void *given, const jet2 *r, jet2 *P) {
  const hopping_leg *p = given;
  P[0] = shifted(p->inertia, scaled(p->mass, square(shifted(p->length, r[1]))));
}

CB_MODEL_FORM

const cb_bundle_class cb_bundle_hopping_leg = {
    .name = "hopping_leg",
    .title = "hopping robot in flight",
    .doc = "a body that rotates and extends a leg, with zero angular momentum; the fibre is the angle of the body",
    .params = params,
    .params_size = sizeof(hopping_leg),
    .resistance = CB_RESISTANCE_INERTIA,
    .form = form,
    CB_MODEL_FUNCTIONS,
};
