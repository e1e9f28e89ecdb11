/* Tests of every class of joints at random coordinates q: the pose M(q), its twists S, the covectors N and the gaps
 * (curvebody/joint.h). */
#include "joined_bodies.h"
#include "numerics/small.h"

enum { TRIALS = 200, SCREWS = 6 };

/* The parameter of the joint class `rod`: the length of the rod. */
static double rod_length;

/* Makes a joint with random data. A rod gets a length, and a compound joint 1 to 4 hinges, slides and screws with a
 * pitch. With more than 4 of these parts, random joints would often be near gimbal lock. */
static void random_joint(uint64_t *seed, const cb_joint_class *class, double screw[SCREWS][6], cb_joint *out) {
  rod_length = check_uniform(seed, .3, 2);
  *out = (cb_joint){.class_ = class, .data = {.params = &rod_length}};
  if (class->coordinates >= 0) return;
  out->data.screws = 1 + (int)check_uniform(seed, 0, 4);
  out->data.screw = (const double(*)[6])screw;
  for (int i = 0; i < out->data.screws; i++) {
    const int kind = (int)check_uniform(seed, 0, 3);
    double axis[3], arm[3];
    check_direction(seed, 3, axis);
    check_direction(seed, 3, arm);
    for (int k = 0; k < 3; k++) screw[i][k] = kind == 1 ? 0 : axis[k];
    cb_cross3(arm, screw[i], screw[i] + 3);
    const double pitch = kind == 1 ? 1 : kind == 2 ? .3 : 0;
    for (int k = 0; k < 3; k++) screw[i][3 + k] += pitch * axis[k];
  }
}

static bool turns_freely(const cb_joint_class *class, int i) {
  return class->angular[i] && strcmp(class->name, "ball") != 0 && strcmp(class->name, "free") != 0;
}

/* Returns the determinant of the products S_i.S_k, divided by the lengths of S_i and S_k. It is 0 in gimbal lock. */
static double independence(const cb_joint *j, const double q[6]) {
  cb_joint_motion at = {.q = {q[0], q[1], q[2], q[3], q[4], q[5]}};
  cb_pose m;
  double a[36], l[36], det = 1;
  const int n = cb_joint_coordinates(j);
  j->class_->place(q, &j->data, &m);
  j->class_->find(&m, &j->data, &at);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      a[i * n + k] = cb_dot(6, at.S[i], at.S[k]) / sqrt(cb_dot(6, at.S[i], at.S[i]) * cb_dot(6, at.S[k], at.S[k]));
  if (!cb_cholesky(n, a, 1e-12, l)) return 0;
  for (int i = 0; i < n; i++) det *= l[i * n + i] * l[i * n + i];
  return det;
}

/* Makes random coordinates: angles about an axis of up to 10, rotation vectors shorter than 2.6, and displacements of
 * up to 2. Displacements of compound joints are at most 0.7, so that Newton's method also converges if it starts away
 * from the solution. */
static void random_coordinates(uint64_t *seed, const cb_joint *j, double q[6]) {
  memset(q, 0, 6 * sizeof *q);
  for (int i = 0; i < cb_joint_coordinates(j); i++) {
    const bool vector = j->class_->angular[i] && !turns_freely(j->class_, i);
    const double most = turns_freely(j->class_, i) ? 10 : vector ? 1.5 : j->class_->coordinates < 0 ? .7 : 2;
    q[i] = check_uniform(seed, -most, most);
  }
}

static void find(const cb_joint *j, const cb_pose *m, const double *near, cb_joint_motion *out) {
  memset(out, 0, sizeof *out);
  memcpy(out->q, near, sizeof out->q);
  j->class_->find(m, &j->data, out);
}

/* Returns the pose m exp(length Y). */
static cb_pose moved(const cb_pose *m, double length, const double Y[6]) {
  double by[6];
  cb_pose step, out;
  for (int i = 0; i < 6; i++) by[i] = length * Y[i];
  cb_se3_tau(CB_SE3_EXPONENTIAL, by, &step);
  cb_pose_multiply(m, &step, &out);
  return out;
}

