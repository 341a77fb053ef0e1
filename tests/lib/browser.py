"""A headless Chromium that a test steers through its debugging pipe: scripts, keys. Nothing but Python is needed."""
import json
import os
import shutil
import subprocess
import tempfile

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
KEYS = {"End": 35, "Home": 36, "ArrowUp": 38, "ArrowDown": 40, "PageDown": 34, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Escape": 27,
        "/": 191}


class Browser:
    """With one page open, once that is loaded."""

    def __init__(self, address, scratch):
        self.directory = tempfile.mkdtemp(dir=scratch)
        theirs, to = os.pipe()
        answers, theirs_too = os.pipe()

        def give_pipe():  # the browser reads from 3 and writes to 4
            os.dup2(theirs, 103)
            os.dup2(theirs_too, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.directory}", "--remote-debugging-pipe",
             "--window-size=1200,900", "about:blank"],
            preexec_fn=give_pipe, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.directory})
        os.close(theirs)
        os.close(theirs_too)
        self.to, self.answers, self.rest, self.last, self.session = to, answers, b"", 0, None
        page = next(target for target in self.call("Target.getTargets")["targetInfos"] if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Page.navigate", url=address)
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.answers)

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.answers, 1 << 16)
            if not part:
                raise EOFError("the browser has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.last += 1
        call = {"id": self.last, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.to, json.dumps(call).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.last:
                return answer["result"]

    def drawn(self):
        """Waits until what was changed is on the screen."""
        self.call("Runtime.evaluate", expression="new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))",
                  awaitPromise=True)

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])
        self.drawn()
