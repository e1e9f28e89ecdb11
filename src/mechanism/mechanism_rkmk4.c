/* A step of a tree of joined bodies by Munthe-Kaas's Runge–Kutta method of order 4, in coordinates of joints.
 *
 *   q' and pi' of all units (mechanism_tree.h); of a root with the displacement u, g = g_k exp(u), and the momentum (l, P)
 *   of its tree in the world's axes about x_k:  u' = dexp^-1_{-u} Y,  (l, P)' = (R F_torque + (x - x_k) × R F_force,
 *   R F_force)  (integrators/rkmk4.c); of a rotation with R = R_k exp(u):  u' = dexp^-1_{-u} w
 *   driven coordinates: q = law(t), and the momentum pi gives the force of the drive, pi' - (what acts without it)
 *   joint b:  the impulse of the joint on b is the change of P_b less the impulse of the wrenches
 * F: wrenches of the whole tree; R: rotation of the root. Works are integrated along. That of a drive with the force f is
 * the integral of f q' = (pi q')' - pi q'' - pi'_without q', with q'' from the parabola through q' at the three times of
 * a step; in the weights of the method this is of order 4.
 * Source: Munthe-Kaas, Appl. Numer. Math. 29 (1999) 115, doi:10.1016/S0168-9274(98)00030-0.
 */
#include "mechanism/mechanism_tree.h"
#include "numerics/dd.h"
#include "numerics/lie_private.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { STAGES = 4 };
static const double at[STAGES] = {0, 0.5, 0.5, 1}, weight[STAGES] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};

/* A step: what all its functions need. */
typedef struct work {
  cb_mechanism *m;
  cb_tree *T;
  const cb_mechanism_bodies *b;
  double t, h;
  int failed;
} work;

static bool has_coordinates(const cb_unit *u) { return u->kind == CB_UNIT_SCREW || u->kind == CB_UNIT_ROTATION; }
static const cb_rigid_problem *problem_of(const work *w, const cb_unit *u) {
  return w->b->problem(w->b->self, w->m->link[u->link].body);
}
static cb_rigid_state *state_of(const work *w, const cb_unit *u) { return &w->b->state[w->m->link[u->link].body]; }

/* --- rotation vectors --- */

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

