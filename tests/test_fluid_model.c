/* Fluid models: forces once on jets, what they know of a body, and when they act. */
#include "check_error.h"
#include "immersed.h"

/* A drag that couples all: F_i = -a |V|^2 V_i - rho b V_i V_(i + 1). */
typedef struct coupled {
  double a, b;
} coupled;

static const cb_param params[] = {{"a", CB_PARAM_REAL, offsetof(coupled, a), "2", "", "", NULL, ""},
                                  {"b", CB_PARAM_REAL, offsetof(coupled, b), "0.3", "", "", NULL, ""},
                                  {0}};
static int prepared, released;
static cb_status next;

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  (void)m, (void)surface;
  if (next) return cb_fail(next, "no such body");
  prepared++;
  double *volume = malloc(sizeof *volume);
  *volume = mass->volume;
  *body = volume;
  return CB_OK;
}

static void release(const cb_fluid_model *m, void *body) {
  (void)m;
  released++;
  free(body);
}

static cb_status on_jets(const cb_fluid_model *m, const void *body, double density, const cb_jet *V, cb_jet *F) {
  const coupled *p = m->params;
  cb_jet square = cb_jet_constant(V[0].n, 0);
  for (int i = 0; i < 6; i++) {
    const cb_jet part = cb_jet_mul(&V[i], &V[i]);
    square = cb_jet_add(&square, &part);
  }
  for (int i = 0; i < 6; i++) {
    const cb_jet cubic = cb_jet_mul(&square, &V[i]), product = cb_jet_mul(&V[i], &V[(i + 1) % 6]);
    const cb_jet first = cb_jet_scale(&cubic, -p->a * *(const double *)body),
                 second = cb_jet_scale(&product, -density * p->b);
    F[i] = cb_jet_add(&first, &second);
  }
  return CB_OK;
}

static const cb_fluid_model_class class = {
    .name = "coupled", .title = "", .doc = "", .params = params, .params_size = sizeof(coupled), .prepare = prepare,
    .release = release, .on_jets = on_jets};

/* Lift and drag of the local model, and linear drag, face by face; and its added mass by itself. */
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
  (void)unused;
  static const double u[3] = {0.4, -0.2, 0.6}, gradient[3][3] = {{0, 0.5, 0.1}, {-0.3, 0.2, 0}, {0.7, 0, -0.2}};
  for (int flow = 0; flow < 3; flow++) {
    tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
    cb_fluid_model *model;
    check_ok(cb_fluid_model_create_class(&class, NULL, &model));
    tank_water(&k, 0.9);
    k.fluid.model = model;
    k.fluid.paper = true; /* without the pressure of the flow, whose derivative is not that of all its parts */
    if (flow == 1) tank_flow(&k, u[0], u[1], u[2]);
    cb_flow *shear;
    if (flow == 2) check_ok(cb_flow_shear(u, gradient, &shear)), k.fluid.flow = shear;
    tank_fill(&k);
    check_derivatives(&k, 0.3, &somewhere, twist, 1e-8, 1e-8); /* of differences by 1e-5 */
    tank_empty(&k);
    cb_fluid_model_free(model);
  }
  assert_true(prepared == 3 && released == 3);
}

static void the_drag_is_that_of_the_formula_and_the_fluid_does_not_move_along(void **unused) {
  (void)unused;
  tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  cb_fluid_model *model;
  cb_mass mass;
  double wrench[8][6], K[6][6], mu0[6], square = 0;
  cb_rigid_state s;
  check_ok(cb_fluid_model_create_class(&class, NULL, &model));
  tank_water(&k, 0.9);
  k.fluid.model = model;
  tank_fill(&k);
  check_ok(cb_rigid_start(k.problem, 0, &somewhere, twist, &s));
  row_of(&k, &s, wrench);
  check_ok(cb_mass_of(k.surface, NULL, k.material, &mass));
  for (int i = 0; i < 6; i++) square += twist[i] * twist[i];
  const int drag = wrench_named(&k, "drag");
  assert_true(drag >= 0);
  for (int i = 0; i < 6; i++)
    check_at_most(fabs(wrench[drag][i] + 2 * mass.volume * square * twist[i] +
                       0.9 * 0.3 * twist[i] * twist[(i + 1) % 6]),
                  1e-13); /* round-off of numbers of size 10 */
  check_ok(k.problem->inertia(k.problem->self, 0, &somewhere, K, mu0));
  for (int i = 0; i < 36; i++) check_at_most(fabs(K[i / 6][i % 6] - mass.inertia[i / 6][i % 6]), 1e-14);
  tank_empty(&k);
  cb_fluid_model_free(model);
}

