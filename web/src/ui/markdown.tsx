import { Fragment, memo, type ReactNode } from "react";
import { visible } from "../lib/visible.js";
import { Code, CopyButton } from "./bits.js";

/**
 * Markdown as models write it, made into elements and never into markup: nothing in a text can become anything but the
 * few shapes below. Pictures and other schemes than http are left as text.
 */
export function Markdown({ text }: { readonly text: string }) {
  return (
    <div className="md">
      {blocksOf(text).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: text only grows at its end
        <Block key={index} source={block} />
      ))}
    </div>
  );
}

/** Parts between blank lines; fences stay whole. Only the last one changes while a text streams in. */
function blocksOf(text: string): readonly string[] {
  const blocks: string[] = [];
  let block: string[] = [];
  let fence = "";
  const close = () => {
    if (block.length > 0) blocks.push(block.join("\n"));
    block = [];
  };
  for (const line of text.split("\n")) {
    const [, mark = ""] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence !== "") {
      block.push(line);
      if (mark.startsWith(fence) && line.trim() === mark) {
        fence = "";
        close();
      }
    } else if (mark !== "") {
      close();
      fence = mark;
      block.push(line);
    } else if (line.trim() === "") {
      // A list goes on over a blank line when what follows is indented or another item.
      if (isList(block[0] ?? "")) block.push("");
      else close();
    } else {
      if (block.at(-1) === "" && !isList(line) && !/^\s{2,}/.test(line)) close();
      block.push(line);
    }
  }
  close();
  return blocks;
}

const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const isList = (line: string) => ITEM.test(line);