/* Makes a pose that the joint allows, at random coordinates q. */
static cb_pose random_pose(uint64_t *seed, const cb_joint *j, double q[6]) {
  cb_pose out;
  do random_coordinates(seed, j, q);
  while (j->class_->coordinates < 0 && independence(j, q) < .2);
  if (j->class_->place) {
    j->class_->place(q, &j->data, &out);
    return out;
  }
  double direction[3], turn[3];
  check_direction(seed, 3, direction);
  for (int i = 0; i < 3; i++) {
    out.x[i] = rod_length * direction[i];
    turn[i] = check_uniform(seed, -1.5, 1.5);
  }
  cb_quaternion_exp(turn, out.q);
  return out;
}

typedef void property(uint64_t *seed, const cb_joint *j);

static void for_all_classes(property *check) {
  uint64_t seed = check_seed();
  for (int i = 0; cb_joint_classes[i]; i++)
    for (int trial = 0; trial < TRIALS; trial++) {
      double screw[SCREWS][6];
      cb_joint j;
      const uint64_t own = seed;
      do random_joint(&seed, cb_joint_classes[i], screw, &j);
      while (j.class_->coordinates < 0 && independence(&j, (const double[6]){0}) < .3);
      if (trial == 0) print_message("%s, from seed %llu\n", j.class_->name, (unsigned long long)own);
      check(&seed, &j);
    }
}

/* From a pose, the joint class finds the coordinates q that are near given ones. They do not depend on the sign of the
 * quaternion, and the gaps are 0. */
static void find_one(uint64_t *seed, const cb_joint *j) {
  double q[6], near[6];
  cb_pose m = random_pose(seed, j, q);
  const double away = j->class_->coordinates < 0 ? .05 : 1;
  for (int i = 0; i < 6; i++) near[i] = q[i] + check_uniform(seed, -away, away);
  for (int sign = 0; sign < 2; sign++) {
    cb_joint_motion out;
    find(j, &m, near, &out);
    /* a compound joint magnifies round-off where two of its screws are nearly parallel */
    for (int i = 0; i < cb_joint_coordinates(j); i++)
      check_near(out.q[i], q[i], j->class_->coordinates < 0 ? 1e-9 : 1e-14 * fmax(1, fabs(q[i])));
    for (int i = 0; i < cb_joint_gaps(j); i++) check_near(out.gap[i], 0, 3e-15);
    for (int i = 0; i < 4; i++) m.q[i] = -m.q[i];
  }
}
static void coordinates_of_a_place_are_found(void **unused) { for_all_classes(find_one); }

/* The twists S_i agree with M(q)^-1 dM/dq_i. The derivative is computed by central differences and Richardson's
 * extrapolation, which gives the order 4. */
static void check_twists(uint64_t *seed, const cb_joint *j) {
  double q[6];
  const cb_pose m = random_pose(seed, j, q);
  cb_joint_motion out;
  cb_pose back;
  find(j, &m, q, &out);
  cb_pose_inverse(&m, &back);
  for (int i = 0; i < cb_joint_coordinates(j); i++) {
    double slope[2][6], from[2][6];
    for (int fine = 0; fine < 2; fine++) {
      const double h = fine ? 1e-3 : 2e-3;
      for (int side = 0; side < 2; side++) {
        cb_pose at;
        double moved_q[6];
        memcpy(moved_q, q, sizeof moved_q);
        moved_q[i] += side ? h : -h;
        j->class_->place(moved_q, &j->data, &at);
        cb_pose_multiply(&back, &at, &at);
        const double sign = at.q[0] < 0 ? -1 : 1;
        for (int k = 0; k < 4; k++) at.q[k] *= sign;
        cb_se3_log(&at, from[side]);
      }
      for (int k = 0; k < 6; k++) slope[fine][k] = (from[1][k] - from[0][k]) / (2 * h);
    }
    for (int k = 0; k < 6; k++) /* errors with step h: h^4 = 1e-12 times the fifth derivative, and round-off 1e-16/h */
      check_near(out.S[i][k], (4 * slope[1][k] - slope[0][k]) / 3, 1e-10);
  }
}
static void twists_are_derivatives_of_places(void **unused) { for_all_classes(check_twists); }

