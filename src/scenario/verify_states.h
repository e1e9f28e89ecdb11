/* What the files of `verify` share. Internal. */
#pragma once

#include <curvebody/scenario.h>

typedef struct cb_verify {
  const char *path;
  cb_verify_tell tell;
  void *user;
  bool live;               /* it is being written */
  cb_record_position good; /* rows and events before the first that is not as it was written */
  cb_verify_report report;
} cb_verify;

/* Tells a fault. */
void cb_verify_say(cb_verify *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with the text of the last failure. */
void cb_verify_say_failure(cb_verify *v);

/* Measures states of rows and of the newest checkpoint again, and compares them with the rows. */
cb_status cb_verify_states(cb_verify *v, cb_reader *reader, cb_scenario *scenario);
