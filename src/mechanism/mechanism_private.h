/* The data of a mechanism, shared by its files (equations: mechanism.h). Everything is in the world's axes; twists and
 * wrenches of a body are about its origin. In a curved space everything of a link is in the frame of its body
 * (mechanism_curved.c).
 *
 * k, k+1: the first and the last node of a step of length h; q: coordinates of joints; Q: forces on them; S: twists of
 * a joint, one per coordinate; X: maps a twist of the parent to the origin of the link; Y: twist of a body; eta:
 * displacement of a link in a step, or its twist at a node; W: impulses; w: impulse of the joint of a link; A: matrix
 * of a link, which maps eta to an impulse; p: momentum of a body; mu_0: its momentum at rest; K: its inertia. */
#pragma once

#include "core/arena.h"
#include "core/failure.h"
#include "mechanism/mechanism.h"
#include "numerics/vec3.h"

#include <stdalign.h>

/* A joint at the present poses of its bodies. */
typedef struct cb_joint_now {
  double S[6][6], N[6][6]; /* S[coordinates]: twists of the second body, one per coordinate; N[rows]: covectors on
                            * twists that are 0 on all S */
  double close[6];   /* the twist of the second body that closes the gaps, - sum_i gap_i N_i in the joint's frame */
  double gap[6];     /* [rows]: the gaps */
  double dual[6][6]; /* [coordinates]: dual[i] is the covector whose value on S[j] is 1 if i = j, otherwise 0 */
} cb_joint_now;

/* A rotation r, also as a quaternion, and a position, as a high and a low part. */
typedef struct cb_place {
  double q[4], r[3][3], x[3], x_low[3];
} cb_place;

/* A twist or a covector: angular and linear part, each with a fourth number to fill a vector of the processor. */
typedef struct cb_six {
  double a[4], l[4];
} cb_six;
static inline void cb_six_set(const double V[6], cb_six *out) {
  for (int i = 0; i < 3; i++) {
    out->a[i] = V[i];
    out->l[i] = V[3 + i];
  }
}

/* One body of a tree, which its joint holds to its parent. The root of a tree that is not joined to the world has no
 * joint. Matrices A map displacements of the end of a step to impulses at its beginning. Both are about the origin of
 * the body at the beginning, so that the same vector d is used at both nodes; S1 and e are about that origin, too. */
typedef struct cb_link {
  /* data of the sweeps (see below). A: the matrix A by rows, which includes the links beyond this one; r: the load;
   * whole_eta: eta; [n]: AS = X^T A S_{k+1}, L = D^-1 S_k^T A X, DS = D^-1 S_k */
  alignas(64) cb_six A[6], r, whole_eta, AS[6], L[6], DS[6];
  int body, joint, parent;                      /* joint -1: a root; parent: a link, or -1 for the world */
  int root;                                     /* the first body of its tree */
  bool first_moves;                             /* the body is the first one of its joint */
  bool in_block, node_in_block, hinge_in_block; /* true if a block treats the body in a step (in_block), the body at a
                                                 * node (node_in_block), or the joint (hinge_in_block) */
  int n;                                        /* number of free coordinates, which are neither driven nor held */
  int coordinate[6];                            /* [n]: the numbers of the free coordinates in the joint */
  cb_rigid_trial trial;
  double Y[6], update[6];    /* the trial twist and its last update, in the frame of the body */
  double r0[3][3];           /* the rotation at the first node */
  double d[3];               /* the vector from the parent's origin to the body's origin, at the first node */
  double moved[3];           /* the displacement of the origin in the trial step */
  double S0[6][6], S1[6][6]; /* [n]: the twists S at the first node and at the end of the trial step */
  double all0[6][6];         /* [coordinates]: the twists S at the first node of all coordinates, also of driven ones */
  double e[6];               /* the closing twist: it closes the gaps of the joint, and changes driven and held
                              * coordinates to their values */
  double load[6];            /* the residual at the trial twist: the impulse that is still missing in the equation of
                              * the body */
  /* [n]: D: the inverse of S_k^T A S_{k+1} + stiff; u: the change of q if the parent does not move */
  double D[6][6], u[6];
  double inertia[6];    /* [n]: the diagonal of S_k^T A S_{k+1} */
  double force[6];      /* [n]: the value that S^T w must have at the trial twist */
  double stiff[6];      /* [n]: minus the derivative of `force` in q */
  double eta[6], w[6];  /* eta: the twist of the link at a node, or its displacement in a step; w: the impulse of the
                         * joint on this body */
  double dq[6];         /* [n]: rates of the free coordinates at a node, or their changes in a step */
  double K[6][6];       /* the inertia at a node; not set if the inertia is constant */
  cb_place place;       /* the place of the body at the end of the trial step, or at the node */
  cb_factors6 *factors; /* the factors of A; only for a root without a joint */

  struct cb_curved_link *curved; /* NULL in flat space */
} cb_link;
/* The size of a link is an odd number of cache lines. If it were even, the same member of many links would share few
 * sets of the cache. */
