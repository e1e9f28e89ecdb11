/* Ambient spaces: points, metric, distance, geodesics, isometries, Killing fields, charts, plot coordinates.
 *
 * A space is a product of at most CB_FACTOR_MAX factors, each flat or a quadric in a linear space (E3, S3, H3, H2xE
 * ...): a point is x in R^k with, for each curved factor, <x,x> = 1/curvature in the form diag(1, ..., 1, sign of
 * curvature), and a tangent vector v has <x,v> = 0. Vectors are contravariant; <u,v> = sum_a form[a] u_a v_a. A space
 * with `chart` set is used in the coordinates of that one chart instead (k = dim): points are coordinates q, momenta
 * are covectors, and the metric and the distance come with their derivatives.
 *
 * All functions are reentrant; a cb_space is immutable once made. Units: lengths in units of the scenario.
 * For users, and for authors of spaces (cb_space_class; a metric is written once on jets, curvebody/intrinsic.h).
 * Sources: Ratcliffe, Foundations of Hyperbolic Manifolds, 2nd ed. (2006), chapters 2-3, doi:10.1007/978-0-387-47322-2.
 */
#ifndef CURVEBODY_SPACE_H
#define CURVEBODY_SPACE_H

#include <curvebody/node.h>
#include <curvebody/param.h>

CB_API_BEGIN

enum { CB_DIM_MAX = 3, CB_COORD_MAX = 4, CB_FACTOR_MAX = 2, CB_KILLING_MAX = 12, CB_CHART_MAX = 6 };
/* Coordinates of a configuration space: a manifold of more dimensions than bodies live in, whose points are states of a
 * complete system (`system:` of a scenario). It has the metric of its chart, but no distances. */
enum { CB_Q_MAX = 12 };

typedef struct cb_space cb_space;
typedef struct cb_chart cb_chart;
/* Data of a space that is given only by the metric of one chart; see curvebody/intrinsic.h. */
typedef struct cb_intrinsic cb_intrinsic;

/* The moving origin of a connected component: world point = T(direction, length) R (local point), with T the
 * transvection along the unit vector `direction` at the base point and R a rotation about it. The parts are stored
 * separately because a matrix of size exp(length) would lose digits. In a product, T and R act on the hyperbolic
 * factor, and `shift` translates flat factors. In a group with a left-invariant metric the origin is the left
 * translation by the element `shift`. The origin is the identity in spaces that need no moving origin. */
typedef struct cb_origin {
  double length;
  double direction[CB_DIM_MAX];
  double rotation[CB_DIM_MAX * CB_DIM_MAX]; /* row-major, dim x dim of the factor */
  double shift[CB_DIM_MAX];                 /* per axis of the space, or per coordinate of the group */
} cb_origin;

/* One factor of a product: coordinates offset .. offset+count-1 of the embedding. */
typedef struct cb_factor {
  int offset, count;
  double curvature; /* 0: flat, then dim = count; otherwise <x,x> = 1/curvature and dim = count - 1 */
} cb_factor;

/* A Killing field X(x) = A x + b of the embedding; b is nonzero only in flat factors. Translations and boosts have unit
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

/* The object that the author of a space writes: one const object in geometries/NAME.c, called cb_space_NAME. */
typedef struct cb_space_class {
  const char *name;       /* name of the file */
  const char *title;      /* "hyperbolic space" */
  const char *doc;        /* a sentence or two */
  const cb_param *params; /* ends with a NULL name; NULL for none */
  size_t params_size;
  /* Fills dim, coordinates, factors, form, Killing fields, default chart and plot of g. */
  cb_status (*init)(cb_space *g, const void *params);
} cb_space_class;

/* A static chart: coordinates q[size] of a space. size is dim, except in the chart "embedding" of a curved space, where
 * q is x itself. metric and distance (NULL: none) are needed only for `chart:` spaces. */
