/* Tests of contacts of free balls. Several balls, with several contacts each, are compared with an event-driven
 * simulation on closed-form geodesics (geodesic_balls.h). No contact is missed, for any speeds and steps. */
#include "collide.h"
#include "geodesic_balls.h"

typedef struct scene {
  collision k;
  oracle o;
} scene;

static void open_scene(scene *s, const char *space, double room, const cb_contact_options *options) {
  memset(s, 0, sizeof *s);
  open_collision(&s->k, space, options);
  s->o.g = s->k.c.g;
  s->o.room = room;
  cb_space_base_point(s->k.c.g, s->o.centre);
  if (room > 0) check_ok(cb_builder_wall_ball(s->k.c.builder, "room", -1, s->o.centre, room, true, 1));
}

static void put(scene *s, double mass, double radius, const double *x, const double *v) {
  oracle *o = &s->o;
  o->mass[o->n] = mass;
  o->radius[o->n] = radius;
  memcpy(o->x[o->n], x, sizeof o->x[0]);
  memcpy(o->v[o->n], v, sizeof o->v[0]);
  o->n++;
  add_ball(&s->k, mass, radius, x, v);
}

/* Adds n random balls that do not touch. Only components along the axes i with axes[i] = 1 are not 0, for positions in
 * the frame at the base point, and for velocities in the frame at the position of the ball. These components are at
 * most `reach` and `speed`. Radii are at most `biggest`; masses and radii are equal unless `unequal` is set. */
static void put_random(scene *s, int n, const int *axes, bool unequal, double reach, double speed, double biggest,
                       uint64_t *seed) {
  const cb_space *g = s->k.c.g;
  for (int b = 0; b < n; b++) {
    const double radius = unequal ? biggest * check_uniform(seed, 0.4, 1) : biggest;
    double x[CB_COORD_MAX] = {0}, v[CB_COORD_MAX] = {0};
    bool clear = false;
    while (!clear) {
      double c[CB_DIM_MAX];
      for (int i = 0; i < g->dim; i++) c[i] = axes[i] ? check_uniform(seed, -reach, reach) : 0;
      check_point_at(g, c, x);
      clear = s->o.room <= 0 || oracle_distance(&s->o, x, s->o.centre, NULL) < 0.95 * (s->o.room - radius);
      for (int j = 0; j < b; j++)
        clear = clear && oracle_distance(&s->o, x, s->o.x[j], NULL) > 1.05 * (radius + s->o.radius[j]);
    }
    double c[CB_DIM_MAX];
    for (int i = 0; i < g->dim; i++) c[i] = axes[i] ? check_uniform(seed, -speed, speed) : 0;
    check_vector_at(g, x, c, v);
    put(s, unequal ? exp(check_uniform(seed, -1, 1)) : 1, radius, x, v);
  }
}

/* Compares the run with the reference: finds the maximum differences of contact times, and of positions and velocities
 * at the end. Returns false if the contacts are not the same in the same order. */
static bool compare(scene *s, const char *method, double step, double end, double *time, double *place) {
  oracle o = s->o;
  collide(&s->k, method, step, end);
  oracle_run(&o, end);
  *time = *place = 0;
  int n = 0;
  for (size_t e = 0; e < s->k.events; e++) {
    const cb_event_row *row = &s->k.event[e];
    if (row->kind != 0) continue;
    const int with = row->wall < 0 ? row->other : -2 - row->wall; /* walls have the numbers -2, -3, ..., as in the
                                                                   * reference */
    if (n >= o.contacts || row->particle != o.i[n] || with != o.j[n]) {
      print_error("contact %d: %d with %d at %.17g, expected %d with %d at %.17g\n", n, row->particle, with, row->time,
                  n < o.contacts ? o.i[n] : -9, n < o.contacts ? o.j[n] : -9, n < o.contacts ? o.time[n] : NAN);
      return false;
    }
    *time = fmax(*time, fabs(row->time - o.time[n]));
    n++;
  }
  if (n != o.contacts) {
    print_error("%d contacts, expected %d; the next %d with %d at %.17g\n", n, o.contacts, o.i[n], o.j[n], o.time[n]);
    return false;
  }
  for (int b = 0; b < o.n; b++) {
    double x[CB_COORD_MAX], v[CB_COORD_MAX];
    where_is(&s->k, b, x, v);
    *place = fmax(*place,
                  fmax(check_distance_max(o.g->embedding, x, o.x[b]), check_distance_max(o.g->embedding, v, o.v[b])));
  }
  return true;
}

