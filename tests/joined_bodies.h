/* Rigid bodies that a mechanism joins, for the tests: homogeneous ellipsoids with constant added mass, weight and
 * buoyancy, and their mechanism. */
#pragma once

#include "check.h"
#include "fluid/ellipsoid.h"
#include "mechanism/mechanism.h"
#include "numerics/vec3.h"

enum { JOINED_BODIES = 40 };

typedef struct joined_body {
  cb_rigid_constant constant;
  cb_rigid_problem problem;
  double weight[3]; /* weight minus buoyancy, in the axes of the world; it acts at the origin of the body */
} joined_body;

typedef struct joined {
  int n;
  joined_body body[JOINED_BODIES];
  cb_rigid_state state[JOINED_BODIES];
  cb_joint joint[JOINED_BODIES];
  int joints;
  cb_mechanism *mechanism;
  cb_mechanism_bodies bodies;
  double t;
  double curvature;            /* curvature of the space */
  double q[6 * JOINED_BODIES]; /* coordinates at the start, of all joints that were placed, one joint after another */
  int coordinates;
} joined;

static inline const cb_joint_class *joint_class(const char *name) {
  for (int i = 0; cb_joint_classes[i]; i++)
    if (!strcmp(cb_joint_classes[i]->name, name)) return cb_joint_classes[i];
  fail_msg("no class of joints `%s`", name);
  return NULL;
}

static inline cb_status joined_wrench(void *self, double t, const cb_pose *g, const double Y[6], double F[6],
                                      double dF[6][6]) {
  const joined_body *b = self;
  double r[3][3];
  (void)t, (void)Y, (void)dF;
  cb_pose_rotation(g, r);
  cb_apply3_transposed((const double(*)[3])r, b->weight, F + 3);
  return CB_OK;
}

static inline cb_status joined_derivative(void *self, double t, const cb_pose *g, const double Y[6], double dmu[6][6],
                                          double dF[6][6]) {
  double F[6], block[3][3] = {{0}};
  (void)dmu;
  joined_wrench(self, t, g, Y, F, NULL);
  cb_add_hat3(block, 1, F + 3); /* a rotation xi changes R^T f by (R^T f) × xi */
  for (int i = 0; i < 9; i++) dF[3 + i / 3][i % 3] += block[i / 3][i % 3];
  return CB_OK;
}

static inline cb_status joined_inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  const joined_body *b = self;
  (void)t, (void)g;
  memcpy(K, b->constant.K, sizeof b->constant.K);
  memset(mu0, 0, 6 * sizeof *mu0);
  return CB_OK;
}

static inline const cb_rigid_problem *joined_problem(void *self, int body) {
  return &((joined *)self)->body[body].problem;
}

/* Adds an ellipsoid with these half axes r and this density, in a fluid of this density (0: vacuum), with the gravity g
 * along z. */
