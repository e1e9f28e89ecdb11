/* The forces of MJCF actuators and fixed tendons.
 *
 * The model of an actuator consists of its attributes, and its force as an expression:
 *
 *   s = (g_0 + g_1 L + g_2 L') u + b_0 + b_1 L + b_2 L',   u in ctrlrange, s in forcerange
 *
 * u: the control; L: the length of the transmission. A motor has g_0 = 1; `position` g_0 = kp, b_1 = -kp, b_2 = -kv;
 * `velocity` g_0 = kv, b_2 = -kv; `damper` g_2 = -kv; `general` gainprm and biasprm. Source: MuJoCo's documentation
 * (actuation model, XML reference).
 *
 * On joints and on fixed tendons, the length of the transmission is L = g sum_i c_i q_i, with the gear g, the
 * coefficients c_i of the tendon (1 for a joint) and MuJoCo's coordinates q_i, which are those of the scenario plus
 * `ref`. The force s pulls joint i by g c_i s. A ball joint has a gear of three numbers, here called u (not the
 * control), in the axes of its body, or of the parent with jointinparent. The actuator has the torque u s and the
 * length u . a, with the rotation vector a. The forces Q on the components of a do the same work as this torque:
 *
 *   Q = s w,   w = u ± f_1 a × u + f_2 a × (a × u),   f_1 = (1 - cos |a|)/|a|^2,  f_2 = (1 - sin |a|/|a|)/|a|^2
 *   L' = w . a'
 * The sign is + if u is given in the axes of the body, and - in those of the parent. u is rotated into the axes of a as
 * they are at the reference. Source: MuJoCo's documentation (actuation model).
 *
 * <tendon> of MJCF: a <fixed> tendon has the length L = sum_i c_i q_i of the coordinates q_i of joints. Its spring and
 * damper pull joint i by
 *
 *   c_i F,   F = k (L_0 - L) - c L',  or with a range of lengths L_0 to L_1:
 *            F = k (max(L_0 - L, 0) - max(L - L_1, 0)) - c L'
 *
 * k: stiffness; c: damping; L_0, L_1: `springlength`, or -1 for the length at the rests of the springs of the joints.
 * The range and the dry friction of a tendon of one joint are those of this joint. Source: MuJoCo's XML reference
 * (tendon).
 */
#include "mjcf/mjcf_private.h"

#include "numerics/vec3.h"
#include "tree/scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the model of an actuator --- */

static const char *const types[] = {"motor",    "general",     "position", "velocity",    "damper",
                                    "cylinder", "muscle",      "adhesion", "intvelocity", "plugin",
                                    "dcmotor",  "orientation", "pid"};
enum { TYPES = sizeof types / sizeof *types };

int cb_mjcf_actuator_type_of(const char *name) {
  int type = 0;
  while (type < TYPES && strcmp(types[type], name)) type++;
  return type;
}

bool cb_mjcf_is_actuator(const char *name) { return cb_mjcf_actuator_type_of(name) < TYPES; }

void cb_mjcf_take_actuator(cb_xml *e) {
  static const char *const known[] = {"class",     "site",        "joint",      "jointinparent", "gear",
                                      "ctrlrange", "ctrllimited", "forcerange", "forcelimited",  "group",
                                      "gainprm",   "biasprm",     "gaintype",   "biastype",      "dyntype",
                                      "kp",        "kv",          "name",       "tendon"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) cb_xml_get(e, known[i]);
}

/* --- reading --- */

cb_status cb_mjcf_read_limit(const cb_mjcf_reader *r, const cb_mjcf_source *source, const char *range,
                             const char *limited, cb_mjcf_limit *out) {
  static const char *const texts[] = {"false", "true", "auto"};
  const cb_node *values = cb_mjcf_value(source, range), *is = cb_mjcf_value(source, limited);
  int choice = 2;
  cb_status status = is ? cb_mjcf_choice(is, limited, 3, texts, &choice) : CB_OK;
  *out = (cb_mjcf_limit){.there = false};
  if (!status && values) status = cb_mjcf_numbers(values, range, 2, 2, out->range, NULL);
  if (status) return status;
  out->there = choice == 2 ? r->autolimits && values : choice == 1;
  if (out->there && !(out->range[0] < out->range[1]))
    return cb_node_fail(values ? values : is, "%s: expected two numbers in ascending order, found %g and %g", range,
                        out->range[0], out->range[1]);
  return CB_OK;
}

