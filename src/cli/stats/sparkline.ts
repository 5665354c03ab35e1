const BARS = "▁▂▃▄▅▆▇█";
const ASCII_BARS = "_.-=+*#@";
const MOST_CHARS = 60;

/** A row of bars, the highest for the largest value and none where there is nothing; each shows the largest of its share. */
export function sparkline(values: readonly number[], { ascii = false } = {}): string {
  const bars = [...(ascii ? ASCII_BARS : BARS)];
  const share = Math.ceil(values.length / MOST_CHARS);
  const shown = Array.from({ length: Math.ceil(values.length / Math.max(1, share)) }, (_, index) =>
    Math.max(...values.slice(index * share, (index + 1) * share)),
  );
  const most = Math.max(0, ...shown);
  return shown
    .map((value) => (value <= 0 ? " " : bars[Math.max(0, Math.ceil((value / most) * bars.length) - 1)]))
    .join("");
}
