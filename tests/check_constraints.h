/* Builds systems of five particles with one constraint of any class, at random points, and compares numbers with a
 * message that names the space and the constraint. */
#pragma once

#include "check_spaces.h"
#include "dynamics/forces_private.h"
#include <curvebody/constraint.h>

enum { POINTS = 5, COORDS = CB_COORD_MAX, ALL = POINTS * COORDS, ROWS_MAX = CB_DIM_MAX };

/* clang-format off */
typedef enum kind {
  DISTANCE_TO_POINT, ANGLE, AREA, VOLUME, PIN, SURFACE, SURFACE_POLAR, SURFACE_STEREOGRAPHIC, VELOCITY, VELOCITY_POLAR,
  VELOCITY_STEREOGRAPHIC, KNIFE_EDGE, KINDS
} kind;
static const char *const kind_names[KINDS] = {
    "distance_to_point", "angle", "area", "volume", "pin", "surface", "surface in polar coordinates",
    "surface in stereographic coordinates", "velocity", "velocity in polar coordinates",
    "velocity in stereographic coordinates", "knife_edge"};
/* clang-format on */

/* The faces of a bipyramid over the triangle 0, 1, 2, with the apexes 3 and 4. They are oriented outwards if 0, 1, 2 is
 * counter-clockwise as seen from 3. */
static const int bipyramid[6][3] = {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}, {1, 0, 4}, {2, 1, 4}, {0, 2, 4}};

static inline bool kind_applies(const cb_space *g, kind which) {
  if (which == AREA) return g->n_factors == 1;
  if (which == VOLUME) return g->n_factors == 1 && g->dim == 3;
  if (which == KNIFE_EDGE) return g->n_factors == 1 && g->dim == 2;
  if (which == SURFACE_STEREOGRAPHIC || which == VELOCITY_STEREOGRAPHIC)
    return cb_chart_find(g, "stereographic") || cb_chart_find(g, "poincare");
  return true;
}

static inline const char *kind_chart(const cb_space *g, kind which) {
  if (which == SURFACE_POLAR || which == VELOCITY_POLAR) return "polar";
  if (which == SURFACE_STEREOGRAPHIC || which == VELOCITY_STEREOGRAPHIC)
    return cb_chart_find(g, "stereographic") ? "stereographic" : "poincare";
  return "embedding";
}

/* Writes an expression of the time t and of all coordinates of `count` particles. If `numbered` is set, the names of
 * the coordinates end with the number of the particle. `shift` makes different expressions. */
static inline void some_expression(const cb_chart *chart, int count, bool numbered, int shift, char *text,
                                   size_t size) {
  size_t at = (size_t)snprintf(text, size, "0.3*cos(2*t + %d)", shift);
  for (int i = 0; i < count * chart->size; i++) {
    char a[24], b[24];
    int j = (i + shift + 1) % (count * chart->size);
    if (numbered) {
      snprintf(a, sizeof a, "%.6s%d", chart->coordinates[i % chart->size], i / chart->size);
      snprintf(b, sizeof b, "%.6s%d", chart->coordinates[j % chart->size], j / chart->size);
    } else {
      snprintf(a, sizeof a, "%.6s", chart->coordinates[i % chart->size]);
      snprintf(b, sizeof b, "%.6s", chart->coordinates[j % chart->size]);
    }
    at += (size_t)snprintf(text + at, size - at, " + (%g + t*%g)*%s + %g*%s*sin(%s)", 0.3 + 0.1 * i, 0.2 - 0.05 * i, a,
                           0.4 + 0.07 * i, a, b);
  }
}

/* Adds a constraint of the class `which` to some of the particles 0 .. POINTS-1. `centre` is the fixed point of the
 * classes that have one, in the coordinates of the space. */
static inline cb_status kind_add(cb_builder *b, const cb_space *g, kind which, const double *centre) {
  const cb_target start = {.value = NAN}, law = {.expression = "1 + 0.3*sin(1.7*t)"};
  const cb_chart *chart = cb_chart_find(g, kind_chart(g, which));
  char text[16][2048];
  const char *coefficient[16];
  switch (which) {
    case DISTANCE_TO_POINT: return cb_builder_distance_to_point(b, NULL, 2, centre, law);
    case ANGLE: return cb_builder_angle(b, NULL, 0, 3, 1, law);
    case AREA: return cb_builder_area(b, NULL, 2, (const int[2][3]){{0, 1, 2}, {2, 1, 4}}, start);
    case VOLUME: return cb_builder_volume(b, NULL, 6, bipyramid, start);
    case PIN: return cb_builder_pin(b, NULL, 1, centre);
    case SURFACE:
    case SURFACE_POLAR:
    case SURFACE_STEREOGRAPHIC:
      some_expression(chart, 1, false, 0, text[0], sizeof text[0]);
      return cb_builder_surface(b, NULL, 3, chart->name, text[0]);
    case VELOCITY:
    case VELOCITY_POLAR:
    case VELOCITY_STEREOGRAPHIC: {
      const int n = CB_ELEMENT_PARTICLES * chart->size;
      for (int i = 0; i < n; i++) {
        some_expression(chart, CB_ELEMENT_PARTICLES, true, i, text[i], sizeof text[i]);
        coefficient[i] = i == 2 ? NULL : i == 3 ? "0" : text[i];
      }
      return cb_builder_velocity(b, NULL, CB_ELEMENT_PARTICLES, (const int[]){4, 0, 2, 1}, chart->name, coefficient,
                                 text[1]);
    }
    case KNIFE_EDGE: return cb_builder_knife_edge(b, NULL, 3, 1);
    default: return CB_ERROR_ARGUMENT;
  }
}

