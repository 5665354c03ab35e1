import { isRecord } from "../../../base/record.js";
import { messageText, type TestFailure, type TestReport } from "./report.js";

type Fields = Readonly<Record<string, unknown>>;

/** The JSON report that Jest made common and Vitest writes too. */
export function readJestJson(text: string): TestReport {
  const parsed: unknown = JSON.parse(text);
  if (!isRecord(parsed) || typeof parsed.numPassedTests !== "number") throw new TypeError("no test report");
  const files = recordsIn(parsed.testResults);
  const failures = files.flatMap((file): TestFailure[] => {
    const name = String(file.name ?? file.testFilePath ?? "");
    const failed = recordsIn(file.assertionResults ?? file.testResults).filter(
      ({ status }) => status === "failed",
    );
    const tests = failed.map((test) => ({
      name: String(test.fullName ?? test.title ?? ""),
      file: name,
      line:
        isRecord(test.location) && typeof test.location.line === "number" ? test.location.line : undefined,
      message: messageText(stringsIn(test.failureMessages).join("\n")),
    }));
    // A file that could not even be loaded has no tests that failed.
    if (tests.length === 0 && file.status === "failed")
      return [{ name: "(file)", file: name, message: messageText(String(file.message ?? "")) }];
    return tests;
  });
  const failed = number(parsed.numFailedTests);
  return {
    passed: number(parsed.numPassedTests),
    failed: Math.max(failed, failures.length),
    skipped: number(parsed.numPendingTests) + number(parsed.numTodoTests),
    failures,
  };
}

/** JUnit XML, as pytest and Node's own runner write it. */
export async function readJUnit(text: string): Promise<TestReport> {
  const { XMLParser } = await import("fast-xml-parser");
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "",
    textNodeName: "text",
    processEntities: true,
    isArray: (name) => ["testsuite", "testcase", "failure", "error"].includes(name),
  });
  const parsed: unknown = parser.parse(text);
  if (!isRecord(parsed) || (parsed.testsuites === undefined && parsed.testsuite === undefined)) {
    throw new TypeError("no test report");
  }
  const cases = casesBelow(parsed);
  const failures = cases.flatMap((test) =>
    [...recordsOrTexts(test.failure), ...recordsOrTexts(test.error)].map((problem) => ({
      name: [test.classname, test.name].filter((part) => typeof part === "string" && part !== "").join("::"),
      file: typeof test.file === "string" ? test.file : undefined,
      line: test.line !== undefined && Number.isInteger(Number(test.line)) ? Number(test.line) : undefined,
      message: messageText([problem.message, problem.text].filter(isText).join("\n")),
    })),
  );
  const failed = cases.filter((test) => test.failure !== undefined || test.error !== undefined).length;
  const skipped = cases.filter((test) => test.skipped !== undefined).length;
  return { passed: cases.length - failed - skipped, failed, skipped, failures };
}

function casesBelow(node: Fields): readonly Fields[] {
  const inner = Object.entries(node).flatMap(([name, value]) =>
    name === "testsuite" || name === "testsuites" ? recordsIn(value).flatMap(casesBelow) : [],
  );
  return [...recordsIn(node.testcase), ...inner];
}

/** The lines of `go test -json`. */
export function readGoJson(text: string): TestReport {
  const outputs = new Map<string, string>();
  const counts = { pass: 0, fail: 0, skip: 0 };
  const failures: TestFailure[] = [];
  let seen = false;
  for (const line of text.split("\n")) {
    const event = parsedLine(line);
    if (event === undefined) continue;
    seen = true;
    const key = `${String(event.Package ?? event.ImportPath ?? "")} ${String(event.Test ?? "")}`.trim();
    if (event.Action === "output" || event.Action === "build-output") {
      outputs.set(key, (outputs.get(key) ?? "") + String(event.Output ?? ""));
    }
    if (event.Action === "build-fail") {
      failures.push({ name: `${key} (build)`, message: messageText(outputs.get(key) ?? "") });
      counts.fail += 1;
    }
    if (typeof event.Test !== "string") continue;
    if (event.Action === "pass" || event.Action === "skip") counts[event.Action] += 1;
    if (event.Action === "fail") {
      counts.fail += 1;
      failures.push({ name: key, message: messageText(outputs.get(key) ?? "") });
    }
  }
  if (!seen) throw new TypeError("no test report");
  return { passed: counts.pass, failed: counts.fail, skipped: counts.skip, failures };
}

/** What `cargo test` prints; its JSON form is not stable yet. */
export function readCargoText(text: string): TestReport {
  const results = [...text.matchAll(/^test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored/gm)];
  if (results.length === 0) throw new TypeError("no test report");
  const sum = (group: number) => results.reduce((total, match) => total + Number(match[group] ?? 0), 0);
  const failures = [...text.matchAll(/^---- (.+?) stdout ----\n([\s\S]*?)(?=\n----|\n\nfailures:|$)/gm)].map(
    ([, name = "", message = ""]) => ({ name, message: messageText(message) }),
  );
  return { passed: sum(1), failed: sum(2), skipped: sum(3), failures };
}

function parsedLine(line: string): Fields | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const parsed: unknown = JSON.parse(line);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function recordsIn(value: unknown): readonly Fields[] {
  return (Array.isArray(value) ? value : [value]).filter(isRecord);
}

function recordsOrTexts(value: unknown): readonly Fields[] {
  return (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((each: unknown) =>
    isRecord(each) ? each : { text: String(each) },
  );
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
