/* MJCF as a whole: <compiler> and <option>, then defaults, meshes and bodies, and what is left. See mjcf.h. */
#include "mjcf/private.h"

#include <stdlib.h>
#include <string.h>

typedef struct owned {
  cb_mjcf model; /* first: what the caller sees */
  cb_arena *arena;
} owned;

/* --- <compiler> --- */

static cb_status read_sequence(cb_mjcf_reader *r, const cb_node *value) {
  r->sequence = value->text;
  return strlen(value->text) == 3 && strspn(value->text, "xyzXYZ") == 3
             ? CB_OK
             : cb_node_fail(value, "eulerseq: expected three of x, y, z, X, Y, Z, found '%s'",
                            cb_quoted(value->text, strlen(value->text)).text);
}

static cb_status read_truth(const cb_node *value, const char *name, bool *out) {
  static const char *const words[] = {"false", "true"};
  int choice = 0;
  const cb_status status = value ? cb_mjcf_choice(value, name, 2, words, &choice) : CB_OK;
  if (!status && value) *out = choice;
  return status;
}

static cb_status read_positive(const cb_node *value, const char *name, bool zero, double *out) {
  if (!value) return CB_OK;
  const cb_status status = cb_mjcf_numbers(value, name, 1, 1, out, NULL);
  if (status || (zero ? *out >= 0 : *out > 0)) return status;
  return cb_node_fail(value, "%s: expected a number %s 0, found %g", name, zero ? ">=" : ">", *out);
}

static cb_status read_compiler(cb_mjcf_reader *r, cb_xml *e) {
  static const char *const angles[] = {"degree", "radian"}, *const ways[] = {"false", "true", "auto"},
                           *const coordinates[] = {"local"};
  const cb_node *angle = cb_xml_get(e, "angle"), *coordinate = cb_xml_get(e, "coordinate"),
                *sequence = cb_xml_get(e, "eulerseq"), *from = cb_xml_get(e, "inertiafromgeom"),
                *group = cb_xml_get(e, "inertiagrouprange"), *total = cb_xml_get(e, "settotalmass"),
                *dir = cb_xml_get(e, "assetdir"), *meshdir = cb_xml_get(e, "meshdir");
  int choice;
  cb_errors errors = cb_errors_begin();
  cb_xml_get(e, "exactmeshinertia"); /* it is exact */
  if (angle && !cb_errors_add(&errors, angle, cb_mjcf_choice(angle, "angle", 2, angles, &choice))) r->radians = choice;
  if (coordinate) cb_errors_add(&errors, coordinate, cb_mjcf_choice(coordinate, "coordinate", 1, coordinates, &choice));
  if (sequence) cb_errors_add(&errors, sequence, read_sequence(r, sequence));
  if (from && !cb_errors_add(&errors, from, cb_mjcf_choice(from, "inertiafromgeom", 3, ways, &choice)))
    r->from_geoms = (cb_mjcf_from_geoms)choice;
  if (group) cb_errors_add(&errors, group, cb_mjcf_numbers(group, "inertiagrouprange", 2, 2, r->group, NULL));
  cb_errors_add(&errors, &e->name, read_truth(cb_xml_get(e, "strippath"), "strippath", &r->strip));
  cb_errors_add(&errors, &e->name, read_truth(cb_xml_get(e, "balanceinertia"), "balanceinertia", &r->balance));
  cb_errors_add(&errors, &e->name, read_truth(cb_xml_get(e, "autolimits"), "autolimits", &r->autolimits));
  cb_errors_add(&errors, &e->name, read_truth(cb_xml_get(e, "alignfree"), "alignfree", &r->align));
  cb_errors_add(&errors, &e->name, read_positive(cb_xml_get(e, "boundmass"), "boundmass", true, &r->bound_mass));
  cb_errors_add(&errors, &e->name,
                read_positive(cb_xml_get(e, "boundinertia"), "boundinertia", true, &r->bound_inertia));
  if (total) cb_errors_add(&errors, total, cb_mjcf_numbers(total, "settotalmass", 1, 1, &r->total, NULL));
  if (dir) r->meshdir = dir->text;
  if (meshdir) r->meshdir = meshdir->text;
  return cb_errors_end(&errors);
}

/* --- <option> --- */

