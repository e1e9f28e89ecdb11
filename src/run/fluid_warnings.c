/* The checks of a run of bodies: doubtful steps, bodies near each other, and the change of conserved quantities.
 *
 * Each warning is given once per body, but `near` once per run. A warning is a row of /event and a text that says what
 * to try. The row has the number that caused the warning:
 *   turn        the angle by which a step has rotated the body, for an integrator whose error is a power of this angle
 *   delta       the ratio of the depth delta of the added mass of a part (fluid/local.h) to its cap, if the cap takes
 *               effect after the start
 *   near        the gap of two bodies, if it is less than the size of the smaller one
 *   divergence  the divergence of the flow at the vertices of the body, relative to the flow's gradient
 */
#include "run/fluid_private.h"
#include "core/failure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

const char *const cb_fluid_run_doubts[CB_DOUBTS] = {"turn", "delta", "divergence", "near"};

/* Angles by which one step rotates a body, in rad. Above maximum_turn the run warns, and the step that the warning
 * proposes rotates the body by good_turn. At 0.2 the path of a falling body is one percent too short. */
static const double maximum_turn = 0.2, good_turn = 0.1;

/* The run warns above this divergence, relative to the gradient of the flow. Splines have a divergence between the
 * points of a grid. For the Taylor-Green flow with 8 points per wave it is at most .006, and .08 near borders that are
 * not periodic. With 16 points per wave it is ten times smaller. */
static const double maximum_divergence = 0.1;

/* The run warns at the start if the error of the coupling of bodies is estimated to be above this ratio. */
static const double maximum_coupling_error = 0.1;

static bool known(const cb_run *run, int body, cb_fluid_run_doubt what) {
  return cb_fluid_run_of(run)->warned[body] >> what & 1;
}

__attribute__((format(printf, 6, 7))) static void warn(cb_run *run, cb_fluid_run_part *part, int body,
                                                       cb_fluid_run_doubt what, double number, const char *format,
                                                       ...) {
  const cb_fluid_run *b = run->own;
  const cb_event_row row = {
      .time = b->state[body].t, .kind = CB_EVENT_WARN, .particle = body, .other = -1, .wall = (int)what, .gap = number};
  char text[512];
  const int named = snprintf(text, sizeof text, "body `%.200s`: ", b->start[body].name);
  va_list list;
  va_start(list, format);
  vsnprintf(text + named, sizeof text - (size_t)named, format, list);
  va_end(list);
  b->warned[body] |= 1 << what;
  char *copy = strdup(text);
  if (copy)
    cb_fluid_run_report(part, &row, copy);
  else
    part->lost = true;
}

/* Returns h rounded down to two significant digits. */
static double round_down(double h) {
  const double unit = pow(10, floor(log10(h)) - 1);
  return floor(h / unit) * unit;
}

static void doubt_turn(cb_run *run, cb_fluid_run_part *part, int body, double h) {
  const double angle = cb_fluid_run_of(run)->state[body].turn;
  if (angle > maximum_turn)
    warn(run, part, body, CB_DOUBT_TURN, angle,
         "a step of %g rotates it by %.3g rad, and the error of its path is proportional to the square of this angle; "
         "try an integrator.step of %g",
         h, angle, round_down(h * good_turn / angle));
}

static void doubt_delta(cb_run *run, cb_fluid_run_part *part, int body) {
  int number;
  const cb_local_part *of = cb_immersed_workspace_cap(part->workspace[body - part->first], &number);
  if (of)
    warn(run, part, body, CB_DOUBT_DELTA, of->delta_uncapped / of->delta, "part `%.200s` (%.3g times the cap): %s",
         cb_immersed_surface(cb_fluid_run_of(run)->start[body].body)->name[number], of->delta_uncapped / of->delta,
         cb_local_doubt(of));
}

