// Runs inside of every sandbox before the script: `tools`, `searchTools`, `describeTool`, `console` and timers.
// Everything goes through one function of the host that takes and gives text ("kind number JSON"), so that no
// object of the host ever exists in here. Gives back the three functions that the host calls.
(host) => {
  "use strict";
  const { parse, stringify } = JSON;
  const { create, keys, getPrototypeOf, prototype: plain } = Object;
  const { apply, ownKeys } = Reflect;
  const {
    isArray,
    prototype: { pop },
  } = Array;
  const ThePromise = Promise,
    TheError = Error,
    TheMap = Map,
    TheSet = Set,
    TheDate = Date,
    TheProxy = Proxy;
  const then = ThePromise.prototype.then;
  const resolved = ThePromise.resolve();
  const later = (promise, onValue, onError) => apply(then, promise, [onValue, onError]);

  class ToolError extends TheError {}
  ToolError.prototype.name = "ToolError";

  /** Requests under way, by number; numbers are used again, so that the list stays short. */
  const waiting = [];
  const free = [];
  let ended = false;

  function request(kind, head, name, given) {
    return new ThePromise((resolve, reject) => {
      const type = typeof given;
      if (type === "function" || type === "symbol")
        throw new TypeError("the arguments of " + name + " cannot be written as JSON");
      const text = type === "undefined" ? "{}" : stringify(given);
      const id = free.length > 0 ? apply(pop, free, []) : waiting.length;
      const refusal = host(kind + id + head + text + "}");
      waiting[id] = refusal === undefined ? { name, resolve, reject } : undefined;
      if (refusal === undefined) return;
      free[free.length] = id;
      reject(toolError(name, parse(refusal)));
    });
  }

  function toolError(name, { message, code, hint }) {
    const error = new ToolError(message);
    error.tool = name;
    error.code = code;
    if (hint !== undefined) error.hint = hint;
    return error;
  }

  /** The text is [number of the request, whether it went well, value or error]. */
  function answer(text) {
    const reply = parse(text);
    const id = reply[0];
    const call = waiting[id];
    if (call === undefined) return;
    waiting[id] = undefined;
    free[free.length] = id;
    if (reply[1]) return call.resolve(reply[2]);
    const error = reply[2];
    if (ended)
      host("e0 " + stringify(call.name + " failed, and nothing awaited it: " + error.message + "\n"));
    call.reject(toolError(call.name, error));
  }

  let known;
  const names = () => (known ??= new TheSet(parse(host("n0 "))));
  const callers = create(null);
  const headOf = (name) => ' {"name":' + stringify(name) + ',"given":';
  const isToolName = (name) =>
    typeof name === "string" &&
    !((name in plain || name === "then" || name === "toJSON") && !names().has(name));
  function caller(name) {
    if (callers[name] !== undefined) return callers[name];
    if (!isToolName(name)) return undefined;
    const head = headOf(name);
    const caller = (given) => request("c", head, name, given);
    callers[name] = caller;
    return caller;
  }
  const refuse = () => {
    throw new TypeError("tools cannot be changed");
  };
  const tools = new TheProxy(create(null), {
    get: (_, name) => caller(name),
    has: (_, name) => names().has(name),
    ownKeys: () => [...names()],
    getOwnPropertyDescriptor: (_, name) =>
      names().has(name)
        ? { value: caller(name), enumerable: true, configurable: true, writable: false }
        : undefined,
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: refuse,
  });

  const timers = create(null);
  let timerIds = 0;
  function arm(id, wait) {
    const refusal = host("t" + id + " " + wait);
    if (refusal !== undefined) throw new RangeError(parse(refusal));
  }
  function start(action, delay, repeat, given) {
    if (typeof action !== "function") throw new TypeError("a timer needs a function");
    const id = ++timerIds;
    const wait = +delay > 0 ? +delay : 0;
    arm(id, wait);
    timers[id] = { action, given, wait: repeat ? wait : undefined };
    return id;
  }
  function clear(id) {
    if (timers[id] === undefined) return;
    delete timers[id];
    host("x" + id + " ");
  }
  function fire(id) {
    const timer = timers[id];
    if (timer === undefined) return;
    if (timer.wait === undefined) delete timers[id];
    else arm(id, timer.wait > 1 ? timer.wait : 1);
    try {
      apply(timer.action, undefined, timer.given);
    } catch (error) {
      fail(error);
    }
  }

  const MAX_DEPTH = 4,
    MAX_ITEMS = 100;
  function shown(value) {
    return typeof value === "string" ? value : inspect(value, 0, []);
  }
  function inspect(value, depth, above) {
    if (typeof value === "string") return stringify(value);
    if (typeof value === "bigint") return value + "n";
    if (typeof value === "function") return "[function " + (value.name || "anonymous") + "]";
    if (typeof value !== "object" || value === null) return String(value);
    if (above.includes(value)) return "[circular]";
    if (value instanceof TheError) return errorText(value);
    if (value instanceof TheDate) return String(value);
    if (value instanceof ThePromise) return "[promise: await it]";
    if (depth >= MAX_DEPTH) return isArray(value) ? "[…]" : "{…}";
    const inner = (item) => inspect(item, depth + 1, [...above, value]);
    const list = (items, open, close) => {
      const parts = items.slice(0, MAX_ITEMS);
      if (items.length > MAX_ITEMS) parts.push("… " + (items.length - MAX_ITEMS) + " more");
      const line = parts.join(", ");
      return parts.length === 0 ? open + close : open + (open === "[" ? line : " " + line + " ") + close;
    };
    if (isArray(value)) return list(value.slice(0, MAX_ITEMS + 1).map(inner), "[", "]");
    if (value instanceof TheMap)
      return (
        "Map " +
        list(
          [...value].map(([key, item]) => inner(key) + " => " + inner(item)),
          "{",
          "}",
        )
      );
    if (value instanceof TheSet) return "Set " + list([...value].map(inner), "{", "}");
    const proto = getPrototypeOf(value);
    const kind = proto === null || proto === plain ? "" : (proto.constructor?.name ?? "") + " ";
    return (
      kind +
      list(
        keys(value).map((key) => (/^[\w$]+$/.test(key) ? key : stringify(key)) + ": " + inner(value[key])),
        "{",
        "}",
      )
    );
  }
  function errorText(error) {
    const head = String(error);
    const frames = scriptFrames(error.stack);
    return head + (error.hint ? " (" + error.hint + ")" : "") + (frames === "" ? "" : "\n" + frames);
  }
  function scriptFrames(stack) {
    return typeof stack === "string"
      ? stack
          .split("\n")
          .filter((line) => line !== "" && !line.includes("hermes-prelude"))
          .join("\n")
      : "";
  }
  const print =
    (stream) =>
    (...values) => {
      let line;
      try {
        line = values.map(shown).join(" ");
      } catch (error) {
        line = "[a value that cannot be shown]";
      }
      host(stream + "0 " + stringify(line + "\n"));
    };
  const log = print("o"),
    warn = print("e");

  function fail(thrown) {
    if (ended) return;
    ended = true;
    let told;
    try {
      const isError = typeof thrown === "object" && thrown !== null;
      const text = (key) =>
        isError && typeof thrown[key] === "string" ? thrown[key].slice(0, 5000) : undefined;
      told = stringify({
        name: text("name") ?? "Error",
        message: text("message") ?? (isError ? inspect(thrown, 0, []) : String(thrown)),
        stack: scriptFrames(text("stack")),
        code: text("code"),
        hint: text("hint"),
      });
    } catch {
      told = '{"name":"Error","message":"a value was thrown that cannot be inspected"}';
    }
    host("f0 " + told);
  }
  function done(value) {
    if (ended) return;
    ended = true;
    let text;
    try {
      text = stringify(value);
    } catch {
      try {
        text = stringify(inspect(value, 0, []));
      } catch {
        text = undefined;
      }
    }
    host("r0 " + (text ?? ""));
  }

  /** A script that is one function means: call it. */
  function finish(promise, wrapped) {
    later(
      promise,
      (outcome) => {
        const value = wrapped ? outcome.value : outcome;
        const outer =
          typeof value === "function" ? later(resolved, () => value(tools)) : ThePromise.resolve(value);
        later(outer, done, fail);
      },
      fail,
    );
  }

  const SEARCH = headOf("searchTools"),
    DESCRIBE = headOf("describeTool");
  const shared = {
    tools,
    ToolError,
    searchTools: (query, limit) => request("s", SEARCH, "searchTools", { query: String(query), limit }),
    describeTool: (name) => request("d", DESCRIBE, "describeTool", { name: String(name) }),
    console: { log, info: log, debug: log, table: log, dir: log, error: warn, warn, trace: warn },
    setTimeout: (action, delay, ...given) => start(action, delay, false, given),
    setInterval: (action, delay, ...given) => start(action, delay, true, given),
    clearTimeout: clear,
    clearInterval: clear,
    queueMicrotask: (action) =>
      void later(
        later(resolved, () => action()),
        undefined,
        fail,
      ),
  };
  for (const name of ownKeys(shared)) {
    Object.defineProperty(globalThis, name, {
      value: shared[name],
      writable: true,
      configurable: true,
      enumerable: false,
    });
  }
  return { answer, fire, finish };
};
