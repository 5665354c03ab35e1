import { type ReactNode, useState } from "react";
import type { Content } from "../api/types.js";
import { count, plural } from "../lib/format.js";
import { markedParts, unmarked } from "../lib/marked.js";
import { cellText, type FoundTable, isRecord, tableOf } from "../lib/table-of.js";
import { visible } from "../lib/visible.js";
import { Code, Cut } from "./bits.js";
import { Segmented } from "./controls.js";
import { Patch } from "./diff.js";
import { JsonView } from "./json-view.js";
import { Picture, Sound } from "./picture.js";

export interface ShownResult {
  readonly content: readonly Content[];
  readonly structured?: unknown;
  readonly human?: string | undefined;
}

interface View {
  readonly key: string;
  readonly label: string;
  readonly body: ReactNode;
}

/** What a call gave, in the shape that says most: picture, changes, terminal, table, text; JSON is always one step away. */
export function ResultBody(props: { readonly result: ShownResult; readonly command?: string | undefined }) {
  const views = viewsOf(props.result, props.command);
  const [wanted, setWanted] = useState<string>();
  const shown = views.find(({ key }) => key === wanted) ?? views[0];
  if (shown === undefined) return <p className="about">It gave nothing back.</p>;
  return (
    <div className="shown">
      {views.length > 1 && (
        <div className="shown-as">
          <Segmented
            label="Show as"
            value={shown.key}
            options={views.slice(0, 4).map(({ key, label }) => ({ value: key, label }))}
            onChange={setWanted}
          />
        </div>
      )}
      {shown.body}
    </div>
  );
}

function viewsOf(result: ShownResult, command: string | undefined): readonly View[] {
  const text = textOf(result.content);
  const value = result.structured ?? parsed(text);
  const views: View[] = [];
  const media = result.content.filter(({ type }) => type === "image" || type === "audio");
  if (media.length > 0)
    views.push({ key: "picture", label: "Picture", body: media.map((part, index) => mediaOf(part, index)) });
  const patch = patchIn(value, text);
  if (patch !== undefined)
    views.push({ key: "diff", label: "Changes", body: <Patch text={patch} label="Changes" /> });
  const run = runOf(value);
  if (run !== undefined)
    views.push({
      key: "terminal",
      label: "Terminal",
      body: <TerminalText {...run} command={command} />,
    });
  const table = tableOf(value);
  if (table !== undefined) views.push({ key: "table", label: "Table", body: <Rows table={table} /> });
  const human = result.human === undefined || result.human === "" ? text : result.human;
  if (human !== "" && run === undefined && parsed(unmarked(human)) === undefined)
    views.push({ key: "text", label: "Text", body: <MarkedText text={human} /> });
  if (value !== undefined)
    views.push({ key: "json", label: "JSON", body: <JsonView value={value} label="Result as JSON" /> });
  return views;
}

function mediaOf(part: Content, index: number): ReactNode {
  if (part.type === "image") return <Picture key={index} data={part.data} mimeType={part.mimeType} />;
  return part.type === "audio" ? <Sound key={index} data={part.data} mimeType={part.mimeType} /> : null;
}

export function textOf(content: readonly Content[]): string {
  return content
    .map((part) =>
      part.type === "text" ? part.text : part.type === "resource" ? (part.text ?? part.uri) : "",
    )
    .filter((text) => text !== "")
    .join("\n");
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const PATCH = /^(?:diff --git |--- |@@ -\d)/m;

function patchIn(value: unknown, text: string): string | undefined {
  const given = isRecord(value) ? (value.diff ?? value.patch) : text;
  return typeof given === "string" && PATCH.test(given) && /^@@/m.test(given) ? given : undefined;
}

interface Run {
  readonly output: string;
  readonly exitCode: number | undefined;
}

function runOf(value: unknown): Run | undefined {
  if (!isRecord(value) || typeof value.output !== "string" || !("exit_code" in value)) return undefined;
  return {
    output: value.output,
    exitCode: typeof value.exit_code === "number" ? value.exit_code : undefined,
  };
}

function TerminalText(props: Run & { readonly command: string | undefined }) {
  return (
    <Code wrap label="Terminal">
      {props.command !== undefined && <span className="d">{`$ ${visible(props.command)}\n`}</span>}
      {visible(props.output.replace(/\n$/, ""))}
      {props.exitCode !== undefined && props.exitCode !== 0 && (
        <span className="bad-text">{`\nexit code ${props.exitCode}`}</span>
      )}
    </Code>
  );
}

export function MarkedText(props: { readonly text: string; readonly label?: string }) {
  return (
    <Code wrap label={props.label ?? "Output"}>
      {markedParts(props.text).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
        <span key={index} className={part.meaning === undefined ? undefined : `m-${part.meaning}`}>
          {visible(part.text)}
        </span>
      ))}
    </Code>
  );
}

function Rows({ table }: { readonly table: FoundTable }) {
  return (
    <div className="rows">
      <div className="tablewrap" tabIndex={0} role="group" aria-label="Table">
        <table className="table">
          <thead>
            <tr>
              {table.columns.map((column) => (
                <th key={column} scope="col">
                  {visible(column)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own
              <tr key={index}>
                {table.columns.map((column) => (
                  <td key={column} className={typeof row[column] === "number" ? "num" : ""}>
                    <Cut text={cellText(row[column])} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="rows-foot">
        {table.total > table.rows.length
          ? `The first ${count(table.rows.length)} of ${plural(table.total, "row")}`
          : plural(table.total, "row")}
        {table.path !== "" && (
          <>
            {" "}
            from <code>{visible(table.path)}</code>
          </>
        )}
      </p>
    </div>
  );
}
