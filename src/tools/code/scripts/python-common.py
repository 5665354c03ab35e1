# The channel, the streams of the script, calls of tools from any thread, and failures as the author of the
# script knows them. What follows it is python-script.py or python-cells.py.
import sys
# What lies in the working folder must not stand in for a module that is needed here.
HERE = sys.path.pop(0) if sys.path and sys.path[0] == "" else None
import builtins, io, itertools, json, linecache, os, select, threading, time, types

IN, OUT = 3, 4
os.set_inheritable(IN, False)
os.set_inheritable(OUT, False)

decode = json.JSONDecoder().raw_decode

class Channel:
    def __init__(self):
        self.got = b""
        self.write_lock = threading.Lock()
        self.process = os.getpid()
        self.token = b""

    def receive(self):
        got = self.got
        while True:
            if len(got) >= 8:
                end = 8 + int(got[:8], 16)
                if len(got) >= end:
                    self.got = got[end:]
                    return decode(got[8:end].decode())[0]
                if end > 131072:
                    got = self.rest_of(got, end)
                    continue
            got += self.read(65536)
            self.got = got

    def rest_of(self, got, end):
        """A long message, without copying it again with every piece."""
        pieces, have = [got], len(got)
        while have < end:
            pieces.append(self.read(1048576))
            have += len(pieces[-1])
        return b"".join(pieces)

    def read(self, size):
        while True:
            try:
                piece = os.read(IN, size)
            except BlockingIOError:
                select.select([IN], [], [])
                continue
            if not piece:
                os._exit(70)
            return piece

    def send(self, kind, payload):
        size = len(payload)
        with self.write_lock:
            if size <= PIECE:
                self.put(b"%b%b.%04x%b" % (self.token, kind, size, payload))
                return
            for at in range(0, size, PIECE):
                piece = payload[at : at + PIECE]
                more = b"+" if at + PIECE < size else b"."
                self.put(b"%b%b%b%04x%b" % (self.token, kind, more, len(piece), piece))

    def put(self, frame):
        while frame:
            try:
                frame = frame[os.write(OUT, frame) :]
            except BlockingIOError:
                select.select([], [OUT], [])

    def forked(self):
        self.write_lock = threading.Lock()

channel = Channel()
config = channel.receive()
channel.token = config["token"].encode("latin-1")
PIECE = config["piece"]
os.register_at_fork(after_in_child=channel.forked)

class ErrorStream(io.RawIOBase):
    def writable(self):
        return True

    def fileno(self):
        return 2

    def write(self, data):
        data = bytes(data)
        for at in range(0, len(data), PIECE):
            channel.send(b"e", data[at : at + PIECE])
        return len(data)

sys.stderr = io.TextIOWrapper(
    io.BufferedWriter(ErrorStream()), encoding="utf-8", errors="backslashreplace", line_buffering=True, write_through=True
)
sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)

def feed(descriptor, data):
    try:
        while data:
            data = data[os.write(descriptor, data[:65536]) :]
    except OSError:
        pass
    finally:
        os.close(descriptor)

def set_stdin(text):
    if text:
        source, sink = os.pipe()
        data = text.encode("utf-8", "replace")
        if len(data) <= 4096:
            feed(sink, data)
        else:
            threading.Thread(target=feed, args=(sink, data), daemon=True).start()
    else:
        source = os.open(os.devnull, os.O_RDONLY)
    os.dup2(source, 0)
    os.close(source)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8", errors="surrogateescape")


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


def remember_source(name, source):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)

OURS = ("<hermes>", "<hermes_tools>")

def described(kind, error, trace):
    """The traceback as the script's author knows it, and its last line."""
    import traceback

    # The first frame is the line of the shell that starts this program.
    while trace is not None and trace.tb_frame.f_code.co_filename in OURS + ("<string>",):
        trace = trace.tb_next
    whole = traceback.TracebackException(kind, error, trace)
    seen, waiting = set(), [whole]
    while waiting:
        part = waiting.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        part.stack = traceback.StackSummary.from_list(
            [frame for frame in part.stack if frame.filename not in OURS]
        )
        waiting += [part.__cause__, part.__context__] + list(getattr(part, "exceptions", None) or [])
    said = "".join(whole.format_exception_only()).strip()
    return "".join(whole.format()), said.splitlines()[-1] if issubclass(kind, SyntaxError) else said

def main_module():
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    sys.argv = [""]
    if HERE is not None:
        sys.path.insert(0, HERE)
    return main.__dict__
