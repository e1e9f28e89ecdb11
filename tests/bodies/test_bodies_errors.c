/* Tests that errors in the description of a body are reported with their place, and that bodies that do not form a
 * system are rejected. */
#include "built_body.h"
#include <curvebody/pair_potential.h>

static cb_status status_of(const char *space, const char *body) {
  cb_space *g = check_space(space);
  cb_builder *b;
  check_ok(cb_builder_create(g, &b));
  const cb_status status = check_add_body(g, body, b);
  cb_builder_free(b);
  cb_space_free(g);
  return status;
}

static void what_is_wrong_is_told_with_its_place(void **state) {
  static const struct {
    const char *space, *body, *text;
  } cases[] = {
      {"{name: h3}", "{kind: rod, " H3_ROD ", mass: -1}",
       "test:1:92: error: mass: expected a number >= 0, in units of mass, found '-1'"},
      {"{name: h3}", "{kind: rod,\n place: {chart: polar,\n  points: [[1, 1, 1]]}}",
       "test:3:11: error: points: expected 2 points, found 1"},
      {"{name: h3}", "{kind: rod,\n " H3_ROD ",\n masses: [1]}",
       "test:3:10: error: masses: expected a list of 2 numbers, found 1"},
      {"{name: h3}", "{kind: rod,\n " H3_ROD ",\n mass: 1, masses: [1, 2]}",
       "test:3:19: error: masses: given next to `mass`, expected one of the two"},
      {"{name: h3}", "{kind: rod,\n " H3_ROD ",\n masses: [1, -2]}",
       "test:3:14: error: mass of particle 1: expected a number > 0, found -2"},
      {"{name: h3}", "{kind: rod,\n " H3_ROD ",\n motion: {killing: bost_x}}",
       "test:3:20: error: unknown Killing field 'bost_x', did you mean 'boost_x'? Expected one of: boost_x, "
       "boost_y, boost_z, rotation_x, rotation_y, rotation_z"},
      {"{name: h3}", "{kind: rod,\n place: {chart: pola, points: [[1, 1, 1], [2, 1, 1]]}}",
       "test:2:17: error: unknown chart 'pola', did you mean 'polar'?"},
      {"{name: h3}", "{kind: rod,\n place: {points: [[0, 0, 0, 1],\n  [0, 0, 1, 1]]}}", "test:3:3: error: "},
      {"{name: h3}", "{kind: rod,\n place: {chart: polar, points: [[1, 1, 1],\n  [1, 1]]}}", "test:3:3: error: "},
      {"{name: h3}", "{kind: rod,\n place:\n  {chart: polar, points:\n  [[1, 1, 1], [1, 1, 1]]}}",
       "test:4:3: error: two bonded points coincide: expected different points"},
      {"{name: s3}", "{kind: rod,\n place: {points:\n [[1, 0, 0, 0], [-1, 0, 0, 0]]}}",
       "test:3:2: error: two bonded points, 3.14159265 apart, are antipodal"},
      {"{name: e3}", "{kind: network, place: {points: [[0, 0, 0], [1, 0, 0]]},\n springs: [[0, 2]]}",
       "test:2:16: error: springs: expected a particle from 0 to 1, found 2"},
      {"{name: e3}", "{kind: network, place: {points: [[0, 0, 0], [1, 0, 0]]},\n springs: [[1, 1]]}",
       "test:2:12: error: springs: expected two different particles, found 1 twice"},
      {"{name: e3}", "{kind: network, place: {points: [[0, 0, 0], [0, 0, 0]]},\n springs: [[0, 1]]}",
       "test:2:12: error: two bonded points coincide: expected different points"},
      {"{name: e3}", "{kind: rod, place: {points: [[0, 0, 0], [1, 0, 0]]},\n link: {spring: {stifness: 1}}}",
       "test:2:18: error: unknown key 'stifness', did you mean 'stiffness'?"},
      {"{name: e3}", "{kind: rod, place: {points: [[0, 0, 0], [1, 0, 0]]},\n link: {spring: {rest: -1}}}",
       "test:2:24: error: rest: expected a number >= 0"},
      {"{name: e3}", "{kind: rod, place: {points: [[0, 0, 0], [1, 0, 0]],\n move: [{killing: translation_x}]}}",
       "test:2:9: error: move: expected `by`"},
      {"{name: s3}", "{kind: particles, place: {points: [[1, 0, 0, 0]]},\n motion: {velocities: [[1, 0, 0, 0]]}}",
       "test:2:24: error: velocities: expected a tangent vector at its point"},
      {"{name: e3}", "{kind: network,\n mesh: {scale: 2}}", "test:2:8: error: "},
      {"{name: e3}", "{kind: network,\n lattice: {size: [2, 0]}}",
       "test:2:22: error: size: expected an integer >= 1, found 0"},
      {"{name: e3}", "{kind: rod}", "test:1:1: error: expected `place`"},
      {"{name: s3, chart: polar}", "{kind: rod,\n place: {points: [[1, 1, 1],\n  [0, 1, 1]]}}", "test:3:3: error: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_case_begins(cases[i].body, status_of(cases[i].space, cases[i].body), CB_ERROR_INPUT, cases[i].text);
  assert_int_equal(status_of("{name: e3}", "{kind: network, mesh: {file: no-such-mesh.obj}}"), CB_ERROR_FILE);
}

static void the_builder_refuses_what_makes_no_system(void **state) {
  cb_space *g = check_space("{name: e3}");
  cb_builder *b;
  cb_system *s = NULL;
  double x[3] = {0}, y[3] = {1};
  check_ok(cb_builder_create(g, &b));
  check_error_begins(cb_builder_finish(b, &s), CB_ERROR_ARGUMENT, "expected at least one particle");
  check_ok(cb_builder_body(b, "a", NULL));
  check_error_begins(cb_builder_body(b, "a", NULL), CB_ERROR_ARGUMENT,
                     "two bodies are named 'a': expected different names");
  check_error_begins(cb_builder_particle(b, NULL, 0, 0, 0, x, NULL, NULL), CB_ERROR_ARGUMENT,
                     "mass 0: expected a number > 0");
  check_error(cb_builder_particle(b, NULL, 1, 0, 0, (double[]){NAN, 0, 0}, NULL, NULL), CB_ERROR_DOMAIN,
              "particle: expected finite coordinates");
  check_error(cb_builder_particle(b, NULL, 1, 0, 0, x, (double[]){0, NAN, 0}, NULL), CB_ERROR_DOMAIN,
              "particle: velocity: expected finite numbers");
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, x, NULL, NULL));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, y, NULL, NULL));
  check_error_begins(cb_builder_spring(b, 0, 2, 1, 1, 0), CB_ERROR_ARGUMENT,
                     "spring between particles 0 and 2: expected 0 to 1");
  check_error_begins(cb_builder_interaction(b, 0, 3, "gravity", &(cb_pair_parameters){1, 0, NULL}), CB_ERROR_ARGUMENT,
                     "body 3: expected 0 to 0");
  assert_int_equal(cb_builder_interaction(b, 0, 0, "expression", &(cb_pair_parameters){.expression = "exp(-d)/r"}),
                   CB_ERROR_INPUT);
  assert_int_equal(cb_builder_expression_at(b), 8);
  check_error_begins(cb_builder_potential(b, -1, "polr", "x"), CB_ERROR_ARGUMENT,
                     "the space has no chart 'polr': `curvebody list spaces` lists its charts");
  assert_null(s);
  cb_builder_free(b);
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_wrong_is_told_with_its_place),
      cmocka_unit_test(the_builder_refuses_what_makes_no_system),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
