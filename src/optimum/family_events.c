/* Events of families: events along one branch are sign changes of functions of its points; other events compare the
 * costs of branches. */
#include "optimum/family_private.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const cb_family_event_names[CB_FAMILY_EVENTS] = {
    "farthest", "turning", "bifurcation", "bound", "crossing", "cheaper", "cycles", "efficient", "unresolved"};

/* A function of a point and its tangent that changes sign at events of this kind. `which` is an argument of the
 * function, and `other` the member `other` of the events. */
typedef struct watch {
  cb_family_event_kind kind;
  double (*at)(const family_system *y, const family_point *p, int which);
  int which, other;
} watch;

static double turning(const family_system *y, const family_point *p, int which) {
  (void)y;
  (void)which;
  return p->tangent[p->size - 1];
}

static double eigenvalue(const family_system *y, const family_point *p, int which) {
  (void)y;
  return which < p->values ? p->eigen[which] : NAN;
}

/* Computes mu (E - lambda X) for the cost E, the amount X and the multipliers mu and lambda (family.h). It is 0 at a
 * gait of stationary efficiency X^2/E. */
static double efficient(const family_system *y, const family_point *p, int which) {
  (void)which;
  const int rest = y->size - y->u;
  return family_mu(p) * p->cost + y->scale * p->z[p->size - rest + y->row] * family_amount(p);
}

/* --- maxima over time --- */

typedef double (*of_time)(const family_system *y, const double *r, int which);

static double at_time(const family_system *y, const cb_basis *basis, const double *c, double t, of_time f, int which) {
  double phi[512], r[CB_SHAPE_MAX];
  cb_basis_at(basis, t, phi, NULL);
  for (int i = 0; i < y->n; i++) {
    r[i] = 0;
    for (int a = 0; a < basis->functions; a++) r[i] += c[i * basis->functions + a] * phi[a];
  }
  return f(y, r, which);
}

/* Finds the maximum of f over a cycle. The nodes are compared first; a golden-section search around the best node then
 * refines the result. */
static double greatest(const family_system *y, const family_point *p, of_time f, int which) {
  const cb_basis *s = y->basis;
  const double part = (sqrt(5) - 1) / 2;
  if (p->harmonics != y->harmonics) return NAN;
  double best = -INFINITY, at = 0;
  for (int q = 0; q < s->nodes; q++) {
    const double now = at_time(y, s, p->z, s->time[q], f, which);
    if (now > best) {
      best = now;
      at = s->time[q];
    }
  }
  const double gap = 1. / s->panels;
  double low = at - gap, high = at + gap;
  double a = high - part * (high - low), b = low + part * (high - low);
  double fa = at_time(y, s, p->z, a, f, which), fb = at_time(y, s, p->z, b, f, which);
  for (int k = 0; k < 44; k++) {
    if (fa > fb) {
      high = b;
      b = a;
      fb = fa;
      a = high - part * (high - low);
      fa = at_time(y, s, p->z, a, f, which);
    } else {
      low = a;
      a = b;
      fa = fb;
      b = low + part * (high - low);
      fb = at_time(y, s, p->z, b, f, which);
    }
  }
  return fmax(best, fmax(fa, fb));
}

/* Returns how far variable i is above its upper bound (for which = 2 i), or below its lower bound (for which = 2 i +
 * 1). */
static double beyond(const family_system *y, const double *r, int which) {
  const int i = which / 2;
  return which % 2 ? y->o->lower[i] - r[i] : r[i] - y->o->upper[i];
}

static double bound(const family_system *y, const family_point *p, int which) { return greatest(y, p, beyond, which); }

/* Measures how far lines of the drawing cross. The crossing point of a pair of lines divides each line into two parts.
 * The depth of the pair is the smallest of the four parts, relative to the length of its line. Returns the maximum
 * depth over all pairs without a common point. It is < 0 if no lines cross, and nan if the shape has no drawing. */
