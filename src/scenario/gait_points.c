/* Gaits of a scenario that are lists of numbers: harmonics, corners, points. See scenario_gait_private.h. */
#include "scenario/gait.h"

#include "core/errors.h"
#include "tree/scalar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- lists of numbers --- */

cb_gait_names cb_gait_names_of(const cb_bundle *b) {
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
    return cb_node_fail(list, "%s: expected a list of %d number%s, one a shape variable (%s), found %s", what, b->n,
                        b->n == 1 ? "" : "s", cb_gait_names_of(b).text, found);
  }
  return cb_node_reals(list, (size_t)b->n, r);
}

/* A list of shapes into r[count][n], from malloc; NULL for an absent one. */
static cb_status read_rows(const cb_bundle *b, const cb_node *list, const char *what, double **r, int *count) {
  *r = NULL, *count = 0;
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST || list->count == 0)
    return cb_node_fail(list, "expected a list of %ss, each a list of %d number%s, one a shape variable (%s)", what,
                        b->n, b->n == 1 ? "" : "s", cb_gait_names_of(b).text);
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
  if (status) return free(rows), status;
  *r = rows, *count = (int)list->count;
  return CB_OK;
}

cb_status cb_gait_read_times(const cb_node *list, const char *what, double **out, int *count) {
  *out = NULL, *count = 0;
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST) return cb_node_fail(list, "%s: expected a list of times in [0, 1]", what);
  double *t = malloc((list->count ? list->count : 1) * sizeof *t);
  if (!t) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu times", list->count);
  cb_status status = cb_node_reals(list, list->count, t);
  for (size_t k = 0; k < list->count && !status; k++) {
    if (!(t[k] >= 0 && t[k] <= 1))
      status = cb_node_fail(list->items[k], "%s: expected times in [0, 1], parts of the cycle, found %g", what, t[k]);
    else if (k && !(t[k] > t[k - 1]))
      status = cb_node_fail(list->items[k], "%s: expected times that ascend, found %g after %g", what, t[k], t[k - 1]);
  }
  if (status) return free(t), status;
  *out = t, *count = (int)list->count;
  return CB_OK;
}

/* --- kinds --- */

cb_status cb_gait_placed(cb_status status, const cb_node *node) {
  const bool of_input =
      status == CB_ERROR_ARGUMENT || status == CB_ERROR_DOMAIN || status == CB_ERROR_INPUT || status > 0;
  return of_input && !cb_failure_last().placed ? cb_node_fail(node, "%s", cb_error_text()) : status;
}

cb_status cb_gait_read_fourier(const cb_bundle *b, const cb_node *map, cb_gait **out) {
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
  const int most = cosines > sines ? cosines : sines;
  double *both = status ? NULL : calloc(2 * (size_t)most * (size_t)n, sizeof *both);
  if (!status && !both) status = cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d harmonics", most);
  if (!status) {
    double *c = both, *d = both + most * n;
    if (a) memcpy(c, a, (size_t)(cosines * n) * sizeof *c);
    if (s) memcpy(d, s, (size_t)(sines * n) * sizeof *d);
    status = cb_gait_placed(cb_gait_fourier(n, most, a0, c, d, out), map);
  }
  free(a);
  free(s);
  free(both);
  return status;
}

cb_status cb_gait_read_polygon(const cb_bundle *b, const cb_node *map, cb_gait **out) {
  static const char *const keys[] = {"corners"};
  const cb_node *list = cb_node_get(map, "corners");
  double *r;
  int count;
  cb_status status = cb_node_check_keys(map, keys, 1);
  if (!status && !list) return cb_node_fail(map, "expected `corners`, a list of shapes");
  if (!status) status = read_rows(b, list, "corner", &r, &count);
  if (status) return status;
  status = count < 2 ? cb_node_fail(list, "expected at least 2 corners, found %d", count)
                     : cb_gait_placed(cb_gait_polygon(b->n, count, r, out), list);
  free(r);
  return status;
}

cb_status cb_gait_read_points(const cb_bundle *b, const cb_node *map, bool timed, cb_gait **out) {
  static const char *const keys[] = {"points", "times"};
  const cb_node *list = cb_node_get(map, "points"), *times = cb_node_get(map, "times");
  double *r = NULL, *t = NULL;
  int count = 0, given = 0;
  cb_status status = cb_node_check_keys(map, keys, 2);
  if (!status && !list) return cb_node_fail(map, "expected `points`, a list of shapes");
  if (!status && timed && !times) return cb_node_fail(map, "expected `times` of the points in [0, 1]");
  if (!status) status = read_rows(b, list, "point", &r, &count);
  if (!status) status = cb_gait_read_times(times, "times", &t, &given);
  if (!status && times && given != count)
    status = cb_node_fail(times, "expected %d times, one a point, found %d", count, given);
  if (!status && count < 3) status = cb_node_fail(list, "expected at least 3 points, found %d", count);
  if (!status) {
    status = cb_gait_placed(cb_gait_spline(b->n, count, t, r, out), list);
  }
  free(r);
  free(t);
  return status;
}

/* From 0 to 1, one more than there are arcs, into t from malloc. */
static cb_status read_ends(const cb_node *map, size_t arcs, double **t) {
  const cb_node *ends = cb_node_get(map, "ends");
  int count;
  if (!ends) return cb_node_fail(map, "expected `ends` of the arcs, times from 0 to 1");
  cb_status status = cb_gait_read_times(ends, "ends", t, &count);
  if (status) return status;
  if ((size_t)count != arcs + 1)
    status =
        cb_node_fail(ends, "expected %zu ends of %zu arc%s, found %d", arcs + 1, arcs, arcs == 1 ? "" : "s", count);
  else if ((*t)[0] != 0 || (*t)[arcs] != 1)
    status = cb_node_fail(ends, "expected ends from 0 to 1, found %g to %g", (*t)[0], (*t)[arcs]);
  return status;
}

/* r[arcs][degree + 1][n], from malloc. */
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
      status = cb_node_fail(arc, "expected %d points, as many as on the other arcs, found %d", *points, count);
    if (!status) memcpy(*r + k * (size_t)(count * b->n), rows, (size_t)(count * b->n) * sizeof *rows);
    cb_errors_add(&errors, arc, status);
    free(rows);
  }
  return cb_errors_end(&errors);
}

cb_status cb_gait_read_arcs(const cb_bundle *b, const cb_node *map, cb_gait **out) {
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
  if (!status) status = cb_gait_placed(cb_gait_arcs(b->n, (int)list->count, t, points - 1, r, out), list);
  free(r);
  free(t);
  return status;
}
