// Ways to do the same call many times. An operation takes a count and does its work that often; it returns
// nothing when all of it is to be timed, or its own nanoseconds when some of it is not.

const IN_FLIGHT = 8;
const TOGETHER = 1_000;

/** One call after the other. */
export function oneByOne(call) {
  let number = 0;
  return async (count) => {
    for (let done = 0; done < count; done += 1) await call(number++);
  };
}

/** Always eight under way: as one ends, the next begins. */
export function eightInFlight(call) {
  let number = 0;
  return async (count) => {
    let left = count;
    const lane = async () => {
      while (left > 0) {
        left -= 1;
        await call(number++);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  };
}

/** A thousand begun at once; one unit is the whole thousand. */
export function thousandAtOnce(call) {
  return async (count) => {
    for (let done = 0; done < count; done += 1) {
      await Promise.all(Array.from({ length: TOGETHER }, (_, number) => call(number)));
    }
  };
}

/** Work that needs fresh ground each time; only `work` is timed. */
export function timedAfter(prepare, work) {
  return async (count) => {
    let elapsed = 0n;
    for (let done = 0; done < count; done += 1) {
      const ground = await prepare();
      const started = process.hrtime.bigint();
      await work(ground);
      elapsed += process.hrtime.bigint() - started;
    }
    return Number(elapsed);
  };
}

/** The operations every subject with a `call` has. */
export function callOperations(call) {
  return {
    oneByOne: oneByOne(call),
    eightInFlight: eightInFlight(call),
    thousandAtOnce: thousandAtOnce(call),
  };
}
