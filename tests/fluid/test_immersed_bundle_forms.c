/* Tests of bundles of bodies in a fluid: closed forms, symmetry, derivatives and curvature. */
#include "fluid/immersed_bundle.h"
#include "immersed_bundles.h"

/* --- closed forms --- */

/* Two boxes in vacuum rotate by Montgomery's connection, and their centre of mass does not move. */
static void two_boxes_are_the_falling_cat(void **unused) {
  const double half[2][3] = {{0.5, 0.15, 0.1}, {0.7, 0.1, 0.1}};
  double I[2], mass[2], a[2];
  mesh box[2];
  for (int i = 0; i < 2; i++) {
    box[i] = mesh_box(2, half[i], false);
    a[i] = half[i][0] + 0.05;
    mass[i] = (i ? 1.5 : 0.8) * 8 * half[i][0] * half[i][1] * half[i][2];
    I[i] = mass[i] / 3 * (half[i][0] * half[i][0] + half[i][1] * half[i][1]);
  }
  mesh_move(&box[1], (double[3]){a[0] + a[1], 0, 0});
  tank k = tank_of(two_bodies(box[0], box[1]), 0.8, 0);
  k.material[1].density = 1.5;
  static const char *const names[1] = {"al"};
  const cb_poses_motion motion = {k.surface->name[1],
                                  {"0.55 + (X - 0.55)*cos(al) - Y*sin(al)", "(X - 0.55)*sin(al) + Y*cos(al)", "Z"}};
  cb_bundle *b = bundle_of(&k, 0, 1, names, &motion);
  const double m = mass[0] * mass[1] / (mass[0] + mass[1]), k1 = I[0] + m * a[0] * a[0], k2 = I[1] + m * a[1] * a[1];
  for (double al = -3; al < 3.2; al += 0.7) {
    const double c = m * a[0] * a[1] * cos(al), s = m * a[0] * a[1] * sin(al), J = k1 + k2 + 2 * c;
    double A[6], dA[6], M[1], dM[1];
    check_ok(cb_bundle_connection(b, &al, A, dA, M, dM));
    check_near(A[2], (k2 + c) / J, 1e-13);
    check_near(dA[2], -s / J + 2 * s * (k2 + c) / (J * J), 1e-10); /* the library computes dA by differences */
    check_near(M[0], (k1 * k2 - c * c) / J, 1e-14);
    check_near(dM[0], 2 * c * s / J + 2 * s * (k1 * k2 - c * c) / (J * J), 1e-10);
    for (int i = 0; i < 2; i++) check_near(A[i], 0, 1e-14);
    check_near(A[5], 0, 1e-14);
    /* the centre of mass c does not move: v + omega × c + dc/dal = 0 in the frame of the first box */
    const double share = mass[1] / (mass[0] + mass[1]);
    const double cx = share * (0.55 + a[1] * cos(al)), cy = share * a[1] * sin(al);
    check_near(A[3], A[2] * cy - share * a[1] * sin(al), 1e-13);
    check_near(A[4], -A[2] * cx + share * a[1] * cos(al), 1e-13);
  }
  cb_bundle_free(b);
  tank_empty(&k);
}

/* Returns the second derivative of P/J from the values and the first two derivatives of P and of J. */
static double quotient_bends(const double P[3], const double J[3]) {
  return P[2] / J[0] - (2 * P[1] * J[1] + P[0] * J[2]) / (J[0] * J[0]) + 2 * P[0] * J[1] * J[1] / (J[0] * J[0] * J[0]);
}

static const cb_bundle_class *counted;
static int values, slopes;

static cb_status counting(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  *(dA || dM ? &slopes : &values) += 1;
  return counted->connection(b, r, A, dA, M, dM);
}

/* The second derivatives of the connection and the metric of the same boxes are differences of order 8 with the step
 * h = .02, whose errors are 1e-15/h^2 + h^8. They are computed from 9 values. First derivatives are not used, because
 * each of them would need 7 values. */