static double through(const family_system *y, const double *r, int which) {
  const cb_bundle *b = y->o->bundle;
  double x[64][3], g[CB_GROUP_SIZE], maximum = -1;
  (void)which;
  b->group->identity(b->group, g);
  if (b->class_->plot(b, r, g, x)) return NAN;
  for (int i = 0; i < b->lines; i++)
    for (int j = 0; j < i; j++) {
      const int *p = b->line[i], *q = b->line[j];
      if (p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1]) continue;
      const double ux = x[p[1]][0] - x[p[0]][0], uy = x[p[1]][1] - x[p[0]][1];
      const double vx = x[q[1]][0] - x[q[0]][0], vy = x[q[1]][1] - x[q[0]][1];
      const double wx = x[q[0]][0] - x[p[0]][0], wy = x[q[0]][1] - x[p[0]][1], area = ux * vy - uy * vx;
      const double s = (wx * vy - wy * vx) / area, t = (wx * uy - wy * ux) / area;
      const double depth = fmin(fmin(s, 1 - s), fmin(t, 1 - t));
      if (area != 0 && depth > maximum) maximum = depth;
    }
  return maximum;
}

static double crossing(const family_system *y, const family_point *p, int which) {
  return greatest(y, p, through, which);
}

static bool drawn(const cb_bundle *b) {
  return b->class_->plot && b->lines > 2 && b->points <= 64 && !strcmp(b->group->name, "se2");
}

/* --- locating events --- */

/* Prepares a point for the function f. For a bifurcation the chord is used as the tangent, because no tangent is
 * defined where branches meet. */
static cb_status look(family_system *y, const watch *f, family_point *p) {
  if (f->kind == CB_FAMILY_TURNING) return family_look(y, p->tangent, p);
  if (f->kind != CB_FAMILY_BIFURCATION) return CB_OK;
  double *chord = malloc((size_t)p->size * sizeof *chord);
  if (!chord) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent");
  memcpy(chord, p->tangent, (size_t)p->size * sizeof *chord);
  const cb_status status = family_look(y, chord, p);
  memcpy(p->tangent, chord, (size_t)p->size * sizeof *chord);
  free(chord);
  return status;
}

/* Locates the sign change of f between the knots a and b, by the Illinois rule along the branch. Sets *out to the last
 * point computed, and *rest to the amount of the event minus the amount of this point. Near a bifurcation Newton's
 * method fails. *rest is then the length of a secant step from the last point computed. */
static cb_status locate(family_walk *w, const watch *f, const family_point *a, const family_point *b, double fa,
                        double fb, family_point **out, double *rest) {
  const double all = b->s - a->s, small = f->kind == CB_FAMILY_BIFURCATION ? 1e-4 * (fabs(fa) + fabs(fb)) : 0;
  double low = a->s, high = b->s, before = NAN, past = NAN;
  family_point *p = NULL;
  int side = 0;
  *out = NULL;
  *rest = 0;
  for (int k = 0; k < 60; k++) {
    const double s = k % 12 == 11 ? (low + high) / 2 : (low * fb - high * fa) / (fb - fa);
    cb_status status = family_between(w, a, b, s, &p);
    if (!status) status = look(w->y, f, p);
    if (status) family_point_free(p);
    if (status && k > 1 && small > 0) return CB_OK; /* *rest is then the last step of the secant method */
    if (status) {
      family_point_free(*out);
      *out = NULL;
      return status;
    }
    family_point_free(*out);
    *out = p;
    const double now = f->at(w->y, *out, f->which), amount = family_amount(*out);
    const bool zero = now == 0 || (f->kind == CB_FAMILY_BIFURCATION && (*out)->flat > a->flat);
    if (zero) {
      *rest = 0;
      return CB_OK;
    }
    if (k && small > 0) *rest = -now * (amount - before) / (now - past);
    if (fabs(now) <= small) return CB_OK;
    if (fabs(amount - before) <= 1e-11 * fabs(amount) && fmin(s - low, high - s) < 1e-5 * all) return CB_OK;
    before = amount;
    past = now;
    const bool left = (now < 0) == (fa < 0);
    if (left) {
      low = s;
      fa = now;
      fb /= side == 1 ? 2 : 1;
    } else {
      high = s;
      fb = now;
      fa /= side == 2 ? 2 : 1;
    }
    if (!(high - low > 1e-10 * all)) break;
    side = left ? 1 : 2;
  }
  return CB_OK;
}

/* Locates an event that depends on positions, with more harmonics than the knots have. Costs depend only to second
 * order on the harmonics that are left out, but positions on a gait depend on them to first order. */
