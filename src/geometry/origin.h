/* Moving origins: a body stays near the base point of a frame of its own, and the frame moves with the body.
 *
 *   world point = T(direction, length) R (local point)
 *
 * T is the transvection from the base point along the unit vector `direction`, and R a rotation about the base point
 * (cb_origin). In H^n numbers grow like exp(length/radius), and a matrix with entries of that size has no digits left.
 * direction, length and rotation keep their digits at any length (tested from 0 to 1e5). In E^n T is a translation. In
 * a product T acts on the hyperbolic factor, and `shift` translates the flat factors. In a group with a left-invariant
 * metric (cb_intrinsic.translation) the world point is L_shift (local point) with the left translation L, and a
 * momentum is a covector. Only these spaces have moving origins. In all other spaces, and in a sphere of a product, an
 * origin is the identity, and the functions below accept the identity.
 */
#pragma once

#include "numerics/dd.h"
#include <curvebody/space.h>

#include <math.h>
#include <stdbool.h>

bool cb_origin_moves(const cb_space *g);

void cb_origin_identity(const cb_space *g, cb_origin *out);
/* Computes the transvection that moves the base point to x. */
void cb_origin_at(const cb_space *g, const double *x, cb_origin *out);
/* Computes the flow of a Killing field for time s. Returns CB_ERROR_UNSUPPORTED if an origin cannot represent the flow:
 * for rotations of spheres and of groups, and in spaces without moving origins. */
cb_status cb_origin_flow(const cb_space *g, int killing, double s, cb_origin *out);
/* Computes the composition of a after b, in which b acts first. The error of the length is a few units of round-off of
 * the larger length; the rotation stays orthogonal. */
void cb_origin_compose(const cb_space *g, const cb_origin *a, const cb_origin *b, cb_origin *out);
void cb_origin_inverse(const cb_space *g, const cb_origin *a, cb_origin *out);
/* Computes the composition of inverse(a) after b, which maps local points of b to local points of a. The result is
 * exactly the identity for equal origins. For two origins that are far from the base point and close to each other, its
 * error is exp(length) units of round-off. */
void cb_origin_relative(const cb_space *g, const cb_origin *a, const cb_origin *b, cb_origin *out);

/* Returns whether the origins a and b are the same, bit for bit. */
bool cb_origin_same(const cb_space *g, const cb_origin *a, const cb_origin *b);

/* --- places --- */
/* Returns whether coordinates of the embedding grow like exp(distance), so that places far from the base point have to
 * be given as origins. */
bool cb_origin_grows(const cb_space *g);
/* Returns the length of an origin in radii of curvature, and 0 where T acts on a flat space. */
double cb_origin_radii(const cb_space *g, const cb_origin *origin);
/* For a space where cb_origin_grows is true: computes the origin that moves the base point to the point with
 * coordinates q of a chart (NULL: the embedding). v is the velocity u of the coordinates, transported to the base
 * point. */
cb_status cb_origin_of(const cb_space *g, const cb_chart *chart, const double *q, const double *u, cb_origin *origin,
                       double *v);
/* Computes the coordinates q of a local point x in a chart of the world. */
cb_status cb_origin_coordinates(const cb_space *g, const cb_origin *origin, const double *x, const cb_chart *chart,
                                double *q);
/* For a space where cb_origin_grows is true: computes the Karcher mean (cb_karcher_mean) of the points to which
 * `places` move the base point. The mean is also given as an origin. The mean is accurate if it is near the base point,
 * near `frame`, or near the lines from these two to the points. */
cb_status cb_karcher_mean_of_places(const cb_space *g, size_t n, const cb_origin *places, const cb_origin *frame,
                                    const double *weight, cb_origin *mean);
/* Computes a Killing field of the world at the local point x as a local vector v. v is infinite or NaN where it
 * overflows. */
void cb_origin_field(const cb_space *g, const cb_origin *origin, int killing, const double *x, double *v);

/* --- changing the frame --- */
/* A change of frame. It maps local points by x -> m x + b, which is an isometry to 1e-30, and momenta by p -> momentum
 * p. */
