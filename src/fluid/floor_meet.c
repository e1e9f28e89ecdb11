/* Finds when a flight meets the floor, which is the first zero of the smallest gap. No earlier zero is skipped.
 *
 *   trial   gap_i(tau) on a trial from time a to b is the cubic of the gaps and rates at both ends. If a cubic has a
 *           minimum inside the trial that is below max_i |rate_i(b) - rate_i(a)| (b - a)/32, the trial ends there.
 *   zero    The search begins with the gap that is expected to vanish first. If another gap is negative at the zero of
 *           this gap, the zero of the other gap is next, and so on. A zero is first estimated by the parabola through
 *           the gap and its rate at the start and the gap at the end. (The estimate is exact in free fall. For a vertex
 *           that leaves the floor at the start, the zero at the start is excluded.) Further estimates are zeros of
 *           parabolas through three gaps, or bisections if the parabolas converge slowly.
 */
#include "fluid/floor.h"

#include "numerics/small.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_TRIALS = 500, MAX_ZERO = 200 };

/* Finds the vertex whose gap has the smallest rate, among the vertices that touch the floor at the start and are not
 * held. Returns this rate, or infinity if there is no such vertex. */
static double least_rate(const cb_floor_run *e, int *vertex) {
  double least = INFINITY;
  for (int i = 0; i < e->count; i++)
    if (!e->w->held[i] && cb_floor_touches(e, &e->look[0], i) && e->w->rate[0][i] < least) {
      least = e->w->rate[0][i];
      *vertex = i;
    }
  return least;
}

/* Returns the minimum inside [0, 1] of the cubic p(s) with the values p0, p1 and the slopes m0, m1 at the ends. *at
 * becomes the s of the minimum. The result is infinite if there is no minimum. */
static double dip(double p0, double p1, double m0, double m1, double *at) {
  /* The derivative of p is p'(s) = m0 + 2 b s + a s^2. */
  const double a = 3 * (m0 + m1 - 2 * (p1 - p0)), b = 3 * (p1 - p0) - 2 * m0 - m1, root = b * b - a * m0;
  if (!(root > 0)) return INFINITY;
  const double s = b > 0 ? -m0 / (b + sqrt(root)) : (sqrt(root) - b) / a;
  if (!(s > 0 && s < 1)) return INFINITY;
  *at = s;
  return p0 + s * (m0 + s * (b + s * a / 3));
}

/* Returns whether a vertex comes near the floor between the states a and b and rises again. *cut becomes the share of
 * the time from a to b at which its gap is smallest, limited to 0.1 .. 0.9. */
static bool dips(const cb_floor_run *e, const cb_floor_look *a, const cb_floor_look *b, double length, double *cut) {
  const cb_floor_work *w = e->w;
  const double *p = w->gap[a->side], *q = w->gap[b->side], *u = w->rate[a->side], *v = w->rate[b->side];
  double bend = 0, least = INFINITY;
  for (int i = 0; i < e->count; i++) bend = fmax(bend, fabs(v[i] - u[i]));
  const double margin = bend * length / 32;
  if (margin <= b->round_off) return false;
  for (int i = 0; i < e->count; i++) {
    if (w->held[i]) continue;
    const bool leaves = a == &e->look[0] && cb_floor_touches(e, a, i);
    const double p0 = p[i] - w->base[i], p1 = q[i] - w->base[i], m0 = length * (leaves ? fmax(u[i], 0) : u[i]);
    const double m1 = length * v[i];
    double at = 0;
    if (p0 + m0 / 3 > margin && p1 - m1 / 3 > margin) continue;
    const double value = dip(p0, p1, m0, m1, &at);
    if (value <= margin && value < least) {
      least = value;
      *cut = fmin(fmax(at, 0.1), 0.9);
    }
  }
  return least < INFINITY;
}

/* Returns whether a vertex rests. The vertex is back on the floor a time t after the start. It rests if it touches the
 * floor at the start, and if t is short or rate t is at most round-off. (Its height in between is at most rate t/4.) */
