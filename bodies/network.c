/* A network: particles joined by springs, V = sum (k/2) (d - D)^2; listed, or the vertices and edges of a mesh, or a
 * lattice. */
#include "bodies/network.h"
#include <math.h>
#include <stdlib.h>

typedef struct params {
  const cb_node *springs, *mesh, *lattice;
  cb_spring_data spring;
  int neighbours;
  double bending_stiffness, density;
  cb_matter matter;
} params;

static const cb_param rows[] = {
    {"springs", CB_PARAM_NODE, offsetof(params, springs), "", "", "", "",
     "list of pairs [i, j], or {between: [i, j], stiffness: .., rest: .., damping: ..}, numbered from 0"},
    {"mesh", CB_PARAM_NODE, offsetof(params, mesh), "", "", "", "",
     "{file: x.obj, at: {chart: .., point: [..]}, scale: 1, rotate: ..}: vertices placed by exp at a point"},
    {"lattice", CB_PARAM_NODE, offsetof(params, lattice), "", "", "", "", "{size: [nx, ny, nz], spacing: .1, at: ..}"},
    CB_SPRING_ROWS(params, spring),
    {"neighbours", CB_PARAM_INT, offsetof(params, neighbours), "1", "", "[1, 2]", "",
     "2: springs between second neighbours too"},
    {"bending_stiffness", CB_PARAM_REAL, offsetof(params, bending_stiffness), "1", "units of mass/time^2", ">= 0", "",
     "stiffness of the springs between second neighbours"},
    {"density", CB_PARAM_REAL, offsetof(params, density), "nan", "units of mass/area, or mass/length", "> 0", "",
     "in place of mass: by a third of the triangles' area, or half the edges' length where there are no triangles"},
    CB_MATTER_ROWS(params, matter),
    {.name = NULL},
};

typedef struct spring_entry {
  cb_spring_data spring;
} spring_entry;

/* One entry of `springs`: its ends and data. */
static cb_status read_spring(const cb_node *node, int n, const cb_spring_data *base, cb_edge ends,
                             cb_spring_data *spring) {
  static const cb_param table[] = {CB_SPRING_ROWS(spring_entry, spring), {.name = NULL}};
  static const char *const extra[] = {"between"};
  const cb_node *pair = node;
  *spring = *base;
  if (node->kind == CB_NODE_MAP) {
    spring_entry own;
    cb_status status = cb_params_bind(table, node, node, extra, 1, &own);
    if (status) return status;
    if (cb_node_get(node, "stiffness")) spring->stiffness = own.spring.stiffness;
    if (cb_node_get(node, "rest")) spring->rest = own.spring.rest;
    if (cb_node_get(node, "damping")) spring->damping = own.spring.damping;
    pair = cb_node_get(node, "between");
  }
  if (!pair || pair->kind != CB_NODE_LIST || pair->count != 2)
    return cb_node_fail(pair ? pair : node, "springs: expected a pair [i, j] or {between: [i, j], ..}");
  for (int a = 0; a < 2; a++) {
    long long index;
    cb_status status = cb_node_int(pair->items[a], &index);
    if (status) return status;
    if (index < 0 || index >= n)
      return cb_node_fail(pair->items[a], "springs: expected a particle from 0 to %d, found %lld", n - 1, index);
    ends[a] = (int)index;
  }
  if (ends[0] == ends[1]) return cb_node_fail(pair, "springs: expected two particles, found %d twice", ends[0]);
  return CB_OK;
}

/* The edges of listed springs, each with its data in *data[n_edges] and checked against the number of particles. */
static cb_status read_springs(const params *p, int n, cb_network *w, cb_spring_data **data) {
  const cb_node *list = p->springs;
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST) return cb_node_fail(list, "springs: expected a list of pairs");
  w->edge = malloc((list->count + 1) * sizeof *w->edge);
  *data = malloc((list->count + 1) * sizeof **data);
  if (!w->edge || !*data) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu springs", list->count);
  for (size_t e = 0; e < list->count; e++) {
    cb_status status = read_spring(list->items[e], n, &p->spring, w->edge[e], &(*data)[e]);
    if (status) return status;
  }
  w->n_edges = (int)list->count;
  return CB_OK;
}

/* Springs along the edges, then between second neighbours. */
static cb_status join(const params *p, const cb_node *node, const cb_network *w, const cb_spring_data *data, int first,
                      cb_builder *b) {
  cb_status status = CB_OK;
  for (int e = 0; e < w->n_edges && !status; e++)
    status = cb_link_add(b, data ? p->springs->items[e] : node, first + w->edge[e][0], first + w->edge[e][1],
                         data ? &data[e] : &p->spring);
  if (status || p->neighbours < 2) return status;
  cb_spring_data bending = {p->bending_stiffness, NAN, p->spring.damping};
  cb_edge *pair;
  int n;
  status = cb_network_second_neighbours(w->n, w->n_edges, w->edge, &n, &pair);
  if (status) return status;
  for (int e = 0; e < n && !status; e++)
    status = cb_link_add(b, node, first + pair[e][0], first + pair[e][1], &bending);
  free(pair);
  return status;
}

static cb_status make_shape(const params *p, const cb_node *node, const cb_geometry *space, cb_network *w,
                            cb_places *places) {
  int ways = (p->mesh != NULL) + (p->lattice != NULL) + (p->springs != NULL);
  if (ways > 1) return cb_node_fail(node, "network: expected one of springs, mesh and lattice, found %d of them", ways);
  if (!p->mesh && !p->lattice) return cb_places_read(places, node, space, -1);
  cb_status status = p->mesh ? cb_network_from_mesh(w, p->mesh, space) : cb_network_from_lattice(w, p->lattice, space);
  return status ? status : cb_places_make(places, node, space, w->at, w->n, w->tangent);
}

static cb_status fill(const params *p, const cb_node *node, const cb_geometry *space, cb_builder *b, cb_network *w,
                      cb_places *places, cb_spring_data **data, double **mass) {
  cb_status status = make_shape(p, node, space, w, places);
  if (!status) status = read_springs(p, places->n, w, data);
  if (status) return status;
  w->n = places->n;
  if (!isnan(p->density)) {
    const cb_node *where = cb_node_get(node, "density");
    if (p->matter.masses || cb_node_get(node, "mass"))
      return cb_node_fail(where, "density: given beside `mass` or `masses`, expected one");
    *mass = malloc((size_t)w->n * sizeof **mass);
    if (!*mass) return cb_fail(CB_ERROR_MEMORY, "no memory for %d masses", w->n);
    status = cb_network_masses(w, space, places, p->density, where, *mass);
  }
  int first = 0;
  if (!status) status = cb_places_set_moving(places, node);
  if (!status) status = cb_places_add(places, node, &p->matter, *mass, b, &first);
  return status ? status : join(p, node, w, *data, first, b);
}

static cb_status build(const void *given, const cb_node *node, const cb_geometry *space, cb_builder *b) {
  cb_network w = {0};
  cb_places places = {0};
  cb_spring_data *data = NULL;
  double *mass = NULL;
  cb_status status = fill(given, node, space, b, &w, &places, &data, &mass);
  cb_network_free(&w);
  cb_places_free(&places);
  free(data);
  free(mass);
  return status;
}

const cb_body_class cb_body_network = {
    .name = "network",
    .title = "network of springs",
    .doc = "Particles joined by springs: listed, from a mesh, or a lattice; bending springs and damping if wanted.",
    .params = rows,
    .params_size = sizeof(params),
    .build = build,
};
