/* Reads one link of a body and lists of links, and makes the links of networks: meshes, lattices, second neighbours and
 * areas (link.h). */
#include "bodies/link.h"

#include "core/failure.h"
#include "dynamics/builder_points.h"
#include "numerics/mesh.h"
#include "tree/scalar.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- links --- */

/* Reads a number, or an expression of t and of the parameters and controls of the builder (NULL: none). */
static cb_status read_target(const cb_builder *b, const cb_node *node, const char *what, const char *range,
                             cb_target *target) {
  static const char *const names[] = {"t"};
  cb_expression_scope scope = {.n = 0};
  if (b) scope = *cb_builder_scope(b);
  scope.names = names;
  scope.n = 1;
  *target = (cb_target){NAN, NULL};
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_SCALAR)
    return cb_node_fail(node, "%s: expected a number or an expression of t, found %s", what, cb_node_found(node).text);
  cb_expression *expression;
  size_t at = 0;
  cb_status status = cb_expression_parse_in(node->text, &scope, &at, &expression);
  if (status == CB_ERROR_INPUT) return cb_node_fail_at(node, at, "%s: %s", what, cb_error_text());
  if (status) return status;
  if (cb_expression_uses(expression, 0) || cb_expression_uses_control(expression)) {
    target->expression = node->text;
  } else {
    cb_range allowed;
    target->value = cb_expression_value(expression, (double[]){0});
    if (!isfinite(target->value) || (cb_range_parse(range, &allowed) && !cb_range_holds(&allowed, target->value)))
      status = cb_node_fail(node, "%s: expected a number%s%s, or an expression of t, found %s", what, *range ? " " : "",
                            range, cb_node_found(node).text);
  }
  cb_expression_free(expression);
  return status;
}

cb_status cb_target_read(const cb_node *node, const char *what, const char *range, cb_target *target) {
  return read_target(NULL, node, what, range, target);
}

cb_status cb_spring_read(const cb_builder *b, const cb_spring_nodes *nodes, cb_spring_data *spring) {
  cb_errors errors = cb_errors_begin();
  const cb_node *k = nodes->stiffness, *rest = nodes->rest, *damping = nodes->damping;
  if (k) cb_errors_add(&errors, k, read_target(b, k, "stiffness", ">= 0", &spring->stiffness));
  if (rest) cb_errors_add(&errors, rest, read_target(b, rest, "rest", ">= 0", &spring->rest));
  if (damping) cb_errors_add(&errors, damping, read_target(b, damping, "damping", ">= 0", &spring->damping));
  return cb_errors_end(&errors);
}

typedef struct rod_params {
  const cb_node *length;
} rod_params;

typedef struct spring_params {
  cb_spring_nodes own;
} spring_params;
static const cb_param springs[] = {CB_SPRING_ROWS(spring_params, own), {.name = NULL}};

/* Reads the keys of a spring; keys that are not given keep their values. */
static cb_status read_spring(const cb_builder *b, const cb_node *map, const cb_node *where, const char *const *extra,
                             size_t n_extra, cb_body_link *link) {
  spring_params p;
  const cb_status status = cb_params_bind(springs, map, where, extra, n_extra, &p);
  return status ? status : cb_spring_read(b, &p.own, &link->spring);
}

