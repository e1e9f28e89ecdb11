/* The loops over the units of a tree (equations: mechanism_articulated.h, mechanism_tree.h), one vector per column of
 * three numbers.
 *
 *   D = S^T A S + a,  u = D^-1 (pi - S^T b);  to the parent: A - A S D^-1 S^T A, b + A S u, seen from d away:
 *   H' = H + hat(d) M,  I' = I - H hat(d) + hat(d) H'^T = I + N + N'^T,  N = -H hat(d),  N' = -H' hat(d)
 * The files that include this file define KERNEL and compile it once per instruction set. The compiler must not fuse
 * multiplications and additions, so that all instruction sets give the same bits.
 */
#include "mechanism/mechanism_articulated.h"

#include <math.h>
#include <string.h>

typedef double vec __attribute__((vector_size(32)));
#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define PICK(x, y, i, j, k, l) __builtin_shufflevector(x, y, i, j, k, l)
#else
typedef long long lanes __attribute__((vector_size(32)));
#define PICK(x, y, i, j, k, l) __builtin_shuffle(x, y, (lanes){i, j, k, l})
#endif
#define NEXT(x) PICK(x, x, 1, 2, 0, 3)
#define CROSS(x, y) NEXT((x) * NEXT(y) - NEXT(x) * (y))
/* R a of the columns R */
#define TURN(R, a) ((R)[0] * (a)[0] + (R)[1] * (a)[1] + (R)[2] * (a)[2])

/* memcpy would copy in halves, which a later load of a whole vector waits for. */
typedef double loose __attribute__((vector_size(32), aligned(8), may_alias));
INLINE void load(vec *v, const double *p) { *v = *(const loose *)p; }
INLINE void store(double *p, const vec *v) { *(loose *)p = *v; }
/* Copies of one vector at a time stay in registers. */
INLINE void load3(vec v[3], const double p[3][4]) {
  load(&v[0], p[0]);
  load(&v[1], p[1]);
  load(&v[2], p[2]);
}
INLINE void store3(double p[3][4], const vec v[3]) {
  store(p[0], &v[0]);
  store(p[1], &v[1]);
  store(p[2], &v[2]);
}

typedef struct six {
  vec a, l;
} six;
typedef struct inertia {
  vec I[3], H[3], M[3];
} inertia;

INLINE void load6(six *v, const cb_six *p) {
  load(&v->a, p->a);
  load(&v->l, p->l);
}
INLINE void store6(cb_six *p, const six *v) {
  store(p->a, &v->a);
  store(p->l, &v->l);
}
INLINE void load_inertia(inertia *A, const cb_articulated *o) {
  load3(A->I, o->I);
  load3(A->H, o->H);
  load3(A->M, o->M);
}
INLINE double dot(const six *x, const six *y) {
  const vec p = x->a * y->a + x->l * y->l;
  return (p[0] + p[1]) + (p[2] + p[3]);
}
INLINE void add(double factor, const six *x, six *out) {
  out->a += factor * x->a;
  out->l += factor * x->l;
}
INLINE void transpose(const vec x[3], vec out[3]) {
  const vec zero = {0}, low = PICK(x[0], x[1], 0, 4, 2, 6), high = PICK(x[0], x[1], 1, 5, 3, 7),
            low2 = PICK(x[2], zero, 0, 4, 2, 6), high2 = PICK(x[2], zero, 1, 5, 3, 7);
  out[0] = PICK(low, low2, 0, 1, 4, 5);
  out[1] = PICK(high, high2, 0, 1, 4, 5);
  out[2] = PICK(low, low2, 2, 3, 6, 7);
}
/* out = A (w, v) */
INLINE void apply(const inertia *A, const six *V, six *out) {
  vec rows[3] = {A->H[0] * V->a, A->H[1] * V->a, A->H[2] * V->a};
  out->a = TURN(A->I, V->a) + TURN(A->H, V->l);
  transpose(rows, rows);
  out->l = (rows[0] + rows[1] + rows[2]) + TURN(A->M, V->l);
}
/* A -= left right^T, which is symmetric */
INLINE void subtract(const six *left, const six *right, inertia *A) {
#pragma GCC unroll 4
  for (int k = 0; k < 3; k++) {
    A->I[k] -= left->a * right->a[k];
    A->H[k] -= left->a * right->l[k];
    A->M[k] -= left->l * right->l[k];
  }
}

/* --- places --- */

