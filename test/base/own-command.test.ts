import { expect, it } from "vitest";
import { ownCommand } from "../../src/base/own-command.js";

it.each([
  ["/usr/bin/hermes", "hermes"],
  ["/home/a/.npm/_npx/1f/node_modules/.bin/hermes-tools", "npx -y hermes-tools"],
  ["/home/a/clone/dist/cli/main.js", "node dist/cli/main.js"],
  ["/home/b/clone/dist/cli/main.js", "node /home/b/clone/dist/cli/main.js"],
  ["/home/b/my clone/dist/cli/main.js", 'node "/home/b/my clone/dist/cli/main.js"'],
  ["/home/b/program.js", "npx -y hermes-tools"],
])("a program started as %s is started again with %s", (script, command) => {
  expect(ownCommand({ script, cwd: "/home/a/clone", path: "/usr/bin:/bin" })).toBe(command);
});
