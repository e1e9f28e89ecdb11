/* Limits and dry friction of the coordinates of joints, by the mode of each coordinate in a step.
 *
 *   free       S_k^T w = P_k + (h/2) Q - a q'
 *   slipping   the same with Q - f sign(q')                              f: the largest force of dry friction
 *   held       q_{k+1} is a limit, or q_k (sticking); lambda = S_k^T w - P_k - (h/2) Q is the impulse that holds it
 * A limit holds while lambda pushes away from it, and friction while |lambda| <= (h/2) f. The modes of all coordinates
 * are found by solving the step and changing those that contradict its result. A coordinate that reaches a limit within
 * a step is reflected there (coupling/coupled_contacts.c); a limit holds only a coordinate that is at the limit at the
 * beginning of the step. Other symbols: mechanism.h. Source: Moreau (1988), doi:10.1007/978-3-7091-2624-0_1 (friction
 * as an impulse of the step).
 */
#include "mechanism/mechanism_private.h"

#include <math.h>
#include <string.h>

/* A coordinate q is at its limit if |q - limit| is at most this number times 1 + |limit|. */
static const double at_limit = 1e-12;

static cb_joint_mode mode_of(const cb_mechanism *m, int c) { return (cb_joint_mode)m->mode[c]; }

static bool reflects(const cb_joint *j, int i, int side) {
  return j->limit[i][0] < j->limit[i][1] && isfinite(j->limit[i][side]) && j->stiff[0] == 0 && !j->driven[i];
}

bool cb_modes_hold(const cb_mechanism *m, int c) {
  const cb_joint_mode mode = mode_of(m, c);
  return mode == CB_JOINT_AT_LOWEST || mode == CB_JOINT_AT_HIGHEST || mode == CB_JOINT_STICKS;
}

double cb_modes_friction(const cb_mechanism *m, int joint, int i) {
  const cb_joint_mode mode = mode_of(m, m->first[joint] + i);
  const double f = m->joint[joint].friction[i];
  return mode == CB_JOINT_SLIPS_UP ? -f : mode == CB_JOINT_SLIPS_DOWN ? f : 0;
}

void cb_modes_create(cb_mechanism *m) {
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      const cb_joint *own = &m->joint[j];
      m->limits += reflects(own, i, 0) + reflects(own, i, 1);
      m->has_modes = m->has_modes || own->friction[i] > 0 || reflects(own, i, 0) || reflects(own, i, 1);
    }
}

void cb_modes_start(cb_mechanism *m) {
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      const int c = m->first[j] + i;
      const double rate = m->rate[c];
      m->mode[c] = CB_JOINT_FREE;
      if (m->joint[j].friction[i] > 0 && !m->joint[j].driven[i])
        m->mode[c] = rate > 0 ? CB_JOINT_SLIPS_UP : rate < 0 ? CB_JOINT_SLIPS_DOWN : CB_JOINT_STICKS;
    }
}

void cb_modes_partition(cb_mechanism *m) {
  int row = 0;
  if (!m->has_modes) return;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    l->n = 0;
    for (int k = 0; l->joint >= 0 && k < cb_joint_coordinates(&m->joint[l->joint]); k++) {
      const int c = m->first[l->joint] + k;
      if (m->joint[l->joint].driven[k] || cb_modes_hold(m, c)) continue;
      memcpy(l->S0[l->n], l->all0[k], sizeof l->all0[k]);
      l->coordinate[l->n++] = k;
    }
  }
  for (int i = 0; i < m->loops; i++) {
    const int joint = m->loop[i].joint, gaps = m->loop[i].gaps;
    for (int r = 0; r < m->loop[i].rows; r++, row++)
      if (r >= gaps)
        m->row[row].yields = !m->joint[joint].driven[r - gaps] && !cb_modes_hold(m, m->first[joint] + r - gaps);
  }
}

