/* The interface between a run and its output. The run loop writes a record only through these functions, so it does not
 * depend on HDF5. A sink gets rows of named fields and knows nothing about their physics.
 *
 * All pointers are borrowed for the duration of the call. A sink should allocate memory when it is opened, not in
 * `row`.
 * For authors of other output formats.
 */
#ifndef CURVEBODY_SINK_H
#define CURVEBODY_SINK_H

#include <curvebody/event.h>
#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CB_API_BEGIN

/* Names of files that were read. */
typedef struct cb_files {
  const char *const *path;
  size_t count;
} cb_files;

typedef enum cb_field_type { CB_FIELD_DOUBLE, CB_FIELD_INT64, CB_FIELD_INT32 } cb_field_type;

/* A dimension of arrays, with its scale. The scale consists of the numbers `values` or of the texts `labels`; if both
 * are NULL, it is 0 .. count-1. */
typedef struct cb_dimension {
  const char *name; /* for example "particle" */
  size_t count;
  const double *values;      /* [count]; NULL: the scale does not consist of numbers */
  const char *const *labels; /* [count]; NULL: the scale does not consist of texts */
  const char *doc;           /* becomes the attribute long_name */
} cb_dimension;

/* A field of the record: the array /name[time, dims...], with one row for each recorded time. */
typedef struct cb_field {
  const char *name;
  cb_field_type type;
  int rank;            /* number of dimensions after time, 0 to 3 */
  const char *dims[3]; /* [rank]: names of dimensions (cb_dimension) */
  const char *units;   /* "1" if dimensionless */
  const char *doc;     /* becomes the attribute long_name */
} cb_field;

/* A constant array with one dimension, such as /particle_mass[particle]. One of `values`, `labels` and `integers` has
 * its elements, and the other two are NULL. */
typedef struct cb_constant {
  const char *name;
  const char *dim; /* the name of the dimension */
  const double *values;
  const char *const *labels;
  const char *units, *doc;
  const int64_t *integers; /* for example /bond_i[bond] or /bond_j[bond]: one of the two particles of a bond */
} cb_constant;

/* A piece of the restart state: an array with a name, a type and a fixed length. */
typedef struct cb_blob {
  const char *name;
  cb_field_type type;
  size_t count;
  void *data;    /* [count]: cb_sink.checkpoint reads the numbers, and loading a checkpoint writes them */
  bool may_lack; /* true: a record of an older version may lack this piece; data then stays unchanged */
} cb_blob;

/* A group of fields that a scenario may ask for by its name. `fields` has the names of the fields, separated by commas,
 * and `doc` says what they are. A list of groups ends at a NULL name. */
typedef struct cb_observable_doc {
  const char *name, *fields, *doc;
} cb_observable_doc;

/* Everything that a record needs before its first row. */
typedef struct cb_record_layout {
  const char *title;
  const char *scenario_source, *scenario_resolved; /* texts for the datasets /scenario/source and /scenario/resolved */
  const char *const *attributes;                   /* name, text, name, text, ...; ended by NULL */
  const cb_dimension *dimensions;
  size_t n_dimensions;
  const cb_constant *constants;
  size_t n_constants;
  const cb_field *fields;
  size_t n_fields;              /* the first two fields are time (double) and step (int64), both of rank 0 */
  const cb_field *event_fields; /* arrays /event_NAME[event, dims...] of doubles: the state at each event */
  size_t n_event_fields;
  const cb_blob *state; /* names, types and lengths of the pieces of a checkpoint; their data are not read */
  size_t n_state;
  const cb_observable_doc *observables; /* all groups of fields, also those that are not recorded; NULL: not known */
  bool old_names; /* set by cb_record_open_for_resume if the file has field names of an older version */
} cb_record_layout;

typedef struct cb_sink {
  void *self;
  /* Adds a row; data[f] points to the values of field f in row-major order. */
  cb_status (*row)(void *self, const void *const *data);
  cb_status (*event)(void *self, const cb_event_row *event); /* adds an event; NULL: events are not wanted */
  /* Saves the complete restart state[n_state]. After a crash a run may be resumed from this state only if all earlier
   * rows and events are on disk. */
  cb_status (*checkpoint)(void *self, const cb_blob *state, size_t n_state);
  /* Ends the record; `completed` says whether the run reached its end. */
  cb_status (*close)(void *self, bool completed);
} cb_sink;

CB_API_END
#endif
