/* Writes particles to the page: the bonds between them, and their positions relative to moving frames. Each connected
 * component of particles has one moving frame.
 *
 * Each frame of the page has origins [component][16] as in the record, the moving frames `carry` [component][4][4]
 * relative to the origins, and positions [particle][3 or 4] relative to `carry`. More than MAX_COMPONENTS components
 * have one common moving frame. For records without state, positions are computed from the plot coordinates. In spaces
 * without quadrics the positions are plot coordinates relative to their mean, and bonds are geodesics, which are
 * sampled here. */
#include "dynamics/constraint_private.h"
#include "geometry/origin.h"
#include "geometry/text_metric.h"
#include "view/view_private.h"

#include <curvebody/intrinsic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COMPONENTS = 64, SAMPLES = 9, MAX_SAMPLED = 40000, PARTS = 16, LATTICE = 49 };

typedef struct crowd {
  const cb_view *v;
  size_t n, components, bonds, stride;
  double *component, *bond_i, *bond_j; /* from the record: component of each particle, and the two particles of each
                                        * bond */
  double *position, *origin, *x;       /* values at the frames; NULL: the record does not have them */
  size_t width;                        /* number of coordinates of a position */
  double *place, *lead, *carry;        /* arrays of the page: positions, origins, and moving frames (carry) */
} crowd;

static bool has_state(const cb_view *v) { return cb_view_field(v, "position") >= 0 && cb_view_field(v, "origin") >= 0; }

cb_status cb_view_particles_size(const cb_view *v, size_t *size) {
  const int x = cb_view_field(v, "plot_position");
  *size = 1;
  if (x < 0 || v->fields[x].rank != 2) return CB_OK;
  size_t bonds = 0, n = v->fields[x].shape[0];
  const cb_status status = cb_reader_count(v->reader, "bond_i", &bonds);
  if (status == CB_ERROR_MEMORY) return status; /* other failures are reported when the bonds are read */
  if (status) bonds = 0;
  const bool sampled = !v->space && has_state(v) && bonds <= 500;
  *size = 16 * n + (n < MAX_COMPONENTS ? n : MAX_COMPONENTS) * 256 + (sampled ? 12 * SAMPLES * bonds : 0);
  return CB_OK;
}

static void free_crowd(crowd *c) {
  free(c->component);
  free(c->bond_i);
  free(c->bond_j);
  free(c->position);
  free(c->origin);
  free(c->x);
  free(c->place);
  free(c->lead);
  free(c->carry);
}

/* Writes to the page the labels of the dimension `from`, if the dimension has n labels (SIZE_MAX: any number) and they
 * are few enough to be shown. */
static cb_status texts(const cb_view *v, const char *from, const char *to, size_t n) {
  const char *const *label;
  size_t count = 0;
  cb_status status = cb_reader_labels(v->reader, from, &label);
  if (!status && label) status = cb_reader_count(v->reader, from, &count);
  if (!status && label && (count == n || n == SIZE_MAX) && count <= 10000) cb_page_texts(v->page, to, count, label);
  return status;
}

