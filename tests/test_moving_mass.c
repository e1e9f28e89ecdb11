/* Mass and momentum of a changing shape: rigid and affine motion exact, conservation laws, sheets, points, lumped. */
#include "fluid/moving_mass.h"
#include "fluid_mesh.h"
#include "numerics/vec3.h"

typedef double vector[3];

/* A shape with its own coordinates and velocities. */
typedef struct shape {
  cb_surface *s;
  vector *x, *v;
} shape;

static shape shape_of(mesh m) {
  shape out = {.s = mesh_surface(m)};
  out.x = calloc((size_t)out.s->vertices, sizeof(vector));
  out.v = calloc((size_t)out.s->vertices, sizeof(vector));
  memcpy(out.x, out.s->x, sizeof(vector) * (size_t)out.s->vertices);
  return out;
}
static void shape_free(shape *h) {
  cb_surface_free(h->s);
  free(h->x);
  free(h->v);
}

/* Two closed parts of unlike densities and a sheet in one surface, shaken so that nothing is symmetric. */
static shape three_parts(uint64_t *seed) {
  mesh piece[3] = {mesh_ellipsoid(4, 1, 0.7, 0.4), mesh_torus(11, 7, 0.8, 0.3), mesh_plate(4, 1, 0.6, false)};
  int vertices = 0, faces = 0;
  for (int k = 0; k < 3; k++) {
    mesh_move(piece + k, (double[3]){3. * k - 2, 1 - 2. * k, 0.5 * k});
    mesh_shake(piece + k, seed, 0.02);
    vertices += piece[k].vertices, faces += piece[k].faces;
  }
  mesh all = mesh_room(vertices, faces);
  for (int k = 0; k < 3; k++) {
    const int first = all.vertices;
    for (int i = 0; i < piece[k].vertices; i++)
      mesh_vertex(&all, piece[k].x[i][0], piece[k].x[i][1], piece[k].x[i][2]);
    for (int f = 0; f < piece[k].faces; f++) {
      const int *at = piece[k].face[f];
      all.part[all.faces] = k;
      mesh_face(&all, first + at[0], first + at[1], first + at[2]);
    }
    free(piece[k].x), free(piece[k].face), free(piece[k].part);
  }
  return shape_of(all);
}
static const cb_material materials[3] = {{800, 0}, {1300, 0}, {500, 0.02}};

static double area_at_rest(const cb_surface *s, int f) {
  const int *c = s->face[f];
  double e1[3], e2[3], n[3];
  for (int k = 0; k < 3; k++) e1[k] = s->x[c[1]][k] - s->x[c[0]][k], e2[k] = s->x[c[2]][k] - s->x[c[1]][k];
  cb_cross3(e1, e2, n);
  return sqrt(cb_dot3(n, n)) / 2;
}

static cb_moving_mass *made(const shape *h, const cb_material *material, bool lumped, int n,
                            const cb_point_mass *points) {
  cb_moving_mass *m;
  check_ok(cb_moving_mass_create(h->s, material, lumped, n, points, &m));
  return m;
}
static cb_mass at(const cb_moving_mass *m, const shape *h, double mu0[6]) {
  cb_mass out;
  check_ok(cb_moving_mass_at(m, (const vector *)h->x, (const vector *)h->v, &out, mu0));
  return out;
}

static double largest(const double m[6][6]) {
  double size = 0;
  for (int i = 0; i < 36; i++) size = fmax(size, fabs(m[i / 6][i % 6]));
  return size;
}
static void check_same_mass(const cb_mass *a, const cb_mass *b, double tolerance) {
  check_relative(a->mass, b->mass, tolerance);
  check_near(a->volume, b->volume, tolerance * fabs(b->volume));
  check_relative(a->area, b->area, tolerance);
  for (int i = 0; i < 3; i++) {
    check_near(a->centre[i], b->centre[i], 10 * tolerance);
    check_near(a->volume_centre[i], b->volume_centre[i], 10 * tolerance);
  }
  for (int i = 0; i < 36; i++)
    check_near(a->inertia[i / 6][i % 6], b->inertia[i / 6][i % 6], tolerance * largest(b->inertia));
}

