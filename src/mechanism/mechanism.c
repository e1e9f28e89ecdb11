/* Joined bodies: their trees, the motions of joints at poses, and the start (mechanism.h). S: twists of a joint, one
 * per coordinate; a covector gives a number for each twist. */
#include "mechanism/mechanism_blocks.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- frames --- */

/* Finds the quaternion q of the rotation matrix with the columns c. */
static void of_columns(const double c[3][3], double q[4]) {
  double r[3][3];
  for (int i = 0; i < 9; i++) r[i / 3][i % 3] = c[i % 3][i / 3];
  cb_quaternion_of_rotation((const double(*)[3])r, q);
}

static double unit3(const double a[3], double out[3]) {
  const double size = sqrt(cb_dot3(a, a));
  for (int i = 0; i < 3; i++) out[i] = size > 0 ? a[i] / size : 0;
  return size;
}

void cb_joint_axes(const double axis[3], double q[4]) {
  const double z[3] = {0, 0, 1};
  double c[3][3], x[3];
  unit3(axis, c[2]);
  cb_cross3(z, c[2], x);
  if (!(unit3(x, c[0]) > 1e-9)) memcpy(c[0], (double[3]){1, 0, 0}, sizeof c[0]);
  cb_cross3(c[2], c[0], c[1]);
  of_columns((const double(*)[3])c, q);
}

void cb_joint_two_axes(const double first[3], const double second[3], double q[4]) {
  double c[3][3], z[3];
  unit3(first, c[0]);
  cb_cross3(first, second, z);
  unit3(z, c[2]);
  cb_cross3(c[2], c[0], c[1]);
  of_columns((const double(*)[3])c, q);
}

/* --- a joint at poses --- */

static const cb_place world = {.q = {1}, .r = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

/* Converts a twist of frame B: rotates it from the axes of B to the world's axes, and moves it from the origin of B by
 * the vector c (v becomes v + omega × c). The result is multiplied by `sign`. */
static void twist_to_world(const double R[3][3], const double c[3], double sign, const double in[6], double out[6]) {
  double moved[3];
  cb_turn6(R, in, out);
  cb_cross3(out, c, moved);
  for (int i = 0; i < 3; i++) {
    out[i] *= sign;
    out[3 + i] = sign * (out[3 + i] + moved[i]);
  }
}

/* Rotates a covector by R, and moves it by the vector c: -c × n is added to its angular part, where n is its linear
 * part after the rotation. The result is multiplied by `sign`. */
static void covector_to_world(const double R[3][3], const double c[3], double sign, const double in[6], double out[6]) {
  double moved[3];
  cb_turn6(R, in, out);
  cb_cross3(c, out + 3, moved);
  for (int i = 0; i < 3; i++) {
    out[i] = sign * (out[i] - moved[i]);
    out[3 + i] *= sign;
  }
}

/* Finds the dual covectors: dual_i = sum_j (S S^T)^-1_ij S_j. */
static void find_dual(int n, double S[6][6], double dual[6][6]) {
  double SS[6][6];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) SS[i][j] = cb_sweep_dot(S[i], S[j]);
  if (n) cb_sweep_invert(n, SS);
  memset(dual, 0, 36 * sizeof **dual);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) cb_add6(SS[i][j], S[j], dual[i]);
}

