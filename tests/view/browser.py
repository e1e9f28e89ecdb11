"""Controls Chromium by WebDriver, with the standard library, and NumPy for pixels: pages, scripts, pixels, messages
of the console.

    with Browser() as b:
        b.open("/tmp/page.html#t=3&view=inside")
        b.js("return curvebody.shown.k")
"""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


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
        # SwiftShader draws WebGL in software; the rest of the page is drawn without it, because it would take ten times
        # as long
        options += ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-accelerated-2d-canvas",
                    "--disable-gpu-rasterization"] if webgl else ["--disable-gpu", "--disable-3d-apis"]
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
        """Opens a page of `curvebody view` and waits until it has drawn."""
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
        raise RuntimeError("the page has not drawn: " + str(self.console()))

    def js(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def console(self):
        """Errors and warnings since the last call."""
        return [e["message"] for e in self.call("POST", "/se/log", {"type": "browser"}) if e["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """Addresses that were requested since the last call."""
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
        """The screenshot as rows of (r, g, b)."""
        import numpy as np
        width, height, data = self.pixels("data")
        return np.frombuffer(data, np.uint8).reshape(height, width, 4)[:, :, :3]

    def painted(self):
        """Coloured pixels; landmarks, frames and bonds are grey. The page finds them itself, because sending an image takes
        long."""
        import numpy as np
        width, height, bits = self.pixels("""(() => {
            const bits = new Uint8Array((data.length >> 5) + 1);
            for (let i = 0; i < data.length; i += 4)
                if (Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 40)
                    bits[i >> 5] |= 128 >> (i >> 2 & 7);
            return bits;
        })()""")
        return np.unpackbits(np.frombuffer(bits, np.uint8))[:width * height].reshape(height, width).astype(bool)

    def pixels(self, bytes_of_data):
        width, height, text = self.js("""
            const of = curvebody.shown.canvas, copy = document.createElement("canvas");
            copy.width = of.width, copy.height = of.height;
            const c = copy.getContext("2d", {willReadFrequently: true});
            c.drawImage(of, 0, 0);
            const data = c.getImageData(0, 0, of.width, of.height).data, bytes = %s, parts = [];
            for (let i = 0; i < bytes.length; i += 30000) parts.push(btoa(String.fromCharCode(...bytes.subarray(i, i + 30000))));
            return [of.width, of.height, parts];""" % bytes_of_data)
        return width, height, b"".join(map(base64.b64decode, text))

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
