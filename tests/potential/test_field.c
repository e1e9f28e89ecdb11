/* Tests of velocity u, potential phi and pressure p of the flow around moving bodies, against closed forms: the dipole
 * of a sphere (Lamb, Hydrodynamics (1932), articles 92, 96), a disc without thickness that moves along its axis
 * (articles 102, 108), the energy by Kirchhoff's tensor K, and the force on an accelerated body. The density of the
 * fluid is 1.
 */
#include "flow_about.h"

static const double V[3] = {0.3, -0.2, 0.9}, W[3] = {0.5, 0.4, -0.3};

/* Makes points on a sphere of radius r, evenly distributed (Fibonacci's spiral). */
enum { AROUND = 400 };
static void around(double r, double (*x)[3]) {
  for (int i = 0; i < AROUND; i++) {
    const double z = 1 - (2 * i + 1.0) / AROUND, s = sqrt(1 - z * z), a = i * M_PI * (3 - sqrt(5));
    x[i][0] = r * s * cos(a);
    x[i][1] = r * s * sin(a);
    x[i][2] = r * z;
  }
}

static double sphere_error(int n, double r, double *of_phi) {
  static const double none[3] = {0};
  solid_mesh m = ellipsoid_mesh(n, 1, 1, 1);
  cb_flow_about *f = field_of(&m, none, V);
  double x[AROUND][3], u[AROUND][3], phi[AROUND], exact[3], worst = 0;
  bool inside[AROUND];
  around(r, x);
  check_ok(cb_field_at(f, AROUND, (const double(*)[3])x, u, phi, inside));
  *of_phi = 0;
  for (int i = 0; i < AROUND; i++) {
    const double potential = dipole(V, x[i], exact);
    for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(u[i][k] - exact[k]));
    *of_phi = fmax(*of_phi, fabs(phi[i] - potential));
    assert_false(inside[i]);
  }
  cb_field_free(f);
  free_mesh(&m);
  return worst;
}

/* Away from the surface the maximum errors, relative to the speed |V| of the sphere, are of second order in the size of
 * a face. Near the surface they are proportional to this size. */
static void a_sphere_is_a_dipole(void **unused) {
  double phi[2];
  const double coarse = sphere_error(8, 1.5, phi), fine = sphere_error(16, 1.5, phi + 1);
  print_message("u at r = 1.5: %.2e, %.2e; phi %.2e, %.2e\n", coarse, fine, phi[0], phi[1]);
  assert_true(fine < 4e-3 && phi[1] < 2e-3);
  assert_true(log2(coarse / fine) > 1.7 && log2(phi[0] / phi[1]) > 1.7);
  for (int i = 0; i < 3; i++) {
    const double r = (double[]){1.1, 1.01, 1.001}[i], far = sphere_error(10, r, phi),
                 near = sphere_error(20, r, phi + 1);
    print_message("u at r = %g: %.2e, %.2e; phi %.2e, %.2e\n", r, far, near, phi[0], phi[1]);
    assert_true(near < 0.08 && phi[1] < 0.02);
    assert_true(near < 0.75 * far);
  }
}

/* Inside a body u and phi are 0. Outside u is the gradient of phi, and has no divergence. */
static void a_field_is_a_gradient(void **unused) {
  solid_mesh m = ellipsoid_mesh(12, 3, 2, 1);
  cb_flow_about *f = field_of(&m, W, V);
  const double h = 1e-3;
  double x[7][3], u[7][3], phi[7];
  bool inside[7];
  for (int i = 0; i < 7; i++) {
    const double at[3] = {2.2, -1.5, 1.1};
    for (int k = 0; k < 3; k++) x[i][k] = at[k] + (i && (i - 1) / 2 == k ? (i % 2 ? h : -h) : 0);
  }
  check_ok(cb_field_at(f, 7, (const double(*)[3])x, u, phi, inside));
  double divergence = 0;
  for (int k = 0; k < 3; k++) {
    check_near((phi[1 + 2 * k] - phi[2 + 2 * k]) / (2 * h), u[0][k], 1e-2);
    divergence += (u[1 + 2 * k][k] - u[2 + 2 * k][k]) / (2 * h);
  }
  check_near(divergence, 0, 1e-6); /* the errors are h^2 from the differences and 1e-7 from the far field */
  const double within[1][3] = {{1.1, 0.3, -0.2}};
  check_ok(cb_field_at(f, 1, within, u, phi, inside));
  assert_true(inside[0]);
  check_near(phi[0], 0, 5e-3);
  for (int k = 0; k < 3; k++) check_near(u[0][k], 0, 1e-2);
  cb_field_free(f);
  free_mesh(&m);
}

