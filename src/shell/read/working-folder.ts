import { normalize } from "node:path/posix";
import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { differentFolders } from "./branches.js";
import type { Context, Emitted } from "./context.js";
import { foldFolders } from "./expand-words.js";
import { enterFetched } from "./foreign-folders.js";
import type { ShellState } from "./state.js";

/** Programs whose operands are files that they change. */
const FILE_PROGRAMS = new Set(
  "rm rmdir unlink shred mv cp install ln chmod chown chgrp tee truncate touch find sed rsync tar unzip dd chattr setfacl".split(
    " ",
  ),
);
/** Without another word these offer the folder they are started in. */
const SERVES =
  /^(?:python3? -m (?:http\.server|SimpleHTTPServer|pyftpdlib)|(?:npx (?:-y )?)?(?:http-server|serve|live-server)(?: |$)|miniserve|dufs|darkhttpd|webfsd|busybox httpd|php -S|ruby -run|caddy file-server|git daemon|twistd|updog|goshs|copyparty|filebrowser)/;
const NOT_A_FILE_FIRST = new Set(["chmod", "chown", "chgrp", "chattr", "setfacl"]);

/** Follows `cd`; undefined when nobody can tell where it leads. */
function folderAfter(target: ShellWord | undefined, from: string | undefined): string | undefined {
  if (target === undefined) return "~";
  const { text } = target;
  if (text === "-" || text.includes(UNKNOWN)) return undefined;
  if (text.startsWith("/") || text.startsWith("~")) return text;
  // A hidden folder says what it holds wherever it lies (`CDPATH=~; cd .ssh`).
  if (from === undefined) return /^\.\w/.test(text) ? text : undefined;
  return join(from, text);
}

/** `cd`. */
export function enterFolder(target: ShellWord | undefined, state: ShellState): void {
  enterFetched(target, state);
  const folders = state.position.folders.map((folder) => folderAfter(target, folder));
  if (state.disk !== undefined) state.disk.folder = folderAfter(target, state.disk.folder ?? ".");
  state.position = { ...state.position, folders: differentFolders(folders) };
}

/** The command with its relative operands completed, for every known folder that `cd` may have gone to before it. */
export function completed(command: SimpleCommand, context: Context): readonly Emitted[] {
  if (context.wrappers.some((wrapper) => wrapper.kind === "remote")) return [];
  return context.state.position.folders.flatMap((folder) => {
    const there = folder === undefined ? undefined : completedIn(folder, { command, context });
    return there === undefined ? [] : [there];
  });
}

function completedIn(
  folder: string,
  { command, context }: { readonly command: SimpleCommand; readonly context: Context },
): Emitted | undefined {
  const inFolder = (word: ShellWord): ShellWord => {
    const of = /^(?:of|if)=/.exec(word.text)?.[0] ?? "";
    const path = word.text.slice(of.length);
    return /^[/~-]/.test(path) || path === ""
      ? word
      : { ...word, text: of + foldFolders(join(folder, path), context.run) };
  };
  if (SERVES.test([command.program, ...command.args.slice(0, 2).map(({ text }) => text)].join(" ")))
    return { ...command, args: [...command.args, { text: folder, known: true, glob: false }] };
  const redirects = command.redirects.map((redirect) => ({ ...redirect, target: inFolder(redirect.target) }));
  if (!FILE_PROGRAMS.has(command.program)) {
    const own = ownWords(folder, { command, context });
    return redirects.length === 0 && own === undefined
      ? undefined
      : { ...command, args: own ?? command.args, redirects };
  }
  let skip = NOT_A_FILE_FIRST.has(command.program) ? 1 : 0;
  let reading = true;
  const args = command.args.map((word) => {
    if (command.program === "find" && /^[-(!]/.test(word.text)) reading = false;
    if (!reading || word.text.startsWith("-")) return word;
    return skip-- > 0 ? word : inFolder(word);
  });
  return { ...command, args, redirects };
}

/** The home, or a hidden folder in it: what lies below can be a key or a start-up file. */
const PRIVATE_FOLDER = /^(?:~\/?|(?:~\/)?\.\w[^/]*(?:\/.*)?)$/;
const OWN_HOME = /^~\/\.hermes(?:\/|$)/;

/**
 * Whatever the program: the words that lead into the runtime's own home from this folder, spelled in full. Undefined
 * when none does. Where the folder itself lies there, a word without a dot or slash is a verb unless it comes last.
 */
function ownWords(
  folder: string,
  { command, context }: { readonly command: SimpleCommand; readonly context: Context },
): readonly ShellWord[] | undefined {
  const isPrivate = PRIVATE_FOLDER.test(folder) && !/^(?:cd|pushd)$/.test(command.program);
  if (context.run.hermesHome === undefined && !folder.includes(".hermes") && !isPrivate) return undefined;
  const inside = isPrivate || OWN_HOME.test(foldFolders(normalize(folder), context.run));
  let found = false;
  const args = command.args.map((word, index) => {
    const option = /^(?:-{1,2}[\w-]+=|-\w(?=[./])|\.\w+\s+|[\w-]+=)/.exec(word.text)?.[0] ?? "";
    const path = word.text.slice(option.length);
    if (path === "" || /^[-/~]/.test(path) || path.length > LONGEST_PATH || NUMBER.test(path)) return word;
    const isName = /[./*?[]/.test(path) || ((index > 0 || isPrivate) && index === command.args.length - 1);
    if (inside ? !isName : !path.includes("/")) return word;
    const full = foldFolders(normalize(join(folder, path)), context.run);
    if (isPrivate ? !/^(?:~\/)?\.\w|^(?:~\/)?\.[?*[]/.test(full) : !OWN_HOME.test(full)) return word;
    found = true;
    return { ...word, text: option + full };
  });
  return found ? args : undefined;
}

const LONGEST_PATH = 1_000;
/** `1.25`, `0.5s`, `3.12.1`: nothing of ours is called like that. */
const NUMBER = /^\+?\d+(?:\.\d+)*[a-z%]?$/i;

function join(folder: string, path: string): string {
  return `${folder.replace(/\/+$/, "")}/${path}`;
}
