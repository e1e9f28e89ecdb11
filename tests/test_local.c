/* The local fluid model: delta and added mass against closed forms and the accuracy table, drag and its Jacobian, the
 * kernels against the scalar equations. */
#include "core/isa.h"
#include "core/threads.h"
#include "fluid/local.h"
#include "fluid_mesh.h"

static cb_local *local_of(mesh m) {
  cb_surface *s = mesh_surface(m);
  cb_local *l;
  check_ok(cb_local_create(s, &l));
  cb_surface_free(s);
  return l;
}

typedef struct added {
  double K[6][6];
  cb_local_part part;
} added;
static added added_of(mesh m) {
  added a;
  cb_local *l = local_of(m);
  cb_local_added_mass(l, 1, NULL, a.K, NULL, &a.part);
  cb_local_free(l);
  return a;
}

static double drag_along(mesh m, int axis) {
  double Y[6] = {0}, F[6];
  Y[3 + axis] = 2;
  cb_local *l = local_of(m);
  cb_local_drag(l, 1.5, NULL, Y, NULL, NULL, 0, 0, F, NULL);
  cb_local_free(l);
  return -F[3 + axis] / (0.5 * 1.5 * 4); /* area times coefficient */
}

/* --- delta and added mass --- */

static void accuracy_of_the_local_model_is_the_published_one(void **unused) {
  (void)unused;
  const added sphere = added_of(mesh_ellipsoid(16, 1, 1, 1)), prolate = added_of(mesh_ellipsoid(24, 3, 1, 1)),
              oblate = added_of(mesh_ellipsoid(32, 1, 1, 0.1));
  check_near(sphere.K[3][3] / (2 * PI / 3), 0.998, 2e-3);
  check_near(prolate.K[3][3] / 1.532702719905, 1.01, 6e-3);
  check_near(prolate.K[4][4] / 10.102093957219, 0.96, 6e-3);
  check_near(prolate.K[1][1] / 11.703770322599, 1.39, 1e-2);
  check_near(oblate.K[3][3] / 0.031333853344129, 1.65, 2e-2);
  check_near(oblate.K[5][5] / 2.5904017967032, 0.77, 1e-2);
  /* a disc: the tube's two caps alone */
  mesh disc = mesh_room(130, 256);
  for (int j = 0; j < 128; j++) mesh_vertex(&disc, cos(2 * PI * j / 128), sin(2 * PI * j / 128), 0);
  const int top = mesh_vertex(&disc, 0, 0, 0), bottom = mesh_vertex(&disc, 0, 0, 0);
  for (int j = 0; j < 128; j++) {
    mesh_face(&disc, top, j, (j + 1) % 128);
    mesh_face(&disc, bottom, (j + 1) % 128, j);
  }
  const added d = added_of(disc);
  check_relative(d.part.delta, 1 / PI, 1e-3);
  check_near(d.K[5][5] / (8. / 3), 0.75, 5e-3);
  check_near(d.K[0][0] / (16. / 45), 1.40, 1e-2);
  assert_false(d.part.capped);
}

/* Table 1 of the paper: a sphere r/2, a tube without caps R, a plate a b/(pi (a + b)). */
static void delta_of_table_1_is_reached_to_the_order_of_the_mesh(void **unused) {
  (void)unused;
  const double one = added_of(mesh_ellipsoid(10, 2, 2, 2)).part.delta - 1,
               two = added_of(mesh_ellipsoid(20, 2, 2, 2)).part.delta - 1;
  check_at_most(fabs(two), 2e-3);
  check_near(log2(one / two), 2, 0.1);
  const added t1 = added_of(mesh_tube(20, 24, 1.5, 4, false)), t2 = added_of(mesh_tube(20, 48, 1.5, 4, false));
  const double tube1 = t1.part.area / 2 / t1.part.turning / 1.5 - 1, tube2 = t2.part.area / 2 / t2.part.turning / 1.5 - 1;
  check_at_most(fabs(tube2), 5e-3);
  check_near(log2(tube1 / tube2), 2, 0.1);
  for (int closed = 0; closed < 2; closed++) {
    const added p = added_of(mesh_plate(6, 3, 0.5, closed));
    check_relative(p.part.delta_uncapped, 3 * 0.5 / (PI * 3.5), 1e-13);
    check_relative(p.part.area, 3., 1e-14);
    check_relative(p.K[5][5], 2 * p.part.delta * 1.5, 1e-13);
    check_near(p.K[3][3], 0, 1e-15);
  }
}

