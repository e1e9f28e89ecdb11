/* Contacts that rest within a step of coupled bodies and particles.
 *
 *   flight    p <- p + sum_i l_i G_i at its start,  l_i >= 0,  s_i >= 0 at its end,  l_i s_i = 0
 *   impact    at the end of a part of a step:  p <- p + sum_i l_i G_i,  l_i >= 0,  ds_i/dt >= 0,  l_i ds_i/dt = 0, for
 *             the contacts whose gap is closed there
 * s_i: gap of contact i, above its least value 0; G_i: its gradient; p: momenta; l_i: impulses. This is the step RATTLE
 * of constraints s = 0 (coupled.h) with impulses that only push (Andersen (1983), doi:10.1016/0021-9991(83)90014-1;
 * Moreau (1988), doi:10.1007/978-3-7091-2624-0_1). If a contact pushes with the force N(t) >= 0 for the time tau, the
 * impulses at both ends are the integrals of N with the weights 1 - t/tau and t/tau.
 *   The impulses of a flight are found by Newton's method for the complementarity problem s + D (l_new - l) >= 0. D is
 * tau times the change of the rates by unit impulses at the start. Where stiff forces make this too inexact, D is
 * measured by flights with one impulse changed. The impulses may be not unique, such as those of four legs; the motion
 * is unique.
 */
#include "coupling/coupled_private.h"
#include "dynamics/reflection.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAXIMUM = 100, SLOW = 6, IMPACTS_MAX = 4, SWEEPS_MAX = 5000 };
/* The iteration for the impulses ends when no rate changes by more than this fraction of the largest rate. */
static const double precise = 1e-12;
/* The diagonal of a measured D is multiplied by 1 + near (see change_impulses). */
static const double near = 1e-3;
/* The round-off of a rate, relative to the sum of its terms. */
static const double rate_round_off = 16 * DBL_EPSILON;

/* --- the list of contacts --- */

void cb_resting_free(cb_resting *r) {
  free(r->gap);
  free(r->list);
  free(r->impulse);
  free(r->gradient);
  free(r->entry);
  free(r->D);
}

bool cb_resting_holds(const cb_resting *r, int gap) {
  for (int i = 0; i < r->n; i++)
    if (r->gap[i] == gap) return true;
  return false;
}

/* Allocates memory for twice as many contacts. Keeps the lists of contacts and the tolerances. */
static cb_status grow(cb_resting *r) {
  const int capacity = r->capacity ? 2 * r->capacity : 16;
  const size_t n = (size_t)capacity;
  int *gap = malloc(n * sizeof *gap), *list = malloc(3 * n * sizeof *list);
  double *impulse = malloc((6 * n + n * (n + 5)) * sizeof *impulse), *D = malloc(n * n * sizeof *D);
  double(*gradient)[CB_GAP_MAX] = malloc(n * sizeof *gradient);
  cb_gap_entry(*entry)[CB_GAP_PARTICLES] = malloc(n * sizeof *entry);
  if (!gap || !list || !impulse || !D || !gradient || !entry) {
    free(gap);
    free(list);
    free(impulse);
    free(D);
    free(gradient);
    free(entry);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d contacts that rest", capacity);
  }
  if (r->capacity) {
    memcpy(gap, r->gap, (size_t)r->capacity * sizeof *gap);
    memcpy(list + 2 * n, r->closed, (size_t)r->capacity * sizeof *list);
    memcpy(impulse + 2 * n, r->tolerance, (size_t)r->capacity * sizeof *impulse);
  }
  cb_resting_free(r);
  r->gap = gap;
  r->list = list;
  r->closed = list + 2 * n;
  r->impulse = impulse;
  r->q = impulse + n;
  r->tolerance = impulse + 2 * n;
  r->before = impulse + 3 * n;
  r->after = impulse + 4 * n;
  r->pushed = impulse + 5 * n;
  r->buffer = impulse + 6 * n;
  r->D = D;
  r->gradient = gradient;
  r->entry = entry;
  r->capacity = capacity;
  return CB_OK;
}