_Static_assert(sizeof(cb_link) / CB_CACHE_LINE % 2 == 1, "the size of a link");

/* The data of a link in a curved space. They are used in place of the members d, moved and a part of the trial of
 * cb_link. */
typedef struct cb_curved_link {
  cb_rigid_curved_trial trial;
  cb_biquaternion frame[2]; /* the frames A and B of its joint */
  cb_pose node, end;        /* the motion m of the joint. node: at the first node; end: at the end of the trial, or at
                             * the present node */
  double X[6][6];           /* Ad of the pose of the parent relative to the body, at the first node */
  double moved[6][6];       /* Ad_{tau(h Y)}: maps a twist in the frame at the end of the step to the frame at its
                             * beginning */
  double r[3][3];           /* the rotation of the body at the first node */
} cb_curved_link;

/* A joint that closes a loop (cb_loop), and one of its rows (cb_loop_row). The rows of a joint are those of its gaps,
 * followed by those of its coordinates. A coupling of two coordinates has two structs cb_loop, one for the joint of
 * each coordinate, and its only row belongs to the first one. */
typedef struct cb_loop {
  int joint, rows, gaps;        /* gaps: how many of the rows are constraints of the joint or coupling */
  int coordinate;               /* of a part of a coupling: the number of its coordinate in the joint */
  int link[2];                  /* the links of its two bodies; -1: the world */
  double d[3];                  /* the vector from the origin of the first body to that of the second body, at the first
                                 * node */
  const struct cb_loop *second; /* the second part of a coupling; NULL for a joint, and for the second part itself */
  double value, dual[6];        /* of a part of a coupling, at the present places: the value of its coordinate, and the
                                 * covector of this coordinate */
} cb_loop;

typedef struct cb_loop_row {
  bool yields; /* the row is that of a coordinate that is neither driven nor held */
  /* covectors of the row on the motion of the second body relative to the first body, about the second body's origin at
   * the first node. N0: at the first node; N1: at the last node. N0[1] and N1[1] are those of the second part of a
   * coupling. */
  double N0[2][6], N1[2][6];
  double gap, target;  /* of a constraint: its gap, and the value that C eta must have, C eta = N (eta_B - X eta_A)
                        * for the bodies A and B (mechanism_loops.c) */
  double force, stiff; /* of a coordinate: its force f and stiffness s (mechanism_loops.c) */
  double lambda, change_of_lambda;
  double (*response)[6], (*change)[6]; /* [links]: the eta (response) and the dq (change) of all links that the
                                        * impulse lambda = 1 causes */
} cb_loop_row;

typedef struct cb_joint_tree cb_joint_tree;

/* The data of one coordinate, for loops over all coordinates. */
typedef struct cb_coordinate {
  double stiffness, rest, damping, armature;
  int joint, number; /* joint: the joint of the coordinate; number: the number of the coordinate in the joint */
  bool driven, soft; /* soft: it has a limit that is a spring */
} cb_coordinate;

/* Bodies and hinges that are treated four at a time (mechanism_blocks.h). */
typedef struct cb_body_block cb_body_block;
typedef struct cb_node_block cb_node_block;
typedef struct cb_hinge_block cb_hinge_block;
typedef struct cb_blocks {
  const struct cb_blocks_kernel *kernel;
  int bodies, nodes, hinges; /* numbers of blocks that are in use */
  cb_body_block *body;
  cb_node_block *node;
  cb_hinge_block *hinge;
} cb_blocks;

