/* Controls of actuators that the caller of the reader gives: texts NAME=EXPRESSION, with expressions of the time t. */
#include "mjcf/mjcf_private.h"

#include "tree/scalar.h"
#include <curvebody/expression.h>

#include <stdio.h>
#include <string.h>

static cb_status check(const cb_node *where, const char *text) {
  static const char *const names[] = {"t"};
  cb_expression *e = NULL;
  size_t at = 0;
  const size_t before = (size_t)(text - where->text);
  const cb_expression_scope scope = {.names = names, .n = 1};
  const cb_status status = cb_expression_parse_in(text, &scope, &at, &e);
  cb_expression_free(e);
  return status == CB_ERROR_INPUT ? cb_node_fail_at(where, before + at, "%s", cb_error_text()) : status;
}

static cb_status read_one(const cb_mjcf_reader *r, const char *given, int n, const char *const *names,
                          const char **text) {
  const char *equals = strchr(given, '=');
  const cb_node where = {
      .kind = CB_NODE_SCALAR, .file = "--control", .line = 1, .column = 1, .text = given, .text_column = 1};
  if (!equals || equals == given) return cb_node_fail(&where, "expected NAME=EXPRESSION, found '%s'", given);
  const char *name = cb_arena_strndup(r->arena, given, (size_t)(equals - given));
  if (!name) return cb_mjcf_no_memory(r);
  int found = -1;
  for (int i = 0; i < n && found < 0; i++)
    if (!strcmp(names[i], name)) found = i;
  for (int i = 0; i < n && found < 0; i++) {
    char numbered[32];
    snprintf(numbered, sizeof numbered, "ctrl%d", i);
    if (!strcmp(numbered, name)) found = i;
  }
  if (found < 0 && n == 0) return cb_node_fail(&where, "unknown control '%s': the model has no actuators", name);
  if (found < 0) return cb_fail_unknown(&where, "control", name, names, (size_t)n);
  if (text[found]) return cb_node_fail(&where, "a second control for `%s`: expected only one", name);
  const cb_status status = check(&where, equals + 1);
  if (status) return status;
  const size_t room = strlen(equals + 1) + 3;
  char *kept = cb_arena_alloc(r->arena, room, 1);
  if (!kept) return cb_mjcf_no_memory(r);
  snprintf(kept, room, "(%s)", equals + 1);
  text[found] = kept;
  return CB_OK;
}

cb_status cb_mjcf_read_controls(const cb_mjcf_reader *r, int n, const char *const *names, const char **text) {
  cb_errors errors = cb_errors_begin();
  const cb_mjcf_choices *c = &r->whole->choices;
  for (int i = 0; i < c->controls; i++)
    cb_errors_add(&errors, &r->root->name, read_one(r, c->control[i], n, names, text));
  return cb_errors_end(&errors);
}
