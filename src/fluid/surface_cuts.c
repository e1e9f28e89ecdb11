/* Finds where a surface cuts itself (see fluid/surface_mesh.h).
 *
 *   plane of a face   n.(x - a) = 0, n = (b - a) × (c - a)/|..|, corners a, b, c; height of a point h = n.(x - a)
 *   line of two       D = n1 × n2, the direction of the line in which two planes meet; a face meets this line in an
 *   planes            interval of D.x, which ends at the points of the face's edges with h = 0 for the other plane
 *
 * Pairs are found by a tree of boxes. Each child has half of the faces of its node, sorted by their middles along the
 * node's longest side. */
#include "fluid/surface_mesh.h"

#include "numerics/vec3.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lengths below this share of the surface's size count as 0. */
static const double touch = 1e-7;
enum { LEAF = 4, MAX_PAIRS = 1000000, DEEPEST = 64 };

typedef struct box {
  double low[3], high[3];
} box;

typedef struct pair {
  int part[2], face[2];
  double at[3];
} pair;

typedef struct search {
  const cb_surface *s;
  double least; /* lengths below this number (in m) count as 0 */
  box *face;    /* [faces] */
  int *order;   /* [faces]: the faces in the order of the leaves of the tree, which have at most LEAF faces each */
  box *node;    /* a binary tree: the children of node i are 2 i + 1 and 2 i + 2 */
  pair *found;
  size_t n, capacity;
  bool touches; /* true: search for faces that coincide; false: search for faces that cut each other */
} search;

static box joined(box a, const box *b) {
  for (int k = 0; k < 3; k++) {
    a.low[k] = fmin(a.low[k], b->low[k]);
    a.high[k] = fmax(a.high[k], b->high[k]);
  }
  return a;
}

static bool meet(const box *a, const box *b) {
  return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] && b->low[1] <= a->high[1] &&
         a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

static box box_of(const cb_surface *s, int f) {
  const double *x = s->x[s->face[f][0]];
  box b = {{x[0], x[1], x[2]}, {x[0], x[1], x[2]}};
  for (int i = 1; i < 3; i++) {
    const double *y = s->x[s->face[f][i]];
    b = joined(b, &(box){{y[0], y[1], y[2]}, {y[0], y[1], y[2]}});
  }
  return b;
}

/* ---- two faces ---- */

typedef struct plane {
  double a[3], n[3];
  double round_off; /* round-off of a height per unit of distance */
} plane;

static bool plane_of(const cb_surface *s, int f, plane *p) {
  const int *c = s->face[f];
  double u[3], v[3];
  for (int k = 0; k < 3; k++) {
    p->a[k] = s->x[c[0]][k];
    u[k] = s->x[c[1]][k] - p->a[k];
    v[k] = s->x[c[2]][k] - p->a[k];
  }
  cb_cross3(u, v, p->n);
  double area = sqrt(cb_dot3(p->n, p->n)), sides = sqrt(cb_dot3(u, u) * cb_dot3(v, v));
  p->round_off = 16 * DBL_EPSILON * sides / area;
  if (!(p->round_off < 1)) return false;
  for (int k = 0; k < 3; k++) p->n[k] /= area;
  return true;
}

/* Finds the heights h of a face's corners above a plane. A height below round-off or q->least becomes 0. */
static void heights(const search *q, const plane *p, int f, double h[3]) {
  for (int i = 0; i < 3; i++) {
    const double *x = q->s->x[q->s->face[f][i]], d[3] = {x[0] - p->a[0], x[1] - p->a[1], x[2] - p->a[2]};
    h[i] = cb_dot3(p->n, d);
    if (fabs(h[i]) <= fmax(q->least, p->round_off * sqrt(cb_dot3(d, d)))) h[i] = 0;
  }
}

static bool below(const double h[3]) { return h[0] < 0 || h[1] < 0 || h[2] < 0; }
static bool above(const double h[3]) { return h[0] > 0 || h[1] > 0 || h[2] > 0; }
static bool straddles(const double h[3]) { return below(h) && above(h); }
static bool enters(const double h[3]) { return below(h) && !(h[0] < 0 && h[1] < 0 && h[2] < 0); }

/* Finds the interval t[0] .. t[1] of the line o + t d in which a face meets this line. x[0] and x[1] become the end
 * points. h are the heights of the corners above a plane that contains the line. */
