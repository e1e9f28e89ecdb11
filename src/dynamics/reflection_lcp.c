/* The linear complementarity problem of impulses, D symmetric and not negative:
 *
 *   z = D l + q >= 0,   l >= 0,   l^T z = 0
 *
 * by Dantzig's method: one z_a < 0 after another is driven to 0 by its l_a, while l_P changes so that z_P stays 0,
 *   dl_a = 1,  D_PP dl_P = -D_Pa,
 * and what would become negative on the way leaves or enters P. z is unique, l where D_PP is regular.
 * Source: Cottle, Pang & Stone, The Linear Complementarity Problem (1992), section 4.2, doi:10.1137/1.9780898719000;
 * Baraff, Fast contact force computation (1994), doi:10.1145/192161.192168. */
#include "dynamics/reflection_private.h"

#include <float.h>
#include <math.h>

/* A pivot smaller than this, relative to its diagonal, is that of a contact that depends on the others. */
static const double dependent = 1e-10;
/* Round-off of z, relative to the sum of its terms. */
static const double round_off = 64 * DBL_EPSILON;
/* z of one that depends on others is 0, as theirs are, up to this: above what ill-conditioned D_PP leave. */
static const double zero = 1e-10;
/* Least pivot with which it is sure that there is no solution. */
static const double sure = 1e-5;
/* Impulses whose effects are larger than this, relative to the largest |q|, are on the way to infinity. */
static const double endless = 1e10;
/* Places of those not in P: DEPENDENT until what is driven is at rest, RESTS until another one enters. */
enum { OUT = -1, DEPENDENT = -2, RESTS = -3 };

/* Row `at` of the factor, for P[at]; false where it depends on those before. */
static bool factor_row(cb_lcp *s, int at) {
  const int n = s->n, p = s->P[at];
  double *row = s->L + (size_t)at * n, pivot = s->D[(size_t)p * n + p];
  const double least = dependent * pivot;
  for (int c = 0; c < at; c++) {
    const double *other = s->L + (size_t)c * n;
    double sum = s->D[(size_t)p * n + s->P[c]];
    for (int b = 0; b < c; b++) sum -= row[b] * other[b];
    row[c] = sum / other[c];
    pivot -= row[c] * row[c];
  }
  if (!(pivot > least)) return false;
  row[at] = sqrt(pivot);
  return true;
}

static bool enter(cb_lcp *s, int a) {
  s->P[s->count] = a;
  if (!factor_row(s, s->count)) return false;
  s->place[a] = s->count++;
  return true;
}

static void leave(cb_lcp *s, int a) {
  const int at = s->place[a];
  s->place[a] = OUT;
  s->count--;
  for (int c = at; c < s->count; c++) {
    s->P[c] = s->P[c + 1];
    s->place[s->P[c]] = c;
    factor_row(s, c); /* fewer before it: its pivot grows */
  }
}

void cb_lcp_active(const cb_lcp *s, double *y) {
  for (int c = 0; c < s->count; c++) {
    const double *row = s->L + (size_t)c * s->n;
    for (int b = 0; b < c; b++) y[c] -= row[b] * y[b];
    y[c] /= row[c];
  }
  for (int c = s->count - 1; c >= 0; c--) {
    y[c] /= s->L[(size_t)c * s->n + c];
    for (int b = 0; b < c; b++) y[b] -= s->L[(size_t)c * s->n + b] * y[c];
  }
}

/* step[P] = dl_P and rate[j] = dz_j for dl_a = 1. */
static void direction(cb_lcp *s, int a) {
  const int n = s->n;
  for (int c = 0; c < s->count; c++) s->step[c] = -s->D[(size_t)s->P[c] * n + a];
  cb_lcp_active(s, s->step);
  for (int c = 0; c < s->count; c++) { /* round-off is no direction */
    const int p = s->P[c];
    if (fabs(s->step[c]) * sqrt(s->D[(size_t)p * n + p]) < dependent * sqrt(s->D[(size_t)a * n + a])) s->step[c] = 0;
  }
  for (int j = 0; j < n; j++) {
    s->rate[j] = s->D[(size_t)j * n + a];
    for (int c = 0; c < s->count; c++) s->rate[j] += s->D[(size_t)j * n + s->P[c]] * s->step[c];
    if (s->place[j] >= 0) s->rate[j] = 0;
  }
}

static double least_pivot(const cb_lcp *s) {
  double least = 1;
  for (int c = 0; c < s->count; c++) {
    const double pivot = s->L[(size_t)c * (size_t)(s->n + 1)];
    least = fmin(least, pivot * pivot / s->D[(size_t)s->P[c] * (size_t)(s->n + 1)]);
  }
  return least;
}

/* The first that stops l_a from growing by `length`: l or z of it comes to 0. */
static int first_block(const cb_lcp *s, int a, const double *tolerance, double *length) {
  const double *D = s->D, diagonal = D[(size_t)a * (size_t)(s->n + 1)];
  /* where z_a is 0 at the same time as others, it goes first */
  double until = *length - (*length < INFINITY ? tolerance[a] / s->rate[a] : 0);
  int block = a;
  for (int j = 0; j < s->n; j++) {
    double here = INFINITY;
    if (j == a) continue;
    if (s->place[j] >= 0) {
      if (s->step[s->place[j]] < 0) here = s->l[j] / -s->step[s->place[j]];
    } else if (s->place[j] == OUT && s->z[j] >= -tolerance[j] &&
               s->rate[j] < -dependent * sqrt(D[(size_t)j * (size_t)(s->n + 1)] * diagonal)) {
      here = fmax(s->z[j], 0) / -s->rate[j];
    }
    if (!(here < until)) continue;
    until = *length = here;
    block = j;
  }
  return block;
}

