/* The units of a tree, made from its joints (mechanism_tree.h).
 *
 *   M(q) = exp(q_1 s_1) .. exp(q_k s_k) R
 *   a screw s = Ad_E (0, 0, turn; 0, 0, slide) has the frame E, whose third axis is along it, so
 *   exp(q s) = E exp(q (0, 0, turn; 0, 0, slide)) E^-1
 * If the first body of a joint moves and the second one is its parent, the motion is M^-1: the same motions backwards.
 */
#include "mechanism/mechanism_tree.h"

#include "core/threads.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void pose_of(const cb_joint_frame *f, cb_pose *out) {
  memcpy(out->q, f->q, sizeof out->q);
  memcpy(out->x, f->x, sizeof out->x);
}

/* Returns the number of units of a joint. */
static int units_of(const cb_joint *j) {
  const int n = cb_joint_coordinates(j);
  return n == 0 ? 1 : j->class_->turns ? n - 2 : n;
}

/* Finds the pose E whose z axis is the axis of the screw s, and the rotation (turn) and the displacement (slide) of the
 * screw per unit of its coordinate. */
static void frame_of_screw(const double s[6], cb_pose *E, double *turn, double *slide) {
  const double *w = s, *v = s + 3, w2 = cb_dot3(w, w);
  *E = (cb_pose){{1}, {0}};
  if (w2 > 0) {
    cb_cross3(w, v, E->x);
    for (int i = 0; i < 3; i++) E->x[i] /= w2;
    *turn = sqrt(w2);
    *slide = cb_dot3(w, v) / *turn;
    if (fabs(*slide) <= 1e-15 * sqrt(cb_dot3(v, v))) *slide = 0;
    cb_joint_axes(w, E->q);
  } else {
    *turn = 0;
    *slide = sqrt(cb_dot3(v, v));
    cb_joint_axes(v, E->q);
  }
}

static cb_unit *add_unit(cb_joint_tree *T, cb_unit_kind kind, int parent, int joint, const cb_pose *at) {
  cb_unit *u = &T->unit[T->n++];
  *u = (cb_unit){.kind = kind, .parent = parent, .link = -1, .joint = joint, .at = *at};
  u->root = kind == CB_UNIT_ROOT ? T->n - 1 : parent >= 0 ? T->unit[parent].root : -1;
  return u;
}

/* Sets the coordinate of a unit, its armature, and whether it is driven. */
static void take_coordinate(const cb_mechanism *m, cb_unit *u, int joint, int coordinate, int count) {
  u->coordinate = m->first[joint] + coordinate;
  u->driven = m->joint[joint].driven[coordinate];
  const double *armature = &m->joint[joint].armature[coordinate];
  if (count == 1)
    u->armature = armature[0];
  else
    memcpy(u->rotation->armature, armature, 3 * sizeof *armature);
}

/* Adds the units of a joint. *F is the frame of the joint as seen from the parent, and becomes the other frame of the
 * joint as seen from the last unit. */
static void add_joint(const cb_mechanism *m, cb_joint_tree *T, int joint, bool backwards, int parent, cb_pose *F) {
  const cb_joint *j = &m->joint[joint];
  const int n = units_of(j), screws = cb_joint_coordinates(j) - (j->class_->turns ? 3 : 0);
  const cb_pose at_rest = {{1}, {0}};
  cb_joint_motion motion;
  memset(&motion, 0, sizeof motion);
  j->class_->find(&at_rest, &j->data, &motion);
  for (int i = 0; i < n; i++) {
    const int c = backwards ? n - 1 - i : i;
    if (c >= screws) {
      const bool turns = cb_joint_coordinates(j) > 0;
      cb_unit *u = add_unit(T, turns ? CB_UNIT_ROTATION : CB_UNIT_WELD, parent, joint, F);
      if (turns) {
        u->rotation = &T->rotation[T->rotations++];
        u->rotation->sign = backwards ? -1 : 1;
        take_coordinate(m, u, joint, c, 3);
      }
      *F = at_rest;
    } else {
      double s[6], turn, slide;
      cb_pose E;
      for (int k = 0; k < 6; k++) s[k] = backwards ? -motion.S[c][k] : motion.S[c][k];
      frame_of_screw(s, &E, &turn, &slide);
      cb_pose_multiply(F, &E, F);
      cb_unit *u = add_unit(T, CB_UNIT_SCREW, parent, joint, F);
      take_coordinate(m, u, joint, c, 1);
      u->turn = turn;
      u->slide = slide;
      cb_pose_inverse(&E, F);
    }
    parent = T->n - 1;
  }
}

/* Adds the units of the joint between a link and its parent, or the root if the link has no joint. The last unit
 * carries the body of the link. */
