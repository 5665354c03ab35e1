import { isRecord } from "../../base/record.js";
import { formatProblem } from "../../config/types.js";
import { loadPermissions } from "../../policy/profiles/load.js";
import { profileRow } from "../../policy/profiles/profile-row.js";
import type { Level, ListedRule, Profile, Restriction } from "../../policy/profiles/types.js";
import { explainDecision } from "../../runtime/explain.js";
import { acceptProposal, proposeProfile } from "../../runtime/propose.js";
import { simulateProfile } from "../../runtime/simulate.js";
import { failure } from "../../tool/errors.js";
import { readObject } from "../body.js";
import type {
  ExplainAnswer,
  PermissionsAnswer,
  ProposalAccepted,
  ProposalAnswer,
  SimulateAnswer,
} from "../dashboard-types.js";
import { badRequest, isProblem, maskedResponse, orNotFound, problemResponse } from "../problem.js";
import type { Route } from "../route.js";
import { heldProblem, takeUp } from "./settings-edit.js";
import { plainTrace } from "./trace.js";

const MOST_RULES = 2_000;
const MOST_DAYS = 3_650;

export const permissionsRoute: Route = {
  method: "GET",
  path: "/v1/permissions",
  summary: "Every profile, which one is in force, and its rules with where each is written.",
  answer: {
    description: "As `hermes permissions list --json`, with the rules of the profile in force.",
    type: "application/json",
    schema: { type: "object", required: ["profiles", "current", "rules", "problems"] },
  },

  async handle(_context, { runtime }) {
    const { paths, project, systemDir, values } = runtime.config;
    const table = await loadPermissions({ home: paths.home, project, systemDir });
    const current = values.permissions.profile;
    const active = table.profiles.find(({ name }) => name === current);
    const answer: PermissionsAnswer = {
      profiles: table.profiles.map((profile) => profileRow(profile, current)),
      current,
      rules: active === undefined ? [] : rulesOf(active).slice(0, MOST_RULES),
      problems: table.problems.map(formatProblem),
    };
    return maskedResponse(answer, runtime.redact);
  },
};

type Rules = PermissionsAnswer["rules"];

function rulesOf(profile: Profile): Rules {
  return profile.levels.flatMap((level) => [
    ...listed(level, "allow", level.allow),
    ...listed(level, "deny", level.deny),
    ...listed(level, "approval_required", level.ask),
    ...level.restrictions.flatMap((restriction) => limits(level, restriction)),
    ...level.tools.map(({ tool, answer, reason, origin }) => ({
      level: level.name,
      list: `tools.${answer ?? "parameters"}`,
      text: tool,
      reason,
      ...origin,
    })),
  ]);
}

function listed(level: Level, list: string, rules: readonly ListedRule[] = []): Rules {
  return rules.map(({ text, reason, origin }) => ({ level: level.name, list, text, reason, ...origin }));
}

const LIMITS = [
  "allowed_paths",
  "denied_paths",
  "allowed_commands",
  "denied_commands",
  "allowed_hosts",
  "denied_hosts",
  "allowed_methods",
  "environments",
] as const satisfies readonly (keyof Restriction)[];

function limits(level: Level, restriction: Restriction): Rules {
  const about = (list: string) => `${restriction.permission} ${list}`;
  const { max_bytes: bytes } = restriction;
  return [
    ...LIMITS.flatMap((list) => listed(level, about(list), restriction[list])),
    ...(bytes === undefined
      ? []
      : [{ level: level.name, list: about("max_bytes"), text: String(bytes.value), ...bytes.origin }]),
  ];
}

export const explainRoute: Route = {
  method: "POST",
  path: "/v1/permissions/explain",
  summary:
    "What would be decided about a call, rule by rule, as `hermes permissions explain`. Nothing is run, nobody is asked.",
  requestSchema: {
    type: "object",
    required: ["tool"],
    properties: {
      tool: { type: "string" },
      arguments: { type: "object" },
      profile: { type: "string", description: "Another one than that in force." },
    },
    additionalProperties: false,
  },
  answer: {
    description: "The verdict, and every rule that was looked at.",
    type: "application/json",
    schema: { type: "object", required: ["name", "profile", "verdict", "rule", "effects", "trace"] },
  },
  problems: ["BadRequest", "NotFound"],

  async handle(context, { runtime, limits: most }) {
    const body = await readObject(context, { limits: most, fields: ["tool", "arguments", "profile"] });
    if (isProblem(body)) return problemResponse(body);
    const { tool, arguments: given = {}, profile } = body.given;
    if (
      typeof tool !== "string" ||
      !isRecord(given) ||
      !(profile === undefined || typeof profile === "string")
    )
      return problemResponse(
        badRequest(failure("bad_request", "tool and profile must be texts, arguments an object")),
      );
    const session = await orNotFound(() => runtime.openSession({ door: "http", profile }));
    if (isProblem(session)) return problemResponse(session);
    try {
      const explained = await explainDecision(session, { name: tool, arguments: given });
      if ("code" in explained) {
        const { code, message, hint } = explained;
        return problemResponse({ status: code === "not_found" ? 404 : 400, code, message, hint });
      }
      const answer: ExplainAnswer = { ...explained, trace: explained.trace.map(plainTrace) };
      return maskedResponse(answer, runtime.redact);
    } finally {
      session.close();
    }
  },
};

