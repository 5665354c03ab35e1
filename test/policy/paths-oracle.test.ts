import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgePath } from "../../src/policy/paths/judge-path.js";
import { onTestEnd } from "../support/runtime.js";

/** Small alphabets, so that paths meet links, links meet links, and `..` follows all of them. */
const NAMES = ["a", "b", "l", "m", "n", "secrets", ".env", "ws", "out"];
const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  { weight: 6, arbitrary: name },
  { weight: 3, arbitrary: fc.constantFrom("..", ".", "") },
);
const tail = fc.array(step, { minLength: 1, maxLength: 7 });
const place = fc.constantFrom("ws", "ws/a", "ws/a/b", "tmp", "out", "out/a", "ws/secrets", "ws-evil");

const world = fc.record({
  links: fc.array(
    fc.record({
      at: place,
      name: fc.constantFrom("l", "m", "n"),
      absolute: fc.boolean(),
      target: fc.tuple(place, tail),
    }),
    { maxLength: 8 },
  ),
  paths: fc.array(fc.record({ start: fc.oneof(place, fc.constant(undefined)), tail }), {
    minLength: 100,
    maxLength: 100,
  }),
});

function buildWorld(root: string, links: readonly { at: string; name: string; text: string }[]): void {
  for (const folder of ["ws/a/b", "ws/secrets", "tmp", "out/a", "ws-evil"]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  writeFileSync(join(root, "ws/.env"), "");
  for (const link of links) {
    const at = join(root, link.at, link.name);
    try {
      symlinkSync(link.text, at);
    } catch {
      // Two links of one name: the first stays.
    }
  }
}

/** Where the kernel itself gets to by this text; undefined when it gets nowhere. */
function kernelPlace(path: string, base: string): string | undefined {
  if (leadsOut(path, base)) return "/somewhere/else";
  const attempts = [
    constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
    constants.O_RDWR | constants.O_CREAT,
    constants.O_RDONLY,
  ];
  for (const flags of attempts) {
    let descriptor: number;
    try {
      descriptor = openSync(path, flags, 0o600);
    } catch {
      continue;
    }
    const real = readlinkSync(`/proc/self/fd/${descriptor}`);
    closeSync(descriptor);
    if (flags !== constants.O_RDONLY && !STANDING.test(real)) unlinkSync(real);
    return real;
  }
  return undefined;
}

/** Whether opening this would make a file outside of the test's own folder; then it is not tried. */
function leadsOut(path: string, base: string, links = 0): boolean {
  const [, parent = "", last = ""] = /^(.*)\/([^/]+)\/*$/s.exec(path) ?? [];
  if (last === ".." || last === "." || links > 40) return false;
  let folder: string;
  try {
    const descriptor = openSync(parent === "" ? "/" : parent, constants.O_RDONLY | constants.O_DIRECTORY);
    folder = readlinkSync(`/proc/self/fd/${descriptor}`);
    closeSync(descriptor);
  } catch {
    return false;
  }
  if (folder !== base && !folder.startsWith(`${base}/`)) return true;
  try {
    const target = readlinkSync(`${folder}/${last}`);
    return leadsOut(target.startsWith("/") ? target : `${folder}/${target}`, base, links + 1);
  } catch {
    return false;
  }
}

const STANDING = /\/ws\/\.env$/;

/** Written anew and simply, so that a mistake of the matcher is not repeated here. */
function isOpen(path: string, root: string): boolean {
  const within = (folder: string) => path === folder || path.startsWith(`${folder}/`);
  const closed = path === `${root}/ws/.env` || within(`${root}/ws/secrets`);
  return (within(`${root}/ws`) || within(`${root}/tmp`)) && !closed;
}

describe.skipIf(!existsSync("/proc/self/fd"))("10,000 random paths over real links", () => {
  it("no path that is allowed leads out, and no path that stays inside is refused", () => {
    let [tried, reached, allowed] = [0, 0, 0];
    const escapes: string[] = [];
    const refusals: string[] = [];
    const base = realpathSync(mkdtempSync(join(tmpdir(), "hermes-oracle-")));
    onTestEnd(() => rmSync(base, { recursive: true, force: true }));
    fc.assert(
      fc.property(world, ({ links, paths }) => {
        const root = mkdtempSync(join(base, "w"));
        try {
          buildWorld(
            root,
            links.map((link) => {
              const [start, rest] = link.target;
              const text = link.absolute ? [root, start, ...rest].join("/") : rest.join("/");
              return { at: link.at, name: link.name, text: text === "" ? "." : text };
            }),
          );
          for (const path of paths) {
            const cwd = `${root}/ws`;
            const written =
              path.start === undefined ? path.tail.join("/") : [root, path.start, ...path.tail].join("/");
            if (written.trim() === "" || (path.start === undefined && written.startsWith("/"))) continue;
            tried += 1;
            const { verdict } = judgePath({
              allow: [`${root}/ws/**`, `${root}/tmp/**`],
              deny: [`${root}/ws/.env`, `${root}/ws/secrets/**`],
              path: written,
              cwd,
              home: root,
            });
            const absolute = written.startsWith("/") ? written : `${cwd}/${written}`;
            const normalised = resolve(cwd, written);
            // Programs hand the text over as it is, or tidy it up first: both must stay inside.
            const places = [kernelPlace(absolute, base), kernelPlace(normalised, base)];
            if (places.some((found) => found !== undefined)) reached += 1;
            const strays = places.filter((found) => found !== undefined && !isOpen(found, root));
            if (verdict === "allow") {
              allowed += 1;
              if (strays.length > 0) escapes.push(`${written} → ${strays.join(", ")}`);
            } else if (!places.includes(undefined) && strays.length === 0 && isOpen(normalised, root)) {
              refusals.push(written);
            }
          }
        } finally {
          rmSync(root, { recursive: true, force: true });
        }
      }),
      { numRuns: 110 },
    );
    expect(escapes).toEqual([]);
    expect(refusals).toEqual([]);
    expect(tried).toBeGreaterThanOrEqual(10_000);
    expect(reached).toBeGreaterThan(2_000);
    expect(allowed).toBeGreaterThan(1_000);
  }, 120_000);
});
