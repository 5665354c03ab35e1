import { ownFiles } from "../../base/package-root.js";
import { defineEnvironment } from "../descriptor.js";
import { missingProgram } from "../find-program.js";

export default defineEnvironment({
  kind: "local",
  about: "this machine",
  settings: {
    // biome-ignore format: one key per line keeps the table readable as a table.
    own: [
      { path: "terminal.sandbox", type: { kind: "enum", values: ["off", "guard", "auto", "strict", "required"], booleans: { true: "required", false: "off" } }, default: "guard", project: { looseToStrict: ["off", "guard", "auto", "strict", "required"] }, policy: true, about: "The boundary around local commands: `guard` keeps them from Hermes' own files, credentials, start-up files and system folders; `strict` also from the network and all but the working folder; `auto` is strict where that works and guard elsewhere, `required` strict without a way out" },
      { path: "terminal.sandbox_network", type: { kind: "boolean" }, default: false, project: { looseToStrict: [true, false] }, policy: true, about: "Let commands in the sandbox use the network" },
      { path: "terminal.sandbox_writable", type: { kind: "list" }, default: [], project: "subset", policy: true, about: "Folders commands in the sandbox may write besides the working folder" },
    ],
    shared: ["terminal.env_passthrough"],
  },
  check: ({ env }) => missingProgram("bash", env, "install bash and put it on PATH"),
  async open({ config: { env, values, paths } }) {
    const { createLocalEnvironment } = await import("./local.js");
    return createLocalEnvironment({
      env,
      passthrough: values.terminal.env_passthrough,
      sandbox: {
        mode: values.terminal.sandbox,
        network: values.terminal.sandbox_network,
        writable: values.terminal.sandbox_writable,
        hidden: [paths.home],
        ownFiles: ownFiles(),
      },
    });
  },
});