struct cb_chart {
  const char *name;  /* "polar" */
  const char *alias; /* a second name that cb_chart_find takes, or NULL */
  const char *doc;
  int size;                          /* how many numbers q has */
  const char *coordinates[CB_Q_MAX]; /* their names */
  /* x(q) and, where jacobian is not NULL, dx/dq[embedding][size] (row-major). CB_ERROR_DOMAIN outside the chart. */
  cb_status (*to_point)(const cb_space *g, const double *q, double *x, double *jacobian);
  cb_status (*from_point)(const cb_space *g, const double *x, double *q);
  /* Metric g_ij [dim*dim], dg_ij/dq_l [(l*dim + i)*dim + j] and second derivatives [((m*dim + l)*dim + i)*dim + j];
   * dg and ddg may be NULL. */
  cb_status (*metric)(const cb_space *g, const double *q, double *gij, double *dg, double *ddg);
  /* Distance of q1 and q2, gradient[2*dim] and Hessian[(2*dim)^2] in (q1, q2); the last two may be NULL. At q1 = q2 the
   * derivatives do not exist: CB_ERROR_DOMAIN if they are not NULL. */
  cb_status (*distance)(const cb_space *g, const double *q1, const double *q2, double *d, double *gradient,
                        double *hessian);
  /* For a space with a hyperbolic factor, where the numbers of x(q) grow like exp(distance): the moving origin
   * (cb_origin) that moves the base point to x(q), and v[embedding], the velocity u of the coordinates transported to
   * the base point; works at any distance. NULL: by to_point. */
  cb_status (*to_origin)(const cb_space *g, const double *q, const double *u, cb_origin *origin, double *v);
  /* q of the image of the base point under an origin. NULL, or CB_ERROR_UNSUPPORTED: by from_point. */
  cb_status (*from_origin)(const cb_space *g, const cb_origin *origin, double *q);
};

struct cb_space {
  const cb_space_class *class_;
  int dim; /* dimension of the space */
  int k;   /* numbers of a point: those of the embedding, or dim in a chart */
  int n_factors;
  cb_factor factor[CB_FACTOR_MAX];
  int embedding; /* coordinates of the embedding (k, unless chart is set) */
  double form[CB_Q_MAX];
  int n_killing;
  cb_killing killing[CB_KILLING_MAX];
  int n_charts;
  cb_chart charts[CB_CHART_MAX];
  const cb_chart *chart;         /* an entry of charts, or NULL: the embedding */
  const cb_intrinsic *intrinsic; /* not NULL: there are no quadrics, and points of the embedding are q of `chart` */
  const char *plot;              /* name of the default plot: "poincare", "stereographic", "embedding" */
  void *data;                    /* data of the class, freed with free() */
};

/* Makes a space by its name from the registry; node is its map in the scenario (`name`, which is ignored, the keys of
 * its parameters, `chart`, `plot`), or a scalar or NULL for all defaults. Other keys are errors. The caller frees; a
 * space refers to itself and must not be copied. */
cb_status cb_space_create(const char *name, const cb_node *node, cb_space **out);
/* As cb_space_create, with a class that need not be in the registry, such as a space of a user's program. */
cb_status cb_space_create_class(const cb_space_class *class_, const cb_node *node, cb_space **out);
void cb_space_free(cb_space *g);

/* For init functions: a space with one factor of this dimension (2 or 3) and curvature, its charts and its Killing
 * fields by their usual names: translation_x ... in a flat factor, boost_x ... in a hyperbolic one, rotation_wx ... in
 * a sphere, then those of rotation_x, rotation_y, rotation_z that exist in this dimension. CB_ERROR_ARGUMENT for
 * another dimension. */
cb_status cb_space_init_constant(cb_space *g, int dim, double curvature);
/* As cb_space_init_constant, for a product of n factors, such as H2 x E: dim = {2, 1}, curvature = {-1, 0}. A flat
 * factor may have dimension 1. Axes are named x, y, z in the order of the dimensions. */