static void doubt_divergence(cb_run *run, cb_fluid_run_part *part, int body) {
  const double divergence = cb_immersed_workspace_divergence(part->workspace[body - part->first]);
  if (divergence > maximum_divergence)
    warn(run, part, body, CB_DOUBT_DIVERGENCE, divergence,
         "the flow around it has a divergence, %.2g of its gradient, but the fluid is incompressible%s", divergence,
         cb_flow_slope(cb_fluid_run_of(run)->fluid->flow) > 0 ? ": is the grid too coarse, or is the body outside?"
                                                              : "");
}

void cb_fluid_run_doubt_step(cb_run *run, cb_fluid_run_part *part, int body, double h) {
  if (!known(run, body, CB_DOUBT_TURN)) doubt_turn(run, part, body, h);
  if (!known(run, body, CB_DOUBT_DELTA)) doubt_delta(run, part, body);
  if (!known(run, body, CB_DOUBT_DIVERGENCE)) doubt_divergence(run, part, body);
}

/* --- bodies near each other ---
 *
 * Without `contacts` bodies do not touch, and without `coupling` a body does not change the fluid around another body.
 * Therefore a run warns once, of the first pair whose gap is less than the size of the smaller body.
 *
 *   gap >= <c_b - c_a, d> - max_a <x - c_a, d> - max_b <c_b - x, d>,   d = (c_b - c_a)/|c_b - c_a|
 * where c_a and c_b are the centres of the boxes around the bodies a and b, <,> is the scalar product, and max_a and
 * max_b are over the vertices x of a and b. The warning reports this lower bound as the gap. It is computed only if the
 * balls around the bodies are that close. The size of a body is the largest side of its box. The shapes are the shapes
 * at rest, in flat space. The check is skipped only while no ball has moved far enough for a pair to be near, so the
 * warnings do not depend on where a run was resumed. If a pair is near at the start, the scenario warns of it before
 * the run (cb_run_warn_of_start). Copies of a body that start at the same position are not checked: they are meant as
 * separate motions in one record.
 */

typedef struct cb_fluid_ball {
  double middle[3], radius, size; /* centre (in the body frame) and radius of the ball; size of the body (above) */
  double at[3], seen[3];          /* the centre in the world: now, and when all pairs were last examined */
} ball;

typedef struct cb_fluid_span {
  double low, high;
  int body;
} span;

static void measure(const cb_surface *s, ball *out) {
  double low[3], high[3], square = 0;
  for (int k = 0; k < 3; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
    for (int i = 0; i < s->vertices; i++) {
      low[k] = fmin(low[k], s->x[i][k]);
      high[k] = fmax(high[k], s->x[i][k]);
    }
    out->middle[k] = (low[k] + high[k]) / 2;
    out->size = fmax(out->size, high[k] - low[k]);
  }
  for (int i = 0; i < s->vertices; i++) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = s->x[i][k] - out->middle[k];
    square = fmax(square, cb_dot3(d, d));
  }
  out->radius = sqrt(square);
}

/* Updates the positions of the balls. Returns the largest distance that a ball has moved since all pairs were
 * examined. */
static double place(const cb_fluid_run *b) {
  double maximum = 0;
  for (int i = 0; i < b->n; i++) {
    ball *own = &b->ball[i];
    double d[3];
    cb_pose_point(&b->state[i].g, own->middle, own->at);
    for (int k = 0; k < 3; k++) d[k] = own->at[k] - own->seen[k];
    maximum = fmax(maximum, sqrt(cb_dot3(d, d)));
  }
  return maximum;
}

static bool by_intent(const cb_fluid_run *b, int i, int j) {
  if (cb_fluid_joined_together(b, i, j)) return true;
  return b->start[i].body == b->start[j].body &&
         !memcmp(b->start[i].pose.x, b->start[j].pose.x, sizeof b->start[i].pose.x);
}

/* Returns the maximum of sign <x - c, d> over the vertices x of body i in the world, c the centre of its box. */
static double reach(const cb_fluid_run *b, int i, const double d[3], double sign) {
  const cb_surface *s = cb_immersed_surface(b->start[i].body);
  double r[3][3], e[3], maximum = -INFINITY;
  cb_pose_rotation(&b->state[i].g, r);
  cb_apply3_transposed(r, d, e);
  for (int v = 0; v < s->vertices; v++) maximum = fmax(maximum, sign * cb_dot3(s->x[v], e));
  return maximum - sign * cb_dot3(b->ball[i].middle, e);
}

