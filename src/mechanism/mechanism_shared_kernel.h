/* The sweeps of bodies that share inertia (equations: mechanism_private.h), compiled once per instruction set. Columns
 * of Z are handled four at a time, and M is factored without pivots, because it is nearly symmetric and positive. Every
 * operation acts on each column alone, and nothing is fused, so results do not depend on the instruction set.
 *
 * C: shared inertia; Y: twists of all bodies; x: displacements of the roots and changes of all free coordinates; Z x:
 * motions that the joints allow; E: maps a displacement in the world's axes to the change of Y; A: matrices of the
 * links; G = A + h E^T C E + the derivatives in q and Q; M = Z_k^T G Z_{k+1} + stiff; e: closing twists.
 */
#include "mechanism/mechanism_private.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* COLUMNS: the number of columns that are handled together; columns: one row of these columns; six_columns: six
 * rows. */
enum { COLUMNS = CB_SHARED_COLUMNS };
typedef double columns __attribute__((vector_size(8 * COLUMNS), may_alias));
typedef long long columns_bits __attribute__((vector_size(8 * COLUMNS), may_alias));
typedef double loose_columns __attribute__((vector_size(8 * COLUMNS), aligned(8), may_alias));
typedef long long loose_bits __attribute__((vector_size(8 * COLUMNS), aligned(8), may_alias));
typedef struct six_columns {
  columns of[6];
} six_columns;
/* The columns of array `name` (z, zeta, Cz or G) that belong to link or body number i. */
#define OF(name, i) ((six_columns *)&s->name[i])

/* --- operations on columns --- */

/* columns_times computes out = m V, and columns_times_transposed computes out = m^T V, for V of three rows. */
INLINE void columns_times(const double m[3][3], const columns V[3], columns out[3]) {
#pragma GCC unroll 3
  for (int i = 0; i < 3; i++) out[i] = m[i][0] * V[0] + m[i][1] * V[1] + m[i][2] * V[2];
}
INLINE void columns_times_transposed(const double m[3][3], const columns V[3], columns out[3]) {
#pragma GCC unroll 3
  for (int i = 0; i < 3; i++) out[i] = m[0][i] * V[0] + m[1][i] * V[1] + m[2][i] * V[2];
}
/* out += a × V */
INLINE void columns_add_cross(const double a[3], const columns V[3], columns out[3]) {
  out[0] += a[1] * V[2] - a[2] * V[1];
  out[1] += a[2] * V[0] - a[0] * V[2];
  out[2] += a[0] * V[1] - a[1] * V[0];
}
/* columns_add_block computes out += M V, and columns_add_block_transposed computes out += M^T V. */
INLINE void columns_add_block(const double M[36], const six_columns *V, six_columns *out) {
  const columns v0 = V->of[0], v1 = V->of[1], v2 = V->of[2], v3 = V->of[3], v4 = V->of[4], v5 = V->of[5];
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) {
    const double *m = M + 6 * i;
    out->of[i] += (m[0] * v0 + m[1] * v1 + m[2] * v2) + (m[3] * v3 + m[4] * v4 + m[5] * v5);
  }
}
INLINE void columns_add_block_transposed(const double M[36], const six_columns *V, six_columns *out) {
  const columns v0 = V->of[0], v1 = V->of[1], v2 = V->of[2], v3 = V->of[3], v4 = V->of[4], v5 = V->of[5];
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) {
    const double *m = M + i;
    out->of[i] += (m[0] * v0 + m[6] * v1 + m[12] * v2) + (m[18] * v3 + m[24] * v4 + m[30] * v5);
  }
}

/* Sets *row to the columns from number `from` on of a row that is 1 in column `column` and 0 in all others. */
INLINE void set_unit_row(int from, int column, columns *row) {
  static const double one[3 * COLUMNS] = {[COLUMNS] = 1};
  const int at = column - from;
  *row = *(const loose_columns *)(one + (at >= 0 && at < COLUMNS ? COLUMNS - at : 2 * COLUMNS));
}
INLINE void add_column(const double V[6], int from, int column, six_columns *out) {
  if (column < from || column >= from + COLUMNS) return;
  columns unit;
  set_unit_row(from, column, &unit);
#pragma GCC unroll 6
  for (int k = 0; k < 6; k++) out->of[k] += V[k] * unit;
}

/* --- the matrix --- */

