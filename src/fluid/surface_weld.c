/* Joins vertices that are at the same place, or within a tolerance of each other; and finds the tolerance that would
 * close the border of a surface (below).
 *
 * Vertices are taken in order. A vertex joins the first kept vertex within the tolerance; if there is none, the vertex
 * is kept. Kept vertices are therefore more than the tolerance apart. Neighbours are found in a grid of cells twice as
 * wide as the tolerance; with a tolerance of 0 the coordinates are compared. */
#include "fluid/surface_mesh.h"
#include "numerics/mesh.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

/* Positions that are added one after another. For each one, the first earlier position at the same place, or within the
 * tolerance, is found. */
typedef struct clusters {
  double tolerance;
  cb_distinct distinct; /* used for a tolerance of 0 */
  double (*x)[3];       /* [kept]: the position of each kept vertex */
  int *first;           /* [kept]: the number of each kept vertex */
  /* The grid. head: the last vertex kept in a cell; next: the vertex kept before it in the same cell; -1: none. */
  int *head, *next;
  size_t kept, mask;
} clusters;

static void clusters_free(clusters *p) {
  if (!p) return;
  cb_distinct_end(&p->distinct);
  free(p->x);
  free(p->first);
  free(p->head);
  free(p->next);
  free(p);
}

static cb_status clusters_create(size_t maximum, double tolerance, clusters **out) {
  size_t capacity = 16;
  while (capacity < 2 * maximum) capacity *= 2;
  clusters *p = calloc(1, sizeof *p);
  if (!p) return cb_fail(CB_ERROR_MEMORY, "no memory for positions of vertices");
  *p = (clusters){.tolerance = tolerance,
                  .x = malloc((maximum + 1) * sizeof *p->x),
                  .first = malloc((maximum + 1) * sizeof *p->first),
                  .mask = capacity - 1};
  if (tolerance > 0) {
    p->head = malloc(capacity * sizeof *p->head);
    p->next = malloc((maximum + 1) * sizeof *p->next);
  }
  cb_status status = p->x && p->first && (!(tolerance > 0) || (p->head && p->next))
                         ? CB_OK
                         : cb_fail(CB_ERROR_MEMORY, "no memory for %zu positions of vertices", maximum);
  if (!status && tolerance > 0) memset(p->head, 0xff, capacity * sizeof *p->head);
  if (!status && !(tolerance > 0)) status = cb_distinct_begin(&p->distinct, maximum, p->x);
  if (status)
    clusters_free(p);
  else
    *out = p;
  return status;
}

static size_t bucket(const clusters *p, const double cell[3]) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (int k = 0; k < 3; k++) {
    const double at = cell[k] + 0.0; /* turns -0 into 0 */
    uint64_t bits;
    memcpy(&bits, &at, sizeof bits);
    h = (h ^ bits) * UINT64_C(0x100000001b3);
    h ^= h >> 29;
  }
  return (h ^ h >> 32) & p->mask;
}

/* Returns the first kept vertex within the tolerance of x; -1: there is none. Cells are twice as wide as the tolerance,
 * so that such vertices are in the cell of x or in its neighbours on the sides that are nearer to x. */
static int find_near(const clusters *p, const double x[3], const double cell[3]) {
  double side[3];
  int found = -1;
  for (int k = 0; k < 3; k++) side[k] = x[k] / (2 * p->tolerance) - cell[k] < 0.5 ? -1 : 1;
  for (int i = 0; i < 8; i++) {
    const double beside[3] = {cell[0] + (i & 1) * side[0], cell[1] + (i >> 1 & 1) * side[1],
                              cell[2] + (i >> 2) * side[2]};
    for (int q = p->head[bucket(p, beside)]; q >= 0; q = p->next[q]) {
      const double *y = p->x[q], d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
      if ((found < 0 || q < found) && sqrt(cb_dot3(d, d)) <= p->tolerance) found = q;
    }
  }
  return found;
}

/* Adds the vertex with this number at x. Returns the number of the first vertex at that place, or within the tolerance.
 */
