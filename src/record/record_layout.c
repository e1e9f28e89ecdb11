/* The layout of the files of a record: dimension scales, constants, fields, events, scenario, H5MD links.
 *
 * The files follow netCDF-4 (Unidata, NetCDF-4/HDF5 file format): every dimension is a dataset that is a dimension
 * scale (HDF5 Dimension Scale Specification), and every array at the root is attached to its scales. They also follow
 * H5MD 1.1 (de Buyl, Colberg, Höfling 2014, doi:10.1016/j.cpc.2014.01.018): /h5md and /particles/bodies have hard links
 * to the arrays at the root.
 *
 * A chunk has at most 256 rows (4096 in a long record) and 1 MiB. The number of its rows is a power of two, so that
 * chunks and batches of the writer have common ends. A row of more than 1 MiB is split along its first dimension, and
 * along the next ones if that is not enough.
 */
#include "core/failure.h"
#include "record/internal.h"
#include "record/record_contents.h"
#include "record/arrays.h"
#include <hdf5_hl.h>
#include <stdlib.h>
#include <string.h>

const cb_event_field cb_event_fields[CB_EVENT_FIELDS] = {
    {"event", CB_FIELD_INT64, 0, "index of the event"},
    {"event_time", CB_FIELD_DOUBLE, offsetof(cb_event_row, time), "time of the event"},
    {"event_kind", CB_FIELD_INT32, offsetof(cb_event_row, kind), "kind of the event"},
    {"event_particle", CB_FIELD_INT32, offsetof(cb_event_row, particle), "first particle; -1: none"},
    {"event_other", CB_FIELD_INT32, offsetof(cb_event_row, other), "second particle; -1: none"},
    {"event_gap", CB_FIELD_DOUBLE, offsetof(cb_event_row, gap), "gap function at the event"},
    {"event_speed_before", CB_FIELD_DOUBLE, offsetof(cb_event_row, speed_before), "rate of the gap before the event"},
    {"event_speed_after", CB_FIELD_DOUBLE, offsetof(cb_event_row, speed_after), "rate of the gap after the event"},
    {"event_impulse", CB_FIELD_DOUBLE, offsetof(cb_event_row, impulse), "impulse along the gradient of the gap"},
    {"event_wall", CB_FIELD_INT32, offsetof(cb_event_row, wall), "wall, watched event or warning; -1: none"},
};

static const cb_dimension *find_dimension(const cb_record_layout *layout, const char *name) {
  for (size_t d = 0; name && d < layout->n_dimensions; d++)
    if (!strcmp(layout->dimensions[d].name, name)) return &layout->dimensions[d];
  return NULL;
}

void cb_layout_shape(const cb_record_layout *layout, const cb_field *field, hsize_t *shape) {
  for (int d = 0; d < field->rank; d++) shape[d] = find_dimension(layout, field->dims[d])->count;
}

size_t cb_layout_count(const cb_record_layout *layout, const cb_field *field) {
  size_t count = 1;
  for (int d = 0; d < field->rank; d++) count *= find_dimension(layout, field->dims[d])->count;
  return count;
}

/* ---- Checks of a layout */

bool cb_layout_takes(const char *name) {
  static const char *const groups[] = {"checkpoint", "scenario", "h5md", "particles", "connectivity"};
  const size_t length = strcspn(name, "/");
  bool taken = false;
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    taken |= strlen(groups[i]) == length && !memcmp(name, groups[i], length);
  for (size_t i = 0; i < CB_EVENT_FIELDS; i++) taken |= !strcmp(name, cb_event_fields[i].name);
  return taken;
}

