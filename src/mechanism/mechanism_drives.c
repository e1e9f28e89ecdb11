/* What drives give, and their work. A drive keeps its coordinate q to a law, and its force acts on the bodies, and on
 * the spring, the damper and the rotor a of the coordinate:
 *
 *   f = S^T w/h - Q + a q'',   work = sum over nodes of q' S^T W - sum over steps of h Q q' + change of a q'^2/2
 * with the impulses W of the joint at the nodes, its twist S there, and the force Q of spring and damper. In a step of
 * length h, the impulses at its first and at its last node (from settling) are each about half of w, so that the first
 * sum is the trapezoidal rule, of order 2. N m, N, J.
 */
#include "mechanism/mechanism_private.h"

#include <math.h>
#include <string.h>

void cb_drives_begin(cb_mechanism *m, double t, double h) {
  if (!m->laws.drives) return;
  m->laws.drives(m->laws.self, t, m->drive, m->drive_rate);
  memcpy(m->drive_first, m->drive_rate, (size_t)m->coordinates * sizeof *m->drive_first);
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++)
      memcpy(m->drive_axis[m->first[j] + i], m->now[j].S[i], sizeof *m->drive_axis);
  m->laws.drives(m->laws.self, t + h, m->drive, m->drive_rate);
}

/* An impulse W of a joint at a node with the twist S and the rate q' of coordinate c. */
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
