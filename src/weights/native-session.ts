import { createRequire } from "node:module";

export type NativeTensor =
  | { readonly type: "int64"; readonly data: BigInt64Array; readonly dims: readonly number[] }
  | { readonly type: "float32"; readonly data: Float32Array; readonly dims: readonly number[] }
  | { readonly type: "bool"; readonly data: Uint8Array; readonly dims: readonly number[] };

export interface NumberTensor {
  readonly type: "float32";
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

type Feeds = Readonly<Record<string, NativeTensor>>;

/** The part of the runtime's native interface that is used. It is pinned by its hash, so it cannot change. */
interface NativeRuntime {
  readonly InferenceSession: new () => {
    readonly inputNames: readonly string[];
    readonly outputNames: readonly string[];
    loadModel(path: string, options: Readonly<Record<string, unknown>>): void;
    run(
      feeds: Feeds,
      fetches: Readonly<Record<string, null>>,
      options: object,
    ): Readonly<Record<string, NumberTensor>>;
  };
}

export interface NativeSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Computes the named outputs, all of them unless named; blocks until they are there. */
  run(feeds: Feeds, outputs?: readonly string[]): Readonly<Record<string, NumberTensor>>;
}

/** For processes of their own only: native code that fails takes its process with it. */
export function openNativeSession(places: {
  readonly runtime: string;
  readonly model: string;
  readonly threads: number;
}): NativeSession {
  const native = createRequire(import.meta.url)(places.runtime) as NativeRuntime;
  const session = new native.InferenceSession();
  session.loadModel(places.model, {
    intraOpNumThreads: places.threads,
    executionProviders: ["cpu"],
    graphOptimizationLevel: "all",
    logSeverityLevel: 3,
  });
  return {
    inputNames: session.inputNames,
    outputNames: session.outputNames,
    run: (feeds, outputs = session.outputNames) =>
      session.run(feeds, Object.fromEntries(outputs.map((name) => [name, null])), {}),
  };
}
