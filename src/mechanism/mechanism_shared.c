/* Inertia that joined bodies share: its momenta, forces and creation (equations: mechanism_private.h). C(q): the
 * inertia; q: the coordinates on which it depends; Y: twists of all bodies in their frames; Q: forces on
 * coordinates. */
#include "mechanism/mechanism_private.h"

#include "core/threads.h"
#include "mechanism/mechanism_blocks.h"
#include "numerics/small.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

/* --- C at coordinates --- */

/* Up to this change of q, C and its slopes dC/dq are not evaluated again. C is then extrapolated to first order. */
static const double near = 1e-11;
/* Up to this change of the twists, relative to their size, forces are extrapolated to first order. */
static const double near_twist = 1e-8;

/* Finds C, and its slopes dC/dq if `slopes` is set. `all` holds the coordinates of all joints, of which C depends on
 * some. *same becomes true if the last C and slopes are kept. */
static cb_status find_C(cb_shared *s, const double *all, bool slopes, bool *same) {
  double q[CB_SHARED_COORDINATES], moved = 0;
  for (int c = 0; c < s->of.coordinates; c++) {
    q[c] = all[s->of.coordinate[c]];
    moved = fmax(moved, fabs(q[c] - s->q[c]));
  }
  *same = slopes && s->known && moved <= near;
  if (*same) return CB_OK;
  s->known = slopes;
  memcpy(s->q, q, sizeof s->q);
  return s->of.at(s->of.self, q, s->C[0], slopes ? s->slope[0] : NULL);
}

/* out = C Y. Returns <C Y, Y>. */
static double apply_blocks(int n, const double (*C)[36], const double (*Y)[6], double (*out)[6]) {
  double twice = 0;
  for (int i = 0; i < n; i++) {
    double others[6] = {0};
    for (int j = 0; j < i; j++, C++) {
      const cb_row6 other = cb_row6_load(Y[j]);
      cb_row6 to = cb_row6_load(out[j]);
      for (int k = 0; k < 6; k++) {
        const cb_row6 row = cb_row6_load(*C + 6 * k);
        others[k] += cb_row6_dot(row, other);
        to = cb_row6_add(to, Y[i][k], row);
      }
      cb_row6_store(to, out[j]);
    }
    cb_row6 sum = cb_row6_load(others);
    for (int k = 0; k < 6; k++) sum = cb_row6_add(sum, Y[i][k], cb_row6_load(*C + 6 * k));
    cb_row6_store(sum, out[i]);
    C++;
  }
  for (int i = 0; i < n; i++) twice += cb_row6_dot(cb_row6_load(out[i]), cb_row6_load(Y[i]));
  return twice;
}

