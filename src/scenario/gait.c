/* Gaits of a scenario: the classes of gait for the key `gait:` itself and for the parts of a sequence. */
#include "scenario/bundle_scenario.h"
#include "core/failure.h"
#include "tree/scalar.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of the shape variables, such as "alpha1, alpha2". */
typedef struct cb_gait_names {
  char text[256];
} cb_gait_names;

/* --- gaits that are lists of numbers: harmonics, corners, points --- */

/* --- lists of numbers --- */

static cb_gait_names names_of(const cb_bundle *b) {
  cb_gait_names out = {""};
  size_t used = 0;
  for (int i = 0; i < b->n && used < sizeof out.text; i++)
    used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%s", i ? ", " : "", b->shape[i]);
  return out;
}

cb_status cb_gait_read_shape(const cb_bundle *b, const cb_node *list, const char *what, double *r) {
  if (!list || list->kind != CB_NODE_LIST || list->count != (size_t)b->n) {
    char found[64];
    if (list && list->kind == CB_NODE_LIST)
      snprintf(found, sizeof found, "%zu", list->count);
    else
      snprintf(found, sizeof found, "%s", cb_node_found(list).text);
    return cb_node_fail(list, "%s: expected a list of %d number%s, one per shape variable (%s), found %s", what, b->n,
                        b->n == 1 ? "" : "s", names_of(b).text, found);
  }
  return cb_node_reals(list, (size_t)b->n, r);
}

/* Reads a list of shapes into r[count][n], from malloc; NULL if the list is absent. */
static cb_status read_rows(const cb_bundle *b, const cb_node *list, const char *what, double **r, int *count) {
  *r = NULL;
  *count = 0;
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST || list->count == 0)
    return cb_node_fail(list, "expected a list of %ss, each a list of %d number%s, one per shape variable (%s)", what,
                        b->n, b->n == 1 ? "" : "s", names_of(b).text);
  const size_t n = (size_t)b->n;
  double *rows = malloc(list->count * n * sizeof *rows);
  if (!rows) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu %ss", list->count, what);
  cb_errors errors = cb_errors_begin();
  for (size_t k = 0; k < list->count; k++) {
    char name[32];
    snprintf(name, sizeof name, "%s %zu", what, k + 1);
    cb_errors_add(&errors, list->items[k], cb_gait_read_shape(b, list->items[k], name, rows + k * n));
  }
  const cb_status status = cb_errors_end(&errors);
  if (status) {
    free(rows);
    return status;
  }
  *r = rows;
  *count = (int)list->count;
  return CB_OK;
}

static cb_status read_times(const cb_node *list, const char *what, double **out, int *count) {
  *out = NULL;
  *count = 0;
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST) return cb_node_fail(list, "%s: expected a list of times in [0, 1]", what);
  double *t = malloc((list->count ? list->count : 1) * sizeof *t);
  if (!t) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu times", list->count);
  cb_status status = cb_node_reals(list, list->count, t);
  for (size_t k = 0; k < list->count && !status; k++) {
    if (!(t[k] >= 0 && t[k] <= 1))
      status =
          cb_node_fail(list->items[k], "%s: expected times in [0, 1], as fractions of the cycle, found %g", what, t[k]);
    else if (k && !(t[k] > t[k - 1]))
      status = cb_node_fail(list->items[k], "%s: expected ascending times, found %g after %g", what, t[k], t[k - 1]);
  }
  if (status) {
    free(t);
    return status;
  }
  *out = t;
  *count = (int)list->count;
  return CB_OK;
}

/* --- classes of gait --- */

static cb_status placed(cb_status status, const cb_node *node) {
  const bool of_input =
      status == CB_ERROR_ARGUMENT || status == CB_ERROR_DOMAIN || status == CB_ERROR_INPUT || status > 0;
  return of_input && !cb_failure_last().placed ? cb_node_fail(node, "%s", cb_error_text()) : status;
}

