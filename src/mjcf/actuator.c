/* <actuator> of MJCF, and the `gravcomp` of bodies. Actuators at a site or at a free joint become wrenches (forces and
 * torques) of a body. Actuators at a joint or a fixed tendon become forces of joints (actuator_force.c).
 *
 * An actuator has one scalar force s (actuator_force.c) along its gear (f, m), a force and a torque in the axes of its
 * site. At a free joint f is along the axes of the world at the body's origin, and m along those of the body (with
 * jointinparent along those of the world). The length L of such an actuator is 0, and
 *
 *   L' = V = f . v + m . w,
 *
 * v and w are the velocity and the spin of the site. Body i with `gravcomp` c_i gets the force -c_i m_i g at its
 * centre. Source: MuJoCo's documentation (actuation model, XML reference).
 *
 * The caller of the reader may give the controls of actuators as texts NAME=EXPRESSION, with expressions of the time t.
 */
#include "mjcf/mjcf_private.h"

#include "numerics/vec3.h"
#include "tree/scalar.h"
#include <curvebody/expression.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- controls that the caller gives --- */

static cb_status check(const cb_node *where, const char *text) {
  static const char *const names[] = {"t"};
  cb_expression *e = NULL;
  size_t at = 0;
  const size_t before = (size_t)(text - where->text);
  const cb_expression_scope scope = {.names = names, .n = 1};
  const cb_status status = cb_expression_parse_in(text, &scope, &at, &e);
  cb_expression_free(e);
  return status == CB_ERROR_INPUT ? cb_node_fail_at(where, before + at, "%s", cb_error_text()) : status;
}

static cb_status read_control(const cb_mjcf_reader *r, const char *given, int n, const char *const *names,
                              const char **text) {
  const char *equals = strchr(given, '=');
  const cb_node where = {
      .kind = CB_NODE_SCALAR, .file = "--control", .line = 1, .column = 1, .text = given, .text_column = 1};
  if (!equals || equals == given) return cb_node_fail(&where, "expected NAME=EXPRESSION, found '%s'", given);
  const char *name = cb_arena_strndup(r->arena, given, (size_t)(equals - given));
  if (!name) return cb_mjcf_no_memory(r);
  int found = -1;
  for (int i = 0; i < n && found < 0; i++)
    if (!strcmp(names[i], name)) found = i;
  for (int i = 0; i < n && found < 0; i++) {
    char numbered[32];
    snprintf(numbered, sizeof numbered, "ctrl%d", i);
    if (!strcmp(numbered, name)) found = i;
  }
  if (found < 0 && n == 0) return cb_node_fail(&where, "unknown control '%s': the model has no actuators", name);
  if (found < 0) return cb_fail_unknown(&where, "control", name, names, (size_t)n);
  if (text[found]) return cb_node_fail(&where, "a second control for `%s`: expected only one", name);
  const cb_status status = check(&where, equals + 1);
  if (status) return status;
  const size_t room = strlen(equals + 1) + 3;
  char *kept = cb_arena_alloc(r->arena, room, 1);
  if (!kept) return cb_mjcf_no_memory(r);
  snprintf(kept, room, "(%s)", equals + 1);
  text[found] = kept;
  return CB_OK;
}

/* Reads the controls that the caller gives. names[n] are the names of the actuators. text[i] becomes the expression of
 * actuator i, and is unchanged if the caller gives none. */
static cb_status read_controls(const cb_mjcf_reader *r, int n, const char *const *names, const char **text) {
  cb_errors errors = cb_errors_begin();
  const cb_mjcf_choices *c = &r->whole->choices;
  for (int i = 0; i < c->controls; i++)
    cb_errors_add(&errors, &r->root->name, read_control(r, c->control[i], n, names, text));
  return cb_errors_end(&errors);
}

/* --- actuators --- */

/* Writes the speed as a sum over the components of the twist. V holds the coefficients of the spin and of the velocity
 * of the body's origin, in the body's axes. */
