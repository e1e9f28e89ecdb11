/* Springs between particles, as a part of the forces:
 *
 *   V = (k/2)(d - D)^2,   F = -(k (d - D) + c d') dd/dq,   d' = dd/dq . q'
 *   dF/dq = -(k dd dd + (k (d - D) + c d') d^2d + c dd (d^2d . q')),   dF/dq' = -c dd dd
 * for a spring of stiffness k, rest length D and damping c whose ends, with the coordinates q, have the distance d. dd
 * and d^2d are the first and second derivatives of d. In an embedding a plan computes the springs with constant numbers
 * (springs.h). Springs in a space with a chart, and driven springs, whose numbers are functions of t, follow from the
 * derivatives of the distance. A driven spring is in the plan, too, with the numbers 0, so that the plan computes its
 * length.
 */
#include "dynamics/forces_private.h"

#include <math.h>

/* A spring, with its numbers at one time. */
typedef struct spring {
  int i, j; /* indices of the first coordinates of its two ends */
  double stiffness, rest, damping;
} spring;

static spring spring_of(const cb_system *s, int e) {
  return (spring){s->k * s->spring_i[e], s->k * s->spring_j[e], s->stiffness[e], s->rest[e], s->damping[e]};
}

static cb_status driven_at(const cb_system *s, const cb_driven_spring *driven, double t, spring *out) {
  static const char *const what[] = {"stiffness", "rest", "damping"};
  double value[3];
  for (int a = 0; a < 3; a++) {
    value[a] = driven->expression[a] ? cb_expression_value(driven->expression[a], &t) : driven->start[a];
    if (!isfinite(value[a]))
      return cb_fail(CB_STEP_DOMAIN, "the spring between `%s` and `%s`: `%s` is %g at t = %g: expected a finite number",
                     s->name[s->particle[s->spring_i[driven->spring]]],
                     s->name[s->particle[s->spring_j[driven->spring]]], what[a], value[a], t);
  }
  *out = spring_of(s, driven->spring);
  out->stiffness = value[0];
  out->rest = value[1];
  out->damping = value[2];
  return CB_OK;
}

static cb_status add_force(const cb_forces *f, const spring *s, const double *x, const double *v, double *force) {
  const int k = f->system->k, i = s->i, j = s->j;
  double d, d_x[CB_PAIR_MAX];
  cb_status status = cb_pair_distance(f->system->space, x + i, x + j, &d, d_x, NULL);
  if (status) return status;
  double tension = s->stiffness * (d - s->rest);
  if (s->damping != 0)
    for (int a = 0; a < k; a++) tension += s->damping * (d_x[a] * v[i + a] + d_x[k + a] * v[j + a]);
  for (int a = 0; a < k; a++) {
    force[i + a] += f->raise[a] * tension * d_x[a];
    force[j + a] += f->raise[a] * tension * d_x[k + a];
  }
  return CB_OK;
}

cb_status cb_forces_springs_add(cb_forces *f, double t, const double *x, const double *v, double *force) {
  const cb_system *s = f->system;
  cb_status status = CB_OK;
  spring at;
  for (int e = 0; !f->springs && e < s->n_springs && !status; e++) {
    at = spring_of(s, e);
    status = add_force(f, &at, x, v, force);
  }
  for (int q = 0; q < s->n_driven && !status; q++) {
    status = driven_at(s, &s->driven[q], t, &at);
    if (!status) status = add_force(f, &at, x, v, force);
  }
  return status;
}

static cb_status add_energy(const cb_system *s, const spring *at, const double *x, double *sum) {
  double d;
  const cb_status status = cb_pair_distance(s->space, x + at->i, x + at->j, &d, NULL, NULL);
  if (!status) *sum += 0.5 * at->stiffness * (d - at->rest) * (d - at->rest);
  return status;
}

cb_status cb_forces_springs_potential(cb_forces *f, double t, const double *x, double *potential) {
  const cb_system *s = f->system;
  cb_status status = CB_OK;
  spring at;
  double sum = f->springs ? cb_springs_potential(f->springs, x) : 0;
  for (int e = 0; !f->springs && e < s->n_springs && !status; e++) {
    at = spring_of(s, e);
    status = add_energy(s, &at, x, &sum);
  }
  for (int q = 0; q < s->n_driven && !status; q++) {
    status = driven_at(s, &s->driven[q], t, &at);
    if (!status) status = add_energy(s, &at, x, &sum);
  }
  if (!status) *potential += sum;
  return status;
}

/* Adds -I^-1 hessian to the four blocks of a spring, whose numbers in the pattern are block[4] (cb_forces_add_block).
 */
static void add_blocks(const cb_forces *f, const double *hessian, const int *block, double *out) {
  const int k = f->system->k;
  for (int q = 0; q < 4; q++) cb_forces_add_block(f, hessian, q / 2, q % 2, out + block[q] * k * k);
}

/* Adds the derivatives of the force of spring number e to dx and dv (may be NULL). */
static cb_status add_derivatives(const cb_forces *f, int e, const spring *s, const double *x, const double *v,
                                 double *dx, double *dv) {
  const int k = f->system->k, n = 2 * k, *block = f->spring_block + 4 * e;
  double d, d_x[CB_PAIR_MAX], d_xx[CB_PAIR_MAX * CB_PAIR_MAX], in_x[CB_PAIR_MAX * CB_PAIR_MAX], u[CB_PAIR_MAX],
      rate = 0;
  cb_status status = cb_pair_distance(f->system->space, x + s->i, x + s->j, &d, d_x, d_xx);
  if (status) return status;
  const double tension = s->stiffness * (d - s->rest);
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) in_x[a * n + b] = s->stiffness * d_x[a] * d_x[b] + tension * d_xx[a * n + b];
  add_blocks(f, in_x, block, dx);
  if (s->damping == 0) return CB_OK;
  for (int a = 0; a < k; a++) {
    u[a] = v[s->i + a];
    u[k + a] = v[s->j + a];
  }
  for (int a = 0; a < n; a++) rate += d_x[a] * u[a];
  for (int b = 0; b < n; b++) {
    double d_xv = 0;
    for (int c = 0; c < n; c++) d_xv += d_xx[b * n + c] * u[c];
    for (int a = 0; a < n; a++) in_x[a * n + b] = s->damping * (d_x[a] * d_xv + rate * d_xx[a * n + b]);
  }
  add_blocks(f, in_x, block, dx);
  if (!dv) return CB_OK;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) in_x[a * n + b] = s->damping * d_x[a] * d_x[b];
  add_blocks(f, in_x, block, dv);
  return CB_OK;
}

cb_status cb_forces_springs_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv) {
  const cb_system *s = f->system;
  spring at;
  cb_status status = s->springs ? cb_springs_jacobian(s->springs, &f->pattern, x, v, dx, dv) : CB_OK;
  for (int e = 0; !s->springs && e < s->n_springs && !status; e++) {
    at = spring_of(s, e);
    status = add_derivatives(f, e, &at, x, v, dx, dv);
  }
  for (int q = 0; q < s->n_driven && !status; q++) {
    status = driven_at(s, &s->driven[q], t, &at);
    if (!status) status = add_derivatives(f, s->driven[q].spring, &at, x, v, dx, dv);
  }
  return status;
}
