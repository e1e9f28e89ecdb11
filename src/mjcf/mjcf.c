/* Reads a complete MJCF file (see mjcf.h): <compiler> and <option>, then defaults, meshes and bodies, and the list of
 * elements that were not read. Attributes with their defaults follow below. */
#include "mjcf/mjcf_private.h"
#include "tree/scalar.h"

#include <stdlib.h>
#include <string.h>
#include <math.h>

typedef struct owned {
  cb_mjcf model; /* the part that the caller sees; it must be the first member */
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
  static const char *const texts[] = {"false", "true"};
  int choice = 0;
  const cb_status status = value ? cb_mjcf_choice(value, name, 2, texts, &choice) : CB_OK;
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
  int choice = 0;
  cb_errors errors = cb_errors_begin();
  cb_xml_get(e, "exactmeshinertia"); /* read without effect: the inertia is always exact */
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
  static const char *const texts[] = {"enable", "disable"};
  const cb_node *value = cb_xml_get(flag, name);
  int choice = 0;
  const cb_status status = value ? cb_mjcf_choice(value, name, 2, texts, &choice) : CB_OK;
  if (!status && value) *disabled = choice;
  return status;
}

/* The flags of <option>. A member is true if the flag is disabled. */
typedef struct flags {
  bool gravity, passive, spring, damper, actuation, clampctrl, contact, constraint, limit, frictionloss, equality;
} flags;

static cb_status read_flags(cb_xml *e, flags *off) {
  const struct {
    const char *name;
    bool *off;
  } known[] = {{"gravity", &off->gravity},     {"passive", &off->passive},
               {"spring", &off->spring},       {"damper", &off->damper},
               {"actuation", &off->actuation}, {"clampctrl", &off->clampctrl},
               {"contact", &off->contact},     {"constraint", &off->constraint},
               {"limit", &off->limit},         {"frictionloss", &off->frictionloss},
               {"equality", &off->equality}};
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
  static const char *const methods[] = {"Euler", "RK4", "implicit", "implicitfast"}, *const sets[] = {"all",
                                                                                                      "predefined",
                                                                                                      "dynamic"};
  cb_mjcf *m = r->model;
  int set = 0;
  const cb_node *wind = cb_xml_get(e, "wind"), *gravity = cb_xml_get(e, "gravity"),
                *method = cb_xml_get(e, "integrator"), *collision = cb_xml_get(e, "collision");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &e->name, read_positive(cb_xml_get(e, "density"), "density", true, &m->density));
  cb_errors_add(&errors, &e->name, read_positive(cb_xml_get(e, "viscosity"), "viscosity", true, &m->viscosity));
  cb_errors_add(&errors, &e->name, read_positive(cb_xml_get(e, "timestep"), "timestep", false, &m->step));
  if (wind) cb_errors_add(&errors, wind, cb_mjcf_numbers(wind, "wind", 3, 3, m->wind, NULL));
  if (gravity) cb_errors_add(&errors, gravity, cb_mjcf_numbers(gravity, "gravity", 3, 3, m->gravity, NULL));
  if (method) cb_errors_add(&errors, method, cb_mjcf_choice(method, "integrator", 4, methods, &m->integrator));
  if (collision && !cb_errors_add(&errors, collision, cb_mjcf_choice(collision, "collision", 3, sets, &set)))
    off->contact = off->contact || set == 1;
  cb_errors_add(&errors, &e->name, read_idle(cb_xml_get(e, "actuatorgroupdisable"), &r->whole->idle));
  for (cb_xml *flag = e->first; flag; flag = flag->next)
    if (cb_xml_is(flag, "flag")) cb_errors_add(&errors, &flag->name, read_flags(flag, off));
  return cb_errors_end(&errors);
}

/* In MuJoCo, the forces of the fluid and of gravcomp are passive forces. */
static void switch_off(cb_mjcf_reader *r, const flags *off) {
  const bool dry = off->passive || (off->spring && off->damper);
  for (int i = 0; i < 3 && off->gravity; i++) r->model->gravity[i] = 0;
  if (dry) r->model->density = r->model->viscosity = 0;
  r->whole->compensating = !dry;
  r->whole->acting = !off->actuation;
  r->whole->clamping = !off->clampctrl;
  r->whole->touching = !off->contact && !off->constraint;
  r->whole->springs = !off->passive && !off->spring;
  r->whole->dampers = !off->passive && !off->damper;
  r->whole->limits = !off->limit && !off->constraint;
  r->whole->frictions = !off->frictionloss && !off->constraint;
  r->whole->equalities = !off->equality && !off->constraint;
}

cb_status cb_mjcf_read_settings(cb_mjcf_reader *r) {
  flags off = {false};
  cb_errors errors = cb_errors_begin();
  for (cb_xml *e = r->root->first; e; e = e->next) {
    if (cb_xml_is(e, "compiler")) cb_errors_add(&errors, &e->name, read_compiler(r, e));
    if (r->parent && !strcmp(e->name.text, "option"))
      e->why = "the options of the file that attaches this one are used";
    if (cb_xml_is(e, "option")) cb_errors_add(&errors, &e->name, read_option(r, e, &off));
  }
  if (!r->parent) switch_off(r, &off);
  return cb_errors_end(&errors);
}

