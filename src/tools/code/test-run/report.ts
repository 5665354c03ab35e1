/** What a test run came to, whichever program ran it. */
export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly TestFailure[];
}

export interface TestFailure {
  readonly name: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly message: string;
}

const MAX_MESSAGE_CHARS = 2_000;

/** A message without colours, bounded. */
export function messageText(text: string): string {
  const plain = text.replace(/\x1b\[[\d;]*m/g, "").trim();
  return plain.length <= MAX_MESSAGE_CHARS ? plain : `${plain.slice(0, MAX_MESSAGE_CHARS)}…`;
}
