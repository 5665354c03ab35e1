import type { ProcessInfo, TrackedProcess } from "../env/processes/types.js";
import { failure } from "../tool/errors.js";
import { readObject } from "./body.js";
import type { ProcessAnswer } from "./dashboard-types.js";
import { badRequest, isProblem, jsonResponse, type Problem, problemResponse } from "./problem.js";
import { numberFrom } from "./query.js";
import type { Route, ServerServices } from "./route.js";

const PROCESS_SCHEMA = {
  type: "object",
  required: ["id", "status", "command", "environment", "session", "started_at"],
  properties: {
    id: { type: "string" },
    status: { type: "string", enum: ["running", "exited", "lost"] },
    command: { type: "string" },
    cwd: { type: "string" },
    environment: { type: "string" },
    session: { type: "string" },
    pid: { type: ["integer", "null"] },
    pty: { type: "boolean" },
    exit_code: { type: ["integer", "null"], description: "-15 when it was killed on request." },
    lost: { type: ["string", "null"], description: "Why nobody knows how it ended." },
    handed_off: { type: "boolean" },
    output_bytes: { type: "integer" },
    started_at: { type: "integer", description: "Milliseconds since 1970." },
    ended_at: { type: ["integer", "null"] },
  },
};

const ID_PARAMETER = { name: "id", description: "Of the process.", schema: { type: "string" } };

export const processesRoute: Route = {
  method: "GET",
  path: "/v1/processes",
  summary: "Background processes of every session of this server, or the one that is named, secrets masked.",
  query: [ID_PARAMETER],
  answer: {
    description: "Oldest first.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["processes"],
      properties: { processes: { type: "array", items: PROCESS_SCHEMA } },
    },
  },
  problems: ["NotFound"],

  handle(context, { runtime }) {
    const id = context.req.query("id");
    if (id === undefined) return jsonResponse({ processes: runtime.processes.list().map(publicProcess) });
    const found = runtime.processes.find(id);
    return found === undefined
      ? problemResponse(unknown(id))
      : jsonResponse({ processes: [publicProcess(found.info)] });
  },
};

export const processLogRoute: Route = {
  method: "GET",
  path: "/v1/processes/log",
  summary: "Lines of what a background process has printed, without escape codes, secrets masked.",
  query: [
    ID_PARAMETER,
    {
      name: "offset",
      description: "First line, counted from 0; the last lines when left out.",
      schema: { type: "integer", minimum: 0 },
    },
    {
      name: "limit",
      description: "How many lines.",
      schema: { type: "integer", minimum: 1, maximum: 5000, default: 200 },
    },
  ],
  answer: {
    description: "Of what is kept: the last 200,000 characters.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["id", "status", "lines", "total", "dropped"],
      properties: {
        id: { type: "string" },
        status: { type: "string" },
        lines: { type: "array", items: { type: "string" } },
        total: { type: "integer" },
        dropped: { type: "boolean", description: "Earlier output is no longer kept." },
      },
    },
  },
  problems: ["NotFound"],

  handle(context, { runtime }) {
    const found = named(context.req.query("id"), runtime);
    if (isProblem(found)) return problemResponse(found);
    const limit = Math.trunc(numberFrom(context, { name: "limit", fallback: 200, min: 1, max: 5_000 }));
    const offset =
      context.req.query("offset") === undefined
        ? {}
        : { offset: Math.trunc(numberFrom(context, { name: "offset", fallback: 0, min: 0, max: 1e9 })) };
    const { lines, total, dropped } = found.lines({ limit, ...offset });
    const { id, status } = found.info;
    return jsonResponse({
      id,
      status,
      lines: runtime.redact(lines.join("\n")).split("\n"),
      total,
      dropped,
    });
  },
};

export const processInputRoute: Route = {
  method: "POST",
  path: "/v1/processes/input",
  summary:
    "Types into a background process of this API's own sessions. It is a call of the tool `process`, judged " +
    "like any other.",
  requestSchema: {
    type: "object",
    required: ["id", "data"],
    properties: {
      id: { type: "string" },
      data: { type: "string" },
      submit: { type: "boolean", description: "Add a new line.", default: false },
    },
    additionalProperties: false,
  },
  answer: { description: "The result of the call.", type: "application/json", schema: { type: "object" } },
  problems: ["BadRequest"],

  async handle(context, { runtime, sessions, limits, running, auth }) {
    const body = await readObject(context, { limits, fields: ["id", "data", "submit"] });
    if (isProblem(body)) return problemResponse(body);
    const { id, data, submit = false } = body.given;
    if (typeof id !== "string" || typeof data !== "string" || typeof submit !== "boolean") {
      return problemResponse(wrongBody('Send {"id", "data"} and, if wanted, "submit".'));
    }
    const principal = auth.principalOf(context.env.incoming.headers);
    const owner = runtime.processes.find(id)?.info.session;
    const name = owner === undefined ? undefined : sessions.nameOf(owner, principal);
    const action = submit ? "submit" : "write";
    const { value } = await running.run(context.req.raw.signal, (signal) =>
      sessions.use({ principal, name }, (session) =>
        session.call({ name: "process", arguments: { action, session_id: id, data } }, { signal }),
      ),
    );
    return jsonResponse(value);
  },
};

export const processKillRoute: Route = {
  method: "POST",
  path: "/v1/processes/kill",
  approves: true,
  summary:
    "Ends a background process of any session of this server, with everything it started. Needs the server's " +
    "own token.",
  requestSchema: {
    type: "object",
    required: ["id"],
    properties: { id: { type: "string" } },
    additionalProperties: false,
  },
  answer: {
    description: "How it stands, and what could not be ended.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["process", "survivors"],
      properties: { process: PROCESS_SCHEMA, survivors: { type: "array", items: { type: "object" } } },
    },
  },
  problems: ["BadRequest", "NotFound"],

  async handle(context, { runtime, limits }) {
    const body = await readObject(context, { limits, fields: ["id"] });
    if (isProblem(body)) return problemResponse(body);
    const { id } = body.given;
    if (typeof id !== "string") return problemResponse(wrongBody('Send {"id"}.'));
    const found = named(id, runtime);
    if (isProblem(found)) return problemResponse(found);
    const survivors = await found.kill();
    if (survivors.length === 0) await found.ended;
    return jsonResponse({ process: publicProcess(found.info), survivors });
  },
};

export function publicProcess(info: ProcessInfo): ProcessAnswer {
  return {
    id: info.id,
    status: info.status,
    command: info.command,
    cwd: info.cwd,
    environment: info.environment,
    session: info.session,
    pid: info.pid ?? null,
    pty: info.pty,
    exit_code: info.exitCode ?? null,
    lost: info.lost ?? null,
    handed_off: info.handedOff,
    output_bytes: info.outputBytes,
    started_at: info.startedAt,
    ended_at: info.endedAt ?? null,
  };
}

function named(id: string | undefined, runtime: ServerServices["runtime"]): TrackedProcess | Problem {
  if (id === undefined) return wrongBody("Name the process with ?id=.");
  return runtime.processes.find(id) ?? unknown(id);
}

function unknown(id: string): Problem {
  return {
    status: 404,
    code: "not_found",
    message: `There is no background process ${JSON.stringify(id.slice(0, 80))} in this server.`,
    hint: "GET /v1/processes lists them.",
  };
}

function wrongBody(hint: string): Problem {
  return badRequest(failure("bad_request", "The request does not say what it is about", hint));
}
