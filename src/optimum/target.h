/* What a gait is asked to do: conditions c_k(g(1)) = 0 on its holonomy, and their derivatives.
 *
 *   c_k(exp(y) g) = c_k + first_k y + y' second_k y/2 + ...
 * move     a distance without turning:  se2: theta = 0, |(x, y)| = X;  se3: q_v = 0, |x| = X;  R^n: |x| = X (R^1: x = X)
 * turn     an angle:  so2, se2: theta (with whole turns);  so3, se3: of the rotation, in (0, 2 pi)
 * element  log(g e^-1) = 0
 * parts    some of the numbers of g
 * move and turn are functions of the class of conjugate elements: for them Ad*_g first_k = first_k. Those of
 * `element` are taken at c = 0.
 */
#pragma once

#include <curvebody/optimum.h>

enum { CB_CONDITIONS_MAX = CB_GROUP_SIZE };

/* How many conditions; and which of them has the amount (the X of move, the angle of turn, the only number of parts that
 * is not 0): c_k = f(g) - amount; -1 where there is none. */
int cb_gait_target_count(const cb_group *G, const cb_gait_target *t);
int cb_gait_target_amount(const cb_group *G, const cb_gait_target *t);
/* The amount (nan where there is none), and the same target with another. */
double cb_gait_target_get(const cb_group *G, const cb_gait_target *t);
void cb_gait_target_set(const cb_group *G, cb_gait_target *t, double amount);

/* c[count], first[count][dim] (NULL), second[count][dim][dim] (NULL). */
cb_status cb_gait_target_at(const cb_group *G, const cb_gait_target *t, const double *g, double *c, double *first,
                            double *second);
