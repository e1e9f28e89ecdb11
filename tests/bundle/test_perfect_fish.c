/* Tests of chains of bodies in a perfect fluid. The form of the kinetic energy is compared with differences of poses.
 * Bodies without coupling are compared with a chain of links. Other tests are about distant links, derivatives,
 * curvature, threads, symmetry, plots and errors. A: connection; M: cost metric; r: shape. */
#include "curvature_claims.h"
#include "link_trees.h"

#include "bundle/chain.h"
#include "bundle/fish.h"
#include <pthread.h>

static cb_status fish_create(const char *text, tree *t) {
  check_ok(cb_yaml_read_text("test.yaml", text, strlen(text), &t->source));
  const cb_status status = cb_bundle_create("perfect_fish", cb_tree_root(t->source), &t->b);
  if (status) cb_tree_free(t->source);
  return status;
}

static tree fish(const char *text) {
  tree t;
  check_ok(fish_create(text, &t));
  return t;
}

#define THREE "bodies: [{ellipse: [1, 0.2]}, {ellipse: [1, 0.2]}, {ellipse: [1, 0.2]}]\nhinges: 0.2\n"
#define UNEVEN                                                                                         \
  "bodies: [{joukowski: [1.6, 0.15, 0.05], density: 2}, {ellipse: [0.7, 0.1], density: 0}, {ellipse: " \
  "[0.5, 0.3]}, {ellipse: [0.7, 0.1], density: 0.5}]\nhinges: [0.3, 0.2, 0.25]\n"

