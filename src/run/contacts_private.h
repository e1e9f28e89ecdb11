/* What a step with contacts works on, and its parts: looking for gaps that close (contacts_expect.c), the earliest of
 * them (contacts_heap.c), what happens there (contacts_meet.c), and what comes to rest (contacts_rest.c). */
#pragma once

#include "dynamics/reflection.h"
#include "run/broad_phase.h"
#include "run/contact_search.h"
#include "run/contacts.h"

enum { CB_CONTACTS_MEETINGS = 64 };

/* Gaps this small, relative to the space between a step's ends, belong to the contact that is being resolved. */
static const double cb_contacts_touching = 1e-11;

/* Two parts and when they surely meet, unless one of them meets something before, and all is looked for anew. */
typedef struct cb_contacts_meeting {
  int part[2], version[2];
  double until;
} cb_contacts_meeting;

typedef struct cb_contacts_entry { /* of the heap */
  double tau;
  cb_candidate what;
  int version[2];
} cb_contacts_entry;

struct cb_contacts {
  cb_parts *parts;
  const cb_system *system;
  const cb_geometry *g;
  cb_gaps *gaps;
  cb_broad *balls, *faces; /* of particles, of triangles */
  cb_reflection *reflection;
  cb_contact_options options;
  int n, walls, events, triangles;
  double *world, *reach; /* [n*k], [n] */
  double *face_world, *face_reach;
  int *version, *count; /* [components] in this step: contacts, and contacts as a measure of piles */
  double *way;          /* [components]: how far its particles may have come until its clock */
  double moved;         /* how far any particle may get beyond its reach */
  double *until;        /* [components]: when it surely meets a wall or itself, and all is looked for anew; or h */
  cb_contacts_meeting meeting[CB_CONTACTS_MEETINGS];
  cb_origin *origin; /* [components] that gaps know */
  bool known_origins;
  bool antipodes; /* may points pass one another's? */
  cb_event_memory *memory, *last; /* [events]: now, and at the end of the last step */
  double start, last_end;         /* times at which the run starts and the last step ended */
  cb_bases bases;
  int known_bases;     /* the changes of them that gaps know */
  double *extent;      /* [components]: of a leader, how far from its base particles may get in this step */
  double apart;        /* particles of different bases that may meet are surely further apart at the step's end */
  int known_partings;  /* of bases, that this knows */
  cb_contacts_doubt doubt;

  cb_contacts_entry *heap;
  int entries, room_entries;
  cb_event_row *row;
  int rows, room_rows;

  /* the contact in hand */
  int *member, members;  /* components */
  int *stamp, stamp_now; /* [components]: is it a member? */
  cb_reflection_contact *touch;
  int touches, room_touches;
  bool settling; /* what has sunk below 0 touches too */
  cb_reflection_part *part;
  cb_gram **gram; /* [components], made when first needed */
  cb_candidate *resting;
  int restings, room_restings;
};

/* Room for one more in a growing array. */
cb_status cb_contacts_grow(void **array, int count, int *room, size_t size);

/* The heap: earliest first, then by particles. */
cb_status cb_contacts_push(cb_contacts *c, cb_contacts_entry e);
cb_contacts_entry cb_contacts_pop(cb_contacts *c);

bool cb_contacts_same_gap(const cb_gap *a, const cb_gap *b);
bool cb_contacts_rests(const cb_contacts *c, const cb_gap *gap); /* is it held closed until the end of the step? */
/* Relative to the base of its component. */
void cb_contacts_point(const cb_contacts *c, const cb_state *s, int i, double *x);
/* Joins bases whose particles may meet in a step of length h, with the bounds on speeds that it has. */
cb_status cb_contacts_join_bases(cb_contacts *c, const cb_state *s, double h);
/* The balls that may be where ball i is at its part's clock, at the point x, with so much of reach. */
cb_status cb_contacts_around(cb_contacts *c, int i, double reach, double *x, const int **ball, int *count);
/* Can particle j, wherever it is at its part's clock, not come so near to a ball within `until`? */
bool cb_contacts_out_of_reach(const cb_contacts *c, const double *x, double reach, int j, double until);

/* Put on the heap what surely happens from a time on: a gap, two balls, a ball and the walls, two triangles; an event
 * from the start of the step on, by what was known of it at the end of the one before. */
cb_status cb_contacts_expect(cb_contacts *c, cb_candidate what, double from);
cb_status cb_contacts_expect_pair(cb_contacts *c, int i, int j, double from);
cb_status cb_contacts_expect_walls(cb_contacts *c, int i, double from);
cb_status cb_contacts_expect_likely_wall(cb_contacts *c, int part, double from);
cb_status cb_contacts_begin_event(cb_contacts *c, int event);
cb_status cb_contacts_end_events(cb_contacts *c);
cb_status cb_contacts_expect_faces(cb_contacts *c, int a, int b, double from);
/* What the members of the contact in hand may meet from tau on: balls and walls; faces and events. */
cb_status cb_contacts_expect_all(cb_contacts *c, double tau);
cb_status cb_contacts_expect_rest(cb_contacts *c, double tau);

/* Adds a gap to the contact in hand if it is closed (sure: whatever it is), with its parts; all closed gaps of a
 * part. */
cb_status cb_contacts_touch(cb_contacts *c, const cb_candidate *what, double tau, bool sure);
cb_status cb_contacts_gather(cb_contacts *c, int part, double tau);
cb_status cb_contacts_make_part(cb_contacts *c, int part, double tau, cb_reflection_part *out);
cb_event_row cb_contacts_row_of(const cb_contacts *c, const cb_gap *gap, double tau);
cb_status cb_contacts_note(cb_contacts *c, const cb_event_row *row);
cb_status cb_contacts_reflect(cb_contacts *c, const cb_contacts_entry *e);

/* The end of a step in which gaps rested. */
cb_status cb_contacts_settle_resting(cb_contacts *c);
