import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { compileValidator, type Validator } from "../../src/tool/validate.js";

const suite = join(import.meta.dirname, "../fixtures/json-schema-draft7");

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}

function remotes(accept: (path: string) => boolean): Record<string, unknown> {
  const root = join(suite, "remotes");
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => relative(root, join(entry.parentPath, entry.name))).filter(accept);
  return Object.fromEntries(
    paths.map((path) => [`http://localhost:1234/${path}`, readJson(join(root, path))]),
  );
}

function compileOrExplain(schema: unknown, known: Record<string, unknown>): Validator | string {
  try {
    return compileValidator(schema, { known });
  } catch (error) {
    return String(error);
  }
}

function run(draft: string, known: Record<string, unknown>) {
  const failures: string[] = [];
  const contradictions: string[] = [];
  let total = 0;
  for (const file of readdirSync(join(suite, draft))) {
    for (const group of readJson(join(suite, draft, file)) as Group[]) {
      const validator = compileOrExplain(group.schema, known);
      for (const test of group.tests) {
        total += 1;
        const name = `${file}: ${group.description}: ${test.description}`;
        const verdict = typeof validator === "string" ? validator : validator.check(test.data);
        if (verdict !== test.valid) failures.push(name);
        if (typeof validator === "string") continue;
        if ((validator.issues(test.data).length === 0) !== verdict) contradictions.push(name);
      }
    }
  }
  console.log(`JSON Schema ${draft}: ${total - failures.length} of ${total} required cases`);
  return { total, failures, contradictions };
}

describe("the validator behind decode, on the public JSON Schema suite", () => {
  it("gives the right verdict on all 927 required draft-07 cases", () => {
    const result = run(
      "draft7",
      remotes((path) => !path.startsWith("draft2020-12")),
    );
    expect(result.failures).toEqual([]);
    expect(result.total).toBe(927);
    expect(result.contradictions).toEqual([]);
  });

  it("gives the right verdict on all but one required 2020-12 case", () => {
    const result = run(
      "draft2020-12",
      remotes((path) => path.startsWith("draft2020-12")),
    );
    // Switching keywords off through a home-made metaschema is the one thing that is not supported.
    expect(result.failures).toEqual([
      "vocabulary.json: schema that uses custom metaschema with with no validation vocabulary: no validation: invalid number, but it still validates",
    ]);
    expect(result.total).toBe(1299);
    expect(result.contradictions).toEqual([]);
  });
});
