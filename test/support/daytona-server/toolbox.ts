import { buffer } from "node:stream/consumers";
import type { DaytonaSandbox } from "./sandboxes.js";
import { Refusal } from "./sandboxes.js";

export interface ToolboxRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  readonly contentType: string;
}

/** The daemon's interface inside one sandbox, without terminals' connections. */
export async function toolboxAnswer(sandbox: DaytonaSandbox, request: ToolboxRequest): Promise<unknown> {
  const { method, path } = request;
  const json = () => JSON.parse(request.body.toString()) as Record<string, unknown>;
  if (path === "/user-home-dir" || path === "/work-dir") return { dir: "/root" };
  if (method === "POST" && path === "/process/execute") return await execute(sandbox, json());
  if (method === "POST" && path === "/files/bulk-upload") return await upload(sandbox, request);
  if (method === "GET" && path === "/files/download") return await download(sandbox, request.query);
  if (method === "POST" && path === "/process/pty") {
    const { id, cols, rows } = json();
    await openTerminal(sandbox, { id: String(id), columns: Number(cols ?? 80), rows: Number(rows ?? 24) });
    return { sessionId: id };
  }
  const terminal = /^\/process\/pty\/([^/]+)(\/resize)?$/.exec(path);
  if (terminal !== null) {
    const open = sandbox.terminals.get(terminal[1] ?? "");
    if (open === undefined) throw new Refusal(404, "PTY session not found");
    if (terminal[2] !== undefined) open.resize({ columns: Number(json().cols), rows: Number(json().rows) });
    else if (method === "DELETE") open.kill("SIGKILL");
    return { id: terminal[1], active: true };
  }
  throw new Refusal(404, `no ${method} ${path}`);
}

export async function openTerminal(
  sandbox: DaytonaSandbox,
  terminal: { readonly id: string; readonly columns: number; readonly rows: number },
): Promise<void> {
  const { id, columns, rows } = terminal;
  if (sandbox.terminals.has(id)) throw new Refusal(409, "PTY session already exists");
  if (columns > 1000 || rows > 1000) throw new Refusal(400, "cols and rows must be less than 1000");
  const shell = await sandbox.hosted.start({
    argv: ["bash", "-i", "-l"],
    env: { TERM: "xterm-256color" },
    pty: { columns, rows },
  });
  sandbox.terminals.set(id, shell);
  void shell.exited.then(() => sandbox.terminals.delete(id));
}

/** Like the daemon: the line goes to a shell's input, both streams come back as one text. */
async function execute(sandbox: DaytonaSandbox, body: Record<string, unknown>): Promise<unknown> {
  const program = await sandbox.hosted.start({
    argv: ["bash"],
    cwd: typeof body.cwd === "string" ? body.cwd : undefined,
    env: (body.envs ?? {}) as Record<string, string>,
  });
  program.stdin.end(String(body.command));
  const limit = Number(body.timeout ?? 0) > 0 ? Number(body.timeout) : 360;
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    program.kill("SIGKILL");
  }, limit * 1000);
  const [stdout, stderr, { code }] = await Promise.all([
    buffer(program.stdout),
    program.stderr === undefined ? Buffer.alloc(0) : buffer(program.stderr),
    program.exited,
  ]).finally(() => clearTimeout(timer));
  if (timedOut) throw new Refusal(408, "command execution timeout");
  return { exitCode: code ?? -1, result: Buffer.concat([stdout, stderr]).toString() };
}

async function upload(sandbox: DaytonaSandbox, request: ToolboxRequest): Promise<unknown> {
  const form = await new Response(request.body, {
    headers: { "content-type": request.contentType },
  }).formData();
  for (let at = 0; form.has(`files[${at}].path`); at++) {
    const path = String(form.get(`files[${at}].path`));
    const file = form.get(`files[${at}].file`);
    if (typeof file === "string" || file === null) throw new Refusal(400, "no file");
    const writer = await sandbox.hosted.start({ argv: ["sh", "-c", 'cat > "$1"', "sh", path] });
    writer.stdin.end(Buffer.from(await file.arrayBuffer()));
    if ((await writer.exited).code !== 0) throw new Refusal(400, `cannot write ${path}`);
  }
  return {};
}

async function download(sandbox: DaytonaSandbox, query: URLSearchParams): Promise<Buffer> {
  const reader = await sandbox.hosted.start({ argv: ["cat", "--", query.get("path") ?? ""] });
  reader.stdin.end();
  const [bytes, { code }] = await Promise.all([buffer(reader.stdout), reader.exited]);
  if (code !== 0) throw new Refusal(404, "no such file");
  return bytes;
}
