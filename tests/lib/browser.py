"""A headless Chromium that a test steers through its debugging pipe: scripts, keys. Nothing but Python is needed."""
import atexit
import json
import os
import shutil
import subprocess
import tempfile

CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)
KEYS = {"End": 35, "Home": 36, "ArrowUp": 38, "ArrowDown": 40, "PageDown": 34, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Escape": 27,
        "/": 191}


class Process:
    """One for all pages of a test program: its start takes longer than what most tests do in it."""

    running = None

    @classmethod
    def shared(cls, scratch):
        if cls.running is None:
            cls.running = cls(tempfile.mkdtemp(dir=scratch))
            atexit.register(cls.running.end)
        return cls.running

    def __init__(self, directory):
        theirs, self.to = os.pipe()
        self.answers, theirs_too = os.pipe()

        def give_pipe():  # the browser reads from 3 and writes to 4
            os.dup2(theirs, 103)
            os.dup2(theirs_too, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={directory}", "--remote-debugging-pipe",
             "about:blank"],
            preexec_fn=give_pipe, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": directory})
        os.close(theirs)
        os.close(theirs_too)
        self.rest, self.last = b"", 0

    def end(self):
        self.process.kill()
        self.process.wait()

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.answers, 1 << 16)
            if not part:
                raise EOFError("the browser has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def send(self, method, session, parameters):
        self.last += 1
        call = {"id": self.last, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.to, json.dumps(call).encode() + b"\0")
        return self.last


class Browser:
    """One page, once it is loaded, that shares nothing with those before it. `complaints`: what the browser said of it, violations of its
    policy and questions to the user included."""

    def __init__(self, address, scratch):
        self.process, self.session, self.complaints, self.loaded = Process.shared(scratch), None, [], False
        self.context = self.call("Target.createBrowserContext")["browserContextId"]
        page = self.call("Target.createTarget", url="about:blank", browserContextId=self.context, newWindow=True, width=1200, height=900)
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log"):
            self.call(part + ".enable")
        self.load(address)

    def go(self, address):
        """To another page. By way of an empty one: where only what stands behind the # differs, nothing would be loaded."""
        self.load("about:blank")
        self.complaints = []
        self.load(address)

    def load(self, address):
        self.loaded = False
        self.call("Page.navigate", url=address)
        while not self.loaded:
            self.take(self.process.message())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session = None
        self.call("Target.disposeBrowserContext", browserContextId=self.context)

    def take(self, message):
        if message.get("sessionId") != self.session:
            return
        method = message.get("method")
        self.loaded = self.loaded or method == "Page.loadEventFired"
        if method == "Page.javascriptDialogOpening":
            self.process.send("Page.handleJavaScriptDialog", self.session, {"accept": False})
        if method in ("Page.javascriptDialogOpening", "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(message["params"])

    def call(self, method, **parameters):
        number = self.process.send(method, self.session, parameters)
        while True:
            message = self.process.message()
            if message.get("id") == number:
                return message["result"]
            self.take(message)

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
