import type { Finding } from "../types.js";
import { effectsOfAppleScript } from "./applescript.js";
import { EffectList } from "./effect-list.js";
import { toolsFor } from "./evaluate.js";
import { judgeCall, judgeTogether } from "./handlers.js";
import type { Language } from "./languages.js";
import { readCode } from "./reader.js";

/** What a program in text does, said in shell commands and findings of its own. */
export interface CodeEffects {
  /** Shell commands that do the same as its calls; to be judged like any other. */
  readonly shell: readonly string[];
  /** True when it starts or runs something nobody can foresee. */
  readonly opaque: boolean;
  readonly finding?: Finding | undefined;
}

/** How deep code that runs code (`exec("…")`) is followed. */
const DEEPEST = 4;
const SUSPICIOUS =
  /\b(?:system|exec\w*|eval|popen|spawn\w*|subprocess|child_process|unlink\w*|rmtree|rm_rf|rmSync|remove\w*|socket|fork|ctypes|__import__)\b|`/;

/** Reads a program and tells what it would do. */
export function effectsOfCode(code: string, language: Language): CodeEffects {
  if (language.name === "applescript") return effectsOfAppleScript(code, language);
  const list = new EffectList();
  gather(code, { language, list, depth: 0, seen: new Set() });
  return list.result();
}

interface Gathering {
  readonly language: Language;
  readonly list: EffectList;
  readonly depth: number;
  /** Texts that were read already: what they do is known. */
  readonly seen: Set<string>;
}

function gather(code: string, task: Gathering): void {
  const { language, list, depth, seen } = task;
  if (seen.has(code)) return;
  seen.add(code);
  const facts = depth > DEEPEST ? undefined : readCode(code, { language, tools: toolsFor(language) });
  if (facts === undefined) {
    if (!SUSPICIOUS.test(code)) return;
    list.opaque = true;
    list.note("interpreter.unreadable", "runs code that cannot be read");
    return;
  }
  const runCode = (inner: string): void => gather(inner, { ...task, depth: depth + 1 });
  for (const text of facts.shellTexts) list.runsText(text);
  for (const call of facts.calls) judgeCall(call, { language, facts, list, code, runCode });
  judgeTogether({ language, facts, list, code, runCode });
}
