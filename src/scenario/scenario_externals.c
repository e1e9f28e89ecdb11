/* The names of quantities of other bodies in the expressions of wrenches: a.x is x of the body `a`, and swarm.3.x is x
 * of copy 3 of the body `swarm`, or of its particle 3. The quantities are those of fluid/body_quantities.h. A name is a
 * word that begins with a letter or _ and has a dot; the part after the last dot is the quantity.
 */
#include "fluid/body_quantities.h"
#include "scenario/fluid.h"

#include "tree/scalar.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 96 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* Writes the name of entry i of `bodies`, without the number of a copy. */
static void entry_name(const cb_node *bodies, size_t i, char out[NAME]) {
  const cb_node *name = cb_node_get(bodies->items[i], "name");
  if (name && name->kind == CB_NODE_SCALAR && *name->text)
    snprintf(out, NAME, "%s", name->text);
  else
    snprintf(out, NAME, "body.%zu", i);
}

/* Returns whether the map `repeat` makes a copy with this number. A count that is not a number is reported
 * elsewhere. */
static bool has_copy(const cb_node *repeat, const char *number) {
  long long count = LLONG_MAX;
  const cb_node *given = cb_node_get(repeat, "count");
  if (!is_digit(*number) || (*number == '0' && number[1]) || number[strspn(number, "0123456789")]) return false;
  if (given && cb_node_int(given, &count)) count = LLONG_MAX;
  return strtoll(number, NULL, 10) < count;
}

static bool has_body(const cb_node *bodies, const char *name) {
  for (size_t i = 0; i < bodies->count; i++) {
    char own[NAME];
    entry_name(bodies, i, own);
    const size_t n = strlen(own);
    const cb_node *repeat = cb_node_get(bodies->items[i], "repeat");
    if (cb_node_get(bodies->items[i], "kind") && !strncmp(own, name, n) && name[n] == '.' && is_digit(name[n + 1]))
      return true; /* a particle of the body */
    if (repeat ? !strncmp(own, name, n) && name[n] == '.' && has_copy(repeat, name + n + 1) : !strcmp(own, name))
      return true;
  }
  return false;
}

static cb_status fail_body(cb_scenario *s, const cb_node *bodies, const cb_node *node, size_t at, const char *name) {
  const char **known = cb_arena_alloc(s->arena, bodies->count, sizeof *known);
  for (size_t i = 0; known && i < bodies->count; i++) {
    char own[NAME], copy[NAME + 2];
    entry_name(bodies, i, own);
    snprintf(copy, sizeof copy, "%s%s", own, cb_node_get(bodies->items[i], "repeat") ? ".0" : "");
    if (!(known[i] = cb_arena_strdup(s->arena, copy))) known = NULL;
  }
  if (!known) return cb_fail(CB_ERROR_MEMORY, "no memory for the names of %zu bodies", bodies->count);
  cb_fail_unknown(NULL, "body", name, known, bodies->count);
  return cb_node_fail_at(node, at, "%s", cb_error_text());
}

/* Checks a name at an offset of the text of the node, and adds it to the names that were found. */
static cb_status take(cb_scenario *s, const cb_node *node, size_t at, size_t length, cb_externals *found) {
  char name[NAME];
  const char *text = node->text + at;
  if (length >= sizeof name)
    return cb_node_fail_at(node, at, "expected a name of at most %d bytes, found `%.40s..`", NAME - 1, text);
  snprintf(name, sizeof name, "%.*s", (int)length, text);
  char *dot = strrchr(name, '.');
  *dot = 0;
  if (!has_body(cb_fluid_scenario_of(s)->bodies, name))
    return fail_body(s, cb_fluid_scenario_of(s)->bodies, node, at, name);
  int quantity = 0;
  while (quantity < CB_BODY_QUANTITIES && strcmp(cb_body_quantities[quantity], dot + 1)) quantity++;
  if (quantity == CB_BODY_QUANTITIES) {
    cb_fail_unknown(NULL, "quantity of a body", dot + 1, cb_body_quantities, CB_BODY_QUANTITIES);
    return cb_node_fail_at(node, at + (size_t)(dot + 1 - name), "%s", cb_error_text());
  }
  *dot = '.';
  for (int i = 0; i < found->n; i++)
    if (!strcmp(found->name[i], name)) return CB_OK;
  if (found->n == CB_IMMERSED_EXTERNALS)
    return cb_node_fail_at(node, at, "the wrenches of a body may use at most %d quantities of other bodies",
                           CB_IMMERSED_EXTERNALS);
  if (!(found->name[found->n] = cb_arena_strdup(s->arena, name)))
    return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  found->n++;
  return CB_OK;
}

cb_status cb_scenario_find_externals(cb_scenario *s, const cb_node *node, cb_externals *found) {
  cb_status status = CB_OK;
  for (const char *c = node->text; *c && !status;) {
    const char *begin = c, *dot = NULL;
    for (; is_letter(*c) || is_digit(*c) || *c == '.'; c++)
      if (*c == '.') dot = c;
    if (is_letter(*begin) && dot && is_letter(dot[1]))
      status = take(s, node, (size_t)(begin - node->text), (size_t)(c - begin), found);
    if (c == begin) c++;
  }
  return status;
}
