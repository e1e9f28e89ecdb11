/* Contacts of bodies by their shapes (coupling/convex.h): which pairs may touch in a step, their gaps, and their
 * impulses.
 *
 *   s = the gap of two convex sets A and B, with the normal n and the contact points x, y:
 *   ds/dt = n.(v_B(y) - v_A(x)),   wrenches of a unit impulse:  (r_B × n, n) on B,  -(r_A × n, n) on A
 * r: the contact point relative to the origin of the body; v: the velocity of the body there. A set is a part of a
 * body, one of the `spheres` of a body, or a particle, as a ball. Two hulls whose faces lie on each other have one gap
 * for each point of their patch in place of s, so that a body can rest on a face; the patch is found again at the start
 * of each part of a step.
 *   A pair is listed for a step of length h if the balls around its sets can meet: each ball is enlarged by 1.5 |v| h
 * and a twentieth of its radius. If a flight moves a ball farther than that, the step is made again with larger balls.
 * The pairs are found by sorting the balls along x (sort and sweep; Cohen, Lin, Manocha & Ponamgi (1995),
 * doi:10.1145/199404.199437). The space is flat. The pairs and the patches of a step follow from the state at its
 * start, so that a restarted run has the same pairs and patches.
 */
#include "coupling/coupled_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- sides --- */

static cb_status add_side(cb_coupled_shapes *s, const cb_shape_side *side) {
  if (s->sides == s->capacity_sides) {
    const int capacity = s->capacity_sides ? 2 * s->capacity_sides : 64;
    cb_shape_side *more = realloc(s->side, (size_t)capacity * sizeof *more);
    if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for %d shapes", capacity);
    s->side = more;
    s->capacity_sides = capacity;
  }
  s->side[s->sides++] = *side;
  return CB_OK;
}

cb_status cb_coupled_shapes_create(cb_coupled *c) {
  cb_coupled_shapes *s = &c->contacts->shapes;
  const cb_coupled_bodies *b = &c->bodies;
  cb_status status = CB_OK;
  for (int i = 0; i < b->shapes && !status; i++) {
    const int place = cb_system_index(c->system, b->shape[i].particle);
    status =
        add_side(s, &(cb_shape_side){.body = b->shape[i].body, .place = place, .solid = true, .set = b->shape[i].set});
  }
  for (int i = 0; i < c->n && s->sides && !status; i++) {
    static const double origin[3] = {0, 0, 0};
    const cb_carried *own = &c->carried[i];
    const double radius = cb_system_radius(c->system, cb_system_particle(c->system, i));
    if (own->body >= 0 ? radius > 0 && !own->of_shape : c->mass[i] > 0)
      status = add_side(
          s, &(cb_shape_side){
                 .body = own->body, .place = i, .set = cb_convex_ball(own->body >= 0 ? own->x : origin, radius)});
  }
  s->span = cb_arena_alloc(c->arena, (size_t)s->sides, sizeof *s->span);
  return s->span ? status : cb_fail(CB_ERROR_MEMORY, "no memory for %d shapes", s->sides);
}

void cb_coupled_shapes_free(cb_coupled_shapes *s) {
  free(s->side);
  free(s->pair);
}

/* Returns whether two sides can touch: one of them is a shape, and contacts of their bodies are on. The bodies of a
 * joint touch each other only if `between` names both. */
static bool can_touch(const cb_coupled *c, const cb_shape_side *a, const cb_shape_side *b) {
  if ((!a->solid && !b->solid) || (a->body >= 0 && a->body == b->body)) return false;
  const bool joined = a->body >= 0 && b->body >= 0 && c->bodies.mechanism &&
                      cb_mechanism_are_neighbours(c->bodies.mechanism, a->body, b->body);
  return cb_gaps_bodies_on(c->contacts->gaps, a->place, b->place, joined);
}

/* --- the pairs of a step --- */

/* Finds the centre of the ball around a side, and its velocity. */
static void find_ball(const cb_coupled *c, const cb_shape_side *s, double x[3], double v[3]) {
  if (s->body < 0) {
    memcpy(x, c->state->x + s->place * c->k, 3 * sizeof *x);
    memcpy(v, c->velocity + s->place * c->k, 3 * sizeof *v);
    return;
  }
  const cb_placing *g = &c->motion[s->body];
  const double *Y = c->twist[s->body];
  double arm[3];
  cb_apply3(g->r, s->set.centre, arm);
  cb_cross3(Y, arm, v);
  for (int i = 0; i < 3; i++) {
    x[i] = g->p[i] + arm[i];
    v[i] += Y[3 + i];
  }
}

