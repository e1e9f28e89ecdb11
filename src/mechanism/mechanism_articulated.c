/* The units of a tree in the world's axes: creation, and the choice of the loops (equations:
 * mechanism_tree.h). */
#include "mechanism/mechanism_tree.h"
#include "core/isa.h"
#include "numerics/vec3.h"

#include <stdint.h>
#include <string.h>

/* The columns of S in the axes of the unit, which `body` places in the frame of its screw or rotation. */
static void find_columns(const cb_unit *u, const cb_pose *body, cb_articulated *o) {
  double B[3][3];
  cb_pose_rotation(body, B);
  for (int k = 0; k < o->columns; k++) {
    double s[6] = {0}, across[3], own[6];
    if (u->kind == CB_UNIT_SCREW) {
      s[2] = u->turn;
      s[5] = u->slide;
    } else
      s[k] = 1;
    cb_cross3(s, body->x, across);
    for (int i = 0; i < 3; i++) s[3 + i] += across[i];
    cb_turn6_transposed((const double(*)[3])B, s, own);
    cb_six_set(own, &o->own[k]);
  }
}

/* Column j of the motion of a screw with the axes C in its parent, for the vector x of the turning frame. */
static void find_column(const double C[3][3], const double x[3], int j, cb_articulated *o) {
  for (int i = 0; i < 3; i++) {
    o->motion[j][0][i] += C[i][2] * x[2];
    o->motion[j][1][i] = C[i][0] * x[0] + C[i][1] * x[1];
    o->motion[j][2][i] = C[i][1] * x[0] - C[i][0] * x[1];
  }
}

static void find_motion(const cb_unit *u, const cb_pose *at, const cb_pose *body, cb_articulated *o) {
  const double about[4] = {0, 0, 0, 1};
  double C[3][3], B[3][3];
  memcpy(o->motion[3][0], at->x, sizeof at->x);
  memcpy(o->body, body->q, sizeof o->body);
  memcpy(o->arm, body->x, sizeof o->arm);
  memcpy(o->at, at->q, sizeof o->at);
  if (u->kind == CB_UNIT_ROTATION) return;
  cb_pose_rotation(at, C);
  cb_pose_rotation(body, B);
  for (int j = 0; j < 3; j++) find_column((const double(*)[3])C, (double[3]){B[0][j], B[1][j], B[2][j]}, j, o);
  find_column((const double(*)[3])C, body->x, 3, o);
  for (int i = 0; i < 3; i++) o->axis[i] = C[i][2];
  cb_quaternion_multiply(at->q, about, o->turned);
  cb_quaternion_multiply(o->turned, body->q, o->turned);
  cb_quaternion_multiply(at->q, body->q, o->at);
}

static void find_constants(const cb_joint_tree *T, int unit) {
  static const cb_pose same = {{1}, {0}};
  const cb_unit *u = &T->unit[unit], *parent = u->parent >= 0 ? &T->unit[u->parent] : NULL;
  cb_articulated *o = &T->articulated[unit];
  const cb_pose *body = u->link >= 0 ? &u->body : &same;
  cb_pose at = u->at, back;
  *o = (cb_articulated){.parent = u->parent,
                        .coordinate = u->coordinate,
                        .columns = cb_tree_coordinates(u),
                        .root = u->kind == CB_UNIT_ROOT,
                        .free = cb_tree_coordinates(u) && !u->driven,
                        .turn = u->turn,
                        .slide = u->slide,
                        .armature = u->armature,
                        .rotation = u->rotation};
  if (parent && parent->link >= 0) {
    cb_pose_inverse(&parent->body, &back);
    cb_pose_multiply(&back, &u->at, &at);
  }
  find_columns(u, body, o);
  find_motion(u, &at, body, o);
  cb_pose_inverse(body, &back);
  cb_pose_point(&back, u->hold, o->hold);
}

static const struct cb_articulated_kernel *kernel(void) {
#if defined(__x86_64__)
  if (cb_isa_get() >= CB_ISA_AVX2) return &cb_articulated_kernel_avx2;
#endif
  return &cb_articulated_kernel_x86_64;
}

/* Whether a spring, a damper or a motor acts. */
static bool has_forces(const cb_mechanism *m) {
  bool any = m->laws.motors;
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++)
      any = any || m->joint[j].stiffness[i] != 0 || m->joint[j].damping[i] != 0;
  return any;
}

cb_status cb_articulated_create(cb_mechanism *m) {
  cb_joint_tree *T = m->tree;
  unsigned char *memory = cb_arena_alloc(m->arena, (size_t)T->n + 1, sizeof *T->articulated);
  if (!memory) return cb_fail(CB_ERROR_MEMORY, "no memory for %d joints", m->joints);
  /* a vector of four numbers shall not cross a line of the cache */
  T->articulated = (cb_articulated *)(memory + (-(uintptr_t)memory & 63));
  T->kernel = kernel();
  T->forces = has_forces(m);
  for (int i = 0; i < T->n; i++) find_constants(T, i);
  return CB_OK;
}

/* The inertias that are not constant. */
static cb_status find_inertias(const cb_joint_tree *T, const cb_mechanism *m, double t, int *failed) {
  *failed = -1;
  for (int i = 0; i < T->n && T->varies; i++) {
    const cb_articulated *o = &T->articulated[i];
    cb_unit_inertia *own = T->unit[i].inertia;
    if (!o->problem || o->problem->constant) continue;
    const cb_pose g = {.q = {o->q[0], o->q[1], o->q[2], o->q[3]}, .x = {o->x[0], o->x[1], o->x[2]}};
    const cb_status status = o->problem->inertia(o->problem->self, t, &g, own->K, own->rest);
    if (!status) continue;
    *failed = m->link[T->unit[i].link].body;
    return status;
  }
  return CB_OK;
}

cb_status cb_articulated_twists(cb_joint_tree *T, const cb_mechanism *m, double t, bool with_momenta, int *failed) {
  const cb_status status = find_inertias(T, m, t, failed);
  const int at = status ? -1 : T->kernel->find_twists(T, with_momenta);
  if (at < 0) return status;
  const int joint = T->unit[at].joint;
  return cb_fail(CB_STEP_SINGULAR,
                 "the equations of %s%s are singular at t = %g: expected bodies with mass beyond each joint",
                 joint < 0 ? "a tree of bodies" : "joint ", joint < 0 ? "" : m->joint[joint].name, t);
}

double cb_articulated_momentum(const cb_joint_tree *T, int unit, int k) {
  const cb_unit *u = &T->unit[unit];
  const double *rate = T->rate + u->coordinate;
  double sum = cb_six_dot(&T->articulated[unit].S[k], &T->articulated[unit].P);
  if (u->kind == CB_UNIT_SCREW) return sum + u->armature * rate[0];
  for (int j = 0; j < 3; j++) sum += u->rotation->sign * u->rotation->V[j][k] * u->rotation->armature[j] * rate[j];
  return sum;
}
