import type { IncomingMessage, ServerResponse } from "node:http";

import { newRequestId } from "@scrip/ids";
import type { Context } from "koa";

import { clientAddress } from "../auth/ip-addresses.ts";
import type { Principal } from "../auth/principal.ts";
import { isOrigin } from "../domain/origin.ts";
import type { Allowance } from "../limits/rate-limits.ts";
import type { Route } from "./route.ts";

/** A request of the contract, in Koa's middleware. */
export type RequestContext = ArrivedRequest & { readonly ctx: Context };

/** A request and the data that the pipeline has added to it so far. */
export type ArrivedRequest = {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  readonly address: string;
  /** `performance.now()` at arrival. */
  readonly startedAt: number;
  /** Real time at arrival, in epoch milliseconds. */
  readonly now: number;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  route: Route | undefined;
  principal: Principal | undefined;
  allowance: Allowance | undefined;
  /** The origin that may read the response. */
  corsOrigin: string | undefined;
  /** Whether the response is a stored one. */
  replayed: boolean;
  /** Key of the error in the response. */
  errorKey: string | undefined;
};

export type ArrivalOptions = {
  readonly clock: () => number;
  /** Number of proxies that append to X-Forwarded-For. */
  readonly trustedProxies: number;
};

export function arrivedRequest(
  { req, res }: Pick<ArrivedRequest, "req" | "res">,
  { clock, trustedProxies }: ArrivalOptions,
): ArrivedRequest {
  const { path, query } = splitTarget(req.url ?? "");
  let address: string | undefined;
  return {
    req,
    res,
    requestId: newRequestId(),
    // On demand: the kernel has to be asked for the address of a new connection.
    get address() {
      return (address ??= addressOf(req, trustedProxies));
    },
    startedAt: performance.now(),
    now: clock(),
    path,
    query,
    route: undefined,
    principal: undefined,
    allowance: undefined,
    corsOrigin: path.startsWith(CLIENT_PATH) ? originOf(req) : undefined,
    replayed: false,
    errorKey: undefined,
  };
}

function addressOf({ headers, socket }: IncomingMessage, trustedProxies: number): string {
  const forwarded = headers["x-forwarded-for"];
  return clientAddress(
    socket.remoteAddress,
    typeof forwarded === "string" ? forwarded : undefined,
    trustedProxies,
  );
}

const CLIENT_PATH = "/client/v1/";

/** Responses before authentication may echo any real origin, but never `null`. */
function originOf({ headers: { origin } }: IncomingMessage): string | undefined {
  return origin !== undefined && isOrigin(origin) ? origin : undefined;
}

/** A response ready to be written. */
export type HttpResponse = {
  readonly status: number;
  readonly contentType: string | undefined;
  /** A long body comes in several parts. */
  readonly body: Buffer | string | readonly Buffer[] | undefined;
  /** Additional headers as a flat list of names and values. */
  readonly headers?: readonly string[];
};

export function bodyLength(body: HttpResponse["body"]): number {
  if (body === undefined) return 0;
  if (typeof body === "string") return Buffer.byteLength(body);
  return Buffer.isBuffer(body) ? body.length : body.reduce((sum, { length }) => sum + length, 0);
}

export function wholeBody({ body }: HttpResponse): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return typeof body === "string" ? Buffer.from(body) : Buffer.concat(body);
}

function splitTarget(url: string): { readonly path: string; readonly query: string } {
  let target = url;
  if (!target.startsWith("/")) {
    // Proxies may send the absolute form; the authority is ignored.
    const authority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target);
    if (authority !== null) target = target.slice(authority[0].length);
  }
  const mark = target.indexOf("?");
  return mark === -1
    ? { path: target, query: "" }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
