/* Tests of the fluid model `viscous_drag`, the drag by friction in potential flow: its two forms for a sphere, and
 * properties that hold for any body. */
#include "fluid_mesh.h"
#include "yaml/yaml.h"
#include <curvebody/fluid_model.h>

/* Computes the drag matrix D from the wrenches F = D V at the unit twists V, and checks that the derivatives of the
 * wrenches that the model returns are D, too. */
static cb_status drag_of(const char *parameters, mesh m, double D[6][6]) {
  cb_tree *tree = NULL;
  cb_fluid_model *model = NULL;
  cb_surface *s = mesh_surface(m);
  check_ok(cb_yaml_read_text("parameters", parameters, strlen(parameters), &tree));
  check_ok(cb_fluid_model_create("viscous_drag", cb_tree_root(tree), &model));
  cb_tree_free(tree);
  void *body = NULL;
  const cb_status status = model->class_->prepare(model, s, NULL, &body);
  for (int b = 0; !status && b < 6; b++) {
    double V[6] = {0}, F[1][6] = {{0}}, dF[1][6][6] = {{{0}}};
    V[b] = 1;
    check_ok(model->class_->on_twist(model, body, 0, 1000, V, F, dF));
    for (int a = 0; a < 6; a++) {
      D[a][b] = F[0][a];
      if (b) check_near(dF[0][a][b - 1], D[a][b - 1], 1e-14 * fabs(D[a][b - 1]));
    }
  }
  if (!status) model->class_->release(model, body);
  cb_fluid_model_free(model);
  cb_surface_free(s);
  return status;
}

/* The drag of a ball is compared with closed forms. The mesh has 1728 faces, and its area is 1 % too small. */
static void a_sphere_is_a_closed_form(void **unused) {
  static const char *const form[2] = {"{form: printed, nu: 0.7}", "{form: rayleigh, nu: 0.7}"};
  const double r = 1.3, nu = 0.7;
  for (int f = 0; f < 2; f++) {
    double D[6][6];
    check_ok(drag_of(form[f], mesh_ellipsoid(12, r, r, r), D));
    const double want[2] = {-8 * M_PI / 3 * nu * r * r * r * r, -(f ? 6 : 4) * M_PI * nu * r * r};
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) check_near(D[i][j], i == j ? want[i / 3] : 0, 0.03 * fabs(want[1]));
  }
}

static void rayleighs_form_is_symmetric_and_takes_energy(void **unused) {
  mesh m = mesh_ellipsoid(6, 1.5, 1, 0.6);
  const double d[3] = {0.4, -0.2, 0.3};
  double D[6][6];
  uint64_t seed = check_seed();
  mesh_shake(&m, &seed, 0.02);
  mesh_move(&m, d);
  check_ok(drag_of("{}", m, D));
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) check_near(D[i][j], D[j][i], 1e-13 * 50);
  for (int i = 0; i < 100; i++) {
    double Y[6], power = 0;
    check_direction(&seed, 6, Y);
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < 6; b++) power += Y[a] * D[a][b] * Y[b];
    assert_true(power < 0);
  }
}

/* If the vertices are shifted by d, the drag matrix D about the origin becomes X^T D X, where X maps a twist (omega, v)
 * to (omega, v + omega × d). This holds for both forms of the model. */
static void the_origin_moves_as_a_rigid_one(void **unused) {
  static const char *const form[2] = {"{form: printed}", "{form: rayleigh}"};
  const double d[3] = {0.5, -1, 2};
  for (int f = 0; f < 2; f++) {
    double D[6][6], moved[6][6], X[6][6] = {{0}};
    mesh m = mesh_ellipsoid(5, 1.5, 1, 0.6), there = mesh_ellipsoid(5, 1.5, 1, 0.6);
    mesh_move(&there, d);
    check_ok(drag_of(form[f], m, D));
    check_ok(drag_of(form[f], there, moved));
    const double hat[3][3] = {{0, -d[2], d[1]}, {d[2], 0, -d[0]}, {-d[1], d[0], 0}};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        X[i][j] = X[3 + i][3 + j] = i == j;
        X[3 + i][j] = -hat[i][j];
      }
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) {
        double sum = 0;
        for (int k = 0; k < 6; k++)
          for (int l = 0; l < 6; l++) sum += X[k][i] * D[k][l] * X[l][j];
        check_near(moved[i][j], sum, 1e-4); /* the potentials have errors of 1e-7, and the numbers are up to 100 */
      }
  }
}

static void open_bodies_are_refused(void **unused) {
  double D[6][6];
  check_error_begins(drag_of("{}", mesh_plate(4, 1, 1, false), D), CB_ERROR_UNSUPPORTED,
                     "the fluid model viscous_drag is for closed surfaces");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sphere_is_a_closed_form),
      cmocka_unit_test(rayleighs_form_is_symmetric_and_takes_energy),
      cmocka_unit_test(the_origin_moves_as_a_rigid_one),
      cmocka_unit_test(open_bodies_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
