#ifndef CB_CLI_COMPLETION_H
#define CB_CLI_COMPLETION_H

#include "cli/cli.h"

#include <stddef.h>

/* The completion of bash, of these commands, on stdout. */
void cb_print_completion(const cb_command *const *commands, size_t n);

#endif