void cb_modes_target(cb_mechanism *m) {
  for (int j = 0; j < m->joints && m->has_modes; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      const int c = m->first[j] + i;
      const cb_joint_mode mode = mode_of(m, c);
      if (!cb_modes_hold(m, c)) continue;
      m->drive[c] = mode == CB_JOINT_AT_LOWEST    ? m->joint[j].limit[i][0]
                    : mode == CB_JOINT_AT_HIGHEST ? m->joint[j].limit[i][1]
                                                  : m->q[c];
      m->drive_rate[c] = 0;
    }
}

/* Returns the impulse S_k^T w of the joint on a coordinate. */
static double impulse_on(const cb_mechanism *m, int joint, int i) {
  for (int k = 0; k < m->links; k++)
    if (m->link[k].joint == joint) return cb_sweep_dot(m->link[k].all0[i], m->link[k].w);
  int row = 0;
  for (int l = 0; l < m->loops; row += m->loop[l++].rows)
    if (m->loop[l].joint == joint) return m->row[row + cb_joint_gaps(&m->joint[joint]) + i].lambda;
  return 0;
}

/* Returns the mode of a coordinate after it was released upwards or downwards. */
static cb_joint_mode released(const cb_joint *j, int i, bool up) {
  return j->friction[i] > 0 ? up ? CB_JOINT_SLIPS_UP : CB_JOINT_SLIPS_DOWN : CB_JOINT_FREE;
}

static bool at(double q, double limit) { return fabs(q - limit) <= at_limit * (1 + fabs(limit)); }

/* Returns the present mode if the solution of the step agrees with it, otherwise the mode to be tried next. */
static cb_joint_mode right_mode(const cb_mechanism *m, int joint, int i, double h) {
  const cb_joint *j = &m->joint[joint];
  const int c = m->first[joint] + i;
  const cb_joint_mode mode = mode_of(m, c);
  const double low = j->limit[i][0], high = j->limit[i][1], q1 = m->q1[c];
  if (cb_modes_hold(m, c)) {
    const double lambda = impulse_on(m, joint, i) - m->momentum[c] - m->at_first * h * m->force[c].Q,
                 push = h > 0 ? lambda : -lambda;
    /* the coordinate moves although it is held: its constraint was dropped because other joints implied it, and they no
     * longer do */
    if (!at(q1, m->drive[c])) return released(j, i, m->rate[c] > 0);
    if (mode == CB_JOINT_AT_LOWEST ? push < 0 : mode == CB_JOINT_AT_HIGHEST && push > 0)
      return j->friction[i] > 0 ? CB_JOINT_STICKS : CB_JOINT_FREE; /* a limit cannot pull, but dry friction may hold the
                                                                    * coordinate */
    if (mode != CB_JOINT_STICKS) return mode;
    return fabs(lambda) > m->at_first * fabs(h) * j->friction[i] ? released(j, i, push < 0) : mode;
  }
  if (reflects(j, i, 0) && at(m->q[c], low) && q1 < low && !at(q1, low)) return CB_JOINT_AT_LOWEST;
  if (reflects(j, i, 1) && at(m->q[c], high) && q1 > high && !at(q1, high)) return CB_JOINT_AT_HIGHEST;
  /* if another coordinate of the loop is held, this coordinate moves by round-off only, and need not be held, too */
  const bool back = (mode == CB_JOINT_SLIPS_UP && m->rate[c] < 0) || (mode == CB_JOINT_SLIPS_DOWN && m->rate[c] > 0);
  return back && !at(q1, m->q[c]) ? CB_JOINT_STICKS : mode;
}

bool cb_modes_revise(cb_mechanism *m, double h) {
  bool changed = false;
  for (int j = 0; j < m->joints && m->has_modes; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      if (m->joint[j].driven[i]) continue;
      const int c = m->first[j] + i;
      const cb_joint_mode mode = right_mode(m, j, i, h);
      changed = changed || mode != mode_of(m, c);
      m->mode[c] = mode;
    }
  return changed;
}

/* --- reflections --- */

int cb_mechanism_limits(const cb_mechanism *m) { return m->limits; }

