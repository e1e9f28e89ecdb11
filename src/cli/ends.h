/* Ends of the program that are not the end of main. Internal to src/cli. */
#ifndef CB_CLI_ENDS_H
#define CB_CLI_ENDS_H

/* From here on a library that calls exit, or crashes, leaves no half-made file, and that it was so is told: exit code
 * CB_EXIT_RUN_FAILED, or the signal. */
void cb_ends_watch(void);
/* Main is over: what follows is its end. */
void cb_ends_over(void);

#endif