static cb_status read_flag(cb_xml *flag, const char *name, bool *disabled) {
  static const char *const words[] = {"enable", "disable"};
  const cb_node *value = cb_xml_get(flag, name);
  int choice = 0;
  const cb_status status = value ? cb_mjcf_choice(value, name, 2, words, &choice) : CB_OK;
  if (!status && value) *disabled = choice;
  return status;
}

/* What is switched off. */
typedef struct flags {
  bool gravity, passive, spring, damper, actuation, clampctrl, contact, constraint;
} flags;

static cb_status read_flags(cb_xml *e, flags *off) {
  const struct {
    const char *name;
    bool *off;
  } known[] = {{"gravity", &off->gravity}, {"passive", &off->passive},      {"spring", &off->spring},
               {"damper", &off->damper},   {"actuation", &off->actuation},  {"clampctrl", &off->clampctrl},
               {"contact", &off->contact}, {"constraint", &off->constraint}};
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    cb_errors_add(&errors, &e->name, read_flag(e, known[i].name, known[i].off));
  return cb_errors_end(&errors);
}

static cb_status read_idle(const cb_node *value, unsigned long *groups) {
  double group[31];
  int n = 0;
  const cb_status status = value ? cb_mjcf_numbers(value, "actuatorgroupdisable", 0, 31, group, &n) : CB_OK;
  for (int i = 0; i < n && !status; i++) {
    if (!(group[i] >= 0 && group[i] <= 30))
      return cb_node_fail(value, "actuatorgroupdisable: expected groups from 0 to 30, found %g", group[i]);
    *groups |= 1ul << (int)group[i];
  }
  return status;
}

static cb_status read_option(cb_mjcf_reader *r, cb_xml *e, flags *off) {
  static const char *const methods[] = {"Euler", "RK4", "implicit", "implicitfast"};
  cb_mjcf *m = r->model;
  const cb_node *wind = cb_xml_get(e, "wind"), *gravity = cb_xml_get(e, "gravity"),
                *method = cb_xml_get(e, "integrator");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &e->name, read_positive(cb_xml_get(e, "density"), "density", true, &m->density));
  cb_errors_add(&errors, &e->name, read_positive(cb_xml_get(e, "viscosity"), "viscosity", true, &m->viscosity));
  cb_errors_add(&errors, &e->name, read_positive(cb_xml_get(e, "timestep"), "timestep", false, &m->step));
  if (wind) cb_errors_add(&errors, wind, cb_mjcf_numbers(wind, "wind", 3, 3, m->wind, NULL));
  if (gravity) cb_errors_add(&errors, gravity, cb_mjcf_numbers(gravity, "gravity", 3, 3, m->gravity, NULL));
  if (method) cb_errors_add(&errors, method, cb_mjcf_choice(method, "integrator", 4, methods, &m->method));
  cb_errors_add(&errors, &e->name, read_idle(cb_xml_get(e, "actuatorgroupdisable"), &r->whole->idle));
  for (cb_xml *flag = e->first; flag; flag = flag->next)
    if (cb_xml_is(flag, "flag")) cb_errors_add(&errors, &flag->name, read_flags(flag, off));
  return cb_errors_end(&errors);
}

/* The fluid's forces and those against gravity are among the passive ones. */
static void switch_off(cb_mjcf_reader *r, const flags *off) {
  const bool dry = off->passive || (off->spring && off->damper);
  for (int i = 0; i < 3 && off->gravity; i++) r->model->gravity[i] = 0;
  if (dry) r->model->density = r->model->viscosity = 0;
  r->whole->compensating = !dry;
  r->whole->acting = !off->actuation;
  r->whole->clamping = !off->clampctrl;
  r->whole->touching = !off->contact && !off->constraint;
}

cb_status cb_mjcf_read_settings(cb_mjcf_reader *r) {
  flags off = {false};
  cb_errors errors = cb_errors_begin();
  for (cb_xml *e = r->root->first; e; e = e->next) {
    if (cb_xml_is(e, "compiler")) cb_errors_add(&errors, &e->name, read_compiler(r, e));
    if (r->parent && !strcmp(e->name.text, "option")) e->why = "options are those of the file that attaches this one";
    if (cb_xml_is(e, "option")) cb_errors_add(&errors, &e->name, read_option(r, e, &off));
  }
  if (!r->parent) switch_off(r, &off);
  return cb_errors_end(&errors);
}

/* --- the whole --- */

