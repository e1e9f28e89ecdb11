/* Tests of Kirchhoff's tensor K of added mass (6x6, rotations first) against closed forms and general laws: bodies of
 * revolution and ellipsoids, pairs of spheres, bodies that are moved, rotated and mirrored, and comparisons between
 * solution methods. The reference values are ellipsoids by Carlson's integrals, spheres by a series of images, and
 * extrapolated values for the torus and the bar.
 */
#include "potential.h"
#include "core/threads.h"
#include "potential/linear_solvers.h"

/* Computes the tensor of the finer of two meshes with the sizes h and h/2, and the limit without errors of order
 * h^2. */
static void extrapolate(double a, double b, double c, int n, cb_kirchhoff_mass *fine, cb_kirchhoff_mass *limit) {
  solid_mesh m[2] = {ellipsoid_mesh(n, a, b, c), ellipsoid_mesh(2 * n, a, b, c)};
  const cb_kirchhoff_mass coarse = mass_of(m, NULL, NULL);
  *fine = mass_of(m + 1, NULL, NULL);
  for (int i = 0; i < 36; i++) limit->K[i / 6][i % 6] = extrapolated(coarse.K[i / 6][i % 6], fine->K[i / 6][i % 6]);
  free_mesh(m);
  free_mesh(m + 1);
}

static void ellipsoids_are_closed_forms(void **unused) {
  static const struct {
    double axes[3], K[6];
  } all[] = {
      {{1, 1, 1}, {0, 0, 0, 2.0943951023932, 2.0943951023932, 2.0943951023932}},
      {{3, 1, 1}, {0, 11.703770322599, 11.703770322599, 1.532702719905, 10.102093957219, 10.102093957219}},
      {{1, 1, 0.5}, {0.17727898981607, 0.17727898981607, 0, 0.64839525235831, 0.64839525235831, 2.3353772201132}},
      {{3, 2, 1},
       {9.6325576313697, 35.599830507688, 3.9141914749957, 4.6560012697569, 9.1619709065627, 34.218917658493}},
  };
  for (size_t e = 0; e < sizeof all / sizeof *all; e++) {
    cb_kirchhoff_mass fine, limit;
    const double *s = all[e].axes, size = all[e].K[5];
    extrapolate(s[0], s[1], s[2], 12, &fine, &limit);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) {
        const double K = i == j ? all[e].K[i] : 0;
        /* The fine mesh has 4608 faces, and its error is of order h^2. */
        check_near(fine.K[i][j], K, 4e-3 * fmax(K, 0.1 * size));
        check_near(limit.K[i][j], K, 4e-4 * fmax(K, 0.1 * size));
      }
  }
}

/* The centres of two unit spheres are at the distance d along z. The columns of `oracle` are d, and the added mass per
 * sphere for motions together along the line of the centres, together across it, and opposed across it. The opposed
 * motion is a rotation of both spheres about the middle of the line. */
static void two_spheres_are_a_series(void **unused) {
  static const double oracle[2][4] = {{2.5, 1.7310312089664, 2.3090610478758, 1.9050591820032},
                                      {4, 1.9980469137778, 2.1439821448999, 2.0457971849735}};
  for (int i = 0; i < 2; i++) {
    cb_kirchhoff_mass mass[2];
    for (int fine = 0; fine < 2; fine++) {
      const double up[3] = {0, 0, oracle[i][0] / 2}, down[3] = {0, 0, -oracle[i][0] / 2};
      solid_mesh m = ellipsoid_mesh(fine ? 16 : 8, 1, 1, 1), a = shifted_mesh(&m, up), b = shifted_mesh(&m, down),
                 both = joined_mesh(&a, &b);
      mass[fine] = mass_of(&both, NULL, NULL);
      free_mesh(&m);
      free_mesh(&a);
      free_mesh(&b);
      free_mesh(&both);
    }
    /* The values of `oracle` are per sphere. */
    check_relative(extrapolated(mass[0].K[5][5], mass[1].K[5][5]) / 2, oracle[i][1], 1e-3);
    check_relative(extrapolated(mass[0].K[3][3], mass[1].K[3][3]) / 2, oracle[i][2], 1e-3);
    check_relative(extrapolated(mass[0].K[0][0], mass[1].K[0][0]), 2 * oracle[i][0] * oracle[i][0] / 4 * oracle[i][3],
                   1e-3);
  }
}

