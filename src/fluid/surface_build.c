/* Builds surfaces from arrays: copies the arrays, finds the parts as the pieces that are connected through edges, and
 * finds which parts have a border. The function that joins several surfaces is below. */
#include "fluid/surface_mesh.h"
#include "core/arena.h"
#include "numerics/vec3.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cb_status no_memory(int faces) { return cb_fail(CB_ERROR_MEMORY, "no memory for a surface of %d faces", faces); }

/* ---- sides and disjoint sets ---- */

/* The sort key of a side within the bucket of its vertex lo: hi, then part, then face (see cb_side). */
typedef struct keyed {
  int hi, part, face;
  bool forward;
} keyed;

static int compare(const void *a, const void *b) {
  const keyed *p = a, *q = b;
  if (p->hi != q->hi) return p->hi < q->hi ? -1 : 1;
  if (p->part != q->part) return p->part < q->part ? -1 : 1;
  return (p->face > q->face) - (p->face < q->face);
}

/* Most vertices have few sides, for which insertion sort is fast. The sides of other vertices are sorted by qsort. */
static void sort_bucket(keyed *key, size_t n) {
  if (n > 32) {
    qsort(key, n, sizeof *key, compare);
    return;
  }
  for (size_t i = 1; i < n; i++) {
    keyed moved = key[i];
    size_t j = i;
    for (; j > 0 && compare(&moved, &key[j - 1]) < 0; j--) key[j] = key[j - 1];
    key[j] = moved;
  }
}

cb_side *cb_sides_sorted(int vertices, int faces, const int (*face)[3], const int *part) {
  size_t n = 3 * (size_t)faces;
  size_t *start = calloc((size_t)vertices + 2, sizeof *start);
  keyed *key = malloc((n ? n : 1) * sizeof *key);
  cb_side *side = malloc((n ? n : 1) * sizeof *side);
  if (start && key && side) {
    /* The next side of vertex v is written at start[v + 1], which after the loop is the end of the sides of v. */
    for (int f = 0; f < faces; f++)
      for (int k = 0; k < 3; k++) {
        int a = face[f][k], b = face[f][(k + 1) % 3];
        start[(a < b ? a : b) + 2]++;
      }
    for (int v = 0; v < vertices; v++) start[v + 2] += start[v + 1];
    for (int f = 0; f < faces; f++)
      for (int k = 0; k < 3; k++) {
        int a = face[f][k], b = face[f][(k + 1) % 3], lo = a < b ? a : b;
        key[start[lo + 1]++] = (keyed){a < b ? b : a, part ? part[f] : 0, f, a < b};
      }
    for (int v = 0; v < vertices; v++) {
      sort_bucket(key + start[v], start[v + 1] - start[v]);
      for (size_t i = start[v]; i < start[v + 1]; i++) side[i] = (cb_side){v, key[i].hi, key[i].face, key[i].forward};
    }
  } else {
    free(side);
    side = NULL;
  }
  free(start);
  free(key);
  return side;
}

size_t cb_sides_same(const cb_side *side, size_t n, size_t i, const int *part) {
  size_t j = i + 1;
  while (j < n && side[j].lo == side[i].lo && side[j].hi == side[i].hi &&
         (!part || part[side[j].face] == part[side[i].face]))
    j++;
  return j;
}

int cb_union_find(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/* The smaller number becomes the root, so that the result does not depend on the order of the unions. */
void cb_union_join(int *parent, int i, int j) {
  i = cb_union_find(parent, i);
  j = cb_union_find(parent, j);
  if (i < j)
    parent[j] = i;
  else
    parent[i] = j;
}

/* ---- checks of the arrays ---- */

static cb_status check_arrays(int vertices, const double (*x)[3], int faces, const int (*face)[3]) {
  if (vertices < 3 || faces < 1 || faces > INT_MAX / 3)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "a surface of %d vertices and %d faces: expected at least 3 and 1, at most %d faces", vertices,
                   faces, INT_MAX / 3);
  for (int v = 0; v < vertices; v++)
    if (!isfinite(x[v][0]) || !isfinite(x[v][1]) || !isfinite(x[v][2]))
      return cb_fail(CB_ERROR_DOMAIN, "vertex %d: expected finite coordinates, found (%g, %g, %g)", v + 1, x[v][0],
                     x[v][1], x[v][2]);
  for (int f = 0; f < faces; f++) {
    const int *c = face[f];
    for (int k = 0; k < 3; k++) {
      if (c[k] < 0 || c[k] >= vertices)
        return cb_fail(CB_ERROR_ARGUMENT, "face %d: vertex %d: expected 1 to %d", f + 1, c[k] + 1, vertices);
      if (c[k] == c[(k + 1) % 3])
        return cb_fail(CB_ERROR_ARGUMENT, "face %d: vertex %d twice: expected three different vertices", f + 1,
                       c[k] + 1);
    }
  }
  return CB_OK;
}