static const char *const kinds[] = {
    THREE,
    THREE "coupling: false",
    THREE "base: 1",
    UNEVEN,
    UNEVEN "base: 4",
    UNEVEN "coupling: false",
    "bodies: [{joukowski: [2, 0.1, 0]}, {ellipse: [1, 0.25]}]\nhinges: 0.3\nnodes: 32",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* --- the form --- */

/* The form is G_cd = u_c^T K u_d. For c < 3, u_c are the velocities of all bodies for a unit motion of the base frame.
 * For c = 3 and 4 they are central differences of order 8 of the poses by shape variable c - 3. K is the matrix of the
 * added masses of the fluid and of the masses of the bodies. */
static void the_form_is_the_energy_of_the_poses(void **state) {
  uint64_t seed = check_seed();
  const cb_plane_curve curve[3] = {cb_plane_joukowski(1.6, .15, .05), cb_plane_ellipse(.7, .1),
                                   cb_plane_ellipse(.5, .3)};
  const cb_plane_body *body[3];
  cb_plane_body *own[3];
  cb_plane_flow *flow;
  double unit[81] = {0}, K[81], G[25];
  for (int i = 0; i < 3; i++) {
    check_ok(cb_plane_body_create(&curve[i], 64, &own[i]));
    body[i] = own[i];
  }
  for (int k = 0; k < 9; k++) unit[10 * k] = 1;
  for (int base = 0; base < 3; base++) {
    const cb_fish f = {.bodies = 3,
                       .base = base,
                       .coupled = true,
                       .body = {body[0], body[1], body[2]},
                       .density = {1, 0, 3},
                       .front = {1.1, 1, 0},
                       .back = {0, -.9, -.8}};
    const double r[2] = {check_uniform(&seed, -1, 1), check_uniform(&seed, -1, 1)}, h = .01;
    double pose[3][3], u[5][9] = {{0}}, shifted[2][3][3];
    cb_fish_poses(&f, r, pose);
    for (int c = 0; c < 5; c++)
      for (int i = 0; i < 3; i++) {
        double v[3] = {c == 2, (c == 0) - (c == 2) * pose[i][2], (c == 1) + (c == 2) * pose[i][1]};
        for (int k = 1; c >= 3 && k <= 4; k++) {
          static const double weight[4] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
          for (int side = 0; side < 2; side++) {
            double x[2] = {r[0], r[1]};
            x[c - 3] += side ? -k * h : k * h;
            cb_fish_poses(&f, x, shifted[side]);
          }
          for (int a = 0; a < 3; a++) v[a] += weight[k - 1] * (shifted[0][i][a] - shifted[1][i][a]) / h;
        }
        u[c][3 * i] = v[0];
        u[c][3 * i + 1] = cos(pose[i][0]) * v[1] + sin(pose[i][0]) * v[2];
        u[c][3 * i + 2] = cos(pose[i][0]) * v[2] - sin(pose[i][0]) * v[1];
      }
    check_ok(cb_plane_flow_create(3, body, 9, 2, &flow));
    check_ok(cb_plane_flow_solve(flow, (const double(*)[3])pose, 9, unit, K));
    for (int i = 0; i < 3; i++)
      for (int a = 0; a < 9; a++) K[(3 * i + a / 3) * 9 + 3 * i + a % 3] += f.density[i] * body[i]->mass[a / 3][a % 3];
    check_ok(cb_fish_form(&f, flow, r, G, NULL));
    for (int c = 0; c < 5; c++)
      for (int d = 0; d < 5; d++) {
        double sum = 0;
        for (int a = 0; a < 81; a++) sum += u[c][a / 9] * u[d][a % 9] * K[a];
        check_near(G[5 * c + d], sum, 1e-11);
      }
    cb_plane_flow_free(flow);
  }
  for (int i = 0; i < 3; i++) cb_plane_body_free(own[i]);
}

/* Without coupling, an ellipse with half axes a and b is a link of length 2 (a + gap), where `gap` is the distance of a
 * hinge from the tip of the ellipse. The masses of the link are pi (b^2 + rho a b) along and pi (a^2 + rho a b) across.
 * The moment of inertia is pi (a^2 - b^2)^2/8 + pi rho a b (a^2 + b^2)/4. rho is the density of the ellipse. The
 * density of the fluid is 1. */
static void without_coupling_it_is_a_chain_of_links(void **state) {
  uint64_t seed = check_seed();
  static const double axes[4][2] = {{1, .2}, {.6, .1}, {.8, .5}, {.3, .3}};
  const double rho = 1.7, gap = .15;
  for (int base = 0; base < 4; base++) {
    static values v, w;
    double ddA[2][81], ddM[2][81], r[3];
    cb_chain c = {.links = 4, .base = base};
    for (int k = 0; k < 4; k++) {
      const double a = axes[k][0], b = axes[k][1];
      c.length[k] = 2 * (a + gap);
      c.D[k][0] = M_PI * (b * b + rho * a * b);
      c.D[k][1] = M_PI * (a * a + rho * a * b);
      c.D[k][2] = M_PI * (pow(a * a - b * b, 2) / 8 + rho * a * b * (a * a + b * b) / 4);
    }
    char text[400];
    snprintf(text, sizeof text,
             "bodies: [{ellipse: [1, 0.2], density: 1.7}, {ellipse: [0.6, 0.1], density: 1.7}, {ellipse: [0.8, 0.5], "
             "density: 1.7}, {ellipse: [0.3, 0.3], density: 1.7}]\nhinges: 0.15\ncoupling: false\nbase: %d",
             base + 1);
    tree t = fish(text);
    random_shape(&seed, 3, 1.5, r);
    values_at(t.b, r, &v);
    check_ok(cb_chain_connection(&c, r, w.A, w.dA, w.M, w.dM));
    check_at_most(difference(v.A, w.A, 9), 1e-12);
    check_at_most(difference(v.dA, w.dA, 27), 1e-12);
    check_at_most(difference(v.M, w.M, 9), 1e-12);
    check_at_most(difference(v.dM, w.dM, 27), 1e-12);
    check_ok(cb_bundle_second(t.b, r, ddA[0], ddM[0]));
    check_ok(cb_chain_second(&c, r, ddA[1], ddM[1]));
    check_at_most(difference(ddA[0], ddA[1], 81), 1e-9);
    check_at_most(difference(ddM[0], ddM[1], 81), 1e-9);
    tree_free(&t);
  }
}

/* The hinges are at the distance d from the tips of equal bodies. The part of M that comes from the coupling, relative
 * to M, decreases as 1/d^2. */
static void links_far_apart_are_not_coupled(void **state) {
  double apart[2], r[2] = {.5, -.3};
  for (int k = 0; k < 2; k++) {
    static values v, w;
    char text[200];
    snprintf(text, sizeof text, "bodies: [{ellipse: [1, 0.2]}, {ellipse: [1, 0.2]}, {ellipse: [1, 0.2]}]\nhinges: %d\n",
             k ? 80 : 40);
    tree t = fish(text);
    values_at(t.b, r, &v);
    tree_free(&t);
    snprintf(text + strlen(text), sizeof text - strlen(text), "coupling: false\n");
    t = fish(text);
    values_at(t.b, r, &w);
    tree_free(&t);
    apart[k] = difference(v.M, w.M, 4) / w.M[0];
  }
  check_at_most(apart[0], 1e-3);
  check_near(apart[1] / apart[0], .25, .01);
}

/* --- derivatives --- */

/* The error of differences of order 6 with h = .004 is h^6 = 4e-15 times derivatives of order 7, which are large if
 * bodies are close to each other. */
static void derivatives_agree_with_differences(void **state) {
  uint64_t seed = check_seed();
  for (int k = 0; k < KINDS; k++) {
    tree t = fish(kinds[k]);
    for (int trial = 0; trial < 3; trial++) {
      double r[CB_SHAPE_MAX];
      random_shape(&seed, t.b->n, .8, r);
      check_derivatives(t.b, r, 1e-9);
    }
    tree_free(&t);
  }
}

/* Checks the claims that tests/bundle/test_curvature.c checks for every bundle. */
static void curvature_is_that_of_every_bundle(void **state) {
  static const char *const shorter[] = {THREE "nodes: 32", UNEVEN "nodes: 32"};
  const double low[3] = {-.8, -.8, -.8}, high[3] = {.8, .8, .8};
  uint64_t seed = check_seed();
  for (int k = 0; k < 2; k++) {
    tree t = fish(shorter[k]);
    small_loops(t.b, low, high, 1e-11, &seed);
    wrong_sign(t.b, low, high, 0, &seed);
    curvature_by_differences(t.b, low, high, 1e-8, &seed);
    second_by_differences(t.b, low, high, 1e-7, &seed);
    bianchi(t.b, low, high, 1e-8, &seed);
    tree_free(&t);
  }
}

/* --- threads --- */

enum { THREADS = 4, SHAPES = 60 };

typedef struct reader {
  const cb_bundle *b;
  double A[SHAPES][6], dA[SHAPES][12];
} reader;

static void *read_all(void *context) {
  reader *own = context;
  for (int k = 0; k < SHAPES; k++) {
    const double r[2] = {.02 * k - .5, .7 - .03 * k};
    if (cb_bundle_connection(own->b, r, own->A[k], own->dA[k], NULL, NULL)) own->A[k][0] = NAN;
  }
  return NULL;
}

static void threads_read_the_same_bytes(void **state) {
  static reader own[THREADS], alone;
  pthread_t thread[THREADS];
  tree t = fish(THREE);
  alone.b = t.b;
  read_all(&alone);
  for (int k = 0; k < THREADS; k++) {
    own[k].b = t.b;
    assert_int_equal(pthread_create(&thread[k], NULL, read_all, &own[k]), 0);
  }
  for (int k = 0; k < THREADS; k++) {
    pthread_join(thread[k], NULL);
    assert_memory_equal(own[k].A, alone.A, sizeof alone.A);
    assert_memory_equal(own[k].dA, alone.dA, sizeof alone.dA);
  }
  tree_free(&t);
}

/* --- symmetry, drawing --- */

/* The mirror image of a shape has the opposite angles. A chain of equal ellipses is the same chain if its bodies are
 * counted from the other end. */
static void mirror_images_and_the_other_end(void **state) {
  static values v, w;
  tree t = fish(THREE "nodes: 48");
  const double r[2] = {.5, -1.1};
  values_at(t.b, r, &v);
  values_at(t.b, (double[]){-r[0], -r[1]}, &w);
  for (int e = 0; e < 6; e++) check_near(w.A[e], e < 2 ? -v.A[e] : v.A[e], 1e-12);
  check_at_most(difference(v.M, w.M, 4), 1e-12);
  values_at(t.b, (double[]){-r[1], -r[0]}, &w); /* rotated by pi around the middle, counted from the other end */
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 2; i++) check_near(w.A[2 * a + i], (a < 2 ? 1 : -1) * v.A[2 * a + 1 - i], 1e-12);
  tree_free(&t);
}

