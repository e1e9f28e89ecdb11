/* The forces of MJCF actuators on joints and on fixed tendons.
 *
 * The length of the transmission is L = g sum_i c_i q_i, with the gear g, the coefficients c_i of the tendon (1 for a
 * joint) and MuJoCo's coordinates q_i, which are those of the scenario plus `ref`. The force s (actuator_model.c) pulls
 * joint i by g c_i s. Source: MuJoCo's documentation (actuation model).
 */
#include "mjcf/mjcf_private.h"

#include <string.h>

cb_status cb_mjcf_add_term(const cb_mjcf_reader *r, const char **sum, const char *term) {
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

void cb_mjcf_put_length(cb_text *out, const cb_mjcf_tendon *t, const cb_mjcf_hold *own, double factor, bool rate) {
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
  cb_mjcf_put_length(&length, t, h, l->gear[0], false);
  cb_mjcf_put_length(&rate, t, h, l->gear[0], true);
  cb_mjcf_put_number(&force, arm);
  cb_text_puts(&force, "*(");
  if (!length.failed && !rate.failed) cb_mjcf_put_force(&force, l, control, length.data, rate.data);
  cb_text_puts(&force, ")");
  const bool failed = length.failed || rate.failed || force.failed;
  const cb_status status = failed ? cb_mjcf_no_memory(r) : cb_mjcf_add_term(r, &h->actuation, force.data);
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
