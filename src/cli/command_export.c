/* curvebody export OUT.h5: writes a record for other programs: as a table, for ParaView or Blender, as a sequence of
 * surfaces, or with the flow around its bodies. */
#include "cli/cli.h"
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STREAMLINES = 10000 };

typedef struct arguments {
  const char *output, *every, *at, *grid, *streamlines, *sequence, *scale;
  cli_list fields;
  bool xdmf, csv, flow, gltf;
} arguments;

/* Reads --at, --grid and --streamlines into *how. Returns an exit status. */
static int take_flow(const arguments *a, cb_flow_options *how) {
  char rest, *end;
  int *n = how->grid;
  *how = (cb_flow_options){.at = NAN, .grid = {41, 41, 41}};
  if (a->at) {
    how->at = strtod(a->at, &end);
    if (end == a->at || *end || !isfinite(how->at))
      return cli_misuse(&cli_command_export, "expected a time in seconds after --at, not `%s`", a->at);
  }
  if (a->grid && (sscanf(a->grid, "%6dx%6dx%6d%c", n, n + 1, n + 2, &rest) != 3 || n[0] < 1 || n[1] < 1 || n[2] < 1))
    return cli_misuse(&cli_command_export, "expected numbers of points like 41x41x1 after --grid, not `%s`", a->grid);
  if (a->streamlines) {
    const long value = strtol(a->streamlines, &end, 10);
    if (end == a->streamlines || *end || value < 0 || value > MAX_STREAMLINES)
      return cli_misuse(&cli_command_export, "expected a number up to %d after --streamlines, not `%s`",
                        MAX_STREAMLINES, a->streamlines);
    how->streamlines = (int)value;
  }
  return CLI_EXIT_DONE;
}

/* Reads --field and --every into *how. Returns an exit status. */
static int take_rows(const arguments *a, cb_export_options *how) {
  char *end;
  *how = (cb_export_options){.fields = a->fields.count ? a->fields.item : NULL, .n_fields = a->fields.count};
  if (!a->every) return CLI_EXIT_DONE;
  const long long value = strtoll(a->every, &end, 10);
  if (*end || end == a->every || value < 1)
    return cli_misuse(&cli_command_export, "expected a positive number of rows after --every, not `%s`", a->every);
  how->every = (uint64_t)value;
  return CLI_EXIT_DONE;
}

/* Reads --time-scale into *how. Returns an exit status. */
static int take_animation(const arguments *a, uint64_t every, cb_gltf_options *how) {
  char *end;
  *how = (cb_gltf_options){.every = every, .time_scale = 1};
  if (!a->scale) return CLI_EXIT_DONE;
  how->time_scale = strtod(a->scale, &end);
  if (end == a->scale || *end || !isfinite(how->time_scale) || how->time_scale <= 0)
    return cli_misuse(&cli_command_export, "expected a positive number after --time-scale, not `%s`", a->scale);
  return CLI_EXIT_DONE;
}

/* Checks which options were given together. Returns an exit status. */
static int check_options(const arguments *a) {
  const char *sequence = a->sequence, *dot = a->output ? strrchr(a->output, '.') : NULL;
  if (a->xdmf + a->csv + a->flow + a->gltf + !!sequence != 1)
    return cli_misuse(&cli_command_export, "expected one of --csv, --xdmf, --gltf, --sequence and --flow");
  if (a->flow ? a->every || a->fields.count : a->at || a->grid || a->streamlines)
    return cli_misuse(&cli_command_export, a->flow ? "--every and --field do not apply to --flow"
                                                   : "--at, --grid and --streamlines need --flow");
  if (a->fields.count && !a->csv) return cli_misuse(&cli_command_export, "--field needs --csv");
  if (a->scale && !a->gltf) return cli_misuse(&cli_command_export, "--time-scale needs --gltf");
  if (sequence && strcmp(sequence, "stl") && strcmp(sequence, "obj"))
    return cli_misuse(&cli_command_export, "expected stl or obj after --sequence, not `%s`", sequence);
  if (sequence && a->output && (!dot || strcmp(dot + 1, sequence)))
    return cli_misuse(&cli_command_export, "expected a name that ends with .%s after --output, not `%s`", sequence,
                      a->output);
  if (a->gltf && a->output && !strcmp(a->output, "-"))
    return cli_misuse(&cli_command_export,
                      "expected a file after --output: --gltf does not write to the standard output");
  return CLI_EXIT_DONE;
}

static cb_status write_sequence(const char *record, const char *output, uint64_t every) {
  uint64_t frames;
  const char *dot = strrchr(output, '.');
  const cb_status status = cb_record_export_sequence(record, output, every, &frames);
  if (!status)
    printf("%.*s-0000%s .. %.*s-%04llu%s\n", (int)(dot - output), output, dot, (int)(dot - output), output,
           (unsigned long long)frames - 1, dot);
  return status;
}

