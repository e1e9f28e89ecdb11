/* A plugin: Newton's model of the force on each face, which depends on whether the face moves into the fluid or away
 * from it, and the added mass of the sphere of the same volume V around its centre c.
 *
 *   f = -(k/2) rho A <u, n>|<u, n>| n,  k = a where <u, n> > 0, b elsewhere;   K = (V/2) M^T M,  M = (-hat(c), 1)
 *
 * f is the force on a face with area A, outward normal n and velocity u relative to the fluid of density rho; a and b
 * are the parameters of the model. K is the added mass per density of the fluid, for any motion of the shape.
 */
#include <curvebody/plugin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct newton {
  double a, b;
} newton;

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  (void)m;
  (void)surface;
  if (!(*body = malloc(sizeof *mass))) return cb_fail(CB_ERROR_MEMORY, "no memory for a sphere");
  memcpy(*body, mass, sizeof *mass);
  return CB_OK;
}

static void release(const cb_fluid_model *m, void *body) {
  (void)m;
  free(body);
}

static void on_face(const cb_fluid_model *m, const void *body, const cb_fluid_face *face, const double u[3], double *f,
                    double *df) {
  (void)body;
  const newton *p = m->params;
  const double *n = face->normal, into = u[0] * n[0] + u[1] * n[1] + u[2] * n[2];
  const int term = !(into > 0);
  const double k = (term ? p->b : p->a) * face->density * face->area;
  for (int i = 0; i < 3; i++) {
    f[3 * term + i] = -k / 2 * into * fabs(into) * n[i];
    for (int j = 0; df && j < 3; j++) df[9 * term + 3 * i + j] = -k * fabs(into) * n[i] * n[j];
  }
}

static cb_status added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                            const double (*v)[3], cb_added_mass *out) {
  (void)m;
  (void)surface;
  (void)x;
  (void)v;
  const cb_mass *mass = body;
  const double *c = mass->volume_centre,
               M[3][6] = {{0, c[2], -c[1], 1}, {-c[2], 0, c[0], 0, 1}, {c[1], -c[0], 0, 0, 0, 1}};
  memset(out, 0, sizeof *out);
  for (int i = 0; i < 108; i++) out->K[i / 18][i / 3 % 6] += mass->volume / 2 * M[i % 3][i / 18] * M[i % 3][i / 3 % 6];
  return CB_OK;
}

static const char *const terms[] = {"windward", "lee", NULL};
static const cb_param params[] = {{"a", CB_PARAM_REAL, offsetof(newton, a), "2", "", ">= 0", NULL, "windward"},
                                  {"b", CB_PARAM_REAL, offsetof(newton, b), "0.5", "", ">= 0", NULL, "lee"},
                                  {NULL, CB_PARAM_REAL, 0, NULL, NULL, NULL, NULL, NULL}};
static const cb_fluid_model_class my_newton = {.name = "newton",
                                               .title = "normal drag of faces",
                                               .doc = "and the added mass of a sphere",
                                               .params = params,
                                               .params_size = sizeof(newton),
                                               .prepare = prepare,
                                               .release = release,
                                               .terms = terms,
                                               .on_face = on_face,
                                               .added_mass = added_mass};
CB_PLUGIN(CB_PLUGIN_FLUID_MODEL(&my_newton));