typedef struct cb_shared cb_shared;

struct cb_mechanism {
  cb_arena *arena;
  cb_shared *shared; /* inertia that bodies share (mechanism_shared.c); NULL: none */
  cb_blocks blocks;
  const struct cb_sweep_kernel *sweeps;
  cb_joint_tree *tree; /* data for steps in coordinates of joints (mechanism_tree.h); NULL: no such step was made */
  int bodies, joints, links, coordinates;
  double curvature; /* curvature of the space; 0: flat */
  double *motion;   /* [joints][7], only in a curved space: position and quaternion of the motion m of each joint; a
                     * part of the state */
  cb_joint *joint;
  cb_coordinate *coordinate; /* [coordinates]: the data of each coordinate */
  cb_mechanism_laws laws;
  int *first;        /* [joints]: the first coordinate of each joint */
  int *link_of;      /* [bodies]: the link of each body, or -1 */
  cb_link *link;     /* parents come before children */
  cb_joint_now *now; /* [joints]: each joint at the present places of the links */
  /* [coordinates]: q and q1 are at the two nodes of a step, and middle is their mean. drive and drive_rate are the
   * values and rates that laws and modes prescribe, and missing is drive - q1. impulsive and stiffness: find_forces
   * (mechanism_step.c). */
  double *q, *momentum, *q1, *rate, *middle, *drive, *drive_rate, *missing, *impulsive, *stiffness;
  bool found; /* `now` of all joints belongs to the present places of the links */
  bool taken; /* r0, d, S0 and all0 of the links, and N0 of the loops, belong to the present places of the links */
  /* The state is one array with the parts q, momentum, rate, work, mode, drive_impulse, impulse and wrench_work; in a
   * curved space also motion; and, if rows that are dropped may change, also held and dropped. */
  double *work[CB_JOINT_WORKS]; /* [coordinates]: the work of each class on each coordinate since the start */
  double *mode;                 /* [coordinates]: cb_joint_mode, as numbers */
  double *wrench_work;          /* [bodies]: the work of the wrenches on each body since the start */
  /* held: [coordinates], 1 if the coordinate is held, otherwise 0; dropped: [rows], 1 if the row depends on other rows
   * while these coordinates are held, otherwise 0 */
  double *held, *dropped;
  bool has_modes;                        /* a coordinate has limits or dry friction */
  int limits;                            /* number of limits that reflect */
  cb_joint_force *force;                 /* [coordinates]: the forces Q on the coordinates, with their derivatives */
  double at_first;                       /* the part of h Q that acts at the first node: 1/2, or 1 in a damped step */
  double *gap;                           /* [joints]: the largest gap of each joint */
  double (*impulse)[6];                  /* [joints]: the impulse of each joint in the last step */
  double *drive_first, (*drive_axis)[6]; /* [coordinates]: drive_first: rates of driven coordinates at the first node;
                                          * drive_axis: their twists S there */
  double *drive_impulse;                 /* [coordinates]: the impulses of drives in the last step */
  int loops, rows, kept;                 /* kept: rows that are not dropped */
  /* number of couplings: their rows are the last ones, and their parts are the last 2*couplings elements of `loop` */
  int couplings;
  bool sorted;  /* it is known which rows are dropped */
  int *implied; /* [joints]: number of rows that were dropped at the start, when no coordinate was held */
  cb_loop *loop;
  cb_loop_row *row;       /* [rows]: the rows of the first loop, then those of the second loop, and so on */
  double *matrix, *right; /* matrix: [kept*kept]; right: [kept], the right-hand side */
  int *pivot;
  double (*pushed)[6];             /* [links]: the sum of the impulses of all rows on each link */
  double (*need)[6], (*wrench)[6]; /* [links]: need: the impulse that a body needs for its motion; wrench: the sum of
                                    * the impulses that act on it */
};

/* Selects the quantities of a joint that a function finds. CB_JOINT_MOTION: q, S and gap; CB_JOINT_CLOSING: also
 * `close`; CB_JOINT_ROWS: also N and dual. */
