// What the conformance suite starts as "the client". It hands the scenario to the process of the test, where our
// client runs, and ends as that says: `node client-driver.mjs SERVER_URL`.
import { connect } from "node:net";

const socket = connect(process.env.HERMES_CONFORMANCE_SOCKET);
let answer = "";
socket.setEncoding("utf8");
socket.on("data", (chunk) => {
  answer += chunk;
});
socket.on("close", () => {
  const { ok, said } = JSON.parse(answer || '{"ok":false,"said":"the test has gone"}');
  if (said) process.stderr.write(`${said}\n`);
  process.exitCode = ok ? 0 : 1;
});
socket.on("error", (error) => {
  answer = JSON.stringify({ ok: false, said: error.message });
});
socket.write(
  `${JSON.stringify({
    scenario: process.env.MCP_CONFORMANCE_SCENARIO,
    context: JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}"),
    url: process.argv.at(-1),
  })}\n`,
);
