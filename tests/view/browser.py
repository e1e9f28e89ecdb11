"""Chromium by WebDriver, with nothing but the standard library: pages, scripts, pixels, what the console said.

    with Browser() as b:
        b.open("/tmp/page.html#t=3&view=inside")
        b.js("return curvebody.shown.k")
"""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import zlib


class Browser:
    def __init__(self, width=1000, height=700, webgl=True):
        self.folder = tempfile.mkdtemp()
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.process = subprocess.Popen([shutil.which("chromedriver") or "/usr/bin/chromedriver", f"--port={self.port}"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        options = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={width},{height}",
                   "--force-device-scale-factor=1", f"--user-data-dir={self.folder}", "--disable-background-networking"]
        options += ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"] if webgl else ["--disable-gpu", "--disable-3d-apis"]
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": {"args": options},
                                                   "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}}
        for attempt in range(100):
            try:
                answer = self.call("POST", "/session", wanted, session=False)
                break
            except (ConnectionError, urllib.error.URLError):
                time.sleep(0.1)
        self.session = answer["sessionId"]

    def call(self, method, path, body=None, session=True):
        url = f"http://127.0.0.1:{self.port}" + (f"/session/{self.session}" if session else "") + path
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            return json.load(opener.open(request, timeout=120))["value"]
        except urllib.error.HTTPError as failure:
            raise RuntimeError(json.load(failure)["value"]["message"].splitlines()[0]) from None

    def open(self, path, wait=30):
        """Opens a page of `curvebody view`, and waits until it shows."""
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": "file://" + os.path.abspath(path.split("#")[0]) + path[len(path.split("#")[0]):]})
        self.ready(wait)

    def ready(self, wait=30):
        end = time.time() + wait
        while time.time() < end:
            try:
                if self.js("return document.readyState === 'complete' && typeof curvebody !== 'undefined' && !!curvebody.shown && !!curvebody.shown.drawing"):
                    return
            except RuntimeError:
                pass
            time.sleep(0.05)
        raise RuntimeError("the page does not show: " + str(self.console()))

    def js(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def console(self):
        """Errors and warnings since it was last asked."""
        return [e["message"] for e in self.call("POST", "/se/log", {"type": "browser"}) if e["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """Addresses that were asked for since it was last asked."""
        found = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def canvas(self):
        """The picture as rows of (r, g, b)."""
        text = self.js("return curvebody.shown.canvas.toDataURL('image/png')")
        return pixels(base64.b64decode(text.split(",")[1]))

    def close(self):
        try:
            self.call("DELETE", "")
        except Exception:
            pass
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def pixels(png):
    """PNG of 8 bits, RGB or RGBA, to a numpy array [height, width, 3]."""
    import numpy as np
    at, data, width, height, kind = 8, b"", 0, 0, 0
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at:at + 8])
        part = png[at + 8:at + 8 + length]
        if name == b"IHDR":
            width, height, _, kind = struct.unpack(">IIBB", part[:10])
        if name == b"IDAT":
            data += part
        at += 12 + length
    channels = {2: 3, 6: 4}[kind]
    raw = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    out = np.zeros((height, width * channels), np.uint8)
    for y in range(height):
        line, kind, above = raw[y, 1:].astype(int), raw[y, 0], out[y - 1].astype(int) if y else np.zeros(width * channels, int)
        if kind == 0:
            out[y] = line
        elif kind == 2:
            out[y] = line + above & 255
        else:
            row = [0] * (width * channels)
            for x in range(width * channels):
                left = row[x - channels] if x >= channels else 0
                up, corner = above[x], above[x - channels] if x >= channels else 0
                if kind == 1:
                    guess = left
                elif kind == 3:
                    guess = (left + up) // 2
                else:
                    p = left + up - corner
                    guess = min((left, up, corner), key=lambda v: (abs(p - v), (left, up, corner).index(v)))
                row[x] = int(line[x] + guess) & 255
            out[y] = row
    return out.reshape(height, width, channels)[:, :, :3]
