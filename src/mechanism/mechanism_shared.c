/* Inertia that joined bodies share, as that of the fluid between them: a quadratic form of all twists which depends on
 * coordinates q of joints.
 *
 *   2 T = sum_i <K_i Y_i, Y_i> + <C(q) Y, Y>
 *   step   mu_i = K_i Y_i + mu0_i + (C(q) Y)_i,   Q_c += (1/2) <dC/dq_c Y, Y>,   q = (q_k + q_{k+1})/2
 *   node   K_i Y_i + (C(q_k) Y)_i = p_i - mu0_i + W_i
 * Y: twists of all bodies in their frames; mu_i: momentum, Q_c: force on a coordinate, W_i: impulses of the joints. These
 * are the equations of mechanism.h for this T: the slope of C is a force between bodies, as that of a spring, and C does
 * not change when all bodies move together. The momentum of the whole is therefore exact, and the step is symplectic.
 *
 * Newton's system is not a tree any more. It is written for the motions Z x that the joints allow, x the displacements
 * of the roots and the changes of all free coordinates:
 *   M x = Z_k^T (r - G e) + force,   M = Z_k^T (A + h E^T C E) Z_{k+1} + stiff + the derivatives in q and Q
 *   E = (1/h) dtau^-1_{hY} R_0^T (at a node: R^T): a displacement in the world's axes changes Y by E times it
 * Symbols: mechanism_private.h. Columns of Z are handled four at a time. M is nearly symmetric and positive, and is
 * factored without pivots. The cost grows with the cube of the number of coordinates. SI units. Derived for this project.
 */
#include "mechanism/mechanism_blocks.h"

#include <math.h>
#include <string.h>

typedef double four __attribute__((vector_size(32), aligned(32)));

#define INLINE static inline __attribute__((always_inline))

/* dtau^-1_{hY} in the frame of a body, [[P, 0], [Q, S]]. */
typedef struct tangent {
  double P[3][3], Q[3][3], S[3][3];
} tangent;

struct cb_shared {
  cb_shared_inertia of;
  int n, size; /* bodies, 6 n */
  double h;    /* of the step; 0: at a node */
  bool known;  /* C and slope belong to the coordinates q */
  double *q, *C, *slope;
  double (*Y)[6], (*CY)[6], (*slope_Y)[6]; /* [n], [n], [coordinates][n] */
  double *force;                           /* [coordinates of all joints]: Q_c */
  tangent *A, *E;                          /* [n] */
  four (*z)[6], (*zeta)[6], (*Cz)[6], (*G)[6];
  int dofs, columns, *first; /* x: numbers, and with e, filled up to a multiple of four; [links]: the first number */
  double *M, *closing, *x;   /* [dofs][columns]; [dofs]: Z^T G e, and the solution */
  bool closes;               /* e is that of the matrix */
};

/* --- C at coordinates --- */

/* The motion in q below which slopes are not evaluated again, and C is continued to first order. */
static const double near = 1e-11;

/* Finds C and its slopes at the coordinates of `all`; at a node, C alone. */
static cb_status find_C(cb_shared *s, const double *all, bool slopes) {
  double q[CB_SHARED_COORDINATES], moved = 0;
  for (int c = 0; c < s->of.coordinates; c++) {
    q[c] = all[s->of.coordinate[c]];
    moved = fmax(moved, fabs(q[c] - s->q[c]));
  }
  if (slopes && s->known && moved <= near) return CB_OK;
  s->known = slopes;
  memcpy(s->q, q, (size_t)s->of.coordinates * sizeof *q);
  return s->of.at(s->of.self, q, s->C, slopes ? s->slope : NULL);
}

/* out = M Y for the lower triangle M. Returns <M Y, Y>. */
static double apply_triangle(int size, const double *M, const double *Y, double *out) {
  double twice = 0;
  for (int a = 0; a < size; a++) {
    const double y = Y[a];
    double sum = 0;
    for (int b = 0; b < a; b++) {
      sum += M[b] * Y[b];
      out[b] += M[b] * y;
    }
    out[a] = sum + M[a] * y;
    M += a + 1;
  }
  for (int a = 0; a < size; a++) twice += out[a] * Y[a];
  return twice;
}

