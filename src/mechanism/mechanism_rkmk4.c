/* A step of a tree of joined bodies by Munthe-Kaas's Runge–Kutta method of order 4, in coordinates of joints.
 *
 *   q' and pi' of all units (mechanism_tree.h)
 *   a root with the displacement u, g = g_k exp(u), and the momentum (l, P) of its tree in the world's axes about x_k:
 *     u' = dexp^-1_{-u} Y,  (l, P)' = (R F_torque + (x - x_k) × R F_force, R F_force)        (integrators/rkmk4.c)
 *   a rotation with R = R_k exp(u):  u' = dexp^-1_{-u} w
 *   driven coordinates: q = law(t), and the momentum pi gives the force of the drive, pi' - (pi' without the drive)
 *   joint b:  the impulse of the joint on b is the change of P_b less the impulse of the wrenches
 * F: wrenches of the whole tree; R: rotation of the root. Works are integrated in the same way. The work of a drive
 * with the force f is the integral of f q' = (pi q')' - pi q'' - pi'_without q', where pi'_without is pi' without the
 * drive. q'' follows from the parabola through q' at the three times of a step. With the weights of the method the
 * result is of order 4. The sweeps over the tree are in mechanism_tree.h. Source: Munthe-Kaas, Appl. Numer. Math. 29
 * (1999) 115, doi:10.1016/S0168-9274(98)00030-0.
 */
#include "mechanism/mechanism_tree.h"

#include "numerics/dd.h"
#include "numerics/lie_private.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* --- the end of a step --- */

static void add_product(cb_dd sum[1], double a, double b, double sign) {
  *sum = cb_dd_add(*sum, cb_dd_mul_d((cb_dd){a, 0}, sign * b));
}

/* Adds `sign` times the momenta of all bodies of a tree except its root to sum. The momenta are about the root. The sum
 * has twice the precision, so that it has no round-off after the momenta are subtracted and added again. */
static void tree_add_others(const cb_tree_step *w, int root, double sign, cb_dd sum[6]) {
  const cb_rigid_state *o = cb_tree_state(w, &w->T->unit[root]);
  for (int i = root + 1; i < w->T->n; i++) {
    const cb_unit *u = &w->T->unit[i];
    if (u->root != root || u->link < 0) continue;
    const cb_rigid_state *s = cb_tree_state(w, u);
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = s->g.x[k] - o->g.x[k] + (s->x_low[k] - o->x_low[k]);
    for (int k = 0; k < 6; k++) sum[k] = cb_dd_add_d(sum[k], sign * s->world[k]);
    for (int k = 0; k < 3; k++) {
      const int a = (k + 1) % 3, c = (k + 2) % 3;
      add_product(&sum[k], d[a], s->world[3 + c], sign);
      add_product(&sum[k], d[c], s->world[3 + a], -sign);
    }
  }
}

/* Returns component k of sign V^-T impulse, the impulse of a drive on a rotation vector. */
static double on_vector(const cb_unit *u, const double impulse[3], int k) {
  double c[3], first[3];
  cb_cross3(u->rotation->V[(k + 1) % 3], u->rotation->V[(k + 2) % 3], c);
  cb_cross3(u->rotation->V[1], u->rotation->V[2], first);
  return u->rotation->sign * cb_dot3(impulse, c) / cb_dot3(u->rotation->V[0], first);
}

/* Finds the impulses of drives and their works. */
static void finish_drives(cb_tree_step *w, const double *weight) {
  cb_joint_tree *T = w->T;
  for (int i = 0; i < T->n && T->drives; i++) {
    const cb_unit *u = &T->unit[i];
    double impulse[3] = {0};
    if (!u->driven) continue;
    const int n = cb_tree_coordinates(u);
    for (int k = 0; k < n; k++) {
      const int c = u->coordinate + k;
      const double end = cb_articulated_momentum(T, i, k), r0 = T->stage_rate[0][c], r1 = T->stage_rate[1][c],
                   r2 = T->stage_rate[3][c];
      /* h times the slopes, at the stages, of the parabola through the rates r0, r1 and r2 */
      const double slope[CB_TREE_STAGES] = {4 * r1 - 3 * r0 - r2, r2 - r0, r2 - r0, r0 - 4 * r1 + 3 * r2};
      T->work[0][c] += end * T->own_rate[c] - T->pi_start[c] * r0;
      for (int s = 0; s < CB_TREE_STAGES; s++) T->work[0][c] -= weight[s] * slope[s] * T->stage_pi[s][c];
      impulse[k] = end - T->pi_start[c] - T->pi_gained[c];
    }
    for (int k = 0; k < n; k++)
      w->m->drive_impulse[u->coordinate + k] = u->kind == CB_UNIT_SCREW ? impulse[0] : on_vector(u, impulse, k);
  }
}

