/* A triangle: three particles. Each pair, at the distance d, is joined by a spring of stiffness k and rest length D, of
 * energy V = (k/2) (d - D)^2, or by a rigid rod, d = D. The links are in the order of the pairs 1-2, 1-3, 2-3. */
#include "bodies/link.h"

typedef struct params {
  const cb_node *link;
  cb_matter matter;
} params;

static const cb_param rows[] = {
    {"link", CB_PARAM_NODE, offsetof(params, link), "", "", "", "",
     "rod, {rod: {length: ..}} or {spring: {stiffness: 1, rest: .., damping: 0}}, or a list of three of these, for the "
     "pairs 12, 13, 23; if absent, springs"},
    CB_MATTER_ROWS(params, matter),
    {.name = NULL},
};

static cb_status read_links(const cb_builder *b, const cb_node *node, cb_body_link link[3]) {
  if (node && node->kind == CB_NODE_LIST && node->count != 3)
    return cb_node_fail(node, "link: expected one link, or a list of three, found a list of %zu", node->count);
  cb_status status = CB_OK;
  for (int e = 0; e < 3 && !status; e++)
    status = cb_link_read(b, node && node->kind == CB_NODE_LIST ? node->items[e] : node, false, &link[e]);
  return status;
}

static cb_status build(const void *given, const cb_node *node, const cb_space *space, cb_builder *b) {
  static const int ends[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  const params *p = given;
  cb_body_link link[3];
  int first;
  cb_status status = read_links(b, p->link, link);
  if (!status) status = cb_linked_build(&(cb_linked_body){3, 3, ends, link}, node, space, &p->matter, b, &first);
  return status ? status : cb_builder_triangle(b, first, first + 1, first + 2);
}

const cb_body_class cb_body_triangle = {
    .name = "triangle",
    .title = "triangle",
    .doc = "Three particles joined pairwise by springs or rigid rods.",
    .params = rows,
    .params_size = sizeof(params),
    .build = build,
};
