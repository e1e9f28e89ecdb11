/* curvebody list [SECTION] [--json]
 *
 * It prints the registries, from the same tables that read a scenario. */
#include "cli/cli.h"

#include "bundle/gait_private.h"
#include "fluid/body_coupling.h"
#include "geometry/text_metric.h"
#include "scenario/bundle_scenario.h"
#include "scenario/private.h"
#include "sweep/task.h"
#include <curvebody/body.h>
#include <curvebody/contact.h>
#include <curvebody/flow.h>
#include <curvebody/joint.h>
#include <curvebody/fluid_model.h>
#include <curvebody/medium.h>
#include <curvebody/pair_potential.h>
#include <curvebody/reduction.h>
#include <string.h>

/* The state of printing entries, as text or as JSON. */
typedef struct printer {
  bool json, first;
  cb_status status;
} printer;

static void begin(printer *p, const char *name, const char *title, const char *doc, const cb_param *params) {
  static const char *const types[] = {"real", "int", "bool", "text", "choice", "structure"};
  if (!p->json) {
    printf("  %-16s %s%s%s\n", name, title, *title && *doc ? ". " : "", doc);
    for (const cb_param *row = params; row && row->name; row++) {
      const char *unit = row->unit && *row->unit ? row->unit : row->type <= CB_PARAM_INT ? "dimensionless" : "";
      printf("    %-14s %s", row->name, row->type == CB_PARAM_CHOICE ? row->choices : types[row->type]);
      if (*unit) printf(" (%s)", unit);
      if (row->range && *row->range) printf(" %s", row->range);
      if (!row->fallback)
        printf(", required");
      else if (*row->fallback && strcmp(row->fallback, "nan"))
        printf(", default %s", row->fallback);
      printf(": %s\n", row->doc);
    }
    return;
  }
  printf("%s\n    {\"name\": ", p->first ? "" : ",");
  p->first = false;
  cli_json_text(stdout, name);
  printf(", \"title\": ");
  cli_json_text(stdout, title);
  printf(", \"doc\": ");
  cli_json_text(stdout, doc);
  printf(", \"parameters\": [");
  for (const cb_param *row = params; row && row->name; row++) {
    printf("%s{\"name\": ", row == params ? "" : ", ");
    cli_json_text(stdout, row->name);
    printf(", \"type\": \"%s\", \"unit\": ", types[row->type]);
    cli_json_text(stdout, row->unit && *row->unit ? row->unit : "1");
    printf(", \"default\": ");
    if (row->fallback)
      cli_json_text(stdout, row->fallback);
    else
      printf("null");
    printf(", \"range\": ");
    cli_json_text(stdout, row->range ? row->range : "");
    printf(", \"choices\": ");
    cli_json_text(stdout, row->choices ? row->choices : "");
    printf(", \"doc\": ");
    cli_json_text(stdout, row->doc);
    printf("}");
  }
  printf("]");
}

static void entry(printer *p, const char *name, const char *title, const char *doc, const cb_param *params) {
  begin(p, name, title, doc, params);
  if (p->json) printf("}");
}

/* Names of charts and of Killing fields, which are printed inside the entry of a space. */
static const char *chart_name(const cb_space *g, size_t i) { return cb_chart_at(g, i)->name; }
static const char *killing_name(const cb_space *g, size_t i) { return g->killing[i].name; }

static void names_of(const printer *p, const char *heading, const char *key, const cb_space *g, size_t count,
                     const char *(*name)(const cb_space *, size_t)) {
  if (p->json)
    printf(", \"%s\": [", key);
  else
    printf("    %-14s", heading);
  for (size_t i = 0; i < count; i++)
    if (p->json) {
      fputs(i ? ", " : "", stdout);
      cli_json_text(stdout, name(g, i));
    } else {
      printf(" %s", name(g, i));
    }
  fputs(p->json ? "]" : "\n", stdout);
}

static void spaces(printer *p) {
  for (size_t i = 0; cb_space_classes[i]; i++) {
    const cb_space_class *c = cb_space_classes[i];
    begin(p, c->name, c->title, c->doc, c->params);
    cb_space *g;
    const cb_status status = cb_space_create(c->name, NULL, &g);
    if (status == CB_ERROR_MEMORY) p->status = status;
    if (!status) { /* a space with required parameters cannot be created without them */
      names_of(p, "charts", "charts", g, cb_chart_count(g), chart_name);
      names_of(p, "Killing fields", "killing_fields", g, (size_t)g->n_killing, killing_name);
      cb_space_free(g);
    }
    if (p->json) printf("}");
  }
  const cb_space_class *text = &cb_text_metric_class;
  entry(p, text->name, text->title, text->doc, text->params);
}

