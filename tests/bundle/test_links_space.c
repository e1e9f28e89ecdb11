/* Tests of trees of links in space: sums over small pieces, derivatives, small loops, frames, the centre of mass, and
 * plots. A: connection; M: cost metric; B: curvature; G: the form ((P, Q), (Q^T, R)) of curvebody/bundle.h; g: element
 * of the group. */
#include "link_trees.h"

/* --- sums over small pieces --- */

#define ARM                                                                                        \
  "space: space\n"                                                                                 \
  "shape: [a, b]\n"                                                                                \
  "links:\n"                                                                                       \
  "  - {length: 1}\n"                                                                              \
  "  - {length: 0.8, at: 0.7, axis: [0, 0.6, 0.8], angle: a, rest: [0.3, -0.2, 0.5]}\n"            \
  "  - {length: 1.2, axis: [1, 1, -1], angle: a*b + 0.3*sin(b), offset: 0.4, rest: [0, 0.7, 0]}\n" \
  "  - {length: 0.6, parent: 0, at: 0, axis: [0, 1, 0], angle: 2*b, offset: 2}\n"

typedef double vector[3];
typedef double matrix[3][3];

/* Computes the rotation R by the vector factor * w by Rodrigues' formula. w must not be 0. */
static void turned(const double *w, double factor, matrix R) {
  const double size = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), a = factor * size;
  const double u[3] = {w[0] / size, w[1] / size, w[2] / size};
  const matrix hat = {{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) R[i][j] = (i == j) * cos(a) + sin(a) * hat[i][j] + (1 - cos(a)) * u[i] * u[j];
}
static void times(matrix a, matrix b, matrix out) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

/* Computes the first end and the direction of each link of ARM for the shape (a, b), in the frame at the middle of the
 * first link. */
static void arm_at(double a, double b, vector begin[4], vector along[4]) {
  static const double length[4] = {1, .8, 1.2, .6}, at[4] = {0, .7, 1, 0};
  static const int parent[4] = {0, 0, 1, 0};
  const double s = 1 / sqrt(3);
  const vector axis[4] = {{0}, {0, .6, .8}, {s, s, -s}, {0, 1, 0}}, rest[4] = {{0}, {.3, -.2, .5}, {0, .7, 0}, {0}};
  const double angle[4] = {0, a, a * b + .3 * sin(b) + .4, 2 * b + 2};
  matrix R[4] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (int k = 0; k < 4; k++) {
    const int p = parent[k];
    matrix hinge, bent;
    if (k) {
      turned(axis[k], angle[k], hinge);
      times(R[p], hinge, R[k]);
      if (k < 3) {
        turned(rest[k], 1, bent);
        times(R[p], hinge, R[k]);
        times(R[k], bent, hinge);
        memcpy(R[k], hinge, sizeof hinge);
      }
    }
    for (int i = 0; i < 3; i++) {
      along[k][i] = R[k][i][0];
      begin[k][i] = k ? begin[p][i] + at[k] * length[p] * along[p][i] : i ? 0 : -.5;
    }
  }
}

/* Computes A[6][2] and M[2][2] of ARM as sums over `pieces` small pieces of each link. The drag of a piece is split
 * into the parts along and across the link. With equal drag in both directions, the pieces act like points with
 * masses. */
