/* curvebody sweep SWEEP.yaml [-o OUT] [--set KEY=VALUE]... [--shard K/N] [--retry-failed] [--dry-run] [--quiet|--json]
 * curvebody sweep --status OUT */
#include "cli/cli.h"
#include "core/threads.h"
#include "core/warning.h"
#include "sweep/crew.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct arguments {
  const char *output, *shard, *status;
  cb_words sets;
  bool retry_failed, dry_run, joins, quiet, json;
} arguments;

static volatile sig_atomic_t stop;

static void interrupt(int signal_) {
  (void)signal_;
  stop = 1;
}

static void progress(void *user, const cb_crew_progress *p) {
  (void)user;
  const int64_t ended = p->done + p->failed, here = ended - p->before;
  const double rate = p->seconds > 0 ? (double)here / p->seconds : 0;
  fprintf(stderr, "\r%5.1f %%  %lld of %lld members, %lld failed  %.3g a second  %.0f s left   ",
          100 * (double)ended / (double)p->members, (long long)ended, (long long)p->members, (long long)p->failed, rate,
          rate > 0 ? (double)(p->members - ended) / rate : 0);
}

/* The sweep's file name without its ending, in the current folder. */
static void default_output(const char *sweep, char *out, size_t size) {
  const char *slash = strrchr(sweep, '/'), *base = slash ? slash + 1 : sweep, *dot = strrchr(base, '.');
  const size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
  snprintf(out, size, "%.*s", (int)(length < size ? length : size - 1), base);
}

static bool read_shard(const char *text, int *shard, int *shards) {
  char after;
  return !text ||
         (sscanf(text, "%d/%d%c", shard, shards, &after) == 2 && *shard >= 1 && *shards >= *shard && *shards <= 99999);
}

static void print_end(const arguments *a, const cb_crew_progress *p, cb_status status, const cb_folder *folder) {
  const int64_t left = p->members - p->done - p->failed;
  if (a->json) {
    printf("{\"status\": ");
    cb_json_text(stdout, cb_status_name(status));
    printf(", \"text\": ");
    cb_json_text(stdout, status ? cb_error_text() : "");
    printf(", \"output\": ");
    cb_json_text(stdout, folder->result);
    printf(
        ", \"members\": %lld, \"done\": %lld, \"failed\": %lld, \"left\": %lld, \"here\": %lld, \"warned\": %lld, "
        "\"seconds\": %.6f}\n",
        (long long)p->members, (long long)p->done, (long long)p->failed, (long long)left,
        (long long)(p->done + p->failed - p->before), (long long)p->warned, p->seconds);
  } else if (!a->quiet && !status) {
    printf("%s: %lld members done, %lld failed", folder->result, (long long)p->done, (long long)p->failed);
    if (left) printf(", %lld left", (long long)left);
    printf("; %lld in %.3g s\n", (long long)(p->done + p->failed - p->before), p->seconds);
  }
}

static int go(cb_sweep *sweep, const arguments *a, const cb_ranks *ranks, cb_folder *folder) {
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  const bool tells = ranks->rank == 0 && !a->quiet && !a->json;
  cb_crew_options options = {.output = a->output, .ranks = ranks, .retry_failed = a->retry_failed, .joins = a->joins, .stop = &stop};
  read_shard(a->shard, &options.shard, &options.shards);
  options.threads = ranks->size > 1 && !cb_threads_chosen() ? 1 : cb_threads_for(CB_THREADS_MIN_ELEMENTS);
  if (tells && isatty(STDERR_FILENO)) options.progress = progress;
  if (sweep->layout.goes_on)
    options.threads = 1;
  else
    cb_threads_set(1); /* within a member */
  cb_crew_progress p;
  const cb_status status = cb_crew_go(sweep, &options, &p);
  if (options.progress) fputs("\r\033[K", stderr);
  int code = CB_EXIT_DONE;
  if (ranks->rank == 0) print_end(a, &p, status, folder);
  if (p.warned)
    cb_warn("%lld members were warned of, such as member %lld: %s; /warned and /warning have them", (long long)p.warned,
            (long long)p.first_warned, p.warning);
  if (status && (ranks->rank == 0 || status != CB_ERROR_INTERRUPTED))
    code = cb_report(status);
  else if (status)
    code = cb_exit_code(status);
  if (tells && p.unjoined)
    fprintf(
        stderr,
        "curvebody: note: the results stay in %s.parts: %s shows what is in it, and the same command joins it later\n",
        folder->result, folder->result);
  if (tells && p.failed && !status)
    fprintf(
        stderr,
        "curvebody: note: %lld members failed: /status is 2 and /failure says why; --retry-failed runs them again\n",
        (long long)p.failed);
  return code ? code : p.failed ? CB_EXIT_RUN_FAILED : CB_EXIT_DONE;
}

