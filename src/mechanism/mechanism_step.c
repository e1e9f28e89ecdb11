/* Steps of joined bodies: the drift, and settling at a node (equations: mechanism.h). */
#include "mechanism/mechanism_private.h"
#include "numerics/dd.h"
#include "numerics/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAXIMUM = 40 };

/* --- joints at poses --- */

static void place_of(const cb_rigid_state *s, cb_place *out) {
  memcpy(out->q, s->g.q, sizeof out->q);
  cb_pose_rotation(&s->g, out->r);
  memcpy(out->x, s->g.x, sizeof out->x);
  memcpy(out->x_low, s->x_low, sizeof out->x_low);
}

/* The place of a link at the end of the trial step. */
static void place_at_trial(const cb_link *l, cb_place *out) {
  const cb_rigid_trial *e = &l->trial;
  cb_pose end;
  double moved[3];
  cb_quaternion_multiply(e->s->g.q, e->move.q, end.q);
  cb_quaternion_project(end.q);
  memcpy(out->q, end.q, sizeof out->q);
  cb_pose_rotation(&end, out->r);
  cb_apply3(e->r, e->move.x, moved);
  for (int i = 0; i < 3; i++) {
    out->x[i] = e->s->g.x[i];
    out->x_low[i] = e->s->x_low[i] + moved[i];
  }
}

/* The motions of all joints, and vectors from parents, for the places of all links. */
static void find_joints(cb_mechanism *m, double *q, bool end) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    const cb_place *a = l->parent >= 0 ? &m->link[l->parent].place : NULL, *b = &l->place;
    double *d = end ? l->d1 : l->d0;
    if (l->joint < 0) continue;
    cb_joint_at(&m->joint[l->joint], l->first_moves ? b : a, l->first_moves ? a : b, l->first_moves, false,
                q + m->first[l->joint], &m->now[l->joint]);
    for (int k = 0; k < 3; k++) d[k] = a ? b->x[k] - a->x[k] + (b->x_low[k] - a->x_low[k]) : 0;
    for (int j = 0; j < l->n; j++)
      memcpy(end ? l->S1[j] : l->S0[j], m->now[l->joint].S[l->coordinate[j]], sizeof l->S0[j]);
  }
  cb_loops_find(m, q, end);
}

/* e: what closes the gaps, and what driven coordinates miss. */
static void find_closing(const cb_mechanism *m, cb_link *l, const double *driven) {
  const cb_joint *j = &m->joint[l->joint];
  const cb_joint_now *now = &m->now[l->joint];
  memcpy(l->e, now->close, sizeof l->e);
  for (int i = 0; i < cb_joint_coordinates(j); i++)
    if (j->driven[i]) cb_add6(driven[m->first[l->joint] + i], now->S[i], l->e);
}

/* --- forces on coordinates --- */

void cb_mechanism_forces(cb_mechanism *m, double t, const double *q, const double *rate) {
  memset(m->force, 0, (size_t)m->coordinates * sizeof *m->force);
  if (m->laws.motors) m->laws.motors(m->laws.self, t, q, rate, m->force);
  for (int j = 0; j < m->joints; j++) {
    const cb_joint *own = &m->joint[j];
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      const int c = m->first[j] + i;
      m->force[c].Q -= own->stiffness[i] * (q[c] - own->rest[i]) + own->damping[i] * rate[c];
      m->force[c].Q_q -= own->stiffness[i];
      m->force[c].Q_rate -= own->damping[i];
    }
  }
}

/* Gives each link and each row of a loop the forces of its coordinates. */
static void hand_out(cb_mechanism *m) {
  int row = 0;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    for (int j = 0; j < l->n; j++) {
      const int c = m->first[l->joint] + l->coordinate[j];
      l->force[j] = m->impulsive[c];
      l->stiff[j] = m->stiffness[c];
    }
  }
  for (int i = 0; i < m->loops; i++) {
    const int joint = m->loop[i].joint, gaps = cb_joint_gaps(&m->joint[joint]);
    for (int r = 0; r < m->loop[i].rows; r++, row++) {
      if (!m->row[row].yields) continue;
      m->row[row].force = m->impulsive[m->first[joint] + r - gaps];
      m->row[row].stiff = m->stiffness[m->first[joint] + r - gaps];
    }
  }
}

