"""Makes the reference of all keys and parameters as HTML from `curvebody list --json`, with a script that searches it."""
import json
import subprocess
from html import escape

SEARCH = """<script>
const input = document.querySelector("#search"), items = [...document.querySelectorAll(".item")];
const said = items.map(item => item.closest("section").querySelector("h2").id + " " +
   item.querySelector("h3").textContent.toLowerCase());
const texts = items.map((item, i) => said[i] + " " + item.textContent.toLowerCase());
function filter() {
  const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let left = 0;
  items.forEach((item, i) => {
    item.hidden = !words.every(word => texts[i].includes(word));
    left += !item.hidden;
    const title = said[i];
    for (const row of item.querySelectorAll(".parameter"))
      row.hidden = words.some(word => !title.includes(word) && !row.textContent.toLowerCase().includes(word))
                   && [...item.querySelectorAll(".parameter")].some(r => words.every(w => title.includes(w) ||
                                                                          r.textContent.toLowerCase().includes(w)));
  });
  for (const kind of document.querySelectorAll("section")) kind.hidden = !kind.querySelector(".item:not([hidden])");
  document.querySelector("#left").textContent = words.length ? left + " found" : "";
}
input.addEventListener("input", filter);
if (location.search.startsWith("?q=")) { input.value = decodeURIComponent(location.search.slice(3)); filter(); }
</script>
"""


def parameter(p):
    default = '<td class="required">required</td>' if p["default"] is None else f'<td><code>{escape(str(p["default"]))}</code></td>'
    choices = p["choices"].replace("|", " | ") if isinstance(p["choices"], str) else " | ".join(p["choices"])
    kind = escape(p["type"]) + (f' <span class="unit">{escape(p["unit"])}</span>' if p["unit"] != "1" else "")
    told = " ".join(filter(None, [escape(p["range"]), escape(choices)]))
    return (f'<tr class="parameter"><td><code>{escape(p["name"])}</code></td><td>{kind} <span class="told">{told}</span></td>'
            f'{default}<td>{escape(p["doc"])}</td></tr>')


def item(kind, it, again):
    """Returns one item as HTML. `again` is the number of earlier items that have the same kind and name."""
    place = f"{kind}-{it['name']}" + (f"-{again + 1}" if again else "")
    lines = [f'<div class="item"><h3 id="{escape(place)}"><code>{escape(it["name"])}</code> {escape(it["title"])}</h3>']
    if it.get("doc"):
        lines.append(f'<p>{escape(it["doc"])}</p>')
    for key, value in it.items():
        if key not in ("name", "title", "doc", "parameters") and value not in (None, "", [], {}):
            words = ", ".join(v["name"] if isinstance(v, dict) and "name" in v else str(v) for v in value) \
                if isinstance(value, list) else str(value)
            lines.append(f'<p class="told">{escape(key.replace("_", " "))}: {escape(words)}</p>')
    if it.get("parameters"):
        lines += ["<table><tr><th>key</th><th>type, unit and range</th><th>default</th><th>meaning</th></tr>",
                  *map(parameter, it["parameters"]), "</table>"]
    return "\n".join(lines + ["</div>"])


def body(program):
    listed = json.loads(subprocess.run([program, "list", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    count = sum(len(it.get("parameters", [])) for items in listed.values() for it in items)
    lines = ["<h1>Reference</h1>", f"<p>This page lists all {count} keys and parameters, as <code>curvebody list</code> does. "
             'The <a href="api/index.html">reference of the headers</a> documents the functions of the library.</p>',
             '<p><input type="search" id="search" placeholder="search for names, units and words" autofocus> '
             '<span id="left"></span></p>',
             "<p>" + " ".join(f'<a href="#{kind}">{kind}</a>' for kind in listed) + "</p>"]
    for kind, items in listed.items():
        lines += [f'<section><h2 id="{kind}">{kind}</h2>',
                  *(item(kind, it, [i["name"] for i in items[:k]].count(it["name"])) for k, it in enumerate(items)),
                  "</section>"]
    return "\n".join(lines) + "\n" + SEARCH
