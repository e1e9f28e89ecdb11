/* Tests of joined bodies against independent equations in maximal coordinates (mechanism_reference.h). Steps have order
 * 2, and composed steps order 4, for every kind of joint and for both orders of its bodies. */
#include "joined_reference.h"
#include "random_joints.h"

enum { PARTS = 3 };
static const double END = .5;

/* A test case: a chain of n bodies. Joint i, of the class kind[i], joins body i to body i - 1, or to the world if i is
 * 0. side[i] says whether body i is the first (0) or the second body (1) of joint i. */
typedef struct chain {
  const char *name;
  int n;
  const char *kind[PARTS];
  int side[PARTS];
  bool free;        /* the first body moves freely, and kind[0] is not used */
  const char *loop; /* kind of a joint that closes a loop between the first and the last body; NULL: none */
  int driven;       /* the coordinate of joint 1 that follows the law; -1: none */
} chain;

static double law(double t, int derivative) {
  const double w = 3, a = .4;
  return derivative == 0 ? .2 + a * sin(w * t) : derivative == 1 ? a * w * cos(w * t) : -a * w * w * sin(w * t);
}

typedef struct drive {
  int coordinate;
} drive;

static void follow(void *self, double t, double *q, double *rate) {
  const drive *d = self;
  q[d->coordinate] = law(t, 0);
  rate[d->coordinate] = law(t, 1);
}

static void start(const chain *c, joined *s, drive *d, uint64_t seed) {
  *s = (joined){.t = 0};
  d->coordinate = -1;
  for (int b = 0, at = 0; b < c->n; b++) {
    random_body(&seed, s, -2);
    if (b == 0 && c->free) {
      random_place(&seed, s, 0);
      continue;
    }
    double q[6], rate[6];
    cb_joint *j = random_joint_of(&seed, s, c->kind[b], b - 1, b, c->side[b]);
    random_springs(&seed, j, true);
    for (int i = 0; i < 6; i++) {
      q[i] = check_uniform(&seed, -.5, .5);
      rate[i] = check_uniform(&seed, -.6, .6);
    }
    if (b == 1 && c->driven >= 0) {
      d->coordinate = at + c->driven;
      j->driven[c->driven] = true;
      j->armature[c->driven] = j->stiffness[c->driven] = j->damping[c->driven] = 0;
      q[c->driven] = law(0, 0);
      rate[c->driven] = law(0, 1);
    }
    joined_hang(s, j, c->side[b], q, rate);
    at += cb_joint_coordinates(j);
  }
  if (c->loop && strcmp(c->loop, "rod")) random_springs(&seed, random_loop(&seed, s, c->loop, 0, c->n - 1), true);
  if (c->loop && !strcmp(c->loop, "rod")) {
    cb_joint *j = random_joint_of(&seed, s, "rod", 0, c->n - 1, 1);
    double end[2][3], r[3][3], away[3];
    for (int side = 0; side < 2; side++) {
      const cb_rigid_state *own = &s->state[j->body[side]];
      cb_pose_rotation(&own->g, r);
      cb_apply3((const double(*)[3])r, j->frame[side].x, end[side]);
      for (int k = 0; k < 3; k++) end[side][k] += own->g.x[k];
    }
    for (int k = 0; k < 3; k++) away[k] = end[1][k] - end[0][k];
    static double length; /* parameter of the rod; there is only one rod at a time */
    length = sqrt(cb_dot3(away, away));
    j->data.params = &length;
  }
  const cb_mechanism_laws laws = {.self = d, .drives = follow};
  joined_start(s, c->driven >= 0 ? &laws : NULL);
}

static double run(const chain *c, double h, int order, const double *right) {
  joined s;
  drive d;
  start(c, &s, &d, 11);
  const int steps = (int)lround(END / h);
  for (int i = 0; i < steps; i++) check_ok(joined_step(&s, h, order));
  check_at_most(joined_gap(&s), 1e-14);
  cb_mechanism_free(s.mechanism);
  return reference_error(&s, right);
}

