/* <tendon> of MJCF: a <fixed> tendon has the length L = sum_i c_i q_i of the coordinates q_i of joints. Its spring and
 * damper pull joint i by
 *
 *   c_i F,   F = k (L_0 - L) - c L',  or with a range of lengths L_0 to L_1:  k (max(L_0 - L, 0) - max(L - L_1, 0)) - c L'
 *
 * k: stiffness; c: damping; L_0, L_1: `springlength`, or -1 for the length at the rests of the springs of the joints.
 * The range and the dry friction of a tendon of one joint are those of this joint. Source: MuJoCo's XML reference
 * (tendon).
 */
#include "mjcf/mjcf_private.h"

#include "tree/scalar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static cb_status pull_one(const cb_mjcf_reader *r, const cb_mjcf_tendon *t, int i, const pull *p) {
  cb_text length = {0}, rate = {0}, s = {0};
  cb_mjcf_put_length(&length, t, t->hold[i], 1, false);
  cb_mjcf_put_length(&rate, t, t->hold[i], 1, true);
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
  const cb_status status = failed ? cb_mjcf_no_memory(r) : cb_mjcf_add_term(r, &t->hold[i]->motor[0], s.data);
  cb_text_free(&length);
  cb_text_free(&rate);
  cb_text_free(&s);
  return status;
}

/* The length c (q + ref) of a tendon of one joint: its range is one of q, and the force f is c f on q. */
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
  for (int i = 0; i < t->n && !status && (p.stiffness != 0 || p.damping != 0); i++) status = pull_one(r, t, i, &p);
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
  t->n = -1; /* it is not read */
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
