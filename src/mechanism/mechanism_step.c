/* The drift: the part of a step of joined bodies from one node to the next (equations: mechanism.h; other symbols:
 * mechanism_private.h). Settling at a node is in mechanism_node.c. R_0: rotation of a body at the first node; J:
 * Newton's matrix of a single body; tau: the map from twists to poses. */
#include "mechanism/mechanism_blocks.h"
#include "numerics/dd.h"
#include "numerics/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAXIMUM = 40 };

/* --- joints at poses --- */

void cb_mechanism_place_of(const cb_rigid_state *s, cb_place *out) {
  memcpy(out->q, s->g.q, sizeof out->q);
  cb_quaternion_rotation(s->g.q, out->r);
  memcpy(out->x, s->g.x, sizeof out->x);
  memcpy(out->x_low, s->x_low, sizeof out->x_low);
}

/* Finds the place of a link at the end of the trial step. */
static void place_at_trial(const cb_mechanism *m, cb_link *l, cb_place *out) {
  const cb_rigid_trial *e = &l->trial;
  if (l->curved) {
    cb_curved_place_trial(m, l);
    return;
  }
  cb_quaternion_multiply(e->s->g.q, e->move.q, out->q);
  cb_quaternion_project(out->q);
  cb_quaternion_rotation(out->q, out->r);
  cb_apply3(e->r, e->move.x, l->moved);
  for (int i = 0; i < 3; i++) {
    out->x[i] = e->s->g.x[i];
    out->x_low[i] = e->s->x_low[i] + l->moved[i];
  }
}

void cb_mechanism_find_joints(cb_mechanism *m, cb_joint_extent extent, bool trial, double *q) {
  m->blocks.kernel->find_hinges(m, extent, trial, q);
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    const cb_place *a = l->parent >= 0 ? &m->link[l->parent].place : NULL, *b = &l->place;
    if (l->joint < 0 || l->hinge_in_block) continue;
    if (l->curved)
      cb_curved_joint_at(m, l, extent, q + m->first[l->joint], &m->now[l->joint]);
    else
      cb_joint_at(&m->joint[l->joint], l->first_moves ? b : a, l->first_moves ? a : b, l->first_moves, extent,
                  q + m->first[l->joint], &m->now[l->joint]);
  }
  cb_loops_find(m, q);
}

void cb_mechanism_vector(const cb_place *a, const cb_place *b, double d[3]) {
  static const double origin[3];
  const double *x = b ? b->x : origin, *low = b ? b->x_low : origin;
  for (int k = 0; k < 3; k++) d[k] = a ? x[k] - a->x[k] + (low[k] - a->x_low[k]) : 0;
}

/* Moves a twist at the end of the step to the body's origin at its beginning. */
static void move_twist(const cb_link *l, double twist[6]) {
  double moved[3];
  if (l->curved) {
    cb_curved_move_twist(l, twist);
    return;
  }
  cb_cross3(l->moved, twist, moved);
  for (int k = 0; k < 3; k++) twist[3 + k] += moved[k];
}

void cb_mechanism_find_closing(const cb_mechanism *m, cb_link *l, const double *driven) {
  const cb_joint *j = &m->joint[l->joint];
  const cb_joint_now *now = &m->now[l->joint];
  memcpy(l->e, now->close, sizeof l->e);
  for (int i = 0; i < cb_joint_coordinates(j); i++)
    if (j->driven[i] || cb_modes_hold(m, m->first[l->joint] + i))
      cb_add6(driven[m->first[l->joint] + i], now->S[i], l->e);
  move_twist(l, l->e);
}

/* Finds S and e at the end of the step from the present motions of the joints. Those of hinges in blocks are already
 * known if there are no limits and no dry friction. */
static void take_end(cb_mechanism *m) {
  for (int c = 0; c < m->coordinates; c++) m->missing[c] = m->drive[c] - m->q1[c];
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    if (l->joint < 0 || (l->hinge_in_block && !m->has_modes)) continue;
    for (int j = 0; j < l->n; j++) {
      memcpy(l->S1[j], m->now[l->joint].S[l->coordinate[j]], sizeof l->S1[j]);
      move_twist(l, l->S1[j]);
    }
    cb_mechanism_find_closing(m, l, m->missing);
  }
  cb_loops_take(m, true);
}