const Block = memo(function Block({ source }: { readonly source: string }): ReactNode {
  const lines = source.split("\n");
  const [first = ""] = lines;
  const [, mark, language = ""] = /^\s*(`{3,}|~{3,})\s*(\S*)/.exec(first) ?? [];
  if (mark !== undefined) {
    const last = lines.length > 1 && (lines.at(-1) ?? "").trim().startsWith(mark) ? -1 : undefined;
    return <Fence language={language} text={lines.slice(1, last).join("\n")} />;
  }
  const [, depth, title = ""] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(first) ?? [];
  if (depth !== undefined)
    return (
      <>
        <p
          className={depth.length < 3 ? "md-head big" : "md-head"}
          role="heading"
          aria-level={depth.length < 3 ? 2 : 3}
        >
          {inline(title)}
        </p>
        {lines.length > 1 && <Block source={lines.slice(1).join("\n")} />}
      </>
    );
  if (/^\s*([-*_])(?:\s*\1){2,}\s*$/.test(first) && lines.length === 1) return <hr />;
  if (isList(first)) return <ListOf lines={lines} />;
  if (first.startsWith(">"))
    return (
      <blockquote>
        <Markdown text={lines.map((line) => line.replace(/^>\s?/, "")).join("\n")} />
      </blockquote>
    );
  if (first.includes("|") && /^[\s|:-]+$/.test(lines[1] ?? "") && (lines[1] ?? "").includes("-"))
    return <TableOf lines={lines} />;
  const list = lines.findIndex((line, index) => index > 0 && isList(line));
  if (list > 0)
    return (
      <>
        <Block source={lines.slice(0, list).join("\n")} />
        <ListOf lines={lines.slice(list)} />
      </>
    );
  return (
    <p>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
        <Fragment key={index}>
          {index > 0 && (/(?: {2}|\\)$/.test(lines[index - 1] ?? "") ? <br /> : " ")}
          {inline(line.replace(/(?: {2,}|\\)$/, ""))}
        </Fragment>
      ))}
    </p>
  );
});

function Fence(props: { readonly language: string; readonly text: string }) {
  return (
    <div className="fence">
      <header>
        <span>{visible(props.language === "" ? "text" : props.language)}</span>
        <CopyButton look="plain" text={props.text} />
      </header>
      <Code label={`Code, ${visible(props.language === "" ? "text" : props.language)}`}>
        {visible(props.text)}
      </Code>
    </div>
  );
}

function ListOf({ lines }: { readonly lines: readonly string[] }) {
  const [, indent = "", bullet = "-"] = ITEM.exec(lines[0] ?? "") ?? [];
  const items: string[][] = [];
  for (const line of lines) {
    const [, depth = "", , text = ""] = ITEM.exec(line) ?? [];
    if (isList(line) && depth.length <= indent.length + 1) items.push([text]);
    else
      items
        .at(-1)
        ?.push(
          line.replace(new RegExp(`^\\s{0,${indent.length + 4}}`), (gone) =>
            isList(line) ? gone.slice(indent.length + 2) : "",
          ),
        );
  }
  const isOrdered = /\d/.test(bullet);
  const inside = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: an item is its place
    <li key={index}>
      <ItemOf lines={item} />
    </li>
  ));
  return isOrdered ? <ol start={Number.parseInt(bullet, 10)}>{inside}</ol> : <ul>{inside}</ul>;
}

function ItemOf({ lines }: { readonly lines: readonly string[] }) {
  const end = lines.findIndex((line, index) => index > 0 && (isList(line) || line.trim() === ""));
  const own = (end < 0 ? lines : lines.slice(0, end)).join(" ");
  const [, box, task] = /^\[([ xX])\]\s+(.*)$/.exec(own) ?? [];
  return (
    <>
      {box !== undefined && <span>{box === " " ? "☐ " : "☑ "}</span>}
      {inline(task ?? own)}
      {end >= 0 && <Markdown text={lines.slice(end).join("\n")} />}
    </>
  );
}

function TableOf({ lines }: { readonly lines: readonly string[] }) {
  const cells = (line: string) =>
    line
      .trim()
      .replace(/^\||\|$/g, "")
      .split("|")
      .map((cell) => cell.trim());
  const head = cells(lines[0] ?? "");
  const rows = lines.slice(2).map(cells);
  return (
    <div className="rows">
      <div className="tablewrap" tabIndex={0} role="group" aria-label="Table">
        <table className="table">
          <thead>
            <tr>
              {head.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
                <th key={index} scope="col">
                  {inline(cell)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
              <tr key={index}>
                {head.map((_, column) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
                  <td key={column}>{inline(row[column] ?? "")}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** Code, then links, then weight; what stands in code is never looked at again. */
const INLINE =
  /(`+)(?<code>[^`][\s\S]*?)\1|\[(?<name>[^\]\n]{1,400})\]\((?<href>https?:\/\/[^\s)]{1,2000})\)|(?<url>https?:\/\/[^\s<>()`]{1,2000}[^\s<>()`.,;:!?'"])|\*\*(?<bold>(?=\S)[^\n]+?)\*\*|~~(?<gone>[^\n]+?)~~|(?<![\w*])\*(?<star>(?=\S)[^*\n]+?)\*(?![\w*])|(?<!\w)_(?<low>(?=\S)[^_\n]+?)_(?!\w)/u;
const DEEPEST = 6;

function inline(text: string, depth = 0): ReactNode {
  const parts: ReactNode[] = [];
  let rest = text;
  while (rest !== "") {
    const match = depth > DEEPEST ? null : INLINE.exec(rest);
    if (match === null) break;
    if (match.index > 0) parts.push(visible(rest.slice(0, match.index)));
    parts.push(<Fragment key={parts.length}>{shapeOf(match.groups ?? {}, depth)}</Fragment>);
    rest = rest.slice(match.index + match[0].length);
  }
  parts.push(visible(rest));
  return parts;
}

function shapeOf(found: Readonly<Record<string, string | undefined>>, depth: number): ReactNode {
  const { code, name, href, url, bold, gone, star, low } = found;
  if (code !== undefined) return <code className="in-line">{visible(code)}</code>;
  const target = href ?? url;
  if (target !== undefined)
    return (
      // The address is shown on hover, because the name of a link may say anything.
      <a className="link" href={target} title={visible(target)} target="_blank" rel="noreferrer noopener">
        {name === undefined ? visible(target) : inline(name, depth + 1)}
      </a>
    );
  if (bold !== undefined) return <strong>{inline(bold, depth + 1)}</strong>;
  if (gone !== undefined) return <s>{inline(gone, depth + 1)}</s>;
  return <em>{inline(star ?? low ?? "", depth + 1)}</em>;
}
