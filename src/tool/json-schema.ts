/** A JSON Schema object. Draft-07 unless `$schema` says 2020-12. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** Marks a parameter of a built-in tool that is accepted, but that a model is not told of in its definition. */
export const UNTOLD = "x-untold";

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

type TypeName = "string" | "number" | "integer" | "boolean" | "null" | "object" | "array";

interface TypeMap {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

type Flatten<T> = { [K in keyof T]: T[K] } & {};

type RequiredKeys<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;
type DefaultedKeys<P> = { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];

/** A property is present when it is required or has a default: decode fills defaults in. */
type PresentKeys<S, P> = Extract<keyof P, RequiredKeys<S> | DefaultedKeys<P>>;

type ObjectOf<S> = S extends { readonly properties: infer P }
  ? Flatten<
      { -readonly [K in PresentKeys<S, P>]: FromSchema<P[K]> } & {
        -readonly [K in Exclude<keyof P, PresentKeys<S, P>>]?: FromSchema<P[K]>;
      }
    >
  : S extends { readonly additionalProperties: infer A extends object }
    ? { [key: string]: FromSchema<A> }
    : { [key: string]: unknown };

type ArrayOf<S> = S extends { readonly items: infer I extends object } ? FromSchema<I>[] : unknown[];

type OfType<S, T> = T extends keyof TypeMap
  ? TypeMap[T]
  : T extends "object"
    ? ObjectOf<S>
    : T extends "array"
      ? ArrayOf<S>
      : unknown;

/** The TypeScript type of values that a JSON-Schema literal accepts, for the keywords tools use. */
export type FromSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer U)[] }
      ? U extends unknown
        ? FromSchema<U>
        : never
      : S extends { readonly oneOf: readonly (infer U)[] }
        ? U extends unknown
          ? FromSchema<U>
          : never
        : S extends { readonly type: infer T }
          ? T extends readonly (infer M)[]
            ? M extends TypeName
              ? OfType<S, M>
              : unknown
            : OfType<S, T>
          : S extends { readonly properties: unknown }
            ? ObjectOf<S>
            : unknown;
