/* The interface between a run and its output. The run loop writes a record only through these functions: it does not
 * depend on HDF5, and a sink does not depend on physics: it sees named fields.
 *
 * All pointers are borrowed for the duration of the call. A sink allocates when it is opened, not in `row`.
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

/* A dimension with its scale: numbers (values) or texts (labels), or neither (then 0 .. count-1). */
typedef struct cb_dimension {
  const char *name; /* "particle" */
  size_t count;
  const double *values;      /* [count]; NULL: the scale is not numbers */
  const char *const *labels; /* [count]; NULL: the scale is not texts */
  const char *doc;           /* long_name */
} cb_dimension;

/* One value for every row and every element of the extra dimensions: /name[T, dims...]. */
typedef struct cb_field {
  const char *name;
  cb_field_type type;
  int rank;            /* dimensions after time, 0 to 3 */
  const char *dims[3]; /* names of cb_dimension */
  const char *units;   /* "1" if dimensionless */
  const char *doc;     /* long_name */
} cb_field;

/* A constant array at the root, such as /particle_mass[particle]: numbers, texts (labels) or integers. */
typedef struct cb_constant {
  const char *name;
  const char *dim;
  const double *values;
  const char *const *labels;
  const char *units, *doc;
  const int64_t *integers; /* for example /bond_i[bond] or /bond_j[bond]: one of the two particles of a bond */
} cb_constant;

/* A piece of restart state: named, typed, of fixed length. */
typedef struct cb_blob {
  const char *name;
  cb_field_type type;
  size_t count;
  void *data;    /* checkpoint() reads it; loading a checkpoint writes it */
  bool may_lack; /* a record of an older version may not have it: data then stays unchanged */
} cb_blob;

/* Everything a record must know before its first row. */
/* A group of fields that a scenario may ask for, and a list of their names; lists end at a NULL name. */
typedef struct cb_observable_doc {
  const char *name, *fields, *doc;
} cb_observable_doc;

typedef struct cb_record_layout {
  const char *title;
  const char *scenario_source, *scenario_resolved; /* text kept in /scenario */
  const char *const *attributes;                   /* pairs name, text; ended by NULL */
  const cb_dimension *dimensions;
  size_t n_dimensions;
  const cb_constant *constants;
  size_t n_constants;
  const cb_field *fields;
  size_t n_fields; /* the first two are time (double) and step (int64), rank 0 */
  const cb_blob *state;
  size_t n_state;                       /* shape of a checkpoint (data unused) */
  const cb_observable_doc *observables; /* all groups of fields, also those that are not recorded; NULL: not known */
  bool old_names; /* set by the record when it continues a record with names of an older version */
} cb_record_layout;

typedef struct cb_sink {
  void *self;
  /* One row: data[f] points to the values of field f, row-major. */
  cb_status (*row)(void *self, const void *const *data);
  cb_status (*event)(void *self, const cb_event_row *event);
  /* Writes a complete restart state. A checkpoint counts as written only when all earlier rows and events are on
   * disk. */
  cb_status (*checkpoint)(void *self, const cb_blob *state, size_t n_state);
  /* Ends the record: completed says whether the run reached its end. */
  cb_status (*close)(void *self, bool completed);
} cb_sink;

CB_API_END
#endif
