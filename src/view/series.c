/* Observables over time: exact values at chosen rows. Of many rows each bin gives those of its least and greatest value
 * of each column, so that no peak is lost; of more than MOST_COLUMNS columns a row gives the least, mean and
 * greatest. Where more than DENSE columns choose rows, each of BINS bins, a row has the values of those columns that
 * chose it, and nan in the others (`sparse`), which takes next to no room. */
#include "view/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 64, DENSE = 8, BINS = 80, POINTS = 2000, MOST_EVENTS = 10000, BLOCK = 1 << 21 };

/* What is drawn, or no observable. */
static bool left_out(const char *name) {
  static const char *const names[] = {"time", "step", "x", "v", "position", "momentum", "origin", "pose", NULL};
  for (int i = 0; names[i]; i++)
    if (!strcmp(names[i], name)) return true;
  return false;
}

typedef struct bins {
  size_t columns, n;
  uint64_t rows;
  double *least, *greatest; /* [n][columns] */
  uint64_t *at_least, *at_greatest;
} bins;

static void take(bins *b, uint64_t row, const double *value) {
  const size_t bin = (size_t)(row * b->n / b->rows);
  for (size_t c = 0, at = bin * b->columns; c < b->columns; c++, at++) {
    if (!(value[c] >= b->least[at])) b->least[at] = value[c], b->at_least[at] = row;
    if (!(value[c] <= b->greatest[at])) b->greatest[at] = value[c], b->at_greatest[at] = row;
  }
}

