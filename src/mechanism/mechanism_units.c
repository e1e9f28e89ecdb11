/* The units of a tree, made from its joints (mechanism_tree.h).
 *
 *   M(q) = exp(q_1 s_1) .. exp(q_k s_k) R:  a screw s = Ad_E (0, 0, turn; 0, 0, slide) has the frame E, whose third axis
 *   is along it, so exp(q s) = E exp(q (0, 0, turn; 0, 0, slide)) E^-1
 * If the first body of a joint moves and the second one is its parent, the motion is M^-1: the same motions backwards.
 */
#include "mechanism/mechanism_tree.h"

#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

static void pose_of(const cb_joint_frame *f, cb_pose *out) {
  memcpy(out->q, f->q, sizeof out->q);
  memcpy(out->x, f->x, sizeof out->x);
}

/* The number of units of a joint. */
static int units_of(const cb_joint *j) {
  const int n = cb_joint_coordinates(j);
  return n == 0 ? 1 : j->class_->turns ? n - 2 : n;
}

/* E, turn and slide of the screw s. */
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

/* The numbers of one coordinate of a unit. */
static void take_coordinate(const cb_mechanism *m, cb_unit *u, int joint, int coordinate, int count) {
  u->coordinate = m->first[joint] + coordinate;
  u->driven = m->joint[joint].driven[coordinate];
  const double *armature = &m->joint[joint].armature[coordinate];
  if (count == 1)
    u->armature = armature[0];
  else
    memcpy(u->rotation->armature, armature, 3 * sizeof *armature);
}

/* Adds the units of a joint; *F: the frame that is reached, seen from the last unit. */
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

/* Adds the units that lead to a link. */
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

/* --- what coordinates cannot describe --- */

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
    if (u->driven) { /* the law may go beyond half a turn */
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
    else { /* V w = rate, by Cramer's rule */
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