static int by_low(const void *a, const void *b) {
  const cb_shape_span *p = a, *q = b;
  return p->low != q->low ? (p->low > q->low) - (p->low < q->low) : p->side - q->side;
}

static int by_sides(const void *a, const void *b) {
  const cb_shape_pair *p = a, *q = b;
  return p->side[0] != q->side[0] ? p->side[0] - q->side[0] : p->side[1] - q->side[1];
}

static cb_status add_pair(cb_coupled_shapes *s, int i, int j) {
  if (s->pairs == s->capacity_pairs) {
    const int capacity = s->capacity_pairs ? 2 * s->capacity_pairs : 64;
    cb_shape_pair *more = realloc(s->pair, (size_t)capacity * sizeof *more);
    if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for %d pairs of bodies", capacity);
    s->pair = more;
    s->capacity_pairs = capacity;
  }
  s->pair[s->pairs++] = (cb_shape_pair){.side = {i < j ? i : j, i < j ? j : i}};
  return CB_OK;
}

static cb_status sweep(const cb_coupled *c, cb_coupled_shapes *s) {
  cb_status status = CB_OK;
  for (int p = 0; p < s->sides; p++)
    for (int q = p + 1; q < s->sides && s->span[q].low <= s->span[p].high && !status; q++) {
      const cb_shape_side *a = &s->side[s->span[p].side], *b = &s->side[s->span[q].side];
      const double d[3] = {b->at[0] - a->at[0], b->at[1] - a->at[1], b->at[2] - a->at[2]},
                   reach = a->set.bound + a->reach + b->set.bound + b->reach;
      if (cb_dot3(d, d) <= reach * reach && can_touch(c, a, b)) status = add_pair(s, s->span[p].side, s->span[q].side);
    }
  if (s->pairs) qsort(s->pair, (size_t)s->pairs, sizeof *s->pair, by_sides);
  return status;
}

/* Adds the gaps of all pairs. A pair has the gap of its two sets and, if they are hulls with a patch, one gap for each
 * point of the patch. */
static cb_status add_gaps(cb_coupled_contacts *k) {
  const cb_coupled_shapes *s = &k->shapes;
  cb_status status = CB_OK;
  for (int i = 0; i < s->pairs; i++) {
    const cb_convex *a = &s->side[s->pair[i].side[0]].set, *b = &s->side[s->pair[i].side[1]].set;
    const int count = a->n > 1 && b->n > 1 ? 1 + CB_PATCH_POINTS : 1;
    for (int n = 0; n < count && !status; n++)
      status = cb_contacts_add(k, &(cb_gap){.kind = CB_GAP_SHAPES, .index = i, .side = n});
  }
  return status;
}

cb_status cb_coupled_list_shapes(cb_coupled *c, double t, double h, bool again) {
  cb_coupled_contacts *k = c->contacts;
  cb_coupled_shapes *s = &k->shapes;
  if (!s->sides) return CB_OK;
  cb_status status = cb_coupled_find_velocities(c, t);
  if (status) return status;
  for (int i = 0; i < s->sides; i++) {
    cb_shape_side *own = &s->side[i];
    double v[3];
    find_ball(c, own, own->at, v);
    const double reach = 1.5 * h * sqrt(cb_dot3(v, v)) + 0.05 * own->set.bound;
    own->reach = again ? fmax(reach, own->reach) : reach;
    const double r = own->set.bound + own->reach;
    s->span[i] = (cb_shape_span){own->at[0] - r, own->at[0] + r, i};
  }
  qsort(s->span, (size_t)s->sides, sizeof *s->span, by_low);
  s->pairs = 0;
  status = sweep(c, s);
  k->n = k->fixed;
  if (!status) status = add_gaps(k);
  k->contacts = k->n;
  for (int e = 0; e < cb_system_events(c->system) && !status; e++) {
    cb_gap gap;
    cb_gaps_event(k->gaps, e, &gap);
    status = cb_contacts_add(k, &gap);
  }
  return status;
}