/* The vectors of all rotations, their coordinates, and w of driven ones. */
static void find_rotations(cb_tree *T) {
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    double *q = T->q + u->coordinate, *rate = T->rate + u->coordinate;
    if (u->kind == CB_UNIT_SCREW && u->driven) T->own_rate[u->coordinate] = rate[0];
    if (u->kind != CB_UNIT_ROTATION) continue;
    if (u->driven) {
      double given[3];
      for (int k = 0; k < 3; k++) given[k] = u->rotation->sign * q[k];
      cb_quaternion_exp(given, u->rotation->turned);
    }
    double own[4];
    const double flip = u->rotation->turned[0] < 0 ? -1 : 1;
    for (int k = 0; k < 4; k++) own[k] = flip * u->rotation->turned[k];
    cb_quaternion_log(own, u->rotation->vector);
    cb_tree_vector_rate(u->rotation->vector, NULL, u->rotation->V, NULL);
    if (!u->driven)
      for (int k = 0; k < 3; k++) q[k] = u->rotation->sign * u->rotation->vector[k];
    else { /* w = V^-1 rate, V^-1 = V^T + hat-free part: by Cramer's rule */
      double columns[3][3], c[3], right[3];
      for (int k = 0; k < 3; k++) {
        right[k] = u->rotation->sign * rate[k];
        for (int j = 0; j < 3; j++) columns[j][k] = u->rotation->V[k][j];
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

/* --- the start of a step --- */

static void add_product(cb_dd sum[1], double a, double b, double sign) {
  *sum = cb_dd_add(*sum, cb_dd_mul_d((cb_dd){a, 0}, sign * b));
}

/* Adds sign times the momenta of all bodies of a tree but its root, about the root, in twice the precision, so that what
 * is taken out of a sum and added again leaves no round-off. */
static void add_others(const work *w, int root, double sign, cb_dd sum[6]) {
  const cb_rigid_state *o = state_of(w, &w->T->unit[root]);
  for (int i = root + 1; i < w->T->n; i++) {
    const cb_unit *u = &w->T->unit[i];
    if (u->root != root || u->link < 0) continue;
    const cb_rigid_state *s = state_of(w, u);
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

static void begin_root(const work *w, int root) {
  cb_unit *u = &w->T->unit[root];
  const cb_rigid_state *s = state_of(w, u);
  cb_dd sum[6];
  for (int i = 0; i < 6; i++) sum[i] = (cb_dd){s->world[i], s->world_low[i]};
  add_others(w, root, 1, sum);
  u->base->total = *s;
  for (int i = 0; i < 6; i++) {
    u->base->total.world[i] = sum[i].hi;
    u->base->total.world_low[i] = sum[i].lo;
    u->base->displaced[i] = u->base->gained[i] = u->base->du[i] = u->base->dl[i] = 0;
  }
  cb_pose_rotation(&s->g, u->base->rotation);
}

/* Places a root after the displacement z (NULL: none), and finds the momentum of its tree in its axes. */
static void place_root(cb_unit *u, const double z[6], const double gained[6]) {
  const cb_rigid_state *s = &u->base->total;
  double world[6], across[3];
  u->g = s->g;
  memset(u->base->dx, 0, sizeof u->base->dx);
  if (z) {
    cb_pose move;
    cb_se3_tau(CB_SE3_EXPONENTIAL, z, &move);
    cb_quaternion_multiply(s->g.q, move.q, u->g.q);
    cb_apply3((const double(*)[3])u->base->rotation, move.x, u->base->dx);
  }
  for (int i = 0; i < 3; i++) {
    u->x_low[i] = s->x_low[i];
    cb_compensated_add_one(&u->g.x[i], &u->x_low[i], u->base->dx[i]);
  }
  cb_pose_rotation(&u->g, u->world);
  for (int i = 0; i < 6; i++) world[i] = s->world[i] + (s->world_low[i] + gained[i]);
  cb_cross3(u->base->dx, world + 3, across);
  for (int i = 0; i < 3; i++) world[i] -= across[i];
  cb_turn6_transposed((const double(*)[3])u->world, world, u->P);
}

/* The momenta of all units at the start, and those of their coordinates. */
static void begin_momenta(const work *w) {
  cb_tree *T = w->T;
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    memset(u->P, 0, sizeof u->P);
    if (u->link >= 0) cb_tree_covector_to_unit(u, state_of(w, u)->momentum, u->P);
  }
  cb_tree_gather(T, offsetof(cb_unit, P));
  for (int i = 0; i < T->n; i++) {
    const cb_unit *u = &T->unit[i];
    const double *own = w->m->momentum + u->coordinate;
    double *pi = T->pi + u->coordinate;
    if (u->kind == CB_UNIT_SCREW) pi[0] = u->turn * u->P[2] + u->slide * u->P[5] + own[0];
    for (int k = 0; k < 3 && u->kind == CB_UNIT_ROTATION; k++)
      pi[k] = u->P[k] + u->rotation->sign * (u->rotation->V[0][k] * own[0] + u->rotation->V[1][k] * own[1] +
                                             u->rotation->V[2][k] * own[2]);
  }
}

/* Whether the twists of all states belong to their momenta (curvebody/rigid.h). */
static bool know_twists(const work *w) {
  bool all = w->T->single;
  for (int i = 0; i < w->T->n && all; i++) all = state_of(w, &w->T->unit[i])->known == 0;
  return all;
}

static void ask_laws(const work *w, double t) {
  if (w->T->drives) w->m->laws.drives(w->m->laws.self, t, w->T->q, w->T->rate);
}

/* Places everything at the start, with the twists, and returns whether these are known. */
static bool begin(work *w) {
  cb_tree *T = w->T;
  const size_t size = (size_t)T->coordinates * sizeof(double);
  memcpy(T->q, w->m->q, size);
  double *const zero[] = {T->q_gained, T->pi_gained, T->dq, T->dpi, T->work[0], T->work[1], T->pushed};
  for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) memset(zero[i], 0, size);
  ask_laws(w, w->t);
  T->places = false;
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    double vector[3];
    if (u->link >= 0) {
      const cb_rigid_problem *p = problem_of(w, u);
      T->places = T->places || p->wrench || p->inertia_wrench || !p->constant;
    }
    if (u->kind == CB_UNIT_ROOT) begin_root(w, i);
    if (u->kind == CB_UNIT_ROOT) place_root(u, NULL, u->base->gained);
    if (u->kind == CB_UNIT_ROTATION) {
      cb_unit_rotation *o = u->rotation;
      for (int k = 0; k < 3; k++) vector[k] = o->sign * T->q[u->coordinate + k];
      cb_quaternion_exp(vector, o->node);
      memcpy(o->turned, o->node, sizeof o->turned);
    }
    memset(u->loads, 0, sizeof u->loads);
  }
  find_rotations(T);
  cb_tree_place(T, CB_PLACE_STAGE);
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    if (u->link < 0) continue;
    memcpy(u->start, state_of(w, u)->g.x, sizeof u->start);
    cb_apply3((const double(*)[3])u->world, u->hold, u->arm);
    for (int k = 0; k < 3; k++) u->arm[k] += u->g.x[k];
  }
  begin_momenta(w);
  memcpy(T->pi_start, T->pi, size);
  if (!know_twists(w)) return false;
  for (int i = 0; i < T->n; i++) cb_tree_twist_to_unit(&T->unit[i], state_of(w, &T->unit[i])->Y, T->unit[i].Y);
  cb_tree_rates(T);
  return true;
}

/* --- rates --- */

/* Adds the impulse of the unit's wrench, about the place of the body at the start. */
static void load(cb_unit *u, double part) {
  double world[6], moment[3], d[3];
  for (int k = 0; k < 3; k++) d[k] = u->g.x[k] - u->start[k];
  cb_turn6((const double(*)[3])u->world, u->F, world);
  cb_cross3(d, world + 3, moment);
  for (int k = 0; k < 3; k++) {
    u->loads[k] += part * (world[k] + moment[k]);
    u->loads[3 + k] += part * world[3 + k];
  }
}

/* The wrenches of all bodies, summed from the tips; `part`: of the step, for the impulses of joints. */
static cb_status find_wrenches(work *w, double t, double part) {
  cb_tree *T = w->T;
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    cb_pose g;
    double Y[6], F[6], d[3];
    memset(u->F, 0, sizeof u->F);
    if (u->link < 0) continue;
    const cb_rigid_problem *p = problem_of(w, u);
    if (!p->wrench && !p->inertia_wrench) continue;
    cb_quaternion_multiply(u->g.q, u->body.q, g.q);
    cb_apply3((const double(*)[3])u->world, u->body.x, d);
    for (int k = 0; k < 3; k++) g.x[k] = u->g.x[k] + d[k];
    cb_tree_twist_to_body(u, u->Y, Y);
    const cb_status status = cb_rigid_wrenches(p, t, &g, Y, F, NULL);
    if (status) {
      w->failed = w->m->link[u->link].body;
      return status;
    }
    cb_tree_covector_to_unit(u, F, u->F);
    if (u->kind != CB_UNIT_ROOT) load(u, part);
  }
  cb_tree_gather(T, offsetof(cb_unit, F));
  return CB_OK;
}

