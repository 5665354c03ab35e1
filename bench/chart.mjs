// A picture of the figures: how much of its limit each one uses, and one call beside the peers'.
import { PEERS } from "./contestants.mjs";

const WIDTH = 1040;
const LABEL_WIDTH = 540;
const BAR_LEFT = LABEL_WIDTH + 20;
const BAR_WIDTH = WIDTH - BAR_LEFT - 110;
const ROW = 26;
const BAR_HEIGHT = 16;
const INK = "#1f2933";
const MUTED = "#7b8794";
const WITHIN = "#2f7d5b";
const OVER = "#c0392b";
const PEER = "#9aa5b1";
/** Bars end here, in multiples of the limit. */
const LONGEST = 1.5;

export function chart({ figures, parts }) {
  const measured = figures.filter(({ value }) => value !== null);
  const rows = [
    title("Share of each limit that is used (dashed line: the limit)"),
    ...measured.map((figure) => figureRow(figure)),
    ...(parts.calls === undefined ? [] : callRows(parts.calls.microseconds)),
  ];
  const height = rows.length * ROW + 40;
  const limitTop = 20 + ROW;
  const limitBottom = limitTop + measured.length * ROW;
  const limitAt = BAR_LEFT + BAR_WIDTH / LONGEST;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Benchmark figures and their limits" font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...rows.map((draw, index) => draw(20 + index * ROW)),
    `<line x1="${limitAt}" x2="${limitAt}" y1="${limitTop}" y2="${limitBottom}" stroke="${INK}" stroke-width="1.5" stroke-dasharray="4 3"/>`,
    "</svg>\n",
  ].join("\n");
}

function figureRow({ what, value, limit, unit, pass }) {
  const share = value / limit;
  return bar({
    label: what,
    length: Math.min(share, LONGEST) / LONGEST,
    colour: pass ? WITHIN : OVER,
    note: `${value} of ${limit} ${unit}`,
  });
}

/** Spans five powers of ten, so its bars grow with the logarithm. */
function callRows(microseconds) {
  const labels = {
    bare: "bare async function",
    validated: "arguments checked, then the function",
    hermes: "Hermes Tools, whole path",
    ...Object.fromEntries(Object.entries(PEERS).map(([id, { label }]) => [id, label])),
  };
  const times = Object.keys(labels)
    .filter((id) => microseconds[id] !== undefined)
    .map((id) => ({ id, label: labels[id], median: microseconds[id].median }))
    .sort((a, b) => a.median - b.median);
  const low = Math.log10(times[0].median) - 0.3;
  const high = Math.log10(times.at(-1).median);
  return [
    title("One call, microseconds (logarithmic)"),
    ...times.map(({ id, label, median }) =>
      bar({
        label,
        length: (Math.log10(median) - low) / (high - low || 1),
        colour: id === "hermes" ? WITHIN : PEER,
        note: `${median} µs`,
      }),
    ),
  ];
}

function title(text) {
  return (top) => `<text x="16" y="${top + 14}" fill="${INK}" font-weight="600">${escaped(text)}</text>`;
}

function bar({ label, length, colour, note }) {
  return (top) => {
    const width = Math.max(1, length * BAR_WIDTH).toFixed(1);
    const baseline = top + 13;
    return [
      `<text x="${LABEL_WIDTH + 8}" y="${baseline}" text-anchor="end" fill="${INK}" font-size="11">${escaped(label)}</text>`,
      `<rect x="${BAR_LEFT}" y="${top}" width="${width}" height="${BAR_HEIGHT}" rx="2" fill="${colour}"/>`,
      `<text x="${BAR_LEFT + Number(width) + 6}" y="${baseline}" fill="${MUTED}" font-size="11">${escaped(note)}</text>`,
    ].join("\n");
  };
}

function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