bool cb_coupled_leaves_reach(cb_coupled *c) {
  cb_coupled_shapes *s = &c->contacts->shapes;
  bool out = false;
  for (int i = 0; i < s->sides; i++) {
    cb_shape_side *own = &s->side[i];
    double x[3], v[3], square = 0;
    find_ball(c, own, x, v);
    for (int a = 0; a < 3; a++) square += (x[a] - own->at[a]) * (x[a] - own->at[a]);
    if (1.2 * sqrt(square) <= own->reach) continue; /* the path may be longer than the straight line */
    own->reach = 2 * sqrt(square) + 0.05 * own->set.bound;
    out = true;
  }
  return out;
}

/* --- the gap of a pair --- */

/* Finds the poses of both sides, with positions relative to the origin of the first side. */
static void find_poses(const cb_coupled *c, const cb_shape_pair *p, cb_pose pose[2]) {
  const cb_coupled_shapes *s = &c->contacts->shapes;
  double x[2][3], low[2][3];
  for (int k = 0; k < 2; k++) {
    const cb_shape_side *own = &s->side[p->side[k]];
    pose[k] = (cb_pose){{1, 0, 0, 0}, {0, 0, 0}};
    if (own->body >= 0) memcpy(pose[k].q, c->bodies.state[own->body].g.q, sizeof pose[k].q);
    for (int i = 0; i < 3; i++) {
      x[k][i] = own->body >= 0 ? c->motion[own->body].p[i] : c->state->x[own->place * c->k + i];
      low[k][i] = own->body >= 0 ? c->motion[own->body].p_low[i] : c->state->x_low[own->place * c->k + i];
    }
  }
  for (int i = 0; i < 3; i++) pose[1].x[i] = (x[1][i] - x[0][i]) + (low[1][i] - low[0][i]);
}

/* Computes the gap of the point `number` of a patch, with its normal and its contact points, for the poses of both
 * bodies. */
static void find_patch_gap(const cb_convex_patch *p, int number, const cb_pose pose[2], cb_convex_contact *out) {
  double r[2][3][3];
  const int plane = p->on_b, other = !p->on_b;
  for (int k = 0; k < 2; k++) cb_pose_rotation(&pose[k], r[k]);
  double *x = other ? out->b : out->a, *foot = other ? out->a : out->b;
  cb_apply3(r[plane], p->normal, out->normal);
  cb_apply3(r[other], p->point[number], x);
  double height = 0;
  for (int i = 0; i < 3; i++) {
    x[i] += pose[other].x[i];
    height += out->normal[i] * (x[i] - pose[plane].x[i]);
  }
  height -= p->level[number];
  out->gap = p->on_b ? -height : height;
  for (int i = 0; i < 3; i++) foot[i] = x[i] - height * out->normal[i];
}

/* Adds sign n.v to out->rate, where v is the velocity of the side at its contact point, which is at r from its origin.
 * Stores the gradient of the gap for this side: a wrench on a body, in the world's axes, or a covector at a
 * particle. */
static void add_side_rate(const cb_coupled *c, const cb_shape_side *s, const double r[3], const double n[3],
                          double sign, double *gradient, cb_gap_look *out) {
  if (s->body < 0) {
    for (int i = 0; i < 3; i++) {
      gradient[i] = sign * n[i];
      const double along = gradient[i] * c->velocity[s->place * c->k + i];
      out->rate += along;
      out->speed += fabs(along);
      out->size += fabs(n[i] * c->state->x[s->place * c->k + i]);
    }
    return;
  }
  cb_cross3(r, n, gradient);
  for (int i = 0; i < 6; i++) {
    gradient[i] = sign * (i < 3 ? gradient[i] : n[i - 3]);
    const double along = gradient[i] * c->twist[s->body][i];
    out->rate += along;
    out->speed += fabs(along);
    if (i < 3) out->size += fabs(n[i]) * (fabs(c->motion[s->body].p[i]) + fabs(r[i]));
  }
}

/* The values for a gap that a pair does not have at present: it counts as open. */
static const cb_gap_look away = {.s = 1, .size = 1};

