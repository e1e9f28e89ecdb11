/* Makes the scene of a record for a binary glTF 2.0 file (gltf.c). One animation has the keys
 *
 *   t = (time - time of the first row) * time_scale,  in s
 *
 * and is linear between them. Lengths are those of the record, in a curved space those of its plot coordinates.
 *   - A rigid body in flat space has the translation and the rotation of its pose, x = X + R g.
 *   - A body that deforms also has a morph target per key, g_0 + sum_i w_i (g_i - g_0); at a key, w_i = 1 for one i. In
 *     a curved space, where the picture of a rigid body deforms, plot coordinates x_i take the place of g_i.
 *   - A particle is a sphere that is translated. A bond is the image of a line from (0, 0, 0) to (0, 0, 1) under a
 *     translation, a rotation and a scale: not all programs can skin or morph lines, but all can move nodes.
 */
#include "core/failure.h"
#include "core/text.h"
#include "export/export.h"
#include "fluid/body_coupling.h"
#include "fluid/immersed_run.h"
#include "geometry/given_point.h"
#include "scenario/fluid.h"
#include "scenario/private.h"
#include "tree/scalar.h"
#include "yaml/yaml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 10000, MAX_TARGETS = 200, MAX_NODES = 20000, MAX_EVENTS = 10000 };
static const uint64_t default_bytes = UINT64_C(256) << 20, maximum_bytes = UINT64_C(1) << 30;

typedef struct scene {
  cb_export_bodies bodies; /* bodies.bodies = 0: the record has only particles */
  cb_reader *reader;
  const char *path;
  cb_scenario *scenario; /* NULL: it could not be opened */
  cb_space *space;       /* NULL: unknown */
  double K;              /* curvature; 0 if there is no curved factor */
  bool flat;             /* the plot coordinates have the lengths of the space */
  double scale;
  size_t frames, particles; /* particles: of /plot_position; the first of them are the origins of the bodies */
  uint64_t *row;
  double *time, *x, *pose; /* [frames]; [frames][particles][3]; [frames][bodies][7] */
  double mark;             /* radius of a particle without a size */
  cb_gltf file;
} scene;

/* ---- the record ---- */

static cb_status fail_memory(const scene *s) { return cb_fail(CB_ERROR_MEMORY, "no memory to export %s", s->path); }

static bool is_copy(const scene *s, size_t b) { return b && s->bodies.body[b] == s->bodies.body[b - 1]; }
/* Returns whether the vertices of the body move relative to its node. */
static bool morphs(const scene *s, size_t b) { return s->K != 0 || cb_immersed_poses(s->bodies.body[b]); }

/* Finds the space of the scenario. If the scenario has no key `space`, this is the space of its bodies in a fluid. */
static cb_status find_space(scene *s, const cb_node *root) {
  const cb_node *node = cb_node_get(root, "space");
  cb_status status = CB_OK;
  s->flat = s->K == 0;
  if (node)
    status = cb_space_read(node, &s->space);
  else if (s->flat && s->bodies.bodies)
    status = cb_space_create("e3", NULL, &s->space);
  if (status) {
    s->space = NULL;
    return status == CB_ERROR_MEMORY ? status : CB_OK;
  }
  for (int f = 0; s->space && f < s->space->n_factors; f++)
    if (s->space->factor[f].curvature != 0) s->K = s->space->factor[f].curvature;
  s->flat = s->K == 0 && s->space && !s->space->intrinsic;
  return CB_OK;
}

static cb_status look(scene *s, size_t *plot) {
  bool bodies = false;
  const cb_reader_field *field;
  cb_status status = cb_export_has_bodies(s->reader, s->path, &bodies);
  if (status) return status;
  cb_reader_fields(s->reader, &field);
  *plot = cb_export_find_field(s->reader, "plot_position", 3);
  s->particles = *plot ? field[*plot].shape[0] : 0;
  if (!*plot && !bodies)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: expected a record with a field plot_position in three dimensions", s->path);
  status = cb_export_scenario(s->reader, s->path, &s->scenario);
  if (status) {
    s->scenario = NULL; /* particles can be exported without the scenario */
    return bodies || status == CB_ERROR_MEMORY ? status : CB_OK;
  }
  s->bodies.reader = s->reader;
  s->bodies.path = s->path;
  if (bodies) status = cb_export_bodies_find(&s->bodies, s->scenario);
  if (!status && bodies) s->K = cb_immersed_surface(s->bodies.body[0])->curvature;
  return status;
}