static bool is_rest(const cb_floor_run *e, int vertex, double t) {
  const cb_floor_look *from = &e->look[0];
  return cb_floor_touches(e, from, vertex) && (t <= e->rest || e->w->rate[0][vertex] * t <= from->round_off);
}

static bool is_below(const cb_floor_run *e, const cb_floor_look *a, int i) {
  return !e->w->held[i] && e->w->gap[a->side][i] - e->w->base[i] < -a->round_off;
}

static bool any_below(const cb_floor_run *e, const cb_floor_look *a) {
  for (int i = 0; i < e->count; i++)
    if (is_below(e, a, i)) return true;
  return false;
}

/* Returns the zero of gap + rate s + bend s^2 in (0, 1], for gap >= 0 and a negative value at s = 1. If gap is 0, s = 0
 * is a zero, too; the function then returns the other zero, or 0 for a rate <= 0. */
static double parabola(double gap, double rate, double bend) {
  const double root = sqrt(fmax(rate * rate - 4 * bend * gap, 0));
  return rate > 0 ? (rate + root) / (-2 * bend) : gap > 0 ? 2 * gap / (root - rate) : 0;
}

/* Returns the time after the state a at which the gap of vertex i is expected to vanish, from its gap and rate at a and
 * its negative gap in the state `out`, which is `length` later. */
static double expected(const cb_floor_run *e, const cb_floor_look *a, const cb_floor_look *out, double length, int i) {
  const cb_floor_work *w = e->w;
  const bool leaves = a == &e->look[0] && cb_floor_touches(e, a, i);
  const double gap = leaves ? 0 : fmax(w->gap[a->side][i] - w->base[i], 0), rate = length * w->rate[a->side][i];
  return length * parabola(gap, rate, w->gap[out->side][i] - w->base[i] - gap - rate);
}

/* Returns the vertex that is expected to have met the floor first, among those that are below the floor in the state
 * `out`, which is `length` later than the state a. Returns -1 if there is none. */
static int first_below(const cb_floor_run *e, const cb_floor_look *a, const cb_floor_look *out, double length) {
  double least = INFINITY;
  int first = -1;
  for (int i = 0; i < e->count; i++) {
    if (!is_below(e, out, i)) continue;
    const double at = expected(e, a, out, length, i);
    if (at < least || first < 0) {
      least = at;
      first = i;
    }
  }
  return first;
}

/* Finds the time at which the gap of vertex i has its lowest allowed value, e->w->base. The gap is below this value in
 * the state *out at the time *tb, after the state a at the time ta. *tb and *out become the time and the state that are
 * found. The search ends early if the vertex rests (is_rest). */
static cb_status zero(cb_floor_run *e, const cb_floor_look *a, double ta, double *tb, cb_floor_look *out, int i) {
  const double *gap = e->w->gap[out->side], base = e->w->base[i], start = e->w->gap[a->side][i] - base;
  double lo = ta, hi = *tb, f_lo = 0, f_hi = gap[i] - base, wide = hi - lo;
  for (int n = 1; n <= MAX_ZERO; n++) {
    double t = ta + expected(e, a, out, hi - ta, i);
    if (lo > ta) { /* a parabola through the start and both ends */
      const double slope = (f_hi - f_lo) / (hi - lo), before = (f_lo - start) / (lo - ta);
      const double bend = (slope - before) / (hi - ta) * (hi - lo) * (hi - lo);
      t = lo + (hi - lo) * parabola(f_lo, f_hi - f_lo - bend, bend);
    }
    if (n % 4 == 0) { /* bisection if convergence is slow */
      if (hi - lo > wide / 2) t = lo + (hi - lo) / 2;
      wide = hi - lo;
    }
    if (!(t > lo && t < hi)) t = lo + (hi - lo) / 2;
    if (!(t > lo && t < hi)) t = hi;
    const cb_status status = cb_floor_fly(e, t, out);
    if (status) return status;
    const double f = gap[i] - base;
    *tb = t;
    if (fabs(f) <= out->round_off / 64 || hi - lo <= 2 * DBL_EPSILON * hi || (f < 0 && is_rest(e, i, t))) break;
    if (f > 0) {
      lo = t;
      f_lo = f;
    } else {
      hi = t;
      f_hi = f;
    }
  }
  return CB_OK;
}

