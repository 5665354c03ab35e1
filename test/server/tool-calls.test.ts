import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../src/index.js";
import { onTestEnd, tempDir } from "../support/runtime.js";
import { openSocket, requestText, sendRaw, startServer, TOKEN, until } from "./support.js";
import { countingTool, echo, waitingTool } from "./tools.js";

describe("every wire format, end to end with a real tool", () => {
  async function serverWithFile() {
    const cwd = tempDir();
    const path = join(cwd, "note.txt");
    writeFileSync(path, "the quick brown fox\n");
    return { path, ...(await startServer([], { runtime: { builtins: true, cwd } })) };
  }

  const formats = {
    envelope: {
      request: (path: string) => ({
        tool_calls: [{ id: "c1", type: "function", function: { name: "read_file", arguments: { path } } }],
      }),
      shape: { tool_results: [{ tool_call_id: "c1", role: "tool", name: "read_file" }] },
    },
    "OpenAI Chat": {
      request: (path: string) => ({
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: "c1",
            type: "function",
            function: { name: "read_file", arguments: JSON.stringify({ path }) },
          },
        ],
      }),
      shape: [{ role: "tool", tool_call_id: "c1" }],
    },
    "OpenAI Responses": {
      request: (path: string) => ({
        output: [
          { type: "function_call", call_id: "c1", name: "read_file", arguments: JSON.stringify({ path }) },
        ],
      }),
      shape: [{ type: "function_call_output", call_id: "c1" }],
    },
    Anthropic: {
      request: (path: string) => ({
        role: "assistant",
        content: [{ type: "tool_use", id: "c1", name: "read_file", input: { path } }],
      }),
      shape: { role: "user", content: [{ type: "tool_result", tool_use_id: "c1" }] },
    },
    Gemini: {
      request: (path: string) => ({
        role: "model",
        parts: [{ functionCall: { id: "c1", name: "read_file", args: { path } } }],
      }),
      shape: { role: "user", parts: [{ functionResponse: { id: "c1", name: "read_file" } }] },
    },
    MCP: {
      request: (path: string) => ({
        jsonrpc: "2.0",
        id: 7,
        method: "tools/call",
        params: { name: "read_file", arguments: { path } },
      }),
      shape: { jsonrpc: "2.0", id: 7, result: { isError: false } },
    },
  };

  for (const [name, { request, shape }] of Object.entries(formats)) {
    it(name, async () => {
      const { path, calls } = await serverWithFile();
      const answer = await calls(request(path));
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
      const text = await answer.text();
      expect(JSON.parse(text)).toMatchObject(shape);
      expect(text).toContain("the quick brown fox");
    });
  }

  it("lists the same tools in every format of definitions", async () => {
    const { ask } = await startServer([echo]);
    for (const format of ["openai", "anthropic", "gemini", "mcp", "responses"]) {
      const answer = await ask(`/v1/tools?format=${format}`);
      expect(answer.status).toBe(200);
      expect(JSON.stringify(await answer.json())).toContain('"echo"');
    }
    expect(await (await ask("/v1/tools")).text()).toBe(await (await ask("/v1/tools?format=openai")).text());
  });
});