/* The energy of the flow around an ellipsoid with the twist Y is <K Y, Y>/2. For a sphere of radius 1 it is pi/3 |V|^2.
 * It equals int |u|^2/2 over the space r > 1, computed by Gauss's rule in 1/r. */
static void the_energy_is_kirchhoffs(void **unused) {
  const double Y[6] = {W[0], W[1], W[2], V[0], V[1], V[2]};
  solid_mesh m = ellipsoid_mesh(12, 3, 2, 1);
  cb_flow_about *f = field_of(&m, W, V);
  const cb_kirchhoff_mass mass = mass_of(&m, NULL, NULL);
  double energy = 0;
  for (int i = 0; i < 36; i++) energy += mass.K[i / 6][i % 6] * Y[i / 6] * Y[i % 6] / 2;
  /* the tolerance is the error of the two far fields, 1e-6 each */
  check_near(cb_field_kinetic(f), energy, 1e-5 * energy);
  cb_field_free(f);
  free_mesh(&m);

  static const double none[3] = {0},
                      node[4] = {0.0694318442029737, 0.3300094782075719, 0.6699905217924281, 0.9305681557970263},
                      weight[4] = {0.1739274225687269, 0.3260725774312731, 0.3260725774312731, 0.1739274225687269};
  solid_mesh sphere = ellipsoid_mesh(16, 1, 1, 1);
  cb_flow_about *g = field_of(&sphere, none, V);
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    double x[AROUND][3], u[AROUND][3], mean = 0;
    around(1 / node[i], x);
    check_ok(cb_field_at(g, AROUND, (const double(*)[3])x, u, NULL, NULL));
    for (int k = 0; k < AROUND; k++) mean += (u[k][0] * u[k][0] + u[k][1] * u[k][1] + u[k][2] * u[k][2]) / AROUND;
    sum += weight[i] * 4 * M_PI * mean / 2 / pow(node[i], 4); /* q = 1/r: dr = dq/q^2, r^2 = 1/q^2 */
  }
  const double kinetic = cb_field_kinetic(g);
  print_message("energy of a sphere: %.6f on the surface, %.6f in space\n", kinetic, sum);
  check_near(kinetic, M_PI / 3 * (V[0] * V[0] + V[1] * V[1] + V[2] * V[2]), 5e-3 * kinetic);
  check_near(sum, kinetic, 1e-2 * kinetic);
  cb_field_free(g);
  free_mesh(&sphere);
}

/* --- pressure --- */

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Makes three fields of a sphere or an ellipsoid, at the times t = -h, 0 and h. Its centre moves with the velocity
 * V + A t, and it rotates with w. */
static void three_fields(const solid_mesh *m, const double w[3], const double A[3], double h, cb_flow_about *f[3]) {
  const double rate = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  for (int i = 0; i < 3; i++) {
    const double t = (i - 1) * h, d[3] = {V[0] * t, V[1] * t, V[2] * t};
    double v[3], carried[3];
    cross(w, d, carried);
    for (int k = 0; k < 3; k++) v[k] = V[k] + A[k] * t - carried[k];
    solid_mesh moved = shifted_mesh(m, d);
    for (int j = 0; j < m->vertices && rate > 0; j++) {
      double once[3], twice[3];
      cross(w, m->x[j], once);
      cross(w, once, twice);
      for (int k = 0; k < 3; k++)
        moved.x[j][k] += sin(rate * t) / rate * once[k] + (1 - cos(rate * t)) / (rate * rate) * twice[k];
    }
    f[i] = field_of(&moved, w, v);
    free_mesh(&moved);
  }
}

/* Returns the pressure of a sphere with velocity V and acceleration A in a fluid of density 1,
 * p = A.x/(2 r^3) + <V, u> - |u|^2/2, and writes the velocity u of the fluid. */