/* The columns of R_ab, r, and the quaternion of R_ab, of a screw or of nothing. */
INLINE void place_screw(const cb_articulated *o, double q, vec motion[4], vec *turned) {
  const double moved = o->slide * q;
  double cos_half = 1, sin_half = 0;
  if (o->turn != 0) {
    const double half = o->turn / 2 * q;
    cos_half = cos(half);
    sin_half = sin(half);
  }
  const double c = 1 - 2 * sin_half * sin_half, s = 2 * cos_half * sin_half;
  vec at, across, axis;
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) {
    vec part[3];
    load3(part, o->motion[j]);
    motion[j] = part[0] + (c * part[1] + s * part[2]);
  }
  load(&axis, o->axis);
  motion[3] += moved * axis;
  load(&at, o->at);
  load(&across, o->turned);
  *turned = cos_half * at + sin_half * across;
}

/* The same of a rotation. */
INLINE void place_rotation(const cb_articulated *o, vec motion[4], vec *turned) {
  double frame[4], own[4], columns[4][4] = {{0}};
  cb_quaternion_multiply(o->at, o->rotation->turned, frame);
  cb_quaternion_multiply(frame, o->body, own);
  cb_quaternion_turn(frame, o->arm, columns[3]);
  cb_articulated_rotate(own, columns);
  for (int i = 0; i < 3; i++) columns[3][i] += o->motion[3][0][i];
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) load(&motion[j], columns[j]);
  load(turned, own);
}

/* out = p q of quaternions */
INLINE void multiply(const vec *p, const vec *q, vec *out) {
  const vec one = {-1, 1, -1, 1}, two = {-1, 1, 1, -1}, three = {-1, -1, 1, 1};
  *out = ((*p)[0] * *q + (*p)[1] * (one * PICK(*q, *q, 1, 0, 3, 2))) +
         ((*p)[2] * (two * PICK(*q, *q, 2, 3, 0, 1)) + (*p)[3] * (three * PICK(*q, *q, 3, 2, 1, 0)));
}

/* x += d, with the low part of x (cb_compensated_add_one) */
INLINE void add_exactly(vec *x, vec *low, const vec *d) {
  const vec y = *d + *low, sum = *x + y, back = sum - *x;
  *low = (*x - (sum - back)) + (y - back);
  *x = sum;
}

INLINE void place_unit(const cb_joint_tree *T, cb_articulated *o, bool node) {
  vec motion[4], q, R[3], x = {0}, low = {0};
  if (o->rotation)
    place_rotation(o, motion, &q);
  else
    place_screw(o, o->columns ? T->q[o->coordinate] : 0, motion, &q);
#pragma GCC unroll 4
  for (int j = 0; j < 3; j++) R[j] = motion[j];
  if (o->parent >= 0) {
    const cb_articulated *p = &T->articulated[o->parent];
    vec base[3], from;
    load3(base, p->R);
    load(&from, p->q);
#pragma GCC unroll 4
    for (int j = 0; j < 3; j++) R[j] = TURN(base, motion[j]);
    motion[3] = TURN(base, motion[3]);
    multiply(&from, &q, &q);
    load(&x, p->x);
    load(&low, p->x_low);
  }
  store(o->d, &motion[3]);
  store(o->q, &q);
  store3(o->R, R);
  if (node) {
    add_exactly(&x, &low, &motion[3]);
    cb_tree_tidy(o->q);
    cb_articulated_rotate(o->q, o->R);
    load3(R, o->R);
  } else
    x += motion[3];
  store(o->x, &x);
  store(o->x_low, &low);
  for (int k = 0; k < o->columns; k++) {
    const six S = {TURN(R, o->own[k].a), TURN(R, o->own[k].l)};
    store6(&o->S[k], &S);
  }
}

static void place(cb_joint_tree *T, bool node) {
  for (int i = 0; i < T->n; i++)
    if (!T->articulated[i].root) place_unit(T, &T->articulated[i], node);
}

/* --- inertias --- */

/* out = R S R^T of the block of K at (row, column) */
INLINE void turn_block(const vec R[3], const double (*K)[6], int row, int column, double out[3][4]) {
  vec rotated[3], turned[3];
#pragma GCC unroll 4
  for (int k = 0; k < 3; k++)
    rotated[k] = R[0] * K[row][column + k] + R[1] * K[row + 1][column + k] + R[2] * K[row + 2][column + k];
#pragma GCC unroll 4
  for (int j = 0; j < 3; j++) turned[j] = rotated[0] * R[0][j] + rotated[1] * R[1][j] + rotated[2] * R[2][j];
  store3(out, turned);
}

