/* <actuator> of MJCF at a site or at a free joint, and the `gravcomp` of bodies. They become wrenches (forces and
 * torques) of a body.
 *
 * An actuator has one scalar force s along its gear (f, m), a force and a torque in the axes of its site. At a free
 * joint f is along the axes of the world at the body's origin, and m along those of the body (with jointinparent along
 * those of the world). With the control u, the gains g_0 and g_2 and the biases b_0 and b_2,
 *
 *   s = (g_0 + g_2 V) u + b_0 + b_2 V,   V = f . v + m . w,   u in ctrlrange, s in forcerange,
 *
 * v and w are the velocity and the spin of the site; the actuator's length is 0. The gains and biases are 0 except in
 * these types, whose attributes are kp, kv, gainprm and biasprm: `motor` has g_0 = 1; `position` g_0 = kp, b_2 = -kv;
 * `velocity` g_0 = kv, b_2 = -kv; `damper` g_2 = -kv; `general` gainprm and biasprm. A body of the mass M with the
 * `gravcomp` c gets the force -c M G at its centre, where G is the gravity. Source: MuJoCo's documentation (actuation
 * model, XML reference).
 */
#include "mjcf/mjcf_private.h"

#include "numerics/vec3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const types[] = {"motor",    "general",     "position", "velocity",    "damper",
                                    "cylinder", "muscle",      "adhesion", "intvelocity", "plugin",
                                    "dcmotor",  "orientation", "pid"};
enum { TYPES = sizeof types / sizeof *types, MOTOR = 0, GENERAL, POSITION, VELOCITY, DAMPER, READ };

static int type_of(const char *name) {
  int type = 0;
  while (type < TYPES && strcmp(types[type], name)) type++;
  return type;
}

bool cb_mjcf_is_actuator(const char *name) { return type_of(name) < TYPES; }

void cb_mjcf_take_actuator(cb_xml *e) {
  static const char *const known[] = {"class",     "site",        "joint",      "jointinparent", "gear",
                                      "ctrlrange", "ctrllimited", "forcerange", "forcelimited",  "group",
                                      "gainprm",   "biasprm",     "gaintype",   "biastype",      "dyntype",
                                      "kp",        "kv",          "name"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) cb_xml_get(e, known[i]);
}

/* --- the model of an actuator --- */

typedef struct limit {
  bool there;
  double range[2];
} limit;

typedef struct actuator_model {
  double gear[6], gain[3], bias[3]; /* gain, bias: coefficients of 1, length (0) and V */
  limit control, force;
} actuator_model;

static cb_status read_limit(const cb_mjcf_reader *r, const cb_mjcf_source *source, const char *range,
                            const char *limited, limit *out) {
  static const char *const texts[] = {"false", "true", "auto"};
  const cb_node *values = cb_mjcf_value(source, range), *is = cb_mjcf_value(source, limited);
  int choice = 2;
  cb_status status = is ? cb_mjcf_choice(is, limited, 3, texts, &choice) : CB_OK;
  if (!status && values) status = cb_mjcf_numbers(values, range, 2, 2, out->range, NULL);
  if (status) return status;
  out->there = choice == 2 ? r->autolimits && values : choice == 1;
  if (out->there && !(out->range[0] < out->range[1]))
    return cb_node_fail(values ? values : is, "%s: expected two numbers in ascending order, found %g and %g", range,
                        out->range[0], out->range[1]);
  return CB_OK;
}

/* Reads an actuator of type `general`. *why is NULL if it can be read, otherwise the reason why not. */
static cb_status read_general(const cb_mjcf_source *source, actuator_model *out, const char **why) {
  const cb_node *dynamics = cb_mjcf_value(source, "dyntype"), *gain = cb_mjcf_value(source, "gaintype"),
                *bias = cb_mjcf_value(source, "biastype");
  double number[10] = {1};
  cb_status status = cb_mjcf_merged(source, "gainprm", 1, 10, number);
  memcpy(out->gain, number, sizeof out->gain);
  memset(number, 0, sizeof number);
  if (!status) status = cb_mjcf_merged(source, "biasprm", 1, 10, number);
  memcpy(out->bias, number, sizeof out->bias);
  if (dynamics && strcmp(dynamics->text, "none")) *why = "it has activation dynamics";
  if (gain && strcmp(gain->text, "fixed") && strcmp(gain->text, "affine"))
    *why = "its gain is neither fixed nor affine";
  if (bias && strcmp(bias->text, "none") && strcmp(bias->text, "affine")) *why = "its bias is neither none nor affine";
  if (!gain || !strcmp(gain->text, "fixed")) out->gain[1] = out->gain[2] = 0;
  if (!bias || !strcmp(bias->text, "none")) out->bias[0] = out->bias[1] = out->bias[2] = 0;
  return status;
}

