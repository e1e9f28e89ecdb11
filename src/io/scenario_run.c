/* `integrator:`, `time:` and `record:`. */
#include "core/scalar.h"
#include "io/scenario_bundle.h"
#include "io/scenario_fluid.h"
#include "run/fibre.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct time_parameters {
  double start, end;
} time_parameters;

static const cb_param time_table[] = {
    {"start", CB_PARAM_REAL, offsetof(time_parameters, start), "0", "", "", NULL, "time at the start"},
    {"end", CB_PARAM_REAL, offsetof(time_parameters, end), NULL, "", "", NULL, "time at the end"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* Of a gait: it ends with its last cycle. */
static const cb_param gait_time_table[] = {
    {"start", CB_PARAM_REAL, offsetof(time_parameters, start), "0", "s", "", NULL,
     "time at the start; a cycle begins at time 0"},
    {"end", CB_PARAM_REAL, offsetof(time_parameters, end), "nan", "s", "", NULL,
     "time at the end (default: start + repeat*period of the gait)"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct step_parameters {
  double step;
  int retries;
} step_parameters;

static const cb_param step_table[] = {
    {"step", CB_PARAM_REAL, offsetof(step_parameters, step), NULL, "", "> 0", NULL, "length of a step"},
    {"retries", CB_PARAM_INT, offsetof(step_parameters, retries), "4", "", "[0, 30]", NULL,
     "times a failed step may be halved"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* Along a fibre a step is not halved: it would step over what is singular. */
static const cb_param gait_step_table[] = {
    {"step", CB_PARAM_REAL, offsetof(step_parameters, step), NULL, "s", "> 0", NULL, "length of a step"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct record_parameters {
  int every, checkpoint, compress;
  bool state;
  const cb_node *observables, *chart;
} record_parameters;

static const cb_param record_table[] = {
    {"every", CB_PARAM_INT, offsetof(record_parameters, every), "1", "", ">= 1", NULL, "steps a row"},
    {"checkpoint", CB_PARAM_INT, offsetof(record_parameters, checkpoint), "0", "", ">= 0", NULL,
     "rows a checkpoint; 0: 256, fewer for large systems"},
    {"compress", CB_PARAM_INT, offsetof(record_parameters, compress), "0", "", "[0, 9]", NULL,
     "deflate level; 0: not compressed"},
    {"state", CB_PARAM_BOOL, offsetof(record_parameters, state), "true", "", "", NULL,
     "record position, momentum and origin"},
    {"observables", CB_PARAM_NODE, offsetof(record_parameters, observables), "", "", "", NULL, "list of observables"},
    {"chart", CB_PARAM_NODE, offsetof(record_parameters, chart), "", "", "", NULL,
     "chart of the observable `coordinates`"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_param *cb_scenario_table(const cb_scenario *s, const char *key) {
  if (s->locomotion)
    return !strcmp(key, "time")         ? gait_time_table
           : !strcmp(key, "integrator") ? gait_step_table
           : !strcmp(key, "record")     ? record_table
           : !strcmp(key, "start")      ? cb_group_table
           : !strcmp(key, "gait")       ? cb_gait_table
                                        : NULL;
  return !strcmp(key, "time")         ? time_table
         : !strcmp(key, "integrator") ? step_table
         : !strcmp(key, "record")     ? record_table
         : !strcmp(key, "contacts")   ? cb_scenario_contacts_table
         : !strcmp(key, "start")      ? cb_scenario_start_table
                                      : NULL;
}

static cb_status make_integrator(cb_scenario *s, const cb_node *node) {
  const cb_node *name_node = cb_node_get(node, "name");
  const char *name = cb_scenario_method(s->locomotion, s->immersion);
  const cb_status status = name_node ? cb_node_string(name_node, &name) : CB_OK;
  if (status) return status;
  if (!s->locomotion && !s->immersion && !s->system) return cb_scenario_check_map("integrator", node);
  return cb_integrator_create_for(name, node,
                                  s->locomotion  ? &cb_configuration_bundle
                                  : s->immersion ? &cb_configuration_fluid
                                                 : &cb_configuration_particles,
                                  s->system, &s->integrator);
}

static cb_status read_integrator(cb_scenario *s, const cb_node *node, step_parameters *step) {
  if (!node) return CB_OK; /* told */
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "expected a map with `name` and `step`");
  static const char *const shared[] = {"name", "step", "retries"};
  const cb_node *retries = cb_node_get(node, "retries");
  /* the other keys are the method's own and are checked when it is made */
  const char **others = cb_arena_alloc(s->arena, node->count, sizeof *others);
  if (!others) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu keys", node->count);
  for (size_t i = 0; i < node->count; i++) others[i] = node->keys[i]->text;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, make_integrator(s, node));
  if (s->locomotion && retries)
    cb_errors_add(&errors, retries,
                  cb_node_fail(retries, "`retries` belongs to others: a step of a gait is not halved"));
  if (cb_node_get(node, "step") || !cb_node_misspelt(node, "step", shared, 3))
    cb_errors_add(&errors, node,
                  cb_params_bind(cb_scenario_table(s, "integrator"), node, node, others, node->count, step));
  return cb_errors_end(&errors);
}

static cb_status read_observables(cb_scenario *s, const cb_node *list, const char *const **out) {
  const cb_observable_doc *groups = s->locomotion  ? cb_fibre_observables
                                    : s->immersion ? cb_body_observables
                                                   : cb_observable_groups;
  if (!list || list->kind == CB_NODE_NULL) return *out = NULL, CB_OK;
  if (list->kind != CB_NODE_LIST)
    return cb_node_fail(list, "expected a list of observables, such as [separation, energy]");
  const char *known[32];
  size_t count = 0;
  for (; groups[count].name && count < 32; count++) known[count] = groups[count].name;
  const char **names = cb_arena_alloc(s->arena, list->count + 1, sizeof *names);
  if (!names) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu observables", list->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < list->count; i++) {
    if (cb_errors_add(&errors, list->items[i], cb_node_string(list->items[i], &names[i]))) continue;
    bool found = false;
    for (size_t j = 0; j < count; j++) found = found || !strcmp(known[j], names[i]);
    if (!found)
      cb_errors_add(&errors, list->items[i], cb_fail_unknown(list->items[i], "observable", names[i], known, count));
  }
  const cb_status status = cb_errors_end(&errors);
  if (!status) *out = names;
  return status;
}

static cb_status read_chart(cb_scenario *s, const record_parameters *p, cb_run_options *options) {
  bool coordinates = false;
  const char *name;
  if (!s->space && (s->immersion || s->locomotion))
    return p->chart ? cb_node_fail(p->chart, "`chart` belongs to particles in a space") : CB_OK;
  if (!s->space) return CB_OK; /* it has failed */
  for (const char *const *other = options->observables; other && *other; other++)
    coordinates = coordinates || !strcmp(*other, "coordinates");
  if (!p->chart && !coordinates) return CB_OK;
  if (!p->chart) {
    options->chart = s->space->chart ? s->space->chart : cb_chart_find(s->space, "polar");
    return options->chart ? CB_OK
                          : cb_node_fail(p->observables, "the observable `coordinates` needs `chart` in `record`");
  }
  const cb_status status = cb_node_string(p->chart, &name);
  if (status) return status;
  options->chart = cb_chart_find(s->space, name);
  if (options->chart) return CB_OK;
  const char *names[CB_CHART_MAX];
  const size_t count = cb_chart_count(s->space);
  for (size_t i = 0; i < count; i++) names[i] = cb_chart_at(s->space, i)->name;
  return cb_fail_unknown(p->chart, "chart", name, names, count);
}

static cb_status read_record(cb_scenario *s, const cb_node *node, const cb_node *root, cb_run_options *options) {
  record_parameters p;
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, node, cb_params_bind(record_table, node, root, NULL, 0, &p)))
    cb_params_bind_right(record_table, node, &p);
  cb_errors_add(&errors, p.observables, read_observables(s, p.observables, &options->observables));
  cb_errors_add(&errors, p.chart, read_chart(s, &p, options));
  options->every = p.every;
  options->checkpoint = p.checkpoint;
  options->state = p.state;
  s->compression = p.compress;
  return cb_errors_end(&errors);
}

/* What a run of a gait is refused for: an observable that its bundle has not, or its times. */
static const cb_node *run_failure(const cb_node *root, const cb_node *time_node) {
  const cb_node *observables = cb_node_get(cb_node_get(root, "record"), "observables");
  return observables && cb_failure_last().kind == CB_FAILURE_OBSERVABLE ? observables : time_node;
}

static cb_status make_run(cb_scenario *s, const cb_run_options *options) {
  const cb_locomotion *l = s->locomotion;
  const cb_immersion *m = s->immersion;
  if (l)
    return cb_run_create_fibre(&(cb_fibre_path){l->bundle, l->gait, l->period}, l->start, s->integrator, options,
                               &s->run);
  return m ? cb_run_create_bodies(&m->fluid, m->n, m->body, s->integrator, options, &s->run)
           : cb_run_create(s->system, s->integrator, options, &s->run);
}

static cb_status read_time(cb_scenario *s, const cb_node *node, const cb_node *root, time_parameters *time) {
  if (!node && !s->locomotion) return CB_OK; /* told */
  const cb_status status = cb_params_bind(cb_scenario_table(s, "time"), node, root, NULL, 0, time);
  if (status) return status;
  if (isnan(time->end)) time->end = time->start + s->locomotion->repeat * s->locomotion->period;
  if (time->end < time->start)
    return cb_node_fail(cb_node_get(node, "end"), "the end %g lies before the start %g", time->end, time->start);
  return CB_OK;
}

static cb_status start_run(cb_scenario *s, const cb_node *root, const cb_run_options *options) {
  const cb_status status = make_run(s, options);
  if (status != CB_ERROR_ARGUMENT && status != CB_ERROR_DOMAIN) return status;
  const cb_node *start = cb_node_get(root, "start"), *bodies = cb_node_get(root, "bodies"),
                *time_node = cb_node_get(root, "time");
  if (!time_node) time_node = cb_node_get(root, "gait"); /* the end is its last cycle's */
  if (s->locomotion) return cb_node_fail(run_failure(root, time_node), "%s", cb_error_text());
  return cb_node_fail(status == CB_ERROR_ARGUMENT ? time_node : start ? start : bodies, "%s", cb_error_text());
}

cb_status cb_scenario_read_run(cb_scenario *s, const cb_node *root, bool whole) {
  const cb_node *time_node = cb_scenario_section(root, "time"), *integrator = cb_scenario_section(root, "integrator"),
                *record = cb_scenario_section(root, "record");
  time_parameters time = {0, 0};
  step_parameters step = {0};
  cb_run_options options = {0};
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, time_node, read_time(s, time_node, root, &time));
  cb_errors_add(&errors, integrator, read_integrator(s, integrator, &step));
  cb_errors_add(&errors, record, read_record(s, record, root, &options));
  options.start = time.start;
  options.end = time.end;
  options.step = step.step;
  options.retries = step.retries;
  options.project = s->project;
  options.start_tolerance = s->start_tolerance;
  if (whole && !errors.status) cb_errors_add(&errors, root, start_run(s, root, &options));
  return cb_errors_end(&errors);
}
