/* A robot on a sphere of radius R that rotates freely about the axis of the sphere: one pair of masses moves on the
 * equator, another pair across it.
 *
 *   frame with inertia I at the longitude Phi; two masses m_e on the equator at Phi + phi (and opposite);
 *   two masses m_a on the meridian of the frame at the latitudes +-theta
 *   J = I + 2 R^2 (m_e + m_a cos^2 theta);  momentum about the axis:  J Phi' + 2 m_e R^2 phi' = 0
 *   A = (2 m_e R^2/J, 0),   M = diag(2 m_e R^2 (J - 2 m_e R^2)/J, 2 m_a R^2):  twice the kinetic energy
 * Shape (phi, theta), fibre the longitude Phi. Friction and gravity are neglected. The model follows the robot of Li et
 * al., PNAS 119 (2022) e2200924119, doi:10.1073/pnas.2200924119 (J from the positions of the masses). Units: radians,
 * lengths, masses.
 */
#include "model.h"

typedef struct robot {
  double radius, inertia, equator, across;
} robot;

static const cb_param params[] = {
    {"radius", CB_PARAM_REAL, offsetof(robot, radius), "1", "length", "> 0", NULL, "radius R of the sphere"},
    {"inertia", CB_PARAM_REAL, offsetof(robot, inertia), "0", "mass length^2", ">= 0", NULL, "inertia I of the frame"},
    {"equator_mass", CB_PARAM_REAL, offsetof(robot, equator), "1", "mass", "> 0", NULL,
     "mass m_e of each mass on the equator"},
    {"across_mass", CB_PARAM_REAL, offsetof(robot, across), "1", "mass", "> 0", NULL,
     "mass m_a of each mass on the meridian"},
    {0},
};

CB_MODEL("so2", 0, "phi", "theta")

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  const robot *p = given;
  const double R2 = p->radius * p->radius, e = 2 * p->equator * R2;
  const jet2 rest = shifted(p->inertia, scaled(2 * p->across * R2, square(cosine(r[1])))), J = shifted(e, rest);
  if (A) A[0] = scaled(e, inverse(J));
  if (M) {
    M[0] = scaled(e, over(rest, J));
    M[3] = constant(2 * p->across * R2);
  }
  return CB_OK;
}

static void locked(const void *given, const jet2 *r, jet2 *P) {
  const robot *p = given;
  const double R2 = p->radius * p->radius;
  P[0] = shifted(p->inertia + 2 * p->equator * R2, scaled(2 * p->across * R2, square(cosine(r[1]))));
}

CB_MODEL_FORM

const cb_bundle_class cb_bundle_sphere_robot = {
    .name = "sphere_robot",
    .title = "robot on a sphere",
    .doc = "a pair of masses on the equator and a pair on a meridian; the fibre is the longitude",
    .params = params,
    .params_size = sizeof(robot),
    .resistance = CB_RESISTANCE_INERTIA,
    .form = form,
    CB_MODEL_FUNCTIONS,
};