/* Counts the parts and checks that their numbers run from 0 without gaps. */
static cb_status check_parts(int faces, const int *part, int *parts) {
  int maximum = -1;
  for (int f = 0; f < faces; f++) {
    if (part[f] < 0 || part[f] >= faces)
      return cb_fail(CB_ERROR_ARGUMENT, "face %d: part %d: expected 1 to at most %d", f + 1, part[f] + 1, faces);
    if (part[f] > maximum) maximum = part[f];
  }
  bool *there = calloc((size_t)maximum + 1, sizeof *there);
  if (!there) return no_memory(faces);
  for (int f = 0; f < faces; f++) there[part[f]] = true;
  int missing = 0;
  while (missing <= maximum && there[missing]) missing++;
  free(there);
  if (missing <= maximum)
    return cb_fail(CB_ERROR_ARGUMENT, "part %d of %d has no faces: expected part numbers without gaps", missing + 1,
                   maximum + 1);
  *parts = maximum + 1;
  return CB_OK;
}

/* ---- vertices ---- */

/* Fills the members listed, vertex, number and vertices of s. */
static bool number_vertices(cb_arena *arena, cb_surface *s, int listed, const int (*face)[3]) {
  s->listed = listed;
  s->vertex = cb_arena_alloc(arena, (size_t)listed, sizeof *s->vertex);
  if (!s->vertex) return false;
  for (int f = 0; f < s->faces; f++)
    for (int k = 0; k < 3; k++) s->vertex[face[f][k]] = 1;
  for (int i = 0; i < listed; i++) s->vertex[i] = s->vertex[i] ? s->vertices++ : -1;
  s->number = cb_arena_alloc(arena, (size_t)s->vertices, sizeof *s->number);
  for (int i = 0; i < listed && s->number; i++)
    if (s->vertex[i] >= 0) s->number[s->vertex[i]] = i + 1;
  return s->number != NULL;
}

void cb_surface_gather(const cb_surface *s, const double (*listed)[3], double (*x)[3]) {
  for (int v = 0; v < s->vertices; v++) memmove(x[v], listed[s->number[v] - 1], sizeof *x);
}

/* ---- parts ---- */

/* Finds the pieces that are connected through edges. They are numbered in the order of their first faces, and part[f]
 * becomes the number of the piece that has face f. Returns the number of pieces. */
static int connected(const cb_surface *s, const cb_side *side, int *part, int *parent) {
  size_t n = 3 * (size_t)s->faces;
  int parts = 0;
  for (int f = 0; f < s->faces; f++) parent[f] = f;
  for (size_t i = 0, end; i < n; i = end) {
    end = cb_sides_same(side, n, i, NULL);
    for (size_t j = i + 1; j < end; j++) cb_union_join(parent, side[i].face, side[j].face);
  }
  for (int f = 0; f < s->faces; f++) {
    int root = cb_union_find(parent, f);
    part[f] = root == f ? parts++ : part[root];
  }
  return parts;
}

static bool name_parts(cb_arena *arena, cb_surface *s, const char *const *names) {
  bool good = true;
  for (int p = 0; p < s->parts && good; p++) {
    char number[24];
    snprintf(number, sizeof number, "part%d", p + 1);
    s->name[p] = cb_arena_strdup(arena, names ? names[p] : s->parts == 1 ? "body" : number);
    good = s->name[p] != NULL;
  }
  return good;
}

/* Fills the members part, name and open of a surface that has its vertices and faces. */
static bool find_parts(cb_arena *arena, cb_surface *s, const int *part, int parts, const char *const *names) {
  size_t n = 3 * (size_t)s->faces;
  const int(*face)[3] = (const int(*)[3])s->face;
  cb_side *side = cb_sides_sorted(s->vertices, s->faces, face, part);
  int *parent = part ? NULL : malloc((size_t)s->faces * sizeof *parent);
  bool good = side && (part || parent);
  if (good && part) memcpy(s->part, part, (size_t)s->faces * sizeof *part);
  s->parts = part ? parts : good ? connected(s, side, s->part, parent) : 0;
  s->name = cb_arena_alloc(arena, (size_t)s->parts, sizeof *s->name);
  s->open = cb_arena_alloc(arena, (size_t)s->parts, sizeof *s->open);
  good = good && s->name && s->open && name_parts(arena, s, names);
  for (size_t i = 0, end; good && i < n; i = end) {
    end = cb_sides_same(side, n, i, s->part);
    if (end == i + 1) s->open[s->part[side[i].face]] = true;
  }
  free(side);
  free(parent);
  return good;
}

