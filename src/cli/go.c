#include "cli/cli.h"
#include "cli/warnings.h"
#include "core/failure.h"
#include "record/folder.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void interrupt(int signal_) {
  (void)signal_;
  stop = 1;
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
    cb_json_text(stdout, list[i].text);
    putchar('}');
  }
  putchar(']');
}

/* Of what is conserved: each by its name, with what stands before the first. */
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

static void summary(cb_scenario *scenario, const cb_go_options *options, cb_status status, const char *text,
                    double seconds) {
  const cb_run *run = cb_scenario_run(scenario);
  const char *stopped = cb_run_stopped(run);
  if (options->json) {
    printf("{\"status\": ");
    cb_json_text(stdout, cb_status_name(status));
    printf(", \"text\": ");
    cb_json_text(stdout, text);
    printf(", \"stopped_by\": ");
    if (stopped)
      cb_json_text(stdout, stopped);
    else
      printf("null");
    printf(", \"output\": ");
    cb_json_text(stdout, options->output);
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

static int go(cb_scenario *scenario, cb_record *record, const cb_go_options *options) {
  /* once: what a second one does is the system's affair, so that a long step can be left */
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, old_int, old_term;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);

  cb_sink sink = cb_record_sink(record);
  const size_t printed = cb_print_run_warnings(cb_scenario_run(scenario), 0, options->output);
  const bool shows = !options->quiet && !options->json && isatty(STDERR_FILENO);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  cb_status status = cb_run_on_warning(cb_scenario_run(scenario), cb_record_warning, record);
  if (!status) status = cb_run_go(cb_scenario_run(scenario), &sink, shows ? progress : NULL, NULL, &stop);
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
  sigaction(SIGINT, &old_int, NULL);
  sigaction(SIGTERM, &old_term, NULL);

  cb_print_run_warnings(cb_scenario_run(scenario), printed, options->output);
  if (status) {
    cb_fail_known(&known, status, "%s", text);
    cb_report(status);
    if (cb_record_outcome_of(record) == CB_OUTCOME_NOTHING)
      fprintf(stderr, "curvebody: note: nothing of what was computed could be recorded in %s\n", options->output);
    else
      fprintf(stderr, "curvebody: note: what was computed is in %s%s\n", options->output,
              status == CB_ERROR_INTERRUPTED ? "; `curvebody resume` goes on from its last checkpoint" : "");
  }
  const char *stopped = cb_run_stopped(cb_scenario_run(scenario));
  if (options->resumes && stopped)
    fprintf(stderr, "curvebody: note: the run has been stopped by the event `%s` at time %.17g, and goes no further\n",
            stopped, cb_run_time(cb_scenario_run(scenario)));
  summary(scenario, options, status, text,
          (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
  if (cb_record_outcome_of(record) == CB_OUTCOME_SEGMENTS) {
    fflush(stdout);
    fprintf(stderr, "curvebody: note: %s is in segments, in %s.parts: `curvebody repair %s` joins them\n",
            options->output, options->output, options->output);
  }
  return status == CB_OK || status == CB_ERROR_FILE || status == CB_ERROR_INTERRUPTED ? cb_exit_code(status)
                                                                                      : CB_EXIT_RUN_FAILED;
}

int cb_go(cb_status status, cb_scenario *scenario, cb_record *record, const cb_go_options *options) {
  const int code = status ? cb_report(status) : go(scenario, record, options);
  cb_record_free(record);
  cb_scenario_free(scenario);
  return code;
}

cb_status cb_check_inputs(cb_reader *reader, const char *path, cb_scenario *scenario) {
  const char *then;
  const cb_status status = cb_reader_attribute(reader, "inputs_sha256", &then);
  if (status || !*then || !strcmp(then, cb_scenario_inputs(scenario))) return status;
  return cb_fail(CB_ERROR_INPUT, "%s: error: a file that its scenario names (mesh, poses or grid) has changed since",
                 path);
}
