/* Tests of several simultaneous contacts, by the sequential and the simultaneous rule, in cases with known results:
 * Newton's cradle, plastic collisions, a ball that hits two others, and a light ball between heavy ones.
 */
#include "reflect.h"

/* Reflects five balls of mass 1 on a geodesic, each in contact with the next. The first ball arrives with speed 1; the
 * second and fourth have the speed `noise`. Writes the five speeds along the geodesic after the reflection. */
static void cradle(const char *space, cb_contact_rule rule, double restitution, double noise, double *speed) {
  body_case c;
  cb_reflection *r;
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], unit[5][CB_COORD_MAX];
  open_space(&c, space);
  cb_space_base_point(c.g, base);
  cb_space_frame(c.g, base, frame);
  for (int a = 0; a < 5; a++) {
    double x[CB_COORD_MAX], v[CB_COORD_MAX], way[CB_COORD_MAX];
    for (int i = 0; i < c.g->k; i++) way[i] = 0.4 * (a - 1.7) * (0.6 * frame[i] + 0.8 * frame[c.g->k + i]);
    cb_exp(c.g, base, way, x, unit[a]);
    for (int i = 0; i < c.g->k; i++) {
      unit[a][i] /= 0.4 * (a - 1.7);
      v[i] = (a == 0 ? 1 : a % 2 ? noise : 0) * unit[a][i];
    }
    add_particle(&c, 1, x, v);
  }
  finish_system(&c);
  check_ok(cb_reflection_create(c.system, &r));
  cb_reflection_contact contact[4];
  for (int a = 0; a < 4; a++) contact[a] = spheres(&c, a, a + 1, restitution, 1);
  const cb_reflection_part part = whole(&c, NULL);
  check_ok(cb_reflect(r, rule, 0, 1, &part, 4, contact));
  for (int a = 0; a < 5; a++) speed[a] = cb_inner(c.g, unit[a], c.state->p + cb_system_index(c.system, a) * c.g->k);
  cb_reflection_free(r);
  close_case(&c);
}

static const char *const lines[] = {"e3", "s3", "h3"};

static void the_cradle_passes_the_blow_through_by_the_sequential_rule(void **state) {
  for (int s = 0; s < 3; s++) {
    double speed[5];
    cradle(lines[s], CB_CONTACT_SEQUENTIAL, 1, 0, speed);
    for (int a = 0; a < 4; a++) check_near(speed[a], 0, 2e-15);
    check_near(speed[4], 1, 2e-15);
  }
}

/* The impulses l change the rates of the four contacts by D l, where D is the tridiagonal matrix (-1, 2, -1). They
 * solve D l = (2, 0, 0, 0): l_j = 2 (5 - j)/5 for j = 1 to 4. Balls at rest may also have speeds of 1e-13, as round-off
 * in an integrator leaves them; all contacts still act. */
static void all_balls_of_the_cradle_move_by_the_simultaneous_rule(void **state) {
  for (int s = 0; s < 3; s++)
    for (int noisy = 0; noisy < 3; noisy++) {
      double speed[5];
      cradle(lines[s], CB_CONTACT_SIMULTANEOUS, 1, (noisy - 1) * 1e-13, speed);
      check_near(speed[0], -0.6, noisy == 1 ? 2e-15 : 1e-12);
      for (int a = 1; a < 5; a++) check_near(speed[a], 0.4, noisy == 1 ? 2e-15 : 1e-12);
    }
}

static void plastic_balls_go_on_together_by_either_rule(void **state) {
  for (int s = 0; s < 3; s++)
    for (int rule = 0; rule < 2; rule++) {
      double speed[5];
      cradle(lines[s], (cb_contact_rule)rule, 0, 0, speed);
      /* The sequential rule repeats impulses, which decrease in a geometric sequence, until speeds differ only by
       * round-off. */
      for (int a = 0; a < 5; a++) check_near(speed[a], 0.2, rule ? 1e-15 : 1e-13);
    }
}

/* Ball 0, the cue ball, moves along x towards balls 1 and 2, which touch each other. `swapped` exchanges the places of
 * balls 1 and 2. Writes the velocities after the reflection. */
