import { once } from "node:events";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import {
  type ControlMethod,
  controlDefinition,
  type Message,
  type RouterMethod,
  routerDefinition,
} from "./protocol.js";
import type { Definition, Exec, ModalSandbox, ModalSandboxes, Tag } from "./sandboxes.js";
import type { ModalFaults } from "./server.js";

class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Handler = (request: Message) => Promise<Message> | Message;

interface RpcOptions {
  readonly sandboxes: ModalSandboxes;
  readonly faults: ModalFaults;
  readonly token: { readonly id: string; readonly secret: string };
  routerUrl(): string;
}

export async function startRpc(options: RpcOptions): Promise<{ port: number; stop(): Promise<void> }> {
  const server = new Server({
    "grpc.max_receive_message_length": 104_857_600,
    "grpc.max_send_message_length": 104_857_600,
  });
  const authToken = jwt("client");
  const routerToken = jwt("router");
  const control = controlHandlers({ ...options, authToken, routerToken });
  const router = routerHandlers(options.sandboxes, options.faults);
  const askClient = (metadata: Metadata, method: string) => {
    const [id] = metadata.get("x-modal-token-id");
    const [secret] = metadata.get("x-modal-token-secret");
    const known = id === options.token.id && secret === options.token.secret && !options.faults.refuseAuth;
    if (!known) throw new RpcError(status.UNAUTHENTICATED, "Token validation failed");
    if (method !== "AuthTokenGet" && metadata.get("x-modal-auth-token")[0] !== authToken)
      throw new RpcError(status.UNAUTHENTICATED, "no valid auth token");
  };
  const askRouter = (metadata: Metadata) => {
    if (metadata.get("authorization")[0] !== `Bearer ${routerToken}`)
      throw new RpcError(status.UNAUTHENTICATED, "no valid router token");
  };
  const wrapped = (handlers: Record<string, Handler>, check: (metadata: Metadata, method: string) => void) =>
    Object.fromEntries(
      Object.entries(handlers).map(([method, handler]) => [method, unary(method, { handler, check })]),
    );
  server.addService(controlDefinition(), wrapped(control, askClient));
  server.addService(routerDefinition(), {
    ...wrapped(router, askRouter),
    TaskExecStdioRead: (call: ServerWritableStream<Message, Message>) =>
      void readOutput(options.sandboxes, call, askRouter),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return {
    port,
    async stop() {
      server.forceShutdown();
    },
  };
}

function unary(
  method: string,
  how: { readonly handler: Handler; readonly check: (metadata: Metadata, method: string) => void },
): UntypedHandleCall {
  return async (call: ServerUnaryCall<Message, Message>, done: sendUnaryData<Message>) => {
    try {
      how.check(call.metadata, method);
      done(null, await how.handler(call.request));
    } catch (error) {
      const code = error instanceof RpcError ? error.code : status.INTERNAL;
      done({ code, details: error instanceof Error ? error.message : String(error) });
    }
  };
}

function controlHandlers(
  options: RpcOptions & { readonly authToken: string; readonly routerToken: string },
): Record<ControlMethod, Handler> {
  const { sandboxes, faults } = options;
  const sandboxOf = (request: Message): ModalSandbox => {
    const sandbox = sandboxes.all.get(String(request.sandboxId));
    if (sandbox === undefined) throw new RpcError(status.NOT_FOUND, "no such sandbox");
    return sandbox;
  };
  return {
    AuthTokenGet: () => ({ token: options.authToken }),
    AppGetOrCreate: (request) => {
      if (request.objectCreationType !== 1) throw new RpcError(status.NOT_FOUND, "no such app");
      return { appId: `ap-${String(request.appName)}` };
    },
    EnvironmentGetOrCreate: () => ({
      environmentId: "en-test",
      metadata: { name: "main", settings: { imageBuilderVersion: "2024.10" } },
    }),
    async ImageGetOrCreate(request) {
      if (faults.failBuild) return { imageId: "im-none", result: { status: 2, exception: "no such image" } };
      const { dockerfileCommands } = request.image as { dockerfileCommands: string[] };
      const imageId = await sandboxes.imageFromRegistry(dockerfileCommands.join("\n"));
      return { imageId, result: { status: 1 } };
    },
    ImageFromId(request) {
      if (!sandboxes.images.has(String(request.imageId)))
        throw new RpcError(
          status.FAILED_PRECONDITION,
          `Could not find image with ID ${String(request.imageId)}`,
        );
      return { imageId: request.imageId };
    },
    async ImageDelete(request) {
      if (!(await sandboxes.deleteImage(String(request.imageId))))
        throw new RpcError(status.NOT_FOUND, "no such image");
      return {};
    },
    async SandboxCreate(request) {
      const definition = request.definition as Definition;
      if (!sandboxes.images.has(definition.imageId)) throw new RpcError(status.NOT_FOUND, "no such image");
      const sandbox = await sandboxes.create({
        appId: String(request.appId),
        definition,
        tags: request.tags as Tag[],
      });
      return { sandboxId: sandbox.id };
    },
    SandboxGetTaskId(request) {
      const sandbox = sandboxOf(request);
      return sandbox.result === undefined ? { taskId: sandbox.taskId } : { taskResult: sandbox.result };
    },
    async SandboxWait(request) {
      const sandbox = sandboxOf(request);
      await within(sandbox.ended, Number(request.timeout) * 1000);
      return sandbox.result === undefined ? {} : { result: sandbox.result };
    },
    async SandboxTerminate(request) {
      await sandboxes.terminate(sandboxOf(request));
      return {};
    },
    SandboxList(request) {
      const wanted = request.tags as Tag[];
      const before = Number(request.beforeTimestamp) || Number.POSITIVE_INFINITY;
      const found = [...sandboxes.all.values()]
        .filter(({ result, createdAt }) => result === undefined && createdAt < before)
        .filter(({ tags }) =>
          wanted.every((want) =>
            tags.some(({ tagName, tagValue }) => tagName === want.tagName && tagValue === want.tagValue),
          ),
        )
        .sort((a, b) => b.createdAt - a.createdAt);
      return { sandboxes: found.map(({ id, createdAt, appId, tags }) => ({ id, createdAt, appId, tags })) };
    },
    TaskGetCommandRouterAccess(request) {
      if (sandboxes.byTask(request.taskId) === undefined)
        throw new RpcError(status.NOT_FOUND, "no such task");
      return { jwt: options.routerToken, url: options.routerUrl() };
    },
  };
}

function routerHandlers(
  sandboxes: ModalSandboxes,
  faults: ModalFaults,
): Record<Exclude<RouterMethod, "TaskExecStdioRead">, Handler> {
  return {
    async TaskExecStart(request) {
      const sandbox = taskOf(sandboxes, request);
      const id = String(request.execId);
      // The client repeats a request whose answer it did not get.
      if (sandbox.execs.has(id)) return {};
      const pty = request.ptyInfo as { enabled: boolean; winszCols: number; winszRows: number } | null;
      await sandboxes.exec(sandbox, {
        id,
        argv: request.commandArgs as string[],
        cwd: (request.workdir as string) || undefined,
        env: request.env as Record<string, string>,
        pty: pty?.enabled ? { columns: pty.winszCols, rows: pty.winszRows } : undefined,
      });
      return {};
    },
    async TaskExecStdinWrite(request) {
      const exec = execOf(sandboxes, request);
      const data = request.data as Buffer;
      const fresh = data.subarray(Math.max(0, exec.inputBytes - Number(request.offset)));
      exec.inputBytes += fresh.length;
      const { stdin } = exec.process;
      if (fresh.length > 0 && stdin.writable && !stdin.write(fresh))
        await Promise.race([new Promise((resolve) => stdin.once("drain", resolve)), exec.process.exited]);
      if (request.eof) stdin.end();
      return {};
    },
    TaskExecPoll: (request) => execOf(sandboxes, request).status ?? {},
    TaskExecWait: (request) => execOf(sandboxes, request).process.exited,
    async TaskSnapshotFilesystem(request) {
      if (faults.failSnapshot) throw new RpcError(status.FAILED_PRECONDITION, "the snapshot failed");
      return { imageId: await sandboxes.snapshot(taskOf(sandboxes, request)) };
    },
  };
}

async function readOutput(
  sandboxes: ModalSandboxes,
  call: ServerWritableStream<Message, Message>,
  check: (metadata: Metadata) => void,
): Promise<void> {
  const stop = new AbortController();
  call.on("cancelled", () => stop.abort());
  call.on("error", () => stop.abort());
  try {
    check(call.metadata);
    const exec = execOf(sandboxes, call.request);
    const output = call.request.fileDescriptor === 1 ? exec.stderr : exec.stdout;
    for await (const data of output?.read(Number(call.request.offset), stop.signal) ?? []) {
      if (call.write({ data })) continue;
      await once(call, "drain", { signal: stop.signal }).catch(() => {});
    }
    call.end();
  } catch (error) {
    const code = error instanceof RpcError ? error.code : status.INTERNAL;
    call.emit("error", { code, details: String(error), metadata: new Metadata() });
  }
}

function taskOf(sandboxes: ModalSandboxes, request: Message): ModalSandbox {
  const sandbox = sandboxes.byTask(request.taskId);
  if (sandbox === undefined) throw new RpcError(status.NOT_FOUND, "no such task");
  return sandbox;
}

/** Of ended sandboxes too: whoever waits for a program still learns how it ended. */
function execOf(sandboxes: ModalSandboxes, request: Message): Exec {
  for (const { execs } of sandboxes.all.values()) {
    const exec = execs.get(String(request.execId));
    if (exec !== undefined) return exec;
  }
  throw new RpcError(status.NOT_FOUND, "no such exec");
}

function within(promise: Promise<unknown>, ms: number): Promise<unknown> {
  if (ms <= 0) return Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

function jwt(subject: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ sub: subject, exp: Math.floor(Date.now() / 1000) + 86_400 })}.sig`;
}
