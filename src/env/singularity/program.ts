import { randomUUID } from "node:crypto";
import { LATE, within } from "../../base/deadline.js";
import { ToolError } from "../../tool/errors.js";
import { findProgram } from "../find-program.js";
import { EXEC_MARK, RUNTIME_MARK } from "../local/marks.js";
import type { SingularityOptions } from "./options.js";

/** Longest time for anything but building an image. */
const STEP_MS = 60_000;

export interface ProgramResult {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** `apptainer` or `singularity`: the same program under two names. */
export class ContainerProgram {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #options: SingularityOptions;

  constructor(options: SingularityOptions) {
    const path =
      options.program ?? findProgram("apptainer", options.env) ?? findProgram("singularity", options.env);
    if (path === undefined) {
      throw new ToolError("Neither apptainer nor singularity is on PATH.", {
        code: "unavailable",
        hint: "Install apptainer, or choose another environment (terminal.env).",
      });
    }
    this.path = path;
    this.#options = options;
    this.env = ownVariables(options);
  }

  /** Runs it to its end; silent but for what it prints itself. */
  async run(args: readonly string[], limitMs = STEP_MS): Promise<ProgramResult> {
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    const child = await this.#options.starter.start({
      argv: [this.path, "--quiet", ...args],
      cwd: "/",
      ...marked(this.env),
      input: "nothing",
      report: false,
      onOutput: (bytes) => output.push(Buffer.from(bytes)),
      onStderr: (bytes) => errors.push(Buffer.from(bytes)),
    });
    if (!("pid" in child)) throw couldNotStart(this.path, child.code);
    const exit = await within(child.exited, limitMs);
    if (exit === LATE) {
      process.kill(-child.pid, "SIGKILL");
      child.letGo();
      throw new ToolError(`${this.path} ${args[0] ?? ""} took longer than ${limitMs / 1000} s.`, {
        code: "unavailable",
        hint: "Look at the load of this machine and at the image.",
      });
    }
    // A daemon that it left behind holds the streams open.
    await within(child.outputEnded, 300);
    child.letGo();
    return {
      code: exit.kind === "exited" ? exit.code : 255,
      output: Buffer.concat(output).toString("utf8"),
      errors: Buffer.concat(errors).toString("utf8").trim(),
    };
  }
}

/** A mark of its own for each, by which everything it starts can be found. */
export function marked(env: Readonly<Record<string, string>>): {
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
} {
  const mark = randomUUID();
  return { env: { ...env, [EXEC_MARK]: mark }, mark };
}

export function couldNotStart(path: string, code: string): ToolError {
  return new ToolError(`${path} could not be started (${code}).`, {
    code: "unavailable",
    hint: "Check that it is installed and may be run.",
  });
}

/** What the program itself needs. Names that it would hand into the container are left out. */
function ownVariables(options: SingularityOptions): Readonly<Record<string, string>> {
  const wanted = ["PATH", "HOME", "USER", "LANG", "TMPDIR", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
  const own: Record<string, string> = { [RUNTIME_MARK]: options.runtimeMark };
  for (const [name, value] of Object.entries(options.env)) {
    if (value === undefined) continue;
    if (wanted.includes(name) || /^(?:APPTAINER|SINGULARITY)_(?!ENV|BIND)/.test(name)) own[name] = value;
  }
  return own;
}
