/* curvebody gait SCENARIO cycle: the periodic motion of shape variables that move by themselves, and values of keys
 * that maximise its displacement or its efficiency (scenario/cycle.h). */
#include "cli/gait_job.h"

#include "core/text.h"
#include "scenario/cycle.h"

#include <math.h>
#include <string.h>

/* --- as text --- */

static void print_complex(double re, double im) {
  if (im == 0)
    printf("%.12g", re);
  else
    printf("%.12g %c %.12gi", re, im < 0 ? '-' : '+', fabs(im));
}

static void print_cycle(const cli_gait_job *job, const cb_motion_cycle *c) {
  const cb_bundle *b = job->bundle;
  const cb_group *G = b->group;
  const cb_shape_cycle *of = &c->of;
  printf("%s: %d shape variable%s, fibre %s\n", cb_bundle_scenario_name(job->motion), b->n, b->n == 1 ? "" : "s",
         G->name);
  printf("%-12s%.15g, %d steps\n", "period", of->period, of->steps);
  cli_gait_row("start", b->n, b->shape, of->start.r);
  cli_gait_row("its rates", b->n, b->shape, of->rate);
  cli_gait_row("moves by", G->size, G->number, of->g);
  if (c->has_log)
    cli_gait_row("its log", G->dim, G->axis, c->log);
  else
    printf("its log     is not unique\n");
  printf("%-12s%.15g\n%-12s%.15g\n%-12s%.15g\n", "distance", c->distance, "work", of->work, "dissipated",
         of->dissipated);
  printf("%-12s%.15g\n%-12s%.15g\n", "per work", cli_unsigned_nan(c->per_work), "efficiency",
         cli_unsigned_nan(c->efficiency));
  cli_gait_row("effort", b->n, b->shape, of->effort);
  printf("%-12s", "multipliers");
  for (int k = 0; k < of->multipliers; k++) {
    if (k) printf(", ");
    print_complex(of->real[k], of->imaginary[k]);
  }
  printf("%s\n%-12s%.2g, change with half the step %.2g\n",
         !of->multipliers ? "none"
         : of->stable     ? ": stable"
                          : ": not stable",
         "residual", of->residual, c->error);
}

static const char *at_bound(int bound) {
  return bound < 0 ? ", its lower bound" : bound > 0 ? ", its upper bound" : "";
}

static void print_optimum(const cb_cycle_search *s, const cb_cycle_optimum *o) {
  for (int i = 0; i < s->keys; i++)
    printf("%-12s%s = %.12g%s\n", i ? "" : "best at", s->key[i].name, o->value[i], at_bound(o->bound[i]));
  printf("%-12s%.15g\n%-12s%d of %d start%s, %d failed, %d motions\n", "objective", o->objective, "found by", o->found,
         s->starts, s->starts == 1 ? "" : "s", o->failed, o->evaluations);
  if (!o->converged) printf("%-12sthe search did not converge: its gradient is %.2g\n", "", o->gradient);
}

/* --- as JSON --- */

static void json_optimum(const cb_cycle_search *s, const cb_cycle_optimum *o) {
  const char *names[CB_CYCLE_KEYS];
  double bound[CB_CYCLE_KEYS];
  for (int i = 0; i < s->keys; i++) {
    names[i] = s->key[i].name;
    bound[i] = o->bound[i];
  }
  cli_gait_json_texts("varied", s->keys, names);
  printf(",\n ");
  cli_gait_json("best", 1, &s->keys, o->value, false);
  cli_gait_json("at_bound", 1, &s->keys, bound, false);
  cli_gait_json("objective", 0, NULL, &o->objective, false);
  cli_gait_json("gradient", 0, NULL, &o->gradient, false);
  printf("\"converged\": %s, \"found\": %d, \"starts\": %d, \"failed\": %d, \"motions\": %d,\n ",
         o->converged ? "true" : "false", o->found, s->starts, o->failed, o->evaluations);
}

static void json_cycle(const cli_gait_job *job, const cb_motion_cycle *c, const cb_cycle_search *s,
                       const cb_cycle_optimum *o) {
  const cb_bundle *b = job->bundle;
  const cb_group *G = b->group;
  const cb_shape_cycle *of = &c->of;
  double pair[CB_SHAPE_MULTIPLIERS][2];
  for (int k = 0; k < of->multipliers; k++) {
    pair[k][0] = of->real[k];
    pair[k][1] = of->imaginary[k];
  }
  cli_gait_begin_json(job);
  cli_gait_json_texts("numbers", G->size, G->number);
  printf(",\n ");
  cli_gait_json_texts("axes", G->dim, G->axis);
  printf(",\n ");
  if (s->keys) json_optimum(s, o);
  cli_gait_json("period", 0, NULL, &of->period, false);
  printf("\"steps\": %d,\n ", of->steps);
  cli_gait_json("start", 1, &b->n, of->start.r, false);
  cli_gait_json("rate", 1, &b->n, of->rate, false);
  cli_gait_json("g", 1, &G->size, of->g, false);
  cli_gait_json("log", 1, &G->dim, c->log, false);
  cli_gait_json("distance", 0, NULL, &c->distance, false);
  cli_gait_json("work", 0, NULL, &of->work, false);
  cli_gait_json("dissipated", 0, NULL, &of->dissipated, false);
  cli_gait_json("per_work", 0, NULL, &c->per_work, false);
  cli_gait_json("efficiency", 0, NULL, &c->efficiency, false);
  cli_gait_json("effort", 1, &b->n, of->effort, false);
  cli_gait_json("multipliers", 2, (const int[]){of->multipliers, 2}, pair[0], false);
  printf("\"stable\": %s,\n ", of->stable ? "true" : "false");
  if (job->output) {
    printf("\"output\": ");
    cli_json_text(stdout, job->output);
    printf(",\n ");
  }
  cli_gait_json("residual", 0, NULL, &of->residual, false);
  cli_gait_json("error", 0, NULL, &c->error, true);
}

