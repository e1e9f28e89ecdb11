/* Potentials of the distance between two points (equations in pair_potential.h). */
#include "dynamics/pair_potential_private.h"

#include "core/registry.h"
#include "geometry/quadric.h"

#include <math.h>
#include <string.h>

const char *const cb_pair_names[CB_PAIR_VARIABLES] = {"d", "t", "m1", "m2", "q1", "q2"};
const char *const cb_pair_centre_names[CB_PAIR_VARIABLES] = {"d", "t", "m", "", "q", ""};

const cb_pair_potential_class *cb_pair_potential_find(const char *name) {
  return cb_pair_potential_classes[cb_registry_find(&cb_pair_potential_registry, name, strlen(name))];
}

bool cb_pair_potential_is_timed(const cb_pair_potential *pair_potential) {
  const cb_expression *e = pair_potential->expression;
  return pair_potential->class_->uses_time || (e && cb_expression_uses(e, 1));
}

static double factor_of(const cb_pair_potential *pair_potential, const cb_pair *pair) {
  switch (pair_potential->class_->factor) {
    case CB_PAIR_FACTOR_MASS: return pair->m1 * pair->m2;
    case CB_PAIR_FACTOR_CHARGE: return pair->q1 * pair->q2;
    case CB_PAIR_FACTOR_ONE: break;
  }
  return 1;
}

cb_pair_values cb_pair_values_of(const cb_pair_potential *pair_potential, double t, double m1, double m2, double q1,
                                 double q2) {
  const cb_pair pair = {t, m1, m2, q1, q2, pair_potential->curvature};
  return (cb_pair_values){pair, factor_of(pair_potential, &pair)};
}

cb_pair_values cb_pair_values_of_centre(const cb_pair_potential *pair_potential, double t, double m, double q) {
  return cb_pair_values_of(pair_potential, t, m, 1, q, 1);
}

/* Computes 1/S(d) and C(d)/S(d), without overflow at large d. S and C are those of pair_potential.h for the curvature
 * k. */
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

static cb_pair_value green_at(double a, double k, double d) {
  double inverse, cotangent;
  inverse_sine(k, d, &inverse, &cotangent);
  const double du = a * inverse * inverse;
  return (cb_pair_value){-a * cotangent, du, -2 * du * cotangent};
}

static cb_pair_value from_jet(const cb_jet *j) { return (cb_pair_value){j->v, j->g[0], j->h[0]}; }

/* Computes U by jets: from the expression, or from the class. */
static __attribute__((noinline)) cb_pair_value by_jets(const cb_pair_potential *pair_potential, const cb_pair *pair,
                                                       double d) {
  if (pair_potential->expression) {
    const double x[CB_PAIR_VARIABLES] = {d, pair->t, pair->m1, pair->m2, pair->q1, pair->q2};
    const cb_jet j = cb_expression_jet(pair_potential->expression, x, 1);
    return from_jet(&j);
  }
  const cb_jet at = cb_jet_variable(1, 0, d), j = pair_potential->class_->potential(pair_potential->params, pair, &at);
  return from_jet(&j);
}

cb_pair_value cb_pair_potential_at(const cb_pair_potential *pair_potential, const cb_pair_values *pair, double d) {
  const cb_pair_potential_class *c = pair_potential->class_;
  const double f = pair->factor;
  if (c->green) return green_at(f * pair_potential->green, pair_potential->curvature, d);
  const bool closed = c->closed && !pair_potential->expression;
  const cb_pair_value v =
      closed ? c->closed(pair_potential->params, &pair->pair, d) : by_jets(pair_potential, &pair->pair, d);
  return (cb_pair_value){f * v.u, f * v.du, f * v.ddu};
}

cb_pair_potential_chord cb_pair_potential_at_chord(const cb_pair_potential *pair_potential, const cb_pair_values *pair,
                                                   double k, double w) {
  double ss = w * (1 - 0.25 * k * w), c = 1 - 0.5 * k * w, s = sqrt(ss); /* S^2, C, S */
  if (pair_potential->class_->green && pair_potential->curvature == k) {
    double a = pair->factor * pair_potential->green, phi = a / ss / s;
    return (cb_pair_potential_chord){-a * (c / s), phi, -1.5 * phi / ss * c};
  }
  cb_pair_value v = cb_pair_potential_at(pair_potential, pair, cb_chord_distance(k, w));
  /* with a = U''(0): (a/2) d^2 = (a/2) (w + k w^2/12 + ...) is smooth where the points coincide */
  if (w == 0 && v.du == 0) return (cb_pair_potential_chord){v.u, v.ddu, v.ddu * k / 6};
  double phi = v.du / s;
  return (cb_pair_potential_chord){v.u, phi, 0.5 * (v.ddu - phi * c) / ss};
}

/* --- a pair potential as a function of two points --- */

/* Computes the gradient and the Hessian in (x, y) of f(w), where w is the squared chord, f_x = phi I e, I = diag(form),
 * e = x - y and dphi = dphi/dw. */
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
  cb_pair_value u = cb_pair_potential_at(pair_potential, pair, d);
  *v = u.u;
  if (gradient)
    for (int a = 0; a < n; a++) gradient[a] = u.du * dg[a];
  if (hessian)
    for (int a = 0; a < n; a++)
      for (int b = 0; b < n; b++) hessian[a * n + b] = u.ddu * dg[a] * dg[b] + u.du * dh[a * n + b];
  return CB_OK;
}