static cb_status constants(crowd *c) {
  const cb_view *v = c->v;
  double *number;
  size_t n, m;
  static const char *const names[] = {"particle_radius", "particle_mass", "particle_body"};
  cb_status status = cb_view_constant(v, "bond_i", &c->bond_i, &c->bonds);
  if (!status) status = cb_view_constant(v, "bond_j", &c->bond_j, &m);
  if (!status && m != c->bonds) c->bonds = 0;
  for (size_t b = 0; b < c->bonds && !status; b++)
    if (!(c->bond_i[b] >= 0 && c->bond_i[b] < (double)c->n && c->bond_j[b] >= 0 && c->bond_j[b] < (double)c->n))
      status = cb_fail(CB_ERROR_INPUT, "%s: bond %zu connects a particle that does not exist: the record is damaged",
                       v->path, b);
  if (!status) status = cb_view_constant(v, "particle_component", &c->component, &n);
  if (!status && n != c->n) {
    free(c->component);
    c->component = NULL;
  }
  c->components = 1;
  for (size_t a = 0; c->component && a < c->n && !status; a++)
    if (!(c->component[a] < (double)c->n))
      status = cb_fail(CB_ERROR_INPUT, "%s: particle %zu is in a component that does not exist: the record is damaged",
                       v->path, a);
    else if (c->component[a] + 1 > (double)c->components)
      c->components = (size_t)c->component[a] + 1;
  cb_page_number(v->page, "count", (double)c->n);
  for (int i = 0; i < 3 && !status; i++) {
    status = cb_view_constant(v, names[i], &number, &n);
    if (!status && n == c->n) status = cb_page_array(v->page, names[i] + 9, CB_PAGE_F4, n, 0, 0, number);
    free(number);
  }
  if (!status) status = cb_page_array(v->page, "bond_i", CB_PAGE_I4, c->bonds, 0, 0, c->bond_i);
  if (!status) status = cb_page_array(v->page, "bond_j", CB_PAGE_I4, c->bonds, 0, 0, c->bond_j);
  /* among the bonds, springs come before rods */
  const cb_system *system = v->scenario ? cb_scenario_system(v->scenario) : NULL;
  cb_page_number(v->page, "springs", system ? (double)cb_system_springs(system) : 0);
  if (!status) status = texts(v, "particle_name", "name", c->n);
  if (!status) status = texts(v, "body", "body_name", SIZE_MAX);
  return status;
}

static size_t component_of(const crowd *c, size_t particle) {
  return c->components > 1 && c->component && c->component[particle] >= 0 ? (size_t)c->component[particle] : 0;
}

/* Makes an origin from its numbers in the record. */
static cb_origin origin_of(const double *part) {
  cb_origin o;
  memcpy(&o, part, sizeof o);
  return o;
}

/* Computes the position x of a particle in the embedding, relative to its origin. Returns false if this fails. */
static bool point_of(const crowd *c, size_t frame, size_t particle, double *x) {
  const cb_space *g = c->v->space;
  const size_t at = frame * c->n + particle;
  if (!c->position) {
    const cb_chart *plot = cb_chart_find(g, g->plot);
    return plot && plot->size <= 3 && plot->to_point(g, c->x + 3 * at, x, NULL) == CB_OK;
  }
  if (g->chart) return g->chart->to_point(g, c->position + at * c->width, x, NULL) == CB_OK;
  memcpy(x, c->position + at * c->width, (size_t)g->embedding * sizeof *x);
  return true;
}

/* Computes the centre of a component: the mean of the coordinates, projected to the quadric along the radius. An
 * isometry therefore moves the centre in the same way as the particles. */
static void mean_of(const crowd *c, const double *point, size_t component, double *mean) {
  const cb_space *g = c->v->space;
  const size_t k = (size_t)g->embedding;
  size_t count = 0;
  memset(mean, 0, k * sizeof *mean);
  for (size_t a = 0; a < c->n; a++) {
    if (component_of(c, a) != component) continue;
    for (size_t e = 0; e < k; e++) mean[e] += point[a * k + e];
    count++;
  }
  for (size_t e = 0; e < k; e++) mean[e] /= count ? (double)count : 1;
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    double square = 0;
    for (int e = factor.offset; e < factor.offset + factor.count; e++)
      square += factor.curvature * g->form[e] * mean[e] * mean[e];
    for (int e = factor.offset; square > 1e-3 && e < factor.offset + factor.count; e++) mean[e] /= sqrt(square);
    if (factor.curvature > 0 &&
        square <= 1e-3) /* the particles are spread over the sphere: the position of one of them is used */
      memcpy(mean + factor.offset, point + factor.offset, (size_t)factor.count * sizeof *mean);
  }
  cb_space_project_point(g, mean);
}

/* Fills one frame of the page in a space of quadrics: the origins, the moving frames, and the positions relative to
 * these frames. */
