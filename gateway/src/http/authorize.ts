import { ApiError } from "@scrip/errors";

import type { Authenticator } from "../auth/authenticate.ts";
import { checkOrigin } from "../auth/cors.ts";
import { limitAddress } from "../auth/ip-addresses.ts";
import type { ClientFeature } from "../domain/project.ts";
import { coversScope } from "../domain/scope.ts";
import type { Allowance, RateLimits } from "../limits/rate-limits.ts";
import { ApiErrorWithHeaders } from "./error-response.ts";
import type { ArrivedRequest, RequestContext } from "./request-context.ts";
import type { Route } from "./route.ts";

export type AuthorizeDeps = { readonly auth: Authenticator; readonly limits: RateLimits };

/** Authenticates the caller, then checks rate limits, scope and client features. */
export async function authorize(
  deps: AuthorizeDeps,
  context: RequestContext,
  route: Route,
): Promise<void> {
  const { auth } = deps;
  const { headers } = context.req;
  const { address } = context;
  switch (route.side) {
    case "anyone":
      return countCall(deps, context, route, limitAddress(address));
    case "management":
      await auth.management(headers, address);
      return countCall(deps, context, route, "management");
    case "key_only": {
      const principal = await auth.keyOnly(headers, address);
      context.principal = principal;
      return countCall(deps, context, route, principal.project.id);
    }
    case "server":
    case "client": {
      const found = auth[route.side](headers, address);
      const principal = found instanceof Promise ? await found : found;
      context.principal = principal;
      if (route.side === "client") checkClient(context, headers.origin);
      // Rejected calls count as well, because they cost as much.
      await countCall(deps, context, route, principal.project.id);
      if (!coversScope(principal.scopes, route.scope)) throw missingScope(route.scope);
      if (route.feature !== undefined && !principal.clientFeatures.has(route.feature)) {
        throw featureDisabled(route.feature);
      }
    }
  }
}

function checkClient(context: RequestContext, origin: string | undefined): void {
  // Only callers from a trusted origin may read the response.
  context.corsOrigin = undefined;
  if (context.principal !== undefined) checkOrigin(context.principal, origin);
  context.corsOrigin = origin;
}

const missingScope = (scope: string): ApiError =>
  new ApiErrorWithHeaders(
    "missing_required_permission",
    { details: `Scope ${scope} is required` },
    ["WWW-Authenticate", `Bearer error="insufficient_scope", scope="${scope}"`],
  );

const featureDisabled = (feature: ClientFeature): ApiError =>
  new ApiError("forbidden", {
    details: `The project does not allow it: client_${feature}_enabled is false`,
  });

/** Counts a call of a project, which may be exhausted; undefined when the limit is disabled. */
export const countProjectCall = (
  limits: RateLimits,
  request: Pick<ArrivedRequest, "query">,
  route: Route,
  project: string,
): Promise<Allowance> | undefined =>
  route.bulk || isBulkByCount(route, request)
    ? limits.countBulkCall(project)
    : limits.countCall(project);

async function countCall(
  { limits }: AuthorizeDeps,
  context: RequestContext,
  route: Route,
  project: string,
): Promise<void> {
  const pending = countProjectCall(limits, context, route, project);
  if (pending !== undefined) context.allowance = rejectExhausted(context, await pending);
  if (route.side !== "client") return;
  const ofAddress = limits.countClientCall(limitAddress(context.address));
  if (ofAddress === undefined) return;
  const allowance = rejectExhausted(context, await ofAddress);
  // The headers describe the limit with fewer remaining calls.
  const other = context.allowance;
  if (other === undefined || allowance.remaining < other.remaining) context.allowance = allowance;
}

const isBulkByCount = ({ bulkCount }: Route, { query }: Pick<ArrivedRequest, "query">): boolean =>
  bulkCount !== "" && Number(new URLSearchParams(query).get(bulkCount)) > 1;

function rejectExhausted(context: RequestContext, allowance: Allowance): Allowance {
  if (!allowance.exhausted) return allowance;
  context.allowance = allowance;
  throw new ApiError("too_many_requests");
}
