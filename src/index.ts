// The declarations speak of Buffer and Disposable: whoever compiles against them needs the types of Node.
/// <reference types="node" preserve="true" />
export { type AiSdkTool, toAiSdkTools } from "./adapters/ai-sdk.js";
export { type LangChainTool, toLangChainTools } from "./adapters/langchain.js";
export { type OpenAIAgentsTool, toOpenAIAgentsTools } from "./adapters/openai-agents.js";
export type { Agent, SendOptions } from "./agent/agent.js";
export { type CreateAgentOptions, createAgent } from "./agent/create-agent.js";
export type { AgentEvent, AgentResult, AgentUsage, StopReason } from "./agent/events.js";
export type {
  Bill,
  Conversation,
  ConversationStore,
  FoundMessage,
  HeldElsewhere,
  NewMessage,
  StoredMessage,
} from "./agent/sessions/types.js";
export type { AgentModel } from "./agent/turn.js";
export type { RunOptions } from "./call/call-record.js";
export type { EffectKey } from "./call/effect-keys.js";
export { type EffectLocks, InProcessLocks, type LockRequest, type Release } from "./call/effect-locks.js";
export type { GuardrailMode } from "./call/guardrails.js";
export type { HookName, HookOptions, HookTypes, PostToolCall, PreAnswer, PreToolCall } from "./call/hooks.js";
export type {
  CallIntent,
  CallOutcome,
  Journal,
  JournalEntry,
  JournalRow,
} from "./call/journal.js";
export type {
  ApprovalAnswer,
  ApprovalReply,
  ApprovalRequest,
  Approver,
  Door,
  JudgedSegment,
  Policy,
  PolicyQuestion,
  Verdict,
} from "./call/scope.js";
export {
  type CallCounts,
  type GroupStats,
  type JournalStats,
  noStats,
  type StatsFilter,
  type StatsQuery,
  type ToolStats,
} from "./call/stats/stats.js";
export { type ClusterMember, type ClusterWorker, joinCluster, startWorker } from "./cluster/join.js";
export type { Environment, ExecRequest, ExecResult } from "./env/environment.js";
export type { Transport, TransportProcess, TransportStart } from "./env/remote/transport.js";
export { type AnthropicOptions, anthropicClient } from "./model/anthropic.js";
export { type GeminiOptions, geminiClient } from "./model/gemini.js";
export {
  complete,
  type ModelAnswer,
  type ModelClient,
  ModelError,
  type ModelErrorCode,
  type ModelFinish,
  type ModelMessage,
  type ModelPart,
  type ModelPurpose,
  type ModelRequest,
  type ModelUsage,
  type OpaqueAnswer,
} from "./model/model-client.js";
export { type ChatCompletionsOptions, chatCompletionsClient } from "./model/openai-chat.js";
export { type ResponsesOptions, responsesClient } from "./model/openai-responses.js";
export type { RuntimeEvent } from "./observe/events.js";
export { createLogger, type Logger } from "./observe/log.js";
export type { ApprovalStore } from "./policy/approvals/store.js";
export {
  encodeDefinitions,
  encodeResults,
  modelText,
  type ParsedRequest,
  parseRequest,
  parseRequestText,
  type WireFormat,
} from "./protocol/index.js";
export { registry } from "./registry/active.js";
export type { Vocabulary } from "./registry/aliases.js";
export type { Status } from "./registry/availability.js";
export type { ToolDefinition } from "./registry/definitions.js";
export type { Provenance } from "./registry/entry.js";
export { type Registration, type RegistrationExtras, ToolRegistry } from "./registry/registry.js";
export type { CustomToolset, ToolsetInfo } from "./registry/toolsets.js";
export { createRuntime, type RuntimeOptions } from "./runtime/create-runtime.js";
export type { DefinitionsRequest, ToolListing } from "./runtime/definitions.js";
export type {
  ApproverFunction,
  OpenSessionOptions as SessionOptions,
} from "./runtime/open-session-options.js";
export type { Runtime } from "./runtime/runtime.js";
export type { CallExplanation, CallRequest, Session } from "./runtime/session.js";
export {
  type CommandInvocation,
  definePlugin,
  type EnvironmentFactory,
  type EnvironmentRequest,
  type PluginCommand,
  type PluginContext,
  type PluginTool,
  type RegisterPlugin,
} from "./sources/plugins/types.js";
export { BaseTool, toolFromBase } from "./tool/base-tool.js";
export type { CallResult, Decision, IncomingCall } from "./tool/call.js";
export { type Content, text, textOf } from "./tool/content.js";
export { tool, toolsOf } from "./tool/decorator.js";
export { type ArgsOf, defineTool, type ToolDefinition as ToolSource } from "./tool/define.js";
export type { Effect, EffectScope, Permission } from "./tool/effects.js";
export { ERROR_CODES, type ErrorCode, type Failure, HermesError, ToolError } from "./tool/errors.js";
export type * from "./tool/host-capabilities.js";
export type { FromSchema, JsonSchema } from "./tool/json-schema.js";
export { mark, markDiff, plainText } from "./tool/marked-text.js";
export { ToolResult } from "./tool/result.js";
export type {
  AnyTool,
  Availability,
  CallContext,
  Kept,
  Needs,
  NestedTool,
  NestedTools,
  NestedToolsOptions,
  Progress,
  Tool,
  ToolExample,
} from "./tool/tool.js";
export { VERSION } from "./version.js";
