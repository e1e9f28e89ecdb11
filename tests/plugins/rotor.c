/* A plugin with a configuration space: a free rigid rotor on SO(3), about its centre.
 *
 *   R' = R hat(w),  (I w)' = I w × w;  conserved: w.Iw/2 and R I w
 *
 * R turns body axes into axes of the world, w is the angular velocity in the body frame, hat(w) the matrix of the cross
 * product with w, and I the moments of inertia. The problem is that of the built-in integrators for a body
 * (curvebody/rigid.h), with mass 1 and no force. Source: Goldstein, Poole & Safko, Classical Mechanics (2002), chapter
 * 5. */
#include <curvebody/plugin.h>
#include <math.h>
#include <stddef.h>

typedef struct rotor { /* the data of a scenario: `rotor: {moments: [1, 2, 3], spin: [0, 1, 0.1]}` */
  const cb_node *moments, *spin;
  double moment[3], w[3];
} rotor;

static const cb_param table[] = {
    {"moments", CB_PARAM_NODE, offsetof(rotor, moments), NULL, "kg m2", "", NULL, "principal moments of inertia"},
    {"spin", CB_PARAM_NODE, offsetof(rotor, spin), NULL, "1/s", "", NULL,
     "angular velocity at the start, in the principal axes"},
    {NULL, CB_PARAM_REAL, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct rotor_run {
  cb_integrator *integrator;
  cb_rigid_constant constant;
  cb_rigid_problem problem;
  cb_rigid_state state;
  double t_low, spin[3], energy;
  int64_t step;
} rotor_run;

static cb_status inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  const cb_rigid_constant *c = self;
  (void)t, (void)g;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) K[i][j] = c->K[i][j];
  for (int i = 0; i < 6; i++) mu0[i] = 0;
  return CB_OK;
}

/* --- the motion --- */

static cb_status step(cb_run *run, cb_sink *sink, double h) {
  rotor_run *r = cb_run_own(run);
  (void)sink;
  r->integrator->problem = &r->problem;
  const cb_status status = cb_integrator_step(r->integrator, &r->state, h);
  if (status) return cb_fail(CB_ERROR_STEP, "at time %g: %s", r->state.t, cb_error_text());
  r->step++;
  return CB_OK;
}

static cb_status measure(cb_run *run, const char **what) {
  rotor_run *r = cb_run_own(run);
  double Y[6];
  *what = "spin";
  const cb_status status = cb_rigid_twist(&r->problem, &r->state, Y);
  r->energy = 0;
  for (int i = 0; i < 3 && !status; i++) {
    r->spin[i] = Y[i];
    r->energy += r->constant.K[i][i] * Y[i] * Y[i] / 2;
  }
  return status;
}

static void forget(cb_run *run) { cb_integrator_reset(((rotor_run *)cb_run_own(run))->integrator); }

static const char *const measured[] = {"time", "step", "orientation", "spin", "momentum", "energy", NULL};
static const cb_motion motion = {.step = step, .measure = measure, .forget = forget, .measured = measured};

#define OWN(group, name, unit, doc, member, rank, ...) \
  { group, {name, CB_FIELD_DOUBLE, rank, {__VA_ARGS__}, unit, doc}, cb_fill_own, offsetof(rotor_run, member) }
static const cb_observable fields[] = {
    {"", {"time", CB_FIELD_DOUBLE, 0, {0}, "s", "time"}, cb_fill_time, 0},
    {"", {"step", CB_FIELD_INT64, 0, {0}, "1", "steps so far"}, cb_fill_step, 0},
    OWN("", "orientation", "1", "unit quaternion", state.g.q, 1, "quaternion"),
    OWN("", "spin", "1/s", "angular velocity in the body frame", spin, 1, "axis"),
    OWN("momentum", "momentum", "kg m2/s", "angular momentum in the world", state.world, 1, "axis"),
    OWN("", "energy", "J", "kinetic energy", energy, 0, 0),
    {NULL, {NULL, CB_FIELD_DOUBLE, 0, {0}, NULL, NULL}, NULL, 0}};
