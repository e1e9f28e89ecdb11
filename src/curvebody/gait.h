/* Gaits: closed paths in shape space, t in [0, 1].
 *
 *   fourier  r(t) = a_0 + sum_k a_k cos 2 pi k t + b_k sin 2 pi k t
 *   polygon  straight sides between corners, with time shared in proportion to their lengths
 *   spline   periodic cubic spline through points; samples: the same at given times
 *   arcs     polynomials between given times, continuous, with corners there
 * a_0 is the mean, a_k and b_k are the rows of cosine and sine. These four classes are closed by construction: r(1) =
 * r(0) bit for bit. Expressions and loops of a phase may be open: then the gait has a path in the group
 * (cb_reconstruct), and it has a holonomy if r(1) - r(0) is a multiple of the periods of the shape variables.
 * For users. Units are those of the shape variables; a gait is immutable, its arrays are copied, the caller frees it.
 */
#ifndef CURVEBODY_GAIT_H
#define CURVEBODY_GAIT_H

#include <curvebody/bundle.h>
#include <curvebody/expression.h>

CB_API_BEGIN

typedef struct cb_gait cb_gait;
cb_status cb_gait_fourier(int n, int harmonics, const double *mean, const double *cosine, const double *sine,
                          cb_gait **out);
cb_status cb_gait_polygon(int n, int corners, const double *r, cb_gait **out); /* r[corners][n] */
/* Creates the spline through r[points][n] at the ascending times time[points] in [0, 1), or 1 for a last point that
 * repeats a first one at 0; time NULL: evenly spaced. */
cb_status cb_gait_spline(int n, int points, const double *time, const double *r, cb_gait **out);
/* On arc k, from time ends[k] to ends[k + 1] (arcs + 1 times from 0 to 1): the polynomial of this degree (>= 1) through
 * the values[arcs][degree + 1][n] at the times (1 - cos(pi j/degree))/2 of the arc, j = 0..degree. Each arc begins at
 * the last value of the arc before it. */
cb_status cb_gait_arcs(int n, int arcs, const double *ends, int degree, const double *values, cb_gait **out);
/* Creates a gait from expressions of t (their only variable), one per shape variable, over [0, 1]; breaks are given,
 * ascending in [0, 1); the start is added to them. Everything is copied. CB_ERROR_ARGUMENT if the expressions are not
 * finite. */
cb_status cb_gait_expressions(int n, const cb_expression *const *r, int breaks, const double *at, cb_gait **out);
/* Creates the path r[n] with t turn added to the variable number `variable`. If |turn| is the period of this variable,
 * or a fraction 1/k of it, the gait is one period of a motion that repeats. */
cb_status cb_gait_loop(int n, int variable, const double *r, double turn, cb_gait **out);
void cb_gait_free(cb_gait *g);

int cb_gait_variables(const cb_gait *g);
/* Computes r and r' (`rate`; either may be NULL) at time t; t outside [0, 1] is reduced to the first period. At a break
 * `rate` is the limit from one side. */
void cb_gait_at(const cb_gait *g, double t, double *r, double *rate);
/* Sets *t to the times in [0, 1), ascending, where r' or a higher derivative jumps; returns their number. */
int cb_gait_breaks(const cb_gait *g, const double **t);
/* Returns CB_OK if r(1) = r(0), up to multiples of the periods of the shape variables; otherwise CB_ERROR_ARGUMENT with
 * the gap. */
cb_status cb_gait_closed(const cb_bundle *b, const cb_gait *g);

/* New gaits from gaits, which are copied: the path run backwards; the path with time t + `start`; the path with time t
 * -> s(t), s(0) = 0, s(1) = 1, s' > 0, an expression of t; several gaits one after the other, all of the same duration
 * (they must all begin at the same shape, otherwise CB_ERROR_ARGUMENT); scale[n] r + offset[n] (NULL: 1, 0). These
 * functions continue an open path by r(t + 1) = r(t) + r(1) - r(0). */
cb_status cb_gait_reversed(const cb_gait *g, cb_gait **out);
cb_status cb_gait_shifted(const cb_gait *g, double start, cb_gait **out);
cb_status cb_gait_paced(const cb_gait *g, const cb_expression *s, cb_gait **out);
cb_status cb_gait_sequence(int count, const cb_gait *const *gaits, cb_gait **out);
cb_status cb_gait_moved(const cb_gait *g, const double *scale, const double *offset, cb_gait **out);

/* Reads a gait from a map of a scenario:
 *   {fourier: {mean: [0, 0], cosine: [[1, 0]], sine: [[0, 1]]}}     rows: harmonics 1, 2, ...
 *   {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}}
 *   {spline: {points: [[..], ..], times: [..]}}                     periodic; times in [0, 1), default: evenly spaced
 *   {samples: {points: [[..], ..], times: [..]}}
 *   {arcs: {ends: [0, .., 1], points: [[[..], ..], ..]}}            one list of points per arc
 *   {expressions: {alpha1: "cos(2*pi*t)", alpha2: "sin(2*pi*t)"}, breaks: [0.5]}
 *   {sequence: [gait, gait]}                                        all of the same duration
 *   {loop: phase, at: [0, 0]}                                       one period of a variable that has one
 * Each may also have the keys reversed, start, pace, offset, scale: r -> offset + scale r. The gait is in the shape
 * space of b, closed or not. repeat (>= 1) and period (s) are read if they are not NULL; otherwise these keys are
 * errors. */
cb_status cb_gait_read(const cb_bundle *b, const cb_node *map, int *repeat, double *period, cb_gait **out);

CB_API_END
#endif
