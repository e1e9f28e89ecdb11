/* Gaits of a scenario. See scenario_gait.h. */
#include "scenario/gait.h"

#include "core/errors.h"
#include "tree/scalar.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gait_parameters {
  const cb_node *fourier, *polygon, *spline, *samples, *arcs, *expressions, *sequence, *loop;
  const cb_node *breaks, *at, *pace, *offset, *scale;
  bool reversed;
  double start, period;
  int repeat;
} gait_parameters;

#define NODE(field, doc) \
  { #field, CB_PARAM_NODE, offsetof(gait_parameters, field), "", "", "", NULL, doc }
const cb_param cb_gait_table[] = {
    NODE(fourier, "{mean: [..], cosine: [[..], ..], sine: [[..], ..]}: rows of harmonics 1, 2, .."),
    NODE(polygon, "{corners: [[..], ..]}: straight sides, at one speed"),
    NODE(spline, "{points: [[..], ..], times: [..]}: the periodic cubic; times in [0, 1), even where absent"),
    NODE(samples, "{points: [[..], ..], times: [..]}: the same at given times"),
    NODE(arcs,
         "{ends: [0, .., 1], points: [[[..], ..], ..]}: on each arc the polynomial through its points, which stand at "
         "the times (1 - cos(pi*j/d))/2 of it, j = 0 .. d"),
    NODE(expressions, "{VARIABLE: \"..\", ..} of t in [0, 1]"),
    NODE(sequence, "list of gaits that begin at one shape, each in the same time"),
    NODE(loop, "a shape variable that has a period, once round"),
    NODE(breaks, "of `expressions`: times in [0, 1) where a derivative jumps, ascending"),
    NODE(at, "of `loop`: the shape that it begins at (default 0)"),
    {"reversed", CB_PARAM_BOOL, offsetof(gait_parameters, reversed), "false", "", "", NULL, "run backwards"},
    {"start", CB_PARAM_REAL, offsetof(gait_parameters, start), "0", "", "[0, 1]", NULL,
     "part of the cycle at which it begins"},
    NODE(pace, "s(t), s(0) = 0, s(1) = 1, s' > 0: the same path in another time"),
    NODE(offset, "list, one a variable: r is offset + scale times what the gait is"),
    NODE(scale, "a number, or a list, one a variable"),
    {"repeat", CB_PARAM_INT, offsetof(gait_parameters, repeat), "1", "", ">= 1", NULL, "number of cycles"},
    {"period", CB_PARAM_REAL, offsetof(gait_parameters, period), "1", "s", "> 0", NULL, "of a cycle"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status read_one(const cb_bundle *b, const cb_node *map, int *repeat, double *period, cb_gait **out);

/* --- kinds --- */

static cb_status parse(const cb_node *node, cb_expression **out) {
  static const char *const time[] = {"t"};
  return cb_node_expression(node, &(cb_expression_scope){.names = time, .n = 1}, out);
}

static int find(const cb_bundle *b, const char *name) {
  int i = 0;
  while (i < b->n && strcmp(b->shape[i], name)) i++;
  return i < b->n ? i : -1;
}

static cb_status unknown_variable(const cb_bundle *b, const cb_node *node) {
  return cb_fail_unknown(node, "shape variable", node->text, b->shape, (size_t)b->n);
}

static cb_status read_expressions(const cb_bundle *b, const cb_node *map, const cb_node *breaks, cb_gait **out) {
  cb_expression *r[CB_SHAPE_MAX] = {0};
  if (map->kind != CB_NODE_MAP)
    return cb_node_fail(map, "expected a map of expressions of t, one a shape variable (%s)", cb_gait_names_of(b).text);
  double *t = NULL;
  int count = 0;
  cb_errors errors = cb_errors_begin();
  for (size_t k = 0; k < map->count; k++)
    if (find(b, map->keys[k]->text) < 0) cb_errors_add(&errors, map->keys[k], unknown_variable(b, map->keys[k]));
  cb_errors_add(&errors, breaks, cb_gait_read_times(breaks, "breaks", &t, &count));
  for (int i = 0; i < b->n; i++) {
    const cb_node *given = cb_node_get(map, b->shape[i]);
    if (given)
      cb_errors_add(&errors, given, parse(given, &r[i]));
    else if (!errors.status) /* one that is unknown may stand for it */
      cb_errors_add(&errors, map,
                    cb_node_fail(map, "the shape variable `%s` is missing: expected an expression of t", b->shape[i]));
  }
  cb_status status = cb_errors_end(&errors);
  if (!status) status = cb_gait_placed(cb_gait_expressions(b->n, (const cb_expression *const *)r, count, t, out), map);
  for (int i = 0; i < b->n; i++) cb_expression_free(r[i]);
  free(t);
  return status;
}

static cb_status read_loop(const cb_bundle *b, const cb_node *node, const cb_node *at, cb_gait **out) {
  double from[CB_SHAPE_MAX] = {0};
  const char *name;
  cb_status status = cb_node_string(node, &name);
  if (!status && at) status = cb_gait_read_shape(b, at, "at", from);
  if (status) return status;
  const int turning = find(b, name);
  if (turning < 0) return unknown_variable(b, node);
  if (!(b->period[turning] > 0))
    return cb_node_fail(node, "`%s` has no period to go round; expected a variable that is an angle or a phase", name);
  return cb_gait_placed(cb_gait_loop(b->n, turning, from, b->period[turning], out), node);
}

static cb_status read_sequence(const cb_bundle *b, const cb_node *list, cb_gait **out) {
  if (list->kind != CB_NODE_LIST || list->count == 0)
    return cb_node_fail(list, "expected a list of gaits, such as [{polygon: {corners: ..}}, {fourier: ..}]");
  const int count = (int)list->count;
  cb_gait **part = calloc(list->count, sizeof *part);
  if (!part) return cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", count);
  cb_errors errors = cb_errors_begin();
  for (int k = 0; k < count; k++)
    cb_errors_add(&errors, list->items[k], read_one(b, list->items[k], NULL, NULL, &part[k]));
  cb_status status = cb_errors_end(&errors);
  if (!status) status = cb_gait_placed(cb_gait_sequence(count, (const cb_gait *const *)part, out), list);
  for (int k = 0; k < count; k++) cb_gait_free(part[k]);
  free(part);
  return status;
}

/* --- what stands beside a kind --- */

/* g becomes what was made of it, and what it was is freed. */
static cb_status become(cb_status status, const cb_node *node, cb_gait *const *made, cb_gait **g) {
  if (status) return cb_gait_placed(status, node);
  cb_gait_free(*g);
  *g = *made;
  return CB_OK;
}

static cb_status move(const cb_bundle *b, const gait_parameters *p, cb_gait **g) {
  double offset[CB_SHAPE_MAX] = {0}, scale[CB_SHAPE_MAX];
  cb_gait *made = NULL;
  cb_status status = CB_OK;
  for (int i = 0; i < b->n; i++) scale[i] = 1;
  cb_errors errors = cb_errors_begin();
  if (p->offset) cb_errors_add(&errors, p->offset, cb_gait_read_shape(b, p->offset, "offset", offset));
  if (p->scale && p->scale->kind == CB_NODE_LIST) {
    status = cb_gait_read_shape(b, p->scale, "scale", scale);
  } else if (p->scale) {
    status = cb_scalar_real(p->scale, "scale", "", &scale[0]);
    for (int i = 1; i < b->n; i++) scale[i] = scale[0];
  }
  cb_errors_add(&errors, p->scale, status);
  status = cb_errors_end(&errors);
  return status || !*g ? status
                       : become(cb_gait_moved(*g, scale, offset, &made), p->scale ? p->scale : p->offset, &made, g);
}

static cb_status pace(const gait_parameters *p, cb_gait **g) {
  cb_expression *s;
  cb_gait *made = NULL;
  cb_status status = parse(p->pace, &s);
  if (status) return status;
  if (*g) status = become(cb_gait_paced(*g, s, &made), p->pace, &made, g);
  cb_expression_free(s);
  return status;
}

/* *g is NULL where the kind has failed. */
static cb_status read_beside(const cb_bundle *b, const cb_node *map, const gait_parameters *p, cb_gait **g) {
  const cb_node *start = cb_node_get(map, "start"), *reversed = cb_node_get(map, "reversed");
  cb_gait *made = NULL;
  cb_errors errors = cb_errors_begin();
  if (p->offset || p->scale) cb_errors_add(&errors, map, move(b, p, g));
  if (*g && p->start > 0) cb_errors_add(&errors, start, become(cb_gait_shifted(*g, p->start, &made), start, &made, g));
  if (*g && p->reversed) cb_errors_add(&errors, reversed, become(cb_gait_reversed(*g, &made), reversed, &made, g));
  if (p->pace) cb_errors_add(&errors, p->pace, pace(p, g));
  return cb_errors_end(&errors);
}

static cb_status one_kind(const cb_node *map, const gait_parameters *p, const cb_node **out) {
  static const char *const kinds[] = {"fourier", "polygon",     "spline",   "samples",
                                      "arcs",    "expressions", "sequence", "loop"};
  const cb_node *const given[] = {p->fourier, p->polygon,     p->spline,   p->samples,
                                  p->arcs,    p->expressions, p->sequence, p->loop};
  const size_t count = sizeof kinds / sizeof *kinds;
  size_t found = count;
  for (size_t k = 0; k < count; k++) {
    if (!given[k]) continue;
    if (found < count)
      return cb_node_fail(given[k], "`%s` beside `%s`: expected one kind of gait", kinds[k], kinds[found]);
    found = k;
  }
  if (found == count)
    return cb_node_fail(
        map, "expected a kind of gait: fourier, polygon, spline, samples, arcs, expressions, sequence or loop");
  *out = given[found];
  return CB_OK;
}

/* part: of a sequence. */
static cb_status check_beside(const cb_node *map, const gait_parameters *p, bool part) {
  static const char *const whole[] = {"repeat", "period"};
  cb_errors errors = cb_errors_begin();
  if (p->breaks && !p->expressions)
    cb_errors_add(&errors, p->breaks, cb_node_fail(p->breaks, "`breaks` belongs to `expressions`"));
  if (p->at && !p->loop) cb_errors_add(&errors, p->at, cb_node_fail(p->at, "`at` belongs to `loop`"));
  for (int i = 0; i < 2 && part; i++) {
    const cb_node *given = cb_node_get(map, whole[i]);
    if (given)
      cb_errors_add(&errors, given, cb_node_fail(given, "`%s` belongs to the whole gait, not to a part", whole[i]));
  }
  return cb_errors_end(&errors);
}

static cb_status read_kind(const cb_bundle *b, const cb_node *kind, const gait_parameters *p, cb_gait **g) {
  return p->fourier       ? cb_gait_read_fourier(b, kind, g)
         : p->polygon     ? cb_gait_read_polygon(b, kind, g)
         : p->spline      ? cb_gait_read_points(b, kind, false, g)
         : p->samples     ? cb_gait_read_points(b, kind, true, g)
         : p->arcs        ? cb_gait_read_arcs(b, kind, g)
         : p->expressions ? read_expressions(b, kind, p->breaks, g)
         : p->sequence    ? read_sequence(b, kind, g)
                          : read_loop(b, kind, p->at, g);
}

static cb_status read_one(const cb_bundle *b, const cb_node *map, int *repeat, double *period, cb_gait **out) {
  gait_parameters p;
  const cb_node *kind = NULL;
  cb_gait *g = NULL;
  if (map->kind != CB_NODE_MAP)
    return cb_node_fail(map, "expected a gait: a map such as {polygon: {corners: [..]}}, found %s",
                        cb_node_found(map).text);
  cb_errors errors = cb_errors_begin();
  const cb_status bound = cb_errors_add(&errors, map, cb_params_bind(cb_gait_table, map, map, NULL, 0, &p));
  if (bound) cb_params_bind_right(cb_gait_table, map, &p);
  cb_status status = one_kind(map, &p, &kind);
  /* where none is known, it may be the one that is misspelt */
  if (kind || !bound) cb_errors_add(&errors, map, status);
  cb_errors_add(&errors, map, check_beside(map, &p, !repeat));
  if (kind) cb_errors_add(&errors, kind, read_kind(b, kind, &p, &g));
  cb_errors_add(&errors, map, read_beside(b, map, &p, &g));
  if ((status = cb_errors_end(&errors))) return cb_gait_free(g), status;
  if (repeat) *repeat = p.repeat, *period = p.period;
  *out = g;
  return CB_OK;
}

cb_status cb_gait_read(const cb_bundle *b, const cb_node *map, int *repeat, double *period, cb_gait **out) {
  return read_one(b, map, repeat, period, out);
}
