/* Building rows of the kinds that stand by themselves: tether, angle, area, volume, pin, surface, velocity, blade. */
#include "dynamics/builder_private.h"
#include "dynamics/pair.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = CB_Q_MAX };

static const double pi = 3.14159265358979323846;

static cb_status check_index(const cb_builder *b, const char *what, int n, const int *particle) {
  for (int p = 0; p < n; p++)
    if (particle[p] < 0 || particle[p] >= b->n_points)
      return cb_fail(CB_ERROR_ARGUMENT, "%s: particle %d: expected 0 to %d", what, particle[p], b->n_points - 1);
  return CB_OK;
}

/* Only spaces that are quadrics and flat factors have an embedding to speak of, and figures that their sides tell. */
static cb_status check_factors(const cb_builder *b, const char *what, int most) {
  if (b->space->intrinsic)
    return cb_fail(CB_ERROR_UNSUPPORTED, "%s: expected a space of constant curvature%s, found %s%s", what,
                   most == 1 ? "" : " or a product of such", b->space->kind->name,
                   most == 1 ? ", where the sides of a figure do not tell it" : "");
  const int n = b->space->n_factors;
  if (n == 0 || n > most)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: expected a space of %s, found %s", what,
                   most == 1 ? "one factor" : "quadrics and flat factors", n ? "a product" : "another kind");
  return CB_OK;
}

static cb_status check_range(const char *what, const char *quantity, cb_target target, double low, double high) {
  if (target.law || isnan(target.value) || (target.value > low && target.value < high)) return CB_OK;
  if (isinf(high)) return cb_fail(CB_ERROR_ARGUMENT, "%s: %s %g: expected > %g", what, quantity, target.value, low);
  return cb_fail(CB_ERROR_ARGUMENT, "%s: %s %g: expected > %g and < %g", what, quantity, target.value, low, high);
}

/* Adds a row with a target. */
static cb_status add(cb_builder *b, cb_constraint *row, cb_target target) {
  cb_status status = cb_builder_target(b, &target, row);
  return status ? status : cb_builder_add_constraint(b, row);
}

/* --- fixed points --- */

cb_status cb_builder_tether(cb_builder *b, const char *name, int i, const double *centre, cb_target length) {
  cb_constraint row = {.kind = &cb_constraint_tether, .name = name, .elements = 1, .width = 1, .particle = (int[]){i}};
  cb_status status = check_index(b, "tether", 1, &i);
  if (!status) status = check_range("tether", "length", length, 0, INFINITY);
  if (!status) status = cb_builder_fix(b, "tether", centre, &row.centre);
  if (!status && cb_origin_same(b->space, &b->origin[b->point[i].origin], &row.centre.origin)) {
    double d;
    if (cb_builder_check_apart(b->space, b->point[i].x, row.centre.x, &d))
      return cb_fail(CB_ERROR_DOMAIN, "tether: particle %d coincides with the centre or is its antipode", i);
  }
  return status ? status : add(b, &row, length);
}

cb_status cb_builder_pin(cb_builder *b, const char *name, int i, const double *x) {
  const cb_geometry *g = b->space;
  static const char *const axes[CB_Q_MAX] = {"x", "y", "z"};
  cb_fixed centre = {0};
  cb_status status = check_index(b, "pin", 1, &i);
  if (!status && !g->chart) status = check_factors(b, "pin", CB_FACTOR_MAX);
  if (!status && x) status = cb_builder_fix(b, "pin", x, &centre);
  if (!status && !x) { /* where it is, as it is told */
    centre.origin = b->origin[b->point[i].origin];
    memcpy(centre.x, b->point[i].x, sizeof centre.x);
  }
  for (int a = 0; a < g->dim && !status; a++) {
    char text[256];
    snprintf(text, sizeof text, "%.200s %s", name ? name : "", g->chart ? g->chart->coordinates[a] : axes[a]);
    cb_constraint row = {.kind = &cb_constraint_pin,
                         .name = name ? text : NULL,
                         .elements = 1,
                         .width = 1,
                         .particle = (int[]){i},
                         .axis = a,
                         .centre = centre};
    status = cb_builder_add_constraint(b, &row);
  }
  return status;
}

