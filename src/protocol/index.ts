export type { ParsedRequest, WireFormat } from "./adapter.js";
export { exceedsDepth, valueExceedsDepth } from "./depth.js";
export { encodeDefinitions, encodeResults, wireId } from "./encode.js";
export { mcpResult } from "./mcp.js";
export { modelText } from "./model-text.js";
export { isParsedRequest, MAX_CALLS, parseRequest } from "./parse-request.js";
export { MAX_REQUEST_BYTES, parseRequestText } from "./parse-text.js";
export { normalizeToolName } from "./tool-names.js";
