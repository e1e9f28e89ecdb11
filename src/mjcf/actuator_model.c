/* The model of an MJCF actuator: its attributes, and its force as an expression.
 *
 *   s = (g_0 + g_1 L + g_2 L') u + b_0 + b_1 L + b_2 L',   u in ctrlrange, s in forcerange
 *
 * u: the control; L: the length of the transmission. A motor has g_0 = 1; `position` g_0 = kp, b_1 = -kp, b_2 = -kv;
 * `velocity` g_0 = kv, b_2 = -kv; `damper` g_2 = -kv; `general` gainprm and biasprm. Source: MuJoCo's documentation
 * (actuation model, XML reference).
 */
#include "mjcf/mjcf_private.h"

#include <stdlib.h>
#include <string.h>

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
