/* Warnings into a run, from outside of it. Internal. */
#ifndef CB_RUN_WARN_H
#define CB_RUN_WARN_H

#include <curvebody/run.h>

/* One more, in the record too where it has begun. time nan: of the scenario, before it runs. Takes the text, made by
 * malloc (NULL: there was no memory), also on failure. */
cb_status cb_run_warn(cb_run *run, double time, char *text);

#endif
