/* What is told of the error of Kirchhoff's tensor holds for every shape of `list shapes` and for aspects of them, by any
 * number of levels and whichever is the first, so whatever error is asked for. References: this project's own tensors,
 * extrapolated (potential/error.h) from all levels from resolution 8 up to 30 000 faces, some to 130 000, without the
 * floors of the estimate; `known` is a third of what is told of them. Those of balls, cubes and discs agree with closed
 * forms to that (tests/test_potential_error.c, test_sheet.c).
 * labels: medium
 * timeout: 300
 */
#include "check_error.h"
#include "fluid/surface.h"
#include "io/yaml.h"
#include "potential/refine.h"
#include <curvebody/surface.h>

enum { FACES = 1200, LEVELS = 6 }; /* of the grid */

typedef struct reference {
  const char *shape, *parameters;
  double known, K[21]; /* the lower triangle, about the origin */
} reference;

static const reference all[] = {
    {"ball", "", 2.1e-06, {-6.3131e-08, 0, -6.3131e-08, 0,      0, -6.3131e-08, 0, 0, 0, 2.0944, 0,
                           0,           0, 0,           2.0944, 0, 0,           0, 0, 0, 2.0944}},
    {"ellipsoid", "a: 3", 2.8e-06, {-1.04612e-05, 0, 11.7037, 0, 0, 11.7037, 0,      0, 0, 1.53271, 0, 0, 0, 0,
                                    10.1021,      0, 0,       0, 0, 0,       10.1021}},
    {"ellipsoid", "a: 10", 1.9e-05, {-0.00028276, 0, 747.583, 0,       0, 747.583, 0, 0, 0, 0.867305, 0,
                                     0,           0, 0,       40.2216, 0, 0,       0, 0, 0, 40.2216}},
    {"ellipsoid", "a: 30", 4.6e-04, {-0.0074781, 0, 22178.5, 0,       0, 22178.5, 0, 0, 0, 0.434304, 0,
                                     0,          0, 0,       124.789, 0, 0,       0, 0, 0, 124.789}},
    {"ellipsoid", "a: 3, c: 0.3", 1.8e-05, {0.99967, 0, 16.3178, 0,       0, 1.27914, 0, 0, 0, 0.176259, 0,
                                            0,       0, 0,       1.01604, 0, 0,       0, 0, 0, 10.9013}},
    {"ellipsoid", "c: 0.1", 4.2e-04, {0.340317,  0, 0.340317, 0, 0, -3.67888e-08, 0, 0, 0,
                                      0.0313337, 0, 0,        0, 0, 0.0313337,    0, 0, 0,
                                      0,         0, 2.59037}},
    {"box", "", 1.1e-04, {0.0392783, 0, 0.0392783, 0,       0, 0.0392783, 0, 0, 0, 0.63846, 0,
                          0,         0, 0,         0.63846, 0, 0,         0, 0, 0, 0.63846}},
    {"box", "a: 4", 4.6e-04, {0.175165,     1.07269e-05, 3.76855, 1.07272e-05, 0.00151035,   3.76855, 0, 0, 0,
                              0.69279,      0,           0,       0,           -0.000277535, 3.93748, 0, 0, 0,
                              -0.000277536, -0.00162055, 3.93748}},
    {"box", "a: 20", 7.2e-04, {0.90436,     -0.000714368,
                               707.509,     -0.000714364,
                               -0.252125,   707.509,
                               0,           -5.94048e-08,
                               0,           0.719644,
                               0,           0,
                               0,           0.000343369,
                               22.8863,     0,
                               0,           0,
                               0.000343369, 0.00804169,
                               22.8863}},
    {"box",
     "a: 4, c: 0.3",
     3.1e-04,
     {0.111764,
      -5.37462e-07,
      3.51672,
      -3.20595e-06,
      -0.000356997,
      0.536653,
      0,
      0,
      -1.86535e-06,
      0.102758,
      0,
      0,
      1.00287e-06,
      1.82697e-05,
      0.478749,
      8.73402e-05,
      -9.99363e-05,
      0,
      6.35771e-05,
      0.000344074,
      3.43982}},
    {"capsule", "", 3.1e-06, {2.94881, 0, 2.94881, 0, 0, -8.24586e-06, 0, 0, 0, 7.29343, 0, 0, 0, 0, 7.29343,
                              0,       0, 0,       0, 0, 2.44164}},
    {"capsule", "length: 10", 7.6e-05, {269.85, 0, 269.85, 0, 0, -0.000287813, 0, 0, 0, 31.6823, 0, 0, 0, 0, 31.6823,
                                        0,      0, 0,      0, 0, 2.67395}},
    {"capsule", "length: 50", 6.3e-04, {32752.6,      0, 32752.6, 0,           0, -0.010794, 0,
                                        -0.000116761, 0, 157.094, 0.000116826, 0, 0,         0,
                                        157.094,      0, 0,       0,           0, 0,         2.77235}},
    {"cylinder", "", 1.4e-04, {0.810191,     0, 0.810191, 0,           0, 5.17311e-06, 0,
                               -6.50642e-06, 0, 3.63996,  6.50631e-06, 0, 0,           0,
                               3.63996,      0, 0,        0,           0, 0,           3.67827}},
    {"cylinder", "length: 10", 2.8e-04, {180.542,      0, 180.542, 0,           0, 0.00161161, 0,
                                         -0.000325903, 0, 27.5655, 0.000325892, 0, 0,          0,
                                         27.5655,      0, 0,       0,           0, 0,          3.99311}},
    {"cylinder",
     "length: 0.3",
     4.4e-04,
     {0.415845, 0, 0.415845, 0,        0, 7.71937e-07, 0, 2.63087e-06, 0, 0.180535, -2.63087e-06,
      0,        0, 0,        0.180535, 0, 0,           0, 0,           0, 3.15042}},
    {"cylinder",
     "caps: false",
     3.6e-04,
     {1.16607,
      -2.55477e-08,
      1.16607,
      1.27085e-10,
      2.56847e-10,
      2.85773e-05,
      -7.07936e-09,
      -3.9712e-09,
      2.63657e-10,
      6.97501,
      -7.46453e-09,
      -2.50303e-08,
      6.01117e-11,
      0,
      6.97501,
      0,
      0,
      0,
      0,
      0,
      0}},
    {"cylinder",
     "caps: false, length: 10",
     6.5e-04,
     {375.35,
      -6.61742e-06,
      375.35,
      -1.16844e-07,
      0,
      0.000335748,
      5.27099e-06,
      -2.30841e-06,
      -1.54779e-08,
      55.7117,
      -6.08975e-06,
      -5.28025e-07,
      1.35025e-08,
      -2.49731e-06,
      55.7117,
      0,
      0,
      0,
      0,
      0,
      0}},
    {"cylinder",
     "caps: false, length: 0.2",
     1.0e-03,
     {0.000123772,
      0,
      0.000123772,
      0,
      0,
      7.69195e-08,
      9.64412e-11,
      -2.69843e-10,
      -4.28981e-12,
      0.0980306,
      7.78529e-11,
      3.22267e-11,
      5.20902e-13,
      -9.14159e-10,
      0.0980306,
      0,
      0,
      0,
      0,
      0,
      0}},
    {"disc", "", 1.7e-04, {1.11139e-07, 0, 1.11139e-07, 0, 0, 0, 0, 0, 0, 0,          0,
                           0,           0, 0,           0, 0, 0, 0, 0, 0, 0.000333382}},
    {"disc", "thickness: 0.01", 1.0e-03, {1.27928e-07, 0, 1.27928e-07, 0, 0, 6.54339e-13, 0,
                                          0,           0, 1.11952e-05, 0, 0, 0,           0,
                                          1.11952e-05, 0, 0,           0, 0, 0,           0.00038209}},
    {"eel", "", 2.0e-05, {1.27704e-08,  0,           1.325e-05, 0, 0,           3.75523e-05, 0,           0,
                          -1.31185e-14, 2.74195e-06, 0,         0, 0.000122497, 0,           0.000491127, 0,
                          -3.83195e-05, 0,           0,         0, 0.000124472}},
    {"fish", "", 2.7e-04, {1.12258e-07, 0,           6.44509e-06,  0, 0, 2.53076e-05, -1.8059e-15,
                           0,           2.22344e-13, 2.68344e-05,  0, 0, 0.000127749, 6.40673e-13,
                           0.000851326, 0,           -3.34278e-05, 0, 0, 0,           0.000189023}},
    {"leaf", "", 2.4e-04, {8.42973e-10,  0, 2.56374e-09, 0, 0,           1.03344e-12, 0, 2.24577e-08, 0, 1.9673e-07,
                           -1.08388e-08, 0, 0,           0, 1.39367e-07, 0,           0, 0,           0, 0,
                           2.40025e-05}},
    {"leaf",
     "camber: 0.02, cup: 0.02",
     1.6e-04,
     {3.95628e-09, 0, 4.91203e-09, 0,           0, 3.65841e-10, 0, 1.52923e-07, 0, 4.80244e-06, -2.1335e-07,
      0,           0, 0,           1.18971e-05, 0, 0,           0, 0,           0, 3.06753e-05}},
    {"maple_seed", "", 3.6e-03, {2.09052e-11,  9.11201e-11,  6.64946e-10,  -1.94716e-11, -1.3891e-10,  4.28486e-11,
                                 2.58961e-10,  1.16878e-09,  -2.45858e-10, 2.97833e-08,  -9.35853e-10, -6.27321e-09,
                                 1.90693e-09,  -1.20928e-08, 1.34332e-07,  -4.29558e-09, -3.11466e-08, 6.07503e-09,
                                 -5.56276e-08, 2.86754e-07,  1.65145e-06}},
    {"paper_copter",
     "",
     5.6e-04,
     {2.33785e-07,
      -1.61243e-08,
      4.78448e-09,
      1.6591e-12,
      -4.00792e-13,
      5.1593e-09,
      0,
      0,
      0,
      0,
      2.58004e-06,
      1.64871e-07,
      3.31127e-11,
      0,
      8.56184e-05,
      2.43245e-10,
      -3.19771e-11,
      -1.36078e-07,
      0,
      9.90389e-10,
      4.2612e-05}},
    {"paper_copter",
     "angle: 1.3",
     7.6e-04,
     {2.34086e-07,
      -4.50952e-09,
      3.69373e-10,
      8.90364e-13,
      6.10944e-15,
      9.67436e-09,
      0,
      0,
      0,
      0,
      1.40655e-06,
      1.29557e-07,
      3.49503e-11,
      0,
      0.000130838,
      6.73937e-11,
      -3.04956e-12,
      -1.192e-07,
      0,
      -7.32917e-10,
      3.20688e-06}},
    {"parachute", "", 2.3e-04, {0.00180647,  1.26778e-10,  0.00180647,  -7.92126e-15, 4.39326e-14, 1.74014e-10,
                                1.77656e-10, 0.00401426,   9.76677e-14, 0.0091808,    -0.00401426, -2.07369e-10,
                                1.73361e-14, -2.29708e-10, 0.0091808,   1.80797e-10,  2.77074e-10, -4.46238e-13,
                                2.37923e-10, -7.09256e-10, 0.056766}},
    {"plate", "", 2.1e-04, {0.0200685, -1.39788e-09, 0.0200685, 0, 0, 0,       0, 0, 0, 0, 0, 0, 0, 0, 0,
                            0,         -3.66358e-09, 0,         0, 0, 0.454764}},
    {"plate", "length: 1.5", 2.5e-04, {0.0323305, 1.39879e-05, 0.0911753,    0, 0, 0, 0,       0, 0, 0, 0, 0, 0, 0,
                                       0,         3.70308e-09, -2.23778e-09, 0, 0, 0, 0.812782}},
    {"plate", "length: 2", 2.1e-04, {0.0445984, 2.17163e-07, 0.259009,     0, 0, 0, 0,      0, 0, 0, 0, 0, 0, 0,
                                     0,         1.25447e-08, -3.69268e-08, 0, 0, 0, 1.18919}},
    {"plate", "length: 2.5", 1.5e-04, {0.0568789, -8.77206e-06, 0.571304,     0, 0, 0, 0,      0, 0, 0, 0, 0, 0, 0,
                                       0,         -9.43152e-09, -1.28568e-08, 0, 0, 0, 1.57311}},
    {"plate", "length: 3", 1.9e-04, {0.06911, -6.46443e-09, 1.07673,      0, 0, 0, 0,      0, 0, 0, 0, 0, 0, 0,
                                     0,       -3.8637e-09,  -7.44818e-08, 0, 0, 0, 1.95992}},
    {"plate", "length: 4", 2.8e-04, {0.0937052, 4.276e-05, 2.86362, 0, 0,           0,           0, 0, 0, 0,      0,
                                     0,         0,         0,       0, 5.59168e-09, 8.09401e-08, 0, 0, 0, 2.73956}},
    {"plate", "length: 5", 2.6e-04, {0.118269, 5.54519e-07,  6.01254,      0, 0, 0, 0,     0, 0, 0, 0, 0, 0, 0,
                                     0,        -4.90217e-09, -4.00845e-07, 0, 0, 0, 3.5223}},
    {"plate", "length: 6", 3.5e-04, {0.142665, 0.000105405, 10.9139,      0,          0, 0, 0, 0,     0, 0, 0, 0, 0,
                                     0,        0,           -6.37309e-08, 3.0555e-07, 0, 0, 0, 4.3039}},
    {"plate", "length: 8", 2.6e-04, {0.19174, -1.79812e-05, 27.5504,      0, 0, 0, 0,      0, 0, 0, 0, 0, 0, 0,
                                     0,       4.90969e-09,  -5.72396e-07, 0, 0, 0, 5.87167}},
    {"plate", "length: 10", 4.8e-04, {0.241809, -0.000156935, 55.9997,     0, 0, 0, 0,      0, 0, 0, 0, 0, 0, 0,
                                      0,        -6.51353e-09, 4.78854e-08, 0, 0, 0, 7.45352}},
    {"plate", "length: 15", 1.1e-03, {0.364968, 1.31974e-07, 198.832,      0, 0, 0, 0,      0, 0, 0, 0, 0, 0, 0,
                                      0,        1.15081e-08, -3.34434e-07, 0, 0, 0, 11.3679}},
    {"plate", "length: 20", 5.1e-04, {0.486675, -0.000495048, 483.718,   0, 0, 0, 0,      0, 0, 0, 0, 0, 0, 0,
                                      0,        -2.232e-08,   8.807e-07, 0, 0, 0, 15.2931}},
    {"plate", "length: 0.3", 3.2e-04, {0.00375508, 3.88058e-08, 0.000187887, 0, 0, 0, 0,        0, 0, 0, 0, 0, 0, 0,
                                       0,          1.03782e-09, 1.2941e-10,  0, 0, 0, 0.0599231}},
    {"plate",
     "thickness: 0.0001",
     2.3e-04,
     {0.0200909,    2.88423e-10, 0.0200909,    0,           0, 6.79804e-09, 0,
      -4.28998e-10, 0,           4.6187e-08,   4.29001e-10, 0, 0,           0,
      4.6187e-08,   8.37404e-09, -8.19591e-09, 0,           0, 0,           0.455101}},
    {"plate", "thickness: 0.1", 2.2e-03, {0.0232858,    0, 0.0232858, 0,           0, 0.0015421, 0,
                                          -1.61002e-05, 0, 0.0143185, 1.61002e-05, 0, 0,         0,
                                          0.0143185,    0, 0,         0,           0, 0,         0.52317}},
    {"plate",
     "length: 4, thickness: 0.0001",
     2.1e-03,
     {0.0940266,   -0.000124109, 2.86651, -1.363e-10, -4.76624e-09, 2.65759e-07, 0,           -2.43763e-09, 0,
      5.0223e-08,  1.95878e-09,  0,       0,          -1.79412e-10, 2.03727e-07, 8.72245e-09, 1.61927e-08,  0,
      7.78016e-10, 4.39921e-09,  2.74372}},
    {"plate",
     "length: 4, thickness: 0.1",
     4.2e-03,
     {0.108261,
      2.66564e-06,
      3.24951,
      -8.13739e-06,
      -0.000400022,
      0.0799712,
      0,
      -0.000108258,
      0,
      0.0155148,
      8.35118e-05,
      0,
      0,
      3.30888e-06,
      0.0669271,
      1.02825e-09,
      0,
      0,
      7.30098e-05,
      0.000360007,
      3.12005}},
    {"torus", "", 1.1e-05, {1.87699, 0, 1.87699, 0, 0, -9.65226e-06, 0, 0, 0, 1.97234, 0, 0, 0, 0, 1.97234,
                            0,       0, 0,       0, 0, 5.25012}},
    {"torus", "tube: 0.1", 1.3e-03, {0.0965197, 0, 0.0965197, 0, 0, -1.07897e-07, 0, 0, 0,
                                     0.0966503, 0, 0,         0, 0, 0.0966503,    0, 0, 0,
                                     0,         0, 0.198711}},
    {"torus", "tube: 0.9", 7.1e-06, {4.6408, 0, 4.6408, 0, 0, -3.86246e-05, 0, 0, 0, 5.72901, 0, 0, 0, 0, 5.72901,
                                     0,      0, 0,      0, 0, 17.0144}},
    {"turtle", "", 2.0e-03, {0.00104108, 0,           0.00082145, 0,          0, 7.71461e-05,  0, 0, 0, 0.00566478, 0,
                             0,          7.50294e-05, 0,          0.00915103, 0, -0.000707235, 0, 0, 0, 0.0533069}},
    {"twisted_bar",
     "",
     3.5e-04,
     {0.131118,     0,          0.197088,    4.2638e-07,  -5.07351e-06, 0.0444964, 0.208322, 0,
      -4.61597e-07, 0.56297,    0,           -0.159951,   3.14482e-06,  0,         0.771863, -3.54606e-07,
      1.55384e-05,  -0.0723119, 1.91382e-06, -6.2047e-06, 0.168039}},
    {"zeppelin", "", 1.3e-03, {18320.1,  0.00802418,   2.02204e+06, 1.44461,     -0.0893773, 2.02204e+06, 0.000401212,
                               -1.63571, -0.000239071, 411.124,     0.593068,    0.00220401, -13861.3,    2.65598e-05,
                               7440.54,  0.000505685,  13861.5,     -0.00389279, -0.0115319, 0.0001131,   7440.65}},
};

