/* What bodies in a medium displace: against closed forms for boxes and plates at any attitude, slices of any closed
 * surface and quadrature over tetrahedra; Archimedes; the potential's gradient. */
#include "core/threads.h"
#include "fluid/mass.h"
#include "fluid_mesh.h"
#include "medium.h"
#include "numerics/se3.h"

#include <gsl/gsl_integration.h>

/* --- surfaces in the world --- */

typedef struct solid {
  int n;
  double (*corner)[3][3], (*rest)[3][3];
} solid;

static solid solid_of(cb_surface *s) {
  solid b = {.n = s->faces};
  b.corner = malloc(sizeof *b.corner * (size_t)b.n);
  b.rest = malloc(sizeof *b.rest * (size_t)b.n);
  for (int f = 0; f < b.n; f++)
    for (int k = 0; k < 3; k++) memcpy(b.rest[f][k], s->x[s->face[f][k]], sizeof b.rest[f][k]);
  memcpy(b.corner, b.rest, sizeof *b.rest * (size_t)b.n);
  cb_surface_free(s);
  return b;
}
static solid solid_mesh(mesh m) { return solid_of(mesh_surface(m)); }
static solid solid_shape(const char *name) {
  cb_surface *s;
  check_ok(cb_shape_create(name, NULL, &s));
  for (int p = 0; p < s->parts; p++) assert_false(s->open[p]);
  return solid_of(s);
}
static void solid_free(solid *b) { free(b->corner), free(b->rest); }

static void solid_place(solid *b, const cb_pose *g) {
  double r[3][3];
  cb_pose_rotation(g, r);
  for (int f = 0; f < b->n; f++)
    for (int k = 0; k < 3; k++) {
      cb_apply3(r, b->rest[f][k], b->corner[f][k]);
      for (int i = 0; i < 3; i++) b->corner[f][k][i] += g->x[i];
    }
}

static cb_pose random_pose(uint64_t *seed, double far) {
  cb_pose g = {{0}, {0}};
  double size = 0;
  for (int i = 0; i < 4; i++) g.q[i] = check_uniform(seed, -1, 1), size += g.q[i] * g.q[i];
  for (int i = 0; i < 4; i++) g.q[i] /= sqrt(size);
  for (int i = 0; i < 3; i++) g.x[i] = check_uniform(seed, -far, far);
  return g;
}

typedef struct displaced {
  double mass, moment[3];
} displaced;
static displaced displaced_of(const cb_medium *m, const solid *b, const double *thickness) {
  displaced d;
  check_ok(cb_medium_displaced(m, b->n, (const double(*)[3][3])b->corner, thickness, &d.mass, d.moment));
  return d;
}
static void check_displaced(displaced a, displaced b, double tolerance) {
  double size = fabs(b.mass);
  check_near(a.mass, b.mass, tolerance * size);
  for (int i = 0; i < 3; i++) size = fmax(size, fabs(b.moment[i]));
  for (int i = 0; i < 3; i++) check_near(a.moment[i], b.moment[i], tolerance * size);
}

/* --- layers by slices: mass = int rho(h) S(h) dh, S the area of the section at height h --- */

static double rho_of(const strata *s, double h) {
  if (s->scale > 0) return s->density[0] * exp(-h / s->scale);
  int i = 0;
  while (i < s->n && h >= s->level[i]) i++;
  return s->density[i];
}
/* int_0^h rho */
static double column_of(const strata *s, double h) {
  if (s->scale > 0) return s->density[0] * s->scale * -expm1(-h / s->scale);
  double sum = 0;
  for (int i = 0; i <= s->n; i++) {
    const double a = i ? s->level[i - 1] : -INFINITY, b = i < s->n ? s->level[i] : INFINITY, low = fmin(h, 0),
                 high = fmax(h, 0);
    const double part = fmin(b, high) - fmax(a, low);
    if (part > 0) sum += s->density[i] * part;
  }
  return h < 0 ? -sum : sum;
}