cb_status cb_link_read(const cb_builder *b, const cb_node *node, bool rigid, cb_body_link *link) {
  static const cb_param rods[] = {
      {"length", CB_PARAM_NODE, offsetof(rod_params, length), "", "units of length", "> 0", "",
       "a number or an expression of t; if absent, the distance at the start"},
      {.name = NULL},
  };
  static const char *const kinds[] = {"rod", "spring"};
  const char *text = node && node->kind == CB_NODE_SCALAR ? node->text : NULL;
  const cb_node *map = NULL;
  *link = (cb_body_link){.rigid = rigid, .spring = CB_SPRING_DEFAULTS};
  if (text) {
    if (strcmp(text, "rod") && strcmp(text, "spring")) {
      const char *near = cb_nearest_name(text, kinds, 2);
      return cb_node_fail(node, "link: expected rod or spring, found %s%s%s%s", cb_node_found(node).text,
                          near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    link->rigid = !strcmp(text, "rod");
  } else if (node) {
    cb_status status = cb_node_check_keys(node, kinds, 2);
    if (status) return status;
    if (node->count != 1)
      return cb_node_fail(node, "link: expected rod, {rod: {length: ..}} or {spring: {stiffness: .., rest: ..}}");
    link->rigid = !strcmp(node->keys[0]->text, "rod");
    map = node->items[0]->kind == CB_NODE_NULL ? NULL : node->items[0];
  }
  if (!link->rigid) return read_spring(b, map, node, NULL, 0, link);
  rod_params p;
  cb_status status = cb_params_bind(rods, map, node, NULL, 0, &p);
  return status ? status : cb_target_read(p.length, "length", "> 0", &link->length);
}

static cb_status add_spring(cb_builder *b, int i, int j, const cb_spring_data *spring) {
  const cb_target k = spring->stiffness, rest = spring->rest, damping = spring->damping;
  if (k.expression || rest.expression || damping.expression) return cb_builder_driven_spring(b, i, j, k, rest, damping);
  return cb_builder_spring(b, i, j, k.value, isnan(rest.value) ? -1 : rest.value, damping.value);
}

cb_status cb_link_add(cb_builder *b, const cb_node *node, int i, int j, const cb_body_link *link) {
  if (cb_builder_has_no_mass(b, i) || cb_builder_has_no_mass(b, j))
    return cb_node_fail(node,
                        "a particle of mass 0 follows the flow, and no spring or rod moves it: expected a mass > 0");
  const cb_status status =
      link->rigid ? cb_builder_rod(b, link->name, i, j, link->length) : add_spring(b, i, j, &link->spring);
  return status ? cb_place_fail(node, status) : CB_OK;
}

cb_status cb_linked_build(const cb_linked_body *body, const cb_node *node, const cb_space *space,
                          const cb_matter *matter, cb_builder *b, int *first) {
  cb_places places;
  cb_status status = cb_places_read(&places, node, space, body->particles, true);
  if (!status) status = cb_places_add(&places, node, matter, NULL, b, first);
  for (int e = 0; e < body->count && !status; e++)
    status = cb_link_add(b, places.points, *first + body->ends[e][0], *first + body->ends[e][1], &body->link[e]);
  cb_places_free(&places);
  return status;
}

/* --- lists of links --- */

typedef struct rod_entry {
  const cb_node *length, *name;
} rod_entry;

/* Reads the keys of a map entry other than `between`. Spring data that are not given keep their values. */
static cb_status read_own(const cb_builder *b, const cb_node *node, cb_body_link *link) {
  static const cb_param rods[] = {
      {"length", CB_PARAM_NODE, offsetof(rod_entry, length), "", "units of length", "> 0", "", "length of the rod"},
      {"name", CB_PARAM_NODE, offsetof(rod_entry, name), "", "", "", "", "name of its constraint"},
      {.name = NULL},
  };
  static const char *const extra[] = {"between"};
  if (link->rigid) {
    rod_entry own;
    cb_status status = cb_params_bind(rods, node, node, extra, 1, &own);
    if (!status && own.name) status = cb_node_string(own.name, &link->name);
    if (!status && own.length) status = cb_target_read(own.length, "length", "> 0", &link->length);
    return status;
  }
  return read_spring(b, node, node, extra, 1, link);
}

static cb_status read_entry(const cb_builder *b, const cb_node *node, int n, cb_edge ends, cb_body_link *link) {
  const char *what = link->rigid ? "rods" : "springs";
  const cb_node *pair = node;
  if (node->kind == CB_NODE_MAP) {
    cb_status status = read_own(b, node, link);
    if (status) return status;
    pair = cb_node_get(node, "between");
  }
  if (!pair || pair->kind != CB_NODE_LIST || pair->count != 2)
    return cb_node_fail(pair ? pair : node, "%s: expected a pair [i, j] or {between: [i, j], ..}", what);
  for (int a = 0; a < 2; a++) {
    long long index;
    cb_status status = cb_node_int(pair->items[a], &index);
    if (status) return status;
    if (index < 0 || index >= n)
      return cb_node_fail(pair->items[a], "%s: expected a particle from 0 to %d, found %lld", what, n - 1, index);
    ends[a] = (int)index;
  }
  if (ends[0] == ends[1])
    return cb_node_fail(pair, "%s: expected two different particles, found %d twice", what, ends[0]);
  return CB_OK;
}

static cb_status grow(void **array, size_t count, size_t size) {
  void *p = realloc(*array, count * size);
  if (!p) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu links", count);
  *array = p;
  return CB_OK;
}

cb_status cb_links_read(cb_links *w, const cb_builder *b, const cb_node *list, const cb_body_link *base, int n) {
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST || list->count > INT_MAX / 2)
    return cb_node_fail(list, "%s: expected a list of pairs", base->rigid ? "rods" : "springs");
  const size_t count = (size_t)w->n + list->count + 1;
  cb_status status = grow((void **)&w->edge, count, sizeof *w->edge);
  if (!status) status = grow((void **)&w->link, count, sizeof *w->link);
  if (!status) status = grow((void **)&w->node, count, sizeof *w->node);
  for (size_t e = 0; e < list->count && !status; e++, w->n++) {
    w->link[w->n] = *base;
    w->node[w->n] = list->items[e];
    status = read_entry(b, list->items[e], n, w->edge[w->n], &w->link[w->n]);
  }
  return status;
}

cb_status cb_links_add(const cb_links *w, int first, cb_builder *b) {
  cb_status status = CB_OK;
  for (int e = 0; e < w->n && !status; e++)
    status = cb_link_add(b, w->node[e], first + w->edge[e][0], first + w->edge[e][1], &w->link[e]);
  return status;
}

static void links_free(cb_links *w) {
  free(w->edge);
  free(w->link);
  free(w->node);
  memset(w, 0, sizeof *w);
}

/* --- networks --- */

/* The rows of a rotation may deviate from orthonormal vectors by this much, because its numbers may be typed with few
 * digits. */
static const double off_rotation = 1e-6;

static void cb_network_free(cb_network *w) {
  free(w->tangent);
  free(w->edge);
  free(w->triangle);
  memset(w, 0, sizeof *w);
}

/* Reads the rotation r[3][3], the identity if node is NULL. Fails if its rows are not orthonormal. */
static cb_status read_rotation(const cb_node *node, double r[3][3]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r[i][j] = i == j;
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_LIST || node->count != 3)
    return cb_node_fail(node, "rotate: expected three rows of three numbers");
  for (int i = 0; i < 3; i++) {
    cb_status status = cb_node_reals(node->items[i], 3, r[i]);
    if (status) return status;
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double dot = r[i][0] * r[j][0] + r[i][1] * r[j][1] + r[i][2] * r[j][2];
      if (!(fabs(dot - (i == j)) <= off_rotation))
        return cb_node_fail(node, "rotate: expected orthonormal rows, found rows %d and %d with product %g", i, j, dot);
    }
  return CB_OK;
}