static cb_status read_fourier(const cb_bundle *b, const cb_node *map, cb_gait **out) {
  static const char *const keys[] = {"mean", "cosine", "sine"};
  const int n = b->n;
  const cb_node *mean = cb_node_get(map, "mean"), *cosine = cb_node_get(map, "cosine"),
                *sine = cb_node_get(map, "sine");
  double a0[CB_SHAPE_MAX] = {0}, *a = NULL, *s = NULL;
  int cosines = 0, sines = 0;
  cb_status status = cb_node_check_keys(map, keys, 3);
  if (!status && !cosine && !sine) return cb_node_fail(map, "expected `cosine` or `sine`: lists of harmonics 1, 2, ..");
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  if (mean) cb_errors_add(&errors, mean, cb_gait_read_shape(b, mean, "mean", a0));
  cb_errors_add(&errors, cosine, read_rows(b, cosine, "harmonic", &a, &cosines));
  cb_errors_add(&errors, sine, read_rows(b, sine, "harmonic", &s, &sines));
  status = cb_errors_end(&errors);
  const int maximum = cosines > sines ? cosines : sines;
  double *both = status ? NULL : calloc(2 * (size_t)maximum * (size_t)n, sizeof *both);
  if (!status && !both) status = cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d harmonics", maximum);
  if (!status) {
    double *c = both, *d = both + maximum * n;
    if (a) memcpy(c, a, (size_t)(cosines * n) * sizeof *c);
    if (s) memcpy(d, s, (size_t)(sines * n) * sizeof *d);
    status = placed(cb_gait_fourier(n, maximum, a0, c, d, out), map);
  }
  free(a);
  free(s);
  free(both);
  return status;
}

static cb_status read_polygon(const cb_bundle *b, const cb_node *map, cb_gait **out) {
  static const char *const keys[] = {"corners"};
  const cb_node *list = cb_node_get(map, "corners");
  double *r;
  int count;
  cb_status status = cb_node_check_keys(map, keys, 1);
  if (!status && !list) return cb_node_fail(map, "expected `corners`, a list of shapes");
  if (!status) status = read_rows(b, list, "corner", &r, &count);
  if (status) return status;
  status = count < 2 ? cb_node_fail(list, "expected at least 2 corners, found %d", count)
                     : placed(cb_gait_polygon(b->n, count, r, out), list);
  free(r);
  return status;
}

static cb_status read_points(const cb_bundle *b, const cb_node *map, bool timed, cb_gait **out) {
  static const char *const keys[] = {"points", "times"};
  const cb_node *list = cb_node_get(map, "points"), *times = cb_node_get(map, "times");
  double *r = NULL, *t = NULL;
  int count = 0, given = 0;
  cb_status status = cb_node_check_keys(map, keys, 2);
  if (!status && !list) return cb_node_fail(map, "expected `points`, a list of shapes");
  if (!status && timed && !times) return cb_node_fail(map, "expected `times` of the points in [0, 1]");
  if (!status) status = read_rows(b, list, "point", &r, &count);
  if (!status) status = read_times(times, "times", &t, &given);
  if (!status && times && given != count)
    status = cb_node_fail(times, "expected %d times, one per point, found %d", count, given);
  if (!status && count < 3) status = cb_node_fail(list, "expected at least 3 points, found %d", count);
  if (!status) {
    status = placed(cb_gait_spline(b->n, count, t, r, out), list);
  }
  free(r);
  free(t);
  return status;
}

/* Reads the end times of arcs, ascending from 0 to 1, one more than there are arcs, into t from malloc. The caller
 * frees *t, also after a failure. */
static cb_status read_ends(const cb_node *map, size_t arcs, double **t) {
  const cb_node *ends = cb_node_get(map, "ends");
  int count;
  if (!ends) return cb_node_fail(map, "expected `ends` of the arcs, times from 0 to 1");
  cb_status status = read_times(ends, "ends", t, &count);
  if (status) return status;
  if ((size_t)count != arcs + 1)
    status = cb_node_fail(ends, "ends: expected %zu times for %zu arc%s, one more than arcs, found %d", arcs + 1, arcs,
                          arcs == 1 ? "" : "s", count);
  else if ((*t)[0] != 0 || (*t)[arcs] != 1)
    status = cb_node_fail(ends, "expected ends from 0 to 1, found %g to %g", (*t)[0], (*t)[arcs]);
  return status;
}

/* Reads the points of the arcs, at least 2 and equally many on each arc, into r[arcs][points][n], from malloc. The
 * caller frees *r, also after a failure. */
