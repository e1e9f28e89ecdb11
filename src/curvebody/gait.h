/* Gaits: closed paths in shape space, t in [0, 1].
 *
 *   fourier  r(t) = a_0 + sum_k a_k cos 2 pi k t + b_k sin 2 pi k t
 *   polygon  straight sides between corners, each taking time in proportion to its share
 *   spline   periodic cubic through points;  samples: the same at given times
 *   arcs     polynomials between given times, continuous, with corners there
 * These are closed by construction, r(1) = r(0) to the last bit. Expressions and loops of a phase may be open: then
 * they have a path in the group (cb_reconstruct), and a holonomy where what is open is whole periods of shape
 * variables.
 * For users. Lengths are those of the shape variables; a gait is immutable, its arrays are copied, and the caller frees
 * it.
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
cb_status cb_gait_spline(int n, int points, const double *time, const double *r, cb_gait **out); /* time NULL: even */
/* On arc k, from time ends[k] to ends[k + 1] (ends[arcs + 1] from 0 to 1), the polynomial of this degree (>= 1) through
 * values[arcs][degree + 1][n] at its times (1 - cos(pi j/degree))/2, j = 0..degree. Each begins where the last ends. */
cb_status cb_gait_arcs(int n, int arcs, const double *ends, int degree, const double *values, cb_gait **out);
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

/* From a map, as a scenario has it:
 *   {fourier: {mean: [0, 0], cosine: [[1, 0]], sine: [[0, 1]]}}     rows: harmonics 1, 2, ...
 *   {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}}
 *   {spline: {points: [[..], ..], times: [..]}}                     periodic; times in [0, 1), even where absent
 *   {samples: {points: [[..], ..], times: [..]}}
 *   {arcs: {ends: [0, .., 1], points: [[[..], ..], ..]}}            a list of points an arc
 *   {expressions: {alpha1: "cos(2*pi*t)", alpha2: "sin(2*pi*t)"}, breaks: [0.5]}
 *   {sequence: [gait, gait]}                                        each in the same time
 *   {loop: phase, at: [0, 0]}                                       a variable that has a period, once round
 * beside each: reversed, start, pace, offset, scale: r -> offset + scale r.
 * The gait in the shape space of b, closed or not. repeat (>= 1) and period (s) are read where they are not
 * NULL, and otherwise refused. */
cb_status cb_gait_read(const cb_bundle *b, const cb_node *map, int *repeat, double *period, cb_gait **out);

CB_API_END
#endif
