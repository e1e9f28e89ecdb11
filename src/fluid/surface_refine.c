/* Makes the same body with other faces: shapes are built again with another resolution, and in other meshes each face
 * is divided into four.
 *
 *   (a, b, c) -> (a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca),  ab the middle of a and b, in a curved space on
 *   the geodesic between them */
#include "fluid/surface_mesh.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 8, MAXIMUM = 4000 }; /* smallest and largest resolution */

static int *resolution_of(const cb_surface_owned *o, void *params) {
  return (int *)(void *)((char *)params + o->resolution);
}

bool cb_surface_is_shape(const cb_surface *s) { return ((const cb_surface_owned *)s)->shape; }

int cb_surface_coarser(const cb_surface *s) {
  const cb_surface_owned *o = (const cb_surface_owned *)s;
  int level = 0;
  if (!o->shape) return 0;
  /* a quarter turn must have an integer number of faces (cb_shape_quarter) */
  for (int r = *resolution_of(o, o->params); r % 8 == 0 && r / 2 >= LEAST; r /= 2) level++;
  return level;
}

static cb_status make_again(const cb_surface_owned *o, int level, cb_surface **out) {
  cb_surface *made = NULL;
  const int was = *resolution_of(o, o->params);
  if (level > 0 && was > (MAXIMUM >> level))
    return cb_fail(CB_ERROR_ARGUMENT, "the shape %s has a resolution of %d: expected at most %d", o->shape->name, was,
                   MAXIMUM);
  void *params = malloc(o->shape->params_size);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the shape %s", o->shape->name);
  memcpy(params, o->params, o->shape->params_size);
  *resolution_of(o, params) = level > 0 ? was << level : was >> -level;
  cb_status status = o->shape->make(params, &made);
  free(params);
  if (status) return status;
  cb_surface_scale(made, o->scale);
  status = cb_surface_embed(made, o->surface.curvature, o->chart);
  if (status)
    cb_surface_free(made);
  else
    *out = made;
  return status;
}

typedef struct fine {
  double (*x)[3];
  int (*face)[3], *part, (*middle)[3]; /* middle: the new vertices on the sides of each face */
  int vertices;
} fine;

static bool take(const cb_surface *s, fine *m) {
  const size_t n = (size_t)s->faces;
  m->x = malloc(((size_t)s->vertices + 3 * n) * sizeof *m->x);
  m->face = malloc(4 * n * sizeof *m->face);
  m->part = malloc(4 * n * sizeof *m->part);
  m->middle = malloc(n * sizeof *m->middle);
  m->vertices = s->vertices;
  return m->x && m->face && m->part && m->middle;
}

static void put_middles(const cb_surface *s, const cb_side *side, fine *m) {
  const size_t n = 3 * (size_t)s->faces;
  memcpy(m->x, s->x, (size_t)s->vertices * sizeof *m->x);
  for (size_t i = 0, end; i < n; i = end) {
    end = cb_sides_same(side, n, i, NULL);
    cb_surface_middle(s->curvature, s->x[side[i].lo], s->x[side[i].hi], m->x[m->vertices]);
    for (size_t j = i; j < end; j++) {
      const int *f = s->face[side[j].face], from = side[j].forward ? side[j].lo : side[j].hi;
      m->middle[side[j].face][f[0] == from ? 0 : f[1] == from ? 1 : 2] = m->vertices;
    }
    m->vertices++;
  }
}

static void put_faces(const cb_surface *s, fine *m) {
  for (int f = 0; f < s->faces; f++) {
    const int *c = s->face[f], *d = m->middle[f];
    const int four[4][3] = {{c[0], d[0], d[2]}, {d[0], c[1], d[1]}, {d[2], d[1], c[2]}, {d[0], d[1], d[2]}};
    memcpy(m->face[4 * f], four, sizeof four);
    for (int i = 0; i < 4; i++) m->part[4 * f + i] = s->part[f];
  }
}

static cb_status divide(const cb_surface *s, cb_surface **out) {
  fine m = {0};
  if (s->faces > INT_MAX / 24)
    return cb_fail(CB_ERROR_ARGUMENT, "%d faces divided into four are too many: expected a coarser mesh", s->faces);
  cb_side *side = cb_sides_sorted(s->vertices, s->faces, (const int(*)[3])s->face, NULL);
  cb_status status = side && take(s, &m) ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d faces", 4 * s->faces);
  if (!status) {
    put_middles(s, side, &m);
    put_faces(s, &m);
    status = cb_surface_build(m.vertices, (const double(*)[3])m.x, 4 * s->faces, (const int(*)[3])m.face, m.part,
                              (const char *const *)s->name, out);
  }
  if (!status) (*out)->curvature = s->curvature;
  free(side);
  free(m.x);
  free(m.face);
  free(m.part);
  free(m.middle);
  return status;
}

cb_status cb_surface_at_level(const cb_surface *s, int level, cb_surface **out) {
  const cb_surface_owned *o = (const cb_surface_owned *)s;
  if (o->shape) return make_again(o, level, out);
  cb_surface *last = NULL;
  cb_status status = CB_OK;
  if (level == 0) {
    status = cb_surface_build(s->vertices, (const double(*)[3])s->x, s->faces, (const int(*)[3])s->face, s->part,
                              (const char *const *)s->name, out);
    if (!status) (*out)->curvature = s->curvature;
    return status;
  }
  for (int l = 0; l < level && !status; l++) {
    cb_surface *next = NULL;
    status = divide(last ? last : s, &next);
    cb_surface_free(last);
    last = next;
  }
  if (!status) *out = last;
  return status;
}

cb_status cb_surface_with_faces(const cb_surface *s, int faces, cb_surface **out) {
  cb_status status = CB_OK;
  *out = NULL;
  if (faces == s->faces || (s->curvature == 0 && !cb_surface_is_shape(s))) return CB_OK;
  for (int level = -cb_surface_coarser(s); !status && !*out; level++) {
    status = cb_surface_at_level(s, level, out);
    if (status || (*out)->faces == faces) break;
    const bool past = (*out)->faces > faces;
    cb_surface_free(*out);
    *out = NULL;
    if (past) break;
  }
  return status;
}