static void second_derivatives_take_few_values(void **unused) {
  const double half[2][3] = {{0.5, 0.15, 0.1}, {0.7, 0.1, 0.1}}, a[2] = {.55, .75}, mass[2] = {.8 * .06, 1.5 * .056};
  mesh box[2];
  for (int i = 0; i < 2; i++) box[i] = mesh_box(2, half[i], false);
  mesh_move(&box[1], (double[3]){a[0] + a[1], 0, 0});
  tank k = tank_of(two_bodies(box[0], box[1]), 0.8, 0);
  k.material[1].density = 1.5;
  static const char *const names[1] = {"al"};
  const cb_poses_motion motion = {k.surface->name[1],
                                  {"0.55 + (X - 0.55)*cos(al) - Y*sin(al)", "(X - 0.55)*sin(al) + Y*cos(al)", "Z"}};
  cb_bundle *b = bundle_of(&k, 0, 1, names, &motion);
  cb_bundle_class counts = *(counted = b->class_);
  counts.connection = counting;
  b->class_ = &counts;
  double I[2];
  for (int i = 0; i < 2; i++) I[i] = mass[i] / 3 * (half[i][0] * half[i][0] + half[i][1] * half[i][1]);
  const double m = mass[0] * mass[1] / (mass[0] + mass[1]), k1 = I[0] + m * a[0] * a[0], k2 = I[1] + m * a[1] * a[1];
  for (double al = -.9; al < 1; al += 0.6) {
    const double c = m * a[0] * a[1] * cos(al), s = m * a[0] * a[1] * sin(al);
    const double J[3] = {k1 + k2 + 2 * c, -2 * s, -2 * c}, P[3] = {k2 + c, -s, -c},
                 N[3] = {k1 * k2 - c * c, 2 * c * s, 2 * (c * c - s * s)};
    double ddA[6], ddM[1];
    values = slopes = 0;
    check_ok(cb_bundle_second(b, &al, ddA, ddM));
    check_near(ddA[2], quotient_bends(P, J), 1e-10);
    check_near(ddM[0], quotient_bends(N, J), 1e-10);
    assert_int_equal(values, 9);
    assert_int_equal(slopes, 0);
  }
  b->class_ = counted;
  cb_bundle_free(b);
  tank_empty(&k);
}

/* --- parts that move rigidly --- */

static const char *const hinge[3] = {"0.55 + (X - 0.55)*cos(a) - Y*sin(a) + 0.2*b^2",
                                     "((X - 0.55)*sin(a) + Y*cos(a))*cos(b) - Z*sin(b)",
                                     "((X - 0.55)*sin(a) + Y*cos(a))*sin(b) + Z*cos(b)"};

/* Makes two boxes as two parts of a body. If `sheet` is set, the second box lacks a face and is a sheet with a
 * thickness. */
static tank hinged(bool sheet) {
  const double half[2][3] = {{0.5, 0.15, 0.1}, {0.7, 0.1, 0.1}};
  mesh box[2];
  for (int i = 0; i < 2; i++) box[i] = mesh_box(2, half[i], false);
  mesh_move(&box[1], (double[3]){1.3, 0.1, -0.05});
  box[1].faces -= sheet;
  tank k = tank_of(two_bodies(box[0], box[1]), 0.8, 0);
  k.material[1].density = 1.5;
  if (sheet) k.material[1].thickness = 0.05;
  return k;
}

static double most_of(const double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM], double (*from)[CB_IMMERSED_FORM]) {
  double most = 0;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) most = fmax(most, fabs(G[i][j] - (from ? from[i][j] : 0)));
  return most;
}

/* Computes the derivative dG of the form G by the shape variable a, by differences of order 8 with the step h = .02.
 * Their errors are of the size 1e-15/h + h^8. */
static void differences(const cb_immersed_energy *e, cb_immersed_work *w, const double r[2], int a,
                        double dG[CB_IMMERSED_FORM][CB_IMMERSED_FORM]) {
  static const double weight[4] = {4. / 5, -1. / 5, 4. / 105, -1. / 280}, h = .02;
  memset(dG, 0, CB_IMMERSED_FORM * sizeof *dG);
  for (int s = -4; s <= 4; s++) {
    double beside[2] = {r[0], r[1]}, G[CB_IMMERSED_FORM][CB_IMMERSED_FORM];
    if (!s) continue;
    beside[a] += s * h;
    check_ok(cb_immersed_form_of(e, w, beside, true, G, NULL));
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++) dG[i][j] += (s < 0 ? -1 : 1) * weight[abs(s) - 1] / h * G[i][j];
  }
}

