/* Bodies that feel each other through the fluid, in a run (fluid/body_coupling.h).
 *
 *   step   (dtau^-1_{hY_i})^T mu_i = p_i + (h/2) F_i + h (1 + Ad_s)^-T G_i,   mu_i = own_i Y_i + mu0_i + momentum_i,
 *          G_i = slope_i, both at the poses and twists in the middle of the step of all bodies
 *   node   own_i Y_i = p_i - mu0_i - momentum_i(g, Y)
 * This is the step of fluid/rigid_step.h for all bodies together. It is made by a fixed-point iteration
 * (run/fluid_controls.c): each body makes its step with the momentum and slope of the last iteration. An iteration
 * multiplies the error by kappa, about |C|/|own + inertia of the body|, which is about .03 for bodies at a distance of
 * one diameter. The iteration of the twists of all bodies is accelerated (numerics/anderson.h); each pose is then moved
 * by the change of its twist that the acceleration makes. The iteration ends where the error of the next twists,
 * kappa/(1 - kappa) times the last change, is below round-off. It starts from the states alone, so its result does not
 * depend on the steps before. The total momentum is conserved up to round-off after any number of iterations, because
 * the slopes of one evaluation have the sum 0. A coupling that depends on coordinates of joints alone is not iterated:
 * the equations of the joined bodies contain it (mechanism/mechanism_private.h). Symbols: fluid/body_coupling.h and
 * fluid/rigid_step.h.
 */

#include "fluid/body_coupling.h"
#include "fluid/immersed_run.h"
#include "fluid/rigid_step.h"
#include "mechanism/mechanism.h"
#include "numerics/anderson.h"
#include "numerics/vec3.h"
#include "run/fluid_private.h"

#include <math.h>
#include <string.h>

enum { MAXIMUM = 60 };
/* The twists at a node have converged if their error relative to the largest twist is at most SETTLED. If the last
 * iteration has not halved the error, an error of at most STALLED suffices, which is about the round-off. */
static const double SETTLED = 1e-15, STALLED = 1e-11;
/* kappa, the factor by which an iteration multiplies the error, is measured from the last changes of the twists. Other
 * parts of the error may decrease more slowly. Therefore the estimate of the error is multiplied by this factor. */
static const double MARGIN = 5;

/* The problem of one body in an iteration: the problem `of` of the body without an interaction, plus the momentum and
 * the slope of the last evaluation, which are constants in this iteration. */
typedef struct added {
  cb_rigid_problem problem;
  const cb_rigid_problem *of;
  cb_rigid_constant constant; /* the constants of `of`, with the momentum added to mu0 */
  double momentum[6], slope[6];
} added;

struct cb_body_interaction {
  const cb_body_coupling *coupling;
  void *self;
  double curvature;
  int n;
  added *added; /* [n]: the problem of each body in the present iteration */
  cb_pose *g;   /* [n]: g, Y: the poses and the twists for the next evaluation */
  double (*Y)[6];
  cb_pose *g_made; /* [n]: the poses and twists that cb_body_interaction_arrive has stored */
  double (*Y_made)[6], (*weight)[6];
  cb_anderson anderson;                /* accelerates the iteration of Y */
  const cb_flow *flow;                 /* uniform; NULL: the fluid is at rest */
  double (*relative)[6], (*stream)[3]; /* [n]: the twists relative to the flow, and the flow in the body frame */
  double (*momentum)[6], (*slope)[6];
  double *energy;        /* [n]: the shares of the bodies in the energy of the coupling, at a node */
  cb_rigid_state *known; /* [n]: the states at the node for which `momentum` is known */
  bool is_known;
  /* These arrays have one entry per body. Y_known: the twists in the states `known`. from, Y_from: the states and the
   * twists at the start of a flight (fluid_private.h). Y_middle: the twists in the middle of the last flight from
   * `from`. The number `flown` is the length of this flight, or 0 if there was none. */
  double (*Y_known)[6];
  cb_rigid_state *from;
  double (*Y_from)[6], (*Y_middle)[6], flown;
  bool departed;  /* whether the present flight begins at the states `from` */
  bool by_joints; /* the equations of joined bodies contain the coupling (mechanism/mechanism_private.h) */
  double length;  /* the largest distance of a point of a body from the origin of its frame, m */
};