static void a_torus_is_as_in_the_table(void **unused) {
  solid_mesh m[2] = {shape_mesh("torus", "{resolution: 32}"), shape_mesh("torus", "{resolution: 64}")};
  const cb_kirchhoff_mass coarse = mass_of(m, NULL, NULL), fine = mass_of(m + 1, NULL, NULL);
  /* The tolerances cover the rounding of the expected values, and errors of order h^4. */
  check_near(extrapolated(coarse.K[3][3], fine.K[3][3]), 1.972, 3e-3);
  check_near(extrapolated(coarse.K[5][5], fine.K[5][5]), 5.249, 5e-3);
  free_mesh(m);
  free_mesh(m + 1);
}

/* In the mirror image x -> -x, elements of K that couple the axis x with the axes y or z change their sign. Elements
 * that couple a rotation with a translation change their sign once more. */
static void a_twisted_bar_spins_as_it_sinks(void **unused) {
  static const double coupling[3] = {0.21, 0.16, 0.075};
  solid_mesh m = shape_mesh("twisted_bar", "{}"), image = mirrored_mesh(&m),
             other = shape_mesh("twisted_bar", "{twist: -pi}");
  const cb_kirchhoff_mass bar = mass_of(&m, NULL, NULL), mirror = mass_of(&image, NULL, NULL),
                          back = mass_of(&other, NULL, NULL);
  double size[3], sorted[3];
  for (int i = 0; i < 3; i++) {
    size[i] = fabs(bar.K[i][3 + i]);
    check_near(back.K[i][3 + i], -bar.K[i][3 + i], 1e-6);
    for (int j = 0; j < 3; j++) {
      const double sign = (i == 0) == (j == 0) ? 1 : -1;
      /* the tolerance is the residual of the iteration */
      check_near(mirror.K[3 + i][3 + j], sign * bar.K[3 + i][3 + j], 1e-6);
      check_near(mirror.K[i][j], sign * bar.K[i][j], 1e-6);
      check_near(mirror.K[i][3 + j], -sign * bar.K[i][3 + j], 1e-6);
    }
  }
  sorted[0] = fmax(size[0], fmax(size[1], size[2]));
  sorted[2] = fmin(size[0], fmin(size[1], size[2]));
  sorted[1] = size[0] + size[1] + size[2] - sorted[0] - sorted[2];
  /* The expected values have two digits, and the edges of the bar cause errors. */
  for (int i = 0; i < 3; i++) check_relative(sorted[i], coupling[i], 0.15);
  free_mesh(&m);
  free_mesh(&image);
  free_mesh(&other);
}

/* Computes the tensor K of a body that is rotated by R and then shifted by d, from its tensor `was`: K = X^T was X. */
static void moved(const cb_kirchhoff_mass *was, const double R[3][3], const double d[3], double K[6][6]) {
  double X[6][6] = {{0}}, KX[6][6] = {{0}};
  const double hat[3][3] = {{0, -d[2], d[1]}, {d[2], 0, -d[0]}, {-d[1], d[0], 0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      X[i][j] = X[3 + i][3 + j] = R[j][i];
      for (int l = 0; l < 3; l++) X[3 + i][j] -= R[l][i] * hat[l][j];
    }
  memset(K, 0, 36 * sizeof(double));
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int l = 0; l < 6; l++) KX[i][j] += was->K[i][l] * X[l][j];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int l = 0; l < 6; l++) K[i][j] += X[l][i] * KX[l][j];
}

