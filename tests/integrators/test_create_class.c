/* Tests of classes that are in no registry: a body, an integrator and a shape are created from the class, with
 * parameters from a text. */
#include "check_geometry.h"

#include <curvebody/body.h>
#include <curvebody/integrator.h>
#include <curvebody/mass.h>

/* A row of particles along x. */
typedef struct row {
  int count;
  double apart;
} row;

static const cb_param row_params[] = {{"count", CB_PARAM_INT, offsetof(row, count), NULL, "", "> 0", NULL, "particles"},
                                      {"apart", CB_PARAM_REAL, offsetof(row, apart), "1", "length", "> 0", NULL, ""},
                                      {0}};

static cb_status build(const void *params, const cb_node *node, const cb_space *space, cb_builder *b) {
  const row *p = params;
  cb_status status = CB_OK;
  for (int i = 0; i < p->count && !status; i++)
    status = cb_builder_particle(b, NULL, 2, 0, 0, (double[]){p->apart * i, 0, 0}, (double[]){0, 1 + i, 0}, NULL);
  return status;
}

static const cb_body_class row_class = {
    .name = "row", .title = "", .doc = "", .params = row_params, .params_size = sizeof(row), .build = build};

/* An integrator of free motion that multiplies the velocities by `pace`. */
static const cb_param drift_params[] = {{"pace", CB_PARAM_REAL, 0, "1", "", "> 0", NULL, ""}, {0}};

static cb_status step(cb_integrator *in, void *of, double h) {
  cb_state *s = of;
  for (int e = 0; e < s->n * s->k; e++)
    s->x[e] += *(double *)in->params * h * s->p[e] / cb_system_masses(in->system)[e / s->k];
  s->t += h;
  return CB_OK;
}

static const cb_integrator_class drift = {.name = "drift",
                                          .title = "",
                                          .doc = "",
                                          .solves = &cb_problem_hamiltonian,
                                          .params = drift_params,
                                          .params_size = sizeof(double),
                                          .step = step};

/* The corner of a cube: a tetrahedron with three faces in the coordinate planes and a slanted fourth face. */
static const cb_param corner_params[] = {{"side", CB_PARAM_REAL, 0, "1", "m", "> 0", NULL, ""}, {0}};

static cb_status make_corner(const void *params, cb_surface **out) {
  static const int face[4][3] = {{0, 2, 1}, {0, 3, 2}, {0, 1, 3}, {1, 2, 3}};
  const double a = *(const double *)params, x[4][3] = {{0, 0, 0}, {a, 0, 0}, {0, a, 0}, {0, 0, a}};
  return cb_surface_make(4, x, 4, face, NULL, out);
}

static const cb_shape_class corner = {.name = "corner",
                                      .title = "",
                                      .doc = "",
                                      .params = corner_params,
                                      .params_size = sizeof(double),
                                      .make = make_corner};

static cb_tree *tree_of(const char *text) {
  cb_tree *tree;
  check_ok(cb_tree_read("text", text, &tree));
  return tree;
}

static void a_body_and_a_method_are_made_from_their_classes(void **unused) {
  cb_space *space;
  cb_builder *b;
  cb_system *system;
  cb_state *state;
  cb_integrator *in, *like;
  cb_tree *body = tree_of("{count: 3, apart: 0.5}"), *method = tree_of("{pace: 2, step: 0.1}");
  check_ok(cb_space_create("e3", NULL, &space));
  check_ok(cb_builder_create(space, &b));
  check_ok(cb_body_build_class(&row_class, cb_tree_root(body), space, b));
  check_ok(cb_builder_finish(b, &system));
  assert_int_equal(cb_system_particles(system), 3);
  assert_string_equal(cb_system_body_name(system, 0), "row1");
  check_ok(cb_state_create(system, &state));
  check_ok(cb_system_start(system, state));
  check_ok(cb_integrator_create_class(&drift, cb_tree_root(method),
                                      (const cb_problem *const[]){&cb_problem_hamiltonian, NULL}, system, &in));
  check_ok(cb_integrator_like(in, system, &like));
  assert_string_equal(in->solver, "explicit");
  check_ok(cb_integrator_step(in, state, 0.25));
  check_ok(cb_integrator_step(like, state, 0.25));
  for (int i = 0; i < 3; i++) {
    double at[3];
    check_ok(cb_state_plot(system, state, i, at, NULL));
    /* The numbers of this motion have no rounding error. */
    check_at_most(check_distance_max(3, at, (double[]){0.5 * i, 1 + i, 0}), 0);
  }
  cb_integrator_free(like);
  cb_integrator_free(in);
  cb_state_free(state);
  cb_system_free(system);
  cb_builder_free(b);
  cb_space_free(space);
  cb_tree_free(method);
  cb_tree_free(body);
}

static void a_shape_is_made_from_its_class(void **unused) {
  cb_tree *large = tree_of("{name: corner, side: 2}");
  for (int given = 0; given < 2; given++) {
    cb_surface *surface;
    cb_mass mass;
    const double side = given ? 2 : 1;
    check_ok(cb_shape_create_class(&corner, given ? cb_tree_root(large) : NULL, &surface));
    check_ok(cb_surface_check(surface, false));
    check_ok(cb_mass_of(surface, NULL, &(cb_material){.density = 1}, &mass));
    check_at_most(fabs(mass.volume - side * side * side / 6), 1e-15); /* round-off */
    cb_surface_free(surface);
  }
  cb_tree_free(large);
}

static void what_is_wrong_is_told_with_its_place(void **unused) {
  cb_space *space;
  cb_builder *b;
  cb_integrator *in;
  cb_surface *surface;
  cb_tree *flat = tree_of("{side: 0}"), *bad = tree_of("{count: 0}"), *other = tree_of("{pace: -1}"),
          *name = tree_of("{name: drift}"), *none;
  check_ok(cb_space_create("e3", NULL, &space));
  check_ok(cb_builder_create(space, &b));
  assert_int_equal(cb_body_build_class(&row_class, cb_tree_root(bad), space, b), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "text:1:9: error: "));
  assert_int_equal(
      cb_integrator_create_class(
          &drift, cb_tree_root(other),
          (const cb_problem *const[]){&cb_problem_discrete_lagrangian, &cb_problem_lie_group, NULL}, NULL, &in),
      CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "text:1:8: error: "));
  assert_int_equal(cb_integrator_create_class(&drift, cb_tree_root(name),
                                              (const cb_problem *const[]){&cb_problem_group_path, NULL}, NULL, &in),
                   CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "integrator `drift` is for Hamiltonian systems, not for paths in a group"));
  assert_int_equal(cb_shape_create_class(&corner, cb_tree_root(flat), &surface), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "text:1:8: error: "));
  assert_int_equal(cb_tree_read("text", "{a: [1, 2}", &none), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "text:1:10: error: "));
  cb_builder_free(b);
  cb_space_free(space);
  cb_tree_free(name);
  cb_tree_free(other);
  cb_tree_free(bad);
  cb_tree_free(flat);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_body_and_a_method_are_made_from_their_classes),
                                     cmocka_unit_test(a_shape_is_made_from_its_class),
                                     cmocka_unit_test(what_is_wrong_is_told_with_its_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