/* The form G from the inertias of parts that move rigidly equals the form from sums over all faces. G agrees to
 * round-off. Its derivatives agree to the accuracy of the differences of order 6 that the library uses for the
 * derivatives of sums over faces. */
static void parts_that_move_rigidly_have_the_form_of_their_faces(void **unused) {
  uint64_t seed = check_seed();
  for (int kind = 0; kind < 16; kind++) {
    const bool sheet = kind & 1, lumped = kind & 2, masses = kind & 4, quiet = kind & 8;
    tank k = hinged(sheet);
    const cb_poses_motion motion = {k.surface->name[1], {hinge[0], hinge[1], hinge[2]}};
    cb_point_mass points[2] = {{.mass = .03, .vertex = k.surface->vertices - 1},
                               {.mass = .02, .vertex = -1, .x = {.1, .3, -.2}}};
    cb_immersed_energy e = {.density = quiet ? 0 : 1.1};
    cb_shape_surface *shape;
    cb_immersed_work *w;
    check_ok(cb_shape_surface_expressions(k.surface, 2, ab, 1, &motion, &shape));
    check_ok(cb_moving_mass_create(k.surface, k.material, lumped, masses ? 2 : 0, points, &e.mass));
    e.shape = shape;
    check_ok(cb_immersed_work_create(&e, &w));
    cb_immersed_rigid *rigid;
    check_ok(cb_immersed_rigid_create(&e, w, &rigid));
    assert_non_null(rigid);
    for (int trial = 0; trial < 4; trial++) {
      const double r[2] = {check_uniform(&seed, -3, 3), check_uniform(&seed, -3, 3)};
      double G[2][CB_IMMERSED_FORM][CB_IMMERSED_FORM], dG[2][2][CB_IMMERSED_FORM][CB_IMMERSED_FORM];
      for (int i = 0; i < 2; i++) {
        e.rigid = i ? rigid : NULL;
        check_ok(cb_immersed_form_of(&e, w, r, true, G[i], dG[i]));
      }
      check_at_most(most_of(G[1], G[0]), 1e-13 * most_of(G[0], NULL));
      for (int a = 0; a < 2; a++) {
        double by[CB_IMMERSED_FORM][CB_IMMERSED_FORM];
        differences(&e, w, r, a, by);
        check_at_most(most_of(dG[1][a], by), 1e-11 * most_of(G[1], NULL));
        check_at_most(most_of(dG[1][a], dG[0][a]), 1e-7 * most_of(G[1], NULL));
      }
    }
    cb_immersed_rigid_free(rigid);
    cb_immersed_work_free(w);
    cb_moving_mass_free(e.mass);
    cb_shape_surface_free(shape);
    tank_empty(&k);
  }
}

/* For solids, sheets and masses at vertices the entry R_ij of the form of motions is E_(i+j) - E_i - E_j to round-off,
 * where E_i is the energy of motion i, and E_(i+j) the energy of the sum of the motions i and j. */
static void motions_of_a_body_have_the_form_of_their_energies(void **unused) {
  uint64_t seed = check_seed();
  for (int kind = 0; kind < 8; kind++) {
    tank k = hinged(kind & 1);
    const int n = 3, vertices = k.surface->vertices;
    const cb_point_mass point = {.mass = .03, .vertex = vertices - 1};
    cb_moving_mass *m;
    double(*x)[3] = calloc((size_t)(vertices * (n + 2)), sizeof *x), (*v)[3] = x + vertices,
    (*sum)[3] = v + n * vertices;
    double R[9], own[3];
    check_ok(cb_moving_mass_create(k.surface, k.material, kind & 2, kind & 4 ? 1 : 0, &point, &m));
    for (int i = 0; i < vertices * (n + 1); i++)
      for (int c = 0; c < 3; c++) x[i][c] = check_uniform(&seed, -1, 1);
    for (int i = 0; i < vertices; i++)
      for (int c = 0; c < 3; c++) x[i][c] = k.surface->x[i][c] + .02 * x[i][c];
    cb_moving_mass_form(m, (const double(*)[3])x, n, (const double(*)[3])v, sum, R);
    for (int i = 0; i < n; i++) {
      own[i] = cb_moving_mass_energy(m, (const double(*)[3])x, (const double(*)[3])v + i * vertices);
      check_near(R[i * n + i], 2 * own[i], 1e-13);
      for (int j = 0; j < i; j++) {
        for (int a = 0; a < vertices; a++)
          for (int c = 0; c < 3; c++) sum[a][c] = v[i * vertices + a][c] + v[j * vertices + a][c];
        const double both = cb_moving_mass_energy(m, (const double(*)[3])x, (const double(*)[3])sum);
        check_near(R[i * n + j], both - own[i] - own[j], 1e-13);
        check_near(R[j * n + i], R[i * n + j], 0);
      }
    }
    free(x);
    cb_moving_mass_free(m);
    tank_empty(&k);
  }
}

