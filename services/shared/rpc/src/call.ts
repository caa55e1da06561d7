import { createContextKey } from "@connectrpc/connect";
import { requestId as newRequestId } from "@scrip/ids";

/** What a call is made on behalf of. Travels with it through every hop, in memory or in headers. */
export type Call = {
  readonly project: ProjectContext;
  /** `v-` and 18 hex characters; in every log line and error of the request. */
  readonly requestId: string;
  /** Epoch milliseconds of real time after which nobody waits for the answer. */
  readonly deadline: number;
  /**
   * The project's present in epoch milliseconds: real time, or the sandbox clock
   * (spec/rulings.md 13). Fixed for the whole request, so that all services decide alike.
   */
  readonly now: number;
  readonly caller: Caller;
  readonly idempotency?: { readonly key: string; readonly requestHash: Uint8Array } | undefined;
  /** Told when the answer is that of an earlier request with the same idempotency key. */
  readonly onReplay?: (() => void) | undefined;
};

/** The settings of the project that decisions depend on. */
export type ProjectContext = {
  /** Empty in batch calls between services, whose items carry it. */
  readonly id: string;
  readonly timeZone: string;
  /** The day that weeks begin on, 0 (Sunday) to 6 (Saturday); Monday when absent. */
  readonly firstWeekday?: number | undefined;
  readonly caseSensitiveCodes: boolean;
  /** The project's default_code_config as JSON text, when it has one. */
  readonly codeConfig?: string | undefined;
};

/** The project's present and its calendar, which decide about days and weeks. */
export const timeContextOf = ({ now, project }: Pick<Call, "now" | "project">) => ({
  now,
  timeZone: project.timeZone,
  firstWeekday: project.firstWeekday,
});

export type Caller = {
  readonly side: "server" | "client" | "management" | "service";
  /** The application's id, or the name of the calling service. */
  readonly id: string;
};

/** How the transports hand a call over; handlers get it as their second argument. */
export const callKey = createContextKey<Call | undefined>(undefined, {
  description: "the call that an RPC is a part of",
});

/** How long a request may take in all (design/reliability.md §6.2). */
export const REQUEST_DEADLINE_MS = 8_000;

/** A call of our own, for a batch whose items carry their projects. */
export function batchCall(requestId: string, deadline: number, now: number): Call {
  return {
    project: { id: "", timeZone: "UTC", caseSensitiveCodes: true },
    requestId,
    deadline,
    now,
    caller: { side: "service", id: "batch" },
  };
}

/** The same, from this moment on, with the time that a request has. */
export function serviceCall(): Call {
  const now = Date.now();
  return batchCall(newRequestId(), now + REQUEST_DEADLINE_MS, now);
}