/* A right-handed frame with up last. */
static void frame_of(const double up[3], double e[3][3]) {
  const double axis[3] = {fabs(up[0]) < 0.6, fabs(up[0]) >= 0.6, 0};
  cb_cross3(axis, up, e[0]);
  const double size = sqrt(cb_dot3(e[0], e[0]));
  for (int i = 0; i < 3; i++) e[0][i] /= size, e[2][i] = up[i];
  cb_cross3(up, e[0], e[1]);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Area of a section and its first moments, corners in the frame. */
static void section(int n, const double (*y)[3][3], double h, double out[3]) {
  memset(out, 0, 3 * sizeof *out);
  for (int f = 0; f < n; f++) {
    double p[2][2], e1[2], e2[2];
    int points = 0;
    for (int k = 0; k < 3; k++) {
      const double *a = y[f][k], *b = y[f][(k + 1) % 3];
      if ((a[2] < h) == (b[2] < h)) continue;
      const double t = (h - a[2]) / (b[2] - a[2]);
      for (int i = 0; i < 2; i++) p[points][i] = a[i] + t * (b[i] - a[i]);
      points++;
    }
    if (points < 2) continue;
    /* along up × n */
    double d1[3], d2[3], normal[3];
    for (int i = 0; i < 3; i++) d1[i] = y[f][1][i] - y[f][0][i], d2[i] = y[f][2][i] - y[f][0][i];
    cb_cross3(d1, d2, normal);
    const bool forward = (p[1][0] - p[0][0]) * -normal[1] + (p[1][1] - p[0][1]) * normal[0] > 0;
    memcpy(e1, p[!forward], sizeof e1), memcpy(e2, p[forward], sizeof e2);
    const double twice = e1[0] * e2[1] - e1[1] * e2[0];
    out[0] += twice / 2;
    for (int i = 0; i < 2; i++) out[1 + i] += twice * (e1[i] + e2[i]) / 6;
  }
}

static displaced by_slices(const strata *s, const solid *b) {
  double e[3][3], *height = malloc(sizeof *height * (size_t)(3 * b->n + s->n));
  double(*y)[3][3] = malloc(sizeof *y * (size_t)b->n);
  frame_of(s->up, e);
  for (int f = 0; f < b->n; f++)
    for (int k = 0; k < 3; k++) {
      cb_apply3((const double(*)[3])e, b->corner[f][k], y[f][k]);
      height[3 * f + k] = y[f][k][2];
    }
  memcpy(height + 3 * b->n, s->level, sizeof *height * (size_t)s->n);
  const int heights = 3 * b->n + s->n;
  qsort(height, (size_t)heights, sizeof *height, ascending);
  gsl_integration_glfixed_table *gauss = gsl_integration_glfixed_table_alloc(s->scale > 0 ? 4 : 2);
  double mass = 0, first[3] = {0};
  for (int i = 0; i + 1 < heights; i++)
    for (size_t q = 0; q < gauss->n && height[i + 1] > height[i]; q++) {
      double h, w, cut[3];
      gsl_integration_glfixed_point(height[i], height[i + 1], q, &h, &w, gauss);
      section(b->n, (const double(*)[3][3])y, h, cut);
      mass += w * rho_of(s, h) * cut[0];
      for (int k = 0; k < 2; k++) first[k] += w * rho_of(s, h) * cut[1 + k];
      first[2] += w * column_of(s, h) * cut[0];
    }
  gsl_integration_glfixed_table_free(gauss);
  free(height), free(y);
  displaced d = {.mass = mass};
  cb_apply3_transposed((const double(*)[3])e, first, d.moment);
  return d;
}

static solid any_solid(int which, uint64_t *seed) {
  if (which == 0) return solid_mesh(mesh_ellipsoid(5, 1, 0.6, 0.4));
  if (which == 1) return solid_shape("twisted_bar");
  if (which == 2) return solid_shape("propeller");
  mesh m = mesh_torus(14, 9, 0.8, 0.3);
  mesh_shake(&m, seed, 0.05);
  return solid_mesh(m);
}

static void layers_of_any_closed_body_are_cut_exactly(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  strata s = sea;
  for (int which = 0; which < 4; which++) {
    solid b = any_solid(which, &seed);
    for (int turn = 0; turn < 2; turn++) {
      const cb_pose g = random_pose(&seed, 0.3);
      random_direction(&seed, s.up);
      solid_place(&b, &g);
      cb_medium *m = layers_of(&s);
      check_displaced(displaced_of(m, &b, NULL), by_slices(&s, &b), 2e-13);
      cb_medium_free(m);
    }
    solid_free(&b);
  }
}

/* --- boxes and plates by closed form --- */

/* Of the box (or, dim = 2, rectangle) with half sides a, of which h = h_0 + n.y: content with h < l, and its moment in
 * y. Corners with signs: a simplex n.(y - v) < d at a corner v has the content d^dim/(dim! prod n) and its centre at
 * v_i + d/((dim + 1) n_i). */
static void below(int dim, const double *a, double h0, const double *n, double l, double *content, double *moment) {
  *content = 0;
  for (int i = 0; i < dim; i++) moment[i] = 0;
  for (int corner = 0; corner < 1 << dim; corner++) {
    double d = l - h0, v[3], w = 1, sign[3];
    for (int i = 0; i < dim; i++) {
      sign[i] = n[i] < 0 ? -1 : 1; /* mirrored so that n > 0 */
      v[i] = corner >> i & 1 ? a[i] : -a[i];
      d -= fabs(n[i]) * v[i];
      w *= (corner >> i & 1 ? -1 : 1) / fabs(n[i]) / (i + 1);
    }
    if (d <= 0) continue;
    for (int i = 0; i < dim; i++) w *= d;
    *content += w;
    for (int i = 0; i < dim; i++) moment[i] += w * sign[i] * (v[i] + d / ((dim + 1) * fabs(n[i])));
  }
}

/* Of all layers. thickness: of a plate. */
static displaced box_in_layers(const strata *s, int dim, const double *a, const cb_pose *g, double thickness) {
  double r[3][3], n[3], column = 0, first[3] = {0};
  displaced d = {0};
  cb_pose_rotation(g, r);
  cb_apply3_transposed((const double(*)[3])r, s->up, n);
  const double h0 = cb_dot3(g->x, s->up);
  double top = h0;
  for (int i = 0; i < dim; i++) top += fabs(n[i]) * a[i];
  double last = 0, last_moment[3] = {0};
  for (int i = 0; i <= s->n; i++) {
    const double l = i < s->n ? fmin(s->level[i], top) : top;
    double content, moment[3] = {0};
    below(dim, a, h0, n, l, &content, moment);
    const double part = thickness * (content - last);
    double y[3] = {0}, along = h0 * part;
    for (int k = 0; k < dim; k++) {
      y[k] = thickness * (moment[k] - last_moment[k]);
      along += n[k] * y[k];
    }
    d.mass += s->density[i] * part;
    for (int k = 0; k < 3; k++) first[k] += s->density[i] * y[k];
    /* Q = column_of(l) + rho (h - l) in the layer that the border is one of */
    const double border = s->level[i < s->n ? i : s->n - 1];
    column += (column_of(s, border) - s->density[i] * border) * part + s->density[i] * along;
    last = content;
    memcpy(last_moment, moment, sizeof moment);
  }
  cb_apply3((const double(*)[3])r, first, d.moment);
  for (int k = 0; k < 3; k++) d.moment[k] += d.mass * g->x[k];
  const double across = cb_dot3(d.moment, s->up);
  for (int k = 0; k < 3; k++) d.moment[k] += (column - across) * s->up[k];
  return d;
}

static void boxes_and_plates_in_layers_have_their_closed_form(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  strata s = sea;
  const double a[3] = {0.7, 0.4, 0.5};
  solid box = solid_mesh(mesh_box(3, a, false)), plate = solid_mesh(mesh_plate(4, 2 * a[0], 2 * a[1], false));
  double *thickness = malloc(sizeof *thickness * (size_t)plate.n);
  for (int f = 0; f < plate.n; f++) thickness[f] = 0.01;
  for (int turn = 0; turn < 30; turn++) {
    const cb_pose g = random_pose(&seed, 0.8);
    random_direction(&seed, s.up);
    cb_medium *m = layers_of(&s);
    solid_place(&box, &g), solid_place(&plate, &g);
    /* the closed form divides differences by prod n */
    double r[3][3], n[3], least = 1;
    cb_pose_rotation(&g, r);
    cb_apply3_transposed((const double(*)[3])r, s.up, n);
    for (int i = 0; i < 3; i++) least = fmin(least, fabs(n[i]));
    check_displaced(displaced_of(m, &box, NULL), box_in_layers(&s, 3, a, &g, 1), 1e-14 / least / least);
    check_displaced(displaced_of(m, &plate, thickness), box_in_layers(&s, 2, a, &g, 0.01), 1e-14 / least / least);
    cb_medium_free(m);
  }
  free(thickness);
  solid_free(&box), solid_free(&plate);
}

/* A cube of side 2 that stands straight: faces parallel to interfaces, and in them. */
static void faces_may_lie_in_an_interface(void **unused) {
  (void)unused;
  const double half[3] = {1, 1, 1}, density[3] = {3, 2, 1}, up[3] = {0, 0, 2};
  solid b = solid_mesh(mesh_box(2, half, false));
  const struct {
    double level[2], mass, column;
  } row[] = {
      {{-1, 1}, 8 * 2., 0}, /* both faces in interfaces */
      {{-1, 0}, 4 * 2. + 4 * 1., 4. * (-2 * 0.5 + 1 * 0.5)},
      {{0, 0.5}, 4 * 3. + 2 * 2. + 2 * 1., 4. * (-3 * 0.5 + 2 * 0.125 + 0.5 * 1 + 0.125)},
      {{1, 2}, 8 * 3., 0}, /* the upper face in the lower interface */
      {{-2, -1}, 8 * 1., 0},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    cb_medium *m;
    check_ok(cb_medium_layers(2, row[i].level, density, up, &m));
    const displaced d = displaced_of(m, &b, NULL);
    check_near(d.mass, row[i].mass, 1e-14 * 24);
    check_near(d.moment[0], 0, 1e-14), check_near(d.moment[1], 0, 1e-14);
    check_near(d.moment[2], row[i].column, 1e-14 * 24);
    cb_medium_free(m);
  }
  solid_free(&b);
}

/* --- Archimedes --- */

static void submerged_body_displaces_its_volume(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int which = 0; which < 4; which++) {
    solid b = any_solid(which, &seed);
    const cb_pose g = random_pose(&seed, 50); /* far from the origin */
    solid_place(&b, &g);
    /* by mass.h, which integrates over tetrahedra */
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

/* A cube of 500 kg/m^3 floats where (rho_w - rho_a) depth = (500 - rho_a) side. */
static void cube_floats_at_its_draught(void **unused) {
  (void)unused;
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

/* With the potential -|g| up.moment the force is |g| mass up, and the torque about the origin moment × |g| up. */
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
      cb_pose_multiply(&step, &g, &moved); /* about the world's origin */
      solid_place(b, &moved);
      const displaced e = displaced_of(m, b, thickness);
      potential[side] = -cb_dot3(e.moment, up);
    }
    check_near(-(potential[1] - potential[0]) / (2 * h), expected[axis], tolerance * size);
  }
}

