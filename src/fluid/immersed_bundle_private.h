/* The kinetic energy of an immersed body over its shape space, which its bundle is made from. */
#pragma once

#include "fluid/immersed_bundle.h"

enum { CB_IMMERSED_FORM = 6 + CB_SHAPE_SURFACE_VARIABLES };

/* Inertias of parts that may move rigidly (immersed_bundle_rigid.c). */
typedef struct cb_immersed_rigid cb_immersed_rigid;

/* What a body is; immutable, for any number of threads. */
typedef struct cb_immersed_energy {
  const cb_shape_surface *shape;
  cb_moving_mass *mass;
  double density;
  const cb_fluid_model *model; /* whose added mass; NULL: the local one */
  void *body;                  /* what it knows of it */
  cb_immersed_rigid *rigid;    /* own; NULL: the form is always summed over faces */
} cb_immersed_energy;

/* What the model, if any, knows of the body. */
cb_status cb_immersed_energy_prepare(cb_immersed_energy *e);
void cb_immersed_energy_release(cb_immersed_energy *e);
/* G += density times the form of a fluid of density 1, of motions dx[n][vertices] at x; sum[vertices] is
 * overwritten. */
cb_status cb_immersed_energy_of_model(const cb_immersed_energy *e, const double (*x)[3], const double (*dx)[3],
                                      double (*sum)[3], double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM]);

/* The work arrays of one thread. */
typedef struct cb_immersed_work cb_immersed_work;
cb_status cb_immersed_work_create(const cb_immersed_energy *e, cb_immersed_work **out);
void cb_immersed_work_free(cb_immersed_work *w);
/* Does the shape keep the volume of a sphere's fluid where its variables are 0, if it can be there? */
cb_status cb_immersed_begin(const cb_immersed_energy *e, cb_immersed_work *w);
/* The vertices at r, in w: where they were for w's last form too. */
cb_status cb_immersed_places(const cb_immersed_energy *e, cb_immersed_work *w, const double *r, double (**x)[3]);
/* G and its derivatives dG[n] (NULL: not wanted); motion: R as well. */
cb_status cb_immersed_form_of(const cb_immersed_energy *e, cb_immersed_work *w, const double *r, bool motion,
                              double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM],
                              double (*dG)[CB_IMMERSED_FORM][CB_IMMERSED_FORM]);

/* G without derivatives of vertices at x that move by dx[n][vertices]. */
cb_status cb_immersed_form_of_motion(const cb_immersed_energy *e, cb_immersed_work *w, const double (*x)[3],
                              const double (*dx)[3], bool motion, double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM]);

/* --- of parts that move rigidly --- */
/* NULL for a body that cannot have them: in curved space, with another model's added mass, or of parts that share
 * vertices. e->rigid is not set. */
cb_status cb_immersed_rigid_create(const cb_immersed_energy *e, cb_immersed_work *w, cb_immersed_rigid **out);
void cb_immersed_rigid_free(cb_immersed_rigid *own);
/* The vertices of a body with their derivatives; d2x only with dG. */
typedef struct cb_immersed_places_at {
  const double (*x)[3], (*dx)[3], (*d2x)[3];
} cb_immersed_places_at;
/* What finds the vertices that are looked at. */
const cb_shape_surface *cb_immersed_rigid_shape(const cb_immersed_energy *e);
/* G and its derivatives (NULL) where all parts are rigid there, to round-off; otherwise false. */
bool cb_immersed_rigid_form(const cb_immersed_energy *e, const cb_immersed_places_at *at,
                            double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM],
                            double (*dG)[CB_IMMERSED_FORM][CB_IMMERSED_FORM]);

/* --- in curved space: x and dx[n][vertices] are normal coordinates and their velocities --- */
/* CB_STEP_DOMAIN with a variable by which the body's volume changes in a sphere. */
cb_status cb_immersed_check_volume(const cb_immersed_energy *e, const double (*x)[3], const double (*dx)[3]);
/* Q_f and R_f of the local model; area[parts] and mean[parts][variables] are overwritten. */
void cb_immersed_add_fluid(const cb_immersed_energy *e, const cb_local_part *part, const double (*x)[3],
                           const double (*dx)[3], double *area, double (*mean)[CB_SHAPE_SURFACE_VARIABLES],
                           double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM]);