static cb_status put_frame(crowd *c, size_t frame, double *point, cb_origin *before, cb_isometry *carried) {
  const cb_space *g = c->v->space;
  const size_t k = (size_t)g->embedding;
  const bool own = c->components <= MAX_COMPONENTS;
  const size_t frames = own ? c->components : 1;
  cb_origin identity, origin;
  cb_origin_identity(g, &identity);
  for (size_t a = 0; a < c->n; a++) {
    double world[CB_COORD_MAX];
    if (!point_of(c, frame, a, point + a * k))
      for (size_t e = 0; e < k; e++) point[a * k + e] = NAN;
    if (own || !c->origin || g->chart) continue;
    origin = origin_of(c->origin + (frame * c->components + component_of(c, a)) * PARTS);
    cb_origin_world_point(g, &origin, point + a * k, world);
    memcpy(point + a * k, world, k * sizeof *world);
  }
  for (size_t m = 0; m < frames; m++) {
    double mean[CB_COORD_MAX], z[CB_COORD_MAX];
    cb_isometry inverse;
    origin = own && c->origin && !g->chart ? origin_of(c->origin + (frame * c->components + m) * PARTS) : identity;
    if (!cb_origin_moves(g)) origin = identity;
    if (own)
      mean_of(c, point, m, mean);
    else
      cb_space_base_point(g, mean);
    if (!frame) {
      before[m] = origin;
      cb_isometry_to(g, mean, &carried[m]);
    }
    cb_isometry next = carried[m];
    if (frame && own) cb_carry_on(g, &before[m], &carried[m], &origin, mean, &next);
    carried[m] = next;
    before[m] = origin;
    const size_t at = frame * frames + m;
    memcpy(c->lead + at * PARTS, &origin, sizeof origin);
    cb_carry_matrix(g, &next, c->carry + at * 16);
    cb_isometry_inverse(g, &next, &inverse);
    for (size_t a = 0; a < c->n; a++) {
      if (own && component_of(c, a) != m) continue;
      double *out = c->place + (frame * c->n + a) * c->stride;
      cb_isometry_point(g, &inverse, point + a * k, z);
      for (size_t s = 0; s < c->stride; s++) out[s] = 0;
      for (int e = 0; e < g->embedding; e++)
        if ((size_t)cb_carry_slot(g, e) < c->stride) out[cb_carry_slot(g, e)] = z[e];
    }
  }
  return CB_OK;
}

static cb_status quadric_frames(crowd *c) {
  const cb_space *g = c->v->space;
  const size_t frames = c->components <= MAX_COMPONENTS ? c->components : 1, n = c->v->n_frames;
  cb_isometry *carried = malloc(frames * sizeof *carried);
  cb_origin *before = malloc(frames * sizeof *before);
  double *point = malloc((c->n ? c->n : 1) * (size_t)g->embedding * sizeof *point);
  cb_status status = carried && before && point ? CB_OK : cb_view_memory(c->v);
  for (size_t f = 0; f < n && !status; f++) status = put_frame(c, f, point, before, carried);
  free(carried);
  free(before);
  free(point);
  return status;
}

/* Fills all frames with plot coordinates relative to the mean of each frame. */
static void plot_frames(crowd *c) {
  for (size_t f = 0; f < c->v->n_frames; f++) {
    double mean[3] = {0};
    const double *x = c->x + 3 * f * c->n;
    for (size_t a = 0; a < c->n; a++)
      for (int i = 0; i < 3; i++) mean[i] += x[3 * a + (size_t)i] / (double)c->n;
    cb_origin origin = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .direction = {1}};
    const double size = sqrt(mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
    origin.length = size;
    for (int i = 0; i < 3 && size > 0; i++) origin.direction[i] = mean[i] / size;
    memcpy(c->lead + f * PARTS, &origin, sizeof origin);
    for (int i = 0; i < 4; i++) c->carry[f * 16 + 5 * (size_t)i] = 1;
    for (size_t a = 0; a < c->n; a++)
      for (int i = 0; i < 3; i++) c->place[(f * c->n + a) * 3 + (size_t)i] = x[3 * a + (size_t)i] - mean[i];
  }
}

