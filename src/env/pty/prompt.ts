/** What kind of answer a program seems to wait for. */
export type WantedInput =
  | "password"
  | "confirmation"
  | "any key"
  | "pager"
  | "editor"
  | "interpreter"
  | "choice"
  | "answer";

const LAST_LINE: readonly (readonly [WantedInput, RegExp])[] = [
  [
    "password",
    /(?:pass(?:word|phrase|code)|\bPIN|verification code|one-time code|OTP)\b[^\n]{0,80}[:?]\s*$/i,
  ],
  ["confirmation", /[[(](?:y(?:es)?\/no?|no?\/y(?:es)?)(?:\/[^\])\n]{1,40})?[\])]\s*[:?]?\s*$/i],
  [
    "confirmation",
    /\b(?:are you sure|do you want to (?:continue|proceed)|continue|proceed|overwrite)\b[^\n]{0,80}\?\s*$/i,
  ],
  ["any key", /\b(?:press|hit|type|strike)\b[^\n]{0,20}\b(?:any key|enter|return|space)\b[^\n]{0,60}$/i],
  [
    "pager",
    /(?:^\(END\)|--\s?more\s?--(?:\s*\(\d+%\))?|^lines \d+-\d+(?:\/\d+)?(?: \(END\))?|^Manual page .*\(press h for help or q to quit\))\s*$/i,
  ],
  [
    "interpreter",
    /^(?:>>>|\.\.\.|In \[\d+\]:|(?:[\w$()-]+=?[#>]|mysql>|sqlite>|irb\([^)]*\)[^>]{0,20}>|pry\([^)]*\)>|>|\(gdb\)|\(Pdb\)|\(lldb\)|\(pdb\+\+\)))\s?$/,
  ],
  [
    "choice",
    /\b(?:select|choose|choice|option|pick|which|enter (?:a |the )?(?:number|selection))\b[^\n]{0,100}[:?>]\s*$/i,
  ],
  ["choice", /\[[\w ,/-]{1,60}\](?: \([^)]{1,40}\))?\s*[:?]\s*$/],
  ["answer", /\?\s*$/],
  ["interpreter", /^[^\n]{0,200}[\w~/\])][#$] ?$/],
  ["answer", /^[^\n]{1,100}[:>] ?$/],
];

/** Where an editor has the screen, its last lines look like this. */
const EDITOR = /(?:^~$[\s\S]*^~$|^-- (?:INSERT|REPLACE|VISUAL) --|\^G (?:Get )?Help\b[\s\S]*\^X Exit)/m;
const SELECTION = /^\? [^\n]{1,200}(?:\([^)\n]*arrow keys[^)\n]*\)|›|»)/m;

/**
 * A guess from what stands at the end of the screen, for places where the system does not tell whether a
 * program waits. `undefined` when nothing looks like a question. It can be wrong in both directions.
 */
export function looksLikePrompt(screenTail: string): WantedInput | undefined {
  const tail = screenTail.slice(-4_000).replace(/\n+$/, "");
  if (tail === "") return undefined;
  const last = tail.slice(tail.lastIndexOf("\n") + 1);
  const found = LAST_LINE.find(([, pattern]) => pattern.test(last.slice(-400)));
  if (found !== undefined && found[0] !== "answer") return found[0];
  if (SELECTION.test(tail)) return "choice";
  if (EDITOR.test(tail)) return "editor";
  return found?.[0];
}