/* Chooses which rows are exported: one of every `every` rows. If every is 0, it chooses the smallest number with which
 * the file stays within the limits above. Allocates the arrays of the scene. */
static cb_status choose(scene *s, uint64_t every, size_t bonds) {
  const uint64_t rows = cb_reader_position(s->reader).rows;
  const size_t nodes = s->bodies.bodies + s->particles + bonds;
  uint64_t bytes = 4 + 28 * s->bodies.bodies + 12 * s->particles + 40 * bonds, most = MAX_FRAMES;
  if (!rows) return cb_fail_placed(CB_ERROR_INPUT, "%s: error: the record has no rows", s->path);
  if (nodes > MAX_NODES)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: the record has %zu bodies, particles and bonds, expected at most %d",
                   s->path, nodes, MAX_NODES);
  for (size_t b = 0; b < s->bodies.bodies; b++) {
    if (!morphs(s, b)) continue;
    most = MAX_TARGETS;
    if (s->K != 0 || !is_copy(s, b)) bytes += 12 * (uint64_t)cb_immersed_surface(s->bodies.body[b])->vertices;
  }
  const bool targets = most == MAX_TARGETS;
  if (most > default_bytes / bytes) most = default_bytes / bytes ? default_bytes / bytes : 1;
  if (!every && rows > most)
    cb_note("%s: only one of every %llu rows is exported; --every chooses another number", s->path,
            (unsigned long long)((rows + most - 1) / most));
  s->bodies.every = every ? every : (rows + most - 1) / most;
  s->bodies.rows = rows;
  const uint64_t frames = (rows - 1) / s->bodies.every + 1, size = frames * (bytes + (targets ? 4 * frames : 0));
  if (frames > maximum_bytes / bytes || size > maximum_bytes)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "%s: an animation of %llu rows would have more than %llu MiB: use a larger --every", s->path,
                   (unsigned long long)frames, (unsigned long long)(maximum_bytes >> 20));
  s->row = malloc(frames * sizeof *s->row);
  s->time = malloc(frames * sizeof *s->time);
  s->x = malloc((frames * s->particles * 3 + 1) * sizeof *s->x);
  s->pose = malloc((frames * s->bodies.bodies * 7 + 1) * sizeof *s->pose);
  return s->row && s->time && s->x && s->pose ? CB_OK : fail_memory(s);
}

static double key(const scene *s, size_t f) { return (s->time[f] - s->time[0]) * s->scale; }

/* Reads the rows. Leaves out each row whose key is not above the key of the row before in single precision. */
static cb_status read_rows(scene *s, size_t plot) {
  uint64_t equal = 0;
  cb_status status = CB_OK;
  const size_t n = 3 * s->particles, m = 7 * s->bodies.bodies;
  for (uint64_t row = 0; row < s->bodies.rows && !status; row += s->bodies.every) {
    const size_t f = s->frames;
    double *x = s->x + f * n, *pose = s->pose + f * m;
    status = cb_reader_rows(s->reader, 0, row, 1, &s->time[f]);
    if (!status && f && (float)key(s, f) <= (float)key(s, f - 1)) {
      equal++;
      continue;
    }
    if (!status && n) status = cb_reader_rows(s->reader, plot, row, 1, x);
    if (!status && m) status = cb_reader_rows(s->reader, s->bodies.pose, row, 1, pose);
    if (!status) status = cb_export_check_finite(s->path, row, 1, (double[]){key(s, f)});
    if (!status) status = cb_export_check_finite(s->path, row, n, x);
    if (!status) status = cb_export_check_finite(s->path, row, m, pose);
    s->row[s->frames++] = row;
  }
  if (equal)
    cb_warn("%s: %llu rows are left out, because their times are those of the rows before them in single precision",
            s->path, (unsigned long long)equal);
  return status;
}

