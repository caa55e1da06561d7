import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import { accessOf, httpMethodsOf } from "@scrip/contract";
import { ApiError, errorFromProto } from "@scrip/errors";
import type { NewId } from "@scrip/ids";
import {
  type Database,
  isLockTimeout,
  isRetryable,
  type Queryable,
  sqlState,
} from "@scrip/postgres";
import { Idempotency } from "@scrip/proto/scrip/options/v1/options_pb";
import {
  type Call,
  createLane,
  type Handler,
  type Implementation,
  implement,
  type Lane,
  REQUEST_DEADLINE_MS,
} from "@scrip/rpc";

import { publishEntry, type StoreEntry } from "./audit.ts";
import { bindDatabase } from "./bound-database.ts";
import { createKeyedWork, type KeyedTransaction, type KeyedWork } from "./keyed-work.ts";
import {
  type AttemptOutcome,
  deliver,
  finalError,
  requireSameRequest,
  responseOutcome,
} from "./outcome.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import type { PublishedChange } from "./resource-changes.ts";
import { newSeed, seededIds } from "./seeded-ids.ts";
import {
  findRequest,
  insertRequest,
  type Outcome,
  type RequestKey,
  storeOutcome,
} from "./stored-requests.ts";

/** One handler per RPC, created from the dependencies: those of the service, or those of one request. */
export type HandlerFactories<Deps, Desc extends DescService> = {
  readonly [Name in keyof Desc["method"]]: (deps: Deps) => Handler<Desc["method"][Name]>;
};

/**
 * How a request with a key runs (docs/idempotency.md#implementation-for-maintainers):
 * - `transaction`: all its effects are in the key's transaction. The default of a POST or PUT.
 * - `steps`: it also calls services that write, or commits before its last transaction. Its ids are the same at a
 *   repetition, and every step but the last must be repeatable.
 * - `repeatable`: it has no effect of its own in this database; effects in other services are repeatable under its ids.
 */
export type Execution = "transaction" | "steps" | "repeatable";

type BaseDeps = {
  readonly db: Database;
  readonly newId: NewId;
  /** Called after each commit that wrote to the outbox. */
  readonly onEvents?: () => void;
};

/** State of the wrapper around the handlers of a service. */
type Wrapper<Deps> = {
  readonly deps: Deps;
  readonly bind: (deps: Deps, work: KeyedWork) => Deps;
  /** Bounds the transactions, each of which has a connection. */
  readonly lane: Lane;
  /** Keys that this process is working on: a duplicate is rejected without a connection. */
  readonly running: Map<string, Uint8Array>;
};

type UntypedFactory<Deps> = (deps: Deps) => (request: Message, call: Call) => Promise<Message>;

type Rpc<Deps> = {
  readonly method: DescMethod;
  readonly factory: UntypedFactory<Deps>;
  /** Undefined: the RPC is for other services, or leaves no entry in the audit log. */
  readonly execution: Execution | undefined;
  readonly record: Recorder | undefined;
};

/**
 * Returns `implement` for a service that stores idempotency keys: the key, the request hash and the response are
 * written in the transaction of the effect (services/decisions/0025), and so are the entry in the audit log and
 * `published`: what RPCs publish in projects with a webhook that receives it. A call that reads costs nothing. `bind`
 * replaces every dependency through which a handler writes.
 */
export function keyedHandlers<Deps extends BaseDeps>(
  deps: Deps,
  bind: (deps: Deps, work: KeyedWork) => Deps,
  published: readonly PublishedChange[] = [],
  storeEntry: StoreEntry = publishEntry,
) {
  const changes = new Map(published.map((each) => [each.method, each]));
  const wrapper: Wrapper<Deps> = {
    deps,
    bind,
    lane: createTransactionLane(deps.db.size),
    running: new Map(),
  };
  return <Desc extends DescService>(
    service: Desc,
    factories: HandlerFactories<Deps, Desc>,
    executions: { readonly [Name in keyof Desc["method"]]?: Execution } = {},
  ): Implementation => {
    const handlers = service.methods.map((method) => {
      // Typed by the parameter; here the RPCs are known by their descriptors only.
      const factory = factories[
        method.localName as keyof typeof factories
      ] as unknown as UntypedFactory<Deps>;
      const execution =
        executions[method.localName as keyof typeof executions] ?? defaultExecution(method);
      const record = createRecorder(method, changes.get(method), storeEntry);
      const rpc = { method, factory, execution, record };
      const unkeyed = withRecord(wrapper, rpc);
      if (execution === undefined) return [method.localName, unkeyed];
      return [
        method.localName,
        (request: Message, call: Call) =>
          call.idempotency === undefined
            ? unkeyed(request, call)
            : runKeyed(wrapper, rpc, { request, call, ...call.idempotency }),
      ];
    });
    return implement(service, Object.fromEntries(handlers));
  };
}

