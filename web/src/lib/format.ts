const NUMBER = new Intl.NumberFormat("en");

export function count(value: number): string {
  return NUMBER.format(value);
}

/** `6 ms`, `1.24 s`, `14.5 s`, `3 m 20 s`. */
export function took(ms: number | undefined): string {
  if (ms === undefined) return "–";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(2)} s`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)} m ${seconds % 60} s`
    : `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} m`;
}

/** `now`, `44 s`, `3 m`, `2 h`, `5 d`. */
export function age(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  if (seconds < 2) return "now";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** `41 s`, `1:55`: what is left of a time. */
export function left(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  return seconds < 60 ? `${seconds}` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export function bytes(size: number): string {
  if (size < 1_000) return `${size} B`;
  if (size < 1_000_000) return `${(size / 1_000).toFixed(1)} kB`;
  return `${(size / 1_000_000).toFixed(1)} MB`;
}

const CLOCK = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const WHOLE = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });

/** A damaged row may hold any number as its time. */
function isTime(at: number): boolean {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15;
}

export function clock(at: number): string {
  return isTime(at) ? CLOCK.format(at) : "unknown";
}

export function wholeTime(at: number): string {
  return isTime(at) ? WHOLE.format(at) : "unknown";
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A reason from a rule, as a sentence. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  const ended = /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
  return capital(ended);
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A path as it is called in a folder. */
export function pathIn(folder: string | undefined, path: string): string {
  return folder !== undefined && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}
