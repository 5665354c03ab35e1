import type { LoadedConfig } from "../../config/types.js";
import { isRoute, resolveRoute, routeName } from "../../model/route.js";
import { examineBoundary, type Finding } from "../../runtime/doctor.js";
import { VERSION } from "../../version.js";
import type { InfoAnswer } from "../dashboard-types.js";
import { maskedResponse } from "../problem.js";
import type { Route } from "../route.js";

const STARTED_AT = Date.now();

/** Looking whether a sandbox works starts a program; the answer holds as long as the settings do. */
const boundaries = new WeakMap<LoadedConfig, Promise<Finding>>();

export const infoRoute: Route = {
  method: "GET",
  path: "/v1/info",
  summary: "What the frame of the page shows: version, tools, model, what holds commands back.",
  answer: {
    description: "`keys.answers` tells whether this very request could also approve and change.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["version", "home", "tools", "journal", "mode", "boundary", "started_at", "keys"],
    },
  },

  async handle(context, { runtime, auth }) {
    const { config } = runtime;
    const [tools, journal, boundary, model] = await Promise.all([
      runtime.listTools(),
      runtime.journal(),
      boundaryOf(config),
      modelOf(config),
    ]);
    const on = tools.filter(({ enabled }) => enabled);
    const ready = on.filter(({ available }) => available).length;
    const answer: InfoAnswer = {
      version: VERSION,
      home: config.paths.home,
      cwd: runtime.cwd,
      tools: { ready, need_setup: on.length - ready, off: tools.length - on.length },
      journal: journal.enabled,
      mode: config.values.approvals.mode,
      profile: config.values.permissions.profile,
      model,
      boundary,
      started_at: STARTED_AT,
      keys: { answers: auth.mayApprove(context.env.incoming.headers) },
    };
    return maskedResponse(answer, runtime.redact);
  },
};

async function boundaryOf(config: LoadedConfig): Promise<InfoAnswer["boundary"]> {
  const { env } = config.values.terminal;
  if (env !== "local") return { ok: true, what: `commands run in ${env}` };
  const known = boundaries.get(config) ?? examineBoundary(config);
  boundaries.set(config, known);
  const { level, what, fix } = await known;
  return { ok: level === "ok", what, fix };
}

async function modelOf(config: LoadedConfig): Promise<string | undefined> {
  const route = await resolveRoute(config, {});
  return isRoute(route) ? routeName(route) : undefined;
}
