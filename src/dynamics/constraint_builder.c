/* Building rows of constraints: rods, path lengths, distances to a point, angles, areas, volumes, pins, surfaces,
 * velocities and knife edges. This file also moves the rows into a system.
 */
#include "dynamics/builder_private.h"

#include "dynamics/pair_potential.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cb_constraint_release(cb_constraint *row) {
  cb_expression_free(row->target_expression);
  cb_expression_free(row->expression);
  for (int i = 0; i < CB_ELEMENT_MAX; i++) cb_expression_free(row->coefficient[i]);
}

static cb_status check_particles(const cb_builder *b, const cb_constraint *row) {
  for (int e = 0; e < row->elements; e++)
    for (int p = 0; p < row->width; p++) {
      const int i = row->particle[e * row->width + p];
      if (i < 0 || i >= b->n_points)
        return cb_fail(CB_ERROR_ARGUMENT, "%s: particle %d: expected 0 to %d", row->class->name, i, b->n_points - 1);
      for (int q = 0; q < p; q++)
        if (row->particle[e * row->width + q] == i)
          return cb_fail(CB_ERROR_ARGUMENT, "%s: expected different particles, found %d twice", row->class->name, i);
    }
  if (row->elements < 1 || row->width < 1)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: expected at least one particle, found none", row->class->name);
  if (isinf(row->target)) return cb_fail(CB_ERROR_ARGUMENT, "%s: expected a finite number", row->class->name);
  return CB_OK;
}

/* Adds a row to the builder. Checks the particles and copies the arrays and the name. Takes ownership of the
 * expressions, even if it fails. With name NULL, the name is made from the class and the particles. */
static cb_status add_constraint(cb_builder *b, const cb_constraint *row) {
  cb_constraint copy = *row;
  cb_status status = check_particles(b, row);
  if (!status)
    status =
        cb_builder_grow((void **)&b->constraint, b->n_constraints, &b->capacity_constraints, sizeof *b->constraint);
  if (!status) {
    const size_t count = (size_t)row->elements * (size_t)row->width;
    copy.particle = cb_arena_alloc(b->texts, count, sizeof *copy.particle);
    copy.name = row->name ? cb_arena_strdup(b->texts, row->name) : NULL;
    if (!copy.particle || (row->name && !copy.name)) status = cb_fail(CB_ERROR_MEMORY, "no memory for a constraint");
    if (!status) memcpy(copy.particle, row->particle, count * sizeof *copy.particle);
  }
  if (status) {
    cb_constraint_release(&copy);
    return status;
  }
  b->constraint[b->n_constraints++] = copy;
  return CB_OK;
}

/* Sets the target of a row, or parses its expression. */
static cb_status set_target(cb_builder *b, const cb_target *target, cb_constraint *row) {
  static const char *const names[] = {"t"};
  row->target = target->value;
  if (!target->expression) return CB_OK;
  row->target = 0;
  return cb_builder_parse(b, target->expression, names, 1, &row->target_expression);
}

cb_status cb_builder_rod(cb_builder *b, const char *name, int i, int j, cb_target length) {
  cb_constraint row = {.class = &cb_constraint_rod, .name = name, .elements = 1, .width = 2, .particle = (int[]){i, j}};
  cb_status status = check_particles(b, &row);
  if (!status && !length.expression && length.value <= 0)
    status = cb_fail(CB_ERROR_ARGUMENT, "rod: length %g: expected > 0", length.value);
  if (!status && b->point[i].origin == b->point[j].origin) {
    double d;
    status = cb_builder_check_apart(b->space, b->point[i].x, b->point[j].x, &d);
  }
  if (!status) status = set_target(b, &length, &row);
  return status ? status : add_constraint(b, &row);
}

cb_status cb_builder_path_length(cb_builder *b, const char *name, int n, const int *particle, cb_target length) {
  if (n < 2) return cb_fail(CB_ERROR_ARGUMENT, "path_length: expected at least two particles, found %d", n);
  int *ends = malloc(2 * (size_t)(n - 1) * sizeof *ends);
  if (!ends) return cb_fail(CB_ERROR_MEMORY, "no memory for a path of %d particles", n);
  for (int e = 0; e < n - 1; e++) {
    ends[2 * e] = particle[e];
    ends[2 * e + 1] = particle[e + 1];
  }
  cb_constraint row = {
      .class = &cb_constraint_path_length, .name = name, .elements = n - 1, .width = 2, .particle = ends};
  cb_status status = check_particles(b, &row);
  if (!status && !length.expression && length.value <= 0)
    status = cb_fail(CB_ERROR_ARGUMENT, "path_length: length %g: expected > 0", length.value);
  if (!status) status = set_target(b, &length, &row);
  if (!status) status = add_constraint(b, &row);
  free(ends);
  return status;
}

