/* Three equal spheres of radius a on a line at distances L_1 and L_2, at zero Reynolds number.
 *
 *   v_i = sum_j H_ij f_j,  6 pi mu a H_ii = 1,  6 pi mu a H_ij = e_ij = 3a/(2 L_ij)  (Oseen);  sum f_i = 0
 *   v = X' (1, 1, 1) + (-L_1', 0, L_2');  C = cofactors of 6 pi mu a H
 *   P = sum C_ij,  Q_1 = -sum C_1j,  Q_2 = sum C_3j;  A = Q/P
 *   M = 6 pi mu a/det (((C_11, -C_13), (-C_13, C_33)) - Q Q^T/P):  power = M_ij L_i' L_j';  det: of 6 pi mu a H
 * v_i: velocities of the spheres; f_j: forces on the fluid; H: mobilities; L_ij: distances; mu: viscosity. The fibre is
 * the position X of the middle sphere. For L_i = l + d cos(2 pi t + phi_i), d, a << l, a cycle moves the swimmer by 7
 * a/(12 l^2) pi d^2 sin(phi_1 - phi_2). The formulae are valid for a << L_i; spheres that touch are an error.
 * Source: Golestanian & Ajdari, Phys. Rev. E 77 (2008) 036308, doi:10.1103/PhysRevE.77.036308. Units: lengths.
 */
#include "bundle/bundle_private.h"
#include "model.h"

#include <math.h>

typedef struct three_sphere {
  double radius, viscosity;
} three_sphere;

static const cb_param params[] = {
    {"radius", CB_PARAM_REAL, offsetof(three_sphere, radius), "0.1", "length", "> 0", NULL, "radius a of each sphere"},
    {"viscosity", CB_PARAM_REAL, offsetof(three_sphere, viscosity), "1", "force time/length^2", "> 0", NULL,
     "viscosity mu of the fluid"},
    {0},
};

CB_MODEL(NULL, 1, "l1", "l2")

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  const three_sphere *p = given;
  const double a = p->radius, e0 = 1.5 * a;
  if (!(r[0].v > 2 * a && r[1].v > 2 * a))
    return cb_fail(CB_STEP_DOMAIN, "three_sphere: l1 = %.6g, l2 = %.6g: expected more than 2 radii = %.6g", r[0].v,
                   r[1].v, 2 * a);
  const jet2 e12 = scaled(e0, inverse(r[0])), e23 = scaled(e0, inverse(r[1]));
  const jet2 e13 = scaled(e0, inverse(plus(r[0], r[1])));
  const jet2 c11 = shifted(1, scaled(-1, square(e23))), c22 = shifted(1, scaled(-1, square(e13)));
  const jet2 c33 = shifted(1, scaled(-1, square(e12)));
  const jet2 c12 = minus(times(e13, e23), e12), c23 = minus(times(e12, e13), e23), c13 = minus(times(e12, e23), e13);
  const jet2 row1 = plus(plus(c11, c12), c13), row3 = plus(plus(c13, c23), c33);
  const jet2 P = plus(plus(row1, row3), plus(plus(c12, c22), c23)), q1 = scaled(-1, row1);
  const jet2 a1 = over(q1, P), a2 = over(row3, P);
  if (A) {
    A[0] = a1;
    A[1] = a2;
  }
  if (M) {
    const jet2 det = plus(plus(c11, times(e12, c12)), times(e13, c13));
    const jet2 c = scaled(6 * M_PI * p->viscosity * a, inverse(det));
    M[0] = times(c, minus(c11, times(q1, a1)));
    M[1] = M[2] = scaled(-1, times(c, plus(c13, times(q1, a2))));
    M[3] = times(c, minus(c33, times(row3, a2)));
  }
  return CB_OK;
}

/* In the flow (x, 0, 0) about the middle sphere, a sphere at x with the velocity v has the velocity v - x relative to
 * the fluid. The distances r therefore change at the rates r' - r relative to the fluid. With these rates X' = -A (r' -
 * r), so that S = A r. */
static cb_status strain(const cb_bundle *b, const double *r, double *S) {
  double A[2];
  const cb_status status = cb_bundle_evaluate(b, r, A, NULL, NULL, NULL);
  memset(S, 0, CB_STRAINS * sizeof *S);
  if (!status) S[0] = A[0] * r[0] + A[1] * r[1];
  return status;
}

const cb_bundle_class cb_bundle_three_sphere = {
    .name = "three_sphere",
    .title = "three-sphere swimmer",
    .doc = "three spheres on a line that change their distances at zero Reynolds number",
    .params = params,
    .params_size = sizeof(three_sphere),
    .resistance = CB_RESISTANCE_DRAG,
    CB_MODEL_FUNCTIONS,
    .strain = strain,
};
