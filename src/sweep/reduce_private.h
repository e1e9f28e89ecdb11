/* A reduction that was parsed: shared by what reads and what evaluates it. */
#ifndef CB_SWEEP_REDUCE_PRIVATE_H
#define CB_SWEEP_REDUCE_PRIVATE_H

#include "sweep/reduce.h"
#include <curvebody/expression.h>

enum { CB_REDUCE_PARTS = 32, CB_REDUCE_FIELDS = 32, CB_REDUCE_STATE = 5 };

typedef enum cb_reduce_kind {
  CB_REDUCE_FIRST,
  CB_REDUCE_LAST,
  CB_REDUCE_MIN,
  CB_REDUCE_MAX,
  CB_REDUCE_MEAN,
  CB_REDUCE_RMS,
  CB_REDUCE_ARGMIN,
  CB_REDUCE_ARGMAX,
  CB_REDUCE_COUNT,
  CB_REDUCE_CROSSING,
  CB_REDUCE_KINDS
} cb_reduce_kind;

/* A number of a row, or of an event. */
typedef struct cb_reduce_field {
  size_t field; /* of the row */
  size_t at;    /* bytes into it, or into cb_event_row */
  cb_field_type type;
} cb_reduce_field;

typedef struct cb_reduce_part {
  cb_reduce_kind kind;
  bool of_events;
  cb_expression *expression; /* of the fields; NULL: the first of them */
  cb_reduce_field field[CB_REDUCE_FIELDS];
  size_t fields;
  double which; /* of crossings */
} cb_reduce_part;

struct cb_reduction {
  cb_reduce_part part[CB_REDUCE_PARTS];
  size_t parts;
  cb_expression *outer; /* of the parts; NULL: the first of them */
  bool has_time;        /* field 0 of a row is the time */
};

#endif