void cb_joint_at(const cb_joint *j, const cb_place *a, const cb_place *b, bool first_moves, cb_joint_extent extent,
                 double *q, cb_joint_now *out) {
  if (!a) a = &world;
  if (!b) b = &world;
  const int n = cb_joint_coordinates(j), rows = cb_joint_gaps(j);
  double qa[4], qb[4], back[4], RB[3][3], at[3], in[3], d[3], c[3];
  cb_pose m;
  cb_joint_motion motion;
  cb_quaternion_multiply(a->q, j->frame[0].q, qa);
  cb_quaternion_multiply(b->q, j->frame[1].q, qb);
  cb_quaternion_inverse(qa, back);
  cb_quaternion_multiply(back, qb, m.q);
  cb_quaternion_rotation(qb, RB);
  cb_apply3(a->r, j->frame[0].x, at);
  cb_apply3(b->r, j->frame[1].x, in);
  for (int i = 0; i < 3; i++) {
    d[i] = b->x[i] - a->x[i] + (b->x_low[i] - a->x_low[i]) + in[i] - at[i];
    c[i] = first_moves ? -(at[i] + d[i]) : -in[i];
  }
  cb_quaternion_turn(back, d, m.x);
  memset(motion.S, 0, (size_t)n * sizeof *motion.S);
  memset(motion.N, 0, (size_t)rows * sizeof *motion.N);
  if (n) memcpy(motion.q, q, (size_t)n * sizeof *q);
  j->class_->find(&m, &j->data, &motion);
  const double sign = first_moves ? -1 : 1;
  if (n) memcpy(q, motion.q, (size_t)n * sizeof *q);
  for (int i = 0; i < n; i++) twist_to_world((const double(*)[3])RB, c, sign, motion.S[i], out->S[i]);
  for (int i = 0; i < rows; i++) out->gap[i] = motion.gap[i];
  if (extent == CB_JOINT_MOTION) return;
  double close[6] = {0};
  for (int i = 0; i < rows; i++) cb_add6(-motion.gap[i], motion.N[i], close);
  twist_to_world((const double(*)[3])RB, c, sign, close, out->close);
  if (extent == CB_JOINT_CLOSING) return;
  double dual[6][6];
  find_dual(n, motion.S, dual);
  for (int i = 0; i < n; i++) covector_to_world((const double(*)[3])RB, c, sign, dual[i], out->dual[i]);
  for (int i = 0; i < rows; i++) covector_to_world((const double(*)[3])RB, c, sign, motion.N[i], out->N[i]);
}

/* --- creation --- */

/* Adds the body as a link with its joint (-1: a root) and its parent (-1: the world). */
static cb_status add_link(cb_mechanism *m, int body, int joint, int parent, bool first_moves) {
  cb_link *l = &m->link[m->links];
  *l = (cb_link){.body = body,
                 .joint = joint,
                 .parent = parent,
                 .root = parent >= 0 ? m->link[parent].root : body,
                 .first_moves = first_moves};
  m->link_of[body] = m->links++;
  if (joint < 0) {
    l->factors = cb_arena_alloc(m->arena, 1, sizeof *l->factors);
    return l->factors ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for joints");
  }
  const cb_joint *j = &m->joint[joint];
  for (int i = 0; i < cb_joint_coordinates(j); i++)
    if (!j->driven[i]) l->coordinate[l->n++] = i;
  return CB_OK;
}

/* The joints of each body b in their order, from joint[begin[b + 1]] to joint[begin[b + 2] - 1]. b = -1 is the world.
 */
typedef struct incidence {
  int *begin; /* [bodies + 2]: where the joints of each body begin in `joint` */
  int *joint; /* [2*joints]: the numbers of joints */
} incidence;

static cb_status find_incidence(cb_mechanism *m, incidence *out) {
  const size_t joints = (size_t)m->joints, sets = (size_t)m->bodies + 1;
  out->begin = cb_arena_alloc(m->arena, sets + 1, sizeof *out->begin);
  out->joint = cb_arena_alloc(m->arena, 2 * joints, sizeof *out->joint);
  int *next = cb_arena_alloc(m->arena, sets, sizeof *next);
  if (!out->begin || !out->joint || !next) return cb_fail(CB_ERROR_MEMORY, "no memory for %d joints", m->joints);
  for (int j = 0; j < m->joints; j++)
    for (int side = 0; side < 2; side++) out->begin[m->joint[j].body[side] + 2]++;
  for (size_t i = 0; i < sets; i++) {
    out->begin[i + 1] += out->begin[i];
    next[i] = out->begin[i];
  }
  for (int j = 0; j < m->joints; j++)
    for (int side = 0; side < 2; side++) out->joint[next[m->joint[j].body[side] + 1]++] = j;
  return CB_OK;
}

/* Adds all bodies that joints connect with the links from number `from` on (-1: with the world), in the order of a
 * breadth-first search. */
static cb_status grow(cb_mechanism *m, const incidence *of, int from, bool *used) {
  cb_status status = CB_OK;
  for (; from < m->links && !status; from++) {
    const int body = from < 0 ? -1 : m->link[from].body;
    for (int i = of->begin[body + 1]; i < of->begin[body + 2] && !status; i++) {
      const int j = of->joint[i], side = m->joint[j].body[1] == body, other = m->joint[j].body[1 - side];
      if (used[j] || !cb_joint_holds(&m->joint[j]) || other < 0 || m->link_of[other] >= 0) continue;
      used[j] = true;
      status = add_link(m, other, j, from, side == 1);
    }
  }
  return status;
}

