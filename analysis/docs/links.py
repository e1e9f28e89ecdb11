"""Checks that the targets of all links in a page of Markdown exist."""
import os
import re

def anchor(heading):
    """The anchor of a heading, as GitHub and the built pages name it."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def prose(path):
    """The text of a page without its fenced blocks."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"(?ms)^```.*?^```$", "", file.read())
    return text


def links(path):
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(path)))


def anchors(path):
    return {anchor(heading) for heading in re.findall(r"(?m)^#+ (.*)$", prose(path))}


GENERATED = {"reference.md", "gallery.md", "api/index.html"}


def broken_links(path):
    """Links to files or headings that do not exist. Links to pages that the build generates count as right."""
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
