/* Points of rigid bodies, and particles without mass, in a builder: for systems that are coupled to rigid bodies
 * (coupling/coupled.h). */
#pragma once

#include <curvebody/system.h>

#include <stdbool.h>

/* Adds a point at x to a body that was begun before, after all particles. It belongs to no group: potentials and interactions of the body, or
 * of all bodies, do not act on it. */
cb_status cb_builder_auxiliary(cb_builder *b, int body, const char *name, double radius, const double *x, int *index);
/* Allows particles without mass, which a fluid carries along. */
void cb_builder_tracers(cb_builder *b, bool allowed);
bool cb_builder_takes_tracers(const cb_builder *b);
