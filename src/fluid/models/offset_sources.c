/* The added mass of closed bodies by point sources inside them. The model serves for comparison: `exact` is always more
 * accurate.
 *
 *   grad phi = sum_j sigma_j (x - s_j)/|x - s_j|^3,  s_j = x_j - offset l n_j at each vertex
 *   sum_j sigma_j W_ij = A_i m_i in least squares over faces,  K_ab = sum_i (sum_j sigma_aj/|c_i - s_j|) m_b,i A_i
 *
 * phi is the potential, K the added mass for density 1, and a and b number the six unit twists. s_j is the place of
 * source j, and sigma_aj its strength in motion a. x_j is a vertex. Its normal n_j is the mean of the normals of its
 * faces, weighted by area. l is the root mean square of the edge lengths, and offset a parameter. Face i has the centre
 * c_i, the normal n_i, the area A_i and m_i = (c_i × n_i, n_i) with the components m_b,i. W_ij is the solid angle of
 * face i as seen from s_j.
 *
 * Sources: Weissmann & Pinkall (2012), ACM Trans. Graph. 31, 104, doi 10.1145/2185520.2185600; Wang (2019), Hunan
 * University, bachelor's thesis on the motion of one rigid body under water, eqs 6 to 11. Two things in the thesis are
 * corrected: signs that cancel in K, and the missing area of a face in the flux of a rotation.
 *
 * The method does not converge, because the equations lose rank if the sources are deep. If the body is thinner than
 * twice the depth, sources are outside. The model fails with an error in that case, if a mass is 0 or negative, or if
 * the least squares miss the fluxes.
 */
#include "fluid/fluid_shared.h"

#include "numerics/vec3.h"
#include "potential/panels.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOUR_PI 12.566370614359172954

extern void dgels_(const char *trans, const int *m, const int *n, const int *columns, double *a, const int *lda,
                   double *b, const int *ldb, double *work, const int *size, int *info, size_t);

enum { COLUMNS = 7 };

typedef struct offset_sources {
  double offset, memory;
} offset_sources;

static const cb_param params[] = {
    {"offset", CB_PARAM_REAL, offsetof(offset_sources, offset), "1", "", "> 0", NULL,
     "depth of the sources below the vertices, divided by the root mean square length of the edges"},
    {"memory", CB_PARAM_REAL, offsetof(offset_sources, memory), "4e9", "", "> 0", NULL, "maximum memory in bytes"},
    {0},
};

typedef struct sources {
  int faces, n;
  cb_panels *p;
  /* s[n]: places of the sources; matrix[n][faces]: the solid angles W_ij, by sources; w[COLUMNS][faces]: normal
   * velocities of the faces in each motion; sigma[COLUMNS][faces]: before the solution, the fluxes through the faces in
   * each motion; after it, the strengths of the n sources, then numbers whose squares add up to the square of the
   * residual */
  double (*s)[3], *matrix, *w, *sigma;
  double radius;
  /* The root mean square of the flux that the solution misses, divided by the root mean square of the flux itself. This
   * is the maximum of the ratio over the motions that find_residual checks. */
  double residual;
  int outside; /* number of sources outside the body */
} sources;

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  (void)mass;
  (void)body;
  return cb_fluid_model_check_closed(m, surface, "`exact` or `local`");
}

static void place(sources *o, const cb_surface *surface, const double (*x)[3], double offset) {
  double square = 0;
  memset(o->s, 0, (size_t)o->n * sizeof *o->s);
  for (int f = 0; f < o->faces; f++)
    for (int k = 0; k < 3; k++) {
      const int a = surface->face[f][k], b = surface->face[f][(k + 1) % 3];
      for (int c = 0; c < 3; c++) {
        square += (x[b][c] - x[a][c]) * (x[b][c] - x[a][c]) / (3.0 * o->faces);
        o->s[a][c] += o->p->area[f] * o->p->normal[f][c];
      }
    }
  for (int v = 0; v < o->n; v++) {
    const double size = sqrt(cb_dot3(o->s[v], o->s[v]));
    for (int c = 0; c < 3; c++) o->s[v][c] = x[v][c] - (size > 0 ? offset * sqrt(square) / size * o->s[v][c] : 0);
  }
}

/* Sets w to the normal velocities, and sigma to the fluxes, of seven motions: the six unit twists about the origin, and
 * the motion v of the shape (NULL: none). */