export const simulateRoute: Route = {
  method: "POST",
  path: "/v1/permissions/simulate",
  summary: "What another profile would have done with the recorded calls, as `hermes permissions simulate`.",
  requestSchema: {
    type: "object",
    required: ["profile"],
    properties: {
      profile: { type: "string" },
      days: { type: "number", exclusiveMinimum: 0, maximum: MOST_DAYS, default: 30 },
    },
    additionalProperties: false,
  },
  answer: {
    description: "Calls that would end differently, by reason, and rules that no call met.",
    type: "application/json",
    schema: { type: "object", required: ["profile", "days", "calls", "unchanged"] },
  },
  problems: ["BadRequest", "NotFound"],

  async handle(context, { runtime, limits: most }) {
    const body = await readObject(context, { limits: most, fields: ["profile", "days"] });
    if (isProblem(body)) return problemResponse(body);
    const { profile, days = 30 } = body.given;
    if (typeof profile !== "string" || !isDays(days))
      return problemResponse(
        badRequest(failure("bad_request", "profile must be a text, days a number above 0")),
      );
    const simulated = await orNotFound(() => simulateProfile(runtime, { profile, days }));
    if (isProblem(simulated)) return problemResponse(simulated);
    const answer: SimulateAnswer = { days, ...simulated };
    return maskedResponse(answer, runtime.redact);
  },
};

export const proposeRoute: Route = {
  method: "POST",
  path: "/v1/permissions/propose",
  summary:
    "The narrowest profile that still allows what recorded calls used, as `hermes permissions propose`. Nothing is written.",
  requestSchema: {
    type: "object",
    properties: {
      name: { type: "string", default: "as_used" },
      days: { type: "number", exclusiveMinimum: 0, maximum: MOST_DAYS, default: 30 },
    },
    additionalProperties: false,
  },
  answer: {
    description: "`yaml` is a whole file of permissions; `covered` of `calls` stay as they were.",
    type: "application/json",
    schema: { type: "object", required: ["name", "yaml", "calls", "covered", "never_used"] },
  },
  problems: ["BadRequest"],

  async handle(context, { runtime, limits: most }) {
    const body = await readObject(context, { limits: most, fields: ["name", "days"] });
    if (isProblem(body)) return problemResponse(body);
    const { name = "as_used", days = 30 } = body.given;
    if (typeof name !== "string" || !isDays(days))
      return problemResponse(
        badRequest(failure("bad_request", "name must be a text, days a number above 0")),
      );
    const answer: ProposalAnswer = { days, ...(await proposeProfile(runtime, { name, days })) };
    return maskedResponse(answer, runtime.redact);
  },
};

export const acceptProposalRoute: Route = {
  method: "POST",
  path: "/v1/permissions/accept",
  approves: true,
  summary: "Writes a proposal into the permissions of the home. To work under it, set `permissions.profile`.",
  requestSchema: {
    type: "object",
    required: ["name", "yaml"],
    properties: {
      name: { type: "string" },
      yaml: { type: "string", description: "As the proposal showed it." },
    },
    additionalProperties: false,
  },
  answer: {
    description: "Where it was written.",
    type: "application/json",
    schema: { type: "object", required: ["name", "file", "changed"] },
  },
  problems: ["BadRequest", "Conflict"],

  async handle(context, { runtime, limits: most }) {
    const body = await readObject(context, { limits: most, fields: ["name", "yaml"] });
    if (isProblem(body)) return problemResponse(body);
    const { name, yaml } = body.given;
    if (typeof name !== "string" || typeof yaml !== "string")
      return problemResponse(badRequest(failure("bad_request", "name and yaml must be texts")));
    const held = await heldProblem(runtime, runtime.config.paths.permissions);
    if (held !== undefined) return problemResponse(held);
    const { file, changed } = await acceptProposal(runtime, { name, yaml });
    await takeUp(runtime);
    const answer: ProposalAccepted = { name, file, changed };
    return maskedResponse(answer, runtime.redact);
  },
};

function isDays(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= MOST_DAYS;
}