static cb_surface *surface_of(const reference *r) {
  char text[128];
  cb_surface *s = NULL;
  cb_tree *tree = NULL;
  snprintf(text, sizeof text, "{%s%sresolution: 8}", r->parameters, *r->parameters ? ", " : "");
  check_ok(cb_yaml_read_text("parameters", text, strlen(text), &tree));
  check_ok(cb_shape_create(r->shape, cb_tree_root(tree), &s));
  cb_tree_free(tree);
  return s;
}

typedef struct grid {
  cb_surface *surface, *level;
} grid;

static cb_status mesh(void *context, int level, int *vertices, const double (**x)[3], int *faces,
                      const int (**face)[3]) {
  grid *g = context;
  cb_surface_free(g->level);
  g->level = NULL;
  check_ok(cb_surface_at_level(g->surface, level, &g->level));
  if (level && (level >= LEVELS || g->level->faces > FACES)) return cb_fail(CB_ERROR_ARGUMENT, "enough");
  *vertices = g->level->vertices, *faces = g->level->faces;
  *x = (const double(*)[3])g->level->x, *face = (const int(*)[3])g->level->face;
  return CB_OK;
}

static int solve(const reference *r, cb_potential_level level[CB_POTENTIAL_LEVELS]) {
  grid g = {.surface = surface_of(r)};
  char why[CB_POTENTIAL_WHY];
  int n, faces;
  cb_potential_estimate e;
  cb_kirchhoff_report report;
  const cb_potential_body body = {
      .context = &g, .mesh = mesh, .least = CB_POTENTIAL_LEVELS, .level = level, .levels = &n, .why = why};
  check_ok(cb_kirchhoff_refined(&body, 1e-9, &(cb_kirchhoff_options){.far_error = 1e-6, .sheets = true}, &e, &report,
                                &faces));
  cb_surface_free(g.surface);
  cb_surface_free(g.level);
  return n;
}

