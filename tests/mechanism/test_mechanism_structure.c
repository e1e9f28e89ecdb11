/* Tests of properties of steps of random joined bodies: conserved momentum, closed joints, energy without trend,
 * reversibility, and the symplectic form. */
#include "numerics/small.h"
#include "random_joints.h"

static double largest(int n, const double *a) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i]));
  return worst;
}

static double difference(int n, const double *a, const double *b) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

/* Joints, springs, dampers and rotors are internal: they keep the momentum. */
static void free_trees_keep_their_momentum_and_joints_stay_closed(void **unused) {
  uint64_t seed = check_seed();
  double worst = 0, open = 0;
  for (int trial = 0; trial < 40; trial++) {
    joined s;
    double before[6], after[6];
    print_message("tree %d, seed %llu\n", trial, (unsigned long long)seed);
    random_tree(&seed, &s, 7, true, trial % 2, trial % 4 > 1);
    joined_start(&s, NULL);
    joined_momentum(&s, before);
    for (int i = 0; i < 200; i++) {
      check_ok(joined_step(&s, .02, 2));
      open = fmax(open, joined_gap(&s));
    }
    joined_momentum(&s, after);
    worst = fmax(worst, difference(6, before, after) / largest(6, before));
    cb_mechanism_free(s.mechanism);
  }
  print_message("momentum %.2g, gaps %.2g\n", worst, open);
  check_at_most(worst, 1e-14);
  check_at_most(open, 1e-14);
}

/* Without losses, steps with h followed by steps with -h return to the start. */
static void a_step_back_returns(void **unused) {
  uint64_t seed = check_seed();
  double worst = 0;
  for (int trial = 0; trial < 40; trial++) {
    joined s;
    cb_rigid_state from[JOINED_BODIES];
    double q[6 * JOINED_BODIES];
    print_message("tree %d, seed %llu\n", trial, (unsigned long long)seed);
    random_tree(&seed, &s, 6, trial % 3, false, trial % 4 == 1);
    joined_start(&s, NULL);
    memcpy(from, s.state, sizeof from);
    const int n = cb_mechanism_coordinates(s.mechanism);
    memcpy(q, cb_mechanism_q(s.mechanism), (size_t)n * sizeof *q);
    for (int i = 0; i < 40; i++) check_ok(joined_step(&s, i < 20 ? .02 : -.02, 2));
    for (int b = 0; b < s.n; b++) {
      worst = fmax(worst, difference(3, s.state[b].g.x, from[b].g.x));
      worst = fmax(worst, difference(4, s.state[b].g.q, from[b].g.q));
      worst = fmax(worst, difference(6, s.state[b].momentum, from[b].momentum));
    }
    worst = fmax(worst, difference(n, cb_mechanism_q(s.mechanism), q));
    cb_mechanism_free(s.mechanism);
  }
  print_message("return %.2g\n", worst);
  check_at_most(worst, 5e-12); /* 40 steps with round-off, which light bodies magnify to some thousand times 1e-16 */
}

/* --- which joint closes a loop --- */

/* A drive: the first coordinate of the joint `name` follows a law. */
typedef struct driven_joint {
  joined *of;
  const char *name;
  double start, rate;
} driven_joint;

static void follow(void *self, double t, double *q, double *rate) {
  const driven_joint *d = self;
  for (int j = 0; j < d->of->joints; j++) {
    if (d->of->joint[j].name != d->name) continue;
    const int c = cb_mechanism_first(d->of->mechanism, j);
    q[c] = d->start + d->rate * t + .3 * t * t;
    rate[c] = d->rate + .6 * t;
  }
}

/* Starts the bodies again at their present poses and twists. The list of joints begins with joint `first` and ends with
 * the joint before it. d: a drive, or NULL. */
