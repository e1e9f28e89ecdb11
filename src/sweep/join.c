/* The result of a sweep as one file: virtual datasets over the stores (HDF5 1.10, Virtual Dataset), on the axes of the
 * sweep as netCDF-4 dimension scales.
 *
 * Members of consecutive numbers in consecutive slots make one mapping of an axis, or a few boxes of a grid.
 */
#include "record/output.h"
#include "core/file.h"
#include "record/parts.h"
#include "sweep/store_private.h"

#include <errno.h>
#include <hdf5_hl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANK = 16 + CB_STORE_RANK };

typedef struct joining {
  hid_t file;
  const char *folder; /* as seen from the file's own */
  const cb_store_layout *layout;
  const cb_survey *survey;
  size_t slots[1 << 14]; /* of stores */
} joining;

static bool describe(hid_t set, const char *units, const char *doc) {
  return (!units || cb_hdf5_put_text(set, "units", units)) && (!doc || cb_hdf5_put_text(set, "long_name", doc));
}

static bool attach(hid_t file, hid_t set, const char *dimension, unsigned index) {
  const hid_t scale = H5Dopen2(file, dimension, H5P_DEFAULT);
  const bool good = scale >= 0 && H5DSattach_scale(set, scale, index) >= 0;
  if (scale >= 0) H5Dclose(scale);
  return good;
}

/* --- scales --- */

static hid_t put_values(hid_t file, const char *name, int rank, const hsize_t *dims, const double *values,
                        const char *const *labels) {
  if (labels) {
    const hid_t type = cb_hdf5_text_type(), set = cb_hdf5_put_dataset(file, name, type, rank, dims, type, labels);
    H5Tclose(type);
    return set;
  }
  if (values) return cb_hdf5_put_dataset(file, name, H5T_IEEE_F64LE, rank, dims, H5T_NATIVE_DOUBLE, values);
  int64_t *index = malloc((size_t)dims[0] * sizeof *index);
  for (hsize_t i = 0; index && i < dims[0]; i++) index[i] = (int64_t)i;
  const hid_t set =
      index ? cb_hdf5_put_dataset(file, name, H5T_STD_I64LE, rank, dims, H5T_NATIVE_INT64, index) : H5I_INVALID_HID;
  free(index);
  return set;
}

static bool put_scale(hid_t file, const char *name, size_t count, const double *values, const char *const *labels,
                      const char *doc) {
  const hsize_t dims[] = {count};
  const hid_t set = put_values(file, name, 1, dims, values, labels);
  const bool good = set >= 0 && H5DSset_scale(set, name) >= 0 && describe(set, NULL, doc);
  if (set >= 0) H5Dclose(set);
  return good;
}

/* A dimension without a variable, as netCDF-4 marks one, so that letters are read as texts. */
static bool put_bare_dimension(hid_t file, const char *name, size_t count) {
  char mark[80];
  const hsize_t dims[] = {count};
  snprintf(mark, sizeof mark, "This is a netCDF dimension but not a netCDF variable. %10zu", count);
  const hid_t set = cb_hdf5_put_dataset(file, name, H5T_IEEE_F32BE, 1, dims, H5T_NATIVE_FLOAT, NULL);
  const bool good = set >= 0 && H5DSset_scale(set, mark) >= 0;
  if (set >= 0) H5Dclose(set);
  return good;
}

static const cb_store_coordinate *scale_of(const cb_store_layout *l, size_t a) {
  for (size_t c = 0; c < l->n_coordinates; c++)
    if (l->coordinates[c].axis == (int)a && !l->coordinates[c].components &&
        !strcmp(l->coordinates[c].name, l->axes[a].name))
      return &l->coordinates[c];
  return NULL;
}

static bool put_coordinate(hid_t file, const cb_store_layout *l, const cb_store_coordinate *c) {
  char parts[256];
  const cb_store_axis *axis = &l->axes[c->axis];
  const hsize_t dims[] = {axis->count, c->components};
  snprintf(parts, sizeof parts, "%.200s.component", c->name);
  bool good = !c->components || put_scale(file, parts, c->components, NULL, NULL, NULL);
  const hid_t set = good ? put_values(file, c->name, c->components ? 2 : 1, dims, c->values, c->labels) : -1;
  good = set >= 0 && describe(set, NULL, c->doc) && attach(file, set, axis->name, 0) &&
         (!c->components || attach(file, set, parts, 1));
  if (set >= 0) H5Dclose(set);
  return good;
}

