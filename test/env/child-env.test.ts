import { describe, expect, test } from "vitest";
import { childEnvironment } from "../../src/env/local/child-env.js";
import { createLocalEnvironment } from "../../src/env/local/local.js";

const parent = {
  PATH: process.env.PATH ?? "/usr/bin:/bin",
  HOME: "/home/agent",
  LANG: "C.UTF-8",
  LC_ALL: "C.UTF-8",
  TZ: "Europe/Paris",
  OPENAI_API_KEY: "sk-secret",
  GH_TOKEN: "ghp_secret",
  AWS_SECRET_ACCESS_KEY: "aws-secret",
  DATABASE_URL: "postgres://u:p@host/db",
  HERMES_TOKEN: "token-secret",
  LD_PRELOAD: "/opt/evil.so",
  BASH_ENV: "/opt/evil.sh",
  "BASH_FUNC_ls%%": "() { echo evil; }",
  SSH_AUTH_SOCK: "/run/agent.sock",
  PAGER: "less",
  https_proxy: "http://proxy:3128",
  HTTP_PROXY: "http://user:secret@proxy:3128",
};

describe("the environment of a child", () => {
  test("holds only what is on the list", () => {
    const child = childEnvironment({ parent });
    expect(child).toMatchObject({ HOME: "/home/agent", LC_ALL: "C.UTF-8", TZ: "Europe/Paris" });
    expect(child).toMatchObject({ PAGER: "cat", GIT_PAGER: "cat", https_proxy: "http://proxy:3128" });
    expect(JSON.stringify(child)).not.toMatch(/secret|evil|u:p@|agent\.sock/);
  });

  test("gets what the operator lets through and what the request adds", () => {
    const child = childEnvironment({
      parent,
      passthrough: ["GH_TOKEN", "PAGER", "NOT_SET"],
      added: { TZ: "UTC", EXTRA: "1" },
    });
    expect(child).toMatchObject({ GH_TOKEN: "ghp_secret", PAGER: "less", TZ: "UTC", EXTRA: "1" });
    expect(child).not.toHaveProperty("NOT_SET");
    expect(child).not.toHaveProperty("OPENAI_API_KEY");
  });

  test("is what a real command sees", async () => {
    const local = createLocalEnvironment({ env: parent, passthrough: ["GH_TOKEN"] });
    const { output } = await local.exec({
      command: "env",
      cwd: "/",
      timeoutMs: 5_000,
      signal: new AbortController().signal,
      env: { ADDED: "yes" },
    });
    await local.close();
    expect(output).toMatch(/^ADDED=yes$/m);
    expect(output).toMatch(/^GH_TOKEN=ghp_secret$/m);
    expect(output).not.toMatch(/sk-secret|aws-secret|token-secret|evil|postgres/);
  });
});