static void closed_cylinder_has_the_delta_of_its_caps(void **unused) {
  (void)unused;
  const double R = 1, L = 2;
  const added c = added_of(mesh_tube(30, 200, R, L / 2, true));
  check_relative(c.part.delta, R * (L + R) / (L + PI * R), 1e-3);
  check_relative(c.part.volume, PI * R * R * L, 1e-3);
  /* of the sum over sides and caps: K_omega = rho delta (2 pi R int_-L/2^L/2 z^2/2 dz + 2 int_disc y^2 dA) */
  check_relative(c.K[0][0], c.part.delta * (PI * R * L * L * L / 12 + PI / 2), 1e-3);
}

static void hollow_and_negative_bodies_are_capped(void **unused) {
  (void)unused;
  /* a sphere with a cavity in one part: the inner face's bending is nearly that of the outer, with the other sign */
  mesh outer = mesh_ellipsoid(8, 1, 1, 1), inner = mesh_ellipsoid(8, 0.95, 0.95, 0.95),
       both = mesh_room(2 * outer.vertices, 2 * outer.faces);
  for (int i = 0; i < outer.vertices; i++) mesh_vertex(&both, outer.x[i][0], outer.x[i][1], outer.x[i][2]);
  for (int i = 0; i < inner.vertices; i++) mesh_vertex(&both, inner.x[i][0], inner.x[i][1], inner.x[i][2]);
  for (int f = 0; f < outer.faces; f++) {
    const int *a = outer.face[f], n = outer.vertices;
    mesh_face(&both, a[0], a[1], a[2]);
    mesh_face(&both, n + a[0], n + a[2], n + a[1]);
  }
  free(outer.x), free(outer.face), free(outer.part), free(inner.x), free(inner.face), free(inner.part);
  const added hollow = added_of(both);
  check_at_least(hollow.part.delta_uncapped, 5.);
  assert_true(hollow.part.capped);
  check_relative(hollow.part.delta, 0.5 * sqrt(hollow.part.area / (4 * PI)), 1e-14);
  /* a sphere inside out */
  mesh s = mesh_ellipsoid(8, 1, 1, 1);
  for (int f = 0; f < s.faces; f++) {
    const int b = s.face[f][1];
    s.face[f][1] = s.face[f][2], s.face[f][2] = b;
  }
  const added negative = added_of(s);
  check_at_most(negative.part.delta_uncapped, 0.);
  assert_true(negative.part.capped);
  check_relative(negative.part.delta, 0.5 * sqrt(negative.part.area / (4 * PI)), 1e-14);
}

/* int over one face of m m^T, by a product rule of Gauss–Legendre on the triangle (degree 5 in each direction). */
static void midpoint_rule_is_exact_for_linear_positions(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  mesh t = mesh_room(3, 1);
  for (int i = 0; i < 3; i++)
    mesh_vertex(&t, check_uniform(&seed, -1, 1), check_uniform(&seed, -1, 1), check_uniform(&seed, -1, 1));
  double x[3][3], e[2][3], a[3], exact[6][6] = {{0}};
  memcpy(x, t.x, sizeof x);
  mesh_face(&t, 0, 1, 2);
  const added found = added_of(t);
  for (int k = 0; k < 3; k++) e[0][k] = x[1][k] - x[0][k], e[1][k] = x[2][k] - x[0][k];
  for (int k = 0; k < 3; k++)
    a[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
  const double twice = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), node[3] = {-sqrt(0.6), 0, sqrt(0.6)},
               weight[3] = {5. / 18, 8. / 18, 5. / 18};
  for (int p = 0; p < 3; p++)
    for (int q = 0; q < 3; q++) {
      const double u = (1 + node[p]) / 2, v = (1 + node[q]) / 2 * (1 - u), w = weight[p] * weight[q] * (1 - u) * twice;
      double y[3], m[6];
      for (int k = 0; k < 3; k++) y[k] = x[0][k] + u * e[0][k] + v * e[1][k], m[3 + k] = a[k] / twice;
      for (int k = 0; k < 3; k++) m[k] = y[(k + 1) % 3] * m[3 + (k + 2) % 3] - y[(k + 2) % 3] * m[3 + (k + 1) % 3];
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) exact[i][j] += w * m[i] * m[j];
    }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) check_near(found.K[i][j], 2 * found.part.delta * exact[i][j], 1e-15 * twice);
}

/* --- the shape's motion --- */