/* --- forces on coordinates --- */

/* Adds the spring and damper of a limit that does not reflect, if the coordinate is beyond it. */
static void add_stiff_limit(const cb_joint *j, int i, double q, double rate, cb_joint_force *force) {
  const double beyond = q < j->limit[i][0] ? q - j->limit[i][0] : q > j->limit[i][1] ? q - j->limit[i][1] : 0;
  if (beyond == 0) return;
  force->Q -= j->stiff[0] * beyond + j->stiff[1] * rate;
  force->Q_q -= j->stiff[0];
  force->Q_rate -= j->stiff[1];
}

void cb_mechanism_forces(cb_mechanism *m, double t, const double *q, const double *rate) {
  memset(m->force, 0, (size_t)m->coordinates * sizeof *m->force);
  if (m->laws.motors) m->laws.motors(m->laws.self, t, q, rate, m->force);
  for (int c = 0; c < m->coordinates; c++) {
    const cb_coordinate *own = &m->coordinate[c];
    cb_joint_force *f = &m->force[c];
    f->Q -= own->stiffness * (q[c] - own->rest) + own->damping * rate[c];
    f->Q_q -= own->stiffness;
    f->Q_rate -= own->damping;
    if (m->has_modes) f->Q += cb_modes_friction(m, own->joint, own->number);
    if (own->soft) add_stiff_limit(&m->joint[own->joint], own->number, q[c], rate[c], f);
  }
}

/* Copies the forces of the coordinates to their links and rows of loops. */
void cb_mechanism_assign_forces(cb_mechanism *m) {
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
    const int joint = m->loop[i].joint, gaps = m->loop[i].gaps;
    for (int r = 0; r < m->loop[i].rows; r++, row++) {
      if (!m->row[row].yields) continue;
      m->row[row].force = m->impulsive[m->first[joint] + r - gaps];
      m->row[row].stiff = m->stiffness[m->first[joint] + r - gaps];
    }
  }
}

/* Finds the forces on coordinates in a step of length h from q to q1. From these forces and the momenta it finds the
 * impulsive forces and the stiffnesses. */
static cb_status find_forces(cb_mechanism *m, double t, double h, bool shared_is_known) {
  for (int c = 0; c < m->coordinates; c++) {
    m->middle[c] = m->q[c] + (m->q1[c] - m->q[c]) / 2;
    m->rate[c] = (m->q1[c] - m->q[c]) / h;
  }
  cb_mechanism_forces(m, t + h / 2, m->middle, m->rate);
  const cb_status status = shared_is_known ? CB_OK : cb_shared_find(m, h);
  if (status) return status;
  cb_shared_push(m);
  for (int c = 0; c < m->coordinates; c++) {
    const cb_joint_force *f = &m->force[c];
    const double a = m->coordinate[c].armature;
    m->impulsive[c] = m->momentum[c] + m->at_first * h * f->Q - a * m->rate[c];
    m->stiffness[c] = a / h - m->at_first * (h / 2 * f->Q_q + f->Q_rate);
  }
  cb_mechanism_assign_forces(m);
  return CB_OK;
}

/* --- the drift --- */

/* out = B R^T, with the 6x6 matrix R = diag(r, r). The angular rows of B must be 0 in the linear columns; member c of
 * these rows of `out` is not set. */
static void turn_columns(const double r[3][3], const double B[6][6], cb_row6 out[6]) {
  cb_two angular[3], one[3], other[3], linear[3]; /* the columns of R as pairs of numbers, in the layout of cb_row6 */
  for (int k = 0; k < 3; k++) {
    angular[k] = (cb_two){r[0][k], r[1][k]};
    one[k] = (cb_two){r[2][k], 0};
    other[k] = (cb_two){0, r[0][k]};
    linear[k] = (cb_two){r[1][k], r[2][k]};
  }
  for (int i = 0; i < 6; i++) {
    const cb_two x = cb_two_of(B[i][0]), y = cb_two_of(B[i][1]), z = cb_two_of(B[i][2]);
    out[i].a = x * angular[0] + y * angular[1] + z * angular[2];
    out[i].b = x * one[0] + y * one[1] + z * one[2];
    if (i < 3) continue;
    const cb_two u = cb_two_of(B[i][3]), v = cb_two_of(B[i][4]), w = cb_two_of(B[i][5]);
    out[i].b += u * other[0] + v * other[1] + w * other[2];
    out[i].c = u * linear[0] + v * linear[1] + w * linear[2];
  }
}

