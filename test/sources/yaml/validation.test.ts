import { describe, expect, test } from "vitest";
import { formatFileProblem } from "../../../src/toolfile/problems.js";
import { readToolFile } from "../../../src/toolfile/read-file.js";

async function problems(text: string): Promise<readonly string[]> {
  const reading = await readToolFile(text);
  return reading.ok ? [] : reading.problems.map((problem) => formatFileProblem("f.yaml", problem));
}

const http = (lines: string, endpoint = "https://api.example.com/x") =>
  `tools:\n  - name: t\n    description: d\n    type: http_wrapper\n    endpoint: ${endpoint}\n${lines
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n")}\n`;
const command = (lines: string) =>
  http(lines)
    .replace("http_wrapper", "command")
    .replace(/ {4}endpoint.*\n/, "");
const composite = (lines: string) => command(lines).replace("type: command", "type: composite");

describe("a mistake in a tool file is told with place, reason and what to do", () => {
  test.each<[string, string, RegExp]>([
    ["broken YAML", "tools:\n  - name: [\n", /^f\.yaml:3:1: error: YAML syntax/],
    [
      "no tools",
      "tool: []\n",
      /f\.yaml:1:1: error: the file has an unknown key "tool" \(did you mean "tools"\?\)/,
    ],
    [
      "an unknown key",
      http("methd: GET"),
      /^f\.yaml:6:5: error: tool t has an unknown key "methd" \(did you mean "method"\?\)/,
    ],
    [
      "a wrong type",
      http("").replace("http_wrapper", "http"),
      /f\.yaml:4:11: error: "type" of tool t must be one of http_wrapper.*\(did you mean "http_wrapper"\?\)/,
    ],
    [
      "a wrong method",
      http("method: GRAB"),
      /f\.yaml:6:13: error: "method" of tool t is "GRAB" \(known methods: GET/,
    ],
    [
      "no description",
      "tools: [{ name: t, type: command, command: [ls] }]",
      /f\.yaml:1:9: error: tool t needs "description"/,
    ],
    [
      "a bad name",
      http("").replace("name: t", "name: 'a b'"),
      /"name" of tool a b holds "a b", which cannot be a name/,
    ],
    [
      "the toolset of an MCP server",
      http("toolset: mcp-github"),
      /f\.yaml:6:14: error: "toolset" of tool t begins with "mcp-", which is kept for MCP servers/,
    ],
    [
      "two tools of one name",
      `${http("")}  - { name: t, description: d, type: command, command: [ls] }\n`,
      /f\.yaml:7:5: error: two tools of the file are called t/,
    ],
    [
      "a parameter of no type",
      http("parameters:\n  - { name: a, type: strng }"),
      /f\.yaml:7:26: error: .*"strng", which is no type \(did you mean "string"\?\)/,
    ],
    [
      "a default outside the enum",
      http("parameters: [{ name: a, enum: [High, Low], default: high }]"),
      /default of parameter a is "high", which its enum does not allow \(did you mean "High"\?\)/,
    ],
    [
      "a parameter twice",
      http("parameters: [{ name: a }, { name: a }]"),
      /f\.yaml:6:31: error: parameter a is written twice/,
    ],
    [
      "an unknown key of a parameter",
      http("parameters: [{ name: a, descripton: x }]"),
      /did you mean "description"\?/,
    ],
    [
      "an address without its parameter",
      http("parameters: [{ name: idd, required: true }]", "https://a.example/{id}"),
      /uses \{id\}, which is no parameter \(did you mean "idd"\?\)/,
    ],
    [
      "an optional path parameter",
      http("parameters: [{ name: id }]", "https://a.example/{id}"),
      /part of the address, so it needs required: true or a default/,
    ],
    [
      "a host template",
      http("parameters: [{ name: h, required: true }]", "https://{h}.example.com/x"),
      /f\.yaml:5:15: error: .*host and port cannot be templates/,
    ],
    [
      "double braces in an address",
      http("", '"https://a.example/{{id}}"'),
      /write \{name\}, not \{\{name\}\}/,
    ],
    [
      "credentials in an address",
      http("", "https://me:hunter22@a.example/"),
      /holds a user name or password|holds a credential/,
    ],
    ["a relative address", http("", "/x"), /must be a whole http:\/\/ or https:\/\/ address/],
    ["another scheme", http("", "file:///etc/passwd"), /must be a whole http:\/\/ or https:\/\/ address/],
    ["a body for GET", http("body: { a: 1 }"), /f\.yaml:6:11: error: a GET request cannot have a body/],
    [
      "a body parameter for GET",
      http("parameters: [{ name: a, in: body }]"),
      /which a GET request cannot have/,
    ],
    [
      "an unused parameter",
      http("method: POST\nbody: { a: 1 }\nparameters: [{ name: x }]"),
      /parameter x is not used.*write \{\{x\}\}/,
    ],
    [
      "an unknown template",
      http("method: POST\nbody: { a: '{{titel}}' }\nparameters: [{ name: title }]"),
      /f\.yaml:7:16: error: \{\{titel\}\} of tool t names no parameter \(did you mean "title"\?\)/,
    ],
    [
      "an open template",
      http("method: POST\nbody: '{{a'\nparameters: [{ name: a, in: query }]"),
      /has no matching "}}"/,
    ],
    [
      "JSON written as text",
      http('method: POST\nbody: \'{"a": "{{a}}"}\'\nparameters: [{ name: a }]'),
      /f\.yaml:7:11: error: a JSON body is written as a structure/,
    ],
    [
      "a bad path",
      http("response: '$.a['"),
      /f\.yaml:6:15: error: the path "\$\.a\[" of tool t cannot be understood/,
    ],
    ["a bad status", http("response: { success: [OK] }"), /"OK" is no status \(write 200 or 2xx\)/],
    ["select and fields", http("response: { select: $.a, fields: { b: $.b } }"), /use one of them/],
    [
      "multipart",
      http("method: POST\ncontent_type: multipart/mixed"),
      /f\.yaml:7:19: error: multipart bodies are not supported, except multipart\/form-data/,
    ],
    [
      "two values under one name",
      http("headers: { x-a: '1' }\nparameters: [{ name: a, in: header, send_as: X-A }]"),
      /f\.yaml:7:18: error: parameter a and "headers" x-a of tool t would both be sent as header x-a/,
    ],
    [
      "two fields under one name",
      http("method: POST\nparameters: [{ name: a }, { name: b, send_as: a }]"),
      /parameter b and parameter a of tool t would both be sent as body a/,
    ],
    [
      "two ways to fill one header",
      http("auth: [{ type: bearer, token_env: A }, { type: basic, username_env: B, password_env: C }]"),
      /auth basic and auth bearer of tool t would both be sent as header authorization/,
    ],
    [
      "a header that is not the file's business",
      http("auth: { type: header, name: Host, value_env: A }"),
      /f\.yaml:6:11: error: auth of tool t: .*set by the client itself/,
    ],
    [
      "a path into text",
      http("response: { format: text, select: $.a }"),
      /f\.yaml:6:39: error: "select" of response of tool t looks into JSON, but format is text/,
    ],
    [
      "a merge key",
      "defaults: &d { toolset: x }\ntools:\n  - { <<: *d, name: t, description: d, type: command, command: [ls] }\n",
      /f\.yaml:3:7: error: tool t has an unknown key "<<" \(merge keys are not supported/,
    ],
    [
      "a key twice",
      http("method: GET\nmethod: POST"),
      /f\.yaml:7:5: error: the same setting is written twice/,
    ],
    [
      "a bad timeout",
      http("timeout_seconds: soon"),
      /f\.yaml:6:22: error: "timeout_seconds" of tool t must be a number from 0\.1 to 3600, not the text "soon"/,
    ],
    [
      "a schema that refers to nothing",
      http("method: POST\nparameters: [{ name: a, $ref: '#/$defs/Nope' }]"),
      /"\$ref" points to "#\/\$defs\/Nope", which does not exist/,
    ],
    [
      "a model that may send credentials",
      http("parameters: [{ name: key, in: header, send_as: X-Api-Key }]"),
      /would let a model send the credential/,
    ],
    [
      "a shell line",
      command("command: ls -la {{x}}"),
      /f\.yaml:5:14: error: "command" of tool t must be a list of arguments.*let a value become a command/,
    ],
    [
      "a program from a parameter",
      command("command: ['{{p}}']\nparameters: [{ name: p, required: true }]"),
      /name of a program, which cannot be a template/,
    ],
    [
      "a value inside of code",
      command("command: [bash, -c, 'echo {{x}}']\nparameters: [{ name: x }]"),
      /would run the text of a parameter of tool t as code.*pass the value beside the code/,
    ],
    [
      "a value inside of Python",
      command("command: [/usr/bin/python3, -c, '{{x}}']\nparameters: [{ name: x }]"),
      /python3 would run the text/,
    ],
    [
      "a value inside of code behind another program",
      command("command: [env, -i, sh, -ec, --, '{{x}}']\nparameters: [{ name: x }]"),
      /sh would run the text of a parameter of tool t as code/,
    ],
    [
      "a value inside of code in one word",
      command("command: [node, '--eval={{x}}']\nparameters: [{ name: x }]"),
      /node would run the text/,
    ],
    [
      "a value for ssh",
      command("command: [ssh, host, ls, '{{x}}']\nparameters: [{ name: x }]"),
      /ssh would run the text/,
    ],
    [
      "an unused parameter of a command",
      command("command: [ls]\nparameters: [{ name: x }]"),
      /parameter x is not used by the command/,
    ],
    [
      "a secret in env",
      command("command: [ls]\nenv: { API_TOKEN: abc }"),
      /holds a credential.*API_TOKEN: \{ env: NAME_OF_A_VARIABLE \}/,
    ],
    ["a step without a tool", composite("steps: [{ arguments: {} }]"), /step 1 of tool t needs "tool"/],
    [
      "a later step",
      composite("steps:\n  - { id: a, tool: x, arguments: { v: '{{steps.b}}' } }\n  - { id: b, tool: x }"),
      /f\.yaml:6:43: error: \{\{steps\.b\}\} of step 1 of tool t names no earlier step/,
    ],
    [
      "an item without a loop",
      composite("steps: [{ tool: x, arguments: { v: '{{item}}' } }]"),
      /only means something with for_each/,
    ],
    ["a step of itself", composite("steps: [{ tool: t }]"), /cannot be a step of itself/],
    [
      "a bad condition",
      composite("steps: [{ tool: x, if: 'a > 1' }]"),
      /"if" of step 1 of tool t cannot be understood/,
    ],
    [
      "a condition on a step that is none",
      composite("steps: [{ id: a, tool: x }, { tool: x, if: '$.steps.b.total > 0' }]"),
      /f\.yaml:5:48: error: \$\.steps\.b\.total of step 2 of tool t names no earlier step/,
    ],
    [
      "a condition on a parameter that is none",
      composite('steps: [{ tool: x, if: "!($.deap == true)" }]\nparameters: [{ name: deep }]'),
      /\$\.deap of step 1 of tool t names no parameter \(did you mean "deep"\?\)/,
    ],
    [
      "a composite that leads back",
      `tools:\n${["a b", "b c", "c a"].map((pair) => `  - { name: ${pair[0]}, description: d, type: composite, steps: [{ tool: ${pair[2]} }] }`).join("\n")}\n`,
      /calling itself: a → b → c → a/,
    ],
    [
      "an unknown default",
      `defaults: { tolset: x }\n${http("")}`,
      /f\.yaml:1:13: error: "defaults" has an unknown key "tolset" \(did you mean "toolset"\?\)/,
    ],
  ])("%s", async (_, text, expected) => {
    expect((await problems(text)).join("\n")).toMatch(expected);
  });

  test("all of them at once", async () => {
    const found = await problems(
      http("methd: GET\ntimeout_seconds: -1\nparameters: [{ name: a, type: strng }, {}]"),
    );
    expect(found).toHaveLength(4);
  });
});

describe("a secret that was written into the file", () => {
  const TOKEN = `ghp_${"a1B2".repeat(9)}`;

  test.each([
    ["as a password", http("auth: { type: basic, username: me, password: hunter2hunter2 }")],
    ["as a token", http(`auth: { type: bearer, token: ${TOKEN} }`)],
    ["in the place of a name", http(`auth: { type: bearer, token_env: ${TOKEN} }`)],
    ["with spaces in the place of a name", http("auth: { type: bearer, token_env: 'hunter2 hunter2' }")],
    ["in a header", http("headers: { Authorization: Bearer hunter2hunter2 }")],
    ["in any header", http(`headers: { X-Thing: ${TOKEN} }`)],
    ["in a header with a template", http(`headers: { X-A: "${TOKEN} {{a}}" }\nparameters: [{ name: a }]`)],
    ["in the body", http(`method: POST\nbody: { a: [{ b: "x ${TOKEN}" }] }`)],
    ["in the address", http("", `https://api.example.com/x?k=${TOKEN}`)],
    ["in an argument", command(`command: [curl, ${TOKEN}]`)],
    ["in the environment", command("command: [ls]\nenv: { DB_PASSWORD: hunter2hunter2 }")],
  ])("%s is an error that does not repeat it", async (_, text) => {
    const found = await problems(text);
    expect(found.length).toBeGreaterThan(0);
    expect(found.join("\n")).not.toMatch(/hunter2|ghp_/);
  });

  test("names of variables are none", async () => {
    expect(
      await problems(http("auth: { type: basic, username_env: JIRA_USER, password_env: JIRA_API_TOKEN }")),
    ).toEqual([]);
  });
});

describe("what tools of a file share", () => {
  test("defaults fill in what a tool leaves out; shared schemas come with the tools that use them", async () => {
    const reading = await readToolFile(`
defaults: { type: http_wrapper, base_url: "https://api.example.com/v1/", toolset: shop, auth: { type: bearer, token_env: T } }
$defs:
  Money: { type: object, properties: { amount: { type: number }, parts: { type: array, items: { $ref: "#/$defs/Money" } } } }
  Other: { type: string }
tools:
  - { name: pay, description: d, method: POST, endpoint: /pay, parameters: [{ name: sum, $ref: "#/$defs/Money" }] }
  - { name: ping, description: d, endpoint: "https://other.example/ping", auth: [], toolset: net }
  - { name: now, description: d, type: command, command: [date] }
`);
    expect(reading).toMatchObject({
      ok: true,
      tools: [
        {
          endpoint: { origin: "https://api.example.com", path: ["/v1/pay"] },
          toolset: "shop",
          auth: [{ tokenEnv: "T" }],
          schema: { $defs: { Money: { type: "object" } } },
        },
        { toolset: "net", auth: [] },
        { toolset: "shop", type: "command" },
      ],
    });
    expect(reading.ok && Object.keys(reading.tools[0]?.schema.$defs ?? {})).toEqual(["Money"]);
  });
});
