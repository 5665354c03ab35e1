import { existsSync } from "node:fs";
import { isRecord } from "../base/record.js";
import { ending, mintCallId } from "./assemble-calls.js";
import { ggufHistory, grammarSchema, type HistoryItem } from "./gguf-history.js";
import { type ModelClient, ModelError, type ModelPart, type ModelRequest } from "./model-client.js";

export type LoadPackage = (name: string) => Promise<unknown>;

export const LLAMA_PACKAGE = "node-llama-cpp";
const SETUP = "hermes setup model --provider gguf --name FILE";

export interface GgufOptions {
  /** The file with the weights. */
  readonly path: string;
  readonly loadPackage: LoadPackage | undefined;
}

/** What is used of node-llama-cpp. */
interface Library {
  getLlama(options: { readonly build: "never"; readonly logLevel: "error" }): Promise<Llama>;
  readonly LlamaChat: new (options: { readonly contextSequence: Sequence }) => Chat;
}

interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<{
    createContext(): Promise<{ readonly contextSize: number; getSequence(): Sequence }>;
  }>;
}

interface Sequence {
  readonly tokenMeter: { getState(): TokenCount; diff(before: TokenCount): TokenCount };
}

interface TokenCount {
  readonly usedInputTokens: number;
  readonly usedOutputTokens: number;
}

interface Chat {
  generateResponse(
    history: readonly HistoryItem[],
    options: {
      readonly signal?: AbortSignal;
      readonly maxTokens?: number;
      readonly temperature?: number;
      readonly customStopTriggers?: readonly string[];
      readonly functions?: Readonly<Record<string, { description: string; params: unknown }>>;
      readonly documentFunctionParams?: boolean;
      onResponseChunk(chunk: { readonly type?: string; readonly text: string }): void;
      onFunctionCallParamsChunk?(chunk: { readonly callIndex: number; readonly functionName: string }): void;
    },
  ): Promise<{
    readonly functionCalls?: readonly { readonly functionName: string; readonly params: unknown }[];
    readonly metadata: { readonly stopReason: string };
  }>;
}

interface Loaded {
  readonly chat: Chat;
  readonly sequence: Sequence;
}

/** A model in a file, run in this process by llama.cpp. Loaded when it is first asked; one answer at a time. */
export function ggufClient(options: GgufOptions): ModelClient {
  let loading: Promise<Loaded> | undefined;
  let busy: Promise<unknown> = Promise.resolve();
  return {
    async *stream(request) {
      loading ??= load(options).catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      const loaded = await loading;
      const before = busy;
      const parts = new PartQueue();
      const answering = before.then(() => generate(loaded, request, parts));
      busy = answering.catch(() => undefined);
      answering.then(
        () => parts.end(),
        (error: unknown) => parts.end(error),
      );
      yield* parts.read();
    },
  };
}

async function load({ path, loadPackage }: GgufOptions): Promise<Loaded> {
  if (!existsSync(path)) throw new ModelError("unreachable", `there is no file ${path}`);
  let library: Library;
  try {
    if (loadPackage === undefined) throw new Error("nobody loads packages here");
    library = (await loadPackage(LLAMA_PACKAGE)) as Library;
  } catch {
    throw new ModelError(
      "unreachable",
      `${LLAMA_PACKAGE}, which runs GGUF files, is not installed: ${SETUP}`,
    );
  }
  try {
    const llama = await library.getLlama({ build: "never", logLevel: "error" });
    const model = await llama.loadModel({ modelPath: path });
    const sequence = (await model.createContext()).getSequence();
    return { sequence, chat: new library.LlamaChat({ contextSequence: sequence }) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ModelError("unreachable", `${path} cannot be loaded as a model: ${why}`);
  }
}

async function generate({ chat, sequence }: Loaded, request: ModelRequest, parts: PartQueue): Promise<void> {
  const { signal, maxTokens, temperature, stop, tools = [] } = request;
  signal?.throwIfAborted();
  const before = sequence.tokenMeter.getState();
  const ids = new Map<number, string>();
  const idOf = (at: number): string => {
    const id = ids.get(at) ?? mintCallId();
    ids.set(at, id);
    return id;
  };
  const functions = Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      { description, params: grammarSchema(parameters) },
    ]),
  );
  const answer = await chat.generateResponse(ggufHistory(request.messages), {
    ...(signal !== undefined && { signal }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stop !== undefined && { customStopTriggers: stop }),
    ...(tools.length > 0 && { functions, documentFunctionParams: true }),
    onResponseChunk({ type, text }) {
      if (text !== "") parts.add({ type: type === "segment" ? "reasoning" : "text", text });
    },
    ...(tools.length > 0 && {
      onFunctionCallParamsChunk({ callIndex, functionName }) {
        if (!ids.has(callIndex))
          parts.add({ type: "tool_call_begun", id: idOf(callIndex), name: functionName });
      },
    }),
  });
  const { usedInputTokens, usedOutputTokens } = sequence.tokenMeter.diff(before);
  const calls = (answer.functionCalls ?? []).map(({ functionName, params }, at) => ({
    id: idOf(at),
    name: functionName,
    arguments: JSON.stringify(isRecord(params) ? params : {}),
  }));
  const reason = answer.metadata.stopReason === "maxTokens" ? "length" : "stop";
  const usage = { inputTokens: usedInputTokens, outputTokens: usedOutputTokens };
  for (const part of ending(calls, { reason, usage })) parts.add(part);
}

/** From callbacks to whoever reads. */
class PartQueue {
  readonly #parts: ModelPart[] = [];
  #ended: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  add(part: ModelPart): void {
    this.#parts.push(part);
    this.#wake();
  }

  end(error?: unknown): void {
    this.#ended = { error };
    this.#wake();
  }

  async *read(): AsyncGenerator<ModelPart> {
    for (;;) {
      const part = this.#parts.shift();
      if (part !== undefined) yield part;
      else if (this.#ended !== undefined) {
        if (this.#ended.error !== undefined) throw this.#ended.error;
        return;
      } else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