static void motions_of_the_origin_are_exact(void **unused) {
  static const cb_potential_method method[] = {CB_POTENTIAL_DENSE, CB_POTENTIAL_ITERATIVE};
  static const double one[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const double c = cos(0.7), s = sin(0.7),
               turned[3][3] = {{c, -s * 0.6, s * 0.8}, {s, c * 0.6, -c * 0.8}, {0, 0.8, 0.6}}, d[3] = {3, -2, 5};
  solid_mesh m = shape_mesh("twisted_bar", "{resolution: 24}");
  double(*x)[3] = malloc((size_t)m.vertices * sizeof *x), K[6][6];
  for (int i = 0; i < 4; i++) {
    const double(*R)[3] = i / 2 ? turned : one;
    const cb_kirchhoff_options options = {.method = method[i % 2]};
    const solid_mesh there = {m.vertices, m.faces, x, m.face};
    for (int n = 0; n < m.vertices; n++)
      for (int k = 0; k < 3; k++) x[n][k] = d[k] + R[k][0] * m.x[n][0] + R[k][1] * m.x[n][1] + R[k][2] * m.x[n][2];
    cb_kirchhoff *k = kirchhoff_of(&m, &options);
    cb_kirchhoff_mass was;
    check_ok(cb_kirchhoff_added_mass(k, NULL, &was));
    moved(&was, R, d, K);
    const cb_kirchhoff_mass fresh = mass_of(&there, &options, NULL);
    double size = 0;
    for (int j = 0; j < 36; j++) size = fmax(size, fabs(K[j / 6][j % 6]));
    for (int j = 0; j < 36;
         j++) /* i = 3: the iteration in rotated axes solves other right-hand sides, so its residuals differ */
      check_near(fresh.K[j / 6][j % 6], K[j / 6][j % 6], (i == 3 ? 1e-7 : 1e-12) * size);
    cb_kirchhoff_free(k);
  }
  free(x);
  free_mesh(&m);
}

/* The dense solver and the iteration agree, also after a change of shape, where the iteration starts from its last
 * solution. */
static void methods_agree(void **unused) {
  solid_mesh m = ellipsoid_mesh(9, 1, 0.6, 0.3), same = m;
  double(*v)[3] = malloc((size_t)m.vertices * sizeof *v), (*x)[3] = malloc((size_t)m.vertices * sizeof *x);
  for (int i = 0; i < m.vertices; i++)
    for (int k = 0; k < 3; k++) {
      v[i][k] = sin(1 + 3 * m.x[i][(k + 1) % 3]);
      x[i][k] = m.x[i][k] + 0.05 * v[i][k];
    }
  cb_kirchhoff_mass dense[2], iterative[2];
  const cb_kirchhoff_options by[2] = {{.method = CB_POTENTIAL_DENSE}, {.method = CB_POTENTIAL_ITERATIVE}};
  for (int method = 0; method < 2; method++) {
    cb_kirchhoff_mass *out = method ? iterative : dense;
    cb_kirchhoff *k = kirchhoff_of(&same, by + method);
    check_ok(cb_kirchhoff_added_mass(k, (const double(*)[3])v, out));
    check_ok(cb_kirchhoff_renew(k, (const double(*)[3])x, NULL));
    check_ok(cb_kirchhoff_added_mass(k, (const double(*)[3])v, out + 1));
    const cb_kirchhoff_report r = cb_kirchhoff_report_of(k);
    assert_int_equal(r.method, by[method].method);
    check_at_most(r.row_sum, 1e-12);
    check_at_most(r.asymmetry, 1e-2);
    if (method) check_at_most(r.residual, 1e-7);
    if (method) check_at_least(r.iterations, 2);
    cb_kirchhoff_free(k);
  }
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 36; j++) check_near(iterative[i].K[j / 6][j % 6], dense[i].K[j / 6][j % 6], 1e-6);
    for (int j = 0; j < 6; j++) check_near(iterative[i].mu0[j], dense[i].mu0[j], 1e-6);
    check_near(iterative[i].kinetic, dense[i].kinetic, 1e-6);
  }
  free(v);
  free(x);
  free_mesh(&m);
}