static void add_link(const cb_mechanism *m, cb_joint_tree *T, int link) {
  int *unit_of = T->unit_of;
  const cb_link *l = &m->link[link];
  const cb_pose at_rest = {{1}, {0}};
  if (l->joint < 0) {
    add_unit(T, CB_UNIT_ROOT, -1, -1, &at_rest);
    T->unit[T->n - 1].body = at_rest;
    T->unit[T->n - 1].base = &T->base[T->bases++];
  } else {
    const cb_joint *j = &m->joint[l->joint];
    const int parent = l->parent >= 0 ? unit_of[l->parent] : -1;
    cb_pose F, other, back;
    pose_of(&j->frame[l->first_moves ? 1 : 0], &F);
    if (parent >= 0) cb_pose_multiply(&T->unit[parent].body, &F, &F);
    add_joint(m, T, l->joint, l->first_moves, parent, &F);
    pose_of(&j->frame[l->first_moves ? 0 : 1], &other);
    cb_pose_inverse(&other, &back);
    cb_pose_multiply(&F, &back, &T->unit[T->n - 1].body);
  }
  cb_unit *u = &T->unit[T->n - 1];
  u->link = link;
  u->inertia = &T->inertia[link];
  if (l->joint >= 0) cb_pose_point(&u->body, m->joint[l->joint].frame[l->first_moves ? 0 : 1].x, u->hold);
  unit_of[link] = T->n - 1;
}

/* --- joints that the method does not support --- */

static cb_status refuse(const cb_joint *j, const char *what) {
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "joint `%s` %s: the integrator rkmk4 moves trees of joints in their coordinates, without impulses: "
                 "expected hamilton_pontryagin",
                 j->name, what);
}

static cb_status check_joint(const cb_mechanism *m, int joint) {
  const cb_joint *j = &m->joint[joint];
  const int n = cb_joint_coordinates(j);
  for (int l = 0; l < m->loops; l++)
    if (m->loop[l].joint == joint) return refuse(j, l < m->loops - 2 * m->couplings ? "closes a loop" : "is coupled");
  if (!j->class_->serial) return refuse(j, "is not a sequence of screws and rotations");
  for (int i = 0; i < n; i++) {
    if (j->friction[i] != 0) return refuse(j, "has dry friction");
    if (j->limit[i][0] < j->limit[i][1] && (isfinite(j->limit[i][0]) || isfinite(j->limit[i][1])))
      return refuse(j, "has limits");
  }
  for (int i = n - 2; j->class_->turns && i < n; i++)
    if (j->driven[i] != j->driven[n - 3])
      return refuse(j, "has drives of some components of its rotation vector, but not of all");
  return CB_OK;
}

static cb_status allocate(cb_mechanism *m, cb_joint_tree *T, size_t units, size_t bases) {
  const size_t c = (size_t)m->coordinates;
  T->coordinates = m->coordinates;
  T->unit = cb_arena_alloc(m->arena, units, sizeof *T->unit);
  T->rotation = cb_arena_alloc(m->arena, (size_t)m->joints, sizeof *T->rotation);
  T->base = cb_arena_alloc(m->arena, bases, sizeof *T->base);
  T->inertia = cb_arena_alloc(m->arena, (size_t)m->links, sizeof *T->inertia);
  double **const arrays[] = {&T->q,
                             &T->rate,
                             &T->pi,
                             &T->dpi,
                             &T->own_rate,
                             &T->q_gained,
                             &T->pi_gained,
                             &T->dq,
                             &T->pi_start,
                             &T->work[0],
                             &T->work[1],
                             &T->stage_pi[0],
                             &T->stage_pi[1],
                             &T->stage_pi[2],
                             &T->stage_pi[3],
                             &T->stage_rate[0],
                             &T->stage_rate[1],
                             &T->stage_rate[2],
                             &T->stage_rate[3]};
  bool whole = T->unit && T->rotation && T->base && T->inertia;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    whole = (*arrays[i] = cb_arena_alloc(m->arena, c, sizeof **arrays[i])) && whole;
  return whole ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d joints", m->joints);
}

cb_status cb_mechanism_move_coordinates(cb_mechanism *m, int *which) {
  if (m->tree) return CB_OK;
  size_t units = 0, bases = 0;
  *which = 0;
  if (m->curvature != 0)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "coordinates of joints are moved only in flat space: expected the integrator "
                   "hamilton_pontryagin");
  for (int j = 0; j < m->joints; j++) {
    *which = j;
    const cb_status status = check_joint(m, j);
    if (status) return status;
  }
  for (int i = 0; i < m->links; i++) {
    bases += m->link[i].joint < 0;
    units += m->link[i].joint < 0 ? 1 : (size_t)units_of(&m->joint[m->link[i].joint]);
  }
  cb_joint_tree *T = cb_arena_alloc(m->arena, 1, sizeof *T);
  if (T) T->unit_of = cb_arena_alloc(m->arena, (size_t)m->links, sizeof *T->unit_of);
  if (!T || !T->unit_of) return cb_fail(CB_ERROR_MEMORY, "no memory for %d joints", m->joints);
  const cb_status status = allocate(m, T, units, bases);
  if (status) return status;
  for (int i = 0; i < m->links; i++) add_link(m, T, i);
  T->single = T->n == m->links;
  for (int i = 0; i < T->n; i++) T->drives = T->drives || T->unit[i].driven;
  m->tree = T;
  return CB_OK;
}

