/* Reductions: one number from the rows of a member, computed while the rows arrive. The built-in classes, in
 * src/sweep/reductions/, are these; plugins add others (curvebody/reduction.h):
 *
 *   first last min max      value of an expression of the fields of a row
 *   mean rms                mean and root mean square over rows
 *   argmin argmax           the time of the minimum or maximum
 *   count                   the number of rows in which the expression is not 0
 *   crossing(f), (f, n)     the time of the first or n-th zero of f, with linear interpolation between rows
 *
 * An expression of reductions is also allowed (curvebody/expression.h): `last(x[0,2]) - first(x[0,2])`. x[0,2] is an
 * element of a field; the indices are numbers from 0 or labels of its dimensions. A field outside any reduction means
 * its last value. The fields of events (event_time, event_kind, ...) refer to events instead of rows: `count(event_kind
 * == 0)`.
 *
 * Without rows the result is nan, but 0 for count. A row with nan makes the result nan, also for argmin and argmax;
 * count skips it, and crossing finds no zero directly before or after it. A zero in the first row does not count,
 * because there is no change of sign. Sums are compensated. Times are values of the field `time`, or numbers of rows if
 * there is no such field. A label that looks like an integer is read as an index. min(a, b) and max(a, b) with two
 * arguments are not reductions but functions of expressions.
 */
#pragma once

#include <curvebody/expression.h>
#include <curvebody/node.h>
#include <curvebody/reduction.h>
#include <curvebody/sink.h>

#include <string.h>

typedef struct cb_reduction cb_reduction; /* immutable; any thread may use it */

/* Parses a reduction. text: the scalar node with the text of the reduction. layout: the layout of the rows, borrowed
 * during the call. Fails with CB_ERROR_INPUT and the position in the text. */
cb_status cb_reduction_parse(const cb_node *text, const cb_record_layout *layout, cb_reduction **out);
void cb_reduction_free(cb_reduction *r);

/* cb_reduction_doubles returns the number of doubles in the state of a reduction, which may be saved and loaded. The
 * other functions set the state at the start, add a row or an event, and return the result. */
size_t cb_reduction_doubles(const cb_reduction *r);
void cb_reduction_start(const cb_reduction *r, double *state);
void cb_reduction_row(const cb_reduction *r, const void *const *row, double *state);
void cb_reduction_event(const cb_reduction *r, const cb_event_row *event, double *state);
double cb_reduction_value(const cb_reduction *r, const double *state);

/* --- a parsed reduction --- */

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

extern const cb_reduction_class cb_reduction_last; /* the reduction of a field that is not in a call */

/* A reduction while it is read. */
typedef struct cb_reduce_text {
  const cb_node *node;
  const char *text; /* the text of the node */
  const cb_record_layout *layout;
  bool has_time; /* whether field 0 of a row is the time, as in the rows of a run */
  cb_reduction *out;
} cb_reduce_text;

struct cb_reduction {
  cb_reduce_part part[CB_REDUCE_PARTS];
  size_t parts;
  cb_expression *outer; /* an expression of the values of the parts; NULL: the value of part[0] */
  bool has_time;        /* field 0 of a row is the time */
};