/* If the matrix does not fit into memory, the tree (far field) is used and reaches the requested error. */
static void trees_agree_to_their_error(void **unused) {
  solid_mesh m = ellipsoid_mesh(20, 1, 0.6, 0.3);
  const cb_kirchhoff_options stored = {.method = CB_POTENTIAL_ITERATIVE, .tolerance = 1e-10};
  const cb_kirchhoff_mass exact = mass_of(&m, &stored, NULL);
  for (double error = 1e-3; error > 1e-9; error *= 1e-2) {
    cb_kirchhoff_report report;
    const cb_kirchhoff_options tree = {.far_error = error, .memory = 75000000}; /* the matrix would need 82 MB */
    const cb_kirchhoff_mass mass = mass_of(&m, &tree, &report);
    assert_int_equal(report.method, CB_POTENTIAL_ITERATIVE);
    check_at_most((double)report.bytes, 75e6);
    check_at_most(report.row_sum, error);
    /* the row sum is not only round-off, so the matrix was not used */
    if (error > 1e-8) check_at_least(report.row_sum, 1e-13);
    for (int j = 0; j < 36; j++) check_near(mass.K[j / 6][j % 6], exact.K[j / 6][j % 6], 2 * error * exact.K[5][5]);
  }
  free_mesh(&m);
}

/* There are 8 n^2 faces. For n = 23 the matrix is stored. For n = 24 (4608 faces, whose matrix would need 170 MB) the
 * tree is used. */
static void trees_are_taken_where_they_are_quicker(void **unused) {
  for (int n = 23; n <= 24; n++) {
    solid_mesh m = ellipsoid_mesh(n, 1, 0.6, 0.3);
    cb_kirchhoff *k = kirchhoff_of(&m, NULL);
    assert_int_equal(cb_kirchhoff_report_of(k).bytes > (size_t)m.faces * (size_t)m.faces * sizeof(double), n == 23);
    cb_kirchhoff_free(k);
    free_mesh(&m);
  }
}

/* If the surface moves with the velocities of a twist, momentum and energy are those of this twist. The energy is
 * positive for all velocities, and K is positive definite.
 */
static void shapes_move_as_bodies(void **unused) {
  uint64_t state = check_seed();
  solid_mesh m = ellipsoid_mesh(6, 1, 0.5, 0.25);
  const double d[3] = {0.4, -0.3, 0.2};
  solid_mesh off = shifted_mesh(&m, d);
  double(*v)[3] = malloc((size_t)m.vertices * sizeof *v);
  cb_kirchhoff *k = kirchhoff_of(&off, NULL);
  for (int trial = 0; trial < 8; trial++) {
    double Y[6], energy = 0;
    cb_kirchhoff_mass mass;
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&state, -1, 1);
    for (int i = 0; i < m.vertices; i++) {
      const double *p = off.x[i];
      v[i][0] = Y[3] + Y[1] * p[2] - Y[2] * p[1];
      v[i][1] = Y[4] + Y[2] * p[0] - Y[0] * p[2];
      v[i][2] = Y[5] + Y[0] * p[1] - Y[1] * p[0];
    }
    check_ok(cb_kirchhoff_added_mass(k, (const double(*)[3])v, &mass));
    for (int i = 0; i < 6; i++) {
      double momentum = 0;
      for (int j = 0; j < 6; j++) momentum += mass.K[i][j] * Y[j];
      energy += Y[i] * momentum / 2;
      /* K is the symmetric part of the computed tensor. mu0 also contains its antisymmetric part, which is an error of
       * the panels. */
      check_near(mass.mu0[i], momentum, 1e-2);
    }
    check_relative(mass.kinetic, energy, 1e-12);
    check_at_least(energy, 1e-3);
    for (int i = 0; i < m.vertices; i++)
      for (int c = 0; c < 3; c++) v[i][c] = check_uniform(&state, -1, 1);
    check_ok(cb_kirchhoff_added_mass(k, (const double(*)[3])v, &mass));
    check_at_least(mass.kinetic, 1e-6);
  }
  cb_kirchhoff_free(k);
  free(v);
  free_mesh(&m);
  free_mesh(&off);
}

