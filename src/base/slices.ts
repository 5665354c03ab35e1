/** Longer without a pause, and others notice. */
const SLICE_MS = 3;

/** Does something to each item of a long list, with pauses in which everybody else goes on. */
export async function inSlices<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => void,
): Promise<void> {
  let until = performance.now() + SLICE_MS;
  for (let index = 0; index < items.length; index += 1) {
    work(items[index] as Item, index);
    if (performance.now() < until) continue;
    await new Promise((resolve) => setImmediate(resolve));
    until = performance.now() + SLICE_MS;
  }
}
