/* The added mass of closed bodies in a perfect fluid of density 1 that fills space and is at rest far away.
 *
 *   K_ab = -int phi_a m_b dA,  (I/2 - D) phi_a = -S m_a at the centres of the panels,  m(x) = (x × n, n)
 *   mu0_a = -int phi_v m_a dA,  2 kinetic = -int phi_v w dA,  phi_v for the normal velocity w = <v, n> of the shape
 * K is the added mass. mu0 is the momentum and `kinetic` the energy of the flow that the velocity v of the shape
 * causes. I is the unit matrix, and S and D are those of potential/panels.h. a and b number the six unit twists, x is a
 * point of the surface, dA an element of its area, and phi_a the potential for unit twist a. The normal n points out of
 * the body, and phi -> 0 far away. This is the direct form of Green's identity: Kirchhoff (1869), J. reine angew. Math.
 * 71, 237, doi 10.1515/crll.1870.71.237; Lamb, Hydrodynamics (1932), articles 117 to 121. The panel method is that of
 * Hess & Smith (1967), doi 10.1016/0376-0421(67)90003-6. phi is constant on each panel. On smooth bodies the errors are
 * therefore of order h^2 for faces of size h; next to edges they are larger. Units are SI for density 1 kg/m³. Twists
 * and tensors have the order (angular, linear). They use the axes and the origin of the vertices. The surface is closed
 * (except sheets), oriented outwards, and does not intersect itself (cb_surface_check); it may have several pieces.
 */
#pragma once

#include <curvebody/status.h>

#include <stdbool.h>
#include <stddef.h>

/* How the linear equations are solved. */
typedef enum cb_potential_method {
  CB_POTENTIAL_BEST,      /* chosen by the number of panels and by how fast GMRES converges (operator.c) */
  CB_POTENTIAL_DENSE,     /* LU of the complete matrix */
  CB_POTENTIAL_ITERATIVE, /* GMRES; a tree computes the far field if it is faster or takes less memory */
  CB_POTENTIAL_HLU        /* GMRES preconditioned by LU of a hierarchical matrix */
} cb_potential_method;

/* Returns "best", "dense", "iterative" or "hlu", in static memory. */
const char *cb_potential_method_name(cb_potential_method method);

/* The condition that a cb_mirror sets on its plane. */
typedef enum cb_mirror_kind {
  CB_MIRROR_NONE,
  CB_MIRROR_RIGID, /* no flow through the plane */
  CB_MIRROR_FREE   /* phi = 0 on the plane: a free surface at high frequencies; use RIGID at low frequencies */
} cb_mirror_kind;

/* A plane <x, n> = height, where n is the unit vector along `normal`, which may have any length. All of the body must
 * be on the side to which the normal points. */
typedef struct cb_mirror {
  cb_mirror_kind kind;
  double normal[3], height;
} cb_mirror;

typedef struct cb_kirchhoff_options {
  cb_potential_method method;
  double far_error; /* error of the far field, relative to the largest potential; 0 selects 1e-6 */
  double tolerance; /* bound of the residual, relative to the right-hand side; 0 selects far_error/10 */
  int iterations;   /* maximum number of iterations; 0 selects 200 */
  size_t memory;    /* maximum memory in bytes; 0 selects 4e9 */
  cb_mirror wall;   /* with a wall, K holds only for the present position of the body */
  /* true: pieces with a border are sheets of no thickness (potential/operator.h); false: such pieces are an error */
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
  /* the largest |sum_j D_ij + 1/2| of a row i, 0 for exact D; computed by the tree if there is one */
  double row_sum;
  /* the largest |K_ab - K_ba|/(U_a U_b), for K before it is made symmetric. For a linear motion, U^2 is the largest
   * diagonal entry of the linear part of K. For an angular motion, U^2 is this entry times the mean square distance of
   * the surface from its centre */
  double asymmetry;
  /* mean over the area of closed pieces of min(1, thickness of the body/size of the panel) (potential/mesh_pieces.h) */
  double thickness;
  size_t bytes; /* memory of the operator */
} cb_kirchhoff_report;

/* The added mass K, and mu0 and kinetic, as in the equations at the top of this file. K is symmetric; mu0 and kinetic
 * are 0 for a shape at rest. */
