/* The added mass of closed bodies in a perfect fluid of density 1 that fills space and is at rest far away.
 *
 *   K_ab = -int phi_a m_b dA,  (I/2 - D) phi_a = -S m_a on the panels' centres,  m(x) = (x × n, n)
 *   mu0_a = -int phi_v m_a dA,  2 kinetic = -int phi_v w dA,  phi_v of the normal velocity w = <v, n> of the shape
 * n points out of the body, phi -> 0 far away. The direct form of Green's identity: Kirchhoff (1869), J. reine angew.
 * Math. 71, 237, doi 10.1515/crll.1870.71.237; Lamb, Hydrodynamics (1932), articles 117 to 121; the method: Hess &
 * Smith (1967), doi 10.1016/0376-0421(67)90003-6. Constant panels: errors of order h^2 on smooth bodies, of lower order
 * where there are edges. SI units for density 1 kg/m³; (angular, linear), in the axes and about the origin of the
 * vertices. The surface is closed but for sheets, oriented outwards and does not cut itself (cb_surface_check); it may
 * have several pieces.
 */
#pragma once

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>

/* How the linear equations are solved. */
typedef enum cb_potential_method {
  CB_POTENTIAL_BEST,      /* what suits the size, and factors where the iteration is slow and memory allows */
  CB_POTENTIAL_DENSE,     /* LU of the whole matrix */
  CB_POTENTIAL_ITERATIVE, /* GMRES, the far field by a tree where that pays */
  CB_POTENTIAL_HLU        /* GMRES preconditioned by LU of a hierarchical matrix */
} cb_potential_method;

/* "best", "dense", "iterative", "hlu"; static memory. */
const char *cb_potential_method_name(cb_potential_method method);

/* A plane <x, normal> = height with all of the body on the side that normal (of any length) points to. */
typedef enum cb_mirror_kind {
  CB_MIRROR_NONE,
  CB_MIRROR_RIGID, /* no flow through it */
  CB_MIRROR_FREE   /* phi = 0: a free surface at rest, at high frequencies; at low ones it is rigid */
} cb_mirror_kind;

typedef struct cb_mirror {
  cb_mirror_kind kind;
  double normal[3], height;
} cb_mirror;

typedef struct cb_kirchhoff_options {
  cb_potential_method method;
  double far_error; /* of the far field, relative to the greatest potential; 0: 1e-6 */
  double tolerance; /* of the residual, relative to the right-hand side; 0: far_error/10 */
  int iterations;   /* at most; 0: 200 */
  size_t memory;    /* bytes that may be taken; 0: 4e9 */
  cb_mirror wall;   /* K is then that of the place where the body is (potential/images.h) */
  bool sheets;      /* pieces with a border are sheets of no thickness (potential/sheet.h); else they are refused */
  double curvature; /* of the space that the fluid fills, 1/m^2: vertices are then normal coordinates
                       (numerics/curved.h), as are their velocities */
} cb_kirchhoff_options;

/* What was done, and what can be told of the error without another mesh. */
typedef struct cb_kirchhoff_report {
  cb_potential_method method; /* the one taken */
  int iterations;             /* of the last solution; 0: none */
  double residual;            /* of the last solution, relative to the right-hand side, the greatest of its columns */
  double row_sum;             /* greatest |sum_j D_ij + 1/2|; that of the far field where there is one */
  double
      asymmetry; /* greatest |K_ab - K_ba|/sqrt(K_aa K_bb) of the raw tensor, K_ab of the size of round-off left out */
  double thickness; /* mean over closed pieces of thickness/size of a panel, 1 where it is more (potential/thin.h) */
  size_t bytes;     /* that the operator takes */
} cb_kirchhoff_report;

/* K is symmetric, mu0 and kinetic are 0 for a shape at rest. */
typedef struct cb_kirchhoff_mass {
  double K[6][6], mu0[6], kinetic;
  /* By how much K changes where the same potentials are taken linear on each panel, from their means at its corners (0
   * at borders of sheets), relative as the asymmetry: both err by h^2 on smooth bodies (potential/error.h). */
  double coarseness;
} cb_kirchhoff_mass;

typedef struct cb_kirchhoff cb_kirchhoff;
struct cb_panels;

/* The operator of faces on vertices x, which are copied; options: NULL for all defaults. CB_ERROR_DOMAIN for a surface
 * that is not closed (the row sums tell) or a face of no area, CB_ERROR_STEP for a body too thin for its panels
 * (potential/thin.h), with a face, CB_ERROR_ARGUMENT for a method that does not fit into the memory, with both sizes.
 * The caller frees. */
cb_status cb_kirchhoff_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                              const cb_kirchhoff_options *options, cb_kirchhoff **out);
void cb_kirchhoff_free(cb_kirchhoff *k);

/* New places of the vertices, whatever the old ones were: what follows depends on x and `start` alone, the potentials
 * [6][panels] of unit twists in a pose like it (NULL: 0). */
cb_status cb_kirchhoff_renew(cb_kirchhoff *k, const double (*x)[3], const double *start);

/* The potentials phi[columns][faces] at the panels' centres, of the fluid's normal velocities [columns][faces] there.
 * CB_ERROR_STEP where the iteration does not converge. */
cb_status cb_kirchhoff_solve(cb_kirchhoff *k, int columns, const double *normal_velocity, double *phi);

/* v: velocities of the vertices (NULL: at rest). CB_ERROR_DOMAIN where the tensor is far from symmetric, by 0.1 of it,
 * or from positive. */
cb_status cb_kirchhoff_added_mass(cb_kirchhoff *k, const double (*v)[3], cb_kirchhoff_mass *out);

/* The form of a body that deforms, G[6 + n][6 + n] of (Y, r'): twice the kinetic energy is <G (Y, r'), (Y, r')>, where
 * the vertices move with sum v_i r'_i, v[n][vertices]. */
cb_status cb_kirchhoff_form(cb_kirchhoff *k, int n, const double (*v)[3], double *G);

/* Of what was done last. */
cb_kirchhoff_report cb_kirchhoff_report_of(const cb_kirchhoff *k);
/* The panels as they lie; the potentials [6][faces] of unit twists that cb_kirchhoff_added_mass left, NULL before
 * it. */
const struct cb_panels *cb_kirchhoff_panels(const cb_kirchhoff *k);
const int *cb_kirchhoff_faces(const cb_kirchhoff *k); /* [panels]: which face each is */
/* How many of them, the first, are of solids; those of sheets have the jump of the potential along their normals. */
int cb_kirchhoff_solids(const cb_kirchhoff *k);
const double *cb_kirchhoff_potentials(const cb_kirchhoff *k);
/* [faces]: does the fluid reach it? Not so those of cavities. */
const bool *cb_kirchhoff_reached(const cb_kirchhoff *k);
