/* Tests of fluid models: forces from the twist and from faces, sums of models, the data that they compute for a body,
 * and the conditions under which they act. */
#include "immersed.h"

/* A drag that couples the components of the twist V: F_i = -a volume |V|^2 V_i - rho b V_i V_(i + 1). The volume is
 * that of the body, rho is the density of the fluid, and a and b are parameters. */
typedef struct coupled {
  double a, b;
} coupled;

static const cb_param params[] = {{"a", CB_PARAM_REAL, offsetof(coupled, a), "2", "", "", NULL, ""},
                                  {"b", CB_PARAM_REAL, offsetof(coupled, b), "0.3", "", "", NULL, ""},
                                  {0}};
static int prepared, released;
static cb_status next;

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  if (next) return cb_fail(next, "no such body");
  prepared++;
  double *volume = malloc(sizeof *volume);
  *volume = mass->volume;
  *body = volume;
  return CB_OK;
}

static void release(const cb_fluid_model *m, void *body) {
  released++;
  free(body);
}

static cb_status on_twist(const cb_fluid_model *m, const void *body, int place, double density, const double V[6],
                          double (*F)[6], double (*dF)[6][6]) {
  const coupled *p = m->params;
  const double cubic = p->a * *(const double *)body, product = density * p->b;
  double square = 0;
  for (int i = 0; i < 6; i++) square += V[i] * V[i];
  for (int i = 0; i < 6; i++) {
    const int next_ = (i + 1) % 6;
    F[0][i] = -cubic * square * V[i] - product * V[i] * V[next_];
    for (int j = 0; dF && j < 6; j++) dF[0][i][j] = -2 * cubic * V[i] * V[j];
    if (!dF) continue;
    dF[0][i][i] -= cubic * square + product * V[next_];
    dF[0][i][next_] -= product * V[i];
  }
  return CB_OK;
}

extern const cb_fluid_model_class cb_fluid_model_local;
/* The forces of the class `split` are those of `coupled`, but act at two points away from the origin. */
static const double two[2][3] = {{0.3, -0.2, 0.5}, {-0.4, 0.6, 0.1}};
static int at_two(const cb_fluid_model *m, const void *body, const double (**at)[3]) {
  *at = two;
  return 2;
}
#define COUPLED(called, at)                                                                                       \
  {                                                                                                               \
    .name = called, .title = "", .doc = "", .params = params, .params_size = sizeof(coupled), .prepare = prepare, \
    .release = release, .places = at, .on_twist = on_twist                                                        \
  }
static const cb_fluid_model_class class = COUPLED("coupled", NULL), split = COUPLED("split", at_two);

/* Computes the force of a test model on one face: the lift and drag of the local model, and the linear drag -k area u.
 * k is a parameter of the test model. */
static void by_face(const cb_fluid_model *m, const void *body, const cb_fluid_face *face, const double u[3], double *f,
                    double *df) {
  const double *k = m->params;
  cb_fluid_local_on_face(m, body, face, u, f, df);
  for (int i = 0; i < 3; i++) {
    f[3 + i] = -*k * face->area * u[i];
    if (df) df[9 + 4 * i] = -*k * face->area;
  }
}

static cb_status its_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                          const double (*v)[3], cb_added_mass *out) {
  return cb_fluid_local_added_mass(m, body, surface, x, v, out);
}

static const char *const terms[] = {"quadratic", "viscous", NULL};
static const cb_param of_faces[] = {{"k", CB_PARAM_REAL, 0, "0.7", "", "", NULL, ""}, {0}};
static const cb_fluid_model_class faces = {.name = "faces",
                                           .title = "",
                                           .doc = "",
                                           .params = of_faces,
                                           .params_size = sizeof(double),
                                           .terms = terms,
                                           .on_face = by_face,
                                           .added_mass = its_mass};

static const double twist[6] = {0.3, -0.8, 0.5, 1.1, 0.2, -0.7};
static const cb_pose somewhere = {{0.5, 0.5, -0.1, 0.7}, {0.4, -0.3, 0.8}};

