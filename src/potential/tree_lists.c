/* What is far and what is near.
 *
 * The moments to degree p of a cell of radius a, seen from at least r, leave out a share of about (a/r)^(p + 1) of the
 * potential. Each pair of cell and group takes the lowest p at which that is below the share asked for; a cell for
 * which none up to f->order is enough is opened, a leaf of this kind is near.
 */
#include "potential/far_private.h"

#include <math.h>

/* Measured (tests/potential/test_far.c): the share per error at which it is met by densities random and smooth on spheres up to
 * 1e5 panels, where it is sharp, discs and pairs. */
static const double share = 1;
const double cb_far_opening = 0.42;

void cb_far_choose(cb_far *f, double error) {
  f->log_share = log(share * error);
  f->order = (int)ceil(f->log_share / log(cb_far_opening)) - 1;
}

/* The lowest order that leaves out less; above CB_TREE_ORDER: none. */
static int order_of(double log_share, double ratio) {
  const double order = ratio < 1 ? ceil(log_share / log(ratio)) - 1 : INFINITY;
  return order < 1 ? 1 : order > CB_TREE_ORDER ? CB_TREE_ORDER + 1 : (int)order;
}

void cb_far_find(const cb_far *f, const cb_tree_cell *points, cb_far_list *out) {
  int stack[2 * CB_TREE_LEVELS], top = 0;
  stack[top++] = 0;
  while (top) {
    const int i = stack[--top];
    const cb_tree_cell *c = &f->tree.cell[i];
    const double ratio = c->radius / cb_tree_distance(points, c->centre);
    const int order = order_of(f->log_share, ratio);
    if (order <= f->order) {
      if (out->far) out->far[out->fars] = (cb_far_cell){i, order};
      out->fars++;
    } else if (c->child) {
      stack[top++] = c->child + 1;
      stack[top++] = c->child;
    } else {
      if (out->near) out->near[out->nears] = i;
      out->nears++;
      out->panels += c->n;
    }
  }
}