static void gradient_of_the_potential_is_the_buoyancy(void **unused) {
  (void)unused;
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
    check_potential(layers, s.up, &b, thickness, &seed, 1e-5); /* the mass of a sheet has kinks */
    check_potential(smooth, (const double[3]){0, 0, 1}, &b, NULL, &seed, 1e-8);
    check_potential(smooth, (const double[3]){0, 0, 1}, &b, thickness, &seed, 1e-8);
    if (which == 0) { /* along no axis: by lines; and down an axis */
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
    cb_medium_free(layers), cb_medium_free(smooth);
    free(thickness);
    solid_free(&b);
  }
}

/* --- large surfaces --- */

static void large_surfaces_give_the_same_bits_with_any_threads(void **unused) {
  (void)unused;
  solid b = solid_mesh(mesh_torus(210, 120, 0.8, 0.3));
  assert_true(b.n > CB_THREADS_MIN_ELEMENTS);
  strata s = sea;
  const double size = sqrt(1.09), tilted[3] = {0.3 / size, 0, 1 / size};
  memcpy(s.up, tilted, sizeof tilted);
  double *density = malloc(sizeof *density * (size_t)b.n), *again = malloc(sizeof *again * (size_t)b.n);
  cb_medium *m[2] = {layers_of(&s)};
  check_ok(cb_medium_expression("3 - z/sqrt(x + 2)", 0, NULL, NULL, (const double[3]){0, 0, 1}, NULL, &m[1]));
  for (int k = 0; k < 2; k++) {
    cb_threads_set(1);
    const int n = k ? 2000 : b.n; /* lines are slow */
    const solid part = {n, b.corner, NULL};
    const displaced one = displaced_of(m[k], &part, NULL);
    check_ok(cb_medium_faces(m[k], b.n, (const double(*)[3][3])b.corner, density, NULL));
    for (int threads = 2; threads <= 3; threads++) {
      cb_threads_set(threads);
      const displaced other = displaced_of(m[k], &part, NULL);
      assert_memory_equal(&other, &one, sizeof one);
      check_ok(cb_medium_faces(m[k], b.n, (const double(*)[3][3])b.corner, again, NULL));
      assert_memory_equal(density, again, sizeof *density * (size_t)b.n);
    }
  }
  b.corner[45000][1][0] = -9, b.corner[20000][1][0] = -3; /* the first is told */
  cb_medium *root;
  check_ok(cb_medium_expression("sqrt(x + 1.2)", 0, NULL, NULL, (const double[3]){1, 0, 0}, NULL, &root));
  cb_threads_set(1);
  char text[400];
  assert_int_equal(cb_medium_faces(root, b.n, (const double(*)[3][3])b.corner, density, NULL), CB_STEP_NOT_FINITE);
  snprintf(text, sizeof text, "%s", cb_error_text());
  cb_threads_set(3);
  check_error(cb_medium_faces(root, b.n, (const double(*)[3][3])b.corner, density, NULL), CB_STEP_NOT_FINITE, text);
  cb_threads_set(0);
  cb_medium_free(m[0]), cb_medium_free(m[1]), cb_medium_free(root);
  free(density), free(again);
  solid_free(&b);
}

