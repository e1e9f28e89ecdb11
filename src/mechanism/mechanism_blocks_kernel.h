/* The loops over blocks of bodies and hinges (equations: mechanism_blocks.h), compiled once per instruction set. Y:
 * twist; h: length of the step; half = hY/2 = (w, v); K: inertia; mu = K Y + mu_0; D = dtau^-1_{hY}; p: momentum at the
 * first node; f: force; A: matrix of a link. */
#include "mechanism/mechanism_blocks_vectors.h"
#include "numerics/vec3.h"

#include <string.h>

/* Loops over the places of a block, WIDTH at a time. A part that has only copies is left out, because some loops change
 * the numbers that they read. */
#define PARTS(B, at) for (int at = 0; at < (B)->count; at += WIDTH)

/* Returns for each body 0 if its six numbers in x are finite, otherwise nan. */
INLINE lane not_finite(v6 x) {
  const v6 zero = minus6(x, x);
  return (zero.a.x + zero.a.y + zero.a.z) + (zero.l.x + zero.l.y + zero.l.z);
}
/* Returns the link of the first body whose result of not_finite() is not 0, or -1. */
INLINE int find_bad(const int *link, lane zero) {
  for (int i = 0; i < WIDTH; i++)
    if (!(zero[i] == 0)) return link[i];
  return -1;
}

INLINE void take_links(cb_mechanism *m, const int *link, cb_link *out[WIDTH]) {
  for (int i = 0; i < WIDTH; i++) out[i] = &m->link[link[i]];
}
INLINE void take_states(cb_rigid_state *state, cb_link *const l[WIDTH], cb_rigid_state *out[WIDTH]) {
  for (int i = 0; i < WIDTH; i++) out[i] = &state[l[i]->body];
}

/* --- inertia --- */

typedef struct blocked_inertia {
  m3 a, b, l;
} blocked_inertia;

INLINE blocked_inertia turn_inertia(const cb_rigid_constant *const constant[WIDTH], bool coupled, m3 r) {
  EACH(from, constant, K);
  if (!coupled)
    return (blocked_inertia){
        turned_diagonal(r, (v3){gather(FROM(from), 0), gather(FROM(from), 7), gather(FROM(from), 14)}), none9(),
        turned_diagonal(r, (v3){gather(FROM(from), 21), gather(FROM(from), 28), gather(FROM(from), 35)})};
  return (blocked_inertia){turned(r, gather_block(FROM(from), 0)), turned(r, gather_block(FROM(from), 3)),
                           turned(r, gather_block(FROM(from), 21))};
}
INLINE blocked_inertia get_inertia(const cb_block_inertia *K, bool coupled, int at) {
  return (blocked_inertia){get9(K->a, at), coupled ? get9(K->b, at) : none9(), get9(K->l, at)};
}
INLINE void put_inertia(cb_block_inertia *K, bool coupled, int at, const blocked_inertia *from) {
  put9(K->a, at, from->a);
  if (coupled) put9(K->b, at, from->b);
  put9(K->l, at, from->l);
}
INLINE v6 momentum(const blocked_inertia *K, bool coupled, v6 Y) {
  const v6 mu = {apply(K->a, Y.a), apply(K->l, Y.l)};
  return coupled ? plus6(mu, (v6){apply(K->b, Y.l), apply_transposed(K->b, Y.a)}) : mu;
}

/* --- the map cayley: equations of numerics/se3.c, with the halves w and v of the parts of hY --- */

/* `displaced` returns the displacement of the origin in a step. `rotated` returns the rotation at the end of the step,
 * for the rotation q at its start. `half` is hY/2. */
INLINE v3 displaced(v6 half) {
  const v3 w = half.a, v = half.l;
  return times(2 / (1 + dot(w, w)), more(plus(v, cross(w, v)), dot(w, v), w));
}
INLINE v4 rotated(v6 half, v4 q) { return unit(multiply((v4){same(1), half.a.x, half.a.y, half.a.z}, q)); }
/* apply_D returns D V, and apply_D_transposed returns D^T mu. */
INLINE v6 apply_D(v6 half, v6 V) {
  const v3 w = half.a, b = minus(V.l, cross(half.l, V.a));
  return (v6){more(minus(V.a, cross(w, V.a)), dot(w, V.a), w), minus(b, cross(w, b))};
}
INLINE v6 apply_D_transposed(v6 half, v6 mu) {
  const v3 w = half.a, f = plus(mu.l, cross(w, mu.l));
  return (v6){more(plus(mu.a, plus(cross(w, mu.a), cross(half.l, f))), dot(w, mu.a), w), f};
}
/* (x, y) is a row of six numbers. The row (x, y) D has the angular part row_D(x, y, half, w.v) and the linear part
 * row_T(y, w). */
