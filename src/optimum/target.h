/* The target of a gait: conditions c_k(g(1)) = 0 on its holonomy g(1), and their derivatives.
 *
 *   c_k(exp(y) g) = c_k + first_k y + y' second_k y/2 + ...
 * move     a distance without turning:  se2: theta = 0, |(x, y)| = X;  se3: q_v = 0, |x| = X;
 *          R^n: |x| = X (R^1: x = X)
 * turn     an angle:  so2, se2: theta (including full turns);  so3, se3: the angle of the rotation, in (0, 2 pi)
 * element  log(g e^-1) = 0
 * parts    some of the numbers of g have given values
 *
 * y: a small element of the algebra; X: the amount; theta, x, y of se2 and q, x of se3: numbers of g (curvebody/lie.h);
 * q_v: the vector part of q; e: the required element. The conditions of move and turn are functions of the conjugacy
 * class of g, so that Ad*_g first_k = first_k. The derivatives of `element` are exact only where c_k = 0.
 */
#pragma once

#include <curvebody/optimum.h>

enum { CB_CONDITIONS_MAX = CB_GROUP_SIZE };

/* cb_gait_target_count returns the number of conditions. One condition c_k = f(g) - amount may contain the amount;
 * cb_gait_target_amount returns its index k, or -1 if there is none. The amount is the distance of a target `move`, the
 * angle of `turn`, the number of `parts` that is not 0 if there is only one, or the element of R^1. */
int cb_gait_target_count(const cb_group *G, const cb_gait_target *t);
int cb_gait_target_amount(const cb_group *G, const cb_gait_target *t);
/* cb_gait_target_get returns the amount, or nan if there is none. cb_gait_target_set replaces the amount. */
double cb_gait_target_get(const cb_group *G, const cb_gait_target *t);
void cb_gait_target_set(const cb_group *G, cb_gait_target *t, double amount);

/* Computes the values c[count] of the conditions at g, and their derivatives first[count][dim] and
 * second[count][dim][dim], which may be NULL. Returns CB_ERROR_UNSUPPORTED for move and turn in a group of more than
 * CB_JET_MAX numbers, and CB_ERROR_DOMAIN if log(g e^-1) does not exist. */
cb_status cb_gait_target_at(const cb_group *G, const cb_gait_target *t, const double *g, double *c, double *first,
                            double *second);