void cb_coupled_look_at_shapes(cb_coupled *c, const cb_gap *gap, cb_gap_value *value, cb_gap_look *out) {
  cb_coupled_shapes *s = &c->contacts->shapes;
  cb_shape_pair *p = &s->pair[gap->index];
  cb_pose pose[2];
  cb_convex_contact contact;
  *out = away;
  if (gap->side > p->patch.n || (gap->side == 0 && p->patch.n > 0)) return;
  find_poses(c, p, pose);
  if (gap->side == 0)
    cb_convex_gap(&s->side[p->side[0]].set, &pose[0], &s->side[p->side[1]].set, &pose[1], p->guess, &contact);
  else
    find_patch_gap(&p->patch, gap->side - 1, pose, &contact);
  value->gap = contact.gap;
  value->rate_t = 0;
  value->active = true;
  *out = (cb_gap_look){.s = contact.gap, .size = 1};
  for (int k = 0; k < 2; k++) {
    double arm[3];
    for (int i = 0; i < 3; i++) arm[i] = (k ? contact.b : contact.a)[i] - pose[k].x[i];
    add_side_rate(c, &s->side[p->side[k]], arm, contact.normal, k ? 1 : -1, value->gradient + 6 * k, out);
  }
}

void cb_coupled_find_patches(cb_coupled *c, bool all) {
  cb_coupled_shapes *s = &c->contacts->shapes;
  for (int i = 0; i < s->pairs; i++) {
    cb_shape_pair *p = &s->pair[i];
    const cb_convex *a = &s->side[p->side[0]].set, *b = &s->side[p->side[1]].set;
    cb_gap_value value;
    cb_gap_look now;
    if (a->n < 2 || b->n < 2 || (p->patch.n && !all)) continue;
    p->patch.n = 0;
    cb_coupled_look_at_shapes(c, &(cb_gap){.kind = CB_GAP_SHAPES, .index = i}, &value, &now);
    cb_pose pose[2];
    find_poses(c, p, pose);
    if (now.s <= cb_gap_closed * now.size) cb_convex_find_patch(a, &pose[0], b, &pose[1], p->guess, &p->patch);
  }
}

/* --- impulses --- */

void cb_coupled_push_shapes(cb_coupled *c, const cb_gap *gap, const double *gradient, double impulse) {
  const cb_coupled_shapes *s = &c->contacts->shapes;
  for (int k = 0; k < 2; k++) {
    const cb_shape_side *own = &s->side[s->pair[gap->index].side[k]];
    cb_coupled_push_one(c, own->body, own->place, impulse, gradient + 6 * k);
  }
}

int cb_coupled_unit_of_shapes(const cb_coupled *c, const cb_gap *gap, int which) {
  const cb_coupled_shapes *s = &c->contacts->shapes;
  const cb_shape_side *own = &s->side[s->pair[gap->index].side[which]];
  return own->body >= 0 ? own->body : c->bodies.n + own->place;
}

/* --- times at which gaps close ---
 *
 * The times at which gaps of coupled bodies and particles become 0 within a flight (coupled_private.h).
 *
 *   s(tau) = 0 by the Illinois method between two times at which s has different signs; each value is that of a flight
 *   of length tau. Between the ends of a flight s is taken to be the cubic of its values and rates there.
 * s: gap; tau: time since the start of the flight. Source: Dowell & Jarratt, BIT 11 (1971) 168,
 * doi:10.1007/BF01934364 (the Illinois method).
 */

enum { LOOKS_MAX = 100, HALVES_MAX = 50 };

int cb_gap_sign(const cb_gap_look *l) { return fabs(l->s) <= cb_gap_zero * l->size ? 0 : l->s > 0 ? 1 : -1; }

/* The cubic through the values and rates at both ends of a step of length h is multiplied by `side`. If it is positive
 * at both ends and has a minimum of at most 0 between them, the function returns the fraction of the step at this
 * minimum; otherwise 0. */
static double dips(const cb_gap_look *a, const cb_gap_look *b, int side, double h) {
  const double s0 = side * a->s, s1 = side * b->s, v0 = side * a->rate * h, v1 = side * b->rate * h;
  if (!(s0 > 0 && s1 > 0 && v0 < 0 && v1 > 0)) return 0;
  const double c3 = 2 * (s0 - s1) + v0 + v1, c2 = 3 * (s1 - s0) - 2 * v0 - v1;
  const double root = c2 * c2 - 3 * c3 * v0, u = root > 0 ? -v0 / (c2 + sqrt(root)) : 0;
  const double least = s0 + u * (v0 + u * (c2 + u * c3));
  return u > 0 && u < 1 && least <= 0 ? u : 0;
}

