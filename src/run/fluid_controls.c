/* Steps of bodies whose wrenches use quantities of other bodies (a.x, b.spin_z), such as formations that hold a
 * distance.
 *
 *   F_i = F_i(g_i, Y_i, t, c),  c = the quantities of the others at t + h/2:
 *   g = g_k m^(1/2), m = g_k^-1 g_{k+1};  Y = the twist in the middle, or (Y_k + Y_{k+1})/2 if the integrator has none
 * F_i is the wrench, g_i the pose and Y_i the twist of body i; h is the length of the step from node k to node k+1, and
 * m the change of a pose in it. All bodies are stepped with the values c, which follow from the steps, until c does not
 * change (fixed-point iteration). An iteration multiplies the error of c by about h^2 F_x/(4 K) + h F_v/(2 K), for the
 * inertia K and the derivatives F_x and F_v of F in places and velocities. The result does not depend on the order of
 * the bodies. The step is symmetric in time if the step of the integrator is, and of order 2 with any integrator. All
 * bodies use the same values c, so that forces which are opposite in the expressions conserve the linear momentum. If a
 * step fails or the iteration does not converge, all bodies repeat the step as two halves.
 */
#include "fluid/immersed_run.h"
#include "fluid/rigid_step.h"
#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"
#include "run/fluid_private.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { MAXIMUM = 40, QUANTITIES = CB_BODY_QUANTITIES };
/* The iteration has converged if the change of the values, relative to the largest value of the same unit, is at most
 * SETTLED. If the last iteration has not halved the change, a change of at most STALLED suffices, which is about the
 * round-off. */
static const double SETTLED = 1e-15, STALLED = 1e-13;
/* The limit STALLED for the twists of coupled bodies. They have more round-off, because their momenta contain sums over
 * all other bodies. */
static const double STALLED_TWISTS = 4e-12;

/* --- subjects: bodies and particles, whose quantities expressions can use --- */

typedef enum unit { RATE, SPEED, LENGTH, RATIO, UNITS } unit;

/* A class of subjects: bodies or particles. */
typedef struct subject_class {
  const char *const *quantity; /* names, ended by NULL; at most QUANTITIES */
  unit (*unit_of)(int quantity);
  int (*find)(const cb_run *run, const char *name, size_t length); /* the index of a subject, or -1 */
  /* These functions compute the values of all quantities of a subject. at_node: at the present node. expected: in the
   * middle of the next step of length h, estimated from the start of the step. middle: in the middle of the step from
   * the states `before` to the present states. */
  cb_status (*at_node)(const cb_run *run, int index, double *out);
  void (*expected)(const cb_run *run, int index, double h, double *out);
  void (*middle)(const cb_run *run, int index, const cb_rigid_state *before, double *out);
} subject_class;

typedef struct subject {
  const subject_class *class;
  int index;
  bool used[QUANTITIES];
  double value[QUANTITIES];
} subject;

/* A number that a wrench uses. */
typedef struct source {
  int subject, quantity;
} source;

/* The quantities of other bodies and of particles that the wrenches of one body use. Copies of the body share them. */
typedef struct client {
  const cb_immersed *body;
  int n;
  source *from;  /* [n]: where each quantity comes from */
  double *value; /* [n]; the workspaces of the body borrow it */
} client;

struct cb_fluid_controls {
  int subjects, clients;
  subject *subject;
  client *client;
  int first; /* the first body that uses quantities of others */
  /* [n]: the states before the step, before the present attempt, and before the present complete step */
  cb_rigid_state *start, *begin, *whole;
  int32_t *warned; /* [n]: cb_fluid_run.warned before the attempt: which warnings were given for each body */
  size_t *events;  /* [threads]: the number of events before the attempt */
};

static void quantities(const cb_pose *g, const double Y[6], double *out) {
  double r[3][3];
  cb_pose_rotation(g, r);
  cb_body_quantities_of(g, (const double(*)[3])r, Y, out);
}