typedef struct cb_kirchhoff_mass {
  double K[6][6], mu0[6], kinetic;
  /* The change of K if the potentials are linear on each panel. Their value at a corner is then the mean over the
   * panels around it, weighted by area, and 0 at borders of sheets. The change is relative like the asymmetry. On
   * smooth bodies both tensors have errors of order h^2 for faces of size h (potential/refine.h). */
  double coarseness;
} cb_kirchhoff_mass;

typedef struct cb_kirchhoff cb_kirchhoff;
struct cb_panels;

/* Creates the equations for faces on the vertices x; both are copied. If options is NULL, the defaults are used.
 * Returns CB_ERROR_DOMAIN for a face without area or a surface that points inwards. Returns CB_ERROR_STEP for a body
 * too thin for its panels (potential/mesh_pieces.h); the message names a face. Returns CB_ERROR_ARGUMENT for a method
 * that does not fit into the memory; the message gives both sizes. Returns CB_ERROR_UNSUPPORTED for sheets or walls
 * where they are not supported. The first solution checks that the surface is closed. The caller frees the result with
 * cb_kirchhoff_free. */
cb_status cb_kirchhoff_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                              const cb_kirchhoff_options *options, cb_kirchhoff **out);
void cb_kirchhoff_free(cb_kirchhoff *k);

/* Moves the vertices to x. `start` holds the potentials [6][panels] of unit twists in a similar pose, or is NULL for
 * potentials 0; the iteration begins with them. All later results depend only on x and `start`, and not on earlier
 * positions. Returns CB_ERROR_DOMAIN and CB_ERROR_STEP as cb_kirchhoff_create does. */
cb_status cb_kirchhoff_renew(cb_kirchhoff *k, const double (*x)[3], const double *start);

/* Computes the potentials phi[columns][faces] at the centres of the panels from the normal velocities
 * normal_velocity[columns][faces] of the fluid there. phi is 0 in cavities. Returns CB_ERROR_DOMAIN if the row sums
 * show that the surface is not closed, and CB_ERROR_STEP if the iteration does not converge. */
cb_status cb_kirchhoff_solve(cb_kirchhoff *k, int columns, const double *normal_velocity, double *phi);

/* Computes the added mass. v holds the velocities of the vertices; NULL: the shape is at rest. Returns errors as
 * cb_kirchhoff_solve does. It also returns CB_ERROR_DOMAIN if the asymmetry of the tensor is above 0.1, or if the
 * tensor is far from positive definite. */
cb_status cb_kirchhoff_added_mass(cb_kirchhoff *k, const double (*v)[3], cb_kirchhoff_mass *out);

/* Computes the quadratic form G[6 + n][6 + n] of a body that deforms. Twice the kinetic energy of the fluid is <G (Y,
 * r'), (Y, r')> for the twist Y and the rates r' of n shape variables. Rate r'_i moves the vertices with the velocities
 * r'_i v[i], where v is [n][vertices]. Returns errors as cb_kirchhoff_added_mass does. */
cb_status cb_kirchhoff_form(cb_kirchhoff *k, int n, const double (*v)[3], double *G);

/* Returns the report of the last computation. */
cb_kirchhoff_report cb_kirchhoff_report_of(const cb_kirchhoff *k);
/* Returns the panels at their present positions. */
const struct cb_panels *cb_kirchhoff_panels(const cb_kirchhoff *k);
const int *cb_kirchhoff_faces(const cb_kirchhoff *k); /* [panels]: the face of each panel */
/* Returns the number of panels of solids, which come before the panels of sheets. For a panel of a sheet, phi is the
 * jump of the potential along the normal. */
int cb_kirchhoff_solids(const cb_kirchhoff *k);
/* Returns the potentials [6][panels] of unit twists from the last cb_kirchhoff_added_mass. Returns NULL before the
 * first such call and after cb_kirchhoff_renew. */
const double *cb_kirchhoff_potentials(const cb_kirchhoff *k);
/* Returns an array [faces]: true if the fluid reaches the face, false for a face of a cavity. */
const bool *cb_kirchhoff_reached(const cb_kirchhoff *k);
