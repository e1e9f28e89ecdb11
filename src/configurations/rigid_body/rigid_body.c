/* Rigid bodies and bodies with prescribed shapes, in a fluid or in an empty space: a configuration space SE(3), SO(4)
 * or SO(3,1) per body. Their motion is in run/fluid_run.c. scenario/fluid.c reads the key `fluid`, and
 * scenario/scenario_immersed.c the key `bodies`. */
#include "scenario/fluid.h"
#include "scenario/private.h"
#include "scenario/warnings.h"
#include "view/view_private.h"

static cb_status read_all(cb_scenario *s, const cb_node *root) {
  const cb_node *fluid = cb_scenario_section(root, "fluid"), *bodies = cb_scenario_section(root, "bodies"),
                *space = cb_scenario_section(root, "space"), *potentials = cb_scenario_section(root, "potentials");
  cb_errors errors = cb_errors_begin();
  if (space && cb_errors_add(&errors, space, cb_scenario_read_filled(s, space))) {
    cb_fluid_scenario_of(s)->lost = true;
    return cb_errors_end(&errors); /* the meaning of the other keys depends on the space */
  }
  cb_errors_add(&errors, fluid, cb_scenario_read_fluid(s, fluid));
  cb_errors_add(&errors, potentials, cb_scenario_read_potentials(s, potentials, bodies));
  cb_fluid_scenario *m = cb_fluid_scenario_of(s);
  m->points = cb_scenario_has_points(root);
  const bool points = m->points || cb_scenario_has_joints(root);
  if (points && m->fluid.floor.kind == CB_FLOOR_REFLECTING) {
    m->wall = m->fluid.floor;
    m->fluid.floor.kind = CB_FLOOR_NONE;
    m->points = true;
  }
  if (points && cb_errors_add(&errors, root, cb_scenario_points_begin(s, bodies))) return cb_errors_end(&errors);
  if (bodies) cb_errors_add(&errors, bodies, cb_scenario_read_immersed(s, bodies, !errors.status));
  if (cb_scenario_has_joints(root) && !errors.status)
    cb_errors_add(&errors, root, cb_scenario_place_by_joints(s, root));
  if (points) cb_errors_add(&errors, root, cb_scenario_read_acting(s, root));
  return cb_errors_end(&errors);
}

static cb_status finish(cb_scenario *s, const cb_node *root) {
  return s->builder ? cb_scenario_points_finish(s, root) : CB_OK;
}

static const cb_node *resolve_body(cb_scenario *s, const cb_node *body) {
  return cb_node_get(body, "kind") ? cb_scenario_resolve_body(s, body) : cb_scenario_resolve_immersed(s, body);
}

static cb_status make_run(cb_scenario *s, const cb_run_options *options, cb_run **out) {
  const cb_fluid_scenario *m = s->own;
  const cb_fluid_points points = {m->system, m->n_points, m->point, m->n_vertices, &m->particles, m->joints, m->shapes};
  cb_run_options of_start = *options;
  of_start.project = m->start.project;
  of_start.start_tolerance = m->start.tolerance;
  const cb_status status = cb_scenario_check_curved_run(s);
  return status
             ? status
             : cb_run_create_fluid(&m->fluid, m->n, m->body, m->system ? &points : NULL, s->integrator, &of_start, out);
}

static const char *subject(const cb_scenario *s) { return s->space ? s->space->class_->name : "fluid"; }
static void free_(cb_scenario *s) {
  cb_fluid_scenario *m = s->own;
  cb_system_free(m->system);
  cb_joint_laws_free(m->joint_laws);
  cb_fluid_scenario_free(m);
  cb_builder_free(s->builder);
  s->builder = NULL;
  cb_space_free(m->flat);
}
static int bodies_(const cb_scenario *s) { return cb_fluid_scenario_of(s)->n; }
static const char *body_name(const cb_scenario *s, int i) {
  return i < bodies_(s) ? cb_fluid_scenario_of(s)->body[i].name : "";
}
static const cb_immersed *body(const cb_scenario *s, int i) {
  return i < bodies_(s) ? cb_fluid_scenario_of(s)->body[i].body : NULL;
}

static const cb_problem *const problems[] = {&cb_problem_discrete_lagrangian, &cb_problem_lie_group, NULL};
static const char *const keys[] = {"fluid",  "bodies",      "space",    "potentials", "interactions",
                                   "forces", "constraints", "contacts", "walls",      "events",
                                   "start",  "joints",      "controls", NULL};
static const char *const required[] = {"integrator", "time", "bodies", NULL};
static const cb_section sections[] = {{"time", cb_time_table},
                                      {"integrator", cb_step_table},
                                      {"record", cb_record_table},
                                      {"contacts", cb_scenario_body_contacts_table},
                                      {"start", cb_scenario_start_table},
                                      {NULL, NULL}};

const cb_configuration cb_configuration_rigid_body = {
    .name = "fluid",
    .title = "bodies in a fluid",
    .doc = "A pose per body, rigid or with a prescribed shape: SE(3), or the isometries of a curved space",
    .problems = problems,
    .integrator = "hamilton_pontryagin",
    .keys = keys,
    .required = required,
    .sections = sections,
    .observables = cb_fluid_observables,
    .size = sizeof(cb_fluid_scenario),
    .read = read_all,
    .finish = finish,
    .make_run = make_run,
    .blame = cb_scenario_blame_start,
    .attribute = "space",
    .subject = subject,
    .free = free_,
    .resolve = cb_scenario_resolve_fluid,
    .resolve_body = resolve_body,
    .body_name = body_name,
    .body = body,
    .bodies = bodies_,
    .warn = cb_scenario_warn_of_bodies,
    .drawing = &cb_drawing_bodies};
