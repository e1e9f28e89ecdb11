/* Tests of YAML: trees from texts and files, the line and column of every error, and limits. */
#include "yaml_trees.h"
#include <sys/resource.h>
#include <unistd.h>

static void check_place(const cb_node *node, int line, int column) {
  assert_string_equal(node->file, "a.yaml");
  assert_int_equal(node->line, line);
  assert_int_equal(node->column, column);
}

static void every_value_has_its_place(void **state) {
  cb_tree *tree = read_good(scenario);
  const cb_node *root = cb_tree_root(tree);
  assert_string_equal(cb_tree_source(tree), scenario);
  assert_int_equal(root->kind, CB_NODE_MAP);
  assert_int_equal(root->count, 4);
  check_place(root, 1, 1);
  check_place(cb_node_get(root, "curvebody"), 1, 12);
  check_place(cb_node_get(cb_node_get(root, "space"), "curvature"), 2, 30);
  const cb_node *bodies = cb_node_get(root, "bodies");
  check_place(bodies, 4, 3);
  check_place(bodies->items[0], 4, 5);
  const cb_node *points = cb_node_get(cb_node_get(bodies->items[0], "place"), "points");
  check_place(points, 5, 21);
  check_place(points->items[1]->items[1], 5, 41);
  assert_string_equal(points->items[1]->items[1]->text, "3*pi/2");
  check_place(root->keys[3], 7, 1);
  assert_null(cb_node_get(root, "time"));
  cb_tree_free(tree);
}

static void values_without_text_are_null_unless_quoted(void **state) {
  cb_tree *tree = read_good("{a: , b: ~, c: null, d: '', e: 'null', f: \"~\"}");
  static const cb_node_kind kinds[] = {CB_NODE_NULL,   CB_NODE_NULL,   CB_NODE_NULL,
                                       CB_NODE_SCALAR, CB_NODE_SCALAR, CB_NODE_SCALAR};
  for (int i = 0; i < 6; i++) assert_int_equal(cb_tree_root(tree)->items[i]->kind, kinds[i]);
  cb_tree_free(tree);
}

static void an_empty_text_is_null(void **state) {
  static const char *const texts[] = {"", "\n\n", "# only a comment\n", "---\n", "\xef\xbb\xbf"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cb_tree *tree = read_good(texts[i]);
    assert_int_equal(cb_tree_root(tree)->kind, CB_NODE_NULL);
    assert_int_equal(cb_tree_root(tree)->line > 0, 1);
    cb_tree_free(tree);
  }
}

/* Some editors on Windows write a byte order mark. */
static void a_byte_order_mark_is_not_text(void **state) {
  cb_tree *tree;
  check_ok(cb_tree_read("a.yaml",
                        "\xef\xbb\xbf"
                        "a: 1\r\nb: 2\r\n",
                        &tree));
  check_place(cb_node_get(cb_tree_root(tree), "a"), 1, 4);
  check_place(cb_node_get(cb_tree_root(tree), "b"), 2, 4);
  cb_tree_free(tree);
}