static void start_again(const joined *from, int first, driven_joint *d, joined *s) {
  *s = *from;
  for (int i = 0; i < s->joints; i++) s->joint[i] = from->joint[(first + i) % s->joints];
  for (int b = 0; b < s->n; b++) {
    double Y[6];
    check_ok(cb_rigid_twist(&from->body[b].problem, &from->state[b], Y));
    s->body[b].problem.self = &s->body[b];
    s->body[b].problem.constant = &s->body[b].constant;
    check_ok(cb_rigid_start(&s->body[b].problem, s->t, &from->state[b].g, Y, &s->state[b]));
  }
  const cb_mechanism_laws laws = {.self = d, .drives = follow};
  if (d) d->of = s;
  joined_start(s, d ? &laws : NULL);
}

static double states_differ(const joined *a, const joined *b) {
  double worst = 0;
  for (int i = 0; i < a->n; i++) {
    double Y[2][6];
    check_ok(cb_rigid_twist(&a->body[i].problem, &a->state[i], Y[0]));
    check_ok(cb_rigid_twist(&b->body[i].problem, &b->state[i], Y[1]));
    worst = fmax(worst, difference(3, a->state[i].g.x, b->state[i].g.x));
    worst = fmax(worst, difference(6, Y[0], Y[1]));
  }
  return worst;
}

/* A loop of four bodies has springs, rotors and, in every third case, a drive. The motion is the same whichever joint
 * closes the loop. If the rates at the start fit the loop, starting the bodies does not change them. */
static void any_joint_may_close_a_loop(void **unused) {
  static const char *const kinds[] = {"hinge", "universal", "cylindrical", "planar", "compound"};
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 20; trial++) {
    joined loose = {.t = 0}, fit, own[4];
    print_message("loop %d, seed %llu\n", trial, (unsigned long long)seed);
    for (int b = 0; b < 4; b++) {
      const int side = trial / (1 << b) % 2;
      random_body(&seed, &loose, 0);
      if (b == 0) {
        random_place(&seed, &loose, 0);
        continue;
      }
      cb_joint *j = random_joint_of(&seed, &loose, b == 2 ? "compound" : kinds[(trial + b) % 5], b - 1, b, side);
      random_springs(&seed, j, trial % 2);
      random_hang(&seed, &loose, j, side);
    }
    random_springs(&seed, random_loop(&seed, &loose, kinds[trial % 5], 0, 3), trial % 2);
    joined without = loose;
    for (int j = 0; j < 4; j++) memset(without.joint[j].armature, 0, sizeof without.joint[j].armature);
    start_again(&without, 0, NULL, &fit);
    memcpy(without.state, fit.state, sizeof fit.state); /* these twists are allowed by the loop */
    memcpy(without.joint, loose.joint, sizeof loose.joint);
    const int at = cb_mechanism_first(fit.mechanism, 1);
    driven_joint d[4];
    without.joint[1].driven[0] = trial % 3 == 0;
    without.joint[1].name = "driven";
    for (int first = 0; first < 4; first++) {
      d[first] = (driven_joint){NULL, without.joint[1].name, cb_mechanism_q(fit.mechanism)[at],
                                cb_mechanism_rates(fit.mechanism)[at]};
      start_again(&without, first, trial % 3 ? NULL : &d[first], &own[first]);
      check_at_most(states_differ(&own[first], &without), 1e-11); /* the condition number of K is some hundred */
    }
    for (int i = 0; i < 50; i++)
      for (int first = 0; first < 4; first++) check_ok(joined_step(&own[first], .01, 2));
    for (int first = 1; first < 4; first++) check_at_most(states_differ(&own[first], &own[0]), 1e-11);
    for (int first = 0; first < 4; first++) cb_mechanism_free(own[first].mechanism);
    cb_mechanism_free(fit.mechanism);
  }
}

/* --- a long run --- */