cb_joint_limit cb_mechanism_limit(const cb_mechanism *m, int number) {
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++)
      for (int side = 0; side < 2; side++)
        if (reflects(&m->joint[j], i, side) && number-- == 0)
          return (cb_joint_limit){j, m->first[j] + i, side == 1, m->joint[j].limit[i][side], m->joint[j].restitution};
  return (cb_joint_limit){.joint = -1};
}

void cb_mechanism_push_limit(cb_mechanism *m, int number, double impulse) {
  const cb_joint_limit l = cb_mechanism_limit(m, number);
  const int i = l.coordinate - m->first[l.joint];
  m->momentum[l.coordinate] += l.highest ? -impulse : impulse;
  m->mode[l.coordinate] = released(&m->joint[l.joint], i, !l.highest);
}

void cb_mechanism_release(cb_mechanism *m) {
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++)
      if (cb_modes_hold(m, m->first[j] + i)) m->mode[m->first[j] + i] = released(&m->joint[j], i, true);
}

void cb_mechanism_hold(cb_mechanism *m) { cb_modes_start(m); }

void cb_mechanism_add_limit_work(cb_mechanism *m, int number, double work) {
  m->work[CB_JOINT_WORK_LIMIT][cb_mechanism_limit(m, number).coordinate] += work;
}

/* --- drives ---
 *
 * The impulses of drives, and their work. A drive keeps its coordinate q to a law, and its force acts on the bodies,
 * and on the spring, the damper and the rotor a of the coordinate:
 *
 *   f = S^T w/h - Q + a q'',   work = sum over nodes of q' S^T W - sum over steps of h Q q' + change of a q'^2/2
 * with the impulses W of the joint at the nodes, its twist S there, and the force Q of spring and damper. In a step of
 * length h, the impulses at its first and at its last node (from settling) are each about half of w, so that the first
 * sum is the trapezoidal rule, of order 2. N m, N, J.
 */

void cb_drives_begin(cb_mechanism *m, double t, double h) {
  if (!m->laws.drives) return;
  m->laws.drives(m->laws.self, t, m->drive, m->drive_rate);
  memcpy(m->drive_first, m->drive_rate, (size_t)m->coordinates * sizeof *m->drive_first);
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++)
      memcpy(m->drive_axis[m->first[j] + i], m->now[j].S[i], sizeof *m->drive_axis);
  m->laws.drives(m->laws.self, t + h, m->drive, m->drive_rate);
}

/* Adds to the impulse and the work of the drive of coordinate c the parts that come from an impulse W of its joint at a
 * node. S and `rate` are the twist and the rate of the coordinate there. */
static void add(cb_mechanism *m, int c, const double S[6], double rate, const double W[6]) {
  const double own = cb_sweep_dot(S, W);
  m->drive_impulse[c] += own;
  m->work[CB_JOINT_WORK_MOTOR][c] += own * rate;
}

void cb_drives_arrive(cb_mechanism *m, double h) {
  for (int c = 0; c < m->coordinates; c++) {
    if (!m->coordinate[c].driven) continue;
    const double a = m->coordinate[c].armature, first = m->drive_first[c], last = m->drive_rate[c];
    m->drive_impulse[c] = a * (last - first) - h * m->force[c].Q;
    m->work[CB_JOINT_WORK_MOTOR][c] += a * (last - first) * (last + first) / 2 - h * m->force[c].Q * m->rate[c];
    add(m, c, m->drive_axis[c], first, m->impulse[m->coordinate[c].joint]);
  }
}

void cb_drives_settle(cb_mechanism *m, int joint, const double W[6]) {
  for (int i = 0; i < cb_joint_coordinates(&m->joint[joint]) && m->laws.drives; i++) {
    const int c = m->first[joint] + i;
    if (m->joint[joint].driven[i]) add(m, c, m->now[joint].S[i], m->drive_rate[c], W);
  }
}

void cb_mechanism_drive_efforts(const cb_mechanism *m, double h, double *force) {
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      const int c = m->first[j] + i;
      if (m->joint[j].driven[i]) force[c] = h != 0 ? m->drive_impulse[c] / h : NAN;
    }
}