static void put_speed(cb_text *out, const double V[6]) {
  static const char *const twist[] = {"wx", "wy", "wz", "vx", "vy", "vz"};
  const char *between = "(";
  for (int i = 0; i < 6; i++) {
    if (V[i] == 0) continue;
    cb_text_puts(out, between);
    cb_mjcf_put_number(out, V[i]);
    cb_text_puts(out, "*");
    cb_text_puts(out, twist[i]);
    between = " + ";
  }
  cb_text_puts(out, *between == '(' ? "0" : ")");
}

/* Returns the text of x times the force s (of x alone if s is NULL). Returns NULL if there is no memory. */
static const char *component(const cb_mjcf_reader *r, double x, const char *s) {
  cb_text text = {0};
  if (x == 0) return "0";
  cb_mjcf_put_number(&text, x);
  if (s) {
    cb_text_puts(&text, "*(");
    cb_text_puts(&text, s);
    cb_text_puts(&text, ")");
  }
  const char *kept = text.failed ? NULL : cb_arena_strndup(r->arena, text.data, text.length);
  cb_text_free(&text);
  return kept;
}

/* --- wrenches --- */

/* Returns `name` with _ in place of all characters except letters and digits. If it is empty or too long, or another
 * wrench has this name, the result is `token` and a number. */
static const char *wrench_name(const cb_mjcf_reader *r, const cb_mjcf_body *body, const char *name, const char *token,
                               int number) {
  static const char *const taken[] = {"gravity", "buoyancy",   "drag",       "linear_drag", "flow",   "pressure",
                                      "floor",   "potentials", "added_mass", "kutta",       "magnus", "viscous"};
  char text[64];
  size_t n = 0;
  for (; name[n] && n + 1 < sizeof text; n++) {
    const char c = name[n];
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    text[n] = plain ? c : '_';
  }
  text[n] = 0;
  bool free = n > 0 && !name[n];
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) free = free && strcmp(text, taken[i]);
  for (const cb_mjcf_wrench *w = body->wrenches; w; w = w->next) free = free && strcmp(text, w->name);
  if (!free) snprintf(text, sizeof text, "%s%d", token, number);
  return cb_arena_strdup(r->arena, text);
}

static cb_mjcf_wrench *add_wrench(const cb_mjcf_reader *r, cb_mjcf_body *body, const char *name, const char *token,
                                  int number) {
  cb_mjcf_wrench *w = cb_arena_alloc(r->arena, 1, sizeof *w);
  if (!w) return NULL;
  *w = (cb_mjcf_wrench){.name = wrench_name(r, body, name, token, number)};
  *body->last_wrench = w;
  body->last_wrench = &w->next;
  return w->name ? w : NULL;
}

static cb_status put_vector(const cb_mjcf_reader *r, const double x[3], const char *s, const char *out[3]) {
  for (int i = 0; i < 3; i++) {
    out[i] = component(r, x[i], s);
    if (!out[i]) return cb_mjcf_no_memory(r);
  }
  return CB_OK;
}

static bool is_zero(const double x[3]) { return x[0] == 0 && x[1] == 0 && x[2] == 0; }

/* An actuator at one of its sites or joints. */
typedef struct instance {
  cb_mjcf_reader *r;
  cb_xml *e;
  const cb_mjcf_target *at; /* the site or joint; NULL: it is not known */
  bool parent;              /* the gear is in the axes of the parent (`jointinparent`) */
  const cb_mjcf_tendon *tendon;
  int copy, order, number; /* number: position of the actuator in its file */
  const char *control;     /* text of its control */
} instance;

/* Finds the name of the actuator without the prefixes and suffixes of the body. All copies of a body therefore have
 * wrenches with the same names. */