static cb_status build(cb_mechanism *m) {
  incidence of;
  bool *used = cb_arena_alloc(m->arena, (size_t)m->joints, sizeof *used);
  if (!used) return cb_fail(CB_ERROR_MEMORY, "no memory for %d joints", m->joints);
  for (int i = 0; i < m->bodies; i++) m->link_of[i] = -1;
  cb_status status = find_incidence(m, &of);
  if (!status) status = grow(m, &of, -1, used);
  for (int j = 0; j < m->joints && !status; j++) /* adds the trees that are not joined to the world */
    for (int side = 0; side < 2 && !status; side++) {
      const int body = m->joint[j].body[side], root = m->links;
      if (body < 0 || m->link_of[body] >= 0) continue;
      status = add_link(m, body, -1, -1, false);
      if (!status) status = grow(m, &of, root, used);
    }
  return status ? status : cb_loops_create(m, used);
}

static cb_status allocate(cb_mechanism *m) {
  const size_t joints = (size_t)m->joints, bodies = (size_t)m->bodies, c = (size_t)m->coordinates;
  m->link_of = cb_arena_alloc(m->arena, bodies, sizeof *m->link_of);
  m->link = cb_arena_alloc_aligned(m->arena, bodies, sizeof *m->link, CB_CACHE_LINE);
  m->now = cb_arena_alloc(m->arena, joints, sizeof *m->now);
  m->gap = cb_arena_alloc(m->arena, joints, sizeof *m->gap);
  m->implied = cb_arena_alloc(m->arena, joints, sizeof *m->implied);
  m->need = cb_arena_alloc(m->arena, bodies, sizeof *m->need);
  m->wrench = cb_arena_alloc(m->arena, bodies, sizeof *m->wrench);
  m->pushed = cb_arena_alloc(m->arena, bodies, sizeof *m->pushed);
  m->force = cb_arena_alloc(m->arena, c, sizeof *m->force);
  m->coordinate = cb_arena_alloc(m->arena, c, sizeof *m->coordinate);
  m->drive_axis = cb_arena_alloc(m->arena, c, sizeof *m->drive_axis);
  m->q = cb_arena_alloc(m->arena, (6 + CB_JOINT_WORKS) * c + 25 * joints + bodies, sizeof *m->q);
  if (!m->q) return cb_fail(CB_ERROR_MEMORY, "no memory for %d joints", m->joints);
  m->momentum = m->q + c;
  for (size_t i = 0; i < CB_JOINT_WORKS; i++) m->work[i] = m->q + (3 + i) * c;
  m->rate = m->q + 2 * c;
  m->mode = m->q + (3 + CB_JOINT_WORKS) * c;
  m->drive_impulse = m->mode + c;
  m->impulse = (double(*)[6])(m->drive_impulse + c);
  m->wrench_work = m->drive_impulse + c + 6 * joints;
  m->motion = m->wrench_work + bodies;
  m->held = m->motion + (m->curvature != 0 ? 7 * joints : 0);
  m->dropped = m->held + c;
  double **const arrays[] = {&m->q1,          &m->middle,  &m->drive,     &m->drive_rate,
                             &m->drive_first, &m->missing, &m->impulsive, &m->stiffness};
  bool whole = m->link_of && m->link && m->now && m->gap && m->implied && m->drive_axis && m->need && m->wrench &&
               m->pushed && m->force && m->coordinate;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    whole = (*arrays[i] = cb_arena_alloc(m->arena, c, sizeof **arrays[i])) && whole;
  return whole ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d joints of %d bodies", m->joints, m->bodies);
}

static void find_coordinates(cb_mechanism *m) {
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      const cb_joint *own = &m->joint[j];
      m->coordinate[m->first[j] + i] = (cb_coordinate){.stiffness = own->stiffness[i],
                                                       .rest = own->rest[i],
                                                       .damping = own->damping[i],
                                                       .armature = own->armature[i],
                                                       .joint = j,
                                                       .number = i,
                                                       .driven = own->driven[i],
                                                       .soft = own->stiff[0] != 0};
    }
}

cb_status cb_mechanism_create(int bodies, int joints, const cb_joint *joint, const cb_mechanism_laws *laws, int *which,
                              cb_mechanism **out) {
  return cb_mechanism_create_in(0, bodies, joints, joint, laws, which, out);
}

