/** What the process that runs the model is told when it starts. */
export interface ModelPlaces {
  /** The native part of the runtime. */
  readonly runtime: string;
  readonly model: string;
  readonly vocabulary: string;
  readonly threads: number;
}

export interface ModelOrder {
  readonly id: number;
  readonly texts: readonly string[];
}

export type ModelAnswer =
  | { readonly ready: true }
  /** One vector after the other. */
  | { readonly id: number; readonly vectors: Float32Array }
  | { readonly id: number; readonly error: string };

export const DIMENSIONS = 384;
/** The model was trained on texts up to this length; what follows is cut off. */
export const LONGEST_TEXT = 128;