/* The forces of a step of length h from q to q1, and of its momenta. */
static void find_forces(cb_mechanism *m, double t, double h) {
  for (int c = 0; c < m->coordinates; c++) {
    m->middle[c] = m->q[c] + (m->q1[c] - m->q[c]) / 2;
    m->rate[c] = (m->q1[c] - m->q[c]) / h;
  }
  cb_mechanism_forces(m, t + h / 2, m->middle, m->rate);
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      const int c = m->first[j] + i;
      const cb_joint_force *f = &m->force[c];
      const double a = m->joint[j].armature[i];
      m->impulsive[c] = m->momentum[c] + h / 2 * f->Q - a * m->rate[c];
      m->stiffness[c] = a / h - h / 4 * f->Q_q - f->Q_rate / 2;
    }
  hand_out(m);
}

/* --- the drift --- */

static cb_status fail_at(const cb_mechanism *m, int link, double h, double t) {
  const cb_link *l = &m->link[link];
  return cb_fail(CB_STEP_SINGULAR,
                 "the equations of %s`%s` are singular in a step of %g at t = %g: expected bodies with mass beyond "
                 "each joint",
                 l->joint < 0 ? "the tree of joint " : "joint ", l->joint < 0 ? "" : m->joint[l->joint].name, h, t);
}

/* A = R_0 (1/h) J dtau^-1_{-hY} R_1^T */
static void turn_matrix(cb_link *l, double h, const double J[6][6], const double B[6][6]) {
  double M[6][6] = {{0}}, half[6][6];
  cb_add_product6(J, B, M);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k += 3) /* columns */
      cb_apply3((const double(*)[3])l->r1, M[i] + k, half[i] + k);
  for (int k = 0; k < 6; k++)
    for (int b = 0; b < 6; b += 3)
      for (int i = 0; i < 3; i++)
        l->A[b + i][k] = (l->r0[i][0] * half[b][k] + l->r0[i][1] * half[b + 1][k] + l->r0[i][2] * half[b + 2][k]) / h;
}

static cb_status evaluate(cb_mechanism *m, double h, bool first, bool fresh, int *failed) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double J[6][6], B[6][6], back[6];
    const cb_status status = cb_rigid_trial_at(&l->trial, l->Y, first, l->residual, fresh ? J : NULL);
    if (status) {
      *failed = l->body;
      return status;
    }
    place_at_trial(l, &l->place);
    memcpy(l->r1, l->place.r, sizeof l->r1);
    cb_turn6((const double(*)[3])l->r0, l->residual, l->load);
    if (!fresh) continue;
    for (int k = 0; k < 6; k++) back[k] = -h * l->Y[k];
    cb_se3_dtau_inverse(l->trial.map, back, B);
    turn_matrix(l, h, (const double(*)[6])J, (const double(*)[6])B);
  }
  return CB_OK;
}

/* Finds the updates of all twists from the displacements eta. */
static void find_updates(cb_mechanism *m, double h) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double eta[6], back[6], B[6][6];
    for (int k = 0; k < 6; k++) back[k] = -h * l->Y[k];
    cb_se3_dtau_inverse(l->trial.map, back, B);
    cb_turn6_transposed((const double(*)[3])l->r1, l->eta, eta);
    cb_apply6((const double(*)[6])B, eta, l->update);
    for (int k = 0; k < 6; k++) l->update[k] /= h;
  }
}

