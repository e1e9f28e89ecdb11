/* Links of a body: one link, and lists of them (link.h). */
#include "bodies/link.h"
#include "core/failure.h"
#include "dynamics/builder_points.h"
#include "tree/scalar.h"

#include <math.h>
#include <string.h>
#include <limits.h>
#include <stdlib.h>

cb_status cb_target_read(const cb_node *node, const char *what, const char *range, cb_target *target) {
  static const char *const names[] = {"t"};
  *target = (cb_target){NAN, NULL};
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_SCALAR)
    return cb_node_fail(node, "%s: expected a number or an expression of t, found %s", what, cb_node_found(node).text);
  cb_expression *expression;
  size_t at = 0;
  cb_status status = cb_expression_parse(node->text, names, 1, &at, &expression);
  if (status == CB_ERROR_INPUT) return cb_node_fail_at(node, at, "%s: %s", what, cb_error_text());
  if (status) return status;
  if (cb_expression_uses(expression, 0)) {
    target->expression = node->text;
  } else {
    cb_range allowed;
    target->value = cb_expression_value(expression, (double[]){0});
    if (!isfinite(target->value) || (cb_range_parse(range, &allowed) && !cb_range_holds(&allowed, target->value)))
      status = cb_node_fail(node, "%s: expected a number%s%s, or an expression of t, found %s", what, *range ? " " : "",
                            range, cb_node_found(node).text);
  }
  cb_expression_free(expression);
  return status;
}

cb_status cb_spring_read(const cb_spring_nodes *nodes, cb_spring_data *spring) {
  cb_errors errors = cb_errors_begin();
  if (nodes->stiffness)
    cb_errors_add(&errors, nodes->stiffness, cb_target_read(nodes->stiffness, "stiffness", ">= 0", &spring->stiffness));
  if (nodes->rest) cb_errors_add(&errors, nodes->rest, cb_target_read(nodes->rest, "rest", ">= 0", &spring->rest));
  if (nodes->damping)
    cb_errors_add(&errors, nodes->damping, cb_target_read(nodes->damping, "damping", ">= 0", &spring->damping));
  return cb_errors_end(&errors);
}

typedef struct rod_params {
  const cb_node *length;
} rod_params;

typedef struct spring_params {
  cb_spring_nodes own;
} spring_params;
static const cb_param springs[] = {CB_SPRING_ROWS(spring_params, own), {.name = NULL}};

/* Reads the keys of a spring; keys that are not given keep their values. */
static cb_status read_spring(const cb_node *map, const cb_node *where, const char *const *extra, size_t n_extra,
                             cb_body_link *link) {
  spring_params p;
  const cb_status status = cb_params_bind(springs, map, where, extra, n_extra, &p);
  return status ? status : cb_spring_read(&p.own, &link->spring);
}

