/* A run of particles: the change of energy, Killing momenta and constraints since the start, and constraints that were
 * dropped as redundant. */
#include "run/particles_run.h"

#include "dynamics/bases.h"
#include "dynamics/system_facts.h"
#include "geometry/quadric.h"

#include <math.h>
#include <string.h>

/* A quantity that the run does not record is evaluated for the comparison only at the last row, and at rows that are at
 * least this number of steps apart. The reason is that such an evaluation costs about as much as a few evaluations of
 * the forces. */
enum { CHANGE_STEPS = 256 };

/* If no coordinate has changed by more than this times the largest coordinate, no particle has moved, up to
 * round-off. */
static const double rest = 1e-9;

typedef struct cb_particles_change {
  cb_conserved is;
  bool momenta;                    /* whether any momentum is conserved */
  double momentum[CB_KILLING_MAX]; /* the momenta at the start */
  double *x; /* x and origin: the positions and origins before the first step, or at the restart of a resumed run */
  cb_origin *origin;
  double *scratch; /* for cb_measure_worst_row; NULL: there are no constraints */
} cb_particles_change;

/* --- the start --- */

static cb_status reserve(cb_run *run, cb_particles_change *c) {
  const cb_state *s = cb_particles_of(run)->state;
  const size_t numbers = (size_t)s->n * (size_t)s->k, components = (size_t)s->n_components;
  const size_t rows = (size_t)cb_system_constraints(cb_particles_of(run)->system);
  c->x = cb_arena_alloc(run->arena, numbers, sizeof *c->x);
  c->origin = cb_arena_alloc(run->arena, components, sizeof *c->origin);
  if (rows) c->scratch = cb_arena_alloc(run->arena, rows + numbers, sizeof *c->scratch);
  if (!c->x || !c->origin || (rows && !c->scratch))
    return cb_fail(CB_ERROR_MEMORY, "no memory for the start of %zu numbers", numbers);
  return CB_OK;
}

void cb_particles_stand(cb_run *run) {
  const cb_state *s = cb_particles_of(run)->state;
  memcpy(cb_particles_of(run)->change->x, s->x, (size_t)s->n * (size_t)s->k * sizeof *s->x);
  memcpy(cb_particles_of(run)->change->origin, s->origin, (size_t)s->n_components * sizeof *s->origin);
}

