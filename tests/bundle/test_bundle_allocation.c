/* Tests that no memory is allocated if bundles of chains, expressions, tables and immersed bodies are evaluated, or if
 * shape variables that move by themselves make a step.
 * labels: release */
#include "count_allocations.h"
#include "fluid/immersed_bundle.h"
#include "immersed.h"
#include "integrators/shapes.h"
#include "shape_reference.h"
#include "models.h"
#include "sampled.h"

/* Checks that no memory is allocated when the connection A, the metric M, first and second derivatives and the
 * curvature B are evaluated at new shapes r. */
static void check_reading(const cb_bundle *b) {
  double A[12], dA[24], M[4], dM[8], B[6], ddA[48], ddM[16];
  check_ok(cb_bundle_connection(b, (double[]){0.1, 0.2}, A, dA, M, dM)); /* allocates the work arrays of the thread */
  cb_status status = CB_OK;
  count_from_here();
  for (int i = 0; i < 10 && !status; i++) {
    const double r[2] = {0.02 * i, 0.2 - 0.03 * i};
    status = cb_bundle_connection(b, r, A, dA, M, dM);
    if (!status) status = cb_bundle_connection(b, r, A, NULL, NULL, NULL);
    if (!status) status = cb_bundle_curvatures(b, r, B);
    if (!status) status = cb_bundle_second(b, r, ddA, ddM);
  }
  const size_t seen = count_so_far();
  check_ok(status);
  assert_int_equal(seen, 0);
}

static void chains_are_read_without_the_allocator(void **unused) {
  cb_bundle *b = model("purcell", ""), *costly = NULL;
  cb_expression *e = NULL;
  check_ok(cb_expression_parse("1 + alpha1^2", b->shape, 2, NULL, &e));
  check_ok(cb_bundle_with_metric(b, &(cb_bundle_metric){.add = (const cb_expression *[4]){e, NULL, NULL, e}}, &costly));
  cb_expression_free(e);
  check_reading(b);
  check_reading(costly);
  cb_bundle_free(costly);
  cb_bundle_free(b);
}

static void fish_are_read_without_the_allocator(void **unused) {
  cb_bundle *b = model("perfect_fish", "nodes 16 hinges .3");
  check_reading(b);
  cb_bundle_free(b);
}

static void expressions_and_tables_are_read_without_the_allocator(void **unused) {
  static const char text[] =
      "group: se2\nshape: [a, b]\nA: [[sin(a), b], [a*b, cos(b)], [1, exp(a*b)]]\n"
      "M: [[2 + a^2], [a*b, 3]]\n";
  cb_tree *tree;
  cb_bundle *b;
  check_ok(cb_yaml_read_text("b.yaml", text, sizeof text - 1, &tree));
  check_ok(cb_bundle_create("expressions", cb_tree_root(tree), &b));
  check_reading(b);
  cb_bundle *table_bundle = sampled(b, (double[]){-1, -1}, (double[]){1, 1}, (int[]){12, 9}, 5);
  check_reading(table_bundle);
  double error[6];
  count_from_here();
  const cb_status status = cb_bundle_samples_error(table_bundle, (double[]){0.3, -0.4}, error);
  const size_t seen = count_so_far();
  check_ok(status);
  assert_int_equal(seen, 0);
  cb_bundle_free(b);
  cb_bundle_free(table_bundle);
  cb_tree_free(tree);
}

static void immersed_bodies_are_read_without_the_allocator(void **unused) {
  static const char *const names[2] = {"a", "b"};
  static const cb_poses_motion motion = {NULL, {"X", "Y + a*X^2", "Z + b*X^2"}};
  tank k = tank_of(mesh_ellipsoid(3, 0.5, 0.2, 0.15), 700, 0);
  cb_shape_surface *shape;
  cb_bundle *b;
  check_ok(cb_shape_surface_expressions(k.surface, 2, names, 1, &motion, &shape));
  const cb_immersed_bundle_options options = {.material = k.material, .density = 998};
  check_ok(cb_bundle_immersed_take(shape, &options, &b));
  check_reading(b);
  cb_bundle_free(b);
  tank_empty(&k);
}

/* Makes a step and then ten steps, which must not allocate memory. Returns the number of linear systems that are solved
 * in the ten steps. */
static int check_steps(const shape_case *c, bool drag, const char *integrator) {
  static const cb_problem *const inertia[] = {&cb_problem_shapes_with_inertia, NULL}, *const with_drag[] = {
                                                                                          &cb_problem_shapes_with_drag,
                                                                                          NULL};
  moving_shape m;
  cb_tree *tree;
  cb_integrator *in;
  int solves = 0;
  shape_open(c, drag, &m);
  check_ok(cb_yaml_read_text("test", integrator, strlen(integrator), &tree));
  const cb_node *root = cb_tree_root(tree);
  check_ok(
      cb_integrator_create_for(cb_node_get(root, "name")->text, root, drag ? with_drag : inertia, &m.problem, &in));
  for (int k = 0; k < 20; k++) check_ok(cb_integrator_step(in, &m.start, .01));
  cb_status status = CB_OK;
  count_from_here();
  for (int k = 0; k < 10 && !status; k++) {
    status = cb_integrator_step(in, &m.start, .01);
    solves += in->iterations;
  }
  const size_t seen = count_so_far();
  check_ok(status);
  assert_int_equal(seen, 0);
  cb_integrator_free(in);
  cb_tree_free(tree);
  shape_close(&m);
  return solves;
}

static const shape_case snake = {"floating_snake", "{links: 3}", {NULL},   {NULL}, NULL, {0},
                                 {0, .5},          {0},          {.2, .3}, {0}},
                        fish = {"perfect_fish", "{nodes: 16}", {NULL},   {NULL}, NULL, {0},
                                {.8, -.5},      {0},           {.5, .3}, {0}},
                        purcell = {"purcell", "{links: 3}", {NULL}, {".2*sin(t)", NULL}, NULL,
                                   {0},       {0},          {0},    {0, .0073},          {0}};

static void steps_of_shapes_do_not_use_the_allocator(void **unused) {
  check_steps(&snake, false, "{name: hamilton_pontryagin, order: 4}");
  check_steps(&fish, false, "{name: hamilton_pontryagin}");
  check_steps(&purcell, true, "{name: gauss}");
  check_steps(&purcell, true, "{name: radau_iia}");
}

/* After the first steps, the guess from the steps before is so good that one correction per step is enough. */
static void small_steps_of_shapes_need_one_solve_each(void **unused) {
  assert_int_equal(check_steps(&snake, false, "{name: hamilton_pontryagin}"), 10);
  assert_int_equal(check_steps(&purcell, true, "{name: gauss}"), 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_counter_counts),
      cmocka_unit_test(chains_are_read_without_the_allocator),
      cmocka_unit_test(fish_are_read_without_the_allocator),
      cmocka_unit_test(expressions_and_tables_are_read_without_the_allocator),
      cmocka_unit_test(immersed_bodies_are_read_without_the_allocator),
      cmocka_unit_test(steps_of_shapes_do_not_use_the_allocator),
      cmocka_unit_test(small_steps_of_shapes_need_one_solve_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
