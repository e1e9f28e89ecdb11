/* Functions of walls and events (cb_gap_class): their closed forms, and the functions of the builder that their files
 * use.
 *
 * A function is either a function of coordinates in the world, which is evaluated on jets (gap_coordinates.c), or a
 * length, which has closed forms in the moved frames of particles: `forms->value` is then set.
 */
#pragma once

#include "dynamics/gap.h"
#include "dynamics/system_facts.h"
#include "geometry/origin.h"
#include <curvebody/expression.h>

#include <stdbool.h>

/* Bounds on the motion of one or two particles with the speeds a and b in a time T. `squares` is a^2 + b^2,
 * `acceleration` the sum of their accelerations, and `maximum` = (a + b) T the largest possible change of a distance.
 */
typedef struct cb_gap_motion {
  double squares, acceleration, maximum;
} cb_gap_motion;

/* Functions of a wall or an event in closed form. `of` points to the parameters of the wall or event. If a member is
 * NULL, the comment of the member says what is used instead. */
typedef struct cb_gap_forms {
  /* --- functions of coordinates --- */
  const cb_chart *(*chart)(const void *of); /* the chart of the coordinates; NULL: class->chart */
  /* Computes out->gap and, for order 1, its derivatives first[n + 1] in the n coordinates and in the time t. at[n + 1 +
   * particles] has the coordinates, t and the radii. May clear out->active. NULL: the function on_jets of the class is
   * used. */
  void (*differentiate)(const void *of, int n, const double *at, int order, cb_gap_value *out, double *first);
  /* the value and its derivatives of first and second order in the first n numbers of `at`; NULL: on_jets is used */
  cb_jet (*jet)(const void *of, const double *at, int n);
  /* Returns whether the function depends on variable i of `at`. NULL: it depends on all coordinates, and on t if
   * class->timed. */
  bool (*uses)(const void *of, int i);
  /* Replaces a wall of a system by one wall for each smooth branch of its function. NULL: the function has only one
   * branch. */
  cb_status (*branches)(cb_contact_set *set, const cb_system *s, int wall);
  /* --- lengths --- */
  cb_status (*value)(cb_gaps *gaps, const cb_gap *gap, const void *of, const double *const *x, int order,
                     cb_gap_value *out);
  /* Returns the bound A of cb_gap_second_derivative_bound. s is the gap at x. */
  double (*bound)(const cb_gaps *gaps, const cb_gap *gap, const void *of, const double *const *x, double s,
                  cb_gap_motion m);
  /* marks as not conserved the momenta that the wall changes */
  void (*keep)(const cb_space *g, const void *of, cb_conserved *out);
  const double *(*centre)(const void *of); /* the point of the world from which a wall measures distances */
  double (*distance)(const void *of);      /* the distance D of an event whose function is d - D; NULL: 0 */
} cb_gap_forms;

static inline bool cb_gap_function_is_length(const cb_gap_function *f) {
  return f->class->forms && f->class->forms->value;
}
/* For a function of coordinates (not a length): returns the chart of these coordinates. NULL: they are the coordinates
 * of the embedding. */
const cb_chart *cb_gap_function_chart(const cb_space *g, const cb_gap_function *f);
/* cb_gap_function_timed returns whether a function depends on the time, and cb_gap_function_uses whether it depends on
 * coordinate i. */
bool cb_gap_function_timed(const cb_space *g, const cb_gap_function *f);
bool cb_gap_function_uses(const cb_gap_function *f, int i);
/* Computes the value of a function of coordinates, and its derivatives of first and second order in the n coordinates
 * of its particles and in the time t. at[n + 1 + particles] has the coordinates, t and the radii. The value is nan if
 * on_jets fails. */
cb_jet cb_gap_function_jet(const cb_space *g, const cb_gap_function *f, int n, const double *at);
/* Does what cb_gap_eval does, for a function f of coordinates. */
cb_status cb_gap_coordinates(const cb_gaps *gaps, const cb_gap_function *f, const cb_gap *gap, double t,
                             const double *const *x, int order, cb_gap_value *out);