/* A row as it is shown: columns, or three numbers of many. */
static void reduce(const double *from, size_t count, size_t columns, double *to) {
  if (count == columns) {
    memcpy(to, from, count * sizeof *to);
    return;
  }
  double sum = 0;
  to[0] = to[2] = from[0];
  for (size_t i = 0; i < count; i++) {
    to[0] = fmin(to[0], from[i]), to[2] = fmax(to[2], from[i]);
    sum += from[i];
  }
  to[1] = sum / (double)count;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Rows of a field in blocks: each goes to `bins`, or, where those are NULL, all that are wanted to out. */
static cb_status pass(const cb_view *v, int f, size_t columns, bins *b, double *block, size_t block_rows, size_t n,
                      const double *wanted, double *out) {
  const size_t count = v->fields[f].count;
  double shown[MOST_COLUMNS];
  cb_status status = CB_OK;
  for (uint64_t first = 0, w = 0; first < v->rows && !status; first += block_rows) {
    const uint64_t rows = v->rows - first < block_rows ? v->rows - first : block_rows;
    if (wanted && (w == n || wanted[w] >= (double)(first + rows))) continue;
    status = cb_reader_rows(v->reader, (size_t)f, first, rows, block);
    for (uint64_t r = 0; r < rows && !status; r++) {
      if (wanted && (w == n || wanted[w] != (double)(first + r))) continue;
      reduce(block + r * count, count, columns, shown);
      if (b) take(b, first + r, shown);
      if (out) memcpy(out + w++ * columns, shown, columns * sizeof *shown);
    }
  }
  return status;
}

/* [n][columns]: did the column choose the row? All have the first and the last. */
static cb_status keep(const cb_view *v, const bins *b, const double *wanted, size_t n, bool **kept) {
  if (!(*kept = calloc(n * b->columns, sizeof **kept))) return cb_view_memory(v);
  for (size_t i = 0; i < 2 * b->n * b->columns; i++) {
    const double row = (double)b->at_least[i];
    const double *at = bsearch(&row, wanted, n, sizeof row, ascending);
    if (at) (*kept)[(size_t)(at - wanted) * b->columns + i % b->columns] = true;
  }
  for (size_t c = 0; c < b->columns; c++) (*kept)[c] = (*kept)[(n - 1) * b->columns + c] = true;
  return CB_OK;
}

/* All rows, or those that bins choose with the first and the last: *wanted[*n], from malloc; *kept, where columns choose
 * for themselves. */
static cb_status choose(const cb_view *v, int f, size_t columns, double *block, size_t block_rows, double **wanted,
                        size_t *n, bool **kept) {
  bins b = {.columns = columns, .rows = v->rows, .n = columns > DENSE ? BINS : POINTS / (2 * columns)};
  const bool all = v->rows <= (columns > DENSE ? 4 * BINS : 2 * b.n * columns);
  const size_t cells = b.n * columns, most = all ? v->rows : 2 * cells + 2;
  *wanted = malloc(most * sizeof **wanted);
  *n = 0;
  if (!*wanted) return cb_view_memory(v);
  if (all) {
    for (uint64_t r = 0; r < v->rows; r++) (*wanted)[(*n)++] = (double)r;
    return CB_OK;
  }
  b.least = malloc(2 * cells * sizeof *b.least), b.at_least = calloc(2 * cells, sizeof *b.at_least);
  cb_status status = b.least && b.at_least ? CB_OK : cb_view_memory(v);
  if (!status) {
    b.greatest = b.least + cells, b.at_greatest = b.at_least + cells;
    for (size_t i = 0; i < 2 * cells; i++) b.least[i] = NAN;
    status = pass(v, f, columns, &b, block, block_rows, 0, NULL, NULL);
  }
  for (size_t i = 0; i < 2 * cells; i++) (*wanted)[i] = status ? 0 : (double)b.at_least[i];
  (*wanted)[2 * cells] = 0, (*wanted)[2 * cells + 1] = (double)(v->rows - 1);
  qsort(*wanted, most, sizeof **wanted, ascending);
  for (size_t i = 0; i < most; i++)
    if (!*n || (*wanted)[*n - 1] != (*wanted)[i]) (*wanted)[(*n)++] = (*wanted)[i];
  if (!status && columns > DENSE) status = keep(v, &b, *wanted, *n, kept);
  free(b.least), free(b.at_least);
  return status;
}

static cb_status put_labels(const cb_view *v, int f, size_t columns) {
  static const char *const three[] = {"least", "mean", "greatest"};
  const cb_reader_field *field = &v->fields[f];
  const char *const *label[3] = {NULL, NULL, NULL};
  char text[256], number[3][24];
  cb_status status = CB_OK;
  if (columns != field->count) return cb_page_words(v->page, "labels", 3, three), CB_OK;
  for (int d = 0; d < field->rank && !status; d++)
    status = cb_view_labels(v, field->dims[d], field->shape[d], &label[d]);
  cb_page_begin(v->page, "labels", '[');
  for (size_t c = 0; c < columns && !status; c++) {
    size_t rest = c, at[3] = {0};
    int length = 0;
    for (int d = field->rank - 1; d >= 0; d--) at[d] = rest % field->shape[d], rest /= field->shape[d];
    text[0] = 0;
    for (int d = 0; d < field->rank && length < (int)sizeof text - 1; d++) {
      snprintf(number[d], sizeof number[d], "%zu", at[d]);
      length += snprintf(text + length, sizeof text - (size_t)length, "%s%s", d ? " " : "",
                         label[d] ? label[d][at[d]] : number[d]);
    }
    cb_page_text(v->page, NULL, field->rank ? text : field->name);
  }
  cb_page_end(v->page, ']');
  return status;
}

static cb_status put_field(const cb_view *v, int f) {
  const cb_reader_field *field = &v->fields[f];
  const size_t columns = field->count > MOST_COLUMNS ? 3 : field->count;
  const size_t block_rows = BLOCK / field->count ? BLOCK / field->count : 1;
  double *block = malloc(block_rows * field->count * sizeof *block), *wanted = NULL, *value = NULL, *time = NULL;
  size_t n = 0;
  bool *kept = NULL;
  cb_status status = block ? choose(v, f, columns, block, block_rows, &wanted, &n, &kept) : cb_view_memory(v);
  if (!status && (!(value = malloc(n * columns * sizeof *value)) || !(time = malloc(n * sizeof *time))))
    status = cb_view_memory(v);
  if (!status) status = pass(v, f, columns, NULL, block, block_rows, n, wanted, value);
  for (size_t i = 0; i < n && !status; i++) status = cb_reader_rows(v->reader, 0, (uint64_t)wanted[i], 1, &time[i]);
  for (size_t i = 0; kept && i < n * columns && !status; i++)
    if (!kept[i]) value[i] = NAN;
  cb_page_begin(v->page, NULL, '{');
  if (kept) cb_page_number(v->page, "sparse", 1);
  cb_page_text(v->page, "name", field->name);
  cb_page_text(v->page, "units", field->units);
  if (!status) status = put_labels(v, f, columns);
  if (!status) status = cb_page_array(v->page, "row", CB_PAGE_F8, n, 0, 0, wanted);
  if (!status) status = cb_page_array(v->page, "time", CB_PAGE_F8, n, 0, 0, time);
  if (!status) status = cb_page_array(v->page, "value", CB_PAGE_F8, n, columns, 0, value);
  cb_page_end(v->page, '}');
  free(block), free(wanted), free(value), free(time), free(kept);
  return status;
}

cb_status cb_view_series(const cb_view *v) {
  cb_status status = CB_OK;
  cb_page_begin(v->page, "series", '[');
  for (size_t f = 0; f < v->n_fields && !status && v->rows; f++)
    if (!left_out(v->fields[f].name) && v->fields[f].count) status = put_field(v, (int)f);
  cb_page_end(v->page, ']');
  return status;
}

cb_status cb_view_events(const cb_view *v) {
  const uint64_t have = cb_reader_position(v->reader).events, n = have < MOST_EVENTS ? have : MOST_EVENTS;
  cb_event_row row;
  double *four = malloc((n ? 4 * n : 1) * sizeof *four);
  cb_status status = four ? CB_OK : cb_view_memory(v);
  for (uint64_t e = 0; e < n && !status; e++) {
    status = cb_reader_events(v->reader, e * have / n, 1, &row);
    if (!status) memcpy(four + 4 * e, (double[]){row.time, row.kind, row.i, row.j}, 4 * sizeof *four);
  }
  cb_page_number(v->page, "events_in_all", (double)have);
  if (!status) status = cb_page_array(v->page, "events", CB_PAGE_F8, n, 4, 0, four);
  free(four);
  return status;
}
