/* Links: springs and rods that join two particles of a body; and networks of them.
 *
 *   spring  V = (k/2) (d - D)^2, damping force -c d'    rod  d = length(t), a constraint
 *   link: rod | spring | {rod: {length: 1}} | {rod: {length: "1 + .1*sin(t)"}} | {spring: {stiffness: 1, rest: 1}}
 *
 * V: energy; d: distance of the two particles, d' its rate; k, D, c: stiffness, rest length and damping of a spring. A
 * length that is not given is the distance at the start.
 */
#pragma once

#include "bodies/place.h"
#include <curvebody/constraint.h>

#include <math.h>
#include <stddef.h>

typedef int cb_edge[2]; /* the two particles that an edge joins */

typedef struct cb_spring_data {
  cb_target stiffness, rest, damping; /* rest.value nan: the rest length is the distance at the start */
} cb_spring_data;
#define CB_SPRING_DEFAULTS              \
  {                                     \
    {1, NULL}, {NAN, NULL}, { 0, NULL } \
  }

/* The values of the keys of a spring; NULL: the key is not given. */
typedef struct cb_spring_nodes {
  const cb_node *stiffness, *rest, *damping;
} cb_spring_nodes;

/* clang-format off */
#define CB_SPRING_ROWS(type, field)                                                                      \
  {"stiffness", CB_PARAM_NODE, offsetof(type, field.stiffness), "1", "units of mass/time^2", ">= 0", "", \
   "k of (k/2)(d - D)^2, a number or an expression of t and controls"},                                  \
  {"rest", CB_PARAM_NODE, offsetof(type, field.rest), "", "units of length", ">= 0", "",                 \
   "rest length D, a number or an expression of t and controls; if absent, the distance at the start"},  \
  {"damping", CB_PARAM_NODE, offsetof(type, field.damping), "0", "units of mass/time", ">= 0", "",       \
   "c of the force -c d' along the spring, a number or an expression of t and controls"}
/* clang-format on */

/* Sets those data of a spring that are given; the others keep their values. The expressions are borrowed from the
 * nodes. They may use the parameters and the controls of the builder (NULL: none). */
cb_status cb_spring_read(const cb_builder *b, const cb_spring_nodes *nodes, cb_spring_data *spring);

typedef struct cb_body_link {
  bool rigid;
  cb_spring_data spring; /* used if the link is not rigid; its expressions are borrowed from the node */
  cb_target length;      /* length of the rod, used if the link is rigid; its expression is borrowed from the node */
  const char *name;      /* the name of the rod's constraint; NULL: one is made from the particles */
} cb_body_link;

/* Reads a link from node. If node is NULL, the link has default values: a rod if `rigid` is true, otherwise a
 * spring. */
cb_status cb_link_read(const cb_builder *b, const cb_node *node, bool rigid, cb_body_link *link);
/* Joins the particles i and j by a link. If that is impossible, the message gives the position of `node` in the
 * file. */
cb_status cb_link_add(cb_builder *b, const cb_node *node, int i, int j, const cb_body_link *link);

/* A body of `particles` points with its own links: link[i] joins the particles ends[i], 0 <= i < count. */
typedef struct cb_linked_body {
  int particles, count;
  const int (*ends)[2];
  const cb_body_link *link;
} cb_linked_body;
/* Places the particles of a linked body by the keys of its map `node`, and joins them; *first is the first particle. */
cb_status cb_linked_build(const cb_linked_body *body, const cb_node *node, const cb_space *space,
                          const cb_matter *matter, cb_builder *b, int *first);

/* Links from a list; the particles of the body are numbered from 0. */
typedef struct cb_links {
  int n;
  cb_edge *edge;
  cb_body_link *link;
  const cb_node **node; /* [n]: the node from which each link was read */
} cb_links;

/* Appends the links of a list of `springs` (base->rigid is false) or `rods` (true) of a body of n particles: pairs [i,
 * j], or maps {between: [i, j], stiffness: .., rest: .., damping: ..} | {between: [i, j], length: .., name: ..}. base
 * has the defaults. list NULL: there are no links. cb_network_build frees w, whatever the status. */
cb_status cb_links_read(cb_links *w, const cb_builder *b, const cb_node *list, const cb_body_link *base, int n);
/* Adds all links to the builder, where the body's particle 0 has the number `first`. */
cb_status cb_links_add(const cb_links *w, int first, cb_builder *b);

/* --- networks: vertices in a tangent space, edges, second neighbours, areas --- */

typedef struct cb_network {
  int n, n_edges, n_triangles;
  double *tangent;   /* [n][dim]: vertex i is exp_at(tangent_i); NULL: the points were listed */
  const cb_node *at; /* the map {chart, point} of the point `at`; NULL: the base point */
  cb_edge *edge;
  int (*triangle)[3];
} cb_network;

/* Places the particles of a network: by a mesh, by a lattice (at most one of the two is not NULL), or, if both are
 * NULL, by any number of points of `place`. The caller frees w and places. */
cb_status cb_network_place(cb_network *w, const cb_node *mesh, const cb_node *lattice, const cb_node *body,
                           const cb_space *g, cb_places *places);
/* Adds the triangles of w to the body whose first particle is `first`. */
cb_status cb_network_add_triangles(const cb_network *w, int first, cb_builder *b);

/* Finds the pairs of particles that are two edges apart and not joined by an edge, each once, ascending. The caller
 * frees *pair with free(). */
cb_status cb_network_second_neighbours(int n, int n_edges, const cb_edge *edge, int *n_pairs, cb_edge **pair);

/* Returns the area A of a geodesic triangle with sides a, b, c in a space of constant curvature K:
 *
 *   tan^2(K A/4) = K^2 t(s/2) t((s-a)/2) t((s-b)/2) t((s-c)/2),  s = (a+b+c)/2,  t(x) = tan(r x)/r | x | tanh(r x)/r
 * for K > 0 | K = 0 | K < 0, with r = sqrt|K|.
 * Source: S. L'Huilier; Todhunter, Spherical Trigonometry (1886), article 102. */
double cb_triangle_area(double curvature, double a, double b, double c);
/* Computes the masses (*mass)[w->n] of a network from its density. *mass is from malloc; it does not change if density
 * is nan (not given). */
cb_status cb_network_weigh(const cb_network *w, const cb_space *g, const cb_places *p, double density,
                           const cb_matter *matter, const cb_node *body, double **mass);

/* cb_network_build calls `fill` with an empty network, places, links and masses. `fill` builds a body from the
 * parameters of its class. Then cb_network_build frees these four parts, whatever the status. */
typedef cb_status cb_network_fill(const void *params, const cb_node *node, const cb_space *space, cb_builder *b,
                                  cb_network *w, cb_places *places, cb_links *links, double **mass);
cb_status cb_network_build(cb_network_fill *fill, const void *params, const cb_node *node, const cb_space *space,
                           cb_builder *b);
