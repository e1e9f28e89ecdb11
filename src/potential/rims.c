/* See potential/thin.h. */
#include "potential/thin.h"

#include "numerics/vec3.h"
#include "potential/edges.h"
#include "potential/pieces.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* What a vertex is asked for: directions and distances, each by the weight of its side. */
typedef struct pull {
  double direction[3], distance, weight;
} pull;

/* The direction from an edge into a panel, at right angles to both the edge and the normal. */
static void inwards(const cb_panels *p, int panel, const double a[3], const double b[3], double out[3]) {
  double edge[3], towards[3];
  for (int k = 0; k < 3; k++) edge[k] = b[k] - a[k], towards[k] = p->centre[panel][k] - a[k];
  const double along = cb_dot3(towards, edge) / cb_dot3(edge, edge);
  for (int k = 0; k < 3; k++) out[k] = towards[k] - along * edge[k];
  const double length = sqrt(cb_dot3(out, out));
  for (int k = 0; k < 3; k++) out[k] /= length;
}

/* 1 at right angles, 0 beyond 45 degrees of them. */
static double share_of_bend(double bend) {
  const double s = fmax(0, 1 - fabs(bend - M_PI / 2) / (M_PI / 4));
  return s * s * (3 - 2 * s);
}

static void add(const cb_panels *p, const cb_panel_edge *e, const double *ratio, const double (*y)[3], pull *at) {
  const double share = share_of_bend(cb_panel_bend(p, e));
  const double *from = y[e->end[0]], *to = y[e->end[1]];
  const double edge[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
  for (int s = 0; s < 2 && share > 0; s++) {
    const int i = e->panel[s];
    const double t = ratio[i] * sqrt(p->area[i]), height = 2 * p->area[e->panel[1 - s]] / sqrt(cb_dot3(edge, edge));
    const double across = fmin(1, fmax(0, 5 * t / height - 4)), thin = fmin(1, fmax(0, 3 - 4 * ratio[i]));
    const double w = share * across * thin * (1 - ratio[i]) / (1 + 5.8 * ratio[i]);
    double d[3];
    if (!(w > 0)) continue;
    inwards(p, i, from, to, d);
    for (int v = 0; v < 2; v++) {
      pull *q = at + e->end[v];
      for (int k = 0; k < 3; k++) q->direction[k] += w * d[k];
      q->distance += w * w * CB_SHEET_REACH * sqrt(p->area[i]);
      q->weight += w;
    }
  }
}

cb_status cb_rims_place(const cb_panels *p, int n, const int (*corner)[3], const double *ratio, int vertices,
                        double (*y)[3]) {
  cb_panel_edge *edge = NULL;
  int edges;
  const cb_status status = cb_panel_edges(n, corner, NULL, &edge, &edges);
  pull *at = calloc((size_t)vertices, sizeof *at);
  for (int e = 0; e < edges && at && !status; e++) add(p, edge + e, ratio, (const double(*)[3])y, at);
  for (int v = 0; v < vertices && at && !status; v++) {
    const double *d = at[v].direction, size = fmax(cb_dot3(d, d), 0.25 * at[v].weight * at[v].weight);
    for (int k = 0; k < 3 && size > 0; k++) y[v][k] += at[v].distance / size * d[k];
  }
  const bool lost = !at;
  free(edge);
  free(at);
  return status ? status : lost ? cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", vertices) : CB_OK;
}
