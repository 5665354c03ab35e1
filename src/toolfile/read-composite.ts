import { didYouMean } from "../config/did-you-mean.js";
import { type ConfigNode, describeNode } from "../config/node.js";
import { type Condition, parseCondition, queriesOf } from "./json-path.js";
import { Section } from "./section.js";
import { type Expression, holesOf, readTemplate, type Template } from "./template.js";
import type { CommonSpec, CompositeSpec, Step } from "./tool-spec.js";

const MAX_STEPS = 50;
const DEFAULT_MAX_ITEMS = 50;
const LARGEST_MAX_ITEMS = 500;
const ID = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names that mean something else inside the templates of a step. */
const RESERVED = ["steps", "item", "index"];

export function readComposite(tool: Section, common: CommonSpec): CompositeSpec | undefined {
  const nodes = tool.items("steps", { required: true });
  const resultNode = tool.get("result");
  tool.finish();
  for (const parameter of common.parameters)
    if (RESERVED.includes(parameter.name))
      tool.wrong(parameter, `a parameter of a composite cannot be called ${parameter.name}`);
  if (nodes === undefined) return undefined;
  if (nodes.length === 0 || nodes.length > MAX_STEPS)
    tool.wrong(tool.get("steps"), `${tool.what} must have 1 to ${MAX_STEPS} steps`);
  const steps: Step[] = [];
  for (const [index, node] of nodes.entries()) {
    const step = readStep(tool, { node, index, common, before: steps.map(({ id }) => id) });
    if (step === undefined) continue;
    if (steps.some(({ id }) => id === step.id))
      tool.wrong(step, `two steps of ${tool.what} are called ${step.id}`);
    if (step.tool === common.name) tool.wrong(step, `${tool.what} cannot be a step of itself`);
    steps.push(step);
  }
  const ids = steps.map(({ id }) => id);
  const result = resultNode === undefined ? undefined : readTemplate(resultNode, tool.problems);
  if (result !== undefined) checkHoles(tool, holesOf(result), { common, ids, inLoop: false });
  return { ...common, type: "composite", steps, result };
}

interface StepPlace {
  readonly node: ConfigNode;
  readonly index: number;
  readonly common: CommonSpec;
  readonly before: readonly string[];
}

function readStep(tool: Section, { node, index, common, before }: StepPlace): Step | undefined {
  if (node.kind !== "map") {
    tool.wrong(node, `a step of ${tool.what} must be a section with "tool", not ${describeNode(node)}`);
    return undefined;
  }
  const section = new Section({ node, what: `step ${index + 1} of ${tool.what}`, problems: tool.problems });
  const id = section.text("id") ?? `step${index + 1}`;
  const name = section.text("tool", { required: true });
  const given = section.get("arguments");
  const each = section.get("for_each");
  const test = section.get("if");
  const maxItems = section.number("max_items", { min: 1, max: LARGEST_MAX_ITEMS, whole: true });
  const onError = section.choice("on_error", ["stop", "continue"]) ?? "stop";
  section.finish({ args: "they are called arguments here", when: "it is called if here" });
  if (!ID.test(id)) section.wrong(section.get("id"), `${JSON.stringify(id)} cannot be the id of a step`);
  if (given !== undefined && given.kind !== "map")
    section.wrong(given, `"arguments" of ${section.what} must be a section, not ${describeNode(given)}`);
  const scope = { common, ids: before, inLoop: each !== undefined };
  const args: Template =
    given?.kind === "map" ? readTemplate(given, tool.problems) : { kind: "map", entries: [] };
  checkHoles(section, holesOf(args), scope);
  const forEach = each === undefined ? undefined : readTemplate(each, tool.problems);
  if (forEach !== undefined) {
    checkHoles(section, holesOf(forEach), { ...scope, inLoop: false });
    if (forEach.kind !== "value" && forEach.kind !== "list")
      section.wrong(each, `"for_each" of ${section.what} must be a list, or one {{…}} that gives a list`);
  }
  const condition = test === undefined ? undefined : readTest(section, test, { ...scope, inLoop: false });
  if (name === undefined) return undefined;
  return {
    id,
    tool: name,
    arguments: args,
    condition,
    forEach,
    maxItems: maxItems ?? DEFAULT_MAX_ITEMS,
    onError,
    place: node.place,
  };
}

interface Scope {
  readonly common: CommonSpec;
  readonly ids: readonly string[];
  readonly inLoop: boolean;
}

/** `{{flag}}`, or a condition as in the filter of a JSON path: `$.steps.search.total > 0`. */
function readTest(section: Section, node: ConfigNode, scope: Scope): Step["condition"] {
  const text = node.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
  if (text?.includes("{{") === true) {
    const template = readTemplate(node, section.problems);
    checkHoles(section, holesOf(template), scope);
    if (template.kind === "value") return template;
  }
  const parsed = text === undefined ? undefined : parseCondition(text);
  if (parsed?.ok === true) {
    checkHoles(section, namesIn(parsed.value, node), scope);
    return parsed.value;
  }
  section.wrong(
    node,
    `"if" of ${section.what} cannot be understood${parsed === undefined ? "" : `: ${parsed.message}`}`,
    `write '{{flag}}' or a comparison like "$.steps.search.total > 0"`,
  );
  return undefined;
}

/** The values that a condition looks at by name, told like the holes of a template. */
function namesIn(condition: Condition, { place }: ConfigNode): readonly Expression[] {
  return queriesOf(condition).flatMap(({ path }) => {
    const [first, ...segments] = path.segments;
    const [named] = first?.deep === false ? first.selectors : [];
    if (named?.kind !== "name") return [];
    const at = place === undefined ? {} : { place };
    return [{ source: path.text, name: named.name, path: { ...path, segments }, ...at }];
  });
}

function checkHoles(section: Section, holes: readonly Expression[], { common, ids, inLoop }: Scope): void {
  const names = common.parameters.map(({ name }) => name);
  for (const hole of holes) {
    const shown = /^[$@]/.test(hole.source) ? hole.source : `{{${hole.source}}}`;
    if (hole.name === "steps") {
      const first = hole.path.segments[0]?.selectors[0];
      const id = first?.kind === "name" ? first.name : undefined;
      if (id === undefined || !ids.includes(id))
        section.wrong(
          hole,
          `${shown} of ${section.what} names no earlier step`,
          didYouMean(id ?? "", ids) ??
            (ids.length === 0 ? "there is none before it" : `steps: ${ids.join(", ")}`),
        );
    } else if (hole.name === "item" || hole.name === "index") {
      if (!inLoop) section.wrong(hole, `${shown} of ${section.what} only means something with for_each`);
    } else if (!names.includes(hole.name)) {
      section.wrong(
        hole,
        `${shown} of ${section.what} names no parameter`,
        didYouMean(hole.name, [...names, "steps"]) ?? "add it to parameters",
      );
    }
  }
}
