/* What a medium does to surfaces in it; see curvebody/medium.h. */
#pragma once

#include <curvebody/medium.h>
#include <curvebody/expression.h>
#include "numerics/vec3.h"

/* Is it the same within the box middle ± half[0] ± half[1] ± half[2], and which? Layers alone are. */
bool cb_medium_is_even(const cb_medium *m, const double middle[3], const double half[3][3], double *density);
/* Mean densities over faces with the given corners: density[n], and slope[n][corner][axis] (NULL: not wanted), their
 * exact derivatives. Partly filled on failure. */
cb_status cb_medium_faces(const cb_medium *m, int n, const double (*corner)[3][3], double *density,
                          double (*slope)[3][3]);

/* What a closed surface of n faces displaces, or with thickness[n] (metres; NULL: closed) sheets: their faces' areas
 * times thickness. In the world: mass; moment[3], int rho x_h dV across up; and to along[3] is added int Q dV along up
 * (that of the potential -|g| <along, up>; NULL: not wanted, and the column below not asked for; may be moment). The
 * surfaces may be several. */
cb_status cb_medium_displaced(const cb_medium *m, int n, const double (*corner)[3][3], const double *thickness,
                              double *mass, double moment[3], double along[3]);

/* --- what the files of media share --- */

/* Of layers (uniform: without levels), or an expression. */
struct cb_medium {
  double up[3];
  int levels;
  double *level, *density; /* [levels], [levels + 1] */
  cb_expression *e;        /* NULL: layers */
  bool profile;            /* the expression is one of height alone */
};

/* The repeated integrals of rho along up from the height of o:  p_0 = rho, dp_j+1/dh = p_j, p_j(o) = 0 for j > 0. */
typedef struct cb_medium_means {
  double p, px[3], next; /* means of p_j, p_j (x - o) and p_j+1 over a face */
} cb_medium_means;

/* An expression of height alone, by cells: powers of u, and its integrals from the lowest height to the cell. */
enum { CB_PROFILE_CELLS = 256, CB_MEDIUM_PANELS = 16 /* at most */ };
typedef struct cb_medium_cell {
  double a[5], one, two;
} cb_medium_cell;
typedef struct cb_medium_profile {
  int cells;
  double low, width, zero[3]; /* zero: of height 0, that of o */
  cb_medium_cell cell[CB_PROFILE_CELLS];
} cb_medium_profile;

/* What a call's faces have in common. */
typedef struct cb_medium_origin {
  const cb_medium *m;
  double o[3];
  int layer;                        /* that o is in */
  int panels;                       /* of a line's quadrature */
  const cb_medium_profile *profile; /* instead of lines; NULL: none */
} cb_medium_origin;

/* The layer that a height is in. */
static inline int cb_medium_layer(const cb_medium *m, double h) {
  int i = 0;
  while (i < m->levels && h >= m->level[i]) i++;
  return i;
}

/* Of one kind of medium each. y: corners from o. */
void cb_layers_face(const cb_medium *m, const double x[3][3], double *density, double slope[3][3]);
void cb_layers_means(const cb_medium_origin *from, const double y[3][3], int j, cb_medium_means *out);
double cb_layers_column(const cb_medium *m, double h); /* int_0^h rho dh */

cb_status cb_medium_value(const cb_medium *m, const double x[3], double *density); /* of an expression */
enum { CB_MEDIUM_BLOCK = 32 }; /* faces of these at most; *at: where it failed */
cb_status cb_expression_faces(const cb_medium *m, int n, const double (*x)[3][3], double *density,
                              double (*slope)[3][3], int *at);
cb_status cb_expression_means(const cb_medium_origin *from, int n, const double (*x)[3][3], int j, cb_medium_means *out,
                              int *at);
cb_status cb_expression_column(const cb_medium *m, const double x[3], double *column);

/* Heights from low to high, from o. p_0, p_1 and p_2 at a height. */
cb_status cb_profile_make(const cb_medium *m, const double o[3], double low, double high, int cells,
                          cb_medium_profile *p);
void cb_profile_at(const cb_medium_profile *p, double h, double out[3]);
