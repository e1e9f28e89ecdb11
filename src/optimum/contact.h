/* Where a given gait is at walls (wall.h), and how they press on it.
 *
 *   s_k(r(t)) = 0 on whole arcs of its basis, or at a vertex;  admissible changes  ds_k . delta r >= 0 there
 *   -grad E/2 along gaits at the target = x - A'z:  x its projection on the cone of these (cone.h), z >= 0 the forces;
 *   of what presses, z > 0, only whether it does is taken from there: x is the projection on A x = 0 of these
 *   critical cone: ds_k . delta r = 0 where z > 0;  the second variation there has - sum z s_k''
 * At a corner of a wall that points inwards (two terms f_0 = f_1 = 0, direct.h) the gait turns about it: in place of ds
 * are the normals of its two legs, (f_1'v) f_0' - (f_0'v) f_1', away from the wall.
 * Source: Bonnans & Shapiro, Perturbation Analysis of Optimization Problems (2000), sections 3.1 and 3.2.
 */
#pragma once

#include "optimum/basis.h"
#include "optimum/wall.h"

enum { CB_CONTACTS_MAX = 32, CB_CONTACT_EDGES_MAX = 32 };

typedef struct cb_gait_contact {
  int wall;
  double from, to; /* times; to > 1 where it goes on over the end of the cycle */
  double impulse;  /* of the force, d(E/2)/ds; of log E/2 where the efficiency is sought; 0: it does not press */
} cb_gait_contact;

typedef struct cb_gait_contacts {
  int count, rows, unknowns;
  cb_gait_contact item[CB_CONTACTS_MAX];
  bool all;  /* asked: rows of all contacts are equations, not only of those that press */
  bool idle; /* some neither press nor are left: both cones differ */
  struct cb_gait_contacts_work *work;
} cb_gait_contacts;

/* Times at which arcs of a gait end: 0, its breaks (where these are too many, none), the bundle's that it passes, where it
 * meets and leaves walls (NULL: none), 1. ends[CB_CONTACT_EDGES_MAX + 1]. touches: it is at a wall somewhere.
 * CB_ERROR_ARGUMENT where it passes one. */
cb_status cb_gait_contact_arcs(const cb_bundle *b, cb_walls *walls, const cb_gait *gait, int *arcs, double *ends,
                               bool *touches);

/* Of a gait that is in a basis of such arcs, in `unknowns` >= n functions. The caller frees. */
cb_status cb_gait_contacts_create(cb_walls *walls, const cb_basis *basis, const cb_gait *gait, int unknowns,
                                  cb_gait_contacts **out);
void cb_gait_contacts_free(cb_gait_contacts *c);

/* Forces from the gradient g and equations J[rows], both of `unknowns`. */
cb_status cb_gait_contacts_press(cb_gait_contacts *c, int rows, const double *J, const double *g);
/* Rows of what does not move, to J: returns how many; H - sum z s'' of the first `columns`. */
int cb_gait_contacts_rows(const cb_gait_contacts *c, double *J);
void cb_gait_contacts_bend(const cb_gait_contacts *c, int columns, double *H);

/* What s_k may differ from 0 at a wall: numbers that were typed. */
double cb_wall_slack(const cb_walls *w, int k);
/* "alpha1 <= 0.7", "lines 0 and 2 apart" */
void cb_wall_name(const cb_walls *w, int k, size_t size, char *name);
