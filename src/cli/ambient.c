/* Makes the space that a command names, and converts its points and velocities between charts (cli.h). */
#include "cli/cli.h"

#include "core/registry.h"
#include "scenario/private.h"
#include "geometry/chart.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool registered(const char *argument, size_t length) {
  return cb_space_classes[cb_registry_find(&cb_space_registry, argument, length)];
}

/* Returns the length of the text up to the next comma outside brackets. */
static size_t piece(const char *text) {
  int depth = 0;
  size_t n = 0;
  for (; text[n] && !(text[n] == ',' && depth == 0); n++) {
    depth += text[n] == '(' || text[n] == '[' || text[n] == '{';
    depth -= text[n] == ')' || text[n] == ']' || text[n] == '}';
  }
  return n;
}

static cb_status unknown(const char *argument, size_t length) {
  const char *names[CB_REGISTRY_MAX];
  char name[48];
  snprintf(name, sizeof name, "%.*s", (int)(length < 40 ? length : 40), argument);
  const char *near = cb_nearest_name(name, names, cb_registry_names(&cb_space_registry, names));
  if (near) return cb_fail(CB_ERROR_INPUT, "curvebody: error: unknown space '%s', did you mean '%s'?", name, near);
  return cb_fail(CB_ERROR_INPUT,
                 "curvebody: error: unknown space '%s': expected one of `curvebody list spaces`, or a scenario", name);
}

/* Parses `name:key=value,...` as the scenario `space: {name: NAME, key: value, ...}`. */
static cb_status named(const char *argument, cb_tree **out) {
  char text[512];
  const size_t length = strcspn(argument, ":");
  if (length + 32 > sizeof text)
    return cb_fail(CB_ERROR_INPUT, "%.40s...: error: the name of a space is too long", argument);
  snprintf(text, sizeof text, "space.name=%.*s", (int)length, argument);
  cb_status status = cb_yaml_read_text(argument, "{}", 2, out);
  if (!status) status = cb_tree_set_by(*out, argument, text);
  for (const char *at = argument + length; !status && *at;) {
    const size_t size = piece(++at);
    if (size + 16 > sizeof text || !memchr(at, '=', size)) {
      status = cb_fail(CB_ERROR_INPUT, "%s: error: expected NAME:KEY=VALUE,..., found '%.*s'", argument,
                       (int)(size < 60 ? size : 60), at);
    } else {
      snprintf(text, sizeof text, "space.%.*s", (int)size, at);
      status = cb_tree_set_by(*out, argument, text);
    }
    at += size;
  }
  return status;
}

static cb_status choose_chart(cli_ambient *a, const char *name) {
  cb_space *g = a->space;
  const char *wanted = name ? name : "polar";
  a->chart = name || !g->chart ? cb_chart_find(g, wanted) : g->chart;
  for (size_t i = 0; !name && !a->chart && i < cb_chart_count(g); i++)
    if (cb_chart_at(g, i)->metric) a->chart = cb_chart_at(g, i);
  if (!a->chart || !a->chart->metric) {
    char list[256] = "";
    for (size_t i = 0; i < cb_chart_count(g); i++) {
      const cb_chart *chart = cb_chart_at(g, i);
      if (!chart->metric) continue;
      if (*list) strncat(list, ", ", sizeof list - strlen(list) - 1);
      strncat(list, chart->name, sizeof list - strlen(list) - 1);
    }
    return cb_fail(CB_ERROR_INPUT, "--chart %s: error: expected a chart with a metric, one of: %s", wanted, list);
  }
  cb_space_see_in(g, a->chart);
  return CB_OK;
}