/* --- expressions --- */

static void exponential_atmosphere_agrees_with_slices(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  const strata s = {.density = {1000}, .up = {0, 0, 1}, .scale = 2};
  const char *const names[] = {"H"};
  cb_medium *m;
  check_ok(cb_medium_expression("1000*exp(-z/H)", 1, names, &s.scale, s.up, NULL, &m));
  assert_false(cb_medium_is_uniform(m));
  for (int which = 0; which < 4; which++) {
    solid b = any_solid(which, &seed);
    const cb_pose g = random_pose(&seed, 3);
    solid_place(&b, &g);
    /* faces of 0.4 with degree 5: (0.4/2)^6/6! */
    check_displaced(displaced_of(m, &b, NULL), by_slices(&s, &b), 1e-7);
    solid_free(&b);
  }
  cb_medium_free(m);
}

/* A body far above a narrow transition, whose column reaches through it: Q = rho h, and below 998 - 1.2 more. */
static void column_of_the_potential_reaches_to_height_0(void **unused) {
  (void)unused;
  const double a[3] = {0.5, 0.5, 0.5}, up[3] = {0, 0, 1}, height = 20;
  cb_medium *m;
  check_ok(cb_medium_expression("1.2 + 998*(1 - tanh((z - 3)/0.3))/2", 0, NULL, NULL, up, NULL, &m));
  solid b = solid_mesh(mesh_box(2, a, false));
  solid_place(&b, &(cb_pose){{1, 0, 0, 0}, {0, 0, height}});
  /* int_0^infinity (1 - tanh((z - c)/w))/2 dz = w/2 ln(1 + e^(2 c/w)) */
  check_relative(displaced_of(m, &b, NULL).moment[2], 1.2 * height + 998 * 0.15 * log1p(exp(20)), 1e-11);
  cb_medium_free(m);
  check_ok(cb_medium_expression("998 - (30 - z)^3", 0, NULL, NULL, up, NULL, &m)); /* negative far from the body */
  solid_place(&b, &(cb_pose){{1, 0, 0, 0}, {0, 0, 38}});
  double mass, moment[3];
  check_ok(cb_medium_displaced(m, b.n, (const double(*)[3][3])b.corner, NULL, &mass, moment));
  cb_medium_free(m);
  check_ok(cb_medium_expression("1/z", 0, NULL, NULL, up, NULL, &m));
  solid_place(&b, &(cb_pose){{1, 0, 0, 0}, {0, 0, -1}});
  check_error_begins(cb_medium_displaced(m, b.n, (const double(*)[3][3])b.corner, NULL, &mass, moment),
                     CB_STEP_NOT_FINITE, "density at (0, 0, -1.5) is -0.666667: expected a number >= 0");
  cb_medium_free(m);
  check_ok(cb_medium_expression("1/z^2", 0, NULL, NULL, up, NULL, &m));
  check_error(cb_medium_displaced(m, b.n, (const double(*)[3][3])b.corner, NULL, &mass, moment), CB_STEP_NOT_FINITE,
              "the integral of the density from (0, 0, -1) straight to height 0 does not converge");
  cb_medium_free(m);
  solid_free(&b);
}

