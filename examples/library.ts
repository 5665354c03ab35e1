import { createRuntime, encodeResults, parseRequest } from "hermes-tools";

/** What a model sent, in any of the supported formats. */
const message = {
  role: "assistant",
  tool_calls: [
    { id: "a", type: "function", function: { name: "sleep", arguments: '{"seconds":0}' } },
    {
      id: "b",
      type: "function",
      function: { name: "read_file", arguments: '{"path":"package.json","limit":"3"}' },
    },
  ],
};

const runtime = await createRuntime();
const session = await runtime.openSession({ toolsets: ["file", "timing"] });
const request = parseRequest(message);
if ("code" in request) throw new Error(request.message);
const results = await session.callAll(request.calls);
console.log(JSON.stringify(encodeResults(request, results)));
await runtime.close();
