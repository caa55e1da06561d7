import type { KeyedWork } from "@scrip/idempotency";
import { newId } from "@scrip/ids";
import { createDefinitionVersions, type Database, type DefinitionVersions } from "@scrip/postgres";

import {
  createEarningDefinitions,
  type EarningDefinitions,
} from "./loading/earning-definitions.ts";
import { createEventSchemas, type EventSchemas } from "./loading/event-schemas.ts";
import { createLoyaltyTiers, type LoyaltyTiers } from "./loading/loyalty-tiers.ts";
import {
  createSegmentDefinitions,
  type SegmentDefinitions,
} from "./loading/segment-definitions.ts";

/** The dependencies of handlers. The time comes from the call. */
export type Deps = {
  readonly db: Database;
  readonly newId: typeof newId;
  /** Versions of cached definitions: every write of a segment goes through it. */
  readonly definitions: DefinitionVersions;
  readonly segmentDefinitions: SegmentDefinitions;
  readonly eventSchemas: EventSchemas;
  readonly earning: EarningDefinitions;
  readonly tiers: LoyaltyTiers;
  /** Called after each commit that wrote to the outbox. */
  readonly onEvents: () => void;
};

/** The dependencies for a request with an idempotency key. */
export const bindToRequest = (deps: Deps, work: KeyedWork): Deps => ({
  ...deps,
  db: work.db,
  newId: work.newId,
  definitions: work.definitions(deps.definitions),
  onEvents: () => work.afterCommit(deps.onEvents),
});

export function createDeps(
  db: Database,
  onEvents: () => void = () => {},
  onError: (error: Error) => void = () => {},
): Deps {
  const definitions = createDefinitionVersions({ db });
  return {
    db,
    newId,
    definitions,
    segmentDefinitions: createSegmentDefinitions(db, definitions, onError),
    eventSchemas: createEventSchemas(db, definitions),
    earning: createEarningDefinitions(db, definitions),
    tiers: createLoyaltyTiers(db, definitions),
    onEvents,
  };
}