/* Finds the twists of all bodies in their frames. */
static void take_twists(cb_mechanism *m) {
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

/* Finds dtau^-1_{hY} of Cayley's map. w and v are half the angular and the linear part of hY:
 *   P = 1 - hat(w) + w w^T,  S = 1 - hat(w),  Q = -hat(v) + v w^T - w.v */
static void find_map_of_block(double h, const double Y[6], cb_shared_map *out) {
  const double w[3] = {h / 2 * Y[0], h / 2 * Y[1], h / 2 * Y[2]}, v[3] = {h / 2 * Y[3], h / 2 * Y[4], h / 2 * Y[5]},
               wv = cb_dot3(w, v);
  const double hat_w[3][3] = {{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}},
               hat_v[3][3] = {{0, -v[2], v[1]}, {v[2], 0, -v[0]}, {-v[1], v[0], 0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out->S[i][j] = (i == j) - hat_w[i][j];
      out->P[i][j] = out->S[i][j] + w[i] * w[j];
      out->Q[i][j] = v[i] * w[j] - hat_v[i][j] - (i == j ? wv : 0);
    }
}

static void find_map(const cb_link *l, double h, const double Y[6], cb_shared_map *out) {
  double hY[6], A[6][6];
  if (l->in_block) {
    find_map_of_block(h, Y, out);
    return;
  }
  for (int k = 0; k < 6; k++) hY[k] = h * Y[k];
  cb_se3_dtau_inverse(l->trial.map, hY, A);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out->P[i][j] = A[i][j];
      out->Q[i][j] = A[3 + i][j];
      out->S[i][j] = A[3 + i][3 + j];
    }
}

void cb_shared_begin(cb_mechanism *m) {
  if (m->shared) m->shared->known = false;
}

/* Returns whether the twists differ so little from those at which slope_Y was computed (slope_at) that the square of
 * the difference is negligible. */
static bool is_near(const cb_shared *s) {
  double change = 0, size = 0;
  for (int b = 0; b < s->n; b++)
    for (int i = 0; i < 6; i++) {
      const double Y = s->Y[b][i], moved = Y - s->slope_at[b][i];
      size += Y * Y;
      change += moved * moved;
    }
  return change <= near_twist * near_twist * size;
}

/* Finds the force on coordinate c, and slope_Y = dC/dq_c Y. If `follows` is set, the last slope_Y is kept, and the
 * force is extrapolated from the last one. */
static void find_force(cb_shared *s, int c, bool follows) {
  double(*slope_Y)[6] = s->slope_Y + c * s->n, *force = &s->force[s->of.coordinate[c]];
  if (!follows) {
    const double(*slope)[36] = (const double(*)[36])s->slope + c * s->blocks;
    *force = s->force_at[c] = apply_blocks(s->n, slope, (const double(*)[6])s->Y, slope_Y) / 2;
    return;
  }
  *force = s->force_at[c];
  for (int b = 0; b < s->n; b++)
    for (int i = 0; i < 6; i++) *force += slope_Y[b][i] * (s->Y[b][i] - s->slope_at[b][i]);
}

cb_status cb_shared_find(cb_mechanism *m, double h) {
  cb_shared *s = m->shared;
  bool same;
  if (!s) return CB_OK;
  const cb_status status = find_C(s, m->middle, true, &same);
  if (status) return status;
  take_twists(m);
  for (int i = 0; i < m->links; i++) find_map(&m->link[i], h, s->Y[m->link[i].body], &s->map[m->link[i].body]);
  s->h = h;
  apply_blocks(s->n, (const double(*)[36])s->C, (const double(*)[6])s->Y, s->CY);
  const bool follows = same && is_near(s);
  if (!follows) memcpy(s->slope_at, s->Y, (size_t)s->n * sizeof *s->slope_at);
  for (int c = 0; c < s->of.coordinates; c++) {
    const double moved = m->middle[s->of.coordinate[c]] - s->q[c];
    find_force(s, c, follows);
    for (int i = 0; i < s->n && moved != 0; i++) cb_add6(moved, s->slope_Y[c * s->n + i], s->CY[i]);
  }
  return CB_OK;
}

bool cb_shared_follow(cb_mechanism *m) {
  const cb_shared *s = m->shared;
  int found = 0;
  for (int i = 0; i < m->links; i++)
    for (int j = 0; j < m->link[i].n; j++)
      for (int c = 0; c < s->of.coordinates; c++)
        found += m->first[m->link[i].joint] + m->link[i].coordinate[j] == s->of.coordinate[c];
  if (found < s->of.coordinates) return false;
  for (int i = 0; i < m->links; i++)
    for (int j = 0; j < m->link[i].n; j++)
      m->middle[m->first[m->link[i].joint] + m->link[i].coordinate[j]] += m->link[i].dq[j] / 2;
  return true;
}

void cb_shared_push(cb_mechanism *m) {
  const cb_shared *s = m->shared;
  for (int c = 0; s && c < s->of.coordinates; c++) m->force[s->of.coordinate[c]].Q += s->force[s->of.coordinate[c]];
}

void cb_shared_need(const cb_mechanism *m, int link, double factor, double out[6]) {
  const cb_shared *s = m->shared;
  const cb_link *l = &m->link[link];
  const cb_shared_map *D = &s->map[l->body];
  const double *mu = s->CY[l->body];
  double own[6], turned[6];
  for (int k = 0; k < 3; k++) {
    own[k] = (D->P[0][k] * mu[0] + D->P[1][k] * mu[1] + D->P[2][k] * mu[2]) +
             (D->Q[0][k] * mu[3] + D->Q[1][k] * mu[4] + D->Q[2][k] * mu[5]);
    own[3 + k] = D->S[0][k] * mu[3] + D->S[1][k] * mu[4] + D->S[2][k] * mu[5];
  }
  cb_turn6((const double(*)[3])l->r0, own, turned);
  cb_add6(factor, turned, out);
}

double cb_shared_force(const cb_mechanism *m, int coordinate) { return m->shared ? m->shared->force[coordinate] : 0; }
const double *cb_shared_momentum(const cb_mechanism *m, int body) { return m->shared->CY[body]; }

void cb_shared_use(cb_mechanism *m) {
  if (m->shared) m->sweeps = m->shared->kernel;
}

/* --- nodes --- */

cb_status cb_shared_at_node(cb_mechanism *m) {
  cb_shared *s = m->shared;
  if (!s) return CB_OK;
  s->h = 0;
  cb_shared_use(m);
  bool same;
  return find_C(s, m->q, false, &same);
}

void cb_shared_settle(cb_mechanism *m) {
  cb_shared *s = m->shared;
  if (!s) return;
  for (int i = 0; i < m->links; i++)
    cb_turn6_transposed((const double(*)[3])m->link[i].r0, m->link[i].eta, s->Y[m->link[i].body]);
  apply_blocks(s->n, (const double(*)[36])s->C, (const double(*)[6])s->Y, s->CY);
  for (int i = 0; i < m->links; i++) {
    double turned[6];
    cb_turn6((const double(*)[3])m->link[i].r0, s->CY[m->link[i].body], turned);
    cb_add6(1, turned, m->need[i]);
  }
}

/* --- creation --- */

static const struct cb_sweep_kernel *kernel(void) {
#if defined(__x86_64__)
  if (cb_isa_get() >= CB_ISA_AVX2) return &cb_shared_kernel_avx2;
#endif
  return &cb_shared_kernel_x86_64;
}

cb_status cb_mechanism_share(cb_mechanism *m, const cb_shared_inertia *of) {
  cb_shared *s = cb_arena_alloc(m->arena, 1, sizeof *s);
  if (!s) return cb_fail(CB_ERROR_MEMORY, "no memory for shared inertia");
  const size_t n = (size_t)m->bodies, blocks = n * (n + 1) / 2, c = (size_t)of->coordinates,
               all = 6 * n + (size_t)m->coordinates;
  *s = (cb_shared){.of = *of, .kernel = kernel(), .n = m->bodies, .blocks = (int)blocks};
  s->first = cb_arena_alloc(m->arena, n, sizeof *s->first);
  s->map = cb_arena_alloc(m->arena, n, sizeof *s->map);
  s->E = cb_arena_alloc(m->arena, n, sizeof *s->E);
  s->Y = cb_arena_alloc(m->arena, n, sizeof *s->Y);
  s->CY = cb_arena_alloc(m->arena, n, sizeof *s->CY);
  s->C = cb_arena_alloc(m->arena, blocks, sizeof *s->C);
  s->slope_at = cb_arena_alloc(m->arena, n, sizeof *s->slope_at);
  s->slope = cb_arena_alloc(m->arena, blocks * c, sizeof *s->slope);
  s->slope_Y = cb_arena_alloc(m->arena, n * c, sizeof *s->slope_Y);
  cb_six_columns **const columns[] = {&s->z, &s->zeta, &s->Cz, &s->G};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    *columns[i] = cb_arena_alloc_aligned(m->arena, n, sizeof **columns[i], CB_CACHE_LINE);
  s->M = cb_arena_alloc_aligned(m->arena, all * (all + CB_SHARED_COLUMNS), sizeof *s->M, CB_CACHE_LINE);
  cb_arena_doubles(m->arena, (size_t)m->coordinates, &s->force);
  cb_arena_doubles(m->arena, all, &s->closing, &s->x);
  if (cb_arena_lost(m->arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for the shared inertia of %zu bodies", n);
  m->shared = s;
  return CB_OK;
}

/* --- the kernels of the sweeps over the tree --- */

bool cb_sweep_invert(int n, double D[6][6]) {
  double a[36], x[6];
  int pivot[6];
  if (n == 1) {
    D[0][0] = 1 / D[0][0];
    return isfinite(D[0][0]);
  }
  for (int i = 0; i < n * n; i++) a[i] = D[i / n][i % n];
  if (cb_dense_factor(n, a, pivot)) return false;
  for (int c = 0; c < n; c++) {
    for (int i = 0; i < n; i++) x[i] = i == c;
    cb_dense_solve(n, a, pivot, x);
    for (int i = 0; i < n; i++) D[i][c] = x[i];
  }
  return true;
}

static const struct cb_sweep_kernel *sweep_kernel(void) {
#if defined(__x86_64__)
  if (cb_isa_get() >= CB_ISA_AVX2) return &cb_sweep_kernel_avx2;
#endif
  return &cb_sweep_kernel_x86_64;
}

void cb_sweep_choose(cb_mechanism *m) { m->sweeps = m->curvature == 0 ? sweep_kernel() : &cb_sweep_kernel_curved; }

void cb_sweep_turn(const double r[3][3], double c, const cb_row6 M[6], cb_six out[6]) {
  for (int block = 0; block < 6; block += 3)
    for (int i = 0; i < 3; i++) {
      const cb_row6 sum = cb_row6_add(cb_row6_scale(c * r[i][0], M[block]), c * r[i][1], M[block + 1]);
      double row[6];
      cb_row6_store(cb_row6_add(sum, c * r[i][2], M[block + 2]), row);
      cb_six_set(row, &out[block + i]);
    }
}

bool cb_sweep_matrices(cb_mechanism *m, int *at) { return m->sweeps->eliminate(m, at); }

void cb_sweep_solve(cb_mechanism *m) { m->sweeps->solve(m, false); }

void cb_sweep_respond(cb_mechanism *m, const double (*W)[6], const cb_loop *loop, const double N[6], double (*eta)[6],
                      double (*dq)[6]) {
  static const double none[6];
  for (int i = 0; i < m->links; i++) {
    double r[6];
    memcpy(r, W ? W[i] : none, sizeof r);
    if (loop && loop->link[1] == i) cb_add6(1, N, r);
    if (loop && loop->link[0] == i) cb_sweep_to_parent(loop->d, -1, N, r);
    cb_six_set(r, &m->link[i].r);
  }
  m->sweeps->solve(m, true);
  for (int i = 0; i < m->links && eta; i++) {
    memcpy(eta[i], m->link[i].eta, sizeof eta[i]);
    if (dq) memcpy(dq[i], m->link[i].dq, sizeof dq[i]);
  }
}

void cb_sweep_impulses(cb_mechanism *m, const double (*need)[6], double (*total)[6]) {
  for (int i = 0; i < m->links; i++) {
    const bool held = m->link[i].joint >= 0;
    for (int k = 0; k < 6; k++) {
      total[i][k] = held ? need[i][k] : 0;
      m->link[i].w[k] = total[i][k]; /* the impulses of the children are added below */
    }
  }
  for (int i = m->links - 1; i >= 0; i--) {
    const cb_link *l = &m->link[i];
    if (l->parent < 0) continue;
    cb_link *a = &m->link[l->parent];
    cb_link_to_parent(l, a->joint >= 0 ? 1 : -1, l->w, a->joint >= 0 ? a->w : total[l->parent]);
  }
}