static cb_status (*whole)(const cb_shape_surface *s, const double *r, double (*x)[3], double (*dx)[3], void *work);
static int wholes;

static cb_status counting_places(const cb_shape_surface *s, const double *r, double (*x)[3], double (*dx)[3],
                                 void *work) {
  wholes++;
  return whole(s, r, x, dx, work);
}

/* Returns how often a bundle computes all vertices for A, M and their derivatives, if the second of its two boxes has
 * this motion. */
static int places_of(const char *const text[3]) {
  tank k = hinged(false);
  const cb_poses_motion motion = {k.surface->name[1], {text[0], text[1], text[2]}};
  cb_shape_surface *shape;
  cb_bundle *b;
  double A[12], dA[24], M[4], dM[8];
  check_ok(cb_shape_surface_expressions(k.surface, 2, ab, 1, &motion, &shape));
  const cb_immersed_bundle_options options = {.material = k.material, .density = 1.1};
  check_ok(cb_bundle_immersed(shape, &options, &b));
  whole = shape->at;
  shape->at = counting_places;
  wholes = 0;
  check_ok(cb_bundle_connection(b, (double[2]){.3, .4}, A, dA, M, dM));
  shape->at = whole;
  cb_bundle_free(b);
  cb_shape_surface_free(shape);
  tank_empty(&k);
  return wholes;
}

static void only_shapes_that_bend_are_looked_at_as_a_whole(void **unused) {
  static const char *const bent[3] = {"X", "Y + a*X^2", "Z + b"}, *const sheared[3] = {"X + a*Y", "Y*(1 + b)", "Z"},
                           *const scaled[3] = {"X", "if(a > 0, Y + a, Y)", "(2*Z + sin(b))/2"};
  assert_int_equal(places_of(hinge), 0);
  assert_int_equal(places_of(scaled), 0);
  assert_int_equal(places_of(bent), 1);
  assert_int_equal(places_of(sheared), 1);
}

/* --- symmetry --- */