static double gap_of(const cb_fluid_run *b, int i, int j) {
  double d[3];
  for (int k = 0; k < 3; k++) d[k] = b->ball[j].at[k] - b->ball[i].at[k];
  const double apart = sqrt(cb_dot3(d, d));
  if (!(apart > 0)) return -b->ball[i].radius;
  for (int k = 0; k < 3; k++) d[k] /= apart;
  return apart - reach(b, i, d, 1) - reach(b, j, d, -1);
}

static int by_low(const void *a, const void *b) {
  const span *p = a, *q = b;
  return p->low != q->low ? (p->low > q->low) - (p->low < q->low) : p->body - q->body;
}

/* Returns whether there is a pair of bodies whose gap is smaller than the size of the smaller body, and stores the pair
 * with the lowest indices in *out. Sets b->slack: while each ball has moved less than half of this distance, no pair
 * can become near. */
static bool find(cb_fluid_run *b, cb_fluid_pair *out) {
  double reach_of_all = 0;
  bool found = false;
  for (int i = 0; i < b->n; i++) reach_of_all = fmax(reach_of_all, b->ball[i].size + b->ball[i].radius);
  for (int i = 0; i < b->n; i++) {
    const double x = b->ball[i].at[0], r = b->ball[i].radius + reach_of_all;
    b->span[i] = (span){x - r, x + r, i};
  }
  qsort(b->span, (size_t)b->n, sizeof *b->span, by_low);
  b->slack = reach_of_all;
  for (int p = 0; p < b->n; p++)
    for (int q = p + 1; q < b->n && b->span[q].low < b->span[p].high; q++) {
      const int one = b->span[p].body, other = b->span[q].body, i = one < other ? one : other, j = one + other - i;
      const ball *u = &b->ball[i], *v = &b->ball[j];
      const double d[3] = {v->at[0] - u->at[0], v->at[1] - u->at[1], v->at[2] - u->at[2]},
                   size = fmin(u->size, v->size), of_balls = sqrt(cb_dot3(d, d)) - u->radius - v->radius - size;
      if (by_intent(b, i, j)) continue;
      b->slack = fmin(b->slack, of_balls);
      if (of_balls >= 0 || (found && (i > out->i || (i == out->i && j > out->j)))) continue;
      const double gap = gap_of(b, i, j);
      if (gap >= size) continue;
      *out = (cb_fluid_pair){i, j, gap, size};
      found = true;
    }
  return found;
}

static bool look(cb_fluid_run *b, cb_fluid_pair *out) {
  if (2 * place(b) < b->slack) return false;
  const bool found = find(b, out);
  for (int i = 0; i < b->n; i++) memcpy(b->ball[i].seen, b->ball[i].at, sizeof b->ball[i].seen);
  return found;
}

static void know(cb_fluid_run *b) {
  for (int i = 0; i < b->n; i++) b->warned[i] |= 1 << CB_DOUBT_NEAR;
}

enum { NEAR_TEXT = 700 };

static void describe(const cb_run *run, const cb_fluid_pair *of, char out[NEAR_TEXT]) {
  const cb_fluid_run *b = run->own;
  char apart[64] = "overlap or nearly so", fluid[96] = "the fluid transmits no force between them";
  cb_coupling_error error;
  if (of->gap > 0) snprintf(apart, sizeof apart, "are %.3g m apart", of->gap);
  if (cb_run_coupling_error(run, &error))
    snprintf(fluid, sizeof fluid, "the coupling has an estimated error of %.2g of an added mass", error.error);
  snprintf(out, NEAR_TEXT, "bodies `%.200s` and `%.200s` %s, less than the size of the smaller one, %.3g m: %s%s",
           b->start[of->i].name, b->start[of->j].name, apart, of->size,
           cb_fluid_coupling_touches(b->coupling) ? "" : "without `contacts` bodies do not touch, and ", fluid);
}

