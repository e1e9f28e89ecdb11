/* A parsed reduction. This header is shared by the file that reads it (reduce_parse.c) and the file that evaluates it
 * (reduce.c). */
#pragma once

#include "sweep/reduce.h"
#include <curvebody/expression.h>
#include <curvebody/reduction.h>
#include <string.h>

enum { CB_REDUCE_PARTS = 32, CB_REDUCE_FIELDS = 32 };

/* The position of a number in a row or in an event. */
typedef struct cb_reduce_field {
  size_t field; /* index of the field in the row */
  size_t at;    /* offset in bytes, in the field or in cb_event_row */
  cb_field_type type;
} cb_reduce_field;

typedef struct cb_reduce_part {
  const cb_reduction_class *class;
  bool of_events;
  cb_expression *expression; /* an expression of the fields; NULL: the value of field[0] */
  cb_reduce_field field[CB_REDUCE_FIELDS];
  size_t fields;
  double argument[CB_REDUCTION_ARGUMENTS];
} cb_reduce_part;

extern const cb_reduction_class cb_reduction_last; /* the class of a field outside any reduction */

/* A reduction while it is read. */
typedef struct cb_reduce_text {
  const cb_node *node;
  const char *text; /* the text of the node */
  const cb_record_layout *layout;
  bool has_time; /* field 0 is the time: the rows come from a run */
  cb_reduction *out;
} cb_reduce_text;

struct cb_reduction {
  cb_reduce_part part[CB_REDUCE_PARTS];
  size_t parts;
  cb_expression *outer; /* an expression of the values of the parts; NULL: the value of part[0] */
  bool has_time;        /* field 0 of a row is the time */
};
