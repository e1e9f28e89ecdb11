/* The moving origin. In H^n coordinates grow like exp(d) with the distance d from the origin, and the round-off of
 * differences grows like exp(2 d); in E^n it is proportional to d. If the mean of a component has drifted by more than
 * about one radius of curvature, or one unit of length, an isometry moves the component back to the centre. This
 * isometry is stored in its origin. The integrators commute with isometries, so this changes only round-off. The
 * decision depends only on the state, so a resumed run makes the same decision. Each factor of a product is treated
 * separately. In a group with a left-invariant metric a component is moved if a coordinate of its mean has drifted by
 * more than the limit. */
#include "dynamics/bases.h"
#include "geometry/quadric.h"
#include "run/particles_run.h"

#include <math.h>
#include <string.h>

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
    /* The first projection is along the radius, which commutes with isometries. In H^n K <mean, mean> >= 1 up to
     * round-off, K the curvature. */
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
