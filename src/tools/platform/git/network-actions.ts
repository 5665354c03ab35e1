import { tmpdir } from "node:os";
import { dirname } from "node:path/posix";
import { isAtOrBelow } from "../../../base/path.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { type GitAddress, protocolOf, readAddress, withoutPassword } from "./address.js";
import { changingWords, cloneTarget, type GitArguments, operationOf } from "./arguments.js";
import { follow, headOf, withConflicts } from "./change-actions.js";
import { addressEffects } from "./effects.js";
import { readPush } from "./parse.js";
import { type Place, status, topOf } from "./read-actions.js";
import { askGit, changeWithGit, type GitChange, gitFailed, mustChange } from "./run.js";

type Network = NonNullable<GitChange["network"]>;

/** What the other side of this address may be reached with, once everybody who has a say has let it pass. */
async function admit(
  url: string,
  request: { readonly sends: boolean; readonly base: string; readonly ctx: CallContext },
): Promise<Network> {
  const { ctx, base } = request;
  const address = readAddress(url);
  if (address.kind === "refused") throw closed(url, address.why);
  const home = ctx.environment.files.resolve("~", base);
  for (const effect of addressEffects(address, { ...request, home })) {
    const refusal = ctx.refusal(effect);
    if (refusal !== undefined) throw closed(url, refusal);
  }
  const protocols = protocolOf(address);
  const from = withoutPassword(url);
  if (address.kind === "file") {
    const path = await nearPath(address.path, { url, base, ctx });
    const [read, write] = request.sends ? [[], [path]] : [[path], []];
    return { protocols, settings: [], open: false, read, write, from };
  }
  return { protocols, settings: await pinned(address, ctx), open: true, read: [], write: [], from };
}

function closed(url: string, why: string): ToolError {
  return new ToolError(`git may not use ${withoutPassword(url)}: ${why}.`, {
    code: "denied",
    hint: "Use an address that the rules allow (https://, ssh://, or a folder in the workspace).",
  });
}

/** Another repository of this machine is only used where the session is at home anyway. */
async function nearPath(
  path: string,
  place: { readonly url: string; readonly base: string; readonly ctx: CallContext },
): Promise<string> {
  const { files, kind } = place.ctx.environment;
  const real = await files.realpath(files.resolve(path, place.base));
  const homes = await Promise.all(
    [place.ctx.session.workspace, kind === "local" ? tmpdir() : "/tmp"].map((folder) =>
      files.realpath(folder).catch(() => folder),
    ),
  );
  if (!homes.some((folder) => isAtOrBelow(real, folder)))
    throw closed(place.url, `it lies outside the workspace ${place.ctx.session.workspace}`);
  return real;
}

/**
 * Git looks a name up by itself; on this machine it is held to the address that was judged. Elsewhere names mean what
 * they mean there.
 */
async function pinned(
  address: Exclude<GitAddress, { kind: "file" | "refused" }>,
  ctx: CallContext,
): Promise<readonly string[]> {
  if (ctx.environment.kind !== "local") return [];
  const { host, port } = address;
  try {
    const socket = await ctx.connect({ host, port });
    const { remoteAddress = "" } = socket;
    socket.destroy();
    if (address.kind !== "web" || remoteAddress === "" || remoteAddress === host) return [];
    const target = remoteAddress.includes(":") ? `[${remoteAddress}]` : remoteAddress;
    return [`http.curloptResolve=${host}:${port}:${target}`];
  } catch (error) {
    // A host may have another name in the settings of SSH, which only SSH knows; and a proxy looks names up itself.
    const isUnknown = ToolError.isInstance(error) && error.code !== "blocked";
    if (isUnknown && (address.kind === "ssh" || (address.kind === "web" && usesProxy()))) return [];
    throw error;
  }
}

function usesProxy(): boolean {
  return ["https_proxy", "http_proxy", "all_proxy"].some(
    (name) => (process.env[name] ?? process.env[name.toUpperCase()] ?? "") !== "",
  );
}

export async function clone(args: GitArguments, ctx: CallContext) {
  const { cwd } = ctx.session;
  const { files } = ctx.environment;
  const target = files.resolve(cloneTarget(args), cwd);
  const url = args.url ?? "";
  const ask = await askGit({ folder: cwd, ctx, words: ["ls-remote", "--get-url", url] });
  const network = await admit(ask.output.trim(), { sends: false, base: cwd, ctx });
  const { words } = changingWords({ ...args, path: target });
  await mustChange({
    folder: cwd,
    words,
    ctx,
    network,
    writable: isAtOrBelow(target, ctx.session.workspace) ? [] : [dirname(target)],
  });
  const place = { folder: await files.realpath(target), ctx };
  const { branch, hash } = await status({}, place);
  return { path: target, url: withoutPassword(url), branch, hash };
}