/* A sphere of radius a that expands at the rate a' has the potential -a^2 a'/r at the distance r, and the energy 2 pi
 * a^3 a'^2. */
static void a_bubble_swells(void **unused) {
  double kinetic[2], phi_error = 0;
  for (int fine = 0; fine < 2; fine++) {
    solid_mesh m = ellipsoid_mesh(fine ? 16 : 8, 1, 1, 1);
    cb_kirchhoff *k = kirchhoff_of(&m, NULL);
    cb_kirchhoff_mass mass;
    check_ok(cb_kirchhoff_added_mass(k, (const double(*)[3])m.x, &mass));
    kinetic[fine] = mass.kinetic;
    double *w = malloc((size_t)m.faces * sizeof *w), *phi = malloc((size_t)m.faces * sizeof *phi);
    for (int i = 0; i < m.faces; i++) w[i] = 1;
    check_ok(cb_kirchhoff_solve(k, 1, w, phi));
    for (int i = 0; i < m.faces; i++) phi_error = fmax(phi_error, fine ? fabs(phi[i] + 1) : 0);
    free(w);
    free(phi);
    cb_kirchhoff_free(k);
    free_mesh(&m);
  }
  check_relative(extrapolated(kinetic[0], kinetic[1]), 2 * M_PI, 2e-4);
  check_at_most(phi_error, 1e-2);
}

/* Thin ellipsoids of revolution converge to the disc with the added mass 8/3. If panels are wider than the body is
 * thick, the singularity at the edge makes the error of order h, where h is the size of the panels. */
static void thin_bodies_are_solved(void **unused) {
  static const double half[] = {0.1, 1e-2, 1e-3, 1e-4};
  double last = 0;
  for (int i = 0; i < 4; i++) {
    solid_mesh m[2] = {ellipsoid_mesh(6, 1, 1, half[i]), ellipsoid_mesh(12, 1, 1, half[i])};
    const cb_kirchhoff_options by[] = {
        {.method = CB_POTENTIAL_DENSE}, {.method = CB_POTENTIAL_ITERATIVE}, {.tolerance = 1e-9}};
    cb_kirchhoff_report report;
    const cb_kirchhoff_mass coarse = mass_of(m, by, NULL), dense = mass_of(m + 1, by, NULL),
                            iterative = mass_of(m + 1, by + 1, NULL), best = mass_of(m + 1, by + 2, &report);
    for (int j = 0; j < 36; j++) {
      check_near(iterative.K[j / 6][j % 6], dense.K[j / 6][j % 6], 1e-6);
      check_near(best.K[j / 6][j % 6], dense.K[j / 6][j % 6], 1e-8);
    }
    check_at_least(dense.K[5][5], last);
    last = dense.K[5][5];
    if (i == 0) check_relative(extrapolated(coarse.K[5][5], last), 2.5904017967032, 1e-3);
    if (i >= 2) {
      check_relative(2 * last - coarse.K[5][5], 8. / 3, 0.02);
      check_relative(2 * dense.K[0][0] - coarse.K[0][0], 16. / 45, 0.03);
      assert_int_equal(report.method, CB_POTENTIAL_DENSE); /* the iteration was slow and was replaced by this method */
    }
    free_mesh(m);
    free_mesh(m + 1);
  }
}