typedef struct mesh_params {
  const char *file;
  const cb_node *at, *rotate;
  double scale;
} mesh_params;

static const cb_param mesh_rows[] = {
    {"file", CB_PARAM_STRING, offsetof(mesh_params, file), NULL, "", "", "",
     "an OBJ or PLY file, relative to the scenario"},
    {"at", CB_PARAM_NODE, offsetof(mesh_params, at), "", "", "", "",
     "{chart: .., point: [..]}; if absent, the base point"},
    {"rotate", CB_PARAM_NODE, offsetof(mesh_params, rotate), "", "", "", "", "rotation of the mesh, three rows"},
    {"scale", CB_PARAM_REAL, offsetof(mesh_params, scale), "1", "units of length", "> 0", "",
     "length of one unit of the mesh"},
    {.name = NULL},
};

static cb_status take_mesh(cb_network *w, const cb_mesh *m, const cb_node *node, const cb_space *g, double scale,
                           double r[3][3]) {
  if (!m->n_vertices) return cb_node_fail(node, "mesh: the file has no vertices: expected at least one");
  if (m->n_vertices > INT_MAX / 8 || m->n_edges > INT_MAX / 8 || m->n_triangles > INT_MAX / 8)
    return cb_node_fail(node, "mesh: the file has %zu vertices, which is too many: expected a smaller mesh",
                        m->n_vertices);
  w->n = (int)m->n_vertices;
  w->n_edges = (int)m->n_edges;
  w->n_triangles = (int)m->n_triangles;
  w->tangent = malloc(m->n_vertices * (size_t)g->dim * sizeof(double));
  w->edge = malloc((m->n_edges + 1) * sizeof *w->edge);
  w->triangle = malloc((m->n_triangles + 1) * sizeof *w->triangle);
  if (!w->tangent || !w->edge || !w->triangle)
    return cb_fail(CB_ERROR_MEMORY, "no memory for a mesh of %d vertices", w->n);
  for (int i = 0; i < w->n; i++)
    for (int a = 0; a < 3; a++) {
      double v = 0;
      for (int b = 0; b < 3; b++) v += r[a][b] * m->vertices[i][b];
      if (a < g->dim)
        w->tangent[i * g->dim + a] = scale * v;
      else if (v != 0)
        return cb_node_fail(node, "mesh: vertex %d is not in the plane: expected z = 0 for a space of dimension %d", i,
                            g->dim);
    }
  memcpy(w->edge, m->edges, m->n_edges * sizeof *w->edge);
  memcpy(w->triangle, m->triangles, m->n_triangles * sizeof *w->triangle);
  return CB_OK;
}

