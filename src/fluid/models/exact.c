/* The exact added mass of closed bodies: Kirchhoff's tensor of the potential flow about them (potential/kirchhoff.h), of
 * a perfect fluid that fills space. It has no forces of its own.
 */
#include <curvebody/fluid_model.h>

#include "potential/kirchhoff.h"

#include <string.h>

typedef struct exact {
  double far_error, memory;
  int method;
} exact;

static const cb_param params[] = {
    {"far_error", CB_PARAM_REAL, offsetof(exact, far_error), "1e-6", "", "[1e-11, 1e-2]", NULL,
     "of the far field and ten times that of the linear equations, relative to the greatest potential"},
    {"method", CB_PARAM_CHOICE, offsetof(exact, method), "best", "", "", "best|dense|iterative",
     "how the equations are solved: factors of the matrix, or an iteration"},
    {"memory", CB_PARAM_REAL, offsetof(exact, memory), "4e9", "", "> 0", NULL, "bytes that may be taken"},
    {0},
};

static cb_status closed(const cb_surface *s) {
  for (int p = 0; p < s->parts; p++)
    if (s->open[p])
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "the exact added mass is for closed surfaces, and the part %d `%s` has a border: expected "
                     "`added_mass: local`, or a thin closed part in its place",
                     p + 1, s->name[p]);
  return CB_OK;
}

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  (void)m, (void)mass, (void)body;
  return closed(surface);
}

static cb_status added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                            const double (*v)[3], cb_added_mass *out) {
  const exact *own = m->params;
  const cb_kirchhoff_options options = {.method = (cb_potential_method)own->method,
                                        .far_error = own->far_error,
                                        .memory = own->memory < 1e18 ? (size_t)own->memory : (size_t)1e18};
  cb_kirchhoff *k = NULL;
  cb_kirchhoff_mass mass;
  (void)body;
  cb_status status = closed(surface);
  if (!status)
    status = cb_kirchhoff_create(surface->vertices, x, surface->faces, (const int(*)[3])surface->face, &options, &k);
  if (!status) status = cb_kirchhoff_added_mass(k, v, &mass);
  cb_kirchhoff_free(k);
  if (status) return status;
  memcpy(out->K, mass.K, sizeof out->K);
  memcpy(out->mu0, mass.mu0, sizeof out->mu0);
  out->kinetic = mass.kinetic;
  return CB_OK;
}

const cb_fluid_model_class cb_fluid_model_exact = {
    .name = "exact",
    .title = "potential flow",
    .doc = "exact added mass of closed bodies in a perfect fluid, from the flow about them; no forces",
    .params = params,
    .params_size = sizeof(exact),
    .prepare = prepare,
    .added_mass = added_mass,
};
