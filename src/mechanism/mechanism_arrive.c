/* The end of a step of a tree in coordinates: states, works and impulses (equations: mechanism_rkmk4.c). */
#include "mechanism/mechanism_articulated.h"
#include "numerics/dd.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

static void add_product(cb_dd sum[1], double a, double b, double sign) {
  *sum = cb_dd_add(*sum, cb_dd_mul_d((cb_dd){a, 0}, sign * b));
}

void cb_tree_add_others(const cb_tree_step *w, int root, double sign, cb_dd sum[6]) {
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

/* The impulse of a drive on a component of a rotation vector, sign V^-T impulse. */
static double on_vector(const cb_unit *u, const double impulse[3], int k) {
  double c[3], first[3];
  cb_cross3(u->rotation->V[(k + 1) % 3], u->rotation->V[(k + 2) % 3], c);
  cb_cross3(u->rotation->V[1], u->rotation->V[2], first);
  return u->rotation->sign * cb_dot3(impulse, c) / cb_dot3(u->rotation->V[0], first);
}

/* The impulses of drives and their works. */
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
      /* h times the slopes of the parabola */
      const double slope[CB_TREE_STAGES] = {4 * r1 - 3 * r0 - r2, r2 - r0, r2 - r0, r0 - 4 * r1 + 3 * r2};
      T->work[0][c] += end * T->own_rate[c] - T->pi_start[c] * r0;
      for (int s = 0; s < CB_TREE_STAGES; s++) T->work[0][c] -= weight[s] * slope[s] * T->stage_pi[s][c];
      impulse[k] = end - T->pi_start[c] - T->pi_gained[c];
    }
    for (int k = 0; k < n; k++)
      w->m->drive_impulse[u->coordinate + k] = u->kind == CB_UNIT_SCREW ? impulse[0] : on_vector(u, impulse, k);
  }
}

/* The impulse of each joint on the body of its link, about the origin at the end, so that the torque about the joint's
 * place is that about the middle of its path (cb_mechanism_wrenches). loads: as above; wrench: the change of
 * momentum. */
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
      arm[k] += a->x[k]; /* the place of the joint at the end */
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

/* Writes the state of a body; change: of its momentum, about its place at the start, in the world's axes. */
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

/* The momentum of a root is what the other bodies leave of the momentum of the tree. */
static void write_root(const cb_tree_step *w, int root) {
  cb_unit *u = &w->T->unit[root];
  cb_rigid_state *s = cb_tree_state(w, u);
  cb_dd sum[6];
  double r[3][3];
  cb_rigid_move(&u->base->total, u->base->dx, w->T->articulated[root].q, u->base->gained);
  memcpy(s->g.x, u->base->total.g.x, sizeof s->g.x);
  memcpy(s->x_low, u->base->total.x_low, sizeof s->x_low);
  for (int k = 0; k < 6; k++) sum[k] = (cb_dd){u->base->total.world[k], u->base->total.world_low[k]};
  cb_tree_add_others(w, root, -1, sum);
  for (int k = 0; k < 6; k++) {
    s->world[k] = sum[k].hi;
    s->world_low[k] = sum[k].lo;
  }
  cb_pose_rotation(&s->g, r);
  cb_turn6_transposed((const double(*)[3])r, s->world, s->momentum);
  memcpy(s->mu, s->momentum, sizeof s->mu);
}

void cb_tree_arrive(cb_tree_step *w, const double *weight) {
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
