/* Warnings about bodies that may nevertheless be right. The functions give their warnings with cb_warn
 * (core/failure.h); cb_scenario_warn adds warnings to the run. */
#pragma once

#include "core/failure.h"
#include "fluid/local.h"
#include <curvebody/fluid_model.h>
#include <curvebody/configuration.h>

/* Warns of parts that intersect themselves or each other, whose masses and faces then count twice. body: the beginning
 * of the text, such as "body `fish`: ", or "". */
cb_status cb_warn_of_cuts(const cb_surface *surface, const char *body);
/* Warns of an added mass whose estimated error is above its tolerance. */
void cb_warn_of_error(const cb_added_mass *added, const char *body);
/* Warns of parts for which the local model of added mass is not valid: hollow parts, and parts that are mostly
 * concave. */
void cb_warn_of_parts(const cb_surface *surface, const cb_local_part *part, const char *body);
/* Warns of a surface in a curved space if its faces are too large. If `local` is set, the local model computes the
 * added mass. On a sphere its flow has a sink at the antipode of the body, so the function also warns if this sink has
 * a noticeable effect. area: the area of the surface; use: the key, in the user's notation, that selects the exact
 * added mass. */
void cb_warn_of_curvature(const cb_surface *surface, double area, bool local, const char *use, const char *body);
/* Warns of border vertices at or near other vertices. weld: the key, in the user's notation, that joins such
 * vertices. */
cb_status cb_warn_of_seams(const cb_surface *surface, const char *weld, const char *body);
/* Notes the holes in the mesh of a file that were closed, and the holes that were too large. */
void cb_note_closed(const cb_surface *surface, const char *body);
/* Notes that a body of more than 1000 t may come from a file in millimetres. scale: the key in the user's notation. */
void cb_note_large(const cb_surface *surface, const cb_mass *mass, const char *scale, const char *body);
/* Gives the warnings of this file for the body of an `immersed` bundle, whose surface has the vertices of its shape at
 * rest. */
cb_status cb_scenario_warn_of_bundle(cb_scenario *scenario);
/* Gives the warnings of this file for each body of a scenario, and warnings of poses that jump. Copies of a body are
 * reported once. */
cb_status cb_scenario_warn_of_bodies(cb_scenario *scenario);
/* Repeats the warnings that were given while the scenario was read; the warning taker of this thread gets them. */
void cb_scenario_warn_again(const cb_scenario *scenario);
/* Returns the lines `# PATH: text` at the beginning of cb_scenario_resolved, which name the keys that --set removed; ""
 * if no key was removed. The text belongs to the scenario. */
const char *cb_scenario_notes(const cb_scenario *scenario);