/* Finds the impulse of each joint on the body of its link. It is about the body's origin at the end of the step. It is
 * chosen so that cb_mechanism_wrenches finds the torque about the middle of the path of the joint's place.
 * change[links]: the change of the momentum of each body; it is overwritten. */
static void find_impulses(const cb_tree_step *w, double (*change)[6]) {
  cb_mechanism *m = w->m;
  for (int i = w->T->n - 1; i >= 0; i--) {
    const cb_unit *u = &w->T->unit[i];
    if (u->link < 0 || u->kind == CB_UNIT_ROOT) continue;
    const cb_articulated *a = &w->T->articulated[i];
    const cb_link *l = &m->link[u->link];
    double *J = change[u->link], *out = m->impulse[l->joint], arm[3], lever[3], moment[3], d[3];
    const double *x = cb_tree_state(w, u)->g.x;
    cb_articulated_turn(a, a->hold, arm);
    for (int k = 0; k < 3; k++) {
      J[k] -= a->load.a[k];
      J[3 + k] -= a->load.l[k];
      arm[k] += a->x[k]; /* the position of the joint at the end of the step */
      lever[k] = arm[k] - x[k] - ((arm[k] + u->arm[k]) / 2 - a->start[k]);
    }
    cb_cross3(lever, J + 3, moment);
    for (int k = 0; k < 3; k++) {
      out[k] = J[k] + moment[k];
      out[3 + k] = J[3 + k];
    }
    if (l->parent < 0) continue;
    for (int k = 0; k < 3; k++) d[k] = a->start[k] - w->T->articulated[w->T->unit_of[l->parent]].start[k];
    cb_sweep_to_parent(d, 1, J, change[l->parent]);
  }
}

/* Writes the state of a body. `change` becomes the change of its momentum about its place at the start, in the world's
 * axes. */
static void write_state(const cb_tree_step *w, int unit, double change[6]) {
  const cb_articulated *a = &w->T->articulated[unit];
  cb_rigid_state *s = cb_tree_state(w, &w->T->unit[unit]);
  double mu[6], d[3], moment[3];
  for (int k = 0; k < 6; k++) change[k] = -s->world[k];
  memcpy(s->g.q, a->q, sizeof s->g.q);
  memcpy(s->g.x, a->x, sizeof s->g.x);
  memcpy(s->x_low, a->x_low, sizeof s->x_low);
  memcpy(s->Y, a->V, sizeof s->Y);
  if (a->diagonal)
    for (int k = 0; k < 6; k++) mu[k] = a->K[k][k] * a->V[k] + a->rest[k];
  else {
    cb_apply6(a->K, a->V, mu);
    cb_add6(1, a->rest, mu);
  }
  for (int k = 0; k < 6; k++) s->momentum[k] = s->mu[k] = mu[k];
  cb_articulated_turn(a, mu, s->world);
  cb_articulated_turn(a, mu + 3, s->world + 3);
  memset(s->world_low, 0, sizeof s->world_low);
  s->t = w->t + w->h;
  s->known = 0;
  cb_add6(1, s->world, change);
  for (int k = 0; k < 3; k++) d[k] = s->g.x[k] - a->start[k];
  cb_cross3(d, s->world + 3, moment);
  for (int k = 0; k < 3; k++) change[k] += moment[k];
}