static bool put_scales(const joining *j) {
  const cb_store_layout *l = j->layout;
  bool good = true;
  for (size_t a = 0; a < l->n_axes && good; a++) {
    const cb_store_coordinate *c = scale_of(l, a);
    good = put_scale(j->file, l->axes[a].name, l->axes[a].count, c ? c->values : NULL, c ? c->labels : NULL,
                     c ? c->doc : NULL);
  }
  for (size_t c = 0; c < l->n_coordinates && good; c++)
    if (scale_of(l, (size_t)l->coordinates[c].axis) != &l->coordinates[c])
      good = put_coordinate(j->file, l, &l->coordinates[c]);
  for (size_t d = 0; d < l->n_dimensions && good; d++)
    good = put_scale(j->file, l->dimensions[d].name, l->dimensions[d].count, l->dimensions[d].values,
                     l->dimensions[d].labels, l->dimensions[d].doc);
  return good && put_bare_dimension(j->file, "letter", CB_STORE_WORDS);
}

/* --- virtual datasets --- */

typedef struct virtual_set {
  const joining *j;
  const char *name;
  hid_t create, space, from;
  hsize_t dims[RANK], shape[1 + CB_STORE_RANK];
  int axes, rank; /* of all; the last rank - axes are of a member */
} virtual_set;

/* Members [m, m + n) that make a box: from `slot` on. */
static bool map_box(const virtual_set *v, const char *source, size_t slot, size_t capacity, const hsize_t *start,
                    const hsize_t *count, size_t n) {
  hsize_t from[1 + CB_STORE_RANK] = {slot}, much[1 + CB_STORE_RANK] = {n}, of[1 + CB_STORE_RANK] = {capacity};
  for (int d = v->axes; d < v->rank; d++) of[d - v->axes + 1] = much[d - v->axes + 1] = v->dims[d];
  const hid_t space = H5Screate_simple(v->rank - v->axes + 1, of, NULL);
  const bool good = space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, much, NULL) >= 0 &&
                    H5Sselect_hyperslab(v->space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                    H5Pset_virtual(v->create, v->space, source, v->name, space) >= 0;
  if (space >= 0) H5Sclose(space);
  return good;
}

/* Members [m, end) in consecutive slots, as boxes: each the longest that begins at m along one axis. */
static bool map_run(const virtual_set *v, const char *source, size_t capacity, int64_t m, int64_t end, size_t slot) {
  bool good = true;
  while (m < end && good) {
    hsize_t start[RANK] = {0}, count[RANK];
    int64_t rest = m, whole = 1;
    for (int d = v->axes; d-- > 0;) {
      start[d] = (hsize_t)(rest % (int64_t)v->dims[d]);
      rest /= (int64_t)v->dims[d];
      count[d] = 1;
    }
    for (int d = v->axes; d < v->rank; d++) count[d] = v->dims[d];
    int along = v->axes - 1; /* the first axis whose later ones are whole */
    while (along > 0 && start[along] == 0 && whole * (int64_t)v->dims[along] <= end - m)
      whole *= (int64_t)v->dims[along--];
    int64_t most = (int64_t)(v->dims[along] - start[along]), fit = (end - m) / whole;
    if (fit > most) fit = most;
    for (int d = along + 1; d < v->axes; d++) count[d] = v->dims[d];
    count[along] = (hsize_t)fit;
    good = map_box(v, source, slot, capacity, start, count, (size_t)(fit * whole));
    m += fit * whole;
    slot += (size_t)(fit * whole);
  }
  return good;
}

static bool map_all(const virtual_set *v) {
  const cb_survey *s = v->j->survey;
  bool good = true;
  for (int64_t m = 0; m < s->members && good;) {
    int64_t end = m + 1;
    while (end < s->members && s->store[end] == s->store[m] &&
           (s->store[m] < 0 || s->slot[end] == s->slot[m] + (int32_t)(end - m)))
      end++;
    if (s->store[m] >= 0) {
      char source[4096];
      snprintf(source, sizeof source, "%s/%s", v->j->folder, s->name[s->store[m]]);
      good = map_run(v, source, v->j->slots[s->store[m]], m, end, (size_t)s->slot[m]);
    }
    m = end;
  }
  return good;
}

static bool put_virtual(const joining *j, const char *name, hid_t type, int rank, const char *const *dims,
                        const size_t *shape, const char *units, const char *doc, const double *missing) {
  const cb_store_layout *l = j->layout;
  virtual_set v = {.j = j, .name = name, .axes = (int)l->n_axes, .rank = (int)l->n_axes + rank};
  for (size_t a = 0; a < l->n_axes; a++) v.dims[a] = l->axes[a].count;
  for (int d = 0; d < rank; d++) v.dims[l->n_axes + (size_t)d] = shape[d];
  v.create = H5Pcreate(H5P_DATASET_CREATE);
  v.space = H5Screate_simple(v.rank, v.dims, NULL);
  H5Pset_obj_track_times(v.create, false);
  H5Pset_attr_phase_change(v.create, 64, 0);
  if (missing) H5Pset_fill_value(v.create, H5T_NATIVE_DOUBLE, missing);
  bool good = map_all(&v);
  H5Sselect_all(v.space);
  if (good && H5Pget_layout(v.create) != H5D_VIRTUAL)
    H5Pset_layout(v.create, H5D_CONTIGUOUS); /* nothing is there yet */
  const hid_t set = good ? H5Dcreate2(j->file, name, type, v.space, H5P_DEFAULT, v.create, H5P_DEFAULT) : -1;
  good = set >= 0 && describe(set, units, doc);
  for (size_t a = 0; a < l->n_axes && good; a++) good = attach(j->file, set, l->axes[a].name, (unsigned)a);
  for (int d = 0; d < rank && good; d++) good = attach(j->file, set, dims[d], (unsigned)l->n_axes + (unsigned)d);
  if (good && !strcmp(name, "status")) {
    static const int values[] = {CB_MEMBER_MISSING, CB_MEMBER_DONE, CB_MEMBER_FAILED};
    good = cb_hdf5_put_integers(set, "flag_values", values, 3) &&
           cb_hdf5_put_text(set, "flag_meanings", "missing done failed");
  }
  if (set >= 0) H5Dclose(set);
  H5Sclose(v.space);
  H5Pclose(v.create);
  return good;
}

