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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drags_are_derived_in_the_twist_and_along_the_pose),
      cmocka_unit_test(the_drag_is_that_of_the_formula_and_the_fluid_does_not_move_along),
      cmocka_unit_test(a_model_acts_where_there_is_a_fluid_and_drag_is_not_switched_off),
      cmocka_unit_test(the_local_model_is_what_there_is_without_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
