/* `space` and `potentials` of a scenario of bodies in a fluid. */
#ifndef CB_SCENARIO_CURVED_H
#define CB_SCENARIO_CURVED_H

#include "scenario/fluid.h"

/* The space that the fluid fills, one that isometries carry bodies about in. */
cb_status cb_scenario_read_filled(cb_scenario *s, const cb_node *node);
/* What of `fluid`, and of a body, has no meaning in that space. flow and medium were read. */
cb_status cb_scenario_check_filling(const cb_scenario *s, const cb_node *fluid);
cb_status cb_scenario_check_curved_body(const cb_scenario *s, const cb_node *body);
/* Lays the surface by `chart` of its body (NULL: gnomonic). */
cb_status cb_scenario_lay(cb_scenario *s, const cb_node *body, const cb_node *chart, cb_surface *surface);
/* In place: where bodies may be. */
cb_status cb_scenario_check_place(const cb_scenario *s, const cb_node *position, const double x[3]);
/* What the potentials are for each entry of `bodies`, in s->fluid->potential. */
cb_status cb_scenario_read_potentials(cb_scenario *s, const cb_node *potentials, const cb_node *bodies);
/* What a run cannot do there, once its integrator is known. */
cb_status cb_scenario_check_curved_run(const cb_scenario *s);

#endif