static double wavy(const double x[3]) { return 3 + sin(x[0] + 2 * x[1]) * cos(x[2]) + x[0] * x[1]; }

/* int rho and rho x over the tetrahedra from the origin, by Gauss points in each direction. */
static displaced by_tetrahedra(const solid *b) {
  displaced d = {0};
  gsl_integration_glfixed_table *gauss = gsl_integration_glfixed_table_alloc(8);
  for (int f = 0; f < b->n; f++) {
    double cross[3];
    cb_cross3(b->corner[f][1], b->corner[f][2], cross);
    const double six = cb_dot3(b->corner[f][0], cross);
    for (size_t p = 0; p < 512; p++) {
      double u[3], w[3], x[3];
      for (int i = 0; i < 3; i++) gsl_integration_glfixed_point(0, 1, p >> 3 * i & 7, &u[i], &w[i], gauss);
      const double s = u[0], s1 = u[1], s2 = u[2] * (1 - u[1]);
      for (int i = 0; i < 3; i++)
        x[i] = s * ((1 - s1 - s2) * b->corner[f][0][i] + s1 * b->corner[f][1][i] + s2 * b->corner[f][2][i]);
      const double weight = six * w[0] * w[1] * w[2] * s * s * (1 - u[1]) * wavy(x);
      d.mass += weight;
      for (int i = 0; i < 3; i++) d.moment[i] += weight * x[i];
    }
  }
  gsl_integration_glfixed_table_free(gauss);
  return d;
}

