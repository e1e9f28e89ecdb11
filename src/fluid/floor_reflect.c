/* A step with reflections off the floor. It consists of flights, which end where a gap becomes 0, of impacts at these
 * times, and of resting or accumulating contacts that are held during the flights (equations: floor.h). Y is the twist,
 * dY its change in an impact, p the momentum, x_i' the velocity of vertex i in the body frame, n the direction up in
 * the body frame, w_i = (x_i × n, n), l_i >= 0 the impulse on vertex i, and e the restitution.
 *
 *   flight   the state after a time tau is that of the stepper's step of length tau from the last impact; for vertices
 *            that are held:  p+ = p + sum l_i w_i,  l_i >= 0,  gap_i(tau) >= 0,  l_i gap_i(tau) = 0, and at the end an
 *            impact with e = 0. (If the floor pushes with the force N(t) >= 0, the impulses at the start and at the end
 *            are the integrals of N with the weights 1 - t/tau and t/tau, and both are >= 0.)
 *   impact   w_i . dY >= -(1 + e) u_i for each vertex that touches the floor and does not rise,
 *            u_i = w_i . Y + <n, x_i'>
 *
 * p+ is the momentum after the impulses l_i at the start of the flight, and u_i the velocity of vertex i along n.
 */
#include "fluid/floor.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HITS = 10000, MAX_IMPACTS = 1000, MAX_ROUNDS = 60, ACCUMULATED = 20 };
/* Contacts accumulate if there are ACCUMULATED reflections within this fraction of a step. */
static const double accumulation_part = 1e-2;

/* --- work arrays --- */

cb_status cb_floor_work_create(cb_floor_work **out) {
  cb_floor_work *w = calloc(1, sizeof *w);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for the floor");
  *out = w;
  return CB_OK;
}

void cb_floor_work_free(cb_floor_work *w) {
  if (!w) return;
  free(w->numbers);
  free(w->list);
  free(w->held);
  free(w->hit);
  free(w);
}

static cb_status reserve(cb_floor_work *w, int n) {
  if (n <= w->capacity) return CB_OK;
  double *numbers = malloc((size_t)n * 8 * sizeof *numbers);
  int *list = malloc((size_t)n * sizeof *list);
  bool *held = malloc((size_t)n * sizeof *held);
  if (!numbers || !list || !held) {
    free(numbers);
    free(list);
    free(held);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices at the floor", n);
  }
  free(w->numbers);
  free(w->list);
  free(w->held);
  w->capacity = n;
  w->hits = 0;
  w->numbers = w->bound = numbers;
  w->base = numbers + n;
  w->list = list;
  w->held = held;
  for (int side = 0; side < 3; side++) {
    w->gap[side] = numbers + (2 + side) * (size_t)n;
    w->rate[side] = numbers + (5 + side) * (size_t)n;
  }
  return CB_OK;
}

static cb_status note(cb_floor_work *w, const cb_floor_hit *hit) {
  if (w->hits == w->hit_capacity) {
    const int capacity = w->hit_capacity ? 2 * w->hit_capacity : 16;
    cb_floor_hit *more = realloc(w->hit, (size_t)capacity * sizeof *more);
    if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for %d reflections", capacity);
    w->hit = more;
    w->hit_capacity = capacity;
  }
  w->hit[w->hits++] = *hit;
  return CB_OK;
}

/* --- gaps and rates of a state --- */

static cb_status cb_floor_gaps(cb_floor_run *e, cb_floor_look *a) {
  int n;
  double r[3][3], farthest = 0, quickest = 0;
  cb_pose_rotation(&a->s.g, r);
  cb_apply3_transposed(r, e->f->up, a->n);
  const double level = (cb_dot3(a->s.g.x, e->f->up) - e->f->height) + cb_dot3(a->s.x_low, e->f->up);
  cb_status status = e->shape->at(e->shape->self, a->s.t, &n, &a->x, &a->v);
  if (!status && e->count && n != e->count)
    status =
        cb_fail(CB_ERROR_ARGUMENT, "the number of vertices of a shape has changed: expected %d, found %d", e->count, n);
  if (!status && !e->count) status = reserve(e->w, e->count = n);
  if (status) return status;
  double *gap = e->w->gap[a->side], finite = 0;
  a->least = INFINITY;
  for (int i = 0; i < n; i++) {
    gap[i] = level + cb_dot3(a->x[i], a->n);
    finite += gap[i];
    a->least = fmin(a->least, gap[i]);
    farthest = fmax(farthest, cb_dot3(a->x[i], a->x[i]));
    if (a->v) quickest = fmax(quickest, cb_dot3(a->v[i], a->v[i]));
  }
  a->farthest = sqrt(farthest);
  a->quickest = sqrt(quickest);
  a->rated = false;
  a->round_off = fabs(e->f->height) + a->farthest;
  for (int i = 0; i < 3; i++) a->round_off += fabs(a->s.g.x[i] * e->f->up[i]);
  a->round_off *= 64 * DBL_EPSILON;
  if (isfinite(finite)) return CB_OK;
  return cb_fail(CB_STEP_NOT_FINITE,
                 "the height of a vertex above the floor at t = %g is not finite: try a smaller step", a->s.t);
}