static void interval(const cb_surface *s, int f, const double h[3], const double o[3], const double d[3], double t[2],
                     double x[2][3]) {
  t[0] = INFINITY;
  t[1] = -INFINITY;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3;
    const double *a = s->x[s->face[f][i]], *b = s->x[s->face[f][j]];
    if (h[i] != 0 && !(h[i] * h[j] < 0)) continue;
    double w = h[i] != 0 ? h[i] / (h[i] - h[j]) : 0, p[3], from[3];
    for (int k = 0; k < 3; k++) {
      p[k] = a[k] + w * (b[k] - a[k]);
      from[k] = p[k] - o[k];
    }
    double at = cb_dot3(from, d);
    if (at < t[0]) {
      t[0] = at;
      memcpy(x[0], p, sizeof p);
    }
    if (at > t[1]) {
      t[1] = at;
      memcpy(x[1], p, sizeof p);
    }
  }
}

static bool cut(const search *q, int f, int g, double at[3]) {
  const cb_surface *s = q->s;
  plane p, r;
  double hf[3], hg[3], d[3], t[2], u[2], x[2][3], y[2][3];
  if (!plane_of(s, f, &p) || !plane_of(s, g, &r)) return false;
  heights(q, &p, g, hg);
  heights(q, &r, f, hf);
  if (!(straddles(hf) && (straddles(hg) || (!s->open[s->part[f]] && enters(hg)))) &&
      !(straddles(hg) && !s->open[s->part[g]] && enters(hf)))
    return false;
  cb_cross3(p.n, r.n, d);
  double length = sqrt(cb_dot3(d, d));
  for (int k = 0; k < 3; k++) d[k] /= length;
  interval(s, f, hf, p.a, d, t, x);
  interval(s, g, hg, p.a, d, u, y);
  double from = fmax(t[0], u[0]), to = fmin(t[1], u[1]);
  if (!(to - from > q->least)) return false;
  double w = ((from + to) / 2 - t[0]) / (t[1] - t[0]);
  for (int k = 0; k < 3; k++) at[k] = x[0][k] + w * (x[1][k] - x[0][k]);
  return true;
}

/* Cuts off from the polygon x of n corners the part to the right of the side from a to b of a triangle with the normal
 * `normal`. Returns the number of corners of the remaining polygon. */
static int clip(const double a[3], const double b[3], const double normal[3], int n, double (*x)[3]) {
  double side[3], inward[3], out[8][3], h[8];
  int kept = 0;
  for (int k = 0; k < 3; k++) side[k] = b[k] - a[k];
  cb_cross3(normal, side, inward);
  for (int i = 0; i < n; i++) {
    const double d[3] = {x[i][0] - a[0], x[i][1] - a[1], x[i][2] - a[2]};
    h[i] = cb_dot3(inward, d);
  }
  for (int i = 0; i < n; i++) {
    const int j = (i + 1) % n;
    if (h[i] >= 0) memcpy(out[kept++], x[i], sizeof out[0]);
    if ((h[i] >= 0) == (h[j] >= 0)) continue;
    const double w = h[i] / (h[i] - h[j]);
    for (int k = 0; k < 3; k++) out[kept][k] = x[i][k] + w * (x[j][k] - x[i][k]);
    kept++;
  }
  memcpy(x, out, (size_t)kept * sizeof out[0]);
  return kept;
}

/* Returns whether two faces are in one plane and have more in common than a strip of negligible width. `at` becomes the
 * middle of their common area. */
static bool lie_on_each_other(const search *q, int f, int g, double at[3]) {
  const cb_surface *s = q->s;
  plane p, r;
  double h[3], x[8][3], whole[3] = {0}, round = 0;
  if (!plane_of(s, f, &p) || !plane_of(s, g, &r)) return false;
  heights(q, &p, g, h);
  if (below(h) || above(h)) return false;
  for (int i = 0; i < 3; i++) memcpy(x[i], s->x[s->face[g][i]], sizeof x[i]);
  int n = 3;
  for (int i = 0; i < 3 && n; i++) n = clip(s->x[s->face[f][i]], s->x[s->face[f][(i + 1) % 3]], p.n, n, x);
  if (n < 3) return false;
  for (int i = 1; i + 1 < n; i++) {
    double area[3];
    cb_area3(x[0], x[i], x[i + 1], area);
    for (int k = 0; k < 3; k++) whole[k] += area[k];
  }
  for (int k = 0; k < 3; k++) at[k] = 0;
  for (int i = 0; i < n; i++) {
    const double *y = x[(i + 1) % n], d[3] = {y[0] - x[i][0], y[1] - x[i][1], y[2] - x[i][2]};
    round += sqrt(cb_dot3(d, d));
    for (int k = 0; k < 3; k++) at[k] += x[i][k] / n;
  }
  return sqrt(cb_dot3(whole, whole)) > 10 * q->least * round;
}