/* A = R_0 (1/h) J dtau^-1_{hY} R_0^T: a displacement eta of the end changes Y by (1/h) dtau^-1_{hY} R_0^T eta, because
 * (1 + hat(R_0^T eta)) tau(h Y) is the displaced step. */
static void turn_matrix(cb_link *l, double h, const double J[6][6]) {
  const double(*r)[3] = (const double(*)[3])l->r0;
  cb_row6 B[6], M[6];
  turn_columns(r, (const double(*)[6])l->trial.A, B);
  for (int i = 0; i < 6; i++) {
    const cb_two u = cb_two_of(J[i][3]), v = cb_two_of(J[i][4]), w = cb_two_of(J[i][5]);
    M[i] = (cb_row6){u * B[3].a + v * B[4].a + w * B[5].a, u * B[3].b + v * B[4].b + w * B[5].b,
                     u * B[3].c + v * B[4].c + w * B[5].c};
    for (int k = 0; k < 3; k++) {
      M[i].a += J[i][k] * B[k].a;
      M[i].b += J[i][k] * B[k].b;
    }
  }
  cb_sweep_turn(r, 1 / h, M, l->A);
}

/* Returns the arguments of the loops over blocks (mechanism_blocks.h). */
static cb_block_step block_step(const cb_mechanism *m, const cb_mechanism_bodies *b, double h) {
  return (cb_block_step){.h = h, .first = h * m->at_first, .state = b->state};
}

static cb_status not_finite(const cb_mechanism *m, int link, double h, double t, int *failed) {
  *failed = m->link[link].body;
  return cb_fail(CB_STEP_NOT_FINITE, "the result of a step of %g at t = %g is not finite: use a smaller `step`", h, t);
}

static cb_status evaluate(cb_mechanism *m, const cb_block_step *step, double t, bool first, bool fresh, int *failed) {
  const double h = step->h;
  const int bad = m->blocks.kernel->evaluate(m, step, fresh);
  if (bad >= 0) return not_finite(m, bad, h, t, failed);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double J[6][6], residual[6];
    if (l->in_block) continue;
    cb_status status = l->curved ? cb_curved_evaluate(m, l, first, fresh)
                                 : cb_rigid_trial_at(&l->trial, l->Y, first, residual, fresh ? J : NULL);
    if (!status && first && !l->curved) status = cb_rigid_trial_check_back(&l->trial);
    if (status) {
      *failed = l->body;
      return status;
    }
    if (l->curved) continue;
    place_at_trial(m, l, &l->place);
    cb_turn6((const double(*)[3])l->r0, residual, l->load);
    if (fresh) turn_matrix(l, h, (const double(*)[6])J);
  }
  return CB_OK;
}

/* Finds the update of a twist from the displacement eta (turn_matrix). */
static void find_update(cb_link *l, double h) {
  double eta[6], hY[6];
  if (l->curved) {
    cb_curved_update(l);
    return;
  }
  for (int k = 0; k < 6; k++) hY[k] = h * l->Y[k];
  cb_turn6_transposed((const double(*)[3])l->r0, l->eta, eta);
  for (int k = 0; k < 6; k++) eta[k] *= 1 / h;
  cb_se3_dtau_inverse_apply(l->trial.map, hY, eta, l->update);
}

/* Returns <K a, a>/k, the square of a norm of the twist a in m/s. k is the mean of the linear inertia, so the norm does
 * not depend on the size of masses. */
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

/* Fails, as cb_rigid_trial_check_back does, if the step goes back (h < 0) and dampers of joints are too strong for it:
 * the part of D that comes from dampers is compared with the part that comes from the inertia. */
