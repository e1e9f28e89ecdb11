/* The added mass of closed bodies in a perfect fluid of density 1 that fills space and is at rest far away.
 *
 *   K_ab = -int phi_a m_b dA,  (I/2 - D) phi_a = -S m_a on the panels' centres,  m(x) = (x × n, n)
 *   mu0_a = -int phi_v m_a dA,  2 kinetic = -int phi_v w dA,  phi_v for the normal velocity w = <v, n> of the shape
 * K is the added mass, mu0 the momentum and `kinetic` the energy of the flow that the velocity v of the shape causes. S
 * and D are those of potential/panels.h, a and b number the six unit twists, x is a point of the surface, dA an element
 * of its area, and phi_a the potential for unit twist a. The normal n points out of the body, and phi -> 0 far away.
 * This is the direct form of Green's identity: Kirchhoff (1869), J. reine angew. Math. 71, 237, doi
 * 10.1515/crll.1870.71.237; Lamb, Hydrodynamics (1932), articles 117 to 121. The panel method is that of Hess & Smith
 * (1967), doi 10.1016/0376-0421(67)90003-6. Panels are constant, so errors are of order h^2 in the size h of the faces
 * on smooth bodies and of lower order where there are edges. Units are SI for density 1 kg/m³. Twists and tensors have
 * the order (angular, linear), in the axes and about the origin of the vertices. The surface is closed (except sheets),
 * oriented outwards, and does not intersect itself (cb_surface_check); it may have several pieces.
 */
#pragma once

#include <curvebody/status.h>

#include <stdbool.h>
#include <stddef.h>

/* How the linear equations are solved. */
typedef enum cb_potential_method {
  CB_POTENTIAL_BEST,      /* chosen by size; with factors if the iteration is slow and they fit into the memory */
  CB_POTENTIAL_DENSE,     /* LU of the complete matrix */
  CB_POTENTIAL_ITERATIVE, /* GMRES; the far field by a tree if that is faster or takes less memory */
  CB_POTENTIAL_HLU        /* GMRES preconditioned by LU of a hierarchical matrix */
} cb_potential_method;

/* "best", "dense", "iterative" or "hlu", in static memory. */
const char *cb_potential_method_name(cb_potential_method method);

/* A plane <x, normal> = height. All of the body must be on the side to which the normal (of any length) points. */
typedef enum cb_mirror_kind {
  CB_MIRROR_NONE,
  CB_MIRROR_RIGID, /* no flow through it */
  CB_MIRROR_FREE   /* phi = 0: a free surface at rest at high frequencies; at low frequencies use RIGID */
} cb_mirror_kind;

typedef struct cb_mirror {
  cb_mirror_kind kind;
  double normal[3], height;
} cb_mirror;

typedef struct cb_kirchhoff_options {
  cb_potential_method method;
  double far_error; /* error of the far field, relative to the largest potential; 0: 1e-6 */
  double tolerance; /* bound of the residual, relative to the right-hand side; 0: far_error/10 */
  int iterations;   /* the maximum number of iterations; 0: 200 */
  size_t memory;    /* the maximum memory in bytes; 0: 4e9 */
  cb_mirror wall;   /* K is then for the body at its present position (potential/operator.h) */
  /* pieces with a border are sheets of no thickness (potential/operator.h); otherwise they are an error */
  bool sheets;
  /* curvature of the space that the fluid fills, 1/m^2; if it is not 0, vertices and their velocities are in normal
   * coordinates (numerics/numerics_curved.h) */
  double curvature;
} cb_kirchhoff_options;

/* The method that was used, and data about the error from this mesh. */
typedef struct cb_kirchhoff_report {
  cb_potential_method method; /* the method that was used */
  int iterations;             /* number of iterations of the last solution; 0: none */
  double residual; /* the largest residual of a column in the last solution, relative to its right-hand side */
  double row_sum;  /* the largest |sum_j D_ij + 1/2|; computed by the far field if there is one */
  /* the largest |K_ab - K_ba|/(U_a U_b) of the raw tensor. U^2 is the largest diagonal entry of its linear part, for an
   * angular motion times the mean square distance of the surface from its centre */
  double asymmetry;
  double thickness; /* mean over closed pieces of thickness/size of a panel, at most 1 (potential/thin.h) */
  size_t bytes;     /* memory of the operator */
} cb_kirchhoff_report;

