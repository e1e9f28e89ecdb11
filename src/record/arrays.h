/* Arrays in HDF5 files. This header has three parts: files of arrays on named dimensions, which commands write; reading
 * numbers from files that other programs wrote; the datasets and dimension scales of all files of this project.
 *
 * A file of arrays follows the conventions of netCDF-4. It is written under a temporary name and gets its name when it
 * is complete. The first failure is stored, and later calls do nothing: the caller needs only one check at the end.
 */
#pragma once

#include "record/hdf5.h"
#include <curvebody/sink.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct cb_arrays cb_arrays;

/* Creates an empty file. own: the caller holds the lock of the folder PATH.parts (record/folder.h). */
cb_status cb_arrays_create(const char *path, bool own, cb_arrays **out);
/* Adds a dimension with its scale: numbers, texts, or (neither) 0 .. count - 1. units NULL: no units. Empty dimensions
 * are left out, together with the arrays on them. */
void cb_arrays_dimension(cb_arrays *a, const cb_dimension *dimension, const char *units);
/* These two functions add an array of numbers or of integers, stored row by row. Its dimensions dims[rank] must have
 * been added before. doc is its description; units and doc may be NULL. */
void cb_arrays_put(cb_arrays *a, const char *name, int rank, const char *const *dims, const double *data,
                   const char *units, const char *doc);
void cb_arrays_put_integers(cb_arrays *a, const char *name, int rank, const char *const *dims, const int *data,
                            const char *doc);
/* These two functions add an attribute of the file: a text or a number. */
void cb_arrays_text(cb_arrays *a, const char *name, const char *text);
void cb_arrays_number(cb_arrays *a, const char *name, double value);
/* Adds `count` pairs of integers as the attribute `name` of the array `of`. Nothing is added for count 0, or if the
 * pairs have more than 60 000 bytes (an attribute has space for 64 KiB). */
void cb_arrays_pairs(cb_arrays *a, const char *of, const char *name, int count, const int (*pair)[2]);
/* Closes the file and frees `a`. `status` is the result of the caller's work. If `status` or an earlier call is a
 * failure, that failure is returned and no file remains. */
cb_status cb_arrays_close(cb_arrays *a, cb_status status);

/* ---- Reading datasets of numbers from HDF5 files that other programs wrote */

/* An open file. HDF5 prints no errors until the file is closed. */
typedef struct cb_hdf5_source {
  const char *path;
  hid_t file;
  cb_hdf5_quiet quiet;
} cb_hdf5_source;

/* Returns the reason why a dataset with these creation properties is rejected: it has a filter other than shuffle,
 * deflate and fletcher32, or one of these twice. Returns NULL if its filters are accepted. */
const char *cb_hdf5_foreign_filter(hid_t create);

/* A file that was opened successfully must be closed. Closing returns `status`, or the failure of a read since
 * opening. */
cb_status cb_hdf5_source_open(const char *path, cb_hdf5_source *out);
cb_status cb_hdf5_source_close(cb_hdf5_source *s, cb_status status);

/* The type and shape that a dataset must have. */
typedef struct cb_hdf5_expected {
  H5T_class_t class;       /* H5T_FLOAT, H5T_INTEGER; H5T_NO_CLASS: either */
  int least, maximum;      /* minimum and maximum number of dimensions; least >= 1 */
  unsigned long long last; /* length of the last dimension; 0: any */
  const char *texts;       /* for error messages, such as "[face, 3]" */
} cb_hdf5_expected;

typedef struct cb_hdf5_array {
  double *value; /* [count], row-major; the caller frees it */
  size_t count;
  int rank;
  int dims[H5S_MAX_RANK]; /* [rank], each from 1 to INT_MAX / 3 */
  char shape[128];        /* the dimensions as text, such as "[5, 4, 3]" */
  bool single;            /* the file stores less than double precision */
} cb_hdf5_array;

/* Reads a complete dataset. Returns CB_ERROR_INPUT, with the names of file and dataset, in these cases: there is no
 * such dataset; it is in another file (by a link, external storage or a virtual dataset); cb_hdf5_foreign_filter
 * rejects its filters; its type or shape is not as expected; less than 1/4096 of its numbers was written. Also
 * CB_ERROR_FILE and CB_ERROR_MEMORY. */
cb_status cb_hdf5_read_array(const cb_hdf5_source *s, const char *name, const cb_hdf5_expected *expected,
                             cb_hdf5_array *out);

/* ---- Datasets and dimension scales
 *
 * As in netCDF-4, a dimension is a dataset that is made a dimension scale (HDF5 Dimension Scale Specification), and
 * every array is attached to the scales of its dimensions. On failure these functions return false, or a negative
 * identifier, and set HDF5's error stack. */

/* The values of a dataset, row-major: numbers, texts or integers, or 0 .. count - 1 if all three are NULL. */
typedef struct cb_hdf5_values {
  const double *numbers;
  const char *const *texts;
  const int64_t *integers;
  const char
      *base; /* NULL, or a file: a large array becomes a virtual dataset over the one with the same path in that file */
} cb_hdf5_values;
hid_t cb_hdf5_put_values(hid_t file, const char *path, int rank, const hsize_t *dims, const cb_hdf5_values *values);

/* Sets the attributes units and long_name; either may be NULL. */
bool cb_hdf5_describe(hid_t set, const char *units, const char *doc);

/* Makes the dataset a dimension scale and closes it. */
bool cb_hdf5_make_scale(hid_t set, const char *name, const char *units, const char *doc);
bool cb_hdf5_put_scale(hid_t file, const char *name, size_t count, const cb_hdf5_values *values, const char *units,
                       const char *doc);

/* Attaches the scale of that name to the dimension `index` of the dataset. */
bool cb_hdf5_attach(hid_t file, hid_t set, const char *dimension, unsigned index);
