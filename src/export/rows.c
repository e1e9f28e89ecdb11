/* The rows of a record as text: an XDMF 3 description of them, and a table of comma-separated values.
 *
 * XDMF (XDMF Model and Format, xdmf.org) is read by ParaView and VisIt: the numbers stay in the HDF5 file, and the XML
 * lists the numbers of each frame. A frame is one row. Its points are /plot_position. Its cells are the bonds
 * (/connectivity/bonds) as lines, or the particles as points if there are no bonds. Numbers and vectors of particles
 * are given at the points, those of bonds at the cells, and fields without dimensions once per frame; other fields are
 * left out. Records of bodies in a fluid are exported by export_surface.c.
 *
 * The table has one line of names, then one line per row. A field without dimensions is a column with the name of the
 * field. Other fields have columns name[label] or name[index], with an index per dimension: killing_momentum[boost_x],
 * plot_position[0;y].
 */
#include "core/failure.h"
#include "core/text.h"
#include "export/export.h"
#include "record/folder.h"
#include "record/output.h"
#include "record/record_contents.h"

#include <stdlib.h>
#include <string.h>

/* ---- XDMF ---- */

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

/* Writes the DataItem of one row of a field, an array without the dimension of time. */
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

/* ---- comma-separated values ---- */

enum { MAX_UNASKED = 64, MAX_ASKED = 4096, BLOCK_BYTES = 4 << 20, EVENTS_BLOCK = 1024, EVENT_FIELDS_MAX = 16 };

typedef struct columns {
  cb_reader *reader;
  const cb_reader_field *fields;
  size_t n_fields;
  size_t *chosen, n_chosen; /* indices in `fields` of the fields that are written; the first two are time and step */
  size_t width;             /* number of values per row */
} columns;

static cb_status choose(columns *c, const char *path, const cb_export_options *options) {
  const char *const *names = options ? options->fields : NULL;
  size_t n_names = names ? options->n_fields : 0;
  for (size_t f = 0; f < c->n_fields; f++) {
    const cb_reader_field *field = &c->fields[f];
    bool wanted = f < 2 || (!names && field->rank <= 1 && field->count <= MAX_UNASKED);
    for (size_t i = 0; i < n_names; i++) {
      if (strcmp(names[i], field->name)) continue;
      if (field->count > MAX_ASKED)
        return cb_fail(CB_ERROR_ARGUMENT,
                       "%s: field %s has %zu values per row, which are too many columns: expected at most %d", path,
                       field->name, field->count, MAX_ASKED);
      wanted = true;
    }
    if (wanted) {
      c->chosen[c->n_chosen++] = f;
      c->width += field->count;
    }
  }
  for (size_t i = 0; i < n_names; i++) {
    bool found = false;
    for (size_t f = 0; f < c->n_fields; f++) found |= !strcmp(names[i], c->fields[f].name);
    if (!found && !strncmp(names[i], "event", 5))
      return cb_fail(CB_ERROR_ARGUMENT,
                     "%s: the field %s has one value per event: expected a field of rows, because --csv writes events "
                     "to a second file",
                     path, names[i]);
    const char *now = found ? NULL : cb_record_renamed(names[i]);
    if (now) return cb_fail(CB_ERROR_ARGUMENT, "%s: the field %s was renamed to %s", path, names[i], now);
    if (!found) return cb_fail(CB_ERROR_ARGUMENT, "%s: the record has no field %s", path, names[i]);
  }
  return CB_OK;
}

