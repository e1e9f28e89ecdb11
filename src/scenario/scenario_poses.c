/* The surface of an immersed body, its pieces and its poses.
 *
 *   shape: eel  or  {name: eel, length: 1}  or  mesh: FILE; or a list of shapes with positions, see below
 *   scale: 0.01                              of files: metres per unit
 *   weld: true  or  1e-6                     for files: joins vertices that coincide, or are at most 1e-6 m apart
 *   close: true  or  0.2                     for files: closes holes of at most 0.1, or 0.2, of the area
 *   poses: {y: "Y + 0.1*sin(2*pi*(X - t))", period: 1}      x, y, z of X, Y, Z, t, of all parts (default: at rest)
 *          {parts: [{part: left, z: ".."}, ..]}             for each part
 *          {files: "eel-###.obj", step: 0.04}               numbered files: `count` of them, from `first` on
 *          {sequence: eel.h5, dataset: poses, step: 0.04}   [pose, vertex, 3] (scenario/hdf5_input.h)
 *   with start, step, period and end: periodic | clamped
 *          {variables: [a, b], y: "Y + a*X^2 + b*X^3", gait: {polygon: {corners: ..}, period: 2}}
 *   the shape variables follow a gait; without `variables` the gait is that of the phase of the poses */
#include "bundle/gait_private.h"
#include "fluid/shape_surface.h"
#include "scenario/bundle_scenario.h"
#include "scenario/hdf5_input.h"
#include "scenario/fluid.h"
#include "tree/scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sequence_parameters {
  const cb_node *files, *sequence;
  const char *dataset;
  double start, step, period;
  int first, count, end;
} sequence_parameters;