typedef enum cb_joint_extent { CB_JOINT_MOTION, CB_JOINT_CLOSING, CB_JOINT_ROWS } cb_joint_extent;
/* Finds the joint's motion for the places of its two bodies (NULL: the world), near the coordinates q; updates q. S,
 * close, N and dual belong to the second body in its motion relative to the first one, about its origin. If first_moves
 * is set, they belong to the first body in its motion relative to the second one. */
void cb_joint_at(const cb_joint *j, const cb_place *a, const cb_place *b, bool first_moves, cb_joint_extent extent,
                 double *q, cb_joint_now *out);
/* --- parts of a step (mechanism_step.c) --- */
void cb_mechanism_place_of(const cb_rigid_state *s, cb_place *out);
/* Finds the vector d from the origin of a to that of b (NULL: the world). If a is NULL, d is 0. */
void cb_mechanism_vector(const cb_place *a, const cb_place *b, double d[3]);
/* Finds the motions of all joints from the places of all links, except the gaps of hinges that are in blocks. `trial`
 * is set if the places are those of a trial step. */
void cb_mechanism_find_joints(cb_mechanism *m, cb_joint_extent extent, bool trial, double *q);
/* Sets e of a link: the twist that closes its gaps and changes its driven and held coordinates by driven[coordinates].
 */
void cb_mechanism_find_closing(const cb_mechanism *m, cb_link *l, const double *driven);
/* Gives each link and each row of a loop the impulsive force and the stiffness of its coordinates. */
void cb_mechanism_assign_forces(cb_mechanism *m);
/* Fails with a message that the equations of a link are singular. */
cb_status cb_mechanism_fail_at(const cb_mechanism *m, int link, double h, double t);
void cb_mechanism_share_impulses(cb_mechanism *m);

/* Finds the places of all links, and the motions of all joints, for the present states. */
void cb_mechanism_find_places(cb_mechanism *m, const cb_mechanism_bodies *b);
/* Finds the rows of loops that depend on others at the present states, unless they are known for the coordinates that
 * are held now. The search overwrites data of links and rows that a step or a node computes; they have to be computed
 * afterwards. */
cb_status cb_mechanism_sort_rows(cb_mechanism *m, const cb_mechanism_bodies *b, double t, int *failed);
/* Finds the rates of all coordinates that fit best to the twists Y of the states. */
void cb_mechanism_find_rates(cb_mechanism *m, const cb_mechanism_bodies *b);
/* Finds the forces on coordinates (m->force) for the coordinates q and their rates. */
void cb_mechanism_forces(cb_mechanism *m, double t, const double *q, const double *rate);

/* --- sweeps (mechanism_shared.c, mechanism_sweep_kernel.h) ---
 *   D = S_k^T A S_{k+1} + stiff,  u = D^-1 (force + S_k^T (r - A e))
 *   A_a += X^T A X - (X^T A S) (D^-1 S^T A X),  r_a += X^T (r - A e) - X^T A S u                     tips inwards
 *   dq = u - D^-1 S_k^T A X eta_a,  eta = X eta_a + e + S dq                                         outwards
 * eta is the displacement (or twist) of a link, and eta_a that of its parent a. r is the load of a link with those that
 * its children add, and dq the change (or rate) of its coordinates. The time of a sweep is that of the chain of
 * operations from link to link. Products that do not depend on r or eta are therefore computed in advance.
 */
/* Eliminates all links, from the tips of the tree to its roots. Before the call A of each link is that of the link
 * alone; after it A includes the links beyond this link. Returns false if D is singular at link *at. */
bool cb_sweep_matrices(cb_mechanism *m, int *at);
/* The loops of the sweeps, once per instruction set (mechanism_sweep_kernel.h). */
struct cb_sweep_kernel {
  bool (*eliminate)(cb_mechanism *m, int *at); /* eliminates all links (see cb_sweep_matrices) */
  /* finds eta of all links from the loads r; if `alone` is set, closing twists and forces of joints count as 0 */
  void (*solve)(cb_mechanism *m, bool alone);
};
extern const struct cb_sweep_kernel cb_sweep_kernel_x86_64, cb_sweep_kernel_avx2, cb_sweep_kernel_curved;
void cb_sweep_choose(cb_mechanism *m);
/* Finds the present A of a link as an array. */
static inline void cb_link_matrix(const cb_link *l, double A[6][6]) {
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 3; k++) {
      A[i][k] = l->A[i].a[k];
      A[i][3 + k] = l->A[i].l[k];
    }
}
/* Solves for eta of all links: load, e and force are given. */
void cb_sweep_solve(cb_mechanism *m);
/* Finds eta[links] and dq[links] (NULL: not wanted) that impulses cause, without forces and without closing of gaps.
 * The impulses are W[links] (NULL: none) and the covector N of the joint l that closes a loop (l NULL: none). */
