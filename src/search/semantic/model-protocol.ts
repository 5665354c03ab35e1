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
  /** The texts are the wishes of one request, to be read in one go. */
  readonly asRequest: boolean;
}

export type ModelAnswer =
  | { readonly ready: true }
  /** One vector after the other. */
  | { readonly id: number; readonly vectors: Float32Array }
  | { readonly id: number; readonly error: string };

export const DIMENSIONS = 384;

/** To be counted up when the same text gets another vector than before: kept ones must not be mixed with those. */
export const RECIPE = 3;
/**
 * Stands between name, purpose and parameters of a tool. The model reads them as one text; name and purpose make the
 * vector, and the parameters only colour what those mean.
 */
export const PART_SIGN = "\u001f";

/** The model was trained on texts up to this length; what follows is cut off. */
export const LONGEST_TEXT = 128;
/** The same for a request of several wishes, and for each of them. */
export const LONGEST_REQUEST = 112;
export const LONGEST_WISH = 64;
