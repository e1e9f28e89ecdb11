/* The connection between `ida` and SUNDIALS: its objects, the functions that it calls, and its return values. */
#include "integrators/ida_private.h"

#include <ida/ida.h>
#include <math.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

/* Keeps the message of an evaluation that failed. Returns 1 if a smaller step may succeed, and -1 otherwise. */
static int failed(cb_ida *m, cb_status status) {
  m->failure = status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  strncpy(m->text, cb_error_text(), sizeof m->text - 1);
  return m->failure > 0 ? 1 : -1;
}

static cb_status not_finite(cb_ida *m, double t, int i) {
  if (i >= 2 * m->nk)
    return cb_fail(CB_STEP_NOT_FINITE, "constraints are not finite at time %.17g: use a smaller `step`", t);
  const cb_system *s = m->integrator->system;
  m->integrator->failed_particle = i % m->nk / m->k;
  return cb_fail(CB_STEP_NOT_FINITE, "the motion of `%s` is not finite at time %.17g: use a smaller `step`",
                 cb_system_particle_name(s, cb_system_particle(s, m->integrator->failed_particle)), t);
}

static int residual(sunrealtype t, N_Vector y, N_Vector yp, N_Vector r, void *self) {
  cb_ida *m = self;
  double *out = N_VGetArrayPointer(r);
  cb_status status = cb_ida_residual(m, t, N_VGetArrayPointer(y), N_VGetArrayPointer(yp), out);
  for (int i = 0; !status && i < m->size; i++)
    if (!isfinite(out[i])) status = not_finite(m, t, i);
  return status ? failed(m, status) : 0;
}

/* NOLINTNEXTLINE(readability-function-size): SUNDIALS prescribes the parameters */
static int jacobian(sunrealtype t, sunrealtype c, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix J, void *self,
                    N_Vector a, N_Vector b, N_Vector d) {
  (void)r;
  (void)a;
  (void)b;
  (void)d;
  cb_ida *m = self;
  sunindextype *start = m->sparse ? SUNSparseMatrix_IndexPointers(J) : NULL,
               *row = m->sparse ? SUNSparseMatrix_IndexValues(J) : NULL;
  const int columns = m->sparse ? m->size : -1, nonzeros = m->sparse ? (int)m->entries.nonzeros : 0;
  for (int k = 0; k <= columns; k++) start[k] = m->columns.start[k];
  for (int e = 0; e < nonzeros; e++) row[e] = m->columns.row[e];
  cb_entries_begin(&m->entries, m->sparse ? SUNSparseMatrix_Data(J) : SUNDenseMatrix_Data(J));
  const cb_status status = cb_ida_jacobian(m, t, c, N_VGetArrayPointer(y), N_VGetArrayPointer(yp));
  return status ? failed(m, status) : 0;
}

static int weights(N_Vector y, N_Vector weight, void *self) {
  const cb_ida *m = self;
  double *w = N_VGetArrayPointer(weight);
  cb_ida_weights(m, N_VGetArrayPointer(y), w);
  for (int i = 0; i < m->size; i++)
    if (!(w[i] > 0 && w[i] < INFINITY)) return -1;
  return 0;
}

/* SUNDIALS would print its message. This handler stores it instead, unless an evaluation has already stored a
 * message. */
CB_SUNDIALS_HANDLER(complain) {
  cb_ida *m = self;
  if (code < 0 && !m->failure) strncpy(m->text, text, sizeof m->text - 1);
}

/* The integrator for which SUNDIALS works on this thread. */
static _Thread_local cb_ida *current;

/* SUNDIALS 6 writes into a clone even if it could not be allocated. In that case this function returns the spare
 * vector, which is never destroyed. SUNDIALS makes clones only while an integrator is created. */
static N_Vector clone(N_Vector of) {
  N_Vector made = N_VClone_Serial(current ? current->y : of);
  if (made || !current) return made;
  current->lacking = true;
  return current->spare;
}

static void keep(N_Vector vector) { (void)vector; }