void cb_sweep_respond(cb_mechanism *m, const double (*W)[6], const cb_loop *l, const double N[6], double (*eta)[6],
                      double (*dq)[6]);
/* Finds the impulses w of all joints from need[links], the impulse that each body needs: w_b = need_b + sum of X^T w
 * over its children. total[links] becomes the sum of all impulses on each body. For a root without a joint this sum is
 * -sum of X^T w, and `need` is not used. */
void cb_sweep_impulses(cb_mechanism *m, const double (*need)[6], double (*total)[6]);
/* out = c R M, with the 6x6 matrix R = diag(r, r) */
void cb_sweep_turn(const double r[3][3], double c, const cb_row6 M[6], cb_six out[6]);
/* Replaces D[n][n] by its inverse, which is found by LU factors with pivots. Returns false if D is singular. */
bool cb_sweep_invert(int n, double D[6][6]);
static inline double cb_sweep_dot(const double a[6], const double b[6]) {
  return cb_dot3(a, b) + cb_dot3(a + 3, b + 3);
}
/* out += factor times the wrench W of a body about the origin of its parent, which is -d away */
static inline void cb_sweep_to_parent(const double d[3], double factor, const double W[6], double out[6]) {
  double moment[3];
  cb_cross3(d, W + 3, moment);
  for (int i = 0; i < 3; i++) {
    out[i] += factor * (W[i] + moment[i]);
    out[3 + i] += factor * W[3 + i];
  }
}
/* Sets out to the twist eta of the parent, seen at the origin of the body. d is the vector from the origin of the
 * parent to that of the body. */
static inline void cb_sweep_see(const double d[3], const double eta[6], double out[6]) {
  cb_cross3(eta, d, out + 3);
  for (int i = 0; i < 3; i++) {
    out[i] = eta[i];
    out[3 + i] += eta[3 + i];
  }
}

/* cb_link_to_parent adds `factor` times the wrench W of the link, about the origin of its parent, to out. cb_link_see
 * sets out to the twist eta of the parent, seen at the origin of the link. */
static inline void cb_link_to_parent(const cb_link *l, double factor, const double W[6], double out[6]) {
  double seen[6];
  if (!l->curved) {
    cb_sweep_to_parent(l->d, factor, W, out);
    return;
  }
  cb_apply6_transposed((const double(*)[6])l->curved->X, W, seen);
  cb_add6(factor, seen, out);
}
static inline void cb_link_see(const cb_link *l, const double eta[6], double out[6]) {
  if (l->curved)
    cb_apply6((const double(*)[6])l->curved->X, eta, out);
  else
    cb_sweep_see(l->d, eta, out);
}

/* --- curved spaces (mechanism_curved.c) --- */
/* Finds the frames of all links; does nothing in flat space. Returns CB_ERROR_UNSUPPORTED for a class that curved
 * spaces do not support, a loop, or a coupling; *which is then the joint. */
cb_status cb_curved_create(cb_mechanism *m, int *which);
void cb_curved_place_of(const cb_rigid_state *s, cb_place *out);
/* Reads the motions of all joints from the state, and finds X. */
void cb_curved_take_node(cb_mechanism *m);
/* Finds *out as cb_joint_at does, but from the motion `end` of the link's joint. */
void cb_curved_joint_at(const cb_mechanism *m, const cb_link *l, cb_joint_extent extent, double *q, cb_joint_now *out);
/* Converts a twist of the link from its frame at the end of the step to that at the beginning. At a node both frames
 * are the same (cb_curved_stay). */