/* The middle and heading of each outline follow from the angles. Both bodies at a hinge have the hinge at the same
 * point. */
static void bodies_are_drawn_where_they_are(void **state) {
  static double x[512][3];
  const double r[2] = {.6, -.4}, g[3] = {1, -2, .7};
  tree t = fish("bodies: [{ellipse: [1, 0.2]}, {ellipse: [0.8, 0.1]}, {ellipse: [0.5, 0.3]}]\nhinges: [0.2, 0.1]\n");
  assert_int_equal(t.b->points, 192);
  assert_int_equal(t.b->lines, 192);
  check_ok(t.b->class_->plot(t.b, r, g, x));
  const double heading[3] = {.1, .7, .3}, half[3] = {1, .8, .5};
  double middle[3][2] = {{0}};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 64; k++)
      for (int a = 0; a < 2; a++) middle[i][a] += x[64 * i + k][a] / 64;
  check_near(middle[1][0], 1, 1e-14);
  check_near(middle[1][1], -2, 1e-14);
  for (int i = 0; i < 2; i++) {
    const double gap = i ? .1 : .2, *p = middle[i], *q = middle[i + 1], a = half[i] + gap, b = half[i + 1] + gap;
    check_near(p[0] + a * cos(heading[i]), q[0] - b * cos(heading[i + 1]), 1e-14);
    check_near(p[1] + a * sin(heading[i]), q[1] - b * sin(heading[i + 1]), 1e-14);
  }
  for (int k = 0; k < 192; k++) {
    assert_int_equal(t.b->line[k][0], k);
    assert_int_equal(t.b->line[k][1], k % 64 == 63 ? k - 63 : k + 1);
  }
  tree_free(&t);
}

