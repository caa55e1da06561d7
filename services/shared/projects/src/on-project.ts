import { type EventHandler, eventMessage } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import {
  type ProjectChanged,
  ProjectChangedSchema,
} from "@scrip/proto/scrip/events/v1/projects_pb";

import { saveProjects } from "./store.ts";

export const PROJECTS_TOPIC = "scrip.projects.v1";

/** Stores the newest version of each project; repetitions and older versions change nothing. */
export const onProject =
  (db: Database, onSaved: (projectId: string) => void): EventHandler =>
  async (batch) => {
    const newest = new Map<string, ProjectChanged>();
    for (const event of batch) {
      const project = eventMessage(event, ProjectChangedSchema);
      if (project === undefined) continue;
      const known = newest.get(project.projectId);
      if (known === undefined || known.version <= project.version) {
        newest.set(project.projectId, project);
      }
    }
    if (newest.size === 0) return;
    await saveProjects(db, [...newest.values()]);
    for (const projectId of newest.keys()) onSaved(projectId);
  };
