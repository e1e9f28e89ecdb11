/* Solvers of other libraries for the rod of rod.h. They integrate from 0 to t and record nothing. A function `watch`
 * can read and change the state at output times.
 *
 * The libraries are SUNDIALS (Hindmarsh et al. (2005), ACM Trans. Math. Softw. 31, 363, doi:10.1145/1089014.1089020)
 * and the module odeiv2 of GSL. `setting` is the relative and the absolute tolerance; for methods with a fixed step it
 * is the step. */
#pragma once

#include "rod.h"
#include "integrators/ida_private.h"
#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#if SUNDIALS_VERSION_MAJOR < 7 /* these versions have separate functions for each module of ARKODE */
#define ARKodeEvolve ERKStepEvolve
#define ARKodeFree ERKStepFree
#define ARKodeGetNumSteps ERKStepGetNumSteps
#define ARKodeSStolerances ERKStepSStolerances
#define ARKodeSetFixedStep ERKStepSetFixedStep
#define ARKodeSetMaxNumSteps ERKStepSetMaxNumSteps
#define ARKodeSetStopTime ERKStepSetStopTime
#define ARKodeSetUserData ERKStepSetUserData
#endif

/* Called with the state at every output time. Returns true if it changed the state; the solver then starts again. */
typedef bool (*foreign_watch)(void *user, double t, double *z);

/* A solver. `solve` integrates from time 0 to t and calls `watch` with `user` at `outputs` equidistant times, the last
 * of which is t. It writes the final state z[ROD] and the number of steps. It returns false if the library fails. */
typedef struct foreign {
  const char *name;
  bool (*solve)(const rod *r, int kind, double setting, double t, int outputs, foreign_watch watch, void *user,
                double *z, long *steps);
  int kind;
  bool fixed_step;
} foreign;

static inline int sundials_rhs(sunrealtype t, N_Vector z, N_Vector dz, void *user) {
  (void)t;
  rod_rhs(user, NV_DATA_S(z), NV_DATA_S(dz));
  return 0;
}

CB_SUNDIALS_HANDLER(sundials_quiet) {
  (void)code;
  (void)text;
  (void)self;
}

static inline int gsl_rhs(double t, const double *z, double *dz, void *user) {
  (void)t;
  rod_rhs(user, z, dz);
  return GSL_SUCCESS;
}

/* Solves by CVODE; |kind| is CV_ADAMS or CV_BDF. A positive kind uses fixed-point iteration, which costs less here
 * because the equations are not stiff. A negative kind uses Newton's method with a dense Jacobian from differences. */
static inline bool cvode_solve(const rod *r, int kind, double setting, double t, int outputs, foreign_watch watch,
                               void *user, double *z, long *steps) {
  SUNContext context;
  SUNContext_Create(SUN_COMM_NULL, &context);
  N_Vector y = N_VMake_Serial(ROD, z, context);
  N_VEnableFusedOps_Serial(y, SUNTRUE);
  memcpy(z, r->start, ROD * sizeof *z);
  void *cvode = CVodeCreate(abs(kind), context);
  bool good = CB_SUNDIALS_LISTEN(context, CVodeSetErrHandlerFn, cvode, sundials_quiet, NULL) &&
              !CVodeInit(cvode, sundials_rhs, 0, y) && !CVodeSStolerances(cvode, setting, setting) &&
              !CVodeSetUserData(cvode, (void *)r) && !CVodeSetMaxNumSteps(cvode, 100000000);
  SUNNonlinearSolver fixed = NULL;
  SUNMatrix matrix = NULL;
  SUNLinearSolver linear = NULL;
  if (kind > 0) {
    fixed = SUNNonlinSol_FixedPoint(y, 0, context);
    good = good && !CVodeSetNonlinearSolver(cvode, fixed);
  } else {
    matrix = SUNDenseMatrix(ROD, ROD, context);
    linear = SUNLinSol_Dense(y, matrix, context);
    good = good && !CVodeSetLinearSolver(cvode, linear, matrix);
  }
  long since = 0;
  *steps = 0;
  for (int i = 1; good && i <= outputs; i++) {
    sunrealtype reached;
    if (i == outputs) good = !CVodeSetStopTime(cvode, t);
    good = good && CVode(cvode, t * i / outputs, y, &reached, CV_NORMAL) >= 0;
    CVodeGetNumSteps(cvode, &since);
    if (good && watch && watch(user, reached, z)) {
      *steps += since;
      since = 0;
      good = !CVodeReInit(cvode, reached, y);
    }
  }
  *steps += since;
  CVodeFree(&cvode);
  if (fixed) SUNNonlinSolFree(fixed);
  if (linear) SUNLinSolFree(linear);
  if (matrix) SUNMatDestroy(matrix);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return good;
}