/* --- shapes --- */

cb_status cb_builder_angle(cb_builder *b, const char *name, int i, int vertex, int j, cb_target angle) {
  cb_constraint row = {
      .kind = &cb_constraint_angle, .name = name, .elements = 1, .width = 3, .particle = (int[]){i, vertex, j}};
  cb_status status = check_index(b, "angle", 3, row.particle);
  if (!status && !b->space->intrinsic) status = check_factors(b, "angle", CB_FACTOR_MAX);
  if (!status) status = check_range("angle", "value", angle, 0, pi);
  return status ? status : add(b, &row, angle);
}

static cb_status check_triangles(const cb_builder *b, const char *what, int n, const int (*triangle)[3]) {
  if (n < 1) return cb_fail(CB_ERROR_ARGUMENT, "%s: expected a triangle or more, found %d", what, n);
  for (int t = 0; t < n; t++) {
    cb_status status = check_index(b, what, 3, triangle[t]);
    if (status) return status;
    for (int p = 0; p < 3; p++)
      if (triangle[t][p] == triangle[t][(p + 1) % 3])
        return cb_fail(CB_ERROR_ARGUMENT, "%s: triangle %d has particle %d twice", what, t, triangle[t][p]);
  }
  return CB_OK;
}

cb_status cb_builder_area(cb_builder *b, const char *name, int n, const int (*triangle)[3], cb_target area) {
  cb_status status = check_factors(b, "area", 1);
  if (!status) status = check_triangles(b, "area", n, triangle);
  if (!status) status = check_range("area", "value", area, 0, INFINITY);
  if (status) return status;
  int *particle = malloc(3 * (size_t)n * sizeof *particle);
  if (!particle) return cb_fail(CB_ERROR_MEMORY, "no memory for %d triangles", n);
  for (int t = 0; t < n; t++) memcpy(particle + 3 * t, triangle[t], sizeof triangle[t]);
  cb_constraint row = {.kind = &cb_constraint_area, .name = name, .elements = n, .width = 3, .particle = particle};
  status = add(b, &row, area);
  free(particle);
  return status;
}

