import type { JudgedSegment } from "../call/scope.js";
import { type CommandLine, type LineOptions, readCommandLine, type ShownLine } from "./command-line.js";
import { canonicalCommand } from "./read/canonical.js";
import type { Run } from "./read/context.js";
import { Verdicts } from "./rules/rule-index.js";
import type { Finding, SimpleCommand, Span } from "./types.js";

export interface CommandVerdict {
  readonly verdict: "safe" | "danger" | "hardline";
  readonly rule: string;
  readonly reason: string;
  readonly span?: Span | undefined;
  /** Every command that would run, with its own verdict. */
  readonly segments: readonly JudgedSegment[];
}

const STRICTNESS = { safe: 0, danger: 1, hardline: 2 } as const;
const verdicts = new WeakMap<CommandLine, CommandVerdict>();

/**
 * Judges a command line by what it would run. A line that cannot be read, or that would take too long to
 * read, gets the strictest answer; nothing that goes wrong here lets a command through.
 */
export function judgeCommand(command: string, options: LineOptions = {}): CommandVerdict {
  const line = readCommandLine(command, options);
  const verdict = verdicts.get(line) ?? judgeSafely(line);
  verdicts.set(line, verdict);
  return verdict;
}

function judgeSafely(line: CommandLine): CommandVerdict {
  try {
    const verdict = judge(line);
    return verdict.rule === TOO_DEEP && line.hasReadFiles ? judgeWithoutFiles(line) : verdict;
  } catch {
    return refusal("hardline.analysis-failed", "could not be analysed");
  }
}

/**
 * A long file is no trick: a dump of a database, a generated script. The line is judged for itself then, and a person is
 * asked about the file, which nobody has read.
 */
function judgeWithoutFiles({ text, options }: CommandLine): CommandVerdict {
  const alone = judgeCommand(text, { ...options, files: undefined });
  const reason = "runs a file that is too long or nested too deeply to be judged";
  return stricter({ verdict: "danger", rule: "script.too-long", reason, segments: [] }, alone);
}

function refusal(rule: string, reason: string): CommandVerdict {
  return { verdict: "hardline", rule, reason, segments: [] };
}

function judge(line: CommandLine): CommandVerdict {
  const { text } = line;
  if (line.isTooLong)
    return refusal("hardline.too-long", `is ${text.length} characters long, too long to be judged`);
  const seen = line.shown;
  if (seen === undefined) return judgeRun(line.written, text);
  // Lookalikes and hidden characters: what bash would run and what a reader sees are both judged.
  const shown = placedIn(judgeRun(seen.run, seen.text), { seen, command: text });
  if (text.includes("\0")) return stricter(hiddenNul(text), shown);
  const written = judgeRun(line.written, text);
  const shownIsBroken = shown.rule === UNPARSEABLE && written.rule !== UNPARSEABLE;
  return shownIsBroken ? written : stricter(written, shown);
}

const UNPARSEABLE = "hardline.unparseable";
const TOO_DEEP = "hardline.too-deep";

function hiddenNul(command: string): CommandVerdict {
  const at = command.indexOf("\0");
  return {
    verdict: "danger",
    rule: "hidden.nul",
    reason: "contains a NUL character, which ends or hides text",
    span: [at, at + 1],
    segments: [],
  };
}

function stricter(first: CommandVerdict, second: CommandVerdict): CommandVerdict {
  const chosen = STRICTNESS[second.verdict] > STRICTNESS[first.verdict] ? second : first;
  return withSegments(chosen, () => (chosen.segments.length > 0 ? chosen.segments : second.segments));
}

/** The parts are worked out when somebody looks at them: most lines are safe, and nobody does. */
function withSegments(
  { verdict, rule, reason, span }: Omit<CommandVerdict, "segments">,
  make: () => readonly JudgedSegment[],
): CommandVerdict {
  let segments: readonly JudgedSegment[] | undefined;
  return {
    verdict,
    rule,
    reason,
    span,
    get segments() {
      segments ??= make();
      return segments;
    },
  };
}

