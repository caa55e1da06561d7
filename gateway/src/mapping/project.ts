import { create } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type ApiKey as ApiKeyMessage,
  ApiKeySchema,
  type CodeConfig as CodeConfigMessage,
  type Project as ProjectMessage,
  ProjectSchema,
} from "@scrip/proto/scrip/gateway/v1/projects_pb";

import type { ApiKey } from "../domain/api-key.ts";
import type { CodeConfig, Project } from "../domain/project.ts";

export function projectToProto(
  project: Project,
  secrets: Pick<ProjectMessage, "serverSideKey" | "clientSideKey"> = {},
): ProjectMessage {
  const on = new Set(project.clientFeatures);
  const { description, currency, dialCode, webhookVersion, apiVersion } = project;
  return create(ProjectSchema, {
    id: project.id,
    name: project.name,
    timezone: project.timeZone,
    firstWeekday: project.firstWeekday,
    caseSensitiveCodes: project.caseSensitiveCodes,
    clientTrustedDomains: [...project.clientTrustedDomains],
    clientRedeemEnabled: on.has("redeem"),
    clientPublishEnabled: on.has("publish"),
    clientListVouchersEnabled: on.has("list_vouchers"),
    clientCreateCustomerEnabled: on.has("create_customer"),
    clientLoyaltyEventsEnabled: on.has("loyalty_events"),
    clientSetVoucherExpirationDateEnabled: on.has("set_voucher_expiration_date"),
    cancelPendingPointsOnOrderCancel: project.cancelPendingPointsOnOrderCancel,
    sandbox: project.sandbox,
    createdAt: timestampFromDate(project.createdAt),
    ...(description !== null && { description }),
    ...(currency !== null && { currency }),
    ...(dialCode !== null && { dialCode }),
    ...(project.defaultCodeConfig !== null && {
      defaultCodeConfig: codeConfigToProto(project.defaultCodeConfig),
    }),
    ...(project.sandboxNow !== null && { now: timestampFromMs(project.sandboxNow) }),
    ...(webhookVersion !== null && { webhookVersion }),
    ...(apiVersion !== null && { apiVersion }),
    ...(project.updatedAt !== null && { updatedAt: timestampFromDate(project.updatedAt) }),
    ...secrets,
  });
}

function codeConfigToProto({ length, ...texts }: CodeConfig) {
  return { ...texts, ...(length !== undefined && { length: BigInt(length) }) };
}

export function codeConfigFromProto(message: CodeConfigMessage | undefined): CodeConfig | null {
  if (message === undefined) return null;
  const { length, charset, pattern, prefix, postfix } = message;
  return {
    ...(length !== undefined && { length: Number(length) }),
    ...(charset !== undefined && { charset }),
    ...(pattern !== undefined && { pattern }),
    ...(prefix !== undefined && { prefix }),
    ...(postfix !== undefined && { postfix }),
  };
}

/** `secret` is returned only when the key is created or regenerated. */
export function apiKeyToProto(key: ApiKey, secret?: string): ApiKeyMessage {
  return create(ApiKeySchema, {
    id: key.id,
    name: key.name,
    kind: key.kind,
    scopes: [...key.scopes],
    allowedIps: [...key.allowedIps],
    blocked: key.blocked,
    createdAt: timestampFromDate(key.createdAt),
    ...(key.updatedAt !== null && { updatedAt: timestampFromDate(key.updatedAt) }),
    ...(secret !== undefined && { appId: key.id, appToken: secret }),
  });
}
