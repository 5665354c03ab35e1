import { nearest } from "../config/did-you-mean.js";
import { ToolError } from "../tool/errors.js";
import type { JobRow } from "./job-rows.js";

/** By id, by name, or by a unique beginning of the id, with or without `job_`. Throws a ToolError. */
export function findJob(rows: readonly JobRow[], wanted: string): JobRow {
  const exact = rows.find(({ id }) => id === wanted);
  if (exact !== undefined) return exact;
  const folded = wanted.trim().toLowerCase();
  const named = rows.filter(({ name }) => name.toLowerCase() === folded);
  const begins = rows.filter(
    ({ id }) => folded !== "" && (id.startsWith(folded) || id.startsWith(`job_${folded}`)),
  );
  const found = named.length > 0 ? named : begins;
  const [one] = found;
  if (one !== undefined && found.length === 1) return one;
  if (found.length > 1) {
    throw new ToolError(`${found.length} jobs are meant by ${JSON.stringify(wanted)}.`, {
      code: "invalid_arguments",
      hint: `Name one by its id: ${found
        .slice(0, 10)
        .map(({ id, name }) => `${id} (${name})`)
        .join(", ")}.`,
    });
  }
  const [close] = nearest(
    wanted,
    rows.map(({ name }) => name),
    1,
  );
  throw new ToolError(`There is no job ${JSON.stringify(wanted)}.`, {
    code: "not_found",
    hint:
      close === undefined ? "Use the action list to see the jobs." : `Did you mean ${JSON.stringify(close)}?`,
  });
}
