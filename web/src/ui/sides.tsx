import { diffLines, diffWordsWithSpace } from "diff";
import type { ReactNode } from "react";
import { visible } from "../lib/visible.js";

interface Side {
  readonly line?: number;
  readonly kind: "same" | "add" | "del" | "none";
  readonly parts: readonly { readonly text: string; readonly marked: boolean }[];
}

/** Two texts beside each other, with what differs inside a line marked. */
export function Sides(props: {
  readonly before: string;
  readonly after: string;
  readonly titles: readonly [before: ReactNode, after: ReactNode];
  readonly label: string;
}) {
  const rows = rowsOf(props.before, props.after);
  return (
    <div className="sides" role="group" aria-label={props.label}>
      <div className="sides-head">
        <h3>{props.titles[0]}</h3>
        <h3>{props.titles[1]}</h3>
      </div>
      <div className="sides-body" tabIndex={0} role="group" aria-label={`${props.label}, line by line`}>
        {rows.map(([left, right], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          <div className="sides-row" key={index}>
            <LineOf side={left} />
            <LineOf side={right} isEcho={right.kind === "same"} />
          </div>
        ))}
      </div>
    </div>
  );
}

const SIGNS = { same: "", add: "+", del: "−", none: "" } as const;
const WORDS = { same: "", add: "added: ", del: "removed: ", none: "" } as const;

function LineOf({ side, isEcho = false }: { readonly side: Side; readonly isEcho?: boolean }) {
  return (
    <div className={`ln ${side.kind}`} aria-hidden={side.kind === "none" || isEcho || undefined}>
      <i aria-hidden="true">{side.line}</i>
      <u aria-hidden="true">{SIGNS[side.kind]}</u>
      <span>
        <span className="hush">{WORDS[side.kind]}</span>
        {side.parts.map((part, index) =>
          part.marked ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
            <em key={index}>{visible(part.text)}</em>
          ) : (
            visible(part.text)
          ),
        )}
      </span>
    </div>
  );
}

function rowsOf(before: string, after: string): readonly (readonly [Side, Side])[] {
  const rows: (readonly [Side, Side])[] = [];
  const at = { left: 0, right: 0 };
  const parts = diffLines(`${before}\n`, `${after}\n`);
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index];
    if (part === undefined) continue;
    const next = parts[index + 1];
    if (part.removed) {
      const added = next?.added === true ? linesIn(next.value) : [];
      rows.push(...paired(linesIn(part.value), added, at));
      if (next?.added === true) index += 1;
    } else if (part.added) rows.push(...paired([], linesIn(part.value), at));
    else
      for (const text of linesIn(part.value))
        rows.push([
          { line: ++at.left, kind: "same", parts: [{ text, marked: false }] },
          { line: ++at.right, kind: "same", parts: [{ text, marked: false }] },
        ]);
  }
  return rows;
}

function linesIn(text: string): readonly string[] {
  return text.replace(/\n$/, "").split("\n");
}

const NONE: Side = { kind: "none", parts: [{ text: " ", marked: false }] };

function paired(
  removed: readonly string[],
  added: readonly string[],
  at: { left: number; right: number },
): readonly (readonly [Side, Side])[] {
  return Array.from({ length: Math.max(removed.length, added.length) }, (_, index) => {
    const [left, right] = [removed[index], added[index]];
    const words = left !== undefined && right !== undefined ? diffWordsWithSpace(left, right) : undefined;
    const side = (text: string | undefined, kind: "add" | "del"): Side => {
      if (text === undefined) return NONE;
      const other = kind === "add" ? "removed" : "added";
      const own = kind === "add" ? "added" : "removed";
      return {
        line: kind === "add" ? ++at.right : ++at.left,
        kind,
        parts: words
          ?.filter((word) => !word[other])
          .map((word) => ({ text: word.value, marked: word[own] })) ?? [{ text, marked: true }],
      };
    };
    return [side(left, "del"), side(right, "add")] as const;
  });
}
