/* What rests: see contacts_private.h. */
#include "run/contacts_private.h"

#include <math.h>

enum { MOST_LIFTS = 200 };

/* What rested is lifted to this of 0, in units of length. */
static const double level = 1e-14;

/* A contact's gap and gradient as its parts are now. */
static cb_status look_again(cb_contacts *c, cb_reflection_contact *touched, double tau) {
  const cb_candidate what = cb_candidate_of(c->system, &touched->gap);
  double rate;
  return cb_candidate_at(c->parts, c->gaps, &what, tau, &touched->value, &rate);
}

/* At the end of the step: gaps that rested, and those that have sunk with them, are brought back to 0 along their
 * normals, one after another until none is below; then what still closes is stopped. Motion along planes in a uniform
 * field keeps the method's order; along curved walls it is of the first order in the step. */
cb_status cb_contacts_settle_resting(cb_contacts *c) {
  const double tau = c->parts->h;
  double deepest = INFINITY;
  cb_status status = CB_OK;
  c->members = c->touches = 0;
  c->stamp_now++;
  for (int i = 0; i < c->restings && !status; i++) status = cb_contacts_touch(c, &c->resting[i], tau, true);
  for (int sweep = 0; sweep < MOST_LIFTS && deepest > level && !status; sweep++) {
    c->settling = true;
    for (int m = 0; m < c->members && !status; m++) status = cb_contacts_gather(c, c->member[m], tau);
    c->settling = false;
    for (int m = 0; m < c->members && !status; m++) status = cb_contacts_make_part(c, c->member[m], tau, &c->part[m]);
    deepest = 0;
    for (int i = 0; i < c->touches && !status; i++) {
      if ((status = look_again(c, &c->touch[i], tau)) || !(c->touch[i].value.gap < 0)) continue;
      deepest = fmax(deepest, -c->touch[i].value.gap);
      status = cb_reflection_lift(c->reflection, c->parts->t + tau, c->members, c->part, &c->touch[i]);
    }
  }
  for (int i = 0; i < c->touches && !status; i++) {
    status = look_again(c, &c->touch[i], tau);
    c->touch[i].restitution = 0;
  }
  if (!status)
    status = cb_reflect(c->reflection, CB_CONTACT_SIMULTANEOUS, c->parts->t + tau, c->members, c->part, c->touches,
                        c->touch);
  for (int m = 0; m < c->members && !status; m++) status = cb_parts_restart(c->parts, c->member[m]);
  return status;
}
