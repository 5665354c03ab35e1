// 100,000 files: search_files against the same ripgrep started by plain node, which only counts lines.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { randomNumbers } from "../fuzzy/random.mjs";
import { ratios, summary } from "../statistics.mjs";

const FILES_PER_FOLDER = 50;
const WORDS =
  "account buffer client config cursor device event filter handler index loader matrix parser queue record route search server stream table token value worker".split(
    " ",
  );

export async function measureSearch({ dist, effort }) {
  const tree = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  try {
    const expected = makeTree(tree, effort.outputBytes >= 1e8 ? 2_000 : 40);
    return await withSubjects(async ({ start }) => {
      const bare = await start("search", { tree, expected });
      const tool = await start("search", { tree, expected, dist });
      const samples = await takeTurns(
        {
          "bare-content": { subject: bare, operation: "content" },
          content: { subject: tool, operation: "content" },
          "bare-list": { subject: bare, operation: "list" },
          list: { subject: tool, operation: "list" },
          "list-by-name": { subject: tool, operation: "listByName" },
          "bare-list-sorted": { subject: bare, operation: "sortedList" },
        },
        effort,
      );
      return {
        files: expected.files,
        milliseconds: Object.fromEntries(
          Object.entries(samples).map(([id, values]) => [id, summary(values.map((value) => value / 1e6))]),
        ),
        ratios: {
          ...ratios(samples, "content", ["bare-content"]),
          ...ratios(samples, "list", ["bare-list"]),
          ...ratios(samples, "list-by-name", ["bare-list"]),
        },
      };
    });
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** Source files of 10 to 70 lines; every fiftieth holds what is looked for, every hundredth is called rare…. */
function makeTree(tree, folders) {
  const random = randomNumbers(7);
  const word = () => random.pick(WORDS);
  const expected = { files: folders * FILES_PER_FOLDER, lines: 0, named: 0 };
  for (let folder = 0; folder < folders; folder += 1) {
    const path = join(tree, `package${folder % 40}`, `${word()}-${folder}`, word());
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < FILES_PER_FOLDER; file += 1) {
      const lines = Array.from(
        { length: 10 + random.below(60) },
        () => `  const ${word()}_${word()} = ${word()}(${word()}, "${word()} ${word()}");`,
      );
      if (random.next() < 0.02) {
        lines.push("  needleFunction(42);");
        expected.lines += 1;
      }
      const rare = random.next() < 0.01;
      if (rare) expected.named += 1;
      writeFileSync(join(path, `${rare ? "rare" : word()}-${word()}-${file}.ts`), `${lines.join("\n")}\n`);
    }
  }
  return expected;
}
