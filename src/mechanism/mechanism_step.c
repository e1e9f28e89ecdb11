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
  cb_quaternion_rotation(s->g.q, out->r);
  memcpy(out->x, s->g.x, sizeof out->x);
  memcpy(out->x_low, s->x_low, sizeof out->x_low);
}

/* The place of a link at the end of the trial step. */
static void place_at_trial(const cb_link *l, cb_place *out) {
  const cb_rigid_trial *e = &l->trial;
  double moved[3];
  cb_quaternion_multiply(e->s->g.q, e->move.q, out->q);
  cb_quaternion_project(out->q);
  cb_quaternion_rotation(out->q, out->r);
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
    if (m->has_modes) memcpy(end ? l->all1 : l->all0, m->now[l->joint].S, sizeof l->all0);
  }
  cb_loops_find(m, q, end);
}

/* e: what closes the gaps, and what driven coordinates miss. */
static void find_closing(const cb_mechanism *m, cb_link *l, const double *driven) {
  const cb_joint *j = &m->joint[l->joint];
  const cb_joint_now *now = &m->now[l->joint];
  memcpy(l->e, now->close, sizeof l->e);
  for (int i = 0; i < cb_joint_coordinates(j); i++)
    if (j->driven[i] || cb_modes_hold(m, m->first[l->joint] + i))
      cb_add6(driven[m->first[l->joint] + i], now->S[i], l->e);
}

/* --- forces on coordinates --- */

/* The spring and damper of a limit that does not reflect, while the coordinate is beyond it. */
static void add_stiff_limit(const cb_joint *j, int i, double q, double rate, cb_joint_force *force) {
  const double beyond = q < j->limit[i][0] ? q - j->limit[i][0] : q > j->limit[i][1] ? q - j->limit[i][1] : 0;
  if (j->stiff[0] == 0 || beyond == 0) return;
  force->Q -= j->stiff[0] * beyond + j->stiff[1] * rate;
  force->Q_q -= j->stiff[0];
  force->Q_rate -= j->stiff[1];
}

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
      m->force[c].Q += cb_modes_friction(m, j, i);
      add_stiff_limit(own, i, q[c], rate[c], &m->force[c]);
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
      m->impulsive[c] = m->momentum[c] + m->at_first * h * f->Q - a * m->rate[c];
      m->stiffness[c] = a / h - m->at_first * (h / 2 * f->Q_q + f->Q_rate);
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

/* out = c R M, with R = r for both parts */
static void turn_rows(const double r[3][3], double c, const double M[6][6], double out[6][6]) {
  for (int i = 0; i < 6; i++) {
    const double x = c * r[i % 3][0], y = c * r[i % 3][1], z = c * r[i % 3][2], (*const rows)[6] = M + i / 3 * 3;
    for (int k = 0; k < 6; k++) out[i][k] = x * rows[0][k] + y * rows[1][k] + z * rows[2][k];
  }
}

/* A = R_0 (1/h) J dtau^-1_{-hY} R_1^T */
static void turn_matrix(cb_link *l, double h, const double J[6][6]) {
  const double(*r)[3] = (const double(*)[3])l->r1;
  double back[6], B[6][6], M[6][6];
  for (int k = 0; k < 6; k++) back[k] = -h * l->Y[k];
  cb_se3_dtau_inverse(l->trial.map, back, B); /* without linear columns in its angular rows */
  double angular[6][3], linear[3][3];
  for (int i = 0; i < 6; i++) cb_apply3(r, B[i], angular[i]);
  for (int i = 0; i < 3; i++) cb_apply3(r, B[3 + i] + 3, linear[i]);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 3; k++) {
      M[i][k] = M[i][3 + k] = 0;
      for (int j = 0; j < 6; j++) M[i][k] += J[i][j] * angular[j][k];
      for (int j = 0; j < 3; j++) M[i][3 + k] += J[i][3 + j] * linear[j][k];
    }
  turn_rows((const double(*)[3])l->r0, 1 / h, (const double(*)[6])M, l->A);
}

static cb_status evaluate(cb_mechanism *m, double h, bool first, bool fresh, int *failed) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double J[6][6];
    cb_status status = cb_rigid_trial_at(&l->trial, l->Y, first, l->residual, fresh ? J : NULL);
    if (!status && first) status = cb_rigid_trial_check_back(&l->trial);
    if (status) {
      *failed = l->body;
      return status;
    }
    place_at_trial(l, &l->place);
    memcpy(l->r1, l->place.r, sizeof l->r1);
    cb_turn6((const double(*)[3])l->r0, l->residual, l->load);
    if (fresh) turn_matrix(l, h, (const double(*)[6])J);
  }
  return CB_OK;
}