INLINE v3 row_T(v3 y, v3 w) { return plus(y, cross(w, y)); }
INLINE v3 row_D(v3 x, v3 y, v6 half, lane wv) {
  const v3 part = more(plus(row_T(x, half.a), cross(half.l, y)), -wv, y);
  return more(part, dot(x, half.a) + dot(y, half.l), half.a);
}
/* Writes a row of A, the row (x, y) times D. */
INLINE void put_row(double *const to[WIDTH], int row, v3 x, v3 y, v6 half, lane wv) {
  scatter_row(to, row, row_D(x, y, half, wv), row_T(y, half.a));
}
/* T_transposed returns T^T m, and M_transposed returns M^T m for M = -hat(v) + v w^T - w.v. */
INLINE m3 T_transposed(v3 w, m3 m) { return plus9(m, hat_times(w, m)); }
INLINE m3 M_transposed(v6 half, lane wv, m3 m) {
  return more_outer(plus9(hat_times(half.l, m), times9(-wv, m)), half.a, apply_transposed(m, half.l));
}

/* Writes A = (D^T K/h + d(D^T mu)/d(hY)) D to the links. By the chain rule
 * d(D^T mu)/d(hY) is the derivative of D^T (mu/2) with respect to `half` = hY/2. */
INLINE void put_matrix(cb_link *const link[WIDTH], const blocked_inertia *of, bool coupled, v6 half, v6 mu,
                       lane per_step) {
  const v3 w = half.a, l = times(same(0.5), mu.a), p = times(same(0.5), mu.l);
  const lane wv = dot(w, half.l), spread = dot(w, l) + dot(half.l, p);
  const blocked_inertia K = {times9(per_step, of->a), coupled ? times9(per_step, of->b) : none9(),
                             times9(per_step, of->l)};
  m3 aa = more_outer(T_transposed(w, K.a), w, apply(K.a, w)), al = M_transposed(half, wv, K.l), la = none9();
  const m3 ll = T_transposed(w, K.l);
  if (coupled) {
    const m3 back = transposed(K.b);
    aa = plus9(aa, M_transposed(half, wv, back));
    al = plus9(al, more_outer(T_transposed(w, K.b), w, apply_transposed(K.b, w)));
    la = T_transposed(w, back);
  }
  aa = less_hat(more_outer(more_outer(aa, w, l), times(same(-1), p), half.l), l);
  aa.x.x += spread;
  aa.y.y += spread;
  aa.z.z += spread;
  al = less_hat(al, plus(p, cross(w, p)));
  la = less_hat(la, p);
  EACH(to, link, A);
  put_row(to, 0, aa.x, al.x, half, wv);
  put_row(to, 1, aa.y, al.y, half, wv);
  put_row(to, 2, aa.z, al.z, half, wv);
  put_row(to, 3, la.x, ll.x, half, wv);
  put_row(to, 4, la.y, ll.y, half, wv);
  put_row(to, 5, la.z, ll.z, half, wv);
}

/* --- a step --- */

INLINE void begin_part(cb_mechanism *m, cb_body_block *B, const cb_block_step *step, int at) {
  cb_link *l[WIDTH];
  cb_rigid_state *s[WIDTH];
  const cb_rigid_constant *const *constant = B->constant + at;
  take_links(m, B->link + at, l);
  take_states(step->state, l, s);
  EACH(q, s, g.q);
  EACH(world, s, world);
  EACH(low, s, world_low);
  EACH(rest, constant, mu0);
  const v4 turn = gather4(FROM(q));
  const m3 r = rotation(turn);
  put(B->q[0] + at, turn.w);
  put3(B->q + 1, at, (v3){turn.x, turn.y, turn.z});
  put9(B->r, at, r);
  put6(B->p, at, plus6(gather6(FROM(world)), gather6(FROM(low))));
  put6(B->mu0, at, turn6(r, gather6(FROM(rest))));
  put3(B->f, at, apply(r, get3(B->f, at)));
  const blocked_inertia K = turn_inertia(constant, B->coupled, r);
  put_inertia(&B->K, B->coupled, at, &K);
  EACH(own, constant, K);
  put(B->mass + at, (gather(FROM(own), 21) + gather(FROM(own), 28) + gather(FROM(own), 35)) / 3);
}