/* Finds the centre and the size of the scene over all rows, and the radius of particles without a size. */
static cb_status measure(scene *s) {
  double low[2][3], high[2][3]; /* the bounding boxes of the first row (index 0) and of all rows (index 1) */
  for (int k = 0; k < 6; k++) {
    low[k / 3][k % 3] = INFINITY;
    high[k / 3][k % 3] = -INFINITY;
  }
  double(*g)[3] = malloc((s->bodies.maximum + 1) * sizeof *g);
  cb_status status = g ? CB_OK : fail_memory(s);
  const size_t bodies = s->bodies.bodies, points = s->particles;
  double radius = 0;
  for (size_t b = 0; b < bodies && !status; b++) {
    if (!is_copy(s, b)) status = cb_immersed_shape(s->bodies.body[b], s->time[0], g, NULL);
    for (int i = 0; i < cb_immersed_surface(s->bodies.body[b])->vertices && !status; i++)
      radius = fmax(radius, sqrt(cb_dot3(g[i], g[i])));
  }
  for (size_t i = 0; i < s->frames * (bodies + points); i++) {
    const size_t f = i / (bodies + points), c = i % (bodies + points);
    double at[3];
    if (c < bodies)
      cb_plot_place(bodies && s->K != 0 ? s->K : 0, s->pose + 7 * (f * bodies + c), at);
    else
      memcpy(at, s->x + 3 * (f * points + c - bodies), sizeof at);
    for (int k = 0; k < 3; k++)
      for (int all = f > 0; all < 2; all++) {
        low[all][k] = fmin(low[all][k], at[k] - (c < bodies ? radius : 0));
        high[all][k] = fmax(high[all][k], at[k] + (c < bodies ? radius : 0));
      }
  }
  double size[2] = {0, 0};
  for (int k = 0; k < 3; k++) s->file.centre[k] = bodies + points ? (low[1][k] + high[1][k]) / 2 : 0;
  for (int k = 0; k < 6 && bodies + points; k++) size[k / 3] += pow(high[k / 3][k % 3] - low[k / 3][k % 3], 2);
  s->file.size = size[1] > 0 ? sqrt(size[1]) : 1;
  s->mark = 0.02 * fmin(1, 4 / cbrt((double)points + 1)) * (size[0] > 0 ? sqrt(size[0]) : s->file.size);
  free(g);
  return status;
}

/* ---- bodies ---- */

/* Writes the positions of the vertices at the first row and, if the vertices move relative to the body's node, their
 * displacements at the other rows. *first becomes the number of the accessor of the positions. The accessors of the
 * displacements follow it. */
static cb_status put_vertices(scene *s, size_t b, int *first) {
  const size_t n = (size_t)cb_immersed_surface(s->bodies.body[b])->vertices, frames = morphs(s, b) ? s->frames : 1;
  double(*all)[3] = malloc((5 * n + 1) * sizeof *all);
  if (!all) return fail_memory(s);
  double(*g)[3] = all, (*dg)[3] = all + n, (*x)[3] = all + 2 * n, (*v)[3] = all + 3 * n, *base = all[4 * n];
  const double rest[6] = {0};
  cb_status status = CB_OK;
  for (size_t f = 0; f < frames && !status; f++) {
    status = cb_immersed_shape(s->bodies.body[b], s->time[f], g, dg);
    if (status) break;
    if (s->K != 0)
      cb_export_place(s->K, s->pose + 7 * (f * s->bodies.bodies + b), rest, n, (const double(*)[3])g,
                      (const double(*)[3])dg, x, v);
    else
      memcpy(x, g, n * sizeof *x);
    for (size_t i = 0; i < 3 * n; i++) {
      if (!f) base[i] = (float)x[i / 3][i % 3];
      x[i / 3][i % 3] -= f ? base[i] : 0;
    }
    status = cb_export_check_finite(s->path, s->row[f], 3 * n, *x);
    const int a = cb_gltf_floats(&s->file, n, 3, *x, CB_GLTF_VERTICES);
    if (!f) *first = a;
  }
  free(all);
  return status;
}

/* Writes the mesh of a body, with one primitive per part. Part p has the colour number colour + p, modulo the number of
 * colours. */
static cb_status put_body_mesh(scene *s, size_t b, int colour, int *mesh) {
  const cb_surface *surface = cb_immersed_surface(s->bodies.body[b]);
  int first = 0, (*index)[3] = malloc(((size_t)surface->faces + 1) * sizeof *index);
  cb_status status = index ? put_vertices(s, b, &first) : fail_memory(s);
  if (!status) *mesh = cb_gltf_add(&s->file, CB_GLTF_MESHES);
  FILE *out = s->file.list[CB_GLTF_MESHES].stream;
  for (int p = 0, put = 0; p < surface->parts && !status; p++) {
    size_t n = 0;
    for (int i = 0; i < surface->faces; i++)
      if (surface->part[i] == p) memcpy(index[n++], surface->face[i], sizeof *index);
    if (!n) continue;
    fputs(put++ ? "," : "{\"primitives\":[", out);
    fprintf(out, "{\"attributes\":{\"POSITION\":%d},\"indices\":%d,\"material\":%d", first,
            cb_gltf_indices(&s->file, 3 * n, *index), (colour + p) % CB_GLTF_COLOURS);
    for (size_t f = 1; morphs(s, b) && f < s->frames; f++)
      fprintf(out, "%s{\"POSITION\":%zu}%s", f > 1 ? "," : ",\"targets\":[", (size_t)first + f,
              f + 1 < s->frames ? "" : "]");
    fputc('}', out);
  }
  if (!status) fputs("]}", out);
  free(index);
  return status;
}