cb_status cb_surface_build(int vertices, const double (*x)[3], int faces, const int (*face)[3], const int *part,
                           const char *const *names, cb_surface **out) {
  int parts = 0;
  cb_status status = check_arrays(vertices, x, faces, face);
  if (!status && part) status = check_parts(faces, part, &parts);
  if (status) return status;
  cb_arena *arena = cb_arena_create();
  cb_surface_owned *o = cb_arena_alloc(arena, 1, sizeof *o);
  if (o) {
    cb_surface *s = &o->surface;
    *o = (cb_surface_owned){.arena = arena, .scale = 1};
    s->faces = faces;
    const bool good = number_vertices(arena, s, vertices, face);
    s->x = cb_arena_alloc_aligned(arena, (size_t)s->vertices, sizeof *s->x, CB_CACHE_LINE);
    s->face = cb_arena_alloc_aligned(arena, (size_t)faces, sizeof *s->face, CB_CACHE_LINE);
    s->part = cb_arena_alloc(arena, (size_t)faces, sizeof *s->part);
    if (good && s->x && s->face && s->part) {
      cb_surface_gather(s, x, s->x);
      for (int f = 0; f < faces; f++)
        for (int k = 0; k < 3; k++) s->face[f][k] = s->vertex[face[f][k]];
      if (find_parts(arena, s, part, parts, names)) {
        *out = s;
        return CB_OK;
      }
    }
  }
  cb_arena_free(arena);
  return no_memory(faces);
}

cb_status cb_surface_make(int vertices, const double (*x)[3], int faces, const int (*face)[3], const int *part,
                          cb_surface **out) {
  return cb_surface_build(vertices, x, faces, face, part, NULL, out);
}

void cb_surface_scale(cb_surface *s, double factor) {
  for (int v = 0; v < s->vertices; v++)
    for (int i = 0; i < 3; i++) s->x[v][i] *= factor;
  cb_surface_owned *o = (cb_surface_owned *)s;
  o->scale *= factor;
  for (int p = 0; p < s->parts && o->form; p++)
    for (int i = 0; i < 3; i++) {
      o->form[p].origin[i] *= factor;
      for (int k = 0; k < 3; k++) o->form[p].frame[i][k] *= factor;
    }
}

void cb_surface_free(cb_surface *s) {
  if (s) cb_arena_free(((cb_surface_owned *)s)->arena);
}

cb_status cb_surface_edges(const cb_surface *s, cb_surface_edge **edge, int *n_edges) {
  size_t n = 3 * (size_t)s->faces;
  cb_side *side = cb_sides_sorted(s->vertices, s->faces, (const int(*)[3])s->face, s->part);
  cb_surface_edge *list = side ? malloc(n * sizeof *list) : NULL;
  cb_status status = list ? CB_OK : no_memory(s->faces);
  int count = 0;
  for (size_t i = 0, end; !status && i < n; i = end) {
    end = cb_sides_same(side, n, i, s->part);
    if (end - i > 2) {
      const double *a = s->x[side[i].lo], *b = s->x[side[i].hi];
      status = cb_fail(CB_ERROR_DOMAIN,
                       "part '%s': %zu faces meet in the edge of vertices %d and %d, from (%g, %g, %g) to (%g, %g, "
                       "%g): expected at most 2",
                       s->name[s->part[side[i].face]], end - i, s->number[side[i].lo], s->number[side[i].hi], a[0],
                       a[1], a[2], b[0], b[1], b[2]);
      break;
    }
    cb_surface_edge e = {side[i].lo, side[i].hi, {side[i].face, end == i + 2 ? side[i + 1].face : -1}};
    if (end == i + 2 && !side[i].forward && side[i + 1].forward) {
      e.face[0] = side[i + 1].face;
      e.face[1] = side[i].face;
    }
    list[count++] = e;
  }
  free(side);
  if (status) {
    free(list);
    return status;
  }
  *edge = list;
  *n_edges = count;
  return CB_OK;
}

/* Joins several surfaces into one, each at its own place, for a body of several shapes. */

static double determinant(const double m[3][3]) {
  double normal[3];
  cb_cross3(m[0], m[1], normal);
  return cb_dot3(normal, m[2]);
}

/* Returns the name of a part of a piece: the name of the piece, followed by the part's own name if the piece has
 * several parts. */
static const char *name_part(cb_arena *arena, const cb_surface_piece *piece, int part) {
  if (piece->surface->parts == 1) return piece->name;
  const size_t size = strlen(piece->name) + strlen(piece->surface->name[part]) + 2;
  char *name = cb_arena_alloc(arena, size, 1);
  if (name) snprintf(name, size, "%s.%s", piece->name, piece->surface->name[part]);
  return name;
}

