/* Ambient spaces: points, metric, distance, geodesics, isometries, Killing fields, charts, plot coordinates.
 *
 * A space is a product of at most CB_FACTOR_MAX factors, such as E3, S3, H3 or H2 x E. A point is x in R^k, the
 * embedding. Each factor has some of its coordinates. In a flat factor they are Cartesian. A curved factor is a quadric
 * in a linear space: its coordinates satisfy <x,x> = 1/curvature, and those of a tangent vector v satisfy <x,v> = 0.
 * The form is <u,v> = sum_a form[a] u_a v_a; in a curved factor, form is (1, ..., 1, sign of the curvature). Vectors
 * are contravariant.
 * A space may also be used in the coordinates q of one chart (cb_space.chart, k = dim). Points are then q, and momenta
 * are covectors. An intrinsic space is given only by the metric of such a chart (curvebody/intrinsic.h).
 *
 * All functions are reentrant, and a cb_space does not change after it was made. Lengths are in units of the scenario,
 * and angles in radians.
 * For users, and for authors of spaces (cb_space_class; a metric is written once on jets, curvebody/intrinsic.h).
 * Sources: Ratcliffe, Foundations of Hyperbolic Manifolds, 2nd ed. (2006), chapters 2-3, doi:10.1007/978-0-387-47322-2.
 */
#ifndef CURVEBODY_SPACE_H
#define CURVEBODY_SPACE_H

#include <curvebody/node.h>
#include <curvebody/param.h>

CB_API_BEGIN

enum { CB_DIM_MAX = 3, CB_COORD_MAX = 4, CB_FACTOR_MAX = 2, CB_KILLING_MAX = 12, CB_CHART_MAX = 6 };
/* The maximum number of coordinates of a configuration space (`system:` in a scenario). One point of this manifold
 * gives the positions of all parts of a system. It has a metric, but no distances. */
enum { CB_Q_MAX = 12 };

typedef struct cb_space cb_space;
typedef struct cb_chart cb_chart;
/* Functions and data of an intrinsic space (curvebody/intrinsic.h). */
typedef struct cb_intrinsic cb_intrinsic;

/* A moving origin: an isometry from local points, at which a component of bodies is stored, to points of the world,
 *   world point = T R (local point).
 * R is a rotation about the base point. T is the transvection by `length` along the unit vector `direction` at the base
 * point, which is an isometry along a geodesic without a rotation. T and R are stored separately, because a matrix of T
 * would have entries of size exp(length) and lose digits. In a product, T and R act on the hyperbolic factor, and
 * `shift` translates flat factors. In a group with a left-invariant metric the origin is the left translation by the
 * element `shift`. In spaces that need no moving origin it is the identity. */
typedef struct cb_origin {
  double length;
  double direction[CB_DIM_MAX];
  double rotation[CB_DIM_MAX * CB_DIM_MAX]; /* row-major, dim x dim, where dim is the dimension of the factor */
  /* [dim]: shift along each flat axis of the space; in a group, the coordinates of the element */
  double shift[CB_DIM_MAX];
} cb_origin;

/* One factor of a product, with the coordinates offset .. offset+count-1 of the embedding. Its dimension is count if it
 * is flat, otherwise count - 1. */
typedef struct cb_factor {
  int offset, count;
  double curvature; /* 0: flat; otherwise the factor is the quadric <x,x> = 1/curvature */
} cb_factor;

/* A Killing field X(x) = a x + b of the embedding; b is nonzero only in flat factors. Translations and boosts have unit
 * speed on their axis, rotations unit angular speed. */
typedef struct cb_killing {
  const char *name; /* "boost_x", "rotation_z", "translation_y" */
  double a[CB_COORD_MAX][CB_COORD_MAX];
  double b[CB_COORD_MAX];
} cb_killing;

/* An isometry x -> m x + b of the embedding. */
typedef struct cb_isometry {
  double m[CB_COORD_MAX][CB_COORD_MAX];
  double b[CB_COORD_MAX];
} cb_isometry;

