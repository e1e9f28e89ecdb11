/* A swimmer in a space of constant curvature: a mass m_0 at the apex of n equal legs with masses m_1 at their tips,
 * symmetric about a geodesic. The swimmer moves along this geodesic.
 *
 *   legs of length l at the angle a to the geodesic, r = (l, a); k = 1/R, R the radius of curvature
 *   (S, C) = (sin, cos) in S, (sinh, cosh) in H, T = S/C;  -+: - in S, + in H;  E: R -> infinity
 *   a tip has the distance d from the geodesic:  S(k d) = S(k l) sin a,  c = C(k d)^2 = 1 -+ S(k l)^2 sin^2 a
 *   its foot at x ahead of the apex:  T(k x) = T(k l) cos a;  dx = (Y . dr)/c,  Y = (cos a, -R S(k l) C(k l) sin a)
 *   momentum of the geodesic's Killing field:  m_0 X' + W (X' + x') = 0,  W = n m_1 c
 *   A = n m_1 Y/(m_0 + W)
 *   M = (n m_1/c) (D D^T + m_0 Y Y^T/(m_0 + W)),  D = (C(k l) sin a, R S(k l) cos a):  twice the kinetic energy
 *   small swimmers:  X = -2 K mu (1 - mu) int int l^2 sin a dl da over the area within the loop, K the curvature,
 *     mu = n m_1/(m_0 + n m_1)
 * The spaces are the spheres S, the hyperbolic spaces H and the flat spaces E. The fibre is the distance X of the apex
 * along the geodesic. In two dimensions n = 2; in three dimensions the legs are evenly spaced on a cone. In flat space
 * every loop has zero holonomy. Shapes with c = 0 are singular: the tips are at the poles of the geodesic in S.
 * Source: Avron & Kenneth, New J. Physics 8 (2006) 68, doi:10.1088/1367-2630/8/5/068 (swimming in curved space). Units:
 * lengths, masses, radians.
 */
#include "model.h"

typedef struct swimmer {
  int space, legs;
  double radius, apex, tip;
} swimmer;

static const cb_param params[] = {
    {"space", CB_PARAM_CHOICE, offsetof(swimmer, space), "S2", "", "", "S2|S3|H2|H3|E2|E3",
     "space of constant curvature"},
    {"radius", CB_PARAM_REAL, offsetof(swimmer, radius), "1", "length", "> 0", NULL,
     "radius of curvature R of S2, S3, H2 and H3"},
    {"legs", CB_PARAM_INT, offsetof(swimmer, legs), "2", "", ">= 2", NULL,
     "number of legs n; expected 2 in two dimensions"},
    {"apex_mass", CB_PARAM_REAL, offsetof(swimmer, apex), "1", "mass", "> 0", NULL, "mass m_0 at the apex"},
    {"tip_mass", CB_PARAM_REAL, offsetof(swimmer, tip), "1", "mass", "> 0", NULL, "mass m_1 at each tip"},
    {0},
};

enum { SPHERE, HYPERBOLIC, FLAT }; /* the kind of space: half the index of the choice `space` */

static cb_status init(cb_bundle *b, const void *p) {
  const swimmer *own = p;
  if (own->space % 2 == 0 && own->legs != 2)
    return cb_fail(CB_ERROR_ARGUMENT, "legs: %d: expected 2 in a space of two dimensions", own->legs);
  return cb_model_init(b, NULL, 1, 2, (const char *const[]){"l", "a"}, p, sizeof(swimmer));
}

CB_MODEL_ON_JETS

static cb_status on_jet2(const void *given, const jet2 *r, jet2 *A, jet2 *M) {
  const swimmer *p = given;
  const int kind = p->space / 2;
  const double R = p->radius, tips = p->legs * p->tip;
  const jet2 l = scaled(1 / R, r[0]), sa = sine(r[1]), ca = cosine(r[1]);
  const jet2 S = kind == SPHERE ? sine(l) : kind == HYPERBOLIC ? hyperbolic_sine(l) : l;
  const jet2 C = kind == SPHERE ? cosine(l) : kind == HYPERBOLIC ? hyperbolic_cosine(l) : constant(1);
  const double sign = kind == SPHERE ? -1 : kind == HYPERBOLIC ? 1 : 0;
  const jet2 c = shifted(1, scaled(sign, square(times(S, sa))));
  const jet2 Y[2] = {ca, scaled(-R, times(times(S, C), sa))};
  const jet2 f = scaled(tips, inverse(shifted(p->apex, scaled(tips, c))));
  if (A) {
    A[0] = times(f, Y[0]);
    A[1] = times(f, Y[1]);
  }
  if (M) {
    if (!(c.v > 1e-14))
      return cb_fail(CB_STEP_SINGULAR,
                     "constant_curvature_swimmer: the tips are at the poles of the geodesic (l = %.6g, a = %.6g): "
                     "expected legs that stay away from them",
                     r[0].v, r[1].v);
    const jet2 D[2] = {times(C, sa), scaled(R, times(S, ca))};
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++)
        M[2 * i + j] = over(plus(scaled(tips, times(D[i], D[j])), scaled(p->apex, times(f, times(Y[i], Y[j])))), c);
  }
  return CB_OK;
}

/* Computes the inertia P = m_0 + W of the swimmer with a locked shape. */
static void locked(const void *given, const jet2 *r, jet2 *P) {
  const swimmer *p = given;
  const int kind = p->space / 2;
  const jet2 l = scaled(1 / p->radius, r[0]);
  const jet2 S = kind == SPHERE ? sine(l) : kind == HYPERBOLIC ? hyperbolic_sine(l) : l;
  const double tips = p->legs * p->tip, sign = kind == SPHERE ? -1 : kind == HYPERBOLIC ? 1 : 0;
  P[0] = shifted(p->apex + tips, scaled(tips * sign, square(times(S, sine(r[1])))));
}

CB_MODEL_FORM

const cb_bundle_class cb_bundle_constant_curvature_swimmer = {
    .name = "constant_curvature_swimmer",
    .title = "swimmer in a space of constant curvature",
    .doc = "masses on legs that spread and stretch symmetrically about a geodesic; the fibre is the distance along it",
    .params = params,
    .params_size = sizeof(swimmer),
    .resistance = CB_RESISTANCE_INERTIA,
    .form = form,
    CB_MODEL_FUNCTIONS,
};
