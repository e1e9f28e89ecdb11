/* What reflections work with; shared by reflection.c (parts, groups, momenta), reflection_normals.c (normals and D) and
 * reflection_rules.c (impulses). reflection_lcp.c solves the complementarity problem of the simultaneous rule.
 *
 * A mover is what moves by itself: one particle, or all particles of a part that has constraints. In momenta normals
 * are
 *   q_a = M n_a   (p <- p + l_a q_a),   u_a = R_a p + ds_a/dt,   D_ab = R_a q_b,   R_a = G_a M^-1
 * so that what is said of rates holds of the momenta that are kept.
 */
#pragma once

#include "dynamics/reflection.h"

typedef struct cb_mover {
  int part, first, n; /* particles first .. first+n-1 of the part */
  bool joined;        /* by constraints */
  size_t at;          /* of its momenta in p */
  int root;           /* of the tree of movers that contacts join */
} cb_mover;

typedef struct cb_normal {
  int mover[CB_GAP_PARTICLES], inside[CB_GAP_PARTICLES]; /* of each particle of the gap, and its number there */
  double T[CB_GAP_MAX]; /* dp for a unit impulse without constraints: raised and tangential, or a covector */
  double R[CB_GAP_MAX]; /* u = R p + rate_t */
  double free;          /* R T: D_aa without constraints */
  int movers, moved[CB_GAP_PARTICLES]; /* each mover once */
  size_t column[CB_GAP_PARTICLES];     /* of q of each of these */
  double before, after, impulse;
  int next;                            /* contact of the same group, -1: none */
} cb_normal;

/* Contacts that hang together through what they move, by number in the group. */
typedef struct cb_contact_group {
  int n;
  int *contact;
  double *D, *u, *e, *l; /* l: impulses that momenta are to be given */
  double *tolerance;     /* of u: round-off */
  bool *fixed;           /* D_aa = 0; as many more are the rule's */
} cb_contact_group;

typedef struct cb_room {
  void *at;
  size_t bytes;
} cb_room;

struct cb_reflection {
  const cb_system *system;
  const cb_geometry *space;
  int k;
  cb_room room_of_mover_at, room_of_mover, room_of_normal, room_of_first, room_of_p, room_of_q, room_of_gradient,
      room_of_group, room_of_rule;
  int *mover_at; /* [particles] the mover of a place, -1; between calls all -1 */
  int movers;
  cb_mover *mover;
  cb_normal *normal;
  int *first; /* [movers] contact of the group with this root, -1 */
  double *p, *p_low, *q;
};

/* Memory for count elements, kept for later calls; NULL if there is none. */
void *cb_reflection_room(cb_room *room, size_t count, size_t size);

/* T, R and q of all contacts. */
cb_status cb_reflection_normals(cb_reflection *r, double t, const cb_reflection_part *part, int contacts,
                                const cb_reflection_contact *contact);
/* u_a at the momenta r->p, and the sum of the sizes of its terms. */
double cb_reflection_rate(const cb_reflection *r, const cb_reflection_contact *contact, int a, double *size);
double cb_reflection_matrix(const cb_reflection *r, const cb_reflection_contact *contact, int a, int b);

/* Gives momenta the impulses l of the group (then 0), and takes u from the momenta that follow. */
cb_status cb_reflection_push(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g);

/* Until no contact of the group closes. */
cb_status cb_reflection_sequential(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g);
cb_status cb_reflection_simultaneous(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g);

/* l >= 0 with z = D l + q >= 0, l^T z = 0 for D (n*n) symmetric, not negative. P: the places with l > 0. */
typedef struct cb_lcp {
  int n, count; /* count: of P */
  const double *D;
  double *L; /* Cholesky factor of D_PP, row after row with n numbers each */
  double *l, *z, *step, *rate;
  double least; /* pivot of D_PP, relative to its diagonal */
  int *P, *place; /* place: in P, negative: not there */
} cb_lcp;

/* z >= -tolerance[n], or than round-off by the least pivot, counts. room: n*(n + 5) numbers, list: 2n. CB_STEP_SINGULAR
 * where there is no solution, CB_STEP_NO_CONVERGENCE where it is lost in round-off; without a text. */
cb_status cb_lcp_solve(int n, const double *D, const double *q, const double *tolerance, double *room, int *list,
                       cb_lcp *s);
/* y[count] <- D_PP^-1 y */
void cb_lcp_active(const cb_lcp *s, double *y);
