/* Tests of the builder functions for contacts, walls and events: inputs that they accept, store and reject, and
 * configuration spaces. */
#include "check_spaces.h"
#include "dynamics/gap.h"

typedef struct built {
  cb_space *g;
  cb_builder *b;
} built;

/* Makes three bodies a, b and c in a row, each of two particles of radius 0.1. */
static built begin(const char *space) {
  built u;
  check_ok(cb_space_create(space, NULL, &u.g));
  check_ok(cb_builder_create(u.g, &u.b));
  for (int i = 0; i < 6; i++) {
    double x[CB_COORD_MAX] = {0.3 * i, 0.2}, none[CB_COORD_MAX] = {0};
    if (u.g->factor[0].curvature) x[u.g->embedding - 1] = 1;
    cb_space_project_point(u.g, x);
    if (i % 2 == 0) check_ok(cb_builder_body(u.b, (char[]){(char)('a' + i / 2), 0}, NULL));
    check_ok(cb_builder_particle(u.b, NULL, 1, 0, 0.1, x, none, NULL));
  }
  return u;
}

static void end(built u) {
  cb_builder_free(u.b);
  cb_space_free(u.g);
}

static const cb_contact_options elastic = {.restitution = 1};

static void what_cannot_be_is_refused_by_name(void **state) {
  built u = begin("s3");
  const double pole[4] = {0, 0, 0, 1}, normal[4] = {0, 0, 1, 0}, off[4] = {0, 0, 0, 1.1};
  check_error(cb_builder_contacts(u.b, &(cb_contact_options){.restitution = 1.2}), CB_ERROR_ARGUMENT,
              "restitution 1.2: expected 0 to 1");
  check_error(cb_builder_contact_bodies(u.b, 0, 3, true), CB_ERROR_ARGUMENT, "body 3: expected 0 to 2, or -1 for all");
  check_error(cb_builder_wall_ball(u.b, "big", -1, pole, 3.2, true, 1), CB_ERROR_ARGUMENT,
              "wall 'big': a ball of radius 3.2 contains all of s3: expected a radius < 3.14159");
  check_error(cb_builder_wall_ball(u.b, NULL, -1, pole, 0, true, 1), CB_ERROR_ARGUMENT,
              "radius 0 of a wall: expected a number > 0");
  check_error(cb_builder_wall_ball(u.b, NULL, -1, pole, 1, true, -0.1), CB_ERROR_ARGUMENT,
              "restitution -0.1: expected 0 to 1");
  assert_int_equal(cb_builder_wall_ball(u.b, NULL, -1, off, 1, true, 1), CB_ERROR_DOMAIN);
  check_error(cb_builder_wall_plane(u.b, NULL, -1, pole, pole, 1), CB_ERROR_DOMAIN,
              "a wall's normal: expected a vector tangent to the space at the wall's point");
  check_error(cb_builder_wall_plane(u.b, NULL, -1, pole, (const double[4]){0}, 1), CB_ERROR_ARGUMENT,
              "a wall's normal of length 0: expected > 0");
  check_error(cb_builder_wall_expression(u.b, NULL, -1, "oblique", "1", 1), CB_ERROR_ARGUMENT,
              "the space has no chart 'oblique': `curvebody list spaces` lists its charts");
  assert_int_equal(cb_builder_wall_expression(u.b, NULL, -1, NULL, "1 + nothing", 1), CB_ERROR_INPUT);
  assert_int_equal(cb_builder_expression_at(u.b), 4);
  check_error(cb_builder_event_distance(u.b, NULL, 1, 1, 1, CB_EVENT_STOP, CB_EVENT_BOTH), CB_ERROR_ARGUMENT,
              "event: expected different particles, found 1 twice");
  check_error(cb_builder_event_distance(u.b, NULL, 1, 6, 1, CB_EVENT_STOP, CB_EVENT_BOTH), CB_ERROR_ARGUMENT,
              "event: particle 6: expected 0 to 5");
  check_error(cb_builder_event_distance(u.b, NULL, 1, 2, 0, CB_EVENT_STOP, CB_EVENT_BOTH), CB_ERROR_ARGUMENT,
              "event: distance 0: expected a number > 0");
  check_error(cb_builder_event_distance(u.b, NULL, 1, 2, 1, CB_EVENT_REFLECT, CB_EVENT_BOTH), CB_ERROR_ARGUMENT,
              "event: action 0: expected stop or mark (only walls reflect)");
  check_ok(cb_builder_contacts(u.b, &elastic));
  check_ok(cb_builder_wall_plane(u.b, NULL, -1, pole, normal, 1));
  check_ok(cb_builder_body(u.b, "giant", NULL));
  check_ok(cb_builder_particle(u.b, NULL, 1, 0, 1.6, (const double[4]){0, -1, 0, 0}, NULL, NULL));
  cb_system *s;
  check_error(cb_builder_finish(u.b, &s), CB_ERROR_ARGUMENT,
              "giant.0: a sphere of radius 1.6 is too large for s3: expected < 1.5708");
  end(u);
}