/* Four balls in each space, with equal and unequal masses, are in one of two kinds of totally geodesic surfaces or in
 * general position. In H2xE the surfaces are H2, and a geodesic of H2 times E. Each run ends between two late contacts.
 * Errors grow about five times with each contact, and more over the long distances between the contacts of few balls in
 * a sphere. */
static void generic_balls_meet_when_and_where_geodesics_say(void **unused) {
  static const struct {
    const char *space;
    double room;
    int contacts;
  } cases[] = {{"e3", 1.8, 6},
               {"s3", 0, 3},
               {"s3", 1.4, 6},
               {"h3", 1.6, 6},
               {"h2xe", 1.7, 6},
               {"s3 {curvature: 2.5}", 0, 3},
               {"h3 {curvature: -0.3}", 1.8, 6}};
  static const int axes[3][CB_DIM_MAX] = {{1, 1, 0}, {1, 0, 1}, {1, 1, 1}};
  uint64_t seed = check_seed();
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int kind = 0; kind < 6; kind++) {
      scene s;
      double time, place;
      open_scene(&s, cases[c].space, cases[c].room, NULL);
      put_random(&s, 4, axes[kind / 2], kind % 2, 1.1, 0.9, 0.25, &seed);
      oracle o = s.o;
      const int last = cases[c].contacts;
      for (double t = 1; o.contacts <= last; t += 1) oracle_run(&o, t);
      const double end = (o.time[last - 1] + o.time[last]) / 2;
      const bool same = compare(&s, "lobatto {stages: 4}", 0.01, end, &time, &place);
      if (getenv("CB_TEST_SHOW"))
        print_message("%-22s %d: %zu contacts by t = %g, times %.3g, places %.3g\n", cases[c].space, kind, s.k.events,
                      end, time, place);
      assert_true(same);
      check_at_most(time, 1e-12);
      check_at_most(place, 1e-11);
      close_collision(&s.k);
    }
}

/* Creates two balls that pass each other within three times the sum of their radii. The step is random, and may be many
 * radii long, but short enough for the integrator: at most about one unit of length. */
static void open_passing(scene *s, const char *space, double *end, double *step, uint64_t *seed) {
  const double speed = pow(10, check_uniform(seed, -1, 1.3)), radius = pow(10, check_uniform(seed, -2, -0.5));
  open_scene(s, space, 0, NULL);
  const cb_space *g = s->k.c.g;
  const double r[2] = {radius, radius * check_uniform(seed, 0.2, 1)};
  double x[2][CB_COORD_MAX] = {{0}}, v[2][CB_COORD_MAX] = {{0}};
  *end = check_uniform(seed, 0.5, 1.2) / speed;
  do {
    double place[CB_DIM_MAX], other[CB_DIM_MAX], w[CB_DIM_MAX];
    const double when = *end * check_uniform(seed, 0.05, 0.95);
    for (int i = 0; i < g->dim; i++) {
      place[i] = check_uniform(seed, -0.3, 0.3);
      other[i] = place[i] + check_uniform(seed, -1.5, 1.5) * (r[0] + r[1]);
    }
    for (int b = 0; b < 2; b++) {
      for (int i = 0; i < g->dim; i++) w[i] = check_uniform(seed, -speed, speed);
      check_point_at(g, b ? other : place, x[b]);
      check_vector_at(g, x[b], w, v[b]);
      oracle_move(&s->o, x[b], v[b], -when, x[b], v[b]);
    }
  } while (oracle_distance(&s->o, x[0], x[1], NULL) < 1.01 * (r[0] + r[1]));
  *step = fmin(*end, 0.6 / speed) / pow(10, check_uniform(seed, 0, 2));
  for (int b = 0; b < 2; b++) put(s, exp(check_uniform(seed, -2, 2)), r[b], x[b], v[b]);
}