/* x' = omega × x + w */
static void turn_and_move(shape *h, const double Y[6]) {
  for (int i = 0; i < h->s->vertices; i++) {
    cb_cross3(Y, h->x[i], h->v[i]);
    for (int k = 0; k < 3; k++) h->v[i][k] += Y[3 + k];
  }
}

/* Rodrigues's rotation by `angle` about the unit axis, then a translation. */
static void place(shape *h, const vector axis, double angle, const vector d) {
  for (int i = 0; i < h->s->vertices; i++) {
    double across[3], *x = h->x[i];
    const double along = cb_dot3(axis, h->s->x[i]);
    cb_cross3(axis, h->s->x[i], across);
    for (int k = 0; k < 3; k++)
      x[k] = cos(angle) * h->s->x[i][k] + sin(angle) * across[k] + (1 - cos(angle)) * along * axis[k] + d[k];
  }
}

static void rigid_parts_have_the_mass_of_the_placed_surface(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  for (int turn = 0; turn < 10; turn++) {
    double Y[6], mu0[6], d[3], expected[6] = {0}, size = 0;
    for (int k = 0; k < 6; k++) Y[k] = check_uniform(&seed, -1, 1);
    for (int k = 0; k < 3; k++) d[k] = check_uniform(&seed, -2, 2);
    place(&h, (vector){2. / 3, -1. / 3, 2. / 3}, check_uniform(&seed, -3, 3), d);
    turn_and_move(&h, Y);
    double energy = 0;
    cb_mass rest;
    check_ok(cb_mass_of(h.s, (const vector *)h.x, materials, &rest));
    const cb_mass found = at(m, &h, mu0);
    check_same_mass(&found, &rest, 1e-13);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) expected[i] += rest.inertia[i][j] * Y[j], size = fmax(size, fabs(expected[i]));
    for (int i = 0; i < 6; i++) check_near(mu0[i], expected[i], 1e-13 * size), energy += Y[i] * expected[i] / 2;
    check_relative(cb_moving_mass_energy(m, (const vector *)h.x, (const vector *)h.v), energy, 1e-12);
  }
  cb_moving_mass_free(m);
  shape_free(&h);
}

static void parts_that_turn_each_by_themselves_add_up(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  double expected[6] = {0}, mu0[6], size = 0;
  for (int p = 0; p < 3; p++) {
    double Y[6];
    cb_mass own;
    cb_material alone[3] = {{0}};
    alone[p] = materials[p];
    for (int k = 0; k < 6; k++) Y[k] = check_uniform(&seed, -1, 1);
    for (int f = 0; f < h.s->faces; f++)
      for (int k = 0; h.s->part[f] == p && k < 3; k++) {
        const int i = h.s->face[f][k];
        cb_cross3(Y, h.x[i], h.v[i]);
        for (int c = 0; c < 3; c++) h.v[i][c] += Y[3 + c];
      }
    if (p == 2) alone[0].thickness = alone[1].thickness = 1; /* of no density */
    check_ok(cb_mass_of(h.s, NULL, alone, &own));
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) expected[i] += own.inertia[i][j] * Y[j], size = fmax(size, fabs(expected[i]));
  }
  at(m, &h, mu0);
  for (int i = 0; i < 6; i++) check_near(mu0[i], expected[i], 1e-13 * size);
  cb_moving_mass_free(m);
  shape_free(&h);
}

