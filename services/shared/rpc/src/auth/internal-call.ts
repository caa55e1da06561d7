import type { DescMethod } from "@bufbuild/protobuf";
import { httpMethodsOf } from "@scrip/contract";
import { ApiError } from "@scrip/errors";

import type { Callers } from "../server/service.ts";
import type { ServiceClaims } from "./service-token.ts";

const GATEWAY = "gateway";

/**
 * Authorizes a service of Scrip: the gateway may call the public RPCs, others only what the called service lists
 * for them.
 */
export function authorizeInternal(
  method: DescMethod,
  { name, projects }: ServiceClaims,
  { projectId, callers }: { readonly projectId: string; readonly callers: Callers },
): void {
  const isPublic = name === GATEWAY && httpMethodsOf(method).length > 0;
  if (!isPublic && callers[method.parent.typeName]?.includes(name) !== true) {
    throw new ApiError("forbidden", {
      details: `The service ${name} may not call ${method.parent.typeName}/${method.name}`,
    });
  }
  if (projects.includes("*") || projects.includes(projectId)) return;
  throw new ApiError("forbidden", { details: "The token does not grant access to this project" });
}
