/* What a scenario says of links: shape variables, parameters, periods, and each link. */
#include "bundle/links.h"
#include "bundle/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct params {
  int parent;
  double length, at, offset, drag, ratio, turn, spin, mass, radius;
  const cb_node *axis, *rest, *angle;
} params;

static const cb_param table[] = {
    {"length", CB_PARAM_REAL, offsetof(params, length), NULL, "length", ">= 0", NULL, "0: only a joint"},
    {"parent", CB_PARAM_INT, offsetof(params, parent), "-1", "", ">= -1", NULL, "from 0; -1: the link before"},
    {"at", CB_PARAM_REAL, offsetof(params, at), "1", "", "[0, 1]", NULL, "where on the parent's length"},
    {"axis", CB_PARAM_NODE, offsetof(params, axis), "", "", "", NULL, "of the hinge in the parent's frame; [0, 0, 1]"},
    {"angle", CB_PARAM_NODE, offsetof(params, angle), "", "rad", "", NULL, "expression of the shape; fixed if absent"},
    {"offset", CB_PARAM_REAL, offsetof(params, offset), "0", "rad", "", NULL, "added to the angle"},
    {"rest", CB_PARAM_NODE, offsetof(params, rest), "", "rad", "", NULL, "rotation vector beyond the hinge; [0, 0, 0]"},
    {"drag", CB_PARAM_REAL, offsetof(params, drag), "nan", "force time/length^2", ">= 0", NULL, "k_t along"},
    {"ratio", CB_PARAM_REAL, offsetof(params, ratio), "nan", "", ">= 0", NULL, "of drag across to drag along"},
    {"turn", CB_PARAM_REAL, offsetof(params, turn), "nan", "", ">= 0", NULL, "rotational drag/(k_t l^3)"},
    {"spin", CB_PARAM_REAL, offsetof(params, spin), "nan", "", ">= 0", NULL, "the same about the own axis"},
    {"mass", CB_PARAM_REAL, offsetof(params, mass), "nan", "mass", ">= 0", NULL, "density times length if absent"},
    {"radius", CB_PARAM_REAL, offsetof(params, radius), "nan", "length", ">= 0", NULL, "of the rod"},
    {0},
};

static double or_else(double value, double fallback) { return isnan(value) ? fallback : value; }

/* Keys that say something the bundle does not take. */
static cb_status check_keys(const cb_node *node, const cb_link_tree *L, bool inertia, int k) {
  static const char *const of_drag[] = {"drag", "ratio", "turn", "spin"}, *const of_inertia[] = {"mass", "radius"},
                           *const of_hinge[] = {"parent", "at", "axis", "angle", "offset", "rest"},
                           *const of_space[] = {"axis", "rest", "spin"};
  for (int i = 0; i < 4; i++)
    if (inertia && cb_node_get(node, of_drag[i]))
      return cb_node_fail(node, "link %d: %s is for links of drag, these are of inertia", k, of_drag[i]);
  for (int i = 0; i < 2; i++)
    if (!inertia && cb_node_get(node, of_inertia[i]))
      return cb_node_fail(node, "link %d: %s is for links of inertia, these are of drag", k, of_inertia[i]);
  for (int i = 0; i < 6; i++)
    if (!k && cb_node_get(node, of_hinge[i]))
      return cb_node_fail(node, "link 0: %s is for links that have a parent", of_hinge[i]);
  for (int i = 0; i < 3; i++)
    if (L->plane && cb_node_get(node, of_space[i]))
      return cb_node_fail(node, "link %d: %s is for links in space", k, of_space[i]);
  return CB_OK;
}

static cb_status read_vector(const cb_node *node, const char *what, double x[3]) {
  if (!node) return CB_OK;
  const cb_status status = cb_node_reals(node, 3, x);
  return status ? cb_node_fail(node, "%s: expected a list of 3 numbers", what) : CB_OK;
}

