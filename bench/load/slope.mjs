/**
 * Least squares through [x, y] pairs: the slope, and the bounds of its 95 % interval. What is measured every few seconds
 * rises and falls for minutes, so neighbours tell the same thing twice: the interval is widened by as much as what is left
 * beside the line resembles itself one step later.
 */
export function slope(points) {
  const n = points.length;
  if (n < 3) return { perUnit: Number.NaN, low: Number.NaN, high: Number.NaN };
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / n;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / n;
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const perUnit = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rests = points.map(([x, y]) => y - meanY - perUnit * (x - meanX));
  const rest = rests.reduce((sum, value) => sum + value ** 2, 0);
  const likeness =
    rest === 0 ? 0 : rests.slice(1).reduce((sum, value, i) => sum + value * rests[i], 0) / rest;
  const repeated = Math.min(Math.max(likeness, 0), 0.95);
  const error = Math.sqrt((rest / (n - 2) / spread) * ((1 + repeated) / (1 - repeated)));
  return { perUnit, low: perUnit - 1.96 * error, high: perUnit + 1.96 * error };
}
