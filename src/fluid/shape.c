/* Builds shapes (tubes, sheets, boxes and ellipsoids) by adding vertices and faces to lists. Also finds classes of
 * shapes by their names (below). */
#include "fluid/shape.h"
#include "fluid/surface_mesh.h"
#include "numerics/vec3.h"
#include "tree/scalar.h"
#include "core/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

void cb_shape_place(cb_shape *b, const double frame[3][3], const double origin[3]) {
  static const double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const double(*m)[3] = frame ? frame : identity;
  memcpy(b->frame, m, sizeof b->frame);
  memcpy(b->origin, origin, sizeof b->origin);
  double across[3];
  cb_cross3(m[1], m[2], across);
  b->mirrored = cb_dot3(m[0], across) < 0;
}

void cb_shape_part(cb_shape *b, const char *name) {
  if (b->parts == CB_SHAPE_MAX_PARTS) {
    b->failed = true;
    return;
  }
  snprintf(b->name[b->parts++], sizeof b->name[0], "%s", name);
  cb_shape_place(b, NULL, (const double[3]){0, 0, 0});
}

/* Returns the array `old`, enlarged if necessary for one more entry of `size` bytes. Returns NULL if there is no
 * memory, now or at an earlier call; `old` is then unchanged. */
static void *grown(cb_shape *b, void *old, size_t size, int count, int *capacity) {
  if (b->failed) return NULL;
  if (count < *capacity) return old;
  const int more = *capacity ? 2 * *capacity : 256;
  void *larger = realloc(old, (size_t)more * size);
  if (larger)
    *capacity = more;
  else
    b->failed = true;
  return larger;
}

int cb_shape_vertex(cb_shape *b, const double x[3]) {
  void *const larger = grown(b, b->x, sizeof *b->x, b->vertices, &b->vertex_capacity);
  if (!larger) return 0;
  b->x = larger;
  double *y = b->x[b->vertices];
  for (int i = 0; i < 3; i++)
    y[i] = b->origin[i] + b->frame[i][0] * x[0] + b->frame[i][1] * x[1] + b->frame[i][2] * x[2];
  return b->vertices++;
}

void cb_shape_face(cb_shape *b, int i, int j, int k) {
  int capacity = b->face_capacity;
  void *const part = grown(b, b->part, sizeof *b->part, b->faces, &capacity);
  if (part) b->part = part;
  void *const face = part ? grown(b, b->face, sizeof *b->face, b->faces, &b->face_capacity) : NULL;
  if (!face) return;
  b->face = face;
  b->part[b->faces] = b->parts - 1;
  b->face[b->faces][0] = i;
  b->face[b->faces][1] = b->mirrored ? k : j;
  b->face[b->faces][2] = b->mirrored ? j : k;
  b->faces++;
}

static double distance(const cb_shape *b, int i, int j) {
  const double *p = b->x[i], *q = b->x[j];
  return hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]);
}

void cb_shape_quad(cb_shape *b, int i, int j, int k, int l, int parity) {
  if (b->failed) return;
  double ik = distance(b, i, k), jl = distance(b, j, l);
  /* The shorter diagonal divides the quadrilateral. If both diagonals are equal up to round-off, `parity` decides. */
  bool first = fabs(ik - jl) <= 1e-9 * (ik + jl) ? !(parity & 1) : ik < jl;
  cb_shape_face(b, i, j, first ? k : l);
  cb_shape_face(b, first ? i : j, k, l);
}

/* ---- tubes ---- */

static int ring_quarter(const cb_tube *t, int level) {
  int q = t->q;
  if (t->first_pole && level < q) q = level;
  if (t->last_pole && t->levels - level < q) q = t->levels - level;
  return q;
}

/* Returns vertex i of the ring of 4 q points that begins at vertex `first`; for q = 0 the ring is a pole, the vertex
 * `first`. */
static int on_ring(int first, int q, int i) { return q ? first + (i % (4 * q) + 4 * q) % (4 * q) : first; }

