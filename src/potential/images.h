/* The operator of bodies before a plane, by their images: as one of both, whose normal velocities and potentials are
 *   rigid    w' = w,  phi' = phi     no flow through it; a free surface that waves have no time to leave, omega -> 0
 *   free     w' = -w, phi' = -phi    phi = 0 on it: a free surface at rest, omega -> infinity
 * of the mirrored panels, turned so that they point outwards. Sources: Lamb (1932), chapter VI; Newman, Marine
 * Hydrodynamics (1977), chapter 6, for the limits of phi_tt + g phi_z = 0. As exact as the panels: the plane itself has
 * none. Twice the panels in each product.
 */
#pragma once

#include "potential/operator.h"

typedef struct cb_images cb_images;

/* The normal of length 1; CB_ERROR_ARGUMENT where it has no direction. */
cb_status cb_mirror_check(cb_mirror *wall);

/* As cb_operator_create, of options with a wall. CB_ERROR_DOMAIN where a panel is not on the fluid's side. */
cb_status cb_images_create(const cb_panels *p, const cb_kirchhoff_options *options, cb_images **out);
void cb_images_free(cb_images *m);
void cb_images_renew(cb_images *m);
cb_status cb_images_solve(cb_images *m, int columns, const double *w, double *phi);
cb_operator_report cb_images_report_of(const cb_images *m);
