import { createBatcher } from "@scrip/batching";

import type { Database, Queryable } from "./database.ts";

/**
 * Knows when the definitions of a project may have changed. One per service, shared by its definition
 * caches. The schema has the table
 *
 *     create table definition_version (
 *       project_id text   primary key,
 *       version    bigint not null
 *     );
 *
 * A project without a row was never written to.
 */
export type DefinitionVersions = {
  /**
   * Runs `work` in a transaction that changes definitions of the project: other processes notice
   * within a second, and readers of this process that come after it at once.
   */
  write<T>(projectId: string, work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * After a transaction that called `bumpDefinitions` itself, whether it seemed to fail or not: a
   * commit whose answer was lost is a commit.
   */
  forget(projectId: string): void;
  /**
   * A number that is another one after each change. What was loaded after it was asked for belongs to
   * it; it is no older than a second. At once where it is known, which is nearly always.
   */
  epochOf(projectId: string): number | Promise<number>;
};

export type DefinitionVersionsOptions = {
  readonly db: Database;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
};

/** From this age on the version is asked for, while what is known still serves. */
const CHECK_AFTER_MS = 500;

/** From this age on what is known does not serve any more: a change shows within a second. */
const MAX_AGE_MS = 1_000;

/** Beyond so many the project that was not checked for longest starts anew. */
const MAX_PROJECTS = 10_000;

const MAX_BATCH = 1_000;

type Project = {
  epoch: number;
  version: bigint | undefined;
  /** When the last answered check was sent; what it tells is no older than that. */
  checkedAt: number;
  check: Promise<void> | undefined;
};

export function createDefinitionVersions({
  db,
  now = () => performance.now(),
}: DefinitionVersionsOptions): DefinitionVersions {
  const projects = new Map<string, Project>();
  // Never used twice, also when a project comes back that was dropped for want of room.
  let lastEpoch = 0;
  const ask = createBatcher({
    lanes: 2,
    maxBatch: MAX_BATCH,
    send: async (projectIds: readonly string[]) => {
      const askedAt = now();
      const versions = await findVersions(db, projectIds);
      return projectIds.map((id) => ({ askedAt, version: versions.get(id) ?? 0n }));
    },
  });

  const check = (projectId: string, project: Project): Promise<void> =>
    (project.check ??= ask(projectId)
      .then(({ askedAt, version }) => {
        if (project.version !== version) project.epoch = lastEpoch += 1;
        project.version = version;
        project.checkedAt = askedAt;
        return undefined;
      })
      .finally(() => (project.check = undefined)));

  /** Puts a project last: the first of the map is the one that was not checked for longest. */
  const touch = (projectId: string): Project => {
    const project = projects.get(projectId) ?? newProject((lastEpoch += 1));
    projects.delete(projectId);
    projects.set(projectId, project);
    if (projects.size > MAX_PROJECTS) projects.delete(projects.keys().next().value ?? "");
    return project;
  };

  const forget = (projectId: string): void => {
    const project = projects.get(projectId);
    if (project !== undefined) project.epoch = lastEpoch += 1;
  };

  return {
    async write(projectId, work) {
      try {
        return await writeDefinitions(db, projectId, work);
      } finally {
        forget(projectId);
      }
    },
    forget,
    epochOf(projectId) {
      const known = projects.get(projectId);
      if (known !== undefined && now() - known.checkedAt < CHECK_AFTER_MS) return known.epoch;
      const project = touch(projectId);
      const age = now() - project.checkedAt;
      if (age >= MAX_AGE_MS)
        return checkedNow(project, now() - MAX_AGE_MS, () => check(projectId, project));
      // It fails again, and then for all to see, once what is known is too old to serve.
      check(projectId, project).catch(() => {});
      return project.epoch;
    },
  };
}

/** A check that was sent long before it was joined, to a slow server, tells nothing of the present. */
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
 * Writers of one project wait for each other at the end, each for the length of a commit. That many of
 * them come at once is no fault, so they get more patience than a lock that somebody sits on.
 */
const LOCK_TIMEOUT_MS = 2_500;

const writeDefinitions = <T>(
  db: Database,
  projectId: string,
  work: (tx: Queryable) => Promise<T>,
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
 * Says in the transaction of a write that definitions of the project change. It must be the last
 * statement: the row is held until the commit, and who holds it must not wait for anything else.
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
