/* Reads the points of a scenario (space, shape variables, parameters, positions, masses and lines), and finds the group
 * of their space. */
#include "bundle/points.h"

#include "bundle/bundle_private.h"
#include "tree/scalar.h"

#include <math.h>
#include <string.h>

/* The groups of spaces of points, and their subgroups. Axes of a group are given as Killing fields, and its elements
 * act as isometries. */

enum { HOMOGENEOUS = -1, NAMES = 6 };

/* A group given by the names of its Killing fields in the order of its axes; "-" reverses the sign of a field. In a
 * curved space the fields boost_.. and rotation_w.., which have unit speed at the base point, are multiplied by the
 * radius of curvature R. `place` is as in cb_points. */
typedef struct row {
  int factors, dim[CB_FACTOR_MAX], sign[CB_FACTOR_MAX]; /* factors of the space: dimensions, signs of curvatures */
  const char *group, *axis[NAMES];
  int place[5];
} row;

#define SPACE_E2 \
  1, {2}, { 0 }
#define SPACE_E3 \
  1, {3}, { 0 }
#define SPACE_S2 \
  1, {2}, { 1 }
#define SPACE_S3 \
  1, {3}, { 1 }
#define SPACE_H2 \
  1, {2}, { -1 }
#define SPACE_H3 \
  1, {3}, { -1 }
#define SPACE_H2E \
  2, {2, 1}, { -1, 0 }
#define ROTATIONS "rotation_x", "rotation_y", "rotation_z"