/* A norm of twists in m/s that does not depend on masses: sqrt(<K a, a>/k), k the mean of the linear inertia. */
static double speed(const cb_link *l, const double a[6]) {
  const double(*K)[6] = l->trial.K, k = (K[3][3] + K[4][4] + K[5][5]) / 3;
  return k > 0 ? cb_rigid_size(K, a) / sqrt(k) : 0;
}

/* One iteration of Newton's method. *change, *scale: the largest change of a twist, and the largest twist. */
static cb_status iterate(cb_mechanism *m, double t, double h, int n, bool fresh, double *change, double *scale,
                         int *failed) {
  int at;
  cb_status status = evaluate(m, h, n == 0, fresh, failed);
  m->found = false;
  if (status) return status;
  memcpy(m->q1, m->q, (size_t)m->coordinates * sizeof *m->q1);
  find_joints(m, m->q1, true);
  find_forces(m, t, h);
  for (int c = 0; c < m->coordinates; c++) m->missing[c] = m->drive[c] - m->q1[c];
  for (int i = 0; i < m->links; i++)
    if (m->link[i].joint >= 0) find_closing(m, &m->link[i], m->missing);
  cb_loops_want(m, false);
  cb_loops_push(m);
  if (fresh && !cb_sweep_matrices(m, &at)) return fail_at(m, at, h, t);
  if (fresh && (status = cb_loops_factor(m))) return status;
  cb_sweep_solve(m);
  cb_loops_solve(m);
  find_updates(m, h);
  *change = 0;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    *change = fmax(*change, speed(l, l->update));
    *scale = fmax(*scale, fmax(speed(l, l->Y), speed(l, l->update)));
    cb_add6(1, l->update, l->Y);
    if (cb_finite6(l->Y)) continue;
    *failed = l->body;
    return cb_fail(CB_STEP_NOT_FINITE, "the result of a step of %g at t = %g is not finite: use a smaller `step`", h,
                   t);
  }
  return CB_OK;
}

/* The speed at which a step moves by the round-off of vectors from joint to joint. */
static double blur(const cb_mechanism *m, double h) {
  double far = 0;
  for (int i = 0; i < m->links; i++) {
    const double *d = m->link[i].parent >= 0 ? m->link[i].d0 : m->link[i].place.x;
    if (m->link[i].joint >= 0) far = fmax(far, cb_dot3(d, d));
  }
  return 2 * DBL_EPSILON * sqrt(far) / fabs(h);
}

/* Iterates to round-off: as for a single body (integrators/hamilton_pontryagin.c). */
static cb_status solve(cb_mechanism *m, double t, double h, bool *settled, int *count, int *failed) {
  cb_loops_begin(m);
  const double limit = blur(m, h);
  double last = 0, scale = 0, rate = 1;
  *settled = false;
  for (int n = 0; n < MAXIMUM && !*settled; n++) {
    const bool fresh = rate > 0.02;
    double change = 0;
    const cb_status status = iterate(m, t, h, n, fresh, &change, &scale, failed);
    if (status) return status;
    rate = change / (n > 0 ? last : scale);
    *count = n + 1;
    const double next = fresh && n > 0 ? 10 * rate * rate * change : 2 * rate * change / (1 - 2 * rate);
    *settled = change <= 1e-15 * scale || (n > 0 && rate < 0.25 && next <= 1e-15 * scale) ||
               (n > 0 && (change <= limit || (change >= last && change <= 1e-10 * scale)));
    if (!(change < 1e200)) break;
    last = change;
  }
  return CB_OK;
}

static void begin_step(cb_mechanism *m, const cb_mechanism_bodies *b, cb_se3_map map, double t, double h) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    cb_rigid_trial_begin(b->problem(b->self, l->body), map, h, &b->state[l->body], &l->trial);
  }
  cb_mechanism_find_places(m, b);
  if (m->laws.drives) m->laws.drives(m->laws.self, t + h, m->drive, m->drive_rate);
}