/* --- the complete file --- */

/* Returns whether an element (attribute NULL) or an attribute has no effect on the motion. Such elements are
 * appearance, sensors, and sizes of MuJoCo's model. */
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
  cb_xml_put_minors(&minors, "visual and other minor elements", &text);
  r->model->left_out = text.failed ? NULL : cb_arena_strndup(r->arena, text.data, text.length);
  cb_text_free(&text);
  return r->model->left_out ? CB_OK : cb_mjcf_no_memory(r);
}

static cb_status read_model(cb_mjcf_reader *r, const char *text, size_t n) {
  cb_status status = cb_mjcf_read(r, text, n);
  const cb_node *title = status ? NULL : cb_xml_get(r->root, "model");
  r->model->title = title ? title->text : "";
  if (!status) status = cb_mjcf_read_world(r);
  if (!status && !r->model->n) status = cb_node_fail(&r->root->name, "expected a <body> with a joint");
  return status ? status : list_unread(r);
}

cb_status cb_mjcf_read_text(const char *path, const char *text, size_t n, const cb_mjcf_choices *choices,
                            cb_mjcf **out) {
  cb_arena *arena = cb_arena_create();
  owned *o = cb_arena_alloc(arena, 1, sizeof *o);
  const char *slash = strrchr(path, '/'), *own = cb_arena_strdup(arena, path),
             *folder = cb_arena_strndup(arena, path, slash ? (size_t)(slash - path) + 1 : 0);
  if (!o || !own || !folder) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for '%s'", path);
  }
  cb_mjcf_whole whole = {.folder = folder};
  if (choices) whole.choices = *choices;
  cb_mjcf_reader r = cb_mjcf_reader_of(arena, &whole, &o->model, own);
  whole.last_reader = &whole.readers;
  whole.last_target = &whole.targets;
  whole.last_plane = &whole.planes;
  o->arena = arena;
  o->model = (cb_mjcf){.path = own, .gravity = {0, 0, -9.81}, .step = 0.002};
  const cb_status status = read_model(&r, text, n);
  if (status)
    cb_arena_free(arena);
  else
    *out = &o->model;
  return status;
}

cb_status cb_mjcf_read_file(const char *path, const cb_mjcf_choices *choices, cb_mjcf **out) {
  char *text;
  size_t n;
  cb_status status = cb_read_whole_file(path, CB_XML_LARGEST, &text, &n);
  if (status) return status;
  status = cb_mjcf_read_text(path, text, n, choices, out);
  free(text);
  return status;
}

void cb_mjcf_free(cb_mjcf *m) {
  if (m) cb_arena_free(((owned *)m)->arena);
}

/* Attributes with their defaults. Classes of defaults are nested. An element has the class in its attribute `class`, or
 * the `childclass` of a body around it, or `main`. The elements in <default> are searched from the outermost class
 * inwards. A shorter list of numbers replaces only the first numbers of a longer list, as in MuJoCo. */

cb_status cb_mjcf_no_memory(const cb_mjcf_reader *r) {
  return cb_fail(CB_ERROR_MEMORY, "no memory for '%s'", r->model->path);
}

/* --- classes --- */

static cb_mjcf_class *find_class(const cb_mjcf_reader *r, const char *name) {
  cb_mjcf_class *c = r->classes;
  while (c && strcmp(c->name, name)) c = c->next;
  return c;
}

/* Marks the known attributes of defaults as read, whether an element uses them or not. */
static void take_known(cb_xml *e) {
  static const char *const known[] = {"class",      "type",         "size",      "fromto",     "pos",
                                      "quat",       "axisangle",    "xyaxes",    "zaxis",      "euler",
                                      "density",    "mass",         "fluidcoef", "group",      "mesh",
                                      "fluidshape", "shellinertia", "contype",   "conaffinity"},
                           *const of_mesh[] = {"class", "scale"};
  const char *name = e->name.text;
  if (cb_mjcf_is_actuator(name) && cb_xml_is(e, name)) cb_mjcf_take_actuator(e);
  if (!strcmp(name, "site") || !strcmp(name, "geom"))
    for (size_t i = 0; i < sizeof known / sizeof *known && cb_xml_is(e, name); i++) cb_xml_get(e, known[i]);
  for (size_t i = 0; i < 2 && cb_xml_is(e, "mesh"); i++) cb_xml_get(e, of_mesh[i]);
  if (cb_xml_is(e, "joint")) cb_mjcf_take_joint(e);
  if (!strcmp(name, "tendon") || !strcmp(name, "equality")) cb_xml_is(e, name);
}

static cb_status read_class(cb_mjcf_reader *r, cb_xml *e, cb_mjcf_class *parent) {
  const cb_node *named = cb_xml_get(e, "class");
  if (parent && !named) return cb_node_fail(&e->name, "expected `class`, a name");
  cb_mjcf_class *own = cb_arena_alloc(r->arena, 1, sizeof *own), **last = &r->classes;
  if (!own) return cb_mjcf_no_memory(r);
  *own = (cb_mjcf_class){named ? named->text : "main", e, parent, NULL};
  while (*last) last = &(*last)->next;
  *last = own;
  cb_status status = CB_OK;
  for (cb_xml *child = e->first; child && !status; child = child->next) {
    if (cb_xml_is(child, "default"))
      status = read_class(r, child, own);
    else
      take_known(child);
  }
  return status;
}

