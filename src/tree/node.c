/* Trees of values: look-up of keys, and failures that name a place in a file. */
#include "core/failure.h"
#include "tree/scalar.h"
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cb_node *cb_node_get(const cb_node *map, const char *key) {
  if (!map || map->kind != CB_NODE_MAP) return NULL;
  for (size_t i = 0; i < map->count; i++)
    if (strcmp(map->keys[i]->text, key) == 0) return map->items[i];
  return NULL;
}

cb_found cb_node_found(const cb_node *node) {
  cb_found found;
  switch (node ? node->kind : CB_NODE_NULL) {
    case CB_NODE_NULL: snprintf(found.text, sizeof found.text, "nothing"); break;
    case CB_NODE_LIST: snprintf(found.text, sizeof found.text, "a list"); break;
    case CB_NODE_MAP: snprintf(found.text, sizeof found.text, "a map"); break;
    case CB_NODE_SCALAR:
      snprintf(found.text, sizeof found.text, "'%s'", cb_quoted(node->text, strlen(node->text)).text);
  }
  return found;
}

static cb_status fail_in_column(const cb_node *node, int column, const char *format, va_list args) {
  char text[1536];
  vsnprintf(text, sizeof text, format, args);
  if (!node || !node->file) return cb_fail(CB_ERROR_INPUT, "error: %s", text);
  const cb_failure known = {.placed = true, .file = node->file, .line = node->line, .column = column};
  return cb_fail_known(&known, CB_ERROR_INPUT, "%s%s%s", node->file, cb_place_text_of(node->line, column).text, text);
}

cb_status cb_node_fail(const cb_node *node, const char *format, ...) {
  va_list args;
  va_start(args, format);
  cb_status status = fail_in_column(node, node ? node->column : 0, format, args);
  va_end(args);
  return status;
}

cb_status cb_node_fail_at(const cb_node *node, size_t at, const char *format, ...) {
  int column = node ? node->column : 0;
  if (node && node->kind == CB_NODE_SCALAR && node->text_column > 0 && at <= strlen(node->text))
    column = node->text_column + (int)cb_count_characters(node->text, at);
  va_list args;
  va_start(args, format);
  cb_status status = fail_in_column(node, column, format, args);
  va_end(args);
  return status;
}

cb_status cb_fail_again(const cb_node *node, cb_status status) {
  const cb_failure_kind kind = cb_failure_last().kind;
  cb_node_fail(node, "%s", cb_error_text());
  cb_failure known = cb_failure_last();
  known.kind = kind;
  return cb_fail_known(&known, status, "%s", cb_error_text());
}

static bool is_among(const char *text, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(text, names[i])) return true;
  return false;
}

/* Former names `old` of keys and classes, and the names `now` that replaced them. A former name in a scenario is an
 * error where the new name is allowed; the message has the new name. At other places the same word may be a key. In the
 * scenario of a record, cb_rename_former replaces the former names. It does so at the path `where`: the path of the map
 * that has the key, or the path of the text that names a class, such as "bodies.*.kind", where * means any item. The
 * former names of options are in cli/options.c. */
static const struct {
  const char *where, *old, *now;
} renamed[] = {
    {"contacts", "pile", "accumulation"},
    {"sweep", "work", "task"},
    {"space", "picture", "plot"},
    {"system", "picture", "plot"},
    {"sweep.task", "verdict", "optimality"},
    {"record.observables.*", "breathing", "removed_normal_velocity"},
    {"interactions.*", "law", "pair_potential"},
    {"potentials.*.central", "law", "pair_potential"},
    {"constraints.*", "tether", "distance_to_point"},
    {"constraints.*", "string", "path_length"},
    {"constraints.*", "blade", "knife_edge"},
    {"bodies.*.kind", "frame", "truss"},
    {"bodies.*", "ball", "container_radius"},
    {"bodies.*", "heaviest", "mass_max"},
    {"optimum", "seek", "objective"},
    {"optimum", "apart", "no_crossing"},
    {"optimum", "base", "start_shape"},
};

const char *cb_renamed(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
    if (!strcmp(name, renamed[i].old) && is_among(renamed[i].now, names, count)) return renamed[i].now;
  return NULL;
}

/* Replaces the name `old` by `now` at the path `where` below node. Nodes are const for other code, but the caller owns
 * the tree and may change them. */
