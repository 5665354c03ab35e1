/** How long something took: `350 ms`, `1.4 s`. */
export function tookText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** How old something is or how long it lasts, at a glance: `90 s`, `15 min`, `3 h`. Never less than nothing. */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

/** `1.5 MB` in thousands as disks are sold, `1.5 MB` in 1,024s as memory is, `1.5M` as `ls -h` writes it. */
export type SizeStyle = "decimal" | "binary" | "short";

export function sizeText(bytes: number, style: SizeStyle): string {
  const step = style === "decimal" ? 1_000 : 1_024;
  const units = UNITS[style];
  let value = bytes;
  let unit = 0;
  while (value >= step && unit < units.length - 1) {
    value /= step;
    unit += 1;
  }
  const whole = unit === 0 || (style === "short" && value >= 10);
  return `${whole ? Math.round(value) : value.toFixed(1)}${units[unit]}`;
}

const UNITS: Readonly<Record<SizeStyle, readonly string[]>> = {
  decimal: [" B", " kB", " MB", " GB", " TB", " PB"],
  binary: [" B", " KB", " MB", " GB", " TB", " PB"],
  short: ["B", "K", "M", "G", "T", "P"],
};