static cb_status read_model(const cb_mjcf_reader *r, const cb_mjcf_source *source, int type, actuator_model *out,
                            const char **why) {
  double kp = 1, kv = type == POSITION ? 0 : 1;
  *out = (actuator_model){.gear = {1}, .gain = {1}};
  cb_status status = cb_mjcf_merged(source, "gear", 1, 6, out->gear);
  if (!status) status = read_limit(r, source, "ctrlrange", "ctrllimited", &out->control);
  if (!status) status = read_limit(r, source, "forcerange", "forcelimited", &out->force);
  if (!status && type == GENERAL) return read_general(source, out, why);
  if (!status) status = cb_mjcf_merged(source, "kp", 1, 1, &kp);
  if (!status) status = cb_mjcf_merged(source, "kv", 1, 1, &kv);
  if (type == POSITION) {
    out->gain[0] = kp;
    out->bias[2] = -kv;
  }
  if (type == VELOCITY) {
    out->gain[0] = kv;
    out->bias[2] = -kv;
  }
  if (type == DAMPER) {
    out->gain[0] = 0;
    out->gain[2] = -kv;
  }
  if (type == POSITION && (cb_mjcf_value(source, "timeconst") || cb_mjcf_value(source, "dampratio")))
    *why = "it has activation dynamics or damping";
  return status;
}

/* --- models as expressions --- */

static void put_number(cb_text *out, double x) {
  char text[32];
  cb_export_number(text, x);
  cb_text_puts(out, text);
}

static void put_clamped(cb_text *out, const char *text, const limit *l) {
  if (!l->there) {
    cb_text_puts(out, text);
    return;
  }
  cb_text_puts(out, "min(max(");
  cb_text_puts(out, text);
  cb_text_puts(out, ", ");
  put_number(out, l->range[0]);
  cb_text_puts(out, "), ");
  put_number(out, l->range[1]);
  cb_text_puts(out, ")");
}

/* Writes x times the speed along the gear, a sum over the components of the twist with the coefficients V. */
static void put_speed(cb_text *out, double x, const double V[6]) {
  static const char *const twist[] = {"wx", "wy", "wz", "vx", "vy", "vz"};
  const char *between = "*(";
  put_number(out, x);
  for (int i = 0; i < 6; i++) {
    if (V[i] == 0) continue;
    cb_text_puts(out, between);
    put_number(out, V[i]);
    cb_text_puts(out, "*");
    cb_text_puts(out, twist[i]);
    between = " + ";
  }
  cb_text_puts(out, *between == '*' ? "*0" : ")");
}

/* Writes the force s as an expression. V holds the coefficients of the spin and of the velocity of the body's origin,
 * in the body's axes. */
static void put_force(cb_text *out, const actuator_model *l, int number, const double V[6], bool clamped) {
  cb_text s = {0};
  char control[32];
  snprintf(control, sizeof control, "ctrl%d", number);
  if (l->gain[2] != 0) {
    cb_text_puts(&s, "(");
    put_number(&s, l->gain[0]);
    cb_text_puts(&s, " + ");
    put_speed(&s, l->gain[2], V);
    cb_text_puts(&s, ")*");
  } else if (l->gain[0] != 1) {
    put_number(&s, l->gain[0]);
    cb_text_puts(&s, "*");
  }
  put_clamped(&s, control, &(limit){l->control.there && clamped, {l->control.range[0], l->control.range[1]}});
  if (l->bias[0] != 0) {
    cb_text_puts(&s, " + ");
    put_number(&s, l->bias[0]);
  }
  if (l->bias[2] != 0) {
    cb_text_puts(&s, " + ");
    put_speed(&s, l->bias[2], V);
  }
  if (!s.failed) put_clamped(out, s.data, &l->force);
  out->failed = out->failed || s.failed;
  cb_text_free(&s);
}