static cb_status check_dampers(const cb_mechanism *m, double h, double t) {
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    for (int j = 0; j < l->n; j++) {
      /* at half a turn the axes of a rotation vector change by a jump, and then S_k^T A S_{k+1} may be negative */
      const double inertia = fabs(h * l->inertia[j]),
                   damping = h * m->force[m->first[l->joint] + l->coordinate[j]].Q_rate;
      if (damping > 0.66 * inertia)
        return cb_fail(CB_STEP_NO_CONVERGENCE,
                       "the backward part of a step of order 4, %g at t = %g, fails because the damping of joint `%s` "
                       "is too strong: use `order: 2`, or a smaller `step`",
                       h, t, m->joint[l->joint].name);
    }
  }
  return CB_OK;
}

static double larger(double a, double b) { return b > a ? b : a; } /* fmax would be a function call */

/* Finds the updates of all twists, and adds them. *change becomes the largest change of a twist, and *scale the largest
 * twist so far. */
static cb_status update(cb_mechanism *m, const cb_block_step *step, double t, double *change, double *scale,
                        int *failed) {
  const double h = step->h;
  double changed = 0, largest = 0;
  const int bad = m->blocks.kernel->update(m, step, &changed, &largest);
  if (bad >= 0) return not_finite(m, bad, h, t, failed);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    if (l->in_block) continue;
    find_update(l, h);
    largest = larger(largest, squared_speed(l, l->Y));
    changed = larger(changed, squared_speed(l, l->update));
    cb_add6(1, l->update, l->Y);
    if (!cb_finite6(l->Y)) return not_finite(m, i, h, t, failed);
  }
  *change = sqrt(changed);
  *scale = larger(*scale, sqrt(larger(largest, changed)));
  return CB_OK;
}

/* Makes one iteration of Newton's method (*change, *scale: see `update`). */
static cb_status iterate(cb_mechanism *m, const cb_block_step *step, double t, int n, bool fresh, double *change,
                         double *scale, int *failed) {
  const double h = step->h;
  int at;
  cb_status status = evaluate(m, step, t, n == 0, fresh, failed);
  m->found = m->taken = false;
  if (status) return status;
  memcpy(m->q1, m->q, (size_t)m->coordinates * sizeof *m->q1);
  cb_mechanism_find_joints(m, CB_JOINT_CLOSING, true, m->q1);
  take_end(m);
  if ((status = find_forces(m, t, h, false))) return status;
  for (int i = 0; i < m->links && m->shared; i++) cb_shared_need(m, i, -1, m->link[i].load);
  cb_shared_use(m);
  cb_loops_set_targets(m, false);
  cb_loops_push(m);
  if (fresh && !cb_sweep_matrices(m, &at)) return cb_mechanism_fail_at(m, at, h, t);
  if (n == 0 && h < 0 && (status = check_dampers(m, h, t))) return status;
  if (fresh && (status = cb_loops_factor(m))) return status;
  cb_sweep_solve(m);
  cb_loops_solve(m);
  return update(m, step, t, change, scale, failed);
}

/* Returns the error of a velocity that the round-off of a step causes. Rotations have this round-off, which acts at the
 * distance of the radius of gyration, and so have the vectors from joint to joint. The errors accumulate along a
 * chain. */
static double blur(const cb_mechanism *m, double h) {
  double far = 0;
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    const double *d = l->parent >= 0 ? l->d : l->place.x, mass = l->trial.K[3][3] + l->trial.K[4][4] + l->trial.K[5][5],
                 inertia = l->trial.K[0][0] + l->trial.K[1][1] + l->trial.K[2][2];
    if (l->joint >= 0) far += cb_dot3(d, d) + (mass > 0 ? inertia / mass : 0);
  }
  return 2 * DBL_EPSILON * sqrt(far) / fabs(h);
}

/* Returns whether a fresh matrix is the exact derivative of the residual, so that convergence is quadratic. With motors
 * it is not, because they may depend on coordinates of other joints. */
