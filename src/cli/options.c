/* Taking options out of a command line, and saying what is wrong with one. */
#include "cli/cli.h"
#include "core/failure.h"

#include <string.h>

bool cb_take_text(void *target, const char *value) { return *(const char **)target = value, true; }
bool cb_take_flag(void *target, const char *value) { return (void)value, *(bool *)target = true; }
bool cb_take_optional(void *target, const char *value) { return *(const char **)target = value ? value : "", true; }
bool cb_take_word(void *target, const char *value) {
  cb_words *words = target;
  if (words->count == sizeof words->word / sizeof *words->word) return false;
  return words->word[words->count++] = value, true;
}

int cb_usage(const cb_command *command) {
  fprintf(stderr, "usage: curvebody %s %s\n", command->name, command->usage);
  return CB_EXIT_USAGE;
}

static int unknown(const cb_command *command, const cb_option *options, const char *word) {
  const char *names[32];
  size_t count = 0;
  for (; count < 32 && options[count].name; count++) names[count] = options[count].name;
  const char *near = cb_nearest_name(word, names, count);
  fprintf(stderr, "curvebody %s: error: no option `%s`", command->name, word);
  if (near) fprintf(stderr, "; did you mean `%s`?", near);
  fputc('\n', stderr);
  return cb_usage(command);
}

/* Set while options are asked for, not taken. */
static void (*told)(const cb_option *);

void cb_options_each(const cb_command *command, void (*each)(const cb_option *)) {
  told = each;
  command->run(0, NULL);
  told = NULL;
}

int cb_options_take(const cb_command *command, const cb_option *options, int argc, char **argv, int *n_words) {
  if (told) {
    for (const cb_option *option = options; option->name; option++) told(option);
    return CB_EXIT_USAGE;
  }
  int words = 0;
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    if (word[0] != '-' || !word[1]) {
      argv[words++] = argv[i];
      continue;
    }
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const cb_option *option = options;
    for (; option->name; option++)
      if ((strlen(option->name) == length && !strncmp(option->name, word, length)) ||
          (option->letter && !strcmp(option->letter, word)))
        break;
    if (!option->name) return unknown(command, options, word);
    if (!option->has_value && equals && option->take != cb_take_optional)
      return fprintf(stderr, "curvebody %s: error: `%s` takes no value\n", command->name, option->name),
             cb_usage(command);
    if (option->has_value && !equals && i + 1 == argc)
      return fprintf(stderr, "curvebody %s: error: `%s` needs a value\n", command->name, word), cb_usage(command);
    const char *value = equals ? equals + 1 : option->has_value ? argv[++i] : NULL;
    if (!option->take(option->target, value))
      return fprintf(stderr, "curvebody %s: error: `%s` is given too often\n", command->name, option->name),
             CB_EXIT_USAGE;
  }
  *n_words = words;
  return CB_EXIT_DONE;
}

int cb_exit_code(cb_status status) {
  switch (status) {
    case CB_OK: return CB_EXIT_DONE;
    case CB_ERROR_ARGUMENT:
    case CB_ERROR_INPUT:
    case CB_ERROR_DOMAIN:
    case CB_ERROR_UNSUPPORTED: return CB_EXIT_USAGE;
    case CB_ERROR_FILE: return CB_EXIT_FILE;
    case CB_ERROR_INTERRUPTED: return CB_EXIT_INTERRUPTED;
    default: return CB_EXIT_RUN_FAILED;
  }
}

int cb_report(cb_status status) {
  const char *text = cb_error_text();
  /* errors of input carry their place in front */
  if (status == CB_ERROR_INPUT || cb_failure_last().placed)
    fprintf(stderr, "%s\n", text);
  else
    fprintf(stderr, "curvebody: %s: %s\n", status == CB_ERROR_INTERRUPTED ? "note" : "error", text);
  return cb_exit_code(status);
}

void cb_json_text(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c == '\n')
      fputs("\\n", out);
    else if (c < 0x20)
      fprintf(out, "\\u%04x", c);
    else
      fputc(c, out);
  }
  fputc('"', out);
}