const cb_param cb_sequence_table[] = {
    {"files", CB_PARAM_NODE, offsetof(sequence_parameters, files), "", "", "", NULL,
     "a name with # in place of each digit"},
    {"sequence", CB_PARAM_NODE, offsetof(sequence_parameters, sequence), "", "", "", NULL, "an HDF5 file"},
    {"dataset", CB_PARAM_STRING, offsetof(sequence_parameters, dataset), "poses", "", "", NULL,
     "name of the dataset in the file"},
    {"first", CB_PARAM_INT, offsetof(sequence_parameters, first), "0", "", ">= 0", NULL,
     "the number of the first file"},
    {"count", CB_PARAM_INT, offsetof(sequence_parameters, count), "0", "", ">= 0", NULL,
     "number of files; 0: all existing files"},
    {"start", CB_PARAM_REAL, offsetof(sequence_parameters, start), "0", "s", "", NULL, "time of the first pose"},
    {"step", CB_PARAM_REAL, offsetof(sequence_parameters, step), "0", "s", ">= 0", NULL,
     "time between poses; 0: the times in the file"},
    {"period", CB_PARAM_REAL, offsetof(sequence_parameters, period), "0", "s", ">= 0", NULL,
     "period; 0: the number of poses times step"},
    {"end", CB_PARAM_CHOICE, offsetof(sequence_parameters, end), "periodic", "", "", "periodic|clamped",
     "periodic: the first pose follows after the last pose; clamped: the body stays in the last pose"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static const char *const coordinates[] = {"x", "y", "z"}, *const rest[] = {"X", "Y", "Z"};

/* Reads one motion: the keys x, y, z of map. */
static cb_status read_motion(const cb_node *map, cb_poses_motion *out) {
  cb_status status = CB_OK;
  for (int i = 0; i < 3 && !status; i++) {
    const cb_node *given = cb_node_get(map, coordinates[i]);
    out->text[i] = rest[i];
    if (given) status = cb_node_string(given, &out->text[i]);
  }
  return status;
}

cb_status cb_scenario_read_motions(cb_scenario *s, const cb_node *node, bool timed, cb_poses_motion **out,
                                   const cb_node ***places, size_t *count) {
  static const char *const of_part[] = {"part", "x", "y", "z", "shift"};
  const char *const whole[] = {"x", "y", "z", "parts", timed ? "period" : "shift"};
  const cb_node *parts = cb_node_get(node, "parts");
  const bool periodic = timed && cb_node_get(node, "period");
  cb_status status = cb_node_check_keys(node, whole, 5);
  if (status) return status;
  if (parts && parts->kind != CB_NODE_LIST)
    return cb_node_fail(parts, "expected a list of {part: NAME, x: .., y: .., z: ..}");
  const size_t n = (parts ? parts->count : 0) + (!parts || node->count > (periodic ? 2 : 1));
  cb_poses_motion *motion = cb_arena_alloc(s->arena, n, sizeof *motion);
  const cb_node **from = cb_arena_alloc(s->arena, n, sizeof *from);
  if (!motion || !from) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu motions", n);
  for (size_t i = 0; i < n && !status; i++) {
    const bool own = parts && i < parts->count;
    from[i] = own ? parts->items[i] : node;
    if (own) {
      const cb_node *name = cb_node_get(from[i], "part");
      status = cb_node_check_keys(from[i], of_part, timed ? 4 : 5);
      if (!status && !name) return cb_node_fail(from[i], "expected `part`, the name of a part");
      if (!status) status = cb_node_string(name, &motion[i].part);
    }
    if (!status) status = read_motion(from[i], &motion[i]);
  }
  *out = motion;
  *places = from;
  *count = n;
  return status;
}

static cb_status read_period(cb_scenario *s, const cb_node *node, cb_poses *poses) {
  double period;
  const cb_status status = node ? cb_scenario_number(s, node, 0, NULL, NULL, &period) : CB_OK;
  if (!node || status) return status;
  return cb_scenario_placed(s, cb_poses_set_period(poses, period), node, false);
}

/* Reads the motions in `node` as functions of n variables, or of the time (names NULL). */
static cb_status from_motions(cb_scenario *s, const cb_node *node, int n, const char *const *names,
                              const cb_poses_parameters *parameters, cb_immersed_kind *kind) {
  static const char *const time[] = {"t"};
  cb_poses_motion *motion;
  const cb_node **from;
  size_t count, which = 0, at = 0;
  int coordinate = 0;
  cb_status status = cb_scenario_read_motions(s, node, true, &motion, &from, &count);
  if (status) return status;
  const cb_shape_text text = {names ? n : 1, names ? names : time, count, motion, parameters};
  status = cb_poses_of_variables(kind->surface, &text, &which, &coordinate, &at, &kind->poses);
  if (status != CB_ERROR_INPUT) return status;
  const cb_node *given = cb_node_get(from[which], coordinates[coordinate]);
  return given ? cb_node_fail_at(given, at, "%s", cb_error_text()) : cb_node_fail(from[which], "%s", cb_error_text());
}

static cb_poses_parameters fluid_parameters(const cb_fluid_scenario *m) {
  return (cb_poses_parameters){m->parameter, m->parameter_value, m->n_parameters};
}

/* Reads the key `parameters` of poses. Without it the parameters are those of `fluid`. */
static cb_status read_parameters(cb_scenario *s, const cb_node *poses, cb_poses_parameters *out) {
  cb_fluid_scenario *m = s->own;
  const cb_fluid_scenario before = *m;
  const cb_node *own = cb_node_get(poses, "parameters");
  const cb_status status = own ? cb_scenario_read_parameters(s, own) : CB_OK;
  *out = fluid_parameters(m);
  m->parameter = before.parameter;
  m->parameter_value = before.parameter_value;
  m->n_parameters = before.n_parameters;
  m->lost = before.lost;
  return status;
}

static cb_status from_expressions(cb_scenario *s, const cb_node *node, const cb_poses_parameters *parameters,
                                  cb_immersed_kind *kind) {
  const cb_status status = from_motions(s, node, 1, NULL, parameters, kind);
  return status ? status : read_period(s, cb_node_get(node, "period"), kind->poses);
}

/* --- poses that follow a gait --- */

/* Copies a map without the keys that have one of these names. */
static const cb_node *without(cb_scenario *s, const cb_node *map, int n, const char *const *names) {
  cb_node *copy = map ? cb_arena_alloc(s->arena, 1, sizeof *copy) : NULL;
  if (!copy) return NULL;
  *copy = *map;
  copy->count = 0;
  copy->keys = cb_arena_alloc(s->arena, map->count, sizeof *copy->keys);
  copy->items = cb_arena_alloc(s->arena, map->count, sizeof *copy->items);
  for (size_t i = 0; copy->keys && copy->items && i < map->count; i++) {
    int k = 0;
    while (k < n && strcmp(map->keys[i]->text, names[k]) != 0) k++;
    if (k < n) continue;
    copy->keys[copy->count] = map->keys[i];
    copy->items[copy->count++] = map->items[i];
  }
  return copy->keys && copy->items ? copy : NULL;
}

/* Adds to `out`, which has space for them, the entries of `from` with these names, or all entries (names NULL). */
static void add_entries(cb_node *out, const cb_node *from, int n, const char *const *names) {
  for (size_t i = 0; from && from->kind == CB_NODE_MAP && i < from->count; i++) {
    int k = 0;
    while (k < n && strcmp(from->keys[i]->text, names[k]) != 0) k++;
    if (names && k == n) continue;
    out->keys[out->count] = from->keys[i];
    out->items[out->count++] = from->items[i];
  }
}

/* Makes the poses of a body from the surface bundle of another scenario: its shape variables and motion, or its poses.
 * gait: the map {gait: ..} of the body. */
static cb_status poses_of_bundle(cb_scenario *s, const cb_node *gait, const cb_node *bundle, const cb_node **out) {
  static const char *const kept[] = {"parameters", "variables", "period"};
  const cb_node *name = bundle->kind == CB_NODE_MAP ? cb_node_get(bundle, "name") : bundle,
                *file = cb_node_get(cb_node_get(gait, "gait"), "file"), *motion = cb_node_get(bundle, "motion"),
                *poses = cb_node_get(bundle, "poses");
  const char *text = name && name->kind == CB_NODE_SCALAR ? name->text : "";
  if (strcmp(text, "immersed") != 0 && strcmp(text, "surface_drag") != 0)
    return cb_node_fail(file,
                        "the gait is one of the bundle `%.40s`, which has no surface: expected a gait of the bundles "
                        "immersed or surface_drag, or `variables` and x, y, z of the body's surface next to `gait`",
                        text);
  const cb_node *start = cb_node_get(bundle, "start");
  if (cb_node_get(bundle, "space") ||
      (poses && (cb_node_get(poses, "files") || cb_node_get(poses, "sequence") || cb_node_get(bundle, "cycle") ||
                 (start && (start->kind != CB_NODE_SCALAR || strcmp(start->text, "0"))))))
    return cb_node_fail(file,
                        "the surface of the bundle of the gait is in a `space`, or has poses from files, or poses with "
                        "`start` or `cycle`: expected the poses of the body next to `gait`");
  cb_node *map = cb_arena_alloc(s->arena, 1, sizeof *map);
  const size_t capacity = gait->count + bundle->count + (motion ? motion->count : 0) + (poses ? poses->count : 0);
  if (!map) return cb_fail(CB_ERROR_MEMORY, "no memory for poses");
  *map = *gait;
  map->count = 0;
  map->keys = cb_arena_alloc(s->arena, capacity, sizeof *map->keys);
  map->items = cb_arena_alloc(s->arena, capacity, sizeof *map->items);
  if (!map->keys || !map->items) return cb_fail(CB_ERROR_MEMORY, "no memory for poses");
  add_entries(map, bundle, motion ? 3 : 1, kept);
  add_entries(map, motion ? motion : poses, 0, NULL);
  add_entries(map, gait, 0, NULL);
  *out = map;
  return CB_OK;
}

cb_status cb_scenario_gait_poses(cb_scenario *s, const cb_node *poses, const cb_node **out, const cb_node **gait) {
  const cb_node *bundle;
  *out = poses;
  const cb_status status = cb_scenario_find_gait(s, cb_node_get(poses, "gait"), gait, &bundle);
  if (status || poses->count > 1) return status;
  if (bundle) return poses_of_bundle(s, poses, bundle, out);
  return cb_node_fail(poses, "expected `variables` and x, y, z of the body's surface next to `gait`");
}

cb_status cb_scenario_read_variables(cb_scenario *s, const cb_node *list, const cb_poses_parameters *parameters, int *n,
                                     const char ***out) {
  if (list->kind != CB_NODE_LIST || list->count < 1 || list->count > CB_SHAPE_SURFACE_VARIABLES)
    return cb_node_fail(list, "variables: expected a list of 1 to %d names", CB_SHAPE_SURFACE_VARIABLES);
  const char **name = cb_arena_alloc(s->arena, list->count, sizeof *name);
  if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu names", list->count);
  int which = 0;
  cb_status status = CB_OK;
  for (size_t i = 0; i < list->count && !status; i++) status = cb_node_string(list->items[i], &name[i]);
  if (status) return status;
  *n = (int)list->count;
  *out = name;
  status = cb_shape_surface_check_names(*n, name, parameters, &which);
  return status ? cb_node_fail(list->items[which], "variables: %s", cb_error_text()) : CB_OK;
}

cb_status cb_scenario_read_periods(const cb_node *map, int n, const char *const *names, double *period) {
  if (!map) return CB_OK;
  cb_status status = cb_node_check_keys(map, names, (size_t)n);
  for (int i = 0; i < n && !status; i++) {
    const cb_node *given = cb_node_get(map, names[i]);
    if (!given) continue;
    status = cb_node_real(given, &period[i]);
    if (!status && !(period[i] > 0)) status = cb_node_fail(given, "expected a period > 0");
  }
  return status;
}

/* Reads the shape variables of poses and their motion. of: receives the variables. */
static cb_status from_variables(cb_scenario *s, const cb_node *node, const cb_poses_parameters *parameters,
                                cb_immersed_kind *kind, cb_bundle *of) {
  static const char *const own[] = {"variables", "period"};
  const cb_node *motion = without(s, node, 2, own);
  const char **name = NULL;
  if (!motion) return cb_fail(CB_ERROR_MEMORY, "no memory for poses");
  cb_status status = cb_scenario_read_variables(s, cb_node_get(node, "variables"), parameters, &of->n, &name);
  if (!status) status = cb_scenario_read_periods(cb_node_get(node, "period"), of->n, name, of->period);
  if (status) return status;
  for (int i = 0; i < of->n; i++) of->shape[i] = name[i];
  return from_motions(s, motion, of->n, name, parameters, kind);
}

/* Makes the poses follow a gait. of: the shape variables of the poses; if there are none, it gets one, their phase. */
static cb_status follow(cb_scenario *s, const cb_node *poses, const cb_node *gait, cb_immersed_kind *kind,
                        cb_bundle *of) {
  static const cb_bundle_class class = {.name = "poses"};
  const cb_node *repeat = cb_node_get(cb_node_get(poses, "gait"), "repeat");
  cb_poses_phase phase = {0, 1, true};
  cb_shape_surface *over = NULL;
  cb_gait *path = NULL;
  double period = 1;
  int cycles = 1;
  cb_status status = CB_OK;
  of->class_ = &class;
  if (repeat)
    return cb_node_fail(repeat, "`repeat`: expected no number of cycles: a body repeats its gait until the run ends");
  if (!of->n) {
    if (cb_poses_count(kind->poses)) phase.start = cb_poses_time(kind->poses, 0);
    if (kind->poses->period > 0) phase.duration = kind->poses->period;
    status = cb_shape_surface_of_poses(kind->poses, kind->surface, phase.start, phase.duration, &over);
    if (status) return cb_scenario_placed(s, status, poses, false);
    phase.turns = over->period[0] > 0;
    cb_shape_surface_free(over);
    of->n = 1;
    of->shape[0] = "phase";
    of->period[0] = phase.turns;
  }
  const bool phased = !cb_node_get(poses, "variables");
  status = cb_gait_read(of, gait, &cycles, &period, &path);
  if (status) return status;
  status = cb_gait_closed(of, path);
  if (status) {
    cb_gait_free(path);
    return cb_scenario_placed(s, status, gait, false);
  }
  return cb_scenario_placed(s, cb_poses_follow(kind->poses, path, period, phased ? &phase : NULL), gait, false);
}

static cb_status from_gait(cb_scenario *s, const cb_node *poses, const cb_node *gait, cb_immersed_kind *kind) {
  static const char *const own[] = {"gait", "parameters"};
  const cb_node *moves = without(s, poses, 2, own), *variables = cb_node_get(poses, "variables");
  cb_bundle of = {.n = 0};
  cb_poses_parameters parameters;
  if (!moves) return cb_fail(CB_ERROR_MEMORY, "no memory for poses");
  cb_status status = read_parameters(s, poses, &parameters);
  if (!status && variables)
    status = from_variables(s, moves, &parameters, kind, &of);
  else if (!status && !kind->poses)
    status = from_expressions(s, moves, &parameters, kind);
  return status ? status : follow(s, poses, gait, kind, &of);
}

/* Checks that the poses have the same faces as the body. pose: the first pose. */
static cb_status check_same(const cb_node *named, const cb_surface *body, const cb_surface *pose) {
  if (pose->vertices != body->vertices || pose->faces != body->faces)
    return cb_node_fail(named, "its poses have %d vertices and %d faces: expected %d and %d, as in the body",
                        pose->vertices, pose->faces, body->vertices, body->faces);
  for (int f = 0; f < body->faces; f++) {
    const int *a = pose->face[f], *b = body->face[f];
    if (memcmp(a, b, sizeof body->face[f]))
      return cb_node_fail(named,
                          "face %d of its poses has the vertices %d, %d, %d: expected %d, %d, %d, as in the body",
                          f + 1, pose->number[a[0]], pose->number[a[1]], pose->number[a[2]], body->number[b[0]],
                          body->number[b[1]], body->number[b[2]]);
  }
  return CB_OK;
}

/* Adds the files first .. first + count - 1 of a numbered name to the files of the scenario. */
static cb_status add_numbered(cb_scenario *s, const char *pattern, int first, int count) {
  char name[CB_POSES_LONGEST_NAME];
  cb_status status = CB_OK;
  for (int i = 0; i < count && !status; i++) {
    status = cb_poses_file(pattern, first + i, name);
    if (!status) status = cb_scenario_add_file(s, name);
  }
  return status;
}

static cb_status read_poses(cb_scenario *s, const cb_node *node, const sequence_parameters *p, const cb_mesh *mesh,
                            const cb_mending *how, cb_surface **first, cb_immersed_kind *kind) {
  const cb_node *named = p->files ? p->files : p->sequence;
  const cb_poses_times times = {
      .start = p->start, .step = p->step, .period = p->period, .end = p->end ? CB_POSES_CLAMPED : CB_POSES_PERIODIC};
  const char *path;
  cb_status status = cb_node_string(named, &path);
  if (status) return status;
  if (p->files && !(p->step > 0)) return cb_node_fail(node, "expected `step`, the time between poses in s");
  status = cb_scenario_file(s, named, &path);
  if (status) return status;
  if (!p->files) return cb_poses_read_sequence(path, p->dataset, kind->surface, &times, how, first, &kind->poses);
  status = cb_poses_read(path, p->first, p->count, &times, mesh, how, mesh ? &kind->surface : first, &kind->poses);
  return status ? status : add_numbered(s, path, p->first, cb_poses_count(kind->poses));
}

/* Reads poses from files. mesh: the body's mesh, or NULL. If the body has no surface yet, it gets the first pose. */
static cb_status from_files(cb_scenario *s, const cb_node *node, const sequence_parameters *p, const cb_mesh *mesh,
                            double scale, const cb_mending *how, cb_immersed_kind *kind) {
  const cb_node *named = p->files ? p->files : p->sequence;
  cb_surface *first = NULL;
  cb_status status = read_poses(s, node, p, mesh, how, &first, kind);
  if (status) {
    cb_surface_free(first);
    return status;
  }
  cb_poses_scale(kind->poses, scale);
  if (!kind->surface) {
    kind->surface = first;
    cb_surface_scale(first, scale);
    return CB_OK;
  }
  if (first) status = check_same(named, kind->surface, first);
  cb_surface_free(first);
  return status;
}

/* Computes six times the volume inside the faces of each part. */
static void find_volumes(const cb_surface *surface, const double (*x)[3], double *volume) {
  memset(volume, 0, (size_t)surface->parts * sizeof *volume);
  for (int f = 0; f < surface->faces; f++) {
    const double *a = x[surface->face[f][0]], *b = x[surface->face[f][1]], *c = x[surface->face[f][2]];
    double normal[3];
    cb_cross3(b, c, normal);
    volume[surface->part[f]] += cb_dot3(a, normal);
  }
}

/* Checks that no pose turns a closed part inside out, and adds the poses to the digest of the scenario's inputs. */
static cb_status check_poses(cb_scenario *s, const cb_node *node, const cb_immersed_kind *kind) {
  const cb_surface *surface = kind->surface;
  double(*x)[3] = malloc((size_t)surface->vertices * sizeof *x),
  *volume = calloc((size_t)surface->parts, sizeof *volume);
  cb_status status = x && volume ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a pose");
  for (int i = 0; i < cb_poses_count(kind->poses) && !status; i++) {
    if ((status = cb_poses_at(kind->poses, cb_poses_time(kind->poses, i), x, NULL))) break;
    cb_scenario_add_data(s, x, (size_t)surface->vertices * sizeof *x);
    find_volumes(surface, (const double(*)[3])x, volume);
    for (int p = 0; p < surface->parts && !status; p++)
      if (!surface->open[p] && !(volume[p] > 0))
        status = cb_node_fail(node, "pose %d: part `%s` has the volume %g: expected faces that point outwards", i + 1,
                              surface->name[p], volume[p] / 6);
  }
  free(x);
  free(volume);
  return status;
}

/* Reads true or false into *on, or a number in [0, maximum) into *measure, which also sets *on to true. */
static cb_status read_measure(const cb_node *node, const char *expected, double maximum, bool *on, double *measure) {
  const bool token = node->kind == CB_NODE_SCALAR && (!strcmp(node->text, "true") || !strcmp(node->text, "false"));
  if (token) return cb_node_bool(node, on);
  if (cb_node_real(node, measure) || !(*measure >= 0 && *measure < maximum))
    return cb_node_fail(node, "expected %s, found %s", expected, cb_node_found(node).text);
  *on = true;
  return CB_OK;
}

static cb_status read_mending(const cb_node *weld, const cb_node *close, double scale, cb_mending *out) {
  cb_status status = CB_OK;
  bool closes = false;
  double share = CB_MENDING_SHARE / 100.;
  *out = (cb_mending){.weld = false};
  if (weld) status = read_measure(weld, "true, false or a tolerance in m, >= 0", HUGE_VAL, &out->weld, &out->tolerance);
  out->tolerance /= scale;
  if (!status && close)
    status = read_measure(close, "true, false or a fraction of the area, >= 0 and < 0.5", 0.5, &closes, &share);
  if (closes) out->close = share;
  return status;
}

static cb_status read_mesh(cb_scenario *s, const cb_node *node, double scale, const cb_mending *how, cb_mesh **mesh,
                           cb_surface **out) {
  const char *text;
  cb_status status = cb_node_string(node, &text);
  if (!status) status = cb_scenario_file(s, node, &text);
  if (!status) status = cb_surface_read_mesh(text, NULL, mesh);
  if (!status) status = cb_surface_of_mesh(*mesh, how, out);
  if (!status) cb_surface_scale(*out, scale);
  return status;
}

static cb_status read_pieces(cb_scenario *s, const cb_node *list, cb_surface **out);

static cb_status read_shape(cb_scenario *s, const cb_node *shape, cb_surface **out) {
  if (shape->kind == CB_NODE_LIST) return read_pieces(s, shape, out);
  const cb_node *name = shape->kind == CB_NODE_MAP ? cb_node_get(shape, "name") : shape;
  const char *text;
  cb_status status = cb_scenario_check_class("bodies.*.shape", shape);
  if (status) return status;
  if (!name) return cb_node_fail(shape, "expected `name`; see `curvebody list shapes`");
  status = cb_node_string(name, &text);
  if (status) return status;
  status = cb_shape_create(text, shape->kind == CB_NODE_MAP ? shape : NULL, out);
  if (status == CB_ERROR_INPUT && shape->kind != CB_NODE_MAP) status = cb_node_fail(shape, "%s", cb_error_text());
  return cb_scenario_placed(s, status, shape, false);
}

/* Fails if a body with a shape has keys that apply only to files. */
static cb_status check_file_keys(const cb_node *body, const cb_surface_keys *k, const cb_mending *how) {
  if (k->scale != 1)
    return cb_node_fail(cb_node_get(body, "scale"), "`scale` applies only to `mesh` and to poses from files");
  if (how->weld) return cb_node_fail(k->weld, "`weld` applies only to `mesh` and to poses from files");
  return how->close > 0 ? cb_node_fail(k->close, "`close` applies only to `mesh` and to poses from files") : CB_OK;
}

cb_status cb_scenario_read_surface(cb_scenario *s, const cb_node *body, const cb_surface_keys *k,
                                   cb_immersed_kind *kind) {
  static const char *const of_gait[] = {"gait"};
  const cb_node *shape = k->shape, *mesh = k->mesh, *poses = k->poses, *gait = cb_node_get(poses, "gait");
  if (gait) {
    const cb_status found = cb_scenario_gait_poses(s, poses, &poses, &gait);
    if (found) return found;
  } else if (cb_node_get(poses, "variables")) {
    return cb_node_fail(cb_node_get(poses, "variables"), "expected `gait`, which the shape variables follow");
  }
  const bool by_files = cb_node_get(poses, "files") || cb_node_get(poses, "sequence");
  const cb_poses_parameters parameters = fluid_parameters(s->own);
  sequence_parameters p = {0};
  cb_status status = by_files ? cb_params_bind(cb_sequence_table, poses, poses, of_gait, 1, &p) : CB_OK;
  if (status) return status;
  if (shape && mesh) return cb_node_fail(mesh, "`mesh` next to `shape`: expected only one of them");
  if (!shape && !mesh && !by_files) return cb_node_fail(body, "expected `shape`, `mesh`, or `poses` from files");
  cb_mending how;
  status = read_mending(k->weld, k->close, k->scale, &how);
  if (!status && !mesh && !by_files) status = check_file_keys(body, k, &how);
  if (status) return status;
  if (p.files && p.sequence) return cb_node_fail(p.sequence, "`sequence` next to `files`: expected only one of them");
  cb_mesh *file = NULL;
  how.posed = by_files;
  if (shape) status = read_shape(s, shape, &kind->surface);
  if (mesh) status = read_mesh(s, mesh, k->scale, &how, &file, &kind->surface);
  if (!status && poses && !cb_fluid_scenario_of(s)->lost)
    status = by_files ? from_files(s, poses, &p, file, k->scale, &how, kind)
             : gait   ? CB_OK
                      : from_expressions(s, poses, &parameters, kind);
  cb_mesh_free(file);
  if (kind->surface && cb_node_get(body, "scale")) cb_surface_know_unit(kind->surface);
  const bool pieces = shape && shape->kind == CB_NODE_LIST; /* each piece was checked */
  if (!status && !pieces)
    status = cb_scenario_placed(s, cb_surface_check(kind->surface, true), mesh ? mesh : body, false);
  if (!status && by_files) status = check_poses(s, poses, kind);
  if (!status && gait && !cb_fluid_scenario_of(s)->lost) status = from_gait(s, poses, gait, kind);
  return status;
}

/* --- a body of several shapes: `shape` is a list ---
 *   shape:
 *     - {name: hull, shape: {name: box, a: 0.2}, position: [0, 0, 0.1], quaternion: [w, x, y, z]}
 *     - {mesh: fin.obj, scale: 0.001}               metres per unit, or [x, y, z]; negative: mirrored
 * The parts of each piece have the name of the piece (default: `piece1`, ..). If pieces overlap, or one piece is inside
 * another, the mass and the faces of all pieces count. */

typedef struct piece_parameters {
  const char *name;
  const cb_node *shape, *mesh, *weld, *close, *scale, *position, *quaternion;
} piece_parameters;

#define NODE(field, unit, doc) \
  { #field, CB_PARAM_NODE, offsetof(piece_parameters, field), "", unit, "", NULL, doc }
const cb_param cb_piece_table[] = {
    {"name", CB_PARAM_STRING, offsetof(piece_parameters, name), "", "", "", NULL, "name of the parts of this piece"},
    NODE(shape, "", "a shape as for a body"),
    NODE(mesh, "", "an OBJ, PLY, STL or OFF file"),
    NODE(scale, "m", "for a mesh: metres per unit, or three numbers"),
    NODE(weld, "m", "for a mesh, as for a body"),
    NODE(close, "", "for a mesh, as for a body"),
    NODE(position, "m", "position of the piece's origin in the body frame"),
    NODE(quaternion, "", "quaternion [w, x, y, z] of the piece's axes"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status read_scale(const cb_scenario *s, const cb_node *node, double scale[3]) {
  cb_status status = node->kind == CB_NODE_LIST ? cb_scenario_vector(s, node, 0, NULL, NULL, scale)
                                                : cb_scenario_number(s, node, 0, NULL, NULL, scale);
  if (node->kind != CB_NODE_LIST) scale[1] = scale[2] = scale[0];
  for (int i = 0; i < 3 && !status; i++)
    if (scale[i] == 0) status = cb_node_fail(node, "expected a scale that is not 0");
  return status;
}

/* Reads one piece. The matrix R diag(scale) maps its vertices to the axes of the body. */
static cb_status read_piece(cb_scenario *s, const cb_node *node, int number, cb_surface_piece *out) {
  piece_parameters p;
  cb_pose pose;
  double scale[3] = {1, 1, 1}, R[3][3];
  char numbered[32];
  cb_mesh *mesh = NULL;
  cb_mending how = {.weld = false};
  cb_surface *surface = NULL;
  cb_status status = cb_params_bind(cb_piece_table, node, node, NULL, 0, &p);
  if (status) return status;
  cb_pose_identity(&pose);
  snprintf(numbered, sizeof numbered, "piece%d", number + 1);
  out->name = *p.name ? p.name : cb_arena_strdup(s->arena, numbered);
  if (!out->name) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  if (!p.shape == !p.mesh) return cb_node_fail(p.mesh ? p.mesh : node, "expected either `shape` or `mesh`");
  if (p.shape && p.scale) return cb_node_fail(p.scale, "`scale` applies only to `mesh`");
  if (p.shape && p.shape->kind == CB_NODE_LIST) return cb_node_fail(p.shape, "expected one shape, found a list");
  cb_errors errors = cb_errors_begin();
  if (p.scale) cb_errors_add(&errors, p.scale, read_scale(s, p.scale, scale));
  cb_errors_add(&errors, node,
                read_mending(p.weld, p.close, fmax(fmax(fabs(scale[0]), fabs(scale[1])), fabs(scale[2])), &how));
  if (p.shape && how.weld) cb_errors_add(&errors, p.weld, cb_node_fail(p.weld, "`weld` applies only to `mesh`"));
  if (p.shape && how.close > 0)
    cb_errors_add(&errors, p.close, cb_node_fail(p.close, "`close` applies only to `mesh`"));
  if (p.position) cb_errors_add(&errors, p.position, cb_scenario_vector(s, p.position, 0, NULL, NULL, pose.x));
  if (p.quaternion)
    cb_errors_add(&errors, p.quaternion, cb_scenario_quaternion(s, p.quaternion, 0, NULL, NULL, pose.q));
  cb_errors_add(&errors, node,
                p.shape ? read_shape(s, p.shape, &surface) : read_mesh(s, p.mesh, 1, &how, &mesh, &surface));
  cb_mesh_free(mesh);
  if (surface) cb_errors_add(&errors, node, cb_scenario_placed(s, cb_surface_check(surface, true), node, false));
  if (surface && p.scale) cb_surface_know_unit(surface);
  out->surface = surface;
  cb_pose_rotation(&pose, R);
  for (int i = 0; i < 9; i++) out->frame[i / 3][i % 3] = R[i / 3][i % 3] * scale[i % 3];
  memcpy(out->origin, pose.x, sizeof pose.x);
  return cb_errors_end(&errors);
}

static bool is_twice(const cb_surface_piece *piece, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (piece[k].name && piece[i].name && !strcmp(piece[k].name, piece[i].name)) return true;
  return false;
}

static cb_status read_pieces(cb_scenario *s, const cb_node *list, cb_surface **out) {
  if (list->count == 0) return cb_node_fail(list, "expected a list of {shape: ..} and {mesh: ..}");
  cb_surface_piece *piece = cb_arena_alloc(s->arena, list->count, sizeof *piece);
  if (!piece) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu shapes", list->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < list->count; i++) {
    cb_status status = read_piece(s, list->items[i], (int)i, &piece[i]);
    if (!status && is_twice(piece, i))
      status = cb_node_fail(list->items[i], "two shapes of the body have the name `%s`: expected different names",
                            piece[i].name);
    cb_errors_add(&errors, list->items[i], status);
  }
  cb_status status = cb_errors_end(&errors);
  if (!status) status = cb_scenario_placed(s, cb_surface_join((int)list->count, piece, out), list, false);
  for (size_t i = 0; i < list->count; i++) cb_surface_free((cb_surface *)piece[i].surface);
  return status;
}
