/* The sweeps of a tree in the world's axes (equations: mechanism_articulated.h, mechanism_tree.h). */
#include "mechanism/mechanism_articulated.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

/* --- creation --- */

/* The columns of S in the axes of the unit, which `body` places in the frame of its screw or rotation. */
static void find_columns(const cb_unit *u, const cb_pose *body, cb_articulated *a) {
  double B[3][3];
  cb_pose_rotation(body, B);
  for (int k = 0; k < cb_tree_coordinates(u); k++) {
    double s[6] = {0}, across[3];
    if (u->kind == CB_UNIT_SCREW) {
      s[2] = u->turn;
      s[5] = u->slide;
    } else
      s[k] = 1;
    cb_cross3(s, body->x, across);
    for (int i = 0; i < 3; i++) s[3 + i] += across[i];
    cb_turn6_transposed((const double(*)[3])B, s, a->own[k]);
  }
}

static void find_constants(const cb_joint_tree *T, int unit) {
  static const cb_pose same = {{1}, {0}};
  const cb_unit *u = &T->unit[unit], *parent = u->parent >= 0 ? &T->unit[u->parent] : NULL;
  cb_articulated *a = &T->articulated[unit];
  const cb_pose *body = u->link >= 0 ? &u->body : &same;
  const double about[4] = {0, 0, 0, 1}, *x = body->x;
  cb_pose at = u->at, back;
  double C[3][3];
  if (parent && parent->link >= 0) {
    cb_pose_inverse(&parent->body, &back);
    cb_pose_multiply(&back, &u->at, &at);
  }
  cb_pose_rotation(&at, C);
  find_columns(u, body, a);
  memcpy(a->r[0], at.x, sizeof at.x);
  memcpy(a->body, body->q, sizeof a->body);
  memcpy(a->arm, body->x, sizeof a->arm);
  cb_pose_inverse(body, &back);
  cb_pose_point(&back, u->hold, a->hold);
  if (u->kind == CB_UNIT_ROTATION) {
    memcpy(a->at, at.q, sizeof a->at);
    return;
  }
  cb_quaternion_multiply(at.q, body->q, a->at);
  cb_quaternion_multiply(at.q, about, a->turned);
  cb_quaternion_multiply(a->turned, body->q, a->turned);
  for (int i = 0; i < 3; i++) {
    a->r[0][i] += C[i][2] * x[2];
    a->r[1][i] = C[i][0] * x[0] + C[i][1] * x[1];
    a->r[2][i] = C[i][1] * x[0] - C[i][0] * x[1];
    a->r[3][i] = C[i][2];
  }
}

cb_status cb_articulated_create(cb_mechanism *m) {
  cb_joint_tree *T = m->tree;
  T->articulated = cb_arena_alloc(m->arena, (size_t)T->n, sizeof *T->articulated);
  if (!T->articulated) return cb_fail(CB_ERROR_MEMORY, "no memory for %d joints", m->joints);
  for (int i = 0; i < T->n; i++) find_constants(T, i);
  return CB_OK;
}

/* --- places --- */

/* The axes of a unit, and its place, seen from its parent. */
static void find_motion(const cb_unit *u, const cb_articulated *a, const double *q, double own[4], double r[3]) {
  if (u->kind == CB_UNIT_ROTATION) {
    double turned[4];
    cb_quaternion_multiply(a->at, u->rotation->turned, turned);
    cb_quaternion_multiply(turned, a->body, own);
    cb_quaternion_turn(turned, a->arm, r);
    for (int i = 0; i < 3; i++) r[i] += a->r[0][i];
    return;
  }
  const double value = u->kind == CB_UNIT_SCREW ? q[u->coordinate] : 0, half = u->turn / 2 * value,
               moved = u->slide * value, cos_half = cos(half), sin_half = sin(half),
               c = 1 - 2 * sin_half * sin_half, s = 2 * cos_half * sin_half;
  for (int i = 0; i < 4; i++) own[i] = cos_half * a->at[i] + sin_half * a->turned[i];
  for (int i = 0; i < 3; i++) r[i] = a->r[0][i] + (c * a->r[1][i] + s * a->r[2][i]) + moved * a->r[3][i];
}