static void drags_are_derived_in_the_twist_and_along_the_pose(void **unused) {
  static const double u[3] = {0.4, -0.2, 0.6}, gradient[3][3] = {{0, 0.5, 0.1}, {-0.3, 0.2, 0}, {0.7, 0, -0.2}};
  for (int round = 0; round < 6; round++) {
    const int flow = round % 3;
    tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
    cb_fluid_model *model;
    check_ok(cb_fluid_model_create_class(round < 3 ? &class : &split, NULL, &model));
    tank_water(&k, 0.9);
    tank_model(&k, model);
    k.fluid.paper = true; /* leaves out the pressure of the flow, whose derivative is incomplete */
    if (flow == 1) tank_flow(&k, u[0], u[1], u[2]);
    cb_flow *shear;
    if (flow == 2) {
      check_ok(cb_flow_shear(u, gradient, &shear));
      k.fluid.flow = shear;
    }
    tank_fill(&k);
    check_derivatives(&k, 0.3, &somewhere, twist, 1e-8, 1e-8); /* the error of differences with the step 1e-5 */
    tank_empty(&k);
    cb_fluid_model_free(model);
  }
  assert_true(prepared == 6 && released == 6);
}

/* Computes the twist V relative to the fluid at the point c of the body: the twist of the body about c, minus half the
 * vorticity and minus the velocity of the flow at c. */
static void seen_from(const double *c, const cb_flow *flow, double V[6]) {
  double r[3][3], x[3], u[1][3], G[1][3][3], w[3], half[3];
  cb_pose_rotation(&somewhere, r);
  cb_apply3(r, c, x);
  for (int i = 0; i < 3; i++) x[i] += somewhere.x[i];
  check_ok(cb_flow_at(flow, 0.3, 1, (const double(*)[3]) & x, u, G, NULL));
  cb_cross3(twist, c, V + 3);
  for (int i = 0; i < 3; i++) half[i] = (G[0][(i + 2) % 3][(i + 1) % 3] - G[0][(i + 1) % 3][(i + 2) % 3]) / 2;
  cb_apply3_transposed(r, half, V);
  cb_apply3_transposed(r, u[0], w);
  for (int i = 0; i < 3; i++) {
    V[i] = twist[i] - V[i];
    V[3 + i] += twist[3 + i] - w[i];
  }
}

static void a_model_feels_flow_and_density_at_its_places(void **unused) {
  cb_fluid_model *model;
  cb_flow *vortex;
  cb_medium *medium;
  double wrench[8][6], want[6] = {0};
  cb_rigid_state s;
  cb_mass mass;
  check_ok(cb_fluid_model_create_class(&split, NULL, &model));
  check_ok(cb_flow_vortex((double[3]){2, 1, 0}, (double[3]){0.3, 0.1, 1}, 4, 0.7, &vortex));
  check_ok(cb_medium_expression("0.9 + 0.4*z", 0, NULL, NULL, (double[3]){0, 0, 1}, NULL, &medium));
  tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  tank_model(&k, model);
  k.fluid.flow = vortex;
  k.fluid.medium = medium;
  tank_fill(&k);
  check_ok(cb_mass_of(k.surface, NULL, k.material, &mass));
  for (int p = 0; p < 2; p++) {
    double V[6], f[1][6] = {{0}}, x[3], r[3][3], rho, torque[3];
    seen_from(two[p], vortex, V);
    cb_pose_rotation(&somewhere, r);
    cb_apply3(r, two[p], x);
    for (int i = 0; i < 3; i++) x[i] += somewhere.x[i];
    check_ok(cb_medium_at(medium, x, &rho));
    check_ok(on_twist(model, &mass.volume, p, rho, V, f, NULL));
    cb_cross3(two[p], f[0] + 3, torque);
    for (int i = 0; i < 3; i++) {
      want[i] += f[0][i] + torque[i];
      want[3 + i] += f[0][3 + i];
    }
  }
  check_ok(cb_rigid_start(k.problem, 0.3, &somewhere, twist, &s));
  row_of(&k, &s, wrench);
  for (int i = 0; i < 6; i++)
    check_near(wrench[wrench_named(&k, "drag")][i], want[i], 1e-12); /* round-off of numbers of size 10 */
  tank_empty(&k);
  cb_fluid_model_free(model);
}

/* All models of a list act, each with named terms. If the name of a term is already used by another term, the name
 * of the model is put before the name of the term. */