/** The handler without a key. Only a request that is recorded has a transaction of the wrapper. */
function withRecord<Deps extends BaseDeps>(
  wrapper: Wrapper<Deps>,
  { factory, record, execution }: Rpc<Deps>,
): (request: Message, call: Call) => Promise<Message> {
  const plain = factory(wrapper.deps);
  if (record === undefined) return plain;
  return async (request, call) => {
    if (!record.isNeeded(call)) return plain(request, call);
    if (execution !== "repeatable") {
      return runRecorded(wrapper, { factory, record }, { request, call });
    }
    const response = await plain(request, call);
    await wrapper.deps.db.transaction((tx) => record.write(tx, { request, response, call }));
    wrapper.deps.onEvents?.();
    return response;
  };
}

async function runRecorded<Deps extends BaseDeps>(
  { deps, bind, lane }: Wrapper<Deps>,
  rpc: { readonly factory: UntypedFactory<Deps>; readonly record: Recorder },
  { request, call }: { readonly request: Message; readonly call: Call },
): Promise<Message> {
  const place = lane.enter(call.project.id, 1);
  let work: KeyedTransaction | undefined;
  try {
    await place.start(1);
    const outcome = await deps.db.transaction(async (tx) => {
      allowWaiting(tx);
      const own = createKeyedWork(bindDatabase(tx, deps.db), deps.newId);
      work = own;
      const result = await settle(() => rpc.factory(bind(deps, own))(request, call), call);
      if ("response" in result) await rpc.record.write(tx, { ...result, request, call });
      await own.bumpChanged(tx);
      return result;
    });
    if ("rejection" in outcome) throw outcome.rejection;
    return outcome.response;
  } finally {
    await work?.runAfterCommit();
    deps.onEvents?.();
    place.leave();
  }
}

/** Rows that a handler wrote before it rejected a request are committed, as they are without this transaction. */
async function settle(
  handle: () => Promise<Message>,
  { requestId }: Call,
): Promise<{ readonly response: Message } | { readonly rejection: unknown }> {
  try {
    return { response: await handle() };
  } catch (error) {
    if (finalError(error, requestId) === undefined) throw error;
    return { rejection: error };
  }
}

/** The number of light requests that wait in one process; the gateway admits fewer. */
const MAX_WAITING = 4_000;
/** Leaves time for the transaction before the deadline. */
const MAX_WAIT_MS = 5_000;

/** Other requests, and lookups of stored responses, keep half of the pool. */
function createTransactionLane(poolSize: number): Lane {
  const running = Math.max(1, Math.floor(poolSize / 2));
  const limits = {
    running,
    runningPerProject: running,
    waiting: MAX_WAITING,
    waitingPerProject: MAX_WAITING / 2,
    maxWaitMs: MAX_WAIT_MS,
  };
  return createLane(limits, () => {});
}

/** Undefined: the RPC reads, its handler stores the key itself, or its response must not be stored. */
function defaultExecution(method: DescMethod): Execution | undefined {
  const writes = httpMethodsOf(method).some((verb) => verb !== "GET" && verb !== "DELETE");
  const option = accessOf(method)?.idempotency ?? Idempotency.UNSPECIFIED;
  return writes && option === Idempotency.UNSPECIFIED ? "transaction" : undefined;
}

type KeyedRequest = {
  readonly request: Message;
  readonly call: Call;
} & NonNullable<Call["idempotency"]>;