/** The verdict about the text as seen, with places in the text as written. */
function placedIn(
  verdict: CommandVerdict,
  { seen, command }: { readonly seen: ShownLine; readonly command: string },
): CommandVerdict {
  const back = (span: Span): Span => [seen.toOriginal(span[0]), seen.toOriginal(span[1])];
  return withSegments({ ...verdict, span: verdict.span && back(verdict.span) }, () =>
    verdict.segments.map((segment) => {
      if (segment.span === undefined) return segment;
      const at = back(segment.span);
      return { ...segment, span: at, text: command.slice(...at) };
    }),
  );
}

function judgeRun(run: Run | undefined, command: string): CommandVerdict {
  if (run === undefined)
    return refusal(UNPARSEABLE, "is not valid shell text, so what it runs cannot be told");
  if (run.budget.exceeded) return refusal(TOO_DEEP, "is nested too deeply or grows too large to be judged");
  const judged = judgeCommands(run);
  return withSegments(decisiveOf(judged, run) ?? SAFE, () => segmentsOf(judged, run, command));
}

const SAFE = { verdict: "safe", rule: "safe", reason: "" } as const;

interface Judged {
  readonly command: SimpleCommand;
  readonly finding: Finding | undefined;
}

function judgeCommands(run: Run): readonly Judged[] {
  const own = new Map<SimpleCommand | undefined, Finding[]>();
  for (const finding of run.findings) {
    const known = own.get(finding.command);
    if (known === undefined) own.set(finding.command, [finding]);
    else known.push(finding);
  }
  const verdicts = new Verdicts(run.commands.length);
  return run.commands.map((command) => {
    let finding = strictestOf(verdicts.of(command), undefined);
    for (const there of run.variants.get(command) ?? []) finding = strictestOf(verdicts.of(there), finding);
    return { command, finding: strictestOf(own.get(command) ?? NONE, finding) };
  });
}

type Placed = Finding & { readonly span: Span };

function decisiveOf(judged: readonly Judged[], run: Run): Omit<CommandVerdict, "segments"> | undefined {
  let best: Placed | undefined;
  const consider = (finding: Finding, command?: SimpleCommand): void => {
    const next = { ...finding, span: finding.span ?? command?.span ?? [0, 0] } satisfies Finding;
    if (outranks(next, best)) best = next;
  };
  for (const { command, finding } of judged) if (finding !== undefined) consider(finding, command);
  for (const finding of run.findings) if (finding.command === undefined) consider(finding);
  if (best === undefined) return undefined;
  const { level, rule, reason, span } = best;
  return { verdict: level, rule, reason, span };
}

/** Stricter first, then what stands earlier in the text. */
function outranks(next: Placed, best: Placed | undefined): boolean {
  if (best === undefined) return true;
  const difference = STRICTNESS[next.level] - STRICTNESS[best.level];
  return difference > 0 || (difference === 0 && next.span[0] < best.span[0]);
}

const NONE: readonly Finding[] = [];

/** Of equally strict ones the first. */
function strictestOf(findings: readonly Finding[], known: Finding | undefined): Finding | undefined {
  let strictest = known;
  for (const finding of findings) {
    if (strictest === undefined || STRICTNESS[finding.level] > STRICTNESS[strictest.level])
      strictest = finding;
  }
  return strictest;
}

/** One segment for each command; carriers such as `timeout` only when something is wrong with themselves. */
function segmentsOf(judged: readonly Judged[], run: Run, text: string): readonly JudgedSegment[] {
  const segments = new Map<string, JudgedSegment>();
  for (const { command, finding } of judged) {
    if (finding === undefined && run.carriers.has(command)) continue;
    const canonical = canonicalCommand(command);
    const key = `${command.span[0]} ${canonical}`;
    if (segments.has(key)) continue;
    segments.set(key, {
      text: text.slice(...command.span),
      canonical,
      verdict: finding?.level ?? "safe",
      rule: finding?.rule ?? "safe",
      reason: finding?.reason ?? "",
      span: command.span,
    });
  }
  return [...segments.values()];
}
