/* Failures compared by status and by the whole text of the error. */
#ifndef CB_TESTS_CHECK_ERROR_H
#define CB_TESTS_CHECK_ERROR_H

#include "check.h"

#define check_error(call, status, text) check_error_at((call), (status), (text), #call, __FILE__, __LINE__)
/* The text begins so. */
#define check_error_begins(call, status, text) \
  check_error_begins_at((call), (status), (text), #call, __FILE__, __LINE__)
/* So, and a failure names the case of a table. */
#define check_case_begins(what, call, status, text) \
  check_error_begins_at((call), (status), (text), (what), __FILE__, __LINE__)

static inline void check_error_at(cb_status got, cb_status status, const char *text, const char *what, const char *file,
                                  int line) {
  if (got == status && strcmp(cb_error_text(), text) == 0) return;
  print_error("%s: %s\n  found    %s\n  expected %s\n", what, cb_status_name(got), got ? cb_error_text() : "", text);
  _fail(file, line);
}

static inline void check_error_begins_at(cb_status got, cb_status status, const char *text, const char *what,
                                         const char *file, int line) {
  if (got == status && strncmp(cb_error_text(), text, strlen(text)) == 0) return;
  print_error("%s: %s\n  found    %s\n  expected %s...\n", what, cb_status_name(got), got ? cb_error_text() : "", text);
  _fail(file, line);
}

#endif
