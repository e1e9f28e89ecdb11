/* Gaits: paths r(t) in the space of n shape variables, t in [0, 1].
 *
 *   fourier  r(t) = a_0 + sum_k (a_k cos 2 pi k t + b_k sin 2 pi k t), with the mean a_0, and the rows a_k of `cosine`
 *            and b_k of `sine`, k = 1, 2, ...
 *   polygon  straight sides between corners; the time of a side is proportional to its length
 *   spline   a periodic cubic spline through points at given times, or evenly spaced in time
 *   arcs     polynomials between given times, continuous, with corners at these times
 * These four kinds are closed: r(1) = r(0) bit for bit. A gait of expressions, and a loop (cb_gait_loop), may be open.
 * An open gait has a path in the group of a bundle (cb_reconstruct). It has a holonomy if r(1) - r(0) consists of
 * multiples of the periods of the shape variables.
 * For users. Units are those of the shape variables. A gait does not change after it was made, arrays are copied, and
 * the caller frees the gait. CB_ERROR_ARGUMENT for numbers that are not possible.
 */
#ifndef CURVEBODY_GAIT_H
#define CURVEBODY_GAIT_H

#include <curvebody/bundle.h>
#include <curvebody/expression.h>

CB_API_BEGIN

typedef struct cb_gait cb_gait;
cb_status cb_gait_fourier(int n, int harmonics, const double *mean, const double *cosine, const double *sine,
                          cb_gait **out);
/* Makes the polygon with the corners r[corners][n]. */
cb_status cb_gait_polygon(int n, int corners, const double *r, cb_gait **out);
/* Makes the periodic spline through r[points][n] at the times time[points], which ascend in [0, 1). A last point at
 * time 1 is allowed if it repeats a first point at 0. time NULL: evenly spaced times from 0 on. */
cb_status cb_gait_spline(int n, int points, const double *time, const double *r, cb_gait **out);
/* Makes a gait of arcs. Arc k is from time ends[k] to ends[k + 1], where ends[arcs + 1] ascend from 0 to 1. On this arc
 * the gait is the polynomial of degree `degree` (>= 1) through the shapes values[k][j][n], j = 0..degree, at the
 * fractions (1 - cos(pi j/degree))/2 of the arc. Up to round-off, each arc must begin at the last value of the arc
 * before it, and the first arc at the last value of the last arc. */
cb_status cb_gait_arcs(int n, int arcs, const double *ends, int degree, const double *values, cb_gait **out);
/* Makes a gait from expressions r[n] of t, their only variable, over [0, 1]. at[breaks] are the times in [0, 1), which
 * ascend, where an expression is not smooth; time 0 need not be among them. CB_ERROR_ARGUMENT if an expression is not
 * finite. */
cb_status cb_gait_expressions(int n, const cb_expression *const *r, int breaks, const double *at, cb_gait **out);
/* Makes the straight path that begins at the shape r[n] and adds `turn` to the shape variable with the index
 * `variable`. If |turn| is the period of this variable, or 1/k of it with an integer k, the gait is one cycle of a
 * motion that repeats. */
cb_status cb_gait_loop(int n, int variable, const double *r, double turn, cb_gait **out);
void cb_gait_free(cb_gait *g);

int cb_gait_variables(const cb_gait *g);
/* Computes r[n] and the derivative rate[n] = dr/dt at the time t; either may be NULL. A time outside [0, 1] is reduced
 * to the first period. At a break `rate` is the limit from one side. */
void cb_gait_at(const cb_gait *g, double t, double *r, double *rate);
/* Sets *t to the times in [0, 1), ascending, where r' or a higher derivative jumps; returns their number. */
int cb_gait_breaks(const cb_gait *g, const double **t);
/* Checks that r(1) = r(0), up to multiples of the periods of the shape variables of b; otherwise CB_ERROR_ARGUMENT. */
cb_status cb_gait_closed(const cb_bundle *b, const cb_gait *g);

/* Make a new gait from gaits r(t), which are copied:
 *   cb_gait_reversed   the path in the other direction
 *   cb_gait_shifted    r(t + start)
 *   cb_gait_paced      r(s(t)) for an expression s of t with s(0) = 0, s(1) = 1 and s' > 0
 *   cb_gait_sequence   `count` gaits one after the other, each for the time 1/count; all must begin at the same shape
 *   cb_gait_moved      scale[n] r + offset[n]; NULL stands for scale 1 or offset 0
 * All of them continue an open path by r(t + 1) = r(t) + r(1) - r(0). */
cb_status cb_gait_reversed(const cb_gait *g, cb_gait **out);
cb_status cb_gait_shifted(const cb_gait *g, double start, cb_gait **out);
cb_status cb_gait_paced(const cb_gait *g, const cb_expression *s, cb_gait **out);
cb_status cb_gait_sequence(int count, const cb_gait *const *gaits, cb_gait **out);
cb_status cb_gait_moved(const cb_gait *g, const double *scale, const double *offset, cb_gait **out);

/* Reads a gait in the shape space of b from a map of a scenario, which has one of these keys:
 *   {fourier: {mean: [0, 0], cosine: [[1, 0]], sine: [[0, 1]]}}     one row for each harmonic 1, 2, ...
 *   {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}}
 *   {spline: {points: [[..], ..], times: [..]}}                     times in [0, 1); without them: evenly spaced
 *   {samples: {points: [[..], ..], times: [..]}}                    a spline as well
 *   {arcs: {ends: [0, .., 1], points: [[[..], ..], ..]}}            one list of points for each arc
 *   {expressions: {alpha1: "cos(2*pi*t)", alpha2: "sin(2*pi*t)"}, breaks: [0.5]}
 *   {sequence: [gait, gait]}                                        one after the other, for equal times
 *   {loop: phase, at: [0, 0]}                                       one period of the shape variable `phase`
 * The map may also have the keys reversed, start, pace, offset and scale, as in the functions above. The gait may be
 * open. The keys `repeat` and `period` set *repeat (>= 1) and *period (in s); such a key is an error if the pointer is
 * NULL. CB_ERROR_INPUT for an error in the map. */
cb_status cb_gait_read(const cb_bundle *b, const cb_node *map, int *repeat, double *period, cb_gait **out);

CB_API_END
#endif