static void sum_of_pieces(const double r[2], int pieces, double along_drag, double across_drag, double A[12],
                          double M[4]) {
  static const double length[4] = {1, .8, 1.2, .6};
  const double h = 1e-3, weight[3] = {.75, -.15, 1. / 60};
  double G[8][8] = {{0}};
  vector begin[4], along[4], dbegin[2][4] = {{{0}}}, dalong[2][4] = {{{0}}};
  arm_at(r[0], r[1], begin, along);
  for (int v = 0; v < 2; v++)
    for (int s = -3; s <= 3; s++) {
      vector x[4], e[4];
      const double w = s > 0 ? weight[s - 1] : s < 0 ? -weight[-s - 1] : 0;
      arm_at(r[0] + (v == 0) * s * h, r[1] + (v == 1) * s * h, x, e);
      for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) {
          dbegin[v][k][i] += w * x[k][i] / h;
          dalong[v][k][i] += w * e[k][i] / h;
        }
    }
  for (int k = 0; k < 4; k++)
    for (int q = 0; q < pieces; q++) {
      const double l = length[k] * (q + .5) / pieces, dl = length[k] / pieces, *e = along[k];
      double J[3][8];
      vector x;
      for (int i = 0; i < 3; i++) x[i] = begin[k][i] + l * e[i];
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) J[i][3 + j] = i == j;
        for (int v = 0; v < 2; v++) J[i][6 + v] = dbegin[v][k][i] + l * dalong[v][k][i];
        const int y = (i + 1) % 3, z = (i + 2) % 3; /* the velocity omega × x of a rotation */
        J[i][i] = 0;
        J[i][y] = x[z];
        J[i][z] = -x[y];
      }
      for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++) {
          double ua = 0, ub = 0;
          for (int i = 0; i < 3; i++) {
            ua += e[i] * J[i][a];
            ub += e[i] * J[i][b];
            G[a][b] += across_drag * dl * J[i][a] * J[i][b];
          }
          G[a][b] += (along_drag - across_drag) * dl * ua * ub;
        }
    }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) M[2 * i + j] = G[6 + i][6 + j];
  /* Gauss-Jordan elimination of the blocks P and Q of G */
  for (int p = 0; p < 6; p++) {
    const double pivot = G[p][p];
    for (int j = 0; j < 8; j++) G[p][j] /= pivot;
    for (int i = 0; i < 8; i++) {
      const double f = G[i][p];
      for (int j = 0; i != p && j < 8; j++) G[i][j] -= f * G[p][j];
    }
  }
  for (int i = 0; i < 6; i++) {
    A[2 * i] = G[i][6];
    A[2 * i + 1] = G[i][7];
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) M[2 * i + j] = G[6 + i][6 + j];
}

static void a_spatial_tree_is_the_sum_of_its_small_pieces(void **state) {
  const double r[2] = {.7, -.4};
  for (int inertia = 0; inertia < 2; inertia++) {
    char text[1024];
    snprintf(text, sizeof text, "%s\n" ARM, inertia ? "of: inertia" : "ratio: 1.8\ndrag: 0.7");
    tree t = tree_of(text);
    const double along = inertia ? 1 : .7, across = inertia ? 1 : .7 * 1.8;
    double A[12], M[4], error[3];
    check_ok(cb_bundle_connection(t.b, r, A, NULL, M, NULL));
    for (int k = 0; k < 3; k++) {
      double B[12], N[4];
      sum_of_pieces(r, 20 << k, along, across, B, N);
      error[k] = fmax(difference(A, B, 12), difference(M, N, 4));
    }
    print_message("20, 40, 80 pieces a link: %.2e %.2e %.2e\n", error[0], error[1], error[2]);
    check_near(log2(error[0] / error[1]), 2, .02);
    check_near(log2(error[1] / error[2]), 2, .02);
    check_at_most(error[2], 1e-3);
    /* The error decreases with the square of the number of pieces. So 4/3 of the finer result minus 1/3 of the coarser
     * one has a much smaller error. */
    double B[12], C[12], N[4], O[4];
    sum_of_pieces(r, 400, along, across, B, N);
    sum_of_pieces(r, 800, along, across, C, O);
    for (int i = 0; i < 12; i++) C[i] = (4 * C[i] - B[i]) / 3;
    for (int i = 0; i < 4; i++) O[i] = (4 * O[i] - N[i]) / 3;
    check_at_most(difference(A, C, 12), 1e-10);
    check_at_most(difference(M, O, 4), 1e-10);
    tree_free(&t);
  }
}

