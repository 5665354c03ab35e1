import { danger } from "../rules/row.js";
import type { Finding } from "../types.js";
import { toolsFor } from "./evaluate.js";
import { judgeCall, judgeWholeProgram } from "./handlers.js";
import type { Language } from "./languages.js";
import { effectsOfOther } from "./other-languages.js";
import { judgeSigns } from "./program-signs.js";
import { readCode } from "./reader.js";
import { type CodeValue, isWhollyUnknown, quoteWithUnknowns, shellText, textOf } from "./values.js";

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
  const list = new EffectList();
  judgeSigns(code, list);
  if (language.name === "other") return effectsOfOther(code, list);
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
  judgeWholeProgram({ language, facts, list, code, runCode });
}

const SHELLS =
  /^(?:\S*\/)?(?:ba|z|k|da|a|c|tc|fi)?sh(?:\.exe)?(?:\s|$)|^(?:cmd|powershell|pwsh)(?:\.exe)?(?:\s|$)/;

/** More commands than this in one program are not followed one by one. */
const MOST_COMMANDS = 64;

/** Collects what a program is found to do. */
export class EffectList {
  readonly #shell: string[] = [];
  #finding: Finding | undefined;
  opaque = false;
  /** It talks to other machines. */
  network = false;
  /** It starts a shell to talk to. */
  spawnsShell = false;

  note(rule: string, reason: string): void {
    this.#finding ??= danger(rule, reason);
  }

  refuse(rule: string, reason: string): void {
    this.#finding = { level: "hardline", rule, reason };
  }

  /** Something that a shell command would do too: `rm -rf data`. */
  does(command: string): void {
    if (this.#shell.length < MOST_COMMANDS) this.#shell.push(command);
    else this.opaque = true;
  }

  /** A command line given to a shell. */
  runsText(text: string): void {
    if (isWhollyUnknown(text)) this.opaque = true;
    else this.#starts(shellText(text));
  }

  /** A program given as a list of words. */
  runsWords(values: readonly CodeValue[]): void {
    const words = values.flatMap((value) => (value.kind === "list" ? value.items : [value])).map(textOf);
    const [program] = words;
    if (program === undefined) return;
    if (isWhollyUnknown(program)) this.opaque = true;
    else this.#starts(words.map(quoteWithUnknowns).join(" "));
  }

  #starts(command: string): void {
    if (SHELLS.test(command)) this.spawnsShell = true;
    this.does(command);
  }

  result(): {
    readonly shell: readonly string[];
    readonly opaque: boolean;
    readonly finding: Finding | undefined;
  } {
    if (this.opaque)
      this.note("interpreter.opaque-command", "runs a program that only the running code knows");
    return { shell: this.#shell, opaque: this.opaque, finding: this.#finding };
  }
}