static void check_normals(uint64_t *seed, const cb_joint *j) {
  double q[6];
  const cb_pose m = random_pose(seed, j, q);
  cb_joint_motion out;
  find(j, &m, q, &out);
  for (int i = 0; i < cb_joint_gaps(j); i++) {
    for (int k = 0; k <= i; k++) check_near(cb_dot(6, out.N[i], out.N[k]), i == k, 2e-14);
    for (int k = 0; k < cb_joint_coordinates(j); k++) check_near(cb_dot(6, out.N[i], out.S[k]), 0, 1e-14);
  }
  if (cb_joint_holds(j)) assert_int_equal(cb_joint_gaps(j) + cb_joint_coordinates(j), 6);
}
static void normals_are_orthonormal_and_orthogonal_to_twists(void **unused) { for_all_classes(check_normals); }

/* The body moves with a random twist Y. The rates of the gaps are then N.Y, up to terms of the size d of the gaps. */
static void check_rates(uint64_t *seed, const cb_joint *j) {
  double q[6], off[6], Y[6], difference[2] = {0};
  const cb_pose on = random_pose(seed, j, q);
  check_direction(seed, 6, off);
  check_direction(seed, 6, Y);
  for (int far = 0; far < 2; far++) {
    const double d = far ? 1e-5 : 0, h = 1e-4;
    const cb_pose m = moved(&on, d, off), ahead = moved(&m, h, Y), behind = moved(&m, -h, Y);
    cb_joint_motion at, a, b;
    find(j, &m, q, &at);
    find(j, &ahead, q, &a);
    find(j, &behind, q, &b);
    for (int i = 0; i < cb_joint_gaps(j); i++) {
      const double rate = (a.gap[i] - b.gap[i]) / (2 * h), expected = cb_dot(6, at.N[i], Y);
      difference[far] = fmax(difference[far], fabs(rate - expected));
    }
  }
  /* the error of differences with the step h is h^2 = 1e-8; the normals of a compound joint rotate fast where its
   * screws are nearly parallel */
  check_at_most(difference[0], j->class_->coordinates < 0 ? 1e-5 : 3e-8);
  check_at_most(difference[1], j->class_->coordinates < 0 ? 1e-2 : 5e-5);
}
static void gaps_change_by_the_normals(void **unused) { for_all_classes(check_rates); }

/* If a pose that the joint allows is displaced by d along N, the gap is about d. */
static void check_gap(uint64_t *seed, const cb_joint *j) {
  double q[6], along[6] = {0};
  const cb_pose m = random_pose(seed, j, q);
  cb_joint_motion at, off;
  const int gaps = cb_joint_gaps(j);
  find(j, &m, q, &at);
  double u[6];
  if (gaps == 0) return;
  if (gaps > 1)
    check_direction(seed, gaps, u);
  else
    u[0] = 1;
  for (int i = 0; i < gaps; i++) cb_add6(u[i], at.N[i], along);
  const cb_pose away = moved(&m, 1e-4, along);
  find(j, &away, q, &off);
  for (int i = 0; i < gaps; i++) check_near(off.gap[i], 1e-4 * u[i], 1e-6);
}
static void poses_off_the_joint_have_gaps(void **unused) { for_all_classes(check_gap); }

/* Each angle about an axis changes by 25 rad, in a random direction and in random steps of at most 2 rad. Each search
 * starts from the coordinates of the previous step. Compound joints need shorter steps for Newton's method. */
static void check_turns(uint64_t *seed, const cb_joint *j) {
  const bool compound = j->class_->coordinates < 0;
  for (int i = 0; i < cb_joint_coordinates(j); i++) {
    if (!turns_freely(j->class_, i) && !compound) continue;
    if (compound && j->data.screws > 1) continue; /* gimbal lock is possible */
    double q[6], near[6];
    random_coordinates(seed, j, q);
    memcpy(near, q, sizeof near);
    const double sign = check_uniform(seed, -1, 1) < 0 ? -1 : 1, start = q[i];
    while (fabs(q[i] - start) < 25) {
      cb_pose m;
      cb_joint_motion out;
      q[i] += sign * check_uniform(seed, 0, compound ? .3 : 2);
      j->class_->place(q, &j->data, &m);
      find(j, &m, near, &out);
      for (int k = 0; k < cb_joint_coordinates(j); k++) check_near(out.q[k], q[k], 2e-14 * fmax(1, fabs(q[k])));
      memcpy(near, out.q, sizeof near);
    }
  }
}
static void whole_turns_are_counted(void **unused) { for_all_classes(check_turns); }

