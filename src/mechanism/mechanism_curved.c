/* Joined bodies in a space of constant curvature (equations: mechanism.h, curvebody/pose.h).
 *
 * Vectors of a link are in the frame of its body at the first node, about the body's origin, in place of the axes of
 * the world. With the frames A and B of a joint in its bodies a and b, and the maps tau of the step:
 *   m = (g_a A)^-1 g_b B,   m_{k+1} = A^-1 tau(h Y_a)^-1 A m_k B^-1 tau(h Y_b) B
 *   X = Ad(B m^-1 A^-1)                maps the twist of a to the frame of b; the same X is used at both nodes
 *   S_k = Ad_B S,  S_{k+1} = Ad_{tau(h Y_b)} Ad_B S,   S the twists of the joint in frame B (curvebody/joint.h)
 *   A = (1/h) J dtau^-1_{hY}           a displacement eta of the end changes Y by (1/h) dtau^-1_{hY} eta
 * In the last line A is not the frame but the matrix of the link (cb_link). If the link is the body a, b is its parent:
 * X is inverted, and S becomes -Ad_{A m} S.
 *
 * The state of a joint is m itself. In hyperbolic space a difference of two poses at the distance d from the base point
 * would lose the factor exp(2 d/R) of its digits, but m is as accurate as at the base point. The poses of bodies follow
 * from m and from the pose of the first body of the tree.
 */
#include "mechanism/mechanism_private.h"
#include "numerics/dd.h"

#include <math.h>
#include <string.h>

static const double identity[6][6] = {{1, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0},
                                      {0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 1}};

/* --- products of poses --- */

/* Finds the biquaternion of a pose that is not far from the base point. */
static void of_pose(double K, const cb_pose *g, cb_biquaternion *out) {
  const double size = exp(cb_biquaternion_of(K, g, out));
  for (int i = 0; i < 4 && size != 1; i++) {
    out->a[i] *= size;
    out->b[i] *= size;
  }
}

static cb_biquaternion inverse(const cb_biquaternion *Q) {
  return (cb_biquaternion){{Q->a[0], -Q->a[1], -Q->a[2], -Q->a[3]}, {Q->b[0], -Q->b[1], -Q->b[2], -Q->b[3]}};
}

/* out = p q r */
static void product3(double K, const cb_biquaternion *p, const cb_biquaternion *q, const cb_biquaternion *r,
                     cb_biquaternion *out) {
  cb_biquaternion pq;
  cb_biquaternion_multiply(K, p, q, &pq);
  cb_biquaternion_multiply(K, &pq, r, out);
}

/* Finds the pose of the link relative to its parent, A m B^-1 or its inverse, for the motion m of the joint. */
static void from_parent(const cb_link *l, double K, const cb_pose *motion, cb_biquaternion *out) {
  const cb_curved_link *c = l->curved;
  const cb_biquaternion back = inverse(&c->frame[1]);
  cb_biquaternion m, whole;
  of_pose(K, motion, &m);
  product3(K, &c->frame[0], &m, &back, &whole);
  *out = l->first_moves ? inverse(&whole) : whole;
}

/* Finds the matrix that maps twists of the joint, in frame B, to twists of the link relative to its parent, in the
 * frame of the link. It is Ad_B, or -Ad_{A m} if the link is the first body of the joint. */
static void to_link(const cb_mechanism *m, const cb_link *l, double out[6][6]) {
  const cb_joint_frame *f = &m->joint[l->joint].frame[l->first_moves ? 0 : 1];
  cb_pose g = {{f->q[0], f->q[1], f->q[2], f->q[3]}, {f->x[0], f->x[1], f->x[2]}};
  if (l->first_moves) cb_pose_multiply_in(m->curvature, &g, &l->curved->end, &g);
  cb_pose_adjoint_in(m->curvature, &g, out);
  for (int i = 0; i < 36 && l->first_moves; i++) out[i / 6][i % 6] *= -1;
}