/* Adds the strip between the rings `below` and `above` of 4 p and 4 r points, |p - r| <= 1. */
static void strip(cb_shape *b, int below, int p, int above, int r, int level) {
  if (p == r) {
    for (int i = 0; i < 4 * p; i++)
      cb_shape_quad(b, on_ring(below, p, i), on_ring(below, p, i + 1), on_ring(above, r, i + 1), on_ring(above, r, i),
                    i + level);
    return;
  }
  for (int quadrant = 0; quadrant < 4; quadrant++) {
    int i0 = quadrant * p, j0 = quadrant * r, wide = p > r ? p : r;
    for (int i = 0; i < wide; i++) {
      if (p < r)
        cb_shape_face(b, on_ring(below, p, i0 + i), on_ring(above, r, j0 + i + 1), on_ring(above, r, j0 + i));
      else
        cb_shape_face(b, on_ring(below, p, i0 + i), on_ring(below, p, i0 + i + 1), on_ring(above, r, j0 + i));
      if (i == wide - 1) break;
      if (p < r)
        cb_shape_face(b, on_ring(below, p, i0 + i), on_ring(below, p, i0 + i + 1), on_ring(above, r, j0 + i + 1));
      else
        cb_shape_face(b, on_ring(below, p, i0 + i + 1), on_ring(above, r, j0 + i + 1), on_ring(above, r, j0 + i));
    }
  }
}

/* Finds arc[n + 1]. Entry i is the mean, over four meridians, of the length from u[0] = 0 to u[0] = i/n. */
static void meridian(cb_shape_map *map, const void *self, int n, double *arc) {
  double before[4][3] = {{0}}, now[4][3];
  arc[0] = 0;
  for (int i = 0; i <= n; i++) {
    double sum = 0;
    for (int k = 0; k < 4; k++) {
      map(self, (const double[2]){(double)i / n, pi / 2 * k}, now[k]);
      sum += hypot(hypot(now[k][0] - before[k][0], now[k][1] - before[k][1]), now[k][2] - before[k][2]) / 4;
    }
    if (i) arc[i] = arc[i - 1] + sum;
    memcpy(before, now, sizeof before);
  }
}

enum { MERIDIAN = 4096 };

/* Returns the u[0] of level j of `levels`. arc[MERIDIAN + 1] are the values of an increasing function at equal steps of
 * u[0] from 0 to 1, beginning with 0. The levels divide the range of these values into equal parts. */
static double even_level(const double *arc, int j, int levels) {
  double target = arc[MERIDIAN] * j / levels;
  int low = 0, high = MERIDIAN;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (arc[middle] <= target)
      low = middle;
    else
      high = middle;
  }
  return fmin(1, (low + (target - arc[low]) / (arc[high] - arc[low])) / MERIDIAN);
}

void cb_shape_add_tube(cb_shape *b, const cb_tube *given, cb_shape_map *map, const void *self) {
  cb_tube t = *given;
  int below = 0, p = 0;
  double *arc = t.size > 0 ? malloc((MERIDIAN + 1) * sizeof *arc) : NULL;
  if (t.size > 0 && !arc) {
    b->failed = true;
    return;
  }
  if (arc) {
    meridian(map, self, MERIDIAN, arc);
    double levels = fmin(arc[MERIDIAN] / t.size + .5, 2e4);
    if (levels > t.levels) t.levels = (int)levels;
    /* The levels are evenly spaced in the sum of two numbers that go from 0 to 1. The first one is the share of the arc
     * length; equal lengths make faces well shaped. The second one is u[0]; equal steps of u[0] resolve a thin rim. */
    double length = arc[MERIDIAN];
    for (int i = 0; i <= MERIDIAN; i++) arc[i] = arc[i] / length + (double)i / MERIDIAN;
  }
  for (int level = 0; level <= t.levels; level++) {
    int q = ring_quarter(&t, level), above = b->vertices, points = q ? 4 * q : 1;
    double u = arc && level < t.levels ? even_level(arc, level, t.levels) : (double)level / t.levels;
    for (int i = 0; i < points; i++) {
      double x[3];
      map(self, (const double[2]){u, 2 * pi * i / points}, x);
      cb_shape_vertex(b, x);
    }
    if (level) strip(b, below, p, above, q, level);
    below = above;
    p = q;
  }
  free(arc);
}

/* ---- sheets ---- */

void cb_shape_add_sheet(cb_shape *b, const int n[2], cb_shape_map *map, const void *self) {
  int first = b->vertices, row = n[0] + 1;
  for (int j = 0; j <= n[1]; j++)
    for (int i = 0; i <= n[0]; i++) {
      double x[3];
      map(self, (const double[2]){(double)i / n[0], (double)j / n[1]}, x);
      cb_shape_vertex(b, x);
    }
  for (int j = 0; j < n[1]; j++)
    for (int i = 0; i < n[0]; i++) {
      int at = first + j * row + i;
      cb_shape_quad(b, at, at + 1, at + row + 1, at + row, i + j);
    }
}

/* ---- boxes: complete layers of vertices at both ends, and only the rims of the layers between them ---- */

