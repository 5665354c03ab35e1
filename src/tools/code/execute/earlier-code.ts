import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { commandFor, type Runner } from "./language.js";

const MOST_CHARS = 30_000;

/**
 * What an interpreter has run so far. Code that is harmless by itself may not be after what came before it
 * (`remove = shutil.rmtree`, then `remove("src")`), so both are judged together, too.
 */
export class EarlierCode {
  #code = "";

  /** Throws when the code, read after the earlier one, does what this call was not let through for. */
  judge(code: string, runner: Runner, ctx: CallContext): void {
    if (this.#code === "") return;
    const refusalOf = (text: string) =>
      ctx.refusal({ action: "terminal:execute", resource: commandFor(runner, text), mode: "execute" });
    const why = refusalOf(`${this.#code}\n${code}`);
    if (why === undefined) return;
    // Earlier code that needed a yes and got it would hold up everything after it.
    if (refusalOf(this.#code) !== undefined) {
      this.#code = "";
      return;
    }
    throw new ToolError(`Together with earlier code of this session: ${why}`, {
      code: "denied",
      hint: "Write it out in one call, where it can be judged and approved.",
    });
  }

  add(code: string): void {
    this.#code = `${this.#code}\n${code}`.slice(-MOST_CHARS);
  }
}
