/** How many characters of a result may reach a model. */
export interface ResultLimits {
  readonly perResult: number;
  readonly perTurn: number;
  readonly mcpResult: number;
  /** Characters kept inline when the whole text is spilled to a file. */
  readonly preview: number;
}

export const DEFAULT_LIMITS: ResultLimits = {
  perResult: 100_000,
  perTurn: 200_000,
  mcpResult: 50_000,
  preview: 1_500,
};

const CHARS_PER_TOKEN = 4;
const RESULT_SHARE = 0.15;
const TURN_SHARE = 0.3;
const RESULT_FLOOR = 8_000;
const TURN_FLOOR = 16_000;

/** Narrows the limits for a model with a small context window; never widens them. */
export function limitsForWindow(limits: ResultLimits, windowTokens: number): ResultLimits {
  const windowChars = windowTokens * CHARS_PER_TOKEN;
  const perResult = Math.max(RESULT_FLOOR, Math.floor(windowChars * RESULT_SHARE));
  const perTurn = Math.max(TURN_FLOOR, Math.floor(windowChars * TURN_SHARE));
  return {
    ...limits,
    perResult: Math.min(limits.perResult, perResult),
    mcpResult: Math.min(limits.mcpResult, perResult),
    perTurn: Math.min(limits.perTurn, perTurn),
  };
}

/**
 * The limit of one tool: pinned, then the operator's setting, then the MCP limit, then what the tool
 * declares (which may lower the default but not raise it), then the default.
 */
export function limitFor(options: {
  readonly pinned?: boolean;
  readonly configured?: number | undefined;
  readonly isMcp: boolean;
  readonly declared?: number | undefined;
  readonly limits: ResultLimits;
}): number {
  const { pinned, configured, isMcp, declared, limits } = options;
  if (pinned === true) return Number.POSITIVE_INFINITY;
  if (isLimit(configured)) return configured;
  if (isMcp) return limits.mcpResult;
  return isLimit(declared) ? Math.min(declared, limits.perResult) : limits.perResult;
}

function isLimit(value: number | undefined): value is number {
  return value !== undefined && value > 0;
}

/** The beginning of a text, cut back to the last whole line, or to a whole character where no line ends. */
export function previewOf(text: string, chars: number): string {
  if (text.length <= chars) return text;
  // A newline right behind the limit still ends a line inside it.
  const lineEnd = text.lastIndexOf("\n", chars);
  return lineEnd > 0 ? text.slice(0, lineEnd) : wholeCharacters(text, chars);
}

/** The first `length` code units, one less where that would split a surrogate pair. */
export function wholeCharacters(text: string, length: number): string {
  const end = Math.max(0, Math.min(Math.floor(length), text.length));
  const last = text.charCodeAt(end - 1);
  const splitsPair = end > 0 && end < text.length && last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? end - 1 : end);
}
