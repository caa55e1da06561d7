import { invalidPayload } from "@scrip/errors";
import type {
  ProjectService,
  UpdateProjectRequest,
} from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { MONDAY, type Project } from "../domain/project.ts";
import {
  parseCurrency,
  parseDomains,
  parseFeatures,
  parseTimeZone,
} from "../mapping/project-settings.ts";
import { codeConfigFromProto, projectToProto } from "../mapping/project.ts";
import { changeProject } from "../projects/change-project.ts";

export const updateProject =
  (deps: Deps): Handler<typeof ProjectService.method.updateProject> =>
  async (request) =>
    projectToProto(
      await changeProject(deps, request.projectId, (before) => apply(before, request)),
    );

function apply(before: Project, request: UpdateProjectRequest): Project {
  const sent = new Set(request.updateMask?.paths);
  const { name, timezone, currency } = request;
  if (sent.has("name") && !name) throw invalidPayload("Property .name must be string");
  return {
    ...before,
    ...(sent.has("name") && name && { name }),
    // `null` restores the default of CreateProject.
    ...(sent.has("timezone") && { timeZone: parseTimeZone(timezone ?? "UTC") }),
    ...(sent.has("first_weekday") && { firstWeekday: request.firstWeekday ?? MONDAY }),
    ...(sent.has("description") && { description: request.description ?? null }),
    ...(sent.has("currency") && {
      currency: currency === undefined ? null : parseCurrency(currency),
    }),
    ...(sent.has("dial_code") && { dialCode: request.dialCode ?? null }),
    ...(sent.has("default_code_config") && {
      defaultCodeConfig: codeConfigFromProto(request.defaultCodeConfig),
    }),
    ...(sent.has("client_trusted_domains") && {
      clientTrustedDomains: parseDomains(request.clientTrustedDomains),
    }),
    ...(sent.has("webhook_version") && { webhookVersion: request.webhookVersion ?? null }),
    ...(sent.has("api_version") && { apiVersion: request.apiVersion ?? null }),
    ...(sent.has("cancel_pending_points_on_order_cancel") && {
      cancelPendingPointsOnOrderCancel: request.cancelPendingPointsOnOrderCancel ?? false,
    }),
    clientFeatures: parseFeatures(
      request,
      before.clientFeatures.filter((feature) => !sent.has(`client_${feature}_enabled`)),
    ),
  };
}