/* Where x' is the field of a twist, mu0 is K Y. */
static void motion_of_a_rigid_body_has_the_momentum_K_Y(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  mesh m = mesh_torus(13, 9, 1, 0.4);
  mesh_shake(&m, &seed, 0.05);
  cb_surface *s = mesh_surface(m);
  cb_local *l;
  check_ok(cb_local_create(s, &l));
  double(*v)[3] = malloc(sizeof *v * (size_t)s->vertices), Y[6], K[6][6], mu[6], size = 0;
  for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -1, 1);
  for (int i = 0; i < s->vertices; i++)
    for (int k = 0; k < 3; k++)
      v[i][k] = Y[3 + k] + Y[(k + 1) % 3] * s->x[i][(k + 2) % 3] - Y[(k + 2) % 3] * s->x[i][(k + 1) % 3];
  cb_local_pose(l, (const double(*)[3])s->x, (const double(*)[3])v);
  cb_local_added_mass(l, 998, NULL, K, mu, NULL);
  for (int i = 0; i < 6; i++) size = fmax(size, K[i][i]);
  for (int i = 0; i < 6; i++) {
    double KY = 0;
    for (int j = 0; j < 6; j++) KY += K[i][j] * Y[j];
    check_near(mu[i], KY, 1e-14 * size);
  }
  check_near(cb_local_breathing(l, false), 0, 1e-15); /* a rigid motion keeps the volume */
  free(v);
  cb_local_free(l);
  cb_surface_free(s);
}

/* The surface of a sphere of which x' = x is 1 at r = 1, in a medium whose density grows along z: without its mean the
 * momentum is gone. */
static void breathing_is_told_and_taken_off(void **unused) {
  (void)unused;
  cb_surface *s = mesh_surface(mesh_ellipsoid(16, 1, 1, 1));
  cb_local *l;
  check_ok(cb_local_create(s, &l));
  double *rho = malloc(sizeof *rho * (size_t)s->faces), K[6][6], mu[6], force = 0;
  for (int f = 0; f < s->faces; f++)
    rho[f] = 2 + (s->x[s->face[f][0]][2] + s->x[s->face[f][1]][2] + s->x[s->face[f][2]][2]) / 3;
  cb_local_pose(l, (const double(*)[3])s->x, (const double(*)[3])s->x);
  cb_local_part part;
  cb_local_added_mass(l, 0, rho, K, mu, &part);
  check_near(cb_local_breathing(l, true), 3 * part.volume / part.area, 1e-13);
  check_near(mu[5], 0.5 * 4 * PI / 3, 2e-2); /* delta int z z dA */
  cb_local_added_mass(l, 0, rho, K, mu, NULL);
  for (int i = 0; i < 6; i++) force = fmax(force, fabs(mu[i]));
  check_at_most(force, 5e-3); /* what the mesh leaves */
  free(rho);
  cb_local_free(l);
  cb_surface_free(s);
}

/* --- drag --- */

static void sphere_has_drag_coefficient_four_thirds(void **unused) {
  (void)unused;
  const double one = drag_along(mesh_ellipsoid(10, 1, 1, 1), 2) / PI - 4. / 3,
               two = drag_along(mesh_ellipsoid(20, 1, 1, 1), 2) / PI - 4. / 3;
  /* On both sides the normal's cosine squared, 2 int c^2 dA over a half: 4/3 with the formula's sign on each. */
  check_at_most(fabs(two), 8e-3);
  check_near(log2(one / two), 2, 0.1);
}

static void plate_has_drag_coefficient_two(void **unused) {
  (void)unused;
  for (int closed = 0; closed < 2; closed++) {
    check_relative(drag_along(mesh_plate(5, 2, 1.5, closed), 2) / 3, 2., 1e-14);
    check_near(drag_along(mesh_plate(5, 2, 1.5, closed), 0), 0, 1e-15);
  }
}

typedef struct setting {
  cb_surface *s;
  cb_local *l;
  double (*x)[3], (*v)[3], (*flow)[3], *rho, Y[6], flow1[3];
} setting;

