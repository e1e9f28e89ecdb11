/* Kinds of events: an impact, in which bodies are reflected off each other or off a wall; a condition of the user,
 * which stops the run or is marked in the record; a failed step, which is repeated in smaller steps; and a warning of
 * the run. The numbers are the values of `kind` in /event.
 * For users.
 */
#ifndef CURVEBODY_EVENT_H
#define CURVEBODY_EVENT_H

#include <stdint.h>

typedef enum cb_event_action {
  CB_EVENT_REFLECT,
  CB_EVENT_STOP,
  CB_EVENT_MARK,
  CB_EVENT_RETRY,
  CB_EVENT_WARN
} cb_event_action;

/* An event, as it is recorded. A number without a meaning for the kind of the event is 0. */
typedef struct cb_event_row {
  double time;             /* in the time unit of the scenario */
  int32_t kind;            /* the kind of the event, a cb_event_action */
  int32_t particle, other; /* the particles, or bodies, that take part; -1: none */
  int32_t wall;            /* index of the wall, of the watched event or of the warning; -1: none */
  /* gap: the gap of the contact, or the value of the watched function. For CB_EVENT_RETRY it is the length of the
   * failed step, and for CB_EVENT_WARN the number that caused the warning, if there is one. speed_before, speed_after:
   * the time derivative of the gap, or of the function, before and after the event. impulse: the impulse along the
   * gradient of the gap */
  double gap, speed_before, speed_after, impulse;
  /* The values of cb_record_layout.event_fields at the event, one field after another. NULL: they are not known, and
   * are recorded as nan. */
  const double *state;
} cb_event_row;

#endif
