/* Reads the links of a scenario (shape variables, parameters, periods and each link) and orders their tree. */
#include "bundle/links.h"

#include "bundle/bundle_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The tree of links from its base outwards, which is the order of the recursion of links.h.
 *
 * The order is depth first, with the largest branch of a link last. The velocities of the largest branch overwrite
 * those of the link, and the velocities of other branches are stored at the next level. Each of the other branches has
 * at most half of the links, so that 1 + log2(links) levels suffice.
 */

static bool neighbours(const cb_link_tree *L, int a, int b) { return L->link[a].parent == b || L->link[b].parent == a; }

/* Returns the number of links of the branch that begins at link k and leads away from link `from`. */
static int branch_size(const cb_link_tree *L, int k, int from) {
  int size = 1;
  for (int other = 0; other < L->links; other++)
    if (other != from && neighbours(L, k, other)) size += branch_size(L, other, k);
  return size;
}

/* Computes the hinge between the link of a limb and the link before it, whose number is `before`. */
static void place_hinge(const cb_link_tree *L, cb_limb *limb, int before) {
  const bool outwards = L->link[limb->link].parent == before; /* the link before is the parent */
  const cb_group *so3 = cb_group_find("so3");
  double q[4], rest[9];
  limb->hinge = outwards ? limb->link : before;
  const cb_tree_link *k = &L->link[limb->hinge];
  const double from_parent = (k->at - 0.5) * L->link[k->parent].length, from_link = -0.5 * k->length;
  limb->sign = outwards ? 1 : -1;
  limb->before = outwards ? from_parent : from_link;
  limb->after = outwards ? from_link : from_parent;
  so3->exp(so3, k->rest, q);
  so3->matrix(so3, q, rest);
  for (int i = 0; i < 3; i++) {
    limb->axis[i] = outwards ? k->axis[i] : 0;
    for (int j = 0; j < 3; j++) {
      limb->turned[i][j] = outwards ? rest[3 * i + j] : rest[3 * j + i];
      if (!outwards) limb->axis[i] += rest[3 * j + i] * k->axis[j];
    }
  }
  double w[3];
  for (int i = 0; i < 3; i++)
    w[i] = limb->turned[0][i] * limb->axis[0] + limb->turned[1][i] * limb->axis[1] + limb->turned[2][i] * limb->axis[2];
  const double plane[6] = {0, -limb->after, 1};
  const double space[6] = {w[0], w[1], w[2], 0, -limb->after * w[2], limb->after * w[1]};
  memcpy(limb->twist, L->plane ? plane : space, sizeof plane);
}

/* Lists the variables on the path to a limb: those of the limb before it, then the new ones of its hinge. */
static void list_variables(cb_link_tree *L, cb_limb *limb, int *known) {
  const cb_limb *before = &L->limb[limb->from];
  const cb_tree_link *hinge = &L->link[limb->hinge];
  limb->reach_before = limb->reach = before->reach;
  limb->active_before = limb->active = before->active;
  memcpy(limb->variable, before->variable, sizeof limb->variable);
  for (int p = 0; p < hinge->uses; p++) {
    int *rank = &L->rank[hinge->use[p]];
    bool there = false;
    if (*rank < 0) {
      L->ranked[*known] = hinge->use[p];
      *rank = (*known)++;
    }
    for (int q = 0; q < limb->active; q++) there = there || limb->variable[q] == *rank;
    if (!there) limb->variable[limb->active++] = *rank;
    if (limb->reach <= *rank) limb->reach = *rank + 1;
  }
}

typedef struct walk {
  int limbs, known;
} walk;

