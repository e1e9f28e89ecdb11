/* Warnings of a thread go to the function that was set for that thread. */
#include "core/warning.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local cb_warning_taker taker;

cb_warning_taker cb_warnings_to(cb_warning_taker next) {
  const cb_warning_taker before = taker;
  taker = next;
  return before;
}

bool cb_warnings_are_taken(void) { return taker.take; }

static void report(void (*take)(void *context, const char *text), void *context, const char *format, va_list list) {
  char text[1024];
  if (!take) return;
  vsnprintf(text, sizeof text, format, list);
  take(context, text);
}

void cb_warn(const char *format, ...) {
  va_list list;
  va_start(list, format);
  report(taker.take, taker.context, format, list);
  va_end(list);
}

void cb_note(const char *format, ...) {
  va_list list;
  va_start(list, format);
  report(taker.note, taker.note_context, format, list);
  va_end(list);
}