/* Solves by an explicit method of ARKODE; |kind| is the number of its Butcher table. If kind is negative, steps are
 * fixed. */
static inline bool arkode_solve(const rod *r, int kind, double setting, double t, int outputs, foreign_watch watch,
                                void *user, double *z, long *steps) {
  SUNContext context;
  SUNContext_Create(SUN_COMM_NULL, &context);
  N_Vector y = N_VMake_Serial(ROD, z, context);
  N_VEnableFusedOps_Serial(y, SUNTRUE);
  memcpy(z, r->start, ROD * sizeof *z);
  void *erk = ERKStepCreate(sundials_rhs, 0, y, context);
  bool good = CB_SUNDIALS_LISTEN(context, ERKStepSetErrHandlerFn, erk, sundials_quiet, NULL) &&
              !ARKodeSetUserData(erk, (void *)r) && !ERKStepSetTableNum(erk, abs(kind)) &&
              !ARKodeSetMaxNumSteps(erk, 100000000);
  good = good && !(kind < 0 ? ARKodeSetFixedStep(erk, setting) : ARKodeSStolerances(erk, setting, setting));
  long since = 0;
  *steps = 0;
  for (int i = 1; good && i <= outputs; i++) {
    sunrealtype reached;
    good = !ARKodeSetStopTime(erk, t * i / outputs) && ARKodeEvolve(erk, t * i / outputs, y, &reached, ARK_NORMAL) >= 0;
    ARKodeGetNumSteps(erk, &since);
    if (good && watch && watch(user, reached, z)) {
      *steps += since;
      since = 0;
      good = !ERKStepReInit(erk, sundials_rhs, reached, y);
    }
  }
  *steps += since;
  ARKodeFree(&erk);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return good;
}

enum { GSL_RK8PD = 1, GSL_MSADAMS };

/* Solves by a method of GSL; |kind| is GSL_RK8PD or GSL_MSADAMS. If kind is negative, steps are fixed. */
static inline bool gsl_solve(const rod *r, int kind, double setting, double t, int outputs, foreign_watch watch,
                             void *user, double *z, long *steps) {
  const gsl_odeiv2_step_type *type = abs(kind) == GSL_RK8PD ? gsl_odeiv2_step_rk8pd : gsl_odeiv2_step_msadams;
  gsl_odeiv2_system ode = {gsl_rhs, NULL, ROD, (void *)r};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&ode, type, kind < 0 ? setting : 1e-2,
                                                            kind < 0 ? 1 : setting, kind < 0 ? 1 : setting);
  double time = 0;
  bool good = true;
  *steps = 0;
  memcpy(z, r->start, ROD * sizeof *z);
  for (int i = 1; good && i <= outputs; i++) {
    const double to = t * i / outputs;
    good = kind < 0 ? !gsl_odeiv2_driver_apply_fixed_step(driver, &time, setting,
                                                          (unsigned long)lround((to - time) / setting), z)
                    : !gsl_odeiv2_driver_apply(driver, &time, to, z);
    if (good && watch && watch(user, time, z)) {
      *steps += (long)driver->e->count;
      gsl_odeiv2_driver_reset(driver);
    }
  }
  *steps = kind < 0 ? lround(t / setting) : *steps + (long)driver->e->count;
  gsl_odeiv2_driver_free(driver);
  return good;
}

static const foreign foreign_solvers[] = {
    {"CVODE Adams", cvode_solve, CV_ADAMS, false},
    {"CVODE BDF", cvode_solve, CV_BDF, false},
    {"CVODE BDF, Newton", cvode_solve, -CV_BDF, false},
    {"ARKODE Dormand-Prince 5(4)", arkode_solve, ARKODE_DORMAND_PRINCE_7_4_5, false},
    {"ARKODE Verner 6(5)", arkode_solve, ARKODE_VERNER_8_5_6, false},
    {"ARKODE Fehlberg 8(7)", arkode_solve, ARKODE_FEHLBERG_13_7_8, false},
    {"GSL rk8pd", gsl_solve, GSL_RK8PD, false},
    {"GSL msadams", gsl_solve, GSL_MSADAMS, false},
    {"GSL rk8pd, fixed step", gsl_solve, -GSL_RK8PD, true},
    {"ARKODE Fehlberg 8(7), fixed step", arkode_solve, -ARKODE_FEHLBERG_13_7_8, true},
};
enum { FOREIGN = sizeof foreign_solvers / sizeof *foreign_solvers };
