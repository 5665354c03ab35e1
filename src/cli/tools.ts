import type { CommandSpec } from "./command.js";

export const tools: CommandSpec = {
  about: "see, measure and test tools",
  otherwise: "list",
  commands: {
    list: {
      about: "every tool and whether it is ready",
      options: { "--all": "also tools that are switched off" },
      load: async () => (await import("./tools/list.js")).list,
    },
    info: {
      about: "everything about one tool",
      args: { "<name>": "" },
      load: async () => (await import("./tools/info.js")).info,
    },
    schema: {
      about: "what a model is told",
      args: { "[names...]": "only these tools" },
      options: {
        "--format <format>": {
          choices: ["openai", "anthropic", "gemini", "mcp", "responses"],
          default: "openai",
        },
      },
      load: async () => (await import("./tools/schema.js")).schema,
    },
    explain: {
      about: "why a tool is offered or not",
      args: { "[name]": "" },
      options: {
        "--request <text>": "with a name: which place it has for this request, and by whose judgement",
      },
      load: async () => (await import("./tools/info.js")).explain,
    },
    size: {
      about: "tokens that the definitions cost, per toolset, with and without Tool Search",
      load: async () => (await import("./tools/size.js")).size,
    },
    search: {
      about: "find tools by what they do",
      args: { "<words...>": "what the tool should do, or words of its name" },
      options: { "--limit <n>": { about: "how many", default: "10" } },
      load: async () => (await import("./tools/search.js")).search,
    },
    "search-eval": {
      about: "measure how well requests find their tools",
      options: {
        "--tools <file>": { about: "JSON lines of { name, description, parameters }", required: true },
        "--queries <file>": { about: "JSON lines of { query, relevant: [names] }", required: true },
        "--k <numbers>": { about: "how many answers are looked at", default: "1,5,10" },
        "--judges <list>": "of words, table and model; all of them when left out",
        "--lexical": "the same as --judges words",
      },
      load: async () => (await import("./tools/search-eval.js")).searchEval,
    },
    decode: {
      about: "decode requests against given tools, running nothing",
      options: { "--tools <file>": { about: "JSON array of { name, parameters }", required: true } },
      load: async () => (await import("./tools/decode.js")).decode,
    },
    sanitize: {
      about: "what a model would see of an error",
      load: async () => (await import("./tools/decode.js")).sanitize,
    },
    check: {
      about: "try to break a tool: bad arguments, aborts, timeouts, concurrency",
      args: { "[target]": "tool name, or a file that defines tools" },
      options: {
        "--all": "every tool that is available",
        "--runs <n>": "tries per kind: 25 unless said, 5 with --all",
        "--seed <n>": "repeat an earlier run",
      },
      load: async () => (await import("./tools/check.js")).check,
    },
    new: {
      about: "a small tool that works, to begin with",
      args: { "<name>": "what a model calls it: small letters, digits and _" },
      options: { "--dir <folder>": "where to write it; the tools folder of the Hermes home when left out" },
      load: async () => (await import("./tools/new.js")).create,
    },
    dev: {
      about: "the server for somebody who writes tools: their changes are loaded by themselves",
      options: { "--host <address>": "address to listen on", "--port <port>": "port; 0 picks a free one" },
      load: async () => (await import("./serve.js")).serveForAuthor,
    },
    enable: {
      about: "switch a tool on",
      args: { "<name>": "" },
      load: async () => (await import("./tools/switch.js")).enable,
    },
    disable: {
      about: "switch a tool off",
      args: { "<name>": "" },
      load: async () => (await import("./tools/switch.js")).disable,
    },
    import: {
      about: "make tools from the description of a service",
      commands: {
        openapi: {
          about: "one tool per operation of an OpenAPI (3.0, 3.1) or Swagger 2.0 document",
          args: { "<document>": "file or URL, JSON or YAML" },
          options: {
            "--prefix <name>": "first part of the tools' names; from the title when left out",
            "--include <glob...>": "only operations whose name or METHOD /path matches",
            "--exclude <glob...>": "without operations whose name or METHOD /path matches",
            "--tag <tags...>": "only operations with one of these tags",
            "--base-url <url>": "address of the service, instead of the document's own",
            "--auth <how...>": "bearer:VAR, basic:USER_VAR:PASSWORD_VAR, header:NAME:VAR or query:NAME:VAR",
            "--force": "replace an earlier import that is different",
            "--dry-run": "only show the tools it would make",
          },
          load: async () => (await import("./tools/import-openapi.js")).importOpenApiTools,
        },
      },
    },
  },
};

export const toolsets: CommandSpec = {
  about: "toolsets, composites and presets, resolved",
  args: { "[name]": "" },
  load: async () => (await import("./tools/toolsets.js")).toolsets,
};
