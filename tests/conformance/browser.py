"""Chromium without a window loads a site of 200 assets: none fails, none has another status, and the page says that it got them all."""
import base64
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile
import time

import assets
import judged
from harness import PATIENCE_S, expect
from judged import REPOSITORY, case

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
PICTURES = REPOSITORY / "build" / "conformance"


class browser:
    """Chromium, spoken to by the DevTools protocol over two pipes; what it tells by itself is gathered in `events`."""

    def __init__(self):
        program = next((each for each in PROGRAMS if shutil.which(each)), None)
        expect(program, "there is no Chromium: tools/packages conformance")
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        hear, self.write = os.pipe()
        self.read, say = os.pipe()

        def as_3_and_4():
            os.dup2(os.dup(say), 14)  # out of the way of the other
            os.dup2(hear, 3)
            os.dup2(14, 4)
        # Its sandbox needs rights that a container has not; it sees nothing but this site.
        self.process = subprocess.Popen([program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--ignore-certificate-errors",
                                         "--no-proxy-server", "--mute-audio", "--window-size=1000,900", f"--user-data-dir={self.profile.name}",
                                         "--remote-debugging-pipe", "about:blank"],
                                        preexec_fn=as_3_and_4, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=judged.ENVIRONMENT)
        os.close(hear)
        os.close(say)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Network", "Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.write)
        os.close(self.read)
        self.profile.cleanup()

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.number:
                expect("error" not in answer, method, answer)
                return answer["result"]
            self.events.append(answer)

    def next(self):
        while b"\0" not in self.buffer:
            expect(select.select([self.read], [], [], PATIENCE_S)[0], "Chromium says nothing")
            data = os.read(self.read, 1 << 16)
            expect(data, "Chromium has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def evaluate(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)["result"].get("value")

    def load(self, method, **parameters):
        """What the page says of itself, and all that was told meanwhile."""
        self.events = []
        self.evaluate("window.verdict = null")
        self.call(method, **parameters)
        end = time.monotonic() + PATIENCE_S
        while not (verdict := self.evaluate("window.verdict")):
            expect(time.monotonic() < end, "the page was not loaded:", self.evaluate("document.body.innerText"), self.complaints())
            time.sleep(0.05)
        return verdict

    def of(self, method):
        return [each["params"] for each in self.events if each["method"] == method]

    def complaints(self):
        """Whatever a person would see in red, but for what the page gave up by itself: of a sound, the rest is not needed."""
        failed = [each for each in self.of("Network.loadingFailed") if not (each.get("canceled") and each["type"] == "Media")]
        logged = [each["entry"] for each in self.of("Log.entryAdded") if each["entry"]["level"] in ("error", "warning")]
        spoken = [each for each in self.of("Runtime.consoleAPICalled") if each["type"] in ("error", "warning", "assert")]
        return failed + logged + spoken + self.of("Runtime.exceptionThrown")

    def answers(self):
        """{path: statuses of its answers}; those from the browser's own memory left out."""
        found = {}
        for each in self.of("Network.responseReceived"):
            response = each["response"]
            path = re.sub(r"^https?://[^/]+/", "", response["url"])
            if not response["url"].startswith("data:") and not response.get("fromDiskCache"):
                found.setdefault(path, []).append(response["status"])
        for each in self.of("Network.responseReceivedExtraInfo"):
            found.setdefault("as sent", []).append(each["statusCode"])
        return found

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]
        (PICTURES / name).write_bytes(base64.b64decode(data))


def site():
    root = judged.SCRATCH / "assets"
    if not root.exists():
        assets.fill(root)
        judged.age(root)
    return root, [path for path in sorted(str(each.relative_to(root)) for each in root.rglob("*.*")) if not path.endswith((".gz", ".br", "index.html"))]


def visit(url, picture):
    root, names = site()
    expect(len(names) == assets.TOTAL, len(names))
    with judged.judged(root=root) as s, browser() as b:
        address = getattr(s, url) + "/"
        verdict = b.load("Page.navigate", url=address)
        expect(verdict == assets.VERDICT, verdict, b.complaints()[:5])
        expect(not b.complaints(), b.complaints()[:5])
        came = b.answers()
        for name in names:
            wanted = {206} if name.endswith(".wav") else {200}
            expect(set(came.get(name, ())) == wanted, name, came.get(name))
        expect(set(came["as sent"]) == {200, 206} and came["as sent"].count(200) == assets.TOTAL - assets.SOUNDS + 1, came["as sent"])
        coded = [each for each in b.of("Network.responseReceived") if "Content-Encoding" in each["response"]["headers"]]
        expect(len(coded) == assets.STYLES + assets.SCRIPTS + assets.SVGS, "so many came compressed:", len(coded))
        b.picture(picture)
        verdict = b.load("Page.reload")
        expect(verdict == assets.VERDICT and not b.complaints(), verdict, b.complaints()[:5])
        expect(set(b.answers()["as sent"]) <= {200, 206, 304}, b.answers()["as sent"])
        if url == "http":  # what comes from one whose certificate is not known is not kept
            asks_anew(b, [name for name in names if not name.endswith(".wav")])


def asks_anew(b, names):
    """Everything that the browser has, is asked for whether it has changed: a reload asks so for the page only."""
    b.events = []
    ask = "fetch(name, {cache: 'no-cache'}).then(async r => [r.status, (await r.arrayBuffer()).byteLength])"
    got = b.evaluate(f"Promise.all({json.dumps(names)}.map(name => {ask}))")
    sizes = [[200, (judged.SCRATCH / "assets" / name).stat().st_size] for name in names]  # a 304 is given to the page as what is kept
    expect(got == sizes and not b.complaints(), [each for each in zip(names, got, sizes) if each[1] != each[2]][:5], b.complaints()[:5])
    again = b.answers()["as sent"]
    expect(again == [304] * len(names), {each: again.count(each) for each in set(again)})


@case("chromium")
def a_site_of_200_assets_is_loaded():
    visit("http", "chromium-http.png")


@case("chromium")
def a_site_of_200_assets_is_loaded_over_tls():
    visit("https", "chromium-https.png")
