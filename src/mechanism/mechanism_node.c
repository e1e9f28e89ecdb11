/* Joined bodies at a node: settling, the response to impulses, rates, and the start (mechanism.h).
 *
 *   settle   K Y = p - mu_0 + W for all bodies, with impulses W of the joints for which the joints allow the twists Y
 *   close    the displacements eta of least norm with N eta = -gap; repeated until all gaps are closed
 * K: inertia; p: momentum; mu_0: momentum of the shape's motion; N: covectors of the gaps (curvebody/joint.h).
 */
#include "mechanism/mechanism_blocks.h"
#include "numerics/dd.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

enum { MAXIMUM = 40 };

/* Sets the quantities at the end of a step to those at its beginning, because both are the same at a node. */
static void copy_node(cb_mechanism *m) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    memset(l->moved, 0, sizeof l->moved);
    if (l->curved) cb_curved_stay(l);
    for (int j = 0; j < l->n; j++) memcpy(l->S1[j], l->S0[j], sizeof l->S1[j]);
  }
  for (int r = 0; r < m->rows; r++) memcpy(m->row[r].N1, m->row[r].N0, sizeof m->row[r].N1);
}

/* Stores the places of all links. Returns whether the motions of the joints at these places are already known. */
static bool take_places(cb_mechanism *m, const cb_mechanism_bodies *b) {
  bool same = m->found;
  if (m->curvature != 0) {
    for (int i = 0; i < m->links; i++) cb_curved_place_of(&b->state[m->link[i].body], &m->link[i].place);
    cb_curved_take_node(m);
    return false;
  }
  for (int i = 0; i < m->links; i++) {
    const cb_rigid_state *s = &b->state[m->link[i].body];
    cb_place *p = &m->link[i].place;
    if (same && !memcmp(p->q, s->g.q, sizeof p->q) && !memcmp(p->x, s->g.x, sizeof p->x) &&
        !memcmp(p->x_low, s->x_low, sizeof p->x_low))
      continue;
    same = false;
    cb_mechanism_place_of(s, p);
  }
  return same;
}

void cb_mechanism_find_places(cb_mechanism *m, const cb_mechanism_bodies *b) {
  const bool same = take_places(m, b);
  if (same && m->taken) return;
  if (!same) {
    double *q = m->q;
    if (m->tree) { /* here the places follow from m->q, which must not change, so a copy of m->q is updated */
      q = m->q1;
      memcpy(q, m->q, (size_t)m->coordinates * sizeof *q);
    }
    cb_mechanism_find_joints(m, CB_JOINT_CLOSING, false, q);
    m->found = true;
  }
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    memcpy(l->r0, l->place.r, sizeof l->r0);
    if (l->joint < 0) continue;
    const cb_joint_now *now = &m->now[l->joint];
    if (!l->curved) cb_mechanism_vector(l->parent >= 0 ? &m->link[l->parent].place : NULL, &l->place, l->d);
    for (int j = 0; j < l->n; j++) memcpy(l->S0[j], now->S[l->coordinate[j]], sizeof l->S0[j]);
    if (m->has_modes) memcpy(l->all0, now->S, sizeof l->all0);
  }
  cb_loops_take(m, false);
  m->taken = true;
}

void cb_mechanism_find_rates(cb_mechanism *m, const cb_mechanism_bodies *b) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double from[6] = {0}, SS[6][6], Sv[6];
    cb_turn6((const double(*)[3])l->place.r, b->state[l->body].Y, l->eta);
    if (l->joint < 0) continue;
    if (l->parent >= 0) cb_link_see(l, m->link[l->parent].eta, from);
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

/* Finds A = R_0 K R_0^T, and the momentum less mu_0 (load), at a node, for a body whose inertia is not constant. */
static cb_status take_inertia(cb_link *l, const cb_rigid_problem *p, double t, const cb_rigid_state *s) {
  const double(*r)[3] = (const double(*)[3])l->r0;
  double mu0[6], turned[6], half[6][6];
  cb_row6 rows[6];
  const cb_status status = p->inertia(p->self, t, &s->g, l->K, mu0);
  if (status) return status;
  for (int i = 0; i < 6; i++) {
    cb_turn6(r, l->K[i], half[i]);
    rows[i] = cb_row6_load(half[i]);
  }
  cb_sweep_turn(r, 1, rows, l->A);
  cb_turn6(r, mu0, turned);
  for (int k = 0; k < 6; k++)
    l->load[k] = l->curved ? s->momentum[k] - mu0[k] : s->world[k] - turned[k] + s->world_low[k];
  return CB_OK;
}

