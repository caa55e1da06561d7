import { ApiError } from "@scrip/errors";
import type { Metrics } from "@scrip/telemetry";

import { createLane, type Lane, type Place } from "./lane.ts";
import type { AdmissionSettings } from "./settings.ts";
import { createUnsentResponses, type UnsentResponses } from "./unsent-responses.ts";

/**
 * Bounds the work that a process takes on, so that the requests of one project delay no others and
 * the memory is enough. Light requests have a lane of their own, which heavy ones cannot fill
 * (services/decisions/0026-admission-by-work.md).
 */
export type Admission = {
  /**
   * Enters a lane for a request with this much estimated work (a unit is about a millisecond of processor time). Throws
   * `too_many_requests` when the project's share is full, and `service_unavailable` when the process is.
   */
  readonly enter: (project: string, work: number) => Admitted;
  /**
   * The error that `enter` would throw now, which counts as a rejection; undefined when there is room. Takes no
   * place, so that rejecting needs nothing of the request.
   */
  readonly overloadError: (project: string, work: number) => ApiError | undefined;
  /** False while `overloadError` returns undefined for all requests. */
  readonly mayReject: () => boolean;
  /** Counts the bytes of a response until the returned function is called. */
  readonly holdResponse: UnsentResponses["hold"];
};

export type Admitted = {
  /**
   * Waits for the request's turn; call it again when the work turns out to be more than estimated.
   * Returns a promise only if the request has to wait.
   */
  readonly start: (work: number) => Promise<void> | undefined;
  /** Frees the place. Repeatable. */
  readonly leave: () => void;
};

/** Work of a light request: others do not notice it. */
export const LIGHT_WORK = 10;

/** The share of one project among the light requests in progress: another one always finds room. */
const RUNNING_SHARE = 0.75;
const WAITING_SHARE = 0.5;
/** Shorter than clients wait. */
const EXPECTED_WAIT_MS = 2_500;
/** Rarely reached: the throughput varies, and later projects are served alternately. Leaves time for the work before the deadline. */
const MAX_WAIT_MS = 5_000;

export function createAdmission(settings: AdmissionSettings, metrics: Metrics): Admission {
  const rejections = metrics.counter({
    name: "admission_rejections_total",
    help: "Requests rejected because too many were in progress.",
    labels: ["lane", "reason"],
  });
  const lane = (name: Kind, running: number, waiting: number): Lane => {
    const share = name === "light" ? RUNNING_SHARE : 1;
    const limits = {
      running,
      runningPerProject: Math.ceil(running * share),
      waiting,
      waitingPerProject: Math.ceil(waiting * WAITING_SHARE),
      expectedWaitMs: EXPECTED_WAIT_MS,
      maxWaitMs: MAX_WAIT_MS,
    };
    return createLane(limits, (reason) => rejections.inc({ lane: name, reason }));
  };
  const lanes = {
    light: lane("light", settings.requests, settings.waitingRequests),
    heavy: lane("heavy", settings.work, settings.waitingWork),
  };
  const responses = createUnsentResponses(settings.unsentBytes, (reason) =>
    rejections.inc({ lane: "heavy", reason: `unsent_${reason}` }),
  );
  measure(metrics, lanes, responses);
  const enter = (project: string, work: number): Entered => {
    if (work <= LIGHT_WORK) return { kind: "light", place: lanes.light.enter(project, 1) };
    const rejection = responses.overloadError(project);
    if (rejection !== undefined) throw rejection;
    return { kind: "heavy", place: lanes.heavy.enter(project, Math.min(work, settings.work)) };
  };
  return {
    overloadError: (project, work) =>
      work <= LIGHT_WORK
        ? lanes.light.overloadError(project, 1)
        : (responses.overloadError(project) ??
          lanes.heavy.overloadError(project, Math.min(work, settings.work))),
    mayReject: () => lanes.heavy.mayReject() || lanes.light.mayReject() || responses.mayReject(),
    holdResponse: responses.hold,
    enter: (project, work) => admittedOf(enter(project, work), (exact) => enter(project, exact)),
  };
}

type Kind = "light" | "heavy";
type Entered = { readonly kind: Kind; readonly place: Place };

/** A request may change its lane once: before it starts, or from the light one when it turns out to be heavy. */
function admittedOf(first: Entered, enter: (work: number) => Entered): Admitted {
  let { kind, place } = first;
  let isRunning = false;
  let hasLeft = false;
  return {
    start(work) {
      if (hasLeft) throw new ApiError("deadline_exceeded", { details: "The caller has left" });
      const isHeavy = work > LIGHT_WORK;
      if (isHeavy !== (kind === "heavy") && (isHeavy || !isRunning)) {
        const next = enter(work);
        place.leave();
        ({ kind, place } = next);
      }
      isRunning = true;
      return place.start(kind === "heavy" ? work : 1);
    },
    leave() {
      hasLeft = true;
      place.leave();
    },
  };
}

function measure(
  metrics: Metrics,
  lanes: Readonly<Record<Kind, Lane>>,
  responses: UnsentResponses,
): void {
  for (const kind of ["light", "heavy"] as const) {
    metrics.gauge({
      name: `admission_${kind}_running`,
      help: `Work of the ${kind} requests in progress.`,
      read: lanes[kind].running,
    });
    metrics.gauge({
      name: `admission_${kind}_waiting`,
      help: `Work of the ${kind} requests that wait for their turn.`,
      read: lanes[kind].waiting,
    });
  }
  metrics.gauge({
    name: "admission_unsent_response_bytes",
    help: "Bytes of large responses that callers have not received yet.",
    read: responses.total,
  });
}
