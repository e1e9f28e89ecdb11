/* The text of the last error, one for each thread. */
#include <curvebody/status.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char text[2048];

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

/* What is no number has no sign, though C prints one; what is quoted stays as it was written. */
static void drop_signs(char *s) {
  for (char *at = s; (at = strstr(at, "-nan"));)
    if ((at == s || strchr(" ([,=", at[-1])) && strchr(" )],;:", at[4])) memmove(at, at + 1, strlen(at));
    else at++;
}

cb_status cb_fail(cb_status status, const char *format, ...) {
  /* Through a second buffer: an argument may be the old text itself. */
  char next[sizeof text];
  va_list args;
  va_start(args, format);
  vsnprintf(next, sizeof next, format, args);
  va_end(args);
  drop_signs(next);
  for (size_t i = 0; i < sizeof text; i++)
    if (!(text[i] = next[i])) break;
  return status;
}
