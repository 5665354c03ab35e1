import { outlineOf } from "../../shell/read/outline.js";
import { type Failure, failure } from "../../tool/errors.js";
import { programsIn, type StartedProgram } from "./exit-notes.js";

const DETACHING = new Set(["nohup", "setsid", "disown"]);
const PACKAGE_MANAGERS = new Set(["npm", "pnpm", "yarn", "bun"]);
const OPTIONS_WITH_VALUE = new Set([
  "--prefix",
  "-C",
  "--cwd",
  "--dir",
  "--filter",
  "-F",
  "-w",
  "--workspace",
]);
const SERVER_SCRIPT = /^(?:dev|start|serve|watch)(?::|$)/;
const ALWAYS_SERVERS = new Set(["nodemon", "uvicorn", "gunicorn", "live-server", "http-server"]);
/** Programs that serve when their first argument is one of these. */
const SERVER_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  next: ["dev", "start"],
  nuxt: ["dev", "start"],
  astro: ["dev", "preview"],
  ng: ["serve"],
  webpack: ["serve", "watch"],
  flask: ["run"],
  rails: ["server", "s"],
  hugo: ["server", "serve"],
  jekyll: ["serve"],
};

/**
 * Why a command must not run in the foreground: it would detach itself, or never end. `undefined` when it
 * may run.
 */
export function foregroundRefusal(command: string): Failure | undefined {
  const outline = outlineOf(command);
  const programs = programsIn(outline);
  const detaching = programs.find(({ program }) => DETACHING.has(program));
  if (detaching !== undefined) {
    return failure(
      "invalid_arguments",
      `The command uses ${detaching.program}, which would leave a process behind that nobody follows.`,
      `Leave out ${detaching.program} and call again with background: true; the process tool then follows it.`,
    );
  }
  if (outline?.background === true) {
    return failure(
      "invalid_arguments",
      "The command starts a background job with `&`, whose output and end would be lost.",
      "Remove the `&` and call again with background: true. If it is part of a URL or other text, put that text in quotes.",
    );
  }
  const server = programs.find(isServer);
  if (server === undefined) return undefined;
  const name = [server.program, ...server.args].join(" ").slice(0, 80);
  return failure(
    "invalid_arguments",
    `\`${name}\` looks like a server or watcher that does not end by itself.`,
    `Call again with background: true (and ready, to wait until it serves), or bound it: \`timeout 20 ${name}\`.`,
  );
}

/** Why a command must not run in the background as it is written: it would detach itself from who follows it. */
export function backgroundRefusal(command: string): Failure | undefined {
  const outline = outlineOf(command);
  const detaching = programsIn(outline).find(({ program }) => DETACHING.has(program));
  if (detaching !== undefined) {
    return failure(
      "invalid_arguments",
      `The command uses ${detaching.program}, but with background: true it already runs by itself.`,
      `Leave out ${detaching.program}.`,
    );
  }
  if (outline?.endsInBackground !== true) return undefined;
  return failure(
    "invalid_arguments",
    "The command ends with `&`, but with background: true it already runs by itself.",
    "Leave out the `&`: otherwise the shell ends at once and nobody follows what it left.",
  );
}

function isServer({ program, args }: StartedProgram): boolean {
  // Whatever follows `timeout` ends in time.
  if (program === "timeout") return false;
  if (args.some((arg) => /^(?:--help|--version|-h|-V)$/.test(arg))) return false;
  const words = args.filter((arg) => !arg.startsWith("-"));
  if (ALWAYS_SERVERS.has(program)) return true;
  if (PACKAGE_MANAGERS.has(program)) return SERVER_SCRIPT.test(scriptName(args));
  if (program === "vite") return words[0] !== "build" && words[0] !== "optimize";
  if (program === "docker" && words[0] === "compose") return composeStays(args);
  if (program === "docker-compose") return composeStays(args);
  if (/^python[\d.]*$/.test(program)) return /^-m http\.server\b/.test(args.slice(0, 2).join(" "));
  if (program === "php") return args.includes("-S");
  return SERVER_COMMANDS[program]?.includes(words[0] ?? "") ?? false;
}

function scriptName(args: readonly string[]): string {
  const words: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (OPTIONS_WITH_VALUE.has(arg)) index += 1;
    else if (!arg.startsWith("-")) words.push(arg);
  }
  return (words[0] === "run" || words[0] === "run-script" ? words[1] : words[0]) ?? "";
}

function composeStays(args: readonly string[]): boolean {
  return args.includes("up") && !args.some((arg) => /^(?:-d|--detach|--wait|--no-start)$/.test(arg));
}
