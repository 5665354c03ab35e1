import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestEnd } from "../../support/runtime.js";

export interface GitServer {
  readonly base: string;
  /** `METHOD /path` of each request. */
  readonly seen: string[];
}

/**
 * Git over HTTP as git itself serves it: every repository below a folder through `git http-backend`
 * (https://git-scm.com/docs/git-http-backend). `/moved/…` redirects to the same path without it.
 */
export async function startGitServer(root: string): Promise<GitServer> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    seen.push(`${request.method} ${url.pathname}`);
    if (url.pathname.startsWith("/moved/")) {
      response.writeHead(302, { location: url.pathname.slice("/moved".length) + url.search }).end();
      return;
    }
    const child = spawn("git", ["http-backend"], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: "1",
        // Without a user, git serves but takes nothing.
        REMOTE_USER: "tester",
        REQUEST_METHOD: request.method,
        PATH_INFO: decodeURIComponent(url.pathname),
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"]?.toString() ?? "",
        GIT_PROTOCOL: request.headers["git-protocol"]?.toString() ?? "",
        GIT_CONFIG_NOSYSTEM: "1",
      },
      stdio: ["pipe", "pipe", "ignore"],
    });
    request.pipe(child.stdin);
    child.stdin.on("error", () => undefined);
    const parts: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => parts.push(part));
    child.on("close", () => {
      const whole = Buffer.concat(parts);
      const end = whole.indexOf("\r\n\r\n");
      const headers = whole.subarray(0, end).toString("latin1").split("\r\n");
      for (const line of headers) {
        const [name = "", ...value] = line.split(": ");
        if (name === "Status") response.statusCode = Number.parseInt(value.join(""), 10);
        else if (name !== "") response.setHeader(name, value.join(": "));
      }
      response.end(whole.subarray(end + 4));
    });
  });
  onTestEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