/* Writes the state of a root. Its momentum is the momentum of the tree minus the momenta of the other bodies. */
static void write_root(const cb_tree_step *w, int root) {
  cb_unit *u = &w->T->unit[root];
  cb_rigid_state *s = cb_tree_state(w, u);
  cb_dd sum[6];
  double r[3][3];
  cb_rigid_move(&u->base->total, u->base->dx, w->T->articulated[root].q, u->base->gained);
  memcpy(s->g.x, u->base->total.g.x, sizeof s->g.x);
  memcpy(s->x_low, u->base->total.x_low, sizeof s->x_low);
  for (int k = 0; k < 6; k++) sum[k] = (cb_dd){u->base->total.world[k], u->base->total.world_low[k]};
  tree_add_others(w, root, -1, sum);
  for (int k = 0; k < 6; k++) {
    s->world[k] = sum[k].hi;
    s->world_low[k] = sum[k].lo;
  }
  cb_pose_rotation(&s->g, r);
  cb_turn6_transposed((const double(*)[3])r, s->world, s->momentum);
  memcpy(s->mu, s->momentum, sizeof s->mu);
}

/* Writes the states of bodies and joints at the end of a step, adds the works of the step, and finds the impulses of
 * the joints. weight[CB_TREE_STAGES] are the weights of the stages. */
static void tree_arrive(cb_tree_step *w, const double *weight) {
  cb_mechanism *m = w->m;
  cb_joint_tree *T = w->T;
  const size_t size = (size_t)m->coordinates * sizeof(double);
  cb_tree_joint_rates(T);
  finish_drives(w, weight);
  for (int i = 0; i < T->n; i++)
    if (T->unit[i].link >= 0) {
      write_state(w, i, m->need[T->unit[i].link]);
      m->wrench_work[m->link[T->unit[i].link].body] += T->articulated[i].wrench_work;
    }
  find_impulses(w, m->need);
  for (int i = 0; i < T->n; i++)
    if (T->unit[i].kind == CB_UNIT_ROOT) write_root(w, i);
  memcpy(m->q, T->q, size);
  memcpy(m->rate, T->rate, size);
  for (int c = 0; c < m->coordinates; c++) {
    m->work[CB_JOINT_WORK_MOTOR][c] += T->work[0][c];
    m->work[CB_JOINT_WORK_DAMPING][c] += T->work[1][c];
  }
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++)
      m->momentum[m->first[j] + i] = m->joint[j].armature[i] * m->rate[m->first[j] + i];
  m->found = false;
}

static const double at[CB_TREE_STAGES] = {0, 0.5, 0.5, 1},
                    weight[CB_TREE_STAGES] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};

/* --- the start of a step --- */

static void begin_root(const cb_tree_step *w, int root) {
  cb_unit *u = &w->T->unit[root];
  const cb_rigid_state *s = cb_tree_state(w, u);
  cb_dd sum[6];
  for (int i = 0; i < 6; i++) sum[i] = (cb_dd){s->world[i], s->world_low[i]};
  tree_add_others(w, root, 1, sum);
  u->base->total = *s;
  for (int i = 0; i < 6; i++) {
    u->base->total.world[i] = sum[i].hi;
    u->base->total.world_low[i] = sum[i].lo;
    u->base->displaced[i] = u->base->gained[i] = u->base->du[i] = u->base->dl[i] = 0;
  }
  cb_pose_rotation(&s->g, u->base->rotation);
}

/* Places a root after the displacement z (NULL: none), and finds the momentum of its tree about it. */
static void place_root(const cb_unit *u, cb_articulated *a, const double z[6], const double gained[6]) {
  const cb_rigid_state *s = &u->base->total;
  double world[6], across[3];
  memcpy(a->q, s->g.q, sizeof a->q);
  memset(u->base->dx, 0, sizeof u->base->dx);
  if (z) {
    cb_pose move;
    cb_se3_tau(CB_SE3_EXPONENTIAL, z, &move);
    cb_quaternion_multiply(s->g.q, move.q, a->q);
    cb_tree_tidy(a->q);
    cb_apply3((const double(*)[3])u->base->rotation, move.x, u->base->dx);
  }
  for (int i = 0; i < 3; i++) {
    a->x[i] = s->g.x[i];
    a->x_low[i] = s->x_low[i];
    cb_compensated_add_one(&a->x[i], &a->x_low[i], u->base->dx[i]);
  }
  cb_articulated_rotate(a->q, a->R);
  for (int i = 0; i < 6; i++) world[i] = s->world[i] + (s->world_low[i] + gained[i]);
  cb_cross3(u->base->dx, world + 3, across);
  for (int i = 0; i < 3; i++) world[i] -= across[i];
  cb_six_set(world, &a->P);
}

