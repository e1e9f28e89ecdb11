/* A chain drawn: its ends and hinges in the plane of the picture, in order, and a line a link. */
#include "bundle/chain.h"

#include <math.h>

const int cb_chain_lines[CB_CHAIN_LINKS][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4},  {4, 5},   {5, 6},
                                               {6, 7}, {7, 8}, {8, 9}, {9, 10}, {10, 11}, {11, 12}};

static void put(double x, double y, double *out) { out[0] = x, out[1] = y, out[2] = 0; }

void cb_chain_picture(const cb_chain *c, const double *r, const double *g, double (*x)[3]) {
  const int base = c->base;
  const double half = c->length[base] / 2, ux = half * cos(g[2]), uy = half * sin(g[2]);
  put(g[0] - ux, g[1] - uy, x[base]);
  put(g[0] + ux, g[1] + uy, x[base + 1]);
  double heading = g[2];
  for (int k = base + 1; k < c->links; k++) {
    heading += r[k - 1];
    put(x[k][0] + c->length[k] * cos(heading), x[k][1] + c->length[k] * sin(heading), x[k + 1]);
  }
  heading = g[2];
  for (int k = base - 1; k >= 0; k--) {
    heading -= r[k];
    put(x[k + 1][0] - c->length[k] * cos(heading), x[k + 1][1] - c->length[k] * sin(heading), x[k]);
  }
}
