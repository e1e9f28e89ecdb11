/* The panel that a point lies on, by the tree's balls; the panels next to a group. */
#include "potential/far_private.h"

#include "numerics/vec3.h"

#include <math.h>

static double squared_distance(const double x[3], const double y[3]) {
  const double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
  return cb_dot3(d, d);
}

/* The squared distance of x from the nearest point sum_k weight_k corner_k of a triangle. */
static double nearest_point(const double corner[3][3], const double normal[3], const double x[3], double weight[3]) {
  double least = INFINITY, inner[3], sum = 0, fewest = INFINITY;
  for (int k = 0; k < 3; k++) {
    double n2[3];
    cb_normal3(x, corner[(k + 1) % 3], corner[(k + 2) % 3], n2);
    inner[k] = cb_dot3(n2, normal), sum += inner[k], fewest = fmin(fewest, inner[k]);
  }
  if (fewest >= 0) {
    const double d[3] = {x[0] - corner[0][0], x[1] - corner[0][1], x[2] - corner[0][2]}, h = cb_dot3(d, normal);
    for (int k = 0; k < 3; k++) weight[k] = inner[k] / sum;
    return h * h;
  }
  for (int k = 0; k < 3; k++) {
    const double *a = corner[k], *b = corner[(k + 1) % 3], along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
                 d[3] = {x[0] - a[0], x[1] - a[1], x[2] - a[2]},
                 t = fmin(fmax(cb_dot3(d, along) / cb_dot3(along, along), 0), 1),
                 y[3] = {a[0] + t * along[0], a[1] + t * along[1], a[2] + t * along[2]},
                 square = squared_distance(x, y);
    if (square >= least) continue;
    least = square;
    weight[k] = 1 - t, weight[(k + 1) % 3] = t, weight[(k + 2) % 3] = 0;
  }
  return least;
}

int cb_far_panel(const cb_far *f, double share, const double x[3], double weight[3]) {
  int stack[CB_TREE_LEVELS + 1] = {0}, waiting = 1, best = -1;
  double least = INFINITY;
  while (waiting > 0) {
    const cb_tree_cell *c = &f->tree.cell[stack[--waiting]];
    /* a triangle in a ball of radius 1 has an area below 1.3 */
    const double reach = c->radius * (1 + 1.14 * share);
    if (!(squared_distance(x, c->centre) <= reach * reach)) continue;
    if (c->child) {
      stack[waiting++] = c->child, stack[waiting++] = c->child + 1;
      continue;
    }
    for (int j = c->first; j < c->first + c->n; j++) {
      double at[3] = {0};
      const double square = nearest_point((const double(*)[3])f->p->corner[j], f->p->normal[j], x, at);
      if (square > share * share * f->p->area[j] || square >= least) continue;
      least = square, best = f->tree.order[j];
      for (int k = 0; k < 3; k++) weight[k] = at[k];
    }
  }
  return best;
}

/* Those that are kept lie in the order of their distances. */
int cb_far_near(const cb_far *f, int g, int most, int *numbers) {
  const cb_tree_cell *group = &f->tree.cell[f->tree.leaf[g]];
  double distance[CB_TREE_LEAF * 8];
  int n = 0;
  const int room = most < CB_TREE_LEAF * 8 ? most : CB_TREE_LEAF * 8;
  for (; n < group->n && n < room; n++) numbers[n] = f->tree.order[group->first + n], distance[n] = -1;
  for (int i = 0; i < f->list[g].nears; i++) {
    const cb_tree_cell *leaf = &f->tree.cell[f->list[g].near[i]];
    for (int j = leaf->first; j < leaf->first + leaf->n && leaf != group; j++) {
      const double d = cb_tree_distance(group, f->p->centre[j]);
      if (n == room && !(d < distance[n - 1])) continue;
      int at = n < room ? n++ : n - 1;
      for (; at > group->n && d < distance[at - 1]; at--)
        distance[at] = distance[at - 1], numbers[at] = numbers[at - 1];
      distance[at] = d, numbers[at] = f->tree.order[j];
    }
  }
  return n;
}