/* A class of spaces: one const object cb_space_NAME in the file geometries/NAME.c, or an object in a plugin. */
typedef struct cb_space_class {
  const char *name;       /* name of the class, and of its file */
  const char *title;      /* for example "hyperbolic space" */
  const char *doc;        /* one or two sentences */
  const cb_param *params; /* the list ends with a NULL name; NULL: no parameters */
  size_t params_size;     /* bytes of the struct that `params` fills */
  /* Fills in g: dimension, factors, form, Killing fields, charts and the default plot; params is the filled struct. */
  cb_status (*init)(cb_space *g, const void *params);
} cb_space_class;

/* A chart: coordinates q[size] of the points x of a space. size is the dimension of the space, except in the chart
 * "embedding" of a curved space, where q is x itself. The members `metric` and `distance` are needed only if a space is
 * used in the coordinates of this chart (cb_space.chart); otherwise they may be NULL. */
struct cb_chart {
  const char *name;  /* for example "polar" */
  const char *alias; /* a second name by which cb_chart_find finds the chart, or NULL */
  const char *doc;
  int size;                          /* number of coordinates */
  const char *coordinates[CB_Q_MAX]; /* [size]: their names */
  /* Computes the point x[embedding] and, unless jacobian is NULL, dx/dq[embedding][size]. CB_ERROR_DOMAIN outside the
   * chart. */
  cb_status (*to_point)(const cb_space *g, const double *q, double *x, double *jacobian);
  cb_status (*from_point)(const cb_space *g, const double *x, double *q);
  /* Computes the metric g_ij in gij[i*dim + j], its derivatives by q_l in dg[(l*dim + i)*dim + j], and its second
   * derivatives by q_m and q_l in ddg[((m*dim + l)*dim + i)*dim + j]. dg and ddg may be NULL. */
  cb_status (*metric)(const cb_space *g, const double *q, double *gij, double *dg, double *ddg);
  /* Computes the distance d of q1 and q2, and its gradient[2*dim] and hessian[(2*dim)^2] in (q1, q2); either may be
   * NULL. At q1 = q2 these derivatives do not exist: CB_ERROR_DOMAIN unless both are NULL. */
  cb_status (*distance)(const cb_space *g, const double *q1, const double *q2, double *d, double *gradient,
                        double *hessian);
  /* Computes the origin that moves the base point to x(q), and v[embedding], the vector at the base point that the
   * origin moves to the velocity dx/dq u. It must work at any distance: in a hyperbolic factor the coordinates of x
   * grow like exp(distance). NULL: the library uses to_point. */
  cb_status (*to_origin)(const cb_space *g, const double *q, const double *u, cb_origin *origin, double *v);
  /* Computes the coordinates q of the point to which the origin moves the base point. If the member is NULL, or returns
   * CB_ERROR_UNSUPPORTED, the library uses from_point. */
  cb_status (*from_origin)(const cb_space *g, const cb_origin *origin, double *q);
};

struct cb_space {
  const cb_space_class *class_;
  int dim; /* dimension of the space */
  int k;   /* how many numbers a point has: `embedding`, or dim if `chart` is set */
  int n_factors;
  cb_factor factor[CB_FACTOR_MAX];
  int embedding; /* number of coordinates of the embedding */
  double form[CB_Q_MAX];
  int n_killing;
  cb_killing killing[CB_KILLING_MAX];
  int n_charts;
  cb_chart charts[CB_CHART_MAX];
  const cb_chart *chart;         /* the entry of `charts` in whose coordinates points are given; NULL: the embedding */
  const cb_intrinsic *intrinsic; /* NULL unless the space is intrinsic; the coordinates of `chart` then replace those of
                                  * the embedding */
  const char *plot;              /* name of the plot coordinates: "poincare", "stereographic", "embedding" */
  void *data;                    /* data of the class; the library frees the pointer with free() */
};

