import { Code, ConnectError, type Transport } from "@connectrpc/connect";

import { callKey } from "../call/call.ts";
import { resolveAddresses, type ServiceAddress } from "./addresses.ts";
import { failureOf, isRepeatable } from "./call-failure.ts";
import { followReplica, type Replica } from "./replica.ts";
import { createRetryBudget } from "./retry-budget.ts";

export type BalancedTransportOptions = {
  readonly service: string;
  /** URLs of its replicas, or of names that resolve to all of them. */
  readonly urls: readonly string[];
  readonly connect: (address: ServiceAddress) => Transport & Disposable;
  readonly onChange: (url: string, isServing: boolean) => void;
  readonly onRetry: () => void;
  /** Default: that of the operating system. */
  readonly resolve?: typeof resolveAddresses;
};

/** A caller has this much time left when its callee's deadline ends, for a response of its own. */
const HOP_MS = 100;
/** Names are resolved again, because replicas come and go. */
const RESOLVE_MS = 5_000;
/** Replicas that are tried for one call. */
const MAX_ATTEMPTS = 3;

/**
 * Calls the replicas of a service: the one with the fewest calls in progress, round-robin among equals. Replicas that
 * are unreachable, not ready, about to stop, or fail most calls are left out. A call that was not sent, or that may be
 * executed twice, is repeated on another replica, within a budget.
 */
export function createBalancedTransport(options: BalancedTransportOptions): Transport & Disposable {
  const replicas = followReplicas(options);
  const budget = createRetryBudget();
  const run = async <Response>({ signal, send, mayRepeat }: Attempts<Response>) => {
    budget.countCall();
    const tried: Replica[] = [];
    let error: unknown = noReplica(options.service);
    for (;;) {
      const replica = choose(await replicas.current(), tried);
      if (replica === undefined) throw error;
      tried.push(replica);
      try {
        return await measured(replica, signal, () => send(replica));
      } catch (thrown) {
        const failure = failureOf(thrown, signal);
        error = failure === "lost" ? brokenOff(options.service, thrown) : thrown;
        // What was not sent has cost the service nothing.
        const repeats =
          tried.length < MAX_ATTEMPTS &&
          (failure === "unsent" || (failure === "lost" && mayRepeat && budget.take()));
        if (!repeats) throw error;
        options.onRetry();
      }
    }
  };
  return {
    // oxlint-disable-next-line max-params -- the signature is Connect's
    unary(method, signal, timeoutMs, header, input, contextValues) {
      const deadline = performance.now() + (timeoutMs ?? Number.POSITIVE_INFINITY) - HOP_MS;
      return run({
        signal,
        mayRepeat: isRepeatable(method, contextValues?.get(callKey)),
        send({ transport }) {
          const left =
            timeoutMs === undefined ? undefined : Math.floor(deadline - performance.now());
          return transport.unary(method, signal, left, header, input, contextValues);
        },
      });
    },
    // oxlint-disable-next-line max-params -- the signature is Connect's
    stream(method, signal, timeoutMs, header, input, contextValues) {
      return run({
        signal,
        // Messages of the first attempt may have been read.
        mayRepeat: false,
        send: ({ transport }) =>
          transport.stream(method, signal, timeoutMs, header, input, contextValues),
      });
    },
    [Symbol.dispose]: () => replicas[Symbol.dispose](),
  };
}

type Attempts<Response> = {
  readonly signal: AbortSignal | undefined;
  readonly send: (replica: Replica) => Promise<Response>;
  /** Whether a call that was sent may be sent again. */
  readonly mayRepeat: boolean;
};

/** A call that had less time says nothing about the replica. */
const FAIR_MS = 1_000;

async function measured<Response>(
  replica: Replica,
  signal: AbortSignal | undefined,
  send: () => Promise<Response>,
): Promise<Response> {
  const start = performance.now();
  replica.inFlight += 1;
  replica.breaker.begin();
  try {
    const response = await send();
    replica.breaker.record("succeeded");
    return response;
  } catch (error) {
    const failure = failureOf(error, signal);
    if (failure === "unsent") replica.markUnreachable();
    const hadTime = failure !== "late" || performance.now() - start >= FAIR_MS;
    if (failure === "responded") replica.breaker.record("succeeded");
    else if (failure !== "caller_left" && hadTime) replica.breaker.record("failed");
    throw error;
  } finally {
    replica.inFlight -= 1;
  }
}

let turn = 0;

/** When no replica says that it serves, any may do so again: one of those whose circuit is not open. */
function choose(all: readonly Replica[], tried: readonly Replica[]): Replica | undefined {
  const allowed = all.filter((replica) => !tried.includes(replica) && replica.breaker.allows());
  const serving = allowed.filter((replica) => replica.isServing());
  const candidates = serving.length > 0 ? serving : allowed;
  turn += 1;
  let best: Replica | undefined;
  for (let at = 0; at < candidates.length; at += 1) {
    const replica = candidates[(turn + at) % candidates.length];
    if (replica !== undefined && (best === undefined || replica.inFlight < best.inFlight)) {
      best = replica;
    }
  }
  return best;
}

/** The current replicas of a service. */
function followReplicas({
  urls,
  connect,
  onChange,
  resolve = resolveAddresses,
}: BalancedTransportOptions) {
  const replicas = new Map<string, Replica & { readonly close: () => void }>();
  let current: readonly Replica[] = [];
  const add = (address: ServiceAddress): void => {
    const transport = connect(address);
    const replica = followReplica({ url: address.url, transport, onChange });
    const close = (): void => {
      replica[Symbol.dispose]();
      transport[Symbol.dispose]();
    };
    replicas.set(address.url, Object.assign(replica, { close }));
  };
  let isDisposed = false;
  const update = async (): Promise<void> => {
    const found = await resolve(urls);
    // The failure of a name server must not end the connections.
    if (found.length === 0 || isDisposed) return;
    for (const address of found) if (!replicas.has(address.url)) add(address);
    current = found.flatMap(({ url }) => replicas.get(url) ?? []);
    for (const [url, replica] of replicas) {
      // Its calls in progress finish first.
      if (current.includes(replica) || replica.inFlight > 0) continue;
      replicas.delete(url);
      replica.close();
    }
  };
  let updating: Promise<void> | undefined;
  const refresh = (): Promise<void> =>
    (updating ??= update().finally(() => {
      updating = undefined;
    }));
  const timer = setInterval(() => void refresh(), RESOLVE_MS).unref();
  void refresh();
  return {
    async current(): Promise<readonly Replica[]> {
      if (current.length === 0) await refresh();
      return current;
    },
    [Symbol.dispose]() {
      isDisposed = true;
      clearInterval(timer);
      for (const replica of replicas.values()) replica.close();
    },
  };
}

const noReplica = (service: string): ConnectError =>
  new ConnectError(`no replica of ${service} takes calls`, Code.Unavailable);

const brokenOff = (service: string, cause: unknown): ConnectError =>
  new ConnectError(
    `a replica of ${service} broke off`,
    Code.Unavailable,
    undefined,
    undefined,
    cause,
  );