static void own_name(const instance *in, char out[160]) {
  const cb_mjcf_scope *scope = &in->at->scope;
  const cb_mjcf_body *body = in->at->body;
  const cb_node *name = cb_xml_get(in->e, "name");
  const char *prefix = scope->prefix + strlen(body->prefix);
  const int rest = (int)(strlen(scope->suffix) - strlen(body->suffix));
  if (name)
    snprintf(out, 160, "%.50s%.50s%.*s", prefix, name->text, rest < 50 ? rest : 50, scope->suffix);
  else
    snprintf(out, 160, "actuator%d", in->number);
}

static cb_status put_wrench(const instance *in, const cb_mjcf_actuator_model *l, int number, const double V[6],
                            const double f[3], const double m[3], bool world, const double at[3]) {
  const cb_mjcf_reader *r = in->r;
  char full[176];
  own_name(in, full);
  if (in->at->joint && !world) strcat(full, "_torque"); /* a free joint has two wrenches; this is the second */
  cb_mjcf_wrench *w = add_wrench(r, in->at->body, full, "control", number);
  cb_text s = {0};
  if (!w) return cb_mjcf_no_memory(r);
  w->world = world;
  memcpy(w->at, at, sizeof w->at);
  cb_text speed = {0};
  put_speed(&speed, V);
  cb_mjcf_put_force(&s, l, in->control, NULL, speed.failed ? "0" : speed.data);
  cb_status status = s.failed || speed.failed ? cb_mjcf_no_memory(r) : CB_OK;
  if (!status && !is_zero(f)) status = put_vector(r, f, s.data, w->force);
  if (!status && (!is_zero(m) || is_zero(f))) status = put_vector(r, m, s.data, w->torque);
  cb_text_free(&s);
  cb_text_free(&speed);
  return status;
}

static cb_status put_at_site(const instance *in, const cb_mjcf_actuator_model *l, int number) {
  cb_pose pose;
  double R[3][3], f[3] = {0}, m[3] = {0}, V[6], turned[3];
  const cb_status status = cb_mjcf_site_pose(in->at, &pose);
  if (status) return status;
  cb_pose_rotation(&pose, R);
  cb_apply3((const double(*)[3])R, l->gear, f);
  cb_apply3((const double(*)[3])R, l->gear + 3, m);
  cb_cross3(pose.x, f, turned); /* the speed along the gear is f . (v + w × x) + m . w */
  for (int i = 0; i < 3; i++) {
    V[i] = m[i] + turned[i];
    V[3 + i] = f[i];
  }
  return put_wrench(in, l, number, V, f, m, false, pose.x);
}

static cb_status put_at_joint(const instance *in, const cb_mjcf_actuator_model *l, int number) {
  static const double zero[3] = {0};
  const double V[6] = {l->gear[3], l->gear[4], l->gear[5]};
  if (in->parent) return put_wrench(in, l, number, V, l->gear, l->gear + 3, true, zero);
  cb_status status = is_zero(l->gear) ? CB_OK : put_wrench(in, l, number, V, l->gear, zero, true, zero);
  if (!status && !is_zero(l->gear + 3)) status = put_wrench(in, l, number, V, zero, l->gear + 3, false, zero);
  return status;
}

cb_status cb_mjcf_damp(const cb_mjcf_reader *r, cb_mjcf_body *body, double damping) {
  static const char *const twist[] = {"wx", "wy", "wz", "vx", "vy", "vz"};
  cb_mjcf_wrench *w = damping != 0 ? add_wrench(r, body, "damping", "damping_", 0) : NULL;
  if (damping != 0 && !w) return cb_mjcf_no_memory(r);
  for (int i = 0; w && i < 6; i++) {
    const char *text = component(r, -damping, twist[i]);
    if (!text) return cb_mjcf_no_memory(r);
    if (i < 3)
      w->torque[i] = text;
    else
      w->force[i - 3] = text;
  }
  return CB_OK;
}

/* --- one actuator --- */

