import { lookup as resolve } from "node:dns";
import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";

import { isPublicAddress, type TargetPolicy, targetViolation } from "../domain/webhook-target.ts";
import type { AttemptResult } from "../store/webhook-deliveries.ts";

export type WebhookRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type WebhookSender = AsyncDisposable & {
  /** Never throws: an error is a result. A redirect is not followed and counts as an error. */
  readonly send: (request: WebhookRequest) => Promise<AttemptResult>;
};

export type SenderOptions = TargetPolicy & {
  readonly timeoutMs: number;
  /** Resolves host names; for tests of DNS rebinding. */
  readonly lookup?: typeof resolve;
};

/**
 * Sends requests to URLs that customers choose. The address is checked when the connection is made, with the
 * addresses that the connection uses: a name that resolves differently later cannot bypass the check.
 */
export function createWebhookSender(options: SenderOptions): WebhookSender {
  const resolver = options.lookup ?? resolve;
  const lookup: LookupFunction = options.allowPrivate ? resolver : publicLookup(resolver);
  // The number of connections is bounded by that of requests for each webhook: webhooks of one host must not share a bound.
  const settings = { keepAlive: true, lookup };
  const agents = { "http:": new http.Agent(settings), "https:": new https.Agent(settings) };
  return {
    send: async (request) => {
      const startedAt = performance.now();
      const outcome = await attempt(request, options, agents).catch((error: Error) => ({
        responseStatus: null,
        error: describe(error),
      }));
      return { ...outcome, durationMs: Math.round(performance.now() - startedAt) };
    },
    [Symbol.asyncDispose]: async () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

type Agents = { readonly "http:": http.Agent; readonly "https:": https.Agent };

async function attempt(
  { url, headers, body }: WebhookRequest,
  policy: SenderOptions,
  agents: Agents,
): Promise<Omit<AttemptResult, "durationMs">> {
  // Again: the policy of the installation may have become stricter.
  const violation = targetViolation(url, policy);
  if (violation !== undefined) return { responseStatus: null, error: `target_url ${violation}` };
  const { protocol } = new URL(url);
  const [client, agent] =
    protocol === "https:" ? [https, agents["https:"]] : [http, agents["http:"]];
  const { promise, resolve: done, reject } = Promise.withResolvers<number>();
  const request = client.request(url, {
    method: "POST",
    agent,
    headers: { ...headers, "Content-Length": Buffer.byteLength(body) },
    signal: AbortSignal.timeout(policy.timeoutMs),
  });
  request.on("error", reject);
  request.on("response", (response) => {
    done(response.statusCode ?? 0);
    // The body is not needed; a long one would cost more than a new connection.
    response.once("data", () => response.destroy()).resume();
    response.on("error", () => {});
  });
  request.end(body);
  const status = await promise;
  const succeeded = status >= 200 && status < 300;
  return { responseStatus: status, error: succeeded ? null : `status ${status}` };
}

/** A lookup that fails for a name with a private address. */
export const publicLookup =
  (lookup: typeof resolve): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const isPublic = addresses.every(({ address }) => isPublicAddress(address));
      if (!isPublic) return callback(new Error("the host has a private address"), []);
      if (options.all === true) return callback(null, addresses);
      const [first] = addresses;
      if (first === undefined) return callback(new Error("the host has no address"), []);
      return callback(null, first.address, first.family);
    });
  };

const MAX_ERROR_LENGTH = 200;

function describe(error: Error): string {
  if (error.name === "TimeoutError" || error.name === "AbortError") return "timeout";
  const { code } = error as NodeJS.ErrnoException;
  return (code === undefined ? error.message : `${code}: ${error.message}`).slice(
    0,
    MAX_ERROR_LENGTH,
  );
}
