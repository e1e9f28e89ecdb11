/* Pushmepullyou: two spheres at distance l that exchange volume, at zero Reynolds number.
 *
 *   volumes v_1 = v, v_2 = v_0 - v;  radii a_i = (3 v_i/(4 pi))^(1/3);  v_0: total volume;  mu: viscosity
 *   A = ((a_1 - a_2)/(2 (a_1 + a_2)), 1/(4 pi l^2))
 *   M = 6 pi mu diag(a_1 a_2/(a_1 + a_2), 2/(9 pi) (1/v_1 + 1/v_2)):  power = M_ij r_i' r_j'
 * The shape is r = (l, v). The fibre is the position X of the pair; it grows from sphere 2 towards sphere 1. The
 * formulae are valid for a_i << l.
 * Source: Avron, Kenneth & Oaknin, New J. Physics 7 (2005) 234, doi:10.1088/1367-2630/7/1/234. Units: l in lengths, v
 * in volumes; fibre in lengths; mu in force time/length^2.
 */
#include "bundle/bundle_private.h"
#include "model.h"

#include <math.h>

typedef struct pmpy {
  double viscosity, volume;
} pmpy;

static const cb_param params[] = {
    {"viscosity", CB_PARAM_REAL, offsetof(pmpy, viscosity), "1", "force time/length^2", "> 0", NULL,
     "viscosity mu of the fluid"},
    {"volume", CB_PARAM_REAL, offsetof(pmpy, volume), "8*pi/3", "length^3", "> 0", NULL,
     "total volume v_0 of both spheres"},
    {0},
};

CB_MODEL(NULL, 1, "l", "v")

static jet2 radius(jet2 v) {
  const double a = cbrt(3 * v.v / (4 * M_PI)); /* its derivative by v is a/(3 v) */
  return compose(v, a, a / (3 * v.v), -2 * a / (9 * v.v * v.v));
}

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  const pmpy *p = given;
  const jet2 l = r[0], v1 = r[1], v2 = shifted(p->volume, scaled(-1, r[1]));
  if (!(l.v > 0)) return cb_fail(CB_STEP_DOMAIN, "pmpy: l = %.6g: expected > 0", l.v);
  if (!(v1.v > 0 && v2.v > 0))
    return cb_fail(CB_STEP_DOMAIN, "pmpy: v = %.6g: expected a volume between 0 and %.6g", v1.v, p->volume);
  const jet2 a1 = radius(v1), a2 = radius(v2), sum = plus(a1, a2);
  if (A) {
    A[0] = scaled(0.5, over(minus(a1, a2), sum));
    A[1] = scaled(1 / (4 * M_PI), inverse(square(l)));
  }
  if (M) {
    M[0] = scaled(6 * M_PI * p->viscosity, over(times(a1, a2), sum));
    M[3] = scaled(4 * p->viscosity / 3, plus(inverse(v1), inverse(v2)));
  }
  return CB_OK;
}

/* In the flow (x, 0, 0) the distance of the spheres changes at the rate l' - l relative to the fluid. With this rate in
 * place of l' the motion is X' = -A_l (l' - l), which gives S = A_l l. For a_i << l the flow has no effect on the
 * volumes. */
static cb_status strain(const cb_bundle *b, const double *r, double *S) {
  double A[2];
  const cb_status status = cb_bundle_evaluate(b, r, A, NULL, NULL, NULL);
  memset(S, 0, CB_STRAINS * sizeof *S);
  if (!status) S[0] = A[0] * r[0];
  return status;
}

const cb_bundle_class cb_bundle_pmpy = {
    .name = "pmpy",
    .title = "Pushmepullyou",
    .doc = "two spheres that exchange volume and change their distance at zero Reynolds number",
    .params = params,
    .params_size = sizeof(pmpy),
    .resistance = CB_RESISTANCE_DRAG,
    CB_MODEL_FUNCTIONS,
    .strain = strain,
};