static void wrong_yaml_fails_with_its_place(void **state) {
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"a: 1\nb: [1, 2\nc: 3\n",
       "a.yaml:3:2: error: did not find expected ',' or ']' while parsing a flow sequence "
       "which began at line 2, column 4"},
      {"a:\n\t- 1\n",
       "a.yaml:2:1: error: found character that cannot start any token while scanning for the next "
       "token which began at line 2, column 1; tabs are not allowed for indentation, use spaces"},
      {"a: 1\n b: 2\n", "a.yaml:2:3: error: mapping values are not allowed in this context"},
      {"a: 'x\n",
       "a.yaml:2:1: error: found unexpected end of stream while scanning a quoted scalar which began at "
       "line 1, column 4"},
      {"step: 1\nstages: 2\nstep: 3\n", "a.yaml:3:1: error: duplicate key 'step', first given at line 1, column 1"},
      {"{a: 1, b: 2, b: 3, a: 4}", "a.yaml:1:14: error: duplicate key 'b', first given at line 1, column 8"},
      {"{b: 1, a: 2, a: 3, b: 4}", "a.yaml:1:14: error: duplicate key 'a', first given at line 1, column 8"},
      {"x: {a: 1, 'a': 2}", "a.yaml:1:11: error: duplicate key 'a', first given at line 1, column 5"},
      {"a: 1\n---\nb: 2\n", "a.yaml:2:1: error: found a second document, expected only one"},
      {"a: 1\n...\nb: 2\n", "a.yaml:3:1: error: did not find expected <document start>"},
      {"a: !!str 1",
       "a.yaml:1:4: error: the tag 'tag:yaml.org,2002:str' is not supported, expected a value without a tag"},
      {"a: ! 1", "a.yaml:1:4: error: the tag '!' is not supported, expected a value without a tag"},
      {"!map {a: 1}", "a.yaml:1:1: error: the tag '!map' is not supported, expected a value without a tag"},
      {"[1, 2]: 3", "a.yaml:1:1: error: expected a name as key, found a list"},
      {"? {a: 1}\n: 3", "a.yaml:1:3: error: expected a name as key, found a map"},
      {"~: 3", "a.yaml:1:1: error: expected a name as key, found nothing"},
      {"'': 3", "a.yaml:1:1: error: expected a name as key, found nothing"},
      {"a: &x b\n*x : 3", "a.yaml:2:1: error: expected a name as key, found the alias '*x'"},
      {"a: *x", "a.yaml:1:4: error: the alias '*x' has no anchor before it: expected '&x' earlier in the file"},
      {"a: &x [1, *x]",
       "a.yaml:1:11: error: the alias '*x' is inside the value that it names: expected it after that value"},
      {"a: \"b\\0c\"", "a.yaml:1:4: error: the text contains a zero byte: expected a text without one"},
      {"a: b\xff", "a.yaml:1:5: error: invalid leading UTF-8 octet (byte 4), expected UTF-8 text"},
      {"a: 1\nb: \xc3\x28", "a.yaml:2:5: error: invalid trailing UTF-8 octet (byte 9), expected UTF-8 text"},
      {"a: 1\nb: \x01", "a.yaml:2:4: error: control characters are not allowed (byte 8), expected UTF-8 text"},
      {"\x89HDF\r\n", "a.yaml:1:1: error: invalid leading UTF-8 octet (byte 0), expected UTF-8 text"},
      {"%YAML 2.0\n---\na: 1", "a.yaml:1:1: error: found incompatible YAML document"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_tree *tree = NULL;
    check_error(read_as(cases[i].text, &tree), CB_ERROR_INPUT, cases[i].error);
    assert_null(tree);
  }
  cb_tree *tree = NULL;
  check_error(cb_yaml_read_text("a.yaml", "a: b\0c", 6, &tree), CB_ERROR_INPUT,
              "a.yaml:1:5: error: control characters are not allowed (byte 4), expected UTF-8 text");
  check_error(cb_yaml_read_text("a.yaml",
                                "\xff\xfe"
                                "a\0",
                                4, &tree),
              CB_ERROR_INPUT, "a.yaml:1:1: error: invalid leading UTF-8 octet (byte 0), expected UTF-8 text");
  assert_null(tree);
}

static void an_alias_is_the_value_it_names(void **state) {
  cb_tree *tree = read_good("a: &s {stiffness: 2}\nb: *s\nc: &s 5\nd: [*s, *s]\n");
  const cb_node *root = cb_tree_root(tree);
  assert_ptr_equal(cb_node_get(root, "a"), cb_node_get(root, "b"));
  assert_string_equal(cb_node_get(root, "d")->items[1]->text, "5");
  cb_tree_free(tree);
}

static void depth_is_bounded(void **state) {
  char text[400] = "";
  for (int i = 0; i < CB_YAML_DEEPEST; i++) strcat(text, "[");
  for (int i = 0; i < CB_YAML_DEEPEST; i++) strcat(text, "]");
  cb_tree *tree = read_good(text);
  cb_tree_free(tree);

  char deeper[410];
  snprintf(deeper, sizeof deeper, "[%s]", text);
  check_error(read_as(deeper, &tree), CB_ERROR_INPUT, "a.yaml:1:65: error: expected at most 64 nested lists and maps");
  char nested[400] = "[&x ";
  for (int i = 0; i < 62; i++) strcat(nested, "[");
  for (int i = 0; i < 62; i++) strcat(nested, "]");
  strcat(nested, ", [*x], [[*x]]]");
  check_error(read_as(nested, &tree), CB_ERROR_INPUT,
              "a.yaml:1:139: error: alias '*x': expected at most 64 nested lists and maps");
}