/* x = (1 + t A) X: with C = int rho X X^T of the solid, int rho x x'^T = (1 + t A) C A^T. */
static void affine_motion_has_its_closed_form(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  const double a[3] = {1, 0.5, 0.25}, d[3] = {0.3, -0.2, 0.7}, density = 3, mass = density * 8 * a[0] * a[1] * a[2];
  mesh box = mesh_box(3, a, false);
  mesh_move(&box, d);
  shape h = shape_of(box);
  cb_moving_mass *m = made(&h, &(cb_material){density, 0}, false, 0, NULL);
  double A[3][3], G[3][3], C[3][3], Q[3][3] = {{0}}, P[3][3] = {{0}}, mu0[6];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      A[i][j] = check_uniform(&seed, -1, 1);
      G[i][j] = (i == j) + 0.4 * A[i][j];
      C[i][j] = mass * ((i == j) * a[i] * a[i] / 3 + d[i] * d[j]);
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
          Q[i][j] += G[i][k] * C[k][l] * A[j][l];
          P[i][j] += G[i][k] * C[k][l] * G[j][l];
        }
  for (int i = 0; i < h.s->vertices; i++) {
    cb_apply3((const vector *)G, h.s->x[i], h.x[i]);
    cb_apply3((const vector *)A, h.s->x[i], h.v[i]);
  }
  const cb_mass found = at(m, &h, mu0);
  check_relative(found.mass, mass, 1e-14);
  double centre[3], velocity[3];
  cb_apply3((const vector *)G, d, centre);
  cb_apply3((const vector *)A, d, velocity);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    check_near(found.centre[i], centre[i], 1e-14);
    check_near(found.inertia[i][i], P[j][j] + P[k][k], 1e-13 * mass);
    check_near(found.inertia[i][j], -P[i][j], 1e-13 * mass);
    check_near(mu0[i], Q[j][k] - Q[k][j], 1e-13 * mass);
    check_near(mu0[3 + i], mass * velocity[i], 1e-13 * mass);
  }
  double twice = 0; /* tr(A C A^T) */
  for (int i = 0; i < 27; i++) twice += A[i / 9][i / 3 % 3] * C[i / 3 % 3][i % 3] * A[i / 9][i % 3];
  check_relative(cb_moving_mass_energy(m, (const vector *)h.x, (const vector *)h.v), twice / 2, 1e-13);
  cb_moving_mass_free(m);
  shape_free(&h);
}

/* Any motion that bends, breathes and stretches. */
static void wriggle(shape *h, double t) {
  for (int i = 0; i < h->s->vertices; i++) {
    const double *X = h->s->x[i], k = 1.3;
    for (int c = 0; c < 3; c++) {
      const double phase = 2 * t + k * X[(c + 1) % 3] + c;
      h->x[i][c] = X[c] * (1 + 0.1 * sin(3 * t + X[c])) + 0.2 * sin(phase);
      h->v[i][c] = X[c] * 0.3 * cos(3 * t + X[c]) + 0.4 * cos(phase);
    }
  }
}

static void linear_momentum_is_that_of_the_centre(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  const double t = 0.37, d = 1e-3;
  double mu0[6], other[6], slope[3] = {0};
  const double weights[4] = {1, -8, 8, -1};
  for (int n = 0; n < 4; n++) { /* error d^4 */
    wriggle(&h, t + (n < 2 ? n - 2 : n - 1) * d);
    const cb_mass there = at(m, &h, other);
    for (int i = 0; i < 3; i++) slope[i] += weights[n] * there.centre[i] / (12 * d);
  }
  wriggle(&h, t);
  const cb_mass here = at(m, &h, mu0);
  for (int i = 0; i < 3; i++) check_near(mu0[3 + i], here.mass * slope[i], 1e-9 * here.mass);
  cb_moving_mass_free(m);
  shape_free(&h);
}

