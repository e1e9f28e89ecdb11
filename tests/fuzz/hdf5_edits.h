/* Inputs of fuzz targets that read HDF5 files: not a file, but what is changed in one that the target makes itself. So
 * seeds are some bytes long, and most of what is tried is still a file.
 *
 * Input: flags (1: checksums that no longer hold are mended; the rest is the target's), then edits of five bytes:
 *   0 what (its highest bit: anywhere in the file, else in what HDF5 keeps for itself)   1 where (2)   3 value   4 more
 *
 * HDF5 protects most of its own blocks with a checksum behind them (lookup3), and a changed byte
 * would seldom be looked at. Where those blocks are follows from the file: a block begins with one of some names, or is
 * the superblock, and ends before the first four bytes that are the checksum of what is before them. A heap's block keeps
 * it near its begin, taken with itself 0, and has a size that is a power of two. */
#ifndef CB_TESTS_HDF5_EDITS_H
#define CB_TESTS_HDF5_EDITS_H

#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline uint64_t cb_little_endian(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  for (int i = count; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

static inline void cb_put_little_endian(unsigned char *bytes, int count, uint64_t value) {
  for (int i = 0; i < count; i++) bytes[i] = (unsigned char)(value >> 8 * i);
}

/* The checksum of HDF5's metadata: lookup3 (Jenkins 2006, public domain, burtleburtle.net/bob/c/lookup3.c, hashlittle with
 * seed 0); at least one byte. */
static inline uint32_t rotate(uint32_t x, int k) { return x << k | x >> (32 - k); }

static inline uint32_t word(const unsigned char *bytes) { return (uint32_t)cb_little_endian(bytes, 4); }

static inline uint32_t cb_lookup3(const unsigned char *key, size_t length) {
  uint32_t a = 0xdeadbeef + (uint32_t)length, b = a, c = a;
  for (; length > 12; length -= 12, key += 12) {
    a += word(key), b += word(key + 4), c += word(key + 8);
    a -= c, a ^= rotate(c, 4), c += b;
    b -= a, b ^= rotate(a, 6), a += c;
    c -= b, c ^= rotate(b, 8), b += a;
    a -= c, a ^= rotate(c, 16), c += b;
    b -= a, b ^= rotate(a, 19), a += c;
    c -= b, c ^= rotate(b, 4), b += a;
  }
  unsigned char rest[12] = {0};
  memcpy(rest, key, length);
  a += word(rest), b += word(rest + 4), c += word(rest + 8);
  c ^= b, c -= rotate(b, 14);
  a ^= c, a -= rotate(c, 11);
  b ^= a, b -= rotate(a, 25);
  c ^= b, c -= rotate(b, 16);
  a ^= c, a -= rotate(c, 4);
  b ^= a, b -= rotate(a, 14);
  c ^= b, c -= rotate(b, 24);
  return c;
}

enum { EDIT = 5, MOST_EDITS = 16, LONGEST_BLOCK = 1 << 11, LEAST_BLOCK = 8, MOST_ADDED = 64 };

typedef struct edited_block {
  size_t at, size, sum; /* where its checksum is in it, or behind it */
} edited_block;

typedef struct edited_file {
  unsigned char *bytes;
  size_t size;
  edited_block *block; /* by place */
  size_t blocks;
  size_t *own, owns; /* places of bytes that are not numbers of a dataset, as far as blocks and heaps tell */
} edited_file;

static inline void edited_mend(unsigned char *block, size_t size, size_t sum) {
  if (sum < size) memset(block + sum, 0, 4);
  cb_put_little_endian(block + sum, 4, cb_lookup3(block, size));
}

/* Of a heap, of links or of attributes: they differ in where the checksum is. */
static inline bool edited_heap_block(const unsigned char *b, size_t left, edited_block *out) {
  unsigned char copy[LONGEST_BLOCK];
  for (size_t n = 512; n <= left && n <= LONGEST_BLOCK; n *= 2)
    for (size_t sum = 17; sum <= 18; sum++) {
      memcpy(copy, b, n);
      edited_mend(copy, n, sum);
      if (!memcmp(copy, b, n)) return out->size = n, out->sum = sum, true;
    }
  return false;
}

/* From out->at on. */
static inline bool edited_find_block(const edited_file *f, edited_block *out) {
  const unsigned char *b = f->bytes + out->at;
  const size_t left = f->size - out->at;
  if (out->at == 0) return out->size = out->sum = 44, true;
  static const char names[] = "OHDR OCHK BTHD BTLF BTIN FRHP FHIB FSHD FSSE FAHD FADB EAHD EAIB EASB EADB";
  bool known = false;
  if (left > 512 && !memcmp(b, "FHDB", 4)) return edited_heap_block(b, left, out);
  for (const char *name = names; left >= LEAST_BLOCK + 4 && !known && name < names + sizeof names; name += 5)
    known = !memcmp(b, name, 4);
  for (size_t n = LEAST_BLOCK; known && n + 4 <= left && n <= LONGEST_BLOCK; n++)
    if (cb_lookup3(b, n) == cb_little_endian(b + n, 4)) return out->size = out->sum = n, true;
  return false;
}

