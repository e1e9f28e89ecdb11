/* Kirchhoff's tensor of a body that changes its shape: what was prepared of it is kept, each time solved from the same
 * start, so that K, mu0 and kinetic depend on the places and velocities alone, whatever was asked before and by whom.
 *
 *   start    the potentials of the body as it was created, from which an iteration has half of its way
 * Called from any thread: each has a piece of its own while it works.
 */
#pragma once

#include "potential/kirchhoff.h"

typedef struct cb_moving cb_moving;

/* As cb_kirchhoff_create, solved at x; x and face are borrowed for its life. The caller frees. */
cb_status cb_moving_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                           const cb_kirchhoff_options *options, cb_moving **out);
void cb_moving_free(cb_moving *m);
/* With the vertices at x, which move with v (NULL: at rest). */
cb_status cb_moving_added_mass(cb_moving *m, const double (*x)[3], const double (*v)[3], cb_kirchhoff_mass *out);
/* cb_kirchhoff_form with the vertices at x. */
cb_status cb_moving_form(cb_moving *m, const double (*x)[3], int n, const double (*v)[3], double *G);
/* Of the body as it was created. */
cb_kirchhoff_report cb_moving_report(const cb_moving *m);
