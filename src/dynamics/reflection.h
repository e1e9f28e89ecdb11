/* Reflection of velocities at gaps that have closed, in the kinetic metric and in the tangent space of the constraints.
 *
 *   n_a = P M^-1 G_a^T,  P v = v - M^-1 C^T (C M^-1 C^T)^-1 C v,   D_ab = G_a n_b,   u_a = G_a v + ds_a/dt
 *   one contact       v <- v - (1 + e) u_a n_a / D_aa
 *   sequential        one contact at a time, the fastest closing one first, until none closes
 *   simultaneous      v <- v + sum n_a l_a,  l >= 0,  w = u + D l >= -e u,  l^T (w + e u) = 0, for all contacts that
 *                     close or touch (|u| at most 1e-10 of the fastest closing speed); repeated while a contact closes
 * v is the velocity, n_a the normal of gap s_a, G_a = ds_a/dx its gradient, e its restitution, t the time, l are
 * impulses, and w are the rates u afterwards. P projects to the velocities that the constraints allow. M is the kinetic
 * metric (m I in the embedding without normal parts, m g_ij in a chart, where m is the mass, I = diag(form) and g_ij
 * the metric). C are the gradients of the constraints. Momenta of isometries are conserved if the gap does not depend
 * on the world. Energy is conserved if e is 1 and the walls do not move. Source: Moreau, in Nonsmooth Mechanics and
 * Applications (1988), doi:10.1007/978-3-7091-2624-0_1.
 */
#pragma once

#include "dynamics/gap.h"
#include "dynamics/gram.h"

/* A part of the system that moves independently. Its n particles have the places first .. first+n-1 in the complete
 * system. */
typedef struct cb_reflection_part {
  int first, n;
  const double *mass; /* [n]: masses of the particles */
  double *x;          /* [n*k]; only cb_reflection_lift changes it */
  /* [n*k]: the momenta are p + p_low, where p_low is below the round-off of p. Both are changed in place. */
  double *p, *p_low;
  cb_gram *gram; /* Gram matrix of the part's constraints, with particle indices from 0; NULL: no constraints */
  cb_constraints *constraints;
} cb_reflection_part;

typedef struct cb_reflection_contact {
  cb_gap gap;
  cb_gap_value value; /* the gap and its derivatives (order 1) at the time of the reflection */
  double restitution;
  double before, after, impulse; /* out: ds/dt before and after, and the sum of the impulses along ds/dx */
  /* true: a resting gap has been below 0. From then on the gap is moved to 0 even if it is above 0. */
  bool sunk;
} cb_reflection_contact;

typedef struct cb_reflection cb_reflection;
/* Creates the work space for a system, which is borrowed. The work space grows with the number of simultaneous
 * contacts. Returns CB_ERROR_MEMORY if memory runs out. */
cb_status cb_reflection_create(const cb_system *system, cb_reflection **out);
void cb_reflection_free(cb_reflection *r);

/* Reflects at time t. A contact that opens gets no impulse, unless the impulses of other contacts make it close.
 * Returns CB_STEP_NO_CONVERGENCE after the maximum number of impulses (10^6 with the sequential rule, 10^5 with the
 * simultaneous one). Returns CB_STEP_SINGULAR if the constraints do not let a closing gap move (D_aa = 0), or if no
 * velocities open all contacts. Returns CB_STEP_NOT_FINITE if a rate is not finite, and CB_ERROR_ARGUMENT for a
 * particle that is in no part. On failure the momenta and contacts are unchanged. Parts that no contact moves are
 * ignored. */
cb_status cb_reflect(cb_reflection *r, cb_contact_rule rule, double t, int parts, const cb_reflection_part *part,
                     int contacts, cb_reflection_contact *contact);

/* Changes the positions x of the parts along the normal of a contact, so that its gap becomes 0 to first order. The gap
 * must be near 0. In the embedding each particle is then projected to its quadric, and its momentum is transported in
 * parallel. The function corrects a resting gap that sank during a step, or that opened when other gaps were lifted.
 * Returns CB_STEP_SINGULAR if D_aa = 0. */
cb_status cb_reflection_lift(cb_reflection *r, double t, int parts, const cb_reflection_part *part,
                             const cb_reflection_contact *contact);

