/* Springs as a part of the forces: by their plan in an embedding (springs.h), in a static chart by the derivatives of
 * its distance:
 *
 *   V = (k/2)(d - D)^2,   F = -(k (d - D) + c d') dd/dq,   d' = dd/dq . q'
 */
#include "dynamics/forces_private.h"

static cb_status add_by_distance(const cb_forces *f, const double *x, const double *v, double *force) {
  const cb_system *s = f->system;
  int k = s->k;
  for (int e = 0; e < s->n_springs; e++) {
    int i = k * s->spring_i[e], j = k * s->spring_j[e];
    double d, d_x[CB_PAIR_MAX];
    cb_status status = cb_pair_distance(s->space, x + i, x + j, &d, d_x, NULL);
    if (status) return status;
    double tension = s->stiffness[e] * (d - s->rest[e]);
    if (s->damped && s->damping[e] > 0)
      for (int a = 0; a < k; a++) tension += s->damping[e] * (d_x[a] * v[i + a] + d_x[k + a] * v[j + a]);
    for (int a = 0; a < k; a++) {
      force[i + a] += f->raise[a] * tension * d_x[a];
      force[j + a] += f->raise[a] * tension * d_x[k + a];
    }
  }
  return CB_OK;
}

cb_status cb_springs_part_create(cb_forces *f) {
  const cb_system *s = f->system;
  return s->springs ? cb_springs_work_create(s->springs, f->threads, &f->springs) : CB_OK;
}

void cb_springs_part_set(cb_forces *f, int stages, const double *const *x, const double *const *v,
                         double *const *force) {
  cb_springs_force(f->springs, stages, x, v, force);
}

cb_status cb_springs_part_add(cb_forces *f, const double *x, const double *v, double *force) {
  return add_by_distance(f, x, v, force);
}

cb_status cb_forces_separations(cb_forces *f, const double *x, double *d) {
  const cb_system *s = f->system;
  int k = s->k;
  cb_status status = CB_OK;
  if (f->springs)
    cb_springs_separation(f->springs, x, d);
  else
    for (int e = 0; e < s->n_springs && !status; e++)
      status = cb_pair_distance(s->space, x + k * s->spring_i[e], x + k * s->spring_j[e], &d[e], NULL, NULL);
  for (int r = 0; r < s->n_rods && !status; r++) {
    const int *ends = s->constraint[s->rod[r]].particle;
    status = cb_pair_distance(s->space, x + k * ends[0], x + k * ends[1], &d[s->n_springs + r], NULL, NULL);
  }
  return status;
}

cb_status cb_springs_part_potential(cb_forces *f, const double *x, double *potential) {
  const cb_system *s = f->system;
  if (f->springs) {
    *potential += cb_springs_potential(f->springs, x);
    return CB_OK;
  }
  int k = s->k;
  double sum = 0;
  for (int e = 0; e < s->n_springs; e++) {
    double d;
    cb_status status = cb_pair_distance(s->space, x + k * s->spring_i[e], x + k * s->spring_j[e], &d, NULL, NULL);
    if (status) return status;
    sum += 0.5 * s->stiffness[e] * (d - s->rest[e]) * (d - s->rest[e]);
  }
  *potential += sum;
  return CB_OK;
}

/* Adds the derivatives of the damping force -c d' I^-1 d_a, with d' = sum_b d_b v_b:
 *   in x: -c I^-1 (d_a sum_c d_bc v_c + d' d_ab),   in v: -c I^-1 d_a d_b. */
static cb_status add_damping(const cb_forces *f, int e, const double *x, const double *v, double *dx, double *dv) {
  const cb_system *s = f->system;
  int k = s->k, n = 2 * k, i = k * s->spring_i[e], j = k * s->spring_j[e];
  double d, d_x[CB_PAIR_MAX], d_xx[CB_PAIR_MAX * CB_PAIR_MAX], in_x[CB_PAIR_MAX * CB_PAIR_MAX], u[CB_PAIR_MAX],
      rate = 0;
  cb_status status = cb_pair_distance(s->space, x + i, x + j, &d, d_x, d_xx);
  if (status) return status;
  for (int a = 0; a < k; a++) u[a] = v[i + a], u[k + a] = v[j + a];
  for (int a = 0; a < n; a++) rate += d_x[a] * u[a];
  for (int b = 0; b < n; b++) {
    double d_xv = 0;
    for (int c = 0; c < n; c++) d_xv += d_xx[b * n + c] * u[c];
    for (int a = 0; a < n; a++) in_x[a * n + b] = s->damping[e] * (d_x[a] * d_xv + rate * d_xx[a * n + b]);
  }
  const int *block = f->spring_block + 4 * e;
  for (int q = 0; q < 4; q++) cb_forces_add_block(f, in_x, q / 2, q % 2, dx + block[q] * k * k);
  if (!dv) return CB_OK;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) in_x[a * n + b] = s->damping[e] * d_x[a] * d_x[b];
  for (int q = 0; q < 4; q++) cb_forces_add_block(f, in_x, q / 2, q % 2, dv + block[q] * k * k);
  return CB_OK;
}

cb_status cb_springs_part_jacobian(cb_forces *f, const double *x, const double *v, double *dx, double *dv) {
  const cb_system *s = f->system;
  if (s->springs) return cb_springs_jacobian(s->springs, &f->pattern, x, v, dx, dv);
  int k = s->k;
  for (int e = 0; e < s->n_springs; e++) {
    double u, hessian[CB_PAIR_MAX * CB_PAIR_MAX];
    cb_law law = {CB_LAW_HARMONIC, s->stiffness[e], s->rest[e], 0, NULL};
    cb_status status = cb_pair_law(s->space, &law, &(cb_law_pair){.scale = 1}, x + k * s->spring_i[e],
                                   x + k * s->spring_j[e], &u, NULL, hessian);
    if (status) return status;
    const int *block = f->spring_block + 4 * e;
    for (int q = 0; q < 4; q++) cb_forces_add_block(f, hessian, q / 2, q % 2, dx + block[q] * k * k);
    if (s->damping[e] > 0) status = add_damping(f, e, x, v, dx, dv);
    if (status) return status;
  }
  return CB_OK;
}