cb_status cb_mjcf_read_classes(cb_mjcf_reader *r) {
  cb_status status = CB_OK;
  for (cb_xml *e = r->root->first; e && !status; e = e->next)
    if (cb_xml_is(e, "default")) status = read_class(r, e, NULL);
  return status;
}

static bool is_under(const cb_mjcf_class *c, const cb_mjcf_class *of) {
  while (c && strcmp(c->name, of->name)) c = c->parent;
  return c != NULL;
}

static cb_status add_source(cb_mjcf_source *out, cb_xml *e, const cb_xml *element) {
  if (out->n == CB_MJCF_SOURCES)
    return cb_node_fail(&element->name, "expected at most %d defaults for an element", CB_MJCF_SOURCES - 1);
  out->from[out->n++] = e;
  return CB_OK;
}

/* Returns whether a default applies to an element. Actuators of all types share their defaults, as do tendons and
 * constraints. */
static bool is_default_of(const cb_xml *e, const cb_xml *element) {
  const char *name = e->name.text, *of = element->name.text;
  const cb_xml *list = element->parent;
  if (list && (!strcmp(list->name.text, "tendon") || !strcmp(list->name.text, "equality")))
    return !e->why && !strcmp(name, list->name.text);
  return !e->why && (!strcmp(name, of) || (cb_mjcf_is_actuator(name) && cb_mjcf_is_actuator(of)));
}

/* Classes are in the order of the file, in which outer classes come before inner classes. The outermost classes apply
 * to all elements. */
cb_status cb_mjcf_source_of(const cb_mjcf_reader *r, cb_xml *element, const char *childclass, cb_mjcf_source *out) {
  const cb_node *named = cb_xml_get(element, "class");
  const char *name = named ? named->text : childclass;
  const cb_mjcf_class *own = name ? find_class(r, name) : r->classes;
  out->n = 0;
  if (named && !own) return cb_node_fail(named, "no <default> has the class `%s`", name);
  cb_status status = CB_OK;
  for (cb_mjcf_class *c = r->classes; c && !status; c = c->next) {
    if (c->parent && !is_under(own, c)) continue;
    for (cb_xml *e = c->element->first; e && !status; e = e->next)
      if (is_default_of(e, element)) status = add_source(out, e, element);
  }
  return status ? status : add_source(out, element, element);
}

/* --- values --- */

const cb_node *cb_mjcf_value(const cb_mjcf_source *source, const char *name) {
  const cb_node *value = NULL;
  for (int i = 0; i < source->n; i++) {
    const cb_node *own = cb_xml_get(source->from[i], name);
    if (own) value = own;
  }
  return value;
}

cb_status cb_mjcf_numbers(const cb_node *value, const char *name, int minimum, int maximum, double *out, int *count) {
  static const char blanks[] = " \t\r\n";
  const size_t first = strspn(value->text, blanks);
  int n = 0;
  /* the first loop checks that all are numbers, the second one stores them */
  for (size_t at = first, length; value->text[at]; n++, at += length, at += strspn(value->text + at, blanks)) {
    const char *text = value->text + at;
    double number;
    length = strcspn(text, blanks);
    if (!cb_parse_decimal(text, length, &number) || !isfinite(number))
      return cb_node_fail_at(value, at, "%s: expected a number, found '%s'", name, cb_quoted(text, length).text);
  }
  if (n < minimum || n > maximum) {
    if (minimum == maximum)
      return cb_node_fail(value, "%s: expected %d number%s, found %d", name, maximum, maximum != 1 ? "s" : "", n);
    return cb_node_fail(value, "%s: expected %d to %d numbers, found %d", name, minimum, maximum, n);
  }
  size_t at = first;
  for (int i = 0; i < n; i++) {
    const size_t length = strcspn(value->text + at, blanks);
    (void)cb_parse_decimal(value->text + at, length, &out[i]);
    at += length;
    at += strspn(value->text + at, blanks);
  }
  if (count) *count = n;
  return CB_OK;
}

cb_status cb_mjcf_merged(const cb_mjcf_source *source, const char *name, int minimum, int maximum, double *out) {
  cb_status status = CB_OK;
  for (int i = 0; i < source->n && !status; i++) {
    const cb_node *own = cb_xml_get(source->from[i], name);
    if (own) status = cb_mjcf_numbers(own, name, minimum, maximum, out, NULL);
  }
  return status;
}

cb_status cb_mjcf_choice(const cb_node *value, const char *what, int n, const char *const *texts, int *out) {
  for (int i = 0; i < n; i++)
    if (!strcmp(texts[i], value->text)) {
      *out = i;
      return CB_OK;
    }
  return cb_fail_unknown(value, what, value->text, texts, (size_t)n);
}