static void symmetric_motions_do_not_turn_or_drift(void **unused) {
  uint64_t seed = check_seed();
  /* The motion has the mirror plane z = 0, so only omega_z, v_x and v_y are nonzero, also in the curvature. */
  mesh ball = mesh_ball(4, 1); /* its faces are symmetric in all coordinate planes */
  for (int v = 0; v < ball.vertices; v++)
    for (int i = 0; i < 3; i++) ball.x[v][i] *= i == 0 ? 0.5 : i == 1 ? 0.3 : 0.2;
  tank k = tank_of(ball, 700, 0);
  static const cb_poses_motion plane = {NULL, {"X + 0.3*a*Z^2", "Y + a*X^2 + b*X^3", "Z*(1 + 0.2*b*X)"}};
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &plane);
  for (int trial = 0; trial < 5; trial++) {
    const double r[2] = {check_uniform(&seed, -0.5, 0.5), check_uniform(&seed, -0.5, 0.5)};
    double A[12], B[6], most = 0;
    check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
    check_ok(cb_bundle_curvatures(b, r, B));
    for (int i = 0; i < 6; i++) {
      most = fmax(most, fabs(B[i]));
      if (i >= 2 && i <= 4) continue;
      for (int j = 0; j < 2; j++) check_near(A[2 * i + j], 0, 1e-14);
      check_near(B[i], 0, 1e-12);
    }
    check_at_least(most, 1e-3);
  }
  cb_bundle_free(b);
  /* a motion that is symmetric in all coordinate planes does not move the body */
  static const cb_poses_motion stretch = {NULL, {"X*(1 + a)", "Y*(1 + b)", "Z*(1 - a*b)"}};
  b = bundle_of(&k, 998, 2, ab, &stretch);
  double A[12];
  check_ok(cb_bundle_connection(b, (double[2]){0.2, -0.1}, A, NULL, NULL, NULL));
  for (int i = 0; i < 12; i++) check_near(A[i], 0, 1e-14);
  cb_bundle_free(b);
  tank_empty(&k);
  /* Two balls have the distance 1 + a. The second grows by b while the first shrinks. They move only along their
   * line. */
  mesh pair[2] = {mesh_ball(3, 0.3), mesh_ball(3, 0.3)};
  for (int i = 0; i < 2; i++) mesh_move(&pair[i], (double[3]){i ? 0.5 : -0.5, 0, 0});
  k = tank_of(two_bodies(pair[0], pair[1]), 900, 0);
  cb_shape_surface *shape;
  const cb_poses_motion motions[2] = {
      {k.surface->name[0], {"-0.5 + (X + 0.5)*(1 - b)", "Y*(1 - b)", "Z*(1 - b)"}},
      {k.surface->name[1], {"0.5 + a + (X - 0.5)*(1 + b)", "Y*(1 + b)", "Z*(1 + b)"}},
  };
  check_ok(cb_shape_surface_expressions(k.surface, 2, ab, 2, motions, &shape));
  const cb_immersed_bundle_options options = {.material = k.material, .density = 998};
  check_ok(cb_bundle_immersed_take(shape, &options, &b));
  for (int trial = 0; trial < 5; trial++) {
    const double r[2] = {check_uniform(&seed, 0, 0.5), check_uniform(&seed, -0.2, 0.2)};
    double B[6], inertia[2], G[64];
    check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
    check_ok(cb_bundle_curvatures(b, r, B));
    for (int i = 0; i < 6; i++) {
      if (i != 3) {
        check_near(A[2 * i], 0, 1e-14);
        check_near(A[2 * i + 1], 0, 1e-14);
        check_near(B[i], 0, 1e-12);
      }
    }
    /* A_a = m2/(m1 + m2), where m1 and m2 are the masses plus the added masses, which grow like radius^3 */
    check_ok(b->class_->form(b, r, G, NULL));
    double volume = 0, own[2];
    cb_mass mass;
    check_ok(cb_mass_of(k.surface, NULL, k.material, &mass));
    volume = mass.volume / 2;
    const double added = (G[3 * 8 + 3] - mass.mass) / (pow(1 - r[1], 3) + pow(1 + r[1], 3));
    for (int i = 0; i < 2; i++) {
      own[i] = 900 * volume + added * pow(1 + (i ? r[1] : -r[1]), 3);
      inertia[i] = own[i];
    }
    check_near(A[6], inertia[1] / (inertia[0] + inertia[1]), 1e-12);
    check_near(A[7], 0, 1e-13);
    /* the curvature B is minus the derivative of this A_a by b */
    const double d[2] = {-3 * added * pow(1 - r[1], 2), 3 * added * pow(1 + r[1], 2)}, all = inertia[0] + inertia[1];
    check_near(B[3], -(d[1] - inertia[1] * (d[0] + d[1]) / all) / all, 1e-10);
  }
  cb_bundle_free(b);
  tank_empty(&k);
}

/* --- derivatives, curvature --- */

static void derivatives_are_those_of_the_connection(void **unused) {
  uint64_t seed = check_seed();
  static const cb_poses_motion motion = MODES("a", "b");
  static const double weight[3] = {3. / 4, -3. / 20, 1. / 60};
  tank k = ellipsoid(700);
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &motion);
  double worst[2] = {0};
  for (int trial = 0; trial < 5; trial++) {
    double r[2] = {check_uniform(&seed, -0.4, 0.4), check_uniform(&seed, -0.4, 0.4)}, A[12], dA[24], M[4], dM[8];
    check_ok(cb_bundle_connection(b, r, A, dA, M, dM));
    for (int i = 0; i < 2; i++) {
      double sum[12] = {0}, metric[4] = {0};
      const double h = 0.01, at = r[i];
      for (int step = -3; step <= 3; step++) {
        if (!step) continue;
        double beside[12], m[4];
        r[i] = at + step * h;
        check_ok(cb_bundle_connection(b, r, beside, NULL, m, NULL));
        const double w = (step < 0 ? -1 : 1) * weight[abs(step) - 1] / h;
        for (int e = 0; e < 12; e++) sum[e] += w * beside[e];
        for (int e = 0; e < 4; e++) metric[e] += w * m[e];
      }
      r[i] = at;
      for (int e = 0; e < 12; e++) worst[0] = fmax(worst[0], fabs(dA[i * 12 + e] - sum[e]));
      for (int e = 0; e < 4; e++) worst[1] = fmax(worst[1], fabs(dM[i * 4 + e] - metric[e]) / M[0]);
    }
  }
  print_message("  dA to %.1e, dM to %.1e of M\n", worst[0], worst[1]);
  check_at_most(worst[0], 1e-9);
  check_at_most(worst[1], 1e-9);
  cb_bundle_free(b);
  tank_empty(&k);
}

