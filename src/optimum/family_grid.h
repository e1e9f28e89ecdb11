/* Gaits of least cost over a grid of two numbers of the holonomy: steering. */
#ifndef CB_OPTIMUM_FAMILY_GRID_H
#define CB_OPTIMUM_FAMILY_GRID_H

#include <curvebody/optimum.h>

typedef struct cb_family_node {
  double cost;          /* nan where no gait was found; 0 at the identity */
  double multiplier[2]; /* d(cost) = 2 sum multiplier d(value) */
  int index;            /* negative directions of the second variation; -1: none was found */
  cb_gait *gait;        /* NULL at the identity, and where none was found */
} cb_family_node;

typedef struct cb_family_axis {
  int number, count; /* which number of the group, and how many values */
  const double *value;
} cb_family_axis;

/* node[count_0 count_1]: the two numbers asked, the group's others free. From start[k], a gait near that of node at[k],
 * to neighbours, outwards and then forth and back until none becomes cheaper; the cheapest that was found stays. The
 * problem's base, lower, upper and apart count. The caller frees the gaits of nodes. */
cb_status cb_family_grid(const cb_optimum_problem *problem, const cb_family_axis *axis, int starts, const int *at,
                         const cb_gait *const *start, cb_family_node *node);

#endif