static unit unit_of_body(int quantity) {
  if (quantity < CB_BODY_PLACE) return quantity < 3 ? RATE : SPEED;
  if (quantity < CB_BODY_VELOCITY) return quantity < CB_BODY_AXES ? LENGTH : RATIO;
  return quantity < CB_BODY_SPIN ? SPEED : RATE;
}

static int find_body(const cb_run *run, const char *name, size_t length) {
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++) {
    const char *own = cb_fluid_run_of(run)->start[i].name;
    if (strlen(own) == length && !memcmp(own, name, length)) return i;
  }
  return -1;
}

static cb_status body_at_node(const cb_run *run, int index, double *out) {
  const cb_fluid_run *b = run->own;
  const cb_fluid_run_part *part = b->part;
  double Y[6];
  while (index >= part->end) part++;
  const cb_status status =
      cb_rigid_twist(cb_immersed_workspace_problem(part->workspace[index - part->first]), &b->state[index], Y);
  if (!status) quantities(&b->state[index].g, Y, out);
  return status;
}

/* Estimates twist and pose of a body in the middle of the next step of length h. */
static void expected_pose(const cb_fluid_run *b, int body, double h, double Y[6], cb_pose *g) {
  double half[6];
  cb_pose move;
  cb_rigid_guess(&b->state[body], h, Y);
  for (int i = 0; i < 6; i++) half[i] = h / 2 * Y[i];
  cb_pose_tau_in(CB_SE3_EXPONENTIAL, b->fluid->curvature, half, &move);
  cb_pose_multiply_in(b->fluid->curvature, &b->state[body].g, &move, g);
}

static void expected_body(const cb_run *run, int index, double h, double *out) {
  double Y[6];
  cb_pose g;
  expected_pose(run->own, index, h, Y, &g);
  quantities(&g, Y, out);
}

/* Computes the pose half way from one state to another. The low parts of the positions are used, so that the result is
 * as accurate as one position, although positions are subtracted. */
static void half_way(const cb_rigid_state *from, const cb_rigid_state *to, cb_pose *out) {
  double r[3][3], back[4], dx[3];
  cb_pose move, half;
  cb_pose_rotation(&from->g, r);
  cb_quaternion_inverse(from->g.q, back);
  cb_quaternion_multiply(back, to->g.q, move.q);
  cb_quaternion_project(move.q);
  for (int i = 0; i < 3; i++) dx[i] = to->g.x[i] - from->g.x[i] + (to->x_low[i] - from->x_low[i]);
  cb_apply3_transposed((const double(*)[3])r, dx, move.x);
  cb_pose_half(&move, &half);
  cb_quaternion_multiply(from->g.q, half.q, out->q);
  cb_quaternion_project(out->q);
  cb_apply3((const double(*)[3])r, half.x, dx);
  for (int i = 0; i < 3; i++) out->x[i] = from->g.x[i] + (from->x_low[i] + dx[i]);
}

/* Computes the pose half way from one pose to another, in a space of curvature K. */
static void half_way_in(double K, const cb_pose *from, const cb_pose *to, cb_pose *out) {
  cb_biquaternion at, move, half, there;
  cb_pose back, relative;
  cb_pose_inverse(from, &back);
  cb_pose_multiply_in(K, &back, to, &relative);
  cb_biquaternion_of(K, &relative, &move);
  cb_biquaternion_half(K, &move, &half);
  const double scale = cb_biquaternion_of(K, from, &at);
  cb_biquaternion_multiply(K, &at, &half, &there);
  cb_biquaternion_pose(K, &there, scale, out, NULL);
}

/* Finds twist and pose of a body in the middle of the step from the states `before` to the present states. */
static void middle_pose(const cb_fluid_run *b, int body, const cb_rigid_state *before, double Y[6], cb_pose *g) {
  const cb_rigid_state *from = before + body, *to = &b->state[body];
  for (int i = 0; i < 6; i++) Y[i] = to->known > 0 ? to->Y[i] : (from->Y[i] + to->Y[i]) / 2;
  if (b->fluid->curvature == 0)
    half_way(from, to, g);
  else
    half_way_in(b->fluid->curvature, &from->g, &to->g, g);
}