/* Starts five thin ellipsoids on hinges whose axes differ. */
static void start_thin_chain(joined *s) {
  *s = (joined){.t = 0};
  const double axis[4][3] = {{0, 0, 1}, {0, 1, .3}, {.2, 0, 1}, {0, 1, 1}};
  for (int i = 0; i < 5; i++) {
    joined_add(s, (double[]){.25, .05, .03}, 1 + .1 * i, 1, 0);
    if (i == 0)
      check_ok(cb_rigid_start(&s->body[0].problem, 0, &(cb_pose){.q = {1}}, (double[]){.3, -.2, .5, .5, .6, .3},
                              &s->state[0]));
    if (i == 0) continue;
    cb_joint *j =
        joined_hold(s, "hinge", i - 1, (double[]){.26, 0, 0}, axis[i - 1], i, (double[]){-.26, 0, 0}, axis[i - 1]);
    j->stiffness[0] = 2e-4;
    joined_place(s, j, (double[]){.3 * (i - 2)}, (double[]){.4 * cos(i)}, 0);
  }
  joined_start(s, NULL);
}

static void long_chain_keeps_momentum_joints_and_energy(void **unused) {
  check_numbers_alone();
  joined s;
  double before[6], after[6], open = 0, part[10] = {0};
  start_thin_chain(&s);
  joined_momentum(&s, before);
  const double energy = joined_energy(&s);
  for (int i = 0; i < 100000; i++) {
    check_ok(joined_step(&s, .01, 2));
    if (i % 10 == 0) open = fmax(open, joined_gap(&s));
    part[i / 10000] = fmax(part[i / 10000], fabs(joined_energy(&s) - energy) / energy);
  }
  joined_momentum(&s, after);
  double first = 0, last = 0;
  for (int i = 0; i < 10; i++) {
    print_message(" %.3g", part[i]);
    *(i < 5 ? &first : &last) += part[i];
  }
  print_message("\nmomentum %.2g, gaps %.2g, %.0f m away\n", difference(6, before, after) / largest(6, before), open,
                sqrt(cb_dot3(s.state[0].g.x, s.state[0].g.x)));
  check_at_most(difference(6, before, after), 1e-13 * largest(6, before));
  check_at_most(open, 1e-14);
  check_at_most(last, 1.5 * first); /* means are compared, because single peaks of a chaotic motion differ by more */
  cb_mechanism_free(s.mechanism);
}

/* --- the symplectic form --- */

enum { MOST = 6 };

/* Makes a chain of two bodies. A joint of class kind[0] joins the first body to the world, and a joint of class kind[1]
 * joins the second body to the first one. side[i] = 0 reverses the order of the bodies of joint i. */
static void start_pair(joined *s, const char *const kind[2], const int side[2], const double *q, const double *rate) {
  uint64_t seed = 77;
  int at = 0;
  *s = (joined){.t = 0};
  for (int b = 0; b < 2; b++) {
    random_body(&seed, s, 0);
    cb_joint *j = random_joint_of(&seed, s, kind[b], b - 1, b, side[b]);
    random_springs(&seed, j, false);
    joined_hang(s, j, side[b], q + at, rate + at);
    at += cb_joint_coordinates(j);
  }
  joined_start(s, NULL);
}

/* Computes the matrix of the kinetic energy in joint coordinates: M_ij = sum <K Y_i, Y_j> over the bodies, plus the
 * rotors. K is the inertia of a body, and Y_i its twist if only coordinate i changes, at the rate 1. Returns the number
 * of coordinates. */
static int find_matrix(const char *const kind[2], const int side[2], const double *q, double M[MOST * MOST]) {
  double Y[MOST][12];
  int n = 1;
  for (int i = 0; i < n; i++) {
    joined s;
    double rate[MOST] = {0};
    rate[i] = 1;
    start_pair(&s, kind, side, q, rate);
    n = cb_mechanism_coordinates(s.mechanism);
    assert_in_range(n, 1, MOST);
    for (int b = 0; b < 2; b++) check_ok(cb_rigid_twist(&s.body[b].problem, &s.state[b], Y[i] + 6 * b));
    for (int k = 0; k <= i; k++) {
      double entry = 0, mu[6];
      for (int b = 0; b < 2; b++) {
        cb_apply6((const double(*)[6])s.body[b].constant.K, Y[i] + 6 * b, mu);
        entry += cb_dot(6, mu, Y[k] + 6 * b);
      }
      M[i * n + k] = M[k * n + i] = entry;
    }
    for (int j = 0, c = 0; j < 2; j++)
      for (int k = 0; k < cb_joint_coordinates(&s.joint[j]); k++, c++)
        if (c == i) M[i * n + i] += s.joint[j].armature[k];
    for (int r = n - 1; r > i && i == 0; r--) memset(M + r * n, 0, (size_t)n * sizeof *M);
    cb_mechanism_free(s.mechanism);
  }
  return n;
}