static double dipole_pressure(const double A[3], const double x[3], double u[3]) {
  const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  dipole(V, x, u);
  return (A[0] * x[0] + A[1] * x[1] + A[2] * x[2]) / (2 * r2 * sqrt(r2)) + V[0] * u[0] + V[1] * u[1] + V[2] * u[2] -
         (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / 2;
}

static void pressure_of_a_sphere(void **unused) {
  static const double none[3] = {0}, A[3] = {-0.7, 0.4, 1.1}, h = 3e-3;
  solid_mesh m = ellipsoid_mesh(16, 1, 1, 1);
  cb_flow_about *f[3];
  three_fields(&m, none, A, h, f);
  double x[AROUND][3], u[AROUND][3], c[AROUND][3], p[AROUND], worst = 0;
  around(1.4, x);
  for (int i = 0; i < AROUND; i++) memcpy(c[i], i % 2 ? V : (double[3]){0, 0, 0}, sizeof *c);
  check_ok(cb_field_at(f[1], AROUND, (const double(*)[3])x, u, NULL, NULL));
  check_ok(cb_field_pressure(f, h, AROUND, (const double(*)[3])x, (const double(*)[3])c, (const double(*)[3])u, p));
  for (int i = 0; i < AROUND; i++) {
    double exact[3];
    worst = fmax(worst, fabs(p[i] - dipole_pressure(A, x[i], exact)));
  }
  print_message("p at r = 1.4: %.2e\n", worst);
  assert_true(worst < 5e-3);
  /* The force on the body is minus its added mass times the acceleration. By d'Alembert's paradox the velocity V does
   * not contribute. */
  double *face = malloc((size_t)m.faces * sizeof *face), force[3] = {0};
  assert_non_null(face);
  cb_field_face_pressure(f, h, 0, face);
  for (int i = 0; i < m.faces; i++) {
    const double *a = m.x[m.face[i][0]], *b = m.x[m.face[i][1]], *d = m.x[m.face[i][2]];
    for (int k = 0; k < 3; k++) {
      const int j = (k + 1) % 3, l = (k + 2) % 3;
      force[k] -= face[i] * ((b[j] - a[j]) * (d[l] - a[l]) - (b[l] - a[l]) * (d[j] - a[j])) / 2;
    }
  }
  for (int k = 0; k < 3; k++) check_near(force[k], -2 * M_PI / 3 * A[k], 2e-2);
  free(face);
  for (int i = 0; i < 3; i++) cb_field_free(f[i]);
  free_mesh(&m);
}

/* --- on the surface --- */

/* Writes the vertices of the mesh, the midpoints of its edges and the centres of its faces to x, and returns their
 * number. */
static int marks_of(const solid_mesh *m, double (*x)[3]) {
  int n = 0;
  for (int i = 0; i < m->vertices; i++) memcpy(x[n++], m->x[i], sizeof *x);
  for (int i = 0; i < m->faces; i++)
    for (int e = 0; e < 4; e++, n++) {
      const double *a = m->x[m->face[i][e % 3]], *b = m->x[m->face[i][(e + 1) % 3]], *c = m->x[m->face[i][(e + 2) % 3]];
      for (int k = 0; k < 3; k++) x[n][k] = e < 3 ? (a[k] + b[k]) / 2 : (a[k] + b[k] + c[k]) / 3;
    }
  return n;
}

/* Computes the maximum errors of u, p and phi at this distance from the vertices, edges and faces of a sphere that
 * rotates and accelerates. The reference is the flow of the dipole at the same point; for points inside the sphere, it
 * is the dipole on the sphere. */
static void surface_errors(int n, double distance, double worst[3]) {
  static const double A[3] = {-0.7, 0.4, 1.1}, h = 3e-3;
  solid_mesh m = ellipsoid_mesh(n, 1, 1, 1);
  cb_flow_about *f[3];
  three_fields(&m, W, A, h, f);
  const size_t most = (size_t)(m.vertices + 4 * m.faces);
  double(*x)[3] = malloc(most * sizeof *x), (*u)[3] = malloc(most * sizeof *u), (*c)[3] = calloc(most, sizeof *c),
  *p = malloc(most * sizeof *p), *phi = malloc(most * sizeof *phi);
  bool *inside = malloc(most * sizeof *inside);
  assert_true(x && u && c && p && phi && inside);
  const int marks = marks_of(&m, x);
  for (int i = 0; i < marks; i++) {
    const double out_and_across[3] = {x[i][0] - 0.3 * x[i][1], x[i][1] + 0.3 * x[i][0], x[i][2]};
    for (int k = 0; k < 3; k++) x[i][k] += distance * out_and_across[k];
  }
  check_ok(cb_field_at(f[1], marks, (const double(*)[3])x, u, phi, inside));
  check_ok(cb_field_pressure(f, h, marks, (const double(*)[3])x, (const double(*)[3])c, (const double(*)[3])u, p));
  memset(worst, 0, 3 * sizeof *worst);
  for (int i = 0; i < marks; i++) {
    const double r = sqrt(x[i][0] * x[i][0] + x[i][1] * x[i][1] + x[i][2] * x[i][2]), s = fmax(r, 1) / r,
                 y[3] = {s * x[i][0], s * x[i][1], s * x[i][2]};
    double exact[3];
    worst[1] = fmax(worst[1], fabs(p[i] - dipole_pressure(A, y, exact)));
    for (int k = 0; k < 3; k++) worst[0] = fmax(worst[0], fabs(u[i][k] - exact[k]));
    worst[2] = fmax(worst[2], fabs(phi[i] - dipole(V, y, exact)));
    assert_int_equal(inside[i], distance < -1e-9);
  }
  free(x);
  free(u);
  free(c);
  free(p);
  free(phi);
  free(inside);
  for (int i = 0; i < 3; i++) cb_field_free(f[i]);
  free_mesh(&m);
}

/* On vertices, edges and faces, and next to them on either side, u, p and phi equal those of the dipole to second order
 * in the size of the faces. The square of this size is 4 pi/faces, and the error is below 5 times that, which allows
 * for second derivatives. */
static void the_surface_has_values(void **unused) {
  for (int i = 0; i < 8; i++) {
    const double distance = (double[]){0, 1e-12, -1e-12, 1e-9, 1e-6, 1e-3, -1e-3, 8e-3}[i];
    double coarse[3], fine[3];
    surface_errors(6, distance, coarse);
    surface_errors(12, distance, fine);
    print_message("%g from vertices, edges, centres: u %.2e, %.2e; p %.2e, %.2e; phi %.2e, %.2e\n", distance, coarse[0],
                  fine[0], coarse[1], fine[1], coarse[2], fine[2]);
    for (int k = 0; k < 3; k++) {
      assert_true(fine[k] < 5 * 4 * M_PI / (8 * 12 * 12));
      assert_true(log2(coarse[k] / fine[k]) > 1.5);
    }
  }
}

/* --- sheets --- */

/* Returns the potential of the unit disc that moves along z with the speed v: phi = -(2/pi) v mu (1 - zeta arccot
 * zeta). The oblate coordinates mu and zeta are z = mu zeta, x^2 + y^2 = (1 - mu^2)(1 + zeta^2). On the disc mu has the
 * sign of z. */
static double disc_phi(double v, const double x[3]) {
  const double b = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 1, root = sqrt(b * b + 4 * x[2] * x[2]),
               zeta = sqrt((b < 0 ? 2 * x[2] * x[2] / (root - b) : (b + root) / 2)),
               mu = sqrt(fmax(0, 1 - (x[0] * x[0] + x[1] * x[1]) / (1 + zeta * zeta)));
  return -2 / M_PI * v * copysign(mu, x[2]) * (1 - zeta * atan2(1, zeta));
}

/* Computes the velocity at x by differences of fourth order of disc_phi, and returns the potential there. */
static double disc_flow(double v, const double x[3], double u[3]) {
  static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1}, h = 1e-4;
  for (int k = 0; k < 3; k++) {
    u[k] = 0;
    for (int q = 0; q < 4; q++) {
      double y[3] = {x[0], x[1], x[2]};
      y[k] += at[q] * h;
      u[k] += weight[q] * disc_phi(v, y) / (12 * h);
    }
  }
  return disc_phi(v, x);
}

