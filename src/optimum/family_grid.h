/* Gaits of least cost over a grid of two numbers of the holonomy: steering. */
#pragma once

#include <curvebody/optimum.h>

/* Nodes are searched in turns, which are numbered. */
typedef struct cb_family_node {
  double cost;          /* nan where no gait was found; 0 at the identity */
  double multiplier[2]; /* d(cost) = 2 sum multiplier d(value) */
  int index;            /* negative directions of the second variation; -1: none was found */
  int first, last;      /* turns in which its gait was found, and became the cheapest so far */
  cb_gait *gait;        /* NULL at the identity, and where none was found */
} cb_family_node;

typedef struct cb_family_axis {
  int number, count; /* which number of the group, and how many values */
  const double *value;
} cb_family_axis;

/* node[count_0 count_1]: the two numbers asked, the group's others free. From what a search finds at some nodes, to
 * neighbours, outwards and then forth and back until none becomes cheaper; the cheapest that was found stays. The
 * problem's base, lower, upper, apart and starts count. CB_STEP_NO_CONVERGENCE where no gait was found at all.
 *
 * tell: after each turn of node k, which may have changed; its failure ends the turns. Nodes that have gaits were told
 * earlier, of the same problem and axes, and all that were told are given: then what follows is the same to the last digit.
 * The caller frees the gaits of nodes, in any case. */
typedef cb_status (*cb_family_grid_tell)(void *context, int k, bool changed);
cb_status cb_family_grid(const cb_optimum_problem *problem, const cb_family_axis *axis, cb_family_grid_tell tell,
                         void *context, cb_family_node *node);
