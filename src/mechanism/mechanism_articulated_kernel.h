/* The loops over the units of a tree (equations: mechanism_tree.h), with one vector per column of three numbers.
 *
 *   D = S^T A S + a,  L = D^-1 S^T A X,  u = D^-1 (pi - S^T b);  to the parent: X^T A X - L^T D L, X^T (b + A S u)
 *   q' = u - L Y_a;  X^T A X for the displacement d:
 *   H' = H + hat(d) M,  I' = I - H hat(d) + hat(d) H'^T = I + N + N'^T,  N = -H hat(d),  N' = -H' hat(d)
 * H, I and M are the blocks of A = [[I, H], [H^T, M]], and H' and I' are those of X^T A X. The files that include this
 * file define KERNEL and compile it once per instruction set. The compiler must not fuse multiplications and additions,
 * so that all instruction sets give the same bits.
 */
#include "mechanism/mechanism_articulated_vectors.h"

/* --- places --- */

/* Finds `motion`, the columns of R_ab and r, for a screw or a unit without coordinates. `turned` becomes the quaternion
 * of p R_ab, where p is the quaternion of the parent. */
INLINE void place_screw(const cb_articulated *o, double q, const double p[4], vec motion[4], double turned[4]) {
  double cos_half = 1, sin_half = 0;
  if (o->turn != 0) {
    const double half = o->turn / 2 * q;
    cos_half = cos(half);
    sin_half = sin(half);
  }
  const double c = 1 - 2 * sin_half * sin_half, s = 2 * cos_half * sin_half;
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++)
    motion[j] = plus(load(o->motion[j][0]), plus(times(c, load(o->motion[j][1])), times(s, load(o->motion[j][2]))));
  motion[3] = plus(motion[3], times(o->slide * q, load(o->axis)));
  multiply(p, cos_half, o->at, sin_half, o->turned, turned);
}

/* Finds `motion` and `turned` for a unit that is a rotation, as place_screw does for a screw. */
INLINE void place_rotation(const cb_articulated *o, const double p[4], vec motion[4], double turned[4]) {
  double frame[4], own[4], columns[4][4] = {{0}};
  cb_quaternion_multiply(o->at, o->rotation->turned, frame);
  cb_quaternion_multiply(frame, o->body, own);
  cb_quaternion_turn(frame, o->arm, columns[3]);
  cb_articulated_rotate(own, columns);
  for (int i = 0; i < 3; i++) columns[3][i] += o->motion[3][0][i];
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) motion[j] = load(columns[j]);
  cb_quaternion_multiply(p, own, turned);
}

/* x += d, with the low part of x (cb_compensated_add_one) */
INLINE void add_exactly(vec *x, vec *low, vec d) {
  const vec y = plus(d, *low), total = plus(*x, y), back = minus(total, *x);
  *low = plus(minus(*x, minus(total, back)), minus(y, back));
  *x = total;
}

INLINE void place_unit(const cb_joint_tree *T, cb_articulated *o, bool node) {
  static const double world[4] = {1};
  const cb_articulated *p = o->parent >= 0 ? &T->articulated[o->parent] : NULL;
  vec motion[4], R[3], x = none(), low = none();
  if (o->rotation)
    place_rotation(o, p ? p->q : world, motion, o->q);
  else
    place_screw(o, o->columns ? T->q[o->coordinate] : 0, p ? p->q : world, motion, o->q);
  if (p) {
    vec base[3];
    load3(base, p->R);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) motion[j] = turn_vec(base, motion[j]);
    x = load(p->x);
    low = load(p->x_low);
  }
#pragma GCC unroll 3
  for (int j = 0; j < 3; j++) R[j] = motion[j];
  store(o->d, motion[3]);
  store3(o->R, R);
  if (node) {
    add_exactly(&x, &low, motion[3]);
    cb_tree_tidy(o->q);
    cb_articulated_rotate(o->q, o->R);
    load3(R, o->R);
  } else
    x = plus(x, motion[3]);
  store(o->x, x);
  store(o->x_low, low);
  for (int k = 0; k < o->columns; k++) store6(&o->S[k], (six){turn(R, o->own[k].a), turn(R, o->own[k].l)});
}

