/* Potentials of panels with constant sources and dipoles, at the panels themselves or at any points, in n log n
 * operations for n panels. Near panels are evaluated exactly, far ones by multipoles of the cells of a tree.
 *
 *   phi_k(x) = sum_j S_j(x) sigma_k[j] + D_j(x) mu_k[j]
 *   S_j = int_j dA/(4 pi r),  D_j = n_j . int_j (x - y) dA/(4 pi r^3),  y on panel j,  r = |x - y|
 *
 * sigma are the densities of sources, mu those of dipoles, n_j is the normal of panel j (potential/panels.h). `error`,
 * between CB_FAR_ERROR_MIN and CB_FAR_ERROR_MAX, bounds the error of the far part relative to the maximum of |phi|;
 * this bound is measured (tests/potential/test_far.c). If sources cancel across a body whose thickness is t times its
 * size, t < 1e-3, the error is 5e-4/t times larger. Columns k are stored one after another: sigma[k n + j]. The results
 * are identical for any number of threads.
 */
#pragma once

#include "potential/panels.h"

#include <stddef.h>

#define CB_FAR_ERROR_MIN 1e-11
#define CB_FAR_ERROR_MAX 1e-2

typedef struct cb_far cb_far;

/* Creates the far field of the panels p, which may then be freed. CB_ERROR_ARGUMENT for an error outside the range
 * above or no panels. */
cb_status cb_far_create(const cb_panels *p, double error, cb_far **out);
/* Does the same as cb_far_create, but at the panels from number `solids` on cb_far_apply computes the slopes n.grad
 * phi_k. */
cb_status cb_far_create_sheets(const cb_panels *p, int solids, double error, cb_far **out);
void cb_far_free(cb_far *f);
/* Returns the memory that the far field would need, in bytes. Returns 0 and sets the error text if it would fail.
 * Without sheets `solids` is p->n.
 */
size_t cb_far_bytes(const cb_panels *p, int solids, double error);

/* out[k n + i] += phi_k at the centre of panel i, or its slope there. sigma or mu may be NULL. Allocates no memory.
 * Only one call at a time is allowed. */
cb_status cb_far_apply(cb_far *f, int columns, const double *sigma, const double *mu, double *out);

/* Densities whose moments are kept, so that their field can be evaluated at any points. */
typedef struct cb_far_field cb_far_field;

typedef enum cb_far_kind {
  CB_FAR_POTENTIAL, /* out[k points + i] = phi_k(x[i]) for up to 8 columns */
  CB_FAR_VELOCITY   /* out[3 i..] = rot (phi_0, phi_1, phi_2) + grad phi_3, from four columns */
} cb_far_kind;

/* f must outlive the field; the densities are copied. sigma or mu may be NULL. The caller frees the result. */
cb_status cb_far_field_create(cb_far *f, cb_far_kind kind, int columns, const double *sigma, const double *mu,
                              cb_far_field **out);
void cb_far_field_free(cb_far_field *a);
/* Evaluates the field at points x. Only one call at a time is allowed. CB_ERROR_MEMORY. */
cb_status cb_far_field_at(cb_far_field *a, int points, const double (*x)[3], double *out);

/* The panel nearest to x among those whose distance is at most `share` times the root of their area, and the weights of
 * its corners at its point nearest to x. Returns -1 if there is none. */
int cb_far_panel(const cb_far *f, double share, const double x[3], double weight[3]);

/* Groups of neighbouring panels, for a preconditioner. Group g has the panels numbers[0..n), at the positions
 * first..first + n in the order of the tree. */
int cb_far_groups(const cb_far *f);
void cb_far_group(const cb_far *f, int g, int *first, int *n, const int **numbers);
/* Lists up to `maximum` panels: first the panels of the group in its order, then the nearest panels of its near cells.
 * Returns their number, at most 8 CB_TREE_LEAF. */
int cb_far_near(const cb_far *f, int g, int maximum, int *numbers);