cb_status cb_resting_add(cb_resting *r, int gap) {
  if (r->n == r->capacity) {
    const cb_status status = grow(r);
    if (status) return status;
  }
  r->gap[r->n++] = gap;
  cb_resting_begin(r);
  return CB_OK;
}

void cb_resting_clear(cb_resting *r) {
  r->n = 0;
  cb_resting_begin(r);
}

void cb_resting_begin(cb_resting *r) {
  for (int i = 0; i < r->n; i++) r->impulse[i] = 0;
  r->length = 0;
  r->known = r->measured = false;
}

/* --- the effect of impulses --- */

static cb_status look(cb_coupled *c, int gap, double t, cb_gap_value *value, cb_gap_look *out) {
  return cb_coupled_look(c, &c->contacts->gap[gap], t, value, out);
}

/* Adds the impulses of joints and constraints that follow from other impulses at the present node, and finds the
 * rates. */
static cb_status settle(cb_coupled *c, double t) {
  cb_status status = cb_coupled_settle(c, t);
  if (c->rows && !status) status = cb_coupled_rows_project(c, t);
  return status ? status : cb_coupled_find_rates(c, t);
}

/* Computes e->own, the change of velocity by a unit impulse, unless the entry belongs to a body with joints. */
static cb_status answer(cb_coupled *c, double t, cb_gap_entry *e) {
  cb_factors6 f;
  if (e->unit >= c->bodies.n) {
    cb_coupled_raise(c, e->unit - c->bodies.n, e->W, e->own);
    for (int a = 0; a < c->k; a++) e->own[a] /= c->mass[e->unit - c->bodies.n];
    return CB_OK;
  }
  if (cb_coupled_has_joints(c, e->unit)) return CB_OK;
  const cb_status status = cb_coupled_factor(c, t, e->unit, &f);
  if (!status) cb_back6(&f, e->W, e->own);
  return status;
}

/* Computes the entries e[2] (cb_gap_entry) of the two sides of a contact between shapes, from the gradient G of its
 * gap. */
static cb_status find_entries_of_shapes(cb_coupled *c, double t, const double *G, const cb_gap *gap, cb_gap_entry *e) {
  cb_status status = CB_OK;
  for (int p = 0; p < 2 && !status; p++, e++, G += 6) {
    const int unit = cb_coupled_unit_of_shapes(c, gap, p);
    *e = (cb_gap_entry){.unit = unit};
    memcpy(e->world, G, sizeof e->world);
    if (unit < c->bodies.n)
      cb_turn6_transposed((const double(*)[3])c->motion[unit].r, G, e->W);
    else
      memcpy(e->W, G, (size_t)c->k * sizeof *G);
    status = answer(c, t, e);
  }
  return status;
}

/* Returns the number of entries (cb_gap_entry) of a gap: 2 for a gap between shapes, otherwise one per point. */
static int units_of(const cb_gap *gap) { return gap->kind == CB_GAP_SHAPES ? 2 : gap->n; }

/* Computes the entries (cb_gap_entry) of contact i in the list of contacts that rest, from the gradient of its gap. */
static cb_status find_entries(cb_coupled *c, double t, int i, const cb_gap *gap) {
  cb_gap_entry *e = c->contacts->resting.entry[i];
  cb_status status = CB_OK;
  const double *G = c->contacts->resting.gradient[i];
  if (gap->kind == CB_GAP_SHAPES) return find_entries_of_shapes(c, t, G, gap, e);
  for (int p = 0; p < gap->n && !status; p++, e++, G += c->k) {
    const int place = gap->particle[p], body = c->carried[place].body;
    *e = (cb_gap_entry){.unit = body >= 0 ? body : c->bodies.n + place};
    if (body >= 0) {
      cb_coupled_wrench(c, place, G, e->W);
      cb_turn6((const double(*)[3])c->motion[body].r, e->W, e->world);
    } else {
      memcpy(e->W, G, (size_t)c->k * sizeof *G);
    }
    status = answer(c, t, e);
  }
  return status;
}