/* --- errors --- */

static void shapes_at_which_bodies_overlap_are_named(void **state) {
  double A[6];
  tree t = fish(THREE "nodes: 32");
  assert_int_equal(cb_bundle_connection(t.b, (double[]){3, .1}, A, NULL, NULL, NULL), CB_STEP_DOMAIN);
  assert_string_equal(
      cb_error_text(),
      "bundle perfect_fish at alpha1 = 3, alpha2 = 0.1: bodies 1 and 2 overlap: expected bodies that do not touch");
  assert_int_equal(cb_bundle_connection(t.b, (double[]){2.2, 2.2}, A, NULL, NULL, NULL), CB_STEP_DOMAIN);
  assert_string_equal(
      cb_error_text(),
      "bundle perfect_fish at alpha1 = 2.2, alpha2 = 2.2: bodies 1 and 3 overlap: expected bodies that do not touch");
  assert_int_equal(cb_bundle_connection(t.b, (double[]){NAN, 0}, A, NULL, NULL, NULL), CB_STEP_DOMAIN);
  check_ok(cb_bundle_connection(t.b, (double[]){1, -1}, A, NULL, NULL, NULL));
  tree_free(&t);
  t = fish("bodies: [{ellipse: [1, 0.2]}, {ellipse: [1, 0.2]}]\nhinges: 0.003\nnodes: 32");
  assert_int_equal(cb_bundle_connection(t.b, (double[]){0}, A, NULL, NULL, NULL), CB_STEP_DOMAIN);
  if (!strstr(cb_error_text(), "too close for 32 nodes")) fail_msg("%s", cb_error_text());
  tree_free(&t);
}

