/* Which kind a scenario is of, and the keys that it may have. See scenario_kind.h. */
#include "scenario/kind.h"

#include "tree/scalar.h"

#include <string.h>

static const cb_scenario_kind *const kinds[] = {&cb_scenario_kind_bundle, &cb_scenario_kind_fluid,
                                                &cb_scenario_kind_system, &cb_scenario_kind_space};
static const char *const keys[] = {"curvebody",  "title",        "space",       "system",   "fluid", "bundle", "bodies",
                                   "potentials", "interactions", "constraints", "contacts", "walls", "events", "gait",
                                   "optimum",    "start",        "integrator",  "time",     "record"};
static const char *const shared[] = {"curvebody", "title", "integrator", "time", "record", NULL};
enum { KEYS = sizeof keys / sizeof *keys, KINDS = sizeof kinds / sizeof *kinds };

static bool is_among(const char *key, const char *const *list) {
  while (*list && strcmp(*list, key)) list++;
  return *list != NULL;
}

const cb_node *cb_scenario_section(const cb_node *root, const char *key) {
  const cb_node *node = cb_node_get(root, key);
  return node ? node : cb_node_misspelt(root, key, keys, KEYS);
}

const cb_scenario_kind *cb_scenario_kind_of(const cb_node *root) {
  for (int k = 0; k < KINDS; k++)
    if (cb_node_get(root, kinds[k]->name) ||
        (is_among("space", kinds[k]->keys) && cb_node_get(root, "space") && cb_scenario_section(root, kinds[k]->name)))
      return kinds[k];
  for (int k = 0; k < KINDS; k++)
    if (cb_scenario_section(root, kinds[k]->name)) return kinds[k];
  return NULL;
}

bool cb_scenario_is_of_two(const cb_node *root, const cb_scenario_kind *kind) {
  if (!is_among("gait", kind->keys) && (cb_node_get(root, "gait") || cb_node_get(root, "optimum"))) return true;
  for (int k = 0; k < KINDS; k++)
    if (kinds[k] != kind && !is_among(kinds[k]->name, kind->keys) && cb_node_get(root, kinds[k]->name)) return true;
  return false;
}

cb_status cb_scenario_check_keys(const cb_node *root, const cb_scenario_kind *kind) {
  const cb_node *gait = cb_node_get(root, "gait");
  if (!gait) gait = cb_node_get(root, "optimum");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, cb_node_check_keys(root, keys, KEYS));
  if (!kind && gait) {
    cb_errors_add(&errors, gait, cb_node_fail(gait, "the key `bundle` is missing: the bundle that the gait moves in"));
    return cb_errors_end(&errors);
  }
  if (!kind) kind = &cb_scenario_kind_space;
  for (int k = 0; k < KEYS; k++) {
    const cb_node *node = cb_node_get(root, keys[k]);
    if (!node || is_among(keys[k], shared) || is_among(keys[k], kind->keys)) continue;
    cb_errors_add(&errors, node,
                  cb_node_fail(node, "`%s` beside `%s`: expected one or the other", keys[k], kind->name));
  }
  for (const char *const *key = kind->required; *key && !cb_scenario_is_of_two(root, kind); key++)
    if (!cb_scenario_section(root, *key))
      cb_errors_add(&errors, root, cb_node_fail(root, "the key `%s` is missing", *key));
  return cb_errors_end(&errors);
}

const cb_param *cb_scenario_table(const cb_scenario *s, const char *key) {
  const cb_section *section = s->kind->sections;
  while (section->key && strcmp(section->key, key)) section++;
  return section->table;
}