static bool is_quadratic(const cb_mechanism *m) {
  bool quadratic = !m->laws.motors && !m->shared;
  for (int i = 0; i < m->links && quadratic; i++) {
    const cb_rigid_problem *p = m->link[i].trial.p;
    quadratic = p->exact && !p->inertia_wrench && (p->pose_derivative || !(p->wrench || p->pose_dependent));
    quadratic = quadratic && !(m->curvature != 0 && p->wrench);
  }
  return quadratic;
}

/* Iterates to round-off, as for a single body (integrators/hamilton_pontryagin.c). After the first change the estimate
 * of the next one is 100 * rate * change, because the arms of joints are longer than the radii of gyration. */
static cb_status solve(cb_mechanism *m, const cb_block_step *step, double t, bool *settled, int *count, int *failed) {
  cb_loops_begin(m);
  const bool quadratic = is_quadratic(m);
  double last = 0, scale = 0, rate = 1;
  *settled = false;
  for (int n = 0; n < MAXIMUM && !*settled; n++) {
    const bool fresh = rate > 0.02;
    double change = 0;
    const cb_status status = iterate(m, step, t, n, fresh, &change, &scale, failed);
    if (status) return status;
    rate = change / (n > 0 ? last : scale);
    *count = n + 1;
    const double next = n == 0  ? 100 * rate * change
                        : fresh ? 10 * rate * rate * change
                                : 2 * rate * change / (1 - 2 * rate);
    *settled = change <= 1e-15 * scale || ((n > 0 || quadratic) && rate < 0.25 && next <= 1e-15 * scale) ||
               (n > 0 && change <= blur(m, step->h)) ||
               (n > 0 && change >= last &&
                change <= larger(1e-10 * scale, 16 * blur(m, step->h))); /* loops amplify round-off */
    if (!(change < 1e200)) break;
    last = change;
  }
  return CB_OK;
}

static cb_status begin_step(cb_mechanism *m, const cb_mechanism_bodies *b, const cb_mechanism_step *step, int *failed) {
  m->at_first = step->damped ? 1 : 0.5;
  const cb_status status = cb_blocks_take_bodies(m, b, step, failed);
  if (status) return status;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    const cb_rigid_problem *p = l->trial.p;
    if (l->in_block) { /* only find_turn and blur look at its trial */
      l->trial.s = &b->state[l->body];
      l->trial.K = p->constant->K;
      continue;
    }
    if (l->curved) {
      *failed = l->body;
      const cb_status begun = cb_curved_begin(p, step, &b->state[l->body], l);
      if (begun) return begun;
      continue;
    }
    cb_rigid_trial_begin(p, step->map, step->h, &b->state[l->body], &l->trial);
    l->trial.damped = step->damped;
    if (p->dead_load) cb_rigid_trial_dead_load(&l->trial);
  }
  cb_mechanism_find_places(m, b);
  cb_drives_begin(m, step->t, step->h);
  cb_shared_begin(m);
  const cb_block_step own = block_step(m, b, step->h);
  m->blocks.kernel->begin(m, &own);
  return CB_OK;
}

/* Finds the impulses of all joints from m->need, the impulses that the bodies need. Sets m->wrench to the sum of the
 * impulses on each body. */
void cb_mechanism_share_impulses(cb_mechanism *m) {
  if (!m->rows) return cb_sweep_impulses(m, (const double(*)[6])m->need, m->wrench);
  cb_loops_impulses(m, m->pushed);
  for (int i = 0; i < m->links; i++) cb_add6(-1, m->pushed[i], m->need[i]);
  cb_sweep_impulses(m, (const double(*)[6])m->need, m->wrench);
  for (int i = 0; i < m->links; i++) cb_add6(1, m->pushed[i], m->wrench[i]);
}

/* Finds the coordinates and forces of the step that was solved, from which the modes follow. (The last iteration found
 * them before it updated the twists.) */
