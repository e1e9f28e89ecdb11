/* Tests that the estimated error of the Kirchhoff tensor K of a sheet is not below the true one: discs with faces of
 * equal size or with rings that are narrow in the centre, a square plate, an open tube, a leaf, and a canopy with its
 * load. The references are closed forms (Lamb, Hydrodynamics (1932), articles 108, 373), tables (Blevins 1979, three
 * digits), and two more levels of the same shape. */
#include "fluid/surface_mesh.h"
#include "potential.h"
#include "potential/refine.h"

/* A shape whose parameters give the resolution of its coarsest level. If `name` is NULL, the body is the mesh `disc`, a
 * disc with faces of equal size. */
typedef struct body {
  const char *name, *parameters;
  cb_surface *surface, *level;
  solid_mesh disc;
} body;

static void let_go(body *b) {
  cb_surface_free(b->level);
  free_mesh(&b->disc);
  b->level = NULL;
  b->disc = (solid_mesh){0};
}

static cb_status mesh(void *context, int level, int *vertices, const double (**x)[3], int *faces,
                      const int (**face)[3]) {
  body *b = context;
  let_go(b);
  if (b->name)
    check_ok(cb_surface_at_level(b->surface, level, &b->level));
  else
    b->disc = disc_mesh(4 << level, 1);
  const solid_mesh m =
      b->name ? (solid_mesh){b->level->vertices, b->level->faces, b->level->x, b->level->face} : b->disc;
  *vertices = m.vertices;
  *faces = m.faces;
  *x = (const double(*)[3])m.x;
  *face = (const int(*)[3])m.face;
  return CB_OK;
}

static cb_potential_estimate estimate(body *b, int least) {
  const cb_potential_body levels = {.context = b, .mesh = mesh, .least = least};
  const cb_kirchhoff_options options = {.sheets = true};
  cb_potential_estimate e;
  cb_kirchhoff_report report;
  int faces;
  if (b->name) {
    cb_tree *tree = NULL;
    check_ok(cb_yaml_read_text("parameters", b->parameters, strlen(b->parameters), &tree));
    check_ok(cb_shape_create(b->name, cb_tree_root(tree), &b->surface));
    cb_tree_free(tree);
  }
  check_ok(cb_kirchhoff_refined(&levels, 1e9, &options, &e, &report, &faces));
  check_at_least(e.error, report.asymmetry);
  let_go(b);
  cb_surface_free(b->surface);
  b->surface = NULL;
  return e;
}

typedef struct oracle {
  body body;
  int levels;
  double radius, K[3]; /* radius of gyration; K for rotations around x, translations along x and z; nan: not known */
  double known, best;  /* relative error of K; maximum of the estimated error with all levels */
} oracle;

static void estimates_of_sheets_hold(void **unused) {
  oracle all[] = {
      {{.name = NULL}, 4, 0.7071, {16. / 45, 0, 8. / 3}, 0, 1e-2},
      {{.name = "disc", .parameters = "{radius: 1, resolution: 8}"}, 5, 0.7071, {16. / 45, 0, 8. / 3}, 0, 1e-2},
      {{.name = "plate", .parameters = "{resolution: 8}"}, 5, 0.408, {NAN, 0, 0.579 * M_PI / 4}, 1e-3, 1e-2},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (int n = 2; n <= all[i].levels; n++) {
      const cb_potential_estimate e = estimate(&all[i].body, n);
      const double K[3] = {e.mass.K[0][0], e.mass.K[3][3], e.mass.K[5][5]}, most = all[i].K[2];
      double error = 0;
      for (int k = 0; k < 3; k++)
        if (!isnan(all[i].K[k]))
          error = fmax(error, fabs(K[k] - all[i].K[k]) / (most * (k ? 1 : all[i].radius * all[i].radius)));
      print_message("%s, %d levels: %.1e, told %.1e\n", all[i].body.name ? all[i].body.name : "alike", n, error,
                    e.error);
      check_at_most(error, e.error + all[i].known);
      if (n == all[i].levels) check_at_most(e.error, all[i].best);
    }
}

/* Shapes without a closed form are compared with the estimate from two more levels. */
static void estimates_hold_on_finer_levels(void **unused) {
  check_numbers_alone();
  body all[] = {{.name = "cylinder", .parameters = "{caps: false, resolution: 8}"},
                {.name = "parachute", .parameters = "{resolution: 8}"},
                {.name = "leaf", .parameters = "{resolution: 8}"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const cb_potential_estimate fine = estimate(all + i, 5);
    for (int n = 2; n <= 3; n++) {
      const cb_potential_estimate e = estimate(all + i, n);
      double most = 0, error = 0;
      for (int k = 3; k < 6; k++) most = fmax(most, fine.mass.K[k][k]);
      for (int k = 3; k < 6; k++) error = fmax(error, fabs(e.mass.K[k][k] - fine.mass.K[k][k]) / most);
      print_message("%s, %d levels: %.1e, told %.1e\n", all[i].name, n, error, e.error);
      check_at_most(error, e.error);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(estimates_of_sheets_hold),
      cmocka_unit_test(estimates_hold_on_finer_levels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