cb_status cb_space_init_product(cb_space *g, int n, const int *dim, const double *curvature);
/* For init functions: adds one more chart, which is copied. */
cb_status cb_space_add_chart(cb_space *g, const cb_chart *chart);

/* --- points and vectors of the embedding (all arrays of g->embedding numbers) --- */
double cb_inner(const cb_space *g, const double *u, const double *v);
/* Returns CB_OK if x is a finite point of the space: in each factor within `tolerance` (relative) of its quadric, and
 * on the right sheet of a hyperboloid. */
cb_status cb_space_check_point(const cb_space *g, const double *x, double tolerance);
/* Projects x to its quadrics and v to the tangent space at x (in place). */
void cb_space_project_point(const cb_space *g, double *x);
void cb_space_project_tangent(const cb_space *g, const double *x, double *v);
/* Computes the base point of polar and exponential charts: (0, ..., 0, R), or 0 in a flat factor. */
void cb_space_base_point(const cb_space *g, double *x);
/* Computes an orthonormal frame at x: e[dim][embedding], the standard one transported from the base point along the
 * geodesic (at the antipode of the base point, where the geodesic is not unique, any orthonormal frame). */
void cb_space_frame(const cb_space *g, const double *x, double *e);

/* Returns the geodesic distance, by chords: 2R asin(|x-y|/2R), 2R asinh(|x-y|/2R), |x-y|; root of the sum of squares
 * over factors. For distances above pi R/2 the chord |x+y| to the antipode is used, so that no digits are lost. */
double cb_distance(const cb_space *g, const double *x, const double *y);
/* Computes d with its ordinary partial derivatives in (x, y) as a function of the chords on the embedding:
 * gradient[2k], hessian[(2k)^2], either may be NULL (k: the embedding's). CB_ERROR_DOMAIN for coincident or antipodal
 * points. */
cb_status cb_distance_derivatives(const cb_space *g, const double *x, const double *y, double *d, double *gradient,
                                  double *hessian);
/* Computes y = exp_x(v), and the velocity w at y (may be NULL). */
void cb_exp(const cb_space *g, const double *x, const double *v, double *y, double *w);
/* Computes the shortest v with exp_x(v) = y; CB_ERROR_DOMAIN for antipodal points. */
cb_status cb_log(const cb_space *g, const double *x, const double *y, double *v);
/* Computes the point z at fraction t, 0 to 1, of the shortest geodesic from x to y. For points far out in a hyperbolic
 * factor this function keeps digits that a velocity at x would lose. CB_ERROR_DOMAIN as for cb_log. */
cb_status cb_geodesic_point(const cb_space *g, const double *x, const double *y, double t, double *z);
/* Transports u in parallel from x to y along the shortest geodesic, into w. */
cb_status cb_transport(const cb_space *g, const double *x, const double *y, const double *u, double *w);
/* Computes the Karcher mean of n points with weights (NULL: equal): the local minimum of sum_i w_i d(x_i, m)^2 that is
 * found by Newton steps from the projected weighted mean (in a hyperbolic factor from the base point), or in an
 * intrinsic space by steps m <- exp_m(sum_i w_i log_m(x_i) / sum_i w_i) from the first point.
 * CB_ERROR_DOMAIN if it does not converge (the points do not lie in one ball in which the mean is unique). */
cb_status cb_karcher_mean(const cb_space *g, size_t n, const double *x, const double *weight, double *mean);

/* --- isometries --- */
int cb_killing_find(const cb_space *g, const char *name); /* index, or -1 */
void cb_killing_at(const cb_space *g, int index, const double *x, double *v);
/* Adds J_i = <X_i(x), p> for every Killing field X_i to momentum[n_killing]. */
void cb_killing_momentum_add(const cb_space *g, const double *x, const double *p, double *momentum);
void cb_isometry_identity(const cb_space *g, cb_isometry *out);
/* Computes the flow of Killing field `index` for time s; nan if the flow is not affine in the coordinates (only in
 * intrinsic spaces). */