cb_status cb_flight_gap(const cb_flight *s, const cb_gap *gap, double tau, cb_gap_look *out) {
  int body, iterations;
  cb_gap_value value;
  cb_status status = cb_coupled_fly(s->c, s->t, tau, &body, &iterations);
  if (!status) status = cb_coupled_find_rates(s->c, s->t + tau);
  return status ? status : cb_coupled_look(s->c, gap, s->t + tau, &value, out);
}

/* Does the same as cb_flight_gap, but computes the rate of the gap only for a limit of a joint. If many bodies act on
 * each other through the fluid, computing the velocities would take longer than the flight. */
static cb_status fly_to_gap(const cb_flight *s, const cb_gap *gap, double tau, cb_gap_look *out) {
  int body, iterations;
  cb_gap_value value;
  if (cb_gap_is_limit(gap)) return cb_flight_gap(s, gap, tau, out);
  const cb_status status = cb_coupled_fly(s->c, s->t, tau, &body, &iterations);
  return status ? status : cb_coupled_look(s->c, gap, s->t + tau, &value, out);
}

/* Finds a zero *tau between the times a and b, at which the gap has different signs. If an end of the interval is kept
 * several times in a row, the value of the gap there is halved each time after the first. If four steps do not halve
 * the interval, it is bisected. */
static cb_status narrow(const cb_flight *s, const cb_gap *gap, double a, cb_gap_look from, double b, cb_gap_look to,
                        double *tau) {
  double fa = from.s, fb = to.s, width = b - a;
  int kept = 0;
  for (int i = 1; i <= LOOKS_MAX && cb_gap_sign(&to) != 0 && b - a > 4e-16 * (fabs(s->t) + fabs(b)); i++) {
    double middle = (a * fb - b * fa) / (fb - fa);
    if (i % 4 == 0) {
      if (b - a > width / 2) middle = a + (b - a) / 2;
      width = b - a;
    }
    if (!(middle > a && middle < b)) middle = a + (b - a) / 2;
    cb_gap_look now;
    const cb_status status = fly_to_gap(s, gap, middle, &now);
    if (status) return status;
    if (cb_gap_sign(&now) == cb_gap_sign(&from)) {
      a = middle;
      fa = now.s;
      kept = kept < 0 ? kept - 1 : -1;
      if (kept < -1) fb /= 2;
    } else {
      b = middle;
      fb = now.s;
      to = now;
      kept = kept > 0 ? kept + 1 : 1;
      if (kept > 1) fa /= 2;
    }
  }
  *tau = b;
  return CB_OK;
}

/* Finds the zero *tau of a gap that is 0 at the time `from`, has the sign `side` shortly after it, and the opposite
 * sign at the end of the step. Shorter and shorter times after `from` are tried until the gap has the sign `side`. If
 * the rate of `start` changes the gap by no more than round-off in such a time, the search ends and *found becomes
 * false: the gap has the opposite sign immediately after `from`. */
static cb_status zero_after(const cb_flight *s, int i, double from, const cb_gap_look *start, int side, double *tau,
                            bool *found) {
  const cb_coupled_contacts *k = s->c->contacts;
  double until = s->h, a = s->h;
  cb_gap_look now = k->end[i], to = now;
  for (int n = 0; n < HALVES_MAX && cb_gap_sign(&now) != side; n++) {
    if (fabs(start->rate) * (a - from) <= cb_gap_zero * start->size) break;
    until = a;
    to = now;
    a = from + (a - from) / 2;
    const cb_status status = fly_to_gap(s, &k->gap[i], a, &now);
    if (status) return status;
  }
  *found = cb_gap_sign(&now) == side;
  return *found ? narrow(s, &k->gap[i], a, now, until, to, tau) : CB_OK;
}