static void models_add_up(void **unused) {
  static const cb_fluid_model_class *const kinds[4] = {&class, &split, &faces, &cb_fluid_model_local};
  double wrench[2][8][6] = {{{0}}}, sum[6] = {0}, F[6], back[6] = {0};
  cb_fluid_model *model[4];
  for (int i = 0; i < 4; i++) check_ok(cb_fluid_model_create_class(kinds[i], NULL, &model[i]));
  for (int i = 0; i <= 4; i++) { /* each model by itself, then all together */
    tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
    cb_rigid_state s;
    tank_water(&k, 0.9);
    k.options.added_mass = false;
    for (int m = 0; m < 4; m++)
      if (i == m || i == 4) tank_model(&k, model[m]);
    tank_fill(&k);
    check_ok(cb_rigid_start(k.problem, 0, &somewhere, twist, &s));
    row_of(&k, &s, wrench[i == 4]);
    if (i < 4) {
      const char *only[2] = {i == 2 ? "quadratic" : "drag", "viscous"};
      for (int t = 0; t < (i == 2 ? 2 : 1); t++)
        for (int c = 0; c < 6; c++) sum[c] += wrench[0][wrench_named(&k, only[t])][c];
    } else {
      static const char *const names[5] = {"drag", "coupled_drag", "split_drag", "quadratic", "viscous"};
      for (int n = 0; n < 5; n++) {
        const int at = wrench_named(&k, names[n]);
        assert_true(at >= 0);
        for (int c = 0; c < 6; c++) back[c] -= wrench[1][at][c];
      }
      assert_int_equal(cb_immersed_wrenches(k.body), 5);
      check_derivatives(&k, 0.3, &somewhere, twist, 1e-8, 1e-8); /* the error of differences with the step 1e-5 */
      wrenches_of(&k, 0, &somewhere, twist, F, NULL);
      for (int c = 0; c < 6; c++) {
        check_near(F[c], sum[c], 1e-12); /* round-off of numbers of size 10 */
        check_near(F[c], -back[c], 1e-12);
      }
    }
    tank_empty(&k);
  }
  for (int i = 0; i < 4; i++) cb_fluid_model_free(model[i]);
}

static void the_drag_is_that_of_the_formula_and_the_fluid_does_not_move_along(void **unused) {
  tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  cb_fluid_model *model;
  cb_mass mass;
  double wrench[8][6], K[6][6], mu0[6], square = 0;
  cb_rigid_state s;
  check_ok(cb_fluid_model_create_class(&class, NULL, &model));
  tank_water(&k, 0.9);
  tank_model(&k, model);
  tank_fill(&k);
  check_ok(cb_rigid_start(k.problem, 0, &somewhere, twist, &s));
  row_of(&k, &s, wrench);
  check_ok(cb_mass_of(k.surface, NULL, k.material, &mass));
  for (int i = 0; i < 6; i++) square += twist[i] * twist[i];
  const int drag = wrench_named(&k, "drag");
  assert_true(drag >= 0);
  for (int i = 0; i < 6; i++)
    check_at_most(
        fabs(wrench[drag][i] + 2 * mass.volume * square * twist[i] + 0.9 * 0.3 * twist[i] * twist[(i + 1) % 6]),
        1e-13); /* round-off of numbers of size 10 */
  check_ok(k.problem->inertia(k.problem->self, 0, &somewhere, K, mu0));
  for (int i = 0; i < 36; i++) check_at_most(fabs(K[i / 6][i % 6] - mass.inertia[i / 6][i % 6]), 1e-14);
  tank_empty(&k);
  cb_fluid_model_free(model);
}

static void a_model_acts_where_there_is_a_fluid_and_drag_is_not_switched_off(void **unused) {
  cb_fluid_model *model;
  check_ok(cb_fluid_model_create_class(&class, NULL, &model));
  for (int what = 0; what < 2; what++) {
    tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
    if (what) tank_water(&k, 0.9);
    k.options.drag = !what;
    tank_model(&k, model);
    const int before = prepared;
    tank_fill(&k);
    assert_int_equal(wrench_named(&k, "drag"), -1);
    assert_int_equal(prepared, before);
    tank_empty(&k);
  }
  tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  tank_water(&k, 0.9);
  tank_model(&k, model);
  k.options.material = k.material;
  k.fluid.models = k.model;
  next = CB_ERROR_DOMAIN;
  const int before = released;
  assert_int_equal(cb_immersed_create(&k.fluid, k.surface, NULL, &k.options, NULL, NULL, NULL, &k.body),
                   CB_ERROR_DOMAIN);
  assert_string_equal(cb_error_text(), "no such body");
  next = CB_OK;
  assert_int_equal(released, before);
  cb_medium_free((cb_medium *)k.fluid.medium);
  cb_surface_free(k.surface);
  cb_fluid_model_free(model);
}

