/* Tests that models of bundles are consistent: derivatives of the connection A and the metric M against differences,
 * small loops against the curvature B, Bianchi's identity, closed forms against jets, plots of chains, and singular
 * shapes. g is an element of the group, and D_k the covariant derivative by shape variable k. */
#include "models.h"

/* A class of bundles with the text of its parameters. Random shapes are between low and high. */
typedef struct kind {
  const char *name, *text;
  double low[CB_SHAPE_MAX], high[CB_SHAPE_MAX];
} kind;

static const kind kinds[] = {
    {"heisenberg", "", {-1, -1}, {1, 1}},
    {"hopf", "", {-1, -1}, {1, 1}},
    {"pmpy", "viscosity .7", {3, 1}, {8, 7}},
    {"three_sphere", "radius .2 viscosity 1.3", {.6, .6}, {2, 2}},
    {"hopping_leg", "inertia .6 mass 1.7 length .4", {-3, 0}, {3, 1}},
    {"rolling_ball", "radius .7", {-1, -1}, {1, 1}},
    {"falling_cat", "mass_1 2 mass_2 .7 inertia_1 .3 arm_1 .8", {-3}, {3}},
    {"constant_curvature_swimmer", "space S2 radius 1.2", {.2, .1}, {1.3, 1.4}},
    {"constant_curvature_swimmer", "space H3 radius .8 legs 5", {.2, .1}, {1.3, 1.4}},
    {"constant_curvature_swimmer", "space E3 legs 3", {.2, .1}, {1.3, 1.4}},
    {"sphere_robot", "inertia .3 across_mass .4", {-1, -1}, {1, 1}},
    {"raft_pendulum", "raft_mass 3 mass 2 length 1.5", {-.8, -.8}, {.8, .8}},
    {"raft_pendulum", "yaw false", {-.8, -.8}, {.8, .8}},
    {"kinematic_snake", "length 2", {.2, -1.4}, {1.4, -.2}},
    {"purcell", "", {-2, -2}, {2, 2}},
    {"purcell", "links 2", {-2}, {2}},
    {"purcell", "links 5 ratio 1.6 turn .2 shares [1,2,3,2,1] base 2", {-2, -2, -2, -2}, {2, 2, 2, 2}},
    {"floating_snake", "", {-2, -2}, {2, 2}},
    {"floating_snake", "links 4 base 4 shares [1,2,3,2]", {-2, -2, -2}, {2, 2, 2}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void random_shape(uint64_t *seed, const kind *k, int n, double *r) {
  for (int i = 0; i < n; i++) r[i] = check_uniform(seed, k->low[i], k->high[i]);
}

enum { ENTRIES = CB_GROUP_DIM * CB_SHAPE_MAX, SQUARES = CB_SHAPE_MAX * CB_SHAPE_MAX };

/* Compares dA and dM with central differences of order 6 and step h = .004. For these functions their truncation error
 * is about 1e-11 and their round-off 1e-13. */
static void derivatives_agree_with_differences(void **state) {
  static const double weight[3] = {3. / 4, -3. / 20, 1. / 60};
  static double dA[CB_SHAPE_MAX * ENTRIES], dM[CB_SHAPE_MAX * SQUARES];
  uint64_t seed = check_seed();
  for (int k = 0; k < KINDS; k++) {
    cb_bundle *b = model(kinds[k].name, kinds[k].text);
    const int n = b->n, dim = b->group->dim;
    for (int trial = 0; trial < 5; trial++) {
      double r[CB_SHAPE_MAX], A[2][ENTRIES], M[2][SQUARES], value[ENTRIES], metric[SQUARES];
      random_shape(&seed, &kinds[k], n, r);
      check_ok(cb_bundle_connection(b, r, value, dA, metric, dM));
      for (int c = 0; c < n; c++) {
        const double at = r[c], h = .004;
        double fa[ENTRIES] = {0}, fm[SQUARES] = {0};
        for (int s = 1; s <= 3; s++) {
          for (int back = 0; back < 2; back++) {
            r[c] = at + (back ? -s : s) * h;
            check_ok(cb_bundle_connection(b, r, A[back], NULL, M[back], NULL));
          }
          for (int e = 0; e < dim * n; e++) fa[e] += weight[s - 1] * (A[0][e] - A[1][e]) / h;
          for (int e = 0; e < n * n; e++) fm[e] += weight[s - 1] * (M[0][e] - M[1][e]) / h;
        }
        r[c] = at;
        for (int e = 0; e < dim * n; e++) check_near(dA[c * dim * n + e], fa[e], 1e-8 * (1 + fabs(value[e])));
        for (int e = 0; e < n * n; e++) check_near(dM[c * n * n + e], fm[e], 1e-8 * (1 + fabs(metric[e])));
      }
    }
    cb_bundle_free(b);
  }
}

/* Compares the second derivatives that on_jets computes with differences of dA and dM. */
static void second_derivatives_agree_with_differences(void **state) {
  static const double weight[3] = {3. / 4, -3. / 20, 1. / 60};
  static double dA[2][CB_SHAPE_MAX * ENTRIES], dM[2][CB_SHAPE_MAX * SQUARES];
  static double fa[CB_SHAPE_MAX * ENTRIES], fm[CB_SHAPE_MAX * SQUARES];
  static cb_jet x[CB_JET_MAX], A[ENTRIES], M[SQUARES];
  uint64_t seed = check_seed();
  for (int k = 0; k < KINDS; k++) {
    cb_bundle *b = model(kinds[k].name, kinds[k].text);
    const int n = b->n, entries = b->group->dim * n, squares = n * n;
    double r[CB_SHAPE_MAX];
    random_shape(&seed, &kinds[k], n, r);
    for (int i = 0; i < n; i++) x[i] = cb_jet_variable(n, i, r[i]);
    check_ok(b->class_->on_jets(b, x, A, M));
    for (int c = 0; c < n; c++) {
      const double at = r[c], h = .004;
      memset(fa, 0, sizeof fa);
      memset(fm, 0, sizeof fm);
      for (int s = 1; s <= 3; s++) {
        for (int back = 0; back < 2; back++) {
          r[c] = at + (back ? -s : s) * h;
          check_ok(cb_bundle_connection(b, r, NULL, dA[back], NULL, dM[back]));
        }
        for (int e = 0; e < n * entries; e++) fa[e] += weight[s - 1] * (dA[0][e] - dA[1][e]) / h;
        for (int e = 0; e < n * squares; e++) fm[e] += weight[s - 1] * (dM[0][e] - dM[1][e]) / h;
      }
      r[c] = at;
      for (int d = 0; d < n; d++) {
        const int hessian = cb_jet_packed(c, d);
        for (int e = 0; e < entries; e++) check_near(A[e].h[hessian], fa[d * entries + e], 1e-7 * (1 + fabs(A[e].v)));
        for (int e = 0; e < squares; e++) check_near(M[e].h[hessian], fm[d * squares + e], 1e-7 * (1 + fabs(M[e].v)));
      }
    }
    cb_bundle_free(b);
  }
}

static void metrics_are_symmetric_and_positive(void **state) {
  uint64_t seed = check_seed();
  for (int k = 0; k < KINDS; k++) {
    cb_bundle *b = model(kinds[k].name, kinds[k].text);
    const int n = b->n;
    double r[CB_SHAPE_MAX], M[SQUARES], u[CB_SHAPE_MAX];
    for (int trial = 0; trial < 20; trial++) {
      random_shape(&seed, &kinds[k], n, r);
      check_ok(cb_bundle_connection(b, r, NULL, NULL, M, NULL));
      check_direction(&seed, n, u);
      double square = 0;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          square += M[i * n + j] * u[i] * u[j];
          check_near(M[i * n + j], M[j * n + i], 1e-15 * fabs(M[i * n + i] + M[j * n + j]));
        }
      check_at_least(square, 1e-6);
    }
    cb_bundle_free(b);
  }
}

/* The closed form agrees with jets, for 2 to 12 links and several base links. The closed form treats the links on the
 * two sides of the base separately; jets do not. */
static void chains_in_closed_form_agree_with_jets(void **state) {
  static cb_jet x[CB_JET_MAX], A[ENTRIES], M[SQUARES];
  static double dA[CB_SHAPE_MAX * ENTRIES], dM[CB_SHAPE_MAX * SQUARES];
  uint64_t seed = check_seed();
  for (int links = 2; links <= 12; links++)
    for (int base = 1; base <= links; base += 1 + links / 4) {
      char text[64];
      snprintf(text, sizeof text, "links %d base %d", links, base);
      cb_bundle *b = model(links % 2 ? "purcell" : "floating_snake", text);
      const int n = b->n, dim = 3;
      double r[CB_SHAPE_MAX], a[ENTRIES], m[SQUARES];
      for (int i = 0; i < n; i++) {
        r[i] = check_uniform(&seed, -2, 2);
        x[i] = cb_jet_variable(n, i, r[i]);
      }
      check_ok(cb_bundle_connection(b, r, a, dA, m, dM));
      check_ok(b->class_->on_jets(b, x, A, M));
      for (int e = 0; e < dim * n; e++) {
        check_near(a[e], A[e].v, 1e-12);
        for (int c = 0; c < n; c++) check_near(dA[c * dim * n + e], A[e].g[c], 1e-12);
      }
      for (int e = 0; e < n * n; e++) {
        check_near(m[e], M[e].v, 1e-12);
        for (int c = 0; c < n; c++) check_near(dM[c * n * n + e], M[e].g[c], 1e-12);
      }
      cb_bundle_free(b);
    }
}

/* Checks the plot. The links have their lengths and join end to end, and there is one line per link. The group element
 * g gives the middle and heading of the base; other headings follow from the shape. */
static void check_drawn(const char *name, int links, int base, uint64_t *seed) {
  char text[128];
  double share[12], sum = 0, r[CB_SHAPE_MAX], x[13][3], heading[12];
  size_t used = (size_t)snprintf(text, sizeof text, "links %d base %d length 2.5 shares [", links, base);
  for (int k = 0; k < links; k++) {
    share[k] = 1 + (7 * k + links) % 4;
    sum += share[k];
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%g", k ? "," : "", share[k]);
  }
  snprintf(text + used, sizeof text - used, "]");
  cb_bundle *b = model(name, text);
  const double g[3] = {check_uniform(seed, -2, 2), check_uniform(seed, -2, 2), check_uniform(seed, -3, 3)};
  const int at = base ? base - 1 : (links - 1) / 2;
  assert_int_equal(b->points, links + 1);
  assert_int_equal(b->lines, links);
  for (int i = 0; i < b->n; i++) r[i] = check_uniform(seed, -2, 2);
  check_ok(b->class_->plot(b, r, g, x));
  for (int k = 0; k < links; k++) {
    assert_int_equal(b->line[k][0], k);
    assert_int_equal(b->line[k][1], k + 1);
    const double dx = x[k + 1][0] - x[k][0], dy = x[k + 1][1] - x[k][1];
    check_near(hypot(dx, dy), 2.5 * share[k] / sum, 1e-14);
    heading[k] = atan2(dy, dx);
    check_near(x[k][2], 0, 0);
  }
  check_near(x[links][2], 0, 0);
  for (int i = 0; i < 2; i++) check_near((x[at][i] + x[at + 1][i]) / 2, g[i], 1e-14);
  check_near(remainder(heading[at] - g[2], 2 * M_PI), 0, 1e-13);
  for (int k = 0; k < b->n; k++) check_near(remainder(heading[k + 1] - heading[k] - r[k], 2 * M_PI), 0, 1e-13);
  cb_bundle_free(b);
}

static void chains_are_drawn_where_they_are(void **state) {
  uint64_t seed = check_seed();
  for (int links = 2; links <= 12; links++)
    for (int base = 0; base <= links; base++) {
      check_drawn("purcell", links, base, &seed);
      check_drawn("floating_snake", links, base, &seed);
    }
}

/* If another link is the base, the body frame changes, but the angle component B_theta of the curvature does not
 * change. */
static void another_base_link_keeps_the_curvature_of_the_angle(void **state) {
  const double r[3] = {.4, -.9, .6};
  double B[2][9];
  for (int k = 0; k < 2; k++) {
    cb_bundle *b = model("purcell", k ? "links 4 base 4" : "links 4 base 2");
    check_ok(cb_bundle_curvatures(b, r, B[k]));
    cb_bundle_free(b);
  }
  for (int pair = 0; pair < 3; pair++) check_near(B[0][3 * pair + 2], B[1][3 * pair + 2], 1e-14);
}

typedef struct small_loop {
  double centre[CB_SHAPE_MAX], radius;
  int n, i, j;
} small_loop;

static void on_small_loop(const void *data, double t, double *r, double *rate) {
  const small_loop *own = data;
  const double turn = 2 * M_PI, a = turn * t;
  for (int k = 0; k < own->n; k++) {
    r[k] = own->centre[k];
    rate[k] = 0;
  }
  r[own->i] += own->radius * cos(a);
  r[own->j] += own->radius * sin(a);
  rate[own->i] = -turn * own->radius * sin(a);
  rate[own->j] = turn * own->radius * cos(a);
}

/* The holonomy g of a small circle satisfies log g = -B area + O(radius^3), with B at the centre. If the radius is
 * halved, the remainder decreases to an eighth or less. The tolerance of 15 % allows for terms of fourth order. */
static void small_loops_go_by_the_curvature(void **state) {
  uint64_t seed = check_seed();
  for (int k = 0; k < KINDS; k++) {
    cb_bundle *b = model(kinds[k].name, kinds[k].text);
    for (int trial = 0; trial < 3 && b->n > 1; trial++) {
      small_loop loop = {.n = b->n, .i = trial % (b->n - 1), .j = b->n - 1};
      double B[CB_GROUP_DIM], g[CB_GROUP_SIZE], w[CB_GROUP_DIM], rest[2] = {0};
      random_shape(&seed, &kinds[k], b->n, loop.centre);
      check_ok(cb_bundle_curvature(b, loop.centre, loop.i, loop.j, B));
      for (int half = 0; half < 2; half++) {
        loop.radius = half ? 4e-3 : 8e-3;
        model_loop(b, on_small_loop, &loop, 20, g, NULL);
        check_ok(b->group->log(b->group, g, w));
        for (int a = 0; a < b->group->dim; a++)
          rest[half] = fmax(rest[half], fabs(w[a] + B[a] * M_PI * loop.radius * loop.radius));
      }
      check_at_most(rest[1], rest[0] / 8 * 1.15 + 1e-12);
      check_at_most(rest[0], 200 * 512e-9);
    }
    cb_bundle_free(b);
  }
}

/* Bianchi's identity: D_0 B_1l + D_1 B_l0 + D_l B_01 = 0, where l is the last variable. p01, p0l and p1l are the
 * numbers of the pairs (0,1), (0,l) and (1,l). */
static void bianchi_holds(void **state) {
  static double DB[5 * 10 * 3];
  const char *const name[] = {"purcell", "floating_snake", "purcell"};
  const char *const text[] = {"links 4", "links 4 base 1", "links 5"};
  uint64_t seed = check_seed();
  for (int k = 0; k < 3; k++) {
    cb_bundle *b = model(name[k], text[k]);
    const int n = b->n, pairs = n * (n - 1) / 2, last = n - 1;
    const int p01 = 0, p0l = n - 2, p1l = n - 1 + (n - 3);
    for (int trial = 0; trial < 5; trial++) {
      double r[CB_SHAPE_MAX], largest = 0;
      for (int i = 0; i < n; i++) r[i] = check_uniform(&seed, -2, 2);
      check_ok(cb_bundle_covariant(b, r, DB));
      for (int a = 0; a < 3; a++) {
        const double x = DB[(0 * pairs + p1l) * 3 + a], y = -DB[(1 * pairs + p0l) * 3 + a];
        const double z = DB[(last * pairs + p01) * 3 + a];
        check_near(x + y + z, 0, 1e-11);
        largest = fmax(largest, fabs(x) + fabs(y) + fabs(z));
      }
      check_at_least(largest, 1e-4);
    }
    cb_bundle_free(b);
  }
}

static void check_fails(const char *name, const char *text, const double *r, cb_status status) {
  cb_bundle *b = model(name, text);
  double A[ENTRIES] = {7}, M[SQUARES];
  assert_int_equal(cb_bundle_connection(b, r, A, NULL, M, NULL), status);
  assert_true(A[0] == 7); /* a call that fails writes nothing */
  assert_non_null(strstr(cb_error_text(), name));
  cb_bundle_free(b);
}

static void singular_shapes_and_wrong_parameters_are_named(void **state) {
  check_fails("kinematic_snake", "", (double[]){.6, .6}, CB_STEP_SINGULAR);
  check_fails("falling_cat", "inertia_1 0 inertia_2 0", (double[]){M_PI}, CB_STEP_SINGULAR);
  check_fails("constant_curvature_swimmer", "space S2", (double[]){M_PI / 2, M_PI / 2}, CB_STEP_SINGULAR);
  check_fails("pmpy", "", (double[]){5, 9}, CB_STEP_DOMAIN);
  check_fails("pmpy", "", (double[]){-5, 2}, CB_STEP_DOMAIN);
  check_fails("three_sphere", "", (double[]){1, .15}, CB_STEP_DOMAIN);
  const char *const wrong[][2] = {{"purcell", "links 13"},
                                  {"purcell", "links 3 base 4"},
                                  {"purcell", "shares [1,2]"},
                                  {"floating_snake", "shares [1,-2,1]"},
                                  {"constant_curvature_swimmer", "space H2 legs 3"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    cb_bundle *b = NULL;
    assert_int_not_equal(model_create(wrong[k][0], wrong[k][1], &b), CB_OK);
    assert_null(b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(second_derivatives_agree_with_differences),
      cmocka_unit_test(metrics_are_symmetric_and_positive),
      cmocka_unit_test(chains_in_closed_form_agree_with_jets),
      cmocka_unit_test(chains_are_drawn_where_they_are),
      cmocka_unit_test(another_base_link_keeps_the_curvature_of_the_angle),
      cmocka_unit_test(small_loops_go_by_the_curvature),
      cmocka_unit_test(bianchi_holds),
      cmocka_unit_test(singular_shapes_and_wrong_parameters_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