static cb_status read_general(const cb_mjcf_source *source, cb_mjcf_actuator_model *out, const char **why) {
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

static cb_status read_factor(const cb_mjcf_source *source, const char *name, double *out) {
  const cb_status status = cb_mjcf_merged(source, name, 1, 1, out);
  return status || *out >= 0
             ? status
             : cb_node_fail(cb_mjcf_value(source, name), "%s: expected a number >= 0, found %g", name, *out);
}

cb_status cb_mjcf_read_model(const cb_mjcf_reader *r, const cb_mjcf_source *source, int type,
                             cb_mjcf_actuator_model *out, const char **why) {
  double kp = 1, kv = type == CB_MJCF_POSITION ? 0 : 1;
  *out = (cb_mjcf_actuator_model){.gear = {1}, .gain = {1}};
  cb_status status = cb_mjcf_merged(source, "gear", 1, 6, out->gear);
  if (!status) status = cb_mjcf_read_limit(r, source, "ctrlrange", "ctrllimited", &out->control);
  if (!status) status = cb_mjcf_read_limit(r, source, "forcerange", "forcelimited", &out->force);
  out->control.there = out->control.there && r->whole->clamping;
  if (!status && type == CB_MJCF_GENERAL) return read_general(source, out, why);
  if (!status) status = read_factor(source, "kp", &kp);
  if (!status) status = read_factor(source, "kv", &kv);
  if (type == CB_MJCF_POSITION) {
    out->gain[0] = kp;
    out->bias[1] = -kp;
    out->bias[2] = -kv;
  }
  if (type == CB_MJCF_VELOCITY) {
    out->gain[0] = kv;
    out->bias[2] = -kv;
  }
  if (type == CB_MJCF_DAMPER) {
    out->gain[0] = 0;
    out->gain[2] = -kv;
  }
  if (type == CB_MJCF_POSITION && (cb_mjcf_value(source, "timeconst") || cb_mjcf_value(source, "dampratio")))
    *why = "it has activation dynamics or damping";
  return status;
}

/* --- expressions --- */

void cb_mjcf_put_clamped(cb_text *out, const char *text, const cb_mjcf_limit *l) {
  if (!l->there) {
    cb_text_puts(out, text);
    return;
  }
  cb_text_puts(out, "min(max(");
  cb_text_puts(out, text);
  cb_text_puts(out, ", ");
  cb_mjcf_put_number(out, l->range[0]);
  cb_text_puts(out, "), ");
  cb_mjcf_put_number(out, l->range[1]);
  cb_text_puts(out, ")");
}

static void put_product(cb_text *out, const char *before, double x, const char *text) {
  if (x == 0 || !text) return;
  cb_text_puts(out, before);
  cb_mjcf_put_number(out, x);
  cb_text_puts(out, "*");
  cb_text_puts(out, text);
}

void cb_mjcf_put_force(cb_text *out, const cb_mjcf_actuator_model *l, const char *control, const char *length,
                       const char *rate) {
  cb_text s = {0};
  if ((l->gain[1] != 0 && length) || l->gain[2] != 0) {
    cb_text_puts(&s, "(");
    cb_mjcf_put_number(&s, l->gain[0]);
    put_product(&s, " + ", l->gain[1], length);
    put_product(&s, " + ", l->gain[2], rate);
    cb_text_puts(&s, ")*");
  } else if (l->gain[0] != 1) {
    cb_mjcf_put_number(&s, l->gain[0]);
    cb_text_puts(&s, "*");
  }
  cb_mjcf_put_clamped(&s, control, &l->control);
  if (l->bias[0] != 0) {
    cb_text_puts(&s, " + ");
    cb_mjcf_put_number(&s, l->bias[0]);
  }
  put_product(&s, " + ", l->bias[1], length);
  put_product(&s, " + ", l->bias[2], rate);
  if (!s.failed) cb_mjcf_put_clamped(out, s.data, &l->force);
  out->failed = out->failed || s.failed;
  cb_text_free(&s);
}

/* --- forces on joints and tendons --- */

/* Adds a term to a sum of expressions; *sum may be NULL. */
static cb_status add_term(const cb_mjcf_reader *r, const char **sum, const char *term) {
  cb_text text = {0};
  if (*sum) {
    cb_text_puts(&text, *sum);
    cb_text_puts(&text, " + ");
  }
  cb_text_puts(&text, term);
  *sum = text.failed ? NULL : cb_arena_strndup(r->arena, text.data, text.length);
  cb_text_free(&text);
  return *sum ? CB_OK : cb_mjcf_no_memory(r);
}

/* Writes the length of a tendon, or the rate of this length, as a sum in the expressions of a joint. `own` is the
 * coordinate q, or the rate w, of this joint. */
static void put_length(cb_text *out, const cb_mjcf_tendon *t, const cb_mjcf_hold *own, double factor, bool rate) {
  cb_text_puts(out, "(");
  for (int i = 0; i < t->n; i++) {
    const cb_mjcf_hold *h = t->hold[i];
    if (i) cb_text_puts(out, " + ");
    cb_mjcf_put_number(out, factor * t->coef[i]);
    cb_text_puts(out, h->ref != 0 && !rate ? "*(" : "*");
    cb_text_puts(out, h == own ? (rate ? "w" : "q") : h->label[0]);
    if (h != own && rate) cb_text_puts(out, "_rate");
    if (h->ref != 0 && !rate) {
      cb_text_puts(out, " + ");
      cb_mjcf_put_number(out, h->ref);
      cb_text_puts(out, ")");
    }
  }
  cb_text_puts(out, ")");
}

static cb_status pull_one(const cb_mjcf_reader *r, const cb_mjcf_tendon *t, int i, const cb_mjcf_actuator_model *l,
                          const char *control) {
  cb_text length = {0}, rate = {0}, force = {0};
  cb_mjcf_hold *h = t->hold[i];
  const double arm = l->gear[0] * t->coef[i];
  if (arm == 0) return CB_OK;
  put_length(&length, t, h, l->gear[0], false);
  put_length(&rate, t, h, l->gear[0], true);
  cb_mjcf_put_number(&force, arm);
  cb_text_puts(&force, "*(");
  if (!length.failed && !rate.failed) cb_mjcf_put_force(&force, l, control, length.data, rate.data);
  cb_text_puts(&force, ")");
  const bool failed = length.failed || rate.failed || force.failed;
  const cb_status status = failed ? cb_mjcf_no_memory(r) : add_term(r, &h->actuation, force.data);
  cb_text_free(&length);
  cb_text_free(&rate);
  cb_text_free(&force);
  return status;
}

cb_status cb_mjcf_pull(const cb_mjcf_reader *r, const cb_mjcf_tendon *t, const cb_mjcf_actuator_model *l,
                       const char *control) {
  cb_status status = CB_OK;
  for (int i = 0; i < t->n && !status; i++) status = pull_one(r, t, i, l, control);
  return status;
}

/* --- ball joints --- */

enum { ROOM = 4096 }; /* bytes: more than the text of w needs, as names have at most 23 characters */

/* Writes the vector w of a ball joint (file head), the length u . a of the actuator, and its rate w . a' as
 * expressions. */
static void put_ball(const cb_mjcf_hold *h, const double u[3], bool parent, char w[3][ROOM], char length[ROOM],
                     char rate[4 * ROOM]) {
  const char *const *a = h->label;
  char square[160], along[512], f[2][1024];
  snprintf(square, sizeof square, "(%s^2 + %s^2 + %s^2)", a[0], a[1], a[2]);
  snprintf(along, sizeof along, "(%.17g*%s + %.17g*%s + %.17g*%s)", u[0], a[0], u[1], a[1], u[2], a[2]);
  snprintf(f[0], sizeof f[0], "if(%s < 1e-4, 1/2 - %s/24, (1 - cos(sqrt(%s)))/%s)", square, square, square, square);
  snprintf(f[1], sizeof f[1], "if(%s < 1e-4, 1/6 - %s/120, (1 - sin(sqrt(%s))/sqrt(%s))/%s)", square, square, square,
           square, square);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    snprintf(w[i], ROOM, "(%.17g + %s*(%.17g*%s - %.17g*%s) + %s*(%s*%s - %s*%.17g))", u[i], f[0],
             parent ? -u[k] : u[k], a[j], parent ? -u[j] : u[j], a[k], f[1], along, a[i], square, u[i]);
  }
  snprintf(length, ROOM, "%s", along);
  snprintf(rate, (size_t)4 * ROOM, "(%s*%s_rate + %s*%s_rate + %s*%s_rate)", w[0], a[0], w[1], a[1], w[2], a[2]);
}