cb_status cb_link_read(const cb_node *node, bool rigid, cb_body_link *link) {
  static const cb_param rods[] = {
      {"length", CB_PARAM_NODE, offsetof(rod_params, length), "", "units of length", "> 0", "",
       "a number or an expression of t; if absent, the distance at the start"},
      {.name = NULL},
  };
  static const char *const kinds[] = {"rod", "spring"};
  const char *text = node && node->kind == CB_NODE_SCALAR ? node->text : NULL;
  const cb_node *map = NULL;
  *link = (cb_body_link){.rigid = rigid, .spring = CB_SPRING_DEFAULTS};
  if (text) {
    if (strcmp(text, "rod") && strcmp(text, "spring")) {
      const char *near = cb_nearest_name(text, kinds, 2);
      return cb_node_fail(node, "link: expected rod or spring, found %s%s%s%s", cb_node_found(node).text,
                          near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    link->rigid = !strcmp(text, "rod");
  } else if (node) {
    cb_status status = cb_node_check_keys(node, kinds, 2);
    if (status) return status;
    if (node->count != 1)
      return cb_node_fail(node, "link: expected rod, {rod: {length: ..}} or {spring: {stiffness: .., rest: ..}}");
    link->rigid = !strcmp(node->keys[0]->text, "rod");
    map = node->items[0]->kind == CB_NODE_NULL ? NULL : node->items[0];
  }
  if (!link->rigid) return read_spring(map, node, NULL, 0, link);
  rod_params p;
  cb_status status = cb_params_bind(rods, map, node, NULL, 0, &p);
  return status ? status : cb_target_read(p.length, "length", "> 0", &link->length);
}

static cb_status add_spring(cb_builder *b, int i, int j, const cb_spring_data *spring) {
  const cb_target k = spring->stiffness, rest = spring->rest, damping = spring->damping;
  if (k.expression || rest.expression || damping.expression) return cb_builder_driven_spring(b, i, j, k, rest, damping);
  return cb_builder_spring(b, i, j, k.value, isnan(rest.value) ? -1 : rest.value, damping.value);
}

cb_status cb_link_add(cb_builder *b, const cb_node *node, int i, int j, const cb_body_link *link) {
  if (cb_builder_has_no_mass(b, i) || cb_builder_has_no_mass(b, j))
    return cb_node_fail(node,
                        "a particle of mass 0 follows the flow, and no spring or rod moves it: expected a mass > 0");
  const cb_status status =
      link->rigid ? cb_builder_rod(b, link->name, i, j, link->length) : add_spring(b, i, j, &link->spring);
  return status ? cb_place_fail(node, status) : CB_OK;
}

cb_status cb_linked_build(const cb_linked_body *body, const cb_node *node, const cb_space *space,
                          const cb_matter *matter, cb_builder *b, int *first) {
  cb_places places;
  cb_status status = cb_places_read(&places, node, space, body->particles, true);
  if (!status) status = cb_places_add(&places, node, matter, NULL, b, first);
  for (int e = 0; e < body->count && !status; e++)
    status = cb_link_add(b, places.points, *first + body->ends[e][0], *first + body->ends[e][1], &body->link[e]);
  cb_places_free(&places);
  return status;
}

/* --- lists of links --- */

typedef struct rod_entry {
  const cb_node *length, *name;
} rod_entry;

/* Reads the keys of a map entry other than `between`. Spring data that are not given keep their values. */
static cb_status read_own(const cb_node *node, cb_body_link *link) {
  static const cb_param rods[] = {
      {"length", CB_PARAM_NODE, offsetof(rod_entry, length), "", "units of length", "> 0", "", "length of the rod"},
      {"name", CB_PARAM_NODE, offsetof(rod_entry, name), "", "", "", "", "name of its constraint"},
      {.name = NULL},
  };
  static const char *const extra[] = {"between"};
  if (link->rigid) {
    rod_entry own;
    cb_status status = cb_params_bind(rods, node, node, extra, 1, &own);
    if (!status && own.name) status = cb_node_string(own.name, &link->name);
    if (!status && own.length) status = cb_target_read(own.length, "length", "> 0", &link->length);
    return status;
  }
  return read_spring(node, node, extra, 1, link);
}

static cb_status read_entry(const cb_node *node, int n, cb_edge ends, cb_body_link *link) {
  const char *what = link->rigid ? "rods" : "springs";
  const cb_node *pair = node;
  if (node->kind == CB_NODE_MAP) {
    cb_status status = read_own(node, link);
    if (status) return status;
    pair = cb_node_get(node, "between");
  }
  if (!pair || pair->kind != CB_NODE_LIST || pair->count != 2)
    return cb_node_fail(pair ? pair : node, "%s: expected a pair [i, j] or {between: [i, j], ..}", what);
  for (int a = 0; a < 2; a++) {
    long long index;
    cb_status status = cb_node_int(pair->items[a], &index);
    if (status) return status;
    if (index < 0 || index >= n)
      return cb_node_fail(pair->items[a], "%s: expected a particle from 0 to %d, found %lld", what, n - 1, index);
    ends[a] = (int)index;
  }
  if (ends[0] == ends[1])
    return cb_node_fail(pair, "%s: expected two different particles, found %d twice", what, ends[0]);
  return CB_OK;
}

static cb_status grow(void **array, size_t count, size_t size) {
  void *p = realloc(*array, count * size);
  if (!p) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu links", count);
  *array = p;
  return CB_OK;
}

cb_status cb_links_read(cb_links *w, const cb_node *list, const cb_body_link *base, int n) {
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST || list->count > INT_MAX / 2)
    return cb_node_fail(list, "%s: expected a list of pairs", base->rigid ? "rods" : "springs");
  const size_t count = (size_t)w->n + list->count + 1;
  cb_status status = grow((void **)&w->edge, count, sizeof *w->edge);
  if (!status) status = grow((void **)&w->link, count, sizeof *w->link);
  if (!status) status = grow((void **)&w->node, count, sizeof *w->node);
  for (size_t e = 0; e < list->count && !status; e++, w->n++) {
    w->link[w->n] = *base;
    w->node[w->n] = list->items[e];
    status = read_entry(list->items[e], n, w->edge[w->n], &w->link[w->n]);
  }
  return status;
}

cb_status cb_links_add(const cb_links *w, int first, cb_builder *b) {
  cb_status status = CB_OK;
  for (int e = 0; e < w->n && !status; e++)
    status = cb_link_add(b, w->node[e], first + w->edge[e][0], first + w->edge[e][1], &w->link[e]);
  return status;
}

void cb_links_free(cb_links *w) {
  free(w->edge);
  free(w->link);
  free(w->node);
  memset(w, 0, sizeof *w);
}
