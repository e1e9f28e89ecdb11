/* A connected component of a system as a system of its own: what a method needs to move it alone. */
#pragma once

#include <curvebody/system.h>
#include <stdbool.h>

/* Places first .. of the component become places 0 ..; bodies keep their numbers. Names and expressions are borrowed:
 * `s` has to outlive it. Has no contacts. */
cb_status cb_system_extract(const cb_system *s, int component, cb_system **out);

/* How much the place of a wall, a point of the world, may be off by round-off of its coordinates: a length. */
double cb_system_wall_doubt(const cb_system *s, int wall);

struct cb_bases;
/* The bases of its components at the start. */
const struct cb_bases *cb_system_bases(const cb_system *s);

/* A single particle on which nothing acts: it follows a geodesic, whatever its mass. */
bool cb_system_component_free(const cb_system *s, int component);
/* Do the particles of two components feel the same laws? True for single particles of one mass and charge under the
 * same potentials and forces, without constraints: an extract of one can move the other. */
bool cb_system_components_alike(const cb_system *s, int a, int b);
