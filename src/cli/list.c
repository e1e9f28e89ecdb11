/* curvebody list [KIND] [--json]
 *
 * What the registry knows, from the same tables that read a scenario. */
#include "cli/cli.h"

#include "geometry/text_metric.h"
#include "scenario/bundle.h"
#include "scenario/maps.h"
#include "sweep/reduce.h"
#include "sweep/work.h"
#include <curvebody/body.h>
#include <curvebody/fluid_model.h>
#include <string.h>

/* Printing one entry, as text or as JSON. */
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
  cb_json_text(stdout, name);
  printf(", \"title\": ");
  cb_json_text(stdout, title);
  printf(", \"doc\": ");
  cb_json_text(stdout, doc);
  printf(", \"parameters\": [");
  for (const cb_param *row = params; row && row->name; row++) {
    printf("%s{\"name\": ", row == params ? "" : ", ");
    cb_json_text(stdout, row->name);
    printf(", \"type\": \"%s\", \"unit\": ", types[row->type]);
    cb_json_text(stdout, row->unit && *row->unit ? row->unit : "1");
    printf(", \"default\": ");
    if (row->fallback)
      cb_json_text(stdout, row->fallback);
    else
      printf("null");
    printf(", \"range\": ");
    cb_json_text(stdout, row->range ? row->range : "");
    printf(", \"choices\": ");
    cb_json_text(stdout, row->choices ? row->choices : "");
    printf(", \"doc\": ");
    cb_json_text(stdout, row->doc);
    printf("}");
  }
  printf("]");
}

static void entry(printer *p, const char *name, const char *title, const char *doc, const cb_param *params) {
  begin(p, name, title, doc, params);
  if (p->json) printf("}");
}

/* Names of charts and of Killing fields, which stand after an entry that was begun. */
static const char *chart_name(const cb_geometry *g, size_t i) { return cb_chart_at(g, i)->name; }
static const char *killing_name(const cb_geometry *g, size_t i) { return g->killing[i].name; }

static void names_of(const printer *p, const char *heading, const char *key, const cb_geometry *g, size_t count,
                     const char *(*name)(const cb_geometry *, size_t)) {
  if (p->json)
    printf(", \"%s\": [", key);
  else
    printf("    %-14s", heading);
  for (size_t i = 0; i < count; i++)
    if (p->json) {
      fputs(i ? ", " : "", stdout);
      cb_json_text(stdout, name(g, i));
    } else {
      printf(" %s", name(g, i));
    }
  fputs(p->json ? "]" : "\n", stdout);
}

static void spaces(printer *p) {
  for (size_t i = 0; cb_geometry_classes[i]; i++) {
    const cb_geometry_class *c = cb_geometry_classes[i];
    begin(p, c->name, c->title, c->doc, c->params);
    cb_geometry *g;
    const cb_status status = cb_geometry_create(c->name, NULL, &g);
    if (status == CB_ERROR_MEMORY) p->status = status;
    if (!status) { /* others have parameters to be given */
      names_of(p, "charts", "charts", g, cb_chart_count(g), chart_name);
      names_of(p, "Killing fields", "killing_fields", g, (size_t)g->n_killing, killing_name);
      cb_geometry_free(g);
    }
    if (p->json) printf("}");
  }
  const cb_geometry_class *text = &cb_text_metric_class;
  entry(p, text->name, text->title, text->doc, text->params);
}

