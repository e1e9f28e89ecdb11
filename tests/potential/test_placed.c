/* Tests of a body that moves near a plane. Its added mass is computed by images at each position, with and without a
 * motion of the shape. The derivatives agree with differences, and for a sphere with the series of two spheres. A body
 * that comes too near is rejected.
 */
#include "potential.h"
#include "two_spheres.h"
#include "potential/moving.h"

static const cb_pose generic = {.q = {0.8, 0.36, 0.48, 0}, .x = {0.3, -0.5, 0.2}};

static solid_mesh bent(void) {
  solid_mesh m = ellipsoid_mesh(5, 1, 0.6, 0.4);
  for (int i = 0; i < m.vertices; i++) m.x[i][1] += 0.2 * m.x[i][0] * m.x[i][2];
  return m;
}

static cb_kirchhoff_options before(int kind, double nx, double ny, double nz, double height) {
  return (cb_kirchhoff_options){.method = CB_POTENTIAL_DENSE, .wall = {(cb_mirror_kind)kind, {nx, ny, nz}, height}};
}

static cb_placed *placed_of(const solid_mesh *m, const cb_kirchhoff_options *options) {
  cb_placed *p;
  check_ok(cb_placed_create(m->vertices, (const double(*)[3])m->x, m->faces, (const int(*)[3])m->face, options, &p));
  return p;
}

/* Returns the pose g, rotated by e around axis k of the body (k < 3) or shifted by e along axis k - 3. */
static cb_pose moved(const cb_pose *g, int k, double e) {
  double xi[6] = {0};
  cb_pose by, out;
  xi[k] = e;
  cb_se3_tau(CB_SE3_EXPONENTIAL, xi, &by);
  cb_pose_multiply(g, &by, &out);
  return out;
}

static void the_form_is_that_by_images_and_its_slope_that_of_it(void **unused) {
  solid_mesh m = bent();
  double(*v)[3] = malloc((size_t)m.vertices * sizeof *v);
  for (int i = 0; i < m.vertices; i++)
    for (int k = 0; k < 3; k++) v[i][k] = 0.3 * m.x[i][(k + 1) % 3] + 0.2 * m.x[i][k] * m.x[i][k];
  for (int kind = CB_MIRROR_RIGID; kind <= CB_MIRROR_FREE; kind++) {
    const cb_kirchhoff_options world = before(kind, 1, -2, 2, -1.1);
    double r[3][3], n[3], height = world.wall.height;
    cb_pose_rotation(&generic, r);
    for (int k = 0; k < 3; k++) {
      n[k] = r[0][k] * 1 - r[1][k] * 2 + r[2][k] * 2;
      height -= world.wall.normal[k] / 3 * generic.x[k];
    }
    const cb_kirchhoff_options there = before(kind, n[0], n[1], n[2], height);
    cb_kirchhoff *k = kirchhoff_of(&m, &there);
    cb_kirchhoff_mass mass;
    cb_placed *p = placed_of(&m, &world);
    cb_placed_form form, side[4];
    check_ok(cb_kirchhoff_added_mass(k, (const double(*)[3])v, &mass));
    check_ok(cb_placed_at(p, (const double(*)[3])m.x, (const double(*)[3])v, &generic, &form));
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < 6; j++) check_near(form.G[i][j], mass.K[i][j], 1e-11);
      /* G[i][6] is the mean of two values that differ because of the panels, here by at most 3e-5. */
      check_near(form.G[i][6], mass.mu0[i], 1e-4);
      assert_true(form.G[i][6] == form.G[6][i]);
    }
    check_near(form.G[6][6], 2 * mass.kinetic, 1e-11);
    for (int a = 0; a < 6; a++) {
      const double e = 1e-3;
      for (int s = 0; s < 4; s++) {
        const cb_pose g = moved(&generic, a, e * (s < 2 ? s - 2 : s - 1));
        check_ok(cb_placed_at(p, (const double(*)[3])m.x, (const double(*)[3])v, &g, &side[s]));
      }
      /* The differences are of fourth order, with the error e^4 and the round-off 1e-14/e. */
      for (int i = 0; i < 49; i++)
        check_near(form.slope[a][i / 7][i % 7],
                   (side[0].G[i / 7][i % 7] - 8 * side[1].G[i / 7][i % 7] + 8 * side[2].G[i / 7][i % 7] -
                    side[3].G[i / 7][i % 7]) /
                       (12 * e),
                   2e-10);
    }
    cb_placed_free(p);
    cb_kirchhoff_free(k);
  }
  free(v);
  free_mesh(&m);
}

/* The panels of a coin are not its faces (potential/mesh_pieces.h). A coin near a plane has the same panels as in free
 * space. */
static void a_thin_body_has_the_panels_of_free_space(void **unused) {
  cb_surface *s;
  cb_tree *tree;
  static const char coin[] = "{radius: 1, thickness: 0.02, resolution: 24}";
  check_ok(cb_yaml_read_text("parameters", coin, strlen(coin), &tree));
  check_ok(cb_shape_create("disc", cb_tree_root(tree), &s));
  const solid_mesh m = {s->vertices, s->faces, s->x, s->face};
  const cb_pose g = {.q = {0.8, 0.6, 0, 0}, .x = {0, 0, 1}};
  const cb_kirchhoff_options world = before(CB_MIRROR_RIGID, 0, 0, 1, 0),
                             there = before(CB_MIRROR_RIGID, 0, 0.96, 0.28, -1);
  cb_kirchhoff *k = kirchhoff_of(&m, &there);
  cb_placed *p = placed_of(&m, &world);
  cb_kirchhoff_mass mass;
  cb_placed_form form;
  check_ok(cb_kirchhoff_added_mass(k, NULL, &mass));
  check_ok(cb_placed_at(p, (const double(*)[3])m.x, NULL, &g, &form));
  for (int i = 0; i < 36; i++) check_near(form.G[i / 6][i % 6], mass.K[i / 6][i % 6], 1e-10);
  cb_placed_free(p);
  cb_kirchhoff_free(k);
  cb_surface_free(s);
  cb_tree_free(tree);
}