static int clusters_add(clusters *p, int number, const double x[3]) {
  if (!(p->tolerance > 0)) {
    const size_t before = p->distinct.n;
    const int place = cb_distinct_add(&p->distinct, x);
    if (p->distinct.n > before) p->first[place] = number;
    return p->first[place];
  }
  const double width = 2 * p->tolerance, cell[3] = {floor(x[0] / width), floor(x[1] / width), floor(x[2] / width)};
  const int found = find_near(p, x, cell);
  if (found >= 0) return p->first[found];
  const size_t at = bucket(p, cell);
  memcpy(p->x[p->kept], x, sizeof *p->x);
  p->first[p->kept] = number;
  p->next[p->kept] = p->head[at];
  p->head[at] = (int)p->kept++;
  return number;
}

void cb_mesh_renumber(cb_mesh *m, const int *first) {
  size_t kept = 0;
  for (size_t f = 0; f < m->n_triangles; f++) {
    const int *c = m->triangles[f], v[3] = {first[c[0]], first[c[1]], first[c[2]]};
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
    memcpy(m->triangles[kept], v, sizeof v);
    if (m->n_groups) m->groups[kept] = m->groups[f];
    kept++;
  }
  m->n_triangles = kept;
}

cb_status cb_weld(cb_mesh *m, double tolerance, int *first) {
  clusters *p = NULL;
  const cb_status status = clusters_create(m->n_vertices, tolerance, &p);
  if (status) return status;
  for (size_t i = 0; i < m->n_vertices; i++) first[i] = -1;
  for (size_t f = 0; f < m->n_triangles; f++)
    for (int k = 0; k < 3; k++) first[m->triangles[f][k]] = 0;
  for (size_t i = 0; i < m->n_vertices; i++) first[i] = first[i] < 0 ? (int)i : clusters_add(p, (int)i, m->vertices[i]);
  clusters_free(p);
  cb_mesh_renumber(m, first);
  return CB_OK;
}

int cb_surface_torn(const cb_surface *s, const double (*listed)[3]) {
  const double within = ((const cb_surface_owned *)s)->mended.tolerance;
  for (int i = 0; i < s->listed; i++) {
    if (s->vertex[i] < 0) continue;
    const double *a = listed[i], *b = listed[s->number[s->vertex[i]] - 1];
    if (!(hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]) <= within)) return i;
  }
  return -1;
}

/* The border of a surface: how many edges have one face, where they are, and which tolerance of `weld` would join them.
 *
 * The search tries 0 and tolerances of 1, 2 and 5 times a power of ten, up to the smaller one of a hundredth of the
 * surface's size and a quarter of the mean edge of its border. The result is the smallest tolerance among those that
 * leave the fewest edges with one face.
 */

