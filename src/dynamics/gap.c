/* Gap functions: which particles may touch, and the value of each type of gap (gap.h).
 *
 *   spheres  d(x_i, x_j) - r_i - r_j;   walls and events: the function of their class (gap_class.h)
 *
 * d is the distance, x_i the position and r_i the radius of particle i.
 */
#include "dynamics/gap_class.h"

#include "dynamics/pair_potential_private.h"

#include <math.h>
#include <string.h>

/* --- distances of particles: by the chord in one frame, by the equations of geometry/origin.h between frames --- */

static cb_status step_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

/* Computes the distance of two points in the same frame or in a chart, and for order 1 its gradient. For distances
 * above a quarter of a great circle, the chord to the antipode is more accurate. */
static cb_status here(const cb_space *g, const double *x, const double *y, int order, double *d, double *gradient) {
  if (cb_pair_by_chord(g) && g->factor[0].curvature > 0) {
    double e[CB_COORD_MAX];
    if (g->factor[0].curvature * cb_pair_chord(g, x, y, e) > 2) {
      if (order) return step_status(cb_distance_derivatives(g, x, y, d, gradient, NULL));
      *d = cb_distance(g, x, y);
      return CB_OK;
    }
  }
  return cb_pair_distance(g, x, y, d, order ? gradient : NULL, NULL);
}

/* Returns the point `centre` of the world, prepared for distances from points in the frame of particle i. */
static const cb_anchor *anchor_of(cb_gaps *gaps, int i, const double *centre) {
  cb_gap_anchor *last = &gaps->last_anchor;
  const int part = gaps->system->component[i];
  if (last->a != part || last->centre != centre) {
    cb_anchor_make(gaps->space, &gaps->origin[part], centre, &last->anchor);
    last->a = part;
    last->centre = centre;
  }
  return &last->anchor;
}

cb_status cb_gap_distance_between(cb_gaps *gaps, int i, int j, const double *x, const double *y, int order, double *d,
                                  double *gradient) {
  cb_gap_frames *last = gaps->last;
  const int part[2] = {gaps->system->component[i], gaps->system->component[j]};
  if (part[0] == part[1] || !gaps->moves) return here(gaps->space, x, y, order, d, gradient);
  if (last->a != part[0] || last->b != part[1]) {
    cb_origin frame[2];
    cb_gap_pair(gaps, i, j, frame);
    last->same = cb_origin_same(gaps->space, &frame[0], &frame[1]);
    cb_frames_make(gaps->space, &frame[0], &frame[1], &last->frames);
    last->a = part[0];
    last->b = part[1];
  }
  if (last->same) return here(gaps->space, x, y, order, d, gradient);
  return step_status(cb_frames_distance(gaps->space, &last->frames, x, y, d, order ? gradient : NULL, NULL));
}

cb_status cb_gap_distance_from(cb_gaps *gaps, int i, const double *x, const double *centre, int order, double *d,
                               double *gradient) {
  const cb_origin *origin = cb_gap_origin(gaps, i);
  if (origin == &gaps->identity || memcmp(origin, &gaps->identity, sizeof *origin) == 0) {
    double both[2 * CB_COORD_MAX];
    const cb_status status = here(gaps->space, x, centre, order, d, both);
    if (!status && order) memcpy(gradient, both, (size_t)gaps->space->k * sizeof *gradient);
    return status;
  }
  return step_status(cb_anchor_distance(gaps->space, anchor_of(gaps, i, centre), x, d, order ? gradient : NULL, NULL));
}

static const cb_contact_set nothing = {.options = {.restitution = 1}};

cb_status cb_gaps_create(const cb_system *system, cb_gaps **out) {
  cb_arena *arena = cb_arena_create();
  cb_gaps *gaps = cb_arena_alloc(arena, 1, sizeof *gaps);
  if (!gaps) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for gaps");
  }
  const size_t n = (size_t)system->n_components;
  gaps->arena = arena;
  gaps->system = system;
  gaps->space = system->space;
  gaps->set = system->contacts ? system->contacts : &nothing;
  gaps->moves = cb_origin_moves(system->space);
  if (gaps->moves || system->space->dim <= CB_DIM_MAX) cb_origin_identity(system->space, &gaps->identity);
  gaps->origin = cb_arena_alloc(arena, gaps->moves ? n : 0, sizeof *gaps->origin);
  gaps->last = cb_arena_alloc(arena, 1, sizeof *gaps->last);
  if (!gaps->origin || !gaps->last) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the origins of %zu parts", n);
  }
  cb_gaps_set_origins(gaps, system->origin);
  *out = gaps;
  return CB_OK;
}

void cb_gaps_free(cb_gaps *gaps) {
  if (gaps) cb_arena_free(gaps->arena);
}

void cb_gaps_set_origins(cb_gaps *gaps, const cb_origin *origin) {
  gaps->last->a = -1;
  gaps->last_anchor.a = -1;
  if (gaps->moves) memcpy(gaps->origin, origin, (size_t)gaps->system->n_components * sizeof *origin);
}

