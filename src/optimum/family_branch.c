/* A branch of a family: knots along it by pseudo-arclength, points between them, and points stored as arrays of
 * numbers. */
#include "optimum/family_private.h"

#include "bundle/bundle_private.h"
#include "numerics/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KNOTS_MAX = 2000, HARMONICS_MAX = 44, ARC_MAX = 18 };

/* Tolerance of the last coefficients (family_tail). The relative errors of the cost and of the amount are about the
 * square of it. */
static const double resolved = 1e-5;
/* The step size is chosen so that the tangents of successive knots differ by about the angle `turn`. first_step and
 * least_step are the first and the minimum step, relative to |z| of the first point. */
static const double turn = .15, first_step = .1, least_step = 1e-7;
/* mu is the multiplier of the cost. A branch counts as at its maximum if mu is below farthest_mu; the relative error of
 * the maximum amount is then about the square of mu. Near the maximum a gait develops corners, so that the tolerance of
 * the last coefficients is relaxed if mu is below slow_mu. */
static const double farthest_mu = 3e-4, slow_mu = .02;

cb_status family_harmonics(family_walk *w, int harmonics) {
  family_system *other = NULL;
  if (harmonics == w->y->harmonics) return CB_OK;
  const cb_status status = family_system_create(w->y->o, harmonics, w->y->scale, &other);
  if (status) return status;
  family_system_free(w->y);
  w->y = other;
  return CB_OK;
}

cb_status family_branch_push(family_branch *b, family_point *p) {
  if (b->knots == b->capacity) {
    const int capacity = 2 * b->capacity + 32;
    family_point **knot = realloc(b->knot, (size_t)capacity * sizeof *knot);
    if (!knot) {
      family_point_free(p);
      return cb_fail(CB_ERROR_MEMORY, "no memory for a branch of %d gaits", capacity);
    }
    b->knot = knot;
    b->capacity = capacity;
  }
  b->knot[b->knots++] = p;
  return CB_OK;
}

void family_branch_free(family_branch *b) {
  for (int k = 0; k < b->knots; k++) family_point_free(b->knot[k]);
  free(b->knot);
  *b = (family_branch){0};
}

static double distance(const family_point *a, const family_point *b) {
  double sum = 0;
  for (int i = 0; i < a->size - 1; i++) sum += (a->z[i] - b->z[i]) * (a->z[i] - b->z[i]);
  return sqrt(sum);
}

/* --- between knots --- */

/* Computes z at the length s, on the cubic Hermite interpolant through the two knots. */
static void interpolate(const family_point *a, const family_point *b, double s, double *z) {
  const double h = b->s - a->s, x = (s - a->s) / h, q = x * x * (3 - 2 * x);
  for (int i = 0; i < a->size; i++)
    z[i] = (1 - q) * a->z[i] + q * b->z[i] + h * x * (1 - x) * ((1 - x) * a->tangent[i] - x * b->tangent[i]);
}

static cb_status both(family_walk *w, const family_point *a, const family_point *b, family_point **pair,
                      family_point **out) {
  cb_status status = family_pair(w, a, b);
  pair[0] = pair[1] = *out = NULL;
  if (!status) status = family_point_copy(w->y, a, &pair[0]);
  if (!status) status = family_point_copy(w->y, b, &pair[1]);
  if (!status) status = family_point_copy(w->y, a, out);
  return status;
}

static cb_status end(family_point **pair, cb_status status, family_point **out) {
  family_point_free(pair[0]);
  family_point_free(pair[1]);
  if (!status) return CB_OK;
  family_point_free(*out);
  *out = NULL;
  return status;
}

cb_status family_between(family_walk *w, const family_point *a, const family_point *b, double s, family_point **out) {
  family_point *pair[2];
  int iterations;
  cb_status status = both(w, a, b, pair, out);
  if (!status) {
    double *along = (*out)->tangent;
    interpolate(pair[0], pair[1], s, (*out)->z);
    for (int i = 0; i < w->y->size; i++) along[i] = (pair[1]->z[i] - pair[0]->z[i]) / (b->s - a->s);
    (*out)->s = s;
    status = family_correct(w->y, FAMILY_ALONG, along, 0, *out, &iterations);
  }
  return end(pair, status, out);
}

