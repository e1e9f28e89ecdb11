/* Tests that errors in the description of a rod, triangle, truss, network, chain or pendulum are reported with their
 * place. */
#include "check_system.h"

static void what_is_wrong_is_told_with_its_place(void **state) {
#define FLAT "place: {points: [[0, 0, 0], [1, 0, 0]]},\n "
  static const struct {
    const char *space, *body, *text;
  } cases[] = {
      {"{name: e3}", "{kind: rod, " FLAT "link: rodd}",
       "test:2:8: error: link: expected rod or spring, found 'rodd', did you mean 'rod'?"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {lenth: 1}}}",
       "test:2:15: error: unknown key 'lenth', did you mean 'length'?"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rd: {length: 1}}}",
       "test:2:9: error: unknown key 'rd', did you mean 'rod'?"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {}, spring: {}}}",
       "test:2:8: error: link: expected rod, {rod: {length: ..}} or {spring: {stiffness: .., rest: ..}}"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {length: -1}}}",
       "test:2:23: error: length: expected a number > 0, or an expression of t, found '-1'"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {length: 1 + sinn(t)}}}", "test:2:27: error: length: "},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {length: [1]}}}",
       "test:2:23: error: length: expected a number or an expression of t, found a list"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {length: 1/0}}}", "test:2:23: error: length: expected a number"},
      {"{name: e3}", "{kind: rod, link: rod, place: {points:\n [[0, 0, 0], [0, 0, 0]]}}",
       "test:2:2: error: two bonded points coincide: expected different points"},
      {"{name: s3}", "{kind: rod, link: rod, place: {points:\n [[1, 0, 0, 0], [-1, 0, 0, 0]]}}",
       "test:2:2: error: two bonded points, 3.14159265 apart, are antipodal"},
      {"{name: e3}", "{kind: triangle, place: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]},\n link: [rod, rod]}",
       "test:2:8: error: link: expected one link, or a list of three, found a list of 2"},
      {"{name: e3}", "{kind: triangle, place: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]},\n link: [rod, rod, rdo]}",
       "test:2:19: error: link: expected rod or spring, found 'rdo'"},
      {"{name: e3}", "{kind: truss, " FLAT "rods: [[0, 2]]}",
       "test:2:13: error: rods: expected a particle from 0 to 1, found 2"},
      {"{name: e3}", "{kind: truss, " FLAT "rods: [[0]]}",
       "test:2:9: error: rods: expected a pair [i, j] or {between: [i, j], ..}"},
      {"{name: e3}", "{kind: truss, " FLAT "rods: [[1, 1]]}",
       "test:2:9: error: rods: expected two different particles, found 1 twice"},
      {"{name: e3}", "{kind: truss, " FLAT "rods: 3}", "test:2:8: error: rods: expected a list of pairs"},
      {"{name: e3}", "{kind: truss, " FLAT "rods: [{between: [0, 1], lenght: 2}]}",
       "test:2:27: error: unknown key 'lenght', did you mean 'length'?"},
      {"{name: e3}", "{kind: truss, " FLAT "density: 2}", "test:2:11: error: density: expected `mesh` next to it"},
      {"{name: e3}", "{kind: network, " FLAT "link: rod}",
       "test:2:8: error: link: applies only to the edges of a mesh or lattice: expected `mesh` or `lattice` next to "
       "it"},
      {"{name: e3}", "{kind: network,\n mesh: {file: x.obj}, lattice: {size: [2]}}",
       "test:1:1: error: network: expected one of mesh and lattice, found both"},
      {"{name: e3}", "{kind: chain, count: 3}",
       "test:1:1: error: missing key 'length': expected the length of the complete chain"},
      {"{name: e3}", "{kind: chain,\n count: 1, length: 1}",
       "test:2:9: error: count: expected an integer from 2 to 10000000, found 1"},
      {"{name: e3}", "{kind: chain, " FLAT "count: 4, length: 1}",
       "test:2:9: error: count: given next to points in `place`, expected one of the two"},
      {"{name: e3}", "{kind: chain, " FLAT "length: 1}", "test:2:10: error: length: expected `count` next to it"},
      {"{name: e3}", "{kind: chain, count: 4, length: 1,\n along: [0, 0, 0]}",
       "test:2:9: error: along: expected a direction, found a vector of length 0"},
      {"{name: e3}", "{kind: chain, count: 4, length: 1,\n along: [1, 0]}", "test:2:9: error: "},
      {"{name: e3}", "{kind: chain, count: 4, length: 1,\n fixed: frist}",
       "test:2:9: error: fixed: expected one of none, first, last, both, found 'frist', did you mean 'first'?"},
      {"{name: e3}", "{kind: chain, place: {points:\n [[0, 0, 0]]}}",
       "test:2:2: error: points: expected at least 2 points, found 1"},
      {"{name: e3}", "{kind: chain}", "test:1:1: error: expected `place`"},
      {"{name: e3}", "{kind: pendulum, tangent: [1, 0, 0]}",
       "test:1:1: error: missing key 'pivot': expected a value: the pivot {chart: .., point: [..]}; `move` of place "
       "also moves it"},
      {"{name: e3}", "{kind: pendulum, pivot: {point: [1, 0, 0]}}", "test:1:1: error: expected `place`"},
      {"{name: e3}", "{kind: pendulum, pivot: {point: [1, 0, 0]}, place: {points: [[0, 0, 1]]},\n tangent: [1, 0, 0]}",
       "test:2:11: error: tangent: given next to a point in `place`, expected one of the two"},
      {"{name: e3}", "{kind: pendulum, place: {points: [[0, 0, 1]]},\n pivot: {pint: [1, 0, 0]}}",
       "test:2:10: error: unknown key 'pint', did you mean 'point'?"},
      {"{name: e3}", "{kind: pendulum, place: {points: [[0, 0, 1]]},\n pivot: {point: [0, 0, 1]}}",
       "test:2:9: error: "},
      {"{name: e3}", "{kind: pendulum, tangent: [1, 0, 0], pivot: {point: [0, 0, 1]},\n link: {spring: {damping: 2}}}",
       "test:2:8: error: link: expected a spring without damping, found 2"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_space *g = check_space(cases[i].space);
    cb_builder *b;
    check_ok(cb_builder_create(g, &b));
    check_case_begins(cases[i].body, check_add_body(g, cases[i].body, b), CB_ERROR_INPUT, cases[i].text);
    cb_builder_free(b);
    cb_space_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_wrong_is_told_with_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