static int by_ends(const void *a, const void *b) {
  const int *x = a, *y = b;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Closed and oriented: each directed edge once, and once the other way. */
static cb_status check_closed(int n, const int (*triangle)[3]) {
  const size_t count = 3 * (size_t)n;
  int(*edge)[2] = malloc(count * sizeof *edge);
  cb_status status = CB_OK;
  if (!edge) return cb_fail(CB_ERROR_MEMORY, "no memory for %d triangles", n);
  for (size_t e = 0; e < count; e++) {
    edge[e][0] = triangle[e / 3][e % 3];
    edge[e][1] = triangle[e / 3][(e + 1) % 3];
  }
  qsort(edge, count, sizeof *edge, by_ends);
  for (size_t e = 1; e < count && !status; e++)
    if (by_ends(edge[e], edge[e - 1]) == 0)
      status = cb_fail(CB_ERROR_ARGUMENT, "volume: two triangles run along the edge %d-%d in the same direction",
                       edge[e][0], edge[e][1]);
  for (size_t e = 0; e < count && !status; e++)
    if (!bsearch((int[]){edge[e][1], edge[e][0]}, edge, count, sizeof *edge, by_ends))
      status = cb_fail(CB_ERROR_ARGUMENT, "volume: the surface is not closed: edge %d-%d has one triangle", edge[e][0],
                       edge[e][1]);
  free(edge);
  return status;
}

/* In S^n, a quarter turn from the first vertex at most. */
static cb_status check_near(const cb_builder *b, int first, int n, const int (*triangle)[3]) {
  const double curvature = b->space->factor[0].curvature;
  for (int e = 0; curvature > 0 && e < 3 * n; e++) {
    const int i = triangle[e / 3][e % 3];
    double d;
    cb_status status = cb_pair_distance(b->space, b->point[first].x, b->point[i].x, &d, NULL, NULL);
    if (status) return CB_ERROR_DOMAIN;
    if (!(sqrt(curvature) * d < pi / 2))
      return cb_fail(CB_ERROR_DOMAIN, "volume: particle %d is %g from the first one, %d: expected less than %g", i, d,
                     first, pi / 2 / sqrt(curvature));
  }
  return CB_OK;
}

cb_status cb_builder_volume(cb_builder *b, const char *name, int n, const int (*triangle)[3], cb_target volume) {
  cb_status status = check_factors(b, "volume", 1);
  if (!status && b->space->dim != 3)
    status = cb_fail(CB_ERROR_ARGUMENT, "volume: expected a space of dimension 3, found %d", b->space->dim);
  if (!status) status = check_triangles(b, "volume", n, triangle);
  if (!status) status = check_closed(n, triangle);
  if (!status) status = check_near(b, triangle[0][0], n, triangle);
  if (!status && !volume.law && (isinf(volume.value) || volume.value == 0))
    status = cb_fail(CB_ERROR_ARGUMENT, "volume: value %g: expected a number other than 0", volume.value);
  if (status) return status;
  int *particle = malloc(4 * (size_t)n * sizeof *particle), first = triangle[0][0], elements = 0;
  if (!particle) return cb_fail(CB_ERROR_MEMORY, "no memory for %d triangles", n);
  for (int t = 0; t < n; t++) { /* those at the first vertex have no volume */
    if (triangle[t][0] == first || triangle[t][1] == first || triangle[t][2] == first) continue;
    particle[4 * elements] = first;
    memcpy(particle + 4 * elements + 1, triangle[t], sizeof triangle[t]);
    elements++;
  }
  cb_constraint row = {
      .kind = &cb_constraint_volume, .name = name, .elements = elements, .width = 4, .particle = particle};
  if (!elements) status = cb_fail(CB_ERROR_ARGUMENT, "volume: all triangles meet in particle %d", first);
  if (!status) status = add(b, &row, volume);
  free(particle);
  return status;
}

/* --- expressions --- */

/* The chart by its name; NULL: a chart space's own, or the embedding. In a row NULL stands for the embedding. */
static cb_status find_chart(const cb_builder *b, const char *what, const char *name, const cb_chart **found,
                            const cb_chart **row) {
  const cb_geometry *g = b->space;
  *found = name ? cb_chart_find(g, name) : g->chart ? g->chart : cb_chart_find(g, "embedding");
  if (!*found) return cb_fail(CB_ERROR_ARGUMENT, "%s: the space has no chart '%s'", what, name ? name : "embedding");
  *row = *found == g->chart || strcmp((*found)->name, "embedding") ? *found : NULL;
  return *found == g->chart ? CB_OK : check_factors(b, what, CB_FACTOR_MAX);
}

cb_status cb_builder_surface(cb_builder *b, const char *name, int i, const char *chart, const char *expression) {
  cb_constraint row = {.kind = &cb_constraint_surface, .name = name, .elements = 1, .width = 1, .particle = (int[]){i}};
  const cb_chart *found = NULL;
  const char *names[K + 1];
  cb_status status = check_index(b, "surface", 1, &i);
  if (!status) status = find_chart(b, "surface", chart, &found, &row.chart);
  if (status) return status;
  const size_t n = (size_t)found->size;
  for (size_t a = 0; a < n; a++) names[a] = found->coordinates[a];
  names[n] = "t";
  status = cb_builder_parse(b, expression, names, n + 1, &row.expression);
  if (status) return status;
  bool used = false;
  for (size_t a = 0; a < n; a++) used = used || cb_expression_uses(row.expression, a);
  if (!used) {
    cb_constraint_release(&row);
    return cb_fail(CB_ERROR_ARGUMENT, "surface: '%.40s' does not depend on the position", expression);
  }
  return cb_builder_add_constraint(b, &row);
}

/* Names of the coordinates of n particles, x0, y0, ..., x1, ..., and t. */
static void number_names(const cb_chart *chart, int n, char text[][24], const char **names) {
  for (int i = 0; i < n * chart->size; i++) {
    snprintf(text[i], sizeof text[i], "%.8s%d", chart->coordinates[i % chart->size], i / chart->size);
    names[i] = text[i];
  }
  names[n * chart->size] = "t";
}

/* Takes the expressions of a velocity row. */
static cb_status add_velocity(cb_builder *b, cb_constraint *row, const char *const *names, size_t n_names, size_t count,
                              const char *const *coefficient, const char *equals, size_t *at) {
  cb_status status = CB_OK;
  bool any = false;
  for (size_t i = 0; i < count && !status; i++) {
    if (!coefficient[i] || !strcmp(coefficient[i], "0")) continue;
    any = true;
    *at = i;
    status = cb_builder_parse(b, coefficient[i], names, n_names, &row->coefficient[i]);
  }
  if (!status && !any) status = cb_fail(CB_ERROR_ARGUMENT, "velocity: expected a coefficient other than 0");
  if (!status && equals && strcmp(equals, "0")) {
    *at = count;
    status = cb_builder_parse(b, equals, names, n_names, &row->expression);
  }
  if (!status) return cb_builder_add_constraint(b, row);
  cb_constraint_release(row);
  return status;
}

cb_status cb_builder_velocity_of(cb_builder *b, const char *name, int i, const char *const *coefficient,
                                 const char *equals, size_t *at) {
  const cb_chart *chart = b->space->chart;
  const char *names[K + 1];
  cb_constraint row = {
      .kind = &cb_constraint_velocity, .name = name, .elements = 1, .width = 1, .particle = (int[]){i}, .chart = chart};
  cb_status status = check_index(b, "velocity", 1, &i);
  if (!status && !chart) status = cb_fail(CB_ERROR_UNSUPPORTED, "velocity: expected a space with a chart");
  if (status) return status;
  for (int a = 0; a < chart->size; a++) names[a] = chart->coordinates[a];
  names[chart->size] = "t";
  return add_velocity(b, &row, names, (size_t)chart->size + 1, (size_t)chart->size, coefficient, equals, at);
}

cb_status cb_builder_velocity(cb_builder *b, const char *name, int n, const int *particle, const char *chart,
                              const char *const *coefficient, const char *equals) {
  if (n < 1 || n > CB_ELEMENT_PARTICLES)
    return cb_fail(CB_ERROR_ARGUMENT, "velocity: %d particles: expected 1 to %d", n, CB_ELEMENT_PARTICLES);
  int own[CB_ELEMENT_PARTICLES];
  memcpy(own, particle, (size_t)n * sizeof *own);
  cb_constraint row = {.kind = &cb_constraint_velocity, .name = name, .elements = 1, .width = n, .particle = own};
  const cb_chart *found = NULL;
  char text[CB_ELEMENT_MAX][24];
  const char *names[CB_ELEMENT_MAX + 1];
  cb_status status = check_index(b, "velocity", n, particle);
  if (!status) status = find_chart(b, "velocity", chart, &found, &row.chart);
  if (status) return status;
  const size_t count = (size_t)(n * found->size);
  size_t at;
  number_names(found, n, text, names);
  return add_velocity(b, &row, names, count + 1, count, coefficient, equals, &at);
}

cb_status cb_builder_blade(cb_builder *b, const char *name, int i, int j) {
  cb_constraint row = {
      .kind = &cb_constraint_blade, .name = name, .elements = 1, .width = 2, .particle = (int[]){i, j}};
  cb_status status = check_index(b, "blade", 2, row.particle);
  if (!status && !b->space->intrinsic) status = check_factors(b, "blade", 1);
  if (!status && b->space->dim != 2)
    status = cb_fail(CB_ERROR_ARGUMENT, "blade: expected a space of dimension 2, found %d", b->space->dim);
  return status ? status : cb_builder_add_constraint(b, &row);
}
