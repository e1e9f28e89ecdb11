/* The sweeps over a tree (equations: mechanism_private.h), compiled once per instruction set. A: matrix of a link; X:
 * maps twists of the parent to the link; S: twists of the joint; D = S^T A S + stiff, whose inverse is the member D of
 * a link; AS = X^T A S; L = D^-1 S^T A X; r: load; eta: displacement or twist of a link; d: vector from the origin of
 * the parent to that of the link.
 *
 * A vector of six numbers is handled as its angular and its linear part. Three numbers of an array are read together
 * with the number after them, so the fourth number of a vector has no meaning here, and products are summed over three.
 */
#include "mechanism/mechanism_articulated_vectors.h"

/* These functions read and write six numbers in memory. */
INLINE six read6(const double p[6]) { return (six){load(p), load(p + 3)}; }
INLINE void write6(double p[6], six v) {
#ifdef VECTORS
  store(p, PICK(v.a, v.l, 0, 1, 2, 4));
  cb_two_store((cb_two){v.l[1], v.l[2]}, p + 4);
#else
  cb_two_store(v.a.x, p);
  cb_two_store(PAIR(v.a.y, v.l.x, 0, 2), p + 2);
  cb_two_store(PAIR(v.l.x, v.l.y, 1, 2), p + 4);
#endif
}
INLINE six minus6(six x, six y) { return (six){minus(x.a, y.a), minus(x.l, y.l)}; }
INLINE double inner(six x, six y) {
  const vec v = plus(each(x.a, y.a), each(x.l, y.l));
  return (part(v, 0) + part(v, 1)) + part(v, 2);
}
/* Returns A x for a matrix A that is stored by rows. */
INLINE six rows_times(const cb_six A[6], six x) {
  vec out[6];
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) out[i] = plus(each(load(A[i].a), x.a), each(load(A[i].l), x.l));
  transpose(out);
  transpose(out + 3);
  return (six){plus3(out[0], out[1], out[2]), plus3(out[3], out[4], out[5])};
}
/* to_parent moves a wrench to the parent's origin, which is at -d. `see` moves a twist of the parent to the link's
 * origin, which is at d. */
INLINE six to_parent(vec d, six W) { return (six){plus(W.a, cross(d, W.l)), W.l}; }
INLINE six see(vec d, six V) { return (six){V.a, plus(cross(V.a, d), V.l)}; }

/* out += X^T A X - sum_j AS_j L_j^T: a row times X is moved in the same way as a wrench,
 * torque_a = torque_b + d × force. The first term is computed first, because it does not wait for D^-1 in L. */
INLINE void add_matrix(const cb_link *l, int n, cb_six out[6]) {
  const vec d = load(l->d);
  six row[6];
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) row[i] = to_parent(d, load6(&l->A[i]));
#pragma GCC unroll 3
  for (int i = 0; i < 3; i++) {
    const int y = (i + 1) % 3, z = (i + 2) % 3;
    row[i] = plus6(row[i], minus6(times6(l->d[y], row[3 + z]), times6(l->d[z], row[3 + y])));
  }
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) row[i] = plus6(load6(&out[i]), row[i]);
  for (int j = 0; j < n; j++) {
    const six L = load6(&l->L[j]);
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
      row[i] = minus6(row[i], times6(l->AS[j].a[i], L));
      row[3 + i] = minus6(row[3 + i], times6(l->AS[j].l[i], L));
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) store6(&out[i], row[i]);
}

/* Returns S^T A. */
INLINE six times_rows(const double S[6], const cb_six A[6]) {
  six sum = times6(S[0], load6(&A[0]));
#pragma GCC unroll 5
  for (int i = 1; i < 6; i++) sum = plus6(sum, times6(S[i], load6(&A[i])));
  return sum;
}

/* Returns sum_k l->D[j][k] x_k, row j of D^-1 times x. */
INLINE six weighted(const cb_link *l, int n, int j, const six x[6]) {
  six sum = times6(l->D[j][0], x[0]);
  for (int k = 1; k < n; k++) sum = plus6(sum, times6(l->D[j][k], x[k]));
  return sum;
}

