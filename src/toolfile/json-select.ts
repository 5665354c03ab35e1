import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../base/record.js";
import { ToolError } from "../tool/errors.js";
import type { Comparison, Condition, JsonPath, Operand, Query, Segment, Selector } from "./json-path.js";

/** Paths like `$..*..*` look at every value again and again; no honest one comes near this bound. */
const MAX_LOOKS = 1_000_000;

interface Search {
  readonly root: unknown;
  looks: number;
}

/** What the path wants cannot be found with reasonable work. */
export class TooManyValues extends ToolError {
  constructor() {
    super("the path looks at too many values");
  }
}

/** Every value a path finds, in document order. */
export function selectAll(path: JsonPath, root: unknown): readonly unknown[] {
  return walk(path, root, { root, looks: 0 });
}

/** The one value of a singular path, the list of all values of another one; undefined when there is none. */
export function select(path: JsonPath, root: unknown): unknown {
  const found = selectAll(path, root);
  return path.singular ? found[0] : found;
}

export function holds(condition: Condition, root: unknown): boolean {
  return isTrue(condition, root, { root, looks: 0 });
}

function walk(path: JsonPath, start: unknown, search: Search): readonly unknown[] {
  let values: readonly unknown[] = [start];
  for (const segment of path.segments) {
    const next: unknown[] = [];
    for (const value of values) step(segment, value, { search, next });
    values = next;
  }
  return values;
}

interface Step {
  readonly search: Search;
  readonly next: unknown[];
}

/** Without recursion: answers may be nested deeper than the stack. */
function step(segment: Segment, start: unknown, to: Step): void {
  const pending = [start];
  while (pending.length > 0) {
    const value = pending.pop();
    to.search.looks += 1;
    if (to.search.looks > MAX_LOOKS) throw new TooManyValues();
    for (const selector of segment.selectors) pick(selector, value, to);
    if (!segment.deep) return;
    const inner = children(value);
    for (let index = inner.length - 1; index >= 0; index -= 1) pending.push(inner[index]);
  }
}

function pick(selector: Selector, value: unknown, { search, next }: Step): void {
  switch (selector.kind) {
    case "name":
      if (isRecord(value) && Object.hasOwn(value, selector.name)) next.push(value[selector.name]);
      return;
    case "index": {
      if (!Array.isArray(value)) return;
      const index = selector.index < 0 ? value.length + selector.index : selector.index;
      if (index >= 0 && index < value.length) next.push(value[index]);
      return;
    }
    case "all":
      for (const inner of children(value)) next.push(inner);
      return;
    case "slice":
      if (Array.isArray(value)) for (const index of sliced(selector, value.length)) next.push(value[index]);
      return;
    case "filter":
      for (const inner of children(value)) if (isTrue(selector.test, inner, search)) next.push(inner);
  }
}

function children(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

function* sliced(slice: Extract<Selector, { kind: "slice" }>, length: number): Generator<number> {
  const { step: by } = slice;
  if (by === 0) return;
  const from = (given: number | undefined, otherwise: number) =>
    given === undefined ? otherwise : given < 0 ? length + given : given;
  const clamp = (index: number, low: number, high: number) => Math.min(Math.max(index, low), high);
  if (by > 0) {
    const end = clamp(from(slice.end, length), 0, length);
    for (let index = clamp(from(slice.start, 0), 0, length); index < end; index += by) yield index;
    return;
  }
  const end = clamp(from(slice.end, -1 - length), -1, length - 1);
  const stop = slice.end === undefined ? -1 : end;
  for (let index = clamp(from(slice.start, length - 1), -1, length - 1); index > stop; index += by)
    yield index;
}

function isTrue(condition: Condition, current: unknown, search: Search): boolean {
  switch (condition.kind) {
    case "or":
      return condition.parts.some((part) => isTrue(part, current, search));
    case "and":
      return condition.parts.every((part) => isTrue(part, current, search));
    case "not":
      return !isTrue(condition.of, current, search);
    case "exists":
      return found(condition.query, current, search).length > 0;
    case "compare":
      return compare(
        condition.by,
        value(condition.left, current, search),
        value(condition.right, current, search),
      );
  }
}

function found(query: Query, current: unknown, search: Search): readonly unknown[] {
  return walk(query.path, query.from === "@" ? current : search.root, search);
}

function value(operand: Operand, current: unknown, search: Search): unknown {
  return operand.kind === "literal" ? operand.value : found(operand.query, current, search)[0];
}

function compare(by: Comparison, left: unknown, right: unknown): boolean {
  if (by === "==") return same(left, right);
  if (by === "!=") return !same(left, right);
  const ordered =
    (typeof left === "number" && typeof right === "number") ||
    (typeof left === "string" && typeof right === "string");
  if (!ordered) return by.endsWith("=") && same(left, right);
  if (by === "<") return left < right;
  if (by === "<=") return left <= right;
  return by === ">" ? left > right : left >= right;
}

function same(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  return typeof left === "object" && typeof right === "object" && isDeepStrictEqual(left, right);
}
