import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../base/errno.js";
import { isRecord } from "../../base/record.js";
import { hermesPaths } from "../../config/paths.js";
import { depthFor, Evaluation, type JudgedQuery } from "../../search/evaluate.js";
import { HybridFinder, type Judge } from "../../search/finder.js";
import { createLexicalIndex } from "../../search/lexical/index.js";
import { createEmbedder, type ModelEmbedder } from "../../search/semantic/embedder.js";
import { fetchModel } from "../../search/semantic/fetch-model.js";
import { findModel, MODEL_ID } from "../../search/semantic/model-files.js";
import { VectorCache } from "../../search/semantic/vector-cache.js";
import type { SearchableTool } from "../../search/types.js";
import type { HermesError } from "../../tool/errors.js";
import type { JsonSchema } from "../../tool/json-schema.js";
import { folderToFill } from "../../weights/folders.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { showFetching } from "../setup/search.js";

/** How well requests find their tools, measured over files. Always one JSON value on stdout. */
export async function searchEval(context: CommandContext): Promise<void> {
  const { options } = context;
  const ks = readKs(String(options.k ?? "1,5,10"));
  const tools = await readTools(String(options.tools));
  const queries = await readQueries(String(options.queries));
  const judges = readJudges(options);
  const embedder = judges.has("model") ? await openEmbedder(context) : undefined;
  try {
    const buildStart = performance.now();
    const lexical = createLexicalIndex(tools);
    const buildMs = performance.now() - buildStart;
    const vectorsStart = performance.now();
    const finder = new HybridFinder({
      tools,
      lexical,
      table: judges.has("table") ? undefined : false,
      embedder,
      cache: embedder && vectorCache(context.home, embedder),
      onProgress: (done, total) => context.out.note(`vectors: ${done} of ${total} new ones`),
    });
    await keepProcessAlive(finder.prepared);
    const vectorsMs = performance.now() - vectorsStart;

    const evaluation = new Evaluation(ks);
    const depth = depthFor(ks);
    // The first query pays for what is made ready once.
    await finder.search("find a tool", { limit: depth });
    let searching = 0;
    for (const judged of queries) {
      if (judged.relevant.size === 0) continue;
      const start = performance.now();
      const hits = await finder.search(judged.query, { limit: depth * 2 });
      searching += performance.now() - start;
      evaluation.add(
        judged,
        hits.map(({ index }) => tools[index]?.name ?? ""),
      );
    }
    if (finder.problem !== undefined) warn(finder.problem);
    const { recall, mrr, ndcg5 } = evaluation.measures();
    context.out.value({
      ...Object.fromEntries([...recall].map(([k, value]) => [`recall@${k}`, rounded(value)])),
      mrr: rounded(mrr),
      "ndcg@5": rounded(ndcg5),
      us_per_query: Math.round((searching / Math.max(1, evaluation.count)) * 1000),
      build_ms: rounded(buildMs),
      judges: finder.judges,
      model: embedder && MODEL_ID,
      vectors_ms: finder.judges.length > 1 ? Math.round(vectorsMs) : undefined,
      tools: tools.length,
      queries: evaluation.count,
    });
  } finally {
    await embedder?.close();
  }
}

/** The model is fetched when it is not there yet; where that cannot be, words decide alone. */
async function openEmbedder({ home, out }: CommandContext): Promise<ModelEmbedder | undefined> {
  if (findModel({ home }) === undefined) {
    const progress = showFetching(out);
    try {
      await fetchModel({ folder: folderToFill({ home }), onProgress: progress.show });
    } catch (error) {
      warn(messageOf(error));
    } finally {
      progress.stop();
    }
  }
  const folder = findModel({ home });
  return folder === undefined ? undefined : createEmbedder(folder);
}

function vectorCache(home: string, { id, dimensions }: ModelEmbedder): VectorCache {
  const path = join(hermesPaths(home).cache, "tool-vectors.bin");
  return new VectorCache({ path, model: id, dimensions });
}

/** Vectors are made in the background, which keeps no program running; this one has nothing else to do. */
async function keepProcessAlive(work: Promise<void>): Promise<void> {
  const timer = setInterval(() => undefined, 60_000);
  await work.finally(() => clearInterval(timer));
}

function readKs(given: string): readonly number[] {
  const ks = given.split(",").map((part) => Number(part.trim()));
  if (ks.every((k) => Number.isInteger(k) && k >= 1 && k <= 1_000)) return ks;
  throw commandError(
    "bad_request",
    `--k ${given} is not a list of whole numbers from 1 to 1000`,
    "For example: --k 1,5,10",
  );
}

const JUDGES: readonly Judge[] = ["words", "table", "model"];

/** Words always judge: what the others say is added to theirs. */
function readJudges(options: CommandContext["options"]): ReadonlySet<Judge> {
  if (options.lexical === true) return new Set(["words"]);
  if (typeof options.judges !== "string") return new Set(JUDGES);
  const given = options.judges.split(",").map((judge) => judge.trim());
  const wanted = JUDGES.filter((judge) => given.includes(judge));
  if (given.includes("words") && wanted.length === given.length) return new Set(wanted);
  throw commandError(
    "bad_request",
    `--judges ${options.judges} is not a list of words, table and model that has words in it`,
    "For example: --judges words,table",
  );
}

function warn(why: string): void {
  process.stderr.write(`the model does not judge: ${why}\n`);
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

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
    throw commandError("bad_request", `cannot read ${file}: ${why}`);
  });
  const rows: { readonly row: Row; readonly wrong: (why: string) => HermesError }[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const wrong = (why: string) => commandError("bad_request", `${file} line ${index + 1}: ${why}`);
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