/* Eliminates a link with n coordinates, and adds it to the matrix of its parent (NULL: the world). */
INLINE bool eliminate_joint(cb_link *l, int n, cb_link *parent) {
  const vec d = load(l->d);
  six AS[6], SA[6], S[6];
  for (int j = 0; j < n; j++) {
    S[j] = read6(l->S0[j]);
    AS[j] = rows_times(l->A, read6(l->S1[j]));
    SA[j] = to_parent(d, times_rows(l->S0[j], l->A));
    store6(&l->AS[j], to_parent(d, AS[j]));
  }
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++) {
      l->D[j][k] = inner(S[j], AS[k]);
      if (j != k) continue;
      l->inertia[j] = l->D[j][j];
      l->D[j][j] += l->stiff[j];
    }
  if (n == 1)
    l->D[0][0] = 1 / l->D[0][0]; /* no function is called here, because all vectors would be stored before a call */
  else if (n && !cb_sweep_invert(n, l->D))
    return false;
  if (n && !isfinite(l->D[0][0])) return false;
  for (int j = 0; j < n; j++) {
    store6(&l->L[j], weighted(l, n, j, SA));
    store6(&l->DS[j], weighted(l, n, j, S));
  }
  if (parent) add_matrix(l, n, parent->A);
  return true;
}

static bool eliminate(cb_mechanism *m, int *at) {
  for (int i = m->links - 1; i >= 0; i--) {
    cb_link *l = &m->link[i], *parent = l->parent >= 0 ? &m->link[l->parent] : NULL;
    *at = i;
    if (l->joint < 0) {
      double A[6][6];
      cb_link_matrix(l, A);
      if (!cb_factor6((const double(*)[6])A, l->factors)) return false;
      continue;
    }
    /* n = 1 is the usual case, and has its own code, so that vectors stay in registers */
    if (!(l->n == 1 ? eliminate_joint(l, 1, parent) : eliminate_joint(l, l->n, parent))) return false;
  }
  return true;
}

static bool is_zero(const double a[6]) {
  return a[0] == 0 && a[1] == 0 && a[2] == 0 && a[3] == 0 && a[4] == 0 && a[5] == 0;
}

/* Makes the inward sweep of one link with n coordinates. If `alone` is set, the closing twists and the forces of joints
 * count as 0. */
INLINE void link_inwards(cb_link *l, int n, bool alone, cb_six *to) {
  six r = load6(&l->r);
  if (!alone && !is_zero(l->e)) r = minus6(r, rows_times(l->A, read6(l->e)));
  for (int j = 0; j < n; j++) {
    double own = 0;
    for (int k = 0; k < n && !alone; k++) own += l->D[j][k] * l->force[k];
    l->u[j] = own + inner(load6(&l->DS[j]), r);
  }
  if (!to) return;
  six sum = plus6(load6(to), to_parent(load(l->d), r));
  for (int j = 0; j < n; j++) sum = minus6(sum, times6(l->u[j], load6(&l->AS[j])));
  store6(to, sum);
}

/* Makes the outward sweep of one link, from the twist of its parent. If `alone` is set, the closing twist counts as
 * 0. */
INLINE void link_outwards(cb_link *l, int n, bool alone, const cb_six *parent) {
  const six from = parent ? load6(parent) : none6();
  six eta = see(load(l->d), from);
  if (!alone) eta = plus6(eta, read6(l->e));
  for (int j = 0; j < n; j++) eta = plus6(eta, times6(l->u[j], read6(l->S1[j])));
  for (int j = 0; j < n; j++) {
    const double less = parent ? inner(load6(&l->L[j]), from) : 0;
    l->dq[j] = l->u[j] - less;
    eta = minus6(eta, times6(less, read6(l->S1[j])));
  }
  store6(&l->whole_eta, eta);
  write6(l->eta, eta);
}

static void solve_inwards(cb_mechanism *m, bool alone) {
  for (int i = m->links - 1; i >= 0; i--) {
    cb_link *l = &m->link[i];
    cb_six *to = l->parent >= 0 ? &m->link[l->parent].r : NULL;
    if (l->joint < 0) continue;
    if (l->n == 1)
      link_inwards(l, 1, alone, to);
    else
      link_inwards(l, l->n, alone, to);
  }
}

static void solve_outwards(cb_mechanism *m, bool alone) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    const cb_six *parent = l->parent >= 0 ? &m->link[l->parent].whole_eta : NULL;
    if (l->joint < 0) {
      const double r[6] = {l->r.a[0], l->r.a[1], l->r.a[2], l->r.l[0], l->r.l[1], l->r.l[2]};
      cb_back6(l->factors, r, l->eta);
      cb_six_set(l->eta, &l->whole_eta);
    } else if (l->n == 1)
      link_outwards(l, 1, alone, parent);
    else
      link_outwards(l, l->n, alone, parent);
  }
}

static void solve(cb_mechanism *m, bool alone) {
  for (int i = 0; i < m->links && !alone; i++) store6(&m->link[i].r, read6(m->link[i].load));
  solve_inwards(m, alone);
  solve_outwards(m, alone);
}

extern const struct cb_sweep_kernel KERNEL;
const struct cb_sweep_kernel KERNEL = {.eliminate = eliminate, .solve = solve};
