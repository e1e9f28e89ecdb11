/* curvebody repair OUT.h5 */
#include "cli/cli.h"

static int run(int argc, char **argv) {
  const cb_option options[] = {{NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_repair, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1) return cb_usage(&cb_command_repair);
  int code;
  if (cb_sweep_repair(argv[0], &code)) return code;
  cb_repair_report report;
  const cb_status status = cb_record_repair(argv[0], &report);
  if (status) return cb_report(status);
  if (report.was_closed)
    printf("%s: whole, %llu rows, left as it is\n", argv[0], (unsigned long long)report.rows);
  else
    printf("%s: repaired, %llu rows, %llu events, joined from %s.parts\n", argv[0], (unsigned long long)report.rows,
           (unsigned long long)report.events, argv[0]);
  return CB_EXIT_DONE;
}

const cb_command cb_command_repair = {"repair", "OUT.h5", "Joins the segments of a run that was killed, or of a run or sweep that could not join them, into one file.",
                                      run, NULL};
