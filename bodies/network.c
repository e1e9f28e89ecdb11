/* A network: particles joined by springs, of energy V = sum (k/2) (d - D)^2 with the stiffness k, and by rods, d = D. d
 * is the distance of the two particles, and D the length of the link at rest. Particles and links are listed, or are
 * the vertices and edges of a mesh or a lattice. */
#include "bodies/link.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct params {
  const cb_node *springs, *rods, *mesh, *lattice, *link;
  cb_spring_nodes spring;
  int neighbours;
  double bending_stiffness, density;
  cb_matter matter;
} params;

static const cb_param rows[] = {
    {"springs", CB_PARAM_NODE, offsetof(params, springs), "", "", "", "",
     "list of pairs [i, j], or {between: [i, j], stiffness: .., rest: .., damping: ..}, numbered from 0"},
    {"rods", CB_PARAM_NODE, offsetof(params, rods), "", "", "", "",
     "list of pairs [i, j], or {between: [i, j], length: .., name: ..}, numbered from 0"},
    {"mesh", CB_PARAM_NODE, offsetof(params, mesh), "", "", "", "",
     "{file: x.obj, at: {chart: .., point: [..]}, scale: 1, rotate: ..}: vertices placed by exp at a point"},
    {"lattice", CB_PARAM_NODE, offsetof(params, lattice), "", "", "", "", "{size: [nx, ny, nz], spacing: .1, at: ..}"},
    {"link", CB_PARAM_NODE, offsetof(params, link), "", "", "", "",
     "links along the edges of the mesh or lattice: rod, {rod: {length: ..}} or {spring: {..}}; if absent, springs "
     "with the keys below"},
    CB_SPRING_ROWS(params, spring),
    {"neighbours", CB_PARAM_INT, offsetof(params, neighbours), "1", "", "[1, 2]", "",
     "2: adds springs between second neighbours"},
    {"bending_stiffness", CB_PARAM_REAL, offsetof(params, bending_stiffness), "1", "units of mass/time^2", ">= 0", "",
     "stiffness of the springs between second neighbours"},
    {"density", CB_PARAM_REAL, offsetof(params, density), "nan", "units of mass/area, or mass/length", "> 0", "",
     "instead of mass: density times a third of the triangles' area, or half the edges' length if there are no "
     "triangles"},
    CB_MATTER_ROWS(params, matter),
    {.name = NULL},
};

/* Reads the type of link that joins particles along the edges of a mesh or lattice. */
static cb_status read_edges(const params *p, const cb_builder *b, cb_body_link *edges) {
  *edges = (cb_body_link){.spring = CB_SPRING_DEFAULTS};
  if (!p->link) return cb_spring_read(b, &p->spring, &edges->spring);
  if (!p->mesh && !p->lattice)
    return cb_node_fail(
        p->link, "link: applies only to the edges of a mesh or lattice: expected `mesh` or `lattice` next to it");
  return cb_link_read(b, p->link, false, edges);
}

static cb_status read_links(const params *p, const cb_builder *b, int n, cb_links *links) {
  const cb_body_link rod = {.rigid = true, .length = {NAN, NULL}};
  cb_body_link spring = {.spring = CB_SPRING_DEFAULTS};
  cb_status status = cb_spring_read(b, &p->spring, &spring.spring);
  if (!status) status = cb_links_read(links, b, p->springs, &spring, n);
  return status ? status : cb_links_read(links, b, p->rods, &rod, n);
}

/* Takes the listed links as the edges of the network, if there is no mesh or lattice. */
static cb_status take_edges(cb_network *w, const cb_links *links) {
  if (w->edge || !links->n) return CB_OK;
  w->edge = malloc((size_t)links->n * sizeof *w->edge);
  if (!w->edge) return cb_fail(CB_ERROR_MEMORY, "no memory for %d links", links->n);
  memcpy(w->edge, links->edge, (size_t)links->n * sizeof *w->edge);
  w->n_edges = links->n;
  return CB_OK;
}

/* Adds the links along the edges of a mesh or lattice, the listed links, the triangles, then the springs between second
 * neighbours. */
static cb_status join(const params *p, const cb_node *node, const cb_network *w, const cb_body_link *edges,
                      const cb_links *links, int first, cb_builder *b) {
  cb_status status = CB_OK;
  for (int e = 0; (p->mesh || p->lattice) && e < w->n_edges && !status; e++)
    status = cb_link_add(b, node, first + w->edge[e][0], first + w->edge[e][1], edges);
  if (!status) status = cb_links_add(links, first, b);
  if (!status) status = cb_network_add_triangles(w, first, b);
  if (status || p->neighbours < 2) return status;
  cb_body_link bending = {.spring = CB_SPRING_DEFAULTS};
  cb_edge *pair;
  int n;
  status = cb_spring_read(b, &(cb_spring_nodes){.damping = p->spring.damping}, &bending.spring);
  bending.spring.stiffness.value = p->bending_stiffness;
  if (!status) status = cb_network_second_neighbours(w->n, w->n_edges, w->edge, &n, &pair);
  if (status) return status;
  for (int e = 0; e < n && !status; e++)
    status = cb_link_add(b, node, first + pair[e][0], first + pair[e][1], &bending);
  free(pair);
  return status;
}

static cb_status fill(const void *given, const cb_node *node, const cb_space *space, cb_builder *b, cb_network *w,
                      cb_places *places, cb_links *links, double **mass) {
  const params *p = given;
  cb_body_link edges;
  int first = 0;
  if (p->mesh && p->lattice) return cb_node_fail(node, "network: expected one of mesh and lattice, found both");
  cb_status status = read_edges(p, b, &edges);
  if (!status) status = cb_network_place(w, p->mesh, p->lattice, node, space, places);
  if (!status) status = read_links(p, b, places->n, links);
  if (!status) status = take_edges(w, links);
  if (!status) status = cb_network_weigh(w, space, places, p->density, &p->matter, node, mass);
  if (!status) status = cb_places_add(places, node, &p->matter, *mass, b, &first);
  return status ? status : join(p, node, w, &edges, links, first, b);
}

static cb_status build(const void *given, const cb_node *node, const cb_space *space, cb_builder *b) {
  return cb_network_build(fill, given, node, space, b);
}

const cb_body_class cb_body_network = {
    .name = "network",
    .title = "network of springs and rods",
    .doc =
        "Particles joined by springs and rods: listed, from a mesh, or a lattice; bending springs and damping if "
        "wanted.",
    .params = rows,
    .params_size = sizeof(params),
    .build = build,
};
