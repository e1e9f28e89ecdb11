/* Tests of changes of trees by `--set`, and of writing trees as YAML. */
#include "yaml_trees.h"

/* ---- --set ---- */

static void set_changes_adds_and_leaves_the_rest(void **state) {
  cb_tree *tree = read_good(scenario);
  const cb_node *before = cb_tree_root(tree);
  check_ok(cb_tree_set(tree, "integrator.step=0.1"));
  check_ok(cb_tree_set(tree, "bodies.0.mass=2"));
  check_ok(cb_tree_set(tree, "bodies.0.place.points.1=[1, pi]"));
  check_ok(cb_tree_set(tree, "integrator.stages=2"));
  check_ok(cb_tree_set(tree, "record.every=5"));
  check_ok(cb_tree_set(tree, "title=a = b"));
  check_ok(cb_tree_set(tree, "space.curvature="));
  const cb_node *root = cb_tree_root(tree), *integrator = cb_node_get(root, "integrator");
  double value;
  check_ok(cb_node_real(cb_node_get(integrator, "step"), &value));
  check_near(value, 0.1, 0);
  assert_string_equal(cb_node_get(integrator, "name")->text, "lobatto");
  assert_string_equal(cb_node_get(integrator, "stages")->text, "2");
  assert_string_equal(cb_node_get(cb_node_get(root, "bodies")->items[0], "mass")->text, "2");
  const cb_node *points = cb_node_get(cb_node_get(cb_node_get(root, "bodies")->items[0], "place"), "points");
  assert_string_equal(points->items[0]->items[0]->text, "0.5");
  assert_string_equal(points->items[1]->items[1]->text, "pi");
  assert_string_equal(cb_node_get(cb_node_get(root, "record"), "every")->text, "5");
  assert_string_equal(cb_node_get(root, "title")->text, "a = b");
  assert_int_equal(cb_node_get(cb_node_get(root, "space"), "curvature")->kind, CB_NODE_NULL);
  /* Nodes that were read before the change are unchanged. */
  assert_string_equal(cb_node_get(cb_node_get(before, "integrator"), "step")->text, "0.01");
  assert_string_equal(cb_node_get(cb_node_get(before, "bodies")->items[0], "mass")->text, "1");
  assert_string_equal(cb_tree_source(tree), scenario);
  cb_tree_free(tree);
}

static void set_changes_one_place_of_a_shared_value(void **state) {
  cb_tree *tree = read_good("a: &s {k: 1}\nb: *s\n");
  check_ok(cb_tree_set(tree, "b.k=2"));
  assert_string_equal(cb_node_get(cb_node_get(cb_tree_root(tree), "a"), "k")->text, "1");
  assert_string_equal(cb_node_get(cb_node_get(cb_tree_root(tree), "b"), "k")->text, "2");
  cb_tree_free(tree);
}

static void a_wrong_assignment_fails_and_changes_nothing(void **state) {
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"integrator.step", ":1:16: error: expected KEY=VALUE, found no '='"},
      {"=3", ":1:1: error: expected a key, found '='"},
      {"a..b=3", ":1:3: error: expected a key, found '.'"},
      {"a.=3", ":1:3: error: expected a key, found '='"},
      {"bodies.1.mass=3", ":1:8: error: expected an index from 0 to 0 into a list, found '1'"},
      {"bodies.a.mass=3", ":1:8: error: expected an index from 0 to 0 into a list, found 'a'"},
      {"bodies.-1.mass=3", ":1:8: error: expected an index from 0 to 0 into a list, found '-1'"},
      {"bodies.99999999999999999999.mass=3",
       ":1:8: error: expected an index from 0 to 0 into a list, found '99999999999999999999'"},
      {"curvebody.x=3", ":1:11: error: 'x' is a key of '1', which is a value without keys: expected a map there"},
      {"a=[1, 2",
       ":1:8: error: did not find expected ',' or ']' while parsing a flow sequence which began at line 1, "
       "column 3"},
      {"integrator.step=[1, b: {c: 1, c: 2}]", ":1:31: error: duplicate key 'c', first given at line 1, column 25"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_tree *tree = read_good(scenario);
    const cb_node *root = cb_tree_root(tree);
    char error[300];
    snprintf(error, sizeof error, "--set %s%s", cases[i].text, cases[i].error);
    check_error(cb_tree_set(tree, cases[i].text), CB_ERROR_INPUT, error);
    assert_ptr_equal(cb_tree_root(tree), root);
    cb_tree_free(tree);
  }
}

static void a_value_that_was_set_fails_at_its_place_in_the_assignment(void **state) {
  cb_tree *tree = read_good(scenario);
  double value;
  check_ok(cb_tree_set(tree, "integrator.step=1x"));
  check_error(cb_node_real(cb_node_get(cb_node_get(cb_tree_root(tree), "integrator"), "step"), &value), CB_ERROR_INPUT,
              "--set integrator.step=1x:1:18: error: expected a number (or constant expression), found '1x': a number "
              "is written without a unit, and multiplication with `*`");
  check_ok(cb_tree_set(tree, "integrator.stpe=1"));
  static const char *const names[] = {"name", "step"};
  check_error(cb_node_check_keys(cb_node_get(cb_tree_root(tree), "integrator"), names, 2), CB_ERROR_INPUT,
              "--set integrator.stpe=1:1:12: error: unknown key 'stpe', did you mean 'step'? Expected one of: name, "
              "step");
  cb_tree_free(tree);
}