static void derivatives_are_exact(void **state) {
  uint64_t seed = check_seed();
  double r[CB_SHAPE_MAX];
  for (int base = 0; base < 4; base++) {
    char text[1024];
    snprintf(text, sizeof text, "base: %d\norigin: 0.1\nspin: 0.01\n" ARM, base);
    tree t = tree_of(text);
    for (int trial = 0; trial < 5; trial++) {
      random_shape(&seed, 2, 1, r);
      check_derivatives(t.b, r, 5e-11);
    }
    tree_free(&t);
  }
  tree t = tree_of("of: inertia\nbase: 3\n" BRANCHES);
  for (int trial = 0; trial < 5; trial++) {
    random_shape(&seed, 3, 1, r);
    check_derivatives(t.b, r, 5e-11);
  }
  tree_free(&t);
}

/* The holonomy g of a small circle satisfies log g = -B area + O(radius^3), with the curvature B at its centre. */
static void small_loops_measure_the_curvature(void **state) {
  const char *texts[] = {"spin: 0.02\n" ARM, "of: inertia\nradius: 0.1\n" ARM};
  for (int k = 0; k < 2; k++) {
    tree t = tree_of(texts[k]);
    double error[2], B[6];
    check_ok(cb_bundle_curvature(t.b, (double[]){.5, -.3}, 0, 1, B));
    for (int s = 0; s < 2; s++) {
      const double radius = .02 / (1 << s);
      const model_circle c = {.5, -.3, radius, -M_PI / 2};
      double g[CB_GROUP_SIZE], w[6];
      model_loop(t.b, on_circle, &c, 40, g, NULL);
      check_ok(t.b->group->log(t.b->group, g, w));
      error[s] = 0;
      for (int i = 0; i < 6; i++) error[s] = fmax(error[s], fabs(w[i] + B[i] * M_PI * radius * radius));
    }
    print_message("|log g + B area|: %.2e, half the radius %.2e\n", error[0], error[1]);
    check_near(log2(error[0] / error[1]), 3, .1);
    tree_free(&t);
  }
}

/* If another link is the base, or the origin is another point, the body frame changes. The metric does not change, and
 * the body moves along the same path. */
static void another_base_is_another_frame(void **state) {
  double M[2][4], x[2][8][3], y[2][8][3];
  static const char *const frames[2] = {"base: 0\n", "base: 2\norigin: 0.9\n"};
  for (int k = 0; k < 2; k++) {
    char text[1024];
    snprintf(text, sizeof text, "%s" ARM, frames[k]);
    tree t = tree_of(text);
    const model_circle c = {.2, .4, .7, -M_PI / 2};
    double r[2], rate[2], g[CB_GROUP_SIZE], one[CB_GROUP_SIZE];
    on_circle(&c, 0, r, rate);
    check_ok(cb_bundle_connection(t.b, r, NULL, NULL, M[k], NULL));
    model_loop(t.b, on_circle, &c, 200, g, NULL);
    t.b->group->identity(t.b->group, one);
    check_ok(t.b->class_->plot(t.b, r, one, x[k]));
    check_ok(t.b->class_->plot(t.b, r, g, y[k]));
    tree_free(&t);
  }
  check_at_most(difference(M[0], M[1], 4), 1e-13);
  /* Distances between points before the gait and points after it do not depend on the frame. */
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      double d[2];
      for (int k = 0; k < 2; k++)
        d[k] = hypot(hypot(y[k][i][0] - x[k][j][0], y[k][i][1] - x[k][j][1]), y[k][i][2] - x[k][j][2]);
      check_near(d[0], d[1], 1e-10);
    }
}