/* Returns x times the force s (NULL: 1); NULL if there is no memory. */
static const char *component(const cb_mjcf_reader *r, double x, const char *s) {
  cb_text text = {0};
  if (x == 0) return "0";
  put_number(&text, x);
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
  const cb_mjcf_target *at; /* NULL: no known site or joint */
  bool parent;              /* jointinparent */
  int copy, order, number;  /* number: position of the actuator in its file */
} instance;

/* Finds the name within the body, without the prefixes and suffixes of the body, so that all copies of a body have
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

static cb_status put_wrench(const instance *in, const actuator_model *l, int number, const double V[6],
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
  put_force(&s, l, number, V, r->whole->clamping);
  cb_status status = s.failed ? cb_mjcf_no_memory(r) : CB_OK;
  if (!status && !is_zero(f)) status = put_vector(r, f, s.data, w->force);
  if (!status && (!is_zero(m) || is_zero(f))) status = put_vector(r, m, s.data, w->torque);
  cb_text_free(&s);
  return status;
}

/* Reads `fromto`: the site is at the middle of the two points, and its z axis points to the first point. */
static cb_status read_ends(const cb_mjcf_source *source, cb_pose *pose) {
  const cb_node *value = cb_mjcf_value(source, "fromto");
  double x[6], along[3];
  const cb_status status = value ? cb_mjcf_numbers(value, "fromto", 6, 6, x, NULL) : CB_OK;
  if (status || !value) return status;
  for (int i = 0; i < 3; i++) {
    along[i] = x[i] - x[3 + i];
    pose->x[i] = (x[i] + x[3 + i]) / 2;
  }
  if (!cb_mjcf_normalise(3, along)) return cb_node_fail(value, "fromto: expected two different points");
  cb_mjcf_turn_to(along, pose->q);
  return CB_OK;
}