/* Makes a name such as "rod a.0 a.1" from the class and the first particles. */
static const char *made_name(const cb_system *s, const cb_constraint *row) {
  enum { SHOWN = 4 };
  char text[512];
  size_t at = (size_t)snprintf(text, sizeof text, "%s", row->class->name);
  const int count = row->elements * row->width;
  int shown = 0, last = -1;
  for (int p = 0; p < count && shown < SHOWN && at < sizeof text; p++) {
    if (row->particle[p] == last) continue;
    last = row->particle[p];
    at += (size_t)snprintf(text + at, sizeof text - at, " %s", s->name[s->particle[last]]);
    shown++;
  }
  if (row->axis > 0 && at < sizeof text) snprintf(text + at, sizeof text - at, " axis %d", row->axis);
  if (count > SHOWN && at < sizeof text) snprintf(text + at, sizeof text - at, " ...");
  return cb_arena_strdup(s->arena, text);
}

/* Targets that were not given are set to the values at the start. */
static cb_status measure(cb_system *s) {
  bool asked = false;
  for (int r = 0; r < s->n_constraints; r++) asked = asked || isnan(s->constraint[r].target);
  if (!asked) return CB_OK;
  cb_forces *f;
  cb_status status = cb_forces_create(s, &f);
  if (status) return status;
  double *g = malloc((size_t)s->n_constraints * sizeof *g);
  status = g ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", s->n_constraints);
  for (int r = 0; r < s->n_constraints && !status; r++) g[r] = s->constraint[r].target;
  double *at = status ? NULL : malloc((size_t)s->n_constraints * sizeof *at);
  if (!status && !at) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", s->n_constraints);
  for (int r = 0; r < s->n_constraints && !status; r++)
    if (isnan(g[r])) s->constraint[r].target = 0;
  if (!status) status = cb_constraints_eval(cb_forces_constraints(f), 0, s->x, at, NULL);
  for (int r = 0; r < s->n_constraints && !status; r++)
    if (isnan(g[r])) s->constraint[r].target = at[r];
  free(at);
  free(g);
  cb_forces_free(f);
  if (status == CB_STEP_DOMAIN) status = CB_ERROR_DOMAIN;
  return status;
}

cb_status cb_constraints_settle(cb_builder *b, cb_system *s) {
  s->constraint = cb_arena_alloc(s->arena, (size_t)b->n_constraints, sizeof *s->constraint);
  if (!s->constraint) return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", b->n_constraints);
  for (int r = 0; r < b->n_constraints; r++) {
    cb_constraint *row = &s->constraint[r], *from = &b->constraint[r];
    const size_t count = (size_t)from->elements * (size_t)from->width;
    *row = *from;
    row->particle = cb_arena_alloc(s->arena, count, sizeof *row->particle);
    if (!row->particle) return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", b->n_constraints);
    for (size_t p = 0; p < count; p++) row->particle[p] = s->place[from->particle[p]];
    /* From here on the system owns the expressions. */
    from->target_expression = from->expression = NULL;
    memset(from->coefficient, 0, sizeof from->coefficient);
    s->n_constraints++;
    row->world = row->class->per_world ? s->n_world++ : -1;
    row->name = from->name ? cb_arena_strdup(s->arena, from->name) : made_name(s, row);
    if (!row->name) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  }
  return measure(s);
}

/* --- the classes other than rods and path lengths --- */

enum { K = CB_Q_MAX };

static const double pi = 3.14159265358979323846;

static cb_status check_index(const cb_builder *b, const char *what, int n, const int *particle) {
  for (int p = 0; p < n; p++)
    if (particle[p] < 0 || particle[p] >= b->n_points)
      return cb_fail(CB_ERROR_ARGUMENT, "%s: particle %d: expected 0 to %d", what, particle[p], b->n_points - 1);
  return CB_OK;
}

/* Fails in spaces that are not made of one to `maximum` quadrics and flat factors. (In a space that is given by the
 * metric of a chart, the sides of a figure do not determine it.) */
static cb_status check_factors(const cb_builder *b, const char *what, int maximum) {
  if (b->space->intrinsic)
    return cb_fail(CB_ERROR_UNSUPPORTED, "%s: expected a space of constant curvature%s, found %s%s", what,
                   maximum == 1 ? "" : " or a product of these", b->space->class_->name,
                   maximum == 1 ? ": sides do not determine a figure there" : "");
  const int n = b->space->n_factors;
  if (n == 0 || n > maximum)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: expected a space of %s, found %s", what,
                   maximum == 1 ? "one factor" : "quadrics and flat factors", n ? "a product" : "another kind");
  return CB_OK;
}

