/* Tests that the estimated error of Kirchhoff's tensor K is not below the true one: ellipsoids, pairs of spheres, a
 * torus, a cube, a cylinder and discs, for all numbers of levels that take little time. The references for ellipsoids
 * are Carlson's integrals, and for pairs of spheres 400 multipoles about each centre. For the cube, coins, the torus
 * and the cylinder they are those of tests/potential/test_shapes_error.c. */
#include "fluid/surface_mesh.h"
#include "potential.h"
#include "potential/refine.h"
#include <curvebody/fluid_model.h>

/* A shape at several levels. The resolutions of the levels start at `coarsest`. If `divided` is set, the levels are
 * subdivisions of the mesh of the resolution `coarsest` instead. If distance > 0, the body is the shape and its mirror
 * image in z = distance/2. */
typedef struct levels {
  const char *name, *parameters;
  int coarsest;
  bool divided;
  double distance;
  cb_surface *surface, *level;
  solid_mesh pair;
  int told; /* number of levels that were reported */
} levels;

static cb_surface *surface_of(const levels *l) {
  char text[128];
  cb_surface *s = NULL;
  cb_tree *tree = NULL;
  snprintf(text, sizeof text, "{%s%sresolution: %d}", l->parameters, *l->parameters ? ", " : "", l->coarsest);
  check_ok(cb_yaml_read_text("parameters", text, strlen(text), &tree));
  check_ok(cb_shape_create(l->name, cb_tree_root(tree), &s));
  cb_tree_free(tree);
  if (!l->divided) return s;
  cb_surface *mesh = NULL;
  check_ok(cb_surface_make(s->vertices, (const double(*)[3])s->x, s->faces, (const int(*)[3])s->face, s->part, &mesh));
  cb_surface_free(s);
  return mesh;
}

static void let_go(levels *l) {
  cb_surface_free(l->level);
  free_mesh(&l->pair);
  l->level = NULL;
  l->pair = (solid_mesh){0};
}

static cb_status mesh(void *context, int level, int *vertices, const double (**x)[3], int *faces,
                      const int (**face)[3]) {
  levels *l = context;
  let_go(l);
  check_ok(cb_surface_at_level(l->surface, level, &l->level));
  solid_mesh m = {l->level->vertices, l->level->faces, l->level->x, l->level->face};
  if (l->distance > 0) {
    const double down[3] = {0, 0, -l->distance / 2};
    solid_mesh one = shifted_mesh(&m, down), other = shifted_mesh(&m, down);
    for (int i = 0; i < other.vertices; i++) other.x[i][2] = -other.x[i][2];
    for (int i = 0; i < other.faces; i++) {
      other.face[i][1] = m.face[i][2];
      other.face[i][2] = m.face[i][1];
    }
    m = l->pair = joined_mesh(&one, &other);
    free_mesh(&one);
    free_mesh(&other);
  }
  *vertices = m.vertices;
  *faces = m.faces;
  *x = (const double(*)[3])m.x;
  *face = (const int(*)[3])m.face;
  return CB_OK;
}

static void say(void *context, int level, int faces, size_t bytes, double seconds) {
  levels *l = context;
  assert_int_equal(level, l->told++);
  check_at_least((double)bytes, 8. * faces);
  assert_int_equal(isnan(seconds), level == 0);
}

/* Returns the estimate after the last level, for this requested error and with at least `least` levels. */
static cb_potential_estimate estimate(const levels *body, int least, double error, cb_kirchhoff_report *report) {
  levels l = *body;
  int faces;
  cb_potential_estimate e;
  l.surface = surface_of(&l);
  const cb_potential_body b = {.context = &l, .mesh = mesh, .report = say, .least = least};
  check_ok(cb_kirchhoff_refined(&b, error, &(cb_kirchhoff_options){.method = CB_POTENTIAL_BEST}, &e, report, &faces));
  let_go(&l);
  cb_surface_free(l.surface);
  check_at_least(l.told, least);
  return e;
}

