/* Rotation vectors of units, and rates and momenta of their coordinates (symbols: mechanism_tree.h).
 *
 *   R = exp(hat(a)):  a' = V(a) w,  w in the axes of the unit;  the coordinates of the joint are a, or -a (sign)
 * Source: Iserles et al., Acta Numerica 9 (2000) 215, doi:10.1017/S0962492900002154.
 */
#include "mechanism/mechanism_tree.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

void cb_tree_vector_rate(const double a[3], const double rate[3], double V[3][3], double change[3][3]) {
  const double s = cb_dot3(a, a), w = sqrt(s), half = w / 2, cot = s > .05 ? cos(half) / sin(half) : 0,
               c = s > .05 ? (1 - half * cot) / s
                           : 1. / 12 + s * (1. / 720 + s * (1. / 30240 + s * (1. / 1209600 + s / 47900160)));
  memset(V, 0, 9 * sizeof **V);
  for (int i = 0; i < 3; i++) V[i][i] = 1;
  cb_add_hat3(V, .5, a);
  cb_add_hats3(V, c, a, a);
  if (!change) return;
  const double sine = sin(half),
               slope = s > .1 ? (-2 / s + cot / (2 * w) + 1 / (4 * sine * sine)) / (2 * s)
                              : 1. / 720 + s * (1. / 15120 + s * (1. / 403200 + s * (1. / 11975040 + s / 378481920)));
  memset(change, 0, 9 * sizeof **change);
  cb_add_hat3(change, .5, rate);
  cb_add_hats3(change, 2 * slope * cb_dot3(a, rate), a, a);
  cb_add_hats3(change, c, a, rate);
  cb_add_hats3(change, c, rate, a);
}

void cb_tree_rotations(cb_joint_tree *T) {
  for (int i = 0; i < T->n; i++) {
    cb_unit *u = &T->unit[i];
    double *q = T->q + u->coordinate, *rate = T->rate + u->coordinate;
    if (u->kind == CB_UNIT_SCREW && u->driven) T->own_rate[u->coordinate] = rate[0];
    if (u->kind != CB_UNIT_ROTATION) continue;
    cb_unit_rotation *o = u->rotation;
    if (u->driven) { /* the law may go beyond half a turn */
      for (int k = 0; k < 3; k++) o->vector[k] = o->sign * q[k];
      cb_quaternion_exp(o->vector, o->turned);
    } else {
      double own[4];
      const double flip = o->turned[0] < 0 ? -1 : 1;
      for (int k = 0; k < 4; k++) own[k] = flip * o->turned[k];
      cb_quaternion_log(own, o->vector);
    }
    cb_tree_vector_rate(o->vector, NULL, o->V, NULL);
    if (!u->driven)
      for (int k = 0; k < 3; k++) q[k] = o->sign * o->vector[k];
    else { /* V w = rate, by Cramer's rule */
      double columns[3][3], c[3], right[3];
      for (int k = 0; k < 3; k++) {
        right[k] = o->sign * rate[k];
        for (int j = 0; j < 3; j++) columns[j][k] = o->V[k][j];
      }
      cb_cross3(columns[1], columns[2], c);
      const double det = cb_dot3(columns[0], c);
      for (int k = 0; k < 3; k++) {
        cb_cross3(columns[(k + 1) % 3], columns[(k + 2) % 3], c);
        T->own_rate[u->coordinate + k] = cb_dot3(right, c) / det;
      }
    }
  }
}

void cb_tree_joint_rates(cb_joint_tree *T) {
  for (int i = 0; i < T->n; i++) {
    const cb_unit *u = &T->unit[i];
    const double *own = T->own_rate + u->coordinate;
    double *rate = T->rate + u->coordinate;
    if (u->kind == CB_UNIT_SCREW) rate[0] = own[0];
    for (int k = 0; k < 3 && u->kind == CB_UNIT_ROTATION; k++)
      rate[k] = u->rotation->sign * cb_dot3(u->rotation->V[k], own);
  }
}
