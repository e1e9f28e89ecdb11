/* The keys `integrator:`, `time:` and `record:`. */
#include "bodies/place.h"
#include "tree/scalar.h"
#include "scenario/scenario_class.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const cb_param cb_time_table[] = {
    {"start", CB_PARAM_REAL, offsetof(cb_time_parameters, start), "0", "", "", NULL, "time at the start"},
    {"end", CB_PARAM_REAL, offsetof(cb_time_parameters, end), NULL, "", "", NULL, "time at the end"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_param cb_step_table[] = {
    {"step", CB_PARAM_REAL, offsetof(cb_step_parameters, step), NULL, "", "> 0", NULL, "length of a step"},
    {"retries", CB_PARAM_INT, offsetof(cb_step_parameters, retries), "4", "", "[0, 30]", NULL,
     "maximum number of times that a failed step is halved"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct record_parameters {
  int every, checkpoint, compress, sync;
  bool state;
  const cb_node *observables, *chart, *join;
} record_parameters;

const cb_param cb_record_table[] = {
    {"every", CB_PARAM_INT, offsetof(record_parameters, every), "1", "", ">= 1", NULL, "number of steps per row"},
    {"checkpoint", CB_PARAM_INT, offsetof(record_parameters, checkpoint), "0", "", ">= 0", NULL,
     "number of rows per checkpoint; 0: 256, fewer for large systems"},
    {"compress", CB_PARAM_INT, offsetof(record_parameters, compress), "0", "", "[0, 9]", NULL,
     "deflate level; 0: not compressed"},
    {"sync", CB_PARAM_CHOICE, offsetof(record_parameters, sync), "checkpoint", "", "", "checkpoint|never|every flush",
     "when recorded data are synced to the disk: at checkpoints, or at every flush, about once per second"},
    {"state", CB_PARAM_BOOL, offsetof(record_parameters, state), "true", "", "", NULL,
     "record position, momentum and origin"},
    {"join", CB_PARAM_NODE, offsetof(record_parameters, join), "", "", "", NULL,
     "size, such as 20 GB, above which the record stays in segments at the end; if absent, it is always joined"},
    {"observables", CB_PARAM_NODE, offsetof(record_parameters, observables), "", "", "", NULL, "list of observables"},
    {"chart", CB_PARAM_NODE, offsetof(record_parameters, chart), "", "", "", NULL,
     "chart of the observable `coordinates`"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_node *cb_scenario_blame_start(const cb_node *root, cb_status status) {
  const cb_node *start = cb_node_get(root, "start");
  return cb_node_get(root, status == CB_ERROR_ARGUMENT ? "time" : start ? "start" : "bodies");
}

/* Reports a scenario that cannot start, at the node that causes the error. */
static cb_status fail_at_start(const cb_scenario *s, const cb_node *root, cb_status status) {
  const cb_node *node = s->class->blame ? s->class->blame(root, status) : NULL;
  return cb_node_fail(node ? node : cb_node_get(root, s->class->name), "%s", cb_error_text());
}

static cb_status make_integrator(cb_scenario *s, const cb_node *root, const cb_node *node) {
  const cb_node *name_node = cb_node_get(node, "name");
  const char *name = s->class->integrator;
  cb_status status = name_node ? cb_node_string(name_node, &name) : CB_OK;
  if (status) return status;
  const cb_system *system = cb_scenario_system(s);
  if (s->class->system && !system) return cb_scenario_check_map("integrator", node);
  status = cb_integrator_create_for(name, node, s->class->problems, system, &s->integrator);
  return status > 0 ? fail_at_start(s, root, status) : status;
}

static bool has_row(const cb_param *table, const char *name) {
  while (table->name && strcmp(table->name, name)) table++;
  return table->name != NULL;
}

static cb_status read_integrator(cb_scenario *s, const cb_node *root, const cb_node *node, cb_step_parameters *step) {
  if (!node) return CB_OK; /* the error was reported */
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "expected a map with `name` and `step`");
  static const char *const shared[] = {"name", "step", "retries"};
  const cb_node *retries = cb_node_get(node, "retries");
  /* the other keys are parameters of the integrator and are checked when it is made */
  const char **others = cb_arena_alloc(s->arena, node->count, sizeof *others);
  if (!others) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu keys", node->count);
  for (size_t i = 0; i < node->count; i++) others[i] = node->keys[i]->text;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, make_integrator(s, root, node));
  if (retries && !has_row(cb_scenario_table(s, "integrator"), "retries"))
    cb_errors_add(&errors, retries,
                  cb_node_fail(retries, "`retries` does not apply to gaits: their steps are never halved"));
  if (cb_node_get(node, "step") || !cb_node_misspelt(node, "step", shared, 3))
    cb_errors_add(&errors, node,
                  cb_params_bind(cb_scenario_table(s, "integrator"), node, node, others, node->count, step));
  return cb_errors_end(&errors);
}

static cb_status read_observables(cb_scenario *s, const cb_node *list, const char *const **out) {
  const cb_observable_doc *groups = s->class->observables;
  if (!list || list->kind == CB_NODE_NULL) {
    *out = NULL;
    return CB_OK;
  }
  if (list->kind != CB_NODE_LIST)
    return cb_node_fail(list, "expected a list of observables, such as [separation, energy]");
  const char *known[32];
  size_t count = 0;
  for (; count < 32 && groups[count].name; count++) known[count] = groups[count].name;
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
  if (!s->class->charts)
    return p->chart ? cb_node_fail(p->chart, "`chart` applies only to scenarios with particles in a space") : CB_OK;
  if (!s->space) return CB_OK; /* the space could not be read */
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
  return options->chart ? CB_OK : cb_place_unknown_chart(p->chart, s->space, name);
}

static cb_status read_record(cb_scenario *s, const cb_node *node, const cb_node *root, cb_run_options *options) {
  record_parameters p;
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, node, cb_params_bind(cb_record_table, node, root, NULL, 0, &p)))
    cb_params_bind_right(cb_record_table, node, &p);
  cb_errors_add(&errors, p.observables, read_observables(s, p.observables, &options->observables));
  cb_errors_add(&errors, p.chart, read_chart(s, &p, options));
  s->record.join_bytes = 0;
  if (p.join) cb_errors_add(&errors, p.join, cb_scalar_bytes(p.join, "join", &s->record.join_bytes));
  options->every = p.every;
  options->checkpoint = p.checkpoint;
  options->state = p.state;
  s->record.deflate = p.compress;
  s->record.sync = (cb_record_sync)p.sync;
  return cb_errors_end(&errors);
}

static cb_status read_time(cb_scenario *s, const cb_node *node, const cb_node *root, cb_time_parameters *time) {
  if (!node && !s->class->length) return CB_OK; /* the error was reported */
  const cb_status status = cb_params_bind(cb_scenario_table(s, "time"), node, root, NULL, 0, time);
  if (status) return status;
  if (isnan(time->end)) time->end = time->start + s->class->length(s);
  if (time->end < time->start)
    return cb_node_fail(cb_node_get(node, "end"), "the end %g is before the start %g: expected a later end", time->end,
                        time->start);
  return CB_OK;
}

static cb_status start_run(cb_scenario *s, const cb_node *root, const cb_run_options *options) {
  const cb_status status = s->class->make_run(s, options, &s->run);
  if (!status || status == CB_ERROR_MEMORY || status == CB_ERROR_FILE || cb_failure_last().placed) return status;
  const cb_node *coupling = cb_node_get(cb_node_get(root, "fluid"), "coupling");
  if (coupling && cb_failure_last().kind == CB_FAILURE_COUPLING) return cb_node_fail(coupling, "%s", cb_error_text());
  if (status == CB_ERROR_UNSUPPORTED) return cb_node_fail(cb_node_get(root, "integrator"), "%s", cb_error_text());
  const cb_node *observables = cb_node_get(cb_node_get(root, "record"), "observables");
  const bool of_these = observables && cb_failure_last().kind == CB_FAILURE_OBSERVABLE;
  return of_these ? cb_node_fail(observables, "%s", cb_error_text()) : fail_at_start(s, root, status);
}

cb_status cb_scenario_read_run(cb_scenario *s, const cb_node *root, bool whole) {
  const cb_node *time_node = cb_scenario_section(root, "time"), *integrator = cb_scenario_section(root, "integrator"),
                *record = cb_scenario_section(root, "record");
  cb_time_parameters time = {0, 0};
  cb_step_parameters step = {0};
  cb_run_options options = {0};
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, time_node, read_time(s, time_node, root, &time));
  cb_errors_add(&errors, integrator, read_integrator(s, root, integrator, &step));
  cb_errors_add(&errors, record, read_record(s, record, root, &options));
  options.start = time.start;
  options.end = time.end;
  options.step = step.step;
  options.retries = step.retries;
  if (whole && !errors.status) cb_errors_add(&errors, root, start_run(s, root, &options));
  return cb_errors_end(&errors);
}
