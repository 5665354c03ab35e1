import { existsSync } from "node:fs";
import { join } from "node:path";
import { sizeText } from "../base/human.js";
import { spilledBytes } from "../call/spill-room.js";
import { approvalRoom } from "../policy/approvals/rows.js";
import type { Finding } from "./doctor.js";
import { fileChangesOf } from "./file-changes.js";
import type { Runtime } from "./runtime.js";

/** What is kept in the Hermes home for a while, how much room it takes and which setting bounds it. */
export async function examineRoom(runtime: Runtime): Promise<readonly Finding[]> {
  const { values, paths } = runtime.config;
  const kept = [
    {
      what: "results that spilled to files",
      bytes: spilledBytes(join(paths.cache, "spillover")),
      limitMb: values.tool_budget.spill_mb,
      setting: "tool_budget.spill_mb",
    },
  ];
  if (existsSync(paths.stateDb)) {
    const { bytes, waiting } = approvalRoom(await runtime.store());
    kept.push({
      what: `questions and answers (${waiting} waiting)`,
      bytes,
      limitMb: values.approvals.max_mb,
      setting: "approvals.max_mb",
    });
    const changes = await fileChangesOf(runtime)?.rows();
    if (changes !== undefined) {
      kept.push({
        what: "what files held before, for undo",
        bytes: changes.keptBytes(),
        limitMb: values.undo.max_total_mb,
        setting: "undo.max_total_mb",
      });
    }
  }
  return kept.map(({ what, bytes, limitMb, setting }) => ({
    group: "Storage",
    level: "ok",
    what: `${what}: ${sizeText(bytes, "binary")} of ${limitMb} MB (${setting}); the oldest leave first`,
  }));
}