static int dry_run(cb_sweep *sweep, const arguments *a) {
  const int threads = cb_threads_for(CB_THREADS_MIN_ELEMENTS);
  cb_crew_estimate e;
  cb_threads_set(1);
  const cb_status status = cb_crew_estimate_of(sweep, threads, &stop, &e);
  if (status) return cb_report(status);
  if (a->json)
    printf(
        "{\"members\": %lld, \"disk\": %.0f, \"memory\": %.0f, \"sample\": %lld, \"failed\": %lld, "
        "\"seconds_a_member\": %.6g, \"threads\": %d, \"seconds\": %.6g}\n",
        (long long)e.members, e.disk, e.memory, (long long)e.sample, (long long)e.failed, e.seconds_a_member, threads,
        e.seconds);
  else
    printf(
        "%lld members; %.3g MB on disk, %.3g MB in memory for rows; %.3g s on %d threads, by %lld of them at %.3g "
        "ms%s\n",
        (long long)e.members, e.disk / 1e6, e.memory / 1e6, e.seconds, threads, (long long)e.sample,
        1e3 * e.seconds_a_member, e.failed ? ", of which some failed" : "");
  return CB_EXIT_DONE;
}

static int print_status(const arguments *a) {
  cb_folder folder;
  cb_crew_status s = {0};
  cb_status status = cb_folder_name(a->status, &folder);
  if (!status) status = cb_crew_status_of(&folder, &s);
  if (!status && a->json) {
    printf("{\"members\": %lld, \"done\": %lld, \"failed\": %lld, \"left\": %lld, \"runs\": %s, \"seconds\": ",
           (long long)s.survey.members, (long long)s.count[CB_MEMBER_DONE], (long long)s.count[CB_MEMBER_FAILED],
           (long long)s.count[CB_MEMBER_MISSING], s.runs ? "true" : "false");
    if (isfinite(s.survey.seconds))
      printf("%.6f}\n", s.survey.seconds);
    else
      printf("null}\n");
  } else if (!status) {
    char seconds[48] = "";
    if (isfinite(s.survey.seconds)) snprintf(seconds, sizeof seconds, " in %.3g s of their own", s.survey.seconds);
    printf("%s: %lld members: %lld done%s, %lld failed, %lld left; %s\n", folder.result, (long long)s.survey.members,
           (long long)s.count[CB_MEMBER_DONE], seconds, (long long)s.count[CB_MEMBER_FAILED],
           (long long)s.count[CB_MEMBER_MISSING],
           s.runs                       ? "it runs"
           : s.count[CB_MEMBER_MISSING] ? "nothing runs: the same command goes on"
                                        : "it is complete");
    for (size_t i = 0; i < sizeof s.words / sizeof *s.words; i++)
      if (s.words[i]) printf("  member %lld failed: %s\n", (long long)s.failed[i], s.words[i]);
  }
  cb_crew_status_free(&s);
  cb_folder_close(&folder, false);
  return status ? cb_report(status) : CB_EXIT_DONE;
}

