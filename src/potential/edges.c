/* See potential/edges.h. */
#include "potential/edges.h"

#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>

typedef struct side {
  int a, b, panel; /* a < b */
} side;

static int compare(const void *p, const void *q) {
  const side *s = p, *t = q;
  if (s->a != t->a) return s->a < t->a ? -1 : 1;
  if (s->b != t->b) return s->b < t->b ? -1 : 1;
  return (s->panel > t->panel) - (s->panel < t->panel);
}

cb_status cb_panel_edges(int n, const int (*face)[3], const int *which, cb_panel_edge **out, int *edges) {
  const size_t sides = 3 * (size_t)n;
  side *all = malloc(sides * sizeof *all);
  cb_panel_edge *edge = malloc(sides * sizeof *edge);
  if (!all || !edge) {
    free(all);
    free(edge);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the edges of %d faces", n);
  }
  for (size_t i = 0; i < sides; i++) {
    const int *c = face[which ? which[i / 3] : (int)(i / 3)], a = c[i % 3], b = c[(i + 1) % 3];
    all[i] = (side){a < b ? a : b, a < b ? b : a, (int)(i / 3)};
  }
  qsort(all, sides, sizeof *all, compare);
  *edges = 0;
  for (size_t i = 0; i + 1 < sides; i++)
    if (all[i].a == all[i + 1].a && all[i].b == all[i + 1].b)
      edge[(*edges)++] = (cb_panel_edge){{all[i].a, all[i].b}, {all[i].panel, all[i + 1].panel}};
  free(all);
  *out = edge;
  return CB_OK;
}

double cb_panel_bend(const cb_panels *p, const cb_panel_edge *edge) {
  const int i = edge->panel[0], j = edge->panel[1];
  double d[3], cross[3];
  for (int c = 0; c < 3; c++) d[c] = p->centre[j][c] - p->centre[i][c];
  if (cb_dot3(p->normal[i], d) >= 0) return 0;
  cb_cross3(p->normal[i], p->normal[j], cross);
  return atan2(sqrt(cb_dot3(cross, cross)), cb_dot3(p->normal[i], p->normal[j]));
}
