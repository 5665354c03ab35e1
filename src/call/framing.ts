import { foldTagName, isSquareFraming } from "./framing-names.js";
import { judgeTag, type Verdict } from "./framing-tag.js";

const OPENERS = "<＜﹤‹⟨〈❮";
/** Angle brackets, their look-alikes, and their spellings in HTML, JSON and URLs. */
const BOUNDARY =
  /[<＜﹤‹⟨〈❮>＞﹥›⟩〉❯]|&(?:amp;){0,4}(?:lt|gt|#0{0,6}(?:60|62)|#x0{0,6}3[ce]);?|\\u003[ce]|\\x3[ce]|%(?:25){0,3}3[ce]/gi;
const ENCODED_OPENER = /(?:lt|60|3c);?$/i;
const MAX_TAG = 1_000;

const SQUARE =
  /(?:[[［]|&#0{0,4}91;|%5b)\s{0,4}[/／]?\s{0,4}([\p{L}\p{N}_\- ]{3,24})\s{0,4}(?:[\]］]|&#0{0,4}93;|%5d)/giu;
const MINIMAX = /\]~!?b[[\]]|\[e~\[/g;
const CDATA_END = /\]\]>/g;
const FENCE_LANGUAGE =
  "json[5cl]?|jsonlines|xml|html?|xhtml|svg|markdown|mdx?|yaml|tool[_-]?(?:calls?|code|outputs?|results?|use)|function[_-]?calls?|" +
  "system|assistant|user|thinking|action|output|text|txt|plaintext";
const FENCE = new RegExp(`[\`｀]{3,}(?:[ \\t]{0,4}(?:${FENCE_LANGUAGE})(?![\\w-]))?`, "gi");
const TILDE_FENCE = new RegExp(`^[ \\t]{0,8}~{3,}[ \\t]{0,4}(?:${FENCE_LANGUAGE})(?![\\w-])`, "gim");
/** Without one of these words only where Markdown sees a fence: compilers underline with tildes, further in. */
const BARE_TILDE_FENCE = /^ {0,3}~{3,}(?=[ \t]*[\w#+.-]{0,40}[ \t]*$)/gm;
const ROLE_LABEL =
  /^([ \t>*]{0,8}(?:HUMAN|Human|ASSISTANT|Assistant|SYSTEM|USER|DEVELOPER))[ \t]{0,4}[:：]/gm;
const ROLE_PARAGRAPH = /(\n[ \t]{0,8}\n[ \t]{0,8}(?:System|User|Developer|Model))[ \t]{0,4}[:：]/g;
const ROLE_HEADING =
  /^[ \t]{0,8}#{2,6}[ \t]{0,4}(instructions?|response|input|output|system|user|assistant|human|tool|function)[ \t]{0,4}[:：]/gim;

/** More rounds than this mean that the text was built to survive them. */
const MAX_ROUNDS = 6;

/**
 * Takes away what a model could mistake for a turn, a call or a result of its own conversation, and leaves
 * everything that is merely written with angle brackets: traces, type arguments, HTML, comparisons.
 */
export function stripFraming(text: string): string {
  let current = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // Taking one tag out can bring the halves of another together.
    const next = stripOnce(current);
    if (next === current) return current;
    current = next;
  }
  return stripOnce(current.replace(BOUNDARY, (mark) => (isOpener(mark) ? "(" : ")")));
}

function stripOnce(text: string): string {
  const hadCdata = /!\s{0,8}\[\s{0,8}CDATA/i.test(text);
  return stripTags(text)
    .replace(SQUARE, (whole, name: string, offset: number, all: string) =>
      isSquareFraming(foldTagName(name.normalize("NFKC")))
        ? gapFor({ text: all, start: offset, end: offset + whole.length })
        : whole,
    )
    .replace(MINIMAX, " ")
    .replace(CDATA_END, hadCdata ? "" : "]] >")
    .replace(FENCE, "")
    .replace(TILDE_FENCE, "")
    .replace(BARE_TILDE_FENCE, "")
    .replace(ROLE_LABEL, "$1 -")
    .replace(ROLE_PARAGRAPH, "$1 -")
    .replace(ROLE_HEADING, "$1 -");
}

interface Bracket {
  readonly start: number;
  readonly end: number;
}

/** A possible tag; without `closer` it runs on to the next opening bracket or to the end. */
interface Found {
  readonly opener: Bracket;
  readonly innerEnd: number;
  readonly closer?: Bracket;
}

function stripTags(text: string): string {
  let result = "";
  let copied = 0;
  let open: Bracket | undefined;
  const context = { text, closings: new Map<string, boolean>() };

  const cut = (start: number, end: number) => {
    result += text.slice(copied, start) + gapFor({ text, start, end });
    copied = end;
  };
  const settle = ({ opener, closer, innerEnd }: Found): number => {
    const inner = text.slice(opener.end, Math.min(innerEnd, opener.end + MAX_TAG));
    const closed = closer !== undefined && innerEnd - opener.end <= MAX_TAG;
    const verdict: Verdict = judgeTag({ inner, closed, start: opener.start, context });
    if (verdict.kind === "keep") return -1;
    if (verdict.kind === "drop-opener") {
      cut(opener.start, opener.end + verdict.chars);
      return -1;
    }
    // `<<SYS>>`: the outer pair belongs to the mark.
    let start = opener.start;
    let end = closer?.end ?? innerEnd;
    while (start > copied && text[start - 1] === "<") start -= 1;
    while (text[end] === ">") end += 1;
    cut(start, end);
    return end;
  };

  BOUNDARY.lastIndex = 0;
  for (let mark = BOUNDARY.exec(text); mark !== null; mark = BOUNDARY.exec(text)) {
    const here: Bracket = { start: mark.index, end: mark.index + mark[0].length };
    if (isOpener(mark[0])) {
      if (open !== undefined) settle({ opener: open, innerEnd: here.start });
      open = here;
    } else if (open !== undefined) {
      const resumeAt = settle({ opener: open, innerEnd: here.start, closer: here });
      if (resumeAt > here.end) BOUNDARY.lastIndex = resumeAt;
      open = undefined;
    }
  }
  if (open !== undefined) settle({ opener: open, innerEnd: text.length });
  return copied === 0 ? text : result + text.slice(copied);
}

function isOpener(mark: string): boolean {
  return mark.length === 1 ? OPENERS.includes(mark) : ENCODED_OPENER.test(mark);
}

/** Words on both sides of a removed mark must not run into one. */
function gapFor({ text, start, end }: { text: string; start: number; end: number }): string {
  const before = text[start - 1];
  const after = text[end];
  return before === undefined || after === undefined || /\s/.test(before) || /\s/.test(after) ? "" : " ";
}