/** The remote that was named, else the one that the current branch follows, else `origin`. */
async function remoteOf(args: GitArguments, place: Place) {
  const { branch, upstream } = await status({}, place);
  const followed = upstream === null || branch === null ? undefined : await followedBy(branch, place);
  const name = args.remote ?? followed?.remote ?? "origin";
  const sends = args.action === "push";
  const ask = await askGit({
    ...place,
    words: ["remote", "get-url", "--all", ...(sends ? ["--push"] : []), name],
  });
  const urls = ask.output.split("\n").filter((line) => line !== "");
  const base = await topOf(place);
  const admitted: Network[] = [];
  for (const url of urls) admitted.push(await admit(url, { sends, base, ctx: place.ctx }));
  const network: Network = {
    protocols: [...new Set(admitted.map(({ protocols }) => protocols))].join(":"),
    settings: admitted.flatMap(({ settings }) => settings),
    open: admitted.some(({ open }) => open),
    read: admitted.flatMap(({ read }) => read),
    write: admitted.flatMap(({ write }) => write),
    from: withoutPassword(urls[0] ?? ""),
  };
  return { name, network, branch, followed, url: withoutPassword(urls[0] ?? "") };
}

async function followedBy(branch: string, place: Place) {
  const value = async (key: string) =>
    (
      await askGit({ ...place, words: ["config", "--get", `branch.${branch}.${key}`] }).catch(() => undefined)
    )?.output.trim();
  const [remote, merge] = [await value("remote"), await value("merge")];
  return remote === undefined ? undefined : { remote, branch: merge?.replace(/^refs\/heads\//, "") };
}

export async function fetchRefs(args: GitArguments, place: Place) {
  const { name, network, url } = await remoteOf(args, place);
  const before = await remoteRefs(place);
  const { words } = changingWords({ ...args, remote: name });
  await mustChange({ ...place, words, network });
  const after = await remoteRefs(place);
  const updated = [...after].flatMap(([ref, hash]) =>
    before.get(ref) === hash ? [] : [{ ref, from: before.get(ref) ?? null, to: hash }],
  );
  return { remote: name, url, updated };
}

async function remoteRefs(place: Place): Promise<ReadonlyMap<string, string>> {
  const { output } = await askGit({
    ...place,
    words: ["for-each-ref", "--format=%(refname) %(objectname)", "refs/remotes", "refs/tags"],
  });
  return new Map(
    output
      .split("\n")
      // Where the other side's HEAD points to moves with its branch.
      .filter((line) => line !== "" && !/^refs\/remotes\/[^/]+\/HEAD /.test(line))
      .map((line) => line.split(" ") as [string, string]),
  );
}

export async function pull(args: GitArguments, place: Place) {
  const { name, network, branch, followed, url } = await remoteOf(args, place);
  const from = await headOf(place);
  const wanted =
    args.branch ?? (followed?.remote === name ? followed.branch : undefined) ?? branch ?? undefined;
  const { words } = changingWords({ ...args, remote: name, branch: wanted });
  const answer = await changeWithGit({ ...place, words, network });
  const { conflicts, output } = await withConflicts({ words, answer, from: network.from }, place);
  const to = await headOf(place);
  return { remote: name, url, branch: wanted ?? null, from, to, updated: from !== to, conflicts, output };
}

export async function push(args: GitArguments, place: Place) {
  const { name, network, branch, followed, url } = await remoteOf(args, place);
  const wanted = args.branch ?? args.tag ?? branch ?? undefined;
  if (wanted === undefined)
    throw new ToolError("No branch is checked out, so there is none to push.", {
      code: "invalid_arguments",
      hint: "Name it with branch.",
    });
  const { words } = changingWords({ ...args, remote: name, branch: wanted });
  const answer = await changeWithGit({ ...place, words, network });
  if (!answer.ok) throw gitFailed(words, answer, network.from);
  const isNew = followed === undefined && wanted === branch && operationOf(args) !== "delete";
  if (isNew) await follow({ branch: wanted, remote: name }, place);
  return {
    remote: name,
    url,
    refs: readPush(answer.output),
    output: withoutPassword(answer.stderr).slice(-4_000),
  };
}