static void density_of_all_coordinates_agrees_with_volume_quadrature(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  double error[2];
  for (int k = 0; k < 2; k++) {
    double up[3];
    uint64_t same = seed;
    random_direction(&same, up);
    solid b = solid_mesh(mesh_torus(12 << k, 8 << k, 0.8, 0.3));
    const cb_pose g = random_pose(&same, 0.5);
    solid_place(&b, &g);
    cb_medium *m;
    check_ok(cb_medium_expression("3 + sin(x + 2*y)*cos(z) + x*y", 0, NULL, NULL, up, NULL, &m));
    const displaced found = displaced_of(m, &b, NULL), exact = by_tetrahedra(&b);
    error[k] = fabs(found.mass / exact.mass - 1);
    double across[3]; /* along up it is that of the potential */
    cb_cross3(up, found.moment, across);
    double expected[3];
    cb_cross3(up, exact.moment, expected);
    for (int i = 0; i < 3; i++) check_near(across[i], expected[i], (k ? 2e-7 : 2e-5) * exact.mass);
    cb_medium_free(m);
    solid_free(&b);
  }
  print_message("relative errors of the mass %.3g %.3g\n", error[0], error[1]);
  check_at_most(error[1], 1e-8);
  check_at_least(error[0] / error[1], 16.);
}

