/* Reads surfaces from files of meshes. */
#include "core/failure.h"
#include "fluid/surface_mesh.h"

#include "core/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Finds the group of every face; faces without a group get an additional number. */
static void face_groups(const cb_mesh *m, int *group) {
  for (size_t f = 0; f < m->n_triangles; f++) group[f] = m->groups[f] < 0 ? (int)m->n_groups : m->groups[f];
}

/* Groups that meet in an edge of two faces bound one volume, or are one sheet. They become one part. */
static bool unite_groups(const cb_mesh *m, const int *group, int *parent) {
  size_t n = 3 * m->n_triangles;
  cb_side *side = cb_sides_sorted((int)m->n_vertices, (int)m->n_triangles, (const int(*)[3])m->triangles, NULL);
  if (!side) return false;
  for (int g = 0; g <= (int)m->n_groups; g++) parent[g] = g;
  for (size_t i = 0, end; i < n; i = end) {
    end = cb_sides_same(side, n, i, NULL);
    if (end == i + 2) cb_union_join(parent, group[side[i].face], group[side[i + 1].face]);
  }
  free(side);
  return true;
}

/* Numbers the parts by their first faces. Their names are those of their groups, joined by '+'. */
static int number_parts(const cb_mesh *m, int *group, int *parent, int *number, cb_text *name) {
  int parts = 0, none = (int)m->n_groups;
  for (int g = 0; g <= none; g++) number[g] = -1;
  for (size_t f = 0; f < m->n_triangles; f++) {
    int root = cb_union_find(parent, group[f]);
    if (number[root] < 0) number[root] = parts++;
    if (group[f] != root && number[group[f]] < 0) number[group[f]] = number[root];
    group[f] = number[root];
  }
  for (int g = 0; g <= none; g++) {
    if (number[g] < 0) continue;
    cb_text *text = &name[number[g]];
    if (text->length) cb_text_puts(text, "+");
    cb_text_puts(text, g == none ? "default" : m->group_names[g]);
  }
  return parts;
}

static cb_status build_groups(const cb_mesh *m, cb_surface **out) {
  size_t groups = m->n_groups + 1;
  int *group = malloc(m->n_triangles * sizeof *group), *parent = malloc(2 * groups * sizeof *parent);
  cb_text *name = calloc(groups, sizeof *name);
  const char **names = calloc(groups, sizeof *names);
  bool good = group && parent && name && names;
  if (good) {
    face_groups(m, group);
    good = unite_groups(m, group, parent);
  }
  int parts = good ? number_parts(m, group, parent, parent + groups, name) : 0;
  for (int p = 0; p < parts; p++) {
    good = good && !name[p].failed;
    names[p] = name[p].data;
  }
  cb_status status = good ? cb_surface_build((int)m->n_vertices, (const double(*)[3])m->vertices, (int)m->n_triangles,
                                             (const int(*)[3])m->triangles, group, names, out)
                          : cb_fail(CB_ERROR_MEMORY, "no memory for the groups of a mesh");
  for (size_t g = 0; name && g < groups; g++) cb_text_free(&name[g]);
  free(group);
  free(parent);
  free(name);
  free(names);
  return status;
}

static cb_status build(const cb_mesh *m, cb_surface **out) {
  if (m->n_vertices > INT_MAX || m->n_triangles > INT_MAX / 3)
    return cb_fail_placed(CB_ERROR_INPUT, "%s:1:1: error: a mesh of %zu triangles: expected at most %d", m->name,
                          m->n_triangles, INT_MAX / 3);
  if (m->n_triangles == 0 || m->n_vertices < 3)
    return cb_fail_placed(CB_ERROR_INPUT, "%s:1:1: error: the mesh has no faces: expected at least one", m->name);
  if (m->n_groups) return build_groups(m, out);
  cb_surface *s = NULL;
  bool cavities = false;
  cb_status status = cb_surface_build((int)m->n_vertices, (const double(*)[3])m->vertices, (int)m->n_triangles,
                                      (const int(*)[3])m->triangles, NULL, NULL, &s);
  if (!status) status = cb_surface_unite_cavities(s, &cavities);
  if (!status && cavities)
    status = cb_surface_build((int)m->n_vertices, (const double(*)[3])m->vertices, (int)m->n_triangles,
                              (const int(*)[3])m->triangles, s->part, NULL, out);
  else if (!status)
    *out = s;
  if (status || cavities) cb_surface_free(s);
  return status;
}