static void begin(cb_mechanism *m, const cb_block_step *step) {
  for (int i = 0; i < m->blocks.bodies; i++) PARTS(&m->blocks.body[i], at) begin_part(m, &m->blocks.body[i], step, at);
}

enum { KNOWN = 1 + CB_RIGID_EARLIER };

/* Extrapolates the angular or the linear part of the twist from those of the last steps, d, as cb_rigid_guess does if
 * all of them are known. d is overwritten. */
INLINE v3 extrapolate(v3 d[KNOWN]) {
  v3 sum = d[0], best = sum;
  lane least = dot(sum, sum);
#pragma GCC unroll 7
  for (int k = 1; k < KNOWN; k++) {
#pragma GCC unroll 7
    for (int j = KNOWN - 1; j >= k; j--) d[j] = minus(d[j], d[j - 1]);
    sum = k % 2 ? minus(sum, d[k]) : plus(sum, d[k]);
    const lane size = dot(d[k], d[k]);
    const lane_bits smaller = size < least;
    least = choose(smaller, size, least);
    best = (v3){choose(smaller, sum.x, best.x), choose(smaller, sum.y, best.y), choose(smaller, sum.z, best.z)};
  }
  return best;
}

INLINE v6 extrapolate6(const double *const last[WIDTH], const double *const earlier[WIDTH]) {
  v3 angular[KNOWN], linear[KNOWN];
#pragma GCC unroll 7
  for (int k = 0; k < KNOWN; k++) {
    const v6 Y = k ? gather6_at(earlier, 6 * (k - 1)) : gather6(last);
    angular[k] = Y.a;
    linear[k] = Y.l;
  }
  return (v6){extrapolate(angular), extrapolate(linear)};
}

INLINE void guess_part(cb_mechanism *m, cb_body_block *B, const cb_block_step *step, bool extrapolated, int at) {
  double own[WIDTH][6];
  cb_link *l[WIDTH];
  cb_rigid_state *s[WIDTH];
  v6 Y;
  bool known = extrapolated;
  take_links(m, B->link + at, l);
  take_states(step->state, l, s);
  for (int i = 0; i < WIDTH; i++) known = known && s[i]->known == KNOWN && s[i]->length == step->h;
  if (known) {
    EACH(last, s, Y);
    EACH(earlier, s, earlier);
    Y = extrapolate6(FROM(last), FROM(earlier));
  } else {
    const double *from[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
      if (extrapolated) cb_rigid_guess(s[i], step->h, own[i]);
      from[i] = extrapolated ? own[i] : s[i]->Y;
    }
    Y = gather6(from);
  }
  put6(B->Y, at, turn6(get9(B->r, at), Y));
}

static void guess(cb_mechanism *m, const cb_block_step *step, bool extrapolated) {
  for (int i = 0; i < m->blocks.bodies; i++)
    PARTS(&m->blocks.body[i], at) guess_part(m, &m->blocks.body[i], step, extrapolated, at);
}

/* Places the links at the end of a step. x becomes the position at the node, and the displacement is added to x_low. */
INLINE void place_part(cb_body_block *B, cb_rigid_state *const s[WIDTH], cb_link *const l[WIDTH], v6 half, int at) {
  const v4 q = rotated(half, get4(B->q, at));
  const v3 moved = displaced(half);
  EACH(to_q, l, place.q);
  EACH(to_r, l, place.r);
  EACH(to_x, l, place.x);
  EACH(to_low, l, place.x_low);
  EACH(to_moved, l, moved);
  EACH(x, s, g.x);
  EACH(low, s, x_low);
  scatter4(to_q, q);
  scatter9(to_r, rotation(q));
  scatter3(to_x, 0, gather3(FROM(x), 0));
  scatter3(to_low, 0, plus(gather3(FROM(low), 0), moved));
  scatter3(to_moved, 0, moved);
}

static void place_bodies(cb_mechanism *m, const cb_block_step *step) {
  for (int i = 0; i < m->blocks.bodies; i++) PARTS(&m->blocks.body[i], at) {
      cb_body_block *B = &m->blocks.body[i];
      cb_link *l[WIDTH];
      cb_rigid_state *s[WIDTH];
      take_links(m, B->link + at, l);
      take_states(step->state, l, s);
      place_part(B, s, l, times6(same(step->h / 2), get6(B->Y, at)), at);
    }
}

