import { isRecord } from "../../base/record.js";
import { type Entry, isForeign } from "../../registry/entry.js";
import type { CallExplanation } from "../../runtime/session.js";
import { switchTool } from "../../runtime/switch-tool.js";
import { estimateTokens } from "../../search/assemble.js";
import { failure, HermesError } from "../../tool/errors.js";
import { explainIssues } from "../../tool/explain-issues.js";
import { compileValidator } from "../../tool/validate.js";
import { readObject } from "../body.js";
import type { ForetellAnswer, RunAnswer, ToolAnswer, ToolSwitched } from "../dashboard-types.js";
import {
  badRequest,
  isProblem,
  maskedResponse,
  orNotFound,
  type Problem,
  problemResponse,
} from "../problem.js";
import type { Route, RouteContext, ServerServices } from "../route.js";
import { settingsTaken } from "./settings-edit.js";

/** The session of everything that is run from the page. */
export const PAGE_SESSION = "page";

const NAME_PARAMETER = {
  in: "path",
  required: true,
  name: "name",
  description: "Of the tool, in any spelling.",
  schema: { type: "string" },
} as const;

const ARGUMENTS_SCHEMA = {
  type: "object",
  properties: { arguments: { type: "object" } },
  additionalProperties: false,
} as const;

export const toolRoute: Route = {
  method: "GET",
  path: "/v1/tools/:name",
  summary:
    "Everything known of one tool, as `hermes tools info --json`, with what its definition costs a model.",
  query: [NAME_PARAMETER],
  answer: {
    description: "The listing, the schema of its parameters, examples.",
    type: "application/json",
    schema: { type: "object", required: ["tool", "parameters", "definition_tokens", "examples"] },
  },
  problems: ["NotFound"],

  async handle(context, { runtime }) {
    const entry = await entryOf(context, runtime);
    if (isProblem(entry)) return problemResponse(entry);
    const tool = await listingOf(runtime, entry.name);
    // Code that does not load is told by the state of the tool; its examples are not worth an error.
    const examples = (await entry.load().catch(() => undefined))?.examples ?? [];
    const answer: ToolAnswer = {
      tool,
      parameters: entry.parameters,
      output: entry.output,
      definition_tokens: estimateTokens(entry.definition),
      examples: examples.map(({ title, arguments: given, result }) => ({ title, arguments: given, result })),
    };
    return maskedResponse(answer, runtime.redact);
  },
};

export const toolSwitchRoute: Route = {
  method: "POST",
  path: "/v1/tools/:name",
  approves: true,
  summary: "Switches a tool on or off in the person's own configuration, as `hermes tools enable|disable`.",
  query: [NAME_PARAMETER],
  requestSchema: {
    type: "object",
    required: ["enabled"],
    properties: { enabled: { type: "boolean" } },
    additionalProperties: false,
  },
  answer: {
    description: "The tool as it is now.",
    type: "application/json",
    schema: { type: "object", required: ["tool", "changed", "file"] },
  },
  problems: ["BadRequest", "NotFound", "Conflict"],

  async handle(context, { runtime, limits }) {
    const body = await readObject(context, { limits, fields: ["enabled"] });
    if (isProblem(body)) return problemResponse(body);
    const { enabled } = body.given;
    if (typeof enabled !== "boolean")
      return problemResponse(badRequest(failure("bad_request", "enabled must be true or false")));
    const entry = await entryOf(context, runtime);
    if (isProblem(entry)) return problemResponse(entry);
    const { name } = entry;
    const done = await settingsTaken(runtime, (home) => switchTool({ home, name, on: enabled }));
    if (isProblem(done)) return problemResponse(done);
    const answer: ToolSwitched = {
      tool: await listingOf(runtime, name),
      changed: done.changed,
      file: done.file,
    };
    return maskedResponse(answer, runtime.redact);
  },
};

