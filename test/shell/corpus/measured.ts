import { appendFileSync } from "node:fs";
import { type LabelledRow, type Measure, measure } from "./measure.js";
import { reportText } from "./report.js";

/** Measures, and tells the figures where HERMES_CORPUS_REPORT wants them: `-` is the terminal, all else a file. */
export function measured(name: string, rows: readonly LabelledRow[], withMisses: boolean): Measure {
  const result = measure(rows);
  const file = process.env.HERMES_CORPUS_REPORT ?? "";
  if (file === "-") console.log(reportText(name, result, withMisses));
  else if (file !== "") appendFileSync(file, `${reportText(name, result, withMisses)}\n`);
  return result;
}