static bool put_text(hid_t file, const char *group, const char *name, const char *text) {
  const hid_t where = cb_hdf5_put_group(file, group), type = cb_hdf5_text_type(),
              set = where >= 0 ? cb_hdf5_put_dataset(where, name, type, 0, NULL, type, &text) : -1;
  H5Tclose(type);
  if (set >= 0) H5Dclose(set);
  if (where >= 0) H5Gclose(where);
  return set >= 0;
}

static bool build(const joining *j) {
  static const double nothing = NAN;
  static const char *const letter[] = {"letter"};
  static const size_t letters[] = {CB_STORE_WORDS};
  const cb_store_layout *l = j->layout;
  bool good = cb_hdf5_put_text(j->file, "Conventions", "CF-1.10") && cb_hdf5_put_text(j->file, "title", l->title) &&
              cb_hdf5_put_text(j->file, "sweep_digest", l->digest) &&
              put_text(j->file, "sweep", "resolved", l->sweep) && put_scales(j) &&
              put_virtual(j, "status", H5T_STD_I32LE, 0, NULL, NULL, NULL, "how a member ended", NULL) &&
              put_virtual(j, "failure", H5T_C_S1, 1, letter, letters, NULL, "why a member failed", NULL) &&
              put_virtual(j, "warned", H5T_STD_I32LE, 0, NULL, NULL, NULL, "how often a member was warned of", NULL) &&
              put_virtual(j, "warning", H5T_C_S1, 1, letter, letters, NULL, "the first warning of a member", NULL);
  for (size_t f = 0; f < l->n_fields && good; f++) {
    const cb_store_field *field = &l->fields[f];
    good = put_virtual(j, field->name, cb_hdf5_file_type(field->type), field->rank, field->dims, field->shape,
                       field->units, field->doc, field->type == CB_FIELD_DOUBLE ? &nothing : NULL);
  }
  return good;
}

static cb_status find_slots(joining *j, const char *path, const char *folder) {
  cb_status status = CB_OK;
  if (j->survey->stores > sizeof j->slots / sizeof *j->slots)
    return cb_fail(CB_ERROR_FILE, "%s: %zu files of workers are too many", path, j->survey->stores);
  for (size_t i = 0; i < j->survey->stores && !status; i++) {
    char name[4096];
    cb_store_map map;
    snprintf(name, sizeof name, "%s/%s", folder, j->survey->name[i]);
    if ((status = cb_store_map_read(name, j->layout, &map))) break;
    j->slots[i] = map.capacity;
    cb_store_map_free(&map);
  }
  return status;
}

cb_status cb_join(const char *path, const char *folder, const cb_store_layout *layout, const cb_survey *survey) {
  const char *slash = strrchr(folder, '/');
  joining *j = calloc(1, sizeof *j);
  if (!j) return cb_fail(CB_ERROR_MEMORY, "no memory to join the results");
  j->folder = slash ? slash + 1 : folder;
  j->layout = layout;
  j->survey = survey;
  cb_status status = find_slots(j, path, folder);
  /* readers may hold the file that is replaced: they keep what they have opened */
  char part[4096];
  snprintf(part, sizeof part, "%s.%ld.part", path, (long)getpid());
  const cb_output output = {.part = part};
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_part_begin(part);
  if (!status && (j->file = cb_output_create_hdf5(&output)) < 0)
    status = cb_hdf5_fail(path, "create");
  else if (!status) {
    if (!build(j)) status = cb_hdf5_fail(path, "write");
    if (status)
      cb_hdf5_abandon(j->file);
    else
      status = cb_hdf5_close(j->file, path);
    if (!status && rename(part, path)) status = cb_fail_file(path, "write", errno);
  }
  if (status) unlink(part), status = cb_hdf5_unread(path, status);
  cb_part_end(part);
  cb_hdf5_quiet_end(quiet);
  free(j);
  return status;
}