void cb_articulated_place(cb_joint_tree *T, bool node) {
  for (int i = 0; i < T->n; i++) {
    const cb_unit *u = &T->unit[i];
    cb_articulated *a = &T->articulated[i];
    if (u->kind == CB_UNIT_ROOT) continue;
    if (u->parent < 0) {
      find_motion(u, a, T->q, a->q, a->x);
    } else {
      const cb_articulated *p = &T->articulated[u->parent];
      double own[4], r[3];
      find_motion(u, a, T->q, own, r);
      cb_quaternion_multiply(p->q, own, a->q);
      cb_apply3((const double(*)[3])p->R, r, a->d);
      for (int k = 0; k < 3; k++) {
        a->x[k] = p->x[k];
        a->x_low[k] = p->x_low[k];
        if (node)
          cb_compensated_add_one(&a->x[k], &a->x_low[k], a->d[k]);
        else
          a->x[k] += a->d[k];
      }
    }
    if (node) cb_tree_tidy(a->q);
    cb_quaternion_rotation(a->q, a->R);
    for (int k = 0; k < cb_tree_coordinates(u); k++) cb_turn6((const double(*)[3])a->R, a->own[k], a->S[k]);
  }
}

void cb_articulated_gather(cb_joint_tree *T, size_t at) {
  for (int i = T->n - 1; i > 0; i--) {
    const cb_articulated *a = &T->articulated[i];
    const double *W = (const double *)((const char *)a + at);
    if (T->unit[i].parent < 0) continue;
    cb_sweep_to_parent(a->d, 1, W, (double *)((char *)&T->articulated[T->unit[i].parent] + at));
  }
}

/* --- inertias --- */

/* out = R S R^T of the block of a matrix; of a symmetric one, the products below its diagonal are copied. */
static void turn_block(const double R[3][3], const double S[6][6], int row, int column, double out[3][3]) {
  double T[3][3];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      T[i][k] = R[i][0] * S[row][column + k] + R[i][1] * S[row + 1][column + k] + R[i][2] * S[row + 2][column + k];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      out[i][k] = row == column && k < i ? out[k][i] : cb_dot3(T[i], R[k]);
}

/* The same of a diagonal matrix. */
static void turn_diagonal(const double R[3][3], const double S[6][6], int row, double out[3][3]) {
  for (int i = 0; i < 3; i++) {
    const double a = R[i][0] * S[row][row], b = R[i][1] * S[row + 1][row + 1], c = R[i][2] * S[row + 2][row + 2];
    for (int k = i; k < 3; k++) out[i][k] = out[k][i] = a * R[k][0] + b * R[k][1] + c * R[k][2];
  }
}

static void take_inertia(cb_articulated *a, const double K[6][6], const double mu0[6], bool diagonal) {
  const double(*R)[3] = (const double(*)[3])a->R;
  if (diagonal) {
    turn_diagonal(R, K, 0, a->A.I);
    turn_diagonal(R, K, 3, a->A.M);
    memset(a->A.H, 0, sizeof a->A.H);
  } else {
    turn_block(R, K, 0, 0, a->A.I);
    turn_block(R, K, 0, 3, a->A.H);
    turn_block(R, K, 3, 3, a->A.M);
  }
  cb_turn6(R, mu0, a->b);
}

cb_status cb_articulated_inertias(cb_joint_tree *T, const cb_mechanism *m, double t, int *failed) {
  for (int i = 0; i < T->n; i++) {
    const cb_unit *u = &T->unit[i];
    cb_articulated *a = &T->articulated[i];
    const cb_rigid_problem *p = a->problem;
    if (!p) {
      memset(&a->A, 0, sizeof a->A);
      memset(a->b, 0, sizeof a->b);
    } else if (p->constant)
      take_inertia(a, p->constant->K, p->constant->mu0, p->constant->diagonal);
    else {
      const cb_pose g = {.q = {a->q[0], a->q[1], a->q[2], a->q[3]}, .x = {a->x[0], a->x[1], a->x[2]}};
      *failed = m->link[u->link].body;
      const cb_status status = p->inertia(p->self, t, &g, u->inertia->K, u->inertia->rest);
      if (status) return status;
      take_inertia(a, (const double(*)[6])u->inertia->K, u->inertia->rest, false);
    }
  }
  *failed = -1;
  return CB_OK;
}

