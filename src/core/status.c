/* The text of the last error, one for each thread. */
#include "core/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char text[CB_FAILURE_ROOM];
static _Thread_local cb_failure last;

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
    case CB_ERROR_CONTACT_PILE: return "pile of contacts";
    case CB_STEP_NO_CONVERGENCE: return "no convergence";
    case CB_STEP_DOMAIN: return "stage outside the domain";
    case CB_STEP_NOT_FINITE: return "stage not finite";
    case CB_STEP_SINGULAR: return "singular Newton matrix";
  }
  return "unknown status";
}

const char *cb_error_text(void) { return text; }
cb_failure cb_failure_last(void) { return last; }

bool cb_failure_is_of_input(cb_status status) {
  return status && status != CB_ERROR_MEMORY && status != CB_ERROR_FILE && status != CB_ERROR_INTERRUPTED;
}

cb_place_text cb_place_text_of(int line, int column) {
  cb_place_text place = {": error: "};
  if (line) snprintf(place.text, sizeof place.text, ":%d:%d: error: ", line, column);
  return place;
}

/* What is no number has no sign, though C prints one; what is quoted stays as it was written. */
static void drop_signs(char *s) {
  for (char *at = s; (at = strstr(at, "-nan"));)
    if ((at == s || strchr(" ([,=", at[-1])) && strchr(" )],;:", at[4])) memmove(at, at + 1, strlen(at));
    else at++;
}

static cb_status cb_fail_v(const cb_failure *known, cb_status status, const char *format, va_list args) {
  char next[2048]; /* an argument may be the old text itself */
  vsnprintf(next, sizeof next, format, args);
  drop_signs(next);
  return cb_fail_lines(known, status, next);
}

cb_status cb_fail_lines(const cb_failure *known, cb_status status, const char *lines) {
  last = *known;
  snprintf(text, sizeof text, "%s", lines);
  return status;
}

#define FAIL(known)                                  \
  va_list args;                                      \
  va_start(args, format);                            \
  status = cb_fail_v((known), status, format, args); \
  va_end(args);                                      \
  return status

cb_status cb_fail(cb_status status, const char *format, ...) { FAIL(&(cb_failure){.kind = CB_FAILURE}); }
cb_status cb_fail_placed(cb_status status, const char *format, ...) { FAIL(&(cb_failure){.placed = true}); }
cb_status cb_fail_known(const cb_failure *known, cb_status status, const char *format, ...) { FAIL(known); }
cb_status cb_fail_as(cb_failure_kind kind, cb_status status, const char *format, ...) {
  FAIL(&(cb_failure){.kind = kind});
}