/* The twists of all bodies in their frames. */
static void take_twists(const cb_mechanism *m) {
  cb_shared *s = m->shared;
  for (int i = 0; i < m->blocks.bodies; i++) {
    const cb_body_block *B = &m->blocks.body[i];
    for (int k = 0; k < B->count; k++) {
      const cb_link *l = &m->link[B->link[k]];
      const double Y[6] = {B->Y[0][k], B->Y[1][k], B->Y[2][k], B->Y[3][k], B->Y[4][k], B->Y[5][k]};
      cb_turn6_transposed((const double(*)[3])l->r0, Y, s->Y[l->body]);
    }
  }
  for (int i = 0; i < m->links; i++)
    if (!m->link[i].in_block) memcpy(s->Y[m->link[i].body], m->link[i].Y, sizeof *s->Y);
}

/* dtau^-1 of Cayley's map, with the halves w and v of the parts of hY: P = 1 - hat(w) + w w^T, S = 1 - hat(w), Q =
 * -hat(v) + v w^T - w.v. */
static void find_tangent(const cb_link *l, double h, const double Y[6], tangent *out) {
  if (!l->in_block) {
    for (int i = 0; i < 9; i++) {
      out->P[i / 3][i % 3] = l->trial.A[i / 3][i % 3];
      out->Q[i / 3][i % 3] = l->trial.A[3 + i / 3][i % 3];
      out->S[i / 3][i % 3] = l->trial.A[3 + i / 3][3 + i % 3];
    }
    return;
  }
  const double w[3] = {h / 2 * Y[0], h / 2 * Y[1], h / 2 * Y[2]}, v[3] = {h / 2 * Y[3], h / 2 * Y[4], h / 2 * Y[5]},
               wv = cb_dot3(w, v);
  memset(out->S, 0, sizeof out->S);
  memset(out->Q, 0, sizeof out->Q);
  cb_add_hat3(out->S, -1, w);
  cb_add_hat3(out->Q, -1, v);
  for (int i = 0; i < 3; i++) {
    out->S[i][i] += 1;
    out->Q[i][i] -= wv;
    for (int j = 0; j < 3; j++) {
      out->P[i][j] = out->S[i][j] + w[i] * w[j];
      out->Q[i][j] += v[i] * w[j];
    }
  }
}

cb_status cb_shared_find(cb_mechanism *m, double h) {
  cb_shared *s = m->shared;
  if (!s) return CB_OK;
  const cb_status status = find_C(s, m->middle, true);
  if (status) return status;
  take_twists(m);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    if (!l->in_block) { /* its A may be that of the twist before */
      double hY[6];
      for (int k = 0; k < 6; k++) hY[k] = h * l->Y[k];
      cb_se3_dtau_inverse(l->trial.map, hY, l->trial.A);
    }
    find_tangent(l, h, s->Y[l->body], &s->A[l->body]);
  }
  s->h = h;
  apply_triangle(s->size, s->C, s->Y[0], s->CY[0]);
  for (int c = 0; c < s->of.coordinates; c++) {
    const int all = s->of.coordinate[c];
    double(*slope_Y)[6] = s->slope_Y + c * s->n;
    const double moved = m->middle[all] - s->q[c];
    s->force[all] =
        apply_triangle(s->size, s->slope + (size_t)c * (size_t)(s->size * (s->size + 1) / 2), s->Y[0], slope_Y[0]) / 2;
    m->force[all].Q += s->force[all];
    for (int i = 0; i < s->n && moved != 0; i++) cb_add6(moved, slope_Y[i], s->CY[i]);
  }
  return CB_OK;
}

void cb_shared_need(const cb_mechanism *m, int link, double out[6]) {
  const cb_shared *s = m->shared;
  const cb_link *l = &m->link[link];
  const tangent *A = &s->A[l->body];
  const double *mu = s->CY[l->body];
  double own[6];
  for (int k = 0; k < 3; k++) {
    own[k] = A->P[0][k] * mu[0] + A->P[1][k] * mu[1] + A->P[2][k] * mu[2] + A->Q[0][k] * mu[3] + A->Q[1][k] * mu[4] +
             A->Q[2][k] * mu[5];
    own[3 + k] = A->S[0][k] * mu[3] + A->S[1][k] * mu[4] + A->S[2][k] * mu[5];
  }
  cb_turn6((const double(*)[3])l->r0, own, out);
}

double cb_shared_force(const cb_mechanism *m, int coordinate) { return m->shared ? m->shared->force[coordinate] : 0; }
const double *cb_shared_momentum(const cb_mechanism *m, int body) { return m->shared->CY[body]; }

/* --- the matrix --- */

