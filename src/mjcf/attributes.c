/* Attributes of MJCF with their defaults: classes within classes, of which an element has one by `class`, or by the
 * `childclass` of a body around it, or `main`. Each kind of element is looked for in <default> from the outermost in;
 * fewer numbers than another gave replace the first of these, as MuJoCo does. */
#include "mjcf/private.h"

#include "tree/scalar.h"

#include <math.h>
#include <string.h>

cb_status cb_mjcf_no_memory(const cb_mjcf_reader *r) {
  return cb_fail(CB_ERROR_MEMORY, "no memory for '%s'", r->model->path);
}

/* --- classes --- */

static cb_mjcf_class *find_class(const cb_mjcf_reader *r, const char *name) {
  cb_mjcf_class *c = r->classes;
  while (c && strcmp(c->name, name)) c = c->next;
  return c;
}

/* What defaults have that is known is taken, whether an element asks for it or not. */
static void take_known(cb_xml *e) {
  static const char *const known[] = {"class",      "type",         "size",      "fromto",     "pos",
                                      "quat",       "axisangle",    "xyaxes",    "zaxis",      "euler",
                                      "density",    "mass",         "fluidcoef", "group",      "mesh",
                                      "fluidshape", "shellinertia", "contype",   "conaffinity"},
                           *const of_mesh[] = {"class", "scale"}, *const of_joint[] = {"class", "type", "group"};
  if (cb_xml_is(e, "site"))
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) cb_xml_get(e, known[i]);
  if (cb_mjcf_is_actuator(e->name.text) && cb_xml_is(e, e->name.text)) cb_mjcf_take_actuator(e);
  if (cb_xml_is(e, "geom"))
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) cb_xml_get(e, known[i]);
  if (cb_xml_is(e, "mesh"))
    for (size_t i = 0; i < sizeof of_mesh / sizeof *of_mesh; i++) cb_xml_get(e, of_mesh[i]);
  if (cb_xml_is(e, "joint"))
    for (size_t i = 0; i < sizeof of_joint / sizeof *of_joint; i++) cb_xml_get(e, of_joint[i]);
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
    return cb_node_fail(&element->name, "expected at most %d defaults of it", CB_MJCF_SOURCES - 1);
  out->from[out->n++] = e;
  return CB_OK;
}

/* Actuators of all types have their defaults together. */
static bool is_default_of(const cb_xml *e, const cb_xml *element) {
  const char *name = e->name.text, *of = element->name.text;
  return !e->why && (!strcmp(name, of) || (cb_mjcf_is_actuator(name) && cb_mjcf_is_actuator(of)));
}

/* In the order of the file, which has outer classes before inner ones. Outermost ones are all `main`. */
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

cb_status cb_mjcf_numbers(const cb_node *value, const char *name, int least, int most, double *out, int *count) {
  static const char blanks[] = " \t\r\n";
  const size_t first = strspn(value->text, blanks);
  int n = 0;
  /* once to see that all are numbers, and once to keep them */
  for (size_t at = first, length; value->text[at]; n++, at += length, at += strspn(value->text + at, blanks)) {
    const char *text = value->text + at;
    double number;
    length = strcspn(text, blanks);
    if (!cb_parse_decimal(text, length, &number) || !isfinite(number))
      return cb_node_fail_at(value, at, "%s: expected a number, found '%s'", name, cb_quoted(text, length).text);
  }
  if (n < least || n > most) {
    if (least == most)
      return cb_node_fail(value, "%s: expected %d number%s, found %d", name, most, most != 1 ? "s" : "", n);
    return cb_node_fail(value, "%s: expected %d to %d numbers, found %d", name, least, most, n);
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

cb_status cb_mjcf_merged(const cb_mjcf_source *source, const char *name, int least, int most, double *out) {
  cb_status status = CB_OK;
  for (int i = 0; i < source->n && !status; i++) {
    const cb_node *own = cb_xml_get(source->from[i], name);
    if (own) status = cb_mjcf_numbers(own, name, least, most, out, NULL);
  }
  return status;
}

cb_status cb_mjcf_choice(const cb_node *value, const char *what, int n, const char *const *words, int *out) {
  for (int i = 0; i < n; i++)
    if (!strcmp(words[i], value->text)) return *out = i, CB_OK;
  return cb_fail_unknown(value, what, value->text, words, (size_t)n);
}