static int box_vertex(const int n[3], const int c[3]) {
  int layer = (n[0] + 1) * (n[1] + 1), rim = 2 * (n[0] + n[1]), i = c[0], j = c[1], k = c[2];
  if (k == 0) return j * (n[0] + 1) + i;
  if (k == n[2]) return layer + (n[2] - 1) * rim + j * (n[0] + 1) + i;
  int at = j == 0 ? i : i == n[0] ? n[0] + j : j == n[1] ? n[0] + n[1] + (n[0] - i) : 2 * n[0] + n[1] + (n[1] - j);
  return layer + (k - 1) * rim + at;
}

static void box_point(cb_shape *b, const int n[3], int i, int j, int k, cb_shape_map *map, const void *self) {
  const double u[3] = {(double)i / n[0], (double)j / n[1], (double)k / n[2]};
  double x[3];
  map(self, u, x);
  cb_shape_vertex(b, x);
}

void cb_shape_add_box(cb_shape *b, const int n[3], cb_shape_map *map, const void *self) {
  /* Two axes p and q along which a side runs, such that p × q points outwards. The side is at the lower or upper end of
   * the third axis. */
  static const struct {
    int p, q, fixed;
    bool upper;
  } side[6] = {{1, 0, 2, false}, {0, 1, 2, true}, {2, 1, 0, false}, {1, 2, 0, true}, {0, 2, 1, false}, {2, 0, 1, true}};
  int first = b->vertices;
  for (int k = 0; k <= n[2]; k++) {
    if (k == 0 || k == n[2]) {
      for (int j = 0; j <= n[1]; j++)
        for (int i = 0; i <= n[0]; i++) box_point(b, n, i, j, k, map, self);
      continue;
    }
    for (int i = 0; i <= n[0]; i++) box_point(b, n, i, 0, k, map, self);
    for (int j = 1; j <= n[1]; j++) box_point(b, n, n[0], j, k, map, self);
    for (int i = n[0] - 1; i >= 0; i--) box_point(b, n, i, n[1], k, map, self);
    for (int j = n[1] - 1; j >= 1; j--) box_point(b, n, 0, j, k, map, self);
  }
  for (int s = 0; s < 6; s++) {
    int p = side[s].p, q = side[s].q, c[3];
    c[side[s].fixed] = side[s].upper ? n[side[s].fixed] : 0;
    for (int i = 0; i < n[p]; i++)
      for (int j = 0; j < n[q]; j++) {
        int corner[4];
        for (int k = 0; k < 4; k++) {
          c[p] = i + (k == 1 || k == 2);
          c[q] = j + (k >= 2);
          corner[k] = first + box_vertex(n, c);
        }
        cb_shape_quad(b, corner[0], corner[1], corner[2], corner[3], i + j);
      }
  }
}

void cb_shape_cells(const double side[3], int resolution, int n[3]) {
  double shortest = fmin(fmin(side[0], side[1]), side[2]),
         size = 2 * (side[0] + side[1] + side[2] - shortest) / resolution;
  for (int k = 0; k < 3; k++) n[k] = (int)fmax(1, floor(side[k] / size + .5));
}

/* ---- ellipsoids ---- */

typedef struct ellipsoid {
  double a[3];
  int pole; /* the axis of the poles */
} ellipsoid;

static void ellipsoid_map(const void *self, const double *u, double x[3]) {
  const ellipsoid *e = self;
  int k = e->pole, i = (k + 1) % 3, j = (k + 2) % 3;
  x[i] = e->a[i] * sin(pi * u[0]) * cos(u[1]);
  x[j] = e->a[j] * sin(pi * u[0]) * sin(u[1]);
  x[k] = -e->a[k] * cos(pi * u[0]);
}

int cb_shape_quarter(int resolution) { return (resolution + 3) / 4; }

int cb_shape_quarter_of(double girth, double size) {
  double q = girth / (4 * size);
  return q > 2 ? (int)(fmin(q, 2e3) + .5) : 2;
}

void cb_shape_add_ellipsoid(cb_shape *b, const double a[3], double radius, int resolution) {
  /* The poles are on the axis that differs most from the mean of the other two, so that rings are nearly circles. */
  ellipsoid e = {{a[0], a[1], a[2]}, 2};
  double maximum = 0;
  for (int k = 2; k >= 0; k--) {
    double differs = fabs(log(a[k] * a[k] / (a[(k + 1) % 3] * a[(k + 2) % 3])));
    if (differs > maximum * (1 + 1e-12)) {
      maximum = differs;
      e.pole = k;
    }
  }
  double wide = fmax(a[(e.pole + 1) % 3], a[(e.pole + 2) % 3]), size = 2 * pi * radius / resolution;
  int q = cb_shape_quarter_of(2 * pi * wide, size);
  cb_shape_add_tube(b, &(cb_tube){q, 2 * q, true, true, 2 * pi * wide / (4 * q)}, ellipsoid_map, &e);
}