static cb_status put_at_site(const instance *in, const actuator_model *l, int number) {
  cb_mjcf_source source;
  cb_pose pose;
  double R[3][3], f[3] = {0}, m[3] = {0}, V[6], turned[3];
  in->at->e->read = true;
  cb_xml_get(in->at->e, "name");
  cb_status status = cb_mjcf_source_of(in->at->scope.r, in->at->e, in->at->scope.childclass, &source);
  if (!status) status = cb_mjcf_pose(in->at->scope.r, &source, &pose, NULL);
  if (!status) status = read_ends(&source, &pose);
  if (status) return status;
  cb_pose_multiply(&in->at->scope.frame, &pose, &pose);
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

static cb_status put_at_joint(const instance *in, const actuator_model *l, int number) {
  static const double zero[3] = {0};
  const double V[6] = {l->gear[3], l->gear[4], l->gear[5]};
  if (in->parent) return put_wrench(in, l, number, V, l->gear, l->gear + 3, true, zero);
  cb_status status = is_zero(l->gear) ? CB_OK : put_wrench(in, l, number, V, l->gear, zero, true, zero);
  if (!status && !is_zero(l->gear + 3)) status = put_wrench(in, l, number, V, zero, l->gear + 3, false, zero);
  return status;
}

/* --- all actuators --- */

static const cb_node *target_name(const cb_mjcf_source *source, bool *joint, bool *parent) {
  const cb_node *site = cb_mjcf_value(source, "site"), *own = cb_mjcf_value(source, "joint"),
                *in_parent = cb_mjcf_value(source, "jointinparent");
  *joint = !site;
  *parent = !site && !own && in_parent;
  return site ? site : own ? own : in_parent;
}

static const char *reason(const instance *in, const cb_mjcf_source *source, const actuator_model *l, int type,
                          const char *why) {
  const bool fast = l->gain[2] != 0 || l->bias[2] != 0;
  double group = 0;
  const cb_node *of = cb_mjcf_value(source, "group");
  if (!in->r->whole->acting) return "actuation is switched off";
  if (of && cb_mjcf_numbers(of, "group", 1, 1, &group, NULL)) return "its group is not a number";
  if (group >= 0 && group <= 30 && in->r->whole->idle >> (int)group & 1) return "its group is switched off";
  if (type >= READ) return "its type is not read";
  if (why) return why;
  if (!in->at || !in->at->body)
    return "it is not at a site or a free joint of a body that has only one free joint and no other joint";
  if (cb_mjcf_value(source, "refsite") || cb_mjcf_value(source, "slidersite") || cb_mjcf_value(source, "cranksite"))
    return "it is not at a single site";
  if (in->at->joint && fast && (!is_zero(l->gear) || in->parent)) return "its force depends on a velocity of the joint";
  return NULL;
}

static cb_status read_one(const instance *in, int number, double *control) {
  cb_mjcf_source source;
  actuator_model l;
  const char *why = NULL;
  const int type = type_of(in->e->name.text);
  const double given = *control;
  *control = NAN;
  cb_status status = cb_mjcf_source_of(in->r, in->e, NULL, &source);
  if (!status && type < READ) status = read_model(in->r, &source, type, &l, &why);
  if (status) return status;
  if (type >= READ) l = (actuator_model){.gain = {0}};
  why = reason(in, &source, &l, type, why);
  if (why) {
    in->e->why = why;
    return CB_OK;
  }
  *control = given;
  in->e->read = true;
  cb_mjcf_take_actuator(in->e);
  return in->at->joint ? put_at_joint(in, &l, number) : put_at_site(in, &l, number);
}

/* Finds the instances of one actuator: one for each site or joint of this name. If there is none, an actuator of the
 * main file has one instance without a target. If out is NULL, they are only counted. */
static cb_status find_instances(cb_mjcf_reader *r, cb_xml *e, int number, instance *out, int *n) {
  cb_mjcf_source source;
  bool joint, parent;
  const int before = *n;
  const cb_status status = cb_mjcf_source_of(r, e, NULL, &source);
  if (status) return status;
  const cb_node *name = target_name(&source, &joint, &parent);
  for (const cb_mjcf_target *t = name ? r->whole->targets : NULL; t; t = t->next) {
    const cb_node *own = t->scope.r == r && t->joint == joint ? cb_xml_get(t->e, "name") : NULL;
    if (!own || strcmp(own->text, name->text)) continue;
    if (out) out[*n] = (instance){r, e, t, parent, t->scope.copy, *n, number};
    ++*n;
  }
  if (*n > before || r->parent) return CB_OK;
  if (out) out[*n] = (instance){r, e, NULL, false, 0, *n, number};
  ++*n;
  return CB_OK;
}

static cb_status find_all(const cb_mjcf_reader *main, instance *out, int *n) {
  cb_status status = CB_OK;
  *n = 0;
  for (cb_mjcf_reader *r = main->whole->readers; r; r = r->next) {
    int number = 0;
    for (cb_xml *list = r->root->first; list; list = list->next) {
      if (!cb_xml_is(list, "actuator")) continue;
      for (cb_xml *e = list->first; e && !status; e = e->next)
        if (cb_mjcf_is_actuator(e->name.text)) status = find_instances(r, e, number++, out, n);
    }
  }
  return status;
}

/* Compares two instances in MuJoCo's order: elements outside copies come first, then copy after copy. */
static int by_copy(const void *a, const void *b) {
  const instance *x = a, *y = b;
  return x->copy != y->copy ? (x->copy > y->copy) - (x->copy < y->copy) : (x->order > y->order) - (x->order < y->order);
}

cb_status cb_mjcf_read_actuators(cb_mjcf_reader *r, const cb_node *control) {
  cb_mjcf *m = r->model;
  int n = 0;
  cb_status status = find_all(r, NULL, &n);
  instance *all = cb_arena_alloc(r->arena, (size_t)n, sizeof *all);
  m->control = cb_arena_alloc(r->arena, (size_t)n, sizeof *m->control);
  if (!status && (!all || !m->control)) status = cb_mjcf_no_memory(r);
  if (!status) status = find_all(r, all, &n);
  if (!status && control) status = cb_mjcf_numbers(control, "ctrl", n, n, m->control, NULL);
  if (status) return status;
  m->actuators = n;
  if (n) qsort(all, (size_t)n, sizeof *all, by_copy);
  cb_errors errors = cb_errors_begin();
  for (int i = 0; i < n; i++) cb_errors_add(&errors, &all[i].e->name, read_one(&all[i], i, &m->control[i]));
  return cb_errors_end(&errors);
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