double cb_floor_speed(const cb_floor_look *a, const double Y[6]) {
  return sqrt(cb_dot3(Y + 3, Y + 3)) + sqrt(cb_dot3(Y, Y)) * a->farthest + a->quickest;
}

/* Returns whether vertex i is on the floor, or so near that it moves by more than its gap in the time e->near. If rates
 * are not known, only a vertex on the floor counts. */
bool cb_floor_touches(const cb_floor_run *e, const cb_floor_look *a, int i) {
  return e->w->gap[a->side][i] <= a->round_off + (a->rated ? e->near * fabs(e->w->rate[a->side][i]) : 0);
}

/* Finds the rates of the gaps, rate_i = <x_i, n × omega> + <n, v + x_i'>, for the twist (omega, v) = a->Y. */
static cb_status rates(cb_floor_run *e, cb_floor_look *a) {
  int n;
  double spin[3], *rate = e->w->rate[a->side];
  const cb_status status = e->shape->at(e->shape->self, a->s.t, &n, &a->x, &a->v);
  if (status) return status;
  cb_cross3(a->n, a->Y, spin);
  const double rise = cb_dot3(a->n, a->Y + 3);
  for (int i = 0; i < n; i++) rate[i] = rise + cb_dot3(a->x[i], spin) + (a->v ? cb_dot3(a->n, a->v[i]) : 0);
  return CB_OK;
}

cb_status cb_floor_rates(cb_floor_run *e, cb_floor_look *a) {
  double mu0[6], K[6][6];
  if (a->rated) return CB_OK;
  cb_status status = e->p->inertia(e->p->self, a->s.t, &a->s.g, a->K, mu0);
  memcpy(K, a->K, sizeof K);
  if (!status) status = cb_rigid_velocity(K, a->s.momentum, mu0, a->Y);
  if (!status) status = rates(e, a);
  a->rated = !status;
  return status;
}

/* --- impulses --- */

/* Applies the impulses j at the vertices to the state s, whose twist is Y. */
static void kick(const cb_floor_metric *m, const cb_floor_impulses *j, const double Y[6], cb_rigid_state *s) {
  static const double still[3];
  double pn[3], qn[3], body[6], r[3][3], change[6], q[4];
  cb_cross3(m->p, m->n, pn);
  cb_cross3(m->q, m->n, qn);
  for (int i = 0; i < 3; i++) {
    body[i] = j->sum[1] * pn[i] + j->sum[2] * qn[i];
    body[3 + i] = j->sum[0] * m->n[i];
  }
  memcpy(q, s->g.q, sizeof q);
  cb_pose_rotation(&s->g, r);
  cb_turn6(r, body, change);
  cb_rigid_move(s, still, q, change);
  for (int i = 0; i < 6; i++) s->Y[i] = Y[i] + cb_dot3(m->B[i], j->sum);
  memcpy(s->mu, s->momentum, sizeof s->mu);
  s->known = 0; /* the twists of previous steps do not predict the next one */
}

/* Applies impacts until no vertex that touches the floor moves into it. With `held` only the held vertices take part,
 * and no hit is reported; otherwise all vertices take part. `met` is the vertex that met the floor (-1: none), and is
 * reported if it takes an impulse. Another vertex is reported only if it would have sunk by more than round-off in a
 * step. Returns CB_STEP_NO_CONVERGENCE after MAX_IMPACTS impacts. */
