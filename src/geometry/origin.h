/* Moving origins: bodies stay near the base point of a frame of their own, and the frame is carried along.
 *
 *   world point = T(direction, length) R (local point)
 *
 * with T the transvection from the base point along the unit vector `direction`, R a rotation about the base point
 * (cb_origin). In H^n numbers grow like exp(length/radius) and a matrix of that size has no digits left; direction,
 * length and rotation keep theirs at any length (tried from 0 to 1e5). In E^n the same holds with
 * translations. In a product T is that of its hyperbolic factor, and flat factors are translated by `shift`; in a group
 * with a left-invariant metric (cb_intrinsic.translation) the world point is L_shift (local point), and a momentum is a
 * covector. These spaces have moving origins; in all others, and in a sphere of a product, an origin is the identity,
 * and every function below does what it says with the identity.
 */
#pragma once

#include "numerics/dd.h"
#include <curvebody/geometry.h>
#include <stdbool.h>

bool cb_origin_moves(const cb_geometry *g);

void cb_origin_identity(const cb_geometry *g, cb_origin *out);
/* The transvection that takes the base point to x. */
void cb_origin_at(const cb_geometry *g, const double *x, cb_origin *out);
/* The flow of a Killing field for time s. CB_ERROR_UNSUPPORTED where origins do not move in this way: rotations of
 * spheres and groups. */
cb_status cb_origin_flow(const cb_geometry *g, int killing, double s, cb_origin *out);
/* a after b. The lengths' errors are a few units of round-off of the larger; the rotation is kept orthogonal. */
void cb_origin_compose(const cb_geometry *g, const cb_origin *a, const cb_origin *b, cb_origin *out);
void cb_origin_inverse(const cb_geometry *g, const cb_origin *a, cb_origin *out);
/* inverse(a) after b: takes b's local points to a's. Exactly the identity for equal origins. Two origins far out and
 * close to one another do not know their relative place better than exp(length) units of round-off. */
void cb_origin_relative(const cb_geometry *g, const cb_origin *a, const cb_origin *b, cb_origin *out);

/* Bit for bit the same. */
bool cb_origin_same(const cb_geometry *g, const cb_origin *a, const cb_origin *b);

/* --- places --- */
/* Do numbers of the embedding grow like exp(distance), so that places far out are told by origins? */
bool cb_origin_grows(const cb_geometry *g);
/* The length of an origin in radii of curvature; 0 where that part of it is flat. */
double cb_origin_radii(const cb_geometry *g, const cb_origin *origin);
/* In a space where they grow: the origin that takes the base point to the coordinates q of a chart (NULL: the
 * embedding), and v, what their velocity u is at the base point. */
cb_status cb_origin_of(const cb_geometry *g, const cb_chart *chart, const double *q, const double *u, cb_origin *origin,
                       double *v);
/* Coordinates in a chart of the world of a local point. */
cb_status cb_origin_coordinates(const cb_geometry *g, const cb_origin *origin, const double *x, const cb_chart *chart,
                                double *q);
/* The Karcher mean (cb_karcher_mean) of the points that places take the base point to, as such a place, where numbers
 * of the embedding grow; as good as the mean is near to the base point, to `frame`, or to the lines from these to the
 * points. */
cb_status cb_karcher_mean_of_places(const cb_geometry *g, size_t n, const cb_origin *places, const cb_origin *frame,
                                    const double *weight, cb_origin *mean);
/* A Killing field of the world at the local point x, as a local vector; infinite or nan where it overflows. */
void cb_origin_field(const cb_geometry *g, const cb_origin *origin, int killing, const double *x, double *v);

/* --- changing the frame --- */
/* What a change of frame does to local points, x -> m x + b, an isometry to 1e-30, and to momenta, p -> momentum p. */
typedef struct cb_recentring {
  cb_dd m[CB_COORD_MAX][CB_COORD_MAX], b[CB_COORD_MAX], momentum[CB_COORD_MAX][CB_COORD_MAX];
} cb_recentring;

/* Expresses the frame anew so that the local point y becomes its base point: updates origin, and says in *change what
 * to apply to all local points. */
