/* Tests of restitution, of accumulating contacts, and of rest. A ball is above a plane in uniform gravity g = 1, with
 * the potential energy m z (mass m, height z). For the restitution e and a fall from the height H, contact n is at the
 * time t_n, v_n is the speed after it, and H_n the height reached after it:
 *
 *   t_1 = sqrt(2 H/g),  v_n = e^n sqrt(2 g H),  H_n = H e^(2 n),
 *   t_n = t_1 (1 + 2 (e + ... + e^(n-1))) < t_1 (1 + e)/(1 - e)
 */
#include "collide.h"

static const double radius = 0.1, height = 0.8;

/* Creates a ball above the plane through 0 with this normal and restitution. The ball has the velocity (0, tangential,
 * 0). */
static void open_fall(collision *k, double mass, const double *normal, double restitution,
                      cb_contact_accumulation accumulation, double tangential) {
  const cb_contact_options options = {.restitution = restitution, .accumulation = accumulation};
  static const double foot[3] = {0, 0, 0};
  double x[3], v[3] = {0, tangential, 0};
  open_collision(k, "e3", &options);
  check_ok(cb_builder_potential(k->c.builder, -1, NULL, "m*z"));
  check_ok(cb_builder_wall_plane(k->c.builder, "floor", -1, foot, normal, restitution));
  for (int i = 0; i < 3; i++) x[i] = (height + radius) * normal[i];
  add_ball(k, mass, radius, x, v);
}

static const double up[3] = {0, 0, 1};

static void a_ball_bounces_to_heights_of_the_square_of_the_restitution(void **unused) {
  static const double e[] = {1, 0.9, 0.7, 0.3};
  static const char *const methods[] = {"lobatto {stages: 4}", "gauss {stages: 2}", "radau_iia {stages: 3}", "rk4"};
  for (int c = 0; c < 4; c++) {
    collision k;
    const double first = sqrt(2 * height), end = e[c] < 0.5 ? 2.3 : 5.5;
    open_fall(&k, 1.7, up, e[c], CB_ACCUMULATION_STOP, 0.3);
    for (int m = 0; m < 4; m++) {
      collide(&k, methods[m], 0.05, end);
      double when = first, flight = 2 * first, speed = first;
      size_t n = 0;
      for (; when < end; n++, flight *= e[c], when += flight) {
        assert_true(n < k.events);
        check_near(k.event[n].time, when, 1e-12);
        check_near(k.event[n].speed_before, -speed, 1e-12);
        check_near(k.event[n].speed_after, e[c] * speed, 1e-12);
        check_near(k.event[n].impulse, 1.7 * (1 + e[c]) * speed, 1e-12);
        speed *= e[c];
      }
      assert_int_equal(k.events, n);
      double x[CB_COORD_MAX], v[CB_COORD_MAX];
      where_is(&k, 0, x, v);
      /* the energy per mass determines the next height */
      check_near(0.5 * v[2] * v[2] + x[2] - radius, 0.5 * speed * speed, 1e-12);
      check_near(x[1], 0.3 * end, 1e-12);
    }
    close_collision(&k);
  }
}

static void contacts_without_end_stop_the_run_by_name(void **unused) {
  static const double steps[] = {0.3, 0.05, 0.01, 0.001};
  const double e = 0.5, done = sqrt(2 * height) * (1 + e) / (1 - e);
  for (int s = 0; s < 4; s++) {
    collision k;
    open_fall(&k, 1, up, e, CB_ACCUMULATION_STOP, 0.3);
    check_ok(prepare(&k, "lobatto {stages: 3}", steps[s], 10));
    if (go_on(&k) != CB_ERROR_CONTACT_ACCUMULATION) fail_msg("%s", cb_error_text());
    const char *at = strstr(cb_error_text(), "with floor at time ");
    if (s == 0) print_message("%s\n", cb_error_text());
    if (!at) fail_msg("%s", cb_error_text());
    check_near(strtod(at + 19, NULL), done, 1e-5); /* the run stops at a contact slightly before the limit */
    close_collision(&k);
  }
}

static void what_rests_lies_still(void **unused) {
  static const double e[] = {0, 0.5, 0.8}, steps[] = {0.1, 0.01};
  for (int c = 0; c < 3; c++)
    for (int s = 0; s < 2; s++) {
      collision k;
      open_fall(&k, 1.3, up, e[c], CB_ACCUMULATION_REST, 0.25);
      collide(&k, "lobatto {stages: 3}", steps[s], 25);
      double x[CB_COORD_MAX], v[CB_COORD_MAX];
      where_is(&k, 0, x, v);
      print_message("e = %g, step %g: gap %.3g, speed %.3g, %zu events\n", e[c], steps[s], x[2] - radius, v[2],
                    k.events);
      check_near(x[2], radius, 1e-9);
      check_near(v[2], 0, 1e-9);
      check_near(x[1], 0.25 * 25, 1e-9); /* there is no friction */
      check_near(v[1], 0.25, 1e-9);
      close_collision(&k);
    }
}

/* On a slope the component of gravity along the slope remains: the distance s down the slope has s'' = g sin(angle),
 * with g = 1. The impulses are along the normal and do not change the motion along the slope. */
