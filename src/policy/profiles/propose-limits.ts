import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, resolve } from "node:path";
import { setImmediate as othersTurn } from "node:timers/promises";
import { isAtOrBelow } from "../../base/path.js";
import { quoteIfNeeded } from "../../base/quote.js";
import { hostOf } from "../../net/hosts.js";
import { readCommandLine } from "../../shell/analysis.js";
import type { LineOptions } from "../../shell/command-line.js";
import { noFiles, realFiles } from "../paths/file-view.js";
import { resolvePath } from "../paths/resolve-path.js";
import { unlistedCommand } from "./command-rules.js";

/** One recorded use of a permission. */
export interface Use {
  readonly resource: string;
  /** A person was asked: then the very thing is listed and nothing around it. */
  readonly asked: boolean;
  readonly isLocal: boolean;
  readonly cwd: string;
}

/** Why no list can hold everything that was used. */
export interface NoLimit {
  readonly why: string;
}

export type Limits = readonly string[] | NoLimit;

const MOST_FOLDERS = 40;
const MOST_HOSTS = 40;
const MOST_COMMANDS = 80;
/** Reading a command line takes up to a millisecond. */
const LINES_A_TURN = 10;

/** Folders that hold every place that was touched. */
export function pathLimits(uses: readonly Use[], home: string): Limits {
  const exact = new Set<string>();
  const folders = new Set<string>();
  for (const { resource, asked, isLocal, cwd } of uses) {
    const found =
      resource === "*"
        ? undefined
        : resolvePath({ path: resource, cwd, home, files: isLocal ? realFiles : noFiles });
    if (found?.ok !== true) return { why: "some calls did not say which place they touch" };
    for (const place of new Set([found.name, ...found.places])) {
      const folder = asked ? undefined : folderAround(place, home, isLocal);
      if (folder === undefined) exact.add(place);
      else folders.add(folder);
    }
  }
  const joined = joinFolders(folders, home);
  if (joined.length > MOST_FOLDERS) return { why: `${joined.length} folders were touched` };
  const single = [...exact].filter((place) => !joined.some((folder) => isAtOrBelow(place, folder)));
  return [
    ...joined.map((folder) => `${literally(folder, home)}/**`),
    ...single.map((place) => literally(place, home)),
  ].sort();
}

/** Undefined where everything around would be too much: a home, the root, a folder of the system. */
function folderAround(place: string, home: string, isLocal: boolean): string | undefined {
  const folder = isLocal && isFolder(place) ? place : dirname(place);
  return isNarrow(folder, home) ? folder : undefined;
}

const SYSTEM = ["/etc", "/usr", "/var", "/proc", "/sys", "/dev", "/boot", "/bin", "/sbin", "/lib", "/run"];

function isNarrow(folder: string, home: string): boolean {
  if (isAtOrBelow(home, folder) || SYSTEM.some((top) => isAtOrBelow(folder, top))) return false;
  if (!isAtOrBelow(folder, home)) return depthOf(folder) >= 2 || folder === "/workspace";
  // Settings of other programs lie side by side in a home; what was used of one says nothing about the next.
  const [first = ""] = folder.slice(home.length + 1).split("/");
  return !first.startsWith(".");
}

function depthOf(folder: string): number {
  return folder.split("/").filter((part) => part !== "").length;
}

/** Where three folders of one parent were touched, it is the parent that was worked in. */
function joinFolders(folders: ReadonlySet<string>, home: string): readonly string[] {
  let all = outermost([...folders]);
  const isJoined = (parent: string) =>
    all.filter((folder) => dirname(folder) === parent).length >= 3 &&
    (isNarrow(parent, home) || parent === tmpdir());
  for (;;) {
    const parents = [...new Set(all.map((folder) => dirname(folder)))].filter(isJoined);
    if (parents.length === 0) return all;
    all = outermost([...all, ...parents]);
  }
}

