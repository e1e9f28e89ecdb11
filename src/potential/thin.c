/* This file finds the panels of thin closed bodies that face each other, and places rims (equations in thin.h). A tree
 * of balls finds the panel opposite to a centre.
 */
#include "potential/thin.h"

#include "numerics/vec3.h"
#include "potential/far_private.h"
#include "potential/mesh_pieces.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Larger values of q are replaced by this value. The mean of q can then reach 2 only if q > 0 on at least a sixteenth
 * of the area. */
static const double maximum = 32;

/* A line from x along the unit vector d, which ends at `length`. */
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

/* Returns the length at which the line leaves the body through panel j, or the length of the line if it does not leave
 * there. */
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

/* Returns the first panel through which the line leaves the body, and ends the line there. Returns -1 if there is
 * none. */
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
      if (t < l->length) {
        l->length = t;
        found = j;
      }
    }
  }
  return found;
}

/* Adds the contribution of panel i to the sums in *out, sets ratio[i], and updates the panel with the largest q
 * (*worst). */
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
  const double square = cb_dot3(across, across), q = square > 0 ? fmin(square / (l.length * h), maximum) : 0;
  out->mismatch += p->area[i] * q;
  if (out->worst >= 0 && q <= *worst) return;
  *worst = q;
  out->worst = i;
  out->t = l.length;
  out->h = h;
  out->o = sqrt(square);
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

/* --- rims --- */

/* Each member is a sum over the panels at those rims that meet at a vertex, and each panel has a weight w. `direction`
 * is the sum of w times the inward direction of the panel. `distance` is the sum of w times the distance by which the
 * panel is moved, which is w CB_SHEET_REACH sqrt(area). `weight` is the sum of w.
 */
typedef struct pull {
  double direction[3], distance, weight;
} pull;

/* Sets `out` to the unit vector from the edge between a and b into a panel, perpendicular to the edge and to the
 * normal. */
static void inwards(const cb_panels *p, int panel, const double a[3], const double b[3], double out[3]) {
  double edge[3], towards[3];
  for (int k = 0; k < 3; k++) {
    edge[k] = b[k] - a[k];
    towards[k] = p->centre[panel][k] - a[k];
  }
  const double along = cb_dot3(towards, edge) / cb_dot3(edge, edge);
  for (int k = 0; k < 3; k++) out[k] = towards[k] - along * edge[k];
  const double length = sqrt(cb_dot3(out, out));
  for (int k = 0; k < 3; k++) out[k] /= length;
}

/* Returns 1 for a right angle, and 0 if the angle differs from a right angle by 45 degrees or more. */
static double share_of_bend(double bend) {
  const double s = fmax(0, 1 - fabs(bend - M_PI / 2) / (M_PI / 4));
  return s * s * (3 - 2 * s);
}

static void pull_rim(const cb_panels *p, const cb_panel_edge *e, const double *ratio, const double (*y)[3], pull *at) {
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
  for (int e = 0; e < edges && at && !status; e++) pull_rim(p, edge + e, ratio, (const double(*)[3])y, at);
  for (int v = 0; v < vertices && at && !status; v++) {
    const double *d = at[v].direction, size = fmax(cb_dot3(d, d), 0.25 * at[v].weight * at[v].weight);
    for (int k = 0; k < 3 && size > 0; k++) y[v][k] += at[v].distance / size * d[k];
  }
  const bool lost = !at;
  free(edge);
  free(at);
  return status ? status : lost ? cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", vertices) : CB_OK;
}