cb_status cb_mechanism_create_in(double K, int bodies, int joints, const cb_joint *joint, const cb_mechanism_laws *laws,
                                 int *which, cb_mechanism **out) {
  cb_arena *arena = cb_arena_create();
  cb_mechanism *m = arena ? cb_arena_alloc(arena, 1, sizeof *m) : NULL;
  cb_joint *copy = m ? cb_arena_alloc(arena, (size_t)joints, sizeof *copy) : NULL;
  int *first = copy ? cb_arena_alloc(arena, (size_t)joints, sizeof *first) : NULL;
  if (!first) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d joints", joints);
  }
  if (joints) memcpy(copy, joint, (size_t)joints * sizeof *joint);
  *m =
      (cb_mechanism){.arena = arena, .bodies = bodies, .joints = joints, .curvature = K, .joint = copy, .first = first};
  if (laws) m->laws = *laws;
  cb_status status = CB_OK;
  for (int j = 0; j < joints && !status; j++) {
    first[j] = m->coordinates;
    m->coordinates += cb_joint_coordinates(&joint[j]);
    if (joint[j].body[0] != joint[j].body[1]) continue;
    *which = j;
    status = cb_fail(CB_ERROR_INPUT, "a joint of a body with itself: expected two bodies, or a body and `world`");
  }
  if (!status) status = allocate(m);
  if (!status) find_coordinates(m);
  if (!status) status = build(m);
  if (!status) status = cb_curved_create(m, which);
  if (!status) status = cb_blocks_create(m);
  cb_sweep_choose(m);
  if (!status) cb_modes_create(m);
  if (status) {
    cb_arena_free(arena);
    return status;
  }
  *out = m;
  return CB_OK;
}

void cb_mechanism_free(cb_mechanism *m) {
  if (m) cb_arena_free(m->arena);
}

int cb_mechanism_first(const cb_mechanism *m, int joint) { return m->first[joint]; }
const char *cb_mechanism_joint_name(const cb_mechanism *m, int joint) { return m->joint[joint].name; }

/* If the link is the first body of a tree, it has no joint of its own. The message then names a joint that connects it
 * with another body of the tree. */
cb_status cb_mechanism_fail_at(const cb_mechanism *m, int link, double h, double t) {
  const cb_link *l = &m->link[link];
  int j = l->joint < 0 ? 0 : l->joint;
  while (l->joint < 0 && m->joint[j].body[0] != l->body && m->joint[j].body[1] != l->body) j++;
  return cb_fail(CB_STEP_SINGULAR,
                 "the equations of %sjoint `%s` are singular in a step of %g at t = %g: expected bodies with mass "
                 "beyond each joint",
                 l->joint < 0 ? "the tree of " : "", m->joint[j].name, h, t);
}

int cb_mechanism_loops(const cb_mechanism *m) { return m->loops; }
int cb_mechanism_implied(const cb_mechanism *m, int joint) { return m->implied[joint]; }
int cb_mechanism_conditions(const cb_mechanism *m, int joint) {
  int count = cb_joint_gaps(&m->joint[joint]);
  for (int i = 0; i < cb_joint_coordinates(&m->joint[joint]); i++)
    count += m->joint[joint].driven[i] + m->joint[joint].coupling[i].there;
  return count;
}
int cb_mechanism_coordinates(const cb_mechanism *m) { return m->coordinates; }
bool cb_mechanism_joins(const cb_mechanism *m, int body) { return m->link_of[body] >= 0; }
bool cb_mechanism_are_neighbours(const cb_mechanism *m, int a, int b) {
  for (int j = 0; j < m->joints; j++) {
    const int *of = m->joint[j].body;
    if ((of[0] == a && of[1] == b) || (of[0] == b && of[1] == a)) return true;
  }
  return false;
}
bool cb_mechanism_has_modes(const cb_mechanism *m) { return m->has_modes; }
double cb_mechanism_wrench_work(const cb_mechanism *m, int body) { return m->wrench_work[body]; }
double *cb_mechanism_q(cb_mechanism *m) { return m->q; }
double *cb_mechanism_state(cb_mechanism *m, int *count) {
  *count = (5 + CB_JOINT_WORKS) * m->coordinates + 6 * m->joints + m->bodies;
  if (m->curvature != 0) *count += 7 * m->joints;
  if (m->has_modes && m->rows) *count += m->coordinates + m->rows;
  return m->q;
}
const double *cb_mechanism_work(const cb_mechanism *m, cb_joint_work work) { return m->work[work]; }
const double *cb_mechanism_rates(const cb_mechanism *m) { return m->rate; }