static const char *reason(const instance *in, const cb_mjcf_source *source, const cb_mjcf_actuator_model *l, int type,
                          const char *why) {
  const bool fast = l->gain[2] != 0 || l->bias[2] != 0;
  double group = 0;
  const cb_node *of = cb_mjcf_value(source, "group");
  if (!in->r->whole->acting) return "actuation is switched off";
  if (of && cb_mjcf_numbers(of, "group", 1, 1, &group, NULL)) return "its group is not a number";
  if (group >= 0 && group <= 30 && in->r->whole->idle >> (int)group & 1) return "its group is switched off";
  if (type >= CB_MJCF_READ) return "its type is not read";
  if (why) return why;
  if (in->tendon) return in->tendon->n < 0 ? "its tendon is not read" : NULL;
  if (!in->at) return "it is not at a joint, a fixed tendon or a site";
  if (!in->at->body) return "its site does not move";
  if (cb_mjcf_value(source, "refsite") || cb_mjcf_value(source, "slidersite") || cb_mjcf_value(source, "cranksite"))
    return "it is not at a single site";
  if (in->at->hold) return NULL;
  if (in->at->joint && fast && (!is_zero(l->gear) || in->parent)) return "its force depends on a velocity of the joint";
  return NULL;
}

static cb_status push(const instance *in, const cb_mjcf_actuator_model *l, int number) {
  if (in->tendon) return cb_mjcf_pull(in->r, in->tendon, l, in->control);
  if (in->at->hold && in->at->type == CB_MJCF_BALL) return cb_mjcf_pull_ball(in->r, in->at, l, in->control, in->parent);
  if (in->at->hold) {
    const cb_mjcf_tendon one = {.n = 1, .hold = {in->at->hold}, .coef = {1}};
    return cb_mjcf_pull(in->r, &one, l, in->control);
  }
  return in->at->joint ? put_at_joint(in, l, number) : put_at_site(in, l, number);
}

static cb_status read_one(instance *in, int number, const char *given, double *control) {
  cb_mjcf_source source;
  cb_mjcf_actuator_model l;
  const char *why = NULL;
  const int type = cb_mjcf_actuator_type_of(in->e->name.text);
  const double value = *control;
  char numbered[32];
  *control = NAN;
  cb_status status = cb_mjcf_source_of(in->r, in->e, NULL, &source);
  if (!status && type < CB_MJCF_READ) status = cb_mjcf_read_model(in->r, &source, type, &l, &why);
  if (status) return status;
  if (type >= CB_MJCF_READ) l = (cb_mjcf_actuator_model){.gain = {0}};
  why = reason(in, &source, &l, type, why);
  if (why) {
    in->e->why = why;
    return given ? cb_node_fail(&in->e->name, "--control: this actuator is left out: %s", why) : CB_OK;
  }
  if (!given) *control = value;
  snprintf(numbered, sizeof numbered, "ctrl%d", number);
  in->control = given ? given : numbered;
  in->e->read = true;
  cb_mjcf_take_actuator(in->e);
  return push(in, &l, number);
}

/* --- all actuators --- */

/* The object on which an actuator acts: the attribute that names it, and its kind. */
typedef struct transmission {
  const cb_node *name;
  const char *kind; /* "joint", "site" or "tendon" */
  bool parent;
} transmission;

static cb_status find_transmission(const cb_mjcf_source *source, const cb_xml *e, transmission *out) {
  static const char *const attribute[] = {"site", "tendon", "joint", "jointinparent"},
                           *const kind[] = {"site", "tendon", "joint", "joint"},
                           *const others[] = {"cranksite", "slidersite", "body"};
  *out = (transmission){.kind = ""};
  for (int i = 0; i < 4; i++) {
    const cb_node *name = cb_mjcf_value(source, attribute[i]);
    if (name && out->name)
      return cb_node_fail(name, "%s in addition to another target: expected only one of joint, tendon and site",
                          attribute[i]);
    if (name) *out = (transmission){name, kind[i], i == 3};
  }
  bool any = out->name || cb_mjcf_actuator_type_of(e->name.text) >= CB_MJCF_READ;
  for (int i = 0; i < 3; i++) any = any || cb_mjcf_value(source, others[i]);
  return any ? CB_OK : cb_node_fail(&e->name, "an actuator without a target: expected `joint`, `tendon` or `site`");
}

