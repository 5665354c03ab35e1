interface Cell {
  readonly cell_type?: unknown;
  readonly source?: unknown;
  readonly outputs?: unknown;
}

const MAX_OUTPUT_CHARS = 2000;

/** A Jupyter notebook as plain text; undefined when the JSON is not one. */
export function notebookToText(json: string): string | undefined {
  let notebook: unknown;
  try {
    notebook = JSON.parse(json);
  } catch {
    return undefined;
  }
  const cells = (notebook as { cells?: unknown } | null)?.cells;
  if (!Array.isArray(cells)) return undefined;
  return cells
    .map((cell: Cell, index) => {
      const head = `# %% [${index + 1}] ${typeof cell?.cell_type === "string" ? cell.cell_type : "cell"}`;
      const outputs = Array.isArray(cell?.outputs) ? cell.outputs.map(outputText).filter(Boolean) : [];
      return [head, joined(cell?.source), ...outputs.map((text) => `# output:\n${text}`)].join("\n");
    })
    .join("\n\n")
    .concat("\n");
}

function outputText(output: unknown): string {
  const { text, data, ename, evalue } = output as Record<string, unknown>;
  if (typeof ename === "string") return `${ename}: ${String(evalue)}`;
  const plain = joined(text) || joined((data as Record<string, unknown> | undefined)?.["text/plain"]);
  const kinds = Object.keys((data ?? {}) as object).filter((kind) => kind !== "text/plain");
  const shown =
    plain.length > MAX_OUTPUT_CHARS
      ? `${plain.slice(0, MAX_OUTPUT_CHARS)}\n[${plain.length - MAX_OUTPUT_CHARS} more characters of output]`
      : plain;
  return [shown, kinds.length > 0 ? `[also as ${kinds.join(", ")}]` : ""].filter(Boolean).join("\n");
}

function joined(source: unknown): string {
  return Array.isArray(source) ? source.join("") : typeof source === "string" ? source : "";
}
