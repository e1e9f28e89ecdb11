/* curvebody sweep SWEEP: runs a scenario many times with different values. */
#include "cli/cli.h"
#include "core/threads.h"
#include "core/failure.h"
#include "sweep/sweep.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct arguments {
  const char *output, *shard, *status;
  cli_list sets;
  bool retry_failed, dry_run, joins, quiet, json;
} arguments;

static void progress(void *user, const cb_sweep_progress *p) {
  (void)user;
  const int64_t ended = p->done + p->failed, here = ended - p->before;
  const double rate = p->seconds > 0 ? (double)here / p->seconds : 0;
  fprintf(stderr, "\r%5.1f %%  %lld of %lld members, %lld failed  %.3g per second  %.0f s left   ",
          100 * (double)ended / (double)p->members, (long long)ended, (long long)p->members, (long long)p->failed, rate,
          rate > 0 ? (double)(p->members - ended) / rate : 0);
}

static bool read_shard(const char *text, int *shard, int *shards) {
  char after;
  return !text ||
         (sscanf(text, "%d/%d%c", shard, shards, &after) == 2 && *shard >= 1 && *shards >= *shard && *shards <= 99999);
}

static void print_end(const arguments *a, const cb_sweep_progress *p, cb_status status, const cb_folder *folder) {
  const int64_t left = p->members - p->done - p->failed;
  if (a->json) {
    printf("{\"status\": ");
    cli_json_text(stdout, cb_status_name(status));
    printf(", \"text\": ");
    cli_json_text(stdout, status ? cb_error_text() : "");
    printf(", \"output\": ");
    cli_json_text(stdout, folder->result);
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

static int run_sweep(cb_sweep *sweep, const arguments *a, const cb_ranks *ranks, cb_folder *folder) {
  struct sigaction before[CLI_STOP_SIGNALS];
  const bool reports = ranks->rank == 0 && !a->quiet && !a->json;
  cb_sweep_options options = {.output = a->output, .ranks = ranks, .retry_failed = a->retry_failed, .joins = a->joins};
  options.stop = cli_stop_begin(before);
  read_shard(a->shard, &options.shard, &options.shards);
  options.threads = ranks->size > 1 && !cb_threads_chosen() ? 1 : cb_threads_for(CB_THREADS_MIN_ELEMENTS);
  if (reports && isatty(STDERR_FILENO)) options.progress = progress;
  if (sweep->layout.goes_on)
    options.threads = 1;
  else
    cb_threads_set(1); /* each member then uses one thread */
  cb_sweep_progress p;
  const cb_status status = cb_sweep_run(sweep, &options, &p);
  if (options.progress) fputs("\r\033[K", stderr);
  int code = CLI_EXIT_DONE;
  if (ranks->rank == 0) print_end(a, &p, status, folder);
  if (p.warned)
    cb_warn("%lld members have warnings, for example member %lld: %s; they are in /warned and /warning",
            (long long)p.warned, (long long)p.first_warned, p.warning);
  if (status && (ranks->rank == 0 || status != CB_ERROR_INTERRUPTED))
    code = cli_report(status);
  else if (status)
    code = cli_exit_code(status);
  if (reports && p.unjoined)
    fprintf(stderr,
            "curvebody: note: the results remain in %s.parts: %s shows the members there, and the same command joins "
            "them later\n",
            folder->result, folder->result);
  if (reports && p.failed && !status)
    fprintf(stderr,
            "curvebody: note: %lld members failed: their /status is 2 and /failure gives the reason; --retry-failed "
            "runs them again\n",
            (long long)p.failed);
  return code ? code : p.failed ? CLI_EXIT_RUN_FAILED : CLI_EXIT_DONE;
}

static int dry_run(cb_sweep *sweep, const arguments *a) {
  const int threads = cb_threads_for(CB_THREADS_MIN_ELEMENTS);
  cb_sweep_estimate e;
  const volatile sig_atomic_t never = 0;
  cb_threads_set(1);
  const cb_status status = cb_sweep_estimate_of(sweep, threads, &never, &e);
  if (status) return cli_report(status);
  if (a->json)
    printf(
        "{\"members\": %lld, \"disk\": %.0f, \"memory\": %.0f, \"sample\": %lld, \"failed\": %lld, "
        "\"seconds_a_member\": %.6g, \"threads\": %d, \"seconds\": %.6g}\n",
        (long long)e.members, e.disk, e.memory, (long long)e.sample, (long long)e.failed, e.seconds_a_member, threads,
        e.seconds);
  else
    printf(
        "%lld members; %.3g MB on disk, %.3g MB in memory for rows; %.3g s on %d threads, estimated from %lld members "
        "at %.3g ms each%s\n",
        (long long)e.members, e.disk / 1e6, e.memory / 1e6, e.seconds, threads, (long long)e.sample,
        1e3 * e.seconds_a_member, e.failed ? ", some of which failed" : "");
  return CLI_EXIT_DONE;
}

static int print_status(const arguments *a) {
  if (a->output || a->shard || a->sets.count || a->retry_failed || a->dry_run)
    return cli_misuse(&cli_command_sweep, "--status runs nothing: expected no other option than --json");
  cb_folder folder;
  cb_sweep_status s = {0};
  cb_status status = cb_folder_name(a->status, &folder);
  if (!status) status = cb_sweep_status_of(&folder, &s);
  if (!status && a->json) {
    printf("{\"members\": %lld, \"done\": %lld, \"failed\": %lld, \"left\": %lld, \"runs\": %s, \"seconds\": ",
           (long long)s.scan.members, (long long)s.count[CB_MEMBER_DONE], (long long)s.count[CB_MEMBER_FAILED],
           (long long)s.count[CB_MEMBER_MISSING], s.runs ? "true" : "false");
    if (isfinite(s.scan.seconds))
      printf("%.6f}\n", s.scan.seconds);
    else
      printf("null}\n");
  } else if (!status) {
    char seconds[48] = "";
    if (isfinite(s.scan.seconds)) snprintf(seconds, sizeof seconds, " in %.3g s in total", s.scan.seconds);
    printf("%s: %lld members: %lld done%s, %lld failed, %lld left; %s\n", folder.result, (long long)s.scan.members,
           (long long)s.count[CB_MEMBER_DONE], seconds, (long long)s.count[CB_MEMBER_FAILED],
           (long long)s.count[CB_MEMBER_MISSING],
           s.runs                       ? "the sweep is running"
           : s.count[CB_MEMBER_MISSING] ? "the sweep is not running: the same command continues it"
                                        : "the sweep is complete");
    for (size_t i = 0; i < sizeof s.text / sizeof *s.text; i++)
      if (s.text[i]) printf("  member %lld failed: %s\n", (long long)s.failed[i], s.text[i]);
  }
  cb_sweep_status_free(&s);
  cb_folder_close(&folder, false);
  return status ? cli_report(status) : CLI_EXIT_DONE;
}

static int with_ranks(cb_sweep *sweep, const arguments *a, cb_folder *folder) {
  cb_ranks ranks;
  const cb_status status = cb_ranks_begin(&ranks);
  if (status) return cli_report(status);
  if (ranks.size > 1 && a->shard) {
    ranks.finish(ranks.self, true);
    fprintf(stderr, "curvebody sweep: error: expected no --shard under mpirun: --shard is for single processes\n");
    return CLI_EXIT_USAGE;
  }
  const int code = run_sweep(sweep, a, &ranks, folder);
  ranks.finish(ranks.self, code != CLI_EXIT_DONE && code != CLI_EXIT_INTERRUPTED && code != CLI_EXIT_RUN_FAILED);
  return code;
}

static int sweep_file(const char *path, const arguments *a) {
  cb_sweep_plan *plan;
  cb_sweep *sweep = NULL;
  cb_folder folder;
  int shard, shards;
  if (!read_shard(a->shard, &shard, &shards))
    return cli_misuse(&cli_command_sweep, "expected --shard K/N, the K-th of N parts, not `%s`", a->shard);
  cb_status status = cb_folder_name(a->output, &folder);
  if (!status) status = cb_sweep_plan_open(path, a->sets.item, a->sets.count, &plan);
  if (!status) status = cb_sweep_create(plan, &sweep);
  const char *const inputs[] = {path, status ? path : sweep->plan->scenario_file ? sweep->plan->scenario_file : path};
  if (!status) status = cli_check_output(folder.result, (cb_files){inputs, 2});
  if (!status) status = cli_check_output(folder.result, cb_scenario_files(sweep->model));
  const int code = status ? cli_report(status) : a->dry_run ? dry_run(sweep, a) : with_ranks(sweep, a, &folder);
  cb_sweep_free(sweep);
  cb_folder_close(&folder, false);
  return code;
}

/* Joins the results if all members have ended. Members that have not run may take days, and are not started. A complete
 * result does not change. */
bool cli_sweep_repair(const char *output, int *code) {
  cb_folder folder;
  cb_sweep_status s = {0};
  char sweep[PATH_MAX];
  struct stat info;
  cb_status status = cb_folder_name(output, &folder);
  const bool begun = !status &&
                     snprintf(sweep, sizeof sweep, "%s/%s", folder.segments.path, cb_segments_of_sweep) <
                         (int)sizeof sweep &&
                     stat(sweep, &info) == 0,
             whole = !status && !begun && !cb_sweep_status_of(&folder, &s) && !s.count[CB_MEMBER_MISSING];
  if (begun) *code = sweep_file(sweep, &(arguments){.output = output, .joins = true});
  if (whole) {
    *code = CLI_EXIT_DONE;
    printf("%s: complete, %lld members, unchanged\n", output, (long long)s.scan.members);
  }
  cb_sweep_status_free(&s);
  cb_folder_close(&folder, false);
  return begun || whole;
}

static int run(void *taken, char **operand) {
  arguments *a = taken;
  const char *sweep = operand[0];
  char output[4096];
  if (a->status)
    return sweep ? cli_misuse(&cli_command_sweep, "unexpected `%s`: expected no SWEEP with --status", sweep)
                 : print_status(a);
  if (!sweep) return cli_misuse(&cli_command_sweep, "SWEEP is missing");
  if (!a->output && !strcmp(sweep, "-"))
    return cli_misuse(&cli_command_sweep, "a sweep from the standard input has no name: expected -o OUT");
  cli_default_output(sweep, "", output, sizeof output);
  if (!a->output) a->output = output;
  const cb_status status = cli_check_hdf5(a->output);
  return status ? cli_report(status) : sweep_file(sweep, a);
}

static const cli_option options[] = {
    CLI_OPTION("output", 'o', CLI_VALUE, output, "OUT", "the sweep's name, in this folder", "@files",
               "the results go to OUT.h5; during the sweep they are in OUT.h5.parts"),
    CLI_OPTION("set", 0, CLI_LIST, sets, "KEY=VALUE", NULL, "sweep. " CLI_KEYS,
               "changes a value in the file of the sweep"),
    CLI_OPTION("shard", 0, CLI_VALUE, shard, "K/N", "1/1", NULL,
               "runs only the K-th of N parts; each part may run on a different machine"),
    CLI_OPTION("retry-failed", 0, CLI_FLAG, retry_failed, NULL, NULL, NULL, "runs members that failed again"),
    CLI_OPTION("dry-run", 0, CLI_FLAG, dry_run, NULL, NULL, NULL,
               "prints the number of members, and estimates of disk space, memory and time; runs only a few members"),
    CLI_OPTION("status", 0, CLI_VALUE, status, "OUT", NULL, "@files",
               "prints the progress of a sweep, during it or after it, and runs nothing"),
    CLI_OPTION("quiet", 'q', CLI_FLAG, quiet, NULL, NULL, NULL,
               "prints no progress, no notes and no last line, only warnings"),
    CLI_OPTION("json", 0, CLI_FLAG, json, NULL, NULL, NULL, "prints the last line, or the status, as JSON"),
    CLI_END};
static const cli_operand operands[] = {{"SWEEP", "@files", "a file with the key `sweep`", NULL}, {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody sweep speeds.yaml -o speeds", "Runs all members on all cores and writes speeds.h5."},
    {"mpirun -n 64 curvebody sweep speeds.yaml -o speeds", "Runs all members with 64 processes."},
    {"curvebody sweep --status speeds", "Prints how many members are done, failed and left."},
    {NULL, NULL}};

const cli_command cli_command_sweep = {
    .name = "sweep",
    .usage = "SWEEP [OPTION]...\n--status OUT [--json]",
    .summary = "Runs a scenario many times with different values, on all cores or under mpirun.",
    .details = "The same command continues a sweep that was interrupted.",
    .exits = "The status is 1 if members of the sweep failed.",
    .options = options,
    .operands = operands,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