static cb_status locate_fine(family_walk *w, const watch *f, const family_point *a, const family_point *b, double fa,
                             double fb, family_point **out, double *rest) {
  const int harmonics = w->y->harmonics, more = harmonics < 24 ? harmonics / 2 : 12;
  family_point *pair[2] = {NULL, NULL};
  cb_status status = family_harmonics(w, harmonics + more);
  if (!status) status = family_point_copy(w->y, a, &pair[0]);
  if (!status) status = family_point_copy(w->y, b, &pair[1]);
  *out = NULL;
  if (!status) status = locate(w, f, pair[0], pair[1], fa, fb, out, rest);
  family_point_free(pair[0]);
  family_point_free(pair[1]);
  return status;
}

static cb_status report(family_walk *w, const watch *f, const family_point *a, const family_point *b, double fa,
                        double fb, family_found found, void *context) {
  family_point *p = NULL;
  double rest = 0;
  if (!(fa * fb < 0) && !(fb == 0 && fa != 0)) return CB_OK;
  const bool fine = f->kind == CB_FAMILY_BOUND || f->kind == CB_FAMILY_CROSSING;
  cb_status status = (fine ? locate_fine : locate)(w, f, a, b, fa, fb, &p, &rest);
  if (status) return status > 0 ? family_pair(w, a, b) : status; /* the event was not located and is not reported */
  const cb_family_event e = {.kind = f->kind,
                             .amount = family_amount(p) + rest,
                             .cost = p->cost + 2 * family_lambda(w->y, p) * rest,
                             .branch = -1,
                             .other = f->other};
  status = found(context, &e, p);
  family_point_free(p);
  return status ? status : family_pair(w, a, b);
}

/* Finds the maximum amount X of a branch by a Taylor series in the multiplier mu of the cost, from the last two knots.
 * At the maximum mu = 0 and dX/dmu = 0. */
static cb_status farthest(family_walk *w, const family_branch *b, family_found found, void *context) {
  double mu[2], X[2];
  if (b->knots < 2 || !(family_mu(b->knot[b->knots - 1]) < 1e-3)) return CB_OK;
  for (int k = 0; k < 2; k++) {
    const family_point *p = b->knot[b->knots - 2 + k];
    mu[k] = family_mu(p);
    X[k] = family_amount(p) -
           mu[k] * p->tangent[p->size - 1] / p->tangent[p->size - 2] / 2; /* the error is of order mu^3 */
  }
  const family_point *p = b->knot[b->knots - 1];
  const cb_status status = family_harmonics(w, p->harmonics);
  const double slope = p->tangent[p->size - 1] / p->tangent[p->size - 2];
  const cb_family_event e = {.kind = CB_FAMILY_FARTHEST,
                             .amount = X[1] + (X[1] - X[0]) / (pow(mu[0] / mu[1], 3) - 1),
                             .cost = p->cost - 2 * family_lambda(w->y, p) * slope * mu[1],
                             .branch = -1,
                             .other = -1};
  return status ? status : found(context, &e, p);
}

static cb_status unresolved(family_walk *w, const family_branch *b, family_found found, void *context) {
  const family_point *p = b->knot[b->knots - 1];
  const cb_family_event e = {
      .kind = CB_FAMILY_UNRESOLVED, .amount = family_amount(p), .cost = p->cost, .branch = -1, .other = -1};
  const cb_status status = family_harmonics(w, p->harmonics);
  return status || !family_unresolved(w->y, p) ? status : found(context, &e, p);
}

/* Copies a knot to a point with as many harmonics as the walk has now, including its eigenvalues. */
static cb_status widened(family_walk *w, const family_point *p, family_point **out) {
  const cb_status status = family_point_copy(w->y, p, out);
  if (status) return status;
  (*out)->values = p->values;
  memcpy((*out)->eigen, p->eigen, (size_t)p->values * sizeof *p->eigen);
  return CB_OK;
}