static cb_status read_arc_points(const cb_bundle *b, const cb_node *list, double **r, int *points) {
  if (list->kind != CB_NODE_LIST || list->count == 0)
    return cb_node_fail(list, "expected a list of arcs, each a list of at least 2 shapes");
  cb_status status = CB_OK;
  cb_errors errors = cb_errors_begin();
  for (size_t k = 0; k < list->count && status != CB_ERROR_MEMORY; k++) {
    const cb_node *arc = list->items[k];
    double *rows = NULL;
    int count = 0;
    status = read_rows(b, arc, "point", &rows, &count);
    if (!status && count < 2) status = cb_node_fail(arc, "expected at least 2 points on an arc, found %d", count);
    if (!status && !*r) {
      *points = count;
      *r = calloc(list->count * (size_t)(count * b->n), sizeof **r);
      if (!*r) status = cb_fail(CB_ERROR_MEMORY, "no memory for %zu arcs", list->count);
    }
    if (!status && count != *points)
      status = cb_node_fail(arc, "expected %d points, the same number as on the other arcs, found %d", *points, count);
    if (!status) memcpy(*r + k * (size_t)(count * b->n), rows, (size_t)(count * b->n) * sizeof *rows);
    cb_errors_add(&errors, arc, status);
    free(rows);
  }
  return cb_errors_end(&errors);
}

static cb_status read_arcs(const cb_bundle *b, const cb_node *map, cb_gait **out) {
  static const char *const keys[] = {"ends", "points"};
  const cb_node *list = cb_node_get(map, "points");
  double *r = NULL, *t = NULL;
  int points = 0;
  cb_status status = cb_node_check_keys(map, keys, 2);
  if (!status && !list) return cb_node_fail(map, "expected `points`, a list of arcs");
  if (!status) {
    cb_errors errors = cb_errors_begin();
    if (list->kind == CB_NODE_LIST) cb_errors_add(&errors, map, read_ends(map, list->count, &t));
    cb_errors_add(&errors, list, read_arc_points(b, list, &r, &points));
    status = cb_errors_end(&errors);
  }
  if (!status) status = placed(cb_gait_arcs(b->n, (int)list->count, t, points - 1, r, out), list);
  free(r);
  free(t);
  return status;
}

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
    NODE(polygon, "{corners: [[..], ..]}: straight sides, at constant speed"),
    NODE(spline,
         "{points: [[..], ..], times: [..]}: the periodic cubic spline; times in [0, 1), equally spaced if absent"),
    NODE(samples, "{points: [[..], ..], times: [..]}: the periodic cubic spline at given times"),
    NODE(arcs,
         "{ends: [0, .., 1], points: [[[..], ..], ..]}: on each arc a polynomial through its points, at the times "
         "(1 - cos(pi*j/d))/2 of the arc, j = 0 .. d"),
    NODE(expressions, "{VARIABLE: \"..\", ..} of t in [0, 1]"),
    NODE(sequence, "list of gaits that begin at the same shape and have equal durations"),
    NODE(loop, "name of a periodic shape variable that moves through one period"),
    NODE(breaks, "with `expressions`: times in [0, 1) at which a derivative jumps, ascending"),
    NODE(at, "with `loop`: the shape at which the gait begins (default 0)"),
    {"reversed", CB_PARAM_BOOL, offsetof(gait_parameters, reversed), "false", "", "", NULL, "true: runs backwards"},
    {"start", CB_PARAM_REAL, offsetof(gait_parameters, start), "0", "", "[0, 1]", NULL,
     "fraction of the cycle at which the gait begins"},
    NODE(pace, "s(t) with s(0) = 0, s(1) = 1, s' > 0: the same path with another pace"),
    NODE(offset, "list, one per variable: r is offset + scale times the gait"),
    NODE(scale, "a number, or a list, one per variable"),
    {"repeat", CB_PARAM_INT, offsetof(gait_parameters, repeat), "1", "", ">= 1", NULL, "number of cycles"},
    {"period", CB_PARAM_REAL, offsetof(gait_parameters, period), "1", "s", "> 0", NULL, "duration of a cycle"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status read_one(const cb_bundle *b, const cb_node *map, int *repeat, double *period, cb_gait **out);

/* --- classes of gait --- */

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
    return cb_node_fail(map, "expected a map of expressions of t, one per shape variable (%s)", names_of(b).text);
  double *t = NULL;
  int count = 0;
  cb_errors errors = cb_errors_begin();
  for (size_t k = 0; k < map->count; k++)
    if (find(b, map->keys[k]->text) < 0) cb_errors_add(&errors, map->keys[k], unknown_variable(b, map->keys[k]));
  cb_errors_add(&errors, breaks, read_times(breaks, "breaks", &t, &count));
  for (int i = 0; i < b->n; i++) {
    const cb_node *given = cb_node_get(map, b->shape[i]);
    if (given)
      cb_errors_add(&errors, given, parse(given, &r[i]));
    else if (!errors.status) /* an unknown key may be the misspelt name of the variable */
      cb_errors_add(&errors, map,
                    cb_node_fail(map, "the shape variable `%s` is missing: expected an expression of t", b->shape[i]));
  }
  cb_status status = cb_errors_end(&errors);
  if (!status) status = placed(cb_gait_expressions(b->n, (const cb_expression *const *)r, count, t, out), map);
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
    return cb_node_fail(node, "`%s` is not periodic; expected a variable that is an angle or a phase", name);
  return placed(cb_gait_loop(b->n, turning, from, b->period[turning], out), node);
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
  if (!status) status = placed(cb_gait_sequence(count, (const cb_gait *const *)part, out), list);
  for (int k = 0; k < count; k++) cb_gait_free(part[k]);
  free(part);
  return status;
}

