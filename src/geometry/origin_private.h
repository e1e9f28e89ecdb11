/* Small vectors of the base point's tangent space, for the files about origins. */
#pragma once

#include "geometry/origin.h"

#include <math.h>

static inline double cb_origin_dot(int dim, const double *u, const double *v) {
  double sum = 0;
  for (int i = 0; i < dim; i++) sum += u[i] * v[i];
  return sum;
}

/* w = A v, and A^T v. w is not v. */
static inline void cb_origin_turn(int dim, const double *a, const double *v, double *w) {
  for (int i = 0; i < dim; i++) w[i] = cb_origin_dot(dim, a + i * dim, v);
}

static inline void cb_origin_turn_back(int dim, const double *a, const double *v, double *w) {
  for (int i = 0; i < dim; i++) {
    w[i] = 0;
    for (int j = 0; j < dim; j++) w[i] += a[j * dim + i] * v[j];
  }
}

/* What T(direction, length) R acts on: the space itself where it is one factor, the hyperbolic factor of a product;
 * dim 0 where there is none. `offset` is its first coordinate, `axis` its first axis, rate 1/R, 0 if flat. */
typedef struct cb_origin_part {
  int dim, offset, axis;
  double curvature, rate;
} cb_origin_part;

static inline int cb_origin_dimension(cb_factor f) { return f.curvature == 0 ? f.count : f.count - 1; }

static inline cb_origin_part cb_origin_part_of(const cb_geometry *g) {
  for (int f = 0, axis = 0; !g->intrinsic && f < g->n_factors; axis += cb_origin_dimension(g->factor[f++])) {
    const cb_factor *factor = &g->factor[f];
    if (factor->curvature > 0 || (factor->curvature == 0 && g->n_factors > 1)) continue;
    return (cb_origin_part){cb_origin_dimension(*factor), factor->offset, axis, factor->curvature,
                            sqrt(fabs(factor->curvature))};
  }
  return (cb_origin_part){0};
}

/* The coordinates that `shift` translates in a product, coordinate[n] of the axes axis[n]; returns how many. */
static inline int cb_origin_shifted(const cb_geometry *g, int *axis, int *coordinate) {
  int n = 0;
  for (int f = 0, first = 0; g->n_factors > 1 && f < g->n_factors; first += cb_origin_dimension(g->factor[f++]))
    for (int i = 0; g->factor[f].curvature == 0 && i < g->factor[f].count; i++) {
      axis[n] = first + i;
      coordinate[n++] = g->factor[f].offset + i;
    }
  return n;
}

/* The plane of two unit directions n and m: cos^2(phi/2), sin phi, and the unit vector across n, 0 if there is none. */
typedef struct cb_origin_plane {
  double cos2, sin, across[CB_DIM_MAX];
} cb_origin_plane;
cb_origin_plane cb_origin_plane_of(int dim, const double *n, const double *m);

/* T(n,L) T(m,l) of the base point in radii of curvature, with the plane of n and m: its distance, and the cosine and
 * sine of its direction from n towards m. log_height (may be NULL): log sinh of the height of the triangle on that
 * side, sinh L times the sine, which may be too small for a number. */
void cb_origin_third_side(double L, double l, const cb_origin_plane *p, double *length, double *along, double *across,
                          double *log_height);

/* cb_origin_world_point, off the space by round-off. */
void cb_origin_world_place(const cb_geometry *g, const cb_origin *origin, const double *x, double *world);

/* m^-1, n at most 3. */
void cb_dd_invert(int n, cb_dd m[CB_COORD_MAX][CB_COORD_MAX], cb_dd inverse[CB_COORD_MAX][CB_COORD_MAX]);
/* The left translation L_a q = a + m q of a group, and its inverse. */
void cb_origin_translation(const cb_geometry *g, const double *a, cb_dd m[CB_COORD_MAX][CB_COORD_MAX],
                           cb_dd inverse[CB_COORD_MAX][CB_COORD_MAX]);
