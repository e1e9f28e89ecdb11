"""Links of the pages of Markdown: what they lead to is there."""
import os
import re

def anchor(heading):
    """As pandoc (gfm) and the sites of repositories name a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def prose(path):
    """A page without its blocks and code."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"(?ms)^```.*?^```$", "", file.read())
    return text


def links(path):
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(path)))


def anchors(path):
    return {anchor(heading) for heading in re.findall(r"(?m)^#+ (.*)$", prose(path))}


GENERATED = {"reference.md", "gallery.md", "api/index.html"}


def broken_links(path):
    """Targets that are not there: files of the tree, headings of pages, pages that the build makes."""
    folder, broken = os.path.dirname(path), []
    for link in links(path):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, place = link.partition("#")
        target = os.path.normpath(os.path.join(folder, name)) if name else path
        if name in GENERATED or name.startswith("docs/") and name[5:] in GENERATED:
            continue
        if not os.path.exists(target) or place and place not in anchors(target):
            broken.append(link)
    return broken