/* Two closed parts and an open one; random pose, velocities, densities and flow. */
static setting setting_open(uint64_t *seed, int n) {
  mesh a = mesh_torus(2 * n, n, 1, 0.4), b = mesh_ellipsoid(n, 1, 0.6, 0.4), c = mesh_plate(n, 1, 2, false);
  mesh piece[] = {a, b, c}, m = mesh_room(a.vertices + b.vertices + c.vertices, a.faces + b.faces + c.faces);
  for (int p = 0; p < 3; p++) {
    const int first = m.vertices;
    for (int i = 0; i < piece[p].vertices; i++)
      mesh_vertex(&m, piece[p].x[i][0] + 3 * p, piece[p].x[i][1], piece[p].x[i][2]);
    for (int f = 0; f < piece[p].faces; f++) {
      const int *v = piece[p].face[f];
      m.part[m.faces] = p;
      mesh_face(&m, first + v[0], first + v[1], first + v[2]);
    }
    free(piece[p].x), free(piece[p].face), free(piece[p].part);
  }
  mesh_shake(&m, seed, 0.1 / n);
  setting t = {.s = mesh_surface(m)};
  check_ok(cb_local_create(t.s, &t.l));
  const size_t vertices = (size_t)t.s->vertices, faces = (size_t)t.s->faces;
  t.x = malloc(sizeof *t.x * vertices), t.v = malloc(sizeof *t.v * vertices);
  t.flow = malloc(sizeof *t.flow * faces), t.rho = malloc(sizeof *t.rho * faces);
  for (size_t i = 0; i < vertices; i++)
    for (int k = 0; k < 3; k++) {
      t.x[i][k] = t.s->x[i][k] + check_uniform(seed, -0.1, 0.1) / n;
      t.v[i][k] = check_uniform(seed, -1, 1);
    }
  for (size_t f = 0; f < faces; f++) {
    t.rho[f] = check_uniform(seed, 1, 2);
    for (int k = 0; k < 3; k++) t.flow[f][k] = check_uniform(seed, -1, 1);
  }
  for (int i = 0; i < 6; i++) t.Y[i] = check_uniform(seed, -1, 1);
  for (int i = 0; i < 3; i++) t.flow1[i] = check_uniform(seed, -1, 1);
  return t;
}
static void setting_close(setting *t) {
  cb_local_free(t->l);
  cb_surface_free(t->s);
  free(t->x), free(t->v), free(t->flow), free(t->rho);
}
static void setting_pose(setting *t, bool moving) {
  cb_local_pose(t->l, (const double(*)[3])t->x, moving ? (const double(*)[3])t->v : NULL);
}

static void jacobian_agrees_with_differences(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  setting t = setting_open(&seed, 8);
  setting_pose(&t, true);
  for (int turn = 0; turn < 2; turn++) {
    const double cn = turn ? 0.7 : 0, ct = turn ? 0.2 : 0;
    double F[6], J[6][6], size = 0;
    cb_local_drag(t.l, 1.3, t.rho, t.Y, NULL, (const double(*)[3])t.flow, cn, ct, F, J);
    for (int i = 0; i < 36; i++) size = fmax(size, fabs(J[i / 6][i % 6]));
    for (int j = 0; j < 6; j++) {
      const double h = 1e-5;
      double Y[6], up[6], down[6];
      memcpy(Y, t.Y, sizeof Y);
      Y[j] = t.Y[j] + h;
      cb_local_drag(t.l, 1.3, t.rho, Y, NULL, (const double(*)[3])t.flow, cn, ct, up, NULL);
      Y[j] = t.Y[j] - h;
      cb_local_drag(t.l, 1.3, t.rho, Y, NULL, (const double(*)[3])t.flow, cn, ct, down, NULL);
      for (int i = 0; i < 6; i++) check_near(J[i][j], (up[i] - down[i]) / (2 * h), 1e-7 * size);
    }
  }
  setting_close(&t);
}

static void body_that_goes_with_the_flow_feels_nothing(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  setting t = setting_open(&seed, 5);
  setting_pose(&t, false);
  double F[6], J[6][6], Y[6] = {0, 0, 0, t.flow1[0], t.flow1[1], t.flow1[2]};
  cb_local_drag(t.l, 1.3, NULL, Y, t.flow1, NULL, 0, 0, F, J);
  for (int i = 0; i < 6; i++) {
    assert_true(F[i] == 0);
    for (int j = 0; j < 6; j++) assert_true(J[i][j] == 0);
  }
  /* the frame's velocity on both sides changes nothing */
  double still[6], moved[6], shifted[6], wind[3];
  for (int i = 0; i < 6; i++) shifted[i] = t.Y[i] + (i < 3 ? 0 : 0.5);
  for (int i = 0; i < 3; i++) wind[i] = t.flow1[i] + 0.5;
  cb_local_drag(t.l, 1.3, NULL, t.Y, t.flow1, NULL, 0, 0, still, NULL);
  cb_local_drag(t.l, 1.3, NULL, shifted, wind, NULL, 0, 0, moved, NULL);
  for (int i = 0; i < 6; i++) check_near(moved[i], still[i], 1e-12);
  setting_close(&t);
}

