// Curves as SVG: panels one below the other, each with its own axis, in the colours of bench/chart.mjs.
const WIDTH = 1040;
const PANEL = 170;
const LEFT = 90;
const RIGHT = 30;
const PLOT = 110;
/** Along the lower edge. */
const MOST_STEPS = 6;
const INK = "#1f2933";
const MUTED = "#7b8794";
const LINES = ["#2f7d5b", "#2b6cb0", "#b7791f", "#805ad5"];
const LIMIT = "#c0392b";

/** `panels`: [{ title, unit, limit?, lines: [{ name, points: [[x, y], …] }] }]; `logX` for sizes that grow tenfold. */
export function curves({ label, xTitle, panels, logX = false }) {
  const height = panels.length * PANEL + 30;
  const xs = panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(([x]) => x)));
  const at = logX ? Math.log10 : (x) => x;
  const from = at(Math.min(...xs));
  const to = at(Math.max(...xs));
  const x = (value) => LEFT + ((at(value) - from) / (to - from || 1)) * (WIDTH - LEFT - RIGHT);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(label)}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...panels.map((panel, index) => drawPanel({ panel, top: index * PANEL + 10, x })),
    ...ticks({ from, to, logX }).map((value) => text({ x: x(value), y: height - 18, words: short(value) })),
    text({ x: WIDTH / 2, y: height - 4, words: xTitle }),
    "</svg>\n",
  ].join("\n");
}

function drawPanel({ panel: { title, unit, limit, lines }, top, x }) {
  const values = lines.flatMap(({ points }) => points.map(([, y]) => y));
  // Half of it has a line, too.
  const most = roundUp(Math.max(...values, limit ?? 0) || 1, [1, 2, 4, 6, 8, 10]);
  const base = top + 30 + PLOT;
  const y = (value) => base - (value / most) * PLOT;
  const rule = (value, colour, dash) =>
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}" stroke="${colour}" ${dash}/>`;
  return [
    text({ x: 16, y: top + 16, words: `${title} (${unit})`, colour: INK, anchor: "start", weight: 600 }),
    ...lines.map(({ name }, index) =>
      text({ x: 420 + index * 190, y: top + 16, words: `— ${name}`, colour: LINES[index], anchor: "start" }),
    ),
    ...[0, most / 2, most].flatMap((value) => [
      rule(value, "#e4e7eb", ""),
      text({ x: LEFT - 8, y: y(value) + 4, words: short(value), anchor: "end" }),
    ]),
    ...(limit === undefined ? [] : [rule(limit, LIMIT, 'stroke-dasharray="4 3"')]),
    ...lines.map(
      ({ points }, index) =>
        `<polyline fill="none" stroke="${LINES[index]}" stroke-width="1.5" points="${points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(" ")}"/>`,
    ),
  ].join("\n");
}

function ticks({ from, to, logX }) {
  if (logX) {
    const whole = Array.from({ length: Math.floor(to) - Math.ceil(from) + 1 }, (_, i) => Math.ceil(from) + i);
    return whole.map((power) => 10 ** power);
  }
  // Of workers there are no halves.
  const least = Number.isInteger(from) && Number.isInteger(to) ? 1 : 0;
  const step = Math.max(least, roundUp((to - from) / MOST_STEPS || 1, [1, 2, 5, 10]));
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, index) => (first + index) * step);
}

/** To one of these, times a power of ten. */
function roundUp(value, steps) {
  const power = 10 ** Math.floor(Math.log10(value));
  return (steps.find((one) => one * power >= value) ?? 10) * power;
}

function text({ x, y, words, colour = MUTED, anchor = "middle", weight = 400 }) {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${colour}" font-weight="${weight}">${escaped(words)}</text>`;
}

function short(value) {
  return value >= 10 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}

function escaped(words) {
  return words.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** The picture of a server's record; at most 600 points of each line, the largest of its span. */
export function serverCurves({ label, samples, memoryLimit }) {
  const step = Math.max(1, Math.ceil(samples.length / 600));
  const line = (name, pick) => ({
    name,
    points: samples
      .filter((_, index) => index % step === 0)
      .map(({ second }, index) => [
        second / 60,
        Math.max(...samples.slice(index * step, (index + 1) * step).map(pick)),
      ]),
  });
  return curves({
    label,
    xTitle: "minutes",
    panels: [
      {
        title: "Memory",
        unit: "MB",
        limit: memoryLimit,
        lines: [line("resident", ({ rss }) => rss / 2 ** 20), line("heap", ({ heap }) => heap / 2 ** 20)],
      },
      {
        title: "Held",
        unit: "count",
        lines: [
          line("descriptors", ({ descriptors }) => descriptors ?? 0),
          line("timers", ({ timers }) => timers),
          line("handles", ({ handles }) => handles),
        ],
      },
      {
        title: "Event-loop delay, each second",
        unit: "ms",
        lines: [line("p99", ({ delayP99 }) => delayP99), line("longest", ({ delayMax }) => delayMax)],
      },
    ],
  });
}
