/* Potentials of constant source and dipole panels upon all panels, or at points, in n log n: near panels exactly, far
 * ones by multipoles of cells of a tree.
 *
 *   phi_k(x) = sum_j S_j(x) sigma_k[j] + D_j(x) mu_k[j],  S_j = int_j dA/(4 pi r),  D_j = n_j . int_j (x - y) dA/(4 pi r^3)
 *
 * S and D of a panel: potential/panels.h. `error` bounds the error of the far part, relative to the greatest |phi|: a
 * measured bound (tests/potential/test_far.c), between CB_FAR_ERROR_MIN and CB_FAR_ERROR_MAX. Sources that cancel across a body
 * of thickness t times its size, t < 1e-3, have one of 5e-4/t of it.
 * Columns k lie one after another: sigma[k n + j]. Results are the same bytes for any number of threads.
 */
#pragma once

#include "potential/panels.h"
#include <stddef.h>

#define CB_FAR_ERROR_MIN 1e-11
#define CB_FAR_ERROR_MAX 1e-2

typedef struct cb_far cb_far;

/* What it needs of p is copied: p may be freed. */
cb_status cb_far_create(const cb_panels *p, double error, cb_far **out);
/* As cb_far_create, but that cb_far_apply has the slopes n.grad phi_k at the panels from number `solids` on. */
cb_status cb_far_create_sheets(const cb_panels *p, int solids, double error, cb_far **out);
void cb_far_free(cb_far *f);
/* What it would take, in bytes; 0, with the failure noted, where it would fail. Without sheets solids is p->n. */
size_t cb_far_bytes(const cb_panels *p, int solids, double error);

/* out[k n + i] += phi_k at the centre of panel i, or its slope there; sigma or mu may be NULL. Allocates nothing; one
 * call at a time. */
cb_status cb_far_apply(cb_far *f, int columns, const double *sigma, const double *mu, double *out);

/* Densities whose moments are kept, for fields at any points. */
typedef struct cb_far_field cb_far_field;

typedef enum cb_far_kind {
  CB_FAR_POTENTIAL, /* out[k points + i] = phi_k(x[i]), of up to 8 columns */
  CB_FAR_VELOCITY   /* out[3 i..] = rot (phi_0, phi_1, phi_2) + grad phi_3, of four columns */
} cb_far_kind;

/* f outlives it, the densities are copied; sigma or mu may be NULL. The caller frees. */
cb_status cb_far_field_create(cb_far *f, cb_far_kind kind, int columns, const double *sigma, const double *mu,
                              cb_far_field **out);
void cb_far_field_free(cb_far_field *a);
/* One call at a time. */
cb_status cb_far_field_at(cb_far_field *a, int points, const double (*x)[3], double *out);

/* The panel nearest to x of those whose distance from it is at most `share` of the root of their area, and the weights
 * of its corners in its point nearest to x; -1: none. */
int cb_far_panel(const cb_far *f, double share, const double x[3], double weight[3]);

/* Groups of neighbouring panels, for a preconditioner: group g has panels numbers[0..n), places first..first + n of
 * the tree's order. */
int cb_far_groups(const cb_far *f);
void cb_far_group(const cb_far *f, int g, int *first, int *n, const int **numbers);
/* Numbers of up to `most` panels: those of the group in its order, then the nearest others; returns how many. */
int cb_far_near(const cb_far *f, int g, int most, int *numbers);