/* E from A, or from the rotation alone at a node. */
static void find_E(const cb_mechanism *m) {
  const cb_shared *s = m->shared;
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    const double(*r)[3] = (const double(*)[3])l->r0, per = s->h != 0 ? 1 / s->h : 1;
    const tangent *A = &s->A[l->body];
    tangent *E = &s->E[l->body];
    if (s->h == 0) {
      memset(E, 0, sizeof *E);
      for (int k = 0; k < 9; k++) E->P[k / 3][k % 3] = E->S[k / 3][k % 3] = r[k % 3][k / 3];
      continue;
    }
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) {
        E->P[a][b] = per * cb_dot3(A->P[a], r[b]);
        E->Q[a][b] = per * cb_dot3(A->Q[a], r[b]);
        E->S[a][b] = per * cb_dot3(A->S[a], r[b]);
      }
  }
}

INLINE void add_times(double x, const four *v, four *sum) { *sum += x * *v; }
/* out += a × V */
INLINE void add_cross(const double a[3], const four V[3], four out[3]) {
  out[0] += a[1] * V[2] - a[2] * V[1];
  out[1] += a[2] * V[0] - a[0] * V[2];
  out[2] += a[0] * V[1] - a[1] * V[0];
}
/* out = m V, and out = m^T V */
INLINE void apply(const double m[3][3], const four V[3], four out[3]) {
  for (int i = 0; i < 3; i++) out[i] = m[i][0] * V[0] + m[i][1] * V[1] + m[i][2] * V[2];
}
INLINE void apply_transposed(const double m[3][3], const four V[3], four out[3]) {
  for (int i = 0; i < 3; i++) out[i] = m[0][i] * V[0] + m[1][i] * V[1] + m[2][i] * V[2];
}

/* Adds a number to column `column`, if it is among the four from `from` on. */
INLINE void add_to_column(four *v, int from, int column, double x) {
  if (column >= from && column < from + 4) ((double *)v)[column - from] += x;
}

/* z: four columns of Z at the end, and what closes the joints. */
static void find_motions(const cb_mechanism *m, int from) {
  const cb_shared *s = m->shared;
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    four *z = s->z[i];
    memset(z, 0, sizeof s->z[i]);
    if (l->joint < 0) {
      for (int k = 0; k < 6; k++) add_to_column(&z[k], from, s->first[i] + k, 1);
      continue;
    }
    if (l->parent >= 0) {
      const double back[3] = {-l->d[0], -l->d[1], -l->d[2]};
      memcpy(z, s->z[l->parent], sizeof s->z[i]);
      add_cross(back, s->z[l->parent], z + 3);
    }
    for (int k = 0; k < 6; k++) {
      for (int j = 0; j < l->n; j++) add_to_column(&z[k], from, s->first[i] + j, l->S1[j][k]);
      add_to_column(&z[k], from, s->dofs, l->e[k]);
    }
  }
}

/* Cz = C zeta for the changes zeta = E z of the twists. */
static void apply_C(const cb_mechanism *m) {
  const cb_shared *s = m->shared;
  four *zeta = s->zeta[0], *out = s->Cz[0];
  const double *C = s->C;
  for (int i = 0; i < m->links; i++) {
    const int b = m->link[i].body;
    const tangent *E = &s->E[b];
    const four *z = s->z[i];
    four part[3];
    apply((const double(*)[3])E->P, z, s->zeta[b]);
    apply((const double(*)[3])E->Q, z, part);
    apply((const double(*)[3])E->S, z + 3, s->zeta[b] + 3);
    for (int k = 0; k < 3; k++) s->zeta[b][3 + k] += part[k];
  }
  for (int a = 0; a < s->size; a++) {
    const four own = zeta[a];
    four sum = C[a] * own;
    for (int b = 0; b < a; b++) {
      sum += C[b] * zeta[b];
      out[b] += C[b] * own;
    }
    out[a] = sum;
    C += a + 1;
  }
}

/* G = A z + h E^T Cz, the impulses that the motions z need. */
static void find_needs(const cb_mechanism *m) {
  const cb_shared *s = m->shared;
  const double h = s->h != 0 ? s->h : 1;
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    const tangent *E = &s->E[l->body];
    const four *z = s->z[i], *Cz = s->Cz[l->body];
    four *G = s->G[i], part[3];
    apply_transposed((const double(*)[3])E->P, Cz, G);
    apply_transposed((const double(*)[3])E->Q, Cz + 3, part);
    apply_transposed((const double(*)[3])E->S, Cz + 3, G + 3);
    for (int k = 0; k < 3; k++) G[k] += part[k];
    for (int k = 0; k < 6; k++)
      G[k] = h * G[k] + (l->A[k].a[0] * z[0] + l->A[k].a[1] * z[1] + l->A[k].a[2] * z[2]) +
             (l->A[k].l[0] * z[3] + l->A[k].l[1] * z[4] + l->A[k].l[2] * z[5]);
  }
}