/* The impulses of all joints, from those that bodies need; the sum on each body is m->wrench. */
static void share_impulses(cb_mechanism *m) {
  if (!m->rows) return cb_sweep_impulses(m, (const double(*)[6])m->need, m->wrench);
  cb_loops_impulses(m, m->pushed);
  for (int i = 0; i < m->links; i++) cb_add6(-1, m->pushed[i], m->need[i]);
  cb_sweep_impulses(m, (const double(*)[6])m->need, m->wrench);
  for (int i = 0; i < m->links; i++) cb_add6(1, m->pushed[i], m->wrench[i]);
}

/* The states at the end of the step. */
static cb_status arrive(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double h, int *failed) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double residual[6];
    *failed = l->body;
    const cb_status status = cb_rigid_trial_arrive(&l->trial, l->Y, l->update);
    if (status) return status;
    cb_rigid_trial_residual(&l->trial, l->Y, residual);
    for (int k = 0; k < 6; k++) residual[k] = -residual[k];
    cb_turn6((const double(*)[3])l->r0, residual, m->need[i]);
  }
  share_impulses(m);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double turn, impulse[6];
    *failed = l->body;
    cb_turn6_transposed((const double(*)[3])l->r0, m->wrench[i], impulse);
    cb_status status = cb_rigid_trial_turn(&l->trial, l->Y, impulse, &turn);
    if (!status) status = cb_rigid_trial_finish(&l->trial, l->Y, m->wrench[i], turn, &b->state[l->body]);
    if (status) return status;
    if (l->joint >= 0) memcpy(m->impulse[l->joint], l->w, sizeof l->w);
    place_of(&b->state[l->body], &l->place);
  }
  cb_loops_record(m, false);
  *failed = -1;
  memcpy(m->q1, m->q, (size_t)m->coordinates * sizeof *m->q1);
  find_joints(m, m->q1, true);
  find_forces(m, t, h);
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      const int c = m->first[j] + i;
      m->momentum[c] = h / 2 * m->force[c].Q + m->joint[j].armature[i] * m->rate[c];
      const double damping = -m->joint[j].damping[i] * m->rate[c],
                   spring = -m->joint[j].stiffness[i] * (m->middle[c] - m->joint[j].rest[i]);
      const double driven = m->joint[j].driven[i] ? cb_sweep_dot(m->now[j].S[i], m->impulse[j]) * m->rate[c] : 0;
      m->work[CB_JOINT_WORK_DAMPING][c] += h * damping * m->rate[c];
      m->work[CB_JOINT_WORK_MOTOR][c] += h * (m->force[c].Q - damping - spring) * m->rate[c] + driven;
    }
  memcpy(m->q, m->q1, (size_t)m->coordinates * sizeof *m->q);
  m->found = true;
  return CB_OK;
}

cb_status cb_mechanism_drift(cb_mechanism *m, const cb_mechanism_bodies *b, cb_se3_map map, double t, double h,
                             int *failed, int *iterations) {
  bool settled = false;
  cb_status status = CB_OK;
  *failed = -1;
  begin_step(m, b, map, t, h);
  /* a second attempt begins with the last twists: where stiff drag makes twists alternate, an extrapolation diverges */
  for (int attempt = 0; attempt < 2 && !settled; attempt++) {
    for (int i = 0; i < m->links; i++) {
      cb_link *l = &m->link[i];
      if (attempt == 0)
        cb_rigid_guess(l->trial.s, h, l->Y);
      else
        memcpy(l->Y, l->trial.s->Y, sizeof l->Y);
    }
    status = solve(m, t, h, &settled, iterations, failed);
  }
  if (status) return status;
  if (!settled)
    return cb_fail(CB_STEP_NO_CONVERGENCE,
                   "Newton's method of a step of %g at t = %g of joined bodies did not converge in %d iterations: use "
                   "a smaller `step`",
                   h, t, MAXIMUM);
  return arrive(m, b, t, h, failed);
}

/* --- at a node --- */

