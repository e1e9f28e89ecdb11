/* The units of a tree in the world's axes: places, inertias, twists and momenta (joints and equations:
 * mechanism_tree.h).
 *
 * Vectors of a unit are in the world's axes, about the unit's origin, so that nothing is turned from a unit b to its
 * parent a, whose origin is -d away:
 *   X (w, v) = (w, v + w × d),   X^T (l, p) = (l + d × p, p)
 * A unit with a body has the frame of the body; another one has that of its screw or rotation. In its own axes, the
 * columns of S and an inertia that is constant do not change; the rotation R of the unit turns them once per placement.
 * The rotation and the place of a screw that turns by q and slides by s, seen from the parent, are linear:
 *   (R_ab, r) = fixed + cos(q) along + sin(q) across,  r += s axis;   quaternion: cos(q/2) at + sin(q/2) turned
 * The loops are in mechanism_articulated_kernel.h, compiled once per instruction set. SI units.
 */
#pragma once

#include "mechanism/mechanism_tree.h"

#include <stdalign.h>

/* Vectors of four numbers come first, so that they lie on multiples of their length. */
typedef struct cb_articulated {
  /* at present: R and the symmetric map of twists to momenta, angular I w + H v, linear H^T w + M v, by columns */
  alignas(64) double q[4];
  double R[3][4], x[4], x_low[4], d[4];
  cb_six S[3], L[3], Y, P, F; /* L: D^-1 S^T A X */
  double I[3][4], H[3][4], M[3][4];
  cb_six b;
  /* constant */
  double at[4], turned[4], axis[4];
  double motion[4][3][4]; /* of a screw: the columns of R_ab, and r: fixed, along, across */
  cb_six own[3];          /* the columns of S in the unit's axes */
  /* in the step: the place of the body at the start, and the impulse of wrenches about it */
  double start[4];
  cb_six load;
  double V[8], wrench[6]; /* the present twist, 6 numbers, and wrench in the frame of the body */
  double wrench_work;
  const cb_rigid_problem *problem; /* NULL: no body */
  const double (*K)[6], *rest;     /* inertia and momentum at rest in the frame of the body */
  bool diagonal;
  /* constant */
  bool root, free;                 /* free: it has coordinates, and no law drives them */
  int parent, coordinate, columns; /* columns of S */
  double turn, slide, armature;
  double body[4], arm[3]; /* of a rotation: the axes and the place of the body in the turning frame */
  double hold[3];         /* the place of the joint in the unit's axes */
  cb_unit_rotation *rotation;
  double u[3]; /* at present: D^-1 (pi - S^T b) */
} cb_articulated;

struct cb_articulated_kernel {
  /* Places all units but roots at T->q and rotations `turned`; node: with compensated sums, and unit quaternions. */
  void (*place)(cb_joint_tree *T, bool node);
  /* Twists Y of all units, and own_rate, from K, pi, P of roots, and the rates of driven coordinates; with_momenta:
   * also P of all units. Returns a unit whose equations are singular, or -1. */
  int (*find_twists)(cb_joint_tree *T, bool with_momenta);
  /* own_rate of units that are not driven, from the twists Y of units that all carry bodies. */
  void (*find_rates)(cb_joint_tree *T);
  /* Adds the momenta P of all units to those of their parents. */
  void (*gather_momenta)(cb_joint_tree *T);
  /* F of all units from the wrenches of bodies; adds `part` times the wrenches, and their powers, to loads and
   * works. */
  void (*gather_wrenches)(cb_joint_tree *T, double part);
  /* dpi of all coordinates without armatures and Q. */
  void (*find_changes)(cb_joint_tree *T);
};

extern const struct cb_articulated_kernel cb_articulated_kernel_x86_64, cb_articulated_kernel_avx2;

/* Makes T->articulated. */
cb_status cb_articulated_create(cb_mechanism *m);
/* Twists of all units (see above) after the inertias that are not constant; *failed: the body, or -1. */
cb_status cb_articulated_twists(cb_joint_tree *T, const cb_mechanism *m, double t, bool with_momenta, int *failed);
/* pi of a component of a unit's coordinates, for its momentum P. */
double cb_articulated_momentum(const cb_joint_tree *T, int unit, int component);

static inline double cb_six_dot(const cb_six *x, const cb_six *y) { return cb_dot3(x->a, y->a) + cb_dot3(x->l, y->l); }
/* out = R a */
static inline void cb_articulated_turn(const cb_articulated *o, const double a[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = o->R[0][i] * a[0] + o->R[1][i] * a[1] + o->R[2][i] * a[2];
}
/* The rotation of the quaternion q, by columns. */
static inline void cb_articulated_rotate(const double q[4], double columns[3][4]) {
  double r[3][3];
  cb_quaternion_rotation(q, r);
  for (int i = 0; i < 9; i++) columns[i % 3][i / 3] = r[i / 3][i % 3];
}
