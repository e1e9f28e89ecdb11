/* Convex sets from the surface of a body (convex_surface.c). */
#pragma once

#include "core/arena.h"
#include "coupling/convex.h"
#include <curvebody/surface.h>

/* Finds the convex set out[parts] of each part of a flat surface, in the arena. *hull: the first part that is not convex,
 * whose convex hull is taken; -1: all are convex. */
cb_status cb_convex_of_surface(const cb_surface *s, cb_arena *arena, cb_convex **out, int *hull);