static void a_model_acts_where_there_is_a_fluid_and_drag_is_not_switched_off(void **unused) {
  (void)unused;
  cb_fluid_model *model;
  check_ok(cb_fluid_model_create_class(&class, NULL, &model));
  for (int what = 0; what < 2; what++) {
    tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
    if (what) tank_water(&k, 0.9);
    k.options.drag = !what;
    k.fluid.model = model;
    const int before = prepared;
    tank_fill(&k);
    assert_int_equal(wrench_named(&k, "drag"), -1);
    assert_int_equal(prepared, before);
    tank_empty(&k);
  }
  tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  tank_water(&k, 0.9);
  k.fluid.model = model;
  k.options.material = k.material;
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
  (void)unused;
  cb_fluid_model *local;
  double wrench[2][8][6];
  check_ok(cb_fluid_model_create("local", NULL, &local));
  for (int named = 0; named < 2; named++) {
    tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
    cb_rigid_state s;
    tank_water(&k, 0.9);
    if (named) k.fluid.model = local;
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

/* A ball, a sheet, and a ball that beats; in a wind, in a shear (without its momentum, that no other model has), and
 * where the density varies. */
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
  if (what == 3)
    check_ok(cb_flow_shear(u, gradient, &shear)), k.fluid.flow = shear;
  else if (what < 3)
    tank_flow(&k, u[0], u[1], u[2]);
  if (what >= 3) k.options.added_mass = false;
  if (named)
    k.fluid.model = model;
  else
    k.options.c_n = k.options.c_t = 0.7;
  tank_fill(&k);
  return k;
}

static void faces_of_a_model_are_summed_as_those_of_the_local_one(void **unused) {
  (void)unused;
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
  (void)unused;
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
    k.fluid.model = both ? whole : other;
    k.fluid.added_mass = both == (round < 2) ? other : whole;
    if (round >= 2) k.options.added_mass_of = both ? other : whole; /* the body's own */
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
  assert_int_equal(cb_immersed_create(&k->fluid, k->surface, NULL, &k->options, NULL, NULL, NULL, &k->body), expected);
  assert_non_null(strstr(cb_error_text(), text));
  k->body = NULL;
  tank_empty(k);
}

static void what_a_model_cannot_is_refused(void **unused) {
  (void)unused;
  static const double u[3], gradient[3][3] = {{0, 1}};
  static const cb_wrench_text viscous = {.name = "viscous", .force = {"1", NULL, NULL}};
  cb_fluid_model *model;
  cb_flow *shear;
  cb_medium *medium;
  check_ok(cb_fluid_model_create_class(&faces, NULL, &model));
  tank k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  tank_water(&k, 0.9);
  k.fluid.model = model;
  check_ok(cb_flow_shear(u, gradient, &shear));
  k.fluid.flow = shear;
  refused(&k, CB_ERROR_UNSUPPORTED, "`faces` is for a flow that is the same everywhere");
  k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  check_ok(cb_medium_expression("0.9 + 0.1*z", 0, NULL, NULL, (double[3]){0, 0, 1}, NULL, &medium));
  k.fluid.medium = medium;
  k.fluid.added_mass = model;
  refused(&k, CB_ERROR_UNSUPPORTED, "`faces` is for a medium that is the same everywhere");
  k = tank_of(mesh_ball(3, 0.7), 1.3, 0);
  tank_water(&k, 0.9);
  k.fluid.model = model;
  k.options.wrenches = &viscous;
  k.options.n_wrenches = 1;
  refused(&k, CB_ERROR_ARGUMENT, "two wrenches of a body are called `viscous`");
  cb_fluid_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drags_are_derived_in_the_twist_and_along_the_pose),
      cmocka_unit_test(the_drag_is_that_of_the_formula_and_the_fluid_does_not_move_along),
      cmocka_unit_test(a_model_acts_where_there_is_a_fluid_and_drag_is_not_switched_off),
      cmocka_unit_test(the_local_model_is_what_there_is_without_one),
      cmocka_unit_test(faces_of_a_model_are_summed_as_those_of_the_local_one),
      cmocka_unit_test(the_added_mass_is_chosen_by_itself),
      cmocka_unit_test(what_a_model_cannot_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