/* Returns the maximum error of the diagonal of K about the origin, relative to its largest entry for translations.
 * Errors of entries for rotations are divided by radius^2. Entries that are nan in the argument K are not known, and
 * are not compared. */
static double error_of(const cb_potential_estimate *e, const double K[6], double radius) {
  double most = 0, error = 0;
  for (int i = 3; i < 6; i++) most = fmax(most, K[i]);
  for (int i = 0; i < 6; i++)
    if (!isnan(K[i])) error = fmax(error, fabs(e->mass.K[i][i] - K[i]) / (most * (i < 3 ? radius * radius : 1)));
  return error;
}

typedef struct oracle {
  levels body;
  int levels;
  double radius, K[6];
  double known;   /* relative error of the reference */
  double best;    /* maximum allowed estimate at the last level */
  double reached; /* maximum allowed error at the last level; 0: not checked */
} oracle;

#define UNIT_PAIR 4.6181220957516, 4.6181220957516, 3.4620624179328
#define BODY(shape, given, apart, levels, radius, known, best, reached, ...)                                      \
  {                                                                                                               \
    {.name = shape, .parameters = given, .coarsest = 8, .distance = apart}, levels, radius, {__VA_ARGS__}, known, \
        best, reached                                                                                             \
  }
#define COIN(thickness, levels, K, best) \
  BODY("disc", "radius: 1, thickness: " thickness, 0, levels, 0.7, 1e-6, best, 1e-2, NAN, NAN, 0, NAN, NAN, K)
static const oracle all[] = {
    BODY("ellipsoid", "", 0, 4, 1, 0, 4e-4, 1e-4, 0, 0, 0, 2.0943951023932, 2.0943951023932, 2.0943951023932),
    BODY("ellipsoid", "a: 3", 0, 4, 1.7, 0, 3e-4, 1e-4, 0, 11.703770322599, 11.703770322599, 1.532702719905,
         10.102093957219, 10.102093957219),
    BODY("ellipsoid", "a: 10", 0, 3, 5.2, 0, 2e-3, 1e-4, 0, 747.59332505479, 747.59332505479, 0.86732746822936,
         40.222225822343, 40.222225822343),
    BODY("ellipsoid", "c: 0.5", 0, 4, 0.8, 0, 1e-3, 1e-4, 0.17727898981607, 0.17727898981607, 0, 0.64839525235831,
         0.64839525235831, 2.3353772201132),
    BODY("ellipsoid", "c: 0.1", 0, 5, 0.7, 0, 2e-3, 1e-4, 0.34034149857589, 0.34034149857589, 0, 0.031333853344129,
         0.031333853344129, 2.5904017967032),
    BODY("ellipsoid", "c: 0.01", 0, 4, 0.7, 0, 0.1, 0, 0.35465227988364, 0.35465227988364, 0, 0.00032738574319848,
         0.00032738574319848, 2.6587639691034),
    BODY("ellipsoid", "c: 0.001", 0, 4, 0.7, 0, 0.1, 0, 0.35547160002819, 0.35547160002819, 0, 3.2882635845009e-6,
         3.2882635845009e-6, 2.6658735047972),
    BODY("ellipsoid", "a: 3, b: 2", 0, 4, 1.9, 0, 4e-4, 1e-4, 9.6325576313697, 35.599830507688, 3.9141914749957,
         4.6560012697569, 9.1619709065627, 34.218917658493),
    BODY("ellipsoid", "", 2.5, 4, 1.6, 0, 1e-3, 1e-4, 5.9533099438813, 5.9533099438813, 0, UNIT_PAIR),
    BODY("ellipsoid", "", 4, 4, 2.2, 0, 1e-3, 1e-4, 16.366377479788, 16.366377479788, 0, 4.2879642897998,
         4.2879642897998, 3.9960938275556),
    BODY("ellipsoid", "", 2.01, 4, 1.4, 5e-6, 3e-3, 1e-3, 3.5600, 3.5600, 0, 5.172828892838559, 5.172828892838559,
         2.9645714929290),
    BODY("torus", "", 0, 4, 1.2, 1e-6, 4e-3, 0, 1.8770234, 1.8770234, 0, 1.9723618, 1.9723618, 5.2501728),
    BODY("box", "", 0, 4, 0.65, 1e-6, 6e-3, 0, 0.0392615, 0.0392615, 0.0392615, 0.638416, 0.638416, 0.638416),
    {{.name = "box", .parameters = "", .coarsest = 8, .divided = true},
     4,
     0.65,
     {0.0392615, 0.0392615, 0.0392615, 0.638416, 0.638416, 0.638416},
     1e-6,
     6e-3,
     0},
    BODY("cylinder", "", 0, 4, 1.1, 1e-6, 2e-2, 0, 0.8098845, 0.8098845, 0, 3.6398115, 3.6398115, 3.6779478),
    COIN("0.2", 4, 3.056539, 0.01),
    COIN("0.1", 4, 2.926182, 0.02),
    COIN("0.05", 4, 2.832296, 0.02),
    COIN("0.02", 5, 2.753493, 0.03),
    COIN("0.01", 4, 2.718278, 0.04),
    COIN("0.001", 4, 2.674678, 0.02),
    COIN("0.0001", 4, 2.667759, 0.02),
};