static cb_status impact(cb_floor_run *e, cb_floor_look *a, double restitution, bool held, int met) {
  cb_floor_metric m;
  cb_floor_work *w = e->w;
  bool made = false;
  if (!a->rated && a->least > a->round_off + 2 * e->near * cb_floor_speed(a, a->s.Y)) return CB_OK;
  cb_status status = cb_floor_rates(e, a);
  for (int impacts = 0; !status; impacts++) {
    double *rate = w->rate[a->side], *gap = w->gap[a->side];
    const double least = 1e-14 * cb_floor_speed(a, a->Y);
    int count = 0;
    bool closes = false;
    for (int i = 0; i < e->count; i++) {
      if ((held && !w->held[i]) || !cb_floor_touches(e, a, i) || rate[i] > least) continue;
      closes |= rate[i] < -least;
      w->bound[i] = -(1 + restitution) * fmin(rate[i], 0);
      w->list[count++] = i;
    }
    if (!closes) return CB_OK;
    if (impacts == MAX_IMPACTS)
      return cb_fail(CB_STEP_NO_CONVERGENCE,
                     "%d vertices on the floor still move into it after %d impacts: try a smaller step", count,
                     impacts);
    if (!made) status = cb_floor_metric_of((const double(*)[6])a->K, a->n, &m);
    made = true;
    cb_floor_impulses j;
    if (!status) status = cb_floor_solve(&m, count, w->list, a->x, w->bound, least / 2, &j);
    if (status) return status;
    kick(&m, &j, a->Y, &a->s);
    memcpy(a->Y, a->s.Y, sizeof a->Y);
    double before[3];
    for (int c = 0; c < j.count; c++) before[c] = rate[j.vertex[c]];
    status = rates(e, a);
    for (int c = 0; c < j.count && !held && !status; c++) {
      const int i = j.vertex[c];
      if (!(j.l[c] > 0 && (i == met || before[c] * e->h < -a->round_off))) continue;
      cb_floor_hit hit = {a->s.t, gap[i], before[c], rate[i], j.l[c], i, a->s.g, {0}};
      memcpy(hit.momentum, a->s.momentum, sizeof hit.momentum);
      status = note(w, &hit);
    }
  }
  return status;
}

/* --- flights --- */

static cb_status step(cb_floor_run *e, double tau, cb_floor_look *out) {
  int count = 0;
  const cb_status status = e->stepper->step(e->stepper->self, e->p, tau, &out->s, &count);
  e->iterations += count;
  return status ? status : cb_floor_gaps(e, out);
}

/* Returns the largest error of the held vertices at the end of a flight: the depth of a vertex below its lowest allowed
 * height, or its distance from that height if an impulse acts on it. */
static double unheld(const cb_floor_run *e, const cb_floor_look *out, const cb_floor_impulses *j) {
  double worst = 0;
  const double *gap = e->w->gap[out->side], *base = e->w->base;
  for (int i = 0; i < e->count; i++)
    if (e->w->held[i]) worst = fmax(worst, base[i] - gap[i]);
  for (int c = 0; c < j->count; c++)
    if (j->l[c] > 0) worst = fmax(worst, fabs(base[j->vertex[c]] - gap[j->vertex[c]]));
  return worst;
}

/* Makes a flight of length tau with the held vertices, and the impact at its end. It finds the impulses l at the start
 * by a sequence of linear problems, with the gaps measured from the lowest allowed ones:
 *
 *   gap_i + tau w_i . K^-1 sum_j (l_j - l_j of the last problem) w_j >= 0,  l >= 0
 *
 * Returns CB_STEP_NO_CONVERGENCE after MAX_ROUNDS problems. */
static cb_status hold(cb_floor_run *e, double tau, cb_floor_look *out) {
  cb_floor_impulses j = e->pushed; /* the first guess: the impulses of the last trial, scaled to this length */
  cb_floor_metric m;
  cb_floor_work *w = e->w;
  for (int i = 0; i < 3; i++) {
    j.l[i] *= tau / e->pushed_for;
    j.sum[i] *= tau / e->pushed_for;
  }
  const cb_floor_look *from = &e->look[0];
  double last = INFINITY;
  int count = 0;
  cb_status status = cb_floor_rates(e, &e->look[0]);
  if (!status) status = cb_floor_metric_of((const double(*)[6])from->K, from->n, &m);
  for (int round = 0; !status; round++) {
    out->s = from->s;
    if (j.count) kick(&m, &j, from->Y, &out->s);
    status = step(e, tau, out);
    if (status) return status;
    const double worst = unheld(e, out, &j);
    if (worst <= out->round_off / 8 || (worst <= out->round_off && worst >= last)) break;
    if (round == MAX_ROUNDS)
      return cb_fail(CB_STEP_NO_CONVERGENCE, "floor contact at t = %g: gap %g after %d iterations: try a smaller step",
                     from->s.t, worst, round);
    last = worst;
    const double(*x)[3], (*v)[3];
    status = e->shape->at(e->shape->self, from->s.t, &count, &x, &v);
    if (status) return status;
    count = 0;
    for (int i = 0; i < e->count; i++) {
      if (!w->held[i]) continue;
      w->bound[i] = cb_floor_response(&m, x[i], j.sum) - (w->gap[out->side][i] - w->base[i]) / tau;
      w->list[count++] = i;
    }
    status = cb_floor_solve(&m, count, w->list, x, w->bound, out->round_off / (16 * tau), &j);
  }
  e->pushed = j;
  e->pushed_for = tau;
  return status ? status : impact(e, out, 0, true, -1);
}

