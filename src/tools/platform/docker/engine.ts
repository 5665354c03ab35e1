import { ToolError } from "../../../tool/errors.js";
import type { CallContext, Kept } from "../../../tool/tool.js";
import { type DockerArguments, type EngineName, isCompose } from "./arguments.js";

const PROBE_MS = 20_000;
const MAX_OUTPUT_CHARS = 200_000;
/** Less than a handler has that was told to stop. */
const CLEAN_UP_MS = 4_000;
const INSTALL = "Install one: apt-get install podman (or docker.io)";
const START = "Start it: systemctl start docker (or set DOCKER_HOST); podman needs no service.";
const NOT_INSTALLED = "not installed";

export interface EngineAnswer {
  readonly output: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly truncated: boolean;
}

/** Which engine answers where the session works; asked once. */
export class Engines implements Kept {
  #found: EngineName | undefined;

  async find(wanted: DockerArguments["engine"], ctx: CallContext): Promise<EngineName> {
    if (wanted === "auto" && this.#found !== undefined) return this.#found;
    const reasons: string[] = [];
    for (const engine of wanted === "auto" ? (["docker", "podman"] as const) : [wanted]) {
      const words = [
        "version",
        "--format",
        engine === "docker" ? "{{.Server.Version}}" : "{{.Client.Version}}",
      ];
      const answer = await run([engine, ...words], { ctx, timeoutMs: PROBE_MS });
      if (answer.exitCode === 0) {
        if (wanted === "auto") this.#found = engine;
        return engine;
      }
      reasons.push(`${engine}: ${whyNot(answer)}`);
    }
    const isThere = reasons.some((reason) => !reason.endsWith(NOT_INSTALLED));
    throw new ToolError(`No container engine answers (${reasons.join("; ")}).`, {
      code: "unavailable",
      hint: isThere ? START : INSTALL,
    });
  }

  close(): void {
    this.#found = undefined;
  }
}

/**
 * What a container may do is not held by the boundary around commands. Where that is the strict one, nobody has been
 * asked about leaving it.
 */
export async function refuseInStrictBoundary(ctx: CallContext): Promise<void> {
  const { cwd } = ctx.session;
  const { sandbox } = await ctx.environment.exec({
    command: ["true"],
    cwd,
    timeoutMs: PROBE_MS,
    signal: ctx.signal,
  });
  if (sandbox?.level !== "strict") return;
  const refusal = ctx.refusal({ action: "sandbox:widen", resource: "off", mode: "execute" });
  if (refusal === undefined) return;
  throw new ToolError("Containers would leave the strict boundary around commands (terminal.sandbox).", {
    code: "denied",
    hint: 'Use the terminal with widen: ["off"], which asks the person, or let the operator set terminal.sandbox to guard.',
  });
}

function whyNot({ exitCode, stderr, output }: EngineAnswer): string {
  if (exitCode === 127 || exitCode === 126) return NOT_INSTALLED;
  return (stderr || output).trim().split("\n").at(-1)?.slice(0, 200) || `exit code ${exitCode}`;
}

const VARIABLES =
  "DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY CONTAINER_HOST CONTAINER_SSHKEY";

/** Where the operator's engine is; programs of this machine are not told by themselves. */
function engineVariables(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    VARIABLES.split(" ").flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** Runs the engine's program; never through a shell. */
export async function run(
  command: readonly string[],
  request: {
    readonly ctx: CallContext;
    readonly timeoutMs: number;
    readonly cwd?: string | undefined;
    /** Standard output and error as one text, in the order they came. */
    readonly merged?: boolean;
    onOutput?(chunk: string): void;
  },
): Promise<EngineAnswer> {
  const { ctx } = request;
  const result = await ctx.environment.exec({
    command,
    cwd: request.cwd ?? ctx.session.cwd,
    ...(ctx.environment.kind === "local" && { env: engineVariables() }),
    timeoutMs: request.timeoutMs,
    signal: ctx.signal,
    separateStderr: request.merged !== true,
    // What the engine may be told was judged as docker:read or docker:run; its socket lies outside every boundary.
    sandbox: { off: true },
    maxOutputChars: MAX_OUTPUT_CHARS,
    ...(request.onOutput !== undefined && { onChunk: request.onOutput }),
  });
  ctx.signal.throwIfAborted();
  if (result.timedOut)
    throw new ToolError(
      `${command.slice(0, 2).join(" ")} did not end within ${request.timeoutMs / 1000} s.`,
      {
        code: "timeout",
        hint: "Raise timeout_seconds, or run it with detach: true and follow it with logs.",
      },
    );
  const { output, stderr, exitCode, truncated } = result;
  return { output, stderr: stderr.trim(), exitCode, truncated };
}

/** What a call that is over has left running. Its own signal is up by now: this has a few seconds of its own. */
export async function removeUnfinished(left: {
  readonly label: string;
  readonly engine: EngineName;
  readonly ctx: CallContext;
}): Promise<void> {
  const { label, engine, ctx } = left;
  const signal = AbortSignal.timeout(CLEAN_UP_MS);
  const ask = (words: readonly string[]) =>
    ctx.environment.exec({
      command: [engine, ...words],
      cwd: ctx.session.cwd,
      ...(ctx.environment.kind === "local" && { env: engineVariables() }),
      timeoutMs: CLEAN_UP_MS,
      signal,
      separateStderr: true,
      sandbox: { off: true },
    });
  try {
    const { output } = await ask(["ps", "--all", "--quiet", "--filter", `label=${label}`]);
    const [id] = output.trim().split("\n");
    const now = engine === "podman" ? ["--time", "0"] : [];
    if (id !== undefined && id !== "") await ask(["rm", "--force", ...now, id]);
  } catch {
    // Nobody is there to be told: the call is over.
  }
}

/** `docker compose` is a plugin, `docker-compose` and `podman-compose` are programs of their own. */
export async function composeProgram(engine: EngineName, ctx: CallContext): Promise<readonly string[]> {
  const candidates =
    engine === "docker"
      ? [["docker", "compose"], ["docker-compose"]]
      : [["podman", "compose"], ["podman-compose"]];
  for (const candidate of candidates) {
    const { exitCode } = await run([...candidate, "version"], { ctx, timeoutMs: PROBE_MS });
    if (exitCode === 0) return candidate;
  }
  throw new ToolError(`There is no compose for ${engine}.`, {
    code: "unavailable",
    hint:
      engine === "docker"
        ? "Install it: apt-get install docker-compose"
        : "Install it: apt-get install podman-compose",
  });
}

export async function commandFor(
  words: readonly string[],
  call: { readonly args: DockerArguments; readonly engine: EngineName; readonly ctx: CallContext },
): Promise<readonly string[]> {
  if (!isCompose(call.args)) return [call.engine, ...words];
  return [...(await composeProgram(call.engine, call.ctx)), ...words.slice(1)];
}

/** Who else has a word in an answer: what runs in a container, an image and its registry, a file of others. */
export function outsideOf({
  action,
  container,
  image,
  tag,
  path,
  name,
}: DockerArguments): string | undefined {
  switch (action) {
    case "logs":
    case "exec":
    case "run":
    case "inspect":
    case "pull":
      return `container:${container ?? image ?? ""}`;
    case "build":
      return `container:${tag ?? path ?? "build"}`;
    case "compose_up":
    case "compose_down":
      return `container:${name ?? path ?? "compose"}`;
    default:
      return undefined;
  }
}

export function engineFailed(args: DockerArguments, { stderr, output, exitCode }: EngineAnswer): ToolError {
  const said = (stderr || output).trim().slice(0, 1_500);
  const hint = /no such image|image not known|unable to find image|No such image|not present locally/i.test(
    said,
  )
    ? "Pull the image first with action pull, or build it."
    : /no such container|no container with name/i.test(said)
      ? "ps with all: true lists the containers."
      : /permission denied.*(?:docker|sock)/i.test(said)
        ? "The user of this session may not use the engine: usermod -aG docker USER, then a new login."
        : undefined;
  return new ToolError(`${args.action} failed: ${said === "" ? `exit code ${exitCode}` : said}`, {
    code: /no such|not known|no container with/i.test(said) ? "not_found" : "failed",
    hint,
    details: { exit_code: exitCode },
    from: outsideOf(args),
  });
}