static const cb_observable_doc groups[] = {{"momentum", "momentum", "angular momentum in the world"},
                                           {NULL, NULL, NULL}};
static const char *const usual[] = {"momentum", NULL};

static cb_status start(cb_run *run, const rotor *m, double t, cb_integrator *integrator) {
  rotor_run *r = cb_run_own(run);
  const cb_pose at_rest = {.q = {1, 0, 0, 0}};
  const double Y[6] = {m->w[0], m->w[1], m->w[2]}, none[6] = {0};
  double K[6][6] = {{0}};
  for (int i = 0; i < 3; i++) K[i][i] = m->moment[i];
  for (int i = 3; i < 6; i++) K[i][i] = 1;
  cb_status status = cb_rigid_constant_of((const double(*)[6])K, none, &r->constant);
  r->problem = (cb_rigid_problem){.self = &r->constant, .inertia = inertia, .constant = &r->constant, .exact = true};
  r->integrator = integrator;
  if (!status) status = cb_rigid_start(&r->problem, t, &at_rest, Y, &r->state);
  if (!status) status = cb_run_choose(run, groups, usual);
  if (status) return status;
  cb_run_clock(run, &r->state.t, &r->t_low, &r->step, &integrator->iterations);
  cb_run_dimension(run, "axis", 3, "principal axis");
  cb_run_dimension(run, "quaternion", 4, "w, x, y, z");
  const cb_blob blobs[] = {{"step", CB_FIELD_INT64, 1, &r->step, false},
                           {"rotor", CB_FIELD_DOUBLE, sizeof r->state / sizeof(double), &r->state, false}};
  status = cb_run_fields(run, fields);
  return status ? status : cb_run_finish_layout(run, blobs, 2);
}

/* --- the scenario --- */

static cb_status read_rotor(cb_scenario *s, const cb_node *root) {
  rotor *m = cb_scenario_own(s);
  const cb_node *node = cb_node_get(root, "rotor");
  if (!node) return CB_OK;
  cb_status status = cb_params_bind(table, node, root, NULL, 0, m);
  if (!status) status = cb_node_reals(m->moments, 3, m->moment);
  if (!status) status = cb_node_reals(m->spin, 3, m->w);
  for (int i = 0; i < 3 && !status; i++)
    if (!(m->moment[i] > 0)) status = cb_node_fail(m->moments, "moments: expected numbers > 0, found %g", m->moment[i]);
  return status;
}

static cb_status make_run(cb_scenario *s, const cb_run_options *options, cb_run **out) {
  cb_run *run;
  cb_status status = cb_run_new(&motion, options, sizeof(cb_rigid_state) / sizeof(double), sizeof(rotor_run), &run);
  if (status) return status;
  status = start(run, cb_scenario_own(s), options->start, cb_scenario_integrator(s));
  if (status)
    cb_run_free(run);
  else
    *out = run;
  return status;
}

static const char *subject(const cb_scenario *s) {
  (void)s;
  return "SO(3)";
}

static const cb_problem *const problems[] = {&cb_problem_discrete_lagrangian, &cb_problem_lie_group, NULL};
static const char *const keys[] = {"rotor", NULL}, *const required[] = {"integrator", "time", NULL};
static const cb_section sections[] = {{"time", cb_time_table},
                                      {"integrator", cb_step_table},
                                      {"record", cb_record_table},
                                      {"rotor", table},
                                      {NULL, NULL}};

static const cb_configuration configuration = {.name = "rotor",
                                               .title = "a free rotor",
                                               .doc = "A rigid body on SO(3) without torque",
                                               .problems = problems,
                                               .integrator = "rkmk4",
                                               .keys = keys,
                                               .required = required,
                                               .sections = sections,
                                               .observables = groups,
                                               .size = sizeof(rotor),
                                               .read = read_rotor,
                                               .make_run = make_run,
                                               .attribute = "space",
                                               .subject = subject};

CB_PLUGIN(CB_PLUGIN_CONFIGURATION(&configuration));
