/* The kinetic energy of an immersed body over its shape space, which its bundle is made from. */
#ifndef CB_FLUID_IMMERSED_BUNDLE_PRIVATE_H
#define CB_FLUID_IMMERSED_BUNDLE_PRIVATE_H

#include "fluid/immersed_bundle.h"

enum { CB_IMMERSED_FORM = 6 + CB_SHAPE_SURFACE_VARIABLES };

/* What a body is; immutable, for any number of threads. */
typedef struct cb_immersed_energy {
  const cb_shape_surface *shape;
  cb_moving_mass *mass;
  double density;
  const cb_fluid_model *model; /* whose added mass; NULL: the local one */
  void *body;                  /* what it knows of it */
} cb_immersed_energy;

/* What the model, if any, knows of the body. */
cb_status cb_immersed_energy_prepare(cb_immersed_energy *e);
void cb_immersed_energy_release(cb_immersed_energy *e);
/* G += density times the form of a fluid of density 1, of motions dx[n][vertices] at x; sum[vertices] is overwritten. */
cb_status cb_immersed_energy_of_model(const cb_immersed_energy *e, const double (*x)[3], const double (*dx)[3],
                                      double (*sum)[3], double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM]);

/* The work arrays of one thread. */
typedef struct cb_immersed_work cb_immersed_work;
cb_status cb_immersed_work_create(const cb_immersed_energy *e, cb_immersed_work **out);
void cb_immersed_work_free(cb_immersed_work *w);
/* The vertices at r, in w: where they were for w's last form too. */
cb_status cb_immersed_places(const cb_immersed_energy *e, cb_immersed_work *w, const double *r, double (**x)[3]);
/* G and its derivatives dG[n] (NULL: not wanted); motion: R as well. */
cb_status cb_immersed_form_of(const cb_immersed_energy *e, cb_immersed_work *w, const double *r, bool motion,
                              double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM],
                              double (*dG)[CB_IMMERSED_FORM][CB_IMMERSED_FORM]);

#endif
