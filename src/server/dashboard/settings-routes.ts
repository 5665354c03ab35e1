import { isRecord } from "../../base/record.js";
import { setConfigValue } from "../../config/edit.js";
import { getConfigValue } from "../../config/get-value.js";
import { CONFIG_KEYS, type ConfigKey, findKey, resolveKey, type ValueType } from "../../config/schema.js";
import type { LoadedConfig, Origin } from "../../config/types.js";
import { failure, HermesError } from "../../tool/errors.js";
import { readObject } from "../body.js";
import type { Setting, SettingChanged, SettingsAnswer } from "../dashboard-types.js";
import { badRequest, isProblem, maskedResponse, problemResponse } from "../problem.js";
import type { Route } from "../route.js";
import { settingsTaken } from "./settings-edit.js";

const HIDDEN = "********";
/** Inside maps, where no key says what is secret. A name of a variable (`${TOKEN}`) may be shown. */
const SECRET_NAME = /token|secret|passw|key|auth|cookie|credential/i;
const SECRET_SECTIONS = new Set(["env", "headers"]);

export const settingsRoute: Route = {
  method: "GET",
  path: "/v1/settings",
  summary:
    "Every setting: its value in force, where that comes from, what it means and takes. No secret is shown.",
  answer: {
    description: "In the order of the documentation.",
    type: "application/json",
    schema: { type: "array" },
  },

  handle(_context, { runtime }) {
    const answer: SettingsAnswer = (CONFIG_KEYS as readonly ConfigKey[]).map((key) =>
      settingOf(key, runtime.config),
    );
    return maskedResponse(answer, runtime.redact);
  },
};

export const settingChangeRoute: Route = {
  method: "POST",
  path: "/v1/settings",
  approves: true,
  summary:
    "Changes a setting in the person's own configuration, as `hermes config set`, and puts it into force. Sessions " +
    "that are open keep their rules, and get what is stricter in the new ones.",
  requestSchema: {
    type: "object",
    required: ["key", "value"],
    properties: {
      key: {
        type: "string",
        description: "`approvals.mode`, or an entry of a map: `tool_settings.terminal.x`.",
      },
      value: { description: "As its schema says; a text is read as on the command line." },
    },
    additionalProperties: false,
  },
  answer: {
    description: "The setting as it is now; `note` says why another value is in force all the same.",
    type: "application/json",
    schema: { type: "object", required: ["setting", "changed", "file"] },
  },
  problems: ["BadRequest", "NotFound", "Conflict"],

  async handle(context, { runtime, limits }) {
    const body = await readObject(context, { limits, fields: ["key", "value"] });
    if (isProblem(body)) return problemResponse(body);
    const { key, value } = body.given;
    if (typeof key !== "string" || value === undefined)
      return problemResponse(badRequest(failure("bad_request", "key and value must be given")));
    if (JSON.stringify(value).includes(HIDDEN)) {
      const hint = "Change the entry alone, or edit the file.";
      return problemResponse(
        badRequest(failure("invalid_arguments", "The value holds a masked secret", hint)),
      );
    }
    const known = resolveKey(key)?.key;
    // Names of variables are taken on the command line; the page shows settings, and changes those.
    if (known === undefined)
      return problemResponse({
        status: 404,
        code: "not_found",
        message: `There is no setting ${key.slice(0, 80)}.`,
        hint: "GET /v1/settings lists them.",
      });
    const done = await settingsTaken(runtime, (home) => setConfigValue({ home, key, value }));
    if (isProblem(done)) return problemResponse(done);
    const setting = settingOf(known, runtime.config);
    const answer: SettingChanged = {
      setting,
      changed: done.changed,
      file: done.file,
      note: overruledBy(setting.origin),
    };
    return maskedResponse(answer, runtime.redact);
  },
};

function settingOf(key: ConfigKey, config: LoadedConfig): Setting {
  const found = getConfigValue(config, key.path);
  if (!found.ok) throw new HermesError(found);
  const common = {
    key: key.path,
    default: key.secret === true ? null : key.default,
    origin: found.origin,
    description: key.about,
    schema: schemaOf(key.type),
  };
  if (found.secret) return { ...common, value: null, secret: true, set: found.value !== "" };
  return { ...common, value: key.type.kind === "map" ? hidden(found.value, false) : found.value };
}

function hidden(value: unknown, isSecret: boolean): unknown {
  if (typeof value === "string")
    return isSecret && !/^\$\{\w+\}$/.test(value) && value !== "" ? HIDDEN : value;
  if (Array.isArray(value)) return value.map((item) => hidden(item, isSecret));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      hidden(inner, isSecret || SECRET_SECTIONS.has(name) || SECRET_NAME.test(name)),
    ]),
  );
}

const OVERRULING: ReadonlySet<Origin["source"]> = new Set(["dotenv", "env", "flag", "managed"]);

function overruledBy(origin: Origin): string | undefined {
  if (!OVERRULING.has(origin.source)) return undefined;
  const by = origin.name ?? origin.file ?? origin.source;
  return findKey(by) === undefined ? `${by} sets it too, and counts more.` : undefined;
}

/** What a form needs to know of a value. */
function schemaOf(type: ValueType): Readonly<Record<string, unknown>> {
  switch (type.kind) {
    case "boolean":
      return { type: "boolean" };
    case "enum":
      return { type: "string", enum: type.values };
    case "integer":
    case "number":
      return { type: type.kind, minimum: type.min, maximum: type.max };
    case "string":
      return type.like === undefined
        ? { type: "string" }
        : { type: "string", pattern: type.like.pattern.source };
    case "list":
      return { type: "array", items: { type: "string" } };
    case "grants":
      return { type: "array", items: { type: ["string", "object"] } };
    case "map":
      return { type: "object", additionalProperties: ENTRY_SCHEMAS[type.of] };
  }
}

const ENTRY_SCHEMAS = {
  list: { type: "array", items: { type: "string" } },
  integer: { type: "integer" },
  toolset: { type: "object" },
  mcp_server: { type: "object" },
  anything: {},
} as const;
