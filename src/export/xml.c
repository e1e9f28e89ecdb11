/* Numbers of HDF5 files as an XDMF document names them. */
#include "export/xml.h"

void cb_xdmf_put_text(FILE *stream, const char *text) {
  for (; *text; text++) switch (*text) {
      case '&': fputs("&amp;", stream); break;
      case '<': fputs("&lt;", stream); break;
      case '>': fputs("&gt;", stream); break;
      case '"': fputs("&quot;", stream); break;
      default: fputc(*text, stream);
    }
}

/* Numbers of `dimensions` kept in the file. */
static void put_heavy(FILE *stream, const cb_xdmf_array *a) {
  fprintf(stream, "\" NumberType=\"%s\" Precision=\"%d\" Format=\"HDF\">", a->number, a->precision);
  cb_xdmf_put_text(stream, a->file);
  fputs(":/", stream);
  cb_xdmf_put_text(stream, a->dataset);
  fputs("</DataItem>", stream);
}

void cb_xdmf_put_array(FILE *stream, const cb_xdmf_array *a) {
  fputs("<DataItem Dimensions=\"", stream);
  if (!a->rank) fputs("1", stream);
  for (int d = 0; d < a->rank; d++) fprintf(stream, "%s%zu", d ? " " : "", a->shape[d]);
  put_heavy(stream, a);
}

void cb_xdmf_put_row(FILE *stream, const cb_xdmf_array *a, uint64_t rows, uint64_t row) {
  fputs("<DataItem ItemType=\"HyperSlab\" Dimensions=\"", stream);
  if (!a->rank) fputs("1", stream);
  for (int d = 0; d < a->rank; d++) fprintf(stream, "%s%zu", d ? " " : "", a->shape[d]);
  fprintf(stream, "\"><DataItem Dimensions=\"3 %d\" Format=\"XML\">%llu", a->rank + 1, (unsigned long long)row);
  for (int d = 0; d < a->rank; d++) fputs(" 0", stream);
  for (int d = 0; d < a->rank + 1; d++) fputs(" 1", stream);
  fputs(" 1", stream);
  for (int d = 0; d < a->rank; d++) fprintf(stream, " %zu", a->shape[d]);
  fprintf(stream, "</DataItem><DataItem Dimensions=\"%llu", (unsigned long long)rows);
  for (int d = 0; d < a->rank; d++) fprintf(stream, " %zu", a->shape[d]);
  put_heavy(stream, a);
  fputs("</DataItem>", stream);
}