static cb_status take_inertias(cb_mechanism *m, const cb_mechanism_bodies *b, double t, int *failed) {
  cb_blocks_take_node(m, b);
  m->blocks.kernel->take_inertias(m, b->state);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    if (l->node_in_block) continue;
    *failed = l->body;
    const cb_status status = take_inertia(l, b->problem(b->self, l->body), t, &b->state[l->body]);
    if (status) return status;
  }
  *failed = -1;
  return CB_OK;
}

cb_status cb_mechanism_sort_rows(cb_mechanism *m, const cb_mechanism_bodies *b, double t, int *failed) {
  int at;
  if (cb_loops_are_sorted(m)) return CB_OK;
  cb_sweep_choose(m);
  const cb_status status = take_inertias(m, b, t, failed);
  if (status) return status;
  for (int c = 0; c < m->coordinates; c++) m->stiffness[c] = m->coordinate[c].armature;
  cb_mechanism_assign_forces(m);
  copy_node(m);
  if (!cb_sweep_matrices(m, &at)) return cb_mechanism_fail_at(m, at, 0, t);
  cb_loops_sort(m);
  return CB_OK;
}

/* Finds the twists that belong to the momenta, and the impulses of the joints. */
static cb_status find_twists(cb_mechanism *m, const cb_mechanism_bodies *b, double t, int *failed) {
  int at;
  cb_mechanism_find_places(m, b);
  if (m->laws.drives) m->laws.drives(m->laws.self, t, m->drive, m->drive_rate);
  cb_modes_partition(m);
  cb_modes_target(m);
  cb_status status = cb_mechanism_sort_rows(m, b, t, failed);
  if (!status) status = take_inertias(m, b, t, failed);
  if (!status) status = cb_shared_at_node(m);
  if (status) return status;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    if (l->joint < 0) continue;
    memset(l->e, 0, sizeof l->e);
    const cb_joint *j = &m->joint[l->joint];
    for (int c = 0; c < cb_joint_coordinates(j) && m->laws.drives;
         c++) /* held coordinates add nothing, because their rate is 0 */
      if (j->driven[c]) cb_add6(m->drive_rate[m->first[l->joint] + c], m->now[l->joint].S[c], l->e);
  }
  for (int c = 0; c < m->coordinates; c++) {
    m->stiffness[c] = m->coordinate[c].armature;
    m->impulsive[c] = m->momentum[c];
  }
  cb_mechanism_assign_forces(m);
  copy_node(m);
  cb_loops_set_targets(m, true);
  cb_loops_begin(m);
  if (!cb_sweep_matrices(m, &at)) return cb_mechanism_fail_at(m, at, 0, t);
  status = cb_loops_factor(m);
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
  for (int i = 0; i < m->links; i++)
    if (m->curvature == 0)
      memcpy(m->pushed[i], W[m->link[i].body], sizeof m->pushed[i]);
    else
      cb_curved_take_impulse(&m->link[i], W[m->link[i].body], m->pushed[i]);
  cb_sweep_respond(m, (const double(*)[6])m->pushed, NULL, NULL, NULL, NULL);
  cb_loops_correct(m);
  for (int i = 0; i < m->links; i++)
    if (m->curvature == 0)
      memcpy(change[m->link[i].body], m->link[i].eta, sizeof m->link[i].eta);
    else
      cb_curved_give_change(&m->link[i], change[m->link[i].body]);
}

