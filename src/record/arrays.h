/* An HDF5 file of arrays on named dimensions, netCDF-4 style: what a command writes that is no run.
 *
 * Built as `path`.part, it takes its name when it is whole. The first failure is kept and what follows does nothing, so
 * that only the end needs a check.
 */
#pragma once

#include <curvebody/sink.h>

typedef struct cb_arrays cb_arrays;

/* own: the caller has the lock of the folder by that name. */
cb_status cb_arrays_create(const char *path, bool own, cb_arrays **out);
/* A dimension with its scale: numbers, words, or (neither) 0 .. count - 1. units NULL: none. Empty ones are left out,
 * and with them what is on them. */
void cb_arrays_dimension(cb_arrays *a, const cb_dimension *dimension, const char *units);
/* data on dimensions by name, row-major: numbers or integers. */
void cb_arrays_put(cb_arrays *a, const char *name, int rank, const char *const *dims, const double *data,
                   const char *units, const char *doc);
void cb_arrays_put_integers(cb_arrays *a, const char *name, int rank, const char *const *dims, const int *data,
                            const char *doc);
void cb_arrays_text(cb_arrays *a, const char *name, const char *text); /* an attribute of the file */
void cb_arrays_number(cb_arrays *a, const char *name, double value);
/* Pairs of integers as the attribute `name` of the array `of`, where they fit into one (64 KiB). */
void cb_arrays_pairs(cb_arrays *a, const char *of, const char *name, int count, const int (*pair)[2]);
/* Closes and frees; status: of what was to be written. Its failure, or one of the file, is returned with its text: then
 * there is no file. */
cb_status cb_arrays_close(cb_arrays *a, cb_status status);
