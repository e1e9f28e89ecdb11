/* The planar falling cat: two bodies with a common hinge, without external forces and without angular momentum.
 *
 *   masses m_i, inertias I_i about their centres, hinge at distance a_i from centre i; m = m_1 m_2/(m_1 + m_2)
 *   the bodies' angles theta_1 (fibre) and theta_2 = theta_1 + alpha;  c = m a_1 a_2 cos alpha
 *   A = (I_2 + m a_2^2 + c)/J,  J = I_1 + I_2 + m (a_1^2 + a_2^2) + 2 c
 *   M = ((I_1 + m a_1^2)(I_2 + m a_2^2) - c^2)/J:  twice the kinetic energy
 * At alpha = 0 the centres and the hinge are on one line, with the hinge between the centres. alpha is the only shape
 * variable, so that only a full turn of alpha has a net effect.
 * Source: Montgomery, Gauge theory of the falling cat, Fields Inst. Commun. 1 (1993) 193 (J and A derived as there).
 * Units: radians, lengths, masses. Shapes with J = 0 are singular: two point masses coincide.
 */
#include "model.h"

typedef struct falling_cat {
  double m1, m2, i1, i2, a1, a2;
} falling_cat;

static const cb_param params[] = {
    {"mass_1", CB_PARAM_REAL, offsetof(falling_cat, m1), "1", "mass", "> 0", NULL, "mass m_1 of the first body"},
    {"mass_2", CB_PARAM_REAL, offsetof(falling_cat, m2), "1", "mass", "> 0", NULL, "mass m_2 of the second body"},
    {"inertia_1", CB_PARAM_REAL, offsetof(falling_cat, i1), "1", "mass length^2", ">= 0", NULL,
     "inertia I_1 of the first body about its centre"},
    {"inertia_2", CB_PARAM_REAL, offsetof(falling_cat, i2), "1", "mass length^2", ">= 0", NULL,
     "inertia I_2 of the second body about its centre"},
    {"arm_1", CB_PARAM_REAL, offsetof(falling_cat, a1), "1", "length", ">= 0", NULL,
     "distance a_1 from centre 1 to the hinge"},
    {"arm_2", CB_PARAM_REAL, offsetof(falling_cat, a2), "1", "length", ">= 0", NULL,
     "distance a_2 from the hinge to centre 2"},
    {0},
};

CB_MODEL("so2", 0, "alpha")

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  const falling_cat *p = given;
  const double m = p->m1 * p->m2 / (p->m1 + p->m2);
  const double k1 = p->i1 + m * p->a1 * p->a1, k2 = p->i2 + m * p->a2 * p->a2;
  const jet2 c = scaled(m * p->a1 * p->a2, cosine(r[0])), J = shifted(k1 + k2, scaled(2, c));
  if (!(J.v > 1e-14 * (k1 + k2)))
    return cb_fail(CB_STEP_SINGULAR, "falling_cat: the locked inertia is %.3g at alpha = %.6g: expected more than 0",
                   J.v, r[0].v);
  if (A) A[0] = over(shifted(k2, c), J);
  if (M) M[0] = over(shifted(k1 * k2, scaled(-1, square(c))), J);
  return CB_OK;
}

static void locked(const void *given, const jet2 *r, jet2 *P) {
  const falling_cat *p = given;
  const double m = p->m1 * p->m2 / (p->m1 + p->m2);
  P[0] = shifted(p->i1 + p->i2 + m * (p->a1 * p->a1 + p->a2 * p->a2), scaled(2 * m * p->a1 * p->a2, cosine(r[0])));
}

CB_MODEL_FORM

const cb_bundle_class cb_bundle_falling_cat = {
    .name = "falling_cat",
    .title = "planar falling cat",
    .doc = "two bodies with a common hinge and no angular momentum; the fibre is the angle of the first body",
    .params = params,
    .params_size = sizeof(falling_cat),
    .resistance = CB_RESISTANCE_INERTIA,
    .form = form,
    CB_MODEL_FUNCTIONS,
};