/* Finds the momenta of all units at the start, and those of their coordinates. */
static void begin_momenta(const cb_tree_step *w) {
  cb_joint_tree *T = w->T;
  for (int i = 0; i < T->n; i++) {
    cb_articulated *a = &T->articulated[i];
    if (a->problem)
      cb_six_set(cb_tree_state(w, &T->unit[i])->world, &a->P);
    else
      a->P = (cb_six){{0}, {0}};
  }
  T->kernel->gather_momenta(T);
  for (int i = 0; i < T->n; i++) {
    const cb_unit *u = &T->unit[i];
    const cb_articulated *a = &T->articulated[i];
    const double *own = w->m->momentum + u->coordinate;
    double *pi = T->pi + u->coordinate;
    for (int k = 0; k < cb_tree_coordinates(u); k++) pi[k] = cb_six_dot(&a->S[k], &a->P);
    if (u->kind == CB_UNIT_SCREW) pi[0] += own[0];
    for (int k = 0; k < 3 && u->kind == CB_UNIT_ROTATION; k++)
      pi[k] += u->rotation->sign *
               (u->rotation->V[0][k] * own[0] + u->rotation->V[1][k] * own[1] + u->rotation->V[2][k] * own[2]);
  }
}

/* Returns whether the twists of all states belong to their momenta (curvebody/rigid.h). */
static bool know_twists(const cb_tree_step *w) {
  bool all = w->T->single;
  for (int i = 0; i < w->T->n && all; i++) all = cb_tree_state(w, &w->T->unit[i])->known == 0;
  return all;
}

static void ask_laws(const cb_tree_step *w, double t) {
  if (w->T->drives) w->m->laws.drives(w->m->laws.self, t, w->T->q, w->T->rate);
}

/* Sets the data of a unit for a step: the problem of its body, and the sums, which are 0 at first. */
static void begin_unit(const cb_tree_step *w, int unit) {
  cb_joint_tree *T = w->T;
  cb_unit *u = &T->unit[unit];
  cb_articulated *a = &T->articulated[unit];
  double vector[3];
  a->F = a->load = (cb_six){{0}, {0}};
  a->wrench_work = 0;
  if (u->link >= 0) {
    const cb_rigid_problem *p = a->problem = cb_tree_problem(w, u);
    a->K = p->constant ? p->constant->K : (const double(*)[6])u->inertia->K;
    a->rest = p->constant ? p->constant->mu0 : u->inertia->rest;
    a->diagonal = p->constant && p->constant->diagonal;
    memcpy(a->start, cb_tree_state(w, u)->g.x, 3 * sizeof *a->start);
    T->places = T->places || p->wrench || p->inertia_wrench;
    T->varies = T->varies || !p->constant;
  }
  if (u->kind == CB_UNIT_ROOT) {
    begin_root(w, unit);
    place_root(u, a, NULL, u->base->gained);
  }
  if (u->kind != CB_UNIT_ROTATION) return;
  cb_unit_rotation *o = u->rotation;
  for (int k = 0; k < 3; k++) vector[k] = o->sign * T->q[u->coordinate + k];
  cb_quaternion_exp(vector, o->node);
  memcpy(o->turned, o->node, sizeof o->turned);
}

