/* Numbering the vertices of a graph by growing compact regions, and its connected components (reorder.h). */
#include "dynamics/reorder.h"

#include <stdlib.h>

typedef struct graph {
  int n;
  size_t *start; /* [n + 1]: where the neighbours of each vertex begin */
  int *neighbour;
} graph;

static void link_edges(graph *g, size_t m, const int *i, const int *j) {
  for (size_t e = 0; e < m; e++) {
    g->start[i[e] + 1]++;
    g->start[j[e] + 1]++;
  }
  for (int v = 0; v < g->n; v++) g->start[v + 1] += g->start[v];
  for (size_t e = 0; e < m; e++) {
    g->neighbour[g->start[i[e]]++] = j[e];
    g->neighbour[g->start[j[e]]++] = i[e];
  }
  for (int v = g->n; v > 0; v--) g->start[v] = g->start[v - 1];
  g->start[0] = 0;
}

/* Breadth-first search from `root` over vertices whose mark is `from`. The function sets their mark to `to`, fills the
 * queue, and returns the number of vertices. */
static int search(const graph *g, int root, int *mark, int from, int to, int *queue) {
  int head = 0, tail = 0;
  queue[tail++] = root;
  mark[root] = to;
  while (head < tail) {
    int v = queue[head++];
    for (size_t e = g->start[v]; e < g->start[v + 1]; e++) {
      int u = g->neighbour[e];
      if (mark[u] != from) continue;
      mark[u] = to;
      queue[tail++] = u;
    }
  }
  return tail;
}

enum { UNSEEN = -1, REACHED = -2, WAITING = -3, DONE = -4 }; /* a mark >= 0 is the number of the vertex's region */

/* Numbers the component with the mark REACHED, from root on. `count` vertices have numbers already; returns the new
 * count. frontier is a first-in first-out list of the vertices that full regions have found. */
static int grow(const graph *g, int root, int *mark, int *order, int count, int *region, int *frontier) {
  int first = 0, last = 0, head = 0, tail = 0;
  frontier[last++] = root;
  for (;;) {
    if (head == tail) { /* The region has no more neighbours: continue from the oldest waiting vertex. */
      while (first < last && mark[frontier[first]] == DONE) first++;
      if (first == last) return count;
      head = tail = 0;
      region[tail++] = frontier[first++];
      mark[region[0]] = count / CB_REORDER_REGION;
    }
    int v = region[head++], number = count / CB_REORDER_REGION;
    order[count++] = v;
    mark[v] = DONE;
    for (size_t e = g->start[v]; e < g->start[v + 1]; e++) {
      int u = g->neighbour[e];
      if (mark[u] != REACHED && mark[u] != WAITING) continue;
      mark[u] = number;
      region[tail++] = u;
    }
    if (count % CB_REORDER_REGION) continue;
    /* The region is full. Vertices that were found but not numbered wait for a later region; some are in the list
     * already. */
    for (; head < tail; head++) {
      mark[region[head]] = WAITING;
      frontier[last++] = region[head];
    }
  }
}

cb_status cb_reorder(int n, size_t m, const int *i, const int *j, int *order) {
  for (size_t e = 0; e < m; e++)
    if (i[e] < 0 || i[e] >= n || j[e] < 0 || j[e] >= n)
      return cb_fail(CB_ERROR_ARGUMENT, "edge %zu joins %d and %d: expected vertices from 0 to below %d", e, i[e], j[e],
                     n);
  size_t size = (size_t)n;
  graph g = {.n = n, .start = calloc(size + 1, sizeof *g.start), .neighbour = malloc((2 * m + 1) * sizeof(int))};
  /* A vertex enters the waiting list at most once per neighbour. */
  int *mark = malloc((size + 1) * sizeof *mark), *queue = malloc((size + 1) * sizeof *queue),
      *frontier = malloc((size + 2 * m + 1) * sizeof *frontier);
  cb_status status = CB_OK;
  if (!g.start || !g.neighbour || !mark || !queue || !frontier) {
    status = cb_fail(CB_ERROR_MEMORY, "no memory to number %d vertices", n);
  } else {
    link_edges(&g, m, i, j);
    for (int v = 0; v < n; v++) mark[v] = UNSEEN;
    int count = 0;
    for (int v = 0; v < n; v++) {
      if (mark[v] != UNSEEN) continue;
      /* The numbering starts at an end of the component: a first search finds a far vertex, and a second search from
       * there finds the end. */
      int found = search(&g, v, mark, UNSEEN, WAITING, queue);
      search(&g, queue[found - 1], mark, WAITING, REACHED, queue);
      count = grow(&g, queue[found - 1], mark, order, count, queue, frontier);
    }
  }
  free(g.start);
  free(g.neighbour);
  free(mark);
  free(queue);
  free(frontier);
  return status;
}

/* Connected components by union-find. The root of a tree is its smallest element. */

void cb_components_start(int n, int *parent) {
  for (int i = 0; i < n; i++) parent[i] = i;
}

static int root(int *parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

void cb_components_join(int *parent, int i, int j) {
  i = root(parent, i);
  j = root(parent, j);
  if (i < j)
    parent[j] = i;
  else
    parent[i] = j;
}

int cb_components_number(int n, int *parent, int *component) {
  int count = 0;
  for (int i = 0; i < n; i++) parent[i] = root(parent, i);
  /* A root comes before the other elements of its tree, so its number is known when they need it. */
  for (int i = 0; i < n; i++) {
    if (parent[i] == i)
      component[i] = count++;
    else
      component[i] = component[parent[i]];
  }
  return count;
}