static void body_in_the_middle(const cb_run *run, int index, const cb_rigid_state *before, double *out) {
  double Y[6];
  cb_pose g;
  middle_pose(run->own, index, before, Y, &g);
  quantities(&g, Y, out);
}

/* --- particles: their places and velocities in flat space; in a step, particles move before bodies --- */

static const char *const particle_quantities[] = {"x", "y", "z", "vx", "vy", "vz", NULL};

static unit unit_of_particle(int quantity) { return quantity < 3 ? LENGTH : SPEED; }

static int find_particle(const cb_run *run, const char *name, size_t length) {
  return cb_fluid_run_of(run)->coupling ? cb_fluid_coupling_find(run, name, length) : -1;
}

static cb_status particle_at_node(const cb_run *run, int index, double *out) {
  cb_fluid_coupling_particle(run, index, out);
  return CB_OK;
}

static void expected_particle(const cb_run *run, int index, double h, double *out) {
  (void)h;
  cb_fluid_coupling_middle(run, index, out);
}

static void particle_in_the_middle(const cb_run *run, int index, const cb_rigid_state *before, double *out) {
  (void)before;
  cb_fluid_coupling_middle(run, index, out);
}

static const subject_class classes[] = {
    {cb_body_quantities, unit_of_body, find_body, body_at_node, expected_body, body_in_the_middle},
    {particle_quantities, unit_of_particle, find_particle, particle_at_node, expected_particle,
     particle_in_the_middle}};

/* --- quantities for the laws of controls; kind: an index of `classes`, a coordinate of a joint or its rate --- */

enum { BODY, PARTICLE, CLASSES, COORDINATE = CLASSES, COORDINATE_RATE };

bool cb_fluid_run_find_quantity(const cb_run *run, const char *text, size_t length, cb_quantity *out) {
  const char *dot = text + length;
  bool rate = false;
  const int coordinate = cb_fluid_joined_find(run, text, length, &rate);
  *out = (cb_quantity){rate ? COORDINATE_RATE : COORDINATE, coordinate, 0};
  if (coordinate >= 0) return true;
  while (dot > text && dot[-1] != '.') dot--;
  if (dot == text) return false;
  const size_t left = length - (size_t)(dot - text);
  for (int k = 0; k < CLASSES; k++) {
    const int index = classes[k].find(run, text, (size_t)(dot - text) - 1);
    for (int q = 0; index >= 0 && classes[k].quantity[q]; q++) {
      *out = (cb_quantity){k, index, q};
      if (strlen(classes[k].quantity[q]) == left && !strncmp(classes[k].quantity[q], dot, left)) return true;
    }
  }
  return false;
}

double cb_fluid_run_quantity(const cb_run *run, const cb_quantity *q) {
  const cb_fluid_run *b = run->own;
  double all[QUANTITIES] = {0};
  if (q->kind >= CLASSES) return cb_fluid_joined_coordinate(run, q->subject, q->kind == COORDINATE_RATE);
  if (q->kind == BODY)
    quantities(&b->state[q->subject].g, b->row[q->subject].twist, all);
  else
    particle_at_node(run, q->subject, all);
  return all[q->part];
}

/* --- creation --- */

static int subject_of(cb_fluid_controls *c, const subject_class *class, int index) {
  for (int i = 0; i < c->subjects; i++)
    if (c->subject[i].class == class && c->subject[i].index == index) return i;
  c->subject[c->subjects] = (subject){.class = class, .index = index};
  return c->subjects++;
}

static cb_status find_source(const cb_run *run, cb_fluid_controls *c, const char *name, source *out) {
  const char *dot = strrchr(name, '.');
  for (size_t k = 0; dot && k < sizeof classes / sizeof *classes; k++) {
    const int index = classes[k].find(run, name, (size_t)(dot - name));
    for (int q = 0; index >= 0 && classes[k].quantity[q]; q++)
      if (!strcmp(classes[k].quantity[q], dot + 1)) {
        *out = (source){subject_of(c, &classes[k], index), q};
        c->subject[out->subject].used[q] = true;
        return CB_OK;
      }
  }
  return cb_fail(CB_ERROR_ARGUMENT,
                 "unknown name `%s` in a wrench: expected BODY.QUANTITY, a body of this run and one of its quantities",
                 name);
}

