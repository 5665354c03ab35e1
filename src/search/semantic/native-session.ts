import { createRequire } from "node:module";
import type { ModelPlaces } from "./model-protocol.js";

/** The part of the runtime's native interface that is used. It is pinned by its hash, so it cannot change. */
interface NativeRuntime {
  readonly InferenceSession: new () => {
    loadModel(path: string, options: Readonly<Record<string, unknown>>): void;
    run(
      feeds: Readonly<Record<string, NativeTensor>>,
      fetches: Readonly<Record<string, null>>,
      options: object,
    ): Readonly<Record<string, { readonly data: Float32Array }>>;
  };
}

interface NativeTensor {
  readonly type: "int64";
  readonly data: BigInt64Array;
  readonly dims: readonly number[];
}

export interface NativeSession {
  /** A vector per piece, every text padded to the longest. */
  run(encoded: readonly (readonly number[])[]): Float32Array;
}

export function openNativeSession(places: ModelPlaces): NativeSession {
  const native = createRequire(import.meta.url)(places.runtime) as NativeRuntime;
  const session = new native.InferenceSession();
  session.loadModel(places.model, {
    intraOpNumThreads: places.threads,
    executionProviders: ["cpu"],
    graphOptimizationLevel: "all",
    logSeverityLevel: 3,
  });
  return {
    run(encoded) {
      const longest = Math.max(...encoded.map(({ length }) => length));
      const pieces = new BigInt64Array(encoded.length * longest);
      const mask = new BigInt64Array(encoded.length * longest);
      for (const [row, numbers] of encoded.entries()) {
        for (const [at, number] of numbers.entries()) {
          pieces[row * longest + at] = BigInt(number);
          mask[row * longest + at] = 1n;
        }
      }
      const tensor = (data: BigInt64Array): NativeTensor => ({
        type: "int64",
        data,
        dims: [encoded.length, longest],
      });
      const feeds = {
        input_ids: tensor(pieces),
        attention_mask: tensor(mask),
        token_type_ids: tensor(new BigInt64Array(pieces.length)),
      };
      const { last_hidden_state: hidden } = session.run(feeds, { last_hidden_state: null }, {});
      if (hidden === undefined) throw new Error("the model gave no answer");
      return hidden.data;
    },
  };
}