cb_status cb_particles_remember(cb_run *run) {
  cb_particles *p = run->own;
  cb_particles_change *c = p->change = cb_arena_alloc(run->arena, 1, sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for the conserved quantities");
  run->integrator = p->integrator;
  c->is = cb_system_conserved(p->system);
  const cb_status status = reserve(run, c);
  if (status) return status;
  /* a failure to measure the start is not reported here: the first row or the first step reports it */
  if (c->is.energy && cb_measure_energy(&p->measure)) c->is.energy = false;
  cb_energy_begin(&p->watch.energy, p->measure.kinetic, p->measure.potential);
  for (int i = 0; i < p->measure.space->n_killing; i++) c->momenta = c->momenta || c->is.momentum[i];
  if (c->momenta && (cb_state_killing_momentum(p->system, p->state, c->momentum) ||
                     cb_state_killing_size(p->system, p->state, &p->watch.momentum_scale)))
    c->momenta = false;
  p->watch.lost = c->momenta;
  for (int i = 0; i < p->measure.space->n_killing; i++)
    p->watch.lost = p->watch.lost && !(c->is.momentum[i] && isfinite(c->momentum[i]));
  return CB_OK;
}

/* --- a row --- */

/* Returns whether a particle has moved from its position in c, or one of the origins has, to which coordinates are
 * relative. */
static bool has_moved(const cb_state *s, const cb_particles_change *c) {
  double way = 0, size = 0;
  for (size_t i = 0; i < (size_t)s->n * (size_t)s->k; i++) {
    way = fmax(way, fabs(s->x[i] - c->x[i]));
    size = fmax(size, fabs(c->x[i]));
  }
  return way > rest * size || memcmp(s->origin, c->origin, (size_t)s->n_components * sizeof *c->origin);
}

/* Compares the momenta with those at the start, except momenta that were not known there. Returns false if one of them
 * has become nan. */
static bool compare_momenta(cb_particles *p, const cb_particles_change *c, bool all) {
  cb_particles_watch *w = &p->watch;
  double *const momentum = p->measure.momentum, size = 0;
  bool known = true;
  if (!p->measures_momenta && (!all || cb_state_killing_momentum(p->system, p->state, momentum))) return true;
  for (int i = 0; i < p->measure.space->n_killing; i++) {
    if (!c->is.momentum[i] || isnan(c->momentum[i])) continue;
    known = known && !isnan(momentum[i]);
    w->momentum_change = fmax(w->momentum_change, fabs(momentum[i] - c->momentum[i]));
  }
  if (all && known && !cb_state_killing_size(p->system, p->state, &size))
    w->momentum_scale = fmax(w->momentum_scale, size);
  return known;
}

void cb_particles_compare(cb_run *run, bool last) {
  cb_particles *p = run->own;
  const cb_particles_change *c = p->change;
  cb_particles_watch *w = &p->watch;
  const bool all = last || p->state->step == 0 || p->state->step - (int64_t)w->step >= CHANGE_STEPS;
  double worst;
  if (all) w->step = (double)p->state->step;
  w->moved = w->moved || has_moved(p->state, c);
  if (c->is.energy && (p->measures_energy || (all && !cb_measure_energy(&p->measure))))
    cb_energy_see(&w->energy, p->measure.kinetic, p->measure.potential);
  if (c->momenta && !compare_momenta(p, c, all)) w->lost = 1;
  if (c->scratch && (all || p->measures_constraints) && !cb_measure_worst_row(&p->measure, c->scratch, &worst))
    w->constraint = fmax(w->constraint, worst);
  if (c->is.energy) run->change.energy = w->moved ? cb_energy_ratio(&w->energy) : 0;
  if (c->momenta) run->change.momentum = w->moved ? cb_change_by(w->momentum_change, w->momentum_scale) : 0;
  if (w->lost && w->moved) run->change.momentum = NAN;
  if (c->scratch) run->change.constraint = w->constraint;
}

/* --- dropped constraints ---
 *
 * `redundant: drop` leaves out constraints that follow from the other constraints at the start of the run. Later in the
 * run a constraint that was left out may no longer follow from the other constraints. The field /dropped_residual has
 * the residual of each such constraint: the residual is g for a constraint g = 0 of positions, and a v - b for a
 * constraint a v = b of velocities v. The run fails if a residual differs from its value at the start by more than
 * `off`, relative to the length, area or volume that the constraint prescribes: then the motion violates the dropped
 * constraint. The residual at the start is the round-off of the given numbers, and is allowed.
 */

static const double off = 1e-9;

struct cb_particles_dropped {
  const cb_system *system; /* a system of the same particles with only the dropped constraints */
  cb_forces *forces;       /* NULL: there was no memory */
  cb_constraints *constraints;
  double *residual, *rate, *start, *velocity;
};

cb_status cb_particles_watch_dropped(cb_run *run) {
  cb_particles *p = run->own;
  const cb_system *system = cb_system_dropped(p->system);
  if (!system) return CB_OK;
  const size_t rows = (size_t)cb_system_constraints(system), numbers = (size_t)p->state->n * (size_t)p->state->k;
  struct cb_particles_dropped *d = p->dropped = cb_arena_alloc(run->arena, 1, sizeof *d);
  if (!d) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", rows);
  d->system = system;
  d->residual = cb_arena_alloc(run->arena, rows, sizeof(double));
  d->rate = cb_arena_alloc(run->arena, rows, sizeof(double));
  d->start = cb_arena_alloc(run->arena, rows, sizeof(double));
  d->velocity = cb_arena_alloc(run->arena, numbers, sizeof(double));
  if (!d->residual || !d->rate || !d->start || !d->velocity)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", rows);
  cb_status status = cb_forces_create(system, &d->forces);
  if (status) return status;
  d->constraints = cb_forces_constraints(d->forces);
  status = cb_particles_look_at_dropped(p);
  for (size_t r = 0; r < rows; r++) d->start[r] = d->residual[r];
  return status;
}

void cb_particles_free_dropped(cb_particles *p) {
  if (p->dropped) cb_forces_free(p->dropped->forces);
}

cb_status cb_particles_look_at_dropped(cb_particles *p) {
  struct cb_particles_dropped *d = p->dropped;
  if (!d) return CB_OK;
  const cb_rows *rows = cb_constraints_rows(d->constraints);
  const double t = p->state->t, *x = p->state->x, *mass = cb_system_masses(p->system);
  const int k = p->state->k;
  cb_status status = cb_forces_set_origins(d->forces, p->state->origin);
  for (int i = 0; i < p->state->n && !status; i++) {
    double *v = d->velocity + i * k;
    status = cb_space_raise(cb_system_space(p->system), x + i * k, p->state->p + i * k, v);
    for (int a = 0; a < k; a++) v[a] /= mass[i];
  }
  if (!status) status = cb_constraints_eval(d->constraints, t, x, d->residual, NULL);
  if (!status) status = cb_constraints_rate(d->constraints, t, x, d->velocity, d->rate, NULL);
  for (int r = 0; r < rows->own && !status; r++)
    if (rows->velocity[r]) d->residual[r] = d->rate[r];
  return status;
}

const double *cb_particles_dropped_residual(const cb_particles *p) { return p->dropped->residual; }

cb_status cb_particles_check_dropped(cb_run *run) {
  cb_particles *p = run->own;
  const struct cb_particles_dropped *d = p->dropped;
  const cb_status status = cb_particles_look_at_dropped(p);
  for (int r = 0; d && r < cb_system_constraints(d->system) && !status; r++)
    if (!(fabs(d->residual[r] - d->start[r]) <= off * cb_system_constraint_size(d->system, r, p->state->t)))
      return cb_fail(
          CB_ERROR_STEP,
          "constraint `%s`, which `redundant: drop` left out, is violated by %.3g at time %.17g, step %lld: it "
          "follows from the others only at the start; leave it out of the scenario, or start elsewhere",
          cb_system_constraint_name(d->system, r), d->residual[r], p->state->t, (long long)p->state->step);
  return status;
}

/* --- the moving origin ---
 *
 * The moving origin. In H^n coordinates grow like exp(d) with the distance d from the origin, and the round-off of
 * differences grows like exp(2 d); in E^n it is proportional to d. If the mean of a component has drifted by more than
 * about one radius of curvature, or one unit of length, an isometry moves the component back to the centre. This
 * isometry is stored in its origin. The integrators commute with isometries, so this changes only round-off. The
 * decision depends only on the state, so a resumed run makes the same decision. Each factor of a product is treated
 * separately. In a group with a left-invariant metric a component is moved if a coordinate of its mean has drifted by
 * more than the limit.
 */

/* The distance of the mean at which a component is moved back, in radii of curvature. In flat factors it is in units of
 * length, or of four times the distance of the first particle from the mean, if that is more. The number is
 * deliberately not simple: a body with speed 1 and steps of 0.01 would reach the distance 1 up to round-off, and two
 * processors would move it back in different steps. */
static const double drift = 1.00370158049;

/* Computes the mean of the coordinates of a component, projected onto the space in a curved factor. */
static void mean_of(const cb_space *g, int count, const double *x, double *mean) {
  for (int e = 0; e < g->k; e++) mean[e] = 0;
  for (int a = 0; a < count; a++)
    for (int e = 0; e < g->k; e++) mean[e] += x[(size_t)a * g->k + e];
  for (int e = 0; e < g->k; e++) mean[e] /= count;
  if (g->intrinsic) return;
  for (int f = 0; f < g->n_factors; f++) {
    /* The mean is first scaled to the radius of the space. Isometries commute with this scaling. In H^n the scale is
     * always defined, because K <mean, mean> >= 1 up to round-off for the curvature K. */
    const cb_factor factor = g->factor[f];
    const double square = factor.curvature * cb_factor_inner(factor, mean + factor.offset, mean + factor.offset);
    for (int e = factor.offset; square > 0.5 && e < factor.offset + factor.count; e++) mean[e] /= sqrt(square);
  }
  cb_space_project_point(g, mean);
}

/* Returns whether a component has drifted in this factor and must be moved; false in a sphere. */
static bool drifted(const cb_space *g, int f, const double *base, const double *mean, const double *first) {
  const cb_factor factor = g->factor[f];
  const double *b = base + factor.offset, *m = mean + factor.offset, *x = first + factor.offset;
  double way = 0, size = 0, e[CB_COORD_MAX];
  if (factor.curvature < 0) { /* the chord is 2 R sinh(d/(2 R)) */
    const double half = 2 * sinh(drift / 2);
    return -factor.curvature * cb_factor_chord(factor, b, m, e) > half * half;
  }
  for (int a = 0; a < factor.count; a++) {
    size = fmax(size, fabs(x[a] - m[a]));
    way = hypot(way, m[a] - b[a]);
  }
  return factor.curvature == 0 && way > drift * fmax(1, 4 * size);
}

/* Computes the point y that becomes the new base point. Returns false if the base point need not change. */
static bool target(const cb_space *g, int count, const double *x, double *y) {
  double base[CB_COORD_MAX], mean[CB_COORD_MAX];
  bool any = false;
  cb_space_base_point(g, base);
  mean_of(g, count, x, mean);
  for (int a = 0; g->intrinsic && a < g->dim; a++) any = any || fabs(mean[a] - base[a]) > drift;
  if (g->intrinsic) {
    memcpy(y, mean, (size_t)g->k * sizeof *y);
    return any;
  }
  for (int f = 0; f < g->n_factors; f++) {
    const bool moves = drifted(g, f, base, mean, x);
    const int o = g->factor[f].offset;
    any = any || moves;
    memcpy(y + o, (moves ? mean : base) + o, (size_t)g->factor[f].count * sizeof *y);
  }
  return any;
}

/* Particles of one component share one origin. In H^n, at a distance of r radii from the origin, round-off grows by the
 * factor exp(2 r), whether the particles are connected or scattered. At `widest` radii this factor is about 1e9. */
static const double widest = 10.5;

double cb_particles_width(const cb_run *run, int *furthest) {
  const cb_particles *p = run->own;
  const cb_space *g = cb_system_space(p->system);
  double maximum = 1;
  *furthest = 0;
  for (int f = 0; f < g->n_factors && cb_origin_grows(g); f++) {
    const cb_factor factor = g->factor[f];
    const double rate = sqrt(fabs(factor.curvature));
    for (int a = 0; a < p->state->n && factor.curvature < 0; a++) {
      const double w = rate * p->state->x[(size_t)a * (size_t)g->k + factor.offset + factor.count - 1];
      if (w > maximum) {
        maximum = w;
        *furthest = cb_system_particle(p->system, a);
      }
    }
  }
  return maximum;
}

cb_status cb_particles_check_spread(const cb_run *run) {
  int furthest;
  const double width = cb_particles_width(run, &furthest);
  if (!(width > cosh(widest))) return CB_OK;
  return cb_fail(
      CB_ERROR_UNSUPPORTED,
      "particle `%s` is %.4g radii of curvature from the centre of its component (the particles connected to it or "
      "interacting with it), expected at most %g: at larger distances coordinates lose too many digits",
      cb_system_particle_name(cb_particles_of(run)->system, furthest), acosh(width), widest);
}

/* Fails, in the same way as a failed step, if a component is too wide for one origin. */
static cb_status spread(const cb_run *run) {
  const cb_status status = cb_particles_check_spread(run);
  return status
             ? cb_fail(CB_ERROR_STEP, "at time %.17g, step %lld: %s", *run->t, (long long)*run->step, cb_error_text())
             : CB_OK;
}

cb_status cb_particles_recentre(cb_run *run) {
  const cb_space *g = cb_system_space(cb_particles_of(run)->system);
  if (!cb_origin_moves(g)) return CB_OK;
  cb_state *s = cb_particles_of(run)->state;
  const int *start = cb_system_component_starts(cb_particles_of(run)->system);
  cb_bases *bases = cb_particles_of(run)->contacts ? cb_contacts_bases(cb_particles_of(run)->contacts) : NULL;
  bool moved = false;
  for (int c = 0; c < s->n_components; c++) {
    const int count = start[c + 1] - start[c];
    const size_t at = (size_t)start[c] * (size_t)g->k;
    double y[CB_COORD_MAX];
    if (cb_system_held(cb_particles_of(run)->system, c) || !target(g, count, s->x + at, y)) continue;
    cb_isometry isometry;
    const cb_local_points points = {count, s->x + at, s->x_low + at, s->p + at, s->p_low + at};
    const cb_status status = bases ? cb_bases_recentre(g, bases, s->origin, c, y, &points, &isometry)
                                   : cb_origin_recentre(g, &s->origin[c], y, &points, &isometry);
    if (status) return status;
    cb_integrator_carry(cb_particles_of(run)->integrator, c, &isometry);
    moved = true;
  }
  if (moved && bases) cb_bases_follow(g, bases, cb_particles_of(run)->nearest);
  const cb_status status = moved ? cb_forces_set_origins(cb_particles_of(run)->integrator->forces, s->origin) : CB_OK;
  return status ? status : spread(run);
}