/* --- creation --- */

cb_status cb_curved_create(cb_mechanism *m, int *which) {
  if (m->curvature == 0) return CB_OK;
  for (int j = 0; j < m->joints; j++) {
    *which = j;
    if (!m->joint[j].class_->curved)
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "a joint of kind %s has no meaning in a curved space, because its displacements do not form a "
                     "group there",
                     m->joint[j].class_->name);
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++)
      if (m->joint[j].coupling[i].there)
        return cb_fail(CB_ERROR_UNSUPPORTED, "coordinates of joints are coupled only in flat space");
  }
  if (m->loops) {
    *which = m->loop[0].joint;
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the joint closes a loop: expected a tree of bodies, because loops are closed only in flat space");
  }
  cb_curved_link *curved = cb_arena_alloc(m->arena, (size_t)m->links, sizeof *curved);
  if (!curved) return cb_fail(CB_ERROR_MEMORY, "no memory for %d joints", m->joints);
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    l->curved = &curved[i];
    for (int side = 0; side < 2 && l->joint >= 0; side++) {
      const cb_joint_frame *f = &m->joint[l->joint].frame[side];
      const cb_pose g = {{f->q[0], f->q[1], f->q[2], f->q[3]}, {f->x[0], f->x[1], f->x[2]}};
      of_pose(m->curvature, &g, &curved[i].frame[side]);
    }
  }
  return CB_OK;
}

/* --- joints at poses --- */

void cb_curved_place_of(const cb_rigid_state *s, cb_place *out) {
  memcpy(out->q, s->g.q, sizeof out->q);
  for (int i = 0; i < 9; i++) out->r[i / 3][i % 3] = i % 4 == 0;
  memcpy(out->x, s->g.x, sizeof out->x);
  memcpy(out->x_low, s->x_low, sizeof out->x_low);
}

static double *motion_of(const cb_mechanism *m, const cb_link *l) { return m->motion + (ptrdiff_t)7 * l->joint; }

void cb_curved_take_node(cb_mechanism *m) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    cb_curved_link *c = l->curved;
    cb_biquaternion relative, back;
    cb_pose g;
    cb_quaternion_rotation(l->place.q, c->r);
    if (l->joint < 0) continue;
    memcpy(c->node.x, motion_of(m, l), sizeof c->node.x);
    memcpy(c->node.q, motion_of(m, l) + 3, sizeof c->node.q);
    c->end = c->node;
    if (l->parent < 0) continue;
    from_parent(l, m->curvature, &c->node, &relative);
    back = inverse(&relative);
    cb_biquaternion_pose(m->curvature, &back, 0, &g, NULL);
    memcpy(l->d, g.x, sizeof l->d); /* used only to estimate the round-off of a step */
    cb_pose_adjoint_in(m->curvature, &g, c->X);
  }
}

void cb_curved_joint_at(const cb_mechanism *m, const cb_link *l, cb_joint_extent extent, double *q, cb_joint_now *out) {
  const cb_joint *j = &m->joint[l->joint];
  const int n = cb_joint_coordinates(j), rows = cb_joint_gaps(j);
  double close[6] = {0}, P[6][6];
  cb_joint_motion motion;
  memset(&motion, 0, sizeof motion);
  if (n) memcpy(motion.q, q, (size_t)n * sizeof *q);
  j->class_->find(&l->curved->end, &j->data, &motion);
  if (n) memcpy(q, motion.q, (size_t)n * sizeof *q);
  to_link(m, l, P);
  for (int i = 0; i < n; i++) cb_apply6((const double(*)[6])P, motion.S[i], out->S[i]);
  for (int i = 0; i < rows; i++) out->gap[i] = motion.gap[i];
  if (extent == CB_JOINT_MOTION) return;
  for (int i = 0; i < rows; i++) cb_add6(-motion.gap[i], motion.N[i], close);
  cb_apply6((const double(*)[6])P, close, out->close);
}

