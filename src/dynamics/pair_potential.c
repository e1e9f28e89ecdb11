/* Potentials of the distance between two points (equations in pair_potential_private.h), and a test whether one of two
 * points of a sphere passes the antipode of the other. When their distance d reaches pi/sqrt(curvature), the shortest
 * geodesic between them changes to the opposite direction. The force between them then jumps too if it comes from a
 * spring, or from a potential of d whose slope at the antipode is neither 0 nor infinite.
 *
 * Let e = x + y, with the parts of two points x and y in a factor of positive curvature, and let e' be its derivative
 * by time. e is 0 if x and y are antipodal. The time s since |e| had its minimum, and the square of this minimum, are
 *   s = <e, e'>/<e', e'>,   |e|^2 - s^2 |e'|^2.
 * Let h be the length of the last step in time. If two points passed within this step, and the minimum of |e| is below
 * |e'| h, the force jumped within the step, which reduces the order of the integrator. If they pass within the next
 * step (h < 0), a stage may fall where the force does not exist.
 */
#include "dynamics/pair_potential_private.h"

#include "core/registry.h"
#include "dynamics/system_facts.h"
#include "dynamics/system_private.h"
#include "geometry/quadric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- potentials --- */

const char *const cb_pair_names[CB_PAIR_VARIABLES] = {"d", "t", "m1", "m2", "q1", "q2"};
const char *const cb_pair_centre_names[CB_PAIR_VARIABLES] = {"d", "t", "m", "", "q", ""};

const cb_pair_potential_class *cb_pair_potential_find(const char *name) {
  return cb_pair_potential_classes[cb_registry_find(&cb_pair_potential_registry, name, strlen(name))];
}

bool cb_pair_potential_is_timed(const cb_pair_potential *pair_potential) {
  const cb_expression *e = pair_potential->expression;
  return pair_potential->class_->uses_time || (e && (cb_expression_uses(e, 1) || cb_expression_uses_control(e)));
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

/* Computes the potential U and its derivatives by jets, from its expression or from the function of its class. */
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
  double ss = w * (1 - 0.25 * k * w), c = 1 - 0.5 * k * w, s = sqrt(ss); /* S(d)^2, C(d) and S(d) */
  if (pair_potential->class_->green && pair_potential->curvature == k) {
    double a = pair->factor * pair_potential->green, phi = a / ss / s;
    return (cb_pair_potential_chord){-a * (c / s), phi, -1.5 * phi / ss * c};
  }
  cb_pair_value v = cb_pair_potential_at(pair_potential, pair, cb_chord_distance(k, w));
  /* If the points coincide and U'(0) = 0, U is near there U(0) + (a/2) d^2 = U(0) + (a/2) (w + k w^2/12 + ...) with
   * a = U''(0), which is smooth in w. */
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

/* --- antipodes --- */

enum { K = CB_COORD_MAX };

/* A pair of points is examined only if the cosine of their distance, in radii, is below this number. Other pairs are
 * not near antipodal. */
static const double looked_at = -0.9;
/* Relative tolerance of comparisons. A force does not change direction if the slope of its potential at the antipode,
 * relative to the scale of the potential, is at most this. */
static const double level = 1e-9;

static bool is_sphere(const cb_space *g) {
  for (int f = 0; f < g->n_factors && !g->intrinsic; f++)
    if (g->factor[f].curvature > 0) return true;
  return false;
}

static bool has_slope(const cb_pair_potential *pair_potential) { return !pair_potential->class_->green; }

bool cb_antipodes_matter(const cb_system *s) {
  bool any = s->n_springs > 0 || s->potentials.n > 0;
  for (int i = 0; i < s->n_interactions; i++) any = any || has_slope(&s->interaction[i].pair_potential);
  for (int i = 0; i < s->n_centrals; i++) any = any || has_slope(&s->central[i].pair_potential);
  return any && is_sphere(s->space);
}

/* A point with its velocity, in the embedding. */
typedef struct mover {
  double x[K], v[K];
} mover;

static cb_status mover_at(const cb_system *s, const cb_state *state, int i, mover *out) {
  const cb_space *g = s->space;
  const double *x = state->x + (size_t)i * (size_t)s->k, *p = state->p + (size_t)i * (size_t)s->k;
  double v[CB_Q_MAX], jacobian[K * K];
  cb_status status = cb_space_raise(g, x, p, v);
  for (int a = 0; a < s->k; a++) v[a] /= s->mass[i];
  if (status || !g->chart) {
    memcpy(out->x, x, (size_t)s->k * sizeof *x);
    memcpy(out->v, v, (size_t)s->k * sizeof *v);
    return status;
  }
  status = g->chart->to_point(g, x, out->x, jacobian);
  for (int a = 0; a < g->embedding; a++) {
    out->v[a] = 0;
    for (int b = 0; b < s->k; b++) out->v[a] += jacobian[a * s->k + b] * v[b];
  }
  return status;
}

/* Returns K <x, y> in the factor f of curvature K: the cosine of the distance in radii. */
static double cosine(const cb_factor *f, const double *x, const double *y) {
  double sum = 0;
  for (int a = f->offset; a < f->offset + f->count; a++) sum += x[a] * y[a];
  return f->curvature * sum;
}

static bool is_far(const cb_space *g, const double *x, const double *y) {
  bool far = false;
  for (int f = 0; f < g->n_factors; f++)
    far = far || (g->factor[f].curvature > 0 && cosine(&g->factor[f], x, y) < looked_at);
  return far;
}

static bool has_passed(const cb_space *g, const mover *x, const mover *y, double h) {
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor *factor = &g->factor[f];
    if (!(factor->curvature > 0) || cosine(factor, x->x, y->x) >= looked_at) continue;
    double square = 0, along = 0, speed = 0;
    for (int a = factor->offset; a < factor->offset + factor->count; a++) {
      const double e = x->x[a] + y->x[a], rate = x->v[a] + y->v[a];
      square += e * e;
      along += e * rate;
      speed += rate * rate;
    }
    const double ago = along / speed, part = ago / h;
    if (part > 0 && part <= 1 + level && square - ago * along <= speed * h * h) return true;
  }
  return false;
}