/* Finds the updates of all twists from the displacements eta: (1/h) dtau^-1_{-hY} R_1^T eta. */
static void find_updates(cb_mechanism *m, double h) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double eta[6], back[6];
    for (int k = 0; k < 6; k++) back[k] = -h * l->Y[k];
    cb_turn6_transposed((const double(*)[3])l->r1, l->eta, eta);
    for (int k = 0; k < 6; k++) eta[k] /= h;
    cb_se3_dtau_inverse_apply(l->trial.map, back, eta, l->update);
  }
}

/* The square of a norm of twists in m/s that does not depend on masses: <K a, a>/k, k the mean of the linear inertia. */
static double squared_speed(const cb_link *l, const double a[6]) {
  const double(*K)[6] = l->trial.K, k = (K[3][3] + K[4][4] + K[5][5]) / 3;
  double Ka[6];
  if (!(k > 0)) return 0;
  if (l->trial.diagonal)
    for (int i = 0; i < 6; i++) Ka[i] = K[i][i] * a[i];
  else
    cb_apply6_transposed(K, a, Ka);
  return fabs(cb_sweep_dot(Ka, a)) / k;
}

/* The same as cb_rigid_trial_check_back for the dampers of joints: their part of D against that of inertia. */
static cb_status check_dampers(const cb_mechanism *m, double h, double t) {
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    for (int j = 0; j < l->n; j++) {
      const double inertia = h * cb_sweep_dot(l->S0[j], l->AS[j]),
                   damping = h * m->force[m->first[l->joint] + l->coordinate[j]].Q_rate;
      if (damping > 0.66 * inertia)
        return cb_fail(
            CB_STEP_NO_CONVERGENCE,
            "the part of a composed step that goes back, %g at t = %g, fails where the damping of joint `%s` "
            "is so stiff: use `order: 2`, or a smaller `step`",
            h, t, m->joint[l->joint].name);
    }
  }
  return CB_OK;
}

static double larger(double a, double b) { return b > a ? b : a; } /* fmax would be a function call */

/* Adds the updates to all twists. *change, *scale: the largest change of a twist, and the largest twist. */
static cb_status add_updates(cb_mechanism *m, double t, double h, double *change, double *scale, int *failed) {
  double changed = 0, largest = 0;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    largest = larger(largest, squared_speed(l, l->Y));
    changed = larger(changed, squared_speed(l, l->update));
    cb_add6(1, l->update, l->Y);
    if (cb_finite6(l->Y)) continue;
    *failed = l->body;
    return cb_fail(CB_STEP_NOT_FINITE, "the result of a step of %g at t = %g is not finite: use a smaller `step`", h,
                   t);
  }
  *change = sqrt(changed);
  *scale = larger(*scale, sqrt(larger(largest, changed)));
  return CB_OK;
}

/* One iteration of Newton's method (*change, *scale: add_updates). */
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
  if (n == 0 && h < 0 && (status = check_dampers(m, h, t))) return status;
  if (fresh && (status = cb_loops_factor(m))) return status;
  cb_sweep_solve(m);
  cb_loops_solve(m);
  find_updates(m, h);
  return add_updates(m, t, h, change, scale, failed);
}

/* The speed at which a step moves by the round-off of rotations and of vectors from joint to joint, for bodies with these
 * radii of gyration; it accumulates along a chain. */
static double blur(const cb_mechanism *m, double h) {
  double far = 0;
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    const double *d = l->parent >= 0 ? l->d0 : l->place.x,
                 mass = l->trial.K[3][3] + l->trial.K[4][4] + l->trial.K[5][5],
                 inertia = l->trial.K[0][0] + l->trial.K[1][1] + l->trial.K[2][2];
    if (l->joint >= 0) far += cb_dot3(d, d) + (mass > 0 ? inertia / mass : 0);
  }
  return 2 * DBL_EPSILON * sqrt(far) / fabs(h);
}

/* Whether a new matrix is the derivative of the residual. Motors may depend on coordinates of other joints. */
static bool is_quadratic(const cb_mechanism *m) {
  bool quadratic = !m->laws.motors;
  for (int i = 0; i < m->links && quadratic; i++) {
    const cb_rigid_problem *p = m->link[i].trial.p;
    quadratic = p->exact && !p->inertia_wrench && (p->pose_derivative || !(p->wrench || p->pose_dependent));
  }
  return quadratic;
}

/* Iterates to round-off, as for a single body (integrators/hamilton_pontryagin.c). After the first change the estimate of
 * the next one is 100 rate change, because the arms of joints are longer than the radii of gyration. */