void cb_curved_move_twist(const cb_link *l, double twist[6]) {
  double moved[6];
  cb_apply6((const double(*)[6])l->curved->moved, twist, moved);
  memcpy(twist, moved, sizeof moved);
}

void cb_curved_stay(cb_link *l) { memcpy(l->curved->moved, identity, sizeof identity); }

/* --- a step --- */

cb_status cb_curved_begin(const cb_rigid_problem *p, const cb_mechanism_step *step, const cb_rigid_state *s,
                          cb_link *l) {
  cb_rigid_curved_trial *e = &l->curved->trial;
  if (step->damped)
    return cb_fail(CB_ERROR_UNSUPPORTED, "`damped: true` works only in flat space: expected no `damped`");
  cb_rigid_curved_trial_begin(p, step->map, step->h, s, e);
  l->trial.s = s;
  l->trial.map = step->map;
  l->trial.K = (const double(*)[6])e->K;
  l->trial.diagonal = false;
  return cb_rigid_curved_takes(p);
}

void cb_curved_place_trial(const cb_mechanism *m, cb_link *l) {
  const double K = m->curvature;
  cb_curved_link *c = l->curved;
  cb_biquaternion moved[2], end; /* moved[0]: A^-1 tau_a^-1 A; moved[1]: B^-1 tau_b B */
  cb_pose own;
  cb_biquaternion_pose(K, &c->trial.move, 0, &own, NULL);
  cb_pose_adjoint_in(K, &own, c->moved);
  if (l->joint < 0) return;
  for (int side = 0; side < 2; side++) {
    const bool is_link = l->first_moves == (side == 0);
    const cb_biquaternion back = inverse(&c->frame[side]);
    moved[side] = (cb_biquaternion){{1}, {0}};
    if (is_link || l->parent >= 0)
      product3(K, &back, is_link ? &c->trial.move : &m->link[l->parent].curved->trial.move, &c->frame[side],
               &moved[side]);
  }
  const cb_biquaternion first = inverse(&moved[0]);
  cb_biquaternion node;
  of_pose(K, &c->node, &node);
  product3(K, &first, &node, &moved[1], &end);
  cb_biquaternion_pose(K, &end, 0, &c->end, NULL);
}

cb_status cb_curved_evaluate(cb_mechanism *m, cb_link *l, bool first, bool fresh) {
  cb_rigid_curved_trial *e = &l->curved->trial;
  double J[6][6];
  const cb_status status = cb_rigid_curved_trial_at(e, l->Y, first, l->load, fresh ? J : NULL);
  if (status) return status;
  cb_curved_place_trial(m, l);
  for (int i = 0; i < 6 && fresh; i++) {
    double row[6];
    cb_apply6_transposed((const double(*)[6])e->A, J[i], row);
    for (int k = 0; k < 6; k++) row[k] /= e->h;
    cb_six_set(row, &l->A[i]);
  }
  return CB_OK;
}

void cb_curved_update(cb_link *l) {
  const cb_rigid_curved_trial *e = &l->curved->trial;
  cb_apply6((const double(*)[6])e->A, l->eta, l->update);
  for (int k = 0; k < 6; k++) l->update[k] /= e->h;
}

cb_status cb_curved_need(cb_mechanism *m, cb_link *l, double need[6]) {
  const cb_status status = cb_rigid_curved_trial_arrive(&l->curved->trial, l->Y);
  if (status) return status;
  cb_curved_place_trial(m, l);
  cb_rigid_curved_trial_residual(&l->curved->trial, need);
  for (int k = 0; k < 6; k++) need[k] = -need[k];
  return CB_OK;
}

