/* Tests of dry friction and of limits of joints against closed forms. */
#include "joined_bodies.h"

/* Adds a body of this inertia and mass, without weight. */
static void add_simple(joined *s, double inertia, double mass) {
  joined_body *b = &s->body[s->n++];
  double K[6][6] = {{0}};
  for (int i = 0; i < 3; i++) {
    K[i][i] = inertia;
    K[3 + i][3 + i] = mass;
  }
  check_ok(cb_rigid_constant_of((const double(*)[6])K, (double[6]){0}, &b->constant));
  b->problem = (cb_rigid_problem){.self = b, .inertia = joined_inertia, .constant = &b->constant, .exact = true};
}

/* A flywheel of inertia 1 on a spring of stiffness 1 has the friction f and starts at q = 1. It reverses at -(1 - 2 f),
 * 1 - 4 f, .. and rests where the spring is weaker than the friction. */
static void friction_takes_twice_f_from_each_swing(void **unused) {
  (void)unused;
  static const double axis[3] = {0, 0, 1}, right[] = {-.82, .64, -.46, .28, -.10};
  joined s = {.t = 0};
  add_simple(&s, 1, 1);
  cb_joint *j = joined_hold(&s, "hinge", -1, (double[]){0, 0, 0}, axis, 0, (double[]){0, 0, 0}, axis);
  j->stiffness[0] = 1;
  j->friction[0] = .09;
  joined_place(&s, j, (double[]){1}, (double[]){0}, 0);
  joined_start(&s, NULL);
  const double *q = cb_mechanism_q(s.mechanism);
  double before[2] = {1, 1};
  int turns = 0;
  for (int i = 0; i < 20000; i++) {
    check_ok(joined_step(&s, 1e-3, 2));
    if ((before[1] - before[0]) * (*q - before[1]) < 0 && turns < 5)
      check_near(before[1], right[turns++], 1e-5); /* the end of a step is within half a step of the turning point */
    if (*q != before[1]) before[0] = before[1];
    before[1] = *q;
  }
  assert_int_equal(turns, 5);
  check_near(*q, -.08, 2e-4); /* from -.10 the flywheel moves once more, to .10 - 2 f = -.08, and rests there */
  check_near(cb_mechanism_rates(s.mechanism)[0], 0, 1e-15);
  const double lost = cb_mechanism_work(s.mechanism, CB_JOINT_WORK_DAMPING)[0];
  check_near(lost, (*q * *q - 1) / 2, 2e-11); /* round-off of 2e4 steps */
  cb_mechanism_free(s.mechanism);
}

/* Two carriages on slides with friction, the second one on the first. A spring pulls the first one. The second one
 * slips, because its friction is too small to accelerate it with the first one. */
static void frictions_of_several_joints_are_found_together(void **unused) {
  (void)unused;
  static const double axis[3] = {0, 0, 1};
  joined s = {.t = 0};
  add_simple(&s, 1, 2);
  add_simple(&s, 1, 3);
  cb_joint *a = joined_hold(&s, "slide", -1, (double[]){0, 0, 0}, axis, 0, (double[]){0, 0, 0}, axis);
  cb_joint *b = joined_hold(&s, "slide", 0, (double[]){0, 0, 1}, axis, 1, (double[]){0, 0, 0}, axis);
  a->friction[0] = 1;
  a->stiffness[0] = 10;
  b->friction[0] = 2;
  joined_place(&s, a, (double[]){1}, (double[]){0}, 0);
  joined_place(&s, b, (double[]){0}, (double[]){0}, 0);
  joined_start(&s, NULL);
  const double *q = cb_mechanism_q(s.mechanism);
  /* The spring pulls with 10 and the friction of joint a is 1, so the force 9 acts on the two carriages, whose masses
   * are 2 and 3. To move with the first carriage, the second one needs the force 3 * 9/5 = 5.4. This is more than the
   * friction 2 of joint b. So the second carriage slips, and q_a'' = -(10 q_a - 1 - 2)/2. */
  const double t = .2, w = sqrt(5);
  for (int i = 0; i < 200; i++) check_ok(joined_step(&s, 1e-3, 2));
  check_near(q[0], .3 + .7 * cos(w * t), 1e-6);
  /* the second carriage is at z = q_a + q_b in the world, with z'' = -2/3 */
  check_near(q[0] + q[1] - 1, -t * t / 3, 1e-6);
  cb_mechanism_free(s.mechanism);
}

/* Adds the force of a motor along a slide. After t = .5 it lifts a weight, which rests on the lower limit of the slide
 * until then. */
static void lift(void *self, double t, const double *q, const double *rate, cb_joint_force *force) {
  (void)self;
  (void)q;
  (void)rate;
  force[0].Q += t > .5 ? 12 : 0;
}

static void limit_holds_what_presses_on_it_and_lets_it_go(void **unused) {
  (void)unused;
  static const double axis[3] = {0, 0, 1};
  const cb_mechanism_laws laws = {.motors = lift};
  joined s = {.t = 0};
  add_simple(&s, 1, 1);
  s.body[0].weight[2] = -10;
  s.body[0].problem.wrench = joined_wrench;
  s.body[0].problem.pose_derivative = joined_derivative;
  cb_joint *j = joined_hold(&s, "slide", -1, (double[]){0, 0, 0}, axis, 0, (double[]){0, 0, 0}, axis);
  j->limit[0][0] = 0;
  j->limit[0][1] = 10;
  joined_place(&s, j, (double[]){0}, (double[]){0}, 0);
  joined_start(&s, &laws);
  for (int i = 0; i < 500; i++) {
    check_ok(joined_step(&s, 1e-3, 2));
    check_near(cb_mechanism_q(s.mechanism)[0], 0, 1e-15);
  }
  for (int i = 0; i < 500; i++) check_ok(joined_step(&s, 1e-3, 2));
  /* For the last t = .5, up to one step, the motor lifts the body of mass 1 with the force 12 against its weight 10. So
   * q = (12 - 10)/2 t^2. */
  check_near(cb_mechanism_q(s.mechanism)[0], .25, 1e-3);
  cb_mechanism_free(s.mechanism);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(friction_takes_twice_f_from_each_swing),
                                     cmocka_unit_test(frictions_of_several_joints_are_found_together),
                                     cmocka_unit_test(limit_holds_what_presses_on_it_and_lets_it_go)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