typedef struct sheet_errors {
  double u, phi, p, near_u, near_phi, force, energy;
} sheet_errors;

/* Solves the flow around a disc of 6 n^2 faces at the times t = -h, 0 and h. The disc moves with the velocity v + A t
 * along its normal. Returns the maximum errors of u, phi and p at the distance .3 from the disc, and of u and phi very
 * near its faces: at .05 of a face size, on both sides, within 0.89 of the radius. Also returns the errors of the
 * force, which is 8/3 A, and of the energy. */
static sheet_errors disc_errors(int n) {
  static const double none[3] = {0}, v = 0.8, A = 1.3, h = 3e-3;
  sheet_errors e = {0};
  solid_mesh m = disc_mesh(n, 1);
  cb_flow_about *f[3];
  for (int i = 0; i < 3; i++) {
    const double t = (i - 1) * h, d[3] = {0, 0, v * t + A * t * t / 2}, now[3] = {0, 0, v + A * t};
    solid_mesh moved = shifted_mesh(&m, d);
    f[i] = field_with(&moved, true, none, now);
    free_mesh(&moved);
  }
  double x[AROUND][3], u[AROUND][3], c[AROUND][3] = {{0}}, p[AROUND], phi[AROUND], exact[3];
  bool inside[AROUND];
  around(1, x);
  for (int i = 0; i < AROUND; i++) /* points on a spheroid that is at least .3 away from the disc */
    for (int k = 0; k < 3; k++) x[i][k] *= k < 2 ? 1.3 : 0.3;
  check_ok(cb_field_at(f[1], AROUND, (const double(*)[3])x, u, phi, inside));
  check_ok(cb_field_pressure(f, h, AROUND, (const double(*)[3])x, (const double(*)[3])c, (const double(*)[3])u, p));
  for (int i = 0; i < AROUND; i++) {
    const double of_phi = disc_flow(v, x[i], exact);
    const double of_p =
        -(A / v * of_phi - v * exact[2] + (exact[0] * exact[0] + exact[1] * exact[1] + exact[2] * exact[2]) / 2);
    assert_false(inside[i]);
    for (int k = 0; k < 3; k++) e.u = fmax(e.u, fabs(u[i][k] - exact[k]));
    e.phi = fmax(e.phi, fabs(phi[i] - of_phi));
    e.p = fmax(e.p, fabs(p[i] - of_p));
  }
  double *face[2], force = 0;
  for (int s = 0; s < 2; s++) {
    face[s] = malloc((size_t)m.faces * sizeof **face);
    assert_non_null(face[s]);
    cb_field_face_pressure(f, h, s, face[s]);
  }
  for (int i = 0; i < m.faces; i++) {
    const double *a = m.x[m.face[i][0]], *b = m.x[m.face[i][1]], *d = m.x[m.face[i][2]];
    const double area = ((b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0])) / 2,
                 middle[2] = {(a[0] + b[0] + d[0]) / 3, (a[1] + b[1] + d[1]) / 3},
                 r2 = middle[0] * middle[0] + middle[1] * middle[1];
    force += (face[1][i] - face[0][i]) * area;
    if (r2 > 0.8) continue;
    for (int s = 0; s < 2; s++) {
      /* phi = -+ 2/pi v sqrt(1 - r^2) on the two sides of the disc, at the distance r from its centre. */
      const double jump = (s ? -1 : 1) * -2 / M_PI * v * sqrt(1 - r2),
                   at[1][3] = {{middle[0], middle[1], (s ? -0.05 : 0.05) / n}};
      double there[1][3], of[1];
      check_ok(cb_field_at(f[1], 1, at, there, of, NULL));
      for (int k = 0; k < 3; k++) {
        const double wanted = k == 2 ? v : -jump * middle[k] / (1 - r2);
        e.near_u = fmax(e.near_u, fabs(cb_field_face_u(f[1], s)[i][k] - wanted));
        e.near_u = fmax(e.near_u, fabs(there[0][k] - wanted));
      }
      e.near_phi = fmax(e.near_phi, fabs(cb_field_face_phi(f[1], s)[i] - jump));
      e.near_phi = fmax(e.near_phi, fabs(of[0] - jump));
    }
  }
  e.force = force / (-8. / 3 * A) - 1;
  e.energy = cb_field_kinetic(f[1]) / (4. / 3 * v * v) - 1;
  free(face[0]);
  free(face[1]);
  for (int i = 0; i < 3; i++) cb_field_free(f[i]);
  free_mesh(&m);
  return e;
}

