import { hermesPaths } from "../../config/paths.js";
import { listGrants, revokeGrant } from "../../policy/grants/config-grants.js";
import { grantRow } from "../../policy/grants/grant-row.js";
import type { GrantRevoked, GrantsAnswer } from "../dashboard-types.js";
import { maskedResponse, problemResponse } from "../problem.js";
import type { Route } from "../route.js";
import { heldProblem, takeUp } from "./settings-edit.js";

export const grantsRoute: Route = {
  method: "GET",
  path: "/v1/permissions/grants",
  summary:
    "What was approved for good: what each grant covers, where, since when, and how often it was used.",
  answer: {
    description: "As `hermes approvals grants --json`, newest last.",
    type: "application/json",
    schema: { type: "object", required: ["grants", "problems"] },
  },

  async handle(_context, { runtime }) {
    const problems: string[] = [];
    // Another process may have written one since this one has read its settings.
    const grants = listGrants(await runtime.readConfig(), { onTrouble: (message) => problems.push(message) });
    const answer: GrantsAnswer = { grants: grants.map(grantRow), problems };
    return maskedResponse(answer, runtime.redact);
  },
};

export const revokeGrantRoute: Route = {
  method: "DELETE",
  path: "/v1/permissions/grants/:id",
  approves: true,
  summary: "Takes a grant back, as `hermes approvals revoke`; whoever runs stops using it too.",
  query: [
    { name: "id", in: "path", required: true, description: "Of the grant.", schema: { type: "string" } },
  ],
  answer: {
    description: "Where it stood.",
    type: "application/json",
    schema: { type: "object", required: ["revoked", "file"] },
  },
  problems: ["BadRequest", "NotFound", "Conflict"],

  async handle(context, { runtime }) {
    const id = context.req.param("id") ?? "";
    const held = await heldProblem(runtime, hermesPaths(runtime.config.paths.home).config);
    if (held !== undefined) return problemResponse(held);
    const done = await revokeGrant(await runtime.readConfig(), id);
    if (!done.ok) {
      const { code, message, hint } = done;
      return problemResponse({ status: code === "not_found" ? 404 : 400, code, message, hint });
    }
    await takeUp(runtime);
    const answer: GrantRevoked = { revoked: id, file: done.file };
    return maskedResponse(answer, runtime.redact);
  },
};