/* A sphere: sum A (c_n n n^T + c_t (1 - n n^T)) = 4 pi (c_n + 2 c_t)/3, about its centre 8 pi/3 c_t. */
static void linear_drag_of_a_sphere_is_known(void **unused) {
  (void)unused;
  cb_local *l = local_of(mesh_ellipsoid(40, 1, 1, 1));
  const double Y[6] = {0.3, -0.2, 0.5, 1, 2, -1};
  double with[6], without[6], J[6][6], J0[6][6];
  cb_local_drag(l, 1, NULL, Y, NULL, NULL, 0.7, 0.2, with, J);
  cb_local_drag(l, 1, NULL, Y, NULL, NULL, 0, 0, without, J0);
  for (int i = 0; i < 6; i++) {
    const double each = i < 3 ? -8 * PI / 3 * 0.2 : -4 * PI / 3 * (0.7 + 0.4);
    check_near(with[i] - without[i], each * Y[i], 5e-3);
    for (int j = 0; j < 6; j++) check_near(J[i][j] - J0[i][j], i == j ? each : 0, 5e-3);
  }
  cb_local_free(l);
}

/* --- kernels --- */

static void compare(const char *what, int n, const double *a, const double *b) {
  double size = 0;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(b[i]));
  for (int i = 0; i < n; i++)
    if (!(fabs(a[i] - b[i]) <= 1e-14 * size))
      fail_msg("%s[%d] with %s = %.17g, scalar %.17g: %.3g of %.3g", what, i, cb_isa_name(), a[i], b[i],
               fabs(a[i] - b[i]), size);
}

static void kernels_agree_with_the_scalar_equations(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  const char *const names[] = {"x86-64", "avx2", "avx512"};
  for (int isa = 0; isa < 3; isa++) {
    if (cb_isa_set(names[isa])) continue;
    setting t = setting_open(&seed, 20);
    for (int turn = 0; turn < 8; turn++) {
      const double *rho = turn & 1 ? t.rho : NULL, (*flow)[3] = turn & 2 ? (const double(*)[3])t.flow : NULL,
                   c = turn & 4 ? 0.4 : 0;
      setting_pose(&t, turn != 0);
      if (turn == 3) cb_local_breathing(t.l, true);
      double K[2][36], mu[2][6], F[2][6], J[2][36];
      cb_local_part part[2][3];
      cb_local_added_mass(t.l, 1.3, rho, (double(*)[6])K[0], mu[0], part[0]);
      cb_local_added_mass_scalar(t.l, 1.3, rho, (double(*)[6])K[1], mu[1], part[1]);
      compare("K", 36, K[0], K[1]);
      compare("mu0", 6, mu[0], mu[1]);
      for (int p = 0; p < 3; p++) {
        check_relative(part[0][p].delta, part[1][p].delta, 1e-14);
        check_relative(part[0][p].area, part[1][p].area, 1e-14);
        check_near(part[0][p].volume, part[1][p].volume, 1e-14 * part[1][p].area * 10);
        check_relative(part[0][p].border, part[1][p].border, 1e-14);
        assert_int_equal(part[0][p].open, p == 2);
      }
      cb_local_drag(t.l, 1.3, rho, t.Y, t.flow1, flow, c, c / 2, F[0], (double(*)[6])J[0]);
      cb_local_drag_scalar(t.l, 1.3, rho, t.Y, t.flow1, flow, c, c / 2, F[1], (double(*)[6])J[1]);
      compare("wrench", 6, F[0], F[1]);
      compare("jacobian", 36, J[0], J[1]);
      cb_local_drag(t.l, 1.3, rho, t.Y, t.flow1, flow, c, c / 2, F[0], NULL);
      compare("wrench alone", 6, F[0], F[1]);
    }
    setting_close(&t);
  }
  check_ok(cb_isa_set("auto"));
}