/* --- the problem of one body --- */

static cb_status inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  const added *a = self;
  const cb_status status = a->of->inertia(a->of->self, t, g, K, mu0);
  if (!status) cb_add6(1, a->momentum, mu0);
  return status;
}

static void expect(void *self, double t, const cb_pose *g, const double Y[6]) {
  const added *a = self;
  a->of->expect(a->of->self, t, g, Y);
}

static cb_status inertia_wrench(void *self, double t, const cb_pose *g, const double Y[6], double wrench[6],
                                double dwrench[6][6]) {
  const added *a = self;
  cb_add6(1, a->slope, wrench);
  return a->of->inertia_wrench ? a->of->inertia_wrench(a->of->self, t, g, Y, wrench, dwrench) : CB_OK;
}

static cb_status wrench(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]) {
  const added *a = self;
  return a->of->wrench(a->of->self, t, g, Y, F, dF);
}

static cb_status pose_derivative(void *self, double t, const cb_pose *g, const double Y[6], double dmu[6][6],
                                 double dF[6][6]) {
  const added *a = self;
  return a->of->pose_derivative(a->of->self, t, g, Y, dmu, dF);
}

const cb_rigid_problem *cb_body_interaction_problem(const cb_body_interaction *in, int body,
                                                    const cb_rigid_problem *of) {
  if (!in) return of;
  added *a = &in->added[body];
  a->of = of;
  a->problem = *of;
  a->problem.self = a;
  a->problem.inertia = inertia;
  a->problem.expect = of->expect ? expect : NULL;
  a->problem.inertia_wrench = inertia_wrench;
  a->problem.wrench = of->wrench ? wrench : NULL;
  a->problem.pose_derivative = of->pose_derivative ? pose_derivative : NULL;
  a->problem.dead_load = false;
  if (of->constant) {
    a->constant = *of->constant;
    cb_add6(1, a->momentum, a->constant.mu0);
    a->problem.constant = &a->constant;
  }
  return &a->problem;
}

/* --- evaluation --- */

void cb_body_interaction_begin(cb_body_interaction *in) { cb_anderson_start(&in->anderson); }

void cb_body_interaction_place(cb_body_interaction *in, int body, const cb_pose *g, const double Y[6]) {
  in->g[body] = *g;
  memcpy(in->Y[body], Y, sizeof in->Y[body]);
}

void cb_body_interaction_arrive(cb_body_interaction *in, int body, const cb_pose *g, const double Y[6]) {
  in->g_made[body] = *g;
  memcpy(in->Y_made[body], Y, sizeof in->Y_made[body]);
}

/* Sets the pose g of a body to g_made, moved by the twist Y - Y_made for half a step. When the iteration has converged,
 * Y = Y_made and the pose does not move. */
static void move_pose(const cb_body_interaction *in, int body, double half) {
  double by[6];
  cb_pose move;
  in->g[body] = in->g_made[body];
  if (half == 0) return;
  for (int k = 0; k < 6; k++) by[k] = half * (in->Y[body][k] - in->Y_made[body][k]);
  cb_pose_tau_in(CB_SE3_EXPONENTIAL, in->curvature, by, &move);
  cb_pose_multiply_in(in->curvature, &in->g_made[body], &move, &in->g[body]);
}

double cb_body_interaction_renew(cb_body_interaction *in, double half, bool faster) {
  double size = 0, change = 0;
  for (int k = 0; k < 6 * in->n; k++) size = fmax(size, (k % 6 < 3 ? in->length : 1) * fabs(in->Y_made[k / 6][k % 6]));
  for (int k = 0; k < 6 * in->n; k++) {
    const int i = k / 6, c = k % 6;
    in->weight[i][c] = size > 0 ? (c < 3 ? in->length : 1) / size : 0;
    change = fmax(change, in->weight[i][c] * fabs(in->Y_made[i][c] - in->Y[i][c]));
  }
  if (faster)
    cb_anderson_next(&in->anderson, in->weight[0], in->Y_made[0], in->Y[0]);
  else
    memcpy(in->Y, in->Y_made, (size_t)in->n * sizeof *in->Y);
  for (int i = 0; i < in->n; i++) move_pose(in, i, half);
  const double kappa = in->anderson.kappa;
  return kappa > 0 && kappa < .5 ? fmin(1, MARGIN * kappa / (1 - kappa)) * change : change;
}