/* Assigns to each link the number of its first entry in x. */
static void number_coordinates(cb_mechanism *m) {
  cb_shared *s = m->shared;
  s->dofs = 0;
  for (int i = 0; i < m->links; i++) {
    s->first[i] = s->dofs;
    s->dofs += m->link[i].joint < 0 ? 6 : m->link[i].n;
  }
  s->columns = (s->dofs + COLUMNS) / COLUMNS * COLUMNS;
}

static void find_E(cb_mechanism *m) {
  const cb_shared *s = m->shared;
  const double per = s->h != 0 ? 1 / s->h : 1;
  for (int i = 0; i < m->links; i++) {
    const double(*r)[3] = (const double(*)[3])m->link[i].r0;
    const cb_shared_map *D = &s->map[m->link[i].body];
    cb_shared_map *E = &s->E[m->link[i].body];
    if (s->h == 0) {
      memset(E, 0, sizeof *E);
      for (int k = 0; k < 9; k++) E->P[k / 3][k % 3] = E->S[k / 3][k % 3] = r[k % 3][k / 3];
      continue;
    }
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) {
        E->P[a][b] = per * cb_dot3(D->P[a], r[b]);
        E->Q[a][b] = per * cb_dot3(D->Q[a], r[b]);
        E->S[a][b] = per * cb_dot3(D->S[a], r[b]);
      }
  }
}

/* Finds z, the columns of Z at the end of the step that are handled together, beginning with column `from`. The last
 * column of Z belongs to the closing twists e. */
static void find_motions(cb_mechanism *m, int from) {
  const cb_shared *s = m->shared;
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    six_columns z;
    if (l->joint < 0) {
#pragma GCC unroll 6
      for (int k = 0; k < 6; k++) set_unit_row(from, s->first[i] + k, &OF(z, i)->of[k]);
      continue;
    }
    if (l->parent >= 0) {
      const double back[3] = {-l->d[0], -l->d[1], -l->d[2]};
#pragma GCC unroll 6
      for (int k = 0; k < 6; k++) z.of[k] = OF(z, l->parent)->of[k];
      columns_add_cross(back, z.of, z.of + 3);
    } else {
#pragma GCC unroll 6
      for (int k = 0; k < 6; k++) z.of[k] = (columns){0};
    }
    for (int j = 0; j < l->n; j++) add_column(l->S1[j], from, s->first[i] + j, &z);
    add_column(l->e, from, s->dofs, &z);
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++) OF(z, i)->of[k] = z.of[k];
  }
}

/* Computes the columns zeta = E z and Cz = C zeta for all bodies. */
static void apply_C(cb_mechanism *m) {
  const cb_shared *s = m->shared;
  for (int i = 0; i < m->links; i++) {
    const int b = m->link[i].body;
    const cb_shared_map *E = &s->E[b];
    const columns *z = OF(z, i)->of;
    six_columns zeta;
    columns part[3];
    columns_times((const double(*)[3])E->P, z, zeta.of);
    columns_times((const double(*)[3])E->S, z + 3, zeta.of + 3);
    columns_times((const double(*)[3])E->Q, z, part);
    for (int k = 0; k < 3; k++) zeta.of[3 + k] += part[k];
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++) OF(zeta, b)->of[k] = zeta.of[k];
  }
  memset(s->Cz, 0, (size_t)s->n * sizeof *s->Cz);
  for (int i = 0, block = 0; i < s->n; i++)
    for (int j = 0; j <= i; j++, block++) {
      columns_add_block(s->C[block], OF(zeta, j), OF(Cz, i));
      if (j < i) columns_add_block_transposed(s->C[block], OF(zeta, i), OF(Cz, j));
    }
}

/* Computes the columns G z = A z + h E^T C E z for each link, where Cz holds C E z. */
static void find_needs(cb_mechanism *m) {
  const cb_shared *s = m->shared;
  const double h = s->h != 0 ? s->h : 1;
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    const cb_shared_map *E = &s->E[l->body];
    const columns *z = OF(z, i)->of, *Cz = OF(Cz, l->body)->of;
    six_columns G;
    columns part[3];
    columns_times_transposed((const double(*)[3])E->P, Cz, G.of);
    columns_times_transposed((const double(*)[3])E->S, Cz + 3, G.of + 3);
    columns_times_transposed((const double(*)[3])E->Q, Cz + 3, part);
    for (int k = 0; k < 3; k++) G.of[k] += part[k];
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++) {
      const double *a = l->A[k].a, *b = l->A[k].l;
      G.of[k] = h * G.of[k] + ((a[0] * z[0] + a[1] * z[1] + a[2] * z[2]) + (b[0] * z[3] + b[1] * z[4] + b[2] * z[5]));
    }
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++) OF(G, i)->of[k] = G.of[k];
  }
}

