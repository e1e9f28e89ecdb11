/* An XDMF 3 description of a record (XDMF Model and Format, xdmf.org), which ParaView and VisIt read: the numbers stay
 * in the HDF5 file, and the XML lists the numbers of each frame.
 *
 * A frame is one row. Its points are /plot_position. Its cells are the bonds (/connectivity/bonds) as lines, or the
 * particles as points if there are no bonds. Numbers and vectors of particles are given at the points, those of bonds
 * at the cells, and fields without dimensions once per frame; other fields are left out. Records of bodies in a fluid
 * are exported by export_surface.c.
 */
#include "core/text.h"
#include "export/export.h"
#include "record/folder.h"
#include "record/output.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 10000 };

typedef struct scene {
  cb_reader *reader;
  const char *file; /* the name that the XML gives to the HDF5 file with the numbers */
  const cb_reader_field *fields;
  size_t n_fields;
  const cb_reader_field *x;
  uint64_t rows;
  size_t particles, bonds;
  bool masses;
  FILE *stream;
} scene;

/* Puts one row of a field: an array without the dimension of time. */
static void put_row(const scene *s, const cb_reader_field *field, uint64_t row) {
  cb_xdmf_array array = {.file = s->file,
                         .dataset = field->stored,
                         .number = field->type == CB_FIELD_DOUBLE ? "Float" : "Int",
                         .precision = field->type == CB_FIELD_INT32 ? 4 : 8,
                         .rank = field->rank};
  memcpy(array.shape, field->shape, sizeof field->shape);
  cb_xdmf_put_row(s->stream, &array, s->rows, row);
}

static void put_topology(const scene *s) {
  if (!s->bonds) {
    fprintf(s->stream, "<Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%zu\" NodesPerElement=\"1\"/>\n",
            s->particles);
    return;
  }
  fprintf(s->stream, "<Topology TopologyType=\"Polyline\" NumberOfElements=\"%zu\" NodesPerElement=\"2\">", s->bonds);
  cb_xdmf_put_array(s->stream, &(cb_xdmf_array){s->file, "connectivity/bonds", "Int", 8, 2, {s->bonds, 2}});
  fputs("</Topology>\n", s->stream);
}

/* Returns the center of a field in the sense of XDMF; NULL if the field is not drawn. */
static const char *center_of(const scene *s, const cb_reader_field *field) {
  bool vector = field->rank == 2 && field->shape[1] == 3;
  if (field->rank == 0) return "Grid";
  if (!strcmp(field->dims[0], "particle") && (field->rank == 1 || vector)) return "Node";
  if (s->bonds && !strcmp(field->dims[0], "bond") && (field->rank == 1 || vector)) return "Cell";
  return NULL;
}

static void put_frame(const scene *s, uint64_t row, double time) {
  char text[32];
  cb_export_number(text, time);
  fprintf(s->stream, "<Grid Name=\"row %llu\" GridType=\"Uniform\"><Time Value=\"%s\"/>\n", (unsigned long long)row,
          text);
  put_topology(s);
  fprintf(s->stream, "<Geometry GeometryType=\"%s\">", s->x->shape[1] == 3 ? "XYZ" : "XY");
  put_row(s, s->x, row);
  fputs("</Geometry>\n", s->stream);
  for (size_t f = 0; f < s->n_fields; f++) {
    const cb_reader_field *field = &s->fields[f];
    const char *center = center_of(s, field);
    if (!center || field == s->x || !strcmp(field->name, "time")) continue;
    fputs("<Attribute Name=\"", s->stream);
    cb_xdmf_put_text(s->stream, field->name);
    fprintf(s->stream, "\" AttributeType=\"%s\" Center=\"%s\">", field->rank == 2 ? "Vector" : "Scalar", center);
    put_row(s, field, row);
    fputs("</Attribute>\n", s->stream);
  }
  if (s->masses) {
    fputs("<Attribute Name=\"particle_mass\" AttributeType=\"Scalar\" Center=\"Node\">", s->stream);
    cb_xdmf_put_array(s->stream, &(cb_xdmf_array){s->file, "particle_mass", "Float", 8, 1, {s->particles}});
    fputs("</Attribute>\n", s->stream);
  }
  fputs("</Grid>\n", s->stream);
}

static cb_status put_frames(scene *s, uint64_t every) {
  double *times = malloc((s->rows ? s->rows : 1) * sizeof *times);
  if (!times) return cb_fail(CB_ERROR_MEMORY, "no memory for %llu times", (unsigned long long)s->rows);
  cb_status status = cb_reader_rows(s->reader, 0, 0, s->rows, times);
  if (!status) {
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"3.0\"><Domain>\n", s->stream);
    fprintf(s->stream, "<!-- every %llu of %llu rows -->\n", (unsigned long long)every, (unsigned long long)s->rows);
    fputs("<Grid Name=\"bodies\" GridType=\"Collection\" CollectionType=\"Temporal\">\n", s->stream);
    for (uint64_t row = 0; row < s->rows && !ferror(s->stream); row += every) put_frame(s, row, times[row]);
    fputs("</Grid>\n</Domain></Xdmf>\n", s->stream);
  }
  free(times);
  return status;
}

