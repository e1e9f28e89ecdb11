/* The effect of a medium on surfaces in it, and the declarations that the source files medium*.c share; see
 * curvebody/medium.h. */
#pragma once

#include "numerics/vec3.h"
#include <curvebody/flow.h>
#include <curvebody/medium.h>

/* Returns whether the density is constant within the box middle ± half[0] ± half[1] ± half[2]. If so, *density becomes
 * its value. The result is always false for a smooth density. */
bool cb_medium_is_even(const cb_medium *m, const double middle[3], const double half[3][3], double *density);
/* Finds the density at a place and its gradient, which is 0 in layers. Returns CB_STEP_NOT_FINITE if the density is
 * negative, or if a result is not finite. */
cb_status cb_medium_gradient(const cb_medium *m, const double x[3], double *density, double gradient[3]);
/* Finds density[n], the mean densities over n faces with the given corners, and slope[n][corner][axis] (NULL: not
 * wanted), their exact derivatives in the corners. On failure the arrays are partly filled. */
cb_status cb_medium_faces(const cb_medium *m, int n, const double (*corner)[3][3], double *density,
                          double (*slope)[3][3]);

/* Finds the fluid that a closed surface of n faces displaces, or that sheets displace. The volume of a sheet is the sum
 * of the areas of its faces times thickness[n] (in m; NULL: closed). There may be several surfaces. The results are in
 * the world's axes:
 *
 *   *mass     the displaced mass, int rho dV
 *   moment    int rho x_h dV, where x_h is the part of the place x perpendicular to up
 *   along     the function adds the vector (int Q dV) up to it, where Q = int_0^h rho dh at the height h; the
 *             potential of buoyancy is -|g| int Q dV
 *
 * rho is the density of the fluid and g the gravity. If `along` is NULL, the integral of Q is not evaluated.
 * `along` and `moment` may be the same array. Returns CB_STEP_NOT_FINITE for a density that has no value.
 */
cb_status cb_medium_displaced(const cb_medium *m, int n, const double (*corner)[3][3], const double *thickness,
                              double *mass, double moment[3], double along[3]);

/* --- declarations that medium*.c share --- */

/* A medium of layers (a uniform medium is one layer), or of a smooth density. */
struct cb_medium {
  const cb_fluid_medium_class *class_;
  void *data; /* the data that the class defines */
  double up[3], uniform;
  cb_medium_facts facts;
  bool smooth, profile; /* profile: the density depends only on the height */
};

/* Makes a medium whose struct is zero. The caller completes data and facts of **out, and then calls cb_medium_complete.
 * cb_medium_complete frees the medium if `status` is a failure, or if it finds an error; otherwise it sets *out. */
cb_status cb_medium_new(const cb_fluid_medium_class *class_, const double up[3], cb_medium **out);
cb_status cb_medium_complete(cb_medium *m, cb_status status, cb_medium **out);

/* The repeated integrals p_j of the density rho along up from the height of a point o: p_0 = rho, dp_j+1/dh = p_j, and
 * p_j = 0 at the height of o for j > 0. h is the height. */
typedef struct cb_medium_means {
  double p, px[3], next; /* means over a face: p of p_j, px of p_j (x - o), next of p_j+1 */
} cb_medium_means;

/* A density that depends only on the height, as a table of cells. Each cell has a polynomial in u (medium.c), and the
 * integral and double integral of the density from the lowest height of the table to the lower end of the cell. */
enum { CB_PROFILE_CELLS = 256, CB_MEDIUM_PANELS = 16 /* maximum number of panels */ };
typedef struct cb_medium_cell {
  double a[5], one, two;
} cb_medium_cell;
typedef struct cb_medium_profile {
  int cells;
  double low, width, zero[3]; /* zero: density and integrals at the height 0, which is the height of o */
  cb_medium_cell cell[CB_PROFILE_CELLS];
} cb_medium_profile;

/* The data that all faces of a call share. */
typedef struct cb_medium_origin {
  const cb_medium *m;
  double o[3];
  int layer;  /* the layer in which o lies */
  int panels; /* number of panels of the quadrature along a line */
  /* table of the integrals of the density; NULL: they are computed along a vertical line from each point */
  const cb_medium_profile *profile;
} cb_medium_origin;

/* Returns the layer in which a height lies. */
static inline int cb_medium_layer(const cb_medium *m, double h) {
  int i = 0;
  while (i < m->facts.levels && h >= m->facts.level[i]) i++;
  return i;
}

/* Finds the means of a face for layers. y: the corners of the face, measured from o; j (0 or 1): see cb_medium_means.
 */
void cb_layers_means(const cb_medium_origin *from, const double y[3][3], int j, cb_medium_means *out);
double cb_layers_column(const cb_medium *m, double h); /* returns int_0^h rho dh, rho the density */

/* These functions are for a smooth density. The first function returns its value and finds its gradient (NULL: not
 * wanted), without checks. The second and third find the value, and the value with the gradient; they return
 * CB_STEP_NOT_FINITE if a result is not finite or the density is negative. The fourth finds the values at n places,
 * with the derivative along x_k (NULL: not wanted), and returns whether all results are finite. */
double cb_smooth_at(const cb_medium *m, const double x[3], double gradient[3]);
cb_status cb_smooth_value(const cb_medium *m, const double x[3], double *density);
cb_status cb_smooth_gradient(const cb_medium *m, const double x[3], double *density, double gradient[3]);
/* Maximum number n of faces in a call of cb_smooth_faces. If the density is invalid at a face, the call fails and *at
 * becomes the index of this face. */
enum { CB_MEDIUM_BLOCK = 32 };
cb_status cb_smooth_faces(const cb_medium *m, int n, const double (*x)[3][3], double *density, double (*slope)[3][3],
                          int *at);

/* Makes the table of a density that depends only on the height, for heights from low to high above the point o.
 * cb_profile_at finds p_0, p_1 and p_2 at the height h above o. */
cb_status cb_profile_make(const cb_medium *m, const double o[3], double low, double high, int cells,
                          cb_medium_profile *p);
void cb_profile_at(const cb_medium_profile *p, double h, double out[3]);

/* --- the fluid at one place ---
 *
 * The undisturbed fluid at one place: the quantities on which the forces on a particle there depend.
 *
 *   Du/Dt = du/dt + (u . grad) u,   the acceleration of the fluid that is at the place
 *
 * u is the velocity of the fluid and t the time. The derivatives of u and of the density are exact. SI units, world
 * axes.
 */

typedef struct cb_fluid_point {
  double u[3], gradient[3][3], rate[3]; /* u, du_i/dx_j and du/dt */
  double acceleration[3];               /* Du/Dt */
  double density, density_gradient[3];  /* in layers the gradient is 0 */
} cb_fluid_point;

/* Finds the fluid at the place x at time t. If flow is NULL, the fluid is at rest; if medium is NULL, the density is 0.
 * Returns CB_STEP_NOT_FINITE as cb_flow_at and cb_medium_at do. It may be called from any thread and allocates nothing.
 */
cb_status cb_fluid_point_at(const cb_flow *flow, const cb_medium *medium, double t, const double x[3],
                            cb_fluid_point *out);
