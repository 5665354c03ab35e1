import { appendFileSync } from "node:fs";
import { expect } from "vitest";

/** A row of the table that `npm run faults` ends with. */
export interface Figure {
  /** As in the goal table: J1 to N3 for one machine, C1 and up for a cluster. */
  readonly id: string;
  readonly what: string;
  readonly trials: number;
  readonly seen: string;
  readonly goal: string;
  readonly pass: boolean;
}

/** Writes the row down before it judges: a goal that was missed belongs into the table too. */
export function report(figure: Figure): void {
  const file = process.env.HERMES_FAULTS_FIGURES;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(figure)}\n`);
  else console.info(`${figure.id}: ${figure.what}, ${figure.trials} trials: ${figure.seen}`);
  expect(figure.pass, `${figure.id}: ${figure.seen}; the goal is ${figure.goal}`).toBe(true);
}

/** The value that this share of all values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
