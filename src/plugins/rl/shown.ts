import { columns, mark } from "../../tool/marked-text.js";
import type { RunState } from "./trainer.js";

type Fields = Readonly<Record<string, unknown>>;

const SHOWN_METRICS = 6;
const SHOWN_ROWS = 12;

export function shownState(state: RunState): string {
  return (state === "running" || state === "completed" ? mark.good : mark.warning)(state);
}

export function shownFields(fields: Fields): string {
  return columns(Object.entries(fields).map(([name, value]) => [mark.dim(name), shownValue(value)]));
}

/** Metrics over time, as a table; at most the first and the last rows that fit. */
export function shownHistory(history: readonly unknown[]): string {
  const rows = history.filter((row): row is Fields => typeof row === "object" && row !== null);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, SHOWN_METRICS);
  if (names.length === 0) return "";
  const half = SHOWN_ROWS / 2;
  const shown = rows.length <= SHOWN_ROWS ? rows : [...rows.slice(0, half), ...rows.slice(-half)];
  return columns([
    names.map(mark.heading),
    ...shown.map((row) => names.map((name) => shownValue(row[name]))),
  ]);
}

/** The log comes last, where the eye is. */
export function shownLog(log: string | undefined): string {
  return log === undefined || log.trim() === "" ? "" : mark.dim(log.trimEnd());
}

export function lines(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n");
}

function shownValue(value: unknown): string {
  if (typeof value === "number") return String(Number(value.toPrecision(6)));
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