/* Finds the time and the vertex of the first contact in the trial from the state a at the time ta to the state *out at
 * the time *tb, in which vertices are below the floor. *tb and *out become the time and the state of the contact. *tb
 * becomes 0 if a vertex that touches the floor at the start does not leave it, or rests. */
static cb_status first_zero(cb_floor_run *e, cb_floor_look *a, double ta, double *tb, cb_floor_look *out, int *vertex) {
  cb_status status = cb_floor_rates(e, a);
  if (status) return status;
  const double leaving = a == &e->look[0] ? least_rate(e, vertex) : INFINITY;
  if (leaving < INFINITY && leaving * *tb <= out->round_off) {
    *tb = 0;
    return CB_OK;
  }
  for (int i; (i = first_below(e, a, out, *tb - ta)) >= 0;) {
    const double before = *tb;
    *vertex = i;
    status = zero(e, a, ta, tb, out, i);
    if (status || !(*tb < before)) return status;
    if (is_rest(e, i, *tb)) *tb = 0;
    if (!(*tb > 0)) return CB_OK;
  }
  return CB_OK;
}

cb_status cb_floor_meet(cb_floor_run *e, double *tau, cb_floor_look **out, int *vertex) {
  cb_floor_look *a = &e->look[0], *b = &e->look[1];
  double ta = 0, tb = *tau;
  for (int trial = 0; trial < MAX_TRIALS; trial++) {
    const double speed = cb_floor_speed(a, a->s.Y), spin = sqrt(cb_dot3(a->s.Y, a->s.Y));
    if (spin * (tb - ta) > 1 && a->least <= 2 * speed * (tb - ta)) tb = ta + 1 / spin;
    cb_status status = cb_floor_fly(e, tb, b);
    if (status) return status;
    const bool meets = any_below(e, b);
    if (meets && (status = first_zero(e, a, ta, &tb, b, vertex))) return status;
    const double length = tb - ta, way = 2 * fmax(speed, cb_floor_speed(b, b->s.Y)) * length;
    double cut = 0;
    if (tb > 0 && length > e->near && fmin(a->least, b->least) <= way) {
      if (!status) status = cb_floor_rates(e, a);
      if (!status) status = cb_floor_rates(e, b);
      if (status) return status;
      if (dips(e, a, b, length, &cut)) {
        tb = ta + cut * length;
        continue;
      }
    }
    *out = b;
    if (!meets) *vertex = -1;
    if (meets || tb == *tau) {
      *tau = tb;
      return CB_OK;
    }
    b = b == &e->look[1] ? &e->look[2] : &e->look[1];
    a = *out;
    ta = tb;
    tb = *tau;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "the contact of a body with the floor after t = %g did not converge in %d trials: try a smaller step",
                 e->look[0].s.t, MAX_TRIALS);
}

/* --- impulses ---
 *
 * The functions below find the smallest change dY of a body's twist that keeps its vertices out of a floor.
 *
 *   minimise <dY, K dY>/2  with  w_i . dY >= b_i,   so that  K dY = sum l_i w_i,  l_i >= 0,  l_i (w_i . dY - b_i) = 0
 *
 * K is the inertia of the body. For vertex i at c_i, b_i is the bound, l_i the impulse, and w_i = (c_i × n, n) with the
 * direction up n in the body's axes. All w_i lie in a three-dimensional space: w_i = W a_i with the matrix W and the
 * numbers a_i of fluid/floor.h, and C C^T = W^T K^-1 W. With y = C^T sum l_i a_i the problem is: minimise
 * |y|^2/2 with n_i . y >= b_i, n_i = C^T a_i.
 *
 * The dual method adds one vertex after another, each time the one that is furthest below its bound, and drops those
 * whose impulse would become negative. At most three are active at a time, however many vertices there are. Source:
 * Goldfarb & Idnani, Math. Programming 27 (1983) 1, doi:10.1007/BF02591962.
 */