static int with_ranks(cb_sweep *sweep, const arguments *a, cb_folder *folder) {
  cb_ranks ranks;
  const cb_status status = cb_ranks_begin(&ranks);
  if (status) return cb_report(status);
  if (ranks.size > 1 && a->shard)
    return ranks.finish(ranks.self, true),
           fprintf(stderr,
                   "curvebody sweep: error: --shard is for one process, not for "
                   "ranks of mpirun\n"),
           CB_EXIT_USAGE;
  const int code = go(sweep, a, &ranks, folder);
  ranks.finish(ranks.self, code != CB_EXIT_DONE && code != CB_EXIT_INTERRUPTED && code != CB_EXIT_RUN_FAILED);
  return code;
}

static int sweep_file(const char *path, const arguments *a) {
  cb_sweep_plan *plan;
  cb_sweep *sweep = NULL;
  cb_folder folder;
  int shard, shards;
  if (!read_shard(a->shard, &shard, &shards))
    return fprintf(stderr, "curvebody sweep: error: expected --shard K/N, the K-th of N parts, not `%s`\n", a->shard),
           CB_EXIT_USAGE;
  cb_status status = cb_folder_name(a->output, &folder);
  if (!status) status = cb_sweep_plan_open(path, a->sets.word, a->sets.count, &plan);
  if (!status) status = cb_sweep_create(plan, &sweep);
  const char *const inputs[] = {path, status ? path : sweep->plan->scenario_file ? sweep->plan->scenario_file : path};
  if (!status) status = cb_check_output(folder.result, (cb_files){inputs, 2});
  if (!status) status = cb_check_output(folder.result, cb_scenario_files(sweep->model));
  const int code = status ? cb_report(status) : a->dry_run ? dry_run(sweep, a) : with_ranks(sweep, a, &folder);
  cb_sweep_free(sweep);
  cb_folder_close(&folder, false);
  return code;
}

/* Results of members that have all ended are joined; members that are left may take days, and are not begun. A result that
 * is whole stays as it is. */
bool cb_sweep_repair(const char *output, int *code) {
  cb_folder folder;
  cb_crew_status s = {0};
  char sweep[PATH_MAX];
  struct stat info;
  cb_status status = cb_folder_name(output, &folder);
  const bool begun = !status && snprintf(sweep, sizeof sweep, "%s/%s", folder.segments.path, cb_segments_of_sweep) <
                                    (int)sizeof sweep && stat(sweep, &info) == 0,
             whole = !status && !begun && !cb_crew_status_of(&folder, &s) && !s.count[CB_MEMBER_MISSING];
  if (begun) *code = sweep_file(sweep, &(arguments){.output = output, .joins = true});
  if (whole) *code = CB_EXIT_DONE, printf("%s: whole, %lld members, left as it is\n", output, (long long)s.survey.members);
  cb_crew_status_free(&s);
  cb_folder_close(&folder, false);
  return begun || whole;
}

static int run(int argc, char **argv) {
  arguments a = {0};
  char output[4096];
  const cb_option options[] = {{"--output", "-o", true, cb_take_text, &a.output},
                               {"--set", NULL, true, cb_take_word, &a.sets},
                               {"--shard", NULL, true, cb_take_text, &a.shard},
                               {"--retry-failed", NULL, false, cb_take_flag, &a.retry_failed},
                               {"--dry-run", NULL, false, cb_take_flag, &a.dry_run},
                               {"--status", NULL, true, cb_take_text, &a.status},
                               {"--quiet", "-q", false, cb_take_flag, &a.quiet},
                               {"--json", NULL, false, cb_take_flag, &a.json},
                               {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_sweep, options, argc, argv, &words);
  if (usage) return usage;
  if (words != !a.status) return cb_usage(&cb_command_sweep);
  if (a.status) return print_status(&a);
  default_output(argv[0], output, sizeof output);
  if (!a.output) a.output = output;
  return sweep_file(argv[0], &a);
}

const cb_command cb_command_sweep = {
    "sweep",
    "SWEEP [-o OUT] [--set KEY=VALUE]... [--shard K/N] [--retry-failed] [--dry-run] [--quiet|--json]\n"
    "       curvebody sweep --status OUT [--json]",
    "Runs a scenario many times with other values, on all cores or under mpirun, into OUT.h5; the same "
    "command goes on with what was interrupted.",
    run, NULL};