/* The rule of four points with barycentric coordinates a, b, b, b is exact for quadratic functions on tetrahedra. */
static void spin_about_the_centre_is_that_of_the_velocities(void **unused) {
  (void)unused;
  shape h = shape_of(mesh_ellipsoid(4, 1, 0.7, 0.4));
  const double density = 800, a = (5 + 3 * sqrt(5)) / 20, b = (5 - sqrt(5)) / 20;
  cb_moving_mass *m = made(&h, &(cb_material){density, 0}, false, 0, NULL);
  double area = 0, volume = 0, mu0[6], apex[2][3] = {{0}}, one[2][3] = {{0}}, spin[3] = {0}, expected[3], turn[3];
  wriggle(&h, 0.9);
  const cb_mass found = at(m, &h, mu0);
  vector *const of[2] = {h.x, h.v};
  for (int f = 0; f < h.s->faces; f++) {
    const int *c = h.s->face[f];
    const double size = area_at_rest(h.s, f);
    area += size;
    for (int q = 0; q < 2; q++)
      for (int k = 0; k < 3; k++) apex[q][k] += size * (of[q][c[0]][k] + of[q][c[1]][k] + of[q][c[2]][k]) / 3;
  }
  for (int k = 0; k < 6; k++) apex[k / 3][k % 3] /= area;
  for (int f = 0; f < h.s->faces; f++) {
    double y[4][3], n[3];
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) y[j][k] = h.x[h.s->face[f][j]][k] - apex[0][k];
    cb_cross3(y[1], y[2], n);
    const double content = cb_dot3(y[0], n) / 6;
    volume += content;
    for (int p = 0; p < 4; p++) {
      double x[2][3];
      for (int q = 0; q < 2; q++)
        for (int k = 0; k < 3; k++) {
          x[q][k] = (p == 3 ? a : b) * apex[q][k];
          for (int j = 0; j < 3; j++) x[q][k] += (p == j ? a : b) * of[q][h.s->face[f][j]][k];
          one[q][k] += content / 4 * x[q][k];
        }
      cb_cross3(x[0], x[1], turn);
      for (int k = 0; k < 3; k++) spin[k] += content / 4 * turn[k];
    }
  }
  const double mass = found.mass;
  cb_cross3(one[0], one[1], turn);
  for (int k = 0; k < 3; k++) expected[k] = mass / volume * (spin[k] - turn[k] / volume);
  cb_cross3(found.centre, mu0 + 3, turn);
  for (int k = 0; k < 3; k++) check_near(mu0[k] - turn[k], expected[k], 1e-12 * mass);
  cb_moving_mass_free(m);
  shape_free(&h);
}

/* Of a shift of the origin, and of a shape that moves on as a whole: L + d × p, p + m w. */
static void momentum_is_galilean(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  const double d[3] = {5, -3, 2}, w[3] = {0.3, 0.7, -1.1};
  double here[6], there[6], turn[3], centre[3], push[3];
  wriggle(&h, 0.8);
  const cb_mass before = at(m, &h, here);
  for (int i = 0; i < h.s->vertices; i++)
    for (int k = 0; k < 3; k++) h.x[i][k] += d[k], h.v[i][k] += w[k];
  const cb_mass after = at(m, &h, there);
  for (int i = 0; i < 3; i++) centre[i] = before.centre[i] + d[i];
  cb_cross3(d, here + 3, turn);
  cb_cross3(centre, w, push);
  for (int i = 0; i < 3; i++) {
    check_near(there[3 + i], here[3 + i] + before.mass * w[i], 1e-12 * before.mass);
    check_near(there[i], here[i] + turn[i] + before.mass * push[i], 1e-11 * before.mass);
    check_near(after.centre[i], centre[i], 1e-13);
  }
  cb_moving_mass_free(m);
  shape_free(&h);
}

static void mass_is_kept_where_the_volume_changes(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  double mu0[6];
  cb_mass rest;
  check_ok(cb_mass_of(h.s, NULL, materials, &rest));
  for (int i = 0; i < h.s->vertices; i++)
    for (int k = 0; k < 3; k++) h.x[i][k] = 1.2 * h.s->x[i][k], h.v[i][k] = h.s->x[i][k];
  const cb_mass swollen = at(m, &h, mu0);
  check_relative(swollen.mass, rest.mass, 1e-14);
  check_relative(swollen.volume, 1.2 * 1.2 * 1.2 * rest.volume, 1e-13);
  check_relative(swollen.area, 1.2 * 1.2 * rest.area, 1e-13);
  for (int i = 0; i < 3; i++) {
    check_relative(swollen.inertia[i][i], 1.44 * rest.inertia[i][i], 1e-13);
    check_near(mu0[i], 0, 1e-12 * rest.mass); /* a homologous motion does not spin */
    check_near(mu0[3 + i], rest.mass * rest.centre[i], 1e-13 * rest.mass);
  }
  cb_moving_mass_free(m);
  shape_free(&h);
}

