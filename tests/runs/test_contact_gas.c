/* Tests of a gas of spheres of many masses on S3, and of elastic rods in a ball of H3. The result of a step depends
 * only on its start: neither the cells of the search for pairs nor earlier steps change it. Results are compared bit
 * for bit. */
#include "check.h"
#include "run/contacts_step.h"
#include <curvebody/contact.h>

enum { BODIES = 150, STEPS = 12 };
static const double step = 0.1;

typedef struct gas {
  cb_space *g;
  cb_system *system;
  cb_integrator *integrator;
  cb_contacts *contacts;
  cb_state *state;
  int rows;
} gas;

static cb_status count(void *self, const cb_event_row *row) {
  ((gas *)self)->rows += row->kind == 0;
  return CB_OK;
}

static void make_methods(gas *s) {
  check_ok(cb_integrator_create("lobatto", NULL, s->system, &s->integrator));
  check_ok(cb_contacts_create(s->system, s->integrator, &s->contacts));
}

static void free_methods(gas *s) {
  cb_contacts_free(s->contacts);
  cb_integrator_free(s->integrator);
}

/* Chooses a random position x in the space, farther than `apart` from the n positions `others`, and a random unit
 * tangent vector v at x. */
static void place(const cb_space *g, uint64_t *seed, int n, const double *others, double apart, double *x, double *v) {
  bool clear = false;
  while (!clear) {
    check_direction(seed, g->factor[0].curvature > 0 ? 4 : 3, x);
    if (g->factor[0].curvature < 0) {
      const double a = check_uniform(seed, 0, 2.2);
      for (int e = 0; e < 3; e++) x[e] *= sinh(a);
      x[3] = cosh(a);
    }
    clear = true;
    for (int i = 0; i < n && clear; i++) clear = cb_distance(g, x, others + 4 * i) > apart;
  }
  check_direction(seed, 4, v);
  cb_space_project_tangent(g, x, v);
  const double size = sqrt(cb_inner(g, v, v));
  for (int e = 0; e < 4; e++) v[e] /= size;
}

static void open_gas(gas *s, const char *space, bool all_pairs) {
  uint64_t seed = 5;
  cb_builder *b;
  int body;
  const double r = 0.1, centre[4] = {0, 0, 0, 1};
  double x[BODIES][4], v[4], along[4], end[4], w[4];
  *s = (gas){0};
  check_ok(cb_space_create(space, NULL, &s->g));
  check_ok(cb_builder_create(s->g, &b));
  check_ok(cb_builder_body(b, "gas", &body));
  const bool rods = s->g->factor[0].curvature < 0;
  for (int i = 0; i < BODIES; i++) {
    int first;
    place(s->g, &seed, i, x[0], rods ? 0.51 : 0.21, x[i], v);
    check_ok(cb_builder_particle(b, NULL, check_uniform(&seed, 0.5, 3), 0, r, x[i], v, &first));
    if (!rods) continue;
    check_direction(&seed, 4, along);
    cb_space_project_tangent(s->g, x[i], along);
    const double length = sqrt(cb_inner(s->g, along, along));
    for (int e = 0; e < 4; e++) along[e] *= 0.3 / length;
    cb_exp(s->g, x[i], along, end, NULL);
    for (int j = 0; j < i; j++) /* the second end of the rod has radius 0 and must not be in an earlier ball */
      assert_true(cb_distance(s->g, end, x[j]) > 0.2);
    check_ok(cb_transport(s->g, x[i], end, v, w));
    check_ok(cb_builder_particle(b, NULL, check_uniform(&seed, 0.5, 3), 0, 0, end, w, NULL));
    check_ok(cb_builder_spring(b, first, first + 1, 50, -1, 0));
  }
  check_ok(cb_builder_contacts(b, &(cb_contact_options){.restitution = 1, .all_pairs = all_pairs}));
  check_ok(cb_builder_contact_bodies(b, body, body, true));
  if (rods) check_ok(cb_builder_wall_ball(b, "room", -1, centre, 2.8, true, 1));
  check_ok(cb_builder_finish(b, &s->system));
  cb_builder_free(b);
  check_ok(cb_state_create(s->system, &s->state));
  check_ok(cb_system_start(s->system, s->state));
  make_methods(s);
  check_ok(cb_forces_set_origins(s->integrator->forces, s->state->origin));
}