function outermost(folders: readonly string[]): readonly string[] {
  return folders.filter(
    (folder, index) =>
      folders.indexOf(folder) === index &&
      !folders.some((other) => other !== folder && isAtOrBelow(folder, other)),
  );
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function literally(path: string, home: string): string {
  const short = isAtOrBelow(path, home) && home !== "/" ? `~${path.slice(home.length)}` : path;
  return short.replace(/[\\*?[\]{}]/g, "\\$&");
}

export function hostLimits(uses: readonly Use[]): Limits {
  const hosts = new Set<string>();
  for (const { resource } of uses) {
    const host = hostIn(resource);
    if (host === undefined) return { why: "some calls did not name a host" };
    hosts.add(host);
  }
  const outer = [...hosts].filter(
    (host) => ![...hosts].some((other) => other !== host && host.endsWith(`.${other}`)),
  );
  return outer.length > MOST_HOSTS ? { why: `${outer.length} hosts were reached` } : outer.sort();
}

function hostIn(resource: string): string | undefined {
  if (URL.canParse(resource)) {
    const host = hostOf(new URL(resource));
    if (host !== "") return host.toLowerCase();
  }
  return /^[\w.-]+(?::\d+)?$/.test(resource) ? resource.replace(/:\d+$/, "").toLowerCase() : undefined;
}

/** Programs whose first word says what they do. */
const WITH_VERBS = new Set(
  (
    "git npm pnpm yarn npx docker podman kubectl helm cargo go pip pip3 uv poetry apt apt-get brew dnf systemctl gh " +
    "make just terraform aws gcloud az rustup bundle gem composer mvn gradle dotnet flutter conda hermes"
  ).split(" "),
);

/** Programs that run what they are given: with any words behind them they could do anything. */
const RUNS_ANYTHING =
  /^(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|node|deno|bun|ruby|perl|php|lua|sudo|su|doas|ssh|env|xargs|eval|exec|find|awk|sed|npx|watch|parallel|timeout|nohup)$/;

/** Lines of `allowed_commands` that cover every command that was run. */
export async function commandLimits(uses: readonly Use[], options: LineOptions): Promise<Limits> {
  const rules = new Set<string>();
  const whole = new Set<string>();
  for (const [index, { resource, asked }] of uses.entries()) {
    if (index % LINES_A_TURN === 0) await othersTurn();
    const line = readCommandLine(resource, options);
    const listed = (line?.readings ?? []).flatMap(({ commands }) =>
      commands.map(({ name, args }) => commandRule([name.text, ...args.map(({ text }) => text)], asked)),
    );
    if (line !== undefined && unlistedCommand(listed, line) === undefined) {
      for (const rule of listed) rules.add(rule);
    } else if (line !== undefined && isShort(line.text) && unlistedCommand([line.text], line) === undefined) {
      // Words alone do not describe it, with a redirection for example: then just this line.
      whole.add(line.text.trim());
    } else {
      return { why: `no list of commands describes ${JSON.stringify(shortened(resource))}` };
    }
  }
  const kept = [...[...rules].filter((rule) => !isCovered(rule, rules)), ...whole];
  return kept.length > MOST_COMMANDS ? { why: `${kept.length} commands were run` } : kept.sort();
}

function commandRule(words: readonly string[], asked: boolean): string {
  const [program = "", first] = words;
  const name = program.slice(program.lastIndexOf("/") + 1);
  const exact = words.map(quoteIfNeeded).join(" ");
  if (asked || first === undefined || RUNS_ANYTHING.test(name)) return exact;
  if (!WITH_VERBS.has(name)) return `${quoteIfNeeded(program)} *`;
  return /^[a-z][\w:-]*$/i.test(first) ? `${quoteIfNeeded(program)} ${first} *` : exact;
}

/** `ls -l` is covered by `ls *`. */
function isCovered(rule: string, rules: ReadonlySet<string>): boolean {
  const words = rule.split(" ");
  return words.some((_, index) => {
    const shorter = `${words.slice(0, index).join(" ")} *`;
    return shorter !== rule && rules.has(shorter);
  });
}

const LONGEST_LINE = 300;

function isShort(text: string): boolean {
  return text.length <= LONGEST_LINE && !text.trim().includes("\n");
}

function shortened(text: string): string {
  const [line = ""] = text.split("\n");
  return line.length > 60 || line !== text ? `${line.slice(0, 60)}…` : line;
}

/** The files that commands write, as uses of `file:write`. */
export function writtenBy(uses: readonly Use[], options: LineOptions): readonly Use[] {
  return uses.flatMap((use) =>
    (readCommandLine(use.resource, options)?.writes ?? []).map((path) => ({
      ...use,
      resource: resolve(use.cwd, path.replace(/^~(?=\/|$)/, options.home ?? "~")),
    })),
  );
}
