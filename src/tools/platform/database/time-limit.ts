import { ToolError } from "../../../tool/errors.js";
import type { QueryJob } from "./query-job.js";

export function tooLate({ timeoutMs }: Pick<QueryJob, "timeoutMs">): ToolError {
  return new ToolError(`The query was stopped after ${timeoutMs / 1000} s.`, {
    code: "timeout",
    hint: "Narrow it down (a condition, a limit, an index; explain: true shows the plan), or raise timeout.",
  });
}
