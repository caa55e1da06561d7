import type { IncomingMessage, ServerResponse } from "node:http";

import type { Context } from "koa";

import type { Principal } from "../auth/principal.ts";
import type { Allowance } from "../limits/rate-limits.ts";
import type { Route } from "./route.ts";

/** A request and what is known about it so far. */
export type RequestContext = {
  readonly ctx: Context;
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

/** A response ready to be written. */
export type HttpResponse = {
  readonly status: number;
  readonly contentType: string | undefined;
  /** A long body comes in several parts. */
  readonly body: Buffer | string | readonly Buffer[] | undefined;
  /** Additional headers as a flat list of names and values. */
  readonly headers?: readonly string[];
};

export function wholeBody({ body }: HttpResponse): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return typeof body === "string" ? Buffer.from(body) : Buffer.concat(body);
}

export function splitTarget(url: string): { readonly path: string; readonly query: string } {
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