void cb_curved_move_twist(const cb_link *l, double twist[6]);
void cb_curved_stay(cb_link *l);
/* The parts of a step of one link. cb_curved_begin begins it. cb_curved_evaluate finds the load, the motion of the
 * joint and, if `fresh` is set, A at the trial twist. cb_curved_update finds the update of the twist from eta.
 * cb_curved_need finds the impulse that the body needs. cb_curved_finish ends the step, and finds the power of the
 * wrenches. */
cb_status cb_curved_begin(const cb_rigid_problem *p, const cb_mechanism_step *step, const cb_rigid_state *s,
                          cb_link *l);
cb_status cb_curved_evaluate(cb_mechanism *m, cb_link *l, bool first, bool fresh);
void cb_curved_place_trial(const cb_mechanism *m, cb_link *l);
void cb_curved_update(cb_link *l);
cb_status cb_curved_need(cb_mechanism *m, cb_link *l, double need[6]);
cb_status cb_curved_finish(const cb_link *l, const double impulse[6], double *power, cb_rigid_state *s);
/* Stores the motions `end` of all joints, and sets the poses of all bodies that follow from them. */
void cb_curved_place_bodies(cb_mechanism *m, const cb_mechanism_bodies *b);
/* At the start, finds the motions from the coordinates, and checks that the poses of bodies agree with them (tolerance:
 * rad, or relative to the position). */
cb_status cb_curved_start(cb_mechanism *m, const cb_mechanism_bodies *b, double tolerance, int *which);
/* cb_curved_take_impulse converts an impulse W at the first node of the step from the axes of the world to the frame of
 * a link: out = R_k^T W. cb_curved_give_change converts eta, the change of the link's pose at the end of the step (or
 * of its twist), to the axes of the world at the origin of the body: out = R_{k+1} Ad_{tau(h Y)}^-1 eta. */
void cb_curved_take_impulse(const cb_link *l, const double W[6], double out[6]);
void cb_curved_give_change(const cb_link *l, double out[6]);
/* Adds the impulse W, in the frame of the body, to its momentum. */
void cb_curved_push(cb_rigid_state *s, const double W[6]);
/* Converts the impulse W of the link's joint to the impulse on the joint's second body about the joint's place, in the
 * body's axes. */
void cb_curved_wrench(const cb_mechanism *m, const cb_link *l, const double W[6], double out[6]);

/* --- limits and dry friction (mechanism_modes.c) --- */
typedef enum cb_joint_mode {
  CB_JOINT_FREE,
  CB_JOINT_AT_LOWEST,
  CB_JOINT_AT_HIGHEST,
  CB_JOINT_STICKS,
  CB_JOINT_SLIPS_UP,
  CB_JOINT_SLIPS_DOWN
} cb_joint_mode;
void cb_modes_create(cb_mechanism *m);
/* Finds the modes at the start of a run from the rates. */
void cb_modes_start(cb_mechanism *m);
bool cb_modes_hold(const cb_mechanism *m, int coordinate);
/* Returns the force of friction on a coordinate that slips; otherwise 0. */
double cb_modes_friction(const cb_mechanism *m, int joint, int i);
/* Finds the coordinates of links and of rows of loops that are free: those that are neither driven nor held. */
void cb_modes_partition(cb_mechanism *m);
/* Writes the values of held coordinates to m->drive, and rates 0 to m->drive_rate. */
void cb_modes_target(cb_mechanism *m);
/* Changes modes that contradict the solution of a step. Returns whether there were any. */
bool cb_modes_revise(cb_mechanism *m, double h);
/* --- drives: their impulses and work (mechanism_modes.c); without drives, all functions do nothing --- */
/* This function is called at the first node of a drift from t to t + h. It also finds the values and rates that the
 * drives prescribe at its end. */
void cb_drives_begin(cb_mechanism *m, double t, double h);
/* cb_drives_arrive is called at the end of a drift, when the impulses of the joints are known. cb_drives_settle is
 * called for each impulse W of a joint at a node. */
void cb_drives_arrive(cb_mechanism *m, double h);
void cb_drives_settle(cb_mechanism *m, int joint, const double W[6]);

/* --- couplings of coordinates (mechanism_loops.c); all functions do nothing if there are none --- */
/* Makes the parts of the couplings (loop[..]) and their rows. The arrays for responses of the rows must have been set.
 */
