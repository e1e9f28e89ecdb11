/* curvebody verify OUT.h5: reports every error in a record. */
#include "cli/cli.h"

static void print_fault(void *path, const char *text) { fprintf(stderr, "%s: error: %s\n", (const char *)path, text); }

typedef struct arguments {
  bool quiet;
} arguments;

static int run(void *taken, char **operand) {
  const arguments *a = taken;
  cb_verify_report r;
  const cb_status status = cb_record_verify(operand[0], print_fault, operand[0], &r);
  if (status) return cli_report(status);
  if (!a->quiet)
    printf("%s: %s, %llu rows, %llu events%s, %llu checkpoints, %llu states computed again: %s\n", operand[0],
           r.completed ? "complete" : "not complete", (unsigned long long)r.rows, (unsigned long long)r.events,
           r.digests ? " in segments" : "", (unsigned long long)r.checkpoints, (unsigned long long)r.states,
           r.faults ? "errors" : "no errors");
  return r.faults ? CLI_EXIT_USAGE : CLI_EXIT_DONE;
}

static const cli_option options[] = {CLI_OPTION("quiet", 'q', CLI_FLAG, quiet, NULL, NULL, NULL, "prints only errors"),
                                     CLI_END};
static const cli_operand operands[] = {{"OUT.h5", "@files", "a record", NULL}, {.name = NULL}};
static const cli_example examples[] = {{"curvebody verify rod.h5", "Prints every error, or `no errors`."},
                                       {NULL, NULL}};

const cli_command cli_command_verify = {
    .name = "verify",
    .usage = "OUT.h5 [OPTION]...",
    .summary = "Checks a record and reports every error with its position.",
    .details =
        "It checks the structure, the checksums of all rows, the segments, the order of time, the checkpoint and the "
        "scenario. It also computes some recorded states again and compares them.",
    .exits = "The status is 2 if the record has an error.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