static void rename_at(const cb_node *node, const char *where, const char *old, const char *now) {
  const size_t length = strcspn(where, ".");
  if (!*where && node->kind == CB_NODE_SCALAR && !strcmp(node->text, old)) ((cb_node *)node)->text = now;
  for (size_t i = 0; i < node->count; i++) {
    const char *key = node->kind == CB_NODE_MAP ? node->keys[i]->text : "";
    if (!*where && !strcmp(key, old)) ((cb_node *)node->keys[i])->text = now;
    if (*where && (*where == '*' || (strlen(key) == length && !strncmp(key, where, length))))
      rename_at(node->items[i], where + length + (where[length] == '.'), old, now);
  }
}

void cb_rename_former(const cb_node *root) {
  for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
    rename_at(root, renamed[i].where, renamed[i].old, renamed[i].now);
}

cb_status cb_fail_unknown(const cb_node *node, const char *what, const char *name, const char *const *names,
                          size_t count) {
  enum { MAXIMUM = 512 };
  char list[MAXIMUM + 8] = "";
  size_t used = 0;
  for (size_t j = 0; j < count; j++) {
    const size_t more = strlen(names[j]) + 2;
    if (used + more > MAXIMUM) {
      strcpy(list + used, ", ...");
      break;
    }
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", j ? ", " : "", names[j]);
  }
  const char *near = cb_nearest_name(name, names, count);
  const bool placed = node && node->file;
  const cb_failure known = {.kind = CB_FAILURE_UNKNOWN,
                            .placed = placed,
                            .file = placed ? node->file : NULL,
                            .line = placed ? node->line : 0,
                            .column = placed ? node->column : 0};
  char place[600] = "";
  if (placed) snprintf(place, sizeof place, "%.512s%s", node->file, cb_place_text_of(node->line, node->column).text);
  const char *now = cb_renamed(name, names, count);
  if (now) return cb_fail_known(&known, CB_ERROR_INPUT, "%s%s was renamed to %s", place, name, now);
  return cb_fail_known(&known, CB_ERROR_INPUT, "%sunknown %s '%s', %s%s%s%s%s", place, what,
                       cb_quoted(name, strlen(name)).text, near ? "did you mean '" : "", near ? near : "",
                       near ? "'? Expected " : "expected ", count > 1 ? "one of: " : "", count ? list : "none");
}

cb_status cb_fail_no_class(const cb_node *node, const char *what, const char *name, const cb_registry *classes) {
  const char *names[CB_REGISTRY_MAX];
  const cb_node *named = cb_node_get(node, "name");
  const cb_status status = cb_fail_unknown(named ? named : node, what, name, names, cb_registry_names(classes, names));
  return node ? status : CB_ERROR_ARGUMENT;
}

static cb_status unknown_key(const cb_node *key, const char *const *names, size_t count) {
  static const char *const none[] = {"no key"};
  return cb_fail_unknown(key, "key", key->text, count ? names : none, count ? count : 1);
}

cb_status cb_node_check_keys(const cb_node *map, const char *const *names, size_t count) {
  if (!map) return CB_OK;
  if (map->kind != CB_NODE_MAP)
    return cb_node_fail(map, "expected a map of keys and values, found %s", cb_node_found(map).text);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < map->count; i++)
    if (!is_among(map->keys[i]->text, names, count))
      cb_errors_add(&errors, map->keys[i], unknown_key(map->keys[i], names, count));
  return cb_errors_end(&errors);
}

const cb_node *cb_node_misspelt(const cb_node *map, const char *key, const char *const *names, size_t count) {
  for (size_t i = 0; map && map->kind == CB_NODE_MAP && i < map->count; i++) {
    const char *text = map->keys[i]->text;
    const bool meant = cb_nearest_name(text, &key, 1) || cb_renamed(text, &key, 1);
    if (meant && !is_among(text, names, count)) return map->items[i];
  }
  return NULL;
}

bool cb_node_is_set(const cb_node *node) {
  return node->file && (node->line == 0 || !strncmp(node->file, "--set ", 6));
}

char *cb_node_path(const cb_node *node) {
  const char *path = node->text;
  const char *slash = node->file && !cb_node_is_set(node) ? strrchr(node->file, '/') : NULL;
  size_t folder = path[0] == '/' || !slash ? 0 : (size_t)(slash - node->file) + 1, length = strlen(path);
  char *out = malloc(folder + length + 1);
  if (!out) return NULL;
  if (folder) memcpy(out, node->file, folder);
  memcpy(out + folder, path, length + 1);
  return out;
}