typedef struct cylinder {
  double radius, length;
  int cap, side; /* cap: number of levels of a cap; side: number of levels of the side */
} cylinder;

static void cylinder_map(const void *self, const double *u, double x[3]) {
  const cylinder *c = self;
  int level = (int)(u[0] * (2 * c->cap + c->side) + .5), up = level - c->cap;
  double radius = c->radius, z = (double)up / c->side;
  if (up < 0) radius *= (double)level / c->cap;
  if (up > c->side) radius *= (double)(c->cap - (up - c->side)) / c->cap;
  x[0] = radius * cos(u[1]);
  x[1] = radius * sin(u[1]);
  x[2] = c->length * ((z < 0 ? 0 : z > 1 ? 1 : z) - .5);
}

void cb_shape_add_cylinder(cb_shape *b, double radius, double length, int q, int levels, bool caps) {
  const cylinder c = {radius, length, caps ? q : 0, levels};
  cb_shape_add_tube(b, &(cb_tube){q, 2 * c.cap + levels, caps, caps, 0}, cylinder_map, &c);
}

/* ---- the complete shape ---- */

cb_status cb_shape_finish(cb_shape *b, cb_surface **out) {
  const char *names[CB_SHAPE_MAX_PARTS];
  for (int p = 0; p < b->parts; p++) names[p] = b->name[p];
  cb_status status = b->failed ? cb_fail(CB_ERROR_MEMORY, "no memory for a shape of %d faces", b->faces)
                               : cb_surface_build(b->vertices, (const double(*)[3])b->x, b->faces,
                                                  (const int(*)[3])b->face, b->part, names, out);
  free(b->x);
  free(b->face);
  free(b->part);
  *b = (cb_shape){.failed = true};
  return status;
}

cb_status cb_shape_box_by(const double side[3], int resolution, cb_shape_map *map, const void *self, cb_surface **out) {
  int n[3];
  cb_shape b = {.failed = false};
  cb_shape_cells(side, resolution, n);
  cb_shape_part(&b, "body");
  cb_shape_add_box(&b, n, map, self);
  return cb_shape_finish(&b, out);
}

/* Finds shapes by their names and makes them. */

/* Stores the parameters in s, so that the shape can be made again with another `resolution`. This is possible if all of
 * them are numbers: texts and nodes are freed with the scenario. */
static cb_status remember(const cb_shape_class *class_, const void *params, cb_surface *s) {
  cb_surface_owned *o = (cb_surface_owned *)s;
  bool numbers = true, resolved = false;
  for (const cb_param *row = class_->params; row && row->name; row++) {
    if (row->type == CB_PARAM_STRING || row->type == CB_PARAM_NODE) numbers = false;
    if (row->type != CB_PARAM_INT || strcmp(row->name, "resolution") != 0) continue;
    resolved = true;
    o->resolution = row->offset;
  }
  if (!numbers || !resolved) return CB_OK;
  o->params = cb_arena_alloc(o->arena, 1, class_->params_size);
  if (!o->params) return cb_fail(CB_ERROR_MEMORY, "no memory for the shape %s", class_->name);
  memcpy(o->params, params, class_->params_size);
  o->shape = class_;
  o->form = cb_arena_alloc(o->arena, (size_t)s->parts, sizeof *o->form);
  if (!o->form) return cb_fail(CB_ERROR_MEMORY, "no memory for the shape %s", class_->name);
  for (int p = 0; p < s->parts; p++)
    o->form[p] = (cb_surface_form){class_, o->params, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
  return CB_OK;
}

cb_status cb_shape_create_class(const cb_shape_class *class_, const cb_node *node, cb_surface **out) {
  static const char *const shared[] = {"name"}; /* the key that names the shape; it is not in the table of parameters */
  void *params = calloc(1, class_->params_size ? class_->params_size : 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the shape %s", class_->name);
  cb_status status = cb_params_bind(class_->params, node, node, shared, 1, params);
  cb_surface *made = NULL;
  if (!status) status = class_->make(params, &made);
  if (!status) status = remember(class_, params, made);
  free(params);
  if (status)
    cb_surface_free(made);
  else
    *out = made;
  return status;
}

cb_status cb_shape_create(const char *name, const cb_node *node, cb_surface **out) {
  const cb_shape_class *c = cb_shape_classes[cb_registry_find(&cb_shape_registry, name, strlen(name))];
  return c ? cb_shape_create_class(c, node, out) : cb_fail_no_class(node, "shape", name, &cb_shape_registry);
}