/* Returns whether the places at the end of the last step are those of the present state, to the last bit. */
static bool are_placed(const cb_tree_step *w) {
  const cb_joint_tree *T = w->T;
  bool same = T->placed && !T->rotations && !T->drives && !memcmp(T->q, w->m->q, (size_t)T->coordinates * sizeof *T->q);
  for (int i = 0; i < T->n && T->bases && same; i++) {
    const cb_articulated *a = &T->articulated[i];
    if (!a->root) continue;
    const cb_rigid_state *s = cb_tree_state(w, &T->unit[i]);
    same = !memcmp(a->q, s->g.q, sizeof s->g.q) && !memcmp(a->x, s->g.x, sizeof s->g.x) &&
           !memcmp(a->x_low, s->x_low, sizeof s->x_low);
  }
  return same;
}

/* Places all units at the start of a step, and finds their momenta. If the twists of the states are known, finds the
 * twists of the units, too, and returns true; otherwise returns false. */
static bool begin(cb_tree_step *w) {
  cb_joint_tree *T = w->T;
  const size_t size = (size_t)T->coordinates * sizeof(double);
  const bool placed = are_placed(w);
  T->placed = false;
  memcpy(T->q, w->m->q, size);
  double *const zero[] = {T->q_gained, T->pi_gained, T->work[0], T->work[1]};
  for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) memset(zero[i], 0, size);
  if (!T->forces) memset(w->m->force, 0, (size_t)T->coordinates * sizeof *w->m->force);
  ask_laws(w, w->t);
  T->places = T->varies = false;
  for (int i = 0; i < T->n; i++) begin_unit(w, i);
  if (T->rotations || T->drives) cb_tree_rotations(T);
  if (!placed) T->kernel->place(T, true);
  for (int i = 0; i < T->n; i++) {
    const cb_articulated *a = &T->articulated[i];
    if (!a->problem) continue;
    cb_articulated_turn(a, a->hold, T->unit[i].arm);
    for (int k = 0; k < 3; k++) T->unit[i].arm[k] += a->x[k];
  }
  begin_momenta(w);
  memcpy(T->pi_start, T->pi, size);
  if (!know_twists(w)) return false;
  for (int i = 0; i < T->n; i++) {
    cb_articulated *a = &T->articulated[i];
    const double *Y = cb_tree_state(w, &T->unit[i])->Y;
    memcpy(a->V, Y, 6 * sizeof *Y);
    cb_articulated_turn(a, Y, a->Y.a);
    cb_articulated_turn(a, Y + 3, a->Y.l);
  }
  T->kernel->find_rates(T);
  return true;
}

/* --- rates --- */

/* Finds the wrenches of all bodies, and sums them from the tips of the tree to its roots. The impulses of joints and
 * the work count these wrenches as acting for the time `part`. */
static cb_status find_wrenches(cb_tree_step *w, double t, double part) {
  cb_joint_tree *T = w->T;
  for (int i = 0; i < T->n; i++) {
    cb_articulated *a = &T->articulated[i];
    const cb_rigid_problem *p = a->problem;
    if (!p) continue;
    const cb_pose g = {.q = {a->q[0], a->q[1], a->q[2], a->q[3]}, .x = {a->x[0], a->x[1], a->x[2]}};
    const cb_status status = cb_rigid_wrenches(p, t, &g, a->V, a->wrench, NULL);
    if (status) {
      w->failed = w->m->link[T->unit[i].link].body;
      return status;
    }
  }
  T->kernel->gather_wrenches(T, part);
  return CB_OK;
}

/* Adds the forces on a unit's coordinates and the terms of its armatures to pi', without the force of its drive. For a
 * screw it also sets dq. */
static void add_forces(const cb_tree_step *w, const cb_unit *u) {
  cb_joint_tree *T = w->T;
  const cb_joint_force *Q = w->m->force + u->coordinate;
  double *dpi = T->dpi + u->coordinate;
  if (u->kind == CB_UNIT_SCREW) {
    dpi[0] += Q->Q;
    T->dq[u->coordinate] = T->own_rate[u->coordinate];
    return;
  }
  const cb_unit_rotation *o = u->rotation;
  double V[3][3], change[3][3], rate[3];
  for (int k = 0; k < 3; k++) rate[k] = o->sign * T->rate[u->coordinate + k];
  cb_tree_vector_rate(o->vector, rate, V, change);
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 3; j++) dpi[k] += o->sign * o->V[j][k] * Q[j].Q + change[j][k] * o->armature[j] * rate[j];
}