/* The rates of the coordinates of joints. */
static void find_joint_rates(cb_tree *T) {
  for (int i = 0; i < T->n; i++) {
    const cb_unit *u = &T->unit[i];
    const double *own = T->own_rate + u->coordinate;
    double *rate = T->rate + u->coordinate;
    if (u->kind == CB_UNIT_SCREW) rate[0] = own[0];
    for (int k = 0; k < 3 && u->kind == CB_UNIT_ROTATION; k++)
      rate[k] = u->rotation->sign * cb_dot3(u->rotation->V[k], own);
  }
}

/* pi' of a unit without its drive, and the rates of its coordinates. */
static void find_changes(const work *w, const cb_unit *u) {
  cb_tree *T = w->T;
  const double *Y = u->Y, *P = u->P, *own = T->own_rate + u->coordinate;
  const cb_joint_force *Q = w->m->force + u->coordinate;
  double *dpi = T->dpi + u->coordinate, *dq = T->dq + u->coordinate;
  if (u->kind == CB_UNIT_SCREW) {
    dpi[0] = u->turn * (P[0] * Y[1] - P[1] * Y[0] + P[3] * Y[4] - P[4] * Y[3]) +
             u->slide * (P[3] * Y[1] - P[4] * Y[0]) + u->turn * u->F[2] + u->slide * u->F[5] + Q->Q;
    dq[0] = own[0];
    return;
  }
  const cb_unit_rotation *o = u->rotation;
  double angular[3], linear[3], V[3][3], change[3][3], rate[3];
  cb_cross3(P, Y, angular);
  cb_cross3(P + 3, Y + 3, linear);
  for (int k = 0; k < 3; k++) rate[k] = o->sign * T->rate[u->coordinate + k];
  cb_tree_vector_rate(o->vector, rate, V, change);
  for (int k = 0; k < 3; k++) {
    dpi[k] = angular[k] + linear[k] + u->F[k];
    for (int j = 0; j < 3; j++) dpi[k] += o->sign * o->V[j][k] * Q[j].Q + change[j][k] * o->armature[j] * rate[j];
  }
}