static void place(cb_joint_tree *T, bool node) {
  for (int i = 0; i < T->n; i++)
    if (!T->articulated[i].root) place_unit(T, &T->articulated[i], node);
}

/* --- inertias --- */

/* out = R B R^T, with the 3x3 block B of K that begins at (row, column) */
INLINE void turn_block(const vec R[3], const double (*K)[6], int row, int column, double out[3][4]) {
  vec half[3];
#pragma GCC unroll 3
  for (int k = 0; k < 3; k++)
    half[k] = turn(R, (double[3]){K[row][column + k], K[row + 1][column + k], K[row + 2][column + k]});
#pragma GCC unroll 3
  for (int j = 0; j < 3; j++) store(out[j], turn(half, (double[3]){part(R[0], j), part(R[1], j), part(R[2], j)}));
}

INLINE void turn_diagonal(const vec R[3], const double (*K)[6], int row, double out[3][4]) {
  const vec half[3] = {times(K[row][row], R[0]), times(K[row + 1][row + 1], R[1]), times(K[row + 2][row + 2], R[2])};
#pragma GCC unroll 3
  for (int j = 0; j < 3; j++) store(out[j], turn(half, (double[3]){part(R[0], j), part(R[1], j), part(R[2], j)}));
}

INLINE void take_own(cb_articulated *o) {
  const vec zero[3] = {none(), none(), none()};
  vec R[3];
  if (!o->problem) {
    store3(o->I, zero);
    store3(o->H, zero);
    store3(o->M, zero);
    store6(&o->b, none6());
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
  store6(&o->b, (six){turn(R, o->rest), turn(R, o->rest + 3)});
}

/* --- sweeps --- */

/* out = -H hat(d) */
INLINE void find_behind(const vec H[3], vec d, vec out[3]) {
  out[0] = minus(times(part(d, 1), H[2]), times(part(d, 2), H[1]));
  out[1] = minus(times(part(d, 2), H[0]), times(part(d, 0), H[2]));
  out[2] = minus(times(part(d, 0), H[1]), times(part(d, 1), H[0]));
}

/* These functions move a covector, or an inertia, from the origin of a unit to that of its parent, which is at -d. */
INLINE six move(vec d, six W) { return (six){plus(W.a, cross(d, W.l)), W.l}; }
INLINE void move_inertia(vec d, inertia *A) {
  vec before[3], after[3];
  find_behind(A->H, d, before);
#pragma GCC unroll 3
  for (int k = 0; k < 3; k++) A->H[k] = plus(A->H[k], cross(d, A->M[k]));
  find_behind(A->H, d, after);
  transpose(after);
#pragma GCC unroll 3
  for (int k = 0; k < 3; k++) A->I[k] = plus(A->I[k], plus(before[k], after[k]));
}

INLINE void give_parent(const inertia *A, six b, cb_articulated *p) {
#pragma GCC unroll 3
  for (int k = 0; k < 3; k++) {
    store(p->I[k], plus(load(p->I[k]), A->I[k]));
    store(p->H[k], plus(load(p->H[k]), A->H[k]));
    store(p->M[k], plus(load(p->M[k]), A->M[k]));
  }
  store6(&p->b, plus6(load6(&p->b), b));
}

/* Eliminates the coordinate of a screw. A and b are those of the unit; M and c are A and b about the origin of the
 * parent, and the coordinate is eliminated from them. The division is the slowest part, so everything that does not
 * need it comes first. */
INLINE bool reduce_screw(const cb_joint_tree *T, cb_articulated *o, const inertia *A, six b, inertia *M, six *c) {
  const six S = load6(&o->S[0]), AS = apply(A, S), seen = move(load(o->d), AS);
  const double D = dot(S, AS) + o->armature, right = T->pi[o->coordinate] - dot(S, b);
  if (!(D > 0) || !(D < INFINITY)) return false;
  const double inverse = 1 / D, u = o->u[0] = inverse * right;
  const six left = times6(inverse, seen);
  store6(&o->L[0], left);
  subtract(left, seen, M);
  *c = plus6(*c, times6(u, seen));
  return true;
}

/* out = D^-1 for a symmetric matrix D. Returns false unless the determinant of D is positive and finite. */
INLINE bool invert(const double D[3][3], double out[3][3]) {
  double c[3][3];
  for (int i = 0; i < 3; i++) cb_cross3(D[(i + 1) % 3], D[(i + 2) % 3], c[i]);
  const double det = cb_dot3(D[0], c[0]);
  if (!(det > 0) || !(det < INFINITY)) return false;
  for (int i = 0; i < 9; i++) out[i / 3][i % 3] = c[i % 3][i / 3] / det;
  return true;
}

/* Eliminates the three coordinates of a rotation, as reduce_screw does for the one coordinate of a screw. The armature
 * of the rotation is V^T a V, where a are the armatures of its coordinates and V maps w to the rate of its rotation
 * vector. */
INLINE bool reduce_rotation(const cb_joint_tree *T, cb_articulated *o, const inertia *A, six b, inertia *M, six *c) {
  const cb_unit_rotation *own = o->rotation;
  cb_six AS[3], seen[3];
  double D[3][3], inverse[3][3], right[3];
  for (int i = 0; i < 3; i++) {
    const six S = load6(&o->S[i]), moved = apply(A, S);
    store6(&AS[i], moved);
    store6(&seen[i], move(load(o->d), moved));
    right[i] = T->pi[o->coordinate + i] - dot(S, b);
  }
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      D[i][k] = dot(load6(&o->S[i]), load6(&AS[k]));
      for (int j = 0; j < 3; j++) D[i][k] += own->V[j][i] * own->armature[j] * own->V[j][k];
    }
  if (!invert((const double(*)[3])D, inverse)) return false;
  cb_apply3((const double(*)[3])inverse, right, o->u);
  for (int j = 0; j < 3; j++) {
    six left = none6();
    for (int l = 0; l < 3; l++) left = plus6(left, times6(inverse[j][l], load6(&seen[l])));
    store6(&o->L[j], left);
    subtract(left, load6(&seen[j]), M);
    *c = plus6(*c, times6(o->u[j], load6(&seen[j])));
  }
  return true;
}