/* Returns the impulse that the body still needs for the twist Y, p + (h/2) (0, f) - D^T mu. */
INLINE v6 residual(const cb_body_block *B, const cb_block_step *step, v6 half, v6 mu, int at) {
  v6 r = minus6(get6(B->p, at), apply_D_transposed(half, mu));
  r.l = more(r.l, same(step->first), get3(B->f, at));
  return r;
}

INLINE v6 find_momentum(cb_body_block *B, v6 Y, int at) {
  const blocked_inertia K = get_inertia(&B->K, B->coupled, at);
  const v6 mu = plus6(momentum(&K, B->coupled, Y), get6(B->mu0, at));
  put6(B->mu, at, mu);
  return mu;
}

INLINE int evaluate_part(cb_mechanism *m, cb_body_block *B, const cb_block_step *step, bool fresh, int at) {
  cb_link *l[WIDTH];
  cb_rigid_state *s[WIDTH];
  take_links(m, B->link + at, l);
  take_states(step->state, l, s);
  const v6 Y = get6(B->Y, at), half = times6(same(step->h / 2), Y), mu = find_momentum(B, Y, at);
  place_part(B, s, l, half, at);
  const v6 lack = residual(B, step, half, mu, at);
  EACH(load, l, load);
  scatter6(load, lack);
  if (fresh) {
    const blocked_inertia K = get_inertia(&B->K, B->coupled, at);
    put_matrix(l, &K, B->coupled, half, mu, same(1 / step->h));
  }
  return find_bad(B->link + at, not_finite(lack));
}

static int evaluate(cb_mechanism *m, const cb_block_step *step, bool fresh) {
  int bad = -1;
  for (int i = 0; i < m->blocks.bodies; i++) PARTS(&m->blocks.body[i], at) {
      const int own = evaluate_part(m, &m->blocks.body[i], step, fresh, at);
      bad = bad < 0 ? own : bad;
    }
  return bad;
}

INLINE lane squared_speed(const cb_body_block *B, const blocked_inertia *K, v6 a, int at) {
  const lane mass = get(B->mass + at), size = dot6(momentum(K, B->coupled, a), a);
  const lane_bits heavy = mass > 0;
  return choose(heavy, (lane)((lane_bits)size & 0x7fffffffffffffffLL) / choose(heavy, mass, same(1)), same(0));
}

INLINE int update_part(cb_mechanism *m, cb_body_block *B, const cb_block_step *step, double *changed, double *largest,
                       int at) {
  cb_link *l[WIDTH];
  take_links(m, B->link + at, l);
  EACH(eta, l, eta);
  const blocked_inertia K = get_inertia(&B->K, B->coupled, at);
  const v6 Y = get6(B->Y, at), half = times6(same(step->h / 2), Y),
           change = apply_D(half, times6(same(1 / step->h), gather6(FROM(eta)))), next = plus6(Y, change);
  const lane size = squared_speed(B, &K, Y, at), more_size = squared_speed(B, &K, change, at);
  put6(B->Y, at, next);
  for (int i = 0; i < WIDTH; i++) {
    *largest = size[i] > *largest ? size[i] : *largest;
    *changed = more_size[i] > *changed ? more_size[i] : *changed;
  }
  return find_bad(B->link + at, not_finite(next));
}

static int update(cb_mechanism *m, const cb_block_step *step, double *changed, double *largest) {
  int bad = -1;
  for (int i = 0; i < m->blocks.bodies; i++) PARTS(&m->blocks.body[i], at) {
      const int own = update_part(m, &m->blocks.body[i], step, changed, largest, at);
      bad = bad < 0 ? own : bad;
    }
  return bad;
}

INLINE void find_needs_part(cb_mechanism *m, cb_body_block *B, const cb_block_step *step, int at) {
  const v6 Y = get6(B->Y, at), half = times6(same(step->h / 2), Y),
           lack = residual(B, step, half, find_momentum(B, Y, at), at);
  double *need[WIDTH];
  for (int i = 0; i < WIDTH; i++) need[i] = m->need[B->link[at + i]];
  scatter6(need, times6(same(-1), lack));
  put6(B->own_Y, at, turn_back6(get9(B->r, at), Y));
  put(B->turn + at, same(fabs(step->h)) * root(dot(Y.a, Y.a)));
}