typedef struct cb_recentring {
  cb_dd m[CB_COORD_MAX][CB_COORD_MAX], b[CB_COORD_MAX], momentum[CB_COORD_MAX][CB_COORD_MAX];
} cb_recentring;

/* Moves the frame so that the local point y becomes its base point. Updates origin, and writes to *change the map that
 * has to be applied to all local points. */
void cb_origin_shift(const cb_space *g, cb_origin *origin, const double *y, cb_recentring *change);
/* n local points and momenta, [n][embedding] each, with their low parts. */
typedef struct cb_local_points {
  int n;
  double *x, *x_low, *p, *p_low;
} cb_local_points;
/* Moves the frame as cb_origin_shift does, and applies the change to the points and momenta. isometry (may be NULL)
 * receives the map in double precision. Returns CB_ERROR_DOMAIN if y is not finite. */
cb_status cb_origin_recentre(const cb_space *g, cb_origin *origin, const double *y, const cb_local_points *points,
                             cb_isometry *isometry);

/* --- local to world --- */
/* Converts a local tangent vector v to the embedding of the world. The result is infinite where it overflows (beyond a
 * length of about 700 radii). */
void cb_origin_world_vector(const cb_space *g, const cb_origin *origin, const double *v, double *world);
/* Converts a point that is local to b to the frame of a. Returns CB_ERROR_DOMAIN if it overflows. */
cb_status cb_origin_relative_point(const cb_space *g, const cb_origin *a, const cb_origin *b, const double *x,
                                   double *out);
/* Computes the plot coordinates in the world (cb_plot_coordinates) of a local point and its velocity. In a ball model
 * they are finite and accurate at any length. */
void cb_origin_plot(const cb_space *g, const cb_origin *origin, const double *x, const double *v, double *plot,
                    double *velocity);
/* Computes the origin as a matrix, whose entries have relative errors of length/radius units of round-off. */
void cb_origin_isometry(const cb_space *g, const cb_origin *origin, cb_isometry *out);
/* Converts Killing momenta about the local axes to Killing momenta about the axes of the world, by the coadjoint
 * action. Components that grow with the length and components that shrink are computed separately, so that no digits
 * are lost. */
void cb_origin_killing(const cb_space *g, const cb_origin *origin, const double *local, double *world);
/* Adds the Killing momenta of n particles, as cb_killing_momentum_add does for one. The positions are x[n][embedding],
 * and the momenta p[n][embedding]. */
void cb_killing_momenta_add(const cb_space *g, int n, const double *x, const double *p, double *momentum);
/* Computes norm[i] = |X_i| of the Killing fields X_i of the world at the local point q, in coordinates of the chart or
 * of the embedding. */
cb_status cb_origin_killing_sizes(const cb_space *g, const cb_origin *origin, const double *q, double *norm);
/* `world` are Killing momenta about the axes of the world. Adds to noise[n_killing] the errors of these momenta that
 * the round-off of the origin causes, in units of round-off. `sizes` are the sizes of the terms of these momenta. A
 * component of the direction that is exactly 0 is exact and adds nothing, unless it may have underflowed to 0. */
void cb_origin_killing_noise(const cb_space *g, const cb_origin *origin, const double *sizes, const double *world,
                             double *noise);
/* In an intrinsic space: adds to `momentum` the Killing momenta, about the axes of the world, of one particle at x with
 * the covector p. */
void cb_origin_killing_add(const cb_space *g, const cb_origin *origin, const double *x, const double *p,
                           double *momentum);
/* --- distances between frames --- */
/* Frame b relative to frame a, prepared for computing distances. */
typedef struct cb_frames {
  bool far; /* the frames are more than two radii apart; distances then use exp(-length) times cosh(d) */
  cb_origin relative;
  cb_isometry isometry; /* the matrix of `relative`; the identity if the frames are more than 300 radii apart */
} cb_frames;

