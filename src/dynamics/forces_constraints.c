/* Potentials of functions of several points: angles, areas, volumes, lengths of paths, and any other class of
 * constraints of positions. A row of such a class is then not a constraint, but has an energy U_r.
 *
 *   V = sum_r U_r(s_r, t),   U = (k/2) (s - D(t))^2 or an expression of s and t
 *   F = -I^-1 U' ds/dx,   d^2 V = U' d^2 s + U'' ds ds^T
 * s_r(t, x) is the value of row r, k a stiffness, D the required value, F the force, and I = diag(form). s and its
 * derivatives are those of the constraint. Where s has a kink but its cosine c is smooth (an angle at pi and at 0), U
 * is a function of c. With delta = s - pi near pi and delta = s near 0,
 *   dU/dc = -U'/sin s,   d^2 U/dc^2 = (U'' - U' cot delta)/sin^2 delta
 *                                   = U'' (1 - delta cot delta)/sin^2 delta + (U'' delta - U') cot delta/sin^2 delta
 * Both have limits at delta = 0 if U' and U''' are 0 there, as for the bending energy of a chain: dU/dc = -U''/cos s
 * and d^2 U/dc^2 = U''/3 if U'' is constant. Source: Bergou, Wardetzky, Robinson, Audoly & Grinspun, Discrete elastic
 * rods, ACM Transactions on Graphics 27 (2008), doi:10.1145/1360612.1360662 (energies of the angles of a chain).
 */
#include "dynamics/forces_private.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
/* At or below this sine of the value s, dU/dc is equal to its limit up to round-off. */
static const double straight = 1e-7;
/* Where the sine is at most `straight`, |U'| must be at most this, relative to |U''|: otherwise the force has no
 * direction. */
static const double flat = 4e-7;
/* Below this sine, (1 - delta cot delta)/sin^2 delta is computed by its series. */
static const double near = 0.01;
/* U'' delta - U' is round-off if it is less than this, relative to U'' delta. */
static const double round_off = 1e-10;

/* The energy and its derivatives in the value of the row, or in its cosine. */
typedef struct energy {
  double u, du, ddu;
} energy;

cb_status cb_potentials_create(cb_forces *f) {
  const cb_status status = cb_constraints_create(f, &f->system->potentials, false, &f->potentials);
  if (status) return status;
  const cb_rows *rows = cb_constraints_rows(f->potentials);
  const size_t count = (size_t)rows->start[rows->rows] * (size_t)f->system->k;
  f->potential_gradient = cb_arena_alloc(f->arena, count, sizeof *f->potential_gradient);
  return f->potential_gradient ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d potentials", rows->rows);
}

/* Computes the sum of the elements of row r: its value, or its cosine. With order 1, the gradient of the row is set. */
static cb_status sum_of(cb_forces *f, int r, double t, const double *x, int order, double *sum) {
  cb_constraints *c = f->potentials;
  const cb_constraint *row = &c->row[r];
  const int k = c->space->k, first = c->rows.start[r];
  double *gradient = f->potential_gradient;
  *sum = 0;
  if (order)
    memset(gradient + (size_t)first * (size_t)k, 0,
           (size_t)(c->rows.start[r + 1] - first) * (size_t)k * sizeof *gradient);
  for (int e = 0; e < row->elements; e++) {
    const cb_status status = cb_constraints_element(c, row, row->class->cosine, e, t, x, order);
    if (status) return status;
    const int *slot = c->slot + c->slot_start[r] + e * row->width;
    *sum += c->scratch->value;
    for (int p = 0; order && p < row->width; p++)
      for (int a = 0; a < k; a++) gradient[(size_t)slot[p] * (size_t)k + (size_t)a] += c->scratch->gradient[p * k + a];
  }
  return CB_OK;
}

/* The value s = base + delta of a row. For a cosine, base is 0 or pi, and delta has a small relative error. */
typedef struct value {
  double base, delta;
} value;

static double sine_of(double c) { return sqrt(fmax((1 - c) * (1 + c), 0)); }

static value value_of(const cb_constraint *row, double sum) {
  if (!row->class->cosine) return (value){sum, 0};
  const double arc = atan2(sine_of(sum), fabs(sum));
  return sum < 0 ? (value){pi, -arc} : (value){0, arc};
}

cb_status cb_potentials_value(cb_forces *f, int r, double t, const double *x, double *out) {
  double sum;
  const cb_status status = sum_of(f, r, t, x, 0, &sum);
  if (status) return status;
  const value s = value_of(&f->potentials->row[r], sum);
  *out = s.base + s.delta;
  return CB_OK;
}

