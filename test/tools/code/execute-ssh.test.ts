// @needs sshd ssh python3
import { afterEach, expect, it } from "vitest";
import { createSshEnvironment } from "../../../src/env/ssh/ssh.js";
import type { CallResult } from "../../../src/index.js";
import type { NestedTools } from "../../../src/tool/tool.js";
import executeCode from "../../../src/tools/code/execute-code.js";
import repl from "../../../src/tools/code/repl.js";
import { optionsFor, serverForTest } from "../../ssh/support.js";
import { makeContext, type TestContext } from "../context.js";

let open: TestContext | undefined;
afterEach(() => open?.cleanUp());

const echo: NestedTools = {
  tools: [
    {
      name: "echo",
      description: "gives back what it gets",
      parameters: { type: "object", properties: { value: {} }, required: ["value"] },
    },
  ],
  call: async ({ arguments: given }) =>
    ({ ok: true, structured: given, content: [] }) as unknown as CallResult,
  close: () => undefined,
};

it("scripts and sessions run on another machine as they do here", async () => {
  const server = await serverForTest();
  const environment = await createSshEnvironment(optionsFor(server));
  const session = { id: "s", profile: "default", cwd: server.home, workspace: server.home };
  open = makeContext({ environment, session, openTools: () => echo });
  const python = [
    "import os, sys",
    "from hermes_tools import echo",
    "print(os.getcwd(), len(echo('ü' * 100_000)['value']), sys.stdin.read(), file=sys.stderr)",
  ].join("\n");
  const ran = await executeCode.handler({ code: python, stdin: "in" }, open);
  expect(ran).toMatchObject({
    status: "success",
    output: "",
    stderr: `${server.home} 100000 in\n`,
    sandbox: `the environment ${environment.name}`,
  });
  const node = "console.log((await hermes.echo('x'.repeat(100_000))).value.length, process.cwd())";
  expect(await executeCode.handler({ code: node, language: "js", mode: "strict" }, open)).toMatchObject({
    output: expect.stringMatching(/^100000 .*\/hermes-code-\w+\n$/),
  });
  await repl.handler({ code: "x=1; cd /", language: "bash" }, open);
  expect(await repl.handler({ code: "sleep 30", language: "bash", timeout: 0.3 }, open)).toMatchObject({
    status: "timeout",
  });
  expect(await repl.handler({ code: 'echo "$x $PWD"', language: "bash" }, open)).toMatchObject({
    output: "1 /\n",
  });
});
