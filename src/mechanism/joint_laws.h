/* Motors, servos and drives of joints, given as expressions.
 *
 *   motor      Q = u                      position servo  Q = kp (u - q) - kv q'      velocity servo  Q = kv (u - q')
 *   drive      q = u(t)
 * u is an expression of t, of the coordinate q and its rate w, of the coordinates of all joints by their labels, such as
 * hip or root.x, and of their rates, hip_rate or root.x_rate. u is limited to the range `control`, and Q to the range
 * `effort`. rad, m, s, N m, N.
 */
#pragma once

#include "mechanism/mechanism.h"
#include <curvebody/expression.h>
#include <stddef.h>

typedef enum cb_actuator_kind {
  CB_ACTUATOR_NONE,
  CB_ACTUATOR_MOTOR,
  CB_ACTUATOR_POSITION,
  CB_ACTUATOR_VELOCITY
} cb_actuator_kind;

typedef struct cb_actuator {
  cb_actuator_kind kind;
  const char *text; /* of u */
  double kp, kv;
  double control[2], effort[2]; /* ranges; infinite: none */
} cb_actuator;

typedef struct cb_joint_laws cb_joint_laws;

/* Copies label[coordinates], actuator[coordinates] and drive[coordinates] (texts; NULL: not driven); the parameters are
 * those of the scope. CB_ERROR_INPUT: an expression is wrong; then *which is the coordinate and *at the offset in the text
 * of its drive, or of its actuator if it has no drive. */
cb_status cb_joint_laws_create(int coordinates, const char *const *label, const cb_actuator *actuator,
                               const char *const *drive, const cb_expression_scope *parameters, int *which, size_t *at,
                               cb_joint_laws **out);
void cb_joint_laws_free(cb_joint_laws *l);
/* The functions for a mechanism; borrows l, which may be NULL. */
cb_mechanism_laws cb_joint_laws_of(cb_joint_laws *l);
/* The force of each coordinate's actuator at this state, force[coordinates]. */
void cb_joint_laws_efforts(cb_joint_laws *l, double t, const double *q, const double *rate, double *force);
