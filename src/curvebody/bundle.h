/* Principal bundles over shape space: connection, curvature, cost metric.
 *
 *   xi = g^-1 g' = -A(r) r';   B_ij = d_i A_j - d_j A_i - [A_i, A_j];   cost ds^2 = sum_ij M_ij dr_i dr_j
 * r are the n shape variables, and g is an element of the group G of the bundle. xi is the body velocity. A is the
 * connection, a matrix with dim(G) rows and the n columns A_i, B is its curvature, and M is the cost metric. d_i is the
 * derivative by r_i, and [.,.] the bracket of the algebra. Matrices are stored in row-major order. dA has the
 * derivatives d_i A, with the index i first, and ddA the second derivatives; dM and ddM are the first and second
 * derivatives of M, stored in the same way.
 * A class of bundles is one file src/bundle/models/NAME.c with one const object cb_bundle_NAME, or an object in a
 * plugin. Its author writes A and M once on jets (curvebody/jet.h), from which exact derivatives follow, or gives
 * values and derivatives in closed form.
 * For authors of bundles (cb_bundle_class; curvebody/plugin.h) and for users. Units are those of the model. The caller
 * frees every object that is created. Functions that evaluate a bundle may be called from any thread and leave no
 * memory allocated; an error text names the bundle and the shape.
 * Sources: Kelly & Murray, J. Robotic Systems 12 (1995) 417, doi:10.1002/rob.4620120607; Hatton & Choset, IEEE Trans.
 * Robotics 29 (2013) 615, doi:10.1109/TRO.2013.2251211.
 */
#ifndef CURVEBODY_BUNDLE_H
#define CURVEBODY_BUNDLE_H

#include <curvebody/expression.h>
#include <curvebody/jet.h>
#include <curvebody/lie.h>
#include <curvebody/param.h>

CB_API_BEGIN

enum { CB_SHAPE_MAX = 16 };
/* Column k of cb_bundle_class.strain belongs to flow k of the flows whose velocities at the place (x, y, z) are (x, 0,
 * 0), (0, y, 0), (0, 0, z), (0, z, y), (z, 0, x), (y, x, 0). */
enum { CB_STRAINS = 6 };

typedef struct cb_bundle cb_bundle;

/* What resists the motion of a model. CB_RESISTANCE_INERTIA: its inertia; the quadratic form of cb_bundle_class.form,
 * or the cost metric M, is then twice the kinetic energy. CB_RESISTANCE_DRAG: the drag of a viscous fluid; the form, or
 * M, is then the power that the drag dissipates. CB_RESISTANCE_ANY: the model allows both, and its user chooses. */
typedef enum cb_resistance { CB_RESISTANCE_ANY, CB_RESISTANCE_INERTIA, CB_RESISTANCE_DRAG } cb_resistance;

typedef struct cb_bundle_class {
  const char *name, *title, *doc;
  const cb_param *params;
  size_t params_size; /* bytes of the struct that `params` fills */
  /* Sets members of b, which are all 0 on entry except class_ and resistance. It must set group, n, shape and self, and
   * also every other member that must not be 0. */
  cb_status (*init)(cb_bundle *b, const void *params);
  void (*destroy)(cb_bundle *b); /* frees b->self */
  /* Computes A[dim*n] and M[n*n] (either may be NULL) as jets in the n shape variables, n <= CB_JET_MAX. NULL: the
   * class has the member `connection` instead. */
  cb_status (*on_jets)(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M);
  /* Computes A[dim*n], dA[n][dim*n], M[n*n] and dM[n][n*n]; the last three may be NULL. CB_STEP_SINGULAR at shapes
   * where A does not exist, because the inertia of the body with a locked shape has no inverse; CB_STEP_DOMAIN outside
   * the domain of the model. NULL: the library uses on_jets. */
  cb_status (*connection)(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM);
  /* Computes ddA[n][n][dim*n] and ddM[n][n][n*n]; either may be NULL. NULL: the library uses on_jets, or differences of
   * dA and dM. */
  cb_status (*second)(const cb_bundle *b, const double *r, double *ddA, double *ddM);
  /* For a model that is given by a quadratic form of (xi, r'): computes its symmetric matrix G[dim + n][dim + n], and
   * its derivatives dG[n][dim + n][dim + n] by the shape variables (may be NULL). With the blocks G = ((P, Q), (Q^T,
   * R)), A = P^-1 Q and M = R - Q^T A. P is the inertia, or the drag, of the body with a locked shape. A model with
   * drag may refuse dG with CB_ERROR_UNSUPPORTED. NULL: the model has no such form. */
  cb_status (*form)(const cb_bundle *b, const double *r, double *G, double *dG);
  cb_resistance resistance;
  /* Computes the plot coordinates x[points] of the body with shape r at the group element g. NULL: the bundle has no
   * drawing. */
  cb_status (*plot)(const cb_bundle *b, const double *r, const double *g, double (*x)[3]);
  /* For a bundle in a viscous fluid: computes S[dim][CB_STRAINS]. Column k is the velocity of the body with a locked
   * shape, on which no force acts, in the flow k of CB_STRAINS. x, y, z are coordinates in the body frame. NULL: the
   * bundle cannot be used in a flow with a gradient. */
  cb_status (*strain)(const cb_bundle *b, const double *r, double *S);
} cb_bundle_class;

