/* One step of Magnus's method for the path of a group, orders 4 and 6.
 *
 *   g' = -g a(t):  g <- g exp(-W), W of the equation Y' = a(t) Y, which g^-1 solves; a at Gauss's nodes of the step
 *   order 4:  a_1, a_2 at 1/2 -+ sqrt(3)/6:   W = h (a_1 + a_2)/2 - sqrt(3)/12 h^2 [a_1, a_2]
 *   order 6:  a_1, a_2, a_3 at 1/2 - c, 1/2, 1/2 + c, c = sqrt(15)/10;
 *     p = h a_2, q = sqrt(15)/3 h (a_3 - a_1), s = 10/3 h (a_3 - 2 a_2 + a_1);
 *     C = [p, q], D = -[p, 2 s + C]/60, W = p + s/12 + [-20 p - s + C, q + D]/240
 * Source: Blanes, Casas, Oteo & Ros, Physics Reports 470 (2009) 151, doi:10.1016/j.physrep.2008.11.001, section 5.4.
 */
#pragma once

#include <curvebody/lie.h>

enum { CB_MAGNUS_NODES = 3 };

typedef struct cb_magnus {
  int order, nodes;
  double node[CB_MAGNUS_NODES], weight[CB_MAGNUS_NODES]; /* on [0, 1] */
} cb_magnus;

/* Of order 4 or 6; NULL for others. Static memory. */
const cb_magnus *cb_magnus_of(int order);

/* -W of a step of length h, a at its nodes: g <- g exp(out). */
void cb_magnus_exponent(const cb_magnus *m, const cb_group *G, double h, double (*a)[CB_GROUP_DIM], double *out);
