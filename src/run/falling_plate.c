/* See falling.h. */
#include "run/falling.h"

#include "core/failure.h"
#include "run/fluid_private.h"
#include "run/particles.h"

#include <math.h>
#include <string.h>

cb_status cb_falling_plate_of_system(const cb_system *s, cb_falling_plate *out) {
  static const char *const names[] = {"x", "y", "theta"};
  const cb_geometry *g = cb_system_space(s);
  *out = (cb_falling_plate){.at = {-1, -1, -1}};
  for (int a = 0; g->chart && cb_system_particles(s) == 1 && a < g->chart->size; a++)
    for (int k = 0; k < 3; k++)
      if (!strcmp(g->chart->coordinates[a], names[k])) out->at[k] = a;
  if (out->at[0] >= 0 && out->at[1] >= 0 && out->at[2] >= 0) return CB_OK;
  return cb_fail_as(
      CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
      "the observable `falling_regime` is of a body in a fluid, or of a system with coordinates x, y (up) "
      "and theta");
}

static cb_status cb_falling_plate_of_body(const cb_immersed *b, double t, cb_falling_plate *out) {
  const double *g = cb_immersed_fluid_about(b)->gravity, size = sqrt(cb_dot3(g, g));
  cb_mass mass;
  double moment[3], axis[3][3];
  *out = (cb_falling_plate){.body = true};
  if (!(size > 0))
    return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT, "the observable `falling_regime` needs gravity");
  cb_status status = cb_immersed_mass(b, t, &mass, NULL);
  if (!status) status = cb_mass_principal(&mass, moment, axis);
  if (status) return status;
  int most = 0, least = 0;
  for (int i = 1; i < 3; i++) {
    if (moment[i] > moment[most]) most = i;
    if (fabs(g[i]) < fabs(g[least])) least = i;
  }
  memcpy(out->normal, axis[most], sizeof out->normal);
  memcpy(out->centre, mass.centre, sizeof out->centre);
  double(*e)[3] = out->axes, other[3] = {0};
  for (int i = 0; i < 3; i++) e[2][i] = -g[i] / size;
  other[least] = 1;
  cb_cross3(e[2], other, e[1]);
  const double length = sqrt(cb_dot3(e[1], e[1]));
  for (int i = 0; i < 3; i++) e[1][i] /= length;
  cb_cross3(e[1], e[2], e[0]);
  return CB_OK;
}

/* Of a body at g, with the last axis up. */
static void place(const cb_falling_plate *p, const cb_pose *g, double normal[3], double x[3]) {
  double world[3], r[3][3];
  cb_pose_rotation(g, r);
  cb_apply3((const double(*)[3])r, p->normal, world);
  cb_apply3(p->axes, world, normal);
  cb_pose_point(g, p->centre, world);
  cb_apply3(p->axes, world, x);
}

cb_status cb_falling_plate_of_run(const cb_run *run, int body, cb_falling_plate *out) {
  if (cb_run_current(run)) return cb_falling_plate_of_system(run->particles->system, out);
  if (cb_run_body(run, body)) return cb_falling_plate_of_body(run->fluid->start[body].body, run->options.start, out);
  return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT, "a gait in a bundle has no `falling_regime`");
}

void cb_falling_plate_add(const cb_falling_plate *p, double t, const double *row, cb_falling *to) {
  double normal[3], x[3];
  if (p->body) {
    cb_pose g;
    memcpy(g.x, row, sizeof g.x);
    memcpy(g.q, row + 3, sizeof g.q);
    place(p, &g, normal, x);
  } else {
    const double theta = row[p->at[2]];
    normal[0] = -sin(theta), normal[1] = 0, normal[2] = cos(theta);
    x[0] = row[p->at[0]], x[1] = 0, x[2] = row[p->at[1]];
  }
  cb_falling_add(to, t, normal, x);
}

/* --- of a run of bodies --- */

cb_status cb_fluid_run_falls(cb_run *run) {
  cb_fluid_run *b = run->fluid;
  cb_status status = CB_OK;
  if (!cb_run_asked(run, "falling_regime")) return CB_OK;
  b->plate = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->plate);
  b->falling = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->falling);
  if (!b->plate || !b->falling) return cb_fail(CB_ERROR_MEMORY, "no memory for %d falls", b->n);
  for (int i = 0; i < b->n && !status; i++)
    status = cb_falling_plate_of_body(b->start[i].body, run->options.start, &b->plate[i]);
  return status;
}

void cb_fluid_run_fall(cb_run *run) {
  const cb_fluid_run *b = run->fluid;
  double normal[3], x[3];
  for (int i = 0; b->falling && i < b->n; i++) {
    place(&b->plate[i], &b->state[i].g, normal, x);
    cb_falling_add(&b->falling[i], b->t, normal, x);
  }
}
