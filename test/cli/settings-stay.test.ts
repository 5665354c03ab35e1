import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hermes, start, tempFolder, until } from "./hermes.js";

/** As people and other programs write them: comments, odd spacing, old and unknown keys, no line break at the end. */
const FILES: Readonly<Record<string, string>> = {
  "config.yaml":
    "# mine\r\napprovals:   { mode: manual }\r\n\r\nfuture_key: [1,\t2]\r\nlog:\n    level:  'warn'   # why",
  ".env": "# keys\nexport SOME_NAME = 'value'\n\nUNKNOWN_THING=1 # kept\nBROKEN LINE",
  "hermes_permissions.yaml": "profiles:\n  # none yet\n",
  "tools/hello.yaml": "# not finished\nname: hello",
};

it("starting a server, doctor and lists write nothing to settings, whatever stands in them", async () => {
  const home = tempFolder();
  mkdirSync(join(home, "tools"));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(home, name), text, { mode: 0o600 });
  const state = () =>
    Object.keys(FILES).map((name) => {
      const { ino, mtimeMs, mode } = statSync(join(home, name));
      return { name, ino, mtimeMs, mode, text: readFileSync(join(home, name), "utf8") };
    });
  const before = state();
  expect(before.map(({ text }) => text)).toEqual(Object.values(FILES));

  const server = start(["serve", "--port", "0", "--json"], { home });
  let said = "";
  server.stdout?.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  await until(() => said.includes("\n"), "the server to start");
  await Promise.all([hermes(["doctor"], { home }), hermes(["tools", "list"], { home })]);
  server.kill("SIGTERM");
  await until(() => server.exitCode !== null, "the server to end");
  expect(state()).toEqual(before);
}, 60_000);
