/* The plots of a page: observables over time, events, the shape space of a gait, and the arrays of a file that has axes
 * in place of time.
 *
 * An observable is plotted by its exact values at chosen rows. If there are many rows they are divided into bins, and
 * each column chooses the rows of its minimum and maximum in each bin, so that no peak is lost. A field with more than
 * MAX_COLUMNS columns is plotted by the minimum, mean and maximum of each row, for each component of a vector. With
 * more than DENSE columns there are BINS bins, and a row has the values of the columns that chose it and nan in the
 * others (`sparse`), which compresses well. */
#include "core/failure.h"
#include "record/arrays.h"
#include "view/view_private.h"
#include <curvebody/joint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_COLUMNS = 64, MAX_COMPONENTS = 6, DENSE = 8, BINS = 80, POINTS = 2000, MAX_EVENTS = 10000, BLOCK = 1 << 21 };

/* Returns whether a field is not plotted, because it is drawn in the scene or is not an observable. */
static bool left_out(const char *name) {
  static const char *const names[] = {
      "time", "step", "plot_position", "plot_velocity", "position", "momentum", "origin", "pose", NULL};
  for (int i = 0; names[i]; i++)
    if (!strcmp(names[i], name)) return true;
  return false;
}

typedef struct bins {
  size_t columns, n;
  uint64_t rows;
  double *least, *greatest; /* [n][columns]: the extrema of each column in each bin */
  uint64_t *at_least, *at_greatest;
} bins;

static void take(bins *b, uint64_t row, const double *value) {
  const size_t bin = (size_t)(row * b->n / b->rows);
  for (size_t c = 0, at = bin * b->columns; c < b->columns; c++, at++) {
    if (!(value[c] >= b->least[at])) {
      b->least[at] = value[c];
      b->at_least[at] = row;
    }
    if (!(value[c] <= b->greatest[at])) {
      b->greatest[at] = value[c];
      b->at_greatest[at] = row;
    }
  }
}

/* Returns the number of components whose minimum, mean and maximum are plotted. Components of vectors of bodies or
 * particles have different units if a vector has an angular and a linear part. */
static size_t components_of(const cb_reader_field *field) {
  const size_t last = field->rank > 1 ? field->shape[field->rank - 1] : 1;
  return last <= MAX_COMPONENTS ? last : 1;
}

