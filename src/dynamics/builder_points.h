/* Points of rigid bodies, and particles without mass, in a builder: for systems that are coupled to rigid bodies
 * (coupling/coupled.h). */
#pragma once

#include <curvebody/system.h>

#include <stdbool.h>

/* Adds a point at x to a body that was begun before, after all particles. It belongs to no group: potentials and
 * interactions of the body, or of all bodies, do not act on it. */
cb_status cb_builder_auxiliary(cb_builder *b, int body, const char *name, double radius, const double *x, int *index);
/* Coordinates of all particles will be those of the world: no component has an origin of its own. tracers: particles may
 * have no mass, because a fluid carries them along. */
void cb_builder_couple(cb_builder *b, bool tracers);
bool cb_builder_takes_tracers(const cb_builder *b);
/* Whether the particle is a tracer, which has no mass; whether those of the body are; body -1: those of any body. */
bool cb_builder_has_no_mass(const cb_builder *b, int particle);
bool cb_builder_is_of_tracers(const cb_builder *b, int body);