/* Computes the columns of Z_k^T G from column `from` on, as many as are handled together, and writes them to M. */
static void project(cb_mechanism *m, int from) {
  const cb_shared *s = m->shared;
  for (int i = m->links - 1; i >= 0; i--) {
    const cb_link *l = &m->link[i];
    const six_columns *G = OF(G, i);
    double *row = s->M + s->first[i] * s->columns + from;
    if (l->joint < 0) {
      for (int k = 0; k < 6; k++) *(columns *)(row + k * s->columns) = G->of[k];
      continue;
    }
    for (int j = 0; j < l->n; j++) {
      const double *S = l->S0[j];
      *(columns *)(row + j * s->columns) =
          (S[0] * G->of[0] + S[1] * G->of[1] + S[2] * G->of[2]) + (S[3] * G->of[3] + S[4] * G->of[4] + S[5] * G->of[5]);
    }
    if (l->parent < 0) continue;
    six_columns *to = OF(G, l->parent);
    columns_add_cross(l->d, G->of + 3, to->of);
    for (int k = 0; k < 6; k++) to->of[k] += G->of[k];
  }
}

/* --- derivatives of C Y in q and of Q in Y. q is in the middle of the step, so it changes by half of its change at the
 * end. at: indices of q in x --- */

static int number_of(const cb_mechanism *m, int coordinate) {
  for (int i = 0; i < m->links; i++)
    for (int j = 0; j < m->link[i].n; j++)
      if (m->first[m->link[i].joint] + m->link[i].coordinate[j] == coordinate) return m->shared->first[i] + j;
  return -1;
}

static void add_slopes_to_Cz(const cb_shared *s, const int *at, int from) {
  for (int c = 0; c < s->of.coordinates; c++)
    for (int i = 0; at[c] >= from && i < s->n; i++) {
      double half[6];
      for (int k = 0; k < 6; k++) half[k] = s->slope_Y[c * s->n + i][k] / 2;
      add_column(half, from, at[c], OF(Cz, i));
    }
}

static void add_slopes_to_M(const cb_shared *s, double at_first, const int *at, int from) {
  for (int c = 0; c < s->of.coordinates; c++) {
    if (at[c] < 0) continue;
    columns sum = {0};
    for (int i = 0; i < s->n; i++)
      for (int k = 0; k < 6; k++) sum += s->slope_Y[c * s->n + i][k] * OF(zeta, i)->of[k];
    *(columns *)(s->M + at[c] * s->columns + from) -= at_first * s->h * sum;
  }
}

/* --- factors --- */

/* Factors M = L U in place, with the inverse of the diagonal of U. Returns false if it is singular. */
static bool factor(cb_shared *s) {
  static const long long after[2 * COLUMNS] = {[COLUMNS... 2 * COLUMNS - 1] = -1};
  const int n = s->dofs, width = s->columns;
  for (int k = 0; k < n; k++) s->closing[k] = s->M[k * width + n];
  for (int k = 0; k < n; k++) {
    double *pivot = s->M + k * width;
    const int from = k / COLUMNS * COLUMNS;
    const double inverse = 1 / pivot[k];
    const columns first =
        (columns)(*(const columns_bits *)(pivot + from) & *(const loose_bits *)(after + COLUMNS - 1 - k % COLUMNS));
    if (!isfinite(inverse)) return false;
    for (int i = k + 1; i < n; i++) {
      double *row = s->M + i * width;
      const double by = row[k] * inverse;
      *(columns *)(row + from) -= by * first;
      row[k] = by;
      for (int c = from + COLUMNS; c < width; c += COLUMNS) *(columns *)(row + c) -= by * *(const columns *)(pivot + c);
    }
    pivot[k] = inverse;
  }
  return true;
}