/* The first row of each space is its complete group; its other rows are subgroups. */
static const row rows[] = {
    {SPACE_E2, "se2", {"translation_x", "translation_y", "rotation_z"}, {0, 1, HOMOGENEOUS}},
    {SPACE_E3, "se3", {ROTATIONS, "translation_x", "translation_y", "translation_z"}, {0, 1, 2, HOMOGENEOUS}},
    {SPACE_E3, "se2", {"translation_x", "translation_y", "rotation_z"}, {0, 1, HOMOGENEOUS}},
    {SPACE_E3, "so3", {ROTATIONS}, {0, 1, 2}},
    {SPACE_S2, "so3", {"-rotation_wy", "rotation_wx", "rotation_z"}, {0, 1, 2}},
    {SPACE_S3, "so4", {ROTATIONS, "rotation_wx", "rotation_wy", "rotation_wz"}, {0, 1, 2, 3}},
    {SPACE_S3, "so3", {"-rotation_wy", "rotation_wx", "rotation_z"}, {0, 1, 3}},
    {SPACE_S3, "so3", {ROTATIONS}, {0, 1, 2}},
    {SPACE_H2, "so21", {"boost_x", "boost_y", "rotation_z"}, {0, 1, 2}},
    {SPACE_H3, "so31", {ROTATIONS, "boost_x", "boost_y", "boost_z"}, {0, 1, 2, 3}},
    {SPACE_H3, "so21", {"boost_x", "boost_y", "rotation_z"}, {0, 1, 3}},
    {SPACE_H3, "so3", {ROTATIONS}, {0, 1, 2}},
    {SPACE_H2E, "h2e", {"boost_x", "boost_y", "rotation_z", "translation_z"}, {0, 1, 2, 3, HOMOGENEOUS}},
    {SPACE_H2E, "so21", {"boost_x", "boost_y", "rotation_z"}, {0, 1, 2}},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *bare(const char *axis) { return axis + (axis[0] == '-'); }

static bool is_of(const row *t, const cb_space *g) {
  if (g->intrinsic || t->factors != g->n_factors) return false;
  for (int f = 0; f < t->factors; f++) {
    const double K = g->factor[f].curvature;
    if (t->sign[f] != (K > 0) - (K < 0) || t->dim[f] != g->factor[f].count - (K != 0)) return false;
  }
  return true;
}

static void set_field(cb_points *p, int axis, int killing, double scale) {
  cb_killing *field = &p->field[axis];
  *field = p->space->killing[killing];
  p->killing[axis] = killing;
  p->field_size[axis] = p->shift_size[axis] = 0;
  for (int i = 0; i < CB_COORD_MAX; i++) {
    field->b[i] *= scale;
    p->shift_size[axis] += field->b[i] * field->b[i];
    for (int j = 0; j < CB_COORD_MAX; j++) {
      field->a[i][j] *= scale;
      p->field_size[axis] += field->a[i][j] * field->a[i][j];
    }
  }
}

static const cb_group *take_row(cb_points *p, const row *t) {
  const cb_group *G = cb_group_find(t->group);
  const double K = p->space->factor[0].curvature, R = K == 0 ? 1 : 1 / sqrt(fabs(K));
  for (int k = 0; k < G->dim; k++) {
    const char *name = bare(t->axis[k]);
    const bool shift = !strncmp(name, "boost", 5) || !strncmp(name, "rotation_w", 10);
    set_field(p, k, cb_killing_find(p->space, name), (t->axis[k][0] == '-' ? -1 : 1) * (shift ? R : 1));
  }
  p->dim = G->dim;
  p->place = t->place;
  return G;
}

/* --- subgroups --- */

/* Finds the index of a Killing field by its name. shift_x stands for translation_x, boost_x or rotation_wx, whichever
 * the space has. */
static int find_axis(const cb_space *g, const char *text) {
  static const char *const kinds[] = {"translation_", "boost_", "rotation_w"};
  const int index = cb_killing_find(g, text);
  if (index >= 0 || strncmp(text, "shift_", 6)) return index;
  for (int i = 0; i < 3; i++) {
    char name[32];
    strcpy(name, kinds[i]);
    strncat(name, text + 6, 8);
    const int found = cb_killing_find(g, name);
    if (found >= 0) return found;
  }
  return -1;
}

static bool commute(const cb_killing *X, const cb_killing *Y) {
  for (int i = 0; i < CB_COORD_MAX; i++) {
    double shift = 0;
    for (int j = 0; j < CB_COORD_MAX; j++) {
      double sum = 0;
      for (int k = 0; k < CB_COORD_MAX; k++) sum += X->a[i][k] * Y->a[k][j] - Y->a[i][k] * X->a[k][j];
      shift += X->a[i][j] * Y->b[j] - Y->a[i][j] * X->b[j];
      if (sum != 0) return false;
    }
    if (shift != 0) return false;
  }
  return true;
}

static bool has_axes(const cb_points *p, const row *t, const int *killing, int n) {
  const cb_group *G = cb_group_find(t->group);
  if (G->dim != n) return false;
  for (int k = 0; k < n; k++) {
    bool found = false;
    for (int i = 0; i < n; i++) found = found || cb_killing_find(p->space, bare(t->axis[k])) == killing[i];
    if (!found) return false;
  }
  return true;
}

static cb_status read_axes(const cb_points *p, const cb_node *node, int *killing, int *n) {
  const cb_space *g = p->space;
  const char *names[CB_KILLING_MAX];
  if (node->kind != CB_NODE_LIST || node->count < 1 || node->count > (size_t)g->n_killing)
    return cb_node_fail(node, "group: expected a list of 1 to %d axes such as [%s]", g->n_killing, g->killing[0].name);
  for (int i = 0; i < g->n_killing; i++) names[i] = g->killing[i].name;
  for (*n = 0; *n < (int)node->count; ++*n) {
    const cb_node *item = node->items[*n];
    const char *text;
    const cb_status status = cb_node_string(item, &text);
    if (status) return status;
    killing[*n] = find_axis(g, text);
    if (killing[*n] < 0) return cb_fail_unknown(item, "axis", text, names, (size_t)g->n_killing);
    for (int i = 0; i < *n; i++)
      if (killing[i] == killing[*n]) return cb_node_fail(item, "group: the axis '%.40s' is listed twice", text);
  }
  return CB_OK;
}

static cb_status choose_subgroup(cb_points *p, const cb_node *node, const cb_group **group) {
  int killing[CB_KILLING_MAX], n = 0;
  const cb_status status = read_axes(p, node, killing, &n);
  if (status) return status;
  for (int i = 0; i < ROWS; i++)
    if (is_of(&rows[i], p->space) && has_axes(p, &rows[i], killing, n)) {
      *group = take_row(p, &rows[i]);
      return CB_OK;
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      const cb_killing *X = &p->space->killing[killing[i]], *Y = &p->space->killing[killing[j]];
      if (!commute(X, Y))
        return cb_node_fail(node, "group: %s and %s do not commute, and the axes are not those of se2, so3 or so21",
                            Y->name, X->name);
    }
  p->rn = cb_group_rn(n);
  for (int k = 0; k < n; k++) {
    set_field(p, k, killing[k], 1);
    p->rn.axis[k] = p->rn.number[k] = p->space->killing[killing[k]].name;
  }
  p->dim = n;
  p->place = NULL;
  *group = &p->rn;
  return CB_OK;
}

/* Chooses the group: the complete group of the space if `axes` is NULL, and otherwise the subgroup with these axes. */
static cb_status choose_group(cb_points *p, const cb_node *axes, const cb_group **group) {
  if (axes) return choose_subgroup(p, axes, group);
  for (int i = 0; i < ROWS; i++)
    if (is_of(&rows[i], p->space)) {
      *group = take_row(p, &rows[i]);
      return CB_OK;
    }
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "the isometries of space %s are not a supported group: expected space e2, e3, s2, s3, "
                 "h2, h3 or h2xe, or a `group` of axes that commute",
                 p->space->class_->name);
}

