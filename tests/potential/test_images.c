/* Tests of bodies near a plane, computed with images. Spheres are compared with the series of two spheres and with the
 * leading orders in the distance; a body and its mirror image are solved as two bodies. Planes may be at any place, and
 * errors are reported. K is the tensor of added mass, rotations first.
 */
#include "potential.h"
#include "two_spheres.h"
#include <curvebody/fluid_model.h>

static cb_kirchhoff_mass before(const solid_mesh *m, cb_mirror_kind kind, const double normal[3], double height,
                                cb_potential_method method) {
  const cb_kirchhoff_options options = {
      .method = method, .far_error = 1e-7, .wall = {kind, {normal[0], normal[1], normal[2]}, height}};
  return mass_of(m, &options, NULL);
}

static const double up[3] = {0, 0, 1};

static void a_sphere_before_a_wall_is_half_of_two_spheres(void **unused) {
  /* Columns: the distance d of the centres, and the added mass per sphere for motions together along the line of the
   * centres, together across it, and opposed across it. */
  static const double oracle[2][4] = {{2.5, 1.7310312089664, 2.3090610478758, 1.9050591820032},
                                      {4, 1.9980469137778, 2.1439821448999, 2.0457971849735}};
  solid_mesh m[2] = {ellipsoid_mesh(8, 1, 1, 1), ellipsoid_mesh(16, 1, 1, 1)};
  for (int i = 0; i < 2; i++) {
    const double d = oracle[i][0];
    cb_kirchhoff_mass rigid[2], surface[2];
    for (int fine = 0; fine < 2; fine++) {
      rigid[fine] = before(m + fine, CB_MIRROR_RIGID, up, -d / 2, CB_POTENTIAL_BEST);
      surface[fine] = before(m + fine, CB_MIRROR_FREE, up, -d / 2, CB_POTENTIAL_BEST);
    }
    /* For motion away from a wall the image moves in the opposite direction, for motion along the wall in the same
     * direction. At a free surface the directions are exchanged. */
    check_relative(extrapolated(rigid[0].K[5][5], rigid[1].K[5][5]), axial(d, 1), 1e-3);
    check_relative(extrapolated(rigid[0].K[3][3], rigid[1].K[3][3]), oracle[i][2], 1e-3);
    check_relative(extrapolated(surface[0].K[5][5], surface[1].K[5][5]), oracle[i][1], 1e-3);
    check_relative(extrapolated(surface[0].K[3][3], surface[1].K[3][3]), oracle[i][3], 1e-3);
  }
  free_mesh(m);
  free_mesh(m + 1);
}

/* Lamb, Hydrodynamics (1932), chapter VI: for a sphere of radius r at the distance h from a wall, the added mass is 2
 * pi/3 r^3 (1 + 3/8 (r/h)^3) for motion perpendicular to the wall and 2 pi/3 r^3 (1 + 3/16 (r/h)^3) along it. At a free
 * surface the sign of (r/h)^3 is opposite. */
static void far_from_a_wall_the_third_power_of_the_distance_is_left(void **unused) {
  solid_mesh m = ellipsoid_mesh(8, 1, 1, 1);
  const cb_kirchhoff_mass free_space = mass_of(&m, NULL, NULL);
  for (int sign = -1; sign <= 1; sign += 2) {
    const double h = 6;
    const cb_kirchhoff_mass mass = before(&m, sign > 0 ? CB_MIRROR_RIGID : CB_MIRROR_FREE, up, -h, CB_POTENTIAL_BEST);
    /* The tolerance covers the terms of higher order in 1/h and the error of the mesh with 512 faces. */
    check_relative((mass.K[5][5] / free_space.K[5][5] - 1) * h * h * h, sign * 3. / 8, 0.03);
    check_relative((mass.K[3][3] / free_space.K[3][3] - 1) * h * h * h, sign * 3. / 16, 0.03);
  }
  free_mesh(&m);
}