/* --- rotations ---
 *
 * Rotation vectors of units, and rates and momenta of their coordinates (symbols: mechanism_tree.h).
 *
 *   R = exp(hat(a)):  a' = V(a) w,  w in the axes of the unit;  the coordinates of the joint are a, or -a (sign)
 * Source: Iserles et al., Acta Numerica 9 (2000) 215, doi:10.1017/S0962492900002154.
 */

void cb_tree_vector_rate(const double a[3], const double rate[3], double V[3][3], double change[3][3]) {
  const double s = cb_dot3(a, a), w = sqrt(s), half = w / 2, cot = s > .05 ? cos(half) / sin(half) : 0,
               c = s > .05 ? (1 - half * cot) / s
                           : 1. / 12 + s * (1. / 720 + s * (1. / 30240 + s * (1. / 1209600 + s / 47900160)));
  memset(V, 0, 9 * sizeof **V);
  for (int i = 0; i < 3; i++) V[i][i] = 1;
  cb_add_hat3(V, .5, a);
  cb_add_hats3(V, c, a, a);
  if (!change) return;
  const double sine = sin(half),
               slope = s > .1 ? (-2 / s + cot / (2 * w) + 1 / (4 * sine * sine)) / (2 * s)
                              : 1. / 720 + s * (1. / 15120 + s * (1. / 403200 + s * (1. / 11975040 + s / 378481920)));
  memset(change, 0, 9 * sizeof **change);
  cb_add_hat3(change, .5, rate);
  cb_add_hats3(change, 2 * slope * cb_dot3(a, rate), a, a);
  cb_add_hats3(change, c, a, rate);
  cb_add_hats3(change, c, rate, a);
}

void cb_tree_rotations(cb_joint_tree *T) {
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    double *q = T->q + u->coordinate, *rate = T->rate + u->coordinate;
    if (u->kind == CB_UNIT_SCREW && u->driven) T->own_rate[u->coordinate] = rate[0];
    if (u->kind != CB_UNIT_ROTATION) continue;
    cb_unit_rotation *o = u->rotation;
    if (u->driven) { /* the law may rotate by more than half a turn */
      for (int k = 0; k < 3; k++) o->vector[k] = o->sign * q[k];
      cb_quaternion_exp(o->vector, o->turned);
    } else {
      double own[4];
      const double flip = o->turned[0] < 0 ? -1 : 1;
      for (int k = 0; k < 4; k++) own[k] = flip * o->turned[k];
      cb_quaternion_log(own, o->vector);
    }
    cb_tree_vector_rate(o->vector, NULL, o->V, NULL);
    if (!u->driven)
      for (int k = 0; k < 3; k++) q[k] = o->sign * o->vector[k];
    else { /* solves V w = rate for w by Cramer's rule */
      double columns[3][3], c[3], right[3];
      for (int k = 0; k < 3; k++) {
        right[k] = o->sign * rate[k];
        for (int j = 0; j < 3; j++) columns[j][k] = o->V[k][j];
      }
      cb_cross3(columns[1], columns[2], c);
      const double det = cb_dot3(columns[0], c);
      for (int k = 0; k < 3; k++) {
        cb_cross3(columns[(k + 1) % 3], columns[(k + 2) % 3], c);
        T->own_rate[u->coordinate + k] = cb_dot3(right, c) / det;
      }
    }
  }
}

void cb_tree_joint_rates(cb_joint_tree *T) {
  for (int i = 0; i < T->n; i++) {
    const cb_unit *u = &T->unit[i];
    const double *own = T->own_rate + u->coordinate;
    double *rate = T->rate + u->coordinate;
    if (u->kind == CB_UNIT_SCREW) rate[0] = own[0];
    for (int k = 0; k < 3 && u->kind == CB_UNIT_ROTATION; k++)
      rate[k] = u->rotation->sign * cb_dot3(u->rotation->V[k], own);
  }
}

/* --- the units in the axes of the world ---
 *
 * The data of units in the world's axes are made here, and the loops over them are chosen (equations:
 * mechanism_tree.h).
 */

/* Finds the columns of S in the axes of the unit. `body` is the pose of the unit in the frame of its screw or rotation.
 */
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

/* Finds column j of o->motion of a screw. The column describes a vector that is fixed in the turning frame, where it
 * has the components x; seen from the parent it depends on the angle of the screw. The columns of C are the axes of the
 * screw in the frame of the parent. */
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

/* Returns whether a spring, a damper or a motor acts. */
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
  /* a vector of four numbers must not cross a cache line */
  T->articulated = (cb_articulated *)(memory + (-(uintptr_t)memory & 63));
  T->kernel = kernel();
  T->forces = has_forces(m);
  for (int i = 0; i < T->n; i++) find_constants(T, i);
  return CB_OK;
}

/* Finds the inertias that are not constant. */
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