static void planes_lie_in_one_factor_of_spaces_that_have_them(void **state) {
  cb_space *g;
  cb_builder *b;
  check_ok(cb_space_create("h2xe", NULL, &g));
  check_ok(cb_builder_create(g, &b));
  const double point[4] = {0, 0, 1, 0};
  check_error(cb_builder_wall_plane(b, NULL, -1, point, (const double[4]){1, 0, 0, 1}, 1), CB_ERROR_ARGUMENT,
              "a wall's normal has components in both factors of h2xe, where no plane is totally geodesic: expected a "
              "normal in one factor");
  check_ok(cb_builder_wall_plane(b, NULL, -1, point, (const double[4]){1, 0, 0, 0}, 1));
  check_ok(cb_builder_wall_plane(b, NULL, -1, point, (const double[4]){0, 0, 0, -2}, 1));
  cb_builder_free(b);
  cb_space_free(g);
  check_ok(cb_space_create("nil", NULL, &g));
  check_ok(cb_builder_create(g, &b));
  check_error(cb_builder_wall_plane(b, NULL, -1, (const double[3]){0}, (const double[3]){1, 0, 0}, 1),
              CB_ERROR_UNSUPPORTED,
              "a wall is a plane, but nil has no totally geodesic planes: expected a space of constant curvature or a "
              "product of these");
  cb_builder_free(b);
  cb_space_free(g);
}

static bool on(const cb_system *s, const cb_gaps *gaps, int i, int j) {
  return cb_gaps_pair_on(gaps, cb_system_index(s, i), cb_system_index(s, j));
}

static void later_switches_of_bodies_go_before_earlier_ones(void **state) {
  built u = begin("e3");
  cb_system *s;
  cb_gaps *gaps;
  check_ok(cb_builder_contacts(u.b, &elastic));
  check_ok(cb_builder_contact_bodies(u.b, -1, -1, true)); /* on: all pairs of different bodies */
  check_ok(cb_builder_contact_bodies(u.b, 0, 0, true));   /* on: the particles of a with one another */
  check_ok(cb_builder_contact_bodies(u.b, 1, -1, false)); /* off: b with all bodies */
  check_ok(cb_builder_contact_bodies(u.b, 2, 1, true));   /* on: b with c */
  check_ok(cb_builder_finish(u.b, &s));
  check_ok(cb_gaps_create(s, &gaps));
  assert_true(on(s, gaps, 0, 1) && on(s, gaps, 1, 0));
  assert_false(on(s, gaps, 0, 0));
  assert_false(on(s, gaps, 2, 3) || on(s, gaps, 4, 5));
  assert_false(on(s, gaps, 0, 2) || on(s, gaps, 3, 1));
  assert_true(on(s, gaps, 2, 4) && on(s, gaps, 5, 3));
  assert_true(on(s, gaps, 0, 4));
  assert_true(cb_system_contacts(s));
  cb_gaps_free(gaps);
  cb_system_free(s);
  end(u);
}

