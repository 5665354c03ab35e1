import { UNKNOWN } from "../types.js";
import type { CallAction } from "./calls.js";
import type { EffectList } from "./effects.js";
import type { CallHandler } from "./handlers.js";
import { type CodeCall, isWhollyUnknown, quoteWithUnknowns, textOf, textValue } from "./values.js";

/** Paths a call names: its receiver for methods, else every text among the arguments and lists of them. */
function pathsOf(call: CodeCall): readonly string[] {
  if (call.receiver?.kind === "text") return [call.receiver.text];
  return call.args
    .flatMap((value) => (value.kind === "list" ? value.items : [value]))
    .filter((value) => value.kind === "text")
    .map(textOf);
}

const deletes =
  (recursive: boolean): CallHandler =>
  (call, { list }) => {
    for (const path of pathsOf(call))
      if (path !== UNKNOWN) list.does(`rm ${recursive ? "-rf" : "-f"} -- ${quoteWithUnknowns(path)}`);
    list.note(
      "interpreter.delete",
      recursive ? "deletes a folder with everything in it" : "deletes files from code",
    );
  };

function readsFile(path: string, list: EffectList): void {
  if (!isWhollyUnknown(path))
    list.does(
      /^https?:/i.test(path) ? `curl ${quoteWithUnknowns(path)}` : `cat -- ${quoteWithUnknowns(path)}`,
    );
}

/** `>>`, so that writing a project file is not taken for emptying it. */
function writesFile(path: string, list: EffectList): void {
  if (!isWhollyUnknown(path)) list.does(`echo >> ${quoteWithUnknowns(path)}`);
}

/** Opened for writing with nothing in the program that writes: what was in it is gone. */
const WRITERS =
  "write writelines dump print puts fwrite fputs fputcsv writer DictWriter writerow writerows to_csv to_json save savefig copyfileobj stdout stderr stdin handle puts printf truncate printf_s say pipe puts! extractall subprocess Popen file FileHandler writestr".split(
    " ",
  );

function emptiesFile(path: string, list: EffectList): void {
  if (!isWhollyUnknown(path)) list.does(`: > ${quoteWithUnknowns(path)}`);
}

const opens: CallHandler = (call, world) => {
  const { language, list, facts } = world;
  const [path, second, third] = call.args;
  if (path === undefined) return;
  if (language.name === "perl") {
    perlOpen(call.args.map(textOf), list);
    return;
  }
  const text = textOf(path);
  if (text.startsWith("|") && language.name === "ruby") {
    list.runsText(text.slice(1));
    return;
  }
  if (/^https?:/i.test(text)) list.network = true;
  const mode = textOf(call.keywords.get("mode") ?? second ?? third);
  const flags = second?.kind === "name" ? second.name : "";
  const writes =
    /^[rb]*[wax]|\+/.test(mode) ||
    /O_(?:WRONLY|RDWR|CREAT|TRUNC)/.test(flags) ||
    (second?.kind === "number" && /^os\.open$|Sync$/.test(call.name) && (Number(second.text) & 3) !== 0) ||
    facts.members.has("os.O_WRONLY");
  if (writes && /^[rb]*w/.test(mode) && !WRITERS.some((name) => facts.names.has(name)))
    emptiesFile(text, list);
  else if (writes) writesFile(text, list);
  else readsFile(text, list);
};

/** `open(F, "ls |")`, `open(F, "-|", "ls")`, `open(F, ">", "file")`. */
function perlOpen(texts: readonly string[], list: EffectList): void {
  const [, second = "", third] = texts;
  if (/^\s*(?:\|-?|-\|)\s*$/.test(second)) list.runsWords(texts.slice(2).map(textValue));
  else if (/\|\s*$/.test(second)) list.runsText(second.replace(/\|\s*$/, ""));
  else if (/^\s*\|/.test(second)) list.runsText(second.replace(/^\s*\|/, ""));
  else {
    const mode = /^\s*\+?(?:>>?|<)?/.exec(second)?.[0] ?? "";
    const path = third ?? second.slice(mode.length).trim();
    if (/[>+]/.test(mode)) writesFile(path, list);
    else readsFile(path, list);
  }
}

const transfers =
  (program: "cp" | "mv"): CallHandler =>
  (call, { list }) => {
    const values = call.receiver?.kind === "text" ? [call.receiver, ...call.args] : call.args;
    const [from, to] = values.map((value) => quoteWithUnknowns(textOf(value)));
    if (from !== undefined && to !== undefined) list.does(`${program} -- ${from} ${to}`);
  };

const chmod: CallHandler = (call, { list }) => {
  const values = call.receiver?.kind === "text" ? [call.receiver, ...call.args] : call.args;
  const mode = values.find((value) => value.kind === "number");
  const path = values.find((value) => value.kind === "text");
  if (mode?.kind !== "number") return;
  const octal = /^0[oO]?[0-7]+$/.test(mode.text)
    ? mode.text.replace(/^0[oO]?/, "")
    : Number(mode.text).toString(8);
  list.does(`chmod ${octal} ${quoteWithUnknowns(textOf(path))}`);
};

export const FILE_HANDLERS: Readonly<Partial<Record<CallAction, CallHandler>>> = {
  delete: deletes(false),
  "delete-tree": deletes(true),
  open: opens,
  read: (call, { list, language }) => {
    for (const path of pathsOf(call)) {
      if (path.startsWith("|") && language.name === "ruby") list.runsText(path.slice(1));
      else readsFile(path, list);
    }
    // Without a name it takes the one in the home.
    if (/(?:^|\.)netrc$/.test(call.name) && call.args.length === 0) readsFile("~/.netrc", list);
  },
  write: (call, { list }) => {
    const target =
      call.receiver?.kind === "text"
        ? call.receiver
        : /urlretrieve$/.test(call.name)
          ? call.args[1]
          : call.args[0];
    const content = call.receiver?.kind === "text" ? call.args[0] : call.args[1];
    if (content?.kind === "text" && content.text === "" && !/append|touch/i.test(call.name))
      emptiesFile(textOf(target), list);
    else writesFile(textOf(target), list);
  },
  truncate: (call, { list }) => {
    const path = textOf(call.args[0]);
    if (!isWhollyUnknown(path)) list.does(`truncate -s 0 -- ${quoteWithUnknowns(path)}`);
  },
  copy: transfers("cp"),
  move: transfers("mv"),
  chmod,
};
