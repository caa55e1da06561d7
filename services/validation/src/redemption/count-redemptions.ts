import { catalogue, isErrorKey, toErrorResponse } from "@scrip/errors";
import type { Call } from "@scrip/rpc";
import type { Metrics } from "@scrip/telemetry";

const OUTCOMES = ["succeeded", "rejected", "replayed", "failed"] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Counts the outcome of a redemption that runs. */
export type CountRedemption = <Result>(
  call: Call,
  run: (call: Call) => Promise<Result>,
) => Promise<Result>;

const SERVER_ERROR = 500;

/** Counts redemptions by outcome; without metrics, only runs them. */
export function createRedemptionCounter(metrics: Metrics | undefined): CountRedemption {
  if (metrics === undefined) return (call, run) => run(call);
  const counter = metrics.counter({
    name: "redemptions_total",
    help: "Requests for redemptions by outcome.",
    labels: ["outcome"],
  });
  const children = OUTCOMES.map((outcome) => [outcome, counter.labels(outcome)] as const);
  // Creates all series with 0, so that the first redemption of an outcome appears as an increase.
  for (const [, child] of children) child.inc(0);
  const count = Object.fromEntries(children) as Record<Outcome, (typeof children)[number][1]>;
  return async (call, run) => {
    let replayed = false;
    const onReplay = (): void => {
      replayed = true;
      call.onReplay?.();
    };
    try {
      const result = await run({ ...call, onReplay });
      count[replayed ? "replayed" : "succeeded"].inc();
      return result;
    } catch (error) {
      count[replayed ? "replayed" : outcomeOf(error)].inc();
      throw error;
    }
  };
}

function outcomeOf(thrown: unknown): Outcome {
  const { key } = toErrorResponse(thrown, "").error;
  return isErrorKey(key) && catalogue[key].http < SERVER_ERROR ? "rejected" : "failed";
}
