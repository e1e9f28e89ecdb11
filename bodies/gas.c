/* A gas: n spheres of one radius at random places without overlap, with random velocities, from a seed.
 *
 *   places      Uniform by volume in a geodesic ball, or on all of a sphere S^n: x = exp_at(t), t uniform in a flat
 *               ball and accepted with a probability proportional to the volume element of exp. This is prod_f
 *               (S_f(|t_f|)/|t_f|)^(dim_f - 1) over the factors f of the space, of dimension dim_f, where t_f is the
 *               part of t in factor f. S_f(r) is sin r for a sphere, sinh r for a hyperbolic space and r for a flat
 *               space, in units of the radius of curvature. Spheres are added one after another, and a random place is
 *               rejected if the sphere would overlap an earlier one (random sequential addition). In spaces that are
 *               given only by a metric, t is uniform; the places are then uniform by volume only for small balls.
 *   velocities  All have one speed and random directions, or they have Maxwell's distribution: each component is normal
 *               with variance T/m.
 *   masses      All equal, listed, or uniform in [mass, mass_max].
 * T is the temperature in units of energy, and m the mass. Units are those of the scenario.
 * Sources: B. Widom, J. Chem. Phys. 44, 3888 (1966), doi:10.1063/1.1726548 (random sequential addition); G. L. Steele,
 * D. Lea, C. H. Flood, OOPSLA 2014, doi:10.1145/2660193.2660195 (splitmix64); G. E. P. Box, M. E. Muller, Ann. Math.
 * Stat. 29, 610 (1958), doi:10.1214/aoms/1177706645.
 */
#include "bodies/place.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* MAXIMUM: maximum number of spheres. TRIALS: maximum number of random places that are tried for one sphere. FARTHEST:
 * maximum radius of the ball in H^n, in radii of curvature. Farther out, distances lose the digits that distinguish
 * spheres. */
enum { MAXIMUM = 10000000, TRIALS = 100000, FARTHEST = 15 };

static const double pi = 3.14159265358979323846;

typedef struct params {
  int count, seed;
  double container_radius, speed, temperature, mass_max;
  const cb_node *at;
  cb_matter matter;
} params;

static const cb_param rows[] = {
    {"count", CB_PARAM_INT, offsetof(params, count), NULL, "", "> 0", "", "number of spheres"},
    {"seed", CB_PARAM_INT, offsetof(params, seed), "1", "", ">= 0", "", "seed of the random numbers"},
    {"at", CB_PARAM_NODE, offsetof(params, at), "", "", "", "",
     "centre of the ball, {chart: .., point: [..]}; if absent, the base point"},
    {"container_radius", CB_PARAM_REAL, offsetof(params, container_radius), "nan", "units of length", "> 0", "",
     "radius of the ball that contains the spheres; if absent, all of a sphere S^n"},
    {"speed", CB_PARAM_REAL, offsetof(params, speed), "nan", "units of length per time", ">= 0", "",
     "speed of each sphere, in a random direction"},
    {"temperature", CB_PARAM_REAL, offsetof(params, temperature), "nan", "units of energy", ">= 0", "",
     "instead of speed: temperature of Maxwell's distribution"},
    {"mass_max", CB_PARAM_REAL, offsetof(params, mass_max), "nan", "units of mass", "> 0", "",
     "masses are random between `mass` and this value"},
    CB_MATTER_ROWS(params, matter),
    {.name = NULL},
};

/* --- random numbers --- */

