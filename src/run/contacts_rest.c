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

/* Positions and momenta of a part back on its constraints, which a lift has left by the square of its way. Momenta m g v in
 * a chart, m v in the embedding. */
static cb_status hold(cb_contacts *c, const cb_reflection_part *part, double t) {
  const cb_geometry *g = c->g;
  const size_t k = (size_t)g->k;
  double *v = c->parts->trial->p + (size_t)part->first * k; /* free: the part's trial is made anew */
  double metric[CB_Q_MAX * CB_Q_MAX];
  cb_status status = CB_OK;
  if (!part->gram) return CB_OK;
  for (int i = 0; i < part->n && !status; i++) {
    status = cb_geometry_raise(g, part->x + (size_t)i * k, part->p + (size_t)i * k, v + (size_t)i * k);
    for (size_t a = 0; a < k; a++) v[(size_t)i * k + a] /= part->mass[i];
  }
  if (!status) status = cb_gram_project(part->gram, t, part->x, v, 0, NULL, NULL, NULL);
  for (int i = 0; i < part->n && !status; i++) {
    const double *u = v + (size_t)i * k;
    double *p = part->p + (size_t)i * k;
    if (g->chart && (status = g->chart->metric(g, part->x + (size_t)i * k, metric, NULL, NULL))) break;
    for (size_t a = 0; a < k; a++) {
      p[a] = g->chart ? 0 : part->mass[i] * u[a];
      for (size_t b = 0; b < k && g->chart; b++) p[a] += part->mass[i] * metric[a * k + b] * u[b];
      part->p_low[(size_t)i * k + a] = 0;
    }
  }
  return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
}

/* At the end of the step: gaps that rested, and those that have sunk with them, are brought back to 0 along their
 * normals, one after another until none is off; then what still closes is stopped. Motion along planes in a uniform
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
      cb_reflection_contact *touched = &c->touch[i];
      if ((status = look_again(c, touched, tau))) continue;
      touched->sunk = touched->sunk || touched->value.gap < 0;
      if (!touched->sunk) continue;
      deepest = fmax(deepest, fabs(touched->value.gap));
      status = cb_reflection_lift(c->reflection, c->parts->t + tau, c->members, c->part, &c->touch[i]);
    }
    for (int m = 0; m < c->members && deepest > 0 && !status; m++) status = hold(c, &c->part[m], c->parts->t + tau);
  }
  for (int i = 0; i < c->touches && !status; i++) {
    status = look_again(c, &c->touch[i], tau);
    c->touch[i].restitution = 0;
  }
  if (!status)
    status = cb_reflect(c->reflection, CB_CONTACT_SIMULTANEOUS, c->parts->t + tau, c->members, c->part, c->touches,
                        c->touch);
  for (int m = 0; m < c->members && !status; m++) {
    const cb_reflection_part *part = &c->part[m];
    const size_t k = (size_t)c->g->k;
    /* what rests has no momentum but round-off, of which the normal part may be the greater */
    for (int i = 0; i < part->n && !c->g->chart; i++)
      cb_geometry_project_tangent(c->g, part->x + (size_t)i * k, part->p + (size_t)i * k);
    status = cb_parts_restart(c->parts, c->member[m]);
  }
  return status;
}