/* Reads mesh: {file: x.obj, at: {chart: .., point: [..]}, scale: 0.1, rotate: [[..], [..], [..]]}. The name of the file
 * is relative to the folder of the scenario. */
static cb_status cb_network_from_mesh(cb_network *w, const cb_node *mesh, const cb_space *g) {
  mesh_params p;
  double r[3][3];
  cb_mesh *m = NULL;
  cb_status status = cb_params_bind(mesh_rows, mesh, mesh, NULL, 0, &p);
  if (!status) status = read_rotation(p.rotate, r);
  if (status) return status;
  const cb_node *file = cb_node_get(mesh, "file");
  char *path = cb_node_path(file);
  status = path ? cb_mesh_read_file(path, NULL, &m) : cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  free(path);
  if (status == CB_ERROR_FILE) return cb_fail_again(file, status);
  if (status) return cb_place_fail(file, status);
  w->at = p.at;
  status = take_mesh(w, m, file, g, p.scale, r);
  cb_mesh_free(m);
  return status;
}

typedef struct lattice_params {
  const cb_node *size, *at;
  double spacing;
} lattice_params;

static const cb_param lattice_rows[] = {
    {"size", CB_PARAM_NODE, offsetof(lattice_params, size), "", "", "", "",
     "numbers of particles along the axes of the lattice"},
    {"at", CB_PARAM_NODE, offsetof(lattice_params, at), "", "", "", "",
     "{chart: .., point: [..]}; if absent, the base point"},
    {"spacing", CB_PARAM_REAL, offsetof(lattice_params, spacing), "1", "units of length", "> 0", "",
     "distance between neighbours"},
    {.name = NULL},
};

static cb_status read_size(const cb_node *lattice, const cb_node *node, int dim, int size[3]) {
  size[0] = size[1] = size[2] = 1;
  if (!node || node->kind != CB_NODE_LIST || !node->count || node->count > (size_t)dim)
    return cb_node_fail(node ? node : lattice, "size: expected a list of up to %d integers", dim);
  long long total = 1;
  for (size_t a = 0; a < node->count; a++) {
    long long n;
    cb_status status = cb_node_int(node->items[a], &n);
    if (status) return status;
    if (n < 1 || n > INT_MAX / 16 / total)
      return cb_node_fail(node->items[a], "size: expected an integer >= 1, found %lld", n);
    total *= n;
    size[a] = (int)n;
  }
  return CB_OK;
}

/* Reads lattice: {size: [nx, ny, nz], spacing: .1, at: ..}: a box of particles around `at`, joined to their nearest
 * neighbours. */
