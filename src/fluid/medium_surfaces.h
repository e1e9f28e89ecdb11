/* The effect of a medium on surfaces in it, and the declarations that the source files medium*.c share; see
 * curvebody/medium.h. */
#pragma once

#include <curvebody/medium.h>
#include "numerics/vec3.h"

/* Is the density constant within the box middle ± half[0] ± half[1] ± half[2]? If so, *density is its value. This can
 * only be true for layers. */
bool cb_medium_is_even(const cb_medium *m, const double middle[3], const double half[3][3], double *density);
/* Finds the density at a place and its gradient, which is 0 in layers. CB_STEP_NOT_FINITE if it is not finite. */
cb_status cb_medium_gradient(const cb_medium *m, const double x[3], double *density, double gradient[3]);
/* Finds the mean densities over the faces with the given corners: density[n], and slope[n][corner][axis] (NULL: not
 * wanted), their exact derivatives. On failure the arrays are partly filled. */
cb_status cb_medium_faces(const cb_medium *m, int n, const double (*corner)[3][3], double *density,
                          double (*slope)[3][3]);

/* Finds the fluid that a closed surface of n faces displaces, or that sheets displace, with thickness[n] (metres; NULL:
 * closed): the areas of their faces times the thickness. The results are in the world's axes: the mass; moment[3] = int
 * rho x_h dV perpendicular to up; and int Q dV along up, Q = int_0^h rho dh at the height h, which is added to
 * along[3], for the potential -|g| <along, up>, g the gravity. If `along` is NULL, the column below is not
 * evaluated; `along` and `moment` may be the same array. There may be several surfaces. */
cb_status cb_medium_displaced(const cb_medium *m, int n, const double (*corner)[3][3], const double *thickness,
                              double *mass, double moment[3], double along[3]);

/* --- declarations that medium*.c share --- */

/* A medium of layers (a uniform medium has no levels), or of a smooth density. */
struct cb_medium {
  const cb_fluid_medium_class *class_;
  void *data; /* the struct of the class */
  double up[3], uniform;
  cb_medium_facts facts;
  bool smooth, profile; /* profile: the density depends only on the height */
};

/* Makes a medium whose struct is zero; the caller completes *data and *facts, and then calls cb_medium_complete, which
 * frees the medium if the status or its own result is a failure, and otherwise sets *out. */
cb_status cb_medium_new(const cb_fluid_medium_class *class_, const double up[3], cb_medium **out);
cb_status cb_medium_complete(cb_medium *m, cb_status status, cb_medium **out);

/* The repeated integrals of rho along up from the height of o:  p_0 = rho, dp_j+1/dh = p_j, p_j(o) = 0 for j > 0. */
typedef struct cb_medium_means {
  double p, px[3], next; /* means of p_j, p_j (x - o) and p_j+1 over a face */
} cb_medium_means;

/* A density that depends only on the height, as a table of cells: polynomials in u, and the integrals from the
 * lowest height to each cell. */
enum { CB_PROFILE_CELLS = 256, CB_MEDIUM_PANELS = 16 /* maximum */ };
typedef struct cb_medium_cell {
  double a[5], one, two;
} cb_medium_cell;
typedef struct cb_medium_profile {
  int cells;
  double low, width, zero[3]; /* zero: the integrals at height 0, the height of o */
  cb_medium_cell cell[CB_PROFILE_CELLS];
} cb_medium_profile;

/* The data that all faces of a call share. */
typedef struct cb_medium_origin {
  const cb_medium *m;
  double o[3];
  int layer;                        /* the layer in which o lies */
  int panels;                       /* panels of the quadrature along a line */
  const cb_medium_profile *profile; /* used instead of lines; NULL: none */
} cb_medium_origin;

/* The layer in which a height lies. */
static inline int cb_medium_layer(const cb_medium *m, double h) {
  int i = 0;
  while (i < m->facts.levels && h >= m->facts.level[i]) i++;
  return i;
}

/* Finds the means of a face for layers. y: its corners, measured from o; j: 0 or 1. */
void cb_layers_means(const cb_medium_origin *from, const double y[3][3], int j, cb_medium_means *out);
double cb_layers_column(const cb_medium *m, double h); /* int_0^h rho dh */

/* For a smooth density: its value and gradient (NULL: not wanted), which are not checked; its checked value; its
 * checked value and gradient; and its values at n places with the derivative along x_k (NULL: not wanted), which
 * returns whether all results are finite. */
double cb_smooth_at(const cb_medium *m, const double x[3], double gradient[3]);
cb_status cb_smooth_value(const cb_medium *m, const double x[3], double *density);
cb_status cb_smooth_gradient(const cb_medium *m, const double x[3], double *density, double gradient[3]);
bool cb_smooth_values(const cb_medium *m, int n, const double *const x[3], int k, double *density, double *slope);
enum { CB_MEDIUM_BLOCK = 32 }; /* maximum of n below; *at: the number (from 0) of the face that failed */
cb_status cb_smooth_faces(const cb_medium *m, int n, const double (*x)[3][3], double *density, double (*slope)[3][3],
                          int *at);
cb_status cb_smooth_means(const cb_medium_origin *from, int n, const double (*x)[3][3], int j, cb_medium_means *out,
                          int *at);
cb_status cb_smooth_column(const cb_medium *m, const double x[3], double *column);

/* Heights run from low to high and are measured from o. cb_profile_at finds p_0, p_1 and p_2 at a height. */
cb_status cb_profile_make(const cb_medium *m, const double o[3], double low, double high, int cells,
                          cb_medium_profile *p);
void cb_profile_at(const cb_medium_profile *p, double h, double out[3]);
