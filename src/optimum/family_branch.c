/* A branch of a family: knots along it by pseudo-arclength, and points between them. */
#include "optimum/family_private.h"

#include "bundle/poles.h"
#include "numerics/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KNOTS_MAX = 2000, HARMONICS_MAX = 44, ARC_MAX = 18 };

/* The last coefficients: cost and amount err by their square. */
static const double resolved = 1e-5;
/* The angle between tangents that a step aims at; the share of a first step in z; the least of a step. */
static const double turn = .15, first_step = .1, least_step = 1e-7;
/* mu at which a branch is at its farthest: the amount there lacks a share of about its square. Towards it a gait gets
 * corners, and less of it is resolved from slow_mu on. */
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
  if (b->knots == b->room) {
    const int room = 2 * b->room + 32;
    family_point **knot = realloc(b->knot, (size_t)room * sizeof *knot);
    if (!knot) return family_point_free(p), cb_fail(CB_ERROR_MEMORY, "no memory for a branch of %d gaits", room);
    b->knot = knot, b->room = room;
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

/* Hermite's cubic in s through both, and its direction. */
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

/* --- along it --- */

cb_status family_resolve(family_walk *w, family_point **p, family_row row, const double *value) {
  const bool smooth = w->y->smooth;
  const int most = smooth ? HARMONICS_MAX : ARC_MAX;
  cb_status status = CB_OK;
  while (!status && family_tail(w->y, *p) > resolved * fmax(1, slow_mu / family_mu(*p)) && w->y->harmonics < most) {
    family_point *fine = NULL;
    int iterations;
    status = family_harmonics(w, w->y->harmonics + 4 + (smooth ? w->y->harmonics / 8 * 2 : 0));
    if (!status) status = family_point_copy(w->y, *p, &fine);
    if (!status) status = family_correct(w->y, row, fine->tangent, value ? *value : 0, fine, &iterations);
    if (status) return family_point_free(fine), status;
    family_point_free(*p);
    *p = fine;
  }
  return status;
}

/* A failure where a gait passes a singular shape: its branch ends before it. */
static cb_status regular(const family_walk *w, const family_point *p) {
  cb_gait *gait;
  cb_status status = cb_basis_gait(w->y->basis, w->y->n, p->z, &gait);
  if (status) return status;
  status = cb_gait_regular(w->y->o->bundle, gait);
  cb_gait_free(gait);
  return status;
}

/* The next knot from a, a step h along its tangent, or at a mu or amount; it is a candidate only. */
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
  if (status) family_point_free(*out), *out = NULL;
  return status;
}

/* The angle between tangents; a step that turns too far has left its branch. */
static double bend(const family_walk *w, const family_point *a, const family_point *p) {
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
    if (mu + h * falls < mu / 4) row = FAMILY_MU, value = mu / 4, s = (value - mu) / falls;
    status = next(w, a, s, row, &value, &p, &iterations);
    const double angle = status ? INFINITY : bend(w, a, p);
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
