import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { LATE, within } from "../../base/deadline.js";
import { sha256 } from "../../base/hash.js";
import { ToolError } from "../../tool/errors.js";
import { findProgram } from "../find-program.js";
import { EXEC_MARK, RUNTIME_MARK } from "../local/marks.js";
import type { SingularityOptions } from "./singularity.js";

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

const BUILD_MS = 600_000;
/** An instance begins with this file; images that the program built have it, plain folders do not. */
const START_FILE = ".singularity.d/actions/start";

/**
 * The image to start: a SIF file or a prepared folder as it is; anything else is built once and kept. A kept
 * image belongs to one state of its folder: when the folder changes, it is built again.
 */
export async function imageToStart(program: ContainerProgram, options: SingularityOptions): Promise<string> {
  const { image, cacheDir } = options;
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//.test(image);
  const found = isAddress ? undefined : await stat(image).catch(() => undefined);
  if (!isAddress && found === undefined) throw noImage(image);
  if (!isAddress && !isAbsolute(image)) throw relativeImage(image);
  if (found?.isFile() === true) return image;
  if (found !== undefined && (await stat(join(image, START_FILE)).catch(() => undefined)) !== undefined) {
    return image;
  }
  const state = found === undefined ? image : `${image}\0${found.mtimeMs}`;
  const kept = join(cacheDir, `${sha256(state).slice(0, 24)}.sif`);
  if ((await stat(kept).catch(() => undefined)) !== undefined) return kept;
  options.onProgress?.(`building an image from ${image}; this is done once`);
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const unfinished = `${kept}.${randomBytes(6).toString("hex")}`;
  try {
    const built = await program.run(["build", "--force", unfinished, image], BUILD_MS);
    if (built.code !== 0) throw notBuilt(image, built.errors);
    await rename(unfinished, kept);
  } finally {
    await rm(unfinished, { force: true });
  }
  return kept;
}

function noImage(image: string): ToolError {
  return new ToolError(`There is no container image at ${JSON.stringify(image)}.`, {
    code: "unavailable",
    hint: "Set terminal.singularity_image to a SIF file, a folder, or an address such as docker://debian:12.",
  });
}

function relativeImage(image: string): ToolError {
  return new ToolError(`The container image ${JSON.stringify(image)} is not given by its full path.`, {
    code: "unavailable",
    hint: "Set terminal.singularity_image to an absolute path.",
  });
}

function notBuilt(image: string, errors: string): ToolError {
  const why = errors.split("\n").at(-1) ?? "";
  return new ToolError(`No image could be built from ${image}: ${why || "no reason was given"}.`, {
    code: "unavailable",
    hint: "Try it by hand: apptainer build image.sif SOURCE.",
  });
}
