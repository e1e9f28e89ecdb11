/* libFuzzer entry of the mesh readers: whatever the bytes, no crash, no undefined behaviour, no leak, no memory beyond
 * what the bytes can hold; an error has a place; a mesh that was read is sound. What begins with `ply` is read as PLY.
 *
 * clang -fsanitize=fuzzer,address,undefined; AFL++ takes the same entry through afl-clang-fast -fsanitize=fuzzer. */
#include "numerics/mesh.h"
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
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  /* A copy of exactly these bytes, so that the sanitizer sees one too many. */
  char *bytes = malloc(size ? size : 1);
  if (size) memcpy(bytes, data, size);
  cb_mesh_format format = size >= 3 && memcmp(bytes, "ply", 3) == 0 ? CB_MESH_PLY : CB_MESH_OBJ;
  cb_mesh *mesh = NULL;
  cb_status status = cb_mesh_read_text("fuzz", bytes, size, format, &mesh);
  if (status == CB_OK) {
    check_mesh(mesh, size);
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
