import type { Caller, ProjectContext } from "@scrip/rpc";

import type { ApiKey } from "../domain/api-key.ts";
import { trustedDomains, type TrustedDomains } from "../domain/origin.ts";
import { canonicalTimeZone, type ClientFeature, type Project } from "../domain/project.ts";
import { scopeSet } from "../domain/scope.ts";
import type { Credentials } from "../store/credentials.ts";
import { addressFilter, type AddressFilter } from "./ip-addresses.ts";

/** The authenticated caller, with everything compiled that authorization needs. */
export type Principal = Tenant & {
  readonly caller: Caller;
  readonly keyId: string;
  readonly kind: ApiKey["kind"];
  readonly secretHash: Uint8Array;
  readonly scopes: ReadonlySet<string>;
  /** Expiry of the token in epoch milliseconds. */
  readonly expiresAt: number;
  /** The token is genuine but expired or revoked: it is rejected, but does not count as a guess. */
  readonly hasEnded: boolean;
  /** The key that requested the token. */
  readonly tokenKeyId: string;
  readonly trusts: TrustedDomains;
  /** Features that the project enables for client-side callers. */
  readonly clientFeatures: ReadonlySet<ClientFeature>;
  readonly allowedFrom: AddressFilter | undefined;
};

/** The project that a request works in. */
export type Tenant = {
  readonly project: ProjectContext;
  readonly sandboxNow: number | null;
};

/** The settings of a project that requests depend on. */
export type TenantSettings = Pick<
  Project,
  | "id"
  | "version"
  | "timeZone"
  | "firstWeekday"
  | "caseSensitiveCodes"
  | "defaultCodeConfig"
  | "webhookEvents"
  | "hasEarningRules"
  | "cancelPendingPointsOnOrderCancel"
  | "sandboxNow"
>;

/** The rows from which a principal is built. */
export type PrincipalSource = {
  readonly key: Pick<ApiKey, "id" | "kind" | "name" | "secretHash" | "allowedIps">;
  readonly project: TenantSettings & Pick<Project, "clientTrustedDomains" | "clientFeatures">;
  /** Absent: the key alone was presented. */
  readonly token?: Credentials["token"];
};

export const toTenant = (project: TenantSettings): Tenant => ({
  project: toContext(project),
  sandboxNow: project.sandboxNow,
});

export function toPrincipal({ key, project, token }: PrincipalSource): Principal {
  const fromKey = addressFilter(key.allowedIps);
  const fromToken =
    token === undefined || token.keyId === key.id ? undefined : addressFilter(token.allowedIps);
  return {
    ...toTenant(project),
    caller: { side: key.kind, id: key.id, name: key.name },
    keyId: key.id,
    kind: key.kind,
    secretHash: key.secretHash,
    scopes: token === undefined ? NO_SCOPES : scopeSet(token.scope),
    expiresAt: token?.expiresAt ?? Number.POSITIVE_INFINITY,
    hasEnded: token?.hasEnded ?? false,
    tokenKeyId: token?.keyId ?? key.id,
    trusts: trustedDomains(project.clientTrustedDomains),
    clientFeatures: new Set(project.clientFeatures),
    allowedFrom: both(fromKey, fromToken),
  };
}

const NO_SCOPES: ReadonlySet<string> = new Set();

function toContext(project: TenantSettings): ProjectContext {
  return {
    id: project.id,
    version: project.version,
    timeZone: canonicalTimeZone(project.timeZone),
    firstWeekday: project.firstWeekday,
    caseSensitiveCodes: project.caseSensitiveCodes,
    ...(project.defaultCodeConfig !== null && {
      codeConfig: JSON.stringify(project.defaultCodeConfig),
    }),
    ...(project.webhookEvents.length > 0 && { webhookEvents: project.webhookEvents }),
    ...(project.hasEarningRules && { hasEarningRules: true }),
    ...(project.cancelPendingPointsOnOrderCancel && { cancelPendingPointsOnOrderCancel: true }),
  };
}

function both(
  one: AddressFilter | undefined,
  other: AddressFilter | undefined,
): AddressFilter | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (address) => one(address) && other(address);
}