/* Z_k^T G: four columns of M. */
static void project(const cb_mechanism *m, int from) {
  const cb_shared *s = m->shared;
  for (int i = m->links - 1; i >= 0; i--) {
    const cb_link *l = &m->link[i];
    const four *G = s->G[i];
    double *row = s->M + s->first[i] * s->columns + from;
    if (l->joint < 0) {
      for (int k = 0; k < 6; k++) *(four *)(row + k * s->columns) = G[k];
      continue;
    }
    for (int j = 0; j < l->n; j++) {
      const double *S = l->S0[j];
      *(four *)(row + j * s->columns) = (S[0] * G[0] + S[1] * G[1] + S[2] * G[2]) +
                                        (S[3] * G[3] + S[4] * G[4] + S[5] * G[5]);
    }
    if (l->parent < 0) continue;
    four *to = s->G[l->parent];
    add_cross(l->d, G + 3, to);
    for (int k = 0; k < 6; k++) to[k] += G[k];
  }
}

/* The number of a coordinate of all joints in x, or -1. */
static int number_of(const cb_mechanism *m, int coordinate) {
  for (int i = 0; i < m->links; i++)
    for (int j = 0; j < m->link[i].n; j++)
      if (m->first[m->link[i].joint] + m->link[i].coordinate[j] == coordinate) return m->shared->first[i] + j;
  return -1;
}

/* Numbers the coordinates of x. */
static void number(const cb_mechanism *m) {
  cb_shared *s = m->shared;
  s->dofs = 0;
  for (int i = 0; i < m->links; i++) {
    s->first[i] = s->dofs;
    s->dofs += m->link[i].joint < 0 ? 6 : m->link[i].n;
  }
  s->columns = (s->dofs + 4) / 4 * 4;
}

/* The derivatives of C Y in q, half of whose change is that at the end, and of Q in Y. at: numbers of q in x. */
static void add_slopes_to_Cz(const cb_shared *s, const int *at, int from) {
  for (int c = 0; c < s->of.coordinates; c++)
    for (int i = 0; at[c] >= 0 && i < s->n; i++)
      for (int k = 0; k < 6; k++) add_to_column(&s->Cz[i][k], from, at[c], s->slope_Y[c * s->n + i][k] / 2);
}
static void add_slopes_to_M(const cb_shared *s, double at_first, const int *at, int from) {
  for (int c = 0; c < s->of.coordinates; c++) {
    if (at[c] < 0) continue;
    four sum = {0};
    for (int a = 0; a < s->size; a++) add_times(s->slope_Y[c * s->n][a], &s->zeta[0][a], &sum);
    *(four *)(s->M + at[c] * s->columns + from) -= at_first * s->h * sum;
  }
}

/* Factors M = L U in place, with the inverse of the diagonal of U. */
static bool factor(cb_shared *s) {
  const int n = s->dofs, columns = s->columns;
  for (int k = 0; k < n; k++) {
    double *pivot = s->M + k * columns;
    s->closing[k] = pivot[n];
    pivot[k] = 1 / pivot[k];
    if (!isfinite(pivot[k])) return false;
    for (int i = k + 1; i < n; i++) {
      double *row = s->M + i * columns;
      const double by = row[k] *= pivot[k];
      for (int j = k + 1; j < n; j++) row[j] -= by * pivot[j];
    }
  }
  return true;
}

static bool eliminate(cb_mechanism *m, int *at) {
  cb_shared *s = m->shared;
  int slope_at[CB_SHARED_COORDINATES];
  number(m);
  find_E(m);
  for (int c = 0; c < s->of.coordinates; c++)
    slope_at[c] = s->h != 0 ? number_of(m, s->of.coordinate[c]) : -1;
  for (int from = 0; from < s->columns; from += 4) {
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

/* x: solves M x = x. */
static void back(cb_shared *s) {
  const int n = s->dofs;
  double *x = s->x;
  for (int i = 1; i < n; i++)
    for (int k = 0; k < i; k++) x[i] -= s->M[i * s->columns + k] * x[k];
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) x[i] -= s->M[i * s->columns + k] * x[k];
    x[i] *= s->M[i * s->columns + i];
  }
}