static cb_status cb_network_from_lattice(cb_network *w, const cb_node *lattice, const cb_space *g) {
  lattice_params p;
  int size[3];
  cb_status status = cb_params_bind(lattice_rows, lattice, lattice, NULL, 0, &p);
  if (!status) status = read_size(lattice, p.size, g->dim, size);
  if (status) return status;
  w->n = size[0] * size[1] * size[2];
  w->at = p.at;
  w->tangent = malloc((size_t)w->n * (size_t)g->dim * sizeof(double));
  w->edge = malloc(3 * (size_t)w->n * sizeof *w->edge);
  if (!w->tangent || !w->edge) return cb_fail(CB_ERROR_MEMORY, "no memory for a lattice of %d particles", w->n);
  int stride[3] = {1, size[0], size[0] * size[1]};
  for (int i = 0; i < w->n; i++)
    for (int a = 0; a < 3; a++) {
      int at = i / stride[a] % size[a];
      if (a < g->dim) w->tangent[i * g->dim + a] = p.spacing * (at - 0.5 * (size[a] - 1));
      if (at + 1 < size[a]) {
        w->edge[w->n_edges][0] = i;
        w->edge[w->n_edges][1] = i + stride[a];
        w->n_edges++;
      }
    }
  return CB_OK;
}

cb_status cb_network_place(cb_network *w, const cb_node *mesh, const cb_node *lattice, const cb_node *body,
                           const cb_space *g, cb_places *places) {
  cb_status status = mesh      ? cb_network_from_mesh(w, mesh, g)
                     : lattice ? cb_network_from_lattice(w, lattice, g)
                               : cb_places_read(places, body, g, -1, true);
  if (!status && (mesh || lattice)) status = cb_places_make(places, body, g, w->at, w->n, w->tangent);
  if (!status) w->n = places->n;
  return status;
}

cb_status cb_network_add_triangles(const cb_network *w, int first, cb_builder *b) {
  cb_status status = CB_OK;
  for (int t = 0; t < w->n_triangles && !status; t++)
    status = cb_builder_triangle(b, first + w->triangle[t][0], first + w->triangle[t][1], first + w->triangle[t][2]);
  return status;
}