static cb_status solve(cb_mechanism *m, double t, double h, bool *settled, int *count, int *failed) {
  cb_loops_begin(m);
  const bool quadratic = is_quadratic(m);
  double last = 0, scale = 0, rate = 1, limit = 0;
  *settled = false;
  for (int n = 0; n < MAXIMUM && !*settled; n++) {
    const bool fresh = rate > 0.02;
    double change = 0;
    const cb_status status = iterate(m, t, h, n, fresh, &change, &scale, failed);
    if (status) return status;
    if (n == 0) limit = blur(m, h);
    rate = change / (n > 0 ? last : scale);
    *count = n + 1;
    const double next = n == 0  ? 100 * rate * change
                        : fresh ? 10 * rate * rate * change
                                : 2 * rate * change / (1 - 2 * rate);
    *settled = change <= 1e-15 * scale || ((n > 0 || quadratic) && rate < 0.25 && next <= 1e-15 * scale) ||
               (n > 0 && (change <= limit || (change >= last && change <= 1e-10 * scale)));
    if (!(change < 1e200)) break;
    last = change;
  }
  return CB_OK;
}

static void begin_step(cb_mechanism *m, const cb_mechanism_bodies *b, const cb_mechanism_step *step) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    const cb_rigid_problem *p = b->problem(b->self, l->body);
    cb_rigid_trial_begin(p, step->map, step->h, &b->state[l->body], &l->trial);
    l->trial.damped = step->damped;
    if (p->dead_load) cb_rigid_trial_dead_load(&l->trial);
  }
  cb_mechanism_find_places(m, b);
  cb_drives_begin(m, step->t, step->h);
  m->at_first = step->damped ? 1 : 0.5;
}

/* The impulses of all joints, from those that bodies need; the sum on each body is m->wrench. */
static void share_impulses(cb_mechanism *m) {
  if (!m->rows) return cb_sweep_impulses(m, (const double(*)[6])m->need, m->wrench);
  cb_loops_impulses(m, m->pushed);
  for (int i = 0; i < m->links; i++) cb_add6(-1, m->pushed[i], m->need[i]);
  cb_sweep_impulses(m, (const double(*)[6])m->need, m->wrench);
  for (int i = 0; i < m->links; i++) cb_add6(1, m->pushed[i], m->wrench[i]);
}

/* The impulses of all joints in the step that was solved. */
static cb_status find_impulses(cb_mechanism *m, int *failed) {
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
  *failed = -1;
  return CB_OK;
}

/* The states at the end of the step. */
static cb_status arrive(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double h, int *failed) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double turn, impulse[6];
    *failed = l->body;
    cb_turn6_transposed((const double(*)[3])l->r0, m->wrench[i], impulse);
    cb_status status = cb_rigid_trial_turn(&l->trial, l->Y, impulse, &turn);
    if (!status) status = cb_rigid_trial_finish(&l->trial, l->Y, m->wrench[i], turn, &b->state[l->body]);
    if (status) return status;
    if (l->joint >= 0) memcpy(m->impulse[l->joint], l->w, sizeof l->w);
    m->wrench_work[l->body] += h * cb_rigid_trial_power(&l->trial, l->Y);
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
      const bool held = cb_modes_hold(m, c);
      m->momentum[c] = held ? 0 : (1 - m->at_first) * h * m->force[c].Q + m->joint[j].armature[i] * m->rate[c];
      const double friction = cb_modes_friction(m, j, i);
      const double damping = -m->joint[j].damping[i] * m->rate[c],
                   spring = -m->joint[j].stiffness[i] * (m->middle[c] - m->joint[j].rest[i]);
      m->work[CB_JOINT_WORK_DAMPING][c] += h * (damping + friction) * m->rate[c];
      m->work[CB_JOINT_WORK_MOTOR][c] += h * (m->force[c].Q - damping - friction - spring) * m->rate[c];
    }
  cb_drives_arrive(m, h);
  memcpy(m->q, m->q1, (size_t)m->coordinates * sizeof *m->q);
  m->found = true;
  return CB_OK;
}

/* Solves the equations of a step in the present modes. */
static cb_status find_twists_of_step(cb_mechanism *m, double t, double h, int *iterations, int *failed) {
  bool settled = false;
  cb_status status = CB_OK;
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
  return CB_OK;
}

cb_status cb_mechanism_drift(cb_mechanism *m, const cb_mechanism_bodies *b, const cb_mechanism_step *step, int *failed,
                             int *iterations) {
  const double t = step->t, h = step->h;
  *failed = -1;
  begin_step(m, b, step);
  for (int n = 0;; n++) {
    cb_modes_partition(m);
    cb_modes_target(m);
    cb_status status = find_twists_of_step(m, t, h, iterations, failed);
    if (!status) status = find_impulses(m, failed);
    if (status) return status;
    if (n == 3 * m->coordinates + 10 || !cb_modes_revise(m, h)) break;
  }
  return arrive(m, b, t, h, failed);
}

