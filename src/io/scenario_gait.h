/* The kinds of gaits that a scenario can name, for `gait:` itself and for the parts of a sequence.
 *
 *   {fourier: {mean: [0, 0], cosine: [[1, 0]], sine: [[0, 1]]}}     rows: harmonics 1, 2, ...
 *   {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}}
 *   {spline: {points: [[..], ..], times: [..]}}                     periodic; times in [0, 1), even where absent
 *   {samples: {points: [[..], ..], times: [..]}}
 *   {expressions: {alpha1: "cos(2*pi*t)", alpha2: "sin(2*pi*t)"}, breaks: [0.5]}
 *   {sequence: [gait, gait]}                                        each in the same time
 *   {loop: phase, at: [0, 0]}                                       a variable that has a period, once round
 * beside each: reversed, start, pace, offset, scale: r -> offset + scale r.
 */
#ifndef CB_IO_SCENARIO_GAIT_H
#define CB_IO_SCENARIO_GAIT_H

#include "bundle/gait.h"
#include <curvebody/param.h>

/* The gait of a map in the shape space of b, closed or not. repeat (>= 1) and period (s) are read where they are not
 * NULL, and otherwise refused. */
cb_status cb_gait_read(const cb_bundle *b, const cb_node *map, int *repeat, double *period, cb_gait **out);

/* n numbers, one a shape variable; what: "start", for messages. */
cb_status cb_gait_read_shape(const cb_bundle *b, const cb_node *list, const char *what, double *r);

extern const cb_param cb_gait_table[]; /* its keys, for `curvebody list` and the resolved scenario */

#endif