static bool in_a_fluid(const cb_fluid *fluid) {
  static const double origin[3] = {0};
  double density = 1;
  if (!fluid->medium || fluid->curvature != 0) return false;
  return !cb_medium_is_uniform(fluid->medium) || (!cb_medium_at(fluid->medium, origin, &density) && density > 0);
}

cb_status cb_fluid_run_near_create(cb_run *run) {
  cb_fluid_run *b = run->own;
  if (b->n < 2 || !in_a_fluid(b->fluid)) return CB_OK;
  b->ball = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->ball);
  b->span = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->span);
  if (!b->ball || !b->span) return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", b->n);
  for (int i = 0; i < b->n; i++)
    if (i && b->start[i].body == b->start[i - 1].body)
      b->ball[i] = b->ball[i - 1];
    else
      measure(cb_immersed_surface(b->start[i].body), &b->ball[i]);
  b->near_at_start = look(b, &b->near);
  if (b->near_at_start) know(b);
  return CB_OK;
}

static void warn_of_coupling(const cb_run *run) {
  const cb_body_start *start = cb_fluid_run_of(run)->start;
  cb_coupling_error error;
  if (!cb_run_coupling_error(run, &error) || !(error.error > maximum_coupling_error)) return;
  const char *first = start[error.body[0]].name, *second = start[error.body[1]].name;
  if (error.body[0] == error.body[1])
    cb_warn(
        "the coupling has an estimated error of %.2g of the added mass of body `%.200s` near the wall: try smaller "
        "faces or, with `dipole`, `exact`",
        error.error, first);
  else
    cb_warn(
        "the coupling has an estimated error of %.2g of the added mass of bodies `%.200s` and `%.200s`: try smaller "
        "faces or, with `dipole`, `exact`",
        error.error, first, second);
}

void cb_run_warn_of_start(const cb_run *run) {
  const cb_fluid_run *b = run->own;
  char text[NEAR_TEXT];
  if (b->near_at_start) {
    describe(run, &b->near, text);
    cb_warn("%s", text);
  }
  warn_of_coupling(run);
  cb_fluid_joined_warn(run);
  cb_fluid_shapes_warn(run);
}

cb_status cb_fluid_run_near(cb_run *run, cb_sink *sink) {
  cb_fluid_run *b = run->own;
  cb_fluid_pair pair;
  char text[NEAR_TEXT];
  if (!b->ball || b->warned[0] >> CB_DOUBT_NEAR & 1 || !look(b, &pair)) return CB_OK;
  know(b);
  describe(run, &pair, text);
  const cb_event_row row = {
      .time = b->t, .kind = CB_EVENT_WARN, .particle = pair.i, .other = -1, .wall = CB_DOUBT_NEAR, .gap = pair.gap};
  const cb_status status = cb_run_warn(run, b->t, strdup(text));
  return status || !sink->event ? status : sink->event(sink->self, &row);
}

/* --- conserved quantities ---
 *
 * These functions compute the change of the energy and momentum of each body since the start. Each row compares all of
 * these quantities, also those that are not recorded. */

/* A body whose pose has changed by less than this, relative to its size and coordinates, has not moved, up to
 * round-off. */
static const double rest = 1e-9;

typedef struct cb_body_change {
  cb_immersed_conserved is;
  cb_pose pose;
  double momentum[6]; /* angular momentum about the world's origin, linear momentum; in the world's axes */
  double casimir[2];  /* cb_rigid_casimirs, which are compared instead of the momentum in a curved space */
} cb_body_change;

static void momentum_of(const cb_rigid_state *s, double out[6]) {
  double moment[3];
  cb_cross3(s->g.x, s->world + 3, moment);
  for (int i = 0; i < 3; i++) {
    out[i] = s->world[i] + moment[i];
    out[3 + i] = s->world[3 + i];
  }
}

