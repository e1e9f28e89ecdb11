/* Trees of random bodies and joints for the tests. */
#pragma once

#include "joined_bodies.h"

/* Places the first (side 0) or second (side 1) body of the joint relative to the other one, at the coordinates q with
 * these rates. */
static inline void joined_hang(joined *s, const cb_joint *j, int side, const double *q, const double *rate) {
  cb_pose frame[2], m, back, ab, g;
  cb_joint_motion motion = {.q = {0}};
  double Ad[6][6], relative[6] = {0}, own[6], Y[6] = {0};
  const int n = cb_joint_coordinates(j), from = j->body[1 - side];
  for (int i = 0; i < 2; i++) {
    memcpy(frame[i].q, j->frame[i].q, sizeof frame[i].q);
    memcpy(frame[i].x, j->frame[i].x, sizeof frame[i].x);
  }
  j->class_->place(q, &j->data, &m);
  if (n) memcpy(motion.q, q, (size_t)n * sizeof *q);
  j->class_->find(&m, &j->data, &motion);
  for (int i = 0; i < n; i++) cb_add6(rate[i], motion.S[i], relative);
  for (int i = 0; i < n; i++) s->q[s->coordinates++] = q[i];
  cb_pose_inverse(&frame[1], &back);
  cb_pose_multiply_in(s->curvature, &frame[0], &m, &ab);
  cb_pose_multiply_in(s->curvature, &ab, &back, &ab); /* the pose of the second body in the frame of the first one */
  cb_pose_adjoint_in(s->curvature, &frame[1], Ad);
  cb_apply6((const double(*)[6])Ad, relative, own);
  if (side == 0) {
    cb_pose_adjoint_in(s->curvature, &ab, Ad);
    cb_apply6((const double(*)[6])Ad, own, relative);
    for (int i = 0; i < 6; i++) own[i] = -relative[i];
    cb_pose_inverse(&ab, &ab);
  }
  g = ab;
  if (from >= 0) {
    double Yf[6];
    check_ok(cb_rigid_twist(&s->body[from].problem, &s->state[from], Yf));
    cb_pose_multiply_in(s->curvature, &s->state[from].g, &ab, &g);
    cb_pose_inverse(&ab, &back);
    cb_pose_adjoint_in(s->curvature, &back, Ad);
    cb_apply6((const double(*)[6])Ad, Yf, Y);
  }
  cb_add6(1, own, Y);
  check_ok(cb_rigid_start(&s->body[j->body[side]].problem, s->t, &g, Y, &s->state[j->body[side]]));
}

static inline void random_frame(uint64_t *seed, cb_joint_frame *out) {
  double direction[3];
  check_direction(seed, 4, out->q);
  check_direction(seed, 3, direction);
  const double far = check_uniform(seed, .1, .4);
  for (int k = 0; k < 3; k++) out->x[k] = far * direction[k];
}

/* Adds an ellipsoid of random size and density, in a fluid of density 1. */
static inline void random_body(uint64_t *seed, joined *s, double g) {
  double r[3];
  for (int k = 0; k < 3; k++) r[k] = check_uniform(seed, .1, .3);
  joined_add(s, r, check_uniform(seed, .8, 2), 1, g);
}

/* The screws of compound joints: two hinges about skew axes, and a slide. */
static const double random_screw[3][6] = {{0, 0, 1, .1, 0, 0}, {0, .6, .8}, {0, 0, 0, 1, 0, 0}};

/* Adds a joint with random frames between the bodies a and b. side: whether b is the first (0) or the second body (1)
 * of the joint. */
static inline cb_joint *random_joint_of(uint64_t *seed, joined *s, const char *kind, int a, int b, int side) {
  cb_joint *j = &s->joint[s->joints++];
  *j = (cb_joint){.name = kind, .class_ = joint_class(kind)};
  j->body[side] = b;
  j->body[1 - side] = a;
  random_frame(seed, &j->frame[0]);
  random_frame(seed, &j->frame[1]);
  if (j->class_->coordinates < 0) {
    j->data.screws = 3;
    j->data.screw = random_screw;
  }
  return j;
}

/* Gives the joint random springs and rotors, and with `loss` also dampers. Coordinates that are components of a
 * rotation vector (kinds `ball` and `free`) have springs of equal stiffness, and no rotors or dampers. */
static inline void random_springs(uint64_t *seed, cb_joint *j, bool loss) {
  const double all = check_uniform(seed, .02, .2);
  for (int i = 0; i < cb_joint_coordinates(j); i++) {
    const bool vector = j->class_->angular[i] && (!strcmp(j->class_->name, "ball") || !strcmp(j->class_->name, "free"));
    j->stiffness[i] = vector ? all : check_uniform(seed, .02, .2);
    j->rest[i] = vector ? 0 : check_uniform(seed, -.3, .3);
    j->armature[i] = vector ? 0 : check_uniform(seed, 0, .01);
    j->damping[i] = loss && !vector ? check_uniform(seed, 0, .03) : 0;
  }
}