/* At a node, both ends of the step are the same. */
static void copy_node(cb_mechanism *m) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    memcpy(l->r1, l->r0, sizeof l->r1);
    memcpy(l->d1, l->d0, sizeof l->d1);
    memcpy(l->S1, l->S0, sizeof l->S1);
  }
  for (int l = 0; l < m->loops; l++) memcpy(m->loop[l].d1, m->loop[l].d0, sizeof m->loop[l].d1);
  for (int r = 0; r < m->rows; r++) memcpy(m->row[r].N1, m->row[r].N0, sizeof m->row[r].N1);
}

/* Whether the joints were found last at the present poses; and stores the places. */
static bool take_places(cb_mechanism *m, const cb_mechanism_bodies *b) {
  bool same = m->found;
  for (int i = 0; i < m->links; i++) {
    const cb_rigid_state *s = &b->state[m->link[i].body];
    cb_place *p = &m->link[i].place;
    if (same && !memcmp(p->q, s->g.q, sizeof p->q) && !memcmp(p->x, s->g.x, sizeof p->x) &&
        !memcmp(p->x_low, s->x_low, sizeof p->x_low))
      continue;
    same = false;
    place_of(s, p);
  }
  return same;
}

void cb_mechanism_find_places(cb_mechanism *m, const cb_mechanism_bodies *b) {
  const bool same = take_places(m, b);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    memcpy(l->r0, l->place.r, sizeof l->r0);
    if (!same) continue;
    memcpy(l->d0, l->d1, sizeof l->d0);
    memcpy(l->S0, l->S1, (size_t)l->n * sizeof *l->S0);
  }
  for (int l = 0; l < m->loops && same; l++) memcpy(m->loop[l].d0, m->loop[l].d1, sizeof m->loop[l].d0);
  for (int r = 0; r < m->rows && same; r++) memcpy(m->row[r].N0, m->row[r].N1, sizeof m->row[r].N0);
  if (same) return;
  double *q = m->q;
  if (m->tree) { /* places follow from coordinates */
    q = m->q1;
    memcpy(q, m->q, (size_t)m->coordinates * sizeof *q);
  }
  find_joints(m, q, false);
  copy_node(m);
  m->found = true;
}

void cb_mechanism_find_rates(cb_mechanism *m, const cb_mechanism_bodies *b) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double from[6] = {0}, SS[6][6], Sv[6];
    cb_turn6((const double(*)[3])l->place.r, b->state[l->body].Y, l->eta);
    if (l->joint < 0) continue;
    if (l->parent >= 0) cb_sweep_see(l->d0, m->link[l->parent].eta, from);
    const int n = cb_joint_coordinates(&m->joint[l->joint]);
    for (int j = 0; j < n; j++) {
      const double *S = m->now[l->joint].S[j];
      Sv[j] = 0;
      for (int k = 0; k < 6; k++) Sv[j] += S[k] * (l->eta[k] - from[k]);
      for (int k = 0; k < n; k++) SS[j][k] = cb_sweep_dot(S, m->now[l->joint].S[k]);
    }
    cb_sweep_invert(n, SS);
    for (int j = 0; j < n; j++) {
      m->rate[m->first[l->joint] + j] = 0;
      for (int k = 0; k < n; k++) m->rate[m->first[l->joint] + j] += SS[j][k] * Sv[k];
    }
  }
}

static cb_status take_inertia(cb_link *l, const cb_rigid_problem *p, double t, const cb_rigid_state *s) {
  double mu0[6], turned[6];
  if (p->constant) {
    memcpy(l->K, p->constant->K, sizeof l->K);
    memcpy(mu0, p->constant->mu0, sizeof mu0);
  } else {
    const cb_status status = p->inertia(p->self, t, &s->g, l->K, mu0);
    if (status) return status;
  }
  double half[6][6];
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k += 3) cb_apply3((const double(*)[3])l->r0, l->K[i] + k, half[i] + k);
  for (int k = 0; k < 6; k++)
    for (int b = 0; b < 6; b += 3)
      for (int i = 0; i < 3; i++)
        l->A[b + i][k] = l->r0[i][0] * half[b][k] + l->r0[i][1] * half[b + 1][k] + l->r0[i][2] * half[b + 2][k];
  cb_turn6((const double(*)[3])l->r0, mu0, turned);
  for (int k = 0; k < 6; k++) l->load[k] = s->world[k] - turned[k] + s->world_low[k];
  return CB_OK;
}