/* Makes a space of the class with this name. node: its map in a scenario, with the keys of its parameters, `chart` and
 * `plot`; a key `name` is ignored, and other keys are errors (CB_ERROR_INPUT). If node is NULL or a scalar, all
 * parameters have their defaults. The caller frees the space with cb_space_free. A space refers to itself and must not
 * be copied. */
cb_status cb_space_create(const char *name, const cb_node *node, cb_space **out);
/* Does the same as cb_space_create, with a class that need not be in cb_space_classes, for example a class of a user's
 * program. */
cb_status cb_space_create_class(const cb_space_class *class_, const cb_node *node, cb_space **out);
void cb_space_free(cb_space *g);

/* For functions cb_space_class.init: makes g a space of one factor with this dimension, 2 or 3, and curvature. Adds its
 * charts and its Killing fields. These are translation_x, ... in a flat factor, boost_x, ... in a hyperbolic one, and
 * rotation_wx, ... in a sphere, followed by rotation_x, rotation_y and rotation_z, or only rotation_z in dimension 2.
 * CB_ERROR_ARGUMENT for another dimension. */
cb_status cb_space_init_constant(cb_space *g, int dim, double curvature);
/* Does the same as cb_space_init_constant, for a product of n factors with dimensions dim[n] and curvatures
 * curvature[n]: H2 x E has dim = {2, 1} and curvature = {-1, 0}. A flat factor may have dimension 1. The axes of all
 * factors are named x, y, z in their order. */
cb_status cb_space_init_product(cb_space *g, int n, const int *dim, const double *curvature);
/* For functions cb_space_class.init: adds one more chart, which is copied. */
cb_status cb_space_add_chart(cb_space *g, const cb_chart *chart);

/* --- points and vectors of the embedding: arrays of g->embedding numbers --- */
double cb_inner(const cb_space *g, const double *u, const double *v); /* returns <u,v> */
/* Checks that x is a finite point of the space: that each factor is within the relative `tolerance` of its quadric, and
 * on the upper sheet of a hyperboloid. Otherwise CB_ERROR_DOMAIN. */
cb_status cb_space_check_point(const cb_space *g, const double *x, double tolerance);
/* Does the same as cb_space_check_point for n points, one after another in x[n*k], where k is the embedding dimension.
 * Returns the status of the first point that fails, and sets *which to its index. */
cb_status cb_space_check_points(const cb_space *g, size_t n, const double *x, double tolerance, size_t *which);
/* Replace x by a point on the quadrics near it, and v by its projection to the tangent space at x. */
void cb_space_project_point(const cb_space *g, double *x);
void cb_space_project_tangent(const cb_space *g, const double *x, double *v);
/* Writes the base point to x: 0 in a flat factor, and (0, ..., 0, 1/sqrt|curvature|) in a curved factor. In an
 * intrinsic space it is cb_intrinsic.base. */
void cb_space_base_point(const cb_space *g, double *x);
/* Computes an orthonormal frame e[dim][embedding] at x. It is the frame of the axes at the base point, transported in
 * parallel along the geodesic from there to x. At the antipode of the base point, where this geodesic is not unique, it
 * is some orthonormal frame. */
void cb_space_frame(const cb_space *g, const double *x, double *e);

/* Returns the geodesic distance of x and y, which is the root of the sum of d^2 over the factors. In a factor, d is
 * |x-y| if it is flat, 2R asin(|x-y|/2R) in a sphere and 2R asinh(|x-y|/2R) in a hyperbolic factor, R = 1/sqrt|K| with
 * the curvature K. For distances above pi R/2 in a sphere, the chord |x+y| to the antipode is used instead, so that no
 * digits are lost. In an intrinsic space the result is nan if no distance is found. */