/* --- the start, and what is recorded --- */

/* Finds the gaps of the hinges that are in blocks. A step does not compute these gaps. */
static void find_gaps_of_hinges(cb_mechanism *m) {
  for (int i = 0; i < m->links; i++) {
    const cb_link *l = &m->link[i];
    if (!l->hinge_in_block) continue;
    double q = m->q[m->first[l->joint]];
    cb_joint_now now;
    cb_joint_at(&m->joint[l->joint], l->parent >= 0 ? &m->link[l->parent].place : NULL, &l->place, false,
                CB_JOINT_MOTION, &q, &now);
    memcpy(m->now[l->joint].gap, now.gap, sizeof now.gap);
  }
}

const double *cb_mechanism_gaps(cb_mechanism *m, const cb_mechanism_bodies *b) {
  cb_mechanism_find_places(m, b);
  find_gaps_of_hinges(m);
  for (int j = 0; j < m->joints; j++) {
    m->gap[j] = 0;
    for (int i = 0; i < cb_joint_gaps(&m->joint[j]); i++) m->gap[j] = fmax(m->gap[j], fabs(m->now[j].gap[i]));
  }
  for (int i = 0; i < m->couplings; i++) {
    double *own = &m->gap[m->loop[m->loops - 2 * (m->couplings - i)].joint];
    *own = fmax(*own, fabs(m->row[m->rows - m->couplings + i].gap));
  }
  return m->gap;
}

void cb_mechanism_wrenches(const cb_mechanism *m, double *out) {
  for (int j = 0; j < m->joints; j++) {
    const cb_joint *own = &m->joint[j];
    double *W = out + 6 * j, arm[3], moment[3];
    const int second = own->body[1] >= 0 ? m->link_of[own->body[1]] : -1,
              first = own->body[0] >= 0 ? m->link_of[own->body[0]] : -1;
    const bool reversed = first >= 0 && m->link[first].joint == j && m->link[first].first_moves;
    if (m->curvature != 0) {
      cb_curved_wrench(m, &m->link[reversed ? first : second], m->impulse[j], W);
      continue;
    }
    const cb_place *at = reversed ? &m->link[first].place : second >= 0 ? &m->link[second].place : &world;
    cb_apply3(at->r, own->frame[reversed ? 0 : 1].x, arm);
    memcpy(W, m->impulse[j], 6 * sizeof *W);
    cb_cross3(arm, W + 3, moment);
    for (int i = 0; i < 3; i++) W[i] -= moment[i];
    for (int i = 0; i < 6 && reversed; i++) W[i] = -W[i];
  }
}

void cb_mechanism_energies(const cb_mechanism *m, double *potential, double *kinetic) {
  *potential = *kinetic = 0;
  for (int c = 0; c < m->coordinates; c++) {
    const cb_coordinate *own = &m->coordinate[c];
    const double q = m->q[c] - own->rest;
    *potential += own->stiffness * q * q / 2;
    *kinetic += own->armature * m->rate[c] * m->rate[c] / 2;
  }
}

cb_status cb_mechanism_start(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double tolerance, int *which) {
  const cb_status placed = m->curvature != 0 ? cb_curved_start(m, b, tolerance, which) : CB_OK;
  if (placed) return placed;
  const double *gap = cb_mechanism_gaps(m, b);
  for (int j = 0; j < m->joints; j++)
    if (!(gap[j] <= tolerance)) {
      *which = j;
      return cb_fail(CB_ERROR_DOMAIN,
                     "joint `%s` is open by %.3g at the start: expected places of its bodies that close it",
                     m->joint[j].name, gap[j]);
    }
  cb_mechanism_find_rates(m, b);
  int failed;
  cb_status status = cb_mechanism_sort_rows(m, b, t, &failed);
  if (status) return status;
  cb_loops_count(m);
  cb_modes_start(m);
  for (int c = 0; c < m->coordinates; c++) m->momentum[c] = m->coordinate[c].armature * m->rate[c];
  status = cb_mechanism_settle(m, b, t, &failed);
  memset(m->impulse, 0, (size_t)m->joints * sizeof *m->impulse);
  memset(m->work[CB_JOINT_WORK_MOTOR], 0, (size_t)m->coordinates * sizeof(double));
  return status;
}