cb_status cb_floor_fly(cb_floor_run *e, double tau, cb_floor_look *out) {
  if (e->holds) return hold(e, tau, out);
  out->s = e->look[0].s;
  return step(e, tau, out);
}

/* Begins a flight: finds the gaps, and the lowest gap that is allowed for each vertex. */
static cb_status begin(cb_floor_run *e, const cb_rigid_state *s) {
  e->look[0].s = *s;
  const cb_status status = cb_floor_gaps(e, &e->look[0]);
  if (status) return status;
  for (int i = 0; i < e->count; i++) {
    const double gap = e->w->gap[0][i];
    e->w->base[i] = gap < -e->look[0].round_off ? gap : 0;
    e->w->held[i] = false;
  }
  e->holds = false;
  e->pushed = (cb_floor_impulses){0};
  e->pushed_for = 1;
  return CB_OK;
}

/* Holds the vertices that touch the floor and whose gaps have rates of at most `rate`; if `all` is set, it holds every
 * vertex. Returns whether more vertices are held than before. */
static bool hold_more(cb_floor_run *e, double rate, bool all) {
  bool more = false;
  for (int i = 0; i < e->count; i++)
    if (!e->w->held[i] && (all || (cb_floor_touches(e, &e->look[0], i) && e->w->rate[0][i] <= rate)))
      e->w->held[i] = more = true;
  e->holds |= more;
  return more;
}

/* Makes a flight of length *tau at most, and holds the vertices that rest in it. The results are those of
 * cb_floor_meet. */
static cb_status flight(cb_floor_run *e, double *tau, cb_floor_look **out, int *met) {
  const double whole = *tau;
  for (;;) {
    *tau = whole;
    const cb_status status = cb_floor_meet(e, tau, out, met);
    if (status || *met < 0 || *tau > 0) return status;
    const double slow = e->look[0].round_off / whole;
    if (!hold_more(e, fmax(2 * e->w->rate[0][*met], slow), false)) e->w->held[*met] = e->holds = true;
  }
}

/* Ends the step in the state `to`. If no vertex is held and a vertex meets the floor exactly at the end, its contact is
 * part of this step. */
static cb_status end(cb_floor_run *e, const cb_floor_look *to, cb_rigid_state *s) {
  cb_status status = CB_OK;
  *s = to->s;
  if (e->holds || to->least > to->round_off + e->near * cb_floor_speed(to, to->s.Y)) return CB_OK;
  status = begin(e, s);
  if (!status) status = impact(e, &e->look[0], e->f->restitution, false, -1);
  if (!status) *s = e->look[0].s;
  return status;
}

static cb_status run(cb_floor_run *e, cb_rigid_state *s) {
  double done = 0, time[ACCUMULATED] = {0};
  cb_status status = begin(e, s);
  bool accumulates = false;
  int met = -1;
  for (int count = 1; !status; count++) {
    cb_floor_look *to;
    double tau = e->h - done;
    if (accumulates) hold_more(e, 0, true);
    status = impact(e, &e->look[0], accumulates ? 0 : e->f->restitution, false, met);
    if (!status) status = flight(e, &tau, &to, &met);
    if (status) return status;
    if (met < 0) return end(e, to, s);
    if (count == MAX_HITS)
      return cb_fail(
          CB_ERROR_CONTACT_ACCUMULATION,
          "a body meets the floor more than %d times in a step of %g from t = %g: try a smaller step or restitution",
          count, e->h, s->t);
    done += tau;
    accumulates = count > ACCUMULATED && done - time[count % ACCUMULATED] < accumulation_part * e->h;
    time[count % ACCUMULATED] = done;
    status = begin(e, &to->s);
  }
  return status;
}

cb_status cb_floor_step(const cb_floor_setup *with, double h, cb_rigid_state *s, int *iterations) {
  if (with->floor->kind != CB_FLOOR_REFLECTING)
    return with->stepper->step(with->stepper->self, with->problem, h, s, iterations);
  if (!(h > 0 && h < INFINITY))
    return cb_fail(CB_ERROR_ARGUMENT, "step above a floor: expected a length > 0, found %g", h);
  cb_floor_run e = {.f = with->floor,
                    .shape = with->shape,
                    .stepper = with->stepper,
                    .p = with->problem,
                    .w = with->work,
                    .h = h,
                    .near = 1e-9 * h,
                    .rest = 1e-3 * h};
  for (int side = 0; side < 3; side++) e.look[side].side = side;
  cb_rigid_state next = *s;
  with->work->hits = 0;
  const cb_status status = run(&e, &next);
  if (status) return status;
  next.t = s->t + h;
  *s = next;
  if (iterations) *iterations = e.iterations;
  for (int i = 0; with->hit && i < with->work->hits; i++) with->hit(with->user, &with->work->hit[i]);
  return CB_OK;
}
