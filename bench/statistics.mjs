export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function summary(values) {
  return {
    median: significant(median(values)),
    min: significant(Math.min(...values)),
    rounds: values.length,
  };
}

/**
 * How many times slower `ours` is than `theirs`, from samples taken in turn. Neighbours share the machine's mood,
 * so the median of their ratios says more than the ratio of two medians; `best` compares the quickest rounds.
 */
export function ratio(ours, theirs) {
  const rounds = Math.min(ours.length, theirs.length);
  const pairs = Array.from({ length: rounds }, (_, round) => ours[round] / theirs[round]);
  return {
    paired: significant(median(pairs)),
    best: significant(Math.min(...ours) / Math.min(...theirs)),
  };
}

/** Three digits are more than a noisy machine can promise. */
export function significant(value) {
  return Number(value.toPrecision(3));
}

/** `name` against each of `others` that took part. */
export function ratios(samples, name, others) {
  return Object.fromEntries(
    others
      .filter((other) => samples[other] !== undefined)
      .map((other) => [`${name} / ${other}`, ratio(samples[name], samples[other])]),
  );
}

/** Summaries of samples taken in nanoseconds. */
export function inMicroseconds(samples) {
  return Object.fromEntries(
    Object.entries(samples).map(([id, values]) => [id, summary(values.map((value) => value / 1e3))]),
  );
}

export function percentile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
}

/** A single number in the shape of the others. */
export function single(value) {
  return { median: significant(value), min: significant(value), rounds: 1 };
}