static void visit(cb_link_tree *L, int k, int from, int level, walk *w) {
  const int self = w->limbs++, before = self ? L->limb[from].link : -1;
  cb_limb *limb = &L->limb[self];
  *limb = (cb_limb){.link = k, .from = from, .hinge = k, .sign = 1, .level = level};
  if (self) {
    limb->source = L->limb[from].level;
    place_hinge(L, limb, before);
    list_variables(L, limb, &w->known);
  }
  int next[CB_LINK_TREE_MAX], size[CB_LINK_TREE_MAX], count = 0, largest = 0;
  for (int other = 0; other < L->links; other++)
    if (other != before && neighbours(L, k, other)) {
      next[count] = other;
      size[count] = branch_size(L, other, k);
      if (size[count] > size[largest]) largest = count;
      count++;
    }
  for (int i = 0; i < count; i++)
    if (i != largest) visit(L, next[i], self, level + 1, w);
  if (count) visit(L, next[largest], self, level, w);
}

/* Fills the other members of L from the members plane, links, n, base, origin and link[], and scales the axes of hinges
 * to length 1. Returns CB_ERROR_ARGUMENT if a parent or an axis is wrong, or if a variable does not rotate any link;
 * the message names the link or the variable. */
static cb_status order_tree(cb_link_tree *L) {
  walk w = {0};
  for (int k = 0; k < L->links; k++) {
    cb_tree_link *link = &L->link[k];
    const double *a = link->axis, size = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (k ? link->parent < 0 || link->parent >= k : link->parent != -1)
      return cb_fail(CB_ERROR_ARGUMENT, "link %d: parent %d: expected the number of an earlier link", k, link->parent);
    if (!(size > 0) || !isfinite(size))
      return cb_fail(CB_ERROR_ARGUMENT, "link %d: its axis has length %g: expected a finite length > 0", k, size);
    for (int i = 0; i < 3; i++) link->axis[i] /= size;
  }
  for (int i = 0; i < L->n; i++) L->rank[i] = -1;
  visit(L, L->base, 0, 0, &w);
  for (int k = 0; k < L->links; k++) {
    L->line[k][0] = 2 * k;
    L->line[k][1] = 2 * k + 1;
  }
  for (int i = 0; i < L->n; i++)
    if (L->rank[i] < 0)
      return cb_fail(
          CB_ERROR_ARGUMENT,
          "the shape variable %s does not rotate any link: expected each shape variable in the `angle` of a link",
          L->name[i]);
  return CB_OK;
}

typedef struct params {
  int parent;
  double length, at, offset, drag, ratio, turn, spin, mass, radius;
  const cb_node *axis, *rest, *angle;
} params;

static const cb_param table[] = {
    {"length", CB_PARAM_REAL, offsetof(params, length), NULL, "length", ">= 0", NULL,
     "length of the link; 0: the link only joins hinges"},
    {"parent", CB_PARAM_INT, offsetof(params, parent), "-1", "", ">= -1", NULL,
     "number of the parent link, counted from 0; -1: the previous link"},
    {"at", CB_PARAM_REAL, offsetof(params, at), "1", "", "[0, 1]", NULL,
     "position of the hinge, as a fraction of the parent's length"},
    {"axis", CB_PARAM_NODE, offsetof(params, axis), "", "", "", NULL,
     "axis of the hinge in the parent's frame; default: [0, 0, 1]"},
    {"angle", CB_PARAM_NODE, offsetof(params, angle), "", "rad", "", NULL,
     "angle of the hinge, an expression of the shape variables; default: fixed"},
    {"offset", CB_PARAM_REAL, offsetof(params, offset), "0", "rad", "", NULL, "constant that is added to the angle"},
    {"rest", CB_PARAM_NODE, offsetof(params, rest), "", "rad", "", NULL,
     "rotation vector after the rotation of the hinge; default: [0, 0, 0]"},
    {"drag", CB_PARAM_REAL, offsetof(params, drag), "nan", "force time/length^2", ">= 0", NULL,
     "drag k_t along the link, per length"},
    {"ratio", CB_PARAM_REAL, offsetof(params, ratio), "nan", "", ">= 0", NULL,
     "drag across the link divided by drag along it"},
    {"turn", CB_PARAM_REAL, offsetof(params, turn), "nan", "", ">= 0", NULL, "rotational drag/(k_t l^3)"},
    {"spin", CB_PARAM_REAL, offsetof(params, spin), "nan", "", ">= 0", NULL,
     "rotational drag about the axis of the link, divided by k_t l^3"},
    {"mass", CB_PARAM_REAL, offsetof(params, mass), "nan", "mass", ">= 0", NULL,
     "mass of the link; default: density times length"},
    {"radius", CB_PARAM_REAL, offsetof(params, radius), "nan", "length", ">= 0", NULL, "radius of the link, a rod"},
    {0},
};