static void the_centre_of_mass_of_a_spatial_tree_stays(void **state) {
  tree t = tree_of("of: inertia\n" ARM);
  static const double mass[4] = {1, .8, 1.2, .6};
  double centre[4][3] = {{0}};
  double g[CB_GROUP_SIZE];
  t.b->group->identity(t.b->group, g);
  const double corner[4][2] = {{.3, .2}, {1, -.4}, {-.2, 1.3}, {-.9, .1}};
  for (int k = 0; k < 4; k++) {
    double x[8][3];
    if (k) {
      const side s = {{corner[k - 1][0], corner[k - 1][1]}, {corner[k][0], corner[k][1]}};
      model_carry(t.b, on_side, &s, 60, g, NULL, NULL);
    }
    check_ok(t.b->class_->plot(t.b, corner[k], g, x));
    for (int l = 0; l < 4; l++)
      for (int i = 0; i < 3; i++) centre[k][i] += mass[l] * (x[2 * l][i] + x[2 * l + 1][i]) / (2 * 3.6);
    check_at_most(difference(centre[k], centre[0], 3), 1e-11); /* the error of 60 steps of order 6 */
  }
  tree_free(&t);
}

static void plots_are_where_the_links_are(void **state) {
  tree t = tree_of(ARM);
  double x[8][3];
  vector begin[4], along[4];
  static const double length[4] = {1, .8, 1.2, .6};
  arm_at(.7, -.4, begin, along);
  check_ok(t.b->class_->plot(t.b, (double[]){.7, -.4}, (double[]){sqrt(.5), 0, 0, sqrt(.5), 1, 2, 3}, x));
  assert_int_equal(t.b->lines, 4);
  for (int k = 0; k < 4; k++)
    for (int end = 0; end < 2; end++) {
      vector p;
      for (int i = 0; i < 3; i++) p[i] = begin[k][i] + end * length[k] * along[k][i];
      const int at = t.b->line[k][end]; /* g is a quarter turn around z, then a shift by (1, 2, 3) */
      check_near(x[at][0], 1 - p[1], 1e-14);
      check_near(x[at][1], 2 + p[0], 1e-14);
      check_near(x[at][2], 3 + p[2], 1e-14);
    }
  tree_free(&t);
  t = tree_of(BRANCHES);
  double y[12][3];
  check_ok(t.b->class_->plot(t.b, (double[]){.1, .2, .3}, (double[]){5, 6, M_PI / 2}, y));
  check_near(y[0][0], 5, 1e-14);
  check_near(y[0][1], 6 - .55, 1e-14);
  check_near(y[2][0], 5, 1e-14);
  check_near(y[2][1], 6 + .55, 1e-14);
  check_near(y[7][2], 0, 0);
  tree_free(&t);
}

/* The blocks P and Q of the form G, which the class computes, determine A. */
static void the_form_makes_the_connection(void **state) {
  tree t = tree_of(ARM);
  const double r[2] = {.7, -.4};
  double G[64], A[12], M[4];
  check_ok(t.b->class_->form(t.b, r, G, NULL));
  check_ok(cb_bundle_connection(t.b, r, A, NULL, M, NULL));
  for (int j = 0; j < 2; j++) {
    for (int i = 0; i < 6; i++) {
      double sum = 0;
      for (int k = 0; k < 6; k++) sum += G[i * 8 + k] * A[k * 2 + j];
      check_near(sum, G[i * 8 + 6 + j], 1e-13);
    }
    double sum = G[(6 + j) * 8 + 6 + j];
    for (int k = 0; k < 6; k++) sum -= G[k * 8 + 6 + j] * A[k * 2 + j];
    check_near(sum, M[3 * j], 1e-13);
  }
  tree_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_spatial_tree_is_the_sum_of_its_small_pieces),
      cmocka_unit_test(derivatives_are_exact),
      cmocka_unit_test(small_loops_measure_the_curvature),
      cmocka_unit_test(another_base_is_another_frame),
      cmocka_unit_test(the_centre_of_mass_of_a_spatial_tree_stays),
      cmocka_unit_test(plots_are_where_the_links_are),
      cmocka_unit_test(the_form_makes_the_connection),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