static cb_status add_client(cb_run *run, cb_fluid_controls *c, const cb_immersed *body) {
  client *own = &c->client[c->clients];
  const int n = cb_immersed_externals(body);
  for (int i = 0; i < c->clients; i++)
    if (c->client[i].body == body) return CB_OK;
  *own = (client){body, n, cb_arena_alloc(run->arena, (size_t)n, sizeof *own->from),
                  cb_arena_alloc(run->arena, (size_t)n, sizeof *own->value)};
  if (!own->from || !own->value) return cb_fail(CB_ERROR_MEMORY, "no memory for %d numbers", n);
  c->clients++;
  for (int i = 0; i < n; i++) {
    const cb_status status = find_source(run, c, cb_immersed_external(body, i), &own->from[i]);
    if (status) return status;
  }
  const cb_fluid_run *b = run->own;
  for (int p = 0; p < b->threads; p++)
    for (int i = b->part[p].first; i < b->part[p].end; i++)
      if (b->start[i].body == body) cb_immersed_workspace_know(b->part[p].workspace[i - b->part[p].first], own->value);
  return CB_OK;
}

cb_status cb_fluid_controls_create(cb_run *run) {
  cb_fluid_run *b = run->own;
  const size_t n = (size_t)b->n;
  size_t numbers = 0, kinds = 0;
  int first = b->n;
  for (int i = b->n - 1; i >= 0; i--)
    if (cb_immersed_externals(b->start[i].body)) {
      first = i;
      if (i && b->start[i - 1].body == b->start[i].body) continue; /* copies are next to each other */
      numbers += (size_t)cb_immersed_externals(b->start[i].body);
      kinds++;
    }
  if (!kinds && !cb_body_interaction_iterates(b->interaction)) return CB_OK;
  cb_fluid_controls *c = b->controls = cb_arena_alloc(run->arena, 1, sizeof *c);
  if (c)
    *c = (cb_fluid_controls){.subject = cb_arena_alloc(run->arena, numbers, sizeof *c->subject),
                             .client = cb_arena_alloc(run->arena, kinds + 1, sizeof *c->client),
                             .first = first < b->n ? first : 0,
                             .start = cb_arena_alloc(run->arena, n, sizeof *c->start),
                             .begin = cb_arena_alloc(run->arena, n, sizeof *c->begin),
                             .whole = cb_arena_alloc(run->arena, n, sizeof *c->whole),
                             .warned = cb_arena_alloc(run->arena, n, sizeof *c->warned),
                             .events = cb_arena_alloc(run->arena, (size_t)b->threads, sizeof *c->events)};
  if (!c || !c->subject || !c->client || !c->start || !c->begin || !c->whole || !c->warned || !c->events)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the controls of %zu bodies", n);
  cb_status status = CB_OK;
  for (int i = c->first; i < b->n && !status; i++)
    if (cb_immersed_externals(b->start[i].body)) status = add_client(run, c, b->start[i].body);
  return status;
}

/* --- steps --- */

/* Copies the values of the subjects' quantities to the array `value` of each client, which the workspaces use. */
static void give(const cb_fluid_controls *c) {
  for (int k = 0; k < c->clients; k++)
    for (int i = 0; i < c->client[k].n; i++) {
      const source *from = &c->client[k].from[i];
      c->client[k].value[i] = c->subject[from->subject].value[from->quantity];
    }
}

cb_status cb_fluid_controls_at_node(cb_run *run) {
  cb_fluid_controls *c = cb_fluid_run_of(run)->controls;
  cb_status status = CB_OK;
  for (int i = 0; c && i < c->subjects && !status; i++)
    status = c->subject[i].class->at_node(run, c->subject[i].index, c->subject[i].value);
  if (c && !status) give(c);
  return status;
}