static void systems(printer *p) {
  entry(p, "system", "A configuration space without bodies, in place of `space` and `bodies`",
        "L = (1/2) g(q) q' q' - V(q, t) with 1 to 12 coordinates. It also has the keys of a `metric`: metric, "
        "coordinates, parameters, domain, periodic, base, plot",
        cb_scenario_system_table);
}

static void bodies(printer *p) {
  for (size_t i = 0; cb_body_classes[i]; i++)
    entry(p, cb_body_classes[i]->name, cb_body_classes[i]->title, cb_body_classes[i]->doc, cb_body_classes[i]->params);
}

static void shapes(printer *p) {
  for (size_t i = 0; cb_shape_classes[i]; i++)
    entry(p, cb_shape_classes[i]->name, cb_shape_classes[i]->title, cb_shape_classes[i]->doc,
          cb_shape_classes[i]->params);
}

static void constraints(printer *p) {
  for (size_t i = 0; cb_constraint_classes[i]; i++)
    entry(p, cb_constraint_classes[i]->name, cb_constraint_classes[i]->title, cb_constraint_classes[i]->doc,
          cb_constraint_classes[i]->params);
}

static void contacts(printer *p) {
  entry(p, "contacts", "Contacts of spheres and surfaces",
        "Between different bodies, between the bodies in `between`, and `within` bodies", cb_scenario_contacts_table);
  entry(p, "contacts", "Contacts of bodies in a fluid",
        "Between `spheres`, particles and, with `shapes`, complete bodies", cb_scenario_body_contacts_table);
  entry(p, "contacts", "Contacts of a system with walls", "The point of a system touches only walls",
        cb_scenario_wall_contacts_table);
}

static void gap_class(printer *p, const cb_gap_class *c, bool event) {
  cb_param rows[CB_GAP_ROWS];
  cb_scenario_gap_rows(c, event, rows);
  entry(p, c->name, c->title, c->doc, rows);
}

static void walls(printer *p) {
  for (size_t i = 0; cb_wall_classes[i]; i++) gap_class(p, cb_wall_classes[i], false);
}

static void events(printer *p) {
  for (size_t i = 0; cb_event_classes[i]; i++) gap_class(p, cb_event_classes[i], true);
}

static void joints(printer *p) {
  for (size_t i = 0; cb_joint_classes[i]; i++)
    entry(p, cb_joint_classes[i]->name, cb_joint_classes[i]->title, cb_joint_classes[i]->doc,
          cb_joint_classes[i]->params);
}

static void couplings(printer *p) {
  for (size_t i = 0; cb_body_coupling_classes[i]; i++)
    entry(p, cb_body_coupling_classes[i]->name, cb_body_coupling_classes[i]->title, cb_body_coupling_classes[i]->doc,
          cb_body_coupling_classes[i]->params);
}

static void integrators(printer *p) {
  for (size_t i = 0; cb_integrator_classes[i]; i++)
    entry(p, cb_integrator_classes[i]->name, cb_integrator_classes[i]->title, cb_integrator_classes[i]->doc,
          cb_integrator_classes[i]->params);
}

static void observables(printer *p) {
  const cb_configuration *const usual = cb_scenario_usual_class(), *c;
  for (const cb_observable_doc *o = usual->observables; o->name; o++) entry(p, o->name, o->doc, "", NULL);
  for (size_t i = 0; (c = cb_configurations[i]); i++) {
    char title[128];
    snprintf(title, sizeof title, "for %s", c->title);
    for (const cb_observable_doc *o = c->observables; c->observables != usual->observables && o->name; o++)
      entry(p, o->name, title, o->doc, NULL);
  }
}

static void configurations(printer *p) {
  for (size_t i = 0; cb_configurations[i]; i++)
    entry(p, cb_configurations[i]->name, cb_configurations[i]->title, cb_configurations[i]->doc, NULL);
}

static void functions(printer *p) {
  for (const cb_function_doc *f = cb_expression_functions; f->name; f++) {
    char title[32];
    snprintf(title, sizeof title, "%d argument%s", f->arity, f->arity == 1 ? "" : "s");
    entry(p, f->name, title, f->doc, NULL);
  }
}