/* Places the first (side 0) or second body (side 1) of the joint relative to the other one. The coordinates of the
 * joint and their rates are random. */
static inline void random_hang(uint64_t *seed, joined *s, const cb_joint *j, int side) {
  double q[6], rate[6];
  for (int i = 0; i < 6; i++) {
    q[i] = check_uniform(seed, -.5, .5);
    rate[i] = check_uniform(seed, -.6, .6);
  }
  joined_hang(s, j, side, q, rate);
}

/* Gives the body a random pose and a random twist. */
static inline void random_place(uint64_t *seed, joined *s, int body) {
  cb_pose g;
  double Y[6];
  check_direction(seed, 4, g.q);
  for (int i = 0; i < 3; i++) g.x[i] = check_uniform(seed, -1, 1);
  for (int i = 0; i < 6; i++) Y[i] = check_uniform(seed, -.5, .5);
  check_ok(cb_rigid_start(&s->body[body].problem, s->t, &g, Y, &s->state[body]));
}

static const char *const random_kinds[] = {"hinge",  "ball", "slide",    "universal", "cylindrical",
                                           "planar", "free", "compound", "weld"};
enum { RANDOM_KINDS = sizeof random_kinds / sizeof *random_kinds };

/* Adds a joint that closes a loop between the bodies a and b, which must have their poses. In these poses the
 * coordinates of the joint are 0. */
static inline cb_joint *random_loop(uint64_t *seed, joined *s, const char *kind, int a, int b) {
  cb_joint *j = random_joint_of(seed, s, kind, a, b, 1);
  cb_pose A, to, back;
  memcpy(A.q, j->frame[0].q, sizeof A.q);
  memcpy(A.x, j->frame[0].x, sizeof A.x);
  cb_pose_multiply(&s->state[a].g, &A, &to);
  cb_pose_inverse(&s->state[b].g, &back);
  cb_pose_multiply(&back, &to, &to);
  memcpy(j->frame[1].q, to.q, sizeof to.q);
  memcpy(j->frame[1].x, to.x, sizeof to.x);
  return j;
}

/* Makes a tree of n bodies with joints of random kinds. About half of the joints have their bodies in reverse order.
 * The first body is free, or a joint connects it to the world. loss: the joints have dampers. loop: the bodies form a
 * chain, and a ball joint between the first and the last one closes a loop. */
static inline void random_tree(uint64_t *seed, joined *s, int n, bool free, bool loss, bool loop) {
  *s = (joined){.t = 0};
  for (int b = 0; b < n; b++) {
    const int parent = b == 0 ? -1
                       : loop ? b - 1
                              : (int)check_uniform(seed, 0, b),
              kind = (int)check_uniform(seed, 0, RANDOM_KINDS), side = check_uniform(seed, 0, 1) < .5 ? 0 : 1;
    random_body(seed, s, 0);
    if (b == 0 && free) {
      random_place(seed, s, 0);
      continue;
    }
    cb_joint *j = random_joint_of(seed, s, random_kinds[kind], parent, b, side);
    random_springs(seed, j, loss);
    random_hang(seed, s, j, side);
  }
  if (loop) random_springs(seed, random_loop(seed, s, "ball", 0, n - 1), loss);
}

/* --- measured quantities --- */

/* Computes the total momentum of the bodies about the origin of the world. */
static inline void joined_momentum(const joined *s, double out[6]) {
  memset(out, 0, 6 * sizeof *out);
  for (int i = 0; i < s->n; i++) {
    double own[6];
    cb_rigid_spatial_momentum(0, &s->state[i], own);
    cb_add6(1, own, out);
  }
}

static inline double joined_energy(const joined *s) {
  double potential, kinetic, all = 0;
  for (int i = 0; i < s->n; i++) {
    double Y[6];
    check_ok(cb_rigid_twist(&s->body[i].problem, &s->state[i], Y));
    for (int k = 0; k < 6; k++) all += Y[k] * s->state[i].momentum[k] / 2;
    all -= s->body[i].weight[2] * s->state[i].g.x[2];
  }
  cb_mechanism_energies(s->mechanism, &potential, &kinetic);
  return all + potential + kinetic;
}

static inline double joined_gap(joined *s) {
  const double *gap = cb_mechanism_gaps(s->mechanism, &s->bodies);
  double worst = 0;
  for (int i = 0; i < s->joints; i++) worst = fmax(worst, gap[i]);
  return worst;
}
