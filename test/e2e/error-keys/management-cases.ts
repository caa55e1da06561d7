import type { Json } from "../../stack/api.ts";
import type { ErrorCase } from "./error-case.ts";
import { FUTURE } from "./shop.ts";

const tokens: readonly ErrorCase[] = [
  {
    rpc: "TokenService.CreateToken",
    key: "missing_parameters",
    request: { body: { grant_type: "client_credentials" } },
  },
  {
    rpc: "TokenService.CreateToken",
    key: "invalid_grant_type",
    request: { body: { grant_type: "password", scope: "api" } },
  },
  {
    rpc: "TokenService.CreateToken",
    key: "invalid_scope",
    request: { body: { grant_type: "client_credentials", scope: "everything" } },
  },
  { rpc: "TokenService.IntrospectToken", key: "missing_parameters", request: {} },
  { rpc: "TokenService.RevokeToken", key: "missing_parameters", request: {} },
  {
    rpc: "TokenService.RevokeToken",
    key: "not_found",
    isBodiless: true,
    request: { body: { access_token: "none" } },
  },
];

const schemaOf = (resource: string, type: string, more: Json = {}): Json => ({
  related_object: resource,
  properties: { field: { type, optional: true, ...more } },
});

const management: readonly ErrorCase[] = [
  {
    rpc: "AuditLogService.ListAuditLog",
    key: "not_found",
    side: "management",
    request: { params: { project_id: "none" } },
  },
  { rpc: "ProjectService.SetClock", key: "forbidden", request: { body: { now: FUTURE } } },
  {
    rpc: "MetadataSchemaService.CreateProjectMetadataSchema",
    key: "duplicate_found",
    project: "schemas",
    request: { body: schemaOf("voucher", "string") },
  },
  {
    rpc: "MetadataSchemaService.DeleteProjectMetadataSchema",
    key: "resource_in_use",
    request: async ({ management: api, projectId }) => {
      const path = `/management/v1/projects/${projectId}/metadata-schemas`;
      const { body } = await api.post(path, schemaOf("address", "string"));
      await api.post(path, schemaOf("order", "nested", { object_type: "address" }));
      return { params: { schema_id: body["id"] } };
    },
  },
  {
    rpc: "StackingRulesService.CreateStackingRules",
    key: "stacking_rules_exist",
    project: "partial",
    request: {},
  },
];

export const MANAGEMENT_CASES: readonly ErrorCase[] = [...tokens, ...management];