static cb_status make_vectors(cb_ida *m) {
  N_Vector *vector[] = {&m->y, &m->yp, &m->id, &m->residual, &m->spare};
  for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
    if (!(*vector[i] = N_VNew_Serial(m->size, m->context)))
      return cb_fail(CB_ERROR_MEMORY, "no memory for %d unknowns", m->size);
    N_VConst(0, *vector[i]);
    (*vector[i])->ops->nvclone = clone;
  }
  m->spare->ops->nvdestroy = keep;
  for (int i = 0; i < 2 * m->nk; i++) N_VGetArrayPointer(m->id)[i] = 1; /* IDA controls the errors of x and v only */
  return CB_OK;
}

/* IDA would treat a matrix as singular if memory for its factors runs out; this function reports the lack of memory. */
static int factor(SUNLinearSolver linear, SUNMatrix matrix) {
  const int flag = SUNLinSolSetup_KLU(linear, matrix);
  if (!flag || !current || SUNLinSol_KLUGetCommon(linear)->status != KLU_OUT_OF_MEMORY) return flag;
  return failed(current,
                cb_fail(CB_ERROR_MEMORY, "no memory for the factors of a matrix of %d unknowns", current->size));
}

/* The maximum number of unknowns for which dense factors are faster. */
enum { DENSE_MAX = 24 };

static cb_status make_solver(cb_ida *m, int solver) {
  m->sparse = solver == CB_IDA_KLU || (solver == CB_IDA_AUTO && m->size > DENSE_MAX);
  m->integrator->solver = m->sparse ? "klu" : "dense";
  const cb_status status = cb_ida_pattern(m);
  if (status) return status;
  if (m->sparse) {
    m->matrix = SUNSparseMatrix(m->size, m->size, (sunindextype)m->entries.nonzeros, CSC_MAT, m->context);
    if (m->matrix) m->linear = SUNLinSol_KLU(m->y, m->matrix, m->context);
    if (m->linear) m->linear->ops->setup = factor;
  } else {
    m->matrix = SUNDenseMatrix(m->size, m->size, m->context);
    if (m->matrix) m->linear = SUNLinSol_Dense(m->y, m->matrix, m->context);
  }
  return m->linear ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a matrix of %d unknowns", m->size);
}

static bool set_up(cb_ida *m, const cb_ida_options *o) {
  current = m;
  const bool ok = CB_SUNDIALS_LISTEN(m->context, IDASetErrHandlerFn, m->ida, complain, m) &&
                  !IDASetUserData(m->ida, m) && !IDAInit(m->ida, residual, 0, m->y, m->yp) &&
                  !IDAWFtolerances(m->ida, weights) && !IDASetId(m->ida, m->id) &&
                  !IDASetSuppressAlg(m->ida, SUNTRUE) && !IDASetMaxOrd(m->ida, o->max_order) &&
                  !IDASetMaxNumSteps(m->ida, o->max_steps) && !IDASetMaxStep(m->ida, o->max_step) &&
                  !IDASetLinearSolver(m->ida, m->linear, m->matrix) && !IDASetJacFn(m->ida, jacobian);
  current = NULL;
  return ok && !m->lacking;
}

cb_status cb_ida_open(cb_ida *m, const cb_ida_options *o) {
  if (SUNContext_Create(SUN_COMM_NULL, &m->context)) return cb_fail(CB_ERROR_MEMORY, "no memory for SUNDIALS");
  cb_status status = make_vectors(m);
  if (status) return status;
  m->ida = IDACreate(m->context);
  if (!m->ida) return cb_fail(CB_ERROR_MEMORY, "no memory for SUNDIALS");
  status = make_solver(m, o->solver);
  if (status || set_up(m, o)) return status;
  return cb_fail(CB_ERROR_MEMORY, "no memory for SUNDIALS: %s", m->text);
}

void cb_ida_close(cb_ida *m) {
  if (m->ida) IDAFree(&m->ida);
  if (m->linear) SUNLinSolFree(m->linear);
  if (m->matrix) SUNMatDestroy(m->matrix);
  N_Vector vector[] = {m->y, m->yp, m->id, m->residual};
  for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
    if (vector[i]) N_VDestroy(vector[i]);
  if (m->spare) N_VDestroy_Serial(m->spare);
  if (m->context) SUNContext_Free(&m->context);
  cb_entries_free(&m->entries);
}