/* Adds up the results of mending (cb_surface_mended) over all pieces. */
static void add_mended(int n, const cb_surface_piece *piece, cb_surface_mended *sum) {
  for (int i = 0; i < n; i++) {
    const cb_surface_mended *m = cb_surface_how_mended(piece[i].surface);
    sum->holes += m->holes;
    sum->edges += m->edges;
    sum->faces += m->faces;
    sum->largest = fmax(sum->largest, m->largest);
    if (m->left) sum->least = sum->left ? fmin(sum->least, m->least) : m->least;
    sum->left += m->left;
  }
}

static cb_status join(cb_arena *arena, int n, const cb_surface_piece *piece, cb_surface **out) {
  long long vertices = 0, faces = 0, parts = 0;
  for (int i = 0; i < n; i++) {
    vertices += piece[i].surface->vertices;
    faces += piece[i].surface->faces;
    parts += piece[i].surface->parts;
  }
  if (vertices > INT_MAX || faces > INT_MAX / 3)
    return cb_fail(CB_ERROR_ARGUMENT, "%lld faces of %d surfaces: expected at most %d", faces, n, INT_MAX / 3);
  double(*x)[3] = cb_arena_alloc(arena, (size_t)vertices, sizeof *x);
  int(*face)[3] = cb_arena_alloc(arena, (size_t)faces, sizeof *face);
  int *part = cb_arena_alloc(arena, (size_t)faces, sizeof *part);
  const char **name = cb_arena_alloc(arena, (size_t)parts, sizeof *name);
  if (!x || !face || !part || !name) return cb_fail(CB_ERROR_MEMORY, "no memory for %d surfaces", n);
  int v = 0, f = 0, p = 0;
  for (int i = 0; i < n; i++) {
    const cb_surface *s = piece[i].surface;
    const int flipped = determinant(piece[i].frame) < 0;
    for (int k = 0; k < s->vertices; k++) {
      cb_apply3(piece[i].frame, s->x[k], x[v + k]);
      for (int j = 0; j < 3; j++) x[v + k][j] += piece[i].origin[j];
    }
    for (int k = 0; k < s->faces; k++) {
      for (int j = 0; j < 3; j++) face[f + k][j] = v + s->face[k][flipped ? 2 - j : j];
      part[f + k] = p + s->part[k];
    }
    for (int k = 0; k < s->parts; k++)
      if (!(name[p + k] = name_part(arena, &piece[i], k))) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
    v += s->vertices;
    f += s->faces;
    p += s->parts;
  }
  return cb_surface_build(v, (const double(*)[3])x, f, (const int(*)[3])face, part, name, out);
}

/* Stores in `whole` the shape from which each part was made. */
static cb_status join_forms(int n, const cb_surface_piece *piece, cb_surface_owned *whole) {
  whole->form = cb_arena_alloc(whole->arena, (size_t)whole->surface.parts, sizeof *whole->form);
  cb_surface_form *to = whole->form;
  for (int i = 0; i < n && to; i++)
    for (int p = 0; p < piece[i].surface->parts; p++, to++) {
      const cb_surface_form *from = cb_surface_form_of(piece[i].surface, p);
      if (!from) continue;
      *to = *from;
      void *params = cb_arena_alloc(whole->arena, 1, from->shape->params_size);
      if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the shape %s", from->shape->name);
      memcpy(params, from->params, from->shape->params_size);
      to->params = params;
      for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++)
          to->frame[r][k] = piece[i].frame[r][0] * from->frame[0][k] + piece[i].frame[r][1] * from->frame[1][k] +
                            piece[i].frame[r][2] * from->frame[2][k];
        to->origin[r] = piece[i].origin[r] + cb_dot3(piece[i].frame[r], from->origin);
      }
    }
  return to ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d shapes", n);
}

const cb_surface_form *cb_surface_form_of(const cb_surface *s, int part) {
  const cb_surface_form *form = ((const cb_surface_owned *)s)->form;
  return form && form[part].shape ? &form[part] : NULL;
}

double cb_surface_form_number(const cb_surface_form *form, const char *name) {
  const cb_param *row = form->shape->params;
  while (strcmp(row->name, name) != 0) row++;
  return *(const double *)((const char *)form->params + row->offset);
}

cb_status cb_surface_join(int n, const cb_surface_piece *piece, cb_surface **out) {
  cb_arena *arena = cb_arena_create();
  cb_surface *made = NULL;
  cb_status status = arena ? join(arena, n, piece, &made) : cb_fail(CB_ERROR_MEMORY, "no memory for a surface");
  cb_arena_free(arena);
  if (status) return status;
  cb_surface_owned *whole = (cb_surface_owned *)made;
  add_mended(n, piece, &whole->mended);
  for (int i = 0; i < n; i++) whole->of_file |= cb_surface_is_unscaled(piece[i].surface);
  status = join_forms(n, piece, whole);
  if (status)
    cb_surface_free(made);
  else
    *out = made;
  return status;
}
