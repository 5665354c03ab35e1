import type { Place } from "../config/types.js";
import type { JsonSchema } from "../tool/json-schema.js";
import type { ToolExample } from "../tool/tool.js";
import type { Endpoint } from "./endpoint.js";
import type { Condition, JsonPath } from "./json-path.js";
import type { QueryStyle } from "./query.js";
import type { Template } from "./template.js";

export const TOOL_TYPES = ["http_wrapper", "command", "composite"] as const;

export type ToolType = (typeof TOOL_TYPES)[number];

export type Where = "path" | "query" | "header" | "body" | "template";

/** One parameter of a tool: what a model is told of it, and where its value goes. */
export interface Parameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
  /** As written; worked out from the method and the templates when left out. */
  readonly in?: Exclude<Where, "template"> | undefined;
  /** Its name on the wire. */
  readonly sendAs: string;
  readonly style?: QueryStyle | undefined;
  readonly explode?: boolean | undefined;
  /** Its value may begin with `-` where a program would take that for an option. */
  readonly allowDash: boolean;
  readonly place?: Place | undefined;
}

export interface CommonSpec {
  readonly name: string;
  readonly description: string;
  readonly toolset: string;
  readonly emoji?: string | undefined;
  readonly tags: readonly string[];
  readonly aliases: readonly string[];
  readonly enabled: boolean;
  readonly parameters: readonly Parameter[];
  readonly schema: JsonSchema;
  readonly output?: JsonSchema | undefined;
  readonly examples: readonly ToolExample[];
  readonly timeoutSeconds: number;
  readonly place?: Place | undefined;
}

/** Where credentials come from: always names of environment variables, never values. */
export type Auth =
  | { readonly type: "basic"; readonly usernameEnv: string; readonly passwordEnv: string }
  | { readonly type: "bearer"; readonly tokenEnv: string }
  | { readonly type: "header"; readonly name: string; readonly valueEnv: string; readonly prefix: string }
  | { readonly type: "query"; readonly name: string; readonly valueEnv: string };

export interface Retries {
  /** How often a request is sent again. */
  readonly max: number;
  readonly statuses: readonly number[];
  readonly networkErrors: boolean;
  readonly anyMethod: boolean;
  readonly delayMs: number;
}

export interface ResponseSpec {
  readonly format: "auto" | "json" | "text";
  readonly select?: JsonPath | undefined;
  readonly fields?: readonly (readonly [name: string, path: JsonPath])[] | undefined;
  readonly errorPath?: JsonPath | undefined;
  /** Whether a status means success. */
  isSuccess(status: number): boolean;
  readonly maxBytes: number;
}

export interface PlacedParameter extends Parameter {
  readonly where: Where;
}

export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

export type Method = (typeof METHODS)[number];

export interface HttpSpec extends CommonSpec {
  readonly type: "http_wrapper";
  readonly endpoint: Endpoint;
  readonly method: Method;
  readonly auth: readonly Auth[];
  readonly headers: readonly (readonly [name: string, value: Template])[];
  readonly placed: readonly PlacedParameter[];
  readonly body?: Template | undefined;
  readonly contentType: string;
  readonly response: ResponseSpec;
  readonly retries: Retries;
  readonly followRedirects: boolean;
}

/** A group of arguments is left out as a whole when a parameter in it was not given. */
export type ArgumentGroup = readonly Template[];

/** A variable of the program: taken from another one, or written in the file. */
export type PassedVariable = readonly [
  name: string,
  from: { readonly env: string } | { readonly value: string },
];

export interface CommandSpec extends CommonSpec {
  readonly type: "command";
  readonly command: readonly ArgumentGroup[];
  readonly env: readonly PassedVariable[];
  readonly cwd?: Template | undefined;
  readonly stdin?: Template | undefined;
  readonly parse: "text" | "json" | "lines";
  readonly select?: JsonPath | undefined;
  readonly successExitCodes: readonly number[];
}

export interface Step {
  readonly id: string;
  readonly tool: string;
  readonly arguments: Template;
  readonly condition?: Condition | Extract<Template, { kind: "value" }> | undefined;
  readonly forEach?: Template | undefined;
  readonly maxItems: number;
  readonly onError: "stop" | "continue";
  readonly place?: Place | undefined;
}

export interface CompositeSpec extends CommonSpec {
  readonly type: "composite";
  readonly steps: readonly Step[];
  readonly result?: Template | undefined;
}

export type ToolSpec = HttpSpec | CommandSpec | CompositeSpec;