static void set_motions(sources *o, const cb_surface *surface, const double (*v)[3]) {
  const size_t faces = (size_t)o->faces;
  double area = 0, square = 0;
  for (size_t f = 0; f < faces; f++) {
    const double *n = o->p->normal[f], *c = o->p->centre[f];
    double m[COLUMNS] = {0};
    cb_cross3(c, n, m);
    memcpy(m + 3, n, 3 * sizeof *m);
    for (int k = 0; v && k < 3; k++) m[6] += cb_dot3(v[surface->face[f][k]], n) / 3;
    for (size_t a = 0; a < COLUMNS; a++) {
      o->w[a * faces + f] = m[a];
      o->sigma[a * faces + f] = o->p->area[f] * m[a];
    }
    area += o->p->area[f];
    square += o->p->area[f] * cb_dot3(c, c);
  }
  o->radius = sqrt(square / area);
}

/* Finds `residual`. The least-squares routine stores the residuals after the solution. A rotation that hardly moves the
 * fluid, for instance of a nearly rotationally symmetric body about its axis, is not checked. */
static void find_residual(sources *o) {
  const double unit[2] = {o->radius, 1};
  double left[6] = {0}, all[6] = {0}, maximum = 0;
  for (size_t a = 0; a < 6; a++) {
    for (size_t i = 0; i < (size_t)o->faces; i++) {
      const size_t at = a * (size_t)o->faces + i;
      all[a] += pow(o->p->area[i] * o->w[at] / unit[a / 3], 2);
      if (i >= (size_t)o->n) left[a] += pow(o->sigma[at] / unit[a / 3], 2);
    }
    maximum = fmax(maximum, all[a]);
  }
  o->residual = 0;
  for (int a = 0; a < 6; a++)
    if (a >= 3 || all[a] > 0.05 * maximum) o->residual = fmax(o->residual, sqrt(left[a] / all[a]));
}

static cb_status solve(sources *o) {
  const int columns = COLUMNS;
  for (int j = 0; j < o->n; j++) {
    double *column = o->matrix + (size_t)j * (size_t)o->faces;
    cb_panels_row(o->p, o->s[j], o->faces, NULL, -1, NULL, column);
    /* column has the numbers D of potential/panels.h: the solid angle of a panel divided by 4 pi, positive from its
     * front */
    double seen = 0;
    for (int i = 0; i < o->faces; i++) seen += column[i] *= -FOUR_PI;
    o->outside += seen < FOUR_PI / 2;
  }
  double want;
  int info, size = -1;
  dgels_("N", &o->faces, &o->n, &columns, o->matrix, &o->faces, o->sigma, &o->faces, &want, &size, &info, 1);
  size = (int)want;
  double *work = malloc((size_t)size * sizeof *work);
  if (!work) return cb_fail(CB_ERROR_MEMORY, "no memory for sources in %d faces", o->faces);
  dgels_("N", &o->faces, &o->n, &columns, o->matrix, &o->faces, o->sigma, &o->faces, work, &size, &info, 1);
  free(work);
  if (info == 0) find_residual(o);
  if (info == 0) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the equations of the offset sources are singular: expected a smaller `offset`, or the model `exact`");
}

static void integrate(const sources *o, bool moving, cb_added_mass *out) {
  const size_t faces = (size_t)o->faces;
  double raw[COLUMNS][COLUMNS] = {{0}};
  for (int i = 0; i < o->faces; i++) {
    double potential[COLUMNS] = {0};
    for (int j = 0; j < o->n; j++) {
      const double d[3] = {o->p->centre[i][0] - o->s[j][0], o->p->centre[i][1] - o->s[j][1],
                           o->p->centre[i][2] - o->s[j][2]};
      const double near = 1 / sqrt(cb_dot3(d, d));
      for (size_t a = 0; a < COLUMNS; a++) potential[a] += o->sigma[a * faces + (size_t)j] * near;
    }
    for (size_t a = 0; a < COLUMNS; a++)
      for (size_t b = 0; b < COLUMNS; b++) raw[a][b] += potential[a] * o->w[b * faces + (size_t)i] * o->p->area[i];
  }
  *out = (cb_added_mass){.faces = o->faces, .method = "least squares"};
  const double maximum = fmax(fmax(raw[3][3], raw[4][4]), raw[5][5]);
  for (int a = 0; a < 6; a++) {
    for (int b = 0; b < 6; b++) {
      const double unit = maximum * (a < 3 ? o->radius : 1) * (b < 3 ? o->radius : 1);
      out->K[a][b] = (raw[a][b] + raw[b][a]) / 2;
      out->asymmetry = fmax(out->asymmetry, fabs(raw[a][b] - raw[b][a]) / unit);
    }
    if (moving) out->mu0[a] = raw[6][a];
  }
  if (moving) out->kinetic = raw[6][6] / 2;
}

/* Returns CB_ERROR_DOMAIN unless every translation has a positive mass (above 1e-6 of the largest), and every motion
 * has a mass above -1e-2 of the largest. (The mass of a rotation of a body of revolution about its axis is 0 up to the
 * error of the method.) */