static void a_disc_has_two_sides(void **unused) {
  sheet_errors e[2];
  for (int i = 0; i < 2; i++) {
    e[i] = disc_errors(i ? 20 : 10);
    print_message(
        "%d faces: .3 away u %.1e, phi %.1e, p %.1e; beside faces u %.1e, phi %.1e; force %.1e, energy %.1e\n",
        i ? 2400 : 600, e[i].u, e[i].phi, e[i].p, e[i].near_u, e[i].near_phi, e[i].force, e[i].energy);
  }
  /* The errors have the order 3/2, because the jump of the potential has a square root at the edge of the disc. */
  assert_true(e[1].u < 2e-2 && e[1].u < 0.5 * e[0].u);
  assert_true(e[1].phi < 5e-3 && e[1].phi < 0.5 * e[0].phi);
  assert_true(e[1].p < 2e-2 && e[1].p < 0.5 * e[0].p);
  assert_true(e[1].near_u < 0.08 && e[1].near_u < 0.5 * e[0].near_u);
  assert_true(e[1].near_phi < 8e-3 && e[1].near_phi < 0.7 * e[0].near_phi);
  assert_true(fabs(e[1].force) < 1e-2 && fabs(e[1].energy) < 2e-3);
}

/* A ball and a disc move together with the velocity v. Computes the maximum of |(u - v).n| near the ball (worst[0]) and
 * near the disc (worst[1]), where n is the normal. The points have a distance of 0.3 face sizes from the surface. Near
 * the disc they are on both sides, and only within 0.77 of its radius, because the velocity is singular at its edge. */