INLINE void turn_diagonal(const vec R[3], const double (*K)[6], int row, double out[3][4]) {
  const vec scaled[3] = {K[row][row] * R[0], K[row + 1][row + 1] * R[1], K[row + 2][row + 2] * R[2]};
  vec turned[3];
#pragma GCC unroll 4
  for (int j = 0; j < 3; j++) turned[j] = scaled[0] * R[0][j] + scaled[1] * R[1][j] + scaled[2] * R[2][j];
  store3(out, turned);
}

INLINE void take_own(cb_articulated *o) {
  const vec zero[3] = {{0}, {0}, {0}};
  vec R[3];
  six b = {{0}, {0}};
  if (!o->problem) {
    store3(o->I, zero);
    store3(o->H, zero);
    store3(o->M, zero);
    store6(&o->b, &b);
    return;
  }
  load3(R, o->R);
  if (o->diagonal) {
    turn_diagonal(R, o->K, 0, o->I);
    store3(o->H, zero);
    turn_diagonal(R, o->K, 3, o->M);
  } else {
    turn_block(R, o->K, 0, 0, o->I);
    turn_block(R, o->K, 0, 3, o->H);
    turn_block(R, o->K, 3, 3, o->M);
  }
  b.a = TURN(R, o->rest);
  b.l = TURN(R, o->rest + 3);
  store6(&o->b, &b);
}

/* --- sweeps --- */

/* The columns of -H hat(d) */
#define BEHIND0(H, d) ((H)[2] * (d)[1] - (H)[1] * (d)[2])
#define BEHIND1(H, d) ((H)[0] * (d)[2] - (H)[2] * (d)[0])
#define BEHIND2(H, d) ((H)[1] * (d)[0] - (H)[0] * (d)[1])

/* A covector, and an inertia, of a unit become those of its parent, which sees it from -d away. */
INLINE void move6(const vec *d, six *W) { W->a += CROSS(*d, W->l); }
INLINE void move_inertia(const vec *d, inertia *A) {
  const vec before[3] = {BEHIND0(A->H, *d), BEHIND1(A->H, *d), BEHIND2(A->H, *d)};
#pragma GCC unroll 4
  for (int k = 0; k < 3; k++) A->H[k] += CROSS(*d, A->M[k]);
  vec after[3] = {BEHIND0(A->H, *d), BEHIND1(A->H, *d), BEHIND2(A->H, *d)};
  transpose(after, after);
#pragma GCC unroll 4
  for (int k = 0; k < 3; k++) A->I[k] += before[k] + after[k];
}

INLINE void give_parent(const inertia *A, const six *b, cb_articulated *p) {
  inertia P;
  six c;
  load_inertia(&P, p);
  load6(&c, &p->b);
#pragma GCC unroll 4
  for (int k = 0; k < 3; k++) {
    P.I[k] += A->I[k];
    P.H[k] += A->H[k];
    P.M[k] += A->M[k];
  }
  add(1, b, &c);
  store3(p->I, P.I);
  store3(p->H, P.H);
  store3(p->M, P.M);
  store6(&p->b, &c);
}

/* Eliminates the coordinate of a screw, with the parent's A and b in M and c. The division is the slowest part, so all
 * that does not need it comes first. */
INLINE bool reduce_screw(const cb_joint_tree *T, cb_articulated *o, const inertia *A, const six *b, const vec *d, inertia *M,
                         six *c) {
  six S, AS, left = {{0}, {0}};
  load6(&S, &o->S[0]);
  apply(A, &S, &AS);
  const double D = dot(&S, &AS) + o->armature, right = T->pi[o->coordinate] - dot(&S, b);
  store6(&o->AS[0], &AS);
  if (!(D > 0) || !(D < INFINITY)) return false;
  const double inverse = 1 / D;
  o->D[0][0] = inverse;
  o->u[0] = inverse * right;
  move6(d, &AS);
  add(inverse, &AS, &left);
  subtract(&left, &AS, M);
  add(inverse * right, &AS, c);
  return true;
}

/* D^-1 of a symmetric matrix with positive determinants. */
INLINE bool invert(const double D[3][3], double out[3][3]) {
  double c[3][3];
  for (int i = 0; i < 3; i++) cb_cross3(D[(i + 1) % 3], D[(i + 2) % 3], c[i]);
  const double det = cb_dot3(D[0], c[0]);
  if (!(det > 0) || !(det < INFINITY)) return false;
  for (int i = 0; i < 9; i++) out[i / 3][i % 3] = c[i % 3][i / 3] / det;
  return true;
}

