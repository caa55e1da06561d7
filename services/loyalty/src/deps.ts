import { newId } from "@scrip/ids";
import { createDefinitionVersions, type Database, type DefinitionVersions } from "@scrip/postgres";

import {
  createSegmentDefinitions,
  type SegmentDefinitions,
} from "./loading/segment-definitions.ts";

/** Everything a handler may touch. The clock is the call's. */
export type Deps = {
  readonly db: Database;
  readonly newId: typeof newId;
  /** Every write of what is remembered goes through it. */
  readonly definitions: DefinitionVersions;
  readonly segmentDefinitions: SegmentDefinitions;
  /** Told after each commit that wrote events. */
  readonly onEvents: () => void;
};

export function createDeps(db: Database, onEvents: () => void = () => {}): Deps {
  const definitions = createDefinitionVersions({ db });
  return {
    db,
    newId,
    definitions,
    segmentDefinitions: createSegmentDefinitions(db, definitions),
    onEvents,
  };
}
