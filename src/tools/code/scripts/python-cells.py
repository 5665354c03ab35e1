# Cells, one after the other, in one namespace. Follows python-common.py.
import ast, signal

class Interrupts:
    """Ends the cell that runs, never a message on its way."""

    def __init__(self):
        self.cell = None
        self.running = threading.Event()
        signal.signal(signal.SIGINT, self.on_signal)
        calls.on_interrupt = self.interrupt
        threading.Thread(target=self.watch, daemon=True).start()

    def on_signal(self, number, frame):
        if self.cell is None:
            return
        while frame is not None and frame.f_code.co_filename in OURS:
            if frame.f_code in (Channel.send.__code__, Channel.receive.__code__):
                # Half a message would be lost: asks again in a moment.
                threading.Timer(0.01, self.interrupt, (self.cell,)).start()
                return
            frame = frame.f_back
        raise KeyboardInterrupt()

    def interrupt(self, cell):
        if cell == self.cell:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def watch(self):
        """Reads only while nobody else does, so that a cell that computes can be told to stop."""
        while True:
            self.running.wait()
            if not select.select([IN], [], [], 0.5)[0]:
                continue
            if not calls.reading.acquire(False):
                time.sleep(0.005)
                continue
            try:
                if select.select([IN], [], [], 0)[0]:
                    calls.deliver(channel.receive())
            finally:
                calls.reading.release()
                calls.wake()

class Evaluator:
    def __init__(self, names):
        self.names = names
        self.loop = None
        self.flags = getattr(ast, "PyCF_ALLOW_TOP_LEVEL_AWAIT", 0)

    def run(self, tree, name, mode):
        code = compile(tree, name, mode, self.flags, dont_inherit=True)
        value = eval(code, self.names)
        if not code.co_flags & 0x80:
            return value
        import asyncio

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(value)

    def evaluate(self, source, name):
        remember_source(name, source)
        tree = compile(source, name, "exec", self.flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        if tree.body:
            self.run(tree, name, "exec")
        if last is None:
            return None
        value = self.run(ast.Expression(last.value), name, "eval")
        if value is not None:
            self.names["_"] = value
        return value

def outcome_of(evaluator, cell):
    try:
        value = evaluator.evaluate(cell["code"], cell["name"])
        return {"exit": 0} if value is None else {"exit": 0, "result": repr(value)}
    except SystemExit as ended:
        code = ended.code
        if code is None or isinstance(code, int):
            return {"exit": (code or 0) & 255}
        return {"exit": 1, "error": str(code), "trace": str(code) + "\n"}
    except BaseException as error:
        text, line = described(type(error), error, error.__traceback__)
        stopped = isinstance(error, KeyboardInterrupt)
        return {"exit": 130 if stopped else 1, "error": line, "trace": text}

def flush_streams():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass

def run_cells():
    evaluator = Evaluator(main_module())
    interrupts = Interrupts()
    channel.send(b"h", b"")
    while True:
        cell = calls.take("c")[1]
        set_stdin(cell["stdin"])
        if cell.get("tools") is not None:
            install_tools(cell["tools"])
        interrupts.cell = cell["id"]
        interrupts.running.set()
        outcome = None
        while outcome is None:
            try:
                outcome = outcome_of(evaluator, cell)
            except KeyboardInterrupt:
                outcome = {"exit": 130, "error": "KeyboardInterrupt", "trace": "KeyboardInterrupt\n"}
        interrupts.cell = None
        interrupts.running.clear()
        flush_streams()
        channel.send(b"d", json.dumps({"id": cell["id"], **outcome}).encode("ascii"))

run_cells()