/* Returns S q', the twist of the unit relative to its parent. */
INLINE six own_twist(const cb_joint_tree *T, const cb_articulated *o) {
  six Y = none6();
  for (int k = 0; k < o->columns; k++) Y = plus6(Y, times6(T->own_rate[o->coordinate + k], load6(&o->S[k])));
  return Y;
}

static int sweep_inwards(cb_joint_tree *T) {
  for (int i = T->n - 1, next = i; i >= 0; i--) {
    cb_articulated *o = &T->articulated[i];
    inertia A, M;
    /* take_own is called this late, so that the processor can run it while it waits for a division */
    for (; next >= (o->parent < 0 ? i : o->parent); next--) take_own(&T->articulated[next]);
    if (o->root) continue;
    load_inertia(&A, o);
    const six b = load6(&o->b);
    six c = o->free ? b : plus6(b, apply(&A, own_twist(T, o)));
    M = A;
    c = move(load(o->d), c);
    move_inertia(load(o->d), &M);
    if (o->free && o->columns == 1 && !reduce_screw(T, o, &A, b, &M, &c)) return i;
    if (o->free && o->columns == 3 && !reduce_rotation(T, o, &A, b, &M, &c)) return i;
    if (o->parent >= 0) give_parent(&M, c, &T->articulated[o->parent]);
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

/* twist_of_parent returns the twist of the parent about the parent's origin. `see` moves a twist of the parent to the
 * origin of the unit. */
INLINE six twist_of_parent(const cb_joint_tree *T, const cb_articulated *o) {
  return o->parent < 0 ? none6() : load6(&T->articulated[o->parent].Y);
}
INLINE six see(const cb_articulated *o, six Y) { return (six){Y.a, plus(Y.l, cross(Y.a, load(o->d)))}; }

static int find_twists(cb_joint_tree *T, bool with_momenta) {
  const int at = sweep_inwards(T);
  if (at >= 0) return at;
  for (int i = 0; i < T->n; i++) {
    cb_articulated *o = &T->articulated[i];
    vec R[3];
    six Y;
    if (o->root) {
      if (!twist_of_root(o)) return i;
      Y = load6(&o->Y);
    } else {
      const six parent = twist_of_parent(T, o);
      for (int k = 0; k < o->columns && o->free; k++)
        T->own_rate[o->coordinate + k] = o->u[k] - dot(load6(&o->L[k]), parent);
      Y = plus6(see(o, parent), own_twist(T, o));
      store6(&o->Y, Y);
    }
    load3(R, o->R);
    store(o->V, turn_back(R, Y.a));
    store(o->V + 3, turn_back(R, Y.l));
    if (!with_momenta || o->root) continue;
    inertia A;
    load_inertia(&A, o);
    store6(&o->P, plus6(apply(&A, Y), load6(&o->b)));
  }
  return -1;
}

static void find_rates(cb_joint_tree *T) {
  for (int i = 0; i < T->n; i++) {
    const cb_articulated *o = &T->articulated[i];
    cb_six own;
    if (!o->free) continue;
    const six Y = load6(&o->Y), base = see(o, twist_of_parent(T, o));
    store6(&own, (six){minus(Y.a, base.a), minus(Y.l, base.l)});
    for (int k = 0; k < o->columns; k++) { /* the angular parts of S are perpendicular to each other */
      const bool turns = o->columns == 3 || o->turn != 0;
      const double *s = turns ? o->S[k].a : o->S[k].l;
      T->own_rate[o->coordinate + k] = cb_dot3(s, turns ? own.a : own.l) / cb_dot3(s, s);
    }
  }
}

/* --- sums from the tips --- */

INLINE void give(const cb_articulated *o, six W, cb_six *to) { store6(to, plus6(load6(to), move(load(o->d), W))); }

static void gather_momenta(cb_joint_tree *T) {
  for (int i = T->n - 1; i > 0; i--) {
    const cb_articulated *o = &T->articulated[i];
    if (o->parent >= 0) give(o, load6(&o->P), &T->articulated[o->parent].P);
  }
}

static void gather_wrenches(cb_joint_tree *T, double part_of_step) {
  for (int i = 0; i < T->n; i++) {
    cb_articulated *o = &T->articulated[i];
    six F = none6();
    vec R[3];
    load3(R, o->R);
    if (o->problem) {
      F = (six){turn(R, o->wrench), turn(R, o->wrench + 3)};
      const six about_start = move(minus(load(o->x), load(o->start)), F);
      store6(&o->load, plus6(load6(&o->load), times6(part_of_step, about_start)));
      o->wrench_work += part_of_step * dot(F, load6(&o->Y));
    }
    store6(&o->F, F);
  }
  for (int i = T->n - 1; i > 0; i--) {
    const cb_articulated *o = &T->articulated[i];
    if (o->parent >= 0) give(o, load6(&o->F), &T->articulated[o->parent].F);
  }
}

static void find_changes(cb_joint_tree *T) {
  for (int i = 0; i < T->n; i++) {
    const cb_articulated *o = &T->articulated[i];
    if (!o->columns) continue;
    const six P = load6(&o->P), Y = load6(&o->Y), F = load6(&o->F);
    const six W = {plus3(F.a, cross(P.a, Y.a), cross(P.l, Y.l)), plus(F.l, cross(P.l, Y.a))};
    for (int k = 0; k < o->columns; k++) T->dpi[o->coordinate + k] = dot(load6(&o->S[k]), W);
  }
}

extern const struct cb_articulated_kernel KERNEL;
const struct cb_articulated_kernel KERNEL = {.place = place,
                                             .find_twists = find_twists,
                                             .find_rates = find_rates,
                                             .gather_momenta = gather_momenta,
                                             .gather_wrenches = gather_wrenches,
                                             .find_changes = find_changes};