static cb_status check_name(const cb_record_layout *layout, const char *name, const char *kind) {
  if (!name || !*name || strchr(name, '/') || !strcmp(name, ".") || strlen(name) > 200)
    return cb_fail(CB_ERROR_ARGUMENT, "record: '%s' cannot be the name of a %s", name ? name : "", kind);
  if (cb_layout_takes(name))
    return cb_fail(CB_ERROR_ARGUMENT, "record: the name %s is reserved: expected another name", name);
  size_t uses = 0;
  for (size_t i = 0; i < layout->n_dimensions; i++) uses += !strcmp(name, layout->dimensions[i].name);
  for (size_t i = 0; i < layout->n_constants; i++) uses += !strcmp(name, layout->constants[i].name);
  for (size_t i = 0; i < layout->n_fields; i++) uses += !strcmp(name, layout->fields[i].name);
  for (size_t i = 0; i < layout->n_event_fields; i++) uses += !strcmp(name, layout->event_fields[i].name);
  if (uses > 1)
    return cb_fail(CB_ERROR_ARGUMENT, "record: two arrays have the name %s: expected different names", name);
  return CB_OK;
}

/* Checks a field of rows or of events. The names of the latter begin with event_. */
static cb_status check_field(const cb_record_layout *layout, const cb_field *field, bool is_event) {
  const cb_status status = check_name(layout, field->name, "field");
  if (status) return status;
  if (!strncmp(field->name, "event_", 6) != is_event || (is_event && field->type != CB_FIELD_DOUBLE))
    return cb_fail(
        CB_ERROR_ARGUMENT,
        "record: field %s: expected a name event_... and doubles for a field of events, and another name for "
        "a field of rows",
        field->name);
  if (field->rank < 0 || field->rank > 3)
    return cb_fail(CB_ERROR_ARGUMENT, "record: field %s has %d dimensions after time, expected at most 3", field->name,
                   field->rank);
  for (int d = 0; d < field->rank; d++)
    if (!find_dimension(layout, field->dims[d]))
      return cb_fail(CB_ERROR_ARGUMENT, "record: field %s has the unknown dimension %s: expected one of the layout",
                     field->name, field->dims[d] ? field->dims[d] : "");
  return CB_OK;
}

cb_status cb_layout_check(const cb_record_layout *layout) {
  cb_status status;
  if (layout->n_fields < 2 || strcmp(layout->fields[0].name, "time") || strcmp(layout->fields[1].name, "step") ||
      layout->fields[0].type != CB_FIELD_DOUBLE || layout->fields[1].type != CB_FIELD_INT64 || layout->fields[0].rank ||
      layout->fields[1].rank)
    return cb_fail(CB_ERROR_ARGUMENT, "record: the first two fields must be time (double) and step (int64)");
  for (size_t d = 0; d < layout->n_dimensions; d++)
    if ((status = check_name(layout, layout->dimensions[d].name, "dimension"))) return status;
  for (size_t c = 0; c < layout->n_constants; c++) {
    const cb_constant *constant = &layout->constants[c];
    if ((status = check_name(layout, constant->name, "constant"))) return status;
    const cb_dimension *dimension = find_dimension(layout, constant->dim);
    if (constant->dim && !dimension)
      return cb_fail(CB_ERROR_ARGUMENT, "record: constant %s has the unknown dimension %s: expected one of the layout",
                     constant->name, constant->dim);
    if (!constant->values + !constant->labels + !constant->integers != 2 && !(dimension && !dimension->count))
      return cb_fail(CB_ERROR_ARGUMENT, "record: constant %s must have numbers, texts or integers", constant->name);
  }
  for (size_t f = 0; f < layout->n_fields; f++)
    if ((status = check_field(layout, &layout->fields[f], false))) return status;
  for (size_t f = 0; f < layout->n_event_fields; f++)
    if ((status = check_field(layout, &layout->event_fields[f], true))) return status;
  for (size_t b = 0; b < layout->n_state; b++) {
    const char *name = layout->state[b].name;
    if (!name || !*name || strchr(name, '/') || !strcmp(name, "seal") || !strcmp(name, "."))
      return cb_fail(CB_ERROR_ARGUMENT, "record: '%s' cannot be the name of a piece of state", name ? name : "");
    for (size_t a = 0; a < b; a++)
      if (!strcmp(name, layout->state[a].name))
        return cb_fail(CB_ERROR_ARGUMENT, "record: two pieces of state have the name %s: expected different names",
                       name);
  }
  return CB_OK;
}

/* ---- Parts of the file. On failure these functions return false and HDF5's error stack is set. */

