/* curvebody verify OUT.h5 [--quiet] */
#include "cli/cli.h"

static void tell(void *path, const char *text) { fprintf(stderr, "%s: error: %s\n", (const char *)path, text); }

static int run(int argc, char **argv) {
  bool quiet = false;
  const cb_option options[] = {{"--quiet", "-q", false, cb_take_flag, &quiet}, {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_verify, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1) return cb_usage(&cb_command_verify);
  cb_verify_report r;
  const cb_status status = cb_record_verify(argv[0], tell, argv[0], &r);
  if (status) return cb_report(status);
  if (!quiet)
    printf("%s: %s, %llu rows, %llu events%s, %llu checkpoints, %llu states measured again: %s\n", argv[0],
           r.completed ? "complete" : "not complete", (unsigned long long)r.rows, (unsigned long long)r.events,
           r.digests ? " in segments" : "", (unsigned long long)r.checkpoints, (unsigned long long)r.states,
           r.faults ? "faults" : "no fault");
  return r.faults ? CB_EXIT_USAGE : CB_EXIT_DONE;
}

const cb_command cb_command_verify = {"verify", "OUT.h5 [--quiet]",
                                      "Checks a record: structure, checksums of all rows, segments, order of time, "
                                      "checkpoint, scenario, and states against what is "
                                      "recorded of them; tells every fault with its place (exit code 2).",
                                      run, NULL};
