/* `integrator:`, `time:` and `record:`. */
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

static cb_status read_integrator(cb_scenario *s, const cb_node *root, step_parameters *step) {
  const cb_node *node = cb_node_get(root, "integrator");
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "expected a map with `name` and `step`");
  const cb_node *name_node = cb_node_get(node, "name");
  const char *name = cb_scenario_method(root);
  cb_status status = name_node ? cb_node_string(name_node, &name) : CB_OK;
  if (!status)
    status = cb_integrator_create_for(name, node,
                                      s->locomotion  ? &cb_configuration_bundle
                                      : s->immersion ? &cb_configuration_fluid
                                                     : &cb_configuration_particles,
                                      s->system, &s->integrator);
  if (status) return status;
  if (s->locomotion && cb_node_get(node, "retries"))
    return cb_node_fail(cb_node_get(node, "retries"), "`retries` belongs to others: a step of a gait is not halved");
  /* the other keys are the method's own and were checked when it was made */
  const char **others = cb_arena_alloc(s->arena, node->count, sizeof *others);
  if (!others) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu keys", node->count);
  for (size_t i = 0; i < node->count; i++) others[i] = node->keys[i]->text;
  return cb_params_bind(cb_scenario_table(s, "integrator"), node, node, others, node->count, step);
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
  for (size_t i = 0; i < list->count; i++) {
    cb_status status = cb_node_string(list->items[i], &names[i]);
    if (status) return status;
    bool found = false;
    for (size_t j = 0; j < count; j++) found = found || !strcmp(known[j], names[i]);
    if (found) continue;
    const char *near = cb_nearest_name(names[i], known, count);
    return near ? cb_node_fail(list->items[i], "no observable `%s`; did you mean `%s`?", names[i], near)
                : cb_node_fail(list->items[i], "no observable `%s`; see `curvebody list observables`", names[i]);
  }
  *out = names;
  return CB_OK;
}

static cb_status read_record(cb_scenario *s, const cb_node *node, const cb_node *root, cb_run_options *options) {
  record_parameters p;
  cb_status status = cb_params_bind(record_table, node, root, NULL, 0, &p);
  if (!status) status = read_observables(s, p.observables, &options->observables);
  if (status) return status;
  options->every = p.every;
  options->checkpoint = p.checkpoint;
  options->state = p.state;
  s->compression = p.compress;
  bool coordinates = false;
  for (const char *const *name = options->observables; name && *name; name++)
    coordinates = coordinates || !strcmp(*name, "coordinates");
  if (p.chart) {
    const char *name;
    if (!s->space) return cb_node_fail(p.chart, "`chart` belongs to particles in a space");
    if ((status = cb_node_string(p.chart, &name))) return status;
    options->chart = cb_chart_find(s->space, name);
    if (!options->chart) {
      const char *names[CB_CHART_MAX];
      for (size_t i = 0; i < cb_chart_count(s->space); i++) names[i] = cb_chart_at(s->space, i)->name;
      const char *near = cb_nearest_name(name, names, cb_chart_count(s->space));
      return near ? cb_node_fail(p.chart, "the space has no chart `%s`; did you mean `%s`?", name, near)
                  : cb_node_fail(p.chart, "the space has no chart `%s`; see `curvebody list spaces`", name);
    }
  } else if (coordinates) {
    options->chart = s->space->chart ? s->space->chart : cb_chart_find(s->space, "polar");
    if (!options->chart) return cb_node_fail(p.observables, "the observable `coordinates` needs `chart` in `record`");
  }
  return CB_OK;
}

/* What a run of a gait is refused for: an observable that its bundle has not, or its times. */
static const cb_node *run_failure(const cb_node *root, const cb_node *time_node) {
  const cb_node *observables = cb_node_get(cb_node_get(root, "record"), "observables");
  return observables && strstr(cb_error_text(), "observable") ? observables : time_node;
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

cb_status cb_scenario_read_run(cb_scenario *s, const cb_node *root) {
  const cb_node *time_node = cb_node_get(root, "time");
  time_parameters time;
  step_parameters step = {0};
  cb_run_options options = {0};
  cb_status status = cb_params_bind(cb_scenario_table(s, "time"), time_node, root, NULL, 0, &time);
  if (status) return status;
  if (isnan(time.end)) time.end = time.start + s->locomotion->repeat * s->locomotion->period;
  if (time.end < time.start)
    return cb_node_fail(cb_node_get(time_node, "end"), "the end %g lies before the start %g", time.end, time.start);
  status = read_integrator(s, root, &step);
  if (!status) status = read_record(s, cb_node_get(root, "record"), root, &options);
  if (status) return status;
  options.start = time.start;
  options.end = time.end;
  options.step = step.step;
  options.retries = step.retries;
  options.project = s->project;
  options.start_tolerance = s->start_tolerance;
  status = make_run(s, &options);
  if (status == CB_ERROR_ARGUMENT || status == CB_ERROR_DOMAIN) {
    const cb_node *start = cb_node_get(root, "start"), *bodies = cb_node_get(root, "bodies");
    if (!time_node) time_node = cb_node_get(root, "gait"); /* the end is its last cycle's */
    if (s->locomotion) return cb_node_fail(run_failure(root, time_node), "%s", cb_error_text());
    return cb_node_fail(status == CB_ERROR_ARGUMENT ? time_node : start ? start : bodies, "%s", cb_error_text());
  }
  return status;
}