static double or_else(double value, double fallback) { return isnan(value) ? fallback : value; }

/* Fails if a link has keys that do not apply to it. */
static cb_status check_keys(const cb_node *node, const cb_link_tree *L, bool inertia, int k) {
  static const char *const of_drag[] = {"drag", "ratio", "turn", "spin"}, *const of_inertia[] = {"mass", "radius"},
                           *const of_hinge[] = {"parent", "at", "axis", "angle", "offset", "rest"},
                           *const of_space[] = {"axis", "rest", "spin"};
  for (int i = 0; i < 4; i++)
    if (inertia && cb_node_get(node, of_drag[i]))
      return cb_node_fail(node, "link %d: %s applies only to `of: drag`, found `of: inertia`", k, of_drag[i]);
  for (int i = 0; i < 2; i++)
    if (!inertia && cb_node_get(node, of_inertia[i]))
      return cb_node_fail(node, "link %d: %s applies only to `of: inertia`, found `of: drag`", k, of_inertia[i]);
  for (int i = 0; i < 6; i++)
    if (!k && cb_node_get(node, of_hinge[i]))
      return cb_node_fail(node, "link 0: %s applies only to links with a parent", of_hinge[i]);
  for (int i = 0; i < 3; i++)
    if (L->plane && cb_node_get(node, of_space[i]))
      return cb_node_fail(node, "link %d: %s applies only to `space: space`, links in three dimensions", k,
                          of_space[i]);
  return CB_OK;
}

static cb_status read_vector(const cb_node *node, const char *what, double x[3]) {
  if (!node) return CB_OK;
  const cb_status status = cb_node_reals(node, 3, x);
  return status ? cb_node_fail(node, "%s: expected a list of 3 numbers", what) : CB_OK;
}

/* Reads the angle of a hinge as an expression of only those shape variables that it uses. */
static cb_status read_angle(const cb_bundle_names *s, const cb_node *node, cb_tree_link *link) {
  cb_expression *e = NULL;
  const char *used[CB_JET_MAX];
  if (!node) return CB_OK;
  cb_status status = cb_bundle_read_expression(s, node, "angle", s->name, s->shape, &e);
  for (int i = 0; !status && i < s->shape; i++) {
    if (!cb_expression_uses(e, (size_t)i)) continue;
    if (link->uses == CB_JET_MAX)
      status = cb_node_fail(node, "angle: expected an expression of at most %d shape variables", CB_JET_MAX);
    else {
      used[link->uses] = s->name[i];
      link->use[link->uses++] = i;
    }
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
    return cb_node_fail(cb_node_get(node, "parent"),
                        "parent: link %d has the parent %d, expected the number of an earlier link", k, p.parent);
  status = read_vector(p.axis, "axis", link->axis);
  if (!status) status = read_vector(p.rest, "rest", link->rest);
  if (!status && link->axis[0] == 0 && link->axis[1] == 0 && link->axis[2] == 0)
    status = cb_node_fail(p.axis, "axis: expected a vector other than 0");
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
  return order_tree(L);
}

void cb_link_tree_free(cb_link_tree *L) {
  if (!L) return;
  for (int k = 0; k < L->links; k++) cb_expression_free(L->link[k].angle);
  for (int i = 0; i < L->n; i++) free(L->name[i]);
  free(L);
}