static cb_status check_range(const char *what, const char *quantity, cb_target target, double low, double high) {
  if (target.expression || isnan(target.value) || (target.value > low && target.value < high)) return CB_OK;
  if (isinf(high)) return cb_fail(CB_ERROR_ARGUMENT, "%s: %s %g: expected > %g", what, quantity, target.value, low);
  return cb_fail(CB_ERROR_ARGUMENT, "%s: %s %g: expected > %g and < %g", what, quantity, target.value, low, high);
}

/* Adds a row with a target. */
static cb_status add(cb_builder *b, cb_constraint *row, cb_target target) {
  cb_status status = set_target(b, &target, row);
  return status ? status : add_constraint(b, row);
}

/* --- fixed points --- */

cb_status cb_builder_distance_to_point(cb_builder *b, const char *name, int i, const double *centre, cb_target length) {
  cb_constraint row = {
      .class = &cb_constraint_distance_to_point, .name = name, .elements = 1, .width = 1, .particle = (int[]){i}};
  cb_status status = check_index(b, "distance_to_point", 1, &i);
  if (!status) status = check_range("distance_to_point", "length", length, 0, INFINITY);
  if (!status) status = cb_builder_fix(b, "distance_to_point", centre, &row.centre);
  if (!status && cb_origin_same(b->space, &b->origin[b->point[i].origin], &row.centre.origin)) {
    double d;
    if (cb_builder_check_apart(b->space, b->point[i].x, row.centre.x, &d))
      return cb_fail(
          CB_ERROR_DOMAIN,
          "distance_to_point: particle %d coincides with the centre or is its antipode: expected another place", i);
  }
  return status ? status : add(b, &row, length);
}

cb_status cb_builder_pin(cb_builder *b, const char *name, int i, const double *x) {
  const cb_space *g = b->space;
  static const char *const axes[CB_Q_MAX] = {"x", "y", "z"};
  cb_fixed centre = {0};
  cb_status status = check_index(b, "pin", 1, &i);
  if (!status && !g->chart) status = check_factors(b, "pin", CB_FACTOR_MAX);
  if (!status && x) status = cb_builder_fix(b, "pin", x, &centre);
  if (!status && !x) { /* the initial position, relative to the particle's own origin */
    centre.origin = b->origin[b->point[i].origin];
    memcpy(centre.x, b->point[i].x, sizeof centre.x);
  }
  for (int a = 0; a < g->dim && !status; a++) {
    char text[256];
    snprintf(text, sizeof text, "%.200s %s", name ? name : "", g->chart ? g->chart->coordinates[a] : axes[a]);
    cb_constraint row = {.class = &cb_constraint_pin,
                         .name = name ? text : NULL,
                         .elements = 1,
                         .width = 1,
                         .particle = (int[]){i},
                         .axis = a,
                         .centre = centre};
    status = add_constraint(b, &row);
  }
  return status;
}

/* --- shapes --- */

cb_status cb_builder_angle(cb_builder *b, const char *name, int i, int vertex, int j, cb_target angle) {
  cb_constraint row = {
      .class = &cb_constraint_angle, .name = name, .elements = 1, .width = 3, .particle = (int[]){i, vertex, j}};
  cb_status status = check_index(b, "angle", 3, row.particle);
  if (!status && !b->space->intrinsic) status = check_factors(b, "angle", CB_FACTOR_MAX);
  if (!status) status = check_range("angle", "value", angle, 0, pi);
  return status ? status : add(b, &row, angle);
}

static cb_status check_triangles(const cb_builder *b, const char *what, int n, const int (*triangle)[3]) {
  if (n < 1) return cb_fail(CB_ERROR_ARGUMENT, "%s: expected at least one triangle, found %d", what, n);
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
  cb_constraint row = {.class = &cb_constraint_area, .name = name, .elements = n, .width = 3, .particle = particle};
  status = add(b, &row, area);
  free(particle);
  return status;
}

static int by_ends(const void *a, const void *b) {
  const int *x = a, *y = b;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Is the surface closed and oriented? Every directed edge must occur once, and once in the opposite direction. */
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
      status = cb_fail(
          CB_ERROR_ARGUMENT,
          "volume: two triangles have the edge %d-%d in the same direction: expected consistently oriented triangles",
          edge[e][0], edge[e][1]);
  for (size_t e = 0; e < count && !status; e++)
    if (!bsearch((int[]){edge[e][1], edge[e][0]}, edge, count, sizeof *edge, by_ends))
      status = cb_fail(CB_ERROR_ARGUMENT,
                       "volume: the surface is not closed: edge %d-%d belongs to only one triangle, expected two",
                       edge[e][0], edge[e][1]);
  free(edge);
  return status;
}