static void lumped_body_is_the_sum_over_its_vertices(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, true, 0, NULL);
  double *mass = calloc((size_t)h.s->vertices, sizeof *mass), mu0[6], mu[6] = {0}, energy = 0;
  for (int p = 0; p < 3; p++) {
    cb_mass own;
    cb_material alone[3] = {{0, 1}, {0, 1}, {0, 1}};
    alone[p] = materials[p];
    check_ok(cb_mass_of(h.s, NULL, alone, &own));
    double part_area = 0, *area = calloc((size_t)h.s->faces, sizeof *area);
    for (int f = 0; f < h.s->faces; f++)
      if (h.s->part[f] == p) part_area += area[f] = area_at_rest(h.s, f);
    for (int f = 0; f < h.s->faces; f++)
      for (int k = 0; k < 3; k++) mass[h.s->face[f][k]] += own.mass * area[f] / part_area / 3;
    free(area);
  }
  wriggle(&h, 1.1);
  cb_mass sum = {0};
  for (int i = 0; i < h.s->vertices; i++) {
    double turn[3];
    cb_mass_add_point(&sum, mass[i], h.x[i]);
    cb_cross3(h.x[i], h.v[i], turn);
    for (int k = 0; k < 3; k++) mu[k] += mass[i] * turn[k], mu[3 + k] += mass[i] * h.v[i][k];
    energy += mass[i] * cb_dot3(h.v[i], h.v[i]) / 2;
  }
  check_relative(cb_moving_mass_energy(m, (const vector *)h.x, (const vector *)h.v), energy, 1e-13);
  const cb_mass found = at(m, &h, mu0);
  check_relative(found.mass, sum.mass, 1e-13);
  for (int i = 0; i < 36; i++)
    check_near(found.inertia[i / 6][i % 6], sum.inertia[i / 6][i % 6], 1e-13 * largest(sum.inertia));
  for (int i = 0; i < 6; i++) check_near(mu0[i], mu[i], 1e-12 * sum.mass);
  free(mass);
  cb_moving_mass_free(m);
  shape_free(&h);
}

static void point_masses_move_with_their_vertex_or_stay(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  const cb_point_mass points[2] = {{.mass = 40, .x = {1, 2, 3}, .vertex = -1}, {.mass = 25, .vertex = 7}};
  cb_moving_mass *m = made(&h, materials, false, 2, points), *without = made(&h, materials, false, 0, NULL);
  double mu0[6], bare[6], turn[3];
  wriggle(&h, 0.2);
  const cb_mass found = at(m, &h, mu0);
  cb_mass expected = at(without, &h, bare);
  cb_mass_add_point(&expected, 40, points[0].x);
  cb_mass_add_point(&expected, 25, h.x[7]);
  check_same_mass(&found, &expected, 1e-14);
  cb_cross3(h.x[7], h.v[7], turn);
  for (int i = 0; i < 3; i++) {
    check_near(mu0[i], bare[i] + 25 * turn[i], 1e-13 * found.mass);
    check_near(mu0[3 + i], bare[3 + i] + 25 * h.v[7][i], 1e-13 * found.mass);
  }
  cb_moving_mass_free(m);
  cb_moving_mass_free(without);
  shape_free(&h);
}

static mesh two_sheets(void) {
  mesh m = mesh_ellipsoid(24, 1, 0.7, 0.4);
  m.part[5] = m.part[6] = 1;
  return m;
}

