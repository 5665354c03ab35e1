// The channel, the streams of the script, and calls of tools. What follows it is node-script.cjs or node-cells.cjs.
const fs = require("node:fs");
const net = require("node:net");
const path = require("node:path");
const util = require("node:util");
const vm = require("node:vm");
const { Writable } = require("node:stream");
const { pathToFileURL } = require("node:url");
const { createRequire } = require("node:module");

const config = JSON.parse(read(parseInt(read(8), 16)));
const TOKEN = Buffer.from(config.token, "latin1");
const IN = 3,
  OUT = 4,
  PIECE = config.piece;
const idle = new Int32Array(new SharedArrayBuffer(4));

function writeAll(descriptor, bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(descriptor, bytes, at, bytes.length - at);
    } catch (error) {
      if (error.code === "EPIPE") return;
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(idle, 0, 0, 1);
    }
  }
}

function send(kind, payload) {
  if (typeof payload === "string") {
    const length = Buffer.byteLength(payload);
    if (length <= PIECE) {
      writeAll(OUT, Buffer.from(config.token + kind + "." + length.toString(16).padStart(4, "0") + payload));
      return;
    }
  }
  const bytes = Buffer.from(payload);
  for (let at = 0; at === 0 || at < bytes.length; at += PIECE) {
    const piece = bytes.subarray(at, at + PIECE);
    const more = at + PIECE < bytes.length ? "+" : ".";
    writeAll(
      OUT,
      Buffer.concat([TOKEN, Buffer.from(kind + more + piece.length.toString(16).padStart(4, "0")), piece]),
    );
  }
}

// Written at once and in order with what child processes print.
function replaceStream(name, descriptor, write) {
  const stream = new Writable({
    decodeStrings: true,
    write(chunk, _encoding, done) {
      write(chunk);
      done();
    },
  });
  stream.fd = descriptor;
  stream._type = "pipe";
  stream._isStdio = true;
  stream.destroySoon = stream.destroy = () => stream;
  Object.defineProperty(process, name, { configurable: true, enumerable: true, get: () => stream });
}
function printError(bytes) {
  for (let at = 0; at < bytes.length; at += PIECE) send("e", bytes.subarray(at, at + PIECE));
}
replaceStream("stdout", 1, (bytes) => writeAll(1, bytes));
replaceStream("stderr", 2, printError);

// A file without a name: node cannot make a pipe, and child processes need a descriptor.
function setStdin(text) {
  if (text === "") return;
  const name = path.join(require("node:os").tmpdir(), ".hermes-stdin-" + process.pid + "-" + Date.now());
  fs.writeFileSync(name, text, { flag: "wx", mode: 0o600 });
  try {
    fs.closeSync(0);
    fs.openSync(name, "r");
  } finally {
    fs.unlinkSync(name);
  }
}

class ToolError extends Error {
  constructor({ message, code = "failed", hint }) {
    super(hint === undefined ? message : message + "\n" + hint);
    this.name = "ToolError";
    this.code = code;
    if (hint !== undefined) this.hint = hint;
  }
}

const pending = new Map();
let lastKey = 0;
let holdOpen = () => {};

function callTool(name, args) {
  return new Promise((resolve, reject) => {
    const key = ++lastKey;
    const text = JSON.stringify([key, name, args]);
    pending.set(key, { resolve, reject });
    if (pending.size === 1) holdOpen(true);
    send("q", text);
  });
}

function takeAnswer([, key, ok, value]) {
  const call = pending.get(key);
  if (call === undefined) return;
  pending.delete(key);
  if (pending.size === 0) holdOpen(false);
  if (ok) call.resolve(value);
  else call.reject(new ToolError(value));
}

/** Calls listener with every message of the stream. */
function readMessages(stream, listener) {
  let got = Buffer.alloc(0);
  stream.on("data", (bytes) => {
    got = got.length === 0 ? bytes : Buffer.concat([got, bytes]);
    while (got.length >= 8) {
      const end = 8 + parseInt(got.toString("latin1", 0, 8), 16);
      if (got.length < end) break;
      const message = JSON.parse(got.toString("utf8", 8, end));
      got = got.subarray(end);
      listener(message);
    }
  });
  stream.on("close", () => process.exit(70));
}

const helpers = {
  ToolError,
  call_tool: (name, args = {}) => callTool(name, args),
  json_parse: (text) =>
    JSON.parse(text.replace(/^\ufeff/, "").replace(/[\u0000-\u001f]/g, (c) => (/\s/.test(c) ? " " : ""))),
  shell_quote: (text) => "'" + String(text).replaceAll("'", "'\\''") + "'",
  async retry(fn, maxAttempts = 3, delay = 2) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await fn();
      } catch (error) {
        if (attempt >= maxAttempts) throw error;
        await new Promise((resolve) => setTimeout(resolve, delay * 1000 * 2 ** (attempt - 1)));
      }
    }
  },
};

let hermes = {};
function installTools(tools) {
  const made = { ...helpers };
  for (const { name, functions, parameters } of tools) {
    for (const one of functions) {
      made[one] = (first, ...rest) => {
        const named = first !== null && typeof first === "object" && !Array.isArray(first);
        const args = named || first === undefined ? { ...first } : {};
        (named ? rest : [first, ...rest]).forEach((value, index) => {
          if (value !== undefined && parameters[index] !== undefined) args[parameters[index]] = value;
        });
        return callTool(name, args);
      };
      Object.defineProperty(made[one], "name", { value: one });
    }
  }
  hermes = Object.freeze(made);
  for (const name of ["hermes", "tools"])
    Object.defineProperty(globalThis, name, {
      configurable: true,
      writable: true,
      enumerable: false,
      value: hermes,
    });
}

function described(error) {
  const shown =
    typeof error === "object" && error !== null && typeof error.stack === "string"
      ? util.inspect(error)
      : "Uncaught " + util.inspect(error);
  const ours = /^ +at .*(?:hermes:driver|node:internal|node:vm:|node:events:)[^{]*/gm;
  const lines = shown
    .replace(ours, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const line =
    error instanceof Error || util.types.isNativeError(error)
      ? error.name + ": " + error.message
      : "Uncaught " + util.inspect(error);
  return { trace: lines.join("\n") + "\n", line };
}

globalThis.require = createRequire(path.join(process.cwd(), "script.js"));
