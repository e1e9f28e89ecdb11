/* A tree of joints as a list of units, and its momenta, twists and their rates in coordinates of joints. A unit moves
 * relative to its parent by one screw or one rotation, or is fixed to it. The sweeps are below.
 *
 * A joint whose class is `serial` (curvebody/joint.h) is one unit for each screw and one for its rotation; all units
 * but the last one carry no body. For a unit b on its parent a, with vectors about the origin of each:
 *   Y_b = X Y_a + S q',  P_b = sum of K Y + mu_0 over the bodies from b on outwards,  pi = S^T P_b + a q'
 *   P_b = A Y_b + b:  D = S^T A S + a,  A_a += X^T (A - A S D^-1 S^T A) X,  b_a += X^T (b + A S D^-1 (pi - S^T b))
 *                                                                                               tips inwards
 *   q' = D^-1 (pi - S^T b - S^T A X Y_a)                                                          outwards
 *   pi' = <P_b, [Y_b, S]> + S^T F_b + Q,   F_b the sum of the wrenches from b on outwards, Q the force on q
 * X: maps a twist of the parent to the origin of the unit; S: twist of the unit relative to its parent for q' = 1; a:
 * armature (as an index: the parent); b: the part of P_b that does not depend on Y_b (as an index: the unit); K, mu_0:
 * inertia and momentum at rest of a body; [Y, S]: the bracket of twists. Because pi is the momentum of q, no inertia is
 * ever differentiated in time. A screw is (0, 0, turn; 0, 0, slide) in the axes of its unit. A rotation has the rate w
 * in the axes of the unit, S w = (w; 0), so its momentum is that of w. Sources: Featherstone, Rigid Body Dynamics
 * Algorithms (2008), chapter 7, with momenta in place of forces and twists in place of accelerations; Naudet, Lefeber,
 * Daerden & Terze, Multibody Syst. Dyn. 10 (2003) 45. SI units.
 */
#pragma once

#include "mechanism/mechanism_private.h"
#include "numerics/dd.h"
#include "numerics/vec3.h"

#include <stdalign.h>

typedef enum cb_unit_kind { CB_UNIT_ROOT, CB_UNIT_WELD, CB_UNIT_SCREW, CB_UNIT_ROTATION } cb_unit_kind;

/* Additional data of a unit that is a rotation. */
typedef struct cb_unit_rotation {
  double sign;               /* 1 or -1: its rotation vector is `sign` times the coordinates */
  double armature[3];        /* armatures of its three coordinates */
  double turned[4], node[4]; /* quaternions of the unit relative to its parent: turned: at present; node: at the start
                              * of the step */
  double vector[3], V[3][3]; /* vector: its rotation vector; V: maps its angular velocity w to the rate of `vector` */
  double trial[3];           /* rotation vector of the displacement from the start of the step to the present stage */
} cb_unit_rotation;

/* Additional data of a unit that is a root: the variables of a step (integrators/rkmk4.c). */
typedef struct cb_unit_root {
  /* du, dl: rates of displacement and momentum at a stage; displaced, gained: their sums over the stages, times the
   * weights of the stages and h */
  double du[6], dl[6], displaced[6], gained[6];
  double trial[6], dx[3]; /* the displacement from the start of the step to the present stage */
  cb_rigid_state total;   /* pose of the root, and momentum of its tree */
  double rotation[3][3];
} cb_unit_root;

/* Additional data of a body whose inertia is not constant: K and mu_0 (rest) in its own frame. */
typedef struct cb_unit_inertia {
  double K[6][6], rest[6];
} cb_unit_inertia;

typedef struct cb_unit {
  cb_unit_kind kind;
  int parent, link, joint,
      coordinate; /* parent: -1 is the world; link and joint: -1 is none; coordinate: the first coordinate of the unit,
                   * 0 if it has none */
  int root;       /* the root of the tree, or -1: the world */
  bool driven;
  double turn, slide, armature; /* of a screw: its rotation and its displacement per unit of the coordinate, and its
                                 * armature */
  cb_unit_rotation *rotation;
  cb_unit_root *base;
  cb_unit_inertia *inertia;
  cb_pose at, body; /* at: pose of the unit in its parent if the coordinate is 0; body: pose of the body in the unit */
  double hold[3];   /* the place of the joint in the body of its link, seen from the unit */
  double arm[3];    /* the vector `hold` at the start of a step, in the world's axes */
} cb_unit;

