import { create, toBinary } from "@bufbuild/protobuf";
import { enqueue, type OutboxEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import type { Database } from "@scrip/postgres";
import { ValidationsCountedSchema } from "@scrip/proto/scrip/events/v1/validations_pb";
import { type Call, chunksOf } from "@scrip/rpc";
import { formatInstant, localTimeAt } from "@scrip/rules";

import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";
import { campaignOf, subjectOf } from "../domain/input/subject.ts";

/** Topic of what this process has counted, key: project. Published by this service. */
const VALIDATIONS_TOPIC = "scrip.validations.v1";

/** How long counts are collected before they are published. */
const FLUSH_MS = 5_000;

/** Campaigns, one per day, whose counts wait in memory; further ones are not counted, as these are statistics. */
const MAX_CAMPAIGNS = 20_000;

/** Campaigns of one event. */
const EVENT_CAMPAIGNS = 1_000;

const MS_PER_DAY = 86_400_000;

/** Counts the evaluated redeemables of a validation for their campaigns, without waiting for anything. */
export type CountValidations = (call: Call, evaluated: readonly EvaluatedRedeemable[]) => void;

type CampaignCount = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly epochDay: number;
  succeeded: number;
  failed: number;
};

/**
 * Counts validations in memory and publishes the counts every few seconds, and when it is disposed. A killed process
 * loses what it has not published.
 */
export function startValidationCounter(options: {
  readonly db: Database;
  /** Called after events were written. */
  readonly onEvents: () => void;
  readonly onError: (error: Error) => void;
}): AsyncDisposable & { readonly count: CountValidations } {
  const { db, onEvents, onError } = options;
  let counts = new Map<string, CampaignCount>();
  // Sent again under the same ids after a failure, since the failed statement may have committed.
  let unpublished: readonly OutboxEvent[] = [];

  const publish = async (): Promise<void> => {
    if (unpublished.length === 0) {
      unpublished = eventsOf([...counts.values()]);
      counts = new Map();
    }
    if (unpublished.length === 0) return;
    try {
      await enqueue(db, unpublished, undefined);
      unpublished = [];
      onEvents();
    } catch (error) {
      onError(new Error("counted validations could not be published", { cause: error }));
    }
  };

  let publishing = Promise.resolve();
  const timer = setInterval(() => {
    publishing = publishing.then(publish);
  }, FLUSH_MS).unref();

  return {
    count({ project, now }, evaluated) {
      let epochDay: number | undefined;
      for (const { status, redeemable } of evaluated) {
        const subject = status === "SKIPPED" ? null : subjectOf(redeemable);
        const campaignId = subject && campaignOf(subject)?.id;
        if (!campaignId) continue;
        epochDay ??= localTimeAt(project.timeZone, now).epochDay;
        const key = `${project.id} ${campaignId} ${epochDay}`;
        let known = counts.get(key);
        if (known === undefined) {
          if (counts.size >= MAX_CAMPAIGNS) continue;
          known = { projectId: project.id, campaignId, epochDay, succeeded: 0, failed: 0 };
          counts.set(key, known);
        }
        if (status === "APPLICABLE") known.succeeded += 1;
        else known.failed += 1;
      }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await publishing;
      // What failed before, then what was counted since.
      await publish();
      await publish();
    },
  };
}

function eventsOf(counts: readonly CampaignCount[]): readonly OutboxEvent[] {
  const byProject = Map.groupBy(counts, ({ projectId }) => projectId);
  return [...byProject].flatMap(([projectId, ofProject]) =>
    chunksOf(ofProject, EVENT_CAMPAIGNS).map((some) => eventOf(projectId, some)),
  );
}

const eventOf = (projectId: string, counts: readonly CampaignCount[]): OutboxEvent => ({
  projectId,
  id: newId("event"),
  topic: VALIDATIONS_TOPIC,
  type: ValidationsCountedSchema.typeName,
  key: projectId,
  payload: toBinary(
    ValidationsCountedSchema,
    create(ValidationsCountedSchema, {
      projectId,
      campaigns: counts.map(({ campaignId, epochDay, succeeded, failed }) => ({
        campaignId,
        day: formatInstant(epochDay * MS_PER_DAY).slice(0, 10),
        succeeded: BigInt(succeeded),
        failed: BigInt(failed),
      })),
    }),
  ),
});
