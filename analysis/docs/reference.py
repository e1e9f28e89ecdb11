#!/usr/bin/python3
"""Makes the reference of all keys and parameters as Markdown from `curvebody list --json`: reference.py PROGRAM > reference.md

SEARCH is the script of its own search, which `build` adds: it hides all items and rows that do not contain the words."""
import json
import re
import subprocess
import sys

SEARCH = """
<script>
const heading = document.querySelector("h1");
heading.insertAdjacentHTML("afterend", '<p><input type="search" id="search" placeholder="search for names, units and words" ' +
   'autofocus> <span id="left"></span></p>');
const input = document.querySelector("#search"), groups = [...document.querySelectorAll("section section")];
const items = groups.filter(group => group.querySelector(":scope > h3"));
const kinds = groups.filter(group => group.querySelector(":scope > h2"));
const said = items.map(item => item.parentElement.id + " " + item.querySelector("h3").textContent.toLowerCase());
const texts = items.map((item, i) => said[i] + " " + item.textContent.toLowerCase());
function filter() {
  const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let left = 0;
  items.forEach((item, i) => {
    item.hidden = !words.every(word => texts[i].includes(word));
    left += !item.hidden;
    const rows = [...item.querySelectorAll("tbody tr")];
    const found = rows.map(row => words.every(w => said[i].includes(w) || row.textContent.toLowerCase().includes(w)));
    rows.forEach((row, k) => row.hidden = found.includes(true) && !found[k]);
  });
  for (const kind of kinds) kind.hidden = !kind.querySelector("section:not([hidden])");
  document.querySelector("#left").textContent = words.length ? left + " found" : "";
}
input.addEventListener("input", filter);
if (location.search.startsWith("?q=")) { input.value = decodeURIComponent(location.search.slice(3)); filter(); }
</script>
"""


def plain(text):
    """The text with a backslash before each character that Markdown would interpret; code between backticks stays."""
    parts = str(text).split("`")
    if len(parts) % 2 == 0:
        return re.sub(r"([\\`*_{}\[\]<>|#$~^&])", r"\\\1", text)
    return "`".join(re.sub(r"([\\*_{}\[\]<>|#$~^&])", r"\\\1", part) if i % 2 == 0 else part.replace("|", r"\|")
                    for i, part in enumerate(parts))


def code(text):
    return "`" + str(text).replace("|", r"\|") + "`" if str(text) else ""


def parameter(p):
    choices = p["choices"].replace("|", " | ") if isinstance(p["choices"], str) else " | ".join(p["choices"])
    form = ", ".join(plain(word) for word in (p["type"], p["unit"] if p["unit"] != "1" else "", p["range"], choices) if word)
    default = "required" if p["default"] is None else code(p["default"])
    return f"| {code(p['name'])} | {form} | {default} | {plain(p['doc'])} |"


def item(it):
    lines = [f"### `{it['name']}` {plain(it['title'])}", ""]
    if it.get("doc"):
        lines += [plain(it["doc"]), ""]
    for key, value in it.items():
        if key not in ("name", "title", "doc", "parameters") and value not in (None, "", [], {}):
            words = ", ".join(v["name"] if isinstance(v, dict) and "name" in v else str(v) for v in value) \
                if isinstance(value, list) else str(value)
            lines += [f"{plain(key.replace('_', ' '))}: {plain(words)}", ""]
    if it.get("parameters"):
        lines += ["| key | type, unit and range | default | meaning |", "| --- | --- | --- | --- |",
                  *map(parameter, it["parameters"]), ""]
    return lines


def page(program):
    """Returns the reference as Markdown."""
    listed = json.loads(subprocess.run([program, "list", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    count = sum(len(it.get("parameters", [])) for items in listed.values() for it in items)
    lines = ["# Reference", "", f"This page lists all {count} keys and parameters, as `curvebody list` does.", ""]
    for kind, items in listed.items():
        lines += [f"## {plain(kind)}", ""]
        for it in items:
            lines += item(it)
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(sys.argv[1]), end="")