/* The same for a rotation; V^T a V: its armature. */
static bool reduce_rotation(const cb_joint_tree *T, cb_articulated *o, const inertia *A, const six *b, const vec *d,
                            inertia *M, six *c) {
  const cb_unit_rotation *own = o->rotation;
  six S[3], AS[3];
  double D[3][3], right[3];
  for (int i = 0; i < 3; i++) {
    load6(&S[i], &o->S[i]);
    apply(A, &S[i], &AS[i]);
    store6(&o->AS[i], &AS[i]);
    right[i] = T->pi[o->coordinate + i] - dot(&S[i], b);
  }
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      D[i][k] = dot(&S[i], &AS[k]);
      for (int j = 0; j < 3; j++) D[i][k] += own->V[j][i] * own->armature[j] * own->V[j][k];
    }
  if (!invert((const double(*)[3])D, o->D)) return false;
  cb_apply3((const double(*)[3])o->D, right, o->u);
  for (int j = 0; j < 3; j++) move6(d, &AS[j]);
  for (int j = 0; j < 3; j++) {
    six left = {{0}, {0}};
    for (int l = 0; l < 3; l++) add(o->D[j][l], &AS[l], &left);
    subtract(&left, &AS[j], M);
    add(o->u[j], &AS[j], c);
  }
  return true;
}

/* Y += S q' */
INLINE void add_own(const cb_joint_tree *T, const cb_articulated *o, six *Y) {
  for (int k = 0; k < o->columns; k++) {
    six S;
    load6(&S, &o->S[k]);
    add(T->own_rate[o->coordinate + k], &S, Y);
  }
}

static int sweep_inwards(cb_joint_tree *T) {
  for (int i = 0; i < T->n; i++) take_own(&T->articulated[i]);
  for (int i = T->n - 1; i >= 0; i--) {
    cb_articulated *o = &T->articulated[i];
    inertia A, M;
    six b, c;
    vec d;
    if (o->root) continue;
    load_inertia(&A, o);
    load6(&b, &o->b);
    load(&d, o->d);
    M = A;
    c = b;
    if (!o->free) {
      six e = {{0}, {0}}, own;
      add_own(T, o, &e);
      apply(&A, &e, &own);
      add(1, &own, &c);
    }
    move_inertia(&d, &M);
    move6(&d, &c);
    if (o->free && !(o->columns == 1 ? reduce_screw(T, o, &A, &b, &d, &M, &c) : reduce_rotation(T, o, &A, &b, &d, &M, &c))) return i;
    if (o->parent >= 0) give_parent(&M, &c, &T->articulated[o->parent]);
  }
  return -1;
}

static bool twist_of_root(cb_articulated *o) {
  cb_factors6 f;
  double K[6][6], right[6], Y[6];
  for (int i = 0; i < 3; i++) {
#pragma GCC unroll 4
    for (int k = 0; k < 3; k++) {
      K[i][k] = o->I[k][i];
      K[i][3 + k] = K[3 + k][i] = o->H[k][i];
      K[3 + i][3 + k] = o->M[k][i];
    }
    right[i] = o->P.a[i] - o->b.a[i];
    right[3 + i] = o->P.l[i] - o->b.l[i];
  }
  if (!cb_factor6((const double(*)[6])K, &f)) return false;
  cb_back6(&f, right, Y);
  cb_six_set(Y, &o->Y);
  return true;
}

/* The twist of the parent, seen from the unit. */
INLINE void see_parent(const cb_joint_tree *T, const cb_articulated *o, six *Y) {
  vec d;
  *Y = (six){{0}, {0}};
  if (o->parent < 0) return;
  load6(Y, &T->articulated[o->parent].Y);
  load(&d, o->d);
  Y->l += CROSS(Y->a, d);
}

INLINE void solve_rates(const cb_articulated *o, const six *Y, double *rate) {
  double along[3];
  for (int j = 0; j < o->columns; j++) {
    six AS;
    load6(&AS, &o->AS[j]);
    along[j] = dot(&AS, Y);
  }
  if (o->columns == 1) rate[0] = o->u[0] - o->D[0][0] * along[0];
  else
#pragma GCC unroll 4
    for (int j = 0; j < 3; j++) rate[j] = o->u[j] - cb_dot3(o->D[j], along);
}

/* The twist of a unit in its own axes. */
INLINE void turn_back(cb_articulated *o, const six *Y) {
  vec R[3];
  load3(R, o->R);
  vec a[3] = {R[0] * Y->a, R[1] * Y->a, R[2] * Y->a}, l[3] = {R[0] * Y->l, R[1] * Y->l, R[2] * Y->l};
  transpose(a, a);
  transpose(l, l);
  a[0] = a[0] + a[1] + a[2];
  l[0] = l[0] + l[1] + l[2];
  store(o->V, &a[0]);
  store(o->V + 3, &l[0]);
}

