/* Tests that the keys of the previous class are removed if --set changes the key that names a class. */
#include "check.h"
#include "scenario/bundle_scenario.h"

#include <curvebody/body.h>

enum { MOST = 64, LONGEST = 8192 };

typedef struct kind {
  const char *name;
  const cb_param *params;
} kind;

/* Scenarios with a class at each key that can have one; %s is replaced by the map of the class. */
static const char in_space[] =
    "curvebody: 1\nspace: h3\nbodies: [{kind: particles, place: {points: [[0, 0, 0, 1]]}}]\n"
    "integrator: %s\ntime: {end: 1}\n",
                  of_space[] =
                      "curvebody: 1\nspace: %s\nbodies: [{kind: particles, place: {}}]\n"
                      "integrator: {step: .1}\ntime: {end: 1}\n",
                  of_body[] = "curvebody: 1\nspace: h3\nbodies: [%s]\nintegrator: {step: .1}\ntime: {end: 1}\n",
                  of_shape[] =
                      "curvebody: 1\nfluid: {medium: water}\nbodies: [{shape: %s}]\n"
                      "integrator: {step: .1}\ntime: {end: 1}\n",
                  of_bundle[] = "curvebody: 1\nbundle: %s\ngait: {}\nintegrator: {step: .1}\n",
                  in_bundle[] =
                      "curvebody: 1\nbundle: {name: surface_drag, poses: {}, shape: %s}\ngait: {}\n"
                      "integrator: {step: .1}\n",
                  of_points[] = "curvebody: 1\nbundle: {name: points, space: %s}\ngait: {}\nintegrator: {step: .1}\n";

static const char *value_of(const cb_param *row) {
  /* `resolution` is a key of shapes, and coarse faces are enough here */
  if (!strcmp(row->name, "resolution")) return "8";
  return row->fallback && *row->fallback && strcmp(row->fallback, "nan") ? row->fallback : "1";
}

/* Writes the map of a class with all its keys: their defaults, 1 for keys without a default or with the default nan,
 * and 8 for `resolution`. */
static void write_map(const char *key, kind k, char *out, size_t size) {
  size_t used = (size_t)snprintf(out, size, "{%s: %s", key, k.name);
  for (const cb_param *row = k.params; row && row->name; row++)
    used += (size_t)snprintf(out + used, size - used, ", %s: \"%s\"", row->name, value_of(row));
  snprintf(out + used, size - used, "}");
  assert_true(used + 1 < size);
}

/* Opens the scenario with class a at this path, changed by --set to class b, with `more` further changes. */
static cb_status changed(const char *where, const char *path, const char *key, kind a, kind b, const char *more,
                         cb_scenario **out) {
  static char map[LONGEST], text[2 * LONGEST];
  char to_b[128];
  const char *sets[MOST] = {to_b};
  static char required[MOST][128];
  size_t n = 1;
  write_map(key, a, map, sizeof map);
  snprintf(text, sizeof text, where, map);
  snprintf(to_b, sizeof to_b, "%s.%s=%s", path, key, b.name);
  for (const cb_param *row = b.params; row && row->name; row++) {
    if (row->fallback || row->type == CB_PARAM_NODE) continue;
    snprintf(required[n], sizeof required[n], "%s.%s=1", path, row->name);
    sets[n] = required[n];
    n++;
  }
  if (more) sets[n++] = more;
  return cb_scenario_open_text("test", text, sets, n, out);
}

static bool has(kind k, const char *key) {
  for (const cb_param *row = k.params; row && row->name; row++)
    if (!strcmp(row->name, key)) return true;
  return false;
}

static void check_all(const char *where, const char *path, const char *key, const kind *kinds, size_t n) {
  for (size_t a = 0; a < n; a++)
    for (size_t b = 0; b < n; b++) {
      cb_scenario *s = NULL;
      const cb_status status = changed(where, path, key, kinds[a], kinds[b], NULL, &s);
      if (status && strstr(cb_error_text(), "unknown key"))
        fail_msg("%s: from %s to %s: %s", path, kinds[a].name, kinds[b].name, cb_error_text());
      for (const cb_param *row = kinds[a].params; !status && row && row->name; row++) {
        char left_out[128];
        snprintf(left_out, sizeof left_out, "`%s` of %s is left out", row->name, kinds[a].name);
        if (!strstr(cb_scenario_resolved(s), left_out) != has(kinds[b], row->name))
          fail_msg("%s: from %s to %s: `%s` in\n%s", path, kinds[a].name, kinds[b].name, row->name,
                   cb_scenario_resolved(s));
      }
      if (!status) cb_scenario_free(s);
    }
}

