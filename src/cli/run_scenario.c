/* Runs a scenario into a record for the commands run and resume: progress, interruption, and the summary on stdout. */
#include "cli/cli.h"
#include "core/failure.h"
#include "record/folder.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* SIGINT comes from Ctrl-C, SIGHUP from a terminal that closes, and the others from batch systems, before they end a
 * job. */
static const int stop_signals[CLI_STOP_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
static volatile sig_atomic_t stop;

static void interrupt(int signal_) {
  (void)signal_;
  stop = 1;
}

const volatile sig_atomic_t *cli_stop_begin(struct sigaction before[CLI_STOP_SIGNALS]) {
  for (int i = 0; i < CLI_STOP_SIGNALS; i++) {
    struct sigaction action = {.sa_handler = interrupt};
    sigemptyset(&action.sa_mask);
    /* A second SIGINT or SIGTERM has its default effect, so that a user can end a long step. Other signals may come
     * twice although no user wants to end the step: a shell repeats the SIGHUP of its terminal. */
    if (stop_signals[i] == SIGINT || stop_signals[i] == SIGTERM) action.sa_flags = (int)SA_RESETHAND;
    sigaction(stop_signals[i], &action, &before[i]);
    /* If SIGHUP was ignored before, as with nohup, it stays ignored. SIGINT stops the run even if it was ignored
     * before: shells ignore it in background jobs. */
    if (stop_signals[i] == SIGHUP && before[i].sa_handler == SIG_IGN) sigaction(SIGHUP, &before[i], NULL);
  }
  return &stop;
}

void cli_stop_end(const struct sigaction before[CLI_STOP_SIGNALS]) {
  for (int i = 0; i < CLI_STOP_SIGNALS; i++) sigaction(stop_signals[i], &before[i], NULL);
}

static void progress(void *user, const cb_progress *p) {
  (void)user;
  const double done = p->end > p->start ? (p->time - p->start) / (p->end - p->start) : 1;
  const double left = p->steps_a_second > 0 && p->step > 0
                          ? (p->end - p->time) / (p->time - p->start) * (double)p->step / p->steps_a_second
                          : NAN;
  fprintf(stderr, "\r%5.1f %%  time %.6g of %.6g  %.3g steps/s  %.0f s left   ", 100 * done, p->time, p->end,
          p->steps_a_second, left);
}

static void json_warnings(const cb_run *run) {
  const cb_run_warning *list;
  const size_t count = cb_run_warnings(run, &list);
  printf(", \"warnings\": [");
  for (size_t i = 0; i < count; i++) {
    printf(isnan(list[i].time) ? "%s{\"time\": null, \"text\": " : "%s{\"time\": %.17g, \"text\": ", i ? ", " : "",
           list[i].time);
    cli_json_text(stdout, list[i].text);
    putchar('}');
  }
  putchar(']');
}

/* Prints the changes of conserved quantities by their names; `before` is printed before the first one. */
static void changes(const cb_run *run, const char *before, const char *format) {
  const cb_run_change c = cb_run_changes(run);
  const char *const names[] = {"energy", "momentum", "constraint"};
  const double value[] = {c.energy, c.momentum, c.constraint};
  for (int i = 0; i < 3; i++)
    if (isfinite(value[i])) {
      fputs(before, stdout);
      printf(format, names[i], value[i]);
      before = ", ";
    }
}

static void summary(cb_scenario *scenario, const cli_run_options *options, cb_status status, const char *text,
                    double seconds) {
  const cb_run *run = cb_scenario_run(scenario);
  const char *stopped = cb_run_stopped(run);
  if (options->json) {
    printf("{\"status\": ");
    cli_json_text(stdout, cb_status_name(status));
    printf(", \"text\": ");
    cli_json_text(stdout, text);
    printf(", \"stopped_by\": ");
    if (stopped)
      cli_json_text(stdout, stopped);
    else
      printf("null");
    printf(", \"output\": ");
    cli_json_text(stdout, options->output);
    json_warnings(run);
    printf(", \"change\": {");
    changes(run, "", "\"%s\": %.17g");
    printf("}, \"since\": %.17g", cb_run_changes(run).since);
    printf(", \"time\": %.17g, \"step\": %lld, \"solver\": \"%s\", \"seconds\": %.6f}\n", cb_run_time(run),
           (long long)cb_run_steps(run), cb_scenario_integrator(scenario)->solver, seconds);
  } else if (!options->quiet && !status) {
    printf("%s: time %.17g, %lld steps in %.3g s", options->output, cb_run_time(run), (long long)cb_run_steps(run),
           seconds);
    char since[64];
    snprintf(since, sizeof since, "; changed since time %.6g: ", cb_run_changes(run).since);
    changes(run, since, "%s %.1g");
    if (stopped) printf("; stopped by the event `%s`", stopped);
    putchar('\n');
  }
}

static int run_and_record(cb_scenario *scenario, cb_record *record, const cli_run_options *options) {
  struct sigaction before[CLI_STOP_SIGNALS];
  const volatile sig_atomic_t *stopped_by_signal = cli_stop_begin(before);
  cb_sink sink = cb_record_sink(record);
  const size_t printed = cli_print_run_warnings(cb_scenario_run(scenario), 0, options->output);
  const bool shows = !options->quiet && !options->json && isatty(STDERR_FILENO);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  cb_status status = cb_run_on_warning(cb_scenario_run(scenario), cb_record_warning, record);
  if (!status) status = cb_run_go(cb_scenario_run(scenario), &sink, shows ? progress : NULL, NULL, stopped_by_signal);
  if (shows) fputs("\r\033[K", stderr);
  char text[2048] = "";
  cb_failure known = cb_failure_last();
  if (status) strncpy(text, cb_error_text(), sizeof text - 1);
  const cb_status closed = sink.close(sink.self, status == CB_OK);
  if (!status && closed) {
    status = closed;
    known = cb_failure_last();
    strncpy(text, cb_error_text(), sizeof text - 1);
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  cli_stop_end(before);

  cli_print_run_warnings(cb_scenario_run(scenario), printed, options->output);
  if (status) {
    cb_fail_known(&known, status, "%s", text);
    cli_report(status);
    if (cb_record_outcome_of(record) == CB_OUTCOME_NOTHING)
      fprintf(stderr, "curvebody: note: no result could be recorded in %s\n", options->output);
    else
      fprintf(stderr, "curvebody: note: the results so far are in %s%s\n", options->output,
              status == CB_ERROR_INTERRUPTED ? "; `curvebody resume` continues from the last checkpoint" : "");
  }
  const char *stopped = cb_run_stopped(cb_scenario_run(scenario));
  if (options->resumes && stopped)
    fprintf(stderr, "curvebody: note: the event `%s` stopped the run at time %.17g, so the run does not continue\n",
            stopped, cb_run_time(cb_scenario_run(scenario)));
  summary(scenario, options, status, text,
          (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
  if (cb_record_outcome_of(record) == CB_OUTCOME_SEGMENTS) {
    fflush(stdout);
    fprintf(stderr, "curvebody: note: %s is in segments, in %s.parts: `curvebody repair %s` joins them\n",
            options->output, options->output, options->output);
  }
  return status == CB_OK || status == CB_ERROR_FILE || status == CB_ERROR_INTERRUPTED ? cli_exit_code(status)
                                                                                      : CLI_EXIT_RUN_FAILED;
}

int cli_run_scenario(cb_status status, cb_scenario *scenario, cb_record *record, const cli_run_options *options) {
  const int code = status ? cli_report(status) : run_and_record(scenario, record, options);
  cb_record_free(record);
  cb_scenario_free(scenario);
  return code;
}

cb_status cli_check_inputs(cb_reader *reader, const char *path, cb_scenario *scenario) {
  const char *then;
  const cb_status status = cb_reader_attribute(reader, "inputs_sha256", &then);
  if (status || !*then || !strcmp(then, cb_scenario_inputs(scenario))) return status;
  return cb_fail(CB_ERROR_INPUT,
                 "%s: error: a file that the scenario names (mesh, poses or grid) has changed since the run: expected "
                 "the same file",
                 path);
}