/* --- group elements as isometries --- */

void cb_points_isometry(const cb_bundle *b, const double *g, cb_isometry *out) {
  const cb_points *p = b->self;
  double m[25];
  cb_isometry_identity(p->space, out);
  if (!p->place) {
    for (int k = 0; k < p->dim; k++) {
      cb_isometry flow;
      cb_isometry_flow(p->space, p->killing[k], g[k], &flow);
      cb_isometry_compose(p->space, out, &flow, out);
    }
    return;
  }
  const int n = b->group->matrix(b->group, g, m);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (p->place[i] == HOMOGENEOUS) continue;
      if (p->place[j] == HOMOGENEOUS)
        out->b[p->place[i]] = m[i * n + j];
      else
        out->m[p->place[i]][p->place[j]] = m[i * n + j];
    }
}

static cb_status read_space(cb_points *p, const cb_points_params *given) {
  const cb_node *node = given->space, *named = node->kind == CB_NODE_MAP ? cb_node_get(node, "name") : node;
  const char *name;
  if (!named) return cb_node_fail(node, "space: missing key 'name'");
  cb_status status = cb_node_string(named, &name);
  if (!status) status = cb_space_create(name, node, &p->space);
  if (status) return status;
  const cb_space *g = p->space;
  if (g->intrinsic)
    return cb_node_fail(named, "space: expected a product of spheres, hyperbolic and flat factors, found %s", name);
  if (g->chart)
    return cb_node_fail(cb_node_get(node, "chart"), "space: expected no `chart`: set `chart` of the bundle instead");
  return CB_OK;
}

static cb_status read_chart(cb_points *p, const cb_node *node) {
  const cb_space *g = p->space;
  const char *name;
  char list[160] = "";
  const cb_status status = cb_node_string(node, &name);
  if (status) return status;
  p->chart = cb_chart_find(g, name);
  if (p->chart && cb_points_knows(p->chart)) return CB_OK;
  for (size_t i = 0; i < cb_chart_count(g); i++) {
    const cb_chart *chart = cb_chart_at(g, i);
    if (!cb_points_knows(chart)) continue;
    strncat(list, list[0] ? ", " : "", sizeof list - strlen(list) - 1);
    strncat(list, chart->name, sizeof list - strlen(list) - 1);
  }
  return cb_node_fail(node, "chart: expected one of %s, found '%.40s'", list, name);
}

