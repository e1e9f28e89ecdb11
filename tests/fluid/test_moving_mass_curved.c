/* Tests of the mass and momentum of a changing shape in curved spaces: isometries, momentum as a covector, the limit of
 * flat space, and errors. */
#include "curved_bodies.h"
#include "curved_matrices.h"
#include "moving_shape.h"

#include "numerics/numerics_curved.h"

static const double axes[3] = {.5, .4, .3};
static const cb_material matter = {2, 0};

/* Makes a deformed quadric that is not symmetric about the origin. */
static shape body(double K) {
  shape h = {.s = curved_quadric(axes, 12, K)};
  h.x = calloc((size_t)h.s->vertices, sizeof(vector));
  h.v = calloc((size_t)h.s->vertices, sizeof(vector));
  for (int v = 0; v < h.s->vertices; v++)
    for (int i = 0; i < 3; i++) h.s->x[v][i] = h.x[v][i] = h.s->x[v][i] * (1 + .2 * h.s->x[v][(i + 1) % 3]) + .1 * i;
  return h;
}

static void apply(const lie_matrix *m, const double y[4], double out[4]) {
  for (int i = 0; i < 4; i++) {
    out[i] = 0;
    for (int j = 0; j < 4; j++) out[i] += (double)m->m[i][j] * y[j];
  }
}

/* Computes the velocity dv of the normal coordinates v that has the tangent vector u. It solves the linear equations
 * cb_curved_velocity(dv) = u. */
static void velocity_of(double K, const double v[3], const double u[4], double dv[3]) {
  double D[3][3], adjugate[3][3], column[4];
  for (int j = 0; j < 3; j++) {
    cb_curved_velocity(K, v, (const double[3]){j == 0, j == 1, j == 2}, column);
    for (int i = 0; i < 3; i++) D[j][i] = column[i]; /* D is the transpose of the matrix of cb_curved_velocity */
  }
  for (int j = 0; j < 3; j++) cb_cross3(D[(j + 1) % 3], D[(j + 2) % 3], adjugate[j]);
  const double det = cb_dot3(D[0], adjugate[0]);
  for (int j = 0; j < 3; j++) dv[j] = cb_dot3(adjugate[j], u) / det;
}

/* Sets the positions of the body at the pose g, and its velocities under the twist Y about the origin. */
static void carry(shape *h, double K, const cb_pose *g, const double Y[6]) {
  const lie_matrix m = curved_matrix(K, g), generator = curved_generator(K, Y);
  for (int v = 0; v < h->s->vertices; v++) {
    double y[4], moved[4], u[4];
    cb_curved_point(K, h->s->x[v], y);
    apply(&m, y, moved);
    apply(&generator, moved, u);
    cb_curved_normal(K, moved, h->x[v]);
    velocity_of(K, h->x[v], u, h->v[v]);
  }
}

/* A body that moves as a rigid body with the twist Y has the momentum I Y and the energy Y.I Y/2, where I is the
 * inertia of its surface at its position. Its mass is constant. */
static void an_isometry_moves_it_as_a_rigid_body(void **unused) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 12; trial++) {
    const double K = (trial % 2 ? 1 : -1) * check_uniform(&seed, .2, 1);
    shape h = body(K);
    cb_moving_mass *m = made(&h, &matter, false, 0, NULL);
    cb_pose g = {.q = {.8, .48, -.36, 0}};
    double Y[6], mu0[6], size = 0, twice = 0;
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -1, 1);
    for (int i = 0; i < 3; i++) g.x[i] = check_uniform(&seed, -.8, .8);
    carry(&h, K, &g, Y);
    const cb_mass found = at(m, &h, mu0);
    cb_mass rest, there;
    check_ok(cb_mass_of(h.s, NULL, &matter, &rest));
    check_ok(cb_mass_of(h.s, (const vector *)h.x, &matter, &there));
    check_relative(found.mass, rest.mass, 1e-9); /* the tetrahedra at the new place have another quadrature error */
    for (int i = 0; i < 6; i++) size = fmax(size, there.inertia[i][i]);
    for (int i = 0; i < 36; i++) check_near(found.inertia[i / 6][i % 6], there.inertia[i / 6][i % 6], 1e-8 * size);
    for (int i = 0; i < 6; i++) {
      double expected = 0;
      for (int j = 0; j < 6; j++) expected += found.inertia[i][j] * Y[j];
      check_near(mu0[i], expected, 1e-13 * size);
      twice += Y[i] * expected;
    }
    check_relative(2 * cb_moving_mass_energy(m, (const vector *)h.x, (const vector *)h.v), twice, 1e-12);
    cb_moving_mass_free(m);
    shape_free(&h);
  }
}

