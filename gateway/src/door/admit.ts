import { ApiError } from "@scrip/errors";

import { limitAddress } from "../auth/addresses.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { checkOrigin } from "../auth/client-origin.ts";
import type { ClientFeature } from "../domain/project.ts";
import { opens } from "../domain/scope.ts";
import type { Allowance, Limits } from "../limits/limits.ts";
import type { Exchange } from "./exchange.ts";
import { RefusalWithHeaders } from "./failure.ts";
import type { Route } from "./route.ts";

export type AdmitDeps = { readonly auth: Authenticator; readonly limits: Limits };

/** Lets a request in, or refuses it: who asks, may they, and how often. */
export async function admit(deps: AdmitDeps, exchange: Exchange, route: Route): Promise<void> {
  const { auth } = deps;
  const { headers } = exchange.req;
  const { address } = exchange;
  switch (route.side) {
    case "anyone":
      return count(deps, exchange, route, limitAddress(address));
    case "management":
      await auth.management(headers, address);
      return count(deps, exchange, route, "management");
    case "key_only": {
      const principal = await auth.keyOnly(headers, address);
      exchange.principal = principal;
      return count(deps, exchange, route, principal.project.id);
    }
    case "server":
    case "client": {
      const found = auth[route.side](headers, address);
      const principal = found instanceof Promise ? await found : found;
      exchange.principal = principal;
      if (route.side === "client") checkClient(exchange, headers.origin);
      // Refused calls count too: they cost as much.
      await count(deps, exchange, route, principal.project.id);
      if (!opens(principal.scopes, route.scope)) throw missingScope(route.scope);
      if (route.feature !== undefined && !principal.clientFeatures.has(route.feature)) {
        throw notAllowed(route.feature);
      }
    }
  }
}

function checkClient(exchange: Exchange, origin: string | undefined): void {
  // Only a page that is trusted may read the answer.
  exchange.corsOrigin = undefined;
  if (exchange.principal !== undefined) checkOrigin(exchange.principal, origin);
  exchange.corsOrigin = origin;
}

const missingScope = (scope: string): ApiError =>
  new RefusalWithHeaders("missing_required_permission", { details: `Scope ${scope} is required` }, [
    "WWW-Authenticate",
    `Bearer error="insufficient_scope", scope="${scope}"`,
  ]);

const notAllowed = (feature: ClientFeature): ApiError =>
  new ApiError("forbidden", {
    details: `The project does not allow it: client_${feature}_enabled is false`,
  });

async function count(
  { limits }: AdmitDeps,
  exchange: Exchange,
  route: Route,
  project: string,
): Promise<void> {
  const isBulk = route.bulk || makesSeveral(route, exchange);
  const pending = isBulk ? limits.bulk(project) : limits.call(project);
  if (pending !== undefined) exchange.allowance = refuseExhausted(exchange, await pending);
  if (route.side !== "client") return;
  const ofAddress = limits.client(limitAddress(exchange.address));
  if (ofAddress === undefined) return;
  const allowance = refuseExhausted(exchange, await ofAddress);
  // The tighter of the two is the one to know of.
  const other = exchange.allowance;
  if (other === undefined || allowance.remaining < other.remaining) exchange.allowance = allowance;
}

const makesSeveral = ({ bulkCount }: Route, { query }: Exchange): boolean =>
  bulkCount !== "" && Number(new URLSearchParams(query).get(bulkCount)) > 1;

function refuseExhausted(exchange: Exchange, allowance: Allowance): Allowance {
  if (!allowance.exhausted) return allowance;
  exchange.allowance = allowance;
  throw new ApiError("too_many_requests");
}
