/* The last failure of each thread, scopes that collect several failures into one report, and warnings, which go
 * to the function that was set for the thread (failure.h). */
#include "core/failure.h"

#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_text[CB_FAILURE_CAPACITY];
static _Thread_local cb_failure last_failure;

const char *cb_status_name(cb_status status) {
  switch (status) {
    case CB_OK: return "ok";
    case CB_ERROR_MEMORY: return "out of memory";
    case CB_ERROR_ARGUMENT: return "bad argument";
    case CB_ERROR_INPUT: return "bad input";
    case CB_ERROR_FILE: return "file error";
    case CB_ERROR_DOMAIN: return "outside the domain";
    case CB_ERROR_UNSUPPORTED: return "not supported";
    case CB_ERROR_STEP: return "step failed";
    case CB_ERROR_INTERRUPTED: return "interrupted";
    case CB_ERROR_CONTACT_ACCUMULATION: return "accumulation of contacts";
    case CB_STEP_NO_CONVERGENCE: return "no convergence";
    case CB_STEP_DOMAIN: return "stage outside the domain";
    case CB_STEP_NOT_FINITE: return "stage not finite";
    case CB_STEP_SINGULAR: return "singular Newton matrix";
  }
  return "unknown status";
}

const char *cb_error_text(void) { return last_text; }
cb_failure cb_failure_last(void) { return last_failure; }

bool cb_failure_is_of_input(cb_status status) {
  return status && status != CB_ERROR_MEMORY && status != CB_ERROR_FILE && status != CB_ERROR_INTERRUPTED;
}

cb_place_text cb_place_text_of(int line, int column) {
  cb_place_text place = {": error: "};
  if (line) snprintf(place.text, sizeof place.text, ":%d:%d: error: ", line, column);
  return place;
}

cb_name_text cb_name_text_of(const char *name, int i) {
  cb_name_text out;
  if (name)
    snprintf(out.text, sizeof out.text, "`%.76s`", name);
  else
    snprintf(out.text, sizeof out.text, "%d", i + 1);
  return out;
}

/* Removes the sign that printf gives to a nan. A "-nan" next to a quote or a letter, as in '-nan', is not changed. */
static void drop_signs(char *s) {
  for (char *at = s; (at = strstr(at, "-nan"));)
    if ((at == s || strchr(" ([,=", at[-1])) && strchr(" )],;:", at[4]))
      memmove(at, at + 1, strlen(at));
    else
      at++;
}

static void cb_fail_v(const cb_failure *known, cb_status status, const char *format, va_list args) {
  char next[2048]; /* a separate buffer, because an argument may be the text of the last failure */
  vsnprintf(next, sizeof next, format, args);
  drop_signs(next);
  cb_fail_lines(known, status, next);
}

cb_status cb_fail_lines(const cb_failure *known, cb_status status, const char *lines) {
  last_failure = *known;
  snprintf(last_text, sizeof last_text, "%s", lines);
  return status;
}

cb_status cb_fail(cb_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  cb_fail_v(&(cb_failure){.kind = CB_FAILURE}, status, format, args);
  va_end(args);
  return status;
}

cb_status cb_fail_placed(cb_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  cb_fail_v(&(cb_failure){.placed = true}, status, format, args);
  va_end(args);
  return status;
}

cb_status cb_fail_known(const cb_failure *known, cb_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  cb_fail_v(known, status, format, args);
  va_end(args);
  return status;
}

cb_status cb_fail_as(cb_failure_kind kind, cb_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  cb_fail_v(&(cb_failure){.kind = kind}, status, format, args);
  va_end(args);
  return status;
}

/* ---- Scopes of failures
 *
 * Each thread has a stack of kept failures. The failures of a scope are those above the place where it began. When a
 * scope ends, its failures stay above the top of the stack until something else fails, so that the scope around it can
 * take them over one by one. */

enum { KEPT_MAX = 256 }; /* maximum number of failures in `stack`; further ones are dropped */

typedef struct kept {
  char *text;
  cb_status status;
  cb_failure failure; /* a failure without a place in the file of its node has the place of the node */
  bool bare;          /* the text does not begin with a place */
} kept;

static _Thread_local kept *stack; /* [KEPT_MAX], or NULL: no open scope has kept a failure */
/* top: the number of failures in `stack` that belong to open scopes; reported: the number of failures above them, which
 * come from the scope that has ended last; scopes: the number of open scopes */
static _Thread_local size_t top, reported, scopes;

cb_errors cb_errors_begin(void) {
  scopes++;
  return (cb_errors){.first = top, .status = CB_OK};
}

static void drop_reported(void) {
  for (size_t i = top; i < top + reported; i++) free(stack[i].text);
  reported = 0;
}

/* Keeps the last failure f with its text. A failure that has no place in the file of `where` gets the place of `where`.
 * If KEPT_MAX failures are kept already, this one is dropped. Returns false if memory runs out. */