cb_status family_at_amount(family_walk *w, const family_point *a, const family_point *b, double amount,
                           family_point **out) {
  family_point *pair[2];
  int iterations;
  cb_status status = both(w, a, b, pair, out);
  if (!status) {
    double low = a->s, high = b->s;
    const bool grows = family_amount(b) > family_amount(a);
    for (int k = 0; k < 60; k++) {
      const double s = (low + high) / 2;
      interpolate(pair[0], pair[1], s, (*out)->z);
      if ((family_amount(*out) < amount) == grows)
        low = s;
      else
        high = s;
    }
    for (int i = 0; i < w->y->size; i++) (*out)->tangent[i] = (pair[1]->z[i] - pair[0]->z[i]) / (b->s - a->s);
    (*out)->s = (low + high) / 2;
    status = family_correct(w->y, FAMILY_AMOUNT, NULL, amount, *out, &iterations);
  }
  return end(pair, status, out);
}

/* --- along the branch --- */

cb_status family_resolve(family_walk *w, family_point **p, family_row row, const double *value) {
  const bool smooth = w->y->smooth;
  const int maximum = smooth ? HARMONICS_MAX : ARC_MAX;
  cb_status status = CB_OK;
  while (!status && family_tail(w->y, *p) > resolved * fmax(1, slow_mu / family_mu(*p)) && w->y->harmonics < maximum) {
    family_point *fine = NULL;
    int iterations;
    status = family_harmonics(w, w->y->harmonics + 4 + (smooth ? w->y->harmonics / 8 * 2 : 0));
    if (!status) status = family_point_copy(w->y, *p, &fine);
    if (!status) status = family_correct(w->y, row, fine->tangent, value ? *value : 0, fine, &iterations);
    if (status) {
      family_point_free(fine);
      return status;
    }
    family_point_free(*p);
    *p = fine;
  }
  return status;
}

/* Fails if the gait p passes a singular shape. The branch then ends at the knot before p. */
static cb_status regular(const family_walk *w, const family_point *p) {
  cb_gait *gait;
  cb_status status = cb_basis_gait(w->y->basis, w->y->n, p->z, &gait);
  if (status) return status;
  status = cb_gait_regular(w->y->o->bundle, gait);
  cb_gait_free(gait);
  return status;
}

/* Finds a candidate for the next knot after the knot a: after a step h along the tangent of a, or at a given mu or
 * amount. */
static cb_status next(family_walk *w, const family_point *a, double h, family_row row, const double *value,
                      family_point **out, int *iterations) {
  cb_status status = family_harmonics(w, a->harmonics);
  *out = NULL;
  if (!status) status = family_point_copy(w->y, a, out);
  if (status) return status;
  family_point *p = *out;
  for (int i = 0; i < p->size; i++) p->z[i] += h * p->tangent[i];
  status = family_correct(w->y, row, p->tangent, value ? *value : 0, p, iterations);
  if (!status) status = family_resolve(w, out, row, value);
  if (!status) status = regular(w, *out);
  if (!status) {
    family_point *before = NULL;
    status = family_point_copy(w->y, a, &before);
    p = *out;
    if (!status) status = family_look(w->y, before->tangent, p);
    if (!status) p->s = a->s + distance(before, p);
    family_point_free(before);
  }
  if (status) {
    family_point_free(*out);
    *out = NULL;
  }
  return status;
}

/* Returns the angle between the tangents at two points. If it is too large, the step has jumped to another branch. */
static double turning(const family_walk *w, const family_point *a, const family_point *p) {
  family_point *before = NULL;
  if (family_point_copy(w->y, a, &before)) return INFINITY;
  const double cosine = cb_dot(p->size - 1, before->tangent, p->tangent);
  family_point_free(before);
  return acos(fmax(-1, fmin(1, cosine)));
}

static bool inside(const family_walk *w, double amount) {
  return amount > fmin(w->from, w->to) && amount < fmax(w->from, w->to);
}