/* Finds the twists of the bodies relative to a uniform flow u. They are Y - U, where U = (0, R^T u) and R is the
 * rotation of the body's pose. */
static cb_status make_relative(cb_body_interaction *in, double t) {
  static const double origin[1][3] = {{0}};
  double u[1][3];
  memcpy(in->relative, in->Y, (size_t)in->n * sizeof *in->relative);
  if (!in->flow) return CB_OK;
  const cb_status status = cb_flow_at(in->flow, t, 1, origin, u, NULL, NULL);
  for (int i = 0; i < in->n && !status; i++) {
    double r[3][3];
    cb_pose_rotation(&in->g[i], r);
    cb_apply3_transposed((const double(*)[3])r, u[0], in->stream[i]);
    for (int k = 0; k < 3; k++) in->relative[i][3 + k] -= in->stream[i][k];
  }
  return status;
}

cb_status cb_body_interaction_evaluate(cb_body_interaction *in, double t, bool middle) {
  cb_status status = make_relative(in, t);
  if (!status)
    status = in->coupling->class_->apply(in->self, t, in->g, (const double(*)[6])in->relative, in->momentum,
                                         middle ? in->slope : NULL, middle ? NULL : in->energy);
  for (int i = 0; i < in->n && !status && in->flow && middle; i++) {
    /* A rotation xi_omega of the body changes U in its frame by dU = (0, -xi_omega × R^T u). This adds -<momentum, dU>
     * to the slope. */
    double turn[3];
    cb_cross3(in->stream[i], in->momentum[i] + 3, turn);
    for (int k = 0; k < 3; k++) in->slope[i][k] += turn[k];
  }
  for (int i = 0; i < in->n && !status; i++) {
    memcpy(in->added[i].momentum, in->momentum[i], sizeof in->momentum[i]);
    if (middle)
      memcpy(in->added[i].slope, in->slope[i], sizeof in->slope[i]);
    else
      memset(in->added[i].slope, 0, sizeof in->added[i].slope);
  }
  if (middle) in->is_known = false;
  return status;
}

/* Returns whether the present states have the poses and momenta of `states`. */
static bool are_present(const cb_fluid_run *b, const cb_rigid_state *states) {
  for (int i = 0; i < b->n; i++) {
    const cb_rigid_state *s = &b->state[i], *k = &states[i];
    if (memcmp(&s->g, &k->g, sizeof s->g) != 0 || memcmp(s->momentum, k->momentum, sizeof s->momentum) != 0)
      return false;
  }
  return true;
}

/* Returns whether the array `momentum` was computed for the present states. */
static bool is_known(const cb_fluid_run *b) {
  return b->interaction->is_known && are_present(b, b->interaction->known);
}

/* --- the first guess of a flight --- */

void cb_body_interaction_depart(cb_run *run) {
  const cb_fluid_run *b = run->own;
  cb_body_interaction *in = b->interaction;
  const size_t n = (size_t)in->n;
  if (b->coupling && is_known(b)) {
    memcpy(in->from, in->known, n * sizeof *in->from);
    memcpy(in->Y_from, in->Y_known, n * sizeof *in->Y_from);
    in->flown = 0;
    in->departed = true;
  } else {
    in->departed = in->departed && are_present(b, in->from);
  }
}

