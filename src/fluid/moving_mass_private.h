/* What the files of moving masses share. */
#ifndef CB_FLUID_MOVING_MASS_PRIVATE_H
#define CB_FLUID_MOVING_MASS_PRIVATE_H

#include "fluid/moving_mass.h"

struct cb_moving_part {
  int begin, end; /* faces */
  bool closed, sheet;
  double mass; /* of the whole part */
};

struct cb_moving_mass {
  int vertices, parts, points;
  double curvature; /* of the space; then places are normal coordinates */
  struct cb_moving_part *part;
  int (*face)[3];   /* by parts */
  double *weight;   /* [faces]: mass of a sheet's face */
  double *share;    /* [faces]: of the part's rest area, which is the apex's weight */
  char (*name)[40]; /* [parts] */
  cb_point_mass *point;
};

/* The mass of a closed part as it is given; CB_ERROR_UNSUPPORTED for others. */
cb_status cb_moving_mass_curved_part(const cb_moving_mass *m, struct cb_moving_part *p, const double (*x)[3],
                                     double density);
/* cb_moving_mass_at and cb_moving_mass_energy in a curved space, of closed solids and point masses. */
cb_status cb_moving_mass_curved(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3], cb_mass *out,
                                double mu0[6]);
double cb_moving_mass_curved_energy(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3]);

#endif
