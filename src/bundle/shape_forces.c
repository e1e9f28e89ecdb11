/* Forces on the shape variables of a bundle, laws of driven variables, and the potential (shape_motion.h). */
#include "bundle/gait_private.h"
#include "bundle/shape_motion.h"
#include "numerics/tableau.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ARGUMENTS = 1 + 2 * CB_SHAPE_MAX };

void cb_shape_force_at(const cb_shape_problem *p, double t, const double *r, const double *v, bool derivatives,
                       cb_shape_force *out) {
  const int n = p->bundle->n;
  double x[ARGUMENTS], d[ARGUMENTS];
  x[0] = t;
  memcpy(x + 1, r, (size_t)n * sizeof *r);
  memcpy(x + 1 + n, v, (size_t)n * sizeof *v);
  for (int i = 0; i < n; i++) {
    const cb_shape_variable *k = &p->variable[i];
    out->torque[i] = 0;
    if (derivatives) {
      memset(out->Q_r[i], 0, (size_t)n * sizeof **out->Q_r);
      memset(out->Q_v[i], 0, (size_t)n * sizeof **out->Q_v);
    }
    if (k->torque && derivatives) {
      out->torque[i] = cb_expression_gradient(k->torque, x, 1 + 2 * n, d);
      memcpy(out->Q_r[i], d + 1, (size_t)n * sizeof *d);
      memcpy(out->Q_v[i], d + 1 + n, (size_t)n * sizeof *d);
    } else if (k->torque) {
      out->torque[i] = cb_expression_value(k->torque, x);
    }
    out->Q[i] = out->torque[i] - k->stiffness * (r[i] - k->rest) - k->damping * v[i];
    if (derivatives) {
      out->Q_r[i][i] -= k->stiffness;
      out->Q_v[i][i] -= k->damping;
    }
  }
}

cb_status cb_shape_check_force(const cb_shape_problem *p, const cb_shape_force *force, const double *f) {
  for (int i = 0; i < p->bundle->n; i++) {
    if (!isfinite(force->torque[i]))
      return cb_fail(CB_STEP_NOT_FINITE, "the torque of %s is not finite", p->bundle->shape[i]);
    if (!isfinite(force->Q[i]) || (f && !isfinite(f[i])))
      return cb_fail(CB_STEP_NOT_FINITE, "the force on %s is not finite: expected a finite potential and spring",
                     p->bundle->shape[i]);
  }
  return CB_OK;
}

bool cb_shape_is_driven(const cb_shape_problem *p) {
  for (int i = 0; i < p->bundle->n; i++)
    if (p->variable[i].driven) return true;
  return false;
}

double cb_shape_break(const cb_shape_problem *p, double t, double *next) {
  const double *at, cycles = t / p->period, phase = cycles - floor(cycles);
  const double slack = 1e-12 + 4 * DBL_EPSILON * fabs(cycles);
  double here = NAN;
  *next = INFINITY;
  if (!p->gait) return here;
  const int breaks = cb_gait_breaks(p->gait, &at);
  for (int k = 0; k < breaks; k++)
    for (int cycle = 0; cycle < 2; cycle++) {
      const double ahead = at[k] + cycle - phase;
      if (fabs(ahead) <= slack) here = floor(cycles) + cycle + at[k];
      if (ahead > slack) *next = fmin(*next, ahead * p->period);
    }
  return here;
}

double cb_shape_to_break(const cb_shape_problem *p, double t, double h) {
  double next;
  cb_shape_break(p, t, &next);
  return next < h * (1 - 1e-9) ? next : h;
}

/* Computes the gait after t/period cycles. At a break the rate may have two values, one for each side, and the gait
 * itself does not say which one it gives. The rate at a break is therefore extrapolated from the required side, by a
 * parabola whose error is below round-off. If the end of the gait differs from its start, r grows by this difference in
 * each cycle. */
