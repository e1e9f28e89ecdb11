/* A tree of joints as a row of units, each with one screw, one rotation, or nothing to move it: the momenta, the twists
 * and their rates in coordinates of joints. The sweeps are in mechanism_articulated.h.
 *
 * A joint whose class is `serial` (curvebody/joint.h) is one unit for each screw and one for its rotation; all units
 * but the last one carry no body. For a unit b on its parent a, with vectors about the origin of each:
 *   Y_b = X Y_a + S q',  P_b = sum of K Y + mu_0 over the bodies from b on outwards,  pi = S^T P_b + a q'
 *   P_b = A Y_b + b:  D = S^T A S + a,  A_a += X^T (A - A S D^-1 S^T A) X,  b_a += X^T (b + A S D^-1 (pi - S^T b))
 *                                                                                               tips inwards
 *   q' = D^-1 (pi - S^T b - S^T A X Y_a)                                                          outwards
 *   pi' = <P_b, [Y_b, S]> + S^T F_b + Q,   F_b the sum of the wrenches from b on outwards, Q the force on q
 * X: twist of the parent as the unit sees it; S: twist of the unit on its parent per rate; a: armature; K, mu_0:
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

typedef enum cb_unit_kind { CB_UNIT_ROOT, CB_UNIT_WELD, CB_UNIT_SCREW, CB_UNIT_ROTATION } cb_unit_kind;

/* What only a rotation has. */
typedef struct cb_unit_rotation {
  double sign;               /* its rotation vector divided by the coordinates */
  double armature[3];        /* of its coordinates */
  double turned[4], node[4]; /* the rotation now, and at the start of the step */
  double vector[3], V[3][3]; /* its rotation vector, and the rate of this vector for w */
  double trial[3];           /* the displacement at the present stage */
} cb_unit_rotation;

/* What only a root has: a step (integrators/rkmk4.c). */
typedef struct cb_unit_root {
  double du[6], dl[6], displaced[6], gained[6]; /* rates, and sums, of displacement and momentum */
  double trial[6], dx[3];                       /* the displacement at the present stage */
  cb_rigid_state total;                         /* pose of the root, and momentum of its tree */
  double rotation[3][3];
} cb_unit_root;

/* What only a body has whose inertia is not constant: K and mu_0 in its own frame. */
typedef struct cb_unit_inertia {
  double K[6][6], rest[6];
} cb_unit_inertia;

typedef struct cb_unit {
  cb_unit_kind kind;
  int parent, link, joint, coordinate; /* -1: the world; no body; no joint. 0 if it has no coordinate */
  int root;                            /* the root of the tree, or -1: the world */
  bool driven;
  double turn, slide, armature; /* of a screw */
  cb_unit_rotation *rotation;
  cb_unit_root *base;
  cb_unit_inertia *inertia;
  cb_pose at, body; /* the unit at coordinate 0 seen from its parent; the body seen from the unit */
  double hold[3];   /* the place of the joint in the body of its link, seen from the unit */
  double arm[3];    /* the same at the start of a step, in the world */
} cb_unit;

struct cb_joint_tree {
  int n, coordinates;
  cb_unit *unit;                      /* parents come before children */
  struct cb_articulated *articulated; /* [n] */
  const struct cb_articulated_kernel *kernel;
  int *unit_of; /* [links] */
  int rotations, bases;
  cb_unit_rotation *rotation;
  cb_unit_root *base;
  cb_unit_inertia *inertia; /* [links] */
  bool single;              /* each unit carries a body */
  bool places;              /* something depends on the poses of bodies */
  bool drives;
  bool forces; /* a spring, a damper or a motor acts */
  bool varies; /* an inertia is not constant */
  bool placed; /* the places are those at the end of the last step */
  /* [coordinates]: present values, and momenta (of a rotation, those of w) with their rates */
  double *q, *rate, *pi, *dpi, *own_rate; /* own_rate: q' of a screw, w of a rotation */
  double *q_gained, *pi_gained, *dq, *pi_start, *work[2];
  double *stage_pi[4], *stage_rate[4]; /* of driven coordinates */
};

/* The number of coordinates of a unit. */
static inline int cb_tree_coordinates(const cb_unit *u) {
  return u->kind == CB_UNIT_SCREW ? 1 : u->kind == CB_UNIT_ROTATION ? 3 : 0;
}
/* V = 1 + hat(a)/2 + c hat(a)^2, c = (1 - (w/2) cot(w/2))/w^2, w = |a|, and its rate for the rate `rate` of a (NULL:
 * not needed). */
void cb_tree_vector_rate(const double a[3], const double rate[3], double V[3][3], double change[3][3]);

/* Makes the length of a quaternion 1 that is 1 but for round-off. */
static inline void cb_tree_tidy(double q[4]) {
  const double scale = 1.5 - (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) / 2;
  for (int i = 0; i < 4; i++) q[i] *= scale;
}

/* --- a step (mechanism_rkmk4.c, mechanism_arrive.c) --- */
enum { CB_TREE_STAGES = 4 };

/* What all functions of a step need. */
typedef struct cb_tree_step {
  cb_mechanism *m;
  cb_joint_tree *T;
  const cb_mechanism_bodies *b;
  double t, h;
  int failed; /* the body; -1: not one body */
} cb_tree_step;

static inline const cb_rigid_problem *cb_tree_problem(const cb_tree_step *w, const cb_unit *u) {
  return w->b->problem(w->b->self, w->m->link[u->link].body);
}
static inline cb_rigid_state *cb_tree_state(const cb_tree_step *w, const cb_unit *u) {
  return &w->b->state[w->m->link[u->link].body];
}

/* The vectors of all rotations, their coordinates, and the rates of driven units in own_rate. */
void cb_tree_rotations(cb_joint_tree *T);
/* The rates of the coordinates of joints, from own_rate. */
void cb_tree_joint_rates(cb_joint_tree *T);
/* Adds sign times the momenta of all bodies of a tree but its root, about the root, in twice the precision, so that
 * what is taken out of a sum and added again leaves no round-off. */
void cb_tree_add_others(const cb_tree_step *w, int root, double sign, cb_dd sum[6]);
/* Writes the states of bodies and joints at the end of a step, with works and impulses; weight[CB_TREE_STAGES]. */
void cb_tree_arrive(cb_tree_step *w, const double *weight);
