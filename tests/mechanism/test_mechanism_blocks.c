/* Tests of steps that compute bodies and hinges four at a time. They give the same motion as one body at a time, and
 * the same bytes for all instruction sets. Bodies whose load is not declared as dead are computed one at a time, which
 * is the reference. */
#include "core/threads.h"
#include "random_joints.h"

enum { LINKS = 11 }; /* two blocks of four bodies, and a block of three bodies that is filled with a copy of one */

/* Returns the constant inertia K and the constant momentum mu0 of a moving shape. */
static cb_status constant_inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  const joined_body *b = self;
  (void)t;
  (void)g;
  memcpy(K, b->constant.K, sizeof b->constant.K);
  memcpy(mu0, b->constant.mu0, sizeof b->constant.mu0);
  return CB_OK;
}

/* Makes a tree of hinges with springs and dampers. The axes are skew, some bodies hang on the same body, and the third
 * body has an inertia that is not diagonal. */
static void start_tree(joined *s, int links, bool one_at_a_time) {
  *s = (joined){.t = 0};
  for (int i = 0; i < links; i++) {
    const double r[3] = {.3, .1 + .01 * i, .2}, axis[3] = {.3, 1, .1 * i}, q = .2 + .05 * i, rate = .7 - .2 * i;
    joined_add(s, r, 1000, i % 3 ? 0 : 700, i % 4 == 3 ? 0 : -9.81);
    joined_body *b = &s->body[i];
    if (i == 2) {
      double K[6][6];
      memcpy(K, b->constant.K, sizeof K);
      K[0][1] = K[1][0] = .1 * K[1][1];
      K[0][5] = K[5][0] = .2 * K[0][0];
      K[3][4] = K[4][3] = .1 * K[3][3];
      check_ok(cb_rigid_constant_of((const double(*)[6])K, (double[6]){.1, .2, .3, 1, 2, 3}, &b->constant));
    }
    b->problem.inertia = constant_inertia;
    b->problem.dead_load = !one_at_a_time;
    cb_joint *j = joined_hold(s, "hinge", i < 3 ? i - 1 : i - 2, (double[]){i ? .3 : 0, .05, 0}, axis, i,
                              (double[]){-.3, 0, .1}, (double[]){0, 1, .2});
    j->stiffness[0] = 20 * (i % 2);
    j->damping[0] = i % 3;
    j->armature[0] = .1 * (i % 2);
    joined_place(s, j, &q, &rate, 0);
  }
  joined_start(s, NULL);
}

static void run(joined *s, int steps, int order) {
  for (int i = 0; i < steps; i++) check_ok(joined_step(s, .002, order));
}

/* Makes damped steps, in which the complete load acts at the first node of the step. */
static void run_damped(joined *s, int steps) {
  for (int i = 0; i < steps; i++) {
    const cb_mechanism_step step = {CB_SE3_CAYLEY, true, s->t, .002};
    int failed, iterations;
    for (int b = 0; b < s->n; b++) s->state[b].t = s->t;
    check_ok(cb_mechanism_drift(s->mechanism, &s->bodies, &step, &failed, &iterations));
    s->t += step.h;
    check_ok(cb_mechanism_settle(s->mechanism, &s->bodies, s->t, &failed));
  }
}

static double difference(int n, const double *a, const double *b) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

/* Returns the largest difference between the states of a and b: coordinates and rates of the joints; poses, twists and
 * momenta of the bodies; and the work of their wrenches. */
static double compare(const joined *a, const joined *b) {
  double worst = difference(LINKS, cb_mechanism_q(a->mechanism), cb_mechanism_q(b->mechanism));
  worst = fmax(worst, difference(LINKS, cb_mechanism_rates(a->mechanism), cb_mechanism_rates(b->mechanism)));
  for (int i = 0; i < LINKS; i++) {
    const cb_rigid_state *s = &a->state[i], *o = &b->state[i];
    const double mass = b->body[i].constant.K[3][3];
    worst = fmax(worst, fmax(difference(3, s->g.x, o->g.x), difference(4, s->g.q, o->g.q)));
    worst = fmax(worst, fmax(difference(6, s->Y, o->Y), difference(1, &s->turn, &o->turn)));
    worst = fmax(worst, difference(6, s->momentum, o->momentum) / mass);
    worst = fmax(worst, difference(6, s->mu, o->mu) / mass);
    worst =
        fmax(worst, fabs(cb_mechanism_wrench_work(a->mechanism, i) - cb_mechanism_wrench_work(b->mechanism, i)) / mass);
  }
  return worst;
}