/* Finds the rates of coordinates and momenta at the present places. with_twists: the twists are known. */
static cb_status find_rates(cb_tree_step *w, double t, double part, bool with_twists) {
  cb_joint_tree *T = w->T;
  cb_status status = CB_OK;
  if (!with_twists) status = cb_articulated_twists(T, w->m, t, true, &w->failed);
  if (status) return status;
  cb_tree_joint_rates(T);
  if (T->forces) cb_mechanism_forces(w->m, t, T->q, T->rate);
  if (T->places) status = find_wrenches(w, t, part);
  if (status) return status;
  T->kernel->find_changes(T);
  for (int i = 0; i < T->n; i++) {
    const cb_unit *u = &T->unit[i];
    const cb_six *F = &T->articulated[i].F;
    if (cb_tree_coordinates(u)) add_forces(w, u);
    if (u->kind != CB_UNIT_ROOT) continue;
    double across[3];
    cb_cross3(u->base->dx, F->l, across);
    for (int k = 0; k < 3; k++) {
      u->base->dl[k] = F->a[k] + across[k];
      u->base->dl[3 + k] = F->l[k];
    }
  }
  return CB_OK;
}

/* --- a stage --- */

static cb_status check_turn(const cb_tree_step *w, double angle) { return cb_rigid_half_turn(w->h, w->t, fabs(angle)); }

/* Sets all places and momenta. If `end` is set, they become those at the end of the step. Otherwise they become those
 * at the start plus c times the last rates, where c is a time. */
static cb_status advance(cb_tree_step *w, double c, bool end) {
  cb_joint_tree *T = w->T;
  cb_status status = CB_OK;
  for (int i = 0; i < T->n && !status; i++) {
    cb_unit *u = &T->unit[i];
    const int n = cb_tree_coordinates(u), first = u->coordinate;
    double z[6], gained[6], turn[4];
    if (u->kind == CB_UNIT_ROOT) {
      for (int k = 0; k < 6; k++) {
        z[k] = end ? u->base->displaced[k] : c * u->base->du[k];
        gained[k] = end ? u->base->gained[k] : c * u->base->dl[k];
      }
      status = check_turn(w, sqrt(cb_dot3(z, z)));
      place_root(u, &T->articulated[i], z, gained);
      memcpy(u->base->trial, z, sizeof z);
      continue;
    }
    for (int k = 0; k < n; k++) {
      z[k] = end ? T->q_gained[first + k] : c * T->dq[first + k];
      T->pi[first + k] = T->pi_start[first + k] + (end ? T->pi_gained[first + k] : c * T->dpi[first + k]);
    }
    if (u->kind == CB_UNIT_SCREW) {
      T->q[first] = w->m->q[first] + z[0];
      status = check_turn(w, u->turn * z[0]);
    } else if (u->kind == CB_UNIT_ROTATION) {
      cb_quaternion_exp(z, turn);
      cb_quaternion_multiply(u->rotation->node, turn, u->rotation->turned);
      memcpy(u->rotation->trial, z, 3 * sizeof *z);
      status = check_turn(w, sqrt(cb_dot3(z, z)));
    }
  }
  if (status) return status;
  const double t = end ? w->t + w->h : w->t + c;
  ask_laws(w, t);
  if (T->rotations || T->drives) cb_tree_rotations(T);
  T->kernel->place(T, end);
  return CB_OK;
}

/* Finds du of roots and dq of rotations at the present stage. If `any` is not set, their displacements are 0. */
static void find_displacements(cb_joint_tree *T, bool any) {
  for (int i = 0; i < T->n && T->bases + T->rotations; i++) {
    cb_unit *u = &T->unit[i];
    double back[6], V[3][3];
    if (u->kind == CB_UNIT_ROOT) {
      const double *Y = T->articulated[i].V;
      for (int k = 0; k < 6; k++) back[k] = -u->base->trial[k];
      if (any)
        cb_se3_dexp_inverse(back, Y, u->base->du);
      else
        memcpy(u->base->du, Y, sizeof u->base->du);
    } else if (u->kind == CB_UNIT_ROTATION) {
      const double zero[3] = {0}, *own = T->own_rate + u->coordinate;
      cb_tree_vector_rate(any ? u->rotation->trial : zero, NULL, V, NULL);
      cb_apply3((const double(*)[3])V, own, T->dq + u->coordinate);
    }
  }
}