double cb_distance(const cb_space *g, const double *x, const double *y);
/* Computes the distance d, and its gradient[2*embedding] and hessian[(2*embedding)^2] in (x, y); either may be NULL.
 * These are ordinary partial derivatives of the formulas of cb_distance, in which x and y are any points of the
 * embedding. CB_ERROR_DOMAIN for coincident or antipodal points. */
cb_status cb_distance_derivatives(const cb_space *g, const double *x, const double *y, double *d, double *gradient,
                                  double *hessian);
/* Computes y = exp_x(v), the point at time 1 of the geodesic that starts at x with velocity v, and its velocity w at y
 * (w may be NULL). */
void cb_exp(const cb_space *g, const double *x, const double *v, double *y, double *w);
/* Computes the shortest v with exp_x(v) = y; CB_ERROR_DOMAIN for antipodal points. */
cb_status cb_log(const cb_space *g, const double *x, const double *y, double *v);
/* Do the same as cb_distance, cb_exp and cb_log for n points, one after another in x[n*k], y[n*k], v[n*k] and
 * distance[n], where k is the embedding dimension. cb_log_all returns the status of the first pair that fails, and sets
 * *which to its index; the results up to there are valid. */
void cb_distance_all(const cb_space *g, size_t n, const double *x, const double *y, double *distance);
void cb_exp_all(const cb_space *g, size_t n, const double *x, const double *v, double *y);
cb_status cb_log_all(const cb_space *g, size_t n, const double *x, const double *y, double *v, size_t *which);
/* Computes the point z of the shortest geodesic from x (t = 0) to y (t = 1). Far from the base point of a hyperbolic
 * factor z has more correct digits than the result of cb_exp and cb_log. CB_ERROR_DOMAIN as for cb_log. */
cb_status cb_geodesic_point(const cb_space *g, const double *x, const double *y, double t, double *z);
/* Computes w at y, the vector u at x transported in parallel along the shortest geodesic from x to y. */
cb_status cb_transport(const cb_space *g, const double *x, const double *y, const double *u, double *w);
/* Computes a Karcher mean m of n points x_i: a local minimum of sum_i w_i d(x_i, m)^2, with distances d and weights w_i
 * (weight NULL: equal weights). The minimum is found by Newton steps from the projected weighted mean, or in a
 * hyperbolic factor from the base point. In an intrinsic space it is found by the steps
 *   m <- exp_m(sum_i w_i log_m(x_i) / sum_i w_i)
 * from the first point. CB_ERROR_DOMAIN if the steps do not converge, which happens if the points are too far apart. */
cb_status cb_karcher_mean(const cb_space *g, size_t n, const double *x, const double *weight, double *mean);

/* --- isometries --- */
int cb_killing_find(const cb_space *g, const char *name); /* returns the index of a Killing field, or -1 */
void cb_killing_at(const cb_space *g, int index, const double *x, double *v); /* computes the field at x */
/* Adds <X_i(x), p>, the momentum of each Killing field X_i for a particle with momentum p at x, to momentum[i]. */
void cb_killing_momentum_add(const cb_space *g, const double *x, const double *p, double *momentum);
void cb_isometry_identity(const cb_space *g, cb_isometry *out);
/* Computes the flow of the Killing field `index` for the time s. All numbers are nan if the flow is not affine in the
 * coordinates, which happens only in intrinsic spaces. */
void cb_isometry_flow(const cb_space *g, int index, double s, cb_isometry *out);
/* Computes y, the point to which the flow of the Killing field `index` moves x in the time s, and jacobian =
 * dy/dx[embedding][embedding] (may be NULL). It works in all spaces. Without a closed form it integrates the field,
 * with an error of about 1e-13; CB_ERROR_DOMAIN if that fails. */
