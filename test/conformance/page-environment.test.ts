import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openRemoteEnvironment } from "../../src/env/remote/remote-environment.js";
import type { EnvironmentFactory, EnvironmentRequest } from "../../src/sources/plugins/types.js";
import { piecesOf } from "../examples/page-runner.js";
import { runningWith } from "../sandbox/support.js";
import { describeConformance } from "./environment.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-page-environment-")));

/** The environment of the page, as a plugin would bring it. */
async function factoryOfThePage(): Promise<EnvironmentFactory> {
  const module = piecesOf("docs/write-an-environment.md").find(
    (piece) => "file" in piece && piece.file.endsWith("index.mjs"),
  );
  const file = join(folder, "index.mjs");
  writeFileSync(file, module !== undefined && "text" in module ? module.text : "");
  const { default: register } = (await import(pathToFileURL(file).href)) as {
    default: (ctx: { environment(name: string, open: EnvironmentFactory): void }) => void;
  };
  return new Promise((resolve) => register({ environment: (_name, open) => resolve(open) }));
}

const dens = () => readdirSync(tmpdir()).filter((name) => name.startsWith("den-"));

describeConformance(
  "docs/write-an-environment.md",
  {
    traits: {
      place: folder,
      largeOutputBytes: 20_000_000,
      lacks: { pty: "the page says so", passthrough: "it has none of this process's variables" },
    },
    async start() {
      const open = await factoryOfThePage();
      const request: Omit<EnvironmentRequest, "builtin"> = {
        name: "den",
        task: "conformance",
        progress: () => undefined,
        remote: (options) => openRemoteEnvironment({ ...options, name: "den", kind: "plugin" }),
      };
      return {
        open: async () =>
          open({ ...request, builtin: () => Promise.reject(new Error("not needed by the page")) }),
        leftovers: async () => dens(),
        running: async (variable, value) => runningWith(variable, value),
        stop: async () => rmSync(folder, { recursive: true, force: true }),
      };
    },
  },
  { everyNth: 16 },
);