/* If the iteration is slow, approximate factors make it fast, and the tensor equals that of the dense matrix. */
static void slow_iterations_are_preconditioned(void **unused) {
  if (cb_hlu_check()) skip();                    /* a build without hmat-oss */
  solid_mesh m = ellipsoid_mesh(16, 1, 1, 1e-4); /* 2048 panels */
  const cb_kirchhoff_options by[] = {{.method = CB_POTENTIAL_DENSE},
                                     {.method = CB_POTENTIAL_ITERATIVE},
                                     {.method = CB_POTENTIAL_HLU},
                                     {.method = CB_POTENTIAL_BEST}};
  cb_kirchhoff_mass mass[4];
  cb_kirchhoff_report report[4];
  for (int i = 0; i < 4; i++) {
    mass[i] = mass_of(&m, by + i, report + i);
    for (int j = 0; j < 36; j++) check_near(mass[i].K[j / 6][j % 6], mass[0].K[j / 6][j % 6], 1e-6);
  }
  assert_int_equal(report[2].method, CB_POTENTIAL_HLU);
  assert_int_equal(report[3].method, CB_POTENTIAL_HLU);
  check_at_least(report[1].iterations, 30);
  check_at_most(report[2].iterations, 5);
  assert_in_range(report[3].iterations, 21, 25); /* the count includes the iterations that were made before the
                                                  * iteration was found to be slow */
  /* This memory suffices for the dense matrix, but not for the hierarchical one. */
  const cb_kirchhoff_options tight = {.method = CB_POTENTIAL_HLU, .memory = 45000000};
  cb_kirchhoff *k = NULL;
  check_error_begins(
      cb_kirchhoff_create(m.vertices, (const double(*)[3])m.x, m.faces, (const int(*)[3])m.face, &tight, &k),
      CB_ERROR_ARGUMENT, "the hierarchical matrix");
  const cb_kirchhoff_options enough = {.memory = 45000000};
  mass_of(&m, &enough, report);
  assert_int_equal(report[0].method, CB_POTENTIAL_DENSE);
  free_mesh(&m);
}

/* A cavity is not part of the fluid, whatever its shape. */
static void cavities_are_left_out(void **unused) {
  solid_mesh outer = ellipsoid_mesh(5, 1, 0.8, 0.6), inner = ellipsoid_mesh(3, 0.5, 0.4, 0.3), hollow;
  cb_kirchhoff_report report;
  for (int i = 0; i < inner.faces; i++) {
    const int was = inner.face[i][1];
    inner.face[i][1] = inner.face[i][2];
    inner.face[i][2] = was;
  }
  hollow = joined_mesh(&inner, &outer);
  const cb_kirchhoff_mass solid = mass_of(&outer, NULL, NULL), other = mass_of(&hollow, NULL, &report);
  assert_memory_equal(&solid, &other, sizeof solid);
  cb_kirchhoff *k = NULL;
  assert_int_equal(cb_kirchhoff_create(inner.vertices, (const double(*)[3])inner.x, inner.faces,
                                       (const int(*)[3])inner.face, NULL, &k),
                   CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "outwards"));
  free_mesh(&outer);
  free_mesh(&inner);
  free_mesh(&hollow);
}

/* A solid in a cavity is left out, and so is everything in a cavity of that solid. */
static void what_lies_in_a_cavity_is_left_out(void **unused) {
  solid_mesh outer = ellipsoid_mesh(5, 1, 0.8, 0.6), nested = outer;
  const cb_kirchhoff_mass solid = mass_of(&outer, NULL, NULL);
  for (int depth = 1; depth <= 3; depth++) {
    solid_mesh next = ellipsoid_mesh(3, 1 - 0.25 * depth, 0.8 - 0.2 * depth, 0.6 - 0.15 * depth);
    for (int i = 0; i < next.faces && depth % 2 == 1; i++) {
      const int was = next.face[i][1];
      next.face[i][1] = next.face[i][2];
      next.face[i][2] = was;
    }
    solid_mesh all = joined_mesh(&next, &nested);
    const cb_kirchhoff_mass other = mass_of(&all, NULL, NULL);
    assert_memory_equal(&solid, &other, sizeof solid);
    free_mesh(&next);
    if (depth > 1) free_mesh(&nested);
    nested = all;
  }
  free_mesh(&nested);
  free_mesh(&outer);
}

