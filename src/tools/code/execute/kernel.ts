import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import type { CodeWorkspace } from "./code-workspace.js";
import {
  type CellOutcome,
  Interpreter,
  type InterpreterListener,
  neverBegan,
  type ToolsForDriver,
} from "./interpreter.js";
import { commandFor, type Runner } from "./language.js";

/** How long code may take to stop after it was interrupted, before its interpreter is ended. */
const INTERRUPT_MS = 2_000;

export interface KernelCell {
  readonly code: string;
  readonly stdin: string;
  readonly tools?: ToolsForDriver;
  readonly waits?: boolean;
  readonly shows?: boolean;
}

export type KernelOutcome = CellOutcome & {
  /** Why the interpreter is gone; absent when it waits for the next cell. */
  readonly gone?: string;
};

/** An interpreter that keeps its state from cell to cell. */
export class Kernel {
  readonly earlier = new EarlierCode();
  readonly #interpreter: Interpreter;
  readonly #place: CodeWorkspace;
  readonly #died: Promise<KernelOutcome>;
  #cells = 0;
  #tools: string | undefined;
  #gone: string | undefined;
  /** The cell that runs. */
  #current: number | undefined;
  #forceEnd: NodeJS.Timeout | undefined;

  private constructor(interpreter: Interpreter, place: CodeWorkspace) {
    this.#interpreter = interpreter;
    this.#place = place;
    this.#died = interpreter.ended.then((end) => {
      const starved =
        end.reached?.includes("memory") === true ? "it wanted more memory than it may have" : undefined;
      this.#gone ??= end.lost ?? starved ?? `it ended with exit code ${end.exitCode}`;
      return { exit: end.exitCode, gone: this.#gone };
    });
  }

  /** Answers when it runs. */
  static async open(place: CodeWorkspace, runner: Runner): Promise<Kernel> {
    let said = "";
    const interpreter = await Interpreter.startCells(place.start);
    interpreter.listener = {
      onOutput: (bytes) => {
        said = (said + bytes.toString("utf8")).slice(-1_000);
      },
    };
    const first = await Promise.race([interpreter.begun, interpreter.ended]);
    if (first !== undefined) {
      await place.close();
      throw neverBegan({ runner, environment: place.start.environment.name, end: first, said });
    }
    interpreter.listener = {};
    return new Kernel(interpreter, place);
  }

  get gone(): string | undefined {
    return this.#gone;
  }

  get busy(): boolean {
    return this.#current !== undefined;
  }

  get confinedBy(): string | undefined {
    return this.#interpreter.confinedBy;
  }

  answer(key: number, answer: { readonly ok: boolean; readonly json: string }): void {
    void this.#interpreter.answer(key, answer);
  }

  /** Runs one cell to its end. */
  async run(cell: KernelCell, listener: InterpreterListener): Promise<KernelOutcome> {
    this.#cells += 1;
    const id = this.#cells;
    const { tools, ...rest } = cell;
    const described = tools === undefined ? undefined : JSON.stringify(tools);
    const known = described === this.#tools;
    this.#tools = described;
    const done = new Promise<KernelOutcome>((resolve) => {
      this.#interpreter.listener = {
        ...listener,
        onDone: (outcome) => {
          if (outcome.id === id || outcome.ended === true) resolve(outcome);
        },
      };
    });
    this.#current = id;
    await this.#interpreter.runCell({
      ...rest,
      id,
      name: `<cell ${id}>`,
      ...(tools !== undefined && !known && { tools }),
    });
    const outcome = await Promise.race([done, this.#died]);
    clearTimeout(this.#forceEnd);
    this.#current = undefined;
    this.#interpreter.listener = {
      onCall: ({ key }) => this.answer(key, BETWEEN_CELLS),
    };
    if (outcome.ended !== true) return outcome;
    await this.end("its code ended it");
    return { ...outcome, gone: "its code ended it" };
  }

  /** Stops the cell that runs; what does not stop is ended with its interpreter. */
  interrupt(why: string): void {
    if (this.#current === undefined) return;
    void this.#interpreter.interrupt(this.#current);
    this.#forceEnd = setTimeout(() => void this.end(`${why} and its code did not stop`), INTERRUPT_MS);
  }

  async end(why: string): Promise<void> {
    this.#gone ??= why;
    clearTimeout(this.#forceEnd);
    await this.#interpreter.end();
    await this.#place.close();
  }
}

const BETWEEN_CELLS = {
  ok: false,
  json: JSON.stringify({
    code: "unavailable",
    message: "Tools can only be called while a call of the kernel runs.",
  }),
};

const MOST_CHARS = 30_000;

/**
 * What an interpreter has run so far. Code that is harmless by itself may not be after what came before it
 * (`remove = shutil.rmtree`, then `remove("src")`), so both are judged together, too.
 */
class EarlierCode {
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