static void what_rests_on_a_slope_slides_down_it(void **unused) {
  const double angle = 0.4, normal[3] = {sin(0.4), 0, cos(0.4)}, along[3] = {cos(0.4), 0, -sin(0.4)}, end = 12;
  static const double steps[] = {0.04, 0.02, 0.01};
  for (int s = 0; s < 3; s++) {
    collision k;
    open_fall(&k, 0.6, normal, 0.4, CB_ACCUMULATION_REST, 0);
    collide(&k, "lobatto {stages: 3}", steps[s], end);
    double x[CB_COORD_MAX], v[CB_COORD_MAX], gap = -radius, way = 0, speed = 0;
    where_is(&k, 0, x, v);
    for (int i = 0; i < 3; i++) {
      gap += normal[i] * x[i];
      way += along[i] * x[i];
      speed += along[i] * v[i];
    }
    print_message("step %g: gap %.3g, way off by %.3g, speed by %.3g\n", steps[s], gap,
                  way - 0.5 * sin(angle) * end * end, speed - sin(angle) * end);
    check_near(gap, 0, 1e-9);
    check_near(way, 0.5 * sin(angle) * end * end, 1e-9);
    check_near(speed, sin(angle) * end, 1e-9);
    close_collision(&k);
  }
}

/* A ball of radius r rests in a bowl, the inside of a ball of radius 1. It swings as a pendulum of length 1 - r, with
 * the equation a'' = -(g/(1 - r)) sin(a) for its angle a to the vertical. The gap is corrected at the end of each step,
 * which makes an error of first order in the step. Returns a at t = 3; *gap receives the gap at that time. */
static double swing(double step, double *gap) {
  const cb_contact_options options = {.restitution = 0, .accumulation = CB_ACCUMULATION_REST};
  static const double centre[3] = {0, 0, 0}, still[3] = {0, 0, 0};
  const double length = 1 - radius, x[3] = {length * sin(0.8), 0, -length * cos(0.8)};
  double y[CB_COORD_MAX], v[CB_COORD_MAX];
  collision k;
  open_collision(&k, "e3", &options);
  check_ok(cb_builder_potential(k.c.builder, -1, NULL, "m*z"));
  check_ok(cb_builder_wall_ball(k.c.builder, "bowl", -1, centre, 1, true, 0));
  add_ball(&k, 1.4, radius, x, still);
  collide(&k, "lobatto {stages: 3}", step, 3);
  where_is(&k, 0, y, v);
  *gap = length - sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
  close_collision(&k);
  return atan2(y[0], -y[2]);
}

static void what_rests_in_a_bowl_swings_like_a_pendulum(void **unused) {
  double a = 0.8, rate = 0, gap, last = 0;
  const double g = 1 / (1 - radius), h = 1e-4;
  for (int i = 0; i < 30000; i++) { /* the classical Runge-Kutta method up to t = 3 */
    const double k1 = rate, l1 = -g * sin(a), k2 = rate + h / 2 * l1, l2 = -g * sin(a + h / 2 * k1),
                 k3 = rate + h / 2 * l2, l3 = -g * sin(a + h / 2 * k2), k4 = rate + h * l3, l4 = -g * sin(a + h * k3);
    a += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    rate += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
  }
  for (double step = 0.04; step > 0.004; step /= 2) {
    const double error = fabs(swing(step, &gap) - a);
    print_message("step %g: angle off by %.3g (order %.2f), gap %.3g\n", step, error, last > 0 ? log2(last / error) : 0,
                  gap);
    check_near(gap, 0, 1e-9);
    check_at_most(error, step);
    if (last > 0) check_at_least(log2(last / error), 0.8);
    last = error;
  }
}

/* Three balls, one above the other with gaps between them, fall on a floor. At the end each ball rests on the one below
 * it. */
static void a_stack_comes_to_rest(void **unused) {
  static const double foot[3] = {0, 0, 0}, still[3] = {0, 0, 0}, mass[3] = {1, 0.4, 2.2};
  for (int rule = 0; rule < 2; rule++) {
    const cb_contact_options options = {.restitution = 0.5, .rule = rule, .accumulation = CB_ACCUMULATION_REST};
    collision k;
    open_collision(&k, "e3", &options);
    check_ok(cb_builder_potential(k.c.builder, -1, NULL, "m*z"));
    check_ok(cb_builder_wall_plane(k.c.builder, "floor", -1, foot, up, 0.5));
    for (int b = 0; b < 3; b++) {
      const double x[3] = {0, 0, 0.3 + 0.35 * b};
      add_ball(&k, mass[b], radius, x, still);
    }
    collide(&k, "lobatto {stages: 3}", 0.01, 8);
    for (int b = 0; b < 3; b++) {
      double x[CB_COORD_MAX], v[CB_COORD_MAX];
      where_is(&k, b, x, v);
      print_message("%s: ball %d at %.3g above its place, speed %.3g\n", rule ? "simultaneous" : "sequential", b,
                    x[2] - radius * (2 * b + 1), v[2]);
      check_near(x[2], radius * (2 * b + 1), 1e-9);
      check_near(v[2], 0, 1e-9);
    }
    print_message("%zu events\n", k.events);
    close_collision(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ball_bounces_to_heights_of_the_square_of_the_restitution),
      cmocka_unit_test(contacts_without_end_stop_the_run_by_name),
      cmocka_unit_test(what_rests_lies_still),
      cmocka_unit_test(what_rests_on_a_slope_slides_down_it),
      cmocka_unit_test(what_rests_in_a_bowl_swings_like_a_pendulum),
      cmocka_unit_test(a_stack_comes_to_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