static void the_local_model_is_what_there_is_without_one(void **unused) {
  cb_fluid_model *local;
  double wrench[2][8][6];
  check_ok(cb_fluid_model_create("local", NULL, &local));
  for (int named = 0; named < 2; named++) {
    tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
    cb_rigid_state s;
    tank_water(&k, 0.9);
    if (named) tank_model(&k, local);
    tank_fill(&k);
    check_ok(cb_rigid_start(k.problem, 0, &somewhere, twist, &s));
    memset(wrench[named], 0, sizeof wrench[named]);
    row_of(&k, &s, wrench[named]);
    tank_empty(&k);
  }
  assert_memory_equal(wrench[0], wrench[1], sizeof wrench[0]);
  cb_fluid_model_free(local);
  check_error_begins(cb_fluid_model_create("locl", NULL, &local), CB_ERROR_ARGUMENT,
                     "unknown fluid model 'locl', did you mean 'local'?");
}

/* Makes the body number `what`: 0 a ball, 1 a sheet and 2 a ball that changes its shape, all in a wind; 3 a ball in a
 * shear; 4 a ball in a density that varies. Cases 3 and 4 have no added mass. `named` chooses the class `model` in
 * place of the local model. */
static tank local_twin(int what, bool named, const cb_fluid_model *model) {
  static const double u[3] = {0.4, -0.2, 0.6}, gradient[3][3] = {{0, 0.5, 0.1}, {-0.3, 0.2, 0}, {0.7, 0, -0.2}};
  tank k = tank_of(what == 1 ? mesh_plate(5, 2, 1.5, false) : mesh_ball(3, 0.7), 1.3, what == 1 ? 0.1 : 0);
  cb_flow *shear;
  cb_medium *medium;
  if (what == 2) tank_moves(&k, "X*(1 + 0.2*sin(t))", "Y*(1 + 0.1*t)", "Z + 0.3*X^2*t");
  if (what == 4) check_ok(cb_medium_expression("0.9 + 0.1*z", 0, NULL, NULL, (double[3]){0, 0, 1}, NULL, &medium));
  if (what == 4)
    k.fluid.medium = medium;
  else
    tank_water(&k, 0.9);
  if (what == 3) {
    check_ok(cb_flow_shear(u, gradient, &shear));
    k.fluid.flow = shear;
  } else if (what < 3)
    tank_flow(&k, u[0], u[1], u[2]);
  if (what >= 3) k.options.added_mass = false;
  if (named)
    tank_model(&k, model);
  else
    k.options.c_n = k.options.c_t = 0.7;
  tank_fill(&k);
  return k;
}

static void faces_of_a_model_are_summed_as_those_of_the_local_one(void **unused) {
  cb_fluid_model *model;
  check_ok(cb_fluid_model_create_class(&faces, NULL, &model));
  for (int what = 0; what < 5; what++) {
    double wrench[2][8][6], K[2][6][6], mu0[2][6], kinetic[2], F[2][6], dF[2][6][6], dmu[6][6], dg[2][6][6] = {{{0}}};
    int at[2][2];
    for (int named = 0; named < 2; named++) {
      tank k = local_twin(what, named, model);
      cb_rigid_state s;
      check_ok(cb_rigid_start(k.problem, 0.3, &somewhere, twist, &s));
      kinetic[named] = row_of(&k, &s, wrench[named]).kinetic;
      check_ok(k.problem->inertia(k.problem->self, 0.3, &somewhere, K[named], mu0[named]));
      wrenches_of(&k, 0.3, &somewhere, twist, F[named], dF[named]);
      check_ok(k.problem->pose_derivative(k.problem->self, 0.3, &somewhere, twist, dmu, dg[named]));
      for (int i = 0; i < 2; i++) at[named][i] = wrench_named(&k, named ? terms[i] : i ? "linear_drag" : "drag");
      assert_true(at[named][0] >= 0 && at[named][1] >= 0);
      tank_empty(&k);
    }
    /* round-off of sums of 100 numbers of size 1 to 10 */
    check_at_most(fabs(kinetic[0] - kinetic[1]), 1e-13);
    for (int i = 0; i < 6; i++) {
      check_at_most(fabs(mu0[0][i] - mu0[1][i]), 1e-13);
      check_at_most(fabs(F[0][i] - F[1][i]), 1e-12);
      for (int k = 0; k < 2; k++) check_at_most(fabs(wrench[0][at[0][k]][i] - wrench[1][at[1][k]][i]), 1e-12);
      for (int j = 0; j < 6; j++) {
        check_at_most(fabs(K[0][i][j] - K[1][i][j]), 1e-13);
        check_at_most(fabs(dF[0][i][j] - dF[1][i][j]), 1e-12);
        check_at_most(fabs(dg[0][i][j] - dg[1][i][j]), 1e-12);
      }
    }
  }
  cb_fluid_model_free(model);
}