static void systems(printer *p) {
  entry(p, "system", "A configuration space by itself, in place of `space` and `bodies`",
        "L = (1/2) g(q) q' q' - V(q, t), of 1 to 12 coordinates; also the keys of a `metric`: metric, coordinates, "
        "parameters, domain, periodic, base, picture",
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
  for (const cb_constraint_doc *c = cb_constraint_docs; c->name; c++) entry(p, c->name, c->doc, "", c->params);
}

static void contacts(printer *p) {
  entry(p, "contacts", "Spheres and surfaces that meet", "Of different bodies, those in `between`, and `within` bodies",
        cb_scenario_contacts_table);
}

static void walls(printer *p) {
  for (const cb_constraint_doc *c = cb_wall_docs; c->name; c++) entry(p, c->name, c->doc, "", c->params);
}

static void events(printer *p) {
  for (const cb_constraint_doc *c = cb_event_docs; c->name; c++) entry(p, c->name, c->doc, "", c->params);
}

static void integrators(printer *p) {
  for (size_t i = 0; cb_integrator_classes[i]; i++)
    entry(p, cb_integrator_classes[i]->name, cb_integrator_classes[i]->title, cb_integrator_classes[i]->doc,
          cb_integrator_classes[i]->params);
}

static void observables(printer *p) {
  for (const cb_observable_doc *o = cb_observable_groups; o->name; o++) entry(p, o->name, o->doc, "", NULL);
  for (const cb_observable_doc *o = cb_fluid_observables; o->name; o++)
    entry(p, o->name, "of bodies in a fluid", o->doc, NULL);
  for (const cb_observable_doc *o = cb_bundle_observables; o->name; o++)
    entry(p, o->name, "of a gait in a bundle", o->doc, NULL);
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

static void bundles(printer *p) {
  for (size_t i = 0; cb_bundle_classes[i]; i++)
    entry(p, cb_bundle_classes[i]->name, cb_bundle_classes[i]->title, cb_bundle_classes[i]->doc,
          cb_bundle_classes[i]->params);
  for (size_t i = 0; cb_bundle_kinds[i]; i++)
    entry(p, cb_bundle_kinds[i]->name, cb_bundle_kinds[i]->title, cb_bundle_kinds[i]->doc, cb_bundle_kinds[i]->params);
}

static void gaits(printer *p) {
  entry(p, "gait", "A closed path in the shape space of a bundle", "One kind of path, with what stands beside it",
        cb_gait_table);
  entry(p, "optimum", "What an optimal gait is asked for", "The key `optimum` beside `bundle`; found by `gait`",
        cb_optimum_table);
}

/* The keys of `sweep`, of an axis in `over`, and of a design. */
static const cb_param
    of_sweep[] = {{"scenario", CB_PARAM_NODE, 0, NULL, "", "", NULL, "a file, or the scenario itself"},
                  {"set", CB_PARAM_NODE, 0, "", "", "", NULL, "{KEY: VALUE, ...} for all members"},
                  {"work", CB_PARAM_STRING, 0, "run", "", "", NULL, "what is done with a member: see `works`"},
                  {"over", CB_PARAM_NODE, 0, NULL, "", "", NULL, "list of axes"},
                  {"design", CB_PARAM_NODE, 0, "grid", "", "", NULL,
                   "grid, together, or {name: latin_hypercube|sobol|halton, count: .., seed: 1}"},
                  {"keep", CB_PARAM_STRING, 0, "", "", "", NULL,
                   "rows or last: the fields of all rows, or of the last"},
                  {"collect", CB_PARAM_NODE, 0, "", "", "", NULL, "{NAME: REDUCTION, ...}: see `reductions`"},
                  {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}},
    of_axis[] = {{"key", CB_PARAM_NODE, 0, NULL, "", "", NULL,
                  "what is varied, as --set has it, or a list of keys that go together"},
                 {"name", CB_PARAM_STRING, 0, "", "", "", NULL, "of the dimension of the result; else the first key"},
                 {"values", CB_PARAM_NODE, 0, "", "", "", NULL, "list of values; of several keys: of lists"},
                 {"from", CB_PARAM_REAL, 0, "nan", "", "", NULL,
                  "with `to`, `count` and `spacing` (linear, log), in place of values"},
                 {"to", CB_PARAM_REAL, 0, "nan", "", "", NULL, "with `from`"},
                 {"random", CB_PARAM_NODE, 0, "", "", "", NULL,
                  "uniform(a, b), log_uniform(a, b), normal(mean, deviation) or exponential(mean), or a list of these "
                  "and numbers"},
                 {"count", CB_PARAM_INT, 0, "", "", ">= 1", NULL,
                  "of values; not beside `values`, nor where the design has one"},
                 {"seed", CB_PARAM_INT, 0, "1", "", ">= 0", NULL, "of `random`"},
                 {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static void sweeps(printer *p) {
  entry(p, "sweep", "A scenario with other values, many times", "The file of `curvebody sweep`", of_sweep);
  entry(p, "over", "An axis of a sweep", "What is varied", of_axis);
}

static void maps(printer *p) {
  for (const cb_map_doc *m = cb_map_docs; m->name; m++) entry(p, m->name, m->title, m->doc, m->params);
}

static void works(printer *p) {
  for (size_t i = 0; cb_works[i]; i++) entry(p, cb_works[i]->name, cb_works[i]->doc, "", NULL);
}

static void reductions(printer *p) {
  for (const cb_reduction_doc *r = cb_reduction_docs; r->name; r++) entry(p, r->name, r->arguments, r->doc, NULL);
}

static const struct {
  const char *name;
  void (*print)(printer *);
} kinds[] = {{"spaces", spaces},
             {"systems", systems},
             {"bodies", bodies},
             {"shapes", shapes},
             {"constraints", constraints},
             {"contacts", contacts},
             {"walls", walls},
             {"events", events},
             {"integrators", integrators},
             {"bundles", bundles},
             {"gaits", gaits},
             {"fluids", fluids},
             {"observables", observables},
             {"functions", functions},
             {"sweeps", sweeps},
             {"works", works},
             {"reductions", reductions},
             {"maps", maps}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void words_known(void (*each)(const char *)) {
  for (size_t i = 0; i < KINDS; i++) each(kinds[i].name);
}

static int run(int argc, char **argv) {
  bool json = false;
  const cb_option options[] = {{"--json", NULL, false, cb_take_flag, &json}, {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_list, options, argc, argv, &words);
  if (usage) return usage;
  if (words > 1) return cb_usage(&cb_command_list);
  bool found = words == 0, first = true;
  const char *names[KINDS];
  for (size_t i = 0; i < KINDS; i++) {
    names[i] = kinds[i].name;
    found = found || (words && !strcmp(kinds[i].name, argv[0]));
  }
  if (!found) {
    const char *near = cb_nearest_name(argv[0], names, KINDS);
    fprintf(stderr, "curvebody list: error: nothing is called `%s`", argv[0]);
    if (near) fprintf(stderr, "; did you mean `%s`?", near);
    fputc('\n', stderr);
    return cb_usage(&cb_command_list);
  }
  if (json) printf("{");
  for (size_t i = 0; i < KINDS; i++) {
    if (words && strcmp(kinds[i].name, argv[0])) continue;
    printer p = {.json = json, .first = true};
    printf(json ? "%s\n  \"%s\": [" : "%s%s:\n", json ? (first ? "" : ",") : (first ? "" : "\n"), kinds[i].name);
    kinds[i].print(&p);
    if (p.status) return cb_report(p.status);
    if (json) printf("\n  ]");
    first = false;
  }
  if (json) printf("\n}\n");
  return CB_EXIT_DONE;
}

const cb_command cb_command_list = {
    "list",
    "[spaces|systems|bodies|shapes|constraints|contacts|walls|events|integrators|bundles|gaits|fluids|observables|"
    "functions|sweeps|works|reductions|maps] "
    "[--json]",
    "Lists what there is, with parameters, defaults and units.", run, words_known};
