/* Tests of mass properties of solids in curved spaces: balls and quadrics, isometries, the flat limit, and units. */
#include "curved_bodies.h"

#include "numerics/numerics_curved.h"
#include <curvebody/mass.h>

static const double pi = 3.14159265358979323846;
static const double triaxial[3] = {.6, .5, .4};

static cb_mass mass_of(cb_surface *s, double density) {
  cb_mass out;
  check_ok(cb_mass_of(s, NULL, &(cb_material){density, 0}, &out));
  cb_surface_free(s);
  return out;
}

/* Combines results for two meshes, the fine one with half the edge length h of the coarse one. The error of an
 * inscribed mesh is of order h^2; the error of the combination is of order h^4. */
static cb_mass extrapolated(cb_mass coarse, cb_mass fine) {
  cb_mass out = fine;
  out.volume += (fine.volume - coarse.volume) / 3;
  for (int i = 0; i < 36; i++)
    out.inertia[i / 6][i % 6] += (fine.inertia[i / 6][i % 6] - coarse.inertia[i / 6][i % 6]) / 3;
  return out;
}

static void balls_have_their_closed_forms(void **unused) {
  static const double a[] = {.5, 1, 2, pi / 2, 2.5}, sign[] = {-1, 1};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 5; i++) {
      const double K = sign[k], A = a[i];
      const double volume = K < 0 ? pi * (sinh(2 * A) - 2 * A) : pi * (2 * A - sin(2 * A)),
                   J = 8 * pi / 3 *
                       (K < 0 ? sinh(4 * A) / 32 - sinh(2 * A) / 4 + 3 * A / 8
                              : sin(4 * A) / 32 - sin(2 * A) / 4 + 3 * A / 8);
      const cb_mass coarse = mass_of(curved_ball(A, 32, K, CB_CHART_EXPONENTIAL), 1),
                    fine = mass_of(curved_ball(A, 64, K, CB_CHART_EXPONENTIAL), 1), both = extrapolated(coarse, fine);
      const double order = log2((coarse.volume - volume) / (fine.volume - volume));
      print_message("K %g a %.2f: volume %.2e, order %.3f, extrapolated %.1e, J %.1e\n", K, A, fine.volume / volume - 1,
                    order, both.volume / volume - 1, both.inertia[0][0] / J - 1);
      /* for K = 1 and A = pi/2 the faces are exact, because they lie in a great sphere; there is no error of second
       * order in the edge length */
      if (K < 0 || i != 3) check_near(order, 2, A >= 2 && K < 0 ? .35 : .15);
      /* In H3, balls that are larger than the radius of curvature need finer meshes for an error of fourth order in the
       * edge length. */
      check_relative(both.volume, volume, A >= 2 && K < 0 ? 3e-2 : 1e-3);
      check_relative(both.inertia[0][0], J, A >= 2 && K < 0 ? 8e-2 : 5e-3);
      for (int c = 0; c < 3; c++) {
        check_near(fine.centre[c], 0, 1e-12);
        check_relative(fine.inertia[3 + c][3 + c], fine.mass - K * fine.inertia[c][c], 1e-14);
      }
    }
}

static void triaxial_quadrics_have_their_numbers(void **unused) {
  static const double K[] = {-1, 1}, volume[] = {.7198233492305, .3822863197292};
  static const double J[2][3] = {{.0747534178, .105320947216, .125135416012},
                                 {.026053081401, .031295650046, .036211758536}};
  for (int k = 0; k < 2; k++) {
    const cb_mass coarse = mass_of(curved_quadric(triaxial, 32, K[k]), 1),
                  fine = mass_of(curved_quadric(triaxial, 64, K[k]), 1), both = extrapolated(coarse, fine);
    print_message("K %g: volume %.2e, extrapolated %.1e, J %.1e %.1e %.1e\n", K[k], fine.volume / volume[k] - 1,
                  both.volume / volume[k] - 1, both.inertia[0][0] / J[k][0] - 1, both.inertia[1][1] / J[k][1] - 1,
                  both.inertia[2][2] / J[k][2] - 1);
    /* the error, of fourth order in the edge length, for meshes of 1280 and 5120 faces */
    check_relative(both.volume, volume[k], 3e-5);
    for (int i = 0; i < 3; i++) check_relative(both.inertia[i][i], J[k][i], 1e-4);
  }
}

/* The inertia is Ad^T I' Ad, where I' is the inertia of the body after a transvection M, and Ad is the adjoint matrix
 * of M. */
