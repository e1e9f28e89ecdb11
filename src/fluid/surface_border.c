/* The border of a surface: edges of one face, how many there are, where, and which tolerance of `weld` would join them.
 *
 * Tolerances of 1, 2 and 5 times a power of ten are tried, up to a hundredth of the surface's size and a quarter of the
 * mean edge of its border, and the least of those that leave the fewest edges of one face is named.
 */
#include "fluid/surface_private.h"

#include "numerics/vec3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct border {
  const cb_surface *s;
  cb_surface_edge *edge; /* those of one face, from a to b or from b to a as the face has them */
  int n;
  bool *on; /* [vertices] */
  int *joined;
  cb_side *side;
} border;

static void end(border *b) {
  free(b->edge);
  free(b->on);
  free(b->joined);
  free(b->side);
}

static cb_status begin(const cb_surface *s, border *b) {
  int edges = 0;
  *b = (border){.s = s, .on = calloc((size_t)s->vertices, sizeof *b->on)};
  b->joined = malloc(((size_t)s->vertices + 1) * sizeof *b->joined);
  cb_status status = b->on && b->joined ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  if (!status) status = cb_surface_edges(s, &b->edge, &edges);
  for (int i = 0; i < edges && !status; i++) {
    if (b->edge[i].face[1] >= 0) continue;
    b->on[b->edge[i].a] = b->on[b->edge[i].b] = true;
    b->edge[b->n++] = b->edge[i];
  }
  if (!status && !(b->side = malloc(((size_t)b->n + 1) * sizeof *b->side)))
    status = cb_fail(CB_ERROR_MEMORY, "no memory for %d edges", b->n);
  if (status) end(b);
  return status;
}

static double length(const cb_surface *s, const cb_surface_edge *e) {
  double d[3];
  for (int i = 0; i < 3; i++) d[i] = s->x[e->b][i] - s->x[e->a][i];
  return sqrt(cb_dot3(d, d));
}

/* Does its face run from a to b? */
static bool runs(const cb_surface *s, const cb_surface_edge *e) {
  const int *c = s->face[e->face[0]];
  for (int k = 0; k < 3; k++)
    if (c[k] == e->a && c[(k + 1) % 3] == e->b) return true;
  return false;
}

static int compare(const void *a, const void *b) {
  const cb_side *p = a, *q = b;
  if (p->lo != q->lo) return p->lo < q->lo ? -1 : 1;
  return p->hi < q->hi ? -1 : p->hi > q->hi;
}

/* Joined within a tolerance: how many vertices are, and how many edges are of one face then. */
static cb_status join_within(border *b, double tolerance, int *joined, int *left) {
  cb_clusters *p = NULL;
  const cb_status status = cb_clusters_create((size_t)b->s->vertices, tolerance, &p);
  int n = 0;
  *joined = *left = 0;
  if (status) return status;
  for (int v = 0; v < b->s->vertices; v++) {
    if (!b->on[v]) continue;
    b->joined[v] = cb_clusters_add(p, v, b->s->x[v]);
    *joined += b->joined[v] != v;
  }
  cb_clusters_free(p);
  for (int i = 0; i < b->n; i++) {
    const bool forward = runs(b->s, &b->edge[i]);
    const int from = b->joined[forward ? b->edge[i].a : b->edge[i].b],
              to = b->joined[forward ? b->edge[i].b : b->edge[i].a];
    if (from != to) b->side[n++] = (cb_side){from < to ? from : to, from < to ? to : from, i, from < to};
  }
  qsort(b->side, (size_t)n, sizeof *b->side, compare);
  for (int i = 0, next; i < n; i = next) {
    next = (int)cb_sides_same(b->side, (size_t)n, (size_t)i, NULL);
    if (next != i + 2 || b->side[i].forward == b->side[i + 1].forward) *left += next - i;
  }
  return CB_OK;
}

/* Up to where a tolerance is looked for, and from where on. */
static double reach(const border *b, double *least) {
  double low[3], high[3], sum = 0, d[3];
  for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
  for (int v = 0; v < b->s->vertices; v++)
    for (int k = 0; k < 3; k++) low[k] = fmin(low[k], b->s->x[v][k]), high[k] = fmax(high[k], b->s->x[v][k]);
  for (int k = 0; k < 3; k++) d[k] = high[k] - low[k];
  for (int i = 0; i < b->n; i++) sum += length(b->s, &b->edge[i]);
  const double size = sqrt(cb_dot3(d, d));
  *least = 1e-16 * size;
  return fmin(1e-2 * size, b->n ? sum / (4 * b->n) : 0);
}

/* The tolerance of a number: 1, 2, 5, 10, 20 ... */
static double tolerance_of(int number) {
  char power[16];
  snprintf(power, sizeof power, "%de%d", (int[]){1, 2, 5}[(number + 1200) % 3], (number + 1200) / 3 - 400);
  return strtod(power, NULL);
}

