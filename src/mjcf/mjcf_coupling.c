/* <joint> in <equality> of MJCF, which gives a coordinate of joint1 by that of joint2, or a constant without joint2:
 *
 *   q_1 - ref_1 = a_0 + a_1 (q_2 - ref_2) + .. + a_4 (q_2 - ref_2)^4        a: `polycoef`, default 0 1 0 0 0
 * The coordinates of the scenario are those less `ref`. If another constraint gives q_1 already, or if q_2 depends on
 * q_1, a linear equation is solved for q_2. It holds exactly here, also at the start; MuJoCo's yields. Source: MuJoCo's
 * XML reference (equality/joint).
 */
#include "mjcf/mjcf_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cb_status find_joint(const cb_mjcf_reader *r, const cb_node *name, const char *attribute, cb_mjcf_hold **out) {
  int copies = 0;
  const cb_mjcf_target *t = cb_mjcf_find_target(r, name->text, true, &copies);
  if (!t) return cb_node_fail(name, "no joint is called `%s`", name->text);
  if (!t->hold || t->type == CB_MJCF_BALL) return cb_node_fail(name, "%s: expected a hinge or a slide", attribute);
  *out = t->hold;
  return CB_OK;
}

static bool depends(const cb_mjcf_hold *h, const cb_mjcf_hold *on) {
  while (h && h != on) h = h->to;
  return h != NULL;
}

/* Sets q = p(r) unless q is given already, or r depends on it. */
static bool set(cb_mjcf_hold *q, const cb_mjcf_hold *r, cb_xml *e, const double poly[CB_MJCF_POLYNOMIAL]) {
  if (q->by || depends(r, q)) return false;
  q->by = e;
  q->to = r;
  for (int i = 0; i < CB_MJCF_POLYNOMIAL; i++) q->poly[i] = poly[i];
  for (int i = 0; i < 2 && !r; i++)
    q->limit[i] = i ? INFINITY : -INFINITY; /* a constant keeps to its range, or to none */
  return true;
}

cb_status cb_mjcf_couple(cb_mjcf_reader *r, cb_xml *e) {
  cb_mjcf_source source;
  double poly[CB_MJCF_POLYNOMIAL] = {0, 1};
  cb_mjcf_hold *first = NULL, *second = NULL;
  cb_status status = cb_mjcf_source_of(r, e, NULL, &source);
  if (status) return status;
  const cb_node *one = cb_mjcf_value(&source, "joint1"), *two = cb_mjcf_value(&source, "joint2"),
                *given = cb_mjcf_value(&source, "polycoef");
  if (!one) return cb_node_fail(&e->name, "expected `joint1`, the name of a joint");
  if (given) status = cb_mjcf_numbers(given, "polycoef", 1, CB_MJCF_POLYNOMIAL, poly, NULL);
  if (!status) status = find_joint(r, one, "joint1", &first);
  if (!status && two) status = find_joint(r, two, "joint2", &second);
  if (status) return status;
  if (first == second) return cb_node_fail(two, "joint2: expected another joint than `%s`", one->text);
  if (set(first, second, e, poly)) return CB_OK;
  const bool linear = second && poly[1] != 0 && poly[2] == 0 && poly[3] == 0 && poly[4] == 0;
  if (!linear || !set(second, first, e, (double[CB_MJCF_POLYNOMIAL]){-poly[0] / poly[1], 1 / poly[1]}))
    e->why = "other constraints give the coordinates of its joints";
  return CB_OK;
}

/* --- the start --- */

/* The value of the polynomial, and its derivative. */
static double value_of(const cb_mjcf_hold *h, double x, double *slope) {
  double value = 0;
  *slope = 0;
  for (int k = CB_MJCF_POLYNOMIAL; k--;) {
    *slope = *slope * x + value;
    value = value * x + h->poly[k];
  }
  return value;
}

static cb_status note_start(const cb_mjcf_reader *r, const cb_mjcf_hold *h, double q) {
  char text[256];
  const double unit = !r->radians && h->type == CB_MJCF_HINGE ? 180 / M_PI : 1;
  if (fabs(q - h->q[0]) <= 1e-6 * (1 + fabs(q))) return CB_OK; /* digits that files have */
  snprintf(text, sizeof text, "%s%sthe start of joint `%.64s` at %g: this constraint sets it to %g",
           h->by->note ? h->by->note : "", h->by->note ? "; " : "", h->name, unit * (h->q[0] + h->ref),
           unit * (q + h->ref));
  h->by->note = cb_arena_strdup(r->arena, text);
  return h->by->note ? CB_OK : cb_mjcf_no_memory(r);
}

/* Finds the coordinate after that on which it depends. */
static cb_status start_one(const cb_mjcf_reader *r, cb_mjcf_hold *h) {
  double slope;
  if (!h->by) return CB_OK;
  cb_status status = h->to ? start_one(r, (cb_mjcf_hold *)h->to) : CB_OK;
  const double q = value_of(h, h->to ? h->to->q[0] : 0, &slope);
  if (!status) status = note_start(r, h, q);
  h->q[0] = q;
  h->rate[0] = h->to ? slope * h->to->rate[0] : 0;
  return status;
}

cb_status cb_mjcf_start_couplings(const cb_mjcf_reader *r) {
  cb_status status = CB_OK;
  for (const cb_mjcf_target *t = r->whole->targets; t && !status; t = t->next)
    if (t->hold) status = start_one(r, t->hold);
  return status;
}