describe("single calls that fail", () => {
  it("are results with status 200, beside those that succeed, in order", async () => {
    const { calls } = await startServer([echo]);
    const answer = await calls({
      tool_calls: [
        { id: "a", function: { name: "nothing_like_it", arguments: {} } },
        { id: "b", function: { name: "echo", arguments: { text: "hi" } } },
        { id: "c", function: { name: "echo", arguments: { text: 5, extra: {} } } },
        { id: "d", function: { name: "echo", arguments: "{}" } },
      ],
    });
    expect(answer.status).toBe(200);
    const { tool_results } = (await answer.json()) as {
      tool_results: { tool_call_id: string; content: unknown }[];
    };
    expect(tool_results.map((result) => result.tool_call_id)).toEqual(["a", "b", "c", "d"]);
    expect(tool_results[1]?.content).toEqual({ status: "success", text: "hi" });
    expect(JSON.stringify(tool_results[0]?.content)).toContain("Unknown tool");
    expect(JSON.stringify(tool_results[3]?.content)).toContain("error");
  });

  it("that would need a person's approval are denied, because nobody can be asked here", async () => {
    let ran = false;
    const risky = defineTool({
      name: "risky",
      toolset: "risky",
      description: "d",
      permissions: ["system:execute"],
      parameters: { type: "object", properties: {} },
      handler: () => {
        ran = true;
        return "done";
      },
    });
    const { calls } = await startServer([risky], {
      runtime: { policy: { decide: () => ({ verdict: "ask", rule: "test", reason: "it is risky" }) } },
    });
    const text = await (
      await calls({ tool_calls: [{ id: "a", function: { name: "risky", arguments: {} } }] })
    ).text();
    expect(text).toContain("nobody can be asked here");
    expect(ran).toBe(false);
  });

  it("never show the token or the page's cookie in a result", async () => {
    const { calls, server, ask } = await startServer([echo]);
    const trade = await fetch(`${server.url}?token=${TOKEN}`, { redirect: "manual" });
    const cookie = (trade.headers.get("set-cookie") ?? "").split(/[=;]/)[1] ?? "none";
    const answer = await calls({
      tool_calls: [
        { id: "a", function: { name: "echo", arguments: { text: `leak ${TOKEN} and ${cookie}` } } },
      ],
    });
    const text = await answer.text();
    expect(text).toContain("leak");
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(cookie);
    expect(await (await ask("/v1/calls")).text()).not.toContain(TOKEN);
  });
});