/* Sets the values of the quantities to their values in the middle of the step that was made. Returns the largest change
 * of a value, relative to the largest value of the same unit. */
static double renew(const cb_run *run, cb_fluid_controls *c) {
  double change[UNITS] = {0}, size[UNITS] = {0}, largest = 0;
  size[RATIO] = 1;
  for (int i = 0; i < c->subjects; i++) {
    subject *s = &c->subject[i];
    double now[QUANTITIES];
    s->class->middle(run, s->index, c->begin, now);
    for (int q = 0; q < QUANTITIES && s->class->quantity[q]; q++) {
      const unit u = s->class->unit_of(q);
      if (s->used[q]) change[u] = fmax(change[u], fabs(now[q] - s->value[q]));
      size[u] = fmax(size[u], fabs(now[q]));
    }
    memcpy(s->value, now, sizeof now);
  }
  for (int u = 0; u < UNITS; u++)
    if (change[u] > 0) largest = fmax(largest, change[u] / fmax(size[u], DBL_MIN));
  return largest;
}

/* Sets the poses and twists of all bodies to those in the middle of the next step, estimated from its start. A pose
 * follows from the twist by Cayley's map, the default of the integrator. With this map the error of the pose comes only
 * from the error of the twist. */
static void expect_bodies(cb_run *run, double h) {
  const cb_fluid_run *b = run->own;
  const bool iterates = cb_body_interaction_iterates(b->interaction);
  if (iterates) cb_body_interaction_begin(b->interaction);
  if (iterates) cb_body_interaction_depart(run);
  for (int i = 0; iterates && i < b->n; i++) {
    double Y[6], whole[6];
    cb_pose move, half, g;
    cb_body_interaction_guess(run, i, h, Y);
    for (int k = 0; k < 6; k++) whole[k] = h * Y[k];
    cb_se3_tau(CB_SE3_CAYLEY, whole, &move);
    cb_pose_half(&move, &half);
    cb_pose_multiply(&b->state[i].g, &half, &g);
    cb_body_interaction_place(b->interaction, i, &g, Y);
  }
}

/* Sets the poses and twists of all bodies for the next iteration from those in the middle of the step that was made.
 * Returns the estimated error of the twists. */
static double renew_bodies(const cb_fluid_run *b, double h) {
  if (!cb_body_interaction_iterates(b->interaction)) return 0;
  for (int i = 0; i < b->n; i++) {
    double Y[6];
    cb_pose g;
    middle_pose(b, i, b->controls->begin, Y, &g);
    cb_body_interaction_arrive(b->interaction, i, &g, Y);
  }
  return cb_body_interaction_renew(b->interaction, h / 2, b->controls->subjects == 0);
}

/* Removes the events of the attempt, and returns whether there were any. */
static bool drop_events(cb_fluid_run *b) {
  bool any = false;
  for (int p = 0; p < b->threads; p++)
    while (b->part[p].events > b->controls->events[p]) {
      free(b->part[p].event[--b->part[p].events].text);
      any = true;
    }
  memcpy(b->warned, b->controls->warned, (size_t)b->n * sizeof *b->warned);
  return any;
}

/* An attempt of a step of length h. only_users: bodies that use no quantities of others keep the states that they have
 * from the first iteration. */
typedef struct attempt {
  double h;
  bool only_users;
} attempt;

static cb_status attempt_one(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  const attempt *a = context;
  cb_fluid_run *b = run->own;
  if (cb_fluid_joined_has(run, body)) {
    b->state[body] = b->controls->begin[body];
    return CB_OK;
  }
  if (a->only_users && !cb_immersed_externals(b->start[body].body)) return CB_OK;
  b->state[body] = b->controls->begin[body];
  cb_body_interaction_lead(b->interaction, body, a->h, &b->state[body]);
  return cb_fluid_run_attempt(run, part, body, a->h);
}