void cb_body_interaction_guess(const cb_run *run, int body, double h, double Y[6]) {
  const cb_fluid_run *b = run->own;
  const cb_body_interaction *in = b->interaction;
  const cb_rigid_state *s = &b->state[body];
  if (!in->departed || (s->known > 1 && s->length == h)) {
    cb_rigid_guess(s, h, Y);
    return;
  }
  const double part = in->flown != 0 ? h / in->flown : 0;
  for (int k = 0; k < 6; k++) Y[k] = in->Y_from[body][k] + part * (in->Y_middle[body][k] - in->Y_from[body][k]);
}

void cb_body_interaction_lead(const cb_body_interaction *in, int body, double h, cb_rigid_state *s) {
  if (in && in->departed && s->length != h)
    memcpy(s->Y, in->Y[body], sizeof s->Y); /* the history of steps of another length is not used */
}

void cb_body_interaction_landed(cb_body_interaction *in, double h) {
  if (!in || !in->departed) return;
  memcpy(in->Y_middle, in->Y_made, (size_t)in->n * sizeof *in->Y_middle);
  in->flown = h;
}

/* --- nodes --- */

/* Finds the twists of all bodies from their momenta, with the present contribution `momentum` of the other bodies. */
static cb_status find_twists(cb_run *run, double t) {
  cb_fluid_run *b = run->own;
  cb_status status = CB_OK;
  for (int i = 0; i < b->n && !status; i++) {
    double Y[6];
    status = cb_rigid_twist_of(cb_fluid_joined_problem(run, i), t, &b->state[i].g, b->state[i].momentum, Y);
    if (!status) cb_body_interaction_arrive(b->interaction, i, &b->state[i].g, Y);
  }
  return status;
}

/* Sets the poses and twists of all bodies for an evaluation at a node. Each twist is the mean of the twist in the
 * middle of the last step and the guess for the next step. */
static void expect_at_node(const cb_fluid_run *b) {
  cb_body_interaction_begin(b->interaction);
  for (int i = 0; i < b->n; i++) {
    const cb_rigid_state *s = &b->state[i];
    double Y[6];
    cb_rigid_guess(s, s->length, Y);
    for (int k = 0; k < 6; k++) Y[k] = (Y[k] + s->Y[k]) / 2;
    cb_body_interaction_place(b->interaction, i, &s->g, Y);
  }
}

cb_status cb_body_interaction_at_node(cb_run *run, double t, cb_status (*settle)(void *self, double t), void *self) {
  cb_fluid_run *b = run->own;
  cb_body_interaction *in = b->interaction;
  double error = INFINITY;
  cb_status status = CB_OK;
  if (!in || (!settle && is_known(b))) return CB_OK;
  in->is_known = false;
  if (settle && in->by_joints) return settle(self, t);
  expect_at_node(b);
  for (int n = 0; n < MAXIMUM && !status; n++) {
    const double before = error;
    status = cb_body_interaction_evaluate(in, t, false);
    if (!status && settle) status = settle(self, t);
    if (!status) status = find_twists(run, t);
    if (status) return status;
    error = cb_body_interaction_renew(in, 0, true);
    if (!(error <= SETTLED) && !(error <= STALLED && error >= before / 2)) continue;
    memcpy(in->known, b->state, (size_t)in->n * sizeof *in->known);
    memcpy(in->Y_known, in->Y_made, (size_t)in->n * sizeof *in->Y_known);
    in->is_known = true;
    return CB_OK;
  }
  return status ? status
                : cb_fail(CB_STEP_NO_CONVERGENCE,
                          "the twists of coupled bodies did not converge in %d iterations: their error is %.2g of "
                          "their size; the bodies are too near each other for this coupling",
                          MAXIMUM, error);
}

cb_status cb_body_interaction_join(cb_run *run, cb_mechanism *mechanism) {
  const cb_fluid_run *b = run->own;
  cb_body_interaction *in = b->interaction;
  cb_coupling_by_joints of;
  if (!in || in->flow || !in->coupling->class_->by_joints || !in->coupling->class_->by_joints(in->self, &of))
    return CB_OK;
  for (int i = 0; i < b->n; i++)
    if (!cb_mechanism_joins(mechanism, i)) return CB_OK;
  cb_shared_inertia inertia = {.self = of.self, .coordinates = of.coordinates, .at = of.at};
  for (int i = 0; i < of.coordinates; i++)
    inertia.coordinate[i] = cb_mechanism_first(mechanism, of.joint[i]) + of.coordinate[i];
  in->by_joints = true;
  return cb_mechanism_share(mechanism, &inertia);
}

