/* One link: see link.h. */
#include "bodies/link.h"
#include "tree/scalar.h"
#include <math.h>
#include <string.h>

cb_status cb_target_read(const cb_node *node, const char *what, const char *range, cb_target *target) {
  static const char *const names[] = {"t"};
  *target = (cb_target){NAN, NULL};
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_SCALAR)
    return cb_node_fail(node, "%s: expected a number or an expression of t, found %s", what, cb_node_found(node).text);
  cb_expression *law;
  size_t at = 0;
  cb_status status = cb_expression_parse(node->text, names, 1, &at, &law);
  if (status == CB_ERROR_INPUT) return cb_node_fail_at(node, at, "%s: %s", what, cb_error_text());
  if (status) return status;
  if (cb_expression_uses(law, 0)) {
    target->law = node->text;
  } else {
    cb_range allowed;
    target->value = cb_expression_value(law, (double[]){0});
    if (!isfinite(target->value) || (cb_range_parse(range, &allowed) && !cb_range_holds(&allowed, target->value)))
      status = cb_node_fail(node, "%s: expected a number%s%s, or an expression of t, found %s", what, *range ? " " : "",
                            range, cb_node_found(node).text);
  }
  cb_expression_free(law);
  return status;
}

typedef struct rod_params {
  const cb_node *length;
} rod_params;

cb_status cb_link_read(const cb_node *node, bool rigid, cb_link *link) {
  static const cb_param springs[] = {CB_SPRING_ROWS(cb_link, spring), {.name = NULL}};
  static const cb_param rods[] = {
      {"length", CB_PARAM_NODE, offsetof(rod_params, length), "", "units of length", "> 0", "",
       "a number or an expression of t; if absent, the distance at the start"},
      {.name = NULL},
  };
  static const char *const kinds[] = {"rod", "spring"};
  const char *word = node && node->kind == CB_NODE_SCALAR ? node->text : NULL;
  const cb_node *map = NULL;
  memset(link, 0, sizeof *link);
  link->rigid = rigid;
  if (word) {
    if (strcmp(word, "rod") && strcmp(word, "spring")) {
      const char *near = cb_nearest_name(word, kinds, 2);
      return cb_node_fail(node, "link: expected rod or spring, found %s%s%s%s", cb_node_found(node).text,
                          near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    link->rigid = !strcmp(word, "rod");
  } else if (node) {
    cb_status status = cb_node_check_keys(node, kinds, 2);
    if (status) return status;
    if (node->count != 1)
      return cb_node_fail(node, "link: expected rod, {rod: {length: ..}} or {spring: {stiffness: .., rest: ..}}");
    link->rigid = !strcmp(node->keys[0]->text, "rod");
    map = node->items[0]->kind == CB_NODE_NULL ? NULL : node->items[0];
  }
  if (!link->rigid) return cb_params_bind(springs, map, node, NULL, 0, link);
  rod_params p;
  cb_status status = cb_params_bind(rods, map, node, NULL, 0, &p);
  return status ? status : cb_target_read(p.length, "length", "> 0", &link->length);
}

cb_status cb_link_add(cb_builder *b, const cb_node *node, int i, int j, const cb_link *link) {
  double rest = isnan(link->spring.rest) ? -1 : link->spring.rest;
  cb_status status = link->rigid ? cb_builder_rod(b, link->name, i, j, link->length)
                                 : cb_builder_spring(b, i, j, link->spring.stiffness, rest, link->spring.damping);
  return status ? cb_place_fail(node, status) : CB_OK;
}

cb_status cb_linked_build(const cb_node *node, const cb_geometry *space, const cb_matter *matter, int particles,
                          int count, const int (*ends)[2], const cb_link *link, cb_builder *b, int *first) {
  cb_places places;
  cb_status status = cb_places_read(&places, node, space, particles, true);
  if (!status) status = cb_places_add(&places, node, matter, NULL, b, first);
  for (int e = 0; e < count && !status; e++)
    status = cb_link_add(b, places.points, *first + ends[e][0], *first + ends[e][1], &link[e]);
  cb_places_free(&places);
  return status;
}