/* Rates of everything at the present places; with_twists: the twists are known. */
static cb_status find_rates(work *w, double t, double part, bool with_twists) {
  cb_tree *T = w->T;
  cb_status status = CB_OK;
  if (!with_twists) {
    status = cb_tree_inertias(T, w->m, w->b, t, &w->failed);
    if (!status) status = cb_tree_twists(T, w->m, t, &w->failed);
  }
  if (status) return status;
  find_joint_rates(T);
  cb_mechanism_forces(w->m, t, T->q, T->rate);
  if (T->places) status = find_wrenches(w, t, part);
  if (status) return status;
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    if (has_coordinates(u)) find_changes(w, u);
    if (u->kind != CB_UNIT_ROOT) continue;
    double across[3];
    cb_turn6((const double(*)[3])u->world, u->F, u->base->dl);
    cb_cross3(u->base->dx, u->base->dl + 3, across);
    for (int k = 0; k < 3; k++) u->base->dl[k] += across[k];
  }
  return CB_OK;
}

/* --- a stage --- */

static cb_status check_turn(const work *w, double angle) { return cb_rigid_half_turn(w->h, w->t, fabs(angle)); }

/* Sets all places and momenta to those of the start and c h times the last rates, or (end) to those after the step. */
static cb_status advance(work *w, double c, bool end) {
  cb_tree *T = w->T;
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
      place_root(u, z, gained);
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
  find_rotations(T);
  cb_tree_place(T, end ? CB_PLACE_NODE : T->places ? CB_PLACE_STAGE : CB_PLACE_APART);
  return CB_OK;
}

/* du of roots and rotations at the present stage. */
static void find_displacements(cb_tree *T, bool any) {
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    double back[6], V[3][3];
    if (u->kind == CB_UNIT_ROOT) {
      for (int k = 0; k < 6; k++) back[k] = -u->base->trial[k];
      if (any)
        cb_se3_dexp_inverse(back, u->Y, u->base->du);
      else
        memcpy(u->base->du, u->Y, sizeof u->base->du);
    } else if (u->kind == CB_UNIT_ROTATION) {
      const double zero[3] = {0}, *own = T->own_rate + u->coordinate;
      cb_tree_vector_rate(any ? u->rotation->trial : zero, NULL, V, NULL);
      cb_apply3((const double(*)[3])V, own, T->dq + u->coordinate);
    }
  }
}

/* pi of a component of a unit's coordinates, for its momentum P. */
static double momentum_of(const cb_tree *T, const cb_unit *u, int k) {
  const double *rate = T->rate + u->coordinate;
  if (u->kind == CB_UNIT_SCREW) return u->turn * u->P[2] + u->slide * u->P[5] + u->armature * rate[0];
  double sum = u->P[k];
  for (int j = 0; j < 3; j++) sum += u->rotation->sign * u->rotation->V[j][k] * u->rotation->armature[j] * rate[j];
  return sum;
}

/* Adds a stage, with its part of the step, to the sums. */
static void add_stage(work *w, int stage, double part) {
  cb_tree *T = w->T;
  cb_mechanism *m = w->m;
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    if (u->kind != CB_UNIT_ROOT) continue;
    cb_add6(part, u->base->du, u->base->displaced);
    cb_add6(part, u->base->dl, u->base->gained);
  }
  for (int c = 0; c < T->coordinates; c++) {
    T->q_gained[c] += part * T->dq[c];
    T->pi_gained[c] += part * T->dpi[c];
  }
  for (int j = 0; j < m->joints; j++)
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
      T->stage_pi[stage][c] = momentum_of(T, u, k);
      T->stage_rate[stage][c] = T->own_rate[c];
      T->work[0][c] -= part * T->dpi[c] * T->own_rate[c];
    }
  }
}

