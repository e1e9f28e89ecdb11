/* The units of a tree: places, inertias, twists and momenta (equations: mechanism_tree.h). */
#include "mechanism/mechanism_tree.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

/* --- places --- */

static void place_in_world(const cb_joint_tree *T, cb_unit *u, const double own[4], bool exact) {
  const cb_unit *a = u->parent >= 0 ? &T->unit[u->parent] : NULL;
  double d[3];
  if (a)
    cb_quaternion_multiply(a->g.q, own, u->g.q);
  else
    memcpy(u->g.q, own, sizeof u->g.q);
  if (exact) cb_tree_tidy(u->g.q);
  cb_quaternion_rotation(u->g.q, u->world);
  if (!a) {
    memcpy(u->g.x, u->r, sizeof u->r);
    return;
  }
  cb_apply3((const double(*)[3])a->world, u->r, d);
  for (int i = 0; i < 3; i++) {
    u->g.x[i] = a->g.x[i];
    u->x_low[i] = a->x_low[i];
    if (exact)
      cb_compensated_add_one(&u->g.x[i], &u->x_low[i], d[i]);
    else
      u->g.x[i] += d[i];
  }
}

/* The rotation of a unit as a quaternion, R, and r. */
static void place_screw(const cb_joint_tree *T, cb_unit *u, double own[4]) {
  const double q = T->q[u->coordinate], moved = u->slide * q, *at = u->at.q;
  double cos_half = 1, sin_half = 0;
  if (u->turn != 0) {
    const double half = u->turn / 2 * q;
    cos_half = cos(half);
    sin_half = sin(half);
  }
  own[0] = at[0] * cos_half - at[3] * sin_half;
  own[1] = at[1] * cos_half + at[2] * sin_half;
  own[2] = at[2] * cos_half - at[1] * sin_half;
  own[3] = at[3] * cos_half + at[0] * sin_half;
  const double c = 1 - 2 * sin_half * sin_half, s = 2 * cos_half * sin_half;
  for (int k = 0; k < 3; k++) {
    u->R[k][0] = c * u->C[k][0] + s * u->C[k][1];
    u->R[k][1] = c * u->C[k][1] - s * u->C[k][0];
    u->r[k] = u->at.x[k] + moved * u->C[k][2];
  }
}

void cb_tree_place(cb_joint_tree *T, cb_tree_placing how) {
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    double own[4];
    if (u->kind == CB_UNIT_ROOT) continue;
    if (u->kind == CB_UNIT_SCREW)
      place_screw(T, u, own);
    else if (u->kind == CB_UNIT_ROTATION) {
      cb_quaternion_multiply(u->at.q, u->rotation->turned, own);
      cb_quaternion_rotation(own, u->R);
    } else
      memcpy(own, u->at.q, sizeof own);
    if (how != CB_PLACE_APART) place_in_world(T, u, own, how == CB_PLACE_NODE);
  }
}

void cb_tree_body(const cb_unit *u, cb_pose *g, double x_low[3]) {
  double d[3];
  cb_quaternion_multiply(u->g.q, u->body.q, g->q);
  cb_apply3((const double(*)[3])u->world, u->body.x, d);
  for (int i = 0; i < 3; i++) {
    x_low[i] = u->x_low[i];
    g->x[i] = u->g.x[i];
    cb_compensated_add_one(&g->x[i], &x_low[i], d[i]);
  }
  cb_tree_tidy(g->q);
}

/* --- covectors --- */

/* out += the covector W of a unit, as one of its parent */
static void to_parent(const cb_unit *u, const double W[6], double out[6]) {
  double turned[6], moment[3];
  cb_turn6((const double(*)[3])u->R, W, turned);
  cb_cross3(u->r, turned + 3, moment);
  for (int i = 0; i < 3; i++) {
    out[i] += turned[i] + moment[i];
    out[3 + i] += turned[3 + i];
  }
}

void cb_tree_gather(cb_joint_tree *T, size_t at) {
  for (int i = T->n - 1; i > 0; i--) {
    const cb_unit *u = &T->unit[i];
    const double *own = (const double *)((const char *)u + at);
    if (u->parent >= 0) to_parent(u, own, (double *)((char *)&T->unit[u->parent] + at));
  }
}

/* --- inertias --- */

