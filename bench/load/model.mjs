// The closed model of a cluster: four kinds of stations that a call passes. Front nodes (one event loop each) take it in
// and settle it, the leaders of NATS streams carry it there and back, slots of workers run it.
// Queues: Allen and Cunneen's approximation of GI/G/c, exact in the mean for M/M/c and M/G/1.

/** What the stations of this cluster do to one call, and how many calls a second each kind bears. */
export function stationsOf(parameters, { fronts, streams, workers }) {
  const { front, nats, worker, work } = parameters;
  return {
    front: { servers: 1, groups: fronts, visits: 2, serviceMs: front.cpuMs / 2, scv: front.scv },
    nats: {
      servers: 1,
      groups: streams,
      visits: 2,
      serviceMs: ((nats.messagesOut + nats.messagesBack) / 2) * nats.messageMs,
      scv: nats.scv,
    },
    slots: {
      servers: workers * worker.slots,
      groups: 1,
      visits: 1,
      serviceMs: work.waitMs + worker.cpuMs,
      scv: work.scv,
    },
    cores: {
      servers: worker.cores,
      groups: workers,
      visits: 1,
      serviceMs: worker.cpuMs,
      scv: 1,
      // Part of the time in a slot: a bound, not a queue of its own.
      isBound: true,
    },
  };
}

/** Calls a second that all servers of a kind bear together. */
export function capacityOf({ servers, groups, visits, serviceMs }) {
  return (servers * groups * 1_000) / (visits * serviceMs);
}

/**
 * `overheadMs`: the mean of what a call takes beyond its work. Infinity when a station is asked for more than it bears;
 * `bottleneck` is the one with the highest use.
 */
export function predict(parameters, cluster) {
  const stations = Object.entries(stationsOf(parameters, cluster));
  const use = Object.fromEntries(
    stations.map(([name, station]) => [name, cluster.callsPerSecond / capacityOf(station)]),
  );
  const [bottleneck] = Object.entries(use).sort((a, b) => b[1] - a[1])[0];
  const queueMs = Object.fromEntries(
    stations
      .filter(([, { isBound }]) => isBound !== true)
      .map(([name, station]) => [name, station.visits * waitMs(station, cluster.callsPerSecond)]),
  );
  const waits = Object.values(queueMs).reduce((sum, ms) => sum + ms, 0);
  const { front, nats, worker } = parameters;
  const served = front.cpuMs + worker.cpuMs + (nats.messagesOut + nats.messagesBack) * nats.messageMs;
  return {
    use,
    queueMs,
    bottleneck,
    mostCallsPerSecond: cluster.callsPerSecond / use[bottleneck],
    overheadMs: served + 2 * nats.latencyMs + waits,
  };
}

/** The mean wait in one queue of a station, all of whose groups share the calls evenly. */
function waitMs({ servers, groups, visits, serviceMs, scv }, callsPerSecond) {
  const perMs = (callsPerSecond * visits) / groups / 1_000;
  const offered = perMs * serviceMs;
  if (offered >= servers) return Number.POSITIVE_INFINITY;
  return (erlangC(servers, offered) / (servers / serviceMs - perMs)) * ((1 + scv) / 2);
}

/** The share of calls that have to wait in M/M/c; through the recursion of Erlang B, which does not overflow. */
export function erlangC(servers, offered) {
  if (offered === 0) return 0;
  let blocked = 1;
  for (let server = 1; server <= servers; server += 1) {
    blocked = (offered * blocked) / (server + offered * blocked);
  }
  return blocked / (1 - (offered / servers) * (1 - blocked));
}