cb_status cb_curved_finish(const cb_link *l, const double impulse[6], double *power, cb_rigid_state *s) {
  const cb_rigid_curved_trial *e = &l->curved->trial;
  double turn;
  *power = cb_dot3(e->F, l->Y) + cb_dot3(e->F + 3, l->Y + 3);
  const cb_status status = cb_rigid_curved_trial_turn(e, l->Y, impulse, &turn);
  return status ? status : cb_rigid_curved_trial_finish(e, l->Y, impulse, turn, s);
}

/* --- poses of bodies --- */

/* Sets the pose of a body. Its momentum in its own frame stays the same. */
static void set_pose(cb_rigid_state *s, const cb_pose *g, const double low[3]) {
  double back[4], turn[4];
  cb_dd now[6];
  cb_quaternion_inverse(s->g.q, back);
  cb_quaternion_multiply(g->q, back, turn);
  for (int i = 0; i < 6; i++) now[i] = (cb_dd){s->world[i], s->world_low[i]};
  cb_screw_turn(turn, now);
  cb_screw_turn(turn, now + 3);
  for (int i = 0; i < 6; i++) {
    s->world[i] = now[i].hi;
    s->world_low[i] = now[i].lo;
  }
  s->g = *g;
  memcpy(s->x_low, low, sizeof s->x_low);
}

/* Finds the pose of a link from the pose of its parent and the motion of its joint. */
static void follow(const cb_mechanism *m, const cb_link *l, const cb_mechanism_bodies *b, cb_pose *out, double low[3]) {
  static const cb_pose origin = {.q = {1}};
  const cb_pose *g = l->parent >= 0 ? &b->state[m->link[l->parent].body].g : &origin;
  cb_biquaternion at, relative, there;
  const double scale = cb_biquaternion_of(m->curvature, g, &at);
  from_parent(l, m->curvature, &l->curved->end, &relative);
  cb_biquaternion_multiply(m->curvature, &at, &relative, &there);
  cb_biquaternion_pose(m->curvature, &there, scale, out, low);
}

void cb_curved_place_bodies(cb_mechanism *m, const cb_mechanism_bodies *b) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    cb_rigid_state *s = &b->state[l->body];
    cb_pose g;
    double low[3];
    if (l->joint >= 0) {
      memcpy(motion_of(m, l), l->curved->end.x, sizeof l->curved->end.x);
      memcpy(motion_of(m, l) + 3, l->curved->end.q, sizeof l->curved->end.q);
      follow(m, l, b, &g, low);
      set_pose(s, &g, low);
    }
    cb_curved_place_of(s, &l->place);
  }
}

static double difference(const cb_pose *a, const cb_pose *b) {
  double sum = 0, same = 0, far = 1;
  for (int k = 0; k < 4; k++) same += a->q[k] * b->q[k];
  for (int k = 0; k < 3; k++) {
    sum = fmax(sum, fabs(a->x[k] - b->x[k]));
    far = fmax(far, fabs(a->x[k]));
  }
  return fmax(sum / far, fabs(1 - fabs(same)));
}

cb_status cb_curved_start(cb_mechanism *m, const cb_mechanism_bodies *b, double tolerance, int *which) {
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    cb_pose g;
    double low[3];
    if (l->joint < 0) continue;
    const cb_joint *j = &m->joint[l->joint];
    j->class_->place(m->q + m->first[l->joint], &j->data, &l->curved->end);
    follow(m, l, b, &g, low);
    const double gap = difference(&g, &b->state[l->body].g);
    if (!(gap <= tolerance)) {
      *which = l->joint;
      return cb_fail(CB_ERROR_DOMAIN,
                     "joint `%s` is open by %.3g at the start: expected places of its bodies that close it", j->name,
                     gap);
    }
    set_pose(&b->state[l->body], &g, low);
  }
  cb_curved_place_bodies(m, b);
  return CB_OK;
}

/* --- impulses --- */

void cb_curved_take_impulse(const cb_link *l, const double W[6], double out[6]) {
  cb_turn6_transposed((const double(*)[3])l->curved->r, W, out);
}

