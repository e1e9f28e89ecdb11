/* Functions of walls and events (cb_gap_class): their closed forms, and what their files use of the builder.
 *
 * A function is either a function of coordinates in the world, which is evaluated on jets (gap_coordinates.c), or a
 * length, which has closed forms in the moved frames of particles: `forms->value` is then set.
 */
#pragma once

#include "dynamics/gap.h"
#include "dynamics/system_facts.h"
#include "geometry/origin.h"

#include <stdbool.h>

/* Bounds on the motion of the particles of a gap: a^2 + b^2, the sum of the accelerations, (a + b) T, where a and b are
 * their speeds and T the duration. */
typedef struct cb_gap_motion {
  double squares, acceleration, maximum;
} cb_gap_motion;

/* Closed forms. `of`: the parameters of the wall or event. A NULL member is replaced as its comment says. */
typedef struct cb_gap_forms {
  /* --- functions of coordinates --- */
  const cb_chart *(*chart)(const void *of); /* the chart of the coordinates; NULL: class->chart */
  /* As on_jets at at[n + 1 + particles], which has coordinates, t and radii: the value, for order 1 also the
   * derivatives first[n + 1] in the coordinates and in t. May clear out->active. NULL: by on_jets. */
  void (*differentiate)(const void *of, int n, const double *at, int order, cb_gap_value *out, double *first);
  cb_jet (*jet)(const void *of, const double *at, int n); /* as on_jets, in n variables; NULL: by on_jets */
  /* Does the function depend on variable i of `at`? NULL: on all coordinates, and on t if class->timed. */
  bool (*uses)(const void *of, int i);
  /* Replaces a wall of a system by one wall for each smooth branch of its function. NULL: it has one. */
  cb_status (*branches)(cb_contact_set *set, const cb_system *s, int wall);
  /* --- lengths --- */
  cb_status (*value)(cb_gaps *gaps, const cb_gap *gap, const void *of, const double *const *x, int order,
                     cb_gap_value *out);
  /* The bound of cb_gap_second_derivative_bound, where the gap is s. */
  double (*bound)(const cb_gaps *gaps, const cb_gap *gap, const void *of, const double *const *x, double s,
                  cb_gap_motion m);
  void (*keep)(const cb_space *g, const void *of, cb_conserved *out); /* marks momenta that the wall changes */
  const double *(*centre)(const void *of); /* the point of the world from which a wall measures */
  double (*distance)(const void *of);      /* the distance with which an event compares; NULL: 0 */
} cb_gap_forms;

static inline bool cb_gap_function_is_length(const cb_gap_function *f) {
  return f->class->forms && f->class->forms->value;
}
/* The chart of the coordinates of a function that is not a length; NULL: those of the embedding. */
const cb_chart *cb_gap_function_chart(const cb_space *g, const cb_gap_function *f);
/* Does it depend on the time? Does it depend on coordinate i? */
bool cb_gap_function_timed(const cb_space *g, const cb_gap_function *f);
bool cb_gap_function_uses(const cb_gap_function *f, int i);
/* Value and derivatives of first and second order in n = particles*size coordinates and t, at at[n + 1 + particles]:
 * coordinates, t and radii. The value is nan if on_jets fails. */
cb_jet cb_gap_function_jet(const cb_space *g, const cb_gap_function *f, int n, const double *at);
/* The function of coordinates, as cb_gap_eval; and the bound from samples of its derivatives along the motion. */
cb_status cb_gap_coordinates(const cb_gaps *gaps, const cb_gap_function *f, const cb_gap *gap, double t,
                             const double *const *x, int order, cb_gap_value *out);
double cb_gap_coordinates_bound(const cb_gaps *gaps, const cb_gap_function *f, const cb_gap *gap, double t,
                                const double *const *x, const double *speed, const double *acceleration,
                                double duration);

/* The distance of particles i and j, for order 1 also gradient[2k]; and that of particle i from a point `centre` of the
 * world, for order 1 also gradient[k]. */
cb_status cb_gap_distance_between(cb_gaps *gaps, int i, int j, const double *x, const double *y, int order, double *d,
                                  double *gradient);
cb_status cb_gap_distance_from(cb_gaps *gaps, int i, const double *x, const double *centre, int order, double *d,
                               double *gradient);

/* --- bounds of lengths (gap_second_derivative_bound.c) --- */

/* Bounds on the sectional curvature, and the length up to which every geodesic is certainly the shortest one. */
typedef struct cb_gap_curvature {
  double least, greatest, unique;
} cb_gap_curvature;

/* Finds bounds on the curvature of the space around the points p[n] (coordinates). Returns false if they are unknown.
 */
bool cb_gap_curvature_about(const cb_space *g, int n, const double *const *p, cb_gap_curvature *c);
double cb_gap_tangent(double K, double x);   /* sqrt(K) tan(sqrt(K) x), 0 for K = 0; INFINITY if sqrt(K) x >= pi/2 */
double cb_gap_cotangent(double k, double x); /* sqrt(-k) coth(sqrt(-k) x), 1/x for k = 0 */
/* Returns A if it is finite; 0 if |gap| is larger than its largest possible change `maximum`; otherwise INFINITY. */
double cb_gap_or_far(double A, double gap, double maximum);
/* The bound for a distance d of two particles. both: for events, s'' must be bounded from both sides. */
double cb_gap_pair_bound(const cb_gaps *gaps, const double *const *x, double d, double gap, cb_gap_motion m, bool both);

/* --- for files of classes: the builder --- */

/* The contact set of a builder, created when it is first needed. */
cb_status cb_builder_contact_set(cb_builder *b, cb_contact_set **out);
/* CB_ERROR_UNSUPPORTED in a space without distances between points. */
cb_status cb_builder_check_distances(const cb_space *g, const char *what);