cb_status family_branch_trace(family_walk *w, double h, family_branch *b) {
  cb_status status = CB_OK;
  const family_point *first = b->knot[0];
  const double size = sqrt(cb_dot(first->size - 1, first->z, first->z)), least = least_step * size;
  if (h == 0) h = first_step * size;
  while (!status && !b->whole && b->knots < KNOTS_MAX) {
    const family_point *a = b->knot[b->knots - 1];
    const double mu = family_mu(a), falls = a->tangent[a->size - 2];
    double value = 0, s = h;
    family_row row = FAMILY_ALONG;
    family_point *p;
    int iterations;
    if (mu + h * falls < mu / 4) {
      row = FAMILY_MU;
      value = mu / 4;
      s = (value - mu) / falls;
    }
    status = next(w, a, s, row, &value, &p, &iterations);
    const double angle = status ? INFINITY : turning(w, a, p);
    if (status < 0) break;
    if (status || angle > 4 * turn || family_mu(p) <= 0) {
      family_point_free(p);
      h /= 2;
      if (h < least) break;
      status = CB_OK;
      continue;
    }
    const double amount = family_amount(p);
    if (!inside(w, amount)) {
      const double edge = fabs(amount - w->from) < fabs(amount - w->to) ? w->from : w->to;
      family_point *last = NULL;
      status = family_at_amount(w, a, p, edge, &last);
      family_point_free(p);
      p = last;
      if (!status) {
        family_point *before = NULL;
        status = family_point_copy(w->y, a, &before);
        if (!status) status = family_look(w->y, before->tangent, p);
        if (!status) p->s = a->s + distance(before, p);
        family_point_free(before);
      }
      if (status) family_point_free(p);
      b->whole = true;
      if (status) break;
    }
    const bool turns = isinf(w->to) && p->tangent[p->size - 1] * a->tangent[a->size - 1] < 0;
    status = family_branch_push(b, p);
    if (status) break;
    if (family_mu(p) < farthest_mu || turns || family_unresolved(w->y, p)) b->whole = true;
    h *= fmin(2, fmax(.5, turn / fmax(angle, 1e-3)));
    if (w->pushed) status = w->pushed(w->context, p, h, b->whole);
  }
  return status < 0 ? status : CB_OK;
}

/* --- points of a branch as arrays of numbers; if a branch is continued from these arrays, it is bit for bit the same
 * as without an interruption --- */

/* The order of the numbers. These HEAD numbers are followed by z, tangent and eigen, with `size` numbers each. */
enum { HARMONICS, SIZE, INDEX, FLAT, VALUES, SIGN, WHOLE, STEP, LENGTH, COST, SCALE, HEAD };

cb_status family_state_make(const family_system *y, const family_point *p, double h, bool whole, double **out,
                            int *count) {
  const size_t size = (size_t)p->size;
  double *s = calloc(HEAD + 3 * size, sizeof *s);
  if (!s) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d unknowns", p->size);
  s[HARMONICS] = p->harmonics;
  s[SIZE] = p->size;
  s[INDEX] = p->index;
  s[FLAT] = p->flat;
  s[VALUES] = p->values;
  s[SIGN] = p->sign;
  s[WHOLE] = whole;
  s[STEP] = h;
  s[LENGTH] = p->s;
  s[COST] = p->cost;
  s[SCALE] = y->scale;
  memcpy(s + HEAD, p->z, size * sizeof *s);
  memcpy(s + HEAD + size, p->tangent, size * sizeof *s);
  memcpy(s + HEAD + 2 * size, p->eigen, (size_t)p->values * sizeof *s);
  *out = s;
  *count = (int)(HEAD + 3 * size);
  return CB_OK;
}

static bool whole_within(double x, double low, double high) { return x >= low && x <= high && x == floor(x); }

cb_status family_state_read(family_walk *w, const cb_optimum_problem *o, int count, const double *s, family_point **out,
                            double *h, bool *whole) {
  *out = NULL;
  if (count < HEAD || !whole_within(s[SIZE], 1, count) || !whole_within(s[HARMONICS], 1, s[SIZE]) ||
      HEAD + 3 * (int)s[SIZE] > count || !whole_within(s[VALUES], 0, s[SIZE]) || !(s[SCALE] > 0))
    return CB_OK;
  for (int i = 0; i < HEAD + 3 * (int)s[SIZE]; i++)
    if (!isfinite(s[i])) return CB_OK;
  const cb_status status =
      w->y ? family_harmonics(w, (int)s[HARMONICS]) : family_system_create(o, (int)s[HARMONICS], s[SCALE], &w->y);
  if (status || w->y->size != (int)s[SIZE]) return status;
  const cb_status made = family_point_create(w->y, out);
  if (made) return made;
  const size_t size = (size_t)w->y->size;
  family_point *p = *out;
  memcpy(p->z, s + HEAD, size * sizeof *s);
  memcpy(p->tangent, s + HEAD + size, size * sizeof *s);
  p->values = (int)s[VALUES];
  memcpy(p->eigen, s + HEAD + 2 * size, (size_t)p->values * sizeof *s);
  p->index = (int)s[INDEX];
  p->flat = (int)s[FLAT];
  p->sign = (int)s[SIGN];
  p->s = s[LENGTH];
  p->cost = s[COST];
  *h = s[STEP];
  *whole = s[WHOLE] != 0;
  return CB_OK;
}