/* Writes the names of the columns of the chosen fields; the first one follows a comma if `after` is true. */
static cb_status write_names(const columns *c, bool after, FILE *stream) {
  for (size_t i = 0; i < c->n_chosen; i++) {
    const cb_reader_field *field = &c->fields[c->chosen[i]];
    const char *const *labels[3] = {NULL, NULL, NULL};
    for (int d = 0; d < field->rank; d++) {
      size_t count;
      cb_status status = cb_reader_labels(c->reader, field->dims[d], &labels[d]);
      if (!status) status = cb_reader_count(c->reader, field->dims[d], &count);
      if (status) return status;
      if (count != field->shape[d]) labels[d] = NULL; /* the labels are those of another dimension of this name */
    }
    for (size_t k = 0; k < field->count; k++) {
      fprintf(stream, "%s%s", after || i + k ? "," : "", field->name);
      size_t rest = field->count, index = k;
      for (int d = 0; d < field->rank; d++) {
        rest /= field->shape[d];
        size_t at = index / rest;
        index %= rest;
        fputs(d ? ";" : "[", stream);
        if (labels[d])
          fputs(labels[d][at], stream);
        else
          fprintf(stream, "%zu", at);
      }
      if (field->rank) fputc(']', stream);
    }
  }
  fputc('\n', stream);
  return CB_OK;
}

/* Reads the values of the state at events into value[n_chosen]. */
static cb_status read_states(const columns *c, uint64_t first, uint64_t count, double **value) {
  cb_status status = CB_OK;
  for (size_t i = 0; !status && i < c->n_chosen; i++) {
    if (!value[i]) value[i] = malloc(EVENTS_BLOCK * c->fields[i].count * sizeof *value[i]);
    status = value[i] ? cb_reader_event_values(c->reader, i, first, count, value[i])
                      : cb_fail(CB_ERROR_MEMORY, "no memory to write events");
  }
  return status;
}

static void write_numbers(const double *value, size_t count, FILE *stream) {
  for (size_t k = 0; k < count; k++) {
    char text[32];
    cb_export_number(text, value[k]);
    fprintf(stream, ",%s", text);
  }
}

static cb_status write_rows(const columns *c, uint64_t rows, uint64_t every, FILE *stream) {
  uint64_t block = BLOCK_BYTES / (c->width * sizeof(double));
  if (block < 1) block = 1;
  double **values = calloc(c->n_chosen, sizeof *values);
  cb_status status = values ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory to write rows");
  for (size_t i = 0; !status && i < c->n_chosen; i++)
    if (!(values[i] = malloc(block * c->fields[c->chosen[i]].count * sizeof(double))))
      status = cb_fail(CB_ERROR_MEMORY, "no memory to write rows");
  for (uint64_t first = 0; !status && first < rows; first += block) {
    uint64_t count = rows - first < block ? rows - first : block;
    for (size_t i = 0; !status && i < c->n_chosen; i++)
      status = cb_reader_rows(c->reader, c->chosen[i], first, count, values[i]);
    for (uint64_t row = (every - first % every) % every; !status && row < count; row += every) {
      for (size_t i = 0; i < c->n_chosen; i++) {
        size_t n = c->fields[c->chosen[i]].count;
        for (size_t k = 0; k < n; k++) {
          char text[32];
          cb_export_number(text, values[i][row * n + k]);
          if (i + k) fputc(',', stream);
          fputs(text, stream);
        }
      }
      if (fputc('\n', stream) == EOF) break;
    }
  }
  for (size_t i = 0; values && i < c->n_chosen; i++) free(values[i]);
  free(values);
  return status;
}

const char *cb_export_event_kind(int kind) {
  static const char *const kinds[] = {"reflect", "stop", "mark", "retried_step", "warning"};
  return kind >= 0 && kind <= CB_EVENT_WARN ? kinds[kind] : "unknown";
}

