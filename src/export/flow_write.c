/* Writes the two files of a flow, HDF5 and XDMF, from one table of names and shapes. */
#include "export/export_flow.h"

#include "core/text.h"
#include "export/export.h"
#include "record/output.h"

#include <string.h>

typedef struct numbers {
  const char *name, *grid, *center; /* grid NULL: the array is not an attribute */
  bool whole;                       /* the values are int; otherwise double */
  int rank;
  size_t shape[4];
  const void *data;
} numbers;

enum { TABLES = 16 };
static void list_numbers(const cb_export_scene *s, numbers table[TABLES]) {
  const size_t nx = (size_t)s->how.grid[0], ny = (size_t)s->how.grid[1], nz = (size_t)s->how.grid[2],
               faces = (size_t)s->faces, lines = (size_t)s->lines, backs = s->sheets ? faces : 0;
  const numbers all[TABLES] = {{"u", "grid", "Node", false, 4, {nz, ny, nx, 3}, s->u},
                               {"p", "grid", "Node", false, 3, {nz, ny, nx}, s->p},
                               {"x", NULL, NULL, false, 2, {(size_t)s->vertices, 3}, s->x},
                               {"face", NULL, NULL, true, 2, {faces, 3}, s->face},
                               {"body", "surface", "Cell", true, 1, {faces}, s->body},
                               {"phi", "surface", "Cell", false, 1, {faces}, s->face_phi[0]},
                               {"face_p", "surface", "Cell", false, 1, {faces}, s->face_p[0]},
                               {"face_u", "surface", "Cell", false, 2, {faces, 3}, s->face_u[0]},
                               {"line", NULL, NULL, false, 3, {lines, CB_FLOW_LINE, 3}, s->line},
                               {"line_u", "streamlines", "Node", false, 3, {lines, CB_FLOW_LINE, 3}, s->line_u},
                               {"radius", "streamlines", "Node", false, 2, {lines, CB_FLOW_LINE}, s->radius},
                               {"phi_back", "surface", "Cell", false, 1, {backs}, s->face_phi[1]},
                               {"face_p_back", "surface", "Cell", false, 1, {backs}, s->face_p[1]},
                               {"face_u_back", "surface", "Cell", false, 2, {backs, 3}, s->face_u[1]},
                               {"origin", NULL, NULL, false, 1, {3}, s->origin},
                               {"spacing", NULL, NULL, false, 1, {3}, s->spacing}};
  memcpy(table, all, sizeof all);
}

cb_status cb_export_flow_numbers(const cb_export_scene *s, const char *name) {
  numbers table[TABLES];
  cb_output output;
  hid_t file;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = cb_output_open_hdf5(name, false, &output, &file);
  if (!status) {
    list_numbers(s, table);
    for (int i = 0; i < TABLES && !status; i++) {
      hsize_t dims[4];
      for (int d = 0; d < 4; d++) dims[d] = table[i].shape[d];
      if (!dims[0]) continue;
      const hid_t kind[2] = {table[i].whole ? H5T_STD_I32LE : H5T_IEEE_F64LE,
                             table[i].whole ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE};
      const hid_t dataset =
          cb_hdf5_put_dataset(file, table[i].name, kind[0], table[i].rank, dims, kind[1], table[i].data);
      if (dataset < 0 || H5Dclose(dataset) < 0) status = cb_hdf5_fail(name, "write");
    }
    status = cb_output_close_hdf5(&output, file, status);
  }
  cb_hdf5_quiet_end(quiet);
  return status;
}

static void put_numbers(FILE *stream, const char *file, const numbers *n) {
  cb_xdmf_array array = {file, n->name, n->whole ? "Int" : "Float", n->whole ? 4 : 8, n->rank, {0}};
  memcpy(array.shape, n->shape, sizeof array.shape);
  cb_xdmf_put_array(stream, &array);
}

static void put_grid(const cb_export_scene *s, FILE *stream, const char *file, const char *grid,
                     const numbers table[TABLES]) {
  char text[6][32];
  cb_export_number(text[0], s->time);
  fprintf(stream, "<Grid Name=\"%s\" GridType=\"Uniform\"><Time Value=\"%s\"/>\n", grid, text[0]);
  if (!strcmp(grid, "grid")) {
    for (int k = 0; k < 3; k++) {
      cb_export_number(text[k], s->origin[2 - k]);
      cb_export_number(text[3 + k], s->spacing[2 - k]);
    }
    fprintf(
        stream,
        "<Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%d %d %d\"/>\n<Geometry GeometryType=\"ORIGIN_DXDYDZ\">",
        s->how.grid[2], s->how.grid[1], s->how.grid[0]);
    for (int k = 0; k < 6; k += 3)
      fprintf(stream,
              "<DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">%s %s %s</DataItem>",
              text[k], text[k + 1], text[k + 2]);
  } else if (!strcmp(grid, "surface")) {
    fprintf(stream, "<Topology TopologyType=\"Triangle\" NumberOfElements=\"%d\">", s->faces);
    put_numbers(stream, file, &table[3]);
    fputs("</Topology>\n<Geometry GeometryType=\"XYZ\">", stream);
    put_numbers(stream, file, &table[2]);
  } else {
    fprintf(stream, "<Topology TopologyType=\"Polyline\" NumberOfElements=\"%d\" NodesPerElement=\"%d\">", s->lines,
            CB_FLOW_LINE);
    fprintf(stream, "<DataItem Dimensions=\"%d %d\" NumberType=\"Int\" Format=\"XML\">", s->lines, CB_FLOW_LINE);
    for (int i = 0; i < s->lines * CB_FLOW_LINE; i++) fprintf(stream, "%d%c", i, (i + 1) % CB_FLOW_LINE ? ' ' : '\n');
    fputs("</DataItem></Topology>\n<Geometry GeometryType=\"XYZ\">", stream);
    put_numbers(stream, file, &table[8]);
  }
  fputs("</Geometry>\n", stream);
  for (int i = 0; i < TABLES; i++) {
    if (!table[i].grid || !table[i].shape[0] || strcmp(table[i].grid, grid) != 0) continue;
    const bool vector = table[i].shape[table[i].rank - 1] == 3 && table[i].rank > 1;
    fprintf(stream, "<Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"%s\">", table[i].name,
            vector ? "Vector" : "Scalar", table[i].center);
    put_numbers(stream, file, &table[i]);
    fputs("</Attribute>\n", stream);
  }
  fputs("</Grid>\n", stream);
}

cb_status cb_export_flow_document(const cb_export_scene *s, const char *out, const char *name) {
  const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name;
  numbers table[TABLES];
  cb_output output;
  FILE *stream;
  cb_status status = cb_output_open_text(out, &output, &stream);
  if (status) return status;
  list_numbers(s, table);
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"3.0\"><Domain>\n", stream);
  fputs("<Grid Name=\"flow\" GridType=\"Collection\" CollectionType=\"Spatial\">\n", stream);
  put_grid(s, stream, file, "grid", table);
  put_grid(s, stream, file, "surface", table);
  if (s->lines) put_grid(s, stream, file, "streamlines", table);
  fputs("</Grid>\n</Domain></Xdmf>\n", stream);
  return cb_output_close_text(&output, stream, CB_OK);
}
