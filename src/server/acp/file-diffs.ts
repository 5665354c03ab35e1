import { isAbsolute } from "node:path";
import type * as acp from "@agentclientprotocol/sdk";
import type { Runtime } from "../../runtime/runtime.js";
import type { Session } from "../../runtime/session.js";
import type { Effect } from "../../tool/effects.js";

/** Larger files are changed without being shown. */
const MAX_BYTES = 512 * 1024;
const MAX_FILES = 20;

interface Before {
  readonly path: string;
  /** Undefined where there was no file. */
  readonly text: string | undefined;
}

/** What calls of one session change in text files: looked at before a call runs and after it. */
export class FileDiffs {
  readonly #session: Session;
  readonly #before = new Map<string, readonly Before[]>();
  readonly #stop: () => void;

  constructor(runtime: Runtime, session: Session) {
    this.#session = session;
    this.#stop = runtime.hooks.on(
      "pre_tool_call",
      async ({ session: { id }, callId, tool, args }) => {
        if (id !== session.id) return;
        const effects = await session.effectsOf({ id: callId, name: tool, arguments: args });
        this.#before.set(callId, await this.#look(writtenIn(effects)));
      },
      { name: "what an editor is shown of changes" },
    );
  }

  /** What a call has changed; given once. */
  async take(callId: string): Promise<acp.ToolCallContent[]> {
    const before = this.#before.get(callId) ?? [];
    this.#before.delete(callId);
    const now = await this.#look(before.map(({ path }) => path));
    return before.flatMap(({ path, text: oldText }): acp.ToolCallContent[] => {
      const newText = now.find((one) => one.path === path)?.text;
      if (newText === undefined || newText === oldText) return [];
      return [{ type: "diff", path, oldText: oldText ?? null, newText }];
    });
  }

  close(): void {
    this.#stop();
  }

  async #look(paths: readonly string[]): Promise<readonly Before[]> {
    const seen = await Promise.all(paths.map((path) => this.#read(path)));
    return seen.filter((one) => one !== undefined);
  }

  /** Undefined for what is no text file of a size that can be shown. */
  async #read(path: string): Promise<Before | undefined> {
    const { files } = this.#session.scope.environment;
    try {
      const found = await files.stat(path);
      if (found === undefined) return { path, text: undefined };
      if (found.type !== "file" || found.size > MAX_BYTES) return undefined;
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await files.read(path));
      return text.includes("\0") ? undefined : { path, text };
    } catch {
      return undefined;
    }
  }
}

function writtenIn(effects: readonly Effect[]): readonly string[] {
  const paths = effects
    .filter(
      ({ action, mode, resource }) => mode === "write" && action.startsWith("file:") && isAbsolute(resource),
    )
    .map(({ resource }) => resource);
  return [...new Set(paths)].slice(0, MAX_FILES);
}