/* Parts that share vertices, several blocks of faces, and a sheet. */
static void sums_of_the_local_model_give_the_same(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int turn = 0; turn < 3; turn++) {
    shape h = turn == 0 ? three_parts(&seed) : shape_of(turn == 1 ? mesh_ellipsoid(24, 1, 0.7, 0.4) : two_sheets());
    cb_material sheets[3] = {{800, turn == 2 ? 0.02 : 0}, {1300, turn == 2 ? 0.01 : 0}, {500, 0.02}};
    cb_moving_mass *m = made(&h, sheets, false, 0, NULL);
    cb_local *l;
    check_ok(cb_local_create(h.s, &l));
    for (int pose = 0; pose < 3; pose++) {
      double mu0[6], expected[6], size = 0;
      cb_mass found, mass;
      wriggle(&h, 0.3 * pose);
      cb_local_pose(l, (const vector *)h.x, (const vector *)h.v);
      check_ok(cb_moving_mass_with(m, l, (const vector *)h.x, (const vector *)h.v, &found, mu0));
      mass = at(m, &h, expected);
      check_same_mass(&found, &mass, 1e-13);
      for (int i = 0; i < 6; i++) size = fmax(size, fabs(expected[i]));
      for (int i = 0; i < 6; i++) check_near(mu0[i], expected[i], 1e-12 * size);
    }
    cb_local_free(l);
    cb_moving_mass_free(m);
    shape_free(&h);
  }
}

static void shape_at_rest_has_no_momentum(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  cb_mass found, rest;
  double mu0[6] = {1, 1, 1, 1, 1, 1};
  check_ok(cb_moving_mass_at(m, (const vector *)h.x, NULL, &found, mu0));
  check_ok(cb_mass_of(h.s, NULL, materials, &rest));
  check_same_mass(&found, &rest, 1e-13);
  for (int i = 0; i < 6; i++) check_near(mu0[i], 0, 0);
  cb_moving_mass_free(m);
  shape_free(&h);
}

static void what_cannot_be_is_refused(void **unused) {
  (void)unused;
  shape h = shape_of(mesh_ellipsoid(3, 1, 1, 1));
  const cb_material water = {1000, 0};
  cb_moving_mass *m = made(&h, &water, false, 0, NULL), *none;
  cb_mass out;
  double mu0[6];
  for (int i = 0; i < h.s->vertices; i++) h.x[i][0] *= -1;
  assert_int_equal(cb_moving_mass_at(m, (const vector *)h.x, NULL, &out, mu0), CB_STEP_SINGULAR);
  assert_non_null(strstr(cb_error_text(), "has the volume -"));
  const cb_point_mass off = {.mass = 1, .vertex = h.s->vertices}, negative = {.mass = -1, .vertex = -1};
  assert_int_equal(cb_moving_mass_create(h.s, &water, false, 1, &off, &none), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_moving_mass_create(h.s, &water, false, 1, &negative, &none), CB_ERROR_ARGUMENT);
  cb_moving_mass_free(m);
  shape_free(&h);
  h = shape_of(mesh_plate(3, 1, 1, false));
  assert_int_equal(cb_moving_mass_create(h.s, &water, false, 0, NULL, &none), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "is open"));
  shape_free(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rigid_parts_have_the_mass_of_the_placed_surface),
      cmocka_unit_test(parts_that_turn_each_by_themselves_add_up),
      cmocka_unit_test(affine_motion_has_its_closed_form),
      cmocka_unit_test(linear_momentum_is_that_of_the_centre),
      cmocka_unit_test(spin_about_the_centre_is_that_of_the_velocities),
      cmocka_unit_test(momentum_is_galilean),
      cmocka_unit_test(mass_is_kept_where_the_volume_changes),
      cmocka_unit_test(lumped_body_is_the_sum_over_its_vertices),
      cmocka_unit_test(point_masses_move_with_their_vertex_or_stay),
      cmocka_unit_test(sums_of_the_local_model_give_the_same),
      cmocka_unit_test(shape_at_rest_has_no_momentum),
      cmocka_unit_test(what_cannot_be_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
