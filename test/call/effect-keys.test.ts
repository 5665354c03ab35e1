import fc from "fast-check";
import { expect, test } from "vitest";
import { type EffectKey, KeyIndex } from "../../src/call/effect-keys.js";

const path = fc
  .array(fc.constantFrom("a", "b", "ab"), { maxLength: 3 })
  .map((parts) => `/${parts.join("/")}`);
const key: fc.Arbitrary<EffectKey> = fc.record({
  space: fc.constantFrom("file@local", "session:1"),
  path: fc.option(path, { nil: undefined }),
  write: fc.boolean(),
});
const keys = fc.array(key, { maxLength: 3 });

function isWithin(inner: string | undefined, outer: string | undefined): boolean {
  if (outer === undefined || outer === "/") return outer === undefined || inner !== undefined;
  return inner === outer || inner?.startsWith(`${outer}/`) === true;
}

function clash(a: EffectKey, b: EffectKey): boolean {
  return (
    a.space === b.space && (a.write || b.write) && (isWithin(a.path, b.path) || isWithin(b.path, a.path))
  );
}

/** A look at a folder does not wait for a change of something in it. */
function exclude(a: EffectKey, b: EffectKey): boolean {
  if (!clash(a, b)) return false;
  if (a.write === b.write || a.path === undefined || b.path === undefined) return true;
  return a.write ? isWithin(b.path, a.path) : isWithin(a.path, b.path);
}

test("finds exactly those whose keys clash when each is compared with each, also after some have left", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ keys, leaves: fc.boolean() }), { maxLength: 8 }),
      keys,
      (owners, asked) => {
        const index = new KeyIndex<(typeof owners)[number]>();
        for (const owner of owners) index.add(owner, owner.keys);
        for (const owner of owners) if (owner.leaves) index.delete(owner, owner.keys);
        const left = owners.filter(({ leaves }) => !leaves);
        const by = (compare: typeof clash) =>
          left.filter((owner) => owner.keys.some((held) => asked.some((one) => compare(held, one))));
        expect(index.clashesWith(asked)).toBe(by(clash).length > 0);
        expect(new Set(index.excluding(asked).flat())).toEqual(new Set(by(exclude)));
      },
    ),
    { numRuns: 2_000 },
  );
});