/* Keeps the one that leaves fewer edges, or as many at a smaller tolerance. */
static cb_status attempt(border *b, int number, cb_surface_seam *best, int *best_number) {
  cb_surface_seam tried = {.tolerance = tolerance_of(number)};
  const cb_status status = join_within(b, tried.tolerance, &tried.vertices, &tried.left);
  const bool fewer = tried.left < best->left, smaller = tried.left == best->left && tried.tolerance < best->tolerance;
  if (!status && (fewer || smaller)) *best = tried, *best_number = number;
  return status;
}

/* From the widest in steps of two powers of ten, then about the best of these. Shapes of the program have no seams: their
 * vertices are near each other only at the tips of narrow parts, and `weld` belongs to files. */
cb_status cb_surface_seams(const cb_surface *s, cb_surface_seam *out) {
  enum { STRIDE = 6 };
  border b;
  double least;
  *out = (cb_surface_seam){.vertices = 0};
  if (cb_surface_is_shape(s)) return CB_OK;
  cb_status status = begin(s, &b);
  if (status) return status;
  out->left = b.n;
  status = join_within(&b, 0, &out->vertices, &out->left);
  const double most = reach(&b, &least);
  if (!status && out->left && most > least && least > 1e-290) {
    const int first = (int)ceil(3 * log10(least));
    int last = (int)floor(3 * log10(most)) + 1, at = last;
    while (tolerance_of(last) > most) last--;
    cb_surface_seam best = *out, widest = {.vertices = 0};
    status = join_within(&b, tolerance_of(last), &widest.vertices, &widest.left);
    const bool any = widest.vertices > out->vertices;
    for (int k = last; any && k >= first && !status; k -= STRIDE) status = attempt(&b, k, &best, &at);
    const int middle = at;
    for (int k = middle - STRIDE + 1; any && k < middle + STRIDE && !status; k++)
      if (k != middle && k <= last && (k < middle || best.left)) status = attempt(&b, k, &best, &at);
    if (!status && best.left < out->left) *out = best;
  }
  end(&b);
  return status;
}

void cb_surface_seam_text(const cb_surface_seam *seam, const char *weld, char text[CB_SURFACE_BORDER_TEXT]) {
  const bool option = weld[0] == '-';
  if (seam->tolerance > 0) {
    const int n = snprintf(text, CB_SURFACE_BORDER_TEXT, "%d vertices of borders lie within %g m of another: `%s%s%g` ",
                           seam->vertices, seam->tolerance, weld, option ? "=" : ": ", seam->tolerance);
    if (seam->left)
      snprintf(text + n, CB_SURFACE_BORDER_TEXT - (size_t)n, "joins them, and leaves %d edges of one face", seam->left);
    else
      snprintf(text + n, CB_SURFACE_BORDER_TEXT - (size_t)n, "joins them and leaves no border");
  } else {
    snprintf(text, CB_SURFACE_BORDER_TEXT, "%d vertices of borders stand at the place of another: `%s%s` joins them",
             seam->vertices, weld, option ? "" : ": true");
  }
}

/* An open surface that lies in a plane has the border of its area at least, L^2 >= 4 pi A. */
cb_status cb_surface_border_of(const cb_surface *s, int part, cb_surface_border *out) {
  border b;
  double around = 0, area = 0;
  const cb_status status = begin(s, &b);
  if (status) return status;
  *out = (cb_surface_border){.from = -1, .to = -1};
  for (int i = 0; i < b.n; i++) {
    if (s->part[b.edge[i].face[0]] != part) continue;
    if (!out->edges++) out->from = b.edge[i].a, out->to = b.edge[i].b;
    around += length(s, &b.edge[i]);
  }
  for (int f = 0; f < s->faces; f++) {
    double n[3];
    if (s->part[f] != part) continue;
    cb_area3(s->x[s->face[f][0]], s->x[s->face[f][1]], s->x[s->face[f][2]], n);
    area += sqrt(cb_dot3(n, n));
  }
  out->bulges = around * around < 12.566370614359172 * area;
  end(&b);
  return CB_OK;
}

cb_status cb_surface_border_text(const cb_surface *s, int part, const char *weld, char text[CB_SURFACE_BORDER_TEXT]) {
  cb_surface_border found;
  cb_surface_seam seam = {.vertices = 0};
  cb_status status = cb_surface_border_of(s, part, &found);
  if (!status && weld) status = cb_surface_seams(s, &seam);
  if (status) return status;
  int n = 0;
  text[0] = 0;
  if (found.from >= 0) {
    const double *x = s->x[found.from];
    n = snprintf(text, CB_SURFACE_BORDER_TEXT,
                 "%d edges are of one face, the first from vertex %d to %d at (%g, %g, %g)", found.edges,
                 s->number[found.from], s->number[found.to], x[0], x[1], x[2]);
  }
  if (seam.vertices) {
    char more[CB_SURFACE_BORDER_TEXT];
    cb_surface_seam_text(&seam, weld, more);
    snprintf(text + n, CB_SURFACE_BORDER_TEXT - (size_t)n, "%s%.*s", n ? "; " : "", CB_SURFACE_BORDER_TEXT - n - 3,
             more);
  }
  return CB_OK;
}