/* out = R S R^T of a symmetric S */
static void turn_symmetric(const double R[3][3], const double S[3][3], double out[3][3]) {
  double T[3][3];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) T[i][k] = R[i][0] * S[0][k] + R[i][1] * S[1][k] + R[i][2] * S[2][k];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k <= i; k++) out[i][k] = out[k][i] = cb_dot3(T[i], R[k]);
}

/* out = R S R^T */
static void turn_matrix(const double R[3][3], const double S[3][3], double out[3][3]) {
  double T[3][3];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) T[i][k] = R[i][0] * S[0][k] + R[i][1] * S[1][k] + R[i][2] * S[2][k];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) out[i][k] = cb_dot3(T[i], R[k]);
}

/* Adds an inertia that is seen from a frame with the rotation R and the place r:
 *   H' = H + hat(r) M,  I' = I - H hat(r) + hat(r) H'^T  after the rotation */
static void add_inertia(const double R[3][3], const double r[3], const cb_spatial *A, cb_spatial *out) {
  double I[3][3], H[3][3], M[3][3], column[3], moved[3];
  turn_symmetric(R, A->I, I);
  turn_matrix(R, A->H, H);
  turn_symmetric(R, A->M, M);
  for (int i = 0; i < 3; i++) { /* - H hat(r), row by row: -(H hat(r))_i = r × H_i */
    cb_cross3(r, H[i], moved);
    for (int k = 0; k < 3; k++) I[i][k] += moved[k];
  }
  for (int k = 0; k < 3; k++) { /* columns of hat(r) M */
    cb_cross3(r, M[k], moved);
    for (int i = 0; i < 3; i++) H[i][k] += moved[i];
  }
  for (int k = 0; k < 3; k++) { /* columns of hat(r) H'^T: r × (row k of H') */
    memcpy(column, H[k], sizeof column);
    cb_cross3(r, column, moved);
    for (int i = 0; i < 3; i++) I[i][k] += moved[i];
  }
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      out->I[i][k] += I[i][k];
      out->H[i][k] += H[i][k];
      out->M[i][k] += M[i][k];
    }
}

static void to_spatial(const cb_unit *u, const double K[6][6], cb_spatial *out) {
  cb_spatial in;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      in.I[i][k] = K[i][k];
      in.H[i][k] = K[i][3 + k];
      in.M[i][k] = K[3 + i][3 + k];
    }
  memset(out, 0, sizeof *out);
  add_inertia((const double(*)[3])u->B, u->body.x, &in, out);
}

cb_status cb_tree_inertias(cb_joint_tree *T, const cb_mechanism *m, const cb_mechanism_bodies *b, double t,
                           int *failed) {
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    cb_pose g;
    double x_low[3];
    if (u->link < 0) continue;
    const int body = m->link[u->link].body;
    const cb_rigid_problem *p = b->problem(b->self, body);
    if (p->constant) {
      if (u->constant == p->constant) continue;
      to_spatial(u, p->constant->K, &u->own);
      cb_tree_covector_to_unit(u, p->constant->mu0, u->mu0);
      u->constant = p->constant;
      continue;
    }
    *failed = body;
    u->constant = NULL;
    cb_tree_body(u, &g, x_low);
    const cb_status status = p->inertia(p->self, t, &g, u->inertia->K, u->inertia->rest);
    if (status) return status;
    to_spatial(u, (const double(*)[6])u->inertia->K, &u->own);
    cb_tree_covector_to_unit(u, u->inertia->rest, u->mu0);
  }
  return CB_OK;
}

/* out = A (V, W) */
static void momentum_of(const cb_spatial *A, const double V[6], double out[6]) {
  for (int i = 0; i < 3; i++) {
    out[i] = cb_dot3(A->I[i], V) + cb_dot3(A->H[i], V + 3);
    out[3 + i] = A->H[0][i] * V[0] + A->H[1][i] * V[1] + A->H[2][i] * V[2] + cb_dot3(A->M[i], V + 3);
  }
}

/* --- the sweeps --- */

static cb_status singular(const cb_mechanism *m, const cb_unit *u, double t) {
  return cb_fail(CB_STEP_SINGULAR,
                 "the equations of %s%s are singular at t = %g: expected bodies with mass beyond each joint",
                 u->joint < 0 ? "a tree of bodies" : "joint ", u->joint < 0 ? "" : m->joint[u->joint].name, t);
}