/* dA and dM are right also at a = 0, where the first derivative of the motion by a is 0 and the second one is not. */
static void a_motion_may_begin_slowly(void **unused) {
  tank k = ellipsoid(700);
  static const cb_poses_motion slow = {NULL, {"X", "Y + a^2*X^2", "Z + b*X^2"}},
                               fast = {NULL, {"X", "Y + a*X^2", "Z + b*X^2"}};
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &slow), *other = bundle_of(&k, 998, 2, ab, &fast);
  double dA[24], A[12], M[4], dM[8];
  for (int i = 0; i < 2; i++) {
    /* slow(a) = fast(a^2), so by the chain rule A_a(slow) = 2 a A_a(fast) and M_aa(slow) = 4 a^2 M_aa(fast) */
    const double a = i ? 1e-9 : 0;
    check_ok(cb_bundle_connection(b, (double[2]){a, 0.1}, NULL, dA, NULL, dM));
    check_ok(cb_bundle_connection(other, (double[2]){a * a, 0.1}, A, NULL, M, NULL));
    for (int e = 0; e < 6; e++) check_near(dA[2 * e], 2 * A[2 * e], 1e-10);
    check_near(dM[0], 8 * a * M[0], 1e-12);
  }
  cb_bundle_free(b);
  cb_bundle_free(other);
  tank_empty(&k);
}

/* The holonomy g of a loop of radius e in shape space has log g = -B pi e^2 + O(e^3), where B is the curvature. */
static void small_loops_turn_by_the_curvature(void **unused) {
  static const cb_poses_motion motion = MODES("a", "b");
  tank k = ellipsoid(700);
  cb_bundle *b = bundle_of(&k, 998, 2, ab, &motion);
  const double mean[2] = {0.15, -0.1};
  double B[6], error[4];
  check_ok(cb_bundle_curvatures(b, mean, B));
  for (int i = 0; i < 4; i++) {
    const double size = 0.04 / (1 << i), area = PI * size * size;
    cb_gait *gait;
    check_ok(cb_gait_fourier(2, 1, mean, (double[]){size, 0}, (double[]){0, size}, &gait));
    double g[7], a[6], off = 0;
    check_ok(cb_holonomy(b, gait, 1e-14, g, NULL, NULL));
    check_ok(b->group->log(b->group, g, a));
    for (int e = 0; e < 6; e++) off = fmax(off, fabs(a[e] + area * B[e]));
    error[i] = off / area;
    cb_gait_free(gait);
  }
  print_message("  log g/area + B: %.1e .. %.1e, order %.2f\n", error[0], error[3], fitted_order(error, 4));
  check_near(fitted_order(error, 4), 1, 0.1);
  check_at_most(error[3], 0.05 * fmax(fabs(B[1]), fabs(B[5])));
  cb_bundle_free(b);
  tank_empty(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_boxes_are_the_falling_cat),
      cmocka_unit_test(second_derivatives_take_few_values),
      cmocka_unit_test(parts_that_move_rigidly_have_the_form_of_their_faces),
      cmocka_unit_test(motions_of_a_body_have_the_form_of_their_energies),
      cmocka_unit_test(only_shapes_that_bend_are_looked_at_as_a_whole),
      cmocka_unit_test(symmetric_motions_do_not_turn_or_drift),
      cmocka_unit_test(derivatives_are_those_of_the_connection),
      cmocka_unit_test(a_motion_may_begin_slowly),
      cmocka_unit_test(small_loops_turn_by_the_curvature),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