static bool share_a_vertex(const int a[3], const int b[3]) {
  for (int i = 0; i < 3; i++)
    if (a[i] == b[0] || a[i] == b[1] || a[i] == b[2]) return true;
  return false;
}

/* ---- the tree ---- */

static double middle(const box *b, int k) { return b->low[k] + b->high[k]; }

/* Reorders face[n] so that the first `half` faces are those whose boxes have the smallest middles along axis k. */
static void halve(const box *b, int *face, int n, int half, int k) {
  for (int low = 0, high = n - 1; low < high;) {
    double pivot = middle(&b[face[low + (high - low) / 2]], k);
    int i = low, j = high;
    while (i <= j) {
      while (middle(&b[face[i]], k) < pivot) i++;
      while (middle(&b[face[j]], k) > pivot) j--;
      if (i > j) break;
      int swapped = face[i];
      face[i++] = face[j];
      face[j--] = swapped;
    }
    if (half <= j)
      high = j;
    else if (half >= i)
      low = i;
    else
      return;
  }
}

static void build(search *q, size_t at, int first, int n) {
  box b = q->face[q->order[first]];
  for (int i = 1; i < n; i++) b = joined(b, &q->face[q->order[first + i]]);
  q->node[at] = b;
  if (n <= LEAF) return;
  int k = 0;
  for (int i = 1; i < 3; i++)
    if (b.high[i] - b.low[i] > b.high[k] - b.low[k]) k = i;
  halve(q->face, q->order + first, n, n / 2, k);
  build(q, 2 * at + 1, first, n / 2);
  build(q, 2 * at + 2, first + n / 2, n - n / 2);
}

static bool keep(search *q, int f, int g, const double at[3]) {
  if (q->n == q->capacity) {
    size_t capacity = q->capacity ? 2 * q->capacity : 256;
    pair *larger = realloc(q->found, capacity * sizeof *larger);
    if (!larger) return false;
    q->found = larger;
    q->capacity = capacity;
  }
  bool turned = q->s->part[f] > q->s->part[g] || (f > g && q->s->part[f] == q->s->part[g]);
  int a = turned ? g : f, b = turned ? f : g;
  q->found[q->n++] = (pair){{q->s->part[a], q->s->part[b]}, {a, b}, {at[0], at[1], at[2]}};
  return true;
}

/* Finds the faces with higher numbers than f that cut face f or, if q->touches is set, that coincide with it. Returns
 * false if there is no memory. */
static bool look(search *q, int f) {
  struct {
    size_t at;
    int first, n;
  } stack[DEEPEST] = {{0, 0, q->s->faces}};
  for (int top = 1; top > 0;) {
    size_t at = stack[--top].at;
    int first = stack[top].first, n = stack[top].n;
    if (!meet(&q->node[at], &q->face[f])) continue;
    if (n > LEAF) {
      stack[top].at = 2 * at + 1;
      stack[top].first = first;
      stack[top++].n = n / 2;
      stack[top].at = 2 * at + 2;
      stack[top].first = first + n / 2;
      stack[top++].n = n - n / 2;
      continue;
    }
    for (int i = first; i < first + n; i++) {
      int g = q->order[i];
      double where[3];
      if (!(g > f) || !meet(&q->face[g], &q->face[f])) continue;
      const bool found = q->touches ? lie_on_each_other(q, f, g, where)
                                    : !share_a_vertex(q->s->face[f], q->s->face[g]) && cut(q, f, g, where);
      if (found && !keep(q, f, g, where)) return false;
    }
  }
  return true;
}

/* ---- all faces ---- */

static int compare(const void *a, const void *b) {
  const pair *p = a, *q = b;
  for (int k = 0; k < 2; k++)
    if (p->part[k] != q->part[k]) return p->part[k] < q->part[k] ? -1 : 1;
  for (int k = 0; k < 2; k++)
    if (p->face[k] != q->face[k]) return p->face[k] < q->face[k] ? -1 : 1;
  return 0;
}

/* Makes one cut for each pair of parts in the sorted pairs of faces. Returns NULL if there is no memory. */
static cb_surface_cut *by_parts(const search *q, int *n) {
  cb_surface_cut *cuts = malloc((q->n ? q->n : 1) * sizeof *cuts);
  *n = 0;
  for (size_t i = 0; cuts && i < q->n; i++) {
    const pair *p = &q->found[i];
    cb_surface_cut *last = *n ? &cuts[*n - 1] : NULL;
    if (last && last->part[0] == p->part[0] && last->part[1] == p->part[1]) {
      last->pairs++;
      continue;
    }
    cuts[(*n)++] =
        (cb_surface_cut){{p->part[0], p->part[1]}, 1, {p->face[0], p->face[1]}, {p->at[0], p->at[1], p->at[2]}};
  }
  return cuts;
}