cb_status cb_mjcf_pull_ball(const cb_mjcf_reader *r, const cb_mjcf_target *t, const cb_mjcf_actuator_model *l,
                            const char *control, bool parent) {
  double R[3][3], u[3];
  char w[3][ROOM], length[ROOM], rate[4 * ROOM];
  cb_text force = {0};
  cb_pose_rotation(&t->body->reference, R);
  cb_apply3((const double(*)[3])R, l->gear, u);
  put_ball(t->hold, u, parent, w, length, rate);
  cb_mjcf_put_force(&force, l, control, length, rate);
  cb_status status = force.failed ? cb_mjcf_no_memory(r) : CB_OK;
  for (int i = 0; i < 3 && !status; i++) {
    cb_text term = {0};
    cb_text_puts(&term, w[i]);
    cb_text_puts(&term, "*(");
    cb_text_puts(&term, force.data);
    cb_text_puts(&term, ")");
    status = term.failed ? cb_mjcf_no_memory(r) : add_term(r, &t->hold->motor[i], term.data);
    cb_text_free(&term);
  }
  cb_text_free(&force);
  return status;
}

/* --- tendons --- */

typedef struct pull {
  double stiffness, damping, rest[2];
} pull;

static cb_status fail_unknown_joint(const cb_mjcf_reader *r, const cb_node *name) {
  const char *known[64];
  size_t n = 0;
  for (const cb_mjcf_target *t = r->whole->targets; t; t = t->next) {
    const cb_node *own = cb_xml_get(t->e, "name");
    if (t->joint && own && n < 64) known[n++] = own->text;
  }
  return cb_fail_unknown(name, "joint", name->text, known, n);
}