/* Computes the values of a row that are plotted: all columns, or the minimum, mean and maximum of each component. */
static void reduce(const double *from, size_t count, size_t columns, double *to) {
  if (count == columns) {
    memcpy(to, from, count * sizeof *to);
    return;
  }
  const size_t components = columns / 3, each = count / components;
  for (size_t c = 0; c < components; c++, to += 3) {
    to[0] = to[2] = from[c];
    to[1] = 0;
    for (size_t i = c; i < count; i += components) {
      to[0] = fmin(to[0], from[i]);
      to[2] = fmax(to[2], from[i]);
      to[1] += from[i] / (double)each;
    }
  }
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* A field that is read in blocks of rows. */
typedef struct blocks {
  const cb_view *v;
  int field;
  size_t columns; /* number of values per row that are plotted */
  size_t rows;    /* number of rows in a block */
  double *block;
} blocks;

/* Reads all rows of a field. Each row is added to the bins `b`; or, if b is NULL, the rows wanted[n] are copied to
 * `out`. */
static cb_status pass(const blocks *p, bins *b, size_t n, const double *wanted, double *out) {
  const cb_view *v = p->v;
  const size_t count = v->fields[p->field].count;
  double shown[MAX_COLUMNS];
  cb_status status = CB_OK;
  for (uint64_t first = 0, w = 0; first < v->rows && !status; first += p->rows) {
    const uint64_t rows = v->rows - first < p->rows ? v->rows - first : p->rows;
    if (wanted && (w == n || wanted[w] >= (double)(first + rows))) continue;
    status = cb_reader_rows(v->reader, (size_t)p->field, first, rows, p->block);
    for (uint64_t r = 0; r < rows && !status; r++) {
      if (wanted && (w == n || wanted[w] != (double)(first + r))) continue;
      reduce(p->block + r * count, count, p->columns, shown);
      if (b) take(b, first + r, shown);
      if (out) memcpy(out + w++ * p->columns, shown, p->columns * sizeof *shown);
    }
  }
  return status;
}

/* Sets kept[i][c] to whether column c plots row wanted[i]. Each column plots the first and the last row, and the rows
 * of the minimum and the maximum in each of its bins. The caller frees *kept. */
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

/* Chooses the rows of a plot and writes their numbers to (*wanted)[*n]: all rows, or the first, the last, and the rows
 * of the extrema in the bins. With more than DENSE columns, keep sets *kept to the choice of each column. The caller
 * frees both arrays. */
static cb_status choose(const blocks *p, double **wanted, size_t *n, bool **kept) {
  const cb_view *v = p->v;
  const size_t columns = p->columns;
  bins b = {.columns = columns, .rows = v->rows, .n = columns > DENSE ? BINS : POINTS / (2 * columns)};
  const bool all = v->rows <= (columns > DENSE ? 4 * BINS : 2 * b.n * columns);
  const size_t cells = b.n * columns, maximum = all ? v->rows : 2 * cells + 2;
  *wanted = malloc(maximum * sizeof **wanted);
  *n = 0;
  if (!*wanted) return cb_view_memory(v);
  if (all) {
    for (uint64_t r = 0; r < v->rows; r++) (*wanted)[(*n)++] = (double)r;
    return CB_OK;
  }
  b.least = malloc(2 * cells * sizeof *b.least);
  b.at_least = calloc(2 * cells, sizeof *b.at_least);
  cb_status status = b.least && b.at_least ? CB_OK : cb_view_memory(v);
  if (!status) {
    b.greatest = b.least + cells;
    b.at_greatest = b.at_least + cells;
    for (size_t i = 0; i < 2 * cells; i++) b.least[i] = NAN;
    status = pass(p, &b, 0, NULL, NULL);
  }
  for (size_t i = 0; i < 2 * cells; i++) (*wanted)[i] = status ? 0 : (double)b.at_least[i];
  (*wanted)[2 * cells] = 0;
  (*wanted)[2 * cells + 1] = (double)(v->rows - 1);
  qsort(*wanted, maximum, sizeof **wanted, ascending);
  for (size_t i = 0; i < maximum; i++)
    if (!*n || (*wanted)[*n - 1] != (*wanted)[i]) (*wanted)[(*n)++] = (*wanted)[i];
  if (!status && columns > DENSE) status = keep(v, &b, *wanted, *n, kept);
  free(b.least);
  free(b.at_least);
  return status;
}

static cb_status put_labels_of_components(const cb_view *v, const cb_reader_field *field, size_t components) {
  static const char *const three[] = {"minimum", "mean", "maximum"};
  const char *const *label = NULL;
  char text[256], number[24];
  const cb_status status = components > 1 ? cb_view_labels(v, field->dims[field->rank - 1], components, &label) : CB_OK;
  cb_page_begin(v->page, "labels", '[');
  for (size_t c = 0; c < 3 * components; c++) {
    snprintf(number, sizeof number, "%zu", c / 3);
    snprintf(text, sizeof text, "%s%s%s",
             components == 1 ? ""
             : label         ? label[c / 3]
                             : number,
             components == 1 ? "" : " ", three[c % 3]);
    cb_page_text(v->page, NULL, text);
  }
  cb_page_end(v->page, ']');
  return status;
}

static cb_status put_labels(const cb_view *v, int f, size_t columns) {
  const cb_reader_field *field = &v->fields[f];
  const char *const *label[3] = {NULL, NULL, NULL};
  char text[256], number[3][24];
  cb_status status = CB_OK;
  if (columns != field->count) return put_labels_of_components(v, field, columns / 3);
  for (int d = 0; d < field->rank && !status; d++)
    status = cb_view_labels(v, field->dims[d], field->shape[d], &label[d]);
  cb_page_begin(v->page, "labels", '[');
  for (size_t c = 0; c < columns && !status; c++) {
    size_t rest = c, at[3] = {0};
    int length = 0;
    for (int d = field->rank - 1; d >= 0; d--) {
      at[d] = rest % field->shape[d];
      rest /= field->shape[d];
    }
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

/* Returns the unit of the coordinate `label` of a joint. The label is the name of the joint and a symbol of its class.
 * `units` has the unit of angles, then that of lengths: "rad, m". If there is no such joint, the result is `units`. */
static const char *unit_of_joint(const cb_view *v, const char *label, const char *units, char *out, size_t size) {
  const cb_node *joints = v->tree ? cb_node_get(cb_tree_root(v->tree), "joints") : NULL;
  const char *const second = strstr(units, ", ");
  for (size_t k = 0; second && joints && joints->kind == CB_NODE_LIST && k < joints->count; k++) {
    const cb_node *name = cb_node_get(joints->items[k], "name"), *kind = cb_node_get(joints->items[k], "kind");
    const size_t n = name && name->text && kind && kind->text ? strlen(name->text) : 0;
    if (!n || strncmp(name->text, label, n)) continue;
    for (const cb_joint_class *const *class = cb_joint_classes; *class; class ++)
      for (int i = 0; !strcmp((*class)->name, kind->text) && i < (*class)->coordinates; i++) {
        if (strcmp((*class)->symbol[i], label + n)) continue;
        snprintf(out, size, "%.*s", (int)(second - units), units);
        return (*class)->angular[i] ? out : second + 2;
      }
  }
  return units;
}

/* Writes the unit of each curve, if the field has the coordinates of joints. */
static cb_status put_units_of_joints(const cb_view *v, const cb_reader_field *field, size_t columns) {
  const char *const *label = NULL;
  char out[32];
  if (field->rank != 1 || columns != field->count || strcmp(field->dims[0], "joint_dof")) return CB_OK;
  const cb_status status = cb_view_labels(v, field->dims[0], columns, &label);
  if (status || !label || !field->units) return status;
  cb_page_begin(v->page, "unit", '[');
  for (size_t i = 0; i < columns; i++)
    cb_page_text(v->page, NULL, unit_of_joint(v, label[i], field->units, out, sizeof out));
  cb_page_end(v->page, ']');
  return CB_OK;
}

static cb_status put_field(const cb_view *v, int f) {
  const cb_reader_field *field = &v->fields[f];
  const size_t columns = field->count > MAX_COLUMNS ? 3 * components_of(field) : field->count;
  blocks p = {v, f, columns, BLOCK / field->count ? BLOCK / field->count : 1, NULL};
  double *wanted = NULL, *value = NULL, *time = NULL;
  size_t n = 0;
  bool *kept = NULL;
  p.block = malloc(p.rows * field->count * sizeof *p.block);
  cb_status status = p.block ? choose(&p, &wanted, &n, &kept) : cb_view_memory(v);
  if (!status && (!(value = malloc(n * columns * sizeof *value)) || !(time = malloc(n * sizeof *time))))
    status = cb_view_memory(v);
  if (!status) status = pass(&p, NULL, n, wanted, value);
  for (size_t i = 0; i < n && !status; i++) status = cb_reader_rows(v->reader, 0, (uint64_t)wanted[i], 1, &time[i]);
  for (size_t i = 0; kept && i < n * columns && !status; i++)
    if (!kept[i]) value[i] = NAN;
  cb_page_begin(v->page, NULL, '{');
  if (kept) cb_page_number(v->page, "sparse", 1);
  cb_page_text(v->page, "name", field->name);
  cb_page_text(v->page, "units", field->units);
  cb_page_texts(v->page, "dims", (size_t)field->rank, field->dims);
  if (!status) status = put_labels(v, f, columns);
  if (!status) status = put_units_of_joints(v, field, columns);
  if (!status) status = cb_page_array(v->page, "row", CB_PAGE_F8, n, 0, 0, wanted);
  if (!status) status = cb_page_array(v->page, "time", CB_PAGE_F8, n, 0, 0, time);
  if (!status) status = cb_page_array(v->page, "value", CB_PAGE_F8, n, columns, 0, value);
  cb_page_end(v->page, '}');
  free(p.block);
  free(wanted);
  free(value);
  free(time);
  free(kept);
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
  const uint64_t have = cb_reader_position(v->reader).events, n = have < MAX_EVENTS ? have : MAX_EVENTS;
  cb_event_row row;
  double *four = malloc((n ? 4 * n : 1) * sizeof *four);
  cb_status status = four ? CB_OK : cb_view_memory(v);
  for (uint64_t e = 0; e < n && !status; e++) {
    status = cb_reader_events(v->reader, e * have / n, 1, &row);
    if (!status) memcpy(four + 4 * e, (double[]){row.time, row.kind, row.particle, row.other}, 4 * sizeof *four);
  }
  cb_page_number(v->page, "events_in_all", (double)have);
  if (!status) status = cb_page_array(v->page, "events", CB_PAGE_F8, n, 4, 0, four);
  free(four);
  return status;
}

/* ---- The shape space of a gait
 *
 * The page gets the cycle of the gait, the moving point, and the curvature B of the connection over the plane of the
 * first two shape variables. B has one number for each axis of the Lie algebra. It is nan where the shape is singular
 * or invalid, for example because a surface intersects itself. */

enum { GRID = 41, COARSE = 7, DRAWN = 257 };

static const double maximum_seconds = 20; /* CPU time for a map of the curvature */

/* The curvature of an immersed body needs a boundary integral equation per node, so its grid is coarse. */
static int grid_of(const cb_bundle *b) { return !strcmp(b->class_->name, "immersed") ? COARSE : GRID; }

/* Returns whether a map of the curvature with this number of nodes takes too long. The time is estimated from that of
 * one node, at the shape r. */
static bool takes_long(const cb_view *v, const cb_bundle *b, const double *r, int nodes) {
  double out[CB_GROUP_DIM];
  const clock_t start = clock();
  if (cb_bundle_curvature(b, r, 0, 1, out)) return false;
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC * nodes;
  if (seconds > maximum_seconds)
    cb_note(
        "%s: the page has no map of the curvature, because it would take about %.0f s; `curvebody gait SCENARIO "
        "curvature` computes it",
        v->path, seconds);
  return seconds > maximum_seconds;
}

static void window(const double *cycle, int n, int of, double *low, double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (int k = 0; k < DRAWN; k++) {
    *low = fmin(*low, cycle[k * n + of]);
    *high = fmax(*high, cycle[k * n + of]);
  }
  const double margin = *high > *low ? (*high - *low) / 4 : fmax(1, fabs(*low)) / 2;
  *low -= margin;
  *high += margin;
}

static cb_status put_curvature(const cb_view *v, const cb_bundle *b, const double *cycle, const double *mean) {
  const int points = grid_of(b), dim = b->group->dim;
  if (takes_long(v, b, mean, points * points)) return CB_OK;
  double low[2], high[2], r[CB_SHAPE_MAX], *out = malloc((size_t)(points * points * dim) * sizeof *out);
  if (!out) return cb_view_memory(v);
  for (int i = 0; i < 2; i++) window(cycle, b->n, i, &low[i], &high[i]);
  memcpy(r, mean, (size_t)b->n * sizeof *r);
  cb_status status = CB_OK;
  for (int i = 0; i < points * points && !status; i++) {
    r[0] = low[0] + (high[0] - low[0]) * (i / points) / (points - 1);
    r[1] = low[1] + (high[1] - low[1]) * (i % points) / (points - 1);
    status = cb_bundle_curvature(b, r, 0, 1, out + i * dim);
    if (!status || status == CB_ERROR_MEMORY) continue;
    for (int d = 0; d < dim; d++) out[i * dim + d] = NAN;
    status = CB_OK;
  }
  const double box[] = {low[0], high[0], low[1], high[1]};
  if (!status) status = cb_page_array(v->page, "window", CB_PAGE_F8, 4, 0, 0, box);
  if (!status)
    status = cb_page_array(v->page, "curvature", CB_PAGE_F4, (size_t)points, (size_t)points, (size_t)dim, out);
  free(out);
  return status;
}

static cb_status put_cycle(const cb_view *v, const cb_bundle *b, const cb_gait *gait) {
  const size_t n = (size_t)b->n;
  double *cycle = malloc(DRAWN * n * sizeof *cycle), mean[CB_SHAPE_MAX] = {0};
  if (!cycle) return cb_view_memory(v);
  for (size_t k = 0; k < DRAWN; k++) {
    cb_gait_at(gait, (double)k / (DRAWN - 1), cycle + k * n, NULL);
    for (size_t i = 0; i < n; i++) mean[i] += cycle[k * n + i] / DRAWN;
  }
  cb_status status = cb_page_array(v->page, "cycle", CB_PAGE_F8, DRAWN, n, 0, cycle);
  if (!status && n >= 2) status = put_curvature(v, b, cycle, mean);
  free(cycle);
  return status;
}

cb_status cb_view_shapes(const cb_view *v) {
  const int shape = cb_view_field(v, "shape");
  const cb_bundle *b = v->scenario ? cb_scenario_bundle(v->scenario) : NULL;
  const cb_gait *gait = v->scenario ? cb_scenario_gait(v->scenario) : NULL;
  double *r;
  if (!b || shape < 0 || v->fields[shape].count != (size_t)b->n) return CB_OK;
  cb_status status = cb_view_frames(v, shape, &r);
  if (status) return status;
  cb_page_begin(v->page, "shapes", '{');
  cb_page_texts(v->page, "variable", (size_t)b->n, b->shape);
  cb_page_texts(v->page, "axis", (size_t)b->group->dim, b->group->axis);
  status = cb_page_array(v->page, "shape", CB_PAGE_F8, v->n_frames, (size_t)b->n, 0, r);
  if (!status && gait) status = put_cycle(v, b, gait);
  cb_page_end(v->page, '}');
  free(r);
  return status;
}

/* ---- Files of arrays on named dimensions: maps of curvature, families of gaits and results of sweeps
 *
 * The page gets the arrays at the root of the file with the names of their dimensions, and its scripts choose what is
 * drawn: maps over two axes, curves over one. */

enum { MAX_TEXTS = 10000 };
static const size_t maximum_values = (size_t)1 << 20; /* maximum number of values in all arrays of a page together */

typedef struct tables {
  const char *path;
  const cb_hdf5_source *source;
  cb_page *page;
  size_t values;     /* number of values that the page has so far */
  char left_out[96]; /* the first array that does not fit into the page */
} tables;

static void put_attribute(cb_page *page, hid_t object, const char *name, const char *key) {
  char *text = cb_hdf5_get_text_attribute(object, name);
  if (text) cb_page_text(page, key, text);
  free(text);
}

static void put_dimensions(const tables *t, hid_t dataset, int rank) {
  cb_page_begin(t->page, "dims", '[');
  for (int d = 0; d < rank; d++) {
    char *name = cb_hdf5_scale_name(dataset, rank, d);
    cb_page_text(t->page, NULL, name ? name : "");
    free(name);
  }
  cb_page_end(t->page, ']');
}

static cb_status put_numbers(tables *t, hid_t dataset, const char *name) {
  static const cb_hdf5_expected any = {H5T_NO_CLASS, 1, H5S_MAX_RANK, 0, "numbers"};
  cb_hdf5_array a;
  const cb_status status = cb_hdf5_read_array(t->source, name, &any, &a);
  if (status) return status;
  if (a.count > maximum_values - t->values) {
    if (!*t->left_out) snprintf(t->left_out, sizeof t->left_out, "%s", name);
    free(a.value);
    return CB_OK;
  }
  t->values += a.count;
  cb_page_begin(t->page, NULL, '{');
  cb_page_text(t->page, "name", name);
  put_attribute(t->page, dataset, "units", "units");
  put_attribute(t->page, dataset, "long_name", "doc");
  put_dimensions(t, dataset, a.rank);
  cb_page_begin(t->page, "lengths", '[');
  for (int d = 0; d < a.rank; d++) cb_page_number(t->page, NULL, a.dims[d]);
  cb_page_end(t->page, ']');
  const cb_status put = cb_page_array(t->page, "value", CB_PAGE_F8, a.count, 0, 0, a.value);
  cb_page_end(t->page, '}');
  free(a.value);
  return put;
}

static cb_status put_texts(const tables *t, hid_t dataset, const char *name, size_t count) {
  char **text = calloc(count ? count : 1, sizeof *text);
  if (!text) return cb_fail(CB_ERROR_MEMORY, "%s: no memory for its page", t->path);
  if (cb_hdf5_texts_of_dataset(dataset, count, text)) {
    cb_page_begin(t->page, NULL, '{');
    cb_page_text(t->page, "name", name);
    put_attribute(t->page, dataset, "long_name", "doc");
    put_dimensions(t, dataset, 1);
    cb_page_texts(t->page, "texts", count, (const char *const *)text);
    cb_page_end(t->page, '}');
  }
  for (size_t i = 0; i < count; i++) free(text[i]);
  free(text);
  return CB_OK;
}

/* Writes a dataset of numbers or of texts to the page. Arrays of letters, which are messages of members, are left
 * out. */
static cb_status put_table(void *context, hid_t group, const char *name, const H5L_info_t *link) {
  tables *t = context;
  size_t count = 0;
  if (link->type != H5L_TYPE_HARD || !strcmp(name, "letter")) return CB_OK;
  const hid_t dataset = cb_hdf5_find_dataset(group, name);
  if (dataset < 0) return CB_OK;
  const hid_t type = H5Dget_type(dataset), create = H5Dget_create_plist(dataset);
  const H5T_class_t class = H5Tget_class(type);
  const bool text = cb_hdf5_is_text(dataset, &count) && count <= MAX_TEXTS && create >= 0 &&
                    !cb_hdf5_elsewhere(create) && !cb_hdf5_foreign_filter(create);
  const bool unfinished =
      create >= 0 && cb_hdf5_elsewhere(create) == cb_hdf5_virtual && H5Aexists(t->source->file, "sweep_digest") > 0;
  cb_status status = CB_OK;
  if (unfinished)
    status =
        cb_fail(CB_ERROR_INPUT,
                "%s: error: the sweep has not ended: expected a complete sweep; the same command `curvebody sweep` "
                "continues it",
                t->path);
  else if (class == H5T_FLOAT || class == H5T_INTEGER)
    status = put_numbers(t, dataset, name);
  else if (text)
    status = put_texts(t, dataset, name, count);
  if (create >= 0) H5Pclose(create);
  H5Tclose(type);
  H5Dclose(dataset);
  return status;
}

static cb_status put_tables(tables *t, char **title) {
  const hid_t file = t->source->file;
  *title = cb_hdf5_get_text_attribute(file, "title");
  cb_page_begin(t->page, NULL, '{');
  cb_page_text(t->page, "title", *title ? *title : "curvebody");
  put_attribute(t->page, file, "plane_1", "plane_1");
  put_attribute(t->page, file, "plane_2", "plane_2");
  cb_page_begin(t->page, "tables", '[');
  const cb_status status = cb_hdf5_each_link(file, t->path, H5_INDEX_NAME, put_table, t);
  cb_page_end(t->page, ']');
  cb_page_end(t->page, '}');
  if (*t->left_out) cb_warn("%s: the page has no space for all arrays; `%s` is left out of it", t->path, t->left_out);
  return status;
}

cb_status cb_view_tables(const char *path, cb_page *page, char **title, bool *found) {
  cb_hdf5_source source;
  tables t = {.path = path, .source = &source, .page = page};
  *found = false;
  cb_status status = cb_hdf5_source_open(path, &source);
  if (status) return status;
  *found = H5Aexists(source.file, "curvebody_record") <= 0 &&
           (H5Aexists(source.file, "sweep_digest") > 0 ||
            (H5Aexists(source.file, "bundle") > 0 && H5Aexists(source.file, "curvebody_version") > 0));
  if (*found) status = put_tables(&t, title);
  return cb_hdf5_source_close(&source, status);
}
