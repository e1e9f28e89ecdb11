/* What a builder tells of the bodies in it, and the surfaces that they have. */
#include "dynamics/builder_private.h"

int cb_builder_bodies(const cb_builder *b) { return b->n_bodies; }

const char *cb_builder_body_name(const cb_builder *b, int body) { return b->body[body]; }

/* How many particles belong to bodies before this one: bodies come one after another. */
static int particles_before(const cb_builder *b, int body) {
  int low = 0, high = b->n_points;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (b->point[middle].body < body)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int cb_builder_body_particles(const cb_builder *b, int body, int *first) {
  const int from = particles_before(b, body);
  if (first) *first = from;
  return particles_before(b, body + 1) - from;
}

cb_status cb_builder_triangle(cb_builder *b, int i, int j, int k) {
  const int corner[3] = {i, j, k};
  for (int a = 0; a < 3; a++)
    if (corner[a] < 0 || corner[a] >= b->n_points)
      return cb_fail(CB_ERROR_ARGUMENT, "triangle: particle %d: expected 0 to %d", corner[a], b->n_points - 1);
  cb_status status = cb_builder_grow((void **)&b->triangle, b->n_triangles, &b->room_triangles, sizeof *b->triangle);
  if (status) return status;
  for (int a = 0; a < 3; a++) b->triangle[b->n_triangles][a] = corner[a];
  b->n_triangles++;
  return CB_OK;
}

const int (*cb_builder_triangles(const cb_builder *b, int body, int *n))[3] {
  int first = 0, last;
  while (first < b->n_triangles && b->point[b->triangle[first][0]].body != body) first++;
  for (last = first; last < b->n_triangles && b->point[b->triangle[last][0]].body == body;) last++;
  *n = last - first;
  return last > first ? (const int(*)[3])(b->triangle + first) : NULL;
}