/* The reduced inertia and momentum of a screw that moves freely. */
static bool reduce_screw(const cb_joint_tree *T, cb_unit *u, cb_spatial *A, double b[6]) {
  double *AS = u->AS;
  for (int k = 0; k < 3; k++) {
    AS[k] = u->turn * u->A.I[k][2] + u->slide * u->A.H[k][2];
    AS[3 + k] = u->turn * u->A.H[2][k] + u->slide * u->A.M[k][2];
  }
  const double D = u->turn * AS[2] + u->slide * AS[5] + u->armature;
  if (!(D > 0) || !(D < INFINITY)) return false;
  const double inverse = u->D = 1 / D;
  u->u = inverse * (T->pi[u->coordinate] - u->turn * u->b[2] - u->slide * u->b[5]);
  for (int i = 0; i < 3; i++) {
    const double left = inverse * AS[i], low = inverse * AS[3 + i];
    for (int k = 0; k < 3; k++) {
      A->I[i][k] = u->A.I[i][k] - left * AS[k];
      A->H[i][k] = u->A.H[i][k] - left * AS[3 + k];
      A->M[i][k] = u->A.M[i][k] - low * AS[3 + k];
    }
  }
  for (int k = 0; k < 6; k++) b[k] = u->b[k] + u->u * AS[k];
  return true;
}

/* D^-1 of a symmetric matrix with positive determinants. */
static bool invert(const double D[3][3], double out[3][3]) {
  double c[3][3];
  for (int i = 0; i < 3; i++) cb_cross3(D[(i + 1) % 3], D[(i + 2) % 3], c[i]);
  const double det = cb_dot3(D[0], c[0]);
  if (!(det > 0) || !(det < INFINITY)) return false;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) out[i][k] = c[k][i] / det;
  return true;
}

/* The same for a rotation; V^T a V: its armature. */
static bool reduce_rotation(const cb_joint_tree *T, cb_unit *u, cb_spatial *A, double b[6]) {
  cb_unit_rotation *o = u->rotation;
  double D[3][3], right[3];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      D[i][k] = u->A.I[i][k];
      for (int j = 0; j < 3; j++) D[i][k] += o->V[j][i] * o->armature[j] * o->V[j][k];
      o->AS[i][k] = u->A.I[k][i];
      o->AS[i][3 + k] = u->A.H[i][k];
    }
  if (!invert((const double(*)[3])D, o->D)) return false;
  *A = u->A;
  memcpy(b, u->b, sizeof u->b);
  for (int i = 0; i < 3; i++) right[i] = T->pi[u->coordinate + i] - b[i];
  cb_apply3((const double(*)[3])o->D, right, o->u);
  for (int j = 0; j < 3; j++) {
    double DAS[6] = {0};
    for (int l = 0; l < 3; l++) cb_add6(o->D[j][l], o->AS[l], DAS);
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) {
        A->I[i][k] -= o->AS[j][i] * DAS[k];
        A->H[i][k] -= o->AS[j][i] * DAS[3 + k];
        A->M[i][k] -= o->AS[j][3 + i] * DAS[3 + k];
      }
  }
  for (int j = 0; j < 3; j++) cb_add6(o->u[j], o->AS[j], b);
  return true;
}

/* S q' of a screw or a rotation. */
static void add_own(const cb_joint_tree *T, const cb_unit *u, double out[6]) {
  const double *rate = T->own_rate + u->coordinate;
  if (u->kind == CB_UNIT_SCREW) {
    out[2] += u->turn * rate[0];
    out[5] += u->slide * rate[0];
  } else if (u->kind == CB_UNIT_ROTATION)
    for (int i = 0; i < 3; i++) out[i] += rate[i];
}

/* Whether a unit moves by a law, or not at all. */
static bool moves_freely(const cb_unit *u) {
  return !u->driven && (u->kind == CB_UNIT_SCREW || u->kind == CB_UNIT_ROTATION);
}