/* Makes one step, from coordinates and momenta z = (q, p/unit) to `out`. Returns the number of coordinates. */
static int make_step(const char *const kind[2], const int side[2], double unit, const double *z, double *out) {
  double M[MOST * MOST], l[MOST * MOST], rate[MOST];
  joined s;
  const int n = find_matrix(kind, side, z, M);
  for (int i = 0; i < n; i++) rate[i] = unit * z[n + i];
  assert_true(cb_cholesky(n, M, 1e-14, l));
  cb_cholesky_solve(n, l, rate);
  start_pair(&s, kind, side, z, rate);
  check_ok(joined_step(&s, .05, 2));
  memcpy(out, cb_mechanism_q(s.mechanism), (size_t)n * sizeof *out);
  find_matrix(kind, side, out, M);
  for (int i = 0; i < n; i++) out[n + i] = cb_dot(n, M + i * n, cb_mechanism_rates(s.mechanism)) / unit;
  cb_mechanism_free(s.mechanism);
  return n;
}

/* Checks D^T J D = J, where D is the derivative of a step by differences of order 4, and J the canonical matrix. */
static void check_symplectic(const char *const kind[2], const int side[2]) {
  double z[2 * MOST], D[2 * MOST][2 * MOST], out[2 * MOST], M[MOST * MOST], worst = 0;
  uint64_t seed = 5;
  for (int i = 0; i < 2 * MOST; i++) z[i] = check_uniform(&seed, -.4, .4);
  const int n = find_matrix(kind, side, z, M), size = 2 * n;
  double unit = INFINITY; /* unit of the momenta: the smallest inertia, so that rates are of the size of z[n + i] */
  for (int i = 0; i < n; i++) unit = fmin(unit, M[i * n + i]);
  for (int i = 0; i < size; i++) {
    static const double factor[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12}, place[4] = {-2, -1, 1, 2};
    const double d = 1e-3;
    for (int r = 0; r < size; r++) D[r][i] = 0;
    for (int k = 0; k < 4; k++) {
      double at[2 * MOST];
      memcpy(at, z, sizeof at);
      at[i] += place[k] * d;
      make_step(kind, side, unit, at, out);
      for (int r = 0; r < size; r++) D[r][i] += factor[k] * out[r] / d;
    }
  }
  for (int i = 0; i < size; i++)
    for (int k = 0; k < size; k++) {
      double form = 0;
      for (int r = 0; r < n; r++) form += D[r][i] * D[n + r][k] - D[n + r][i] * D[r][k];
      worst = fmax(worst, fabs(form - (k == i + n) + (i == k + n)));
    }
  print_message("%s %s: %.2g\n", kind[0], kind[1], worst);
  /* the errors of the differences are d^4 = 1e-12 times the fifth derivative, and round-off 1e-14/d */
  check_at_most(worst, 1e-9);
}