/* Finds the rates of all coordinates from the twists that find_twists found. */
static void find_rates_of_twists(cb_mechanism *m) {
  /* the rates of driven and held coordinates are known */
  memcpy(m->rate, m->drive_rate, (size_t)m->coordinates * sizeof *m->rate);
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    for (int j = 0; j < l->n; j++) m->rate[m->first[l->joint] + l->coordinate[j]] = l->dq[j];
  }
  cb_loops_rates(m);
}

cb_status cb_mechanism_settle(cb_mechanism *m, const cb_mechanism_bodies *b, double t, int *failed) {
  const cb_status status = find_twists(m, b, t, failed);
  if (status) return status;
  m->blocks.kernel->settle(m);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double Y[6], mu[6], turned[6];
    if (l->node_in_block) continue;
    cb_turn6_transposed((const double(*)[3])l->r0, l->eta, Y);
    cb_apply6((const double(*)[6])l->K, Y, mu);
    cb_turn6((const double(*)[3])l->r0, mu, turned);
    for (int k = 0; k < 6; k++) m->need[i][k] = turned[k] - l->load[k];
  }
  cb_shared_settle(m);
  cb_mechanism_share_impulses(m);
  m->blocks.kernel->push(m, b->state);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    if (l->curved)
      cb_curved_push(&b->state[l->body], m->wrench[i]);
    else if (!l->node_in_block)
      push(&b->state[l->body], (const double(*)[3])l->r0, m->wrench[i]);
    if (l->joint < 0) continue;
    cb_add6(1, l->w, m->impulse[l->joint]);
    cb_drives_settle(m, l->joint, l->w);
  }
  find_rates_of_twists(m);
  cb_loops_record(m, true);
  cb_couplings_record(m);
  for (int c = 0; c < m->coordinates; c++) m->momentum[c] = m->coordinate[c].armature * m->rate[c];
  return CB_OK;
}

cb_status cb_mechanism_rates_of_momenta(cb_mechanism *m, const cb_mechanism_bodies *b, double t) {
  int failed;
  const cb_status status = find_twists(m, b, t, &failed);
  if (!status) find_rates_of_twists(m);
  return status;
}

/* --- starts --- */

/* Finds the displacements eta that close all gaps to first order. */
static cb_status find_displacements(cb_mechanism *m, const cb_mechanism_bodies *b, double t) {
  int at;
  cb_status status = cb_mechanism_sort_rows(m, b, t, &at);
  if (!status) status = take_inertias(m, b, t, &at);
  if (status) return status;
  cb_sweep_choose(m);
  for (int c = 0; c < m->coordinates; c++) m->missing[c] = m->impulsive[c] = m->stiffness[c] = 0;
  for (int i = 0; i < m->links; i++) memset(m->link[i].load, 0, sizeof m->link[i].load);
  copy_node(m);
  cb_mechanism_assign_forces(m);
  for (int i = 0; i < m->links; i++)
    if (m->link[i].joint >= 0) cb_mechanism_find_closing(m, &m->link[i], m->missing);
  cb_loops_set_targets(m, false);
  cb_loops_begin(m);
  if (!cb_sweep_matrices(m, &at)) return cb_mechanism_fail_at(m, at, 0, t);
  status = cb_loops_factor(m);
  if (status) return status;
  cb_sweep_solve(m);
  cb_loops_solve(m);
  return CB_OK;
}

cb_status cb_mechanism_close(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double *moved, int *which) {
  double last = INFINITY;
  *moved = 0;
  m->found = m->taken = false; /* the motions of joints are found again, because their closing twists are needed */
  for (int n = 0; n < MAXIMUM; n++) {
    double open = 0, far = 1;
    const double *gap = cb_mechanism_gaps(m, b);
    for (int i = 0; i < m->links; i++) far = fmax(far, sqrt(cb_dot3(m->link[i].place.x, m->link[i].place.x)));
    for (int j = 0; j < m->joints; j++) {
      if (n == 0 && gap[j] > open) *which = j; /* at first only joints that close loops have gaps */
      open = fmax(open, gap[j]);
    }
    if (open <= 1e-15 || (open >= last / 2 && open <= 1e-13 * far)) return CB_OK;
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
                 "joint `%s` cannot be closed: a gap of %.3g remains: expected coordinates at the start from which the "
                 "loop can be closed",
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
