/** The id as text, or `undefined` for what cannot serve as one. */
export function readId(raw: unknown): string | undefined {
  if (typeof raw === "string") return raw === "" ? undefined : raw;
  if (typeof raw === "bigint") return String(raw);
  return typeof raw === "number" && Number.isFinite(raw) ? String(raw) : undefined;
}

/**
 * One unique id per position. The first bearer of a given id keeps it; later bearers get `<id>#2`, … and
 * calls without one get `call_<position>`, each moved on until it meets no given or assigned id.
 */
export function uniqueIds(given: readonly (string | undefined)[]): string[] {
  const taken = new Set(given.filter((id) => id !== undefined));
  const bearers = new Map<string, number>();
  let minted = 0;

  return given.map((id, position) => {
    if (id === undefined) {
      minted = Math.max(minted, position);
      do minted++;
      while (taken.has(`call_${minted}`));
      const fresh = `call_${minted}`;
      taken.add(fresh);
      return fresh;
    }
    const before = bearers.get(id);
    if (before === undefined) {
      bearers.set(id, 1);
      return id;
    }
    let count = before + 1;
    while (taken.has(`${id}#${count}`)) count++;
    bearers.set(id, count);
    taken.add(`${id}#${count}`);
    return `${id}#${count}`;
  });
}
