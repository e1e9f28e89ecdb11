/* The exact added mass of poses to an error that is asked for: what is told holds against finer faces, the form of a
 * motion is one, and what is found depends on the pose alone, not on the order or the thread.
 * labels: medium
 * timeout: 300
 */
#include "check_error.h"
#include "core/threads.h"
#include "fluid/surface.h"
#include "potential.h"
#include <curvebody/fluid_model.h>

typedef struct posed {
  cb_fluid_model *model;
  cb_tree *tree;
  cb_surface *surface;
  void *body;
  double (*x)[3], (*v)[3];
} posed;

static posed posed_of(const solid_mesh *m, const char *parameters) {
  posed p = {NULL};
  check_ok(cb_surface_make(m->vertices, (const double(*)[3])m->x, m->faces, (const int(*)[3])m->face, NULL, &p.surface));
  check_ok(cb_yaml_read_text("model", parameters, strlen(parameters), &p.tree));
  check_ok(cb_fluid_model_create("exact", cb_tree_root(p.tree), &p.model));
  check_ok(p.model->kind->prepare(p.model, p.surface, NULL, &p.body));
  p.x = calloc((size_t)m->vertices, sizeof *p.x);
  p.v = calloc((size_t)m->vertices, sizeof *p.v);
  return p;
}

static void free_posed(posed *p) {
  p->model->kind->release(p->model, p->body);
  cb_fluid_model_free(p->model);
  cb_tree_free(p->tree);
  cb_surface_free(p->surface);
  free(p->x);
  free(p->v);
}

/* Bent along x, in z, by this much, and moving with the velocity u everywhere. */
static cb_status added_mass(posed *p, double bend, const double u[3], cb_added_mass *out) {
  for (int i = 0; i < p->surface->vertices; i++) {
    memcpy(p->x[i], p->surface->x[i], sizeof *p->x);
    p->x[i][2] += bend * p->x[i][0] * p->x[i][0];
    memcpy(p->v[i], u, sizeof *p->v);
  }
  *out = (cb_added_mass){.kinetic = 0};
  return p->model->kind->added_mass(p->model, p->body, p->surface, (const double(*)[3])p->x, (const double(*)[3])p->v,
                                    out);
}

/* The same flat faces, in four three times over: their error is a tenth of what is told. */
static cb_kirchhoff_mass finer(const posed *p, bool sheets) {
  cb_surface *pose = NULL, *fine = NULL;
  check_ok(cb_surface_make(p->surface->vertices, (const double(*)[3])p->x, p->surface->faces,
                           (const int(*)[3])p->surface->face, NULL, &pose));
  check_ok(cb_surface_at_level(pose, 3, &fine));
  const solid_mesh m = {fine->vertices, fine->faces, fine->x, fine->face};
  const cb_kirchhoff_options options = {.sheets = sheets};
  const cb_kirchhoff_mass mass = mass_of(&m, &options, NULL);
  cb_surface_free(pose);
  cb_surface_free(fine);
  return mass;
}

static void what_is_told_holds(void **unused) {
  (void)unused;
  static const double u[3] = {0.3, -0.2, 0.9};
  for (int sheet = 0; sheet < 2; sheet++) {
    solid_mesh m = sheet ? disc_mesh(4, 0.6) : ellipsoid_mesh(4, 2, 1, 0.8);
    posed p = posed_of(&m, "{error: 0.04}");
    for (int i = 0; i < 2; i++) {
      cb_added_mass told;
      check_ok(added_mass(&p, 0.1 * i, u, &told));
      const cb_kirchhoff_mass fine = finer(&p, sheet);
      double most = 0, worst = 0, along = 0;
      for (int k = 3; k < 6; k++) most = fmax(most, fine.K[k][k]);
      for (int k = 3; k < 6; k++) worst = fmax(worst, fabs(told.K[k][k] - fine.K[k][k]) / most);
      print_message("%s, bent by %g: %.1e, told %.1e, %d faces\n", sheet ? "disc" : "ellipsoid", 0.1 * i, worst,
                    told.error, told.faces);
      check_at_most(worst, told.error);
      check_at_most(told.error, 0.04);
      assert_true(told.faces > 4 * m.faces);
      /* a shape that moves as a rigid body has the momentum and energy of one; the raw tensor's asymmetry is left */
      for (int k = 0; k < 6; k++) {
        double sum = 0;
        for (int l = 0; l < 3; l++) sum += told.K[k][3 + l] * u[l];
        check_near(told.mu0[k], sum, 0.01 * most);
        if (k >= 3) along += u[k - 3] * sum;
      }
      check_near(2 * told.kinetic, along, 1e-6 * most); /* of the equations' residual */
    }
    free_posed(&p);
    free_mesh(&m);
  }
}

static void a_pose_alone_decides(void **unused) {
  (void)unused;
  static const double u[3] = {0, 0, 1};
  solid_mesh m = ellipsoid_mesh(3, 2, 1, 0.8);
  cb_added_mass first, later, other;
  posed a = posed_of(&m, "{error: 0.1}"), b = posed_of(&m, "{error: 0.1}");
  check_ok(added_mass(&a, 0.1, u, &first));
  check_ok(added_mass(&a, 0.02, u, &other));
  check_ok(added_mass(&a, 0.1, u, &later));
  assert_memory_equal(&first, &later, sizeof first);
  cb_threads_set(1);
  check_ok(added_mass(&b, 0.02, u, &later));
  cb_threads_set(0);
  assert_memory_equal(&other, &later, sizeof other);
  free_posed(&a);
  free_posed(&b);
  free_mesh(&m);
}

/* Poses far from what was given may need more; a shape that swims is refined, too. */
static void what_is_not_met_is_refused(void **unused) {
  (void)unused;
  static const double u[3] = {0, 0, 1};
  solid_mesh m = disc_mesh(2, 0.6);
  posed p = posed_of(&m, "{error: 0.1}");
  cb_added_mass out;
  double G[49];
  check_error_begins(added_mass(&p, 3, u, &out), CB_ERROR_STEP, "the error of the added mass is ");
  assert_non_null(strstr(cb_error_text(), "in a pose"));
  const double(*x)[3] = (const double(*)[3])p.surface->x;
  check_ok(p.model->kind->form(p.model, p.body, p.surface, x, 0, NULL, G));
  check_ok(p.model->kind->form(p.model, p.body, p.surface, x, 1, (const double(*)[3])p.v, G));
  posed rigid = posed_of(&m, "{error: 0.02}");
  check_ok(added_mass(&rigid, 0, u, &out));
  check_near(G[5 * 7 + 5], out.K[5][5], 0.1 * out.K[5][5]);
  free_posed(&rigid);
  free_posed(&p);
  free_mesh(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_told_holds),
      cmocka_unit_test(a_pose_alone_decides),
      cmocka_unit_test(what_is_not_met_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