static void find_needs(cb_mechanism *m, const cb_block_step *step) {
  for (int i = 0; i < m->blocks.bodies; i++)
    PARTS(&m->blocks.body[i], at) find_needs_part(m, &m->blocks.body[i], step, at);
}

INLINE pair get_pair(const double *const high[WIDTH], const double *const low[WIDTH], int k) {
  return (pair){gather(high, k), gather(low, k)};
}
INLINE void put_pair(double *const high[WIDTH], double *const low[WIDTH], int k, pair x) {
  scatter(high, k, x.high);
  scatter(low, k, x.low);
}

/* Adds the impulses W of the joints at the first node and the impulse F of the force to the momentum P. P is in the
 * world's axes about the body's origin, which then moves by dx (cb_rigid_move). */
INLINE void move_momentum(pair P[6], v6 W, v6 F, v3 dx) {
  const lane impulse[6] = {W.a.x, W.a.y, W.a.z, W.l.x, W.l.y, W.l.z},
             gained[6] = {F.a.x, F.a.y, F.a.z, F.l.x, F.l.y, F.l.z}, d[3] = {dx.x, dx.y, dx.z};
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) P[i] = plus_one(compensated(P[i], impulse[i]), gained[i]);
#pragma GCC unroll 3
  for (int i = 0; i < 3; i++) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    P[i] = plus_pair(P[i], minus_pair(times_one(P[3 + a], d[b]), times_one(P[3 + b], d[a])));
  }
}

/* Returns the work of f in the step, f.(R v) h. R is the rotation in the first half of the step. Its quaternion is
 * along (c, w), with c = 1 + |(1, w)| and the angular part w of `half`. */
INLINE lane work(v3 f, v6 half) {
  const v3 w = half.a, across = cross(w, half.l);
  const lane ww = dot(w, w), c = 1 + root(1 + ww);
  return 2 * dot(f, more(half.l, 2 / (c * c + ww), plus(times(c, across), cross(w, across))));
}

INLINE int arrive_part(cb_mechanism *m, cb_body_block *B, const cb_block_step *step, int at) {
  cb_link *l[WIDTH];
  cb_rigid_state *s[WIDTH];
  double *wrench[WIDTH];
  take_links(m, B->link + at, l);
  take_states(step->state, l, s);
  for (int i = 0; i < WIDTH; i++) wrench[i] = m->wrench[B->link[at + i]];
  const v6 half = times6(same(step->h / 2), get6(B->Y, at));
  const v3 f = get3(B->f, at), dx = displaced(half);
  const v4 q = rotated(half, get4(B->q, at));
  const m3 r = rotation(q);
  EACH(high, s, world);
  EACH(low, s, world_low);
  pair P[6];
#pragma GCC unroll 6
  for (int k = 0; k < 6; k++) P[k] = get_pair(FROM(high), FROM(low), k);
  /* half of the force acts at the end of the step, unless all of it acts at the first node */
  move_momentum(P, gather6(FROM(wrench)),
                (v6){times(same(step->h - step->first), cross(dx, f)), times(same(step->h), f)}, dx);
  const v6 end = {{P[0].high, P[1].high, P[2].high}, {P[3].high, P[4].high, P[5].high}};
  const int bad = find_bad(B->link + at, not_finite(end) + not_finite(half));
  if (bad >= 0) return bad;
  EACH(momentum_to, s, momentum);
  EACH(mu_to, s, mu);
  EACH(q_to, s, g.q);
  EACH(x_to, s, g.x);
  EACH(x_low, s, x_low);
  const pair x[3] = {compensated(get_pair(FROM(x_to), FROM(x_low), 0), dx.x),
                     compensated(get_pair(FROM(x_to), FROM(x_low), 1), dx.y),
                     compensated(get_pair(FROM(x_to), FROM(x_low), 2), dx.z)};
  const v6 mu = turn_back6(get9(B->r, at), get6(B->mu, at));
  const lane gained = work(f, half);
#pragma GCC unroll 6
  for (int k = 0; k < 6; k++) put_pair(high, low, k, P[k]);
  scatter6(momentum_to, turn_back6(r, end));
  scatter6(mu_to, mu);
  EACH(place_q, l, place.q);
  EACH(place_r, l, place.r);
  EACH(place_x, l, place.x);
  EACH(place_low, l, place.x_low);
  scatter4(q_to, q);
  scatter4(place_q, q);
  scatter9(place_r, r);
#pragma GCC unroll 3
  for (int k = 0; k < 3; k++) {
    put_pair(x_to, x_low, k, x[k]);
    put_pair(place_x, place_low, k, x[k]);
  }
  for (int i = 0; i < WIDTH && at + i < B->count; i++) {
    double Y[6];
    for (int k = 0; k < 6; k++) Y[k] = B->own_Y[k][at + i];
    s[i]->t += step->h;
    s[i]->turn = B->turn[at + i];
    cb_rigid_remember(s[i], step->h, Y);
    m->wrench_work[l[i]->body] += gained[i];
  }
  return -1;
}

