/* Gaits: closed paths in shape space, t in [0, 1].
 *
 *   fourier  r(t) = a_0 + sum_k a_k cos 2 pi k t + b_k sin 2 pi k t
 *   polygon  straight sides between corners, each taking time in proportion to its share
 *   spline   periodic cubic through points;  samples: the same at given times
 * These are closed by construction, r(1) = r(0) to the last bit. Expressions and loops of a phase may be open: then
 * they have a path in the group (cb_reconstruct), and a holonomy where what is open is whole periods of shape
 * variables.
 */
#ifndef CB_BUNDLE_GAIT_H
#define CB_BUNDLE_GAIT_H

#include "bundle/bundle.h"
#include "numerics/expression.h"

typedef struct cb_gait cb_gait;
cb_status cb_gait_fourier(int n, int harmonics, const double *mean, const double *cosine, const double *sine,
                          cb_gait **out);
cb_status cb_gait_polygon(int n, int corners, const double *r, cb_gait **out); /* r[corners][n] */
cb_status cb_gait_spline(int n, int points, const double *time, const double *r, cb_gait **out); /* time NULL: even */
/* Expressions of t (their only variable), one a shape variable, over [0, 1]; breaks as given, ascending in [0, 1), and
 * the start. Copied. CB_ERROR_ARGUMENT where they are not finite. */
cb_status cb_gait_expressions(int n, const cb_expression *const *r, int breaks, const double *at, cb_gait **out);
/* r, and the one variable r + t turn: a phase of period |turn|, or of a part of it, once round. */
cb_status cb_gait_loop(int n, int variable, const double *r, double turn, cb_gait **out);
void cb_gait_free(cb_gait *g);

int cb_gait_variables(const cb_gait *g);
/* r and r' (either may be NULL); t beyond [0, 1] as in the first period. At a break the rate is that of one side. */
void cb_gait_at(const cb_gait *g, double t, double *r, double *rate);
/* Times in [0, 1) where r' or a higher derivative jumps (corners), ascending; returns how many. */
int cb_gait_breaks(const cb_gait *g, const double **t);
/* CB_OK where r(1) = r(0), up to whole periods of shape variables that have one; CB_ERROR_ARGUMENT with the gap else.
 * */
cb_status cb_gait_closed(const cb_bundle *b, const cb_gait *g);

/* Gaits of gaits, which are copied: the same path run backwards; at t + `start`; with time t -> s(t), s(0) = 0, s(1) =
 * 1, s' > 0, an expression of t; one after the other, each in the same time (all begin at the same shape,
 * CB_ERROR_ARGUMENT else); scale[n] r + offset[n] (NULL: 1, 0). An open path goes on by r(t + 1) = r(t) + r(1) - r(0)
 * in these. */
cb_status cb_gait_reversed(const cb_gait *g, cb_gait **out);
cb_status cb_gait_shifted(const cb_gait *g, double start, cb_gait **out);
cb_status cb_gait_paced(const cb_gait *g, const cb_expression *s, cb_gait **out);
cb_status cb_gait_sequence(int count, const cb_gait *const *gaits, cb_gait **out);
cb_status cb_gait_moved(const cb_gait *g, const double *scale, const double *offset, cb_gait **out);

/* The holonomy g(1) of g' = g xi, xi = -A(r(t)) r'(t), g(0) = 1, to `error` (0: round-off), by a Magnus method of order
 * 6 on steps that end at breaks of the gait and of the bundle, halved until two agree, or until they differ by
 * round-off of A and M; and length = int sqrt(r'Mr') dt, cost = int r'Mr' dt (NULL). CB_ERROR_STEP where they do not.
 * CB_ERROR_ARGUMENT for another number of variables and for an open gait; CB_STEP_SINGULAR with the shape. */
cb_status cb_holonomy(const cb_bundle *b, const cb_gait *gait, double error, double *g, double *length, double *cost);

/* order 4 or 6 (0: 6). step 0: the gait's own, else none is longer, in the gait's time. A step and no error: the plain
 * method on such steps, none halved. */
typedef struct cb_holonomy_options {
  int order;
  double error, step;
} cb_holonomy_options;
cb_status cb_holonomy_by(const cb_bundle *b, const cb_gait *gait, const cb_holonomy_options *options, double *g,
                         double *length, double *cost);
/* The group's path at t[count], row by row of group->size; an open gait has one for t up to 1. */
cb_status cb_reconstruct(const cb_bundle *b, const cb_gait *gait, double error, int count, const double *t, double *g);
/* Corrected body velocity integral: -int int B dr dr over the loop in a plane of two variables (first order), in the
 * coordinates of the bundle as it is. CB_ERROR_ARGUMENT for a gait that closes by whole periods only. */
cb_status cb_body_velocity_integral(const cb_bundle *b, const cb_gait *gait, double *cbvi);

#endif