/* The same where l_a falls, and z does not change. */
static int first_back(const cb_lcp *s, int a, double *length) {
  int block = a;
  *length = s->l[a];
  for (int c = 0; c < s->count; c++)
    if (s->step[c] > 0 && s->l[s->P[c]] / s->step[c] < *length) {
      block = s->P[c];
      *length = s->l[block] / s->step[c];
    }
  *length = -*length;
  return block;
}

static double size_of(const cb_lcp *s, const double *q, int a) {
  double sum = fabs(q[a]) + s->D[(size_t)a * (size_t)(s->n + 1)] * s->l[a];
  for (int c = 0; c < s->count; c++) sum += fabs(s->D[(size_t)a * (size_t)s->n + (size_t)s->P[c]] * s->l[s->P[c]]);
  return sum;
}

/* Brings z_a to 0. */
static cb_status drive(cb_lcp *s, int a, const double *q, const double *tolerance, int *left) {
  double most = 0;
  for (int j = 0; j < s->n; j++) most = fmax(most, fabs(q[j]));
  while ((*left)--) {
    direction(s, a);
    const bool ends = s->rate[a] > dependent * s->D[(size_t)a * (size_t)(s->n + 1)];
    double length = ends ? -s->z[a] / s->rate[a] : INFINITY;
    int block = first_block(s, a, tolerance, &length);
    const bool back = !(length < INFINITY);
    if (back) { /* a depends on P: where z_a is 0, it takes the place of another or goes without impulse */
      if (s->z[a] < -zero * size_of(s, q, a)) return least_pivot(s) > sure ? CB_STEP_SINGULAR : CB_STEP_NO_CONVERGENCE;
      block = first_back(s, a, &length);
    }
    s->l[a] += length;
    if (!(size_of(s, q, a) <= endless * most)) return CB_STEP_NO_CONVERGENCE;
    for (int c = 0; c < s->count; c++) s->l[s->P[c]] = fmax(s->l[s->P[c]] + length * s->step[c], 0);
    for (int j = 0; j < s->n; j++) s->z[j] += length * s->rate[j];
    if (back && block == a) {
      s->l[a] = 0;
      s->place[a] = RESTS;
      return CB_OK;
    }
    if (s->place[block] >= 0) {
      s->l[block] = s->z[block] = 0;
      leave(s, block);
      if (back) s->place[block] = DEPENDENT;
      continue;
    }
    s->z[block] = 0;
    const bool entered = enter(s, block);
    if (!entered) s->place[block] = DEPENDENT;
    if (block != a) continue;
    for (int j = 0; j < s->n; j++)
      if (s->place[j] < 0) s->place[j] = OUT;
    if (!entered) s->place[a] = RESTS;
    return CB_OK;
  }
  return CB_STEP_NO_CONVERGENCE;
}

/* l and z anew from P, by the factor and what it leaves; *error: of z_j, by round-off. false: l is lost in it. */
static bool settle(cb_lcp *s, const double *q, double *error) {
  const int n = s->n;
  double most = 0, clipped = 0;
  s->least = least_pivot(s);
  for (int j = 0; j < n; j++) {
    s->l[j] = 0;
    most = fmax(most, fabs(q[j]));
  }
  for (int pass = 0; pass < 3; pass++) {
    for (int c = 0; c < s->count; c++) {
      const int p = s->P[c];
      s->step[c] = -q[p];
      for (int b = 0; b < s->count; b++) s->step[c] -= s->D[(size_t)p * n + s->P[b]] * s->l[s->P[b]];
    }
    cb_lcp_active(s, s->step);
    for (int c = 0; c < s->count; c++) s->l[s->P[c]] += s->step[c];
  }
  for (int c = 0; c < s->count; c++) {
    const int p = s->P[c];
    clipped = fmax(clipped, -s->l[p] * s->D[(size_t)p * n + p]);
    s->l[p] = fmax(s->l[p], 0);
  }
  for (int j = 0; j < n; j++) {
    s->z[j] = q[j];
    error[j] = fabs(q[j]);
    for (int c = 0; c < s->count; c++) {
      const double term = s->D[(size_t)j * n + s->P[c]] * s->l[s->P[c]];
      s->z[j] += term;
      error[j] += fabs(term);
    }
    error[j] *= round_off / s->least;
    if (s->place[j] >= 0) s->z[j] = 0;
  }
  return clipped <= zero * most;
}

cb_status cb_lcp_solve(int n, const double *D, const double *q, const double *tolerance, double *room, int *list,
                       cb_lcp *s) {
  const size_t size = (size_t)n;
  *s = (cb_lcp){.n = n, .D = D, .L = room, .l = room + size * size, .P = list, .place = list + n};
  s->z = s->l + n;
  s->step = s->z + n;
  s->rate = s->step + n;
  double *near = s->rate + n;
  int left = 100 + 50 * n;
  for (int j = 0; j < n; j++) s->place[j] = OUT;
  for (;;) {
    int worst = -1;
    double most = 0;
    if (!settle(s, q, near)) return CB_STEP_NO_CONVERGENCE;
    for (int j = 0; j < n; j++) {
      near[j] = fmax(near[j], tolerance[j]);
      if (s->place[j] >= 0 || s->place[j] == RESTS || !(s->z[j] < -near[j])) continue;
      const double size_j = -s->z[j] / sqrt(D[(size_t)j * n + j]);
      if (worst >= 0 && !(size_j > most)) continue;
      most = size_j;
      worst = j;
    }
    if (worst < 0) return CB_OK;
    const cb_status status = drive(s, worst, q, near, &left);
    if (status) return status;
  }
}