void cb_curved_give_change(const cb_link *l, double out[6]) {
  double r[3][3], own[6];
  memcpy(own, l->eta, sizeof own);
  cb_solve6((const double(*)[6])l->curved->moved, 1, own); /* an adjoint matrix is never singular */
  cb_quaternion_rotation(l->place.q, r);
  cb_turn6((const double(*)[3])r, own, out);
}

void cb_curved_push(cb_rigid_state *s, const double W[6]) {
  double r[3][3], turned[6];
  cb_pose_rotation(&s->g, r);
  cb_turn6((const double(*)[3])r, W, turned);
  for (int i = 0; i < 6; i++) cb_compensated_add_one(&s->world[i], &s->world_low[i], turned[i]);
  cb_turn6_transposed((const double(*)[3])r, s->world, s->momentum);
}

void cb_curved_wrench(const cb_mechanism *m, const cb_link *l, const double W[6], double out[6]) {
  double P[6][6], own[6], r[3][3];
  to_link(m, l, P); /* W.(P S) = (P^T W).S */
  cb_apply6_transposed((const double(*)[6])P, W, own);
  cb_quaternion_rotation(m->joint[l->joint].frame[1].q, r);
  cb_turn6((const double(*)[3])r, own, out);
}

/* --- trees: a link without a parent is the first one of its tree --- */

int cb_mechanism_trees(const cb_mechanism *m) {
  int n = 0;
  for (int i = 0; i < m->links; i++) n += m->link[i].parent < 0;
  return n;
}

int cb_mechanism_tree_body(const cb_mechanism *m, int tree) {
  int i = 0;
  while (m->link[i].parent >= 0 || tree-- > 0) i++;
  return m->link[i].body;
}

void cb_mechanism_casimirs(cb_mechanism *m, const cb_mechanism_bodies *b, double *out) {
  int tree = 0;
  cb_mechanism_find_places(m, b);
  for (int i = 0; i < m->links; i++) memcpy(m->pushed[i], b->state[m->link[i].body].momentum, sizeof m->pushed[i]);
  for (int i = m->links - 1; i >= 0; i--)
    if (m->link[i].parent >= 0) cb_link_to_parent(&m->link[i], 1, m->pushed[i], m->pushed[m->link[i].parent]);
  for (int i = 0; i < m->links; i++)
    if (m->link[i].parent < 0) cb_rigid_casimirs(m->curvature, m->pushed[i], out + (ptrdiff_t)2 * tree++);
}

/* --- sweeps (equations: mechanism_private.h) --- */

static void six_get(const cb_six *in, double out[6]) {
  memcpy(out, in->a, 3 * sizeof *out);
  memcpy(out + 3, in->l, 3 * sizeof *out);
}

static void six_add(double factor, const double V[6], cb_six *out) {
  for (int i = 0; i < 3; i++) {
    out->a[i] += factor * V[i];
    out->l[i] += factor * V[3 + i];
  }
}

/* Adds the matrix of the link to that of its parent: A_a += X^T A X - (X^T A S) L^T. */
static void add_to_parent(const cb_link *l, const double A[6][6], cb_six *out) {
  const double(*X)[6] = (const double(*)[6])l->curved->X;
  double AX[6][6] = {{0}};
  cb_add_product6(A, X, AX);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++) six_add(X[k][i], AX[k], &out[i]);
  for (int j = 0; j < l->n; j++) {
    double AS[6], L[6];
    six_get(&l->AS[j], AS);
    six_get(&l->L[j], L);
    for (int i = 0; i < 6; i++) six_add(-AS[i], L, &out[i]);
  }
}

