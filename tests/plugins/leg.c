/* A plugin: the bundle `hopping_leg`, written again with public headers: A = (f, 0), f = m (l + d)^2/(I + m (l + d)^2),
 * M = diag(I f, m), in the shape variables psi and d. I is the inertia of the body, m the mass of the foot, l + d the
 * length of the leg. A and M are written once, on jets. */
#include <curvebody/plugin.h>
#include <stdlib.h>

typedef struct leg {
  double inertia, mass, length;
} leg;

static cb_status init(cb_bundle *b, const void *params) {
  leg *own = malloc(sizeof *own);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a leg");
  *own = *(const leg *)params;
  b->self = own;
  b->group = cb_group_find("so2");
  b->n = 2;
  b->shape[0] = "psi";
  b->shape[1] = "d";
  return CB_OK;
}

static void destroy(cb_bundle *b) { free(b->self); }

static cb_status on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  const leg *p = b->self;
  const int n = r->n;
  const cb_jet length = cb_jet_shift(&r[1], p->length), square = cb_jet_mul(&length, &length);
  const cb_jet foot = cb_jet_scale(&square, p->mass), all = cb_jet_shift(&foot, p->inertia),
               f = cb_jet_div(&foot, &all);
  if (A) {
    A[0] = f;
    A[1] = cb_jet_constant(n, 0);
  }
  if (M) {
    M[0] = cb_jet_scale(&f, p->inertia);
    M[1] = M[2] = cb_jet_constant(n, 0);
    M[3] = cb_jet_constant(n, p->mass);
  }
  return CB_OK;
}

static const cb_param params[] = {
    {"inertia", CB_PARAM_REAL, offsetof(leg, inertia), "1", "mass length^2", "> 0", NULL, "of the body"},
    {"mass", CB_PARAM_REAL, offsetof(leg, mass), "1", "mass", "> 0", NULL, "of the foot"},
    {"length", CB_PARAM_REAL, offsetof(leg, length), "1", "length", ">= 0", NULL, "of the leg at d = 0"},
    {NULL, CB_PARAM_REAL, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_bundle_class my_leg = {.name = "leg",
                                       .title = "hopping robot in flight",
                                       .doc = "a body that turns and extends a leg",
                                       .params = params,
                                       .params_size = sizeof(leg),
                                       .init = init,
                                       .destroy = destroy,
                                       .on_jets = on_jets};

CB_PLUGIN(CB_PLUGIN_BUNDLE(&my_leg));