static double dot6(const double a[6], const double b[6]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

/* Finds column j of D from the entries of the contacts: D_ij = G_i K^-1 G_j^T, where K is the inertia. If bodies have
 * joints, the response of all joined bodies takes the place of K^-1. */
static void respond(cb_coupled *c, int count, const int *gap, int j, double *D) {
  const cb_coupled_contacts *k = c->contacts;
  const cb_resting *r = &k->resting;
  memset(r->push, 0, (size_t)c->bodies.n * sizeof *r->push);
  bool joined = false;
  for (int p = 0; p < units_of(&k->gap[gap[j]]); p++) {
    const cb_gap_entry *e = &r->entry[j][p];
    if (e->unit >= c->bodies.n || !cb_coupled_has_joints(c, e->unit)) continue;
    cb_add6(1, e->world, r->push[e->unit]);
    joined = true;
  }
  if (joined) cb_mechanism_respond(c->bodies.mechanism, (const double(*)[6])r->push, r->answer);
  for (int i = 0; i < count; i++) {
    double sum = 0;
    for (int p = 0; p < units_of(&k->gap[gap[i]]); p++) {
      const cb_gap_entry *e = &r->entry[i][p];
      if (e->unit < c->bodies.n && cb_coupled_has_joints(c, e->unit)) {
        sum += joined ? dot6(e->world, r->answer[e->unit]) : 0;
        continue;
      }
      for (int q = 0; q < units_of(&k->gap[gap[j]]); q++)
        if (r->entry[j][q].unit == e->unit) sum += dot6(e->W, r->entry[j][q].own);
    }
    D[i * count + j] = sum;
  }
}

/* Returns whether find_response must apply the impulses in order to find D. This is so if there are constraints, if
 * bodies feel each other through the fluid, or if the list contains limits of joints, whose impulses act on coordinates
 * and not on points. */
static bool coupled_otherwise(const cb_coupled *c, int count, const int *gap) {
  bool limits = false;
  for (int i = 0; i < count; i++) limits = limits || cb_gap_is_limit(&c->contacts->gap[gap[i]]);
  return limits || c->rows || c->bodies.feel;
}

/* Finds column j of D: applies a unit impulse at contact j, to which all bodies respond, and compares the rates with
 * the rates q without this impulse. */
static cb_status respond_with_others(cb_coupled *c, double t, int count, const int *gap, int j, double *D,
                                     const double *q) {
  cb_coupled_contacts *k = c->contacts;
  cb_gap_value value;
  cb_gap_look now;
  cb_coupled_bring_back(c, k->last);
  cb_coupled_push(c, &k->gap[gap[j]], k->resting.gradient[j], 1);
  cb_status status = settle(c, t);
  for (int i = 0; i < count && !status; i++) {
    status = look(c, gap[i], t, &value, &now);
    D[i * count + j] = now.rate - q[i];
  }
  return status;
}

/* Finds, at the present state, the rates q[count] of the contacts gap[count], and D[count*count]: column j has the
 * changes of these rates by a unit impulse on contact j. The state does not change. */
static cb_status find_response(cb_coupled *c, double t, int count, const int *gap, double *D, double *q) {
  cb_coupled_contacts *k = c->contacts;
  const bool otherwise = coupled_otherwise(c, count, gap);
  cb_gap_value value = {0};
  cb_gap_look now;
  cb_coupled_keep(c, k->last);
  cb_status status = settle(c, t);
  for (int i = 0; i < count && !status; i++) {
    status = look(c, gap[i], t, &value, &now);
    memcpy(k->resting.gradient[i], value.gradient, sizeof value.gradient);
    q[i] = now.rate;
    if (!status && !otherwise) status = find_entries(c, t, i, &k->gap[gap[i]]);
  }
  for (int j = 0; j < count && !status; j++)
    if (otherwise)
      status = respond_with_others(c, t, count, gap, j, D, q);
    else
      respond(c, count, gap, j, D);
  cb_coupled_bring_back(c, k->last);
  return status;
}

static void make_symmetric(int n, double *D) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) D[i * n + j] = D[j * n + i] = (D[i * n + j] + D[j * n + i]) / 2;
}