/* Computes plot coordinates of points on the geodesic from q to y, which are given relative to the origin. Returns
 * false if no geodesic can be computed. */
static bool sample(const cb_space *g, const cb_origin *origin, const double *q, const double *y, double (*out)[3]) {
  double u[CB_Q_MAX], step[CB_Q_MAX], at[CB_Q_MAX], w[CB_Q_MAX];
  if (cb_log(g, q, y, u)) return false;
  for (int s = 0; s < SAMPLES; s++) {
    for (int i = 0; i < g->dim; i++) step[i] = u[i] * s / (SAMPLES - 1);
    cb_status status = CB_OK;
    if (!s)
      memcpy(at, q, (size_t)g->dim * sizeof *at);
    else if (g->intrinsic->exp)
      status = g->intrinsic->exp(g, q, step, at, w);
    else
      status = cb_numeric_exp(g, q, step, at, w, NULL);
    if (status) return false;
    cb_origin_plot(g, origin, at, NULL, out[s], NULL);
  }
  return true;
}

/* Writes the bonds of a space without quadrics as sampled points. Like positions, the points are plot coordinates
 * relative to the mean of the frame. A bond is a straight line in these coordinates if its geodesic cannot be computed.
 * If the record has no state, or there are more than MAX_SAMPLED bonds in all frames, nothing is written, and the page
 * draws straight lines. */
static cb_status sampled_bonds(const crowd *c, const cb_space *g) {
  const size_t n = c->v->n_frames, values = n * c->bonds * SAMPLES * 3;
  if (!g || !c->position || !c->origin || g->dim > 3 || n * c->bonds > MAX_SAMPLED) return CB_OK;
  double *out = malloc((values ? values : 1) * sizeof *out), (*at)[3] = (double(*)[3])out;
  if (!out) return cb_view_memory(c->v);
  for (size_t f = 0; f < n; f++)
    for (size_t b = 0; b < c->bonds; b++, at += SAMPLES) {
      const size_t i = f * c->n + (size_t)c->bond_i[b], j = f * c->n + (size_t)c->bond_j[b];
      const double *lead = c->lead + f * PARTS;
      const cb_origin o = origin_of(c->origin + (f * c->components + component_of(c, (size_t)c->bond_i[b])) * PARTS);
      const bool done = sample(g, &o, c->position + i * c->width, c->position + j * c->width, at);
      for (size_t s = 0; s < SAMPLES; s++)
        for (size_t e = 0; e < 3; e++)
          at[s][e] =
              done ? at[s][e] - lead[0] * lead[1 + e]
                   : c->place[3 * i + e] + (c->place[3 * j + e] - c->place[3 * i + e]) * (double)s / (SAMPLES - 1);
    }
  const cb_status status = cb_page_array(c->v->page, "bonds", CB_PAGE_F4, n, c->bonds, SAMPLES * 3, out);
  free(out);
  return status;
}

/* The key `plot` of a metric may list several points for each particle, of which the last one is its position. Writes
 * all points before the last, relative to the mean position of the particles in each frame of the page. */
static cb_status put_arms(const crowd *c, const cb_space *g) {
  double x[CB_TEXT_POINTS][3];
  const size_t arms = (size_t)cb_text_metric_arms(g, c->position, x), all = c->v->n_frames * c->n;
  if (!arms) return CB_OK;
  double *out = malloc(all * arms * 3 * sizeof *out);
  if (!out) return cb_view_memory(c->v);
  for (size_t i = 0; i < all; i++) {
    const double *lead = c->lead + i / c->n * PARTS;
    cb_text_metric_arms(g, c->position + i * c->width, x);
    for (size_t e = 0; e < 3 * arms; e++) out[3 * arms * i + e] = x[e / 3][e % 3] - lead[0] * lead[1 + e % 3];
  }
  const cb_status status = cb_page_array(c->v->page, "arms", CB_PAGE_F4, c->v->n_frames, c->n * arms, 3, out);
  free(out);
  return status;
}

