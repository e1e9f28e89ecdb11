/* Free particles: no springs or rods, only interactions if the scenario has any. */
#include "bodies/place.h"

typedef struct params {
  cb_matter matter;
} params;

static const cb_param rows[] = {
    CB_MATTER_ROWS(params, matter),
    {.name = NULL},
};

static cb_status build(const void *given, const cb_node *node, const cb_space *space, cb_builder *b) {
  const params *p = given;
  cb_places places;
  int first = 0;
  cb_status status = cb_places_read(&places, node, space, -1, false);
  if (!status) status = cb_places_add(&places, node, &p->matter, NULL, b, &first);
  cb_places_free(&places);
  return status;
}

const cb_body_class cb_body_particles = {
    .name = "particles",
    .title = "free particles",
    .doc = "Particles without springs: planets, geodesics.",
    .params = rows,
    .params_size = sizeof(params),
    .build = build,
};