static int run(void *taken, char **operand) {
  const arguments *a = taken;
  cb_flow_options flow;
  cb_export_options how;
  cb_gltf_options animation;
  char name[4096], ending[8] = ".csv";
  int code = check_options(a);
  if (!code) code = take_flow(a, &flow);
  if (!code) code = take_rows(a, &how);
  if (!code) code = take_animation(a, how.every, &animation);
  if (code) return code;
  if (a->sequence) snprintf(ending, sizeof ending, ".%s", a->sequence);
  cli_output_beside(operand[0],
                    a->flow   ? "-flow.xdmf"
                    : a->xdmf ? ".xdmf"
                    : a->gltf ? ".glb"
                              : ending,
                    name, sizeof name);
  const char *output = a->output ? a->output : name;
  cb_status status = a->flow ? cli_check_hdf5(output) : CB_OK;
  if (!status) status = cli_check_output(output, (cb_files){(const char **)operand, 1});
  if (!status)
    status = a->flow       ? cb_record_export_flow(operand[0], output, &flow)
             : a->xdmf     ? cb_record_export_xdmf(operand[0], output, &how)
             : a->gltf     ? cb_record_export_gltf(operand[0], output, &animation)
             : a->sequence ? write_sequence(operand[0], output, how.every)
                           : cb_record_export_csv(operand[0], output, &how);
  if (status) return cli_report(status);
  if (strcmp(output, "-") && !a->sequence) printf("%s\n", output);
  return CLI_EXIT_DONE;
}

static const cli_option options[] = {
    CLI_OPTION(
        "csv", 0, CLI_FLAG, csv, NULL, NULL, NULL,
        "writes rows as comma-separated values; events go to a second file, whose name has -events before the ending"),
    CLI_OPTION("xdmf", 0, CLI_FLAG, xdmf, NULL, NULL, NULL,
               "writes a description for ParaView; the numbers stay in the record. Surfaces of bodies in a fluid go to "
               "a second file, whose name ends with -surface.h5"),
    CLI_OPTION("gltf", 0, CLI_FLAG, gltf, NULL, NULL, NULL,
               "writes an animation for Blender, three.js and other programs that read binary glTF 2.0"),
    CLI_OPTION(
        "sequence", 0, CLI_VALUE, sequence, "FORMAT", NULL, "stl obj",
        "writes the surfaces of bodies in a fluid as one file per frame, in the format stl or obj: NAME-0000.stl, "
        "NAME-0001.stl, ..."),
    CLI_OPTION("flow", 0, CLI_FLAG, flow, NULL, NULL, NULL,
               "writes the potential flow around the bodies at one time, for ParaView: u and p on a grid, phi and p on "
               "the surfaces. In this flow, bodies act on each other as in the run, according to the `coupling` of the "
               "fluid. The numbers go to a second file, with the ending .h5"),
    CLI_OPTION("output", 'o', CLI_VALUE, output, "FILE",
               "the record's name with .csv, .xdmf, .glb, .stl, .obj or -flow.xdmf", "@files",
               "the file; - is the standard output, for --csv and for --xdmf without surfaces"),
    CLI_HEADING("Options of all but --flow; --field is for --csv only, --time-scale for --gltf only"),
    CLI_OPTION("field", 0, CLI_LIST, fields, "NAME", "fields with at most one dimension and 64 values per row", NULL,
               "a field that --csv writes in addition to time and step"),
    CLI_OPTION("every", 0, CLI_VALUE, every, "N",
               "1 for --csv; otherwise at most 10000 frames, and with --gltf at most 200 if surfaces deform", NULL,
               "writes only every N-th row"),
    CLI_OPTION("time-scale", 0, CLI_VALUE, scale, "X", "1", NULL,
               "duration of one unit of time of the record in the animation, in s"),
    CLI_HEADING("Options of --flow"),
    CLI_OPTION("at", 0, CLI_VALUE, at, "T", "the last row", NULL, "time in s; the nearest row is used"),
    CLI_OPTION("grid", 0, CLI_VALUE, grid, "NxNxN", "41x41x41", NULL,
               "number of grid points along x, y and z; 1: only the plane through the middle"),
    CLI_OPTION("streamlines", 0, CLI_VALUE, streamlines, "N", "0", NULL,
               "number of streamlines, as seen from the first body, up to 10000"),
    CLI_END};
static const cli_operand operands[] = {{"OUT.h5", "@files", "a record", NULL}, {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody export rod.h5 --csv --field energy -o -", "Prints time, step and energy of each row."},
    {"curvebody export rod.h5 --xdmf", "Writes rod.xdmf, which ParaView opens."},
    {"curvebody export fall.h5 --gltf --time-scale 4", "Writes fall.glb, four times slower than the record."},
    {"curvebody export fall.h5 --flow --at 2 --grid 81x81x1",
     "Writes the flow in a plane at time 2 s to fall-flow.xdmf."},
    {NULL, NULL}};

const cli_command cli_command_export = {
    .name = "export",
    .usage = "OUT.h5 --csv|--xdmf|--gltf|--sequence FORMAT|--flow [OPTION]...",
    .summary = "Writes a record as a table, for ParaView or Blender, or with the flow around its bodies.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
