/* A truss: particles joined by rods, which keep their distances. The rods are listed, or are the edges of a mesh or all
 * pairs; springs can be added. */
#include "bodies/link.h"
#include <math.h>
#include <stdlib.h>

/* The maximum number of particles for rods between all pairs. More particles would have far more rods than degrees of
 * freedom. */
enum { MOST_IN_PAIRS = 64 };

typedef struct params {
  const cb_node *rods, *springs, *mesh;
  cb_spring_nodes spring;
  double density;
  cb_matter matter;
} params;

static const cb_param rows[] = {
    {"rods", CB_PARAM_NODE, offsetof(params, rods), "", "", "", "",
     "list of pairs [i, j], or {between: [i, j], length: .., name: ..}, numbered from 0; if absent, all pairs that "
     "have no spring"},
    {"springs", CB_PARAM_NODE, offsetof(params, springs), "", "", "", "",
     "list of pairs [i, j], or {between: [i, j], stiffness: .., rest: .., damping: ..}"},
    {"mesh", CB_PARAM_NODE, offsetof(params, mesh), "", "", "", "",
     "{file: x.obj, at: {chart: .., point: [..]}, scale: 1, rotate: ..}: vertices placed by exp at a point, rods along "
     "its edges"},
    CB_SPRING_ROWS(params, spring),
    {"density", CB_PARAM_REAL, offsetof(params, density), "nan", "units of mass/area, or mass/length", "> 0", "",
     "with a mesh, instead of mass: density times a third of the triangles' area, or half the edges' length"},
    CB_MATTER_ROWS(params, matter),
    {.name = NULL},
};

static const cb_body_link rod = {.rigid = true, .length = {NAN, NULL}};

static bool joined(const cb_links *links, int i, int j) {
  for (int e = 0; e < links->n; e++) {
    const int *ends = links->edge[e];
    if ((ends[0] == i && ends[1] == j) || (ends[0] == j && ends[1] == i)) return true;
  }
  return false;
}

static cb_status join_pairs(const cb_node *where, const cb_links *springs, int n, int first, cb_builder *b) {
  if (n > MOST_IN_PAIRS)
    return cb_node_fail(where, "missing key 'rods': expected a list of pairs for more than %d particles",
                        MOST_IN_PAIRS);
  cb_status status = CB_OK;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n && !status; j++)
      if (!joined(springs, i, j)) status = cb_link_add(b, where, first + i, first + j, &rod);
  return status;
}

static cb_status fill(const void *given, const cb_node *node, const cb_space *space, cb_builder *b, cb_network *w,
                      cb_places *places, cb_links *links, double **mass) {
  const params *p = given;
  cb_body_link spring = {.spring = CB_SPRING_DEFAULTS};
  int first = 0;
  cb_status status = cb_spring_read(b, &p->spring, &spring.spring);
  if (!status) status = cb_network_place(w, p->mesh, NULL, node, space, places);
  if (!status && !p->mesh && !isnan(p->density))
    status = cb_node_fail(cb_node_get(node, "density"), "density: expected `mesh` next to it");
  if (!status) status = cb_network_weigh(w, space, places, p->density, &p->matter, node, mass);
  if (!status) status = cb_links_read(links, b, p->springs, &spring, places->n);
  if (!status) status = cb_links_read(links, b, p->rods, &rod, places->n);
  if (!status) status = cb_places_add(places, node, &p->matter, *mass, b, &first);
  if (!status) status = cb_network_add_triangles(w, first, b);
  for (int e = 0; e < w->n_edges && !status; e++)
    status = cb_link_add(b, p->mesh, first + w->edge[e][0], first + w->edge[e][1], &rod);
  if (!status) status = cb_links_add(links, first, b);
  if (status || p->rods || p->mesh) return status;
  return join_pairs(places->points, links, places->n, first, b);
}

static cb_status build(const void *given, const cb_node *node, const cb_space *space, cb_builder *b) {
  return cb_network_build(fill, given, node, space, b);
}

const cb_body_class cb_body_truss = {
    .name = "truss",
    .title = "truss of rods",
    .doc = "Particles joined by rods: listed, along the edges of a mesh, or all pairs; with springs if wanted.",
    .params = rows,
    .params_size = sizeof(params),
    .build = build,
};
