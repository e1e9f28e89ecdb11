/* Potentials of panels with constant sources and dipoles, at the panels themselves or at any points, in n log n
 * operations for n panels. Near panels are evaluated exactly, far panels by multipoles of the cells of a tree.
 *
 *   phi_k(x) = sum_j S_j(x) sigma_k[j] + D_j(x) mu_k[j]
 *   S_j = int_j dA/(4 pi r),  D_j = n_j . int_j (x - y) dA/(4 pi r^3),  y on panel j,  r = |x - y|
 * phi_k is the potential of column k, sigma_k are the densities of sources, mu_k those of dipoles, dA is an element of
 * area, and n_j is the normal of panel j (potential/panels.h). `error`, between CB_FAR_ERROR_MIN and CB_FAR_ERROR_MAX,
 * bounds the error of the far part relative to the maximum of |phi_k|; this bound is measured
 * (tests/potential/test_far.c). Where sources of the two sides of a thin body cancel, the error may be larger: by the
 * factor 5e-4/t for a disc whose thickness is t < 5e-4 times its radius. Columns k are stored one after another:
 * sigma[k n + j]. The results are identical for any number of threads.
 */
#pragma once

#include "potential/panels.h"

#include <stddef.h>

#define CB_FAR_ERROR_MIN 1e-11
#define CB_FAR_ERROR_MAX 1e-2

typedef struct cb_far cb_far;

/* Creates the far field of the panels p, which may then be freed. Returns CB_ERROR_ARGUMENT for an error outside the
 * range above or for no panels. The caller frees the result. */
cb_status cb_far_create(const cb_panels *p, double error, cb_far **out);
/* Does the same as cb_far_create, except that cb_far_apply computes the derivatives n.grad phi_k at the panels from
 * index `solids` on. */
cb_status cb_far_create_sheets(const cb_panels *p, int solids, double error, cb_far **out);
void cb_far_free(cb_far *f);
/* Returns the memory that the far field would need, in bytes. Returns 0 and sets the error text if the far field cannot
 * be created. Without sheets `solids` is p->n.
 */
size_t cb_far_bytes(const cb_panels *p, int solids, double error);

/* Adds phi_k at the centre of panel i (or n.grad phi_k there, see cb_far_create_sheets) to out[k n + i]. sigma or mu
 * may be NULL. The function allocates no memory. Only one call at a time is allowed. */
cb_status cb_far_apply(cb_far *f, int columns, const double *sigma, const double *mu, double *out);

/* Densities whose moments are kept, so that their field can be evaluated at any points. */
typedef struct cb_far_field cb_far_field;

typedef enum cb_far_kind {
  CB_FAR_POTENTIAL, /* out[k points + i] = phi_k(x[i]) for up to 8 columns */
  CB_FAR_VELOCITY   /* out[3 i + 0..2] = rot (phi_0, phi_1, phi_2) + grad phi_3, from four columns */
} cb_far_kind;

/* Creates the field of the densities sigma and mu, which are copied. f must outlive the field. sigma or mu may be NULL.
 * Returns CB_ERROR_ARGUMENT for a wrong number of columns. The caller frees the result. */
cb_status cb_far_field_create(cb_far *f, cb_far_kind kind, int columns, const double *sigma, const double *mu,
                              cb_far_field **out);
void cb_far_field_free(cb_far_field *a);
/* Evaluates the field at points x; cb_far_kind describes `out`. Only one call at a time is allowed. Returns
 * CB_ERROR_MEMORY if there is no memory. */
cb_status cb_far_field_at(cb_far_field *a, int points, const double (*x)[3], double *out);

/* Returns the panel nearest to x whose distance from x is at most `share` times the square root of its area, or -1 if
 * there is none. Sets `weight` to the barycentric coordinates of the point of this panel that is nearest to x. */
int cb_far_panel(const cb_far *f, double share, const double x[3], double weight[3]);

/* Groups of neighbouring panels, for a preconditioner. Group g has the n panels numbers[0..n), at the positions from
 * `first` on in the order of the tree. */
int cb_far_groups(const cb_far *f);
void cb_far_group(const cb_far *f, int g, int *first, int *n, const int **numbers);
/* Lists up to `maximum` panels in `numbers`: first the panels of group g in the group's order, then the nearest panels
 * of the near leaves of the group. Returns their number, at most 8 CB_TREE_LEAF. */
int cb_far_near(const cb_far *f, int g, int maximum, int *numbers);