static void estimates_hold(void **unused) {
  check_numbers_alone();
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (int n = 2; n <= all[i].levels; n++) {
      cb_kirchhoff_report report;
      const cb_potential_estimate e = estimate(&all[i].body, n, 1e9, &report);
      const double error = error_of(&e, all[i].K, all[i].radius);
      if (error > e.error + all[i].known)
        print_message("%s {%s}, distance %g, %d levels\n", all[i].body.name, all[i].body.parameters,
                      all[i].body.distance, n);
      check_at_most(error, e.error + all[i].known);
      check_at_most(report.asymmetry, e.error);
      if (n == all[i].levels) check_at_most(e.error, all[i].best);
      if (n == all[i].levels && all[i].reached > 0) check_at_most(error, all[i].reached);
      /* The diagonal of K is positive, up to round-off. */
      for (int j = 0; j < 6; j++) check_at_least(e.mass.K[j][j], -1e-14 * e.mass.K[5][5]);
    }
}

/* With 5000 faces the error of a sphere is below 0.17 %. Extrapolated from five levels it is below 1e-4, and the order
 * is 2. For a cube, whose edges are right angles, the order is between 1 and its limit 4/3. */
static void curved_bodies_converge(void **unused) {
  const levels sphere = {.name = "ellipsoid", .parameters = "", .coarsest = 8};
  cb_kirchhoff_report report;
  const cb_potential_estimate e = estimate(&sphere, 5, 1e9, &report), coarse = estimate(&sphere, 1, 1e9, &report);
  const double K[6] = {0, 0, 0, 2.0943951023932, 2.0943951023932, 2.0943951023932};
  check_at_most(error_of(&e, K, 1), 1e-4);
  check_near(e.order, 2, 0.1);
  assert_true(isfinite(coarse.error)); /* one level has an estimate, too: from the coarseness of its faces */
  solid_mesh m = ellipsoid_mesh(25, 1, 1, 1);
  check_relative(mass_of(&m, NULL, NULL).K[3][3], K[3], 1.7e-3); /* 5000 faces; the error decreases like 1/faces */
  free_mesh(&m);
  const levels cube = {.name = "box", .parameters = "", .coarsest = 8};
  const double order = estimate(&cube, 4, 1e9, &report).order;
  check_at_least(order, 1);
  check_at_most(order, 4. / 3); /* for small faces the order approaches 4/3 from below */
}