/* --- the end --- */

/* The impulse of a drive on a component of a rotation vector, sign V^-T impulse. */
static double on_vector(const cb_unit *u, const double impulse[3], int k) {
  double c[3], first[3];
  cb_cross3(u->rotation->V[(k + 1) % 3], u->rotation->V[(k + 2) % 3], c);
  cb_cross3(u->rotation->V[1], u->rotation->V[2], first);
  return u->rotation->sign * cb_dot3(impulse, c) / cb_dot3(u->rotation->V[0], first);
}

/* The impulses of drives and their works. */
static void finish_drives(work *w) {
  cb_tree *T = w->T;
  for (int i = 0; i < T->n && T->drives; i++) {
    const cb_unit *u = &T->unit[i];
    double impulse[3] = {0};
    if (!u->driven) continue;
    const int n = cb_tree_coordinates(u);
    for (int k = 0; k < n; k++) {
      const int c = u->coordinate + k;
      const double end = momentum_of(T, u, k), r0 = T->stage_rate[0][c], r1 = T->stage_rate[1][c],
                   r2 = T->stage_rate[3][c];
      /* h times the slopes of the parabola */
      const double slope[STAGES] = {4 * r1 - 3 * r0 - r2, r2 - r0, r2 - r0, r0 - 4 * r1 + 3 * r2};
      T->work[0][c] += end * T->own_rate[c] - T->pi_start[c] * r0;
      for (int s = 0; s < STAGES; s++) T->work[0][c] -= weight[s] * slope[s] * T->stage_pi[s][c];
      impulse[k] = end - T->pi_start[c] - T->pi_gained[c];
    }
    for (int k = 0; k < n; k++)
      w->m->drive_impulse[u->coordinate + k] = u->kind == CB_UNIT_SCREW ? impulse[0] : on_vector(u, impulse, k);
  }
}

/* The momentum of a body that moves with the twist Y, in its frame. */
static void momentum_of_body(const cb_rigid_problem *p, const cb_unit *u, const double Y[6], double mu[6]) {
  cb_apply6((const double(*)[6])(p->constant ? p->constant->K : u->inertia->K), Y, mu);
  cb_add6(1, p->constant ? p->constant->mu0 : u->inertia->rest, mu);
}

/* The impulse of each joint on the body of its link, about the origin at the end, so that the torque about the joint's
 * place is that about the middle of its path (cb_mechanism_wrenches). loads: as above; wrench: the change of momentum. */
static void find_impulses(const work *w, double (*change)[6]) {
  cb_mechanism *m = w->m;
  for (int i = w->T->n - 1; i >= 0; i--) {
    const cb_unit *u = &w->T->unit[i];
    if (u->link < 0 || u->kind == CB_UNIT_ROOT) continue;
    const cb_link *l = &m->link[u->link];
    double *J = change[u->link], *out = m->impulse[l->joint], arm[3], lever[3], moment[3], d[3];
    const double *x = state_of(w, u)->g.x;
    cb_add6(-1, u->loads, J);
    cb_apply3((const double(*)[3])u->world, u->hold, arm);
    for (int k = 0; k < 3; k++) {
      arm[k] += u->g.x[k]; /* the place of the joint at the end */
      lever[k] = arm[k] - x[k] - ((arm[k] + u->arm[k]) / 2 - u->start[k]);
    }
    memcpy(out, J, 6 * sizeof *out);
    cb_cross3(lever, J + 3, moment);
    for (int k = 0; k < 3; k++) out[k] += moment[k];
    if (l->parent < 0) continue;
    for (int k = 0; k < 3; k++) d[k] = u->start[k] - w->T->unit[w->T->unit_of[l->parent]].start[k];
    cb_sweep_to_parent(d, 1, J, change[l->parent]);
  }
}

