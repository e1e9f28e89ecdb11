#include "sweep/midst.h"

#include "core/file.h"
#include "core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 512, DIGEST = SHA256_DIGEST_SIZE };

static size_t bytes_of(const cb_blob *piece) { return piece->count * (piece->type == CB_FIELD_INT32 ? 4 : 8); }

static void path_of(const cb_midst *midst, int64_t member, const char *ending, char *out, size_t size) {
  snprintf(out, size, "%s/%lld%s", midst->folder, (long long)member, ending);
}

/* The line that the file begins with, padded with blanks to HEAD bytes. */
static void head_of(const cb_midst *midst, int64_t member, const cb_blob *piece, size_t n, size_t last,
                    char head[HEAD]) {
  size_t total = 0;
  for (size_t i = 0; i + 1 < n; i++) total += bytes_of(&piece[i]);
  memset(head, ' ', HEAD);
  const int length =
      snprintf(head, HEAD, "curvebody member 1 %s %lld %zu %zu %zu", midst->digest, (long long)member, n, total, last);
  head[length < HEAD ? length : HEAD - 1] = ' ';
  head[HEAD - 1] = '\n';
}

static bool put(FILE *file, struct sha256_ctx *sum, const void *data, size_t bytes) {
  sha256_update(sum, bytes, data);
  return fwrite(data, 1, bytes, file) == bytes;
}

cb_status cb_midst_save(const cb_midst *midst, int64_t member, const cb_blob *piece, size_t n) {
  char path[4096], part[4096], head[HEAD];
  uint8_t digest[DIGEST];
  path_of(midst, member, ".state", path, sizeof path);
  path_of(midst, member, ".part", part, sizeof part);
  head_of(midst, member, piece, n, piece[n - 1].count, head);
  FILE *file = cb_open_stream(part, O_CREAT | O_TRUNC);
  if (!file) return cb_fail_file(part, "write", errno);
  struct sha256_ctx sum;
  sha256_init(&sum);
  bool good = put(file, &sum, head, HEAD);
  for (size_t i = 0; i < n && good; i++) good = put(file, &sum, piece[i].data, bytes_of(&piece[i]));
  sha256_digest(&sum, DIGEST, digest);
  good = good && fwrite(digest, 1, DIGEST, file) == DIGEST && fflush(file) == 0;
  int reason = errno;
  if (fclose(file) && good) good = false, reason = errno;
  if (good && rename(part, path)) good = false, reason = errno;
  if (good) return CB_OK;
  unlink(part);
  return cb_fail_file(path, "write", reason);
}

/* Data only if all of the file is as it should be. */
static bool take(char *data, size_t bytes, const cb_midst *midst, int64_t member, cb_blob *piece, size_t n,
                 size_t *last) {
  char head[HEAD];
  uint8_t digest[DIGEST];
  size_t total = HEAD + DIGEST;
  for (size_t i = 0; i + 1 < n; i++) total += bytes_of(&piece[i]);
  const size_t unit = piece[n - 1].type == CB_FIELD_INT32 ? 4 : 8;
  if (bytes < total || (bytes - total) % unit || (bytes - total) / unit > piece[n - 1].count) return false;
  *last = (bytes - total) / unit;
  head_of(midst, member, piece, n, *last, head);
  struct sha256_ctx sum;
  sha256_init(&sum);
  sha256_update(&sum, bytes - DIGEST, (const uint8_t *)data);
  sha256_digest(&sum, DIGEST, digest);
  if (memcmp(head, data, HEAD) || memcmp(digest, data + bytes - DIGEST, DIGEST)) return false;
  const char *from = data + HEAD;
  for (size_t i = 0; i < n; i++) {
    const size_t size = i + 1 < n ? bytes_of(&piece[i]) : *last * unit;
    if (size) memcpy(piece[i].data, from, size);
    from += size;
  }
  return true;
}

bool cb_midst_load(const cb_midst *midst, int64_t member, cb_blob *piece, size_t n, size_t *last) {
  char path[4096], *data;
  size_t bytes, limit = HEAD + DIGEST;
  for (size_t i = 0; i < n; i++) limit += bytes_of(&piece[i]);
  path_of(midst, member, ".state", path, sizeof path);
  if (access(path, R_OK) || cb_read_whole_file(path, limit, &data, &bytes)) return false;
  const bool good = take(data, bytes, midst, member, piece, n, last);
  free(data);
  return good;
}

void cb_midst_remove(const cb_midst *midst, int64_t member) {
  char path[4096];
  path_of(midst, member, ".state", path, sizeof path);
  unlink(path);
}