/* --- at a node --- */

/* At a node, both ends of the step are the same. */
static void copy_node(cb_mechanism *m) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    memcpy(l->r1, l->r0, sizeof l->r1);
    memcpy(l->d1, l->d0, sizeof l->d1);
    memcpy(l->S1, l->S0, (size_t)l->n * sizeof *l->S1);
    if (m->has_modes) memcpy(l->all1, l->all0, sizeof l->all1);
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
    if (m->has_modes) memcpy(l->all0, l->all1, sizeof l->all0);
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
  cb_loops_rates(m);
}

/* A = R_0 K R_0^T */
static void turn_inertia(cb_link *l, bool diagonal) {
  const double(*r)[3] = (const double(*)[3])l->r0;
  double half[6][6];
  if (!diagonal) {
    for (int i = 0; i < 6; i++) cb_turn6(r, l->K[i], half[i]);
    turn_rows(r, 1, (const double(*)[6])half, l->A);
    return;
  }
  memset(l->A, 0, sizeof l->A);
  for (int b = 0; b < 6; b += 3)
    for (int i = 0; i < 3; i++) {
      const double x = r[i][0] * l->K[b][b], y = r[i][1] * l->K[b + 1][b + 1], z = r[i][2] * l->K[b + 2][b + 2];
      for (int k = 0; k <= i; k++) l->A[b + i][b + k] = l->A[b + k][b + i] = x * r[k][0] + y * r[k][1] + z * r[k][2];
    }
}

/* Finds A at a node, and the momentum that is not mu_0. */
static cb_status take_inertia(cb_link *l, const cb_rigid_problem *p, double t, const cb_rigid_state *s) {
  double mu0[6], turned[6];
  l->K = p->constant ? p->constant->K : (const double(*)[6])l->own_K;
  if (p->constant) {
    memcpy(mu0, p->constant->mu0, sizeof mu0);
  } else {
    const cb_status status = p->inertia(p->self, t, &s->g, l->own_K, mu0);
    if (status) return status;
  }
  turn_inertia(l, p->constant && p->constant->diagonal);
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
  cb_modes_partition(m);
  cb_modes_target(m);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    if (l->joint < 0) continue;
    memset(l->e, 0, sizeof l->e);
    const cb_joint *j = &m->joint[l->joint];
    for (int c = 0; c < cb_joint_coordinates(j); c++)
      if (j->driven[c] || cb_modes_hold(m, m->first[l->joint] + c))
        cb_add6(m->drive_rate[m->first[l->joint] + c], m->now[l->joint].S[c], l->e);
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

/* The rates of all coordinates after the twists were found. */
static void find_rates_of_twists(cb_mechanism *m) {
  memcpy(m->rate, m->drive_rate, (size_t)m->coordinates * sizeof *m->rate); /* of driven and held coordinates */
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    for (int j = 0; j < l->n; j++) m->rate[m->first[l->joint] + l->coordinate[j]] = l->dq[j];
  }
  cb_loops_rates(m);
}

cb_status cb_mechanism_settle(cb_mechanism *m, const cb_mechanism_bodies *b, double t, int *failed) {
  const cb_status status = find_twists(m, b, t, failed);
  if (status) return status;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double Y[6], mu[6], turned[6];
    cb_turn6_transposed((const double(*)[3])l->r0, l->eta, Y);
    cb_apply6(l->K, Y, mu);
    cb_turn6((const double(*)[3])l->r0, mu, turned);
    for (int k = 0; k < 6; k++) m->need[i][k] = turned[k] - l->load[k];
  }
  share_impulses(m);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    push(&b->state[l->body], (const double(*)[3])l->r0, m->wrench[i]);
    if (l->joint < 0) continue;
    cb_add6(1, l->w, m->impulse[l->joint]);
    cb_drives_settle(m, l->joint, l->w);
  }
  find_rates_of_twists(m);
  cb_loops_record(m, true);
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++)
      m->momentum[m->first[j] + i] = m->joint[j].armature[i] * m->rate[m->first[j] + i];
  return CB_OK;
}

cb_status cb_mechanism_look(cb_mechanism *m, const cb_mechanism_bodies *b, double t) {
  int failed;
  const cb_status status = find_twists(m, b, t, &failed);
  if (!status) find_rates_of_twists(m);
  return status;
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
    for (int j = 0; j < m->joints; j++) {
      if (n == 0 && gap[j] > open) *which = j; /* only loops are open at first */
      open = fmax(open, gap[j]);
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
  return cb_fail(
      CB_ERROR_DOMAIN,
      "joint `%s` cannot be closed: a gap of %.3g stays: expected coordinates at the start from which the loop "
      "can be closed",
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
