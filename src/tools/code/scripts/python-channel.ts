/** Reads the driver itself from the channel, so that no argument grows long and no file is needed. */
export const PYTHON_BOOTSTRAP = `import os
def r(n):
 b=b""
 while len(b)<n:
  c=os.read(3,n-len(b))
  if not c:os._exit(70)
  b+=c
 return b
exec(compile(r(int(r(8),16)),"<hermes>","exec"),{"__name__":"<hermes>"})`;

/** The channel, and the streams of the script. */
export const PYTHON_CHANNEL = `
import sys
# What lies in the working folder must not stand in for a module that is needed here.
HERE = sys.path.pop(0) if sys.path and sys.path[0] == "" else None
import builtins, io, itertools, json, linecache, os, select, threading, types

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
`;
