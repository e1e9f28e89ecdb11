/* Datasets of numbers in HDF5 files that others wrote, read whole. Internal. */
#pragma once

#include "record/hdf5.h"

/* A file between opening and closing; HDF5 is quiet meanwhile. */
typedef struct cb_hdf5_source {
  const char *path;
  hid_t file;
  cb_hdf5_quiet quiet;
} cb_hdf5_source;

/* Why numbers of a dataset with these properties are not read: they pass through a filter other than shuffle, deflate
 * and fletcher32, or through one of these twice. NULL: there is nothing of that kind. */
const char *cb_hdf5_foreign_filter(hid_t create);

/* What is open on success only is closed by the other. */
cb_status cb_hdf5_source_open(const char *path, cb_hdf5_source *out);
/* `status`, or that something could not be read meanwhile. */
cb_status cb_hdf5_source_close(cb_hdf5_source *s, cb_status status);

/* What a dataset is to be. */
typedef struct cb_hdf5_expected {
  H5T_class_t class;       /* H5T_FLOAT, H5T_INTEGER; H5T_NO_CLASS: either */
  int least, most;         /* dimensions, at least 1 */
  unsigned long long last; /* length of the last one; 0: any */
  const char *words;       /* for errors: "[face, 3]" */
} cb_hdf5_expected;

typedef struct cb_hdf5_array {
  double *value; /* [count], row-major; the caller frees it */
  size_t count;
  int rank;
  int dims[H5S_MAX_RANK]; /* at least 1 each, and three times each is an int */
  char shape[128];        /* "[5, 4, 3]" */
  bool single;            /* stored in single precision */
} cb_hdf5_array;

/* CB_ERROR_INPUT with the names of file and dataset if it is not there, in another file (by a link, external storage or
 * a virtual dataset), not as expected, empty or nearly so; CB_ERROR_FILE; CB_ERROR_MEMORY. */
cb_status cb_hdf5_read_array(const cb_hdf5_source *s, const char *name, const cb_hdf5_expected *expected,
                             cb_hdf5_array *out);
