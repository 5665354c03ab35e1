import type { ApprovalAnswer } from "../../api/types.js";

type Segment = ApprovalAnswer["segments"][number];

/** One row of a question: a part with its verdict, or an argument as it is. */
export type Piece =
  | { readonly kind: "segment"; readonly segment: Segment; readonly text: string; readonly after: string }
  | { readonly kind: "argument"; readonly name: string; readonly text: string };

/**
 * Everything that would run. Segments show where they stand in the command; whatever lies between and around them is
 * shown with them, so that nothing is left out. Where that does not work out, the arguments are shown whole, first.
 */
export function piecesOf(question: ApprovalAnswer): readonly Piece[] {
  const args = argumentsOf(question.args);
  const { segments } = question;
  if (segments.length === 0)
    return args.length === 0 ? [{ kind: "argument", name: "", text: question.what }] : args;
  const judged = args.find(({ text }) => fits(segments, text));
  if (judged === undefined) return [...args, ...segments.map(alone)];
  const rows = segments.map((segment, index): Piece => {
    const [from, to] = segment.span ?? [0, 0];
    const start = index === 0 ? 0 : from;
    const end = segments[index + 1]?.span?.[0] ?? judged.text.length;
    return {
      kind: "segment",
      segment,
      text: judged.text.slice(start, to),
      after: judged.text.slice(to, end),
    };
  });
  return [...rows, ...args.filter((one) => one !== judged)];
}

function fits(segments: readonly Segment[], text: string): boolean {
  let at = 0;
  return segments.every(({ span, text: part }) => {
    if (span === undefined || span[0] < at || span[1] > text.length) return false;
    at = span[1];
    return text.slice(...span).trim() === part.trim();
  });
}

function alone(segment: Segment): Piece {
  return { kind: "segment", segment, text: segment.text, after: "" };
}

function argumentsOf(args: unknown): readonly Extract<Piece, { kind: "argument" }>[] {
  if (typeof args !== "object" || args === null) return [];
  return Object.entries(args).map(([name, value]) => ({
    kind: "argument",
    name,
    text: typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? String(value)),
  }));
}
