/* The bytes of OUT.h5.rescue, as record_rescue.h describes them. Internal to src/io. */
#ifndef CB_IO_RECORD_RESCUE_COPY_H
#define CB_IO_RECORD_RESCUE_COPY_H

#include <stdbool.h>
#include <stdint.h>

enum {
  RESCUE_PAGE = 4096,
  RESCUE_HEAD = 80,
  RESCUE_HEADS = 2,
  RESCUE_HEAD_EVERY = 2048,
  RESCUE_ENTRY = 16 + RESCUE_PAGE
};

typedef struct cb_rescue_head {
  uint64_t epoch, place, pages, length, rows, events, checkpoints, boot;
} cb_rescue_head;

void cb_rescue_put_head(const cb_rescue_head *h, unsigned char bytes[RESCUE_HEAD]);

/* A page of the record at `fd`, zeros beyond its end, as an entry of that epoch. 0 or errno. */
int cb_rescue_entry(int fd, uint64_t epoch, uint64_t page, unsigned char *entry);

/* A copy that is read. What is not there, or not whole, is passed over; not so what the disk refuses to give. */
typedef struct cb_rescue_copy {
  int fd;
  int error; /* errno of the first read that was refused: what is found then counts for nothing */
} cb_rescue_copy;

/* Entry i of a head, into [RESCUE_ENTRY]; false: not whole. */
bool cb_rescue_read_entry(cb_rescue_copy *c, const cb_rescue_head *h, uint64_t i, unsigned char *entry);

/* The newest copy that is whole; epoch 0: none. */
cb_rescue_head cb_rescue_newest(cb_rescue_copy *c, unsigned char *entry);

/* malloc'd name of the copy of the record at `path`; NULL: no memory. */
char *cb_rescue_name(const char *path);

/* What the system calls itself since it was started; 0: it does not say. */
uint64_t cb_rescue_boot(void);

#endif
