import type { ShellWord } from "../types.js";

/** Things whose name says that they exist for tests only: `app_test`, `test-db`, `ci_scratch`; they are made anew each time. */
const FOR_TESTS = /(?:^|[_-])(?:tests?|testing|ci|e2e|spec|scratch)(?:$|[_-])/i;
const NOT_FOR_TESTS = /(?:^|[^a-z])(?:prod|prd|production|live|stag\w*)(?:$|[^a-z])/i;

/** The name of a database, a container or an environment for tests. */
export function isForTests({ text, known }: Pick<ShellWord, "text" | "known">): boolean {
  return known && /^[\w.-]+$/.test(text) && FOR_TESTS.test(text) && !NOT_FOR_TESTS.test(text);
}