static void steps_are_symplectic(void **unused) {
  static const char *const pairs[][2] = {{"hinge", "hinge"},      {"universal", "slide"}, {"planar", "cylindrical"},
                                         {"ball", "compound"},    {"hinge", "ball"},      {"cylindrical", "universal"},
                                         {"compound", "compound"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    for (int order = 0; order < 4; order++) check_symplectic(pairs[i], (const int[]){order % 2, order / 2});
}

/* --- stiff springs and dampers --- */

/* A hinge with a spring of frequency w joins a free pair of bodies. With steps h for which w h is from .4 to 400, the
 * motion stays bounded, and the momentum is conserved. */
static void stiff_springs_stay_bounded(void **unused) {
  for (double wh = .4; wh < 500; wh *= 10) {
    joined s = {.t = 0};
    const double h = .01, rest = .3;
    double before[6], after[6], worst = 0;
    joined_add(&s, (double[]){.25, .1, .05}, 1, 1, 0);
    joined_add(&s, (double[]){.2, .1, .08}, 1.5, 1, 0);
    const double I = s.body[1].constant.K[2][2], k = wh * wh / (h * h) * I;
    cb_joint *j = joined_hold(&s, "hinge", 0, (double[]){.26, 0, 0}, (double[]){0, 0, 1}, 1, (double[]){-.21, 0, 0},
                              (double[]){0, 0, 1});
    j->stiffness[0] = k;
    j->rest[0] = rest;
    check_ok(
        cb_rigid_start(&s.body[0].problem, 0, &(cb_pose){.q = {1}}, (double[]){.1, .2, .3, .1, 0, 0}, &s.state[0]));
    joined_place(&s, j, (double[]){rest + .01}, (double[]){0}, 0);
    joined_start(&s, NULL);
    joined_momentum(&s, before);
    for (int i = 0; i < 5000; i++) {
      check_ok(joined_step(&s, h, 2));
      worst = fmax(worst, fabs(cb_mechanism_q(s.mechanism)[0] - rest));
    }
    joined_momentum(&s, after);
    print_message("w h = %g: %.3g, momentum %.2g\n", wh, worst, difference(6, before, after));
    /* twice the displacement at the start, because the rotation of the pair adds a small pull */
    check_at_most(worst, .02);
    check_at_most(difference(6, before, after), 1e-14);
    cb_mechanism_free(s.mechanism);
  }
}

/* A body of moment of inertia I is on a hinge with a damper c. For steps h with c h/I from .1 to 1000, the rate
 * decreases, and its sign may alternate. */
static void stiff_dampers_stop_the_hinge(void **unused) {
  for (double ratio = .1; ratio < 2000; ratio *= 10) {
    joined s = {.t = 0};
    joined_add(&s, (double[]){.2, .1, .08}, 1.5, 1, 0);
    cb_joint *j = joined_hold(&s, "hinge", -1, (double[]){0, 0, 0}, (double[]){0, 0, 1}, 0, (double[]){0, 0, 0},
                              (double[]){0, 0, 1});
    const double h = .01, I = s.body[0].constant.K[2][2], c = j->damping[0] = ratio * I / h;
    joined_place(&s, j, (double[]){0}, (double[]){1e-3}, 0);
    joined_start(&s, NULL);
    for (int i = 0; i < 50; i++) {
      /* the midpoint rule is I (w' - w)/h = - c (w' + w)/2; the angle of Cayley's map differs by (h w)^2/12 = 1e-11 */
      const double before = cb_mechanism_rates(s.mechanism)[0];
      check_ok(joined_step(&s, h, 2));
      check_near(cb_mechanism_rates(s.mechanism)[0], before * (1 - c * h / (2 * I)) / (1 + c * h / (2 * I)), 1e-13);
    }
    const double *work = cb_mechanism_work(s.mechanism, CB_JOINT_WORK_DAMPING);
    check_near(joined_energy(&s) - I / 2 * 1e-6, work[0], 1e-10 * I * 1e-6);
    cb_mechanism_free(s.mechanism);
  }
}

/* --- conditions that follow from other joints --- */

/* Three bars on hinges with parallel axes form a closed linkage in a plane. The joint between the last two bars closes
 * it. Only two conditions of this joint are independent: two of the five of a hinge, or two of the three of a ball
 * joint. A drive of this hinge adds a condition, which is dependent if the first hinge is driven, too. If the second
 * joint is a ball joint, all three conditions of a closing ball joint are independent. */
static void conditions_that_follow_from_others_are_counted(void **unused) {
  (void)unused;
  static const struct {
    const char *second, *third;
    bool drives_first, drives_third;
    int conditions, implied;
  } cases[] = {{"hinge", "hinge", false, false, 5, 3},
               {"hinge", "ball", false, false, 3, 1},
               {"hinge", "hinge", false, true, 6, 3},
               {"hinge", "hinge", true, true, 6, 4},
               {"ball", "ball", false, false, 3, 0}};
  static const double angle[] = {.9, -.459371301925, 0, .9 - .459371301925 - 2.101086990839}, length[] = {.4, .9, .7},
                      axis[3] = {0, -1, 0}, rate[3] = {0};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const char *const kind[] = {"hinge", cases[c].second, cases[c].third, "hinge"};
    joined s = {.t = 0};
    for (int i = 0; i < 3; i++) joined_add(&s, (double[]){length[i] / 2, .04, .03}, 1400, 0, 0);
    for (int i = 0; i < 4; i++) {
      const int to = i < 3 ? i : 2;
      const double at = i == 0 ? 0 : i < 3 ? length[i - 1] / 2 : 1, in = i < 3 ? -length[i] / 2 : .35;
      const bool ball = !strcmp(kind[i], "ball");
      joined_hold(&s, kind[i], i < 3 ? i - 1 : -1, (double[]){at, 0, 0}, ball ? NULL : axis, to, (double[]){in, 0, 0},
                  ball ? NULL : axis);
      if (i != 2) joined_place(&s, &s.joint[i], ball ? (double[]){0, -angle[i], 0} : &angle[i], rate, 0);
    }
    s.joint[0].driven[0] = cases[c].drives_first;
    s.joint[2].driven[0] = cases[c].drives_third;
    joined_start(&s, NULL);
    assert_int_equal(cb_mechanism_conditions(s.mechanism, 2), cases[c].conditions);
    for (int i = 0; i < 4; i++) assert_int_equal(cb_mechanism_implied(s.mechanism, i), i == 2 ? cases[c].implied : 0);
    cb_mechanism_free(s.mechanism);
  }
}

/* Moves a free body on a rod that joins it to a point of the world. The world is the first or the second body of the
 * joint. */
static void swing(bool world_first, double x[3]) {
  static const double r[3] = {.3, .12, .08}, above[3] = {0, 0, .9}, place[3] = {-.2, 0, .05};
  static double length;
  joined s = {0};
  joined_add(&s, r, 1000, 0, -9.81);
  const cb_pose g = {.q = {1}, .x = {.5, .1, 0}};
  check_ok(cb_rigid_start(&s.body[0].problem, 0, &g, (double[6]){0}, &s.state[0]));
  length = sqrt(.3 * .3 + .1 * .1 + .85 * .85);
  cb_joint *j = world_first ? joined_hold(&s, "rod", -1, above, NULL, 0, place, NULL)
                            : joined_hold(&s, "rod", 0, place, NULL, -1, above, NULL);
  j->data.params = &length;
  joined_start(&s, NULL);
  for (int i = 0; i < 100; i++) check_ok(joined_step(&s, .01, 2));
  memcpy(x, s.state[0].g.x, 3 * sizeof *x);
  cb_mechanism_free(s.mechanism);
}

static void the_world_may_be_either_body_of_a_loop(void **unused) {
  double first[3], second[3];
  (void)unused;
  swing(true, first);
  swing(false, second);
  for (int i = 0; i < 3; i++) check_near(first[i], second[i], 1e-12); /* the round-off of 100 steps */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_trees_keep_their_momentum_and_joints_stay_closed),
      cmocka_unit_test(a_step_back_returns),
      cmocka_unit_test(any_joint_may_close_a_loop),
      cmocka_unit_test(conditions_that_follow_from_others_are_counted),
      cmocka_unit_test(the_world_may_be_either_body_of_a_loop),
      cmocka_unit_test(long_chain_keeps_momentum_joints_and_energy),
      cmocka_unit_test(steps_are_symplectic),
      cmocka_unit_test(stiff_springs_stay_bounded),
      cmocka_unit_test(stiff_dampers_stop_the_hinge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