static void fluids(printer *p) {
  for (const cb_fluid_doc *f = cb_fluid_docs; f->name; f++) entry(p, f->name, f->title, f->doc, f->params);
  for (size_t i = 0; cb_fluid_model_classes[i]; i++)
    entry(p, cb_fluid_model_classes[i]->name, cb_fluid_model_classes[i]->title, cb_fluid_model_classes[i]->doc,
          cb_fluid_model_classes[i]->params);
}

static void flows(printer *p) {
  for (size_t i = 0; cb_fluid_flow_classes[i]; i++)
    entry(p, cb_fluid_flow_classes[i]->name, cb_fluid_flow_classes[i]->title, cb_fluid_flow_classes[i]->doc,
          cb_fluid_flow_classes[i]->params);
}

static void media(printer *p) {
  for (size_t i = 0; cb_fluid_medium_classes[i]; i++)
    entry(p, cb_fluid_medium_classes[i]->name, cb_fluid_medium_classes[i]->title, cb_fluid_medium_classes[i]->doc,
          cb_fluid_medium_classes[i]->params);
}

static void pair_potentials(printer *p) {
  for (size_t i = 0; cb_pair_potential_classes[i]; i++)
    entry(p, cb_pair_potential_classes[i]->name, cb_pair_potential_classes[i]->title, cb_pair_potential_classes[i]->doc,
          cb_pair_potential_classes[i]->params);
}

static void bundles(printer *p) {
  for (size_t i = 0; cb_bundle_classes[i]; i++)
    entry(p, cb_bundle_classes[i]->name, cb_bundle_classes[i]->title, cb_bundle_classes[i]->doc,
          cb_bundle_classes[i]->params);
  for (size_t i = 0; cb_scenario_bundles[i]; i++)
    entry(p, cb_scenario_bundles[i]->name, cb_scenario_bundles[i]->title, cb_scenario_bundles[i]->doc,
          cb_scenario_bundles[i]->params);
}

/* Prints a kind of gait: first the keys inside its value, then the keys next to it. */
static void gait_kind(printer *p, const cb_gait_kind_class *c) {
  cb_param rows[64] = {{.name = NULL}};
  const cb_param *const tables[] = {c->params, c->beside};
  size_t n = 0;
  for (size_t i = 0; i < 2; i++)
    for (const cb_param *row = tables[i]; row && row->name && n + 1 < sizeof rows / sizeof *rows; row++)
      rows[n++] = *row;
  entry(p, c->name, c->title, c->doc, rows);
}

static void gaits(printer *p) {
  entry(p, "gait", "A closed path in the shape space of a bundle", "The kind of path, and these keys", cb_gait_table);
  for (size_t i = 0; cb_gait_kind_classes[i]; i++) gait_kind(p, cb_gait_kind_classes[i]);
  entry(p, "optimum", "The target and constraints of an optimal gait",
        "The key `optimum` next to `bundle`; `curvebody gait` reads it", cb_optimum_table);
}