#define FILL(kinds, n, classes)                                \
  for (size_t i_ = 0; classes[i_]; i_++) kinds[n++] = (kind) { \
      classes[i_]->name, classes[i_]->params                   \
    }

static void keys_of_a_former_class_are_unknown_to_none(void **state) {
  kind integrators[MOST], spaces[MOST], bodies[MOST], shapes[2 * MOST], bundles[MOST];
  size_t n_integrators = 0, n_spaces = 0, n_bodies = 0, n_shapes = 0, n_bundles = 0;
  FILL(integrators, n_integrators, cb_integrator_classes);
  FILL(bodies, n_bodies, cb_body_classes);
  FILL(shapes, n_shapes, cb_shape_classes);
  FILL(bundles, n_bundles, cb_bundle_classes);
  FILL(bundles, n_bundles, cb_scenario_bundles);
  FILL(spaces, n_spaces, cb_space_classes);
  check_all(in_space, "integrator", "name", integrators, n_integrators);
  check_all(of_space, "space", "name", spaces, n_spaces);
  check_all(of_body, "bodies.0", "kind", bodies, n_bodies);
  check_all(of_shape, "bodies.0.shape", "name", shapes, n_shapes);
  check_all(of_bundle, "bundle", "name", bundles, n_bundles);
  check_all(in_bundle, "bundle.shape", "name", shapes, n_shapes);
  check_all(of_points, "bundle.space", "name", spaces, n_spaces);
}

static const char rod[] =
    "curvebody: 1\nspace: h3\nbodies: [{kind: particles, place: {points: [[0, 0, 0, 1]]}}]\n"
    "integrator: {%s}\ntime: {end: 1}\n";

static cb_status open_with(const char *integrator, const char *const *sets, size_t n, cb_scenario **s) {
  char text[512];
  snprintf(text, sizeof text, rod, integrator);
  return cb_scenario_open_text("test", text, sets, n, s);
}

static void the_resolved_scenario_shows_what_holds(void **state) {
  cb_scenario *s, *again;
  static const char note[] = "# integrator: `stages` of lobatto is left out: rk4 has no such key\n";
  const char *const sets[] = {"integrator.name=gauss", "integrator.name=rk4"};
  check_ok(open_with("name: lobatto, stages: 4, step: .1", sets, 2, &s));
  assert_memory_equal(cb_scenario_resolved(s), note, sizeof note - 1);
  assert_null(strstr(cb_scenario_resolved(s), "stages:"));
  check_ok(cb_scenario_open_text("resolved", cb_scenario_resolved(s), NULL, 0, &again));
  assert_string_equal(cb_scenario_resolved(again), cb_scenario_resolved(s) + sizeof note - 1);
  cb_scenario_free(again);
  cb_scenario_free(s);
  /* If `name` is left out, the class is the default one, lobatto. If --set changes the class, the keys of lobatto are
   * removed as if it had been named. */
  check_ok(open_with("stages: 4, step: .1", sets + 1, 1, &s));
  assert_memory_equal(cb_scenario_resolved(s), note, sizeof note - 1);
  cb_scenario_free(s);
}

static void keys_of_no_class_and_those_set_are_refused(void **state) {
  cb_scenario *s;
  const char *const sets[] = {"integrator.name=rk4", "integrator.stages=3"}, *const back[] = {"integrator.stages=3",
                                                                                              "integrator.name=rk4"};
  static const char set[] = "--set integrator.stages=3:1:12: error: unknown key 'stages'";
  check_error_begins(open_with("name: lobatto, stgaes: 4, step: .1", sets, 1, &s), CB_ERROR_INPUT,
                     "test:4:29: error: unknown key 'stgaes'");
  check_error_begins(open_with("name: lobatto, step: .1", sets, 2, &s), CB_ERROR_INPUT, set);
  check_error_begins(open_with("name: lobatto, step: .1", back, 2, &s), CB_ERROR_INPUT, set);
  check_error_begins(open_with("name: lobatto, stages: 4, step: .1", back, 2, &s), CB_ERROR_INPUT,
                     "test:4:29: error: unknown key 'stages'");
  check_error_begins(open_with("name: rk4, stages: 4, step: .1", sets, 1, &s), CB_ERROR_INPUT,
                     "test:4:25: error: unknown key 'stages'");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(keys_of_a_former_class_are_unknown_to_none),
                                     cmocka_unit_test(the_resolved_scenario_shows_what_holds),
                                     cmocka_unit_test(keys_of_no_class_and_those_set_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
