/* curvebody gait SCENARIO optimize: the gait of least cost at a target, or the most efficient, and how it is known. */
#include "cli/gait.h"
#include "core/warning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- as text --- */

static void print_others(const cb_bundle *b, const cb_optimum_problem *p, const cb_optima *all) {
  printf("%-12s%d of %d start%s, %d came to nothing\n", "found by", all->item[0].found, all->starts,
         all->starts == 1 ? "" : "s", all->failed);
  for (int k = 1; k < all->count; k++) {
    const cb_optimum *o = &all->item[k];
    printf("%-12scost %.12g", k == 1 ? "others" : "", o->cost);
    if (isfinite(o->amount))
      printf(", amount %.12g, efficiency %.12g", o->amount, cb_gait_efficiency(o->amount, o->cost));
    printf(", %s, found by %d\n", cb_gait_verdict_words(o).text, o->found);
  }
  if (!isfinite(all->falling)) return;
  static const char *const what[] = {"cost", "cost/amount^2", "-amount"};
  printf("%-12sa search that did not settle fell to %s %.6g; a base or bounds would end it\n", "less", what[p->seek],
         all->falling);
  cb_gait_row("towards", b->n, b->shape, all->towards);
}

static void print_text(const cb_gait_job *job, const cb_optimum_problem *p, const cb_optima *all,
                       const cb_gait_check *c) {
  const cb_bundle *b = job->bundle;
  const cb_optimum *o = &all->item[0];
  cb_gait_put_sought(job, p);
  cb_gait_put_optimum(b, p->base != NULL, o);
  printf("%-12scost %.2g off, group element %.2g\n", "by holonomy", c->cost, c->element);
  print_others(b, p, all);
}

/* --- as JSON --- */

static void print_json(const cb_gait_job *job, const cb_optimum_problem *p, const cb_optima *all,
                       const cb_gait_check *c) {
  static const char *const seeks[] = {"cost", "efficiency", "target"}, *const targets[] = {"move", "turn", "element",
                                                                                           "parts"};
  const cb_bundle *b = job->bundle;
  cb_gait_begin_json(job);
  cb_gait_json_words("numbers", b->group->size, b->group->number);
  printf(",\n ");
  cb_gait_json_words("axes", b->group->dim, b->group->axis);
  printf(",\n \"target\": \"%s\", \"seek\": \"%s\",\n ", targets[p->target.kind], seeks[p->seek]);
  cb_gait_put_optimum_json(b, &all->item[0]);
  printf(", \"starts\": %d, \"failed\": %d,\n ", all->starts, all->failed);
  cb_gait_json("check_cost", 0, NULL, &c->cost, false);
  cb_gait_json("check_g", 0, NULL, &c->element, false);
  if (job->output) {
    printf("\"output\": ");
    cb_json_text(stdout, job->output);
    printf(",\n ");
  }
  cb_gait_json("falling", 0, NULL, &all->falling, false);
  if (isfinite(all->falling)) cb_gait_json("towards", 1, &b->n, all->towards, false);
  printf("\"others\": [");
  for (int k = 1; k < all->count; k++) {
    printf("%s\n {", k > 1 ? "," : "");
    cb_gait_put_optimum_json(b, &all->item[k]);
    printf("}");
  }
  printf("]}\n");
}

/* --- progress --- */

/* On a terminal one line that changes; elsewhere a line each half minute. */
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
  p->last = now, p->shown = true;
  if (p->terminal) fputs("\r\033[K", stderr);
  if (done < starts)
    fprintf(stderr, "curvebody: %d of %d starts are searched, %.0f s", done, starts, now - p->begun);
  else
    fprintf(stderr, "curvebody: gaits that were found from %d starts are refined, %.0f s", starts, now - p->begun);
  if (!p->terminal) fputc('\n', stderr);
}

/* --- the whole --- */

static bool ends_with(const char *path, const char *suffix) {
  const size_t n = strlen(path), m = strlen(suffix);
  return n > m && !strcmp(path + n - m, suffix);
}

cb_status cb_gait_asked_of(const cb_gait_job *job, const cb_optimum_problem **out) {
  if (!job->motion->optimum)
    return cb_fail(CB_ERROR_INPUT,
                   "%s:1:1: error: the key `optimum` is missing: expected a target, such as `optimum: {target: {move: "
                   "0.03}}` or --move 0.03",
                   job->scenario);
  *out = &job->motion->optimum->problem;
  return CB_OK;
}

cb_status cb_gait_optimize(const cb_gait_job *job) {
  const cb_optimum_problem *p = NULL;
  cb_optima *all = NULL;
  cb_gait_check c;
  double error = 0;
  if (job->output && !ends_with(job->output, ".h5") && !ends_with(job->output, ".yaml") &&
      !ends_with(job->output, ".yml"))
    return cb_fail(CB_ERROR_INPUT, "--output: error: expected a name that ends with .yaml or .h5, found '%.200s'",
                   job->output);
  cb_status status = cb_gait_asked_of(job, &p);
  if (!status && job->error) status = cb_ambient_numbers("--error", job->error, 1, &error);
  if (!status && !(error >= 0)) status = cb_fail(CB_ERROR_INPUT, "--error: error: expected at least 0");
  if (!status && job->motion->optimum->left_out)
    cb_warn("the scenario's gait leaves the bounds: the search does not start from it");
  progress shown = {.terminal = isatty(STDERR_FILENO), .begun = seconds(), .last = seconds()};
  const cb_find_watch watch = {show_progress, &shown};
  if (!status) status = cb_gait_optima_find(job->motion, error, &watch, &all, &c);
  if (shown.terminal && shown.shown) fputs("\r\033[K", stderr);
  if (!status && job->output) status = cb_gait_write_optima(job, p, all);
  if (!status) (job->json ? print_json : print_text)(job, p, all, &c);
  cb_optima_free(all);
  return status;
}