enum { MAXIMUM = 1000 };
/* A normal counts as dependent on the active ones if its part outside their span is below this share of its length. */
static const double dependent = 1e-7;
static const double round_off = 16 * DBL_EPSILON;

cb_status cb_floor_metric_of(const double K[6][6], const double n[3], cb_floor_metric *m) {
  double matrix[6][6], G[3][3], W[6][3] = {{0}}, pn[3], qn[3];
  const int axis = fabs(n[0]) <= fabs(n[1]) && fabs(n[0]) <= fabs(n[2]) ? 0 : fabs(n[1]) <= fabs(n[2]) ? 1 : 2;
  const double size = sqrt(1 - n[axis] * n[axis]);
  memcpy(m->n, n, sizeof m->n);
  for (int i = 0; i < 3; i++) m->p[i] = ((i == axis) - n[axis] * n[i]) / size;
  cb_cross3(m->n, m->p, m->q);
  cb_cross3(m->p, m->n, pn);
  cb_cross3(m->q, m->n, qn);
  for (int i = 0; i < 3; i++) {
    W[3 + i][0] = n[i];
    W[i][1] = pn[i];
    W[i][2] = qn[i];
  }
  memcpy(matrix, K, sizeof matrix);
  memcpy(m->B, W, sizeof W);
  bool fine = cb_solve6(matrix, 3, &m->B[0][0]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      G[i][j] = 0;
      for (int k = 0; k < 6; k++) G[i][j] += W[k][i] * m->B[k][j];
    }
  memset(m->C, 0, sizeof m->C);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) G[i][j] = (G[i][j] + G[j][i]) / 2;
  fine = fine && cb_cholesky(3, G[0], 0, m->C[0]);
  return fine ? CB_OK
              : cb_fail(CB_STEP_SINGULAR,
                        "the inertia of a body at the floor is singular or not positive: expected mass or added mass "
                        "in every direction");
}

static void place(const cb_floor_metric *m, const double c[3], double a[3]) {
  a[0] = 1;
  a[1] = cb_dot3(c, m->p);
  a[2] = cb_dot3(c, m->q);
}

double cb_floor_response(const cb_floor_metric *m, const double c[3], const double sum[3]) {
  double a[3], left[3], right[3];
  place(m, c, a);
  cb_apply3_transposed(m->C, a, left);
  cb_apply3_transposed(m->C, sum, right);
  return cb_dot3(left, right);
}

/* The active vertices, with their impulses l, bounds b and normals n_i. The matrix N of the normals (columns) is Q T,
 * with orthonormal columns Q[c] and the upper triangular matrix T. */
typedef struct active {
  int n, at[3];
  double l[3], b[3], normal[3][3], Q[3][3], T[3][3];
} active;

/* Finds the coefficients of a in Q, and `rest`, the part of a that is perpendicular to the span of Q. The Gram-Schmidt
 * method is applied twice, because once does not keep Q orthonormal to round-off. */
static void resolve(const active *s, const double a[3], double coefficient[3], double rest[3]) {
  memset(coefficient, 0, 3 * sizeof *coefficient);
  memcpy(rest, a, 3 * sizeof *rest);
  for (int pass = 0; pass < 2; pass++)
    for (int c = 0; c < s->n; c++) {
      const double d = cb_dot3(s->Q[c], rest);
      coefficient[c] += d;
      for (int i = 0; i < 3; i++) rest[i] -= d * s->Q[c][i];
    }
}

static void append(active *s, int at, const double normal[3], double l, double b) {
  double column[3], rest[3];
  const int n = s->n;
  resolve(s, normal, column, rest);
  column[n] = sqrt(cb_dot3(rest, rest));
  for (int c = 0; c <= n; c++) s->T[c][n] = column[c];
  for (int i = 0; i < 3; i++) {
    s->Q[n][i] = rest[i] / column[n];
    s->normal[n][i] = normal[i];
  }
  s->at[n] = at;
  s->l[n] = l;
  s->b[n] = b;
  s->n = n + 1;
}

static void drop(active *s, int which) {
  const active old = *s;
  s->n = 0;
  for (int c = 0; c < old.n; c++)
    if (c != which) append(s, old.at[c], old.normal[c], old.l[c], old.b[c]);
}

