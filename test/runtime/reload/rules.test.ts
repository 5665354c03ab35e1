import { rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type ApprovalRequest, defineTool } from "../../../src/index.js";
import type { Session } from "../../../src/runtime/session.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { applied, failed, until, type WatchedRuntime, watchedRuntime } from "./support.js";

const peek = defineTool({
  name: "peek",
  toolset: "looking",
  description: "pretends to read a file",
  parameters: { type: "object", properties: {} },
  permissions: ["file:read"],
  effects: (_args, { cwd }) => [{ action: "file:read", resource: `${cwd}/a`, mode: "read" }],
  handler: () => "seen",
}) as AnyTool;

async function withTool(
  files: Readonly<Record<string, string>>,
  options: Parameters<typeof watchedRuntime>[1] = {},
): Promise<WatchedRuntime> {
  const made = await watchedRuntime(files, options);
  made.registry.add(peek);
  return made;
}

async function outcome(session: Session): Promise<string> {
  const result = await session.call({ name: "peek", arguments: {} });
  return result.ok ? "ok" : (result.error?.code ?? "?");
}

/** Whether a call passes when a person, who says no, may be asked. */
function asking(): {
  asked: ApprovalRequest[];
  approver: { ask(request: ApprovalRequest): Promise<"deny"> };
} {
  const asked: ApprovalRequest[] = [];
  const approver = {
    async ask(request: ApprovalRequest): Promise<"deny"> {
      asked.push(request);
      return "deny";
    },
  };
  return { asked, approver };
}

const DENY = "global:\n  deny: [file:read]\n";
const ASK = "global:\n  approval_required: [file:read]\n";

async function settings(made: WatchedRuntime, path: string, text: string): Promise<void> {
  const before = applied(made).length + failed(made).length;
  made.replace(path, text);
  await until(() => applied(made).length + failed(made).length > before);
}

describe("rules that change while sessions are open", () => {
  it("a denial holds from the next call on, and is lifted for sessions that are opened later", async () => {
    const made = await withTool({});
    const open = await made.runtime.openSession();
    expect(await outcome(open)).toBe("ok");
    await settings(made, "hermes_permissions.yaml", DENY);
    expect(await outcome(open)).toBe("denied");
    const strict = await made.runtime.openSession();
    expect(await outcome(strict)).toBe("denied");
    rmSync(join(made.home, "hermes_permissions.yaml"));
    await until(() => applied(made).length === 2);
    // Opened without the rule: it is free again. Opened under it: it stays under it.
    expect(await outcome(open)).toBe("ok");
    expect(await outcome(strict)).toBe("denied");
    expect(await outcome(await made.runtime.openSession())).toBe("ok");
  });

  it("a question that was added is asked, and also children are held to it", async () => {
    const made = await withTool({});
    const { asked, approver } = asking();
    const open = await made.runtime.openSession({ approver });
    const child = open.openChild();
    await settings(made, "hermes_permissions.yaml", ASK);
    expect([await outcome(open), await outcome(child)]).toEqual(["denied", "denied"]);
    expect(asked).toHaveLength(2);
    const explained = await open.explainCall({ name: "peek", arguments: {} });
    expect(explained.decision?.verdict).toBe("ask");
  });

  it("a stricter profile for everybody counts at once, unless a session was given one of its own", async () => {
    const profiles = "profiles:\n  blind:\n    allow: ['*']\n    deny: [file:read]\n";
    const made = await withTool({ "hermes_permissions.yaml": profiles });
    const open = await made.runtime.openSession();
    const own = await made.runtime.openSession({ profile: "default" });
    expect([await outcome(open), await outcome(own)]).toEqual(["ok", "ok"]);
    await settings(made, "config.yaml", "permissions:\n  profile: blind\n");
    expect([await outcome(open), await outcome(own)]).toEqual(["denied", "ok"]);
    expect(open.profile).toBe("default");
  });

  it("a tool that is switched off is off in open sessions, too; one that is switched on comes with new ones", async () => {
    const made = await withTool({});
    const open = await made.runtime.openSession();
    await settings(made, "config.yaml", "tools:\n  disabled: [peek]\n");
    expect(await outcome(open)).toBe("denied");
    const without = await made.runtime.openSession();
    expect(await outcome(without)).toBe("not_found");
    await settings(made, "config.yaml", "tools:\n  disabled: []\n");
    expect(await outcome(open)).toBe("ok");
    expect(await outcome(without)).toBe("not_found");
  });

  it("answering every question with yes is for sessions that are opened later", async () => {
    const made = await withTool({ "hermes_permissions.yaml": ASK });
    const open = await made.runtime.openSession();
    expect(await outcome(open)).toBe("denied");
    await settings(made, "config.yaml", "approvals:\n  mode: off\n");
    expect(await outcome(open)).toBe("denied");
    expect(await outcome(await made.runtime.openSession())).toBe("ok");
  });

  it("a call is decided by rules that are there in whole: never by none while they are read", async () => {
    const made = await withTool({ "hermes_permissions.yaml": DENY });
    let stop = false;
    const results = new Set<string>();
    const open = await made.runtime.openSession();
    const calling = (async () => {
      while (!stop) {
        results.add(await outcome(open));
        results.add(await outcome(await made.runtime.openSession()));
        await setImmediate();
      }
    })();
    for (let round = 0; round < 8; round += 1) {
      await settings(made, "hermes_permissions.yaml", `${DENY}# ${round}\n`);
    }
    stop = true;
    await calling;
    expect([...results]).toEqual(["denied"]);
  });
});