static bool sweep_inwards(cb_joint_tree *T, int *at) {
  for (int i = 0; i < T->n; i++) {
    T->unit[i].A = T->unit[i].own;
    memcpy(T->unit[i].b, T->unit[i].mu0, sizeof T->unit[i].b);
  }
  for (int i = T->n - 1; i >= 0; i--) {
    cb_unit *u = &T->unit[i];
    cb_spatial A;
    double b[6], e[6] = {0};
    *at = i;
    if (u->kind == CB_UNIT_ROOT) continue;
    if (!moves_freely(u)) {
      A = u->A;
      add_own(T, u, e);
      momentum_of(&A, e, b);
      cb_add6(1, u->b, b);
    } else if (!(u->kind == CB_UNIT_SCREW ? reduce_screw : reduce_rotation)(T, u, &A, b))
      return false;
    if (u->parent < 0) continue;
    cb_unit *a = &T->unit[u->parent];
    add_inertia((const double(*)[3])u->R, u->r, &A, &a->A);
    to_parent(u, b, a->b);
  }
  return true;
}

/* The twist of the parent, seen from the unit. */
static void seen(const cb_joint_tree *T, const cb_unit *u, double out[6]) {
  double v[3], across[3];
  if (u->parent < 0) {
    memset(out, 0, 6 * sizeof *out);
    return;
  }
  const double *Y = T->unit[u->parent].Y;
  cb_cross3(Y, u->r, across);
  for (int i = 0; i < 3; i++) v[i] = Y[3 + i] + across[i];
  cb_apply3_transposed((const double(*)[3])u->R, Y, out);
  cb_apply3_transposed((const double(*)[3])u->R, v, out + 3);
}

static bool twist_of_root(cb_unit *u) {
  cb_factors6 f;
  double K[6][6], right[6];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      K[i][k] = u->A.I[i][k];
      K[i][3 + k] = K[3 + k][i] = u->A.H[i][k];
      K[3 + i][3 + k] = u->A.M[i][k];
    }
  for (int i = 0; i < 6; i++) right[i] = u->P[i] - u->b[i];
  if (!cb_factor6((const double(*)[6])K, &f)) return false;
  cb_back6(&f, right, u->Y);
  return true;
}

cb_status cb_tree_twists(cb_joint_tree *T, const cb_mechanism *m, double t, int *failed) {
  int at = 0;
  *failed = -1;
  if (!sweep_inwards(T, &at)) return singular(m, &T->unit[at], t);
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    if (u->kind == CB_UNIT_ROOT) {
      if (!twist_of_root(u)) return singular(m, u, t);
      continue;
    }
    seen(T, u, u->Y);
    if (moves_freely(u)) {
      double *rate = T->own_rate + u->coordinate, along[3];
      if (u->kind == CB_UNIT_SCREW) {
        rate[0] = u->u - u->D * (cb_dot3(u->AS, u->Y) + cb_dot3(u->AS + 3, u->Y + 3));
      } else {
        const cb_unit_rotation *o = u->rotation;
        for (int j = 0; j < 3; j++) along[j] = cb_sweep_dot(o->AS[j], u->Y);
        for (int j = 0; j < 3; j++) rate[j] = o->u[j] - cb_dot3(o->D[j], along);
      }
    }
    add_own(T, u, u->Y);
    if (u->kind == CB_UNIT_SCREW && !u->driven) { /* all that pi' of a screw needs */
      for (int k = 0; k < 2; k++) {
        u->P[k] = u->b[k] + cb_dot3(u->A.I[k], u->Y) + cb_dot3(u->A.H[k], u->Y + 3);
        u->P[3 + k] = u->b[3 + k] + (u->A.H[0][k] * u->Y[0] + u->A.H[1][k] * u->Y[1] + u->A.H[2][k] * u->Y[2]) +
                      cb_dot3(u->A.M[k], u->Y + 3);
      }
      continue;
    }
    momentum_of(&u->A, u->Y, u->P);
    cb_add6(1, u->b, u->P);
  }
  return CB_OK;
}

void cb_tree_rates(cb_joint_tree *T) {
  for (int i = 0; i < T->n; i++) {
    const cb_unit *u = &T->unit[i];
    double from[6];
    if (!moves_freely(u)) continue;
    seen(T, u, from);
    double *rate = T->own_rate + u->coordinate;
    if (u->kind == CB_UNIT_ROTATION)
      for (int k = 0; k < 3; k++) rate[k] = u->Y[k] - from[k];
    else
      rate[0] = u->turn != 0 ? (u->Y[2] - from[2]) / u->turn : (u->Y[5] - from[5]) / u->slide;
  }
}