static bool eliminate_joint(cb_link *l, cb_link *parent) {
  double A[6][6], AS[6][6], SA[6][6], seen[6];
  const double(*X)[6] = (const double(*)[6])l->curved->X;
  const int n = l->n;
  cb_link_matrix(l, A);
  for (int j = 0; j < n; j++) {
    cb_apply6((const double(*)[6])A, l->S1[j], AS[j]);
    cb_apply6_transposed((const double(*)[6])A, l->S0[j], seen);
    cb_apply6_transposed(X, seen, SA[j]);
  }
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < n; k++) l->D[j][k] = cb_sweep_dot(l->S0[j], AS[k]);
    l->inertia[j] = l->D[j][j];
    l->D[j][j] += l->stiff[j];
    cb_apply6_transposed(X, AS[j], seen);
    cb_six_set(seen, &l->AS[j]);
  }
  if (n && (!cb_sweep_invert(n, l->D) || !isfinite(l->D[0][0]))) return false;
  for (int j = 0; j < n; j++) {
    double L[6] = {0}, DS[6] = {0};
    for (int k = 0; k < n; k++) {
      cb_add6(l->D[j][k], SA[k], L);
      cb_add6(l->D[j][k], l->S0[k], DS);
    }
    cb_six_set(L, &l->L[j]);
    cb_six_set(DS, &l->DS[j]);
  }
  if (parent) add_to_parent(l, (const double(*)[6])A, parent->A);
  return true;
}

static bool eliminate(cb_mechanism *m, int *at) {
  for (int i = m->links - 1; i >= 0; i--) {
    cb_link *l = &m->link[i];
    double A[6][6];
    *at = i;
    cb_link_matrix(l, A);
    if (l->joint < 0 ? !cb_factor6((const double(*)[6])A, l->factors)
                     : !eliminate_joint(l, l->parent >= 0 ? &m->link[l->parent] : NULL))
      return false;
  }
  return true;
}

static void link_inwards(cb_link *l, bool alone, cb_six *to) {
  double r[6], A[6][6], Ae[6], seen[6];
  six_get(&l->r, r);
  if (!alone) {
    cb_link_matrix(l, A);
    cb_apply6((const double(*)[6])A, l->e, Ae);
    cb_add6(-1, Ae, r);
  }
  for (int j = 0; j < l->n; j++) {
    double DS[6];
    six_get(&l->DS[j], DS);
    l->u[j] = cb_sweep_dot(DS, r);
    for (int k = 0; k < l->n && !alone; k++) l->u[j] += l->D[j][k] * l->force[k];
  }
  if (!to) return;
  cb_apply6_transposed((const double(*)[6])l->curved->X, r, seen);
  six_add(1, seen, to);
  for (int j = 0; j < l->n; j++) {
    double AS[6];
    six_get(&l->AS[j], AS);
    six_add(-l->u[j], AS, to);
  }
}

static void link_outwards(cb_link *l, bool alone, const cb_link *parent) {
  memset(l->eta, 0, sizeof l->eta);
  if (parent) cb_apply6((const double(*)[6])l->curved->X, parent->eta, l->eta);
  if (!alone) cb_add6(1, l->e, l->eta);
  for (int j = 0; j < l->n; j++) {
    double L[6];
    six_get(&l->L[j], L);
    l->dq[j] = l->u[j] - (parent ? cb_sweep_dot(L, parent->eta) : 0);
    cb_add6(l->dq[j], l->S1[j], l->eta);
  }
}

static void solve(cb_mechanism *m, bool alone) {
  for (int i = 0; i < m->links && !alone; i++) cb_six_set(m->link[i].load, &m->link[i].r);
  for (int i = m->links - 1; i >= 0; i--) {
    cb_link *l = &m->link[i];
    if (l->joint >= 0) link_inwards(l, alone, l->parent >= 0 ? &m->link[l->parent].r : NULL);
  }
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    double r[6];
    six_get(&l->r, r);
    if (l->joint < 0)
      cb_back6(l->factors, r, l->eta);
    else
      link_outwards(l, alone, l->parent >= 0 ? &m->link[l->parent] : NULL);
  }
}

const struct cb_sweep_kernel cb_sweep_kernel_curved = {.eliminate = eliminate, .solve = solve};
