/* The units of a tree in the world's axes: places, inertias, twists and momenta (joints and equations: mechanism_tree.h).
 *
 * Vectors of a unit are in the world's axes, about the unit's origin, so that nothing is turned from a unit b to its
 * parent a, whose origin is -d away:
 *   X (w, v) = (w, v + w × d),   X^T (l, p) = (l + d × p, p)
 * A unit with a body has the frame of the body; another one has that of its screw or rotation. In its own axes, the
 * columns of S and an inertia that is constant do not change, and they are turned into the world's axes once per
 * placement. A rotation R_ab and a place r of a screw that turns by q, seen from the parent:
 *   R_ab = quaternion cos(q/2) at + sin(q/2) turned,   r = r_0 + cos(q) r_1 + sin(q) r_2 + slide q r_3
 * SI units.
 */
#pragma once

#include "mechanism/mechanism_tree.h"

typedef struct cb_articulated {
  /* constant */
  double at[4], turned[4], r[4][3]; /* a rotation: its axes in the parent at coordinate 0, and r_0 */
  double own[3][6];                 /* the columns of S in the unit's axes */
  double body[4], arm[3];           /* of a rotation: the axes of the unit, and its place, seen from the turning frame */
  double hold[3];                   /* the place of the joint in the unit's axes */
  const cb_rigid_problem *problem;  /* in the step; NULL: no body */
  /* at present */
  double q[4], R[3][3], x[3], x_low[3], d[3];
  double S[3][6], AS[3][6], D[3][3], u[3]; /* D: the inverse of S^T A S + a; u = D (pi - S^T b) */
  cb_spatial A;
  double b[6], Y[6], P[6], F[6];
} cb_articulated;

/* Makes T->articulated. */
cb_status cb_articulated_create(cb_mechanism *m);
/* Places all units but roots at T->q and rotations `turned`; node: with compensated sums, and unit quaternions. */
void cb_articulated_place(cb_joint_tree *T, bool node);
/* Own inertias of all units, which are the start of those with everything beyond; *failed: the body. */
cb_status cb_articulated_inertias(cb_joint_tree *T, const cb_mechanism *m, double t, int *failed);
/* After that: twists Y of all units, and own_rate, from pi, P of roots, and the rates of driven coordinates; with_momenta:
 * also P of all units. */
cb_status cb_articulated_twists(cb_joint_tree *T, const cb_mechanism *m, double t, bool with_momenta);
/* own_rate of units that are not driven, from the twists Y of units that all carry bodies. */
void cb_articulated_rates(cb_joint_tree *T);
/* Adds covectors of all units to those of their parents; `at` is the offset of the member. */
void cb_articulated_gather(cb_joint_tree *T, size_t at);
/* pi of a component of a unit's coordinates, for its momentum P. */
double cb_articulated_momentum(const cb_joint_tree *T, int unit, int component);
