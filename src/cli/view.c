/* curvebody view OUT.h5 [-o PAGE.html] [--frames N] [--watch] */
#include "cli/cli.h"
#include "record/folder.h"

#include <curvebody/view.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAUSE = 1 };

static bool is_written(const char *path) { return cb_record_state(path) == CB_FOLDER_HELD; }

/* Once a second until nobody writes any more, and then once for good. A moment in which the record cannot be read, as
 * while it is closed, is passed over. */
static cb_status watch(const char *path, const char *output, cb_view_options how) {
  how.watched = true;
  while (is_written(path)) {
    const cb_status status = cb_view_write(path, output, &how);
    if (status && is_written(path) && status != CB_ERROR_FILE) return status;
    sleep(PAUSE);
  }
  how.watched = false;
  return cb_view_write(path, output, &how);
}

static int run(int argc, char **argv) {
  const char *output = NULL, *frames = NULL;
  bool watched = false;
  const cb_option options[] = {{"--output", "-o", true, cb_take_text, &output},
                               {"--frames", NULL, true, cb_take_text, &frames},
                               {"--watch", NULL, false, cb_take_flag, &watched},
                               {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_view, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1) return cb_usage(&cb_command_view);
  cb_view_options how = {0};
  if (frames) {
    char *end;
    const long long value = strtoll(frames, &end, 10);
    if (*end || end == frames || value < 1 || value > 1000000)
      return fprintf(stderr, "curvebody view: error: expected a number of frames from 1 to 1000000, not `%s`\n",
                     frames),
             CB_EXIT_USAGE;
    how.frames = (uint64_t)value;
  }
  char name[4096];
  if (!output) {
    const size_t length = strlen(argv[0]),
                 cut = length > 3 && !strcmp(argv[0] + length - 3, ".h5") ? length - 3 : length;
    snprintf(name, sizeof name, "%.*s.html", (int)cut, argv[0]);
    output = name;
  }
  cb_status status = cb_check_output(output, (cb_files){(const char **)argv, 1});
  if (!status) status = watched ? watch(argv[0], output, how) : cb_view_write(argv[0], output, &how);
  if (status) return cb_report(status);
  printf("%s\n", output);
  return CB_EXIT_DONE;
}

const cb_command cb_command_view = {
    "view", "OUT.h5 [-o PAGE.html] [--frames N] [--watch]",
    "Writes one page that shows a record in a browser, without server or network: what moves, from outside, followed "
    "and from inside the space, and every observable beside it. --frames: pictures (default: as many rows as fit into "
    "16 MB, "
    "at most 2000). --watch: the page is written once a second while the run goes on, and loads itself again.",
    run, NULL};
