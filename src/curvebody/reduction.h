/* Classes of reductions: one number from the values x(t) of an expression, computed while the rows of a record or its
 * events arrive. A sweep uses them (`collect: {top: max(energy)}`).
 *
 * For authors: a class is one object, in a file of src/sweep/reductions/ or in a plugin. Its state consists of
 * CB_REDUCTION_STATE numbers, which are 0 at the start. A sweep may save them and continue from them; nothing else is
 * kept. t is the time of the row or event; if the rows have no time, it is the number of earlier rows. Units are those
 * of the scenario. The functions run in any thread.
 */
#ifndef CURVEBODY_REDUCTION_H
#define CURVEBODY_REDUCTION_H

#include <curvebody/param.h>
#include <stdbool.h>

CB_API_BEGIN

enum { CB_REDUCTION_STATE = 5, CB_REDUCTION_ARGUMENTS = 4 };

typedef struct cb_reduction_class {
  const char *name, *title, *doc; /* title: the arguments, such as "f, n" */
  /* The arguments after the expression, in their order: at most CB_REDUCTION_ARGUMENTS rows of type CB_PARAM_REAL or
   * CB_PARAM_INT, whose offsets are not used; an argument with a default may be left out. NULL: no arguments. */
  const cb_param *arguments;
  bool counts; /* without rows the result is value(), otherwise nan */
  /* Takes the value x of the next row. state[0]: the number of earlier rows, which the library counts; the other
   * numbers belong to the class. */
  void (*take)(const double *argument, double t, double x, double *state);
  /* Returns the result. */
  double (*value)(const double *argument, const double *state);
} cb_reduction_class;

/* All classes: the built-in ones, then those of plugins; the list ends with NULL. */
extern const cb_reduction_class *const *const cb_reduction_classes;

CB_API_END
#endif