void cb_gaps_set_bases(cb_gaps *gaps, const cb_bases *bases) {
  gaps->last->a = -1;
  gaps->bases = bases;
}

bool cb_gaps_pair_on(const cb_gaps *gaps, int i, int j) {
  const cb_system *s = gaps->system;
  return gaps->set->on && i != j && s->radius[i] + s->radius[j] > 0 &&
         cb_contact_set_bodies_on(gaps->set, s->body[i], s->body[j]);
}

bool cb_gaps_bodies_on(const cb_gaps *gaps, int i, int j, bool named) {
  const int a = gaps->system->body[i], b = gaps->system->body[j];
  bool any = !named;
  for (int s = 0; s < gaps->set->n_switches; s++) {
    const cb_contact_switch *of = &gaps->set->bodies[s];
    any = any || (of->a == a && of->b == b) || (of->a == b && of->b == a);
  }
  return any && gaps->set->on && cb_contact_set_bodies_on(gaps->set, a, b);
}

bool cb_gaps_wall_on(const cb_gaps *gaps, int wall, int i) {
  const int body = gaps->set->wall[wall].body;
  return body < 0 || body == gaps->system->body[i];
}

int cb_gaps_walls(const cb_gaps *gaps) { return gaps->set->n_walls; }
int cb_gaps_wall_given(const cb_gaps *gaps, int wall) { return gaps->set->wall[wall].given; }
bool cb_gaps_wall_of_tip(const cb_gaps *gaps, int wall) { return gaps->set->wall[wall].tip; }

double cb_gap_restitution(const cb_gaps *gaps, const cb_gap *gap) {
  if (gap->kind == CB_GAP_EVENT) return 1;
  return gap->kind == CB_GAP_WALL ? gaps->set->wall[gap->index].restitution : gaps->set->options.restitution;
}

int cb_gap_action(const cb_gaps *gaps, const cb_gap *gap) {
  return gap->kind == CB_GAP_EVENT ? gaps->set->event[gap->index].action : CB_EVENT_REFLECT;
}

int cb_gap_direction(const cb_gaps *gaps, const cb_gap *gap) {
  return gap->kind == CB_GAP_EVENT ? gaps->set->event[gap->index].direction : CB_EVENT_FALLING;
}

const cb_gap_function *cb_gap_function_of(const cb_gaps *gaps, const cb_gap *gap) {
  if (gap->kind == CB_GAP_WALL) return &gaps->set->wall[gap->index].function;
  return gap->kind == CB_GAP_EVENT ? &gaps->set->event[gap->index].function : NULL;
}

bool cb_gap_is_length(const cb_gaps *gaps, const cb_gap *gap) {
  const cb_gap_function *f = cb_gap_function_of(gaps, gap);
  return !f || cb_gap_function_is_length(f);
}

double cb_gap_event_distance(const cb_gaps *gaps, const cb_gap *gap) {
  const cb_gap_function *f = cb_gap_function_of(gaps, gap);
  return f->class->forms && f->class->forms->distance ? f->class->forms->distance(f->of) : 0;
}

void cb_gaps_event(const cb_gaps *gaps, int event, cb_gap *out) {
  const cb_event *e = &gaps->set->event[event];
  *out = (cb_gap){
      .kind = CB_GAP_EVENT, .n = e->n, .particle = {e->particle[0], e->particle[1]}, .index = event, .side = 1};
}

/* --- values --- */

cb_status cb_gap_eval(cb_gaps *gaps, const cb_gap *gap, double t, const double *const *x, int order,
                      cb_gap_value *out) {
  const double *radius = gaps->system->radius;
  const cb_gap_function *f = cb_gap_function_of(gaps, gap);
  cb_gap_value value;
  cb_status status;
  value.rate_t = 0;
  value.active = true;
  if (f && cb_gap_function_is_length(f)) {
    status = f->class->forms->value(gaps, gap, f->of, x, order, &value);
  } else if (f) {
    status = cb_gap_coordinates(gaps, f, gap, t, x, order, &value);
  } else if (gap->kind == CB_GAP_SPHERES) {
    double d;
    status = cb_gap_distance_between(gaps, gap->particle[0], gap->particle[1], x[0], x[1], order, &d, value.gradient);
    value.gap = d - (radius[gap->particle[0]] + radius[gap->particle[1]]);
  } else {
    status = cb_gap_surface(gaps, gap, x, order, &value);
  }
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  if (!isfinite(value.gap))
    return cb_fail(CB_STEP_DOMAIN, "the gap of a contact or event is not finite: use a smaller `step`");
  out->gap = value.gap;
  out->rate_t = value.rate_t;
  out->active = value.active;
  if (order) memcpy(out->gradient, value.gradient, (size_t)(gap->n * gaps->space->k) * sizeof *out->gradient);
  return CB_OK;
}