/* Solves for the twists that the momenta correspond to. */
static cb_status find_twists(cb_mechanism *m, const cb_mechanism_bodies *b, double t, int *failed) {
  int at;
  cb_mechanism_find_places(m, b);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    *failed = l->body;
    const cb_status status = take_inertia(l, b->problem(b->self, l->body), t, &b->state[l->body]);
    if (status) return status;
  }
  *failed = -1;
  if (m->laws.drives) m->laws.drives(m->laws.self, t, m->drive, m->drive_rate);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    if (l->joint < 0) continue;
    memset(l->e, 0, sizeof l->e);
    const cb_joint *j = &m->joint[l->joint];
    for (int c = 0; c < cb_joint_coordinates(j); c++)
      if (j->driven[c]) cb_add6(m->drive_rate[m->first[l->joint] + c], m->now[l->joint].S[c], l->e);
  }
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      m->stiffness[m->first[j] + i] = m->joint[j].armature[i];
      m->impulsive[m->first[j] + i] = m->momentum[m->first[j] + i];
    }
  hand_out(m);
  copy_node(m);
  cb_loops_want(m, true);
  cb_loops_begin(m);
  if (!cb_sweep_matrices(m, &at)) return fail_at(m, at, 0, t);
  if (!m->begun) cb_loops_drop(m);
  m->begun = true;
  const cb_status status = cb_loops_factor(m);
  if (status) return status;
  cb_sweep_solve(m);
  cb_loops_solve(m);
  return CB_OK;
}

static void push(cb_rigid_state *s, const double r[3][3], const double W[6]) {
  for (int i = 0; i < 6; i++) cb_compensated_add_one(&s->world[i], &s->world_low[i], W[i]);
  cb_turn6_transposed(r, s->world, s->momentum);
}

void cb_mechanism_respond(cb_mechanism *m, const double (*W)[6], double (*change)[6]) {
  for (int i = 0; i < m->links; i++) memcpy(m->pushed[i], W[m->link[i].body], sizeof m->pushed[i]);
  cb_sweep_respond(m, (const double(*)[6])m->pushed, NULL, NULL, NULL, NULL);
  cb_loops_correct(m);
  for (int i = 0; i < m->links; i++) memcpy(change[m->link[i].body], m->link[i].eta, sizeof m->link[i].eta);
}

cb_status cb_mechanism_settle(cb_mechanism *m, const cb_mechanism_bodies *b, double t, int *failed) {
  const cb_status status = find_twists(m, b, t, failed);
  if (status) return status;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double Y[6], mu[6], turned[6];
    cb_turn6_transposed((const double(*)[3])l->r0, l->eta, Y);
    cb_apply6((const double(*)[6])l->K, Y, mu);
    cb_turn6((const double(*)[3])l->r0, mu, turned);
    for (int k = 0; k < 6; k++) m->need[i][k] = turned[k] - l->load[k];
  }
  share_impulses(m);
  memcpy(m->rate, m->drive_rate, (size_t)m->coordinates * sizeof *m->rate);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    push(&b->state[l->body], (const double(*)[3])l->r0, m->wrench[i]);
    if (l->joint < 0) continue;
    cb_add6(1, l->w, m->impulse[l->joint]);
    for (int j = 0; j < l->n; j++) {
      const int c = m->first[l->joint] + l->coordinate[j];
      m->rate[c] = l->dq[j];
    }
  }
  cb_loops_record(m, true);
  cb_loops_rates(m);
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++)
      m->momentum[m->first[j] + i] = m->joint[j].armature[i] * m->rate[m->first[j] + i];
  return CB_OK;
}