static double uniform(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void normals(uint64_t *state, int n, double *out) {
  for (int a = 0; a < n; a += 2) {
    const double r = sqrt(-2 * log1p(-uniform(state))), angle = 2 * pi * uniform(state);
    out[a] = r * cos(angle);
    if (a + 1 < n) out[a + 1] = r * sin(angle);
  }
}

/* Draws a vector of this length in a random direction. */
static void directed(uint64_t *state, int n, double length, double *out) {
  double square;
  do {
    normals(state, n, out);
    square = 0;
    for (int a = 0; a < n; a++) square += out[a] * out[a];
  } while (!(square > 0));
  for (int a = 0; a < n; a++) out[a] *= length / sqrt(square);
}

/* --- places --- */

/* Spheres, sorted into cells whose side is a diameter. The cells are cubes in coordinates z, in which distances are not
 * longer than in the space. In a factor of curvature > 0, z are the coordinates of the embedding. In a factor of
 * curvature <= 0, z are the components of the tangent vector t (top of this file). If only a metric is given, there is
 * one cell. */
typedef struct gas {
  const cb_space *g;
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX];
  /* reach: the maximum of |t|; apart: the minimum distance of the centres of two spheres */
  double reach, apart;
  uint64_t state;
  int n, *next, *head;
  size_t cells; /* the size of the hash table of cells, a power of 2 */
  double *t, *x;
} gas;

static int cell_of(const gas *w, const double *t, const double *x, int64_t *cell) {
  const cb_space *g = w->g;
  int size = 0;
  for (int f = 0, first = 0; f < g->n_factors && !g->intrinsic; f++) {
    const cb_factor factor = g->factor[f];
    const int dim = factor.curvature == 0 ? factor.count : factor.count - 1;
    const double *z = factor.curvature > 0 ? x + factor.offset : t + first;
    for (int a = 0; a < (factor.curvature > 0 ? factor.count : dim); a++)
      cell[size++] = (int64_t)floor(z[a] / w->apart);
    first += dim;
  }
  return size;
}

static size_t slot_of(const gas *w, const int64_t *cell, int size) {
  uint64_t hash = 0;
  for (int a = 0; a < size; a++) hash = (hash ^ (uint64_t)cell[a]) * 0x9e3779b97f4a7c15u;
  return (hash ^ (hash >> 32)) & (w->cells - 1);
}

static bool meets(const gas *w, size_t slot, const double *x) {
  const cb_space *g = w->g;
  for (int i = w->head[slot]; i >= 0; i = w->next[i]) {
    const double *y = w->x + (size_t)i * (size_t)g->embedding;
    if (!((g->intrinsic ? cb_place_apart(g, x, y) : cb_distance(g, x, y)) > w->apart)) return true;
  }
  return false;
}

/* Returns whether a sphere fits at x without overlap, and sets *slot to the slot of its cell in the hash table. */
static bool is_free(const gas *w, const double *t, const double *x, size_t *slot) {
  int64_t cell[CB_COORD_MAX], near[CB_COORD_MAX];
  *slot = 0;
  if (w->apart == 0) return true;
  const int size = cell_of(w, t, x, cell);
  int neighbours = 1;
  for (int a = 0; a < size; a++) neighbours *= 3;
  for (int c = 0; c < neighbours; c++) {
    for (int a = 0, rest = c; a < size; a++, rest /= 3) near[a] = cell[a] + rest % 3 - 1;
    if (meets(w, slot_of(w, near, size), x)) return false;
  }
  *slot = slot_of(w, cell, size);
  return true;
}

/* Returns the volume element of exp at t, relative to its maximum in the ball; 0 beyond the antipode. */
static double weight(const gas *w, const double *t) {
  double part = 1;
  for (int f = 0, first = 0; f < w->g->n_factors && !w->g->intrinsic; f++) {
    const cb_factor factor = w->g->factor[f];
    const int dim = factor.curvature == 0 ? factor.count : factor.count - 1;
    double square = 0;
    for (int a = 0; a < dim; a++) square += t[first + a] * t[first + a];
    const double r = sqrt(fabs(factor.curvature) * square), maximum = sqrt(fabs(factor.curvature)) * w->reach;
    if (factor.curvature > 0 && r >= pi) return 0;
    if (factor.curvature > 0 && r > 0) part *= pow(sin(r) / r, dim - 1);
    if (factor.curvature < 0) part *= pow((r > 0 ? sinh(r) / r : 1) * maximum / sinh(maximum), dim - 1);
    first += dim;
  }
  return part;
}