/* Returns whether the angle at b between the geodesics to a and to c is far from 0 and pi: |cos| < 0.97. */
static inline bool wide(const cb_space *g, const double *a, const double *b, const double *c) {
  double u[COORDS], v[COORDS];
  check_ok(cb_log(g, b, a, u));
  check_ok(cb_log(g, b, c, v));
  return fabs(cb_inner(g, u, v)) < 0.97 * sqrt(cb_inner(g, u, u) * cb_inner(g, v, v));
}

/* Returns whether the point x is away from the places where polar coordinates are singular: a unit change of any polar
 * coordinate moves the point by a length of at least `far`. */
static inline bool off_axis(const cb_space *g, const double *x, double far) {
  const cb_chart *polar = cb_chart_find(g, "polar");
  double q[COORDS], metric[CB_DIM_MAX * CB_DIM_MAX];
  check_ok(polar->from_point(g, x, q));
  check_ok(polar->metric(g, q, metric, NULL, NULL));
  for (int i = 0; i < g->dim; i++)
    if (metric[i * (g->dim + 1)] < far * far) return false;
  return true;
}

static inline bool stands_well(const cb_space *g, int n, double (*x)[COORDS], double apart) {
  if (!off_axis(g, x[n], fmin(1, apart))) return false;
  for (int i = 0; i < n; i++) {
    if (!(cb_distance(g, x[n], x[i]) > apart)) return false;
    for (int j = 0; j < i; j++)
      if (!wide(g, x[n], x[i], x[j]) || !wide(g, x[i], x[n], x[j]) || !wide(g, x[n], x[j], x[i])) return false;
  }
  return true;
}

/* Makes POINTS + 1 random points of the embedding in a ball around a point off the axes. The last one is the argument
 * `centre` of kind_add. No two points are close and no three are nearly on a geodesic, because difference quotients
 * would be inaccurate there. */
static inline void some_points(const cb_space *g, uint64_t *seed, double size, double (*x)[COORDS]) {
  double c[CB_DIM_MAX], v[COORDS], middle[COORDS], r = size * check_radius(g);
  bool sphere = false; /* on a sphere all charts are regular up to a quarter turn from the base point */
  for (int f = 0; f < g->n_factors; f++) sphere |= g->factor[f].curvature > 0;
  for (int a = 0; a < g->dim; a++) c[a] = (0.55 + 0.1 * a) * (sphere ? 0.5 : 1) * check_radius(g);
  check_point_at(g, c, middle);
  for (int i = 0, tries = 0; i < POINTS + 1; tries++) {
    if (tries == 300) i = tries = 0;
    check_random_short_tangent(g, seed, middle, r, v);
    cb_exp(g, middle, v, x[i], NULL);
    if (stands_well(g, i, x, 0.4 * r)) i++;
  }
}

/* A system with one constraint, its forces, and the coordinates of its particles. If the space is used in a chart, they
 * are the coordinates of the chart. */
typedef struct setup {
  cb_system *s;
  cb_forces *f;
  cb_constraints *c;
  int rows, k;
  double x[ALL]; /* coordinates of the particles, in the order of the state */
} setup;

static inline setup setup_at(const cb_space *g, kind which, double (*x)[COORDS]) {
  setup u = {.k = g->k};
  double q[POINTS + 1][COORDS];
  cb_builder *b;
  for (int i = 0; i < POINTS + 1; i++) {
    if (g->chart)
      check_ok(g->chart->from_point(g, x[i], q[i]));
    else
      memcpy(q[i], x[i], sizeof q[i]);
  }
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  for (int i = 0; i < POINTS; i++) check_ok(cb_builder_particle(b, NULL, 1 + 0.3 * i, 0, 0, q[i], NULL, NULL));
  check_ok(kind_add(b, g, which, q[POINTS]));
  check_ok(cb_builder_finish(b, &u.s));
  cb_builder_free(b);
  check_ok(cb_forces_create(u.s, &u.f));
  cb_origin origin[POINTS]; /* the identity, because the coordinates u.x are those of the world */
  for (int i = 0; i < POINTS; i++) cb_origin_identity(g, &origin[i]);
  check_ok(cb_forces_set_origins(u.f, origin));
  u.c = cb_forces_constraints(u.f);
  assert_non_null(u.c);
  u.rows = cb_constraints_rows(u.c)->rows;
  for (int i = 0; i < POINTS; i++) memcpy(u.x + cb_system_index(u.s, i) * u.k, q[i], (size_t)u.k * sizeof(double));
  return u;
}

static inline void setup_free(setup *u) {
  cb_forces_free(u->f);
  cb_system_free(u->s);
}

static inline const char *shown(const cb_space *g, kind which) {
  static char text[256];
  snprintf(text, sizeof text, "%s, curvature %g, %s, %s", g->class_->name, g->n_factors ? g->factor[0].curvature : 0,
           g->chart ? g->chart->name : "embedding", kind_names[which]);
  return text;
}

/* Checks that |a - b| <= tolerance * scale, where `scale` is the size of the terms of a. */
static inline void check_same(const char *what, const char *where, int i, double a, double b, double scale,
                              double tolerance) {
  if (fabs(a - b) <= tolerance * scale) return;
  print_error("%s: %s [%d] = %.15g, expected %.15g: error %.3g > %.3g\n", where, what, i, a, b, fabs(a - b),
              tolerance * scale);
  fail();
}

static inline double largest(int n, const double *x) {
  double max = 1;
  for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
  return max;
}