/* Animates the weights of the morph targets of a node. At key f > 0 target f - 1 has the weight 1 and all others have
 * the weight 0. At key 0 all weights are 0. All bodies share the sampler. */
static cb_status put_weights(scene *s, int node) {
  const size_t n = s->frames - 1;
  if (!n) return CB_OK;
  if (s->file.weights < 0) {
    double *w = calloc(s->frames * n, sizeof *w);
    if (!w) return fail_memory(s);
    for (size_t f = 1; f < s->frames; f++) w[f * n + f - 1] = 1;
    s->file.weights = cb_gltf_sampler(&s->file, cb_gltf_floats(&s->file, s->frames * n, 1, w, 0));
    free(w);
  }
  cb_gltf_channel(&s->file, node, "weights", s->file.weights);
  return CB_OK;
}

static cb_status put_bodies(scene *s) {
  const size_t bodies = s->bodies.bodies;
  double *t = malloc(7 * s->frames * sizeof *t), *q = t ? t + 3 * s->frames : NULL;
  cb_status status = t ? CB_OK : fail_memory(s);
  int mesh = 0, colour = 0;
  for (size_t b = 0; b < bodies && !status; b++) {
    if (s->K != 0 || !is_copy(s, b)) {
      status = put_body_mesh(s, b, colour, &mesh);
      colour += cb_immersed_surface(s->bodies.body[b])->parts;
      if (status) break;
    }
    for (size_t f = 0; f < s->frames; f++) {
      const double *pose = s->pose + 7 * (f * bodies + b);
      double same = 0; /* q and -q are one rotation; the one nearer to the last key is taken */
      memcpy(t + 3 * f, pose, 3 * sizeof *t);
      for (int k = 0; k < 4; k++) q[4 * f + (size_t)k] = pose[3 + (k + 1) % 4];
      for (size_t k = 0; k < 4 && f; k++) same += q[4 * f + k] * q[4 * f + k - 4];
      for (size_t k = 0; k < 4 && same < 0; k++) q[4 * f + k] = -q[4 * f + k];
    }
    cb_gltf_place p = {.turn = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    if (s->K == 0) {
      memcpy(p.at, t, sizeof p.at);
      memcpy(p.turn, q, sizeof p.turn);
    }
    const int node = cb_gltf_node(&s->file, cb_scenario_body_name(s->scenario, (int)b), mesh, &p);
    if (s->K == 0) {
      cb_gltf_animate(&s->file, node, "translation", 3, t);
      cb_gltf_animate(&s->file, node, "rotation", 4, q);
    }
    if (morphs(s, b)) status = put_weights(s, node);
  }
  free(t);
  return status;
}

/* ---- particles and bonds ---- */

/* Reads a constant array of the record; *out is NULL, and *n 0, if there is none. */
static cb_status read_constant(const scene *s, const char *name, double **out, size_t *n) {
  *out = NULL;
  const cb_status status = cb_reader_count(s->reader, name, n);
  if (status || !*n) return status;
  *out = malloc(*n * sizeof **out);
  return *out ? cb_reader_constant(s->reader, name, *n, *out) : fail_memory(s);
}

static cb_status put_particles(scene *s) {
  const size_t first = s->bodies.bodies, n = s->particles;
  if (n <= first) return CB_OK;
  double *radius = NULL, *body = NULL, *t = malloc(3 * s->frames * sizeof *t);
  const char *const *label = NULL;
  size_t radii = 0, owners = 0, labels = 0;
  cb_status status = t ? read_constant(s, "particle_radius", &radius, &radii) : fail_memory(s);
  if (!status) status = read_constant(s, "particle_body", &body, &owners);
  if (!status) status = cb_reader_labels(s->reader, "particle_name", &label);
  if (!status && label) status = cb_reader_count(s->reader, "particle_name", &labels);
  const int mesh = status ? 0 : cb_gltf_spheres(&s->file);
  for (size_t i = first; i < n && !status; i++) {
    char name[32];
    snprintf(name, sizeof name, first ? "point %zu" : "particle %zu", i);
    for (size_t f = 0; f < s->frames; f++) memcpy(t + 3 * f, s->x + 3 * (f * n + i), 3 * sizeof *t);
    const double r = s->flat && radii == n && radius[i] > 0 ? radius[i] : s->mark;
    const int colour = owners == n && body[i] >= 0 ? (int)fmod(body[i], CB_GLTF_COLOURS) : 0;
    const cb_gltf_place p = {{t[0], t[1], t[2]}, {0, 0, 0, 1}, {r, r, r}};
    cb_gltf_animate(&s->file, cb_gltf_node(&s->file, labels == n && !first ? label[i] : name, mesh + colour, &p),
                    "translation", 3, t);
  }
  free(radius);
  free(body);
  free(t);
  return status;
}

/* Adds the node of the bond between the particles i and j. move: a work array of 10 numbers per frame. */
static void put_bond(scene *s, const char *name, int mesh, size_t i, size_t j, double *move) {
  const size_t n = s->particles;
  double q[4] = {0, 0, 0, 1}, *turn = move + 3 * s->frames, *scale = turn + 4 * s->frames;
  for (size_t f = 0; f < s->frames; f++) {
    const double *a = s->x + 3 * (f * n + i), *b = s->x + 3 * (f * n + j);
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double length = sqrt(cb_dot3(d, d));
    for (int k = 0; k < 3; k++) d[k] /= length > 0 ? length : 1;
    if (length > 0) cb_gltf_turn_z(d, q);
    memcpy(move + 3 * f, a, 3 * sizeof *a);
    memcpy(turn + 4 * f, q, sizeof q);
    memcpy(scale + 3 * f, (double[]){0.3 * s->mark, 0.3 * s->mark, length}, 3 * sizeof *scale);
  }
  cb_gltf_place p;
  memcpy(p.at, move, sizeof p.at);
  memcpy(p.turn, turn, sizeof p.turn);
  memcpy(p.scale, scale, sizeof p.scale);
  const int node = cb_gltf_node(&s->file, name, mesh, &p);
  cb_gltf_animate(&s->file, node, "translation", 3, move);
  cb_gltf_animate(&s->file, node, "rotation", 4, turn);
  cb_gltf_animate(&s->file, node, "scale", 3, scale);
}

/* Adds a node for each bond b, which connects the particles end[0][b] and end[1][b]. */
static cb_status put_bonds(scene *s, double *const end[2], size_t bonds) {
  if (!bonds) return CB_OK;
  double *move = malloc(10 * s->frames * sizeof *move);
  cb_status status = move ? CB_OK : fail_memory(s);
  const int mesh = status ? 0 : cb_gltf_bond_mesh(&s->file);
  for (size_t b = 0; b < bonds && !status; b++) {
    char name[32];
    snprintf(name, sizeof name, "bond %zu", b);
    for (int i = 0; i < 2; i++)
      if (!(end[i][b] >= 0 && end[i][b] < (double)s->particles))
        status =
            cb_fail_placed(CB_ERROR_INPUT, "%s: error: bond %zu connects a particle that does not exist", s->path, b);
    if (!status) put_bond(s, name, mesh, (size_t)end[0][b], (size_t)end[1][b], move);
  }
  free(move);
  return status;
}

/* ---- surroundings ---- */

/* Adds the sphere or circle of the plot coordinates: the border of a hyperbolic space, the equator of a sphere. */
static void put_space(scene *s) {
  const double origin[3] = {0}, R = s->K != 0 ? 1 / sqrt(fabs(s->K)) : 0;
  int curved = s->bodies.bodies && s->K != 0 ? 3 : 0;
  for (int f = 0; s->space && f < s->space->n_factors; f++)
    if (s->space->factor[f].curvature != 0) curved = s->space->factor[f].count - 1;
  const bool embedded = s->space && !strcmp(s->space->plot, "embedding");
  if (!curved || (s->space && s->space->intrinsic) || (embedded && s->K < 0)) return;
  cb_gltf_wires(&s->file,
                s->K < 0   ? "border of the space"
                : embedded ? "sphere"
                           : "equator",
                origin, R, curved == 3 || embedded);
}

/* Adds a wall of the key `walls` that is a plane or a ball of flat space. */
static void put_wall(scene *s, const cb_node *item) {
  if (!item || item->kind != CB_NODE_MAP || !item->count) return;
  const char *class = item->keys[0]->text, *name = class;
  const cb_node *wall = item->items[0], *at = cb_node_get(wall, "at"), *given = cb_node_get(wall, "name");
  double point[CB_COORD_MAX] = {0}, normal[CB_COORD_MAX] = {0}, radius;
  if (!at || cb_place_space_point(at, "at", s->space, NULL, point)) return;
  if (given && given->text) name = given->text;
  if (!strcmp(class, "plane") && !cb_place_vector(at, cb_node_get(wall, "normal"), s->space, point, normal))
    cb_gltf_plane(&s->file, name, point, normal);
  else if (!strcmp(class, "ball") && !cb_node_real(cb_node_get(wall, "radius"), &radius))
    cb_gltf_wires(&s->file, name, point, radius, s->space->dim == 3);
}

/* Adds the plane <x, n> = height; n is the unit vector along `normal`. */
static void put_height(scene *s, const char *name, const double normal[3], double height) {
  const double size = sqrt(cb_dot3(normal, normal));
  double point[3];
  for (int k = 0; k < 3; k++) point[k] = size > 0 ? height * normal[k] / size : 0;
  cb_gltf_plane(&s->file, name, point, normal);
}

/* Adds the floor, and the plane at which the fluid ends. The floor is that of the fluid or, in a coupled system, the
 * member `wall` of the scenario's data. */
static void put_fluid(scene *s) {
  const cb_fluid *fluid = cb_immersed_fluid_about(s->bodies.body[0]);
  const cb_floor *floor[] = {&fluid->floor, &cb_fluid_scenario_of(s->scenario)->wall};
  const cb_mirror mirror = fluid->coupling ? cb_body_coupling_plane(fluid->coupling) : (cb_mirror){CB_MIRROR_NONE};
  double up[3], height;
  for (int i = 0; i < 2; i++)
    if (floor[i]->kind != CB_FLOOR_NONE) put_height(s, "floor", floor[i]->up, floor[i]->height);
  bool found = mirror.kind != CB_MIRROR_NONE;
  if (found) put_height(s, "wall of the fluid", mirror.normal, mirror.height);
  for (int m = -1; m < fluid->n_models && !found; m++) {
    const cb_fluid_model *model = m < 0 ? fluid->added_mass : fluid->models[m];
    found = model && cb_fluid_model_is_placed(model, up, &height);
    if (found) put_height(s, "wall of the fluid", up, height);
  }
}

/* Adds walls, the floor, and planes at which the fluid ends; in flat space only. */
static void put_walls(scene *s, const cb_node *root) {
  const cb_node *walls = cb_node_get(root, "walls");
  if (!s->flat) return;
  for (size_t i = 0; walls && walls->kind == CB_NODE_LIST && i < walls->count; i++) put_wall(s, walls->items[i]);
  if (s->bodies.bodies) put_fluid(s);
}

/* ---- what the scene says of the record ---- */

static void put_number(FILE *out, const char *name, double value) {
  char text[32] = "null";
  if (isfinite(value)) cb_export_number(text, value);
  fprintf(out, ",\"%s\":%s", name, text);
}

static cb_status put_events(const scene *s, FILE *out) {
  const uint64_t events = cb_reader_position(s->reader).events, n = events < MAX_EVENTS ? events : MAX_EVENTS;
  cb_event_row *row = malloc((n + 1) * sizeof *row);
  const cb_status status = row ? cb_reader_events(s->reader, 0, n, row) : fail_memory(s);
  if (events > n)
    cb_warn("%s: only the first %d of %llu events are exported", s->path, MAX_EVENTS, (unsigned long long)events);
  fputs(",\"events\":[", out);
  for (uint64_t e = 0; e < n && !status; e++) {
    fprintf(out, "%s{\"kind\":\"%s\",\"particle\":%d,\"other\":%d,\"wall\":%d", e ? ",\n" : "",
            cb_export_event_kind(row[e].kind), (int)row[e].particle, (int)row[e].other, (int)row[e].wall);
    put_number(out, "time", row[e].time);
    put_number(out, "seconds", (row[e].time - s->time[0]) * s->scale);
    put_number(out, "gap", row[e].gap);
    put_number(out, "impulse", row[e].impulse);
    fputc('}', out);
  }
  fputc(']', out);
  free(row);
  return status;
}

static cb_status put_extras(const scene *s, FILE *out) {
  const char *digest;
  const cb_reader_field *field;
  cb_reader_fields(s->reader, &field);
  cb_status status = cb_reader_attribute(s->reader, "scenario_sha256", &digest);
  if (status) return status;
  fputs("{\"scenario_sha256\":", out);
  cb_json_put_text(out, digest);
  fputs(",\"time_units\":", out);
  cb_json_put_text(out, field[0].units ? field[0].units : "");
  put_number(out, "time_start", s->time[0]);
  put_number(out, "time_scale", s->scale);
  put_number(out, "every", (double)s->bodies.every);
  put_number(out, "curvature", s->K);
  status = put_events(s, out);
  fputc('}', out);
  return status;
}

static cb_status write_file(scene *s, const char *out) {
  char *extras = NULL;
  size_t size;
  const char *title;
  bool planar = !s->bodies.bodies;
  for (size_t i = 0; i < s->frames * s->particles; i++) planar &= s->x[3 * i + 2] == 0;
  FILE *stream = open_memstream(&extras, &size);
  if (!stream) return fail_memory(s);
  cb_status status = put_extras(s, stream);
  if (fclose(stream) && !status) status = fail_memory(s);
  if (!status) status = cb_reader_attribute(s->reader, "title", &title);
  if (!status) status = cb_gltf_write(&s->file, out, *title ? title : "record", extras, planar);
  free(extras);
  return status;
}

/* ---- the export ---- */

static cb_status put_keys(scene *s) {
  double *keys = malloc(s->frames * sizeof *keys);
  if (!keys) return fail_memory(s);
  for (size_t f = 0; f < s->frames; f++) keys[f] = key(s, f);
  s->file.keys = s->frames;
  s->file.input = cb_gltf_floats(&s->file, s->frames, 1, keys, 0);
  free(keys);
  return CB_OK;
}

static cb_status read_record(scene *s, uint64_t every, double *end[2], size_t *bonds) {
  size_t plot, n[2];
  cb_status status = look(s, &plot);
  for (int i = 0; i < 2 && !status; i++) status = read_constant(s, i ? "bond_j" : "bond_i", &end[i], &n[i]);
  if (status) return status;
  *bonds = n[0] == n[1] ? n[0] : 0;
  status = choose(s, every, *bonds);
  if (!status) status = read_rows(s, plot);
  return status ? status : measure(s);
}

static cb_status export(scene *s, const char *out, uint64_t every, const cb_node *root) {
  double *end[2] = {NULL, NULL};
  size_t bonds = 0;
  cb_status status = read_record(s, every, end, &bonds);
  if (!status) status = find_space(s, root);
  if (!status) status = cb_gltf_begin(&s->file) ? put_keys(s) : fail_memory(s);
  if (!status) status = put_bodies(s);
  if (!status) status = put_particles(s);
  if (!status) status = put_bonds(s, end, bonds);
  if (!status) {
    put_space(s);
    put_walls(s, root);
    const cb_files files = s->scenario ? cb_scenario_files(s->scenario) : (cb_files){0};
    status = cb_output_check(out, &files);
  }
  if (!status) status = write_file(s, out);
  free(end[0]);
  free(end[1]);
  return status;
}

cb_status cb_record_export_gltf(const char *path, const char *out, const cb_gltf_options *options) {
  scene s = {.path = path, .scale = options->time_scale};
  cb_tree *tree = NULL;
  const char *text;
  cb_status status = cb_output_check(out, &(cb_files){&path, 1});
  if (!status) status = cb_reader_open(path, &s.reader);
  if (status) return status;
  status = cb_reader_scenario(s.reader, "resolved", &text);
  if (!status) status = cb_yaml_read_text(path, text, strlen(text), &tree);
  if (!status) {
    cb_rename_former(cb_tree_root(tree));
    status = export(&s, out, options->every, cb_tree_root(tree));
  }
  cb_gltf_free(&s.file);
  free(s.bodies.body);
  free(s.row);
  free(s.time);
  free(s.x);
  free(s.pose);
  cb_space_free(s.space);
  cb_scenario_free(s.scenario);
  cb_tree_free(tree);
  cb_reader_close(s.reader);
  return status;
}
