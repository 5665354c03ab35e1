import { diffLines } from "diff";
import { visible } from "../lib/visible.js";

interface Line {
  readonly kind: "same" | "add" | "del";
  readonly before?: number;
  readonly after?: number;
  readonly text: string;
}

function linesOf(before: string, after: string): readonly Line[] {
  let left = 0;
  let right = 0;
  return diffLines(before, after).flatMap((part) =>
    part.value
      .replace(/\n$/, "")
      .split("\n")
      .map((text): Line => {
        if (part.added) return { kind: "add", after: ++right, text };
        if (part.removed) return { kind: "del", before: ++left, text };
        return { kind: "same", before: ++left, after: ++right, text };
      }),
  );
}

/** How many lines came and went. */
export function changedLines(
  before: string,
  after: string,
): {
  readonly added: number;
  readonly removed: number;
} {
  let added = 0;
  let removed = 0;
  for (const part of diffLines(before, after)) {
    if (part.added) added += part.count;
    if (part.removed) removed += part.count;
  }
  return { added, removed };
}

const SIGNS = { same: " ", add: "+", del: "-" } as const;
const WORDS = { same: "", add: "added: ", del: "removed: " } as const;

/** What changed between two texts, line by line. */
export function Diff(props: { readonly before: string; readonly after: string; readonly label?: string }) {
  return <DiffLines lines={linesOf(props.before, props.after)} label={props.label ?? "Changes"} />;
}

/** A change in unified format, as git prints it. */
export function Patch(props: { readonly text: string; readonly label?: string }) {
  const lines = props.text
    .split("\n")
    .filter((line) => !/^(?:---|\+\+\+|diff |index )/.test(line))
    .map(
      (line): Line => ({
        kind: line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "same",
        text: line.startsWith("@@") ? line : line.slice(1),
      }),
    );
  return <DiffLines lines={lines} label={props.label ?? "Changes"} />;
}

function DiffLines(props: { readonly lines: readonly Line[]; readonly label: string }) {
  return (
    <div className="diff" tabIndex={0} role="group" aria-label={props.label}>
      {props.lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
        <div key={index} className={`ln ${line.kind}`}>
          <i aria-hidden="true">{line.after ?? line.before}</i>
          <u aria-hidden="true">{SIGNS[line.kind]}</u>
          <span>
            <span className="hush">{WORDS[line.kind]}</span>
            {visible(line.text)}
          </span>
        </div>
      ))}
    </div>
  );
}