struct cb_bundle {
  const cb_bundle_class *class_;
  const cb_group *group;
  int n;                           /* number of shape variables */
  cb_resistance resistance;        /* as in the class, unless `init` sets another one */
  const char *shape[CB_SHAPE_MAX]; /* [n]: names of the shape variables */
  double period[CB_SHAPE_MAX];     /* [n]: period of a shape variable that is an angle or a phase; 0: none */
  int breaks[CB_SHAPE_MAX];        /* [n]: the number of values in at[i] */
  /* at[i][breaks[i]]: the values of shape variable i where A or M is not smooth. They ascend, and are in [0, period) if
   * the variable has a period. Steps along a gait end at these values. The arrays belong to the class. */
  const double *at[CB_SHAPE_MAX];
  int points, lines;    /* numbers of points and of lines of the drawing (cb_bundle_class.plot) */
  const int (*line)[2]; /* [lines]: the two points that each line joins; the array belongs to the class */
  void *self;           /* data of the class */
  /* true: the model is in a fluid without viscosity. In such a fluid, as in a fluid with drag, the xi in P xi + Q r'
   * (blocks of cb_bundle_class.form) is the velocity relative to the fluid. */
  bool in_perfect_fluid;
};

extern const cb_bundle_class *const *const cb_bundle_classes;

/* Makes a bundle of the class with this name. node: its map in a scenario, with the keys of its parameters; a key
 * `name` is ignored. NULL: all parameters have their defaults. CB_ERROR_INPUT for an error in the map. */
cb_status cb_bundle_create(const char *name, const cb_node *node, cb_bundle **out);
/* Does the same as cb_bundle_create, with a class that need not be in cb_bundle_classes. */
cb_status cb_bundle_create_class(const cb_bundle_class *class_, const cb_node *node, cb_bundle **out);
void cb_bundle_free(cb_bundle *b);

/* Computes A[dim*n], dA[n][dim*n], M[n*n] and dM[n][n*n] at the shape r; the last three may be NULL. Errors as in
 * cb_bundle_class.connection. */
cb_status cb_bundle_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM);
/* Computes the second derivatives ddA[n][n][dim*n] and ddM[n][n][n*n] at the shape r; either may be NULL. If the class
 * has neither a closed form nor jets, they are differences of order 8. */
cb_status cb_bundle_second(const cb_bundle *b, const double *r, double *ddA, double *ddM);

/* A cost metric that replaces the metric of a bundle. It is the identity, or given by expressions; if `identity` is
 * false and `entry` is NULL, it is the bundle's own metric. The expressions `add` are added to it. */
typedef struct cb_bundle_metric {
  bool identity;
  const cb_expression *const *entry; /* [n][n], functions of the n shape variables in their order; NULL entries are 0 */
  const cb_expression *const *add;   /* [n][n] as `entry`; NULL: nothing is added */
} cb_bundle_metric;
/* Makes a bundle with the connection of b and this metric. b is borrowed and must outlive the new bundle; expressions
 * are copied. Derivatives of the metric are exact. The new bundle has no form (cb_bundle_class.form). Its evaluation
 * fails with CB_STEP_SINGULAR at a shape where M is not positive definite, with CB_ERROR_ARGUMENT where M is not
 * symmetric, and with CB_STEP_DOMAIN where M is not finite. */
cb_status cb_bundle_with_metric(const cb_bundle *b, const cb_bundle_metric *m, cb_bundle **out);

/* cb_bundle_curvature computes the curvature B[dim] for the pair i, j of shape variables; CB_ERROR_ARGUMENT if i = j.
 * cb_bundle_curvatures computes B[pairs][dim] for all pairs = n(n-1)/2 pairs i < j, in the order (0, 1), (0, 2), ...,
 * (1, 2), ... */
cb_status cb_bundle_curvature(const cb_bundle *b, const double *r, int i, int j, double *B);
cb_status cb_bundle_curvatures(const cb_bundle *b, const double *r, double *B);
/* Computes the covariant derivative of the curvature, DB[k][pair][dim] = d_k B_ij - [A_k, B_ij], with the pairs i, j of
 * cb_bundle_curvatures. */
cb_status cb_bundle_covariant(const cb_bundle *b, const double *r, double *DB);
/* Computes S[dim][CB_STRAINS] at the shape r, as in cb_bundle_class.strain, which must not be NULL. */
cb_status cb_bundle_strain(const cb_bundle *b, const double *r, double *S);
/* Computes the block P[dim][dim] of cb_bundle_class.form at the shape r. CB_ERROR_UNSUPPORTED if the model has no
 * form. */
cb_status cb_bundle_locked(const cb_bundle *b, const double *r, double *P);

CB_API_END
#endif
