/* Reductions: what of a member's rows is one number, found as they come.
 *
 *   first last min max      of an expression of the fields of a row
 *   mean rms                over rows
 *   argmin argmax           the time of it
 *   count                   of rows for which it is not 0
 *   crossing(f), (f, n)     time of the first, n-th zero of f, which is taken for linear between rows
 *
 * and expressions of these (curvebody/expression.h): `last(x[0,2]) - first(x[0,2])`. x[0,2] is an element of a field,
 * by numbers from 0 or by labels of its dimensions. A field within no reduction is its last value. The fields of events
 * (event_time, event_kind, ...) are of events in place of rows: `count(event_kind == 0)`.
 *
 * No row: nan, and 0 for count. A row that is nan makes all nan that it is taken into, argmin and argmax too; for count
 * it is none, and no zero is seen before or behind it. A zero of the first row is none: nothing was crossed. Sums are
 * compensated. Times are those of the field `time`, or numbers of rows where there is none.
 * A label that reads as an integer is an index. min(a, b) and max(a, b) are the functions.
 */
#pragma once

#include <curvebody/node.h>
#include <curvebody/sink.h>

typedef struct cb_reduction cb_reduction; /* immutable, of any thread */

/* text: a scalar. layout: of the rows that it will see, borrowed during the call. CB_ERROR_INPUT with the place in the
 * text. */
cb_status cb_reduction_parse(const cb_node *text, const cb_record_layout *layout, cb_reduction **out);
void cb_reduction_free(cb_reduction *r);

/* Its state, so many doubles, may be kept and loaded. */
size_t cb_reduction_doubles(const cb_reduction *r);
void cb_reduction_start(const cb_reduction *r, double *state);
void cb_reduction_row(const cb_reduction *r, const void *const *row, double *state);
void cb_reduction_event(const cb_reduction *r, const cb_event_row *event, double *state);
double cb_reduction_value(const cb_reduction *r, const double *state);

/* Rows {name, arguments, one line}, ended by a NULL name: for `curvebody list reductions`. */
typedef struct cb_reduction_doc {
  const char *name, *arguments, *doc;
} cb_reduction_doc;
extern const cb_reduction_doc cb_reduction_docs[];