/* Returns the particle with the largest error, after a step failed because of its error or of Newton's method. Returns
 * -1 if it is not known. Overwrites y and y'. */
static int find_failed_particle(const cb_ida *m) {
  if (IDAGetEstLocalErrors(m->ida, m->y) || IDAGetErrWeights(m->ida, m->yp)) return -1;
  const double *error = N_VGetArrayPointer(m->y), *weight = N_VGetArrayPointer(m->yp);
  double maximum = 0;
  int found = -1;
  for (int i = 0; i < 2 * m->nk; i++) {
    const double size = fabs(error[i]) * weight[i];
    if (!(size > maximum)) continue;
    maximum = size;
    found = i % m->nk / m->k;
  }
  return found;
}

static cb_status explain(cb_ida *m, int flag, double t0, double t) {
  /* If the motion reaches the border of a chart, the steps go to 0. */
  const cb_status stopped = m->failure == CB_STEP_DOMAIN ? CB_STEP_DOMAIN : CB_STEP_NO_CONVERGENCE;
  switch (flag) {
    case IDA_TOO_MUCH_WORK:
      return cb_fail(stopped,
                     "ida: more than `max_steps` internal steps are needed from time %.17g to %.17g: use a smaller "
                     "`step` or a larger `max_steps`%s%.300s",
                     t0, t, m->failure ? "; the last error: " : "", m->failure ? m->text : "");
    case IDA_TOO_MUCH_ACC:
      return cb_fail(CB_STEP_NO_CONVERGENCE,
                     "ida: rtol = %g and atol = %g are below round-off: expected larger tolerances", m->rtol, m->atol);
    case IDA_ERR_FAIL:
    case IDA_CONV_FAIL:
    case IDA_CONSTR_FAIL:
      return cb_fail(stopped, "ida: %s%s%.300s",
                     flag == IDA_ERR_FAIL ? "the error stays above its tolerance" : "Newton's method does not converge",
                     m->text[0] ? ": " : "", m->text);
    case IDA_LSETUP_FAIL:
    case IDA_LSOLVE_FAIL:
      if (m->failure < 0) return cb_fail(m->failure, "ida: %s", m->text);
      return cb_fail(CB_STEP_SINGULAR,
                     "ida: the matrix of Newton's method is singular: use a smaller `step`, or leave out constraints "
                     "that depend on others");
    case IDA_MEM_FAIL: return cb_fail(CB_ERROR_MEMORY, "ida: no memory");
    case IDA_RES_FAIL:
    case IDA_REP_RES_ERR:
    case IDA_FIRST_RES_FAIL: return cb_fail(m->failure ? m->failure : CB_STEP_NO_CONVERGENCE, "ida: %s", m->text);
    default: return cb_fail(CB_STEP_NO_CONVERGENCE, "ida: from time %.17g to %.17g: %s", t0, t, m->text);
  }
}

cb_status cb_ida_advance(cb_ida *m, bool restart, double t0, double t) {
  m->failure = CB_OK;
  memset(m->text, 0, sizeof m->text);
  if (restart && IDAReInit(m->ida, t0, m->y, m->yp)) return cb_fail(CB_ERROR_MEMORY, "ida: %s", m->text);
  long before = 0, after = 0;
  if (!restart) IDAGetNumNonlinSolvIters(m->ida, &before);
  double reached = t0;
  current = m;
  const int flag = IDASolve(m->ida, t, &reached, m->y, m->yp, IDA_NORMAL);
  current = NULL;
  IDAGetNumNonlinSolvIters(m->ida, &after);
  m->integrator->iterations = (int)(after - before);
  if (flag < 0) {
    if (flag == IDA_ERR_FAIL || flag == IDA_CONV_FAIL) m->integrator->failed_particle = find_failed_particle(m);
    return explain(m, flag, t0, t);
  }
  m->integrator->failed_particle = -1;
  return CB_OK;
}
