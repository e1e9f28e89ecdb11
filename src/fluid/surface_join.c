/* Several surfaces as one, each at its place: what a body of several shapes is. */
#include "fluid/surface_private.h"

#include "core/arena.h"
#include "numerics/vec3.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double determinant(const double m[3][3]) {
  double normal[3];
  cb_cross3(m[0], m[1], normal);
  return cb_dot3(normal, m[2]);
}

/* The name of a part of a piece: that of the piece, and its own where there are several. */
static const char *name_part(cb_arena *arena, const cb_surface_piece *piece, int part) {
  if (piece->surface->parts == 1) return piece->name;
  const size_t size = strlen(piece->name) + strlen(piece->surface->name[part]) + 2;
  char *name = cb_arena_alloc(arena, size, 1);
  if (name) snprintf(name, size, "%s.%s", piece->name, piece->surface->name[part]);
  return name;
}

/* What was done to all of them. */
static void add_mended(int n, const cb_surface_piece *piece, cb_surface_mended *sum) {
  for (int i = 0; i < n; i++) {
    const cb_surface_mended *m = cb_surface_how_mended(piece[i].surface);
    sum->holes += m->holes, sum->edges += m->edges, sum->faces += m->faces;
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
    v += s->vertices, f += s->faces, p += s->parts;
  }
  return cb_surface_build(v, (const double(*)[3])x, f, (const int(*)[3])face, part, name, out);
}

cb_status cb_surface_join(int n, const cb_surface_piece *piece, cb_surface **out) {
  cb_arena *arena = cb_arena_create();
  const cb_status status = arena ? join(arena, n, piece, out) : cb_fail(CB_ERROR_MEMORY, "no memory for a surface");
  cb_arena_free(arena);
  if (status) return status;
  cb_surface_owned *whole = (cb_surface_owned *)*out;
  add_mended(n, piece, &whole->mended);
  for (int i = 0; i < n; i++) whole->of_file |= cb_surface_is_unscaled(piece[i].surface);
  return status;
}