/* What moves no body: looks, what is measured, and how MuJoCo keeps its model. */
static bool is_minor(const cb_xml *e, const char *attribute) {
  static const char *const elements[] = {"#text",  "visual", "statistic",   "size",     "custom",
                                         "light",  "camera", "texture",     "material", "skin",
                                         "sensor", "site",   "lengthrange", "headlight"},
                           *const attributes[] = {"rgba",         "material",      "user",         "name",
                                                  "texturedir",   "discardvisual", "usethread",    "fusestatic",
                                                  "fitaabb",      "convexhull",    "saveinertial", "texcoord",
                                                  "smoothnormal", "maxhullvert"},
                           *const of_site[] = {"type", "size"};
  bool minor = false;
  for (size_t i = 0; i < sizeof elements / sizeof *elements && !attribute; i++)
    minor = minor || !strcmp(e->name.text, elements[i]);
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes && attribute; i++)
    minor = minor || !strcmp(attribute, attributes[i]);
  for (size_t i = 0; i < 2 && attribute && !strcmp(e->name.text, "site"); i++)
    minor = minor || !strcmp(attribute, of_site[i]);
  return minor;
}

static cb_status list_unread(const cb_mjcf_reader *r) {
  cb_text text = {0};
  cb_xml_minors minors = {0};
  cb_text_puts(&text, "");
  for (const cb_mjcf_reader *own = r->whole->readers; own; own = own->next)
    cb_xml_list_unread(own->root, is_minor, &minors, &text);
  cb_xml_put_minors(&minors, "looks and the like", &text);
  r->model->left_out = text.failed ? NULL : cb_arena_strndup(r->arena, text.data, text.length);
  cb_text_free(&text);
  return r->model->left_out ? CB_OK : cb_mjcf_no_memory(r);
}

/* Which joint it is that leaves no body, if one does. */
static cb_status fail_without_bodies(const cb_mjcf_reader *r) {
  cb_xml *body = r->whole->blocked;
  if (!body) return cb_node_fail(&r->root->name, "expected a <body> with a free joint");
  const cb_node *name = cb_xml_get(body, "name");
  const cb_quote own = cb_quoted(name ? name->text : "", name ? strlen(name->text) : 0);
  return cb_node_fail(&r->whole->joint->name,
                      "expected a <body> with a free joint and no other, found the <body>%s%s%s in line %d: %s",
                      name ? " `" : "", own.text, name ? "`" : "", body->name.line, body->why);
}

static cb_status read_model(cb_mjcf_reader *r, const char *text, size_t n) {
  cb_status status = cb_mjcf_read(r, text, n);
  const cb_node *title = status ? NULL : cb_xml_get(r->root, "model");
  r->model->title = title ? title->text : "";
  if (!status) status = cb_mjcf_read_world(r);
  if (!status && !r->model->n) status = fail_without_bodies(r);
  return status ? status : list_unread(r);
}

cb_status cb_mjcf_read_text(const char *path, const char *text, size_t n, const char *key, cb_mjcf **out) {
  cb_arena *arena = cb_arena_create();
  owned *o = cb_arena_alloc(arena, 1, sizeof *o);
  const char *slash = strrchr(path, '/'), *own = cb_arena_strdup(arena, path),
             *folder = cb_arena_strndup(arena, path, slash ? (size_t)(slash - path) + 1 : 0);
  if (!o || !own || !folder) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for '%s'", path);
  }
  cb_mjcf_whole whole = {.folder = folder, .key = key};
  cb_mjcf_reader r = cb_mjcf_reader_of(arena, &whole, &o->model, own);
  whole.last_reader = &whole.readers, whole.last_target = &whole.targets, whole.last_plane = &whole.planes;
  o->arena = arena;
  o->model = (cb_mjcf){.path = own, .gravity = {0, 0, -9.81}, .step = 0.002};
  const cb_status status = read_model(&r, text, n);
  if (status)
    cb_arena_free(arena);
  else
    *out = &o->model;
  return status;
}

cb_status cb_mjcf_read_file(const char *path, const char *key, cb_mjcf **out) {
  char *text;
  size_t n;
  cb_status status = cb_read_whole_file(path, CB_XML_LARGEST, &text, &n);
  if (status) return status;
  status = cb_mjcf_read_text(path, text, n, key, out);
  free(text);
  return status;
}

void cb_mjcf_free(cb_mjcf *m) {
  if (m) cb_arena_free(((owned *)m)->arena);
}