static void *copied(const void *from, size_t n, size_t size) {
  void *to = malloc((n + 1) * size);
  if (to && n) memcpy(to, from, n * size);
  return to;
}

/* Vertices are joined first, because this closes many holes; faces without area are removed last (unless how->posed).
 * first[n_vertices] becomes the vertex with which each vertex is joined. */
static cb_status mend(cb_mesh *m, const cb_mending *how, int *first, cb_surface_mended *done) {
  cb_status status = CB_OK;
  *done = (cb_surface_mended){.tolerance = how->weld ? how->tolerance : 0};
  if (how->weld)
    status = cb_weld(m, how->tolerance, first);
  else
    for (size_t i = 0; i < m->n_vertices; i++) first[i] = (int)i;
  if (!status && how->close > 0) status = cb_mesh_close(m, how->close, done);
  if (!status && !how->posed && cb_mesh_has_flat(m)) status = cb_mesh_unflatten(m, first);
  return status;
}

static cb_status make(const cb_mesh *m, const cb_mending *how, cb_surface **out) {
  static const cb_mending nothing = {.weld = false};
  if (!how) how = &nothing;
  if (!how->weld && !(how->close > 0) && (how->posed || !cb_mesh_has_flat(m))) return build(m, out);
  cb_mesh mended = *m;
  cb_surface_mended done;
  int *first = malloc((m->n_vertices + 1) * sizeof *first);
  mended.triangles = copied(m->triangles, m->n_triangles, sizeof *m->triangles);
  mended.groups = copied(m->groups, m->n_groups ? m->n_triangles : 0, sizeof *m->groups);
  cb_status status = first && mended.triangles && mended.groups
                         ? mend(&mended, how, first, &done)
                         : cb_fail(CB_ERROR_MEMORY, "no memory for a mesh of %zu triangles", m->n_triangles);
  if (!status) status = build(&mended, out);
  for (size_t i = 0; !status && i < m->n_vertices; i++) (*out)->vertex[i] = (*out)->vertex[first[i]];
  if (!status) ((cb_surface_owned *)*out)->mended = done;
  free(first);
  free(mended.triangles);
  free(mended.groups);
  return status;
}

cb_status cb_surface_of_mesh(const cb_mesh *m, const cb_mending *how, cb_surface **out) {
  const cb_status status = make(m, how, out);
  if (!status) ((cb_surface_owned *)*out)->of_file = true;
  return status;
}

cb_status cb_surface_read_mesh(const char *path, const cb_mesh_reading *how, cb_mesh **out) {
  char *bytes;
  size_t n;
  cb_status status = cb_read_whole_file(path, CB_MESH_LARGEST, &bytes, &n);
  if (status) return status;
  status = cb_mesh_read_text(path, bytes, n, cb_mesh_format_of(path, bytes, n), how, out);
  free(bytes);
  return status;
}

cb_status cb_surface_read_mended(const char *path, const cb_mending *how, cb_surface **out) {
  cb_mesh *mesh = NULL;
  cb_status status = cb_surface_read_mesh(path, NULL, &mesh);
  if (!status) status = cb_surface_of_mesh(mesh, how, out);
  cb_mesh_free(mesh);
  return status;
}

cb_status cb_surface_read(const char *path, bool weld, cb_surface **out) {
  const cb_mending how = {.weld = weld};
  return cb_surface_read_mended(path, &how, out);
}