cb_status cb_flight_zero(const cb_flight *s, int i, double from, const cb_gap_look *start, double *tau, int *side) {
  const cb_coupled_contacts *k = s->c->contacts;
  const cb_gap *gap = &k->gap[i];
  const int before = cb_gap_sign(start);
  cb_gap_look b = k->end[i];
  double until = s->h;
  bool found = false;
  cb_status status = CB_OK;
  *side = 0;
  if (before == 0) {
    const int after = start->rate > 0 ? 1 : -1;
    if (start->rate != 0 && cb_gap_sign(&b) == -after) status = zero_after(s, i, from, start, after, tau, &found);
    if (start->rate != 0 && cb_gap_sign(&b) == 0) found = true; /* the zero is at the end of the step */
    *side = found ? after : 0;
    return status;
  }
  if (cb_gap_sign(&b) == before) {
    const double u = dips(start, &b, before, s->h - from);
    if (u == 0) return CB_OK;
    until = from + u * (s->h - from);
    status = cb_flight_gap(s, gap, until, &b);
    if (status || cb_gap_sign(&b) == before) return status;
  }
  /* The gap may be 0 at the end of the flight, and reach this 0 with the sign opposite to `before`. It then has another
   * zero, which is earlier. */
  double back = s->h - from;
  for (int n = 0; n < HALVES_MAX && before * b.rate > 0 && cb_gap_sign(&b) == 0 && !status; n++) {
    back /= 2;
    cb_gap_look now;
    status = cb_flight_gap(s, gap, s->h - back, &now);
    if (status || cb_gap_sign(&now) != -before) continue;
    until = s->h - back;
    b = now;
  }
  *side = before;
  return status ? status : narrow(s, gap, from, *start, until, b, tau);
}

/* A contact comes to rest if its gap closes again within this fraction of a step. */
static const double rest_part = 1e-3;

static bool closed_at_start(const cb_coupled_contacts *k, int i) {
  return k->start[i].s <= cb_gap_closed * k->start[i].size;
}

/* Returns an estimate of the time at which contact i closes, as a fraction of the step; INFINITY if it does not
 * close. */
static double expected(const cb_flight *s, int i) {
  const cb_coupled_contacts *k = s->c->contacts;
  const cb_gap_look *a = &k->start[i], *b = &k->end[i];
  /* the parabola through s(0), s'(0) and s(1): s(u) = max(s(0), 0) + rate u + bend u^2, u = time/step */
  const double rate = a->rate * s->h, bend = b->s - fmax(a->s, 0) - rate;
  if (cb_gap_closed_at_end(k, i)) {
    const double root = sqrt(fmax(rate * rate - 4 * bend * fmax(a->s, 0), 0));
    return rate > 0 ? (rate + root) / (-2 * bend) : root - rate > 0 ? 2 * fmax(a->s, 0) / (root - rate) : 0;
  }
  const double u = cb_gap_sign(a) > 0 ? dips(a, b, 1, s->h) : 0;
  return u > 0 ? u : INFINITY;
}

/* Finds the time at which contact i closes in the step. *rests becomes true if the contact was closed at the start, and
 * closes again so soon, or opens so little, that it comes to rest. */
static cb_status first_contact(const cb_flight *s, int i, double *tau, bool *found, bool *rests) {
  const cb_coupled_contacts *k = s->c->contacts;
  const cb_gap_look *a = &k->start[i];
  int side;
  cb_status status = CB_OK;
  *found = *rests = false;
  if (cb_gap_sign(a) > 0) {
    status = cb_flight_zero(s, i, 0, a, tau, &side);
    *found = side != 0;
  } else {
    status = zero_after(s, i, 0, a, 1, tau, found);
  }
  if (status || !closed_at_start(k, i)) return status;
  const bool soon = *tau <= rest_part * s->h || a->rate * *tau <= cb_gap_zero * a->size;
  *rests = *found ? k->rests && soon && !cb_gap_is_limit(&k->gap[i]) : cb_gap_closed_at_end(k, i);
  return CB_OK;
}

cb_status cb_flight_contact(const cb_flight *flight, double *first, bool *any, bool *again) {
  cb_coupled *c = flight->c;
  cb_coupled_contacts *k = c->contacts;
  cb_flight s = *flight;
  memset(k->known, 0, (size_t)k->n * sizeof *k->known);
  cb_status status = CB_OK;
  while (!status && !*again) {
    int next = -1;
    double least = INFINITY, time = s.h;
    bool found, rests;
    for (int i = 0; i < k->contacts; i++) {
      const double u = k->known[i] || cb_resting_holds(&k->resting, i) ? INFINITY : expected(&s, i);
      if (!(u < least)) continue;
      least = u;
      next = i;
    }
    if (next < 0) break;
    k->known[next] = true;
    status = first_contact(&s, next, &time, &found, &rests);
    if (!status && rests) status = cb_contact_press(&s, next);
    *again = rests;
    if (status || rests || !found) continue;
    *any = true;
    *first = s.h = time;
    int body, iterations;
    status = cb_coupled_fly(c, s.t, time, &body, &iterations);
    if (!status) status = cb_coupled_look_all(c, s.t + time, k->end);
    cb_coupled_keep(c, k->last);
  }
  return status;
}