/* A body without symmetry is near the plane x = 0, which contains the origin. Its tensor agrees with that of the body
 * and its mirror image, solved as one body whose halves move as mirror images. */
static void a_body_and_its_image_are_two_bodies(void **unused) {
  const double shift[3] = {1.7, 0.4, -0.3}, x_axis[3] = {1, 0, 0};
  solid_mesh e = ellipsoid_mesh(7, 1, 0.6, 0.4), own = shifted_mesh(&e, shift);
  for (int i = 0; i < own.vertices; i++) own.x[i][1] += 0.2 * own.x[i][0] * own.x[i][2];
  solid_mesh image = mirrored_mesh(&own), both = joined_mesh(&own, &image);
  for (int kind = 0; kind < 2; kind++) {
    const double sign = kind ? -1 : 1;
    double *v = calloc(18 * (size_t)both.vertices, sizeof *v), G[12][12];
    for (int a = 0; a < 6; a++)
      for (int i = 0; i < both.vertices; i++) {
        const bool mirrored = i >= own.vertices;
        const double *x = both.x[i % own.vertices];
        double *to = v + 3 * (a * both.vertices + i);
        if (a < 3) {
          to[(a + 1) % 3] = -x[(a + 2) % 3];
          to[(a + 2) % 3] = x[(a + 1) % 3];
        } else
          to[a - 3] = 1;
        for (int k = 0; k < 3 && mirrored; k++) to[k] *= sign * (k == 0 ? -1 : 1);
      }
    const cb_kirchhoff_options dense = {.method = CB_POTENTIAL_DENSE};
    cb_kirchhoff *k = kirchhoff_of(&both, &dense);
    check_ok(cb_kirchhoff_form(k, 6, (const double(*)[3])v, &G[0][0]));
    cb_kirchhoff_free(k);
    const cb_kirchhoff_mass mass = before(&own, kind ? CB_MIRROR_FREE : CB_MIRROR_RIGID, x_axis, 0, CB_POTENTIAL_DENSE);
    for (int a = 0; a < 36; a++) check_near(mass.K[a / 6][a % 6], G[6 + a / 6][6 + a % 6] / 2, 1e-11);
    free(v);
  }
  free_mesh(&e);
  free_mesh(&own);
  free_mesh(&image);
  free_mesh(&both);
}

/* If the body and the plane are rotated together by R, each block B of K becomes R B R^T. The normal of a plane may
 * have any length. */
static void planes_lie_anywhere(void **unused) {
  const double s = sin(0.7), c = cos(0.7), R[3][3] = {{c, -s, 0}, {s * 0.8, c * 0.8, -0.6}, {s * 0.6, c * 0.6, 0.8}};
  solid_mesh e = ellipsoid_mesh(7, 1, 0.6, 0.4), turned = shifted_mesh(&e, (double[3]){0, 0, 0});
  for (int i = 0; i < e.vertices; i++)
    for (int k = 0; k < 3; k++) turned.x[i][k] = R[k][0] * e.x[i][0] + R[k][1] * e.x[i][1] + R[k][2] * e.x[i][2];
  const double normal[3] = {5 * R[0][2], 5 * R[1][2], 5 * R[2][2]};
  for (int method = CB_POTENTIAL_DENSE; method <= CB_POTENTIAL_ITERATIVE; method++) {
    const cb_kirchhoff_mass a = before(&e, CB_MIRROR_RIGID, up, -0.6, (cb_potential_method)method),
                            b = before(&turned, CB_MIRROR_RIGID, normal, -0.6, (cb_potential_method)method);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
          for (int l = 0; l < 3; l++) sum += R[i % 3][k] * a.K[i / 3 * 3 + k][j / 3 * 3 + l] * R[j % 3][l];
        check_near(b.K[i][j], sum, method == CB_POTENTIAL_DENSE ? 1e-11 : 1e-6);
      }
  }
  free_mesh(&e);
  free_mesh(&turned);
}