static int find_twists(cb_joint_tree *T, bool with_momenta) {
  const int at = sweep_inwards(T);
  if (at >= 0) return at;
  for (int i = 0; i < T->n; i++) {
    cb_articulated *o = &T->articulated[i];
    six Y, P, b;
    inertia A;
    if (o->root) {
      if (!twist_of_root(o)) return i;
      load6(&Y, &o->Y);
      turn_back(o, &Y);
      continue;
    }
    see_parent(T, o, &Y);
    if (o->free) solve_rates(o, &Y, T->own_rate + o->coordinate);
    add_own(T, o, &Y);
    store6(&o->Y, &Y);
    turn_back(o, &Y);
    if (!with_momenta) continue;
    load_inertia(&A, o);
    load6(&b, &o->b);
    apply(&A, &Y, &P);
    add(1, &b, &P);
    store6(&o->P, &P);
  }
  return -1;
}

static void find_rates(cb_joint_tree *T) {
  for (int i = 0; i < T->n; i++) {
    const cb_articulated *o = &T->articulated[i];
    six Y;
    cb_six own;
    if (!o->free) continue;
    see_parent(T, o, &Y);
    store6(&own, &Y);
#pragma GCC unroll 4
    for (int k = 0; k < 3; k++) {
      own.a[k] = o->Y.a[k] - own.a[k];
      own.l[k] = o->Y.l[k] - own.l[k];
    }
    for (int k = 0; k < o->columns; k++) { /* the angular parts of S are perpendicular to each other */
      const bool turns = o->columns == 3 || o->turn != 0;
      const double *s = turns ? o->S[k].a : o->S[k].l;
      T->own_rate[o->coordinate + k] = cb_dot3(s, turns ? own.a : own.l) / cb_dot3(s, s);
    }
  }
}

/* --- sums from the tips --- */

INLINE void give(const cb_articulated *o, const six *W, cb_six *to) {
  six sum;
  vec d;
  load6(&sum, to);
  load(&d, o->d);
  sum.a += W->a + CROSS(d, W->l);
  sum.l += W->l;
  store6(to, &sum);
}

static void gather_momenta(cb_joint_tree *T) {
  for (int i = T->n - 1; i > 0; i--) {
    const cb_articulated *o = &T->articulated[i];
    six P;
    load6(&P, &o->P);
    if (o->parent >= 0) give(o, &P, &T->articulated[o->parent].P);
  }
}

static void gather_wrenches(cb_joint_tree *T, double part) {
  for (int i = 0; i < T->n; i++) {
    cb_articulated *o = &T->articulated[i];
    six F = {{0}, {0}}, sum, Y;
    vec R[3], x, start;
    load3(R, o->R);
    if (o->problem) {
      F.a = TURN(R, o->wrench);
      F.l = TURN(R, o->wrench + 3);
      load(&x, o->x);
      load(&start, o->start);
      load6(&sum, &o->load);
      sum.a += part * (F.a + CROSS(x - start, F.l));
      sum.l += part * F.l;
      store6(&o->load, &sum);
      load6(&Y, &o->Y);
      o->wrench_work += part * dot(&F, &Y);
    }
    store6(&o->F, &F);
  }
  for (int i = T->n - 1; i > 0; i--) {
    const cb_articulated *o = &T->articulated[i];
    six F;
    load6(&F, &o->F);
    if (o->parent >= 0) give(o, &F, &T->articulated[o->parent].F);
  }
}

static void find_changes(cb_joint_tree *T) {
  for (int i = 0; i < T->n; i++) {
    const cb_articulated *o = &T->articulated[i];
    six W, P, Y;
    if (!o->columns) continue;
    load6(&W, &o->F);
    load6(&P, &o->P);
    load6(&Y, &o->Y);
    W.a += CROSS(P.a, Y.a) + CROSS(P.l, Y.l);
    W.l += CROSS(P.l, Y.a);
    for (int k = 0; k < o->columns; k++) {
      six S;
      load6(&S, &o->S[k]);
      T->dpi[o->coordinate + k] = dot(&S, &W);
    }
  }
}

extern const struct cb_articulated_kernel KERNEL;
const struct cb_articulated_kernel KERNEL = {.place = place,
                                             .find_twists = find_twists,
                                             .find_rates = find_rates,
                                             .gather_momenta = gather_momenta,
                                             .gather_wrenches = gather_wrenches,
                                             .find_changes = find_changes};
