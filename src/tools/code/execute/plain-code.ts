import { bwrapProblemNow } from "../../../env/sandbox/probe.js";
import type { Effect } from "../../../tool/effects.js";
import type { Runner } from "./language.js";

/** Where nothing can shut code in that nobody has read, a person is asked about it; one yes may hold for the session. */
export function askUnguarded(runner: Runner, code: string): Effect["ask"] {
  if (isPlainlyHarmless(runner, code)) return undefined;
  const problem = bwrapProblemNow();
  if (problem === undefined) return undefined;
  const reason = `runs code that no sandbox can shut in here: ${problem.unavailable} (${problem.fix})`;
  return { reason, key: "code-without-sandbox" };
}

/** Modules that only compute, and the session's own tools, each of whose calls is judged by itself. */
const PYTHON_MODULES = new Set(
  "hermes_tools math cmath json re datetime time calendar collections itertools functools operator statistics random string textwrap decimal fractions typing dataclasses enum bisect heapq copy pprint unicodedata difflib base64 hashlib zlib uuid".split(
    " ",
  ),
);
const PYTHON_IMPORT = /\b(?:from\s+([\w.]+)\s+import\b|import\s+([^#;\n]+))/g;
/**
 * Words through which code reaches files, programs, the network, or names it has not spelled out: `random._os` is the
 * module, and what takes a name as a text takes any.
 */
const PYTHON_REACHES =
  /\b(?:open|exec|eval|compile|input|breakpoint|getattr|setattr|delattr|globals|locals|vars|memoryview|importlib|builtins|os|sys|subprocess|socket|ctypes|shutil|pathlib|pickle|marshal|help|exit|quit|attrgetter|methodcaller|Formatter|singledispatch\w*|get_type_hints|ForwardRef)\b|__|(?<!\w)_[A-Za-z]/;
const SCRIPT_REACHES =
  /\b(?:import|require|process|globalThis|global|module|exports|eval|Function|constructor|prototype|fetch|WebSocket|XMLHttpRequest|Deno|Bun|Worker|WebAssembly|Reflect|Proxy|[gs]etPrototypeOf|getOwnProperty\w*)\b|__|\\u/;
/** `f[name]` and `{[name]: f}`, where the name may be any that was put together; a number is none. */
const COMPUTED_NAME =
  /[\w$)\]"'`](?<!\b(?:return|of|in|await|yield|case|else|const|let|var))\s*(?:\?\.\s*)?\[(?!\s*\d+\s*\])|[{,]\s*\[[^\]]*\]\s*:/;

/** Code that can only compute, print and call tools. Anything that is not plainly so is not. */
export function isPlainlyHarmless(runner: Runner, code: string): boolean {
  if (runner === "node") return !SCRIPT_REACHES.test(code) && !COMPUTED_NAME.test(code);
  if (runner !== "python" || PYTHON_REACHES.test(code)) return false;
  return [...code.matchAll(PYTHON_IMPORT)].every(([, from, names]) =>
    (from ?? names ?? "").split(",").every((name) => {
      const [module = ""] = name.trim().split(/[.\s]/);
      return PYTHON_MODULES.has(module);
    }),
  );
}