void cb_frames_make(const cb_space *g, const cb_origin *a, const cb_origin *b, cb_frames *frames);
/* Computes the distance d of x, local in frame a, from y, local in frame b. gradient[2k] and hessian[(2k)^2] (may be
 * NULL) are the partial derivatives with respect to (x, y), where k is the number of coordinates of a point. For points
 * off the space the distance is defined by <x,y> if the frames are far apart, and otherwise by the chord; the
 * tangential parts of the derivatives agree. If derivatives are requested, returns CB_ERROR_DOMAIN for the same points
 * as cb_distance_derivatives. */
cb_status cb_frames_distance(const cb_space *g, const cb_frames *frames, const double *x, const double *y, double *d,
                             double *gradient, double *hessian);

/* A fixed point of the world: x relative to an origin. */
typedef struct cb_fixed {
  cb_origin origin;
  double x[CB_Q_MAX];
} cb_fixed;

/* A fixed point relative to a frame. */
typedef struct cb_anchor {
  cb_frames frames;
  double x[CB_COORD_MAX]; /* the coordinates of the fixed point in the frame; not used if frames.far is true */
} cb_anchor;

void cb_anchor_make(const cb_space *g, const cb_origin *origin, const double *world_point, cb_anchor *anchor);
/* Prepares a fixed point for distances from the frame `origin`. The result is accurate at any distance from the base
 * point of the world if the origin of the point is the origin of the frame, or near it. */
void cb_anchor_of(const cb_space *g, const cb_origin *origin, const cb_fixed *point, cb_anchor *anchor);
/* Computes the distance of the local point x from the fixed point. gradient[k] and hessian[k*k] (may be NULL) are the
 * derivatives with respect to x, where k is the number of coordinates of a point. */
cb_status cb_anchor_distance(const cb_space *g, const cb_anchor *anchor, const double *x, double *d, double *gradient,
                             double *hessian);

/* --- for the files about origins: small vectors of the base point's tangent space --- */

static inline double cb_origin_dot(int dim, const double *u, const double *v) {
  double sum = 0;
  for (int i = 0; i < dim; i++) sum += u[i] * v[i];
  return sum;
}

/* cb_origin_turn computes w = A v, and cb_origin_turn_back w = A^T v; w and v must be different arrays. */
static inline void cb_origin_turn(int dim, const double *a, const double *v, double *w) {
  for (int i = 0; i < dim; i++) w[i] = cb_origin_dot(dim, a + i * dim, v);
}

static inline void cb_origin_turn_back(int dim, const double *a, const double *v, double *w) {
  for (int i = 0; i < dim; i++) {
    w[i] = 0;
    for (int j = 0; j < dim; j++) w[i] += a[j * dim + i] * v[j];
  }
}

/* The factor on which T(direction, length) R acts: the space itself if it has one factor, or the hyperbolic factor of a
 * product. dim is 0 if there is none. `offset` is its first coordinate, `axis` its first axis, and `rate` is 1/(radius
 * of curvature), or 0 for a flat factor. */
typedef struct cb_origin_part {
  int dim, offset, axis;
  double curvature, rate;
} cb_origin_part;

static inline int cb_origin_dimension(cb_factor f) { return f.curvature == 0 ? f.count : f.count - 1; }

static inline cb_origin_part cb_origin_part_of(const cb_space *g) {
  for (int f = 0, axis = 0; !g->intrinsic && f < g->n_factors; axis += cb_origin_dimension(g->factor[f++])) {
    const cb_factor *factor = &g->factor[f];
    if (factor->curvature > 0 || (factor->curvature == 0 && g->n_factors > 1)) continue;
    return (cb_origin_part){cb_origin_dimension(*factor), factor->offset, axis, factor->curvature,
                            sqrt(fabs(factor->curvature))};
  }
  return (cb_origin_part){0};
}

/* Finds the coordinates that `shift` translates in a product: coordinate[i] belongs to axis[i], i < n. Returns n. */
static inline int cb_origin_shifted(const cb_space *g, int *axis, int *coordinate) {
  int n = 0;
  for (int f = 0, first = 0; g->n_factors > 1 && f < g->n_factors; first += cb_origin_dimension(g->factor[f++]))
    for (int i = 0; g->factor[f].curvature == 0 && i < g->factor[f].count; i++) {
      axis[n] = first + i;
      coordinate[n++] = g->factor[f].offset + i;
    }
  return n;
}