void cb_isometry_flow(const cb_space *g, int index, double s, cb_isometry *out);
/* As cb_isometry_flow, at one point of any space: y, and dy/dx[embedding*embedding] if not NULL. Integrated to about
 * 1e-13 if no closed form is known. CB_ERROR_DOMAIN if it is not found. */
cb_status cb_killing_flow(const cb_space *g, int index, double s, const double *x, double *y, double *jacobian);
/* Composes a after b; out may be either. */
void cb_isometry_compose(const cb_space *g, const cb_isometry *a, const cb_isometry *b, cb_isometry *out);
void cb_isometry_inverse(const cb_space *g, const cb_isometry *a, cb_isometry *out);
void cb_isometry_point(const cb_space *g, const cb_isometry *a, const double *x, double *y);
void cb_isometry_vector(const cb_space *g, const cb_isometry *a, const double *v, double *w);
/* Computes the transvection that moves the base point to x along their geodesic. */
void cb_isometry_to(const cb_space *g, const double *x, cb_isometry *out);

/* --- moving origins --- */
/* Converts x, a point relative to an origin, to the embedding of the world. The result is infinite if it overflows (the
 * length of the origin is beyond about 700 radii). */
void cb_origin_world_point(const cb_space *g, const cb_origin *origin, const double *x, double *world);
/* Computes the distance of x, in the frame of the origin a, from y, in the frame of b, with full accuracy at any
 * distance of the two origins. */
cb_status cb_origin_distance(const cb_space *g, const cb_origin *a, const double *x, const cb_origin *b,
                             const double *y, double *d);

/* --- charts and plots --- */
/* Charts of a space, by name: "polar" (its coordinate a is arc length), "translation", "stereographic" (in H^n
 * "poincare", found under both names), "embedding" (in E^n also "cartesian"). In a product each factor has its
 * coordinates of that kind. */
size_t cb_chart_count(const cb_space *g);
const cb_chart *cb_chart_at(const cb_space *g, size_t index);
const cb_chart *cb_chart_find(const cb_space *g, const char *name); /* NULL if there is none */
/* Converts velocity of coordinates u = dq/dt to the tangent vector v at x(q), and back. CB_ERROR_DOMAIN outside the
 * chart, and in cb_chart_pull also where the chart is singular (on the axis of polar coordinates). */
cb_status cb_chart_push(const cb_space *g, const cb_chart *chart, const double *q, const double *u, double *x,
                        double *v);
cb_status cb_chart_pull(const cb_space *g, const cb_chart *chart, const double *x, const double *v, double *q,
                        double *u);
/* Checks that coordinates q can give a point. Otherwise CB_ERROR_DOMAIN; the message says how far the coordinates may
 * go. */
cb_status cb_chart_check(const cb_space *g, const cb_chart *chart, const double *q);
/* Computes the velocity u[dim] of a momentum p of a unit mass at q: u = g^-1 p, g the metric, in a space with `chart`
 * set (p a covector, CB_ERROR_DOMAIN where the metric is singular), p itself in the embedding. */
cb_status cb_space_raise(const cb_space *g, const double *q, const double *p, double *u);
/* Computes the (three) plot coordinates of a point and its velocity; v and velocity may be NULL together. "embedding":
 * the first three coordinates of x; "stereographic" and "poincare": R x_i/(R + w) in each curved factor, the ball |.| <
 * R of H^n. */
void cb_plot_coordinates(const cb_space *g, const double *x, const double *v, double *plot, double *velocity);

/* Every class of spaces, the built-in ones by file name and then those of plugins; ended by NULL. There are similar
 * lists for bodies, integrators, bundles and shapes. */
extern const cb_space_class *const *const cb_space_classes;

CB_API_END
#endif