static inline void edited_look(edited_file *f) {
  f->block = malloc((f->size / LEAST_BLOCK + 1) * sizeof *f->block);
  f->own = malloc((f->size + 1) * sizeof *f->own);
  if (!f->block || !f->own) exit(2);
  for (size_t at = 0; at < f->size;) {
    edited_block *block = &f->block[f->blocks];
    size_t n = 0;
    block->at = at;
    if (edited_find_block(f, block))
      f->blocks++, n = block->size + (block->sum == block->size ? 4 : 0);
    else if (f->size - at > 16 && !memcmp(f->bytes + at, "GCOL", 4))
      n = (size_t)cb_little_endian(f->bytes + at + 8, 8);
    if (n > f->size - at) n = f->size - at;
    for (size_t i = 0; i < n; i++) f->own[f->owns++] = at + i;
    at += n ? n : 1;
  }
}

static inline edited_file edited_read(const char *path) {
  edited_file f = {0};
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) < 0) exit(2);
  f.size = (size_t)ftell(file);
  rewind(file);
  f.bytes = malloc(f.size + 1);
  if (!f.bytes || fread(f.bytes, 1, f.size, file) != f.size) exit(2);
  fclose(file);
  edited_look(&f);
  return f;
}

static inline void edited_free(edited_file *f) { free(f->bytes), free(f->block), free(f->own); }

static inline void edited_put(unsigned char *to, size_t size, size_t at, int count, uint64_t value) {
  for (int i = 0; i < count && at + (size_t)i < size; i++) to[at + (size_t)i] = (unsigned char)(value >> 8 * i);
}

static inline size_t edited_once(const edited_file *f, const unsigned char *e, unsigned char *to, size_t size) {
  static const uint64_t numbers[] = {0,
                                     1,
                                     2,
                                     7,
                                     8,
                                     255,
                                     256,
                                     65535,
                                     65536,
                                     INT32_MAX,
                                     (uint64_t)INT32_MAX + 1,
                                     UINT32_MAX,
                                     (uint64_t)1 << 28,
                                     (uint64_t)1 << 40,
                                     (uint64_t)1 << 60,
                                     (uint64_t)1 << 62,
                                     INT64_MAX,
                                     (uint64_t)1 << 63,
                                     UINT64_MAX - 1,
                                     UINT64_MAX};
  const size_t where = e[1] | (size_t)e[2] << 8;
  const size_t at = e[0] & 128 ? (where * 65521 + e[4]) % f->size : f->own[where % f->owns];
  if (at >= size) return size; /* cut off by an edit before */
  switch (e[0] % 8) {
    case 0: to[at] ^= (unsigned char)(1u << e[3] % 8); break;
    case 1: to[at] = e[3]; break;
    case 2: edited_put(to, size, at, 8, numbers[e[3] % (sizeof numbers / sizeof *numbers)]); break;
    case 3: edited_put(to, size, at, 1 << e[4] % 3, numbers[e[3] % (sizeof numbers / sizeof *numbers)]); break;
    case 4: to[at] = (unsigned char)(to[at] + e[3] - 128); break;
    case 5: /* from elsewhere in it */
      for (size_t i = 0, from = f->own[(e[3] | (size_t)e[4] << 8) % f->owns]; i < 8; i++)
        if (at + i < size && from + i < f->size) to[at + i] = f->bytes[from + i];
      break;
    case 6: memset(to + at, e[4] & 1 ? 255 : 0, e[3] < size - at ? e[3] : size - at); break;
    default: /* cut off, or with more behind it */
      if (e[4] % 8 == 0) return at;
      if (e[4] % 8 == 1 && size < f->size + MOST_ADDED) to[size] = e[3], size++;
  }
  return size;
}

/* The file as the input says, into to[f->size + MOST_ADDED]; its size. */
static inline size_t edited_make(const edited_file *f, const unsigned char *input, size_t n, unsigned char *to) {
  size_t size = f->size;
  memcpy(to, f->bytes, size);
  for (size_t at = 1; at + EDIT <= n; at += EDIT) size = edited_once(f, input + at, to, size);
  for (size_t b = 0; n && input[0] & 1 && b < f->blocks; b++) {
    const edited_block *k = &f->block[b];
    if (k->at + k->size + 4 <= size && memcmp(to + k->at, f->bytes + k->at, k->size))
      edited_mend(to + k->at, k->size, k->sum);
  }
  return size;
}

static inline unsigned edited_below(uint64_t *state, unsigned n) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(*state >> 33) % n;
}

/* Mutations for libFuzzer and driver.c: edits as a whole. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  uint64_t state = seed;
  unsigned edits = size > 1 ? (unsigned)(size - 1) / EDIT : 0;
  const unsigned room = most < 1 + EDIT * MOST_EDITS ? (unsigned)(most - 1) / EDIT : MOST_EDITS;
  if (!size || edited_below(&state, 4) == 0) data[0] = (uint8_t)edited_below(&state, 256);
  if (edits > room) edits = room;
  if (edits && edited_below(&state, 3) == 0) {
    const unsigned gone = edited_below(&state, edits--);
    memmove(data + 1 + EDIT * gone, data + 1 + EDIT * edits, EDIT);
  } else if (edits && edited_below(&state, 3) == 0) {
    const unsigned at = edited_below(&state, EDIT * edits);
    data[1 + at] = (uint8_t)edited_below(&state, 256);
  }
  if (edits < room && (!edits || edited_below(&state, 2))) {
    uint8_t *e = data + 1 + EDIT * edits++;
    for (int i = 0; i < EDIT; i++) e[i] = (uint8_t)edited_below(&state, 256);
    if (edited_below(&state, 4)) e[0] &= 127;
  }
  return 1 + EDIT * edits;
}

#endif