/* --- options --- */

/* Reads the value KEY=LO:HI of --vary into *key. */
static cb_status read_key(const char *text, cb_cycle_key *key) {
  const char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
  char low[64];
  if (!equals || equals == text || !colon)
    return cb_fail(CB_ERROR_INPUT,
                   "--vary: error: expected KEY=LO:HI, such as shape.alpha2.spring.stiffness=0.001:0.1, found '%.80s'",
                   text);
  snprintf(key->name, sizeof key->name, "%.*s", (int)(equals - text), text);
  snprintf(low, sizeof low, "%.*s", (int)(colon - equals - 1), equals + 1);
  cb_status status = cli_ambient_numbers("--vary", low, 1, &key->low);
  if (!status) status = cli_ambient_numbers("--vary", colon + 1, 1, &key->high);
  if (!status && !(key->low < key->high))
    status =
        cb_fail(CB_ERROR_INPUT, "--vary: error: expected LO:HI with LO below HI, found %g:%g", key->low, key->high);
  return status;
}

/* Reads the objective, which is the quantity to be maximised: displacement, efficiency, or a component of the logarithm
 * of the holonomy, named by its axis. */
static cb_status read_objective(const cli_gait_job *job, const char *text, cb_cycle_search *s) {
  const cb_group *G = job->bundle->group;
  const char *names[2 + CB_GROUP_DIM] = {"displacement", "efficiency"};
  s->component = -1;
  s->efficiency = text && !strcmp(text, "efficiency");
  if (!text || s->efficiency || !strcmp(text, "displacement")) return CB_OK;
  for (int k = 0; k < G->dim; k++)
    if (!strcmp(text, names[2 + k] = G->axis[k])) s->component = k;
  if (s->component >= 0) return CB_OK;
  cb_text known = {0};
  for (int k = 0; k < 2 + G->dim; k++) {
    if (k) cb_text_puts(&known, ", ");
    cb_text_puts(&known, names[k]);
  }
  const cb_status status = cb_fail(CB_ERROR_INPUT, "--objective: error: expected one of %s, found '%.60s'",
                                   known.failed ? "" : known.data, text);
  cb_text_free(&known);
  return status;
}

static cb_status read_search(const cli_gait_job *job, cb_cycle_search *s) {
  double seed = 1, starts = 8;
  cb_status status = read_objective(job, job->objective, s);
  if (!status && job->varied.count > CB_CYCLE_KEYS)
    status =
        cb_fail(CB_ERROR_INPUT, "--vary: error: expected at most %d keys, found %zu", CB_CYCLE_KEYS, job->varied.count);
  for (size_t i = 0; i < job->varied.count && !status; i++) {
    status = read_key(job->varied.item[i], &s->key[s->keys]);
    for (int k = 0; k < s->keys && !status; k++)
      if (!strcmp(s->key[k].name, s->key[s->keys].name))
        status = cb_fail(CB_ERROR_INPUT, "--vary: error: expected each key once, found %s twice", s->key[k].name);
    s->keys++;
  }
  if (!status && !s->keys && (job->objective || job->starts || job->seed))
    status = cb_fail(CB_ERROR_INPUT, "--objective, --starts, --seed: error: expected --vary KEY=LO:HI next to them");
  if (!status && job->starts) status = cli_ambient_numbers("--starts", job->starts, 1, &starts);
  if (!status && !(starts >= 1 && starts <= 1000 && starts == floor(starts)))
    status = cb_fail(CB_ERROR_INPUT, "--starts: error: expected a whole number from 1 to 1000, found %g", starts);
  if (!status && job->seed) status = cli_ambient_numbers("--seed", job->seed, 1, &seed);
  if (!status && !(seed >= 0 && seed < 0x1p53 && seed == floor(seed)))
    status = cb_fail(CB_ERROR_INPUT, "--seed: error: expected a whole number >= 0, found %g", seed);
  s->starts = (int)starts;
  s->seed = (uint64_t)seed;
  return status;
}

/* --- the command --- */

static cb_status write_start(const cli_gait_job *job, cb_scenario *s, const cb_shape_cycle *c) {
  cb_text text = {0};
  cb_status status = cb_scenario_with_start(s, c, &text);
  if (!status) status = cli_gait_write_text(job->output, &text);
  cb_text_free(&text);
  return status;
}

cb_status cli_gait_cycle(const cli_gait_job *job) {
  cb_cycle_search search = {.keys = 0};
  cb_cycle_optimum best = {.objective = NAN};
  cb_motion_cycle c;
  cb_cycle_options options = {.tolerance = 0};
  cb_scenario *at = job->read;
  const bool prints = job->output && !strcmp(job->output, "-");
  cb_status status = cli_gait_check_output(job, false);
  if (!status && job->error) status = cli_ambient_numbers("--error", job->error, 1, &options.tolerance);
  if (!status && !(options.tolerance >= 0)) status = cb_fail(CB_ERROR_INPUT, "--error: error: expected a number >= 0");
  if (!status) status = read_search(job, &search);
  if (!status && search.keys) {
    status = cb_cycle_optimise(job->read, &search, &best, &at);
    options.near = &best.motion;
  }
  if (!status) status = cb_motion_cycle_find(at, &options, &c);
  if (!status && job->output) status = write_start(job, at, &c.of);
  if (!status && !prints) {
    if (job->json) {
      json_cycle(job, &c, &search, &best);
    } else {
      print_cycle(job, &c);
      if (search.keys) print_optimum(&search, &best);
    }
  }
  if (at != job->read) cb_scenario_free(at);
  return status;
}
