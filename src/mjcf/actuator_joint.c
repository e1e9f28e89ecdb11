/* The forces of MJCF actuators on joints and on fixed tendons.
 *
 * The length of the transmission is L = g sum_i c_i q_i, with the gear g, the coefficients c_i of the tendon (1 for a
 * joint) and MuJoCo's coordinates q_i, which are those of the scenario plus `ref`. The force s (actuator_model.c) pulls
 * joint i by g c_i s. A ball joint has a gear u of three numbers, in the axes of its body, or of the parent with
 * jointinparent. Its torque u s does the work of these forces on the rotation vector a, and its length is u . a:
 *
 *   Q = s w,   w = u ± f_1 a × u + f_2 a × (a × u),   f_1 = (1 - cos |a|)/|a|^2,  f_2 = (1 - sin |a|/|a|)/|a|^2,   L' = w . a'
 * with + for the axes of the body; u is turned into the axes of a at the reference. Source: MuJoCo's documentation
 * (actuation model).
 */
#include "mjcf/mjcf_private.h"
#include "numerics/vec3.h"

#include <stdio.h>

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

/* --- ball joints --- */

enum { ROOM = 4096 }; /* bytes that the text of w, with names of at most 23 characters, does not fill */

/* Writes w (above) for each component, and the length and its rate. */
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
    status = term.failed ? cb_mjcf_no_memory(r) : cb_mjcf_add_term(r, &t->hold->motor[i], term.data);
    cb_text_free(&term);
  }
  cb_text_free(&force);
  return status;
}
