import { closingCases } from "./conformance/closing.js";
import { endingCases } from "./conformance/ending.js";
import { fileChangeCases } from "./conformance/file-changes.js";
import { fileCases } from "./conformance/files.js";
import { inputCases } from "./conformance/input.js";
import { lossCases } from "./conformance/loss.js";
import { outputCases } from "./conformance/output.js";
import { processCases } from "./conformance/processes.js";
import { secrecyCases } from "./conformance/secrecy.js";
import { shellCases } from "./conformance/shell.js";
import { startingCases } from "./conformance/starting.js";
import { taskCases } from "./conformance/tasks.js";
import { terminalCases } from "./conformance/terminals.js";
import { transferCases } from "./conformance/transfers.js";
import { treeCases } from "./conformance/trees.js";
import type { ConformanceCase } from "./conformance/types.js";
import { watchCases } from "./conformance/watching.js";

/**
 * What every environment must do, as cases for any test runner:
 *
 *     const context = conformanceContext(setup);
 *     for (const each of environmentConformance())
 *       test(each.name, { skip: each.lacking(setup) }, () => each.run(context));
 *     after(() => context.close());
 *
 * A case throws an AssertionError that says what was expected and what was seen.
 */
export function environmentConformance(): readonly ConformanceCase[] {
  return [
    ...taskCases,
    ...shellCases,
    ...endingCases,
    ...treeCases,
    ...outputCases,
    ...inputCases,
    ...startingCases,
    ...secrecyCases,
    ...processCases,
    ...terminalCases,
    ...fileCases,
    ...fileChangeCases,
    ...watchCases,
    ...transferCases,
    ...lossCases,
    ...closingCases,
  ];
}
