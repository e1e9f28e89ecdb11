/* What a run tells of how far conserved quantities have changed, and warns of. */
#include "run/run_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the energy's scale: what is warned of, and what a better step should come to. Of a momentum's size: what is warned of. */
static const double most = 1e-3, good = 1e-4, lost = 1e-2;

cb_run_change cb_run_changes(const cb_run *run) { return run->change; }

static cb_status warn_of_energy(cb_run *run) {
  const double energy = run->change.energy, h = run->options.step;
  char text[256], advice[128] = "integrator.rtol is too wide";
  int order = 0;
  bool symplectic, symmetric;
  if (run->method->kind->properties) run->method->kind->properties(run->method, &order, &symplectic, &symmetric);
  if (!run->method->kind->adaptive && order < 1)
    snprintf(advice, sizeof advice, "the step of %g is too long", h);
  else if (!run->method->kind->adaptive)
    snprintf(advice, sizeof advice, "the step of %g is too long; try an integrator.step of %.2g", h,
             h * pow(good / energy, 1.0 / order));
  snprintf(text, sizeof text,
           "the energy has changed by %.2g of its scale since time %.6g, though nothing takes or gives any: %s", energy,
           run->change.since, advice);
  return cb_run_warnf(run, *run->t, "%s", text);
}

static cb_status warn_of_momentum(cb_run *run) {
  return cb_run_warnf(
      run, *run->t,
      "a Killing momentum has changed by %.2g of its size since time %.6g, though all forces keep it: try a "
      "smaller integrator.step",
      run->change.momentum, run->change.since);
}

cb_status cb_run_warn_of_change(cb_run *run) {
  const bool energy = run->change.energy > most, momentum = run->change.momentum > lost;
  if (!energy && !momentum) return CB_OK;
  const cb_status status = energy ? warn_of_energy(run) : warn_of_momentum(run);
  if (status) return status;
  const cb_run_warning last = run->warning[run->warnings - 1];
  cb_run_warning *const first = run->warning + run->beforehand;
  memmove(first + 1, first, (run->warnings - 1 - run->beforehand) * sizeof last);
  *first = last;
  return CB_OK;
}