static bool eliminate_together(cb_mechanism *m, int *at) {
  cb_shared *s = m->shared;
  int slope_at[CB_SHARED_COORDINATES];
  number_coordinates(m);
  find_E(m);
  for (int c = 0; c < s->of.coordinates; c++) slope_at[c] = s->h != 0 ? number_of(m, s->of.coordinate[c]) : -1;
  for (int from = 0; from < s->columns; from += COLUMNS) {
    find_motions(m, from);
    apply_C(m);
    add_slopes_to_Cz(s, slope_at, from);
    find_needs(m);
    project(m, from);
    add_slopes_to_M(s, m->at_first, slope_at, from);
  }
  for (int i = 0; i < m->links; i++)
    for (int j = 0; j < m->link[i].n; j++) {
      double *own = s->M + (s->first[i] + j) * (s->columns + 1);
      m->link[i].inertia[j] = *own;
      *own += m->link[i].stiff[j];
    }
  s->closes = true;
  *at = 0;
  return factor(s);
}

/* --- solutions --- */

/* Replaces x by M^-1 x. */
static void back_substitute(cb_shared *s) {
  const int n = s->dofs;
  double *x = s->x;
  for (int i = 1; i < n; i++) {
    const double *row = s->M + i * s->columns;
    double sum = x[i];
    for (int k = 0; k < i; k++) sum -= row[k] * x[k];
    x[i] = sum;
  }
  for (int i = n - 1; i >= 0; i--) {
    const double *row = s->M + i * s->columns;
    double sum = x[i];
    for (int k = n - 1; k > i; k--) sum -= row[k] * x[k];
    x[i] = sum * row[i];
  }
}

/* Subtracts from r the impulses that the links need to move by the closing twists alone. C is neglected, because after
 * the first solution with a matrix these twists are small of second order. */
static void subtract_closing(cb_mechanism *m) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double A[6][6], need[6];
    memset(l->eta, 0, sizeof l->eta);
    if (l->joint < 0) continue;
    if (l->parent >= 0) cb_sweep_see(l->d, m->link[l->parent].eta, l->eta);
    cb_add6(1, l->e, l->eta);
    cb_link_matrix(l, A);
    cb_apply6((const double(*)[6])A, l->eta, need);
    for (int k = 0; k < 3; k++) {
      l->r.a[k] -= need[k];
      l->r.l[k] -= need[3 + k];
    }
  }
}

static void together_inwards(cb_mechanism *m, bool alone, bool closes) {
  const cb_shared *s = m->shared;
  for (int i = m->links - 1; i >= 0; i--) {
    const cb_link *l = &m->link[i];
    const double r[6] = {l->r.a[0], l->r.a[1], l->r.a[2], l->r.l[0], l->r.l[1], l->r.l[2]};
    double *x = s->x + s->first[i], sum[6] = {0};
    for (int j = 0; j < (l->joint < 0 ? 6 : l->n); j++) {
      x[j] = l->joint < 0 ? r[j] : cb_sweep_dot(l->S0[j], r) + (alone ? 0 : l->force[j]);
      if (closes) x[j] -= s->closing[s->first[i] + j];
    }
    if (l->parent < 0) continue;
    cb_sweep_to_parent(l->d, 1, r, sum);
    for (int k = 0; k < 3; k++) {
      m->link[l->parent].r.a[k] += sum[k];
      m->link[l->parent].r.l[k] += sum[3 + k];
    }
  }
}

static void together_outwards(cb_mechanism *m, bool alone) {
  const cb_shared *s = m->shared;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    const double *x = s->x + s->first[i];
    double eta[6] = {0};
    if (l->joint < 0)
      memcpy(eta, x, sizeof eta);
    else {
      if (l->parent >= 0) cb_sweep_see(l->d, m->link[l->parent].eta, eta);
      if (!alone) cb_add6(1, l->e, eta);
      for (int j = 0; j < l->n; j++) {
        l->dq[j] = x[j];
        cb_add6(x[j], l->S1[j], eta);
      }
    }
    cb_six_set(eta, &l->whole_eta);
    cb_row6_store((cb_row6){{eta[0], eta[1]}, {eta[2], eta[3]}, {eta[4], eta[5]}}, l->eta);
  }
}

static void solve_together(cb_mechanism *m, bool alone) {
  cb_shared *s = m->shared;
  const bool closes = !alone && s->closes;
  for (int i = 0; i < m->links && !alone; i++) cb_six_set(m->link[i].load, &m->link[i].r);
  if (!alone && !closes) subtract_closing(m);
  together_inwards(m, alone, closes);
  if (closes) s->closes = false;
  back_substitute(s);
  together_outwards(m, alone);
}

extern const struct cb_sweep_kernel KERNEL;
const struct cb_sweep_kernel KERNEL = {.eliminate = eliminate_together, .solve = solve_together};