cb_status family_outside(family_walk *w, const family_point *p, bool *outside) {
  const cb_optimum_problem *o = w->y->o;
  const cb_status status = family_harmonics(w, p->harmonics);
  *outside = false;
  for (int i = 0; !status && o->lower && i < 2 * w->y->n; i++)
    if (isfinite(i % 2 ? o->lower[i / 2] : o->upper[i / 2])) *outside = *outside || bound(w->y, p, i) > 0;
  if (!status && o->no_crossing && drawn(o->bundle)) *outside = *outside || crossing(w->y, p, 0) > 0;
  return status;
}

static cb_status between(family_walk *w, const family_point *a, const family_point *b, family_found found,
                         void *context) {
  watch all[4 + 2 * CB_SHAPE_MAX] = {{CB_FAMILY_EFFICIENT, efficient, 0, -1}};
  int count = 1;
  const bool turns = turning(w->y, a, 0) * turning(w->y, b, 0) < 0;
  if (turns) all[count++] = (watch){CB_FAMILY_TURNING, turning, 0, -1};
  if (a->index != b->index && !(turns && abs(a->index - b->index) == 1))
    all[count++] = (watch){CB_FAMILY_BIFURCATION, eigenvalue, a->index < b->index ? a->index : b->index, -1};
  for (int i = 0; w->y->o->lower && i < 2 * w->y->n; i++)
    if (isfinite(i % 2 ? w->y->o->lower[i / 2] : w->y->o->upper[i / 2]))
      all[count++] = (watch){CB_FAMILY_BOUND, bound, i, i / 2};
  if (drawn(w->y->o->bundle)) all[count++] = (watch){CB_FAMILY_CROSSING, crossing, 0, -1};
  cb_status status = CB_OK;
  for (int k = 0; k < count && !status; k++)
    status =
        report(w, &all[k], a, b, all[k].at(w->y, a, all[k].which), all[k].at(w->y, b, all[k].which), found, context);
  return status;
}

cb_status family_events(family_walk *w, const family_branch *b, family_found found, void *context) {
  cb_status status = CB_OK;
  for (int k = 1; k < b->knots && !status; k++) {
    family_point *pair[2] = {NULL, NULL};
    status = family_pair(w, b->knot[k - 1], b->knot[k]);
    for (int j = 0; j < 2 && !status; j++) status = widened(w, b->knot[k - 1 + j], &pair[j]);
    if (!status) status = between(w, pair[0], pair[1], found, context);
    family_point_free(pair[0]);
    family_point_free(pair[1]);
  }
  if (!status) status = farthest(w, b, found, context);
  return status ? status : unresolved(w, b, found, context);
}

/* --- comparison of costs between branches, and of two cycles with one --- */

enum { PARTS = 6, NEWTON = 40 };

/* Two neighbouring knots of a branch, between whose amounts a given amount lies. */
typedef struct place {
  const family_point *a, *b;
} place;

static void row_of(const family_system *y, const family_point *p, double *X, double *E, double *lambda) {
  const int rest = y->size - y->u;
  *X = family_amount(p);
  *E = p->cost;
  *lambda = -p->z[p->size - rest + y->row] * y->scale / family_mu(p);
}

static double cost_between(const family_system *y, place at, double amount) {
  double X[2], E[2], lambda[2];
  row_of(y, at.a, &X[0], &E[0], &lambda[0]);
  row_of(y, at.b, &X[1], &E[1], &lambda[1]);
  return family_cubic(X, E, lambda, amount);
}

/* Returns the cost of a branch at an amount, from cubics between its knots. It is the minimum if the branch passes the
 * amount more than once, and nan if it does not pass the amount. *at becomes the pair of knots between which the cost
 * was found. */
static double cost_at(const family_system *y, const family_branch *b, double amount, place *at) {
  double least = NAN;
  for (int k = 1; k < b->knots; k++) {
    const place here = {b->knot[k - 1], b->knot[k]};
    const double from = family_amount(here.a), to = family_amount(here.b);
    if (from == to || (amount - from) * (amount - to) > 0) continue;
    const double E = cost_between(y, here, amount);
    if (!(E >= least)) {
      least = E;
      *at = here;
    }
  }
  return least;
}

