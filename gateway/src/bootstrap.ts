import { ConfigError } from "@scrip/config";
import { newId } from "@scrip/ids";
import type { Database, Queryable } from "@scrip/postgres";

import { hashSecret, newSecret } from "./auth/secrets.ts";
import { canonicalDomain } from "./domain/origin.ts";
import { MONDAY, type Project } from "./domain/project.ts";
import { insertApiKey, isKnownKey } from "./store/api-keys.ts";
import { countProjects, insertProject } from "./store/projects.ts";

/** The first project of an installation and its two keys (spec/rulings.md 15). */
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

/** Keys for an installation that was given none: nobody can guess them, and nobody else has them. */
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
 * Makes the first project when there is none; several processes that start at once make one. Answers
 * whether the keys are those of a project: they are not when another start made the first one.
 */
export async function ensureProject(
  db: Database,
  keys: BootstrapKeys | undefined,
  now: number,
): Promise<boolean> {
  if ((await countProjects(db)) === 0n) await makeFirst(db, keys, now);
  return keys !== undefined && isKnownKey(db, keys.appId, hashSecret(keys.appToken));
}

async function makeFirst(
  db: Database,
  keys: BootstrapKeys | undefined,
  now: number,
): Promise<void> {
  if (keys === undefined) {
    throw new ConfigError(
      "There is no project yet. Set SCRIP_BOOTSTRAP_APP_ID, SCRIP_BOOTSTRAP_APP_TOKEN, " +
        "SCRIP_BOOTSTRAP_CLIENT_APP_ID and SCRIP_BOOTSTRAP_CLIENT_TOKEN to make the first one.",
    );
  }
  await db.transaction(async (tx) => {
    await waitForOthers(tx);
    if ((await countProjects(tx)) === 0n) await insertFirst(tx, keys, new Date(now));
  });
}

/** Nobody else makes a project until this transaction ends; everybody may still read. */
async function waitForOthers(tx: Queryable): Promise<void> {
  await tx.query("lock table project in share row exclusive mode");
}

async function insertFirst(tx: Queryable, keys: BootstrapKeys, createdAt: Date): Promise<void> {
  const project: Project = {
    id: newId("proj"),
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
    apiVersion: null,
    createdAt,
    updatedAt: null,
  };
  await insertProject(tx, project);
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
