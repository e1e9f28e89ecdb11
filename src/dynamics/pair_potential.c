/* Potentials of the distance between two points (equations in pair_potential.h). */
#include "dynamics/pair_potential.h"

#include "geometry/quadric.h"

#include <math.h>

const char *const cb_pair_potential_names_pair[6] = {"d", "t", "m1", "m2", "q1", "q2"};
const char *const cb_pair_potential_names_centre[4] = {"d", "t", "m", "q"};

static double scale_of(const cb_pair_potential *pair_potential, double mass, double charge) {
  switch (pair_potential->kind) {
    case CB_PAIR_POTENTIAL_GRAVITY: return mass;
    case CB_PAIR_POTENTIAL_COULOMB: return -charge;
    default: return 1;
  }
}

cb_pair_values cb_pair_values_of(const cb_pair_potential *pair_potential, double t, double m1, double m2, double q1,
                                 double q2) {
  return (cb_pair_values){scale_of(pair_potential, m1 * m2, q1 * q2), {0, t, m1, m2, q1, q2}};
}

cb_pair_values cb_pair_values_of_centre(const cb_pair_potential *pair_potential, double t, double m, double q) {
  return (cb_pair_values){scale_of(pair_potential, m, q), {0, t, m, q, 0, 0}};
}

static cb_pair_potential_value expression_at(const cb_pair_potential *pair_potential, const cb_pair_values *pair,
                                             double d) {
  double x[CB_PAIR_POTENTIAL_VARIABLES];
  x[0] = d;
  for (int i = 1; i < CB_PAIR_POTENTIAL_VARIABLES; i++) x[i] = pair->variable[i];
  cb_jet j = cb_expression_jet(pair_potential->expression, x, 1);
  return (cb_pair_potential_value){j.v, j.g[0], j.h[0]};
}

/* 1/S(d) and C(d)/S(d), without overflow at large d. */
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

cb_pair_potential_value cb_pair_potential_at(const cb_pair_potential *pair_potential, const cb_pair_values *pair,
                                             double d) {
  double a = pair->scale * pair_potential->a;
  switch (pair_potential->kind) {
    case CB_PAIR_POTENTIAL_HARMONIC:
      return (cb_pair_potential_value){0.5 * a * (d - pair_potential->b) * (d - pair_potential->b),
                                       a * (d - pair_potential->b), a};
    case CB_PAIR_POTENTIAL_GRAVITY:
    case CB_PAIR_POTENTIAL_COULOMB: {
      double inverse, cotangent;
      inverse_sine(pair_potential->curvature, d, &inverse, &cotangent);
      double du = a * inverse * inverse;
      return (cb_pair_potential_value){-a * cotangent, du, -2 * du * cotangent};
    }
    case CB_PAIR_POTENTIAL_LENNARD_JONES: {
      double s = pair_potential->b / d, s6 = s * s * s * s * s * s;
      return (cb_pair_potential_value){4 * a * s6 * (s6 - 1), -24 * a * s6 * (2 * s6 - 1) / d,
                                       24 * a * s6 * (26 * s6 - 7) / (d * d)};
    }
    case CB_PAIR_POTENTIAL_EXPRESSION: return expression_at(pair_potential, pair, d);
  }
  return (cb_pair_potential_value){NAN, NAN, NAN};
}

cb_pair_potential_chord cb_pair_potential_at_chord(const cb_pair_potential *pair_potential, const cb_pair_values *pair,
                                                   double k, double w) {
  double ss = w * (1 - 0.25 * k * w), c = 1 - 0.5 * k * w, s = sqrt(ss); /* S^2, C, S */
  if ((pair_potential->kind == CB_PAIR_POTENTIAL_GRAVITY || pair_potential->kind == CB_PAIR_POTENTIAL_COULOMB) &&
      pair_potential->curvature == k) {
    double a = pair->scale * pair_potential->a, phi = a / ss / s;
    return (cb_pair_potential_chord){-a * (c / s), phi, -1.5 * phi / ss * c};
  }
  if (w == 0 && pair_potential->kind == CB_PAIR_POTENTIAL_HARMONIC && pair_potential->b == 0) {
    /* (a/2) d^2 = (a/2) (w + K w^2/12 + ...) is smooth where the points coincide. */
    double a = pair->scale * pair_potential->a;
    return (cb_pair_potential_chord){0, a, a * k / 6};
  }
  cb_pair_potential_value v = cb_pair_potential_at(pair_potential, pair, cb_chord_distance(k, w));
  double phi = v.du / s;
  return (cb_pair_potential_chord){v.u, phi, 0.5 * (v.ddu - phi * c) / ss};
}