static cb_status write_events(cb_reader *reader, uint64_t events, FILE *stream) {
  cb_event_row *rows = malloc(EVENTS_BLOCK * sizeof *rows);
  if (!rows) return cb_fail(CB_ERROR_MEMORY, "no memory to write events");
  size_t chosen[EVENT_FIELDS_MAX];
  double *state[EVENT_FIELDS_MAX] = {NULL};
  columns c = {.reader = reader, .chosen = chosen};
  c.n_fields = cb_reader_event_fields(reader, &c.fields);
  while (c.n_chosen < c.n_fields && c.n_chosen < EVENT_FIELDS_MAX) {
    chosen[c.n_chosen] = c.n_chosen;
    c.n_chosen++;
  }
  fputs("time,kind,particle,other,wall,gap,speed_before,speed_after,impulse", stream);
  cb_status status = write_names(&c, true, stream);
  for (uint64_t first = 0; !status && first < events; first += EVENTS_BLOCK) {
    uint64_t count = events - first < EVENTS_BLOCK ? events - first : EVENTS_BLOCK;
    status = cb_reader_events(reader, first, count, rows);
    if (!status) status = read_states(&c, first, count, state);
    for (uint64_t e = 0; !status && e < count; e++) {
      const cb_event_row *row = &rows[e];
      const double numbers[5] = {row->time, row->gap, row->speed_before, row->speed_after, row->impulse};
      char text[5][32];
      for (int k = 0; k < 5; k++) cb_export_number(text[k], numbers[k]);
      fprintf(stream, "%s,%s,%d,%d,%d,%s,%s,%s,%s", text[0], cb_export_event_kind(row->kind), (int)row->particle,
              (int)row->other, (int)row->wall, text[1], text[2], text[3], text[4]);
      for (size_t i = 0; i < c.n_chosen; i++)
        write_numbers(state[i] + e * c.fields[i].count, c.fields[i].count, stream);
      fputc('\n', stream);
    }
  }
  for (size_t i = 0; i < c.n_chosen; i++) free(state[i]);
  free(rows);
  return status;
}

/* Makes the name of the file of events, malloc'd: out.csv -> out-events.csv. NULL: there is no memory. */
static char *events_path(const char *out) {
  const char *slash = strrchr(out, '/'), *dot = strrchr(out, '.');
  size_t stem = dot && dot > out && (!slash || dot > slash + 1) ? (size_t)(dot - out) : strlen(out);
  char *path = malloc(strlen(out) + 8);
  if (path) sprintf(path, "%.*s-events%s", (int)stem, out, out + stem);
  return path;
}

static cb_status export_events(cb_reader *reader, const char *path) {
  uint64_t events = cb_reader_position(reader).events;
  if (!events) return CB_OK;
  cb_output file;
  FILE *stream;
  cb_status status = cb_output_open_text(path, &file, &stream);
  return status ? status : cb_output_close_text(&file, stream, write_events(reader, events, stream));
}

static cb_status export_rows(const columns *c, uint64_t every, const char *path) {
  cb_output file;
  FILE *stream;
  cb_status status = cb_output_open_text(path, &file, &stream);
  if (status) return status;
  status = write_names(c, false, stream);
  if (!status) status = write_rows(c, cb_reader_position(c->reader).rows, every, stream);
  return cb_output_close_text(&file, stream, status);
}

cb_status cb_record_export_csv(const char *path, const char *out, const cb_export_options *options) {
  columns c = {0};
  char *events = events_path(out);
  if (!events) return cb_fail(CB_ERROR_MEMORY, "no memory to export %s", path);
  cb_status status = cb_output_check(out, &(cb_files){&path, 1});
  if (!status) status = cb_output_check(events, &(cb_files){&path, 1});
  if (!status) status = cb_reader_open(path, &c.reader);
  if (!status) {
    c.n_fields = cb_reader_fields(c.reader, &c.fields);
    c.chosen = calloc(c.n_fields, sizeof *c.chosen);
    status = c.chosen ? choose(&c, path, options) : cb_fail(CB_ERROR_MEMORY, "no memory to read %s", path);
  }
  if (!status) status = export_rows(&c, options && options->every ? options->every : 1, out);
  const bool prints = !strcmp(out, "-");
  if (!status && prints && cb_reader_position(c.reader).events)
    cb_note("the events of %s are not printed: they are written to a second file if the output is a file", path);
  if (!status && !prints) status = export_events(c.reader, events);
  free(events);
  free(c.chosen);
  cb_reader_close(c.reader);
  return status;
}
