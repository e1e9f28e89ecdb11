/* An elastic triangle: three particles, each pair joined by a spring, V = sum (k/2) (d - D)^2. Bonds in the order 12,
 * 13, 23. */
#include "bodies/place.h"

typedef struct params {
  const cb_node *link;
  cb_matter matter;
} params;

static const cb_param rows[] = {
    {"link", CB_PARAM_NODE, offsetof(params, link), "", "", "", "", "{spring: {stiffness: 1, rest: .., damping: 0}}"},
    CB_MATTER_ROWS(params, matter),
    {.name = NULL},
};

static cb_status build(const void *given, const cb_node *node, const cb_geometry *space, cb_builder *b) {
  static const int ends[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  const params *p = given;
  cb_spring_data spring;
  cb_places places;
  int first = 0;
  cb_status status = cb_link_read(p->link, &spring);
  if (status) return status;
  status = cb_places_read(&places, node, space, 3);
  if (!status) status = cb_places_set_moving(&places, node);
  if (!status) status = cb_places_add(&places, node, &p->matter, NULL, b, &first);
  for (int e = 0; e < 3 && !status; e++)
    status = cb_link_add(b, places.points, first + ends[e][0], first + ends[e][1], &spring);
  cb_places_free(&places);
  return status;
}

const cb_body_class cb_body_triangle = {
    .name = "triangle",
    .title = "elastic triangle",
    .doc = "Three particles joined pairwise by springs.",
    .params = rows,
    .params_size = sizeof(params),
    .build = build,
};