static int arrive(cb_mechanism *m, const cb_block_step *step) {
  for (int i = 0; i < m->blocks.bodies; i++) PARTS(&m->blocks.body[i], at) {
      const int bad = arrive_part(m, &m->blocks.body[i], step, at);
      if (bad >= 0) return bad;
    }
  return -1;
}

/* --- hinges --- */

typedef struct place {
  m3 r;
  v4 q;
  v3 x, low;
} place;

INLINE place take_place(const cb_place *const p[WIDTH]) {
  EACH(q, p, q);
  EACH(r, p, r);
  EACH(x, p, x);
  EACH(low, p, x_low);
  return (place){gather9(FROM(r)), gather4(FROM(q)), gather3(FROM(x), 0), gather3(FROM(low), 0)};
}

/* Returns the angle from qa to qb about their common third axis. Of the angles that differ by whole turns, it is the
 * one nearest to `near`. */
INLINE lane angle_between(v4 qa, v4 qb, lane near) {
  const lane w = qa.w * qb.w + qa.x * qb.x + qa.y * qb.y + qa.z * qb.z,
             s = qa.w * qb.z - qa.x * qb.y + qa.y * qb.x - qa.z * qb.w;
  const lane_bits flip = (w < 0) & (lane_bits)same(-0.0);
  const lane angle = twice_atan((lane)((lane_bits)s ^ flip), (lane)((lane_bits)w ^ flip)),
             turn = same(6.283185307179586476925);
  const lane turns = ((near - angle) * 0.15915494309189533577 + 0x1.8p52) - 0x1.8p52; /* rounded to an integer */
  return angle + turn * turns;
}