/* Draws a random point of the ball: t and x = exp_at(t). */
static void draw(gas *w, double *t, double *x) {
  const cb_space *g = w->g;
  double v[CB_COORD_MAX] = {0};
  do directed(&w->state, g->dim, w->reach * pow(uniform(&w->state), 1.0 / g->dim), t);
  while (!(uniform(&w->state) < weight(w, t)));
  for (int a = 0; a < g->dim; a++)
    for (int b = 0; b < g->embedding; b++) v[b] += t[a] * w->frame[a * g->embedding + b];
  cb_exp(g, w->base, v, x, NULL);
}

static cb_status fill_ball(gas *w, const params *p, const cb_node *node) {
  for (; w->n < p->count; w->n++) {
    double *t = w->t + (size_t)w->n * (size_t)w->g->dim, *x = w->x + (size_t)w->n * (size_t)w->g->embedding;
    size_t slot = 0;
    int trial = 0;
    do draw(w, t, x);
    while (!is_free(w, t, x, &slot) && ++trial < TRIALS);
    if (trial == TRIALS)
      return cb_node_fail(cb_node_get(node, "count"),
                          "count: %d of %d spheres of radius %g could be placed, but %d trials found no place for the "
                          "next one: expected fewer or smaller spheres, or a larger ball",
                          w->n, p->count, p->matter.radius, TRIALS);
    w->next[w->n] = w->head[slot];
    w->head[slot] = w->n;
  }
  return CB_OK;
}

/* Finds *reach, the radius of the ball from which t is drawn, from the keys of the body. */
static cb_status read_reach(const params *p, const cb_node *node, const cb_space *g, double *reach) {
  const cb_node *container_radius = cb_node_get(node, "container_radius");
  double maximum = INFINITY;
  const bool sphere = !g->intrinsic && g->n_factors == 1 && g->factor[0].curvature > 0;
  if (isnan(p->container_radius)) {
    if (!sphere)
      return cb_node_fail(
          node,
          "missing key 'container_radius': expected the radius of the ball that contains the gas; only a "
          "sphere S^n can be filled completely");
    *reach = pi / sqrt(g->factor[0].curvature);
    return CB_OK;
  }
  for (int f = 0; f < g->n_factors && !g->intrinsic; f++)
    if (g->factor[f].curvature < 0) maximum = fmin(maximum, FARTHEST / sqrt(-g->factor[f].curvature));
  if (p->container_radius > maximum)
    return cb_node_fail(container_radius, "container_radius: expected a radius of at most %g, %d radii of curvature",
                        maximum, FARTHEST);
  if (!(p->container_radius > p->matter.radius))
    return cb_node_fail(
        container_radius,
        "container_radius: a ball of radius %g cannot contain a sphere of radius %g: expected a larger ball",
        p->container_radius, p->matter.radius);
  *reach = p->container_radius - p->matter.radius;
  if (sphere) *reach = fmin(*reach, pi / sqrt(g->factor[0].curvature));
  return CB_OK;
}

static cb_status allocate(gas *w, int count) {
  const size_t n = (size_t)count;
  for (w->cells = 64; w->cells < 2 * n; w->cells *= 2) {
  }
  w->t = malloc(n * (size_t)w->g->dim * sizeof *w->t);
  w->x = malloc(n * (size_t)w->g->embedding * sizeof *w->x);
  w->next = malloc(n * sizeof *w->next);
  w->head = malloc(w->cells * sizeof *w->head);
  if (!w->t || !w->x || !w->next || !w->head) return cb_fail(CB_ERROR_MEMORY, "no memory for %d spheres", count);
  for (size_t i = 0; i < w->cells; i++) w->head[i] = -1;
  return CB_OK;
}

/* --- masses and velocities --- */

static cb_status make_masses(gas *w, const params *p, const cb_node *node, double *mass) {
  const cb_node *mass_max = cb_node_get(node, "mass_max"), *list = p->matter.masses;
  const double maximum = mass_max ? p->mass_max : p->matter.mass;
  if (list && mass_max) return cb_node_fail(mass_max, "mass_max: given next to `masses`, expected one of the two");
  if (list && cb_node_get(node, "mass"))
    return cb_node_fail(list, "masses: given next to `mass`, expected one of the two");
  if (list) return cb_node_reals(list, (size_t)p->count, mass);
  if (maximum < p->matter.mass)
    return cb_node_fail(mass_max, "mass_max: expected at least the mass %g, found %g", p->matter.mass, maximum);
  for (int i = 0; i < p->count; i++)
    mass[i] = mass_max ? p->matter.mass + (maximum - p->matter.mass) * uniform(&w->state) : maximum;
  return CB_OK;
}