static void walls_and_events_keep_what_they_were_given(void **state) {
  built u = begin("e3");
  cb_system *s;
  cb_gaps *gaps;
  check_ok(cb_builder_wall_ball(u.b, "ball", 1, (const double[3]){0, 5, 0}, 1, false, 0.25));
  check_ok(cb_builder_wall_expression(u.b, NULL, -1, NULL, "x - 2*t - r", 0.5));
  check_ok(cb_builder_event_distance(u.b, NULL, 3, 5, 0.5, CB_EVENT_MARK, CB_EVENT_RISING));
  check_ok(cb_builder_event_expression(u.b, "east", 4, NULL, "y", CB_EVENT_STOP, CB_EVENT_FALLING));
  check_ok(cb_builder_finish(u.b, &s));
  check_ok(cb_gaps_create(s, &gaps));
  assert_true(cb_system_contacts(s));
  assert_int_equal(cb_system_walls(s), 2);
  assert_string_equal(cb_system_wall_name(s, 0), "ball");
  assert_string_equal(cb_system_wall_name(s, 1), "wall 2");
  assert_int_equal(cb_system_events(s), 2);
  assert_string_equal(cb_system_event_name(s, 0), "event 1");
  assert_string_equal(cb_system_event_name(s, 1), "east");
  assert_false(on(s, gaps, 0, 2)); /* the particles have contacts with walls, not with one another */
  const int p2 = cb_system_index(s, 2), p3 = cb_system_index(s, 3), p4 = cb_system_index(s, 4);
  assert_true(cb_gaps_wall_on(gaps, 0, p2) && cb_gaps_wall_on(gaps, 1, p2));
  assert_false(cb_gaps_wall_on(gaps, 0, p4));
  const cb_gap first = {CB_GAP_WALL, 1, {p2}, 0, 1}, second = {CB_GAP_WALL, 1, {p2}, 1, 1};
  cb_gap event[2];
  check_near(cb_gap_restitution(gaps, &first), 0.25, 0);
  assert_int_equal(cb_gap_action(gaps, &first), CB_EVENT_REFLECT);
  for (int e = 0; e < 2; e++) cb_gaps_event(gaps, e, &event[e]);
  assert_true(event[0].n == 2 && event[0].particle[0] == p3 && event[0].index == 0);
  assert_true(event[1].n == 1 && event[1].particle[0] == p4);
  assert_int_equal(cb_gap_action(gaps, &event[0]), CB_EVENT_MARK);
  assert_int_equal(cb_gap_direction(gaps, &event[0]), CB_EVENT_RISING);
  assert_int_equal(cb_gap_action(gaps, &event[1]), CB_EVENT_STOP);
  assert_int_equal(cb_gap_direction(gaps, &event[1]), CB_EVENT_FALLING);
  const double at[3] = {3, 4, 5}, *x = at;
  cb_gap_value value;
  check_ok(cb_gap_eval(gaps, &second, 0.7, &x, 1, &value));
  check_near(value.gap, 3 - 1.4 - 0.1, 1e-15);
  check_near(value.rate_t, -2, 0);
  cb_gaps_free(gaps);
  cb_system_free(s);
  end(u);
}

/* At the centre of a room in the form of a ball, the wall is equally far in all directions. The gap exists there, and
 * its gradient is 0. */
static void the_middle_of_a_room_has_a_gap(void **state) {
  static const char *const spaces[] = {"e3", "s3", "h3", "h2xe"};
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
    built u = {0};
    cb_system *s;
    cb_gaps *gaps;
    double base[CB_COORD_MAX];
    check_ok(cb_space_create(spaces[i], NULL, &u.g));
    check_ok(cb_builder_create(u.g, &u.b));
    cb_space_base_point(u.g, base);
    check_ok(cb_builder_body(u.b, "a", NULL));
    check_ok(cb_builder_particle(u.b, NULL, 1, 0, 0.2, base, NULL, NULL));
    check_ok(cb_builder_wall_ball(u.b, NULL, -1, base, 1.5, true, 1));
    check_ok(cb_builder_finish(u.b, &s));
    check_ok(cb_gaps_create(s, &gaps));
    const cb_gap gap = {CB_GAP_WALL, 1, {0}, 0, 1};
    const double *x = base, fast = 20, slow = 1, none = 0;
    cb_gap_value value;
    check_ok(cb_gap_eval(gaps, &gap, 0, &x, 1, &value));
    check_near(value.gap, 1.3, 1e-15);
    for (int a = 0; a < u.g->k; a++) check_near(value.gradient[a], 0, 0);
    /* With the speed 1 the particle cannot close the gap in the time 1, so the bound is 0. With the speed 20 it can,
     * and then no bound is known. */
    check_near(cb_gap_second_derivative_bound(gaps, &gap, 0, &x, &slow, &none, 1), 0, 0);
    assert_true(isinf(cb_gap_second_derivative_bound(gaps, &gap, 0, &x, &fast, &none, 1)));
    cb_gaps_free(gaps);
    cb_system_free(s);
    end(u);
  }
}

/* If a particle moves with the speed v across the direction to the centre of a ball, its distance d from the centre has
 * d'' = cot(d) v^2. d'' is negative for d > pi/2. */
static void a_ball_is_met_beyond_a_quarter_turn(void **state) {
  built u = {0};
  cb_system *s;
  cb_gaps *gaps;
  const double d = 2.2, pole[4] = {0, 0, 0, 1}, at[4] = {sin(d), 0, 0, cos(d)}, speed = 0.7, none = 0, *x = at;
  check_ok(cb_space_create("s3", NULL, &u.g));
  check_ok(cb_builder_create(u.g, &u.b));
  check_ok(cb_builder_body(u.b, "a", NULL));
  check_ok(cb_builder_particle(u.b, NULL, 1, 0, 0.2, at, NULL, NULL));
  check_ok(cb_builder_wall_ball(u.b, NULL, -1, pole, 1.7, false, 1));
  check_ok(cb_builder_finish(u.b, &s));
  check_ok(cb_gaps_create(s, &gaps));
  const cb_gap gap = {CB_GAP_WALL, 1, {0}, 0, 1};
  cb_gap_value value;
  check_ok(cb_gap_eval(gaps, &gap, 0, &x, 0, &value));
  check_near(value.gap, d - 1.9, 1e-15);
  check_relative(cb_gap_second_derivative_bound(gaps, &gap, 0, &x, &speed, &none, 0), speed * speed / -tan(d), 1e-14);
  cb_gaps_free(gaps);
  cb_system_free(s);
  end(u);
}