static void inertia_moves_with_isometries(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 6; n++) {
    const double K = n % 2 ? 1 : -1;
    cb_surface *s = curved_quadric(triaxial, 16, K);
    double p[4], v[3], w[3], way[6][6] = {{0}}, expected[6][6];
    cb_mass here, there;
    for (int i = 0; i < 3; i++) {
      v[i] = check_uniform(&seed, -.8, .8);
      w[i] = -v[i];
    }
    check_ok(cb_mass_of(s, NULL, &(cb_material){2, 0}, &here));
    cb_curved_point(K, w, p);
    for (int i = 0; i < s->vertices; i++) {
      double y[4], moved[4];
      cb_curved_point(K, s->x[i], y);
      cb_curved_towards(K, p, y, moved);
      cb_curved_normal(K, moved, s->x[i]);
    }
    check_ok(cb_mass_of(s, NULL, &(cb_material){2, 0}, &there));
    /* column a of Ad contains the six components of M X M^-1, where X is the matrix of the unit twist a */
    for (int a = 0; a < 6; a++) {
      double X[4][4] = {{0}}, Y[4][4];
      const double *o = (double[6]){a == 0, a == 1, a == 2, a == 3, a == 4, a == 5}, q[4] = {-p[0], -p[1], -p[2], p[3]};
      for (int i = 0; i < 3; i++) {
        X[(i + 1) % 3][(i + 2) % 3] = -o[i];
        X[(i + 2) % 3][(i + 1) % 3] = o[i];
        X[i][3] = o[3 + i];
        X[3][i] = -K * o[3 + i];
      }
      for (int j = 0; j < 4; j++) { /* M moves p to the base point, and M^-1 moves q to the base point */
        double e[4] = {j == 0, j == 1, j == 2, j == 3}, f[4], Xf[4] = {0}, back[4];
        cb_curved_towards(K, q, e, f);
        for (int i = 0; i < 4; i++)
          for (int k = 0; k < 4; k++) Xf[i] += X[i][k] * f[k];
        cb_curved_towards(K, p, Xf, back);
        for (int i = 0; i < 4; i++) Y[i][j] = back[i];
      }
      const double column[6] = {Y[2][1], Y[0][2], Y[1][0], Y[0][3], Y[1][3], Y[2][3]};
      for (int i = 0; i < 6; i++) way[i][a] = column[i];
    }
    double most = 0;
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < 6; b++) {
        expected[a][b] = 0;
        for (int i = 0; i < 6; i++)
          for (int j = 0; j < 6; j++) expected[a][b] += way[i][a] * there.inertia[i][j] * way[j][b];
        most = fmax(most, fabs(here.inertia[a][b]));
      }
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < 6; b++) check_near(here.inertia[a][b], expected[a][b], 1e-12 * most); /* round-off */
    double centre[4], from[4];
    cb_curved_point(K, there.centre, from);
    cb_curved_point(K, v, centre);
    /* The quadrature preserves the symmetry of the quadric. */
    check_near(cb_curved_distance(K, from, centre), 0, 1e-9);
    double moment[3], axis[3][3], same[3], other[3][3];
    check_ok(cb_mass_principal(&here, moment, axis));
    check_ok(cb_mass_principal(&there, same, other));
    for (int i = 0; i < 3; i++) check_relative(same[i], moment[i], 1e-9);
    cb_surface_free(s);
  }
}

static void small_curvatures_lead_to_flat_space(void **unused) {
  const cb_mass flat = mass_of(curved_quadric(triaxial, 16, 0), 3);
  for (int k = -1; k <= 1; k += 2) {
    const cb_mass near = mass_of(curved_quadric(triaxial, 16, k * 1e-8), 3);
    check_relative(near.volume, flat.volume, 1e-7);
    check_relative(near.area, flat.area, 1e-7);
    for (int i = 0; i < 36; i++) check_near(near.inertia[i / 6][i % 6], flat.inertia[i / 6][i % 6], 1e-7 * flat.mass);
  }
}

static void units_of_length_scale_the_blocks(void **unused) {
  for (int k = -1; k <= 1; k += 2) {
    const double twice[3] = {1.2, 1, .8};
    const cb_mass one = mass_of(curved_quadric(triaxial, 16, k), 1),
                  two = mass_of(curved_quadric(twice, 16, k / 4.), 1);
    check_relative(two.volume, 8 * one.volume, 1e-14);
    check_relative(two.area, 4 * one.area, 1e-14);
    for (int i = 0; i < 3; i++) {
      check_relative(two.inertia[i][i], 32 * one.inertia[i][i], 1e-13);
      check_relative(two.inertia[3 + i][3 + i], 8 * one.inertia[3 + i][3 + i], 1e-13);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(balls_have_their_closed_forms),    cmocka_unit_test(triaxial_quadrics_have_their_numbers),
      cmocka_unit_test(inertia_moves_with_isometries),    cmocka_unit_test(small_curvatures_lead_to_flat_space),
      cmocka_unit_test(units_of_length_scale_the_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
