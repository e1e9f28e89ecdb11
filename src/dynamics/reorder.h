/* A numbering of the vertices of a graph in which neighbours have near numbers.
 *
 * Regions of CB_REORDER_REGION vertices are grown breadth first, each from the oldest unnumbered neighbour of the
 * regions before it: C. Farhat, A simple and efficient automatic FEM domain decomposer, Comput. Struct. 28 (1988) 579,
 * doi:10.1016/0045-7949(88)90004-1. Inside a region we use the order of E. Cuthill and J. McKee, Proc. 24th ACM Nat.
 * Conf. (1969) 157, doi:10.1145/800195.805928. A region of a mesh or lattice is compact, so few edges leave it, and its
 * positions, forces and springs stay in a core's cache. A Cuthill-McKee order of the complete graph is worse, because
 * its levels grow with the mesh.
 */
#pragma once

#include <curvebody/status.h>

#include <stddef.h>

enum { CB_REORDER_REGION = 4096 };

/* Sets order[new] = old for the n vertices of the graph with m edges (i[e], j[e]). Vertices are in 0 .. n-1; loops and
 * repeated edges are allowed. Connected components stay together, in the order of their lowest vertices. The result
 * depends on the arguments only. CB_ERROR_ARGUMENT for a vertex outside this range, CB_ERROR_MEMORY. */
cb_status cb_reorder(int n, size_t m, const int *i, const int *j, int *order);

/* Connected components of a graph, by union-find (Tarjan, J. ACM 22 (1975), doi:10.1145/321879.321884). */

/* parent[n] is the forest of the elements. cb_components_start makes each element a tree of its own, and
 * cb_components_join joins the trees of i and j. */
void cb_components_start(int n, int *parent);
void cb_components_join(int *parent, int i, int j);
/* Sets component[n] to the number of each element's component, counted from 0 in the order of their first elements, and
 * returns the number of components. component may be parent itself. */
int cb_components_number(int n, int *parent, int *component);
