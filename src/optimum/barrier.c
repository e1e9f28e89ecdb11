/* The logarithmic barrier of a search and its primal-dual Hessian (shape_constraint.h). */
#include "core/arena.h"
#include "optimum/shape_constraint.h"

#include <math.h>
#include <string.h>

static const double keep = .005;       /* the share of the distance to a constraint that must remain after a step */
static const double dual_range = 1e10; /* the multipliers z stay within this factor of tau/s (shape_constraint.h) */

cb_status cb_barrier_create(const cb_optimum_problem *o, const cb_basis *basis, cb_barrier **out) {
  cb_shape_constraints *constraints;
  *out = NULL;
  cb_status status = cb_shape_constraints_create(o, &constraints);
  if (status || !constraints) return status;
  cb_arena *arena = cb_arena_create();
  cb_barrier *b = cb_arena_alloc(arena, 1, sizeof *b);
  const size_t n = (size_t)constraints->n, each = (size_t)basis->nodes * (size_t)constraints->count;
  if (b) {
    *b = (cb_barrier){.constraints = constraints, .basis = basis, .n = constraints->n, .arena = arena};
    b->ds = cb_arena_alloc(arena, each * n, sizeof *b->ds);
    b->dds = cb_arena_alloc(arena, each * n * n, sizeof *b->dds);
    cb_arena_doubles(arena, each, &b->s, &b->z, &b->trial);
  }
  if (cb_arena_lost(arena)) {
    status = cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", constraints->count);
    cb_arena_free(arena);
    cb_shape_constraints_free(constraints);
    return status;
  }
  *out = b;
  return CB_OK;
}

void cb_barrier_free(cb_barrier *b) {
  if (!b) return;
  cb_shape_constraints_free(b->constraints);
  cb_arena_free(b->arena);
}

cb_status cb_barrier_at(cb_barrier *b, const double *r, bool slopes) {
  const int n = b->n, count = b->constraints->count;
  b->value = 0;
  for (int q = 0; q < b->basis->nodes; q++) {
    double *s = (slopes ? b->s : b->trial) + q * count;
    const cb_status status =
        cb_shape_constraints_at(b->constraints, b->soft, r + q * n, s, slopes ? b->ds + q * count * n : NULL,
                                slopes ? b->dds + q * count * n * n : NULL);
    if (status) return status;
    for (int k = 0; k < count; k++) b->value -= s[k] > 0 ? b->tau * b->basis->weight[q] * log(s[k]) : -INFINITY;
  }
  return CB_OK;
}

void cb_barrier_begin(cb_barrier *b, bool afresh) {
  for (int e = 0; e < b->basis->nodes * b->constraints->count; e++) {
    const double z = b->tau / b->s[e];
    b->z[e] = afresh ? z : fmin(fmax(b->z[e], z / dual_range), z * dual_range);
  }
}

void cb_barrier_gradient(const cb_barrier *b, double *g) {
  const int n = b->n, count = b->constraints->count, f = b->basis->functions;
  for (int q = 0; q < b->basis->nodes; q++)
    for (int i = 0; i < n; i++) {
      double force = 0;
      for (int k = q * count; k < (q + 1) * count; k++) force -= b->tau / b->s[k] * b->ds[k * n + i];
      for (int a = 0; a < f; a++) g[i * f + a] += b->basis->weight[q] * force * b->basis->phi[q * f + a];
    }
}

void cb_barrier_hessian(const cb_barrier *b, int columns, double *H) {
  const int n = b->n, count = b->constraints->count, f = b->basis->functions;
  for (int q = 0; q < b->basis->nodes; q++) {
    const double *phi = b->basis->phi + q * f;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double curvature = 0;
        for (int k = q * count; k < (q + 1) * count; k++)
          curvature += b->z[k] * (b->ds[k * n + i] * b->ds[k * n + j] / b->s[k] - b->dds[(k * n + i) * n + j]);
        curvature *= b->basis->weight[q];
        for (int a = 0; curvature != 0 && a < f; a++)
          for (int c = 0; c < f; c++) H[(i * f + a) * columns + j * f + c] += curvature * phi[a] * phi[c];
      }
  }
}

/* Returns the change of the constraint s_k at node q by the step, to first order. */
static double change(const cb_barrier *b, int q, int k, const double *step) {
  const int n = b->n, f = b->basis->functions;
  const double *phi = b->basis->phi + q * f, *ds = b->ds + (q * b->constraints->count + k) * n;
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int a = 0; ds[i] != 0 && a < f; a++) sum += ds[i] * phi[a] * step[i * f + a];
  return sum;
}