typedef struct border {
  const cb_surface *s;
  cb_surface_edge *edge; /* edges with one face; the face runs from a to b or from b to a */
  int n;
  bool *on; /* [vertices]: the vertex is on the border */
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

/* Returns whether the face of the border edge e runs from e->a to e->b. */
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

/* Joins border vertices within a tolerance. *joined becomes the number of joined vertices, *left the number of edges
 * that then have only one face. */
static cb_status join_within(border *b, double tolerance, int *joined, int *left) {
  clusters *p = NULL;
  const cb_status status = clusters_create((size_t)b->s->vertices, tolerance, &p);
  int n = 0;
  *joined = *left = 0;
  if (status) return status;
  for (int v = 0; v < b->s->vertices; v++) {
    if (!b->on[v]) continue;
    b->joined[v] = clusters_add(p, v, b->s->x[v]);
    *joined += b->joined[v] != v;
  }
  clusters_free(p);
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

/* Returns the largest tolerance that is tried; *least becomes the smallest one. */
static double reach(const border *b, double *least) {
  double low[3], high[3], sum = 0, d[3];
  for (int k = 0; k < 3; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
  }
  for (int v = 0; v < b->s->vertices; v++)
    for (int k = 0; k < 3; k++) {
      low[k] = fmin(low[k], b->s->x[v][k]);
      high[k] = fmax(high[k], b->s->x[v][k]);
    }
  for (int k = 0; k < 3; k++) d[k] = high[k] - low[k];
  for (int i = 0; i < b->n; i++) sum += length(b->s, &b->edge[i]);
  const double size = sqrt(cb_dot3(d, d));
  *least = 1e-16 * size;
  return fmin(1e-2 * size, b->n ? sum / (4 * b->n) : 0);
}

/* Returns the tolerance that has this number: 1, 2, 5, 10 .. for the numbers 0, 1, 2, 3 .., and .5, .2 .. for -1, -2 ..
 */
static double tolerance_of(int number) {
  char power[16];
  snprintf(power, sizeof power, "%de%d", (int[]){1, 2, 5}[(number + 1200) % 3], (number + 1200) / 3 - 400);
  return strtod(power, NULL);
}

/* Tries the tolerance with this number. The result becomes *best if fewer edges with one face remain than in *best, or
 * if as many remain and the tolerance is smaller. */
static cb_status attempt(border *b, int number, cb_surface_seam *best, int *best_number) {
  cb_surface_seam tried = {.tolerance = tolerance_of(number)};
  const cb_status status = join_within(b, tried.tolerance, &tried.vertices, &tried.left);
  const bool fewer = tried.left < best->left, smaller = tried.left == best->left && tried.tolerance < best->tolerance;
  if (!status && (fewer || smaller)) {
    *best = tried;
    *best_number = number;
  }
  return status;
}

/* Tries tolerances from the widest one in steps of a factor of 100, and then the tolerances next to the best one.
 * In a shape of bodies/shapes nothing is searched: its vertices are close to each other only at the tips of narrow
 * parts, and the key `weld`, which joins vertices, is only for files. */
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
  const double maximum = reach(&b, &least);
  if (!status && out->left && maximum > least && least > 1e-290) {
    const int first = (int)ceil(3 * log10(least));
    int last = (int)floor(3 * log10(maximum)) + 1, at = last;
    while (tolerance_of(last) > maximum) last--;
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
    const int n =
        snprintf(text, CB_SURFACE_BORDER_TEXT, "%d border vertices are within %g m of another vertex: `%s%s%g` ",
                 seam->vertices, seam->tolerance, weld, option ? "=" : ": ", seam->tolerance);
    if (seam->left)
      snprintf(text + n, CB_SURFACE_BORDER_TEXT - (size_t)n, "joins them, and leaves %d edges with one face",
               seam->left);
    else
      snprintf(text + n, CB_SURFACE_BORDER_TEXT - (size_t)n, "joins them and leaves no border");
  } else {
    snprintf(text, CB_SURFACE_BORDER_TEXT,
             "%d border vertices are at the same place as another vertex: `%s%s` joins them", seam->vertices, weld,
             option ? "" : ": true");
  }
}

/* Finds the border of a part. The part bulges if its area A and the length L of its border have L^2 < 4 pi A, which is
 * impossible for a plane part. */
cb_status cb_surface_border_of(const cb_surface *s, int part, cb_surface_border *out) {
  border b;
  double around = 0, area = 0;
  const cb_status status = begin(s, &b);
  if (status) return status;
  *out = (cb_surface_border){.from = -1, .to = -1};
  for (int i = 0; i < b.n; i++) {
    if (s->part[b.edge[i].face[0]] != part) continue;
    if (!out->edges++) {
      out->from = b.edge[i].a;
      out->to = b.edge[i].b;
    }
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
    n = snprintf(text, CB_SURFACE_BORDER_TEXT, "%d edges have one face, the first from vertex %d to %d at (%g, %g, %g)",
                 found.edges, s->number[found.from], s->number[found.to], x[0], x[1], x[2]);
  }
  if (seam.vertices) {
    char more[CB_SURFACE_BORDER_TEXT];
    cb_surface_seam_text(&seam, weld, more);
    snprintf(text + n, CB_SURFACE_BORDER_TEXT - (size_t)n, "%s%.*s", n ? "; " : "", CB_SURFACE_BORDER_TEXT - n - 3,
             more);
  }
  return CB_OK;
}