INLINE void find_hinges_part(cb_mechanism *m, const cb_hinge_block *B, cb_joint_extent extent, bool trial, double *q,
                             int at) {
  static const cb_place fixed = {.q = {1}, .r = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  cb_link *l[WIDTH];
  const cb_place *pa[WIDTH], *pb[WIDTH];
  cb_joint_now *now[WIDTH];
  double *own[WIDTH];
  take_links(m, B->link + at, l);
  for (int i = 0; i < WIDTH; i++) {
    pa[i] = l[i]->parent >= 0 ? &m->link[l[i]->parent].place : &fixed;
    pb[i] = &l[i]->place;
    now[i] = &m->now[l[i]->joint];
    own[i] = q + m->first[l[i]->joint];
  }
  const place a = take_place(pa), b = take_place(pb);
  const v3 in = apply(b.r, get3(B->x[1], at)), from = apply(a.r, get3(B->x[0], at)),
           n = apply(b.r, get3(B->axis[1], at)), n_a = apply(a.r, get3(B->axis[0], at)),
           gap = minus(plus(plus(minus(b.x, a.x), minus(b.low, a.low)), in), from);
  const v3 turn = cross(n, n_a);
  const v6 S = {n, cross(in, n)}, close = {turn, minus(cross(in, turn), gap)};
  const lane angle =
      angle_between(multiply(a.q, get4(B->q[0], at)), multiply(b.q, get4(B->q[1], at)), gather(FROM(own), 0));
  EACH(S_to, now, S);
  EACH(close_to, now, close);
  scatter(own, 0, angle);
  const bool found =
      /* a trial step needs only S1 and e of the links, which are set below; modes also need S and `close` */
      !trial || m->has_modes;
  if (found) scatter6(S_to, S);
  if (found && extent != CB_JOINT_MOTION) scatter6(close_to, close);
  if (!trial) return;
  EACH(moved_from, l, moved);
  EACH(S1, l, S1);
  EACH(e, l, e);
  const v3 moved = gather3(FROM(moved_from), 0);
  scatter6(S1, (v6){S.a, plus(S.l, cross(moved, S.a))});
  scatter6(e, (v6){close.a, plus(close.l, cross(moved, close.a))});
}

static void find_hinges(cb_mechanism *m, cb_joint_extent extent, bool trial, double *q) {
  for (int i = 0; i < m->blocks.hinges; i++)
    PARTS(&m->blocks.hinge[i], at) find_hinges_part(m, &m->blocks.hinge[i], extent, trial, q, at);
}

/* --- settling --- */

INLINE void take_inertias_part(cb_mechanism *m, cb_node_block *B, const cb_rigid_state *state, int at) {
  cb_link *l[WIDTH];
  const cb_rigid_state *s[WIDTH];
  take_links(m, B->link + at, l);
  for (int i = 0; i < WIDTH; i++) s[i] = &state[l[i]->body];
  const cb_rigid_constant *const *constant = B->constant + at;
  EACH(r_from, l, r0);
  EACH(rest, constant, mu0);
  EACH(world, s, world);
  EACH(low, s, world_low);
  EACH(A, l, A);
  EACH(to_load, l, load);
  const m3 r = gather9(FROM(r_from));
  const blocked_inertia K = turn_inertia(constant, B->coupled, r);
  put_inertia(&B->K, B->coupled, at, &K);
  scatter_matrix(A, K.a, K.b, transposed(K.b), K.l);
  const v6 load = plus6(minus6(gather6(FROM(world)), turn6(r, gather6(FROM(rest)))), gather6(FROM(low)));
  put6(B->load, at, load);
  scatter6(to_load, load);
}

static void take_inertias(cb_mechanism *m, const cb_rigid_state *state) {
  for (int i = 0; i < m->blocks.nodes; i++)
    PARTS(&m->blocks.node[i], at) take_inertias_part(m, &m->blocks.node[i], state, at);
}

INLINE void settle_part(cb_mechanism *m, cb_node_block *B, int at) {
  cb_link *l[WIDTH];
  double *need[WIDTH];
  take_links(m, B->link + at, l);
  for (int i = 0; i < WIDTH; i++) need[i] = m->need[B->link[at + i]];
  EACH(eta, l, eta);
  const blocked_inertia K = get_inertia(&B->K, B->coupled, at);
  scatter6(need, minus6(momentum(&K, B->coupled, gather6(FROM(eta))), get6(B->load, at)));
}

static void settle(cb_mechanism *m) {
  for (int i = 0; i < m->blocks.nodes; i++) PARTS(&m->blocks.node[i], at) settle_part(m, &m->blocks.node[i], at);
}

INLINE void push_part(cb_mechanism *m, const cb_node_block *B, cb_rigid_state *state, int at) {
  cb_link *l[WIDTH];
  cb_rigid_state *s[WIDTH];
  double *wrench[WIDTH];
  take_links(m, B->link + at, l);
  take_states(state, l, s);
  for (int i = 0; i < WIDTH; i++) wrench[i] = m->wrench[B->link[at + i]];
  EACH(r_from, l, r0);
  EACH(high, s, world);
  EACH(low, s, world_low);
  EACH(to, s, momentum);
  pair P[6];
#pragma GCC unroll 6
  for (int k = 0; k < 6; k++) P[k] = compensated(get_pair(FROM(high), FROM(low), k), gather(FROM(wrench), k));
#pragma GCC unroll 6
  for (int k = 0; k < 6; k++) put_pair(high, low, k, P[k]);
  const v6 world = {{P[0].high, P[1].high, P[2].high}, {P[3].high, P[4].high, P[5].high}};
  scatter6(to, turn_back6(gather9(FROM(r_from)), world));
}

static void push(cb_mechanism *m, cb_rigid_state *state) {
  for (int i = 0; i < m->blocks.nodes; i++) PARTS(&m->blocks.node[i], at) push_part(m, &m->blocks.node[i], state, at);
}

extern const struct cb_blocks_kernel KERNEL;
const struct cb_blocks_kernel KERNEL = {.begin = begin,
                                        .guess = guess,
                                        .evaluate = evaluate,
                                        .update = update,
                                        .place = place_bodies,
                                        .find_needs = find_needs,
                                        .arrive = arrive,
                                        .find_hinges = find_hinges,
                                        .take_inertias = take_inertias,
                                        .settle = settle,
                                        .push = push};