struct cb_joint_tree {
  int n, coordinates;
  cb_unit *unit;                      /* parents come before children */
  struct cb_articulated *articulated; /* [n]: the data of each unit for the sweeps */
  const struct cb_articulated_kernel *kernel;
  int *unit_of; /* [links]: the unit that carries the body of each link */
  int rotations, bases;
  cb_unit_rotation *rotation;
  cb_unit_root *base;
  cb_unit_inertia *inertia; /* [links]: inertias of bodies whose inertia is not constant */
  bool single;              /* each unit carries a body */
  bool places;              /* a wrench acts on some body, so that steps need the places of the units */
  bool drives;
  bool forces; /* a spring, a damper or a motor acts */
  bool varies; /* an inertia is not constant */
  bool placed; /* the places are those at the end of the last step */
  /* [coordinates]: the present values q and their rates, and the present momenta pi and their rates dpi. For a rotation
   * pi is the momentum that belongs to its angular velocity w. */
  double *q, *rate, *pi, *dpi, *own_rate; /* own_rate: q' of a screw, w of a rotation */
  double *q_gained, *pi_gained, *dq, *pi_start, *work[2];
  double *stage_pi[4], *stage_rate[4]; /* [coordinates] for each stage: pi (stage_pi) and rates (stage_rate) of driven
                                        * coordinates */
};

/* The number of coordinates of a unit. */
static inline int cb_tree_coordinates(const cb_unit *u) {
  return u->kind == CB_UNIT_SCREW ? 1 : u->kind == CB_UNIT_ROTATION ? 3 : 0;
}
/* Finds V = 1 + hat(a)/2 + c hat(a)^2, c = (1 - (w/2) cot(w/2))/w^2, w = |a|, and its rate for the rate `rate` of a
 * (NULL: not needed). */
void cb_tree_vector_rate(const double a[3], const double rate[3], double V[3][3], double change[3][3]);

/* Removes round-off from a quaternion whose length should be 1. */
static inline void cb_tree_tidy(double q[4]) {
  const double scale = 1.5 - (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) / 2;
  for (int i = 0; i < 4; i++) q[i] *= scale;
}

/* --- a step (mechanism_rkmk4.c) --- */
enum { CB_TREE_STAGES = 4 };

/* The data that all functions of a step share. */
typedef struct cb_tree_step {
  cb_mechanism *m;
  cb_joint_tree *T;
  const cb_mechanism_bodies *b;
  double t, h;
  int failed; /* the body that failed; -1: no single body */
} cb_tree_step;

static inline const cb_rigid_problem *cb_tree_problem(const cb_tree_step *w, const cb_unit *u) {
  return w->b->problem(w->b->self, w->m->link[u->link].body);
}
static inline cb_rigid_state *cb_tree_state(const cb_tree_step *w, const cb_unit *u) {
  return &w->b->state[w->m->link[u->link].body];
}

/* For each unit that is a rotation, finds the rotation vector and V, and from the rotation vector the coordinates q. If
 * the unit is driven, finds the rotation and own_rate from q and its rate. Also sets own_rate of driven screws. */
void cb_tree_rotations(cb_joint_tree *T);
/* Finds the rates of the coordinates of joints from own_rate. */
void cb_tree_joint_rates(cb_joint_tree *T);

/* --- sweeps over the tree ---
 *
 * The units of a tree in the world's axes: places, inertias, twists and momenta (equations: above).
 *
 * Vectors of a unit are in the world's axes, about the unit's origin, so that no vector is rotated between a unit b and
 * its parent a, whose origin is -d away:
 *   X (w, v) = (w, v + w × d),   X^T (l, p) = (l + d × p, p)
 * A unit with a body has the frame of the body; another one has that of its screw or rotation. In its own axes, the
 * columns of S and an inertia that is constant do not change; the rotation R of the unit turns them once per placement.
 * The rotation and the place of a screw that turns by q and slides by s, seen from the parent, are linear in cos(q),
 * sin(q) and s:
 *   (R_ab, r) = fixed + cos(q) along + sin(q) across,  r += s axis;   quaternion: cos(q/2) at + sin(q/2) turned
 * The loops are in mechanism_articulated_kernel.h, compiled once per instruction set. SI units.
 */

