// Runs in the environment, where the program is: starts it under Node's inspector and passes messages on. Its
// input is one line with the plan, then one protocol message a line. What it prints for us begins with the mark
// of the plan; everything else is noise. It needs a WebSocket client, which Node has built in since 20.10.
const { spawn } = require("node:child_process");
const { createInterface } = require("node:readline");
const BANNER =
  /^(Debugger (listening|ending) on ws:|For help, see: https:\/\/nodejs\.org|Debugger attached\.|Waiting for the debugger to disconnect)/;
let mark = "";
let child;
let socket;
const tell = (record) => process.stdout.write(mark + JSON.stringify(record) + "\n");

createInterface({ input: process.stdin })
  .on("line", (line) => {
    if (child === undefined) start(JSON.parse(line));
    else if (line === "close") socket?.close();
    else if (socket?.readyState === 1) socket.send(line);
  })
  .on("close", () => {
    child?.kill("SIGKILL");
    process.exit(0);
  });

function start(plan) {
  mark = plan.mark;
  child = spawn(process.execPath, ["--inspect-brk=127.0.0.1:0", plan.program, ...plan.args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.setEncoding("utf8").on("data", (text) => tell({ output: text }));
  let rest = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) heard(line);
  });
  child.on("error", (error) => tell({ failed: error.message }));
  child.on("exit", (code, signal) => {
    let told = false;
    const finish = () => {
      if (told) return;
      told = true;
      if (rest !== "") tell({ output: rest });
      tell({ exit: code, signal });
    };
    // Something it has started may hold the pipes open for ever.
    setTimeout(finish, 500);
    child.on("close", finish);
  });
}

function heard(line) {
  if (!BANNER.test(line)) tell({ output: line + "\n" });
  const address = socket === undefined && /^Debugger listening on (ws:\S+)/.exec(line);
  if (!address) return;
  socket = new WebSocket(address[1]);
  socket.onopen = () => tell({ open: true });
  socket.onmessage = ({ data }) => tell({ message: data });
  socket.onerror = () => tell({ failed: "its inspector does not answer" });
}