/* The rest of this file is private to reflection.c (parts, groups, momenta, normals and D) and reflection_rules.c
 * (impulses and the complementarity problem).
 *
 * A mover is the smallest unit that moves independently: one particle, or all particles of a part with constraints.
 * Momenta are stored, not velocities, so the normals are
 *   q_a = M n_a   (p <- p + l_a q_a),   u_a = R_a p + ds_a/dt,   D_ab = R_a q_b,   R_a = G_a M^-1
 */

typedef struct cb_mover {
  int part, first, n; /* particles first .. first+n-1 of the part */
  bool joined;        /* the particles are those of a part with constraints */
  size_t at;          /* index in cb_reflection.p at which its momenta begin */
  int root;           /* root of its tree in the forest of movers that contacts join */
} cb_mover;

typedef struct cb_normal {
  /* for each particle of the gap: its mover, and the particle's number within the mover */
  int mover[CB_GAP_PARTICLES], inside[CB_GAP_PARTICLES];
  /* the change of momentum by a unit impulse if there were no constraints: a tangent vector, in a chart a covector */
  double T[CB_GAP_MAX];
  double R[CB_GAP_MAX];                /* the row R that gives ds/dt as u = R p + rate_t */
  double free;                         /* the product R T, which is D_aa without constraints */
  int movers, moved[CB_GAP_PARTICLES]; /* moved[movers]: the different movers of the gap */
  size_t column[CB_GAP_PARTICLES];     /* for each of these movers, the index in cb_reflection.q at which q_a begins */
  double before, after, impulse;
  int next; /* the next contact of the same group; -1: none */
} cb_normal;

/* Contacts that are coupled through common movers. contact[n] are the numbers of these contacts. D, u, e and l are
 * those of the file header. */
typedef struct cb_contact_group {
  int n;
  int *contact;
  double *D, *u, *e, *l; /* l[n]: impulses that are still to be applied to the momenta */
  double *tolerance;     /* [n]: the round-off of each rate u */
  bool *fixed;           /* [n]: D_aa counts as 0, because the constraints do not let the gap change */
} cb_contact_group;

typedef struct cb_reserved {
  void *at;
  size_t bytes;
} cb_reserved;

struct cb_reflection {
  const cb_system *system;
  const cb_space *space;
  int k;
  cb_reserved reserved_mover_at, reserved_mover, reserved_normal, reserved_first, reserved_p, reserved_q,
      reserved_gradient, reserved_group, reserved_rule;
  int *mover_at; /* [particles] the mover of each particle; -1: none. All are -1 between calls */
  int movers;
  cb_mover *mover;
  cb_normal *normal;
  int *first; /* [movers] the first contact of the group with this root; -1: none */
  double *p, *p_low, *q;
};

/* Returns memory for `count` elements of `size` bytes, which is kept for later calls, or NULL if memory runs out. */
void *cb_reflection_reserve(cb_reserved *buffer, size_t count, size_t size);

/* Applies the impulses l of the group to the momenta, sets l to 0, and computes u from the new momenta. */
cb_status cb_reflection_push(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g);

/* The two rules: each applies impulses until no contact of the group closes. */
cb_status cb_reflection_sequential(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g);
cb_status cb_reflection_simultaneous(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g);

/* The complementarity problem l >= 0, z = D l + q >= 0, l^T z = 0, where D (n*n) is symmetric and positive
 * semidefinite. P is the set of indices with l > 0, and D_PP the part of D with these rows and columns. */
typedef struct cb_lcp {
  int n, count; /* P has count elements */
  const double *D;
  double *L; /* Cholesky factor of D_PP, row after row with n numbers each */
  double *l, *z, *step, *rate;
  double least;   /* the smallest pivot of D_PP, relative to its diagonal */
  int *P, *place; /* place: the position in P; negative: not in P */
} cb_lcp;

/* Solves the complementarity problem above; s holds the solution. A solution is accepted if z >= -tolerance[n]. If the
 * round-off that follows from the smallest pivot is larger, it is used in place of the tolerance. buffer has n*(n + 5)
 * numbers, list has 2n. Returns CB_STEP_SINGULAR if there is no solution, and CB_STEP_NO_CONVERGENCE if the solution is
 * lost in round-off, both without a message. */
cb_status cb_lcp_solve(int n, const double *D, const double *q, const double *tolerance, double *buffer, int *list,
                       cb_lcp *s);
