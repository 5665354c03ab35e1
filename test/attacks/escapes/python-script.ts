import { callNumber, JUDGED_CALLS, REFUSED_CALLS } from "../../../src/env/sandbox/syscalls.js";
import type { Attempts } from "./python-attempts.js";

const arch = process.arch === "arm64" ? "arm64" : "x64";
const CAPSET = arch === "arm64" ? 91 : 126;

function callNumbers(): Record<string, number> {
  const all = Object.entries({ ...REFUSED_CALLS, ...JUDGED_CALLS });
  const known = all.map(([name, numbers]) => [name, callNumber(numbers, arch) ?? -1] as const);
  return { ...Object.fromEntries(known), capset: CAPSET };
}

const PRELUDE = `
import ctypes, errno, glob, json, mmap, os, platform, signal, socket, subprocess, sys, time

class K: pass
for _name, _value in json.loads(KNOWN).items(): setattr(K, _name, _value)
NUMBERS = json.loads(CALLS)
PLAIN_DEVICES = set("null zero full random urandom tty console ptmx pts shm fd stdin stdout stderr core mqueue".split())
REFUSALS = {errno.EPERM, errno.EACCES, errno.ENOSYS}
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
socket.setdefaulttimeout(1)

def call(name, *given):
    ctypes.set_errno(0)
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in given]
    answer = libc.syscall(ctypes.c_long(NUMBERS[name]), *words)
    return answer if answer >= 0 else -ctypes.get_errno()

def proof(answer):
    """A call that fails for another reason than that it was refused has got through."""
    return None if -answer in REFUSALS else "answered %d" % answer

def put(path):
    with open(path, "a") as file: file.write("x")
    return path

def read(path):
    text = open(path, "rb").read().decode("latin-1")
    return text if K.secret in text else None

def first(attempt, ways):
    for way in ways:
        try:
            found = attempt(way)
        except Exception:
            continue
        if found: return found
    return None

def tcp(family, address):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.connect(address)
    return s.recv(100).decode()

def shell(line):
    done = subprocess.run(["sh", "-c", line], capture_output=True, stdin=subprocess.DEVNULL, timeout=5)
    return done.stdout.decode() if done.returncode == 0 else None

def status(*names):
    return [l for l in open("/proc/self/status").read().splitlines() if l.startswith(names)]

def machine_code(code):
    """In a child, since a processor may end it. Answers when the kernel has answered with a process number."""
    if platform.machine() != "x86_64": return None
    memory = mmap.mmap(-1, 4096, prot=7)
    memory.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    child = os.fork()
    if child == 0:
        number = os.getpid()
        os._exit(3 if (function() & 0xffffffff) == number else 4)
    _, ended = os.waitpid(child, 0)
    return "answered" if os.WIFEXITED(ended) and os.WEXITSTATUS(ended) == 3 else None
`;

/** One script that tries all of them and prints a line of JSON for each: its name, and the proof if it worked. */
export function pythonScript(attempts: Attempts, known: Readonly<Record<string, string | number>>): string {
  const functions = Object.entries(attempts).map(([name, body], index) => {
    const lines = body.split("\n").map((line) => `    ${line}`);
    return `def attempt_${index}():\n${lines.join("\n")}\nATTEMPTS.append((${JSON.stringify(name)}, attempt_${index}))`;
  });
  return [
    `KNOWN = ${JSON.stringify(JSON.stringify(known))}`,
    `CALLS = ${JSON.stringify(JSON.stringify(callNumbers()))}`,
    PRELUDE,
    "ATTEMPTS = []",
    ...functions,
    "for name, attempt in ATTEMPTS:",
    "    found = why = None",
    "    try: found = attempt()",
    "    except BaseException as error: why = type(error).__name__ + ': ' + str(error)[:80]",
    "    print(json.dumps({'name': name, 'proof': found and str(found)[:200], 'why': why}), flush=True)",
  ].join("\n");
}