/* The file that is being built. */
typedef struct building {
  hid_t file;
  const cb_record_layout *layout;
  const cb_filing *how;
  const cb_record_pieces *over; /* rows and events are virtual datasets over these; NULL: they can grow */
  const char *base;             /* the file that contains the large constants; NULL: this file */
} building;

static bool put_dimension(const building *b, const cb_dimension *dimension) {
  const cb_hdf5_values values = {dimension->values, dimension->labels, NULL, b->base};
  return cb_hdf5_put_scale(b->file, dimension->name, dimension->count, &values, NULL, dimension->doc);
}

static bool put_constant(const building *b, const cb_constant *constant, size_t count) {
  const cb_hdf5_values values = {constant->values, constant->labels, constant->integers, b->base};
  const hid_t dataset = cb_hdf5_put_values(b->file, constant->name, constant->dim != NULL, &(hsize_t){count}, &values);
  bool ok = dataset >= 0 && cb_hdf5_describe(dataset, constant->units, constant->doc) &&
            (!constant->dim || cb_hdf5_attach(b->file, dataset, constant->dim, 0));
  if (dataset >= 0) H5Dclose(dataset);
  return ok;
}

/* The time to read, write or join a file grows with the number of its chunks, so chunks should be large. But the last
 * chunk is always stored in full size: with 16 chunks, at most one part in 16 of the space is wasted. A chunk has at
 * most a quarter of CB_SEGMENT_BYTES, because a segment ends with a chunk. */
uint64_t cb_layout_chunk_rows(const cb_record_layout *layout, uint64_t rows) {
  enum { LEAST_CHUNKS = 16 };
  size_t row = 0;
  uint64_t many = CB_LONG_CHUNK_ROWS;
  for (size_t f = 0; f < layout->n_fields; f++)
    row += cb_layout_count(layout, &layout->fields[f]) * cb_hdf5_type_size(layout->fields[f].type);
  while (many > CB_CHUNK_ROWS && many * row > CB_SEGMENT_BYTES / 4) many /= 2;
  return rows < LEAST_CHUNKS * many ? CB_CHUNK_ROWS : many;
}

static void choose_chunk(int rank, const hsize_t *shape, size_t value_bytes, uint64_t rows, hsize_t *chunk) {
  size_t row = value_bytes;
  for (int d = 1; d < rank; d++) row *= chunk[d] = shape[d];
  chunk[0] = rows;
  while (chunk[0] > 1 && chunk[0] * row > CB_CHUNK_BYTES) chunk[0] /= 2;
  for (int d = 1; d < rank && row > CB_CHUNK_BYTES; d++) {
    size_t rest = row / chunk[d];
    hsize_t pieces = (row + CB_CHUNK_BYTES - 1) / CB_CHUNK_BYTES;
    chunk[d] = pieces < shape[d] ? (shape[d] + pieces - 1) / pieces : 1;
    row = rest * chunk[d];
  }
}

/* Creates an array without rows that grows along its first dimension, or a virtual one over the rows of the segments.
 */
static hid_t put_series(const building *b, const char *name, bool is_event, hid_t type, int rank,
                        const hsize_t *shape) {
  hsize_t dims[4] = {0}, maximum[4] = {H5S_UNLIMITED}, chunk[4];
  const uint64_t rows = !b->over ? 0 : is_event ? b->over->have.events : b->over->have.rows;
  for (int d = 1; d < rank; d++) dims[d] = maximum[d] = shape[d];
  dims[0] = rows;
  hid_t create =
      rows ? cb_virtual_properties(b->over, name, is_event, type, rank, dims) : H5Pcreate(H5P_DATASET_CREATE);
  if (create < 0) return create;
  H5Pset_obj_track_times(create, false);
  H5Pset_attr_phase_change(create, 64, 0);
  H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED);
  if (!rows) {
    choose_chunk(rank, shape, H5Tget_size(type), is_event ? CB_CHUNK_ROWS : b->how->chunk_rows, chunk);
    H5Pset_chunk(create, rank, chunk);
    if (b->how->deflate && !is_event) {
      H5Pset_shuffle(create);
      H5Pset_deflate(create, (unsigned)b->how->deflate);
    }
    H5Pset_fletcher32(create);
  }
  hid_t space = H5Screate_simple(rank, dims, maximum);
  hid_t dataset = H5Dcreate2(b->file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Pclose(create);
  H5Sclose(space);
  return dataset;
}

