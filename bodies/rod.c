/* A rod: two particles joined by a spring, V = (k/2) (d - D)^2, or rigidly, d = D. */
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

static cb_status build(const void *given, const cb_node *node, const cb_geometry *space, cb_builder *b) {
  const params *p = given;
  cb_link link;
  cb_places places;
  int first = 0;
  cb_status status = cb_link_read(p->link, false, &link);
  if (status) return status;
  status = cb_places_read(&places, node, space, 2, true);
  if (!status) status = cb_places_add(&places, node, &p->matter, NULL, b, &first);
  if (!status) status = cb_link_add(b, places.points, first, first + 1, &link);
  cb_places_free(&places);
  return status;
}

const cb_body_class cb_body_rod = {
    .name = "rod",
    .title = "rod",
    .doc = "Two particles joined by a spring or a rigid rod.",
    .params = rows,
    .params_size = sizeof(params),
    .build = build,
};
