/* Tests of Archimedes' principle: a submerged body displaces its volume, a cube floats at its draught, and the gradient
 * of the potential is the buoyancy. */
#include <curvebody/mass.h>
#include "medium.h"
#include "solid.h"

static void submerged_body_displaces_its_volume(void **unused) {
  uint64_t seed = check_seed();
  for (int which = 0; which < 4; which++) {
    solid b = any_solid(which, &seed);
    const cb_pose g = random_pose(&seed, 50); /* far from the origin */
    solid_place(&b, &g);
    /* the expected volume and moment are from curvebody/mass.h, which integrates over tetrahedra */
    cb_mass mass;
    mesh m = mesh_room(3 * b.n, b.n);
    for (int f = 0; f < b.n; f++) {
      for (int k = 0; k < 3; k++) mesh_vertex(&m, b.corner[f][k][0], b.corner[f][k][1], b.corner[f][k][2]);
      mesh_face(&m, 3 * f, 3 * f + 1, 3 * f + 2);
    }
    cb_surface *s = mesh_surface(m);
    s->open[0] = false;
    check_ok(cb_mass_of(s, NULL, &(cb_material){.density = 998}, &mass));
    cb_surface_free(s);
    cb_medium *water;
    check_ok(cb_medium_uniform(998, &water));
    assert_true(cb_medium_is_uniform(water));
    const displaced d = displaced_of(water, &b, NULL);
    check_relative(d.mass, mass.mass, 1e-12);
    for (int i = 0; i < 3; i++) check_near(d.moment[i], mass.mass * mass.centre[i], 1e-12 * mass.mass * 50);
    cb_medium_free(water);
    solid_free(&b);
  }
}

/* A cube of side 1 m and 500 kg/m^3 floats in water of density rho_w under air of density rho_a. Its draught is
 * (500 - rho_a)/(rho_w - rho_a) metres. */
static void cube_floats_at_its_draught(void **unused) {
  const double density[2] = {998, 1.225}, level = 2, half[3] = {0.5, 0.5, 0.5};
  solid b = solid_mesh(mesh_box(2, half, false));
  cb_medium *m;
  check_ok(cb_medium_layers(1, &level, density, (const double[3]){0, 0, 1}, &m));
  double low = 0, high = 4;
  while (high - low > 1e-14) {
    const double middle = (low + high) / 2;
    solid_place(&b, &(cb_pose){{1, 0, 0, 0}, {7, 0, middle}});
    if (displaced_of(m, &b, NULL).mass > 500)
      low = middle;
    else
      high = middle;
  }
  check_near(low, level + 0.5 - (500 - 1.225) / (998 - 1.225), 1e-13);
  cb_medium_free(m);
  solid_free(&b);
}

/* Checks the gradient of the potential -up.moment for gravity 1: the force is mass up, and the torque about the origin
 * is moment × up. mass and moment are those of the displaced medium. */
static void check_potential(const cb_medium *m, const double up[3], solid *b, const double *thickness, uint64_t *seed,
                            double tolerance) {
  const cb_pose g = random_pose(seed, 0.3);
  const double h = 1e-4;
  solid_place(b, &g);
  const displaced d = displaced_of(m, b, thickness);
  double expected[6], size = d.mass;
  cb_cross3(d.moment, up, expected);
  for (int i = 0; i < 3; i++) expected[3 + i] = d.mass * up[i];
  for (int axis = 0; axis < 6; axis++) {
    double potential[2];
    for (int side = 0; side < 2; side++) {
      double Y[6] = {0};
      cb_pose step, moved;
      Y[axis] = side ? h : -h;
      cb_se3_tau(CB_SE3_EXPONENTIAL, Y, &step);
      cb_pose_multiply(&step, &g, &moved); /* moves g by the twist Y about the world's origin */
      solid_place(b, &moved);
      const displaced e = displaced_of(m, b, thickness);
      potential[side] = -cb_dot3(e.moment, up);
    }
    check_near(-(potential[1] - potential[0]) / (2 * h), expected[axis], tolerance * size);
  }
}

static void gradient_of_the_potential_is_the_buoyancy(void **unused) {
  uint64_t seed = check_seed();
  strata s = sea;
  for (int which = 0; which < 4; which++) {
    solid b = any_solid(which, &seed);
    double *thickness = malloc(sizeof *thickness * (size_t)b.n);
    for (int f = 0; f < b.n; f++) thickness[f] = 0.01;
    random_direction(&seed, s.up);
    cb_medium *layers = layers_of(&s), *smooth;
    check_ok(cb_medium_expression("1000*exp(-z/3)", 0, NULL, NULL, (const double[3]){0, 0, 1}, NULL, &smooth));
    check_potential(layers, s.up, &b, NULL, &seed, 1e-6);
    /* the mass that a sheet displaces has kinks as a function of the pose */
    check_potential(layers, s.up, &b, thickness, &seed, 1e-5);
    check_potential(smooth, (const double[3]){0, 0, 1}, &b, NULL, &seed, 1e-8);
    check_potential(smooth, (const double[3]){0, 0, 1}, &b, thickness, &seed, 1e-8);
    if (which == 0) { /* the upward direction is -y, then it is oblique */
      const double down[3] = {0, -1, 0};
      cb_medium *upturned;
      check_ok(cb_medium_expression("1000*exp(y/3)", 0, NULL, NULL, down, NULL, &upturned));
      check_potential(upturned, down, &b, NULL, &seed, 1e-8);
      cb_medium_free(upturned);
      const double up[3] = {0.6, 0, 0.8};
      cb_medium *oblique;
      check_ok(cb_medium_expression("1000*exp(-(0.6*x + 0.8*z)/3)", 0, NULL, NULL, up, NULL, &oblique));
      check_potential(oblique, up, &b, NULL, &seed, 1e-8);
      check_potential(oblique, up, &b, thickness, &seed, 1e-8);
      cb_medium_free(oblique);
    }
    cb_medium_free(layers);
    cb_medium_free(smooth);
    free(thickness);
    solid_free(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(submerged_body_displaces_its_volume),
      cmocka_unit_test(cube_floats_at_its_draught),
      cmocka_unit_test(gradient_of_the_potential_is_the_buoyancy),
  };
  return cmocka_run_group_tests_name("displaced_buoyancy", tests, NULL, NULL);
}