/* The estimate does not depend on the origin, even if the origin is far from the body. */
static void estimates_are_of_the_body(void **unused) {
  cb_potential_level level[3] = {{.faces = 0}}, moved[3];
  cb_potential_estimate e, other;
  for (int l = 0; l < 3; l++) {
    const levels bar = {.name = "twisted_bar", .parameters = "", .coarsest = 16 << l};
    cb_surface *s = surface_of(&bar);
    const solid_mesh m = {s->vertices, s->faces, s->x, s->face};
    const double d[3] = {5, -7, 3};
    solid_mesh away = shifted_mesh(&m, d);
    level[l] = (cb_potential_level){
        .faces = m.faces, .mass = mass_of(&m, NULL, NULL), .report.thickness = 1, .bend = 1.5, .radius = 1};
    moved[l] = level[l];
    moved[l].mass = mass_of(&away, NULL, NULL);
    memcpy(moved[l].centre, d, sizeof d);
    free_mesh(&away);
    cb_surface_free(s);
  }
  check_ok(cb_potential_estimated(3, level, &e));
  check_ok(cb_potential_estimated(3, moved, &other));
  check_relative(other.error, e.error, 1e-9);
  for (int i = 0; i < 9; i++) check_near(other.mass.K[3 + i / 3][3 + i % 3], e.mass.K[3 + i / 3][3 + i % 3], 1e-11);
}

/* Level l has the size h = 2^-l of the faces. The tensors K, the momenta mu0 and the energies of the levels are a limit
 * plus terms h^p with the orders p of the table. The extrapolation must find the limit up to round-off. */
static void orders_are_left_out(void **unused) {
  static const struct {
    double bend, p[3], thickness;
    bool sheets;
  } kind[] = {{0, {2, 4}, 1, false},
              {M_PI / 2, {4. / 3, 2}, 1, false},
              {M_PI, {1, 5. / 3}, 1, false},
              {M_PI / 2, {1, 2, 3}, 0.05, false},
              {0, {1, 2, 3}, 1, true}};
  for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
    for (int n = 2; n <= 4; n++) {
      cb_potential_level level[4];
      cb_potential_estimate e;
      for (int l = 0; l < n; l++) {
        const double h = pow(0.5, l), first = pow(h, kind[i].p[0]), more = n > 2 ? pow(h, kind[i].p[1]) : 0,
                     third = n > 3 && kind[i].p[2] > 0 ? pow(h, kind[i].p[2]) : 0;
        level[l] = (cb_potential_level){.faces = 16 << (2 * l),
                                        .report.thickness = kind[i].thickness,
                                        .sheets = kind[i].sheets,
                                        .bend = kind[i].bend > 0 ? kind[i].bend : h,
                                        .radius = 1};
        for (int j = 0; j < 6; j++) {
          level[l].mass.K[j][j] = 3 + j + 0.1 * first - 0.2 * more + 0.3 * third;
          level[l].mass.mu0[j] = j - first + more;
        }
        level[l].mass.kinetic = 7 + first;
      }
      check_ok(cb_potential_estimated(n, level, &e));
      for (int j = 0; j < 6; j++) {
        check_near(e.mass.K[j][j], 3 + j, 1e-13);
        check_near(e.mass.mu0[j], j, 1e-13);
      }
      check_near(e.mass.kinetic, 7, 1e-13);
      assert_int_equal(isnan(e.order), n == 2);
    }
}

static void errors_are_met_or_refused(void **unused) {
  levels sphere = {.name = "ellipsoid", .parameters = "", .coarsest = 8};
  cb_kirchhoff_report report;
  const double K[6] = {0, 0, 0, 2.0943951023932, 2.0943951023932, 2.0943951023932};
  for (double error = 0.1; error > 1e-3; error *= 0.2) {
    const cb_potential_estimate e = estimate(&sphere, 1, error, &report);
    check_at_most(e.error, error);
    check_at_most(error_of(&e, K, 1), error);
  }
  /* With too little memory the requested error is not reached. */
  int faces;
  cb_potential_estimate e;
  sphere.surface = surface_of(&sphere);
  const cb_potential_body b = {.context = &sphere, .mesh = mesh};
  assert_int_equal(cb_kirchhoff_refined(&b, 1e-6, &(cb_kirchhoff_options){.memory = 4000000}, &e, &report, &faces),
                   CB_ERROR_STEP);
  assert_non_null(strstr(cb_error_text(), "the error of 1e-06 is not met"));
  assert_non_null(strstr(cb_error_text(), "more than `memory`"));
  let_go(&sphere);
  cb_surface_free(sphere.surface);
}