describe("a configuration that changes", () => {
  it("is in force for what is done next, and secrets in it are known at once", async () => {
    const made = await withTool({});
    await settings(made, ".env", "MY_TOKEN=very-secret-value-123\n");
    expect(made.runtime.secrets.redact("it is very-secret-value-123")).not.toContain("very-secret");
    await settings(made, "config.yaml", "custom_toolsets:\n  mine:\n    tools: [peek]\n");
    expect(made.runtime.toolsets().find(({ name }) => name === "mine")?.resolved).toEqual(["peek"]);
    await settings(made, "config.yaml", "toolsets: [all]\n");
    expect(made.runtime.toolsets().some(({ name }) => name === "mine")).toBe(false);
    expect(applied(made).map(({ changes }) => changes)).toEqual([
      [".env: in force"],
      ["config.yaml: in force"],
      ["config.yaml: in force"],
    ]);
  });

  it("keeps its last good version while it is broken, and says where", async () => {
    const made = await withTool({ "config.yaml": "tools:\n  timeout_seconds: 7\n" });
    await settings(made, "config.yaml", "tools:\n  timeout_seconds: [8\n");
    expect(made.runtime.config.values.tools.timeout_seconds).toBe(7);
    expect(failed(made)).toMatchObject([{ what: "config", files: ["config.yaml"] }]);
    expect(failed(made)[0]?.problems[0]).toMatch(/config\.yaml:\d+:\d+: error/);
    expect(applied(made)).toEqual([]);
    await settings(made, "config.yaml", "tools:\n  timeout_seconds: 9\n");
    expect(made.runtime.config.values.tools.timeout_seconds).toBe(9);
  });

  it("a rule file that cannot be read keeps its rules", async () => {
    const made = await withTool({ "hermes_permissions.yaml": DENY });
    const open = await made.runtime.openSession();
    await settings(made, "hermes_permissions.yaml", "global:\n  deny: [file:re");
    expect(failed(made)).toMatchObject([{ what: "config", files: ["hermes_permissions.yaml"] }]);
    expect(await outcome(open)).toBe("denied");
    expect(await outcome(await made.runtime.openSession())).toBe("denied");
  });
});