/* Adds an inertia that is seen from -d away:  H' = H + hat(d) M,  I' = I - H hat(d) + hat(d) H'^T */
static void add_inertia(const double d[3], const cb_spatial *A, cb_spatial *out) {
  double H[3][3], right[3][3], left[3][3];
  for (int k = 0; k < 3; k++) {
    double moved[3];
    cb_cross3(d, A->M[k], moved); /* column k of hat(d) M */
    for (int i = 0; i < 3; i++) H[i][k] = A->H[i][k] + moved[i];
    cb_cross3(d, A->H[k], right[k]); /* row k of -H hat(d) */
  }
  for (int k = 0; k < 3; k++) cb_cross3(d, H[k], left[k]); /* column k of hat(d) H'^T */
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) out->H[i][k] += H[i][k];
  for (int i = 0; i < 3; i++)
    for (int k = i; k < 3; k++) {
      out->I[k][i] = out->I[i][k] += A->I[i][k] + right[i][k] + left[k][i];
      out->M[k][i] = out->M[i][k] += A->M[i][k];
    }
}

/* out = A (w, v) */
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

/* A -= left right^T, which is symmetric */
static void subtract(const double left[6], const double right[6], cb_spatial *A) {
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) A->H[i][k] -= left[i] * right[3 + k];
    for (int k = i; k < 3; k++) {
      A->I[i][k] -= left[i] * right[k];
      A->M[k][i] = A->M[i][k] -= left[3 + i] * right[3 + k];
    }
  }
}

/* A and b of a screw that moves freely become those that its parent meets. */
static bool reduce_screw(const cb_joint_tree *T, const cb_unit *u, cb_articulated *a, cb_spatial *A, double b[6]) {
  const double *S = a->S[0], *AS = a->AS[0];
  double left[6];
  momentum_of(&a->A, S, a->AS[0]);
  const double D = cb_sweep_dot(S, AS) + u->armature;
  if (!(D > 0) || !(D < INFINITY)) return false;
  a->D[0][0] = 1 / D;
  a->u[0] = a->D[0][0] * (T->pi[u->coordinate] - cb_sweep_dot(S, b));
  for (int k = 0; k < 6; k++) left[k] = a->D[0][0] * AS[k];
  subtract(left, AS, A);
  cb_add6(a->u[0], AS, b);
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
static bool reduce_rotation(const cb_joint_tree *T, const cb_unit *u, cb_articulated *a, cb_spatial *A, double b[6]) {
  const cb_unit_rotation *o = u->rotation;
  double D[3][3], right[3];
  for (int i = 0; i < 3; i++) momentum_of(&a->A, a->S[i], a->AS[i]);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      D[i][k] = cb_sweep_dot(a->S[i], a->AS[k]);
      for (int j = 0; j < 3; j++) D[i][k] += o->V[j][i] * o->armature[j] * o->V[j][k];
    }
  if (!invert((const double(*)[3])D, a->D)) return false;
  for (int i = 0; i < 3; i++) right[i] = T->pi[u->coordinate + i] - cb_sweep_dot(a->S[i], b);
  cb_apply3((const double(*)[3])a->D, right, a->u);
  for (int j = 0; j < 3; j++) {
    double left[6] = {0};
    for (int l = 0; l < 3; l++) cb_add6(a->D[j][l], a->AS[l], left);
    subtract(left, a->AS[j], A);
  }
  for (int j = 0; j < 3; j++) cb_add6(a->u[j], a->AS[j], b);
  return true;
}

/* Y += S q' */
static void add_own(const cb_joint_tree *T, int unit, double Y[6]) {
  const cb_unit *u = &T->unit[unit];
  for (int k = 0; k < cb_tree_coordinates(u); k++)
    cb_add6(T->own_rate[u->coordinate + k], T->articulated[unit].S[k], Y);
}

static bool moves_freely(const cb_unit *u) { return !u->driven && cb_tree_coordinates(u) > 0; }