/* Returns the malloc'd name by which the XML file `out` refers to `file`: the last part of its path if both are in the
 * same folder, otherwise its complete path. Returns NULL if there is no memory or no such file. */
static char *relative_name(const char *file, const char *out) {
  const char *slash = strrchr(file, '/'), *out_slash = strrchr(out, '/');
  size_t folder = slash ? (size_t)(slash - file) : 0, out_folder = out_slash ? (size_t)(out_slash - out) : 0;
  if (!slash == !out_slash && folder == out_folder && !strncmp(file, out, folder))
    return strdup(slash ? slash + 1 : file);
  return realpath(file, NULL);
}

static cb_status look(scene *s, const char *path) {
  s->n_fields = cb_reader_fields(s->reader, &s->fields);
  cb_status status = cb_reader_rows_by_name(s->reader, &s->rows);
  if (status) return status;
  for (size_t f = 0; f < s->n_fields; f++)
    if (!strcmp(s->fields[f].name, "plot_position") && s->fields[f].rank == 2) s->x = &s->fields[f];
  if (!s->x || s->x->shape[1] < 2 || s->x->shape[1] > 3)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: expected a record with a field plot_position in two or three dimensions",
                   path);
  s->particles = s->x->shape[0];
  size_t ends, masses;
  status = cb_reader_count(s->reader, "connectivity/bonds", &ends);
  if (!status) status = cb_reader_count(s->reader, "particle_mass", &masses);
  if (status) return status;
  s->bonds = ends / 2;
  s->masses = masses == s->particles;
  return CB_OK;
}

cb_status cb_record_export_xdmf(const char *path, const char *out, const cb_export_options *options) {
  scene s = {0};
  cb_output file;
  cb_status status = cb_output_check(out, &(cb_files){&path, 1});
  if (!status) status = cb_reader_open(path, &s.reader);
  if (status) return status;
  bool bodies = false;
  status = cb_export_has_bodies(s.reader, path, &bodies);
  if (status || bodies) {
    if (!status && !strcmp(out, "-"))
      status = cb_fail(CB_ERROR_ARGUMENT,
                       "%s: its surfaces are written to a second file: expected a file name for the output, found `-`",
                       path);
    else if (!status)
      status = cb_export_surface(s.reader, path, out, options ? options->every : 0);
    cb_reader_close(s.reader);
    return status;
  }
  char *name = relative_name(path, out);
  s.file = name;
  status = name ? look(&s, path) : cb_fail(CB_ERROR_MEMORY, "no memory to export %s", path);
  if (!status && !(status = cb_output_open_text(out, &file, &s.stream))) {
    uint64_t every = options && options->every ? options->every : (s.rows + MAX_FRAMES - 1) / MAX_FRAMES;
    status = cb_output_close_text(&file, s.stream, put_frames(&s, every ? every : 1));
  }
  free(name);
  cb_reader_close(s.reader);
  return status;
}

/* ---- Arrays of HDF5 files in XDMF documents */

void cb_xdmf_put_text(FILE *stream, const char *text) {
  for (; *text; text++) switch (*text) {
      case '&': fputs("&amp;", stream); break;
      case '<': fputs("&lt;", stream); break;
      case '>': fputs("&gt;", stream); break;
      case '"': fputs("&quot;", stream); break;
      default: fputc(*text, stream);
    }
}

/* Ends the opening tag of a DataItem after its dimensions, and writes the file and name of the array. */
static void put_heavy(FILE *stream, const cb_xdmf_array *a) {
  fprintf(stream, "\" NumberType=\"%s\" Precision=\"%d\" Format=\"HDF\">", a->number, a->precision);
  cb_xdmf_put_text(stream, a->file);
  fputs(":/", stream);
  cb_xdmf_put_text(stream, a->dataset);
  fputs("</DataItem>", stream);
}

void cb_xdmf_put_array(FILE *stream, const cb_xdmf_array *a) {
  fputs("<DataItem Dimensions=\"", stream);
  if (!a->rank) fputs("1", stream);
  for (int d = 0; d < a->rank; d++) fprintf(stream, "%s%zu", d ? " " : "", a->shape[d]);
  put_heavy(stream, a);
}

void cb_xdmf_put_row(FILE *stream, const cb_xdmf_array *a, uint64_t rows, uint64_t row) {
  fputs("<DataItem ItemType=\"HyperSlab\" Dimensions=\"", stream);
  if (!a->rank) fputs("1", stream);
  for (int d = 0; d < a->rank; d++) fprintf(stream, "%s%zu", d ? " " : "", a->shape[d]);
  fprintf(stream, "\"><DataItem Dimensions=\"3 %d\" Format=\"XML\">%llu", a->rank + 1, (unsigned long long)row);
  for (int d = 0; d < a->rank; d++) fputs(" 0", stream);
  for (int d = 0; d < a->rank + 1; d++) fputs(" 1", stream);
  fputs(" 1", stream);
  for (int d = 0; d < a->rank; d++) fprintf(stream, " %zu", a->shape[d]);
  fprintf(stream, "</DataItem><DataItem Dimensions=\"%llu", (unsigned long long)rows);
  for (int d = 0; d < a->rank; d++) fprintf(stream, " %zu", a->shape[d]);
  put_heavy(stream, a);
  fputs("</DataItem>", stream);
}