bool cb_body_interaction_iterates(const cb_body_interaction *in) { return in && !in->by_joints; }

void cb_body_interaction_separate(const cb_body_interaction *in, int body, cb_rigid_state *s) {
  if (!in) return;
  for (int i = 0; i < 6; i++) s->momentum[i] -= in->momentum[body][i];
}

double cb_body_interaction_energy(const cb_body_interaction *in, int body) { return in ? in->energy[body] : 0; }

double cb_body_interaction_film(const cb_body_interaction *in, int body) {
  return in && in->coupling->class_->film ? in->coupling->class_->film(in->self, body) : 0;
}

cb_status cb_body_interaction_error(const cb_run *run, cb_coupling_error *out) {
  const cb_fluid_run *b = run->own;
  cb_body_interaction *in = b->interaction;
  for (int i = 0; i < in->n; i++) in->g[i] = b->state[i].g;
  in->is_known = false;
  return in->coupling->class_->estimate(in->self, b->t, in->g, out);
}

/* --- creation --- */

/* Makes the states at the start again, now with momenta that contain the contributions of the other bodies. The twists
 * are those of `start`. */
static cb_status start(cb_run *run) {
  cb_fluid_run *b = run->own;
  cb_body_interaction *in = b->interaction;
  for (int i = 0; i < in->n; i++) cb_body_interaction_place(in, i, &b->state[i].g, b->start[i].twist);
  cb_status status = cb_body_interaction_evaluate(in, b->t, false);
  for (int i = 0; i < in->n && !status; i++) {
    const cb_pose g = b->state[i].g;
    status = cb_rigid_start(cb_fluid_joined_problem(run, i), b->t, &g, b->start[i].twist, &b->state[i]);
  }
  return status;
}

static cb_status check(const cb_fluid_run *b) {
  const cb_fluid *f = b->fluid;
  if (!f->medium || !cb_medium_is_uniform(f->medium))
    return cb_fail(CB_ERROR_UNSUPPORTED, "`coupling` needs a fluid of one density: expected one number as `medium`");
  if (f->flow && !cb_flow_is_even(f->flow))
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "`coupling` needs a fluid at rest or a flow that is the same at all places: expected `flow: {uniform: "
        "[..]}`, or `coupling: none`");
  for (int i = 0; i < b->n; i++)
    if (!cb_immersed_has_added_mass(b->start[i].body))
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "`coupling` needs the added mass of all bodies, and body `%s` has none: expected `added_mass`",
                     b->start[i].name);
  return CB_OK;
}

/* Copies the data of the joints to of->joint, from which the class of the coupling reads them. */
static cb_status take_joints(cb_run *run, const cb_fluid_joints *joints, cb_coupled_fluid *of) {
  cb_coupled_joint *to = cb_arena_alloc(run->arena, joints ? (size_t)joints->n : 0, sizeof *to);
  if (!to) return cb_fail(CB_ERROR_MEMORY, "no memory for joints");
  of->joint = to;
  of->joints = joints ? joints->n : 0;
  for (int i = 0; i < of->joints; i++) {
    const cb_joint *j = &joints->joint[i];
    to[i] = (cb_coupled_joint){
        .number = i, .name = j->name, .class_ = j->class_, .data = &j->data, .body = {j->body[0], j->body[1]}};
    for (int s = 0; s < 2; s++) {
      memcpy(to[i].frame[s].q, j->frame[s].q, sizeof to[i].frame[s].q);
      memcpy(to[i].frame[s].x, j->frame[s].x, sizeof to[i].frame[s].x);
    }
  }
  return CB_OK;
}