static cb_status read_term(cb_mjcf_reader *r, cb_xml *e, cb_mjcf_tendon *t) {
  const cb_node *name = cb_xml_get(e, "joint"), *coef = cb_xml_get(e, "coef");
  int copies = 0;
  double c = 1;
  if (!name) return cb_node_fail(&e->name, "expected `joint`, the name of a joint");
  const cb_status status = coef ? cb_mjcf_numbers(coef, "coef", 1, 1, &c, NULL) : CB_OK;
  if (status) return status;
  const cb_mjcf_target *at = cb_mjcf_find_target(r, name->text, true, &copies);
  if (!at) return r->whole->unknown ? CB_OK : fail_unknown_joint(r, name);
  if (copies > 1) return cb_node_fail(name, "joint: %d joints have the name `%s`: expected one", copies, name->text);
  if (!at->hold || at->type == CB_MJCF_BALL)
    return cb_node_fail(name, "joint: expected a hinge or a slide, found the %s joint `%s`", at->hold ? "ball" : "free",
                        name->text);
  if (t->n == CB_MJCF_TERMS) return cb_node_fail(&e->name, "expected at most %d joints in a tendon", CB_MJCF_TERMS);
  for (int i = 0; i < t->n; i++)
    if (t->hold[i] == at->hold) return cb_node_fail(name, "joint: the tendon already has the joint `%s`", name->text);
  t->hold[t->n] = at->hold;
  t->coef[t->n++] = c;
  return CB_OK;
}

