/* Points of rigid bodies, and particles without mass, in a builder: for systems that are coupled to rigid bodies
 * (coupling/coupled.h). */
#pragma once

#include <curvebody/expression.h>
#include <curvebody/system.h>

#include <stdbool.h>

/* Adds a point at x to an existing body. Must be called after all particles were added. Potentials and interactions
 * that act on the body, or on all bodies, do not act on the point. *index (may be NULL) is the number of the point. */
cb_status cb_builder_auxiliary(cb_builder *b, int body, const char *name, double radius, const double *x, int *index);
/* Returns the parameters and controls that expressions of forces may use, borrowed. */
const cb_expression_scope *cb_builder_scope(const cb_builder *b);
/* Makes the coordinates of all particles those of the world: no component gets an origin of its own. With `tracers`,
 * particles may have no mass, because a fluid carries them along. */
void cb_builder_couple(cb_builder *b, bool tracers);
bool cb_builder_takes_tracers(const cb_builder *b);
/* cb_builder_has_no_mass returns whether a particle is a tracer, which has no mass. cb_builder_is_of_tracers returns
 * whether a body (-1: any body) has tracers. */
bool cb_builder_has_no_mass(const cb_builder *b, int particle);
bool cb_builder_is_of_tracers(const cb_builder *b, int body);