static void what_is_no_fish_is_refused(void **state) {
#define TWO "bodies: [{ellipse: [1, 0.2]}, {ellipse: [1, 0.2]}]\n"
  static const char *const cases[][2] = {
      {"hinges: [1, 2, 3]", "hinges: expected a length above 0, or a list of 2"},
      {"bodies: [{ellipse: [1, 2]}]\nhinges: 1", "test.yaml:1:9: error: bodies: expected a list of 2 to 8 bodies"},
      {"bodies: {ellipse: [1, 2]}\nhinges: 1", "bodies: expected a list of 2 to 8 bodies"},
      {"bodies: [1, 2]\nhinges: 1", "test.yaml:1:10: error: bodies: expected {ellipse: [a, b], density: 1}"},
      {"bodies: [{ellipse: [1]}, {ellipse: [1, 2]}]\nhinges: 1",
       "test.yaml:1:20: error: ellipse: expected [a, b], 2 numbers"},
      {"bodies: [{ellipse: [1, -1]}, {ellipse: [1, 2]}]\nhinges: 1", "ellipse: expected semi-axes above 0"},
      {"bodies: [{density: 1}, {ellipse: [1, 2]}]\nhinges: 1", "bodies: expected {ellipse: [a, b]} or {joukowski"},
      {"bodies: [{ellipse: [1, 1], joukowski: [1, 1, 1]}, {ellipse: [1, 2]}]\nhinges: 1", "bodies: expected {ellipse"},
      {"bodies: [{joukowski: [1, 0, 0]}, {ellipse: [1, 2]}]\nhinges: 1",
       "bulge >= 0 and tail >= 0, and not both bulge and tail 0"},
      {"bodies: [{joukowski: [1, 0.1, 0]}, {ellipse: [1, 2]}]\nhinges: 1\nnodes: 128", "too thin"},
      {"bodies: [{ellipse: [1, 2], density: -1}, {ellipse: [1, 2]}]\nhinges: 1", "density"},
      {"bodies: [{ellipse: [1, 2], mass: 1}, {ellipse: [1, 2]}]\nhinges: 1", "mass"},
      {TWO "hinges: 0", "test.yaml:2:9: error: hinges: expected a length above 0, or a list of 1"},
      {TWO "hinges: [1, 2]", "hinges: expected a length above 0, or a list of 1"},
      {TWO "hinges: {a: 1}", "hinges: expected a length above 0, or a list of 1"},
      {TWO "hinges: 1\nnodes: 33", "nodes: 33, expected an even number"},
      {TWO "hinges: 1\nnodes: 4", "nodes"},
      {TWO "hinges: 1\nbase: 3", "base: 3: expected a body from 1 to 2, or 0"},
      {TWO "hinges: 1\ncoupling: 2", "coupling"},
      {TWO "hinges: -1\nbase: 3", "base: 3"},
  };
  for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
    tree t;
    assert_int_equal(fish_create(cases[k][0], &t), CB_ERROR_INPUT);
    if (!strstr(cb_error_text(), cases[k][1]))
      fail_msg("%s\n\"%s\" lacks \"%s\"", cases[k][0], cb_error_text(), cases[k][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_form_is_the_energy_of_the_poses),
      cmocka_unit_test(without_coupling_it_is_a_chain_of_links),
      cmocka_unit_test(links_far_apart_are_not_coupled),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(curvature_is_that_of_every_bundle),
      cmocka_unit_test(threads_read_the_same_bytes),
      cmocka_unit_test(mirror_images_and_the_other_end),
      cmocka_unit_test(bodies_are_drawn_where_they_are),
      cmocka_unit_test(shapes_at_which_bodies_overlap_are_named),
      cmocka_unit_test(what_is_no_fish_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