/* Writes the state of a body; change: of its momentum, about its place at the start, in the world's axes. */
static void write_state(const work *w, const cb_unit *u, double change[6]) {
  const cb_rigid_problem *p = problem_of(w, u);
  cb_rigid_state *s = state_of(w, u);
  double r[3][3], d[3], moment[3];
  for (int k = 0; k < 6; k++) change[k] = -s->world[k];
  cb_tree_body(u, &s->g, s->x_low);
  cb_tree_twist_to_body(u, u->Y, s->Y);
  momentum_of_body(p, u, s->Y, s->momentum);
  memcpy(s->mu, s->momentum, sizeof s->mu);
  cb_pose_rotation(&s->g, r);
  cb_turn6((const double(*)[3])r, s->momentum, s->world);
  memset(s->world_low, 0, sizeof s->world_low);
  s->t = w->t + w->h;
  s->known = 0;
  cb_add6(1, s->world, change);
  for (int k = 0; k < 3; k++) d[k] = s->g.x[k] - u->start[k];
  cb_cross3(d, s->world + 3, moment);
  for (int k = 0; k < 3; k++) change[k] += moment[k];
}

/* The momentum of a root is what the other bodies leave of the momentum of the tree. */
static void write_root(const work *w, int root) {
  cb_unit *u = &w->T->unit[root];
  cb_rigid_state *s = state_of(w, u);
  cb_dd sum[6];
  double r[3][3];
  cb_rigid_move(&u->base->total, u->base->dx, u->g.q, u->base->gained);
  memcpy(s->g.x, u->base->total.g.x, sizeof s->g.x);
  memcpy(s->x_low, u->base->total.x_low, sizeof s->x_low);
  for (int k = 0; k < 6; k++) sum[k] = (cb_dd){u->base->total.world[k], u->base->total.world_low[k]};
  add_others(w, root, -1, sum);
  for (int k = 0; k < 6; k++) {
    s->world[k] = sum[k].hi;
    s->world_low[k] = sum[k].lo;
  }
  cb_pose_rotation(&s->g, r);
  cb_turn6_transposed((const double(*)[3])r, s->world, s->momentum);
  memcpy(s->mu, s->momentum, sizeof s->mu);
}

static void arrive(work *w) {
  cb_mechanism *m = w->m;
  cb_tree *T = w->T;
  const size_t size = (size_t)m->coordinates * sizeof(double);
  find_joint_rates(T);
  finish_drives(w);
  for (int i = 0; i < T->n; i++)
    if (T->unit[i].link >= 0) write_state(w, &T->unit[i], m->need[T->unit[i].link]);
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

static cb_status check_finite(work *w) {
  for (int i = 0; i < w->T->n; i++) {
    const cb_unit *u = &w->T->unit[i];
    if (cb_finite6(u->Y) && cb_finite6(u->P) && isfinite(u->g.x[0] + u->g.x[1] + u->g.x[2])) continue;
    w->failed = u->link >= 0 ? w->m->link[u->link].body : -1;
    return cb_fail(CB_STEP_NOT_FINITE, "the result of a step of %g at t = %g is not finite: use a smaller `step`", w->h,
                   w->t);
  }
  return CB_OK;
}

cb_status cb_mechanism_step_rkmk4(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double h, int *failed) {
  int which;
  cb_status status = cb_mechanism_move_coordinates(m, &which);
  if (!status && (!isfinite(h) || h == 0))
    status = cb_fail(CB_ERROR_ARGUMENT, "expected a step that is not 0 and is finite, found %g", h);
  *failed = -1;
  if (status) return status;
  work w = {.m = m, .T = m->tree, .b = b, .t = t, .h = h, .failed = -1};
  bool known = begin(&w);
  for (int stage = 0; stage < STAGES && !status; stage++) {
    const double part = h * weight[stage];
    if (stage > 0) status = advance(&w, h * at[stage], false);
    if (!status) status = find_rates(&w, t + h * at[stage], part, stage == 0 && known);
    if (status) break;
    find_displacements(w.T, stage > 0);
    add_stage(&w, stage, part);
  }
  if (!status) status = advance(&w, h, true);
  if (!status) status = cb_tree_inertias(w.T, m, b, t + h, &w.failed);
  if (!status) status = cb_tree_twists(w.T, m, t + h, &w.failed);
  if (!status) status = check_finite(&w);
  *failed = w.failed;
  if (status) return status;
  arrive(&w);
  *failed = -1;
  return CB_OK;
}
