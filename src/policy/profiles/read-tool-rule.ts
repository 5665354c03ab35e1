import { type ConfigNode, describeNode, type MapEntry } from "../../config/node.js";
import { TOOL_ALIASES } from "../../registry/aliases.js";
import { compileLinear } from "../../tool/safe-pattern.js";
import {
  itemsOf,
  numberOf,
  originOf,
  type RuleReading,
  sectionOf,
  textOf,
  unknownField,
  wrong,
} from "./read-fields.js";
import type { Answer, ParameterRule, Scalar, ToolRule } from "./types.js";

const ANSWERS: Readonly<Record<string, Answer>> = { allow: "allow", deny: "deny", approval_required: "ask" };
const TOOL_FIELDS = ["rule", "reason", "parameters"];
const PARAMETER_FIELDS = [
  "allow",
  "deny",
  "pattern",
  "not_pattern",
  "min",
  "max",
  "max_length",
  "required",
] as const;

/** In place of a pattern that cannot be used: whatever is sent, the rule refuses it. */
const NOTHING = /$^/;
const ANYTHING = /^/;

/** `NAME: deny`, or `NAME: {rule, reason, parameters: {ARGUMENT: {…}}}`. */
export function readToolRule(entry: MapEntry, within: string, reading: RuleReading): ToolRule {
  const at = `${within}.${entry.name}`;
  const tool = Object.hasOwn(TOOL_ALIASES, entry.name) ? (TOOL_ALIASES[entry.name] ?? "") : entry.name;
  const rule = { tool, origin: originOf(reading, entry.place), parameters: [] };
  if (entry.node.kind === "scalar") return { ...rule, answer: readAnswer(entry.node, at, reading) };
  let answer: Answer | undefined;
  let reason: string | undefined;
  let parameters: readonly ParameterRule[] = [];
  for (const field of sectionOf(entry.node, at, reading)) {
    if (field.name === "rule") answer = readAnswer(field.node, `${at}.rule`, reading);
    else if (field.name === "reason") reason = textOf(field.node, `${at}.reason`, reading);
    else if (field.name === "parameters") {
      const entries = sectionOf(field.node, `${at}.parameters`, reading);
      parameters = entries.map((each) => readParameter(each, `${at}.parameters`, reading));
    } else unknownField({ entry: field, within: at, known: TOOL_FIELDS, reading });
  }
  return {
    ...rule,
    parameters,
    ...(answer !== undefined && { answer }),
    ...(reason !== undefined && { reason }),
  };
}

/** A word nobody understands is taken for the strictest one. */
function readAnswer(node: ConfigNode, at: string, reading: RuleReading): Answer {
  const word = node.kind === "scalar" ? String(node.value) : "";
  const answer = Object.hasOwn(ANSWERS, word) ? ANSWERS[word] : undefined;
  if (answer !== undefined) return answer;
  const known = Object.keys(ANSWERS).join(", ");
  wrong(reading, `${at} must be one of ${known}, but it is ${describeNode(node)}`, node.place);
  return "deny";
}

function readParameter(entry: MapEntry, within: string, reading: RuleReading): ParameterRule {
  const at = `${within}.${entry.name}`;
  let rule: ParameterRule = { path: entry.name.split("."), origin: originOf(reading, entry.place) };
  for (const { name, node, place } of sectionOf(entry.node, at, reading)) {
    const field = `${at}.${name}`;
    switch (name) {
      case "allow":
      case "deny":
        rule = { ...rule, [name]: itemsOf(node).flatMap((item) => readScalar(item, field, reading)) };
        break;
      case "pattern":
      case "not_pattern":
        rule = {
          ...rule,
          [name]: readPattern(node, field, reading) ?? (name === "pattern" ? NOTHING : ANYTHING),
        };
        break;
      case "min":
      case "max":
      case "max_length": {
        const value = numberOf(node, field, reading);
        if (value !== undefined) rule = { ...rule, [name]: value };
        break;
      }
      case "required":
        if (node.kind === "scalar" && typeof node.value === "boolean")
          rule = { ...rule, required: node.value };
        else wrong(reading, `${field} must be true or false, but it is ${describeNode(node)}`, node.place);
        break;
      default:
        unknownField({
          entry: { name, node, ...(place && { place }) },
          within: at,
          known: PARAMETER_FIELDS,
          reading,
        });
    }
  }
  return rule;
}

function readScalar(node: ConfigNode, field: string, reading: RuleReading): Scalar | [] {
  if (node.kind === "scalar" && node.value !== null) return node.value;
  wrong(reading, `an entry of ${field} must be a plain value, but it is ${describeNode(node)}`, node.place);
  return [];
}

/** RE2, so that no text a model sends can make it slow. */
function readPattern(node: ConfigNode, field: string, reading: RuleReading): RegExp | undefined {
  const text = textOf(node, field, reading);
  const pattern = text === undefined ? undefined : compileLinear(text);
  if (text !== undefined && pattern === undefined) {
    const hint = "look-around and back-references are not available";
    wrong(reading, `${field}: ${JSON.stringify(text)} is no usable pattern`, node.place, hint);
  }
  return pattern;
}