static bool push(const cb_node *where, cb_status status, const cb_failure *f) {
  if (!stack) stack = calloc(KEPT_MAX, sizeof *stack);
  if (!stack) return false;
  if (top == KEPT_MAX) return true;
  kept *k = &stack[top];
  *k = (kept){strdup(cb_error_text()), status, *f, !f->placed};
  if (!k->text) return false;
  top++;
  if (!where || !where->file || (f->file && !strcmp(f->file, where->file))) return true;
  k->failure.file = where->file;
  k->failure.line = where->line;
  k->failure.column = where->column;
  return true;
}

cb_status cb_errors_add(cb_errors *errors, const cb_node *where, cb_status status) {
  const cb_failure last = cb_failure_last();
  if (!status) return CB_OK;
  if (!errors->status || status == CB_ERROR_MEMORY) errors->status = status;
  if (last.kept && reported) {
    top += reported;
    reported = 0;
    return status;
  }
  drop_reported();
  if (last.kind != CB_FAILURE_CONSEQUENCE && !push(where, status, &last)) errors->status = CB_ERROR_MEMORY;
  return status;
}

static bool before(const kept *a, const kept *b) {
  const cb_failure *f = &a->failure, *g = &b->failure;
  return f->line != g->line ? f->line < g->line : f->column < g->column;
}

/* Sorts the failures from `first` on by place. Of failures with equal texts only the first is kept. */
static void sort(size_t first) {
  for (size_t i = first + 1; i < top; i++)
    for (size_t j = i; j > first && before(&stack[j], &stack[j - 1]); j--) {
      const kept other = stack[j];
      stack[j] = stack[j - 1];
      stack[j - 1] = other;
    }
  size_t n = first;
  for (size_t i = first; i < top; i++) {
    bool again = false;
    for (size_t j = first; j < n; j++) again = again || !strcmp(stack[j].text, stack[i].text);
    if (again)
      free(stack[i].text);
    else
      stack[n++] = stack[i];
  }
  top = n;
}

static void put_line(cb_text *text, const kept *k) {
  if (text->length) cb_text_puts(text, "\n");
  if (k->bare && k->failure.file) {
    cb_text_puts(text, k->failure.file);
    cb_text_puts(text, cb_place_text_of(k->failure.line, k->failure.column).text);
  }
  cb_text_puts(text, k->text);
}

/* Makes the last failure a report of the failures from `first` on. */
static cb_status report(size_t first) {
  const size_t n = top - first, maximum = n < CB_ERRORS_MAX ? n : CB_ERRORS_MAX;
  cb_failure known = stack[first].failure;
  cb_text text = {0};
  known.kept = true;
  known.placed = known.placed || n > 1;
  for (size_t i = 0; i < maximum; i++)
    if (n > 1)
      put_line(&text, &stack[first + i]);
    else
      cb_text_puts(&text, stack[first].text);
  if (n > maximum) {
    char more[48];
    snprintf(more, sizeof more, "\nand %zu more", n - maximum);
    cb_text_puts(&text, more);
  }
  cb_fail_lines(&known, stack[first].status, text.failed || !text.data ? stack[first].text : text.data);
  cb_text_free(&text);
  return stack[first].status;
}

cb_status cb_errors_end(cb_errors *errors) {
  cb_status status = errors->status;
  drop_reported();
  if (status == CB_ERROR_MEMORY) {
    size_t i = errors->first;
    while (i < top && stack[i].status != CB_ERROR_MEMORY) i++;
    if (i < top)
      cb_fail_lines(&stack[i].failure, status, stack[i].text);
    else /* there was no memory for the text of the failure either */
      cb_fail(status, "no memory for the list of errors");
  }
  if (top > errors->first) {
    if (status != CB_ERROR_MEMORY) {
      sort(errors->first);
      status = report(errors->first);
      reported = top - errors->first;
    }
    for (size_t i = errors->first + reported; i < top; i++) free(stack[i].text);
    top = errors->first;
  }
  if (--scopes == 0) {
    drop_reported();
    free(stack);
    stack = NULL;
  }
  return status;
}

cb_status cb_fail_consequence(void) {
  return cb_fail_known(&(cb_failure){.kind = CB_FAILURE_CONSEQUENCE, .placed = true}, CB_ERROR_INPUT,
                       "a consequence of an error that has been reported");
}

/* --- warnings --- */

static _Thread_local cb_warning_taker taker;

cb_warning_taker cb_warnings_to(cb_warning_taker next) {
  const cb_warning_taker before = taker;
  taker = next;
  return before;
}

bool cb_warnings_are_taken(void) { return taker.take; }

static void send(void (*take)(void *context, const char *text), void *context, const char *format, va_list list) {
  char text[1024];
  if (!take) return;
  vsnprintf(text, sizeof text, format, list);
  take(context, text);
}

void cb_warn(const char *format, ...) {
  va_list list;
  va_start(list, format);
  send(taker.take, taker.context, format, list);
  va_end(list);
}

void cb_note(const char *format, ...) {
  va_list list;
  va_start(list, format);
  send(taker.note, taker.note_context, format, list);
  va_end(list);
}