/* Solves z = q + D l >= 0, l >= 0, l_i z_i = 0 by the iteration of Gauss and Seidel, l_i <- max(0, l_i - z_i/D_ii). It
 * converges slowly, but also if contacts are nearly dependent on each other. Returns whether it has converged. */
static bool iterate(const cb_resting *r, int n, const double *D, const double *start, cb_lcp *out) {
  double size = 0, worst = INFINITY;
  for (int i = 0; i < n; i++) {
    out->l[i] = start ? start[i] : 0;
    size = fmax(size, fabs(r->q[i]));
    if (!(D[i * n + i] > 0)) return false;
  }
  for (int k = 0; k < SWEEPS_MAX && worst > 0; k++) {
    worst = 0;
    for (int i = 0; i < n; i++) {
      double z = r->q[i];
      for (int j = 0; j < n; j++) z += D[i * n + j] * out->l[j];
      const double old = out->l[i];
      out->l[i] = fmax(0, old - z / D[i * n + i]);
      out->z[i] = z;
      const double change = fabs(out->l[i] - old) * D[i * n + i];
      if (change > r->tolerance[i] + precise * size) worst = fmax(worst, change);
    }
  }
  return worst == 0;
}

/* Solves z = q + D l >= 0, l >= 0, l_i z_i = 0. start: impulses near the solution; NULL: none are known. */
static cb_status solve(cb_resting *r, int n, const double *D, const double *start, cb_lcp *out) {
  const cb_status status = cb_lcp_solve(n, D, r->q, r->tolerance, r->buffer, r->list, out);
  if ((status == CB_STEP_SINGULAR || status == CB_STEP_NO_CONVERGENCE) && iterate(r, n, D, start, out)) return CB_OK;
  return status == CB_STEP_SINGULAR || status == CB_STEP_NO_CONVERGENCE
             ? cb_fail(status,
                       "the impulses of %d contacts that rest were not found: constraints, joints and walls leave the "
                       "bodies no direction in which to separate; expected bodies that can separate, or try a smaller "
                       "`step`",
                       n)
             : status;
}

/* --- a flight --- */

/* The gap of a contact may be below 0 at the start of a flight, if another patch of faces touches (coupled_shapes.c).
 * It then rises in a step by this fraction of its depth. */
static const double rise = 0.2;

/* Returns the least value that a gap may have at the end of a flight of length tau. It is 0; for a gap s below 0 at the
 * start it is s (1 - rise tau/step). */
static double deepest(const cb_coupled_contacts *k, int gap, double tau) {
  const cb_gap_look *start = &k->start[gap];
  return start->s < -cb_gap_closed * start->size ? start->s * (1 - rise * fmin(tau / k->step, 1)) : 0;
}

/* Makes the flight with the present impulses, and computes q, the gaps of the contacts at its end minus their least
 * values (deepest). */
static cb_status try_flight(cb_coupled *c, double t, double tau, int *body, int *iterations) {
  cb_coupled_contacts *k = c->contacts;
  cb_resting *r = &k->resting;
  cb_gap_value value;
  cb_gap_look now;
  cb_coupled_bring_back(c, k->first);
  for (int i = 0; i < r->n; i++)
    if (r->impulse[i] > 0) cb_coupled_push(c, &k->gap[r->gap[i]], r->gradient[i], r->impulse[i]);
  cb_status status = cb_coupled_whole(c, t, tau, body, iterations);
  if (!status && r->n) status = cb_coupled_find_rates(c, t + tau);
  for (int i = 0; i < r->n && !status; i++) {
    status = look(c, r->gap[i], t + tau, &value, &now);
    r->q[i] = now.s - deepest(k, r->gap[i], tau);
    r->tolerance[i] = cb_gap_zero * now.size;
  }
  return status;
}

/* Measures D by flights in each of which one impulse is changed. On entry r->q is the result of try_flight with the
 * present impulses. */
