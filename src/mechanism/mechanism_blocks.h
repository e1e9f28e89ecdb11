/* Joined bodies and hinges, four at a time (equations: mechanism.h, integrators/hamilton_pontryagin.c).
 *
 * A body is in a block if its inertia K is constant, if its wrench is 0 or a force f that is constant in the world's
 * axes, and if the step uses the map cayley. A hinge is in a block if no law drives it. All vectors are in the world's
 * axes about the origin of the body at the first node, so that no vector is rotated between a body and the sweeps
 * (mechanism_private.h):
 *   D^T mu = p + (h/2) (0, f) + W,  mu = K Y + mu_0,  D = dtau^-1_{hY},  g_{k+1} = tau(h Y) g_k about that origin
 *   A = (1/h) (D^T K + h d(D^T mu)/d(hY)) D     a displacement eta of the end changes Y by (1/h) D eta
 *   with hY = 2 (w, v):  D = [[T + w w^T, 0], [-hat(v) + v w^T - w.v, T]],  T = 1 - hat(w)
 *   hinge: S = (n_b, c × n_b), closed to first order by (a, c × a - d), a = n_b × n_a
 * c: the vector from the origin of the body b to the hinge; d: the gap; n_a, n_b: the axis of the hinge in both bodies.
 * Other bodies and joints go through mechanism_step.c.
 *
 * The loops are in mechanism_blocks_kernel.h, compiled once per instruction set. A block has four places on every
 * instruction set, and a list whose length is not a multiple of four ends with copies of its last element. Results
 * therefore do not depend on the instruction set. SI units.
 */
#pragma once

#include "mechanism/mechanism_private.h"

#include <stdalign.h>

enum { CB_BLOCK = 4 };
typedef double cb_four[CB_BLOCK];

/* The symmetric inertia [[a, b], [b^T, l]] in the world's axes, by rows. */
typedef struct cb_block_inertia {
  cb_four a[3][3], b[3][3], l[3][3];
} cb_block_inertia;

struct cb_body_block {
  alignas(64) cb_four r[3][3], q[4], p[6]; /* at the first node: the rotation as a matrix and as a quaternion, and the
                                            * momentum */
  cb_block_inertia K;
  cb_four mu0[6], f[3], mass; /* mass: the mean of the linear inertia */
  cb_four Y[6], mu[6];
  cb_four own_Y[6], turn;    /* own_Y: the final twist in the frame of the body; turn: the angle by which the step
                              * rotates the body */
  int count, link[CB_BLOCK]; /* count: places in use; those after them are copies of the last one */
  const cb_rigid_constant *constant[CB_BLOCK];
  bool coupled; /* K of some body is not diagonal in its frame */
};

/* The data of the bodies of a block at a node, for settling. */
struct cb_node_block {
  alignas(64) cb_block_inertia K;
  cb_four load[6];
  int count, link[CB_BLOCK];
  const cb_rigid_constant *constant[CB_BLOCK];
  bool coupled;
};

struct cb_hinge_block {
  alignas(64) cb_four q[2][4], x[2][3], axis[2][3]; /* [0]: in the frame of body a, [1]: in the frame of body b:
                                                     * orientation and place of the hinge, and its axis */
  int count, link[CB_BLOCK];
};

/* The arguments of a step: its length, the factor of f in the impulse at the first node, and the states of all bodies.
 */
typedef struct cb_block_step {
  double h, first;
  cb_rigid_state *state;
} cb_block_step;

struct cb_blocks_kernel {
  /* Reads the states at the first node, and rotates f from the frames of the bodies into the world's axes. */
  void (*begin)(cb_mechanism *m, const cb_block_step *step);
  /* Sets Y to the extrapolated twists, or to those of the last step. */
  void (*guess)(cb_mechanism *m, const cb_block_step *step, bool extrapolated);
  /* Finds the places of the links at the end of the step, and the loads of the sweeps, for the present Y. If `fresh` is
   * set, it also finds A. Returns a link with a load that is not finite, or -1. */
  int (*evaluate)(cb_mechanism *m, const cb_block_step *step, bool fresh);
  /* Adds the change (1/h) D eta to Y. *changed and *largest: squares of the largest change and twist, as in
   * mechanism_step.c. Returns a link with a twist that is not finite, or -1. */
  int (*update)(cb_mechanism *m, const cb_block_step *step, double *changed, double *largest);
  /* Finds the places of the links at the end of the step for the present Y. */
  void (*place)(cb_mechanism *m, const cb_block_step *step);
  /* Finds own_Y and `turn` (the angle |h| |omega|, which does not have the error of the map), and the impulses that the
   * bodies need for Y. */
  void (*find_needs)(cb_mechanism *m, const cb_block_step *step);
  /* Finds the states and places at the end of the step. Returns a link whose state is not finite, or -1. */
  int (*arrive)(cb_mechanism *m, const cb_block_step *step);
  /* Finds q of all hinges. In a trial step it also sets S1 and e of the links, otherwise S and the closing twists of
   * the joints. */
  void (*find_hinges)(cb_mechanism *m, cb_joint_extent extent, bool trial, double *q);
  /* At a node, take_inertias finds A and the loads of the sweeps, and settle finds the impulses that the bodies need
   * for eta. */
  void (*take_inertias)(cb_mechanism *m, const cb_rigid_state *state);
  void (*settle)(cb_mechanism *m);
  /* Adds the impulses on all bodies to the states at the node. */
  void (*push)(cb_mechanism *m, cb_rigid_state *state);
};

extern const struct cb_blocks_kernel cb_blocks_kernel_x86_64, cb_blocks_kernel_avx2;

cb_status cb_blocks_create(cb_mechanism *m);
/* cb_blocks_take_bodies fills the blocks for a step, and also sets trial.p of all links. cb_blocks_take_node fills the
 * blocks for a node. Both functions mark the links that are in blocks. */
cb_status cb_blocks_take_bodies(cb_mechanism *m, const cb_mechanism_bodies *b, const cb_mechanism_step *step,
                                int *failed);
void cb_blocks_take_node(cb_mechanism *m, const cb_mechanism_bodies *b);