cb_status cb_fluid_controls_drift(cb_run *run, double h, int *failed) {
  cb_fluid_run *b = run->own;
  cb_fluid_controls *c = b->controls;
  const bool iterates = cb_body_interaction_iterates(b->interaction);
  attempt a = {h, false};
  double change = INFINITY;
  cb_status status = CB_OK;
  bool settled = false;
  memcpy(c->begin, b->state, (size_t)b->n * sizeof *c->begin);
  cb_fluid_joined_keep(run);
  memcpy(c->warned, b->warned, (size_t)b->n * sizeof *c->warned);
  for (int p = 0; p < b->threads; p++) c->events[p] = b->part[p].events;
  for (int i = 0; i < c->subjects; i++) c->subject[i].class->expected(run, c->subject[i].index, h, c->subject[i].value);
  expect_bodies(run, h);
  const double middle = c->begin[0].t + h / 2;
  for (int i = 0; i < MAXIMUM && !status && !settled; i++) {
    give(c);
    a.only_users = !drop_events(b) && i > 0 && !iterates;
    if (iterates) status = cb_body_interaction_evaluate(b->interaction, middle, true);
    if (!status) status = cb_fluid_run_each(run, attempt_one, &a, failed);
    cb_fluid_joined_back(run);
    if (!status) status = cb_fluid_joined_drift(run, h, failed);
    if (status) break;
    const double before = change;
    change = fmax(renew(run, c), renew_bodies(b, h));
    const double stalled = iterates ? STALLED_TWISTS : STALLED;
    settled = change <= SETTLED || (change <= stalled && change >= before / 2);
  }
  if (!status && settled) {
    if (iterates) cb_body_interaction_landed(b->interaction, h);
    return CB_OK;
  }
  if (!status) {
    *failed = c->first;
    status = cb_fail(
        CB_STEP_NO_CONVERGENCE, "the %s did not converge in %d iterations: they change by %.2g of their size",
        iterates ? "motions of coupled bodies" : "quantities of other bodies that its wrenches use", MAXIMUM, change);
  }
  drop_events(b);
  memcpy(b->state, c->begin, (size_t)b->n * sizeof *c->begin);
  cb_fluid_joined_back(run);
  return status;
}

/* Makes a complete step. If bodies interact through the fluid, all bodies make one part of a composed step before the
 * next part begins. */
static cb_status complete(cb_run *run, double h, int *failed) {
  cb_fluid_run *b = run->own;
  int parts = 1;
  const double *part = NULL;
  cb_status status = CB_OK;
  if (cb_body_interaction_iterates(b->interaction)) part = cb_integrator_substeps(b->integrator, &parts);
  memcpy(b->controls->whole, b->state, (size_t)b->n * sizeof *b->state);
  for (int i = 0; i < parts && !status; i++) status = cb_fluid_controls_drift(run, part ? part[i] * h : h, failed);
  if (status) memcpy(b->state, b->controls->whole, (size_t)b->n * sizeof *b->state);
  return status;
}

static cb_status halves(cb_run *run, double h, int depth, int *failed) {
  cb_fluid_run *b = run->own;
  cb_status status = complete(run, h, failed);
  if (status <= 0 || depth == run->options.retries) return status;
  const cb_event_row retry = {
      .time = b->state[*failed].t, .kind = CB_EVENT_RETRY, .particle = *failed, .other = -1, .wall = -1, .gap = h};
  cb_fluid_run_part *part = b->part;
  while (*failed >= part->end) part++;
  cb_fluid_run_report(part, &retry, NULL);
  for (int half = 0; half < 2; half++)
    if ((status = halves(run, h / 2, depth + 1, failed))) return status;
  return CB_OK;
}

cb_status cb_fluid_controls_step(cb_run *run, double h, int *failed) {
  cb_fluid_run *b = run->own;
  memcpy(b->controls->start, b->state, (size_t)b->n * sizeof *b->state);
  for (int i = 0; i < b->n; i++) b->state[i].t = b->t;
  const cb_status status = halves(run, h, 0, failed);
  if (status) memcpy(b->state, b->controls->start, (size_t)b->n * sizeof *b->state);
  return status;
}
