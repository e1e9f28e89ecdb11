/* Inertia that joined bodies share, as that of the fluid between them: a quadratic form of all twists which depends on
 * coordinates q of joints.
 *
 *   2 T = sum_i <K_i Y_i, Y_i> + <C(q) Y, Y>
 *   step   mu_i = K_i Y_i + mu0_i + (C(q) Y)_i,   Q_c += (1/2) <dC/dq_c Y, Y>,   q = (q_k + q_{k+1})/2
 *   node   K_i Y_i + (C(q_k) Y)_i = p_i - mu0_i + W_i
 * Y: twists of all bodies in their frames; mu_i: momentum; Q_c: force on a coordinate; W_i: impulses of the joints.
 * These are the equations of mechanism.h for this T. The slope of C is a force of joints, as that of a spring, and C
 * does not change when all bodies move together. The momentum of the whole is therefore exact, and the step is
 * symplectic.
 *
 * Newton's system is not a tree any more. It is written for the motions Z x that the joints allow, where x are the
 * displacements of the roots and the changes of all free coordinates:
 *   M x = Z_k^T (r - G e) + force,   M = Z_k^T G Z_{k+1} + stiff,   G = A + h E^T C E + the derivatives in q and Q
 *   E = (1/h) dtau^-1_{hY} R_0^T, at a node R^T:  a displacement in the world's axes changes Y by E times it
 * Other symbols: mechanism_private.h. The cost of M grows with the square of the number of bodies, that of its factors
 * with the cube of the number of coordinates. SI units. Derived for this project.
 */
#pragma once

#include "mechanism/mechanism_private.h"

/* Six rows of the columns that are handled together. */
enum { CB_SHARED_COLUMNS = 4 };
typedef struct cb_six_columns {
  double of[6][CB_SHARED_COLUMNS];
} cb_six_columns;

/* The blocks [[P, 0], [Q, S]] of dtau^-1_{hY} or of E. */
typedef struct cb_shared_map {
  double P[3][3], Q[3][3], S[3][3];
} cb_shared_map;

struct cb_shared {
  cb_shared_inertia of;
  const struct cb_sweep_kernel *kernel;
  int n, blocks;                                           /* bodies; blocks of C: n (n + 1)/2 */
  double h;                                                /* of the step; 0: at a node */
  bool known;                                              /* C and slope belong to the coordinates q */
  double q[CB_SHARED_COORDINATES], (*C)[36], (*slope)[36]; /* [blocks], [coordinates][blocks] */
  double (*Y)[6], (*CY)[6], (*slope_Y)[6];                 /* [n], [n], [coordinates][n] */
  double *force;                                           /* [coordinates of all joints]: Q_c */
  double (*slope_at)[6], force_at[CB_SHARED_COORDINATES];  /* [n]: the twists of slope_Y; and Q_c there */
  cb_shared_map *map, *E;                                  /* [n]: dtau^-1_{hY} in the frame of the body */
  cb_six_columns *z, *zeta, *Cz, *G; /* [links], [n], [n], [links]: some columns of Z, E Z, C E Z, G Z */
  int dofs, columns, *first;         /* numbers of x; with G e, filled up; [links]: the first number */
  double *M, *closing, *x;           /* [dofs][columns]; [dofs]: Z_k^T G e, and x */
  bool closes;                       /* `closing` belongs to the present e */
};

extern const struct cb_sweep_kernel cb_shared_kernel_x86_64, cb_shared_kernel_avx2;