static bool turns_round(const cb_pair_potential *pair_potential, const cb_pair_values *pair, const cb_space *g,
                        const double *x, const double *y) {
  double d = 0;
  /* in a space of one factor, d is the distance of two antipodes; in a product, d is the distance of x and y */
  for (int f = 0; f < g->n_factors; f++)
    if (g->n_factors == 1 && g->factor[f].curvature > 0) d = 4 * atan(1) / sqrt(g->factor[f].curvature);
  if (d == 0 && cb_pair_distance(g, x, y, &d, NULL, NULL)) return true;
  const cb_pair_value u = cb_pair_potential_at(pair_potential, pair, d);
  return !(fabs(u.du) <= level * (fabs(u.u) + fabs(u.ddu) * d));
}

static cb_status fail(const cb_system *s, int i, int j, double h, int *place) {
  *place = i;
  return cb_fail(CB_STEP_DOMAIN,
                 "`%s` %s the antipode of %s%s%s at a distance of less than one step: the force between antipodal "
                 "points has no direction, and no step size resolves a passage through that point; start the bodies so "
                 "that they do not become antipodal",
                 s->name[s->particle[i]], h > 0 ? "has passed" : "will pass", j < 0 ? "a centre" : "`",
                 j < 0 ? "" : s->name[s->particle[j]], j < 0 ? "" : "`");
}

static cb_status check_pair(const cb_system *s, const cb_state *state, double h, int i, int j,
                            const cb_pair_potential *pair_potential, double t, int *place) {
  const size_t k = (size_t)s->k;
  mover x, y;
  if (!s->space->chart && !is_far(s->space, state->x + (size_t)i * k, state->x + (size_t)j * k)) return CB_OK;
  cb_status status = mover_at(s, state, i, &x);
  if (!status) status = mover_at(s, state, j, &y);
  if (status || !has_passed(s->space, &x, &y, h)) return status > 0 ? CB_OK : status;
  if (!pair_potential) return fail(s, i, j, h, place);
  const cb_pair_values pair = cb_pair_values_of(pair_potential, t, s->mass[i], s->mass[j], s->charge[i], s->charge[j]);
  return turns_round(pair_potential, &pair, s->space, state->x + (size_t)i * k, state->x + (size_t)j * k)
             ? fail(s, i, j, h, place)
             : CB_OK;
}

