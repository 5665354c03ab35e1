/**
 * Element names that models and agents use to mark turns, calls, results and hidden reasoning. Names are
 * compared without case, separators and look-alike letters: "Tool-Call", "tool_call" and "toolcall" are one.
 */
const CALL_NAME = new RegExp(
  "^(?:begin|start|end)?(?:of)?(?:untrusted)?(?:tool|function|fn|mcp|plugin|api)s?" +
    "(?:call|use|response|result|output|input|error|message|invocation|declaration|description|definition|" +
    "arg|argument|param|parameter|code|name|list|request|reply|return|answer|schema|section|spec)e?s?" +
    "(?:section|block)?(?:begin|end|start|sep|json)?$",
);

const REASONING = `think thinking thought thoughts reasoning reflection scratchpad innermonologue monologue antthinking
  innerthoughts chainofthought cot redactedthinking seedthink`;
const TURNS = `startofturn endofturn beginofturn imstart imend imsep endoftext startoftext beginoftext eotid bos eos sop
  eop eom eot startheaderid endheaderid pythontag beginofsentence endofsentence gmask argkey argvalue
  startofsequence endofsequence startofmessage endofmessage inst`;
const AGENTS = `systemreminder systemprompt systemmessage systeminstruction systeminstructions systemnote systemoverride
  systemcontext usermessage userquery userinput userrequest userprompt userinstructions assistantmessage
  assistantresponse assistantreply humanmessage aimessage modelresponse developermessage developerinstructions
  persistedoutput untrustedcontent untrusteddata untrustedinput availabletools functionspec invoke antinvoke
  antartifact antmlinvoke memorycontext commandname commandmessage commandargs commandcontents
  localcommandstdout localcommandstderr bashinput bashstdout bashstderr environmentdetails environmentcontext
  userpromptsubmithook policyspec artifactinfo finalanswer finalresponse usemcptool accessmcpresource executecommand
  attemptcompletion askfollowupquestion writetofile replaceinfile newtask switchmode applydiff sessioncontext
  taskinstructions agentinstructions promptinjection hiddeninstructions`;
const UNMISTAKABLE = new Set(`${REASONING} ${TURNS} ${AGENTS}`.split(/\s+/));

/** Also ordinary words: type arguments, placeholders, HTML. The surroundings decide. */
const AMBIGUOUS = new Set(
  `result results response responses output outputs input inputs system assistant user human developer function
  functions parameter parameters tool tools answer instruction instructions ai bot sys s reminder analysis
  commentary`.split(/\s+/),
);

/** Words that are framing only next to a bar: `<|turn>`, `<channel|>`. */
const BESIDE_BAR = new Set(
  `turn channel message start end return call constrain image audio video think file header pad sep`.split(
    /\s+/,
  ),
);

const NAMESPACES = new Set([
  "antml",
  "anthropic",
  "claude",
  "openai",
  "minimax",
  "qwen",
  "dsml",
  "hermes",
  "llama",
]);

const SQUARE = new Set(
  `inst endinst toolcall toolcalls toolresult toolresults availabletools systemprompt toolcontent think modelsettings
  functioncall functioncalls gmask sysprompt`.split(/\s+/),
);

export type NameClass = "unmistakable" | "ambiguous" | "ordinary";

/** `name` must be squashed. */
export function classifyName(name: string): NameClass {
  if (UNMISTAKABLE.has(name) || (name.length <= 64 && CALL_NAME.test(name))) return "unmistakable";
  return AMBIGUOUS.has(name) ? "ambiguous" : "ordinary";
}

export function isFramingBesideBar(name: string): boolean {
  return BESIDE_BAR.has(name) || classifyName(name) !== "ordinary";
}

export function isFramingNamespace(prefix: string): boolean {
  return NAMESPACES.has(prefix);
}

export function isSquareFraming(name: string): boolean {
  return SQUARE.has(name);
}

/** Letters of other scripts that look like Latin ones, in lower case. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  а: "a",
  в: "b",
  е: "e",
  к: "k",
  м: "m",
  н: "h",
  о: "o",
  р: "p",
  с: "c",
  т: "t",
  у: "y",
  х: "x",
  і: "i",
  ј: "j",
  ѕ: "s",
  ԁ: "d",
  ո: "n",
  ս: "u",
  α: "a",
  ε: "e",
  ι: "i",
  κ: "k",
  ν: "v",
  ο: "o",
  ρ: "p",
  τ: "t",
  υ: "u",
  χ: "x",
  ɑ: "a",
  ı: "i",
  ⅼ: "l",
  ӏ: "l",
};

/** Look-alikes of other scripts as what they look like, in lower case. */
export function foldLookAlikes(text: string): string {
  return text.toLowerCase().replace(/[^\x00-\x7f]/g, (letter) => LOOK_ALIKES[letter] ?? letter);
}

/** A name as it is compared: lower case, letters and digits only, look-alikes as what they look like. */
export function foldTagName(name: string): string {
  const lower = name.toLowerCase();
  if (/^[a-z]+$/.test(lower)) return lower;
  return foldLookAlikes(lower.replace(/[^\p{L}\p{N}]/gu, ""));
}
