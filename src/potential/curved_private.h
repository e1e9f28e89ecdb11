/* Geodesic panels, and what they do at a point (potential/curved.h). */
#ifndef CB_POTENTIAL_CURVED_PRIVATE_H
#define CB_POTENTIAL_CURVED_PRIVATE_H

#include "numerics/curved.h"

#include <stdbool.h>

enum { CB_CURVED_FEW = 3 };

typedef struct cb_curved_panel {
  double corner[3][4], plane[4], centre[4], flux[6]; /* flux: the mean */
  double area, size;                                 /* size: the longest side */
  double node[CB_CURVED_POINTS][4], weight[CB_CURVED_POINTS];
  double few[CB_CURVED_FEW][4], few_weight[CB_CURVED_FEW]; /* a rule of degree 2, for what is far */
} cb_curved_panel;

/* S and D (either may be NULL) at x of n panels; self: the one whose centre x is, -1: none. few: of panels so small that
 * also D of those far takes a few points where K > 0. */
void cb_curved_row(double K, int n, const cb_curved_panel *panel, bool few, const double x[4], int self, double *S,
                   double *D);

#endif