static cb_status find_coordinates(cb_mechanism *m, const cb_block_step *step, double t) {
  m->blocks.kernel->place(m, step);
  for (int i = 0; i < m->links; i++)
    if (!m->link[i].in_block) place_at_trial(m, &m->link[i], &m->link[i].place);
  memcpy(m->q1, m->q, (size_t)m->coordinates * sizeof *m->q1);
  cb_mechanism_find_joints(m, CB_JOINT_MOTION, false, m->q1);
  return find_forces(m, t, step->h, m->shared != NULL);
}

/* Finds the momenta and forces of the shared inertia for the twists of the step that was solved. */
static cb_status find_shared(cb_mechanism *m, const cb_block_step *step, double t) {
  const cb_status status = cb_shared_follow(m) ? CB_OK : find_coordinates(m, step, t);
  return status ? status : cb_shared_find(m, step->h);
}

/* Finds the impulses of all joints in the step that was solved. */
static cb_status find_impulses(cb_mechanism *m, const cb_block_step *step, double t, int *failed) {
  m->blocks.kernel->find_needs(m, step);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double residual[6];
    if (l->in_block) continue;
    *failed = l->body;
    const cb_status status =
        l->curved ? cb_curved_need(m, l, m->need[i]) : cb_rigid_trial_arrive(&l->trial, l->Y, l->update);
    if (status) return status;
    if (l->curved) continue;
    cb_rigid_trial_residual(&l->trial, l->Y, residual);
    for (int k = 0; k < 6; k++) residual[k] = -residual[k];
    cb_turn6((const double(*)[3])l->r0, residual, m->need[i]);
  }
  *failed = -1;
  const cb_status status = m->shared ? find_shared(m, step, t) : CB_OK;
  if (status) return status;
  for (int i = 0; i < m->links && m->shared; i++) cb_shared_need(m, i, 1, m->need[i]);
  cb_mechanism_share_impulses(m);
  return CB_OK;
}

/* Finds the impulse of the joints on a link, in the frame of the link. The impulse that changes the shared momentum of
 * the body is left out. */
static void own_impulse(const cb_mechanism *m, int link, double out[6]) {
  double W[6];
  memcpy(W, m->wrench[link], sizeof W);
  if (m->shared) cb_shared_need(m, link, -1, W);
  cb_turn6_transposed((const double(*)[3])m->link[link].r0, W, out);
}

/* Sets the angle by which a step rotates a body in a block to the result of cb_rigid_trial_turn. This function is
 * called if the angle is not small. */
static cb_status find_turn(const cb_mechanism *m, const cb_mechanism_step *step, cb_body_block *B, int place) {
  const int link = B->link[place];
  const cb_link *l = &m->link[link];
  double Y[6], impulse[6], residual[6];
  cb_rigid_trial e;
  for (int k = 0; k < 6; k++) Y[k] = B->own_Y[k][place];
  cb_rigid_trial_begin(l->trial.p, step->map, step->h, l->trial.s, &e);
  e.damped = step->damped;
  cb_status status = cb_rigid_trial_at(&e, Y, true, residual, NULL);
  if (status) return status;
  own_impulse(m, link, impulse);
  return cb_rigid_trial_turn(&e, Y, impulse, &B->turn[place]);
}

/* Finds the states of bodies in blocks at the end of the step. */
static cb_status arrive_in_blocks(cb_mechanism *m, const cb_mechanism_step *step, const cb_block_step *own,
                                  int *failed) {
  for (int i = 0; i < m->blocks.bodies; i++)
    for (int k = 0; k < m->blocks.body[i].count; k++) {
      cb_body_block *B = &m->blocks.body[i];
      *failed = m->link[B->link[k]].body;
      const cb_status status = B->turn[k] < 0.15 ? CB_OK : find_turn(m, step, B, k);
      if (status) return status;
    }
  const int bad = m->blocks.kernel->arrive(m, own);
  return bad >= 0 ? not_finite(m, bad, step->h, step->t, failed) : CB_OK;
}

