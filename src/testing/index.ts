// The declarations speak of Buffer and Disposable: whoever compiles against them needs the types of Node.
/// <reference types="node" preserve="true" />
export type { Environment } from "../env/environment.js";
// An environment that passes, to compare one's own with.
export { createLocalEnvironment, type LocalEnvironmentOptions } from "../env/local/local.js";
export type { TapedCall } from "../replay/tape.js";
export { type ConformanceContext, conformanceContext } from "./conformance/context.js";
export type { ConformanceCase, ConformanceFeature, ConformanceSetup } from "./conformance/types.js";
export { environmentConformance } from "./environment-conformance.js";
export { type ReplayModelOptions, replayModel } from "./replay-model.js";
export { type ReplayedTools, replayTools } from "./replay-tools.js";
