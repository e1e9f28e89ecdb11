/* The shape of a network: vertices in a tangent space, edges, second neighbours, areas. */
#pragma once

#include "bodies/link.h"
#include <stddef.h>

typedef struct cb_network {
  int n, n_edges, n_triangles;
  double *tangent;   /* n*dim: vertex = exp_at(tangent); NULL where points were listed */
  const cb_node *at; /* {chart, point}, may be NULL */
  cb_edge *edge;
  int (*triangle)[3];
} cb_network;

/* Where the particles are: a mesh, a lattice (at most one of them is not NULL), or the points of `place` (n < 0: any
 * number). Frees of w and places are the caller's. */
cb_status cb_network_place(cb_network *w, const cb_node *mesh, const cb_node *lattice, const cb_node *body,
                           const cb_geometry *g, cb_places *places);
/* The triangles of w as those of the body whose first particle is `first`. */
cb_status cb_network_add_triangles(const cb_network *w, int first, cb_builder *b);

/* Pairs two edges apart that no edge joins, each once, ascending. The caller frees *pair with free(). */
cb_status cb_network_second_neighbours(int n, int n_edges, const cb_edge *edge, int *n_pairs, cb_edge **pair);

/* Area of a geodesic triangle with sides a, b, c in a space of constant curvature K:
 *   tan^2(K A/4) = K^2 t(s/2) t((s-a)/2) t((s-b)/2) t((s-c)/2),  s = (a+b+c)/2,  t(x) = tan(r x)/r | x | tanh(r x)/r,
 * r = sqrt|K| (S. L'Huilier; Todhunter, Spherical Trigonometry (1886), article 102). */
double cb_triangle_area(double curvature, double a, double b, double c);
/* The same from the keys of a body: *mass is NULL without a density, else from malloc. */
cb_status cb_network_weigh(const cb_network *w, const cb_geometry *g, const cb_places *p, double density,
                           const cb_matter *matter, const cb_node *body, double **mass);

/* Builds a body by its class's parameters with all that a network is made of, which is freed whatever the status. */
typedef cb_status cb_network_fill(const void *params, const cb_node *node, const cb_geometry *space, cb_builder *b,
                                  cb_network *w, cb_places *places, cb_links *links, double **mass);
cb_status cb_network_build(cb_network_fill *fill, const void *params, const cb_node *node, const cb_geometry *space,
                           cb_builder *b);