/* Vectors of four numbers come first, so that they lie on multiples of their length. */
typedef struct cb_articulated {
  /* present values. R: the rotation of the unit; I, H, M: the blocks of the symmetric map of twists to momenta, l = I w
   * + H v, p = H^T w + M v. All matrices are stored by columns. */
  alignas(64) double q[4];
  double R[3][4], x[4], x_low[4], d[4];
  cb_six S[3], L[3], Y, P, F; /* S, Y, P: as in the file head; L: D^-1 S^T A X; F: the sum of the wrenches from this
                               * unit on outwards */
  double I[3][4], H[3][4], M[3][4];
  cb_six b;
  /* Constant data of the unit. at, turned and axis are the vectors of that name in the equations of the quaternion and
   * of r (comment before this struct). */
  double at[4], turned[4], axis[4];
  double motion[4][3][4]; /* of a screw: the vectors `fixed`, `along` and `across` (see above), for the three columns of
                           * R_ab and for r */
  cb_six own[3];          /* the columns of S in the unit's axes */
  /* start: the place of the body at the start of the step; load: the impulse of the wrenches in the step, about this
   * place */
  double start[4];
  cb_six load;
  double V[8], wrench[6]; /* the present twist, 6 numbers, and wrench in the frame of the body */
  double wrench_work;
  const cb_rigid_problem *problem; /* NULL: the unit carries no body */
  const double (*K)[6], *rest;     /* inertia and momentum at rest in the frame of the body */
  bool diagonal;
  /* constant data of the unit */
  bool root, free;                 /* free: it has coordinates, and no law drives them */
  int parent, coordinate, columns; /* columns: number of columns of S */
  double turn, slide, armature;
  double body[4], arm[3]; /* of a rotation: body: the axes of the body in the turning frame, as a quaternion; arm: the
                           * place of the body there */
  double hold[3];         /* the place of the joint in the unit's axes */
  cb_unit_rotation *rotation;
  double u[3]; /* present value of D^-1 (pi - S^T b) */
} cb_articulated;

struct cb_articulated_kernel {
  /* Places all units except roots for T->q and the rotations `turned`. At a node (`node` is set) positions are
   * compensated sums, and quaternions have the length 1. */
  void (*place)(cb_joint_tree *T, bool node);
  /* Finds the twists Y of all units and own_rate, from K, pi, P of roots and the rates of driven coordinates; if
   * with_momenta is set, also P of all units. Returns a unit whose equations are singular, or -1. */
  int (*find_twists)(cb_joint_tree *T, bool with_momenta);
  /* Finds own_rate of units that are not driven from the twists Y. All units must carry bodies. */
  void (*find_rates)(cb_joint_tree *T);
  /* Adds the momenta P of all units to those of their parents. */
  void (*gather_momenta)(cb_joint_tree *T);
  /* Finds F of all units from the wrenches of bodies. Adds `part` times the wrenches to the loads, and `part` times
   * their powers to the works. */
  void (*gather_wrenches)(cb_joint_tree *T, double part);
  /* Finds dpi of all coordinates, without the terms of armatures and without Q. */
  void (*find_changes)(cb_joint_tree *T);
};

extern const struct cb_articulated_kernel cb_articulated_kernel_x86_64, cb_articulated_kernel_avx2;

/* Creates T->articulated, the data of the sweeps. */
cb_status cb_articulated_create(cb_mechanism *m);
/* Finds the inertias that are not constant, and then the twists of all units (find_twists). *failed becomes the body
 * that failed, or -1. */
cb_status cb_articulated_twists(cb_joint_tree *T, const cb_mechanism *m, double t, bool with_momenta, int *failed);
/* Returns pi of one of a unit's coordinates, for the unit's momentum P. */
double cb_articulated_momentum(const cb_joint_tree *T, int unit, int component);

static inline double cb_six_dot(const cb_six *x, const cb_six *y) { return cb_dot3(x->a, y->a) + cb_dot3(x->l, y->l); }
/* out = R a */
static inline void cb_articulated_turn(const cb_articulated *o, const double a[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = o->R[0][i] * a[0] + o->R[1][i] * a[1] + o->R[2][i] * a[2];
}
/* Writes the columns of the rotation matrix of the quaternion q. */
static inline void cb_articulated_rotate(const double q[4], double columns[3][4]) {
  double r[3][3];
  cb_quaternion_rotation(q, r);
  for (int i = 0; i < 9; i++) columns[i % 3][i / 3] = r[i / 3][i % 3];
}