bool family_passes(family_walk *w, const family_branch *b, const family_point *p) {
  const double amount = family_amount(p), cost = p->cost;
  for (int k = 1; k < b->knots; k++) {
    const family_point *one = b->knot[k - 1], *two = b->knot[k];
    const double from = family_amount(one), to = family_amount(two), slack = 1e-8 * fabs(amount);
    if (amount < fmin(from, to) - slack || amount > fmax(from, to) + slack) continue;
    if (fmin(fabs(cost - one->cost), fabs(cost - two->cost)) > .01 * cost + fabs(two->cost - one->cost)) continue;
    family_point *same;
    if (family_at_amount(w, one, two, amount, &same)) continue;
    const double off = fabs(same->cost - cost);
    family_point_free(same);
    if (off <= 1e-6 * cost) return true; /* the costs are equal within the accuracy of the branch */
  }
  return false;
}

/* The function E(X) on one branch minus `times` E(share X) on branch `two`, where E is the cost at the amount X. */
typedef struct difference {
  const family_branch *two;
  double times, share;
} difference;

static cb_status exact(family_walk *w, place at, double amount, double *E, double *slope, family_point **out) {
  double X;
  family_point *p;
  const cb_status status = family_at_amount(w, at.a, at.b, amount, &p);
  if (status) return status;
  row_of(w->y, p, &X, E, slope);
  *slope *= 2;
  if (out)
    *out = p;
  else
    family_point_free(p);
  return CB_OK;
}

static double rough(family_walk *w, const difference *d, place one, double amount) {
  place two;
  return cost_between(w->y, one, amount) - d->times * cost_at(w->y, d->two, d->share * amount, &two);
}

/* A sign change of a difference. It lies between two knots of a branch, at an amount in [low, high]. */
typedef struct sign_change {
  const difference *d;
  place one;
  double low, high;
} sign_change;

/* Solves for the zero of the difference by Newton's method, which begins at `amount`, and reports the event. Returns
 * without a report if an iterate leaves (low, high). */
static cb_status settle(family_walk *w, const sign_change *c, double amount, cb_family_event *e, family_found found,
                        void *context) {
  const difference *d = c->d;
  for (int k = 0; k < NEWTON; k++) {
    double E, slope, other, other_slope;
    place two;
    family_point *p = NULL;
    if (isnan(cost_at(w->y, d->two, d->share * amount, &two))) return CB_OK;
    cb_status status = exact(w, two, d->share * amount, &other, &other_slope, NULL);
    if (!status) status = exact(w, c->one, amount, &E, &slope, &p);
    if (status) return status < 0 ? status : CB_OK;
    const double off = E - d->times * other, step = -off / (slope - d->times * d->share * other_slope);
    if (fabs(step) <= 1e-11 * fabs(amount)) {
      e->amount = amount + step;
      e->cost = E + slope * step;
      status = found(context, e, p);
      family_point_free(p);
      return status;
    }
    family_point_free(p);
    amount += step;
    if (!(amount > c->low && amount < c->high)) return CB_OK;
  }
  return CB_OK;
}

static cb_status changes(family_walk *w, const family_branch *b, const difference *d, cb_family_event e,
                         family_found found, void *context) {
  cb_status status = CB_OK;
  double before = NAN, past = NAN;
  for (int k = 1; k < b->knots && !status; k++) {
    const place one = {b->knot[k - 1], b->knot[k]};
    const double from = family_amount(one.a), to = family_amount(one.b), slack = fabs(to - from) / PARTS;
    for (int j = 0; j <= PARTS && !status; j++) {
      const double amount = from + (to - from) * j / PARTS, now = rough(w, d, one, amount);
      const sign_change change = {d, one, fmin(past, amount) - slack, fmax(past, amount) + slack};
      if (j > 0 && before * now < 0)
        status = settle(w, &change, (past * now - amount * before) / (now - before), &e, found, context);
      before = now;
      past = amount;
    }
  }
  return status;
}

cb_status family_meet(family_walk *w, const family_branch *one, const family_branch *two, family_found found,
                      void *context) {
  const difference d = {two, 1, 1};
  return changes(w, one, &d, (cb_family_event){.kind = CB_FAMILY_CHEAPER, .branch = -1, .other = -1}, found, context);
}

cb_status family_cycles(family_walk *w, const family_branch *b, family_found found, void *context) {
  const difference d = {b, 4, .5};
  return changes(w, b, &d, (cb_family_event){.kind = CB_FAMILY_CYCLES, .branch = -1, .other = -1}, found, context);
}
