/* Finds the smallest change dY of a body's twist that keeps its vertices out of a floor.
 *
 *   minimise <dY, K dY>/2  with  w_i . dY >= b_i,   so that  K dY = sum l_i w_i,  l_i >= 0,  l_i (w_i . dY - b_i) = 0
 *
 * K is the inertia of the body. For vertex i at c_i, b_i is the bound, l_i the impulse, and w_i = (c_i × n, n) with the
 * direction up n in the body's axes. All w_i lie in a three-dimensional space: w_i = W a_i with the matrix W and the
 * numbers a_i of fluid/floor_reflect.h, and C C^T = W^T K^-1 W. With y = C^T sum l_i a_i the problem is: minimise
 * |y|^2/2 with n_i . y >= b_i, n_i = C^T a_i.
 *
 * The dual method adds one vertex after another, each time the one that is furthest below its bound, and drops those
 * whose impulse would become negative. At most three are active at a time, however many vertices there are. Source:
 * Goldfarb & Idnani, Math. Programming 27 (1983) 1, doi:10.1007/BF02591962.
 */
#include "fluid/floor_reflect.h"
#include "numerics/small.h"
#include <float.h>
#include <math.h>
#include <string.h>

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

/* Finds the coefficients of a in Q, and the rest of a outside the span of Q. The Gram-Schmidt method is applied twice,
 * because once does not keep Q orthonormal to round-off. */
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

/* Finds y and the impulses l of the active vertices from their bounds b: y is in the span of N and N^T y = b, and
 * y = N l. */
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

/* Changes y until n . y = b for n = `normal`. y moves perpendicular to the active normals, or an active vertex is
 * dropped. At the end the vertex `at` is active. Returns false if there is no such y, or if the *left remaining steps
 * are used up. */
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