static bool sweep_inwards(cb_joint_tree *T, int *at) {
  for (int i = T->n - 1; i >= 0; i--) {
    const cb_unit *u = &T->unit[i];
    cb_articulated *a = &T->articulated[i];
    cb_spatial A = a->A;
    double b[6];
    *at = i;
    if (u->kind == CB_UNIT_ROOT) continue;
    memcpy(b, a->b, sizeof b);
    if (!moves_freely(u)) {
      double e[6] = {0}, own[6];
      add_own(T, i, e);
      momentum_of(&A, e, own);
      cb_add6(1, own, b);
    } else if (!(u->kind == CB_UNIT_SCREW ? reduce_screw : reduce_rotation)(T, u, a, &A, b))
      return false;
    if (u->parent < 0) continue;
    cb_articulated *p = &T->articulated[u->parent];
    add_inertia(a->d, &A, &p->A);
    cb_sweep_to_parent(a->d, 1, b, p->b);
  }
  return true;
}

static bool twist_of_root(cb_articulated *a) {
  cb_factors6 f;
  double K[6][6], right[6];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      K[i][k] = a->A.I[i][k];
      K[i][3 + k] = K[3 + k][i] = a->A.H[i][k];
      K[3 + i][3 + k] = a->A.M[i][k];
    }
  for (int i = 0; i < 6; i++) right[i] = a->P[i] - a->b[i];
  if (!cb_factor6((const double(*)[6])K, &f)) return false;
  cb_back6(&f, right, a->Y);
  return true;
}

/* The twist of the parent, seen from the unit. */
static void see_parent(const cb_joint_tree *T, int unit, double out[6]) {
  if (T->unit[unit].parent < 0)
    memset(out, 0, 6 * sizeof *out);
  else
    cb_sweep_see(T->articulated[unit].d, T->articulated[T->unit[unit].parent].Y, out);
}

cb_status cb_articulated_twists(cb_joint_tree *T, const cb_mechanism *m, double t, bool with_momenta) {
  int at = 0;
  if (!sweep_inwards(T, &at)) return singular(m, &T->unit[at], t);
  for (int i = 0; i < T->n; i++) {
    const cb_unit *u = &T->unit[i];
    cb_articulated *a = &T->articulated[i];
    if (u->kind == CB_UNIT_ROOT) {
      if (!twist_of_root(a)) return singular(m, u, t);
      continue;
    }
    see_parent(T, i, a->Y);
    if (moves_freely(u)) {
      double *rate = T->own_rate + u->coordinate, along[3];
      if (u->kind == CB_UNIT_SCREW) {
        rate[0] = a->u[0] - a->D[0][0] * cb_sweep_dot(a->AS[0], a->Y);
      } else {
        for (int j = 0; j < 3; j++) along[j] = cb_sweep_dot(a->AS[j], a->Y);
        for (int j = 0; j < 3; j++) rate[j] = a->u[j] - cb_dot3(a->D[j], along);
      }
    }
    add_own(T, i, a->Y);
    if (!with_momenta && !u->driven) continue;
    momentum_of(&a->A, a->Y, a->P);
    cb_add6(1, a->b, a->P);
  }
  return CB_OK;
}

void cb_articulated_rates(cb_joint_tree *T) {
  for (int i = 0; i < T->n; i++) {
    const cb_unit *u = &T->unit[i];
    const cb_articulated *a = &T->articulated[i];
    double Y[6];
    if (!moves_freely(u)) continue;
    see_parent(T, i, Y);
    for (int k = 0; k < 6; k++) Y[k] = a->Y[k] - Y[k];
    for (int k = 0; k < cb_tree_coordinates(u); k++) { /* the angular parts of S are perpendicular to each other */
      const int first = u->kind == CB_UNIT_SCREW && u->turn == 0 ? 3 : 0;
      const double *s = a->S[k] + first;
      T->own_rate[u->coordinate + k] = cb_dot3(s, Y + first) / cb_dot3(s, s);
    }
  }
}

double cb_articulated_momentum(const cb_joint_tree *T, int unit, int k) {
  const cb_unit *u = &T->unit[unit];
  const double *rate = T->rate + u->coordinate;
  double sum = cb_sweep_dot(T->articulated[unit].S[k], T->articulated[unit].P);
  if (u->kind == CB_UNIT_SCREW) return sum + u->armature * rate[0];
  for (int j = 0; j < 3; j++) sum += u->rotation->sign * u->rotation->V[j][k] * u->rotation->armature[j] * rate[j];
  return sum;
}
