import type { DescMethod } from "@bufbuild/protobuf";
import { httpMethodsOf } from "@scrip/contract";
import { ApiError } from "@scrip/errors";

import type { Callers } from "../server/service.ts";
import type { ServiceClaims } from "./service-token.ts";

const GATEWAY = "gateway";

/**
 * Authorizes a service of Scrip: it may call the RPCs that the called service lists for it, and the gateway the public ones
 * besides.
 */
export function authorizeInternal(
  method: DescMethod,
  { name, projects }: ServiceClaims,
  { projectId, callers }: { readonly projectId: string; readonly callers: Callers },
): void {
  const isPublic = name === GATEWAY && httpMethodsOf(method).length > 0;
  const isListed = Object.hasOwn(callers, name) && callers[name]?.includes(method) === true;
  if (!isPublic && !isListed) {
    throw new ApiError("forbidden", {
      details: `The service ${name} may not call ${method.parent.typeName}/${method.name}`,
    });
  }
  if (projects.includes("*") || projects.includes(projectId)) return;
  throw new ApiError("forbidden", { details: "The token does not grant access to this project" });
}