static void no_contact_of_a_pair_is_missed_at_any_speed_and_step(void **unused) {
  static const char *const spaces[] = {"e3", "s3", "h3", "h2xe"};
  const int trials = CHECK_SANITIZED ? 40 : 500;
  uint64_t seed = check_seed();
  for (int c = 0; c < 4; c++) {
    int met = 0;
    double worst = 0;
    for (int trial = 0; trial < trials; trial++) {
      scene s;
      double time, place, end, step;
      open_passing(&s, spaces[c], &end, &step, &seed);
      const bool same = compare(&s, "gauss {stages: 8}", step, end, &time, &place);
      time /= end;
      if (!same || !(time <= 1e-12))
        print_error("%s, pair %d: radii %g and %g, step %g of %g: %zu events, times %g\n", spaces[c], trial,
                    s.o.radius[0], s.o.radius[1], step, end, s.k.events, time);
      assert_true(same);
      met += s.k.events > 0;
      worst = fmax(worst, time);
      close_collision(&s.k);
    }
    if (getenv("CB_TEST_SHOW")) print_message("%s: %d of %d met, times %.3g\n", spaces[c], met, trials, worst);
    assert_true(met > trials / 5 && met < trials);
    check_at_most(worst, 1e-12);
  }
}

/* The impact parameters differ from the sum R of the radii by 1e-10 to 1e-3 of R, in either direction. If the balls
 * would overlap by the depth e, their distance decreases at the contact only at sqrt(2 e/R) of the relative speed, so
 * that round-off of positions affects the times. */
static void grazing_balls_meet_or_pass_as_the_closed_form_says(void **unused) {
  static const double R = 0.5;
  static const char *const spaces[] = {"e3", "s3", "h3"};
  for (int c = 0; c < 3; c++)
    for (int exponent = -10; exponent <= -3; exponent++)
      for (int side = -1; side <= 1; side += 2) {
        scene s;
        const double depth = R * pow(10, exponent), b = R + side * depth, when = 0.37, sums[3] = {0, b, 0},
                     w[3] = {1, 0, 0}, origin[3] = {0, 0, 0}, none[3] = {0, 0, 0};
        double x[2][CB_COORD_MAX] = {{0}}, v[2][CB_COORD_MAX] = {{0}}, time, place;
        open_scene(&s, spaces[c], 0, NULL);
        const cb_space *g = s.k.c.g;
        check_point_at(g, origin, x[0]);
        check_vector_at(g, x[0], none, v[0]);
        check_point_at(g, sums,
                       /* the point of minimum distance, where the velocity is perpendicular to the line of centres */
                       x[1]);
        check_vector_at(g, x[1], w, v[1]);
        oracle_move(&s.o, x[1], v[1], -when, x[1], v[1]);
        put(&s, 1, 0.2, x[0], v[0]);
        put(&s, 2.3, 0.3, x[1], v[1]);
        /* Let b be the minimum distance of the centres, and R the sum of the radii. The length s of the path from the
         * contact to the minimum distance satisfies cos b cos s = cos R in S3, and cosh b cosh s = cosh R in H3. */
        const double miss = c == 0   ? sqrt(fmax(0, R * R - b * b))
                            : c == 1 ? acos(fmin(1, cos(R) / cos(b)))
                                     : acosh(fmax(1, cosh(R) / cosh(b)));
        const bool same = compare(&s, "gauss {stages: 6}", 0.05, 0.8, &time, &place);
        const double tolerance = 1e-15 / sqrt(2 * depth) * 20 + 1e-14;
        if (!same || s.k.events != (side < 0))
          print_error("%s: 1e%d, side %d: %zu\n", spaces[c], exponent, side, s.k.events);
        assert_int_equal(s.k.events, side < 0);
        assert_true(same);
        if (getenv("CB_TEST_SHOW") && side < 0)
          print_message("%s 1e%d: %.3g, allowed %.3g\n", spaces[c], exponent, fabs(s.k.event[0].time - (when - miss)),
                        tolerance);
        if (side < 0 && exponent >= -8) check_near(s.k.event[0].time, when - miss, 1e-16 / depth * 10 + tolerance);
        if (side < 0) check_at_most(time, tolerance);
        close_collision(&s.k);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generic_balls_meet_when_and_where_geodesics_say),
      cmocka_unit_test(no_contact_of_a_pair_is_missed_at_any_speed_and_step),
      cmocka_unit_test(grazing_balls_meet_or_pass_as_the_closed_form_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