static cb_status check_positive(const sources *o, const double K[6][6]) {
  double least[2];
  for (int all = 0; all < 2; all++) {
    const size_t n = all ? 6 : 3;
    double a[36], values[6];
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++) {
        const size_t p = all ? i : i + 3, q = all ? j : j + 3;
        a[i * n + j] = K[p][q] / ((p < 3 ? o->radius : 1) * (q < 3 ? o->radius : 1));
      }
    gsl_matrix_view A = gsl_matrix_view_array(a, n, n);
    gsl_vector_view at = gsl_vector_view_array(values, n);
    gsl_eigen_symm_workspace *work = gsl_eigen_symm_alloc(n);
    if (!work) return cb_fail(CB_ERROR_MEMORY, "no memory for eigenvalues");
    gsl_eigen_symm(&A.matrix, &at.vector, work);
    gsl_eigen_symm_free(work);
    double maximum = 0;
    for (size_t i = 0; i < n; i++) maximum = fmax(maximum, values[i]);
    least[all] = maximum > 0 ? INFINITY : -INFINITY;
    for (size_t i = 0; i < n && maximum > 0; i++) least[all] = fmin(least[all], values[i] / maximum);
    if (!(maximum < INFINITY)) least[all] = -INFINITY;
  }
  if (least[0] > 1e-6 && least[1] > -1e-2) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the added mass by offset_sources is not positive, because the body is too thin or `offset` does not "
                 "suit its faces: expected finer faces, another `offset`, or the model `exact`");
}

/* Fails if the solution misses the fluxes, or if sources are outside the body. There they would be in the fluid, and
 * the flow would be another one. */
static cb_status check_flow(const sources *o) {
  /* In measurements on ellipsoids the relative error of K is 0.01 at a residual of 0.05, 0.07 at 0.25, and 0.3 at 0.5.
   */
  static const double maximum = 0.3;
  if (o->outside > 0)
    return cb_fail(CB_ERROR_DOMAIN,
                   "%d of the %d sources of offset_sources lie outside the body: expected finer faces, a smaller "
                   "`offset`, or the model `exact`",
                   o->outside, o->n);
  if (o->residual <= maximum) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the flow by offset_sources misses %.2g of the flux of a motion of the body, more than the limit of "
                 "%g: expected finer faces, another `offset`, or the model `exact`",
                 o->residual, maximum);
}

static cb_status find(sources *o, const cb_surface *surface, const double (*x)[3], const double (*v)[3], double offset,
                      cb_added_mass *out) {
  cb_status status = cb_panels_create(o->faces, x, (const int(*)[3])surface->face, &o->p);
  if (status) return status;
  place(o, surface, x, offset);
  set_motions(o, surface, v);
  status = solve(o);
  if (status) return status;
  integrate(o, v, out);
  status = check_positive(o, (const double(*)[6])out->K);
  if (!status) status = check_flow(o);
  out->error = o->residual / 2; /* more than the errors that were measured (see check_flow) */
  out->tolerance = 0.03;
  return status;
}

static cb_status added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                            const double (*v)[3], cb_added_mass *out) {
  const offset_sources *own = m->params;
  sources o = {.faces = surface->faces, .n = surface->vertices};
  const size_t faces = (size_t)o.faces, n = (size_t)o.n;
  const double bytes = 8.0 * (double)faces * (double)n;
  (void)body;
  if (bytes > own->memory)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the matrix of %d sources for %d faces needs %.3g GB, more than `memory` = %.3g GB", o.n, o.faces,
                   1e-9 * bytes, 1e-9 * own->memory);
  o.s = malloc(n * sizeof *o.s);
  o.matrix = malloc(faces * n * sizeof *o.matrix);
  o.w = malloc(COLUMNS * faces * sizeof *o.w);
  o.sigma = malloc(COLUMNS * faces * sizeof *o.sigma);
  const cb_status status = o.s && o.matrix && o.w && o.sigma
                               ? find(&o, surface, x, v, own->offset, out)
                               : cb_fail(CB_ERROR_MEMORY, "no memory for sources in %d faces", o.faces);
  cb_panels_free(o.p);
  free(o.s);
  free(o.matrix);
  free(o.w);
  free(o.sigma);
  return status;
}

const cb_fluid_model_class cb_fluid_model_offset_sources = {
    .name = "offset_sources",
    .title = "point sources below the surface",
    .doc =
        "added mass of closed bodies by sources offset inwards, for comparison with `exact`; it does not converge, and "
        "thin bodies are an error; no forces",
    .params = params,
    .params_size = sizeof(offset_sources),
    .prepare = prepare,
    .added_mass = added_mass,
};