void cb_origin_shift(const cb_geometry *g, cb_origin *origin, const double *y, cb_recentring *change);
/* Both together; isometry (may be NULL) tells others what was done, in double. CB_ERROR_DOMAIN if y is not finite. */
cb_status cb_origin_recentre(const cb_geometry *g, cb_origin *origin, const double *y, int n, double *x, double *x_low,
                             double *p, double *p_low, cb_isometry *isometry);

/* --- local to world --- */
/* A tangent vector in the world's embedding; infinite where it overflows (length beyond about 700 radii). */
void cb_origin_world_vector(const cb_geometry *g, const cb_origin *origin, const double *v, double *world);
/* A point local to b, local to a. CB_ERROR_DOMAIN where it overflows. */
cb_status cb_origin_relative_point(const cb_geometry *g, const cb_origin *a, const cb_origin *b, const double *x,
                                   double *out);
/* World picture (cb_picture) of a local point and its velocity; in a ball model finite and exact at any length. */
void cb_origin_picture(const cb_geometry *g, const cb_origin *origin, const double *x, const double *v, double *picture,
                       double *velocity);
/* As a matrix; its entries have relative errors of length/radius units of round-off. */
void cb_origin_isometry(const cb_geometry *g, const cb_origin *origin, cb_isometry *out);
/* Killing momenta about the world's axes from those about the local axes: the coadjoint action. Components that grow
 * and that shrink with the length are kept apart, so that none spoils another. */
void cb_origin_killing(const cb_geometry *g, const cb_origin *origin, const double *local, double *world);
/* cb_killing_momentum_add of n points of an embedding. */
void cb_killing_momenta_add(const cb_geometry *g, int n, const double *x, const double *p, double *momentum);
/* |X_i| of the world's Killing fields at the local point q: coordinates of the chart, or of the embedding. */
cb_status cb_origin_killing_sizes(const cb_geometry *g, const cb_origin *origin, const double *q, double *norm);
/* What a unit of round-off of an origin makes of Killing momenta `world` about the world's axes whose terms are of
 * these sizes, added to noise[n_killing] in those units. A part of the direction that is exactly 0 stays so, and turns
 * nothing, unless it may have been too small for a number. */
void cb_origin_killing_noise(const cb_geometry *g, const cb_origin *origin, const double *sizes, const double *world,
                             double *noise);
/* In a space without quadrics: the momenta about the world's axes of one particle at x with the covector p, added to
 * momentum. */
void cb_origin_killing_add(const cb_geometry *g, const cb_origin *origin, const double *x, const double *p,
                           double *momentum);
/* --- distances between frames --- */
/* Frame b as seen from frame a, prepared for measuring. */
typedef struct cb_frames {
  bool far; /* more than a few radii: measured by exp(-length) times cosh(d) */
  cb_origin relative;
  cb_isometry isometry; /* of relative, while it is short enough to be used for points that are close */
} cb_frames;

void cb_frames_make(const cb_geometry *g, const cb_origin *a, const cb_origin *b, cb_frames *frames);
/* Distance of x, local in a, from y, local in b, with ordinary partial derivatives gradient[2k] and hessian[(2k)^2] in
 * (x, y) (NULL: not wanted). Far away the extension off the space is by <x,y>, otherwise by the chord: tangential parts
 * agree. CB_ERROR_DOMAIN as cb_distance_derivatives if derivatives are asked for. */
cb_status cb_frames_distance(const cb_geometry *g, const cb_frames *frames, const double *x, const double *y, double *d,
                             double *gradient, double *hessian);

/* A fixed point of the world: x relative to an origin. */
typedef struct cb_fixed {
  cb_origin origin;
  double x[CB_Q_MAX];
} cb_fixed;

/* The same as seen from a frame. */
typedef struct cb_anchor {
  cb_frames frames;
  double x[CB_COORD_MAX]; /* its local coordinates, unless frames.far */
} cb_anchor;

void cb_anchor_make(const cb_geometry *g, const cb_origin *origin, const double *world_point, cb_anchor *anchor);
/* Of a point with an origin of its own: where that is the frame's, and near it, at any distance from the world's. */
void cb_anchor_of(const cb_geometry *g, const cb_origin *origin, const cb_fixed *point, cb_anchor *anchor);
/* Distance of the local point x from it, with gradient[k] and hessian[k*k] in x (NULL: not wanted). */
cb_status cb_anchor_distance(const cb_geometry *g, const cb_anchor *anchor, const double *x, double *d,
                             double *gradient, double *hessian);
