// One module, which then ends as any Node program does. Follows node-common.cjs.
const socket = new net.Socket({ fd: IN, readable: true, writable: false });
readMessages(socket, takeAnswer);
holdOpen = (needed) => (needed ? socket.ref() : socket.unref());
socket.unref();
setStdin(config.stdin);
installTools(config.tools);

function fail(error) {
  const { trace, line } = described(error);
  process.stderr.write(trace);
  send("x", JSON.stringify({ error: line }));
  process.exitCode = 1;
}
process.on("uncaughtException", (error) => {
  if (process.listenerCount("uncaughtException") > 1) return;
  fail(error);
  process.exit(1);
});

const linked = new Map();
function synthetic(specifier, namespace) {
  const names = Object.keys(namespace);
  return new vm.SyntheticModule(
    names,
    function () {
      for (const name of names) this.setExport(name, namespace[name]);
    },
    { identifier: specifier },
  );
}
async function moduleOf(specifier, _referencing, extra = {}) {
  const attributes = extra.attributes ?? extra.assert ?? {};
  const key = specifier + JSON.stringify(attributes);
  if (!linked.has(key)) {
    const namespace =
      specifier === "hermes_tools"
        ? { ...hermes, default: hermes }
        : await load(specifier, Object.keys(attributes).length > 0 ? { with: attributes } : undefined);
    linked.set(key, synthetic(specifier, namespace));
  }
  return linked.get(key);
}

async function runScript() {
  const name = path.join(process.cwd(), "script.mjs");
  const emitWarning = process.emitWarning;
  // The module interface of vm is marked as experimental, which the script's author need not know.
  process.emitWarning = () => {};
  const script = new vm.SourceTextModule(config.code, {
    identifier: "script.mjs",
    initializeImportMeta(meta) {
      meta.url = pathToFileURL(name).href;
      meta.filename = name;
      meta.dirname = process.cwd();
    },
    async importModuleDynamically(specifier, referencing, attributes) {
      if (specifier !== "hermes_tools") return load(specifier, attributes && { with: attributes });
      const made = await moduleOf(specifier);
      if (made.status === "unlinked") await made.link(() => {});
      await made.evaluate();
      return made;
    },
  });
  await script.link(moduleOf);
  process.emitWarning = emitWarning;
  send("h", "");
  await script.evaluate();
}

let over = false;
process.on("exit", (code) => {
  if (over || code !== 0) return;
  fail(new Error("the script waits for something that will never come"));
  process.exitCode = 13;
});
runScript().then(
  () => (over = true),
  (error) => {
    over = true;
    send("h", "");
    fail(error);
    process.exit(1);
  },
);