static cb_status make_velocities(gas *w, const params *p, const cb_node *node, const double *mass, cb_places *places) {
  const cb_space *g = w->g;
  cb_status status = CB_OK;
  if (!isnan(p->speed) && !isnan(p->temperature))
    return cb_node_fail(cb_node_get(node, "temperature"),
                        "temperature: given next to `speed`, expected one of the two");
  if (isnan(p->speed) && isnan(p->temperature)) return CB_OK;
  for (int i = 0; i < places->n && !status; i++) {
    double c[CB_COORD_MAX], e[CB_DIM_MAX * CB_COORD_MAX], q[CB_DIM_MAX];
    const double *x = places->x + (size_t)i * (size_t)g->embedding;
    double *v = places->v + (size_t)i * (size_t)g->embedding;
    if (!isnan(p->speed)) {
      directed(&w->state, g->dim, p->speed, c);
    } else {
      normals(&w->state, g->dim, c);
      for (int a = 0; a < g->dim; a++) c[a] *= sqrt(p->temperature / mass[i]);
    }
    cb_space_frame(g, x, e);
    for (int a = 0; a < g->dim; a++)
      for (int b = 0; b < g->embedding; b++) v[b] += c[a] * e[a * g->embedding + b];
    if (g->chart) status = cb_chart_pull(g, g->chart, x, v, q, places->u + (size_t)i * (size_t)g->dim);
  }
  return status ? cb_place_fail(node, status) : CB_OK;
}

static cb_status make(gas *w, const params *p, const cb_node *node, cb_builder *b, cb_places *places, double *mass) {
  const cb_space *g = w->g;
  cb_origin origin; /* the origin of the point `at`: all positions are computed relative to it */
  int first;
  cb_space_base_point(g, w->base);
  cb_status status = p->at ? cb_place_point(p->at, "at", g, &origin, w->base) : CB_OK;
  if (status) return status;
  cb_space_frame(g, w->base, w->frame);
  status = read_reach(p, node, g, &w->reach);
  if (!status) status = allocate(w, p->count);
  if (!status) status = make_masses(w, p, node, mass);
  if (!status) status = fill_ball(w, p, node);
  if (!status) status = cb_places_make(places, node, g, p->at, p->count, w->t);
  if (!status) status = make_velocities(w, p, node, mass, places);
  return status ? status : cb_places_add(places, node, &p->matter, mass, b, &first);
}

static cb_status build(const void *given, const cb_node *node, const cb_space *space, cb_builder *b) {
  const params *p = given;
  if (p->count > MAXIMUM)
    return cb_node_fail(cb_node_get(node, "count"), "count: expected at most %d, found %d", MAXIMUM, p->count);
  if (space->dim > CB_DIM_MAX || (space->chart && !space->chart->to_point))
    return cb_node_fail(node, "a gas needs a space with geodesics, found only a chart: set `space` without `chart`");
  gas w = {.g = space, .apart = 2 * p->matter.radius, .state = (uint64_t)p->seed};
  cb_places places = {0};
  double *mass = malloc((size_t)p->count * sizeof *mass);
  cb_status status = mass ? make(&w, p, node, b, &places, mass) : cb_fail(CB_ERROR_MEMORY, "no memory for a gas");
  cb_places_free(&places);
  free(mass);
  free(w.t);
  free(w.x);
  free(w.next);
  free(w.head);
  return status;
}

const cb_body_class cb_body_gas = {
    .name = "gas",
    .title = "gas",
    .doc =
        "Spheres at random places without overlap, all with the same speed or at a temperature; they collide if the "
        "scenario has `contacts: {within: [name]}`.",
    .params = rows,
    .params_size = sizeof(params),
    .build = build,
};