static void what_cannot_be_is_refused(void **unused) {
  solid_mesh m = ellipsoid_mesh(8, 1, 1, 1);
  cb_kirchhoff *k = NULL;
  cb_kirchhoff_mass mass;
  /* One face is missing. */
  check_ok(cb_kirchhoff_create(m.vertices, (const double(*)[3])m.x, m.faces - 1, (const int(*)[3])m.face, NULL, &k));
  assert_int_equal(cb_kirchhoff_added_mass(k, NULL, &mass), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "not closed"));
  cb_kirchhoff_free(k);
  /* Too little memory is reported before memory is allocated. */
  k = NULL;
  const cb_kirchhoff_options small = {.method = CB_POTENTIAL_DENSE, .memory = 1000000};
  assert_int_equal(
      cb_kirchhoff_create(m.vertices, (const double(*)[3])m.x, m.faces, (const int(*)[3])m.face, &small, &k),
      CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "more than `memory` = 0.001 GB"));
  /* Two iterations do not suffice for the tolerance. */
  const cb_kirchhoff_options short_ = {.method = CB_POTENTIAL_ITERATIVE, .iterations = 2};
  k = kirchhoff_of(&m, &short_);
  assert_int_equal(cb_kirchhoff_added_mass(k, NULL, &mass), CB_ERROR_STEP);
  assert_non_null(strstr(cb_error_text(), "has not converged in 2 iterations"));
  cb_kirchhoff_free(k);
  /* The distance of these two discs is less than the width of their 32 faces. */
  solid_mesh disc = ellipsoid_mesh(2, 1, 1, 1e-3), above = shifted_mesh(&disc, (double[]){0.3, 0.2, 0.0084}),
             both = joined_mesh(&disc, &above);
  k = kirchhoff_of(&both, NULL);
  assert_int_equal(cb_kirchhoff_added_mass(k, NULL, &mass), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "the added mass of 64 panels is not symmetric"));
  cb_kirchhoff_free(k);
  free_mesh(&disc);
  free_mesh(&above);
  free_mesh(&both);
  free_mesh(&m);
}

static void threads_do_not_matter(void **unused) {
  solid_mesh m = ellipsoid_mesh(10, 1, 0.6, 0.3);
  for (int method = CB_POTENTIAL_DENSE; method <= CB_POTENTIAL_ITERATIVE; method++) {
    const cb_kirchhoff_options options = {.method = (cb_potential_method)method};
    cb_kirchhoff_mass mass[2];
    for (int run = 0; run < 2; run++) {
      cb_threads_set(run ? 3 : 1);
      mass[run] = mass_of(&m, &options, NULL);
    }
    assert_memory_equal(mass, mass + 1, sizeof *mass);
  }
  cb_threads_set(0);
  free_mesh(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ellipsoids_are_closed_forms),
      cmocka_unit_test(two_spheres_are_a_series),
      cmocka_unit_test(a_torus_is_as_in_the_table),
      cmocka_unit_test(a_twisted_bar_spins_as_it_sinks),
      cmocka_unit_test(motions_of_the_origin_are_exact),
      cmocka_unit_test(methods_agree),
      cmocka_unit_test(trees_agree_to_their_error),
      cmocka_unit_test(trees_are_taken_where_they_are_quicker),
      cmocka_unit_test(shapes_move_as_bodies),
      cmocka_unit_test(a_bubble_swells),
      cmocka_unit_test(thin_bodies_are_solved),
      cmocka_unit_test(slow_iterations_are_preconditioned),
      cmocka_unit_test(what_lies_in_a_cavity_is_left_out),
      cmocka_unit_test(cavities_are_left_out),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(threads_do_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