describe("requests that fail as a whole", () => {
  const bad = {
    "no JSON": "this is not json",
    "half a JSON": '{"tool_calls":[{"id":"1","function":{"name":"count","argum',
    empty: "",
    "a number": "42",
    "no calls in it": '{"hello":"world"}',
    "tool_calls that is no list": '{"tool_calls":"count"}',
    "prototype keys only": '{"__proto__":{"tool_calls":[]}}',
    "depth 10,000": `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
    "bytes that are no UTF-8": Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
  };
  it("are answered 400 in the closed shape and run nothing", async () => {
    const { tool, runs } = countingTool();
    const { ask } = await startServer([tool]);
    for (const [what, body] of Object.entries(bad)) {
      const answer = await ask("/v1/tool_calls", { method: "POST", body });
      const text = await answer.text();
      expect([what, answer.status, JSON.parse(text).error?.code], text).toEqual([what, 400, "bad_request"]);
    }
    expect(runs()).toBe(0);
  });

  it("name an unknown toolset, format or number", async () => {
    const { ask, calls } = await startServer([echo]);
    const unknown = await calls({ tool_calls: [] }, {});
    expect(unknown.status).toBe(200);
    for (const path of [
      "/v1/tools?format=xml",
      "/v1/tools?toolsets=echoin",
      "/v1/tools?toolsets=,",
      "/v1/calls?limit=0",
      "/v1/calls?limit=x",
      "/v1/calls?limit=1e9",
      "/v1/stats?days=-1",
      "/v1/stats?days=99999999999",
    ]) {
      const answer = await ask(path);
      const { error } = (await answer.json()) as { error: { message: string; hint: string } };
      expect([path, answer.status]).toEqual([path, 400]);
      expect(error.hint).toBeTruthy();
    }
    const { error } = (await (await ask("/v1/tools?toolsets=echoin")).json()) as { error: { hint: string } };
    expect(error.hint).toContain("echoing");
  });

  it("say which method an address takes", async () => {
    const { ask } = await startServer();
    const answer = await ask("/v1/tool_calls");
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST");
  });
});

describe("toolsets of a request", () => {
  it("narrow the session", async () => {
    const { tool, runs } = countingTool();
    const { ask } = await startServer([echo, tool]);
    const post = (toolsets: string) =>
      ask(`/v1/tool_calls?toolsets=${toolsets}`, {
        method: "POST",
        body: JSON.stringify({ tool_calls: [{ id: "1", function: { name: "count", arguments: {} } }] }),
      });
    expect(await (await post("echoing")).text()).toContain("Unknown tool");
    expect(runs()).toBe(0);
    await post("echoing,counting");
    expect(runs()).toBe(1);
    const listed = (await (await ask("/v1/tools?toolsets=echoing")).json()) as unknown[];
    expect(listed).toHaveLength(1);
  });

  it("never give more than the configuration", async () => {
    const { tool, runs } = countingTool();
    const { ask } = await startServer([echo, tool], { runtime: { flags: { toolsets: ["echoing"] } } });
    const answer = await ask("/v1/tool_calls?toolsets=counting", {
      method: "POST",
      body: JSON.stringify({ tool_calls: [{ id: "1", function: { name: "count", arguments: {} } }] }),
    });
    expect(await answer.text()).toContain("Unknown tool");
    expect(runs()).toBe(0);
    expect(await (await ask("/v1/tools?toolsets=counting")).json()).toEqual([]);
  });

  it("keep their session under its name, and new tools are found without a restart", async () => {
    const sessions: string[] = [];
    const who = defineTool({
      name: "who",
      toolset: "who",
      description: "d",
      permissions: [],
      parameters: { type: "object", properties: {} },
      handler: (_args, ctx) => void sessions.push(ctx.session.id),
    });
    const { ask, calls, registry } = await startServer([who]);
    const body = JSON.stringify({ tool_calls: [{ id: "1", function: { name: "who", arguments: {} } }] });
    const headers = { "x-hermes-session": "mine" };
    await calls(body, { headers });
    await calls(body, { headers });
    await ask("/v1/tool_calls?toolsets=who", { method: "POST", body, headers });
    await ask("/v1/tool_calls?toolsets=who,%20who", { method: "POST", body, headers });
    expect(new Set(sessions).size).toBe(2);
    expect(sessions[0]).toBe(sessions[1]);
    expect(sessions[2]).toBe(sessions[3]);
    for (let index = 0; index < 80; index += 1) {
      registry.add({ ...echo, name: `echo_${index}` });
    }
    const late = await calls({
      tool_calls: [{ id: "1", function: { name: "echo_79", arguments: { text: "late" } } }],
    });
    expect(await late.text()).toContain("late");
    for (let index = 0; index < 40; index += 1) {
      const answer = await ask(`/v1/tool_calls?toolsets=who,echo_${index}`, {
        method: "POST",
        body,
        headers,
      });
      expect(answer.status).toBe(200);
    }
    expect(new Set(sessions).size).toBe(42);
  });
});

describe("a client that goes away", () => {
  it("aborts its running calls and nobody else's", async () => {
    const { tool, seen } = waitingTool();
    const { port, ask, calls } = await startServer([tool, echo]);
    const body = JSON.stringify({ tool_calls: [{ id: "1", function: { name: "wait", arguments: {} } }] });
    const leave = new AbortController();
    const stay = new AbortController();
    onTestEnd(() => stay.abort());
    const left = ask("/v1/tool_calls", { method: "POST", body, signal: leave.signal }).catch(() => "gone");
    const stayed = ask("/v1/tool_calls", { method: "POST", body, signal: stay.signal }).catch(() => "gone");
    const cut = openSocket(port);
    cut.write(
      requestText(
        "POST /v1/tool_calls",
        [`Host: 127.0.0.1:${port}`, `Authorization: Bearer ${TOKEN}`, `Content-Length: ${body.length}`],
        body,
      ),
    );
    await until(() => seen.started === 3);
    leave.abort();
    await until(() => seen.aborted === 1);
    cut.destroy();
    await until(() => seen.aborted === 2);
    expect(await left).toBe("gone");
    const after = await calls({
      tool_calls: [{ id: "1", function: { name: "echo", arguments: { text: "still here" } } }],
    });
    expect(await after.text()).toContain("still here");
    expect(seen).toEqual({ started: 3, aborted: 2 });
    stay.abort();
    await stayed;
    await until(() => seen.aborted === 3);
  });
});

describe("bodies", () => {
  const head = (port: number, ...more: string[]) =>
    requestText("POST /v1/tool_calls", [
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${TOKEN}`,
      ...more,
    ]);

  it("announced as too large are refused before they are sent", async () => {
    const { port } = await startServer();
    const answer = await sendRaw(port, head(port, `Content-Length: ${200 * 2 ** 20}`));
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body).error.code).toBe("too_large");
    const asked = await sendRaw(port, head(port, `Content-Length: ${200 * 2 ** 20}`, "Expect: 100-continue"));
    expect(asked.status).toBe(413);
  });

  it("too large without saying so are cut off on the way, and memory stays", async () => {
    const { port, calls } = await startServer([echo], { limits: { bodyBytes: 4 * 2 ** 20 } });
    const socket = openSocket(port);
    let answer = "";
    let sent = 0;
    const piece = Buffer.alloc(64 * 1024, 0x20);
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    const closed = new Promise((resolve) => socket.on("close", resolve));
    const before = process.memoryUsage().rss;
    socket.write(head(port, "Transfer-Encoding: chunked"));
    const push = () => {
      while (!socket.destroyed && sent < 200 * 2 ** 20) {
        sent += piece.length;
        if (!socket.write(Buffer.concat([Buffer.from("10000\r\n"), piece, Buffer.from("\r\n")]))) {
          socket.once("drain", push);
          return;
        }
      }
    };
    push();
    await closed;
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 2 ** 20);
    const next = await calls({
      tool_calls: [{ id: "1", function: { name: "echo", arguments: { text: "next" } } }],
    });
    expect(next.status).toBe(200);
  });

  it("a client that keeps sending can still read that it was refused", async () => {
    const { server } = await startServer([], { limits: { bodyBytes: 2 ** 20 } });
    const answer = await fetch(new URL("/v1/tool_calls", server.url), {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}` },
      body: Buffer.alloc(32 * 2 ** 20, 0x20),
    });
    expect(answer.status).toBe(413);
  });

  it("as large as allowed are taken", async () => {
    const { calls } = await startServer([echo]);
    const text = "x".repeat(8 * 2 ** 20);
    const answer = await calls({
      tool_calls: [{ id: "1", function: { name: "echo", arguments: { text } } }],
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("xxxx");
  });

  it("that stop coming are given up", async () => {
    const { port } = await startServer([], { limits: { bodyIdleMs: 300 } });
    const answer = await sendRaw(port, `${head(port, "Content-Length: 100")}{"tool_calls"`);
    expect(answer.status).toBe(408);
    expect(JSON.parse(answer.body).error.code).toBe("timeout");
  });

  it("that come drop by drop are given up as well", async () => {
    const { port } = await startServer([], {
      limits: { bodyIdleMs: 2_000, requestMs: 1_000, headersMs: 1_000 },
    });
    const socket = openSocket(port);
    const drip = setInterval(() => socket.write(" "), 100);
    onTestEnd(() => clearInterval(drip));
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.write(head(port, "Content-Length: 100000"));
    await closed;
    const answer = await sendRaw(port, requestText("GET /healthz", [`Host: 127.0.0.1:${port}`]));
    expect(answer.status).toBe(200);
  });

  it("in a compressed form are refused, not guessed at", async () => {
    const { ask } = await startServer();
    const answer = await ask("/v1/tool_calls", {
      method: "POST",
      headers: { "content-encoding": "gzip" },
      body: "x",
    });
    expect(answer.status).toBe(415);
  });
});

describe("requests that are hardly HTTP", () => {
  it("get an answer in the same shape, and the server lives on", async () => {
    const { port } = await startServer([], { limits: { headersMs: 500 } });
    const own = `Host: 127.0.0.1:${port}`;
    const odd: [string, string, number][] = [
      ["garbage", "\x00\x01\x02 hello\r\n\r\n", 400],
      [
        "100,000 headers",
        requestText("GET /healthz", [own, ...Array.from({ length: 100_000 }, (_, i) => `x-${i}: y`)]),
        431,
      ],
      ["a header of 1 MiB", requestText("GET /healthz", [own, `x: ${"y".repeat(2 ** 20)}`]), 431],
      [
        "two lengths",
        requestText("POST /v1/tool_calls", [own, "Content-Length: 1", "Content-Length: 2"], "xx"),
        400,
      ],
      [
        "a length and chunks",
        requestText(
          "POST /v1/tool_calls",
          [own, "Content-Length: 1", "Transfer-Encoding: chunked"],
          "0\r\n\r\n",
        ),
        400,
      ],
      ["headers that never end", `GET /healthz HTTP/1.1\r\n${own}\r\n`, 408],
      ["a path of 20 kB", requestText(`GET /${"a".repeat(20_000)}`, [own]), 431],
    ];
    for (const [what, text, status] of odd) {
      const answer = await sendRaw(port, text);
      expect([what, answer.status]).toEqual([what, status]);
      expect(JSON.parse(answer.body).error.code).toMatch(/^[a-z_]+$/);
      expect(answer.head).toMatch(/nosniff/);
    }
    expect((await sendRaw(port, requestText("GET /healthz", [own]))).status).toBe(200);
  });
});