static void check_orders(const chain *c) {
  reference r;
  double z[REFERENCE_STATE * REFERENCE_BODIES];
  joined s;
  drive d;
  start(c, &s, &d, 11);
  reference_of(&s, &r, z);
  if (c->driven >= 0) r.joint[c->free ? 0 : 1].law[c->driven] = law;
  cb_mechanism_free(s.mechanism);
  solve_reference(reference_rhs, &r, (size_t)(REFERENCE_STATE * r.bodies), END, z);
  double error[2][2];
  for (int i = 0; i < 4; i++) error[i / 2][i % 2] = run(c, (i / 2 ? .0125 : .0025) / (1 << i % 2), i / 2 ? 4 : 2, z);
  print_message("%s: order 2: %.2e %.2e, %.3f; order 4: %.2e %.2e, %.3f\n", c->name, error[0][0], error[0][1],
                log2(error[0][0] / error[0][1]), error[1][0], error[1][1], log2(error[1][0] / error[1][1]));
  check_near(log2(error[0][0] / error[0][1]), 2, .05);
  check_near(log2(error[1][0] / error[1][1]), 4, .15);
}

#define BOTH_ORDERS(kind)                                                                        \
  {#kind, 2, {"hinge", #kind}, {1, 1}, false, NULL, -1},                                         \
      {#kind " with its bodies in reverse order", 2, {"hinge", #kind}, {1, 0}, false, NULL, -1}, \
      {#kind " from the world", 2, {#kind, "hinge"}, {1, 0}, false, NULL, -1}, {                 \
#kind " to the world", 2, {#kind, "hinge" }, {0, 1 }, false, NULL, -1                        \
  }

static void every_kind_of_joint_has_its_orders(void **unused) {
  static const chain chains[] = {BOTH_ORDERS(hinge),       BOTH_ORDERS(slide),  BOTH_ORDERS(universal),
                                 BOTH_ORDERS(cylindrical), BOTH_ORDERS(planar), BOTH_ORDERS(ball),
                                 BOTH_ORDERS(compound),    BOTH_ORDERS(weld),   BOTH_ORDERS(free)};
  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) check_orders(&chains[i]);
}

static void free_chains_have_their_orders(void **unused) {
  static const chain chains[] = {{"a free chain", 3, {NULL, "universal", "planar"}, {0, 1, 0}, true, NULL, -1},
                                 {"another", 3, {NULL, "compound", "ball"}, {0, 0, 1}, true, NULL, -1},
                                 {"a third", 3, {NULL, "cylindrical", "slide"}, {0, 0, 0}, true, NULL, -1}};
  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) check_orders(&chains[i]);
}

static void loops_have_their_orders(void **unused) {
  static const chain chains[] = {
      {"a rod between the ends", 3, {NULL, "hinge", "ball"}, {0, 1, 0}, true, "rod", -1},
      {"a ball that closes a loop", 3, {NULL, "planar", "ball"}, {0, 0, 1}, true, "ball", -1},
      {"a hinge that closes a loop", 3, {NULL, "free", "compound"}, {0, 1, 1}, true, "hinge", -1},
      {"a slide that closes a loop", 3, {NULL, "free", "planar"}, {0, 1, 1}, true, "slide", -1},
      {"a universal joint that closes a loop", 3, {"hinge", "ball", "planar"}, {1, 0, 1}, false, "universal", -1},
      {"a cylindrical joint that closes a loop", 3, {"ball", "ball", "planar"}, {1, 0, 0}, false, "cylindrical", -1},
      {"a planar joint that closes a loop", 3, {"hinge", "universal", "ball"}, {1, 0, 1}, false, "planar", -1}};
  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) check_orders(&chains[i]);
}

static void driven_coordinates_have_their_orders(void **unused) {
  static const chain chains[] = {
      {"a driven hinge", 2, {"hinge", "hinge"}, {1, 1}, false, NULL, 0},
      {"a driven hinge in reverse order", 2, {"hinge", "hinge"}, {1, 0}, false, NULL, 0},
      {"a driven slide", 3, {NULL, "slide", "ball"}, {1, 1, 0}, true, NULL, 0},
      {"a driven slide in reverse order", 3, {NULL, "slide", "ball"}, {1, 0, 1}, true, NULL, 0},
      {"a cylindrical joint's place", 2, {"hinge", "cylindrical"}, {1, 1}, false, NULL, 0},
      {"a cylindrical joint's angle", 2, {"hinge", "cylindrical"}, {1, 0}, false, NULL, 1},
      {"a plane's place", 2, {"hinge", "planar"}, {1, 0}, false, NULL, 1},
      {"a plane's angle", 3, {NULL, "planar", "hinge"}, {1, 1, 0}, true, NULL, 2}};
  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) check_orders(&chains[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_joint_has_its_orders), cmocka_unit_test(free_chains_have_their_orders),
      cmocka_unit_test(loops_have_their_orders), cmocka_unit_test(driven_coordinates_have_their_orders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