/* A tree that is computed in blocks moves like the same tree that is computed one body at a time, up to round-off. */
static void blocks_move_as_single_bodies_do(void **unused) {
  (void)unused;
  for (int kind = 0; kind < 3; kind++) {
    joined blocks, single;
    start_tree(&blocks, LINKS, false);
    start_tree(&single, LINKS, true);
    for (int i = 0; i < 2; i++) {
      joined *s = i ? &single : &blocks;
      if (kind < 2)
        run(s, 100, 2 + 2 * kind);
      else
        run_damped(s, 100);
    }
    const double worst = compare(&blocks, &single);
    print_message("difference %.2g\n", worst);
    check_at_most(worst, 1e-11); /* round-off of 100 steps, which the motion amplifies; measured: 3e-12 */
    cb_mechanism_free(blocks.mechanism);
    cb_mechanism_free(single.mechanism);
  }
}

/* Starts case `number`. The first cases are trees of 1 to LINKS hinges, so that the last block has every number of
 * copies. The others are trees of joints of all kinds. */
static void start_case(int number, joined *s) {
  uint64_t seed = 1234567 + (uint64_t)number;
  if (number < LINKS) {
    start_tree(s, number + 1, false);
    return;
  }
  random_tree(&seed, s, 7, number % 3 == 0, number % 2, number % 4 == 1);
  joined_start(s, NULL);
}

static void all_instruction_sets_give_the_same_bytes(void **unused) {
  (void)unused;
  for (int number = 0; number < LINKS + 20; number++)
    for (const char *const *isa = (const char *const[]){"avx2", "avx512", NULL}; *isa; isa++) {
      joined base, other;
      int count;
      check_ok(cb_isa_set(CB_ISA_BASE)); /* a mechanism uses the instruction set that is chosen when it is created */
      start_case(number, &base);
      run(&base, 20, 2);
      if (!cb_isa_set(*isa)) {
        start_case(number, &other);
        run(&other, 20, 2);
        const double *own = cb_mechanism_state(base.mechanism, &count);
        assert_memory_equal(own, cb_mechanism_state(other.mechanism, &count), (size_t)count * sizeof *own);
        for (int i = 0; i < base.n; i++) assert_memory_equal(&base.state[i], &other.state[i], sizeof base.state[i]);
        cb_mechanism_free(other.mechanism);
      }
      check_ok(cb_isa_set("auto"));
      cb_mechanism_free(base.mechanism);
    }
}

/* At the start the angle of a hinge agrees with the pose of its body, in all quadrants and beyond a complete turn. */
static void angles_of_hinges_are_those_of_the_poses(void **unused) {
  (void)unused;
  for (int i = -40; i <= 40; i++) {
    joined s = {.t = 0};
    const double q = i * .157, rate = 0, axis[3] = {1, 2, 3};
    joined_add(&s, (double[]){.3, .2, .1}, 1000, 0, 0);
    cb_joint *j = joined_hold(&s, "hinge", -1, (double[]){1, 2, 3}, axis, 0, (double[]){.1, .2, .3}, axis);
    joined_place(&s, j, &q, &rate, 0);
    joined_start(&s, NULL);
    /* The angle agrees up to multiples of 2 pi, because the pose does not contain the number of turns. The tolerance is
     * about twice 2 pi 2^-52 = 1.4e-15. */
    check_at_most(fabs(remainder(cb_mechanism_q(s.mechanism)[0] - q, 6.283185307179586476925)), 3e-15);
    cb_mechanism_free(s.mechanism);
  }
}

static void whole_turns_of_hinges_are_counted(void **unused) {
  (void)unused;
  joined s = {.t = 0};
  const double q = .1, rate = 17, axis[3] = {1, 2, 3};
  joined_add(&s, (double[]){.3, .3, .3}, 1000, 0, 0); /* a ball on an axis through its centre turns uniformly */
  cb_joint *j = joined_hold(&s, "hinge", -1, (double[]){1, 2, 3}, axis, 0, (double[]){0, 0, 0}, axis);
  joined_place(&s, j, &q, &rate, 0);
  joined_start(&s, NULL);
  for (int i = 0; i < 200; i++) check_ok(joined_step(&s, .02, 2));
  /* With Cayley's map a step of length h turns the body by 2 atan(h w/2), where w is the rate in the middle of the step.
   * The rate at the nodes is (1 + (h w/2)^2) w. */
  double w = rate;
  for (int i = 0; i < 60; i++) w = rate / (1 + .01 * .01 * w * w);
  check_near(cb_mechanism_q(s.mechanism)[0], q + 400 * atan(.01 * w), 1e-12); /* round-off of 200 steps */
  check_near(s.state[0].turn, .02 * rate, 1e-13); /* `turn` is the step times the spin at the node */
  cb_mechanism_free(s.mechanism);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_move_as_single_bodies_do),
      cmocka_unit_test(all_instruction_sets_give_the_same_bytes),
      cmocka_unit_test(angles_of_hinges_are_those_of_the_poses),
      cmocka_unit_test(whole_turns_of_hinges_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
