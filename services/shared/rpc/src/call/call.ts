import { createContextKey } from "@connectrpc/connect";
import { currentTime } from "@scrip/clock";
import { newRequestId } from "@scrip/ids";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";

/** The context of a call: passed along every hop, in memory or in headers. */
export type Call = {
  readonly project: ProjectContext;
  /** `v-` and 18 hex characters; in every log line and error of the request. */
  readonly requestId: string;
  /** Epoch milliseconds of real time after which the caller no longer waits for the response. */
  readonly deadline: number;
  /**
   * The current time of the project in epoch milliseconds: real time or the sandbox clock. Fixed
   * for the whole request, so that all services evaluate the same time.
   */
  readonly now: number;
  readonly caller: Caller;
  /** The caller of the request because of which a service makes this call for itself. */
  readonly initiator?: Caller | undefined;
  readonly idempotency?: RequestIdempotency | undefined;
  /**
   * The idempotency of a call that this request makes: the same at each repetition. Set for handlers of
   * requests with a key, and never sent.
   */
  readonly stepKey?: ((step: string) => RequestIdempotency) | undefined;
  /** Whether the caller has left; work for it may stop. */
  readonly isAbandoned?: (() => boolean) | undefined;
  /** Aborted when the caller leaves; only for calls whose work is worth stopping. */
  readonly signal?: AbortSignal | undefined;
  /** Aborted when the process has served long enough to stop: a stream without an end of its own ends then. */
  readonly stopping?: AbortSignal | undefined;
  /**
   * Call this when the work of the call is known, in about milliseconds of processor time, before starting it.
   * Returns a promise if the call has to wait for its turn; throws when there are too many calls.
   */
  readonly admit?: ((work: number) => Promise<void> | undefined) | undefined;
  /** Called when the response is that of an earlier request with the same idempotency key. */
  readonly onReplay?: (() => void) | undefined;
};

export type RequestIdempotency = {
  readonly key: string;
  readonly requestHash: Uint8Array;
  /** The gateway rejected the request: store this error as its response, unless it has one. */
  readonly rejection?: ErrorMessage | undefined;
};

/**
 * The call of a step of a request: when the request has a key, the step has one of its own, so that a repetition
 * gets the step's stored response. `step` names the step within its request.
 */
export const stepCall = ({ stepKey, ...call }: Call, step: string): Call => ({
  ...call,
  idempotency: stepKey?.(step),
  onReplay: undefined,
});

/** The project settings that decisions depend on. */
export type ProjectContext = {
  /** Empty in batch calls between services, whose items carry the project. */
  readonly id: string;
  /** Grows with every change of the project; absent in batch calls. */
  readonly version?: bigint | undefined;
  readonly timeZone: string;
  /** First day of the week, 0 (Sunday) to 6 (Saturday). Default: Monday. */
  readonly firstWeekday?: number | undefined;
  readonly caseSensitiveCodes: boolean;
  /** The project's default_code_config as JSON text, if set. */
  readonly codeConfig?: string | undefined;
  /** Names of the events that webhooks of the project receive; absent without webhooks, and in batch calls. */
  readonly webhookEvents?: readonly string[] | undefined;
  /** Whether the project has or had earning rules; absent in batch calls. */
  readonly hasEarningRules?: boolean | undefined;
  /** Whether the pending points of an order are canceled with the order; absent in batch calls. */
  readonly cancelPendingPointsOnOrderCancel?: boolean | undefined;
};

/** The current time of the project and the calendar that defines its days and weeks. */
export const timeContextOf = ({ now, project }: Pick<Call, "now" | "project">) => ({
  now,
  timeZone: project.timeZone,
  firstWeekday: project.firstWeekday,
});

export type Caller = {
  readonly side: "server" | "client" | "management" | "service";
  /** The application id, or the name of the calling service. */
  readonly id: string;
  /** The name of the API key; absent in calls of processes of an earlier release. */
  readonly name?: string | undefined;
};

/** How transports pass the call; handlers receive it as their second argument. */
export const callKey = createContextKey<Call | undefined>(undefined, {
  description: "the call of an RPC",
});

/** The total time limit of a request. */
export const REQUEST_DEADLINE_MS = 8_000;

/** Placeholder for the project in batch calls, in which each item has its project. */
export const BATCH_PROJECT: ProjectContext = { id: "", timeZone: "UTC", caseSensitiveCodes: true };

/** A call of the service itself, for a batch whose items carry their projects. */
export function batchCall(requestId: string, deadline: number, now: number): Call {
  return {
    project: BATCH_PROJECT,
    requestId,
    deadline,
    now,
    caller: { side: "service", id: "batch" },
  };
}

/** A call of the service itself that starts now, with the time limit of a request. */
export function serviceCall(): Call {
  const now = currentTime();
  return batchCall(newRequestId(), now + REQUEST_DEADLINE_MS, now);
}