static void three_balls(cb_contact_rule rule, bool swapped, double v[3][2]) {
  const double s = sqrt(0.75), x[3][2] = {{0, 0}, {s, swapped ? -0.5 : 0.5}, {s, swapped ? 0.5 : -0.5}},
               start[3][2] = {{1, 0}};
  body_case c;
  cb_reflection *r;
  double w[MOST];
  open_balls(&c, "e2", 3, NULL, &x[0][0], &start[0][0]);
  check_ok(cb_reflection_create(c.system, &r));
  cb_reflection_contact contact[3] = {spheres(&c, 1, 2, 1, 1), spheres(&c, 0, 2, 1, 1), spheres(&c, 0, 1, 1, 1)};
  const cb_reflection_part part = whole(&c, NULL);
  check_ok(cb_reflect(r, rule, 0, 1, &part, 3, contact));
  velocities(&c, w);
  for (int a = 0; a < 3; a++) memcpy(v[a], w + 2 * cb_system_index(c.system, a), sizeof v[a]);
  cb_reflection_free(r);
  close_case(&c);
}

/* The impulses l between the cue ball and the two others change the rates of these contacts by D l, where D has the
 * rows (2, 1/2) and (1/2, 2). They solve D l = (sqrt 3, sqrt 3), so both impulses are 2 sqrt(3)/5. */
static void the_simultaneous_break_keeps_its_mirror(void **state) {
  double v[3][2];
  three_balls(CB_CONTACT_SIMULTANEOUS, false, v);
  const double l = 2 * sqrt(3) / 5, expected[3][2] = {{-0.2, 0}, {0.6, l / 2}, {0.6, -l / 2}};
  for (int a = 0; a < 6; a++) check_near(((double *)v)[a], ((const double *)expected)[a], 1e-15);
}

/* The cue ball first hits ball 1, which gets the speed sqrt(3)/2 along the line of the two centres. Then the cue ball
 * hits ball 2, which gets half of that speed. */
static void the_sequential_break_loses_its_mirror(void **state) {
  double v[3][2];
  const double s = sqrt(3), expected[3][2] = {{-0.125, -s / 8}, {0.75, s / 4}, {0.375, -s / 8}};
  for (int swapped = 0; swapped < 2; swapped++) {
    three_balls(CB_CONTACT_SEQUENTIAL, swapped, v);
    for (int a = 0; a < 3; a++) {
      check_near(v[a][0], expected[a][0], 1e-15);
      check_near(v[a][1], swapped ? -expected[a][1] : expected[a][1], 1e-15);
    }
  }
}

/* A light ball of mass m moves back and forth between two balls of mass M. It receives about
 * pi/asin(sqrt(m (2M + m))/(M + m)) impulses, here 2221. */
static void a_light_ball_between_heavy_ones_comes_to_an_end(void **state) {
  const double mass[3] = {1e3, 1e-3, 1e3}, x[3] = {0, 1, 2}, v[3] = {1, 0, -1};
  for (int rule = 0; rule < 2; rule++) {
    body_case c;
    cb_reflection *r;
    double y[9] = {0}, start[9] = {0};
    for (int a = 0; a < 3; a++) {
      y[3 * a] = x[a];
      start[3 * a] = v[a];
    }
    start[4] = 0.5;
    open_balls(&c, "e3", 3, mass, y, start);
    check_ok(cb_reflection_create(c.system, &r));
    cb_reflection_contact contact[2] = {spheres(&c, 0, 1, 1, 1), spheres(&c, 1, 2, 1, 1)};
    const double T = kinetic(&c);
    const cb_reflection_part part = whole(&c, NULL);
    check_ok(cb_reflect(r, (cb_contact_rule)rule, 0, 1, &part, 2, contact));
    check_relative(kinetic(&c), T, rule ? 1e-15 : 1e-12); /* the sequential rule applies thousands of impulses */
    for (int a = 0; a < 2; a++) check_at_least(contact[a].after, -1e-12);
    cb_reflection_free(r);
    close_case(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_cradle_passes_the_blow_through_by_the_sequential_rule),
      cmocka_unit_test(all_balls_of_the_cradle_move_by_the_simultaneous_rule),
      cmocka_unit_test(plastic_balls_go_on_together_by_either_rule),
      cmocka_unit_test(the_simultaneous_break_keeps_its_mirror),
      cmocka_unit_test(the_sequential_break_loses_its_mirror),
      cmocka_unit_test(a_light_ball_between_heavy_ones_comes_to_an_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
