const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** Longest first, so that words are made of the largest unit that fits. */
const UNITS = [
  { name: "week", ms: WEEK, spellings: /^(?:w|weeks?)$/ },
  { name: "day", ms: DAY, spellings: /^(?:d|days?)$/ },
  { name: "hour", ms: HOUR, spellings: /^(?:h|hrs?|hours?)$/ },
  { name: "minute", ms: MINUTE, spellings: /^(?:m|mins?|minutes?)$/ },
  { name: "second", ms: SECOND, spellings: /^(?:s|secs?|seconds?)$/ },
] as const;

const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gy;

/** "30m", "2 hours", "1h30m", and after "every" also "hour"; undefined when it is no such thing. */
export function readDuration(given: string): number | undefined {
  const text = given.trim().toLowerCase();
  const alone = unitOf(text);
  if (alone !== undefined && text.length > 1) return alone;
  let total = 0;
  let at = 0;
  PART.lastIndex = 0;
  for (let part = PART.exec(text); part !== null; part = PART.exec(text)) {
    const unit = unitOf(part[2] ?? "");
    if (unit === undefined) return undefined;
    total += Number(part[1]) * unit;
    at = PART.lastIndex;
  }
  return at === text.length && total > 0 ? Math.round(total) : undefined;
}

/** "2 hours", "1 hour 30 minutes". */
export function durationWords(ms: number): string {
  const words: string[] = [];
  let rest = Math.round(ms / SECOND) * SECOND;
  for (const { name, ms: size } of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(`${count} ${name}${count === 1 ? "" : "s"}`);
  }
  return words.length === 0 ? "0 seconds" : words.join(" ");
}

function unitOf(word: string): number | undefined {
  return UNITS.find(({ spellings }) => spellings.test(word))?.ms;
}