static void what_is_told_holds_for_every_shape(void **unused) {
  (void)unused;
  for (const reference *r = all; r < all + sizeof all / sizeof *all; r++) {
    cb_potential_level level[CB_POTENTIAL_LEVELS];
    const int levels = solve(r, level);
    double K[6][6];
    for (int i = 0, k = 0; i < 6; i++)
      for (int j = 0; j <= i; j++) K[i][j] = K[j][i] = r->K[k++];
    for (int first = 0; first < 3; first++)
      for (int n = 1; first + n <= levels; n++) {
        cb_potential_estimate e;
        check_ok(cb_potential_estimated(n, level + first, &e));
        cb_potential_level found = level[first + n - 1];
        found.mass = e.mass;
        const double error = cb_potential_departure(&found, (const double(*)[6])K);
        /* a few faces tell what they can: nobody may ask for more than 0.5 */
        if (e.error > 0.5) continue;
        if (error > e.error + r->known)
          print_message("%s {%s}: %d levels to %d faces\n", r->shape, r->parameters, n, found.faces);
        check_at_most(error, e.error + r->known);
      }
  }
}

/* Every shape of the registry is among them but propellers, whose faces do not grow fourfold: 432, 576 and 3048 at
 * resolutions 8, 16 and 32. Three tensors of theirs were 0.028, 0.044 and 0.0021 off in K_v, and 0.18, 0.15 and 0.017
 * were told. */
static void every_shape_is_there(void **unused) {
  (void)unused;
  for (size_t i = 0; cb_shape_classes[i]; i++) {
    bool found = !strcmp(cb_shape_classes[i]->name, "propeller");
    for (size_t j = 0; j < sizeof all / sizeof *all; j++)
      found = found || !strcmp(cb_shape_classes[i]->name, all[j].shape);
    if (!found) print_message("%s\n", cb_shape_classes[i]->name);
    assert_true(found);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_told_holds_for_every_shape),
      cmocka_unit_test(every_shape_is_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