static void the_size_of_aliases_is_bounded(void **state) {
  cb_text text = {0};
  cb_text_puts(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
  for (int i = 1; i < 20; i++) {
    char line[200];
    int p = i - 1;
    snprintf(line, sizeof line, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, p, p, p, p,
             p, p, p, p, p);
    cb_text_puts(&text, line);
  }
  cb_tree *tree = NULL;
  check_error_begins(read_as(text.data, &tree), CB_ERROR_INPUT, "a.yaml:6:");
  assert_non_null(
      strstr(cb_error_text(), "error: alias '*a4': expected aliases that expand to at most 16777216 bytes together"));
  assert_null(tree);
  cb_text_free(&text);

  for (int i = 0; i <= CB_YAML_MAX_ANCHORS; i++) cb_text_puts(&text, "- &a 1\n");
  check_error(read_as(text.data, &tree), CB_ERROR_INPUT, "a.yaml:1001:3: error: expected at most 1000 anchors");
  cb_text_free(&text);
}

static void keys_have_a_length(void **state) {
  char text[200];
  memset(text, 'k', 129);
  strcpy(text + 129, ": 1");
  cb_tree *tree = NULL;
  check_error(read_as(text, &tree), CB_ERROR_INPUT, "a.yaml:1:1: error: the key has 129 bytes, expected at most 128");
  cb_tree_free(read_good(text + 1));
}

static void a_text_of_too_many_values_is_refused(void **state) {
  size_t n = 2 * (CB_YAML_MAX_NODES + 2);
  char *text = malloc(n + 1);
  text[0] = '[';
  for (size_t i = 1; i < n; i++) text[i] = i % 2 ? '1' : ',';
  cb_tree *tree = NULL;
  check_error(cb_yaml_read_text("a.yaml", text, n, &tree), CB_ERROR_INPUT,
              "a.yaml:1:16777216: error: expected at most 8388608 values");
  free(text);
}

/* ---- files ---- */

static void files_that_cannot_be_read_fail_as_files(void **state) {
  cb_tree *tree = NULL;
  check_error(cb_yaml_read_file("/nonexistent/a.yaml", &tree), CB_ERROR_FILE,
              "cannot read '/nonexistent/a.yaml': No such file or directory");
  check_error(cb_yaml_read_file("/", &tree), CB_ERROR_FILE, "cannot read '/': Is a directory");
  assert_null(tree);
}

static void a_file_of_100_megabytes_is_refused_before_memory_is_taken(void **state) {
  char path[] = "/tmp/curvebody-test-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(ftruncate(file, 100000000), 0);
  close(file);
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  cb_tree *tree = NULL;
  char text[200];
  snprintf(text, sizeof text, "%s:1:1: error: a file of 100000000 bytes, expected at most 67108864", path);
  check_error(cb_yaml_read_file(path, &tree), CB_ERROR_INPUT, text);
  getrusage(RUSAGE_SELF, &after);
  unlink(path);
  assert_null(tree);
  assert_true(after.ru_maxrss - before.ru_maxrss < 4096);
}

static void a_file_reads_like_its_text(void **state) {
  char path[] = "/tmp/curvebody-test-XXXXXX";
  int file = mkstemp(path);
  assert_int_equal(write(file, scenario, strlen(scenario)), (int)strlen(scenario));
  close(file);
  cb_tree *tree = NULL;
  check_ok(cb_yaml_read_file(path, &tree));
  unlink(path);
  assert_string_equal(cb_tree_source(tree), scenario);
  assert_string_equal(cb_tree_root(tree)->file, path);
  cb_tree_free(tree);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_of_100_megabytes_is_refused_before_memory_is_taken),
                                     cmocka_unit_test(every_value_has_its_place),
                                     cmocka_unit_test(values_without_text_are_null_unless_quoted),
                                     cmocka_unit_test(an_empty_text_is_null),
                                     cmocka_unit_test(a_byte_order_mark_is_not_text),
                                     cmocka_unit_test(wrong_yaml_fails_with_its_place),
                                     cmocka_unit_test(an_alias_is_the_value_it_names),
                                     cmocka_unit_test(depth_is_bounded),
                                     cmocka_unit_test(the_size_of_aliases_is_bounded),
                                     cmocka_unit_test(keys_have_a_length),
                                     cmocka_unit_test(a_text_of_too_many_values_is_refused),
                                     cmocka_unit_test(files_that_cannot_be_read_fail_as_files),
                                     cmocka_unit_test(a_file_reads_like_its_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