static bool put_field(const building *b, const cb_field *field, bool is_event) {
  const hid_t file = b->file;
  const cb_record_layout *layout = b->layout;
  hsize_t shape[4] = {1};
  cb_layout_shape(layout, field, shape + 1);
  hid_t dataset = put_series(b, field->name, is_event, cb_hdf5_file_type(field->type), field->rank + 1, shape);
  bool ok = dataset >= 0 && cb_hdf5_describe(dataset, field->units, field->doc);
  if (field == layout->fields)
    ok = ok && H5DSset_scale(dataset, field->name) >= 0;
  else
    ok = ok && cb_hdf5_attach(file, dataset, is_event ? cb_event_fields[0].name : layout->fields[0].name, 0);
  for (int d = 0; ok && d < field->rank; d++) ok = cb_hdf5_attach(file, dataset, field->dims[d], (unsigned)d + 1);
  if (dataset >= 0) H5Dclose(dataset);
  return ok;
}

static bool put_events(const building *b, const char *time_units, bool warns) {
  const hid_t file = b->file;
  static const int kinds[] = {0, 1, 2, 3, 4};
  const hsize_t shape[1] = {1};
  bool ok = true;
  for (size_t e = 0; ok && e < cb_event_fields_of(b->layout->old_names); e++) {
    const cb_event_field *field = &cb_event_fields[e];
    const char *name = cb_record_name(field->name, b->layout->old_names);
    hid_t dataset = put_series(b, name, true, cb_hdf5_file_type(field->type), 1, shape);
    const char *units = !strcmp(field->name, "event_time") ? time_units : NULL;
    ok = dataset >= 0 && cb_hdf5_describe(dataset, units, field->doc);
    if (e == 0)
      ok = ok && H5DSset_scale(dataset, field->name) >= 0;
    else
      ok = ok && cb_hdf5_attach(file, dataset, cb_event_fields[0].name, 0);
    if (!strcmp(field->name, "event_kind"))
      ok = ok && cb_hdf5_put_integers(dataset, "flag_values", kinds, warns ? 5 : 4) &&
           cb_hdf5_put_text(dataset, "flag_meanings",
                            warns ? "reflect stop mark retried_step warning" : "reflect stop mark retried_step");
    if (dataset >= 0) H5Dclose(dataset);
  }
  return ok;
}

static const char *find_attribute(const cb_record_layout *layout, const char *name, const char *otherwise) {
  for (const char *const *pair = layout->attributes; pair && pair[0]; pair += 2)
    if (!strcmp(pair[0], name)) return pair[1];
  return otherwise;
}

static bool put_root_attributes(hid_t file, const cb_record_layout *layout) {
  static const int version = CB_RECORD_VERSION, not_completed = 0;
  bool ok = cb_hdf5_put_text(file, "Conventions", "CF-1.10") &&
            cb_hdf5_put_text(file, "title", layout->title ? layout->title : "") &&
            cb_hdf5_put_integers(file, "curvebody_record", &version, 1);
  for (const char *const *pair = layout->attributes; ok && pair && pair[0]; pair += 2)
    ok = cb_hdf5_put_text(file, pair[0], pair[1]);
  return ok && cb_hdf5_put_integers(file, "completed", &not_completed, 1) && cb_warnings_make(file);
}

static bool put_text_dataset(hid_t group, const char *name, const char *text) {
  if (!text) text = "";
  hid_t type = cb_hdf5_text_type(), dataset = cb_hdf5_put_dataset(group, name, type, 0, NULL, type, &text);
  const bool ok = dataset >= 0;
  H5Tclose(type);
  if (dataset >= 0) H5Dclose(dataset);
  return ok;
}