/* A system of twelve coordinates q_i has a wall and an event with the gap s = sum_i (i + 2) q_i^2 + t q_0 - r, whose
 * rates s' and s'' are known. r is the radius of the particle. */
static void walls_and_events_of_configuration_spaces(void **state) {
  enum { N = CB_Q_MAX };
  char text[4096] = "{coordinates: [a, b, c, d, e, f, g, h, i, j, k, l], metric: [";
  for (int i = 0; i < N; i++) {
    strcat(text, i ? ", [" : "[");
    for (int j = 0; j <= i; j++) sprintf(text + strlen(text), "%s%d", j ? ", " : "", i == j ? i + 1 : 0);
    strcat(text, "]");
  }
  strcat(text, "]}");
  cb_tree *tree;
  cb_space *g;
  cb_builder *b;
  cb_system *s;
  cb_gaps *gaps;
  check_ok(cb_yaml_read_text("test", text, strlen(text), &tree));
  check_ok(cb_text_metric_create_system(cb_tree_root(tree), NULL, 0, &g));
  cb_tree_free(tree);
  check_ok(cb_builder_create(g, &b));
  double q[N], v[N], rate = 0, second = 0, speed = 0, value_at = -0.25;
  char formula[512] = "t*a - r";
  for (int i = 0; i < N; i++) {
    q[i] = 0.3 * i - 1;
    v[i] = 0.2 - 0.07 * i;
    sprintf(formula + strlen(formula), " + %d*%s^2", i + 2, g->chart->coordinates[i]);
    value_at += (i + 2) * q[i] * q[i];
    rate += 2 * (i + 2) * q[i] * v[i];
    second += 2 * (i + 2) * v[i] * v[i];
    speed += (i + 1) * v[i] * v[i];
  }
  const double t = 0.5, zero = 0, length = sqrt(speed);
  value_at += t * q[0];
  rate += t * v[0] + q[0];
  second += 2 * v[0];
  check_ok(cb_builder_body(b, "arm", NULL));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0.25, q, NULL, NULL));
  check_error_begins(cb_builder_contacts(b, &elastic), CB_ERROR_UNSUPPORTED, "contacts of particles: ");
  check_error_begins(cb_builder_wall_ball(b, NULL, -1, q, 1, true, 1), CB_ERROR_UNSUPPORTED, "a wall that is a ball: ");
  check_ok(cb_builder_wall_expression(b, "stop", -1, NULL, formula, 1));
  check_ok(cb_builder_event_expression(b, NULL, 0, NULL, formula, CB_EVENT_MARK, CB_EVENT_BOTH));
  check_ok(cb_builder_finish(b, &s));
  check_ok(cb_gaps_create(s, &gaps));
  cb_gap gap[2] = {{CB_GAP_WALL, 1, {0}, 0, 1}};
  cb_gaps_event(gaps, 0, &gap[1]);
  for (int i = 0; i < 2; i++) {
    const double *x = q;
    cb_gap_value value;
    check_ok(cb_gap_eval(gaps, &gap[i], t, &x, 1, &value));
    double sum = value.rate_t;
    for (int a = 0; a < N; a++) sum += value.gradient[a] * v[a];
    check_near(value.gap, value_at, 1e-13);
    check_near(sum, rate, 1e-13);
    const double A = cb_gap_second_derivative_bound(gaps, &gap[i], t, &x, &length, &zero, 0.1);
    check_at_least(A, fabs(second));
    assert_true(isfinite(A));
  }
  cb_gaps_free(gaps);
  cb_system_free(s);
  cb_builder_free(b);
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_cannot_be_is_refused_by_name),
      cmocka_unit_test(planes_lie_in_one_factor_of_spaces_that_have_them),
      cmocka_unit_test(later_switches_of_bodies_go_before_earlier_ones),
      cmocka_unit_test(walls_and_events_keep_what_they_were_given),
      cmocka_unit_test(the_middle_of_a_room_has_a_gap),
      cmocka_unit_test(a_ball_is_met_beyond_a_quarter_turn),
      cmocka_unit_test(walls_and_events_of_configuration_spaces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