/* --- keys next to the class of gait --- */

/* If status is CB_OK, replaces *g by *made, a gait that was made from *g, and frees the old one; otherwise reports the
 * failure at node. */
static cb_status become(cb_status status, const cb_node *node, cb_gait *const *made, cb_gait **g) {
  if (status) return placed(status, node);
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

/* Applies the keys next to the class (offset, scale, start, reversed, pace) to *g, which is NULL if the class of gait
 * could not be read. */
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
      return cb_node_fail(given[k], "`%s` next to `%s`: expected only one kind of gait", kinds[k], kinds[found]);
    found = k;
  }
  if (found == count)
    return cb_node_fail(
        map, "expected a kind of gait: fourier, polygon, spline, samples, arcs, expressions, sequence or loop");
  *out = given[found];
  return CB_OK;
}

/* Checks that the keys next to the class apply to it. part: this gait is a part of a sequence. */
static cb_status check_beside(const cb_node *map, const gait_parameters *p, bool part) {
  static const char *const whole[] = {"repeat", "period"};
  cb_errors errors = cb_errors_begin();
  if (p->breaks && !p->expressions)
    cb_errors_add(&errors, p->breaks, cb_node_fail(p->breaks, "`breaks` applies only to `expressions`"));
  if (p->at && !p->loop) cb_errors_add(&errors, p->at, cb_node_fail(p->at, "`at` applies only to `loop`"));
  for (int i = 0; i < 2 && part; i++) {
    const cb_node *given = cb_node_get(map, whole[i]);
    if (given)
      cb_errors_add(&errors, given,
                    cb_node_fail(given, "`%s` applies only to the complete gait, not to a part", whole[i]));
  }
  return cb_errors_end(&errors);
}

static cb_status read_kind(const cb_bundle *b, const cb_node *kind, const gait_parameters *p, cb_gait **g) {
  return p->fourier       ? read_fourier(b, kind, g)
         : p->polygon     ? read_polygon(b, kind, g)
         : p->spline      ? read_points(b, kind, false, g)
         : p->samples     ? read_points(b, kind, true, g)
         : p->arcs        ? read_arcs(b, kind, g)
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
  /* if the class of gait is unknown, an unknown key may be its misspelt name */
  if (kind || !bound) cb_errors_add(&errors, map, status);
  cb_errors_add(&errors, map, check_beside(map, &p, !repeat));
  if (kind) cb_errors_add(&errors, kind, read_kind(b, kind, &p, &g));
  cb_errors_add(&errors, map, read_beside(b, map, &p, &g));
  if ((status = cb_errors_end(&errors))) {
    cb_gait_free(g);
    return status;
  }
  if (repeat) {
    *repeat = p.repeat;
    *period = p.period;
  }
  *out = g;
  return CB_OK;
}

cb_status cb_gait_read(const cb_bundle *b, const cb_node *map, int *repeat, double *period, cb_gait **out) {
  return read_one(b, map, repeat, period, out);
}