static bool put_scenario(hid_t file, const cb_record_layout *layout) {
  hid_t group = cb_hdf5_put_group(file, "scenario");
  bool ok = group >= 0 && put_text_dataset(group, "source", layout->scenario_source) &&
            put_text_dataset(group, "resolved", layout->scenario_resolved);
  if (group >= 0) H5Gclose(group);
  return ok;
}

/* ---- H5MD */

static bool put_named_group(hid_t where, const char *name, const char *name_text, const char *version) {
  hid_t group = cb_hdf5_put_group(where, name);
  bool ok = group >= 0 && cb_hdf5_put_text(group, "name", name_text) &&
            (!version || cb_hdf5_put_text(group, "version", version));
  if (group >= 0) H5Gclose(group);
  return ok;
}

static bool link_to(hid_t file, const char *target, hid_t group, const char *name) {
  return H5Lcreate_hard(file, target, group, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
}

static bool put_element(hid_t file, hid_t group, const char *name, const char *field) {
  hid_t element = cb_hdf5_put_group(group, name);
  bool ok = element >= 0 && link_to(file, field, element, "value") && link_to(file, "time", element, "time") &&
            link_to(file, "step", element, "step");
  if (element >= 0) H5Gclose(element);
  return ok;
}

static bool put_box(hid_t group, int dimension) {
  static const char *const none[] = {"none", "none", "none", "none"};
  hsize_t dims[1] = {(hsize_t)dimension};
  hid_t box = cb_hdf5_put_group(group, "box"), type = cb_hdf5_text_type(), space = H5Screate_simple(1, dims, NULL);
  bool ok = box >= 0 && cb_hdf5_put_integers(box, "dimension", &dimension, 1);
  hid_t boundary = ok ? H5Acreate2(box, "boundary", type, space, H5P_DEFAULT, H5P_DEFAULT) : H5I_INVALID_HID;
  ok = boundary >= 0 && H5Awrite(boundary, type, none) >= 0;
  if (boundary >= 0) H5Aclose(boundary);
  if (box >= 0) H5Gclose(box);
  H5Sclose(space);
  H5Tclose(type);
  return ok;
}

/* Finds the field of that name if its rows have one vector of at most four components per particle; NULL: there is no
 * such field. */
static const cb_field *particle_field(const cb_record_layout *layout, const char *name) {
  for (size_t f = 0; f < layout->n_fields; f++) {
    const cb_field *field = &layout->fields[f];
    if (!strcmp(field->name, name) && field->rank == 2 && !strcmp(field->dims[0], "particle") &&
        cb_layout_count(layout, field) && find_dimension(layout, field->dims[1])->count <= 4)
      return field;
  }
  return NULL;
}

static const int64_t *integers_on_bonds(const cb_record_layout *layout, const char *name) {
  for (size_t c = 0; c < layout->n_constants; c++) {
    const cb_constant *constant = &layout->constants[c];
    if (!strcmp(constant->name, name) && constant->dim && !strcmp(constant->dim, "bond")) return constant->integers;
  }
  return NULL;
}

/* Creates /connectivity/bonds[bond,2] for the particles of /particles/bodies, from the constants bond_i and bond_j. */
static bool put_connectivity(const building *b) {
  const hid_t file = b->file;
  const cb_record_layout *layout = b->layout;
  const int64_t *i = integers_on_bonds(layout, "bond_i"), *j = integers_on_bonds(layout, "bond_j");
  size_t count = i && j ? find_dimension(layout, "bond")->count : 0;
  if (!count) return true;
  const hsize_t dims[2] = {count, 2};
  int64_t *ends = malloc(count * 2 * sizeof *ends);
  for (size_t n = 0; ends && n < count; n++) {
    ends[2 * n] = i[n];
    ends[2 * n + 1] = j[n];
  }
  hid_t group = ends ? cb_hdf5_put_group(file, "connectivity") : H5I_INVALID_HID, space = H5Screate(H5S_SCALAR);
  const cb_hdf5_values values = {.integers = ends, .base = b->base};
  hid_t bonds = group < 0 ? group : cb_hdf5_put_values(file, "connectivity/bonds", 2, dims, &values);
  hid_t particles =
      bonds < 0 ? bonds : H5Acreate2(bonds, "particles_group", H5T_STD_REF_OBJ, space, H5P_DEFAULT, H5P_DEFAULT);
  hobj_ref_t reference;
  bool ok = particles >= 0 && H5Rcreate(&reference, file, "particles/bodies", H5R_OBJECT, -1) >= 0 &&
            H5Awrite(particles, H5T_STD_REF_OBJ, &reference) >= 0;
  if (particles >= 0) H5Aclose(particles);
  if (bonds >= 0) H5Dclose(bonds);
  if (group >= 0) H5Gclose(group);
  H5Sclose(space);
  free(ends);
  return ok;
}

static bool put_h5md(const building *b) {
  const hid_t file = b->file;
  const cb_record_layout *layout = b->layout;
  static const int version[] = {1, 1};
  const char *position = cb_record_name("plot_position", layout->old_names),
             *velocity = cb_record_name("plot_velocity", layout->old_names);
  const cb_field *x = particle_field(layout, position);
  if (!x) return true;
  hid_t h5md = cb_hdf5_put_group(file, "h5md");
  bool ok = h5md >= 0 && cb_hdf5_put_integers(h5md, "version", version, 2) &&
            put_named_group(h5md, "author", find_attribute(layout, "author", "not given"), NULL) &&
            put_named_group(h5md, "creator", "curvebody", find_attribute(layout, "curvebody_version", "unknown"));
  if (h5md >= 0) H5Gclose(h5md);
  hid_t particles = ok ? cb_hdf5_put_group(file, "particles") : H5I_INVALID_HID;
  hid_t bodies = particles >= 0 ? cb_hdf5_put_group(particles, "bodies") : H5I_INVALID_HID;
  ok = bodies >= 0 && put_box(bodies, (int)find_dimension(layout, x->dims[1])->count) &&
       put_element(file, bodies, "position", position);
  if (particle_field(layout, velocity)) ok = ok && put_element(file, bodies, "velocity", velocity);
  for (size_t c = 0; c < layout->n_constants; c++)
    if (!strcmp(layout->constants[c].name, "particle_mass")) ok = ok && link_to(file, "particle_mass", bodies, "mass");
  if (bodies >= 0) H5Gclose(bodies);
  if (particles >= 0) H5Gclose(particles);
  return ok && put_connectivity(b);
}

cb_status cb_layout_build(hid_t file, const char *path, const cb_record_layout *layout, const cb_filing *how,
                          const cb_record_pieces *over, const char *base) {
  const building b = {file, layout, how, over, base};
  if (!put_root_attributes(file, layout)) return cb_hdf5_fail(path, "write the attributes");
  for (size_t d = 0; d < layout->n_dimensions; d++)
    if (layout->dimensions[d].count && !put_dimension(&b, &layout->dimensions[d]))
      return cb_hdf5_fail(path, "create dimension %s", layout->dimensions[d].name);
  for (size_t c = 0; c < layout->n_constants; c++) {
    const cb_constant *constant = &layout->constants[c];
    size_t count = constant->dim ? find_dimension(layout, constant->dim)->count : 1;
    if (count && !put_constant(&b, constant, count)) return cb_hdf5_fail(path, "create %s", constant->name);
  }
  for (size_t f = 0; f < layout->n_fields; f++)
    if (cb_layout_count(layout, &layout->fields[f]) && !put_field(&b, &layout->fields[f], false))
      return cb_hdf5_fail(path, "create field %s", layout->fields[f].name);
  if (!put_events(&b, layout->fields[0].units, find_dimension(layout, "warning")))
    return cb_hdf5_fail(path, "create the events");
  for (size_t f = 0; f < layout->n_event_fields; f++)
    if (cb_layout_count(layout, &layout->event_fields[f]) && !put_field(&b, &layout->event_fields[f], true))
      return cb_hdf5_fail(path, "create field %s", layout->event_fields[f].name);
  if (!put_scenario(file, layout)) return cb_hdf5_fail(path, "write the scenario");
  if (!put_h5md(&b)) return cb_hdf5_fail(path, "create the links of H5MD");
  return cb_checkpoint_create(file, path, layout->state,
                              over ? 0 : layout->n_state); /* a virtual file has no checkpoint */
}

cb_status cb_layout_image(const char *path, const cb_record_layout *layout, const cb_filing *how, const char *base,
                          cb_image *out) {
  const hid_t file = cb_memory_create();
  if (file < 0) return cb_hdf5_fail(path, "create");
  cb_status status = cb_layout_build(file, path, layout, how, NULL, base);
  if (!status) status = cb_memory_image(file, path, out);
  H5Fclose(file);
  return status;
}

int cb_layout_deflate(hid_t file) {
  const hid_t time = H5Dopen2(file, "time", H5P_DEFAULT), create = time < 0 ? time : H5Dget_create_plist(time);
  unsigned flags, level = 0;
  size_t one = 1;
  if (create >= 0 && H5Pget_filter_by_id2(create, H5Z_FILTER_DEFLATE, &flags, &one, &level, 0, NULL, NULL) < 0)
    level = 0;
  if (create >= 0) H5Pclose(create);
  if (time >= 0) H5Dclose(time);
  cb_hdf5_forget();
  return (int)level;
}

/* ---- A copy of a layout. The writer makes virtual files from it during the run. */

static const char *const *copy_texts(cb_arena *arena, const char *const *from, size_t count) {
  const char **to = cb_arena_alloc(arena, count + 1, sizeof *to);
  for (size_t i = 0; from && to && i < count; i++) to[i] = cb_arena_strdup(arena, from[i]);
  return from ? to : NULL;
}

static const char *copy_text(cb_arena *arena, const char *from) { return from ? cb_arena_strdup(arena, from) : NULL; }

static void *copy_bytes(cb_arena *arena, const void *from, size_t count, size_t size) {
  void *to = from ? cb_arena_alloc(arena, count, size) : NULL;
  if (to && count) memcpy(to, from, count * size);
  return to;
}

static void copy_dimension(cb_arena *arena, cb_dimension *d) {
  d->name = copy_text(arena, d->name);
  d->doc = copy_text(arena, d->doc);
  d->values = copy_bytes(arena, d->values, d->count, sizeof *d->values);
  d->labels = copy_texts(arena, d->labels, d->count);
}

static void copy_constant(cb_arena *arena, cb_constant *c, size_t count) {
  c->name = copy_text(arena, c->name);
  c->dim = copy_text(arena, c->dim);
  c->units = copy_text(arena, c->units);
  c->doc = copy_text(arena, c->doc);
  c->values = copy_bytes(arena, c->values, count, sizeof *c->values);
  c->labels = copy_texts(arena, c->labels, count);
  c->integers = copy_bytes(arena, c->integers, count, sizeof *c->integers);
}

static void copy_field(cb_arena *arena, cb_field *f) {
  f->name = copy_text(arena, f->name);
  f->units = copy_text(arena, f->units);
  f->doc = copy_text(arena, f->doc);
  for (int d = 0; d < f->rank; d++) f->dims[d] = copy_text(arena, f->dims[d]);
}

const cb_record_layout *cb_layout_copy(cb_arena *arena, const cb_record_layout *from) {
  cb_record_layout *to = cb_arena_alloc(arena, 1, sizeof *to);
  if (!to) return NULL;
  size_t texts = 0;
  while (from->attributes && from->attributes[texts]) texts++;
  *to = *from;
  to->title = copy_text(arena, from->title);
  to->scenario_source = copy_text(arena, from->scenario_source);
  to->scenario_resolved = copy_text(arena, from->scenario_resolved);
  to->attributes = copy_texts(arena, from->attributes, texts);
  cb_dimension *dimensions = copy_bytes(arena, from->dimensions, from->n_dimensions, sizeof *dimensions);
  cb_constant *constants = copy_bytes(arena, from->constants, from->n_constants, sizeof *constants);
  cb_field *fields = copy_bytes(arena, from->fields, from->n_fields, sizeof *fields);
  cb_field *event_fields = copy_bytes(arena, from->event_fields, from->n_event_fields, sizeof *event_fields);
  cb_blob *state = copy_bytes(arena, from->state, from->n_state, sizeof *state);
  if (cb_arena_lost(arena)) return NULL;
  for (size_t d = 0; d < to->n_dimensions; d++) copy_dimension(arena, &dimensions[d]);
  for (size_t c = 0; c < to->n_constants; c++)
    copy_constant(arena, &constants[c], constants[c].dim ? find_dimension(from, constants[c].dim)->count : 1);
  for (size_t f = 0; f < to->n_fields; f++) copy_field(arena, &fields[f]);
  for (size_t f = 0; f < to->n_event_fields; f++) copy_field(arena, &event_fields[f]);
  for (size_t b = 0; b < to->n_state; b++) {
    state[b].name = copy_text(arena, state[b].name);
    state[b].data = NULL;
  }
  to->dimensions = dimensions;
  to->constants = constants;
  to->fields = fields;
  to->event_fields = event_fields;
  to->state = state;
  return cb_arena_lost(arena) ? NULL : to;
}

/* ---- The origin of a record: title, attributes, texts of the scenario */

static bool is_own(const char *name) {
  static const char *const own[] = {"Conventions", "title",     "curvebody_record", "completed",
                                    "warnings",    "first_row", "first_event"};
  bool is = false;
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) is |= !strcmp(name, own[i]);
  return is;
}