static cb_status measure(cb_coupled *c, double t, double tau, int *body) {
  cb_resting *r = &c->contacts->resting;
  int unused;
  double *base = r->buffer; /* the gaps of the present flight, kept in r->buffer, which is free between two solutions */
  memcpy(base, r->q, (size_t)r->n * sizeof *base);
  cb_status status = CB_OK;
  for (int j = 0; j < r->n && !status; j++) {
    const double kept = r->impulse[j], size = fabs(r->D[j * r->n + j] * tau),
                 small = 1e-5 * fmax(kept, size > 0 ? fabs(base[j]) / size : 1e-3) + 1e-9;
    r->impulse[j] += small;
    status = try_flight(c, t, tau, body, &unused);
    for (int i = 0; i < r->n; i++) r->D[i * r->n + j] = (r->q[i] - base[i]) / small;
    r->impulse[j] = kept;
  }
  memcpy(r->q, base, (size_t)r->n * sizeof *base);
  make_symmetric(r->n, r->D);
  r->measured = true;
  return status;
}

/* Returns the largest violation of s >= 0, l >= 0, l s = 0, relative to the tolerances. */
static double violation(const cb_resting *r) {
  double out = 0;
  for (int i = 0; i < r->n; i++)
    out = fmax(out, (r->impulse[i] > 0 ? fabs(r->q[i]) : fmax(-r->q[i], 0)) / r->tolerance[i]);
  return out;
}

/* Finds D at the start of the flight. loose: D is computed as if neither a limit nor dry friction held a coordinate. */
static cb_status respond_at_start(cb_coupled *c, double t, bool loose) {
  cb_coupled_contacts *k = c->contacts;
  cb_resting *r = &k->resting;
  cb_coupled_snapshot *last = k->last;
  cb_coupled_bring_back(c, k->first);
  if (loose) cb_mechanism_release(c->bodies.mechanism);
  k->last = c->kicked; /* find_response stores the present state here, and restores it from here */
  const cb_status status = find_response(c, t, r->n, r->gap, r->D, r->q);
  k->last = last;
  r->length = 0;
  r->known = true;
  r->measured = false;
  return status;
}

/* Finds D, and a first guess of the impulses from those of a flight of another length. */
static cb_status begin_flight(cb_coupled *c, double t, double tau) {
  cb_resting *r = &c->contacts->resting;
  const cb_status status = r->known ? CB_OK : respond_at_start(c, t, false);
  for (int i = 0; i < r->n; i++) r->impulse[i] = r->length > 0 ? r->impulse[i] * (tau / r->length) : 0;
  if (r->measured && r->length > 0) {
    const double factor = tau / r->length;
    for (int i = 0; i < r->n * r->n; i++) r->D[i] *= factor;
  }
  r->length = tau;
  return status;
}

/* Changes the impulses by a step of Newton's method: solves s + D (l_new - l) >= 0, where D is the change of the gaps
 * of the flight by unit impulses (measured, or tau times the change of the rates). The diagonal of a measured D is
 * enlarged by a small part. If impulses are not unique, this keeps them near the last ones. Otherwise they would jump
 * between very different solutions, and the errors of D would grow. slower: the change of the impulses is divided by
 * this factor. */
static cb_status change_impulses(cb_resting *r, double tau, double slower) {
  const double length = slower * (r->measured ? 1 : tau), larger = r->measured ? 1 + near : 1;
  cb_lcp lcp;
  for (int i = 0; i < r->n; i++) r->D[i * r->n + i] *= larger;
  for (int i = 0; i < r->n; i++) {
    double sum = 0;
    for (int j = 0; j < r->n; j++) sum += r->D[i * r->n + j] * r->impulse[j];
    r->q[i] = r->q[i] / length - sum;
    r->tolerance[i] /= length;
  }
  const cb_status status = solve(r, r->n, r->D, r->impulse, &lcp);
  for (int i = 0; i < r->n; i++) r->D[i * r->n + i] /= larger;
  for (int i = 0; i < r->n && !status; i++) r->impulse[i] = fmax(lcp.l[i], 0);
  return status;
}

