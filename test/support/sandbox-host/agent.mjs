// Runs inside a sandbox, as the program that a cloud service keeps there: it starts programs for whoever connects
// to its socket. Every connection begins with one line of JSON that says what it is for; the streams of a program
// are connections of their own, so that each has its own flow control.
import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { createServer, Socket } from "node:net";
import { dirname } from "node:path";

const streams = new Map();

createServer({ allowHalfOpen: true }, (socket) => {
  socket.on("error", () => {});
  firstLine(socket).then((header) => {
    if (header.role === "control") void start(header, socket);
    else stream(header.id, header.role).resolve(socket);
  });
}).listen(process.argv[2], () => console.log("ready"));

/** A stream may arrive before or after the request that wants it. */
function stream(id, role) {
  const key = `${id} ${role}`;
  let entry = streams.get(key);
  if (entry === undefined) {
    entry = {};
    entry.socket = new Promise((resolve) => {
      entry.resolve = resolve;
    });
    streams.set(key, entry);
  }
  return entry;
}

async function taken(id, role) {
  const socket = await stream(id, role).socket;
  streams.delete(`${id} ${role}`);
  return socket;
}

async function start(request, control) {
  const say = (message) => control.writable && control.write(`${JSON.stringify(message)}\n`);
  try {
    if (request.pty === undefined) await startPiped(request, say, control);
    else await startInTerminal(request, say, control);
  } catch (error) {
    say({ failed: error.code === "ENOENT" ? 127 : 126, message: error.message });
    for (const role of ["stdout", "stderr", "pty"])
      if (streams.has(`${request.id} ${role}`)) (await taken(request.id, role)).end();
  }
}

async function startPiped(request, say, control) {
  const [stdin, stdout, stderr] = await Promise.all(
    ["stdin", "stdout", "stderr"].map((role) => taken(request.id, role)),
  );
  const pipes = makePipes();
  const child = spawn(request.argv[0], request.argv.slice(1), {
    cwd: request.cwd,
    env: request.env,
    detached: true,
    stdio: [pipes.in.read, pipes.out.write, pipes.err.write],
  });
  for (const fd of [pipes.in.read, pipes.out.write, pipes.err.write]) closeSync(fd);
  const input = new Socket({ fd: pipes.in.write, readable: false, writable: true });
  const output = new Socket({ fd: pipes.out.read, readable: true, writable: false });
  const errors = new Socket({ fd: pipes.err.read, readable: true, writable: false });
  for (const pipe of [input, output, errors]) pipe.on("error", () => {});
  stdin.pipe(input);
  // A program that no longer reads must not stop whoever writes to it.
  input.on("close", () => stdin.resume());
  output.pipe(stdout);
  errors.pipe(stderr);
  // A shut connection means that nobody wants the rest.
  stdout.on("close", () => output.destroy());
  stderr.on("close", () => errors.destroy());
  child.on("error", (error) => {
    pipes.remove();
    say({ failed: error.code === "ENOENT" ? 127 : 126, message: error.message });
    for (const pipe of [input, output, errors]) pipe.destroy();
    stdout.end();
    stderr.end();
  });
  child.on("spawn", () => say({ pid: child.pid }));
  child.on("exit", (code, signal) => {
    pipes.remove();
    say({ exit: code, signal });
    input.destroy();
  });
  onLines(control, (message) => {
    if (message.kill !== undefined) killGroup(child.pid, message.kill);
  });
}

async function startInTerminal(request, say, control) {
  const { spawn: spawnTerminal } = await import("@lydell/node-pty");
  const socket = await taken(request.id, "pty");
  const terminal = spawnTerminal(request.argv[0], request.argv.slice(1), {
    cwd: request.cwd,
    env: request.env,
    cols: request.pty.columns,
    rows: request.pty.rows,
    encoding: null,
  });
  say({ pid: terminal.pid });
  keepUntilRead(terminal);
  // Never paused: this library drops what was not read soon after the program's end.
  terminal.onData((data) => socket.write(data));
  socket.on("data", (data) => terminal.write(data));
  terminal.onExit(({ exitCode, signal }) => {
    // The terminal's last bytes may still be on their way.
    setTimeout(() => {
      socket.end();
      say({ exit: signal ? null : exitCode, signal: signal || null });
    }, 250);
  });
  onLines(control, (message) => {
    if (message.resize !== undefined) terminal.resize(message.resize.columns, message.resize.rows);
    if (message.kill !== undefined) killGroup(terminal.pid, message.kill);
  });
}

/**
 * Node takes the end of a terminal's last program for the end of its output, although some of it may still be there,
 * and this library shuts the terminal 200 ms after that end. So the terminal is held open here, and shut when nothing
 * more has come for a while.
 */
function keepUntilRead(terminal) {
  const held = openSync(terminal._pty, constants.O_RDWR | constants.O_NOCTTY);
  const inner = terminal._socket;
  const shut = inner.destroy.bind(inner);
  let last = Date.now();
  terminal.onData(() => {
    last = Date.now();
  });
  let shutting = false;
  inner.destroy = (...given) => {
    if (shutting) return inner;
    shutting = true;
    const whenQuiet = () => {
      if (Date.now() - last < 300) return void setTimeout(whenQuiet, 50);
      closeSync(held);
      shut(...given);
    };
    whenQuiet();
    return inner;
  };
}

function killGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {}
}

/** Real pipes: node's own are sockets, which a program cannot open again as /dev/stdout. */
function makePipes() {
  const folder = mkdtempSync(`${dirname(process.argv[2])}/pipes-`);
  // Named for as long as they are used: whoever looks at a descriptor then sees a plain path.
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const name = (role) => `${folder}/${role}`;
    execFileSync("mkfifo", [name("in"), name("out"), name("err")]);
    const both = openSync(name("in"), constants.O_RDWR | constants.O_NONBLOCK);
    const pipes = {
      remove,
      in: {
        read: openSync(name("in"), constants.O_RDONLY),
        write: openSync(name("in"), constants.O_WRONLY | constants.O_NONBLOCK),
      },
      out: outputPipe(name("out")),
      err: outputPipe(name("err")),
    };
    closeSync(both);
    return pipes;
  } catch (error) {
    remove();
    throw error;
  }
}

function outputPipe(name) {
  return {
    read: openSync(name, constants.O_RDONLY | constants.O_NONBLOCK),
    write: openSync(name, constants.O_WRONLY),
  };
}

function onLines(socket, handle) {
  let text = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk) => {
    text += chunk;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
      handle(JSON.parse(text.slice(0, end)));
      text = text.slice(end + 1);
    }
  });
}

function firstLine(socket) {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const onReadable = () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
        bytes = Buffer.concat([bytes, chunk]);
        const end = bytes.indexOf(10);
        if (end === -1) continue;
        socket.off("readable", onReadable);
        socket.unshift(bytes.subarray(end + 1));
        resolve(JSON.parse(bytes.subarray(0, end).toString()));
        return;
      }
    };
    socket.on("readable", onReadable);
  });
}