/* The keys of `sweep`, and those of an axis in `over`. */
static const cb_param
    of_sweep[] = {{"scenario", CB_PARAM_NODE, 0, NULL, "", "", NULL, "a file name, or the scenario itself"},
                  {"set", CB_PARAM_NODE, 0, "", "", "", NULL, "{KEY: VALUE, ...}: values for all members"},
                  {"task", CB_PARAM_STRING, 0, "run", "", "", NULL, "task of each member: see `tasks`"},
                  {"over", CB_PARAM_NODE, 0, NULL, "", "", NULL, "list of axes"},
                  {"design", CB_PARAM_NODE, 0, "grid", "", "", NULL,
                   "grid, together, or {name: latin_hypercube|sobol|halton, count: .., seed: 1}"},
                  {"keep", CB_PARAM_STRING, 0, "", "", "", NULL,
                   "rows or last: stores the fields of all rows, or of the last row"},
                  {"collect", CB_PARAM_NODE, 0, "", "", "", NULL, "{NAME: REDUCTION, ...}: see `reductions`"},
                  {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}},
    of_axis[] = {
        {"key", CB_PARAM_NODE, 0, NULL, "", "", NULL,
         "key that varies, as for --set, or a list of keys that vary together"},
        {"name", CB_PARAM_STRING, 0, "", "", "", NULL, "name of the dimension of the result (default: the first key)"},
        {"values", CB_PARAM_NODE, 0, "", "", "", NULL, "list of values; for several keys a list of lists"},
        {"from", CB_PARAM_REAL, 0, "nan", "", "", NULL,
         "start of a range, with `to`, `count` and `spacing` (linear, log), in place of `values`"},
        {"to", CB_PARAM_REAL, 0, "nan", "", "", NULL, "end of the range that begins at `from`"},
        {"random", CB_PARAM_NODE, 0, "", "", "", NULL,
         "uniform(a, b), log_uniform(a, b), normal(mean, deviation) or exponential(mean), or a list of these "
         "and numbers"},
        {"count", CB_PARAM_INT, 0, "", "", ">= 1", NULL,
         "number of values; not allowed with `values`, or if the design has a count"},
        {"seed", CB_PARAM_INT, 0, "1", "", ">= 0", NULL, "seed of `random`"},
        {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static void sweeps(printer *p) {
  entry(p, "sweep", "Runs of one scenario with different values", "The file of `curvebody sweep`", of_sweep);
  entry(p, "over", "An axis of a sweep", "Keys and their values", of_axis);
}

static void maps(printer *p) {
  for (const cb_map_doc *m = cb_map_docs; m->name; m++) entry(p, m->name, m->title, m->doc, m->params);
}

static void tasks(printer *p) {
  for (size_t i = 0; cb_sweep_task_classes[i]; i++)
    entry(p, cb_sweep_task_classes[i]->name, cb_sweep_task_classes[i]->title, cb_sweep_task_classes[i]->doc, NULL);
}

static void reductions(printer *p) {
  for (size_t i = 0; cb_reduction_classes[i]; i++)
    entry(p, cb_reduction_classes[i]->name, cb_reduction_classes[i]->title, cb_reduction_classes[i]->doc,
          cb_reduction_classes[i]->arguments);
}

static const struct {
  const char *name;
  void (*print)(printer *);
} sections[] = {{"spaces", spaces},
                {"systems", systems},
                {"bodies", bodies},
                {"shapes", shapes},
                {"constraints", constraints},
                {"contacts", contacts},
                {"walls", walls},
                {"events", events},
                {"joints", joints},
                {"couplings", couplings},
                {"integrators", integrators},
                {"bundles", bundles},
                {"gaits", gaits},
                {"fluids", fluids},
                {"flows", flows},
                {"media", media},
                {"observables", observables},
                {"functions", functions},
                {"sweeps", sweeps},
                {"tasks", tasks},
                {"reductions", reductions},
                {"maps", maps},
                {"pair_potentials", pair_potentials},
                {"configurations", configurations}};
enum { SECTIONS = sizeof sections / sizeof *sections };

static void list_sections(void (*each)(const char *name, const char *doc)) {
  for (size_t i = 0; i < SECTIONS; i++) each(sections[i].name, NULL);
}

typedef struct arguments {
  bool json;
} arguments;

static int check_section(const char *name) {
  const char *names[SECTIONS];
  for (size_t i = 0; i < SECTIONS; i++) {
    if (!strcmp(sections[i].name, name)) return CLI_EXIT_DONE;
    names[i] = sections[i].name;
  }
  return cli_unknown(&cli_command_list, "no section", name, names, SECTIONS);
}

static int run(void *taken, char **operand) {
  const bool json = ((arguments *)taken)->json;
  const char *section = operand[0];
  bool first = true;
  const int code = section ? check_section(section) : CLI_EXIT_DONE;
  if (code) return code;
  if (json) printf("{");
  for (size_t i = 0; i < SECTIONS; i++) {
    if (section && strcmp(sections[i].name, section)) continue;
    printer p = {.json = json, .first = true};
    printf(json ? "%s\n  \"%s\": [" : "%s%s:\n", json ? (first ? "" : ",") : (first ? "" : "\n"), sections[i].name);
    sections[i].print(&p);
    if (p.status) return cli_report(p.status);
    if (json) printf("\n  ]");
    first = false;
  }
  if (json) printf("\n}\n");
  return CLI_EXIT_DONE;
}

static const cli_option options[] = {CLI_OPTION("json", 0, CLI_FLAG, json, NULL, NULL, NULL, "prints JSON"), CLI_END};
static const cli_operand operands[] = {{"SECTION", NULL, "one of the following (default: all of them):", list_sections},
                                       {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody list integrators", "Lists the integrators with their parameters, units and defaults."},
    {"curvebody list --json", "Prints everything as JSON."},
    {NULL, NULL}};

const cli_command cli_command_list = {
    .name = "list",
    .usage = "[SECTION] [OPTION]...",
    .summary = "Lists spaces, bodies, integrators and all other classes with their parameters, defaults and units.",
    .options = options,
    .operands = operands,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