/* The plane of two unit directions n and m at the angle phi: cos2 = cos^2(phi/2), sin = sin(phi), and across, the unit
 * vector in the plane orthogonal to n (0 if n and m are parallel). */
typedef struct cb_origin_plane {
  double cos2, sin, across[CB_DIM_MAX];
} cb_origin_plane;
cb_origin_plane cb_origin_plane_of(int dim, const double *n, const double *m);

/* Computes where T(n,L) T(m,l) moves the base point, from the plane of n and m, with lengths in radii of curvature: the
 * distance of this point, and the cosine (along) and sine (across) of the angle of its direction from n towards m.
 * log_height (may be NULL) is log sinh of the height of the triangle on that side. This sinh is sinh L times the sine,
 * and may underflow. */
void cb_origin_third_side(double L, double l, const cb_origin_plane *p, double *length, double *along, double *across,
                          double *log_height);

/* Computes inverse = m^-1 for n x n matrices, n at most 3. */
void cb_dd_invert(int n, cb_dd m[CB_COORD_MAX][CB_COORD_MAX], cb_dd inverse[CB_COORD_MAX][CB_COORD_MAX]);
/* Computes the matrix m of the left translation L_a q = a + m q of a group, and its inverse. */
void cb_origin_translation(const cb_space *g, const double *a, cb_dd m[CB_COORD_MAX][CB_COORD_MAX],
                           cb_dd inverse[CB_COORD_MAX][CB_COORD_MAX]);

/* --- a geodesic of a space with a hyperbolic factor in a chart, at any distance from the base point --- */

typedef struct cb_path {
  cb_space space; /* the space, without the chart in which it is used */
  const cb_chart *chart;
  double start[CB_DIM_MAX];
  bool ends; /* both ends are known as points x and y of the embedding */
  double x[CB_COORD_MAX], y[CB_COORD_MAX];
  double length;      /* the length between two points; 1 if the path was given by a velocity */
  double foot, sigma; /* foot: the distance from the base point to the nearest point (the foot) of the geodesic, called
                       * c in geodesic.c; sigma: the arc length from the foot to the start. Both are in radii of
                       * curvature. */
  double normal[CB_DIM_MAX], tangent[CB_DIM_MAX];
  double rate; /* arc length in the hyperbolic factor, in radii of curvature, per unit of arc length of the space */
  /* in flat factors: shift: the start of the geodesic; drift: the change of position per unit of arc length of the
   * space */
  double shift[CB_DIM_MAX], drift[CB_DIM_MAX];
} cb_path;

/* Returns whether geodesics of this space can be computed by these functions. The space must have a hyperbolic factor,
 * where coordinates of the embedding overflow far from the base point. */
bool cb_path_knows(const cb_space *g);
/* Computes the shortest geodesic from q1 to q2, which are coordinates of a chart. Returns CB_ERROR_DOMAIN if its length
 * is not finite. */
cb_status cb_path_between(const cb_space *g, const cb_chart *chart, const double *q1, const double *q2, cb_path *out);
/* Computes the geodesic of unit speed from q in the direction of the velocity u of the coordinates. *speed is the
 * length of u; if *speed is 0, *out has no direction. Returns CB_ERROR_DOMAIN if *speed is not finite. */
cb_status cb_path_from(const cb_space *g, const cb_chart *chart, const double *q, const double *u, cb_path *out,
                       double *speed);
/* Computes the coordinates q and the velocity u = dq/ds at arc length s, and the plot coordinates plot[3] of the point.
 * The velocity is NaN if the chart is singular at the point. Returns CB_ERROR_DOMAIN if the coordinates of the point
 * overflow or have no correct digits. */
cb_status cb_path_at(const cb_path *path, double s, double *q, double *u, double *plot);