/* Returns the radius of gyration of body and fluid; 0 if there is only angular inertia. */
static double gyration(const cb_immersed_row *row) {
  double turning = 0, going = 0;
  for (int i = 0; i < 3; i++) {
    turning += row->K[i][i];
    going += row->K[3 + i][3 + i];
  }
  return going > 0 ? sqrt(turning / going) : 0;
}

static double length(const double a[3]) { return sqrt(cb_dot3(a, a)); }

/* If is->upright is set, keeps only the part of the vector a along is->up (`along` is true), or removes this part. */
static void project(const cb_immersed_conserved *is, bool along, double a[3]) {
  const double up = cb_dot3(a, is->up);
  for (int i = 0; i < 3 && is->upright; i++) a[i] = along ? up * is->up[i] : a[i] - up * is->up[i];
}

static void compare_momentum(const cb_body_change *c, cb_body_watch *w, const cb_rigid_state *s,
                             const cb_immersed_row *row) {
  const double r = gyration(row);
  double by[6];
  momentum_of(s, by);
  for (int i = 0; i < 6; i++) by[i] -= c->momentum[i];
  project(&c->is, true, by);
  project(&c->is, false, by + 3);
  if (r > 0) {
    w->momentum_change = fmax(w->momentum_change, fmax(length(by + 3), length(by) / (r + length(s->g.x))));
    w->momentum_scale = fmax(w->momentum_scale, length(s->world + 3) + length(s->world) / r);
  }
}

/* In a curved space, compares |p|^2 + K |l|^2 and l.p relative to the size of the momentum (l: angular momentum, p:
 * linear momentum, in the body frame; K: curvature). The momentum about the base point is not compared, because it has
 * no correct digits far out in a hyperbolic space. */
static void compare_casimirs(double K, const cb_body_change *c, cb_body_watch *w, const cb_rigid_state *s) {
  double is[2];
  const double *m = s->momentum, root = sqrt(fabs(K)), size = cb_dot3(m + 3, m + 3) + root * root * cb_dot3(m, m);
  cb_rigid_casimirs(K, m, is);
  w->momentum_change =
      fmax(w->momentum_change, fmax(fabs(is[0] - c->casimir[0]) / 2, root * fabs(is[1] - c->casimir[1])));
  w->momentum_scale = fmax(w->momentum_scale, size);
}

static bool has_moved(const cb_body_change *c, const cb_rigid_state *s, const cb_immersed_row *row) {
  double by[3], turn = 0;
  for (int i = 0; i < 3; i++) by[i] = s->g.x[i] - c->pose.x[i];
  for (int i = 0; i < 4; i++) turn = fmax(turn, fabs(s->g.q[i] - c->pose.q[i]));
  return turn > rest || length(by) > rest * (gyration(row) + length(c->pose.x));
}

/* --- bodies that feel each other: only the sums of their energies and of their momenta are conserved --- */

static void sums(const cb_fluid_run *b, double *kinetic, double *potential, double momentum[6]) {
  *kinetic = *potential = 0;
  memset(momentum, 0, 6 * sizeof *momentum);
  for (int i = 0; i < b->n; i++) {
    double own[6];
    *kinetic += b->row[i].kinetic;
    *potential += b->row[i].potential;
    momentum_of(&b->state[i], own);
    cb_add6(1, own, momentum);
  }
}

static void remember_together(cb_fluid_run *b) {
  double kinetic, potential;
  cb_body_change *all = &b->change[0];
  for (int i = 1; i < b->n; i++) {
    all->is.energy = all->is.energy && b->change[i].is.energy;
    all->is.momentum = all->is.momentum && b->change[i].is.momentum;
    if (!all->is.upright && b->change[i].is.upright) {
      all->is.upright = true;
      memcpy(all->is.up, b->change[i].is.up, sizeof all->is.up);
    }
  }
  const cb_mirror plane = cb_body_coupling_plane(b->fluid->coupling);
  if (plane.kind != CB_MIRROR_NONE) cb_immersed_conserves_along(plane.normal, &all->is);
  sums(b, &kinetic, &potential, all->momentum);
  cb_energy_begin(&b->watch[0].energy, kinetic, potential);
}

