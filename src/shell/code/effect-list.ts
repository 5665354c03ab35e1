import { danger } from "../rules/verb-table.js";
import type { Finding } from "../types.js";
import { type CodeValue, isWhollyUnknown, quoteForShell, shellText, textOf } from "./values.js";

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
    else this.#starts(words.map(quoteForShell).join(" "));
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