/* Finds the range of coordinate d in which the particles move, with a margin. For a periodic coordinate it is one
 * period around the middle of this range. */
static void range_of(const crowd *c, const cb_space *g, size_t d, double *low, double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t i = 0; i < c->v->n_frames * c->n; i++) {
    *low = fmin(*low, c->position[i * c->width + d]);
    *high = fmax(*high, c->position[i * c->width + d]);
  }
  const double middle = (*low + *high) / 2, period = g->intrinsic->period[d];
  const double half = period > 0 ? period / 2 : fmax(0.75 * (*high - *low), 0.25 * fmax(1, fabs(middle)));
  *low = middle - half;
  *high = middle + half;
}

/* Writes a lattice of points of a two-dimensional space, in plot coordinates. The lattice covers the coordinates that
 * the particles pass. Points outside the domain of the space are nan. */
static cb_status put_lattice(const crowd *c, const cb_space *g) {
  double low[2], high[2], q[CB_Q_MAX], *out = malloc(LATTICE * LATTICE * 3 * sizeof *out);
  cb_origin origin;
  if (!out) return cb_view_memory(c->v);
  cb_origin_identity(g, &origin);
  for (size_t d = 0; d < 2; d++) range_of(c, g, d, &low[d], &high[d]);
  for (int i = 0; i < LATTICE * LATTICE; i++) {
    q[0] = low[0] + (high[0] - low[0]) * (i / LATTICE) / (LATTICE - 1);
    q[1] = low[1] + (high[1] - low[1]) * (i % LATTICE) / (LATTICE - 1);
    const bool inside = !g->intrinsic->inside || g->intrinsic->inside(g, q) == CB_OK;
    out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = NAN;
    if (inside) cb_origin_plot(g, &origin, q, NULL, out + 3 * i, NULL);
  }
  const cb_status status = cb_page_array(c->v->page, "lattice", CB_PAGE_F4, LATTICE, LATTICE, 3, out);
  free(out);
  return status;
}

/* Writes the arms (see put_arms) of a metric given as text, and a lattice of points of the space if it has two
 * dimensions. A system (`system:`) has one particle in its configuration space, and no lattice of this space is
 * drawn. */
static cb_status put_surroundings(const crowd *c, const cb_space *g) {
  if (!g || !g->intrinsic || !c->position || !c->n || !c->v->n_frames) return CB_OK;
  cb_status status = put_arms(c, g);
  const bool in_space = c->v->tree && cb_node_get(cb_tree_root(c->v->tree), "space");
  if (!status && in_space && g->dim == 2) status = put_lattice(c, g);
  return status;
}

cb_status cb_view_pivots(const cb_view *v, const cb_system *system, size_t first, size_t n) {
  const cb_space *g = v->space;
  if (!system || !g || g->chart) return CB_OK;
  const cb_constraint_list list = cb_constraints_of(system);
  const size_t rows = list.n > 0 ? (size_t)list.n : 0;
  double *of = calloc(rows + 1, sizeof *of), (*place)[4] = calloc(rows + 1, sizeof *place), world[CB_COORD_MAX];
  size_t count = 0;
  cb_status status = of && place ? CB_OK : cb_view_memory(v);
  for (size_t i = 0; i < rows && !status; i++) {
    const cb_constraint *row = &list.row[i];
    if (!row->class->centred || !row->class->sized) continue;
    of[count] = (double)(first + (size_t)cb_system_particle(system, row->particle[0]));
    if (of[count] >= (double)n) continue;
    cb_origin_world_point(g, &row->centre.origin, row->centre.x, world);
    for (int e = 0; e < g->embedding; e++) place[count][cb_carry_slot(g, e)] = world[e];
    count++;
  }
  if (count && !status) {
    cb_page_begin(v->page, "pivots", '{');
    status = cb_page_array(v->page, "of", CB_PAGE_I4, count, 0, 0, of);
    if (!status) status = cb_page_array(v->page, "place", CB_PAGE_F4, count, 4, 0, *place);
    cb_page_end(v->page, '}');
  }
  free(of);
  free(place);
  return status;
}

