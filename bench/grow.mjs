/** Holds so much more memory, really used, until it is freed. */
export function grow(megabytes = 0) {
  let blocks = Array.from({ length: megabytes }, () => Buffer.alloc(1024 * 1024, 1));
  return {
    free() {
      blocks = [];
      return blocks;
    },
  };
}
