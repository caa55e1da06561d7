import { ConfigError } from "@scrip/config";
import { newId } from "@scrip/ids";
import type { Database, Queryable } from "@scrip/postgres";

import { hashSecret, newSecret } from "./auth/secrets.ts";
import { canonicalDomain } from "./domain/origin.ts";
import { MONDAY, type Project } from "./domain/project.ts";
import { publishProjects } from "./projects/publish-projects.ts";
import { insertApiKey, isKnownKey } from "./store/api-keys.ts";
import { countProjects, insertProject } from "./store/projects.ts";

/** The first project of an installation and its two keys (docs/operations.md#configuration). */
export type BootstrapKeys = {
  readonly appId: string;
  readonly appToken: string;
  readonly clientAppId: string;
  readonly clientToken: string;
  readonly projectName: string;
  readonly timeZone: string;
  readonly trustedDomains: readonly string[];
  readonly sandbox: boolean;
};

/** Random keys for an installation without configured keys. */
export function generateBootstrap(): BootstrapKeys & {
  readonly managementId: string;
  readonly managementToken: string;
} {
  return {
    appId: newId("app"),
    appToken: newSecret("scrip_key_"),
    clientAppId: newId("app"),
    clientToken: newSecret("scrip_key_"),
    managementId: newId("app"),
    managementToken: newSecret("scrip_key_"),
    projectName: "Default project",
    timeZone: "UTC",
    trustedDomains: ["*"],
    sandbox: false,
  };
}

/**
 * Creates the first project when none exists, once for concurrent processes. Returns whether the
 * keys belong to a project: false when another start created it with other keys.
 */
export async function ensureProject(
  db: Database,
  keys: BootstrapKeys | undefined,
  now: number,
): Promise<boolean> {
  if ((await countProjects(db)) === 0n) await createFirstProject(db, keys, now);
  return keys !== undefined && isKnownKey(db, keys.appId, hashSecret(keys.appToken));
}

async function createFirstProject(
  db: Database,
  keys: BootstrapKeys | undefined,
  now: number,
): Promise<void> {
  if (keys === undefined) {
    throw new ConfigError(
      "No project exists yet. Set SCRIP_BOOTSTRAP_APP_ID, SCRIP_BOOTSTRAP_APP_TOKEN, " +
        "SCRIP_BOOTSTRAP_CLIENT_APP_ID and SCRIP_BOOTSTRAP_CLIENT_TOKEN to create the first one.",
    );
  }
  await db.transaction(async (tx) => {
    await lockProjectTable(tx);
    if ((await countProjects(tx)) === 0n) await insertFirstProject(tx, keys, new Date(now));
  });
}

/** Blocks other writers of projects until the transaction ends; reads continue. */
async function lockProjectTable(tx: Queryable): Promise<void> {
  await tx.query("lock table project in share row exclusive mode");
}

async function insertFirstProject(
  tx: Queryable,
  keys: BootstrapKeys,
  createdAt: Date,
): Promise<void> {
  const project: Project = {
    id: newId("proj"),
    version: 1n,
    name: keys.projectName,
    description: null,
    timeZone: keys.timeZone,
    firstWeekday: MONDAY,
    currency: null,
    dialCode: null,
    caseSensitiveCodes: true,
    defaultCodeConfig: null,
    clientTrustedDomains: keys.trustedDomains.flatMap((domain) => canonicalDomain(domain) ?? []),
    clientFeatures: [],
    sandbox: keys.sandbox,
    sandboxNow: null,
    webhookVersion: null,
    webhookEvents: [],
    hasEarningRules: false,
    cancelPendingPointsOnOrderCancel: false,
    apiVersion: null,
    createdAt,
    updatedAt: null,
  };
  await insertProject(tx, project);
  await publishProjects(tx, [{ ...project, deleted: false }]);
  const pairs = [
    { kind: "server", id: keys.appId, secret: keys.appToken },
    { kind: "client", id: keys.clientAppId, secret: keys.clientToken },
  ] as const;
  for (const { kind, id, secret } of pairs) {
    await insertApiKey(tx, {
      id,
      projectId: project.id,
      name: `${project.name} ${kind}`,
      kind,
      scopes: [],
      allowedIps: [],
      secretHash: hashSecret(secret),
      blocked: false,
      createdAt,
      updatedAt: null,
    });
  }
}