async function runKeyed<Deps extends BaseDeps>(
  wrapper: Wrapper<Deps>,
  rpc: Rpc<Deps>,
  keyed: KeyedRequest,
): Promise<Message> {
  const { call, key, requestHash } = keyed;
  const requestKey = { projectId: call.project.id, key, requestHash };
  const name = `${requestKey.projectId}\n${key}`;
  const running = wrapper.running.get(name);
  if (running !== undefined) {
    requireSameRequest(running, requestKey);
    throw new ApiError("idempotency_in_progress");
  }
  wrapper.running.set(name, requestHash);
  try {
    const run = rpc.execution === "repeatable" ? runRepeatable : runWithRetries;
    return deliver(rpc.method.output, await run(wrapper, rpc, { ...keyed, requestKey }));
  } finally {
    wrapper.running.delete(name);
  }
}

type Run = KeyedRequest & { readonly requestKey: RequestKey };

const MAX_ATTEMPTS = 3;

/** A deadlock or a serialization failure rolled everything back, so the request runs again. */
async function runWithRetries<Deps extends BaseDeps>(
  wrapper: Wrapper<Deps>,
  rpc: Rpc<Deps>,
  run: Run,
): Promise<AttemptOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runInTurn(wrapper, rpc, run);
    } catch (error) {
      const conflict = sqlState(error)?.startsWith("40") === true && isRetryable(error);
      if (attempt === MAX_ATTEMPTS || !conflict) throw error;
    }
  }
}

/** A request with a stored response does not wait for a connection. */
async function runInTurn<Deps extends BaseDeps>(
  wrapper: Wrapper<Deps>,
  rpc: Rpc<Deps>,
  run: Run,
): Promise<AttemptOutcome> {
  const place = wrapper.lane.enter(run.requestKey.projectId, 1);
  try {
    const turn = place.start(1);
    if (turn !== undefined) {
      // The lane may reject it during the lookup.
      turn.catch(() => {});
      const stored = await findOutcome(wrapper.deps.db, run);
      if (stored !== undefined) return stored;
      await turn;
    }
    return await runInTransaction(wrapper, rpc, run);
  } finally {
    place.leave();
  }
}

async function findOutcome(
  db: Database,
  { requestKey, call }: Run,
): Promise<AttemptOutcome | undefined> {
  const stored = await findRequest(db, requestKey);
  if (stored === undefined) return undefined;
  requireSameRequest(stored.requestHash, requestKey);
  if (stored.outcome !== undefined) call.onReplay?.();
  return stored.outcome;
}

/**
 * A concurrent request with the same key in another process holds the key until it ends; the claim waits for this long
 * only.
 */
const CLAIM_TIMEOUT_MS = 100;
/** Longer than any request: a handler may wait for another service. */
const IDLE_TIMEOUT_MS = REQUEST_DEADLINE_MS + 1_000;

async function runInTransaction<Deps extends BaseDeps>(
  { deps, bind }: Wrapper<Deps>,
  rpc: Rpc<Deps>,
  run: Run,
): Promise<AttemptOutcome> {
  const { requestKey, rejection } = run;
  const inSteps = rpc.execution === "steps";
  const isFirst = !inSteps || (await insertRequest(deps.db, requestKey, newSeed()));
  let work: KeyedTransaction | undefined;
  try {
    return await deps.db.transaction(
      async (tx) => {
        const claim = inSteps
          ? await lockRequest(tx, requestKey)
          : await claimRequest(tx, requestKey);
        if (claim.outcome !== undefined) {
          run.call.onReplay?.();
          return claim.outcome;
        }
        // An earlier attempt that was interrupted may have committed steps, so a rejection now is not the final result
        // of the request.
        if (rejection !== undefined && !isFirst) throw errorFromProto(rejection);
        const newId = claim.seed === null ? deps.newId : seededIds(claim.seed);
        work = createKeyedWork(bindDatabase(tx, { ...deps.db, size: 1 }), newId);
        const outcome = await outcomeOf(rpc, bind(deps, work), run, recordIn(tx, rpc, run));
        await work.bumpChanged(tx);
        await storeOutcome(tx, requestKey, outcome);
        return outcome;
      },
      { lockTimeoutMs: CLAIM_TIMEOUT_MS },
    );
  } finally {
    await work?.runAfterCommit();
    if (rpc.record !== undefined) deps.onEvents?.();
  }
}

type OnResponse = (response: Message) => Promise<void>;