/* Returns the number of coordinates of a position in the space g. */
static size_t numbers_of(const cb_space *g) {
  return g->chart ? (size_t)g->chart->size : (size_t)(g->embedding > g->dim ? g->embedding : g->dim);
}

static cb_status read_rows(crowd *c, bool state, const cb_space *space) {
  const cb_view *v = c->v;
  cb_status status = cb_view_frames(v, cb_view_field(v, "plot_position"), &c->x);
  const int position = cb_view_field(v, "position"), origin = cb_view_field(v, "origin");
  if (!state || v->fields[position].rank != 2 || v->fields[position].shape[0] != c->n ||
      v->fields[origin].count != c->components * PARTS || (space && v->fields[position].shape[1] < numbers_of(space)))
    return status;
  c->width = v->fields[position].shape[1];
  if (!status) status = cb_view_frames(v, position, &c->position);
  return status ? status : cb_view_frames(v, origin, &c->origin);
}

static cb_status places(crowd *c, const cb_space *intrinsic) {
  const cb_view *v = c->v;
  const size_t frames = v->space && c->components <= MAX_COMPONENTS ? c->components : 1, n = v->n_frames;
  bool spherical = false;
  for (int f = 0; v->space && f < v->space->n_factors; f++) spherical = spherical || v->space->factor[f].curvature > 0;
  c->stride = spherical ? 4 : 3;
  c->place = calloc(n * c->n * c->stride + 1, sizeof *c->place);
  c->lead = calloc(n * frames * PARTS + 1, sizeof *c->lead);
  c->carry = calloc(n * frames * 16 + 1, sizeof *c->carry);
  if (!c->place || !c->lead || !c->carry) return cb_view_memory(v);
  cb_status status = CB_OK;
  if (v->space)
    status = quadric_frames(c);
  else
    plot_frames(c);
  if (!status) status = cb_page_array(v->page, "place", CB_PAGE_F4, n, c->n, c->stride, c->place);
  cb_page_number(v->page, "frames", (double)frames);
  cb_page_number(v->page, "components", (double)c->components);
  if (frames > 1) status = status ? status : cb_page_array(v->page, "frame_of", CB_PAGE_I4, c->n, 0, 0, c->component);
  if (!status) status = cb_page_array(v->page, "lead", CB_PAGE_F8, n, frames, PARTS, c->lead);
  if (!status) status = cb_page_array(v->page, "carry", CB_PAGE_F8, n, frames, 16, c->carry);
  if (!status && !v->space && c->bonds) status = sampled_bonds(c, intrinsic);
  if (!status && !v->space) status = put_surroundings(c, intrinsic);
  return status;
}

cb_status cb_view_particles(const cb_view *v) {
  const int x = cb_view_field(v, "plot_position");
  if (x < 0 || v->fields[x].rank != 2 || v->fields[x].shape[1] != 3) return CB_OK;
  crowd c = {.v = v, .n = v->fields[x].shape[0]};
  cb_page_begin(v->page, "particles", '{');
  const cb_space *space = v->scenario ? cb_scenario_space(v->scenario) : NULL;
  cb_status status = constants(&c);
  if (!status) status = read_rows(&c, has_state(v), v->space ? v->space : space);
  if (!status) status = places(&c, space);
  cb_page_end(v->page, '}');
  if (!status) status = cb_view_pivots(v, v->scenario ? cb_scenario_system(v->scenario) : NULL, 0, c.n);
  free_crowd(&c);
  return status;
}

const cb_drawing cb_drawing_points = {NULL, cb_view_particles_size, cb_view_particles};
