/* What is worth a warning in a body that may be right nevertheless: by cb_warn (core/warning.h), but for scenarios,
 * whose runs have them. */
#pragma once

#include "core/warning.h"
#include "fluid/local.h"
#include <curvebody/fluid_model.h>
#include <curvebody/scenario.h>

/* Parts that cut themselves or each other, whose masses and faces then count twice. body: before the text,
 * such as "body `fish`: "; or "". */
cb_status cb_warn_of_cuts(const cb_surface *surface, const char *body);
/* An added mass whose estimated error is above what it should be. */
void cb_warn_of_error(const cb_added_mass *added, const char *body);
/* Parts whose added mass is not the local model's own: hollow, or bent inwards on the whole. */
void cb_warn_of_parts(const cb_surface *surface, const cb_local_part *part, const char *body);
/* Of a surface in a curved space, whose added mass may be the local one: where that has a sink at the antipode, as
 * large as tells, and faces too large for their order. use: how the user has the exact one. */
void cb_warn_of_curvature(const cb_surface *surface, double area, bool local, const char *use, const char *body);
/* Borders whose vertices stand at or near the place of others, which `weld`, as the user writes it, would join. */
cb_status cb_warn_of_seams(const cb_surface *surface, const char *weld, const char *body);
/* A note of the holes of a file's mesh that were closed, and of those that were too large. */
void cb_note_closed(const cb_surface *surface, const char *body);
/* A note of a body of more than 1000 t whose file may be in millimetres. scale: as the user writes it. */
void cb_note_large(const cb_surface *surface, const cb_mass *mass, const char *scale, const char *body);
/* All for the body of an `immersed` bundle, in the shape that its surface has: by cb_warn. */
cb_status cb_scenario_warn_of_bundle(const cb_scenario *scenario);
/* What was warned of while the scenario was read, to the takers of this thread. */
void cb_scenario_warn_again(const cb_scenario *scenario);
/* Both, and all for every body of a scenario, and poses that jump, into the warnings of its run (cb_run_warnings),
 * before it goes on or is restored; copies are told of once. */
cb_status cb_scenario_warn(cb_scenario *scenario);

/* Lines `# PATH: text`, as they begin cb_scenario_resolved; borrowed. "" where nothing was left out. */
const char *cb_scenario_notes(const cb_scenario *scenario);
