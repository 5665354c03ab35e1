/** Text that needs none of the work below, which is most of it. */
const SUSPECT = /[^\t\n\x20-\x7e\xa1-\xac\xae-\xff]/;

// Introducers are left out of the payload class so that a row of them is not scanned again and again.
const STRING_SEQUENCE =
  /(?:\x1b[\]P^_X]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n\r]{0,4096}(?:\x07|\x1b\\|\x9c)/g;
const UNFINISHED_OSC = /(?:\x1b\]|\x9d)(?:\d{1,4};)?/g;
const CSI = /(?:\x1b\[|\x9b)[0-?]{0,256}[ -/]{0,16}[@-~]?/g;
const OTHER_ESCAPE = /\x1b[ -/]{0,8}[0-~]?/g;

const OVERSTRIKE = /([^\n\x08])\x08\1/g;
const LINE_BREAK = /\r\n|[\r\v\f\x85\u2028\u2029]/g;
const INVISIBLE =
  /(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}|[\x00-\x08\x0e-\x1f\x7f-\x9f\ufff9-\ufffb]/gu;
const JOINERS = /(?:\u200c|\u200d|\ufe0e|\ufe0f)+/g;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * Leaves only what a reader would see: no terminal sequences, no characters that overwrite, reorder or hide
 * others. A lone carriage return becomes a line break, so that text "under" an overwritten line shows.
 */
export function stripControls(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return text
    .replace(LONE_SURROGATE, "\ufffd")
    .replace(STRING_SEQUENCE, "")
    .replace(UNFINISHED_OSC, "")
    .replace(CSI, "")
    .replace(OTHER_ESCAPE, "")
    .replace(OVERSTRIKE, "$1")
    .replace(LINE_BREAK, "\n")
    .replace(INVISIBLE, "")
    .replace(JOINERS, keepJoiners);
}

/** Joiners belong between letters of some scripts and inside emoji; between ASCII they only hide things. */
function keepJoiners(run: string, offset: number, text: string): string {
  const after = text.charCodeAt(offset + run.length);
  const followsForeign = offset > 0 && text.charCodeAt(offset - 1) > 0x7f;
  if (!followsForeign) return "";
  if (after > 0x7f) return run.slice(0, 2);
  return run.startsWith("\ufe0f") ? "\ufe0f" : "";
}
