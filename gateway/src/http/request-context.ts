import type { IncomingMessage, ServerResponse } from "node:http";

import type { Context } from "koa";

import type { Principal } from "../auth/principal.ts";
import type { Allowance } from "../limits/rate-limits.ts";
import type { Route } from "./route.ts";

/** One request on its way through the door, and what became known of it so far. */
export type RequestContext = {
  readonly ctx: Context;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  readonly address: string;
  /** `performance.now()` when it arrived. */
  readonly startedAt: number;
  /** Real time in epoch milliseconds when it arrived. */
  readonly now: number;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  route: Route | undefined;
  principal: Principal | undefined;
  allowance: Allowance | undefined;
  /** The client page that may read the answer. */
  corsOrigin: string | undefined;
  /** The answer repeats an earlier one. */
  replayed: boolean;
  /** The key of the error that was answered. */
  errorKey: string | undefined;
};

/** An answer, ready to be written. */
export type HttpResponse = {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Buffer | string | undefined;
  /** Further headers: name, value, name, value. */
  readonly headers?: readonly string[];
};

export function splitTarget(url: string): { readonly path: string; readonly query: string } {
  let target = url;
  if (!target.startsWith("/")) {
    // A proxy may send the absolute form; the authority is no business of ours.
    const authority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target);
    if (authority !== null) target = target.slice(authority[0].length);
  }
  const mark = target.indexOf("?");
  return mark === -1
    ? { path: target, query: "" }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
