import { placeInContext } from "./contexts.js";
import { mentionAsData } from "./data-mentions.js";
import { disguise } from "./evasions.js";
import type { LabelledRow } from "./measure.js";
import { drawPayload, type Label, type Payload } from "./payloads.js";
import { type Random, seededRandom } from "./random.js";
import { type Wrapped, wholeText, wrapCommand } from "./wrappers.js";

export interface GeneratedRow {
  readonly cmd: string;
  readonly label: Label;
  readonly family: string;
  /** What was combined, for reading a report: `sudo>sh -c / if / hex`. */
  readonly shape: string;
  /** Holds characters no shell would run as typed. */
  readonly lookalike: boolean;
}

/**
 * Fresh rows: payloads × disguises × wrappers × places in a script. A label holds by construction: each step
 * is drawn only where bash still runs the payload, or, for text mentioned as data, never runs it.
 */
export function generateRows(options: { readonly seed: number; readonly count: number }): GeneratedRow[] {
  const random = seededRandom(options.seed);
  const rows: GeneratedRow[] = [];
  const seen = new Set<string>();
  while (rows.length < options.count) {
    const row = generateRow(random);
    if (seen.has(row.cmd)) continue;
    seen.add(row.cmd);
    rows.push(row);
  }
  return rows;
}

/** Texts whose meaning a child shell or a place in a script would change, or that end where nothing may follow. */
const KEEPS_ITS_PLACE = /[\n#]|&\s*$|\$0|\$PPID|\{\}|\btrap\b|\balias\b/;
/** What another shell than bash may read differently. */
const NEEDS_BASH =
  /<<<|[<>]\(|\$['"]|\[\[|\{\S*,|\bfunction\b|=\(|&>|>\||\|&|\$\{\w*[:/,^!%#]|\$\{!|\b(?:source|time|coproc|select|declare|local|read|mapfile|shopt|enable|printf -v)\b/;
const FAMILIES_OF_ONE_SHELL = new Set([
  "env_poison",
  "history_tamper",
  "alias",
  "unicode",
  "control_chars",
  "length",
  "windows",
]);

/** Hand-written rows put into the same wrappers and places; their labels and notes go with them. */
export function wrapHandWrittenRows(options: {
  readonly rows: readonly LabelledRow[];
  readonly seed: number;
}): LabelledRow[] {
  const random = seededRandom(options.seed);
  return options.rows
    .filter((row) => !KEEPS_ITS_PLACE.test(row.cmd) && !FAMILIES_OF_ONE_SHELL.has(row.family))
    .filter((row) => row.label !== "safe" || !/\brm\b/.test(row.cmd))
    .map((row): LabelledRow => {
      const payload: Payload = { label: row.label, family: row.family, text: row.cmd };
      const start: Wrapped = {
        command: row.cmd,
        bashOnly: NEEDS_BASH.test(row.cmd),
        simple: false,
        shellWord: false,
      };
      const { wrapped, names } = wrapCommand(start, payload, random);
      const placed = placeInContext(wholeText(wrapped), row.label, random);
      return { ...row, cmd: placed.text, shape: [...placed.names, names.toReversed().join(">")].join(" / ") };
    });
}

function generateRow(random: Random): GeneratedRow {
  const drawn = random.below(100);
  if (drawn < 22) return mentionRow(random);
  return runningRow(drawPayload(drawn < 46 ? "safe" : drawn < 87 ? "danger" : "hardline", random), random);
}

function runningRow(payload: Payload, random: Random): GeneratedRow {
  const shape: string[] = [];
  let start: Wrapped = {
    command: payload.text,
    bashOnly: payload.family === "fork_bomb",
    simple: payload.words !== undefined,
    shellWord: false,
  };
  let lookalike = false;
  if (payload.words !== undefined && random.chance(0.45)) {
    const made = disguise(payload.words, payload.label, random);
    if (made !== undefined) {
      // A later `eval` or `bash -c` is a program with words too, but `eval` is one only a shell knows.
      start = {
        command: made.command,
        ...(made.setup === undefined ? {} : { setup: made.setup }),
        bashOnly: made.bashOnly === true,
        simple: made.pipeline !== true,
        shellWord: made.command.startsWith("eval "),
      };
      lookalike = made.lookalike === true;
      shape.push(made.name);
    }
  }
  let wrapped = start;
  if (random.chance(0.6)) {
    const outcome = wrapCommand(start, payload, random);
    wrapped = outcome.wrapped;
    shape.unshift(outcome.names.toReversed().join(">"));
  }
  const placed = placeInContext(wholeText(wrapped, random.pick(["; ", "\n", " && "])), payload.label, random);
  shape.unshift(...placed.names);
  return {
    cmd: placed.text,
    label: payload.label,
    family: payload.family,
    shape: shape.join(" / ") || "plain",
    lookalike,
  };
}

function mentionRow(random: Random): GeneratedRow {
  const payload = drawPayload(random.pick(["danger", "danger", "hardline"]), random);
  const mention = mentionAsData(payload.text, random);
  const placed = mention.last
    ? { text: mention.text, names: [] }
    : placeInContext(mention.text, "safe", random);
  return {
    cmd: placed.text,
    label: "safe",
    family: payload.family,
    shape: [...placed.names, mention.name].join(" / "),
    lookalike: false,
  };
}
