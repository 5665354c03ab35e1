import type { Attempts } from "./python-attempts.js";

/** The same for Node: bodies of async functions. Those with a star must succeed where there is no sandbox. */
export const NODE_ATTEMPTS: Attempts = {
  "*write by an absolute path": "return put(K.outside + '/made')",
  "*write through a link of its own":
    "fs.symlinkSync(K.outside, K.workspace + '/node-link'); return put(K.workspace + '/node-link/made')",
  "*write through /proc/self/root": "return put('/proc/self/root' + K.outside + '/made')",
  "*write as another program":
    "cp.execFileSync('sh', ['-c', 'echo x > \"$0/made\"', K.outside]); return 'made'",
  "copy over a file outside": "fs.copyFileSync(process.execPath, K.outside + '/canary.txt'); return 'copied'",
  "remove a tree outside": "fs.rmSync(K.outside + '/tree', { recursive: true }); return 'gone'",
  "open every descriptor it might have inherited":
    "for (let n = 3; n < 300; n += 1) { let t; try { t = fs.readlinkSync('/proc/self/fd/' + n) } catch { continue } if (!/^(pipe:|anon_inode:|\\/proc\\/|\\/dev\\/null)/.test(t)) return t }",
  "*read a key": "return read(K.home + '/.ssh/id_ed25519')",
  "*read the keys of Hermes": "return read(K.hermes + '/.env')",
  "*read variables of other processes":
    "for (const n of fs.readdirSync('/proc')) { try { const f = read('/proc/' + n + '/environ'); if (f) return f } catch {} }",
  "find a secret among its own variables":
    "return Object.entries(process.env).filter(([, v]) => v.includes(K.secret)).map(([n]) => n).join() || undefined",
  "find the runtime's own modules":
    "return Object.keys(require.cache).find((p) => /hermes/.test(p)) ?? process.argv.find((p) => p.includes(K.hermes))",
  "*a TCP port of the machine": "return visit({ port: K.tcp, host: '127.0.0.1' })",
  "a TCP port by IPv6": "return visit({ port: K.tcp6, host: '::1' })",
  "*a socket in its own folder": "return visit({ path: K.socket_inside })",
  "*a socket outside": "return visit({ path: K.socket_outside })",
  "*a page of the machine":
    "return (await fetch('http://127.0.0.1:' + K.tcp).catch((e) => /Parse|HTTP|socket hang/i.test(String(e.cause)) ? 'reached' : undefined)) && 'reached'",
  "a look-up of a name":
    "return new Promise((ok) => require('node:dns').resolve('example.org', (e, a) => ok(e ? undefined : a)))",
  "*a datagram to the machine":
    "const s = require('node:dgram').createSocket('udp4'); try { await new Promise((ok, no) => { s.once('error', no); s.connect(K.udp, '127.0.0.1', () => s.send('x', (e) => (e ? no(e) : setTimeout(ok, 50)))) }); return 'sent' } finally { s.close() }",
  "*a signal to a process of the machine": "process.kill(K.victim, 0); return 'reached'",
  "open the debugger of the runtime": "process._debugProcess(K.runtime); return 'opened'",
  "slow the runtime down": "os.setPriority(K.runtime, 19); return 'slowed'",
  "become another user": "process.setuid(1); process.setgid(1); return 'became'",
  "take a namespace as a program":
    "return cp.execFileSync('unshare', ['-Urn', 'id', '-u'], quiet).toString()",
  "mount as a program": "return cp.execFileSync('mount', ['-t', 'tmpfs', 'x', '/mnt'], quiet) && 'mounted'",
  "load a native module that is none":
    "fs.writeFileSync(K.workspace + '/x.node', ''); process.dlopen({ exports: {} }, K.workspace + '/x.node'); return 'loaded'",
  "leave by a worker":
    "const { Worker } = require('node:worker_threads'); const code = \"const { workerData, parentPort } = require('node:worker_threads'); parentPort.postMessage(require('node:fs').readFileSync(workerData, 'utf8'))\"; return new Promise((ok) => { const w = new Worker(code, { eval: true, env: {}, workerData: K.home + '/.ssh/id_ed25519' }); w.once('message', ok); w.once('error', () => ok(undefined)) })",
  "a hook of git": "return put(K.workspace + '/.git/hooks/post-checkout')",
  "tasks of an editor":
    "fs.mkdirSync(K.workspace + '/.vscode', { recursive: true }); return put(K.workspace + '/.vscode/tasks.json')",
  "start-up of a shell": "return put(K.home + '/.bashrc')",
  "its own interpreter": "return put(process.execPath)",
};

const PRELUDE = `
const { createRequire } = process.getBuiltinModule("node:module");
const require = createRequire(process.cwd() + "/");
const [fs, os, net, cp] = ["fs", "os", "net", "child_process"].map((name) => require("node:" + name));
const quiet = { stdio: ["ignore", "pipe", "ignore"] };
const put = (path) => (fs.appendFileSync(path, "x"), path);
const read = (path) => {
  const text = fs.readFileSync(path, "latin1");
  return text.includes(K.secret) ? text : undefined;
};
const visit = (where) =>
  new Promise((resolve, reject) => {
    const socket = net.connect(where);
    socket.setTimeout(1000, () => reject(new Error("silence")));
    socket.once("error", reject);
    socket.once("data", (bytes) => (socket.destroy(), resolve(bytes.toString())));
  });
`;

export function nodeScript(attempts: Attempts, known: Readonly<Record<string, string | number>>): string {
  const all = Object.entries(attempts).map(
    ([name, body]) => `[${JSON.stringify(name)}, async () => { ${body} }]`,
  );
  return [
    `const K = ${JSON.stringify(known)};`,
    PRELUDE,
    `for (const [name, attempt] of [\n${all.join(",\n")}\n]) {`,
    "  let proof, why;",
    "  try { proof = await attempt(); } catch (error) { why = String(error).slice(0, 100); }",
    "  console.log(JSON.stringify({ name, proof: proof === undefined ? null : String(proof).slice(0, 200), why }));",
    "}",
  ].join("\n");
}