static cb_status read_point(cb_points *p, const cb_bundle_names *s, const cb_node *node, int m) {
  static const char *const keys[] = {"mass", "at"};
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "points: expected {mass: ..., at: [...]}");
  cb_status status = cb_node_check_keys(node, keys, 2);
  if (status) return status;
  const cb_node *mass = cb_node_get(node, "mass"), *at = cb_node_get(node, "at");
  if (!mass || !at) return cb_node_fail(node, "points: missing key '%s'", mass ? "at" : "mass");
  status = cb_bundle_read_number(s, mass, "mass", &p->mass[m]);
  if (status) return status;
  if (!(p->mass[m] > 0)) return cb_node_fail(mass, "mass: expected a number > 0, found %g", p->mass[m]);
  p->point[m].mass = p->mass[m];
  if (at->kind != CB_NODE_LIST || at->count != (size_t)p->chart->size)
    return cb_node_fail(at, "at: expected a list of %d coordinates in the chart %s of space %s", p->chart->size,
                        p->chart->name, p->space->class_->name);
  for (int c = 0; c < p->chart->size && !status; c++)
    status =
        cb_bundle_read_expression(s, at->items[c], p->chart->coordinates[c], s->name, s->shape, &p->point[m].at[c]);
  return status;
}

static cb_status read_points(cb_points *p, const cb_bundle_names *s, const cb_node *node) {
  enum { MAXIMUM = 100000 };
  if (node->kind != CB_NODE_LIST || node->count < 1 || node->count > MAXIMUM)
    return cb_node_fail(node, "points: expected a list of at least one {mass: ..., at: [...]}");
  p->point = cb_arena_alloc(p->arena, node->count, sizeof *p->point);
  p->mass = cb_arena_alloc(p->arena, node->count, sizeof *p->mass);
  if (!p->point || !p->mass) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu points", node->count);
  p->points = (int)node->count;
  cb_status status = CB_OK;
  for (int m = 0; m < p->points && !status; m++) status = read_point(p, s, node->items[m], m);
  return status;
}

static cb_status read_lines(cb_bundle *b, const cb_points *p, const cb_node *node) {
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_LIST)
    return cb_node_fail(node, "lines: expected a list of pairs of points, counted from 0");
  int(*line)[2] = cb_arena_alloc(p->arena, node->count, sizeof *line);
  if (!line) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu lines", node->count);
  for (size_t i = 0; i < node->count; i++) {
    const cb_node *pair = node->items[i];
    if (pair->kind != CB_NODE_LIST || pair->count != 2)
      return cb_node_fail(pair, "lines: expected a pair of points, counted from 0");
    for (int e = 0; e < 2; e++) {
      long long index;
      const cb_status status = cb_node_int(pair->items[e], &index);
      if (status) return status;
      if (index < 0 || index >= p->points)
        return cb_node_fail(pair->items[e], "lines: expected a point from 0 to %d, found %lld", p->points - 1, index);
      line[i][e] = (int)index;
    }
  }
  b->lines = (int)node->count;
  b->line = (const int(*)[2])line;
  return CB_OK;
}

cb_status cb_points_read(cb_bundle *b, cb_points *p, const cb_points_params *given) {
  cb_bundle_names s = {.count = 0};
  cb_status status = read_space(p, given);
  if (!status) status = read_chart(p, given->chart);
  if (!status) status = cb_bundle_read_shape(&s, given->shape, CB_JET_MAX);
  if (!status) status = cb_bundle_read_parameters(&s, given->parameters);
  if (!status) status = cb_bundle_read_periods(&s, given->period, b->period);
  if (!status) status = read_points(p, &s, given->points);
  if (!status) status = read_lines(b, p, given->lines);
  if (!status) status = choose_group(p, given->group, &b->group);
  if (status) return status;
  b->n = p->n = s.shape;
  b->points = p->points;
  for (int i = 0; i < b->n; i++) {
    b->shape[i] = cb_arena_strdup(p->arena, s.name[i]);
    if (!b->shape[i]) return cb_fail(CB_ERROR_MEMORY, "no memory for names");
  }
  return CB_OK;
}

void cb_points_free(cb_points *p) {
  if (!p) return;
  for (int m = 0; m < p->points; m++)
    for (int c = 0; c < CB_COORD_MAX; c++) cb_expression_free(p->point[m].at[c]);
  cb_space_free(p->space);
  cb_arena_free(p->arena);
}
