import { readFile } from "node:fs/promises";
import { messageOf } from "../base/errno.js";
import { isRecord } from "../base/record.js";
import type { JudgedQuery } from "../search/evaluate.js";
import type { SearchableTool } from "../search/types.js";
import { failure, HermesError } from "../tool/errors.js";
import type { JsonSchema } from "../tool/json-schema.js";

type Row = Readonly<Record<string, unknown>>;

/** One `{ name, description, parameters }` per line; only the name is required. */
export async function readTools(file: string): Promise<readonly SearchableTool[]> {
  return (await readRows(file)).map(({ row, wrong }) => {
    if (typeof row.name !== "string" || row.name === "") throw wrong('it has no "name"');
    const { parameters, source, tags } = row;
    return {
      name: row.name,
      description: typeof row.description === "string" ? row.description : "",
      parameters: isRecord(parameters) ? (parameters as JsonSchema) : { type: "object" },
      ...(typeof source === "string" && { source }),
      ...(Array.isArray(tags) && { tags: tags.filter((tag) => typeof tag === "string") }),
    };
  });
}

/** One `{ query, relevant: [names] }` per line. */
export async function readQueries(file: string): Promise<readonly JudgedQuery[]> {
  return (await readRows(file)).map(({ row, wrong }) => {
    if (typeof row.query !== "string") throw wrong('it has no "query"');
    const { relevant } = row;
    if (!Array.isArray(relevant) || relevant.some((name) => typeof name !== "string"))
      throw wrong('"relevant" is not a list of names');
    return { query: row.query, relevant: new Set(relevant as string[]) };
  });
}

async function readRows(file: string) {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    const why = messageOf(error);
    throw new HermesError(failure("bad_request", `cannot read ${file}: ${why}`));
  });
  const rows: { readonly row: Row; readonly wrong: (why: string) => HermesError }[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const wrong = (why: string) =>
      new HermesError(failure("bad_request", `${file} line ${index + 1}: ${why}`));
    rows.push({ row: parseRow(line, wrong), wrong });
  }
  return rows;
}

function parseRow(line: string, wrong: (why: string) => HermesError): Row {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw wrong(`it is not JSON (${messageOf(error)})`);
  }
  if (!isRecord(parsed)) throw wrong("it is not a JSON object");
  return parsed;
}