/* --- starts --- */

/* Finds the displacements eta that close all gaps to first order. */
static cb_status find_displacements(cb_mechanism *m, const cb_mechanism_bodies *b, double t) {
  int at;
  cb_status status = CB_OK;
  for (int c = 0; c < m->coordinates; c++) {
    m->missing[c] = 0;
    m->impulsive[c] = m->stiffness[c] = 0;
  }
  for (int i = 0; i < m->links && !status; i++) {
    cb_link *l = &m->link[i];
    status = take_inertia(l, b->problem(b->self, l->body), t, &b->state[l->body]);
    memset(l->load, 0, sizeof l->load);
  }
  if (status) return status;
  copy_node(m);
  hand_out(m);
  for (int i = 0; i < m->links; i++)
    if (m->link[i].joint >= 0) find_closing(m, &m->link[i], m->missing);
  cb_loops_want(m, false);
  cb_loops_begin(m);
  if (!cb_sweep_matrices(m, &at)) return fail_at(m, at, 0, t);
  if (!m->begun) cb_loops_drop(m);
  m->begun = true;
  status = cb_loops_factor(m);
  if (status) return status;
  cb_sweep_solve(m);
  cb_loops_solve(m);
  return CB_OK;
}

cb_status cb_mechanism_close(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double *moved, int *which) {
  double last = INFINITY;
  *moved = 0;
  for (int n = 0; n < MAXIMUM; n++) {
    double open = 0;
    const double *gap = cb_mechanism_gaps(m, b);
    for (int j = 0; j < m->joints; j++)
      if (gap[j] > open) {
        open = gap[j];
        *which = j;
      }
    if (open <= 1e-15 || (open >= last / 2 && open <= 1e-13)) return CB_OK;
    if (!isfinite(open) || (n > 5 && open > last)) break;
    last = open;
    const cb_status status = find_displacements(m, b, t);
    if (status) return status;
    for (int i = 0; i < m->links; i++) {
      const cb_link *l = &m->link[i];
      cb_pose *g = &b->state[l->body].g;
      double q[4];
      cb_quaternion_exp(l->eta, q);
      cb_quaternion_multiply(q, g->q, g->q);
      cb_quaternion_project(g->q);
      for (int k = 0; k < 3; k++) g->x[k] += l->eta[3 + k];
      *moved = fmax(*moved, sqrt(fmax(cb_dot3(l->eta, l->eta), cb_dot3(l->eta + 3, l->eta + 3))));
    }
  }
  return cb_fail(CB_ERROR_DOMAIN,
                 "joint `%s` stays open by %.3g: expected coordinates at the start from which the loop can be closed",
                 m->joint[*which].name, last);
}

cb_status cb_mechanism_restart(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double *turned) {
  int failed;
  cb_status status = CB_OK;
  *turned = 0;
  for (int i = 0; i < m->links && !status; i++) {
    cb_rigid_state *s = &b->state[m->link[i].body];
    const cb_pose g = s->g;
    double Y[6];
    memcpy(Y, s->Y, sizeof Y);
    status = cb_rigid_start(b->problem(b->self, m->link[i].body), t, &g, Y, s);
  }
  if (!status) status = cb_mechanism_settle(m, b, t, &failed);
  for (int i = 0; i < m->links && !status; i++) {
    cb_rigid_state *s = &b->state[m->link[i].body];
    double Y[6];
    status = cb_rigid_twist(b->problem(b->self, m->link[i].body), s, Y);
    for (int k = 0; k < 6; k++) *turned = fmax(*turned, fabs(Y[k] - s->Y[k]));
    memcpy(s->Y, Y, sizeof Y);
  }
  return status;
}