static const cb_mjcf_tendon *find_tendon(const cb_mjcf_reader *r, const char *name) {
  const cb_mjcf_tendon *t = r->whole->tendons;
  while (t && strcmp(t->name, name)) t = t->next;
  return t;
}

static cb_status fail_without_target(const cb_mjcf_reader *r, const transmission *at) {
  const char *known[64];
  size_t n = 0;
  const bool tendon = !strcmp(at->kind, "tendon");
  for (const cb_mjcf_target *t = r->whole->targets; t && !tendon; t = t->next) {
    const cb_node *own = cb_xml_get(t->e, "name");
    if (own && t->joint == !strcmp(at->kind, "joint") && n < 64) known[n++] = own->text;
  }
  for (const cb_mjcf_tendon *t = r->whole->tendons; t && tendon && n < 64; t = t->next) known[n++] = t->name;
  return cb_fail_unknown(at->name, at->kind, at->name->text, known, n);
}

/* Finds the instances of one actuator: one for each site or joint of this name. If there is none, an actuator of the
 * main file has one instance without a target. If out is NULL, they are only counted. */
static cb_status find_instances(cb_mjcf_reader *r, cb_xml *e, int number, instance *out, int *n) {
  cb_mjcf_source source;
  const int before = *n;
  transmission at;
  cb_status status = cb_mjcf_source_of(r, e, NULL, &source);
  if (!status) status = find_transmission(&source, e, &at);
  if (status) return status;
  const bool tendon = !strcmp(at.kind, "tendon");
  for (const cb_mjcf_target *t = at.name && !tendon ? r->whole->targets : NULL; t; t = t->next) {
    if (t->joint == !strcmp(at.kind, "site") || !cb_mjcf_is_called(r, t, at.name->text)) continue;
    if (out) out[*n] = (instance){.r = r, .e = e, .at = t, .parent = at.parent, .copy = t->scope.copy, .order = *n};
    if (out) out[*n].number = number;
    ++*n;
  }
  if (*n > before || r->parent) return CB_OK;
  const cb_mjcf_tendon *pulled = tendon ? find_tendon(r, at.name->text) : NULL;
  if (at.name && !pulled && !r->whole->unknown) return fail_without_target(r, &at);
  if (out) out[*n] = (instance){.r = r, .e = e, .tendon = pulled, .order = *n, .number = number};
  ++*n;
  return CB_OK;
}

static cb_status find_all(const cb_mjcf_reader *main, instance *out, int *n) {
  cb_errors errors = cb_errors_begin();
  *n = 0;
  for (cb_mjcf_reader *r = main->whole->readers; r; r = r->next) {
    int number = 0;
    for (cb_xml *list = r->root->first; list; list = list->next) {
      if (!cb_xml_is(list, "actuator")) continue;
      for (cb_xml *e = list->first; e; e = e->next)
        if (cb_mjcf_is_actuator(e->name.text)) cb_errors_add(&errors, &e->name, find_instances(r, e, number++, out, n));
    }
  }
  return cb_errors_end(&errors);
}

/* Compares two instances in MuJoCo's order: elements outside copies come first, then copy after copy. */
static int by_copy(const void *a, const void *b) {
  const instance *x = a, *y = b;
  return x->copy != y->copy ? (x->copy > y->copy) - (x->copy < y->copy) : (x->order > y->order) - (x->order < y->order);
}

/* Returns the name by which the caller gives the control. It is the actuator's name in the file, with the prefixes and
 * suffixes of the site or joint on which the actuator acts. */
static const char *control_name(const instance *in) {
  cb_mjcf_scope scope = in->at ? in->at->scope : (cb_mjcf_scope){.prefix = "", .suffix = ""};
  scope.r = in->r;
  return cb_mjcf_name(&scope, in->e);
}