/* cb_gap_distance_between computes the distance d of particle i at x from particle j at y, and for order 1 gradient[2k]
 * in (x, y). cb_gap_distance_from computes the distance of particle i at x from a point `centre` of the world, and for
 * order 1 gradient[k] in x. Returns CB_STEP_DOMAIN where the derivatives do not exist. */
cb_status cb_gap_distance_between(cb_gaps *gaps, int i, int j, const double *x, const double *y, int order, double *d,
                                  double *gradient);
cb_status cb_gap_distance_from(cb_gaps *gaps, int i, const double *x, const double *centre, int order, double *d,
                               double *gradient);

/* --- bounds of lengths (gap_second_derivative_bound.c) --- */

/* least <= 0 and greatest >= 0 bound the sectional curvatures. Every geodesic up to the length `unique` is the shortest
 * one between its ends. */
typedef struct cb_gap_curvature {
  double least, greatest, unique;
} cb_gap_curvature;

/* Finds bounds on the curvature of the space around the points p[n] (coordinates). Returns false if they are unknown.
 */
bool cb_gap_curvature_about(const cb_space *g, int n, const double *const *p, cb_gap_curvature *c);
double cb_gap_tangent(double K, double x);   /* sqrt(K) tan(sqrt(K) x), 0 for K = 0; INFINITY if sqrt(K) x >= pi/2 */
double cb_gap_cotangent(double k, double x); /* sqrt(-k) coth(sqrt(-k) x), 1/x for k = 0; INFINITY if x <= 0 */
/* Returns A if it is finite; 0 if |gap| is larger than its largest possible change `maximum`; otherwise INFINITY. */
double cb_gap_or_far(double A, double gap, double maximum);
/* Returns the bound A of cb_gap_second_derivative_bound for a gap that is the distance d of two particles at x, minus a
 * constant. With `both`, A bounds |s''|, as events need it. */
double cb_gap_pair_bound(const cb_gaps *gaps, const double *const *x, double d, double gap, cb_gap_motion m, bool both);

/* --- functions of the builder that the files of walls and events use --- */

/* Returns the contact set of a builder in *out; the set is created when it is first needed. */
cb_status cb_builder_contact_set(cb_builder *b, cb_contact_set **out);
/* Fails with CB_ERROR_UNSUPPORTED in a space without distances between points. */
cb_status cb_builder_check_distances(const cb_space *g, const char *what);

/* --- parameters of walls and events that are expressions of a particle's coordinates, of t and of its radius r --- */

typedef struct cb_gap_expression {
  const cb_node *chart_node, *value; /* nodes of the scenario; used only by cb_gap_expression_init */
  const cb_chart *chart;             /* chart of the coordinates; NULL: the embedding */
  const cb_expression *expression;   /* owned by the contact set */
  /* whole: the given expression, if `expression` is one of its branches, otherwise NULL. guard: the branch is valid
   * where this expression is >= 0; NULL: everywhere */
  const cb_expression *whole, *guard;
} cb_gap_expression;

extern const cb_gap_forms cb_gap_expression_forms;

/* The row `chart` in the tables of cb_wall_expression and cb_event_expression. */
#define CB_GAP_CHART_ROW                                                               \
  {                                                                                    \
    "chart", CB_PARAM_NODE, offsetof(cb_gap_expression, chart_node), "", "", "", NULL, \
        "chart of the coordinates; if absent, the embedding, or the space's own chart" \
  }

/* The `init` of cb_wall_expression and cb_event_expression: parses the expression. */
cb_status cb_gap_expression_init(void *params, const cb_space *space, cb_builder *b);
/* Parses an expression of the coordinates of a chart (NULL: the space's own chart, or the embedding), of the time t and
 * of the radius r. The contact set of the builder owns the expression. */
cb_status cb_gap_expression_parse(cb_builder *b, const char *chart, const char *text, cb_gap_expression *out);
