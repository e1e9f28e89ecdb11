/* A reduction that was parsed: shared by what reads and what evaluates it. */
#pragma once

#include "sweep/reduce.h"
#include <curvebody/expression.h>
#include <string.h>

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

/* What is being read. */
typedef struct cb_reduce_text {
  const cb_node *node;
  const char *text; /* its */
  const cb_record_layout *layout;
  bool has_time; /* field 0 is the time: of a run */
  cb_reduction *out;
} cb_reduce_text;

/* Past blanks from `at` on; from `to` back to `from` at most. */
static inline size_t cb_reduce_skip(const char *text, size_t at) { return at + strspn(text + at, " \t\r\n"); }
static inline size_t cb_reduce_unskip(const char *text, size_t from, size_t to) {
  while (to > from && strchr(" \t\r\n", text[to - 1])) to--;
  return to;
}

/* The field whose name is text[from, *end), with its indices, which *end goes behind. */
cb_status cb_reduce_read_field(const cb_reduce_text *r, size_t from, size_t *end, cb_reduce_field *out,
                               bool *of_events);
/* Is text[n] the name of a field, of rows or of events? */
bool cb_reduce_is_field(const cb_reduce_text *r, const char *text, size_t n);

struct cb_reduction {
  cb_reduce_part part[CB_REDUCE_PARTS];
  size_t parts;
  cb_expression *outer; /* of the parts; NULL: the first of them */
  bool has_time;        /* field 0 of a row is the time */
};
