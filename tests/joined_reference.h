/* The independent equations of mechanism_reference.h for bodies that a mechanism joins (joined_bodies.h). */
#pragma once

#include "mechanism_reference.h"

/* Replaces a compound joint by its parts: hinges about and slides along the z axes of their frames, with further bodies
 * between them. The frames are those for coordinates 0. */
static inline void reference_split(reference *r, const cb_joint *j) {
  int from = j->body[0];
  cb_joint_frame first = j->frame[0];
  for (int i = 0; i < j->data.screws; i++) {
    const double *screw = j->data.screw[i];
    const bool hinge = cb_dot3(screw, screw) > .5, last = i == j->data.screws - 1;
    double local[3] = {0}, rest[3], own_q[4], place[3];
    if (hinge) cb_cross3(screw, screw + 3, local); /* the point of the axis that is nearest to the origin */
    cb_joint_axes(hinge ? screw : screw + 3, own_q);
    cb_pose frame = {.x = {0}};
    double turn[3][3];
    memcpy(frame.q, first.q, sizeof frame.q);
    cb_pose_rotation(&frame, turn);
    cb_apply3((const double(*)[3])turn, local, rest);
    for (int k = 0; k < 3; k++) place[k] = first.x[k] + rest[k];
    reference_joint *own = &r->joint[r->joints++];
    *own = (reference_joint){.kind = hinge ? "hinge" : "slide", .body = {from, last ? j->body[1] : r->bodies}};
    cb_quaternion_multiply(first.q, own_q, own->frame[0].q);
    memcpy(own->frame[0].x, place, sizeof place);
    /* On a body between two parts, the frame of the joint is that of the body. On the last body it is frame[1]. */
    cb_joint_frame to = last ? j->frame[1] : (cb_joint_frame){.q = {1}};
    memcpy(frame.q, to.q, sizeof frame.q);
    cb_pose_rotation(&frame, turn);
    cb_apply3((const double(*)[3])turn, local, rest);
    for (int k = 0; k < 3; k++) own->frame[1].x[k] = to.x[k] + rest[k];
    cb_quaternion_multiply(to.q, own_q, own->frame[1].q);
    own->stiffness[0] = j->stiffness[i];
    own->rest[0] = j->rest[i];
    own->damping[0] = j->damping[i];
    own->armature[0] = j->armature[i];
    if (last) return;
    from = r->bodies++;
    first = (cb_joint_frame){.q = {1}};
  }
}

/* Writes the states of the bodies between the parts of a compound joint to z. */
static inline void reference_between_parts(const joined *s, const cb_joint *j, const double *q, const double *rate,
                                           double *z) {
  cb_pose g, frame = {.x = {j->frame[0].x[0], j->frame[0].x[1], j->frame[0].x[2]}};
  double Y[6] = {0}, Ya[6];
  memcpy(frame.q, j->frame[0].q, sizeof frame.q);
  cb_pose_identity(&g);
  if (j->body[0] >= 0) {
    g = s->state[j->body[0]].g;
    check_ok(cb_rigid_twist(&s->body[j->body[0]].problem, &s->state[j->body[0]], Ya));
    memcpy(Y, Ya, sizeof Y);
  }
  cb_pose step = frame;
  for (int i = 0; i < j->data.screws - 1; i++) {
    double by[6], Ad[6][6], seen[6];
    cb_pose turn, back;
    for (int k = 0; k < 6; k++) by[k] = q[i] * j->data.screw[i][k];
    cb_se3_tau(CB_SE3_EXPONENTIAL, by, &turn);
    cb_pose_multiply(&step, &turn, &step);
    cb_pose_multiply(&g, &step, &g);
    cb_pose_inverse(&step, &back);
    cb_pose_adjoint(&back, Ad);
    cb_apply6((const double(*)[6])Ad, Y, seen);
    memcpy(Y, seen, sizeof Y);
    cb_add6(rate[i], j->data.screw[i], Y);
    reference_write(&g, Y, z + REFERENCE_STATE * i);
    cb_pose_identity(&step);
  }
}

/* Sets up the equations r of the joined bodies and their state z at the start. It must be called after joined_start. */
static inline void reference_of(const joined *s, reference *r, double *z) {
  *r = (reference){.bodies = s->n};
  for (int b = 0; b < s->n; b++) {
    double Y[6];
    memcpy(r->K[b], s->body[b].constant.K, sizeof r->K[b]);
    memcpy(r->weight[b], s->body[b].weight, sizeof r->weight[b]);
    check_ok(cb_rigid_twist(&s->body[b].problem, &s->state[b], Y));
    reference_write(&s->state[b].g, Y, z + REFERENCE_STATE * b);
  }
  for (int i = 0; i < s->joints; i++) {
    const cb_joint *j = &s->joint[i];
    if (!strcmp(j->class_->name, "compound")) {
      const int first = cb_mechanism_first(s->mechanism, i);
      reference_between_parts(s, j, cb_mechanism_q(s->mechanism) + first, cb_mechanism_rates(s->mechanism) + first,
                              z + REFERENCE_STATE * r->bodies);
      reference_split(r, j);
      continue;
    }
    reference_joint *own = &r->joint[r->joints++];
    *own = (reference_joint){.kind = j->class_->name,
                             .body = {j->body[0], j->body[1]},
                             .length = j->data.params ? *(const double *)j->data.params : 0};
    memcpy(own->frame, j->frame, sizeof own->frame);
    memcpy(own->stiffness, j->stiffness, sizeof own->stiffness);
    memcpy(own->rest, j->rest, sizeof own->rest);
    memcpy(own->damping, j->damping, sizeof own->damping);
    memcpy(own->armature, j->armature, sizeof own->armature);
  }
}

/* Returns the maximum difference of the rotations, positions and velocities of the bodies from z. */
static inline double reference_error(const joined *s, const double *z) {
  double worst = 0;
  for (int b = 0; b < s->n; b++) {
    double Y[6], own[REFERENCE_STATE];
    check_ok(cb_rigid_twist(&s->body[b].problem, &s->state[b], Y));
    reference_write(&s->state[b].g, Y, own);
    worst = fmax(worst, distance_to(REFERENCE_STATE, own, z + REFERENCE_STATE * b));
  }
  return worst;
}