/* Finds all states at the end of the step. */
static cb_status arrive(cb_mechanism *m, const cb_mechanism_bodies *b, const cb_mechanism_step *step, int *failed) {
  const double t = step->t, h = step->h;
  const cb_block_step own = block_step(m, b, h);
  cb_status status = arrive_in_blocks(m, step, &own, failed);
  if (status) return status;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double turn, impulse[6];
    if (l->joint >= 0) memcpy(m->impulse[l->joint], l->w, sizeof l->w);
    if (l->in_block && m->shared) cb_add6(1, cb_shared_momentum(m, l->body), b->state[l->body].mu);
    if (l->in_block) continue;
    *failed = l->body;
    if (l->curved) {
      if ((status = cb_curved_finish(l, m->wrench[i], &turn, &b->state[l->body]))) return status;
      m->wrench_work[l->body] += h * turn;
      continue;
    }
    own_impulse(m, i, impulse);
    status = cb_rigid_trial_turn(&l->trial, l->Y, impulse, &turn);
    if (m->shared) cb_add6(1, cb_shared_momentum(m, l->body), l->trial.mu);
    if (!status) status = cb_rigid_trial_finish(&l->trial, l->Y, m->wrench[i], turn, &b->state[l->body]);
    if (status) return status;
    m->wrench_work[l->body] += h * cb_rigid_trial_power(&l->trial, l->Y);
    cb_mechanism_place_of(&b->state[l->body], &l->place);
  }
  if (m->curvature != 0) cb_curved_place_bodies(m, b);
  cb_loops_record(m, false);
  *failed = -1;
  memcpy(m->q1, m->q, (size_t)m->coordinates * sizeof *m->q1);
  cb_mechanism_find_joints(m, CB_JOINT_MOTION, false, m->q1);
  if ((status = find_forces(m, t, h, true))) return status;
  for (int c = 0; c < m->coordinates; c++) {
    const cb_coordinate *o = &m->coordinate[c];
    const bool held = m->has_modes && cb_modes_hold(m, c);
    const double friction = m->has_modes ? cb_modes_friction(m, o->joint, o->number) : 0, rate = m->rate[c],
                 damping = -o->damping * rate, spring = -o->stiffness * (m->middle[c] - o->rest);
    m->momentum[c] = held ? 0 : (1 - m->at_first) * h * m->force[c].Q + o->armature * rate;
    m->work[CB_JOINT_WORK_DAMPING][c] += h * (damping + friction) * rate;
    m->work[CB_JOINT_WORK_MOTOR][c] += h * (m->force[c].Q - damping - friction - spring - cb_shared_force(m, c)) * rate;
  }
  cb_drives_arrive(m, h);
  cb_couplings_record(m);
  memcpy(m->q, m->q1, (size_t)m->coordinates * sizeof *m->q);
  m->found = m->curvature == 0;
  return CB_OK;
}

/* Solves the equations of a step in the present modes. */
static cb_status find_twists_of_step(cb_mechanism *m, const cb_block_step *step, double t, int *iterations,
                                     int *failed) {
  const double h = step->h;
  bool settled = false;
  cb_status status = CB_OK;
  /* a second attempt begins with the last twists, because extrapolation fails if stiff drag makes twists alternate */
  for (int attempt = 0; attempt < 2 && !settled; attempt++) {
    m->blocks.kernel->guess(m, step, attempt == 0);
    for (int i = 0; i < m->links; i++) {
      cb_link *l = &m->link[i];
      if (l->in_block) continue;
      if (attempt == 0)
        cb_rigid_guess(l->trial.s, h, l->Y);
      else
        memcpy(l->Y, l->trial.s->Y, sizeof l->Y);
    }
    status = solve(m, step, t, &settled, iterations, failed);
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
  cb_status status = begin_step(m, b, step, failed);
  if (status) return status;
  const cb_block_step own = block_step(m, b, h);
  for (int n = 0;; n++) {
    cb_modes_partition(m);
    cb_modes_target(m);
    status = cb_mechanism_sort_rows(m, b, t, failed);
    if (!status) status = find_twists_of_step(m, &own, t, iterations, failed);
    if (!status) status = find_impulses(m, &own, t, failed);
    if (!status && m->has_modes) status = find_coordinates(m, &own, t);
    if (status) return status;
    if (n == 3 * m->coordinates + 10 || !cb_modes_revise(m, h)) break;
  }
  return arrive(m, b, step, failed);
}
