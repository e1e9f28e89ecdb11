/* libFuzzer entry for the mesh readers. No input may cause a crash, undefined behaviour, a leak, or an allocation that
 * is too large for the size of the input. An error names its line and column. A mesh that was read is consistent, and
 * so are the surface made of it and its edges. The format is recognised from the bytes.
 *
 * clang -fsanitize=fuzzer,address,undefined; AFL++ takes the same entry through afl-clang-fast -fsanitize=fuzzer. */
#include "fluid/surface_mesh.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void demand(bool truth) {
  if (!truth) abort();
}

static void check_mesh(const cb_mesh *mesh, size_t size) {
  demand(mesh->n_vertices > 0 && mesh->n_vertices <= size && mesh->n_edges <= size && mesh->n_triangles <= size);
  int n = (int)mesh->n_vertices;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) demand(isfinite(mesh->vertices[i][k]));
  for (size_t e = 0; e < mesh->n_edges; e++) {
    const int *edge = mesh->edges[e], *last = e ? mesh->edges[e - 1] : NULL;
    demand(edge[0] >= 0 && edge[0] < edge[1] && edge[1] < n);
    demand(!last || last[0] < edge[0] || (last[0] == edge[0] && last[1] < edge[1]));
  }
  for (size_t t = 0; t < mesh->n_triangles; t++) {
    const int *corner = mesh->triangles[t];
    for (int k = 0; k < 3; k++) demand(corner[k] >= 0 && corner[k] < n && corner[k] != corner[(k + 1) % 3]);
    demand(mesh->groups[t] >= -1 && mesh->groups[t] < (int)mesh->n_groups);
  }
}

static void check_surface(const cb_mesh *mesh) {
  int n = (int)mesh->n_triangles, n_edges = 0;
  cb_surface *s = NULL;
  cb_surface_edge *edge = NULL;
  cb_status status = cb_surface_make((int)mesh->n_vertices, (const double(*)[3])mesh->vertices, n,
                                     (const int(*)[3])mesh->triangles, NULL, &s);
  if (status != CB_OK) {
    demand(!s && (n == 0 || mesh->n_vertices < 3));
    return;
  }
  demand(s->parts > 0 && s->parts <= n);
  status = cb_surface_check(s, true);
  demand(status == CB_OK || status == CB_ERROR_DOMAIN);
  cb_status closed = cb_surface_check(s, false);
  demand(closed == CB_OK || closed == CB_ERROR_DOMAIN);
  demand(closed != CB_OK || status == CB_OK);
  if (cb_surface_edges(s, &edge, &n_edges) == CB_OK) {
    demand(2 * n_edges >= 3 * n && n_edges <= 3 * n);
    if (closed == CB_OK) demand(2 * n_edges == 3 * n);
  } else {
    demand(!edge && status != CB_OK);
  }
  free(edge);
  cb_surface_free(s);
}

/* Reads the same bytes again with the first mesh as the argument `like`. Its polygons must agree with those of the
 * bytes, and only vertices are stored. */
static void check_like(const cb_mesh *mesh, const char *bytes, size_t size, cb_mesh_format format) {
  cb_mesh *again = NULL;
  demand(cb_mesh_read_text("again", bytes, size, format, &(cb_mesh_reading){.like = mesh}, &again) == CB_OK);
  demand(again->n_triangles == 0 && again->n_vertices == mesh->n_vertices);
  demand(!memcmp(again->vertices, mesh->vertices, mesh->n_vertices * sizeof *mesh->vertices));
  cb_mesh_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  /* A copy of exactly these bytes, so that the sanitizer detects any access beyond them. */
  char *bytes = calloc(size ? size : 1, 1);
  if (size) memcpy(bytes, data, size);
  cb_mesh_format format = cb_mesh_format_of("", bytes, size);
  cb_mesh *mesh = NULL;
  cb_status status = cb_mesh_read_text("fuzz", bytes, size, format, NULL, &mesh);
  if (status == CB_OK) {
    check_mesh(mesh, size);
    check_surface(mesh);
    check_like(mesh, bytes, size, format);
  } else {
    int line = 0, column = 0, end = 0;
    demand(!mesh && status == CB_ERROR_INPUT);
    demand(sscanf(cb_error_text(), "fuzz:%d:%d: error: %n", &line, &column, &end) == 2 && end > 0);
    demand(line > 0 && column > 0);
  }
  cb_mesh_free(mesh);
  free(bytes);
  return 0;
}
