/* What a medium does to surfaces in it; see curvebody/medium.h. */
#ifndef CB_FLUID_MEDIUM_H
#define CB_FLUID_MEDIUM_H

#include <curvebody/medium.h>

/* Is it the same within the box middle ± half[0] ± half[1] ± half[2], and which? Layers alone are. */
bool cb_medium_is_even(const cb_medium *m, const double middle[3], const double half[3][3], double *density);
/* Mean densities over faces with the given corners: density[n], and slope[n][corner][axis] (NULL: not wanted), their
 * exact derivatives. Partly filled on failure. */
cb_status cb_medium_faces(const cb_medium *m, int n, const double (*corner)[3][3], double *density,
                          double (*slope)[3][3]);

/* What a closed surface of n faces displaces, or with thickness[n] (metres; NULL: closed) sheets: their faces' areas
 * times thickness. In the world: mass; moment[3], int rho x_h dV across up; and to along[3] is added int Q dV along up
 * (that of the potential -|g| <along, up>; NULL: not wanted, and the column below not asked for; may be moment). The
 * surfaces may be several. */
cb_status cb_medium_displaced(const cb_medium *m, int n, const double (*corner)[3][3], const double *thickness,
                              double *mass, double moment[3], double along[3]);

#endif
