/* A program for the build: packs files into a C source of cb_view_assets (view/view_private.h), deflated by zlib and in
 * base64.
 *
 *     embed OUT.c [FILE...] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static unsigned char *read_whole(const char *path, size_t *n) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return NULL;
  const long length = ftell(file);
  unsigned char *bytes = length < 0 ? NULL : malloc((size_t)length + 1);
  rewind(file);
  *n = bytes ? fread(bytes, 1, (size_t)length, file) : 0;
  fclose(file);
  return bytes;
}

/* Writes bytes[n] in base64, as an array of numbers, because compilers limit the length of a string literal. */
static void put(FILE *out, int number, const unsigned char *bytes, size_t n) {
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  fprintf(out, "static const char packed%d[] = {", number);
  for (size_t i = 0; i < n; i += 3) {
    const unsigned a = bytes[i], b = i + 1 < n ? bytes[i + 1] : 0, c = i + 2 < n ? bytes[i + 2] : 0;
    fprintf(out, "%d,%d,%d,%d,%s", digit[a >> 2], digit[(a & 3) << 4 | b >> 4],
            i + 1 < n ? digit[(b & 15) << 2 | c >> 6] : '=', i + 2 < n ? digit[c & 63] : '=', i % 96 ? "" : "\n");
  }
  fputs("};\n", out);
}

int main(int argc, char **argv) {
  FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL;
  if (!out) {
    fprintf(stderr, "embed: expected OUT.c [FILE...]\n");
    return 2;
  }
  fputs("/* Generated from src/view and its libraries. */\n#include \"view/view_private.h\"\n", out);
  for (int i = 2; i < argc; i++) {
    size_t n;
    unsigned char *bytes = read_whole(argv[i], &n);
    uLongf length = bytes ? compressBound(n) : 0;
    unsigned char *packed = bytes ? malloc(length) : NULL;
    if (!packed || compress2(packed, &length, bytes, n, 9) != Z_OK) {
      fprintf(stderr, "embed: cannot read %s\n", argv[i]);
      return 1;
    }
    put(out, i, packed, length);
    free(packed);
    free(bytes);
  }
  fputs("const cb_asset cb_view_assets[] = {\n", out);
  for (int i = 2; i < argc; i++) {
    const char *slash = strrchr(argv[i], '/');
    fprintf(out, "  {\"%s\", packed%d, sizeof packed%d},\n", slash ? slash + 1 : argv[i], i, i);
  }
  fputs("  {NULL, NULL, 0}};\n", out);
  return fclose(out) ? 1 : 0;
}