static const char *take_text(cb_arena *arena, char *text) {
  const char *copy = text ? cb_arena_strdup(arena, text) : NULL;
  free(text);
  return copy;
}

static const char *take_scenario(cb_arena *arena, hid_t file, const char *name) {
  const hid_t group =
      H5Lexists(file, "scenario", H5P_DEFAULT) > 0 ? H5Gopen2(file, "scenario", H5P_DEFAULT) : H5I_INVALID_HID;
  if (group < 0) return "";
  const char *text = take_text(arena, cb_hdf5_get_text_dataset(group, name));
  H5Gclose(group);
  return text ? text : "";
}

typedef struct attributes {
  cb_arena *arena;
  const char **text; /* pairs: the name of an attribute, and its text when it has been read */
  size_t count;
} attributes;
enum { MAX_ATTRIBUTES = 200 };

static herr_t take_name(hid_t file, const char *name, const H5A_info_t *info, void *context) {
  attributes *a = context;
  (void)file;
  (void)info;
  if (!is_own(name) && a->count < MAX_ATTRIBUTES) a->text[2 * a->count++] = cb_arena_strdup(a->arena, name);
  return 0;
}

/* Attributes are taken in the order of their creation, or by name from a file of version 0.1, which did not store that
 * order. */
cb_status cb_layout_take_origin(cb_arena *arena, hid_t file, const char *path, cb_record_layout *layout) {
  attributes a = {arena, cb_arena_alloc(arena, 2 * MAX_ATTRIBUTES + 1, sizeof(char *)), 0};
  if (a.text && H5Aiterate2(file, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, take_name, &a) < 0) {
    a.count = 0;
    H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, take_name, &a);
  }
  size_t n = 0;
  for (size_t i = 0; a.text && i < a.count; i++) {
    const char *name = a.text[2 * i], *text = name ? take_text(arena, cb_hdf5_get_text_attribute(file, name)) : NULL;
    if (text) {
      a.text[2 * n] = name;
      a.text[2 * n++ + 1] = text;
    }
  }
  if (a.text) a.text[2 * n] = NULL;
  layout->attributes = a.text;
  layout->title = take_text(arena, cb_hdf5_get_text_attribute(file, "title"));
  layout->scenario_source = take_scenario(arena, file, "source");
  layout->scenario_resolved = take_scenario(arena, file, "resolved");
  const cb_status status = cb_hdf5_unread(path, CB_OK);
  cb_hdf5_forget();
  return status                 ? status
         : cb_arena_lost(arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for the attributes of %s", path)
                                : CB_OK;
}