/* If a motion is described in another frame, its momentum changes as a covector, and its energy does not change. */
static void momentum_of_any_motion_is_a_covector(void **unused) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 6; trial++) {
    const double K = trial % 2 ? .7 : -.7;
    shape h = body(K), there = body(K);
    cb_moving_mass *m = made(&h, &matter, false, 0, NULL);
    cb_pose g = {.q = {.8, 0, -.36, .48}};
    for (int i = 0; i < 3; i++) g.x[i] = check_uniform(&seed, -.6, .6);
    wriggle(&h, .3 * trial);
    for (int v = 0; v < h.s->vertices; v++)
      for (int i = 0; i < 3; i++) {
        h.x[v][i] = .5 * h.x[v][i] + .5 * h.s->x[v][i];
        h.v[v][i] *= .5;
      }
    const lie_matrix M = curved_matrix(K, &g);
    for (int v = 0; v < h.s->vertices; v++) {
      double y[4], u[4], moved[4], turned[4];
      cb_curved_point(K, h.x[v], y);
      cb_curved_velocity(K, h.x[v], h.v[v], u);
      apply(&M, y, moved);
      apply(&M, u, turned);
      cb_curved_normal(K, moved, there.x[v]);
      velocity_of(K, there.x[v], turned, there.v[v]);
    }
    double here[6], other[6];
    const cb_mass found = at(m, &h, here);
    at(m, &there, other);
    for (int i = 0; i < 6; i++) { /* component i of Ad* mu is <mu, Ad e>, where e is the unit twist i */
      double e[6] = {0}, Ad[6], sum = 0;
      e[i] = 1;
      curved_conjugate(K, &M, e, Ad);
      for (int j = 0; j < 6; j++) sum += other[j] * Ad[j];
      check_near(here[i], sum, 1e-12 * found.mass);
    }
    check_relative(cb_moving_mass_energy(m, (const vector *)there.x, (const vector *)there.v),
                   cb_moving_mass_energy(m, (const vector *)h.x, (const vector *)h.v), 1e-12);
    cb_moving_mass_free(m);
    shape_free(&h);
    shape_free(&there);
  }
}

/* The momentum and the energy of an affine motion tend to those in flat space for small curvatures. */
static void flat_space_is_the_limit(void **unused) {
  double mu[3][6], energy[3];
  for (int k = 0; k < 3; k++) {
    const double K = (k - 1) * 1e-7;
    shape h = {.s = curved_quadric(axes, 12, K)};
    h.x = calloc((size_t)h.s->vertices, sizeof(vector));
    h.v = calloc((size_t)h.s->vertices, sizeof(vector));
    cb_moving_mass *m = made(&h, &matter, false, 0, NULL);
    for (int v = 0; v < h.s->vertices; v++) {
      const double *X = h.s->x[v];
      const double x[3] = {X[0] + .3 * X[1] + .2, X[1] - .2 * X[2], X[2] + .1 * X[0]},
                   u[3] = {.4 * X[1] + .3, X[0] - .5 * X[2], .7 * X[1] - .2 * X[2] + .1};
      memcpy(h.x[v], x, sizeof x);
      memcpy(h.v[v], u, sizeof u);
    }
    at(m, &h, mu[k]);
    energy[k] = cb_moving_mass_energy(m, (const vector *)h.x, (const vector *)h.v);
    cb_moving_mass_free(m);
    shape_free(&h);
  }
  for (int k = 0; k < 3; k += 2) {
    /* mu[1] is for K = 0. The curvature K changes the momentum by about |K| = 1e-7. */
    for (int i = 0; i < 6; i++) check_near(mu[k][i], mu[1][i], 1e-7);
    check_near(energy[k], energy[1], 1e-7);
  }
}

static void sheets_are_refused(void **unused) {
  cb_surface *s = curved_ball(.5, 8, -1, CB_CHART_EXPONENTIAL);
  cb_moving_mass *m;
  assert_int_equal(cb_moving_mass_create(s, &(cb_material){2, .1}, false, 0, NULL, &m), CB_ERROR_UNSUPPORTED);
  assert_non_null(strstr(cb_error_text(), "is a sheet: expected closed parts in a curved space"));
  cb_surface_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_isometry_moves_it_as_a_rigid_body),
      cmocka_unit_test(momentum_of_any_motion_is_a_covector),
      cmocka_unit_test(flat_space_is_the_limit),
      cmocka_unit_test(sheets_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
