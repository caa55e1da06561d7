import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

import { projectChangedEvent, type PublishedProject } from "../events/project-changed.ts";
import { markPublished } from "../store/projects.ts";

/** Publishes projects in the transaction that locked or inserted their rows. */
export async function publishProjects(
  tx: Queryable,
  projects: readonly PublishedProject[],
): Promise<void> {
  await enqueue(tx, projects.map(projectChangedEvent), undefined);
  await markPublished(
    tx,
    projects.map(({ id }) => id),
  );
}