/* K is symmetric; mu0 and kinetic are 0 for a shape at rest. */
typedef struct cb_kirchhoff_mass {
  double K[6][6], mu0[6], kinetic;
  /* The change of K if the same potentials are taken as linear on each panel, with the mean values at its corners (0 at
   * borders of sheets). It is relative like the asymmetry. Both tensors have errors of order h^2 on smooth bodies
   * (potential/refine.h). */
  double coarseness;
} cb_kirchhoff_mass;

typedef struct cb_kirchhoff cb_kirchhoff;
struct cb_panels;

/* Creates the operator of faces on vertices x, which are copied. options NULL: the defaults. CB_ERROR_DOMAIN for a face
 * without area or a surface that points inwards; CB_ERROR_STEP for a body too thin for its panels (potential/thin.h);
 * the message names a face; CB_ERROR_ARGUMENT for a method that does not fit into the memory; the message gives both
 * sizes. CB_ERROR_UNSUPPORTED for sheets or walls where they are not supported. The first solution checks that the
 * surface is closed. The caller frees the result. */
cb_status cb_kirchhoff_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                              const cb_kirchhoff_options *options, cb_kirchhoff **out);
void cb_kirchhoff_free(cb_kirchhoff *k);

/* Moves the vertices to x. All later results depend only on x and on `start`, which holds the potentials [6][panels] of
 * unit twists in a similar pose (NULL: 0), and not on earlier places. CB_ERROR_DOMAIN and CB_ERROR_STEP as in
 * cb_kirchhoff_create. */
cb_status cb_kirchhoff_renew(cb_kirchhoff *k, const double (*x)[3], const double *start);

/* Computes the potentials phi[columns][faces] at the centres of the panels, from the normal velocities [columns][faces]
 * of the fluid there; phi is 0 in cavities. CB_ERROR_DOMAIN if the row sums show that the surface is not closed;
 * CB_ERROR_STEP if the iteration does not converge. */
cb_status cb_kirchhoff_solve(cb_kirchhoff *k, int columns, const double *normal_velocity, double *phi);

/* Computes the added mass. v: the velocities of the vertices (NULL: at rest). Errors as in cb_kirchhoff_solve, and
 * CB_ERROR_DOMAIN if the tensor is far from symmetric (asymmetry above 0.1) or far from positive. */
cb_status cb_kirchhoff_added_mass(cb_kirchhoff *k, const double (*v)[3], cb_kirchhoff_mass *out);

/* The quadratic form of a body that deforms, G[6 + n][6 + n] in the twist Y and the rates r' of n shape variables.
 * Twice the kinetic energy is <G (Y, r'), (Y, r')> if the vertices move with sum v_i r'_i, v[n][vertices]. Errors as in
 * cb_kirchhoff_added_mass. */
cb_status cb_kirchhoff_form(cb_kirchhoff *k, int n, const double (*v)[3], double *G);

/* The report of the last computation. */
cb_kirchhoff_report cb_kirchhoff_report_of(const cb_kirchhoff *k);
/* The panels at their present positions. */
const struct cb_panels *cb_kirchhoff_panels(const cb_kirchhoff *k);
const int *cb_kirchhoff_faces(const cb_kirchhoff *k); /* [panels]: the face of each panel */
/* The number of panels of solids, which come first. Panels of sheets have the jump of the potential along their
 * normals. */
int cb_kirchhoff_solids(const cb_kirchhoff *k);
/* The potentials [6][panels] of unit twists from the last cb_kirchhoff_added_mass (NULL before it and after
 * cb_kirchhoff_renew). */
const double *cb_kirchhoff_potentials(const cb_kirchhoff *k);
/* [faces]: does the fluid reach the face? False in cavities. */
const bool *cb_kirchhoff_reached(const cb_kirchhoff *k);
