/* SUNDIALS 6 and 7 behind one set of calls. Two things differ: the communicator of a context (a pointer in 6, an MPI_Comm or
 * a number in 7), and who gets the text of an error (a handler of each solver in 6, of the context in 7).
 * Source: the SUNDIALS user guides of 6.4 and 7.1, sections "SUNContext" and "Error checking".
 */
#pragma once

#include <stdbool.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_types.h>
#include <sundials/sundials_version.h>

/* Defines the handler `name` of errors, whose body sees int code, const char *text and void *self. */
#if SUNDIALS_VERSION_MAJOR >= 7
#define CB_SUNDIALS_HANDLER(name)                                                                                   \
  static void name##_text(int code, const char *text, void *self);                                                  \
  static void name(int line, const char *function, const char *file, const char *text, SUNErrCode code, void *self, \
                   SUNContext context) {                                                                            \
    (void)line, (void)function, (void)file, (void)context;                                                          \
    name##_text(code, text, self);                                                                                  \
  }                                                                                                                 \
  static void name##_text(int code, const char *text, void *self)
/* Gives the texts of errors to the handler alone: nothing is printed. `set` is the solver's own call in SUNDIALS 6. */
#define CB_SUNDIALS_LISTEN(context, set, solver, handler, self) \
  (!SUNContext_ClearErrHandlers(context) && !SUNContext_PushErrHandler(context, handler, self))
#else
#define SUN_COMM_NULL NULL
#define CB_SUNDIALS_HANDLER(name)                                                                \
  static void name##_text(int code, const char *text, void *self);                               \
  static void name(int code, const char *module, const char *function, char *text, void *self) { \
    (void)module, (void)function;                                                                \
    name##_text(code, text, self);                                                               \
  }                                                                                              \
  static void name##_text(int code, const char *text, void *self)
#define CB_SUNDIALS_LISTEN(context, set, solver, handler, self) (!set(solver, handler, self))
#endif
