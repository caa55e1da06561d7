import { createBatcher } from "@scrip/batching";

import type { Database } from "./database.ts";
import type { ProjectQueryable, Queryable } from "./queryable.ts";

/**
 * Tracks when the definitions of a project may have changed. One per service, shared by its definition
 * caches. The schema has the table
 *
 *     create table definition_version (
 *       project_id text   primary key,
 *       version    bigint not null
 *     );
 *
 * A project without a row has never been written to.
 */
export type DefinitionVersions = {
  /**
   * Runs `work` in a transaction that changes definitions of the project: visible to later reads of
   * this process immediately, to other processes within a second, or before it resolves (`share`).
   */
  write<T>(projectId: string, work: (tx: ProjectQueryable) => Promise<T>): Promise<T>;
  /**
   * Call after a transaction that called `bumpDefinitions` itself, also after a failure: a commit
   * whose response was lost is a commit. Resolves when other processes know; never rejects.
   */
  invalidate(projectId: string): Promise<void>;
  /** Tells other processes of each change from now on, and follows theirs. */
  share(changes: DefinitionChanges): void;
  /**
   * A number that changes with every write. Definitions loaded after reading it belong to it; it is
   * at most a second old. Synchronous when cached, which is nearly always.
   */
  epochOf(projectId: string): number | Promise<number>;
  /**
   * Makes later reads show what other processes have committed before this call. For event handlers: what an event earns
   * depends on rules that were created before it, and no client repeats it.
   */
  refresh(projectId: string): Promise<void>;
};

/** Carries the ids of projects whose definitions have changed to the other processes of the service. */
export type DefinitionChanges = {
  /** Resolves when the others know, or cannot be told; never rejects. */
  readonly announce: (projectId: string) => Promise<void>;
  readonly follow: (apply: (projectId: string) => void) => void;
};

export type DefinitionVersionsOptions = {
  readonly db: Database;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
};

/** From this age, the version is checked in the background while the cached one serves. */
const CHECK_AFTER_MS = 500;

/** From this age, the cached version no longer serves: a change is visible within a second. */
const MAX_AGE_MS = 1_000;

/** Beyond this number, the project whose check is oldest starts anew. */
const MAX_PROJECTS = 10_000;

const MAX_BATCH = 1_000;

type Project = {
  epoch: number;
  version: bigint | undefined;
  /** When the last completed check was sent; its result is at most that old. */
  checkedAt: number;
  check: Promise<void> | undefined;
};

export function createDefinitionVersions({
  db,
  now = () => performance.now(),
}: DefinitionVersionsOptions): DefinitionVersions {
  const projects = new Map<string, Project>();
  // Never reused, also when a dropped project returns.
  let lastEpoch = 0;
  const loadVersion = createVersionLoader(db, now);

  const check = (projectId: string, project: Project): Promise<void> =>
    (project.check ??= loadVersion(projectId)
      .then(({ sentAt, version }) => {
        if (project.version !== version) project.epoch = lastEpoch += 1;
        project.version = version;
        project.checkedAt = sentAt;
        return undefined;
      })
      .finally(() => (project.check = undefined)));

  const touch = (projectId: string): Project =>
    moveToEnd(projects, projectId, () => newProject((lastEpoch += 1)));

  let shared: DefinitionChanges | undefined;
  const startEpoch = (projectId: string): void => {
    const project = projects.get(projectId);
    if (project !== undefined) project.epoch = lastEpoch += 1;
  };
  const invalidate = async (projectId: string): Promise<void> => {
    startEpoch(projectId);
    await shared?.announce(projectId);
  };

  return {
    async write(projectId, work) {
      try {
        return await writeDefinitions(db, projectId, work);
      } finally {
        await invalidate(projectId);
      }
    },
    invalidate,
    share(changes) {
      shared = changes;
      changes.follow(startEpoch);
    },
    epochOf(projectId) {
      const known = projects.get(projectId);
      if (known !== undefined && now() - known.checkedAt < CHECK_AFTER_MS) return known.epoch;
      const project = touch(projectId);
      const age = now() - project.checkedAt;
      if (age >= MAX_AGE_MS)
        return checkedNow(project, now() - MAX_AGE_MS, () => check(projectId, project));
      // The failure is reported when the cached version becomes too old to serve.
      check(projectId, project).catch(() => {});
      return project.epoch;
    },
    async refresh(projectId) {
      const project = touch(projectId);
      await checkedNow(project, now(), () => check(projectId, project));
    },
  };
}

const createVersionLoader = (db: Database, now: () => number) =>
  createBatcher({
    lanes: 2,
    maxBatch: MAX_BATCH,
    send: async (projectIds: readonly string[]) => {
      const sentAt = now();
      const versions = await findVersions(db, projectIds);
      return projectIds.map((id) => ({ sentAt, version: versions.get(id) ?? 0n }));
    },
  });

/** The first of the map is the one whose check is oldest. */
function moveToEnd(
  projects: Map<string, Project>,
  projectId: string,
  create: () => Project,
): Project {
  const project = projects.get(projectId) ?? create();
  projects.delete(projectId);
  projects.set(projectId, project);
  if (projects.size > MAX_PROJECTS) projects.delete(projects.keys().next().value ?? "");
  return project;
}

/** Checks the version after this call: a slow check that began before does not show later commits. */
async function checkedNow(
  project: Readonly<Project>,
  oldest: number,
  check: () => Promise<void>,
): Promise<number> {
  await check();
  if (project.checkedAt <= oldest) await check();
  return project.epoch;
}

/**
 * Writers of one project wait for each other at the end, each for the duration of a commit. Many at
 * once are normal, so their limit is longer than that of other locks.
 */
const LOCK_TIMEOUT_MS = 2_500;

const writeDefinitions = <T>(
  db: Database,
  projectId: string,
  work: (tx: ProjectQueryable) => Promise<T>,
): Promise<T> =>
  db.transaction(
    async (tx) => {
      const result = await work(tx);
      await bumpDefinitions(tx, projectId);
      return result;
    },
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );

/**
 * Marks, in the transaction of a write, that definitions of the project change. It must be the last
 * statement: the row is locked until the commit, and its holder must not wait for anything else.
 */
export async function bumpDefinitions(tx: Queryable, projectId: string): Promise<void> {
  await tx.query(
    `insert into definition_version (project_id, version) values ($1, 1)
         on conflict (project_id) do update set version = definition_version.version + 1`,
    [projectId],
  );
}

async function findVersions(
  db: Queryable,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await db.query<{ project_id: string; version: bigint }>({
    name: "find_definition_versions",
    planning: "indexLookups",
    text: "select project_id, version from definition_version where project_id = any($1::text[])",
    values: [projectIds],
  });
  return new Map(rows.map((row) => [row.project_id, row.version]));
}

const newProject = (epoch: number): Project => ({
  epoch,
  version: undefined,
  checkedAt: -Infinity,
  check: undefined,
});