const recordIn =
  <Deps>(tx: Queryable, { record }: Rpc<Deps>, { request, call }: Run): OnResponse =>
  async (response) => {
    if (record?.isNeeded(call) === true) await record.write(tx, { request, response, call });
  };

type Claim = { readonly seed: string | null; readonly outcome: Outcome | undefined };

/** Claims the key until the transaction ends: a crash of this process or of Postgres releases it. */
async function claimRequest(tx: Queryable, requestKey: RequestKey): Promise<Claim> {
  const inserted = await whileUnlocked(() => insertRequest(tx, requestKey, null));
  if (!inserted) return lockRequest(tx, requestKey);
  allowWaiting(tx);
  return { seed: null, outcome: undefined };
}

async function lockRequest(tx: Queryable, requestKey: RequestKey): Promise<Claim> {
  const stored = await whileUnlocked(() => findRequest(tx, requestKey, { lock: true }));
  // The stored request expired and was deleted concurrently.
  if (stored === undefined) throw new ApiError("idempotency_in_progress");
  requireSameRequest(stored.requestHash, requestKey);
  allowWaiting(tx);
  return stored;
}

/** Not awaited: it is sent with the next statement, which fails if this one does. */
function allowWaiting(tx: Queryable): void {
  tx.query(`set local idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`).catch(() => {});
}

async function whileUnlocked<T>(claim: () => Promise<T>): Promise<T> {
  try {
    return await claim();
  } catch (error) {
    if (isLockTimeout(error)) throw new ApiError("idempotency_in_progress");
    throw error;
  }
}

/** Without a transaction: the first stored outcome wins, also over that of a concurrent request. */
async function runRepeatable<Deps extends BaseDeps>(
  { deps, bind }: Wrapper<Deps>,
  rpc: Rpc<Deps>,
  run: Run,
): Promise<AttemptOutcome> {
  const { requestKey, call } = run;
  const seed = newSeed();
  const inserted = await insertRequest(deps.db, requestKey, seed);
  const stored = inserted ? undefined : await findRequest(deps.db, requestKey);
  if (stored !== undefined) requireSameRequest(stored.requestHash, requestKey);
  if (stored?.outcome !== undefined) {
    call.onReplay?.();
    return stored.outcome;
  }
  const work = createKeyedWork(deps.db, seededIds(stored?.seed ?? seed));
  let response: Message | undefined;
  const outcome = await outcomeOf(rpc, bind(deps, work), run, async (made) => {
    response = made;
  }).finally(work.runAfterCommit);
  if (await storeRepeatable(deps, rpc, { run, outcome, response })) return outcome;
  const first = await findRequest(deps.db, requestKey);
  if (first?.outcome === undefined) throw new ApiError("idempotency_in_progress");
  call.onReplay?.();
  return first.outcome;
}

/** Stores the outcome with its record; false if the key has an outcome. */
async function storeRepeatable<Deps extends BaseDeps>(
  { db, onEvents }: Deps,
  rpc: Rpc<Deps>,
  { run, outcome, response }: { run: Run; outcome: Outcome; response: Message | undefined },
): Promise<boolean> {
  if (rpc.record === undefined || response === undefined) {
    return storeOutcome(db, run.requestKey, outcome);
  }
  const isFirst = await db.transaction(async (tx) => {
    if (!(await storeOutcome(tx, run.requestKey, outcome))) return false;
    await recordIn(tx, rpc, run)(response);
    return true;
  });
  onEvents?.();
  return isFirst;
}

/** Runs the handler; throws errors that must not be stored, which rolls the transaction back. */
async function outcomeOf<Deps>(
  { method, factory }: Rpc<Deps>,
  deps: Deps,
  { request, call, key, requestHash, rejection }: Run,
  onResponse: OnResponse,
): Promise<AttemptOutcome> {
  const stepKey = (step: string) => ({ key: `${key}>${step}`, requestHash });
  const own = { ...call, idempotency: undefined, onReplay: undefined, stepKey };
  try {
    if (rejection !== undefined) throw errorFromProto(rejection);
    const response = await factory(deps)(request, own);
    await onResponse(response);
    return responseOutcome(method.output, response);
  } catch (error) {
    const outcome = finalError(error, call.requestId);
    if (outcome === undefined) throw error;
    return outcome;
  }
}
