import { readFile, realpath, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { isBelow } from "../base/path.js";
import { quoteForShell } from "../base/quote.js";
import { ToolError } from "../tool/errors.js";

const LARGEST_BYTES = 100_000;
const INTERPRETERS: Readonly<Record<string, string>> = {
  ".py": "python3",
  ".js": "node",
  ".mjs": "node",
  ".cjs": "node",
  ".ts": "node",
  ".rb": "ruby",
  ".pl": "perl",
};

/**
 * The command line for a script. A name of a file below the scripts folder stands for that file; everything else is
 * a command line already. A shell script is run as its own text, so that each of its lines is judged like any other
 * command, and so that it runs in every environment.
 */
export async function scriptCommand(
  script: string,
  place: { readonly folder: string; readonly local: boolean },
): Promise<string> {
  const file = await scriptFile(script.trim(), place.folder);
  if (file === undefined) return script;
  const interpreter = INTERPRETERS[extname(file).toLowerCase()];
  if (interpreter === undefined) return shellText(file, script);
  if (place.local) return `${interpreter} ${quoteForShell(file)}`;
  throw new ToolError(`The script ${script} lies on this machine, and the job runs elsewhere.`, {
    code: "invalid_arguments",
    hint: "Use a shell script, a command line, or a job in the local environment.",
  });
}

/** Undefined when the words name no file there. Links that lead out of the folder are refused. */
export async function scriptFile(name: string, folder: string): Promise<string | undefined> {
  if (name === "" || /[\n\0]/.test(name) || name.startsWith("/")) return undefined;
  const path = join(folder, name);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return undefined;
  const [real, root] = [await realpath(path), await realpath(folder)];
  if (isBelow(real, root)) return real;
  throw new ToolError(`The script ${name} leads out of ${folder}.`, {
    code: "denied",
    hint: "Put the script itself into that folder, or give a command line.",
  });
}

async function shellText(file: string, name: string): Promise<string> {
  const bytes = await readFile(file);
  const text = bytes.toString("utf8");
  const interpreter = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/.exec(text)?.[1];
  const isShell = interpreter === undefined || /(?:^|\/)(?:ba|da|k|z)?sh$/.test(interpreter);
  if (isShell && bytes.length <= LARGEST_BYTES && !text.includes("\0")) return text;
  throw new ToolError(
    isShell
      ? `The script ${name} is larger than ${LARGEST_BYTES} bytes or no text.`
      : `The script ${name} is for ${interpreter}, and its name does not say so.`,
    {
      code: "invalid_arguments",
      hint: "Use a shell script, or a name that ends in .py, .js, .mjs, .ts, .rb or .pl.",
    },
  );
}
