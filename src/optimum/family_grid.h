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

/* What a grid came to so far: of its searches, numbered in their order, those that changed a node. */
typedef struct cb_family_search {
  int number, node;
  double cost;
} cb_family_search;

typedef struct cb_family_log {
  int searches, count;
  const cb_family_search *search; /* [count] */
  const cb_family_node *node;
} cb_family_log;

/* tell: after each search; its failure ends them. known: of the same problem and axes as it was told earlier, so that what
 * follows is the same to the last digit; NULL: none. Its gaits become the grid's, and are NULL then. */
typedef struct cb_family_grid_watch {
  cb_status (*tell)(void *context, const cb_family_log *so_far);
  void *context;
  int searches, count;
  const cb_family_search *search;
  cb_family_node *node;
} cb_family_grid_watch;

/* node[count_0 count_1]: the two numbers asked, the group's others free. From what a search finds at some nodes, to
 * neighbours, outwards and then forth and back until none becomes cheaper; the cheapest that was found stays. The
 * problem's base, lower, upper, apart and starts count. CB_STEP_NO_CONVERGENCE where no gait was found at all. watch may
 * be NULL. The caller frees the gaits of nodes, in any case. */
cb_status cb_family_grid(const cb_optimum_problem *problem, const cb_family_axis *axis,
                         const cb_family_grid_watch *watch, cb_family_node *node);

#endif