static void follow_gait(const cb_shape_problem *p, double t, bool before, double *r, double *rate) {
  static const double weight[3] = {3, -3, 1}, near = 1e-6;
  const int n = p->bundle->n;
  double next, there[CB_SHAPE_MAX], gap[CB_SHAPE_MAX], cycles = t / p->period;
  const double at = cb_shape_break(p, t, &next);
  if (!isnan(at)) cycles = at;
  cb_gait_at(p->gait, cycles - floor(cycles), r, rate);
  for (int i = 0; !isnan(at) && i < n; i++) rate[i] = 0;
  for (int k = 0; !isnan(at) && k < 3; k++) {
    const double beside = at + (before ? -near : near) * (k + 1);
    cb_gait_at(p->gait, beside - floor(beside), NULL, there);
    for (int i = 0; i < n; i++) rate[i] += weight[k] * there[i];
  }
  if (p->gait->open) cb_gait_gap(p->gait, gap);
  for (int i = 0; i < n; i++) {
    if (p->gait->open) r[i] += floor(cycles) * gap[i];
    rate[i] /= p->period;
  }
}

void cb_shape_drive(const cb_shape_problem *p, double t, bool before, double *r, double *rate) {
  double at[CB_SHAPE_MAX], speed[CB_SHAPE_MAX];
  if (p->gait) follow_gait(p, t, before, at, speed);
  for (int i = 0; i < p->bundle->n; i++) {
    const cb_shape_variable *k = &p->variable[i];
    if (!k->driven) continue;
    double slope = k->drive ? 0 : speed[i];
    r[i] = k->drive ? cb_expression_gradient(k->drive, &t, 1, &slope) : at[i];
    if (rate) rate[i] = slope;
  }
}

/* Computes out[a][i] = d/de of the number i of g exp(e e_a) at e = 0, for each axis e_a of the algebra, by central
 * differences of order 8. The numbers are polynomials or trigonometric functions of e. With the step .01 the
 * differences therefore have only an error of round-off. */
static void slopes_of_numbers(const cb_group *G, const double *g, double out[CB_GROUP_DIM][CB_GROUP_SIZE]) {
  static const double h = .01;
  for (int a = 0; a < G->dim; a++) {
    memset(out[a], 0, sizeof out[a]);
    for (int k = -4; k <= 4; k++) {
      double step[CB_GROUP_DIM] = {0}, moved[CB_GROUP_SIZE];
      if (!k) continue;
      step[a] = k * h;
      G->exp(G, step, moved);
      G->multiply(G, g, moved, moved);
      for (int i = 0; i < G->size; i++)
        out[a][i] += (k > 0 ? 1 : -1) * cb_central_weight[(k > 0 ? k : -k) - 1] * moved[i] / h;
    }
  }
}

double cb_shape_potential(const cb_shape_problem *p, const double *g, const double *r, double *F, double *f) {
  const cb_group *G = p->bundle->group;
  const int n = p->bundle->n, size = G->size;
  double x[CB_GROUP_SIZE + CB_SHAPE_MAX], d[CB_GROUP_SIZE + CB_SHAPE_MAX], slope[CB_GROUP_DIM][CB_GROUP_SIZE];
  bool depends = false;
  if (f) memset(f, 0, (size_t)n * sizeof *f);
  if (F) memset(F, 0, (size_t)G->dim * sizeof *F);
  if (!p->potential) return 0;
  memcpy(x, g, (size_t)size * sizeof *x);
  memcpy(x + size, r, (size_t)n * sizeof *x);
  const double V = cb_expression_gradient(p->potential, x, size + n, d);
  for (int i = 0; i < size; i++) depends |= d[i] != 0;
  for (int i = 0; f && i < n; i++) f[i] = -d[size + i];
  if (!F || !depends) return V;
  slopes_of_numbers(G, g, slope);
  for (int a = 0; a < G->dim; a++)
    for (int i = 0; i < size; i++) F[a] -= d[i] * slope[a][i];
  return V;
}

double cb_shape_energy(const cb_shape_problem *p, const cb_shape_state *s, const double *u) {
  const int n = p->bundle->n, dim = p->bundle->group->dim;
  double E = cb_shape_potential(p, s->g, s->r, NULL, NULL);
  for (int i = 0; i < n; i++) {
    const double stretch = s->r[i] - p->variable[i].rest;
    E += p->variable[i].stiffness * stretch * stretch / 2 + s->p[i] * u[dim + i] / 2;
  }
  for (int a = 0; a < dim; a++) E += s->mu[a] * u[a] / 2;
  return E;
}