/* Adds the rates of a stage times `part` to the sums. `part` is h times the weight of the stage. */
static void add_stage(cb_tree_step *w, int stage, double part) {
  cb_joint_tree *T = w->T;
  cb_mechanism *m = w->m;
  for (int i = 0; i < T->n && T->bases; i++) {
    cb_unit *u = &T->unit[i];
    if (u->kind != CB_UNIT_ROOT) continue;
    cb_add6(part, u->base->du, u->base->displaced);
    cb_add6(part, u->base->dl, u->base->gained);
  }
  for (int c = 0; c < T->coordinates; c++) {
    T->q_gained[c] += part * T->dq[c];
    T->pi_gained[c] += part * T->dpi[c];
  }
  for (int j = 0; j < m->joints && T->forces; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      const int c = m->first[j] + i;
      const double damping = -m->joint[j].damping[i] * T->rate[c],
                   spring = -m->joint[j].stiffness[i] * (T->q[c] - m->joint[j].rest[i]);
      T->work[1][c] += part * damping * T->rate[c];
      T->work[0][c] += part * (m->force[c].Q - damping - spring) * T->rate[c];
    }
  for (int i = 0; i < T->n && T->drives; i++) {
    const cb_unit *u = &T->unit[i];
    for (int k = 0; k < cb_tree_coordinates(u) && u->driven; k++) {
      const int c = u->coordinate + k;
      T->stage_pi[stage][c] = cb_articulated_momentum(T, i, k);
      T->stage_rate[stage][c] = T->own_rate[c];
      T->work[0][c] -= part * T->dpi[c] * T->own_rate[c];
    }
  }
}

static cb_status check_finite(cb_tree_step *w) {
  for (int i = 0; i < w->T->n; i++) {
    const cb_unit *u = &w->T->unit[i];
    const cb_articulated *a = &w->T->articulated[i];
    double zero = 0; /* stays 0 if all numbers are finite, otherwise nan */
    for (int k = 0; k < 3; k++) zero += (a->Y.a[k] - a->Y.a[k]) + (a->Y.l[k] - a->Y.l[k]) + (a->x[k] - a->x[k]);
    if (zero == 0) continue;
    w->failed = u->link >= 0 ? w->m->link[u->link].body : -1;
    return cb_fail(CB_STEP_NOT_FINITE, "the result of a step of %g at t = %g is not finite: use a smaller `step`", w->h,
                   w->t);
  }
  return CB_OK;
}

cb_status cb_mechanism_step_rkmk4(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double h, int *failed) {
  int which;
  cb_status status = cb_mechanism_move_coordinates(m, &which);
  if (!status && !m->tree->articulated) status = cb_articulated_create(m);
  if (!status && (!isfinite(h) || h == 0))
    status = cb_fail(CB_ERROR_ARGUMENT, "expected a step that is not 0 and is finite, found %g", h);
  *failed = -1;
  if (status) return status;
  cb_tree_step w = {.m = m, .T = m->tree, .b = b, .t = t, .h = h, .failed = -1};
  bool known = begin(&w);
  for (int stage = 0; stage < CB_TREE_STAGES && !status; stage++) {
    const double part = h * weight[stage];
    if (stage > 0) status = advance(&w, h * at[stage], false);
    if (!status) status = find_rates(&w, t + h * at[stage], part, stage == 0 && known);
    if (status) break;
    find_displacements(w.T, stage > 0);
    add_stage(&w, stage, part);
  }
  if (!status) status = advance(&w, h, true);
  if (!status) status = cb_articulated_twists(w.T, m, t + h, w.T->drives, &w.failed);
  if (!status) status = check_finite(&w);
  *failed = w.failed;
  if (status) return status;
  tree_arrive(&w, weight);
  w.T->placed = true;
  *failed = -1;
  return CB_OK;
}
