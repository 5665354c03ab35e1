import { isUtf8 } from "node:buffer";
import { realpathSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { sha256 } from "../../base/hash.js";
import type { LoadedConfig } from "../../config/types.js";
import { namesSecret } from "../../policy/secrets.js";
import { toolFolders } from "../../registry/user-module-files.js";
import { describeThrown } from "../../tool/thrown.js";
import type { AnyTool, SecretAccess } from "../../tool/tool.js";
import { basicPair } from "../../toolfile/credentials.js";
import { formatFileProblem } from "../../toolfile/problems.js";
import { MAX_FILE_BYTES, NOT_UTF8, readToolFile } from "../../toolfile/read-file.js";
import { createToolHost, type ToolHost } from "../../toolfile/tool-host.js";
import type { Auth, ToolSpec } from "../../toolfile/tool-spec.js";
import { looksSecret } from "../../toolfile/written-secret.js";
import type { SourceHost, SourceStatus, ToolSource } from "../types.js";
import { buildTool } from "./build-tool.js";

/** What is known of one file. */
interface KnownFile {
  /** Of the bytes that were read last, good or bad. */
  readonly hash: string;
  readonly specs: readonly ToolSpec[];
  readonly tools: readonly AnyTool[];
  readonly problems: readonly string[];
  readonly quarantined: SourceStatus["quarantined"];
}

const YAML = /\.ya?ml$/i;

/** Tools from the YAML files of the person's tool folder, and of the project's when it is trusted. */
export function createYamlSource(host: SourceHost): ToolSource {
  return new YamlSource(host);
}

class YamlSource implements ToolSource {
  readonly kind = "yaml";
  readonly #host: SourceHost;
  readonly #tools: ToolHost;
  readonly #files = new Map<string, KnownFile>();
  #config: LoadedConfig;
  #changing: Promise<void> = Promise.resolve();
  #starting = true;
  #closed = false;

  constructor(host: SourceHost) {
    this.#host = host;
    this.#config = host.config;
    this.#tools = createToolHost((name) => this.#config.env[name]);
  }

  async start(): Promise<void> {
    await this.refresh(this.#host.config);
    this.#starting = false;
  }

  async settled(): Promise<void> {
    await this.#changing;
  }

  refresh(config: LoadedConfig): Promise<void> {
    const applied = this.#changing.then(() => this.#apply(config));
    // A change that failed must not keep the next one from being taken up.
    this.#changing = applied.catch(() => undefined);
    return applied;
  }

  async #apply(config: LoadedConfig): Promise<void> {
    if (this.#closed) return;
    const isNew = config !== this.#config || this.#files.size === 0;
    this.#config = config;
    const found = await filesIn(foldersOf(config), [...this.#files.keys()]);
    const before = new Set(this.#files.keys());
    const changed: string[] = [];
    for (const path of before) {
      if (found.includes(path)) continue;
      this.#swap(path, []);
      this.#files.delete(path);
      changed.push(path);
    }
    for (const path of found) if (await this.#take(path)) changed.push(path);
    // Only what was there before can have been in the way of something.
    if (changed.some((path) => before.has(path))) await this.#tryAgain();
    if (!isNew && changed.length === 0) return;
    hideSecrets(
      [...this.#files.values()].flatMap(({ specs }) => specs),
      { host: this.#tools, secrets: this.#host.secrets },
    );
  }

  /** True when the file's tools have changed. */
  async #take(path: string, again = false): Promise<boolean> {
    if (this.#host.isHeld?.(path) === true) return false;
    const known = this.#files.get(path);
    const read = await readBounded(path);
    const hash = sha256(read.text ?? read.problem, "base64");
    if (known?.hash === hash && !again) return false;
    const reading =
      read.text === undefined
        ? { ok: false as const, problems: [{ message: read.problem }] }
        : await readToolFile(read.text, { composites: this.#otherComposites(path) });
    if (reading.ok) {
      const tools = reading.tools
        .filter(({ enabled }) => enabled)
        .map((spec) => buildTool(spec, this.#tools));
      const quarantined = this.#swap(path, tools);
      this.#files.set(path, { hash, specs: reading.tools, tools, problems: [], quarantined });
      return true;
    }
    const problems = reading.problems.map((problem) => formatFileProblem(path, problem));
    // Of what changes later, whoever watches tells, after a second look.
    if (this.#starting && !again) for (const problem of problems) this.#host.log.warn(problem);
    const before = known ?? { specs: [], tools: [], quarantined: [] };
    this.#files.set(path, { ...before, hash, problems });
    return false;
  }

  #otherComposites(path: string): readonly ToolSpec[] {
    return [...this.#files].flatMap(([other, { specs }]) => (other === path ? [] : specs));
  }

  #swap(path: string, tools: readonly AnyTool[]): SourceStatus["quarantined"] {
    const { rejected } = this.#host.registry.swap({
      source: `yaml:${path}`,
      provenance: { kind: "yaml", source: path },
      tools,
    });
    return rejected;
  }

  /**
   * What another file has given up may have been all that was in the way: a name, or a sequence that led back.
   */
  async #tryAgain(): Promise<void> {
    for (const [path, { problems }] of [...this.#files])
      if (problems.length > 0) await this.#take(path, true);
    for (const [path, file] of this.#files)
      if (file.quarantined.length > 0)
        this.#files.set(path, { ...file, quarantined: this.#swap(path, file.tools) });
  }

  status(): readonly SourceStatus[] {
    return [...this.#files].map(([path, { tools, problems, quarantined }]) => {
      const refused = new Set(quarantined.map(({ name }) => name));
      const names = tools.map(({ name }) => name).filter((name) => !refused.has(name));
      const [first] = problems;
      const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
      const state =
        first === undefined
          ? refused.size === 0
            ? "ready"
            : "degraded"
          : tools.length > 0
            ? "degraded"
            : "failed";
      return {
        source: `yaml:${path}`,
        state,
        tools: names,
        ...(first !== undefined && {
          reason: `${first}${more}${tools.length > 0 ? "; the tools of its last good version stay" : ""}`,
          fix: `hermes tools check ${path}`,
        }),
        quarantined,
      };
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#changing;
  }
}

function foldersOf({ paths, project }: LoadedConfig): readonly string[] {
  const folders = toolFolders({
    home: paths.home,
    project: project && { root: project.folder, trusted: project.trusted },
  }).map(({ path }) => path);
  const real = new Map(folders.map((path) => [realOf(path), path] as const));
  return [...real.values()];
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** A folder that is there and cannot be read holds what it held before. */
async function filesIn(folders: readonly string[], known: readonly string[]): Promise<readonly string[]> {
  const lists = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) =>
        error.code === "ENOENT"
          ? []
          : known.filter((path) => dirname(path) === folder).map((path) => basename(path)),
      );
      return names
        .filter((name) => YAML.test(name) && !name.startsWith("."))
        .sort()
        .map((name) => join(folder, name));
    }),
  );
  return lists.flat();
}

type Bounded =
  | { readonly text: string; readonly problem: "" }
  | { readonly text?: undefined; readonly problem: string };

/** Whatever lies there: a pipe must not make the runtime wait, a huge file must not fill the memory. */
async function readBounded(path: string): Promise<Bounded> {
  try {
    const about = await stat(path);
    if (!about.isFile()) return { problem: "it is not a file" };
    if (about.size > MAX_FILE_BYTES)
      return { problem: `it is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB` };
    const bytes = await readFile(path);
    return isUtf8(bytes) ? { text: bytes.toString("utf8"), problem: "" } : { problem: NOT_UTF8 };
  } catch (error) {
    return { problem: `it cannot be read: ${describeThrown(error).message}` };
  }
}

/** Tells the runtime which values must never be shown: what the files name as credentials. */
function hideSecrets(
  specs: readonly ToolSpec[],
  { host, secrets }: { readonly host: ToolHost; readonly secrets: SecretAccess },
): void {
  const hide = (name: string, value: string | undefined) => {
    // Telling it again would cost a new search table for every result.
    if (value !== undefined && value !== "" && secrets.get(name) !== value) secrets.add(name, value);
  };
  const done = new Set<string>();
  for (const spec of specs) {
    const auths = spec.type === "http_wrapper" ? spec.auth : [];
    for (const auth of auths) hideAuth(auth, { host, hide, done });
    if (spec.type !== "command") continue;
    for (const [name, from] of spec.env) {
      const value = "env" in from ? host.variable(from.env) : undefined;
      // Programs are also given harmless ones (HOME, AWS_REGION), whose values may stand anywhere.
      if ("env" in from && value !== undefined && isSecret([name, from.env], value)) hide(from.env, value);
    }
  }
}

function isSecret(names: readonly string[], value: string): boolean {
  return names.some(namesSecret) || looksSecret(value);
}

function hideAuth(
  auth: Auth,
  to: {
    readonly host: ToolHost;
    readonly done: Set<string>;
    hide(name: string, value: string | undefined): void;
  },
): void {
  const key = JSON.stringify(auth);
  if (to.done.has(key)) return;
  to.done.add(key);
  const { variable } = to.host;
  switch (auth.type) {
    case "basic": {
      const [username, password] = [variable(auth.usernameEnv), variable(auth.passwordEnv)];
      to.hide(auth.passwordEnv, password);
      // Together they make another text, which an echo of the request would show.
      if (username && password) to.hide(`${auth.passwordEnv} (encoded)`, basicPair(username, password));
      return;
    }
    case "bearer":
      to.hide(auth.tokenEnv, variable(auth.tokenEnv));
      return;
    default:
      to.hide(auth.valueEnv, variable(auth.valueEnv));
  }
}
