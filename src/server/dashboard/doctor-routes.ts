import type { Finding } from "../../runtime/doctor.js";
import { SETUP_COMMAND } from "../../runtime/packages/find.js";
import { installMissing, repairHome } from "../../runtime/repair.js";
import type { Runtime } from "../../runtime/runtime.js";
import { failure } from "../../tool/errors.js";
import { readObject } from "../body.js";
import type { DoctorAnswer, DoctorFinding, DoctorFixed } from "../dashboard-types.js";
import { badRequest, isProblem, maskedResponse, problemResponse } from "../problem.js";
import type { Route } from "../route.js";

/** What the program can do itself, as `hermes doctor --fix`: never a command that a finding names. */
const FIXES = ["home", "packages"] as const;

const SCHEMA = {
  type: "object",
  required: ["ok", "findings"],
  properties: { ok: { type: "boolean" }, findings: { type: "array", items: { type: "object" } } },
} as const;

export const doctorRoute: Route = {
  method: "GET",
  path: "/v1/doctor",
  summary: "What could keep tools from running and what would help, as `hermes doctor --json`.",
  answer: {
    description: "`fix_id` names what POST /v1/doctor/fix can mend.",
    type: "application/json",
    schema: SCHEMA,
  },
  handle: async (_context, { runtime }) => maskedResponse(await examined(runtime), runtime.redact),
};

export const doctorFixRoute: Route = {
  method: "POST",
  path: "/v1/doctor/fix",
  approves: true,
  summary: "Mends what can be mended without asking, as `hermes doctor --fix`, and looks again.",
  requestSchema: {
    type: "object",
    required: ["fix"],
    properties: {
      fix: {
        enum: FIXES,
        description: "`home`: who may read the Hermes home. `packages`: what tools lack is fetched.",
      },
    },
    additionalProperties: false,
  },
  answer: { description: "What was done, and how things are now.", type: "application/json", schema: SCHEMA },
  problems: ["BadRequest"],

  async handle(context, { runtime, limits }) {
    const body = await readObject(context, { limits, fields: ["fix"] });
    if (isProblem(body)) return problemResponse(body);
    const fix = FIXES.find((known) => known === body.given.fix);
    if (fix === undefined)
      return problemResponse(badRequest(failure("bad_request", `fix must be one of ${FIXES.join(", ")}`)));
    const { home } = runtime.config.paths;
    const mended =
      fix === "home" ? repairHome(home) : await installMissing(home, (text) => runtime.log.info(text));
    if (fix === "packages") await runtime.invalidate();
    const answer: DoctorFixed = { ...(await examined(runtime)), mended };
    return maskedResponse(answer, runtime.redact);
  },
};

async function examined(runtime: Runtime): Promise<DoctorAnswer> {
  const { examineAll } = await import("../../agent/sessions/doctor.js");
  const findings = await examineAll(runtime);
  return { ok: !findings.some(({ level }) => level === "error"), findings: findings.map(withFix) };
}

function withFix(finding: Finding): DoctorFinding {
  if (finding.fix === SETUP_COMMAND) return { ...finding, fix_id: "packages" };
  return finding.group === "Runtime" && finding.what.startsWith("home ") && finding.level !== "ok"
    ? { ...finding, fix_id: "home" }
    : finding;
}