static inline void joined_add(joined *s, const double r[3], double density, double fluid, double g) {
  joined_body *b = &s->body[s->n++];
  cb_ellipsoid e = {.r = {r[0], r[1], r[2]}, .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  double K[6][6] = {{0}};
  cb_ellipsoid_finish(&e, CB_ELLIPSOID_EXACT);
  for (int i = 0; i < 3; i++) {
    const double p = r[(i + 1) % 3], q = r[(i + 2) % 3];
    K[i][i] = density * e.volume * (p * p + q * q) / 5 + fluid * e.inertia[i];
    K[3 + i][3 + i] = density * e.volume + fluid * e.mass[i];
  }
  check_ok(cb_rigid_constant_of((const double(*)[6])K, (double[6]){0}, &b->constant));
  b->weight[2] = (density - fluid) * e.volume * g;
  b->problem = (cb_rigid_problem){.self = b,
                                  .inertia = joined_inertia,
                                  .constant = &b->constant,
                                  .wrench = g != 0 ? joined_wrench : NULL,
                                  .pose_derivative = g != 0 ? joined_derivative : NULL,
                                  .exact = true,
                                  .dead_load = true};
}

/* Adds a joint between the bodies a and b (-1: the world). `at` and `in` are its positions in the frames of a and b,
 * and `axis` and `axis_in` its axes there (NULL: the axes of the bodies). */
static inline cb_joint *joined_hold(joined *s, const char *class, int a, const double at[3], const double *axis, int b,
                                    const double in[3], const double *axis_in) {
  cb_joint *j = &s->joint[s->joints++];
  *j = (cb_joint){.name = class, .class_ = joint_class(class), .body = {a, b}};
  for (int i = 0; i < 6; i++) {
    j->limit[i][0] = -INFINITY;
    j->limit[i][1] = INFINITY;
  }
  for (int i = 0; i < 3; i++) {
    j->frame[0].x[i] = at[i];
    j->frame[1].x[i] = in[i];
  }
  j->frame[0].q[0] = j->frame[1].q[0] = 1;
  if (axis) cb_joint_axes(axis, j->frame[0].q);
  if (axis_in) cb_joint_axes(axis_in, j->frame[1].q);
  return j;
}

/* Sets the pose and twist of body b of the joint from the coordinates q and their rates. Body a must have been placed
 * before. */
static inline void joined_place(joined *s, const cb_joint *j, const double *q, const double *rate, double t) {
  const cb_pose A = {.q = {j->frame[0].q[0], j->frame[0].q[1], j->frame[0].q[2], j->frame[0].q[3]},
                     .x = {j->frame[0].x[0], j->frame[0].x[1], j->frame[0].x[2]}},
                B = {.q = {j->frame[1].q[0], j->frame[1].q[1], j->frame[1].q[2], j->frame[1].q[3]},
                     .x = {j->frame[1].x[0], j->frame[1].x[1], j->frame[1].x[2]}};
  cb_pose m, back, g, relative;
  cb_joint_motion motion = {.q = {0}};
  double X[6][6], Y[6] = {0}, own[6] = {0}, AdB[6][6];
  j->class_->place(q, &j->data, &m);
  memcpy(motion.q, q, (size_t)cb_joint_coordinates(j) * sizeof *q);
  j->class_->find(&m, &j->data, &motion);
  cb_pose_inverse(&B, &back);
  for (int i = 0; i < cb_joint_coordinates(j); i++) s->q[s->coordinates++] = q[i];
  cb_pose_multiply_in(s->curvature, &A, &m, &relative);
  cb_pose_multiply_in(s->curvature, &relative, &back, &relative); /* the pose of body b in the frame of body a */
  if (j->body[0] >= 0) {
    const cb_rigid_state *a = &s->state[j->body[0]];
    double Ya[6];
    check_ok(cb_rigid_twist(&s->body[j->body[0]].problem, a, Ya));
    cb_pose_multiply_in(s->curvature, &a->g, &relative, &g);
    cb_pose_inverse(&relative, &back);
    cb_pose_adjoint_in(s->curvature, &back, X);
    cb_apply6((const double(*)[6])X, Ya, Y);
  } else
    g = relative;
  for (int i = 0; i < cb_joint_coordinates(j); i++) cb_add6(rate[i], motion.S[i], own);
  cb_pose_adjoint_in(s->curvature, &B, AdB);
  double moved[6];
  cb_apply6((const double(*)[6])AdB, own, moved);
  cb_add6(1, moved, Y);
  check_ok(cb_rigid_start(&s->body[j->body[1]].problem, t, &g, Y, &s->state[j->body[1]]));
}

static inline void joined_start(joined *s, const cb_mechanism_laws *laws) {
  int which = -1;
  check_ok(cb_mechanism_create_in(s->curvature, s->n, s->joints, s->joint, laws, &which, &s->mechanism));
  if (s->curvature != 0) memcpy(cb_mechanism_q(s->mechanism), s->q, (size_t)s->coordinates * sizeof *s->q);
  s->bodies = (cb_mechanism_bodies){s->state, s, joined_problem};
  check_ok(cb_mechanism_start(s->mechanism, &s->bodies, s->t, 1e-9, &which));
}

/* Makes a step of length h, of order 2 or, for order 4, by Suzuki's composition of five such steps. */
static inline cb_status joined_step(joined *s, double h, int order) {
  const double p = 0.41449077179437573714, part[5] = {p, p, 1 - 4 * p, p, p};
  for (int i = 0; i < (order == 4 ? 5 : 1); i++) {
    const double own = order == 4 ? part[i] * h : h;
    int failed, iterations;
    for (int b = 0; b < s->n; b++) s->state[b].t = s->t;
    const cb_mechanism_step step = {CB_SE3_CAYLEY, false, s->t, own};
    cb_status status = cb_mechanism_drift(s->mechanism, &s->bodies, &step, &failed, &iterations);
    s->t += own;
    if (!status) status = cb_mechanism_settle(s->mechanism, &s->bodies, s->t, &failed);
    if (status) return status;
  }
  return CB_OK;
}
