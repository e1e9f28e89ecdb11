/* The flow of Wong's equations by one panel of collocation: the mesh of an extremal with a single panel. */
#ifndef CB_OPTIMUM_EXTREMAL_FLOW_H
#define CB_OPTIMUM_EXTREMAL_FLOW_H

#include "optimum/extremal_private.h"

typedef struct flow {
  problem p;
  extremal_mesh *m;
} flow;

cb_status flow_create(const cb_wong *w, flow **out);
void flow_free(flow *f);

/* From x over a time h, first guessed along the tangent, or with `stage` as this part of the panel that begins with x;
 * until Newton's steps are below `settled`, to which derivatives are exact, and the end to its square. Then
 * m->at.x[size] is the end, m->affine[size] its derivative in x, m->element[1] the step of g from the identity, and
 * m->eta the change of that, right-trivialised. */
cb_status flow_step(flow *f, unsigned held, double h, const double *x, const double *stage, double part,
                    double settled);
cb_status flow_at(flow *f, const cb_extremal *e, double t, double *x, double *v);

#endif
