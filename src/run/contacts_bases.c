/* Bases of parts that come near each other are joined before they meet: from then on they measure each other without the
 * world's numbers (dynamics/bases.h). Where only the world knows how they stand to one another, that is compared with
 * what a contact needs. */
#include "run/contacts_private.h"

#include <math.h>

/* Bases join when particles may come this near, in radii of curvature. */
static const double margin = 1;
/* A relative place that is off by more than `doubtful` is told of, by more than `lost` ends the run. */
static const double doubtful = 1e-9, lost = 1e-3;

/* Two particles of different bases, and how near they may come. */
typedef struct nearest {
  double gap;
  int i, j;
} nearest;

static double reach_of(const cb_contacts *c, int i, double h) {
  return cb_system_radius(c->system, cb_system_particle(c->system, i)) + c->parts->speed[i] * fabs(h);
}

/* Of every leader, how far from its base its particles get. */
static void find_extents(cb_contacts *c, const cb_state *s, double h) {
  double base[CB_Q_MAX], x[CB_Q_MAX];
  cb_geometry_base_point(c->g, base);
  for (int part = 0; part < c->parts->components; part++) c->extent[part] = 0;
  for (int i = 0; i < c->n; i++) {
    double *extent = &c->extent[c->bases.leader[cb_system_component(c->system, i)]];
    cb_contacts_point(c, s, i, x);
    const double d = cb_distance(c->g, base, x);
    *extent = fmax(*extent, (isfinite(d) ? d : INFINITY) + reach_of(c, i, h));
  }
}

/* The distance less how far both get. */
static double gap_of(const cb_contacts *c, const cb_state *s, int i, int j, double h) {
  const size_t k = (size_t)c->g->k;
  const double *x = s->x + (size_t)i * k, *y = s->x + (size_t)j * k;
  cb_origin frame[2];
  double d;
  cb_bases_pair(c->g, &c->bases, cb_system_component(c->system, i), cb_system_component(c->system, j), frame);
  if (cb_origin_distance(c->g, &frame[0], x, &frame[1], y, &d)) return 0;
  return d - reach_of(c, i, h) - reach_of(c, j, h);
}

static nearest find_nearest(const cb_contacts *c, const cb_state *s, int a, int b, double h) {
  const int32_t *leader = c->bases.leader;
  nearest found = {INFINITY, -1, -1};
  for (int i = 0; i < c->n; i++) {
    if (leader[cb_system_component(c->system, i)] != a) continue;
    for (int j = 0; j < c->n; j++) {
      if (leader[cb_system_component(c->system, j)] != b || !cb_gaps_pair_on(c->gaps, i, j)) continue;
      const double gap = gap_of(c, s, i, j, h);
      if (!(gap >= found.gap)) found = (nearest){gap, i, j};
    }
  }
  return found;
}

/* They are near, or may be: a place that is off by `doubt` may look further by log(doubt). */
static cb_status meet(cb_contacts *c, nearest pair, double radius) {
  const int a = cb_system_component(c->system, pair.i), b = cb_system_component(c->system, pair.j);
  const double doubt = cb_bases_doubt(c->g, &c->bases, a, b);
  c->apart = fmin(c->apart, pair.gap - 2 * radius * asinh(doubt / radius));
  if (pair.gap > radius * (margin + 2 * asinh(doubt / radius))) return CB_OK;
  if (doubt > lost * radius)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "%s and %s come near each other at time %.6g, and their relative place is known to %.1g only, from "
                   "numbers that grow like exp(distance): expected bodies that one `move` takes there",
                   cb_system_particle_name(c->system, cb_system_particle(c->system, pair.i)),
                   cb_system_particle_name(c->system, cb_system_particle(c->system, pair.j)), c->parts->t, doubt);
  if (doubt > doubtful * radius && c->doubt.size == 0)
    c->doubt = (cb_contacts_doubt){doubt, c->parts->t, pair.i, pair.j};
  cb_bases_join(c->g, &c->bases, a, b);
  return CB_OK;
}

/* Distances that are events count as contacts of balls of that size. */
static cb_status join_of_events(cb_contacts *c, const cb_state *s, double h, double radius) {
  cb_status status = CB_OK;
  for (int e = 0; e < c->events && !status; e++) {
    cb_gap gap;
    cb_gaps_event(c->gaps, e, &gap);
    if (gap.n < 2) continue;
    const int *i = gap.particle;
    const int32_t *leader = c->bases.leader;
    if (leader[cb_system_component(c->system, i[0])] == leader[cb_system_component(c->system, i[1])]) continue;
    status = meet(c, (nearest){gap_of(c, s, i[0], i[1], h) - cb_gap_event_distance(c->gaps, &gap), i[0], i[1]}, radius);
  }
  return status;
}

/* How far the bases of two leaders are from each other. */
static double between(const cb_contacts *c, int a, int d) {
  double base[CB_Q_MAX], apart;
  cb_origin frame[2];
  cb_geometry_base_point(c->g, base);
  cb_bases_pair_of(c->g, &c->bases, a, d, frame);
  return cb_origin_distance(c->g, &frame[0], base, &frame[1], base, &apart) ? 0 : apart;
}

cb_status cb_contacts_join_bases(cb_contacts *c, const cb_state *s, double h) {
  const cb_bases *b = &c->bases;
  c->apart -= 2 * c->parts->fastest * fabs(h);
  if (!cb_origin_grows(c->g) || (h != 0 && c->known_partings == b->partings && c->apart > 0)) return CB_OK;
  double least = 0;
  for (int f = 0; f < c->g->n_factors; f++) least = fmin(least, c->g->factor[f].curvature);
  const double radius = 1 / sqrt(-least);
  find_extents(c, s, h);
  c->known_partings = b->partings;
  c->apart = INFINITY;
  cb_status status = join_of_events(c, s, h, radius);
  for (int a = 0; a < b->n && !status; a++)
    for (int d = a + 1; d < b->n && b->count[a] && !status; d++) {
      if (!b->count[d] || b->family[a] != b->family[d]) continue;
      const double apart = between(c, a, d), doubt = 2 * radius * asinh(cb_bases_doubt(c->g, b, a, d) / radius);
      if (apart - c->extent[a] - c->extent[d] > radius * margin + doubt) {
        c->apart = fmin(c->apart, apart - c->extent[a] - c->extent[d] - doubt);
        continue;
      }
      const nearest pair = find_nearest(c, s, a, d, h);
      if (pair.i < 0) continue;
      status = meet(c, pair, radius);
      c->extent[a] = c->extent[d] = fmax(c->extent[a], c->extent[d]) + apart; /* of whichever is left */
    }
  return status;
}