static cb_status prepare(cb_run *run, const cb_fluid_joints *joints) {
  cb_fluid_run *b = run->own;
  cb_body_interaction *in = b->interaction;
  static const double origin[3] = {0};
  const cb_immersed **body = cb_arena_alloc(run->arena, (size_t)in->n, sizeof *body);
  const char **name = cb_arena_alloc(run->arena, (size_t)in->n, sizeof *name);
  int which = -1;
  if (!body || !name) return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", in->n);
  for (int i = 0; i < in->n; i++) {
    const cb_surface *s = cb_immersed_surface(b->start[i].body);
    body[i] = b->start[i].body;
    name[i] = b->start[i].name;
    for (int k = 0; k < s->vertices; k++) in->length = fmax(in->length, sqrt(cb_dot3(s->x[k], s->x[k])));
  }
  cb_coupled_fluid of = {.fluid = b->fluid, .n = in->n, .body = body, .name = name};
  cb_status status = cb_medium_at(b->fluid->medium, origin, &of.density);
  if (!status) status = take_joints(run, joints, &of);
  if (!status) status = in->coupling->class_->prepare(in->coupling, &of, &which, &in->self);
  return status && which >= 0 ? cb_fail(status, "body `%s`: %s", b->start[which].name, cb_error_text()) : status;
}

static cb_status create(cb_run *run, const cb_fluid_joints *joints) {
  cb_fluid_run *b = run->own;
  cb_status status = check(b);
  if (status) return status;
  const size_t n = (size_t)b->n;
  cb_body_interaction *in = cb_arena_alloc(run->arena, 1, sizeof *in);
  if (!in) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", n);
  *in = (cb_body_interaction){.coupling = b->fluid->coupling,
                              .curvature = b->fluid->curvature,
                              .n = b->n,
                              .added = cb_arena_alloc(run->arena, n, sizeof *in->added),
                              .g = cb_arena_alloc(run->arena, n, sizeof *in->g),
                              .Y = cb_arena_alloc(run->arena, n, sizeof *in->Y),
                              .g_made = cb_arena_alloc(run->arena, n, sizeof *in->g_made),
                              .Y_made = cb_arena_alloc(run->arena, n, sizeof *in->Y_made),
                              .weight = cb_arena_alloc(run->arena, n, sizeof *in->weight),
                              .flow = b->fluid->flow,
                              .relative = cb_arena_alloc(run->arena, n, sizeof *in->relative),
                              .stream = cb_arena_alloc(run->arena, n, sizeof *in->stream),
                              .momentum = cb_arena_alloc(run->arena, n, sizeof *in->momentum),
                              .slope = cb_arena_alloc(run->arena, n, sizeof *in->slope),
                              .energy = cb_arena_alloc(run->arena, n, sizeof *in->energy),
                              .known = cb_arena_alloc(run->arena, n, sizeof *in->known),
                              .Y_known = cb_arena_alloc(run->arena, n, sizeof *in->Y_known),
                              .from = cb_arena_alloc(run->arena, n, sizeof *in->from),
                              .Y_from = cb_arena_alloc(run->arena, n, sizeof *in->Y_from),
                              .Y_middle = cb_arena_alloc(run->arena, n, sizeof *in->Y_middle)};
  if (cb_arena_lost(run->arena) || !cb_anderson_create(6 * b->n, run->arena, &in->anderson))
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", n);
  b->interaction = in;
  status = prepare(run, joints);
  return status ? status : start(run);
}

cb_status cb_body_interaction_create(cb_run *run, const cb_fluid_joints *joints) {
  const cb_fluid_run *b = run->own;
  if (!b->fluid->coupling || b->n == 0) return CB_OK;
  if (!b->integrator->class_->takes_impulses)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the integrator `%s` cannot move coupled bodies: expected hamilton_pontryagin",
                   b->integrator->class_->name);
  const cb_status status = create(run, joints);
  return status && status != CB_ERROR_INPUT ? cb_fail_as(CB_FAILURE_COUPLING, status, "%s", cb_error_text()) : status;
}

void cb_body_interaction_free(cb_run *run) {
  const cb_body_interaction *in = cb_fluid_run_of(run)->interaction;
  if (in && in->self) in->coupling->class_->release(in->self);
}
