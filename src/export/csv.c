/* A record as comma-separated values: one line of names, then one line per row.
 *
 * A field without dimensions is a column with the name of the field. Other fields have columns name[label] or
 * name[index], with an index per dimension: killing_momentum[boost_x], plot_position[0;y].
 */
#include "core/text.h"
#include "core/failure.h"
#include "record/record_contents.h"
#include "record/output.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_UNASKED = 64, MAX_ASKED = 4096, BLOCK_BYTES = 4 << 20 };

typedef struct columns {
  cb_reader *reader;
  const cb_reader_field *fields;
  size_t n_fields;
  size_t *chosen, n_chosen; /* indices of fields, first time and step */
  size_t width;             /* values per row */
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
      return cb_fail(CB_ERROR_ARGUMENT, "%s: the field %s is one of events, which --csv writes to a file of their own",
                     path, names[i]);
    const char *now = found ? NULL : cb_record_renamed(names[i]);
    if (now) return cb_fail(CB_ERROR_ARGUMENT, "%s: the field %s was renamed to %s", path, names[i], now);
    if (!found) return cb_fail(CB_ERROR_ARGUMENT, "%s: the record has no field %s", path, names[i]);
  }
  return CB_OK;
}

static cb_status write_names(const columns *c, FILE *stream) {
  for (size_t i = 0; i < c->n_chosen; i++) {
    const cb_reader_field *field = &c->fields[c->chosen[i]];
    const char *const *labels[3] = {NULL, NULL, NULL};
    for (int d = 0; d < field->rank; d++) {
      size_t count;
      cb_status status = cb_reader_labels(c->reader, field->dims[d], &labels[d]);
      if (!status) status = cb_reader_count(c->reader, field->dims[d], &count);
      if (status) return status;
      if (count != field->shape[d]) labels[d] = NULL; /* labels of another dimension with that name */
    }
    for (size_t k = 0; k < field->count; k++) {
      fprintf(stream, "%s%s", i + k ? "," : "", field->name);
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

static cb_status write_events(cb_reader *reader, uint64_t events, FILE *stream) {
  enum { BLOCK = 1024 };
  static const char *const kinds[] = {"reflect", "stop", "mark", "retried_step", "warning"};
  cb_event_row *rows = malloc(BLOCK * sizeof *rows);
  if (!rows) return cb_fail(CB_ERROR_MEMORY, "no memory to write events");
  cb_status status = CB_OK;
  fputs("time,kind,particle,other,wall,gap,speed_before,speed_after,impulse\n", stream);
  for (uint64_t first = 0; !status && first < events; first += BLOCK) {
    uint64_t count = events - first < BLOCK ? events - first : BLOCK;
    status = cb_reader_events(reader, first, count, rows);
    for (uint64_t e = 0; !status && e < count; e++) {
      const cb_event_row *row = &rows[e];
      const double numbers[5] = {row->time, row->gap, row->speed_before, row->speed_after, row->impulse};
      char text[5][32];
      for (int k = 0; k < 5; k++) cb_export_number(text[k], numbers[k]);
      fprintf(stream, "%s,%s,%d,%d,%d,%s,%s,%s,%s\n", text[0],
              row->kind >= 0 && row->kind <= CB_EVENT_WARN ? kinds[row->kind] : "unknown", (int)row->particle,
              (int)row->other, (int)row->wall, text[1], text[2], text[3], text[4]);
    }
  }
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
  status = write_names(c, stream);
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
