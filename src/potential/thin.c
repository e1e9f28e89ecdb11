/* See potential/thin.h. The panel that faces a centre is found by a tree of balls. */
#include "potential/thin.h"

#include "numerics/vec3.h"
#include "potential/far_private.h"

#include <math.h>

/* That q counts: a sixteenth of the area is enough, whatever the rest is like. */
static const double most = 32;

/* A line from x along d, of length 1, that ends at `length`. */
typedef struct line {
  const double *x;
  double d[3], length;
} line;

static bool passes(const line *l, const cb_tree_cell *ball) {
  double from[3], left = 0;
  for (int a = 0; a < 3; a++) from[a] = ball->centre[a] - l->x[a];
  const double along = fmax(0, fmin(l->length, cb_dot3(from, l->d)));
  for (int a = 0; a < 3; a++) left += pow(from[a] - along * l->d[a], 2);
  return left <= pow(ball->radius, 2) * (1 + 1e-12);
}

/* Where the line leaves the body through a panel; its length where it does not. */
static double exit_of(const line *l, const cb_panels *p, int j) {
  const double across = cb_dot3(l->d, p->normal[j]), least = -1e-12 * p->area[j];
  double to[3], at[3], n2[3];
  if (across <= 0) return l->length;
  for (int a = 0; a < 3; a++) to[a] = p->centre[j][a] - l->x[a];
  const double t = cb_dot3(to, p->normal[j]) / across;
  if (!(t >= 0 && t < l->length)) return l->length;
  for (int a = 0; a < 3; a++) at[a] = l->x[a] + t * l->d[a];
  for (int k = 0; k < 3; k++) {
    cb_normal3(p->corner[j][k], p->corner[j][(k + 1) % 3], at, n2);
    if (cb_dot3(n2, p->normal[j]) < least) return l->length;
  }
  return t;
}

/* The panel that the line leaves the body through first, where it then ends; -1: none. */
static int facing(const cb_panel_tree *tree, const cb_panels *p, int self, line *l) {
  int stack[CB_TREE_LEVELS + 2] = {0}, found = -1;
  for (int top = 1; top > 0;) {
    const cb_tree_cell *c = &tree->cell[stack[--top]];
    if (!passes(l, c)) continue;
    if (c->child) {
      stack[top++] = c->child;
      stack[top++] = c->child + 1;
      continue;
    }
    for (int i = c->first; i < c->first + c->n; i++) {
      const int j = tree->order[i];
      const double t = j == self ? l->length : exit_of(l, p, j);
      if (t < l->length) l->length = t, found = j;
    }
  }
  return found;
}

/* Adds what panel i has of the sums. */
static void add(const cb_panel_tree *tree, const cb_panels *p, int i, double *ratio, double *worst, cb_thickness *out) {
  const double h = sqrt(p->area[i]);
  line l = {.x = p->centre[i], .length = h};
  double between[3], across[3];
  for (int a = 0; a < 3; a++) l.d[a] = -p->normal[i][a];
  const int j = facing(tree, p, i, &l);
  const double x = j < 0 ? 1 : l.length / h;
  out->mean += p->area[i] * x;
  if (ratio) ratio[i] = x;
  if (j < 0) return;
  for (int a = 0; a < 3; a++) between[a] = p->centre[j][a] - p->centre[i][a];
  cb_cross3(between, p->normal[i], across);
  const double square = cb_dot3(across, across), q = square > 0 ? fmin(square / (l.length * h), most) : 0;
  out->mismatch += p->area[i] * q;
  if (out->worst >= 0 && q <= *worst) return;
  *worst = q;
  out->worst = i;
  out->t = l.length, out->h = h, out->o = sqrt(square);
}

cb_status cb_thickness_find(const cb_panels *p, int n, double *ratio, cb_thickness *out) {
  cb_arena *arena = cb_arena_create();
  cb_panel_tree tree;
  if (!arena || !cb_tree_build(arena, n, (const double(*)[3])p->centre, CB_TREE_LEAF, &tree)) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the thickness of %d panels", n);
  }
  cb_far_balls(&tree, p);
  cb_thickness found = {.worst = -1};
  double area = 0, worst = 0;
  for (int i = 0; i < n; i++) {
    add(&tree, p, i, ratio, &worst, &found);
    area += p->area[i];
  }
  found.mean /= area;
  found.mismatch /= area;
  cb_arena_free(arena);
  *out = found;
  return CB_OK;
}
