/* Classes of reductions. A reduction computes one number from the values x of an expression in all rows, or in all
 * events, of a record. A sweep uses reductions, for example in `collect: {top: max(energy)}`.
 *
 * For authors: a class is one object, in a file of src/sweep/reductions/ or in a plugin. The rows come one after the
 * other. Between them a reduction has only a state of CB_REDUCTION_STATE numbers, which are 0 at the start. A sweep may
 * save these numbers and continue from them. Units are those of the scenario. The functions must be callable from any
 * thread.
 */
#ifndef CURVEBODY_REDUCTION_H
#define CURVEBODY_REDUCTION_H

#include <curvebody/param.h>
#include <stdbool.h>

CB_API_BEGIN

enum { CB_REDUCTION_STATE = 5, CB_REDUCTION_ARGUMENTS = 4 };

typedef struct cb_reduction_class {
  const char *name, *title, *doc; /* title: the names of the arguments, such as "f, n" */
  /* The arguments after the expression, in their order: at most CB_REDUCTION_ARGUMENTS rows of type CB_PARAM_REAL or
   * CB_PARAM_INT, whose offsets are not used; an argument with a default may be left out. NULL: no arguments. */
  const cb_param *arguments;
  bool counts; /* true: `value` gives the result also if there was no row; false: the result is then nan */
  /* Takes the value x of the expression in the next row or event, at the time t. If rows have no time, t is the number
   * of earlier rows. argument: the arguments after the expression. state[0] is the number of earlier rows, which the
   * library counts; the class may write only the other numbers of the state. */
  void (*take)(const double *argument, double t, double x, double *state);
  /* Returns the result from the state after the last row. */
  double (*value)(const double *argument, const double *state);
} cb_reduction_class;

/* All classes: the built-in ones, then those of plugins; the list ends with NULL. */
extern const cb_reduction_class *const *const cb_reduction_classes;

CB_API_END
#endif