double cb_barrier_reach(const cb_barrier *b, const double *step) {
  const int count = b->constraints->count;
  double maximum = 1;
  for (int q = 0; q < b->basis->nodes; q++)
    for (int k = 0; k < count; k++) {
      const double ds = change(b, q, k, step);
      if (ds < 0) maximum = fmin(maximum, (1 - keep) * b->s[q * count + k] / -ds);
    }
  return maximum;
}

void cb_barrier_follow(cb_barrier *b, const double *step) {
  const int count = b->constraints->count;
  double part = 1;
  for (int pass = 0; pass < 2; pass++)
    for (int q = 0; q < b->basis->nodes; q++)
      for (int k = 0; k < count; k++) {
        const int e = q * count + k;
        const double dz = b->tau / b->s[e] - b->z[e] - b->z[e] / b->s[e] * change(b, q, k, step);
        if (pass)
          b->z[e] += part * dz;
        else if (dz < 0)
          part = fmin(part, (1 - keep) * b->z[e] / -dz);
      }
}

/* --- moving a gait into the allowed region --- */

static double least_at(cb_barrier *b, const double *r) {
  double least = INFINITY, *s = b->trial;
  if (cb_shape_constraints_at(b->constraints, 0, r, s, NULL, NULL)) return -INFINITY;
  for (int k = 0; k < b->constraints->count; k++) least = fmin(least, s[k]);
  return least;
}

double cb_barrier_least(cb_barrier *b, const double *c) {
  const int f = b->basis->functions;
  double least = INFINITY;
  for (int q = 0; q < b->basis->nodes; q++) {
    double r[CB_SHAPE_MAX];
    for (int i = 0; i < b->n; i++) {
      r[i] = 0;
      for (int a = 0; a < f; a++) r[i] += c[i * f + a] * b->basis->phi[q * f + a];
    }
    least = fmin(least, least_at(b, r));
  }
  return least;
}

/* Chooses the shape that is farthest from constraints among three: the mean of the gait, the start shape (0 if there is
 * none), and the middle of the bounds. Returns the minimum of its values s. */
static double centre_of(cb_barrier *b, const double *start_shape, const double *c, double *centre) {
  const int n = b->n, f = b->basis->functions;
  double at[3][CB_SHAPE_MAX] = {{0}}, best = -INFINITY;
  for (int q = 0; q < b->basis->nodes; q++)
    for (int i = 0; i < n; i++)
      for (int a = 0; a < f; a++) at[0][i] += b->basis->weight[q] * c[i * f + a] * b->basis->phi[q * f + a];
  if (start_shape) memcpy(at[1], start_shape, (size_t)n * sizeof *start_shape);
  for (int k = 0; k < b->constraints->count; k++) {
    const cb_shape_constraint *constraint = &b->constraints->constraint[k], *next = constraint + 1;
    const bool both =
        k + 1 < b->constraints->count && constraint->variable >= 0 && next->variable == constraint->variable;
    if (constraint->variable >= 0 && at[2][constraint->variable] == 0)
      at[2][constraint->variable] =
          both ? (constraint->at + next->at) / 2 : constraint->sign * fmax(0, constraint->sign * constraint->at + 1);
  }
  for (int k = 0; k < 3; k++) {
    const double least = least_at(b, at[k]);
    if (least > best) {
      best = least;
      memcpy(centre, at[k], sizeof at[k]);
    }
  }
  return best;
}

cb_status cb_barrier_enter(cb_barrier *b, const double *start_shape, double *c) {
  const int n = b->n, f = b->basis->functions, constant = b->basis->harmonics ? 1 : b->basis->arcs;
  const double factor = .9;
  double centre[CB_SHAPE_MAX];
  const double clearance = centre_of(b, start_shape, c, centre);
  if (!(clearance > 0))
    return cb_fail(CB_STEP_NO_CONVERGENCE, "no shape within the bounds was found: give a gait or a start shape");
  for (int k = 0; k < 200; k++) {
    if (cb_barrier_least(b, c) > .02 * clearance) return CB_OK;
    for (int i = 0; i < n; i++)
      for (int a = 0; a < f; a++) c[i * f + a] = factor * c[i * f + a] + (a < constant ? (1 - factor) * centre[i] : 0);
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE, "no gait within the bounds was found: give a gait or a start shape");
}