/* Adds a note about the controls that are 0 because neither a key nor the caller gives them. */
static cb_status note_controls(const cb_mjcf_reader *r, const instance *all, const char *const *names, bool given) {
  const cb_mjcf *m = r->model;
  int n = 0, first = -1;
  char text[192];
  for (int i = 0; i < m->actuators && !given; i++) {
    if (isnan(m->control[i])) continue;
    if (first < 0) first = i;
    n++;
  }
  if (first < 0) return CB_OK;
  snprintf(text, sizeof text, "controls: the values for %d actuator%s are 0; set them with `--control %s=EXPR`", n,
           n > 1 ? "s" : "", cb_quoted(names[first], strlen(names[first])).text);
  cb_xml *list = all[first].e->parent;
  list->note = cb_arena_strdup(r->arena, text);
  return list->note ? CB_OK : cb_mjcf_no_memory(r);
}

static cb_status read_all(cb_mjcf_reader *r, instance *all, int n, bool given) {
  const char **names = cb_arena_alloc(r->arena, (size_t)n, sizeof *names),
             **text = cb_arena_alloc(r->arena, (size_t)n, sizeof *text);
  if (!names || !text) return cb_mjcf_no_memory(r);
  for (int i = 0; i < n; i++) {
    char numbered[32];
    snprintf(numbered, sizeof numbered, "ctrl%d", i);
    text[i] = NULL;
    names[i] = control_name(&all[i]);
    if (names[i] && !*names[i]) names[i] = cb_arena_strdup(r->arena, numbered);
    if (!names[i]) return cb_mjcf_no_memory(r);
  }
  const cb_status status = read_controls(r, n, names, text);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  for (int i = 0; i < n; i++)
    cb_errors_add(&errors, &all[i].e->name, read_one(&all[i], i, text[i], &r->model->control[i]));
  if (!errors.status) cb_errors_add(&errors, &r->root->name, note_controls(r, all, names, given));
  return cb_errors_end(&errors);
}

cb_status cb_mjcf_read_actuators(cb_mjcf_reader *r, const cb_node *control) {
  cb_mjcf *m = r->model;
  int n = 0;
  cb_status status = find_all(r, NULL, &n);
  if (status) return status;
  instance *all = cb_arena_alloc(r->arena, (size_t)n, sizeof *all);
  m->control = cb_arena_alloc(r->arena, (size_t)n, sizeof *m->control);
  if (!all || !m->control) return cb_mjcf_no_memory(r);
  status = find_all(r, all, &n);
  if (!status && control) status = cb_mjcf_numbers(control, "ctrl", n, n, m->control, NULL);
  if (status) return status;
  m->actuators = n;
  if (n) qsort(all, (size_t)n, sizeof *all, by_copy);
  return read_all(r, all, n, control != NULL);
}

/* --- gravcomp --- */

cb_status cb_mjcf_compensate(const cb_mjcf_reader *r) {
  const double *g = r->model->gravity;
  for (cb_mjcf_body *b = r->model->bodies; b; b = b->next) {
    int n = 0;
    for (const cb_mjcf_link *l = b->links; l; l = l->next) {
      const double c = -l->gravcomp * l->inertial.mass;
      if (!r->whole->compensating || c == 0 || is_zero(g)) continue;
      cb_mjcf_wrench *w = add_wrench(r, b, "gravcomp", "gravcomp_", n++);
      const double force[3] = {c * g[0], c * g[1], c * g[2]};
      cb_pose centre;
      if (!w) return cb_mjcf_no_memory(r);
      cb_pose_multiply(&l->pose, &l->inertial.centre, &centre);
      w->world = true;
      memcpy(w->at, centre.x, sizeof w->at);
      const cb_status status = put_vector(r, force, NULL, w->force);
      if (status) return status;
    }
  }
  return CB_OK;
}
