/* Heaps of HDF5 1.8 and later (fractal heaps), which hold links and attributes that are many. Internal to src/io. */
#ifndef CB_IO_RECORD_FRACTAL_H
#define CB_IO_RECORD_FRACTAL_H

#include "io/record_header.h"

/* One that holds objects. */
typedef struct cb_heap_block {
  unsigned char *data;
  uint64_t begin, size; /* in the heap */
  bool sound;           /* else HDF5 refuses it itself */
} cb_heap_block;

typedef struct cb_heap {
  cb_source file;
  uint64_t bytes; /* of the file */
  /* What is wrong with one of its objects; NULL: nothing. */
  const char *(*object_fault)(const unsigned char *object, size_t size);
  bool known;       /* it was read; HDF5 refuses what is none itself */
  uint64_t outside; /* tree of the objects that lie outside of it; UINT64_MAX: there are none */
  uint64_t root, first, rows;
  int offset, length;   /* bytes of a place in it, of an object's length */
  bool checked;         /* its blocks have checksums */
  size_t direct;        /* rows of blocks that hold objects; those below lead on */
  cb_heap_block *block; /* those that were read, in order */
  size_t blocks, room;
  uint64_t left; /* bytes that there can still be in others: they do not share any */
} cb_heap;

/* Returns what is wrong with the heap there, NULL: nothing. To be closed in any case. */
const char *cb_heap_open(cb_source s, uint64_t bytes, uint64_t at,
                         const char *(*object_fault)(const unsigned char *, size_t), cb_heap *out);
void cb_heap_close(cb_heap *h);
/* Bytes in which an index keeps a place in it. */
size_t cb_heap_place(const cb_heap *h);

/* What is wrong with the object of which an index keeps that place. What lies in a block that HDF5 refuses itself counts as
 * sound. */
const char *cb_heap_object_fault(cb_heap *h, const unsigned char *place);

#endif
