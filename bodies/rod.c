/* A rod: two particles at the distance d, joined by a spring of stiffness k and rest length D, of energy V = (k/2) (d -
 * D)^2, or rigidly, d = D. */
#include "bodies/link.h"

typedef struct params {
  const cb_node *link;
  cb_matter matter;
} params;

static const cb_param rows[] = {
    {"link", CB_PARAM_NODE, offsetof(params, link), "", "", "", "",
     "rod, {rod: {length: ..}} or {spring: {stiffness: 1, rest: .., damping: 0}}; if absent, a spring"},
    CB_MATTER_ROWS(params, matter),
    {.name = NULL},
};

static cb_status build(const void *given, const cb_node *node, const cb_space *space, cb_builder *b) {
  static const int ends[1][2] = {{0, 1}};
  const params *p = given;
  cb_body_link link;
  int first;
  const cb_status status = cb_link_read(b, p->link, false, &link);
  return status ? status : cb_linked_build(&(cb_linked_body){2, 1, ends, &link}, node, space, &p->matter, b, &first);
}

const cb_body_class cb_body_rod = {
    .name = "rod",
    .title = "rod",
    .doc = "Two particles joined by a spring or a rigid rod.",
    .params = rows,
    .params_size = sizeof(params),
    .build = build,
};
