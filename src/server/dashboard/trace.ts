import type { TraceStep } from "../../policy/profiles/types.js";
import type { TraceLine } from "../dashboard-types.js";

export function plainTrace({ at, ...step }: TraceStep): TraceLine {
  return { ...step, file: at?.file, line: at?.line };
}
