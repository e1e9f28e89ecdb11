/* What a builder gathers, and a system keeps, of contacts, walls and events. One set, first the builder's, then the
 * system's: particles are as given at first, places then. */
#pragma once

#include "dynamics/builder_private.h"
#include "dynamics/system_private.h"
#include <curvebody/contact.h>

typedef enum cb_wall_kind { CB_WALL_BALL, CB_WALL_PLANE, CB_WALL_EXPRESSION } cb_wall_kind;

typedef struct cb_wall {
  const char *name;
  cb_wall_kind kind;
  int body; /* -1: all */
  double restitution;
  double centre[CB_COORD_MAX]; /* ball: its centre; plane: a point of it. In the world, as particles are given */
  double radius;
  bool inside;
  double normal[CB_COORD_MAX]; /* plane: of unit length, in the embedding and zero but for `factor` */
  double foot[CB_COORD_MAX];   /* plane: the point in the embedding */
  double local[CB_COORD_MAX];  /* plane: the normal as seen from an origin at that point */
  int factor;                  /* plane: the factor the normal lies in */
  const cb_chart *chart;       /* expression: NULL the embedding */
  const cb_expression *expression;
  const cb_expression *whole, *guard; /* a branch holds where its guard does; NULL: everywhere */
  bool tip;                           /* it holds what rests, and is not looked for */
  int given;                          /* the wall of which this is a branch; its own number */
} cb_wall;

typedef struct cb_event {
  const char *name;
  int i, j;     /* j < 0: of an expression */
  double value; /* of the distance */
  const cb_chart *chart;
  const cb_expression *expression;
  cb_event_action action;
  cb_event_direction direction;
} cb_event;

typedef struct cb_contact_switch {
  int a, b; /* bodies; -1: any */
  bool on;
} cb_contact_switch;

typedef struct cb_contact_set {
  cb_arena *texts;
  bool on;
  cb_contact_options options;
  int n_switches, n_walls, n_events, n_expressions;
  int n_given; /* walls; what follows them, once the set is a system's, are further branches of their expressions */
  int room_switches, room_walls, room_events, room_expressions;
  cb_contact_switch *bodies; /* the last that holds counts */
  cb_wall *wall;
  cb_event *event;
  cb_expression **expression; /* owned */
  int n_triangles;
  int (*triangle)[3]; /* places */
  int *around_start;  /* n + 1: triangles around a place, ascending */
  int *around;
} cb_contact_set;

void cb_contact_set_free(cb_contact_set *set);
/* Are contacts of particles of these bodies on? */
bool cb_contact_set_bodies_on(const cb_contact_set *set, int a, int b);
/* Gives the builder's set to the system: places for particles, triangles, and checks that need all particles. */
cb_status cb_contacts_settle(cb_builder *b, cb_system *s);