static void the_added_mass_is_chosen_by_itself(void **unused) {
  cb_fluid_model *whole, *other;
  cb_mass mass;
  cb_added_mass own;
  double K[6][6], mu0[6];
  check_ok(cb_fluid_model_create_class(&class, NULL, &whole));
  check_ok(cb_fluid_model_create_class(&faces, NULL, &other));
  for (int round = 0; round < 4; round++) {
    const int both = round % 2;
    tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
    tank_water(&k, 0.9);
    tank_model(&k, both ? whole : other);
    k.fluid.added_mass = both == (round < 2) ? other : whole;
    /* the body has a model of its own for the added mass */
    if (round >= 2) k.options.added_mass_of = both ? other : whole;
    tank_fill(&k);
    check_ok(k.problem->inertia(k.problem->self, 0, &somewhere, K, mu0));
    check_ok(cb_mass_of(k.surface, NULL, k.material, &mass));
    check_ok(cb_fluid_local_added_mass(NULL, NULL, k.surface, (const double(*)[3])k.surface->x, NULL, &own));
    for (int i = 0; i < 36; i++)
      check_at_most(fabs(K[i / 6][i % 6] - mass.inertia[i / 6][i % 6] - (both ? 0.9 * own.K[i / 6][i % 6] : 0)), 1e-14);
    assert_int_equal(wrench_named(&k, "viscous") >= 0, !both);
    assert_int_equal(wrench_named(&k, "drag") >= 0, both);
    tank_empty(&k);
  }
  cb_fluid_model_free(whole);
  cb_fluid_model_free(other);
}

static void refused(tank *k, cb_status expected, const char *text) {
  k->options.material = k->material;
  k->fluid.models = k->model;
  assert_int_equal(cb_immersed_create(&k->fluid, k->surface, NULL, &k->options, NULL, NULL, NULL, &k->body), expected);
  assert_non_null(strstr(cb_error_text(), text));
  k->body = NULL;
  tank_empty(k);
}

static void what_a_model_cannot_is_refused(void **unused) {
  static const double u[3], gradient[3][3] = {{0, 1}};
  static const cb_wrench_text viscous = {.name = "viscous", .force = {"1", NULL, NULL}};
  cb_fluid_model *model;
  cb_flow *shear;
  cb_medium *medium;
  check_ok(cb_fluid_model_create_class(&faces, NULL, &model));
  tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  tank_water(&k, 0.9);
  tank_model(&k, model);
  check_ok(cb_flow_shear(u, gradient, &shear));
  k.fluid.flow = shear;
  refused(&k, CB_ERROR_UNSUPPORTED, "`faces` needs a uniform flow");
  k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  check_ok(cb_medium_expression("0.9 + 0.1*z", 0, NULL, NULL, (double[3]){0, 0, 1}, NULL, &medium));
  k.fluid.medium = medium;
  k.fluid.added_mass = model;
  refused(&k, CB_ERROR_UNSUPPORTED, "`faces` needs a uniform medium");
  k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  tank_water(&k, 0.9);
  tank_model(&k, model);
  k.options.wrenches = &viscous;
  k.options.n_wrenches = 1;
  refused(&k, CB_ERROR_ARGUMENT, "two wrenches of a body are called `viscous`: expected different names");
  for (int local = 0; local < 2; local++) {
    cb_fluid_model *own;
    check_ok(cb_fluid_model_create("local", NULL, &own));
    k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
    tank_water(&k, 0.9);
    for (int i = 0; i < 2; i++) tank_model(&k, local ? own : model);
    refused(&k, CB_ERROR_ARGUMENT, local ? "`local` is named twice" : "`faces` is named twice");
    cb_fluid_model_free(own);
  }
  cb_fluid_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drags_are_derived_in_the_twist_and_along_the_pose),
      cmocka_unit_test(a_model_feels_flow_and_density_at_its_places),
      cmocka_unit_test(models_add_up),
      cmocka_unit_test(the_drag_is_that_of_the_formula_and_the_fluid_does_not_move_along),
      cmocka_unit_test(a_model_acts_where_there_is_a_fluid_and_drag_is_not_switched_off),
      cmocka_unit_test(the_local_model_is_what_there_is_without_one),
      cmocka_unit_test(faces_of_a_model_are_summed_as_those_of_the_local_one),
      cmocka_unit_test(the_added_mass_is_chosen_by_itself),
      cmocka_unit_test(what_a_model_cannot_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