void cb_couplings_create(cb_mechanism *m);
/* cb_couplings_find finds the gaps of the couplings at the places of the links and the coordinates q. cb_couplings_take
 * finds their covectors, as cb_loops_take does. */
void cb_couplings_find(cb_mechanism *m, double *q);
void cb_couplings_take(cb_mechanism *m, bool end);
/* Adds the impulses of couplings to those of their joints. It is called after the impulses of drives were found. */
void cb_couplings_record(cb_mechanism *m);

/* --- inertia that bodies share (equations below); without it, the functions do nothing, except those for one link or
 * one body --- */
/* This function is called before a step. It drops earlier results, so that the step depends on the states alone. */
void cb_shared_begin(cb_mechanism *m);
/* cb_shared_find finds the momenta and the forces of the shared inertia for the present twists and m->middle.
 * cb_shared_push adds these forces to m->force. */
cb_status cb_shared_find(cb_mechanism *m, double h);
void cb_shared_push(cb_mechanism *m);
/* Moves m->middle by half of the changes dq of the last solution. Returns false if C depends on a coordinate that is
 * not among them. */
bool cb_shared_follow(cb_mechanism *m);
/* Adds the impulse at the first node that a link needs for its shared momentum, times factor, to out. */
void cb_shared_need(const cb_mechanism *m, int link, double factor, double out[6]);
/* These functions return the shared momentum of a body in its frame, and the force of the shared inertia on a
 * coordinate in the last step, or 0. */
const double *cb_shared_momentum(const cb_mechanism *m, int body);
double cb_shared_force(const cb_mechanism *m, int coordinate);
/* After a call of cb_shared_use (in a step) or cb_shared_at_node (at a node) the sweeps include the shared inertia.
 * cb_shared_at_node also finds C at the coordinates of the node. cb_sweep_choose selects the sweeps without shared
 * inertia again. */
void cb_shared_use(cb_mechanism *m);
cb_status cb_shared_at_node(cb_mechanism *m);
/* Adds the impulses that bodies need at a node for their shared momenta at the twists eta. */
void cb_shared_settle(cb_mechanism *m);

/* --- joints that close loops (mechanism_loops.c); all functions do nothing if there are none --- */
/* Creates the loops. used[joints]: true for a joint that connects a link with its parent; all other joints close
 * loops. */
cb_status cb_loops_create(cb_mechanism *m, const bool *used);
/* Finds the motions of the joints at the places of the links; q is updated. */
void cb_loops_find(cb_mechanism *m, double *q);
/* Finds the covectors of the rows from the motions of the joints (cb_loops_find), at the beginning or at the end of a
 * step. */
void cb_loops_take(cb_mechanism *m, bool end);
/* Finds rows that depend on others, and drops them. It is called after cb_sweep_matrices at a node, and again if other
 * coordinates are held. */
void cb_loops_sort(cb_mechanism *m);
bool cb_loops_are_sorted(const cb_mechanism *m);
/* Stores how many rows of each joint are dropped at present. */
void cb_loops_count(cb_mechanism *m);
/* Sets the targets of constraints. If `rates` is set, they are the rates of driven coordinates; otherwise they close
 * gaps. */
void cb_loops_set_targets(cb_mechanism *m, bool rates);
/* Sets lambda to 0 before a solution. */
void cb_loops_begin(cb_mechanism *m);
/* Adds the impulses of the present lambda to the loads of links. */
void cb_loops_push(cb_mechanism *m);
/* cb_loops_factor factors the matrix of the rows; it is called after cb_sweep_matrices. cb_loops_solve is called after
 * cb_sweep_solve: it finds the impulses lambda of the rows, and adds their effect to eta and dq of all links. */
cb_status cb_loops_factor(cb_mechanism *m);
void cb_loops_solve(cb_mechanism *m);
/* Adds the effect of the rows to eta and dq that cb_sweep_respond found for given impulses. lambda of the rows does not
 * change. */
void cb_loops_correct(cb_mechanism *m);
/* Finds out[links], the impulses of all rows on each link. */
void cb_loops_impulses(const cb_mechanism *m, double (*out)[6]);
/* Stores the impulses of joints that close loops. At a node `add` is set: the new impulses are added to those that are
 * stored, and to the impulses of drives. */