cb_status cli_ambient_open(const char *argument, const cli_list *sets, const char *chart, cli_ambient *out) {
  struct stat file;
  const size_t length = strcspn(argument, ":");
  const bool name = registered(argument, length);
  *out = (cli_ambient){.file = name ? NULL : argument};
  if (!name && !strpbrk(argument, "./") && stat(argument, &file) != 0) return unknown(argument, length);
  cb_status status = name ? named(argument, &out->tree) : cb_yaml_read_file(argument, &out->tree);
  for (size_t i = 0; i < sets->count && !status; i++) status = cb_tree_set(out->tree, sets->item[i]);
  if (!status) {
    const cb_node *root = cb_tree_root(out->tree), *node = cb_node_get(root, "space");
    if (name) status = cb_node_check_keys(root, (const char *const[]){"space"}, 1);
    if (!status) status = node ? cb_space_read(node, &out->space) : cb_node_fail(root, "the key `space` is missing");
  }
  if (!status) status = choose_chart(out, chart);
  if (status) cli_ambient_close(out);
  return status;
}

void cli_ambient_close(cli_ambient *a) {
  cb_space_free(a->space);
  cb_tree_free(a->tree);
  *a = (cli_ambient){0};
}

cb_status cli_ambient_numbers(const char *option, const char *text, int n, double *out) {
  enum { MAXIMUM = 64 };
  char copy[1024];
  cb_node node[MAXIMUM], list = {.kind = CB_NODE_LIST, .file = option, .line = 1, .column = 1};
  const cb_node *items[MAXIMUM];
  if (strlen(text) >= sizeof copy) return cb_fail(CB_ERROR_INPUT, "%s: error: expected %d numbers", option, n);
  strcpy(copy, text);
  int count = 0;
  for (char *at = copy;; count++) {
    const size_t size = piece(at);
    const bool last = !at[size];
    at[size] = 0;
    if (count < MAXIMUM) {
      node[count] = (cb_node){.kind = CB_NODE_SCALAR,
                              .file = option,
                              .line = 1,
                              .column = (int)(at - copy) + 1,
                              .text = at,
                              .text_column = (int)(at - copy) + 1};
      items[count] = &node[count];
    }
    if (last) break;
    at += size + 1;
  }
  if (++count != n)
    return cb_node_fail(&list, "expected %d number%s separated by commas, found %d in '%s'", n, n == 1 ? "" : "s",
                        count, text);
  list.count = (size_t)n;
  list.items = items;
  return cb_node_reals(&list, (size_t)n, out);
}

void cli_ambient_default_point(const cli_ambient *a, double *q) {
  const cb_space *g = a->space;
  static const double polar[CB_DIM_MAX] = {0.5, 1, 0.5};
  if (g->intrinsic) {
    cb_space_base_point(g, q);
    return;
  }
  double radius = 1; /* the smallest radius of curvature, at most 1 */
  for (int f = 0; f < g->n_factors; f++)
    if (g->factor[f].curvature != 0) radius = fmin(radius, 1 / sqrt(fabs(g->factor[f].curvature)));
  const bool angles = !strcmp(a->chart->name, "polar");
  for (int i = 0; i < g->dim; i++) q[i] = angles && i ? polar[i] : 0.5 * radius;
}

cb_status cli_ambient_push(const cli_ambient *a, const double *q, const double *u, double *x, double *v) {
  return cb_chart_push(a->space, a->chart, q, u, x, v);
}

cb_status cli_ambient_pull(const cli_ambient *a, const double *x, const double *v, double *q, double *u) {
  const size_t size = (size_t)a->space->dim * sizeof(double);
  if (!a->space->intrinsic) return cb_chart_pull(a->space, a->chart, x, v, q, u);
  memcpy(q, x, size);
  memcpy(u, v, size);
  return CB_OK;
}

cb_status cli_ambient_length(const cli_ambient *a, const double *q, const double *u, double *length) {
  double gij[CB_DIM_MAX * CB_DIM_MAX], sum = 0;
  const int n = a->space->dim;
  const cb_status status = a->chart->metric(a->space, q, gij, NULL, NULL);
  if (status) return status;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += gij[i * n + j] * u[i] * u[j];
  *length = sqrt(fmax(sum, 0));
  return CB_OK;
}
