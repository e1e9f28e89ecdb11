/* What is worth a warning in a body that may be right nevertheless. */
#ifndef CB_CLI_WARNINGS_H
#define CB_CLI_WARNINGS_H

#include "fluid/local.h"
#include <curvebody/fluid_model.h>
#include <curvebody/mass.h>
#include <curvebody/scenario.h>

/* From then on what takes long or much memory is told on stderr before it does, as of `name`, which is borrowed. */
void cb_say_beforehand(const char *name);
/* One line on stderr. */
__attribute__((format(printf, 1, 2))) void cb_warn(const char *format, ...);
/* Keys that --set took away with the class they are of, one line each on stderr. */
void cb_note_left_out(const cb_scenario *scenario);

/* Names the constraints that were dropped as implied by the others. */
void cb_note_dropped(const cb_scenario *scenario);
/* Parts that cut themselves or each other, whose masses and faces then count twice. body: before the text,
 * such as "body `fish`: "; or "". */
cb_status cb_warn_of_cuts(const cb_surface *surface, const char *body);
/* Parts whose added mass is not the local model's own: hollow, or bent inwards on the whole. */
void cb_warn_of_parts(const cb_surface *surface, const cb_local_part *part, const char *body);
/* Of a surface in a curved space, whose added mass may be the local one: where that has a sink at the antipode, as large
 * as tells, and faces too large for their order. use: how the user has the exact one. */
void cb_warn_of_curvature(const cb_surface *surface, double area, bool local, const char *use, const char *body);
/* Borders whose vertices stand at or near the place of others, which `weld`, as the user writes it, would join. */
cb_status cb_warn_of_seams(const cb_surface *surface, const char *weld, const char *body);
/* A line on stderr of the holes of a file's mesh that were closed, and of those that were too large. */
void cb_note_closed(const cb_surface *surface, const char *body);
/* A line on stderr of a body of more than 1000 t whose file may be in millimetres. scale: as the user writes it. */
void cb_note_large(const cb_surface *surface, const cb_mass *mass, const char *scale, const char *body);
/* How its added mass was found by a fluid model of that name, and how well, in one line on stdout. */
void cb_print_solution(const char *before, const char *model, const cb_surface *surface, const cb_added_mass *added);
/* All for every body of a scenario, and poses that jump; copies are told of once. */
cb_status cb_warn_of_bodies(cb_scenario *scenario);

#endif