/* The angle, in the variables that it uses alone. */
static cb_status read_angle(const cb_bundle_names *s, const cb_node *node, cb_tree_link *link) {
  cb_expression *e = NULL;
  const char *used[CB_JET_MAX];
  if (!node) return CB_OK;
  cb_status status = cb_bundle_read_expression(s, node, "angle", s->name, s->shape, &e);
  for (int i = 0; !status && i < s->shape; i++) {
    if (!cb_expression_uses(e, (size_t)i)) continue;
    if (link->uses == CB_JET_MAX)
      status = cb_node_fail(node, "angle: expected at most %d shape variables in it", CB_JET_MAX);
    else
      used[link->uses] = s->name[i], link->use[link->uses++] = i;
  }
  cb_expression_free(e);
  e = NULL;
  if (!status) status = cb_bundle_read_expression(s, node, "angle", used, link->uses, &e);
  link->angle = e;
  return status;
}

static cb_status read_link(const cb_link_tree_params *given, const cb_bundle_names *s, const cb_node *node, int k,
                           cb_link_tree *L) {
  params p;
  cb_tree_link *link = &L->link[k];
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "links: expected {length: ..., parent: ..., angle: ...}");
  cb_status status = cb_params_bind(table, node, node, NULL, 0, &p);
  if (!status) status = check_keys(node, L, given->of, k);
  if (status) return status;
  *link = (cb_tree_link){
      .parent = p.parent < 0 ? k - 1 : p.parent, .length = p.length, .at = p.at, .offset = p.offset, .axis = {0, 0, 1}};
  if (link->parent >= k)
    return cb_node_fail(cb_node_get(node, "parent"), "parent: link %d has %d, expected a link before it", k, p.parent);
  status = read_vector(p.axis, "axis", link->axis);
  if (!status) status = read_vector(p.rest, "rest", link->rest);
  if (!status && link->axis[0] == 0 && link->axis[1] == 0 && link->axis[2] == 0)
    status = cb_node_fail(p.axis, "axis: expected a direction, found 0");
  if (!status) status = read_angle(s, p.angle, link);
  if (status) return status;
  const double l = p.length;
  if (given->of) {
    const double m = or_else(p.mass, given->density * l), a = or_else(p.radius, given->radius);
    link->along = link->across = m;
    link->turn = m * (l * l / 12 + a * a / 4);
    link->spin = m * a * a / 2;
  } else {
    const double drag = or_else(p.drag, given->drag), ratio = or_else(p.ratio, given->ratio);
    link->along = drag * l;
    link->across = drag * ratio * l;
    link->turn = drag * l * l * l * or_else(p.turn, or_else(given->turn, ratio / 12));
    link->spin = drag * l * l * l * or_else(p.spin, given->spin);
  }
  return CB_OK;
}

cb_status cb_link_tree_read(cb_bundle *b, cb_link_tree *L, const cb_link_tree_params *given) {
  cb_bundle_names s = {.count = 0};
  const cb_node *list = given->links;
  L->plane = given->space == 0;
  L->group = cb_group_find(L->plane ? "se2" : "se3");
  cb_status status = cb_bundle_read_shape(&s, given->shape, CB_SHAPE_MAX);
  if (!status) status = cb_bundle_read_parameters(&s, given->parameters);
  if (!status) status = cb_bundle_read_periods(&s, given->period, b->period);
  if (status) return status;
  if (list->kind != CB_NODE_LIST || list->count < 1 || list->count > CB_LINK_TREE_MAX)
    return cb_node_fail(list, "links: expected a list of 1 to %d links", CB_LINK_TREE_MAX);
  for (int k = 0; k < (int)list->count; k++) {
    L->links = k + 1;
    status = read_link(given, &s, list->items[k], k, L);
    if (status) return status;
  }
  if (given->base >= L->links)
    return cb_fail(CB_ERROR_ARGUMENT, "base: %d: expected a link from 0 to %d", given->base, L->links - 1);
  L->base = given->base;
  L->origin = given->origin;
  L->n = s.shape;
  for (int i = 0; i < L->n; i++) {
    L->name[i] = strdup(s.name[i]);
    if (!L->name[i]) return cb_fail(CB_ERROR_MEMORY, "no memory for names");
    b->shape[i] = L->name[i];
  }
  b->group = L->group;
  b->n = L->n;
  b->points = 2 * L->links;
  b->lines = L->links;
  b->line = (const int(*)[2])L->line;
  return cb_link_tree_order(L);
}

void cb_link_tree_free(cb_link_tree *L) {
  if (!L) return;
  for (int k = 0; k < L->links; k++) cb_expression_free(L->link[k].angle);
  for (int i = 0; i < L->n; i++) free(L->name[i]);
  free(L);
}