/* The division of edges does not change the area, the volume and the parts of a body. The vertices of built-in shapes
 * are moved onto the true surface. */
static void faces_are_divided(void **unused) {
  const levels box = {.name = "box", .parameters = "", .coarsest = 8, .divided = true},
               ball = {.name = "ellipsoid", .parameters = "", .coarsest = 16};
  cb_surface *s = surface_of(&box), *fine = NULL, *finer = NULL;
  check_ok(cb_surface_at_level(s, 2, &fine));
  assert_int_equal(fine->faces, 16 * s->faces);
  assert_int_equal(fine->vertices - fine->faces / 2, 2); /* Euler characteristic */
  check_ok(cb_surface_check(fine, false));
  assert_int_equal(cb_surface_coarser(s), 0);
  cb_surface_free(s);
  cb_surface_free(fine);
  s = surface_of(&ball);
  cb_surface_scale(s, 3);
  assert_int_equal(cb_surface_coarser(s), 1);
  check_ok(cb_surface_at_level(s, 1, &finer));
  check_at_least(finer->faces, 3.5 * s->faces);
  for (int i = 0; i < finer->vertices; i++) {
    const double *x = finer->x[i];
    check_near(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), 3, 1e-14);
  }
  cb_surface_free(s);
  cb_surface_free(finer);
  /* A level whose mesh would have too many faces is an error. */
  s = NULL;
  cb_surface *coarse = surface_of(&(levels){.name = "box", .parameters = "", .coarsest = 8});
  assert_int_equal(cb_surface_at_level(coarse, 9, &s), CB_ERROR_ARGUMENT);
  cb_surface_free(coarse);
}

static void count_lines(void *context, const char *line) {
  assert_non_null(strstr(line, " faces take "));
  ++*(int *)context;
}

/* The fluid model refines a rigid body to the requested error, and reports the result. */
static void the_fluid_model_takes_an_error(void **unused) {
  static const char text[] = "{error: 1e-4}";
  const levels ball = {.name = "ellipsoid", .parameters = "", .coarsest = 16};
  cb_surface *s = surface_of(&ball);
  cb_fluid_model *m = NULL;
  cb_tree *tree = NULL;
  cb_added_mass out = {.kinetic = 0};
  int lines = 0;
  check_ok(cb_yaml_read_text("model", text, strlen(text), &tree));
  check_ok(cb_fluid_model_create("exact", cb_tree_root(tree), &m));
  m->report = count_lines;
  m->context = &lines;
  check_ok(m->class_->added_mass(m, NULL, s, (const double(*)[3])s->x, NULL, &out));
  check_near(out.K[5][5], 2.0943951023932, out.error * 2.0943951023932);
  check_at_most(out.error, 1e-4);
  check_at_least(out.error, out.asymmetry);
  assert_string_equal(out.method, "iterative");
  assert_int_equal(out.faces, 8192);
  assert_int_equal(lines, 1); /* only the last level is so large that a message is printed */
  cb_fluid_model_free(m);
  cb_tree_free(tree);
  cb_surface_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(estimates_hold),
      cmocka_unit_test(curved_bodies_converge),
      cmocka_unit_test(estimates_are_of_the_body),
      cmocka_unit_test(orders_are_left_out),
      cmocka_unit_test(errors_are_met_or_refused),
      cmocka_unit_test(faces_are_divided),
      cmocka_unit_test(the_fluid_model_takes_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