/* Stored data of a body is not used after the body has moved. */
static void a_body_that_comes_nearer_is_solved_anew(void **unused) {
  solid_mesh m = ellipsoid_mesh(5, 1, 1, 1);
  const cb_kirchhoff_options options = {.wall = {CB_MIRROR_RIGID, {0, 0, 1}, -3}};
  solid_mesh low = shifted_mesh(&m, (double[3]){0, 0, -1.5});
  cb_kirchhoff *k = kirchhoff_of(&m, &options);
  cb_kirchhoff_mass far, near, moved;
  check_ok(cb_kirchhoff_added_mass(k, NULL, &far));
  check_ok(cb_kirchhoff_renew(k, (const double(*)[3])low.x, NULL));
  check_ok(cb_kirchhoff_added_mass(k, NULL, &moved));
  near = mass_of(&low, &options, NULL);
  for (int i = 0; i < 36; i++) check_near(moved.K[i / 6][i % 6], near.K[i / 6][i % 6], 1e-12);
  assert_true(near.K[5][5] > 1.05 * far.K[5][5]);
  check_ok(cb_kirchhoff_renew(k, (const double(*)[3])m.x, NULL));
  for (int i = 0; i < low.vertices; i++) low.x[i][2] -= 1;
  check_ok(cb_kirchhoff_renew(k, (const double(*)[3])low.x, NULL));
  check_error_begins(cb_kirchhoff_added_mass(k, NULL, &moved), CB_ERROR_DOMAIN,
                     "a body is behind its wall: a corner at (");
  cb_kirchhoff_free(k);
  free_mesh(&m);
  free_mesh(&low);
}

/* --- the fluid model --- */

static cb_fluid_model *exact_of(const char *parameters) {
  cb_fluid_model *m;
  cb_tree *tree;
  check_ok(cb_yaml_read_text("parameters", parameters, strlen(parameters), &tree));
  check_ok(cb_fluid_model_create("exact", cb_tree_root(tree), &m));
  cb_tree_free(tree);
  return m;
}

static void the_model_has_a_wall(void **unused) {
  solid_mesh m = ellipsoid_mesh(5, 1, 1, 1);
  int *part = calloc((size_t)m.faces, sizeof *part);
  cb_surface *surface;
  cb_added_mass own;
  void *known = NULL;
  check_ok(cb_surface_make(m.vertices, (const double(*)[3])m.x, m.faces, (const int(*)[3])m.face, part, &surface));
  cb_fluid_model *model = exact_of("{refine: false, wall: free, wall_x: -2, wall_z: 0, wall_height: -1.5}"),
                 *through = exact_of("{refine: false, wall: rigid, wall_height: 0.5}");
  check_ok(model->class_->prepare(model, surface, NULL, &known));
  check_ok(model->class_->added_mass(model, known, surface, (const double(*)[3])m.x, NULL, &own));
  model->class_->release(model, known);
  const cb_kirchhoff_mass is = before(&m, CB_MIRROR_FREE, (double[3]){-1, 0, 0}, -1.5, CB_POTENTIAL_BEST);
  for (int i = 0; i < 36; i++) check_near(own.K[i / 6][i % 6], is.K[i / 6][i % 6], 1e-10);
  check_ok(through->class_->prepare(through, surface, NULL, &known));
  check_error_begins(through->class_->added_mass(through, known, surface, (const double(*)[3])m.x, NULL, &own),
                     CB_ERROR_DOMAIN, "a body is behind its wall");
  through->class_->release(through, known);
  cb_fluid_model_free(model);
  cb_fluid_model_free(through);
  cb_surface_free(surface);
  free(part);
  free_mesh(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sphere_before_a_wall_is_half_of_two_spheres),
      cmocka_unit_test(far_from_a_wall_the_third_power_of_the_distance_is_left),
      cmocka_unit_test(a_body_and_its_image_are_two_bodies),
      cmocka_unit_test(planes_lie_anywhere),
      cmocka_unit_test(a_body_that_comes_nearer_is_solved_anew),
      cmocka_unit_test(the_model_has_a_wall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