cb_status cb_killing_flow(const cb_space *g, int index, double s, const double *x, double *y, double *jacobian);
/* Computes the isometry x -> a(b(x)); out may be a or b. */
void cb_isometry_compose(const cb_space *g, const cb_isometry *a, const cb_isometry *b, cb_isometry *out);
void cb_isometry_inverse(const cb_space *g, const cb_isometry *a, cb_isometry *out);
void cb_isometry_point(const cb_space *g, const cb_isometry *a, const double *x, double *y);
void cb_isometry_vector(const cb_space *g, const cb_isometry *a, const double *v, double *w);
/* Computes the transvection along the geodesic from the base point to x: the isometry that moves the base point to x
 * and transports vectors in parallel along this geodesic. */
void cb_isometry_to(const cb_space *g, const double *x, cb_isometry *out);

/* --- moving origins --- */
/* Computes the coordinates in the world of a point with the coordinates x relative to an origin. In a hyperbolic factor
 * they are infinite if origin->length is more than about 700 radii of curvature. */
void cb_origin_world_point(const cb_space *g, const cb_origin *origin, const double *x, double *world);
/* The inverse: computes the coordinates relative to an origin of a point with the coordinates `world`. In a hyperbolic
 * factor it loses digits like exp(d), where d is the distance from the base point in radii of curvature. */
void cb_origin_local_point(const cb_space *g, const cb_origin *origin, const double *world, double *x);
/* Computes the distance d of two points, with the coordinates x relative to the origin a and y relative to b. It is
 * accurate at any distance of the two origins from each other and from the base point. */
cb_status cb_origin_distance(const cb_space *g, const cb_origin *a, const double *x, const cb_origin *b,
                             const double *y, double *d);

/* --- charts and plots --- */
/* Return the number of charts of a space, and a chart by its number or by its name. The charts are "polar" (its
 * coordinate a is arc length), "translation", "stereographic" and "embedding". In H^n "stereographic" is also called
 * "poincare", and in E^n "embedding" is also called "cartesian". In a product each factor has coordinates of the kind
 * of the chart. */
size_t cb_chart_count(const cb_space *g);
const cb_chart *cb_chart_at(const cb_space *g, size_t index);
const cb_chart *cb_chart_find(const cb_space *g, const char *name); /* NULL if there is none */
/* cb_chart_push computes the point x and the tangent vector v at x from coordinates q and their velocity u = dq/dt;
 * cb_chart_pull computes q and u from x and v. CB_ERROR_DOMAIN outside the chart, and in cb_chart_pull also where the
 * chart is singular, for example on the axis of polar coordinates. */
cb_status cb_chart_push(const cb_space *g, const cb_chart *chart, const double *q, const double *u, double *x,
                        double *v);
cb_status cb_chart_pull(const cb_space *g, const cb_chart *chart, const double *x, const double *v, double *q,
                        double *u);
/* Checks that a point can be computed from the coordinates q. Otherwise CB_ERROR_DOMAIN. If the coordinates are too
 * large, the text says how large they may be in this direction. */
cb_status cb_chart_check(const cb_space *g, const cb_chart *chart, const double *q);
/* Computes the velocity u[k] of a particle of mass 1 at q with the momentum p[k]. In a space with `chart` set, p is a
 * covector and u solves g u = p with the metric g; CB_ERROR_DOMAIN where g is singular. In the embedding u is p. */
cb_status cb_space_raise(const cb_space *g, const double *q, const double *p, double *u);
/* Computes the plot coordinates plot[3] of a point x and the velocity[3] of these coordinates if x has the velocity v;
 * v and velocity may both be NULL. For the plot "embedding" they are the first three coordinates of x. For
 * "stereographic" and "poincare" they are R x_i/(R + w) in each curved factor, with its last coordinate w and
 * R = 1/sqrt|curvature|, and x in flat factors; H^n becomes the ball of radius R. Missing coordinates are 0. */
void cb_plot_coordinates(const cb_space *g, const double *x, const double *v, double *plot, double *velocity);

/* All classes of spaces: the built-in ones in the order of their file names, then those of plugins; ended by NULL. */
extern const cb_space_class *const *const cb_space_classes;

CB_API_END
#endif