void cb_loops_record(cb_mechanism *m, bool add);
/* Finds the rates of the coordinates of joints that close loops, at a node. */
void cb_loops_rates(cb_mechanism *m);

/* --- inertia that joined bodies share ---
 *
 * Inertia that joined bodies share, as that of the fluid between them: a quadratic form of all twists which depends on
 * coordinates q of joints.
 *
 *   2 T = sum_i <K_i Y_i, Y_i> + <C(q) Y, Y>
 *   step   mu_i = K_i Y_i + mu0_i + (C(q) Y)_i,   Q_c += (1/2) <dC/dq_c Y, Y>,   q = (q_k + q_{k+1})/2
 *   node   K_i Y_i + (C(q_k) Y)_i = p_i - mu0_i + W_i
 * Y: twists of all bodies in their frames; mu_i: momentum; Q_c: force on a coordinate; W_i: impulses of the joints.
 * These are the equations of mechanism.h for this T. The slope of C is a force of joints, as that of a spring, and C
 * does not change when all bodies move together. The total momentum is therefore exact, and the step is symplectic.
 *
 * Newton's system is not a tree any more. It is written for the motions Z x that the joints allow, where x are the
 * displacements of the roots and the changes of all free coordinates:
 *   M x = Z_k^T (r - G e) + force,   M = Z_k^T G Z_{k+1} + stiff,   G = A + h E^T C E + the derivatives in q and Q
 *   E = (1/h) dtau^-1_{hY} R_0^T, at a node R^T:  a displacement in the world's axes changes Y by E times it
 * The other symbols are those of the sweeps above. The cost of M grows with the square of the number of bodies, and the
 * cost of its factors with the cube of the number of coordinates. SI units. Derived for this project.
 */

/* Six rows of CB_SHARED_COLUMNS columns, which are handled together. */
enum { CB_SHARED_COLUMNS = 4 };
typedef struct cb_six_columns {
  double of[6][CB_SHARED_COLUMNS];
} cb_six_columns;

/* The blocks P, Q and S of dtau^-1_{hY} or of E, both of which have the form [[P, 0], [Q, S]]. */
typedef struct cb_shared_map {
  double P[3][3], Q[3][3], S[3][3];
} cb_shared_map;

struct cb_shared {
  cb_shared_inertia of;
  const struct cb_sweep_kernel *kernel;
  int n, blocks;                                           /* n: number of bodies; blocks: number n (n+1)/2 of blocks of
                                                            * C */
  double h;                                                /* length of the step; 0: at a node */
  bool known;                                              /* C and slope were computed at the coordinates q */
  double q[CB_SHARED_COORDINATES], (*C)[36], (*slope)[36]; /* q: coordinates on which C depends; C: [blocks]; slope:
                                                            * [coordinates][blocks], dC/dq */
  double (*Y)[6], (*CY)[6], (*slope_Y)[6];                 /* Y: [n], twists; CY: [n], C Y; slope_Y: [coordinates][n],
                                                            * dC/dq_c Y */
  double *force;                                           /* [coordinates of all joints]: the forces Q_c on the
                                                            * coordinates */
  double (*slope_at)[6], force_at[CB_SHARED_COORDINATES];  /* [n]: the twists at which slope_Y was computed, and Q_c at
                                                            * these twists */
  cb_shared_map *map, *E;                                  /* [n]: dtau^-1_{hY} in the frame of the body, and E */
  cb_six_columns *z, *zeta, *Cz, *G; /* columns that are handled together: z: [links], of Z; zeta: [n], of E Z; Cz: [n],
                                      * of C E Z; G: [links], of G Z */
  int dofs, columns, *first;         /* dofs: size of x; columns: those of M and one for G e, rounded up; first:
                                      * [links], the first number of a link in x */
  double *M, *closing, *x;           /* M: [dofs][columns]; closing: [dofs], Z_k^T G e; x: [dofs] */
  bool closes;                       /* `closing` belongs to the present e */
};

extern const struct cb_sweep_kernel cb_shared_kernel_x86_64, cb_shared_kernel_avx2;
