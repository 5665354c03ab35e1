/** One finding, whatever linter found it. */
export interface Diagnostic {
  readonly file: string;
  readonly line: number;
  readonly col: number;
  readonly rule: string;
  readonly severity: "error" | "warning" | "info";
  readonly message: string;
  readonly fixable?: boolean | undefined;
}

export interface Counts {
  readonly errors: number;
  readonly warnings: number;
  readonly fixable: number;
}

export function countsOf(diagnostics: readonly Diagnostic[]): Counts {
  return {
    errors: diagnostics.filter(({ severity }) => severity === "error").length,
    warnings: diagnostics.filter(({ severity }) => severity === "warning").length,
    fixable: diagnostics.filter(({ fixable }) => fixable === true).length,
  };
}

export function inOrder(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...diagnostics].sort(
    (left, right) => compare(left.file, right.file) || left.line - right.line || left.col - right.col,
  );
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
