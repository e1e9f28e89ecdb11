/* Laws of the distance: see law.h. */
#include "dynamics/law.h"
#include "geometry/chord.h"
#include <math.h>

const char *const cb_law_names_pair[6] = {"d", "t", "m1", "m2", "q1", "q2"};
const char *const cb_law_names_centre[4] = {"d", "t", "m", "q"};

static double scale_of(const cb_law *law, double mass, double charge) {
  switch (law->kind) {
    case CB_LAW_GRAVITY: return mass;
    case CB_LAW_COULOMB: return -charge;
    default: return 1;
  }
}

cb_law_pair cb_law_pair_of(const cb_law *law, double t, double m1, double m2, double q1, double q2) {
  return (cb_law_pair){scale_of(law, m1 * m2, q1 * q2), {0, t, m1, m2, q1, q2}};
}

cb_law_pair cb_law_pair_of_centre(const cb_law *law, double t, double m, double q) {
  return (cb_law_pair){scale_of(law, m, q), {0, t, m, q, 0, 0}};
}

static cb_law_value expression_at(const cb_law *law, const cb_law_pair *pair, double d) {
  double x[CB_LAW_VARIABLES];
  x[0] = d;
  for (int i = 1; i < CB_LAW_VARIABLES; i++) x[i] = pair->variable[i];
  cb_jet j = cb_expression_jet(law->expression, x, 1);
  return (cb_law_value){j.v, j.g[0], j.h[0]};
}

/* S(d)^-1 and C(d)/S(d), without overflow far out. */
static void inverse_sine(double k, double d, double *inverse, double *cotangent) {
  double r = sqrt(fabs(k));
  if (k > 0) {
    *inverse = r / sin(r * d);
    *cotangent = r / tan(r * d);
  } else if (k < 0) {
    *inverse = r / sinh(r * d);
    *cotangent = r / tanh(r * d);
  } else {
    *inverse = *cotangent = 1 / d;
  }
}

cb_law_value cb_law_at(const cb_law *law, const cb_law_pair *pair, double d) {
  double a = pair->scale * law->a;
  switch (law->kind) {
    case CB_LAW_HARMONIC: return (cb_law_value){0.5 * a * (d - law->b) * (d - law->b), a * (d - law->b), a};
    case CB_LAW_GRAVITY:
    case CB_LAW_COULOMB: {
      double inverse, cotangent;
      inverse_sine(law->curvature, d, &inverse, &cotangent);
      double du = a * inverse * inverse;
      return (cb_law_value){-a * cotangent, du, -2 * du * cotangent};
    }
    case CB_LAW_LENNARD_JONES: {
      double s = law->b / d, s6 = s * s * s * s * s * s;
      return (cb_law_value){4 * a * s6 * (s6 - 1), -24 * a * s6 * (2 * s6 - 1) / d,
                            24 * a * s6 * (26 * s6 - 7) / (d * d)};
    }
    case CB_LAW_EXPRESSION: return expression_at(law, pair, d);
  }
  return (cb_law_value){NAN, NAN, NAN};
}

cb_law_chord cb_law_at_chord(const cb_law *law, const cb_law_pair *pair, double k, double w) {
  double ss = w * (1 - 0.25 * k * w), c = 1 - 0.5 * k * w, s = sqrt(ss); /* S^2, C, S */
  if ((law->kind == CB_LAW_GRAVITY || law->kind == CB_LAW_COULOMB) && law->curvature == k) {
    double a = pair->scale * law->a, phi = a / ss / s;
    return (cb_law_chord){-a * (c / s), phi, -1.5 * phi / ss * c};
  }
  if (w == 0 && law->kind == CB_LAW_HARMONIC && law->b == 0) {
    /* (a/2) d^2 = (a/2) (w + K w^2/12 + ...): smooth where the points meet. */
    double a = pair->scale * law->a;
    return (cb_law_chord){0, a, a * k / 6};
  }
  cb_law_value v = cb_law_at(law, pair, cb_chord_distance(k, w));
  double phi = v.du / s;
  return (cb_law_chord){v.u, phi, 0.5 * (v.ddu - phi * c) / ss};
}
