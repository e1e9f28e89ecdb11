/* Tests of fluid models that use the shape at rest. If the poses of a body change its shape, these models are rejected
 * with an error that contains the model's name. Poses that keep the shape give the same results as no poses. Models
 * that use the changing shape are accepted. */
#include "fluid/fluid_shared.h"
#include "immersed_bundles.h"

/* Two fluid models, as a plugin would have. The first has a constant added mass and does not use the vertices; the
 * second uses the vertices. */
static cb_status blind(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                       const double (*v)[3], cb_added_mass *out) {
  for (int i = 0; i < 6; i++) out->K[i][i] = i < 3 ? 0.01 : 0.5;
  return CB_OK;
}
static const cb_param none[] = {{0}};
static const cb_fluid_model_class blind_class = {.name = "blind",
                                                 .title = "",
                                                 .doc = "",
                                                 .params = none,
                                                 .added_mass = blind},
                                  seeing_class = {.name = "seeing",
                                                  .title = "",
                                                  .doc = "",
                                                  .params = none,
                                                  .added_mass = cb_fluid_local_added_mass,
                                                  .on_face = cb_fluid_local_on_face,
                                                  .terms = (const char *const[]){"drag", NULL}};

static const char *const flap[] = {"X", "Y", "Z + 0.1*X*sin(3*t)"},
                         *const late[] = {"X", "Y + 0.01*step(t - 0.5)", "Z"}, *const shift[] = {"X + 0.1*t", "Y", "Z"},
                         *const beat[] = {"X", "Y", "Z + 0.1*X*exp(-((t - 0.05)/0.002)^2)"},
                         *const same[] = {"X", "Y", "Z + 0*t"};

static cb_status create(tank *k, const cb_fluid_model *forces, const cb_fluid_model *mass, const char *const *moves) {
  *k = tank_of(mesh_ellipsoid(3, 0.5, 0.3, 0.2), 1300, 0);
  tank_water(k, 998);
  if (moves) tank_moves(k, moves[0], moves[1], moves[2]);
  if (forces) tank_model(k, forces);
  k->options.added_mass_of = mass;
  k->options.material = k->material;
  k->fluid.models = k->model;
  return cb_immersed_create(&k->fluid, k->surface, k->poses, &k->options, NULL, NULL, NULL, &k->body);
}

static void refused(const cb_fluid_model *forces, const cb_fluid_model *mass, const char *const *moves) {
  tank k;
  char what[64];
  const cb_status status = create(&k, forces, mass, moves);
  snprintf(what, sizeof what, "of the fluid model `%s`", (forces ? forces : mass)->class_->name);
  assert_int_equal(status, CB_ERROR_UNSUPPORTED);
  assert_non_null(strstr(cb_error_text(), what));
  assert_non_null(strstr(cb_error_text(), "at rest, but its poses move vertex"));
  tank_empty(&k);
}

/* Computes the wrenches, the momentum mu0 and the inertia of a body whose shape does not change. */
static void taken(const cb_fluid_model *forces, const cb_fluid_model *mass, const char *const *moves, double out[48]) {
  static const cb_pose at = {{0.5, 0.5, -0.1, 0.7}, {0.4, -0.3, 0.8}};
  static const double twist[6] = {0.3, -0.8, 0.5, 1.1, 0.2, -0.7};
  tank k;
  double K[6][6];
  check_ok(create(&k, forces, mass, moves));
  check_ok(cb_immersed_workspace_create(k.body, &k.workspace));
  k.problem = cb_immersed_workspace_problem(k.workspace);
  wrenches_of(&k, 0.3, &at, twist, out, NULL);
  check_ok(k.problem->inertia(k.problem->self, 0.3, &at, K, out + 6));
  memcpy(out + 12, K, sizeof K);
  tank_empty(&k);
}

static void every_class_that_knows_the_shape_at_rest_is_refused_by_name(void **unused) {
  int rest = 0;
  for (const cb_fluid_model_class *const *c = cb_fluid_model_classes; *c; c++) {
    cb_fluid_model *m;
    double still[48], posed[48];
    check_ok(cb_fluid_model_create_class(*c, NULL, &m));
    for (int forces = 0; forces < 2; forces++) {
      const cb_fluid_model *as[2] = {forces ? m : NULL, forces ? NULL : m};
      if (!cb_fluid_model_is_of_rest(m, forces)) continue;
      rest++;
      refused(as[0], as[1], flap);
      refused(as[0], as[1], late);
      refused(as[0], as[1], beat);
      refused(as[0], as[1], shift);
      taken(as[0], as[1], NULL, still);
      taken(as[0], as[1], same, posed);
      /* With poses the sums have other round-off. */
      for (int i = 0; i < 48; i++) check_near(posed[i], still[i], 1e-10 * (1 + fabs(still[i])));
    }
    cb_fluid_model_free(m);
  }
  /* Five classes of models have forces, and two an added mass, that are valid only for the shape at rest. */
  assert_true(rest >= 7);
}

static void an_added_mass_that_does_not_see_the_vertices_is_found_out(void **unused) {
  cb_fluid_model *no, *yes;
  double out[48];
  check_ok(cb_fluid_model_create_class(&blind_class, NULL, &no));
  check_ok(cb_fluid_model_create_class(&seeing_class, NULL, &yes));
  refused(NULL, no, flap);
  refused(NULL, no, shift);
  taken(NULL, no, same, out);
  taken(NULL, yes, flap, out);
  taken(yes, yes, shift, out);
  cb_fluid_model_free(no);
  cb_fluid_model_free(yes);
}

static void bundles_refuse_them(void **unused) {
  const cb_poses_motion motion = MODES("a", "b");
  cb_fluid_model *m[3];
  check_ok(cb_fluid_model_create("ellipsoid", NULL, &m[0]));
  check_ok(cb_fluid_model_create("thin_plate", NULL, &m[1]));
  check_ok(cb_fluid_model_create_class(&blind_class, NULL, &m[2]));
  for (int i = 0; i < 3; i++) {
    tank k = ellipsoid(1300);
    cb_shape_surface *shape;
    cb_bundle *b = NULL;
    double A[12], r[2] = {0.1, 0.2};
    check_ok(cb_shape_surface_expressions(k.surface, 2, ab, 1, &motion, &shape));
    const cb_immersed_bundle_options options = {.material = k.material, .density = 998, .added_mass = m[i]};
    cb_status status = cb_bundle_immersed_take(shape, &options, &b);
    if (!status) status = b->class_->connection(b, r, A, NULL, NULL, NULL);
    assert_int_equal(status, CB_ERROR_UNSUPPORTED);
    assert_non_null(strstr(cb_error_text(), m[i]->class_->name));
    cb_bundle_free(b);
    tank_empty(&k);
    cb_fluid_model_free(m[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_class_that_knows_the_shape_at_rest_is_refused_by_name),
                                     cmocka_unit_test(an_added_mass_that_does_not_see_the_vertices_is_found_out),
                                     cmocka_unit_test(bundles_refuse_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
