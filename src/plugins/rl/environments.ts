import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, extname, join } from "node:path";
import { messageOf } from "../../base/errno.js";
import { isRecord } from "../../base/record.js";
import { didYouMean } from "../../config/did-you-mean.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { rlSettings } from "./settings.js";

/** What can be trained on, as one file of `rl.environments_folder` describes it. */
export interface TrainingEnvironment {
  readonly name: string;
  readonly description: string;
  readonly file: string;
  /** Fields that a call may change, with the values they begin with. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Fields that nobody but the operator changes. */
  readonly locked: Readonly<Record<string, unknown>>;
}

export interface FoundEnvironments {
  readonly environments: readonly TrainingEnvironment[];
  /** Files that cannot be used, each with its reason. */
  readonly problems: readonly string[];
}

const MAX_FILE_CHARS = 256 * 1024;
const MOST_FILES = 500;

export async function findEnvironments(ctx: CallContext): Promise<FoundEnvironments> {
  const { environmentsFolder } = rlSettings(ctx);
  if (environmentsFolder === "") return { environments: [], problems: [] };
  const folder = environmentsFolder.replace(/^~(?=\/|$)/, homedir());
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (cause) {
    throw new ToolError(`The folder of training environments cannot be read: ${messageOf(cause)}.`, {
      code: "unavailable",
      hint: "Set rl.environments_folder to a folder with one YAML or JSON file per environment.",
      cause,
    });
  }
  const files = names.filter((name) => /^[^.].*\.(?:ya?ml|json)$/i.test(name)).sort();
  const environments: TrainingEnvironment[] = [];
  const problems: string[] = [];
  for (const name of files.slice(0, MOST_FILES)) {
    const file = join(folder, name);
    try {
      environments.push(await readEnvironment(file));
    } catch (error) {
      problems.push(`${name}: ${messageOf(error).split("\n", 1)[0]}`);
    }
  }
  return { environments, problems };
}

async function readEnvironment(file: string): Promise<TrainingEnvironment> {
  const { parse } = await import("yaml");
  const text = await readFile(file, "utf8");
  if (text.length > MAX_FILE_CHARS) throw new Error("it is too large");
  const written: unknown = parse(text, { maxAliasCount: 100 });
  if (!isRecord(written)) throw new Error("it does not hold fields");
  const { name, description, config = {}, locked = {} } = written;
  if (!isRecord(config) || !isRecord(locked)) throw new Error("config and locked must hold fields");
  const twice = Object.keys(config).find((field) => Object.hasOwn(locked, field));
  if (twice !== undefined) throw new Error(`${twice} is both in config and in locked`);
  return {
    name: typeof name === "string" && name !== "" ? name : basename(file, extname(file)),
    description: typeof description === "string" ? description : "",
    file,
    config,
    locked,
  };
}

export async function environmentNamed(name: string, ctx: CallContext): Promise<TrainingEnvironment> {
  const { environments } = await findEnvironments(ctx);
  const found = environments.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = environments.map((one) => one.name);
  throw new ToolError(`There is no training environment ${JSON.stringify(name)}.`, {
    code: "not_found",
    hint:
      didYouMean(name, names) ??
      (names.length === 0 ? NO_ENVIRONMENTS : `Environments: ${names.join(", ")}.`),
  });
}

export const NO_ENVIRONMENTS =
  "Set rl.environments_folder to a folder with one YAML or JSON file per environment (docs/rl.md).";