static void close_gas(gas *s) {
  free_methods(s);
  cb_state_free(s->state);
  cb_system_free(s->system);
  cb_space_free(s->g);
}

static void go(gas *s, int steps) {
  cb_sink sink = {.self = s, .event = count};
  cb_contacts_stop stopped;
  for (int i = 0; i < steps; i++) check_ok(cb_contacts_step(s->contacts, s->state, step, &sink, &stopped));
}

static void check_same(const gas *a, const gas *b) {
  const size_t bytes = (size_t)a->state->n * (size_t)a->state->k * sizeof(double);
  assert_true(a->rows > BODIES / 4);
  assert_int_equal(a->rows, b->rows);
  assert_memory_equal(a->state->x, b->state->x, bytes);
  assert_memory_equal(a->state->p, b->state->p, bytes);
  assert_memory_equal(a->state->x_low, b->state->x_low, bytes);
  assert_memory_equal(a->state->p_low, b->state->p_low, bytes);
}

/* Checks that no contact was missed: no spheres overlap, and none is outside the wall. */
static void check_apart(const gas *s) {
  const int n = cb_system_particles(s->system);
  const double centre[4] = {0, 0, 0, 1};
  for (int i = 0; i < n; i++) {
    double x[4], y[4];
    const double r = cb_system_radius(s->system, cb_system_particle(s->system, i));
    cb_origin_world_point(s->g, &s->state->origin[cb_system_component(s->system, i)], s->state->x + 4 * i, x);
    if (s->g->factor[0].curvature < 0) assert_true(cb_distance(s->g, x, centre) + r < 2.8 + 1e-9);
    for (int j = 0; j < i; j++) {
      const double both = r + cb_system_radius(s->system, cb_system_particle(s->system, j));
      cb_origin_world_point(s->g, &s->state->origin[cb_system_component(s->system, j)], s->state->x + 4 * j, y);
      assert_true(both == 0 || cb_distance(s->g, x, y) > both - 1e-9);
    }
  }
}

static const char *const spaces[] = {"s3", "h3"};

static void by_cells_no_contact_is_missed_and_bytes_are_those_of_all_pairs(void **unused) {
  for (int i = 0; i < 2; i++) {
    gas a, b;
    open_gas(&a, spaces[i], false);
    open_gas(&b, spaces[i], true);
    for (int n = 0; n < STEPS; n++) {
      go(&a, 1);
      go(&b, 1);
      check_apart(&a);
    }
    check_same(&a, &b);
    close_gas(&a);
    close_gas(&b);
  }
}

/* As in a run that was stopped and resumed, the integrator and the contacts are created again halfway. */
static void a_step_depends_on_its_start_alone(void **unused) {
  for (int i = 0; i < 2; i++) {
    gas a, b;
    open_gas(&a, spaces[i], false);
    open_gas(&b, spaces[i], false);
    go(&a, STEPS / 2);
    cb_integrator_reset(a.integrator);
    go(&a, STEPS / 2);
    go(&b, STEPS / 2);
    free_methods(&b);
    make_methods(&b);
    check_ok(cb_forces_set_origins(b.integrator->forces, b.state->origin));
    go(&b, STEPS / 2);
    check_same(&a, &b);
    close_gas(&a);
    close_gas(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_cells_no_contact_is_missed_and_bytes_are_those_of_all_pairs),
                                     cmocka_unit_test(a_step_depends_on_its_start_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
