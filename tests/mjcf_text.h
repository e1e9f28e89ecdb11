/* Functions that read models from a few lines of MJCF, MuJoCo's XML format. */
#pragma once

#include "check.h"
#include "mjcf/mjcf.h"

static inline cb_status read_from(const char *text, const char *key, cb_mjcf **out) {
  return cb_mjcf_read_text("m.xml", text, strlen(text), &(cb_mjcf_choices){.key = key}, out);
}

static inline cb_status read_text(const char *text, cb_mjcf **out) { return read_from(text, NULL, out); }

/* Reads a model from `within`, the text inside <mujoco>. This text begins in line 2, column 1. */
static inline cb_status read_within(const char *within, cb_mjcf **out) {
  char text[4096];
  snprintf(text, sizeof text, "<mujoco>\n%s\n</mujoco>\n", within);
  return read_text(text, out);
}

static inline cb_status read_body(const char *before, const char *within, cb_mjcf **out) {
  char text[2048];
  snprintf(text, sizeof text, "%s<worldbody><body><freejoint/>\n%s\n</body></worldbody>", before, within);
  return read_within(text, out);
}