static cb_status read_number(const cb_mjcf_source *source, const char *name, double *out) {
  const cb_status status = cb_mjcf_merged(source, name, 1, 1, out);
  return status || *out >= 0
             ? status
             : cb_node_fail(cb_mjcf_value(source, name), "%s: expected a number >= 0, found %g", name, *out);
}

static cb_status read_pull(const cb_mjcf_reader *r, const cb_mjcf_source *source, const cb_mjcf_tendon *t, pull *out) {
  const cb_node *length = cb_mjcf_value(source, "springlength");
  double sum = 0;
  int n = 0;
  *out = (pull){.rest = {-1, -1}};
  cb_status status = read_number(source, "stiffness", &out->stiffness);
  if (!status) status = read_number(source, "damping", &out->damping);
  if (!status && length) status = cb_mjcf_numbers(length, "springlength", 1, 2, out->rest, &n);
  if (status) return status;
  if (n < 2) out->rest[1] = out->rest[0];
  if (out->rest[1] < out->rest[0])
    return cb_node_fail(length, "springlength: expected two lengths in ascending order, found %g and %g", out->rest[0],
                        out->rest[1]);
  for (int i = 0; i < t->n; i++) sum += t->coef[i] * (t->hold[i]->rest + t->hold[i]->ref);
  if (out->rest[0] == -1) out->rest[0] = out->rest[1] = sum;
  if (!r->whole->springs) out->stiffness = 0;
  if (!r->whole->dampers) out->damping = 0;
  return CB_OK;
}

static void put_spring(cb_text *s, const pull *p, const char *length) {
  const bool slack = p->rest[1] > p->rest[0];
  cb_mjcf_put_number(s, p->stiffness);
  cb_text_puts(s, slack ? "*(max(" : "*(");
  cb_mjcf_put_number(s, p->rest[0]);
  cb_text_puts(s, " - ");
  cb_text_puts(s, length);
  if (slack) {
    cb_text_puts(s, ", 0) - max(");
    cb_text_puts(s, length);
    cb_text_puts(s, " - (");
    cb_mjcf_put_number(s, p->rest[1]);
    cb_text_puts(s, "), 0)");
  }
  cb_text_puts(s, ")");
}

static cb_status pull_by_tendon(const cb_mjcf_reader *r, const cb_mjcf_tendon *t, int i, const pull *p) {
  cb_text length = {0}, rate = {0}, s = {0};
  put_length(&length, t, t->hold[i], 1, false);
  put_length(&rate, t, t->hold[i], 1, true);
  cb_mjcf_put_number(&s, t->coef[i]);
  cb_text_puts(&s, "*(");
  if (!length.failed && p->stiffness != 0) put_spring(&s, p, length.data);
  if (!rate.failed && p->damping != 0) {
    cb_text_puts(&s, p->stiffness != 0 ? " + " : "");
    cb_mjcf_put_number(&s, -p->damping);
    cb_text_puts(&s, "*");
    cb_text_puts(&s, rate.data);
  }
  cb_text_puts(&s, ")");
  const bool failed = length.failed || rate.failed || s.failed;
  const cb_status status = failed ? cb_mjcf_no_memory(r) : add_term(r, &t->hold[i]->motor[0], s.data);
  cb_text_free(&length);
  cb_text_free(&rate);
  cb_text_free(&s);
  return status;
}

/* A tendon of one joint has the length c (q + ref). Its range is therefore a range of q, and its dry friction f is the
 * dry friction |c| f of the joint. */
