/* What --set took away from a scenario (scenario/class.c). Internal. */
#ifndef CB_SCENARIO_NOTES_H
#define CB_SCENARIO_NOTES_H

#include <curvebody/scenario.h>

/* Lines `# PATH: text`, as they begin cb_scenario_resolved; borrowed. "" where nothing was left out. */
const char *cb_scenario_notes(const cb_scenario *scenario);

#endif
