/** Calls of tools from any thread, and the module that scripts import. */
export const PYTHON_TOOLS = String.raw`
class ToolError(Exception):
    """A tool call that failed. Has the fields message, code and hint."""

    def __init__(self, message, code="failed", hint=None):
        super().__init__(message if not hint else message + "\n" + hint)
        self.message, self.code, self.hint = message, code, hint

ToolError.__module__ = "hermes_tools"

class Calls:
    """Whoever waits for an answer reads for all: no thread of its own stands between a call and its answer."""

    def __init__(self):
        self.reading = threading.Lock()
        self.answers = {}
        self.wanted = {}
        self.waiters = {}
        self.keys = itertools.count(1)
        self.on_interrupt = None

    def take(self, key):
        answers, reading = self.answers, self.reading
        self.wanted[key] = True
        try:
            while key not in answers:
                if reading.acquire(False):
                    try:
                        while key not in answers:
                            self.deliver(channel.receive())
                    finally:
                        reading.release()
                        self.wake()
                    break
                waiter = threading.Lock()
                waiter.acquire()
                self.waiters[key] = waiter
                # The reader may have left a moment ago without seeing this one.
                if key not in answers and reading.locked():
                    waiter.acquire()
                self.waiters.pop(key, None)
            return answers.pop(key)
        finally:
            self.wanted.pop(key, None)
            if self.waiters:
                # Roused and interrupted before it could read: somebody else must.
                self.waiters.pop(key, None)
                self.wake()

    def deliver(self, message):
        kind = message[0]
        if kind == "i":
            if self.on_interrupt:
                self.on_interrupt(message[1])
            return
        key = message[1] if kind == "r" else kind
        if key in self.wanted or kind != "r":
            self.answers[key] = message
            self.rouse(self.waiters.get(key))

    def wake(self):
        for waiter in list(self.waiters.values())[:1]:
            self.rouse(waiter)

    def rouse(self, waiter):
        try:
            if waiter is not None:
                waiter.release()
        except RuntimeError:
            pass

    def call(self, tool, arguments):
        if os.getpid() != channel.process:
            raise ToolError("Tools can only be called from the process that runs the script, not from a fork of it.", "unavailable")
        key = next(self.keys)
        self.wanted[key] = True
        channel.send(b"q", encode((key, tool, arguments)).encode("ascii"))
        answer = self.take(key)
        if answer[2]:
            return answer[3]
        problem = answer[3]
        raise ToolError(problem["message"], problem["code"], problem.get("hint"))

def plain(value):
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8")
    raise TypeError("a tool cannot take a value of type " + type(value).__name__)

encode = json.JSONEncoder(default=plain).encode
calls = Calls()

def json_parse(text):
    """json.loads that puts up with a byte order mark and raw control characters."""
    return json.loads(text.lstrip("\ufeff"), strict=False)

def shell_quote(text):
    """The text as one word for a shell."""
    import shlex

    return shlex.quote(str(text))

def retry(fn, max_attempts=3, delay=2):
    """Calls fn until it does not raise; waits delay, 2 x delay, 4 x delay ... seconds in between."""
    import time

    for attempt in range(max_attempts):
        try:
            return fn()
        except Exception:
            if attempt + 1 >= max_attempts:
                raise
            time.sleep(delay * 2**attempt)

def call_tool(name, **arguments):
    """Calls a tool by name."""
    return calls.call(name, arguments)

class LeftOut:
    def __repr__(self):
        return "<left out>"

left_out = LeftOut()

def given(named, more, nullable=()):
    for name, value in named.items():
        if value is left_out or (value is None and name not in nullable):
            continue
        more[name] = value
    return more

def install_tools(source):
    module = types.ModuleType("hermes_tools", "The tools of this session, one function for each.")
    module.__dict__.update(
        ToolError=ToolError, json_parse=json_parse, shell_quote=shell_quote, retry=retry, call_tool=call_tool,
        _call=calls.call, _given=given, _left_out=left_out,
    )
    exec(compile(source, "<hermes_tools>", "exec"), module.__dict__)
    sys.modules["hermes_tools"] = module
`;
