import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "../../tool/errors.js";
import { defineEnvironment } from "../descriptor.js";
import { missingProgram } from "../find-program.js";
import { passedOn, startFolder } from "../settings.js";

const SET_HOST = "hermes config set terminal.ssh_host HOST";

export default defineEnvironment({
  kind: "ssh",
  about: "another machine",
  settings: {
    // biome-ignore format: one key per line keeps the table readable as a table.
    own: [
      { path: "terminal.ssh_host", type: { kind: "string" }, default: "", project: "never", envAliases: ["TERMINAL_SSH_HOST"], about: "Host (or alias of ~/.ssh/config) of the `ssh` environment" },
      { path: "terminal.ssh_user", type: { kind: "string" }, default: "", project: "never", envAliases: ["TERMINAL_SSH_USER"], about: "User on that host; empty: as ssh itself decides" },
      { path: "terminal.ssh_port", type: { kind: "integer", min: 0, max: 65_535 }, default: 0, project: "never", envAliases: ["TERMINAL_SSH_PORT"], about: "Port of that host; 0: as ssh itself decides" },
      { path: "terminal.ssh_key", type: { kind: "string" }, default: "", project: "never", envAliases: ["TERMINAL_SSH_KEY"], about: "Private key file for that host; empty: agent and default keys" },
      { path: "terminal.ssh_host_keys", type: { kind: "enum", values: ["accept-new", "strict"] }, default: "accept-new", project: "never", policy: true, about: "Unknown host keys are recorded at first contact, or refused; a changed one is always refused" },
    ],
    shared: ["terminal.cwd", "terminal.login_shell", "terminal.env_passthrough"],
  },
  check: ({ env, values }) =>
    values.terminal.ssh_host === ""
      ? { reason: "no host is set", fix: SET_HOST }
      : missingProgram("ssh", env, "install the OpenSSH client"),
  async open({ config }) {
    const { terminal } = config.values;
    if (terminal.ssh_host === "") {
      throw new ToolError("No host is set for the ssh environment", { code: "unavailable", hint: SET_HOST });
    }
    const { createSshEnvironment } = await import("./ssh.js");
    return createSshEnvironment({
      host: terminal.ssh_host,
      user: terminal.ssh_user || undefined,
      port: terminal.ssh_port || undefined,
      keyFile: terminal.ssh_key.replace(/^~(?=\/|$)/, config.env.HOME ?? "~") || undefined,
      cwd: startFolder(config),
      controlDir: join(tmpdir(), `hermes-ssh-${process.getuid?.() ?? 0}`),
      hostKeyPolicy: terminal.ssh_host_keys,
      loginShell: terminal.login_shell !== "off",
      passthrough: passedOn(config),
      env: config.env,
    });
  },
});