static void hold_one(const cb_mjcf_tendon *t, const cb_mjcf_limit *limit, double friction) {
  cb_mjcf_hold *h = t->hold[0];
  const double c = t->coef[0];
  h->friction += fabs(c) * friction;
  for (int i = 0; i < 2 && limit->there; i++) {
    const double q = limit->range[c > 0 ? i : 1 - i] / c - h->ref;
    h->limit[i] = i ? fmin(h->limit[i], q) : fmax(h->limit[i], q);
  }
}

static void take(cb_xml *e) {
  static const char *const known[] = {"name",    "class", "group",  "stiffness", "damping",     "springlength",
                                      "limited", "range", "margin", "width",     "frictionloss"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) cb_xml_get(e, known[i]);
}

static cb_status read_fixed(cb_mjcf_reader *r, cb_xml *e, cb_mjcf_tendon *t) {
  cb_mjcf_source source;
  cb_mjcf_limit limit;
  pull p;
  double friction = 0;
  cb_errors errors = cb_errors_begin();
  cb_status status = cb_mjcf_source_of(r, e, NULL, &source);
  if (status) return status;
  for (cb_xml *child = e->first; child; child = child->next)
    if (cb_xml_is(child, "joint")) cb_errors_add(&errors, &child->name, read_term(r, child, t));
  if (!errors.status && !t->n)
    cb_errors_add(&errors, &e->name, cb_node_fail(&e->name, "a tendon without joints: expected at least one <joint>"));
  if (errors.status) return cb_errors_end(&errors);
  status = read_pull(r, &source, t, &p);
  if (!status) status = cb_mjcf_read_limit(r, &source, "range", "limited", &limit);
  if (!status) status = cb_mjcf_merged(&source, "frictionloss", 1, 1, &friction);
  for (int i = 0; i < t->n && !status && (p.stiffness != 0 || p.damping != 0); i++)
    status = pull_by_tendon(r, t, i, &p);
  if (status) return status;
  if (!r->whole->frictions) friction = 0;
  limit.there = limit.there && r->whole->limits;
  if (t->n == 1 && t->coef[0] != 0)
    hold_one(t, &limit, friction);
  else if (limit.there || friction != 0)
    e->note = !limit.there    ? "frictionloss of a tendon of several joints"
              : friction == 0 ? "range of a tendon of several joints"
                              : "range and frictionloss of a tendon of several joints";
  e->read = true;
  take(e);
  return CB_OK;
}

static cb_status add_tendon(cb_mjcf_reader *r, cb_xml *e) {
  const cb_node *name = cb_xml_get(e, "name");
  cb_mjcf_tendon *t = cb_arena_alloc(r->arena, 1, sizeof *t);
  if (!t) return cb_mjcf_no_memory(r);
  for (const cb_mjcf_tendon *other = r->whole->tendons; other && name; other = other->next)
    if (!strcmp(other->name, name->text))
      return cb_node_fail(name, "a second tendon is called `%s`: expected different names", name->text);
  *t = (cb_mjcf_tendon){.e = e, .name = name ? name->text : "", .next = r->whole->tendons};
  r->whole->tendons = t;
  if (!strcmp(e->name.text, "fixed")) return read_fixed(r, e, t);
  t->n = -1; /* the tendon is not read */
  e->why = "only fixed tendons are read";
  return CB_OK;
}

cb_status cb_mjcf_read_tendons(cb_mjcf_reader *r) {
  cb_errors errors = cb_errors_begin();
  for (const cb_mjcf_reader *own = r->whole->readers; own; own = own->next)
    for (cb_xml *list = own->root->first; list; list = list->next) {
      if (strcmp(list->name.text, "tendon")) continue;
      if (own->parent) {
        list->why = "only the tendons of the main file are read";
        continue;
      }
      list->read = true;
      for (cb_xml *e = list->first; e; e = e->next)
        if (*e->name.text != '#') cb_errors_add(&errors, &e->name, add_tendon(r, e));
    }
  return cb_errors_end(&errors);
}