static int ascending(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Lists the neighbours of each particle: those of particle i are list[start[i]] to list[start[i + 1] - 1]. The caller
 * frees *start and *list. */
static cb_status neighbours(int n, int n_edges, const cb_edge *edge, size_t **start, int **list) {
  size_t *s = calloc((size_t)n + 2, sizeof *s);
  int *l = malloc((2 * (size_t)n_edges + 1) * sizeof *l);
  if (!s || !l) {
    free(s);
    free(l);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the neighbours of %d particles", n);
  }
  for (int e = 0; e < n_edges; e++) {
    s[edge[e][0] + 2]++;
    s[edge[e][1] + 2]++;
  }
  for (int i = 0; i < n; i++) s[i + 2] += s[i + 1];
  for (int e = 0; e < n_edges; e++) {
    l[s[edge[e][0] + 1]++] = edge[e][1];
    l[s[edge[e][1] + 1]++] = edge[e][0];
  }
  *start = s;
  *list = l;
  return CB_OK;
}

cb_status cb_network_second_neighbours(int n, int n_edges, const cb_edge *edge, int *n_pairs, cb_edge **pair) {
  size_t *start = NULL, capacity = 1024, count = 0;
  int *list = NULL;
  cb_status status = neighbours(n, n_edges, edge, &start, &list);
  if (status) return status;
  int *seen = malloc((size_t)n * sizeof *seen), *row = malloc((size_t)n * sizeof *row);
  cb_edge *out = malloc(capacity * sizeof *out);
  if (!seen || !row || !out) goto no_memory;
  for (int i = 0; i < n; i++) seen[i] = -1;
  for (int i = 0; i < n; i++) {
    int found = 0;
    seen[i] = i;
    for (size_t a = start[i]; a < start[i + 1]; a++) seen[list[a]] = i;
    for (size_t a = start[i]; a < start[i + 1]; a++)
      for (size_t b = start[list[a]]; b < start[list[a] + 1]; b++)
        if (list[b] > i && seen[list[b]] != i) {
          seen[list[b]] = i;
          row[found++] = list[b];
        }
    qsort(row, (size_t)found, sizeof *row, ascending);
    while (count + (size_t)found > capacity) {
      cb_edge *more = capacity > INT_MAX / 4 ? NULL : realloc(out, 2 * capacity * sizeof *out);
      if (!more) goto no_memory;
      out = more;
      capacity *= 2;
    }
    for (int a = 0; a < found; a++, count++) {
      out[count][0] = i;
      out[count][1] = row[a];
    }
  }
  free(start);
  free(list);
  free(seen);
  free(row);
  *n_pairs = (int)count;
  *pair = out;
  return CB_OK;
no_memory:
  free(start);
  free(list);
  free(seen);
  free(row);
  free(out);
  return cb_fail(CB_ERROR_MEMORY, "no memory for second neighbours of %d particles", n);
}

double cb_triangle_area(double curvature, double a, double b, double c) {
  double r = sqrt(fabs(curvature)), s = 0.5 * (a + b + c),
         half[4] = {0.5 * s, 0.5 * (s - a), 0.5 * (s - b), 0.5 * (s - c)}, p = 1;
  for (int i = 0; i < 4; i++)
    p *= curvature > 0 ? tan(r * half[i]) / r : curvature < 0 ? tanh(r * half[i]) / r : half[i];
  double root = sqrt(fmax(p, 0));
  return curvature == 0 ? 4 * root : 4 / fabs(curvature) * atan(fabs(curvature) * root);
}

/* Returns the distance of two placed particles. */
static double apart(const cb_space *g, const cb_places *p, int i, int j) {
  const double *x = g->chart ? p->q : p->x;
  return cb_place_apart(g, x + (size_t)i * (size_t)g->k, x + (size_t)j * (size_t)g->k);
}

/* Computes mass[n]: density times a third of the area of the triangles at a vertex, or times half the length of its
 * edges if there are no triangles. In a product of spaces triangles count as flat. Fails if a mass is not positive. */
static cb_status cb_network_masses(const cb_network *w, const cb_space *g, const cb_places *p, double density,
                                   const cb_node *where, double *mass) {
  double curvature = g->n_factors == 1 ? g->factor[0].curvature : 0;
  for (int i = 0; i < w->n; i++) mass[i] = 0;
  for (int t = 0; t < w->n_triangles; t++) {
    const int *v = w->triangle[t];
    double area =
        cb_triangle_area(curvature, apart(g, p, v[0], v[1]), apart(g, p, v[1], v[2]), apart(g, p, v[2], v[0]));
    for (int a = 0; a < 3; a++) mass[v[a]] += density * area / 3;
  }
  for (int e = 0; e < w->n_edges && !w->n_triangles; e++)
    for (int a = 0; a < 2; a++) mass[w->edge[e][a]] += density * apart(g, p, w->edge[e][0], w->edge[e][1]) / 2;
  for (int i = 0; i < w->n; i++)
    if (!(mass[i] > 0) || !isfinite(mass[i]))
      return cb_node_fail(
          where, "density: particle %d belongs to no %s, so its mass would be %g: expected `mass` or `masses` instead",
          i, w->n_triangles ? "triangle" : "edge", mass[i]);
  return CB_OK;
}

cb_status cb_network_weigh(const cb_network *w, const cb_space *g, const cb_places *p, double density,
                           const cb_matter *matter, const cb_node *body, double **mass) {
  const cb_node *where = cb_node_get(body, "density");
  if (isnan(density)) return CB_OK;
  if (matter->masses || cb_node_get(body, "mass"))
    return cb_node_fail(where, "density: given next to `mass` or `masses`, expected one");
  *mass = malloc((size_t)w->n * sizeof **mass);
  if (!*mass) return cb_fail(CB_ERROR_MEMORY, "no memory for %d masses", w->n);
  return cb_network_masses(w, g, p, density, where, *mass);
}

cb_status cb_network_build(cb_network_fill *fill, const void *params, const cb_node *node, const cb_space *space,
                           cb_builder *b) {
  cb_network w = {0};
  cb_places places = {0};
  cb_links links = {0};
  double *mass = NULL;
  cb_status status = fill(params, node, space, b, &w, &places, &links, &mass);
  cb_network_free(&w);
  cb_places_free(&places);
  links_free(&links);
  free(mass);
  return status;
}