/* Replaces r by T^-1 r, with the triangular matrix T of the active vertices. */
static void solve_upper(const active *s, double r[3]) {
  for (int c = s->n - 1; c >= 0; c--) {
    for (int d = c + 1; d < s->n; d++) r[c] -= s->T[c][d] * r[d];
    r[c] /= s->T[c][c];
  }
}

/* Finds y and the impulses l of the active vertices from their bounds b: y = N l and N^T y = b. */
static void settle(active *s, double y[3]) {
  double e[3];
  memset(y, 0, 3 * sizeof *y);
  for (int c = 0; c < s->n; c++) {
    e[c] = s->b[c];
    for (int d = 0; d < c; d++) e[c] -= s->T[d][c] * e[d];
    e[c] /= s->T[c][c];
    for (int i = 0; i < 3; i++) y[i] += e[c] * s->Q[c][i];
  }
  solve_upper(s, e);
  for (int c = 0; c < s->n; c++) s->l[c] = fmax(e[c], 0);
}

/* Adds the vertex `at` to the active ones: changes y until n . y = b for n = `normal`. y changes perpendicular to the
 * active normals; an active vertex whose impulse would become negative is removed. Returns false if there is no such y,
 * or if the *left remaining steps are used up. */
static bool add(active *s, int at, const double normal[3], double b, double y[3], int *left) {
  double l = 0;
  while ((*left)--) {
    double r[3], z[3];
    resolve(s, normal, r, z);
    solve_upper(s, r);
    const double zz = cb_dot3(z, z);
    const bool free = s->n < 3 && zz > dependent * dependent * cb_dot3(normal, normal);
    double step = free ? (b - cb_dot3(normal, y)) / zz : INFINITY;
    int out = -1;
    for (int c = 0; c < s->n; c++)
      if (r[c] > 0 && s->l[c] / r[c] < step) {
        step = s->l[c] / r[c];
        out = c;
      }
    if (!(step < INFINITY)) return false;
    for (int c = 0; c < s->n; c++) s->l[c] -= step * r[c];
    for (int i = 0; i < 3 && free; i++) y[i] += step * z[i];
    l += step;
    if (out < 0) {
      append(s, at, normal, l, b);
      return true;
    }
    drop(s, out);
  }
  return false;
}

cb_status cb_floor_solve(const cb_floor_metric *m, int count, const int *list, const double (*x)[3],
                         const double *bound, double tolerance, cb_floor_impulses *out) {
  active s = {0};
  double y[3] = {0}, a[3];
  int left = MAXIMUM;
  for (;;) {
    double Cy[3], worst = tolerance, normal[3];
    int at = -1;
    for (int i = 0; i < 3; i++) Cy[i] = m->C[i][0] * y[0] + m->C[i][1] * y[1] + m->C[i][2] * y[2];
    for (int k = 0; k < count; k++) {
      const double *c = x[list[k]];
      const double turn[2] = {Cy[1] * cb_dot3(c, m->p), Cy[2] * cb_dot3(c, m->q)};
      const double below = bound[list[k]] - (Cy[0] + turn[0] + turn[1]);
      if (below > worst && below > round_off * (fabs(Cy[0]) + fabs(turn[0]) + fabs(turn[1]))) {
        worst = below;
        at = list[k];
      }
    }
    if (at < 0) break;
    place(m, x[at], a);
    cb_apply3_transposed(m->C, a, normal);
    if (!add(&s, at, normal, bound[at], y, &left))
      return cb_fail(CB_STEP_NO_CONVERGENCE,
                     "the impulses at %d vertices on the floor did not converge: try a smaller step", count);
    settle(&s, y);
  }
  *out = (cb_floor_impulses){.count = s.n};
  for (int c = 0; c < s.n; c++) {
    place(m, x[s.at[c]], a);
    out->vertex[c] = s.at[c];
    out->l[c] = s.l[c];
    for (int i = 0; i < 3; i++) out->sum[i] += s.l[c] * a[i];
  }
  return CB_OK;
}
