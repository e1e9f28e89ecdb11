/* Tests of offset sources, a fluid model with sources inside of the body: they are accurate on a ball, and inaccurate
 * on thin bodies, which are rejected. */
#include "fluid_mesh.h"
#include "yaml/yaml.h"
#include <curvebody/fluid_model.h>

static cb_status mass_by(const char *parameters, mesh m, const double (*v)[3], cb_added_mass *out) {
  cb_tree *tree = NULL;
  cb_fluid_model *model = NULL;
  cb_surface *s = mesh_surface(m);
  check_ok(cb_yaml_read_text("parameters", parameters, strlen(parameters), &tree));
  check_ok(cb_fluid_model_create("offset_sources", cb_tree_root(tree), &model));
  cb_tree_free(tree);
  void *body = NULL;
  cb_status status = model->class_->prepare(model, s, NULL, &body);
  if (!status) status = model->class_->added_mass(model, body, s, (const double(*)[3])s->x, v, out);
  cb_fluid_model_free(model);
  cb_surface_free(s);
  return status;
}

/* The inscribed ball of 588 faces has 3 % less volume than the sphere. */
static void a_ball_has_half_its_volume(void **unused) {
  static const double K[2] = {0, 2 * M_PI / 3};
  cb_added_mass mass;
  check_ok(mass_by("{}", mesh_ellipsoid(7, 1, 1, 1), NULL, &mass));
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) check_near(mass.K[i][j], i == j ? K[i / 3] : 0, 0.05 * K[1]);
}

static void a_rigid_motion_of_the_shape_is_one_of_the_body(void **unused) {
  mesh m = mesh_ellipsoid(5, 1.4, 1, 0.8);
  double(*v)[3] = calloc((size_t)m.vertices, sizeof *v);
  for (int i = 0; i < m.vertices; i++) v[i][0] = 1;
  cb_added_mass mass;
  check_ok(mass_by("{}", m, (const double(*)[3])v, &mass));
  /* The tolerance is the asymmetry of the computed tensor K. */
  for (int i = 0; i < 6; i++) check_near(mass.mu0[i], mass.K[i][3], 0.02);
  check_near(2 * mass.kinetic, mass.K[3][3], 1e-10);
  free(v);
}

static void thin_and_open_bodies_are_refused(void **unused) {
  cb_added_mass mass;
  check_error_begins(mass_by("{}", mesh_ellipsoid(6, 1, 1, 0.01), NULL, &mass), CB_ERROR_DOMAIN,
                     "the added mass by offset_sources is not positive");
  check_error_begins(mass_by("{}", mesh_plate(4, 1, 1, false), NULL, &mass), CB_ERROR_UNSUPPORTED,
                     "the fluid model offset_sources is for closed surfaces");
  check_error_begins(mass_by("{memory: 1000}", mesh_ellipsoid(3, 1, 1, 1), NULL, &mass), CB_ERROR_ARGUMENT,
                     "the matrix of ");
}

/* A body with the half axes 1:1:0.1 has the added masses 0.0313 (rotation) and 2.5904 (translation). In so thin a body,
 * offset sources would lie in the fluid, and would give the positive but wrong masses 0.087 and 1.505. A body with the
 * half axes 1:1:0.5 has an error of about 1 % (at most 3 % here) and is accepted. */
static void flows_that_are_not_the_bodys_are_refused(void **unused) {
  cb_added_mass mass;
  check_error_begins(mass_by("{offset: 0.7}", mesh_ellipsoid(12, 1, 1, 0.1), NULL, &mass), CB_ERROR_DOMAIN, "");
  check_error_begins(mass_by("{offset: 0.2}", mesh_ellipsoid(6, 1, 1, 0.1), NULL, &mass), CB_ERROR_DOMAIN, "");
  check_ok(mass_by("{}", mesh_ellipsoid(10, 1, 1, 0.5), NULL, &mass));
  check_relative(mass.K[5][5], 2.3353772201132, 0.03);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ball_has_half_its_volume),
      cmocka_unit_test(a_rigid_motion_of_the_shape_is_one_of_the_body),
      cmocka_unit_test(thin_and_open_bodies_are_refused),
      cmocka_unit_test(flows_that_are_not_the_bodys_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