export const foretellRoute: Route = {
  method: "POST",
  path: "/v1/tools/:name/foretell",
  summary: "What would be decided about a call, and what it would touch. Nothing is run, nobody is asked.",
  query: [NAME_PARAMETER],
  requestSchema: ARGUMENTS_SCHEMA,
  answer: {
    description: "`invalid` when the arguments do not fit; `errors` says where.",
    type: "application/json",
    schema: { type: "object", required: ["decision", "reason", "rule", "effects", "errors"] },
  },
  problems: ["BadRequest", "NotFound"],

  async handle(context, services) {
    const asked = await requestOf(context, services);
    if (isProblem(asked)) return problemResponse(asked);
    const { entry, given } = asked;
    const { sessions, auth, runtime } = services;
    const { value } = await sessions.use(pageClient(context, auth), (session) =>
      session.explainCall({ name: entry.name, arguments: given }),
    );
    return maskedResponse(foretold(value, { entry, given }), runtime.redact);
  },
};

export const runRoute: Route = {
  method: "POST",
  path: "/v1/tools/:name/run",
  summary: "One call in the session of the page, judged like any other.",
  query: [NAME_PARAMETER],
  requestSchema: ARGUMENTS_SCHEMA,
  answer: {
    description: "The result of the call, also of one that failed.",
    type: "application/json",
    schema: { type: "object", required: ["result"] },
  },
  problems: ["BadRequest", "NotFound"],

  async handle(context, services) {
    const asked = await requestOf(context, services);
    if (isProblem(asked)) return problemResponse(asked);
    return runFromPage(context, services, { name: asked.entry.name, arguments: asked.given });
  },
};

/** Walks the whole path; leaving the page ends the call. */
export async function runFromPage(
  context: RouteContext,
  { sessions, running, auth, runtime }: ServerServices,
  request: { readonly name: string; readonly arguments: unknown },
): Promise<Response> {
  const { value } = await running.run(context.req.raw.signal, (signal) =>
    sessions.use(pageClient(context, auth), (session) => session.call(request, { signal })),
  );
  const answer: RunAnswer = { result: value };
  return maskedResponse(answer, runtime.redact);
}

export function pageClient(context: RouteContext, auth: ServerServices["auth"]) {
  return { principal: auth.principalOf(context.env.incoming.headers), name: PAGE_SESSION };
}

function foretold(
  explained: CallExplanation,
  { entry, given }: { readonly entry: Entry; readonly given: Readonly<Record<string, unknown>> },
): ForetellAnswer {
  const { error, decision, effects } = explained;
  if (error?.code === "invalid_arguments") {
    const errors = issuesOf(entry, given);
    return { decision: "invalid", reason: error.message, rule: "", effects, errors };
  }
  return {
    decision: decision?.verdict ?? "deny",
    reason: decision?.reason ?? error?.message ?? "",
    rule: decision?.rule ?? error?.code ?? "",
    effects,
    errors: [],
  };
}

/** Where the arguments do not fit, for the form; a rule of the tool's own is in the reason alone. */
function issuesOf(entry: Entry, given: Readonly<Record<string, unknown>>): ForetellAnswer["errors"] {
  const validator = compileValidator(entry.parameters, { foreign: isForeign(entry.provenance) });
  return validator
    .issues(given)
    .map((issue) => ({ path: issue.path, message: explainIssues([issue], given) }))
    .filter(({ message }) => message !== "");
}

async function requestOf(
  context: RouteContext,
  { runtime, limits }: ServerServices,
): Promise<{ readonly entry: Entry; readonly given: Readonly<Record<string, unknown>> } | Problem> {
  const body = await readObject(context, { limits, fields: ["arguments"], maxBytes: limits.bodyBytes });
  if (isProblem(body)) return body;
  const { arguments: given = {} } = body.given;
  if (!isRecord(given)) return badRequest(failure("bad_request", "arguments must be an object"));
  const entry = await entryOf(context, runtime);
  return isProblem(entry) ? entry : { entry, given };
}

function entryOf(context: RouteContext, runtime: ServerServices["runtime"]): Promise<Entry | Problem> {
  return orNotFound(() => {
    const name = runtime.canonicalName(context.req.param("name") ?? "");
    const entry = runtime.registry.get(name);
    if (entry === undefined) throw new HermesError(failure("not_found", `${name} is no longer there`));
    return entry;
  });
}

async function listingOf(runtime: ServerServices["runtime"], name: string) {
  const listing = (await runtime.listTools()).find((tool) => tool.name === name);
  if (listing === undefined) throw new HermesError(failure("not_found", `${name} is no longer there`));
  return listing;
}
