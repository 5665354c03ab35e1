/** Words a wish begins with. After a comma or an "and" they begin another one. */
const WISH_VERBS = `
  add analyze answer apply archive arrange assign attach book build buy calculate call cancel capture change chat check
  choose classify clear click close collect combine compare compile compress compute configure confirm connect convert
  copy count create crop decode decrypt define delete deploy describe design detect determine disable discover display
  divide download draft draw edit email enable encode encrypt estimate evaluate examine execute explain export extract
  fetch figure fill filter find fix follow forecast format forward gather generate get give identify import insert
  inspect install invite invoke join launch learn let list listen load locate look make manage mark measure merge
  message modify monitor move multiply navigate notify obtain open optimize order organize parse pause pay perform
  pick plan play plot post predict prepare print process provide publish pull purchase push put query read recommend
  record reduce register remind remove rename render rent repeat replace reply report request reschedule reserve reset
  resize resolve respond restart restore resume retrieve return review rotate run save scan schedule score scrape search
  see select sell send set share ship show sign simulate solve sort speak split start stop store submit subscribe
  subtract suggest sum summarize switch sync take tell test track train transfer transform translate trigger turn unlock
  update upload use validate verify view visit visualize watch write zip
`
  .trim()
  .split(/\s+/)
  .join("|");

const PART_END = new RegExp(
  [
    String.raw`[.!?;。！？；\n]+(?=\s|$|\p{Script=Han})`,
    String.raw`,?\s+(?:and\s+|but\s+)?(?:then|also|additionally|afterwards|finally|after that)\b`,
    String.raw`(?:,\s+and|,|\s+and)\s+(?=(?:please\s+)?(?:${WISH_VERBS})\b)`,
  ].join("|"),
  "giu",
);
const DECIMAL_POINT = /(\d)\.(?=\d)/g;
const URL = /\bhttps?:\/\/[^\s'")\]]+/g;
const EMAIL_ADDRESS = /\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]+/g;
const WORD = /[\p{L}\p{N}]/u;

/** Who asks for several things in one breath wants a tool for each: a request is cut where a new wish may begin. */
export function splitRequest(request: string): readonly string[] {
  return request
    .replace(URL, " url ")
    .replace(EMAIL_ADDRESS, " email ")
    .replace(DECIMAL_POINT, "$1 ")
    .split(PART_END)
    .map((part) => part.trim())
    .filter((part) => WORD.test(part));
}