static void compare_together(cb_run *run) {
  cb_fluid_run *b = run->own;
  const cb_body_change *all = &b->change[0];
  cb_body_watch *w = &b->watch[0];
  double kinetic, potential, by[6], r = 0;
  sums(b, &kinetic, &potential, by);
  for (int i = 0; i < b->n; i++) {
    w->moved = w->moved || has_moved(&b->change[i], &b->state[i], &b->row[i]);
    r = fmax(r, gyration(&b->row[i]));
  }
  cb_energy_see(&w->energy, kinetic, potential);
  for (int i = 0; i < 6; i++) by[i] -= all->momentum[i];
  project(&all->is, true, by);
  project(&all->is, false, by + 3);
  double size = 0, far = r;
  for (int i = 0; i < b->n; i++) {
    size += length(b->state[i].world + 3);
    far = fmax(far, length(b->state[i].g.x));
  }
  if (far > 0) {
    w->momentum_change = fmax(w->momentum_change, fmax(length(by + 3), length(by) / far));
    w->momentum_scale = fmax(w->momentum_scale, size);
  }
  run->change.energy = !all->is.energy ? NAN : w->moved ? cb_energy_ratio(&w->energy) : 0;
  run->change.momentum = !all->is.momentum ? NAN : w->moved ? cb_change_by(w->momentum_change, w->momentum_scale) : 0;
}

static cb_status remember(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  (void)context;
  cb_fluid_run *b = run->own;
  cb_body_change *c = &b->change[body];
  const cb_rigid_state *s = &b->state[body];
  c->is = cb_immersed_conserves(b->start[body].body);
  if (!c->is.energy && !c->is.momentum) return CB_OK;
  /* a failure to measure the start is not reported here: the first row reports it */
  if (cb_fluid_run_measure_body(run, part, body, NULL)) {
    c->is.energy = c->is.momentum = false;
    return CB_OK;
  }
  c->pose = s->g;
  cb_energy_begin(&b->watch[body].energy, b->row[body].kinetic, b->row[body].potential);
  momentum_of(s, c->momentum);
  cb_rigid_casimirs(b->fluid->curvature, s->momentum, c->casimir);
  return CB_OK;
}

cb_status cb_fluid_run_remember(cb_run *run) {
  cb_fluid_run *b = run->own;
  int failed;
  b->change = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->change);
  if (!b->change) return cb_fail(CB_ERROR_MEMORY, "no memory for the conserved quantities of %d bodies", b->n);
  run->integrator = b->integrator;
  cb_status status = cb_body_interaction_at_node(run, b->t, NULL, NULL);
  if (!status) status = cb_fluid_run_each(run, remember, NULL, &failed);
  if (!status && b->interaction) remember_together(b);
  return status;
}

void cb_fluid_run_compare(cb_run *run, bool last) {
  cb_fluid_run *b = run->own;
  double energy = NAN, momentum = NAN;
  (void)last;
  if (b->coupling) return cb_fluid_coupling_compare(run);
  if (b->interaction) return compare_together(run);
  for (int i = 0; i < b->n; i++) {
    const cb_body_change *c = &b->change[i];
    cb_body_watch *w = &b->watch[i];
    if (!c->is.energy && !c->is.momentum) continue;
    w->moved = w->moved || has_moved(c, &b->state[i], &b->row[i]);
    cb_energy_see(&w->energy, b->row[i].kinetic, b->row[i].potential);
    if (b->fluid->curvature == 0)
      compare_momentum(c, w, &b->state[i], &b->row[i]);
    else
      compare_casimirs(b->fluid->curvature, c, w, &b->state[i]);
    if (c->is.energy) energy = fmax(energy, w->moved ? cb_energy_ratio(&w->energy) : 0);
    if (c->is.momentum) momentum = fmax(momentum, w->moved ? cb_change_by(w->momentum_change, w->momentum_scale) : 0);
  }
  run->change.energy = energy;
  run->change.momentum = momentum;
}