/* Fails if, in S^n, a vertex is farther than a quarter of a great circle from the first one. */
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
  if (!status && !volume.expression && (isinf(volume.value) || volume.value == 0))
    status = cb_fail(CB_ERROR_ARGUMENT, "volume: value %g: expected a number other than 0", volume.value);
  if (status) return status;
  int *particle = malloc(4 * (size_t)n * sizeof *particle), first = triangle[0][0], elements = 0;
  if (!particle) return cb_fail(CB_ERROR_MEMORY, "no memory for %d triangles", n);
  for (int t = 0; t < n; t++) { /* tetrahedra of triangles at the first vertex have no volume */
    if (triangle[t][0] == first || triangle[t][1] == first || triangle[t][2] == first) continue;
    particle[4 * elements] = first;
    memcpy(particle + 4 * elements + 1, triangle[t], sizeof triangle[t]);
    elements++;
  }
  cb_constraint row = {
      .class = &cb_constraint_volume, .name = name, .elements = elements, .width = 4, .particle = particle};
  if (!elements)
    status =
        cb_fail(CB_ERROR_ARGUMENT,
                "volume: all triangles contain particle %d, so that the volume is 0: expected a closed surface", first);
  if (!status) status = add(b, &row, volume);
  free(particle);
  return status;
}

/* --- expressions --- */

/* Finds a chart by its name. If name is NULL, *found is the space's own chart, or the embedding in a space without a
 * chart. *row is the chart as a row stores it: NULL for the embedding. CB_ERROR_ARGUMENT if there is no such chart; for
 * a chart other than the space's own the errors of check_factors. */
static cb_status find_chart(const cb_builder *b, const char *what, const char *name, const cb_chart **found,
                            const cb_chart **row) {
  const cb_space *g = b->space;
  *found = name ? cb_chart_find(g, name) : g->chart ? g->chart : cb_chart_find(g, "embedding");
  if (!*found)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: the space has no chart '%s': `curvebody list spaces` lists its charts", what,
                   name ? name : "embedding");
  *row = *found == g->chart || strcmp((*found)->name, "embedding") ? *found : NULL;
  return *found == g->chart ? CB_OK : check_factors(b, what, CB_FACTOR_MAX);
}

cb_status cb_builder_surface(cb_builder *b, const char *name, int i, const char *chart, const char *expression) {
  cb_constraint row = {
      .class = &cb_constraint_surface, .name = name, .elements = 1, .width = 1, .particle = (int[]){i}};
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
    return cb_fail(CB_ERROR_ARGUMENT,
                   "surface: '%.40s' does not depend on the position: expected an expression of the coordinates",
                   expression);
  }
  return add_constraint(b, &row);
}

/* Names of the coordinates of n particles, x0, y0, ..., x1, ..., followed by t. */
static void number_names(const cb_chart *chart, int n, char text[][24], const char **names) {
  for (int i = 0; i < n * chart->size; i++) {
    snprintf(text[i], sizeof text[i], "%.8s%d", chart->coordinates[i % chart->size], i / chart->size);
    names[i] = text[i];
  }
  names[n * chart->size] = "t";
}

/* Parses the expressions of a velocity row into it. */
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
  if (!status) return add_constraint(b, row);
  cb_constraint_release(row);
  return status;
}

cb_status cb_builder_velocity_of(cb_builder *b, const char *name, int i, const char *const *coefficient,
                                 const char *equals, size_t *at) {
  const cb_chart *chart = b->space->chart;
  const char *names[K + 1];
  cb_constraint row = {.class = &cb_constraint_velocity,
                       .name = name,
                       .elements = 1,
                       .width = 1,
                       .particle = (int[]){i},
                       .chart = chart};
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
  cb_constraint row = {.class = &cb_constraint_velocity, .name = name, .elements = 1, .width = n, .particle = own};
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

cb_status cb_builder_knife_edge(cb_builder *b, const char *name, int i, int j) {
  cb_constraint row = {
      .class = &cb_constraint_knife_edge, .name = name, .elements = 1, .width = 2, .particle = (int[]){i, j}};
  cb_status status = check_index(b, "knife_edge", 2, row.particle);
  if (!status && !b->space->intrinsic) status = check_factors(b, "knife_edge", 1);
  if (!status && b->space->dim != 2)
    status = cb_fail(CB_ERROR_ARGUMENT, "knife_edge: expected a space of dimension 2, found %d", b->space->dim);
  return status ? status : add_constraint(b, &row);
}