/* The impulses that links need to be moved by the closing twists alone, without C: after the first solution with a
 * matrix, these twists are small to second order. */
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

static void solve_inwards(cb_mechanism *m, bool alone, bool closes) {
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

static void solve_outwards(cb_mechanism *m, bool alone) {
  const cb_shared *s = m->shared;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    const double *x = s->x + s->first[i];
    if (l->joint < 0)
      memcpy(l->eta, x, sizeof l->eta);
    else {
      memset(l->eta, 0, sizeof l->eta);
      if (l->parent >= 0) cb_sweep_see(l->d, m->link[l->parent].eta, l->eta);
      if (!alone) cb_add6(1, l->e, l->eta);
      for (int j = 0; j < l->n; j++) {
        l->dq[j] = x[j];
        cb_add6(x[j], l->S1[j], l->eta);
      }
    }
    cb_six_set(l->eta, &l->whole_eta);
  }
}

static void solve(cb_mechanism *m, bool alone) {
  cb_shared *s = m->shared;
  const bool closes = !alone && s->closes;
  for (int i = 0; i < m->links && !alone; i++) cb_six_set(m->link[i].load, &m->link[i].r);
  if (!alone && !closes) subtract_closing(m);
  solve_inwards(m, alone, closes);
  if (closes) s->closes = false;
  back(s);
  solve_outwards(m, alone);
}

static const struct cb_sweep_kernel kernel = {.eliminate = eliminate, .solve = solve};

void cb_shared_use(cb_mechanism *m) {
  if (m->shared) m->sweeps = &kernel;
}

/* --- nodes --- */

cb_status cb_shared_at_node(cb_mechanism *m) {
  cb_shared *s = m->shared;
  if (!s) return CB_OK;
  s->h = 0;
  m->sweeps = &kernel;
  return find_C(s, m->tree ? m->q1 : m->q, false);
}

void cb_shared_settle(cb_mechanism *m) {
  cb_shared *s = m->shared;
  if (!s) return;
  for (int i = 0; i < m->links; i++)
    cb_turn6_transposed((const double(*)[3])m->link[i].r0, m->link[i].eta, s->Y[m->link[i].body]);
  apply_triangle(s->size, s->C, s->Y[0], s->CY[0]);
  for (int i = 0; i < m->links; i++) {
    double turned[6];
    cb_turn6((const double(*)[3])m->link[i].r0, s->CY[m->link[i].body], turned);
    cb_add6(1, turned, m->need[i]);
  }
}

/* --- creation --- */

cb_status cb_mechanism_share(cb_mechanism *m, const cb_shared_inertia *of) {
  cb_shared *s = cb_arena_alloc(m->arena, 1, sizeof *s);
  if (!s) return cb_fail(CB_ERROR_MEMORY, "no memory for shared inertia");
  const size_t n = (size_t)m->bodies, size = 6 * n, entries = size * (size + 1) / 2, c = (size_t)of->coordinates,
               all = size + (size_t)m->coordinates;
  *s = (cb_shared){.of = *of, .n = m->bodies, .size = 6 * m->bodies};
  s->first = cb_arena_alloc(m->arena, n, sizeof *s->first);
  s->A = cb_arena_alloc(m->arena, n, sizeof *s->A);
  s->E = cb_arena_alloc(m->arena, n, sizeof *s->E);
  s->Y = cb_arena_alloc(m->arena, n, sizeof *s->Y);
  s->CY = cb_arena_alloc(m->arena, n, sizeof *s->CY);
  s->slope_Y = cb_arena_alloc(m->arena, n * c, sizeof *s->slope_Y);
  four(**const columns[])[6] = {&s->z, &s->zeta, &s->Cz, &s->G};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    *columns[i] = cb_arena_alloc_aligned(m->arena, n, sizeof **columns[i], CB_CACHE_LINE);
  s->M = cb_arena_alloc_aligned(m->arena, all * (all + 4), sizeof *s->M, CB_CACHE_LINE);
  cb_arena_doubles(m->arena, c, &s->q);
  cb_arena_doubles(m->arena, entries, &s->C);
  cb_arena_doubles(m->arena, entries * c, &s->slope);
  cb_arena_doubles(m->arena, (size_t)m->coordinates, &s->force);
  cb_arena_doubles(m->arena, all, &s->closing);
  cb_arena_doubles(m->arena, all, &s->x);
  if (cb_arena_lost(m->arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for the shared inertia of %zu bodies", n);
  m->shared = s;
  return CB_OK;
}