static void set_cannot_nest_deeper_than_a_file(void **state) {
  char text[400] = "a";
  for (int i = 1; i < CB_YAML_DEEPEST; i++) strcat(text, ".a");
  cb_tree *tree = read_good("");
  char good[410], deep[410];
  snprintf(good, sizeof good, "%s=1", text);
  check_ok(cb_tree_set(tree, good));
  snprintf(deep, sizeof deep, "%s=[1]", text);
  check_error_begins(cb_tree_set(tree, deep), CB_ERROR_INPUT, "--set a.a");
  snprintf(deep, sizeof deep, "%s.a=1", text);
  check_error_begins(cb_tree_set(tree, deep), CB_ERROR_INPUT, "--set a.a");
  cb_tree_free(tree);
}

/* ---- writing ---- */

static bool same_tree(const cb_node *a, const cb_node *b) {
  if (a->kind != b->kind || a->count != b->count) return false;
  if (a->kind == CB_NODE_SCALAR) return strcmp(a->text, b->text) == 0;
  for (size_t i = 0; i < a->count; i++) {
    if (a->kind == CB_NODE_MAP && strcmp(a->keys[i]->text, b->keys[i]->text) != 0) return false;
    if (!same_tree(a->items[i], b->items[i])) return false;
  }
  return true;
}

static void a_tree_is_written_for_people(void **state) {
  cb_tree *tree = read_good(scenario);
  cb_text text = {0};
  check_ok(cb_node_emit(cb_tree_root(tree), &text));
  assert_string_equal(text.data,
                      "curvebody: 1\n"
                      "space:\n"
                      "  name: h3\n"
                      "  curvature: -1\n"
                      "bodies:\n"
                      "  - kind: rod\n"
                      "    place:\n"
                      "      points:\n"
                      "        - [0.5, pi/2]\n"
                      "        - [0.5, 3*pi/2]\n"
                      "    mass: 1\n"
                      "integrator:\n"
                      "  name: lobatto\n"
                      "  step: 0.01\n");
  cb_text_free(&text);
  cb_tree_free(tree);
}

static void what_is_written_reads_back(void **state) {
  static const char *const texts[] = {
      scenario,
      "",
      "x",
      "[]",
      "{}",
      "[[], {}, [[]], {a: []}]",
      "- - a\n  - b\n- c\n",
      "[a, [b, {c: d}], {e: [f, {g: h}]}]",
      "a: 'x: y'\nb: '# no'\nc: \"tab\\tnew\\nline \\\\ \\\" \\x07\"\nd: ' lead'\ne: 'trail '\nf: 'two  blanks'\n",
      "a: |\n  several\n  lines\n\nb: >\n  folded\n  text\n",
      "g: '- a'",
      "['null', '~', '', null, 'Null', '-', '--- a', '...', '.', '?']",
      "['[a', 'a]', '{', '}', 'a, b', '&a', '*a', '!a', '%a', '@a', '`a', '|', '>', '<<', '=', 'a:', ':a', 'a #b']",
      "{'a b': 1, 'a: b': 2, '[x]': 3, \"a\\nb\": 4, '- x': 5}",
      "[\xc3\xbc\x62\x65r, \"\\u2028\", \"\\ufeff\", \"\\x85\", \"\\xa0\", \"\\U0001F600\", \"\\ufffe\"]",
      "potential: if(r < 1, -k/r, atan2(x, y)^2)\n",
      "&a [1, 2, 3]",
      "{x: &a {y: 1}, z: *a}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cb_tree *tree = read_good(texts[i]), *again = NULL;
    cb_text text = {0};
    check_ok(cb_node_emit(cb_tree_root(tree), &text));
    check_ok(cb_yaml_read_text("again", text.data, text.length, &again));
    if (!same_tree(cb_tree_root(tree), cb_tree_root(again))) {
      print_error("%s\n  was written as\n%s\n", texts[i], text.data);
      fail();
    }
    cb_text_free(&text);
    cb_tree_free(again);
    cb_tree_free(tree);
  }
}

static void long_lists_are_folded(void **state) {
  cb_text text = {0};
  cb_text_puts(&text, "a: [0");
  for (int i = 0; i < 500; i++) cb_text_puts(&text, ", 0.123456789");
  cb_text_puts(&text, "]");
  cb_tree *tree = read_good(text.data), *again = NULL;
  cb_text out = {0};
  check_ok(cb_node_emit(cb_tree_root(tree), &out));
  size_t longest = 0, line = 0;
  for (size_t i = 0; i < out.length; i++) {
    line = out.data[i] == '\n' ? 0 : line + 1;
    if (line > longest) longest = line;
  }
  assert_true(longest <= 120);
  check_ok(cb_yaml_read_text("again", out.data, out.length, &again));
  assert_true(same_tree(cb_tree_root(tree), cb_tree_root(again)));
  cb_tree_free(again);
  cb_tree_free(tree);
  cb_text_free(&out);
  cb_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(set_changes_adds_and_leaves_the_rest),
                                     cmocka_unit_test(set_changes_one_place_of_a_shared_value),
                                     cmocka_unit_test(a_wrong_assignment_fails_and_changes_nothing),
                                     cmocka_unit_test(a_value_that_was_set_fails_at_its_place_in_the_assignment),
                                     cmocka_unit_test(set_cannot_nest_deeper_than_a_file),
                                     cmocka_unit_test(a_tree_is_written_for_people),
                                     cmocka_unit_test(what_is_written_reads_back),
                                     cmocka_unit_test(long_lists_are_folded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
