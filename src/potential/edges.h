/* Where two panels meet. */
#pragma once

#include "potential/panels.h"

typedef struct cb_panel_edge {
  int end[2], panel[2]; /* end: vertices; where more than two panels meet, each with the next */
} cb_panel_edge;

/* Of n panels that are faces face[which[i]], or face[i] (which = NULL). The caller frees. CB_ERROR_MEMORY. */
cb_status cb_panel_edges(int n, const int (*face)[3], const int *which, cb_panel_edge **out, int *edges);

/* By how much the surface bends at an edge, 0 to pi; 0 where it is flat or bends inwards. */
double cb_panel_bend(const cb_panels *p, const cb_panel_edge *edge);
