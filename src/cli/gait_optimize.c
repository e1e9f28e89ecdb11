/* curvebody gait SCENARIO optimize: the gait of minimum cost at a target, of maximum efficiency, or of maximum amount
 * at a length, and the checks of its optimality. */
#include "cli/gait_job.h"
#include "core/warning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- as text --- */

static void print_others(const cb_bundle *b, const cb_optimum_problem *p, const cb_optima *all) {
  printf("%-12s%d of %d start%s, %d failed\n", "found by", all->item[0].found, all->starts, all->starts == 1 ? "" : "s",
         all->failed);
  for (int k = 1; k < all->count; k++) {
    const cb_optimum *o = &all->item[k];
    printf("%-12scost %.12g", k == 1 ? "others" : "", o->cost);
    if (isfinite(o->amount))
      printf(", amount %.12g, efficiency %.12g", o->amount, cb_gait_efficiency(o->amount, o->cost));
    printf(", %s, found by %d\n", cli_gait_optimality_text(o).text, o->found);
  }
  if (!isfinite(all->falling)) return;
  static const char *const what[] = {"cost", "cost/amount^2", "-amount"};
  printf("%-12sa search that did not converge reached %s %.6g; try a start shape or bounds\n", "less",
         what[p->objective], all->falling);
  cli_gait_row("towards", b->n, b->shape, all->towards);
}

static void print_text(const cli_gait_job *job, const cb_optimum_problem *p, const cb_optima *all,
                       const cb_gait_check *c) {
  const cb_bundle *b = job->bundle;
  const cb_optimum *o = &all->item[0];
  cli_gait_print_problem(job, p);
  cli_gait_print_optimum(b, p->start_shape != NULL, o);
  printf("%-12sthe cost differs by %.2g (relative), the group element by %.2g\n", "by holonomy", c->cost, c->element);
  print_others(b, p, all);
}

/* --- as JSON --- */

static void print_json(const cli_gait_job *job, const cb_optimum_problem *p, const cb_optima *all,
                       const cb_gait_check *c) {
  static const char *const objectives[] = {"cost", "efficiency", "target"}, *const targets[] = {"move", "turn",
                                                                                                "element", "parts"};
  const cb_bundle *b = job->bundle;
  cli_gait_begin_json(job);
  cli_gait_json_texts("numbers", b->group->size, b->group->number);
  printf(",\n ");
  cli_gait_json_texts("axes", b->group->dim, b->group->axis);
  printf(",\n \"target\": \"%s\", \"objective\": \"%s\",\n ", targets[p->target.kind], objectives[p->objective]);
  cli_gait_print_optimum_json(b, &all->item[0]);
  printf(", \"starts\": %d, \"failed\": %d,\n ", all->starts, all->failed);
  cli_gait_json("check_cost", 0, NULL, &c->cost, false);
  cli_gait_json("check_g", 0, NULL, &c->element, false);
  if (job->output) {
    printf("\"output\": ");
    cli_json_text(stdout, job->output);
    printf(",\n ");
  }
  cli_gait_json("falling", 0, NULL, &all->falling, false);
  if (isfinite(all->falling)) cli_gait_json("towards", 1, &b->n, all->towards, false);
  printf("\"others\": [");
  for (int k = 1; k < all->count; k++) {
    printf("%s\n {", k > 1 ? "," : "");
    cli_gait_print_optimum_json(b, &all->item[k]);
    printf("}");
  }
  printf("]}\n");
}

/* --- progress --- */

/* Progress: on a terminal one line that changes, otherwise one line per half minute. */
typedef struct progress {
  bool terminal, shown;
  double begun, last;
} progress;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void show_progress(void *context, int done, int starts) {
  progress *p = context;
  const double now = seconds();
  if (now - p->last < (p->terminal ? .5 : 30)) return;
  p->last = now;
  p->shown = true;
  if (p->terminal) fputs("\r\033[K", stderr);
  if (done < starts)
    fprintf(stderr, "curvebody: %d of %d starts done, %.0f s", done, starts, now - p->begun);
  else
    fprintf(stderr, "curvebody: refining the gaits from %d starts, %.0f s", starts, now - p->begun);
  if (!p->terminal) fputc('\n', stderr);
}

/* --- the command --- */

static bool ends_with(const char *path, const char *suffix) {
  const size_t n = strlen(path), m = strlen(suffix);
  return n > m && !strcmp(path + n - m, suffix);
}

cb_status cli_gait_problem(const cli_gait_job *job, const cb_optimum_problem **out) {
  if (!job->motion->optimum)
    return cb_fail(CB_ERROR_INPUT,
                   "%s:1:1: error: the key `optimum` is missing: expected a target, such as `optimum: {target: {move: "
                   "0.03}}` or --move 0.03",
                   job->scenario);
  *out = &job->motion->optimum->problem;
  return CB_OK;
}

cb_status cli_gait_optimize(const cli_gait_job *job) {
  const cb_optimum_problem *p = NULL;
  cb_optima *all = NULL;
  cb_gait_check c;
  double error = 0;
  const bool prints = job->output && !strcmp(job->output, "-"); /* the name `-` prints the scenario in place of the
                                                                 * report */
  if (prints && job->json)
    return cb_fail(
        CB_ERROR_INPUT,
        "--json: error: expected no --json with --output -, which prints the scenario in place of the report");
  if (job->output && !prints && !ends_with(job->output, ".h5") && !ends_with(job->output, ".yaml") &&
      !ends_with(job->output, ".yml"))
    return cb_fail(CB_ERROR_INPUT, "--output: error: expected a file name that ends with .yaml or .h5, found '%.200s'",
                   job->output);
  cb_status status = cli_gait_problem(job, &p);
  if (!status && job->error) status = cli_ambient_numbers("--error", job->error, 1, &error);
  if (!status && !(error >= 0)) status = cb_fail(CB_ERROR_INPUT, "--error: error: expected a number >= 0");
  if (!status && job->motion->optimum->left_out)
    cb_warn("the gait of the scenario is outside the bounds, so the search does not start from it");
  progress shown = {.terminal = isatty(STDERR_FILENO), .begun = seconds(), .last = seconds()};
  const cb_find_watch watch = {show_progress, &shown};
  if (!status) status = cb_gait_optima_find(job->motion, error, &watch, &all, &c);
  if (shown.terminal && shown.shown) fputs("\r\033[K", stderr);
  if (!status && job->output) status = cli_gait_write_optima(job, p, all);
  if (!status && !prints) (job->json ? print_json : print_text)(job, p, all, &c);
  cb_optima_free(all);
  return status;
}