/* --- a pair potential as a function of two points --- */

/* The gradient and the Hessian in (x, y) of f(w), where f_x = phi I e, phi' = dphi and e = x - y. */
static void chord_derivatives(const cb_space *g, const double *e, double phi, double dphi, double *gradient,
                              double *hessian) {
  int k = g->k, n = 2 * k;
  if (gradient)
    for (int a = 0; a < k; a++) {
      gradient[a] = phi * (g->form[a] * e[a]);
      gradient[k + a] = -gradient[a];
    }
  if (!hessian) return;
  for (int a = 0; a < k; a++)
    for (int b = 0; b < k; b++) {
      double h = 2 * dphi * (g->form[a] * e[a]) * (g->form[b] * e[b]) + (a == b ? phi * g->form[a] : 0);
      hessian[a * n + b] = hessian[(k + a) * n + k + b] = h;
      hessian[a * n + k + b] = hessian[(k + a) * n + b] = -h;
    }
}

static cb_status apart(double d) {
  if (d > 0) return CB_OK;
  return cb_fail(CB_STEP_DOMAIN,
                 "the distance of two points has no derivatives at d = %g: expected points that neither coincide nor "
                 "are antipodal",
                 d);
}

cb_status cb_pair_distance(const cb_space *g, const double *x, const double *y, double *d, double *gradient,
                           double *hessian) {
  if (cb_pair_by_chord(g)) {
    double e[CB_COORD_MAX], curvature = g->factor[0].curvature, w = cb_pair_chord(g, x, y, e);
    double ss = w * (1 - 0.25 * curvature * w), s = sqrt(ss), phi = 1 / s;
    *d = cb_chord_distance(curvature, w);
    if (!(gradient || hessian)) return CB_OK;
    if (!(ss > 0)) return apart(s);
    chord_derivatives(g, e, phi, -0.5 * phi * (1 - 0.5 * curvature * w) / ss, gradient, hessian);
    return CB_OK;
  }
  cb_status status;
  if (g->chart) {
    status = g->chart->distance(g, x, y, d, gradient, hessian);
  } else if (gradient || hessian) {
    status = cb_distance_derivatives(g, x, y, d, gradient, hessian);
  } else {
    *d = cb_distance(g, x, y);
    status = CB_OK;
  }
  /* The distance may have no derivatives because the step was too long; a smaller step may succeed. */
  return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
}

cb_status cb_pair_potential_between(const cb_space *g, const cb_pair_potential *pair_potential,
                                    const cb_pair_values *pair, const double *x, const double *y, double *v,
                                    double *gradient, double *hessian) {
  if (cb_pair_by_chord(g)) {
    double e[CB_COORD_MAX], w = cb_pair_chord(g, x, y, e);
    cb_pair_potential_chord c = cb_pair_potential_at_chord(pair_potential, pair, g->factor[0].curvature, w);
    if (!isfinite(c.phi)) return apart(w > 0 ? NAN : w);
    *v = c.u;
    chord_derivatives(g, e, c.phi, c.dphi, gradient, hessian);
    return CB_OK;
  }
  int n = 2 * g->k;
  double d, dg[CB_PAIR_MAX], dh[CB_PAIR_MAX * CB_PAIR_MAX];
  cb_status status = cb_pair_distance(g, x, y, &d, gradient || hessian ? dg : NULL, hessian ? dh : NULL);
  if (status) return status;
  cb_pair_potential_value u = cb_pair_potential_at(pair_potential, pair, d);
  *v = u.u;
  if (gradient)
    for (int a = 0; a < n; a++) gradient[a] = u.du * dg[a];
  if (hessian)
    for (int a = 0; a < n; a++)
      for (int b = 0; b < n; b++) hessian[a * n + b] = u.ddu * dg[a] * dg[b] + u.du * dh[a * n + b];
  return CB_OK;
}
