import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { replaceText } from "../../../src/tools/files/patch/replace.js";
import { applyHunks } from "../../../src/tools/files/patch/v4a-hunks.js";
import { parseV4a } from "../../../src/tools/files/patch/v4a-parse.js";
import patchTool from "../../../src/tools/files/patch.js";
import { call, makeFileContext } from "./support.js";

const corpus = new URL("../../fixtures/patch-corpus/", import.meta.url);
const read = (name: string) => readFileSync(new URL(name, corpus), "utf8");

/** One edit, and what a careful person would make of it. */
interface Case {
  readonly id: string;
  readonly class: string;
  readonly before: string;
  readonly old: string;
  readonly new: string;
  readonly all: boolean;
  /** Undefined: the edit must be refused. */
  readonly after: string | undefined;
  /** Understanding the edit is welcome, not expected. */
  readonly mayRefuse: boolean;
}

interface Spelled {
  readonly id: string;
  readonly class: string;
  readonly file: string;
  /** Lines of the file, from 1, both included, … */
  readonly lines: readonly [number, number];
  /** … that become these. */
  readonly by: readonly string[];
  readonly form?: "crlf" | "no-final-newline" | "doubled" | "after";
  readonly old: string;
  readonly new: string;
  readonly refuse?: boolean;
  readonly mayRefuse?: boolean;
}

function spelledCases(): Case[] {
  const spelled = JSON.parse(read("spelled.json")) as Spelled[];
  return spelled.map((each) => {
    const text = read(`files/${each.file}`);
    const lines = text.split("\n");
    const [from, to] = each.lines;
    const changed = [...lines.slice(0, from - 1), ...each.by, ...lines.slice(to)].join("\n");
    const inForm = (file: string) => {
      if (each.form === "crlf") return file.replaceAll("\n", "\r\n");
      if (each.form === "no-final-newline") return file.replace(/\n$/, "");
      return each.form === "doubled" ? file + file : file;
    };
    return {
      id: each.id,
      class: each.class,
      before: inForm(each.form === "after" ? changed : text),
      old: each.old,
      new: each.new,
      all: false,
      after: each.refuse === true ? undefined : inForm(changed),
      mayRefuse: each.mayRefuse === true,
    };
  });
}

interface ByHand {
  readonly id: string;
  readonly class: string;
  readonly before: string;
  readonly old: string;
  readonly new: string;
  readonly all?: boolean;
  readonly after?: string;
  readonly refuse?: boolean;
  readonly mayRefuse?: boolean;
}

function casesByHand(): Case[] {
  return (JSON.parse(read("by-hand.json")) as ByHand[]).map((each) => ({
    ...each,
    all: each.all === true,
    after: each.refuse === true ? undefined : each.after,
    mayRefuse: each.mayRefuse === true,
  }));
}

type Verdict = "right" | "refused" | "wrong";

interface Judged {
  readonly id: string;
  readonly mayRefuse: boolean;
  readonly verdict: Verdict;
  readonly said: string;
}

function judge(each: Case): Judged {
  const { id, mayRefuse } = each;
  const outcome = replaceText({
    text: each.before,
    oldText: each.old,
    newText: each.new,
    replaceAll: each.all,
  });
  if (outcome.kind === "refused") {
    const verdict = each.after === undefined ? "right" : "refused";
    return { id, mayRefuse, verdict, said: outcome.message };
  }
  const now = outcome.kind === "replaced" ? outcome.text : each.before;
  const said = outcome.kind === "replaced" ? `${outcome.strategy}: ${JSON.stringify(now)}` : outcome.kind;
  return { id, mayRefuse, verdict: now === each.after ? "right" : "wrong", said };
}

/** The same edit written as a hunk. */
function judgeAsHunk(each: Case): Judged {
  const { id, mayRefuse } = each;
  const body = hunkLines(each.old.split("\n"), each.new.split("\n"));
  const patch = ["*** Begin Patch", "*** Update File: f", "@@", ...body, "*** End Patch"].join("\n");
  const parsed = parseV4a(patch);
  const [operation] = parsed.ok ? parsed.operations : [];
  if (operation?.kind !== "update") throw new Error(`${id}: not a patch`);
  const outcome = applyHunks(each.before, operation.hunks);
  if (!outcome.ok) {
    return { id, mayRefuse, verdict: each.after === undefined ? "right" : "refused", said: outcome.message };
  }
  const said = `${outcome.strategies.join()}: ${JSON.stringify(outcome.text)}`;
  return { id, mayRefuse, verdict: outcome.text === each.after ? "right" : "wrong", said };
}