cb_status cb_coupled_fly(cb_coupled *c, double t, double tau, int *body, int *iterations) {
  cb_resting *r = &c->contacts->resting;
  double last = INFINITY, slower = 1;
  bool loose = false;
  int next = SLOW; /* D may be measured from this iteration on; before it, the set of held coordinates may change */
  cb_status status = r->n ? begin_flight(c, t, tau) : CB_OK;
  for (int n = 0; !status; n++) {
    status = try_flight(c, t, tau, body, iterations);
    if (status || !r->n) return status;
    const double now = violation(r);
    if (now <= 1 || (n > 2 && now >= last / 2 && now <= 100)) return CB_OK;
    if (n == MAXIMUM)
      return cb_fail(CB_STEP_NO_CONVERGENCE,
                     "the impulses of %d contacts that rest did not converge: use a smaller `step`", r->n);
    if (n >= next && now > last / 10) {
      status = measure(c, t, tau, body);
      next = n + SLOW;
      last = INFINITY;
    }
    /* if dry friction holds a coordinate only on one side of the solution, D is too small on the other side */
    if (now > 0.9 * last) slower = fmin(2 * slower, 16);
    if (now < last / 10) slower = fmax(slower / 2, 1);
    last = now;
    if (!status) status = change_impulses(r, tau, slower);
    if (status && !loose && c->bodies.mechanism) {
      loose = true; /* a limit or dry friction that holds a coordinate at the start may release it in the flight */
      status = respond_at_start(c, t, true);
      r->length = tau;
    }
  }
  return status;
}

/* --- impacts --- */

/* Lists in r->closed the contacts that rest and are closed or, if `all` is set, all contacts and limits of joints that
 * are closed. *closes: whether one of them closes further. */
static cb_status list_closed(cb_coupled *c, double t, bool all, int *count, bool *closes) {
  cb_coupled_contacts *k = c->contacts;
  cb_resting *r = &k->resting;
  cb_gap_value value;
  cb_gap_look now;
  cb_status status = cb_coupled_find_rates(c, t);
  *count = 0;
  *closes = false;
  for (int i = 0; i < (all ? k->contacts : r->n) && !status; i++) {
    const int gap = all ? i : r->gap[i];
    status = look(c, gap, t, &value, &now);
    if (status || !(now.s <= cb_gap_closed * now.size)) continue;
    if (*count == r->capacity && (status = grow(r))) continue;
    const double limit = r->tolerance[*count] = fmax(-cb_gap_rest, rate_round_off * now.speed);
    *closes = *closes || now.rate < -limit;
    r->closed[(*count)++] = gap;
  }
  return status;
}

cb_status cb_coupled_impact(cb_coupled *c, double t, bool all, int *count) {
  cb_coupled_contacts *k = c->contacts;
  cb_resting *r = &k->resting;
  bool closes;
  cb_status status = list_closed(c, t, all, count, &closes);
  if (status || !closes) {
    *count = 0;
    return status;
  }
  cb_lcp lcp;
  r->known = false; /* the arrays of D and of the gradients are overwritten here */
  if (all && c->bodies.mechanism) cb_mechanism_release(c->bodies.mechanism);
  status = find_response(c, t, *count, r->closed, r->D, r->q);
  make_symmetric(*count, r->D);
  for (int i = 0; i < *count && !status; i++) {
    r->before[i] = r->q[i];
    const double e = cb_coupled_restitution(c, &k->gap[r->closed[i]]);
    if (r->q[i] < 0 && !cb_resting_holds(r, r->closed[i])) r->q[i] *= 1 + e;
  }
  if (!status) status = solve(r, *count, r->D, NULL, &lcp);
  for (int i = 0; i < *count && !status; i++) {
    r->pushed[i] = fmax(lcp.l[i], 0);
    r->after[i] = r->before[i] + lcp.z[i] - r->q[i];
    if (r->pushed[i] > 0) cb_coupled_push(c, &k->gap[r->closed[i]], r->gradient[i], r->pushed[i]);
  }
  if (!status) status = settle(c, t);
  if (!status && all && c->bodies.mechanism) cb_mechanism_hold(c->bodies.mechanism);
  return status;
}

cb_status cb_coupled_press(cb_coupled *c, double t) {
  int count = c->contacts->resting.n;
  cb_status status = CB_OK;
  for (int n = 0; n < IMPACTS_MAX && count && !status; n++) status = cb_coupled_impact(c, t, false, &count);
  return status;
}