/* Compound joints of one, two or three screws agree with the hinge, slide, cylindrical, planar and universal joint. */
static void compound_joints_are_the_named_ones(void **unused) {
  static const double z[6] = {0, 0, 1}, dx[6] = {0, 0, 0, 1}, dy[6] = {0, 0, 0, 0, 1}, dz[6] = {0, 0, 0, 0, 0, 1},
                      x[6] = {1}, y[6] = {0, 1};
  static const struct {
    const char *class;
    int n;
    const double *screw[3];
  } cases[] = {{"hinge", 1, {z}},
               {"slide", 1, {dz}},
               {"cylindrical", 2, {dz, z}},
               {"planar", 3, {dx, dy, z}},
               {"universal", 2, {x, y}}};
  uint64_t seed = check_seed();
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int trial = 0; trial < TRIALS; trial++) {
      double screw[3][6], q[6] = {0};
      for (int i = 0; i < cases[c].n; i++) {
        memcpy(screw[i], cases[c].screw[i], sizeof screw[i]);
        q[i] = check_uniform(&seed, -1.2, 1.2);
      }
      const cb_joint named = {.class_ = joint_class(cases[c].class)},
                     own = {.class_ = joint_class("compound"),
                            .data = {.screws = cases[c].n, .screw = (const double(*)[6])screw}};
      cb_pose a, b;
      cb_joint_motion of_named, of_own;
      named.class_->place(q, &named.data, &a);
      own.class_->place(q, &own.data, &b);
      for (int i = 0; i < 4; i++) check_near(a.q[i], b.q[i], 1e-15);
      for (int i = 0; i < 3; i++) check_near(a.x[i], b.x[i], 1e-15);
      find(&named, &a, q, &of_named);
      find(&own, &a, (const double[6]){0}, &of_own);
      for (int i = 0; i < cases[c].n; i++) {
        check_near(of_own.q[i], of_named.q[i], 1e-14);
        for (int k = 0; k < 6; k++) check_near(of_own.S[i][k], of_named.S[i][k], 1e-14);
      }
    }
}

/* A compound joint of six screws allows every motion, and finds the coordinates of any near pose. */
static void six_screws_are_free(void **unused) {
  static const double screw[6][6] = {{0, 0, 0, 1}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1}, {1}, {0, 1}, {0, 0, 1}};
  const cb_joint own = {.class_ = joint_class("compound"), .data = {.screws = 6, .screw = screw}};
  uint64_t seed = check_seed();
  assert_int_equal(cb_joint_gaps(&own), 0);
  for (int trial = 0; trial < TRIALS; trial++) {
    double Y[6];
    cb_pose m, one, again;
    cb_joint_motion out;
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -.8, .8);
    cb_pose_identity(&one);
    m = moved(&one, 1, Y);
    find(&own, &m, (const double[6]){0}, &out);
    own.class_->place(out.q, &own.data, &again);
    for (int i = 0; i < 4; i++) check_near(again.q[i], m.q[i], 3e-15);
    for (int i = 0; i < 3; i++) check_near(again.x[i], m.x[i], 3e-15);
  }
}

/* If the distance of a rod's ends differs from its length by a small amount, the gap is this difference to first order.
 * The positions of the ends are random. */
static void rods_keep_a_distance(void **unused) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < TRIALS; trial++) {
    rod_length = check_uniform(&seed, .1, 3);
    const cb_joint rod = {.class_ = joint_class("rod"), .data = {.params = &rod_length}};
    double q[6];
    cb_joint_motion out;
    cb_pose m = random_pose(&seed, &rod, q);
    for (int i = 0; i < 3; i++) m.x[i] *= 1 + 1e-5;
    find(&rod, &m, q, &out);
    check_near(out.gap[0], 1e-5 * rod_length, 1e-10 * rod_length);
    assert_int_equal(cb_joint_coordinates(&rod), 0);
    assert_false(cb_joint_holds(&rod));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(coordinates_of_a_place_are_found),
                                     cmocka_unit_test(twists_are_derivatives_of_places),
                                     cmocka_unit_test(normals_are_orthonormal_and_orthogonal_to_twists),
                                     cmocka_unit_test(gaps_change_by_the_normals),
                                     cmocka_unit_test(poses_off_the_joint_have_gaps),
                                     cmocka_unit_test(whole_turns_are_counted),
                                     cmocka_unit_test(compound_joints_are_the_named_ones),
                                     cmocka_unit_test(six_screws_are_free),
                                     cmocka_unit_test(rods_keep_a_distance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