/* Converts derivatives in s to those in its cosine c. */
static cb_status in_cosine(const cb_constraint *row, value s, double c, energy *u) {
  const double sine = sine_of(c), ss = sine * sine, d = s.delta, dd = d * d, du = u->du, ddu = u->ddu;
  if (sine <= straight) {
    if (!(fabs(du) <= flat * fabs(ddu)))
      return cb_fail(CB_STEP_DOMAIN,
                     "the potential of `%s` has a kink at the value %g: expected other positions, or a potential with "
                     "the slope 0 there",
                     row->name, s.base);
    u->du = c < 0 ? ddu : -ddu;
    u->ddu = ddu / 3;
    return CB_OK;
  }
  const double cotangent = fabs(c) / (c < 0 ? -sine : sine), rest = ddu * d - du;
  const double part = sine < near ? 1. / 3 + dd * (2. / 15 + dd * 2. / 63) : (1 - d * cotangent) / ss;
  u->du = -du / sine;
  u->ddu = ddu * part;
  if (sine >= near || fabs(rest) > round_off * fabs(ddu * d)) u->ddu += rest * cotangent / ss;
  return CB_OK;
}

/* Computes the energy of a row whose elements have this sum. */
static cb_status energy_of(const cb_constraint *row, double t, double sum, energy *u) {
  const value s = value_of(row, sum);
  if (row->energy) {
    const cb_jet jet = cb_expression_jet(row->energy, (double[]){s.base + s.delta, t}, 1);
    *u = (energy){jet.v, jet.g[0], jet.h[0]};
  } else {
    double rest[3];
    const cb_status status = cb_constraint_target(row, t, rest);
    if (status) return status;
    const double off = (s.base - rest[0]) + s.delta;
    *u = (energy){0.5 * row->stiffness * off * off, row->stiffness * off, row->stiffness};
  }
  if (!isfinite(u->u) || !isfinite(u->du))
    return cb_fail(CB_STEP_DOMAIN, "the potential of `%s` is not finite at the value %g: use a smaller `step`",
                   row->name, s.base + s.delta);
  return row->class->cosine ? in_cosine(row, s, sum, u) : CB_OK;
}

cb_status cb_potentials_add(cb_forces *f, double t, const double *x, double *force) {
  const cb_rows *rows = cb_constraints_rows(f->potentials);
  const int k = f->system->k;
  for (int r = 0; r < rows->own; r++) {
    double sum;
    energy u;
    cb_status status = sum_of(f, r, t, x, 1, &sum);
    if (!status) status = energy_of(&f->potentials->row[r], t, sum, &u);
    if (status) return status;
    for (int e = rows->start[r]; e < rows->start[r + 1]; e++)
      for (int a = 0; a < k; a++)
        force[rows->particle[e] * k + a] += f->raise[a] * u.du * f->potential_gradient[e * k + a];
  }
  return CB_OK;
}

cb_status cb_potentials_potential(cb_forces *f, double t, const double *x, double *potential) {
  double all = 0;
  for (int r = 0; r < f->potentials->rows.own; r++) {
    double sum;
    energy u;
    cb_status status = sum_of(f, r, t, x, 0, &sum);
    if (!status) status = energy_of(&f->potentials->row[r], t, sum, &u);
    if (status) return status;
    all += u.u;
  }
  *potential += all;
  return CB_OK;
}

/* Adds -I^-1 (weight H) to the blocks of the particles of an element, where H is the matrix of its second derivatives,
 * f->potentials->scratch->hessian. */
static void add_element(const cb_forces *f, const int *particle, int width, double weight, double *dx) {
  const int k = f->system->k;
  const double *hessian = f->potentials->scratch->hessian;
  for (int p = 0; p < width; p++)
    for (int q = 0; q < width; q++) {
      double *block = dx + (size_t)cb_pattern_find(&f->pattern, particle[p], particle[q]) * (size_t)(k * k);
      for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++)
          block[a * k + b] += f->raise[a] * weight * hessian[(p * k + a) * width * k + q * k + b];
    }
}

/* Adds -I^-1 (weight ds ds^T) to the blocks of the particles of row r. */
static void add_product(const cb_forces *f, int r, double weight, double *dx) {
  const cb_rows *rows = &f->potentials->rows;
  const int k = f->system->k;
  for (int p = rows->start[r]; p < rows->start[r + 1]; p++)
    for (int q = rows->start[r]; q < rows->start[r + 1]; q++) {
      const double *left = f->potential_gradient + p * k, *right = f->potential_gradient + q * k;
      double *block = dx + (size_t)cb_pattern_find(&f->pattern, rows->particle[p], rows->particle[q]) * (size_t)(k * k);
      for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++) block[a * k + b] += f->raise[a] * weight * left[a] * right[b];
    }
}

cb_status cb_potentials_jacobian(cb_forces *f, double t, const double *x, double *dx) {
  cb_constraints *c = f->potentials;
  for (int r = 0; r < c->rows.own; r++) {
    const cb_constraint *row = &c->row[r];
    double sum;
    energy u;
    cb_status status = sum_of(f, r, t, x, 1, &sum);
    if (!status) status = energy_of(row, t, sum, &u);
    for (int e = 0; e < row->elements && !status; e++) {
      status = cb_constraints_element(c, row, row->class->cosine, e, t, x, 2);
      if (!status) add_element(f, row->particle + e * row->width, row->width, u.du, dx);
    }
    if (status) return status;
    add_product(f, r, u.ddu, dx);
  }
  return CB_OK;
}