/** Lines of a hunk by the longest common subsequence, worked out the plain way. */
function hunkLines(old: readonly string[], wanted: readonly string[]): string[] {
  const [first, ...rest] = old;
  const [head, ...tail] = wanted;
  if (first === undefined) return wanted.map((line) => `+${line}`);
  if (head === undefined) return old.map((line) => `-${line}`);
  if (first === head) return [` ${first}`, ...hunkLines(rest, tail)];
  const kept = (lines: readonly string[]) => lines.filter((line) => line.startsWith(" ")).length;
  const without = [`-${first}`, ...hunkLines(rest, wanted)];
  const within = [`+${head}`, ...hunkLines(old, tail)];
  return kept(without) >= kept(within) ? without : within;
}

/** Wrong ones fail the test; so do refusals of edits that a careful person would have made. */
function report(name: string, judged: readonly Judged[]): void {
  const wrong = judged.filter(({ verdict }) => verdict === "wrong");
  const refused = judged.filter(({ verdict, mayRefuse }) => verdict === "refused" && !mayRefuse);
  const unclear = judged.filter(({ verdict, mayRefuse }) => verdict === "refused" && mayRefuse);
  console.info(
    `${name}: ${judged.length} edits, ${wrong.length} wrong, ${refused.length} refused that should work, ` +
      `${unclear.length} unclear ones refused`,
  );
  const told = (some: readonly Judged[]) => some.map(({ id, said }) => `${id} → ${said}`);
  expect({ wrong: told(wrong), refused: told(refused) }).toEqual({ wrong: [], refused: [] });
}

describe("the corpus of edits", () => {
  const spelled = spelledCases();
  const cases = [...spelled, ...casesByHand()];

  it("is large enough and every case has its own name", () => {
    expect(cases.length).toBeGreaterThanOrEqual(300);
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  });

  it("mode replace makes none wrongly", () => report("mode replace", cases.map(judge)));

  it("the same edits as hunks are made no more wrongly", () => {
    // What only mode replace undoes: hunks are whole lines, and their first line begins with its indentation.
    const textOnly = /blank-lines-around|final-newline|escaped|first-line-stripped|crlf-/;
    const asHunks = spelled.filter(({ id }) => !textOnly.test(id));
    expect(asHunks.length).toBeGreaterThan(300);
    report("as hunks", asHunks.map(judgeAsHunk));
  });
});

interface V4aCase {
  readonly id: string;
  readonly files: Readonly<Record<string, string>>;
  readonly patch: readonly string[];
  /** null: the file is gone. */
  readonly after?: Readonly<Record<string, string | null>>;
  readonly mayRefuse?: boolean;
}

it("patches over several files do exactly what they say, or nothing", async () => {
  const cases = JSON.parse(read("v4a.json")) as V4aCase[];
  const judged: Judged[] = [];
  for (const each of cases) judged.push(await judgePatch(each));
  report("mode patch", judged);
});

async function judgePatch({ id, files, patch, after, mayRefuse = false }: V4aCase): Promise<Judged> {
  const ctx = makeFileContext();
  onTestFinished(() => ctx.cleanUp());
  for (const [name, text] of Object.entries(files)) ctx.write(name, text);
  const before = readdirSync(ctx.folder, { recursive: true }).sort();
  const look = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((name) => [name, existsSync(join(ctx.folder, name)) ? ctx.read(name) : null]),
    );
  try {
    await call(patchTool, { mode: "patch", patch: patch.join("\n") }, ctx);
  } catch (error) {
    const untouched =
      JSON.stringify(look(Object.keys(files))) === JSON.stringify(files) &&
      JSON.stringify(readdirSync(ctx.folder, { recursive: true }).sort()) === JSON.stringify(before);
    const verdict = untouched ? (after === undefined ? "right" : "refused") : "wrong";
    return { id, mayRefuse, verdict, said: String(error) };
  }
  const now = after === undefined ? {} : look(Object.keys(after));
  const right = after !== undefined && JSON.stringify(now) === JSON.stringify(after);
  return { id, mayRefuse, verdict: right ? "right" : "wrong", said: JSON.stringify(now) };
}