/* rho = 3 - 0.2 h: integrands of degree 3 on faces. On sheets as well. */
static void linear_density_is_exact_wherever_the_body_is(void **unused) {
  (void)unused;
  const double a[3] = {0.7, 0.4, 0.5}, up[3] = {0, 0, 1};
  cb_medium *m;
  check_ok(cb_medium_expression("3 - z/5", 0, NULL, NULL, up, NULL, &m));
  solid box = solid_mesh(mesh_box(2, a, false)), plate = solid_mesh(mesh_plate(3, 2 * a[0], 2 * a[1], false));
  double *thickness = malloc(sizeof *thickness * (size_t)plate.n);
  for (int f = 0; f < plate.n; f++) thickness[f] = 0.25;
  for (int turn = 0; turn < 2; turn++) {
    const cb_pose g = {{cos(0.3), sin(0.3), 0, 0}, {2 + 90 * turn, -1, turn ? -1e3 : 2}}; /* about x by 0.6 */
    solid_place(&box, &g), solid_place(&plate, &g);
    /* int (3 - h/5), times y, z and int (3 h - h^2/10), with second moments J of each about the middle */
    for (int flat = 0; flat < 2; flat++) {
      const double V = flat ? 4 * a[0] * a[1] * 0.25 : 8 * a[0] * a[1] * a[2], b2 = a[1] * a[1] / 3,
                   c2 = flat ? 0 : a[2] * a[2] / 3, c = cos(0.6), s = sin(0.6), zz = s * s * b2 + c * c * c2,
                   yz = s * c * (b2 - c2), z = g.x[2], mass = V * (3 - z / 5);
      const displaced exact = {mass, {mass * g.x[0], mass * g.x[1] - V * yz / 5, V * (3 * z - (z * z + zz) / 10)}};
      check_displaced(displaced_of(m, flat ? &plate : &box, flat ? thickness : NULL), exact, turn ? 1e-12 : 2e-14);
    }
  }
  free(thickness);
  cb_medium_free(m);
  solid_free(&box), solid_free(&plate);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layers_of_any_closed_body_are_cut_exactly),
      cmocka_unit_test(boxes_and_plates_in_layers_have_their_closed_form),
      cmocka_unit_test(faces_may_lie_in_an_interface),
      cmocka_unit_test(submerged_body_displaces_its_volume),
      cmocka_unit_test(cube_floats_at_its_draught),
      cmocka_unit_test(gradient_of_the_potential_is_the_buoyancy),
      cmocka_unit_test(large_surfaces_give_the_same_bits_with_any_threads),
      cmocka_unit_test(exponential_atmosphere_agrees_with_slices),
      cmocka_unit_test(column_of_the_potential_reaches_to_height_0),
      cmocka_unit_test(density_of_all_coordinates_agrees_with_volume_quadrature),
      cmocka_unit_test(linear_density_is_exact_wherever_the_body_is),
  };
  return cmocka_run_group_tests_name("displaced", tests, NULL, NULL);
}