/* Results depend only on the distance and the tilt of the body. So for any body there is no wrench along the plane or
 * about its normal. */
static void nothing_changes_along_the_plane(void **unused) {
  solid_mesh m = bent();
  const cb_kirchhoff_options options = before(CB_MIRROR_RIGID, 0, 0, 1, -1);
  cb_placed *p = placed_of(&m, &options);
  cb_placed_form form;
  double r[3][3];
  cb_pose_rotation(&generic, r);
  check_ok(cb_placed_at(p, (const double(*)[3])m.x, NULL, &generic, &form));
  for (int i = 0; i < 36; i++) {
    double force[3] = {0}, about = 0;
    for (int k = 0; k < 3; k++) {
      about += r[2][k] * form.slope[k][i / 6][i % 6];
      for (int l = 0; l < 3; l++) force[l] += r[l][k] * form.slope[3 + k][i / 6][i % 6];
    }
    check_near(about, 0, 1e-15);
    check_near(force[0], 0, 1e-15);
    check_near(force[1], 0, 1e-15);
  }
  cb_placed_free(p);
  free_mesh(&m);
}

/* A sphere is at several distances from a rigid wall. Its tensor, extrapolated from two meshes, is compared with the
 * series of two spheres, and the derivative of the tensor with differences of this series. */
static void a_sphere_has_the_slope_of_two_spheres(void **unused) {
  solid_mesh m[2] = {ellipsoid_mesh(5, 1, 1, 1), ellipsoid_mesh(10, 1, 1, 1)};
  const cb_kirchhoff_options options = before(CB_MIRROR_RIGID, 0, 0, 2, 1);
  for (double gap = 0.3; gap < 2; gap *= 2) {
    const double d = 2 + 2 * gap, e = 1e-4;
    cb_placed_form form[2];
    for (int i = 0; i < 2; i++) {
      cb_placed *p = placed_of(m + i, &options);
      check_ok(cb_placed_at(p, (const double(*)[3])m[i].x, NULL, &(cb_pose){.q = {1, 0, 0, 0}, .x = {5, 7, 2 + gap}},
                            form + i));
      cb_placed_free(p);
    }
    check_relative(extrapolated(form[0].G[5][5], form[1].G[5][5]), axial(d, 1), 1e-3);
    /* The relative error is 1e-2 for the smallest gap. This gap is 0.3 radii, about the width of a face of the coarse
     * mesh. */
    check_relative(extrapolated(form[0].slope[5][5][5], form[1].slope[5][5][5]),
                   (axial(d + 2 * e, 1) - axial(d - 2 * e, 1)) / (2 * e), 1e-2);
  }
  free_mesh(m);
  free_mesh(m + 1);
}

static void what_reaches_the_plane_is_refused(void **unused) {
  solid_mesh m = ellipsoid_mesh(4, 1, 1, 1);
  cb_kirchhoff_options options = before(CB_MIRROR_RIGID, 0, 0, 1, 0);
  const double(*x)[3] = (const double(*)[3])m.x;
  cb_placed *p = placed_of(&m, &options);
  cb_placed_form form;
  cb_pose g = {.q = {1, 0, 0, 0}, .x = {0, 0, 0.9}};
  check_error_begins(cb_placed_at(p, x, NULL, &g, &form), CB_STEP_DOMAIN,
                     "a body is behind its wall: a corner is at the height -0.1 above the wall");
  g.x[2] = 1.2;
  check_ok(cb_placed_at(p, x, NULL, &g, &form));
  cb_placed_free(p);
  options.memory = 100000;
  check_error_begins(cb_placed_create(m.vertices, x, m.faces, (const int(*)[3])m.face, &options, &p), CB_ERROR_ARGUMENT,
                     "the matrix of 128 panels takes");
  options.memory = 0;
  options.wall.normal[2] = 0;
  check_error_begins(cb_placed_create(m.vertices, x, m.faces, (const int(*)[3])m.face, &options, &p), CB_ERROR_ARGUMENT,
                     "a wall with the normal (0, 0, 0)");
  options.sheets = true;
  check_error_begins(cb_placed_create(m.vertices, x, m.faces, (const int(*)[3])m.face, &options, &p),
                     CB_ERROR_UNSUPPORTED, "sheets near a wall");
  free_mesh(&m);
  /* A body that moves near a wall needs two matrices; in free space it needs one. */
  m = ellipsoid_mesh(10, 1, 1, 1);
  options = before(CB_MIRROR_RIGID, 0, 0, 1, 0);
  options.memory = 9000000;
  p = placed_of(&m, &options);
  g.x[2] = 2;
  check_error_begins(cb_placed_at(p, (const double(*)[3])m.x, NULL, &g, &form), CB_ERROR_ARGUMENT,
                     "the matrices of 800 panels that move near a wall take 0.0102 GB, more than `memory` = 0.009 GB: "
                     "expected fewer faces or more `memory`");
  cb_placed_free(p);
  free_mesh(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_form_is_that_by_images_and_its_slope_that_of_it),
      cmocka_unit_test(a_thin_body_has_the_panels_of_free_space),
      cmocka_unit_test(nothing_changes_along_the_plane),
      cmocka_unit_test(a_sphere_has_the_slope_of_two_spheres),
      cmocka_unit_test(what_reaches_the_plane_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
