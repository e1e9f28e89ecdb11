/* Connected components of a graph, by union-find (Tarjan, J. ACM 22 (1975), doi:10.1145/321879.321884). */
#ifndef CB_DYNAMICS_COMPONENTS_H
#define CB_DYNAMICS_COMPONENTS_H

/* parent[n]: forest of the elements; cb_components_start makes each its own tree. */
void cb_components_start(int n, int *parent);
void cb_components_join(int *parent, int i, int j);
/* component[n] numbered from 0 by their first elements; returns how many. component may be parent itself. */
int cb_components_number(int n, int *parent, int *component);

#endif