static cb_status check_interaction(const cb_system *s, const cb_interaction *q, const cb_state *state, double h,
                                   int *place) {
  cb_status status = CB_OK;
  if (!has_slope(&q->pair_potential)) return CB_OK;
  for (int i = 0; i < q->a.n; i++)
    for (int j = q->same ? i + 1 : 0; j < q->b.n && !status; j++)
      if (q->a.particle[i] != q->b.particle[j])
        status = check_pair(s, state, h, q->a.particle[i], q->b.particle[j], &q->pair_potential, state->t, place);
  return status;
}

static cb_status check_central(const cb_system *s, const cb_central *c, const cb_state *state, double h, int *place) {
  const cb_space *g = s->space;
  mover x, y = {{0}, {0}};
  cb_status status = CB_OK;
  if (!has_slope(&c->pair_potential) || cb_origin_moves(g)) return CB_OK;
  memcpy(y.x, c->centre.x, (size_t)s->k * sizeof *y.x);
  if (g->chart) status = g->chart->to_point(g, c->centre.x, y.x, NULL);
  for (int i = 0; i < c->group.n && !status; i++) {
    const int at = c->group.particle[i];
    status = mover_at(s, state, at, &x);
    if (status || !has_passed(g, &x, &y, h)) continue;
    const cb_pair_values pair = cb_pair_values_of_centre(&c->pair_potential, state->t, s->mass[at], s->charge[at]);
    if (turns_round(&c->pair_potential, &pair, g, state->x + (size_t)at * (size_t)s->k, c->centre.x))
      status = fail(s, at, -1, h, place);
  }
  return status;
}

/* Does what cb_antipodes_check does for a row that is used as a potential. The value of a row depends on the distances
 * or directions from each point of an element to the next one, so these pairs of points are examined. */
static cb_status check_potential(const cb_system *s, const cb_constraint *row, const cb_state *state, double h,
                                 int *place) {
  cb_status status = CB_OK;
  for (int e = 0; e < row->elements && !row->class->per_world; e++)
    for (int p = 1; p < row->width && !status; p++) {
      const int *particle = row->particle + e * row->width + p;
      status = check_pair(s, state, h, particle[-1], particle[0], NULL, state->t, place);
    }
  return status;
}

cb_status cb_antipodes_check(const cb_system *s, const cb_state *state, double h, int *place) {
  const double pi = 4 * atan(1);
  cb_status status = CB_OK;
  for (int b = 0; b < s->n_springs && !status; b++) {
    bool rests = false; /* a spring whose rest length is half a great circle has no force between antipodes */
    for (int f = 0; f < s->space->n_factors; f++)
      rests =
          rests || (s->space->n_factors == 1 && fabs(s->rest[b] * sqrt(s->space->factor[f].curvature) - pi) < level);
    if (!rests) status = check_pair(s, state, h, s->spring_i[b], s->spring_j[b], NULL, state->t, place);
  }
  for (int i = 0; i < s->n_interactions && !status; i++)
    status = check_interaction(s, &s->interaction[i], state, h, place);
  for (int i = 0; i < s->n_centrals && !status; i++) status = check_central(s, &s->central[i], state, h, place);
  for (int r = 0; r < s->potentials.n && !status; r++)
    status = check_potential(s, &s->potentials.row[r], state, h, place);
  return status;
}

cb_status cb_antipodes_explain(const cb_system *s, const cb_state *state, double h, cb_status failed, int *place) {
  char cause[1024];
  snprintf(cause, sizeof cause, "%s", cb_error_text());
  const cb_status status = failed > 0 ? cb_antipodes_check(s, state, -2 * fabs(h), place) : CB_OK;
  return status ? status : cb_fail(failed, "%s", cause);
}

bool cb_antipodes_near(const cb_system *s, const cb_state *state) {
  const cb_space *g = s->space;
  const size_t k = (size_t)s->k;
  for (int b = 0; b < s->n_springs && !g->chart; b++)
    for (int f = 0; f < g->n_factors; f++)
      if (g->factor[f].curvature > 0 && cosine(&g->factor[f], state->x + (size_t)s->spring_i[b] * k,
                                               state->x + (size_t)s->spring_j[b] * k) < cb_antipodes_cosine)
        return true;
  return false;
}