/* Boxes: edges of every angle up to a right one, each compared with its own sum. */
static void sharp_edges_turn_by_their_angle(void **unused) {
  (void)unused;
  const char *const names[] = {"x86-64", "avx2", "avx512"};
  for (int isa = 0; isa < 3; isa++) {
    if (cb_isa_set(names[isa])) continue;
    const added box = added_of(mesh_box(3, (double[3]){1, 0.5, 0.25}, false));
    check_relative(box.part.turning, PI / 2 * 4 * 2 * 1.75, 1e-14);
    for (int k = 1; k < 16; k++) { /* a prism of two faces, bent by any angle: through [-pi, pi] */
      const double bend = PI * (k - 8) / 8.5;
      mesh m = mesh_room(4, 2);
      mesh_vertex(&m, 0, 0, 0), mesh_vertex(&m, 0, 2, 0), mesh_vertex(&m, -1, 0.5, 0);
      mesh_vertex(&m, cos(bend), 1.5, -sin(bend));
      mesh_face(&m, 0, 1, 2), mesh_face(&m, 0, 3, 1);
      const added two = added_of(m);
      check_near(two.part.turning, 2 * bend, 4e-15);
    }
  }
  check_ok(cb_isa_set("auto"));
}

static void threads_change_no_byte(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  double K[2][36], mu[2][6], F[2][6], J[2][36];
  for (int threads = 1; threads <= 2; threads++) {
    uint64_t same = seed;
    cb_threads_set(threads);
    setting t = setting_open(&same, 72); /* more faces than one thread takes */
    assert_true(t.s->faces > CB_THREADS_MIN_ELEMENTS);
    setting_pose(&t, true);
    cb_local_added_mass(t.l, 1.3, NULL, (double(*)[6])K[threads - 1], mu[threads - 1], NULL);
    cb_local_drag(t.l, 1.3, NULL, t.Y, t.flow1, NULL, 0, 0, F[threads - 1], (double(*)[6])J[threads - 1]);
    setting_close(&t);
  }
  cb_threads_set(0);
  assert_memory_equal(K[0], K[1], sizeof K[0]);
  assert_memory_equal(mu[0], mu[1], sizeof mu[0]);
  assert_memory_equal(F[0], F[1], sizeof F[0]);
  assert_memory_equal(J[0], J[1], sizeof J[0]);
}

static void what_is_no_surface_is_refused(void **unused) {
  (void)unused;
  cb_surface *s = mesh_surface(mesh_tube(4, 5, 1, 1, false));
  cb_local *l = NULL;
  const int kept = s->face[3][1];
  s->face[3][1] = s->face[3][0];
  assert_int_equal(cb_local_create(s, &l), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "face 4 has vertex"));
  s->face[3][1] = kept;
  const int *f = s->face[4], b = f[1];
  s->face[4][1] = f[2], s->face[4][2] = b;
  assert_int_equal(cb_local_create(s, &l), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "opposite sides at the edge between vertices "));
  int named[4];
  assert_int_equal(sscanf(cb_error_text(),
                          "faces %d and %d look to opposite sides at the edge between vertices %d and %d", named,
                          named + 1, named + 2, named + 3), 4);
  for (int i = 0; i < 4; i++) { /* counted from 1: both ends are corners of both faces, one of which is the fifth */
    const int *c = s->face[named[i % 2] - 1], v = named[2 + i / 2] - 1;
    assert_true(c[0] == v || c[1] == v || c[2] == v);
  }
  assert_true(named[0] == 5 || named[1] == 5);
  s->x[2][0] = NAN;
  assert_int_equal(cb_local_create(s, &l), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "vertex 3 is at"));
  assert_null(l);
  cb_surface_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accuracy_of_the_local_model_is_the_published_one),
      cmocka_unit_test(delta_of_table_1_is_reached_to_the_order_of_the_mesh),
      cmocka_unit_test(closed_cylinder_has_the_delta_of_its_caps),
      cmocka_unit_test(hollow_and_negative_bodies_are_capped),
      cmocka_unit_test(midpoint_rule_is_exact_for_linear_positions),
      cmocka_unit_test(motion_of_a_rigid_body_has_the_momentum_K_Y),
      cmocka_unit_test(breathing_is_told_and_taken_off),
      cmocka_unit_test(sphere_has_drag_coefficient_four_thirds),
      cmocka_unit_test(plate_has_drag_coefficient_two),
      cmocka_unit_test(jacobian_agrees_with_differences),
      cmocka_unit_test(body_that_goes_with_the_flow_feels_nothing),
      cmocka_unit_test(linear_drag_of_a_sphere_is_known),
      cmocka_unit_test(kernels_agree_with_the_scalar_equations),
      cmocka_unit_test(sharp_edges_turn_by_their_angle),
      cmocka_unit_test(threads_change_no_byte),
      cmocka_unit_test(what_is_no_surface_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