static cb_status find(const cb_surface *s, bool touches, cb_surface_cut **cuts, int *n) {
  size_t nodes = 1;
  for (int maximum = s->faces; maximum > LEAF; maximum -= maximum / 2) nodes = 2 * nodes + 1;
  search q = {.s = s,
              .touches = touches,
              .face = malloc((size_t)s->faces * sizeof *q.face),
              .order = malloc((size_t)s->faces * sizeof *q.order),
              .node = malloc(nodes * sizeof *q.node)};
  cb_surface_cut *list = NULL;
  bool good = q.face && q.order && q.node;
  if (good) {
    for (int f = 0; f < s->faces; f++) {
      q.face[f] = box_of(s, f);
      q.order[f] = f;
    }
    build(&q, 0, 0, s->faces);
    for (int k = 0; k < 3; k++) q.least = fmax(q.least, touch * (q.node[0].high[k] - q.node[0].low[k]));
    for (int f = 0; f < s->faces && good && q.n < MAX_PAIRS; f++) good = look(&q, f);
    if (good && q.n) qsort(q.found, q.n, sizeof *q.found, compare);
    list = good ? by_parts(&q, n) : NULL;
  }
  free(q.face);
  free(q.order);
  free(q.node);
  free(q.found);
  if (!list) return cb_fail(CB_ERROR_MEMORY, "no memory to look for cuts of %d faces", s->faces);
  *cuts = list;
  return CB_OK;
}

cb_status cb_surface_cuts(const cb_surface *s, cb_surface_cut **cuts, int *n) { return find(s, false, cuts, n); }

/* Writes "parts 'a' and 'b' touch in ..". */
static void touch_text(const cb_surface *s, const cb_surface_cut *c, char text[CB_SURFACE_CUT_TEXT]) {
  const char *a = s->name[c->part[0]], *b = s->name[c->part[1]];
  const int n = c->part[0] == c->part[1] ? snprintf(text, CB_SURFACE_CUT_TEXT, "pieces of part '%.60s' touch", a)
                                         : snprintf(text, CB_SURFACE_CUT_TEXT, "parts '%.60s' and '%.60s' touch", a, b);
  snprintf(text + n, CB_SURFACE_CUT_TEXT - (size_t)n, " in %d pairs of faces, the first %d and %d, at (%g, %g, %g)",
           c->pairs, c->face[0] + 1, c->face[1] + 1, c->at[0], c->at[1], c->at[2]);
}

cb_status cb_surface_explain(const cb_surface *s, cb_status status) {
  char text[CB_SURFACE_CUT_TEXT], why[512];
  if ((status != CB_ERROR_DOMAIN && status != CB_ERROR_STEP) || s->curvature != 0) return status;
  snprintf(why, sizeof why, "%s", cb_error_text());
  bool known = false;
  for (int touches = 0; touches < 2 && !known; touches++) {
    cb_surface_cut *list;
    int n;
    const cb_status found = find(s, touches, &list, &n);
    if (found) return found;
    for (int i = 0; i < n && !known; i++) {
      /* In a body that is thinner than its faces resolve, faces of both sides may coincide. This is no defect of the
       * mesh. */
      if (touches && status == CB_ERROR_STEP && list[i].part[0] == list[i].part[1]) continue;
      (touches ? touch_text : cb_surface_cut_text)(s, &list[i], text);
      known = true;
    }
    free(list);
  }
  if (!known) return cb_fail(status, "%s", why);
  return cb_fail(CB_ERROR_DOMAIN,
                 "%s: expected one surface around them, or a gap between them, for the flow around the body", text);
}

void cb_surface_cut_text(const cb_surface *s, const cb_surface_cut *c, char text[CB_SURFACE_CUT_TEXT]) {
  const char *a = s->name[c->part[0]], *b = s->name[c->part[1]];
  int n = c->part[0] == c->part[1]
              ? snprintf(text, CB_SURFACE_CUT_TEXT, "part '%.60s' cuts itself", a)
              : snprintf(text, CB_SURFACE_CUT_TEXT, "parts '%.60s' and '%.60s' cut each other", a, b);
  snprintf(text + n, CB_SURFACE_CUT_TEXT - (size_t)n, " in %d pairs of faces, the first %d and %d, at (%g, %g, %g)",
           c->pairs, c->face[0] + 1, c->face[1] + 1, c->at[0], c->at[1], c->at[2]);
}