static void normal_errors(int n, double worst[2]) {
  static const double none[3] = {0}, v[3] = {0.2, 0, 1}, over[3] = {0.2, 0, 0.9};
  solid_mesh disc = disc_mesh(5 * n, 1), ball = ellipsoid_mesh(4 * n, 0.5, 0.5, 0.5), up = shifted_mesh(&ball, over),
             m = joined_mesh(&up, &disc);
  cb_flow_about *f = field_with(&m, true, none, v);
  const cb_kirchhoff_options options = {.sheets = true};
  const cb_kirchhoff_mass mass = mass_of(&m, &options, NULL);
  double energy = 0;
  for (int i = 0; i < 9; i++) energy += mass.K[3 + i / 3][3 + i % 3] * v[i / 3] * v[i % 3] / 2;
  check_near(cb_field_kinetic(f), energy, 1e-5 * energy);
  memset(worst, 0, 2 * sizeof *worst);
  for (int i = 0; i < m.faces; i++) {
    const double *a = m.x[m.face[i][0]], *b = m.x[m.face[i][1]], *c = m.x[m.face[i][2]];
    const double ab[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, ac[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    double n2[3];
    cross(ab, ac, n2);
    const double twice = sqrt(n2[0] * n2[0] + n2[1] * n2[1] + n2[2] * n2[2]);
    const bool sheet = i >= ball.faces;
    if (sheet && pow(a[0] + b[0] + c[0], 2) + pow(a[1] + b[1] + c[1], 2) > 9 * 0.6) continue;
    for (int side = 0; side < 1 + sheet; side++) {
      double x[1][3], u[1][3], through = 0;
      for (int k = 0; k < 3; k++)
        x[0][k] = (a[k] + b[k] + c[k]) / 3 + (side ? -0.3 : 0.3) * sqrt(twice / 2) * n2[k] / twice;
      check_ok(cb_field_at(f, 1, (const double(*)[3])x, u, NULL, NULL));
      for (int k = 0; k < 3; k++) through += (u[0][k] - v[k]) * n2[k] / twice;
      worst[sheet] = fmax(worst[sheet], fabs(through));
    }
  }
  cb_field_free(f);
  free_mesh(&disc);
  free_mesh(&ball);
  free_mesh(&up);
  free_mesh(&m);
}

/* The error is proportional to the size of the faces, because the points come nearer to the surface in proportion to
 * this size. Near the disc, the velocity also has logarithmic singularities at the edges of faces. */
static void nothing_flows_through_solids_and_sheets(void **unused) {
  double coarse[2], fine[2];
  normal_errors(1, coarse);
  normal_errors(2, fine);
  print_message("through a ball %.2e, %.2e, a disc %.2e, %.2e\n", coarse[0], fine[0], coarse[1], fine[1]);
  assert_true(fine[0] < 0.2 && fine[0] < 0.7 * coarse[0]);
  assert_true(fine[1] < 0.1 && fine[1] < coarse[1]);
}

/* A ball with the velocity v in an incoming flow U has the flow of a ball with the velocity v - U. The pressure on its
 * surface differs by <U, u>, because the surface moves with v. */
static void an_incoming_flow_is_an_opposite_motion(void **unused) {
  solid_mesh m = ellipsoid_mesh(8, 1, 1, 1);
  const size_t n = (size_t)m.vertices, faces = (size_t)m.faces;
  double(*v)[3] = malloc(n * sizeof *v), (*U)[3] = malloc(faces * sizeof *U), (*rest)[3] = malloc(n * sizeof *rest);
  cb_flow_about *f[2];
  for (size_t i = 0; i < 3 * n; i++) v[i / 3][i % 3] = V[i % 3];
  for (size_t i = 0; i < 3 * n; i++) rest[i / 3][i % 3] = V[i % 3] - W[i % 3];
  for (size_t i = 0; i < 3 * faces; i++) U[i / 3][i % 3] = W[i % 3];
  for (int i = 0; i < 2; i++) {
    const cb_field_bodies bodies = {.vertices = m.vertices,
                                    .faces = m.faces,
                                    .x = (const double(*)[3])m.x,
                                    .v = (const double(*)[3])(i ? rest : v),
                                    .face = (const int(*)[3])m.face,
                                    .incoming = i ? NULL : (const double(*)[3])U};
    check_ok(cb_field_create(&bodies, 0, &f[i]));
  }
  double *p = malloc(2 * faces * sizeof *p);
  for (int i = 0; i < 2; i++)
    cb_field_face_pressure((cb_flow_about *[]){f[i], f[i], f[i]}, 1, 0, p + (size_t)i * faces);
  for (size_t i = 0; i < faces; i++) {
    const double *u = cb_field_face_u(f[0], 0)[i];
    check_near(cb_field_face_phi(f[0], 0)[i], cb_field_face_phi(f[1], 0)[i], 1e-13);
    for (int k = 0; k < 3; k++) check_near(u[k], cb_field_face_u(f[1], 0)[i][k], 1e-12);
    check_near(p[i] - p[faces + i], W[0] * u[0] + W[1] * u[1] + W[2] * u[2], 1e-12);
  }
  for (int i = 0; i < 2; i++) cb_field_free(f[i]);
  free(v);
  free(rest);
  free(U);
  free(p);
  free_mesh(&m);
}

static void failures_are_passed_on(void **unused) {
  solid_mesh m = ellipsoid_mesh(4, 1, 1, 1);
  cb_flow_about *f = NULL;
  const cb_field_bodies bodies = {.vertices = m.vertices,
                                  .faces = m.faces - 1,
                                  .x = (const double(*)[3])m.x,
                                  .v = (const double(*)[3])m.x,
                                  .face = (const int(*)[3])m.face};
  assert_int_equal(cb_field_create(&bodies, 0, &f), CB_ERROR_DOMAIN);
  free_mesh(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sphere_is_a_dipole),
      cmocka_unit_test(a_field_is_a_gradient),
      cmocka_unit_test(the_energy_is_kirchhoffs),
      cmocka_unit_test(pressure_of_a_sphere),
      cmocka_unit_test(the_surface_has_values),
      cmocka_unit_test(a_disc_has_two_sides),
      cmocka_unit_test(nothing_flows_through_solids_and_sheets),
      cmocka_unit_test(an_incoming_flow_is_an_opposite_motion),
      cmocka_unit_test(failures_are_passed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
